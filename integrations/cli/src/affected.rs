//! `affected`: which targets would go stale if these files changed.

use crate::args::{AffectedArgs, Common, Format};
use crate::exit::Exit;
use crate::json;
use crate::ninja;
use crate::project::{describe, options, read_records, trouble};
use crate::run::{Trouble, bytes_of, open, print, warn};
use crate::text::{BOLD, FRESH, STALE, plural};
use crate::words;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::path::Path;
use upcheck::{Affected, FileId, Graph, path};

/// The name and version of the format; see `docs/schema/affected.json`.
pub(crate) const SCHEMA: &str = "upcheck.affected/1";

/// A file that was asked about, by the names that a description may have for it.
struct Asked {
    /// As it was given.
    given: Vec<u8>,
    absolute: Vec<u8>,
    /// Relative to the build directory.
    relative: Vec<u8>,
}

/// Answers `affected`.
pub(crate) fn affected(common: &Common, args: &AffectedArgs) -> Result<Exit, Trouble> {
    let asked = asked(common, args)?;
    let disk = open(common)?;
    if common.is_project() {
        let mut described = describe(common, &disk, &[], &[])?;
        let records = read_records(common, &described.store)?;
        let paths: Vec<&[u8]> = asked.iter().map(|asked| name_in(described.project.graph(), asked)).collect();
        let (found, unknown) = described.project.affected(&disk, records.as_ref(), &paths, options(common));
        let unknown: Vec<_> = unknown.into_iter().map(|position| &asked[position]).collect();
        return answer(common, args, described.project.graph(), &found, &unknown);
    }
    let build = ninja::describe_all(common, &disk)?;
    let graph = build.graph();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for asked in &asked {
        match graph.files.lookup(name_in(graph, asked)) {
            Some(file) => known.push(file),
            None => unknown.push(asked),
        }
    }
    let found = upcheck::affected(graph, build.history(), &known);
    answer(common, args, graph, &found, &unknown)
}

fn answer(
    common: &Common,
    args: &AffectedArgs,
    graph: &Graph,
    found: &[Affected],
    unknown: &[&Asked],
) -> Result<Exit, Trouble> {
    let targets: Vec<_> = found.iter().filter(|found| !graph.flags(found.target).phony).copied().collect();
    if !args.quiet {
        print(common, |out| match common.format {
            Format::Text => text(out, graph, &targets, unknown),
            Format::Json => {
                let list = targets.iter().map(|found| target(graph, found));
                json::object(out, head(common, &targets), "targets", list, tail(&targets, unknown))
            }
            Format::Jsonl => {
                targets.iter().try_for_each(|found| writeln!(out, "{}", target(graph, found)))?;
                let mut last = head(common, &targets);
                last.extend(tail(&targets, unknown));
                writeln!(out, "{}", Value::Object(last))
            }
        })?;
    }
    Ok(if targets.is_empty() { Exit::Fresh } else { Exit::Stale })
}

fn text(out: &mut dyn Write, graph: &Graph, targets: &[Affected], unknown: &[&Asked]) -> io::Result<()> {
    if targets.is_empty() {
        writeln!(out, "{FRESH}nothing{FRESH:#} would go stale")?;
    } else {
        let n_targets = plural(targets.len(), "target");
        writeln!(out, "{STALE}{n_targets}{STALE:#} would go stale")?;
        let mut by_file: BTreeMap<FileId, usize> = BTreeMap::new();
        for found in targets {
            *by_file.entry(found.because).or_default() += 1;
        }
        writeln!(out)?;
        for found in targets {
            let name = words::bytes(graph.name(found.target));
            writeln!(out, "{BOLD}{name}{BOLD:#}  because of {}", words::path(graph, found.because))?;
        }
    }
    if !unknown.is_empty() {
        let (first, n_more) = (words::bytes(&unknown[0].given), unknown.len() - 1);
        let more = if n_more > 0 { format!(" and {}", plural(n_more, "more file")) } else { String::new() };
        writeln!(out, "\nNothing depends on {first}{more}, as far as the description tells.")?;
    }
    Ok(())
}

fn head(common: &Common, targets: &[Affected]) -> Map<String, Value> {
    json::head(common.origin(), SCHEMA, targets.is_empty())
}

fn target(graph: &Graph, found: &Affected) -> Value {
    let mut object = Map::new();
    json::put_target(&mut object, graph, found.target);
    json::put_path(&mut object, "because", graph.files.path(found.because));
    object.insert("distance".into(), found.distance.into());
    Value::Object(object)
}

fn tail(targets: &[Affected], unknown: &[&Asked]) -> Map<String, Value> {
    let mut tail = Map::new();
    let file = |asked: &&Asked| {
        let mut object = Map::new();
        json::put_path(&mut object, "path", &asked.given);
        Value::Object(object)
    };
    tail.insert("unknown".into(), unknown.iter().map(file).collect());
    tail.insert("summary".into(), serde_json::json!({ "targets": targets.len(), "unknown": unknown.len() }));
    tail
}

/// The files that were asked about.
fn asked(common: &Common, args: &AffectedArgs) -> Result<Vec<Asked>, Trouble> {
    let canonical = |path: &Path| {
        std::fs::canonicalize(path)
            .map(|path| bytes_of(path.into_os_string()))
            .map_err(|error| trouble("finding", path, &error))
    };
    let base = canonical(args.base.as_deref().unwrap_or(Path::new(".")))?;
    let build_dir = canonical(&common.directory)?;
    let mut names = Vec::new();
    for file in &args.files {
        if file != "-" {
            names.push(bytes_of(file.clone()));
            continue;
        }
        let mut list = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut list);
        read.map_err(|error| trouble("reading", Path::new("-"), &error))?;
        let separator = if common.one.null { 0 } else { b'\n' };
        names.extend(
            list.split(|&byte| byte == separator).filter(|name| !name.is_empty()).map(<[u8]>::to_vec),
        );
    }
    if names.iter().any(Vec::is_empty) {
        warn(common, &["an empty name names no file".into()]);
    }
    let asked = names.into_iter().filter(|name| !name.is_empty()).map(|given| {
        let mut absolute = if given[0] == b'/' { given.clone() } else { [&base, &b"/"[..], &given].concat() };
        path::canonicalize(&mut absolute);
        let relative = relative(&absolute, &build_dir);
        Asked { given, absolute, relative }
    });
    Ok(asked.collect())
}

/// An absolute path, seen from a directory.
fn relative(path: &[u8], from: &[u8]) -> Vec<u8> {
    let parts = |path: &[u8]| -> Vec<Vec<u8>> {
        path.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    };
    let (path, from) = (parts(path), parts(from));
    let n_common = path.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(b"..".to_vec(), from.len() - n_common);
    let all: Vec<_> = up.chain(path[n_common..].iter().cloned()).collect();
    if all.is_empty() { b".".to_vec() } else { all.join(&b'/') }
}

/// The name that a description has for a file; the relative one if it has none.
fn name_in<'a>(graph: &Graph, asked: &'a Asked) -> &'a [u8] {
    match graph.files.lookup(&asked.relative) {
        None if graph.files.lookup(&asked.absolute).is_some() => &asked.absolute,
        _ => &asked.relative,
    }
}

#[cfg(test)]
mod tests {
    use super::relative;

    #[test]
    fn a_path_is_seen_from_a_directory() {
        assert_eq!(relative(b"/a/b/c", b"/a/b"), b"c");
        assert_eq!(relative(b"/a/x/c", b"/a/b"), b"../x/c");
        assert_eq!(relative(b"/c", b"/a/b"), b"../../c");
        assert_eq!(relative(b"/a/b", b"/a/b"), b".");
        assert_eq!(relative(b"/a/b", b"/"), b"a/b");
    }
}

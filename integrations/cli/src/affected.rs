//! `affected`: which targets would go stale if these files changed.

use crate::args::{AffectedArgs, Common, Format};
use crate::cmake::{self, Cmake, Owner, Owners};
use crate::exit::Exit;
use crate::json;
use crate::ninja;
use crate::project::{describe, options, read_records, trouble};
use crate::run::{Trouble, bytes_of, open, print, print_names};
use crate::text::{BOLD, FRESH, STALE, plural};
use crate::words;
use serde_json::{Map, Value, json};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use upcheck::{Affected, Graph, TargetId, path};

/// The name and version of the format; see `docs/schema/affected.json`.
pub(crate) const SCHEMA: &str = "upcheck.affected/1";

/// A file that was asked about.
struct Asked {
    /// As it was given.
    given: Vec<u8>,
    /// The names that a description may have for it, the most likely one first.
    names: Vec<Vec<u8>>,
}

/// What would become of what was asked about.
struct Found<'a> {
    targets: Vec<Affected>,
    /// Files that nothing depends on.
    unknown: Vec<&'a Asked>,
    /// Whether the description would change, and with it perhaps anything.
    description: bool,
    /// Where targets have names in CMake, too.
    owners: Option<Owners<'a>>,
}

/// Answers `affected`.
pub(crate) fn affected(common: &Common, args: &AffectedArgs) -> Result<Exit, Trouble> {
    let wants_list = args.files.iter().filter(|file| *file == "-").count();
    let lists = [&common.file, &common.one.inputs_from].into_iter().flatten();
    if wants_list + lists.filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(Trouble("standard input can only be one thing: `-` is there twice".into()));
    }
    let asked = asked(common, args)?;
    let disk = open(common)?;
    if common.is_project() {
        let mut described = describe(common, &disk, &[], &[])?;
        let records = read_records(common, &described.store)?;
        let sources = sources(common);
        let description = asked.iter().any(|asked| asked.names.iter().any(|name| sources.contains(name)));
        let names: Vec<&[Vec<u8>]> = asked.iter().map(|asked| asked.names.as_slice()).collect();
        let (found, unknown) =
            described.project.affected(&disk, records.as_ref(), &names, options(common))?;
        let graph = described.project.graph();
        let unknown = unknown.into_iter().map(|position| &asked[position]);
        let unknown = unknown.filter(|asked| !asked.names.iter().any(|name| sources.contains(name)));
        let targets = without_phony(graph, &found);
        let description =
            description || targets.iter().any(|found| Some(found.target) == described.configure);
        let found = Found { targets, unknown: unknown.collect(), description, owners: owners(common) };
        return answer(common, args, graph, &found);
    }
    let build = ninja::describe_all(common, &disk)?;
    let graph = build.graph();
    let (mut known, mut unknown, mut description) = (Vec::new(), Vec::new(), false);
    for asked in &asked {
        let is_source = build.sources().any(|source| asked.names.iter().any(|name| name == source));
        description |= is_source;
        let n_before = known.len();
        // A manifest can use one of its names, and a depfile another.
        known.extend(asked.names.iter().filter_map(|name| graph.files.lookup(name)));
        if known.len() == n_before && !is_source {
            unknown.push(asked);
        }
    }
    let targets = without_phony(graph, &upcheck::affected(graph, build.history(), &known));
    let makes_manifest = |found: &Affected| {
        build.manifest_file().is_some_and(|manifest| graph.outputs(found.target).contains(&manifest))
    };
    description |= targets.iter().any(makes_manifest);
    answer(common, args, graph, &Found { targets, unknown, description, owners: owners(common) })
}

fn owners(common: &Common) -> Option<Owners<'_>> {
    common.cmake.as_ref().map(Cmake::owners)
}

fn without_phony(graph: &Graph, found: &[Affected]) -> Vec<Affected> {
    found.iter().filter(|found| !graph.flags(found.target).phony).copied().collect()
}

fn answer(common: &Common, args: &AffectedArgs, graph: &Graph, found: &Found<'_>) -> Result<Exit, Trouble> {
    if !args.quiet {
        print(common, |out| match common.format {
            Format::Text => text(out, graph, found),
            Format::Json => {
                let list = found.targets.iter().map(|affected| target(graph, found, affected));
                json::object(out, head(common, found), "targets", list, tail(found))
            }
            Format::Jsonl => {
                let mut targets = found.targets.iter().map(|affected| target(graph, found, affected));
                targets.try_for_each(|target| writeln!(out, "{target}"))?;
                let mut last = head(common, found);
                last.extend(tail(found));
                writeln!(out, "{}", Value::Object(last))
            }
            Format::Names => {
                let targets = found.targets.iter().map(|found| found.target);
                print_names(out, common, cmake::names_of(found.owners.as_ref(), graph, targets))
            }
        })?;
    }
    Ok(if found.is_fresh() { Exit::Fresh } else { Exit::Stale })
}

impl Found<'_> {
    /// Whether nothing would go stale. Nobody knows what another description says.
    fn is_fresh(&self) -> bool {
        self.targets.is_empty() && !self.description
    }

    /// The target of CMake that a target is a part of, where there is one.
    fn owner(&self, graph: &Graph, target: TargetId) -> Option<Owner<'_>> {
        self.owners.as_ref()?.of(graph, target)
    }
}

fn text(out: &mut dyn Write, graph: &Graph, found: &Found<'_>) -> io::Result<()> {
    let Found { targets, unknown, description, .. } = found;
    if *description {
        writeln!(
            out,
            "{STALE}The description itself would change{STALE:#}: only then can be told what else goes stale."
        )?;
    }
    if !targets.is_empty() {
        let n_targets = plural(targets.len(), "target");
        writeln!(out, "{STALE}{n_targets}{STALE:#} would go stale\n")?;
        for affected in targets {
            let name = words::bytes(graph.name(affected.target));
            let owner = found.owner(graph, affected.target);
            let owner = owner.map_or(String::new(), |owner| format!("  ({owner})"));
            let because = words::path(graph, affected.because);
            writeln!(out, "{BOLD}{name}{BOLD:#}{owner}  because of {because}")?;
        }
    } else if !description {
        writeln!(out, "{FRESH}nothing{FRESH:#} would go stale")?;
    }
    if let Some(first) = unknown.first() {
        let first = words::bytes(&first.given);
        let more = match unknown.len() - 1 {
            0 => String::new(),
            n => format!(" and {}", plural(n, "more file")),
        };
        writeln!(out, "\nNothing depends on {first}{more}, as far as the description tells.")?;
    }
    Ok(())
}

fn head(common: &Common, found: &Found<'_>) -> Map<String, Value> {
    json::head(common.origin(), SCHEMA, found.is_fresh())
}

fn target(graph: &Graph, found: &Found<'_>, affected: &Affected) -> Value {
    let mut object = Map::new();
    json::put_target(&mut object, graph, affected.target);
    if let Some(owner) = found.owner(graph, affected.target) {
        json::put_owner(&mut object, "cmake_target", &owner);
    }
    json::put_path(&mut object, "because", graph.files.path(affected.because));
    object.insert("distance".into(), affected.distance.into());
    Value::Object(object)
}

fn tail(found: &Found<'_>) -> Map<String, Value> {
    let Found { targets, unknown, description, .. } = found;
    let mut tail = Map::new();
    let file = |asked: &&Asked| {
        let mut object = Map::new();
        json::put_path(&mut object, "path", &asked.given);
        Value::Object(object)
    };
    tail.insert("unknown".into(), unknown.iter().map(file).collect());
    let summary = json!({ "targets": targets.len(), "unknown": unknown.len(), "description": description });
    tail.insert("summary".into(), summary);
    tail
}

/// The names of the files that a project is described in, from its directory and absolute.
fn sources(common: &Common) -> Vec<Vec<u8>> {
    let described_in = match common.origin() {
        "graph" => common.file.clone().or(Some("graph.json".into())),
        "compile-commands" => common.file.clone().or(Some("compile_commands.json".into())),
        _ => common.one.inputs_from.clone(),
    };
    let Some(file) = described_in.filter(|file| file != Path::new("-")) else { return Vec::new() };
    let mut sources = Vec::new();
    for directory in places(&common.directory) {
        sources.extend(names(
            &bytes_of(file.clone().into_os_string()),
            std::slice::from_ref(&directory),
            std::slice::from_ref(&directory),
        ));
    }
    sources
}

/// The files that were asked about.
fn asked(common: &Common, args: &AffectedArgs) -> Result<Vec<Asked>, Trouble> {
    let base = args.base.as_deref().unwrap_or(Path::new("."));
    for directory in [base, &common.directory] {
        upcheck::os_path::canonicalize(directory).map_err(|error| trouble("finding", directory, &error))?;
    }
    let (bases, build_dirs) = (places(base), places(&common.directory));
    let mut given = Vec::new();
    for file in &args.files {
        if file != "-" {
            given.push(bytes_of(file.clone()));
            continue;
        }
        let mut list = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut list);
        read.map_err(|error| trouble("reading", Path::new("-"), &error))?;
        match common.one.null {
            true => given.extend(list.split(|&byte| byte == 0).map(<[u8]>::to_vec)),
            false => given.extend(list.split(|&byte| byte == b'\n').map(unquoted)),
        }
        // What stands behind the last separator, and lines without anything.
        given.retain(|name| !name.is_empty());
    }
    if given.iter().any(Vec::is_empty) {
        return Err(Trouble("a path is empty".into()));
    }
    if let Some(name) = given.iter().find(|name| name.contains(&0)) {
        return Err(Trouble(format!("the path {:?} has a NUL in it", String::from_utf8_lossy(name))));
    }
    let asked = |given: Vec<u8>| Asked { names: names(&given, &bases, &build_dirs), given };
    Ok(given.into_iter().map(asked).collect())
}

/// A directory's absolute paths: without links, and as the shell calls it, which is what a description may have.
fn places(directory: &Path) -> Vec<Vec<u8>> {
    let mut places = Vec::new();
    let canonical = upcheck::os_path::canonicalize(directory).ok();
    let shell = std::env::var_os("PWD").map(PathBuf::from);
    // The variable may be that of somebody who is elsewhere.
    let shell = shell.filter(|shell| {
        shell.is_absolute() && upcheck::os_path::canonicalize(shell.join(directory)).ok() == canonical
    });
    for place in [canonical.clone(), shell.map(|shell| shell.join(directory))].into_iter().flatten() {
        let mut place = bytes_of(place.into_os_string());
        path::canonicalize(&mut place);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// What a file may be called in the description of a build: relative to its directory, then absolute.
fn names(given: &[u8], bases: &[Vec<u8>], build_dirs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut absolute = Vec::new();
    match path::is_absolute(given) {
        true => absolute.push(given.to_vec()),
        false => absolute.extend(bases.iter().map(|base| path::join(base, given))),
    }
    absolute.iter_mut().for_each(path::canonicalize);
    let relative = absolute.iter().flat_map(|path| build_dirs.iter().map(|from| relative(path, from)));
    let mut names: Vec<_> = relative.collect();
    names.append(&mut absolute);
    names
}

/// A line of git's lists: names with odd bytes stand in quotes, as in C.
fn unquoted(line: &[u8]) -> Vec<u8> {
    let quoted = line.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
    let Some(quoted) = quoted else { return line.to_vec() };
    let mut name = Vec::with_capacity(quoted.len());
    let mut bytes = quoted.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            name.push(byte);
            continue;
        }
        match bytes.next() {
            Some(first @ b'0'..=b'3') => {
                let mut value = first - b'0';
                for digit in bytes.by_ref().take(2) {
                    value = (value << 3) | (digit & 7);
                }
                name.push(value);
            }
            Some(letter) => name.push(match letter {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                other => other,
            }),
            None => {}
        }
    }
    name
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

#[cfg(test)]
mod tests {
    use super::{relative, unquoted};

    #[test]
    fn a_path_is_seen_from_a_directory() {
        assert_eq!(relative(b"/a/b/c", b"/a/b"), b"c");
        assert_eq!(relative(b"/a/x/c", b"/a/b"), b"../x/c");
        assert_eq!(relative(b"/c", b"/a/b"), b"../../c");
        assert_eq!(relative(b"/a/b", b"/a/b"), b".");
        assert_eq!(relative(b"/a/b", b"/"), b"a/b");
    }

    #[test]
    fn lines_of_git_may_be_quoted() {
        assert_eq!(unquoted(b"src/a b.c"), b"src/a b.c");
        assert_eq!(unquoted(b"\"src/\\303\\244\\t\\\"\\\\.c\""), "src/\u{e4}\t\"\\.c".as_bytes());
        assert_eq!(unquoted(b"\"half"), b"\"half");
        assert_eq!(unquoted(b"\"\\"), b"\"\\");
        assert_eq!(unquoted(b"\"\\3\""), b"\x03");
    }
}

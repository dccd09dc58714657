//! The object `codemodel`: the targets of each configuration. Each target has a file of its own, and there may be thousands.

use super::{Configuration, Reply, Target, Trouble, absolute, is_file_name, parse, read_file, usable, wrong};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    paths: Paths<'a>,
    #[serde(borrow)]
    configurations: Vec<Config<'a>>,
}

#[derive(Deserialize)]
struct Paths<'a> {
    #[serde(borrow)]
    source: Cow<'a, str>,
    #[serde(borrow)]
    build: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Config<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    targets: Vec<Entry<'a>>,
    #[serde(borrow, default)]
    abstract_targets: Vec<Abstract<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    json_file: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Abstract<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

/// A target's own file.
#[derive(Deserialize)]
struct One<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    paths: Paths<'a>,
    #[serde(borrow, default)]
    artifacts: Vec<Artifact<'a>>,
    #[serde(borrow, default)]
    sources: Vec<Source<'a>>,
    #[serde(borrow, default)]
    dependencies: Vec<Dependency<'a>>,
}

#[derive(Deserialize)]
struct Artifact<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Source<'a> {
    #[serde(borrow)]
    path: Cow<'a, str>,
    #[serde(default)]
    is_generated: bool,
}

#[derive(Deserialize)]
struct Dependency<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// Where a target stands among those of its configuration, by its id.
type Ids<'a> = HashMap<&'a str, usize>;

/// Reads the object into `reply`.
pub(super) fn read(build: &Path, folder: &Path, name: &str, reply: &mut Reply) -> Result<(), Trouble> {
    let path = folder.join(name);
    let bytes = read_file(&path)?;
    let file: File<'_> = parse(&path, &bytes)?;
    let known = |what: &str| absolute(b"", what);
    (reply.source, reply.build) = (known(&file.paths.source), known(&file.paths.build));
    usable::is_same_directory(build, file.paths.build.as_bytes()).map_err(Trouble::Final)?;
    if file.configurations.is_empty() || !reply.is_multi_config && file.configurations.len() > 1 {
        return Err(wrong(&path, format!("there are {} configurations", file.configurations.len())));
    }
    let mut files = Vec::new();
    let mut ids = Vec::new();
    for configuration in &file.configurations {
        if let Some(entry) = configuration.targets.iter().find(|entry| !is_file_name(&entry.json_file)) {
            return Err(wrong(&path, format!("'{}' is no name of a file", entry.json_file)));
        }
        let targets = configuration.targets.iter().enumerate();
        ids.push(targets.map(|(at, entry)| (&*entry.id, at)).collect::<Ids<'_>>());
        files.extend(configuration.targets.iter().map(|entry| (&*entry.json_file, ids.len() - 1)));
    }
    let mut targets = read_all(folder, &files, &ids, reply)?.into_iter();
    for configuration in &file.configurations {
        let abstract_targets = configuration.abstract_targets.iter();
        reply.configurations.push(Configuration {
            name: configuration.name.clone().into_owned(),
            targets: targets.by_ref().take(configuration.targets.len()).collect(),
            abstract_targets: abstract_targets.map(|target| target.name.clone().into_owned()).collect(),
        });
    }
    Ok(())
}

/// Fewer files are read by one thread sooner than another one is there.
const WORTH_A_THREAD: usize = 64;

/// Reads the targets' files. Each comes with the number of its configuration.
fn read_all(
    folder: &Path,
    files: &[(&str, usize)],
    ids: &[Ids<'_>],
    reply: &Reply,
) -> Result<Vec<Target>, Trouble> {
    let read_some = |files: &[(&str, usize)]| -> Result<Vec<Target>, Trouble> {
        files
            .iter()
            .map(|&(name, configuration)| read_one(folder, name, &ids[configuration], reply))
            .collect()
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    let threads = threads.min(files.len() / WORTH_A_THREAD).max(1);
    if threads == 1 {
        return read_some(files);
    }
    std::thread::scope(|scope| {
        let parts = files.chunks(files.len().div_ceil(threads));
        let readers: Vec<_> = parts.map(|part| scope.spawn(move || read_some(part))).collect();
        let mut targets = Vec::with_capacity(files.len());
        for reader in readers {
            targets.extend(reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok(targets)
    })
}

fn read_one(folder: &Path, name: &str, ids: &Ids<'_>, reply: &Reply) -> Result<Target, Trouble> {
    let path = folder.join(name);
    let bytes = read_file(&path)?;
    let target: One<'_> = parse(&path, &bytes)?;
    let generated = target.sources.iter().filter(|source| source.is_generated);
    Ok(Target {
        name: target.name.into_owned(),
        kind: target.kind.into_owned(),
        directory: match absolute(&reply.build, &target.paths.build) {
            directory if directory == reply.build => Vec::new(),
            // The directory of a target may be anywhere, if add_subdirectory says so.
            directory => match directory.strip_prefix(&*reply.build).and_then(|rest| rest.strip_prefix(b"/"))
            {
                Some(rest) => rest.to_vec(),
                None => directory,
            },
        },
        artifacts: target.artifacts.iter().map(|artifact| absolute(&reply.build, &artifact.path)).collect(),
        generated: generated.map(|source| made_by_rule(absolute(&reply.source, &source.path))).collect(),
        depends: target.dependencies.iter().filter_map(|other| ids.get(&*other.id).copied()).collect(),
    })
}

/// Each rule is among the sources as a file that is never there: its first output with `.rule` behind it.
fn made_by_rule(mut path: Vec<u8>) -> Vec<u8> {
    if path.ends_with(b".rule") {
        path.truncate(path.len() - b".rule".len());
    }
    path
}

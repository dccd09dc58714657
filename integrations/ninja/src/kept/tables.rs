//! The little things in an image that are no tables of the graph or of the history.

use crate::build::Build;
use crate::kept::Images;
use crate::source::{Source, SourceKind, Stamp};
use crate::version::NinjaVersion;
use std::collections::{BTreeMap, HashMap};
use upcheck::image::{WordReader, WordWriter};
use upcheck::{FileId, Graph, Record, TargetId, narrow};

/// What names an image: the build directory, and how it was asked about.
pub(super) fn who(images: &Images, manifest: &[u8], version: Option<NinjaVersion>) -> Vec<u8> {
    let mut words = WordWriter::default();
    // Another release may read the same files in another way.
    words.text(env!("CARGO_PKG_VERSION").as_bytes());
    words.text(&images.place);
    words.text(manifest);
    words.text(version.map_or(String::new(), |version| version.to_string()).as_bytes());
    words.into_bytes()
}

/// Numbers and texts about the whole build.
pub(super) struct Facts {
    pub(super) version: NinjaVersion,
    pub(super) log_version: Option<u32>,
    pub(super) manifest_file: Option<FileId>,
    pub(super) n_named_files: usize,
    pub(super) n_known_files: usize,
    pub(super) warnings: Vec<String>,
    pub(super) self_users: BTreeMap<FileId, TargetId>,
}

impl Facts {
    pub(super) fn to_bytes(build: &Build) -> Vec<u8> {
        let mut words = WordWriter::default();
        words.text(build.version.to_string().as_bytes());
        words.number(build.log_version.map_or(0, |version| u64::from(version) + 1));
        words.number(build.manifest_file.map_or(0, |file| file.index() as u64 + 1));
        words.number(build.n_named_files as u64);
        words.number(build.n_known_files as u64);
        put_warnings(&mut words, &build.warnings);
        words.number(build.self_users.len() as u64);
        for (file, target) in &build.self_users {
            words.number(file.index() as u64);
            words.number(target.index() as u64);
        }
        words.into_bytes()
    }

    pub(super) fn read(bytes: &[u8], n_files: usize, n_targets: usize) -> Option<Self> {
        let words = &mut WordReader::new(bytes);
        Some(Self {
            version: NinjaVersion::parse(words.message()?).ok()?,
            log_version: plus_one(words.number()?).and_then(|version| u32::try_from(version).ok()),
            manifest_file: words.index(n_files + 1)?.checked_sub(1).map(FileId::new),
            n_named_files: words.index(n_files + 1)?,
            n_known_files: words.index(n_files + 1)?,
            warnings: warnings(words)?,
            self_users: {
                let n = words.number()?;
                let pair = |words: &mut WordReader<'_>| {
                    Some((FileId::new(words.index(n_files)?), TargetId::new(words.index(n_targets)?)))
                };
                (0..n).map(|_| pair(words)).collect::<Option<_>>()?
            },
        })
    }
}

/// The opposite of what stands for "none" in 0 and for everything else in one more than it.
pub(super) fn plus_one(number: u64) -> Option<u64> {
    number.checked_sub(1)
}

pub(super) fn put_warnings(words: &mut WordWriter, warnings: &[String]) {
    words.number(warnings.len() as u64);
    warnings.iter().for_each(|warning| words.text(warning.as_bytes()));
}

pub(super) fn warnings(words: &mut WordReader<'_>) -> Option<Vec<String>> {
    let n = words.number()?;
    (0..n).map(|_| words.message().map(Into::into)).collect()
}

const KINDS: [SourceKind; 4] =
    [SourceKind::Manifest, SourceKind::Dyndep, SourceKind::BuildLog, SourceKind::DepsLog];

pub(super) fn sources_to_bytes(sources: &[Source]) -> Vec<u8> {
    let mut words = WordWriter::default();
    for source in sources {
        let kind = KINDS.iter().position(|kind| *kind == source.kind).unwrap_or_default();
        words.number(kind as u64);
        words.text(&source.path);
        words.number(source.length);
        words.number(source.digest);
        words.number(u64::from(source.can_grow));
        words.text(bytemuck::bytes_of(&source.stamp));
    }
    words.into_bytes()
}

pub(super) fn sources(bytes: &[u8]) -> Option<Vec<Source>> {
    let words = &mut WordReader::new(bytes);
    let mut sources = Vec::new();
    while !words.is_at_end() {
        sources.push(Source {
            kind: KINDS[words.index(KINDS.len())?],
            path: words.text()?.to_vec(),
            length: words.number()?,
            digest: words.number()?,
            can_grow: words.number()? == 1,
            stamp: bytemuck::try_pod_read_unaligned(words.text()?).ok()?,
        });
    }
    Some(sources)
}

pub(super) fn strays_to_bytes(strays: &HashMap<Box<[u8]>, Record>) -> Vec<u8> {
    let mut words = WordWriter::default();
    let mut all: Vec<_> = strays.iter().collect();
    all.sort_by_key(|(path, _)| *path);
    for (path, record) in all {
        words.text(path);
        words.number(record.command_hash);
        words.number(record.mtime.cast_unsigned());
    }
    words.into_bytes()
}

pub(super) fn strays(bytes: &[u8]) -> Option<HashMap<Box<[u8]>, Record>> {
    let words = &mut WordReader::new(bytes);
    let mut strays = HashMap::new();
    while !words.is_at_end() {
        let path = words.text()?.into();
        let (command_hash, mtime) = (words.number()?, words.number()?.cast_signed());
        strays.insert(path, Record { command_hash, mtime });
    }
    Some(strays)
}

/// Depfiles that say something else than in the image.
pub(super) fn again_to_bytes(again: &HashMap<TargetId, Stamp>) -> Vec<u8> {
    let mut words = WordWriter::default();
    let mut all: Vec<_> = again.iter().collect();
    all.sort_by_key(|(target, _)| **target);
    for (target, stamp) in all {
        words.number(target.index() as u64);
        words.text(bytemuck::bytes_of(stamp));
    }
    words.into_bytes()
}

pub(super) fn again(bytes: &[u8], n_targets: usize) -> Option<HashMap<TargetId, Stamp>> {
    let words = &mut WordReader::new(bytes);
    let mut again = HashMap::new();
    while !words.is_at_end() {
        let target = TargetId::new(words.index(n_targets)?);
        again.insert(target, bytemuck::try_pod_read_unaligned(words.text()?).ok()?);
    }
    Some(again)
}

/// Files with their numbers: what the last check needed beside what the image plans for.
pub(super) fn more_to_bytes(graph: &Graph, files: &[FileId]) -> Vec<u8> {
    let mut words = WordWriter::default();
    for &file in files {
        words.number(file.index() as u64);
        words.text(graph.files.path(file));
    }
    words.into_bytes()
}

pub(super) fn more(bytes: &[u8], n_files: usize) -> Option<Vec<(FileId, &[u8])>> {
    let words = &mut WordReader::new(bytes);
    let mut more = Vec::new();
    while !words.is_at_end() {
        more.push((FileId::new(words.index(n_files)?), words.text()?));
    }
    Some(more)
}

/// Number and stamp of each depfile, by target, as the image has them.
pub(super) fn depfile_tables(build: &mut Build) -> (Vec<u32>, Vec<Stamp>) {
    let n_targets = build.graph.n_targets();
    let mut files = vec![super::NO_FILE; n_targets];
    let mut stamps = vec![Stamp::MISSING; n_targets];
    if let Some(kept) = &build.kept {
        for target in build.graph.targets() {
            if let Some(file) = kept.depfile(target) {
                files[target.index()] = narrow(file.index());
                stamps[target.index()] = kept.depfile_stamp_now(target);
            }
        }
    }
    for (target, path, stamp) in &build.depfiles {
        files[target.index()] = narrow(build.graph.files.intern(path).index());
        stamps[target.index()] = *stamp;
    }
    if files.iter().all(|&file| file == super::NO_FILE) {
        return (Vec::new(), Vec::new());
    }
    (files, stamps)
}

//! A snapshot: the results of a whole build under one name, so that who has pulled asks once for all of them.
//!
//! A snapshot is the result of an action that nobody runs: of the command `upcheck-snapshot` and the name. Its outputs are
//! blobs, each an [`Entries`] of some of the targets, in the order of their keys. What stands in it is what the cache would
//! say about each of them: results with their outputs, and the lists of what commands have discovered. So whoever asks it
//! for a target makes the same key, and the answer is the same, as long as nobody has published since.
//!
//! Outputs are not in it. Whether the cache still has them is asked in the end, for all at once.

use crate::cache::{Cache, Take};
use crate::key::{SCHEME, Settings};
use crate::result::{Output, result_of};
use std::collections::HashMap;
use std::io::Write;
use upcheck::collect::Headway;
use upcheck_reapi::messages::{Action, Command, Directory, OutputFile};
use upcheck_reapi::{ActionResult, Blob, Digest, Error, Message, encode};

/// The bytes of a blob of entries, about: small enough for a batch.
const PART: usize = 1 << 20;
/// How much of a snapshot is read at most, in bytes.
const LONGEST: u64 = 1 << 30;

/// A part of a snapshot.
#[derive(Clone, PartialEq, Message)]
struct Entries {
    /// The version of this format: 1.
    #[prost(uint32, tag = "1")]
    version: u32,
    #[prost(message, repeated, tag = "2")]
    entries: Vec<Entry>,
}

/// The version of the format.
const VERSION: u32 = 1;

/// What the cache has under a key.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entry {
    /// The key: the SHA-256 of an action, and its size.
    #[prost(bytes = "vec", tag = "1")]
    sha256: Vec<u8>,
    #[prost(uint64, tag = "2")]
    size: u64,
    #[prost(message, repeated, tag = "3")]
    outputs: Vec<Named>,
}

/// An output, or a list of discovered inputs.
#[derive(Clone, PartialEq, Message)]
struct Named {
    #[prost(string, tag = "1")]
    path: String,
    #[prost(bytes = "vec", tag = "2")]
    sha256: Vec<u8>,
    #[prost(uint64, tag = "3")]
    size: u64,
    #[prost(bool, tag = "4")]
    is_executable: bool,
}

impl Entry {
    /// What a result says, without what travels beside its outputs. `None` for one that makes no sense.
    pub(crate) fn of(action: Digest, result: &ActionResult) -> Option<Self> {
        let named = |file: &OutputFile| {
            let Digest { sha256, size } = Digest::from_message(file.digest.as_ref()?).ok()?;
            let is_executable = file.is_executable;
            Some(Named { path: file.path.clone(), sha256: sha256.to_vec(), size, is_executable })
        };
        let outputs = result.output_files.iter().map(named).collect::<Option<_>>()?;
        Some(Self { sha256: action.sha256.to_vec(), size: action.size, outputs })
    }

    /// What is put into the cache for these outputs.
    pub(crate) fn of_outputs(action: Digest, outputs: &[Output]) -> Option<Self> {
        Self::of(action, &result_of(outputs, None))
    }

    fn action(&self) -> Option<Digest> {
        Some(Digest { sha256: self.sha256.as_slice().try_into().ok()?, size: self.size })
    }

    fn result(&self) -> ActionResult {
        let file = |named: &Named| {
            let digest = Digest { sha256: named.sha256.as_slice().try_into().ok()?, size: named.size };
            Some(OutputFile {
                path: named.path.clone(),
                digest: Some(digest.to_message()),
                is_executable: named.is_executable,
                ..OutputFile::default()
            })
        };
        // One that makes no sense is left out, and then no target takes the result for its own.
        ActionResult {
            output_files: self.outputs.iter().filter_map(file).collect(),
            ..ActionResult::default()
        }
    }
}

/// What a cache had when a snapshot was pushed.
#[derive(Debug, Default)]
pub struct Snapshot {
    entries: HashMap<Digest, Entry>,
}

/// What was pushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// How many keys are in it. A target that discovers inputs has two.
    pub keys: usize,
    /// Its size in bytes.
    pub bytes: u64,
}

impl Snapshot {
    /// Fetches the snapshot of a name; `None` if there is none.
    ///
    /// Cost: one question for its parts, and these in batches: about 110 bytes for each target.
    ///
    /// # Errors
    /// When the cache does not answer, or what it has is no snapshot, or one of another version.
    pub fn pull(name: &str, settings: &Settings, cache: &dyn Cache) -> Result<Option<Self>, PullError> {
        let Naming { action, .. } = naming(name, settings);
        let result = cache.action_results(&[action.0]).into_iter().next().transpose()?.flatten();
        let Some(result) = result else { return Ok(None) };
        let parts: Option<Vec<Digest>> =
            result.output_files.iter().map(|file| Digest::from_message(file.digest.as_ref()?).ok()).collect();
        let parts = parts.ok_or(PullError::NoSnapshot)?;
        if parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.size)) > LONGEST {
            return Err(PullError::NoSnapshot);
        }
        let (mut snapshot, mut failed) = (Self::default(), None);
        cache.read_all(&parts, &mut |_, bytes| {
            let taken = match bytes {
                Ok(Some(bytes)) => snapshot.take(&bytes),
                // Its parts may be gone before it is.
                Ok(None) => Err(PullError::Gone),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = taken {
                failed.get_or_insert(error);
            }
        });
        match failed {
            None => Ok(Some(snapshot)),
            Some(PullError::Gone) => Ok(None),
            Some(error) => Err(error),
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), PullError> {
        let part = Entries::decode(bytes).map_err(|_| PullError::NoSnapshot)?;
        if part.version != VERSION {
            return Err(PullError::Version(part.version));
        }
        for entry in part.entries {
            self.entries.insert(entry.action().ok_or(PullError::NoSnapshot)?, entry);
        }
        Ok(())
    }

    /// How many keys are in it.
    #[must_use]
    pub fn n_keys(&self) -> usize {
        self.entries.len()
    }

    /// A cache that says about results what stands in this snapshot, and about all others, and all else, what `cache` says.
    #[must_use]
    pub fn before<'a>(&'a self, cache: &'a dyn Cache) -> Through<'a> {
        Through { snapshot: self, cache }
    }
}

/// Puts a snapshot into the cache, in the place of what was there under its name.
pub(crate) fn push(
    name: &str,
    settings: &Settings,
    mut entries: Vec<Entry>,
    cache: &dyn Cache,
    headway: &dyn Headway,
) -> Result<Pushed, Error> {
    // In an order that is always the same, so that what did not change is not sent again.
    entries.sort_unstable_by(|a, b| (&a.sha256, a.size).cmp(&(&b.sha256, b.size)));
    entries.dedup_by(|a, b| (&a.sha256, a.size) == (&b.sha256, b.size));
    let keys = entries.len();
    let mut parts = Vec::new();
    let (mut part, mut size) = (Vec::new(), 0);
    for entry in entries {
        size += entry.encoded_len();
        part.push(entry);
        if size >= PART {
            parts.push(encode(&Entries { version: VERSION, entries: std::mem::take(&mut part) }));
            size = 0;
        }
    }
    if !part.is_empty() {
        parts.push(encode(&Entries { version: VERSION, entries: part }));
    }
    let file = |(at, (digest, _)): (usize, &(Digest, Vec<u8>))| OutputFile {
        path: format!("snapshot/{at}"),
        digest: Some(digest.to_message()),
        ..OutputFile::default()
    };
    let output_files = parts.iter().enumerate().map(file).collect();
    let bytes = parts.iter().map(|(digest, _)| digest.size).sum();
    let Naming { action, command, root } = naming(name, settings);
    let key = action.0;
    let blobs: Vec<_> = parts.into_iter().chain([command, root, action]).collect();
    let digests: Vec<Digest> = blobs.iter().map(|(digest, _)| *digest).collect();
    let missing = cache.find_missing(&digests)?;
    let blobs: Vec<Blob> = blobs
        .into_iter()
        .filter(|(digest, _)| missing.contains(digest))
        .map(|(digest, bytes)| Blob::Bytes { digest, bytes })
        .collect();
    if !blobs.is_empty() {
        headway.begins(blobs.iter().map(|blob| blob.digest().size).sum());
        cache.write_all(&blobs, &mut |n_bytes| headway.goes_on(n_bytes))?;
    }
    cache.put_action_result(key, &ActionResult { output_files, ..result_of(&[], None) })?;
    Ok(Pushed { keys, bytes })
}

/// What names a snapshot.
struct Naming {
    action: (Digest, Vec<u8>),
    command: (Digest, Vec<u8>),
    root: (Digest, Vec<u8>),
}

fn naming(name: &str, settings: &Settings) -> Naming {
    let arguments = vec!["upcheck-snapshot".into(), name.into()];
    let command = encode(&Command { arguments, ..Command::default() });
    let root = encode(&Directory::default());
    let action = encode(&Action {
        command_digest: Some(command.0.to_message()),
        input_root_digest: Some(root.0.to_message()),
        salt: [SCHEME, "snapshot", &settings.salt].join("\0").into_bytes(),
        ..Action::default()
    });
    Naming { action, command, root }
}

/// See [`Snapshot::before`].
#[derive(Clone, Copy)]
pub struct Through<'a> {
    snapshot: &'a Snapshot,
    cache: &'a dyn Cache,
}

impl Cache for Through<'_> {
    fn find_missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Error> {
        self.cache.find_missing(digests)
    }

    fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>> {
        let entries = &self.snapshot.entries;
        let rest: Vec<Digest> =
            actions.iter().copied().filter(|action| !entries.contains_key(action)).collect();
        let mut others = match rest.is_empty() {
            true => Vec::new(),
            false => self.cache.action_results(&rest),
        }
        .into_iter();
        let of = |action: &Digest| match entries.get(action) {
            Some(entry) => Ok(Some(entry.result())),
            None => others.next().unwrap_or(Ok(None)),
        };
        actions.iter().map(of).collect()
    }

    fn read_all(&self, digests: &[Digest], take: &mut Take<'_>) {
        self.cache.read_all(digests, take);
    }

    fn read_into(&self, digest: Digest, to: &mut dyn Write) -> Result<bool, Error> {
        self.cache.read_into(digest, to)
    }

    fn write_all(&self, blobs: &[Blob], progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
        self.cache.write_all(blobs, progress)
    }

    fn put_action_result(&self, action: Digest, result: &ActionResult) -> Result<(), Error> {
        self.cache.put_action_result(action, result)
    }
}

/// Why a snapshot is not to be had.
#[derive(Debug)]
#[non_exhaustive]
pub enum PullError {
    /// The cache did not answer.
    Cache(Error),
    /// What the cache has under that name is no snapshot.
    NoSnapshot,
    /// It is a snapshot of another version of the format.
    Version(u32),
    /// Parts of it are no longer there.
    Gone,
}

impl From<Error> for PullError {
    fn from(error: Error) -> Self {
        Self::Cache(error)
    }
}

impl std::fmt::Display for PullError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cache(error) => error.fmt(f),
            Self::NoSnapshot => f.write_str("what the cache has under that name is no snapshot"),
            Self::Version(version) => {
                write!(f, "the snapshot is of version {version}, and this reads {VERSION}")
            }
            Self::Gone => f.write_str("parts of the snapshot are no longer there"),
        }
    }
}

impl std::error::Error for PullError {}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::sync::Mutex;

    /// A cache in memory that counts what it is asked.
    #[derive(Default)]
    struct Memory {
        blobs: Mutex<HashMap<Digest, Vec<u8>>>,
        results: Mutex<HashMap<Digest, ActionResult>>,
        written: Mutex<usize>,
    }

    impl Cache for Memory {
        fn find_missing(&self, digests: &[Digest]) -> Result<Vec<Digest>, Error> {
            let blobs = self.blobs.lock().expect("nobody panics");
            Ok(digests
                .iter()
                .copied()
                .filter(|digest| *digest != Digest::EMPTY && !blobs.contains_key(digest))
                .collect())
        }

        fn action_results(&self, actions: &[Digest]) -> Vec<Result<Option<ActionResult>, Error>> {
            actions
                .iter()
                .map(|action| Ok(self.results.lock().expect("nobody panics").get(action).cloned()))
                .collect()
        }

        fn read_all(&self, digests: &[Digest], take: &mut Take<'_>) {
            for &digest in digests {
                take(digest, Ok(self.blobs.lock().expect("nobody panics").get(&digest).cloned()));
            }
        }

        fn read_into(&self, _: Digest, _: &mut dyn Write) -> Result<bool, Error> {
            Ok(false)
        }

        fn write_all(&self, blobs: &[Blob], _: &mut dyn FnMut(u64)) -> Result<(), Error> {
            *self.written.lock().expect("nobody panics") += blobs.len();
            for blob in blobs {
                if let Blob::Bytes { digest, bytes } = blob {
                    self.blobs.lock().expect("nobody panics").insert(*digest, bytes.clone());
                }
            }
            Ok(())
        }

        fn put_action_result(&self, action: Digest, result: &ActionResult) -> Result<(), Error> {
            self.results.lock().expect("nobody panics").insert(action, result.clone());
            Ok(())
        }
    }

    struct Nobody;

    impl Headway for Nobody {
        fn begins(&self, _: u64) {}

        fn goes_on(&self, _: u64) {}
    }

    fn entry(n: u32) -> (Digest, Entry) {
        let action = Digest::of(&n.to_le_bytes());
        let output = |name: &str| OutputFile {
            path: format!("{name}/{n}"),
            digest: Some(Digest::of(name.as_bytes()).to_message()),
            is_executable: n.is_multiple_of(2),
            ..OutputFile::default()
        };
        let result =
            ActionResult { output_files: vec![output("out"), output("more")], ..ActionResult::default() };
        (action, Entry::of(action, &result).expect("it makes sense"))
    }

    fn settings() -> Settings {
        Settings::default()
    }

    #[test]
    fn what_is_pulled_is_what_was_pushed_in_one_question() {
        let cache = Memory::default();
        let all: Vec<_> = (0..30_000).map(entry).collect();
        let entries: Vec<_> = all.iter().map(|(_, entry)| entry.clone()).rev().collect();
        let pushed = push("main", &settings(), entries.clone(), &cache, &Nobody).expect("it is taken");
        assert_eq!(pushed.keys, all.len());
        assert!(pushed.bytes > PART as u64, "it has several parts");
        let snapshot = Snapshot::pull("main", &settings(), &cache).expect("an answer").expect("it is there");
        assert_eq!(snapshot.n_keys(), all.len());
        let through = snapshot.before(&cache);
        let actions: Vec<_> = all.iter().map(|(action, _)| *action).chain([Digest::of(b"another")]).collect();
        let results = through.action_results(&actions);
        for ((action, entry), result) in all.iter().zip(&results) {
            let result = result.as_ref().expect("an answer").as_ref().expect("it is in the snapshot");
            assert_eq!(Entry::of(*action, result).as_ref(), Some(entry));
        }
        assert!(results.last().is_some_and(|result| result.as_ref().is_ok_and(Option::is_none)));

        // The same again sends nothing, whatever the order.
        *cache.written.lock().expect("nobody panics") = 0;
        push("main", &settings(), all.into_iter().map(|(_, entry)| entry).collect(), &cache, &Nobody)
            .expect("it is taken");
        assert_eq!(*cache.written.lock().expect("nobody panics"), 0);
    }

    #[test]
    fn each_name_and_each_salt_has_its_own() {
        let cache = Memory::default();
        push("main", &settings(), vec![entry(1).1], &cache, &Nobody).expect("it is taken");
        let other = Settings { salt: "other".into(), ..settings() };
        assert!(Snapshot::pull("next", &settings(), &cache).expect("an answer").is_none());
        assert!(Snapshot::pull("main", &other, &cache).expect("an answer").is_none());
        push("main", &settings(), vec![entry(2).1], &cache, &Nobody).expect("it is taken");
        let snapshot = Snapshot::pull("main", &settings(), &cache).expect("an answer").expect("it is there");
        assert_eq!((snapshot.n_keys(), snapshot.entries.contains_key(&entry(2).0)), (1, true));
    }

    #[test]
    fn what_is_no_snapshot_is_an_error_and_what_is_gone_is_none() {
        let cache = Memory::default();
        push("main", &settings(), vec![entry(1).1], &cache, &Nobody).expect("it is taken");
        let action = naming("main", &settings()).action.0;
        let part = {
            let results = cache.results.lock().expect("nobody panics");
            let digest = results[&action].output_files[0].digest.as_ref().expect("a digest");
            Digest::from_message(digest).expect("a digest")
        };
        let put = |bytes: &[u8]| {
            cache.blobs.lock().expect("nobody panics").insert(part, bytes.to_vec());
            Snapshot::pull("main", &settings(), &cache)
        };
        assert!(matches!(put(b"\xff\xff\xff"), Err(PullError::NoSnapshot)));
        let next = Entries { version: VERSION + 1, entries: Vec::new() }.encode_to_vec();
        assert!(matches!(put(&next), Err(PullError::Version(2))));
        let odd = Entry { sha256: vec![1, 2, 3], ..entry(1).1 };
        let odd = Entries { version: VERSION, entries: vec![odd] }.encode_to_vec();
        assert!(matches!(put(&odd), Err(PullError::NoSnapshot)));
        cache.blobs.lock().expect("nobody panics").remove(&part);
        assert!(Snapshot::pull("main", &settings(), &cache).expect("an answer").is_none());
        let huge = Digest { size: LONGEST + 1, ..part };
        let file = OutputFile { path: "x".into(), digest: Some(huge.to_message()), ..OutputFile::default() };
        let result = ActionResult { output_files: vec![file], ..ActionResult::default() };
        cache.results.lock().expect("nobody panics").insert(action, result);
        assert!(matches!(Snapshot::pull("main", &settings(), &cache), Err(PullError::NoSnapshot)));
    }
}

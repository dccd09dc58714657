//! The records of success: what every target looked like when it was last built, kept in a folder beside the build.
//!
//! `records` is a file that only grows, until it is replaced by a smaller one; `lock` is locked by whoever changes it.
//! Its format is specified in `format.rs`.
//!
//! # What is promised
//!
//! A record may be lost: its target is stale then. A wrong one is never believed, whatever happens to the file and
//! whoever is killed:
//!
//! - An entry is believed if its checksum is right, which covers where it stands and all that stands before it. Reading
//!   stops at the first one that is not, and nothing behind it is believed. So what is believed is always what the
//!   store once said, perhaps some time ago.
//! - An older state is as good as the last one. A record says how the inputs and outputs of a target were when a build
//!   of it had succeeded, which does not become wrong; and whoever believes it compares all of them with how they are.
//!   So with an older record a target is only fresh if everything is again as it was after that build.
//!
//! # How it is changed
//!
//! Whoever appends locks `lock`, takes in what others have appended, cuts off what does not check, and writes all of
//! its entries at once. If that fails it cuts the file back; if that fails as well, or if it is killed, the next one
//! does it. When records that no longer count outweigh those that do, they are written to `records.new`, which is then
//! renamed: whoever reads has the old file or the new one. Readers take no lock.
//!
//! Data is handed to the system and not forced to the disk, but before a rename: a killed process loses nothing that
//! was appended, a power failure may lose the last entries.

mod clock;
mod contents;
mod disk;
mod format;
mod lock;
mod running;

pub use format::{Entry, NewEntry, ROLE_DISCOVERED, ROLE_INPUT, ROLE_OUTPUT, Row, VERSION};
pub use running::{TargetLock, lock_target, target_holder};

use contents::Contents;
use disk::Disk;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The records of a folder, as they were when they were last read or appended to.
///
/// Appending takes `&mut self`, since it moves what entries are borrowed from. Threads that append share one behind a
/// mutex, or have one each: that is as safe as several processes are.
pub struct Records {
    dir: PathBuf,
    contents: Contents,
    damage: Option<Damage>,
    disk: Disk,
    /// Dead bytes below this are not worth a new file.
    least_dead: usize,
}

/// What of a store was not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What is wrong there.
    pub what: DamageKind,
    /// Up to which byte of the file it is believed.
    pub at: u64,
    /// How many bytes behind that are not.
    pub bytes: u64,
}

/// How a store is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// The last entry is not all there. Mostly nothing to worry about: somebody was killed while appending it, or is
    /// just doing it.
    Unfinished,
    /// Something else than an entry stands where one should.
    Broken,
    /// The file does not begin as one of records does.
    Header,
}

impl Records {
    /// Reads the store in the folder `dir` as it is now; `None` if there is none. Takes no lock, and changes nothing.
    ///
    /// # Errors
    /// When it cannot be read, and with [`ErrorKind::Unsupported`] when it is of another version or byte order.
    pub fn read(dir: &Path) -> io::Result<Option<Self>> {
        let mut records = Self::unread(dir);
        records.refresh()?;
        let is_there = records.contents.header().is_some() || records.damage.is_some();
        Ok(is_there.then_some(records))
    }

    /// The folder it lies in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.dir
    }

    /// Opens the store in the folder `dir` for appending, and makes both where they are not there. A damaged one is
    /// only made anew when something is appended, or the first entry would be lost by looking at it.
    ///
    /// # Errors
    /// As [`Records::read`], and when the folder or its files cannot be made or locked.
    pub fn open(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir).map_err(|error| told("make", dir, &error))?;
        let mut records = Self::unread(dir);
        let _lock = records.lock()?;
        if !records.follow()? {
            records.start_anew()?;
        }
        Ok(records)
    }

    /// Takes in what others have changed since. Takes no lock, and changes nothing.
    ///
    /// # Errors
    /// As [`Records::read`].
    pub fn refresh(&mut self) -> io::Result<()> {
        let before = self.damage.take();
        self.follow()?;
        if self.damage.is_some_and(|damage| damage.what == DamageKind::Broken) {
            // It may be that somebody cut off a tail, and wrote another one, while it was being read.
            self.damage = None;
            self.follow()?;
        }
        if let Some(before) = before {
            self.note(before);
        }
        Ok(())
    }

    /// How many paths there are.
    #[must_use]
    pub fn n_paths(&self) -> usize {
        self.contents.n_paths()
    }

    /// The path of that number; empty if there is none. Numbers hold as long as [`Records::generation`] is the same.
    #[must_use]
    pub fn path(&self, number: u32) -> &[u8] {
        self.contents.path(number)
    }

    /// A number that is another one when paths may have other numbers, after appending or refreshing.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.contents.header().map_or(0, |header| header.id)
    }

    /// The last entry of a target, begun or committed.
    #[must_use]
    pub fn entry(&self, target: &[u8]) -> Option<Entry<'_>> {
        self.contents.entry(target)
    }

    /// The last entries of all targets, in the order in which targets were first recorded.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.contents.entries()
    }

    /// The names of all targets that have an entry, in the order in which they were first recorded.
    pub fn targets(&self) -> impl Iterator<Item = &[u8]> {
        self.entries().map(|entry| entry.name)
    }

    /// What of the store was not believed, for a warning. Stays when an append has repaired it.
    #[must_use]
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Appends entries. When this returns, [`Records::entry`] has them, and all that others have appended. Readers see
    /// of each entry all or nothing.
    ///
    /// # Errors
    /// Before anything is written, when an entry cannot be kept: a name or path that is empty or holds a NUL, an unknown
    /// role, more than 32 bits of something. After that whatever the operating system says; then none of the entries
    /// is recorded, unless the file could not be cut back either, when the first ones may be.
    pub fn append(&mut self, entries: &[NewEntry<'_>]) -> io::Result<()> {
        entries.iter().try_for_each(check)?;
        self.change(|contents| contents.add(entries))
    }

    /// Removes the entries of targets, where they have one.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn forget(&mut self, targets: &[&[u8]]) -> io::Result<()> {
        self.change(|contents| contents.add_removals(targets))
    }

    /// Replaces the file by one without what does not count any more, whatever that gains. Appending does so by itself
    /// when it gains much.
    ///
    /// # Errors
    /// Whatever the operating system says. The file is then as it was.
    pub fn compact(&mut self) -> io::Result<()> {
        let _lock = self.lock()?;
        self.follow()?;
        let compacted = self.contents.compacted(random())?;
        self.replace(compacted, true)
    }

    fn unread(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            contents: Contents::default(),
            damage: None,
            disk: Disk::default(),
            least_dead: LEAST_DEAD,
        }
    }

    fn path_of_file(&self) -> PathBuf {
        self.dir.join("records")
    }

    fn lock(&self) -> io::Result<File> {
        let path = self.dir.join("lock");
        match lock::lock(&path, true) {
            Ok(Some(file)) => Ok(file),
            Ok(None) => Err(ErrorKind::WouldBlock.into()),
            Err(error) => Err(told("lock", &path, &error)),
        }
    }

    /// Takes in what the file says now. Whether there is one.
    fn follow(&mut self) -> io::Result<bool> {
        let path = self.path_of_file();
        match File::open(&path) {
            Ok(mut file) => self.take_in(&mut file).map_err(|error| told("read", &path, &error))?,
            // In the folder's place is a file, which Windows takes for nothing at all.
            Err(error) if error.kind() == ErrorKind::NotFound && self.dir.is_file() => {
                return Err(told("read", &path, &ErrorKind::NotADirectory.into()));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.contents = Contents::default();
                return Ok(false);
            }
            Err(error) => return Err(told("read", &path, &error)),
        }
        Ok(true)
    }

    fn take_in(&mut self, file: &mut File) -> io::Result<()> {
        if !disk::begins_with(file, &self.contents)? {
            self.contents = Contents::default();
        }
        let known = self.contents.end();
        let n_more = file.metadata()?.len().saturating_sub(known as u64);
        let damage = self.contents.extend(n_more, |words| disk::read_words(file, known, n_more, words))?;
        if let Some(damage) = damage {
            self.note(damage);
        }
        Ok(())
    }

    /// Of several damages that are noticed the worst, and of those the first, is the one to tell of.
    fn note(&mut self, damage: Damage) {
        let is_worse = |known: Damage| known.what == DamageKind::Unfinished && damage.what != known.what;
        if self.damage.is_none_or(is_worse) {
            self.damage = Some(damage);
        }
    }

    /// Puts an empty file in its place. There is nothing in it that a power failure could take.
    fn start_anew(&mut self) -> io::Result<()> {
        self.replace(Contents::new(random()), false)
    }

    fn replace(&mut self, contents: Contents, force: bool) -> io::Result<()> {
        let path = self.path_of_file();
        let replaced = self.disk.replace(&path, &self.dir.join("records.new"), contents.bytes(), force);
        replaced.map_err(|error| told("write", &path, &error))?;
        self.contents = contents;
        Ok(())
    }

    /// Appends what `add` adds to the contents as they are in the file now.
    fn change(&mut self, add: impl FnOnce(&mut Contents) -> io::Result<usize>) -> io::Result<()> {
        let _lock = self.lock()?;
        self.follow()?;
        if self.contents.header().is_none() {
            self.start_anew()?;
        }
        let path = self.path_of_file();
        let from = add(&mut self.contents)?;
        let written = self.write_from(from, &path).map_err(|error| told("write", &path, &error));
        match written {
            Ok(()) => self.contents.accept(from),
            Err(_) => self.contents.retract(from),
        }
        written?;
        self.compact_if_worth_it();
        Ok(())
    }

    fn write_from(&mut self, from: usize, path: &Path) -> io::Result<()> {
        let start = from * size_of::<u64>();
        let bytes = &self.contents.bytes()[start..];
        if bytes.is_empty() {
            return Ok(());
        }
        let mut file = OpenOptions::new().write(true).open(path)?;
        if file.metadata()?.len() > start as u64 {
            // If it fails nothing is wrong: what stays behind the new entries does not belong there and is no entry.
            let _ = self.disk.cut(&file, start);
        }
        let written = self.disk.write(&mut file, start, bytes);
        if written.is_err() {
            // If that fails, too, the next one who appends does it.
            let _ = self.disk.cut(&file, start);
        }
        written
    }

    /// Replaces the file by one without what is dead, if that is most of it. It stays as it is if that fails.
    fn compact_if_worth_it(&mut self) {
        let (standing, dead) = self.contents.weight();
        if dead < self.least_dead || dead / MOST_DEAD < standing {
            return;
        }
        let compacted = self.contents.compacted(random()).and_then(|contents| self.replace(contents, true));
        // Where it fails it will fail again: the next attempt is made when it would gain twice as much.
        self.least_dead = if compacted.is_ok() { LEAST_DEAD } else { dead.saturating_mul(2) };
    }
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, at, bytes } = self;
        match what {
            DamageKind::Unfinished => {
                write!(f, "the last {bytes} bytes, from byte {at} on, are an unfinished entry")
            }
            DamageKind::Broken => {
                write!(f, "damaged at byte {at}: this and the {bytes} bytes from there on are not believed")
            }
            DamageKind::Header => write!(f, "its header is damaged: none of its {bytes} bytes is believed"),
        }
    }
}

/// Fewer bytes than this are not worth a new file.
const LEAST_DEAD: usize = 1 << 20;
/// A new file is written when what is dead is so many times as large as what is not. A build leaves two records, begun
/// and committed, so that with less each one would write it.
const MOST_DEAD: usize = 2;

fn check(entry: &NewEntry<'_>) -> io::Result<()> {
    let wrong = |what: String| io::Error::new(ErrorKind::InvalidInput, format!("cannot record {what}"));
    let shown = String::from_utf8_lossy;
    if !format::is_name(entry.name) {
        return Err(wrong(format!("a target whose name is empty or holds a NUL: {:?}", shown(entry.name))));
    }
    for &(path, role, _) in entry.files {
        if !format::is_name(path) {
            let (path, name) = (shown(path), shown(entry.name));
            return Err(wrong(format!("{name:?}: a path of it is empty or holds a NUL: {path:?}")));
        }
        if role > ROLE_OUTPUT {
            return Err(wrong(format!(
                "{:?} of {:?}: there is no role {role}",
                shown(path),
                shown(entry.name)
            )));
        }
    }
    Ok(())
}

/// What the operating system said, with what was being done to which file.
fn told(what: &str, path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot {what} {}: {error}", path.display()))
}

/// A number that no other file of records has, nor any build on record. Not 0.
pub(crate) fn random() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    // The system's own randomness is in every `RandomState`.
    RandomState::new().hash_one((now, std::process::id())).max(1)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::format::{HEADER_SIZE, Header, Writer};
    use super::*;
    use crate::FileState;
    use tempfile::TempDir;

    fn entry(name: &'static [u8], hash: u64) -> NewEntry<'static> {
        const FILES: &[(&[u8], u32, FileState)] =
            &[(b"in", ROLE_INPUT, FileState::UNKNOWN), (b"out", ROLE_OUTPUT, FileState::UNKNOWN)];
        NewEntry { name, command_hash: hash, files: FILES, ..NewEntry::default() }
    }

    fn said(records: &Records) -> Vec<(Vec<u8>, u64)> {
        records.entries().map(|entry| (entry.name.to_vec(), entry.command_hash)).collect()
    }

    fn said_in(dir: &Path) -> Vec<(Vec<u8>, u64)> {
        said(&Records::read(dir).unwrap().unwrap())
    }

    fn store(entries: &[NewEntry<'_>]) -> (TempDir, Records) {
        let dir = TempDir::new().unwrap();
        let mut records = Records::open(dir.path()).unwrap();
        records.append(entries).unwrap();
        (dir, records)
    }

    fn put(dir: &Path, bytes: &[u8]) {
        let path = dir.join("records");
        let _ = fs::remove_file(&path);
        fs::write(path, bytes).unwrap();
    }

    #[test]
    fn a_disk_that_fills_up_at_any_byte_takes_nothing_away() {
        let more = [entry(b"a", 2), entry(b"b", 2), entry(b"c", 2)];
        let whole = {
            let (dir, mut records) = store(&[entry(b"a", 1)]);
            let before = fs::metadata(dir.path().join("records")).unwrap().len();
            records.append(&more).unwrap();
            usize::try_from(fs::metadata(dir.path().join("records")).unwrap().len() - before).unwrap()
        };
        for room in 0..whole {
            for no_cut in [false, true] {
                let (dir, mut records) = store(&[entry(b"a", 1)]);
                let before = fs::read(dir.path().join("records")).unwrap();
                records.disk.faults = disk::Faults { room: Some(room), no_cut, ..disk::Faults::default() };
                let error = records.append(&more).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::StorageFull);
                assert_eq!(said(&records), [(b"a".to_vec(), 1)]);
                let now = fs::read(dir.path().join("records")).unwrap();
                let expected = if no_cut {
                    assert_eq!(now.len(), before.len() + room);
                    assert!(now.starts_with(&before));
                    let states = [
                        vec![(b"a".to_vec(), 1)],
                        vec![(b"a".to_vec(), 2)],
                        vec![(b"a".to_vec(), 2), (b"b".to_vec(), 2)],
                    ];
                    let found = said_in(dir.path());
                    assert!(states.contains(&found), "room for {room}");
                    found
                } else {
                    assert_eq!(now, before);
                    vec![(b"a".to_vec(), 1)]
                };
                // Somebody else repairs it, and the one that failed learns of all that.
                let expected: Vec<_> = expected.into_iter().chain([(b"other".to_vec(), 3)]).collect();
                Records::open(dir.path()).unwrap().append(&[entry(b"other", 3)]).unwrap();
                assert_eq!(said_in(dir.path()), expected);
                records.disk.faults = disk::Faults::default();
                records.append(&[entry(b"last", 4)]).unwrap();
                let expected: Vec<_> = expected.into_iter().chain([(b"last".to_vec(), 4)]).collect();
                assert_eq!((said(&records), said_in(dir.path())), (expected.clone(), expected));
            }
        }
    }

    #[test]
    fn a_tail_that_cannot_be_cut_off_is_written_over() {
        let (dir, mut records) = store(&[entry(b"a", 1)]);
        let mut bytes = fs::read(dir.path().join("records")).unwrap();
        let end = bytes.len();
        // What stays behind the new entry is a whole entry that was written for another place.
        bytes.extend_from_within(HEADER_SIZE..);
        bytes.extend_from_within(HEADER_SIZE..end);
        put(dir.path(), &bytes);
        records.disk.faults.no_cut = true;
        records.append(&[entry(b"b", 2)]).unwrap();
        let expected = [(b"a".to_vec(), 1), (b"b".to_vec(), 2)];
        assert_eq!(said(&records), expected);
        let found = Records::read(dir.path()).unwrap().unwrap();
        assert_eq!(said(&found), expected);
        assert_eq!(found.damage().unwrap().what, DamageKind::Broken);
    }

    #[test]
    fn what_cannot_be_compacted_stays_as_it_is() {
        let faults = [
            disk::Faults { no_sync: true, ..disk::Faults::default() },
            disk::Faults { no_rename: true, ..disk::Faults::default() },
            // Enough for what is appended, not for the whole.
            disk::Faults { room: Some(300), ..disk::Faults::default() },
        ];
        for faults in faults {
            let (dir, mut records) = store(&[entry(b"a", 1), entry(b"b", 1), entry(b"a", 2), entry(b"b", 2)]);
            records.append(&[entry(b"a", 3), entry(b"b", 3), entry(b"a", 4), entry(b"b", 4)]).unwrap();
            let generation = records.generation();
            records.least_dead = 1;
            records.disk.faults = faults;
            records.append(&[entry(b"a", 5)]).unwrap();
            assert!(records.least_dead > 1, "it was tried");
            let expected = [(b"a".to_vec(), 5), (b"b".to_vec(), 4)];
            assert_eq!((&said(&records)[..], records.generation()), (&expected[..], generation));
            assert_eq!(said_in(dir.path()), expected);
            assert!(!dir.path().join("records.new").exists());
            records.disk.faults = disk::Faults::default();
            records.least_dead = 1;
            records.append(&[entry(b"a", 6)]).unwrap();
            assert_ne!(records.generation(), generation);
            let expected = [(b"a".to_vec(), 6), (b"b".to_vec(), 4)];
            assert_eq!((said(&records), said_in(dir.path())), (expected.to_vec(), expected.to_vec()));
            assert_eq!(records.n_paths(), 2);
        }
    }

    #[test]
    fn another_version_and_another_byte_order_are_refused_and_left_alone() {
        let (dir, _) = store(&[entry(b"a", 1)]);
        let whole = fs::read(dir.path().join("records")).unwrap();
        let newer = {
            let mut bytes = whole.clone();
            bytes[12..16].copy_from_slice(&(VERSION + 1).to_ne_bytes());
            let checksum = format::checksum(&bytes[..16]);
            bytes[16..24].copy_from_slice(&checksum.to_ne_bytes());
            bytes
        };
        let foreign = {
            let mut bytes = whole.clone();
            for range in [8..12, 12..16] {
                bytes[range].reverse();
            }
            let checksum = format::checksum(&bytes[..16]);
            bytes[16..24].copy_from_slice(&checksum.swap_bytes().to_ne_bytes());
            bytes
        };
        for (bytes, words) in [(newer, "version 2"), (foreign, "byte order")] {
            let mut known = Records::open(dir.path()).unwrap();
            put(dir.path(), &bytes);
            let refusals = [
                Records::read(dir.path()).map(|_| ()),
                Records::open(dir.path()).map(|_| ()),
                known.append(&[entry(b"b", 2)]),
                known.forget(&[b"a"]),
                known.compact(),
            ];
            for refusal in refusals {
                let error = refusal.unwrap_err();
                assert!(
                    error.kind() == ErrorKind::Unsupported && error.to_string().contains(words),
                    "{error}"
                );
            }
            assert_eq!(fs::read(dir.path().join("records")).unwrap(), bytes);
            put(dir.path(), &whole);
        }
    }

    #[test]
    fn an_entry_in_another_place_is_not_believed() {
        let (dir, _) = store(&[entry(b"a", 1), entry(b"a", 2), entry(b"a", 3)]);
        let whole = fs::read(dir.path().join("records")).unwrap();
        let length = (whole.len() - HEADER_SIZE - 64) / 3;
        let (start, entries) = whole.split_at(whole.len() - 3 * length);
        let [first, second, third] = [0, 1, 2].map(|n| &entries[n * length..][..length]);
        let (other, _) = store(&[entry(b"a", 1), entry(b"a", 9)]);
        let other = fs::read(other.path().join("records")).unwrap();
        let foreign = &other[other.len() - length..];
        for (parts, expected) in [
            (&[first, second, third][..], 3),
            (&[first, second, second], 2),
            (&[first, third, second], 1),
            (&[first, second, third, first], 3),
            // Of another store, written for the very same place.
            (&[first, foreign, third], 1),
        ] {
            put(dir.path(), &[start, &parts.concat()].concat());
            assert_eq!(said_in(dir.path()), [(b"a".to_vec(), expected)]);
        }
        // Of a tail that was cut off and written anew, as far as before it.
        put(dir.path(), &[start, first].concat());
        Records::open(dir.path()).unwrap().append(&[entry(b"b", 9)]).unwrap();
        let again = fs::read(dir.path().join("records")).unwrap();
        assert_eq!(again.len(), whole.len() - length);
        put(dir.path(), &[&again, third].concat());
        assert_eq!(said_in(dir.path()), [(b"a".to_vec(), 1), (b"b".to_vec(), 9)]);
    }

    #[test]
    fn who_knows_a_tail_that_was_cut_off_and_written_anew_forgets_it() {
        for more in [&[entry(b"b", 9)][..], &[entry(b"b", 9), entry(b"c", 9), entry(b"b", 10)]] {
            let (dir, mut records) = store(&[entry(b"a", 1)]);
            let start = fs::read(dir.path().join("records")).unwrap();
            let files: &[(&[u8], u32, FileState)] = &[(b"only here", ROLE_INPUT, FileState::UNKNOWN)];
            records.append(&[NewEntry { files, ..entry(b"a", 2) }]).unwrap();
            let mut reader = Records::read(dir.path()).unwrap().unwrap();
            put(dir.path(), &start);
            Records::open(dir.path()).unwrap().append(more).unwrap();
            reader.refresh().unwrap();
            let expected = said_in(dir.path());
            assert_eq!(
                (said(&reader), expected[0].1, expected[1].0.as_slice()),
                (expected.clone(), 1, &b"b"[..])
            );
            records.append(&[NewEntry { files, ..entry(b"d", 3) }]).unwrap();
            let found = Records::read(dir.path()).unwrap().unwrap();
            assert_eq!((said(&found), found.damage()), (said(&records), None));
            assert_eq!(said(&found)[..expected.len()], expected);
            let row = found.entry(b"d").unwrap().inputs[0];
            assert_eq!((found.path(row.path), found.n_paths()), (&b"only here"[..], 3));
        }
    }

    #[test]
    fn an_entry_that_does_not_fit_together_is_not_believed() {
        let write = |add: &dyn Fn(&mut Writer<'_>)| {
            let header = Header::new(1);
            let mut words = bytemuck::cast_slice(&[header]).to_vec();
            let mut writer = Writer::new(&mut words, header.checksum);
            writer.paths(0, &[b"in", b"out"]).unwrap();
            writer.record(&entry(b"a", 1), &[0, 1]).unwrap();
            add(&mut writer);
            let dir = TempDir::new().unwrap();
            put(dir.path(), bytemuck::cast_slice(&words));
            let records = Records::read(dir.path()).unwrap().unwrap();
            (said(&records), records.n_paths(), records.damage().map(|damage| damage.what))
        };
        let kept = vec![(b"a".to_vec(), 1)];
        assert_eq!(write(&|_| {}), (kept.clone(), 2, None));
        let wrong: [&dyn Fn(&mut Writer<'_>); 8] = [
            &|writer| writer.record(&entry(b"a", 2), &[0, 2]).unwrap(),
            &|writer| writer.record(&entry(b"", 2), &[0, 1]).unwrap(),
            &|writer| writer.record(&entry(b"a\0", 2), &[0, 1]).unwrap(),
            // A number too few: so is a row.
            &|writer| writer.record(&entry(b"a", 2), &[0]).unwrap(),
            &|writer| writer.paths(1, &[b"again"]).unwrap(),
            &|writer| writer.paths(2, &[b""]).unwrap(),
            &|writer| writer.paths(2, &[b"\0"]).unwrap(),
            &|writer| writer.removal(b"").unwrap(),
        ];
        for (n, add) in wrong.iter().enumerate() {
            assert_eq!(write(add), (kept.clone(), 2, Some(DamageKind::Broken)), "{n}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_in_the_way_is_not_written_through() {
        let (dir, mut records) = store(&[entry(b"a", 1)]);
        let precious = dir.path().join("precious");
        fs::write(&precious, "precious").unwrap();
        std::os::unix::fs::symlink(&precious, dir.path().join("records.new")).unwrap();
        records.compact().unwrap();
        assert_eq!(fs::read(&precious).unwrap(), b"precious");
        assert_eq!(said_in(dir.path()), [(b"a".to_vec(), 1)]);
    }
}

//! The store of records: whatever happens to its file and to those who write it, what it says was once recorded.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use tempfile::TempDir;
use upcheck::records::{DamageKind, NewEntry, ROLE_DISCOVERED, ROLE_INPUT, ROLE_OUTPUT, Records};
use upcheck::{Digest, FileState, Meta, Mtime, Stat};

type File = (Vec<u8>, u32, FileState);

/// An entry, with all that belongs to it.
#[derive(Clone, Debug, PartialEq)]
struct Whole {
    name: Vec<u8>,
    began: Mtime,
    ended: Option<Mtime>,
    moment: Mtime,
    command_hash: u64,
    command: Vec<u8>,
    values: Vec<(Vec<u8>, Vec<u8>)>,
    files: Vec<File>,
}

impl Whole {
    /// An entry all of whose parts depend on two numbers, so that a mixture of two does not look like one.
    fn new(name: &str, seed: u64, n_files: u64) -> Self {
        let time = |n: u64| i64::try_from(n).expect("small");
        let file = |n: u64| {
            let role = [ROLE_INPUT, ROLE_DISCOVERED, ROLE_OUTPUT][(n % 3) as usize];
            let path = format!("{name}/{}", (seed % 7) * n);
            (path.into_bytes(), role, state(seed * 1000 + n))
        };
        let mut files: Vec<File> = (0..n_files).map(file).collect();
        files.sort_by_key(|(_, role, _)| *role);
        Self {
            name: name.as_bytes().to_vec(),
            began: time(seed * 10),
            ended: (!seed.is_multiple_of(3)).then_some(time(seed * 10 + 1)),
            moment: time(seed * 10 + 2),
            command_hash: seed,
            command: vec![b'c'; (seed % 11) as usize],
            values: (0..seed % 3)
                .map(|n| (n.to_string().into_bytes(), vec![7; (seed % 13) as usize]))
                .collect(),
            files,
        }
    }
}

fn state(seed: u64) -> FileState {
    if seed.is_multiple_of(5) {
        return FileState::new(Stat::Missing, None, false);
    }
    let mtime = i64::try_from(seed).expect("small");
    let meta = Meta { mtime, ctime: mtime + 1, size: seed, inode: seed + 2, device: 3 };
    FileState::new(Stat::Present(meta), Some(Digest([seed.to_le_bytes()[0]; 32])), seed.is_multiple_of(2))
}

fn append(records: &mut Records, entries: &[Whole]) -> std::io::Result<()> {
    let files: Vec<Vec<_>> = entries
        .iter()
        .map(|entry| entry.files.iter().map(|(path, role, state)| (&path[..], *role, *state)).collect())
        .collect();
    let values: Vec<Vec<_>> = entries
        .iter()
        .map(|entry| entry.values.iter().map(|(name, value)| (&name[..], &value[..])).collect())
        .collect();
    let new: Vec<_> = entries
        .iter()
        .zip(files.iter().zip(&values))
        .map(|(entry, (files, values))| NewEntry {
            name: &entry.name,
            began: entry.began,
            ended: entry.ended,
            moment: entry.moment,
            command_hash: entry.command_hash,
            command: &entry.command,
            values,
            files,
        })
        .collect();
    records.append(&new)
}

/// All that a store says.
fn all(records: &Records) -> BTreeMap<Vec<u8>, Whole> {
    let entries: BTreeMap<_, _> = records
        .entries()
        .map(|entry| {
            let rows = entry.inputs.iter().chain(entry.outputs);
            let whole = Whole {
                name: entry.name.to_vec(),
                began: entry.began,
                ended: entry.ended,
                moment: entry.moment,
                command_hash: entry.command_hash,
                command: entry.command.to_vec(),
                values: entry.values().map(|(name, value)| (name.to_vec(), value.to_vec())).collect(),
                files: rows.map(|row| (records.path(row.path).to_vec(), row.role, row.state)).collect(),
            };
            (entry.name.to_vec(), whole)
        })
        .collect();
    assert_eq!(entries.len(), records.targets().count());
    for (name, entry) in &entries {
        let found = records.entry(name).expect("it is in the list");
        assert_eq!((found.name, found.began), (&name[..], entry.began));
        assert!(found.declared().iter().all(|row| row.role == ROLE_INPUT));
        assert!(found.discovered().iter().all(|row| row.role == ROLE_DISCOVERED));
    }
    entries
}

fn read(dir: &Path) -> Records {
    Records::read(dir).expect("reads").expect("is there")
}

fn map_of(entries: &[Whole]) -> BTreeMap<Vec<u8>, Whole> {
    entries.iter().map(|entry| (entry.name.clone(), entry.clone())).collect()
}

/// A store, and what it said after each of its appends, the first one being none.
fn history(dir: &Path) -> Vec<BTreeMap<Vec<u8>, Whole>> {
    let mut records = Records::open(dir).expect("opens");
    let mut states = vec![all(&records)];
    for (name, seed, n_files) in [("a", 1, 3), ("b", 2, 0), ("a", 3, 5), ("c", 4, 2)] {
        append(&mut records, &[Whole::new(name, seed, n_files)]).expect("appends");
        states.push(all(&records));
    }
    records.forget(&[b"b", b"nobody"]).expect("forgets");
    states.push(all(&records));
    append(&mut records, &[Whole::new("b", 5, 1)]).expect("appends");
    states.push(all(&records));
    states
}

#[test]
fn what_was_appended_is_there_for_all() {
    let dir = TempDir::new().expect("a folder");
    let store = dir.path().join("deep/.upcheck");
    assert!(Records::read(&store).expect("reads").is_none());
    let mut records = Records::open(&store).expect("opens");
    assert_eq!((records.n_paths(), records.targets().count()), (0, 0));
    let entries = [Whole::new("a", 1, 4), Whole::new("b", 2, 0), Whole::new("c", 6, 7)];
    append(&mut records, &entries).expect("appends");
    assert_eq!(all(&records), map_of(&entries));
    assert_eq!(all(&read(&store)), map_of(&entries));
    let again = Whole::new("a", 4, 9);
    append(&mut records, std::slice::from_ref(&again)).expect("appends");
    let now = map_of(&[entries[1].clone(), entries[2].clone(), again]);
    assert_eq!(all(&records), now);
    let reopened = Records::open(&store).expect("opens");
    assert_eq!(all(&reopened), now);
    assert_eq!(reopened.targets().collect::<Vec<_>>(), [b"a", b"b", b"c"]);
    assert_eq!(reopened.damage(), None);
}

#[test]
fn a_store_that_is_cut_off_anywhere_says_what_it_once_said() {
    let dir = TempDir::new().expect("a folder");
    let states = history(dir.path());
    let file = dir.path().join("records");
    let whole = fs::read(&file).expect("reads");
    for length in 0..whole.len() {
        fs::write(&file, &whole[..length]).expect("writes");
        let records = read(dir.path());
        let found = all(&records);
        assert!(states.contains(&found), "cut off at {length}");
        let new = Whole::new("new", length as u64, 3);
        let mut records = Records::open(dir.path()).expect("opens");
        append(&mut records, std::slice::from_ref(&new)).expect("appends");
        let expected: BTreeMap<_, _> = found.into_iter().chain(map_of(&[new])).collect();
        assert_eq!(all(&records), expected, "cut off at {length}");
        let again = read(dir.path());
        assert_eq!((all(&again), again.damage()), (expected, None), "cut off at {length}");
    }
}

#[test]
fn a_store_with_a_wrong_byte_anywhere_says_what_it_once_said() {
    let dir = TempDir::new().expect("a folder");
    let states = history(dir.path());
    let file = dir.path().join("records");
    let whole = fs::read(&file).expect("reads");
    for at in 0..whole.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            fs::write(&file, &damaged).expect("writes");
            let records = read(dir.path());
            let found = all(&records);
            assert!(states[..states.len() - 1].contains(&found), "byte {at}");
            let damage = records.damage().expect("it was noticed");
            assert!(damage.at <= at as u64 && damage.at + damage.bytes == whole.len() as u64, "{damage}");
            assert_eq!(damage.what == DamageKind::Header, at < 40);
        }
        let new = Whole::new("new", at as u64, 3);
        let mut records = Records::open(dir.path()).expect("opens");
        assert!(records.damage().is_some());
        let mut expected = all(&records);
        append(&mut records, std::slice::from_ref(&new)).expect("appends");
        expected.extend(map_of(&[new]));
        assert_eq!(all(&records), expected, "byte {at}");
        let again = read(dir.path());
        assert_eq!((all(&again), again.damage()), (expected, None), "byte {at}");
    }
}

#[test]
fn what_cannot_be_kept_is_refused_and_nothing_is_written() {
    let dir = TempDir::new().expect("a folder");
    history(dir.path());
    let before = fs::read(dir.path().join("records")).expect("reads");
    let mut records = Records::open(dir.path()).expect("opens");
    let good = NewEntry { name: b"good", ..NewEntry::default() };
    for (name, path, role) in
        [(&b""[..], &b"p"[..], 0), (b"a\0b", b"p", 0), (b"a", b"", 0), (b"a", b"p\0", 2), (b"a", b"p", 3)]
    {
        let files = [(path, role, FileState::UNKNOWN)];
        let error =
            records.append(&[good, NewEntry { name, files: &files, ..good }]).expect_err("is refused");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    assert!(records.entry(b"good").is_none());
    assert_eq!(fs::read(dir.path().join("records")).expect("reads"), before);
}

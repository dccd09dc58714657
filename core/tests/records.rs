//! The store of records: whatever happens to its file and to those who write it, what it says was once recorded.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tempfile::TempDir;
use upcheck::records::{
    DamageKind, NewEntry, ROLE_DISCOVERED, ROLE_INPUT, ROLE_OUTPUT, Records, lock_target, target_holder,
};
use upcheck::{Digest, FileState, Meta, Mtime, Stat};

type File = (Vec<u8>, u32, FileState);
/// All that a store says at one time.
type State = BTreeMap<Vec<u8>, Whole>;

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
fn all(records: &Records) -> State {
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

/// Puts a file in the place of the records. Writing over one makes some file systems wait for the disk.
fn put(dir: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(dir.join("records"));
    fs::write(dir.join("records"), bytes).expect("writes");
}

fn map_of(entries: &[Whole]) -> State {
    entries.iter().map(|entry| (entry.name.clone(), entry.clone())).collect()
}

/// A store, and what it said after each of its appends, the first one being none.
fn history(dir: &Path) -> Vec<State> {
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
        put(dir.path(), &whole[..length]);
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
            put(dir.path(), &damaged);
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

#[test]
fn a_file_in_the_place_of_the_folder_is_no_store_that_is_not_there_yet() {
    let dir = TempDir::new().expect("a folder");
    let file = dir.path().join("file");
    fs::write(&file, "").expect("writes");
    assert_eq!(Records::read(&file).err().map(|error| error.kind()), Some(ErrorKind::NotADirectory));
    assert!(Records::read(&dir.path().join("none")).expect("reads").is_none());
}

/// A large entry, all of whose parts depend on its number.
fn large(name: &str, seed: u64) -> Whole {
    let length = 30_000 + usize::try_from(seed % 1000).expect("small");
    Whole { command: vec![seed.to_le_bytes()[0]; length], ..Whole::new(name, seed, 100) }
}

/// What each target says, given that it was made by [`large`] of its name and a number.
fn large_ones(records: &Records) -> BTreeMap<String, u64> {
    let entries = all(records).into_values().map(|entry| {
        let name = String::from_utf8(entry.name.clone()).expect("a name");
        assert_eq!(entry, large(&name, entry.command_hash));
        (name, entry.command_hash)
    });
    entries.collect()
}

#[test]
fn writers_and_readers_at_once_lose_and_mix_nothing() {
    const N_WRITERS: u64 = 3;
    const N_ROUNDS: u64 = 60;
    let dir = TempDir::new().expect("a folder");
    let n_writing = AtomicU64::new(N_WRITERS);
    thread::scope(|scope| {
        for writer in 0..N_WRITERS {
            let (dir, n_writing) = (dir.path(), &n_writing);
            scope.spawn(move || {
                let own = format!("{writer}");
                let mut records = Records::open(dir).expect("opens");
                for round in 1..=N_ROUNDS {
                    let once = format!("{writer} in round {}", round % 4);
                    let batch = [large(&own, round), large("common", round), large(&once, round)];
                    append(&mut records, &batch).expect("appends");
                    assert_eq!(large_ones(&records)[&own], round);
                }
                n_writing.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for reader in 0..2 {
            let (dir, n_writing) = (dir.path(), &n_writing);
            scope.spawn(move || {
                let mut followed: Option<Records> = None;
                let mut before = BTreeMap::new();
                while n_writing.load(Ordering::SeqCst) > 0 {
                    match &mut followed {
                        Some(records) if reader == 1 => records.refresh().expect("refreshes"),
                        _ => followed = Records::read(dir).expect("reads"),
                    }
                    let Some(records) = &followed else { continue };
                    let found = large_ones(records);
                    for (name, round) in before.iter().filter(|(name, _)| *name != "common") {
                        assert!(found[name] >= *round, "{name} went back from {round}");
                    }
                    let damage = records.damage();
                    assert!(damage.is_none_or(|damage| damage.what == DamageKind::Unfinished), "{damage:?}");
                    before = found;
                }
            });
        }
    });
    let found = large_ones(&read(dir.path()));
    assert_eq!(found.len() as u64, N_WRITERS * 5 + 1);
    for writer in 0..N_WRITERS {
        assert_eq!(found[&writer.to_string()], N_ROUNDS);
    }
    let size = || fs::metadata(dir.path().join("records")).expect("is there").len();
    if cfg!(windows) {
        // Not every file system there replaces a file that somebody is reading: then the next one does it who finds
        // nobody reading.
        let mut records = Records::open(dir.path()).expect("opens");
        append(&mut records, &[large("0", N_ROUNDS)]).expect("appends");
    }
    assert!(size() < 4 << 20, "it was compacted: {}", size());
}

/// What a process does that a test has started: this program again, with only this test.
#[test]
fn child_process() {
    let Ok(job) = std::env::var("UPCHECK_TEST_JOB") else { return };
    let dir = std::env::var("UPCHECK_TEST_DIR").expect("the parent said where");
    let dir = Path::new(&dir);
    let tell = |what: String| writeln!(std::io::stderr(), "{what}").expect("the parent listens");
    let (job, argument) = job.split_once(' ').expect("a job and its argument");
    match job {
        "append" => {
            let mut records = Records::open(dir).expect("opens");
            for round in 1..=100 {
                let batch =
                    [Whole::new(&format!("{argument}-{round}"), round, 5), Whole::new("common", round, 6)];
                append(&mut records, &batch).expect("appends");
            }
        }
        "append-large" => {
            let mut records = Records::open(dir).expect("opens");
            for round in argument.parse().expect("a number").. {
                append(&mut records, &[large("a", round), large("b", round)]).expect("appends");
                tell(format!("done {round}"));
            }
        }
        "fill" => {
            let mut records = Records::open(dir).expect("opens");
            for round in 1.. {
                if let Err(error) = append(&mut records, &[Whole::new(&round.to_string(), round, 50)]) {
                    assert_eq!(error.kind(), ErrorKind::FileTooLarge, "{error}");
                    assert_eq!(records.targets().count() as u64, round - 1);
                    tell(format!("done {}", round - 1));
                    break;
                }
            }
        }
        "hold" => {
            let _lock = lock_target(dir, argument.as_bytes(), true).expect("locks").expect("waits");
            tell("held".to_owned());
            // Until the parent ends this process.
            let _ = std::io::stdin().read(&mut [0]);
        }
        _ => unreachable!("{job}"),
    }
}

fn start(dir: &Path, job: &str, limit: &str) -> Child {
    let program = std::env::current_exe().expect("it is running");
    let mut command = if limit.is_empty() {
        Command::new(program)
    } else {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{limit}; exec \"$0\" \"$@\"")]).arg(program);
        shell
    };
    command.args(["child_process", "--exact", "--nocapture", "--test-threads=1"]);
    command.env("UPCHECK_TEST_JOB", job).env("UPCHECK_TEST_DIR", dir);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("starts")
}

/// The lines that a child tells.
fn lines(child: &mut Child) -> impl Iterator<Item = String> + use<> {
    BufReader::new(child.stderr.take().expect("piped")).lines().map(|line| line.expect("text"))
}

fn number_of(line: &str) -> u64 {
    line.strip_prefix("done ").and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn processes_at_once_lose_and_mix_nothing() {
    let dir = TempDir::new().expect("a folder");
    let names = ["p", "q", "r", "s"];
    let children = names.map(|name| start(dir.path(), &format!("append {name}"), ""));
    for child in children {
        let output = child.wait_with_output().expect("ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let records = read(dir.path());
    let rounds = names.iter().flat_map(|name| (1..=100).map(move |round| (format!("{name}-{round}"), round)));
    let mut expected: Vec<_> = rounds.map(|(name, round)| Whole::new(&name, round, 5)).collect();
    expected.push(Whole::new("common", 100, 6));
    assert!(all(&records) == map_of(&expected));
    assert_eq!(records.damage(), None);
    let paths: std::collections::BTreeSet<_> =
        (0..).map(|n| records.path(n)).take(records.n_paths()).collect();
    assert_eq!(paths.len(), records.n_paths(), "each has one number");
}

#[test]
fn a_killed_process_loses_nothing_that_it_had_appended() {
    let dir = TempDir::new().expect("a folder");
    let (mut last, mut n_torn, mut n_generations, mut generation) = (0, 0, 0, 0);
    for kill in 0..100 {
        let mut child = start(dir.path(), &format!("append-large {}", last + 1), "");
        let told = lines(&mut child);
        // So that it is killed at ever other points: after another number of appends, and a little later each time.
        let mut told = told.map(|line| number_of(&line));
        for round in told.by_ref().take(1 + kill % 7) {
            assert_eq!(round, last + 1);
            last = round;
        }
        for spin in 0..kill * 5000 {
            std::hint::black_box(spin);
        }
        child.kill().expect("kills");
        child.wait().expect("ends");
        last = told.last().unwrap_or(last);
        let mut records = read(dir.path());
        let found = large_ones(&records);
        for (name, round) in &found {
            assert!((last..=last + 1).contains(round), "{name}: {round}, but {last} was there");
        }
        assert_eq!(found.len(), 2);
        let damage = records.damage();
        assert!(damage.is_none_or(|damage| damage.what == DamageKind::Unfinished), "{damage:?}");
        n_torn += u32::from(damage.is_some());
        n_generations += u32::from(records.generation() != generation);
        generation = records.generation();
        last += 1;
        append(&mut records, &[large("a", last), large("b", last)]).expect("appends");
        assert_eq!(large_ones(&read(dir.path())), [("a".to_owned(), last), ("b".to_owned(), last)].into());
    }
    let _ = writeln!(std::io::stderr(), "100 kills: {n_torn} torn tails, {n_generations} times another file");
}

/// Appends until the disk is full, and looks what is left.
#[cfg(unix)]
#[test]
fn a_file_that_may_not_grow_keeps_what_it_has() {
    let dir = TempDir::new().expect("a folder");
    let mut child = start(dir.path(), "fill 1", "trap '' XFSZ; ulimit -f 64");
    let told: Vec<_> = lines(&mut child).collect();
    assert!(child.wait().expect("ends").success(), "{told:?}");
    let n_done = number_of(told.last().expect("it told"));
    assert!(n_done > 3);
    let mut records = read(dir.path());
    let mut expected: Vec<_> = (1..=n_done).map(|round| Whole::new(&round.to_string(), round, 50)).collect();
    assert!(all(&records) == map_of(&expected) && records.damage().is_none());
    expected.push(Whole::new("more", 1, 50));
    append(&mut records, &expected[expected.len() - 1..]).expect("appends without the limit");
    assert!(all(&read(dir.path())) == map_of(&expected));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_what_it_has() {
    struct Mounted<'a>(&'a Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    let dir = TempDir::new().expect("a folder");
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=200k", "tmpfs"]).arg(dir.path()).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: a full disk: nobody may mount a tmpfs here");
        return;
    }
    let _mounted = Mounted(dir.path());
    let filler = dir.path().join("filler");
    fs::write(&filler, vec![1; 50_000]).expect("fits");
    let store = dir.path().join(".upcheck");
    let mut records = Records::open(&store).expect("opens");
    let mut expected: Vec<Whole> = Vec::new();
    let mut n_failed = 0;
    for round in 1.. {
        let new = Whole::new(&round.to_string(), round, 1 + 37 * (round % 11));
        match append(&mut records, std::slice::from_ref(&new)) {
            Ok(()) => expected.push(new),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StorageFull, "{error}");
                n_failed += 1;
            }
        }
        let found = read(&store);
        assert!(all(&found) == map_of(&expected) && all(&records) == map_of(&expected), "round {round}");
        assert_eq!(found.damage(), None);
        if n_failed == 20 {
            let _ = fs::remove_file(&filler);
        }
        if n_failed > 40 {
            break;
        }
    }
    // Nothing can even be made anew.
    fs::write(&filler, vec![1; 300_000]).expect_err("the disk is full");
    put(&store, b"");
    fs::write(&filler, vec![1; 300_000]).expect_err("the disk is full");
    append(&mut records, &expected[..1]).expect_err("the disk is full");
    assert!(records.targets().next().is_none());
    fs::remove_file(&filler).expect("is there");
    // What was freed is free when the file system's journal has it.
    fs::File::open(filler.parent().expect("a folder"))
        .and_then(|folder| folder.sync_all())
        .expect("a folder");
    append(&mut records, &expected[..1]).expect("there is room");
    assert!(all(&read(&store)) == map_of(&expected[..1]));
}

#[test]
fn a_store_that_goes_away_is_not_remembered() {
    let dir = TempDir::new().expect("a folder");
    let store = dir.path().join("store");
    let states = history(&store);
    let mut records = read(&store);
    fs::remove_file(store.join("records")).expect("is there");
    let new = Whole::new("new", 1, 3);
    append(&mut records, std::slice::from_ref(&new)).expect("makes it anew");
    assert_eq!(all(&records), map_of(&[new]));
    fs::remove_dir_all(&store).expect("is there");
    append(&mut records, &[Whole::new("new", 1, 3)]).expect_err("there is no folder");
    records.refresh().expect("refreshes");
    assert!(records.targets().next().is_none() && states.len() > 1);
    assert!(Records::read(&store).expect("reads").is_none());
}

#[test]
fn compacting_keeps_what_counts() {
    let dir = TempDir::new().expect("a folder");
    let expected = history(dir.path()).pop().expect("some");
    let (mut records, mut other) = (read(dir.path()), read(dir.path()));
    let (n_paths, generation) = (records.n_paths(), records.generation());
    let names: Vec<_> = records.targets().map(<[u8]>::to_vec).collect();
    records.compact().expect("compacts");
    assert_eq!(
        (all(&records), all(&read(dir.path())), all(&other)),
        (expected.clone(), expected.clone(), expected)
    );
    assert_eq!(records.targets().map(<[u8]>::to_vec).collect::<Vec<_>>(), names, "the order stays");
    assert!(records.n_paths() < n_paths && records.generation() != generation);
    let new = Whole::new("new", 1, 5);
    append(&mut other, std::slice::from_ref(&new)).expect("appends to the new file");
    records.refresh().expect("refreshes");
    assert_eq!(all(&records), all(&other));
    assert_eq!(all(&records)[&b"new"[..]], new);
}

#[test]
fn a_target_is_locked_by_one_at_a_time() {
    let dir = TempDir::new().expect("a folder");
    let lock = lock_target(dir.path(), b"a/b", false).expect("locks").expect("is free");
    assert_eq!(target_holder(dir.path(), b"a/b"), Some(std::process::id()));
    assert!(lock_target(dir.path(), b"a/b", false).expect("asks").is_none());
    assert!(lock_target(dir.path(), b"a", false).expect("asks").is_some());
    drop(lock);
    assert!(lock_target(dir.path(), b"a/b", false).expect("asks").is_some());
    let (is_inside, n_refused) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for thread in 0..4 {
            let (dir, is_inside, n_refused) = (dir.path(), &is_inside, &n_refused);
            scope.spawn(move || {
                for round in 0..300 {
                    match lock_target(dir, b"x", (thread + round) % 3 != 0).expect("locks") {
                        Some(_lock) => {
                            assert!(!is_inside.swap(true, Ordering::SeqCst), "two at once");
                            thread::yield_now();
                            is_inside.store(false, Ordering::SeqCst);
                        }
                        None => {
                            n_refused.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    assert!(n_refused.load(Ordering::SeqCst) <= 400);
}

#[test]
fn a_target_is_free_when_its_holder_was_killed() {
    let dir = TempDir::new().expect("a folder");
    for _ in 0..5 {
        let mut child = start(dir.path(), "hold x", "");
        assert_eq!(lines(&mut child).next().as_deref(), Some("held"));
        assert!(lock_target(dir.path(), b"x", false).expect("asks").is_none());
        assert_eq!(target_holder(dir.path(), b"x"), Some(child.id()));
        thread::scope(|scope| {
            let waiting = scope.spawn(|| lock_target(dir.path(), b"x", true).expect("waits").is_some());
            child.kill().expect("kills");
            assert!(waiting.join().expect("no panic"));
        });
        child.wait().expect("ends");
    }
}

/// What somebody does to a store. Numbers are taken modulo whatever there is.
#[derive(Clone, Debug)]
enum Step {
    Append { handle: usize, entries: Vec<(u8, u64, u64)> },
    Forget { handle: usize, name: u8 },
    Refresh { handle: usize },
    Reopen { handle: usize },
    Compact { handle: usize },
    Cut { at: usize },
    Flip { at: usize, bits: u8 },
    Garbage { bytes: Vec<u8> },
}

fn step() -> impl Strategy<Value = Step> {
    let handle = 0..2_usize;
    let entries = prop::collection::vec((0..5_u8, 1..1000_u64, 0..6_u64), 0..4);
    prop_oneof![
        8 => (handle.clone(), entries).prop_map(|(handle, entries)| Step::Append { handle, entries }),
        2 => (handle.clone(), 0..5_u8).prop_map(|(handle, name)| Step::Forget { handle, name }),
        1 => handle.clone().prop_map(|handle| Step::Refresh { handle }),
        1 => handle.clone().prop_map(|handle| Step::Reopen { handle }),
        1 => handle.prop_map(|handle| Step::Compact { handle }),
        1 => any::<usize>().prop_map(|at| Step::Cut { at }),
        1 => (any::<usize>(), 1..=u8::MAX).prop_map(|(at, bits)| Step::Flip { at, bits }),
        1 => prop::collection::vec(any::<u8>(), 1..100).prop_map(|bytes| Step::Garbage { bytes }),
    ]
}

/// The size of the header.
const HEADER: usize = 40;

/// What the store has to say, told naively: everything it ever said since its file was made.
#[derive(Default)]
struct Model {
    /// All states, with the length of the file then, where it is known.
    states: Vec<(Option<usize>, State)>,
}

impl Model {
    fn now(&self) -> State {
        self.states.last().map(|(_, state)| state.clone()).unwrap_or_default()
    }

    /// The file is only right up to `at`: goes back to what it says, which has to be one of the states that may be
    /// left.
    fn go_back(&mut self, at: usize, found: &State) {
        let is_whole = |end: Option<usize>| end.is_some_and(|end| end <= at);
        let first = self.states.iter().rposition(|(end, _)| is_whole(*end));
        let is_lost = |(end, _): &(Option<usize>, _)| end.is_some_and(|end| end > at);
        let last = self.states.iter().position(is_lost).unwrap_or(self.states.len());
        let Some(first) = first else {
            assert!(found.is_empty());
            self.states = vec![(Some(HEADER), BTreeMap::new())];
            return;
        };
        let kept = (first..last).rev().find(|&n| self.states[n].1 == *found);
        self.states.truncate(kept.expect("one of the states that may be left") + 1);
    }
}

fn cases() -> u32 {
    std::env::var("UPCHECK_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_store_says_what_a_naive_one_says(steps in prop::collection::vec(step(), 1..30)) {
        let dir = TempDir::new().expect("a folder");
        let file = dir.path().join("records");
        let length = || usize::try_from(fs::metadata(&file).expect("is there").len()).expect("small");
        let open = || Records::open(dir.path()).expect("opens");
        let mut handles = [open(), open()];
        let mut model = Model { states: vec![(Some(length()), BTreeMap::new())] };
        for step in steps {
            let mut damaged_from = None;
            match step {
                Step::Append { handle, entries } => {
                    let new: Vec<_> =
                        entries.iter().map(|(name, seed, n)| Whole::new(&name.to_string(), *seed, *n)).collect();
                    append(&mut handles[handle], &new).expect("appends");
                    for entry in new {
                        let mut state = model.now();
                        state.insert(entry.name.clone(), entry);
                        model.states.push((None, state));
                    }
                    prop_assert_eq!(all(&handles[handle]), model.now());
                }
                Step::Forget { handle, name } => {
                    handles[handle].forget(&[name.to_string().as_bytes()]).expect("forgets");
                    let mut state = model.now();
                    state.remove(name.to_string().as_bytes());
                    model.states.push((None, state));
                }
                Step::Refresh { handle } => {
                    handles[handle].refresh().expect("refreshes");
                    prop_assert_eq!(all(&handles[handle]), model.now());
                }
                Step::Reopen { handle } => handles[handle] = open(),
                Step::Compact { handle } => {
                    handles[handle].compact().expect("compacts");
                    let now = model.now();
                    model.states = vec![(Some(HEADER), BTreeMap::new())];
                    for name in handles[handle].targets() {
                        let mut state = model.now();
                        state.insert(name.to_vec(), now[name].clone());
                        model.states.push((None, state));
                    }
                    prop_assert_eq!(model.now(), now);
                }
                Step::Cut { at } => {
                    let at = at % (length() + 1);
                    fs::OpenOptions::new().write(true).open(&file).expect("opens").set_len(at as u64).expect("cuts");
                    damaged_from = Some(at);
                }
                Step::Flip { at, bits } => {
                    let mut bytes = fs::read(&file).expect("reads");
                    if !bytes.is_empty() {
                        let at = at % bytes.len();
                        bytes[at] ^= bits;
                        put(dir.path(), &bytes);
                        damaged_from = Some(at);
                    }
                }
                Step::Garbage { bytes } => {
                    let whole = fs::read(&file).expect("reads");
                    put(dir.path(), &[&whole[..], &bytes].concat());
                }
            }
            let fresh = read(dir.path());
            let found = all(&fresh);
            if let Some(at) = damaged_from {
                model.go_back(at, &found);
                // Who knows the file from before may not look at the damaged part again.
                handles = [open(), open()];
                for handle in &handles {
                    prop_assert_eq!(all(handle), model.now());
                }
            } else {
                prop_assert_eq!(&found, &model.now());
                if let Some((end @ None, _)) = model.states.last_mut() {
                    // What is behind the last entry does not count.
                    *end = fresh.damage().is_none().then(length);
                }
            }
        }
    }
}

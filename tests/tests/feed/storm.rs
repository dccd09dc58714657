//! A storm: processes that do whatever can be done to files, and every answer between is that of the disk.
//! `UPCHECK_CASES` says how many things are done (3,000), `UPCHECK_SEED` which (1).

use crate::{World, link};
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use upcheck::Plan;
use upcheck::collect::{UnixDisk, collect};
use upcheck_tests::aloud::progress;
use upcheck_tests::space::Space;
use upcheck_watch::{Memory, Options, WatchedDisk};

const PROCESSES: u64 = 4;
/// So many things each of them does between two questions, at most.
const AT_ONCE: u64 = 25;

/// Random numbers: xorshift.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..10).for_each(|_| _ = dice.roll(2));
        dice
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.roll(all.len() as u64)).expect("a small number")]
    }

    /// A path in the tree; not every one leads anywhere.
    fn path(&mut self) -> String {
        let mut path = self.of(&["base", "base", "base", "base", "base", "out"]).to_owned();
        for _ in 0..self.roll(3) {
            path += self.of(&["/d0", "/d1", "/d0", "/l0"]);
        }
        path + self.of(&["/f0", "/f1", "/f2", "/f3", "/d0", "/d1", "/l0", "/unwanted"])
    }
}

/// All that is wanted: each name in each directory, through links as well.
fn wanted() -> Vec<String> {
    let mut directories = vec![String::new(), "../out/".to_owned()];
    for _ in 0..2 {
        let deeper = directories.iter().flat_map(|at| ["d0", "d1", "l0"].map(|name| format!("{at}{name}/")));
        let deeper: Vec<_> = deeper.collect();
        directories.extend(deeper);
    }
    directories.sort();
    directories.dedup();
    let names = ["f0", "f1", "f2", "f3", "d0", "l0"];
    directories.iter().flat_map(|at| names.map(|name| format!("{at}{name}"))).collect()
}

/// Somebody who does things to the tree.
struct Vandal {
    root: PathBuf,
    dice: Dice,
    open: Vec<File>,
}

impl Vandal {
    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// One of the files' names outside.
    fn elsewhere(&mut self) -> PathBuf {
        let name = format!("elsewhere/{}", self.dice.roll(20));
        self.at(&name)
    }

    /// Does something, if it can be done.
    fn act(&mut self) -> Option<()> {
        let (one, other) = (self.dice.path(), self.dice.path());
        let (one, other) = (self.at(&one), self.at(&other));
        match self.dice.roll(23) {
            0 | 1 => fs::write(&one, vec![b'x'; usize::try_from(self.dice.roll(2_000)).ok()?]).ok()?,
            2 => OpenOptions::new().append(true).open(&one).ok()?.write_all(b"more").ok()?,
            3 => {
                OpenOptions::new().write(true).open(&one).and_then(|f| f.set_len(self.dice.roll(99))).ok()?;
            }
            4 => fs::remove_file(&one).ok()?,
            5 | 6 => fs::rename(&one, &other).ok()?,
            7 => {
                let (cwd, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
                rustix::fs::renameat_with(cwd, &one, cwd, &other, flags).ok()?;
            }
            8 | 9 => fs::create_dir_all(&one).ok()?,
            10 => fs::remove_dir(&one).ok()?,
            11 if self.dice.roll(3) == 0 => fs::remove_dir_all(&one).ok()?,
            12 => {
                let mode = [0o600, 0o644, 0o755, 0o700][usize::try_from(self.dice.roll(4)).ok()?];
                fs::set_permissions(&one, Permissions::from_mode(mode)).ok()?;
            }
            13 | 14 => {
                let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(self.dice.roll(1 << 50));
                File::open(&one).and_then(|f| f.set_times(FileTimes::new().set_modified(time))).ok()?;
            }
            15 => {
                // To where there is something, or not, or to itself. Wherever it is moved to, it must not lead above
                // `base` and `out`: somebody else's files are there.
                let to = ["d0", "f0", "f1", "l0", "nowhere", "../base/d1", "../out/d0"];
                let to = self.dice.of(&to);
                let _ = fs::remove_file(&one);
                std::os::unix::fs::symlink(to, &one).ok()?;
            }
            16 => {
                let new = self.at(&format!("elsewhere/new-{}", std::process::id()));
                let _ = fs::remove_file(&new);
                std::os::unix::fs::symlink(&other, &new).ok()?;
                fs::rename(&new, &one).ok()?;
            }
            17 => fs::hard_link(&one, &other).ok()?,
            18 => {
                let elsewhere = self.elsewhere();
                let _ = fs::remove_file(&elsewhere);
                fs::hard_link(&one, &elsewhere).ok()?;
            }
            19 => fs::write(self.elsewhere(), "by another name").ok()?,
            20 => self.open.push(OpenOptions::new().write(true).open(&one).ok()?),
            21 => {
                let at = usize::try_from(self.dice.roll(self.open.len() as u64 + 1)).ok()?;
                self.open.get_mut(at)?.write_all(b"late").ok()?;
            }
            _ => {
                let directory = one.parent()?;
                let flags = rustix::fs::OFlags::TMPFILE | rustix::fs::OFlags::RDWR;
                let file = rustix::fs::open(directory, flags, rustix::fs::Mode::RWXU).ok()?;
                let own = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&file));
                let (cwd, flags) = (rustix::fs::CWD, rustix::fs::AtFlags::SYMLINK_FOLLOW);
                rustix::fs::linkat(cwd, own, cwd, &other, flags).ok()?;
                self.open.push(file.into());
            }
        }
        if self.open.len() > 8 {
            let at = usize::try_from(self.dice.roll(8)).ok()?;
            self.open.swap_remove(at);
        }
        Some(())
    }
}

/// Does as many things as each line says, and answers when they are done.
#[test]
#[ignore = "a process of the storm"]
fn vandal() {
    let Ok(root) = std::env::var("UPCHECK_TEST_STORM") else { return };
    let seed: u64 = std::env::var("UPCHECK_TEST_SEED").expect("a seed").parse().expect("a number");
    let mut vandal = Vandal { root: root.into(), dice: Dice::new(seed), open: Vec::new() };
    for line in std::io::stdin().lines() {
        let times: u64 = line.expect("a line").parse().expect("a number");
        let n_done = (0..times).filter(|_| vandal.act().is_some()).count();
        writeln!(std::io::stderr(), "done {n_done}").expect("a pipe");
    }
}

struct Process {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStderr>,
}

impl Process {
    fn new(root: &Path, seed: u64) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "storm::vandal", "--ignored", "--nocapture"]);
        command.env("UPCHECK_TEST_STORM", root).env("UPCHECK_TEST_SEED", seed.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("this program");
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stderr.take().expect("a pipe"));
        Self { process, orders, answers }
    }

    fn order(&mut self, times: u64) {
        writeln!(self.orders.as_mut().expect("a pipe"), "{times}").expect("a pipe");
    }

    /// How many of the things could be done.
    fn done(&mut self) -> u64 {
        let mut line = String::new();
        while self.answers.read_line(&mut line).expect("a pipe") > 0 {
            if let Some(n) = line.trim().strip_prefix("done ") {
                return n.parse().expect("a number");
            }
            line.clear();
        }
        panic!("a process of the storm ended");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.process.wait();
    }
}

#[test]
fn whatever_is_done_to_files_each_answer_is_that_of_the_disk() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (things, seed) = (number("UPCHECK_CASES", 3_000), number("UPCHECK_SEED", 1));
    let space = Space::new();
    // Deep down, so that who climbs out of the tree is still in this space.
    let root = space.path().join("deep/down");
    space.write("deep/down/base/f0", "");
    space.write("deep/down/out/f0", "");
    space.write("deep/down/elsewhere/0", "");
    link("../out", &root.join("base/l0"));
    let base = root.join("base");
    let names = wanted();
    let world = World::at(space, base, &names.iter().map(String::as_str).collect::<Vec<_>>());
    // Another memory with the same feed, which compares by itself.
    let verified = Options { verify: true };
    let other = Memory::new(Arc::clone(&world.feed), world.base.as_os_str().as_encoded_bytes(), verified);
    let mut dice = Dice::new(seed);
    let mut processes: Vec<_> = (0..PROCESSES).map(|n| Process::new(&root, seed * 1_000 + n)).collect();
    let plan = Plan::new(&world.files, world.files.ids());
    let (mut tried, mut done, mut rounds) = (0, 0, 0);
    while tried < things {
        let times = 1 + dice.roll(AT_ONCE);
        // Few at a time as well: otherwise everything has changed each time.
        let busy = 1 + usize::try_from(dice.roll(PROCESSES)).expect("a small number");
        let times = if dice.roll(2) == 0 { 1 } else { times };
        processes.iter_mut().take(busy).for_each(|process| process.order(times));
        // Questions in the middle of it: nobody knows what is right, but it must not spoil later answers.
        for _ in 0..dice.roll(4) {
            match dice.roll(3) {
                0 => world.feed.drain(),
                more => {
                    // The base may be gone at this moment.
                    let Ok(disk) = UnixDisk::new(&world.base) else { continue };
                    let memory = if more == 1 { &world.memory } else { &other };
                    let threads = 1 + usize::try_from(dice.roll(3)).expect("a small number");
                    let ask = || collect(&WatchedDisk::new(&disk, memory), &plan, threads);
                    // Two at once, sometimes.
                    std::thread::scope(|scope| {
                        let second = (threads > 1).then(|| scope.spawn(ask));
                        let _ = ask();
                        second.map(|second| second.join().expect("no panic"))
                    });
                }
            }
        }
        done += processes.iter_mut().take(busy).map(Process::done).sum::<u64>();
        tried += times * busy as u64;
        rounds += 1;
        if !world.base.is_dir() {
            let _ = fs::remove_file(&world.base);
            fs::create_dir_all(&world.base).expect("the base");
        }
        fs::create_dir_all(root.join("out")).expect("a directory");
        let wrong = other.asked().wrong;
        world.look();
        let disk = UnixDisk::new(&world.base).expect("the base");
        let _ = collect(&WatchedDisk::new(&disk, &other), &plan, 2);
        assert_eq!(other.asked().wrong, wrong, "round {rounds}");
    }
    for (directory, n) in [("deep", 1), ("deep/down", 3)] {
        let n_entries = fs::read_dir(world.space.path().join(directory)).expect("a directory").count();
        assert_eq!(n_entries, n, "nothing climbed out of the tree: {n_entries} in {directory}");
    }
    let asked = world.memory.asked();
    progress(&format!(
        "storm: {tried} things tried, {done} done, {rounds} questions about {} names, no difference; \
         {} names asked of the disk, {} remembered, all forgotten {} times",
        names.len(),
        asked.of_disk,
        asked.remembered,
        asked.forgotten
    ));
    assert!(done * 5 > tried, "much of it can be done: {done} of {tried}");
    assert!(asked.remembered > asked.of_disk / 4, "something is remembered: {asked:?}");
}

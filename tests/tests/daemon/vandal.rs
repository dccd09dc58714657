//! Processes that do things to the files of a build directory, as many as they are told.

use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::time::{Duration, SystemTime};

/// Random numbers, the same for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..10).for_each(|_| _ = dice.roll(2));
        dice
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[usize::try_from(self.roll(all.len() as u64)).expect("a small number")]
    }

    fn size(&mut self, most: u64) -> usize {
        usize::try_from(self.roll(most)).expect("a small number")
    }
}

/// Somebody who does things to the tree of `same::project`.
struct Vandal {
    root: PathBuf,
    dice: Dice,
    open: Vec<File>,
}

impl Vandal {
    /// A file that the build knows, or one beside it.
    fn path(&mut self) -> PathBuf {
        let n = self.dice.roll(7);
        let name = match self.dice.roll(12) {
            0..=2 => format!("src/{n}.c"),
            3 | 4 => format!("src/h{n}.h"),
            5..=7 => format!("out/{n}.o"),
            8 => format!("out/{n}.o.d"),
            9 => self.dice.of(&["src/common.h", "src/gen.in", "gen.h", "lib", "lone", "spare"]).to_owned(),
            10 => self.dice.of(&["src", "out", "elsewhere", "src/0.c/below", "out/2.o/below"]).to_owned(),
            _ => format!("elsewhere/{n}"),
        };
        self.root.join(name)
    }

    /// What the build is read from is changed now and then only: then everything is read anew.
    fn description(&mut self) -> Option<()> {
        let (manifest, log) = (self.root.join("build.ninja"), self.root.join(".ninja_log"));
        let new = self.root.join(format!("new-{}", std::process::id()));
        match self.dice.roll(4) {
            0 => fs::copy(&manifest, &new).and_then(|_| fs::rename(&new, &manifest)).ok(),
            1 => File::open(&manifest).and_then(|f| f.set_modified(SystemTime::now())).ok(),
            2 => OpenOptions::new().append(true).open(&log).ok()?.write_all(b"# nothing\n").ok(),
            _ => fs::copy(&log, &new).and_then(|_| fs::rename(&new, &log)).ok(),
        }
    }

    /// Does something, if it can be done.
    fn act(&mut self) -> Option<()> {
        let (one, other) = (self.path(), self.path());
        let what = self.dice.roll(20);
        match what {
            0 | 1 => fs::write(&one, vec![b'x'; self.dice.size(2_000)]).ok()?,
            2 => OpenOptions::new().append(true).open(&one).ok()?.write_all(b"more").ok()?,
            3 | 4 => fs::remove_file(&one).ok()?,
            5 | 6 => fs::rename(&one, &other).ok()?,
            7 => {
                let (cwd, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
                rustix::fs::renameat_with(cwd, &one, cwd, &other, flags).ok()?;
            }
            8 | 9 => {
                let new = self.root.join(format!("new-{}", std::process::id()));
                fs::write(&new, "replaced").and_then(|()| fs::rename(&new, &one)).ok()?;
            }
            10 => {
                // Directories stay open to their user.
                let mode = [0o700, 0o711, 0o755, 0o777][self.dice.size(4)];
                fs::set_permissions(&one, Permissions::from_mode(mode)).ok()?;
            }
            11..=13 => {
                // Back to a few moments long ago, and ahead.
                let seconds = [1, 1_000_000_000, 1_000_000_001, 1_900_000_000][self.dice.size(4)];
                let time = SystemTime::UNIX_EPOCH
                    + Duration::from_nanos(seconds * 1_000_000_000 + self.dice.roll(3));
                File::open(&one).and_then(|f| f.set_times(FileTimes::new().set_modified(time))).ok()?;
            }
            14 => fs::hard_link(&one, &other).ok()?,
            15 => fs::create_dir(&one).ok()?,
            16 => fs::remove_dir(&one).ok()?,
            17 => {
                self.open.push(OpenOptions::new().write(true).open(&one).ok()?);
                if self.open.len() > 4 {
                    self.open.swap_remove(0);
                }
            }
            18 => {
                let at = self.dice.size(4);
                self.open.get_mut(at)?.write_all(b"late").ok()?;
            }
            _ if self.dice.roll(8) == 0 => self.description()?,
            _ => {
                let _ = fs::remove_file(&one);
                std::os::unix::fs::symlink(&other, &one).ok()?;
            }
        }
        Some(())
    }
}

/// Does as many things as each line says, and answers when they are done.
#[test]
#[ignore = "a process of those below"]
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

/// One of those processes.
pub(crate) struct Process {
    process: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStderr>,
}

impl Process {
    pub(crate) fn new(root: &Path, seed: u64) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "vandal::vandal", "--ignored", "--nocapture"]);
        command.env("UPCHECK_TEST_STORM", root).env("UPCHECK_TEST_SEED", seed.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("this program");
        let orders = process.stdin.take();
        let answers = BufReader::new(process.stderr.take().expect("a pipe"));
        Self { process, orders, answers }
    }

    pub(crate) fn order(&mut self, times: u64) {
        writeln!(self.orders.as_mut().expect("a pipe"), "{times}").expect("a pipe");
    }

    /// How many of the things could be done. Waits until all were tried.
    pub(crate) fn done(&mut self) -> u64 {
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

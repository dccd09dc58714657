//! A feed that a driver brings: where he tells what changed, answers are the disk's; where he does not, that is found out.
#![cfg(unix)]

mod lies;
mod random;
mod tells;

use std::path::PathBuf;
use std::time::Duration;
use upcheck::collect::{UnixDisk, collect};
use upcheck::{FileTable, Plan, Snapshot, path};
use upcheck_tests::space::Space;
use upcheck_watch::told::{Basis, Counts, News, Options, Said, Told};

/// Nothing counts as too young: otherwise nothing that a test makes would be remembered.
const ANY_AGE: Options = Options { spot_checks: 16, young: Duration::ZERO };

/// A directory, files that are looked at again and again, and a driver who tells of them.
struct World {
    /// Where the disk begins.
    base: PathBuf,
    files: FileTable,
    told: Told,
    /// The driver's tokens are numbers.
    token: u64,
    /// Goes away last.
    _space: Space,
}

impl World {
    /// A directory with a base in it, and files that are wanted.
    fn new(wanted: &[&str]) -> Self {
        Self::with(wanted, ANY_AGE)
    }

    fn with(wanted: &[&str], options: Options) -> Self {
        let space = Space::new();
        let base = space.path().canonicalize().expect("a path").join("base");
        std::fs::create_dir(&base).expect("a directory");
        let mut files = FileTable::default();
        for wanted in wanted {
            let mut canonical = wanted.as_bytes().to_vec();
            path::canonicalize(&mut canonical);
            files.intern(&canonical);
        }
        let told = Told::new(base.as_os_str().as_encoded_bytes(), options);
        Self { base, files, told, token: 0, _space: space }
    }

    fn full(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    fn write(&self, path: &str, content: &str) {
        let full = self.full(path);
        std::fs::create_dir_all(full.parent().expect("a directory")).expect("directories");
        std::fs::write(full, content).expect("a file");
    }

    /// The driver says that these paths changed, and nothing else.
    fn tell(&mut self, paths: &[&str]) {
        let paths: Vec<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
        self.say(Said::Paths(&paths));
    }

    fn say(&mut self, changed: Said<'_>) {
        let since = self.token.to_le_bytes();
        self.token += 1;
        let now = self.token.to_le_bytes();
        self.told.tell(&News { since: (self.token > 1).then_some(&since), now: &now, changed });
    }

    /// One question. Its answer, and what it cost.
    fn ask(&mut self) -> (Snapshot, Counts) {
        let before = self.told.counts();
        let plan = Plan::new(&self.files, self.files.ids());
        let disk = UnixDisk::new(&self.base).expect("the base");
        let snapshot = collect(&self.told.question(&disk, 1), &plan, 1);
        let after = self.told.counts();
        let counts = Counts {
            of_disk: after.of_disk - before.of_disk,
            remembered: after.remembered - before.remembered,
            checked: after.checked - before.checked,
            directories: after.directories - before.directories,
            wrong: after.wrong - before.wrong,
        };
        // What is beneath a missing directory is not asked for.
        assert!(counts.of_disk + counts.remembered <= self.files.len() as u64);
        (snapshot, counts)
    }

    /// The names of those that are not as the disk says.
    fn differences(&self, snapshot: &Snapshot) -> Vec<String> {
        let plan = Plan::new(&self.files, self.files.ids());
        let plain = collect(&UnixDisk::new(&self.base).expect("the base"), &plan, 1);
        let differ = self.files.ids().filter(|file| snapshot.stat(*file) != plain.stat(*file));
        differ.map(|file| String::from_utf8_lossy(self.files.path(file)).into_owned()).collect()
    }

    /// One question whose answer must be the disk's. For how many names the disk was asked.
    #[track_caller]
    fn look(&mut self) -> u64 {
        let (snapshot, counts) = self.ask();
        assert_eq!(self.differences(&snapshot), [""; 0], "not as the disk says");
        assert_eq!(counts.wrong, 0, "{}", String::from_utf8_lossy(self.told.wrong()));
        counts.of_disk
    }

    /// Tells of these paths, and looks. For how many names the disk was asked; the others were remembered.
    #[track_caller]
    fn after(&mut self, paths: &[&str]) -> u64 {
        self.tell(paths);
        let n_asked = self.look();
        assert_eq!(self.told.basis(), Basis::Told);
        n_asked
    }

    /// Looks until all is remembered that ever will be. For how many names the disk is asked even then.
    #[track_caller]
    fn settle(&mut self) -> u64 {
        self.say(Said::Everything);
        self.look();
        self.after(&[]);
        self.after(&[])
    }
}

fn link(to: &str, path: PathBuf) {
    std::os::unix::fs::symlink(to, path).expect("a link");
}

//! Records of success, examined by somebody who means harm: clocks that go back, stamps that are put back, edits at
//! the worst moment, builds that are killed or overlap, stores that are damaged.
//!
//! `UPCHECK_CASES` sets how many random worlds are tried, and `UPCHECK_KILLS` how often a build driver is killed.

mod clocks;
mod describe;
mod described;
mod dice;
mod disks;
mod during;
mod kills;
mod naive;
mod names;
mod overlap;
mod pitfalls;
mod worlds;

use describe::{Desc, Process, Running, lines};
use tempfile::TempDir;
use upcheck::collect::MemoryDisk;
use upcheck::{Mtime, Policy};

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;

/// A disk in memory, with a real store beside it.
struct Bench {
    disk: MemoryDisk,
    place: TempDir,
    targets: Vec<Desc>,
}

impl Bench {
    /// All stamps are exact, and it is the 1000th second.
    fn new(targets: &[Desc]) -> Self {
        let mut disk = MemoryDisk::with_real_ctimes();
        disk.set_clock(1000 * S);
        Self { disk, place: TempDir::new().expect("a temporary directory"), targets: targets.to_vec() }
    }

    fn store(&self) -> std::path::PathBuf {
        self.place.path().join("store")
    }

    fn process(&self) -> Process {
        Process::new(&self.targets)
    }

    /// What a new process finds not fresh.
    fn stale(&self) -> Vec<String> {
        lines(&self.process().check(&self.disk, &self.store()))
    }

    fn begin(&self, name: &str) -> Running {
        self.process().begin(&self.disk, &self.store(), &[name])
    }

    /// Builds a target from its inputs as they are, in a second of its own. Whether there was no doubt.
    fn build(&mut self, name: &str, content: &str) -> bool {
        self.disk.tick();
        let running = self.begin(name);
        self.disk.tick();
        let desc = self.targets.iter().find(|desc| desc.called() == name).expect("a target");
        for output in &desc.outputs.clone() {
            self.disk.write(output, content.as_bytes());
        }
        self.disk.tick();
        let is_sure = running.commit(&self.disk);
        self.disk.tick();
        is_sure
    }
}

/// A target whose input is `one`.
fn with_input(policy: Policy) -> Bench {
    let mut bench = Bench::new(&[Desc::new("out", &["in"]).policy(policy)]);
    bench.disk.write("in", b"one");
    bench.disk.tick();
    bench
}

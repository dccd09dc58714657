//! What is kept of a check that found everything fresh never makes a later one say so wrongly.

use std::path::Path;
use upcheck::collect::{Access, Disk, MemoryDisk};
use upcheck::image::ImageFolder;
use upcheck::project::{Description, Options, Project, Settled};
use upcheck::records::Records;

const S: i64 = 1_000_000_000;

/// A project of two steps, `a b -> mid`, `mid c -> out`, whose description is a file that says what is done.
struct World {
    disk: MemoryDisk,
    place: tempfile::TempDir,
    now: i64,
}

impl World {
    fn new() -> Self {
        let mut disk = MemoryDisk::with_real_ctimes();
        disk.set_clock(1000 * S);
        for file in ["a", "b", "c"] {
            disk.write(file, b"1");
        }
        disk.write("description", b"cat");
        Self { disk, place: tempfile::tempdir().expect("a temporary folder"), now: 1000 * S }
    }

    fn pass(&mut self, ns: i64) {
        self.now += ns;
        self.disk.set_clock(self.now);
    }

    fn store(&self) -> std::path::PathBuf {
        self.place.path().join("store")
    }

    fn describe(&self) -> Project {
        let mut project = Project::new();
        let mut file = |name: &str| project.file(name.as_bytes()).expect("a name");
        let [a, b, c, mid, out] = ["a", "b", "c", "mid", "out"].map(&mut file);
        let command = self.disk.read(b"description").unwrap_or_default();
        for (output, inputs) in [(mid, [a, b]), (out, [mid, c])] {
            let description = Description {
                outputs: &[output],
                explicit: &inputs,
                command: &command,
                ..Description::default()
            };
            project.add(&description).expect("no other makes it");
        }
        project
    }

    fn settled(&self, question: &str) -> Settled {
        let folder = ImageFolder::new(self.place.path().join("cache"));
        // The records lie on a real disk; their own stamp stands for them in the world.
        Settled::new(folder, question.into(), vec![b"records".to_vec(), b"description".to_vec()])
    }

    /// What a check without anything kept says.
    fn truth(&self) -> bool {
        let mut project = self.describe();
        let records = Records::read(&self.store()).expect("readable");
        let requests = project.default_requests();
        project
            .check(&self.disk, records.as_ref(), &requests, Options::default())
            .expect("an answer")
            .is_fresh()
    }

    /// What a check says that keeps and uses what is kept; and whether it used it.
    fn ask(&self, question: &str) -> (bool, bool) {
        let settled = self.settled(question);
        let sources = settled.look(&self.disk);
        if settled.ask(&self.disk, &sources, 1).is_some() {
            return (true, true);
        }
        let mut project = self.describe();
        let records = Records::read(&self.store()).expect("readable");
        let requests = project.default_requests();
        let checked =
            project.check(&self.disk, records.as_ref(), &requests, Options::default()).expect("an answer");
        settled.keep(&sources, &checked);
        (checked.is_fresh(), false)
    }

    /// Builds all that is stale.
    fn build(&mut self) {
        let mut project = self.describe();
        let mut records = Records::open(&self.store()).expect("can be made");
        for name in ["mid", "out"] {
            let target = project.graph().producer(project.lookup(name.as_bytes()).expect("known"));
            let target = target.expect("made");
            let begun =
                project.begin(&self.disk, &mut records, &[target], Options::default()).expect("can be begun");
            self.disk.write(name, b"made");
            project.commit(&self.disk, &mut records, begun, Options::default()).expect("made");
            self.disk.write("records", b"changed");
        }
    }
}

fn built() -> World {
    let mut world = World::new();
    world.pass(10 * S);
    world.build();
    world.pass(10 * S);
    world
}

#[test]
fn a_second_check_reads_nothing() {
    let world = built();
    assert_eq!(world.ask("q"), (true, false));
    world.disk.take_log();
    assert_eq!(world.ask("q"), (true, true));
    let read = world.disk.take_log().into_iter().filter(|access| matches!(access, Access::Read(_))).count();
    assert_eq!(read, 0, "neither the description nor anything else");
}

#[test]
fn every_file_that_the_answer_rests_on_is_looked_at() {
    for file in ["a", "b", "c", "mid", "out"] {
        let mut world = built();
        world.ask("q");
        world.disk.write(file, b"2");
        assert_eq!(world.ask("q"), (false, false), "{file} was written");
        let mut world = built();
        world.ask("q");
        world.disk.remove(file);
        assert_eq!(world.ask("q"), (false, false), "{file} was removed");
    }
}

#[test]
fn a_changed_description_or_store_is_read() {
    let mut world = built();
    world.ask("q");
    world.disk.write("description", b"dog");
    assert_eq!(world.ask("q"), (false, false));
    let mut world = built();
    world.ask("q");
    std::fs::remove_dir_all(world.store()).expect("there");
    world.disk.remove("records");
    assert!(!world.ask("q").1);
}

#[test]
fn another_question_has_another_answer() {
    let world = built();
    world.ask("q");
    assert!(!world.ask("r").1);
    assert!(world.ask("q").1);
}

#[test]
fn what_is_too_young_is_not_kept() {
    let mut world = built();
    world.disk.write("a", b"1");
    assert_eq!(world.ask("q"), (true, false), "the content is the same");
    assert_eq!(world.ask("q"), (true, false), "it may be changed again within the tick");
    world.pass(10 * S);
    assert_eq!(world.ask("q"), (true, false));
    assert_eq!(world.ask("q"), (true, true));
}

#[test]
fn damage_is_as_good_as_nothing() {
    let world = built();
    world.ask("q");
    let kept = only_file(&world.place.path().join("cache"));
    let whole = std::fs::read(&kept).expect("there");
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        std::fs::write(&kept, &bytes).expect("can be written");
        assert!(world.ask("q").0, "byte {at}");
    }
    for length in (0..whole.len()).step_by(13) {
        std::fs::write(&kept, &whole[..length]).expect("can be written");
        assert!(world.ask("q").0, "cut at {length}");
    }
}

fn only_file(folder: &Path) -> std::path::PathBuf {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.to_string_lossy().ends_with("state-fresh"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

#[test]
fn random_edits_get_the_answer_of_a_check_that_keeps_nothing() {
    let cases = std::env::var("UPCHECK_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut state = 1u64;
    let mut roll = |sides: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % sides).expect("small")
    };
    let mut n_used = 0;
    for case in 0..cases {
        let mut world = built();
        for step in 0..12 {
            let file = ["a", "b", "c", "mid", "out", "description"][roll(6)];
            let content = [&b"1"[..], b"2", b"33", b"made"][roll(4)];
            match roll(8) {
                0 => world.disk.write(file, content),
                1 => world.disk.overwrite_keeping_mtime(file, content),
                2 => world.disk.touch(file, 5 * S),
                3 if file != "description" => world.disk.remove(file),
                4 => {
                    for file in ["a", "b", "c"] {
                        if world.disk.read(file.as_bytes()).is_err() {
                            world.disk.write(file, b"1");
                        }
                    }
                    world.build();
                }
                _ => {}
            }
            world.pass([1, 1_000_000, S / 10, 3 * S][roll(4)]);
            let (answer, used) = world.ask("q");
            assert_eq!(answer, world.truth(), "case {case}, step {step}, {file}, used what was kept: {used}");
            n_used += usize::from(used);
        }
    }
    assert!(n_used > cases / 4, "what was kept was used {n_used} times");
}

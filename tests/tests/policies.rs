//! Projects: targets that are judged by the records of their successes.

use upcheck::collect::MemoryDisk;
use upcheck::project::{Description, Options, Project};
use upcheck::records::Records;
use upcheck::{Policy, Reason, Verdict};

const S: i64 = 1_000_000_000;

/// `gen.in -> gen`, `in gen || tool -> out`, on a disk whose stamps are the time of day.
struct World {
    disk: MemoryDisk,
    place: tempfile::TempDir,
    now: i64,
    policy: Option<Policy>,
    command: &'static str,
    values: Vec<(&'static str, &'static str)>,
    globs: Vec<&'static str>,
    has_depfile: bool,
}

impl World {
    /// All files are there and old; nothing was built.
    fn new(policy: Option<Policy>) -> Self {
        let place = tempfile::tempdir().expect("a temporary folder");
        let mut world = Self {
            disk: MemoryDisk::with_real_ctimes(),
            place,
            now: 1000 * S,
            policy,
            command: "make",
            values: Vec::new(),
            globs: Vec::new(),
            has_depfile: false,
        };
        world.disk.set_clock(world.now);
        for file in ["in", "gen.in", "tool", "header"] {
            world.disk.write(file, b"1");
        }
        world.pass(10 * S);
        world
    }

    /// The same, built, and a while ago.
    fn built(policy: Policy) -> Self {
        let mut world = Self::new(Some(policy));
        world.build();
        world.pass(10 * S);
        world
    }

    fn pass(&mut self, ns: i64) {
        self.now += ns;
        self.disk.set_clock(self.now);
    }

    fn describe(&self) -> Project {
        let mut project = Project::new();
        let mut file = |name: &str| project.file(name.as_bytes()).expect("a name");
        let [input, gen_in, generated, tool, out] = ["in", "gen.in", "gen", "tool", "out"].map(&mut file);
        let values: Vec<(&[u8], &[u8])> =
            self.values.iter().map(|(name, value)| (name.as_bytes(), value.as_bytes())).collect();
        let first = Description { outputs: &[generated], explicit: &[gen_in], ..Description::default() };
        let second = Description {
            outputs: &[out],
            explicit: &[input, generated],
            order_only: &[tool],
            command: self.command.as_bytes(),
            values: &values,
            globs: &self.globs,
            depfile: if self.has_depfile { b"out.d" } else { b"" },
            ..Description::default()
        };
        for description in [first, second] {
            project.add(&description).expect("no other makes it");
        }
        project.set_policy(self.policy);
        project
    }

    fn build(&mut self) {
        for name in ["gen", "out"] {
            self.build_one(name, true);
        }
    }

    fn build_one(&mut self, name: &str, succeeds: bool) {
        let mut project = self.describe();
        let mut records = Records::open(&self.place.path().join("store")).expect("can be made");
        let target = project.graph().producer(project.lookup(name.as_bytes()).expect("known")).expect("made");
        let options = Options::default();
        let begun = project.begin(&self.disk, &mut records, &[target], options).expect("begun");
        self.pass(S);
        if succeeds {
            self.disk.write(name, b"made");
            if self.has_depfile {
                self.disk.write("out.d", b"out: in header\n");
            }
            self.pass(S);
            project.commit(&self.disk, &mut records, begun, options).expect("committed");
        }
    }

    /// `fresh`, or the verdict on `out` with the codes of its reasons and the files they are about.
    fn answer(&self) -> String {
        let mut project = self.describe();
        let records = Records::read(&self.place.path().join("store")).expect("readable");
        let requests = [project.lookup(b"out").expect("known")];
        let checked =
            project.check(&self.disk, records.as_ref(), &requests, Options::default()).expect("an answer");
        let graph = project.graph();
        let Some(stale) = checked.report.stale.iter().find(|stale| graph.name(stale.target) == b"out") else {
            return "fresh".into();
        };
        let verdict = if stale.verdict == Verdict::Pending { "pending" } else { "stale" };
        let path = |reason: &Reason| String::from_utf8_lossy(graph.files.path(reason.path())).into_owned();
        let reasons: Vec<_> =
            stale.reasons.iter().map(|reason| format!("{} {}", reason.code(), path(reason))).collect();
        format!("{verdict}: {}", reasons.join(", "))
    }
}

/// The answers after an edit, in the order of these policies.
const POLICIES: [Policy; 5] = [
    Policy::Mtime,
    Policy::Digest,
    Policy::MtimeAndDigest,
    Policy::MtimeAndDigestInput,
    Policy::MtimeOrDigest,
];

#[track_caller]
fn answers(edit: impl Fn(&mut World), expected: [&str; 5]) {
    for (policy, expected) in POLICIES.into_iter().zip(expected) {
        let mut world = World::built(policy);
        assert_eq!(world.answer(), "fresh", "{}, before the edit", policy.name());
        edit(&mut world);
        world.pass(10 * S);
        assert_eq!(world.answer(), expected, "{}", policy.name());
    }
}

const IN_CHANGED: &str = "stale: input-changed in";
const OUT_CHANGED: &str = "stale: output-changed out";

#[test]
fn an_input_with_other_content_makes_its_users_stale() {
    answers(|world| world.disk.write("in", b"2"), [IN_CHANGED; 5]);
}

#[test]
fn a_touched_input_makes_its_users_stale_where_times_alone_count() {
    let touched = |world: &mut World| world.disk.touch("in", world.now);
    answers(touched, [IN_CHANGED, "fresh", "fresh", "fresh", IN_CHANGED]);
}

#[test]
fn an_input_that_is_replaced_by_an_older_file_has_changed() {
    let replaced = |world: &mut World| {
        world.disk.write("in", b"old");
        world.disk.touch("in", 5 * S);
    };
    answers(replaced, [IN_CHANGED; 5]);
}

#[test]
fn content_that_changes_under_the_same_time_and_size_is_seen_where_content_counts() {
    let changed = |world: &mut World| world.disk.overwrite_keeping_mtime("in", b"2");
    answers(changed, ["fresh", IN_CHANGED, IN_CHANGED, IN_CHANGED, IN_CHANGED]);
}

#[test]
fn an_output_with_other_content_makes_its_target_stale() {
    answers(|world| world.disk.write("out", b"edit"), [OUT_CHANGED; 5]);
}

#[test]
fn a_touched_output_makes_its_target_stale_unless_its_content_counts() {
    let touched = |world: &mut World| world.disk.touch("out", world.now);
    answers(touched, [OUT_CHANGED, "fresh", "fresh", OUT_CHANGED, OUT_CHANGED]);
}

#[test]
fn a_missing_output_makes_its_target_stale() {
    answers(|world| world.disk.remove("out"), ["stale: output-missing out"; 5]);
}

#[test]
fn a_missing_input_makes_its_users_stale() {
    answers(|world| world.disk.remove("in"), ["stale: input-missing in"; 5]);
}

#[test]
fn an_order_only_input_does_not_count() {
    answers(|world| world.disk.write("tool", b"2"), ["fresh"; 5]);
    answers(|world| world.disk.remove("tool"), ["fresh"; 5]);
}

#[test]
fn what_comes_after_a_stale_target_is_pending_where_content_decides() {
    let stale = "stale: upstream-stale gen";
    let pending = "pending: upstream-stale gen";
    answers(|world| world.disk.write("gen.in", b"2"), [stale, pending, pending, pending, stale]);
}

#[test]
fn an_input_that_is_made_again_as_it_was_leaves_its_users_fresh() {
    let made_again = |world: &mut World| {
        world.disk.write("gen.in", b"2");
        world.pass(S);
        world.build_one("gen", true);
    };
    let changed = "stale: input-changed gen";
    answers(made_again, [changed, "fresh", "fresh", "fresh", changed]);
}

#[test]
fn another_command_makes_its_target_stale_and_none_says_nothing() {
    answers(|world| world.command = "make it", ["stale: command-changed out"; 5]);
    answers(|world| world.command = "", ["fresh"; 5]);
}

#[test]
fn another_value_makes_its_target_stale() {
    answers(|world| world.values = vec![("CC", "gcc 13")], ["stale: value-changed out"; 5]);
    let mut world = World::new(None);
    world.values = vec![("CC", "gcc 13"), ("OPT", "")];
    world.build();
    world.pass(10 * S);
    assert_eq!(world.answer(), "fresh");
    world.values = vec![("OPT", "")];
    assert_eq!(world.answer(), "stale: value-changed out", "it is gone");
    world.values = vec![("CC", "gcc 14")];
    assert_eq!(world.answer(), "stale: value-changed out, value-changed out", "both");
}

#[test]
fn a_file_that_appears_or_disappears_under_a_pattern_is_a_difference() {
    let mut world = World::new(None);
    world.globs = vec!["src/*.c"];
    world.disk.write("src/a.c", b"1");
    world.pass(10 * S);
    world.build();
    world.pass(10 * S);
    assert_eq!(world.answer(), "fresh");
    world.disk.write("src/b.c", b"1");
    assert_eq!(world.answer(), "stale: inputs-differ out");
    world.disk.remove("src/b.c");
    assert_eq!(world.answer(), "fresh");
    world.disk.remove("src/a.c");
    assert_eq!(world.answer(), "stale: inputs-differ out");
}

#[test]
fn a_build_that_did_not_succeed_is_interrupted() {
    let mut world = World::built(Policy::default());
    world.build_one("out", false);
    assert_eq!(world.answer(), "stale: interrupted out");
    world.build_one("out", true);
    assert_eq!(world.answer(), "fresh");
}

#[test]
fn discovered_inputs_are_compared_like_others() {
    let mut world = World::new(None);
    world.has_depfile = true;
    world.build();
    world.pass(10 * S);
    assert_eq!(world.answer(), "fresh");
    world.disk.write("header", b"2");
    assert_eq!(world.answer(), "stale: input-changed header");
    world.disk.remove("header");
    assert_eq!(world.answer(), "stale: input-missing header");
}

#[test]
fn without_a_record_beside_others_a_target_was_never_built() {
    let mut world = World::new(None);
    world.build_one("gen", true);
    world.disk.write("out", b"made by somebody else");
    assert_eq!(world.answer(), "stale: never-built out");
}

#[test]
fn without_any_record_times_decide() {
    let mut world = World::new(None);
    world.disk.write("gen", b"made");
    assert_eq!(world.answer(), "stale: output-missing out");
    world.disk.write("out", b"made");
    assert_eq!(world.answer(), "fresh");
    world.pass(S);
    world.disk.write("in", b"1");
    assert_eq!(world.answer(), "stale: input-newer in");
}

#[test]
fn a_policy_of_times_takes_no_notice_of_records() {
    let mut world = World::built(Policy::default());
    world.policy = Some(Policy::Newer);
    world.command = "make it";
    assert_eq!(world.answer(), "fresh");
    world.disk.touch("in", world.now);
    assert_eq!(world.answer(), "stale: input-newer in");
}

#[test]
fn a_stamp_that_proves_nothing_is_verified_by_content() {
    for policy in POLICIES {
        let mut world = World::new(Some(policy));
        world.disk.set_granularity(2 * S);
        // In the very tick in which the builds begin.
        world.disk.write("in", b"1");
        world.build();
        assert_eq!(world.answer(), "fresh", "{}", policy.name());
        world.disk.write("in", b"2");
        world.pass(10 * S);
        assert_eq!(world.answer(), IN_CHANGED, "{}", policy.name());
    }
}

#[test]
fn a_file_is_affected_by_whatever_name_a_depfile_gives_it() {
    let mut disk = MemoryDisk::with_real_ctimes();
    disk.write("in", b"1");
    disk.write("out.d", b"out: in /src/header\n");
    let mut project = Project::new();
    project.set_base(b"/build");
    let (input, output) = (project.file(b"in").expect("a name"), project.file(b"out").expect("a name"));
    let description =
        Description { outputs: &[output], explicit: &[input], depfile: b"out.d", ..Description::default() };
    project.add(&description).expect("no other makes it");
    let header: &[&[u8]] = &[b"../src/header", b"/src/header"];
    let other: &[&[u8]] = &[b"../src/other", b"/src/other"];
    let (found, unknown) =
        project.affected(&disk, None, &[header, other], Options::default()).expect("an answer");
    assert_eq!((found.len(), unknown), (1, vec![1]));
}

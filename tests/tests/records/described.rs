//! A description that changes between the beginning of a build and its end.

use crate::describe::{Desc, Process, lines};
use crate::{Bench, with_input};
use upcheck::Policy;

#[test]
fn what_is_recorded_is_the_command_that_began_and_not_the_one_that_is_described_at_the_end() {
    let with = |command: &str, value: &str| {
        let values = vec![("CC".to_owned(), value.to_owned())];
        Desc { command: command.to_owned(), values, ..Desc::new("out", &["in"]) }
    };
    for (command, value, reason) in
        [("new", "gcc", "command-changed"), ("old", "clang", "value-changed"), ("old", "gcc", "")]
    {
        let mut bench = Bench::new(&[with("old", "gcc")]);
        bench.disk.write("in", b"one");
        bench.disk.tick();
        bench.process().begin_for_another(&bench.disk, &bench.store(), &["out"]);
        bench.disk.write("out", b"made by the old command");
        bench.disk.tick();
        bench.targets = vec![with(command, value)];
        assert!(bench.process().take_up(&bench.store(), &["out"]).commit(&bench.disk));
        let expected: Vec<String> =
            [reason].iter().filter(|reason| !reason.is_empty()).map(|r| format!("out: {r} out")).collect();
        assert_eq!(bench.stale(), expected, "{command} {value}");
    }
}

#[test]
fn values_that_are_set_during_a_build_did_not_make_its_outputs() {
    let mut bench = with_input(Policy::default());
    let targets = bench.targets.clone();
    let process = Process::with_values(&targets, &[("CC", "gcc")]);
    let mut running = process.begin(&bench.disk, &bench.store(), &["out"]);
    bench.disk.write("out", b"made by gcc");
    bench.disk.tick();
    running.process.project.set_values([(b"CC".to_vec(), b"clang".to_vec())].into());
    assert!(running.commit(&bench.disk));
    let answer = Process::with_values(&targets, &[("CC", "clang")]).check(&bench.disk, &bench.store());
    assert_eq!(lines(&answer), ["out: value-changed out"]);
}

//! The build log.

use crate::{after_build, manifest};

#[test]
fn without_a_build_log_everything_but_generators_runs() {
    let text = manifest("build out: cat in\nbuild g: gen in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove(".ninja_log"));
}

#[test]
fn a_log_of_another_version_is_thrown_away() {
    let text = manifest("build out: cat in\nbuild g: gen in\n");
    for version in ["0", "3", "4", "5", "6", "7", "8", "99", "x", "-7"] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            let log = String::from_utf8(space.read(".ninja_log")).expect("text");
            let (_, entries) = log.split_once('\n').expect("a header");
            space.write(".ninja_log", format!("# ninja log v{version}\n{entries}"));
        });
    }
}

#[test]
fn odd_lines_in_the_log_are_read_as_ninja_reads_them() {
    let text = manifest("build out: cat in\nbuild out2: cat in\n");
    for line in [
        "1\t2\t3\tout\n",
        "1\t2\t3\tout\tzz\n",
        "1\t2\t3\tout\t0\textra\n",
        "\n",
        "1\t2\t99999999999999999999\tout\t1\n",
        "x\ty\tz\tout\t1\n",
        "1\t2\t3\tnobody\t1\n",
        "1\t2\t3\tout\t0x12\n",
        "1\t2\t3\tout\t-1\n",
        "1 2 3 out 1\n",
    ] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            let log = String::from_utf8(space.read(".ninja_log")).expect("text");
            space.write(".ninja_log", format!("{log}{line}"));
        });
    }
    // A sixth column, and a time with something behind it, on the entry that counts.
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        let log = String::from_utf8(space.read(".ninja_log")).expect("text");
        let extended: String = log.lines().map(|line| format!("{line}\tsixth\n")).collect();
        space.write(".ninja_log", extended);
    });
}

#[test]
fn builddir_is_where_the_logs_are_and_its_last_value_counts() {
    let text = manifest("builddir = wrong\nbuild out: cat in\nbuilddir = logs\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        assert!(space.mtime("logs/.ninja_log").is_some())
    });
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove("logs/.ninja_log"));
}

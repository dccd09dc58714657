//! Commands, and those that may leave their outputs as they are.

use crate::{OLD, after_build, manifest, space, versions};
use upcheck_tests::answer::{Question, build, compare};
use upcheck_tests::space::TICK;

#[test]
fn a_changed_command_runs_its_target() {
    let text = manifest("build out: cat in\nbuild out2: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        let changed =
            text.replace("command = cat $in > $out\nrule touch", "command = cat  $in > $out\nrule touch");
        space.write_at("build.ninja", changed, OLD);
    });
}

#[test]
fn a_changed_command_does_not_run_a_generator() {
    let text = manifest("build out: gen in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        space.write_at("build.ninja", text.replace("cat $in", "cat  $in"), OLD);
    });
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove(".ninja_log"));
}

#[test]
fn a_rule_that_stops_being_a_generator_has_its_command_compared() {
    let text = manifest("build out: gen in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        space.write_at("build.ninja", text.replace("  generator = 1\n", ""), OLD);
    });
}

#[test]
fn the_response_files_content_is_part_of_the_command() {
    let text = "rule link\n  command = cat $rspfile > $out\n  rspfile = $out.rsp\n  rspfile_content = $in $flags\n\
                build out: link in\n  flags = -a\n";
    after_build(&[("build.ninja", text), ("in", "")], |_| ());
    after_build(&[("build.ninja", text), ("in", "")], |space| {
        space.write_at("build.ninja", text.replace("-a", "-b"), OLD);
    });
    // Which name the file has is not.
    after_build(&[("build.ninja", text), ("in", "")], |space| {
        space.write_at("build.ninja", text.replace("$out.rsp", "$out.response"), OLD);
    });
}

#[test]
fn a_description_and_a_pool_are_not_part_of_the_command() {
    let text = "pool p\n  depth = 1\nrule r\n  command = touch $out\nbuild out: r in\n";
    after_build(&[("build.ninja", text), ("in", "")], |space| {
        let changed = text.replace("touch $out\n", "touch $out\n  description = new\n  pool = p\n");
        space.write_at("build.ninja", changed, OLD);
    });
}

#[test]
fn booleans_are_strings_that_are_not_empty() {
    let text = "rule r\n  command = touch $out; true $in\n  generator = 0\n  restat =\nbuild out: r in\n";
    after_build(&[("build.ninja", text), ("in", "")], |space| {
        space.write_at("build.ninja", text.replace("true", "false ||:"), OLD);
    });
}

#[test]
fn restat_compares_the_record_and_not_the_file() {
    let text = manifest("build mid: keep in\nbuild out: cat mid\n");
    let files = [("build.ninja", text.as_str()), ("in", "")];
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        // Built again, the output stays older than its input, and that is fine.
        space.set_mtime("in", space.mtime("mid").expect("built") + TICK);
        compare(&space, version, &Question::default());
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("mid", OLD);
        compare(&space, version, &Question::default());
        space.remove(".ninja_log");
        compare(&space, version, &Question::default());
    }
}

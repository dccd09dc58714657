//! Depfiles and the deps log.

use crate::{
    DEPS, OLD, after_build, manifest, same_error, same_errors, space, unbuilt, versions, with_header,
};
use upcheck_tests::answer::{Question, build, compare};
use upcheck_tests::space::TICK;

/// How many of the lengths of a log are tried: under Wine it takes ten times as long to start a program.
const STEP: usize = if cfg!(windows) { 13 } else { 1 };

const DEPFILE: &str =
    "rule cc\n  command = cp in.d $out.d; cat $in > $out\n  depfile = $out.d\nbuild out: cc in\n";

#[test]
fn a_discovered_header_counts() {
    for text in [DEPFILE, DEPS] {
        after_build(&with_header(text), |_| ());
        after_build(&with_header(text), |space| {
            space.set_mtime("h.h", space.mtime("out").expect("built") + TICK);
        });
        after_build(&with_header(text), |space| space.remove("h.h"));
        after_build(&with_header(text), |space| space.remove("out"));
    }
}

#[test]
fn a_missing_or_empty_depfile_runs_its_target() {
    after_build(&with_header(DEPFILE), |space| space.remove("out.d"));
    after_build(&with_header(DEPFILE), |space| space.write("out.d", ""));
    // With deps = gcc nobody looks for it.
    after_build(&with_header(DEPS), |space| assert_eq!(space.mtime("out.d"), None));
}

#[test]
fn a_depfile_about_something_else_runs_its_target() {
    after_build(&with_header(DEPFILE), |space| space.write("out.d", "other: in h.h\n"));
    after_build(&with_header(DEPFILE), |space| space.write("out.d", "./out: in h.h\n"));
    after_build(&with_header(DEPFILE), |space| space.write("out.d", "x/../out: in ./h.h\n"));
}

#[test]
fn a_broken_depfile_is_an_error() {
    for content in [
        "no colon",
        "out: in\nin: new\n",
        "out other: in\n",
        ": in\n",
        " \n",
        "\n",
        "\\\n",
        "out\\: in\n",
        "out: in \0 h.h\n",
        "out: a'b\n",
    ] {
        for &version in versions() {
            let space = space(&with_header(DEPFILE));
            build(&space, version, &Question::default());
            space.write("out.d", content);
            compare(&space, version, &Question::default());
        }
    }
}

#[test]
fn a_directory_in_place_of_a_depfile_is_an_error() {
    for &version in versions() {
        let space = space(&with_header(DEPFILE));
        build(&space, version, &Question::default());
        space.remove("out.d");
        std::fs::create_dir(space.path().join("out.d")).expect("a directory");
        compare(&space, version, &Question::default());
        // On Windows it counts as missing, which is no error.
        if cfg!(unix) {
            same_error(&space, version, &Question::default());
        }
    }
}

#[test]
fn touching_an_output_with_recorded_deps_makes_it_stale() {
    after_build(&with_header(DEPS), |space| {
        space.set_mtime("out", space.mtime("out").expect("built") + TICK);
    });
    let two = DEPS
        .replace("build out:", "build out out2:")
        .replace("> $out", "> out; touch out2")
        .replace("$out.d", "out.d");
    after_build(&with_header(&two), |space| {
        space.set_mtime("out2", space.mtime("out2").expect("built") + TICK);
    });
}

#[test]
fn depfiles_of_all_shapes_are_read_as_ninja_reads_them() {
    let text = "rule cc\n  command = cp in.d out.d; touch $out\n  depfile = out.d\nbuild out out2: cc in\n";
    for content in [
        "out: in\nout: h.h\n",
        "out out2: in h.h\n",
        "out ./out2: in\n",
        "out2: in\n",
        "out: h.h\\\n in\n",
        "out: h.h \\\n\n in\n",
        "out : h.h in\n",
        "out: h.h: in\n",
        "out: $$x h.h\n",
        "out: a\\#b h.h\n",
        "out: a\\ b h.h\n",
        "out: a\\\\ b\n",
        "out: c\\:x h.h\n",
        "out:\\\n",
        "out:h.h\n",
        "out:\n",
        "out: h.h",
        "out: h.h \r\n in\r\n",
        "out: a*b h.h\n",
        "out: h.h\nh.h:\n",
        "out: h.h in\nh.h: in\n",
        "out\\\n: h.h\n",
        "\t out:\th.h\n",
    ] {
        after_build(&[("build.ninja", text), ("in", ""), ("h.h", ""), ("in.d", "out: in h.h\n")], |space| {
            space.write("out.d", content);
        });
    }
}

#[test]
fn a_line_in_the_log_that_is_too_long_for_ninja_is_lost() {
    let text = manifest("build out: cat in\nbuild out2: cat in\n");
    for length in [100, 262_100, 262_144, 262_200, 600_000] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            let log = String::from_utf8(space.read(".ninja_log")).expect("text");
            let (header, entries) = log.split_once('\n').expect("a header");
            let long = "x".repeat(length);
            space.write(".ninja_log", format!("{header}\n1\t2\t3\t{long}\tff\n{entries}"));
        });
    }
}

#[test]
fn a_missing_deps_log_runs_its_targets() {
    after_build(&with_header(DEPS), |space| space.remove(".ninja_deps"));
    after_build(&with_header(DEPS), |space| space.write(".ninja_deps", ""));
    after_build(&with_header(DEPS), |space| space.write(".ninja_deps", "# ninjadeps\n\x03\0\0\0"));
    after_build(&with_header(DEPS), |space| space.write(".ninja_deps", "garbage"));
}

#[test]
fn a_deps_log_cut_off_anywhere_is_believed_up_to_there() {
    let text = "rule cc\n  command = cp in.d out.d; cat in > $out\n  depfile = out.d\n  deps = gcc\n\
                build out: cc\nbuild out2: cc\nbuild out3: cc\n";
    for &version in versions() {
        let space = space(&with_header(text));
        build(&space, version, &Question::default());
        let whole = space.read(".ninja_deps");
        for length in (0..whole.len()).step_by(STEP) {
            space.write(".ninja_deps", &whole[..length]);
            compare(&space, version, &Question::default());
        }
    }
}

#[test]
fn a_build_log_cut_off_anywhere_is_believed_up_to_there() {
    let text = manifest("build out: cat in\nbuild out2: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        build(&space, version, &Question::default());
        let whole = space.read(".ninja_log");
        for length in (0..whole.len()).step_by(STEP) {
            space.write(".ninja_log", &whole[..length]);
            compare(&space, version, &Question::default());
        }
    }
}

#[test]
fn a_generated_header_known_only_from_a_depfile_is_made_first() {
    let text = "rule cc\n  command = echo 'out: h.h' > $out.d; cat $in > $out\n  depfile = $out.d\n\
                rule touch\n  command = touch $out\nbuild h.h: touch h.in\nbuild out: cc in || h.h\ndefault out\n";
    for deps in ["", "  deps = gcc\n"] {
        let text = text.replace("  depfile = $out.d\n", &format!("  depfile = $out.d\n{deps}"));
        let later = text.replace(" || h.h", "");
        let files = [("build.ninja", text.as_str()), ("in", ""), ("h.in", "")];
        after_build(&files, |space| {
            space.write_at("build.ninja", &later, OLD);
            space.set_mtime("h.in", space.mtime("out").expect("built") + 1_000_000_000);
        });
        // Nobody believes the deps of an output that is newer than they are.
        after_build(&files, |space| {
            space.write_at("build.ninja", &later, OLD);
            space.remove("h.h");
            space.set_mtime("out", space.mtime("out").expect("built") + 1_000_000_000);
        });
    }
}

#[test]
fn a_missing_source_that_was_also_discovered_is_an_error_since_1_12() {
    for text in [DEPFILE, DEPS] {
        let files = with_header(text);
        after_build(&files, |space| space.remove("in"));
        // Named by one target and discovered by another, in both orders.
        let text = text.replace("build out: cc in", "build out: cc\nbuild x: cc in\nbuild out2: phony h.h");
        let text = text.replace("cat $in > $out", "touch $out").replace("$out.d", "out.d");
        after_build(&[("build.ninja", &text), ("in", ""), ("h.h", ""), ("in.d", "out: h.h\n")], |space| {
            space.remove("h.h");
        });
    }
}

#[test]
fn deps_without_a_depfile_fail_even_in_a_dry_run() {
    let text = "rule cc\n  command = touch $out\n  deps = gcc\nbuild out: cc in\n";
    unbuilt(&[("build.ninja", text), ("in", "")]);
}

#[test]
fn an_unknown_kind_of_deps_is_an_error() {
    let text = "rule cc\n  command = touch $out\n  deps = other\nbuild out: cc in\n";
    same_errors(&[("build.ninja", text), ("in", "")]);
}

#[test]
fn deps_of_msvc_are_read_from_the_log_like_those_of_gcc() {
    let text = "rule cl\n  command = echo 'Note: including file: h.h'; touch $out\n  deps = msvc\nbuild out: cl in\n";
    for edit in [None, Some("h.h")] {
        after_build(&[("build.ninja", text), ("in", ""), ("h.h", "")], |space| {
            if let Some(path) = edit {
                space.set_mtime(path, space.mtime("out").expect("built") + TICK);
            }
        });
    }
}

#[test]
fn a_leftover_depfile_that_cannot_be_parsed_fails_the_dry_run() {
    for content in ["no colon", "out: in\n", ""] {
        for &version in versions() {
            let space = space(&with_header(DEPS));
            space.write("out.d", content);
            compare(&space, version, &Question::default());
        }
    }
}

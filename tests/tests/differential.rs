//! Each behaviour of ninja that decides what it runs, as a small case of its own, put to the real ninja 1.11
//! and 1.13 and to upcheck. The two must name the same commands, or both have an error and mean the same.

use upcheck_tests::answer::{Answer, Question, build, compare, exact, look_past, ninja, says_the_same};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Long before anything a build writes.
const OLD: i64 = 1_600_000_000_000_000_000;

/// A space with these files, all old, and `build.ninja` among them.
fn space(files: &[(&str, &str)]) -> Space {
    let space = Space::new();
    for (path, content) in files {
        space.write_at(path, content, OLD);
    }
    space
}

/// The versions that are compared: those of every run, or all with `UPCHECK_ALL_NINJAS=1`.
fn versions() -> &'static [Ninja] {
    if std::env::var_os("UPCHECK_ALL_NINJAS").is_some() { &Ninja::ALL } else { &Ninja::USUAL }
}

/// Builds the files with each ninja, applies the edit, and compares.
fn after_build(files: &[(&str, &str)], edit: impl Fn(&Space)) {
    for &version in versions() {
        let space = space(files);
        build(&space, version, &Question::default());
        edit(&space);
        compare(&space, version, &Question::default());
    }
}

/// Compares without a build.
fn unbuilt(files: &[(&str, &str)]) {
    for &version in versions() {
        compare(&space(files), version, &Question::default());
    }
}

/// Both must have an error, and upcheck's must contain what ninja says.
fn same_error(space: &Space, version: Ninja, question: &Question) {
    compare(space, version, question);
    let (theirs, ours) = (ninja(space, version, question), exact(space, version, question));
    let (Answer::Error(theirs), Answer::Error(ours)) = (&theirs, &ours) else {
        panic!("no error: ninja {theirs:?}, upcheck {ours:?}");
    };
    assert!(says_the_same(ours, theirs), "ninja {}: {theirs:?}\nupcheck: {ours:?}", version.number());
}

fn same_errors(files: &[(&str, &str)]) {
    for &version in versions() {
        same_error(&space(files), version, &Question::default());
    }
}

fn run(commands: &[&str]) -> Answer {
    Answer::Run(commands.iter().map(ToString::to_string).collect())
}

const RULES: &str = "\
rule cat
  command = cat $in > $out
rule touch
  command = touch $out
rule keep
  command = test -e $out || touch $out
  restat = 1
rule gen
  command = cat $in > $out
  generator = 1
";

fn manifest(text: &str) -> String {
    format!("{RULES}{text}")
}

// ---- times ------------------------------------------------------------------------------------------

#[test]
fn a_finished_build_has_no_work_to_do() {
    after_build(&[("build.ninja", &manifest("build out: cat in\n")), ("in", "")], |_| ());
}

#[test]
fn a_newer_input_runs_its_target_and_what_comes_after() {
    let text = manifest("build mid: cat in\nbuild out: cat mid\nbuild other: cat in2\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in", space.mtime("mid").expect("built") + 1);
    });
}

#[test]
fn equal_times_are_fresh() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        // Also equal to what the log says, which since 1.12 is the time the command started.
        let log = String::from_utf8(space.read(".ninja_log")).expect("text");
        let recorded = log.lines().nth(1).and_then(|line| line.split('\t').nth(2)).expect("an entry");
        let recorded: i64 = recorded.parse().expect("a time");
        space.set_mtime("in", recorded);
        space.set_mtime("out", recorded);
    });
}

#[test]
fn an_input_newer_than_the_record_but_not_than_the_output_runs() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| {
        let out = space.mtime("out").expect("built");
        space.set_mtime("out", out + 5_000_000_000);
        space.set_mtime("in", out + 1_000_000_000);
    });
}

#[test]
fn an_output_changed_from_outside_is_fresh() {
    let text = manifest("build out: cat in\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write("out", "changed"));
}

#[test]
fn times_that_go_back_are_not_noticed_on_inputs_and_are_on_outputs() {
    let text = manifest("build out: cat in\nbuild out2: cat in2\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in", OLD - 1_000_000_000);
        space.set_mtime("out2", OLD - 1_000_000_000);
    });
}

#[test]
fn the_first_second_of_1970_is_one_nanosecond_long() {
    let text = manifest("build out: cat in\n");
    for (input, output) in
        [(0, 0), (999_999_999, 1), (1, 999_999_999), (1_000_000_000, 5), (5, 1_000_000_000)]
    {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", input);
            space.set_mtime("out", output);
        });
    }
}

#[test]
fn times_before_1970_are_times() {
    let text = manifest("build out: cat in\n");
    for (input, output) in
        [(-5_000_000_000, -4_000_000_000), (-4_000_000_000, -5_000_000_000), (-2, 0), (0, -2)]
    {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", input);
            space.set_mtime("out", output);
        });
    }
}

#[test]
fn one_nanosecond_before_1970_silences_ninja() {
    let text = manifest("build out: cat in\nbuild out2: cat in2\n");
    let question = Question::about(&["out", "out2"]);
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        space.set_mtime("in", -1);
        compare(&space, version, &question);
        assert_eq!(exact(&space, version, &question), run(&["cat in2 > out2"]));
        // Whoever asks for the useful answer gets it.
        assert_eq!(look_past(&space, version, &question), run(&["cat in > out", "cat in2 > out2"]));
    }
}

#[test]
fn a_directory_counts_with_its_own_time() {
    let text = manifest("build out: touch dir\n");
    after_build(&[("build.ninja", &text), ("dir/file", "")], |space| {
        space.write("dir/another", "");
        let newer = space.mtime("out").expect("built") + 1_000_000_000;
        upcheck_tests::space::set_mtime(&space.path().join("dir"), newer);
    });
}

#[test]
fn links_are_followed_and_dangling_ones_are_missing() {
    let text = manifest("build out: cat link\nbuild out2: touch gone\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        std::os::unix::fs::symlink("in", space.path().join("link")).expect("a link");
        std::os::unix::fs::symlink("in2", space.path().join("gone")).expect("a link");
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("in", space.mtime("out").expect("built") + 1);
        compare(&space, version, &Question::default());
        space.remove("in2");
        same_error(&space, version, &Question::default());
    }
}

// ---- outputs and inputs -----------------------------------------------------------------------------

#[test]
fn a_missing_output_runs_its_target() {
    let text = manifest("build out1 out2: touch in\nbuild after: cat out1\n");
    for gone in ["out1", "out2", "after"] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove(gone));
    }
}

#[test]
fn a_missing_source_is_an_error() {
    let text = manifest("build out: cat in | in2 || in3\n");
    for gone in ["in", "in2"] {
        for &version in versions() {
            let space = space(&[("build.ninja", &text), ("in", ""), ("in2", ""), ("in3", "")]);
            build(&space, version, &Question::default());
            space.remove(gone);
            same_error(&space, version, &Question::default());
        }
    }
}

#[test]
fn a_missing_order_only_source_matters_only_to_a_stale_target() {
    let text = manifest("build out: cat in || in3\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in3", "")];
    after_build(&files, |space| space.remove("in3"));
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.remove("in3");
        space.remove("out");
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn a_missing_source_hides_nobody_elses_answer() {
    let text =
        manifest("build out: cat in\nbuild after: cat out\nbuild other: cat in2\nbuild third: cat in2\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        build(&space, version, &Question::default());
        space.remove("in");
        space.remove("third");
        same_error(&space, version, &Question::default());
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["cat in > out", "cat out > after", "cat in2 > third"]));
    }
}

#[test]
fn order_only_inputs_come_first_but_do_not_make_stale() {
    let text = manifest("build dep: cat in2\nbuild out: cat in || dep\n");
    after_build(&[("build.ninja", &text), ("in", ""), ("in2", "")], |space| {
        space.set_mtime("in2", space.mtime("out").expect("built") + 1_000_000_000);
    });
    unbuilt(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
}

#[test]
fn implicit_outputs_and_inputs_count() {
    let text = manifest("build out | side: touch in | hidden\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("hidden", "")];
    for &version in versions() {
        let space = space(&files);
        space.write("side", "");
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.remove("side");
        compare(&space, version, &Question::default());
    }
    after_build(&files, |space| space.set_mtime("hidden", space.mtime("out").expect("built") + 1));
}

#[test]
fn validations_are_brought_along_even_by_a_fresh_target() {
    let text = manifest(
        "build out: cat in |@ check\nbuild check: cat in2 |@ check2\nbuild check2: cat out in3\ndefault out\n",
    );
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in2", ""), ("in3", "")];
    unbuilt(&files);
    for touched in ["in", "in2", "in3"] {
        after_build(&files, |space| space.set_mtime(touched, space.mtime("check2").expect("built") + 1));
    }
}

#[test]
fn a_missing_validation_is_an_error_only_when_it_is_looked_for() {
    let text = manifest("build out: cat in |@ nothing\n");
    unbuilt(&[("build.ninja", &text), ("in", "")]);
    unbuilt(&[("build.ninja", &text), ("in", ""), ("nothing", "")]);
}

#[test]
fn what_is_only_a_validation_is_built_by_default() {
    // Being named as a validation is no use: both are roots.
    let text = manifest("build out: cat in |@ check\nbuild check: cat in2\n");
    let files = [("build.ninja", text.as_str()), ("in", ""), ("in2", "")];
    unbuilt(&files);
    after_build(&files, |space| space.remove("check"));
}

#[test]
fn validations_may_depend_on_the_target_itself() {
    let text = manifest("build out: cat in |@ check\nbuild check: cat out\n");
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove("check"));
}

// ---- commands ---------------------------------------------------------------------------------------

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

// ---- phony ------------------------------------------------------------------------------------------

#[test]
fn a_phony_target_without_inputs_and_file_is_always_stale() {
    let text = manifest("build always: phony\nbuild out: cat in | always\nbuild after: cat out\n");
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write_at("always", "", OLD));
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.write("always", ""));
}

#[test]
fn a_phony_target_without_inputs_as_an_order_only_input_changes_nothing() {
    let text = manifest("build always: phony\nbuild out: cat in || always\n");
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
}

#[test]
fn newer_inputs_show_through_a_phony_name() {
    let text = manifest(
        "build group: phony a b\nbuild outer: phony group\nbuild out: touch | outer\nbuild o2: touch || outer\n",
    );
    for touched in ["a", "b"] {
        after_build(&[("build.ninja", &text), ("a", ""), ("b", "")], |space| {
            space.set_mtime(touched, space.mtime("out").expect("built") + 1_000_000_000);
        });
    }
}

#[test]
fn newer_inputs_do_not_show_through_a_phony_name_that_is_a_file() {
    let text = manifest("build group: phony a\nbuild out: touch | group\n");
    after_build(&[("build.ninja", &text), ("a", ""), ("group", "")], |space| {
        space.set_mtime("a", space.mtime("out").expect("built") + 1_000_000_000);
    });
    after_build(&[("build.ninja", &text), ("a", ""), ("group", "")], |space| {
        space.set_mtime("group", space.mtime("out").expect("built") + 1_000_000_000);
    });
}

#[test]
fn phony_names_of_fresh_things_are_no_work() {
    let text = manifest(
        "build all: phony out sub/all\nbuild sub/all: phony out2\nbuild out: cat in\nbuild out2: cat in\ndefault all\n",
    );
    after_build(&[("build.ninja", &text), ("in", "")], |_| ());
    after_build(&[("build.ninja", &text), ("in", "")], |space| space.remove("out2"));
}

#[test]
fn a_phony_target_with_a_missing_source_is_an_error() {
    let text = manifest("build all: phony gone\n");
    same_errors(&[("build.ninja", &text)]);
}

#[test]
fn a_phony_target_that_names_itself_is_cleaned_of_it() {
    for statement in [
        "build a: phony a b",
        "build a: phony b a",
        "build a: phony a",
        "build a: phony b || a",
        "build a: phony || a b",
        "build a: phony b c || a",
        "build a: phony b || a a",
    ] {
        let text = manifest(&format!("{statement}\nbuild out: touch | a\nbuild c: touch\n"));
        unbuilt(&[("build.ninja", &text), ("b", "")]);
        after_build(&[("build.ninja", &text), ("b", "")], |_| ());
        after_build(&[("build.ninja", &text), ("b", "")], |space| {
            space.set_mtime("b", space.mtime("out").expect("built") + 1_000_000_000);
        });
        after_build(&[("build.ninja", &text), ("b", "")], |space| space.remove("c"));
    }
}

#[test]
fn a_phony_target_that_named_itself_counts_as_used() {
    same_errors(&[("build.ninja", "build a: phony a\n")]);
    let text = manifest("build a: phony a\nbuild out: cat in a\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("a", "")]);
        compare(&space, version, &Question::default());
        compare(&space, version, &Question::about(&["a^"]));
    }
}

#[test]
fn what_the_manifest_waits_for_counts_as_recorded_when_ninja_starts_over() {
    let text = manifest("build build.ninja: gen configure || tool\nbuild tool: touch\nbuild out: cat tool\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text)]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        // Only the command of what the manifest waits for has changed, so that what uses it is not named.
        space.write_at("build.ninja", text.replace("touch $out\n", "touch  $out\n"), OLD);
        compare(&space, version, &Question::default());
    }
}

#[test]
fn what_was_discovered_on_the_way_to_the_manifest_stays_discovered() {
    let text = manifest(
        "rule dep\n  command = echo 'tool: in' > $out.d; touch $out\n  depfile = $out.d\n\
         build build.ninja: gen configure || tool\nbuild tool: dep\nbuild out: cat in\n",
    );
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        space.remove("in");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn what_a_depfile_on_the_way_to_the_manifest_names_can_be_asked_for() {
    let text = manifest(
        "rule dep\n  command = echo 'tool: h.h' > $out.d; touch $out\n  depfile = $out.d\n\
         build build.ninja: gen configure || tool\nbuild tool: dep\nbuild out: cat in\n\
         rule dep2\n  command = echo 'out2: h2.h' > $out.d; touch $out\n  depfile = $out.d\nbuild out2: dep2\n",
    );
    for &version in versions() {
        let files =
            [("build.ninja", text.as_str()), ("configure", &text), ("in", ""), ("h.h", ""), ("h2.h", "")];
        let space = space(&files);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::about(&["h.h"]));
        same_error(&space, version, &Question::about(&["h2.h"]));
    }
}

#[test]
fn a_phony_target_with_an_implicit_self_is_a_cycle() {
    same_errors(&[("build.ninja", "build a: phony b | a\nbuild b: phony\n")]);
}

// ---- restat -----------------------------------------------------------------------------------------

#[test]
fn restat_compares_the_record_and_not_the_file() {
    let text = manifest("build mid: keep in\nbuild out: cat mid\n");
    let files = [("build.ninja", text.as_str()), ("in", "")];
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        // Built again, the output stays older than its input, and that is fine.
        space.set_mtime("in", space.mtime("mid").expect("built") + 1);
        compare(&space, version, &Question::default());
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("mid", OLD);
        compare(&space, version, &Question::default());
        space.remove(".ninja_log");
        compare(&space, version, &Question::default());
    }
}

// ---- depfiles and the deps log ----------------------------------------------------------------------

const DEPFILE: &str =
    "rule cc\n  command = cp in.d $out.d; cat $in > $out\n  depfile = $out.d\nbuild out: cc in\n";
const DEPS: &str = "rule cc\n  command = cp in.d $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\nbuild out: cc in\n";

fn with_header(text: &str) -> [(&str, &str); 4] {
    [("build.ninja", text), ("in", ""), ("h.h", ""), ("in.d", "out: in h.h\n")]
}

#[test]
fn a_discovered_header_counts() {
    for text in [DEPFILE, DEPS] {
        after_build(&with_header(text), |_| ());
        after_build(&with_header(text), |space| {
            space.set_mtime("h.h", space.mtime("out").expect("built") + 1);
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
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn touching_an_output_with_recorded_deps_makes_it_stale() {
    after_build(&with_header(DEPS), |space| {
        space.set_mtime("out", space.mtime("out").expect("built") + 1);
    });
    let two = DEPS
        .replace("build out:", "build out out2:")
        .replace("> $out", "> out; touch out2")
        .replace("$out.d", "out.d");
    after_build(&with_header(&two), |space| {
        space.set_mtime("out2", space.mtime("out2").expect("built") + 1);
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
        for length in 0..whole.len() {
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
        for length in 0..whole.len() {
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
                space.set_mtime(path, space.mtime("out").expect("built") + 1);
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

// ---- logs -------------------------------------------------------------------------------------------

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

// ---- the manifest -----------------------------------------------------------------------------------

#[test]
fn variables_are_found_where_ninja_finds_them() {
    for text in [
        // Rule variables see the final values of globals, paths and bindings those of their place.
        "v = 1\nrule r\n  command = echo $v $w > $out\nbuild out$v: r\n  w = $v\nv = 2\n",
        // A target with bindings of its own does not see file-level variables before the rule's.
        "command = echo file > $out\nrule r\n  command = echo rule > $out\nbuild a: r\nbuild b: r\n  x = 1\n",
        "description = d\nrestat = 1\ngenerator = 1\nrule r\n  command = echo $restat > $out\nbuild a: r\nbuild b: r\n  x = 1\n",
        // Bindings see the enclosing scope, not each other.
        "x = 0\nrule r\n  command = echo $x $y > $out\nbuild a: r\n  x = 1\n  y = $x\n",
        "rule r\n  command = echo $in- $in_newline ${in}x $out-y > $out\nin- = dash\nout-y = dash2\nbuild a: r in1 in2 | imp || oo\n",
        "rule r\n  command = echo '$a.b' ${a.b} $$ $: a$ b > $out\na = A\na.b = AB\nbuild out: r\n",
        "rule r\n  command = echo $\n    continued $\n   twice > $out\nbuild out: $\n  r $\n  in1\n",
        "rule r\n  command = echo $rspfile_content $rspfile > $out\nrspfile_content = x\nbuild a: r\nbuild b: r\n  y = 1\n",
        "x = a:b|c d\nrule r\n  command = echo '$x' > $out\nbuild out: r\n",
        "rule r\n  command = echo $undefined ${un.defined}> $out\nbuild out: r\n",
        "rule r\n  command = echo $description > $out\n  description = D $in\nbuild out: r in1\n",
        "rule r\n  command = echo $x > $out\n\n  # comment\nx = 1\n# comment\nbuild out: r\n    # comment\n  x = 2\n",
        "v = 1\nbuild a$v b${v}c: r$\n$\n\nrule r\n  command = true\n",
    ] {
        let files = [("build.ninja", text), ("in1", ""), ("in2", ""), ("imp", ""), ("oo", "")];
        unbuilt(&files);
    }
}

#[test]
fn included_files_share_a_scope_and_subninjas_have_their_own() {
    let files = [
        (
            "build.ninja",
            "v = top\nrule r\n  command = echo $v $w > $out\ninclude inc.ninja\nbuild a: r\nsubninja sub.ninja\n\
             build b: r\nw = late\nv = final\n",
        ),
        ("inc.ninja", "v = inc\nw = inc\nbuild i: r\n"),
        (
            "sub.ninja",
            "v = sub\nbuild s: r\nrule r\n  command = echo own $v $w > $out\nbuild s2: r\n  w = mine\n\
             rule phony\n  command = echo not phony > $out\nbuild p: phony\nv = sublate\n",
        ),
    ];
    unbuilt(&files);
    after_build(&files, |_| ());
}

#[test]
fn paths_are_canonical_and_quoted_for_the_shell() {
    let text = "rule r\n  command = touch $out; true $in\nbuild ./a//b/../out: r x/../in1 dir/./f\n\
                build with$ space: r in1 it's\nbuild q$$: r a$:b\nbuild ..hidden: r in1\nbuild UP+-._/x: r in1\n";
    let files = [("build.ninja", text), ("in1", ""), ("dir/f", ""), ("it's", ""), ("a:b", "")];
    unbuilt(&files);
    after_build(&files, |_| ());
}

#[test]
fn syntax_errors_are_errors() {
    for text in [
        "build",
        "build out",
        "build out:",
        "build out: nothing",
        "build out: nothing\n",
        "build : cat in\n",
        "rule\n",
        "rule r\n",
        "rule r\n  command\n",
        "rule r\n  command = x\n  other = y\n",
        "rule r\n  command = x\n  rspfile = y\n",
        "rule r\n  command = x\nrule r\n  command = y\n",
        "rule r\n  command = x\nbuild o: r\nbuild o: r\n",
        "rule r\n  command = x\nbuild o o: r\n",
        "rule r\n  command = x\nbuild o | o: r\n",
        "rule r\n  command = x\nbuild $empty: r\n",
        "rule r\n  command = x\nbuild o: r $empty\n",
        "rule r\n  command = x\n  pool = none\nbuild o: r\n",
        "rule r\n  command = x\n  dyndep = dd\nbuild o: r\n",
        "pool p\n",
        "pool p\n  depth = -1\n",
        "pool p\n  depth = 1\npool p\n  depth = 1\n",
        "pool console\n  depth = 1\n",
        "default nothing\n",
        "default\n",
        "default $empty\n",
        "x = $\n",
        "x = $",
        "x = ${\n",
        "x = ${a b}\n",
        "x = $%\n",
        "x 1\n",
        "x = 1",
        "= 1\n",
        "\tx = 1\n",
        "rule r\n\tcommand = x\n",
        "  x = 1\n",
        "include gone.ninja\n",
        "subninja gone.ninja\n",
        "include\n",
        "# no end",
        "|| a\n",
        "rule r\n  command = $command\nbuild o: r\n",
        "rule r\n  command = $depfile\n  depfile = $description\n  description = $depfile\nbuild o: r\n",
    ] {
        same_errors(&[("build.ninja", text)]);
    }
}

#[test]
fn a_rule_variable_used_twice_is_a_cycle_for_1_11_only() {
    let text = "rule r\n  command = echo $description $description > $out\n  description = d\nbuild o: r\n";
    unbuilt(&[("build.ninja", text)]);
}

#[test]
fn odd_but_legal_manifests_are_accepted() {
    for text in [
        "",
        "\n\n",
        "# only a comment\n",
        "x = 1\n",
        "rule r\r\n  command = touch $out\r\nbuild out: r\r\n",
        "rule r\n  command = touch $out\nbuild out: r\n\0 build nonsense\n",
        "ninja_required_version = 1.5\nrule r\n  command = touch $out\nbuild out: r\n",
        "rule r\n  command = touch $out\nbuild out: r\n   \nbuild out2: r\n  \n",
        "pool p\n  depth = 3x\nrule r\n  command = touch $out\n  pool = p\nbuild out: r\n  pool = console\n",
        "rule r\n  command = touch $out\nbuild out: r |\nbuild o2: r ||\nbuild o3: r | ||\nbuild o4: r |@\n",
        "rule build.x\n  command = touch $out\nbuild default: build.x\ndefault default\n",
    ] {
        unbuilt(&[("build.ninja", text)]);
    }
}

#[test]
fn a_newer_required_version_is_refused() {
    same_errors(&[("build.ninja", "ninja_required_version = 1.99\n$bad")]);
    same_errors(&[("build.ninja", "ninja_required_version = 2.0\n")]);
}

#[test]
fn cycles_are_errors_and_named_the_same_way() {
    for text in [
        "build a: cat a\n",
        "build a: cat b\nbuild b: cat a\ndefault a\n",
        "build x: cat a\nbuild a b: cat c\nbuild c: cat b\n",
        "build x: cat a\nbuild a: phony b\nbuild b: phony c\nbuild c: phony a\n",
        "build x: cat a\nbuild a: cat in || b\nbuild b: cat a\n",
        "build x: cat in |@ a\nbuild a: cat b\nbuild b: cat a\n",
    ] {
        same_errors(&[("build.ninja", &manifest(text)), ("in", "")]);
    }
    let depfile = "rule cc\n  command = echo 'a: b' > a.d; touch $out\n  depfile = a.d\nbuild a: cc\n\
                   rule t\n  command = touch $out\nbuild b: t a\n";
    for &version in versions() {
        let space = space(&[("build.ninja", depfile)]);
        build(&space, version, &Question::default());
        same_error(&space, version, &Question::default());
    }
}

#[test]
fn a_graph_in_which_everything_is_used_has_no_roots() {
    same_errors(&[("build.ninja", &manifest("build a: cat b\nbuild b: cat a\n"))]);
}

// ---- what is asked for ------------------------------------------------------------------------------

#[test]
fn targets_are_named_as_for_ninja() {
    let text = manifest("build a: cat in\nbuild b: cat a in2\nbuild c d: touch in\ndefault a\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
        for targets in [
            vec![],
            vec!["b"],
            vec!["./x/../b"],
            vec!["d"],
            vec!["in^"],
            vec!["a^"],
            vec!["in2^"],
            vec!["in"],
            vec!["a", "c"],
            vec!["a", "a"],
        ] {
            compare(&space, version, &Question::about(&targets));
        }
        for target in ["nothing", "aa", "gone^", "b^", "clean", "help", "", "^"] {
            same_error(&space, version, &Question::about(&[target]));
            same_error(&space, version, &Question::about(&["a", target]));
        }
    }
}

#[test]
fn an_error_in_one_target_hides_the_others_from_ninja() {
    let text = manifest("build a: cat gone\nbuild b: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        same_error(&space, version, &Question::about(&["b", "a"]));
        let all = look_past(&space, version, &Question::about(&["b", "a"]));
        assert_eq!(all, run(&["cat in > b", "cat gone > a"]));
    }
}

#[test]
fn a_header_in_the_deps_log_can_be_asked_for() {
    for &version in versions() {
        let space = space(&with_header(DEPS));
        build(&space, version, &Question::default());
        compare(&space, version, &Question::about(&["h.h"]));
        compare(&space, version, &Question::about(&["h.h^"]));
        space.set_mtime("h.h", space.mtime("out").expect("built") + 1);
        compare(&space, version, &Question::about(&["h.h^"]));
    }
}

#[test]
fn paths_that_cannot_be_looked_at_stop_ninja_only() {
    let text = manifest("build a: touch loop\nbuild b: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        std::os::unix::fs::symlink("loop", space.path().join("loop")).expect("a link");
        same_error(&space, version, &Question::default());
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["touch a", "cat in > b"]));
    }
    // A phony name may be a file, and then its time counts: if that is not known, nothing is.
    let text = manifest("build loop: phony in\nbuild a: touch | loop\ndefault a\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("in", "")]);
        build(&space, version, &Question::default());
        std::os::unix::fs::symlink("loop", space.path().join("loop")).expect("a link");
        same_error(&space, version, &Question::default());
        assert_eq!(look_past(&space, version, &Question::default()), run(&["", "touch a"]));
    }
    let long = "x".repeat(300);
    same_errors(&[("build.ninja", &manifest(&format!("build a: touch {long}\n")))]);
    same_errors(&[("build.ninja", &manifest(&format!("build {long}: touch\n")))]);
}

#[test]
fn a_file_where_a_directory_is_expected_is_a_missing_file() {
    let text = manifest("build out: touch | in/below\n");
    same_errors(&[("build.ninja", &text), ("in", "")]);
}

// ---- the manifest as a target -----------------------------------------------------------------------

#[test]
fn ninja_stops_at_a_stale_manifest_and_upcheck_looks_past_it() {
    let text = manifest("build build.ninja: gen configure\nbuild out: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("in", space.mtime("out").expect("built") + 1);
        compare(&space, version, &Question::default());
        space.set_mtime("configure", space.mtime("build.ninja").expect("there") + 1_000_000_000);
        compare(&space, version, &Question::default());
        assert_eq!(exact(&space, version, &Question::default()), run(&["cat configure > build.ninja"]));
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["cat configure > build.ninja", "cat in > out"]));
        // Even a target that does not exist is not noticed before the manifest is.
        compare(&space, version, &Question::about(&["nothing"]));
    }
}

#[test]
fn a_stale_order_only_input_of_the_manifest_is_run_and_the_rest_too() {
    let text = manifest("build build.ninja: gen configure || tool\nbuild tool: cat in2\nbuild out: cat in\n");
    for &version in versions() {
        let space = space(&[("build.ninja", &text), ("configure", &text), ("in", ""), ("in2", "")]);
        space.set_mtime("configure", OLD - 1);
        build(&space, version, &Question::default());
        space.remove("tool");
        compare(&space, version, &Question::default());
        space.remove("out");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn an_error_on_the_way_to_the_manifest_is_an_error() {
    let text = manifest("build build.ninja: gen configure\nbuild out: cat in\n");
    same_errors(&[("build.ninja", &text), ("in", "")]);
}

#[test]
fn a_glob_check_that_always_runs_stops_ninja_for_ever() {
    let text = "rule glob\n  command = true\n  restat = 1\n  generator = 1\nrule cmake\n  command = touch $out\n  generator = 1\n\
                build always: phony\nbuild globs: glob always\nbuild build.ninja: cmake globs CMakeLists.txt\n\
                rule touch\n  command = touch $out\nbuild out: touch in\n";
    for &version in versions() {
        let space = space(&[("build.ninja", text), ("CMakeLists.txt", ""), ("in", ""), ("globs", "")]);
        compare(&space, version, &Question::default());
        assert_eq!(exact(&space, version, &Question::default()), run(&["true", "touch build.ninja"]));
        let all = look_past(&space, version, &Question::default());
        assert_eq!(all, run(&["true", "touch build.ninja", "touch out"]));
    }
}

#[test]
fn another_manifest_can_be_named() {
    let text = manifest("build other.ninja: gen in\nbuild out: cat in\n");
    let question = Question { file: Some("./other.ninja".into()), ..Question::default() };
    for &version in versions() {
        let space = space(&[("other.ninja", &text), ("in", "")]);
        compare(&space, version, &question);
    }
}

// ---- dyndep -----------------------------------------------------------------------------------------

const DYNDEP: &str = "\
rule cp
  command = cp $in $out
rule r
  command = touch $out $more
build dd: cp dd.in
build out: r || dd
  dyndep = dd
build user: r | out
";

fn with_dyndep<'a>(text: &'a str, dyndep: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![("build.ninja", text), ("dd.in", dyndep), ("extra.in", "")]
}

#[test]
fn a_dyndep_file_adds_inputs() {
    let files = with_dyndep(DYNDEP, "ninja_dyndep_version = 1\nbuild out: dyndep | extra.in\n");
    after_build(&files, |_| ());
    after_build(&files, |space| space.set_mtime("extra.in", space.mtime("user").expect("built") + 1));
    after_build(&files, |space| space.remove("extra.in"));
    after_build(&files, |space| space.remove("dd"));
    after_build(&files, |space| space.set_mtime("dd.in", space.mtime("user").expect("built") + 1));
    unbuilt(&files);
}

#[test]
fn a_dyndep_file_adds_outputs_and_what_uses_them() {
    let text = DYNDEP.replace("  dyndep = dd\n", "  dyndep = dd\n  more = side\n") + "build last: r | side\n";
    for order in [text.clone(), text.replace("build out:", "build last0: r || side\nbuild out:")] {
        let files = with_dyndep(&order, "ninja_dyndep_version = 1.0\nbuild out | side: dyndep\n");
        unbuilt(&files);
        for version in versions() {
            let space = space(&files);
            // The first build has no dyndep file yet, and may not get far.
            let _ = upcheck_tests::answer::run_ninja(&space, *version, &Question::about(&["out"]), &[]);
            let _ = upcheck_tests::answer::run_ninja(&space, *version, &Question::default(), &[]);
            compare(&space, *version, &Question::default());
            for edit in ["side", "out", "last"] {
                let edited = space.copy();
                edited.remove(edit);
                compare(&edited, *version, &Question::default());
            }
            space.set_mtime("dd.in", space.mtime("dd").expect("built") + 1_000_000_000);
            compare(&space, *version, &Question::default());
        }
    }
}

#[test]
fn a_dyndep_file_can_say_restat() {
    let text = DYNDEP.replace("touch $out $more", "test -e $out || touch $out; true $in");
    let files = with_dyndep(&text, "ninja_dyndep_version = 1\nbuild out: dyndep | extra.in\n  restat = 1\n");
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.set_mtime("extra.in", space.mtime("user").expect("built") + 1);
        compare(&space, version, &Question::default());
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
    }
}

#[test]
fn a_stale_dyndep_file_counts_as_it_is() {
    let text = "rule cp\n  command = cp $in $out\nrule r\n  command = touch $out\nbuild dd: cp dd.in\n\
                build gen: r gen.in\nbuild out: r || dd\n  dyndep = dd\nbuild user: r | out\ndefault user\n";
    let files = [
        ("build.ninja", text),
        ("dd.in", "ninja_dyndep_version = 1\nbuild out: dyndep | gen\n"),
        ("gen.in", ""),
    ];
    for &version in versions() {
        let space = space(&files);
        build(&space, version, &Question::default());
        space.set_mtime("dd.in", space.mtime("user").expect("built") + 1);
        compare(&space, version, &Question::default());
        space.set_mtime("gen.in", space.mtime("user").expect("built") + 1);
        compare(&space, version, &Question::default());
        space.remove("gen");
        compare(&space, version, &Question::default());
        space.remove("dd");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn a_broken_dyndep_file_is_an_error() {
    for dyndep in [
        "",
        "ninja_dyndep_version = 2\n",
        "build out: dyndep\n",
        "ninja_dyndep_version = 1\n",
        "ninja_dyndep_version = 1\nbuild other: dyndep\n",
        "ninja_dyndep_version = 1\nbuild user: dyndep\nbuild out: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep\nbuild out: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out x: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep x\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep || x\n",
        "ninja_dyndep_version = 1\nbuild out: cat\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep\n  other = 1\n",
        "ninja_dyndep_version = 1\nbuild out | user: dyndep\n",
        "ninja_dyndep_version = 1\nbuild out: dyndep | user\n",
        "ninja_dyndep_version = 1\nx = 1\nbuild out: dyndep\n",
    ] {
        let text = DYNDEP.replace("build dd: cp dd.in\n", "");
        let files = [("build.ninja", text.as_str()), ("dd", dyndep), ("extra.in", "")];
        for &version in versions() {
            let space = space(&files);
            compare(&space, version, &Question::default());
            assert!(matches!(exact(&space, version, &Question::default()), Answer::Error(_)), "{dyndep:?}");
        }
    }
}

#[test]
fn a_missing_dyndep_file_that_nothing_makes_is_an_error() {
    same_errors(&[("build.ninja", &DYNDEP.replace("build dd: cp dd.in\n", ""))]);
}

//! What only Windows has: backslashes, drives, `cmd`, programs with Microsoft's dependencies, and times in steps of 100 ns
//! that are counted from the end of 2000.

use crate::{OLD, after_build, manifest, space, unbuilt, versions};
use upcheck_tests::answer::{Answer, Question, build, compare, exact, look_past};
use upcheck_tests::space::{Space, TICK};

/// A path in the space as Windows spells it.
fn absolute(space: &Space, path: &str) -> String {
    space.path().join(path).to_str().expect("text").replace('/', "\\")
}

fn escaped(path: &str) -> String {
    path.replace('$', "$$").replace(' ', "$ ").replace(':', "$:")
}

/// The commands of an answer.
fn commands(answer: Answer) -> Vec<String> {
    match answer {
        Answer::Run(commands) => commands.into_iter().collect(),
        Answer::Error(error) => panic!("an error: {error}"),
    }
}

#[test]
fn paths_are_written_as_they_were_first_spelt() {
    let text = manifest(
        "build sub\\out: cat dir\\in .\\dir/..\\other\n\
         build last: cat sub/out dir/in\n\
         build dir\\sub/deep\\..\\x: cat dir\\sub\\..\\in | OTHER\n\
         build with$ space\\out: cat dir\\a$ b\n",
    );
    let files =
        [("build.ninja", text.as_str()), ("dir/in", ""), ("other", ""), ("OTHER", ""), ("dir/a b", "")];
    unbuilt(&files);
    for &version in versions() {
        let space = space(&files);
        let found = commands(exact(&space, version, &Question::default()));
        assert!(found.contains(&"cat sub\\out dir\\in > last".to_owned()), "{found:?}");
        assert!(found.contains(&"cat \"dir\\a b\" > \"with space\\out\"".to_owned()), "{found:?}");
    }
    after_build(&files, |_| ());
    after_build(&files, |space| space.set_mtime("dir/in", space.mtime("sub/out").expect("built") + TICK));
    // Another spelling is another command.
    after_build(&files, |space| {
        space.write_at("build.ninja", text.replace("cat dir\\in ", "cat dir/in "), OLD);
    });
    // But for one that comes later, which is not written.
    after_build(&files, |space| {
        space.write_at("build.ninja", text.replace("sub/out dir/in", "sub\\out dir\\in"), OLD);
    });
    // Targets may be named either way.
    for &version in versions() {
        let space = space(&files);
        for name in ["sub\\out", "sub/out", ".\\sub\\\\out", "sub\\out^", "dir\\in^"] {
            compare(&space, version, &Question::about(&[name]));
        }
    }
}

#[test]
fn absolute_paths_begin_with_a_drive() {
    for &version in versions() {
        let space = space(&[("in", ""), ("h.h", ""), ("in.d", "")]);
        let here = absolute(&space, "");
        let here = here.trim_end_matches('\\');
        let slashes = here.replace('\\', "/");
        let text = format!(
            "rule cc\n  command = cp in.d $out.d; cat $in > $out\n  depfile = $out.d\n\
             build {0}\\out: cc {1}/in\nbuild {0}/sub/..\\out2: cc {0}\\in\n",
            escaped(here),
            escaped(&slashes),
        );
        space.write_at("build.ninja", text, OLD);
        space.write_at("in.d", format!("{slashes}/out: {here}\\h.h\n{slashes}/out2: {slashes}/h.h\n"), OLD);
        compare(&space, version, &Question::default());
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        space.set_mtime("h.h", space.mtime("out").expect("built") + TICK);
        compare(&space, version, &Question::default());
        space.remove("in");
        compare(&space, version, &Question::default());
    }
}

#[test]
fn depfiles_have_backslashes_that_are_not_escapes() {
    let text = "rule cc\n  command = cp in.d out.d; touch $out\n  depfile = out.d\nbuild dir\\out: cc in\n";
    for content in [
        "dir\\out: dir\\h.h\n",
        "dir/out: dir\\h.h in\n",
        "dir\\out: dir\\\\h.h\n",
        "dir\\out: dir\\h.h \\\n  .\\in\n",
        "dir\\out: dir\\h.h\\\n in\n",
        "dir\\out: dir\\a\\ b.h\n",
        "dir\\out: dir\\#h.h\n",
        "dir\\out: c\\:\\h.h\n",
        "dir\\out: c:\\h.h\n",
        "dir\\out: ..\\h.h dir\\..\\in\n",
        "dir\\out: DIR\\H.H\n",
        "DIR\\out: dir\\h.h\n",
        "dir\\out: dir\\h.h\r\n",
        "dir\\sub\\..\\out: \\\r\n dir\\h.h \\\r\n in\r\n",
    ] {
        let files = [("build.ninja", text), ("in", ""), ("dir/h.h", ""), ("in.d", "dir\\out: in dir\\h.h\n")];
        after_build(&files, |space| space.write("out.d", content));
        after_build(&files, |space| {
            space.write("out.d", content);
            space.set_mtime("dir/h.h", space.mtime("dir/out").expect("built") + TICK);
        });
    }
}

#[test]
fn names_that_differ_in_case_are_two_files_for_ninja_and_one_for_the_disk() {
    let text = manifest("build Out: cat IN\nbuild other: cat out in\n");
    let files = [("build.ninja", text.as_str()), ("in", "")];
    unbuilt(&files);
    // `out` has no rule, but there is such a file once `Out` was made.
    let text = manifest("build Out: cat IN\nbuild other: cat in || Out\n");
    let files = [("build.ninja", text.as_str()), ("in", "")];
    after_build(&files, |_| ());
    after_build(&files, |space| space.set_mtime("in", space.mtime("other").expect("built") + TICK));
    after_build(&files, |space| space.remove("Out"));
}

#[test]
fn commands_may_be_those_of_cmd() {
    let text = "rule echo\n  command = cmd /c echo $text> $out\n  description = ECHO $out\n\
                rule both\n  command = cmd /c \"type $in > $out && echo more>> $out\"\n\
                build dir\\a: echo\n  text = one\nbuild b: both dir\\a\n";
    let files = [("build.ninja", text)];
    after_build(&files, |_| ());
    after_build(&files, |space| space.write_at("build.ninja", text.replace("one", "two"), OLD));
    after_build(&files, |space| space.set_mtime("dir/a", space.mtime("b").expect("built") + TICK));
}

#[test]
fn response_files_are_part_of_the_command() {
    let text = "rule link\n  command = cat $rspfile > $out\n  rspfile = dir\\$out.rsp\n  rspfile_content = $in_newline $flags\n\
                build out: link dir\\in other$ in\n  flags = /a\n";
    let files = [("build.ninja", text), ("dir/in", ""), ("other in", "")];
    after_build(&files, |_| ());
    after_build(&files, |space| space.write_at("build.ninja", text.replace("/a", "/b"), OLD));
    after_build(&files, |space| space.write_at("build.ninja", text.replace("dir\\in", "dir/in"), OLD));
}

#[test]
fn what_microsofts_compiler_includes_is_in_the_log() {
    for &version in versions() {
        let space = space(&[("in.c", ""), ("Sub/H.h", ""), ("h2.h", "")]);
        let (abs, upper) = (absolute(&space, "Sub\\H.h"), absolute(&space, "h2.h").to_uppercase());
        let text = format!(
            "rule cl\n  command = echo 'Note: including file: {}'; echo 'Note: including file:   {}'; \
             echo 'Note: including file: sub/../h2.h'; touch $out\n  deps = msvc\nbuild out.obj: cl in.c\n",
            abs.replace('$', "$$"),
            upper.replace('$', "$$")
        );
        space.write_at("build.ninja", text, OLD);
        build(&space, version, &Question::default());
        compare(&space, version, &Question::default());
        assert_eq!(commands(exact(&space, version, &Question::default())), [""; 0]);
        let built = space.mtime("out.obj").expect("built");
        for header in ["Sub/H.h", "h2.h"] {
            space.set_mtime(header, built + TICK);
            compare(&space, version, &Question::default());
            assert_ne!(commands(exact(&space, version, &Question::default())), [""; 0], "{header}");
            space.set_mtime(header, OLD);
        }
    }
}

#[test]
fn times_are_compared_to_100_ns() {
    let text = manifest("build out: cat in\n");
    for step in [-TICK, 0, TICK, 2 * TICK] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", space.mtime("out").expect("built") + step);
        });
    }
}

#[test]
fn the_first_second_of_1970_is_as_long_as_any() {
    let text = manifest("build out: cat in\n");
    for (input, output) in [(0, 0), (999_999_900, 100), (100, 999_999_900), (1_000_000_000, 500)] {
        after_build(&[("build.ninja", &text), ("in", "")], |space| {
            space.set_mtime("in", input);
            space.set_mtime("out", output);
        });
    }
}

/// From where ninja counts there.
const ZERO: i64 = 978_296_800_000_000_000;

#[test]
fn around_ninjas_zero_times_have_a_meaning_only_for_ninja() {
    let text = manifest("build out: cat in\nbuild out2: cat in2\n");
    for &version in versions() {
        for time in [ZERO - 2 * TICK, ZERO - TICK, ZERO, ZERO + TICK] {
            let space = space(&[("build.ninja", &text), ("in", ""), ("in2", "")]);
            space.set_mtime("in", time);
            compare(&space, version, &Question::about(&["out", "out2"]));
            assert_eq!(commands(look_past(&space, version, &Question::default())).len(), 2);
        }
    }
}

//! What is asked for.

use crate::{DEPS, manifest, run, same_error, space, versions, with_header};
use upcheck_tests::answer::{Question, build, compare, exact, look_past};
use upcheck_tests::space::TICK;

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
        space.set_mtime("h.h", space.mtime("out").expect("built") + TICK);
        compare(&space, version, &Question::about(&["h.h^"]));
    }
}

#[test]
fn a_name_known_only_from_a_depfile_is_forgotten_with_it() {
    for &version in versions() {
        let manifest = "rule gen\n  command = touch $out; echo '$out: deep/name' > $out.d\n  depfile = $out.d\n\
                        build made: gen\n\
                        rule regen\n  command = touch $out\n  generator = 1\n\
                        build build.ninja: regen configure || made\n";
        let space = space(&[("build.ninja", manifest), ("configure", ""), ("deep/name", "")]);
        build(&space, version, &Question::default());
        for depfile in ["made: deep/name\n", "made:\n", "made: deep/names\n"] {
            space.write("made.d", depfile);
            for name in ["deep/name", "deep/nam", "deep/names", "made"] {
                // Each asks with images of before and of now, and compares.
                let _ = look_past(&space, version, &Question::default());
                let _ = look_past(&space, version, &Question::about(&[name]));
                let _ = exact(&space, version, &Question::about(&[name]));
            }
        }
    }
}

//! Logs that grow: what a build appended is read, and the image stays.

use crate::asking::Image::{AtOnce, Made, Updated, Used};
use crate::asking::{OLD, ask_later, fresh, space, stale};
use upcheck_tests::answer::{Question, build, run_ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// Two objects whose headers are said by `a.d` and `b.d`, and a program. The deps log knows the headers.
const LOGGED: &str = "rule cc\n  command = cp $in.d $out.d; cat $in > $out\n  depfile = $out.d\n  deps = gcc\n\
                      rule link\n  command = cat $in > $out\n\
                      build a.o: cc a\nbuild b.o: cc b\nbuild prog: link a.o b.o\n";

/// The same with depfiles that stay.
fn listed() -> String {
    LOGGED.replace("  deps = gcc\n", "")
}

fn program(manifest: &str) -> Space {
    space(&[
        ("build.ninja", manifest),
        ("a", ""),
        ("b", ""),
        ("a.d", "a.o: h1\n"),
        ("b.d", "b.o: h1\n"),
        ("h1", ""),
        ("h2", ""),
    ])
}

/// Built, with an image that is trusted.
fn built(manifest: &str, version: Ninja) -> Space {
    let space = program(manifest);
    build(&space, version, &Question::default());
    assert_eq!(ask_later(&space, version), fresh(Made));
    assert_eq!(ask_later(&space, version), fresh(AtOnce));
    space
}

/// Something changed so that a target has to run, which discovers other headers then.
fn discover(space: &Space, target: &str, headers: &str) {
    space.write(&format!("{target}.d"), format!("{target}.o: {headers}\n"));
    space.write(target, "changed");
}

#[test]
fn a_header_that_only_the_last_build_discovered_is_looked_at() {
    for manifest in [LOGGED, &listed()] {
        for version in Ninja::USUAL {
            let space = built(manifest, version);
            discover(&space, "a", "h1 h2");
            assert_eq!(ask_later(&space, version), stale(Updated));
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            space.write("h2", "changed");
            assert_eq!(ask_later(&space, version), stale(Updated));
            space.remove("h2");
            assert_eq!(ask_later(&space, version), stale(Updated));
        }
    }
}

#[test]
fn nothing_is_written_again_after_a_build_discovered_new_headers() {
    for manifest in [LOGGED, &listed()] {
        for version in Ninja::USUAL {
            let space = built(manifest, version);
            discover(&space, "a", "h1 h2");
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
            space.write("b", "changed");
            assert_eq!(ask_later(&space, version), stale(Updated));
            assert_eq!(ask_later(&space, version), stale(Used));
            space.set_mtime("b", OLD);
            assert_eq!(ask_later(&space, version), fresh(Updated));
            assert_eq!(ask_later(&space, version), fresh(AtOnce));
        }
    }
}

#[test]
fn logs_put_back_as_they_were_for_the_image_are_noticed() {
    for version in Ninja::USUAL {
        for in_place in [true, false] {
            let space = built(LOGGED, version);
            let logs = [".ninja_log", ".ninja_deps"].map(|log| (log, space.read(log)));
            space.write("h1", "changed");
            build(&space, version, &Question::default());
            assert_eq!(ask_later(&space, version), fresh(Updated));
            for (log, content) in &logs {
                if !in_place {
                    space.remove(log);
                }
                space.write(log, content);
            }
            assert_eq!(ask_later(&space, version), stale(Updated));
            assert_eq!(ask_later(&space, version), stale(Used));
        }
    }
}

#[test]
fn ordinary_builds_leave_the_image_and_cost_a_state() {
    for manifest in [LOGGED, &listed()] {
        for version in Ninja::USUAL {
            let space = built(manifest, version);
            for round in 0..5 {
                for file in ["a", "h1", "b.o", "prog"] {
                    if file == "prog" {
                        space.remove(file);
                    } else {
                        space.write(file, format!("round {round}"));
                    }
                    assert_eq!(ask_later(&space, version), stale(Updated), "{file}");
                    assert_eq!(ask_later(&space, version), stale(Used), "{file}");
                    let _ = run_ninja(&space, version, &Question::default(), &[]);
                    assert_eq!(ask_later(&space, version), fresh(Updated), "{file}");
                    assert_eq!(ask_later(&space, version), fresh(AtOnce), "{file}");
                }
            }
        }
    }
}

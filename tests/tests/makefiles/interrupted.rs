//! Builds that are interrupted: what was under way then is made by the next build, and said to be stale before.

use crate::edits::FILES;
use crate::harness::{Build, VERSIONS};
use std::os::unix::process::CommandExt;

/// Runs a command of the build, and kills everything before or after the one that names what is in the file `at`.
const LAUNCH: &str = "at=$(cat \"${0%/*}/at\" 2>/dev/null)
when=$(cat \"${0%/*}/when\" 2>/dev/null)
signal=$(cat \"${0%/*}/signal\" 2>/dev/null)
case \"$at::$*\" in
::*) exec \"$@\" ;;
*::*\"$at\"*) ;;
*) exec \"$@\" ;;
esac
[ \"$when\" = before ] || \"$@\"
kill -s \"$signal\" 0
exit 1
";

fn launched() -> Vec<(&'static str, String)> {
    let lines = ["COMPILE", "LINK", "CUSTOM"].map(|what| {
        format!("set_property(GLOBAL PROPERTY RULE_LAUNCH_{what} \"sh ${{CMAKE_SOURCE_DIR}}/launch.sh\")\n")
    });
    let mut files: Vec<(&str, String)> =
        FILES.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
    files.push(("launch.sh", LAUNCH.to_owned()));
    let lists = &mut files[0].1;
    let at = lists.find("add_subdirectory").expect("directories");
    lists.insert_str(at, &lines.concat());
    files
}

#[test]
fn builds_that_are_killed() {
    let files = launched();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    for version in VERSIONS {
        let mut build = Build::new(version, &files);
        let cases = [
            ("text.c.o", "before", "KILL"),
            ("net.c.o", "after", "KILL"),
            ("libnet.so", "after", "TERM"),
            ("gen.in", "after", "KILL"),
            ("gen.c.o", "before", "TERM"),
            ("-o app", "after", "KILL"),
            ("a.txt", "before", "TERM"),
        ];
        let mut n_killed = 0;
        for (n, (at, when, signal)) in cases.into_iter().enumerate() {
            // Some of the time there is something from before.
            if n == 3 {
                build.compare("all of it");
                build.touch("s/lib/deep.h");
                build.touch("s/app/gen.in");
                build.touch("s/a.txt");
            }
            for (file, content) in [("at", at), ("when", when), ("signal", signal)] {
                build.space.write(&format!("s/{file}"), content);
            }
            let status = build.make_command().process_group(0).output().expect("make runs").status;
            build.remove("s/at");
            // Releases go through the targets in different orders, so what was meant may have been made before.
            if !status.success() {
                n_killed += 1;
                build.ask();
            }
        }
        assert!(n_killed >= 4, "{version}: {n_killed}");
        build.compare("what was interrupted");
        build.settled("after that");
    }
}

#[test]
fn each_interrupted_build_is_gone_on_with() {
    let files = launched();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    for version in VERSIONS {
        let mut build = Build::new(version, &files);
        build.compare("the first build");
        for (at, when, signal) in
            [("text.c.o", "before", "KILL"), ("-o app", "after", "TERM"), ("main.cpp.o", "after", "KILL")]
        {
            build.touch("s/lib/deep.h");
            for (file, content) in [("at", at), ("when", when), ("signal", signal)] {
                build.space.write(&format!("s/{file}"), content);
            }
            let status = build.make_command().process_group(0).output().expect("make runs").status;
            assert!(!status.success(), "{version} {at}: make went through");
            build.remove("s/at");
            build.compare(&format!("after a build that was killed {when} {at}"));
            build.settled("after that");
        }
    }
}

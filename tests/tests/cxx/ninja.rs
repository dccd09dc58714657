//! A real build directory, asked about from C++ after real ninja has built it.

use crate::compile::{program, sources, succeeded};
use std::collections::BTreeSet;
use std::process::Command;
use upcheck_tests::answer::{Answer, Question, ninja};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

const MANIFEST: &str = "
rule cc
  command = gcc -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
rule link
  command = gcc $in -o $out
build main.o: cc main.c
build util.o: cc util.c
build app: link main.o util.o
default app
";

#[test]
fn a_build_directory_is_judged_as_ninja_judges_it() {
    let made = Space::new();
    let asker = made.path().join("ninja");
    program("-std=c++17", &["-O1"], &[&sources().join("ninja.cc")], &asker);
    for &version in Ninja::USUAL {
        let (space, images) = (Space::new(), Space::new());
        space.write("build.ninja", MANIFEST);
        space.write("util.h", "int util(void);\n");
        space.write("util.c", "#include \"util.h\"\nint util(void) { return 0; }\n");
        space.write("main.c", "#include \"util.h\"\nint main(void) { return util(); }\n");
        let agrees = |what: &str| {
            let Answer::Run(expected) = ninja(&space, version, &Question::default()) else {
                panic!("{what}: ninja has an error");
            };
            for images in [None, Some(images.path())] {
                let (before, elsewhere) = (space.entries(), Space::new());
                let mut ask = Command::new(&asker);
                ask.current_dir(elsewhere.path()).arg(space.path()).args(images);
                let commands: BTreeSet<String> = succeeded(&mut ask).lines().map(str::to_owned).collect();
                // A graph that comes from an image has no commands: then it is the number that counts.
                if images.is_none() || !commands.contains("") {
                    assert_eq!(commands, expected, "{what}, {version:?}");
                } else {
                    assert!(!expected.is_empty(), "{what}, {version:?}");
                }
                assert!(space.entries() == before, "{what}: asking has changed something");
            }
            expected.len()
        };
        let build = || succeeded(Command::new(version.path()).arg("-C").arg(space.path()));
        assert_eq!(agrees("nothing is built"), 3);
        build();
        assert_eq!(agrees("all is built"), 0);
        space.write("util.h", "int util(void); /* edited */\n");
        assert_eq!(agrees("a header was edited"), 3);
        build();
        assert_eq!(agrees("it is built again"), 0);
        space.remove("util.o");
        assert_eq!(agrees("an object is gone"), 2);
        build();
        space.write("build.ninja", MANIFEST.replace("gcc $in", "gcc -g $in"));
        assert_eq!(agrees("the link's command is another one"), 1);
    }
}

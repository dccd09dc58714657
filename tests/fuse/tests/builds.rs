//! A real build, made by ninja and gcc, is judged the same wherever it lies.
#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::Command;
use std::time::Duration;
use upcheck::collect::{Disk, PortableDisk, UnixDisk};
use upcheck_fuse::{Asked, Habits, Mount, Names, Plus, Tree};
use upcheck_ninja::{Build, Options};
use upcheck_tests::space::Space;
use upcheck_tests::tools::Ninja;

/// A second, in nanoseconds.
const S: i64 = 1_000_000_000;

/// A project that ninja has built, last of all a second ago.
fn built() -> Space {
    let space = Space::new();
    let mut manifest =
        "rule cc\n  command = gcc -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
                        rule plain\n  command = gcc -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n\
                        rule link\n  command = gcc $in -o $out\n\
                        rule stamp\n  command = touch $out\n"
            .to_owned();
    for n in 0..12 {
        space.write(&format!("include/h{n}.h"), format!("#pragma once\nint f{n}(void);\n"));
    }
    space.write("include/all.h", (0..12).map(|n| format!("#include \"h{n}.h\"\n")).collect::<String>());
    let mut objects = String::new();
    for n in 0..12 {
        let source = format!(
            "#include \"../include/h{n}.h\"\n#include \"../include/all.h\"\nint f{n}(void) {{ return {n}; }}\n"
        );
        space.write(&format!("src/f{n}.c"), source);
        manifest += &format!("build obj/f{n}.o: {} src/f{n}.c\n", ["cc", "plain"][n % 2]);
        objects += &format!(" obj/f{n}.o");
    }
    space.write("src/main.c", "#include \"../include/all.h\"\nint main(void) { return f1() - 1; }\n");
    manifest += &format!("build obj/main.o: cc src/main.c\nbuild app: link obj/main.o{objects}\n");
    manifest += "build sub/done: stamp app || obj/main.o\n";
    // Phony targets with names that are files, too; and some without.
    let mut named = String::new();
    for n in 0..8 {
        named += &format!(" obj/named{n}");
        manifest += &format!("build obj/named{n}: phony src/main.c\n");
        space.write(&format!("obj/named{n}"), "");
    }
    manifest += &format!("build everything: phony app sub/done{named}\nbuild last: stamp{named}\n");
    manifest += "build all: phony everything last\ndefault all\n";
    space.write("build.ninja", manifest);
    for (path, _) in space.entries() {
        if path.is_file() {
            upcheck_tests::space::set_mtime(&path, 1_000 * S);
        }
    }
    let made = ninja(space.path(), &[]);
    assert!(made.0, "{}", made.1);
    space
}

fn ninja(directory: &Path, options: &[&str]) -> (bool, String) {
    let output = Command::new(Ninja::V1_13.path())
        .current_dir(directory)
        .args(options)
        .output()
        .expect("ninja can be started");
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

/// All that is said of a build.
fn report(disk: &dyn Disk) -> String {
    let mut build = Build::load(disk, &Options::default()).expect("a manifest");
    let requests = build.default_requests().expect("there are defaults");
    build.describe(disk, &requests).expect("no cycle in variables");
    let snapshot = build.collect(disk);
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    format!("{:#?}", build.report(&decision))
}

fn unix(base: &Path) -> UnixDisk {
    UnixDisk::new(base).expect("a directory")
}

/// What can happen to a build, and whether anything is to be done then.
type Change = (&'static str, bool, fn(&Space));

const CHANGES: [Change; 8] = [
    ("nothing", false, |_| {}),
    ("a header is edited", true, |space| space.set_mtime("include/h3.h", 4_000_000_000 * S)),
    ("a header is deleted", true, |space| space.remove("include/h7.h")),
    ("an object is deleted", true, |space| space.remove("obj/f5.o")),
    ("a depfile is deleted", true, |space| space.remove("obj/f5.o.d")),
    ("an output is older than its input", true, |space| space.set_mtime("obj/f2.o", 10 * S)),
    ("a phony target's file is newer", true, |space| space.set_mtime("obj/named5", 4_000_000_000 * S)),
    ("all objects are deleted", true, |space| {
        // Not their directory: ninja makes that even if it is to make nothing.
        for entry in std::fs::read_dir(space.path().join("obj")).expect("a directory") {
            std::fs::remove_file(entry.expect("an entry").path()).expect("a file");
        }
    }),
];

#[test]
fn a_real_build_is_judged_the_same_on_a_file_system_far_away() {
    let built = built();
    for (what, is_stale, change) in CHANGES {
        let space = built.copy();
        change(&space);
        let here = report(&unix(space.path()));
        let (_, said_here) = ninja(space.copy().path(), &["-n", "-v"]);
        assert_eq!(!said_here.contains("no work to do"), is_stale, "{what}: {said_here}");
        for (plus, kept, names) in [
            (Plus::Sometimes, 3600, Names::Exact),
            (Plus::Always, 3600, Names::FoldCase),
            (Plus::Never, 3600, Names::Exact),
            (Plus::Sometimes, 0, Names::AsWindows),
        ] {
            let habits = Habits { plus, names, kept: Duration::from_secs(kept), ..Habits::default() };
            let habits = Habits { latency: Duration::from_micros(200), ..habits };
            let Some(mount) = Mount::new(Tree::copy_of(space.path()), habits) else { return };
            for believes in [false, true] {
                let disk = unix(mount.path());
                let there = report(&if believes { disk.believing() } else { disk });
                assert_eq!(there, here, "{what}, {habits:?}");
            }
            assert_eq!(report(&PortableDisk::new(mount.path()).expect("a directory")), here, "{what}");
            let listed = mount.take_counts().of(Asked::OpenDirectory);
            assert!(listed > 0, "{what}, {habits:?}: nothing was listed");
            assert_eq!(ninja(mount.path(), &["-n", "-v"]).1, said_here, "{what}, {habits:?}");
        }
    }
}

#[test]
fn a_file_in_no_listing_that_makes_something_stale_does_so() {
    // Taken for missing, it would lend its users the time of its inputs, and they would be fresh.
    let built = built();
    built.set_mtime("obj/named5", 4_000_000_000 * S);
    let mut tree = Tree::copy_of(built.path());
    tree.hide("obj/named5");
    let Some(mount) = Mount::new(tree.clone(), Habits::default()) else { return };
    let there = report(&unix(mount.path()));
    let listed = mount.take_counts().of(Asked::OpenDirectory);
    assert!(listed > 0, "nothing was listed");
    assert_eq!(there, report(&unix(built.path())));
    let said = ninja(mount.path(), &["-n", "-v"]).1;
    assert!(said.contains("touch last"), "ninja finds it, too: {said}");
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let believed = report(&unix(mount.path()).believing());
    assert_ne!(there, believed, "it would make no difference");
}

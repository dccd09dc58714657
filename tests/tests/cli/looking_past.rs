//! Looking past what stops ninja.

use crate::command::spaces::{SECOND, T, manifest, missing_source, program, restat, stale_manifest};
use crate::command::{build_log, deps_log, run};
use crate::{json, listed};
use serde_json::Value;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use upcheck_tests::space::Space;

#[test]
fn a_stale_manifest_is_reported_and_looked_past() {
    let space = stale_manifest();
    assert_eq!(
        run(&space, "a").answer(1),
        "2 of 2 targets are stale\n\
         The manifest build.ninja is stale itself; all else is judged by the one that is there now.\n\n\
         stale   build.ninja\n          \
         build.ninja is the manifest, which would be made again before anything else\n          \
         configure is newer than build.ninja by 5.000 s (2023-11-14 22:13:25 against 2023-11-14 22:13:20)\n\
         stale   a\n          a does not exist\n"
    );
    let report = json(&run(&space, "--format json a").answer(1));
    assert_eq!(report["stale"][0]["reasons"][0]["code"], "manifest-stale");
    assert_eq!(report["stale"][0]["reasons"][1]["code"], "input-newer");
    assert_eq!(report["summary"]["manifest_stale"], true);
    assert_eq!(report["summary"]["exact"], false);
    space.set_mtime("configure", T);
    let report = json(&run(&space, "--format json a").answer(1));
    assert_eq!(report["summary"]["manifest_stale"], false);
    assert_eq!(report["stale"].as_array().map(Vec::len), Some(1));
}

#[test]
fn a_missing_source_makes_its_own_targets_stale_and_hides_nobody() {
    let space = missing_source();
    let report = json(&run(&space, "--format json").answer(1));
    assert_eq!(report["stale"][0]["target"], "gone.o");
    assert_eq!(report["stale"][0]["reasons"][0]["code"], "input-missing");
    assert_eq!(report["stale"][0]["reasons"][0]["path"], "gone.c");
    assert_eq!(report["stale"][1]["target"], "other.o");
    let text = run(&space, "").answer(1);
    assert!(text.contains("\n          gone.c does not exist and nothing makes it\n"), "{text}");
}

#[test]
fn a_source_that_only_a_phony_target_needs_is_reported_too() {
    let space = program();
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    space.write("build.ninja", format!("{text}build most: phony prog gone\nbuild more: phony most\n"));
    for target in ["most", "more"] {
        let expected = "1 of 4 targets is stale\n\n\
                        stale   most\n          gone does not exist and nothing makes it\n";
        assert_eq!(run(&space, target).answer(1), expected);
        assert_eq!(run(&space, &format!("why {target}")).status, 1);
        let trouble = run(&space, &format!("--exact {target}")).trouble();
        assert_eq!(
            trouble,
            "upcheck: error: 'gone', needed by 'most', missing and no known rule to make it\n"
        );
    }
    assert_eq!(run(&space, "").answer(0), "fresh: nothing to do for 4 targets\n");
    #[cfg(unix)]
    {
        symlink("gone", space.path().join("gone")).expect("a link");
        let report = json(&run(&space, "--format json more").answer(1));
        assert_eq!(report["stale"][0]["target"], "most");
        assert_eq!(report["stale"][0]["reasons"][0]["code"], "unreadable");
        assert_eq!(report["errors"][0]["path"], "gone");
    }
}

#[test]
#[cfg(unix)] // Loops of links.
fn a_path_that_cannot_be_looked_at_makes_its_own_targets_stale_and_hides_nobody() {
    let space = program();
    let long = "n".repeat(300);
    let text = String::from_utf8(space.read("build.ninja")).expect("text");
    let text = text.replace("build b.o: cc b.c", &format!("build b.o: cc b.c {long}"));
    space.write("build.ninja", text);
    space.remove("a.c");
    symlink("a.c", space.path().join("a.c")).expect("a link");

    let report = json(&run(&space, "--format json").answer(1));
    let reason = |target: usize| report["stale"][target]["reasons"][0].clone();
    assert_eq!(report["stale"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        (&report["stale"][0]["target"], &report["stale"][1]["target"]),
        (&"a.o".into(), &"b.o".into())
    );
    assert_eq!(reason(0)["code"], "unreadable");
    assert_eq!(reason(0)["path"], "a.c");
    assert_eq!(reason(0)["detail"], "Too many levels of symbolic links");
    assert_eq!(reason(1)["path"], long);
    assert_eq!(reason(1)["detail"], "File name too long");
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["errors"][0]["path"], "a.c");
    assert_eq!(report["errors"][0]["message"], "stat: Too many levels of symbolic links");

    let text = run(&space, "a.o").answer(1);
    assert!(text.contains("a.c cannot be looked at: Too many levels of symbolic links\n"), "{text}");
    assert_eq!(run(&space, "check check").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(
        run(&space, "--exact").trouble(),
        "upcheck: error: stat(a.c): Too many levels of symbolic links\n"
    );
}

#[test]
fn users_of_a_stale_restat_target_are_pending() {
    let space = restat();
    assert_eq!(
        run(&space, "").answer(1),
        "1 of 4 targets is stale, 2 pending (to be made again only if what they need comes out changed)\n\n\
         3 targets are stale or pending because v.txt is newer than what was made from it \
         (changed 2023-11-14 22:13:21)\n\n\
         stale   v.h\n          v.txt is newer than the record of v.h by 1.000 s \
         (2023-11-14 22:13:21 against 2023-11-14 22:13:20)\n\
         pending a.o\n          v.h may come out changed\n\
         pending prog\n          a.o may come out changed\n"
    );
    let report = json(&run(&space, "--format json").answer(1));
    let summary = &report["summary"];
    assert_eq!(
        [&summary["targets"], &summary["fresh"], &summary["stale"], &summary["pending"]],
        [4, 1, 1, 2]
    );
    // Something of its own makes a pending target stale.
    space.set_mtime("a.c", T + SECOND);
    assert_eq!(listed(run(&space, "--format json"), 1), "v.h:stale lone:stale a.o:stale prog:stale");
    // A dry run of ninja cannot tell either, and says that all would run.
    space.set_mtime("a.c", T);
    assert_eq!(listed(run(&space, "--exact --format json"), 1), "v.h:stale a.o:pending prog:pending");
}

#[test]
fn a_target_with_a_stale_dyndep_file_is_pending_and_one_with_a_broken_one_is_stale() {
    let space = manifest(
        "rule scan\n  command = scan\nrule t\n  command = t\n\
         build dd: scan src\nbuild a: t || dd\n  dyndep = dd\n",
    );
    space.write_at("src", "", T + SECOND);
    space.write_at("a", "", T);
    space.write_at("dd", "ninja_dyndep_version = 1\nbuild a: dyndep\n", T);
    space.write(".ninja_log", build_log(&[("dd", T, "scan"), ("a", T, "t")]));
    assert_eq!(listed(run(&space, "--format json"), 1), "dd:stale a:pending");
    let text = run(&space, "").answer(1);
    assert!(text.contains("pending a\n          its dyndep file dd is about to be made again\n"), "{text}");

    space.write_at("dd", "ninja_dyndep_version = 1\nbuild a: what\n", T + SECOND);
    space.write(".ninja_log", build_log(&[("dd", T + SECOND, "scan"), ("a", T, "t")]));
    let report = json(&run(&space, "--format json").answer(1));
    assert_eq!(report["stale"][0]["target"], "a");
    assert_eq!(report["stale"][0]["reasons"][0]["why"], "dyndep-broken");
    let detail = report["stale"][0]["reasons"][0]["detail"].as_str().expect("text");
    assert!(detail.starts_with("dd:2:10: "), "{detail}");
    assert_eq!(report["errors"][0]["message"], detail);
    let text = run(&space, "").answer(1);
    assert!(text.contains("\n          its dyndep file dd is unusable: dd:2:10: "), "{text}");
    assert!(text.lines().all(|line| !line.contains('^')), "a caret has no place in a list: {text}");
}

#[test]
fn a_build_full_of_phony_targets_without_files_is_fresh_when_it_is() {
    let space = manifest(
        "rule cc\n  command = cc $in -o $out\n  depfile = $out.d\n  deps = gcc\n\
         rule link\n  command = link $in -o $out\n\
         rule custom\n  command = $COMMAND\n  restat = 1\n\
         rule regenerate\n  command = cmake --regenerate-during-build\n  generator = 1\n\
         build cmake_object_order_depends_target_app: phony || .\n\
         build app.dir/main.c.o: cc ../main.c || cmake_object_order_depends_target_app\n\
         build app: link app.dir/main.c.o\n  POST_BUILD = :\n\
         build edit_cache.util: custom\n  COMMAND = ccmake\n  pool = console\n\
         build edit_cache: phony edit_cache.util\n\
         build rebuild_cache.util: custom\n  COMMAND = cmake --regenerate\n  pool = console\n\
         build rebuild_cache: phony rebuild_cache.util\n\
         build nothing: phony\n\
         build app.exe: phony app\n\
         build all: phony app nothing\n\
         build build.ninja: regenerate | CMakeCache.txt ../CMakeLists.txt\n  pool = console\n\
         build CMakeCache.txt ../CMakeLists.txt: phony\n\
         default all\n",
    );
    let space = {
        // The build directory is one below the sources.
        let tree = Space::new();
        tree.write_at("build/build.ninja", space.read("build.ninja"), T + SECOND);
        tree
    };
    space.write_at("main.c", "", T);
    space.write_at("main.h", "", T);
    space.write_at("CMakeLists.txt", "", T);
    space.write_at("build/CMakeCache.txt", "", T);
    space.write_at("build/app.dir/main.c.o", "", T + SECOND);
    space.write_at("build/app", "", T + 2 * SECOND);
    let log = [
        ("app.dir/main.c.o", T + SECOND, "cc ../main.c -o app.dir/main.c.o"),
        ("app", T + 2 * SECOND, "link app.dir/main.c.o -o app"),
    ];
    space.write("build/.ninja_log", build_log(&log));
    space.write(
        "build/.ninja_deps",
        deps_log(&[("app.dir/main.c.o", T + SECOND, &["../main.c", "../main.h"])]),
    );

    for args in
        ["-C build", "-C build all", "-C build app.exe", "-C build --exact", "-C build --exact app.exe"]
    {
        let text = run(&space, args).answer(0);
        assert!(text.starts_with("fresh: nothing to do for "), "{args}: {text}");
    }
    let report = json(&run(&space, "-C build --format json").answer(0));
    assert_eq!(report["stale"], Value::Array(Vec::new()));
    assert_eq!(report["root_causes"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["targets"], 3);
    // A phony target with nothing to run is fresh, whatever it counts as for others.
    assert_eq!(run(&space, "-C build nothing").answer(0), "fresh: nothing to do for 1 target\n");
    assert_eq!(
        run(&space, "-C build why nothing").answer(0),
        "nothing has nothing to run, but counts as stale for what needs it\n\
         └─ nothing is a phony target without inputs and without a file: stale always\n"
    );
    assert_eq!(listed(run(&space, "-C build edit_cache --format json"), 1), "edit_cache.util:stale");

    space.set_mtime("main.h", T + 5 * SECOND);
    assert_eq!(listed(run(&space, "-C build --format json"), 1), "app.dir/main.c.o:stale app:stale");
}

#[test]
fn causes_that_make_no_target_stale_are_not_counted() {
    let space = manifest("build a: phony\nbuild b: phony a\n");
    let report = json(&run(&space, "--format json").answer(0));
    assert_eq!(report["root_causes"], Value::Array(Vec::new()));
    assert_eq!(report["summary"]["root_causes"], 0);
    let space = manifest("rule t\n  command = t\nbuild a: phony\nbuild b: phony\nbuild c: t b\n");
    let report = json(&run(&space, "--format json").answer(1));
    let causes = report["root_causes"].as_array().expect("a list");
    let causes: Vec<_> = causes.iter().map(|cause| cause["path"].as_str()).collect();
    assert_eq!(causes, [Some("b"), Some("c")]);
    assert_eq!(report["summary"]["root_causes"], 2);
}

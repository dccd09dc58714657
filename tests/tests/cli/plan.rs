//! How the disk is asked, and what it would cost elsewhere.

use crate::command::run;
use upcheck_tests::space::Space;

/// One target with a source of its own, three headers in one directory, and thirty in another.
fn headers() -> Space {
    let space = Space::new();
    let headers = |directory: &str, n| (0..n).map(|n| format!(" {directory}/{n}.h")).collect::<String>();
    let all = headers("few", 3) + &headers("many", 30);
    space.write("build.ninja", format!("rule cc\n  command = cc\nbuild out/a: cc a.c |{all}\n"));
    for path in ["a.c", "out/a"].into_iter().chain(all.split_whitespace()) {
        space.write(path, "");
    }
    space
}

#[test]
fn each_directory_is_shown_with_its_way_and_what_the_others_cost() {
    let space = headers();
    let plan = run(&space, "--explain-plan=linux").answer(1);
    let (plan, asked) = plan.split_once("asked for this check: ").expect("what was asked");
    // How it was asked is this system's own way.
    if cfg!(unix) {
        assert_eq!(asked, "35 files, 1 opening\n");
    }
    assert_eq!(
        plan,
        "35 files in 4 directories: about 23.8 µs, with warm caches and one thread\n\
         \n\
         files  by path  opened  listed  so       directory\n    \
             1      0.7     1.7       -  by path  .\n    \
             3      2.1     3.1       -  by path  few\n   \
            30     21.0    20.4       -  opened   many\n    \
             1      0.7     1.8       -  by path  out\n\
         \n\
         µs: each file by its path; from the open directory; from a listing with nothing else in it\n\
         \n"
    );
    let windows = run(&space, "check --explain-plan=windows").answer(1);
    assert!(
        windows.contains("\n   30    825.0   852.5    56.7  listed, 1,566 entries at most  many\n"),
        "{windows}"
    );
    assert!(
        windows.contains("\n    3     82.5   110.0    43.2  by path                        few\n"),
        "{windows}"
    );
    let by_name = run(&space, "check --explain-plan=windows-by-name").answer(1);
    assert!(by_name.contains("  listed, 342 entries at most  many\n"), "{by_name}");
}

#[test]
fn what_is_expected_of_another_platform_is_the_sum_of_what_the_table_says_also_where_nothing_is_listed() {
    let plan = run(&headers(), "check --explain-plan=windows --confirm-all").answer(1);
    assert!(plan.starts_with("35 files in 4 directories: about 990.0 µs, "), "{plan}");
}

#[test]
fn a_project_has_a_plan_too() {
    let space = headers();
    let plan = run(&space, "-i many/*.h -o out/a --explain-plan=macos").answer(1);
    assert!(plan.starts_with("31 files in 2 directories: "), "{plan}");
    assert!(plan.contains("  listed, 142 entries at most  many\n"), "{plan}");
}

#[test]
fn a_plan_is_shown_whatever_was_kept_and_whoever_is_fresh() {
    let space = headers();
    let plan = "check --explain-plan -i many/*.h -o out/a --policy newer --confirm-all";
    let all = run(&space, plan);
    assert!(all.stdout.contains("asked for this check: 31 files, "), "{}", all.stdout);
    for _ in 0..2 {
        assert_eq!(run(&space, plan).stdout, all.stdout);
    }
}

#[test]
fn a_plan_has_no_other_format() {
    let space = headers();
    let trouble = "upcheck: error: --explain-plan is for people, and may change: it has no other format\n";
    assert_eq!(run(&space, "--explain-plan --format names").trouble(), trouble);
    assert_eq!(run(&space, "--explain-plan -q").answer(1), "");
}

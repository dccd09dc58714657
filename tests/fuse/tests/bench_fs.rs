//! The rate card of a file system far away.
#![cfg(target_os = "linux")]

use std::process::Command;
use upcheck_fuse::{Asked, Habits, Mount, Tree};
use upcheck_tests::tools;

#[test]
fn one_stat_after_another_is_measured_as_such_and_the_plan_as_a_check_makes_it() {
    let mut tree = Tree::new();
    (0..120).for_each(|n| tree.write(format!("src/d{}/file{n}.c", n % 4), b"text", n));
    let Some(mount) = Mount::new(tree, Habits::default()) else { return };
    let ask = |format: &str| {
        let mut command = Command::new(tools::upcheck());
        let args = ["bench-fs", "--rounds", "2", "--format", format];
        let output = command.args(args).current_dir(mount.path()).output().expect("upcheck starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert!(!ask("text").is_empty());
    let card: serde_json::Value = serde_json::from_str(&ask("json")).expect("JSON");
    assert_eq!((&card["far"], &card["file_system"]["kind"]), (&true.into(), &"fuse".into()));
    let rates = card["rates"].as_array().expect("a list").iter();
    let rates: Vec<_> = rates.map(|rate| (rate["code"].as_str().expect("text"), &rate["count"])).collect();
    let expected = [
        ("list", 4),
        ("stat-by-path", 120),
        ("stat-from-server", 120),
        ("missing-by-path", 120),
        ("open", 120),
    ];
    assert!(rates.iter().zip(&expected).all(|((code, n), (name, count))| code == name && **n == *count));
    assert_eq!(rates.len(), expected.len(), "{rates:?}");
    let all = &card["choices"][0];
    assert_eq!(
        (&all["code"], &all["changed"], &all["calls"]["stats"]),
        (&"all".into(), &0.into(), &120.into())
    );
    // The first question of each round past the system's memory reached whoever keeps the files; `getattr`, that is.
    assert!(mount.take_counts().of(Asked::Attributes) >= 2 * 2 * 120);
}

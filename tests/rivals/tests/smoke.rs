//! A small round of the race: the generated build is fresh for ninja as well as for upcheck.

use std::process::Command;

#[test]
fn ninja_and_upcheck_find_the_generated_build_fresh_and_are_timed() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for round in ["made", "used again"] {
        let output = Command::new(env!("CARGO_BIN_EXE_rivals"))
            .args(["--targets", "300", "--rounds", "1", "--rival", "nothing=true", "--dir"])
            .arg(dir.path())
            .output()
            .expect("rivals starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{round}: {text}{errors}");
        for name in
            ["upcheck check  ", "ninja 1.13 -n  ", "nothing  ", "ninja 1.13 -n / ours ", "nothing / ours "]
        {
            assert_eq!(text.lines().filter(|line| line.starts_with(name)).count(), 1, "{name}: {text}");
        }
    }
}

#[test]
fn a_folder_with_something_else_in_it_is_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(dir.path().join("precious"), "").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_rivals")).arg("--dir").arg(dir.path()).output();
    assert!(!output.expect("rivals starts").status.success());
    assert!(dir.path().join("precious").exists());
}

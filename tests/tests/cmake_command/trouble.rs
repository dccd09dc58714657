//! Build directories that cannot be asked about, and what the command says of them.

use crate::project::{Kind, Project};
use std::fs;

const MAKE: Kind = Kind { cmake: "3.25", generator: "Unix Makefiles" };
const NINJA: Kind = Kind { cmake: "4", generator: "Ninja" };

#[test]
fn without_a_reply_it_is_said_how_to_get_one_and_nothing_is_written() {
    for kind in [MAKE, NINJA] {
        let project = Project::written(kind);
        project.configure();
        let trouble = project.upcheck(&["--from", "cmake"]).trouble();
        assert!(trouble.contains("--write-query"), "{kind:?}: {trouble}");
        assert!(!project.build_dir().join(".cmake").exists(), "{kind:?}: nobody asked for the query");
        project.upcheck(&["--write-query"]).answer(0);
        let trouble = project.upcheck(&["--from", "cmake"]).trouble();
        assert!(trouble.contains("cmake build"), "{kind:?}: CMake has to run: {trouble}");
        project.configure();
        project.upcheck(&["--from", "cmake"]).answer(1);
    }
}

#[test]
fn a_build_directory_that_was_moved_is_refused() {
    for kind in [MAKE, NINJA] {
        let project = Project::built(kind);
        let elsewhere = project.build_dir().with_file_name("elsewhere");
        fs::rename(project.build_dir(), &elsewhere).expect("another name");
        fs::create_dir(project.build_dir()).expect("a directory");
        let trouble = project.upcheck(&["-C", "elsewhere", "--from", "cmake"]);
        // The last -C counts, or clap refuses two of them: either way nothing is called fresh.
        assert_eq!(trouble.status, 2, "{kind:?}: {trouble:?}");
        fs::remove_dir(project.build_dir()).expect("it is empty");
        fs::rename(&elsewhere, project.build_dir()).expect("its old name");
        project.upcheck(&["--from", "cmake"]).answer(0);
    }
}

#[test]
fn a_half_written_reply_is_no_answer() {
    let project = Project::built(NINJA);
    let replies = project.build_dir().join(".cmake/api/v1/reply");
    let codemodel = fs::read_dir(&replies)
        .expect("replies")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("codemodel")))
        .expect("a codemodel");
    let whole = fs::read(&codemodel).expect("a file");
    fs::write(&codemodel, &whole[..whole.len() / 2]).expect("half of it");
    let trouble = project.upcheck(&["--from", "cmake"]).trouble();
    assert!(trouble.contains("codemodel"), "{trouble}");
    fs::remove_file(&codemodel).expect("a file");
    assert!(project.upcheck(&["--from", "cmake"]).trouble().contains("codemodel"));
    fs::write(&codemodel, &whole).expect("all of it");
    project.upcheck(&["--from", "cmake"]).answer(0);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let project = Project::built(NINJA);
    for (args, words) in [
        (&["--from", "ninja", "--target", "app"][..], "--from names something else"),
        (&["--target", "app", "-f", "build.ninja"], "--file is not for CMake"),
        (&["--target", "app", "-o", "x"], "only one can be meant"),
    ] {
        let trouble = project.upcheck(args).trouble();
        assert!(trouble.contains(words), "{args:?}: {trouble}");
    }
}

#[test]
fn the_doctor_asks_nothing_of_cmake() {
    let project = Project::written(MAKE);
    project.configure();
    let ran = project.upcheck(&["doctor"]);
    assert!(ran.status < 2, "without a reply: {ran:?}");
}

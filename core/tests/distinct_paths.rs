//! Paths that a caller numbers himself, as [`Project::add_distinct`] takes them, are believed once they are proved.

use std::path::Path;
use upcheck::Project;
use upcheck::collect::os_disk;
use upcheck::project::{DescribeError, Description, Options, ProjectError};

/// Two names, which are one file if the project's base is `/b`.
fn project() -> Project {
    let mut project = Project::new();
    let first = project.add_distinct(b"/b/oosrc", &[4, 5, 8]).expect("three paths");
    let file = |n: usize| upcheck::FileId::new(first.index() + n);
    let target = Description { outputs: &[file(0)], explicit: &[file(2)], ..Description::default() };
    project.add(&target).expect("a target");
    project
}

fn ask(project: &mut Project) -> Result<(), ProjectError> {
    let disk = os_disk(Path::new(".")).expect("a directory");
    let requests = project.default_requests();
    project.check(&disk, None, &requests, Options::default()).map(|_| ())
}

#[test]
fn a_base_that_is_set_after_a_question_makes_the_next_one_prove_the_paths_again() {
    let mut project = project();
    ask(&mut project).expect("without a base they are different files");
    project.set_base(b"/b");
    let refused = ask(&mut project).expect_err("o and /b/o are one file now");
    let ProjectError::Description(DescribeError::NotCanonical(path)) = refused else { panic!("{refused:?}") };
    assert_eq!(path, b"/b/o");
}

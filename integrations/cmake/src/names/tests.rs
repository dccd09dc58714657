//! Names, on replies that are made up.

use super::*;

fn target(name: &str, kind: &str, directory: &str) -> Target {
    Target {
        name: name.into(),
        kind: kind.into(),
        directory: directory.as_bytes().to_vec(),
        ..Target::default()
    }
}

fn reply(configurations: Vec<Configuration>) -> Reply {
    Reply {
        is_multi_config: configurations.len() > 1,
        build: b"/b".to_vec(),
        source: b"/s".to_vec(),
        configurations,
        ..Reply::default()
    }
}

fn one(targets: Vec<Target>) -> Reply {
    reply(vec![Configuration { targets, ..Configuration::default() }])
}

fn owner(reply: &Reply, path: &str) -> Option<String> {
    Names::new(reply, 0).target(path.as_bytes()).map(|target| target.name.clone())
}

#[test]
fn a_generated_source_belongs_to_the_target_that_is_made_first() {
    let mut targets =
        vec![target("a", "EXECUTABLE", ""), target("b", "EXECUTABLE", ""), target("c", "UTILITY", "")];
    for target in &mut targets {
        target.generated.push(b"/b/version.h".to_vec());
    }
    targets[0].depends = vec![1];
    targets[1].depends = vec![2];
    assert_eq!(owner(&one(targets.clone()), "version.h").as_deref(), Some("c"));
    // In a circle, any of them.
    targets[2].depends = vec![0, 99];
    assert!(owner(&one(targets), "version.h").is_some());
}

#[test]
fn what_a_target_makes_is_its_own_whatever_others_are_called() {
    let mut targets = vec![target("odd", "UTILITY", ""), target("x", "EXECUTABLE", "")];
    targets[1].artifacts.push(b"/b/odd".to_vec());
    let reply = one(targets);
    assert_eq!(owner(&reply, "odd").as_deref(), Some("x"));
    assert_eq!(owner(&reply, "x").as_deref(), Some("x"));
    assert_eq!(owner(&reply, "CMakeFiles/odd").as_deref(), Some("odd"));
    // Ninja would make x.
    assert_eq!(Names::new(&reply, 0).requests("odd"), Ok(vec![b"CMakeFiles/odd".to_vec()]));
    assert_eq!(Names::new(&reply, 0).requests("x"), Ok(vec![b"x".to_vec(), b"odd".to_vec()]));
}

#[test]
fn targets_may_be_called_like_directories_and_in_any_script() {
    let targets = vec![target("lib", "UTILITY", "lib"), target("größe", "EXECUTABLE", "lib")];
    let reply = one(targets);
    assert_eq!(owner(&reply, "lib/CMakeFiles/lib.dir/x.o").as_deref(), Some("lib"));
    assert_eq!(owner(&reply, "lib/lib").as_deref(), Some("lib"));
    assert_eq!(owner(&reply, "lib").as_deref(), Some("lib"));
    assert_eq!(owner(&reply, "lib/other"), None);
    assert_eq!(owner(&reply, "/b/lib/CMakeFiles/größe.dir/a/b/x.o").as_deref(), Some("größe"));
    assert_eq!(owner(&reply, "CMakeFiles/größe.dir/x.o"), None);
    assert_eq!(owner(&reply, "/elsewhere/CMakeFiles/lib.dir/x.o"), None);
    let names = Names::new(&reply, 0);
    assert_eq!(names.requests("lib/all"), Ok(vec![b"lib/all".to_vec()]));
    assert_eq!(
        names.requests("lib"),
        Ok(vec![b"lib".to_vec(), b"lib/lib".to_vec(), b"lib/CMakeFiles/lib".to_vec()])
    );
    assert!(names.requests("li/all").is_err());
    assert_eq!(
        names.requests("grosse").expect_err("no target").to_string(),
        "unknown target 'grosse', did you mean 'größe'?"
    );
}

#[test]
fn versions_of_libraries_and_programs_belong_to_their_targets() {
    let mut targets = vec![target("net", "SHARED_LIBRARY", ""), target("app", "EXECUTABLE", "")];
    targets[0].artifacts.push(b"/b/libnet.so".to_vec());
    targets[1].artifacts.push(b"/b/my-app".to_vec());
    let reply = one(targets);
    assert_eq!(owner(&reply, "libnet.so.1.2").as_deref(), Some("net"));
    assert_eq!(owner(&reply, "libnet.so.").as_deref(), Some("net"));
    assert_eq!(owner(&reply, "my-app-1.2").as_deref(), Some("app"));
    assert_eq!(owner(&reply, "my-app-x"), None);
    assert_eq!(owner(&reply, "libnet.so-1"), None);
}

#[test]
fn a_target_of_another_configuration_is_said_to_be_there() {
    let configuration = |name: &str, target: Target| Configuration {
        name: name.into(),
        targets: vec![target],
        ..Configuration::default()
    };
    let both = reply(vec![
        configuration("Debug", target("check", "UTILITY", "")),
        configuration("Release", target("package_all", "UTILITY", "")),
    ]);
    let debug = Names::new(&both, 0);
    assert_eq!(debug.manifest(), "build-Debug.ninja");
    assert_eq!(
        debug.requests("check"),
        Ok(["check:Debug", "check", "CMakeFiles/check-Debug"].map(|name| name.as_bytes().to_vec()).into())
    );
    assert_eq!(
        debug.requests("package_all").expect_err("not here").to_string(),
        "unknown target 'package_all' in configuration 'Debug', only in 'Release'"
    );
    for path in [
        "check:Debug",
        "CMakeFiles/check-Debug",
        "CMakeFiles/Debug/check.util",
        "CMakeFiles/check.dir/Debug/x.o",
    ] {
        assert_eq!(debug.target(path.as_bytes()).map(|target| &*target.name), Some("check"), "{path}");
    }
}

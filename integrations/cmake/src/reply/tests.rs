//! Damaged replies: an error or an answer, never a panic.

use super::*;
use std::fs;

/// A reply as CMake writes one, with two configurations.
fn plant(build: &Path) -> Vec<std::path::PathBuf> {
    let folder = build.join(".cmake/api/v1/reply");
    fs::create_dir_all(&folder).expect("directories");
    fs::write(build.join("CMakeCache.txt"), "").expect("a file");
    // CMake writes slashes on Windows, too.
    let shown = build.display().to_string().replace(std::path::MAIN_SEPARATOR, "/");
    let target = |name: &str| {
        format!(
            r#"{{"name": "{name}", "type": "EXECUTABLE", "id": "{name}::@1", "paths": {{"build": "d", "source": "d"}},
            "artifacts": [{{"path": "d/{name}"}}], "dependencies": [{{"id": "b::@1", "backtrace": 1}}],
            "sources": [{{"path": "d/x.c"}}, {{"path": "{shown}/v.h", "isGenerated": true}},
                {{"path": "{shown}/\u00e4.txt.rule", "isGenerated": true}}], "link": {{"language": "C"}}}}"#
        )
    };
    let configuration = |name: &str| {
        format!(
            r#"{{"name": "{name}", "projects": [], "directories": [{{"build": "."}}], "targets": [
            {{"id": "a::@1", "jsonFile": "target-a.json", "name": "a"}},
            {{"id": "b::@1", "jsonFile": "target-b.json", "name": "b"}}], "abstractTargets": [{{"name": "i"}}]}}"#
        )
    };
    let files = [
        (
            "index-2026-01-01T00-00-00-0000.json",
            r#"{"cmake": {"generator": {"multiConfig": true, "name": "Ninja Multi-Config"},
            "version": {"string": "4.4.4", "major": 4}}, "objects": [
            {"kind": "cache", "jsonFile": "cache-v2-1.json", "version": {"major": 2, "minor": 0}},
            {"kind": "codemodel", "jsonFile": "codemodel-v2-1.json", "version": {"major": 2, "minor": 11}},
            {"kind": "cmakeFiles", "jsonFile": "cmakeFiles-v1-1.json", "version": {"major": 1, "minor": 1}}],
            "reply": {}}"#
                .to_owned(),
        ),
        (
            "codemodel-v2-1.json",
            format!(
                r#"{{"configurations": [{}, {}], "kind": "codemodel",
                "paths": {{"build": "{shown}", "source": "/s"}}}}"#,
                configuration("Debug"),
                configuration("Release")
            ),
        ),
        (
            "cmakeFiles-v1-1.json",
            r#"{"version": {"major": 1, "minor": 1}, "inputs": [{"path": "CMakeLists.txt"},
            {"path": "/usr/share/x.cmake", "isCMake": true, "isExternal": true}], "globsDependent": [
            {"expression": "/s/*.c", "recurse": true, "relative": "/s", "paths": ["a.c"]}]}"#
                .to_owned(),
        ),
        ("target-a.json", target("a")),
        ("target-b.json", target("b")),
    ];
    files
        .into_iter()
        .map(|(name, text)| {
            let path = folder.join(name);
            fs::write(&path, text).expect("a file");
            path
        })
        .collect()
}

#[test]
fn all_parts_of_a_reply_are_read() {
    let space = tempfile::tempdir().expect("a directory");
    plant(space.path());
    let reply = read(space.path()).expect("a reply");
    let made = |path: &str| {
        let path = space.path().join(path).display().to_string();
        path.replace(std::path::MAIN_SEPARATOR, "/").into_bytes()
    };
    assert_eq!((&*reply.cmake_version, &*reply.generator), ("4.4.4", "Ninja Multi-Config"));
    assert_eq!(reply.configurations.len(), 2);
    let Configuration { name, targets, abstract_targets } = &reply.configurations[1];
    assert_eq!((&**name, targets.len(), &abstract_targets[..]), ("Release", 2, &["i".to_owned()][..]));
    assert_eq!((&*targets[0].directory, &targets[0].depends[..]), (&b"d"[..], &[1][..]));
    assert_eq!(targets[0].artifacts, [made("d/a")]);
    assert_eq!(targets[0].generated, [made("v.h"), made("ä.txt")]);
    assert_eq!(reply.inputs[0].path, b"/s/CMakeLists.txt");
    let glob = &reply.globs.expect("globs")[0];
    assert!(glob.recurse && !glob.follow_symlinks && glob.relative.as_deref() == Some(b"/s"));
}

#[test]
fn a_damaged_reply_is_an_error_or_an_answer_but_never_a_panic() {
    let space = tempfile::tempdir().expect("a directory");
    for path in plant(space.path()) {
        let whole = fs::read(&path).expect("a file");
        for length in (0..whole.len()).step_by(7) {
            fs::write(&path, &whole[..length]).expect("a file");
            let error = read(space.path()).expect_err("half a file").to_string();
            assert!(error.contains(&*path.to_string_lossy()), "{error}");
        }
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.clone();
            for damage in [b'"', b'}', b'9', b'/', bytes[at] ^ 0x80] {
                bytes[at] = damage;
                fs::write(&path, &bytes).expect("a file");
                if let Ok(reply) = read(space.path()) {
                    for configuration in 0..reply.configurations.len() {
                        let names = crate::names::Names::new(&reply, configuration);
                        let _ = (names.position(b"d/a"), names.requests("b"), names.requests("none"));
                    }
                }
            }
        }
        fs::write(&path, &whole).expect("a file");
    }
    assert!(read(space.path()).is_ok());
}

#[test]
fn a_folder_in_the_place_of_a_file_is_named() {
    let space = tempfile::tempdir().expect("a directory");
    for path in plant(space.path()) {
        let whole = fs::read(&path).expect("a file");
        fs::remove_file(&path).expect("gone");
        fs::create_dir(&path).expect("a directory");
        let error = read(space.path()).expect_err("an error").to_string();
        let cause = if cfg!(windows) { "Access denied." } else { "Is a directory" };
        assert_eq!(error, format!("reading '{}': {cause}", path.display()));
        fs::remove_dir(&path).expect("gone");
        fs::write(&path, whole).expect("a file");
    }
}

/// What CMake 4.4.4 has for Windows, all of which begin the same way: as the cache and the index have it. Those of which there
/// is no index could not be run where this was recorded.
#[test]
fn generators_of_windows_that_nobody_here_can_read_are_named() {
    const GENERATORS: &[(&str, Option<&str>)] = &[
        ("MinGW Makefiles", Some("MinGW Makefiles")),
        ("MSYS Makefiles", Some("MSYS Makefiles")),
        ("NMake Makefiles JOM", Some("NMake Makefiles JOM")),
        ("Borland Makefiles", Some("Borland Makefiles")),
        ("NMake Makefiles", None),
        ("Visual Studio 17 2022", None),
    ];
    for &(name, index) in GENERATORS {
        let space = tempfile::tempdir().expect("a directory");
        let build = space.path();
        let expected = format!(
            "'{}' was made for the generator '{name}': only those of Ninja, Ninja Multi-Config and Unix Makefiles can be \
             read",
            build.display()
        );
        // Before CMake was asked for anything.
        let cache = format!(
            "# This is the CMakeCache file.\r\n# For build in directory: z:/b\r\n\r\n//Name of generator.\r\n\
             CMAKE_GENERATOR:INTERNAL={name}\r\n//Generator instance identifier.\r\nCMAKE_GENERATOR_INSTANCE:INTERNAL=\r\n"
        );
        fs::write(build.join("CMakeCache.txt"), &cache).expect("a file");
        assert_eq!(read(build).expect_err("an error").to_string(), expected);
        // And when it has answered.
        let Some(index) = index else { continue };
        let index = format!(
            r#"{{"cmake" : {{"generator" : {{"multiConfig" : false,"name" : "{index}"}},
            "paths" : {{"root" : "Z:/cmake/data/share/cmake-4.4"}},
            "version" : {{"isDirty" : false,"major" : 4,"minor" : 4,"patch" : 4,"string" : "4.4.4","suffix" : ""}}}},
            "objects" : [{{"jsonFile" : "codemodel-v2-5e7e4af49910f54df883.json","kind" : "codemodel",
            "version" : {{"major" : 2,"minor" : 11}}}},
            {{"jsonFile" : "cmakeFiles-v1-89fb98757ada28fc5739.json","kind" : "cmakeFiles",
            "version" : {{"major" : 1,"minor" : 1}}}}], "reply" : {{}}}}"#
        );
        plant(build);
        let at = build.join(".cmake/api/v1/reply/index-2026-01-01T00-00-00-0000.json");
        fs::write(at, index).expect("a file");
        assert_eq!(read(build).expect_err("an error").to_string(), expected);
    }
}

#[test]
fn a_generator_that_can_be_read_is_asked_for_its_reply() {
    let space = tempfile::tempdir().expect("a directory");
    for cache in ["", "CMAKE_GENERATOR:INTERNAL=Ninja\r\n", "CMAKE_GENERATOR:INTERNAL=Unix Makefiles\n"] {
        fs::write(space.path().join("CMakeCache.txt"), cache).expect("a file");
        let error = read(space.path()).expect_err("an error").to_string();
        assert!(error.starts_with("CMake was not asked"), "{error}");
    }
}

//! The two halves of the bridge are of one release, which is written down exactly.

use std::fs;
use upcheck_tests::tools::root;

/// The version that a manifest asks for.
fn asked_for(manifest: &str, package: &str) -> String {
    let line = manifest.lines().find_map(|line| line.strip_prefix(&format!("{package} = ")));
    line.unwrap_or_else(|| panic!("{package} is not asked for")).trim_matches('"').to_owned()
}

/// The versions that are locked.
fn locked(lock: &str, package: &str) -> Vec<String> {
    let packages = lock.split("[[package]]").filter(|text| text.contains(&format!("name = \"{package}\"\n")));
    let version =
        |text: &str| text.lines().find_map(|line| line.strip_prefix("version = ").map(str::to_owned));
    packages.map(|text| version(text).expect("a version").trim_matches('"').to_owned()).collect()
}

#[test]
fn cxx_is_pinned_to_one_exact_release() {
    let read = |path| fs::read_to_string(root().join(path)).expect(path);
    let (manifest, lock) = (read("ffi/cxx/Cargo.toml"), read("Cargo.lock"));
    let release = asked_for(&manifest, "cxx");
    let number = release.strip_prefix('=').expect("an exact version");
    assert!(number.split('.').count() == 3, "{number} is not exact");
    assert_eq!(asked_for(&manifest, "cxx-build"), release);
    for package in ["cxx", "cxx-build", "cxxbridge-macro", "cxxbridge-flags"] {
        assert_eq!(locked(&lock, package), [number], "{package}");
    }
}

//! Which files a question is about. A path may stand for another one in another process: `/dev/stdin` does, `/proc/self/cwd`,
//! and that of a directory over which something was mounted since the process has gone there.

use std::path::Path;

/// What a directory and a manifest, which lies in it where its path is relative, are to the system: the same text for two processes
/// for which both are the same files, or are not there. Empty where the system has no numbers for files that cost nothing.
#[must_use]
pub fn identity(directory: &Path, manifest: &Path) -> String {
    of([directory, &directory.join(manifest)])
}

#[cfg(unix)]
fn of(paths: [&Path; 2]) -> String {
    use std::os::unix::fs::MetadataExt;
    let [directory, manifest] = paths.map(|path| {
        let found = std::fs::metadata(path);
        found.map_or("-".to_owned(), |found| format!("{:x}:{:x}", found.dev(), found.ino()))
    });
    format!("{directory} {manifest}")
}

#[cfg(not(unix))]
fn of(_: [&Path; 2]) -> String {
    String::new()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_told_apart_whatever_they_are_called() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path();
        std::fs::write(path.join("a"), "").expect("a file");
        std::fs::hard_link(path.join("a"), path.join("b")).expect("a link");
        std::fs::write(path.join("c"), "").expect("a file");
        let its = |name: &str| identity(path, Path::new(name));
        assert_eq!(its("a"), its("b"));
        assert_eq!(its("a"), identity(&path.join("."), &path.join("a")));
        assert_ne!(its("a"), its("c"));
        assert_ne!(its("a"), its("nothing"));
        assert_ne!(its("a"), identity(Path::new("/"), &path.join("a")));
    }
}

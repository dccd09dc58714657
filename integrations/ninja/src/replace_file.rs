//! Puts a file in the place of another one, as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file beside `path`, waits until it is on the disk, and gives it that name. Who may read or write it stays as it
/// was. Where `path` is a link, what it leads to is replaced.
///
/// # Errors
/// Whatever the operating system says. What was there is there then.
pub fn replace_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let path = match fs::canonicalize(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => PathBuf::from("."),
        Some(folder) => folder.to_owned(),
        None => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let beside = folder.join(name);
    let written = write(&beside, &path, content);
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

fn write(beside: &Path, path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(beside)?;
    file.write_all(content)?;
    if let Ok(before) = fs::metadata(path) {
        file.set_permissions(before.permissions())?;
    }
    file.sync_all()?;
    drop(file);
    fs::rename(beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left_or_changed() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let path = folder.path().join("log");
        replace_file(&path, b"one").expect("it can be");
        let mut permissions = fs::metadata(&path).expect("it is there").permissions();
        // On Windows such a file cannot be replaced.
        if cfg!(unix) {
            permissions.set_readonly(true);
        }
        fs::set_permissions(&path, permissions.clone()).expect("it is ours");
        replace_file(&path, b"two").expect("it can be");
        assert_eq!(fs::read(&path).expect("it is there"), b"two");
        assert_eq!(fs::metadata(&path).expect("it is there").permissions(), permissions);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn what_cannot_be_replaced_stays() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(folder.path().join("log")).expect("to be made");
        assert!(replace_file(&folder.path().join("log"), b"two").is_err());
        assert!(replace_file(&folder.path().join("none/log"), b"two").is_err());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        assert!(folder.path().join("log").is_dir());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(folder.path().join("elsewhere")).expect("to be made");
        fs::write(folder.path().join("elsewhere/log"), "one").expect("to be made");
        std::os::unix::fs::symlink("elsewhere/log", folder.path().join("log")).expect("a link");
        replace_file(&folder.path().join("log"), b"two").expect("it can be");
        assert_eq!(fs::read(folder.path().join("elsewhere/log")).expect("it is there"), b"two");
        assert!(folder.path().join("log").is_symlink());
    }
}

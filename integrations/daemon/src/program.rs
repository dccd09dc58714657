//! Which program a process runs, so that an answer always comes from the program that was asked.

use std::io;
use std::path::{Path, PathBuf};

/// The program of this process, as it was on the disk when it began.
#[derive(Clone, Debug)]
pub struct Program {
    id: String,
    /// Which file it was.
    stamp: String,
    path: PathBuf,
}

impl Program {
    /// The one of this process, of that version.
    ///
    /// # Errors
    /// Where the system does not say.
    #[cfg(target_os = "linux")]
    pub fn of_this_process(version: &str) -> io::Result<Self> {
        // By this name the file is reached even if another one has taken its place.
        let file = Path::new("/proc/self/exe");
        let stamp = stamp(file, version)?;
        Ok(Self { id: stamp.clone(), stamp, path: std::fs::read_link(file)? })
    }

    /// The one of this process, of that version. If another file has taken its place by now, it is taken for that one.
    ///
    /// # Errors
    /// Where the system does not say.
    #[cfg(not(target_os = "linux"))]
    pub fn of_this_process(version: &str) -> io::Result<Self> {
        let path = std::env::current_exe()?;
        let stamp = stamp(&path, version)?;
        // Where files have no numbers, one that was copied could look the same.
        let place = std::fs::canonicalize(&path)?;
        let place = place.as_os_str().as_encoded_bytes().escape_ascii().to_string();
        Ok(Self { id: format!("{stamp} {place}"), stamp, path })
    }

    /// What a driver says that uses the library of that version, and is no command.
    #[must_use]
    pub fn library(version: &str) -> String {
        format!("{version} library")
    }

    /// Its version, and which file it is: the same for two processes that run the same file, as it was.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where it lies; where it lay, if another one has taken its place.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn path(&self) -> PathBuf {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        /// What the kernel says of a file whose name is gone.
        const GONE: &[u8] = b" (deleted)";
        let path = self.path.clone().into_os_string().into_vec();
        match path.strip_suffix(GONE) {
            Some(known) if !self.path.exists() => OsString::from_vec(known.to_vec()).into(),
            _ => self.path.clone(),
        }
    }

    /// Where it lies; where it lay, if another one has taken its place.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Whether there is another program at its path now. One that is gone may come back, and one that cannot be run may become one
    /// that can: programs are installed in several steps.
    #[must_use]
    pub fn is_replaced(&self, version: &str) -> bool {
        let path = self.path();
        stamp(&path, version).is_ok_and(|now| now != self.stamp) && may_run(&path)
    }
}

#[cfg(unix)]
fn may_run(file: &Path) -> bool {
    rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
}

/// There is no such right.
#[cfg(windows)]
fn may_run(_: &Path) -> bool {
    true
}

#[cfg(unix)]
fn stamp(file: &Path, version: &str) -> io::Result<String> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::metadata(file)?;
    let (dev, ino, size) = (meta.dev(), meta.ino(), meta.size());
    Ok(format!("{version} {dev:x}:{ino:x}:{size:x}:{:x}.{:x}", meta.mtime(), meta.mtime_nsec()))
}

/// Times in units of 100 nanoseconds since 1601.
#[cfg(windows)]
fn stamp(file: &Path, version: &str) -> io::Result<String> {
    use std::os::windows::fs::MetadataExt;
    let meta = std::fs::metadata(file)?;
    let (size, created, written) = (meta.file_size(), meta.creation_time(), meta.last_write_time());
    Ok(format!("{version} {size:x}:{created:x}:{written:x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is copied first, and may be run later.
    #[cfg(unix)]
    #[test]
    fn what_cannot_be_run_has_not_replaced_it() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().expect("a file");
        let (id, stamp) = ("1".to_owned(), "another".to_owned());
        let program = Program { id, stamp, path: file.path().to_owned() };
        for (mode, is_replaced) in [(0o600, false), (0o700, true)] {
            std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(program.is_replaced("1"), is_replaced, "{mode:o}");
        }
    }

    #[test]
    fn the_program_of_this_process_is_the_same_each_time_and_not_replaced() {
        let program = || Program::of_this_process("1").expect("a program");
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::MetadataExt;
            // qemu opens the program that it runs by this name, and looks at itself.
            let itself = Path::new("/proc/self/exe");
            let opened = std::fs::File::open(itself).and_then(|file| file.metadata()).expect("a program");
            if opened.ino() != std::fs::metadata(itself).expect("a program").ino() {
                let _ = io::Write::write_all(
                    &mut io::stderr(),
                    b"NOT TESTED: which program this is, under qemu\n",
                );
                return;
            }
        }
        assert_eq!(program().id(), program().id());
        assert!(!program().is_replaced("1"));
        assert!(program().path().exists());
    }
}

//! Writing beneath the build directory, and nowhere else: no link is followed on the way, whoever has put it there.

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Timespec, Timestamps};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use upcheck::Mtime;

/// The build directory, open.
pub(crate) struct Folder {
    base: Arc<OwnedFd>,
}

/// A file beside the one whose place it will take. It goes away with the value, unless it has taken that place.
///
/// There may be as many as a build has outputs, and a process may have a thousand files open: so its directory is not kept
/// open, but opened anew, in the same way, each time.
pub(crate) struct Staged {
    base: Arc<OwnedFd>,
    /// The names of the directories on the way, which were looked at.
    way: Vec<Vec<u8>>,
    beside: String,
    name: Vec<u8>,
    is_placed: bool,
}

impl Folder {
    pub(crate) fn open(base: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { base: Arc::new(rustix::fs::open(base, flags, Mode::empty())?) })
    }

    /// Keeps others who restore out until this value is gone, or the process; `false`: somebody else is here. Nothing is
    /// written for that. Where the file system has no locks, nobody is kept out.
    pub(crate) fn lock(&self) -> bool {
        !matches!(
            rustix::fs::flock(&self.base, FlockOperation::NonBlockingLockExclusive),
            Err(Errno::WOULDBLOCK)
        )
    }

    /// Makes a file beside the one that `name` names from here. Directories on the way are made where they are missing.
    ///
    /// # Errors
    /// When something on the way is no directory, but a link for instance, or whatever the operating system says.
    pub(crate) fn stage(&self, name: &[u8], is_executable: bool) -> io::Result<(Staged, File)> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut parts: Vec<&[u8]> = name.split(|&byte| byte == b'/').collect();
        let is_plain = |part: &&[u8]| !matches!(*part, b"" | b"." | b"..") && !part.contains(&0);
        let last = parts.pop().filter(is_plain).ok_or(io::ErrorKind::InvalidInput)?;
        if !parts.iter().all(is_plain) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let way: Vec<Vec<u8>> = parts.into_iter().map(<[u8]>::to_vec).collect();
        let directory = enter(&self.base, &way, true)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let beside = format!(".upcheck-{}-{number}.new", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(if is_executable { 0o777 } else { 0o666 });
        let file = rustix::fs::openat(&directory, beside.as_str(), flags, mode)?;
        let base = Arc::clone(&self.base);
        Ok((Staged { base, way, beside, name: last.to_vec(), is_placed: false }, file.into()))
    }

    /// The time that a file gets that is written here now, by the file system's own clock.
    pub(crate) fn now(&self) -> io::Result<Mtime> {
        let (staged, file) = self.stage(b"now", false)?;
        let status = rustix::fs::fstat(&file)?;
        drop(staged);
        Ok(upcheck::Meta::mtime_from(status.st_mtime, i64::try_from(status.st_mtime_nsec).unwrap_or(0)))
    }
}

/// Opens the directory at the end of a way, over no link. With `makes` what is missing is made.
fn enter(base: &OwnedFd, way: &[Vec<u8>], makes: bool) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut directory = base.try_clone()?;
    for part in way {
        let name = OsStr::from_bytes(part);
        directory = match rustix::fs::openat(&directory, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if makes => {
                match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&directory, name, flags, Mode::empty())?
            }
            found => found?,
        };
    }
    Ok(directory)
}

impl Staged {
    /// What it will be called, in its directory.
    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Gives it its time and puts it into the place of what is there: of a link itself, if that is one.
    pub(crate) fn place(&mut self, mtime: Mtime) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory = enter(&self.base, &self.way, false)?;
        let file = rustix::fs::openat(&directory, self.beside.as_str(), flags, Mode::empty())?;
        rustix::fs::futimens(
            file.as_fd(),
            &Timestamps { last_access: time(mtime), last_modification: time(mtime) },
        )?;
        let name = OsStr::from_bytes(&self.name);
        rustix::fs::renameat(&directory, self.beside.as_str(), &directory, name)?;
        self.is_placed = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if self.is_placed {
            return;
        }
        // Nothing is left to be done when that fails.
        if let Ok(directory) = enter(&self.base, &self.way, false) {
            let _ = rustix::fs::unlinkat(&directory, self.beside.as_str(), AtFlags::empty());
        }
    }
}

fn time(mtime: Mtime) -> Timespec {
    let (tv_sec, nanoseconds) = (mtime.div_euclid(1_000_000_000), mtime.rem_euclid(1_000_000_000));
    Timespec { tv_sec, tv_nsec: nanoseconds as _ }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn stage(folder: &Folder, name: &str) -> io::Result<Staged> {
        let (staged, mut file) = folder.stage(name.as_bytes(), false)?;
        file.write_all(b"new")?;
        Ok(staged)
    }

    #[test]
    fn a_file_takes_its_place_with_its_time_and_leaves_nothing_beside() {
        let space = tempfile::tempdir().expect("a directory");
        let folder = Folder::open(space.path()).expect("it is there");
        stage(&folder, "a/b/c").expect("it can be staged").place(-1_500_000_000).expect("it can be placed");
        drop(stage(&folder, "a/b/d").expect("it can be staged"));
        let names: Vec<_> = fs::read_dir(space.path().join("a/b")).expect("a directory").collect();
        assert_eq!(names.len(), 1);
        let status = fs::metadata(space.path().join("a/b/c")).expect("it is there");
        assert_eq!(upcheck::Meta::mtime_at(status.modified().expect("a time")), -1_500_000_000);
        assert_eq!(status.permissions().mode() & 0o111, 0);
    }

    #[test]
    fn more_files_than_may_be_open_can_be_staged_at_once() {
        let space = tempfile::tempdir().expect("a directory");
        let folder = Folder::open(space.path()).expect("it is there");
        let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(1024);
        let n_files = most.min(20_000) + 10;
        let staged: Vec<_> = (0..n_files)
            .map(|n| stage(&folder, &format!("d{}/f{n}", n % 7)).expect("it can be staged"))
            .collect();
        for mut staged in staged {
            staged.place(0).expect("it can be placed");
        }
        let found: usize = (0..7)
            .map(|n| fs::read_dir(space.path().join(format!("d{n}"))).expect("a directory").count())
            .sum();
        assert_eq!(found as u64, n_files);
    }

    #[test]
    fn one_at_a_time_may_write_here() {
        let space = tempfile::tempdir().expect("a directory");
        let first = Folder::open(space.path()).expect("it is there");
        let second = Folder::open(space.path()).expect("it is there");
        assert!(first.lock() && !second.lock());
        drop(first);
        assert!(second.lock());
    }

    #[test]
    fn no_link_is_followed_and_no_name_leads_out() {
        let space = tempfile::tempdir().expect("a directory");
        let (inside, outside) = (space.path().join("in"), space.path().join("out"));
        fs::create_dir(&inside).expect("a directory");
        fs::create_dir(&outside).expect("a directory");
        fs::write(outside.join("kept"), "kept").expect("a file");
        symlink(&outside, inside.join("link")).expect("a link");
        symlink(outside.join("kept"), inside.join("file")).expect("a link");
        let folder = Folder::open(&inside).expect("it is there");
        for name in ["link/kept", "../out/kept", "/tmp/x", "", ".", "..", "a//b", "a/../b", "a\0b", "file/x"]
        {
            assert!(folder.stage(name.as_bytes(), false).is_err(), "{name}");
        }
        // A link in the output's own place is replaced, and what it leads to is not.
        stage(&folder, "file").expect("it can be staged").place(0).expect("it can be placed");
        assert_eq!(fs::read(inside.join("file")).expect("it is there"), b"new");
        assert!(!inside.join("file").is_symlink());
        assert_eq!(fs::read(outside.join("kept")).expect("it is there"), b"kept");
        assert_eq!(fs::read_dir(&outside).expect("a directory").count(), 1);
    }
}

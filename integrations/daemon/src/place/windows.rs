//! A pipe and a lock, whose names are made of the user, of his logon and of a folder in which there is nothing but the log.
//!
//! The logon is part of the names since an elevated process of the same user has another one: it has other rights, and letters of
//! drives may stand for something else. The lock is an object of the kernel's, so it goes when its holder does, however that
//! comes about. Somebody else may make something by these names first; then there is no daemon, and no answer of his, since
//! whoever connects looks to whom the pipe belongs.
#![expect(unsafe_code, reason = "Windows takes pointers and handles")]

use super::{LOG, MOST_LOG};
use crate::token::{self, Fnv, OnlyUser};
use crate::transport::{Instance, Listener, Stream, Waker, connect};
use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, ErrorKind};
use std::os::windows::io::{FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use windows_sys::Win32::Foundation::{ERROR_ALREADY_EXISTS, GetLastError};
use windows_sys::Win32::System::Threading::CreateMutexW;

/// The folder's path below the user's local folder, where other things of upcheck's are, too.
const FOLDER: &str = r"upcheck\watch";

/// A folder, and what goes with it.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    /// What all names begin with.
    name: String,
}

/// Proof that no other daemon runs; for as long as it is kept.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "it is held, not used")] OwnedHandle);

impl Place {
    /// Where the folder of this user is, or would be: in `%LOCALAPPDATA%`, or where that is by default. `None` where there is no
    /// place for it.
    #[must_use]
    pub fn usual() -> Option<PathBuf> {
        usual(|name| std::env::var_os(name).filter(|value| Path::new(value).is_absolute()))
    }

    /// The folder at `path`; `None` where there is none.
    ///
    /// # Errors
    /// When it is no folder, or the system does not say who this is.
    pub fn open(path: PathBuf) -> io::Result<Option<Self>> {
        match std::fs::metadata(&path) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut hash = Fnv::default();
        hash.add(&path.as_os_str().as_encoded_bytes().to_ascii_lowercase());
        let name = format!("upcheck-{}-{}-{:x}", token::user()?, token::logon()?, hash.0);
        Ok(Some(Self { path, name }))
    }

    /// The same; it is made where there is none.
    ///
    /// # Errors
    /// When it cannot be made, or is no folder.
    pub fn make(path: PathBuf) -> io::Result<Self> {
        if let Some(place) = Self::open(path.clone())? {
            return Ok(place);
        }
        DirBuilder::new().recursive(true).create(&path)?;
        Self::open(path)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// Its path, for people.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is listened, for people.
    #[must_use]
    pub fn address(&self) -> PathBuf {
        format!(r"\\.\pipe\{}", self.name).into()
    }

    /// Connects to whoever listens there. `None` where nobody does.
    ///
    /// # Errors
    /// When somebody does, and has no room for one more, or is another user.
    pub(crate) fn connect(&self) -> io::Result<Option<Stream>> {
        connect(&self.address())
    }

    /// Becomes the one who may listen; `None` where there is one already.
    ///
    /// # Errors
    /// When there is something else by the name of the lock.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let name: Vec<u16> = format!(r"Local\{}", self.name).encode_utf16().chain([0]).collect();
        let only_user = OnlyUser::new()?;
        let attributes = only_user.attributes();
        // SAFETY: the name ends with 0, and the attributes live until the call has returned.
        let (made, code) = unsafe { (CreateMutexW(&raw const attributes, 0, name.as_ptr()), GetLastError()) };
        if made.is_null() {
            return Err(io::Error::from_raw_os_error(code.cast_signed()));
        }
        // SAFETY: it was opened just now, and nobody else has it.
        let made = unsafe { OwnedHandle::from_raw_handle(made) };
        // That it is there is what counts. Nobody ever waits for it.
        Ok((code != ERROR_ALREADY_EXISTS).then_some(Lock(made)))
    }

    /// Listens.
    ///
    /// # Errors
    /// Whatever the operating system says, for instance when somebody else listens by this name.
    pub(crate) fn listen(&self, _: &Lock) -> io::Result<(Listener, Waker)> {
        let address = self.address();
        Listener::new(Instance::first(&address)?, &address)
    }

    /// There is nothing to be removed: the pipe goes with whoever listens.
    pub(crate) fn stop_listening(&self) {}

    /// The file in which a daemon says what there is to say.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn log(&self) -> io::Result<File> {
        self.shorten_log(MOST_LOG);
        File::options().append(true).create(true).open(self.path.join(LOG))
    }

    /// Empties it if it has more bytes. What is only appended to cannot be made shorter, so it is opened once more.
    pub(crate) fn shorten_log(&self, most: u64) {
        let log = File::options().write(true).open(self.path.join(LOG));
        let is_long = |log: &File| log.metadata().is_ok_and(|meta| meta.len() > most);
        if let Some(log) = log.ok().filter(is_long) {
            let _ = log.set_len(0);
        }
    }
}

fn usual(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let local = variable("LOCALAPPDATA").map(PathBuf::from);
    let local = local.or_else(|| Some(Path::new(&variable("USERPROFILE")?).join(r"AppData\Local")))?;
    Some(local.join(FOLDER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_local_folder_comes_first() {
        let usual = |known: &[(&str, &str)]| {
            let variable = |name: &str| Some(known.iter().find(|(known, _)| *known == name)?.1.into());
            super::usual(variable).map(|path| path.display().to_string())
        };
        let all = [("LOCALAPPDATA", r"C:\l"), ("USERPROFILE", r"C:\u")];
        assert_eq!(usual(&all).as_deref(), Some(r"C:\l\upcheck\watch"));
        assert_eq!(usual(&all[1..]).as_deref(), Some(r"C:\u\AppData\Local\upcheck\watch"));
        assert_eq!(usual(&[]), None);
    }

    #[test]
    fn a_folder_has_its_own_pipe_in_either_spelling() {
        let home = tempfile::tempdir().expect("a directory");
        let address = |name: &str| Place::make(home.path().join(name)).expect("a place").address();
        assert_eq!(address("a"), address("A"));
        assert_ne!(address("a"), address("b"));
        assert!(address("a").as_os_str().len() < 256);
    }
}

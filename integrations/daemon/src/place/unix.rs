//! A folder that is the user's alone, with a socket and a lock in it.
//!
//! The folder is opened once. On Linux it is reached by its descriptor from then on: what was found to be private is what is
//! used, and no path is too long for the name of a socket. Elsewhere it is reached by its path, which nobody but the user can turn
//! elsewhere as long as the folders above it are his or the system's.

use super::{LOG, MOST_LOG};
use crate::transport::{Listener, Stream, Waker, is_users};
use rustix::fs::{AtFlags, Mode, OFlags};
use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// The folder's name below the user's runtime folder.
const FOLDER: &str = "upcheck";
/// The same below his cache folder, where other things of upcheck's are, too.
const FOLDER_IN_CACHE: &str = "upcheck/watch";
const SOCKET: &str = "socket";
const LOCK: &str = "lock";
/// Opens a folder for what is in it.
#[cfg(target_os = "linux")]
const FOLDER_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const FOLDER_ONLY: OFlags = OFlags::RDONLY;

/// A folder that nobody but the user can look into.
#[derive(Debug)]
pub struct Place {
    path: PathBuf,
    folder: OwnedFd,
}

/// Proof that no other daemon runs; for as long as it is kept.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "it is held, not used")] File);

impl Place {
    /// Where the folder of this user is, or would be: below `$XDG_RUNTIME_DIR`, or below the runtime folder that is there
    /// without the variable; else in the cache folder. `None` where there is no place for it.
    #[must_use]
    pub fn usual() -> Option<PathBuf> {
        let variable = |name: &str| std::env::var_os(name).filter(|value| Path::new(value).is_absolute());
        usual(variable, || {
            let path = PathBuf::from(format!("/run/user/{}", rustix::process::geteuid().as_raw()));
            std::fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir()).then_some(path)
        })
    }

    /// The folder at `path`; `None` where there is none.
    ///
    /// # Errors
    /// When it is not the user's alone, or cannot be opened.
    pub fn open(path: PathBuf) -> io::Result<Option<Self>> {
        let flags = FOLDER_ONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match rustix::fs::open(&path, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let found = rustix::fs::fstat(&folder)?;
        if found.st_uid != rustix::process::geteuid().as_raw() || found.st_mode & 0o077 != 0 {
            return Err(io::Error::new(
                ErrorKind::PermissionDenied,
                "it is not a folder that only its user can look into",
            ));
        }
        Ok(Some(Self { path, folder }))
    }

    /// The same; it is made where there is none.
    ///
    /// # Errors
    /// When it cannot be made or opened, is not the user's alone, or would be in a folder of somebody else's, who could not get into it.
    pub fn make(path: PathBuf) -> io::Result<Self> {
        if let Some(place) = Self::open(path.clone())? {
            return Ok(place);
        }
        // As with `sudo`, where variables may still name the folders of whoever has typed it.
        let parent = path.ancestors().skip(1).find_map(|parent| std::fs::metadata(parent).ok());
        let is_mine = |owner| owner == rustix::process::geteuid().as_raw() || owner == 0;
        if !parent.is_none_or(|parent| is_mine(std::os::unix::fs::MetadataExt::uid(&parent))) {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it would be in somebody else's folder"));
        }
        match DirBuilder::new().recursive(true).mode(0o700).create(&path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Self::open(path)?.ok_or_else(|| ErrorKind::NotFound.into()),
        }
    }

    /// Its path, for people.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is listened, for people.
    #[must_use]
    pub fn address(&self) -> PathBuf {
        self.path.join(SOCKET)
    }

    /// The path of a name in it, by the descriptor.
    #[cfg(target_os = "linux")]
    fn at(&self, name: &str) -> PathBuf {
        use std::os::fd::AsRawFd;
        format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()).into()
    }

    /// The path of a name in it.
    #[cfg(not(target_os = "linux"))]
    fn at(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Connects to whoever listens there. `None` where nobody does.
    ///
    /// # Errors
    /// When somebody does, and has no room for one more, or is another user.
    pub(crate) fn connect(&self) -> io::Result<Option<Stream>> {
        let Some(stream) = self.connect_to_any()? else { return Ok(None) };
        if !is_users(&stream)? {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "another user listens there"));
        }
        Ok(Some(stream))
    }

    #[cfg(target_os = "linux")]
    fn connect_to_any(&self) -> io::Result<Option<Stream>> {
        use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
        // A process that is stopped would keep one waiting as soon as many wait.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let address = SocketAddrUnix::new(self.at(SOCKET))?;
        match rustix::net::connect(&socket, &address) {
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::CONNREFUSED) => return Ok(None),
            connected => connected?,
        }
        let stream = Stream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(Some(stream))
    }

    /// Where many wait already, it is refused at once, as if nobody listened.
    #[cfg(not(target_os = "linux"))]
    fn connect_to_any(&self) -> io::Result<Option<Stream>> {
        match Stream::connect(self.at(SOCKET)) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                Ok(None)
            }
            connected => connected.map(Some),
        }
    }

    /// Becomes the one who may listen; `None` where there is one already.
    ///
    /// # Errors
    /// When the lock cannot be opened or locked.
    pub fn lock(&self) -> io::Result<Option<Lock>> {
        let file = self.options().create(true).truncate(false).open(self.at(LOCK))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Listens, in the place of a daemon that is gone.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub(crate) fn listen(&self, _: &Lock) -> io::Result<(Listener, Waker)> {
        self.stop_listening();
        let listener = UnixListener::bind(self.at(SOCKET))?;
        rustix::fs::chmodat(&self.folder, SOCKET, Mode::RUSR | Mode::WUSR, AtFlags::empty())?;
        listener.set_nonblocking(true)?;
        Listener::new(listener, self.address())
    }

    /// Removes the socket.
    pub(crate) fn stop_listening(&self) {
        let _ = rustix::fs::unlinkat(&self.folder, SOCKET, AtFlags::empty());
    }

    /// The file in which a daemon says what there is to say.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn log(&self) -> io::Result<File> {
        self.shorten_log(MOST_LOG);
        self.open_log()
    }

    fn open_log(&self) -> io::Result<File> {
        self.options().append(true).create(true).open(self.at(LOG))
    }

    /// Empties it if it has more bytes.
    pub(crate) fn shorten_log(&self, most: u64) {
        let is_long = |log: &File| log.metadata().is_ok_and(|meta| meta.len() > most);
        if let Some(log) = self.open_log().ok().filter(is_long) {
            let _ = log.set_len(0);
        }
    }

    fn options(&self) -> OpenOptions {
        let mut options = File::options();
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC).bits();
        options.read(true).write(true).mode(0o600).custom_flags(i32::try_from(flags).unwrap_or(0));
        options
    }
}

fn usual(
    variable: impl Fn(&str) -> Option<OsString>,
    without_variable: impl Fn() -> Option<PathBuf>,
) -> Option<PathBuf> {
    let runtime = variable("XDG_RUNTIME_DIR").map(PathBuf::from).or_else(without_variable);
    if let Some(runtime) = runtime {
        return Some(runtime.join(FOLDER));
    }
    let cache = variable("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(Path::new(&variable("HOME")?).join(".cache")))?;
    Some(cache.join(FOLDER_IN_CACHE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::tests::made;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_that_others_may_look_into_is_refused() {
        let (_home, place) = made();
        for (mode, is_private) in
            [(0o700, true), (0o750, false), (0o701, false), (0o720, false), (0o500, true)]
        {
            std::fs::set_permissions(place.path(), Permissions::from_mode(mode)).expect("a mode");
            assert_eq!(Place::open(place.path().to_owned()).is_ok(), is_private, "{mode:o}");
            assert_eq!(Place::make(place.path().to_owned()).is_ok(), is_private, "{mode:o}");
        }
    }

    #[test]
    fn nobody_is_locked_out_of_his_own_folder_by_root() {
        let home = tempfile::tempdir().expect("a directory");
        if !rustix::process::geteuid().is_root() {
            let _ = io::Write::write_all(&mut io::stderr(), b"NOT TESTED: root in somebody else's folder\n");
            return;
        }
        std::os::unix::fs::chown(home.path(), Some(65534), None).expect("root may do so");
        for path in ["upcheck", "cache/upcheck"] {
            assert!(Place::make(home.path().join(path)).is_err());
        }
        assert!(fs::read_dir(home.path()).expect("a directory").next().is_none());
    }

    #[test]
    fn a_link_to_a_folder_is_refused() {
        let (home, place) = made();
        let link = home.path().join("link");
        std::os::unix::fs::symlink(place.path(), &link).expect("a link");
        assert!(Place::open(link).is_err());
    }

    #[test]
    fn nobody_listens_where_a_socket_was_left_behind_and_it_is_replaced() {
        let (_home, place) = made();
        assert!(place.connect().expect("no socket").is_none());
        let lock = place.lock().expect("a lock").expect("it is free");
        drop(place.listen(&lock).expect("a socket"));
        assert!(place.address().exists());
        assert!(place.connect().expect("nobody listens").is_none());
        let listener = place.listen(&lock).expect("a socket");
        assert!(place.connect().expect("somebody listens").is_some());
        drop(listener);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_may_be_longer_than_the_name_of_a_socket() {
        let home = tempfile::tempdir().expect("a directory");
        let place = Place::make(home.path().join("x".repeat(200))).expect("a place");
        let lock = place.lock().expect("a lock").expect("it is free");
        let _listener = place.listen(&lock).expect("a socket");
        assert!(place.connect().expect("somebody listens").is_some());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn whoever_has_no_room_for_one_more_keeps_nobody_waiting() {
        let (_home, place) = made();
        let lock = place.lock().expect("a lock").expect("it is free");
        let _listener = place.listen(&lock).expect("a socket");
        let mut waiting = Vec::new();
        let error = loop {
            match place.connect() {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn the_runtime_folder_comes_first_then_the_cache() {
        let usual = |known: &[(&str, &str)], run: Option<&str>| {
            let variable = |name: &str| Some(known.iter().find(|(known, _)| *known == name)?.1.into());
            super::usual(variable, || run.map(PathBuf::from)).map(|path| path.display().to_string())
        };
        let all = [("XDG_RUNTIME_DIR", "/r"), ("XDG_CACHE_HOME", "/c"), ("HOME", "/h")];
        assert_eq!(usual(&all, Some("/run/user/1")).as_deref(), Some("/r/upcheck"));
        assert_eq!(usual(&all[1..], Some("/run/user/1")).as_deref(), Some("/run/user/1/upcheck"));
        assert_eq!(usual(&all[1..], None).as_deref(), Some("/c/upcheck/watch"));
        assert_eq!(usual(&all[2..], None).as_deref(), Some("/h/.cache/upcheck/watch"));
        assert_eq!(usual(&[], None), None);
    }
}

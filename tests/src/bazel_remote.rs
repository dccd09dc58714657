//! A real cache, bazel-remote, on this machine: started for a test, and gone with it.

use crate::aloud;
use crate::tools::root;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use tempfile::TempDir;

/// Where one of the programs is that tests/tools/get-bazel-remote builds: `bazel-remote` or `remotetool`. `None`, and said
/// aloud: there is no Go to build it with.
///
/// # Panics
/// When it cannot be built in spite of Go.
#[must_use]
pub fn program(name: &str) -> Option<PathBuf> {
    static MISSING: OnceLock<()> = OnceLock::new();
    let script = root().join("tests/tools/get-bazel-remote");
    let output = Command::new(script).arg(name).output().expect("a shell");
    let complaint = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() && complaint.contains("go is missing") {
        MISSING.get_or_init(|| aloud::not_tested(&format!("whatever needs {name}: {}", complaint.trim())));
        return None;
    }
    assert!(output.status.success(), "get-bazel-remote failed:\n{complaint}");
    Some(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

/// How a server is to be.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Whether it listens at ports instead of sockets in the file system.
    pub ports: bool,
    /// Whether it keeps blobs as they are. Else it compresses them, and notices damage.
    pub uncompressed: bool,
    /// What else it is told.
    pub more: Vec<OsString>,
}

/// A server. It ends when it is dropped, and by itself when it has not been asked for a while.
pub struct BazelRemote {
    program: PathBuf,
    setup: Setup,
    folder: TempDir,
    running: Option<Running>,
}

struct Running {
    child: Child,
    grpc: Listener,
    http: Listener,
    log: Arc<Mutex<String>>,
    reader: Option<JoinHandle<()>>,
}

/// Where a server listens.
#[derive(Clone, Debug)]
enum Listener {
    Socket(PathBuf),
    Port(u16),
}

impl BazelRemote {
    /// Starts a server without anything in it. `None`, and said aloud: there is none here.
    ///
    /// # Panics
    /// When it does not start.
    #[must_use]
    pub fn start(setup: Setup) -> Option<Self> {
        let program = program("bazel-remote")?;
        // On a disk each blob costs a millisecond: it is synced.
        let memory = Path::new("/dev/shm");
        let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        let folder = tempfile::Builder::new().prefix("upcheck-cache-").tempdir_in(place).expect("a folder");
        let mut server = Self { program, setup, folder, running: None };
        server.run();
        Some(server)
    }

    /// A server that listens at a socket, which everybody may ask.
    #[must_use]
    pub fn plain() -> Option<Self> {
        Self::start(Setup::default())
    }

    /// Its folder: what it keeps, and its sockets.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where it speaks gRPC, without TLS.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn address(&self) -> String {
        self.running().grpc.url("grpc", "127.0.0.1")
    }

    /// The same with TLS. The host is called localhost, as certificates are for names.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn tls_address(&self) -> String {
        self.running().grpc.url("grpcs", "localhost")
    }

    /// Where it speaks HTTP, said as if it were gRPC.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn http_address(&self) -> String {
        self.running().http.url("grpc", "127.0.0.1")
    }

    /// The files in which it keeps a blob.
    ///
    /// # Panics
    /// When its folder cannot be read.
    #[must_use]
    pub fn files_of(&self, hash: &str) -> Vec<PathBuf> {
        let folder = self.folder.path().join("cache/cas.v2").join(&hash[..2]);
        let entries = std::fs::read_dir(folder).expect("a folder for each beginning of a hash");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(hash)))
            .collect()
    }

    /// Ends it as an administrator does.
    ///
    /// # Panics
    /// When it does not end.
    pub fn stop(&mut self) {
        if let Some(running) = &self.running {
            let pid = running.child.id().to_string();
            let sent = Command::new("kill").args(["-TERM", &pid]).status().expect("kill");
            assert!(sent.success(), "bazel-remote has ended before:\n{}", running.log());
        }
        self.wait();
    }

    /// Ends it as a power cut does.
    ///
    /// # Panics
    /// When it does not end.
    pub fn kill(&mut self) {
        if let Some(running) = &mut self.running {
            running.child.kill().expect("a process of our own");
        }
        self.wait();
    }

    /// Starts it again, with what it has kept, where it listened before.
    ///
    /// # Panics
    /// When it runs, or does not start.
    pub fn start_again(&mut self) {
        assert!(self.running.is_none(), "it runs");
        self.run();
    }

    fn wait(&mut self) {
        if let Some(mut running) = self.running.take() {
            running.child.wait().expect("a process of our own");
            if let Some(reader) = running.reader.take() {
                let _ = reader.join();
            }
        }
    }

    fn running(&self) -> &Running {
        self.running.as_ref().expect("it was stopped")
    }

    fn run(&mut self) {
        // Between looking for a free port and listening at it somebody else may take it.
        for _ in 0..10 {
            if let Some(running) = self.try_to_run() {
                self.running = Some(running);
                return;
            }
        }
        panic!("bazel-remote finds no port");
    }

    fn try_to_run(&self) -> Option<Running> {
        let listener = |name: &str| match self.setup.ports {
            true => Listener::Port(free_port()),
            false => Listener::Socket(self.folder.path().join(name)),
        };
        let (grpc, http) = (listener("grpc.sock"), listener("http.sock"));
        for listener in [&grpc, &http] {
            if let Listener::Socket(path) = listener {
                // One that was killed has left its own.
                let _ = std::fs::remove_file(path);
            }
        }
        let storage = if self.setup.uncompressed { "uncompressed" } else { "zstd" };
        let mut command = Command::new(&self.program);
        // Each option may stand in the environment, too.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("BAZEL_REMOTE_") {
                command.env_remove(name);
            }
        }
        command.arg("--dir").arg(self.folder.path().join("cache"));
        command.args([
            "--max_size",
            "2",
            "--access_log_level",
            "none",
            "--idle_timeout",
            "5m",
            "--storage_mode",
            storage,
        ]);
        command.arg("--grpc_address").arg(grpc.option()).arg("--http_address").arg(http.option());
        command.args(&self.setup.more).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("bazel-remote starts");
        let log = Arc::new(Mutex::new(String::new()));
        let reader = child.stderr.take().map(|stderr| {
            let log = Arc::clone(&log);
            thread::spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    let mut log = log.lock().expect("a log");
                    log.push_str(&line);
                    log.push('\n');
                }
            })
        });
        let mut running = Running { child, grpc, http, log, reader };
        while !(running.grpc.answers() && running.http.answers()) {
            if let Some(status) = running.child.try_wait().expect("a process of our own") {
                running.reader.take().map(JoinHandle::join);
                let log = running.log();
                assert!(log.contains("address already in use"), "bazel-remote has ended ({status}):\n{log}");
                return None;
            }
            thread::yield_now();
        }
        Some(running)
    }
}

impl Drop for BazelRemote {
    fn drop(&mut self) {
        if let Some(running) = &mut self.running {
            let _ = running.child.kill();
        }
        self.wait();
    }
}

impl Running {
    fn log(&self) -> String {
        self.log.lock().map(|log| log.clone()).unwrap_or_default()
    }
}

impl Listener {
    fn option(&self) -> OsString {
        match self {
            Self::Socket(path) => format!("unix://{}", path.display()).into(),
            Self::Port(port) => format!("127.0.0.1:{port}").into(),
        }
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        match self {
            Self::Socket(path) => format!("unix://{}", path.display()),
            Self::Port(port) => format!("{scheme}://{host}:{port}"),
        }
    }

    fn answers(&self) -> bool {
        match self {
            Self::Socket(path) => UnixStream::connect(path).is_ok(),
            Self::Port(port) => TcpStream::connect(("127.0.0.1", *port)).is_ok(),
        }
    }
}

/// A port at which nobody listens, a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its number").port()
}

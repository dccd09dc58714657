//! Somebody who listens in a daemon's place: he hands on what is asked and answered, until he is told to say what was said before.

use crate::User;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use tempfile::TempDir;
use upcheck_tests::space::Space;

/// He has a runtime folder of his own, by which he is found.
pub(crate) struct Disguise {
    home: TempDir,
    inside: Arc<Mutex<Inside>>,
}

#[derive(Default)]
struct Inside {
    /// What a question about a build was answered last.
    last: Vec<u8>,
    /// For so many more questions about builds, that is the answer.
    n_lies: usize,
    /// What was asked for, as far as it was no question about a build.
    others: Vec<String>,
}

impl Disguise {
    /// In the place of a user's daemon, which runs.
    pub(crate) fn of(user: &User) -> Self {
        let home = tempfile::Builder::new().prefix("upcheck-disguise-").tempdir().expect("a directory");
        let folder = home.path().join("upcheck");
        std::fs::DirBuilder::new().mode(0o700).create(&folder).expect("a directory");
        let listener = UnixListener::bind(folder.join("socket")).expect("a socket");
        let inside = Arc::<Mutex<Inside>>::default();
        let (known, real) = (Arc::clone(&inside), user.folder().join("socket"));
        // It ends with the tests.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.expect("a connection"), &real, &known);
            }
        });
        Self { home, inside }
    }

    /// From now on so many questions about builds are answered as the last one was.
    pub(crate) fn lie(&self, times: usize) {
        self.lock().n_lies = times;
    }

    /// What was asked for beside answers about builds.
    pub(crate) fn others(&self) -> Vec<String> {
        self.lock().others.clone()
    }

    /// Runs `upcheck` as the user, who takes this for his daemon.
    #[track_caller]
    pub(crate) fn run(&self, user: &User, space: &Space, args: &str) -> crate::Ran {
        let mut command = user.command(space);
        command.env("XDG_RUNTIME_DIR", self.home.path());
        crate::Ran::new(command.args(args.split_whitespace()).output().expect("upcheck starts"))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("nobody has panicked")
    }
}

fn serve(mut stream: UnixStream, real: &Path, inside: &Mutex<Inside>) {
    let Some(question) = message(&mut stream) else { return };
    let header = String::from_utf8_lossy(&question);
    let asked = ["check", "status", "forget", "stop"];
    let asked = asked.into_iter().find(|word| header.contains(&format!("\"ask\":\"{word}\"")));
    let is_check = asked == Some("check");
    let mut inside = inside.lock().expect("nobody has panicked");
    if is_check && inside.n_lies > 0 {
        inside.n_lies -= 1;
        let _ = stream.write_all(&inside.last);
        return;
    }
    if !is_check {
        inside.others.push(asked.unwrap_or("something else").to_owned());
    }
    let mut daemon = UnixStream::connect(real).expect("the daemon");
    daemon.write_all(&question).expect("a question");
    let (mut answer, mut part) = (Vec::new(), vec![0; 1 << 16]);
    // As it comes: who hears nothing for a while takes it that nobody is there.
    while let Ok(n) = daemon.read(&mut part)
        && n > 0
    {
        answer.extend_from_slice(&part[..n]);
        let _ = stream.write_all(&part[..n]);
    }
    if is_check {
        inside.last = answer;
    }
}

/// One message as it is: see docs/FORMATS.md.
fn message(stream: &mut UnixStream) -> Option<Vec<u8>> {
    let mut head = [0; 16];
    stream.read_exact(&mut head).ok()?;
    let header = u32::from_le_bytes(head[4..8].try_into().ok()?);
    let bodies = u64::from_le_bytes(head[8..].try_into().ok()?);
    let mut rest = vec![0; usize::try_from(u64::from(header) + bodies).ok()?];
    stream.read_exact(&mut rest).ok()?;
    Some([&head[..], &rest].concat())
}

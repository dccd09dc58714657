//! A tree that is mounted somewhere.

use crate::counts::{Asked, Counts};
use crate::late::Late;
use crate::served::{Habits, Served};
use crate::tree::Tree;
use fuser::{BackgroundSession, Config, MountOption};
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// How long answers are held back at most. It is only ever waited for by a test that fails.
const LONG: Duration = Duration::from_secs(60);

/// A tree at a path of its own. It goes away with the value: whatever was opened in it has to be closed by then.
pub struct Mount {
    late: Arc<Late>,
    session: Option<BackgroundSession>,
    answering: Option<JoinHandle<()>>,
    directory: TempDir,
}

impl Mount {
    /// Mounts a tree. Says loudly why not, where that cannot be done: then there is nothing to test.
    ///
    /// # Panics
    /// When there is no room for a directory or a thread.
    #[must_use]
    pub fn new(tree: Tree, habits: Habits) -> Option<Self> {
        let directory = tempfile::Builder::new().prefix("upcheck-fuse-").tempdir().expect("a directory");
        let late = Arc::new(Late::new(tree));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::RO, MountOption::FSName("upcheck".into())];
        if habits.asks_kernel {
            config.mount_options.push(MountOption::DefaultPermissions);
            config.acl = fuser::SessionACL::All;
        }
        let served = Served { late: late.clone(), habits };
        match fuser::spawn_mount(served, directory.path(), &config) {
            Ok(session) => {
                let answers = late.clone();
                let answering = std::thread::spawn(move || answers.answer_all());
                Some(Self { late, session: Some(session), answering: Some(answering), directory })
            }
            Err(error) => {
                upcheck_tests::aloud::not_tested(&format!(
                    "no FUSE file system can be mounted here: {error}"
                ));
                None
            }
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// What was asked since the last time.
    pub fn take_counts(&self) -> Counts {
        self.late.counting.take()
    }

    /// Changes what is there. What the kernel has been told before it may keep as long as [`Habits`] say.
    pub fn change<T>(&self, change: impl FnOnce(&mut Tree) -> T) -> T {
        self.late.change(change)
    }

    /// Changes what is there right after so many more requests of a kind have been answered.
    pub fn change_after(&self, kind: Asked, times: u64, change: impl FnOnce(&mut Tree) + Send + 'static) {
        self.late.then(kind, times, Box::new(change));
    }

    /// After so many more answers, gives none until so many requests are under way at once. If there never are as many, it
    /// goes on in the end, and the counts tell.
    pub fn hold(&self, after: u64, under_way: u64) {
        self.late.hold(after, under_way, LONG);
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Unmounting asks nothing that has to be answered here.
        if let Some(session) = self.session.take()
            && let Err(error) = session.umount_and_join()
        {
            upcheck_tests::aloud::progress(&format!(
                "unmounting {}: {error}",
                self.directory.path().display()
            ));
        }
        self.late.end();
        if let Some(answering) = self.answering.take() {
            let _ = answering.join();
        }
    }
}

//! Where the daemon of a user is found: on Unix a folder that is his alone, with a socket and a lock in it; on Windows a pipe
//! and a lock that are nowhere on the disk, whose names go with such a folder.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use unix::{Lock, Place};
#[cfg(windows)]
pub use windows::{Lock, Place};

use std::io;
use std::time::{Duration, Instant};

/// What a daemon has said is in this file.
const LOG: &str = "log";
/// A log that has grown beyond this is begun anew; bytes.
pub(crate) const MOST_LOG: u64 = 256 << 10;
/// How long a process that was killed is waited for.
const LAST_BREATH: Duration = Duration::from_millis(500);

impl Place {
    /// Becomes the one who may listen, and waits a moment for a process that ends: killed, its connections may be gone before
    /// its lock is. `None` where there is another one.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub(crate) fn lock_soon(&self) -> io::Result<Option<Lock>> {
        let until = Instant::now() + LAST_BREATH;
        loop {
            match self.lock()? {
                None if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                lock => return Ok(lock),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A place of nobody's.
    pub(super) fn made() -> (tempfile::TempDir, Place) {
        let home = tempfile::tempdir().expect("a directory");
        let place = Place::make(home.path().join("a/b")).expect("a place");
        (home, place)
    }

    #[test]
    fn a_lock_that_goes_away_in_a_moment_is_waited_for_and_another_one_is_not() {
        let (_home, place) = made();
        let held = place.lock().expect("a place").expect("a lock");
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| place.lock_soon().expect("a place").is_some());
            std::thread::sleep(Duration::from_millis(20));
            drop(held);
            assert!(waits.join().expect("no panic"));
        });
        let _held = place.lock().expect("a place").expect("a lock");
        assert!(place.lock_soon().expect("a place").is_none());
    }

    #[test]
    fn no_folder_is_no_error_and_a_file_is_none() {
        let (home, _) = made();
        assert!(Place::open(home.path().join("else")).expect("nothing is there").is_none());
        std::fs::write(home.path().join("file"), "").expect("a file");
        assert!(Place::open(home.path().join("file")).is_err());
    }

    #[test]
    fn there_is_one_lock_and_it_is_free_again_when_its_holder_is_gone() {
        let (_home, place) = made();
        let lock = place.lock().expect("a lock").expect("it is free");
        assert!(place.lock().expect("a lock").is_none());
        drop(lock);
        assert!(place.lock().expect("a lock").is_some());
    }

    #[test]
    fn whoever_listens_is_found_until_he_is_gone() {
        let (_home, place) = made();
        assert!(place.connect().expect("nobody listens").is_none());
        let lock = place.lock().expect("a lock").expect("it is free");
        for _ in 0..2 {
            let (listener, _waker) = place.listen(&lock).expect("it listens");
            assert!(listener.is_found());
            assert!(place.connect().expect("somebody listens").is_some());
            drop(listener);
            assert!(place.connect().expect("nobody listens").is_none());
        }
    }

    #[test]
    fn the_log_is_begun_anew_when_it_is_too_long() {
        let (_home, place) = made();
        std::io::Write::write_all(&mut place.log().expect("a log"), b"so much").expect("room");
        let length = || std::fs::metadata(place.path().join(LOG)).expect("a log").len();
        place.shorten_log(7);
        assert_eq!(length(), 7);
        place.shorten_log(6);
        assert_eq!(length(), 0);
    }
}

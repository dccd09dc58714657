//! Ends of threads.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

/// Waits until threads are gone, and passes a panic of theirs on. The end of their scope alone would only wait until they
/// have done their work: the system may still be at taking them down then, in a process that is told that they are no more.
pub(crate) fn join_all(threads: Vec<ScopedJoinHandle<'_, ()>>) {
    for thread in threads {
        if let Err(panic) = thread.join() {
            resume_unwind(panic);
        }
    }
}

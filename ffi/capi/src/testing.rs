//! For tests: a bug on demand.

#![allow(
    clippy::missing_const_for_thread_local,
    reason = "it is const, which clippy does not see on Windows"
)]

use std::cell::Cell;

thread_local! {
    static IS_WANTED: Cell<bool> = const { Cell::new(false) };
}

/// The next call in this thread that takes a handle as non-const panics while it holds it.
pub fn panic_in_next_call() {
    IS_WANTED.set(true);
}

/// Whether no call has panicked since [`panic_in_next_call`].
#[must_use]
pub fn take_back() -> bool {
    IS_WANTED.take()
}

pub(crate) fn panic_if_wanted() {
    assert!(!IS_WANTED.take(), "a bug, as the test wanted it");
}

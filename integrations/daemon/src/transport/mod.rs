//! What a connection is made of. Each platform has the same:
//!
//! ```text
//!   Stream     bytes both ways, with a limit to how long reading and writing may take
//!   Listener   waits for whoever connects, for a time, or until it is woken; and is gone when it is dropped
//!   Waker      wakes it
//!   send       writes without a signal where nobody reads
//!   is_users   whether the user himself is at the other end
//! ```

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{Listener, Stream, Waker, is_users, send};
#[cfg(windows)]
pub(crate) use windows::{Instance, Listener, Stream, Waker, connect, is_users, send};

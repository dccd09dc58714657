//! How errors of the operating system are told.

use std::io::{Error, ErrorKind};

/// The operating system's words for an error, without the number that Rust appends.
#[must_use]
pub fn os_message(error: &Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None if error.kind() == ErrorKind::NotFound => "No such file or directory".into(),
        None => text,
    }
}

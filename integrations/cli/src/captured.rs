//! Output that is kept instead of printed: of an answer that goes to another process.

use blake3::Hash;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What would have been printed on both streams.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// Whether text on standard output and standard error may have colours.
    pub(crate) colors: [bool; 2],
    /// Whether somebody wants to know what stands for the answer.
    pub(crate) is_marked: bool,
    streams: Mutex<[Vec<u8>; 2]>,
    said: Mutex<Option<Hash>>,
}

impl Captured {
    /// Nothing yet.
    pub(crate) fn new(colors: [bool; 2]) -> Self {
        Self { colors, ..Self::default() }
    }

    /// Nothing yet; it is to be known what stands for the answer.
    pub(crate) fn marked(colors: [bool; 2]) -> Self {
        Self { is_marked: true, ..Self::new(colors) }
    }

    /// Keeps what stands for the answer.
    pub(crate) fn mark_answer(&self, said: Hash) {
        *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
    }

    /// What stands for all that was printed, without what it cost, and for how the command ends: other marks, other answers.
    pub(crate) fn mark(&self, status: u8) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[status]);
        if let Some(said) = *self.said.lock().unwrap_or_else(PoisonError::into_inner) {
            hasher.update(said.as_bytes());
        }
        hasher.update(&plain(&self.streams()[1]));
        hasher.finalize().to_hex().to_string()
    }

    /// Adds an answer. `is_text`: whether it is for people, and so may have colours in it that are not wanted.
    pub(crate) fn add_to_stdout(
        &self,
        is_text: bool,
        answer: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut bytes = Vec::new();
        answer(&mut bytes)?;
        self.streams()[0].extend(if is_text && !self.colors[0] { plain(&bytes) } else { bytes });
        Ok(())
    }

    /// Adds what is to be said beside an answer.
    pub(crate) fn add_to_stderr(&self, say: impl FnOnce(&mut dyn Write)) {
        let mut bytes = Vec::new();
        say(&mut bytes);
        self.streams()[1].extend(if self.colors[1] { bytes } else { plain(&bytes) });
    }

    /// Standard output and standard error.
    pub(crate) fn take(&self) -> [Vec<u8>; 2] {
        std::mem::take(&mut *self.streams())
    }

    fn streams(&self) -> MutexGuard<'_, [Vec<u8>; 2]> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn plain(bytes: &[u8]) -> Vec<u8> {
    anstream::adapter::strip_bytes(bytes).into_vec()
}

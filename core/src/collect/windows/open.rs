//! A file or a directory that was opened.

use super::nt::{self, Facts, Purpose};
use super::{entries, meta};
use crate::collect::listing::windows::DIRECTORY;
use crate::collect::{Kind, Listing, OpenFile};
use crate::snapshot::Meta;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::windows::fs::FileExt;
use std::os::windows::io::{AsHandle, OwnedHandle};

pub(super) struct WindowsFile(File);

impl WindowsFile {
    pub(super) fn new(handle: OwnedHandle) -> Self {
        Self(handle.into())
    }
}

impl OpenFile for WindowsFile {
    fn look(&self) -> io::Result<(Kind, Meta)> {
        let facts = nt::facts(self.0.as_handle())?;
        Ok((kind(&facts), meta(&facts)))
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.0.seek_read(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(length) => done += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn list(&self, listing: &mut Listing) -> io::Result<()> {
        listing.clear();
        // A handle of its own, because a directory is read from where its handle stands.
        let directory = nt::open(Some(self.0.as_handle()), &[], Purpose::List)?;
        entries::list(directory.as_handle(), listing)
    }
}

/// What an open file is. Links were followed.
pub(super) fn kind(facts: &Facts) -> Kind {
    if facts.attributes & DIRECTORY != 0 { Kind::Directory } else { Kind::File }
}

//! The entries of a directory: as answers for wanted names, and as names.

use super::nt::{self, Purpose};
use super::{WindowsDisk, ctime, is_missing, join, names, stat_without};
use crate::collect::list::{Entry, Lister, Outcome};
use crate::collect::listing::Folding;
use crate::collect::listing::windows::{self, Class, REPARSE_POINT};
use crate::collect::{Kind, Listing};
use crate::snapshot::{IoCounts, Meta, Stat};
use std::ffi::OsString;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};

/// How many bytes of entries are asked for at once, at most: more is refused by some servers.
pub(super) const BUFFER: usize = 64 * 1024;
/// The least that is asked for: room for some dozens of entries, and for the longest of names.
const LEAST: usize = 4 * 1024;
/// What an entry takes, about: 104 bytes, and a name of two dozen characters.
const ENTRY: usize = 152;

/// What directories are asked for. Both tell file ids; where neither is known, names are asked for alone.
const CLASSES: [Class; 2] = [Class::IdBoth, Class::IdFull];

/// A directory that is listed, or asked for names in it.
pub(super) struct Directory<'a> {
    disk: &'a WindowsDisk,
    path: &'a [u8],
    handle: OwnedHandle,
    volume: u64,
    /// Whether it tells cases apart; `None` where Windows does not know.
    is_case_sensitive: Option<bool>,
    class: Class,
    buffer: &'a mut [u64],
    units: &'a mut Vec<u16>,
}

impl<'a> Directory<'a> {
    pub(super) fn new(
        disk: &'a WindowsDisk,
        path: &'a [u8],
        handle: OwnedHandle,
        buffer: &'a mut [u64],
        units: &'a mut Vec<u16>,
    ) -> Self {
        Self { disk, path, handle, volume: 0, is_case_sensitive: None, class: CLASSES[0], buffer, units }
    }

    /// Asks whether it tells cases apart, before it is listed.
    pub(super) fn learn_case(&mut self) {
        self.is_case_sensitive = nt::is_case_sensitive(self.handle.as_handle());
    }

    /// Reads entries, in another class where Windows does not know the one.
    fn fill(&mut self, restarts: bool, length: usize) -> Result<usize, nt::Status> {
        let mut filled =
            nt::entries(self.handle.as_handle(), self.class as u32, restarts, &mut self.buffer[..length]);
        if restarts && filled.is_err_and(|status| !status.is_end()) && self.class == CLASSES[0] {
            self.class = CLASSES[1];
            filled =
                nt::entries(self.handle.as_handle(), self.class as u32, true, &mut self.buffer[..length]);
        }
        filled
    }
}

impl Lister for Directory<'_> {
    type Unit = u16;

    fn folding(&self) -> Folding {
        if self.is_case_sensitive == Some(true) { Folding::None } else { Folding::Case }
    }

    fn is_folding_certain(&self) -> bool {
        self.is_case_sensitive.is_some()
    }

    fn spell(name: &[u8]) -> Option<impl Iterator<Item = u16>> {
        let name = std::str::from_utf8(name).ok().filter(|name| names::is_listed(name.as_bytes()))?;
        Some(name.encode_utf16())
    }

    fn stamp(&mut self) -> Option<i64> {
        let facts = nt::facts(self.handle.as_handle()).ok()?;
        self.volume = facts.volume;
        // File systems that keep no change time keep that of the last write.
        Some(if facts.changed == 0 { facts.written } else { facts.changed })
    }

    fn read(&mut self, restarts: bool, limit: usize, sink: &mut impl FnMut(Entry<'_>)) -> Outcome {
        let length = limit.saturating_mul(ENTRY).clamp(LEAST, BUFFER) / 8;
        let filled = match self.fill(restarts, length) {
            Ok(filled) => filled,
            Err(status) if status.is_end() => return Outcome::End,
            Err(_) => return Outcome::Failed,
        };
        let bytes: &[u8] = bytemuck::cast_slice(self.buffer);
        let Some(filled) = bytes.get(..filled) else { return Outcome::Failed };
        for entry in windows::entries(self.class, filled) {
            let Ok(entry) = entry else { return Outcome::Failed };
            if !entry.is_dot() {
                let meta = meta(&entry, self.volume);
                sink(Entry { name: entry.name, short_name: other_name(entry.short_name), meta });
            }
        }
        Outcome::More
    }

    fn alone(&mut self, name: &[u8], counts: &mut IoCounts) -> Stat {
        counts.stats += 1;
        if names::is_plain(name) {
            self.units.clear();
            names::push(name, self.units);
            match nt::open(Some(self.handle.as_handle()), self.units, Purpose::Facts) {
                Ok(file) => return self.disk.stat_of(file.as_handle()),
                Err(status) if is_missing(status.code()) => return stat_without(status.code()),
                // It may be a link that cannot be followed from within: then by the whole path.
                Err(_) => {}
            }
        }
        self.disk.stat_path(&join(self.path, name), self.units)
    }
}

/// What an entry tells as a question would. Not of a link, which is followed; nor of a directory, of which the one
/// above knows only how it looked some time ago.
fn meta(entry: &windows::Entry<'_>, volume: u64) -> Option<Meta> {
    let is_file = entry.attributes & REPARSE_POINT == 0 && !entry.is_directory();
    let inode = u64::try_from(entry.file_id).ok()?;
    is_file.then(|| Meta {
        mtime: entry.mtime,
        ctime: ctime_of(entry.ctime),
        size: entry.size,
        inode,
        device: volume,
    })
}

/// The short name, if somebody could ask for it here: names with a `~` are never asked for here.
fn other_name(short_name: &[u8]) -> &[u8] {
    if short_name.chunks(2).any(|unit| unit == [b'~', 0]) { &[] } else { short_name }
}

/// A status change time, where there is one.
fn ctime_of(time: i64) -> i64 {
    if time == windows::mtime(0) { ctime(0) } else { time }
}

/// Puts the names of a directory into `listing`.
pub(super) fn list(directory: BorrowedHandle<'_>, listing: &mut Listing) -> io::Result<()> {
    let mut buffer = vec![0_u64; BUFFER / 8];
    let mut restarts = true;
    loop {
        // The one class that all file systems know.
        let class = Class::Full;
        let filled = match nt::entries(directory, class as u32, restarts, &mut buffer) {
            Ok(filled) => filled,
            Err(status) if status.is_end() => return Ok(()),
            Err(status) => return Err(status.into()),
        };
        restarts = false;
        let bytes: &[u8] = bytemuck::cast_slice(&buffer);
        let filled = bytes.get(..filled).ok_or(io::ErrorKind::InvalidData)?;
        for entry in windows::entries(class, filled) {
            let entry = entry?;
            if !entry.is_dot() {
                let units: Vec<u16> =
                    entry.name.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
                listing.push(OsString::from_wide(&units).as_encoded_bytes(), kind(&entry));
            }
        }
    }
}

fn kind(entry: &windows::Entry<'_>) -> Kind {
    /// Of a tag: it stands for another name, and not for something in front of the file.
    const SURROGATE: u32 = 0x2000_0000;
    match entry.reparse_tag {
        Some(tag) if tag & SURROGATE != 0 => Kind::Link,
        _ if entry.is_directory() => Kind::Directory,
        _ => Kind::File,
    }
}

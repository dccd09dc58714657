//! The image file: tables on disk that are mapped and used as they lie there.
//!
//! # Format
//!
//! All numbers in the byte order of the machine that wrote it; another one does not recognise the file and makes
//! its own. Everything begins at a multiple of 64 bytes.
//!
//! | offset | size | what |
//! |---|---|---|
//! | 0 | 8 | `upcheck\n` |
//! | 8 | 4 | 0x01020304, tells the byte order |
//! | 12 | 4 | version of the format, [`VERSION`]; raised with every change of what is in any table |
//! | 16 | 8 | length of the file |
//! | 24 | 4 | number of tables |
//! | 28 | 4 | 0 |
//! | 32 | 8 | checksum of the list of tables |
//! | 64 | 32 each | the list: name (8 bytes, padded with NUL), offset (8), length in bytes (8), checksum (8) |
//!
//! The last table is `sizes`: the length of each other one, eight bytes each. Whoever loads tables relies on it that
//! they fit together, so a table that someone put in the place of another is not taken for it.
//!
//! Checksums are rapidhash v3 of the bytes, as the crate `rapidhash` has it. A table is checked when it is first
//! asked for, so that what is not needed is not even read.
//!
//! A file is never changed: it is written beside its place and renamed into it, and whoever has the old one mapped
//! keeps that. What else changes a file in this folder breaks the promise that mapping rests on; the folder is its
//! user's alone.
//!
//! An image is a cache. Whatever is wrong with it, it is as if it were not there.

mod folder;
mod map;
#[cfg(any(windows, test))]
mod owner;
#[cfg(windows)]
mod token;
mod words;

pub use folder::ImageFolder;
pub use words::{WordReader, WordWriter};

use crate::column::Column;
use bytemuck::{Pod, Zeroable};
use memmap2::Mmap;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The version of the format.
pub const VERSION: u32 = 3;

const MAGIC: [u8; 8] = *b"upcheck\n";
const BYTE_ORDER: u32 = 0x0102_0304;
const ALIGNMENT: usize = 64;
const SIZES: &str = "sizes";

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    byte_order: u32,
    version: u32,
    length: u64,
    n_tables: u32,
    zero: u32,
    checksum: u64,
    padding: [u64; 3],
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Entry {
    name: [u8; 8],
    offset: u64,
    length: u64,
    checksum: u64,
}

/// A mapped image.
pub struct Image {
    map: Arc<Mmap>,
    entries: Column<Entry>,
    /// For each entry, whether its checksum was found right.
    checked: Vec<AtomicBool>,
    checksum: u64,
}

impl Image {
    /// Maps a file; `None` if it is no whole image of this version and byte order.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn map(file: &File) -> io::Result<Option<Self>> {
        Ok(Self::of(Arc::new(map::map(file)?)))
    }

    /// Reads a file that others than upcheck may change while it is used, so that it cannot be mapped; `None` if it is no
    /// whole image of this version and byte order.
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn read(file: &File) -> io::Result<Option<Self>> {
        Ok(Self::of(Arc::new(map::read(file)?)))
    }

    fn of(map: Arc<Mmap>) -> Option<Self> {
        let header: &Header = bytemuck::try_from_bytes(map.get(..size_of::<Header>())?).ok()?;
        let is_ours = (header.magic, header.byte_order, header.version) == (MAGIC, BYTE_ORDER, VERSION);
        if !is_ours || header.length != map.len() as u64 {
            return None;
        }
        let start = size_of::<Header>();
        let end = size_of::<Entry>().checked_mul(header.n_tables as usize)?.checked_add(start)?;
        if checksum(map.get(start..end)?) != header.checksum {
            return None;
        }
        let checksum = header.checksum;
        let entries = Column::mapped(&map, start..end)?;
        let checked = entries.iter().map(|_| AtomicBool::new(false)).collect();
        let image = Self { map, entries, checked, checksum };
        image.has_right_sizes()?.then_some(image)
    }

    fn has_right_sizes(&self) -> Option<bool> {
        let (_, others) = self.entries.split_last()?;
        Some(others.iter().map(|entry| entry.length).eq(self.table::<u64>(SIZES)?.iter().copied()))
    }

    /// What tells images apart: the checksum over the checksums of all tables.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.checksum
    }

    /// The table of that name; `None` where there is none, or it is damaged. Cost: a pass over its bytes, once.
    #[must_use]
    pub fn table<T: Pod>(&self, name: &str) -> Option<Column<T>> {
        let name = padded(name);
        let at = self.entries.iter().position(|entry| entry.name == name)?;
        let entry = self.entries[at];
        let start = usize::try_from(entry.offset).ok()?;
        let end = start.checked_add(usize::try_from(entry.length).ok()?)?;
        if !self.checked[at].load(Ordering::Relaxed) {
            if checksum(self.map.get(start..end)?) != entry.checksum {
                return None;
            }
            self.checked[at].store(true, Ordering::Relaxed);
        }
        Column::mapped(&self.map, start..end)
    }
}

/// The tables that are to become an image.
#[derive(Default)]
pub struct Tables<'a> {
    tables: Vec<(&'static str, Cow<'a, [u8]>)>,
}

impl<'a> Tables<'a> {
    /// Adds a table. Names have at most eight bytes and are not used twice.
    pub fn add<T: Pod>(&mut self, name: &'static str, values: &'a [T]) {
        self.push(name, Cow::Borrowed(bytemuck::cast_slice(values)));
    }

    /// Adds a table of bytes that was made for the image.
    pub fn add_bytes(&mut self, name: &'static str, bytes: Vec<u8>) {
        self.push(name, Cow::Owned(bytes));
    }

    fn push(&mut self, name: &'static str, bytes: Cow<'a, [u8]>) {
        debug_assert!(
            name.len() <= 8 && name != SIZES && self.tables.iter().all(|(other, _)| *other != name),
            "{name}"
        );
        self.tables.push((name, bytes));
    }

    /// Writes the image. Its [`Image::id`].
    ///
    /// # Errors
    /// Whatever the operating system says.
    pub fn write(&self, file: &mut File) -> io::Result<u64> {
        let sizes: Vec<u64> = self.tables.iter().map(|(_, bytes)| bytes.len() as u64).collect();
        let sizes = (SIZES, Cow::Borrowed(bytemuck::cast_slice(&sizes)));
        let tables: Vec<_> = self.tables.iter().chain([&sizes]).collect();
        let mut end = size_of::<Header>() + tables.len() * size_of::<Entry>();
        let mut entries = Vec::with_capacity(tables.len());
        for (name, bytes) in &tables {
            let offset = end.next_multiple_of(ALIGNMENT);
            end = offset + bytes.len();
            entries.push(Entry {
                name: padded(name),
                offset: offset as u64,
                length: bytes.len() as u64,
                checksum: checksum(bytes),
            });
        }
        let list: &[u8] = bytemuck::cast_slice(&entries);
        let header = Header {
            magic: MAGIC,
            byte_order: BYTE_ORDER,
            version: VERSION,
            length: end as u64,
            n_tables: crate::narrow(entries.len()),
            zero: 0,
            checksum: checksum(list),
            padding: [0; 3],
        };
        let mut at = size_of::<Header>() + list.len();
        file.write_all(&[bytemuck::bytes_of(&header), list].concat())?;
        for (_, bytes) in &tables {
            let gap = at.next_multiple_of(ALIGNMENT) - at;
            file.write_all(&[0; ALIGNMENT][..gap])?;
            file.write_all(bytes)?;
            at += gap + bytes.len();
        }
        Ok(header.checksum)
    }
}

/// The checksum of an image's tables; also good for telling whether a file's content is still the same.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    rapidhash::v3::rapidhash_v3(bytes)
}

fn padded(name: &str) -> [u8; 8] {
    let mut padded = [0; 8];
    let length = name.len().min(8);
    padded[..length].copy_from_slice(&name.as_bytes()[..length]);
    padded
}

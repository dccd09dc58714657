//! Directory listings of macOS: attribute lists, as getattrlistbulk(2) packs them.
//!
//! Numbers are as the processor has them, and begin at multiples of 4 bytes, the long ones too. Each entry:
//!
//! | bytes | there if | |
//! |---|---|---|
//! | 4 | always | bytes of the entry, with these and the name |
//! | 20 | always | which attributes follow: of all files, volumes, directories, files, forks; 4 bytes each |
//! | 4 | [`ERROR`] | why nothing is known of this entry; an error number |
//! | 8 | [`NAME`] | where the name is, counted from here, and its length with the NUL at its end |
//! | 4 | [`DEVICE`] | the file system's number |
//! | 4 | [`KIND`] | what it is, as in `<sys/vnode.h>` |
//! | 16 | [`MTIME`] | when its content was last changed: seconds, nanoseconds |
//! | 16 | [`CTIME`] | when anything about it was last changed |
//! | 8 | [`FILE_ID`] | the inode number |
//! | 4 | [`LINKS`] | how many names the file has |
//! | 8 | [`SIZE`] | bytes of its content, without other forks: what stat(2) calls its size |
//!
//! The order is that of the attributes' bits, group by group, except for what says that there was an error, which stands
//! first. What was asked for and is not there is left out, so nothing stands in a fixed place. Attributes that
//! nobody asked for have no length that would be known here: they are a damage.

use super::Damaged;
use super::cursor::Cursor;
use crate::collect::Kind;
use crate::snapshot::{Meta, Mtime};

/// `ATTR_CMN_NAME`.
pub const NAME: u32 = 0x1;
/// `ATTR_CMN_DEVID`.
pub const DEVICE: u32 = 0x2;
/// `ATTR_CMN_OBJTYPE`.
pub const KIND: u32 = 0x8;
/// `ATTR_CMN_MODTIME`.
pub const MTIME: u32 = 0x400;
/// `ATTR_CMN_CHGTIME`.
pub const CTIME: u32 = 0x800;
/// `ATTR_CMN_FILEID`.
pub const FILE_ID: u32 = 0x0200_0000;
/// `ATTR_CMN_ERROR`.
pub const ERROR: u32 = 0x2000_0000;
/// `ATTR_CMN_RETURNED_ATTRS`, without which nothing is listed.
pub const RETURNED: u32 = 0x8000_0000;

/// `ATTR_FILE_LINKCOUNT`.
pub const LINKS: u32 = 0x1;
/// `ATTR_FILE_DATALENGTH`.
pub const SIZE: u32 = 0x200;

/// What to ask for of all that is listed.
pub const COMMON: u32 = RETURNED | ERROR | NAME | DEVICE | KIND | MTIME | CTIME | FILE_ID;
/// What to ask for of files.
pub const FILE: u32 = LINKS | SIZE;

/// What a directory knows of one name in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The name. `.` and `..` are not listed.
    pub name: &'a [u8],
    /// Why nothing else is known of it: an error number.
    pub error: Option<u32>,
    /// What it is.
    pub kind: Kind,
    /// The file system's number.
    pub device: Option<i32>,
    /// When its content was last changed.
    pub mtime: Option<Mtime>,
    /// When anything about it was last changed.
    pub ctime: Option<Mtime>,
    /// The inode number.
    pub inode: Option<u64>,
    /// How many names the file has; `None` for what is no file.
    pub links: Option<u32>,
    /// Its size in bytes; `None` for what is no file.
    pub size: Option<u64>,
}

impl Entry<'_> {
    /// What stat(2) would say of it, if the listing told all of that.
    #[must_use]
    pub fn meta(&self) -> Option<Meta> {
        if self.error.is_some() {
            return None;
        }
        Some(Meta {
            mtime: self.mtime?,
            ctime: self.ctime?,
            size: self.size?,
            inode: self.inode?,
            device: i64::from(self.device?).cast_unsigned(),
        })
    }
}

/// The entries of a buffer of which the operating system says that there are so many in it.
#[must_use]
pub fn entries(buffer: &[u8], count: usize) -> Entries<'_> {
    Entries { buffer, next: 0, left: count }
}

/// See [`entries`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    buffer: &'a [u8],
    /// Where the next entry begins.
    next: usize,
    /// How many entries there are from there on.
    left: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        let at = self.next;
        match entry(self.buffer.get(at..).unwrap_or_default()) {
            Ok((entry, length)) => {
                self.next = at + length;
                Some(Ok(entry))
            }
            Err(what) => {
                self.left = 0;
                Some(Err(Damaged { at, what }))
            }
        }
    }
}

/// The entry at the beginning of `rest`, and its length.
#[inline]
fn entry(rest: &[u8]) -> Result<(Entry<'_>, usize), &'static str> {
    let mut head = Cursor::at(rest, 0).ok_or(SHORT)?;
    let length = usize::try_from(number(&mut head)?).map_err(|_| SHORT)?;
    let whole = rest.get(..length).ok_or(SHORT)?;
    let mut fields = Cursor::at(whole, 4).ok_or(SHORT)?;
    let mut returned = [0; 5];
    for group in &mut returned {
        *group = number(&mut fields)?;
    }
    let [common, volume, directory, file, fork] = returned;
    if common & !COMMON != 0 || file & !FILE != 0 || volume | directory | fork != 0 {
        return Err("an attribute that was not asked for");
    }
    let has = |attribute| common & attribute != 0;

    let error = if has(ERROR) { Some(number(&mut fields)?) } else { None };
    if !has(NAME) {
        return Err("no name");
    }
    let name = name(whole, &mut fields)?;
    let device = if has(DEVICE) { Some(number(&mut fields)?.cast_signed()) } else { None };
    let kind = if has(KIND) { kind_of(number(&mut fields)?) } else { Kind::Unknown };
    let mtime = if has(MTIME) { Some(time(&mut fields)?) } else { None };
    let ctime = if has(CTIME) { Some(time(&mut fields)?) } else { None };
    let inode = if has(FILE_ID) { Some(long(&mut fields)?) } else { None };
    let links = if file & LINKS != 0 { Some(number(&mut fields)?) } else { None };
    let size = if file & SIZE != 0 { Some(long(&mut fields)?) } else { None };
    let error = error.filter(|&error| error != 0);
    Ok((Entry { name, error, kind, device, mtime, ctime, inode, links, size }, length))
}

const SHORT: &str = "an entry that does not fit into the buffer";

/// What a reference leads to, which stands at the cursor.
fn name<'a>(whole: &'a [u8], fields: &mut Cursor<'_>) -> Result<&'a [u8], &'static str> {
    const OUTSIDE: &str = "a name that lies outside";
    let place = whole.len() - fields.len();
    let offset = number(fields)?.cast_signed();
    let length = usize::try_from(number(fields)?).map_err(|_| OUTSIDE)?;
    let start = isize::try_from(offset).ok().and_then(|offset| place.checked_add_signed(offset));
    let end = start.and_then(|start| start.checked_add(length));
    let name = start.zip(end).and_then(|(start, end)| whole.get(start..end)).ok_or(OUTSIDE)?;
    match memchr::memchr(0, name) {
        None => Err("a name without an end"),
        Some(0) => Err("an empty name"),
        Some(end) => Ok(&name[..end]),
    }
}

fn number(fields: &mut Cursor<'_>) -> Result<u32, &'static str> {
    fields.bytes().map(u32::from_ne_bytes).ok_or(SHORT)
}

fn long(fields: &mut Cursor<'_>) -> Result<u64, &'static str> {
    fields.bytes().map(u64::from_ne_bytes).ok_or(SHORT)
}

fn time(fields: &mut Cursor<'_>) -> Result<Mtime, &'static str> {
    let (seconds, nanoseconds) = (long(fields)?.cast_signed(), long(fields)?.cast_signed());
    Ok(Meta::mtime_from(seconds, nanoseconds))
}

/// `enum vtype` of `<sys/vnode.h>`.
fn kind_of(code: u32) -> Kind {
    match code {
        1 => Kind::File,
        2 => Kind::Directory,
        3 | 4 | 6 | 7 => Kind::Other,
        5 => Kind::Link,
        _ => Kind::Unknown,
    }
}

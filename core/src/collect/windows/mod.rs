//! Windows: directories are opened once and listed, or asked name by name, whichever the plan says.
//!
//! | how | calls |
//! |---|---|
//! | list | open the directory relative to the base, ask it three questions, 64 KiB of entries with each call, close it |
//! | by path | one call, where Windows can ask by name; otherwise open, ask twice, close |
//!
//! The questions are those for its stamp and volume, its change time, and whether it tells cases apart.
//!
//! A listing tells times, sizes, file ids; what is not in it is not there. It does not tell what a link leads to, and
//! of a directory it may tell old times, so these are asked alone.

mod entries;
mod names;
mod nt;
mod open;

use super::list::{self, Wanted};
use super::listing::windows::mtime;
use super::{Confirm, Disk, Headway, Kind, Listing, OneName, OpenFile, hand_on};
use crate::plan::{How, Visit};
use crate::snapshot::{IoCounts, Meta, Stat};
use names::Start;
use nt::{Facts, Purpose, Status};
use open::WindowsFile;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The disk below a base directory, which stays open.
pub struct WindowsDisk {
    base: OwnedHandle,
    /// The way to it, absolute: what leads out of it counts from there, as Windows counts.
    path: PathBuf,
    /// The same for the kernel, with a backslash at its end.
    units: Vec<u16>,
    confirm: Confirm,
    one_name: Option<Arc<OneName>>,
    headway: Option<Arc<dyn Headway>>,
}

/// What is used again and again by a thread.
struct Scratch {
    /// What entries are read into: 64 KiB, because more is refused by some servers.
    buffer: Vec<u64>,
    wanted: Wanted<u16>,
    /// A path, or a name.
    units: Vec<u16>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch {
        buffer: vec![0; entries::BUFFER / 8],
        wanted: Wanted::default(),
        units: Vec::new(),
    });
}

/// Whether files can be asked by name, without being opened.
pub(crate) fn has_by_name() -> bool {
    nt::has_by_name()
}

impl WindowsDisk {
    /// Opens `base`.
    ///
    /// # Errors
    /// When it is not a directory, or may not be opened.
    pub fn new(base: &Path) -> io::Result<Self> {
        if base.as_os_str().is_empty() {
            return Err(ErrorKind::NotFound.into());
        }
        let path = std::path::absolute(base)?;
        let mut units = Vec::new();
        names::push_absolute(&path, &mut units);
        let base = nt::open(None, &units, Purpose::Base)?;
        if units.last() != Some(&u16::from(b'\\')) {
            units.push(u16::from(b'\\'));
        }
        Ok(Self { base, path, units, confirm: Confirm::Suspects, one_name: None, headway: None })
    }

    /// The same disk, with this done about listings that are behind. [`Confirm::Nothing`] is for those who know
    /// better.
    #[must_use]
    pub fn confirming(self, confirm: Confirm) -> Self {
        Self { confirm, ..self }
    }

    /// The same disk, which knows, and learns, which files have one name only. Without that each file is asked itself.
    #[must_use]
    pub fn knowing(self, one_name: Arc<OneName>) -> Self {
        Self { one_name: Some(one_name), ..self }
    }

    /// The same disk, with somebody who is told how far the reading of content is.
    #[must_use]
    pub fn watched_by(self, headway: Arc<dyn Headway>) -> Self {
        Self { headway: Some(headway), ..self }
    }

    /// Opens what a path leads to.
    fn open_path(&self, path: &[u8], purpose: Purpose, units: &mut Vec<u16>) -> Result<OwnedHandle, Status> {
        units.clear();
        if let Some(start) = names::push_direct(path, units) {
            let opened = nt::open((start == Start::Base).then(|| self.base.as_handle()), units, purpose);
            match opened {
                // The way may lead over a link that cannot be followed from within: then by the whole path.
                Err(status) if !is_missing(status.code()) => {}
                opened => return opened,
            }
        }
        units.clear();
        let Ok(path) = self.absolute(path) else { return Err(Status::INVALID) };
        names::push_absolute(&path, units);
        nt::open(None, units, purpose)
    }

    /// A path that went through the rules of Windows.
    fn absolute(&self, path: &[u8]) -> io::Result<PathBuf> {
        match path {
            b"" | b"." => Ok(self.path.clone()),
            _ => std::path::absolute(self.path.join(names::os_path(path)?)),
        }
    }

    fn stat_path(&self, path: &[u8], units: &mut Vec<u16>) -> Stat {
        if let Some(stat) = self.stat_by_name(path, units) {
            return stat;
        }
        match self.open_path(path, Purpose::Facts, units) {
            Ok(file) => self.stat_of(file.as_handle()),
            Err(status) => stat_without(status.code()),
        }
    }

    fn stat_of(&self, file: BorrowedHandle<'_>) -> Stat {
        match nt::facts(file) {
            Ok(facts) => self.present(&facts),
            Err(error) => Stat::Unreadable(error.raw_os_error().unwrap_or(0)),
        }
    }

    /// What a file itself said.
    fn present(&self, facts: &Facts) -> Stat {
        let meta = meta(facts);
        if let Some(one_name) = self.one_name.as_ref().filter(|_| facts.links == 1) {
            one_name.learn(meta, Meta::mtime_at(SystemTime::now()));
        }
        Stat::Present(meta)
    }

    /// Asks without opening; `None` where that is not possible, or not enough.
    fn stat_by_name(&self, path: &[u8], units: &mut Vec<u16>) -> Option<Stat> {
        const REPARSE_POINT: u32 = super::listing::windows::REPARSE_POINT;
        if !nt::has_by_name() {
            return None;
        }
        units.clear();
        if names::push_direct(path, units)? == Start::Base {
            units.splice(0..0, self.units.iter().copied());
        }
        // `\??\` is the kernel's; programs write `\\?\`.
        *units.get_mut(1)? = u16::from(b'\\');
        units.push(0);
        match nt::by_name(units)? {
            Ok(facts) if facts.attributes & REPARSE_POINT == 0 => Some(self.present(&facts)),
            // Other errors may be of this way of asking.
            Err(code @ (2 | 3)) => Some(stat_without(code)),
            _ => None,
        }
    }

    fn list_visit(
        &self,
        visit: Visit<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        scratch: &mut Scratch,
    ) -> bool {
        counts.opens += 1;
        let directory = match self.open_path(visit.directory(), Purpose::List, &mut scratch.units) {
            Ok(directory) => directory,
            Err(status) if is_missing(status.code()) => {
                stats.fill(Stat::Missing);
                return false;
            }
            // A directory that may be passed but not listed: ask by path.
            Err(_) => {
                for (name, stat) in visit.names().zip(stats) {
                    counts.stats += 1;
                    *stat = self.stat_path(&join(visit.directory(), name), &mut scratch.units);
                }
                return true;
            }
        };
        let Scratch { buffer, wanted, units } = scratch;
        let mut lister = entries::Directory::new(self, visit.directory(), directory, buffer, units);
        if visit.how() == How::List {
            lister.learn_case();
            list::answer(&mut lister, wanted, visit, stats, counts);
        } else {
            for (name, stat) in visit.names().zip(stats) {
                *stat = list::Lister::alone(&mut lister, name, counts);
            }
        }
        true
    }

    /// Opens a file for reading, with its stamp.
    fn open_file(&self, path: &[u8]) -> io::Result<(File, Meta)> {
        let file = self.open_path(path, Purpose::ReadFile, &mut Vec::new())?;
        let facts = nt::facts(file.as_handle())?;
        Ok((file.into(), meta(&facts)))
    }
}

impl Disk for WindowsDisk {
    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        SCRATCH.with_borrow_mut(|scratch| {
            if visit.how().opens() {
                return self.list_visit(visit, stats, counts, scratch);
            }
            for (asked, stat) in visit.asked().zip(stats) {
                counts.stats += 1;
                *stat = self.stat_path(asked.to_bytes(), &mut scratch.units);
            }
            true
        })
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        let (mut file, stamp) = self.open_file(path)?;
        let size = usize::try_from(stamp.size).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size.saturating_add(1)).map_err(|_| ErrorKind::OutOfMemory)?;
        file.read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn read_tail(&self, path: &[u8], offset: u64) -> io::Result<(Vec<u8>, Meta)> {
        let (mut file, stamp) = self.open_file(path)?;
        file.seek(SeekFrom::Start(offset))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, stamp))
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> io::Result<Meta> {
        let (mut file, stamp) = self.open_file(path)?;
        hand_on(&mut file, sink)?;
        Ok(stamp)
    }

    fn open<'a>(&'a self, path: &[u8]) -> io::Result<Box<dyn OpenFile + 'a>> {
        Ok(Box::new(WindowsFile::new(self.open_path(path, Purpose::Read, &mut Vec::new())?)))
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> io::Result<()> {
        listing.clear();
        let directory = self.open_path(path, Purpose::List, &mut Vec::new())?;
        entries::list(directory.as_handle(), listing)
    }

    fn confirm(&self) -> Confirm {
        self.confirm
    }

    fn one_name(&self) -> Option<&OneName> {
        self.one_name.as_deref()
    }

    fn headway(&self) -> Option<&dyn Headway> {
        self.headway.as_deref()
    }

    fn kind(&self, path: &[u8]) -> io::Result<Kind> {
        let file = self.open_path(path, Purpose::Facts, &mut Vec::new())?;
        Ok(open::kind(&nt::facts(file.as_handle())?))
    }
}

/// What is known of an open file, as a stamp.
fn meta(facts: &Facts) -> Meta {
    Meta {
        mtime: mtime(facts.written),
        ctime: ctime(facts.changed),
        size: facts.size,
        inode: facts.id,
        device: facts.volume,
    }
}

/// A status change time, where there is one.
fn ctime(changed: i64) -> i64 {
    if changed == 0 { 0 } else { mtime(changed) }
}

/// What an error says about the file that was to be opened.
fn stat_without(code: i32) -> Stat {
    if is_missing(code) { Stat::Missing } else { Stat::Unreadable(code) }
}

/// Whether an error says that there is no such file, as the standard library sees it: no such file, path, drive,
/// server or share; or a file on the way where a directory would have to be.
fn is_missing(code: i32) -> bool {
    matches!(code, 2 | 3 | 15 | 53 | 67 | 267)
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    let separator: &[u8] = if directory.is_empty() || directory.ends_with(b"/") { b"" } else { b"/" };
    [directory, separator, name].concat()
}

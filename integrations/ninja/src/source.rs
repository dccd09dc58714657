//! The files that a description is read from, and how to tell later that they still say the same.
//!
//! A file is taken for unchanged when its stamp is the same: device, inode, size, time of its content and of its
//! status. That proves nothing for a file that was changed at about the time when it was read: it may have been
//! changed once more within the same tick of the clock. Such a stamp is *racy*, and what counts then is a digest of
//! the content.

use bytemuck::{Pod, Zeroable};
use rapidhash::v3::{RapidSecrets, RapidStreamHasherV3};
use std::time::SystemTime;
use upcheck::collect::Disk;
use upcheck::{Meta, Mtime, Stat};

/// The stamp of a file, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Stamp {
    mtime: Mtime,
    ctime: Mtime,
    size: u64,
    inode: u64,
    device: u64,
    /// 1; 0 for a file that is not there.
    present: u64,
}

/// How far behind the clock a file's stamp may be when it is made: a tick of the kernel, and more where stamps are
/// rounded. Nanoseconds.
const TICK: i64 = 100_000_000;
/// The same where stamps are whole seconds, or even ones.
const COARSE_TICK: i64 = 2_100_000_000;

impl Stamp {
    /// Of a file whose stamp could not be had: equal to no other.
    pub(crate) const UNKNOWN: Self = Self { present: 2, ..Self::MISSING };
    pub(crate) const MISSING: Self = Self { mtime: 0, ctime: 0, size: 0, inode: 0, device: 0, present: 0 };

    pub(crate) fn of(meta: Meta) -> Self {
        let Meta { mtime, ctime, size, inode, device } = meta;
        Self { mtime, ctime, size, inode, device, present: 1 }
    }

    /// `None` for a file that the disk would not tell of.
    pub(crate) fn from_stat(stat: Stat) -> Option<Self> {
        match stat {
            Stat::Present(meta) => Some(Self::of(meta)),
            Stat::Missing => Some(Self::MISSING),
            _ => None,
        }
    }

    /// Nanoseconds since 1970; 0 for a file that is not there.
    pub(crate) fn mtime(self) -> Mtime {
        self.mtime
    }

    pub(crate) fn is_missing(self) -> bool {
        self.present == 0
    }

    /// Whether the file can have been changed after it was read, not before `began`, and still bear this stamp.
    pub(crate) fn is_racy(self, began: Mtime) -> bool {
        // The time of the status cannot be set back; not every platform has one.
        let changed = if self.ctime == 0 { self.mtime } else { self.ctime };
        let tick = if changed % 1_000_000_000 == 0 { COARSE_TICK } else { TICK };
        !self.is_missing() && changed >= began.saturating_sub(tick)
    }
}

/// A time of day in the unit of stamps.
pub(crate) fn nanoseconds(time: SystemTime) -> Mtime {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => Mtime::try_from(after.as_nanos()).unwrap_or(Mtime::MAX),
        Err(_) => 0,
    }
}

/// What a file is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    Manifest,
    Dyndep,
    BuildLog,
    DepsLog,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) kind: SourceKind,
    pub(crate) path: Vec<u8>,
    pub(crate) stamp: Stamp,
    /// How many bytes of it were understood; a log may since have grown.
    pub(crate) length: u64,
    /// The digest of that many bytes.
    pub(crate) digest: u64,
    /// Whether what is appended to it can be read without the rest.
    pub(crate) can_grow: bool,
}

/// What has become of a source.
#[derive(Debug)]
pub(crate) enum Checked {
    /// It is as it was.
    Same,
    /// It was written, but its content is as it was.
    SameContent(Stamp),
    /// A log that has more at its end.
    Grown(Stamp),
    /// It says something else.
    Changed,
}

impl Source {
    /// A manifest file.
    pub(crate) fn read(path: &[u8], text: &[u8], stamp: Meta) -> Self {
        Self {
            kind: SourceKind::Manifest,
            path: path.to_vec(),
            stamp: Stamp::of(stamp),
            length: text.len() as u64,
            digest: digest(text),
            can_grow: false,
        }
    }

    /// Whether there was more than was understood.
    pub(crate) fn has_more(&self) -> bool {
        self.stamp.size > self.length
    }

    /// Says how much of the file was understood, and whether more may be appended.
    pub(crate) fn understood(&mut self, bytes: &[u8], can_grow: bool) {
        // From nothing it can grow into anything.
        let can_grow = can_grow && !bytes.is_empty();
        (self.length, self.digest, self.can_grow) = (bytes.len() as u64, digest(bytes), can_grow);
    }

    /// A file that is not there.
    pub(crate) fn missing(kind: SourceKind, path: &[u8]) -> Self {
        Self {
            kind,
            path: path.to_vec(),
            stamp: Stamp::MISSING,
            length: 0,
            digest: digest(b""),
            can_grow: false,
        }
    }

    /// Looks whether the file still says what it said when it had `stamp`, taken after `began`.
    pub(crate) fn check(&self, disk: &dyn Disk, stamp: Stamp, began: Mtime) -> Checked {
        let Some(now) = Stamp::from_stat(disk.stat(&self.path)) else { return Checked::Changed };
        if now == stamp && !stamp.is_racy(began) {
            return Checked::Same;
        }
        if now.is_missing() || self.stamp.present != 1 || now.size < self.length {
            return Checked::Changed;
        }
        let mut hasher = Hasher::new(self.length);
        let Ok(read) = disk.scan(&self.path, &mut |piece| hasher.add(piece)) else { return Checked::Changed };
        let has_more = hasher.has_more();
        match hasher.finish() {
            Some(digest) if digest != self.digest => Checked::Changed,
            None => Checked::Changed,
            Some(_) if has_more && self.can_grow => Checked::Grown(Stamp::of(read)),
            Some(_) if has_more => Checked::Changed,
            Some(_) => Checked::SameContent(Stamp::of(read)),
        }
    }
}

/// The digest of what was understood of a file; `None` if it was changed since.
pub(crate) fn digest_of_file(disk: &dyn Disk, source: &Source) -> Option<u64> {
    let mut hasher = Hasher::new(source.length);
    let read = disk.scan(&source.path, &mut |piece| hasher.add(piece)).ok()?;
    hasher.finish().filter(|_| Stamp::of(read) == source.stamp)
}

/// A digest of content, good for telling whether it is the same; not against those who want it to look so.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = RapidStreamHasherV3::new(&SECRETS);
    hasher.write(bytes);
    hasher.finish()
}

static SECRETS: RapidSecrets = RapidSecrets::seed(0);

/// Digests the first so many bytes of what comes in pieces.
struct Hasher {
    left: u64,
    has_more: bool,
    pieces: RapidStreamHasherV3<'static>,
}

impl Hasher {
    fn new(length: u64) -> Self {
        Self { left: length, has_more: false, pieces: RapidStreamHasherV3::new(&SECRETS) }
    }

    fn add(&mut self, piece: &[u8]) {
        let wanted = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
        self.pieces.write(&piece[..wanted]);
        self.left -= wanted as u64;
        self.has_more |= wanted < piece.len();
    }

    fn has_more(&self) -> bool {
        self.has_more
    }

    /// `None` when there were not as many bytes.
    fn finish(self) -> Option<u64> {
        (self.left == 0).then(|| self.pieces.finish())
    }
}

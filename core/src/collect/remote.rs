//! File systems far away: each answer that the system does not know by itself is a request, and takes its time.
//!
//! ```text
//!   first names:   asked for alone        near: go on so; from a cache: go on so; a request each: list
//!   listing:       some requests          the system learns all names, and often how each file looks
//!   other names:   asked for alone        answered from what was just learnt, or a request each
//! ```
//!
//! A disk that is near pays nothing for this: which device an answer is about stands in the answer, and each device is
//! asked once what it is.
//!
//! What a listing does not have is asked for alone all the same, unless a listing is known to be all there is; see
//! [`Far::tells_missing`].

use super::listing::{Answer, Folding, Matcher};
use super::unix::{look_up, meta};
use crate::ids::narrow;
use crate::plan::{Asked, Visit};
use crate::snapshot::{IoCounts, Stat};
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, fstat, fstatfs, openat, statat};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant};

/// So many names have to be wanted for a listing to be thought of: to open a directory, to read it, to learn that there
/// is no more, and to close it are up to four requests.
pub(super) const ENOUGH: usize = 6;
/// An answer that takes so long was a request. What the system knows by itself takes some 1 µs; a request to a
/// process on the same machine takes 20 or more.
const REQUEST: Duration = Duration::from_micros(15);
/// So many bytes of names are asked for at once. With attributes, they may be four or five requests, or one.
const NAMES: usize = 128 * 1024;
/// No device has this number.
const NOBODY: u64 = u64::MAX;

/// What is known of the devices that answers were about.
pub(super) struct Remotes {
    /// The device that was found to be near last.
    near: AtomicU64,
    known: RwLock<Vec<(u64, Option<Arc<Far>>)>>,
    /// Which types of file systems are far away, and what each is like.
    sort: fn(i64) -> Option<bool>,
    /// How many times as long as to ask for each name alone a listing may take. 1, but for tests.
    patience: u32,
}

/// A file system that is far away.
pub(super) struct Far {
    /// Whether what is not in a listing is not there. Where a program makes up what there is (FUSE, 9P), where directories
    /// appear when they are asked for (AFS) or files are listed to those only who may read them (SMB), a file may be
    /// found that is in no listing.
    tells_missing: bool,
    /// How often it was worth while to list first, and how often it was not.
    votes: [AtomicU32; 2],
}

impl Far {
    /// Whether a listing makes answers faster, as far as is known: not where names come without attributes.
    fn pays(&self) -> bool {
        let [good, bad] = self.votes.each_ref().map(|votes| votes.load(Ordering::Relaxed));
        bad <= good
    }
}

/// The type of the file system that an open file lies on.
#[allow(clippy::useless_conversion, reason = "the field has 32 or 64 bits")]
fn magic(file: impl AsFd) -> rustix::io::Result<i64> {
    Ok(fstatfs(file)?.f_type.into())
}

/// Whether a file system of this type (`f_type` of statfs) is far away; and if so, whether its listings tell all there is.
fn sort(magic: i64) -> Option<bool> {
    // Some types are negative where the field has 32 bits.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a type has 32 bits")]
    match magic as u32 {
        // NFS
        0x6969 => Some(true),
        // Ceph, Lustre, GPFS, BeeGFS, OrangeFS, PanFS
        0x00c3_6400 | 0x0bd0_0bd0 | 0x4750_4653 | 0x1983_0326 | 0x2003_0528 | 0xaad7_aaea => Some(true),
        // SMB, CIFS, SMB2: a server may list only what may be read, and knows what is there nevertheless.
        0x517b | 0xff53_4d42 | 0xfe53_4d42 => Some(false),
        // 9P; VirtualBox, VMware, Parallels: behind them are programs, and other systems with rules of their own.
        0x0102_1997 | 0x786f_4256 | 0xbacb_acbc | 0x7c7c_6673 => Some(false),
        // FUSE, with virtiofs; AFS, twice; Coda
        0x6573_5546 | 0x5346_414f | 0x6b41_4653 | 0x7375_7245 => Some(false),
        _ => None,
    }
}

impl Default for Remotes {
    fn default() -> Self {
        Self { near: AtomicU64::new(NOBODY), known: RwLock::default(), sort, patience: 1 }
    }
}

/// One visit, as far as it is the same from its first name to its last.
pub(super) struct Visiting<'a> {
    pub(super) base: BorrowedFd<'a>,
    /// Where names are looked up: the directory, if it is open, or else the base.
    pub(super) from: BorrowedFd<'a>,
    pub(super) visit: Visit<'a>,
}

impl Remotes {
    /// Takes all FUSE file systems for such whose listings tell all there is.
    #[cfg(feature = "testing")]
    pub(super) fn believing(self) -> Self {
        Self { sort: |magic| sort(magic).map(|_| true), ..self }
    }

    /// Lets a listing take so many times as long.
    #[cfg(feature = "testing")]
    pub(super) fn with_patience(self, patience: u32) -> Self {
        Self { patience, ..self }
    }

    /// Looks up the names of a visit. `slow` is called once if they are far away, with the time that an answer took,
    /// and says how many threads more may ask.
    pub(super) fn look_up_all(
        &self,
        visiting: &Visiting<'_>,
        stats: &mut [Stat],
        counts: &mut IoCounts,
        slow: &mut dyn FnMut(Duration) -> usize,
    ) {
        let mut asked = visiting.visit.asked();
        let mut is_settled = false;
        // Some are: links may have led there.
        let mut is_near = false;
        let mut far: Option<(u64, Arc<Far>)> = None;
        let mut since = (Instant::now(), 0);
        let mut n_doubts = 0;
        let mut at = 0;
        while let Some(name) = asked.next() {
            let found = ask(visiting.from, name);
            stats[at] = found;
            at += 1;
            counts.stats += 1;
            if is_settled {
                continue;
            }
            match found {
                Stat::Present(meta) if far.as_ref().is_some_and(|(device, _)| *device == meta.device) => {}
                Stat::Present(meta) => {
                    let found = self.far(meta.device, visiting.from, name);
                    let Some(found) = found else {
                        is_near = true;
                        continue;
                    };
                    far = Some((meta.device, found));
                }
                // That does not tell where it would be. The time may: two slow answers are no accident.
                _ => is_settled = far.is_none() && (is_near || self.all_are_near()),
            }
            let took = since.0.elapsed() / narrow(at - since.1);
            if is_settled || far.is_none() && at < 2 {
                continue;
            }
            if took < REQUEST {
                since = (Instant::now(), at);
                n_doubts = 1;
                continue;
            }
            // Where others were known already, this thread may just have been interrupted.
            if n_doubts > 0 {
                since = (Instant::now(), at);
                n_doubts -= 1;
                continue;
            }
            // Now it is decided how to go on.
            let left = stats.len() - at;
            let pays = far.as_ref().is_none_or(|(_, far)| far.pays());
            let mut helpers = if far.is_some() { slow(took) } else { 0 };
            let began = Instant::now();
            let opened = if left >= ENOUGH && pays { self.open(visiting) } else { None };
            if far.is_none() && opened.is_some() {
                helpers = slow(took);
            }
            let stats = &mut stats[at..];
            counts.stats += stats.len() as u64;
            if let Some((directory, its)) = opened.filter(|(_, its)| its.pays()) {
                let wanted = visiting.visit.names().skip(at);
                let allowed = took.saturating_mul(narrow(left)).saturating_mul(self.patience);
                let listed = list(&directory, wanted, (began, allowed), counts);
                let n_free = look_up_listed(visiting, &its, &listed, (at, asked), stats, helpers);
                counts.stats -= n_free;
            } else {
                ask_all(visiting.from, &mut asked.zip(stats).collect::<Vec<_>>(), helpers);
            }
            return;
        }
    }

    /// Opens the directory to read it. `None` where that cannot be done, or it is not far away: a link may have led
    /// there.
    fn open(&self, visiting: &Visiting<'_>) -> Option<(OwnedFd, Arc<Far>)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let (from, path) = match visiting.visit.how().opens() {
            true => (visiting.from, c"."),
            false => (visiting.base, visiting.visit.to_open()),
        };
        let directory = openat(from, path, flags, Mode::empty()).ok()?;
        let device = meta(&fstat(&directory).ok()?).device;
        let far = match self.recall(device) {
            Some(known) => known?,
            None => {
                let magic = magic(&directory).ok()?;
                self.remember(device, magic)?
            }
        };
        Some((directory, far))
    }

    /// The file system that a file was found on, if it is far away.
    #[inline]
    fn far(&self, device: u64, from: BorrowedFd<'_>, asked: &CStr) -> Option<Arc<Far>> {
        if device == self.near.load(Ordering::Relaxed) { None } else { self.find_out(device, from, asked) }
    }

    #[cold]
    fn find_out(&self, device: u64, from: BorrowedFd<'_>, asked: &CStr) -> Option<Arc<Far>> {
        if let Some(known) = self.recall(device) {
            if known.is_none() {
                self.near.store(device, Ordering::Relaxed);
            }
            return known;
        }
        let file = openat(from, or_dot(asked), OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        let magic = file.and_then(magic).unwrap_or(0);
        self.remember(device, magic)
    }

    fn recall(&self, device: u64) -> Option<Option<Arc<Far>>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(its, _)| *its == device).map(|(_, far)| far.clone())
    }

    fn remember(&self, device: u64, magic: i64) -> Option<Arc<Far>> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, far)) = known.iter().find(|(its, _)| *its == device) {
            return far.clone();
        }
        let far = (self.sort)(magic)
            .map(|tells_missing| Arc::new(Far { tells_missing, votes: Default::default() }));
        known.push((device, far.clone()));
        if far.is_none() {
            self.near.store(device, Ordering::Relaxed);
        }
        far
    }

    /// Whether something is known of devices, and all of them are near.
    fn all_are_near(&self) -> bool {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        !known.is_empty() && known.iter().all(|(_, far)| far.is_none())
    }
}

/// Lists a directory until it has told of all wanted names, but for no longer than it may take from a moment on, and with
/// no more calls than there are names: each of them is a request, too.
fn list<'a>(
    directory: &OwnedFd,
    wanted: impl Iterator<Item = &'a [u8]>,
    (began, allowed): (Instant, Duration),
    counts: &mut IoCounts,
) -> Matcher<u8, ()> {
    let stamp = || fstat(directory).map(|found| meta(&found));
    let before = stamp();
    let mut matcher = Matcher::default();
    // Whatever the server folds: a name that could be another's is asked for alone.
    matcher.clear(Folding::Case);
    let (mut n_wanted, mut n_calls) = (0_u64, 0_u64);
    for name in wanted {
        matcher.want(name.iter().copied());
        n_wanted += 1;
    }
    counts.listings += 1;
    let mut buffer = Vec::with_capacity(NAMES);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    let mut last = None;
    let is_whole = loop {
        let is_new = entries.is_buffer_empty();
        if is_new && matcher.is_done() {
            break true;
        }
        // Counted whatever comes: there may be nothing but `.`, for ever.
        if is_new && n_calls >= n_wanted {
            break false;
        }
        n_calls += u64::from(is_new);
        if let Some(name) = last.take_if(|_| is_new) {
            if began.elapsed() > allowed {
                break false;
            }
            // Who asks for a name that was listed gets attributes with the next names, too, from FUSE.
            let _ = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW);
        }
        let entry = match entries.next() {
            None => {
                let is_same = before.is_ok() && before == stamp();
                counts.changed += u64::from(!is_same);
                break is_same;
            }
            Some(Ok(entry)) => entry,
            Some(Err(Errno::INTR)) => continue,
            Some(Err(_)) => break false,
        };
        counts.buffers += u64::from(is_new);
        let name = entry.file_name();
        if name != c"." && name != c".." {
            counts.entries += 1;
            matcher.list(name.to_bytes(), ());
            last.get_or_insert_with(|| name.to_owned());
        }
    };
    if !is_whole {
        matcher.leave_off();
    }
    matcher
}

/// Looks up the names of a visit that are left, the first of them the name at `rest`, with so many threads more. How many
/// are missing without having been asked for.
fn look_up_listed(
    visiting: &Visiting<'_>,
    far: &Far,
    listed: &Matcher<u8, ()>,
    (at, asked): (usize, Asked<'_>),
    stats: &mut [Stat],
    helpers: usize,
) -> u64 {
    let (mut n_present, mut n_slow, mut n_free) = (0, 0, 0);
    let mut late = Vec::new();
    let names = visiting.visit.names().skip(at);
    for (((name, asked), answer), stat) in names.zip(asked).zip(listed.answers()).zip(stats) {
        if answer == Answer::Missing && far.tells_missing && would_be_listed(name) {
            *stat = Stat::Missing;
            n_free += 1;
            continue;
        }
        // Those that take a request each are better asked for together.
        if answer != Answer::Listed(()) || n_slow >= SURE && n_slow * 2 > n_present {
            late.push((asked, stat));
            continue;
        }
        let began = Instant::now();
        *stat = ask(visiting.from, asked);
        if matches!(stat, Stat::Present(_)) {
            n_present += 1;
            n_slow += usize::from(began.elapsed() >= REQUEST);
        }
    }
    ask_all(visiting.from, &mut late, helpers);
    if n_present > 0 {
        let is_slow = n_slow * 2 > n_present;
        far.votes[usize::from(is_slow)].fetch_add(1, Ordering::Relaxed);
    }
    n_free
}

/// So many late answers to what was listed, and more late ones than others: all of them are going to be late.
const SURE: usize = 4;
/// So many questions are handed to a thread at once.
const PIECE: usize = 8;

/// Asks for what is left of a visit, with so many threads more, if they can be had.
fn ask_all(from: BorrowedFd<'_>, left: &mut [(&CStr, &mut Stat)], helpers: usize) {
    let helpers = helpers.min(left.len().div_ceil(PIECE).saturating_sub(1));
    let pieces = Mutex::new(left.chunks_mut(PIECE));
    // Whoever asks takes piece after piece: where no thread can be started, the first one takes all.
    let work = || {
        let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(piece) = next() {
            for (asked, stat) in piece {
                **stat = ask(from, asked);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            if thread::Builder::new().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

/// Whether any server that knows a file with this name lists it, and under this very name but for case: `a~1` may be
/// short for `another`, `a.` the same as `a`, and `a:b` a part of it; and `.snapshot`, `.zfs`, `.lustre` are there for all
/// who know of them, and in no listing.
fn would_be_listed(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !b"\"*/:<>?\\|~".contains(byte) || *byte == b' ';
    let ends_plainly = name.last().is_some_and(|last| !b". ".contains(last));
    name.iter().all(is_plain) && ends_plainly && !name.starts_with(b".")
}

fn ask(from: BorrowedFd<'_>, asked: &CStr) -> Stat {
    look_up(from, or_dot(asked))
}

/// The root's name in the root is empty.
fn or_dot(asked: &CStr) -> &CStr {
    if asked.is_empty() { c"." } else { asked }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_file_systems_are_told_whatever_the_width_of_the_field() {
        assert_eq!(sort(0x6969), Some(true));
        assert_eq!(sort(0xaad7_aaea), Some(true));
        assert_eq!(sort(i64::from(0xaad7_aaea_u32.cast_signed())), Some(true));
        assert_eq!(sort(0x6573_5546), Some(false));
        // ext4, tmpfs, overlayfs, autofs
        assert!([0xef53, 0x0102_1994, 0x794c_7630, 0x0187].iter().all(|&magic| sort(magic).is_none()));
    }

    #[test]
    fn names_that_may_be_spelled_otherwise_or_hidden_are_known() {
        let plain: [&[u8]; 5] = [b"a", b"a.b", b"a b.c", b"a-b_c+d,e", b"#{a}$"];
        assert!(plain.iter().all(|name| would_be_listed(name)));
        let odd: [&[u8]; 11] =
            [b"", b".", b"..", b".a", b"a.", b"a ", b"longna~1.c", b"a:b", b"caf\xc3\xa9", b"a\\b", b"a\tb"];
        assert!(odd.iter().all(|name| !would_be_listed(name)));
    }
}

//! The crew that reads: threads that take jobs from one list, each job some small files, or one piece of a large one.

use super::Content;
use super::tree::{self, PIECE};
use crate::collect::{Disk, Kind, Listing, OpenFile};
use crate::ids::FileId;
use crate::snapshot::Meta;
use crate::state::Digest;
use crate::threads::join_all;
use blake3::hazmat::{ChainingValue, HasherExt};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// So much is read at once: enough to be hashed at full speed, and little enough to be still in the processor's cache by
/// then.
const BUFFER: usize = 128 * 1024;
/// What a job of small files holds at most, in nanoseconds of work.
const JOB: u64 = 250_000;
/// What a file costs apart from its bytes, in nanoseconds.
const PER_FILE: u64 = 5_000;
/// How many bytes are read and hashed in a nanosecond.
const BYTES_PER_NANOSECOND: u64 = 3;
/// A thread for each of so many nanoseconds of work, see `collect`.
const WORK_PER_THREAD: u64 = 300_000;
/// A job that takes so many times as long as it should was not answered from memory.
const SLOW: u32 = 8;
/// The most threads for a slow disk.
const MOST: usize = 16;
/// The error number for what is neither a file nor a directory: `EINVAL`.
const NOT_A_FILE: i32 = 22;
/// The key for digests of directories.
const DIRECTORY: &str = "upcheck v1 entries of a directory";

/// Reads those of the files that stand at these places, and puts what comes of it into `contents`.
pub(super) fn read_all(
    disk: &dyn Disk,
    files: &[(FileId, &[u8], Meta)],
    places: &[usize],
    threads: usize,
    contents: &mut [Content],
) {
    let (jobs, large) = cut(files, places);
    let (cores, most) = match threads {
        0 => thread::available_parallelism().map_or((1, MOST), |cores| (cores.get(), MOST.max(cores.get()))),
        told => (told, told),
    };
    if let Some(headway) = disk.headway() {
        headway.begins(places.iter().map(|&place| files[place].2.size).sum());
    }
    let work: u64 = jobs.iter().map(|job| job.cost).sum();
    let wanted = usize::try_from(work / WORK_PER_THREAD).unwrap_or(usize::MAX);
    let crew = Crew {
        disk,
        files,
        places,
        jobs,
        large,
        next: AtomicUsize::new(0),
        started: AtomicUsize::new(1),
        most,
        found: Mutex::default(),
    };
    thread::scope(|scope| {
        let first = (1..cores.min(wanted)).filter_map(|_| crew.start_one(scope)).collect();
        crew.work(scope, first);
    });
    for (place, content) in lock(&crew.found).drain(..) {
        contents[place] = content;
    }
}

#[derive(Clone, Copy)]
struct Job {
    what: What,
    /// What it should cost, in nanoseconds.
    cost: u64,
}

#[derive(Clone, Copy)]
enum What {
    /// Files from one place in the list of places to another.
    Files(usize, usize),
    /// A piece of a large file, from one byte to another.
    Piece { large: usize, start: u64, end: u64 },
}

/// A file that is read in pieces, by any threads.
struct Large<'a> {
    place: usize,
    piece_len: u64,
    progress: Mutex<Progress<'a>>,
}

struct Progress<'a> {
    /// Open from the first piece to the last.
    file: Option<Arc<dyn OpenFile + 'a>>,
    /// How many pieces nobody has finished.
    n_left: usize,
    pieces: Vec<ChainingValue>,
    /// What it came to, where it is not to be read in pieces after all.
    settled: Option<Content>,
}

/// The jobs, the large files first: so nobody is left with one at the end.
fn cut<'a>(files: &[(FileId, &[u8], Meta)], places: &[usize]) -> (Vec<Job>, Vec<Large<'a>>) {
    let (mut jobs, mut large) = (Vec::new(), Vec::new());
    for &place in places {
        let size = files[place].2.size;
        if size <= PIECE {
            continue;
        }
        let length = tree::piece_len(size);
        let first = jobs.len();
        let starts = (0..size.div_ceil(length)).map(|piece| piece * length);
        jobs.extend(starts.map(|start| Job {
            what: What::Piece { large: large.len(), start, end: size.min(start.saturating_add(length)) },
            cost: length / BYTES_PER_NANOSECOND,
        }));
        let n_pieces = jobs.len() - first;
        let pieces = vec![[0; 32]; n_pieces];
        let progress = Progress { file: None, n_left: n_pieces, pieces, settled: None };
        large.push(Large { place, piece_len: length, progress: Mutex::new(progress) });
    }
    let (mut start, mut cost) = (0, 0);
    for (at, &place) in places.iter().enumerate() {
        let size = files[place].2.size;
        if size <= PIECE {
            cost += PER_FILE + size / BYTES_PER_NANOSECOND;
        }
        if cost >= JOB || cost > 0 && at + 1 == places.len() {
            jobs.push(Job { what: What::Files(start, at + 1), cost });
            (start, cost) = (at + 1, 0);
        }
    }
    (jobs, large)
}

struct Crew<'a> {
    disk: &'a dyn Disk,
    files: &'a [(FileId, &'a [u8], Meta)],
    places: &'a [usize],
    jobs: Vec<Job>,
    large: Vec<Large<'a>>,
    next: AtomicUsize,
    started: AtomicUsize,
    most: usize,
    found: Mutex<Vec<(usize, Content)>>,
}

/// What a thread uses again and again.
struct Tools {
    buffer: Vec<u8>,
    listing: Listing,
}

impl<'a> Crew<'a> {
    /// Takes jobs until there are none, and waits for the threads that it has started.
    fn work<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        mut started: Vec<ScopedJoinHandle<'scope, ()>>,
    ) {
        let mut tools = Tools { buffer: vec![0; BUFFER], listing: Listing::default() };
        let mut found = Vec::new();
        while let Some(job) = self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let began = Instant::now();
            match job.what {
                What::Files(start, end) => {
                    for &place in &self.places[start..end] {
                        let (_, path, expected) = self.files[place];
                        if expected.size <= PIECE {
                            found.push((place, read_small(self.disk, path, expected, &mut tools)));
                            self.goes_on(expected.size);
                        }
                    }
                }
                What::Piece { large, start, end } => {
                    let large = &self.large[large];
                    if let Some(content) = self.read_piece(large, start..end, &mut tools) {
                        found.push((large.place, content));
                    }
                    self.goes_on(end - start);
                }
            }
            if began.elapsed() > Duration::from_nanos(job.cost) * SLOW {
                started.extend(self.start_one(scope));
            }
        }
        lock(&self.found).append(&mut found);
        join_all(started);
    }

    fn goes_on(&self, n_bytes: u64) {
        if let Some(headway) = self.disk.headway() {
            headway.goes_on(n_bytes);
        }
    }

    /// Starts another thread, if there may be one more. Where the system refuses, those that are there do the work.
    fn start_one<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        let one_more = |started| (started < self.most).then_some(started + 1);
        self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).ok()?;
        thread::Builder::new().spawn_scoped(scope, move || self.work(scope, Vec::new())).ok()
    }

    /// Reads a piece of a large file. Whoever finishes the last one says what the file came to.
    fn read_piece(&self, large: &Large<'a>, piece: Range<u64>, tools: &mut Tools) -> Option<Content> {
        let (_, path, expected) = self.files[large.place];
        let at = usize::try_from(piece.start / large.piece_len).unwrap_or(usize::MAX);
        let read = self.open_large(large, path, expected, tools).map(|file| {
            let mut hasher = tree::piece_hasher(piece.start);
            read_into(&mut hasher, &*file, piece, &mut tools.buffer)?;
            Ok(hasher.finalize_non_root())
        });
        let mut progress = lock(&large.progress);
        match read {
            Some(Ok(value)) => progress.pieces[at] = value,
            Some(Err(content)) => progress.settled = progress.settled.or(Some(content)),
            None => {}
        }
        progress.n_left -= 1;
        if progress.n_left > 0 {
            return None;
        }
        let file = progress.file.take();
        progress.settled.or_else(|| {
            let pieces = std::mem::take(&mut progress.pieces);
            Some(match look(&*file?, expected) {
                Ok(_) => Content::Digest(Digest(tree::root(&pieces))),
                Err(content) => content,
            })
        })
    }

    /// The file, opened by the first who needs it; `None` where it is settled what it comes to.
    fn open_large(
        &self,
        large: &Large<'a>,
        path: &[u8],
        expected: Meta,
        tools: &mut Tools,
    ) -> Option<Arc<dyn OpenFile + 'a>> {
        // The others wait meanwhile: they need the same.
        let mut progress = lock(&large.progress);
        if progress.settled.is_some() {
            return None;
        }
        if progress.file.is_none() {
            let opened = self.disk.open(path).map_err(|error| told(&error));
            match opened.and_then(|file| Ok((look(&*file, expected)?, file))) {
                Ok((Kind::File, file)) => progress.file = Some(file.into()),
                Ok((kind, file)) => progress.settled = Some(read_open(&*file, kind, expected, tools)),
                Err(content) => progress.settled = Some(content),
            }
        }
        progress.file.clone()
    }
}

fn read_small(disk: &dyn Disk, path: &[u8], expected: Meta, tools: &mut Tools) -> Content {
    let opened = disk.open(path).map_err(|error| told(&error));
    match opened.and_then(|file| Ok((look(&*file, expected)?, file))) {
        Ok((kind, file)) => read_open(&*file, kind, expected, tools),
        Err(content) => content,
    }
}

/// Reads what was found to look as expected, and looks again.
fn read_open(file: &dyn OpenFile, kind: Kind, expected: Meta, tools: &mut Tools) -> Content {
    let digest = match kind {
        Kind::File => hash_file(file, expected.size, &mut tools.buffer),
        Kind::Directory => hash_directory(file, &mut tools.listing),
        _ => Err(Content::Unreadable(NOT_A_FILE)),
    };
    match digest.and_then(|digest| Ok((look(file, expected)?, digest))) {
        Ok((_, digest)) => Content::Digest(digest),
        Err(content) => content,
    }
}

fn hash_file(file: &dyn OpenFile, size: u64, buffer: &mut [u8]) -> Result<Digest, Content> {
    // Where the system makes up what a file holds, it says that the size is 0.
    if size == 0 && read_at(file, 0, &mut buffer[..1])? > 0 {
        return Err(Content::Unsteady);
    }
    let hash = match usize::try_from(size).ok().and_then(|size| buffer.get_mut(..size)) {
        Some(whole) => {
            if read_at(file, 0, whole)? < whole.len() {
                return Err(Content::Unsteady);
            }
            blake3::hash(whole)
        }
        None => {
            let mut hasher = blake3::Hasher::new();
            read_into(&mut hasher, file, 0..size, buffer)?;
            hasher.finalize()
        }
    };
    Ok(Digest(*hash.as_bytes()))
}

fn hash_directory(file: &dyn OpenFile, listing: &mut Listing) -> Result<Digest, Content> {
    file.list(listing).map_err(|error| told(&error))?;
    listing.sort();
    let mut hasher = blake3::Hasher::new_derive_key(DIRECTORY);
    for (name, kind) in listing.entries() {
        let kind = match kind {
            Kind::File => b"f",
            Kind::Directory => b"d",
            Kind::Link => b"l",
            Kind::Other => b"o",
            Kind::Unknown => b"?",
        };
        hasher.update(kind).update(name).update(b"\0");
    }
    Ok(Digest(*hasher.finalize().as_bytes()))
}

/// Hashes a part of a file, all of which has to be there.
fn read_into(
    hasher: &mut blake3::Hasher,
    file: &dyn OpenFile,
    part: Range<u64>,
    buffer: &mut [u8],
) -> Result<(), Content> {
    let mut at = part.start;
    while at < part.end {
        let wanted = usize::try_from(part.end - at).unwrap_or(usize::MAX).min(buffer.len());
        if read_at(file, at, &mut buffer[..wanted])? < wanted {
            return Err(Content::Unsteady);
        }
        hasher.update(&buffer[..wanted]);
        at += wanted as u64;
    }
    Ok(())
}

fn read_at(file: &dyn OpenFile, offset: u64, buffer: &mut [u8]) -> Result<usize, Content> {
    file.read_at(offset, buffer).map_err(|error| told(&error))
}

/// What the file is, if it looks as expected.
fn look(file: &dyn OpenFile, expected: Meta) -> Result<Kind, Content> {
    match file.look() {
        Ok((kind, found)) if found == expected => Ok(kind),
        Ok(_) => Err(Content::Unsteady),
        Err(error) => Err(told(&error)),
    }
}

fn told(error: &io::Error) -> Content {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Content::Missing,
        _ => Content::Unreadable(error.raw_os_error().unwrap_or(0)),
    }
}

/// What is behind a lock stays whole when a thread panics, and the panic is passed on at the end.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

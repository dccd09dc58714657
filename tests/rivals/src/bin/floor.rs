//! The floor under every tool that looks at each file: looks at the files of a list, and nothing else.
//!
//! `floor LIST`. There is nothing to parse, to hash or to decide: the list holds the names as the kernel wants
//! them, grouped by directory and already dealt out to the threads. Its format, which `floor_list.rs` writes:
//!
//! ```text
//! u64              number of threads, little-endian; then for each of them
//! u64              where its part begins; it ends where the next one begins
//! part             groups
//! group            directory NUL, then names, each with a NUL, then one NUL more
//! ```
//!
//! The group of an empty directory holds whole paths: for few files, opening their directory is no gain.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use std::ffi::CStr;
use std::os::fd::AsFd;
use std::process::ExitCode;

#[cfg(any(target_os = "linux", target_os = "android"))]
const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const SEARCH: OFlags = OFlags::RDONLY;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("floor: error: which list?");
        return ExitCode::FAILURE;
    };
    let Some(found) = std::fs::read(path).ok().as_deref().and_then(look_at_all) else {
        eprintln!("floor: error: not a list");
        return ExitCode::FAILURE;
    };
    println!("{} files, {} missing", found.files, found.missing);
    ExitCode::SUCCESS
}

#[derive(Default)]
struct Found {
    files: usize,
    missing: usize,
}

fn look_at_all(list: &[u8]) -> Option<Found> {
    let number = |at: usize| {
        let bytes = list.get(at * 8..at * 8 + 8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let n_threads = number(0)?;
    let part = |thread: usize| {
        let end = if thread < n_threads { number(thread + 1)? } else { list.len() };
        list.get(number(thread)?..end)
    };
    let parts = (1..=n_threads).map(part).collect::<Option<Vec<_>>>()?;
    let (first, others) = parts.split_first()?;
    std::thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|part| scope.spawn(|| look_at(part))).collect();
        let mut found = look_at(first);
        for other in others {
            let other = other.join().ok()?;
            found.files += other.files;
            found.missing += other.missing;
        }
        Some(found)
    })
}

fn look_at(part: &[u8]) -> Found {
    let mut names = Names(part);
    let mut found = Found::default();
    while let Some(directory) = names.next() {
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = (!directory.is_empty()).then(|| openat(CWD, directory, flags, Mode::empty()));
        let from = match &opened {
            None => Some(CWD),
            Some(Ok(opened)) => Some(opened.as_fd()),
            Some(Err(_)) => None,
        };
        while let Some(name) = names.next()
            && !name.is_empty()
        {
            found.files += 1;
            if from.is_none_or(|from| statat(from, name, AtFlags::empty()).is_err()) {
                found.missing += 1;
            }
        }
    }
    found
}

struct Names<'a>(&'a [u8]);

impl<'a> Names<'a> {
    fn next(&mut self) -> Option<&'a CStr> {
        let name = CStr::from_bytes_until_nul(self.0).ok()?;
        self.0 = &self.0[name.count_bytes() + 1..];
        Some(name)
    }
}

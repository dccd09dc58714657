//! The mount table: inotify says nothing of what is mounted on top of what is watched.
//!
//! It also names the upper layers of file systems that are made of others. Some kernels tell nobody of what they write to
//! a file there for the file system above (overlayfs opened such files with `FMODE_NONOTIFY`).

use rapidhash::RapidHashSet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::OsStr;
use std::fs::{File, metadata, read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;

/// The table of this process's mount namespace, as somebody who waits for it to change has it open.
#[derive(Debug)]
pub(super) struct Mounts {
    table: File,
}

impl Mounts {
    pub(super) fn new() -> std::io::Result<Self> {
        // The kernel counts what changes from here on.
        Ok(Self { table: File::open("/proc/self/mountinfo")? })
    }

    /// Whether it changed since this was asked last. The kernel counts before the call that mounts returns.
    pub(super) fn have_changed(&self) -> rustix::io::Result<bool> {
        let mut asked = [PollFd::new(&self.table, PollFlags::PRI)];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut asked, Some(&at_once))?;
        Ok(asked[0].revents().intersects(PollFlags::PRI | PollFlags::ERR))
    }
}

/// Device and inode of each directory that is the upper layer of a file system in the table. One that cannot be found leads
/// nowhere from here.
pub(super) fn upper_layers() -> std::io::Result<RapidHashSet<(u64, u64)>> {
    let table = read("/proc/self/mountinfo")?;
    let paths = table.split(|byte| *byte == b'\n').filter_map(upper_layer);
    let found = paths.filter_map(|path| metadata(OsStr::from_bytes(&path)).ok());
    Ok(found.map(|found| (found.dev(), found.ino())).collect())
}

/// The upper layer that a line names. Before its options stand the type and the source; in them `\,` is no end of an option.
fn upper_layer(line: &[u8]) -> Option<Vec<u8>> {
    let at = line.windows(3).position(|three| three == b" - ")?;
    let options = line[at + 3..].splitn(3, |byte| *byte == b' ').nth(2)?;
    let options = unescaped(options);
    let start = options.windows(9).position(|nine| nine == b"upperdir=")? + 9;
    let mut path = Vec::new();
    let mut rest = options[start..].iter();
    while let Some(&byte) = rest.next() {
        match byte {
            b',' => break,
            b'\\' => path.extend(rest.next()),
            byte => path.push(byte),
        }
    }
    Some(path)
}

/// Puts bytes in the place of their octal numbers: `\040` is a space.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let octal = |byte: u8| (b'0'..b'8').contains(&byte).then(|| byte - b'0');
        let number = match after {
            [a, b, c, ..] if *first == b'\\' => octal(*a).zip(octal(*b)).zip(octal(*c)),
            _ => None,
        };
        match number {
            Some(((a, b), c)) => {
                bytes.push(a << 6 | b << 3 | c);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_layers_are_found_whatever_is_in_their_names() {
        let line =
            |options: &str| upper_layer(format!("9 8 0:1 / /a\\040b rw - overlay none {options}").as_bytes());
        assert_eq!(line("rw,lowerdir=/l,upperdir=/u,workdir=/w"), Some(b"/u".to_vec()));
        assert_eq!(line("rw,upperdir=/a\\040b\\134,c"), Some(b"/a b,c".to_vec()));
        assert_eq!(line("rw,upperdir=/last\\134\\134x"), Some(b"/last\\x".to_vec()));
        assert_eq!(line("rw,lowerdir=/l"), None);
        for odd in [
            "",
            " - ",
            " - a",
            " - a b",
            "\\",
            " - a b upperdir=",
            " - a b upperdir=\\13",
            " - a b upperdir=\\",
        ] {
            let _ = upper_layer(odd.as_bytes());
        }
    }
}

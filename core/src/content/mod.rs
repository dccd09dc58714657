//! Content: what files hold, as digests, for those whose stamps do not tell.
//!
//! The digest of a file is the BLAKE3 hash of its bytes: what `b3sum` says. That of a directory is a BLAKE3 hash of
//! its sorted entries, for each a byte for its kind (`f`, `d`, `l`, `o`, `?`: file, directory, link, other, unknown), its
//! name and a NUL, under a key of its own: no file has the digest of a directory. So it changes when an entry appears,
//! disappears, or becomes something else, but not when what is in an entry does.
//!
//! A file is looked at from its descriptor before and after it is read. Only if it was both times what the caller had
//! seen, it has a digest: so the digest belongs to that stamp, as far as a stamp proves anything
//! ([`is_racy`](crate::is_racy)).

mod cache;
mod crew;
mod tree;

pub use cache::DigestCache;

use crate::collect::Disk;
use crate::ids::FileId;
use crate::snapshot::Meta;
use crate::state::Digest;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use rapidhash::fast::RandomState;

/// What looking at a file's content came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nobody looked.
    Unknown,
    /// It has this digest, and looked as it was expected to before and after its content was read.
    Digest(Digest),
    /// Its stamp was another one than expected, before or after: somebody is changing it.
    Unsteady,
    /// It is not there.
    Missing,
    /// The disk would not say, or it is neither a file nor a directory. The operating system's error number.
    Unreadable(i32),
}

/// Reads the content of files that were seen with these stamps, with at most `threads` threads; with 0 there is one per
/// core, and more where the disk is slow. The answers are in the order of the files.
///
/// Cost: for each file one open, two looks and one read per 128 KiB; a file that is asked for twice, also by another name,
/// is read once.
#[must_use]
pub fn digest_files(disk: &dyn Disk, files: &[(FileId, &[u8], Meta)], threads: usize) -> Vec<Content> {
    let mut contents = vec![Content::Unknown; files.len()];
    let (first, again) = tell_apart(files);
    crew::read_all(disk, files, &first, threads, &mut contents);
    let mut rest = Vec::new();
    for (file, first) in again {
        let content = contents[first];
        // What went wrong under one name may go well under the other.
        if matches!(content, Content::Digest(_)) || files[file].1 == files[first].1 {
            contents[file] = content;
        } else {
            rest.push(file);
        }
    }
    crew::read_all(disk, files, &rest, threads, &mut contents);
    contents
}

/// The places of the files to read, and for each of the others that of the one that it is the same as.
fn tell_apart(files: &[(FileId, &[u8], Meta)]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut first = Vec::with_capacity(files.len());
    let mut again = Vec::new();
    let mut seen = HashMap::with_capacity_and_hasher(files.len(), RandomState::default());
    for (at, (_, path, meta)) in files.iter().enumerate() {
        // Without inodes the stamps of two files can be the same.
        let path = if meta.inode == 0 { *path } else { b"" };
        match seen.entry((path, *meta)) {
            Entry::Occupied(entry) => again.push((at, *entry.get())),
            Entry::Vacant(entry) => {
                entry.insert(at);
                first.push(at);
            }
        }
    }
    (first, again)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::{Access, MemoryDisk, os_disk};
    use crate::snapshot::Stat;

    const EACCES: i32 = 13;

    fn meta(disk: &dyn Disk, path: &str) -> Meta {
        match disk.stat(path.as_bytes()) {
            Stat::Present(meta) => meta,
            other => panic!("{path}: {other:?}"),
        }
    }

    /// What these files hold, which look as the disk says now.
    fn contents(disk: &dyn Disk, paths: &[&str], threads: usize) -> Vec<Content> {
        let seen: Vec<Meta> = paths.iter().map(|path| meta(disk, path)).collect();
        contents_as_seen(disk, paths, &seen, threads)
    }

    fn contents_as_seen(disk: &dyn Disk, paths: &[&str], seen: &[Meta], threads: usize) -> Vec<Content> {
        let files: Vec<_> = (0..).zip(paths).zip(seen).collect();
        let files: Vec<_> =
            files.iter().map(|((n, path), meta)| (FileId::new(*n), path.as_bytes(), **meta)).collect();
        digest_files(disk, &files, threads)
    }

    fn hash(bytes: &[u8]) -> Content {
        Content::Digest(Digest(*blake3::hash(bytes).as_bytes()))
    }

    fn some_bytes(n: usize) -> Vec<u8> {
        (0..n).map(|at| ((at * 31) ^ (at >> 8) ^ (at >> 17)).to_le_bytes()[0]).collect()
    }

    #[test]
    fn digests_are_those_of_blake3_whatever_the_size() {
        let piece = 1 << 20;
        let buffer = 128 * 1024;
        let mut sizes = vec![0, 1, 63, 64, 65, 1023, 1024, 1025, 2047, 2048, 2049, 16_384, 100_000];
        for around in [buffer, 2 * buffer, piece, 2 * piece, 3 * piece, 4 * piece, 5 * piece, 8 * piece] {
            sizes.extend([around - 1, around, around + 1, around + 5, around + 1024, around + 1025]);
        }
        let most = sizes.iter().max().copied().unwrap_or(0);
        let bytes = some_bytes(most);
        let place = tempfile::tempdir().expect("a temporary directory");
        let mut memory = MemoryDisk::new();
        let names: Vec<String> = sizes.iter().map(|size| format!("f{size}")).collect();
        for (name, &size) in names.iter().zip(&sizes) {
            std::fs::write(place.path().join(name), &bytes[..size]).expect("a file");
            memory.write(name, &bytes[..size]);
        }
        let real = os_disk(place.path()).expect("a disk");
        let portable = crate::collect::PortableDisk::new(place.path()).expect("a disk");
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let expected: Vec<Content> = sizes.iter().map(|&size| hash(&bytes[..size])).collect();
        for threads in [0, 1, 2, 5] {
            assert_eq!(contents(&real, &names, threads), expected, "{threads} threads");
        }
        assert_eq!(contents(&portable, &names, 3), expected);
        assert_eq!(contents(&memory, &names, 3), expected);
    }

    #[test]
    fn a_file_that_was_changed_since_it_was_seen_has_no_digest() {
        let mut disk = MemoryDisk::new();
        disk.write("a", b"old");
        disk.write("large", &some_bytes(3 << 20));
        let seen = [meta(&disk, "a"), meta(&disk, "large")];
        disk.overwrite_keeping_mtime("a", b"new");
        disk.overwrite_keeping_mtime("large", &some_bytes(3 << 20));
        assert_eq!(contents_as_seen(&disk, &["a", "large"], &seen, 1), [Content::Unsteady; 2]);
    }

    #[test]
    fn a_file_that_is_changed_while_it_is_read_has_no_digest() {
        for size in [3, 200_000, 3 << 20] {
            for change in [
                |disk: &mut MemoryDisk| disk.overwrite_keeping_mtime("a", b"another"),
                |disk: &mut MemoryDisk| disk.write("a", b"another"),
                |disk: &mut MemoryDisk| disk.overwrite("a", b""),
                |disk: &mut MemoryDisk| disk.remove("a"),
            ] {
                let mut disk = MemoryDisk::new();
                disk.write("a", &some_bytes(size));
                disk.on_read("a", change);
                assert_eq!(contents(&disk, &["a"], 2), [Content::Unsteady], "{size} bytes");
            }
        }
    }

    #[test]
    fn a_file_that_is_gone_or_not_to_be_read_says_so() {
        let mut disk = MemoryDisk::new();
        for name in ["gone", "refused", "pipe"] {
            disk.write(name, b"x");
        }
        disk.make_pipe("pipe");
        let paths = ["gone", "refused", "pipe"];
        let seen = paths.map(|path| meta(&disk, path));
        disk.remove("gone");
        disk.fail("refused", EACCES);
        let expected = [Content::Missing, Content::Unreadable(EACCES), Content::Unreadable(22)];
        assert_eq!(contents_as_seen(&disk, &paths, &seen, 1), expected);
    }

    #[test]
    fn what_is_the_same_file_is_read_once() {
        let mut disk = MemoryDisk::new();
        disk.write("a", b"content");
        disk.hard_link("a", "b");
        let paths = ["a", "b", "a"];
        disk.take_log();
        let seen = paths.map(|path| meta(&disk, path));
        disk.take_log();
        assert_eq!(contents_as_seen(&disk, &paths, &seen, 1), [hash(b"content"); 3]);
        assert_eq!(disk.take_log(), [Access::Read(b"a".to_vec())]);
        // What one name hides the other may show.
        disk.fail("a", EACCES);
        let refused = Content::Unreadable(EACCES);
        assert_eq!(contents_as_seen(&disk, &paths, &seen, 1), [refused, hash(b"content"), refused]);
        // Where there are no inodes only paths tell.
        disk.write("c", b"CONTENT");
        let alike = Meta { mtime: 1, size: 7, ..Meta::default() };
        assert_eq!(tell_apart(&[(FileId::new(0), b"b", alike), (FileId::new(1), b"c", alike)]).0, [0, 1]);
    }

    #[test]
    fn the_digest_of_a_directory_is_that_of_its_entries() {
        let mut disk = MemoryDisk::new();
        disk.make_directory("d");
        disk.write("d/a", b"1");
        let digest = |disk: &MemoryDisk| contents(disk, &["d"], 1)[0];
        let first = digest(&disk);
        assert!(matches!(first, Content::Digest(_)), "{first:?}");
        disk.tick();
        disk.overwrite("d/a", b"2");
        assert_eq!(digest(&disk), first);
        disk.write("d/b", b"");
        let second = digest(&disk);
        assert_ne!(second, first);
        disk.remove("d/b");
        disk.link("d/b", "a");
        let third = digest(&disk);
        assert!(third != first && third != second);
        disk.remove("d/b");
        assert_eq!(digest(&disk), first);
        disk.on_read("d", |disk| disk.write("d/c", b""));
        assert_eq!(digest(&disk), Content::Unsteady);
        assert_ne!(hash(b""), {
            disk.remove("d/a");
            disk.remove("d/c");
            digest(&disk)
        });
    }

    // Not on macOS, since rustix makes no pipes there; nor on Windows, which has none in directories.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    #[test]
    fn a_real_directory_and_a_real_pipe() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let root = place.path();
        std::fs::create_dir_all(root.join("d/sub")).expect("a directory");
        std::fs::write(root.join("d/file"), "x").expect("a file");
        std::os::unix::fs::symlink("nowhere", root.join("d/link")).expect("a link");
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, root.join("p"), fifo, 0o600.into(), 0).expect("a pipe");
        let mut memory = MemoryDisk::new();
        memory.make_directory("d");
        memory.write("d/sub/x", b"");
        memory.write("d/file", b"x");
        memory.link("d/link", "nowhere");
        let expected = contents(&memory, &["d"], 1)[0];
        let disk = os_disk(root).expect("a disk");
        assert_eq!(contents(&disk, &["d", "p"], 1), [expected, Content::Unreadable(22)]);
        let portable = crate::collect::PortableDisk::new(root).expect("a disk");
        assert_eq!(contents(&portable, &["d", "p"], 1), [expected, Content::Unreadable(22)]);
    }
}

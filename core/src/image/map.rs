//! Bringing a file into memory: by mapping it, which is the one thing here that the compiler cannot check.

use memmap2::{Mmap, MmapMut};
use std::fs::File;
use std::io;

#[cfg(not(windows))]
#[expect(unsafe_code, reason = "a mapped file is only as constant as everybody leaves it")]
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes must not change while they are mapped. Images are written once, under another name, and
    // then renamed; the folder they are in is its owner's alone, and was found so before the file was opened.
    unsafe { Mmap::map(file) }
}

/// Windows puts no other file in the place of one that is mapped, by whichever process. So there it is read.
#[cfg(windows)]
pub(super) fn map(file: &File) -> io::Result<Mmap> {
    read(file)
}

/// Brings a copy of the file into memory, aligned as a mapped file is.
pub(super) fn read(mut file: &File) -> io::Result<Mmap> {
    let length = usize::try_from(file.metadata()?.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // Nothing of length 0 can be mapped, and nothing so short is an image.
    let mut memory = MmapMut::map_anon(length.max(1))?;
    io::Read::read_exact(&mut file, &mut memory[..length])?;
    memory.make_read_only()
}

//! Mapping a file into memory: the one thing here that the compiler cannot check.
#![expect(unsafe_code, reason = "a mapped file is only as constant as everybody leaves it")]

use memmap2::Mmap;
use std::fs::File;
use std::io;

pub(super) fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes must not change while they are mapped. Images are written once, under another name, and
    // then renamed; the folder they are in is its owner's alone, and was found so before the file was opened.
    unsafe { Mmap::map(file) }
}

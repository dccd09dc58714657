//! Texts and lists, one by one and many in one piece of memory.

use crate::border::slice;
use crate::error::Failure;
use std::ffi::c_char;

/// Some bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct upcheck_str {
    /// The first byte.
    pub ptr: *const c_char,
    /// How many there are.
    pub len: usize,
}

impl upcheck_str {
    pub(crate) const EMPTY: Self = Self { ptr: c"".as_ptr(), len: 0 };

    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self { ptr: bytes.as_ptr().cast(), len: bytes.len() }
    }

    /// # Safety
    /// As [`bytes`].
    pub(crate) unsafe fn bytes<'a>(self, what: &str) -> Result<&'a [u8], Failure> {
        // SAFETY: see above.
        unsafe { bytes(self.ptr, self.len, what) }
    }
}

/// The bytes of a text.
///
/// # Safety
/// The pointer leads to `len` bytes that nobody changes during `'a`, or `len` is 0.
pub(crate) unsafe fn bytes<'a>(ptr: *const c_char, len: usize, what: &str) -> Result<&'a [u8], Failure> {
    // SAFETY: see above.
    unsafe { slice(ptr.cast::<u8>(), len, what) }
}

/// An array of texts.
///
/// # Safety
/// The pointer leads to `n` texts, or `n` is 0; and each as [`bytes`].
pub(crate) unsafe fn strings<'a>(
    ptr: *const upcheck_str,
    n: usize,
    what: &str,
) -> Result<Vec<&'a [u8]>, Failure> {
    // SAFETY: see above.
    let texts = unsafe { slice(ptr, n, what) }?;
    // SAFETY: see above.
    texts.iter().map(|text| unsafe { text.bytes(what) }).collect()
}

/// Many texts in one piece of memory.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct upcheck_texts {
    /// All bytes, one text after the other.
    pub bytes: *const c_char,
    /// Where each text ends in `bytes`; NULL if all are empty.
    pub ends: *const u64,
}

/// A list of files for each of many targets.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct upcheck_lists {
    /// All files, one list after the other.
    pub files: *const u32,
    /// Where each list ends in `files`; NULL if all are empty.
    pub ends: *const u64,
}

/// Values of one kind for each of `n` things, behind one another.
pub(crate) struct Rows<'a, T> {
    values: &'a [T],
    ends: &'a [u64],
}

impl<'a, T> Rows<'a, T> {
    /// # Safety
    /// `ends` is NULL or leads to `n` ends, and `values` to as many values as the last of them says.
    unsafe fn new(values: *const T, ends: *const u64, n: usize, what: &str) -> Result<Self, Failure> {
        if ends.is_null() {
            return Ok(Self { values: &[], ends: &[] });
        }
        // SAFETY: see above.
        let ends = unsafe { slice(ends, n, what) }?;
        if !ends.is_sorted() {
            return Err(Failure::invalid(format!("the ends of {what} do not ascend")));
        }
        let all = ends.last().copied().unwrap_or(0);
        let all =
            usize::try_from(all).map_err(|_| Failure::invalid(format!("the ends of {what} go too far")))?;
        // SAFETY: see above.
        Ok(Self { values: unsafe { slice(values, all, what) }?, ends })
    }

    #[expect(clippy::cast_possible_truncation, reason = "all ends are at most the last one, which fits")]
    pub(crate) fn row(&self, at: usize) -> &'a [T] {
        if self.ends.is_empty() {
            return &[];
        }
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.values[start..self.ends[at] as usize]
    }

    pub(crate) fn values(&self) -> &'a [T] {
        self.values
    }

    pub(crate) fn ends(&self) -> &'a [u64] {
        self.ends
    }
}

impl upcheck_texts {
    /// # Safety
    /// As [`Rows::new`].
    pub(crate) unsafe fn rows<'a>(self, n: usize, what: &str) -> Result<Rows<'a, u8>, Failure> {
        // SAFETY: see above.
        unsafe { Rows::new(self.bytes.cast(), self.ends, n, what) }
    }
}

impl upcheck_lists {
    /// # Safety
    /// As [`Rows::new`].
    pub(crate) unsafe fn rows<'a>(self, n: usize, what: &str) -> Result<Rows<'a, u32>, Failure> {
        // SAFETY: see above.
        unsafe { Rows::new(self.files, self.ends, n, what) }
    }
}

/// Writes a text into a caller's buffer: at most `capacity` bytes, the last of them a NUL. Its whole length.
///
/// # Safety
/// `buffer` has `capacity` bytes that can be written, or is NULL.
pub(crate) unsafe fn fill(text: &[u8], buffer: *mut c_char, capacity: usize) -> usize {
    if !buffer.is_null() && capacity > 0 {
        let n = text.len().min(capacity - 1);
        // SAFETY: `n` bytes and a NUL fit, and the text is not the caller's buffer.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast::<u8>(), n);
            buffer.add(n).write(0);
        }
    }
    text.len()
}

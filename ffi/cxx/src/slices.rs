//! From slices to the C interface's structs of pointers and lengths, and back.

use crate::bridge::ffi::{Failure, Lists, Text, Texts};
use crate::failure::Outcome;
use std::ffi::c_char;
use upcheck_capi::{upcheck_lists, upcheck_str, upcheck_texts};

/// A text as the C interface takes it.
pub(crate) fn text(bytes: &[u8]) -> upcheck_str {
    upcheck_str { ptr: chars(bytes), len: bytes.len() }
}

/// The first byte of a text.
pub(crate) fn chars(bytes: &[u8]) -> *const c_char {
    bytes.as_ptr().cast()
}

/// Texts as the C interface takes them.
pub(crate) fn strings(texts: &[Text<'_>]) -> Vec<upcheck_str> {
    texts.iter().map(|one| text(one.bytes)).collect()
}

/// Refuses ends that are not one for each of `n` things, or that lead past what is there. The C interface believes
/// its callers in that.
fn check_ends(ends: &[u64], n: usize, n_values: usize, what: &str) -> Outcome<()> {
    if ends.is_empty() {
        return Ok(());
    }
    if ends.len() != n {
        return Err(Failure::invalid(format!("{what} have {} ends, where {n} are wanted", ends.len())));
    }
    // The C interface refuses ends that do not ascend, before it reads by them: so the last one tells.
    match ends.last().is_some_and(|&end| end > n_values as u64) {
        true => Err(Failure::invalid(format!("the ends of {what} go too far: only {n_values} are there"))),
        false => Ok(()),
    }
}

fn ends_of(ends: &[u64]) -> *const u64 {
    if ends.is_empty() { std::ptr::null() } else { ends.as_ptr() }
}

impl Texts<'_> {
    /// As the C interface takes them, for `n` things.
    pub(crate) fn for_c(&self, n: usize, what: &str) -> Outcome<upcheck_texts> {
        check_ends(self.ends, n, self.bytes.len(), what)?;
        Ok(upcheck_texts { bytes: chars(self.bytes), ends: ends_of(self.ends) })
    }
}

impl Lists<'_> {
    /// As the C interface takes them, for `n` things.
    pub(crate) fn for_c(&self, n: usize, what: &str) -> Outcome<upcheck_lists> {
        check_ends(self.ends, n, self.files.len(), what)?;
        Ok(upcheck_lists { files: self.files.as_ptr().cast(), ends: ends_of(self.ends) })
    }
}

/// An array that the C interface has handed out.
///
/// # Safety
/// The pointer leads to `n` values that live and do not change during `'a`, or `n` is 0; `V` is a transparent wrapper
/// of `C`, or `C` itself.
pub(crate) unsafe fn array<'a, C, V>(values: *const C, n: usize) -> &'a [V] {
    const { assert!(size_of::<C>() == size_of::<V>() && align_of::<C>() == align_of::<V>()) };
    if n == 0 {
        return &[];
    }
    // SAFETY: see above.
    unsafe { std::slice::from_raw_parts(values.cast(), n) }
}

/// A text that the C interface writes into a buffer.
pub(crate) fn filled(fill: impl Fn(*mut c_char, usize) -> usize) -> Vec<u8> {
    let n = fill(std::ptr::null_mut(), 0);
    if n == 0 {
        return Vec::new();
    }
    let mut buffer = vec![0_u8; n + 1];
    let n_now = fill(buffer.as_mut_ptr().cast(), buffer.len());
    buffer.truncate(n_now.min(n));
    buffer
}

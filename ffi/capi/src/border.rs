//! The border itself: what comes in as pointers, and what goes out as statuses.

use crate::error::{Failure, Status, upcheck_error};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a function that can fail. `error` receives what went wrong, or NULL.
pub(crate) fn call(error: *mut *mut upcheck_error, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    let result = catch_unwind(AssertUnwindSafe(body));
    let failure = match result {
        Ok(Ok(())) => None,
        Ok(Err(failure)) => Some(failure),
        Err(panic) => Some(Failure::internal(panic.as_ref())),
    };
    let status = failure.as_ref().map_or(Status::Ok, |failure| failure.status);
    if !error.is_null() {
        let object = failure.map_or(std::ptr::null_mut(), |failure| Box::into_raw(Box::new(failure.into())));
        // SAFETY: the caller says that `error` is NULL or points to a pointer that can be written.
        unsafe { error.write_unaligned(object) };
    }
    status
}

/// Runs the body of a function that cannot fail; `otherwise` is returned where it panics all the same.
pub(crate) fn answer<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// Something that is handed to callers as a handle.
pub(crate) trait Handle {
    /// What it is called in errors.
    const NAME: &'static str;
    /// Set while a call changes it: if it stays set, the call did not come to its end.
    fn poison(&mut self) -> &mut bool;
    /// Whether a call that changed it did not come to its end.
    fn is_poisoned(&self) -> bool;
}

macro_rules! handle {
    ($type:ty, $name:literal) => {
        impl $crate::border::Handle for $type {
            const NAME: &'static str = $name;
            fn poison(&mut self) -> &mut bool {
                &mut self.poisoned
            }
            fn is_poisoned(&self) -> bool {
                self.poisoned
            }
        }
    };
}
pub(crate) use handle;

/// A handle that a call may change. If the call panics, the handle can only be freed.
pub(crate) struct Taken<'a, T: Handle>(&'a mut T);

impl<T: Handle> Taken<'_, T> {
    /// Takes a handle for the time of a call.
    ///
    /// # Safety
    /// The pointer is NULL, or a handle of this type that was not freed and that nobody else uses meanwhile.
    pub(crate) unsafe fn new(handle: *mut T) -> Result<Self, Failure> {
        need_aligned(handle, T::NAME)?;
        // SAFETY: see above.
        let handle = unsafe { handle.as_mut() }.ok_or_else(|| Failure::null(T::NAME))?;
        if handle.is_poisoned() {
            return Err(Failure::poisoned(T::NAME));
        }
        *handle.poison() = true;
        let taken = Self(handle);
        #[cfg(feature = "testing")]
        crate::testing::panic_if_wanted();
        Ok(taken)
    }
}

impl<T: Handle> std::ops::Deref for Taken<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}

impl<T: Handle> std::ops::DerefMut for Taken<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
    }
}

impl<T: Handle> Drop for Taken<'_, T> {
    fn drop(&mut self) {
        *self.0.poison() = std::thread::panicking();
    }
}

/// A handle that a call only reads.
///
/// # Safety
/// The pointer is NULL, or a handle of this type that was not freed and that nobody changes meanwhile.
pub(crate) unsafe fn shared<'a, T: Handle>(handle: *const T) -> Result<&'a T, Failure> {
    need_aligned(handle, T::NAME)?;
    // SAFETY: see above.
    let handle = unsafe { handle.as_ref() }.ok_or_else(|| Failure::null(T::NAME))?;
    if handle.is_poisoned() { Err(Failure::poisoned(T::NAME)) } else { Ok(handle) }
}

/// Refuses what cannot be a handle, since no handle lies there.
fn need_aligned<T>(handle: *const T, what: &str) -> Result<(), Failure> {
    if handle.is_aligned() { Ok(()) } else { Err(Failure::invalid(format!("{what} is no handle"))) }
}

/// A handle that a call looks into which cannot fail: nothing where there is none.
///
/// # Safety
/// As [`shared`].
pub(crate) unsafe fn peek<'a, T: Handle>(handle: *const T) -> Option<&'a T> {
    // SAFETY: see above.
    unsafe { shared(handle) }.ok()
}

/// Hands a new handle to the caller.
///
/// # Safety
/// `place` can be written.
pub(crate) unsafe fn hand_out<T>(place: *mut *mut T, value: T) {
    // SAFETY: see above.
    unsafe { put(place, Box::into_raw(Box::new(value))) }
}

/// Takes a handle back and drops it.
///
/// # Safety
/// The pointer is NULL, or was handed out by [`hand_out`] and not freed since.
pub(crate) unsafe fn take_back<T>(handle: *mut T) {
    if !handle.is_null() {
        // A panic while memory is given back is nobody's to hear of.
        // SAFETY: see above.
        answer((), || drop(unsafe { Box::from_raw(handle) }));
    }
}

/// Refuses a pointer through which something is to be handed out, if it is none.
pub(crate) fn need_place<T>(place: *mut T, what: &str) -> Result<(), Failure> {
    if place.is_null() { Err(Failure::null(what)) } else { Ok(()) }
}

/// An array of the caller.
///
/// # Safety
/// The pointer leads to `n` values that nobody changes during `'a`, or `n` is 0.
pub(crate) unsafe fn slice<'a, T>(ptr: *const T, n: usize, what: &str) -> Result<&'a [T], Failure> {
    if n == 0 {
        return Ok(&[]);
    }
    if ptr.is_null() {
        return Err(Failure::null(what));
    }
    if !ptr.is_aligned() || n.checked_mul(size_of::<T>()).is_none_or(|size| isize::try_from(size).is_err()) {
        return Err(Failure::invalid(format!("{what}: {n} of them cannot be there")));
    }
    // SAFETY: it is not NULL, aligned, not longer than memory can be, and the rest see above.
    Ok(unsafe { std::slice::from_raw_parts(ptr, n) })
}

/// Writes something for the caller, who may not want it. Wherever it lies: what is not aligned is no reason to fail after
/// the work is done.
///
/// # Safety
/// `place` is NULL or can be written.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: see above.
        unsafe { place.write_unaligned(value) };
    }
}

/// A struct that callers fill, or have filled. It begins with its size.
///
/// # Safety
/// Any bytes are a value of it, zeros mean "nothing", and its first member is a `usize` that holds its size. It has no
/// padding at its end, so that a later version's members come after all of its own.
pub(crate) unsafe trait Sized1: Copy {
    /// Its size in version 0.1, when it was smallest.
    const FIRST_SIZE: usize;
}

/// More than any struct will ever have.
const MOST_BYTES: usize = 4096;

/// The size that a caller says a struct has.
///
/// # Safety
/// The pointer is not NULL and leads to a `usize`.
unsafe fn size_of_callers<T: Sized1>(ptr: *const T, what: &str) -> Result<usize, Failure> {
    if !ptr.is_aligned() {
        return Err(Failure::invalid(format!("{what} is not aligned")));
    }
    // SAFETY: see above; it is aligned for the whole, so for its first member.
    let size = unsafe { ptr.cast::<usize>().read() };
    if size < T::FIRST_SIZE || size > MOST_BYTES {
        return Err(Failure::invalid(format!("the struct_size of {what} is {size}, which it never was")));
    }
    Ok(size)
}

/// Reads such a struct: members that an older caller does not know are 0; those that this library does not know have to
/// be.
///
/// # Safety
/// The pointer is NULL, or leads to as many bytes as the `usize` there says.
pub(crate) unsafe fn read_sized<T: Sized1>(ptr: *const T, what: &str) -> Result<Option<T>, Failure> {
    if ptr.is_null() {
        return Ok(None);
    }
    // SAFETY: see above.
    let size = unsafe { size_of_callers(ptr, what) }?;
    // SAFETY: the caller has so many bytes there.
    let bytes = unsafe { slice(ptr.cast::<u8>(), size, what) }?;
    let known = size.min(size_of::<T>());
    if bytes[known..].iter().any(|&byte| byte != 0) {
        return Err(Failure::invalid(format!("{what} has members that this version does not know")));
    }
    let mut value = std::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: `known` bytes are there on both sides, which are not the same memory; and any bytes are a value.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), value.as_mut_ptr().cast::<u8>(), known);
        Ok(Some(value.assume_init()))
    }
}

/// Writes such a struct, as far as the caller knows it. What only the caller knows becomes 0.
///
/// # Safety
/// The pointer is NULL, or leads to as many bytes as the `usize` there says, which can be written.
pub(crate) unsafe fn write_sized<T: Sized1>(ptr: *mut T, value: &T, what: &str) -> Result<(), Failure> {
    need_place(ptr, what)?;
    // SAFETY: see above.
    let size = unsafe { size_of_callers(ptr, what) }?;
    let first = size_of::<usize>();
    let known = size.min(size_of::<T>());
    // SAFETY: both sides have so many bytes, and are not the same memory; the caller has `size` of them.
    unsafe {
        let (from, to) = (std::ptr::from_ref(value).cast::<u8>(), ptr.cast::<u8>());
        std::ptr::copy_nonoverlapping(from.add(first), to.add(first), known - first);
        to.add(known).write_bytes(0, size - known);
    }
    Ok(())
}

/// Refuses flags that this library does not know.
pub(crate) fn check_flags(flags: u32, known: u32) -> Result<(), Failure> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(Failure::invalid(format!("unknown flags {unknown:#x}"))),
    }
}

//! The calls of Windows that tell whose an open file is: all of that which the compiler cannot check.
#![expect(unsafe_code, reason = "Windows takes pointers and sizes")]

use super::owner::{Filled, is_users};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use std::ptr::without_provenance_mut;
use windows_sys::Win32::Foundation::{ERROR_INSUFFICIENT_BUFFER, HANDLE};
use windows_sys::Win32::Security::{
    GetKernelObjectSecurity, GetTokenInformation, OWNER_SECURITY_INFORMATION, TOKEN_INFORMATION_CLASS,
    TokenGroups, TokenUser,
};

/// Whether an open file, or a directory, is that of the user for whom this thread runs.
pub(super) fn belongs_to_user(file: &File) -> io::Result<bool> {
    let descriptor = fill(|buffer, length, needed| {
        // SAFETY: the buffer has as many bytes as is said and is aligned, the handle is open as long as the file lives,
        // and `needed` is where the call may write a number.
        unsafe {
            GetKernelObjectSecurity(file.as_raw_handle(), OWNER_SECURITY_INFORMATION, buffer, length, needed)
        }
    })?;
    let [user, groups] = [token(TokenUser)?, token(TokenGroups)?];
    Ok(is_users(filled(&descriptor).bytes, filled(&user), filled(&groups)))
}

/// What the token says by which this thread is judged.
fn token(class: TOKEN_INFORMATION_CLASS) -> io::Result<Vec<u64>> {
    // `GetCurrentThreadEffectiveToken`, which is no handle to be closed, but a number that stands for one.
    const EFFECTIVE: usize = -6_isize as usize;
    let token: HANDLE = without_provenance_mut(EFFECTIVE);
    fill(|buffer, length, needed| {
        // SAFETY: the buffer has as many bytes as is said and is aligned, and `needed` is where the call may write a
        // number. The token is one that every thread has.
        unsafe { GetTokenInformation(token, class, buffer, length, needed) }
    })
}

/// Calls with a buffer that is large enough. The call gets the buffer, how many bytes it has, and where to write how many
/// it takes; it ends with 0 if it failed. The buffer is of numbers so that it is aligned to 8 bytes.
fn fill(call: impl Fn(*mut c_void, u32, *mut u32) -> i32) -> io::Result<Vec<u64>> {
    let mut buffer = vec![0_u64; 32];
    loop {
        let length = u32::try_from(size_of_val(&*buffer)).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut needed = 0;
        if call(buffer.as_mut_ptr().cast(), length, &raw mut needed) != 0 {
            return Ok(buffer);
        }
        let error = io::Error::last_os_error();
        // Groups may become more between two calls, but a length that was enough is no reason to go on.
        if error.raw_os_error() != Some(ERROR_INSUFFICIENT_BUFFER.cast_signed()) || needed <= length {
            return Err(error);
        }
        buffer.resize(needed.div_ceil(8) as usize, 0);
    }
}

/// The bytes of what was filled. What is behind the answer is 0.
fn filled(buffer: &[u64]) -> Filled<'_> {
    Filled { bytes: bytemuck::cast_slice(buffer), address: buffer.as_ptr().addr() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::{ImageFolder, Tables};
    use std::fs;

    #[test]
    fn what_this_user_makes_is_his() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("file");
        fs::write(&path, "").expect("a file");
        assert!(belongs_to_user(&File::open(&path).expect("it was written")).expect("an owner"));
    }

    #[test]
    fn images_in_a_folder_of_this_user_are_found_again() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let folder = ImageFolder::new(place.path().join("new/folder"));
        assert!(folder.read("name").is_none());
        folder.write("name", &Tables::default()).expect("an image");
        assert!(folder.read("name").is_some());
        folder.write("name", &Tables::default()).expect("another in its place");
        assert!(folder.read("name").is_some());
        fs::create_dir(place.path().join("new/folder/directory")).expect("a directory");
        assert!(folder.read("directory").is_none());
    }

    #[test]
    fn a_file_is_no_folder_of_images() {
        let place = tempfile::tempdir().expect("a temporary directory");
        let path = place.path().join("file");
        fs::write(&path, "").expect("a file");
        let folder = ImageFolder::new(path);
        assert!(folder.read("name").is_none());
        let error = folder.write("name", &Tables::default()).expect_err("an error").to_string();
        assert_eq!(error, "it is not a folder that only its user can write to");
    }
}

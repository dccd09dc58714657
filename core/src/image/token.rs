//! The calls of Windows that tell whose an open file is: all of that which the compiler cannot check.
#![expect(unsafe_code, reason = "Windows takes pointers and sizes")]

use super::owner::{Filled, is_users};
use crate::os_token::{fill, token};
use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle;
use windows_sys::Win32::Security::{
    GetKernelObjectSecurity, OWNER_SECURITY_INFORMATION, TokenGroups, TokenUser,
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

/// The bytes of what was filled.
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

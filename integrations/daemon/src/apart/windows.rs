//! Starting a process that lives longer than this one does, on Windows.
#![expect(unsafe_code, reason = "the calls take handles")]

use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, SetHandleInformation};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};

/// Keeps the three streams of this process from those that it starts, but where they are told to have them. Else each has all of
/// them, and whoever reads what this process writes would wait for the end of the last of those.
pub fn keep_own_streams() {
    for number in [STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE] {
        // SAFETY: the calls take numbers. Where there is no such stream, nothing happens.
        unsafe { SetHandleInformation(GetStdHandle(number), HANDLE_FLAG_INHERIT, 0) };
    }
}

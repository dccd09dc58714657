//! The calls of Windows: all that the compiler cannot check about this collector, behind functions that can only be
//! used rightly.
#![expect(unsafe_code, reason = "Windows takes pointers and sizes")]

use std::io;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;
use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN_FOR_BACKUP_INTENT, FILE_SYNCHRONOUS_IO_NONALERT,
    FileCaseSensitiveInformation, NtOpenFile, NtQueryDirectoryFile, NtQueryInformationFile,
};
use windows_sys::Win32::Foundation::{
    NTSTATUS, OBJ_CASE_INSENSITIVE, RtlNtStatusToDosError, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE,
    STATUS_OBJECT_NAME_INVALID, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_BASIC_INFO, FILE_GENERIC_READ, FILE_LIST_DIRECTORY,
    FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FileBasicInfo,
    GetFileInformationByHandle, GetFileInformationByHandleEx, SYNCHRONIZE,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::LibraryLoader::{
    GetProcAddress, LOAD_LIBRARY_SEARCH_SYSTEM32, LoadLibraryExW,
};
use windows_sys::w;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be asked what it is.
    Facts,
    /// To be where other paths begin: it has to be a directory.
    Base,
    /// To be listed: it has to be a directory.
    List,
    /// To be asked and to be read; of a directory, to be listed.
    Read,
    /// To be read: it must not be a directory.
    ReadFile,
}

/// What a call that failed says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Status(NTSTATUS);

impl Status {
    /// A name that cannot be.
    pub(super) const INVALID: Self = Self(STATUS_OBJECT_NAME_INVALID);

    /// Whether a listing has come to its end. A volume's root that is empty has not even the directory itself in it.
    pub(super) fn is_end(self) -> bool {
        matches!(self.0, STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE)
    }

    /// The error number that programs know it by.
    pub(super) fn code(self) -> i32 {
        // SAFETY: any status will do.
        unsafe { RtlNtStatusToDosError(self.0) }.cast_signed()
    }
}

impl From<Status> for io::Error {
    fn from(status: Status) -> Self {
        Self::from_raw_os_error(status.code())
    }
}

/// What is known of an open file. Times in 100 ns since 1601.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// When its content was last changed.
    pub(super) written: i64,
    /// When anything about it was last changed; 0 where nobody keeps that.
    pub(super) changed: i64,
    pub(super) size: u64,
    pub(super) id: u64,
    pub(super) volume: u64,
    pub(super) attributes: u32,
    /// How many names it has.
    pub(super) links: u32,
}

/// Opens a file that is there. `path` counts from `root`; without one it begins with `\??\`. Links are followed.
pub(super) fn open(
    root: Option<BorrowedHandle<'_>>,
    path: &[u16],
    purpose: Purpose,
) -> Result<OwnedHandle, Status> {
    let Ok(length) = u16::try_from(size_of_val(path)) else { return Err(Status::INVALID) };
    let name = UNICODE_STRING { Length: length, MaximumLength: length, Buffer: path.as_ptr().cast_mut() };
    let attributes = OBJECT_ATTRIBUTES {
        Length: size_of_u32::<OBJECT_ATTRIBUTES>(),
        RootDirectory: root.map_or(null_mut(), |root| root.as_raw_handle()),
        ObjectName: &raw const name,
        // A directory that tells cases apart does so nevertheless.
        Attributes: OBJ_CASE_INSENSITIVE,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let (access, kind) = match purpose {
        Purpose::Facts => (FILE_READ_ATTRIBUTES, 0),
        Purpose::Base => (FILE_READ_ATTRIBUTES, FILE_DIRECTORY_FILE),
        Purpose::List => (FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES, FILE_DIRECTORY_FILE),
        Purpose::Read => (FILE_GENERIC_READ, 0),
        Purpose::ReadFile => (FILE_GENERIC_READ, FILE_NON_DIRECTORY_FILE),
    };
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    let options = FILE_SYNCHRONOUS_IO_NONALERT | FILE_OPEN_FOR_BACKUP_INTENT | kind;
    let mut handle = null_mut();
    let mut io = IO_STATUS_BLOCK::default();
    // SAFETY: name, attributes, handle and io live until the call returns, which it does when all is done, because the
    // handle is a synchronous one. The name is only read, in spite of its type, and as long as it says.
    let status = unsafe {
        NtOpenFile(&raw mut handle, access | SYNCHRONIZE, &raw const attributes, &raw mut io, share, options)
    };
    if status != 0 {
        return Err(Status(status));
    }
    // SAFETY: the call succeeded, so this is an open handle, and nobody else has it.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Gets the next entries of a directory that was opened to be listed: from the first on, if `restarts`. How many
/// bytes of `buffer` are filled.
pub(super) fn entries(
    directory: BorrowedHandle<'_>,
    class: u32,
    restarts: bool,
    buffer: &mut [u64],
) -> Result<usize, Status> {
    let mut io = IO_STATUS_BLOCK::default();
    let length = u32::try_from(size_of_val(buffer)).unwrap_or(u32::MAX);
    // SAFETY: io and buffer live until the call returns, which it does when all is done, because `open` makes
    // synchronous handles only; the buffer is aligned to 8 bytes, as entries want, and has as many bytes as is said.
    let status = unsafe {
        NtQueryDirectoryFile(
            directory.as_raw_handle(),
            null_mut(),
            None,
            null(),
            &raw mut io,
            buffer.as_mut_ptr().cast(),
            length,
            class.cast_signed(),
            false,
            null(),
            restarts,
        )
    };
    if status == 0 { Ok(io.Information) } else { Err(Status(status)) }
}

/// Asks an open file.
pub(super) fn facts(file: BorrowedHandle<'_>) -> io::Result<Facts> {
    let mut found = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: `found` is what this call fills.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut found) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut basic = FILE_BASIC_INFO::default();
    let size = size_of_u32::<FILE_BASIC_INFO>();
    // SAFETY: `basic` is what this class fills, and has the size that is said.
    let is_known = unsafe {
        GetFileInformationByHandleEx(file.as_raw_handle(), FileBasicInfo, (&raw mut basic).cast(), size)
    };
    let written = found.ftLastWriteTime;
    Ok(Facts {
        written: wide(written.dwHighDateTime, written.dwLowDateTime).cast_signed(),
        changed: if is_known == 0 { 0 } else { basic.ChangeTime },
        size: wide(found.nFileSizeHigh, found.nFileSizeLow),
        id: wide(found.nFileIndexHigh, found.nFileIndexLow),
        volume: found.dwVolumeSerialNumber.into(),
        attributes: found.dwFileAttributes,
        links: found.nNumberOfLinks,
    })
}

/// Whether a directory tells cases apart; `None` where Windows does not know the question.
pub(super) fn is_case_sensitive(directory: BorrowedHandle<'_>) -> Option<bool> {
    let mut flags = 0_u32;
    let mut io = IO_STATUS_BLOCK::default();
    // SAFETY: io and flags live until the call returns, which it does when all is done, because the handle is a
    // synchronous one; this class fills one number of 32 bits.
    let status = unsafe {
        NtQueryInformationFile(
            directory.as_raw_handle(),
            &raw mut io,
            (&raw mut flags).cast(),
            size_of_u32::<u32>(),
            FileCaseSensitiveInformation,
        )
    };
    (status == 0).then_some(flags & 1 != 0)
}

/// `FILE_STAT_BASIC_INFORMATION`.
#[repr(C)]
#[derive(Default)]
struct StatBasic {
    id: u64,
    created: i64,
    accessed: i64,
    written: i64,
    changed: i64,
    allocated: i64,
    size: u64,
    attributes: u32,
    reparse_tag: u32,
    links: u32,
    device_type: u32,
    device_characteristics: u32,
    reserved: u32,
    volume: u64,
    long_id: [u64; 2],
}

/// `GetFileInformationByName`: name, class, buffer, its size.
type ByName = unsafe extern "system" fn(*const u16, i32, *mut core::ffi::c_void, u32) -> i32;

/// `FileStatBasicByNameInfo`.
const STAT_BASIC: i32 = 3;

/// `GetFileInformationByName`, which Windows has since 11 24H2.
fn by_name_function() -> Option<ByName> {
    static FOUND: OnceLock<Option<ByName>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let name = w!("api-ms-win-core-file-l2-1-4.dll");
        // SAFETY: the name ends with a NUL. Only the system's own folder is searched.
        let library = unsafe { LoadLibraryExW(name, null_mut(), LOAD_LIBRARY_SEARCH_SYSTEM32) };
        if library.is_null() {
            return None;
        }
        // SAFETY: the library was loaded, is never unloaded, and the name ends with a NUL.
        let found = unsafe { GetProcAddress(library, c"GetFileInformationByName".as_ptr().cast()) }?;
        // SAFETY: this is the type that Windows documents for the function of this name.
        Some(unsafe { std::mem::transmute::<unsafe extern "system" fn() -> isize, ByName>(found) })
    })
}

/// Whether files can be asked by name, without being opened.
pub(super) fn has_by_name() -> bool {
    by_name_function().is_some()
}

/// Asks a file by its path, which ends with a NUL, without opening it. Links are not followed. `None` where Windows
/// cannot do that, or not for this file; the number of the error where it says one.
pub(super) fn by_name(path: &[u16]) -> Option<Result<Facts, i32>> {
    let function = by_name_function()?;
    if path.last() != Some(&0) {
        return None;
    }
    let mut found = StatBasic::default();
    let size = size_of_u32::<StatBasic>();
    // SAFETY: the path ends with a NUL; `found` is what this class fills, and has the size that is said.
    let is_known = unsafe { function(path.as_ptr(), STAT_BASIC, (&raw mut found).cast(), size) };
    if is_known == 0 {
        return io::Error::last_os_error().raw_os_error().map(Err);
    }
    Some(Ok(Facts {
        written: found.written,
        changed: found.changed,
        size: found.size,
        id: found.id,
        // A handle tells the lower half only.
        volume: found.volume & u64::from(u32::MAX),
        attributes: found.attributes,
        links: found.links,
    }))
}

fn wide(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn size_of_u32<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}

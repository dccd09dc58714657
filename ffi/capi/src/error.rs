//! Statuses and error objects.

use std::any::Any;
use std::ffi::{CStr, CString, c_char};
use std::io;
use upcheck::project::{DescribeError, ProjectError};

/// `upcheck_status`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// `UPCHECK_OK`
    Ok = 0,
    /// `UPCHECK_E_INVALID`
    Invalid = -1,
    /// `UPCHECK_E_IO`
    Io = -2,
    /// `UPCHECK_E_FORMAT`
    Format = -3,
    /// `UPCHECK_E_GRAPH`
    Graph = -4,
    /// `UPCHECK_E_CANCELLED`
    Cancelled = -5,
    /// `UPCHECK_E_LIMIT`
    Limit = -6,
    /// `UPCHECK_E_INTERNAL`
    Internal = -7,
}

/// What went wrong.
#[derive(Debug)]
pub struct Failure {
    pub(crate) status: Status,
    message: String,
    os_code: i32,
}

impl Failure {
    fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), os_code: 0 }
    }

    /// An argument is none.
    #[must_use]
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::Invalid, message)
    }

    pub(crate) fn null(what: &str) -> Self {
        Self::invalid(format!("{what} is NULL"))
    }

    pub(crate) fn poisoned(what: &str) -> Self {
        Self::new(Status::Internal, format!("{what} was left half done by a bug; it can only be freed"))
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Status::Cancelled, "cancelled")
    }

    pub(crate) fn io(operation: &str, path: &[u8], cause: &io::Error) -> Self {
        let (path, words) = (String::from_utf8_lossy(path), upcheck::os_message(cause));
        let message = if path.is_empty() {
            format!("{operation}: {words}")
        } else {
            format!("{operation} '{path}': {words}")
        };
        Self { status: Status::Io, message, os_code: cause.raw_os_error().unwrap_or(0) }
    }

    pub(crate) fn internal(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
        Self::new(Status::Internal, format!("a bug in upcheck: {text}"))
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl From<DescribeError> for Failure {
    fn from(error: DescribeError) -> Self {
        let status = match error {
            DescribeError::TooMany(_) => Status::Limit,
            DescribeError::OutputTwice(_) | DescribeError::OutputOfTwo(..) => Status::Graph,
            _ => Status::Invalid,
        };
        Self::new(status, error.to_string())
    }
}

impl From<ProjectError> for Failure {
    fn from(error: ProjectError) -> Self {
        let message = error.to_string();
        match error {
            ProjectError::Description(error) => error.into(),
            ProjectError::Cycle(_) | ProjectError::MissingSource(_) => Self::new(Status::Graph, message),
            ProjectError::Phony(_) => Self::invalid(message),
            ProjectError::Unreadable(path, errno) => {
                Self::io("looking at", &path, &io::Error::from_raw_os_error(errno))
            }
            ProjectError::Records(cause) => Self {
                status: Status::Io,
                message: format!("the store of records: {}", upcheck::os_message(&cause)),
                os_code: cause.raw_os_error().unwrap_or(0),
            },
            // What a command was to make, and did not.
            _ => Self::new(Status::Io, message),
        }
    }
}

impl From<upcheck_ninja::Error> for Failure {
    fn from(error: upcheck_ninja::Error) -> Self {
        let message = error.to_string();
        match error {
            upcheck_ninja::Error::Syntax(_) => Self::new(Status::Format, message),
            upcheck_ninja::Error::Read { cause, .. } => {
                Self { status: Status::Io, message, os_code: cause.raw_os_error().unwrap_or(0) }
            }
            _ => Self::new(Status::Graph, message),
        }
    }
}

impl From<upcheck_graph::Error> for Failure {
    fn from(error: upcheck_graph::Error) -> Self {
        let message = error.to_string();
        match error {
            upcheck_graph::Error::Read { cause, .. } => {
                Self { status: Status::Io, message, os_code: cause.raw_os_error().unwrap_or(0) }
            }
            _ => Self::new(Status::Format, message),
        }
    }
}

/// An error that is handed to callers.
pub struct upcheck_error {
    status: Status,
    message: CString,
    os_code: i32,
}

impl From<Failure> for upcheck_error {
    fn from(failure: Failure) -> Self {
        let Failure { status, message, os_code } = failure;
        // A path in a message may have any byte; a NUL would end it.
        let message = CString::new(message.replace('\0', "\\0")).unwrap_or_default();
        Self { status, message, os_code }
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_error_status(error: *const upcheck_error) -> Status {
    // SAFETY: NULL or an error, says the caller.
    unsafe { error.as_ref() }.map_or(Status::Ok, |error| error.status)
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_error_message(error: *const upcheck_error) -> *const c_char {
    // SAFETY: NULL or an error, says the caller.
    unsafe { error.as_ref() }.map_or(c"".as_ptr(), |error| error.message.as_ptr())
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_error_os_code(error: *const upcheck_error) -> i32 {
    // SAFETY: NULL or an error, says the caller.
    unsafe { error.as_ref() }.map_or(0, |error| error.os_code)
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_error_free(error: *mut upcheck_error) {
    // SAFETY: NULL or an error that was not freed, says the caller.
    unsafe { crate::border::take_back(error) }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub extern "C" fn upcheck_status_name(status: i32) -> *const c_char {
    let name: &CStr = match status {
        0 => c"ok",
        -1 => c"invalid",
        -2 => c"io",
        -3 => c"format",
        -4 => c"graph",
        -5 => c"cancelled",
        -6 => c"limit",
        -7 => c"internal",
        _ => c"",
    };
    name.as_ptr()
}

//! How errors get to C++: in a struct that the caller hands in. A `Result` would carry nothing but a text.

use crate::bridge::ffi::Failure;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use upcheck_capi::{Status, upcheck_error, upcheck_error_free, upcheck_error_message, upcheck_error_os_code};

impl Failure {
    pub(crate) fn new(status: Status, message: impl Into<String>) -> Self {
        Self { status: status as i32, os_code: 0, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::Invalid, message)
    }

    fn from_c(status: Status, error: *mut upcheck_error) -> Self {
        // SAFETY: NULL or an error that the C interface has just handed out; it is freed once.
        unsafe {
            let message = CStr::from_ptr(upcheck_error_message(error)).to_string_lossy().into_owned();
            let os_code = upcheck_error_os_code(error);
            upcheck_error_free(error);
            Self { status: status as i32, os_code, message }
        }
    }
}

/// What a body of [`attempt`] comes to.
pub(crate) type Outcome<T> = Result<T, Failure>;

/// Calls a function of the C interface that can fail.
pub(crate) fn call(function: impl FnOnce(*mut *mut upcheck_error) -> Status) -> Outcome<()> {
    let mut error = std::ptr::null_mut();
    match function(&raw mut error) {
        Status::Ok => Ok(()),
        status => Err(Failure::from_c(status, error)),
    }
}

/// Runs the body of a bridged function that can fail; `otherwise` is returned where it does. The C interface stops
/// panics itself: what is stopped here is what goes wrong around its calls. Past this point a panic ends the process.
pub(crate) fn attempt<T>(failure: &mut Failure, otherwise: T, body: impl FnOnce() -> Outcome<T>) -> T {
    let failed = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return value,
        Ok(Err(failed)) => failed,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().copied();
            let text =
                text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("a panic");
            Failure::new(Status::Internal, format!("a bug in upcheck: {text}"))
        }
    };
    *failure = failed;
    otherwise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_failure() {
        let mut failure = Failure::default();
        assert_eq!(attempt(&mut failure, 7, || -> Outcome<i32> { panic!("on purpose") }), 7);
        assert_eq!(failure.status, Status::Internal as i32);
        assert_eq!(failure.message, "a bug in upcheck: on purpose");
    }
}

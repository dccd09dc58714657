//! Reasons as numbers.

use crate::graph::{UPCHECK_NONE, number};
use std::ffi::{CStr, c_char};
use upcheck::{Compared, FileId, Mtime, Reason, TargetId};

/// One reason of one target; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_finding {
    pub target: u32,
    pub reason: i32,
    pub file: u32,
    pub against: u32,
    pub seen: i64,
    pub expected: i64,
    pub upstream: u32,
    pub reserved: u32,
}

/// Names of reasons, by number.
const NAMES: [&CStr; 19] = [
    c"fresh",
    c"output-missing",
    c"input-missing",
    c"input-newer",
    c"input-changed",
    c"inputs-differ",
    c"command-changed",
    c"never-built",
    c"deps-unknown",
    c"deps-outdated",
    c"output-changed",
    c"upstream-stale",
    c"phony-missing",
    c"interrupted",
    c"manifest-stale",
    c"racy",
    c"unreadable",
    c"value-changed",
    c"other",
];

/// The number of a reason: its name's place in the table, so that the two cannot come apart.
pub(crate) fn reason_number(reason: &Reason) -> i32 {
    let code = reason.code().as_bytes();
    let known = NAMES.iter().position(|name| name.to_bytes() == code);
    i32::try_from(known.unwrap_or(NAMES.len() - 1)).unwrap_or(0)
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub extern "C" fn upcheck_reason_name(reason: i32) -> *const c_char {
    let name = usize::try_from(reason).ok().and_then(|reason| NAMES.get(reason));
    name.map_or(c"".as_ptr(), |name| name.as_ptr())
}

/// A time that is not known.
const NO_TIME: i64 = i64::MIN;

/// A reason with its evidence.
pub(crate) fn finding(target: TargetId, reason: &Reason) -> upcheck_finding {
    let id = |file: FileId| number(Some(file.index()));
    let (mut against, mut seen, mut expected) = (UPCHECK_NONE, 0, 0);
    match reason {
        Reason::InputNewer { input_mtime, output, output_mtime, .. } => {
            (against, seen, expected) = (id(*output), *input_mtime, *output_mtime);
        }
        Reason::InputChanged { compared, .. } | Reason::OutputChanged { compared, .. } => {
            (seen, expected) = times(compared);
        }
        Reason::InputsDiffer { added, removed, .. } => {
            let count = |files: &[FileId]| i64::try_from(files.len()).unwrap_or(i64::MAX);
            (seen, expected) = (count(added), count(removed));
        }
        Reason::CommandChanged { recorded_hash, hash, .. } => {
            (seen, expected) = (hash.cast_signed(), recorded_hash.cast_signed());
        }
        Reason::DepsOutdated { output_mtime, recorded_mtime, .. } => {
            (seen, expected) = (*output_mtime, *recorded_mtime);
        }
        Reason::Interrupted { began, .. } => seen = *began,
        Reason::Unreadable { errno, .. } => seen = i64::from(*errno),
        _ => {}
    }
    upcheck_finding {
        target: number(Some(target.index())),
        reason: reason_number(reason),
        file: id(reason.path()),
        against,
        seen,
        expected,
        upstream: number(reason.upstream().map(TargetId::index)),
        reserved: 0,
    }
}

fn times(compared: &Compared) -> (Mtime, Mtime) {
    let time = |meta: Option<upcheck::Meta>| meta.map_or(NO_TIME, |meta| meta.mtime);
    (time(compared.now), time(compared.recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_have_the_numbers_of_the_header() {
        let output = FileId::new(7);
        let numbers = [
            (Reason::OutputMissing { output }, 1),
            (Reason::UpstreamStale { input: output, producer: TargetId::new(3) }, 11),
            (Reason::Unreadable { path: output, errno: 13 }, 16),
        ];
        for (reason, number) in numbers {
            assert_eq!(reason_number(&reason), number);
            let found = finding(TargetId::new(1), &reason);
            assert_eq!((found.target, found.file, found.against), (1, 7, UPCHECK_NONE));
        }
    }
}

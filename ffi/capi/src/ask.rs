//! Asking the daemon: a process that remembers builds.

use crate::border::{Sized1, call, check_flags, hand_out, handle, need_place, peek, read_sized, take_back};
use crate::error::{Failure, Status, upcheck_error};
use crate::graph::{absolute, path_of};
use crate::texts::{strings, upcheck_str};
use std::ffi::{CString, c_char};
use std::path::PathBuf;
use upcheck::os_path;
use upcheck_daemon::{Ask, NoAnswer, Patience, Place, Program, Reply, Request, Surroundings, identity};

/// What is asked; see `upcheck.h`.
#[repr(C)]
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "the header says what they are")]
pub struct upcheck_question {
    pub struct_size: usize,
    pub directory: upcheck_str,
    pub manifest: upcheck_str,
    pub targets: *const upcheck_str,
    pub n_targets: usize,
    pub version: u32,
    pub flags: u32,
}

// SAFETY: pointers and integers without gaps, the first of them its size.
unsafe impl Sized1 for upcheck_question {
    const FIRST_SIZE: usize = size_of::<Self>();
}

/// An answer, or why there is none.
pub struct upcheck_answer {
    poisoned: bool,
    is_stale: Option<bool>,
    why: CString,
}

handle!(upcheck_answer, "the answer");

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_ask_daemon(
    question: *const upcheck_question,
    answer: *mut *mut upcheck_answer,
    error: *mut *mut upcheck_error,
) -> Status {
    call(error, || {
        need_place(answer, "answer")?;
        // SAFETY: the caller's struct and texts, and a place that is not NULL.
        unsafe {
            let given = read_sized(question, "question")?.ok_or_else(|| Failure::null("question"))?;
            let asked = Question::new(&given)?;
            let (is_stale, why) = match ask(&asked) {
                Ok(is_stale) => (Some(is_stale), String::new()),
                Err(why) => (None, why),
            };
            let why = CString::new(why.replace('\0', "\\0")).unwrap_or_default();
            hand_out(answer, upcheck_answer { poisoned: false, is_stale, why });
        }
        Ok(())
    })
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_answer_verdict(answer: *const upcheck_answer) -> i32 {
    // SAFETY: NULL or an answer, says the caller.
    match unsafe { peek(answer) }.and_then(|answer| answer.is_stale) {
        None => 0,
        Some(false) => 1,
        Some(true) => 2,
    }
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_answer_why(answer: *const upcheck_answer) -> *const c_char {
    // SAFETY: NULL or an answer, says the caller.
    unsafe { peek(answer) }.map_or(c"".as_ptr(), |answer| answer.why.as_ptr())
}

/// # Safety
/// See `upcheck.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn upcheck_answer_free(answer: *mut upcheck_answer) {
    // SAFETY: NULL or an answer that was not freed, says the caller.
    unsafe { take_back(answer) }
}

/// A question in the command's words.
struct Question {
    /// Absolute.
    directory: PathBuf,
    manifest: PathBuf,
    arguments: Vec<Vec<u8>>,
}

impl Question {
    /// # Safety
    /// See `upcheck.h`.
    unsafe fn new(given: &upcheck_question) -> Result<Self, Failure> {
        check_flags(given.flags, 0)?;
        // SAFETY: the caller's texts.
        let (directory, manifest, targets) = unsafe {
            let targets = strings(given.targets, given.n_targets, "targets")?;
            (given.directory.bytes("directory")?, given.manifest.bytes("manifest")?, targets)
        };
        let directory = if directory.is_empty() { b"." } else { directory };
        let directory = absolute(directory)?;
        let mut arguments = vec![b"check".to_vec(), b"--quiet".to_vec()];
        let is_usual = manifest.is_empty();
        let manifest = path_of(if is_usual { b"build.ninja" } else { manifest })?.into_owned();
        if !is_usual {
            arguments.push([b"--file=", os_path::bytes(&manifest)].concat());
        }
        match given.version {
            0 => {}
            minor @ 11..=13 => arguments.push(format!("--ninja-version=1.{minor}").into_bytes()),
            other => return Err(Failure::invalid(format!("the rules of ninja 1.{other} are not known"))),
        }
        for target in targets {
            // The command would take it for an option.
            if target.is_empty() || target.contains(&0) || target.starts_with(b"-") {
                let shown = String::from_utf8_lossy(target);
                return Err(Failure::invalid(format!("{shown:?} is no target's name")));
            }
            arguments.push(target.to_vec());
        }
        Ok(Self { directory, manifest, arguments })
    }
}

/// Whether something is stale, or why nobody says.
fn ask(question: &Question) -> Result<bool, String> {
    let folder = Place::usual().ok_or("there is no folder to find it in")?;
    let place = Place::open(folder)
        .map_err(|error| format!("opening its folder: {}", upcheck::os_message(&error)))?;
    let place = place.ok_or_else(|| NoAnswer::NotRunning.to_string())?;
    let surroundings = Surroundings::of_this_process().ok_or("the system does not say where this is")?;
    let request = Request {
        ask: Ask::Check,
        program: Program::library(env!("CARGO_PKG_VERSION")),
        surroundings: surroundings.as_map().clone(),
        colors: [false; 2],
        mark: None,
        identity: identity(&question.directory, &question.manifest),
        directory: os_path::bytes(&question.directory).to_vec(),
        arguments: question.arguments.clone(),
    };
    match upcheck_daemon::ask(&place, &request, Patience::default()) {
        Ok(Reply::Done { status: 0, .. }) => Ok(false),
        Ok(Reply::Done { status: 1, .. }) => Ok(true),
        Ok(_) => Err("it answers something else".into()),
        Err(why) => Err(why.to_string()),
    }
}

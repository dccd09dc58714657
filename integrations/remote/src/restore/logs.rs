//! What ninja is told about restored targets, so that it finds nothing to do, and finds all that is edited afterwards.
//!
//! | where | what | why |
//! |---|---|---|
//! | the output | a time not before that of any file that was there | all that uses it and is not restored, too, is stale |
//! | the build log | the time of the newest input, and the command's hash | an input that is edited later is newer, however soon that is |
//! | the deps log, or the depfile | what the command has discovered where it ran, and the output's time | a header that is edited later is seen |

use crate::root::to_path;
use std::io;
use std::path::Path;
use upcheck::collect::Disk;
use upcheck::{Mtime, Record};
use upcheck_ninja::deps_log::DepsLog;
use upcheck_ninja::deps_writer::DepsLogWriter;
use upcheck_ninja::log_writer::BuildLogWriter;
use upcheck_ninja::{Build, replace_file};

/// What ninja is told about one target.
pub(crate) struct Told<'a> {
    /// All outputs.
    pub(crate) outputs: Vec<&'a [u8]>,
    pub(crate) command_hash: u64,
    /// The time of the newest input.
    pub(crate) newest_input: Mtime,
    /// The outputs' time.
    pub(crate) mtime: Mtime,
    /// What the deps log gets.
    pub(crate) discovered: Option<&'a [Vec<u8>]>,
}

/// Writes both logs anew, with what is in them already. Targets of `forgotten` outputs have no entries then.
///
/// # Errors
/// Whatever the operating system says, or that a log cannot hold a name. The build log comes last: without it, what the
/// deps log says is believed by nobody.
pub(crate) fn write(
    build: &Build,
    disk: &dyn Disk,
    base: &Path,
    told: &[Told<'_>],
    forgotten: &[&[u8]],
) -> io::Result<()> {
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let version = build.version();
    let mut log = BuildLogWriter::read(version, &read(disk, build.log_path())?);
    for output in forgotten {
        log.drop_entry(output);
    }
    for target in told {
        for output in &target.outputs {
            let record = Record { command_hash: target.command_hash, mtime: target.newest_input };
            log.set(output, record).map_err(invalid)?;
        }
    }
    let discovering: Vec<_> = told
        .iter()
        .filter_map(|target| Some((target, target.discovered?, *target.outputs.first()?)))
        .collect();
    if !discovering.is_empty() {
        let before = read(disk, build.deps_log_path())?;
        let mut deps = DepsLogWriter::read(&DepsLog::read(before, version));
        for (target, discovered, output) in discovering {
            deps.set(output, target.mtime, discovered.iter().map(Vec::as_slice)).map_err(invalid)?;
        }
        replace_file(&base.join(to_path(build.deps_log_path())), &deps.finish())?;
    }
    replace_file(&base.join(to_path(build.log_path())), &log.finish())
}

/// A depfile that says what a target has discovered; `None` where a path has what ninjas read in different ways.
pub(crate) fn depfile(output: &[u8], discovered: &[Vec<u8>]) -> Option<Vec<u8>> {
    let is_odd =
        |path: &[u8]| path.iter().any(|byte| matches!(byte, b'\\' | b':' | b'\n' | b'\r' | b'\t' | b'\0'));
    if is_odd(output) || discovered.iter().any(|path| is_odd(path)) {
        return None;
    }
    let mut text = Vec::new();
    append_escaped(&mut text, output);
    text.push(b':');
    for path in discovered {
        text.extend_from_slice(b" \\\n ");
        append_escaped(&mut text, path);
    }
    text.push(b'\n');
    Some(text)
}

fn append_escaped(text: &mut Vec<u8>, path: &[u8]) {
    for &byte in path {
        match byte {
            b' ' | b'#' => text.extend_from_slice(&[b'\\', byte]),
            b'$' => text.extend_from_slice(b"$$"),
            byte => text.push(byte),
        }
    }
}

/// Whether a ninja runs in the build directory, as far as that can be known: on Linux, by looking at what runs.
pub(crate) fn ninja_runs(base: &Path) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return false };
    processes.flatten().any(|process| {
        let place = process.path();
        let name = std::fs::read(place.join("comm")).unwrap_or_default();
        let is_ninja = [&b"ninja"[..], b"ninja-build", b"samu"].contains(&name.trim_ascii());
        is_ninja && std::fs::read_link(place.join("cwd")).is_ok_and(|cwd| cwd == base)
    })
}

fn read(disk: &dyn Disk, path: &[u8]) -> io::Result<Vec<u8>> {
    match disk.read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

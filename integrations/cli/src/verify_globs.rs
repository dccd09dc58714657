//! `verify-globs`, which a build starts before all else where `upcheck_glob(... STRATEGY VERIFY)` was called: CMake is to
//! run again if a glob has another result.

use crate::args::{Common, VerifyGlobsArgs};
use crate::exit::Exit;
use crate::project::trouble;
use crate::run::Trouble;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::SystemTime;
use upcheck_cmake::globs;

/// Gives the stamp a new time if a glob has another result. Only then.
pub(crate) fn verify_globs(common: &Common, args: &VerifyGlobsArgs) -> Result<Exit, Trouble> {
    let script = common.directory.join(&args.script);
    let stamp = common.directory.join(&args.stamp);
    let difference = globs::differences(&globs::of_script(&script)?)?;
    // Where it was cleaned away, the build waits for a new one.
    let touched = if difference.is_empty() && stamp.exists() { Ok(()) } else { touch(&stamp) };
    touched.map_err(|error| trouble("touching", &stamp, &error))?;
    Ok(Exit::Fresh)
}

fn touch(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
    file.set_modified(SystemTime::now())
}

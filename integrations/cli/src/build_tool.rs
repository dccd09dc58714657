//! `upcheck run` in front of a build tool: ninja, make or cmake are started only if something is stale.

use crate::args::{CheckArgs, Common, RunArgs};
use crate::exit::{Exit, Status};
use crate::record::{ended, execute};
use crate::run::{Trouble, check};
use std::path::Path;

/// Whether the command is one that builds what the description says, by rules of its own, and not a target's command.
pub(crate) fn is_meant(common: &Common) -> bool {
    common.cmake.is_some()
        || (common.origin() == "ninja" && common.directory.join(common.manifest()).exists())
}

/// Runs the command if a target is stale. Nothing is recorded: what the tool leaves is what the next check goes by.
pub(crate) fn run(common: &Common, args: &RunArgs) -> Result<Status, Trouble> {
    args.without_those_of_one_target()?;
    let question = CheckArgs { targets: args.targets.clone(), quiet: !args.explain, ..CheckArgs::default() };
    if !args.always && check(common, &question)? == Exit::Fresh {
        return Ok(args.fresh_status);
    }
    // Where the user stands, as if it had been typed without `upcheck run` before it.
    Ok(ended(args, execute(common, &args.command, Path::new(".")).err().unwrap_or(Exit::Fresh.into())))
}

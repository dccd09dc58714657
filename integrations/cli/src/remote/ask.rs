//! `check --remote`: which stale targets are in the cache. What the cache says changes neither verdicts nor the exit status.

use super::answer::Remote;
use super::snapshot;
use crate::args::{CheckArgs, Common};
use crate::run::{Trouble, warn};
use upcheck::collect::Disk;
use upcheck::{Report, TargetId};
use upcheck_ninja::Build;
use upcheck_remote::look_up;

/// Asks the cache about the stale targets of a report, if one is named, and any is stale. A cache that does not answer is a
/// warning.
pub(crate) fn ask(
    common: &Common,
    args: &CheckArgs,
    build: &mut Build,
    disk: &dyn Disk,
    report: &Report,
) -> Result<Option<Remote>, Trouble> {
    // Before anything else, since it is wrong whatever is stale.
    let Some((_, client)) = args.remote.impatient_client()? else {
        return match args.snapshot {
            Some(_) => Err(no_cache()),
            None => Ok(None),
        };
    };
    if report.is_fresh() {
        return Ok(None);
    }
    build.load_rules(disk)?;
    let naming = args.keys.naming(common, build)?;
    let place = naming.place(build, disk);
    let stale: Vec<TargetId> = report.stale.iter().map(|stale| stale.target).collect();
    let found = match &args.snapshot {
        Some(name) => {
            let snapshot = snapshot::pull(common, name, &naming.settings, &client);
            look_up(&place, &stale, &snapshot.before(&client))
        }
        None => look_up(&place, &stale, &client),
    };
    if let Some(trouble) = &found.trouble {
        warn(common, &[trouble.to_string()]);
    }
    Ok(Some(Remote::of(found)))
}

/// Nobody said which cache is meant.
pub(crate) fn no_cache() -> Trouble {
    Trouble("no cache is named: --remote URL, or the variable UPCHECK_REMOTE".into())
}

/// Says no where nothing is published from.
pub(crate) fn refuse_project(args: &CheckArgs) -> Result<(), Trouble> {
    // A cache that the environment names is meant for those who can use it.
    let is_typed = args.remote.remote.is_some() && std::env::var_os("UPCHECK_REMOTE").is_none();
    match is_typed {
        true => Err(Trouble("--remote is for ninja builds".into())),
        false => Ok(()),
    }
}

//! `watch wait`: until the answer of a check is another one.

use crate::args::{CheckArgs, Common, Format};
use crate::exit::Exit;
use crate::follow::{Ends, Follower, Given};
use crate::run::{Trouble, print};
use std::io::Write;

/// Waits, and prints the new answer.
pub(super) fn wait(common: &Common) -> Result<Exit, Trouble> {
    let common = Common { format: Format::Names, ..common.clone() };
    let check = CheckArgs::default();
    let ends = Ends::of_reading();
    let mut follower = Follower::of_own_question(&common, &check);
    let mut last = Exit::Fresh;
    for is_news in [false, true] {
        // Whoever stops reading has read enough.
        let Ok(given) = follower.next(&ends) else { return Ok(last) };
        let Given { status, stdout, stderr, .. } = &given;
        last = match status {
            0 => Exit::Fresh,
            1 => Exit::Stale,
            _ => Exit::Trouble,
        };
        if is_news || last == Exit::Trouble {
            // Nothing is left to be done when that fails.
            let _ = std::io::stderr().write_all(stderr);
            print(&common, |out| out.write_all(stdout))?;
        }
        if last == Exit::Trouble {
            break;
        }
    }
    Ok(last)
}

//! Platforms that have no daemon yet.

use super::{Quick, WatchCommand};
use crate::args::Common;
use crate::exit::Exit;
use crate::run::Trouble;

const NOWHERE: &str = "upcheck watch is there on Linux only, so far";

pub(super) fn quick() -> Quick {
    Quick::Unanswered(Some(NOWHERE.into()))
}

pub(super) fn run(_: &Common, _: &WatchCommand) -> Result<Exit, Trouble> {
    Err(Trouble(NOWHERE.into()))
}

//! Platforms that have no daemon yet.

use super::{Quick, WatchCommand, say_no_answer};
use crate::args::{CheckArgs, Common};
use crate::exit::Exit;
use crate::ninja;
use crate::run::Trouble;

const NOWHERE: &str = "upcheck watch is there on Linux only, so far";

pub(super) fn quick() -> Quick {
    Quick::Unanswered(Some(NOWHERE.into()))
}

pub(super) fn verify(common: &Common, check: &CheckArgs) -> Result<Exit, Trouble> {
    say_no_answer(common, check, NOWHERE);
    ninja::check(common, check)
}

pub(super) fn run(_: &Common, _: &WatchCommand) -> Result<Exit, Trouble> {
    Err(Trouble(NOWHERE.into()))
}

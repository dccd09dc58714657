//! Platforms that have no daemon yet.

use super::{Quick, WatchCommand, say_no_answer};
use crate::args::{CheckArgs, Common};
use crate::exit::Exit;
use crate::follow::{Ended, Ends, Given};
use crate::ninja;
use crate::run::Trouble;
use std::ffi::OsString;

const NOWHERE: &str = "upcheck watch is there on Linux only, so far";

pub(super) fn quick() -> Quick {
    Quick::Unanswered(Some(NOWHERE.into()))
}

pub(super) fn verify(common: &Common, check: &CheckArgs) -> Result<Exit, Trouble> {
    say_no_answer(common, check, NOWHERE);
    ninja::check(common, check)
}

/// There is none.
#[allow(dead_code, reason = "elsewhere there is one")]
pub(crate) struct Daemon(());

impl Daemon {
    pub(crate) fn new(_: &Common, _: &CheckArgs, _: Vec<OsString>, _: [bool; 2]) -> Result<Self, String> {
        Err(NOWHERE.into())
    }

    pub(crate) fn next(&mut self, _: Option<&str>, _: &Ends) -> Result<Result<Given, String>, Ended> {
        Ok(Err(NOWHERE.into()))
    }
}

pub(super) fn run(_: &Common, _: &WatchCommand) -> Result<Exit, Trouble> {
    Err(Trouble(NOWHERE.into()))
}

//! `watch [TARGET]... -- COMMAND`: runs a command whenever something is stale.
//!
//! ```text
//!   fresh                                   ->  wait
//!   stale, by a cause that was not there
//!   when the command was run last           ->  run it, and ask at once
//!   stale, by no other cause                ->  it has done what it can: say so once, and wait
//! ```
//!
//! So a command that fails, or makes something else, is not run over and over; after one that failed, what the build itself makes
//! is no new cause. A cause that went away and comes back is one.

use super::RunArgs;
use crate::args::{CheckArgs, Common, Format};
use crate::exit::{Exit, Status};
use crate::follow::{Causes, Ended, Ends, Follower, Given, pass_on, say};
use crate::record::{cannot_run, trouble_of_run};
use crate::run::Trouble;
use crate::text::plural;
use crate::words;
use std::process::{Command, ExitStatus};
use std::time::Instant;
use upcheck_words::count;

/// A command that changes what it is run for is run so often in a row, and then not before somebody else changes something.
const MOST_IN_A_ROW: usize = 5;

/// Runs it until somebody interrupts that. The status is that of the last run.
pub(super) fn run(common: &Common, args: &RunArgs) -> Status {
    let mut runner =
        Runner { common, args, last: Exit::Fresh.into(), handled: Causes::default(), n_in_a_row: 0 };
    runner.watch().unwrap_or_else(|trouble| trouble_of_run(common, &trouble))
}

struct Runner<'a> {
    common: &'a Common,
    args: &'a RunArgs,
    /// How the last run ended.
    last: Status,
    /// What the last run was for, as far as it is still there.
    handled: Causes,
    /// So many runs there were since nobody had to wait for anything.
    n_in_a_row: usize,
}

impl Runner<'_> {
    fn watch(&mut self) -> Result<Status, Trouble> {
        let ends = Ends::of_running()
            .map_err(|error| Trouble(format!("catching signals: {}", upcheck::os_message(&error))))?;
        let common = Common { causes: true, format: Format::Names, ..self.common.clone() };
        let check = CheckArgs {
            targets: self.args.targets.clone(),
            no_watch: self.args.no_watch,
            ..CheckArgs::default()
        };
        let mut follower = Follower::of_own_question(&common, &check);
        let Ok(mut given) = follower.next(&ends) else { return Ok(self.last) };
        if given.status == Exit::Trouble as u8 {
            pass_on(&common, &given)?;
            return Ok(crate::record::TROUBLE.into());
        }
        loop {
            let next = match self.is_to_run(&common, &given)? {
                true => {
                    match self.execute(&ends)? {
                        Some(Ok(())) => {}
                        Some(Err(_)) | None => return Ok(self.last),
                    }
                    follower.now(&ends)
                }
                false => {
                    self.n_in_a_row = 0;
                    follower.next(&ends)
                }
            };
            given = match next {
                Ok(given) => given,
                Err(_) => return Ok(self.last),
            };
        }
    }

    /// Whether an answer is a reason to run the command. Says what there is to say about it.
    fn is_to_run(&mut self, common: &Common, given: &Given) -> Result<bool, Trouble> {
        if given.status == Exit::Trouble as u8 {
            pass_on(common, given)?;
            return Ok(false);
        }
        let causes = Causes::read(&given.stdout);
        let has_run = self.n_in_a_row > 0;
        let has_more = match self.last == Exit::Fresh.into() || !has_run {
            true => causes.has_more_than(&self.handled),
            // What it has left half done is its own.
            false => causes.given().has_more_than(&self.handled),
        };
        self.handled.keep_those_in(&causes);
        if causes.n_stale == 0 {
            say(common, &format!("fresh: nothing to do for {}", plural(causes.n_targets, "target")));
            return Ok(false);
        }
        if has_more && self.n_in_a_row < MOST_IN_A_ROW {
            self.n_in_a_row += 1;
            let of = plural(causes.n_targets, "target");
            let is = if causes.n_stale == 1 { "is" } else { "are" };
            let because = causes.first_path().map_or(String::new(), |path| {
                let others = causes.entries.len() - 1;
                let others = if others == 0 { String::new() } else { format!(" and {} more", count(others)) };
                format!(" because of {}{others}", words::bytes(path))
            });
            say(common, &format!("{} of {of} {is} stale{because}", count(causes.n_stale)));
            self.handled = causes;
            return Ok(true);
        }
        if has_run {
            let still = format!("{} still stale: waiting for a change", plural(causes.n_stale, "target"));
            say(common, &still);
            // Also what it did itself.
            self.handled = causes;
        }
        Ok(false)
    }

    /// Runs the command to its end; `None` where it could not be run, and that is said. Inside: what interrupted it.
    fn execute(&mut self, ends: &Ends) -> Result<Option<Result<(), Ended>>, Trouble> {
        let began = Instant::now();
        let [program, arguments @ ..] = self.args.command.as_slice() else {
            return Err(Trouble("there is no command".into()));
        };
        let mut child = match Command::new(program).args(arguments).spawn() {
            Ok(child) => child,
            Err(error) => {
                self.last = cannot_run(self.common, program, &error);
                return Ok(None);
            }
        };
        let (status, ended) = ends
            .wait_for(&mut child)
            .map_err(|error| Trouble(format!("waiting for the command: {}", upcheck::os_message(&error))))?;
        self.last = Status::of(status);
        self.say_how(status, began);
        Ok(Some(ended.map_or(Ok(()), Err)))
    }

    fn say_how(&self, status: ExitStatus, began: Instant) {
        if !status.success() {
            let (number, seconds) = (self.last.number(), began.elapsed().as_secs_f64());
            say(self.common, &format!("the command ended with {number} after {seconds:.1} s"));
        }
    }
}

//! `upcheck watch`: a process that remembers builds, and the way of a check to it.
//!
//! ```text
//!   check        quick: asks the daemon before anything else is done            -> its answer
//!                there is none, it says no, or it does not move                 -> everything as without it
//!   watch serve  requests -> question -> room of that build directory -> answer
//! ```
//!
//! Whoever wants to know when the answer changes (`follow/`) asks the daemon to wait: `by_daemon` and `waiting` are the two ends.
//!
//! What comes from the daemon is what this very program would print: the same code makes it, from the same files. All that it
//! says no to, trouble included, a check finds out itself.

#[cfg_attr(unix, path = "apart_unix.rs")]
#[cfg_attr(windows, path = "apart_windows.rs")]
mod apart;
mod by_daemon;
mod command;
mod control;
mod drain;
mod evidence;
mod life;
mod question;
mod quick;
mod room;
mod rooms;
mod rounds;
mod settle;
mod told;
mod verify;
mod wait;
mod waiting;

pub(crate) use by_daemon::Daemon;
use control::watch as run;
use quick::quick as ask;
use verify::verify as compare;

use crate::args::{Args, CheckArgs, Command, Common};
use crate::exit::{Exit, Status};
use crate::run::{Trouble, warn};
use clap::builder::FalseyValueParser;
use clap::{Args as ClapArgs, Subcommand};
use std::ffi::OsString;
use std::time::Duration;

/// The name and version of the format of the status. The number changes when a reader of the old one would go wrong.
pub(crate) const SCHEMA: &str = "upcheck.watch/1";

const EXIT_STATUS: &str = "Exit status: 0 it runs, 1 it does not, 2 trouble.";
const WAIT_EXIT_STATUS: &str = "Exit status: that of `upcheck check` when its answer has changed; 2 trouble.";
const START_EXIT_STATUS: &str = "Exit status: 0 it runs, 2 trouble.";
const STOP_EXIT_STATUS: &str = "Exit status: 0 it does not run any more, 2 trouble.";

/// What `watch` was told.
#[derive(Debug, ClapArgs)]
#[command(subcommand_negates_reqs = true)]
pub(crate) struct WatchArgs {
    #[command(subcommand)]
    pub(crate) command: Option<WatchCommand>,
    #[command(flatten)]
    pub(crate) run: RunArgs,
}

/// What is run when something is stale.
#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// What to look at (default: what `ninja` would build)
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<OsString>,
    /// Do not ask the process that remembers; look at everything again and again
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// The command and its arguments. It is run in the current directory as soon as something is stale, and again when, after it,
    /// something is stale that was not before it; never twice at once
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// What is done about the daemon.
#[derive(Debug, Subcommand)]
pub(crate) enum WatchCommand {
    /// Start it, if it does not run
    #[command(after_help = START_EXIT_STATUS)]
    Start(StartArgs),
    /// Say what it watches, and what it was asked
    #[command(after_help = EXIT_STATUS)]
    Status,
    /// End it, if it runs
    #[command(after_help = STOP_EXIT_STATUS)]
    Stop,
    /// Wait until the answer of `upcheck check` is another one, and print it
    #[command(after_help = WAIT_EXIT_STATUS)]
    Wait,
    /// Be the daemon
    #[command(hide = true)]
    Serve(StartArgs),
}

#[derive(Clone, Copy, Debug, ClapArgs)]
pub(crate) struct StartArgs {
    /// It ends when nobody has asked it anything for so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "3600", value_parser = seconds)]
    pub(crate) idle: Duration,
    /// Compare each answer with a full pass, which is what is answered if they differ; `watch status` says how often
    #[arg(long, env = "UPCHECK_WATCH_VERIFY", hide_env_values = true, value_parser = FalseyValueParser::new())]
    pub(crate) verify: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).map_err(|_| "it is a number of seconds".into())
}

/// What came of asking the daemon first of all.
pub(crate) enum Quick {
    /// Everything is done.
    Answered(Status),
    /// Nothing is. If somebody wants to know why, this is it.
    Unanswered(Option<String>),
}

/// Asks the daemon, if this is a question for it and it runs, or is to be started. Nothing is parsed before, since an answer
/// may be there sooner than that.
pub(crate) fn quick() -> Quick {
    ask()
}

/// Says why the daemon did not answer, to who told it to.
pub(crate) fn say_unanswered(args: &Args, why: Option<&str>) {
    let check = match &args.command {
        None => &args.check,
        Some(Command::Check(check)) => check,
        Some(_) => return,
    };
    if check.watch && !check.verify_watch && !check.follow {
        say_no_answer(&args.common, check, why.unwrap_or(NOT_FOR_IT));
    }
}

/// What it does not answer, whatever it is asked.
const NOT_FOR_IT: &str = "it answers checks of ninja builds by times, and nothing else";

/// Says that a check is none for the daemon.
pub(crate) fn say_not_for_it(common: &Common, check: &CheckArgs) {
    say_no_answer(common, check, NOT_FOR_IT);
}

fn say_no_answer(common: &Common, check: &CheckArgs, why: &str) {
    if !check.quiet {
        warn(common, &[format!("upcheck watch did not answer: {why}")]);
    }
}

/// Answers a check by looking at everything, and compares that with what the daemon says.
pub(crate) fn verify(common: &Common, check: &CheckArgs) -> Result<Exit, Trouble> {
    compare(common, check)
}

/// Answers `watch`.
pub(crate) fn watch(common: &Common, args: &WatchArgs) -> Result<Status, Trouble> {
    let runs = !args.run.targets.is_empty() || !args.run.command.is_empty() || args.run.no_watch;
    match &args.command {
        None => Ok(command::run(common, &args.run)),
        Some(_) if runs => {
            Err(Trouble("a command, or something about the daemon: only one can be meant".into()))
        }
        Some(WatchCommand::Wait) => wait::wait(common).map(Status::from),
        Some(command) => run(common, command).map(Status::from),
    }
}

//! The `upcheck` command: which targets of a build are stale, and why?

#![forbid(unsafe_code)]

mod affected;
mod answer;
mod args;
mod bench_fs;
mod build_tool;
mod captured;
mod cmake;
mod contents;
mod doctor;
mod exit;
mod externals;
mod follow;
mod image_folder;
mod json;
mod keep_times;
mod libraries;
mod ninja;
mod plan;
mod progress;
mod project;
mod record;
#[cfg_attr(not(feature = "remote"), path = "without_remote.rs")]
mod remote;
mod repair;
mod run;
mod text;
mod verify_globs;
mod watch;
mod why;
mod words;

use clap::{CommandFactory, Parser};
use exit::{Exit, Status};
use std::process::ExitCode;

fn main() -> ExitCode {
    let unanswered = match watch::quick() {
        watch::Quick::Answered(status) => return status.end(),
        watch::Quick::Unanswered(why) => why,
    };
    let mut args = match args::Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Nothing is left to be done when that fails.
            let _ = error.print();
            return usage(&error).end();
        }
    };
    watch::say_unanswered(&args, unanswered.as_deref());
    match run::run(&mut args) {
        Ok(status) => status.end(),
        Err(trouble) => {
            run::report_trouble(&args, &trouble);
            Status::from(Exit::Trouble).end()
        }
    }
}

/// How the command ends when its arguments make no sense, or were a cry for help.
fn usage(error: &clap::Error) -> Status {
    if !error.use_stderr() {
        return Exit::Fresh.into();
    }
    // What `run` ends with below 125 is the status of what it runs.
    let found = args::Args::command().ignore_errors(true).try_get_matches();
    match found.is_ok_and(|found| found.subcommand_name() == Some("run")) {
        true => record::TROUBLE.into(),
        false => Exit::Trouble.into(),
    }
}

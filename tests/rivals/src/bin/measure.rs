//! Runs one command and says what it took: `measure PROGRAM [ARGUMENT]...`
//!
//! A process of its own because of memory: the kernel hands on the most memory of whoever starts a program to the
//! program, and the program that generates large builds has been large. This one stays small. What it prints:
//! nanoseconds until the end, microseconds of processor time, most memory in KiB, exit status (-1: by a signal).
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command prints")]

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

fn main() -> ExitCode {
    match run() {
        Ok(figures) => {
            println!("{figures}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("measure: error: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut args = std::env::args_os().skip(1);
    let program = args.next().ok_or("which program?")?;
    let mut command = Command::new(&program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
    let wall = start.elapsed().as_nanos();
    // Of the only child there was, and of those that it waited for.
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let microseconds = |time: TimeVal| time.num_microseconds();
    let cpu = microseconds(usage.user_time()) + microseconds(usage.system_time());
    Ok(format!("{wall} {cpu} {} {}", usage.max_rss(), status.code().unwrap_or(-1)))
}

//! The `upcheck` command: which targets of a build are stale, and why?

#![forbid(unsafe_code)]

mod affected;
mod answer;
mod args;
mod doctor;
mod exit;
mod image_folder;
mod json;
mod ninja;
mod project;
mod record;
mod run;
mod text;
mod time;
mod why;
mod words;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match run::run(&args) {
        Ok(exit) => exit,
        Err(trouble) => {
            run::report_trouble(&args, &trouble);
            exit::Exit::Trouble.into()
        }
    }
}

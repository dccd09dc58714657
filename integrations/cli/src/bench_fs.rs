//! `upcheck bench-fs`: the rate card of a file system, and what the planner makes of it.
//!
//! Directories below the given one are looked through first, and a sample of them is measured then: several rounds, in
//! each of which all that is compared is done once, so that whatever else the machine does hits all of it. Nothing is
//! written, and no file's content is read.

mod cases;
mod measured;
mod print;
mod sample;
mod server;
mod survey;

pub(crate) use print::SCHEMA;

use crate::args::{BenchFsArgs, Common, Format};
use crate::doctor::place;
use crate::exit::Exit;
use crate::run::{self, Trouble, bytes_of};
use cases::Cases;
use print::Card;
use sample::Sample;
use server::Server;
use survey::Survey;
use upcheck::collect::os_disk;

/// Measures the file system of a directory.
pub(crate) fn bench_fs(common: &Common, args: &BenchFsArgs) -> Result<Exit, Trouble> {
    let directory = match &args.measured {
        Some(given) => common.directory.join(given),
        None => common.directory.clone(),
    };
    let trouble = |operation: &str, cause: &str| {
        let path = crate::words::visible(&directory.display().to_string(), "");
        Trouble(format!("{operation} '{path}': {cause}"))
    };
    let opened = os_disk(&directory);
    let disk = opened.map_err(|cause| trouble("opening", &upcheck::os_message(&cause)))?;
    let survey = Survey::make(&disk).map_err(|cause| trouble("listing", &upcheck::os_message(&cause)))?;
    let sample = Sample::take(&survey, &disk, args.directories);
    if sample.n_names() == 0 {
        return Err(trouble("measuring", "there is no file in it, nor below it"));
    }
    let mut cases = Cases::new(&sample, common.threads);
    let n_rounds = cases.measure(&disk, &sample, Server::new(&directory), args.rounds);
    let card = Card {
        directory: bytes_of(directory.clone().into_os_string()),
        place: place(&directory),
        survey: &survey,
        sample: &sample,
        cases: &cases,
        n_rounds,
    };
    run::print(common, |out| match common.format {
        Format::Text | Format::Names => card.print(out),
        Format::Json => card.print_json(out),
        Format::Jsonl => card.print_lines(out),
    })?;
    Ok(Exit::Fresh)
}

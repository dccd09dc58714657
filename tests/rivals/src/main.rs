//! Times upcheck and its rivals, in turn, on generated and real builds.
//!
//! ```text
//! cargo run --release --package upcheck-rivals                               the quick cases
//! cargo run --release --package upcheck-rivals -- --all --record             all, into docs/PERFORMANCE.md
//! cargo run --release --package upcheck-rivals -- --case no-op --rival 'samurai=samu -n' --rounds 15
//! ```
//!
//! ```text
//! case --> build, made once --> contenders, answers checked --> rounds, A B C A B C --> table, CSV, SVG
//!          graph.rs, variants.rs    contender.rs                    race.rs                table.rs, record.rs
//!          project.rs
//! ```
//!
//! The generated builds were never compiled: files, times and logs are fabricated, and before anything is timed
//! the real ninjas have to give the expected answer. The floor is a program that looks at the same files and does
//! nothing else. Times include the start of the process; caches are warm unless a case says otherwise.

mod cases;
mod cmake;
mod contender;
mod csv;
mod floor_list;
mod graph;
mod logs;
mod makefile;
mod project;
mod quiet;
mod race;
mod record;
mod recorded;
mod svg;
mod table;
mod timing;
mod tree;
mod variants;
mod workshop;

use cases::{Case, Wishes};
use clap::Parser;
use record::{Occasion, Record};
use std::path::PathBuf;
use std::process::ExitCode;
use workshop::Workshop;

/// Time upcheck and its rivals on generated and real builds
#[derive(Parser)]
struct Args {
    /// What to measure [default: all cases that are not slow]
    #[arg(long, value_enum, value_delimiter = ',', conflicts_with = "all")]
    case: Vec<Case>,
    /// Measure all cases
    #[arg(long)]
    all: bool,
    /// Where generated builds are, or are to be made [default: beside the compiled program]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Take the programs that are beside this one as they are, instead of building them
    #[arg(long)]
    as_built: bool,
    /// How many targets the usual build has, roughly; other sizes are in proportion
    #[arg(long, default_value_t = 50_000)]
    targets: usize,
    /// How often each contender runs; slow cases have at most 3 or 5 rounds
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// One more contender where nothing is to be done: a shell command, run in the build directory, that has to
    /// succeed
    #[arg(long, value_name = "NAME=COMMAND")]
    rival: Vec<String>,
    /// Keep the largest build too
    #[arg(long)]
    keep: bool,
    /// Append all figures to a file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Put figures, charts and tables into the documents, by default into docs
    #[arg(long, value_name = "DOCS", num_args = 0..=1, require_equals = true)]
    record: Option<Option<PathBuf>>,
}

#[expect(clippy::print_stderr, reason = "where errors of programs go")]
fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("rivals: error: {message}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the result of this program")]
fn report(text: &str) {
    println!("{text}");
}

fn run(args: &Args) -> Result<(), String> {
    let cases: Vec<_> = match (args.all, &args.case[..]) {
        (true, _) => Case::all().collect(),
        (false, []) => Case::usual().collect(),
        (false, given) => given.to_vec(),
    };
    let occasion = Occasion::now();
    let record = match &args.record {
        Some(docs) => {
            let docs = docs.clone().unwrap_or_else(|| upcheck_tests::tools::root().join("docs"));
            let names: Vec<_> = cases.iter().map(|case| case.name()).collect();
            Some(Record::open(docs, Occasion::now(), &names)?)
        }
        None => None,
    };
    let rivals: Option<Vec<_>> = args.rival.iter().map(|rival| rival.split_once('=')).collect();
    let wishes = Wishes {
        targets: args.targets.max(1),
        rounds: args.rounds.max(1),
        rivals: rivals.ok_or("a rival is NAME=COMMAND")?,
    };
    let shop = Workshop::open(args.dir.clone(), args.as_built)?;
    if !shop.optimised {
        report("! nothing is optimised here: these figures mean nothing\n");
    }
    for case in cases {
        if let Some(obstacle) = case.obstacle() {
            report(&format!("== {}\n! NOT MEASURED: {obstacle}\n", case.name()));
            continue;
        }
        let outcome = case.prepare(&shop, &wishes).and_then(|race| race.run(&shop.measure));
        if let Some(tree) = case.passing_tree(wishes.targets)
            && !args.keep
        {
            shop.remove_tree(&tree)?;
        }
        let outcome = outcome?;
        report(&table::text(&outcome));
        if let Some(path) = &args.csv {
            occasion.append_csv(path, &outcome)?;
        }
        if let Some(record) = &record {
            record.add(&outcome)?;
        }
    }
    Ok(())
}

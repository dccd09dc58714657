//! A naive second opinion. [`naive::Oracle`] is docs/SEMANTICS.md in plain maps and recursion; on random
//! worlds in memory it must agree with [`upcheck::Decision`] on what is judged, on each verdict and on each reason.
//!
//! `UPCHECK_CASES` sets how many worlds each test tries.

mod agreement;
mod described;
mod naive;
mod properties;
mod resume;
mod roll;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use roll::worlds;
use std::collections::{BTreeMap, BTreeSet};
use upcheck::{Mtime, Record, Unknown, Verdict};

/// A second, in nanoseconds.
const S: Mtime = 1_000_000_000;
/// The error of a disk that would not say.
const ELOOP: i32 = 40;

/// A build, by path.
#[derive(Clone, Debug, Default)]
struct World {
    targets: Vec<Target>,
    /// Those that are not here are missing.
    files: BTreeMap<String, State>,
    records: BTreeMap<String, Record>,
    /// `None` for one that is broken. Those that are not here were not read.
    dyndeps: BTreeMap<String, Option<Vec<Extra>>>,
    /// What is asked for.
    requests: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Present(Mtime),
    Unreadable,
    /// Missing as far as anyone knows, because nobody asks.
    NotAsked,
}

#[derive(Clone, Debug, Default)]
struct Target {
    outputs: Vec<String>,
    explicit: Vec<String>,
    implicit: Vec<String>,
    order_only: Vec<String>,
    validations: Vec<String>,
    dyndep: Option<String>,
    phony: bool,
    restat: bool,
    generator: bool,
    hash: u64,
    discovered: Discovered,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Discovered {
    #[default]
    Untracked,
    Known(Vec<String>, Option<Mtime>),
    Unknown(Unknown),
}

/// What a dyndep file says of one target.
#[derive(Clone, Debug)]
struct Extra {
    target: usize,
    outputs: Vec<String>,
    inputs: Vec<String>,
    restat: bool,
}

/// Judged targets.
type Verdicts = BTreeMap<usize, Verdict>;

/// Reasons: code, path, and the target before this one that the reason passes on.
type Why = BTreeSet<(&'static str, String, Option<usize>)>;

/// Tries a property on as many worlds as asked for.
fn for_worlds(cases: u32, property: impl Fn(World) -> Result<(), TestCaseError>) {
    for_all(cases, worlds(), property);
}

/// Tries a property on as many cases as asked for.
fn for_all<T: Strategy>(cases: u32, all: T, property: impl Fn(T::Value) -> Result<(), TestCaseError>) {
    let cases = match std::env::var("UPCHECK_CASES") {
        Ok(text) => text.parse().expect("UPCHECK_CASES is a number"),
        Err(_) => cases,
    };
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Config::default() };
    if let Err(error) = TestRunner::new(config).run(&all, property) {
        panic!("{error}");
    }
}

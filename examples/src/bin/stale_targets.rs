//! For authors of tools around ninja: the stale targets of a build directory, one per line, with the first
//! reason's name.
//!
//! ```text
//! cargo run --package upcheck-examples --bin stale_targets -- BUILD_DIR [TARGET...]
//! ```
#![expect(clippy::print_stdout, reason = "a command prints")]

use std::error::Error;
use upcheck::collect;
use upcheck_ninja::{Build, Options};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("which build directory?")?;
    let disk = collect::os_disk(directory.as_ref())?;
    let mut build = Build::load(&disk, &Options::default())?;
    let mut requests =
        arguments.map(|target| build.resolve(target.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    if requests.is_empty() {
        requests = build.default_requests()?;
    }
    // All targets are one pass: each file is looked at once.
    build.describe(&disk, &requests)?;
    let snapshot = build.collect(&disk);
    let decision = build.decide(&snapshot, &requests)?;
    let report = build.report(&decision);
    for stale in &report.stale {
        let name = String::from_utf8_lossy(build.graph().name(stale.target));
        println!("{name}\t{}", stale.reasons[0].code());
    }
    Ok(())
}

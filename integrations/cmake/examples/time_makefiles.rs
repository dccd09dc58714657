//! How long it takes to read the Makefiles of a build directory of CMake's, and to judge them.
//!
//! ```text
//! cargo run --release -p upcheck-cmake --example time_makefiles -- DIRECTORY [TIMES]
//! ```

#![expect(clippy::print_stdout, reason = "it prints")]

use std::path::Path;
use std::time::{Duration, Instant};
use upcheck::Project;
use upcheck::collect::os_disk;
use upcheck::project::Options;
use upcheck_cmake::makefiles::{Known, describe};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().ok_or("usage: time_makefiles DIRECTORY [TIMES]")?;
    let times = arguments.next().map_or(Ok(20), |times| times.parse())?;
    let disk = os_disk(Path::new(&directory))?;
    let mut found: Vec<[Duration; 2]> = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let mut project = Project::new();
        let makefiles = describe(&disk, Known::default(), &mut project)?;
        let described = began.elapsed();
        let configured = project.graph().outputs(makefiles.configure)[0];
        let checked = project.check(&disk, None, &[makefiles.all, configured], Options::default())?;
        if found.is_empty() {
            let report = &checked.report;
            let graph = project.graph();
            println!(
                "{} targets, {} files, {} inputs; {} stale, {} pending",
                report.n_targets,
                graph.files.len(),
                graph.n_inputs(),
                report.n_stale,
                report.n_pending
            );
        }
        found.push([described, began.elapsed()]);
    }
    for (at, what) in ["read", "read and judged"].into_iter().enumerate() {
        let mut all: Vec<Duration> = found.iter().map(|times| times[at]).collect();
        all.sort_unstable();
        println!("{what}: {:.1?} (median), {:.1?} (least)", all[all.len() / 2], all[0]);
    }
    Ok(())
}

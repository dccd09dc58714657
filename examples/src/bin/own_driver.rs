//! For authors of build drivers: a graph of their own, judged without any ninja.
//!
//! A target is described by its inputs, its outputs and a hash of its command; what the last success left is
//! handed in as records. Nothing is read but the files' times.
//!
//! ```text
//! cargo run --package upcheck-examples --bin own_driver
//! ```
#![expect(clippy::print_stdout, reason = "a demonstration prints")]

use std::error::Error;
use std::time::{Duration, SystemTime};
use upcheck::{Decision, Graph, History, Mode, Mtime, Plan, Reason, Record, Report, TargetDesc, collect};

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("upcheck-own-driver-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let hour = Duration::from_secs(3_600);
    let built = SystemTime::now() - hour;
    for (name, time) in
        [("logo.svg", built - hour), ("logo.png", built), ("page.md", built + hour / 2), ("page.html", built)]
    {
        let file = std::fs::File::create(directory.join(name))?;
        file.set_times(std::fs::FileTimes::new().set_modified(time))?;
    }

    // Describe.
    let mut graph = Graph::default();
    let mut history = History::default();
    let recorded = Mtime::try_from(built.duration_since(SystemTime::UNIX_EPOCH)?.as_nanos())?;
    for (from, to, command_hash) in [("logo.svg", "logo.png", 1), ("page.md", "page.html", 2)] {
        let (input, output) = (graph.files.intern(from.as_bytes()), graph.files.intern(to.as_bytes()));
        let desc = TargetDesc { outputs: &[output], explicit: &[input], ..TargetDesc::default() };
        let target = graph.add_target(desc).map_err(|_| "two targets make the same file")?;
        history.set_command_hash(target, command_hash);
        history.set_record(output, Record { command_hash, mtime: recorded });
    }

    // Plan, collect, decide, report.
    let plan = Plan::new(&graph.files, graph.files.ids());
    let snapshot = collect::collect(&collect::os_disk(&directory)?, &plan, 0);
    let requests: Vec<_> = graph.targets().map(|target| graph.outputs(target)[0]).collect();
    let mut decision = Decision::new(&graph, &history, &snapshot, Mode::LookPast);
    decision.judge_all(&requests).map_err(|stop| format!("{stop:?}"))?;
    let report = Report::new(&decision, &graph, |_| true);
    std::fs::remove_dir_all(&directory)?;

    println!("{} of {} targets are stale", report.n_stale, report.n_targets);
    for stale in &report.stale {
        for reason in &stale.reasons {
            let name = String::from_utf8_lossy(graph.name(stale.target));
            let path = String::from_utf8_lossy(graph.files.path(reason.path()));
            match reason {
                Reason::InputNewer { input_mtime, output_mtime, .. } => {
                    println!("{name}: {path} is newer by {} s", (input_mtime - output_mtime) / 1_000_000_000);
                }
                other => println!("{name}: {} {path}", other.code()),
            }
        }
    }
    Ok(())
}

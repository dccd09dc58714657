//! How long a graph takes to read, and the most memory the process had. For PERFORMANCE.md, and whoever doubts it.
//!
//! `cargo run --release --package upcheck-graph --example measure -- make 100000 40 g.json`, then `... -- read g.json 20`:
//! the fastest of 20 times, since others use the machine, too.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use upcheck::Project;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["make", n_inputs, length, path] => make(n_inputs.parse()?, length.parse()?, path.as_ref()),
        ["read", path, n_times] => read(path.as_ref(), n_times.parse()?),
        _ => Err("make N_INPUTS PATH_LENGTH FILE, or read FILE N_TIMES".into()),
    }
}

fn make(n_inputs: usize, length: usize, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::from("{\"version\":1,\"targets\":[{\"outputs\":[\"out\"],\"inputs\":[");
    for n in 0..n_inputs {
        let separator = if n == 0 { "" } else { "," };
        write!(text, "{separator}\"src/{:03}/{n:0>width$}\"", n % 500, width = length.saturating_sub(8))?;
    }
    text.push_str("]}]}");
    Ok(std::fs::write(path, text)?)
}

#[allow(clippy::print_stdout, reason = "this is what it is for")]
fn read(path: &Path, n_times: usize) -> Result<(), Box<dyn std::error::Error>> {
    let mut fastest = f64::INFINITY;
    for _ in 0..n_times {
        let began = Instant::now();
        let mut project = Project::new();
        upcheck_graph::read_file(path, &mut project)?;
        fastest = fastest.min(began.elapsed().as_secs_f64() * 1e3);
    }
    println!("{fastest:.1} ms");
    // Linux only: the high-water mark.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().filter(|line| line.starts_with("VmHWM")).for_each(|line| println!("{line}"));
    Ok(())
}

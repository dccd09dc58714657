//! A long graph is not held in memory: only what it says is.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use upcheck::Project;
use upcheck_graph::read_file;

/// Tells the child which file to read.
const FILE: &str = "UPCHECK_TEST_GRAPH";

/// 60 MB that say little: a million inputs, of which a thousand differ.
fn write_long_graph(path: &Path) {
    let mut file = BufWriter::new(fs::File::create(path).expect("a file"));
    file.write_all(b"{\"version\":1,\"targets\":[{\"outputs\":[\"out\"],\"inputs\":[\"first\"")
        .expect("room");
    for n in 0..1_000_000 {
        write!(file, ",\"src/{:053}\"", n % 1000).expect("room");
    }
    file.write_all(b"]}]}").expect("room");
    file.flush().expect("room");
}

#[test]
fn a_long_graph_is_read_piece_by_piece() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.json");
    write_long_graph(&path);
    let length = fs::metadata(&path).expect("a file").len();
    let mut child = Command::new(std::env::current_exe().expect("a test"));
    child.args(["--exact", "memory::in_a_process_of_its_own", "--ignored", "--nocapture"]).env(FILE, &path);
    let output = child.output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let peak = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let peak: u64 = peak.trim().strip_suffix(" kB").expect("a unit").trim().parse().expect("a number");
    assert!(length > 60_000_000 && peak * 1024 < length / 2, "{peak} kB for {length} bytes");
}

#[test]
#[ignore = "only as a child: the peak is that of a process"]
fn in_a_process_of_its_own() {
    let Some(path) = std::env::var_os(FILE) else { return };
    let mut project = Project::new();
    read_file(Path::new(&path), &mut project).expect("a graph");
    assert_eq!(project.graph().n_inputs(), 1_000_001);
    let status = fs::read("/proc/self/status").expect("Linux");
    std::io::stdout().write_all(&[b"\n", status.as_slice()].concat()).expect("a pipe");
}

//! Projects with records of success: many inputs, described in a JSON graph, of which nothing changed since their targets
//! were recorded.

use crate::tree::set_mtime;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

/// Changes whenever what is generated does.
pub(crate) const VERSION: u32 = 1;

/// The inputs of a project.
#[derive(Clone, Copy)]
pub(crate) struct Inputs {
    pub(crate) n_files: usize,
    /// Bytes of each.
    pub(crate) size: usize,
    pub(crate) per_target: usize,
    /// Whether they get another time after they were recorded.
    pub(crate) touched: bool,
}

/// The name of the graph.
pub(crate) const GRAPH: &str = "graph.json";
/// Files are as old as this when they are recorded, and a second younger when they were touched.
const OLD: i64 = 1_700_000_000_000_000_000;
const PER_DIRECTORY: usize = 100;

impl Inputs {
    pub(crate) fn path(file: usize) -> String {
        format!("src/module-{:04}/some_source_file_{file:06}.c", file / PER_DIRECTORY)
    }

    fn output(target: usize) -> String {
        format!("out/target-{target:06}")
    }

    pub(crate) fn n_targets(self) -> usize {
        self.n_files.div_ceil(self.per_target)
    }

    /// All files that a check looks at.
    pub(crate) fn paths(self) -> impl Iterator<Item = Vec<u8>> {
        let inputs = (0..self.n_files).map(Self::path);
        inputs.chain((0..self.n_targets()).map(Self::output)).map(String::into_bytes)
    }

    /// Makes the files, and lets upcheck record them.
    pub(crate) fn generate(self, dir: &Path, upcheck: &Path) -> Result<(), String> {
        self.write(dir).map_err(|error| error.to_string())?;
        let mut record = Command::new(upcheck);
        record.current_dir(dir).args(["record", "--no-image", "--from", "graph", "--trust"]);
        let status = record.status().map_err(|error| error.to_string())?;
        if !status.success() {
            return Err(format!("upcheck record: {status}"));
        }
        if self.touched {
            self.stamp(dir, OLD + 1_000_000_000).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn write(self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir.join("out"))?;
        let mut content = vec![0; self.size];
        for file in 0..self.n_files {
            let path = dir.join(Self::path(file));
            if file % PER_DIRECTORY == 0 {
                fs::create_dir_all(path.parent().unwrap_or(dir))?;
            }
            // No two are the same.
            let mut state = file as u64 + 1;
            for bytes in content.chunks_mut(8) {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                bytes.copy_from_slice(&state.to_le_bytes()[..bytes.len()]);
            }
            File::create(path)?.write_all(&content)?;
        }
        self.stamp(dir, OLD)?;
        for target in 0..self.n_targets() {
            fs::write(dir.join(Self::output(target)), "made")?;
        }
        fs::write(dir.join(GRAPH), self.graph())
    }

    fn stamp(self, dir: &Path, mtime_ns: i64) -> io::Result<()> {
        (0..self.n_files).try_for_each(|file| {
            let file = File::options().write(true).open(dir.join(Self::path(file)))?;
            set_mtime(&file, mtime_ns)
        })
    }

    fn graph(self) -> String {
        let mut graph = String::from("{\"version\":1,\"targets\":[\n");
        for target in 0..self.n_targets() {
            let first = target * self.per_target;
            let inputs: Vec<_> = (first..(first + self.per_target).min(self.n_files))
                .map(|file| format!("\"{}\"", Self::path(file)))
                .collect();
            let comma = if target > 0 { ",\n" } else { "" };
            // A string is written to without an error.
            let _ = write!(
                graph,
                "{comma}{{\"outputs\":[\"{}\"],\"inputs\":[{}],\"command\":\"make {target}\"}}",
                Self::output(target),
                inputs.join(",")
            );
        }
        graph.push_str("\n]}\n");
        graph
    }
}

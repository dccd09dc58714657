//! A build driver in Rust: compiles and links the program in src/, but only what is stale, and says why.
//!
//! ```text
//! cargo run --package upcheck-examples --bin hello -- DIRECTORY
//! ```
#![expect(clippy::print_stdout, reason = "a command prints")]

use std::error::Error;
use std::path::Path;
use std::process::{Command, exit};
use upcheck::collect::{OsDisk, os_disk};
use upcheck::project::{Description, Options};
use upcheck::records::Records;
use upcheck::{FileId, Project, TargetId};
use upcheck_words::{Zone, sentence};

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Driver {
    disk: OsDisk,
    project: Project,
    records: Records,
}

impl Driver {
    fn add(&mut self, output: &str, inputs: &[FileId], command: &str, depfile: &str) -> Outcome<FileId> {
        let made = self.project.file(output.as_bytes())?;
        self.project.add(&Description {
            outputs: &[made],
            explicit: inputs,
            command: command.as_bytes(),
            depfile: depfile.as_bytes(),
            ..Description::default()
        })?;
        Ok(made)
    }

    fn build(&mut self, target: TargetId) -> Outcome<()> {
        // Before the command reads anything.
        let begun = self.project.begin(&self.disk, &mut self.records, &[target], Options::default())?;
        let command = str::from_utf8(self.project.command(target))?;
        println!("  {command}");
        let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        if !Command::new(shell).args([option, command]).status()?.success() {
            exit(1); // It stays on record as interrupted.
        }
        self.project.commit(&self.disk, &mut self.records, begun, Options::default())?;
        Ok(())
    }

    /// Builds what is stale by itself: what is made from that may come out as it is. False once all is fresh.
    fn build_what_need_not_wait(&mut self) -> Outcome<bool> {
        let requests = self.project.default_requests();
        let checked = self.project.check(&self.disk, Some(&self.records), &requests, Options::default())?;
        for stale in &checked.report.stale {
            if stale.reasons.iter().all(|reason| reason.upstream().is_none()) {
                let graph = self.project.graph();
                let name = String::from_utf8_lossy(graph.name(stale.target));
                println!("{name}: {}", sentence(graph, &stale.reasons[0], Zone::Utc));
                self.build(stale.target)?;
            }
        }
        Ok(!checked.is_fresh())
    }
}

fn main() -> Outcome<()> {
    std::env::set_current_dir(std::env::args().nth(1).ok_or("which directory?")?)?;
    let disk = os_disk(Path::new("."))?;
    let mut driver = Driver { disk, project: Project::new(), records: Records::open(Path::new(".upcheck"))? };
    let mut objects = Vec::new();
    for name in ["main", "greet", "count"] {
        let source = driver.project.file(format!("src/{name}.c").as_bytes())?;
        let command = format!("mkdir -p out && cc -MMD -c src/{name}.c -o out/{name}.o");
        objects.push(driver.add(&format!("out/{name}.o"), &[source], &command, &format!("out/{name}.d"))?);
    }
    driver.add("out/hello", &objects, "cc out/main.o out/greet.o out/count.o -o out/hello", "")?;
    while driver.build_what_need_not_wait()? {}
    Ok(())
}

//! Logs that are written anew: the real ninja believes them, entry by entry.

use super::{Builds, OLD, SECOND};
use upcheck::collect::os_disk;
use upcheck::{FileId, Record};
use upcheck_ninja::build_log;
use upcheck_ninja::deps_log::DepsLog;
use upcheck_ninja::deps_writer::DepsLogWriter;
use upcheck_ninja::log_writer::BuildLogWriter;
use upcheck_ninja::{Build, Options, replace_file};
use upcheck_tests::tools::Ninja;

/// The deps log of a build directory.
fn deps(builds: &Builds) -> DepsLog {
    DepsLog::read(builds.space.read(".ninja_deps"), builds.ninja.rules())
}

fn replace(builds: &Builds, name: &str, content: &[u8]) {
    replace_file(&builds.space.path().join(name), content).expect("it can be");
}

#[test]
fn ninja_finds_in_a_log_that_was_written_anew_what_was_in_the_old_one() {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        let log = builds.space.read(".ninja_log");
        let anew = BuildLogWriter::read(ninja.rules(), &log).finish();
        assert_eq!(build_log::log_version(&anew), build_log::log_version(&log));
        replace(&builds, ".ninja_log", &anew);
        replace(&builds, ".ninja_deps", &DepsLogWriter::read(&deps(&builds)).finish());
        builds.is_fresh();
        // And it goes on with them.
        builds.space.write_at("h/all.h", "H\n", builds.later());
        assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
        builds.build();
        builds.is_fresh();
        assert_eq!(deps(&builds).damaged_at(), None);
    }
}

#[test]
fn ninja_believes_logs_that_were_written_from_nothing() {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        let (said, hashes) = (deps(&builds), hashes(&builds));
        builds.space.remove(".ninja_log");
        builds.space.remove(".ninja_deps");
        assert_eq!(builds.listed().len(), 5);
        let mut log = BuildLogWriter::new(ninja.rules());
        for (output, command_hash) in &hashes {
            let mtime = builds.space.mtime(output).expect("it was made");
            log.set(output.as_bytes(), Record { command_hash: *command_hash, mtime }).expect("a plain path");
        }
        let mut written = DepsLogWriter::new();
        let paths: Vec<_> = said.paths().collect();
        for (number, output) in paths.iter().enumerate() {
            let Some((mtime, inputs)) = said.record(number) else { continue };
            written.set(output, mtime, inputs.map(|input| paths[input])).expect("plain paths");
        }
        replace(&builds, ".ninja_log", &log.finish());
        replace(&builds, ".ninja_deps", &written.finish());
        builds.is_fresh();
        builds.space.write_at("h/all.h", "H\n", builds.later());
        assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"], "headers are known");
    }
}

#[test]
fn what_was_dropped_is_stale_and_nothing_else() {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        let mut log = BuildLogWriter::read(ninja.rules(), &builds.space.read(".ninja_log"));
        assert!(log.drop_entry(b"b"));
        replace(&builds, ".ninja_log", &log.finish());
        assert_eq!(builds.listed(), ["b"]);
        let mut written = DepsLogWriter::read(&deps(&builds));
        assert!(written.drop_record(b"a.o"));
        replace(&builds, ".ninja_deps", &written.finish());
        assert_eq!(builds.listed(), ["a", "a.o", "b", "copy"]);
        let mut written = DepsLogWriter::read(&deps(&builds));
        assert!(written.set_mtime(b"b.o", OLD - SECOND), "older than the output");
        replace(&builds, ".ninja_deps", &written.finish());
        assert_eq!(builds.listed(), ["a", "a.o", "b", "b.o", "copy"]);
    }
}

#[test]
fn of_logs_that_are_cut_off_what_is_whole_goes_into_the_new_ones() {
    for &ninja in Ninja::USUAL {
        let builds = Builds::new(ninja);
        for name in [".ninja_log", ".ninja_deps"] {
            let whole = builds.space.read(name);
            for length in (0..=whole.len()).step_by(7) {
                let cut = builds.space.copy();
                cut.write(name, &whole[..length]);
                let anew = Builds { space: cut.copy(), ninja };
                let bytes = match name {
                    ".ninja_log" => BuildLogWriter::read(ninja.rules(), &whole[..length]).finish(),
                    _ => {
                        DepsLogWriter::read(&DepsLog::read(whole[..length].to_vec(), ninja.rules())).finish()
                    }
                };
                replace(&anew, name, &bytes);
                assert_eq!(anew.listed(), Builds { space: cut, ninja }.listed(), "{name}, {length} bytes");
            }
        }
    }
}

/// The outputs and the hashes of their commands, as they are found out from the manifest alone.
fn hashes(builds: &Builds) -> Vec<(String, u64)> {
    let disk = os_disk(builds.space.path()).expect("it is there");
    let options = Options { version: Some(builds.ninja.rules()), ..Options::default() };
    let mut build = Build::load(&disk, &options).expect("a manifest");
    let requests: Vec<FileId> = build.default_requests().expect("some");
    build.describe(&disk, &requests).expect("no cycle");
    let graph = build.graph();
    let targets = graph.targets().filter(|&target| !graph.flags(target).phony);
    targets
        .map(|target| {
            let name = String::from_utf8_lossy(graph.name(target)).into_owned();
            (name, build.history().command_hash(target))
        })
        .collect()
}

//! Whole build directories: versions of logs, what is asked for, and what only ninja's files can bring about.

use crate::{S, reason_words};
use upcheck::collect::MemoryDisk;
use upcheck::{FileId, Mtime, Report};
use upcheck_ninja::{Build, NinjaVersion, Options, command_hash, dry_run};

/// A ninja build directory in memory.
struct Directory {
    disk: MemoryDisk,
}

impl Directory {
    fn new(manifest: &str) -> Self {
        let mut disk = MemoryDisk::new();
        disk.write("build.ninja", manifest.as_bytes());
        Self { disk }
    }

    fn file(&mut self, path: &str, mtime: Mtime) {
        self.disk.touch(path, mtime);
    }

    /// Writes a log of that version, with entries of output, command and time, hashed as that version does.
    fn log(&mut self, version: u32, entries: &[(&str, &str, Mtime)]) {
        let mut text = format!("# ninja log v{version}\n");
        for (output, command, mtime) in entries {
            let hash = match version {
                7 => command_hash::rapidhash(command.as_bytes()),
                _ => command_hash::murmur_hash_64a(command.as_bytes()),
            };
            text += &format!("0\t1\t{mtime}\t{output}\t{hash:x}\n");
        }
        self.disk.write(".ninja_log", text.as_bytes());
    }

    fn load(&self, version: Option<NinjaVersion>) -> (Build, Vec<FileId>) {
        let options = Options { version, ..Options::default() };
        let mut build = Build::load(&self.disk, &options).expect("a manifest");
        let requests = build.default_requests().expect("there are roots");
        build.describe(&self.disk, &requests).expect("no cycle in variables");
        (build, requests)
    }

    /// All targets with a command that are not fresh, with their reasons.
    fn check(&self, version: Option<NinjaVersion>) -> Vec<String> {
        let (mut build, requests) = self.load(version);
        let snapshot = build.collect(&self.disk);
        let decision = build.decide(&snapshot, &requests).expect("no cycle");
        listed(&build, &build.report(&decision))
    }

    /// What a dry run lists, or its error.
    fn dry_run(&self, version: Option<NinjaVersion>) -> Result<Vec<String>, String> {
        let (mut build, requests) = self.load(version);
        let snapshot = build.collect(&self.disk);
        match dry_run(&build, &self.disk, &snapshot, Ok(requests), true) {
            Ok(run) => Ok(listed(&build, &run.report)),
            Err(error) => Err(error.to_string()),
        }
    }
}

fn listed(build: &Build, report: &Report) -> Vec<String> {
    let line = |stale: &upcheck::StaleTarget| {
        let name = String::from_utf8_lossy(build.graph().name(stale.target)).into_owned();
        let reasons: Vec<_> =
            stale.reasons.iter().map(|reason| reason_words(build.graph(), reason)).collect();
        format!("{name}: {}", reasons.join(", "))
    };
    report.stale.iter().map(line).collect()
}

const CC: &str = "rule cc\n  command = cc $in\n  depfile = $out.d\n";
const VERSIONS: [(u32, NinjaVersion); 3] =
    [(5, NinjaVersion::V1_11), (6, NinjaVersion::V1_12), (7, NinjaVersion::V1_13)];

#[test]
fn the_rules_are_those_of_the_ninja_whose_log_is_found() {
    for (log_version, expected) in VERSIONS {
        let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
        directory.file("in", S);
        directory.file("out", 2 * S);
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        assert_eq!(directory.check(None), [""; 0], "hashes of log version {log_version}");
        assert_eq!(directory.load(None).0.version(), expected);
    }
}

#[test]
fn a_log_that_its_ninja_would_throw_away_is_not_believed() {
    for (log_version, _) in VERSIONS {
        for (own_version, version) in VERSIONS {
            let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
            directory.file("in", S);
            directory.file("out", 2 * S);
            directory.log(log_version, &[("out", "cc in", 2 * S)]);
            let answer = directory.check(Some(version)).join("\n");
            if log_version == own_version || (log_version, own_version) == (6, 5) {
                assert_eq!(answer, "", "{version} reads {log_version}");
            } else if version == NinjaVersion::V1_11 {
                assert!(
                    answer.starts_with("out: command-changed out"),
                    "{version} hashes otherwise: {answer}"
                );
            } else {
                assert_eq!(answer, "out: never-built out", "{version} throws {log_version} away");
            }
        }
    }
}

#[test]
fn a_missing_source_is_an_error_in_exact_mode() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc gone\n");
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc gone", 2 * S)]);
    assert_eq!(directory.check(None), ["out: input-missing gone"]);
    let error = directory.dry_run(None).expect_err("ninja refuses");
    assert_eq!(error, "'gone', needed by 'out', missing and no known rule to make it");
}

#[test]
fn a_missing_header_that_only_a_depfile_names_is_no_error() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc in\n"));
        directory.file("in", S);
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: in gone.h\n");
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        let expected = vec!["out: input-missing gone.h".to_owned()];
        assert_eq!(directory.check(Some(version)), expected);
        assert_eq!(directory.dry_run(Some(version)), Ok(expected));
    }
}

#[test]
fn a_missing_source_that_a_depfile_names_too_is_an_error_since_1_12() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc gone\n"));
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: gone\n");
        directory.log(log_version, &[("out", "cc gone", 2 * S)]);
        assert_eq!(directory.check(Some(version)), ["out: input-missing gone"]);
        let exact = directory.dry_run(Some(version));
        if version == NinjaVersion::V1_11 {
            assert_eq!(exact, Ok(vec!["out: input-missing gone".into()]));
        } else {
            assert!(exact.expect_err("ninja refuses").contains("'gone', needed by 'out'"));
        }
    }
}

#[test]
fn a_missing_dyndep_file_makes_its_targets_stale_and_is_an_error_in_exact_mode() {
    let manifest = "rule cc\n  command = cc $in\nbuild out: cc in || dd\n  dyndep = dd\n";
    let mut directory = Directory::new(manifest);
    directory.file("in", S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let trouble = "loading 'dd': No such file or directory";
    assert_eq!(directory.check(None), [format!("out: deps-unknown dd broken: {trouble}")]);
    assert_eq!(directory.dry_run(None), Err(trouble.into()));
}

#[test]
fn the_content_of_a_response_file_is_part_of_the_command() {
    let manifest = |content: &str| {
        format!("rule ar\n  command = ar @$out.rsp\n  rspfile = $out.rsp\n  rspfile_content = {content}\n")
    };
    for (content, is_fresh) in [("a b", true), ("a b c", false)] {
        let mut directory = Directory::new(&(manifest(content) + "build lib: ar in\n"));
        directory.file("in", S);
        directory.file("lib", 2 * S);
        directory.log(7, &[("lib", "ar @lib.rsp;rspfile=a b", 2 * S)]);
        let answer = directory.check(None);
        assert_eq!(answer.is_empty(), is_fresh, "{answer:?}");
        assert!(answer.iter().all(|line| line.starts_with("lib: command-changed lib")), "{answer:?}");
    }
}

#[test]
fn quotes_are_part_of_names_in_depfiles_since_1_13() {
    for (log_version, version) in VERSIONS {
        let mut directory = Directory::new(&format!("{CC}build out: cc in\n"));
        directory.file("in", S);
        directory.file("it's.h", 3 * S);
        directory.file("it", S);
        directory.file("s.h", S);
        directory.file("out", 2 * S);
        directory.disk.write("out.d", b"out: it's.h\n");
        directory.log(log_version, &[("out", "cc in", 2 * S)]);
        let is_fresh = version < NinjaVersion::V1_13;
        assert_eq!(directory.check(None).is_empty(), is_fresh, "{version}");
    }
}

#[test]
fn a_build_that_ends_during_the_check_leaves_its_targets_stale() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc in\n");
    directory.file("in", 3 * S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let (mut build, requests) = directory.load(None);
    directory.file("out", 4 * S);
    directory.log(7, &[("out", "cc in", 4 * S)]);
    let snapshot = build.collect(&directory.disk);
    let decision = build.decide(&snapshot, &requests).expect("no cycle");
    let report = build.report(&decision);
    assert_eq!(listed(&build, &report), ["out: input-newer in at 3s > out at 2s on record"]);
    assert_eq!(directory.check(None), [""; 0], "the next check sees all of it");
}

#[test]
fn exact_mode_stops_at_a_stale_manifest_and_the_usual_mode_looks_past_it() {
    let mut directory = Directory::new(
        "rule cc\n  command = cc $in\nrule gen\n  command = gen\n  generator = 1\n\
         build build.ninja: gen | conf\nbuild out: cc in\n",
    );
    directory.file("build.ninja", 2 * S);
    directory.file("conf", 3 * S);
    directory.file("in", 3 * S);
    directory.file("out", 2 * S);
    directory.log(7, &[("out", "cc in", 2 * S)]);
    let manifest = "build.ninja: manifest-stale build.ninja, input-newer conf at 3s > build.ninja at 2s";
    let manifest = manifest.to_owned();
    let out = "out: input-newer in at 3s > out at 2s".to_owned();
    assert_eq!(directory.check(None), [manifest.clone(), out]);
    assert_eq!(directory.dry_run(None), Ok(vec![manifest]));
}

#[test]
fn a_missing_source_that_was_asked_for_is_an_error_in_both_modes() {
    let mut directory = Directory::new("rule cc\n  command = cc $in\nbuild out: cc gone\n");
    directory.file("out", 2 * S);
    let mut build = Build::load(&directory.disk, &Options::default()).expect("a manifest");
    let requests = vec![build.resolve(b"gone").expect("the manifest names it")];
    build.describe(&directory.disk, &requests).expect("no cycle in variables");
    let snapshot = build.collect(&directory.disk);
    let expected = "'gone' missing and no known rule to make it";
    let usual = build.decide(&snapshot, &requests).err().map(|error| error.to_string());
    assert_eq!(usual.as_deref(), Some(expected));
    let exact = dry_run(&build, &directory.disk, &snapshot, Ok(requests), false);
    assert_eq!(exact.expect_err("ninja refuses").to_string(), expected);
}

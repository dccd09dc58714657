//! `upcheck doctor`: whether the ground that builds stand on can be trusted, measured; and what is odd about the build
//! itself.
//!
//! All that is measured in the directory comes first and leaves no trace; then the build is checked, and where there is
//! a command that builds, it is run and the build is checked again.

mod checked;
mod clock;
mod entries;
mod finding;
mod folder;
mod look;
mod names;
mod perpetual;
mod place;
mod print;
mod stamps;
mod watches;

pub(crate) use place::{Place, place};
pub(crate) use print::SCHEMA;

use crate::args::{Common, DoctorArgs, Format};
use crate::exit::Exit;
use crate::run::{self, Trouble, bytes_of};
use checked::{Checked, check};
use clock::Offset;
use finding::{Finding, Severity};
use folder::Folder;
use look::Measured;
use print::Diagnosis;
use stamps::Stamps;
use std::path::Path;
use upcheck::Mtime;
use upcheck::collect::{Disk, os_disk};
use upcheck_ninja::Options;

/// Examines a directory.
pub(crate) fn doctor(common: &Common, args: &DoctorArgs) -> Result<Exit, Trouble> {
    let directory = match &args.examined {
        Some(given) => common.directory.join(given),
        None => common.directory.clone(),
    };
    let disk =
        os_disk(&directory).map_err(|cause| Trouble(finding::mishap("opening", &directory, &cause)))?;
    let has_build = directory.join(common.manifest()).is_file();
    if !has_build && !args.command.is_empty() {
        let cause = "there is no build to be looked at before and after the command";
        return Err(Trouble(format!("opening '{}': {cause}", directory.join(common.manifest()).display())));
    }
    let place = place(&directory);
    let mut findings = vec![place.finding()];
    let ground = measure(&directory, &mut findings);
    let build = match has_build {
        true => examine(common, args, &disk, &ground, &mut findings)?,
        false => {
            let file = crate::words::visible(&common.manifest().display().to_string(), "");
            findings
                .push(Finding::info("no-build", format!("there is no {file}, so no build to be examined")));
            None
        }
    };
    let directories = watches::directories(&directory, build.map(|build| build.watched()));
    findings.push(watches::limits().finding(&directories, place.is_shared()));
    // Stable: otherwise as they were found.
    findings.sort_by_key(|finding| finding.severity == Severity::Warning);
    let diagnosis = Diagnosis { directory: bytes_of(directory.into_os_string()), findings };
    run::print(common, |out| match common.format {
        Format::Text | Format::Names => diagnosis.print(out),
        Format::Json => diagnosis.print_json(out),
        Format::Jsonl => diagnosis.print_lines(out),
    })?;
    Ok(if diagnosis.is_good() { Exit::Fresh } else { Exit::Stale })
}

/// What the build's stamps are judged by, as far as it could be measured.
#[derive(Default)]
struct Ground {
    stamps: Option<Stamps>,
    offset: Option<Offset>,
}

impl Ground {
    /// The file system's time, rather too late than too early, at a moment of the local clock.
    fn now(&self, local: Mtime) -> Mtime {
        self.offset.map_or(local, |offset| offset.at(local))
    }

    /// Whether stamps in whole seconds are all that the file system has.
    fn is_coarse(&self) -> bool {
        let kept = self.stamps.as_ref().and_then(|stamps| stamps.kept_ns);
        kept.is_some_and(|kept| kept >= stamps::COARSE)
    }
}

fn measure(directory: &Path, findings: &mut Vec<Finding>) -> Ground {
    let (folder, leftovers) = Folder::make(directory);
    findings.extend(leftovers.finding());
    match folder {
        Ok(folder) => {
            let ground = measure_in(folder.path(), findings);
            if let Err(mishap) = folder.close() {
                findings.push(folder::stuck(&mishap));
            }
            ground
        }
        Err(mishap) => {
            let why = format!("nothing could be measured: {mishap}");
            findings.push(Finding::not_measured(why));
            Ground::default()
        }
    }
}

/// Each measurement by itself: one that fails does not stand in the way of the others.
fn measure_in(folder: &Path, findings: &mut Vec<Finding>) -> Ground {
    let mut note = |measured: Measured<Vec<Finding>>| match measured {
        Ok(found) => findings.extend(found),
        Err(mishap) => findings.push(Finding::not_measured(mishap)),
    };
    let stamps = stamps::measure(folder);
    let delay_ns = stamps.as_ref().map_or(2 * stamps::COARSE, Stamps::delay_ns);
    let offset = clock::measure(folder, delay_ns);
    note(stamps.as_ref().map(Stamps::findings).map_err(Clone::clone));
    note(offset.as_ref().map(|offset| vec![offset.finding()]).map_err(Clone::clone));
    note(entries::measure(folder).map(|entries| vec![entries.finding()]));
    note(names::measure(folder).map(|names| names.findings()));
    Ground { stamps: stamps.ok(), offset: offset.ok() }
}

/// Checks the build, and where there is a command, checks again after running it. `None` where it cannot be checked.
fn examine(
    common: &Common,
    args: &DoctorArgs,
    disk: &dyn Disk,
    ground: &Ground,
    findings: &mut Vec<Finding>,
) -> Result<Option<Checked>, Trouble> {
    let options = Options {
        manifest: bytes_of(common.manifest().into_os_string()),
        version: common.ninja_version,
        threads: common.threads,
    };
    let broken = |error| Finding::warning("build-broken", format!("the build cannot be checked: {error}"));
    let first = match check(disk, &options) {
        Ok(first) => first,
        Err(error) => {
            findings.push(broken(error).advise("correct the manifest, or make it again"));
            return Ok(None);
        }
    };
    let (mut is_built, mut last) = (false, first);
    if !args.command.is_empty() {
        let status = perpetual::run(&args.command)?;
        findings.push(
            perpetual::ending(status).with("stale_before", last.report.n_stale + last.report.n_pending),
        );
        let second = match check(disk, &options) {
            Ok(second) => second,
            Err(error) => {
                findings.push(broken(error).advise("the command has broken it"));
                return Ok(None);
            }
        };
        is_built = status.success();
        if is_built {
            let now = ground.now(second.ended());
            findings.extend(perpetual::findings(&last, &second, now));
        }
        last = second;
    }
    findings.push(last.finding());
    findings.extend(last.future(ground.now(last.ended())));
    findings.extend(if ground.is_coarse() { None } else { last.truncated() });
    // After a build they are among what is perpetually stale.
    findings.extend(if is_built { None } else { last.phantom_inputs() });
    Ok(Some(last))
}

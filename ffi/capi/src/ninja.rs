//! Graphs of ninja build directories.

use crate::error::Failure;
use std::path::PathBuf;
use upcheck::collect::{Disk, OsDisk};
use upcheck::{FileId, Graph, History, Report, Settled, Snapshot, TargetId, Verdict, path};
use upcheck_ninja::{Build, Images, LastCheck, Opened, Options};

/// A ninja build directory, read.
pub(crate) struct NinjaGraph {
    build: Build,
    options: Options,
    images: Option<Images>,
    /// Whether it is used up: the next question reads again what changed.
    is_old: bool,
}

/// What a check of a build directory comes to.
pub(crate) struct Checked {
    pub(crate) snapshot: Snapshot,
    pub(crate) report: Report,
    /// Indexed by target.
    pub(crate) verdicts: Vec<Option<Verdict>>,
}

impl NinjaGraph {
    /// Reads the build directory at the disk's base, whose path is `place`.
    pub(crate) fn load(
        disk: &OsDisk,
        place: Vec<u8>,
        options: Options,
        image_folder: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let images = image_folder.map(|folder| Images::new(folder, place));
        let build = read(disk, &options, images.as_ref())?;
        Ok(Self { build, options, images, is_old: false })
    }

    pub(crate) fn graph(&self) -> &Graph {
        self.build.graph()
    }

    pub(crate) fn history(&self) -> &History {
        self.build.history()
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<FileId> {
        let mut name = name.to_vec();
        path::canonicalize(&mut name);
        self.graph().files.lookup(&name)
    }

    /// The command of a target; empty where the rules were not read.
    pub(crate) fn command(&self, target: TargetId) -> Vec<u8> {
        self.build.command(target).unwrap_or_default()
    }

    /// Reads again what changed, unless nobody has asked yet. `requests` are numbered anew then.
    fn renewed(&mut self, disk: &OsDisk, requests: Option<&mut [FileId]>) -> Result<Option<Build>, Failure> {
        if !std::mem::replace(&mut self.is_old, true) {
            return Ok(None);
        }
        let build = read(disk, &self.options, self.images.as_ref())?;
        for request in requests.into_iter().flatten() {
            let name = self.build.graph().files.path(*request);
            *request = build.graph().files.lookup(name).ok_or_else(|| {
                let name = String::from_utf8_lossy(name);
                Failure::invalid(format!("'{name}' is no longer in the manifest"))
            })?;
        }
        Ok(Some(build))
    }

    /// Puts what was read again in the place of what was there, now that nothing can fail any more: numbers of files
    /// and targets stay what they are where a call fails. Whether they are new.
    fn replace(&mut self, renewed: Option<Build>) -> bool {
        let is_new = renewed.is_some();
        if let Some(build) = renewed {
            self.build = build;
        }
        is_new
    }

    /// Which targets are stale. `disk` is what files are looked up on, `plain` what manifests are read from.
    pub(crate) fn check(
        &mut self,
        plain: &OsDisk,
        disk: &dyn Disk,
        requests: Option<&[FileId]>,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(bool, Checked), Failure> {
        let mut own = requests.map(<[FileId]>::to_vec);
        let mut renewed = self.renewed(plain, own.as_deref_mut())?;
        let is_default = own.is_none();
        let build = renewed.as_mut().unwrap_or(&mut self.build);
        let requests = match own {
            Some(requests) => requests,
            None => build.default_requests()?,
        };
        build.describe(disk, &requests)?;
        let snapshot = build.collect(disk);
        let decision = build.decide(&snapshot, &requests)?;
        let report = build.report(&decision);
        let mut verdicts = vec![None; build.graph().n_targets()];
        for &target in decision.judged() {
            verdicts[target.index()] = Some(decision.verdict(target));
        }
        let settled = is_default.then(|| Settled::new(&decision));
        // What was found after the user cancelled is not what is there, and not for later checks either. What was found
        // until now is.
        if is_cancelled() {
            return Err(Failure::cancelled());
        }
        if let Some(images) = &self.images {
            let last = settled.as_ref().map(|settled| LastCheck { settled, report: &report });
            // A cache: where it cannot be written, the next check takes longer.
            let _ = build.save(plain, images, &snapshot, last, None);
        }
        Ok((self.replace(renewed), Checked { snapshot, report, verdicts }))
    }

    /// Describes all targets, for questions about all of them. Whether files and targets have new numbers.
    pub(crate) fn describe_all(&mut self, disk: &OsDisk) -> Result<bool, Failure> {
        let mut renewed = self.renewed(disk, None)?;
        let build = renewed.as_mut().unwrap_or(&mut self.build);
        let graph = build.graph();
        let all: Vec<_> =
            graph.targets().filter_map(|target| graph.outputs(target).first().copied()).collect();
        build.describe(disk, &all)?;
        Ok(self.replace(renewed))
    }
}

fn read(disk: &OsDisk, options: &Options, images: Option<&Images>) -> Result<Build, Failure> {
    match upcheck_ninja::open(disk, options, images, &[], true)? {
        Opened::Build(build) => Ok(*build),
        Opened::Fresh(_) => unreachable!("a build was wanted"),
    }
}

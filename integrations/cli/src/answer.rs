//! An answer on its way from the question to whoever prints it.

use crate::cmake::{self, Owner, Owners};
use std::time::SystemTime;
use upcheck::{Graph, IoCounts, Project, Reason, Report, TargetId};
use upcheck_ninja::contents::ContentCounts;
use upcheck_ninja::{Build, NinjaVersion};

/// An answer to `check`, with all that printing it needs.
pub(crate) struct Answer<'a> {
    /// Whose build description was read.
    pub(crate) from: &'static str,
    /// Where targets have names in CMake, too.
    pub(crate) cmake: Option<Owners<'a>>,
    /// Empty where everything is fresh and no graph was needed to see that.
    pub(crate) graph: &'a Graph,
    pub(crate) report: Report,
    pub(crate) looked: Looked,
    pub(crate) rules: Rules<'a>,
    pub(crate) explain: bool,
    pub(crate) commands: bool,
    /// What was not looked at because it is watched; `None` where nothing is.
    pub(crate) watched: Option<Watched>,
    /// What came of comparing it with what the process that watches says; `None` where nothing was compared.
    pub(crate) verified: Option<Verified>,
}

/// From what an answer was made by a process that watches files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    /// Nothing had changed: it is remembered.
    Memory,
    /// Only what had changed was looked at.
    Changes,
    /// All was looked at.
    Everything,
}

impl Watched {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Memory, Self::Changes, Self::Everything];

    /// As JSON has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Changes => "changes",
            Self::Everything => "everything",
        }
    }
}

/// What came of comparing an answer that was found by looking at everything with that of the process that watches files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verified {
    /// They are the same.
    Same,
    /// They are, but were not when both were asked first: something changed in between, or the process was late.
    Later,
    /// They never were, and something changed all the time.
    Never,
    /// They are not, and nothing changed.
    Wrong,
}

impl Verified {
    /// As JSON has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Later => "later",
            Self::Never => "never",
            Self::Wrong => "wrong",
        }
    }
}

/// What was looked at.
pub(crate) struct Looked {
    pub(crate) n_files: usize,
    pub(crate) counts: IoCounts,
    /// When the look began and ended.
    pub(crate) snapshot: (SystemTime, SystemTime),
}

/// By what rules the answer holds.
pub(crate) enum Rules<'a> {
    Ninja(Ninja<'a>),
    Project {
        project: &'a Project,
        /// Whether there is a store of records.
        has_records: bool,
        /// How many files' content was read.
        n_contents: usize,
    },
}

/// What concerns ninja only.
pub(crate) struct Ninja<'a> {
    pub(crate) build: Option<&'a Build>,
    pub(crate) manifest_path: Vec<u8>,
    pub(crate) version: NinjaVersion,
    pub(crate) log_version: Option<u32>,
    /// What became of the image: `none`, `used`, `updated`, `made`, `failed`.
    pub(crate) image: &'static str,
    pub(crate) exact: bool,
    pub(crate) stopped_at_manifest: bool,
    /// Where contents were compared, how many.
    pub(crate) contents: Option<ContentCounts>,
    /// What the shared cache has of what is stale, where it was asked.
    pub(crate) remote: Option<crate::remote::Remote>,
}

impl<'a> Ninja<'a> {
    /// Of a build about which nothing else is to be said.
    pub(crate) fn of(build: &'a Build) -> Self {
        Self {
            build: Some(build),
            manifest_path: build.manifest_path(),
            version: build.version(),
            log_version: build.log_version(),
            image: "none",
            exact: false,
            stopped_at_manifest: false,
            contents: None,
            remote: None,
        }
    }
}

impl Answer<'_> {
    /// What the shared cache has of what is stale, where it was asked.
    pub(crate) fn remote(&self) -> Option<&crate::remote::Remote> {
        match &self.rules {
            Rules::Ninja(ninja) => ninja.remote.as_ref(),
            Rules::Project { .. } => None,
        }
    }

    /// Whether ninja would begin by making its manifest again.
    pub(crate) fn manifest_is_stale(&self) -> bool {
        let reasons = self.report.stale.iter().flat_map(|stale| &stale.reasons);
        reasons.into_iter().any(|reason| matches!(reason, Reason::ManifestStale { .. }))
    }

    /// The target of CMake that a target is a part of, where there is one.
    pub(crate) fn owner(&self, target: TargetId) -> Option<Owner<'_>> {
        self.cmake.as_ref()?.of(self.graph, target)
    }

    /// The stale targets of CMake, in the order of the report, each with the number of stale targets in it.
    pub(crate) fn owners(&self) -> Vec<(Owner<'_>, usize)> {
        let mut owners: Vec<(Owner<'_>, usize)> = Vec::new();
        for owner in self.report.stale.iter().filter_map(|stale| self.owner(stale.target)) {
            match owners.iter_mut().find(|(known, _)| *known == owner) {
                Some((_, n)) => *n += 1,
                None => owners.push((owner, 1)),
            }
        }
        owners
    }

    /// The names of what is stale, each once: as CMake has them, where it has one.
    pub(crate) fn names(&self) -> Vec<Vec<u8>> {
        let targets = self.report.stale.iter().map(|stale| stale.target);
        cmake::names_of(self.cmake.as_ref(), self.graph, targets)
    }

    /// The command line of a target; empty where there is none.
    pub(crate) fn command(&self, target: TargetId) -> Vec<u8> {
        match &self.rules {
            Rules::Ninja(ninja) => {
                ninja.build.and_then(|build| build.command(target).ok()).unwrap_or_default()
            }
            Rules::Project { project, .. } => shown_command(project.command(target)),
        }
    }
}

/// A command as people read it: arguments stand in it with NULs between them.
pub(crate) fn shown_command(command: &[u8]) -> Vec<u8> {
    command.iter().map(|&byte| if byte == 0 { b' ' } else { byte }).collect()
}

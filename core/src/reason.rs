//! Why a target is stale. Each reason carries its evidence: the paths, and both values compared.

use crate::content::Content;
use crate::history::Unknown;
use crate::ids::{FileId, TargetId};
use crate::snapshot::{Meta, Mtime, Stat};
use crate::state::{Digest, FileState};

/// What is to be done about a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing.
    Fresh,
    /// Only running something before it can tell: a stale target before it has restat and may leave its
    /// outputs untouched, or its dyndep file is about to be made again. Folds to stale for whoever wants
    /// two values.
    Pending,
    /// Its command has to run.
    Stale,
}

/// One reason why a target is stale.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// An output is not there.
    OutputMissing {
        /// The output.
        output: FileId,
    },
    /// An input that nothing makes is not there.
    InputMissing {
        /// The input.
        input: FileId,
    },
    /// An input is newer than an output, or than the time the output was recorded with.
    InputNewer {
        /// The input.
        input: FileId,
        /// Its time.
        input_mtime: Mtime,
        /// The output.
        output: FileId,
        /// The time of the output it was compared with.
        output_mtime: Mtime,
        /// Whether that is the time on record, not the file's own.
        recorded: bool,
    },
    /// The command is not the one that made the output.
    CommandChanged {
        /// The output whose record was compared.
        output: FileId,
        /// The hash on record.
        recorded_hash: u64,
        /// The hash of the command as it is now.
        hash: u64,
    },
    /// No success is on record for an output.
    NeverBuilt {
        /// The output.
        output: FileId,
    },
    /// The discovered inputs are not known.
    DepsUnknown {
        /// The first output of the target.
        output: FileId,
        /// Why.
        why: Unknown,
    },
    /// The target waits for a dyndep file that is itself stale.
    DyndepStale {
        /// The dyndep file.
        dyndep: FileId,
        /// What makes it.
        producer: TargetId,
    },
    /// A dyndep file is unusable.
    DyndepBroken {
        /// The dyndep file.
        dyndep: FileId,
        /// What is wrong with it.
        message: Box<str>,
    },
    /// The output changed after its discovered inputs were recorded.
    DepsOutdated {
        /// The output.
        output: FileId,
        /// Its time.
        output_mtime: Mtime,
        /// The time it had when the inputs were recorded.
        recorded_mtime: Mtime,
    },
    /// An input is made by a target that is itself stale or pending.
    UpstreamStale {
        /// The input.
        input: FileId,
        /// What makes it.
        producer: TargetId,
    },
    /// An input is a phony name without inputs of its own, and no file has that name: stale always.
    PhonyMissing {
        /// The input.
        input: FileId,
    },
    /// The build description itself is stale, so the answer holds for the one that is on disk now.
    ManifestStale {
        /// The description's file.
        manifest: FileId,
    },
    /// An input is not what it was when the last successful build began.
    InputChanged {
        /// The input.
        input: FileId,
        /// What was compared.
        compared: Box<Compared>,
    },
    /// An output is not what the last successful build left.
    OutputChanged {
        /// The output.
        output: FileId,
        /// What was compared.
        compared: Box<Compared>,
    },
    /// The target has other inputs than when it was last built.
    InputsDiffer {
        /// The first output of the target.
        output: FileId,
        /// Inputs that it has now and had not then, for instance because a file appeared that a glob matches.
        added: Box<[FileId]>,
        /// Inputs that it had then and has not now.
        removed: Box<[FileId]>,
    },
    /// A value that the target depends on is another one: an option, an environment variable, a tool's version.
    ValueChanged {
        /// The first output of the target.
        output: FileId,
        /// The value's name.
        name: Box<[u8]>,
        /// What it was; `None` if it was not there.
        recorded: Option<Box<[u8]>>,
        /// What it is; `None` if it is not there any more.
        value: Option<Box<[u8]>>,
    },
    /// The last build of the target began and did not succeed, or has not ended.
    Interrupted {
        /// The first output of the target.
        output: FileId,
        /// When it began.
        began: Mtime,
    },
    /// The file's stamp is the recorded one, but so young that it proves nothing, and its content is not on record.
    Racy {
        /// The file.
        path: FileId,
    },
    /// A path could not be looked at.
    Unreadable {
        /// The path.
        path: FileId,
        /// The operating system's error number.
        errno: i32,
    },
}

/// How a file was on record, and how it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compared {
    /// Its stamp on record; `None` if it was not there, or nobody could tell.
    pub recorded: Option<Meta>,
    /// The digest on record.
    pub recorded_digest: Option<Digest>,
    /// Its stamp now; `None` if it is not there.
    pub now: Option<Meta>,
    /// Its digest now, if its content was looked at.
    pub digest: Option<Digest>,
    /// Whether somebody changed it while its content was looked at.
    pub unsteady: bool,
}

impl Compared {
    pub(crate) fn new(recorded: &FileState, stat: Stat, content: Content) -> Self {
        Self {
            recorded: recorded.meta(),
            recorded_digest: recorded.digest(),
            now: if let Stat::Present(meta) = stat { Some(meta) } else { None },
            digest: if let Content::Digest(digest) = content { Some(digest) } else { None },
            unsteady: content == Content::Unsteady,
        }
    }
}

impl Reason {
    /// The reason's name in JSON. Names are added, never changed.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::OutputMissing { .. } => "output-missing",
            Self::InputMissing { .. } => "input-missing",
            Self::InputNewer { .. } => "input-newer",
            Self::CommandChanged { .. } => "command-changed",
            Self::NeverBuilt { .. } => "never-built",
            Self::DepsUnknown { .. } | Self::DyndepStale { .. } | Self::DyndepBroken { .. } => "deps-unknown",
            Self::DepsOutdated { .. } => "deps-outdated",
            Self::UpstreamStale { .. } => "upstream-stale",
            Self::PhonyMissing { .. } => "phony-missing",
            Self::ManifestStale { .. } => "manifest-stale",
            Self::InputChanged { .. } => "input-changed",
            Self::OutputChanged { .. } => "output-changed",
            Self::InputsDiffer { .. } => "inputs-differ",
            Self::ValueChanged { .. } => "value-changed",
            Self::Interrupted { .. } => "interrupted",
            Self::Racy { .. } => "racy",
            Self::Unreadable { .. } => "unreadable",
        }
    }

    /// The file that the reason is about: the cause, as far as this one step tells.
    #[must_use]
    pub fn path(&self) -> FileId {
        match *self {
            Self::OutputMissing { output }
            | Self::CommandChanged { output, .. }
            | Self::NeverBuilt { output }
            | Self::DepsUnknown { output, .. }
            | Self::DepsOutdated { output, .. }
            | Self::OutputChanged { output, .. }
            | Self::InputsDiffer { output, .. }
            | Self::ValueChanged { output, .. }
            | Self::Interrupted { output, .. } => output,
            Self::InputMissing { input }
            | Self::InputNewer { input, .. }
            | Self::InputChanged { input, .. }
            | Self::UpstreamStale { input, .. }
            | Self::PhonyMissing { input } => input,
            Self::DyndepStale { dyndep, .. } | Self::DyndepBroken { dyndep, .. } => dyndep,
            Self::ManifestStale { manifest } => manifest,
            Self::Unreadable { path, .. } | Self::Racy { path } => path,
        }
    }

    /// The stale target before this one that the reason passes on; `None` for a reason of its own.
    #[must_use]
    pub fn upstream(&self) -> Option<TargetId> {
        match *self {
            Self::UpstreamStale { producer, .. } | Self::DyndepStale { producer, .. } => Some(producer),
            _ => None,
        }
    }
}

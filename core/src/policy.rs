//! Policies: when a file counts as changed. The names are those of the Shake build system, whose `Change` type has the
//! first five.

/// What tells whether a file is still what it was when a target's last success was recorded.
///
/// The *stamp* of a file is its mtime, size and inode number; policies that look at content use all that a stat tells,
/// ctime and device included, because a needless look at content costs time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// The stamp differs.
    Mtime,
    /// The content differs. It is not read again while all that a stat tells is the same.
    Digest,
    /// The stamp and the content differ: content is read only where something about the stamp changed.
    MtimeAndDigest,
    /// [`Policy::MtimeAndDigest`] for inputs, [`Policy::Mtime`] for outputs: touching a source or switching branches
    /// and back makes nothing stale, and outputs need not be read.
    #[default]
    MtimeAndDigestInput,
    /// The stamp or the content differs.
    MtimeOrDigest,
    /// Make's rule, which needs no record: a target is stale when an output is missing or older than an input.
    Newer,
}

impl Policy {
    /// All policies.
    pub const ALL: [Self; 6] = [
        Self::Mtime,
        Self::Digest,
        Self::MtimeAndDigest,
        Self::MtimeAndDigestInput,
        Self::MtimeOrDigest,
        Self::Newer,
    ];

    /// Its name on the command line and in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mtime => "mtime",
            Self::Digest => "digest",
            Self::MtimeAndDigest => "mtime-and-digest",
            Self::MtimeAndDigestInput => "mtime-and-digest-input",
            Self::MtimeOrDigest => "mtime-or-digest",
            Self::Newer => "newer",
        }
    }

    /// The policy of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.name() == name)
    }

    /// What holds for a target's inputs.
    #[must_use]
    pub fn of_inputs(self) -> Self {
        if self == Self::MtimeAndDigestInput { Self::MtimeAndDigest } else { self }
    }

    /// What holds for a target's outputs.
    #[must_use]
    pub fn of_outputs(self) -> Self {
        if self == Self::MtimeAndDigestInput { Self::Mtime } else { self }
    }

    /// Whether the content decides where the stamp differs, so that an input that is made again may leave its users
    /// as they are.
    #[must_use]
    pub fn forgives(self) -> bool {
        matches!(self, Self::Digest | Self::MtimeAndDigest)
    }

    /// Whether a record has to hold digests.
    #[must_use]
    pub fn needs_digest(self) -> bool {
        self.forgives() || self == Self::MtimeOrDigest
    }
}

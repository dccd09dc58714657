//! What `publish` and `restore` have in common: their options, and how they begin.

use super::args::RemoteArgs;
use super::ask::no_cache;
use super::keys::KeyArgs;
use crate::args::Common;
use crate::ninja::{load, requests, targets};
use crate::run::{Trouble, open};
use clap::Args as ClapArgs;
use std::ffi::OsString;
use upcheck::collect::Disk;
use upcheck::{FileId, Snapshot};
use upcheck_ninja::{Build, Opened};
use upcheck_reapi::Client;

/// What is carried to the cache, or from it.
#[derive(Debug, ClapArgs)]
pub(crate) struct TransferArgs {
    /// The targets; with all that they need (default: what `ninja` would build)
    #[arg(value_name = "TARGET")]
    targets: Vec<OsString>,
    /// Carry and change nothing; say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Name every target that is left out
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
}

/// A cache, and a build whose files were looked at and whose rules are loaded.
pub(crate) struct Begun<D> {
    pub(crate) client: Client,
    pub(crate) disk: D,
    pub(crate) build: Build,
    pub(crate) requests: Vec<FileId>,
    pub(crate) looks: Snapshot,
}

impl TransferArgs {
    /// Looks at what is there. Nothing is asked of the cache yet.
    pub(crate) fn begin(&self, common: &Common) -> Result<Begun<impl Disk + use<>>, Trouble> {
        let (_, client) = self.remote.client()?.ok_or_else(no_cache)?;
        let disk = open(common)?;
        let names = targets(common, &self.targets);
        let Opened::Build(mut build) = load(common, &disk, None, &names, true)? else {
            unreachable!("a build was wanted");
        };
        let requests = requests(common, &build, &self.targets)?;
        build.describe(&disk, &requests)?;
        let looks = build.collect(&disk);
        build.load_rules(&disk)?;
        Ok(Begun { client, disk, build: *build, requests, looks })
    }
}

//! What stands in the place of `remote/` where upcheck is built without the feature `remote`: the same commands and options, which
//! say so.

use crate::args::{CheckArgs, Common};
use crate::exit::Exit;
use crate::json;
use crate::run::Trouble;
use clap::Args as ClapArgs;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, Write};
use upcheck::collect::Disk;
use upcheck::{Graph, Report, TargetId};
use upcheck_ninja::Build;

pub(crate) const PUBLISH_SCHEMA: &str = "upcheck.publish/1";
pub(crate) const RESTORE_SCHEMA: &str = "upcheck.restore/1";

/// Which cache is meant, only to refuse it. What the environment says is for those who can use it.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct RemoteArgs {
    /// The cache; this upcheck was built without
    #[arg(long, value_name = "URL", hide = true)]
    remote: Option<OsString>,
}

/// What keys depend on; there are none.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct KeyArgs {}

/// Whatever was given to a command that is not there.
#[derive(Debug, ClapArgs)]
pub(crate) struct TransferArgs {
    /// Nobody looks at it.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _all: Vec<OsString>,
}

pub(crate) type SnapshotCommand = Absent;
pub(crate) type RemoteCommand = Absent;

/// Whatever was given to a group of commands that is not there.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Absent {
    #[command(external_subcommand)]
    Any(#[expect(dead_code, reason = "nobody looks at what is refused")] Vec<OsString>),
}

impl Absent {
    pub(crate) fn settle(&mut self) {}

    pub(crate) fn has_names(&self) -> bool {
        true
    }

    pub(crate) fn schema(&self) -> (&'static str, bool) {
        (json::SCHEMA, false)
    }
}

/// What a cache has said: nothing ever.
pub(crate) enum Remote {}

impl Remote {
    pub(crate) fn word(&self, _: TargetId) -> Option<&'static str> {
        match *self {}
    }

    pub(crate) fn print(&self, _: &mut dyn Write) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn put(&self, _: &mut Map<String, Value>, _: &Graph, _: TargetId) {
        match *self {}
    }

    pub(crate) fn summary(&self) -> Value {
        match *self {}
    }
}

pub(crate) fn ask(
    _: &Common,
    args: &CheckArgs,
    _: &mut Build,
    _: &dyn Disk,
    _: &Report,
) -> Result<Option<Remote>, Trouble> {
    refuse_project(args).map(|()| None)
}

pub(crate) fn refuse_project(args: &CheckArgs) -> Result<(), Trouble> {
    if args.remote.remote.is_some() || args.snapshot.is_some() { Err(absent()) } else { Ok(()) }
}

pub(crate) fn publish(_: &Common, _: &TransferArgs) -> Result<Exit, Trouble> {
    Err(absent())
}

pub(crate) fn restore(_: &Common, _: &TransferArgs) -> Result<Exit, Trouble> {
    Err(absent())
}

pub(crate) fn snapshot(_: &Common, _: &SnapshotCommand) -> Result<Exit, Trouble> {
    Err(absent())
}

pub(crate) fn examine(_: &Common, _: &RemoteCommand) -> Result<Exit, Trouble> {
    Err(absent())
}

fn absent() -> Trouble {
    Trouble("this upcheck was built without shared caches: the cargo feature 'remote'".into())
}

#[cfg(test)]
mod tests {
    use crate::args::Args;
    use crate::run::run;
    use clap::Parser;

    #[test]
    fn whatever_is_about_a_cache_is_refused_and_told_why() {
        for line in [
            "publish --remote grpc://cache:1 --dry-run all",
            "restore",
            "snapshot push --tag main",
            "remote doctor grpc://cache:1",
            "check --remote grpc://cache:1",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("build.ninja"), "build all: phony\n").expect("a file");
            let place = folder.path().to_str().expect("text");
            let words = ["upcheck", "-C", place].into_iter().chain(line.split(' '));
            let mut args = Args::try_parse_from(words).expect(line);
            let Err(trouble) = run(&mut args) else { panic!("{line}") };
            assert!(trouble.0.contains("built without shared caches"), "{line}: {}", trouble.0);
        }
    }
}

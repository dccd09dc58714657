//! What keys depend on beside the build, as the user says it.

use crate::args::Common;
use crate::run::Trouble;
use clap::Args as ClapArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::path::PathBuf;
use upcheck::collect::Disk;
use upcheck_ninja::Build;
use upcheck_ninja::contents::Contents;
use upcheck_remote::{Place, Root, Settings};

const KEYS: &str = "What targets are called in the cache";

/// What keys depend on beside the build.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct KeyArgs {
    /// The directory that paths in keys are relative to [default: the deepest one that holds the build directory and all
    /// sources]
    #[arg(long, value_name = "DIR", help_heading = KEYS)]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) remote_root: Option<PathBuf>,
    /// A word that is in every key: with another one, nothing is known that was published before
    #[arg(
        long,
        value_name = "WORD",
        env = "UPCHECK_REMOTE_SALT",
        default_value = "",
        hide_default_value = true
    )]
    #[arg(help_heading = KEYS)]
    pub(crate) remote_salt: String,
    /// A variable of the environment that commands depend on
    #[arg(long, value_name = "NAME", help_heading = KEYS)]
    pub(crate) remote_env: Vec<String>,
}

/// What keys of one build are made with.
pub(crate) struct Naming {
    root: Root,
    pub(crate) settings: Settings,
    contents: Option<Contents>,
    threads: usize,
}

impl Naming {
    /// A build whose targets are called so.
    pub(crate) fn place<'a>(&'a self, build: &'a Build, disk: &'a dyn Disk) -> Place<'a> {
        let Self { root, settings, contents, threads } = self;
        Place { build, disk, root, settings, contents: contents.as_ref(), threads: *threads }
    }
}

impl KeyArgs {
    /// What keys of a build are made with.
    pub(crate) fn naming(&self, common: &Common, build: &Build) -> Result<Naming, Trouble> {
        Ok(Naming {
            root: self.root(common, build)?,
            settings: self.settings()?,
            // It spares reading files. Where it cannot be read, they are.
            contents: Contents::read(&common.directory.join(&common.records)).ok().flatten(),
            threads: common.threads,
        })
    }

    /// What keys depend on, looked up in the environment.
    fn settings(&self) -> Result<Settings, Trouble> {
        let mut environment = Vec::new();
        for name in &self.remote_env {
            match std::env::var(name) {
                Ok(value) => environment.push((name.clone(), value)),
                Err(std::env::VarError::NotPresent) => {}
                Err(error) => return Err(Trouble(format!("reading the variable {name}: {error}"))),
            }
        }
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        Ok(Settings { salt: self.remote_salt.clone(), environment, search_path })
    }

    /// The root of a build.
    fn root(&self, common: &Common, build: &Build) -> Result<Root, Trouble> {
        Root::of(build, &common.directory, self.remote_root.as_deref()).map_err(|error| {
            let directory = common.directory.display();
            Trouble(format!("finding the root of '{directory}': {}", upcheck::os_message(&error)))
        })
    }
}

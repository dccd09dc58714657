//! What the user typed. No I/O, no decisions.

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args as ClapArgs, ColorChoice, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use upcheck_ninja::NinjaVersion;

const USAGE: &str = "upcheck [check] [OPTIONS] [TARGET]...
       upcheck why [OPTIONS] <TARGET>...
       upcheck doctor [OPTIONS] [DIR] [-- CMD...]";

const EXIT_STATUS: &str = "Exit status: 0 everything is fresh, 1 something is stale, 2 trouble.";

const DOCTOR_EXIT_STATUS: &str = "Exit status: 0 nothing to worry about, 1 warnings, 2 trouble.";

const AFTER_HELP: &str = "A target that is called like a command: `upcheck check why`.

Exit status: 0 everything is fresh, 1 something is stale, 2 trouble.";

/// Which targets are stale, and why?
///
/// Looks at a ninja build directory and says which targets `ninja` would run, without running, creating or
/// changing anything.
#[derive(Debug, Parser)]
#[command(name = "upcheck", version, override_usage = USAGE, after_help = AFTER_HELP)]
#[command(subcommand_precedence_over_arg = true)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) check: CheckArgs,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct Common {
    /// The build directory
    #[arg(short = 'C', value_name = "DIR", global = true, default_value = ".", hide_default_value = true)]
    pub(crate) directory: PathBuf,
    /// The manifest, relative to the build directory
    #[arg(short, value_name = "FILE", global = true, default_value = "build.ninja")]
    pub(crate) file: PathBuf,
    /// How to print the answer
    #[arg(long, value_enum, value_name = "FORMAT", global = true, default_value = "text")]
    pub(crate) format: Format,
    /// Whose rules to follow (1.11, 1.12 or 1.13) instead of those of the ninja that wrote the log
    #[arg(long, value_name = "X.Y", global = true, value_parser = NinjaVersion::parse)]
    pub(crate) ninja_version: Option<NinjaVersion>,
    /// The most threads to use; 0 for one per core, and more while a disk is slow
    #[arg(long, value_name = "N", global = true, default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Where to keep what speeds up the next check, instead of the user's cache folder
    #[arg(long, value_name = "DIR", global = true, env = "UPCHECK_CACHE_DIR", hide_env_values = true)]
    #[arg(value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) image_dir: Option<PathBuf>,
    /// Keep nothing for the next check, and use nothing that was kept
    #[arg(long, global = true)]
    pub(crate) no_image: bool,
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people; may change
    Text,
    /// One JSON object
    Json,
    /// One JSON object per target, then one with all the rest
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say which targets are stale (the default command)
    #[command(after_help = EXIT_STATUS)]
    Check(CheckArgs),
    /// Show the chain from a target down to the files that make it stale
    #[command(after_help = EXIT_STATUS)]
    Why(WhyArgs),
    /// Measure whether stamps in a directory can be trusted, and say what is odd about its build
    #[command(after_help = DOCTOR_EXIT_STATUS)]
    Doctor(DoctorArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CheckArgs {
    /// What to ask about (default: what `ninja` would build); `FILE^` is the first target that uses FILE
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<OsString>,
    /// List every stale target with all its reasons
    #[arg(long)]
    pub(crate) explain: bool,
    /// Print nothing but errors; the exit status is the answer
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Answer exactly as `ninja -n` does: stop at a stale manifest, fail where it fails
    #[arg(long)]
    pub(crate) exact: bool,
    /// Show the command of each stale target
    #[arg(long)]
    pub(crate) commands: bool,
}

impl CheckArgs {
    /// Whether anything was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty() && !self.explain && !self.quiet && !self.exact && !self.commands
    }
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WhyArgs {
    /// The targets to explain
    #[arg(value_name = "TARGET", required = true)]
    pub(crate) targets: Vec<OsString>,
    /// Show every stale input, however many there are
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DoctorArgs {
    /// What to examine (default: the build directory). Probe files are written in it, and removed
    #[arg(value_name = "DIR")]
    pub(crate) examined: Option<PathBuf>,
    /// A command that builds, to be run once: what is stale after it stays stale
    #[arg(value_name = "CMD", last = true)]
    pub(crate) command: Vec<OsString>,
}

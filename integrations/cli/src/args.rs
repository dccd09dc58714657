//! What the user typed. No I/O, no decisions.

use crate::captured::Captured;
use crate::cmake::Cmake;
use crate::exit::Status;
use crate::remote::{KeyArgs, RemoteArgs, RemoteCommand, SnapshotCommand, TransferArgs};
use crate::run::Trouble;
use crate::watch::WatchArgs;
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args as ClapArgs, ColorChoice, Parser, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use upcheck::Policy;
use upcheck_ninja::NinjaVersion;

const USAGE: &str = "upcheck [check] [OPTIONS] [TARGET]...
       upcheck why [OPTIONS] <TARGET>...
       upcheck affected [OPTIONS] <FILE>...
       upcheck run [OPTIONS] [TARGET]... -- <COMMAND>...
       upcheck record [OPTIONS] [TARGET]...
       upcheck repair [OPTIONS]
       upcheck publish [OPTIONS] [TARGET]...
       upcheck restore [OPTIONS] [TARGET]...
       upcheck snapshot <push|pull> [OPTIONS] [TARGET]...
       upcheck remote <doctor|show> [OPTIONS] <...>
       upcheck watch <start|status|stop|wait> [OPTIONS]
       upcheck watch [OPTIONS] [TARGET]... -- <COMMAND>...
       upcheck doctor [OPTIONS] [DIR] [-- CMD...]
       upcheck bench-fs [OPTIONS] [DIR]";

const EXIT_STATUS: &str = "Exit status: 0 everything is fresh, 1 something is stale, 2 trouble.";

const AFFECTED_EXIT_STATUS: &str = "Exit status: 0 nothing would go stale, 1 something would, 2 trouble.";

const RUN_EXIT_STATUS: &str =
    "Exit status: that of the command; 0 if it need not run; 125 trouble, 126 the command cannot be
run, 127 there is no such command, 128 and more it died of a signal.";

const RECORD_EXIT_STATUS: &str = "Exit status: 0 all is on record, 1 something was not recorded, 2 trouble.";

const REPAIR_EXIT_STATUS: &str = "Exit status: 0 what is proved is repaired, whatever ninja still has to run; 2 trouble, and all is as it was.";
const RESTORE_EXIT_STATUS: &str = "Exit status: 0 everything is fresh now, 1 something is stale, 2 trouble.";

const PUBLISH_EXIT_STATUS: &str = "Exit status: 0 what can be published is there, 2 trouble.";

const WATCH_EXIT_STATUS: &str =
    "Exit status with a command, when interrupted: that of its last run, 0 if it was never run; before that, 125 trouble, 126 the
command cannot be run, 127 there is no such command.";

const DOCTOR_EXIT_STATUS: &str = "Exit status: 0 nothing to worry about, 1 warnings, 2 trouble.";

const BENCH_FS_EXIT_STATUS: &str = "Exit status: 0 it was measured, 2 trouble.";

const AFTER_HELP: &str = "A target that is called like a command: `upcheck check why`.

Exit status: 0 everything is fresh, 1 something is stale, 2 trouble.";

/// Which targets are stale, and why?
///
/// Looks at a build and says which of its targets are stale, without running, creating or changing anything. The build
/// is a ninja build directory, a graph in JSON, a compile_commands.json, or what the options say: `-i 'src/**/*.ts' -o
/// dist/app.js`.
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

#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct Common {
    /// The build directory, from which all paths start
    #[arg(short = 'C', value_name = "DIR", global = true, default_value = ".", hide_default_value = true)]
    pub(crate) directory: PathBuf,
    /// The description, relative to the build directory; `-` for standard input [default: build.ninja, graph.json or
    /// compile_commands.json]
    #[arg(short, long, value_name = "FILE", global = true)]
    pub(crate) file: Option<PathBuf>,
    /// What the description is [default: ninja]
    #[arg(long, value_enum, value_name = "KIND", global = true)]
    pub(crate) from: Option<From>,
    /// How to print the answer
    #[arg(long, value_enum, value_name = "FORMAT", global = true, default_value = "text")]
    pub(crate) format: Format,
    /// Print the causes alone, for this program itself, whatever the format
    #[arg(long, global = true, hide = true)]
    pub(crate) causes: bool,
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
    /// Ask every file itself, also where listings tell of it, but may be behind: on Windows, while a file is open or if it
    /// has several names. Elsewhere that is never so
    #[arg(long, global = true)]
    pub(crate) confirm_all: bool,
    /// Keep nothing for the next check, and use nothing that was kept
    #[arg(long, global = true)]
    pub(crate) no_image: bool,
    /// With compile commands: where no depfile says which headers a target uses, take it that there are none
    #[arg(long, global = true)]
    pub(crate) headers_unknown_is_fine: bool,
    #[command(flatten)]
    pub(crate) named: CmakeArgs,
    /// What the build directory says, where it is one of CMake's. Read once, before anything is answered.
    #[arg(skip)]
    pub(crate) cmake: Option<Cmake>,
    /// Where what is printed goes, if not to this process's own streams.
    #[arg(skip)]
    pub(crate) captured: Option<Arc<Captured>>,
    /// Whether answers are to be printed where errors are: standard output is another command's.
    #[arg(skip)]
    pub(crate) on_stderr: bool,
    #[command(flatten)]
    pub(crate) one: OneTarget,
    /// Where records of success are kept, relative to the build directory
    #[arg(long, value_name = "DIR", global = true, default_value = ".upcheck", help_heading = RECORDS)]
    pub(crate) records: PathBuf,
    /// When a file counts as changed [default: mtime-and-digest-input where there are records, newer where there are none]
    #[arg(long, value_name = "POLICY", global = true, value_parser = policy, help_heading = RECORDS)]
    pub(crate) policy: Option<Policy>,
    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value = "auto")]
    pub(crate) color: ColorChoice,
}

const CMAKE: &str = "Build directories of CMake (each of these means --from cmake)";
const ONE_TARGET: &str = "One target, described by options";
const RECORDS: &str = "Records of success (ninja has its own; with it, what files hold)";

/// Whatever has a name in CMake.
#[derive(Clone, Debug, Default, ClapArgs)]
pub(crate) struct CmakeArgs {
    /// A target of CMake to ask about
    #[arg(long = "target", id = "cmake_targets", value_name = "NAME", global = true, help_heading = CMAKE)]
    pub(crate) targets: Vec<OsString>,
    /// The configuration to ask about, in a directory that has several
    #[arg(long = "config", value_name = "NAME", global = true, help_heading = CMAKE)]
    pub(crate) configuration: Option<String>,
    /// Write into the directory that CMake is to say what its targets are when it runs next, and do nothing else
    #[arg(long, global = true, help_heading = CMAKE)]
    pub(crate) write_query: bool,
}

impl CmakeArgs {
    fn is_given(&self) -> bool {
        !self.targets.is_empty() || self.configuration.is_some() || self.write_query
    }
}

/// A target that is described on the command line.
#[derive(Clone, Debug, ClapArgs)]
pub(crate) struct OneTarget {
    /// An input, or a pattern whose matches are inputs, or !PATTERN for those that are none
    #[arg(short, long = "input", value_name = "PATTERN", global = true, help_heading = ONE_TARGET)]
    pub(crate) inputs: Vec<OsString>,
    /// An output
    #[arg(short, long = "output", value_name = "FILE", global = true, help_heading = ONE_TARGET)]
    pub(crate) outputs: Vec<OsString>,
    /// A file that lists inputs, one in a line; `-` for standard input
    #[arg(long, value_name = "FILE", global = true, help_heading = ONE_TARGET)]
    pub(crate) inputs_from: Option<PathBuf>,
    /// In lists of names, they end with a NUL instead of a line's end
    #[arg(short = '0', long, global = true, help_heading = ONE_TARGET)]
    pub(crate) null: bool,
    /// An input that must be there first, whose changes do not count
    #[arg(long, value_name = "FILE", global = true, help_heading = ONE_TARGET)]
    pub(crate) order_only: Vec<OsString>,
    /// The file in which the command says, in make's format, what it has read
    #[arg(long, value_name = "FILE", global = true, help_heading = ONE_TARGET)]
    pub(crate) depfile: Option<OsString>,
    /// A value that the target depends on
    #[arg(long = "value", value_name = "NAME=VALUE", global = true, help_heading = ONE_TARGET)]
    pub(crate) values: Vec<OsString>,
    /// An environment variable that the target depends on
    #[arg(long, value_name = "NAME", global = true, help_heading = ONE_TARGET)]
    pub(crate) env: Vec<OsString>,
    /// What to call a target that has no outputs, like a test run
    #[arg(long, value_name = "NAME", global = true, help_heading = ONE_TARGET)]
    pub(crate) name: Option<OsString>,
}

impl RunArgs {
    /// Says no to options that are for a target which options describe, where there is none.
    pub(crate) fn without_those_of_one_target(&self) -> Result<(), Trouble> {
        let options = [
            ("--chdir", self.chdir.is_some()),
            ("--separator", self.separator.is_some()),
            ("--keep-times", self.keep_times),
            ("--libraries", self.libraries),
        ];
        match options.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => Err(Trouble(format!("{name} is for a target that options describe (-i, -o)"))),
            None => Ok(()),
        }
    }

    /// Where the command is run.
    pub(crate) fn place(&self, common: &Common) -> PathBuf {
        match &self.chdir {
            Some(place) => common.directory.join(place),
            None => common.directory.clone(),
        }
    }
}

impl OneTarget {
    /// Whether a target is described, if only in part.
    pub(crate) fn is_given(&self) -> bool {
        let lists = [&self.inputs, &self.outputs, &self.order_only, &self.values, &self.env];
        lists.iter().any(|list| !list.is_empty())
            || [&self.depfile, &self.name].iter().any(|text| text.is_some())
            || self.inputs_from.is_some()
    }
}

/// Two exit statuses.
fn statuses(text: &str) -> Result<(Status, Status), String> {
    let (from, to) = text.split_once('=').ok_or("it has the form FROM=TO")?;
    Ok((Status::parse(from)?, Status::parse(to)?))
}

fn policy(name: &str) -> Result<Policy, String> {
    Policy::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Policy::ALL.iter().map(|policy| policy.name()).collect();
        format!("known are {}", names.join(", "))
    })
}

/// Kinds of descriptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum From {
    /// A ninja manifest, with ninja's logs
    Ninja,
    /// A graph in JSON
    Graph,
    /// A compile_commands.json, with the depfiles that it implies
    CompileCommands,
    /// A build directory of CMake, with the names that targets have there: Makefiles or ninja manifests
    Cmake,
}

impl Common {
    /// Whose build description is read, as JSON has it.
    pub(crate) fn origin(&self) -> &'static str {
        match self.from {
            _ if self.one.is_given() => "options",
            _ if self.names_cmake() || self.cmake.is_some() => "cmake",
            None | Some(From::Ninja) => "ninja",
            Some(From::Graph) => "graph",
            Some(From::CompileCommands) => "compile-commands",
            Some(From::Cmake) => "cmake",
        }
    }

    /// Whether the options say that the build directory is one of CMake's.
    pub(crate) fn names_cmake(&self) -> bool {
        self.from == Some(From::Cmake) || self.named.is_given()
    }

    /// What is wrong with the options taken together. `command` is what stands after `--`, where that makes a target.
    pub(crate) fn contradiction(&self, command: &[OsString]) -> Option<&'static str> {
        let describes = self.one.is_given();
        Some(match self.from {
            Some(from) if from != From::Cmake && self.named.is_given() => {
                "--target, --config and --write-query are about CMake, and --from names something else"
            }
            _ if self.names_cmake() && self.file.is_some() => {
                "--file is not for CMake, which has its own names for its files"
            }
            _ if describes && self.named.is_given() => {
                "--target or --config, and options that describe a target: only one can be meant"
            }
            Some(_) if describes => "--from, and options that describe a target: only one can be meant",
            _ if describes && self.file.is_some() => {
                "--file, and options that describe a target: only one can be meant"
            }
            _ if !describes && !command.is_empty() => {
                "a command after `--` is for a target that options describe (-i, -o)"
            }
            _ => return None,
        })
    }

    /// The manifest of a ninja build, relative to its directory.
    pub(crate) fn manifest(&self) -> PathBuf {
        match &self.cmake {
            Some(cmake) => cmake.manifest(),
            None => self.file.clone().unwrap_or_else(|| "build.ninja".into()),
        }
    }

    /// Whether targets are described by anything but ninja, which has its own rules and records.
    pub(crate) fn is_project(&self) -> bool {
        match &self.cmake {
            Some(cmake) => cmake.has_makefiles(),
            None => self.origin() != "ninja",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people; may change
    Text,
    /// One JSON object
    Json,
    /// One JSON object per target, then one with all the rest
    Jsonl,
    /// The names of the stale targets, one in a line, or each with a NUL behind it (-0)
    Names,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say which targets are stale (the default command)
    #[command(after_help = EXIT_STATUS)]
    Check(CheckArgs),
    /// Show the chain from a target down to the files that make it stale
    #[command(after_help = EXIT_STATUS)]
    Why(WhyArgs),
    /// Say which targets would go stale if these files changed
    #[command(after_help = AFFECTED_EXIT_STATUS)]
    Affected(AffectedArgs),
    /// Run a command if a target is stale, and record its success
    #[command(after_help = RUN_EXIT_STATUS)]
    Run(RunArgs),
    /// Record that targets are up to date now; for ninja, what their files hold
    #[command(after_help = RECORD_EXIT_STATUS)]
    Record(RecordArgs),
    /// Give files that hold what `upcheck record` found the times back that they had, so that plain ninja agrees
    #[command(after_help = REPAIR_EXIT_STATUS)]
    Repair(RepairArgs),
    /// Put what ninja has made into a shared cache
    #[command(after_help = PUBLISH_EXIT_STATUS)]
    Publish(TransferArgs),
    /// Take what is stale from a shared cache, so that ninja finds nothing to do
    #[command(after_help = RESTORE_EXIT_STATUS)]
    Restore(TransferArgs),
    /// Put the results of a whole build under one name, or ask by them
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Touch a file if globs have another result than a script of CMake says: for `Upcheck.cmake`
    #[command(hide = true)]
    VerifyGlobs(VerifyGlobsArgs),
    /// Measure whether stamps in a directory can be trusted, and say what is odd about its build
    #[command(after_help = DOCTOR_EXIT_STATUS)]
    Doctor(DoctorArgs),
    /// Measure how fast the file system of a directory can be asked, and what planning that gains
    #[command(after_help = BENCH_FS_EXIT_STATUS)]
    BenchFs(BenchFsArgs),
    /// Run a command whenever something is stale; or keep a process that remembers builds and is told of changes, so that a
    /// check need not look at every file
    #[command(after_help = WATCH_EXIT_STATUS)]
    Watch(WatchArgs),
    /// Examine a cache on another machine, or what is in it
    #[command(subcommand)]
    Remote(RemoteCommand),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct AffectedArgs {
    /// The files, relative to the current directory; `-` for a list on standard input, as `git diff --name-only` has it
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<OsString>,
    /// What the files' names are relative to, instead of the current directory
    #[arg(long, value_name = "DIR")]
    pub(crate) base: Option<PathBuf>,
    /// Print nothing but errors; the exit status is the answer
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RunArgs {
    /// The targets that the command makes; a phony one stands for all that it needs (default: all)
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<OsString>,
    /// If another run of the same target is under way, do not wait for it but fail
    #[arg(long)]
    pub(crate) no_wait: bool,
    /// Run the command whatever there is on record
    #[arg(long)]
    pub(crate) always: bool,
    /// Say why the command is run, or that it need not be
    #[arg(long)]
    pub(crate) explain: bool,
    /// Where to run the command, relative to the build directory, from which paths start all the same
    #[arg(long, value_name = "DIR")]
    pub(crate) chdir: Option<PathBuf>,
    /// An argument that stands between several commands, which are run one after the other until one fails
    #[arg(long, value_name = "WORD")]
    pub(crate) separator: Option<OsString>,
    /// Give outputs that come out as they were, in content and mode, the time back that they had
    #[arg(long)]
    pub(crate) keep_times: bool,
    /// Count as inputs also the programs that are run or are inputs, and the shared libraries that they load
    #[arg(long)]
    pub(crate) libraries: bool,
    /// The exit status if the command need not run
    #[arg(long, value_name = "STATUS", default_value = "0", value_parser = Status::parse)]
    pub(crate) fresh_status: Status,
    /// End with the status TO where the command ends with FROM, which tells such an end from one of upcheck's own
    #[arg(long, value_name = "FROM=TO", value_parser = statuses)]
    pub(crate) map_status: Vec<(Status, Status)>,
    /// The command and its arguments; it is run in the build directory. One that builds a directory of ninja or CMake
    /// (`upcheck run -C build -- cmake --build build`) is run in the current one, and nothing is put on record
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyGlobsArgs {
    /// The script, with globs and their results
    #[arg(value_name = "SCRIPT")]
    pub(crate) script: PathBuf,
    /// The file that is new where a result is
    #[arg(value_name = "STAMP")]
    pub(crate) stamp: PathBuf,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RecordArgs {
    /// The targets; a phony one stands for all that it needs (default: all)
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<OsString>,
    /// Say that their build is about to begin; `upcheck record` without this option then ends it
    #[arg(long)]
    pub(crate) begin: bool,
    /// Record also what has inputs that were changed after its outputs
    #[arg(long, conflicts_with = "begin")]
    pub(crate) trust: bool,
    /// The command that makes the target, for one that is described by options
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RepairArgs {
    /// Say what would be done, and do nothing
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Leave the times of sources as they are, and give outputs later ones: where other build directories use them, too
    #[arg(long)]
    pub(crate) keep_sources: bool,
    /// Name everything, not the first few
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

#[derive(Clone, Debug, Default, ClapArgs)]
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
    /// Go on: print the answer again whenever it is another one, until interrupted. `upcheck watch` is started to be told of
    /// changes; where it does not answer, everything is looked at again and again
    #[arg(long, conflicts_with_all = ["quiet", "explain_plan"])]
    pub(crate) follow: bool,
    /// Answer exactly as `ninja -n` does: stop at a stale manifest, fail where it fails
    #[arg(long)]
    pub(crate) exact: bool,
    /// For ninja: where only times are others than `upcheck record` found them, and contents are not, nothing is stale
    #[arg(long)]
    pub(crate) content: bool,
    /// Show the command of each stale target
    #[arg(long)]
    pub(crate) commands: bool,
    /// For ninja: let `upcheck watch` answer, which is started if it does not run; say so if it does not answer
    #[arg(long, conflicts_with = "no_watch")]
    pub(crate) watch: bool,
    /// Do not ask `upcheck watch`, even if it runs
    #[arg(long)]
    pub(crate) no_watch: bool,
    /// As --watch, but look at everything as well and compare: the answer is what was found by looking. If `upcheck watch` is
    /// wrong, say in what, and end with 2
    #[arg(long, conflicts_with_all = ["no_watch", "follow"])]
    pub(crate) verify_watch: bool,
    /// Show how the disk is asked, directory by directory, and what the other ways would cost, instead of the answer; with
    /// a platform, how that one would ask
    #[arg(long, value_enum, value_name = "PLATFORM", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "this")]
    pub(crate) explain_plan: Option<Platform>,
    /// The command that makes the target, for one that is described by options
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Where to ask what is there of stale targets
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    /// Which snapshot to ask for, so that not each target is asked for itself
    #[arg(skip)]
    pub(crate) snapshot: Option<String>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
}

impl CheckArgs {
    /// Whether anything was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.targets.is_empty()
            && self.command.is_empty()
            && !self.explain
            && !self.quiet
            && !self.follow
            && !self.exact
            && !self.commands
            && !self.watch
            && !self.no_watch
            && !self.verify_watch
            && self.explain_plan.is_none()
    }
}

/// Platforms that ask the disk at different costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Platform {
    /// The one that this runs on
    This,
    /// A listing tells no times
    Linux,
    /// Every file that is asked for is opened
    Windows,
    /// Windows from 11 24H2 on: a file is asked for by its name
    WindowsByName,
    /// A listing tells times
    Macos,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct WhyArgs {
    /// The targets to explain
    #[arg(value_name = "TARGET", required_unless_present = "cmake_targets")]
    pub(crate) targets: Vec<OsString>,
    /// The command that makes the target, for one that is described by options
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Show every stale input, however many there are
    #[arg(long)]
    pub(crate) all: bool,
    /// Where times differ, compare what files hold with what `upcheck record` has put on record
    #[arg(long)]
    pub(crate) content: bool,
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

#[derive(Debug, ClapArgs)]
pub(crate) struct BenchFsArgs {
    /// What to measure (default: the build directory). What lies in and below it is listed and asked for; nothing is written
    #[arg(value_name = "DIR")]
    pub(crate) measured: Option<PathBuf>,
    /// How many directories to take as a sample
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) directories: usize,
    /// How often to measure (default: for two seconds, from 11 to 301 times)
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) rounds: Option<usize>,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|&n| n > 0).ok_or_else(|| "it is a number from 1 on".into())
}

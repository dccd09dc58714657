//! How the daemon begins and ends: it is this program, apart from whoever started it.

use super::{StartArgs, apart, quick, rooms};
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use upcheck_daemon::{Ended, Place, Program, Server, Settings};

/// The version that both sides have to have.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// What a daemon that listens says to whoever started it.
const READY: &str = "ready";

impl StartArgs {
    /// What holds for one that a check starts.
    pub(super) const USUAL: Self = Self { idle: Duration::from_secs(3600), verify: false };
}

/// Starts a daemon, and waits until it listens.
pub(super) fn start(args: StartArgs) -> Result<(), String> {
    let path = Place::usual().ok_or("there is no folder to find it in")?;
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| format!("starting it in '{shown}': {}", upcheck::os_message(&error));
    let place = Place::make(path).map_err(failed)?;
    let log = place.log().map_err(failed)?;
    let program = Program::of_this_process(VERSION).map_err(failed)?;
    let start = |start: Command| {
        let mut start = command(start, &args);
        start.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log.try_clone()?);
        start.current_dir(apart::directory(&place)).spawn()
    };
    let mut child = apart::start(&program, start).map_err(failed)?;
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        // It ends the line or itself.
        let _ = BufReader::new(stdout).read_line(&mut said);
    }
    let is_ready = said.trim_end() == READY;
    if !is_ready {
        let _ = child.kill();
    }
    // Whoever lives longer than it does is to leave nothing of it.
    let _ = std::thread::Builder::new().spawn(move || child.wait());
    match said.trim_end() {
        READY => Ok(()),
        "" => Err("it ended at once".into()),
        trouble => Err(trouble.to_owned()),
    }
}

fn command(mut command: Command, args: &StartArgs) -> Command {
    command.args(["watch", "serve", "--idle"]).arg(args.idle.as_secs().to_string());
    if args.verify {
        command.arg("--verify");
    }
    // It asks no cache, whoever started it.
    command.env_remove("UPCHECK_REMOTE");
    // What an answer takes for a moment is given back. glibc would keep the most that each thread ever took.
    for (name, value) in [("MALLOC_ARENA_MAX", "1"), ("MALLOC_TRIM_THRESHOLD_", "131072")] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    command
}

/// Is the daemon, until there is a reason to end.
pub(super) fn serve(args: &StartArgs) -> Result<(), String> {
    apart::leave();
    let program = Program::of_this_process(VERSION).map_err(|error| error.to_string())?;
    let begun = begin(args, &program);
    let said = begun.as_ref().map_or_else(String::as_str, |_| READY);
    // Nobody need be listening: it may have been started by itself.
    let _ = writeln!(std::io::stdout(), "{said}");
    let ended = begun?.run();
    let _ = writeln!(std::io::stderr(), "ended: {ended:?}");
    if ended == Ended::Outdated {
        let become_another = apart::become_another(&program, |another| command(another, args));
        return become_another.map_err(|error| format!("beginning anew: {error}"));
    }
    Ok(())
}

fn begin(args: &StartArgs, program: &Program) -> Result<Server, String> {
    let place = quick::place()?.ok_or("its folder is gone")?;
    let settings = Settings { idle: args.idle, version: VERSION };
    let begun = Server::begin(place, settings, program.clone(), Box::new(rooms::Rooms::new(args)));
    begun.map_err(|error| format!("listening: {error}"))?.ok_or_else(|| "another one runs already".to_owned())
}

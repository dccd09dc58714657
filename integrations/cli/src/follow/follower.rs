//! Answers one after the other, each when it is another one than the one before it.
//!
//! The daemon is asked to wait for the next one. Where there is none, or it says no, all is looked at again and again, at a pace
//! that leaves the machine to others; and each time the daemon is asked first. Both give answers the same mark, so whoever
//! changes from one to the other is told nothing twice.

use super::{Ended, Ends};
use crate::args::{CheckArgs, Common, Format};
use crate::captured::Captured;
use crate::cmake;
use crate::json;
use crate::run::{check, print, print_error, warn};
use crate::watch::Daemon;
use anstream::{AutoStream, ColorChoice};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Between two looks at everything there is no look for so many times as long as the last one took, and not for so long.
const PAUSE_TIMES: u32 = 20;
const PAUSE: Duration = Duration::from_secs(1);

/// An answer, or why there is none, as it is to be printed.
pub(crate) struct Given {
    /// As of [`crate::exit::Exit`].
    pub(crate) status: u8,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// What tells it from others.
    pub(crate) mark: String,
}

/// Whoever follows a check.
pub(crate) struct Follower<'a> {
    common: &'a Common,
    check: &'a CheckArgs,
    colors: [bool; 2],
    daemon: Option<Daemon>,
    /// That of the last answer.
    mark: Option<String>,
    /// How long not to look at everything.
    pause: Duration,
    /// Why the daemon did not answer, as far as it was said.
    said: HashSet<String>,
}

impl<'a> Follower<'a> {
    /// Follows what this process was asked.
    pub(crate) fn of_this_process(common: &'a Common, check: &'a CheckArgs) -> Self {
        let colors = [color(common, &io::stdout()), color(common, &io::stderr())];
        Self::new(common, check, std::env::args_os().skip(1).collect(), colors)
    }

    /// Follows a check that nobody has typed.
    pub(crate) fn of_own_question(common: &'a Common, check: &'a CheckArgs) -> Self {
        Self::new(common, check, arguments(common, check), [false; 2])
    }

    fn new(common: &'a Common, check: &'a CheckArgs, arguments: Vec<OsString>, colors: [bool; 2]) -> Self {
        let (pause, said) = (Duration::ZERO, HashSet::new());
        let mut follower = Self { common, check, colors, daemon: None, mark: None, pause, said };
        match Daemon::new(common, check, arguments, colors) {
            Ok(daemon) => follower.daemon = Some(daemon),
            Err(why) => follower.say(why),
        }
        follower
    }

    /// The next answer: the first one at once. It is trouble where there is no answer.
    pub(crate) fn next(&mut self, ends: &Ends) -> Result<Given, Ended> {
        loop {
            if let Some(daemon) = &mut self.daemon {
                match daemon.next(self.mark.as_deref(), ends)? {
                    Ok(given) => {
                        self.pause = Duration::ZERO;
                        self.mark = Some(given.mark.clone());
                        return Ok(given);
                    }
                    Err(why) => self.say(why),
                }
            }
            ends.wait(None, Some(self.pause))?;
            let began = Instant::now();
            let given = self.look();
            self.pause = PAUSE.max(began.elapsed() * PAUSE_TIMES);
            if self.mark.as_ref() != Some(&given.mark) {
                self.mark = Some(given.mark.clone());
                return Ok(given);
            }
        }
    }

    /// The answer as it is now, whether it is another one or not.
    pub(crate) fn now(&mut self, ends: &Ends) -> Result<Given, Ended> {
        self.mark = None;
        self.pause = Duration::ZERO;
        self.next(ends)
    }

    /// Looks at everything.
    fn look(&self) -> Given {
        let captured = Arc::new(Captured::marked(self.colors));
        let mut common = Common { captured: Some(Arc::clone(&captured)), cmake: None, ..self.common.clone() };
        let answered = cmake::read(&common).and_then(|cmake| {
            common.cmake = cmake;
            check(&common, self.check)
        });
        let status = match answered {
            Ok(exit) => exit as u8,
            Err(trouble) => {
                // What was said before it came to that is no answer.
                let _ = captured.take();
                if common.format == Format::Json && !common.causes {
                    let from = Some(common.origin());
                    let _ = print(&common, |out| json::print_trouble(out, from, json::SCHEMA, &trouble.0));
                }
                print_error(&common, &trouble);
                crate::exit::Exit::Trouble as u8
            }
        };
        let mark = captured.mark(status);
        let [stdout, stderr] = captured.take();
        Given { status, stdout, stderr, mark }
    }

    /// Says once why the daemon does not answer, where that is news.
    fn say(&mut self, why: String) {
        if !why.is_empty() && !self.said.contains(&why) {
            let text =
                format!("upcheck watch does not answer: {why}; everything is looked at again and again");
            warn(self.common, &[text]);
            self.said.insert(why);
        }
    }
}

fn color(common: &Common, stream: &impl anstream::stream::RawStream) -> bool {
    match common.color {
        clap::ColorChoice::Auto => AutoStream::choice(stream) != ColorChoice::Never,
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
    }
}

/// The arguments of a check by these options, as far as the daemon has to know them.
fn arguments(common: &Common, check: &CheckArgs) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["check".into(), "--format".into()];
    arguments.push(if common.format == Format::Names { "names" } else { "json" }.into());
    arguments.extend(["-C".into(), common.directory.clone().into_os_string()]);
    if let Some(file) = &common.file {
        arguments.extend(["-f".into(), file.clone().into_os_string()]);
    }
    if let Some(version) = common.ninja_version {
        arguments.extend(["--ninja-version".into(), version.to_string().into()]);
    }
    if let Some(folder) = &common.image_dir {
        arguments.extend(["--image-dir".into(), folder.clone().into_os_string()]);
    }
    for (name, is_given) in [("--causes", common.causes), ("--null", common.one.null)] {
        arguments.extend(is_given.then(|| name.into()));
    }
    arguments.extend(check.targets.iter().cloned());
    arguments
}

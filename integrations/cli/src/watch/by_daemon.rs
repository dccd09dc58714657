//! A client that waits: it asks the daemon for the next answer, and starts one where there is none.

use super::room::TROUBLE;
use super::{life, question, quick};
use crate::args::{CheckArgs, Common};
use crate::follow::{Ended, Ends, Given};
use std::ffi::OsString;
use std::path::PathBuf;
use upcheck_daemon::{Ask, Asking, NoAnswer, Patience, Reply, identity};

/// So often another daemon is asked in the place of one that is gone, before it is enough.
const MOST_DAEMONS: usize = 3;

/// The daemon, as somebody sees it who asks again and again.
pub(crate) struct Daemon {
    arguments: Vec<OsString>,
    /// The build directory, and the manifest.
    files: [PathBuf; 2],
    colors: [bool; 2],
    /// Not if somebody has told it to end.
    may_start: bool,
}

impl Daemon {
    /// The one to ask about a check; or why none is to be asked. `arguments` are those of the command that says what is asked.
    pub(crate) fn new(
        common: &Common,
        check: &CheckArgs,
        arguments: Vec<OsString>,
        colors: [bool; 2],
    ) -> Result<Self, String> {
        if check.no_watch {
            return Err("--no-watch".into());
        }
        if std::env::var_os("UPCHECK_REMOTE").is_some_and(|url| !url.is_empty()) {
            return Err(quick::REMOTE.into());
        }
        match question::objection(common, check) {
            Some(why) => Err(why.into()),
            None => {
                let manifest = quick::manifest_of(common.file.as_deref()).to_owned();
                let files = [common.directory.clone(), manifest];
                Ok(Self { arguments, files, colors, may_start: true })
            }
        }
    }

    /// The answer, as soon as its mark is another one. Inside: why there is none; empty where that is no news.
    pub(crate) fn next(&mut self, mark: Option<&str>, ends: &Ends) -> Result<Result<Given, String>, Ended> {
        for _ in 0..MOST_DAEMONS {
            let mut asking = match self.ask(mark) {
                Ok(asking) => asking,
                Err(why) => return Ok(Err(why)),
            };
            let heard = loop {
                if !ends.hear(&asking)? {
                    break Err(NoAnswer::Unwell("it does not answer".into()));
                }
                match asking.hear() {
                    Ok(None) => {}
                    Ok(Some(reply)) => break Ok(reply),
                    Err(why) => break Err(why),
                }
            };
            let why = match heard {
                Ok(Reply::Done { status, stdout, stderr, mark: Some(mark) }) => {
                    self.may_start = true;
                    return Ok(Ok(Given { status, stdout, stderr, mark }));
                }
                Ok(Reply::Stopping) => {
                    self.may_start = false;
                    "it was told to end".into()
                }
                Ok(_) => "it answers something else".into(),
                // There may be another one.
                Err(NoAnswer::Ended) => continue,
                // It was well a moment ago, whatever has become of it.
                Err(NoAnswer::Unwell(_)) if asking.is_waiting() => continue,
                Err(NoAnswer::Declined(why)) if why == TROUBLE => String::new(),
                Err(why) => why.to_string(),
            };
            return Ok(Err(why));
        }
        Ok(Err("it ends again and again".into()))
    }

    /// Asks it, or one that is started for that.
    fn ask(&self, mark: Option<&str>) -> Result<Asking, String> {
        let [directory, manifest] = &self.files;
        let about = (self.arguments.clone(), identity(directory, manifest));
        let mut request = quick::request(Ask::Wait, about, self.colors)?;
        request.mark = mark.map(str::to_owned);
        let ask = || match quick::place()? {
            None => Ok(None),
            Some(place) => match Asking::begin(&place, &request, Patience::default()) {
                Ok(asking) => Ok(Some(asking)),
                Err(NoAnswer::NotRunning | NoAnswer::Ended) => Ok(None),
                Err(why) => Err(why.to_string()),
            },
        };
        if let Some(asking) = ask()? {
            return Ok(asking);
        }
        if !self.may_start {
            return Err(NoAnswer::NotRunning.to_string());
        }
        // Somebody else may be faster.
        let started = life::start(super::StartArgs::USUAL);
        ask()?.ok_or_else(|| started.err().unwrap_or_else(|| "it has gone again".into()))
    }
}

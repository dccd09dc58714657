//! `watch wait`: until the answer of a check is another one.
//!
//! The daemon is asked again and again, which costs it little while nothing changes.

use super::{life, quick};
use crate::args::Common;
use crate::exit::Exit;
use crate::run::{Trouble, print};
use std::ffi::OsString;
use std::time::Duration;
use upcheck_daemon::{Ask, NoAnswer, Patience, Reply, ask};

/// How often it is asked.
const OFTEN: Duration = Duration::from_millis(100);

/// Waits, and prints the new answer.
pub(super) fn wait(common: &Common) -> Result<Exit, Trouble> {
    let first = stale(common)?;
    loop {
        let now = stale(common)?;
        if now != first {
            let exit = if now.0 == 0 { Exit::Fresh } else { Exit::Stale };
            print(common, |out| out.write_all(&now.1))?;
            return Ok(exit);
        }
        std::thread::sleep(OFTEN);
    }
}

/// The exit status of a check, and the names of what is stale.
fn stale(common: &Common) -> Result<(u8, Vec<u8>), Trouble> {
    let mut arguments: Vec<OsString> = vec!["check".into(), "--format".into(), "names".into(), "-C".into()];
    arguments.push(common.directory.clone().into_os_string());
    if let Some(file) = &common.file {
        arguments.extend(["-f".into(), file.clone().into_os_string()]);
    }
    let request = quick::request(Ask::Check, arguments, [false; 2]).map_err(Trouble)?;
    let asked = |is_second: bool| {
        let place = quick::place().map_err(Trouble)?;
        let answer =
            place.map_or(Err(NoAnswer::NotRunning), |place| ask(&place, &request, Patience::default()));
        match answer {
            Ok(Reply::Done { status, stdout, .. }) => Ok(Some((status, stdout))),
            Err(NoAnswer::NotRunning) if !is_second => Ok(None),
            Ok(_) => Err(Trouble("upcheck watch answers something else".into())),
            Err(why) => Err(Trouble(format!("asking upcheck watch: {why}"))),
        }
    };
    if let Some(answer) = asked(false)? {
        return Ok(answer);
    }
    life::start(super::StartArgs::USUAL).map_err(Trouble)?;
    asked(true)?.ok_or_else(|| Trouble("upcheck watch has gone again".into()))
}

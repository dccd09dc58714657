//! Platforms where nothing but time is waited for: whatever interrupts a program ends it, and that nobody reads any more is found
//! when something is written.

use crate::exit::{Exit, Status};
use std::io;
use std::process::{Child, ExitStatus};
use std::time::Duration;
use upcheck_daemon::Asking;

/// Why waiting ended for good. Nobody makes one.
#[allow(dead_code, reason = "elsewhere there are some")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended;

impl Ended {
    pub(crate) fn status(self) -> Status {
        Exit::Fresh.into()
    }
}

/// Nothing that can be waited for.
#[allow(dead_code, reason = "elsewhere there is something")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing;

pub(crate) struct Ends(());

impl Ends {
    pub(crate) fn of_following() -> io::Result<Self> {
        Ok(Self(()))
    }

    pub(crate) fn of_reading() -> Self {
        Self(())
    }

    pub(crate) fn of_running() -> io::Result<Self> {
        Ok(Self(()))
    }

    pub(crate) fn wait(&self, _: Option<Nothing>, time: Option<Duration>) -> Result<bool, Ended> {
        std::thread::sleep(time.unwrap_or_default());
        Ok(false)
    }

    /// Whoever hears the daemon waits for it himself, and no longer than that.
    pub(crate) fn hear(&self, _: &Asking) -> Result<bool, Ended> {
        Ok(true)
    }

    pub(crate) fn wait_for(&self, child: &mut Child) -> io::Result<(ExitStatus, Option<Ended>)> {
        Ok((child.wait()?, None))
    }
}

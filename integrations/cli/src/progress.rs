//! How far something long is: a bar on standard error, where that is a terminal, and nothing elsewhere.
//!
//! Whatever is over soon shows no bar: one that is gone before it can be read only flickers. A bar is taken away before
//! anything else is printed.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use upcheck::collect::Headway;

/// How long something takes before it is shown how far it is.
const SOON: Duration = Duration::from_millis(400);
/// How often at most the bar is drawn anew, per second.
const PER_SECOND: u8 = 10;
const TEMPLATE: &str = "{msg} [{bar:30}] {bytes} of {total_bytes}";

/// Bytes that are on their way, of as many as are known to be.
pub(crate) struct Progress {
    what: &'static str,
    /// `None`: nobody would see it.
    style: Option<ProgressStyle>,
    under_way: Mutex<UnderWay>,
}

/// What has begun and is not over.
#[derive(Default)]
struct UnderWay {
    /// When; `None` while there is nothing.
    since: Option<Instant>,
    n_bytes: u64,
    n_done: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar that says what is done, where somebody sees it.
    pub(crate) fn new(what: &'static str) -> Self {
        let style = ProgressStyle::with_template(TEMPLATE).ok().filter(|_| !target().is_hidden());
        Self { what, style: style.map(|style| style.progress_chars("=> ")), under_way: Mutex::default() }
    }

    /// Whether somebody sees it.
    pub(crate) fn is_seen(&self) -> bool {
        self.style.is_some()
    }

    fn change(&self, change: impl FnOnce(&mut UnderWay)) {
        let Some(style) = &self.style else { return };
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let under_way = &mut *under_way;
        change(under_way);
        if under_way.n_done >= under_way.n_bytes {
            // Whatever comes next begins anew.
            std::mem::take(under_way).end();
            return;
        }
        let since = *under_way.since.get_or_insert_with(Instant::now);
        if under_way.bar.is_none() && since.elapsed() >= SOON {
            let bar = ProgressBar::with_draw_target(Some(under_way.n_bytes), target());
            let bar = bar.with_style(style.clone()).with_position(under_way.n_done);
            under_way.bar = Some(bar.with_message(self.what));
        }
        if let Some(bar) = &under_way.bar {
            bar.set_length(under_way.n_bytes);
            bar.set_position(under_way.n_done);
        }
    }
}

impl UnderWay {
    fn end(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Headway for Progress {
    fn begins(&self, n_bytes: u64) {
        self.change(|under_way| under_way.n_bytes += n_bytes);
    }

    fn goes_on(&self, n_bytes: u64) {
        self.change(|under_way| under_way.n_done += n_bytes);
    }
}

/// What was not finished is no reason to leave a bar behind.
impl Drop for Progress {
    fn drop(&mut self) {
        std::mem::take(&mut *self.under_way.lock().unwrap_or_else(PoisonError::into_inner)).end();
    }
}

fn target() -> ProgressDrawTarget {
    ProgressDrawTarget::stderr_with_hz(PER_SECOND)
}

//! FSEvents, by the crate `notify`.

use super::{Heard, What};
use crate::Why;
use notify::event::ModifyKind;
use notify::{Event, EventKind, FsEventWatcher, RecursiveMode, Watcher as _};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Its name in the manual.
pub(super) const NAME: &str = "FSEvents";

/// A directory that is watched, until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher(#[expect(dead_code, reason = "it is held, not used")] FsEventWatcher);

impl Watcher {
    /// Watches a directory with all beneath it: what happens after this is told.
    pub(super) fn new(root: &Path, heard: &Arc<Heard>) -> io::Result<Self> {
        if root.to_str().is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let heard = Arc::clone(heard);
        let tell = move |told: notify::Result<Event>| match told {
            Ok(told) => tell(&heard, &told),
            Err(error) => heard.tell_everything(Why::Failed(number(error).raw_os_error().unwrap_or(0))),
        };
        let mut watcher = FsEventWatcher::new(tell, notify::Config::default()).map_err(number)?;
        watcher.watch(root, RecursiveMode::Recursive).map_err(number)?;
        Ok(Self(watcher))
    }
}

fn tell(heard: &Heard, told: &Event) {
    if told.need_rescan() {
        return heard.tell_everything(Why::Overflow);
    }
    let what = match told.kind {
        EventKind::Access(_) => return,
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => What::Content,
        _ => What::Name,
    };
    for path in &told.paths {
        heard.tell(upcheck::os_path::bytes(path), what);
    }
}

fn number(error: notify::Error) -> io::Error {
    match error.kind {
        notify::ErrorKind::Io(error) => error,
        _ => io::Error::other(error),
    }
}

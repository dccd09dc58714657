//! FSEvents, by the crate `notify`. The tests run on any Unix, where `notify` hears of changes in another way.

use super::{Heard, What};
use crate::Why;
use notify::event::ModifyKind;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Its name in the manual.
#[cfg(target_os = "macos")]
pub(super) const NAME: &str = "FSEvents";

/// A directory that is watched, until this is dropped.
#[derive(Debug)]
pub(super) struct Watcher(#[expect(dead_code, reason = "it is held, not used")] RecommendedWatcher);

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
        let mut watcher = RecommendedWatcher::new(tell, notify::Config::default()).map_err(number)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hints::ROOT;
    use crate::journal::{Journal, Place};
    use notify::event::{AccessKind, CreateKind, DataChange, Flag, MetadataKind, RemoveKind, RenameMode};

    /// What is noted of the directories `b` and `b/out` when `b/out` is told of.
    fn noted(told: Event) -> Result<[bool; 2], Why> {
        let [outer, inner] = [Place(0), Place(1)];
        let heard = Heard::default();
        heard.add(&[ROOT.as_bytes(), b"b"].concat(), outer);
        heard.add(&[ROOT.as_bytes(), b"b/out"].concat(), inner);
        let mut journal = Journal::new();
        let before = journal.turn();
        tell(&heard, &told.add_path(format!("{ROOT}b/out").into()));
        heard.take_in(&mut journal);
        let since = journal.since(before)?;
        Ok([since.has(outer, b"out"), since.has(inner, b"anything")])
    }

    #[test]
    fn what_comes_or_goes_is_more_than_what_is_written_to_and_what_is_read_is_nothing() {
        let kinds = [
            (EventKind::Access(AccessKind::Any), [false, false]),
            (EventKind::Modify(ModifyKind::Data(DataChange::Content)), [true, false]),
            (EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), [true, false]),
            (EventKind::Modify(ModifyKind::Name(RenameMode::Any)), [true, true]),
            (EventKind::Create(CreateKind::Any), [true, true]),
            (EventKind::Remove(RemoveKind::Any), [true, true]),
            // Several at once, of which FSEvents does not say which came last.
            (EventKind::Modify(ModifyKind::Any), [true, true]),
            (EventKind::Any, [true, true]),
            (EventKind::Other, [true, true]),
        ];
        for (kind, expected) in kinds {
            assert_eq!(noted(Event::new(kind)), Ok(expected), "{kind:?}");
        }
        let lost = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(noted(lost), Err(Why::Overflow));
    }
}

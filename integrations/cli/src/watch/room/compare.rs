//! A daemon that compares each of its answers with one for which nothing is remembered: `watch start --verify`.

use super::{Asked, Eyes, FORGOTTEN, Known, Room, look, no, seen_with};
use crate::answer::{Verified, Watched};
use crate::args::Common;
use crate::watch::rounds::Rounds;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use upcheck::collect::Disk;
use upcheck_watch::WatchedDisk;

/// What came of comparing answers, in all rooms.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    /// So many were compared, here or by who asked.
    pub(crate) n: AtomicU64,
    /// So many of those that were compared here were right only when both were looked for once more, or not even then, since
    /// something changed each time.
    pub(crate) later: AtomicU64,
    /// So many were wrong: there must not be any.
    pub(crate) wrong: AtomicU64,
}

impl Room {
    /// Looks at everything, with nothing remembered, and compares. What is answered if they differ is what was found so. What
    /// was wrong is counted, and stands in the log.
    ///
    /// A remembered answer says that nothing has changed, so it is enough to look whether everything looks as it did. That
    /// opens no file, which would be told, and so leaves the next question what the last one left it.
    pub(super) fn compare(
        &mut self,
        asked: &Asked,
        compared: &Compared,
        (plain, watching): (&dyn Disk, Option<(&WatchedDisk<'_>, &Eyes)>),
        mut watched: Watched,
    ) -> Result<Watched, &'static str> {
        let no_evidence = "the answer cannot be printed";
        let Asked { common, check, .. } = asked;
        let full = Common { no_image: true, ..common.clone() };
        compared.n.fetch_add(1, Ordering::Relaxed);
        let mut rounds = Rounds::default();
        loop {
            let known = self.known.last().ok_or(FORGOTTEN)?;
            if rounds.is_first() && watched == Watched::Memory && known.asked.looks_the_same(plain) {
                return Ok(watched);
            }
            let said = known.evidence(common, check).ok_or(no_evidence)?;
            let right: Known = look(&full, check, plain, asked.question()).map_err(no)??;
            let found = right.evidence(&full, check).ok_or(no_evidence)?;
            let count = match rounds.judge(&said, Ok(found)) {
                Some(Verified::Same) => return Ok(watched),
                Some(Verified::Later | Verified::Never) => &compared.later,
                Some(Verified::Wrong) => &compared.wrong,
                None => {
                    watched = self.look(asked, seen_with(plain, watching), watching)?;
                    continue;
                }
            };
            count.fetch_add(1, Ordering::Relaxed);
            let differences = rounds.differences().join("; ");
            // The log, if there is room in it.
            let _ =
                writeln!(std::io::stderr(), "not the same in {}: {differences}", common.directory.display());
            self.known.clear();
            self.known.push(right);
            return Ok(self.everything("compared, and not the same"));
        }
    }
}

// Only on Unix a disk remembers on the word of a feed.
#[cfg(all(test, unix))]
mod tests {
    use super::super::{Feed, Memory};
    use super::*;
    use crate::exit::Exit;
    use crate::run::open;
    use crate::watch::settle::remember;
    use std::fs::{File, FileTimes};
    use std::path::Path;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};
    use upcheck::os_path::bytes;
    use upcheck_daemon::{Ask, Request};
    use upcheck_watch::{Backend, Closed, Counters, Journal, NameHash, NameTrust, Options, Place, Trust};

    /// Vouches for everything, and is told of nothing.
    struct Deaf;

    impl Backend for Deaf {
        fn watch(&mut self, _: Place, _: &[u8]) -> Trust {
            Trust::Vouched
        }
        fn watch_name(&mut self, _: Place, _: NameHash, _: &[u8]) -> NameTrust {
            NameTrust::Vouched
        }
        fn prove_closed(&mut self, _: Place, _: NameHash, _: &[u8], _: &mut Journal) -> Closed {
            Closed::Yes
        }
        fn sync(&mut self, _: &mut Journal) {}
        fn counters(&self) -> Counters {
            Counters::default()
        }
    }

    fn room(feed: Feed, directory: &Path, compared: Option<&Arc<Compared>>) -> Room {
        let feed = Arc::new(feed);
        let memory = Memory::new(Arc::clone(&feed), bytes(directory), Options::default());
        Room::new(Some(Eyes { feed, memory, not_before: std::sync::Mutex::default() }), compared.cloned())
    }

    fn ask(room: &mut Room, directory: &Path) -> Exit {
        let request = Request {
            ask: Ask::Check,
            program: String::new(),
            surroundings: serde_json::Map::new(),
            colors: [false; 2],
            identity: upcheck_daemon::identity(directory, Path::new("build.ninja")),
            mark: None,
            directory: bytes(directory).to_vec(),
            arguments: ["--image-dir", ""].map(|word| word.as_bytes().to_vec()).to_vec(),
        };
        let asked = Asked::read(&request).expect("a check");
        let exit = room.answer(&asked).expect("an answer");
        // What the daemon does after an answer.
        if let Some(unsettled) = room.unsettled() {
            let disk = open(&asked.common).unwrap_or_else(|_| panic!("the directory is there"));
            let _ = remember(&disk, &unsettled);
            room.calm_down(&disk);
        }
        exit
    }

    fn set(directory: &Path, name: &str, seconds: u64) {
        let file = File::options().create(true).append(true).open(directory.join(name)).expect("a file");
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        file.set_times(FileTimes::new().set_modified(time)).expect("a time");
    }

    /// A build directory whose only target is fresh.
    fn fresh() -> tempfile::TempDir {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = "rule t\n  command = t\n  generator = 1\nbuild out: t in\n";
        std::fs::write(directory.path().join("build.ninja"), manifest).expect("a manifest");
        set(directory.path(), "in", 1_000);
        set(directory.path(), "out", 2_000);
        directory
    }

    #[test]
    fn what_a_feed_does_not_tell_of_is_found_by_comparing_and_counted() {
        let directory = fresh();
        let at = directory.path();
        let compared = Arc::new(Compared::default());
        let mut rooms = [room(Feed::new(Deaf), at, None), room(Feed::new(Deaf), at, Some(&compared))];
        for room in &mut rooms {
            assert_eq!([0; 4].map(|_| ask(room, at)), [Exit::Fresh; 4]);
            assert!(room.known[0].calm.is_some(), "the last question looked at nothing");
        }
        set(at, "in", 3_000);
        let answers = rooms.each_mut().map(|room| ask(room, at));
        assert_eq!(answers, [Exit::Fresh, Exit::Stale], "the first one believes the feed");
        assert_eq!([&compared.n, &compared.wrong].map(|n| n.load(Ordering::Relaxed)), [5, 1]);
    }

    #[test]
    fn where_the_feed_is_right_nothing_is_wrong() {
        let directory = fresh();
        let at = directory.path();
        let compared = Arc::new(Compared::default());
        let mut room = room(Feed::here().expect("a feed"), at, Some(&compared));
        for (seconds, exit) in [(1_000, Exit::Fresh), (3_000, Exit::Stale), (1_500, Exit::Fresh)] {
            set(at, "in", seconds);
            assert_eq!([ask(&mut room, at), ask(&mut room, at), ask(&mut room, at)], [exit; 3]);
        }
        assert_eq!([&compared.n, &compared.wrong].map(|n| n.load(Ordering::Relaxed)), [9, 0]);
        assert!(room.counts.from_memory >= 6 && room.counts.from_changes == 2, "{:?}", room.counts);
    }
}

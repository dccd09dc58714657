//! The barrier: what was changed before one asks is in the answer, every time. `UPCHECK_CASES` says how many times (20,000).

use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use upcheck_tests::aloud::progress;
use upcheck_tests::space::Space;
use upcheck_watch::{Changes, Feed, NameTrust, Token, Trust};

const THREADS: u64 = 4;

#[test]
fn what_was_changed_before_one_asks_is_in_the_answer() {
    let times: u64 = std::env::var("UPCHECK_CASES").map_or(20_000, |text| text.parse().expect("a number"));
    let space = Space::new();
    let feed = Feed::here().expect("a feed");
    let (told, unknown) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (space, feed, told, unknown) = (&space, &feed, &told, &unknown);
            scope.spawn(move || {
                let mut one = Changer::new(space, feed, thread);
                for n in 0..times / THREADS {
                    match one.change_and_ask(n) {
                        true => told.fetch_add(1, Ordering::Relaxed),
                        false => unknown.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
    });
    let (told, unknown) = (told.into_inner(), unknown.into_inner());
    progress(&format!(
        "barrier: {told} changes, each in the next answer; {unknown} answers were \"everything\""
    ));
    assert!(told > times / 2, "{unknown} of {times} answers were everything");
}

/// Somebody who changes files of its own, in a directory that it shares with others.
struct Changer<'a> {
    feed: &'a Feed,
    directory: &'a Path,
    thread: u64,
    token: Option<Token>,
}

impl<'a> Changer<'a> {
    fn new(space: &'a Space, feed: &'a Feed, thread: u64) -> Self {
        Self { feed, directory: space.path(), thread, token: None }
    }

    /// Makes one change, and asks. Whether it was told; if not, the feed said that it did not know.
    fn change_and_ask(&mut self, n: u64) -> bool {
        let name = format!("t{}-{}", self.thread, n / 8 % 50);
        let file = self.directory.join(&name);
        if !file.exists() {
            fs::write(&file, "").expect("a file");
        }
        let path = self.directory.as_os_str().as_encoded_bytes();
        let (place, trust) = self.feed.watch(path);
        assert_eq!(trust, Trust::Vouched);
        let trusts = self.feed.watch_names(place, path, [name.as_bytes()].into_iter());
        assert_ne!(trusts, [NameTrust::Doubted]);
        // What happened so far is known.
        self.token = Some(self.feed.since(self.token).1);
        let changed = self.change(n, &file);
        let (changes, token) = self.feed.since(self.token);
        self.token = Some(token);
        match changes {
            Changes::Everything(_) => false,
            Changes::Only(told) => {
                assert!(told.has(place, changed.as_bytes()), "{n}: nothing was told of {changed}");
                true
            }
        }
    }

    /// Changes a file, and says which name that was.
    fn change(&self, n: u64, file: &Path) -> String {
        let other = format!("{}-other", file.file_name().expect("a name").to_string_lossy());
        let other_path = self.directory.join(&other);
        let open = || OpenOptions::new().write(true).open(file).expect("a file");
        match n % 8 {
            0 => open().write_all(b"12345").expect("a write"),
            1 => open().set_len(n).expect("a size"),
            2 => {
                let mode = if n % 16 < 8 { 0o600 } else { 0o640 };
                fs::set_permissions(file, Permissions::from_mode(mode)).expect("permissions");
            }
            3 => {
                let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(n);
                open().set_times(FileTimes::new().set_modified(time)).expect("a time");
            }
            4 => {
                File::create(&other_path).expect("a file");
                return other;
            }
            5 => fs::rename(&other_path, file).expect("a renaming"),
            6 => {
                fs::hard_link(file, &other_path).expect("a hard link");
                fs::remove_file(&other_path).expect("a removal");
                return other;
            }
            _ => fs::remove_file(file).expect("a removal"),
        }
        file.file_name().expect("a name").to_string_lossy().into_owned()
    }
}

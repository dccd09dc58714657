//! The collector of macOS on another system, whose directories a kernel in macOS's place lists. What it says is what
//! stat(2) says, and it takes as few calls as it should.

use super::*;
use crate::files::FileTable;
use crate::plan::{Costs, How, ListingCosts, Plan};
use proptest::prelude::*;
use rustix::fs::{Dir, FileType};
use std::cell::Cell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::symlink;
use std::path::Path;
use tempfile::TempDir;

/// Lists what is there, in the form of macOS.
struct Fake {
    is_authority: bool,
    has_case: Option<bool>,
    /// So many bytes a buffer has at most.
    capacity: usize,
    /// Of each open directory, what was not listed yet.
    left: RefCell<HashMap<RawFd, Vec<Vec<u8>>>>,
    /// How many calls there were.
    calls: Cell<usize>,
    /// What happens at each call.
    happens: fn(usize) -> rustix::io::Result<()>,
    /// What becomes of an entry.
    entry: fn(&[u8], &mut Attributes),
}

/// What is told of an entry: see [`attributes`] for what it looks like.
struct Attributes {
    common: u32,
    file: u32,
    error: u32,
    name: Vec<u8>,
    kind: u32,
    links: u32,
    meta: Meta,
}

impl Default for Fake {
    fn default() -> Self {
        Self {
            is_authority: true,
            has_case: Some(true),
            capacity: usize::MAX,
            left: RefCell::default(),
            calls: Cell::default(),
            happens: |_| Ok(()),
            entry: |_, _| {},
        }
    }
}

impl Kernel for Fake {
    fn bulk(&self, directory: BorrowedFd<'_>, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        self.calls.set(self.calls.get() + 1);
        (self.happens)(self.calls.get())?;
        let mut left = self.left.borrow_mut();
        let left = left.entry(directory.as_raw_fd()).or_insert_with(|| self.list(directory));
        let (mut at, mut count) = (0, 0);
        let capacity = buffer.len().min(self.capacity);
        while let Some(entry) = left.last() {
            if at + entry.len() > capacity {
                break;
            }
            buffer[at..at + entry.len()].copy_from_slice(entry);
            at += entry.len();
            count += 1;
            left.pop();
        }
        if count == 0 && !left.is_empty() { Err(Errno::RANGE) } else { Ok(count) }
    }

    fn is_authority(&self, _: BorrowedFd<'_>) -> bool {
        self.is_authority
    }

    fn has_case(&self, _: BorrowedFd<'_>) -> Option<bool> {
        self.has_case
    }
}

impl Fake {
    /// All entries of a directory, the next one last.
    #[allow(clippy::unnecessary_fallible_conversions, reason = "numbers of links differ in type")]
    fn list(&self, directory: BorrowedFd<'_>) -> Vec<Vec<u8>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(directory).expect("a directory") {
            let name = entry.expect("an entry").file_name().to_owned();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let found = statat(directory, &name, AtFlags::SYMLINK_NOFOLLOW).expect("an entry's status");
            let kind = match FileType::from_raw_mode(found.st_mode) {
                FileType::RegularFile => 1,
                FileType::Directory => 2,
                FileType::Symlink => 5,
                _ => 7,
            };
            let mut entry = Attributes {
                common: attributes::COMMON,
                file: if kind == 2 { 0 } else { attributes::FILE },
                error: 0,
                name: name.to_bytes().to_vec(),
                kind,
                links: u32::try_from(found.st_nlink).expect("few"),
                meta: crate::collect::unix::meta(&found),
            };
            (self.entry)(name.to_bytes(), &mut entry);
            entries.push(entry.pack());
        }
        entries.sort();
        entries
    }
}

impl Attributes {
    fn pack(&self) -> Vec<u8> {
        let has = |attribute| self.common & attribute != 0;
        let mut out = vec![0; 4];
        for group in [self.common, 0, 0, self.file, 0] {
            out.extend(group.to_ne_bytes());
        }
        if has(attributes::ERROR) {
            out.extend(self.error.to_ne_bytes());
        }
        let reference = out.len();
        out.extend([0; 8]);
        if has(attributes::DEVICE) {
            out.extend(u32::try_from(self.meta.device & 0xffff_ffff).expect("masked").to_ne_bytes());
        }
        if has(attributes::KIND) {
            out.extend(self.kind.to_ne_bytes());
        }
        for (attribute, time) in [(attributes::MTIME, self.meta.mtime), (attributes::CTIME, self.meta.ctime)]
        {
            if has(attribute) {
                out.extend(time.div_euclid(1_000_000_000).to_ne_bytes());
                out.extend(time.rem_euclid(1_000_000_000).to_ne_bytes());
            }
        }
        if has(attributes::FILE_ID) {
            out.extend(self.meta.inode.to_ne_bytes());
        }
        if self.file & attributes::LINKS != 0 {
            out.extend(self.links.to_ne_bytes());
        }
        if self.file & attributes::SIZE != 0 {
            out.extend(self.meta.size.to_ne_bytes());
        }
        let offset = u32::try_from(out.len() - reference).expect("short");
        out[reference..reference + 4].copy_from_slice(&offset.to_ne_bytes());
        let length = u32::try_from(self.name.len() + 1).expect("short");
        out[reference + 4..reference + 8].copy_from_slice(&length.to_ne_bytes());
        out.extend(&self.name);
        out.push(0);
        out.resize(out.len().next_multiple_of(8), 0);
        let length = u32::try_from(out.len()).expect("short");
        out[..4].copy_from_slice(&length.to_ne_bytes());
        out
    }
}

/// Costs at which every directory is listed, however large.
const LIST: Costs =
    Costs { stat: 1_000_000, step: 0, open: 0, listing: Some(ListingCosts { buffer: 0, entry: 1 }) };

/// What a listing says of names, and what it cost.
fn listed(kernel: &Fake, directory: &Path, names: &[&str], costs: &Costs) -> (Vec<Stat>, IoCounts) {
    let mut table = FileTable::default();
    let ids: Vec<_> = names.iter().map(|name| table.intern(name.as_bytes())).collect();
    let plan = Plan::with_costs(&table, ids, costs);
    assert_eq!(plan.n_visits(), 1);
    assert_eq!(plan.visit(0).how(), How::List);
    let open = File::open(directory).expect("a directory");
    let mut stats = vec![Stat::Unknown; names.len()];
    let mut counts = IoCounts::default();
    assert_eq!(answer(kernel, open.as_fd(), plan.visit(0), &mut stats, &mut counts), kernel.is_authority);
    (stats, counts)
}

/// What stat(2) says of them.
fn alone(directory: &Path, names: &[&str]) -> Vec<Stat> {
    let open = File::open(directory).expect("a directory");
    names.iter().map(|name| crate::collect::unix::stat_of(statat(&open, *name, AtFlags::empty()))).collect()
}

/// How many names were asked for alone, after what was said was compared with what stat(2) says.
#[track_caller]
fn asked_alone(kernel: &Fake, directory: &Path, names: &[&str]) -> u64 {
    let (found, counts) = listed(kernel, directory, names, &LIST);
    assert_eq!(found, alone(directory, names));
    counts.stats
}

fn files(names: &[&str]) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (size, name) in names.iter().enumerate() {
        fs::write(directory.path().join(name), vec![0; size]).expect("a file");
    }
    directory
}

#[test]
fn files_and_what_is_missing_come_from_the_listing_alone() {
    let directory = files(&["a.c", "b c.h", "$#;", "x"]);
    let kernel = Fake::default();
    let names = ["x", "a.c", "missing", "b c.h", "A.C", "$#;"];
    let (found, counts) = listed(&kernel, directory.path(), &names, &LIST);
    assert_eq!(found, alone(directory.path(), &names));
    let expected = IoCounts { listings: 1, buffers: 2, entries: 4, ..IoCounts::default() };
    assert_eq!(counts, expected, "one call for all, and one that learns that there is no more");
}

#[test]
fn what_may_be_older_than_the_files_is_not_listed() {
    let directory = files(&["a"]);
    let kernel = Fake { is_authority: false, ..Fake::default() };
    let (found, counts) = listed(&kernel, directory.path(), &["a", "b"], &LIST);
    assert_eq!((found, counts), (vec![Stat::Unknown; 2], IoCounts::default()));
    assert_eq!(kernel.calls.get(), 0);
}

#[test]
fn the_listing_ends_where_all_names_were_met() {
    let directory = files(&["a", "b"]);
    let (_, counts) = listed(&Fake::default(), directory.path(), &["a", "b"], &LIST);
    assert_eq!((counts.buffers, counts.stats), (1, 0));
}

#[test]
fn what_a_stat_could_say_otherwise_is_asked_for_alone() {
    let directory = files(&["file", "twin"]);
    let path = |name: &str| directory.path().join(name);
    fs::create_dir(path("folder")).expect("a directory");
    symlink("file", path("link")).expect("a link");
    symlink("nowhere", path("dangling")).expect("a link");
    symlink("loop", path("loop")).expect("a link");
    fs::hard_link(path("twin"), path("other")).expect("a hard link");
    let names = ["file", "folder", "link", "dangling", "loop", "twin", "other", "gone"];
    let (found, counts) = listed(&Fake::default(), directory.path(), &names, &LIST);
    assert_eq!(found, alone(directory.path(), &names));
    assert!(matches!(found[4], Stat::Unreadable(_)));
    assert_eq!((counts.stats, counts.listings), (6, 1));
}

#[test]
fn an_entry_with_an_error_or_without_all_that_was_asked_for_is_asked_for_alone() {
    let names =
        ["error", "no-size", "no-time", "no-kind", "no-links", "no-device", "far", "no-inode", "good"];
    let directory = files(&names);
    let kernel = Fake {
        entry: |name, entry| match name {
            b"error" => {
                entry.common = attributes::RETURNED | attributes::ERROR | attributes::NAME;
                (entry.file, entry.error) = (0, 13);
            }
            b"no-size" => entry.file &= !attributes::SIZE,
            b"no-links" => entry.file &= !attributes::LINKS,
            b"no-time" => entry.common &= !attributes::MTIME,
            b"no-kind" => entry.common &= !attributes::KIND,
            b"no-device" => entry.common &= !attributes::DEVICE,
            b"no-inode" => entry.common &= !attributes::FILE_ID,
            // On another file system than its directory.
            b"far" => entry.meta.device += 1,
            _ => {}
        },
        ..Fake::default()
    };
    assert_eq!(asked_alone(&kernel, directory.path(), &names), 8);
}

#[test]
fn many_entries_come_with_several_calls() {
    let names: Vec<String> = (0..2_000).map(|n| format!("file-{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let directory = files(&names[..1_000]);
    let (found, counts) = listed(&Fake::default(), directory.path(), &names, &LIST);
    assert_eq!(found, alone(directory.path(), &names));
    assert_eq!((counts.entries, counts.stats, counts.listings), (1_000, 0, 1));
    assert_eq!(counts.buffers, 3, "two buffers of 64 KiB, and the end");
}

#[test]
fn a_call_that_is_interrupted_is_made_again() {
    let directory = files(&["a"]);
    let happens = |call| if call < 3 { Err(Errno::INTR) } else { Ok(()) };
    assert_eq!(asked_alone(&Fake { happens, ..Fake::default() }, directory.path(), &["a", "b"]), 0);
}

#[test]
fn where_the_system_refuses_to_go_on_the_rest_is_asked_for_alone() {
    let directory = files(&["a", "b", "c", "d"]);
    let names = ["a", "b", "c", "d", "e"];
    let refused = |call| if call > 1 { Err(Errno::RANGE) } else { Ok(()) };
    let kernel = Fake { happens: refused, capacity: 300, ..Fake::default() };
    let n_alone = asked_alone(&kernel, directory.path(), &names);
    assert!((2..5).contains(&n_alone), "{n_alone}");
    // A file system that lists nothing at all.
    let kernel = Fake { happens: |_| Err(Errno::NOTSUP), ..Fake::default() };
    assert_eq!(asked_alone(&kernel, directory.path(), &names), 5);
    // An entry that fits into no buffer.
    let kernel = Fake { capacity: 10, ..Fake::default() };
    assert_eq!(asked_alone(&kernel, directory.path(), &names), 5);
}

#[test]
fn a_damaged_buffer_says_nothing_of_what_is_not_in_it() {
    let directory = files(&["a", "b", "c", "d"]);
    let kernel = Fake { entry: |_, entry| entry.file |= 2, ..Fake::default() };
    assert_eq!(asked_alone(&kernel, directory.path(), &["a", "b", "e"]), 3);
}

#[test]
fn case_does_not_matter_on_a_volume_that_ignores_it() {
    let directory = files(&["Read.Me", "b"]);
    let kernel = Fake { has_case: Some(false), ..Fake::default() };
    let (found, counts) = listed(&kernel, directory.path(), &["read.me", "B", "c"], &LIST);
    let expected = alone(directory.path(), &["Read.Me", "b", "c"]);
    assert_eq!((found, counts.stats), (expected, 0));
    assert_eq!(asked_alone(&Fake::default(), directory.path(), &["read.me", "B"]), 0);
}

#[test]
fn a_volume_that_does_not_say_whether_case_matters_is_asked_for_names_in_another_case() {
    let directory = files(&["Read.Me", "b"]);
    let kernel = Fake { has_case: None, ..Fake::default() };
    let wanted = ["read.me", "B", "b", "c"];
    let (found, counts) = listed(&kernel, directory.path(), &wanted, &LIST);
    assert_eq!((found, counts.stats), (alone(directory.path(), &wanted), 2));
}

/// One name in two spellings is one file on macOS, which a listing does not show.
#[test]
fn names_beyond_ascii_are_missing_only_if_the_system_says_so() {
    let directory = files(&["e\u{301}", "x"]);
    for has_case in [Some(true), Some(false)] {
        let kernel = || Fake { has_case, ..Fake::default() };
        assert_eq!(asked_alone(&kernel(), directory.path(), &["é", "x"]), 1);
        assert_eq!(asked_alone(&kernel(), directory.path(), &["e\u{301}"]), 0, "as it is listed");
        // What has an entry beyond ASCII may be found by other names, too.
        assert_eq!(asked_alone(&kernel(), directory.path(), &["k", "x"]), 1);
    }
}

#[test]
fn a_directory_that_changes_while_it_is_listed_is_listed_once_more() {
    thread_local! {
        static PLACE: RefCell<Option<(std::path::PathBuf, usize)>> = const { RefCell::new(None) };
    }
    let names: Vec<String> = (0..20).map(|n| format!("{n}")).collect();
    let wanted: Vec<&str> = names.iter().map(String::as_str).chain(["new", "newer"]).collect();
    // After the first call only, or after each one.
    for (n_changes, n_listings, n_alone) in [(1, 2, 0), (usize::MAX, 2, 22)] {
        let directory = files(&wanted[..20]);
        PLACE.set(Some((directory.path().to_owned(), n_changes)));
        let happens = |call: usize| {
            PLACE.with_borrow_mut(|place| {
                let (directory, left) = place.as_mut().expect("it is set");
                if call > 1 && *left > 0 {
                    *left -= 1;
                    let time =
                        std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(call as u64);
                    fs::write(directory.join("new"), "").expect("a file");
                    let open = File::open(directory).expect("a directory");
                    open.set_times(fs::FileTimes::new().set_modified(time)).expect("a time");
                }
            });
            Ok(())
        };
        let kernel = Fake { happens, capacity: 1_000, ..Fake::default() };
        let (found, counts) = listed(&kernel, directory.path(), &wanted, &LIST);
        assert_eq!(found, alone(directory.path(), &wanted), "{n_changes}");
        assert_eq!((counts.listings, counts.stats), (n_listings, n_alone), "{n_changes}");
    }
}

#[test]
fn what_is_not_met_within_the_budget_is_asked_for_alone() {
    let names: Vec<String> = (0..3_000).map(|n| format!("{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let directory = files(&names);
    // Three names cost as much as 60 entries.
    let costs = Costs { stat: 20, step: 0, open: 0, listing: Some(ListingCosts { buffer: 0, entry: 1 }) };
    let wanted = ["0", "1500", "2999"];
    let (found, counts) = listed(&Fake::default(), directory.path(), &wanted, &costs);
    assert_eq!(found, alone(directory.path(), &wanted));
    assert!(counts.entries < 100 && counts.buffers == 1, "{counts:?}");
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![5 => "[abAB]{1,2}", 1 => "[aé]{1,2}", 1 => "[ $#;'\"\\\\]{1,3}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Files, directories, links and twins, listed in buffers of any size.
    #[test]
    fn any_directory_looks_as_stat_says(
        entries in prop::collection::btree_map(name(), (0..5, name()), 0..12),
        wanted in prop::collection::btree_set(name(), 1..12),
        capacity in 200_usize..2_000,
    ) {
        let directory = TempDir::new().expect("a directory");
        let path = |name: &str| directory.path().join(name);
        for (name, (kind, other)) in &entries {
            // What is there already stays as it is.
            let _ = match kind {
                0 => symlink(other, path(name)),
                1 => fs::create_dir(path(name)),
                2 => fs::hard_link(path(other), path(name)),
                _ => fs::write(path(name), other),
            };
        }
        let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
        let kernel = Fake { capacity, ..Fake::default() };
        let (found, counts) = listed(&kernel, directory.path(), &wanted, &LIST);
        prop_assert_eq!(found, alone(directory.path(), &wanted));
        prop_assert!(counts.listings <= 2);
    }
}

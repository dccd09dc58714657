//! Whether everything could be watched: the kernel's limits, and how much there is.
//!
//! Linux: inotify(7) needs one watch per directory, and `upcheck watch` one more for each file of the build. The limits are one user's, whatever else watches: those of the
//! machine, and those of the user namespace, of which the smaller ones hold.

use super::finding::Finding;
use crate::text::plural;
use std::fs;
use std::path::Path;
use upcheck_words::count;

/// The limits; `None` where the kernel does not say.
pub(super) struct Limits {
    watches: Option<u64>,
    instances: Option<u64>,
    queue: Option<u64>,
}

/// How many directories there are to watch.
pub(super) struct Directories {
    below: u64,
    /// Whether counting stopped there.
    is_more: bool,
    of_build: Option<OfBuild>,
}

/// What of all that the build is about.
#[derive(Clone, Copy)]
pub(super) struct OfBuild {
    /// Those that its files lie in.
    pub(super) directories: u64,
    pub(super) files: u64,
}

/// Counting stops where so many were found: no limit is larger.
const MOST: u64 = 1 << 20;

/// Asks the kernel.
pub(super) fn limits() -> Limits {
    let machine = |name: &str| number(&format!("/proc/sys/fs/inotify/{name}"));
    let namespace = |name: &str| number(&format!("/proc/sys/user/{name}"));
    Limits {
        watches: smaller(machine("max_user_watches"), namespace("max_inotify_watches")),
        instances: smaller(machine("max_user_instances"), namespace("max_inotify_instances")),
        queue: machine("max_queued_events"),
    }
}

/// Counts directories, without following links.
pub(super) fn directories(directory: &Path, of_build: Option<OfBuild>) -> Directories {
    let mut below = 0;
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        below += 1;
        if below >= MOST {
            break;
        }
        // What cannot be listed cannot be watched either.
        let Ok(entries) = fs::read_dir(&next) else { continue };
        let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        left.extend(entries.flatten().filter(is_directory).map(|entry| entry.path()));
    }
    Directories { below, is_more: !left.is_empty(), of_build }
}

impl Limits {
    /// The limits and the directories, or that they do not go together.
    pub(super) fn finding(&self, directories: &Directories, is_shared: bool) -> Finding {
        let Directories { below, is_more, of_build } = *directories;
        let more = if is_more { " or more" } else { "" };
        let there = match of_build {
            Some(OfBuild { directories, files }) => {
                let files = plural(size(files), "file");
                let directories = count(size(directories));
                format!("{}{more} below, {files} of the build in {directories}", many(below))
            }
            None => format!("{}{more} below", many(below)),
        };
        let needed = below.max(of_build.map_or(0, |build| build.directories));
        let by_daemon = of_build.map(|build| build.directories + build.files);
        let fits = |needed| self.watches.map(|most| needed <= most);
        let finding = match self.watches {
            None => Finding::info("watches", format!("{there}; no limits known on this platform")),
            Some(most) if needed > most => Finding::warning(
                "watch-limit",
                format!("{there}, but no more than {} watches", count(size(most))),
            )
            .advise(format!(
                "sysctl fs.inotify.max_user_watches={}",
                needed.saturating_mul(2).next_power_of_two()
            )),
            Some(most) => {
                let shared = if is_shared { ", which miss what other machines change" } else { "" };
                let too_few = match by_daemon {
                    Some(by_daemon) if by_daemon > most => {
                        ", which is too few for upcheck watch to have one for each file"
                    }
                    _ => "",
                };
                let allowed = count(size(most));
                Finding::info("watches", format!("{there}; {allowed} watches allowed{shared}{too_few}"))
            }
        };
        finding
            .with("max_user_watches", self.watches)
            .with("max_user_instances", self.instances)
            .with("max_queued_events", self.queue)
            .with("directories_below", below)
            .with("directories_of_build", of_build.map(|build| build.directories))
            .with("files_of_build", of_build.map(|build| build.files))
            .with("fits", fits(needed))
            .with("fits_daemon", by_daemon.and_then(fits))
    }
}

fn many(directories: u64) -> String {
    match directories {
        1 => "1 directory".into(),
        n => format!("{} directories", count(size(n))),
    }
}

fn number(path: &str) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

fn smaller(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directories_fit_up_to_the_limit() {
        let limits = Limits { watches: Some(100), instances: Some(1), queue: None };
        let of = |below, of_build: Option<u64>| {
            let of_build = of_build.map(|directories| OfBuild { directories, files: 7 });
            limits.finding(&Directories { below, is_more: false, of_build }, false)
        };
        assert_eq!(of(100, None).code, "watches");
        assert_eq!(of(101, None).code, "watch-limit");
        assert_eq!(of(1, Some(101)).code, "watch-limit");
        assert_eq!(of(101, None).advice.as_deref(), Some("sysctl fs.inotify.max_user_watches=256"));
        assert!(of(1, Some(2)).message.starts_with("1 directory below, 7 files of the build in 2; "));
        assert!(of(2, None).message.starts_with("2 directories below; "));
    }

    #[test]
    fn the_daemon_has_a_watch_for_each_file_as_well() {
        let limits = Limits { watches: Some(100), instances: Some(1), queue: None };
        let of = |files| {
            let of_build = Some(OfBuild { directories: 10, files });
            limits.finding(&Directories { below: 10, is_more: false, of_build }, false)
        };
        let (fits, too_many) = (of(90), of(91));
        assert_eq!(
            (&fits.evidence["fits_daemon"], &too_many.evidence["fits_daemon"]),
            (&true.into(), &false.into())
        );
        assert!(fits.message.ends_with("; 100 watches allowed"), "{}", fits.message);
        assert!(too_many.message.contains("too few for upcheck watch"), "{}", too_many.message);
        assert_eq!((too_many.code, &too_many.evidence["fits"]), ("watches", &true.into()));
    }

    #[test]
    fn without_limits_nothing_is_said_about_fitting() {
        let limits = Limits { watches: None, instances: None, queue: None };
        let finding = limits.finding(&Directories { below: 1, is_more: false, of_build: None }, false);
        assert_eq!((finding.code, finding.evidence["fits"].is_null()), ("watches", true));
        assert_eq!(smaller(Some(3), None), Some(3));
        assert_eq!(smaller(Some(3), Some(2)), Some(2));
    }
}

//! What ninja would say after a repair, found out before it: everything is read anew, from the planned logs, and judged by
//! the planned times.

use super::entries::Entries;
use super::proof::Proofs;
use super::times::Times;
use super::{NewFile, builddir, first_outputs};
use crate::build::{Build, Options};
use crate::error::Error;
use crate::source::SourceKind;
use std::collections::BTreeSet;
use std::io;
use std::time::SystemTime;
use upcheck::collect::{Confirm, Disk, OneName, OpenFile};
use upcheck::collect::{Kind, Listing};
use upcheck::{Fields, IoCounts, Meta, Mtime, Snapshot, Stat, TargetId, Verdict, Visit};

/// What the simulation came to.
pub(super) struct Simulated {
    /// How many targets ninja would run, if nobody names any.
    pub(super) n_stale: usize,
}

/// At most so many are named.
const MOST_NAMES: usize = 5;

/// Judges the build as ninja will once the plan was carried out.
///
/// # Errors
/// When a target would be fresh that is not proved to be, or when something was changed since it was proved.
pub(super) fn simulate(
    disk: &dyn Disk,
    build: &Build,
    seen: &Snapshot,
    proofs: &Proofs,
    times: &Times,
    entries: &Entries,
) -> Result<Simulated, Error> {
    let planned = Planned { disk, files: [entries.log.as_ref(), entries.deps_log.as_ref()] };
    let (after, mut snapshot) = read(&planned, build)?;
    is_unchanged(build, seen, &after, &snapshot)?;
    for file in after.graph.files.ids() {
        let known = build.graph.files.lookup(after.graph.files.path(file));
        if let (Some(known), Stat::Present(meta)) = (known, snapshot.stat(file))
            && let Some(mtime) = times.of_file(known)
        {
            snapshot.set_stat(file, Stat::Present(Meta { mtime, ..meta }));
        }
    }
    let all = first_outputs(&after);
    let decision = after.decide(&snapshot, &all)?;
    let mut hidden = Vec::new();
    for &target in decision.judged() {
        if after.graph.flags(target).phony {
            continue;
        }
        let then =
            build.graph.files.lookup(after.graph.name(target)).and_then(|file| build.graph.producer(file));
        let is_proven = then.is_some_and(|then| proofs.is_proven.contains(&then));
        let verdict = decision.verdict(target);
        let wrongly_fresh = !is_proven && verdict == Verdict::Fresh && can_be_stale(&after, target);
        // What a proved target discovered is what a later check has to go by.
        let forgets = then
            .filter(|_| is_proven && verdict == Verdict::Fresh)
            .is_some_and(|then| paths(build, then) != paths(&after, target));
        if wrongly_fresh || forgets {
            hidden.push(String::from_utf8_lossy(after.graph.name(target)).into_owned());
        }
    }
    if !hidden.is_empty() {
        let (n, more) = (hidden.len(), if hidden.len() > MOST_NAMES { ", ..." } else { "" });
        hidden.truncate(MOST_NAMES);
        return Err(Error::Refused(format!(
            "nothing was repaired: {n} would look fresh without a proof: {}{more}",
            hidden.join(", ")
        )));
    }
    Ok(Simulated { n_stale: n_stale(&after, &snapshot)? })
}

/// How many targets ninja would run now, if nobody names any.
pub(super) fn before(disk: &dyn Disk, build: &Build) -> Result<usize, Error> {
    let (build, snapshot) = read(disk, build)?;
    n_stale(&build, &snapshot)
}

/// Reads everything once more, by the same rules.
fn read(disk: &dyn Disk, known: &Build) -> Result<(Build, Snapshot), Error> {
    let options = Options { version: Some(known.version), ..known.options.clone() };
    let mut build = Build::load(disk, &options)?;
    let all = first_outputs(&build);
    build.describe(disk, &all)?;
    let snapshot = build.collect(disk);
    Ok((build, snapshot))
}

fn n_stale(build: &Build, snapshot: &Snapshot) -> Result<usize, Error> {
    // Where every output is used by another target, ninja has nothing to begin with either.
    let Ok(requests) = build.default_requests() else { return Ok(0) };
    let decision = build.decide(snapshot, &requests)?;
    let judged = decision.judged().iter();
    Ok(judged
        .filter(|&&target| !build.graph.flags(target).phony && decision.verdict(target) != Verdict::Fresh)
        .count())
}

/// Ninja runs a generator by times alone: one that has no input it never runs while its outputs are there.
fn can_be_stale(build: &Build, target: TargetId) -> bool {
    !build.graph.flags(target).generator || !build.graph.dirtying_inputs(target).is_empty()
}

fn paths(build: &Build, target: TargetId) -> BTreeSet<&[u8]> {
    let inputs = build.history.discovered_inputs(target).iter();
    inputs.map(|&file| build.graph.files.path(file)).collect()
}

/// Whether manifests say what they said, and all files look as they did.
fn is_unchanged(build: &Build, seen: &Snapshot, after: &Build, snapshot: &Snapshot) -> Result<(), Error> {
    let manifests = |build: &Build| -> Vec<(Vec<u8>, u64)> {
        let sources = build.sources.iter().filter(|source| source.kind == SourceKind::Manifest);
        sources.map(|source| (source.path.clone(), source.digest)).collect()
    };
    if manifests(build) != manifests(after) || builddir(build) != builddir(after) {
        return Err(changed(b"the manifest"));
    }
    for file in after.graph.files.ids() {
        let path = after.graph.files.path(file);
        let Some(known) = build.graph.files.lookup(path) else { continue };
        let (then, now) = (seen.stat(known), snapshot.stat(file));
        if then != Stat::Unknown && now != Stat::Unknown && then != now {
            return Err(changed(path));
        }
    }
    Ok(())
}

/// Nobody can prove anything of what is being changed.
pub(super) fn changed(path: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(path);
    Error::Refused(format!("{shown} was changed while it was looked at; nothing was repaired"))
}

/// The disk, with planned files in the place of those that are there.
struct Planned<'a> {
    disk: &'a dyn Disk,
    files: [Option<&'a NewFile>; 2],
}

impl Disk for Planned<'_> {
    fn begin(&self) {
        self.disk.begin();
    }

    fn visit(&self, visit: Visit<'_>, stats: &mut [Stat], counts: &mut IoCounts) -> bool {
        self.disk.visit(visit, stats, counts)
    }

    fn read_stamped(&self, path: &[u8]) -> io::Result<(Vec<u8>, Meta)> {
        match self.files.iter().flatten().find(|file| file.path == path) {
            Some(file) => Ok((file.after.clone(), Meta::default())),
            None => self.disk.read_stamped(path),
        }
    }

    fn scan(&self, path: &[u8], sink: &mut dyn FnMut(&[u8])) -> io::Result<Meta> {
        self.disk.scan(path, sink)
    }

    fn open<'a>(&'a self, path: &[u8]) -> io::Result<Box<dyn OpenFile + 'a>> {
        self.disk.open(path)
    }

    fn list(&self, path: &[u8], listing: &mut Listing) -> io::Result<()> {
        self.disk.list(path, listing)
    }

    fn kind(&self, path: &[u8]) -> io::Result<Kind> {
        self.disk.kind(path)
    }

    fn stat(&self, path: &[u8]) -> Stat {
        self.disk.stat(path)
    }

    fn stamp_now(&self) -> Option<(Mtime, u64)> {
        self.disk.stamp_now()
    }

    fn fields(&self) -> Fields {
        self.disk.fields()
    }

    fn confirm(&self) -> Confirm {
        self.disk.confirm()
    }

    fn one_name(&self) -> Option<&OneName> {
        self.disk.one_name()
    }

    fn now(&self) -> SystemTime {
        self.disk.now()
    }
}

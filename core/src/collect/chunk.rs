//! A chunk of the plan: some whole visits in a row, made by one thread, which remembers what was missing.
//!
//! Where a directory is missing, nothing beneath it is asked about. Chunks share no such knowledge: what one thread
//! knows at what time depends on luck, and the same question should cost the same calls every time. So a chunk does
//! not end beneath a directory that it opens, unless it would become far too large; and where it does, the first
//! directory of a chunk that is missing makes the chunk look upwards, once, for how much is: by the order of
//! the plan, any directory of an earlier chunk that lies above a later visit lies above that one too. So a missing
//! tree costs a few calls per chunk, and a tree that is there none.

use super::Disk;
use crate::path;
use crate::plan::{How, Plan, Single, Visit};
use crate::snapshot::{IoCounts, Stat};
use std::ops::Range;
use std::time::Duration;

/// Makes the visits of a chunk, and puts what is known into `stats`. `watch` is called after each visit, and with the
/// time that an answer takes where the disk says that it comes from far away: then it says how many threads the visit may
/// have beside this one.
pub(super) fn visit_all(
    disk: &dyn Disk,
    plan: &Plan,
    visits: Range<usize>,
    mut stats: &mut [Stat],
    counts: &mut IoCounts,
    watch: &mut dyn FnMut(Option<Duration>) -> usize,
) {
    let before = visits.start.checked_sub(1).map(|at| plan.visit(at).directory());
    let mut missing: Option<&[u8]> = None;
    let mut looked_up = false;
    for visit in visits.map(|at| plan.visit(at)) {
        let (found, after) = std::mem::take(&mut stats).split_at_mut(visit.len());
        stats = after;
        if missing.is_some_and(|gone| may_skip(visit, gone)) {
            found.fill(Stat::Missing);
            continue;
        }
        counts.directories += 1;
        let is_there = disk.visit_and_tell(visit, found, counts, &mut |took| watch(Some(took)));
        watch(None);
        if !is_there {
            let directory = visit.directory();
            let earlier = before.filter(|_| !looked_up);
            missing = Some(earlier.map_or(directory, |earlier| highest(disk, directory, earlier, counts)));
        }
        // A visit by path tells nothing of the directory.
        looked_up |= visit.how().opens();
    }
}

/// The highest directory above a missing one that is missing too, among those that `earlier` lies in as well: those
/// of an earlier chunk may have been visited there.
fn highest<'a>(disk: &dyn Disk, missing: &'a [u8], earlier: &[u8], counts: &mut IoCounts) -> &'a [u8] {
    let mut highest = missing;
    let mut above = path::split(missing).0;
    // A root ends in a slash: `/`, and on Windows `C:/`.
    while !above.is_empty() && !above.ends_with(b"/") {
        if above == earlier || is_beneath(earlier, above) {
            if disk.visit(Single::directory(above).visit(), &mut [], counts) {
                break;
            }
            highest = above;
        }
        above = path::split(above).0;
    }
    highest
}

/// Whether nothing in a visit needs to be asked about once `gone` is known to be missing.
fn may_skip(visit: Visit<'_>, gone: &[u8]) -> bool {
    is_beneath(visit.directory(), gone) && visit.how() != How::TooLong
}

pub(super) fn is_beneath(directory: &[u8], parent: &[u8]) -> bool {
    directory.strip_prefix(parent).is_some_and(|rest| rest.first() == Some(&b'/'))
}

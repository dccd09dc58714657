//! Confirming: files that a listing told of are asked themselves, where the listing may be behind and it matters.
//!
//! On NTFS a directory keeps a copy of the times and sizes of what is in it. The copy is brought up to date when the
//! file is closed, and only in the directory, and under the name, by which it was opened. So an entry may be older
//! than the file: while somebody has it open, and for ever where it has several names and was written to by another
//! one. A listing does not say that a file is open, nor how many names it has. So these are asked themselves:
//!
//! - files that are not known to have one name only, see [`OneName`]: the first time each, and after each change; and
//!   those that have several each time;
//! - files whose time is nearer than [`NEAR`] to now, or ahead of it: who has just written may be writing still;
//! - inputs that look older than what they are compared with, but by less than [`NEAR`]; from then on each time.
//!
//! What remains is a file that somebody has open for longer than that, and writes to: until he closes it, or Windows
//! brings the entry up to date by itself. Whoever builds with such files lets everything be asked: [`Confirm::All`].

mod one_name;

pub use one_name::OneName;

use super::{Disk, crew};
use crate::graph::Graph;
use crate::history::History;
use crate::ids::FileId;
use crate::plan::{How, Plan};
use crate::snapshot::{IoCounts, Mtime, Snapshot, Stat};

/// What is done where a listing may be behind the files that it tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Confirm {
    /// Nothing: this disk's listings are not behind.
    #[default]
    Nothing,
    /// Files are asked themselves where that may make a difference.
    Suspects,
    /// All files are asked themselves, and nothing is listed.
    All,
}

/// Times that are nearer to each other than this are looked at twice. Nanoseconds.
pub(crate) const NEAR: Mtime = 2_000_000_000;

/// Asks for those that are suspect by themselves, of what was found for a plan, once more. Whether that was done, of each
/// place in the plan.
pub(super) fn suspects(
    disk: &dyn Disk,
    plan: &Plan,
    threads: usize,
    now: Mtime,
    found: &mut [Stat],
    counts: &mut IoCounts,
) -> Vec<bool> {
    let mut is_suspect = vec![false; found.len()];
    let known = disk.one_name().map(OneName::lock);
    let mut at = 0;
    for visit in plan.visits() {
        let places = at..at + visit.len();
        at = places.end;
        for place in places.filter(|_| visit.how() == How::List) {
            let Stat::Present(meta) = found[place] else { continue };
            let has_one_name = known.as_ref().is_some_and(|known| known.knows(meta));
            is_suspect[place] = !has_one_name || meta.mtime > now.saturating_sub(NEAR);
        }
    }
    // Who asks a file itself takes in what it says of its names.
    drop(known);
    if is_suspect.contains(&true) {
        let part = plan.part(|place| is_suspect[place]);
        let (again, asked) = crew::collect(disk, &part, threads);
        let places =
            is_suspect.iter().enumerate().filter(|(_, is_suspect)| **is_suspect).map(|(place, _)| place);
        for (place, stat) in places.zip(again) {
            found[place] = stat;
        }
        counts.add(asked);
        counts.confirmed += part.n_files() as u64;
    }
    is_suspect
}

/// Asks once more for the inputs of a graph that a listing told of, if they look older than an output or a record
/// that they are compared with, but by less than [`NEAR`]. While they look like this they are asked each time, also
/// where nobody compares: if nothing looks different since everything was fresh.
pub fn confirm(disk: &dyn Disk, graph: &Graph, history: &History, snapshot: &mut Snapshot, threads: usize) {
    if !snapshot.has_listed() {
        return;
    }
    let mut is_near = vec![false; graph.files.len()];
    let mtime = |file: FileId| match snapshot.stat(file) {
        Stat::Present(meta) => Some(meta.mtime),
        _ => None,
    };
    for target in graph.targets() {
        let outputs = graph.outputs(target).iter();
        let compared: Vec<Mtime> = outputs
            .flat_map(|&output| [mtime(output), history.record(output).map(|record| record.mtime)])
            .flatten()
            .collect();
        if compared.is_empty() {
            continue;
        }
        let inputs = graph.dirtying_inputs(target).iter().chain(history.discovered_inputs(target)).copied();
        for input in inputs {
            let is_close = |time: Mtime| {
                compared.iter().any(|&other| time <= other && other.saturating_sub(time) < NEAR)
            };
            if mtime(input).is_some_and(is_close) {
                is_near[input.index()] = true;
            }
        }
    }
    let near = || graph.files.ids().filter(|file| is_near[file.index()]);
    if let Some(mut known) = disk.one_name().map(OneName::lock) {
        for file in near() {
            if let Stat::Present(meta) = snapshot.stat(file) {
                known.doubt(meta);
            }
        }
    }
    let suspects = near().filter(|&file| snapshot.is_listed(file));
    let plan = Plan::new(&graph.files, suspects).part(|_| true);
    if plan.n_files() > 0 {
        let (found, counts) = crew::collect(disk, &plan, threads);
        let counts = IoCounts { confirmed: plan.n_files() as u64, ..counts };
        snapshot.confirmed(plan.files().zip(found), counts);
    }
}

#[cfg(test)]
mod tests;

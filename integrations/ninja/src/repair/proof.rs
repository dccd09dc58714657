//! Which targets are proved to be what their commands would make of what is there now.

use crate::build::Build;
use crate::contents::{Contents, POLICY, Row, is_of_last_run};
use crate::error::Error;
use crate::version::NinjaVersion;
use std::collections::{BTreeSet, HashMap, HashSet};
use upcheck::collect::Disk;
use upcheck::content::Content;
use upcheck::{
    Discovered, FileId, History, Likeness, Mtime, Reason, Recorded, Rule, Snapshot, Stat, TargetId, Unknown,
    compare, is_racy,
};

/// What was found out about all targets but phony ones.
pub(super) struct Proofs {
    /// Inputs before users.
    pub(super) proven: Vec<TargetId>,
    pub(super) unproven: Vec<Unproven>,
    pub(super) is_proven: HashSet<TargetId>,
}

/// A target of which nobody knows whether it is up to date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unproven {
    /// Its first output.
    pub target: Vec<u8>,
    /// Why.
    pub why: Why,
}

/// Why a target is not proved to be up to date: the first thing that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It is not on record.
    NotRecorded,
    /// Ninja has made it since, by another command or of other inputs than those on record.
    MadeSince,
    /// The depfile that should say what it has read says something else than the record, or is not there.
    Depfile,
    /// Its command is another one.
    Command,
    /// The description names other inputs or outputs.
    Description,
    /// This input, described or discovered, does not hold what it held.
    Input(Vec<u8>),
    /// This output does not hold what was made.
    Output(Vec<u8>),
    /// A time of its files, or of its entry, lies ahead: an edit before that time comes would not be seen.
    Ahead,
}

impl Proofs {
    /// Takes back proofs of targets whose times cannot be believed.
    pub(super) fn doubt(&mut self, build: &Build, is_doubtful: impl Fn(TargetId) -> bool) {
        let (doubtful, proven) = self.proven.iter().partition(|&&target| is_doubtful(target));
        self.proven = proven;
        let doubtful: Vec<TargetId> = doubtful;
        for target in doubtful {
            self.is_proven.remove(&target);
            let name = build.graph.name(target).to_vec();
            self.unproven.push(Unproven { target: name, why: Why::Ahead });
        }
    }
}

impl Build {
    /// From now on targets are judged by their records. Why those are not that have one: a record must be of the last time
    /// that ninja made the target, or of one that came to the same.
    pub(super) fn judge_by_record_for_repair(
        &mut self,
        disk: &dyn Disk,
        contents: &Contents,
    ) -> Result<HashMap<TargetId, Why>, Error> {
        let mut doubts = HashMap::new();
        self.judge_by_content_where(disk, contents, |build, output, target, row| {
            match doubt(build, contents, output, target, row) {
                Some(why) => {
                    doubts.insert(target, why);
                    false
                }
                None => true,
            }
        })?;
        Ok(doubts)
    }
}

/// Why a record does not count, as ninja's logs and depfiles are.
///
/// Whoever made the target since: if contents are all the same, and it has discovered the same, it came to the same. So all
/// that has to be known is whether the record is right about what was discovered.
fn doubt(build: &Build, contents: &Contents, output: FileId, target: TargetId, row: &Row) -> Option<Why> {
    let is_same_list = || {
        let [_, discovered, _] = contents.states_of(row);
        let recorded: BTreeSet<&[u8]> = discovered.map(|state| contents.path(state.path)).collect();
        let inputs = build.history.discovered_inputs(target).iter();
        recorded == inputs.map(|&file| build.graph.files.path(file)).collect()
    };
    // For the record a target that discovered nothing is like one that was not asked.
    let knows_discovered = row.n_discovered > 0;
    match build.history.discovered(target) {
        // The deps log can be written.
        Discovered::Unknown(Unknown::NotRecorded) if knows_discovered => {
            (!is_of_last_run_or_lost(build, output, target, row)).then_some(Why::MadeSince)
        }
        Discovered::Unknown(Unknown::NotRecorded) => Some(Why::MadeSince),
        Discovered::Inputs { recorded: Some(_) } if is_same_list() => None,
        Discovered::Inputs { recorded: Some(_) } => {
            // Where there is no entry, the deps log may be of a later run than the record.
            let is_record_right = knows_discovered && build.log_entry(output) == Some(row.log);
            (!is_record_right).then_some(Why::MadeSince)
        }
        // A depfile cannot.
        Discovered::Unknown(_) => Some(Why::Depfile),
        _ => (!is_same_list()).then_some(Why::Depfile),
    }
}

/// Whether ninja has not made a target since it was recorded, as far as its log tells. One that lost its end has an older
/// entry, or none. Up to ninja 1.11 the entry of a target with `restat` may be older than its run.
fn is_of_last_run_or_lost(build: &Build, output: FileId, target: TargetId, row: &Row) -> bool {
    let entry = build.log_entry(output);
    let is_in_order = build.version > NinjaVersion::V1_11 || !build.may_keep_outputs(target);
    is_of_last_run(row, entry) || entry.is_some_and(|entry| is_in_order && entry.mtime < row.log.mtime)
}

/// Compares every target with its record, in this order. `moment`: when contents began to be looked at.
pub(super) fn prove(
    build: &Build,
    ninjas: &History,
    (snapshot, moment): (&Snapshot, Mtime),
    order: &[TargetId],
    mut doubts: HashMap<TargetId, Why>,
) -> Proofs {
    let mut proofs = Proofs { proven: Vec::new(), unproven: Vec::new(), is_proven: HashSet::new() };
    for &target in order {
        if build.graph.flags(target).phony {
            continue;
        }
        let why = match doubts.remove(&target) {
            Some(why) => Some(why),
            None => why_not(build, ninjas, (snapshot, moment), target),
        };
        match why {
            None => {
                proofs.is_proven.insert(target);
                proofs.proven.push(target);
            }
            Some(why) => {
                let target = build.graph.name(target).to_vec();
                proofs.unproven.push(Unproven { target, why });
            }
        }
    }
    proofs
}

fn why_not(
    build: &Build,
    ninjas: &History,
    (snapshot, moment): (&Snapshot, Mtime),
    target: TargetId,
) -> Option<Why> {
    let success = match build.history.rule(target) {
        Rule::Recorded(_) => build.history.success(target),
        _ => None,
    };
    let Some(success) = success else { return Some(Why::NotRecorded) };
    match success.differences.first() {
        None => {}
        Some(Reason::CommandChanged { .. }) => return Some(Why::Command),
        Some(_) => return Some(Why::Description),
    }
    let is_same = |recorded: &&Recorded| {
        let (stat, content) = (snapshot.stat(recorded.file), snapshot.content(recorded.file));
        // What was read may have been changed since without another stamp.
        let was_read = content != Content::Unknown;
        if matches!(stat, Stat::Present(meta) if was_read && is_racy(meta, moment)) {
            return false;
        }
        compare(POLICY, &recorded.state, stat, content) == Likeness::Same
    };
    let path = |recorded: &Recorded| build.graph.files.path(recorded.file).to_vec();
    if let Some(changed) = success.inputs.iter().find(|recorded| !is_same(recorded)) {
        return Some(Why::Input(path(changed)));
    }
    if let Some(changed) = success.outputs.iter().find(|recorded| !is_same(recorded)) {
        return Some(Why::Output(path(changed)));
    }
    let is_there = |file: &FileId| matches!(snapshot.stat(*file), Stat::Present(_));
    if let Some(missing) = build.all_outputs(target).into_iter().find(|output| !is_there(output)) {
        return Some(Why::Output(build.graph.files.path(missing).to_vec()));
    }
    // A missing input that ninja knows of is one that it cannot do without.
    let missing = ninjas.discovered_inputs(target).iter().find(|file| !is_there(file));
    missing.map(|&missing| Why::Input(build.graph.files.path(missing).to_vec()))
}

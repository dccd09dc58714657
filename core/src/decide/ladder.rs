//! The ladder: the tests that make a target stale, in the order in which they are made. The same code decides and
//! explains; only where it puts what it finds differs.

use super::*;

impl Decision<'_> {
    /// All reasons why a target is stale or pending; none for a fresh one. Cost: its inputs once.
    #[must_use]
    pub fn reasons(&self, target: TargetId) -> Vec<Reason> {
        if self.verdict(target) == Verdict::Fresh {
            return Vec::new();
        }
        let mut all = AllReasons::default();
        self.judge_deps(target, &mut all);
        let mut newest = None;
        let is_given = matches!(self.history.rule(target), Rule::Given { .. });
        for input in self.dirtying_inputs(target).filter(|_| !is_given) {
            if self.is_dirty(input) {
                all.push_once(self.why_dirty(input));
            } else {
                self.keep_newest(&mut newest, input);
            }
        }
        self.judge_outputs(target, newest, &mut all);
        if let Some(reason) = self.dyndep_reason(target) {
            all.push_once(reason);
        }
        // The ladder names the newest input; the others that are newer than the same output are causes too.
        let newer = all.reasons.iter().find_map(|reason| match *reason {
            Reason::InputNewer { output, output_mtime, recorded, .. } => {
                Some((output, output_mtime, recorded))
            }
            _ => None,
        });
        if let Some((output, output_mtime, recorded)) = newer {
            for input in self.dirtying_inputs(target) {
                let input_mtime = self.found.times[input.index()];
                if !self.is_dirty(input) && input_mtime > output_mtime {
                    all.push_once(Reason::InputNewer { input, input_mtime, output, output_mtime, recorded });
                }
            }
        }
        all.reasons
    }

    /// Why the discovered inputs of a target are not believed.
    pub(super) fn judge_deps(&self, target: TargetId, sink: &mut impl Sink) {
        let Some(&output) = self.graph.outputs(target).first() else { return };
        match self.history.discovered(target) {
            Discovered::Unknown(why) => {
                sink.push(|| Reason::DepsUnknown { output, why: why.clone() });
            }
            Discovered::Inputs { recorded: Some(recorded), .. } => {
                let (output_mtime, recorded_mtime) = (self.own_time(output), recorded);
                if output_mtime > recorded_mtime {
                    sink.push(|| Reason::DepsOutdated { output, output_mtime, recorded_mtime });
                }
            }
            _ => {}
        }
    }

    /// Why the outputs of a target are out of date, given the newest of its inputs that are fresh.
    pub(super) fn judge_outputs(&self, target: TargetId, newest: Option<FileId>, sink: &mut impl Sink) {
        let flags = self.graph.flags(target);
        let rule = self.history.rule(target);
        if let Rule::Given { .. } = rule {
            let differences = self.history.success(target).map_or(&[][..], |success| success.differences);
            return differences.iter().for_each(|difference| sink.push(|| difference.clone()));
        }
        if let (Rule::Recorded(policy), false) = (rule, flags.phony) {
            self.judge_by_record(target, policy, sink);
            return;
        }
        if flags.phony {
            self.judge_phony_outputs(target, sink);
            return;
        }
        let newest = newest.map(|input| (input, self.found.times[input.index()]));
        let restat = self.has_restat(target);
        for output in self.outputs(target) {
            if sink.is_full() {
                return;
            }
            match self.snapshot.stat(output) {
                Stat::Missing | Stat::Unknown if flags.name_only => continue,
                Stat::Missing | Stat::Unknown => {
                    sink.push(|| Reason::OutputMissing { output });
                    continue;
                }
                Stat::Unreadable(errno) => {
                    sink.push(|| Reason::Unreadable { path: output, errno });
                    continue;
                }
                Stat::Present(_) => {}
            }
            let record = self.history.record(output);
            let own = (!restat || record.is_none()).then(|| self.own_time(output));
            let on_record = record.map(|record| record.mtime);
            if let Some((input, input_mtime)) = newest {
                let older = |time: Option<Mtime>| time.filter(|&time| time < input_mtime);
                let compared = older(own).map(|time| (time, false));
                if let Some((output_mtime, recorded)) =
                    compared.or_else(|| older(on_record).map(|time| (time, true)))
                {
                    sink.push(|| Reason::InputNewer { input, input_mtime, output, output_mtime, recorded });
                }
            }
            if flags.generator || rule == Rule::Newer {
                continue;
            }
            match record {
                None => sink.push(|| Reason::NeverBuilt { output }),
                Some(record) => {
                    let (recorded_hash, hash) = (record.command_hash, self.history.command_hash(target));
                    if recorded_hash != hash {
                        sink.push(|| Reason::CommandChanged { output, recorded_hash, hash });
                    }
                }
            }
        }
    }

    /// A phony target makes nothing, but a file may have its name, and then its time counts.
    fn judge_phony_outputs(&self, target: TargetId, sink: &mut impl Sink) {
        let has_inputs = self.inputs(target).next().is_some();
        for output in self.outputs(target) {
            match self.snapshot.stat(output) {
                Stat::Unreadable(errno) => sink.push(|| Reason::Unreadable { path: output, errno }),
                Stat::Missing | Stat::Unknown if !has_inputs => {
                    sink.push(|| Reason::PhonyMissing { input: output });
                }
                _ => {}
            }
        }
    }

    /// Why a dirty input is dirty, seen from the target that uses it.
    fn why_dirty(&self, input: FileId) -> Reason {
        if let Some(producer) = self.producer(input) {
            let phony = self.graph.flags(producer).phony;
            let missing = self.found.files[input.index()] & F_MISSING != 0;
            return if phony && missing && self.inputs(producer).next().is_none() {
                Reason::PhonyMissing { input }
            } else {
                Reason::UpstreamStale { input, producer }
            };
        }
        match self.snapshot.stat(input) {
            Stat::Unreadable(errno) => Reason::Unreadable { path: input, errno },
            _ => Reason::InputMissing { input },
        }
    }

    /// Why the dyndep file leaves the verdict open. Only for those who look past it.
    pub(super) fn dyndep_reason(&self, target: TargetId) -> Option<Reason> {
        let dyndep = self.graph.dyndep(target).filter(|_| self.mode == Mode::LookPast)?;
        if let Some(producer) = self.producer(dyndep).filter(|_| self.is_dirty(dyndep)) {
            return Some(Reason::DyndepStale { dyndep, producer });
        }
        let message = self.found.broken_dyndeps.get(&dyndep)?.clone();
        Some(Reason::DyndepBroken { dyndep, message })
    }
}

/// Where the ladder puts what it finds: the same walk decides and explains.
pub(super) trait Sink {
    fn push(&mut self, reason: impl FnOnce() -> Reason);
    fn is_full(&self) -> bool;
}

/// Wants to know only whether there is a reason. Allocates nothing.
pub(super) struct AnyReason(pub(super) bool);

impl Sink for AnyReason {
    fn push(&mut self, _: impl FnOnce() -> Reason) {
        self.0 = true;
    }
    fn is_full(&self) -> bool {
        self.0
    }
}

/// Wants all reasons; of a kind that says the same of every output, the first.
#[derive(Default)]
struct AllReasons {
    reasons: Vec<Reason>,
    seen: HashSet<(&'static str, FileId)>,
}

impl AllReasons {
    /// Adds a reason unless there is one of its kind about the same path: an input can be named twice.
    fn push_once(&mut self, reason: Reason) {
        if self.seen.insert((reason.code(), reason.path())) {
            self.reasons.push(reason);
        }
    }
}

impl Sink for AllReasons {
    fn push(&mut self, reason: impl FnOnce() -> Reason) {
        let reason = reason();
        let once_per_target = matches!(
            reason,
            Reason::NeverBuilt { .. }
                | Reason::CommandChanged { .. }
                | Reason::InputNewer { .. }
                | Reason::PhonyMissing { .. }
        );
        // The values of one target have its output for a path, all of them.
        if matches!(reason, Reason::ValueChanged { .. }) {
            self.reasons.push(reason);
            return;
        }
        if !once_per_target || self.reasons.iter().all(|other| other.code() != reason.code()) {
            self.push_once(reason);
        }
    }
    fn is_full(&self) -> bool {
        false
    }
}

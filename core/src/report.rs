//! The report: the stale targets with their reasons, and the root causes behind them. Iteration only;
//! wording is up to whoever prints.

use crate::decide::Decision;
use crate::graph::Graph;
use crate::ids::{FileId, TargetId, narrow};
use crate::reason::{Reason, Verdict};
use std::collections::HashMap;

/// One target that is not fresh.
#[derive(Clone, Debug)]
pub struct StaleTarget {
    /// The target.
    pub target: TargetId,
    /// Stale or pending.
    pub verdict: Verdict,
    /// Why; at least one.
    pub reasons: Vec<Reason>,
}

/// One file at the root of staleness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootCause {
    /// The first reason met that names it. Its path and its code are what tells causes apart.
    pub reason: Reason,
    /// How many targets are stale or pending because of it, directly or through others. A target with two
    /// causes counts for both.
    pub n_targets: usize,
}

/// All root causes of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CauseKind {
    /// The reason's name.
    pub code: &'static str,
    /// How many files are such a cause.
    pub n_causes: usize,
    /// How many targets are stale or pending because of them; each counts once.
    pub n_targets: usize,
}

/// What a decision amounts to.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Targets with a command that are not fresh: first those with reasons of their own alone, then what follows from
    /// them, step by step; in the order of the description where that leaves a choice.
    pub stale: Vec<StaleTarget>,
    /// The biggest first. At most [`MOST_CAUSES`].
    pub root_causes: Vec<RootCause>,
    /// How many root causes there are in all.
    pub n_root_causes: usize,
    /// The root causes by kind, the biggest first.
    pub kinds: Vec<CauseKind>,
    /// Targets with a command that were judged.
    pub n_targets: usize,
    /// How many of them are stale.
    pub n_stale: usize,
    /// How many of them are pending.
    pub n_pending: usize,
}

/// How many root causes a report names. Those with the most targets of their own are counted in full.
pub const MOST_CAUSES: usize = 4096;

impl Report {
    /// Sums up a decision. A phony target is listed only when it has an obstacle of its own: a missing source,
    /// something unreadable. Targets for which `listed` is false count as fresh, but pass their causes on.
    ///
    /// Cost: the reasons of each stale target, plus one pass over the stale targets for each 64 root causes.
    #[must_use]
    pub fn new(decision: &Decision<'_>, graph: &Graph, listed: impl Fn(TargetId) -> bool) -> Self {
        let mut report = Self::default();
        let mut seen = vec![false; graph.n_targets()];
        // Indexed by target: how many stale targets come before it, one after the other.
        let mut levels = vec![0u32; graph.n_targets()];
        let mut stale: Vec<(u32, StaleTarget, bool)> = Vec::new();
        for &target in decision.judged() {
            if std::mem::replace(&mut seen[target.index()], true) {
                continue;
            }
            let phony = graph.flags(target).phony;
            let verdict = decision.verdict(target);
            if verdict == Verdict::Fresh {
                report.n_targets += usize::from(!phony);
                continue;
            }
            let reasons = decision.reasons(target);
            // What keeps only a phony target from being judged would go unseen otherwise.
            let counts = (!phony || reasons.iter().any(is_obstacle)) && listed(target);
            report.n_targets += usize::from(!phony || counts);
            let of_its_verdict =
                if verdict == Verdict::Pending { &mut report.n_pending } else { &mut report.n_stale };
            *of_its_verdict += usize::from(counts);
            let upstream = reasons.iter().filter_map(Reason::upstream);
            let level = upstream.map(|target| levels[target.index()] + 1).max().unwrap_or(0);
            levels[target.index()] = level;
            stale.push((level, StaleTarget { target, verdict, reasons }, counts));
        }
        // Inputs before users, and in no other way dependent on how the walk came by.
        stale.sort_by_key(|(level, stale, _)| (*level, stale.target));
        let mut causes = Causes::default();
        for (_, stale, counts) in stale {
            causes.add(stale.target, counts, &stale.reasons);
            if counts {
                report.stale.push(stale);
            }
        }
        let leads = causes.leads_to_listed();
        report.n_root_causes = leads.iter().filter(|leads| **leads).count();
        report.kinds = causes.kinds(&leads);
        report.root_causes = causes.biggest();
        report
    }

    /// Whether everything that counts is fresh, like [`Report::is_fresh`] of the report on all targets, for those who
    /// want to know no more. Cost: ends at the first stale target.
    #[must_use]
    pub fn is_all_fresh(decision: &Decision<'_>, graph: &Graph) -> bool {
        decision.judged().iter().all(|&target| {
            let counts = || !graph.flags(target).phony || decision.reasons(target).iter().any(is_obstacle);
            decision.verdict(target) == Verdict::Fresh || !counts()
        })
    }

    /// How many targets are fresh.
    #[must_use]
    pub fn n_fresh(&self) -> usize {
        self.n_targets - self.n_stale - self.n_pending
    }

    /// The verdict on everything that was asked for: stale as soon as one target is not fresh.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.n_stale + self.n_pending == 0
    }
}

/// Whether the reason is something that ninja would refuse to go on with.
fn is_obstacle(reason: &Reason) -> bool {
    matches!(reason, Reason::InputMissing { .. } | Reason::Unreadable { .. } | Reason::DyndepBroken { .. })
}

/// Follows causes through the stale targets. Targets come inputs first.
#[derive(Default)]
struct Causes {
    /// Position of a stale target in `rows`.
    positions: HashMap<TargetId, u32>,
    rows: Vec<Row>,
    upstream: Vec<u32>,
    own: Vec<u32>,
    causes: Vec<(Reason, usize)>,
    numbers: HashMap<(&'static str, FileId), u32>,
}

struct Row {
    counts: bool,
    /// Where its entries in `upstream` and `own` end.
    upstream_end: u32,
    own_end: u32,
}

impl Causes {
    fn add(&mut self, target: TargetId, counts: bool, reasons: &[Reason]) {
        for reason in reasons {
            if let Some(producer) = reason.upstream() {
                self.upstream.extend(self.positions.get(&producer));
                continue;
            }
            let next = narrow(self.causes.len());
            let number = *self.numbers.entry((reason.code(), reason.path())).or_insert(next);
            if number == next {
                self.causes.push((reason.clone(), 0));
            }
            self.causes[number as usize].1 += 1;
            self.own.push(number);
        }
        self.positions.insert(target, narrow(self.rows.len()));
        self.rows.push(Row {
            counts,
            upstream_end: narrow(self.upstream.len()),
            own_end: narrow(self.own.len()),
        });
    }

    /// Which causes lead to a target that counts.
    fn leads_to_listed(&self) -> Vec<bool> {
        // From users back to inputs: whatever such a target needs leads to one, too.
        let mut leads = vec![false; self.rows.len()];
        let mut causes = vec![false; self.causes.len()];
        for (at, row) in self.rows.iter().enumerate().rev() {
            if !row.counts && !leads[at] {
                continue;
            }
            let (upstream, own) = match at.checked_sub(1).map(|before| &self.rows[before]) {
                Some(before) => (before.upstream_end as usize, before.own_end as usize),
                None => (0, 0),
            };
            for &row in &self.upstream[upstream..row.upstream_end as usize] {
                leads[row as usize] = true;
            }
            for &cause in &self.own[own..row.own_end as usize] {
                causes[cause as usize] = true;
            }
        }
        causes
    }

    /// Counts the targets behind the causes with the most targets of their own.
    fn biggest(&self) -> Vec<RootCause> {
        let mut order: Vec<usize> = (0..self.causes.len()).collect();
        order.sort_by_key(|&cause| std::cmp::Reverse(self.causes[cause].1));
        order.truncate(MOST_CAUSES);
        let mut found = Vec::with_capacity(order.len());
        let mut bits = vec![0u64; self.causes.len()];
        for batch in order.chunks(64) {
            bits.fill(0);
            for (bit, &cause) in batch.iter().enumerate() {
                bits[cause] = 1 << bit;
            }
            for (&cause, n_targets) in batch.iter().zip(self.count(&bits)) {
                if n_targets > 0 {
                    found.push(RootCause { reason: self.causes[cause].0.clone(), n_targets });
                }
            }
        }
        found.sort_by_key(|cause| std::cmp::Reverse(cause.n_targets));
        found
    }

    fn kinds(&self, leads: &[bool]) -> Vec<CauseKind> {
        let mut kinds: Vec<CauseKind> = Vec::new();
        let mut bits = Vec::with_capacity(self.causes.len());
        for ((reason, _), leads) in self.causes.iter().zip(leads) {
            let code = reason.code();
            let kind = kinds.iter().position(|kind| kind.code == code).unwrap_or_else(|| {
                kinds.push(CauseKind { code, n_causes: 0, n_targets: 0 });
                kinds.len() - 1
            });
            kinds[kind].n_causes += usize::from(*leads);
            bits.push(1 << kind);
        }
        for (kind, n_targets) in kinds.iter_mut().zip(self.count(&bits)) {
            kind.n_targets = n_targets;
        }
        kinds.retain(|kind| kind.n_targets > 0);
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.n_targets));
        kinds
    }

    /// Counts the targets behind up to 64 sets of causes: one bit for each, handed on from inputs to users in
    /// a single pass. `bits` says for each cause which set it belongs to.
    fn count(&self, bits: &[u64]) -> [usize; 64] {
        let mut totals = [0; 64];
        let mut masks = Vec::with_capacity(self.rows.len());
        let (mut upstream, mut own) = (0, 0);
        for row in &self.rows {
            let (upstream_end, own_end) = (row.upstream_end as usize, row.own_end as usize);
            let causes = self.own[own..own_end].iter().map(|&cause| bits[cause as usize]);
            let before = self.upstream[upstream..upstream_end].iter().map(|&row| masks[row as usize]);
            let mask = causes.chain(before).fold(0u64, |all, bits| all | bits);
            (upstream, own) = (upstream_end, own_end);
            masks.push(mask);
            let mut rest = if row.counts { mask } else { 0 };
            while rest != 0 {
                totals[rest.trailing_zeros() as usize] += 1;
                rest &= rest - 1;
            }
        }
        totals
    }
}

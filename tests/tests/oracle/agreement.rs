//! The code under test and the oracle agree: on verdicts, on reasons, on what a report counts.

use crate::described::{Described, describe, verdicts};
use crate::naive::Oracle;
use crate::{S, State, Target, Verdicts, Why, World, for_worlds};
use proptest::prelude::*;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use upcheck::{MOST_CAUSES, Record, Report, Verdict};

#[test]
fn decisions_equal_the_oracle() {
    let seen = RefCell::new(BTreeMap::<String, usize>::new());
    for_worlds(4_000, |world| {
        let described = describe(&world);
        // Ninja keeps a name dirty that it took for a missing source before a dyndep file gave it to a phony.
        let odd_phony = world.targets.iter().any(|target| target.phony && target.dyndep.is_some());
        for exact in [false, true].into_iter().filter(|exact| !(*exact && odd_phony)) {
            let expected = Oracle::judge(&world, exact);
            let found = described.judge(exact);
            let (decision, oracle) = match (found, expected) {
                (Ok(decision), Ok(oracle)) => (decision, oracle),
                (found, expected) => {
                    let (found, expected) = (found.err(), expected.err());
                    prop_assert_eq!(found, expected, "exact: {}", exact);
                    let stop = found.unwrap_or_default();
                    *seen.borrow_mut().entry(format!("exact {exact}: {stop}")).or_default() += 1;
                    continue;
                }
            };
            prop_assert_eq!(&verdicts(&decision), &oracle.verdicts, "exact: {}", exact);
            prop_assert_eq!(decision.judged().len(), oracle.verdicts.len(), "a target is judged twice");
            for &target in decision.judged() {
                let t = target.index();
                let name = &world.targets[t].outputs[0];
                let why = described.reasons(&decision, target);
                prop_assert_eq!(&why, &oracle.reasons(t), "{}, exact: {}", name, exact);
                prop_assert_eq!(decision.is_ready(target), oracle.ready.contains(&t), "{} is ready", name);
                prop_assert_eq!(why.is_empty(), oracle.verdicts[&t] == Verdict::Fresh, "{}", name);
                let mut seen = seen.borrow_mut();
                *seen.entry(format!("exact {exact}: {:?}", oracle.verdicts[&t])).or_default() += 1;
                for (code, ..) in why {
                    *seen.entry(format!("exact {exact}: {code}")).or_default() += 1;
                }
            }
        }
        Ok(())
    });
    // What the worlds never showed was not tested.
    let seen = seen.into_inner();
    let verdicts = ["Fresh", "Pending", "Stale"];
    let codes = [
        "output-missing",
        "input-missing",
        "input-newer",
        "command-changed",
        "never-built",
        "deps-unknown",
        "deps-outdated",
        "upstream-stale",
        "phony-missing",
        "unreadable",
    ];
    for what in verdicts.iter().chain(&codes).chain(&["cycle"]) {
        for exact in [false, true] {
            let impossible = exact && *what == "unreadable";
            let n = seen.get(&format!("exact {exact}: {what}")).copied().unwrap_or(0);
            assert!(n > 20 || impossible, "the worlds show {what} {n} times only: {seen:#?}");
        }
    }
    for stop in ["unreadable", "broken", "silent"] {
        let n = seen.get(&format!("exact true: {stop}")).copied().unwrap_or(0);
        assert!(n > 20, "the worlds show {stop} {n} times only: {seen:#?}");
    }
}

#[test]
fn report_counts_equal_a_brute_force_count() {
    for_worlds(2_000, |world| {
        let described = describe(&world);
        let (Ok(decision), Ok(oracle)) = (described.judge(false), Oracle::judge(&world, false)) else {
            return Ok(());
        };
        for every in [1, 2] {
            let is_listed = |t: usize| t.is_multiple_of(every);
            let report = Report::new(&decision, &described.graph, |target| is_listed(target.index()));
            check_report(&world, &described, &oracle, &report, is_listed)?;
        }
        Ok(())
    });
}

fn check_report(
    world: &World,
    described: &Described,
    oracle: &Oracle,
    report: &Report,
    is_listed: impl Fn(usize) -> bool,
) -> Result<(), TestCaseError> {
    let counts = |t: usize| is_listed(t) && (!world.targets[t].phony || oracle.has_obstacle(t));
    let listed: Verdicts =
        oracle.verdicts.iter().filter(|(t, _)| counts(**t)).map(|(&t, &verdict)| (t, verdict)).collect();
    let n_targets = oracle.verdicts.keys().filter(|t| !world.targets[**t].phony || counts(**t)).count();
    let count = |verdict| listed.values().filter(|other| **other == verdict).count();
    prop_assert_eq!(report.n_targets, n_targets);
    prop_assert_eq!(report.n_stale, count(Verdict::Stale));
    prop_assert_eq!(report.n_pending, count(Verdict::Pending));
    prop_assert_eq!(report.n_fresh(), report.n_targets - report.n_stale - report.n_pending);
    prop_assert_eq!(report.is_fresh(), report.stale.is_empty());

    let stale: Verdicts = report.stale.iter().map(|stale| (stale.target.index(), stale.verdict)).collect();
    let not_fresh: Verdicts = listed.into_iter().filter(|(_, verdict)| *verdict != Verdict::Fresh).collect();
    prop_assert_eq!(report.stale.len(), stale.len(), "a target is listed twice");
    prop_assert_eq!(&stale, &not_fresh);
    let mut before = BTreeSet::new();
    for stale in &report.stale {
        let why: Why = stale.reasons.iter().map(|reason| described.reason(reason)).collect();
        prop_assert_eq!(&why, &oracle.reasons(stale.target.index()));
        let after = |upstream: &usize| not_fresh.contains_key(upstream) && !before.contains(upstream);
        prop_assert!(
            !why.iter().any(|(.., upstream)| upstream.as_ref().is_some_and(after)),
            "users before inputs"
        );
        before.insert(stale.target.index());
    }

    let mut causes: BTreeMap<(&str, String), usize> = BTreeMap::new();
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for t in not_fresh.keys() {
        let own = oracle.root_causes(*t);
        for code in own.iter().map(|(code, _)| code).collect::<BTreeSet<_>>() {
            kinds.entry(code).or_default().1 += 1;
        }
        for cause in own {
            *causes.entry(cause).or_default() += 1;
        }
    }
    for (code, _) in causes.keys() {
        kinds.entry(code).or_default().0 += 1;
    }
    prop_assert_eq!(report.n_root_causes, causes.len());
    let found = report.root_causes.iter().map(|cause| {
        let (code, path, _) = described.reason(&cause.reason);
        ((code, path), cause.n_targets)
    });
    prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), causes);
    let found = report.kinds.iter().map(|kind| (kind.code, (kind.n_causes, kind.n_targets)));
    prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), kinds);
    prop_assert!(report.root_causes.is_sorted_by_key(|cause| Reverse(cause.n_targets)));
    prop_assert!(report.kinds.is_sorted_by_key(|kind| Reverse(kind.n_targets)));
    Ok(())
}

#[test]
fn the_biggest_of_very_many_root_causes_are_counted_in_full() {
    let n = MOST_CAUSES + 100;
    let mut world = World::default();
    for t in 0..n {
        let mut explicit = vec![format!("gone{t}")];
        if t >= n - 50 {
            // Met last, and still the biggest.
            explicit.push("shared".into());
        }
        world.targets.push(Target { outputs: vec![format!("t{t}")], explicit, ..Target::default() });
        world.files.insert(format!("t{t}"), State::Present(5 * S));
        world.records.insert(format!("t{t}"), Record { command_hash: 0, mtime: 5 * S });
        world.requests.push(format!("t{t}"));
    }
    world.files.insert("shared".into(), State::Present(6 * S));
    let described = describe(&world);
    let report = Report::new(&described.judge(false).expect("no cycle"), &described.graph, |_| true);
    assert_eq!((report.n_root_causes, report.root_causes.len()), (n + 1, MOST_CAUSES));
    assert_eq!(described.path(report.root_causes[0].reason.path()), "shared");
    assert_eq!(report.root_causes[0].n_targets, 50);
    assert!(report.root_causes[1..].iter().all(|cause| cause.n_targets == 1));
    let kinds: Vec<_> = report.kinds.iter().map(|kind| (kind.code, kind.n_causes, kind.n_targets)).collect();
    assert_eq!(kinds, [("input-missing", n, n), ("input-newer", 1, 50)]);
}

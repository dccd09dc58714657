//! What holds of any world, without an oracle.

use crate::described::{answer, describe, verdicts};
use crate::{Discovered, S, State, Verdicts, World, for_worlds};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use upcheck::{Mtime, Record, Verdict};

/// Everything that was not fresh before still is not.
fn none_became_fresh(before: &Verdicts, after: &Verdicts) -> Result<(), TestCaseError> {
    for (t, verdict) in before {
        let now = after.get(t).copied();
        prop_assert!(*verdict == Verdict::Fresh || now != Some(Verdict::Fresh), "t{} became fresh", t);
    }
    Ok(())
}

fn sources(world: &World) -> Vec<String> {
    let mut files = world.files.clone();
    for output in world.targets.iter().flat_map(|target| &target.outputs) {
        files.remove(output);
    }
    // What a dyndep file may give a producer is no source.
    files.into_keys().filter(|path| !path.starts_with('x')).collect()
}

#[test]
fn touching_or_removing_a_source_makes_nothing_fresh() {
    for_worlds(1_000, |world| {
        let Some(before) = answer(&world) else { return Ok(()) };
        for source in sources(&world) {
            let mut touched = world.clone();
            if let Some(State::Present(mtime)) = touched.files.get_mut(&source) {
                *mtime = 20 * S;
                let after = answer(&touched).expect("no new cycle");
                none_became_fresh(&before, &after)?;
                prop_assert_eq!(before.len(), after.len());
            }
            let mut removed = world.clone();
            removed.files.remove(&source);
            none_became_fresh(&before, &answer(&removed).expect("no new cycle"))?;
        }
        Ok(())
    });
}

#[test]
fn losing_a_record_or_changing_a_command_makes_its_target_stale_and_nothing_fresh() {
    for_worlds(1_000, |world| {
        let Some(before) = answer(&world) else { return Ok(()) };
        for t in 0..world.targets.len() {
            let target = &world.targets[t];
            if target.generator || target.phony {
                continue;
            }
            let mut forgotten = world.clone();
            forgotten.records.remove(&target.outputs[0]);
            let mut changed = world.clone();
            changed.targets[t].hash = 100;
            for after in [&forgotten, &changed].map(|world| answer(world).expect("no new cycle")) {
                none_became_fresh(&before, &after)?;
                prop_assert!(after.get(&t).is_none_or(|verdict| *verdict == Verdict::Stale), "t{}", t);
            }
        }
        Ok(())
    });
}

#[test]
fn asking_for_more_or_in_another_order_changes_no_verdict() {
    for_worlds(1_000, |world| {
        let Some(together) = answer(&world) else { return Ok(()) };
        let mut one_by_one = Verdicts::new();
        for request in &world.requests {
            let alone = World { requests: vec![request.clone()], ..world.clone() };
            one_by_one.extend(answer(&alone).expect("no new cycle"));
        }
        prop_assert_eq!(&together, &one_by_one);
        let requests = world.requests.iter().rev().cloned().collect();
        prop_assert_eq!(Some(together), answer(&World { requests, ..world }));
        Ok(())
    });
}

#[test]
fn the_order_of_inputs_and_whether_they_are_on_the_command_line_does_not_matter() {
    for_worlds(1_000, |world| {
        let mut shuffled = world.clone();
        for target in &mut shuffled.targets {
            target.explicit.append(&mut target.implicit);
            target.explicit.reverse();
            target.order_only.reverse();
            target.validations.reverse();
        }
        prop_assert_eq!(answer(&world), answer(&shuffled));
        Ok(())
    });
}

#[test]
fn times_count_only_against_each_other() {
    for_worlds(1_000, |mut world| {
        // Below that, zero and the first second of 1970 have a meaning.
        each_time(&mut world, |time| time.max(S));
        let mut later = world.clone();
        each_time(&mut later, |time| time + 1_000_000 * S);
        prop_assert_eq!(answer(&world), answer(&later));
        Ok(())
    });
}

fn each_time(world: &mut World, change: impl Fn(Mtime) -> Mtime) {
    for state in world.files.values_mut() {
        if let State::Present(mtime) = state {
            *mtime = change(*mtime);
        }
    }
    for record in world.records.values_mut() {
        record.mtime = change(record.mtime);
    }
    for target in &mut world.targets {
        if let Discovered::Known(_, Some(recorded)) = &mut target.discovered {
            *recorded = change(*recorded);
        }
    }
}

#[test]
fn without_dyndep_files_both_modes_agree_wherever_ninja_has_an_answer() {
    for_worlds(1_000, |mut world| {
        for target in &mut world.targets {
            target.dyndep = None;
        }
        if let Ok(exact) = describe(&world).judge(true) {
            prop_assert_eq!(answer(&world), Some(verdicts(&exact)));
        }
        Ok(())
    });
}

#[test]
fn after_a_whole_build_everything_is_fresh() {
    for_worlds(1_000, |mut world| {
        build(&mut world);
        if let Some(verdicts) = answer(&world) {
            prop_assert!(verdicts.values().all(|verdict| *verdict == Verdict::Fresh), "{:?}", verdicts);
            prop_assert!(
                world.requests.iter().all(|path| path.starts_with(['s', 'x'])) || !verdicts.is_empty()
            );
        }
        Ok(())
    });
}

/// Brings everything up to date.
fn build(world: &mut World) {
    let headers = ["s0", "s1", "s2", "s3", "h0", "h1", "h2", "dd"].map(String::from);
    for source in headers {
        world.files.insert(source, State::Present(S));
    }
    for t in 0..world.targets.len() {
        let target = &mut world.targets[t];
        let is_known = matches!(target.discovered, Discovered::Known(..) | Discovered::Untracked);
        if !is_known {
            target.discovered = Discovered::Untracked;
        }
        if let Discovered::Known(_, Some(recorded)) = &mut target.discovered {
            *recorded = 5 * S;
        }
        for output in target.outputs.iter().chain([&format!("x{t}")]) {
            world.files.insert(output.clone(), State::Present(5 * S));
            world.records.insert(output.clone(), Record { command_hash: target.hash, mtime: 5 * S });
        }
        if let Some(dyndep) = target.dyndep.clone() {
            let extras = world.dyndeps.entry(dyndep).or_default().get_or_insert_default();
            extras.iter_mut().for_each(|extra| extra.outputs.retain(|output| output != "t0.0"));
        }
    }
}

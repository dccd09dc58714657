//! A decision that goes on from an earlier one comes out like one from the beginning, whatever has changed on the disk.

use crate::described::{Described, describe, look};
use crate::roll::{ODD_TIMES, worlds};
use crate::{State, for_all};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Seek;
use upcheck::image::{Image, Tables};
use upcheck::{Decision, FileId, Graph, History, Mode, Report, Settled, Snapshot, Standing, Stat};

/// One change: which file, and how it is afterwards.
type Edit = (usize, usize);
/// What changes from one check to the next.
type Step = Vec<Edit>;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(prop::collection::vec((0..1usize << 16, 0..40usize), 0..5), 1..5)
}

/// What an edit makes of a file; `None` removes it.
fn after(how: usize, before: Option<State>) -> Option<State> {
    match (how, before) {
        (0..8, _) => None,
        (8..10, _) => Some(State::Unreadable),
        (10..12, Some(State::Present(mtime))) => Some(State::Present(mtime + 1)),
        _ => Some(State::Present(ODD_TIMES[how % ODD_TIMES.len()])),
    }
}

fn edit(files: &mut BTreeMap<String, State>, graph: &Graph, step: &[Edit]) {
    for &(which, how) in step {
        let file = FileId::new(which % graph.files.len());
        let path = String::from_utf8_lossy(graph.files.path(file)).into_owned();
        match after(how, files.get(&path).copied()) {
            Some(state) => files.insert(path, state),
            None => files.remove(&path),
        };
    }
}

/// Files with another status, as far as a verdict can depend on it.
fn changed(graph: &Graph, before: &Snapshot, now: &Snapshot) -> Vec<FileId> {
    let look = |stat| match stat {
        Stat::Present(meta) => Stat::Present(upcheck::Meta { mtime: meta.mtime, ..Default::default() }),
        stat => stat,
    };
    graph.files.ids().filter(|&file| look(before.stat(file)) != look(now.stat(file))).collect()
}

/// All that can be known of a decision, but for the order in which the walk came by.
fn all_of(decision: &Decision<'_>, graph: &Graph) -> Result<String, TestCaseError> {
    let mut judged = decision.judged().to_vec();
    judged.sort_unstable();
    let n_judged = judged.len();
    judged.dedup();
    prop_assert_eq!(judged.len(), n_judged, "a target is judged twice");
    let targets: Vec<_> =
        judged.iter().map(|&target| (target, decision.verdict(target), decision.is_ready(target))).collect();
    let dirty: Vec<_> = graph.files.ids().filter(|&file| decision.is_dirty(file)).collect();
    let report = Report::new(decision, graph, |_| true);
    Ok(format!("{targets:#?}\n{dirty:?}\n{report:#?}"))
}

fn from_the_beginning<'a>(world: &'a Described, snapshot: &'a Snapshot) -> Option<Decision<'a>> {
    let mut decision = Decision::new(&world.graph, &world.history, snapshot, Mode::LookPast);
    decision.judge_all(&world.requests).ok().map(|()| decision)
}

/// Writes everything to a real image and reads it again.
fn through_a_file(world: &Described, settled: &Settled) -> (Graph, History, Settled) {
    let mut tables = Tables::default();
    world.graph.save(&mut tables);
    let spans = world.history.spans();
    world.history.save(&mut tables, &spans);
    settled.save(&mut tables);
    let mut file: File = tempfile::tempfile().expect("a temporary file");
    tables.write(&mut file).expect("a whole image");
    file.rewind().expect("a file");
    let image = Image::map(&file).expect("a mapped file").expect("a good image");
    let graph = Graph::load(&image).expect("a graph");
    let history = History::load(&image, graph.files.len(), graph.n_targets()).expect("a history");
    let settled = Settled::load(&image, &graph).expect("a decision");
    (graph, history, settled)
}

/// Goes from check to check. How often an earlier decision was enough, how often it was not, and how often not even one that
/// stood.
fn check(
    world: &Described,
    files: &BTreeMap<String, State>,
    steps: &[Step],
    is_kept: bool,
) -> Result<(usize, usize, usize), TestCaseError> {
    let mut files = files.clone();
    let Some(first) = from_the_beginning(world, &world.snapshot) else { return Ok((0, 0, 0)) };
    let mut settled = Settled::new(&first);
    let mut standing = Standing::new(first).expect("a whole decision");
    let mut before = world.snapshot.clone();
    let (mut resumed, mut begun, mut fell) = (0, 0, 0);
    for step in steps {
        edit(&mut files, &world.graph, step);
        let now = look(&world.graph, &files);
        let changed = changed(&world.graph, &before, &now);
        let kept = is_kept.then(|| through_a_file(world, &settled));
        let (graph, history, known) = match &kept {
            Some((graph, history, settled)) => (graph, history, settled),
            None => (&world.graph, &world.history, &settled),
        };
        let found = Decision::resume(graph, history, &now, known, &changed);
        let all = |decision: &Decision<'_>| all_of(decision, graph);
        let stood = standing.judge_again(graph, history, &now, &changed, all);
        let expected = from_the_beginning(world, &now);
        standing = match (stood, &expected) {
            (Some((standing, stood)), Some(expected)) => {
                prop_assert_eq!(stood?, all(expected)?, "changed: {:?}", changed);
                standing
            }
            (Some(_), None) => return Err(TestCaseError::fail("a cycle was not found by what stands")),
            (None, Some(_)) => {
                fell += 1;
                from_the_beginning(world, &now).and_then(Standing::new).expect("a whole decision")
            }
            (None, None) => {
                prop_assert!(found.is_none(), "a cycle was not found");
                return Ok((resumed, begun, fell));
            }
        };
        let next = match (found, expected) {
            (_, None) => return Err(TestCaseError::fail("a cycle was not found")),
            (Some(found), Some(expected)) => {
                let (found_all, expected) = (all_of(&found, graph)?, all_of(&expected, &world.graph)?);
                prop_assert_eq!(found_all, expected, "changed: {:?}", changed);
                resumed += 1;
                let settled = Settled::new(&found);
                // What stands may come from one that goes on from an image.
                if resumed % 2 == 0 {
                    standing = Standing::new(found).expect("a whole decision");
                }
                settled
            }
            (None, Some(expected)) => {
                begun += 1;
                Settled::new(&expected)
            }
        };
        settled = next;
        before = now;
    }
    Ok((resumed, begun, fell))
}

fn resumed_decisions_equal_whole_ones(is_kept: bool, cases: u32) {
    let total = Cell::new((0, 0, 0));
    for_all(cases, (worlds(), steps()), |(world, steps)| {
        let (resumed, begun, fell) = check(&describe(&world), &world.files, &steps, is_kept)?;
        let (all_resumed, all_begun, all_fell) = total.get();
        total.set((all_resumed + resumed, all_begun + begun, all_fell + fell));
        Ok(())
    });
    // What never happened was not tested.
    let (resumed, begun, fell) = total.get();
    assert!(
        resumed > cases as usize && begun > 20 && fell > 20,
        "resumed {resumed} times, begun again {begun} times, {fell} times although it stood"
    );
}

#[test]
fn resumed_decisions_equal_whole_ones_in_memory() {
    resumed_decisions_equal_whole_ones(false, 6_000);
}

#[test]
fn resumed_decisions_equal_whole_ones_from_an_image() {
    resumed_decisions_equal_whole_ones(true, 3_000);
}

//! Stale targets in levels: those of one level need only what those of earlier ones make.

use upcheck::{FileId, TargetId};
use upcheck_ninja::Build;

const UNKNOWN: u32 = u32::MAX;
const UNDER_WAY: u32 = u32::MAX - 1;

/// The stale targets by level, in the order of the description within each. Ways through fresh and phony targets count,
/// and so do order-only inputs: what is made there may be discovered.
pub(crate) fn levels(build: &Build, stale: &[TargetId]) -> Vec<Vec<TargetId>> {
    let (graph, history) = (build.graph(), build.history());
    let mut is_stale = vec![false; graph.n_targets()];
    stale.iter().for_each(|target| is_stale[target.index()] = true);
    // Indexed by target: how many stale ones stand before what it makes.
    let mut depths = vec![UNKNOWN; graph.n_targets()];
    let needs = |target: TargetId| -> Vec<TargetId> {
        let inputs = graph.ordering_inputs(target).iter().chain(history.discovered_inputs(target));
        inputs.filter_map(|&file: &FileId| graph.producer(file)).collect()
    };
    for &root in stale {
        let mut stack = vec![root];
        while let Some(&target) = stack.last() {
            let depth = depths[target.index()];
            let needed = if depth == UNKNOWN || depth == UNDER_WAY { needs(target) } else { Vec::new() };
            if depth == UNKNOWN {
                depths[target.index()] = UNDER_WAY;
                stack.extend(needed.iter().filter(|needed| depths[needed.index()] == UNKNOWN));
                continue;
            }
            stack.pop();
            if depth == UNDER_WAY {
                // What is still under way itself is a cycle, which discovered inputs can have.
                let known = needed.iter().filter(|needed| depths[needed.index()] < UNDER_WAY);
                let below = known.map(|needed| depths[needed.index()] + u32::from(is_stale[needed.index()]));
                depths[target.index()] = below.max().unwrap_or(0);
            }
        }
    }
    let mut levels: Vec<Vec<TargetId>> = Vec::new();
    let mut sorted = stale.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    for target in sorted {
        let depth = depths[target.index()] as usize;
        if levels.len() <= depth {
            levels.resize_with(depth + 1, Vec::new);
        }
        levels[depth].push(target);
    }
    levels
}

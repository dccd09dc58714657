//! The same world for the code under test.

use crate::{Discovered, ELOOP, S, State, Verdicts, Why, World};
use std::collections::BTreeMap;
use upcheck::collect::{MemoryDisk, collect};
use upcheck::{
    Decision, Dyndep, DyndepEntry, FileId, Flags, Graph, History, Mode, Plan, Reason, Snapshot, Stop,
    TargetDesc, TargetId,
};

/// A world as the library takes it.
pub(crate) struct Described {
    pub(crate) graph: Graph,
    pub(crate) history: History,
    pub(crate) snapshot: Snapshot,
    pub(crate) requests: Vec<FileId>,
}

pub(crate) fn describe(world: &World) -> Described {
    let mut graph = Graph::default();
    let mut history = History::default();
    for target in &world.targets {
        let mut ids =
            |paths: &[String]| paths.iter().map(|path| intern(&mut graph, path)).collect::<Vec<_>>();
        let [outputs, explicit, implicit, order_only, validations] =
            [&target.outputs, &target.explicit, &target.implicit, &target.order_only, &target.validations]
                .map(|paths| ids(paths));
        let dyndep = target.dyndep.as_ref().map(|path| intern(&mut graph, path));
        let flags = Flags {
            phony: target.phony,
            restat: target.restat,
            generator: target.generator,
            ..Flags::default()
        };
        let id = graph
            .add_target(TargetDesc {
                outputs: &outputs,
                explicit: &explicit,
                implicit: &implicit,
                order_only: &order_only,
                validations: &validations,
                dyndep,
                flags,
            })
            .expect("each output has one producer");
        history.set_command_hash(id, target.hash);
        match &target.discovered {
            Discovered::Untracked => {}
            Discovered::Unknown(why) => history.set_discovered_unknown(id, why.clone()),
            Discovered::Known(paths, recorded) => {
                let inputs: Vec<_> = paths.iter().map(|path| intern(&mut graph, path)).collect();
                history.set_discovered_inputs(id, inputs, *recorded);
            }
        }
    }
    for (path, &record) in &world.records {
        history.set_record(intern(&mut graph, path), record);
    }
    for (path, extras) in &world.dyndeps {
        let dyndep = match extras {
            None => Dyndep::Broken("broken".into()),
            Some(extras) => Dyndep::Loaded(
                extras
                    .iter()
                    .map(|extra| DyndepEntry {
                        target: TargetId::new(extra.target),
                        outputs: extra.outputs.iter().map(|path| intern(&mut graph, path)).collect(),
                        inputs: extra.inputs.iter().map(|path| intern(&mut graph, path)).collect(),
                        restat: extra.restat,
                    })
                    .collect(),
            ),
        };
        history.set_dyndep(intern(&mut graph, path), dyndep);
    }
    let requests = world.requests.iter().map(|path| intern(&mut graph, path)).collect();
    let snapshot = look(&graph, &world.files);
    Described { graph, history, snapshot, requests }
}

/// What a disk with these files says about a graph.
pub(crate) fn look(graph: &Graph, files: &BTreeMap<String, State>) -> Snapshot {
    let mut disk = MemoryDisk::new();
    for (path, state) in files {
        match *state {
            State::Present(mtime) => disk.touch(path, mtime),
            State::Unreadable => disk.fail(path, ELOOP),
            State::NotAsked => disk.touch(path, 5 * S),
        }
    }
    let asked = |file: &FileId| {
        let path = String::from_utf8_lossy(graph.files.path(*file)).into_owned();
        files.get(&path) != Some(&State::NotAsked)
    };
    collect(&disk, &Plan::new(&graph.files, graph.files.ids().filter(asked)), 1)
}

fn intern(graph: &mut Graph, path: &str) -> FileId {
    graph.files.intern(path.as_bytes())
}

impl Described {
    pub(crate) fn judge(&self, exact: bool) -> Result<Decision<'_>, &'static str> {
        let mode = if exact { Mode::AsNinja } else { Mode::LookPast };
        let mut decision = Decision::new(&self.graph, &self.history, &self.snapshot, mode);
        match decision.judge_all(&self.requests) {
            Ok(()) => Ok(decision),
            Err(Stop::Cycle(_)) => Err("cycle"),
            Err(Stop::Unreadable { .. }) => Err("unreadable"),
            Err(Stop::Broken(_)) => Err("broken"),
            Err(Stop::Silent) => Err("silent"),
            Err(_) => Err("unheard of"),
        }
    }

    pub(crate) fn reasons(&self, decision: &Decision<'_>, target: TargetId) -> Why {
        let reasons = decision.reasons(target);
        let why: Why = reasons.iter().map(|reason| self.reason(reason)).collect();
        assert_eq!(why.len(), reasons.len(), "a reason is given twice: {reasons:?}");
        why
    }

    pub(crate) fn reason(&self, reason: &Reason) -> (&'static str, String, Option<usize>) {
        (reason.code(), self.path(reason.path()), reason.upstream().map(TargetId::index))
    }

    pub(crate) fn path(&self, file: FileId) -> String {
        String::from_utf8_lossy(self.graph.files.path(file)).into_owned()
    }
}

pub(crate) fn verdicts(decision: &Decision<'_>) -> Verdicts {
    decision.judged().iter().map(|&target| (target.index(), decision.verdict(target))).collect()
}

/// The verdicts on a world in the usual mode; `None` if there is a cycle.
pub(crate) fn answer(world: &World) -> Option<Verdicts> {
    describe(world).judge(false).ok().map(|decision| verdicts(&decision))
}

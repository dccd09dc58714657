//! The oracle: docs/SEMANTICS.md with no thought of speed.

use crate::{Discovered, S, State, Target, Verdicts, Why, World};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use upcheck::{Mtime, Unknown, Verdict};

pub(crate) struct Oracle {
    world: World,
    exact: bool,
    /// Dyndep files that were looked into, and whether they are broken.
    loaded: HashMap<String, bool>,
    visiting: HashSet<usize>,
    pub(crate) verdicts: Verdicts,
    /// Neither they nor anything before them has to run.
    pub(crate) ready: HashSet<usize>,
    /// Targets whose discovered inputs are believed.
    believed: HashSet<usize>,
    /// Files that are stale, missing or unreadable; whether nothing that runs before can change that.
    dirty: HashMap<String, bool>,
    /// Times that phony names borrow.
    lent: HashMap<String, Mtime>,
    queue: Vec<String>,
}

impl Oracle {
    pub(crate) fn judge(world: &World, exact: bool) -> Result<Self, &'static str> {
        let mut oracle = Self {
            world: world.clone(),
            exact,
            loaded: HashMap::new(),
            visiting: HashSet::new(),
            verdicts: BTreeMap::new(),
            ready: HashSet::new(),
            believed: HashSet::new(),
            dirty: HashMap::new(),
            lent: HashMap::new(),
            queue: Vec::new(),
        };
        let dyndeps = oracle.world.targets.iter().filter_map(|target| target.dyndep.clone());
        for dyndep in dyndeps.filter(|_| !exact).collect::<BTreeSet<_>>() {
            oracle.load(&dyndep)?;
        }
        for request in &world.requests {
            oracle.queue = vec![request.clone()];
            let mut next = 0;
            while let Some(file) = oracle.queue.get(next).cloned() {
                oracle.visit(&file)?;
                next += 1;
            }
        }
        Ok(oracle)
    }

    fn visit(&mut self, file: &str) -> Result<(), &'static str> {
        let Some(t) = self.producer(file) else {
            self.look_at(file)?;
            if !self.exists(file) {
                self.dirty.insert(file.into(), true);
            }
            return Ok(());
        };
        if self.verdicts.contains_key(&t) {
            return Ok(());
        }
        if !self.visiting.insert(t) {
            return Err("cycle");
        }
        if let Some(dyndep) = self.world.targets[t].dyndep.clone().filter(|d| !self.loaded.contains_key(d)) {
            self.visit(&dyndep)?;
            if self.is_ready(&dyndep) {
                self.load(&dyndep)?;
            }
        }
        let target = self.world.targets[t].clone();
        for output in &target.outputs {
            self.look_at(output)?;
        }
        if self.exact && matches!(target.discovered, Discovered::Unknown(Unknown::Broken { .. })) {
            return Err("broken");
        }
        let deps = self.deps_reason(&target);
        if deps.is_none() {
            self.believed.insert(t);
        }
        self.queue.extend(target.validations.clone());
        let dirtying = self.dirtying_inputs(t);
        let (mut fresh, mut dirty, mut ready) = (Vec::new(), Vec::new(), true);
        for input in &dirtying {
            self.visit(input)?;
            ready &= self.is_ready(input);
            match self.dirty.get(input) {
                Some(&certain) => dirty.push(certain),
                None => fresh.push(input.clone()),
            }
        }
        for input in &target.order_only {
            self.visit(input)?;
            ready &= self.is_ready(input);
        }
        let dyndep = self.dyndep_reason(&target);
        let out_of_date = !self.output_reasons(t, &fresh).is_empty();
        let mut certain = deps.is_some() || dirty.contains(&true) || out_of_date;
        certain |= dyndep.as_ref().is_some_and(|(stale, _)| !stale);
        let verdict = match (certain, dirty.is_empty() && dyndep.is_none()) {
            (true, _) => Verdict::Stale,
            (false, false) => Verdict::Pending,
            (false, true) => Verdict::Fresh,
        };
        self.verdicts.insert(t, verdict);
        let has_inputs = !dirtying.is_empty() || !target.order_only.is_empty();
        if ready && (verdict == Verdict::Fresh || (target.phony && !has_inputs)) {
            self.ready.insert(t);
        }
        for output in &target.outputs {
            if verdict != Verdict::Fresh {
                let passes_on = certain && (target.phony || !target.restat);
                self.dirty.insert(output.clone(), passes_on);
            } else if target.phony && self.is_missing(output) {
                let newest = dirtying.iter().map(|input| self.time(input)).max();
                self.lent.insert(output.clone(), newest.unwrap_or(0).max(0));
            }
        }
        Ok(())
    }

    /// All reasons of a target that is not fresh.
    pub(crate) fn reasons(&self, t: usize) -> Why {
        if self.verdicts[&t] == Verdict::Fresh {
            return Why::new();
        }
        let target = &self.world.targets[t];
        let (dirty, fresh): (Vec<_>, Vec<_>) =
            self.dirtying_inputs(t).into_iter().partition(|input| self.dirty.contains_key(input));
        let mut why = self.output_reasons(t, &fresh);
        why.extend(self.deps_reason(target).map(|code| (code, target.outputs[0].clone(), None)));
        for input in dirty {
            let (code, producer) = match self.producer(&input) {
                Some(p) if self.is_bare_phony(p) && self.is_missing(&input) => ("phony-missing", None),
                Some(p) => ("upstream-stale", Some(p)),
                None if self.state(&input) == Some(State::Unreadable) => ("unreadable", None),
                None => ("input-missing", None),
            };
            why.insert((code, input, producer));
        }
        if let Some((is_stale, dyndep)) = self.dyndep_reason(target) {
            let producer = self.producer(&dyndep).filter(|_| is_stale);
            why.insert(("deps-unknown", dyndep, producer));
        }
        why
    }

    /// Whether something keeps the target from being judged, and not only one before it.
    pub(crate) fn has_obstacle(&self, t: usize) -> bool {
        self.reasons(t).iter().any(|(code, _, upstream)| match *code {
            "input-missing" | "unreadable" => true,
            // A phony has no discovered inputs.
            "deps-unknown" => self.world.targets[t].phony && upstream.is_none(),
            _ => false,
        })
    }

    /// The reasons behind a target that are not passed on from one before it.
    pub(crate) fn root_causes(&self, t: usize) -> BTreeSet<(&'static str, String)> {
        let mut causes = BTreeSet::new();
        for (code, path, upstream) in self.reasons(t) {
            match upstream {
                Some(upstream) => causes.extend(self.root_causes(upstream)),
                None => {
                    causes.insert((code, path));
                }
            }
        }
        causes
    }

    /// Why the outputs are out of date, given the inputs that are fresh.
    fn output_reasons(&self, t: usize, fresh: &[String]) -> Why {
        let target = &self.world.targets[t];
        let mut why = Why::new();
        let mut add = |code, path: &String| why.insert((code, path.clone(), None));
        let newest = fresh.iter().map(|input| self.time(input)).max();
        let (mut compared, mut unrecorded, mut changed, mut missing) = (None, None, None, None);
        for output in &target.outputs {
            match self.state(output) {
                Some(State::Unreadable) => _ = add("unreadable", output),
                Some(State::Present(_)) => {
                    let record = self.world.records.get(output);
                    let own = Some(self.own_time(output)).filter(|_| !target.restat || record.is_none());
                    let times = [own, record.map(|record| record.mtime)];
                    compared = compared.or(times.into_iter().flatten().find(|&time| newest > Some(time)));
                    if record.is_none() {
                        unrecorded.get_or_insert(output);
                    }
                    if record.is_some_and(|record| record.command_hash != target.hash) {
                        changed.get_or_insert(output);
                    }
                }
                _ if target.phony && !self.is_bare_phony(t) => {}
                _ if target.phony => _ = missing.get_or_insert(output),
                _ => _ = add("output-missing", output),
            }
        }
        if target.phony {
            missing.map(|output| add("phony-missing", output));
            return why;
        }
        for input in fresh.iter().filter(|input| compared.is_some_and(|time| self.time(input) > time)) {
            add("input-newer", input);
        }
        if !target.generator {
            unrecorded.map(|output| add("never-built", output));
            changed.map(|output| add("command-changed", output));
        }
        why
    }

    /// A phony name for nothing.
    fn is_bare_phony(&self, t: usize) -> bool {
        let target = &self.world.targets[t];
        target.phony
            && [&target.explicit, &target.implicit, &target.order_only].iter().all(|run| run.is_empty())
    }

    fn deps_reason(&self, target: &Target) -> Option<&'static str> {
        match &target.discovered {
            Discovered::Unknown(_) => Some("deps-unknown"),
            Discovered::Known(_, Some(recorded)) if self.own_time(&target.outputs[0]) > *recorded => {
                Some("deps-outdated")
            }
            _ => None,
        }
    }

    /// Why the dyndep file leaves the verdict open: whether it is stale (broken otherwise), and its path.
    fn dyndep_reason(&self, target: &Target) -> Option<(bool, String)> {
        let dyndep = target.dyndep.clone().filter(|_| !self.exact)?;
        let stale = self.producer(&dyndep).is_some() && self.dirty.contains_key(&dyndep);
        let broken = self.loaded.get(&dyndep) == Some(&true);
        (stale || broken).then_some((stale, dyndep))
    }

    /// Takes over what a dyndep file says; of a broken one nothing counts.
    fn load(&mut self, dyndep: &str) -> Result<(), &'static str> {
        let extras = self.world.dyndeps.get(dyndep).cloned().flatten();
        let claimed: Vec<_> = extras.iter().flatten().flat_map(|extra| &extra.outputs).collect();
        let twice = claimed.len() != claimed.iter().collect::<HashSet<_>>().len();
        let broken = twice || extras.is_none() || claimed.iter().any(|file| self.producer(file).is_some());
        for extra in extras.into_iter().flatten().filter(|_| !broken) {
            let target = &mut self.world.targets[extra.target];
            target.outputs.extend(extra.outputs);
            target.implicit.extend(extra.inputs);
            target.restat |= extra.restat;
        }
        self.loaded.insert(dyndep.into(), broken);
        if broken && self.exact { Err("broken") } else { Ok(()) }
    }

    fn look_at(&self, file: &str) -> Result<(), &'static str> {
        match self.state(file) {
            Some(State::Unreadable) if self.exact => Err("unreadable"),
            Some(State::Present(-1)) if self.exact => Err("silent"),
            _ => Ok(()),
        }
    }

    fn dirtying_inputs(&self, t: usize) -> Vec<String> {
        let target = &self.world.targets[t];
        let mut inputs = [target.explicit.clone(), target.implicit.clone()].concat();
        if let Discovered::Known(discovered, _) = &target.discovered
            && self.believed.contains(&t)
        {
            inputs.extend(discovered.clone());
        }
        inputs
    }

    fn producer(&self, file: &str) -> Option<usize> {
        self.world.targets.iter().position(|target| target.outputs.iter().any(|output| output == file))
    }

    fn is_ready(&self, file: &str) -> bool {
        self.producer(file).is_none_or(|t| self.ready.contains(&t))
    }

    fn state(&self, file: &str) -> Option<State> {
        self.world.files.get(file).copied()
    }

    fn exists(&self, file: &str) -> bool {
        matches!(self.state(file), Some(State::Present(_)))
    }

    fn is_missing(&self, file: &str) -> bool {
        matches!(self.state(file), None | Some(State::NotAsked))
    }

    /// The time of a file as it is compared; 0 where there is none.
    fn own_time(&self, file: &str) -> Mtime {
        match self.state(file) {
            Some(State::Present(0..S)) => 1,
            Some(State::Present(mtime)) => mtime,
            _ => 0,
        }
    }

    fn time(&self, file: &str) -> Mtime {
        self.lent.get(file).copied().unwrap_or_else(|| self.own_time(file))
    }
}

//! A naive second implementation of records and of what is judged by them: plain maps, whole contents instead of digests,
//! no cleverness. It knows of the disk what anybody can see, and never looks into the store.

use crate::describe::{Answer, Desc};
use std::collections::{BTreeMap, BTreeSet};
use upcheck::collect::{Disk, MemoryDisk};
use upcheck::{Meta, Mtime, Policy, Stat, Verdict};

/// How a file was, as a record has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Seen {
    /// Nothing is equal to it.
    Unknown,
    Missing,
    /// `is_racy`: the stamp is not older than the clock was. `has_content`: the content is on record.
    File {
        meta: Meta,
        content: Vec<u8>,
        is_racy: bool,
        has_content: bool,
    },
    /// Of a target without files, which of its builds succeeded last, and when.
    Success {
        build: u64,
        ended: Mtime,
    },
}

/// What is on record of a target.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) build: u64,
    pub(crate) target: String,
    pub(crate) command: String,
    values: BTreeMap<String, String>,
    depfile: String,
    pub(crate) inputs: Vec<(String, Seen)>,
    pub(crate) discovered: Vec<(String, Seen)>,
    outputs: Vec<(String, Seen)>,
    /// The clock of stamps when the build began.
    began: Mtime,
    /// The same when it ended.
    pub(crate) ended: Option<Mtime>,
}

/// A store, without a file: entries in the order in which they were written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) entries: Vec<Entry>,
    n_builds: u64,
}

/// All that a question is about.
pub(crate) struct Naive<'a> {
    pub(crate) disk: &'a MemoryDisk,
    pub(crate) targets: &'a [Desc],
    pub(crate) common: &'a [(String, String)],
    pub(crate) store: &'a Store,
}

impl Entry {
    /// What is on record of a build that its process commits itself: not its inputs.
    fn only_begun(self) -> Self {
        Self { inputs: Vec::new(), discovered: Vec::new(), ..self }
    }
}

impl Store {
    fn last(&self, target: &str) -> Option<&Entry> {
        self.entries.iter().rev().find(|entry| entry.target == target)
    }

    pub(crate) fn success(&self, target: &str) -> Option<&Entry> {
        self.last(target).filter(|entry| entry.ended.is_some())
    }

    fn next_build(&mut self) -> u64 {
        self.n_builds += 1;
        self.n_builds
    }
}

pub(crate) fn read(disk: &MemoryDisk, path: &str) -> Option<Vec<u8>> {
    disk.read(path.as_bytes()).ok()
}

pub(crate) fn meta(disk: &MemoryDisk, path: &str) -> Option<Meta> {
    match disk.stat(path.as_bytes()) {
        Stat::Present(meta) => Some(meta),
        _ => None,
    }
}

fn clock(disk: &MemoryDisk) -> Mtime {
    disk.stamp_now().expect("a clock").0
}

fn is_same_stamp(a: Meta, b: Meta) -> bool {
    (a.mtime, a.size, a.inode) == (b.mtime, b.size, b.inode)
}

/// What a file looks like now.
fn look(disk: &MemoryDisk, path: &str, wants_content: bool) -> Seen {
    let Some(meta) = meta(disk, path) else { return Seen::Missing };
    let is_racy = meta.ctime >= clock(disk);
    let content = read(disk, path).expect("a file");
    Seen::File { meta, content, is_racy, has_content: wants_content || is_racy }
}

fn looks_at_content(policy: Policy) -> bool {
    !matches!(policy, Policy::Mtime | Policy::Newer)
}

/// The policy that counts for a record.
fn recording(policy: Policy) -> Policy {
    if policy == Policy::Newer { Policy::MtimeAndDigestInput } else { policy }
}

impl Naive<'_> {
    pub(crate) fn producer(&self, path: &str) -> Option<&Desc> {
        self.targets.iter().find(|desc| desc.called() == path || desc.outputs.iter().any(|o| o == path))
    }

    pub(crate) fn desc(&self, name: &str) -> &Desc {
        self.producer(name).expect("a target")
    }

    /// The policy by which a target is judged.
    fn policy(desc: &Desc) -> Policy {
        match desc.policy.unwrap_or_default() {
            Policy::Newer if desc.outputs.is_empty() => Policy::default(),
            policy => policy,
        }
    }

    fn is_name(&self, path: &str) -> bool {
        self.producer(path).is_some_and(|desc| desc.outputs.is_empty() && !desc.phony)
    }

    pub(crate) fn matches(&self, desc: &Desc) -> Vec<String> {
        let all = ["g/a.c", "g/b.c", "g/c.c"].iter().filter(|path| meta(self.disk, path).is_some());
        if desc.globs.is_empty() { Vec::new() } else { all.map(ToString::to_string).collect() }
    }

    fn described(desc: &Desc) -> Vec<String> {
        desc.explicit.iter().chain(&desc.implicit).cloned().collect()
    }

    /// What a target's success rests on: described inputs, those of phony names in their place, and matches.
    pub(crate) fn inputs(&self, desc: &Desc) -> BTreeSet<String> {
        let mut all: BTreeSet<String> = self.matches(desc).into_iter().collect();
        let mut left = Self::described(desc);
        while let Some(path) = left.pop() {
            if let Some(phony) = self.producer(&path).filter(|desc| desc.phony) {
                left.extend(Self::described(phony));
            }
            all.insert(path);
        }
        all
    }

    pub(crate) fn values(&self, desc: &Desc) -> BTreeMap<String, String> {
        self.common.iter().chain(&desc.values).cloned().collect()
    }

    fn see(&self, path: &str, wants_content: bool) -> Seen {
        if !self.is_name(path) {
            return look(self.disk, path, wants_content);
        }
        let success = self.store.success(path);
        success.map_or(Seen::Unknown, |entry| Seen::Success {
            build: entry.build,
            ended: entry.ended.unwrap_or_default(),
        })
    }

    fn recording(&self, name: &str) -> Policy {
        recording(self.desc(name).policy.unwrap_or_default())
    }

    fn inputs_before(&self, name: &str) -> BTreeSet<String> {
        let last = self.store.last(name).map(|entry| entry.discovered.clone()).unwrap_or_default();
        self.inputs(self.desc(name)).into_iter().chain(last.into_iter().map(|(path, _)| path)).collect()
    }

    /// The entry that says that a build begins. `wanted`: of which files the content goes on record, since one of those
    /// that begin wants it.
    fn beginning(&self, name: &str, build: u64, wanted: &BTreeSet<String>) -> Entry {
        let desc = self.desc(name);
        let see = |path: &String| (path.clone(), self.see(path, wanted.contains(path)));
        let discovered = self.store.last(name).map(|entry| entry.discovered.clone()).unwrap_or_default();
        Entry {
            build,
            target: name.to_owned(),
            command: desc.command.clone(),
            values: self.values(desc),
            depfile: desc.depfile.clone(),
            inputs: self.inputs(desc).iter().map(see).collect(),
            discovered: discovered.iter().map(|(path, _)| see(path)).collect(),
            outputs: Vec::new(),
            began: clock(self.disk),
            ended: None,
        }
    }

    /// How an input goes on record that was seen like this when the build began.
    fn still(&self, path: &str, then: &Seen, wanted: &BTreeSet<String>) -> Seen {
        let now = self.see(path, true);
        match (then, &now) {
            (Seen::Missing, Seen::Missing) => Seen::Missing,
            (Seen::Success { .. }, _) if *then == now => now,
            (
                Seen::File { meta, content, is_racy, has_content },
                Seen::File { meta: meta_now, content: content_now, is_racy: is_racy_now, .. },
            ) => {
                if meta == meta_now && !is_racy {
                    return then.clone();
                }
                let is_same = is_same_stamp(*meta, *meta_now) && (!has_content || content == content_now);
                match is_same {
                    true => Seen::File {
                        meta: *meta_now,
                        content: content_now.clone(),
                        is_racy: *is_racy_now,
                        has_content: *has_content || *is_racy_now || wanted.contains(path),
                    },
                    false => Seen::Unknown,
                }
            }
            _ => Seen::Unknown,
        }
    }

    /// What is on record when a build has ended that left this depfile.
    fn end(&self, begun: &Entry, named: &[String], wanted: &BTreeSet<String>) -> Entry {
        let desc = self.desc(&begun.target);
        let mut inputs: Vec<(String, Seen)> =
            begun.inputs.iter().map(|(path, then)| (path.clone(), self.still(path, then, wanted))).collect();
        let known = |path: &String| begun.inputs.iter().chain(&begun.discovered).find(|(p, _)| p == path);
        let new = self.matches(desc).into_iter().filter(|path| known(path).is_none());
        inputs.extend(new.map(|path| (path, Seen::Unknown)));
        let described = Self::described(desc);
        let mut discovered = Vec::new();
        for path in named.iter().filter(|path| !described.contains(path)) {
            let seen = match known(path) {
                Some((_, then)) => self.still(path, then, wanted),
                None => match look(self.disk, path, wanted.contains(path)) {
                    Seen::File { meta, content, is_racy, has_content }
                        if meta.ctime < begun.began && clock(self.disk) >= begun.began =>
                    {
                        Seen::File { meta, content, is_racy, has_content }
                    }
                    _ => Seen::Unknown,
                },
            };
            discovered.push((path.clone(), seen));
        }
        let output = |path: &String| (path.clone(), look(self.disk, path, wanted.contains(path)));
        Entry {
            inputs,
            discovered,
            outputs: desc.outputs.iter().map(output).collect(),
            ended: Some(clock(self.disk)),
            ..begun.clone()
        }
    }
}

impl Naive<'_> {
    /// Whether one of the builds makes that file.
    fn is_of(&self, builds: &[Entry], path: &str) -> bool {
        self.producer(path).is_some_and(|desc| builds.iter().any(|entry| entry.target == desc.called()))
    }

    /// What another target of the same batch made is an input as it came out, unless it is younger than what was made of
    /// it.
    fn made_along(&self, entry: &Entry, batch: &[Entry], wanted: &BTreeSet<String>) -> Entry {
        let outputs = entry.outputs.iter().filter_map(|(path, _)| meta(self.disk, path));
        let oldest = outputs.map(|meta| meta.mtime).min().unwrap_or(Mtime::MAX);
        let settle = |(path, seen): &(String, Seen)| {
            let maker = batch
                .iter()
                .find(|other| other.target != entry.target && self.is_of(std::slice::from_ref(other), path));
            let settled = match maker {
                Some(maker) if *seen == Seen::Unknown && self.is_name(path) => {
                    Seen::Success { build: maker.build, ended: maker.ended.unwrap_or_default() }
                }
                Some(_) if *seen == Seen::Unknown => match look(self.disk, path, wanted.contains(path)) {
                    Seen::File { meta, content, is_racy, has_content } if meta.mtime <= oldest => {
                        Seen::File { meta, content, is_racy, has_content }
                    }
                    _ => Seen::Unknown,
                },
                _ => seen.clone(),
            };
            (path.clone(), settled)
        };
        Entry {
            inputs: entry.inputs.iter().map(settle).collect(),
            discovered: entry.discovered.iter().map(settle).collect(),
            ..entry.clone()
        }
    }
}

/// Begins builds, all looked at at once.
pub(crate) fn begin(
    store: &mut Store,
    disk: &MemoryDisk,
    targets: &[Desc],
    common: &[(String, String)],
    names: &[&str],
    is_for_another: bool,
) -> Vec<Entry> {
    let numbers: Vec<u64> = names.iter().map(|_| store.next_build()).collect();
    let naive = Naive { disk, targets, common, store };
    let wanting = names.iter().filter(|name| looks_at_content(naive.recording(name)));
    let wanted = wanting.flat_map(|name| naive.inputs_before(name)).collect();
    let entries: Vec<Entry> =
        names.iter().zip(numbers).map(|(name, build)| naive.beginning(name, build, &wanted)).collect();
    store.entries.extend(entries.iter().cloned().map(|entry| match is_for_another {
        true => entry,
        false => entry.only_begun(),
    }));
    entries
}

/// Ends builds. `named` has what the depfile of each says.
pub(crate) fn commit(
    store: &mut Store,
    disk: &MemoryDisk,
    targets: &[Desc],
    common: &[(String, String)],
    begun: &[Entry],
    named: &[Vec<String>],
) {
    let mut ended = Vec::new();
    let mut overtaken = Vec::new();
    let mut wanted = BTreeSet::new();
    for (entry, named) in begun.iter().zip(named) {
        let naive = Naive { disk, targets, common, store };
        let policy = naive.recording(&entry.target);
        if looks_at_content(policy) {
            wanted.extend(named.iter().cloned());
            let matches = naive.matches(naive.desc(&entry.target));
            let inputs = entry.inputs.iter().chain(&entry.discovered).map(|(path, _)| path.clone());
            wanted.extend(inputs.chain(matches).filter(|path| naive.is_of(begun, path)));
        }
        if looks_at_content(policy.of_outputs()) {
            wanted.extend(naive.desc(&entry.target).outputs.iter().cloned());
        }
        // Whether these are still the same only their content can tell.
        for (path, then) in entry.inputs.iter().chain(&entry.discovered) {
            if let (Seen::File { meta: then, is_racy, has_content: true, .. }, Some(now)) =
                (then, meta(disk, path))
                && is_same_stamp(*then, now)
                && (*then != now || *is_racy)
            {
                wanted.insert(path.clone());
            }
        }
    }
    for (entry, named) in begun.iter().zip(named) {
        let naive = Naive { disk, targets, common, store };
        let last = store.last(&entry.target);
        match last.is_some_and(|last| last.build == entry.build && last.ended.is_none()) {
            true => ended.push(naive.end(entry, named, &wanted)),
            // Somebody else has begun: neither counts.
            false => overtaken.push(entry.clone().only_begun()),
        }
    }
    for entry in &mut overtaken {
        entry.build = store.next_build();
    }
    store.entries.extend(overtaken);
    let naive = Naive { disk, targets, common, store };
    let ended = ended.iter().map(|entry| naive.made_along(entry, &ended, &wanted)).collect::<Vec<_>>();
    store.entries.extend(ended);
}

/// A verdict under way.
#[derive(Clone, Debug, Default)]
struct Judged {
    reasons: BTreeSet<(&'static str, String)>,
    is_certain: bool,
    /// By which make's rule goes: of a phony name the newest of its inputs.
    time: Mtime,
}

impl Naive<'_> {
    /// All targets that are not fresh, phony ones aside.
    pub(crate) fn check(&self) -> Answer {
        let mut judged = BTreeMap::new();
        let mut answer = Answer::new();
        for desc in self.targets {
            let found = self.judge(desc, &mut judged);
            if !desc.phony && !found.reasons.is_empty() {
                let verdict = if found.is_certain { Verdict::Stale } else { Verdict::Pending };
                answer.insert(desc.called().to_owned(), (verdict, found.reasons));
            }
        }
        answer
    }

    fn judge(&self, desc: &Desc, judged: &mut BTreeMap<String, Judged>) -> Judged {
        let name = desc.called().to_owned();
        if let Some(known) = judged.get(&name) {
            return known.clone();
        }
        let mut found = Judged::default();
        let policy = Self::policy(desc);
        let by_record = policy != Policy::Newer && !desc.phony;
        let own = |found: &mut Judged, code, path: &str| {
            found.reasons.insert((code, path.to_owned()));
            found.is_certain = true;
        };
        // Which inputs count beside the described ones.
        let mut more = self.matches(desc);
        if by_record {
            if let Some(success) = self.store.success(&name) {
                more.extend(success.discovered.iter().map(|(path, _)| path.clone()));
            }
        } else if !desc.depfile.is_empty() {
            match read(self.disk, &desc.depfile).filter(|bytes| !bytes.is_empty()) {
                Some(bytes) => more.extend(named_in(&bytes)),
                None => {
                    more.clear();
                    own(&mut found, "deps-unknown", &name);
                }
            }
        }
        // What is stale or missing before it.
        let all: BTreeSet<String> = Self::described(desc).into_iter().chain(more).collect();
        let mut clean: BTreeMap<String, Mtime> = BTreeMap::new();
        for path in &all {
            match self.producer(path) {
                Some(producer) => {
                    let before = self.judge(producer, judged);
                    if before.reasons.is_empty() {
                        clean
                            .insert(path.clone(), if producer.phony { before.time } else { self.time(path) });
                        continue;
                    }
                    let has_inputs = !Self::described(producer).is_empty() || !producer.order_only.is_empty();
                    let code = if producer.phony && !has_inputs { "phony-missing" } else { "upstream-stale" };
                    found.reasons.insert((code, path.clone()));
                    // What is made again may come out as it was.
                    found.is_certain |= before.is_certain && !(by_record && policy.of_inputs().forgives());
                }
                None if meta(self.disk, path).is_some() => {
                    clean.insert(path.clone(), self.time(path));
                }
                None => own(&mut found, "input-missing", path),
            }
        }
        found.time = clean.values().copied().max().unwrap_or(0);
        if desc.phony {
            if Self::described(desc).is_empty() && desc.order_only.is_empty() {
                own(&mut found, "phony-missing", &name);
            }
        } else if by_record {
            for (code, path) in self.by_record(desc, policy, &all, &clean) {
                own(&mut found, code, &path);
            }
        } else {
            for (code, path) in self.by_times(desc, &clean) {
                own(&mut found, code, &path);
            }
        }
        judged.insert(name, found.clone());
        found
    }

    /// When a file was changed, or a target without files succeeded.
    fn time(&self, path: &str) -> Mtime {
        match self.is_name(path) {
            true => self.store.success(path).and_then(|entry| entry.ended).unwrap_or(0),
            false => meta(self.disk, path).map_or(0, |meta| meta.mtime),
        }
    }

    fn by_times(&self, desc: &Desc, clean: &BTreeMap<String, Mtime>) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let mut is_compared = false;
        for output in &desc.outputs {
            let Some(meta) = meta(self.disk, output) else {
                found.push(("output-missing", output.clone()));
                continue;
            };
            let newer: Vec<_> = clean.iter().filter(|(_, time)| **time > meta.mtime).collect();
            if !newer.is_empty() && !is_compared {
                is_compared = true;
                found.extend(newer.iter().map(|(path, _)| ("input-newer", (*path).clone())));
            }
        }
        found
    }

    fn by_record(
        &self,
        desc: &Desc,
        policy: Policy,
        all: &BTreeSet<String>,
        clean: &BTreeMap<String, Mtime>,
    ) -> Vec<(&'static str, String)> {
        let name = desc.called().to_owned();
        let mut found = Vec::new();
        let Some(entry) = self.store.last(&name) else {
            let missing = desc.outputs.iter().filter(|output| meta(self.disk, output).is_none());
            found.extend(missing.map(|output| ("output-missing", output.clone())));
            found.push(("never-built", name));
            return found;
        };
        if entry.ended.is_none() {
            return vec![("interrupted", name)];
        }
        if entry.command != desc.command {
            found.push(("command-changed", name.clone()));
        }
        if entry.values != self.values(desc) {
            found.push(("value-changed", name.clone()));
        }
        if entry.depfile != desc.depfile {
            found.push(("deps-unknown", name.clone()));
        }
        let now = self.inputs(desc);
        let then: BTreeSet<String> = entry.inputs.iter().map(|(path, _)| path.clone()).collect();
        if now != then {
            found.push(("inputs-differ", name));
        }
        let described = entry.inputs.iter().filter(|(path, _)| now.contains(path));
        for (path, seen) in described.chain(&entry.discovered) {
            // What is stale or missing is a reason already.
            let is_dirty = match all.contains(path) {
                true => !clean.contains_key(path),
                // An input of a phony name.
                false => self.is_dirty(path),
            };
            if !is_dirty {
                found.extend(self.compare(policy.of_inputs(), path, seen).map(|changed| match changed {
                    true => ("input-changed", path.clone()),
                    false => ("racy", path.clone()),
                }));
            }
        }
        for (path, seen) in &entry.outputs {
            if meta(self.disk, path).is_none() {
                found.push(("output-missing", path.clone()));
                continue;
            }
            found.extend(self.compare(policy.of_outputs(), path, seen).map(|changed| match changed {
                true => ("output-changed", path.clone()),
                false => ("racy", path.clone()),
            }));
        }
        found
    }

    fn is_dirty(&self, path: &str) -> bool {
        match self.producer(path) {
            Some(producer) => !self.judge(producer, &mut BTreeMap::new()).reasons.is_empty(),
            None => meta(self.disk, path).is_none(),
        }
    }

    /// `None` if the file is what it was, and whether it changed or nobody can tell.
    fn compare(&self, policy: Policy, path: &str, then: &Seen) -> Option<bool> {
        let now = self.see(path, true);
        let (
            Seen::File { meta, content, is_racy, has_content },
            Seen::File { meta: meta_now, content: content_now, .. },
        ) = (then, &now)
        else {
            return (*then != now || *then == Seen::Unknown).then_some(true);
        };
        let has_stamp = is_same_stamp(*meta, *meta_now);
        if matches!(policy, Policy::Mtime | Policy::MtimeOrDigest) && !has_stamp {
            return Some(true);
        }
        let is_proven = match policy {
            Policy::Mtime => has_stamp && !is_racy,
            _ => meta == meta_now && !is_racy,
        };
        match (is_proven, has_content) {
            (true, _) => None,
            (false, true) => (content != content_now).then_some(true),
            (false, false) => Some(!has_stamp),
        }
    }
}

/// The inputs that a depfile names.
pub(crate) fn named_in(depfile: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(depfile).into_owned();
    let (_, names) = text.split_once(':').unwrap_or_default();
    names.split_whitespace().map(ToOwned::to_owned).collect()
}

//! Random worlds: sources that are edited at the worst moments, commands that read them one after the other, stores that
//! come to harm. After every step two things are asked:
//!
//! - whether the answer is the one of the naive implementation, to the last reason;
//! - whether what is called fresh is right, which needs no rule: what its command would make now is what it made.
//!
//! What documents say cannot be seen is counted and excused, nothing else is: inputs that were changed and put back within
//! a tick, or in place with their times; and changes after a clock was set back.

use crate::S;
use crate::describe::{Answer, Desc, Process, Running, lines};
use crate::dice::{Dice, number};
use crate::naive::{self, Entry, Naive, Seen, Store, meta, named_in, read};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;
use upcheck::collect::{Disk, MemoryDisk};
use upcheck::{Mtime, Policy};
use upcheck_tests::aloud::progress;

const MS: Mtime = 1_000_000;
const SOURCES: [&str; 9] = ["s0", "s1", "s2", "s3", "h0", "h1", "g/a.c", "g/b.c", "g/c.c"];

/// What was found on the way.
#[derive(Default)]
struct Counts {
    checks: AtomicU64,
    fresh: AtomicU64,
    verified: AtomicU64,
    commits: AtomicU64,
    doubted: AtomicU64,
    misread: AtomicU64,
    clock_went_back: AtomicU64,
    tampered: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

struct World<'a> {
    dice: Dice,
    disk: MemoryDisk,
    clock: Mtime,
    /// The latest that it has been.
    latest: Mtime,
    granularity: Mtime,
    clock_went_back: bool,
    place: TempDir,
    targets: Vec<Desc>,
    common: Vec<(String, String)>,
    /// The header that the command of a target with a depfile reads first.
    headers: BTreeMap<String, String>,
    store: Store,
    /// How long the file of records was when the naive store had so many entries.
    lengths: Vec<(u64, usize)>,
    backups: Vec<Backup>,
    /// A process that lives on from one question to the next.
    process: Option<Process>,
    /// Outputs that somebody changed by hand since they were made.
    tampered: BTreeSet<String>,
    /// Builds whose commands have read something else than is on record, which cannot be seen.
    misread: BTreeSet<u64>,
    /// What the command of each build made; of targets without outputs nothing else shows it.
    made: BTreeMap<u64, String>,
    log: Vec<String>,
    counts: &'a Counts,
}

/// A store that was kept aside: its file, what is in it, and how long it was when.
type Backup = (Vec<u8>, Store, Vec<(u64, usize)>);

/// A build under way.
struct Build {
    running: Running,
    begun: Vec<Entry>,
    /// What each command has read.
    reads: Vec<BTreeMap<String, Vec<u8>>>,
    named: Vec<Vec<String>>,
    is_done: bool,
}

impl<'a> World<'a> {
    fn new(seed: u64, counts: &'a Counts) -> Self {
        let mut dice = Dice(seed);
        let mut disk = MemoryDisk::with_real_ctimes();
        let clock = 1000 * S + 123_456_789;
        disk.set_clock(clock);
        let granularity = [1, 4 * MS, S, 2 * S][usize::try_from(dice.roll(4)).expect("small")];
        disk.set_granularity(granularity);
        if dice.one_in(3) {
            disk.set_skew(
                [-500 * S, -S, -30 * MS, 30 * MS, 900 * S][usize::try_from(dice.roll(5)).expect("small")],
            );
        }
        let in_memory = std::path::Path::new("/dev/shm");
        let place = if in_memory.is_dir() { TempDir::new_in(in_memory) } else { TempDir::new() };
        let mut world = Self {
            dice,
            disk,
            clock,
            latest: clock,
            granularity,
            clock_went_back: false,
            place: place.expect("a temporary directory"),
            targets: Vec::new(),
            common: vec![("CC".to_owned(), "a".to_owned())],
            headers: BTreeMap::new(),
            store: Store::default(),
            lengths: Vec::new(),
            backups: Vec::new(),
            process: None,
            tampered: BTreeSet::new(),
            misread: BTreeSet::new(),
            made: BTreeMap::new(),
            log: Vec::new(),
            counts,
        };
        for source in SOURCES {
            let content = world.content();
            world.disk.write(source, &content);
        }
        world.disk.write("g/readme", b"");
        world.wait();
        world.describe();
        world
    }

    fn note(&mut self, what: impl Into<String>) {
        self.log.push(what.into());
    }

    fn store_dir(&self) -> PathBuf {
        self.place.path().join("store")
    }

    fn content(&mut self) -> Vec<u8> {
        self.dice.pick(&["a", "b", "+", "a", "b", "ab+"]).as_bytes().to_vec()
    }

    /// Random targets, each of which may use what those before it make.
    fn describe(&mut self) {
        let n = 2 + self.dice.roll(5);
        let only = self.policy();
        let is_mixed = self.dice.one_in(2);
        for number in 0..n {
            let made: Vec<String> = self.targets.iter().map(|desc| desc.called().to_owned()).collect();
            let mut inputs = Vec::new();
            for _ in 0..=self.dice.roll(3) {
                inputs.push(self.some_input(&made));
            }
            inputs.sort();
            inputs.dedup();
            let mut desc = Desc { explicit: inputs, command: "cc 1".to_owned(), ..Desc::default() };
            desc.policy = Some(if is_mixed { self.policy() } else { only });
            if self.dice.one_in(4) {
                desc.implicit = vec![self.some_input(&made)];
            }
            match self.dice.roll(8) {
                0 => desc.name = format!("n{number}"),
                1 => (desc.outputs, desc.phony) = (vec![format!("f{number}")], true),
                2 => desc.outputs = vec![format!("o{number}"), format!("p{number}")],
                _ => desc.outputs = vec![format!("o{number}")],
            }
            let name = desc.called().to_owned();
            if desc.phony {
                (desc.command, desc.implicit) = (String::new(), Vec::new());
                self.targets.push(desc);
                continue;
            }
            if self.dice.one_in(3) {
                desc.depfile = format!("{name}.d");
                // A header may be made by a target, too, and need not be described but for the order.
                let generated: Vec<&str> =
                    made.iter().map(String::as_str).filter(|n| n.starts_with('o')).collect();
                let header = match generated.is_empty() || self.dice.one_in(2) {
                    true => "h0".to_owned(),
                    false => self.dice.pick(&generated).to_owned(),
                };
                if header != "h0" {
                    desc.order_only = vec![header.clone()];
                }
                self.headers.insert(name, header);
            }
            if self.dice.one_in(5) {
                desc.globs = vec!["g/*.c".to_owned()];
            }
            if self.dice.one_in(4) {
                desc.values = vec![("OPT".to_owned(), "1".to_owned())];
            }
            self.targets.push(desc);
        }
    }

    fn some_input(&mut self, made: &[String]) -> String {
        let made: Vec<&str> = made.iter().map(String::as_str).collect();
        if made.is_empty() || self.dice.one_in(2) {
            return self.dice.pick(&["s0", "s1", "s2", "s3"]).to_owned();
        }
        self.dice.pick(&made).to_owned()
    }

    fn policy(&mut self) -> Policy {
        Policy::ALL[usize::try_from(self.dice.roll(6)).expect("small")]
    }

    fn naive(&self) -> Naive<'_> {
        Naive { disk: &self.disk, targets: &self.targets, common: &self.common, store: &self.store }
    }

    /// A process: the one that lives on, or another one.
    fn process(&mut self) -> Process {
        let known = self.process.take().filter(|_| !self.dice.one_in(4));
        known.unwrap_or_else(|| {
            let common: Vec<(&str, &str)> = self.common.iter().map(|(n, v)| (&n[..], &v[..])).collect();
            Process::with_values(&self.targets, &common)
        })
    }

    /// All that was described is another one now, so no process knows it.
    fn described_anew(&mut self) {
        self.process = None;
    }

    fn by(&mut self, time: Mtime) {
        self.clock += time;
        self.latest = self.latest.max(self.clock);
        self.disk.set_clock(self.clock);
    }

    /// Lets so much time pass that nothing is racy any more.
    fn wait(&mut self) {
        self.by(3 * S);
    }

    fn pass_time(&mut self) {
        let times = [0, 0, 1, MS, 10 * MS, 100 * MS, S, 3 * S];
        let time = times[usize::try_from(self.dice.roll(8)).expect("small")];
        self.by(time);
    }

    /// What the command of a target makes of its inputs, what it reads, and what it discovers. `None` if it fails.
    fn run(
        &self,
        desc: &Desc,
        mut read: impl FnMut(&str) -> Option<Vec<u8>>,
    ) -> Option<(String, Vec<String>)> {
        let naive = self.naive();
        let mut all = BTreeMap::new();
        for path in naive.inputs(desc) {
            let is_file =
                naive.producer(&path).is_none_or(|desc| desc.outputs.contains(&path) && !desc.phony);
            if is_file {
                let content = read(&path)?;
                all.insert(path, content);
            }
        }
        let mut named: Vec<String> = all.keys().cloned().collect();
        if let Some(header) = self.headers.get(desc.called()).filter(|_| !desc.depfile.is_empty()) {
            let content = read(header)?;
            let more = content.contains(&b'+');
            named.push(header.clone());
            all.insert(header.clone(), content);
            if more {
                all.insert("h1".to_owned(), read("h1")?);
                named.push("h1".to_owned());
            }
        }
        let mut hasher = DefaultHasher::new();
        (desc.called(), &desc.command, naive.values(desc), all).hash(&mut hasher);
        Some((format!("{:016x}", hasher.finish()), named))
    }

    /// Begins builds that one process commits, or another.
    fn begin(&mut self, names: &[&str], is_for_another: bool) -> Build {
        self.note(format!("begin {names:?}, for another: {is_for_another}"));
        let process = self.process();
        let running = match is_for_another {
            true => {
                process.begin_for_another(&self.disk, &self.store_dir(), names);
                self.process = None;
                self.process().take_up(&self.store_dir(), names)
            }
            false => process.begin(&self.disk, &self.store_dir(), names),
        };
        let (targets, common) = (&self.targets, &self.common);
        let begun = naive::begin(&mut self.store, &self.disk, targets, common, names, is_for_another);
        self.measure();
        Build { running, begun, reads: Vec::new(), named: Vec::new(), is_done: true }
    }

    /// How long the store's file is now.
    fn measure(&mut self) {
        let length = fs::metadata(self.store_dir().join("records")).map_or(0, |meta| meta.len());
        self.lengths.push((length, self.store.entries.len()));
    }

    /// Runs the commands of a build. With `disturbed`, there are edits while they read.
    fn commands(&mut self, build: &mut Build, disturbed: bool) {
        for at in 0..build.begun.len() {
            let desc = self.naive().desc(&build.begun[at].target).clone();
            if disturbed && self.dice.one_in(3) {
                self.edit();
            }
            // The order in which files are read is that of their names; edits come in between.
            let mut reads = BTreeMap::new();
            let mut moment = None;
            if disturbed && self.dice.one_in(4) {
                moment = Some(self.dice.roll(4));
            }
            let done = loop {
                let mut n_read = 0;
                let known = reads.clone();
                let mut new = reads.clone();
                let stop = moment;
                let made = self.run(&desc, |path| {
                    if let Some(content) = known.get(path) {
                        return Some(Vec::clone(content));
                    }
                    n_read += 1;
                    if stop == Some(n_read - 1) {
                        return None;
                    }
                    let content = read(&self.disk, path)?;
                    new.insert(path.to_owned(), content.clone());
                    Some(content)
                });
                reads = new;
                if stop.is_some() {
                    moment = None;
                    self.pass_time();
                    self.edit();
                    if self.dice.one_in(2) {
                        moment = Some(self.dice.roll(3));
                    }
                    continue;
                }
                break made;
            };
            let Some((content, named)) = done else {
                self.note(format!("  {} fails", desc.called()));
                build.is_done = false;
                return;
            };
            // A pattern may match less by now than what was read.
            reads.retain(|path, _| named.contains(path));
            self.note(format!("  {} reads {:?}, makes {content}", desc.called(), texts(&reads)));
            self.write_outputs(&desc, &content, &named);
            self.made.insert(build.begun[at].build, content);
            build.reads.push(reads);
            build.named.push(if desc.depfile.is_empty() { Vec::new() } else { named });
        }
    }

    fn write_outputs(&mut self, desc: &Desc, content: &str, named: &[String]) {
        for output in &desc.outputs {
            let is_kept = read(&self.disk, output).is_some_and(|old| old == content.as_bytes());
            match self.dice.roll(3) {
                // Make's rule does not forgive that.
                0 if is_kept && desc.policy != Some(Policy::Newer) => {}
                1 => self.disk.overwrite(output, content.as_bytes()),
                _ => self.disk.write(output, content.as_bytes()),
            }
            self.tampered.remove(output);
        }
        if !desc.depfile.is_empty() {
            let text = format!("{}: {}\n", desc.called(), named.join(" "));
            self.disk.write(&desc.depfile, text.as_bytes());
        }
    }

    fn commit(&mut self, build: Build) {
        let names: Vec<String> = build.begun.iter().map(|entry| entry.target.clone()).collect();
        let outputs: Vec<String> = self
            .targets
            .iter()
            .filter(|d| names.iter().any(|n| n == d.called()))
            .flat_map(|d| d.outputs.clone())
            .collect();
        if outputs.iter().any(|output| meta(&self.disk, output).is_none()) {
            self.note("  an output is gone: no commit");
            return;
        }
        // What stands in the depfile is what counts, whoever wrote it.
        let named: Vec<Vec<String>> = build
            .begun
            .iter()
            .map(|entry| match self.naive().desc(&entry.target).depfile.as_str() {
                "" => Vec::new(),
                depfile => named_in(&read(&self.disk, depfile).unwrap_or_default()),
            })
            .collect();
        let (process, committed) = build.running.try_commit(&self.disk).expect("it is committed");
        self.process = Some(process);
        naive::commit(&mut self.store, &self.disk, &self.targets, &self.common, &build.begun, &named);
        self.measure();
        self.note(format!("commit {names:?}, {} doubtful", committed.doubtful.len()));
        count(&self.counts.commits);
        if !committed.doubtful.is_empty() {
            count(&self.counts.doubted);
        }
        for (begun, reads) in build.begun.iter().zip(&build.reads) {
            self.compare_reads(begun, reads);
        }
    }

    /// Whether a command has read what is on record; if not, only what cannot be seen is an excuse.
    fn compare_reads(&mut self, begun: &Entry, reads: &BTreeMap<String, Vec<u8>>) {
        let Some(entry) = self.store.success(&begun.target).filter(|entry| entry.build == begun.build) else {
            return;
        };
        let mut is_misread = false;
        let mut is_excused = true;
        let content_on_record = |rows: &[(String, Seen)], path: &str| {
            rows.iter().find(|(p, _)| p == path).map(|(_, seen)| match seen {
                Seen::File { content, .. } => Some(content.clone()),
                _ => None,
            })
        };
        for (path, content) in reads {
            let recorded =
                content_on_record(&entry.inputs, path).or_else(|| content_on_record(&entry.discovered, path));
            let Some(Some(recorded)) = recorded else { continue };
            if recorded != *content {
                is_misread = true;
                let then = content_on_record(&begun.inputs, path)
                    .or_else(|| content_on_record(&begun.discovered, path))
                    .flatten();
                // Put back as it had been when the build began.
                is_excused &= then.as_ref() == Some(&recorded) && read(&self.disk, path) == Some(recorded);
            }
        }
        // What a pattern matched only for a moment.
        let matched = |path: &&str| path.starts_with("g/");
        let read: BTreeSet<&str> = reads.keys().map(String::as_str).filter(matched).collect();
        let recorded: BTreeSet<&str> =
            entry.inputs.iter().map(|(path, _)| path.as_str()).filter(matched).collect();
        is_misread |= read != recorded;
        let by_stamps_alone = !matches!(self.naive().desc(&begun.target).policy, Some(policy) if policy.of_inputs().needs_digest() || policy == Policy::Newer);
        if is_misread {
            assert!(
                is_excused || self.clock_went_back || by_stamps_alone,
                "{} has read something else",
                begun.target
            );
            self.misread.insert(begun.build);
        }
    }

    /// Somebody changes a source.
    fn edit(&mut self) {
        let path = self.dice.pick(&SOURCES);
        self.edit_file(path);
    }

    fn edit_file(&mut self, path: &str) {
        let content = self.content();
        let other = self.dice.pick(&SOURCES[..6]);
        let now = self.clock - self.clock.rem_euclid(self.granularity);
        let kind = self.dice.roll(10);
        let is_there = meta(&self.disk, path).is_some();
        let back = (1 + Mtime::try_from(self.dice.roll(20)).expect("small")) * S;
        self.note(format!("  edit {kind} {path}, {:?}", String::from_utf8_lossy(&content)));
        match kind {
            0 if is_there => {
                let same = read(&self.disk, path).expect("there");
                self.disk.write(path, &same);
            }
            1 if is_there => self.disk.touch(path, now),
            2 if is_there => self.disk.touch(path, now - back - (now - back).rem_euclid(self.granularity)),
            3 if is_there => self.disk.overwrite_keeping_mtime(path, &content),
            4 if other != path => self.disk.copy_with_mtime(other, path),
            5 if other != path && meta(&self.disk, other).is_some() && is_there => {
                // cp -p, into the file that is there.
                let (content, mtime) =
                    (read(&self.disk, other).expect("there"), meta(&self.disk, other).expect("there").mtime);
                self.disk.overwrite(path, &content);
                self.disk.touch(path, mtime);
            }
            6 if self.dice.one_in(3) => self.disk.remove(path),
            7 if other != path && self.dice.one_in(3) => self.disk.rename(other, path),
            8 => self.disk.overwrite(path, &content),
            _ => self.disk.write(path, &content),
        }
    }

    /// Somebody changes an output by hand.
    fn tamper(&mut self) {
        let outputs: Vec<String> =
            self.targets.iter().filter(|desc| !desc.phony).flat_map(|desc| desc.outputs.clone()).collect();
        let names: Vec<&str> = outputs.iter().map(String::as_str).collect();
        if names.is_empty() {
            return;
        }
        let path = self.dice.pick(&names);
        let Some(meta) = meta(&self.disk, path) else { return };
        let content = b"by hand, 16 byte";
        let kind = self.dice.roll(6);
        self.note(format!("tamper {kind} {path}"));
        self.tampered.insert(path.to_owned());
        match kind {
            0 => self.disk.remove(path),
            1 => self.disk.overwrite(path, content),
            2 => self.disk.write(path, content),
            3 => self.disk.overwrite_keeping_mtime(path, content),
            4 => self.disk.touch(path, meta.mtime + S),
            _ => {
                let same = read(&self.disk, path).expect("there");
                self.disk.overwrite_keeping_mtime(path, &same);
            }
        }
    }

    /// Targets that make something, in the order in which they can be made.
    fn makers(&self) -> Vec<String> {
        self.targets.iter().filter(|desc| !desc.phony).map(|desc| desc.called().to_owned()).collect()
    }

    fn build(&mut self) {
        let makers = self.makers();
        let makers: Vec<&str> = makers.iter().map(String::as_str).collect();
        if makers.is_empty() {
            return;
        }
        let mut names = vec![self.dice.pick(&makers)];
        if self.dice.one_in(5) {
            names.push(self.dice.pick(&makers));
            // Whoever builds several at once keeps to the order in which they need each other.
            names.sort_unstable_by_key(|name| makers.iter().position(|maker| maker == name));
            names.dedup();
        }
        let is_for_another = self.dice.one_in(4);
        let mut build = self.begin(&names, is_for_another);
        self.pass_time();
        self.commands(&mut build, true);
        self.pass_time();
        if self.dice.one_in(4) {
            self.edit();
            self.pass_time();
        }
        if !build.is_done {
            return;
        }
        match self.dice.roll(10) {
            0 => self.note("killed"),
            1 => self.fail(&build),
            _ => self.commit(build),
        }
    }

    /// A command that fails may have written something.
    fn fail(&mut self, build: &Build) {
        self.note("failed");
        for entry in &build.begun {
            let desc = self.naive().desc(&entry.target).clone();
            for output in &desc.outputs {
                self.disk.overwrite(output, b"partial, 16 byte");
            }
        }
    }

    /// Two builds of one target at once, that both end.
    fn overlap(&mut self) {
        let makers = self.makers();
        let makers: Vec<&str> = makers.iter().map(String::as_str).collect();
        if makers.is_empty() {
            return;
        }
        let name = self.dice.pick(&makers);
        let mut first = self.begin(&[name], false);
        self.pass_time();
        let first_reads_early = self.dice.one_in(2);
        if first_reads_early {
            self.commands(&mut first, true);
        }
        self.edit();
        self.pass_time();
        let mut second = self.begin(&[name], false);
        self.pass_time();
        self.commands(&mut second, true);
        if !first_reads_early {
            self.pass_time();
            self.commands(&mut first, true);
        }
        self.pass_time();
        let (one, other) = if self.dice.one_in(2) { (first, second) } else { (second, first) };
        for build in [one, other] {
            if build.is_done {
                self.commit(build);
            }
            self.pass_time();
        }
    }

    /// The whole build, in peace. Then everything is fresh, and stays so when sources are merely touched, where content
    /// counts.
    fn build_all(&mut self) {
        self.note("the whole build");
        // With stamps from the future nothing can be proven.
        self.by(self.latest - self.clock);
        for source in SOURCES {
            // By make's rule nothing can be fresh that uses something from the future.
            let is_usable = meta(&self.disk, source)
                .is_some_and(|meta| meta.mtime <= self.disk.stamp_now().expect("a clock").0);
            if !is_usable {
                let content = self.content();
                self.disk.write(source, &content);
            }
        }
        self.wait();
        for name in self.makers() {
            let mut build = self.begin(&[&name], false);
            self.wait();
            self.commands(&mut build, false);
            assert!(build.is_done, "{name} fails");
            self.wait();
            self.commit(build);
            self.wait();
        }
        let answer = self.check();
        assert_eq!(lines(&answer), [""; 0], "after the whole build");
        for source in SOURCES {
            match self.dice.roll(3) {
                0 => self.disk.touch(source, self.clock - self.clock.rem_euclid(self.granularity)),
                _ => {
                    let same = read(&self.disk, source).expect("there");
                    self.disk.write(source, &same);
                }
            }
        }
        self.wait();
        let answer = self.check();
        let forgives =
            |name: &str| self.naive().desc(name).policy.is_some_and(|policy| policy.of_inputs().forgives());
        for (name, (_, reasons)) in &answer {
            let is_own = reasons.iter().any(|(code, _)| *code != "upstream-stale");
            assert!(!is_own || !forgives(name), "{name} is stale, though nothing changed: {reasons:?}");
        }
    }

    fn describe_otherwise(&mut self) {
        let n = self.targets.len() as u64;
        let at = usize::try_from(self.dice.roll(n)).expect("small");
        let kind = self.dice.roll(5);
        let version = format!("cc {}", self.dice.roll(3));
        self.note(format!("describe {kind} {}", self.targets[at].called()));
        match kind {
            0 if !self.targets[at].phony => self.targets[at].command = version,
            1 => self.targets[at].values = vec![("OPT".to_owned(), version)],
            2 => self.common = vec![("CC".to_owned(), version)],
            3 => {
                let source = self.dice.pick(&["s0", "s1", "s2", "s3"]).to_owned();
                let explicit = &mut self.targets[at].explicit;
                match explicit.iter().position(|path| *path == source) {
                    Some(place) if explicit.len() > 1 => drop(explicit.remove(place)),
                    None => explicit.push(source),
                    _ => {}
                }
            }
            _ => {
                let name = self.targets[at].called().to_owned();
                if self.headers.contains_key(&name) {
                    let depfile = &mut self.targets[at].depfile;
                    *depfile = if depfile.is_empty() { format!("{name}.d") } else { String::new() };
                }
            }
        }
        self.described_anew();
    }

    fn harm_the_store(&mut self) {
        let path = self.store_dir().join("records");
        let kind = self.dice.roll(4);
        let Ok(bytes) = fs::read(&path) else { return };
        match kind {
            0 => {
                self.note("the store is kept aside");
                self.backups.push((bytes, self.store.clone(), self.lengths.clone()));
            }
            1 => {
                let backups = self.backups.len() as u64;
                if backups == 0 {
                    return;
                }
                let (bytes, store, lengths) =
                    self.backups[usize::try_from(self.dice.roll(backups)).expect("small")].clone();
                self.note(format!("an older store with {} entries is put back", store.entries.len()));
                self.store.entries = store.entries;
                self.lengths = lengths;
                // Another file, or the same one with other bytes.
                if self.dice.one_in(2) {
                    fs::remove_file(&path).expect("removed");
                }
                fs::write(&path, bytes).expect("written");
            }
            2 if self.dice.one_in(3) => {
                self.note("the store is gone");
                fs::remove_dir_all(self.store_dir()).expect("removed");
                self.store.entries.clear();
                self.lengths.clear();
            }
            _ => {
                let cut = self.dice.roll(bytes.len() as u64 + 1);
                // Of several entries that were appended at once some may be whole: those are cut off, too.
                let kept =
                    self.lengths.iter().rev().find(|(length, _)| *length <= cut).copied().unwrap_or((0, 0));
                let next = self.lengths.iter().find(|(length, _)| *length > cut).map_or(kept.1, |(_, n)| *n);
                let cut = if next > kept.1 + 1 { kept.0 } else { cut };
                self.note(format!("the store is cut off, {} entries stay", kept.1));
                self.store.entries.truncate(kept.1);
                self.lengths.retain(|(length, _)| *length <= kept.0);
                fs::write(&path, &bytes[..usize::try_from(cut).expect("small")]).expect("written");
            }
        }
    }

    /// All files come from an archive or a cache.
    fn restore_all(&mut self) {
        let is_truncated = self.dice.one_in(2);
        self.note(format!("all is restored, truncated: {is_truncated}"));
        let outputs =
            self.targets.iter().flat_map(|desc| desc.outputs.iter().chain([&desc.depfile]).cloned());
        let all: Vec<String> = SOURCES.iter().map(ToString::to_string).chain(outputs).collect();
        for path in all {
            let (Some(content), Some(meta)) = (read(&self.disk, &path), meta(&self.disk, &path)) else {
                continue;
            };
            self.disk.write(&path, &content);
            let mtime = if is_truncated { meta.mtime - meta.mtime.rem_euclid(S) } else { meta.mtime };
            self.disk.touch(&path, mtime);
        }
    }

    fn step(&mut self) {
        self.pass_time();
        match self.dice.roll(40) {
            0..12 => self.build(),
            12..22 => {
                self.note("edit");
                self.edit();
            }
            22..25 => self.build_all(),
            25..28 => self.tamper(),
            28..31 => self.overlap(),
            31..34 => self.describe_otherwise(),
            34..37 => self.harm_the_store(),
            37 => self.restore_all(),
            38 => {
                let back = [10 * MS, S, 5 * S, 60 * S][usize::try_from(self.dice.roll(4)).expect("small")];
                self.note(format!("the clock goes back by {back}"));
                self.clock_went_back = true;
                self.by(-back);
            }
            _ => self.note("nothing"),
        }
        if self.dice.one_in(2) {
            self.pass_time();
        }
        if self.dice.one_in(4) {
            self.check();
        }
        self.check();
    }

    /// Asks, and compares the answer with the naive one, and what is fresh with the truth.
    fn check(&mut self) -> Answer {
        let mut process = self.process();
        let mut answer = process.check(&self.disk, &self.store_dir());
        // A phony name is listed with a missing source, and is of no interest.
        answer.retain(|name, _| !self.naive().desc(name).phony);
        self.process = Some(process);
        count(&self.counts.checks);
        let expected = self.naive().check();
        if answer != expected && self.clock_went_back {
            // A file was changed at the same time as once before, so that content is known for its stamp.
            count(&self.counts.clock_went_back);
            return expected;
        }
        assert_eq!(lines(&answer), lines(&expected), "upcheck, and the naive implementation");
        for desc in self.targets.iter().filter(|desc| !desc.phony && !answer.contains_key(desc.called())) {
            count(&self.counts.fresh);
            self.verify(desc);
        }
        answer
    }

    /// What is fresh is what its command would make now.
    fn verify(&self, desc: &Desc) {
        let policy = match desc.policy.unwrap_or_default() {
            Policy::Newer if desc.outputs.is_empty() => Policy::default(),
            policy => policy,
        };
        if !policy.of_inputs().needs_digest() {
            return;
        }
        let entry = self.store.success(desc.called()).expect("what is fresh was built");
        if self.misread.contains(&entry.build) {
            return count(&self.counts.misread);
        }
        if !policy.of_outputs().needs_digest()
            && desc.outputs.iter().any(|output| self.tampered.contains(output))
        {
            return count(&self.counts.tampered);
        }
        let right = self.run(desc, |path| read(&self.disk, path)).map(|(content, _)| content);
        let found = match desc.outputs.is_empty() {
            true => vec![self.made.get(&entry.build).cloned()],
            false => desc
                .outputs
                .iter()
                .map(|o| read(&self.disk, o).map(|c| String::from_utf8_lossy(&c).into_owned()))
                .collect(),
        };
        if found.iter().all(|found| *found == right) {
            return count(&self.counts.verified);
        }
        if self.clock_went_back {
            return count(&self.counts.clock_went_back);
        }
        panic!("{} is fresh and is {found:?}, but would be {right:?}", desc.called());
    }
}

fn texts(reads: &BTreeMap<String, Vec<u8>>) -> BTreeMap<&str, String> {
    reads
        .iter()
        .map(|(path, content)| (path.as_str(), String::from_utf8_lossy(content).into_owned()))
        .collect()
}

/// So many worlds take a few seconds.
const USUAL: u64 = 1000;

/// Lives through a world. What went wrong in it, and what happened before.
fn live(seed: u64, n_steps: u64, counts: &Counts) -> Result<(), String> {
    let mut world = World::new(seed, counts);
    for step in 0..n_steps {
        world.note(format!("-- {step}, at {}", world.clock));
        let lived = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| world.step()));
        if let Err(panic) = lived {
            let text = panic.downcast_ref::<String>().cloned();
            let text =
                text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default();
            let targets: Vec<String> = world.targets.iter().map(|desc| format!("{desc:?}")).collect();
            return Err(format!(
                "seed {seed}, granularity {}: {text}\n{}\n{:?}\n{}",
                world.granularity,
                targets.join("\n"),
                world.headers,
                world.log.join("\n")
            ));
        }
    }
    Ok(())
}

#[test]
fn what_is_fresh_is_right_and_what_is_stale_is_so_for_the_reasons_of_the_naive_implementation() {
    let (cases, first) = (number("UPCHECK_CASES", USUAL), number("UPCHECK_SEED", 1));
    let counts = Counts::default();
    let next = AtomicU64::new(first);
    let failed = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + cases || !failed.lock().expect("no panic").is_empty() {
                        return;
                    }
                    if let Err(why) = live(seed, 20, &counts) {
                        // The fewest steps in which it goes wrong.
                        let shortest = (1..20).find_map(|n| live(seed, n, &Counts::default()).err());
                        failed.lock().expect("no panic").push(shortest.unwrap_or(why));
                    }
                }
            });
        }
    });
    let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    if cases > USUAL {
        progress(&format!(
            "{cases} worlds: {} checks, {} commits ({} doubted), {} times fresh, {} of them compared with the truth; not seen: {} put back unseen, \
         {} after the clock went back, {} outputs changed by hand where only stamps count",
            of(&counts.checks),
            of(&counts.commits),
            of(&counts.doubted),
            of(&counts.fresh),
            of(&counts.verified),
            of(&counts.misread),
            of(&counts.clock_went_back),
            of(&counts.tampered)
        ));
    }
    // Excuses are rare, or they hide something. One world is asked about the same thing again and again.
    let excused = of(&counts.misread) + of(&counts.clock_went_back);
    assert!(excused <= 10 + of(&counts.checks) / 10_000, "{excused} times something could not be seen");
    if let Some(why) = failed.into_inner().expect("no panic").first() {
        panic!("{why}");
    }
}

//! What the logs are to say: of proved targets that they are up to date, of all others nothing.

use super::proof::Proofs;
use super::times::Times;
use super::{NewFile, builddir};
use crate::build::Build;
use crate::contents::{Contents, LogEntry};
use crate::deps_writer::DepsLogWriter;
use crate::error::Error;
use crate::log_writer::BuildLogWriter;
use crate::logs::Logs;
use std::collections::{BTreeSet, HashSet};
use upcheck::collect::Disk;
use upcheck::{Discovered, FileId, History, Mtime, Record, TargetId, Unknown};

/// The planned logs.
pub(super) struct Entries {
    pub(super) mended: Vec<Vec<u8>>,
    pub(super) dropped: Vec<Vec<u8>>,
    pub(super) deps: Vec<Vec<u8>>,
    pub(super) log: Option<NewFile>,
    pub(super) deps_log: Option<NewFile>,
    /// What the record has to say of the log from then on, by first output.
    pub(super) recorded: Vec<(Vec<u8>, LogEntry)>,
}

/// A time that is older than that of any input: on all platforms 1 is later than what ninja keeps for missing files.
const OLDEST: Mtime = 1;

/// How far behind the clock the stamp of an edit may be, in nanoseconds. Where stamps are coarser than that, files were waited
/// for until they were older.
const TICK: Mtime = 100_000_000;

/// Plans both logs.
pub(super) fn plan(
    disk: &dyn Disk,
    build: &Build,
    ninjas: &History,
    contents: &Contents,
    proofs: &Proofs,
    times: &Times,
) -> Result<Entries, Error> {
    let builddir = builddir(build);
    let Logs { log: log_before, deps: deps_before, .. } = Logs::read(disk, &builddir, Some(build.version))?;
    let mut draft = Draft {
        build,
        ninjas,
        contents,
        times,
        log: BuildLogWriter::read(build.version, log_before.as_deref().unwrap_or_default()),
        deps: deps_before.as_ref().map_or_else(DepsLogWriter::new, DepsLogWriter::read),
        kept: HashSet::new(),
        mended: BTreeSet::new(),
        discovered: BTreeSet::new(),
        recorded: Vec::new(),
    };
    for &target in &proofs.proven {
        draft.prove(target);
    }
    let dropped = draft.drop_all_others();
    let Draft { log, deps, mended, discovered, recorded, .. } = draft;
    let path = |name: &[u8]| match &*builddir {
        b"" => name.to_vec(),
        folder => [folder, b"/", name].concat(),
    };
    let new_log = (!mended.is_empty() || !dropped.is_empty()).then(|| NewFile {
        path: path(b".ninja_log"),
        before: log_before,
        after: log.finish(),
    });
    // Ninja appends to a log that is broken, and does not find that again.
    let is_broken = deps_before.as_ref().is_some_and(|log| log.damaged_at().is_some());
    let new_deps = (!discovered.is_empty() || is_broken).then(|| NewFile {
        path: path(b".ninja_deps"),
        before: deps_before.as_ref().map(|log| log.bytes().to_vec()),
        after: deps.finish(),
    });
    let sorted = |set: BTreeSet<Vec<u8>>| set.into_iter().collect();
    Ok(Entries {
        mended: sorted(mended),
        dropped: sorted(dropped),
        deps: sorted(discovered),
        log: new_log,
        deps_log: new_deps,
        recorded,
    })
}

/// Whether a time by which ninja would judge a proved target is not past at this moment, so that an edit could get an
/// earlier one.
pub(super) fn is_ahead(
    build: &Build,
    contents: &Contents,
    times: &Times,
    target: TargetId,
    moment: Mtime,
) -> bool {
    let on_record = contents.target(build.graph.name(target)).map(|row| row.log.mtime);
    let outputs = build.all_outputs(target);
    let entries = outputs.iter().filter_map(|&output| Some(build.log_entry(output)?.mtime));
    let of_outputs = outputs.iter().filter_map(|&output| times.of_file(output));
    let all = on_record.into_iter().chain(entries).chain(of_outputs).chain(times.newest_input(build, target));
    all.into_iter().any(|mtime| mtime >= moment.saturating_sub(TICK))
}

struct Draft<'a> {
    build: &'a Build,
    /// What ninja's logs and depfiles said.
    ninjas: &'a History,
    contents: &'a Contents,
    times: &'a Times,
    log: BuildLogWriter,
    deps: DepsLogWriter,
    /// Outputs whose entries stay.
    kept: HashSet<Vec<u8>>,
    mended: BTreeSet<Vec<u8>>,
    discovered: BTreeSet<Vec<u8>>,
    recorded: Vec<(Vec<u8>, LogEntry)>,
}

impl Draft<'_> {
    /// Lets the logs say that a proved target is up to date.
    fn prove(&mut self, target: TargetId) {
        let name = self.build.graph.name(target).to_vec();
        let Some(row) = self.contents.target(&name) else { return };
        let is_generator = self.build.graph.flags(target).generator;
        if !self.tell_discovered(target, &name) {
            return;
        }
        let newest = self.times.newest_input(self.build, target).unwrap_or(Mtime::MIN);
        for (at, output) in self.build.all_outputs(target).into_iter().enumerate() {
            let path = self.path(output);
            let known = self.log.record(&path);
            let on_record = Record { command_hash: row.log.command_hash, mtime: row.log.mtime };
            let has_record = on_record.command_hash != 0 || on_record.mtime != 0;
            // Ninja runs a generator without an entry by its times.
            if is_generator && known.is_none() && !has_record {
                self.kept.insert(path);
                continue;
            }
            let command_hash = match is_generator {
                true => known.unwrap_or(on_record).command_hash,
                false => self.build.history.command_hash(target),
            };
            let mtime = match known.or(has_record.then_some(on_record)) {
                Some(known) => known.mtime,
                None => self.times.of_file(output).unwrap_or(OLDEST),
            };
            let entry = Record { command_hash, mtime: mtime.max(newest) };
            if known != Some(entry) {
                if self.log.set(&path, entry).is_err() {
                    // It never has an entry, so it is stale ever after.
                    continue;
                }
                self.mended.insert(path.clone());
            }
            let logged = LogEntry { mtime: entry.mtime, command_hash: entry.command_hash };
            if at == 0 && logged != row.log {
                self.recorded.push((name.clone(), logged));
            }
            self.kept.insert(path);
        }
    }

    /// Lets the deps log say what a target has discovered. Whether it can.
    fn tell_discovered(&mut self, target: TargetId, name: &[u8]) -> bool {
        let is_logged = match self.ninjas.discovered(target) {
            Discovered::Inputs { recorded } => recorded.is_some(),
            Discovered::Unknown(why) => matches!(why, Unknown::NotRecorded),
            Discovered::Untracked => false,
        };
        if !is_logged {
            return true;
        }
        let Some(row) = self.contents.target(name) else { return false };
        let [_, discovered, _] = self.contents.states_of(row);
        let wanted: BTreeSet<&[u8]> = discovered.map(|state| self.contents.path(state.path)).collect();
        let Some(&output) = self.build.graph.outputs(target).first() else { return false };
        let time = self.times.of_file(output).unwrap_or(OLDEST);
        let known =
            self.deps.record(name).map(|(mtime, inputs)| (mtime, inputs.collect::<BTreeSet<_>>() == wanted));
        let is_told = match known {
            Some((mtime, true)) if mtime >= time => return true,
            Some((_, true)) => self.deps.set_mtime(name, time),
            _ => self.deps.set(name, time, wanted).is_ok(),
        };
        if is_told {
            self.discovered.insert(name.to_vec());
        }
        is_told
    }

    /// Drops what is not proved, and lets generators look old. The outputs.
    fn drop_all_others(&mut self) -> BTreeSet<Vec<u8>> {
        let others: Vec<Vec<u8>> =
            self.log.outputs().filter(|output| !self.kept.contains(*output)).map(<[u8]>::to_vec).collect();
        let mut dropped = BTreeSet::new();
        for output in others {
            if !self.is_of_generator(&output) {
                self.log.drop_entry(&output);
                dropped.insert(output);
            }
        }
        for target in self.build.graph.targets() {
            let flags = self.build.graph.flags(target);
            if !flags.generator || flags.phony {
                continue;
            }
            for output in self.build.all_outputs(target) {
                let path = self.path(output);
                let known = self.log.record(&path);
                if self.kept.contains(&path) || known.is_some_and(|known| known.mtime <= OLDEST) {
                    continue;
                }
                let command_hash = known.map_or(0, |known| known.command_hash);
                if self.log.set(&path, Record { command_hash, mtime: OLDEST }).is_ok() {
                    dropped.insert(path);
                }
            }
        }
        dropped
    }

    fn is_of_generator(&self, output: &[u8]) -> bool {
        let Some(file) = self.build.graph.files.lookup(output) else { return false };
        let by_dyndep = || self.build.dyndep_producers.get(&file).copied();
        let producer = self.build.graph.producer(file).or_else(by_dyndep);
        producer.is_some_and(|target| self.build.graph.flags(target).generator)
    }

    fn path(&self, file: FileId) -> Vec<u8> {
        self.build.graph.files.path(file).to_vec()
    }
}

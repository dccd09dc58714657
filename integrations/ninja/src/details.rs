//! What is found out about targets one by one: command hashes, and what depfiles say.
//!
//! Threads look into chunks of targets, in turns, while the caller takes in chunk after chunk, in order. A thread is at
//! most a few chunks ahead, so that memory stays small however much the depfiles say.

use crate::error::Error;
use crate::manifest::Rules;
use crate::scope::Symbol;
use crate::source::Stamp;
use crate::version::NinjaVersion;
use std::io::ErrorKind;
use std::ops::Range;
use std::sync::mpsc::sync_channel;
use upcheck::collect::Disk;
use upcheck::depfile;
use upcheck::{Flags, Graph, TargetId, Unknown, os_message, path};

/// What was found out about the targets of a chunk.
#[derive(Default)]
pub(crate) struct Chunk {
    pub(crate) details: Vec<Details>,
    /// The discovered inputs of all of them: numbers of the graph's files, and behind those of the thread's new ones.
    pub(crate) inputs: Vec<u32>,
    /// The new files that this chunk is the first of its thread to name, in order. Canonical.
    pub(crate) new_files: Vec<Vec<u8>>,
}

/// What is known of one target beyond its place in the graph, found without touching shared tables.
pub(crate) struct Details {
    pub(crate) target: TargetId,
    pub(crate) flags: Flags,
    pub(crate) hash: Option<u64>,
    pub(crate) deps: Deps,
    /// The depfile that was looked at.
    pub(crate) depfile: Option<(Vec<u8>, Stamp)>,
}

pub(crate) enum Deps {
    Untracked,
    FromLog,
    Unknown(Unknown),
    /// Where they stand in the chunk's inputs.
    Inputs(Range<usize>),
}

/// What looking into targets needs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) disk: &'a dyn Disk,
    pub(crate) graph: &'a Graph,
    /// `None`: not loaded, so only depfiles can be read.
    pub(crate) rules: Option<&'a Rules>,
    pub(crate) version: NinjaVersion,
}

impl Context<'_> {
    /// Looks into targets, spread over threads. `take` gets the number of a thread and a chunk, in the order of the
    /// targets.
    pub(crate) fn look_into(
        self,
        targets: &[TargetId],
        n_threads: usize,
        mut take: impl FnMut(usize, Chunk),
    ) -> Result<(), Error> {
        /// Below this a thread costs more than it saves.
        const TARGETS_PER_THREAD: usize = 500;
        const TARGETS_PER_CHUNK: usize = 200;
        /// How many chunks may wait for being taken in.
        const CHUNKS_AHEAD: usize = 4;
        let n_threads = n_threads.min(targets.len() / TARGETS_PER_THREAD + 1);
        let chunks = targets.chunks(TARGETS_PER_CHUNK);
        if n_threads == 1 {
            let mut look = Look::new(self);
            return chunks.into_iter().try_for_each(|targets| {
                take(0, look.chunk(targets)?);
                Ok(())
            });
        }
        std::thread::scope(|scope| {
            let start = |thread| {
                let (sender, receiver) = sync_channel(CHUNKS_AHEAD);
                let own = targets.chunks(TARGETS_PER_CHUNK).skip(thread).step_by(n_threads);
                scope.spawn(move || {
                    let mut look = Look::new(self);
                    // Nobody receives any more once a chunk was an error.
                    own.map(|targets| look.chunk(targets)).try_for_each(|chunk| sender.send(chunk))
                });
                receiver
            };
            let receivers: Vec<_> = (0..n_threads).map(start).collect();
            for (turn, _) in chunks.enumerate() {
                let thread = turn % n_threads;
                // A thread that is gone has panicked, and so does the scope at its end.
                let Ok(chunk) = receivers[thread].recv() else { break };
                take(thread, chunk?);
            }
            Ok(())
        })
    }
}

/// A thread that looks into targets.
pub(crate) struct Look<'a> {
    context: Context<'a>,
    reader: depfile::Reader<'a>,
    /// Indexed by the reader's names of other than known files: the number of its new file, or `UNUSED`.
    new_files: Vec<u32>,
    n_new_files: usize,
    /// A binding's value.
    value: Vec<u8>,
    chunk: Chunk,
}

const UNUSED: u32 = u32::MAX;

impl<'a> Look<'a> {
    pub(crate) fn new(context: Context<'a>) -> Self {
        Self {
            context,
            reader: depfile::Reader::new(&context.graph.files, context.version.depfile_dialect()),
            new_files: Vec::new(),
            n_new_files: 0,
            value: Vec::new(),
            chunk: Chunk::default(),
        }
    }

    fn chunk(&mut self, targets: &[TargetId]) -> Result<Chunk, Error> {
        for &target in targets {
            let details = self.target(target)?;
            self.chunk.details.push(details);
        }
        Ok(std::mem::take(&mut self.chunk))
    }

    /// A chunk that has only what a target's depfile says.
    pub(crate) fn depfile_alone(mut self, target: TargetId, path: &[u8]) -> (Chunk, Stamp) {
        let (deps, stamp) = self.read_depfile(target, path);
        let flags = self.context.graph.flags(target);
        self.chunk.details.push(Details { target, flags, hash: None, deps, depfile: None });
        (self.chunk, stamp)
    }

    fn target(&mut self, target: TargetId) -> Result<Details, Error> {
        let Context { graph, .. } = self.context;
        // In ninja's order, so that of two broken bindings the same one is named.
        let mut depfile = None;
        let deps = if self.is_set(target, Symbol::DEPS)? {
            Deps::FromLog
        } else {
            self.value.clear();
            self.append_binding(target, Symbol::DEPFILE, false)?;
            if self.value.is_empty() {
                Deps::Untracked
            } else {
                let path = self.value.clone();
                let (deps, stamp) = self.read_depfile(target, &path);
                depfile = Some((path, stamp));
                deps
            }
        };
        let phony = graph.flags(target).phony;
        let restat = self.is_set(target, Symbol::RESTAT)?;
        let generator = self.is_set(target, Symbol::GENERATOR)?;
        let hash = match phony || generator {
            true => None,
            false => Some(self.command_hash(target)?),
        };
        Ok(Details {
            target,
            flags: Flags { phony, restat, generator, name_only: false },
            hash,
            deps,
            depfile,
        })
    }

    fn is_set(&mut self, target: TargetId, symbol: Symbol) -> Result<bool, Error> {
        self.value.clear();
        self.append_binding(target, symbol, true)?;
        Ok(!self.value.is_empty())
    }

    /// The hash of the command, and of what is in the response file.
    fn command_hash(&mut self, target: TargetId) -> Result<u64, Error> {
        const RSPFILE: &[u8] = b";rspfile=";
        self.value.clear();
        self.append_binding(target, Symbol::COMMAND, true)?;
        let command = self.value.len();
        self.value.extend_from_slice(RSPFILE);
        self.append_binding(target, Symbol::RSPFILE_CONTENT, true)?;
        if self.value.len() == command + RSPFILE.len() {
            self.value.truncate(command);
        }
        Ok(self.context.version.hash_command(&self.value))
    }

    fn append_binding(&mut self, target: TargetId, symbol: Symbol, escape: bool) -> Result<(), Error> {
        let Context { graph, rules, version, .. } = self.context;
        let Some(rules) = rules else {
            return Err(Error::Refused("the rules of the manifest were not loaded".into()));
        };
        let eager_cycles = version == NinjaVersion::V1_11;
        rules.append_binding(graph, target, symbol, escape, eager_cycles, &mut self.value)
    }

    /// Reads a depfile. Its stamp is of before it was read.
    fn read_depfile(&mut self, target: TargetId, path: &[u8]) -> (Deps, Stamp) {
        match self.context.disk.read_stamped(path) {
            Ok((bytes, stamp)) => (self.parse_depfile(target, path, &bytes), Stamp::of(stamp)),
            // On Windows whatever keeps ninja from opening a depfile counts as its absence.
            Err(error) if error.kind() == ErrorKind::NotFound || cfg!(windows) => {
                (Deps::Unknown(Unknown::NoDepfile { depfile: path.into() }), Stamp::MISSING)
            }
            Err(error) => {
                let shown = String::from_utf8_lossy(path);
                let message = format!("loading '{shown}': {}", os_message(&error)).into();
                (Deps::Unknown(Unknown::Broken { message }), Stamp::UNKNOWN)
            }
        }
    }

    fn parse_depfile(&mut self, target: TargetId, depfile: &[u8], bytes: &[u8]) -> Deps {
        let broken = |message: String| Deps::Unknown(Unknown::Broken { message: message.into() });
        let shown = String::from_utf8_lossy(depfile);
        if bytes.is_empty() {
            return Deps::Unknown(Unknown::NoDepfile { depfile: depfile.into() });
        }
        if let Err(message) = self.reader.read(bytes) {
            return broken(format!("{shown}: {message}"));
        }
        let mut outputs = self.reader.outputs.iter().map(|&number| self.reader.name(number));
        let Some(first) = outputs.next() else {
            return broken(format!("{shown}: no outputs declared"));
        };
        let graph = self.context.graph;
        let mut first = first.to_vec();
        path::canonicalize(&mut first);
        if first != graph.name(target) {
            return Deps::Unknown(Unknown::OtherOutput { depfile: depfile.into(), names: first.into() });
        }
        let is_output = |name| graph.outputs(target).iter().any(|&file| graph.files.path(file) == name);
        if let Some(other) = outputs.find(|&name| !is_output(name)) {
            return broken(format!(
                "{shown}: depfile mentions '{}' as an output, but no such output was declared",
                String::from_utf8_lossy(other)
            ));
        }
        Deps::Inputs(self.hand_on_inputs())
    }

    /// Adds what the depfile names to the chunk's inputs.
    fn hand_on_inputs(&mut self) -> Range<usize> {
        let Self { reader, new_files, n_new_files, chunk, context, .. } = self;
        let start = chunk.inputs.len();
        let n_known = context.graph.files.len();
        chunk.inputs.extend(reader.inputs.iter().map(|&number| {
            let Err(other) = reader.file_or_other(number) else { return number };
            if new_files.len() <= other {
                new_files.resize(other + 1, UNUSED);
            }
            if new_files[other] == UNUSED {
                new_files[other] = upcheck::narrow(n_known + *n_new_files);
                *n_new_files += 1;
                let mut path = reader.name(number).to_vec();
                path::canonicalize(&mut path);
                chunk.new_files.push(path);
            }
            new_files[other]
        }));
        start..chunk.inputs.len()
    }
}

#[cfg(test)]
mod tests {
    use crate::{Build, Options};
    use upcheck::collect::MemoryDisk;

    /// Targets with depfiles that name files nobody else names, and the same ones in many spellings.
    fn disk(n_targets: usize) -> MemoryDisk {
        let mut manifest = String::from("rule cc\n command = cc $in\n depfile = $out.d\n restat = 1\n");
        let mut disk = MemoryDisk::new();
        for number in 0..n_targets {
            let (near, far) = (number / 3, (number * 7919) % n_targets);
            let depfile = match number % 50 {
                // Nothing of it is believed, so its names stay unknown.
                7 => format!("o{number}: broken{number} \\\n  h{near}\nh{near}: new{number}\n"),
                8 => format!("other: broken{number} h{far}\n"),
                9 => String::new(),
                _ => format!("o{number}: c{number} h{near} ./h{far} \\\n d/../h{near} own{number}\n"),
            };
            manifest += &format!("build o{number}: cc c{number}\n");
            disk.write(&format!("o{number}.d"), depfile.as_bytes());
        }
        disk.write("build.ninja", manifest.as_bytes());
        disk
    }

    /// All paths in order, and what each target discovered.
    fn described(disk: &MemoryDisk, threads: usize) -> (Vec<String>, Vec<String>) {
        let options = Options { threads, ..Options::default() };
        let mut build = Build::load(disk, &options).expect("loads");
        let requests = build.default_requests().expect("has targets");
        build.describe(disk, &requests).expect("is described");
        let (graph, history) = (build.graph(), build.history());
        let path = |file| String::from_utf8_lossy(graph.files.path(file)).into_owned();
        let discovered = |target| {
            let inputs: Vec<_> = history.discovered_inputs(target).iter().map(|&file| path(file)).collect();
            format!("{:?} {:?} {inputs:?}", graph.flags(target), history.discovered(target))
        };
        (graph.files.ids().map(path).collect(), graph.targets().map(discovered).collect())
    }

    #[test]
    fn files_are_known_in_the_same_order_whatever_the_number_of_threads() {
        let disk = disk(2600);
        let (files, discovered) = described(&disk, 1);
        assert!(discovered[30].ends_with(r#"["c30", "h10", "h970", "h10", "own30"]"#), "{}", discovered[30]);
        assert!(!files.iter().any(|path| path.starts_with("broken")));
        for threads in 2..6 {
            assert_eq!(described(&disk, threads), (files.clone(), discovered.clone()), "{threads} threads");
        }
    }

    #[test]
    fn the_first_broken_binding_is_the_error_whatever_the_number_of_threads() {
        let mut manifest = String::from("rule ok\n command = ok\n");
        for number in 0..1800 {
            let rule = if number % 600 == 599 { format!("r{number}") } else { "ok".into() };
            if rule != "ok" {
                manifest += &format!("rule {rule}\n command = $depfile\n depfile = x$command\n");
            }
            manifest += &format!("build o{number}: {rule}\n");
        }
        let mut disk = MemoryDisk::new();
        disk.write("build.ninja", manifest.as_bytes());
        let error = |threads| {
            let mut build = Build::load(&disk, &Options { threads, ..Options::default() }).expect("loads");
            let requests = build.default_requests().expect("has targets");
            build.describe(&disk, &requests).expect_err("has a cycle").to_string()
        };
        assert!((2..5).all(|threads| error(threads) == error(1)), "{}", error(1));
    }
}

//! What is found out about targets one by one: command hashes, and what depfiles say.

use crate::build::Build;
use crate::depfile;
use crate::error::{Error, os_message};
use crate::scope::Symbol;
use crate::source::Stamp;
use std::io::ErrorKind;
use upcheck::collect::Disk;
use upcheck::{Flags, TargetId, Unknown, path};

/// What is known of one target beyond its place in the graph, found without touching shared tables.
pub(crate) struct Details {
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
    /// Canonical paths.
    Inputs(Vec<Vec<u8>>),
}

impl Build {
    /// Looks into targets, spread over threads.
    pub(crate) fn details(
        &self,
        disk: &dyn Disk,
        wave: &[TargetId],
    ) -> Result<Vec<(TargetId, Details)>, Error> {
        /// Below this a thread costs more than it saves.
        const TARGETS_PER_THREAD: usize = 500;
        let n_threads = self.options.n_threads().min(wave.len() / TARGETS_PER_THREAD + 1);
        let share = wave.len().div_ceil(n_threads).max(1);
        let look = |targets: &[TargetId]| -> Result<Vec<_>, Error> {
            targets.iter().map(|&target| Ok((target, self.detail(disk, target)?))).collect()
        };
        if n_threads == 1 {
            return look(wave);
        }
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                wave.chunks(share).map(|targets| scope.spawn(move || look(targets))).collect();
            let mut all = Vec::with_capacity(wave.len());
            for worker in workers {
                match worker.join() {
                    Ok(found) => all.append(&mut found?),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(all)
        })
    }

    fn detail(&self, disk: &dyn Disk, target: TargetId) -> Result<Details, Error> {
        let is_set = |symbol| Ok::<_, Error>(!self.binding(target, symbol, true)?.is_empty());
        // In ninja's order, so that of two broken bindings the same one is named.
        let mut depfile = None;
        let deps = if is_set(Symbol::DEPS)? {
            Deps::FromLog
        } else {
            let path = self.binding(target, Symbol::DEPFILE, false)?;
            if path.is_empty() {
                Deps::Untracked
            } else {
                let (deps, stamp) = self.read_depfile(disk, target, &path);
                depfile = Some((path, stamp));
                deps
            }
        };
        let phony = self.graph.flags(target).phony;
        let flags = Flags { phony, restat: is_set(Symbol::RESTAT)?, generator: is_set(Symbol::GENERATOR)? };
        let hash = match phony || flags.generator {
            true => None,
            false => Some(self.version.hash_command(&self.command_with_rspfile(target)?)),
        };
        Ok(Details { flags, hash, deps, depfile })
    }

    /// What the command's hash is taken of.
    fn command_with_rspfile(&self, target: TargetId) -> Result<Vec<u8>, Error> {
        let mut command = self.command(target)?;
        let content = self.binding(target, Symbol::RSPFILE_CONTENT, true)?;
        if !content.is_empty() {
            command.extend_from_slice(b";rspfile=");
            command.extend_from_slice(&content);
        }
        Ok(command)
    }

    /// Reads a depfile. Its stamp is of before it was read.
    pub(crate) fn read_depfile(&self, disk: &dyn Disk, target: TargetId, path: &[u8]) -> (Deps, Stamp) {
        match disk.read_stamped(path) {
            Ok((bytes, stamp)) => (self.parse_depfile(target, path, &bytes), Stamp::of(stamp)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                (Deps::Unknown(Unknown::NoDepfile { depfile: path.into() }), Stamp::MISSING)
            }
            Err(error) => {
                let shown = String::from_utf8_lossy(path);
                let message = format!("loading '{shown}': {}", os_message(&error)).into();
                (Deps::Unknown(Unknown::Broken { message }), Stamp::UNKNOWN)
            }
        }
    }

    fn parse_depfile(&self, target: TargetId, depfile: &[u8], bytes: &[u8]) -> Deps {
        let broken = |message: String| Deps::Unknown(Unknown::Broken { message: message.into() });
        let shown = String::from_utf8_lossy(depfile);
        if bytes.is_empty() {
            return Deps::Unknown(Unknown::NoDepfile { depfile: depfile.into() });
        }
        let mut parsed = match depfile::parse(bytes, self.version) {
            Ok(parsed) => parsed,
            Err(message) => return broken(format!("{shown}: {message}")),
        };
        let Some(first) = parsed.outputs.first_mut() else {
            return broken(format!("{shown}: no outputs declared"));
        };
        path::canonicalize(first);
        if first != self.graph.name(target) {
            let names = std::mem::take(first).into();
            return Deps::Unknown(Unknown::OtherOutput { depfile: depfile.into(), names });
        }
        let outputs = self.graph.outputs(target);
        let is_output = |name: &Vec<u8>| outputs.iter().any(|&file| self.graph.files.path(file) == name);
        if let Some(other) = parsed.outputs.iter().find(|name| !is_output(name)) {
            return broken(format!(
                "{shown}: depfile mentions '{}' as an output, but no such output was declared",
                String::from_utf8_lossy(other)
            ));
        }
        for input in &mut parsed.inputs {
            path::canonicalize(input);
        }
        Deps::Inputs(parsed.inputs)
    }
}

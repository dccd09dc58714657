//! Dyndep files: more inputs and outputs, which come into play while the walk is under way.

use super::*;
use crate::history::DyndepEntry;

impl Decision<'_> {
    /// The dyndep file of a target, while it was not loaded.
    #[must_use]
    pub fn unloaded_dyndep(&self, target: TargetId) -> Option<FileId> {
        self.graph.dyndep(target).filter(|file| self.pending_dyndeps.contains(file))
    }

    /// Whether `file` is a dyndep file that was not loaded.
    #[must_use]
    pub fn is_unloaded_dyndep(&self, file: FileId) -> bool {
        self.pending_dyndeps.contains(&file)
    }

    /// Adds what a dyndep file says to its targets.
    ///
    /// # Errors
    /// In [`Mode::AsNinja`] when the file is unusable; otherwise its targets are stale for it.
    pub fn load_dyndep(&mut self, file: FileId) -> Result<(), Stop> {
        self.pending_dyndeps.remove(&file);
        let trouble = match self.history.dyndep(file) {
            Some(Dyndep::Loaded(entries)) => self.add_dyndep_entries(entries),
            Some(Dyndep::Broken(message)) => Some(message.clone()),
            None => Some("the dyndep file was not read".into()),
        };
        match (trouble, self.mode) {
            (None, _) => Ok(()),
            (Some(message), Mode::AsNinja) => Err(Stop::Broken(message)),
            (Some(message), Mode::LookPast) => {
                self.found.broken_dyndeps.insert(file, message);
                Ok(())
            }
        }
    }

    /// Adds all entries, or none when one of them claims an output that something else makes.
    fn add_dyndep_entries(&mut self, entries: &[DyndepEntry]) -> Option<Box<str>> {
        let mut claimed = HashSet::new();
        for &output in entries.iter().flat_map(|entry| &entry.outputs) {
            if self.producer(output).is_some() || !claimed.insert(output) {
                let path = String::from_utf8_lossy(self.graph.files.path(output));
                return Some(format!("multiple rules generate {path}").into());
            }
        }
        for entry in entries {
            if entry.restat {
                self.found.targets[entry.target.index()] |= T_RESTAT;
            }
            for &output in &entry.outputs {
                self.found.extra_producers.insert(output, entry.target);
                // It may have been taken for a source so far, and for a missing one.
                self.found.files[output.index()] &= !(F_SETTLED | F_DIRTY | F_CERTAIN);
            }
            let extra =
                Extra { inputs: entry.inputs.as_slice().into(), outputs: entry.outputs.as_slice().into() };
            self.found.extra.insert(entry.target, extra);
        }
        None
    }

    /// Lets a target be judged again, because a dyndep file has changed what it, or one before it, needs.
    /// Whether it had been judged.
    pub fn unsettle(&mut self, target: TargetId) -> bool {
        let bits = &mut self.found.targets[target.index()];
        let was_done = *bits & T_DONE != 0;
        *bits &= !T_DONE;
        self.each_output(target, |decision, output| {
            decision.found.files[output.index()] &= !F_SETTLED;
        });
        was_done
    }

    /// Says that a target and everything before it has run.
    pub fn set_ready(&mut self, target: TargetId) {
        self.found.targets[target.index()] &= !T_NOT_READY;
        self.each_output(target, |decision, output| {
            decision.found.files[output.index()] &= !F_NOT_READY;
        });
    }
}

//! What a question is about: targets by name, or the defaults.

use crate::build::Build;
use crate::error::Error;
use upcheck::{FileId, path};

impl Build {
    /// The file that a request names: a path, or `path^` for the first output of the first target using it.
    ///
    /// # Errors
    /// When there is no such file; with a near miss, if there is one.
    pub fn resolve(&self, request: &[u8]) -> Result<FileId, Error> {
        if request.is_empty() {
            return Err(Error::Refused("empty path".into()));
        }
        let mut path = request.to_vec();
        path::canonicalize(&mut path);
        let wants_user = path.last() == Some(&b'^');
        if wants_user {
            path.pop();
        }
        let shown = String::from_utf8_lossy(&path);
        let known = self.graph.files.lookup(&path).filter(|file| file.index() < self.n_known_files);
        let Some(file) = known else {
            let hint =
                self.near_miss(&shown).map_or(String::new(), |near| format!(", did you mean '{near}'?"));
            return Err(Error::Refused(format!("unknown target '{shown}'{hint}")));
        };
        if !wants_user {
            return Ok(file);
        }
        let itself = self.self_users.get(&file).copied();
        let user = self.graph.users().of(file).first().copied().into_iter().chain(itself).min();
        let output = match user {
            Some(user) => self.graph.outputs(user).first().copied(),
            None => self.first_discoverer(file),
        };
        output.ok_or_else(|| Error::Refused(format!("'{shown}' has no out edge")))
    }

    /// The files that hold when nobody names a target: the defaults, else all outputs that nothing uses.
    ///
    /// # Errors
    /// When there are targets, but each is used by another.
    pub fn default_requests(&self) -> Result<Vec<FileId>, Error> {
        if !self.defaults.is_empty() {
            return Ok(self.defaults.clone());
        }
        let graph = &self.graph;
        let mut used = vec![false; graph.files.len()];
        for target in graph.targets() {
            for input in graph.ordering_inputs(target) {
                used[input.index()] = true;
            }
        }
        for file in self.self_users.keys() {
            used[file.index()] = true;
        }
        let outputs = graph.targets().flat_map(|target| graph.outputs(target));
        let roots: Vec<_> = outputs.copied().filter(|output| !used[output.index()]).collect();
        if roots.is_empty() && graph.n_targets() > 0 {
            return Err(Error::Refused("could not determine root nodes of build graph".into()));
        }
        Ok(roots)
    }

    /// Whether nobody names a default, so that everything nothing else uses is one.
    #[must_use]
    pub fn default_requests_are_roots(&self) -> bool {
        self.defaults.is_empty()
    }

    fn near_miss(&self, path: &str) -> Option<String> {
        let known = self.graph.files.ids().take(self.n_known_files);
        known
            .map(|file| String::from_utf8_lossy(self.graph.files.path(file)))
            .filter(|known| known.len().abs_diff(path.len()) <= 3)
            .map(|known| (strsim::levenshtein(&known, path), known))
            .filter(|(distance, known)| *distance <= 3 && *distance < known.len())
            .min_by_key(|(distance, _)| *distance)
            .map(|(_, known)| known.into_owned())
    }

    /// The first output in the deps log that discovered `file`.
    fn first_discoverer(&self, file: FileId) -> Option<FileId> {
        let number = self.logs.deps_number(file)?;
        let log = self.logs.deps_log.as_ref()?;
        (0..self.logs.deps_files.len())
            .find(|&output| log.record(output).is_some_and(|(_, mut inputs)| inputs.any(|i| i == number)))
            .map(|output| self.logs.deps_files[output])
    }
}

//! From a build to its image, and from a check to its state.

use super::load::is_there;
use super::tables::{self, Facts};
use super::{Images, Looked, MISSING, PRESENT, UNASKED};
use crate::build::Build;
use crate::source::{Source, Stamp, digest_of_file};
use std::io;
use upcheck::collect::Disk;
use upcheck::image::{Tables, WordWriter};
use upcheck::{FileId, Needs, Plan, Report, Settled, Snapshot, Spans};

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// Nothing: nothing changed, or it cannot be kept.
    Nothing,
    /// How this check differs from the last one.
    State,
    /// The whole description.
    Image,
}

/// The answer to the default question, for the next check.
pub struct LastCheck<'a> {
    /// What the decision found out.
    pub settled: &'a Settled,
    /// What it came to.
    pub report: &'a Report,
}

/// An image that is going to be written.
pub struct Draft {
    depfile_of: Vec<u32>,
    depfile_stamps: Vec<Stamp>,
    written: Option<io::Result<u64>>,
}

impl Draft {
    /// Writes it. How that went is told by [`Build::save`].
    #[must_use]
    pub fn write(mut self, build: &Build, images: &Images) -> Self {
        self.written = Some(build.write_image(images, &self));
        self
    }
}

/// While less than this was appended to the logs since, an image is not made again. Bytes.
const FEW_APPENDED: u64 = 1 << 20;
/// While fewer depfiles than this changed since, an image is not made again.
const FEW_DEPFILES: usize = 1000;

impl Build {
    /// Keeps what this check has found out for the next one. `draft`: what [`Build::draft_image`] made, if anybody asked
    /// for it. `last`: the decision, if it was about the default question
    /// and looked past what stood in the way. Writes nothing where the next check would gain nothing.
    ///
    /// # Errors
    /// When the image cannot be written. The next check then has less to go by, and no other answer.
    pub fn save(
        &mut self,
        disk: &dyn Disk,
        images: &Images,
        snapshot: &Snapshot,
        last: Option<LastCheck<'_>>,
        draft: Option<Draft>,
    ) -> io::Result<Saved> {
        let last = last.filter(|_| !self.has_given);
        let who = tables::who(images, &self.options.manifest_path(), self.options.version);
        if let Some(kept) = &self.kept {
            let is_outdated = kept.appended > FEW_APPENDED.max(self.log_bytes() / 8)
                || kept.again.len() > FEW_DEPFILES.max(self.graph.n_targets() / 8);
            let Some(last) = last else { return Ok(Saved::Nothing) };
            if !is_outdated {
                let is_as_before = !kept.has_new_stamps
                    && !kept.is_touched
                    && kept.changed.is_empty()
                    && kept.before.as_ref().is_some_and(|before| before.settled.is_some());
                if is_as_before {
                    return Ok(Saved::Nothing);
                }
                self.write_state(images, &who, kept.image_id, snapshot, Some(last))?;
                return Ok(Saved::State);
            }
            if !self.digest_logs_again(disk) {
                return Ok(Saved::Nothing);
            }
            let draft = self.draft();
            let id = self.write_image(images, &draft)?;
            self.write_state(images, &who, id, snapshot, Some(last))?;
            return Ok(Saved::Image);
        }
        let draft = match draft {
            Some(draft) => draft,
            None => match self.draft_image(disk, images, last.is_some()) {
                Some(draft) => draft,
                None => return Ok(Saved::Nothing),
            },
        };
        let id = match draft.written {
            Some(written) => written?,
            None => self.write_image(images, &draft)?,
        };
        self.write_state(images, &who, id, snapshot, last)?;
        Ok(Saved::Image)
    }

    /// Finds out what is still missing for an image of a build directory that was read as a whole. It can then be written
    /// by [`Draft::write`] while the decision is made, and be handed to [`Build::save`]. `None` where there is nothing
    /// to write. `is_default`: whether the default question is what was described.
    pub fn draft_image(&mut self, disk: &dyn Disk, images: &Images, is_default: bool) -> Option<Draft> {
        // A question that only the logs could answer, and no decision to add.
        let has_nothing_new = !is_default && is_there(disk, &self.options, images);
        if has_nothing_new || self.is_kept() || !self.describe_all(disk, is_default) {
            return None;
        }
        // Such an image could never be used.
        let is_known = |source: &Source| source.stamp != Stamp::UNKNOWN;
        self.sources.iter().all(is_known).then(|| self.draft())
    }

    fn draft(&mut self) -> Draft {
        let (depfile_of, depfile_stamps) = tables::depfile_tables(self);
        for target in self.graph.targets() {
            match depfile_of.get(target.index()) {
                Some(&file) if file != super::NO_FILE && self.described[target.index()] => {
                    self.want(FileId::new(file as usize));
                }
                _ => {}
            }
        }
        Draft { depfile_of, depfile_stamps, written: None }
    }

    fn log_bytes(&self) -> u64 {
        self.sources.iter().filter(|source| source.can_grow).map(|source| source.length).sum()
    }

    /// Digests of logs of which more was understood since they were read as a whole.
    fn digest_logs_again(&mut self, disk: &dyn Disk) -> bool {
        self.sources.iter_mut().filter(|source| source.can_grow).all(|source| {
            match digest_of_file(disk, source) {
                Some(digest) => source.digest = digest,
                None => return false,
            }
            true
        })
    }

    /// Finds out everything about every target, so that the image can answer any question. What the default question
    /// needs is wanted afterwards. `false` where something stands in the way: then there is no image.
    fn describe_all(&mut self, disk: &dyn Disk, is_default: bool) -> bool {
        if !is_default {
            self.forget_question();
            let Ok(requests) = self.default_requests() else { return false };
            if self.describe(disk, &requests).is_err() {
                return false;
            }
        }
        if self.is_detailed.iter().all(|is_detailed| *is_detailed) {
            return true;
        }
        let question =
            (self.described.clone(), std::mem::take(&mut self.wanted), std::mem::take(&mut self.is_wanted));
        self.forget_question();
        let outputs: Vec<_> =
            self.graph.targets().filter_map(|target| self.graph.outputs(target).first().copied()).collect();
        let described = self.describe(disk, &outputs);
        (self.described, self.wanted, self.is_wanted) = question;
        described.is_ok()
    }

    fn write_image(&self, images: &Images, draft: &Draft) -> io::Result<u64> {
        let who = tables::who(images, &self.options.manifest_path(), self.options.version);
        let requests = self.default_requests().unwrap_or_default();
        let (plan, needs, spans) = self.derived();
        let closure: Vec<u8> = self.described.iter().map(|is_in| u8::from(*is_in)).collect();
        let mut all = Tables::default();
        self.graph.save(&mut all);
        self.history.save(&mut all, &spans);
        needs.save(&mut all);
        all.add_bytes("facts", Facts::to_bytes(self));
        all.add_bytes("sources", tables::sources_to_bytes(&self.sources));
        all.add_bytes("strays", tables::strays_to_bytes(&self.logs.stray_records));
        all.add("defaults", &self.defaults);
        all.add("requests", &requests);
        plan.save(&mut all);
        all.add("closure", &closure);
        all.add("depfile", &draft.depfile_of);
        all.add("depstamp", &draft.depfile_stamps);
        all.add("depsfile", &self.logs.deps_files);
        all.add("began", std::slice::from_ref(&self.began));
        images.folder.write(&images.name(&who, "image"), &all)
    }

    /// Tables that say what others say, but in the form that a check needs. Each takes a pass over what can be millions
    /// of inputs.
    fn derived(&self) -> (Plan, Needs, Spans) {
        if self.options.n_threads() == 1 {
            let plan = Plan::new(&self.graph.files, self.wanted.iter().copied());
            return (plan, Needs::new(&self.graph, &self.history), self.history.spans());
        }
        std::thread::scope(|scope| {
            let plan = scope.spawn(|| Plan::new(&self.graph.files, self.wanted.iter().copied()));
            let needs = scope.spawn(|| Needs::new(&self.graph, &self.history));
            let spans = self.history.spans();
            let joined = plan.join().and_then(|plan| Ok((plan, needs.join()?)));
            match joined {
                Ok((plan, needs)) => (plan, needs, spans),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        })
    }

    fn write_state(
        &self,
        images: &Images,
        who: &[u8],
        image_id: u64,
        snapshot: &Snapshot,
        last: Option<LastCheck<'_>>,
    ) -> io::Result<()> {
        let looked = match &last {
            Some(_) => self.looked(snapshot),
            None => Looked::default(),
        };
        let stamps: Vec<Stamp> = self.sources.iter().map(|source| source.stamp).collect();
        let is_new = self.kept.as_ref().is_none_or(|kept| kept.image_id != image_id);
        let again = match &self.kept {
            Some(kept) if !is_new => tables::again_to_bytes(&kept.again),
            _ => Vec::new(),
        };
        let more = match &self.kept {
            Some(kept) if !is_new => self.wanted.get(kept.n_planned..).unwrap_or_default(),
            _ => &[],
        };
        let n_fresh = last.as_ref().filter(|last| last.report.is_fresh()).map(|last| last.report.n_targets);
        let mut words = WordWriter::default();
        words.number(image_id);
        words.number(self.began.cast_unsigned());
        words.number(u64::from(last.is_some()));
        words.number(n_fresh.map_or(0, |n| n as u64 + 1));
        words.text(self.version.to_string().as_bytes());
        words.number(self.log_version.map_or(0, |version| u64::from(version) + 1));
        tables::put_warnings(&mut words, &self.warnings);
        let mut all = Tables::default();
        all.add("who", who);
        all.add_bytes("report", words.into_bytes());
        all.add("sources", &stamps);
        all.add("mtimes", &looked.mtimes);
        all.add("statuses", &looked.statuses);
        all.add_bytes("again", again);
        all.add_bytes("more", tables::more_to_bytes(&self.graph, more));
        if let Some(last) = &last {
            last.settled.save(&mut all);
        }
        images.folder.write(&images.name(who, "state"), &all).map(drop)
    }

    /// How everything looked, depfiles included: those were not asked for when they were read.
    fn looked(&self, snapshot: &Snapshot) -> Looked {
        let mut looked = Looked::new(snapshot, self.graph.files.len());
        for (_, path, stamp) in &self.depfiles {
            let Some(file) = self.graph.files.lookup(path) else { continue };
            // The next check asks for those that the default question needs.
            if !self.is_wanted.get(file.index()).is_some_and(|is_wanted| *is_wanted) {
                continue;
            }
            if looked.statuses[file.index()] == UNASKED {
                let status = if stamp.is_missing() { MISSING } else { PRESENT };
                looked.statuses.to_mut()[file.index()] = status;
                looked.mtimes.to_mut()[file.index()] = stamp.mtime();
            }
        }
        looked
    }
}

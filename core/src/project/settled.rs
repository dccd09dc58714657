//! Nothing changed since everything was fresh: a question that is asked again is answered by looking at the files alone.
//!
//! What is kept is the plan, how every file looked, and how the files looked that the description and the records were read
//! from. If all of them look the same, and none of them looked so young then that it may have changed since, a check
//! would read the same and find the same. So the description is not even read. Whoever asks says in `question` all
//! else that the answer depends on.
//!
//! # Tables, in the format of [`crate::image`]
//!
//! | name | what |
//! |---|---|
//! | `question` | the bytes of the question |
//! | `sources` | for each file that was read, in the order of the question, a [`Look`] |
//! | `looks` | for each file of the plan, in the plan's order, a [`Look`] |
//! | `count` | one u64: the number of targets |
//! | `plan...` | the plan |

use super::Checked;
use crate::collect::{Disk, collect};
use crate::image::{ImageFolder, Tables, checksum};
use crate::plan::Plan;
use crate::snapshot::{Meta, Mtime, Snapshot, Stat};
use crate::state::is_racy;
use bytemuck::{Pod, Zeroable};

/// A question, and the place where it is kept that its answer was "fresh".
pub struct Settled {
    folder: ImageFolder,
    question: Vec<u8>,
    /// The files that the description and the records are read from.
    sources: Vec<Vec<u8>>,
}

/// Everything is as fresh as it was.
pub struct StillFresh {
    /// How many targets there are.
    pub n_targets: usize,
    /// How all files looked.
    pub snapshot: Snapshot,
}

/// How a file looked.
#[derive(Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
struct Look {
    meta: Meta,
    /// 1; 0 for a file that is not there.
    present: u64,
}

impl Settled {
    /// A question about the files of a disk. `question` are bytes that no other question has: what is asked, by which
    /// rules, and in which directory. `sources` are all files that describing and judging reads, the store's among them.
    #[must_use]
    pub fn new(folder: ImageFolder, question: Vec<u8>, sources: Vec<Vec<u8>>) -> Self {
        Self { folder, question, sources }
    }

    /// How the sources look. To be asked before any of them is read.
    #[must_use]
    pub fn look(&self, disk: &dyn Disk) -> Sources {
        let moment = Meta::mtime_at(disk.now());
        let looks = self.sources.iter().map(|path| Look::of(disk.stat(path)));
        Sources { moment, looks: looks.collect() }
    }

    /// Looks at all files, if the sources are as they were; `None` if anything is not. Cost: one look at each file.
    #[must_use]
    pub fn ask(&self, disk: &dyn Disk, sources: &Sources, threads: usize) -> Option<StillFresh> {
        let image = self.folder.read(&self.name())?;
        let is_same = *image.table::<u8>("question")? == *self.question
            && image.table::<Look>("sources")?.iter().copied().map(Some).eq(sources.looks.iter().copied());
        if !is_same {
            return None;
        }
        let (plan, looks) = (Plan::load(&image)?, image.table::<Look>("looks")?);
        let n_targets = usize::try_from(*image.table::<u64>("count")?.first()?).ok()?;
        if looks.len() != plan.n_files() {
            return None;
        }
        let snapshot = collect(disk, &plan, threads);
        let same = plan.files().zip(&*looks).all(|(file, &look)| Look::of(snapshot.stat(file)) == Some(look));
        same.then_some(StillFresh { n_targets, snapshot })
    }

    /// Keeps that everything was fresh. Nothing is kept where something is too young to tell later whether it changed, or
    /// where the answer rests on more than the sources and the files: on what patterns match, or on depfiles.
    pub fn keep(&self, sources: &Sources, checked: &Checked) {
        let Some(plan) = checked.plan.as_ref().filter(|_| checked.is_fresh()) else { return };
        let began = Meta::mtime_at(checked.snapshot.began());
        let looks = plan.files().map(|file| old_enough(Look::of(checked.snapshot.stat(file)), began));
        let Some(looks) = looks.collect::<Option<Vec<_>>>() else { return };
        let sources = sources.looks.iter().map(|&look| old_enough(look, sources.moment));
        let Some(sources) = sources.collect::<Option<Vec<_>>>() else { return };
        let count = checked.report.n_targets as u64;
        let mut tables = Tables::default();
        tables.add("question", &self.question);
        tables.add("sources", &sources);
        tables.add("looks", &looks);
        tables.add("count", std::slice::from_ref(&count));
        plan.save(&mut tables);
        // A cache: where it cannot be written, the next check takes longer.
        let _ = self.folder.write(&self.name(), &tables);
    }

    fn name(&self) -> String {
        format!("{:016x}.state-fresh", checksum(&self.question))
    }
}

/// How the files looked that a description is read from.
pub struct Sources {
    moment: Mtime,
    looks: Vec<Option<Look>>,
}

impl Sources {
    /// Whether the source at a position is there.
    #[must_use]
    pub fn is_there(&self, position: usize) -> bool {
        matches!(self.looks.get(position), Some(Some(look)) if look.present == 1)
    }
}

impl Look {
    /// `None` for a file that nobody can tell of.
    fn of(stat: Stat) -> Option<Self> {
        match stat {
            Stat::Present(meta) => Some(Self { meta, present: 1 }),
            Stat::Missing => Some(Self { meta: Meta::default(), present: 0 }),
            Stat::Unknown | Stat::Unreadable(_) => None,
        }
    }
}

/// The look of a file, if it cannot have changed after `moment` and still look like this.
fn old_enough(look: Option<Look>, moment: Mtime) -> Option<Look> {
    look.filter(|look| look.present == 0 || (look.meta.ctime != 0 && !is_racy(look.meta, moment)))
}

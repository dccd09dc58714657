//! The plan: which directories to visit, for which names, and how. Each directory stands in it once, so that no
//! two threads can ever touch the same one.

mod build;
mod cost;
mod visit;

pub use cost::{Costs, Estimate, ListingCosts};
pub(crate) use visit::Single;
pub use visit::{Asked, How, Visit};

use crate::column::Column;
use crate::ids::{FileId, narrow};
use crate::image::{Image, Tables};
use std::ops::Range;

/// What to ask the disk. A visit needs nothing else: neither the table of files nor an allocation.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    arrays: Arrays,
}

/// All of a plan, as flat arrays of bytes and 32-bit numbers that can be written to a file as they stand. Visits
/// are sorted by directory, part by part; all that is kept per visit stands in that order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrays {
    /// The directories' paths, each with `/.` and a NUL at its end.
    pub directories: Column<u8>,
    /// For each visit, where its directory ends in `directories`.
    pub directory_ends: Column<u32>,
    /// For each visit, how its names are asked for: the place of that in [`How`].
    pub hows: Column<u8>,
    /// For each visit, what it is expected to cost, in nanoseconds.
    pub costs: Column<u32>,
    /// For each visit, how many entries may be listed.
    pub budgets: Column<u32>,
    /// What to ask for, each with a NUL at its end: names in a directory that is to be opened, otherwise paths.
    pub asked: Column<u8>,
    /// For each visit, where its share ends in `asked`.
    pub asked_ends: Column<u32>,
    /// The wanted files, in the order of `asked`.
    pub files: Column<u32>,
    /// For each visit, where its share ends in `files`.
    pub file_ends: Column<u32>,
    /// How many files the table has from which the plan was made.
    pub n_known: u32,
}

/// What a plan has in mind for one directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained<'a> {
    /// The directory's path; empty for the disk's base.
    pub directory: &'a [u8],
    /// How its names are asked for.
    pub how: How,
    /// How many names are wanted in it.
    pub names: usize,
    /// How many entries may be listed; 0 where it is not listed.
    pub budget: u32,
    /// What that is expected to cost, in nanoseconds, with warm caches.
    pub nanoseconds: u64,
}

impl Plan {
    /// A plan from arrays that another plan was made of, for instance in an earlier process. `None` when they do not
    /// fit together.
    #[must_use]
    pub fn from_arrays(arrays: Arrays) -> Option<Self> {
        arrays.fit().then_some(Self { arrays })
    }

    /// What the plan is made of.
    #[must_use]
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// How many directories there are to visit.
    #[must_use]
    pub fn n_visits(&self) -> usize {
        self.arrays.hows.len()
    }

    /// How many files are wanted.
    #[must_use]
    pub fn n_files(&self) -> usize {
        self.arrays.files.len()
    }

    /// How many files were known when the plan was made. All that are wanted are among them.
    #[must_use]
    pub fn n_known(&self) -> usize {
        self.arrays.n_known as usize
    }

    /// Adds the plan to an image.
    pub fn save<'a>(&'a self, tables: &mut Tables<'a>) {
        let arrays = &self.arrays;
        tables.add("plandirs", &arrays.directories);
        tables.add("plandend", &arrays.directory_ends);
        tables.add("planhows", &arrays.hows);
        tables.add("plancost", &arrays.costs);
        tables.add("planlist", &arrays.budgets);
        tables.add("planask", &arrays.asked);
        tables.add("planaend", &arrays.asked_ends);
        tables.add("planfile", &arrays.files);
        tables.add("planfend", &arrays.file_ends);
        tables.add("planknow", std::slice::from_ref(&arrays.n_known));
    }

    /// The plan in an image; `None` where it is damaged.
    #[must_use]
    pub fn load(image: &Image) -> Option<Self> {
        let arrays = Arrays {
            directories: image.table("plandirs")?,
            directory_ends: image.table("plandend")?,
            hows: image.table("planhows")?,
            costs: image.table("plancost")?,
            budgets: image.table("planlist")?,
            asked: image.table("planask")?,
            asked_ends: image.table("planaend")?,
            files: image.table("planfile")?,
            file_ends: image.table("planfend")?,
            n_known: *image.table::<u32>("planknow")?.first()?,
        };
        // The checksums say that the names are as they were written.
        arrays.have_lengths().then_some(Self { arrays })
    }

    /// All wanted files, in the order in which they are asked for.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        self.arrays.files.iter().map(|&file| FileId::new(file as usize))
    }

    /// The visits, sorted by directory.
    pub fn visits(&self) -> impl Iterator<Item = Visit<'_>> {
        (0..self.n_visits()).map(|at| self.visit(at))
    }

    /// The visit at a position.
    #[must_use]
    pub fn visit(&self, at: usize) -> Visit<'_> {
        let arrays = &self.arrays;
        let how = How::from_code(arrays.hows[at]).unwrap_or(How::Path);
        let directory = &arrays.directories[share(&arrays.directory_ends, at)];
        let asked = &arrays.asked[share(&arrays.asked_ends, at)];
        Visit::new(how, directory, asked, share(&arrays.file_ends, at).len()).with_budget(arrays.budgets[at])
    }

    /// What the visit at a position is expected to cost, in nanoseconds, with warm caches.
    #[must_use]
    pub fn cost(&self, at: usize) -> u64 {
        self.arrays.costs[at].into()
    }

    /// What the whole plan is expected to cost, in nanoseconds, with warm caches and one thread.
    #[must_use]
    pub fn total_cost(&self) -> u64 {
        self.arrays.costs.iter().copied().map(u64::from).sum()
    }

    /// What is going to happen to each directory, and what that is expected to cost.
    pub fn explain(&self) -> impl Iterator<Item = Explained<'_>> {
        self.visits().enumerate().map(|(at, visit)| Explained {
            directory: visit.directory(),
            how: visit.how(),
            names: visit.len(),
            budget: visit.budget(),
            nanoseconds: self.cost(at),
        })
    }
}

impl Arrays {
    /// Whether the arrays describe visits that can be made.
    fn fit(&self) -> bool {
        self.have_lengths() && (0..self.hows.len()).all(|at| self.visit_fits(at))
    }

    fn have_lengths(&self) -> bool {
        let n_visits = self.hows.len();
        n_visits == self.costs.len()
            && n_visits == self.budgets.len()
            && self.hows.iter().all(|&code| How::from_code(code).is_some())
            && rises(&self.directory_ends, n_visits, self.directories.len())
            && rises(&self.asked_ends, n_visits, self.asked.len())
            && rises(&self.file_ends, n_visits, self.files.len())
            && self.files.iter().all(|&file| file < self.n_known)
    }

    fn visit_fits(&self, at: usize) -> bool {
        let directory = &self.directories[share(&self.directory_ends, at)];
        let asked = &self.asked[share(&self.asked_ends, at)];
        let n_files = share(&self.file_ends, at).len();
        if !visit::is_directory(directory)
            || asked.last().is_some_and(|&last| last != 0)
            || memchr::memchr_iter(0, asked).count() != n_files
        {
            return false;
        }
        let starts_there = |asked: &[u8]| {
            let directory = &directory[..directory.len() - 3];
            asked.len() >= visit::prefix_len(directory) && asked.starts_with(directory)
        };
        match How::from_code(self.hows[at]) {
            Some(How::Descriptor | How::List) => true,
            Some(How::Path | How::TooLong) => Visit::new(How::Descriptor, directory, asked, n_files)
                .asked()
                .all(|a| starts_there(a.to_bytes())),
            None => false,
        }
    }
}

/// Whether `ends` are `n` positions that never fall, the last of them `whole`.
fn rises(ends: &[u32], n: usize, whole: usize) -> bool {
    ends.len() == n && ends.is_sorted() && ends.last().map_or(0, |&last| last as usize) == whole
}

/// What belongs to a visit in an array whose shares end at `ends`.
fn share(ends: &[u32], at: usize) -> Range<usize> {
    let start = if at == 0 { 0 } else { ends[at - 1] as usize };
    start..ends[at] as usize
}

//! A race: contenders that answer the same question, run in turn, and what came out.

use crate::contender::Contender;
use crate::quiet::Watch;
use crate::timing::{Figures, Measure, Times};
use std::fs;
use std::path::{Path, PathBuf};

/// How the floor with two threads is called in every table.
pub(crate) const FLOOR: &str = "floor (2 threads)";

/// A case that is ready to be run. The first contender is what all others are compared with.
pub(crate) struct Race {
    pub(crate) case: String,
    pub(crate) title: String,
    pub(crate) n_targets: usize,
    pub(crate) n_files: usize,
    pub(crate) rounds: usize,
    /// The cost per file is what it is about.
    pub(crate) per_file: bool,
    pub(crate) contenders: Vec<Contender>,
    /// Where upcheck is to keep its image, if it can.
    pub(crate) image_dir: Option<PathBuf>,
    /// What a reader of the table has to know.
    pub(crate) notes: Vec<String>,
}

/// What came out of a race.
pub(crate) struct Outcome {
    pub(crate) case: String,
    pub(crate) title: String,
    pub(crate) n_targets: usize,
    pub(crate) n_files: usize,
    pub(crate) rounds: usize,
    pub(crate) per_file: bool,
    pub(crate) rows: Vec<Row>,
    pub(crate) notes: Vec<String>,
}

pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) figures: Figures,
    /// Computed from a sample, not measured.
    pub(crate) extrapolated: bool,
}

impl Race {
    /// Looks at every contender's answer, which also warms the caches; then runs them in turn.
    pub(crate) fn run(mut self, measure: &Measure) -> Result<Outcome, String> {
        for contender in &self.contenders {
            contender.check()?;
        }
        if self.image_dir.as_deref().is_some_and(is_empty) {
            self.notes.push("upcheck wrote no image: it runs without one".into());
        }
        let watch = Watch::start();
        let mut times = vec![Times::default(); self.contenders.len()];
        for _ in 0..self.rounds {
            for (contender, times) in self.contenders.iter().zip(&mut times) {
                times.add(contender.time(measure)?);
            }
        }
        self.notes.extend(watch.note());
        let rows = self.contenders.iter().zip(&times).flat_map(|(contender, times)| rows(contender, times));
        Ok(Outcome {
            rows: rows.collect(),
            case: self.case,
            title: self.title,
            n_targets: self.n_targets,
            n_files: self.n_files,
            rounds: self.rounds,
            per_file: self.per_file,
            notes: self.notes,
        })
    }
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

fn rows(contender: &Contender, times: &Times) -> Vec<Row> {
    let figures = times.figures();
    let mut rows = vec![Row { name: contender.name.clone(), figures, extrapolated: false }];
    if let Some((name, n_commands)) = &contender.extrapolated {
        let factor = *n_commands as f64 / contender.n_commands() as f64;
        rows.push(Row { name: name.clone(), figures: figures.times(factor), extrapolated: true });
    }
    rows
}

impl Outcome {
    /// How large the build is, where that is one build and was counted.
    pub(crate) fn size(&self) -> Option<String> {
        (self.n_files > 0).then(|| format!("{} targets, {} files", self.n_targets, self.n_files))
    }

    /// What all others are compared with.
    pub(crate) fn ours(&self) -> &Figures {
        &self.rows[0].figures
    }

    pub(crate) fn floor(&self) -> Option<&Figures> {
        self.rows.iter().find(|row| row.name == FLOOR).map(|row| &row.figures)
    }

    pub(crate) fn microseconds_per_file(&self, row: &Row) -> f64 {
        row.figures.wall * 1e3 / self.n_files as f64
    }
}

//! What was taken, as a table: least and median of wall time, and of the processor time of the process that was timed.

use std::fmt::Write as _;
use std::time::Duration;

/// What one run took.
#[derive(Clone, Copy)]
pub(crate) struct Taken {
    pub(crate) wall: Duration,
    /// Of this process alone: the server's is not in it. `None` for what was no process of its own.
    pub(crate) cpu: Option<Duration>,
}

impl Taken {
    /// Of something that is done in this process.
    pub(crate) fn wall(wall: Duration) -> Self {
        Self { wall, cpu: None }
    }
}

/// Rows in the order in which they first came.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    name: String,
    /// How many targets or digests it is about; 0 where the number says nothing.
    count: usize,
    taken: Vec<Taken>,
}

impl Table {
    pub(crate) fn add(&mut self, name: &str, count: usize, taken: Taken) {
        match self.rows.iter_mut().find(|row| row.name == name) {
            Some(row) => row.taken.push(taken),
            None => self.rows.push(Row { name: name.into(), count, taken: vec![taken] }),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::from(
            "| ms | wall min | wall median | CPU min | CPU median | each, µs |\n|---|---:|---:|---:|---:|---:|\n",
        );
        for Row { name, count, taken } in &self.rows {
            let wall = least_and_median(taken.iter().map(|taken| taken.wall));
            let cpu = least_and_median(taken.iter().filter_map(|taken| taken.cpu));
            let each = wall.filter(|_| *count > 0).map(|[_, median]| median * 1e3 / *count as f64);
            let times = [wall, cpu].into_iter().flat_map(|times| match times {
                Some(times) => times.map(Some),
                None => [None; 2],
            });
            let cell = |value: Option<f64>| value.map_or(" |".into(), |value| format!(" {value:.1} |"));
            let cells: String = times.chain([each]).map(cell).collect();
            // A string is written to without an error.
            let _ = writeln!(text, "| {name} |{cells}");
        }
        text
    }
}

/// Milliseconds.
fn least_and_median(times: impl Iterator<Item = Duration>) -> Option<[f64; 2]> {
    let mut times: Vec<f64> = times.map(|time| time.as_secs_f64() * 1e3).collect();
    times.sort_by(f64::total_cmp);
    let middle = (times.get(times.len().saturating_sub(1) / 2)? + times.get(times.len() / 2)?) / 2.0;
    Some([times[0], middle])
}

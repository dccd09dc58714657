//! Whether the machine had nothing else to do: how long something waited for a processor, as Linux counts it.
//!
//! A race itself gives little cause to wait: contenders run in turn, with about as many threads as there are cores.

use std::fs;
use std::time::Instant;

/// From this share of the time on, figures are suspect.
const SUSPECT: f64 = 0.1;

/// The time from its making on.
pub(crate) struct Watch {
    began: Instant,
    waited: Option<f64>,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), waited: waited() }
    }

    /// What a reader of figures from this time has to know.
    pub(crate) fn note(&self) -> Option<String> {
        note((waited()? - self.waited?) / 1e6 / self.began.elapsed().as_secs_f64())
    }
}

fn note(share: f64) -> Option<String> {
    (share >= SUSPECT).then(|| {
        let percent = share.min(1.0) * 100.0;
        format!("the machine was busy: for {percent:.0} % of the time something waited for a processor")
    })
}

/// Microseconds since the machine was started.
fn waited() -> Option<f64> {
    parse(&fs::read_to_string("/proc/pressure/cpu").ok()?)
}

fn parse(text: &str) -> Option<f64> {
    text.lines().find(|line| line.starts_with("some "))?.rsplit_once("total=")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_count_is_understood_and_a_busy_machine_is_noted() {
        let text = "some avg10=87.71 avg60=80.78 avg300=81.73 total=2227732147\nfull avg10=0.00 total=0\n";
        assert_eq!(parse(text), Some(2_227_732_147.0));
        assert_eq!(parse(""), None);
        assert_eq!(note(0.02), None);
        assert!(note(0.43).is_some_and(|note| note.contains("43 %")));
    }
}

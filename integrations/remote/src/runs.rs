//! When commands ran, as far as ninja's log tells: what was changed while a command ran may not be what it has read.
//!
//! Ninja calls a target fresh whose input was changed while its command ran, if the output is newer. Whoever builds again
//! here is no worse off than before; but others would get what was made of something else. So before a result is published
//! it has to be proved that its inputs were not touched since the command began.
//!
//! | log | what it says | began not before | ended not after |
//! |---|---|---|---|
//! | version 6 and later | when the command began, by the file system's clock | that | that, and how long it took |
//! | the same, of a restat or generator target, or if it is the output's time | either of the two | as below | as below |
//! | before | when the output was last changed | that, less how long it took | that, and how long it took |
//!
//! From version 6 on ninja writes down the time of an output all the same where a restat or generator command has changed it, where
//! it could not tell when the command began, and when it is told to look at outputs anew (`ninja -t restat`).
//!
//! Clocks of file systems tick: a time that is read may be up to [`TICK`] ago, and lengths are whole milliseconds.

use std::collections::HashMap;
use upcheck::collect::Disk;
use upcheck::{Mtime, TargetId};
use upcheck_ninja::Build;

/// How far a clock of a file system lags behind at most, in nanoseconds.
const TICK: Mtime = 10_000_000;
const MILLISECOND: Mtime = 1_000_000;

/// What ninja's log says about how long commands took.
pub(crate) struct Runs {
    /// By output, in nanoseconds.
    lengths: HashMap<Vec<u8>, Mtime>,
    is_of_starts: bool,
}

/// When a command ran. Nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// A file that was last touched before this was not touched since the command began.
    pub(crate) sources_before: Mtime,
    /// The same for a file that the build itself has made: it was complete when the command was started. Where this moment may be
    /// later, it has to be proved, too, that nobody has touched it since it was made.
    pub(crate) made_until: Mtime,
    /// What was touched later was not touched by the command.
    pub(crate) ended_until: Mtime,
    /// Whether it is known when the command began, and not only that it was not before.
    pub(crate) is_exact: bool,
}

impl Runs {
    pub(crate) fn read(build: &Build, disk: &dyn Disk) -> Self {
        let log = disk.read(build.log_path()).unwrap_or_default();
        Self { lengths: lengths(&log), is_of_starts: build.log_version().is_some_and(|version| version >= 6) }
    }

    /// When the command of a target ran; `None` where that is not known. `mtimes`: those of its outputs now.
    pub(crate) fn of(&self, build: &Build, target: TargetId, mtimes: &[Mtime]) -> Option<Run> {
        let graph = build.graph();
        let flags = graph.flags(target);
        let mut all: Option<Run> = None;
        for (&output, &mtime) in graph.outputs(target).iter().zip(mtimes) {
            let length = *self.lengths.get(graph.files.path(output))?;
            let logged = build.history().record(output)?.mtime;
            let ended_until = logged.saturating_add(length + MILLISECOND + TICK);
            let may_be_of_outputs = flags.restat || flags.generator || mtimes.contains(&logged);
            let run = if self.is_of_starts && !may_be_of_outputs {
                Run { sources_before: logged, made_until: logged, ended_until, is_exact: true }
            } else if self.is_of_starts || logged == mtime {
                let sources_before = logged.saturating_sub(length + MILLISECOND + TICK);
                Run { sources_before, made_until: logged, ended_until, is_exact: false }
            } else {
                return None;
            };
            // One command made all of them, so what is known of one holds for the others.
            all = Some(all.map_or(run, |all| Run {
                sources_before: all.sources_before.max(run.sources_before),
                made_until: all.made_until.min(run.made_until),
                ended_until: all.ended_until.min(run.ended_until),
                is_exact: all.is_exact && run.is_exact,
            }));
        }
        all
    }
}

/// How long the command of each output took: `start_ms TAB end_ms TAB mtime TAB output TAB hash`, the last line counts.
fn lengths(log: &[u8]) -> HashMap<Vec<u8>, Mtime> {
    let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse::<Mtime>().ok();
    let mut lengths = HashMap::new();
    for line in log.split(|&byte| byte == b'\n') {
        let mut fields = line.split(|&byte| byte == b'\t');
        let (Some(start), Some(end), Some(_), Some(output)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        match (number(start), number(end)) {
            // From no time to no time: that was not run, but written by somebody who mends logs.
            (Some(0), Some(0)) => drop(lengths.remove(output)),
            (Some(start), Some(end)) if end >= start && end - start < Mtime::MAX / (4 * MILLISECOND) => {
                lengths.insert(output.to_vec(), (end - start) * MILLISECOND);
            }
            _ => drop(lengths.remove(output)),
        }
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_about_an_output_counts_and_what_makes_no_sense_tells_nothing() {
        let log = b"# ninja log v7\n1\t5\t9\ta\tff\n2\t3\t9\ta\tff\n7\t1\t9\tb\tff\nx\t1\t9\tc\tff\n1\t2\n\
                    0\t9223372036854775807\t9\td\tff\n1\t2\t3\te\tff\n-1\t\t3\te\tff\n\
                    4\t8\t3\tf\tff\n0\t0\t3\tf\tff\n";
        assert_eq!(lengths(log), HashMap::from([(b"a".to_vec(), MILLISECOND)]));
    }
}

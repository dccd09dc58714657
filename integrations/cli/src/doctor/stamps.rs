//! How fine a file system's stamps are, measured: what it keeps of a time that is set, and how its own clock steps.

use super::finding::{Finding, mishap};
use super::look::{Measured, look, set_mtime, write};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use upcheck::Mtime;
use upcheck_words::difference;

/// 2001-09-09 01:46:40 UTC: long before any probe is written.
pub(super) const OLD: Mtime = 1_000_000_000 * SECOND;
const SECOND: Mtime = 1_000_000_000;
const DAY: Mtime = 86_400 * SECOND;

/// An odd second and nine digits that are no step's multiple.
const ODD: Mtime = OLD + SECOND + 987_654_321;
/// The steps in which times are known to be kept, in nanoseconds.
const STEPS: [Mtime; 8] = [1, 10, 100, 1_000, 1_000_000, 10_000_000, COARSE, 2 * SECOND];
/// Steps from here on hide edits that people make.
pub(super) const COARSE: Mtime = SECOND;

/// The slowest kernel ticks a hundred times a second.
const SLOWEST_TICK: Mtime = 10_000_000;
/// How long it is tried to see the clock step.
const LONGEST: Duration = Duration::from_millis(60);
/// Files written at once, then such with a pause between: the former show steps below a millisecond.
const N_AT_ONCE: usize = 64;
const PAUSE: Duration = Duration::from_micros(200);

/// What was measured.
pub(super) struct Stamps {
    /// In which steps set times are kept, in nanoseconds; `None`: in no known ones.
    pub(super) kept_ns: Option<Mtime>,
    ticks: Ticks,
    /// The smallest step of the stamps of one file that is looked at after each writing: newer kernels stamp finer then.
    /// Nanoseconds.
    tick_after_look_ns: Option<Mtime>,
    /// Whether writing an old file anew makes it young.
    moves: bool,
    ctime: Ctime,
}

/// How the clock behind stamps moves while files are written one after the other. All in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    /// The smallest difference between stamps; `None`: the clock was not seen to step.
    smallest: Option<Mtime>,
    /// The largest one: a stamp lies behind the moment of writing by no more.
    largest: Option<Mtime>,
    /// How far apart writings were, by the local clock, that got the same stamp; 0 where none did.
    tie: Mtime,
}

/// What the time of the last change of status is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ctime {
    /// It moves by itself and cannot be chosen.
    Moves,
    /// It is the mtime under another name.
    CopiesMtime,
    /// It is there and stays.
    Stays,
    /// It stays, but stamps are so coarse that this shows nothing.
    Unseen,
    /// The platform has none.
    None,
}

/// Measures in a folder of its own.
pub(super) fn measure(folder: &Path) -> Measured<Stamps> {
    let changing = folder.join("changing");
    write(&changing, b"1")?;
    let first = look(&changing)?;
    let ticks = tick(folder)?;
    let tick_after_look_ns = tick_after_look(&folder.join("looked-at"))?;
    let kept_ns = kept(&folder.join("set"))?;
    set_mtime(&changing, OLD)?;
    let ctime = ctime(first.ctime, look(&changing)?.ctime, kept_ns);
    write(&changing, b"2")?;
    let moves = look(&changing)?.mtime > OLD + DAY;
    Ok(Stamps { kept_ns, ticks, tick_after_look_ns, moves, ctime })
}

impl Stamps {
    /// How far a stamp may lie behind the moment of writing, in nanoseconds, as far as was seen.
    pub(super) fn delay_ns(&self) -> Mtime {
        let kept = self.kept_ns.unwrap_or(2 * SECOND);
        let unseen = if kept < COARSE { SECOND } else { kept };
        kept.max(self.ticks.largest.unwrap_or(unseen)).max(SLOWEST_TICK)
    }

    /// The measured values, then what is the matter with them.
    pub(super) fn findings(&self) -> Vec<Finding> {
        let steps = match (self.ticks.smallest, self.tick_after_look_ns) {
            (Some(tick), Some(finer)) if finer < tick => {
                format!("steps by {} ({} once a file was looked at)", span(tick), span(finer))
            }
            (Some(tick), _) => format!("steps by {}", span(tick)),
            (None, _) => format!("did not step within {} ms", LONGEST.as_millis()),
        };
        let tie = match self.ticks.tie {
            0 => String::new(),
            tie => format!(", writings {} apart got the same stamp", span(tie)),
        };
        let kept = self.kept_ns.map_or("set times do not stay".into(), keeps);
        let facts = Finding::info(
            "stamps",
            format!("{kept}; the clock behind them {steps}{tie}; {}", self.ctime.words()),
        )
        .with("kept_ns", self.kept_ns)
        .with("tick_ns", self.ticks.smallest)
        .with("tie_ns", self.ticks.tie)
        .with("tick_after_look_ns", self.tick_after_look_ns)
        .with("rewriting_moves", self.moves)
        .with("ctime", self.ctime.name());
        std::iter::once(facts).chain(self.troubles()).collect()
    }

    fn troubles(&self) -> impl Iterator<Item = Finding> + use<> {
        let coarse = self.kept_ns.filter(|&kept| kept >= COARSE).map(|kept| {
            Finding::warning("coarse-stamps", format!("stamps are {} apart", span(kept)))
                .with("kept_ns", kept)
                .advise("an edit within the same step as a build goes unseen: keep sources and outputs on another file \
                    system, or touch what was edited while a build ran")
        });
        let lost = self.kept_ns.is_none().then(|| {
            Finding::warning("times-not-kept", "a time that was set is not there when it is read again")
                .advise(
                    "tools that restore times (tar, rsync -t, caches) do not work here: build without them",
                )
        });
        let stuck = (!self.moves).then(|| {
            Finding::warning("stamps-stay", "a file keeps its old stamp when it is written anew")
                .advise("no edit will ever be noticed here: keep sources elsewhere")
        });
        let ctime = matches!(self.ctime, Ctime::CopiesMtime | Ctime::Stays).then(|| {
            Finding::info("ctime-unreliable", self.ctime.words())
                .with("ctime", self.ctime.name())
                .advise("if a manifest is replaced by one of the same size and time, only --no-image sees it")
        });
        [coarse, lost, stuck, ctime].into_iter().flatten()
    }
}

impl Ctime {
    fn name(self) -> &'static str {
        match self {
            Self::Moves => "moves",
            Self::CopiesMtime => "copies-mtime",
            Self::Stays => "stays",
            Self::Unseen => "unseen",
            Self::None => "none",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Moves => "ctime moves by itself",
            Self::CopiesMtime => "ctime only copies the mtime",
            Self::Stays => "ctime does not move",
            Self::Unseen => "ctime is too coarse to be seen moving",
            Self::None => "no ctime on this platform",
        }
    }
}

/// How long, in words; ticks are below what [`difference`] has units for.
pub(super) fn span(nanoseconds: Mtime) -> String {
    match nanoseconds {
        1_000..1_000_000 => format!("{}.{} µs", nanoseconds / 1_000, nanoseconds % 1_000 / 100),
        1_000_000..100_000_000 => {
            format!("{}.{} ms", nanoseconds / 1_000_000, nanoseconds % 1_000_000 / 100_000)
        }
        _ => difference(nanoseconds, 0),
    }
}

fn keeps(step: Mtime) -> String {
    match step {
        1 => "set times keep nanoseconds".into(),
        COARSE => "set times keep whole seconds".into(),
        _ => format!("set times keep steps of {}", span(step)),
    }
}

fn kept(probe: &Path) -> Measured<Option<Mtime>> {
    write(probe, b"")?;
    set_mtime(probe, ODD)?;
    Ok(step(ODD, look(probe)?.mtime))
}

/// The step in which a file system keeps times that was given one time and tells another.
fn step(set: Mtime, read: Mtime) -> Option<Mtime> {
    STEPS.into_iter().find(|step| set.abs_diff(read) < step.unsigned_abs() && read % step == 0)
}

fn ctime(before: Option<Mtime>, after: Option<Mtime>, kept_ns: Option<Mtime>) -> Ctime {
    let (Some(before), Some(after)) = (before, after) else { return Ctime::None };
    if after.abs_diff(OLD) < DAY.unsigned_abs() {
        Ctime::CopiesMtime
    } else if after != before {
        Ctime::Moves
    } else if kept_ns.is_none_or(|kept| kept >= COARSE) {
        Ctime::Unseen
    } else {
        Ctime::Stays
    }
}

/// Writes files one after the other, and looks at them only when all are there.
fn tick(folder: &Path) -> Measured<Ticks> {
    let folder = folder.join("tick");
    fs::create_dir(&folder).map_err(|cause| mishap("creating", &folder, &cause))?;
    let began = Instant::now();
    let mut probes = Vec::new();
    while began.elapsed() < LONGEST || probes.len() <= N_AT_ONCE {
        let probe = folder.join(probes.len().to_string());
        write(&probe, b"1")?;
        probes.push((probe, nanoseconds_since(began)));
        if probes.len() > N_AT_ONCE {
            std::thread::sleep(PAUSE);
        }
    }
    let stamps = probes.iter().map(|(probe, written)| Ok((*written, look(probe)?.mtime)));
    Ok(ticks(&stamps.collect::<Measured<Vec<_>>>()?))
}

/// What stamps tell. Each comes with the moment of writing.
fn ticks(stamps: &[(Mtime, Mtime)]) -> Ticks {
    let steps = || {
        let steps = stamps.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].1));
        steps.filter(|&step| step > 0)
    };
    let runs = stamps.chunk_by(|one, next| one.1 == next.1);
    let tie = runs.map(|run| run[run.len() - 1].0.saturating_sub(run[0].0)).max().unwrap_or(0);
    Ticks { smallest: steps().min(), largest: steps().max(), tie }
}

fn nanoseconds_since(began: Instant) -> Mtime {
    Mtime::try_from(began.elapsed().as_nanos()).unwrap_or(Mtime::MAX)
}

/// Writes one file again and again, looking at it each time.
fn tick_after_look(probe: &Path) -> Measured<Option<Mtime>> {
    let began = Instant::now();
    let mut stamps = Vec::new();
    while began.elapsed() < LONGEST && stamps.len() < N_AT_ONCE || stamps.len() < 2 {
        write(probe, b"1")?;
        stamps.push((nanoseconds_since(began), look(probe)?.mtime));
    }
    Ok(ticks(&stamps).smallest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_in_which_times_are_kept_shows_in_one_time() {
        for (read, expected) in [
            (ODD, Some(1)),
            (OLD + SECOND + 987_654_320, Some(10)),
            (OLD + SECOND + 987_654_300, Some(100)),
            (OLD + SECOND + 987_654_000, Some(1_000)),
            (OLD + SECOND + 987_000_000, Some(1_000_000)),
            (OLD + SECOND + 980_000_000, Some(10_000_000)),
            (OLD + SECOND + 990_000_000, Some(10_000_000)),
            (OLD + SECOND, Some(SECOND)),
            (OLD, Some(2 * SECOND)),
            (OLD + 2 * SECOND, Some(SECOND)),
            (0, None),
            (i64::MIN, None),
            (i64::MAX, None),
        ] {
            assert_eq!(step(ODD, read), expected, "{read}");
        }
    }

    #[test]
    fn a_ctime_that_cannot_be_seen_moving_is_no_ctime_that_stays() {
        let now = Some(1_700_000_000 * SECOND);
        let later = now.map(|now| now + 1);
        assert_eq!(ctime(now, later, Some(1)), Ctime::Moves);
        assert_eq!(ctime(now, now, Some(1)), Ctime::Stays);
        assert_eq!(ctime(now, now, Some(SECOND)), Ctime::Unseen);
        assert_eq!(ctime(now, Some(OLD), Some(1)), Ctime::CopiesMtime);
        assert_eq!(ctime(None, None, Some(1)), Ctime::None);
    }

    #[test]
    fn ticks_are_steps_forward_and_ties_are_measured_by_the_local_clock() {
        let seen = ticks(&[(0, 1), (2, 1), (3, 9), (7, 9), (8, 13), (9, 11)]);
        assert_eq!(seen, Ticks { smallest: Some(4), largest: Some(8), tie: 4 });
        assert_eq!(ticks(&[(0, 7), (5, 7)]), Ticks { smallest: None, largest: None, tie: 5 });
        assert_eq!(ticks(&[(0, i64::MIN), (1, i64::MAX)]).largest, Some(i64::MAX));
        assert_eq!(ticks(&[]), Ticks { smallest: None, largest: None, tie: 0 });
    }

    #[test]
    fn spans_have_a_unit_that_says_them() {
        assert_eq!([1, 2_340, 4_000_000, 2 * SECOND].map(span), ["1 ns", "2.3 µs", "4.0 ms", "2.000 s"]);
    }
}

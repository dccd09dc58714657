//! The wording of [`upcheck`]'s reasons and causes, for people. The only place that has it.

#![forbid(unsafe_code)]

mod time;

pub use time::{Zone, count, difference};

use time::Clock;
use upcheck::{Compared, Digest, FileId, Graph, Mtime, Reason, RootCause, Unknown, Verdict, os_message};

/// Paths as people read them.
#[must_use]
pub fn path(graph: &Graph, file: FileId) -> String {
    bytes(graph.files.path(file))
}

/// Bytes as people read them: what is not UTF-8 replaced, control characters made visible.
#[must_use]
pub fn bytes(bytes: &[u8]) -> String {
    visible(&String::from_utf8_lossy(bytes), "")
}

/// Makes control characters visible, all but those to `keep`: no name of a file may steer a terminal.
#[must_use]
pub fn visible(text: &str, keep: &str) -> String {
    let is_bad = |c: char| c.is_control() && !keep.contains(c);
    text.chars().fold(String::with_capacity(text.len()), |mut visible, c| {
        if is_bad(c) {
            visible.extend(c.escape_debug());
        } else {
            visible.push(c);
        }
        visible
    })
}

/// One reason in one sentence, with both values compared.
#[must_use]
pub fn sentence(graph: &Graph, reason: &Reason, zone: Zone) -> String {
    let clock = Clock(zone);
    let path = |file| path(graph, file);
    let against = |newer, older| {
        let (newer, older) = clock.both(newer, older);
        format!("({newer} against {older})")
    };
    match reason {
        Reason::OutputMissing { output } => format!("{} does not exist", path(*output)),
        Reason::InputMissing { input } => format!("{} does not exist and nothing makes it", path(*input)),
        Reason::InputNewer { input, input_mtime, output, output_mtime, recorded } => {
            let what = if *recorded { "the record of " } else { "" };
            format!(
                "{} is newer than {what}{} by {} {}",
                path(*input),
                path(*output),
                difference(*input_mtime, *output_mtime),
                against(*input_mtime, *output_mtime),
            )
        }
        Reason::CommandChanged { output, recorded_hash, hash } => format!(
            "the command of {} changed (hash {hash:016x}, on record {recorded_hash:016x})",
            path(*output)
        ),
        Reason::NeverBuilt { output } => format!("no build of {} is on record", path(*output)),
        Reason::DepsUnknown { output, why } => {
            format!("the discovered inputs of {} are not known: {}", path(*output), unknown(why))
        }
        Reason::DyndepStale { dyndep, .. } => {
            format!("its dyndep file {} is about to be made again", path(*dyndep))
        }
        Reason::DyndepBroken { dyndep, message } => {
            format!("its dyndep file {} is unusable: {}", path(*dyndep), first_line(message))
        }
        Reason::DepsOutdated { output, output_mtime, recorded_mtime } => format!(
            "{} changed after its discovered inputs were recorded {}",
            path(*output),
            against(*output_mtime, *recorded_mtime)
        ),
        Reason::UpstreamStale { input, .. } => format!("{} is stale", path(*input)),
        Reason::PhonyMissing { input } => {
            format!("{} is a phony target without inputs and without a file: stale always", path(*input))
        }
        Reason::ManifestStale { manifest } => {
            format!("{} is the manifest, which would be made again before anything else", path(*manifest))
        }
        Reason::InputChanged { input, compared } => format!("{} {}", path(*input), changed(compared, &clock)),
        Reason::OutputChanged { output, compared } => {
            format!(
                "the output {} is not what its last build made: it {}",
                path(*output),
                changed(compared, &clock)
            )
        }
        Reason::InputsDiffer { added, removed, .. } => {
            let list = |files: &[FileId], what: &str| match files {
                [] => None,
                [one] => Some(format!("{} {what}", path(*one))),
                [first, rest @ ..] => Some(format!("{} and {} more {what}", path(*first), count(rest.len()))),
            };
            let both = [list(added, "came as an input"), list(removed, "is no input any more")];
            both.into_iter().flatten().collect::<Vec<_>>().join("; ")
        }
        Reason::ValueChanged { name, recorded, value, .. } => {
            let shown = |value: &Option<Box<[u8]>>| match value {
                Some(value) => format!("\"{}\"", bytes(value)),
                None => "none".into(),
            };
            format!("the value of {} changed ({} against {})", bytes(name), shown(value), shown(recorded))
        }
        Reason::Interrupted { began, .. } => {
            format!("its last build, begun {}, did not succeed or has not ended", clock.second(*began))
        }
        Reason::Racy { path: file } => format!(
            "{} has the stamp on record, but one so young that it proves nothing, and its content is not on record",
            path(*file)
        ),
        Reason::Unreadable { path: file, errno } => {
            format!("{} cannot be looked at: {}", path(*file), os_error(*errno))
        }
        other => other.code().into(),
    }
}

/// In what a file differs from its record, after its name.
fn changed(compared: &Compared, clock: &Clock) -> String {
    let Compared { recorded, recorded_digest, now, digest, unsteady } = compared;
    match (recorded, now) {
        _ if *unsteady => "is being changed right now".into(),
        (None, Some(_)) => "changed while the last build was under way, or was not there".into(),
        (_, None) => "is gone".into(),
        (Some(then), Some(now)) if then.size != now.size => {
            format!("changed ({} bytes against {})", count_bytes(now.size), count_bytes(then.size))
        }
        (Some(_), Some(_)) if digest.is_some() && recorded_digest.is_some() => {
            let short = |digest: &Option<Digest>| {
                digest.map_or(String::new(), |digest| digest.to_string()[..8].to_string())
            };
            format!("changed (content {} against {})", short(digest), short(recorded_digest))
        }
        (Some(then), Some(now)) if then.mtime != now.mtime => {
            let (newer, older) = clock.both(now.mtime, then.mtime);
            format!("changed ({newer} against {older})")
        }
        _ => "was replaced by another file".into(),
    }
}

fn count_bytes(bytes: u64) -> String {
    count(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// A moment, to the second.
#[must_use]
pub fn moment(moment: Mtime, zone: Zone) -> String {
    Clock(zone).second(moment)
}

/// An input that is stale or pending, as a reason for a target with `verdict`. `producer` is the verdict on
/// what makes it, where that is known.
#[must_use]
pub fn upstream(graph: &Graph, input: FileId, verdict: Verdict, producer: Option<Verdict>) -> String {
    let input = path(graph, input);
    match (verdict, producer) {
        (Verdict::Pending, _) => format!("{input} may come out changed"),
        (_, Some(Verdict::Pending)) => format!("{input} is pending"),
        _ => format!("{input} is stale"),
    }
}

/// A root cause, to follow "N targets are stale because".
#[must_use]
pub fn cause(graph: &Graph, cause: &RootCause, zone: Zone) -> String {
    let clock = Clock(zone);
    let path = path(graph, cause.reason.path());
    match &cause.reason {
        Reason::InputNewer { input_mtime, .. } => {
            format!("{path} is newer than what was made from it (changed {})", clock.second(*input_mtime))
        }
        Reason::InputMissing { .. } => format!("{path} is missing"),
        Reason::OutputMissing { .. } => format!("the output {path} is missing"),
        Reason::CommandChanged { .. } => format!("the command of {path} changed"),
        Reason::NeverBuilt { .. } => format!("no build of {path} is on record"),
        Reason::DepsUnknown { .. } => format!("the discovered inputs of {path} are not known"),
        Reason::DepsOutdated { .. } => {
            format!("{path} changed after its discovered inputs were recorded")
        }
        Reason::InputChanged { .. } => format!("{path} changed"),
        Reason::OutputChanged { .. } => format!("the output {path} was changed"),
        Reason::InputsDiffer { .. } => format!("the inputs of {path} are other ones"),
        Reason::ValueChanged { .. } => format!("a value that {path} depends on changed"),
        Reason::Interrupted { .. } => format!("the last build of {path} did not succeed or has not ended"),
        Reason::Racy { .. } => format!("{path} may have changed right after it was recorded"),
        Reason::PhonyMissing { .. } => format!("{path} is always stale"),
        Reason::Unreadable { errno, .. } => format!("{path} cannot be looked at: {}", os_error(*errno)),
        reason => sentence(graph, reason, zone),
    }
}

/// Many causes of one kind that lie in the targets themselves, to follow "N targets are stale because".
/// `None` for the kinds whose causes are files worth naming one by one.
#[must_use]
pub fn causes_of_kind(code: &str, n_causes: usize, example: &str) -> Option<String> {
    let n_causes = count(n_causes);
    Some(match code {
        "output-missing" => format!("{n_causes} outputs are missing ({example}, ...)"),
        "command-changed" => format!("{n_causes} commands changed (that of {example}, ...)"),
        "never-built" => format!("no build of {n_causes} targets is on record ({example}, ...)"),
        "deps-unknown" => {
            format!("the discovered inputs of {n_causes} targets are not known ({example}, ...)")
        }
        "deps-outdated" => {
            format!("{n_causes} outputs changed after their discovered inputs were recorded ({example}, ...)")
        }
        "output-changed" => format!("{n_causes} outputs were changed ({example}, ...)"),
        "inputs-differ" => format!("the inputs of {n_causes} targets are other ones ({example}, ...)"),
        "value-changed" => format!("values that {n_causes} targets depend on changed (for {example}, ...)"),
        "interrupted" => {
            format!("the last build of {n_causes} targets did not succeed or has not ended ({example}, ...)")
        }
        _ => return None,
    })
}

/// Why discovered inputs are not known.
fn unknown(why: &Unknown) -> String {
    match why {
        Unknown::NotRecorded => "there is no record of them".into(),
        Unknown::NoDepfile { depfile } => format!("the depfile {} is missing", bytes(depfile)),
        Unknown::OtherOutput { depfile, names } => {
            format!("the depfile {} is about {}", bytes(depfile), bytes(names))
        }
        Unknown::Broken { message } => first_line(message),
    }
}

/// A syntax error shows its place on lines of its own, which have no room in a sentence.
fn first_line(message: &str) -> String {
    visible(message.lines().next().unwrap_or_default(), "")
}

/// The operating system's words for an error number.
#[must_use]
pub fn os_error(errno: i32) -> String {
    os_message(&std::io::Error::from_raw_os_error(errno))
}

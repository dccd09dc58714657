//! The answer to `check`, for programs, or why there is none. `docs/schema/report.json` describes it.

use crate::answer::{Answer, Rules};
use crate::cmake::Owner;
use crate::words;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::time::SystemTime;
use upcheck::{
    Compared, Digest, FileId, Graph, Meta, Reason, RootCause, StaleTarget, TargetId, Unknown, Verdict,
};
use upcheck_ninja::contents::ContentCounts;

/// The name and version of the format. The number changes when a reader of the old one would go wrong.
pub(crate) const SCHEMA: &str = "upcheck.report/1";

/// Prints one object. Stale targets are written one by one: a large answer needs no second copy.
pub(crate) fn print(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    let stale = answer.report.stale.iter().map(|stale| target(answer, stale));
    object(out, head(answer.from, SCHEMA, answer.report.is_fresh()), "stale", stale, tail(answer))
}

/// Prints one object per stale target, then one with all the rest.
pub(crate) fn print_lines(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    for stale in &answer.report.stale {
        writeln!(out, "{}", target(answer, stale))?;
    }
    let mut last = head(answer.from, SCHEMA, answer.report.is_fresh());
    last.extend(tail(answer));
    writeln!(out, "{}", Value::Object(last))
}

/// Prints what an answer says, without what it cost to find out and when that was: whoever wants to know whether two answers
/// say the same compares that.
pub(crate) fn print_without_costs(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    for stale in &answer.report.stale {
        writeln!(out, "{}", target(answer, stale))?;
    }
    let mut rest = head(answer.from, SCHEMA, answer.report.is_fresh());
    rest.extend(tail(answer));
    if let Some(summary) = rest.get_mut("summary").and_then(Value::as_object_mut) {
        // Not `remove`, which puts the last key in the place of the one that goes.
        COSTS.iter().for_each(|key| drop(summary.shift_remove(*key)));
    }
    writeln!(out, "{}", Value::Object(rest))
}

/// What in the summary says what the answer cost, and when it was found.
const COSTS: [&str; 8] = [
    "files",
    "directories",
    "stats",
    "image",
    "contents",
    "watched",
    "snapshot_began_ns",
    "snapshot_ended_ns",
];

/// Prints one object that says why there is no answer: it has no verdict. `from`: what describes the build, if it is about one.
pub(crate) fn print_trouble(
    out: &mut dyn Write,
    from: Option<&str>,
    schema: &str,
    message: &str,
) -> io::Result<()> {
    let mut trouble = Map::new();
    trouble.insert("schema".into(), schema.into());
    if let Some(from) = from {
        trouble.insert("from".into(), from.into());
    }
    trouble.insert("errors".into(), json!([{ "message": message }]));
    writeln!(out, "{}", Value::Object(trouble))
}

/// What every answer begins with.
pub(crate) fn head(from: &str, schema: &str, is_fresh: bool) -> Map<String, Value> {
    let mut head = origin(from, schema);
    head.insert("verdict".into(), verdict(if is_fresh { Verdict::Fresh } else { Verdict::Stale }).into());
    head
}

/// What every document begins with.
pub(crate) fn origin(from: &str, schema: &str) -> Map<String, Value> {
    let mut origin = Map::new();
    origin.insert("schema".into(), schema.into());
    origin.insert("from".into(), from.into());
    origin
}

/// Prints one object with a list in its middle, entry by entry.
pub(crate) fn object(
    out: &mut dyn Write,
    before: Map<String, Value>,
    list: &str,
    entries: impl Iterator<Item = Value>,
    after: Map<String, Value>,
) -> io::Result<()> {
    out.write_all(b"{")?;
    for (key, value) in before {
        write!(out, "\"{key}\":{value},")?;
    }
    write!(out, "\"{list}\":[")?;
    for (position, entry) in entries.enumerate() {
        let comma = if position > 0 { "," } else { "" };
        write!(out, "{comma}{entry}")?;
    }
    out.write_all(b"]")?;
    for (key, value) in after {
        write!(out, ",\"{key}\":{value}")?;
    }
    out.write_all(b"}\n")
}

/// What stands after the stale targets.
fn tail(answer: &Answer<'_>) -> Map<String, Value> {
    let graph = answer.graph;
    let causes: Vec<_> = answer.report.root_causes.iter().map(|cause| root_cause(graph, cause)).collect();
    let mut tail = Map::new();
    tail.insert("root_causes".into(), causes.into());
    tail.insert("summary".into(), summary(answer));
    tail.insert("errors".into(), errors(answer).into());
    tail
}

fn target(answer: &Answer<'_>, stale: &StaleTarget) -> Value {
    let graph = answer.graph;
    let mut object = Map::new();
    put_target(&mut object, graph, stale.target);
    if let Some(owner) = answer.owner(stale.target) {
        put_owner(&mut object, "cmake_target", &owner);
    }
    object.insert("verdict".into(), verdict(stale.verdict).into());
    let reasons: Vec<_> = stale.reasons.iter().map(|why| reason(graph, why)).collect();
    object.insert("reasons".into(), reasons.into());
    if answer.commands {
        put_path(&mut object, "command", &answer.command(stale.target));
    }
    if let Some(remote) = answer.remote() {
        remote.put(&mut object, graph, stale.target);
    }
    Value::Object(object)
}

/// Puts a target's name and all its outputs.
pub(crate) fn put_target(object: &mut Map<String, Value>, graph: &Graph, target: TargetId) {
    put_path(object, "target", graph.name(target));
    let outputs = graph.outputs(target).iter().map(|&file| graph.files.path(file));
    object.insert("outputs".into(), outputs.clone().map(lossy).collect());
    if outputs.clone().any(|path| std::str::from_utf8(path).is_err()) {
        object.insert("outputs_b64".into(), outputs.map(|path| BASE64.encode(path)).collect());
    }
}

/// Puts what CMake calls a target.
pub(crate) fn put_owner(object: &mut Map<String, Value>, key: &str, owner: &Owner<'_>) {
    object.insert(key.into(), owner.name.into());
    if let Some(configuration) = owner.configuration {
        object.insert("configuration".into(), configuration.into());
    }
}

/// A verdict's name.
pub(crate) fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Fresh => "fresh",
        Verdict::Pending => "pending",
        Verdict::Stale => "stale",
    }
}

/// A reason with its evidence. Times are nanoseconds since 1970, hashes hexadecimal.
pub(crate) fn reason(graph: &Graph, reason: &Reason) -> Value {
    let mut object = Map::new();
    object.insert("code".into(), reason.code().into());
    put_path(&mut object, "path", graph.files.path(reason.path()));
    let mut put = |key: &str, value: Value| drop(object.insert(key.into(), value));
    match reason {
        Reason::InputNewer { input_mtime, output, output_mtime, recorded, .. } => {
            put("mtime_ns", (*input_mtime).into());
            put("compared_with", (if *recorded { "record" } else { "file" }).into());
            put("output_mtime_ns", (*output_mtime).into());
            put_path(&mut object, "output", graph.files.path(*output));
        }
        Reason::CommandChanged { recorded_hash, hash, .. } => {
            put("hash", format!("{hash:016x}").into());
            put("recorded_hash", format!("{recorded_hash:016x}").into());
        }
        Reason::DepsUnknown { why, .. } => match why {
            Unknown::NotRecorded => put("why", "not-recorded".into()),
            Unknown::NoDepfile { depfile } => {
                put("why", "no-depfile".into());
                put_path(&mut object, "depfile", depfile);
            }
            Unknown::OtherOutput { depfile, names } => {
                put("why", "other-output".into());
                put_path(&mut object, "depfile", depfile);
                put_path(&mut object, "names", names);
            }
            Unknown::Broken { message } => {
                put("why", "depfile-broken".into());
                put("detail", message.to_string().into());
            }
        },
        Reason::DyndepBroken { message, .. } => {
            put("why", "dyndep-broken".into());
            put("detail", message.to_string().into());
        }
        Reason::DyndepStale { producer, .. } => {
            put("why", "dyndep-stale".into());
            put_path(&mut object, "target", graph.name(*producer));
        }
        Reason::DepsOutdated { output_mtime, recorded_mtime, .. } => {
            put("mtime_ns", (*output_mtime).into());
            put("recorded_mtime_ns", (*recorded_mtime).into());
        }
        Reason::UpstreamStale { producer, .. } => {
            put_path(&mut object, "target", graph.name(*producer));
        }
        Reason::InputChanged { compared, .. } | Reason::OutputChanged { compared, .. } => {
            put_compared(&mut object, compared);
        }
        Reason::InputsDiffer { added, removed, .. } => {
            put_paths(&mut object, "added", graph, added);
            put_paths(&mut object, "removed", graph, removed);
        }
        Reason::ValueChanged { name, recorded, value, .. } => {
            put_path(&mut object, "name", name);
            for (key, text) in [("recorded", recorded), ("value", value)] {
                match text {
                    Some(text) => put_path(&mut object, key, text),
                    None => drop(object.insert(key.into(), Value::Null)),
                }
            }
        }
        Reason::Interrupted { began, .. } => put("began_ns", (*began).into()),
        Reason::Unreadable { errno, .. } => {
            put("errno", (*errno).into());
            put("detail", words::os_error(*errno).into());
        }
        _ => {}
    }
    Value::Object(object)
}

/// Both values of a comparison. A file that was not there has no stamp.
fn put_compared(object: &mut Map<String, Value>, compared: &Compared) {
    let stamp = |meta: Option<Meta>, digest: Option<Digest>| {
        let Some(meta) = meta else { return Value::Null };
        let mut stamp = json!({ "mtime_ns": meta.mtime, "size": meta.size });
        if let Some(digest) = digest {
            stamp["blake3"] = digest.to_string().into();
        }
        stamp
    };
    object.insert("recorded".into(), stamp(compared.recorded, compared.recorded_digest));
    object.insert("now".into(), stamp(compared.now, compared.digest));
    if compared.unsteady {
        object.insert("unsteady".into(), true.into());
    }
}

/// A list of paths under `key`, and exactly under `key_b64` where one of them is not UTF-8.
fn put_paths(object: &mut Map<String, Value>, key: &str, graph: &Graph, files: &[FileId]) {
    let paths = files.iter().map(|&file| graph.files.path(file));
    object.insert(key.into(), paths.clone().map(lossy).collect());
    if paths.clone().any(|path| std::str::from_utf8(path).is_err()) {
        object.insert(format!("{key}_b64"), paths.map(|path| BASE64.encode(path)).collect());
    }
}

fn root_cause(graph: &Graph, cause: &RootCause) -> Value {
    let mut object = Map::new();
    put_path(&mut object, "path", graph.files.path(cause.reason.path()));
    object.insert("code".into(), cause.reason.code().into());
    object.insert("targets".into(), cause.n_targets.into());
    Value::Object(object)
}

fn summary(answer: &Answer<'_>) -> Value {
    let report = &answer.report;
    let looked = &answer.looked;
    let mut summary = Map::new();
    let mut put = |key: &str, value: Value| drop(summary.insert(key.into(), value));
    put("targets", report.n_targets.into());
    put("fresh", report.n_fresh().into());
    put("stale", report.n_stale.into());
    put("pending", report.n_pending.into());
    put("root_causes", report.n_root_causes.into());
    put("files", looked.n_files.into());
    put("directories", looked.counts.directories.into());
    put("stats", looked.counts.stats.into());
    match &answer.rules {
        Rules::Ninja(ninja) => {
            put("exact", ninja.exact.into());
            put("manifest_stale", answer.manifest_is_stale().into());
            put("image", ninja.image.into());
            put("ninja_version", ninja.version.to_string().into());
            put("log_version", ninja.log_version.into());
            if let Some(ContentCounts { targets, looked, touched }) = ninja.contents {
                put("by_content", targets.into());
                put("contents", looked.into());
                put("touched", touched.into());
            }
        }
        Rules::Project { has_records, n_contents, .. } => {
            if answer.cmake.is_some() {
                put("manifest_stale", answer.manifest_is_stale().into());
            }
            put("records", (*has_records).into());
            put("contents", (*n_contents).into());
        }
    }
    if let Some(remote) = answer.remote() {
        put("remote", remote.summary());
    }
    if let Some(watched) = answer.watched {
        put("watched", watched.name().into());
    }
    if let Some(verified) = answer.verified {
        put("verified", verified.name().into());
    }
    if answer.cmake.is_some() {
        let owner = |(owner, n_stale): (Owner<'_>, usize)| {
            let mut object = Map::new();
            put_owner(&mut object, "name", &owner);
            object.insert("stale".into(), n_stale.into());
            Value::Object(object)
        };
        put("cmake_targets", answer.owners().into_iter().map(owner).collect());
    }
    put("snapshot_began_ns", since_epoch(looked.snapshot.0).into());
    put("snapshot_ended_ns", since_epoch(looked.snapshot.1).into());
    Value::Object(summary)
}

/// What stood in the way of a proper answer about some targets, which are stale for it.
fn errors(answer: &Answer<'_>) -> Vec<Value> {
    let graph = answer.graph;
    let mut seen = std::collections::HashSet::new();
    let mut errors = Vec::new();
    for reason in answer.report.stale.iter().flat_map(|stale| &stale.reasons) {
        let message = match reason {
            Reason::Unreadable { errno, .. } => format!("stat: {}", words::os_error(*errno)),
            Reason::DepsUnknown { why: Unknown::Broken { message }, .. }
            | Reason::DyndepBroken { message, .. } => message.to_string(),
            _ => continue,
        };
        if seen.insert((reason.path(), message.clone())) {
            let mut object = Map::new();
            put_path(&mut object, "path", graph.files.path(reason.path()));
            object.insert("message".into(), message.into());
            errors.push(Value::Object(object));
        }
    }
    errors
}

fn since_epoch(time: SystemTime) -> u64 {
    time.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |after| u64::try_from(after.as_nanos()).unwrap_or(u64::MAX))
}

/// Puts bytes under `key` as text, and exactly under `key_b64` where the text is not them.
pub(crate) fn put_path(object: &mut Map<String, Value>, key: &str, bytes: &[u8]) {
    object.insert(key.into(), lossy(bytes).into());
    if std::str::from_utf8(bytes).is_err() {
        object.insert(format!("{key}_b64"), BASE64.encode(bytes).into());
    }
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

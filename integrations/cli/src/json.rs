//! The answer to `check`, for programs. `docs/schema/report.json` describes it.

use crate::run::Answer;
use crate::words;
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::time::SystemTime;
use upcheck::{Graph, Reason, RootCause, StaleTarget, Unknown, Verdict};

/// The name and version of the format. The number changes when a reader of the old one would go wrong.
const SCHEMA: &str = "upcheck.report/1";

/// Prints one object. Stale targets are written one by one: a large answer needs no second copy.
pub(crate) fn print(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    write!(
        out,
        "{{\"schema\":\"{SCHEMA}\",\"from\":\"ninja\",\"verdict\":\"{}\",\"stale\":[",
        overall(answer)
    )?;
    for (position, stale) in answer.report.stale.iter().enumerate() {
        if position > 0 {
            out.write_all(b",")?;
        }
        write!(out, "{}", target(answer, stale))?;
    }
    out.write_all(b"]")?;
    for (key, value) in tail(answer) {
        write!(out, ",\"{key}\":{value}")?;
    }
    out.write_all(b"}\n")
}

/// Prints one object per stale target, then one with all the rest.
pub(crate) fn print_lines(out: &mut dyn Write, answer: &Answer<'_>) -> io::Result<()> {
    for stale in &answer.report.stale {
        writeln!(out, "{}", target(answer, stale))?;
    }
    let mut last = Map::new();
    last.insert("schema".into(), SCHEMA.into());
    last.insert("from".into(), "ninja".into());
    last.insert("verdict".into(), overall(answer).into());
    last.extend(tail(answer));
    writeln!(out, "{}", Value::Object(last))
}

fn overall(answer: &Answer<'_>) -> &'static str {
    if answer.report.is_fresh() { "fresh" } else { "stale" }
}

/// What stands after the stale targets.
fn tail(answer: &Answer<'_>) -> Map<String, Value> {
    let graph = answer.build.graph();
    let causes: Vec<_> = answer.report.root_causes.iter().map(|cause| root_cause(graph, cause)).collect();
    let mut tail = Map::new();
    tail.insert("root_causes".into(), causes.into());
    tail.insert("summary".into(), summary(answer));
    tail.insert("errors".into(), errors(answer).into());
    tail
}

fn target(answer: &Answer<'_>, stale: &StaleTarget) -> Value {
    let graph = answer.build.graph();
    let mut object = Map::new();
    put_path(&mut object, "target", graph.name(stale.target));
    let outputs = graph.outputs(stale.target);
    let texts: Vec<_> = outputs.iter().map(|&file| lossy(graph.files.path(file))).collect();
    object.insert("outputs".into(), texts.into());
    if outputs.iter().any(|&file| std::str::from_utf8(graph.files.path(file)).is_err()) {
        let exact: Vec<_> = outputs.iter().map(|&file| BASE64.encode(graph.files.path(file))).collect();
        object.insert("outputs_b64".into(), exact.into());
    }
    object.insert("verdict".into(), verdict(stale.verdict).into());
    let reasons: Vec<_> = stale.reasons.iter().map(|why| reason(graph, why)).collect();
    object.insert("reasons".into(), reasons.into());
    if answer.commands {
        put_path(&mut object, "command", &answer.build.command(stale.target).unwrap_or_default());
    }
    Value::Object(object)
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
    let mut put = |key: &str, value: Value| object.insert(key.into(), value);
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
        Reason::DepsUnknown { why, .. } => {
            put("detail", words::unknown(why).into());
        }
        Reason::DyndepBroken { message, .. } => {
            put("detail", message.to_string().into());
        }
        Reason::DepsOutdated { output_mtime, recorded_mtime, .. } => {
            put("mtime_ns", (*output_mtime).into());
            put("recorded_mtime_ns", (*recorded_mtime).into());
        }
        Reason::UpstreamStale { producer, .. } | Reason::DyndepStale { producer, .. } => {
            put_path(&mut object, "target", graph.name(*producer));
        }
        Reason::Unreadable { errno, .. } => {
            put("detail", words::os_error(*errno).into());
        }
        _ => {}
    }
    Value::Object(object)
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
    let counts = answer.snapshot.counts();
    let manifest_stale = answer.stopped_at_manifest
        || report
            .stale
            .iter()
            .any(|stale| stale.reasons.iter().any(|reason| matches!(reason, Reason::ManifestStale { .. })));
    json!({
        "targets": report.n_targets,
        "fresh": report.n_fresh(),
        "stale": report.n_stale,
        "pending": report.n_pending,
        "root_causes": report.n_root_causes,
        "files": answer.snapshot.n_files(),
        "directories": counts.directories,
        "stats": counts.stats,
        "exact": answer.exact,
        "manifest_stale": manifest_stale,
        "ninja_version": answer.build.version().to_string(),
        "log_version": answer.build.log_version(),
        "snapshot_began_ns": since_epoch(answer.snapshot.began()),
        "snapshot_ended_ns": since_epoch(answer.snapshot.ended()),
    })
}

/// What stood in the way of a proper answer about some targets, which are stale for it.
fn errors(answer: &Answer<'_>) -> Vec<Value> {
    let graph = answer.build.graph();
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

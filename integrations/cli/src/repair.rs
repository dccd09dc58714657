//! `upcheck repair`: makes plain ninja agree with what contents prove.

use crate::args::{Common, Format, RepairArgs};
use crate::exit::Exit;
use crate::image_folder::digests;
use crate::json::{origin, put_path};
use crate::project::trouble;
use crate::run::{Trouble, bytes_of, open, print, warn};
use crate::text::plural;
use crate::words;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use upcheck_ninja::Options;
use upcheck_ninja::contents::Contents;
use upcheck_ninja::repair::{Place, Repair, RepairOptions, Unproven, Why};

/// The name and version of the format.
pub(crate) const SCHEMA: &str = "upcheck.repair/1";

/// How many of a kind are named.
const MOST_NAMES: usize = 5;

/// Repairs a build directory of ninja, or says what there is to repair.
pub(crate) fn repair(common: &Common, args: &RepairArgs) -> Result<Exit, Trouble> {
    if common.is_project() {
        return Err(Trouble(
            "repair is for ninja: nobody else keeps records that could be proved and mended".into(),
        ));
    }
    let disk = open(common)?;
    let place =
        Place { directory: common.directory.clone(), records: common.directory.join(&common.records) };
    let read = Contents::read(&place.records);
    let read = read.map_err(|error| trouble("reading", &place.records.join(Contents::NAME), &error))?;
    let Some(mut contents) = read else {
        let folder = words::bytes(place.records.as_os_str().as_encoded_bytes());
        return Err(Trouble(format!(
            "nothing is on record in '{folder}', so nothing can be proved: `upcheck record` after a build puts there \
             what files hold"
        )));
    };
    let options = Options {
        manifest: bytes_of(common.manifest().into_os_string()),
        version: common.ninja_version,
        threads: common.threads,
    };
    let how = RepairOptions { keep_sources: args.keep_sources };
    let mut cache = digests(common);
    let planned = Repair::plan(&disk, &place, &options, &how, &contents, cache.as_mut());
    if let Some(cache) = cache {
        cache.save();
    }
    let repair = planned?;
    warn(common, &repair.warnings);
    if !args.dry_run {
        repair.apply(&disk, &place, &mut contents)?;
    }
    print(common, |out| match common.format {
        Format::Text | Format::Names => print_text(out, args, &repair),
        Format::Json | Format::Jsonl => writeln!(out, "{}", document(common, args, &repair)),
    })?;
    Ok(Exit::Fresh)
}

fn print_text(out: &mut dyn Write, args: &RepairArgs, repair: &Repair) -> io::Result<()> {
    let (before, after) = repair.n_stale;
    let of = plural(repair.n_targets, "target");
    match (repair.is_empty(), args.dry_run) {
        (true, _) => writeln!(out, "nothing to repair: ninja would run {after} of {of}")?,
        (false, true) => writeln!(out, "to repair: ninja would run {after} of {of}, now {before}")?,
        (false, false) => writeln!(out, "repaired: ninja would run {after} of {of}, before {before}")?,
    }
    let shown = |path: &[u8]| words::bytes(path);
    let times = repair.times.iter().map(|time| shown(&time.path));
    print_list(out, args, "time set", repair.times.len(), times)?;
    for (what, outputs) in [
        ("log entry mended", &repair.mended),
        ("log entry dropped", &repair.dropped),
        ("discovered inputs mended", &repair.deps),
    ] {
        print_list(out, args, what, outputs.len(), outputs.iter().map(|output| shown(output)))?;
    }
    // What was never built says least, and often there is much of it: `install`, say.
    let (never, known): (Vec<_>, Vec<_>) =
        repair.unproven.iter().partition(|unproven| unproven.why == Why::NotRecorded);
    let unproven = known.into_iter().chain(never);
    let unproven = unproven.map(|unproven| format!("{}: {}", shown(&unproven.target), why(unproven)));
    print_list(out, args, "not proved", repair.unproven.len(), unproven)
}

/// One in a line, the first few of them unless all are wanted.
fn print_list(
    out: &mut dyn Write,
    args: &RepairArgs,
    what: &str,
    n: usize,
    names: impl Iterator<Item = String>,
) -> io::Result<()> {
    let most = if args.verbose { usize::MAX } else { MOST_NAMES };
    for name in names.take(most) {
        writeln!(out, "{what}: {name}")?;
    }
    match n.saturating_sub(most) {
        0 => Ok(()),
        more => writeln!(out, "{what}: ... and {more} more (-v names all)"),
    }
}

fn why(unproven: &Unproven) -> String {
    match &unproven.why {
        Why::NotRecorded => "it is not on record".into(),
        Why::MadeSince => "it was made again after it was recorded".into(),
        Why::Depfile => "its depfile says something else, or is not there".into(),
        Why::Ahead => "its times lie ahead".into(),
        Why::Command => "its command changed".into(),
        Why::Description => "its inputs or outputs are others".into(),
        Why::Input(path) => format!("input {} changed", words::bytes(path)),
        Why::Output(path) => format!("output {} is not what was made", words::bytes(path)),
    }
}

fn document(common: &Common, args: &RepairArgs, repair: &Repair) -> Value {
    let mut document = origin(common.origin(), SCHEMA);
    document.insert("dry_run".into(), args.dry_run.into());
    let times: Vec<Value> = repair
        .times
        .iter()
        .map(|time| {
            let mut object = Map::new();
            put_path(&mut object, "path", &time.path);
            object.insert("from_ns".into(), time.from.into());
            object.insert("to_ns".into(), time.to.into());
            object.into()
        })
        .collect();
    document.insert("times".into(), times.into());
    for (key, outputs) in
        [("log_mended", &repair.mended), ("log_dropped", &repair.dropped), ("deps_mended", &repair.deps)]
    {
        let outputs: Vec<Value> = outputs.iter().map(|output| of_path(output).into()).collect();
        document.insert(key.into(), outputs.into());
    }
    let unproven: Vec<Value> = repair.unproven.iter().map(unproven_in_json).collect();
    document.insert("unproven".into(), unproven.into());
    document.insert(
        "summary".into(),
        json!({
            "targets": repair.n_targets,
            "unproven": repair.unproven.len(),
            "stale_before": repair.n_stale.0,
            "stale_after": repair.n_stale.1,
            "contents": repair.n_read,
        }),
    );
    document.into()
}

fn of_path(path: &[u8]) -> Map<String, Value> {
    let mut object = Map::new();
    put_path(&mut object, "path", path);
    object
}

fn unproven_in_json(unproven: &Unproven) -> Value {
    let mut object = Map::new();
    put_path(&mut object, "target", &unproven.target);
    let (code, path) = match &unproven.why {
        Why::NotRecorded => ("not-recorded", None),
        Why::MadeSince => ("made-since", None),
        Why::Depfile => ("depfile", None),
        Why::Command => ("command-changed", None),
        Why::Description => ("description-changed", None),
        Why::Ahead => ("ahead", None),
        Why::Input(path) => ("input-changed", Some(path)),
        Why::Output(path) => ("output-changed", Some(path)),
    };
    object.insert("code".into(), code.into());
    if let Some(path) = path {
        put_path(&mut object, "path", path);
    }
    object.into()
}

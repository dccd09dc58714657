//! `publish`: puts what a build has made into the cache.

use super::answer::size;
use super::transfer::{Begun, TransferArgs};
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::json;
use crate::progress::Progress;
use crate::run::{Trouble, print, warn};
use crate::text::plural;
use crate::words;
use serde_json::{Map, Value};
use std::io::{self, Write};
use upcheck::{TargetId, Verdict};
use upcheck_ninja::Build;
use upcheck_remote::{Published, Pushed};
use upcheck_words::count;

/// The name and version of the format for programs.
pub(crate) const SCHEMA: &str = "upcheck.publish/1";

/// How many skipped targets are named without being asked for.
const FEW_SKIPPED: usize = 10;

/// Puts what is fresh into the cache; with a name for a snapshot, all results under that, too.
pub(crate) fn publish(common: &Common, args: &TransferArgs, snapshot: Option<&str>) -> Result<Exit, Trouble> {
    let Begun { client, disk, build, requests, looks } = args.begin(common)?;
    let decision = build.decide(&looks, &requests)?;
    let graph = build.graph();
    let is_made = |target: &TargetId| !graph.flags(*target).phony;
    let judged: Vec<TargetId> = decision.judged().iter().copied().filter(is_made).collect();
    let fresh: Vec<TargetId> =
        judged.iter().copied().filter(|&target| decision.verdict(target) == Verdict::Fresh).collect();
    let n_stale = judged.len() - fresh.len();
    warn(common, build.warnings());
    let naming = args.keys.naming(common, &build)?;
    let place = naming.place(&build, &disk);
    let progress = Progress::new("sending files");
    let (published, pushed) = match snapshot.filter(|_| !args.dry_run) {
        Some(name) => {
            let (published, pushed) =
                upcheck_remote::push_snapshot(&place, &fresh, name, &client, &progress)?;
            (published, Some((name, pushed)))
        }
        None => (upcheck_remote::publish(&place, &fresh, &client, args.dry_run, &progress)?, None),
    };
    let answer = Answer { build: &build, published: &published, pushed, n_stale, args };
    print(common, |out| match common.format {
        Format::Text => answer.print(out),
        Format::Json | Format::Jsonl => answer.print_json(out, common),
        Format::Names => Ok(()),
    })?;
    Ok(Exit::Fresh)
}

struct Answer<'a> {
    build: &'a Build,
    published: &'a Published,
    /// The name and the extent of the snapshot, if one was pushed.
    pushed: Option<(&'a str, Pushed)>,
    n_stale: usize,
    args: &'a TransferArgs,
}

impl Answer<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Published { uploaded, present, skipped, blobs: (n_blobs, bytes), .. } = self.published;
        let would = if self.args.dry_run { "to be uploaded" } else { "uploaded" };
        write!(out, "{} {would}", plural(uploaded.len(), "target"))?;
        if *n_blobs > 0 {
            write!(out, " ({}, {})", plural(*n_blobs, "blob"), size(*bytes))?;
        }
        writeln!(
            out,
            ", {} already there, {} skipped",
            count(present.len()),
            count(skipped.len() + self.n_stale)
        )?;
        if let Some((name, pushed)) = self.pushed {
            let name = words::visible(name, " ");
            writeln!(out, "snapshot  {name}: {} ({})", plural(pushed.keys, "result"), size(pushed.bytes))?;
        }
        if self.n_stale > 0 {
            let are = if self.n_stale == 1 { "is" } else { "are" };
            writeln!(
                out,
                "          {} {are} stale: nothing is known of what was made",
                plural(self.n_stale, "target")
            )?;
        }
        let shown = if self.args.explain { skipped.len() } else { FEW_SKIPPED };
        for (target, skip) in skipped.iter().take(shown) {
            let name = words::bytes(self.build.graph().name(*target));
            writeln!(out, "skipped   {name}: {}", words::visible(&skip.to_string(), " "))?;
        }
        if skipped.len() > shown {
            writeln!(
                out,
                "          ... and {}: --explain names all",
                plural(skipped.len() - shown, "more target")
            )?;
        }
        Ok(())
    }

    fn print_json(&self, out: &mut dyn Write, common: &Common) -> io::Result<()> {
        let Published { uploaded, present, skipped, blobs: (n_blobs, bytes), .. } = self.published;
        let graph = self.build.graph();
        let target = |target: &TargetId| {
            let mut object = Map::new();
            json::put_target(&mut object, graph, *target);
            object
        };
        let list =
            |targets: &[TargetId]| -> Value { targets.iter().map(|it| Value::Object(target(it))).collect() };
        let mut object = json::origin(common.origin(), SCHEMA);
        object.insert("dry_run".into(), self.args.dry_run.into());
        object.insert("uploaded".into(), list(uploaded));
        object.insert("present".into(), list(present));
        let skipped = skipped.iter().map(|(skipped, why)| {
            let mut object = target(skipped);
            object.insert("why".into(), why.to_string().into());
            Value::Object(object)
        });
        object.insert("skipped".into(), skipped.collect());
        object.insert("stale".into(), self.n_stale.into());
        object.insert("blobs".into(), (*n_blobs).into());
        object.insert("bytes".into(), (*bytes).into());
        if let Some((name, pushed)) = self.pushed {
            let pushed = serde_json::json!({ "name": name, "results": pushed.keys, "bytes": pushed.bytes });
            object.insert("snapshot".into(), pushed);
        }
        writeln!(out, "{}", Value::Object(object))
    }
}

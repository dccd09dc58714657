//! `restore`: takes what is stale from the cache, and tells ninja so.

use super::answer::size;
use super::transfer::{Begun, TransferArgs};
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::json;
#[cfg(unix)]
use crate::progress::Progress;
use crate::run::{Trouble, print, warn};
use crate::text::plural;
use crate::words;
use serde_json::{Map, Value};
use std::io::{self, Write};
use upcheck::TargetId;
use upcheck_ninja::Build;
use upcheck_remote::{Place, Restored};

/// The name and version of the format for programs.
pub(crate) const SCHEMA: &str = "upcheck.restore/1";

/// How many targets that are left are named without being asked for.
const FEW_LEFT: usize = 10;

/// Takes what is stale from the cache.
pub(crate) fn restore(common: &Common, args: &TransferArgs) -> Result<Exit, Trouble> {
    let Begun { client, disk, build, requests, looks } = args.begin(common)?;
    let decision = build.decide(&looks, &requests)?;
    let report = build.report(&decision);
    warn(common, build.warnings());
    let stale: Vec<TargetId> = report.stale.iter().map(|stale| stale.target).collect();
    let mut restored = Restored::default();
    if !stale.is_empty() {
        let naming = args.keys.naming(common, &build)?;
        let place = naming.place(&build, &disk);
        restored = run(&place, &stale, &client, args.dry_run)?;
    }
    if let Some(trouble) = &restored.trouble {
        warn(common, &[trouble.to_string()]);
    }
    let answer = Answer { build: &build, restored: &restored, args };
    print(common, |out| match common.format {
        Format::Text => answer.print(out),
        Format::Json | Format::Jsonl => answer.print_json(out, common),
        Format::Names => Ok(()),
    })?;
    let is_fresh = restored.left.is_empty() && (restored.restored.is_empty() || !args.dry_run);
    Ok(if is_fresh { Exit::Fresh } else { Exit::Stale })
}

#[cfg(unix)]
fn run(
    place: &Place<'_>,
    stale: &[TargetId],
    client: &upcheck_reapi::Client,
    is_dry: bool,
) -> Result<Restored, Trouble> {
    upcheck_remote::restore(place, stale, stale, client, is_dry, &Progress::new("fetching files"))
        .map_err(|refusal| Trouble(format!("restoring: {refusal}")))
}

#[cfg(not(unix))]
fn run(_: &Place<'_>, _: &[TargetId], _: &upcheck_reapi::Client, _: bool) -> Result<Restored, Trouble> {
    Err(Trouble("restoring is for Unix: elsewhere nothing keeps links from being followed".into()))
}

struct Answer<'a> {
    build: &'a Build,
    restored: &'a Restored,
    args: &'a TransferArgs,
}

impl Answer<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Restored { restored, left, bytes, .. } = self.restored;
        let would = if self.args.dry_run { "to be restored" } else { "restored" };
        write!(out, "{} {would}", plural(restored.len(), "target"))?;
        if *bytes > 0 {
            let most = if self.args.dry_run { "at most " } else { "" };
            write!(out, " ({most}{})", size(*bytes))?;
        }
        writeln!(out, ", {} still stale", upcheck_words::count(left.len()))?;
        let shown = if self.args.explain { left.len() } else { FEW_LEFT };
        for (target, why) in left.iter().take(shown) {
            let name = words::bytes(self.build.graph().name(*target));
            writeln!(out, "stale     {name}: {}", words::visible(&why.to_string(), " "))?;
        }
        if left.len() > shown {
            writeln!(
                out,
                "          ... and {}: --explain names all",
                plural(left.len() - shown, "more target")
            )?;
        }
        Ok(())
    }

    fn print_json(&self, out: &mut dyn Write, common: &Common) -> io::Result<()> {
        let Restored { restored, left, bytes, .. } = self.restored;
        let graph = self.build.graph();
        let target = |target: &TargetId| {
            let mut object = Map::new();
            json::put_target(&mut object, graph, *target);
            object
        };
        let mut object = json::origin(common.origin(), SCHEMA);
        object.insert("dry_run".into(), self.args.dry_run.into());
        object.insert("restored".into(), restored.iter().map(|it| Value::Object(target(it))).collect());
        let left = left.iter().map(|(it, why)| {
            let mut object = target(it);
            object.insert("why".into(), why.to_string().into());
            Value::Object(object)
        });
        object.insert("stale".into(), left.collect());
        object.insert("bytes".into(), (*bytes).into());
        writeln!(out, "{}", Value::Object(object))
    }
}

//! `publish`: puts what a build has made into the cache.

use super::answer::size;
use super::keys::{KeyArgs, contents};
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::json;
use crate::ninja::{load, requests};
use crate::remote_args::RemoteArgs;
use crate::run::{Trouble, open, print, warn};
use crate::text::plural;
use crate::words;
use clap::Args as ClapArgs;
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{self, Write};
use upcheck::{TargetId, Verdict};
use upcheck_ninja::{Build, Opened};
use upcheck_remote::{Place, Published};
use upcheck_words::count;

/// The name and version of the format for programs.
pub(crate) const SCHEMA: &str = "upcheck.publish/1";

/// How many skipped targets are named without being asked for.
const FEW_SKIPPED: usize = 10;

#[derive(Debug, ClapArgs)]
pub(crate) struct PublishArgs {
    /// The targets; with all that they need (default: what `ninja` would build)
    #[arg(value_name = "TARGET")]
    pub(crate) targets: Vec<OsString>,
    /// Send nothing; say what would be sent
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Name every target that is skipped
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
}

/// Puts what is fresh into the cache.
pub(crate) fn publish(common: &Common, args: &PublishArgs) -> Result<Exit, Trouble> {
    let Some((_, client)) = args.remote.client()? else {
        return Err(Trouble("no cache is named: --remote URL, or the variable UPCHECK_REMOTE".into()));
    };
    let disk = open(common)?;
    let targets = crate::ninja::targets(common, &args.targets);
    let Opened::Build(mut build) = load(common, &disk, None, &targets, true)? else {
        unreachable!("a build was wanted");
    };
    let requests = requests(common, &build, &args.targets)?;
    build.describe(&disk, &requests)?;
    let snapshot = build.collect(&disk);
    build.load_rules(&disk)?;
    let decision = build.decide(&snapshot, &requests)?;
    let graph = build.graph();
    let is_made = |target: &TargetId| !graph.flags(*target).phony;
    let judged: Vec<TargetId> = decision.judged().iter().copied().filter(is_made).collect();
    let fresh: Vec<TargetId> =
        judged.iter().copied().filter(|&target| decision.verdict(target) == Verdict::Fresh).collect();
    let n_stale = judged.len() - fresh.len();
    warn(common, build.warnings());
    let root = args.keys.root(common, &build)?;
    let settings = args.keys.settings()?;
    let contents = contents(common);
    let place = Place {
        build: &build,
        disk: &disk,
        root: &root,
        settings: &settings,
        contents: contents.as_ref(),
        threads: common.threads,
    };
    let published = upcheck_remote::publish(&place, &fresh, &client, args.dry_run, &mut |_| {})?;
    let answer = Answer { build: &build, published: &published, n_stale, args };
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
    n_stale: usize,
    args: &'a PublishArgs,
}

impl Answer<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Published { uploaded, present, skipped, blobs: (n_blobs, bytes) } = self.published;
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
        let Published { uploaded, present, skipped, blobs: (n_blobs, bytes) } = self.published;
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
        writeln!(out, "{}", Value::Object(object))
    }
}

//! `upcheck remote doctor`: whether a cache can be reached, trusted and asked, step by step, and what is wrong with the first
//! step that fails.

use super::args::RemoteArgs;
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::run::{self, Trouble};
use crate::text::{BOLD, FRESH, PENDING, STALE};
use crate::words;
use clap::Args as ClapArgs;
use serde_json::{Map, Value, json};
use std::io::{self, Write};
use std::time::{Duration, Instant};
use upcheck_reapi::{Address, Capabilities, Client, Digest, Error, ErrorKind, Place};

/// The name and version of the format.
pub(crate) const SCHEMA: &str = "upcheck.remote-doctor/1";

#[derive(Debug, ClapArgs)]
pub(crate) struct RemoteDoctorArgs {
    /// The cache, instead of --remote
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,
}

/// What became of a step.
struct Step {
    name: &'static str,
    found: Found,
    words: String,
    hint: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Good,
    Attention,
    Bad,
}

impl Found {
    fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Attention => "attention",
            Self::Bad => "bad",
        }
    }
}

/// Asks a cache all that commands ask of it, and nothing that would store anything.
pub(crate) fn doctor(common: &Common, args: &RemoteDoctorArgs) -> Result<Exit, Trouble> {
    let mut remote = args.remote.clone();
    remote.remote = args.url.clone().or(remote.remote);
    let (address, client) =
        remote.client()?.ok_or_else(|| Trouble("which cache? upcheck remote doctor URL".into()))?;
    let mut steps = Vec::new();
    // What failed is the last step: the others rest on it.
    if let Err(step) = examine(&address, &client, &mut steps) {
        steps.push(step);
    }
    run::print(common, |out| match common.format {
        Format::Text | Format::Names => print(out, &address, &steps),
        Format::Json | Format::Jsonl => print_json(out, &address, &steps),
    })?;
    let worst = |found| steps.iter().any(|step| step.found == found);
    Ok(match (worst(Found::Bad), worst(Found::Attention)) {
        (true, _) => Exit::Trouble,
        (false, true) => Exit::Stale,
        (false, false) => Exit::Fresh,
    })
}

fn examine(address: &Address, client: &Client, steps: &mut Vec<Step>) -> Result<(), Step> {
    let begun = Instant::now();
    let capabilities = client.capabilities().map_err(|error| failed(step_of(&error), &error))?;
    let way = match address.place() {
        Place::Unix(_) => "a socket of this machine",
        Place::Tcp { tls: true, .. } => "TLS; the certificate is believed",
        Place::Tcp { .. } if address.is_private() => "no TLS; this machine",
        Place::Tcp { .. } => "no TLS",
    };
    steps.push(good("connection", format!("{way}; {} until the first answer", millis(begun.elapsed()))));
    if !address.is_private() {
        let words = "others can read along, and could answer instead of the cache".into();
        let hint = Some("TLS keeps them out: grpcs://".into());
        steps.push(Step { name: "tls", found: Found::Attention, words, hint });
    }
    steps.push(good("credentials", "the server answers who asks".into()));
    steps.push(good("capabilities", told(&capabilities)));
    if client.may_write().map_err(|error| failed("write", &error))? {
        steps.push(good("write", "whoever asks may store something".into()));
    } else {
        // Reading is all that most may do.
        steps.push(good("write", "whoever asks may only read".into()));
    }
    steps.push(round_trip(client)?);
    steps.push(large_request(client)?);
    Ok(())
}

/// The least of some, after the first.
fn round_trip(client: &Client) -> Result<Step, Step> {
    let mut least = Duration::MAX;
    for _ in 0..5 {
        let begun = Instant::now();
        client.capabilities().map_err(|error| failed("round-trip", &error))?;
        least = least.min(begun.elapsed());
    }
    Ok(good("round-trip", millis(least)))
}

/// Asks about as many blobs as a check ever asks about in one request. There are none of these.
fn large_request(client: &Client) -> Result<Step, Step> {
    const DIGESTS: u32 = 20_000;
    let digests: Vec<_> = (0..DIGESTS).map(|number| Digest::of(&number.to_le_bytes())).collect();
    let begun = Instant::now();
    client.find_missing(&digests).map_err(|error| failed("large-request", &error))?;
    Ok(good("large-request", format!("{DIGESTS} digests in {}", millis(begun.elapsed()))))
}

fn told(capabilities: &Capabilities) -> String {
    let mut words = capabilities.digest_functions.join(", ");
    if let Some((low, high)) = &capabilities.versions {
        words.push_str(&format!("; API {low} to {high}"));
    }
    match capabilities.max_batch {
        Some(bytes) => words.push_str(&format!("; batches of up to {bytes} bytes")),
        None => words.push_str("; no limit for batches is told, so they stay below 4 MiB"),
    }
    if !capabilities.update_enabled {
        words.push_str("; results cannot be stored");
    }
    words
}

/// The step that an error belongs to.
fn step_of(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Tls => "tls",
        ErrorKind::Refused => "credentials",
        ErrorKind::Configuration => "configuration",
        _ => "connection",
    }
}

fn good(name: &'static str, words: String) -> Step {
    Step { name, found: Found::Good, words, hint: None }
}

fn failed(name: &'static str, error: &Error) -> Step {
    let words = format!("{}: {}", error.operation(), error.cause());
    Step { name, found: Found::Bad, words, hint: error.hint().map(Into::into) }
}

fn millis(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}

fn print(out: &mut dyn Write, address: &Address, steps: &[Step]) -> io::Result<()> {
    writeln!(out, "{BOLD}{}{BOLD:#}", words::visible(&address.to_string(), ""))?;
    for step in steps {
        let style = match step.found {
            Found::Good => FRESH,
            Found::Attention => PENDING,
            Found::Bad => STALE,
        };
        let (name, found) = (step.name, step.found.name());
        writeln!(out, "  {style}{found:<9}{style:#}  {name:<13}  {}", words::visible(&step.words, ""))?;
        if let Some(hint) = &step.hint {
            writeln!(out, "{:28}{hint}", "")?;
        }
    }
    Ok(())
}

fn print_json(out: &mut dyn Write, address: &Address, steps: &[Step]) -> io::Result<()> {
    let steps = steps.iter().map(|step| {
        let mut object = Map::new();
        object.insert("name".into(), step.name.into());
        object.insert("found".into(), step.found.name().into());
        object.insert("text".into(), step.words.as_str().into());
        if let Some(hint) = &step.hint {
            object.insert("hint".into(), hint.as_str().into());
        }
        Value::Object(object)
    });
    let steps: Vec<_> = steps.collect();
    writeln!(out, "{}", json!({ "schema": SCHEMA, "address": address.to_string(), "steps": steps }))
}

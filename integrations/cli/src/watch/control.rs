//! `watch start`, `status` and `stop`.

use super::{SCHEMA, WatchCommand, life, quick};
use crate::args::{Common, Format};
use crate::exit::Exit;
use crate::run::{Trouble, print};
use crate::text::plural;
use serde_json::{Map, Value};
use std::io::{self, Write};
use upcheck_daemon::{Ask, NoAnswer, Patience, Reply, ask};
use upcheck_words::count;

pub(super) fn watch(common: &Common, command: &WatchCommand) -> Result<Exit, Trouble> {
    match command {
        WatchCommand::Start(args) => {
            if let Some(status) = status()? {
                let runs = format!("upcheck watch runs already, pid {}", status["pid"]);
                return match args.verify && status.get("verifies") != Some(&true.into()) {
                    true => {
                        Err(Trouble(format!("{runs}, and does not verify: `upcheck watch stop` ends it")))
                    }
                    false => said(common, &runs),
                };
            }
            let started = life::start(*args);
            match (status()?, started) {
                (Some(status), Ok(())) => said(common, &format!("upcheck watch runs, pid {}", status["pid"])),
                // Somebody else was faster.
                (Some(status), Err(_)) if !args.verify => {
                    said(common, &format!("upcheck watch runs already, pid {}", status["pid"]))
                }
                (_, Err(why)) => Err(Trouble(why)),
                (None, Ok(())) => Err(Trouble("it has gone again".into())),
            }
        }
        WatchCommand::Status => print_status(common, status()?),
        WatchCommand::Stop => match tell(Ask::Stop)? {
            None => said(common, "upcheck watch does not run"),
            Some(_) => said(common, "upcheck watch has ended"),
        },
        WatchCommand::Wait => Err(Trouble("waiting is not about the daemon".into())),
        WatchCommand::Serve(args) => life::serve(args).map(|()| Exit::Fresh).map_err(Trouble),
    }
}

/// What the daemon says of itself; `None` where there is none.
fn status() -> Result<Option<Map<String, Value>>, Trouble> {
    match tell(Ask::Status)? {
        None => Ok(None),
        Some(Reply::Status(status)) => Ok(Some(status)),
        Some(_) => Err(Trouble("upcheck watch answers something else".into())),
    }
}

/// Tells the daemon something; `None` where there is none.
pub(super) fn tell(what: Ask) -> Result<Option<Reply>, Trouble> {
    let Some(place) = quick::place().map_err(Trouble)? else { return Ok(None) };
    let request = quick::request(what, (Vec::new(), String::new()), [false; 2]).map_err(Trouble)?;
    match ask(&place, &request, Patience::default()) {
        Ok(reply) => Ok(Some(reply)),
        Err(NoAnswer::NotRunning) => Ok(None),
        Err(why) => Err(Trouble(format!("asking upcheck watch: {why}"))),
    }
}

fn said(common: &Common, what: &str) -> Result<Exit, Trouble> {
    if common.format == Format::Text {
        print(common, |out| writeln!(out, "{what}"))?;
    }
    Ok(Exit::Fresh)
}

fn print_status(common: &Common, status: Option<Map<String, Value>>) -> Result<Exit, Trouble> {
    let exit = if status.is_some() { Exit::Fresh } else { Exit::Stale };
    print(common, |out| match (common.format, status) {
        (Format::Text | Format::Names, None) => writeln!(out, "upcheck watch does not run"),
        (Format::Text | Format::Names, Some(status)) => print_text(out, &status),
        (Format::Json | Format::Jsonl, status) => {
            let mut document = Map::new();
            document.insert("schema".into(), SCHEMA.into());
            document.insert("running".into(), status.is_some().into());
            document.extend(status.unwrap_or_default());
            writeln!(out, "{}", Value::Object(document))
        }
    })?;
    Ok(exit)
}

fn print_text(out: &mut dyn Write, status: &Map<String, Value>) -> io::Result<()> {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(usize::MAX);
    let get = |key: &str| status.get(key).map_or(0, number);
    let declined: usize = values(status.get("declined")).map(|(_, value)| number(value)).sum();
    writeln!(out, "upcheck watch {} runs, pid {}", text(status.get("version")), get("pid"))?;
    writeln!(
        out,
        "  for {} s, in {} MB of memory",
        count(get("uptime_s")),
        get("memory_bytes").div_ceil(1 << 20)
    )?;
    if get("waiting") > 0 {
        let wait = if get("waiting") == 1 { "waits" } else { "wait" };
        writeln!(out, "  {} {wait} for another answer", plural(get("waiting"), "client"))?;
    } else {
        let idle = get("idle_after_s").saturating_sub(get("idle_for_s"));
        writeln!(out, "  ends in {} s unless it is asked something", count(idle))?;
    }
    writeln!(out, "  {}, {} declined", plural(get("questions"), "question"), count(declined))?;
    if get("verified") + get("wrong") > 0 || status.get("verifies") == Some(&true.into()) {
        let verified = plural(get("verified"), "answer");
        writeln!(out, "  {verified} compared with a full pass, {} wrong", count(get("wrong")))?;
    }
    for (reason, n) in values(status.get("declined")) {
        writeln!(out, "    {} because {}", count(number(n)), crate::words::visible(reason, ""))?;
    }
    for build in status.get("builds").and_then(Value::as_array).into_iter().flatten() {
        writeln!(out, "{}", crate::words::visible(text(build.get("directory")), ""))?;
        if build["busy"] == true {
            writeln!(out, "  is being looked at")?;
            continue;
        }
        let [files, memory, changes] =
            ["files", "from_memory", "from_changes"].map(|key| build.get(key).map_or(0, number));
        writeln!(out, "  {} in memory", plural(files, "file"))?;
        writeln!(out, "  {} from memory, {} from what changed", plural(memory, "answer"), count(changes))?;
        for (why, n) in values(build.get("from_everything")) {
            writeln!(out, "  {} from everything: {why}", plural(number(n), "answer"))?;
        }
    }
    Ok(())
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or("?")
}

fn values(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

//! Targets that stay stale whatever is built: a check, a build, and another check.

use super::checked::Checked;
use super::finding::{Finding, MOST_NAMED, few};
use crate::exit::Status;
use crate::json;
use crate::run::Trouble;
use crate::words;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::process::{Command, ExitStatus, Stdio};
use upcheck::{FileId, Mtime, Reason, StaleTarget, TargetId, Unknown};

/// Runs the command that builds. What it prints goes to standard error: standard output is the answer's.
pub(super) fn run(command: &[OsString]) -> Result<ExitStatus, Trouble> {
    let Some((program, args)) = command.split_first() else {
        return Err(Trouble("there is no command to run".into()));
    };
    let status = Command::new(program).args(args).stdout(Stdio::from(io::stderr())).status();
    status.map_err(|cause| {
        let program = words::visible(&program.display().to_string(), "");
        Trouble(format!("starting '{program}': {}", upcheck::os_message(&cause)))
    })
}

/// How the command ended.
pub(super) fn ending(status: ExitStatus) -> Finding {
    let finding = if status.success() {
        Finding::info("command", "the command that builds succeeded")
    } else {
        // "exit status: 1", "signal: 9 (SIGKILL)"
        Finding::warning("command-failed", format!("the command that builds failed ({status})"))
            .advise("what is stale now need not stay so: make the build succeed, then ask again")
    };
    // A signal leaves no number; what Windows leaves has no sign.
    let number = status.code().map(|_| Status::of(status).number());
    finding.with("exit_status", number)
}

/// What is stale although the build has just succeeded. `now`: the file system's time.
pub(super) fn findings(before: &Checked, after: &Checked, now: Mtime) -> Vec<Finding> {
    // Grouped by what there is to do about it.
    let mut groups: BTreeMap<_, Vec<(&StaleTarget, &Reason)>> = BTreeMap::new();
    for stale in &after.report.stale {
        let has_run = has_run(before, after, stale.target);
        for reason in stale.reasons.iter().filter(|reason| reason.upstream().is_none()) {
            let group = groups.entry((!has_run, reason.code(), advice(after, reason, now))).or_default();
            if group.last().is_none_or(|(last, _)| last.target != stale.target) {
                group.push((stale, reason));
            }
        }
    }
    let finding = |((was_left, reason, advice), group): ((bool, _, _), Vec<_>)| {
        let code = if was_left { "left-stale" } else { "perpetually-stale" };
        group_finding(after, code, &group).with("reason", reason).advise(advice)
    };
    groups.into_iter().map(finding).collect()
}

fn group_finding(after: &Checked, code: &'static str, group: &[(&StaleTarget, &Reason)]) -> Finding {
    let graph = after.build.graph();
    let names: Vec<_> =
        group.iter().take(MOST_NAMED).map(|(stale, _)| words::bytes(graph.name(stale.target))).collect();
    let is = if group.len() == 1 { "is" } else { "are" };
    let when = match code {
        "left-stale" => "stale after the build, which did not run its command",
        _ => "stale right after it was made",
    };
    let sentence = group.first().map_or(String::new(), |(_, reason)| words::sentence(graph, reason));
    let message = format!("{} {is} {when}: {sentence}", few(&names, group.len()));
    let mut finding = Finding::warning(code, message).with("targets", group.len());
    finding.targets = group.iter().take(MOST_NAMED).map(|(stale, _)| target(after, stale)).collect();
    finding
}

fn target(after: &Checked, stale: &StaleTarget) -> Value {
    let graph = after.build.graph();
    let mut object = Map::new();
    json::put_target(&mut object, graph, stale.target);
    object.insert("verdict".into(), json::verdict(stale.verdict).into());
    let reasons: Vec<_> = stale.reasons.iter().map(|reason| json::reason(graph, reason)).collect();
    object.insert("reasons".into(), reasons.into());
    Value::Object(object)
}

/// Whether the build ran the target's command: it left another record, or another output.
fn has_run(before: &Checked, after: &Checked, target: TargetId) -> bool {
    let look = |checked: &Checked, file: FileId| (checked.mtime(file), checked.build.history().record(file));
    let graph = after.build.graph();
    graph.outputs(target).iter().any(|&now| {
        let then = before.build.graph().files.lookup(graph.files.path(now));
        then.is_none_or(|then| look(before, then) != look(after, now))
    })
}

/// What to do about a reason that a build has not done away with.
fn advice(after: &Checked, reason: &Reason, now: Mtime) -> &'static str {
    match reason {
        Reason::PhonyMissing { .. } => {
            "a phony target without inputs is stale as long as no file has its name: drop it from the inputs, or give \
             it inputs; if the command is to run every time, keep it out of the default targets"
        }
        Reason::OutputMissing { .. } => {
            "the command succeeds without writing this output: correct the outputs in the manifest, or the command"
        }
        Reason::InputNewer { input_mtime, .. } if *input_mtime > now => {
            "the input's stamp is in the future: once the clock is right, touch it"
        }
        Reason::InputNewer { recorded: true, .. } => {
            "the input was written after the command had begun: it must not be written by the command itself, nor by \
             one that does not declare it as its output"
        }
        Reason::InputNewer { .. } => {
            "the command leaves its output as it is: give its rule restat = 1, or let it write the output anew"
        }
        Reason::InputMissing { input } if after.build.is_named(*input) => {
            "the manifest names an input that is not there: correct the manifest"
        }
        Reason::InputMissing { .. } => {
            "the command's depfile names an input that is not there: correct what writes the depfile (names have to be \
             relative to the build directory)"
        }
        Reason::DepsUnknown { why: Unknown::NoDepfile { .. }, .. } => {
            "the command does not write the depfile that its rule names: let it (-MD -MF $out.d), or drop depfile"
        }
        Reason::DepsUnknown { why: Unknown::OtherOutput { .. }, .. } => {
            "the depfile is about another output: let the command name its own one (-MT $out)"
        }
        Reason::DepsUnknown { .. } | Reason::DyndepBroken { .. } => {
            "what the command says about its inputs cannot be used: correct what it writes"
        }
        Reason::DepsOutdated { .. } => {
            "something changes the output after its command has ended: make that a part of the command"
        }
        Reason::NeverBuilt { .. } => {
            "the build leaves no record: it has to be one by ninja, with this directory's log"
        }
        Reason::CommandChanged { .. } => {
            "the record is that of another command: the manifest changes in the course of the build, or two versions \
             of ninja take turns"
        }
        Reason::Unreadable { .. } => "it cannot be looked at: correct the path, or its permissions",
        _ => "see `upcheck why`",
    }
}

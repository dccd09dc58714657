//! A program that calls every function of the header with good arguments, and then with NULL for each pointer in turn.

use crate::declared::{Function, header};
use std::fmt::Write;

/// Good arguments for each function, in the order of the header, as names of what [`FIXTURE`] has; and the pointers, by the
/// names of their parameters, that may be NULL.
const CALLS: &[(&str, &str, &str)] = &[
    ("upcheck_version", "", ""),
    ("upcheck_version_string", "", ""),
    ("upcheck_error_status", "some_error", "error"),
    ("upcheck_error_message", "some_error", "error"),
    ("upcheck_error_os_code", "some_error", "error"),
    ("upcheck_error_free", "moved(&some_error)", "error"),
    ("upcheck_status_name", "UPCHECK_E_IO", ""),
    ("upcheck_is_stale", "&texts[0], 1, &texts[1], 1, &stale, &reason, &error", "stale reason"),
    ("upcheck_graph_new", "\".\", 1, &new_graph, &error", ""),
    ("upcheck_graph_free", "moved(&graph)", "graph"),
    ("upcheck_graph_add_paths", "graph, bytes, ends, 2, 0, &file, files, &error", "first files"),
    ("upcheck_graph_add_path", "graph, \"x\", 1, &file, &error", ""),
    ("upcheck_graph_add_target", "graph, &description, &target, &error", "target"),
    ("upcheck_graph_add_targets", "graph, &targets, &target, &error", "first"),
    ("upcheck_graph_set_policy", "graph, 2, &error", ""),
    ("upcheck_graph_set_values", "graph, texts, 1, &error", ""),
    ("upcheck_graph_load_ninja", "empty, &ninja_options, &error", "options"),
    ("upcheck_graph_load_json", "graph, \"graph.json\", 10, &error", ""),
    ("upcheck_graph_load_json_text", "graph, json, strlen(json), \"j\", 1, &error", ""),
    ("upcheck_graph_load_compile_commands", "graph, \"cc.json\", 7, 0, &error", ""),
    ("upcheck_graph_n_files", "graph", "graph"),
    ("upcheck_graph_n_targets", "graph", "graph"),
    ("upcheck_graph_path", "graph, 0", "graph"),
    ("upcheck_graph_name", "graph, 0", "graph"),
    ("upcheck_graph_find", "graph, \"in\", 2", "graph path"),
    ("upcheck_graph_producer", "graph, 0", "graph"),
    ("upcheck_graph_outputs", "graph, 0, &n", "graph n"),
    ("upcheck_graph_inputs", "graph, 0, &n", "graph n"),
    ("upcheck_graph_command", "graph, 0, buffer, sizeof buffer", "graph buffer"),
    ("upcheck_records_open", "\"store\", 5, &new_records, &error", ""),
    ("upcheck_records_read", "\"store\", 5, &new_records, &error", ""),
    ("upcheck_records_free", "moved(&records)", "records"),
    ("upcheck_records_refresh", "records, &error", ""),
    ("upcheck_records_forget", "records, texts, 1, &error", ""),
    ("upcheck_records_compact", "records, &error", ""),
    ("upcheck_records_lock", "records, bytes, 1, 0, &new_lock, &error", ""),
    ("upcheck_lock_free", "moved(&lock)", "lock"),
    ("upcheck_cancel_new", "", ""),
    ("upcheck_cancel_set", "cancel", "cancel"),
    ("upcheck_cancel_free", "moved(&cancel)", "cancel"),
    ("upcheck_check", "graph, records, &check_options, &new_report, &error", "records options"),
    ("upcheck_report_free", "moved(&report)", "report"),
    ("upcheck_report_summary", "report, &summary, &error", ""),
    ("upcheck_report_is_fresh", "report", "report"),
    ("upcheck_report_verdicts", "report, &n", "report n"),
    ("upcheck_report_stale", "report, &n, &stride", "report n stride"),
    ("upcheck_reason_name", "3", ""),
    ("upcheck_report_findings", "report, &n, &stride", "report n stride"),
    ("upcheck_report_causes", "report, &n, &stride", "report n stride"),
    ("upcheck_report_explain", "report, graph, 0, buffer, sizeof buffer", "report graph buffer"),
    ("upcheck_report_explain_cause", "report, graph, 0, buffer, sizeof buffer", "report graph buffer"),
    ("upcheck_affected_by", "graph, records, texts, 2, &new_affected, &error", "records"),
    ("upcheck_affected_targets", "affected, &n", "affected n"),
    ("upcheck_affected_unknown", "affected, &n", "affected n"),
    ("upcheck_affected_free", "moved(&affected)", "affected"),
    ("upcheck_graph_tell", "graph, &changes, &error", ""),
    ("upcheck_graph_told", "graph, &told, &error", ""),
    ("upcheck_graph_wrong", "graph", "graph"),
    ("upcheck_ask_daemon", "&question, &new_answer, &error", ""),
    ("upcheck_answer_verdict", "answer", "answer"),
    ("upcheck_answer_why", "answer", "answer"),
    ("upcheck_answer_free", "moved(&answer)", "answer"),
    ("upcheck_begin", "graph, records, &zero, 1, &new_build, &error", ""),
    ("upcheck_commit", "graph, records, build, 0, &error", ""),
    ("upcheck_build_doubts", "build, &n, &stride", "build n stride"),
    ("upcheck_build_free", "moved(&build)", "build"),
    ("upcheck_collect", "\".\", 1, bytes, ends, 2, 1, &new_snapshot, &error", ""),
    ("upcheck_snapshot_stats", "snapshot, &n, &stride", "snapshot n stride"),
    ("upcheck_snapshot_find", "snapshot, \"in\", 2", "snapshot path"),
    ("upcheck_snapshot_free", "moved(&snapshot)", "snapshot"),
];

/// Members of structs that are pointers, and whether they may be NULL although there is something behind them.
const MEMBERS: &[(&str, &str, bool)] = &[
    ("description", "outputs", false),
    ("description", "inputs", false),
    ("description", "implicit", false),
    ("description", "order_only", false),
    ("description", "validations", false),
    ("description", "command.ptr", false),
    ("description", "values", false),
    ("description", "globs", false),
    ("description", "depfile.ptr", false),
    ("description", "directory.ptr", false),
    ("description", "name.ptr", false),
    ("targets", "outputs.files", false),
    ("targets", "inputs.files", false),
    ("targets", "inputs.ends", true),
    ("targets", "implicit.files", false),
    ("targets", "implicit.ends", true),
    ("targets", "order_only.files", false),
    ("targets", "order_only.ends", true),
    ("targets", "validations.files", false),
    ("targets", "validations.ends", true),
    ("targets", "commands.bytes", false),
    ("targets", "commands.ends", true),
    ("targets", "depfiles.bytes", false),
    ("targets", "depfiles.ends", true),
    ("targets", "directories.bytes", false),
    ("targets", "directories.ends", true),
    ("targets", "names.bytes", false),
    ("targets", "names.ends", true),
    ("targets", "flags", true),
    ("targets", "policies", true),
    ("ninja_options", "manifest.ptr", false),
    ("ninja_options", "image_folder.ptr", false),
    ("check_options", "cancel", true),
    ("changes", "since.ptr", false),
    ("changes", "now.ptr", false),
    ("changes", "paths", false),
    ("question", "directory.ptr", false),
    ("question", "manifest.ptr", false),
    ("question", "targets", false),
];

const FIXTURE: &str = r#"/* Made by nulls.rs. */
#include "expect.h"

#define UNTOUCHED ((void *)(uintptr_t)0x5a5a5a58)

static upcheck_graph *graph, *empty, *new_graph;
static upcheck_records *records, *new_records;
static upcheck_report *report, *new_report;
static upcheck_build *build, *new_build;
static upcheck_cancel *cancel, *new_cancel;
static upcheck_lock *lock, *new_lock;
static upcheck_affected *affected, *new_affected;
static upcheck_snapshot *snapshot, *new_snapshot;
static upcheck_answer *answer, *new_answer;
static upcheck_error *some_error, *error;
static upcheck_file file, files[2], in, out, other;
static upcheck_target target, zero;
static int32_t stale, reason;
static size_t n, stride;
static upcheck_summary summary;
static upcheck_description description;
static upcheck_targets targets;
static upcheck_ninja_options ninja_options;
static upcheck_check_options check_options;
static upcheck_changes changes;
static upcheck_told told;
static upcheck_question question;
static upcheck_str texts[2];
static const char bytes[] = "inout";
static const uint64_t ends[] = {2, 5}, one_end[] = {1}, two_end[] = {2};
static char buffer[100];
static int32_t policy;
static uint32_t flags;
static const char json[] = "{\"version\": 1, \"targets\": [{\"outputs\": [\"j\"]}]}";

/* A handle that is given away. */
static void *moved(void *place) {
  void *handle;
  memcpy(&handle, place, sizeof handle);
  memset(place, 0, sizeof handle);
  return handle;
}

static void fixture(void) {
  graph = graph_here();
  empty = graph_here();
  zero = target_of(graph, "out", "in", "cp in out");
  in = upcheck_graph_find(graph, "in", 2);
  out = upcheck_graph_find(graph, "out", 3);
  other = path_of(graph, "other");
  OK(upcheck_records_open("store", 5, &records, &error));
  OK(upcheck_check(graph, NULL, NULL, &report, &error));
  OK(upcheck_begin(graph, records, &zero, 1, &build, &error));
  cancel = upcheck_cancel_new();
  OK(upcheck_records_lock(records, "out", 3, 0, &lock, &error));
  texts[0] = str("out");
  texts[1] = str("in");
  OK(upcheck_affected_by(graph, NULL, texts, 2, &affected, &error));
  OK(upcheck_collect(NULL, 0, bytes, ends, 2, 0, &snapshot, &error));
  memset(&question, 0, sizeof question);
  question.struct_size = sizeof question;
  question.directory = str("."), question.manifest = str("build.ninja");
  question.targets = texts, question.n_targets = 1;
  OK(upcheck_ask_daemon(&question, &answer, &error));
  EXPECT(upcheck_graph_load_json(graph, "nowhere", 7, &some_error) != UPCHECK_OK);
  new_graph = UNTOUCHED, new_records = UNTOUCHED, new_report = UNTOUCHED, new_build = UNTOUCHED;
  new_affected = UNTOUCHED, new_snapshot = UNTOUCHED, new_lock = UNTOUCHED, new_answer = UNTOUCHED, new_cancel = NULL;
  error = UNTOUCHED;
  file = target = files[0] = files[1] = 4711;
  stale = reason = 4711;
  n = stride = 4711;
  memset(buffer, '.', sizeof buffer);
  memset(&summary, 0, sizeof summary);
  summary.struct_size = sizeof summary;
  memset(&ninja_options, 0, sizeof ninja_options);
  ninja_options.struct_size = sizeof ninja_options;
  ninja_options.manifest = str("build.ninja");
  ninja_options.image_folder = str("images");
  memset(&check_options, 0, sizeof check_options);
  check_options.struct_size = sizeof check_options;
  check_options.cancel = cancel;
  memset(&changes, 0, sizeof changes);
  changes.struct_size = sizeof changes;
  changes.since = str("a"), changes.now = str("b");
  changes.paths = texts, changes.n_paths = 2;
  memset(&told, 0, sizeof told);
  told.struct_size = sizeof told;
  memset(&description, 0, sizeof description);
  description.struct_size = sizeof description;
  description.outputs = &other, description.n_outputs = 1;
  description.inputs = &in, description.n_inputs = 1;
  description.implicit = &in, description.n_implicit = 1;
  description.order_only = &in, description.n_order_only = 1;
  description.validations = &in, description.n_validations = 1;
  description.command = str("cp"), description.depfile = str("d"), description.directory = str("."), description.name = str("n");
  description.values = texts, description.n_values = 1;
  description.globs = texts, description.n_globs = 1;
  memset(&targets, 0, sizeof targets);
  targets.struct_size = sizeof targets;
  targets.n_targets = 1;
  upcheck_lists list = {&in, one_end};
  upcheck_texts text = {bytes, two_end};
  targets.outputs = targets.inputs = targets.implicit = targets.order_only = targets.validations = list;
  targets.outputs.files = &other;
  targets.commands = targets.depfiles = targets.directories = targets.names = text;
  targets.flags = &flags;
  targets.policies = &policy;
}

/* A call that was refused has written nothing. */
static void nothing_was_written(void) {
  EXPECT(new_graph == UNTOUCHED && new_records == UNTOUCHED && new_report == UNTOUCHED && new_build == UNTOUCHED);
  EXPECT(new_affected == UNTOUCHED && new_snapshot == UNTOUCHED && new_lock == UNTOUCHED && new_answer == UNTOUCHED);
  EXPECT(told.believed == 0);
  EXPECT(file == 4711 && target == 4711 && files[0] == 4711 && files[1] == 4711 && stale == 4711 && reason == 4711);
  EXPECT(summary.n_targets == 0 && buffer[0] == '.');
  EXPECT(graph == NULL || upcheck_graph_n_targets(graph) == 1);
}

/* Everything is as good as before, and is given back. */
static void done(void) {
  if (graph != NULL) {
    upcheck_report *now = checked(graph, records);
    n_stale(now);
    upcheck_report_free(now);
  }
  if (error != UNTOUCHED) upcheck_error_free(error);
  if (new_graph != UNTOUCHED) upcheck_graph_free(new_graph);
  if (new_records != UNTOUCHED) upcheck_records_free(new_records);
  if (new_report != UNTOUCHED) upcheck_report_free(new_report);
  if (new_build != UNTOUCHED) upcheck_build_free(new_build);
  if (new_affected != UNTOUCHED) upcheck_affected_free(new_affected);
  if (new_snapshot != UNTOUCHED) upcheck_snapshot_free(new_snapshot);
  if (new_lock != UNTOUCHED) upcheck_lock_free(new_lock);
  if (new_answer != UNTOUCHED) upcheck_answer_free(new_answer);
  upcheck_cancel_free(new_cancel);
  upcheck_error_free(some_error);
  upcheck_graph_free(graph);
  upcheck_graph_free(empty);
  upcheck_records_free(records);
  upcheck_report_free(report);
  upcheck_build_free(build);
  upcheck_cancel_free(cancel);
  upcheck_lock_free(lock);
  upcheck_affected_free(affected);
  upcheck_snapshot_free(snapshot);
  upcheck_answer_free(answer);
}

static void is_status(upcheck_status got, upcheck_status expected, int has_error, const char *what) {
  if (got != expected) {
    fprintf(stderr, "%s: %s, not %s: %s\n", what, upcheck_status_name(got), upcheck_status_name(expected),
            has_error ? upcheck_error_message(error) : "");
    abort();
  }
  EXPECT(has_error ? error != UNTOUCHED : error == UNTOUCHED);
  if (has_error) EXPECT(upcheck_error_status(error) == got && (error == NULL) == (got == UPCHECK_OK));
  if (got != UPCHECK_OK) nothing_was_written();
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  put("in", "1", 1);
  put("out", "1", 0);
  put("graph.json", json, 0);
  put("cc.json", "[]", 0);
  put("build.ninja", "", 0);
"#;

/// The program.
pub(crate) fn program() -> String {
    let header = header();
    let called: Vec<&str> = CALLS.iter().map(|(name, ..)| *name).collect();
    let declared: Vec<&str> = header.functions.iter().map(|(name, _)| &**name).collect();
    assert_eq!(called, declared, "every function is called, in the order of the header");
    let mut text = FIXTURE.to_owned();
    for ((name, function), (_, arguments, optional)) in header.functions.iter().zip(CALLS) {
        let arguments: Vec<&str> =
            if arguments.is_empty() { vec![] } else { arguments.split(", ").collect() };
        assert_eq!(arguments.len(), function.parameters.len(), "{name}");
        let optional: Vec<&str> = optional.split_whitespace().collect();
        call(&mut text, name, function, &arguments, None, true);
        for (at, (kind, parameter)) in function.parameters.iter().enumerate() {
            if kind.ends_with('*') {
                let is_fine = optional.contains(&&**parameter) || is_error(kind);
                call(&mut text, name, function, &arguments, Some(at), is_fine);
            }
        }
        assert!(optional.iter().all(|one| function.parameters.iter().any(|(_, name)| name == one)), "{name}");
    }
    for (whole, member, is_fine) in MEMBERS {
        let call = match *whole {
            "description" => "upcheck_graph_add_target(graph, &description, &target, &error)",
            "targets" => "upcheck_graph_add_targets(graph, &targets, &target, &error)",
            "ninja_options" => "upcheck_graph_load_ninja(empty, &ninja_options, &error)",
            "changes" => "upcheck_graph_tell(graph, &changes, &error)",
            "question" => "upcheck_ask_daemon(&question, &new_answer, &error)",
            _ => "upcheck_check(graph, records, &check_options, &new_report, &error)",
        };
        let expected = if *is_fine { "UPCHECK_OK" } else { "UPCHECK_E_INVALID" };
        let _ = write!(
            text,
            "  fixture();\n  {whole}.{member} = NULL;\n  is_status({call}, {expected}, 1, \"{whole}.{member}\");\n  done();\n"
        );
    }
    text.push_str("  return 0;\n}\n");
    text
}

fn is_error(kind: &str) -> bool {
    kind == "upcheck_error **"
}

/// One call, with one argument replaced by NULL.
fn call(
    text: &mut String,
    name: &str,
    function: &Function,
    arguments: &[&str],
    null: Option<usize>,
    is_fine: bool,
) {
    let mut arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let mut has_error = function.parameters.last().is_some_and(|(kind, _)| is_error(kind));
    let mut what = name.to_owned();
    if let Some(at) = null {
        let (kind, parameter) = &function.parameters[at];
        "NULL".clone_into(&mut arguments[at]);
        has_error &= !is_error(kind);
        what = format!("{name}, {parameter} == NULL");
    }
    let arguments = arguments.join(", ");
    let can_fail = function.parameters.last().is_some_and(|(kind, _)| is_error(kind));
    let _ = writeln!(text, "  fixture();");
    if can_fail {
        let expected = if is_fine { "UPCHECK_OK" } else { "UPCHECK_E_INVALID" };
        let has_error = i32::from(has_error);
        let _ = writeln!(text, "  is_status({name}({arguments}), {expected}, {has_error}, \"{what}\");");
    } else if name == "upcheck_cancel_new" {
        let _ = writeln!(text, "  new_cancel = {name}({arguments});");
    } else {
        let _ = writeln!(text, "  (void){name}({arguments});");
    }
    let _ = writeln!(text, "  done();");
}

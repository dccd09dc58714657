/* Targets described one by one and in arrays, with paths interned, distinct and borrowed; answers as arrays. */
#include "expect.h"

#include <sys/stat.h>

/* a.o <- a.c h.h; b.o <- b.c h.h | (order-only) gen; app <- a.o b.o; all <- app (phony); check (no file) <- app */
static const char PATHS[] = "a.oa.ch.hb.ob.cgenappall";
static const uint64_t ENDS[] = {3, 6, 9, 12, 15, 18, 21, 24};
enum { A_O, A_C, H_H, B_O, B_C, GEN, APP, ALL, N_PATHS };

static void add_in_arrays(upcheck_graph *graph, const upcheck_file *file) {
  upcheck_file outputs[] = {file[A_O], file[B_O], file[APP], file[ALL]};
  uint64_t output_ends[] = {1, 2, 3, 4, 4};
  upcheck_file inputs[] = {file[A_C], file[B_C], file[A_O], file[B_O], file[APP], file[APP]};
  uint64_t input_ends[] = {1, 2, 4, 5, 6};
  upcheck_file implicit[] = {file[H_H], file[H_H]};
  uint64_t implicit_ends[] = {1, 2, 2, 2, 2};
  upcheck_file order_only[] = {file[GEN]};
  uint64_t order_only_ends[] = {0, 1, 1, 1, 1};
  uint64_t command_ends[] = {4, 8, 12, 12, 16}, name_ends[] = {0, 0, 0, 0, 5};
  uint32_t flags[] = {0, 0, 0, UPCHECK_PHONY, 0};
  int32_t policies[] = {0, UPCHECK_POLICY_NEWER, 0, 0, 0};
  upcheck_targets targets;
  memset(&targets, 0, sizeof targets);
  targets.struct_size = sizeof targets;
  targets.n_targets = 5;
  targets.outputs.files = outputs;
  targets.outputs.ends = output_ends;
  targets.inputs.files = inputs;
  targets.inputs.ends = input_ends;
  targets.implicit.files = implicit;
  targets.implicit.ends = implicit_ends;
  targets.order_only.files = order_only;
  targets.order_only.ends = order_only_ends;
  targets.commands.bytes = "cc-acc-bldldtest";
  targets.commands.ends = command_ends;
  targets.names.bytes = "check";
  targets.names.ends = name_ends;
  targets.flags = flags;
  targets.policies = policies;
  upcheck_target first = 77;
  OK(upcheck_graph_add_targets(graph, &targets, &first, &error));
  EXPECT(first == 0);
}

static void add_one_by_one(upcheck_graph *graph, const upcheck_file *file) {
  upcheck_description it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  upcheck_target target = 77;
  it.outputs = &file[A_O], it.n_outputs = 1, it.inputs = &file[A_C], it.n_inputs = 1;
  it.implicit = &file[H_H], it.n_implicit = 1, it.command = str("cc-a");
  OK(upcheck_graph_add_target(graph, &it, &target, &error));
  EXPECT(target == 0);
  it.outputs = &file[B_O], it.inputs = &file[B_C], it.command = str("cc-b");
  it.order_only = &file[GEN], it.n_order_only = 1, it.policy = UPCHECK_POLICY_NEWER;
  OK(upcheck_graph_add_target(graph, &it, NULL, &error));
  it.n_order_only = 0, it.n_implicit = 0, it.policy = 0, it.outputs = &file[APP];
  upcheck_file objects[] = {file[A_O], file[B_O]};
  it.inputs = objects, it.n_inputs = 2, it.command = str("ldld");
  OK(upcheck_graph_add_target(graph, &it, &target, &error));
  EXPECT(target == 2);
  it.outputs = &file[ALL], it.inputs = &file[APP], it.n_inputs = 1, it.flags = UPCHECK_PHONY, it.command = str("");
  OK(upcheck_graph_add_target(graph, &it, &target, &error));
  it.outputs = NULL, it.n_outputs = 0, it.name = str("check"), it.flags = 0, it.command = str("test");
  OK(upcheck_graph_add_target(graph, &it, &target, &error));
  EXPECT(target == 4);
}

static void look_at(upcheck_graph *graph, const upcheck_file *file) {
  EXPECT(upcheck_graph_n_targets(graph) == 5 && upcheck_graph_n_files(graph) == N_PATHS + 1);
  EXPECT(is(upcheck_graph_path(graph, file[H_H]), "h.h") && is(upcheck_graph_path(graph, 99), ""));
  EXPECT(is(upcheck_graph_name(graph, 2), "app") && is(upcheck_graph_name(graph, 4), "check"));
  EXPECT(is(upcheck_graph_name(graph, 5), ""));
  EXPECT(upcheck_graph_find(graph, "./x/../h.h", 10) == file[H_H]);
  EXPECT(upcheck_graph_find(graph, "h", 1) == UPCHECK_NONE);
  EXPECT(upcheck_graph_producer(graph, file[APP]) == 2 && upcheck_graph_producer(graph, file[H_H]) == UPCHECK_NONE);
  size_t n = 99;
  const upcheck_file *inputs = upcheck_graph_inputs(graph, 1, &n);
  EXPECT(n == 3 && inputs[0] == file[B_C] && inputs[1] == file[H_H] && inputs[2] == file[GEN]);
  EXPECT(upcheck_graph_outputs(graph, 1, &n)[0] == file[B_O] && n == 1);
  upcheck_graph_inputs(graph, 5, &n);
  EXPECT(n == 0);
  char buffer[5] = "....";
  EXPECT(upcheck_graph_command(graph, 1, buffer, sizeof buffer) == 4 && strcmp(buffer, "cc-b") == 0);
  EXPECT(upcheck_graph_command(graph, 2, buffer, 3) == 4 && strcmp(buffer, "ld") == 0);
  EXPECT(upcheck_graph_command(graph, 1, buffer, 0) == 4 && strcmp(buffer, "ld") == 0);
  EXPECT(upcheck_graph_command(graph, 9, buffer, 5) == 0 && buffer[0] == '\0');

  upcheck_report *report = checked(graph, NULL);
  EXPECT(n_stale(report) == 3); /* b.c is newer than b.o, app is made of that, and of `check` there is no record */
  EXPECT(reason_of(report, 1) == UPCHECK_INPUT_NEWER && reason_of(report, 2) == UPCHECK_UPSTREAM_STALE);
  EXPECT(reason_of(report, 4) == UPCHECK_UPSTREAM_STALE);
  const uint8_t *verdicts = upcheck_report_verdicts(report, &n);
  EXPECT(n == 5 && verdicts[0] == UPCHECK_VERDICT_FRESH && verdicts[1] == UPCHECK_VERDICT_STALE);
  char *text = explained(report, graph, 0);
  EXPECT(strstr(text, "b.c") != NULL && strstr(text, "b.o") != NULL);
  free(text);
  size_t stride = 0;
  const upcheck_cause *cause = upcheck_report_causes(report, &n, &stride);
  EXPECT(n == 2 && cause->file == file[B_C] && cause->reason == UPCHECK_INPUT_NEWER && cause->n_targets == 3);
  char small[8] = "";
  EXPECT(upcheck_report_explain_cause(report, graph, 0, small, sizeof small) > 7 && strlen(small) == 7);
  EXPECT(upcheck_report_explain_cause(report, graph, 2, small, sizeof small) == 0 && small[0] == '\0');
  upcheck_report_free(report);

  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.requests = &file[A_O];
  options.n_requests = 1;
  options.threads = 2;
  options.flags = UPCHECK_BY_TIMES;
  OK(upcheck_check(graph, NULL, &options, &report, &error));
  verdicts = upcheck_report_verdicts(report, &n);
  EXPECT(n_stale(report) == 0 && verdicts[1] == UPCHECK_VERDICT_UNASKED);
  upcheck_report_free(report);

  upcheck_str changed[] = {str("h.h"), str("README"), str("./gen")};
  upcheck_affected *affected = NULL;
  OK(upcheck_affected_by(graph, NULL, changed, 3, &affected, &error));
  const upcheck_target *targets = upcheck_affected_targets(affected, &n);
  EXPECT(n == 4 && targets[0] <= 1 && targets[1] <= 1);
  const size_t *unknown = upcheck_affected_unknown(affected, &n);
  EXPECT(n == 1 && unknown[0] == 1);
  upcheck_affected_free(affected);
}

/* A graph is about the directory that has its name when it is asked: the one that had it before says nothing. */
static void another_directory_of_the_same_name(void) {
  upcheck_graph *graph = NULL;
  EXPECT(mkdir("here", 0777) == 0);
  put("here/in", "a", 0);
  put("here/out", "a", 10);
  OK(upcheck_graph_new("here", 4, &graph, &error));
  target_of(graph, "out", "in", "cp in out");
  upcheck_report *report = checked(graph, NULL);
  EXPECT(n_stale(report) == 0);
  upcheck_report_free(report);
  EXPECT(rename("here", "elsewhere") == 0 && mkdir("here", 0777) == 0);
  put("here/in", "b", 20);
  put("here/out", "a", 10);
  report = checked(graph, NULL);
  EXPECT(n_stale(report) == 1 && reason_of(report, 0) == UPCHECK_INPUT_NEWER);
  upcheck_report_free(report);
  upcheck_graph_free(graph);
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  const char *names[] = {"a.c", "h.h", "gen", "a.o", "b.o", "b.c", "app"};
  for (long at = 0; at < 7; at++) put(names[at], names[at], 10 * at);
  upcheck_file by_position[N_PATHS];
  for (uint32_t at = 0; at < N_PATHS; at++) by_position[at] = at;

  for (int way = 0; way < 6; way++) {
    upcheck_graph *graph = graph_here();
    upcheck_file first = 77, files[N_PATHS];
    memset(files, 0xff, sizeof files);
    uint32_t flags[] = {0, UPCHECK_DISTINCT, UPCHECK_BORROW};
    OK(upcheck_graph_add_paths(graph, PATHS, ENDS, N_PATHS, flags[way / 2], &first, way % 2 ? files : NULL, &error));
    EXPECT(first == 0);
    if (way % 2) EXPECT(memcmp(files, by_position, sizeof files) == 0);
    if (way % 2) add_one_by_one(graph, by_position);
    else add_in_arrays(graph, by_position);
    look_at(graph, by_position);
    upcheck_graph_free(graph);
  }

  /* What borrowed memory holds may go when the graph is gone. */
  upcheck_graph *graph = graph_here();
  char *bytes = malloc(sizeof PATHS);
  uint64_t *ends = malloc(sizeof ENDS);
  EXPECT(bytes != NULL && ends != NULL);
  memcpy(bytes, PATHS, sizeof PATHS);
  memcpy(ends, ENDS, sizeof ENDS);
  OK(upcheck_graph_add_paths(graph, bytes, ends, N_PATHS, UPCHECK_BORROW, NULL, NULL, &error));
  add_in_arrays(graph, by_position);
  upcheck_report *report = checked(graph, NULL);
  upcheck_graph_free(graph);
  memset(bytes, 'x', sizeof PATHS);
  free(bytes);
  free(ends);
  EXPECT(n_stale(report) == 3);
  upcheck_report_free(report);

  /* And what is not borrowed may go, or change, at once. */
  graph = graph_here();
  bytes = malloc(sizeof PATHS);
  EXPECT(bytes != NULL);
  memcpy(bytes, PATHS, sizeof PATHS);
  OK(upcheck_graph_add_paths(graph, bytes, ENDS, N_PATHS, UPCHECK_DISTINCT, NULL, NULL, &error));
  memset(bytes, 'x', sizeof PATHS);
  free(bytes);
  add_in_arrays(graph, by_position);
  look_at(graph, by_position);
  upcheck_graph_free(graph);

  int32_t stale = 7, reason = 7;
  upcheck_str output = str("app"), inputs[] = {str("a.o"), str("b.o")}, newer = str("nowhere");
  OK(upcheck_is_stale(&output, 1, inputs, 2, &stale, &reason, &error));
  EXPECT(stale == 0 && reason == UPCHECK_FRESH);
  OK(upcheck_is_stale(&inputs[0], 1, &output, 1, &stale, &reason, &error));
  EXPECT(stale == 1 && reason == UPCHECK_INPUT_NEWER);
  OK(upcheck_is_stale(&newer, 1, NULL, 0, &stale, NULL, &error));
  EXPECT(stale == 1);

  another_directory_of_the_same_name();

  upcheck_snapshot *snapshot = NULL;
  uint64_t some[] = {3, 10, 13, 17};
  OK(upcheck_collect(NULL, 0, "a.cnowherea.capp/", some, 4, 0, &snapshot, &error));
  size_t n = 0, stride = 0;
  const char *stats = (const char *)upcheck_snapshot_stats(snapshot, &n, &stride);
  EXPECT(n == 4 && stride >= sizeof(upcheck_stat));
  const upcheck_stat *stat = (const upcheck_stat *)(const void *)stats;
  EXPECT(stat->state == UPCHECK_STAT_PRESENT && stat->size == 3 && stat->mtime == INT64_C(1577836800000000000));
  EXPECT(((const upcheck_stat *)(const void *)(stats + stride))->state == UPCHECK_STAT_MISSING);
  EXPECT(memcmp(stats, stats + 2 * stride, sizeof *stat) == 0);
  EXPECT(upcheck_snapshot_find(snapshot, "a.c", 3) == stat);
  EXPECT(upcheck_snapshot_find(snapshot, "./a.c", 5) == NULL);
  upcheck_snapshot_free(snapshot);
  return 0;
}

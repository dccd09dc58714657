/* Graphs that others have written: JSON, compile commands, and a ninja build directory with a real ninja, whose numbers
 * are new once its manifest is. */
#include "expect.h"

static void run(const char *ninja, const char *arguments) {
  char command[4096];
  EXPECT(snprintf(command, sizeof command, "'%s' %s >ninja.out 2>&1 || { cat ninja.out; exit 1; }", ninja, arguments) <
         (int)sizeof command);
  EXPECT(system(command) == 0);
}

static upcheck_graph *ninja_graph(const char *image_folder, uint32_t threads) {
  upcheck_graph *graph = graph_here();
  upcheck_ninja_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.manifest = str("build.ninja");
  options.threads = threads;
  options.image_folder = str(image_folder);
  OK(upcheck_graph_load_ninja(graph, &options, &error));
  return graph;
}

/* Whether a target, by name, has a verdict. */
static uint8_t verdict(upcheck_graph *graph, const upcheck_report *report, const char *name) {
  size_t n = 0;
  const uint8_t *verdicts = upcheck_report_verdicts(report, &n);
  EXPECT(n == upcheck_graph_n_targets(graph));
  upcheck_target target = upcheck_graph_producer(graph, upcheck_graph_find(graph, name, strlen(name)));
  EXPECT(target < n);
  return verdicts[target];
}

static const char RULE[] = "rule cp\n  command = cp $in $out\nrule two\n  command = cat $in > $out\n";

static void manifest(const char *text) {
  char whole[1000];
  EXPECT(snprintf(whole, sizeof whole, "%s%s", RULE, text) < (int)sizeof whole);
  FILE *file = fopen("build.ninja", "w");
  EXPECT(file != NULL && fputs(whole, file) >= 0 && fclose(file) == 0);
}

static void ninja(const char *ninja, const char *image_folder) {
  put("in", "1", 0);
  put("in2", "1", 0);
  manifest("build mid: cp in\nbuild out: cp mid\n");
  upcheck_graph *graph = ninja_graph(image_folder, 2);
  EXPECT(upcheck_graph_n_targets(graph) == 2);
  upcheck_report *first = checked(graph, NULL);
  EXPECT(n_stale(first) == 2);
  char *before = explained(first, graph, 0);

  /* It is described and recorded by ninja. */
  upcheck_file file = 0;
  upcheck_target zero = 0;
  upcheck_records *records = NULL;
  upcheck_build *build = NULL;
  upcheck_report *none = NULL;
  OK(upcheck_records_open("store", 5, &records, &error));
  FAILS(upcheck_graph_add_path(graph, "x", 1, &file, &error), UPCHECK_E_INVALID, "ninja");
  FAILS(upcheck_begin(graph, records, &zero, 1, &build, &error), UPCHECK_E_INVALID, "ninja");
  FAILS(upcheck_check(graph, records, NULL, &none, &error), UPCHECK_E_INVALID, "ninja");
  FAILS(upcheck_graph_load_json_text(graph, "{}", 2, "x", 1, &error), UPCHECK_E_INVALID, "ninja");
  FAILS(upcheck_graph_load_ninja(graph, NULL, &error), UPCHECK_E_INVALID, "ninja");
  FAILS(upcheck_graph_set_policy(graph, 0, &error), UPCHECK_E_INVALID, "ninja");
  upcheck_records_free(records);

  run(ninja, "");
  upcheck_report *second = checked(graph, NULL);
  EXPECT(n_stale(second) == 0);
  /* The numbers may be others now, and the old report is about the old ones. */
  EXPECT(upcheck_report_explain(first, graph, 0, NULL, 0) == 0 && n_stale(first) == 2);
  upcheck_report_free(second);

  /* New targets before the old ones: all numbers move, and the check speaks of the new ones. */
  manifest("build new2: two in2 new1\nbuild new1: cp in2\nbuild mid: cp in\nbuild out: cp mid\n");
  upcheck_file request = upcheck_graph_find(graph, "out", 3);
  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.requests = &request;
  options.n_requests = 1;
  OK(upcheck_check(graph, NULL, &options, &second, &error));
  EXPECT(n_stale(second) == 0 && verdict(graph, second, "new1") == UPCHECK_VERDICT_UNASKED);
  EXPECT(verdict(graph, second, "mid") == UPCHECK_VERDICT_FRESH);
  upcheck_report_free(second);
  second = checked(graph, NULL);
  EXPECT(n_stale(second) == 2 && verdict(graph, second, "new1") == UPCHECK_VERDICT_STALE);
  EXPECT(verdict(graph, second, "out") == UPCHECK_VERDICT_FRESH && upcheck_graph_n_targets(graph) == 4);
  char *words = explained(second, graph, 0);

  /* A manifest that is none: the check fails, and the graph is what it was. */
  manifest("build new2: cp out\nbuild out: cp new2\n");
  upcheck_report *bad = NULL;
  FAILS(upcheck_check(graph, NULL, NULL, &bad, &error), UPCHECK_E_GRAPH, "root nodes");
  EXPECT(bad == NULL && upcheck_graph_n_targets(graph) == 4);
  char *again = explained(second, graph, 0);
  EXPECT(strcmp(words, again) == 0);
  free(again);
  manifest("build out cp new2\n");
  FAILS(upcheck_check(graph, NULL, NULL, &bad, &error), UPCHECK_E_FORMAT, "build.ninja");
  EXPECT(unlink("build.ninja") == 0);
  FAILS(upcheck_check(graph, NULL, NULL, &bad, &error), UPCHECK_E_IO, "build.ninja");
  upcheck_affected *affected = NULL;
  upcheck_str changed = str("in2");
  FAILS(upcheck_affected_by(graph, NULL, &changed, 1, &affected, &error), UPCHECK_E_IO, "build.ninja");
  again = explained(second, graph, 0);
  EXPECT(strcmp(words, again) == 0);
  free(again);
  free(words);
  upcheck_report_free(second);

  manifest("build new1: cp in2\nbuild new2: two in2 new1\n");
  OK(upcheck_affected_by(graph, NULL, &changed, 1, &affected, &error));
  size_t n = 0;
  const upcheck_target *targets = upcheck_affected_targets(affected, &n);
  EXPECT(n == 2 && targets[0] < 2 && targets[1] < 2);
  upcheck_affected_free(affected);
  /* What was asked about is gone from the manifest. */
  request = upcheck_graph_find(graph, "new2", 4);
  manifest("build new1: cp in2\n");
  FAILS(upcheck_check(graph, NULL, &options, &bad, &error), UPCHECK_E_INVALID, "'new2'");
  run(ninja, "");
  second = checked(graph, NULL);
  EXPECT(n_stale(second) == 0 && upcheck_graph_n_targets(graph) == 1);
  upcheck_report_free(second);
  put("in2", "1", 2000000000);
  second = checked(graph, NULL);
  EXPECT(n_stale(second) == 1);
  upcheck_report_free(second);

  upcheck_cancel *cancel = upcheck_cancel_new();
  upcheck_cancel_set(cancel);
  options.requests = NULL;
  options.n_requests = 0;
  options.cancel = cancel;
  FAILS(upcheck_check(graph, NULL, &options, &bad, &error), UPCHECK_E_CANCELLED, "");
  upcheck_cancel_free(cancel);
  second = checked(graph, NULL);
  EXPECT(n_stale(second) == 1);
  upcheck_report_free(second);

  upcheck_report_free(first);
  free(before);
  upcheck_graph_free(graph);
  graph = ninja_graph(image_folder, 0);
  char command[40];
  size_t length = upcheck_graph_command(graph, 0, command, sizeof command);
  EXPECT(length == 0 || strcmp(command, "cp in2 new1") == 0);
  second = checked(graph, NULL);
  EXPECT(n_stale(second) == 1);
  upcheck_report_free(second);
  upcheck_graph_free(graph);
  EXPECT(system("rm -rf store .ninja_log .ninja_deps new1 new2 mid out") == 0);
}

int main(int argc, char **argv) {
  EXPECT(argc > 2 && chdir(argv[1]) == 0);
  ninja(argv[2], "");
  char images[4096];
  EXPECT(snprintf(images, sizeof images, "%s/images", argv[3]) < (int)sizeof images);
  ninja(argv[2], images);

  upcheck_graph *graph = graph_here();
  EXPECT(unlink("build.ninja") == 0);
  FAILS(upcheck_graph_load_ninja(graph, NULL, &error), UPCHECK_E_IO, "build.ninja");
  static const char TEXT[] =
      "{\"version\": 1, \"targets\": [{\"outputs\": [\"o\"], \"inputs\": [\"in\"], \"command\": \"cp\"}]}";
  OK(upcheck_graph_load_json_text(graph, TEXT, sizeof TEXT - 1, "mine", 4, &error));
  FAILS(upcheck_graph_load_json_text(graph, TEXT, sizeof TEXT - 9, "mine", 4, &error), UPCHECK_E_FORMAT, "mine");
  FAILS(upcheck_graph_load_json_text(graph, TEXT, sizeof TEXT - 1, "mine", 4, &error), UPCHECK_E_FORMAT, "mine");
  FAILS(upcheck_graph_load_json_text(graph, NULL, 0, NULL, 0, &error), UPCHECK_E_FORMAT, "");
  FAILS(upcheck_graph_load_json(graph, "nowhere", 7, &error), UPCHECK_E_IO, "nowhere");
  FAILS(upcheck_graph_load_json(graph, ".", 1, &error), UPCHECK_E_IO, "");
  FAILS(upcheck_graph_load_ninja(graph, NULL, &error), UPCHECK_E_INVALID, "not empty");
  EXPECT(upcheck_graph_n_targets(graph) == 1);
  put("in", "1", 0);
  upcheck_report *report = checked(graph, NULL);
  EXPECT(n_stale(report) == 1 && reason_of(report, 0) == UPCHECK_OUTPUT_MISSING);
  upcheck_report_free(report);
  put("graph.json", "{\"version\": 1, \"targets\": [{\"outputs\": [\"p\"], \"inputs\": [\"o\"]}]}", 0);
  OK(upcheck_graph_load_json(graph, "graph.json", 10, &error));
  EXPECT(upcheck_graph_n_targets(graph) == 2 && is(upcheck_graph_name(graph, 1), "p"));
  put("compile_commands.json",
      "[{\"directory\": \".\", \"file\": \"x.c\", \"output\": \"x.o\", \"command\": \"cc -c x.c -o x.o\"}]", 0);
  OK(upcheck_graph_load_compile_commands(graph, "compile_commands.json", 21, UPCHECK_HEADERS_UNKNOWN_IS_FINE, &error));
  FAILS(upcheck_graph_load_compile_commands(graph, "compile_commands.json", 21, 2, &error), UPCHECK_E_INVALID, "flags");
  FAILS(upcheck_graph_load_compile_commands(graph, "nowhere", 7, 0, &error), UPCHECK_E_IO, "nowhere");
  FAILS(upcheck_graph_load_compile_commands(graph, "graph.json", 10, 0, &error), UPCHECK_E_FORMAT, "graph.json");
  EXPECT(upcheck_graph_n_targets(graph) == 3);
  put("x.c", "", 0);
  put("o", "", 1);
  put("p", "", 2);
  put("x.o", "", 3);
  report = checked(graph, NULL);
  EXPECT(n_stale(report) == 0);
  upcheck_report_free(report);
  upcheck_graph_free(graph);
  return 0;
}

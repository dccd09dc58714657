/* A driver that brings a feed of its own, over a build by a real ninja: what it tells of is seen, what it does not tell of
 * is answered from memory until it is found out. */
#include "expect.h"

enum { N = 20 };

static const char *ninja_path;
static upcheck_graph *graph;
/* The driver's tokens are numbers. */
static int token;

static void build(void) {
  char command[4096];
  EXPECT(snprintf(command, sizeof command, "'%s' >ninja.out 2>&1 || { cat ninja.out; exit 1; }", ninja_path) <
         (int)sizeof command);
  EXPECT(system(command) == 0);
}

/* Tells of up to three paths. */
static void tell_with(uint32_t flags, uint32_t spot_checks, const char *a, const char *b, const char *c) {
  char since[20], now[20];
  upcheck_str paths[3];
  const char *names[3] = {a, b, c};
  upcheck_changes changes;
  memset(&changes, 0, sizeof changes);
  changes.struct_size = sizeof changes;
  changes.flags = flags;
  changes.spot_checks = spot_checks;
  changes.young = 1;
  changes.paths = paths;
  while (changes.n_paths < 3 && names[changes.n_paths] != NULL) {
    paths[changes.n_paths] = str(names[changes.n_paths]);
    changes.n_paths++;
  }
  snprintf(since, sizeof since, "token %d", token);
  if (token > 0) changes.since = str(since);
  token++;
  snprintf(now, sizeof now, "token %d", token);
  changes.now = str(now);
  OK(upcheck_graph_tell(graph, &changes, &error));
  /* What was handed in was copied. */
  memset(since, 'x', sizeof since);
  memset(now, 'x', sizeof now);
}

static void tell(const char *a, const char *b, const char *c) { tell_with(0, 0, a, b, c); }

static upcheck_told told(void) {
  upcheck_told it;
  memset(&it, 0xee, sizeof it);
  it.struct_size = sizeof it;
  OK(upcheck_graph_told(graph, &it, &error));
  return it;
}

/* Checks, on this basis. How many targets are stale. */
static size_t stale_from(int32_t basis, int line) {
  upcheck_report *report = checked(graph, NULL);
  size_t n = n_stale(report);
  upcheck_report_free(report);
  if (told().basis != basis) fprintf(stderr, "line %d: basis %d\n", line, (int)told().basis);
  EXPECT(told().basis == basis);
  return n;
}
#define STALE(basis) stale_from(UPCHECK_FROM_##basis, __LINE__)

/* Tells of nothing until nothing more is asked for than will be each time. How much that is. */
static uint64_t settled(void) {
  tell_with(UPCHECK_EVERYTHING, 0, NULL, NULL, NULL);
  EXPECT(STALE(EVERYTHING) == 0);
  tell(NULL, NULL, NULL);
  EXPECT(STALE(TOLD) == 0);
  uint64_t before = told().n_asked;
  tell(NULL, NULL, NULL);
  EXPECT(STALE(TOLD) == 0);
  return told().n_asked - before;
}

/* How many files the last check asks for beside those that it asks for each time. */
static uint64_t asked_beside(uint64_t each_time, int32_t basis, size_t expected) {
  uint64_t before = told().n_asked;
  EXPECT(stale_from(basis, 0) == expected);
  return told().n_asked - before - each_time;
}

static void ninja_build(void) {
  FILE *manifest = fopen("build.ninja", "w");
  EXPECT(manifest != NULL && mkdir("src", 0700) == 0);
  fprintf(manifest, "rule cp\n  command = cp $in $out\n");
  for (int at = 0; at < N; at++) {
    char path[20];
    snprintf(path, sizeof path, "src/f%d", at);
    put(path, "1", 0);
    fprintf(manifest, "build out/o%d: cp src/f%d\n", at, at);
  }
  EXPECT(fclose(manifest) == 0);
  build();
  graph = graph_here();
  OK(upcheck_graph_load_ninja(graph, NULL, &error));
  EXPECT(STALE(NOTHING) == 0 && told().believed == 1 && upcheck_graph_wrong(graph).len == 0);
  tell("src", "out", NULL);
  EXPECT(STALE(FIRST) == 0 && told().n_remembered == 0);
  uint64_t each_time = settled();
  EXPECT(told().n_remembered > 0 && told().n_wrong == 0);

  /* Told: seen, and nothing else is asked for. */
  put("src/f3", "22", 2000000000);
  tell("src/f3", NULL, NULL);
  EXPECT(asked_beside(each_time, UPCHECK_FROM_TOLD, 1) == 1);
  put("src/f3", "22", 1);
  tell("./src//f3", NULL, NULL);
  EXPECT(asked_beside(each_time, UPCHECK_FROM_TOLD, 0) == 1);

  /* A directory that is gone, and comes back. */
  EXPECT(rename("out", "away") == 0);
  tell("out", "away", NULL);
  EXPECT(STALE(TOLD) == N);
  EXPECT(rename("away", "out") == 0);
  tell("out", "away", NULL);
  EXPECT(STALE(TOLD) == 0);
  tell(NULL, NULL, NULL);
  EXPECT(STALE(TOLD) == 0);

  /* Nothing is told, or something that does not go on from what was told before. */
  put("src/f4", "22", 2000000000);
  EXPECT(STALE(SILENCE) == 1);
  put("src/f4", "22", 1);
  token = 100;
  tell(NULL, NULL, NULL);
  EXPECT(STALE(GAP) == 0);

  /* A lie, which is found out at once where everything is looked at. */
  each_time = settled();
  put("src/f7", "22", 2000000000);
  tell_with(0, 10000, "src/f3", NULL, NULL);
  EXPECT(STALE(WRONG) == 1);
  EXPECT(told().n_wrong == 1 && told().believed == 0 && is(upcheck_graph_wrong(graph), "src/f7"));
  tell("src/f7", NULL, NULL);
  EXPECT(STALE(WRONG) == 1 && told().n_wrong == 1);
  put("src/f7", "22", 1);
  EXPECT(settled() == each_time && told().believed == 1);

  /* One that is looked for with one file at a time: found once all were looked at. */
  put("src/f11", "22", 2000000000);
  int n = 0;
  do {
    EXPECT(n++ <= 2 * N);
    tell_with(0, 1, NULL, NULL, NULL);
    upcheck_report *report = checked(graph, NULL);
    EXPECT(n_stale(report) == (told().n_wrong > 1));
    upcheck_report_free(report);
  } while (told().n_wrong == 1);
  EXPECT(told().basis == UPCHECK_FROM_WRONG && is(upcheck_graph_wrong(graph), "src/f11"));

  /* A build in between: its outputs are told of as well. */
  tell_with(UPCHECK_EVERYTHING, 0, NULL, NULL, NULL);
  EXPECT(STALE(EVERYTHING) == 1);
  EXPECT(unlink("out/o11") == 0);
  put("src/f11", "333", 1);
  build();
  tell("src/f11", "out/o11", NULL);
  EXPECT(STALE(TOLD) == 0);
  upcheck_graph_free(graph);
}

static void project(void) {
  put("in", "1", 0);
  put("made", "1", 1);
  graph = graph_here();
  token = 0;
  target_of(graph, "made", "in", "");
  EXPECT(settled() == 0);
  put("in", "2", 2);
  tell("IN", NULL, NULL);
  EXPECT(asked_beside(0, UPCHECK_FROM_TOLD, 1) == 1);
  EXPECT(unlink("in") == 0);
  tell(NULL, NULL, NULL);
  /* What comes and goes is found out at once. */
  EXPECT(STALE(WRONG) == 1 && is(upcheck_graph_wrong(graph), "in"));

  upcheck_cancel *cancel = upcheck_cancel_new();
  upcheck_cancel_set(cancel);
  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.cancel = cancel;
  upcheck_report *none = NULL;
  put("in", "1", 0);
  EXPECT(settled() == 0);
  uint64_t n_wrong = told().n_wrong;
  tell(NULL, NULL, NULL);
  FAILS(upcheck_check(graph, NULL, &options, &none, &error), UPCHECK_E_CANCELLED, "");
  EXPECT(told().n_wrong == n_wrong && told().believed == 1);
  upcheck_cancel_free(cancel);
  put("in", "2", 2);
  tell("in", NULL, NULL);
  upcheck_report *report = checked(graph, NULL);
  EXPECT(n_stale(report) == 1 && told().n_wrong == n_wrong);
  upcheck_report_free(report);

  upcheck_changes changes;
  memset(&changes, 0, sizeof changes);
  FAILS(upcheck_graph_tell(graph, &changes, &error), UPCHECK_E_INVALID, "");
  changes.struct_size = sizeof changes;
  changes.flags = 2;
  FAILS(upcheck_graph_tell(graph, &changes, &error), UPCHECK_E_INVALID, "flags");
  changes.flags = 0;
  upcheck_str bad[] = {str("in"), {"a\0b", 3}};
  changes.paths = bad, changes.n_paths = 2;
  FAILS(upcheck_graph_tell(graph, &changes, &error), UPCHECK_E_INVALID, "NUL");
  bad[1] = str("");
  FAILS(upcheck_graph_tell(graph, &changes, &error), UPCHECK_E_INVALID, "empty");
  upcheck_graph_free(graph);
}

int main(int argc, char **argv) {
  EXPECT(argc > 2 && chdir(argv[1]) == 0);
  ninja_path = argv[2];
  ninja_build();
  project();
  return 0;
}

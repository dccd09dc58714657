/* Builds on record: begun, committed, doubtful, interrupted, forgotten, in two stores, and by two handles of one store. */
#include "expect.h"

static upcheck_records *opened(const char *folder) {
  upcheck_records *records = NULL;
  OK(upcheck_records_open(folder, strlen(folder), &records, &error));
  return records;
}

static upcheck_build *begun(upcheck_graph *graph, upcheck_records *records, const upcheck_target *targets, size_t n) {
  upcheck_build *build = NULL;
  OK(upcheck_begin(graph, records, targets, n, &build, &error));
  return build;
}

static size_t n_doubts(const upcheck_build *build) {
  size_t n = 99, stride = 0;
  upcheck_build_doubts(build, &n, &stride);
  EXPECT(stride >= sizeof(upcheck_doubt));
  return n;
}

static int32_t reason(upcheck_graph *graph, upcheck_records *records, upcheck_target target) {
  upcheck_report *report = checked(graph, records);
  n_stale(report);
  int32_t first = reason_of(report, target);
  upcheck_report_free(report);
  return first;
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  put("in", "1", 0);
  upcheck_graph *graph = graph_here();
  upcheck_target mid = target_of(graph, "mid", "in", "make mid"), out = target_of(graph, "out", "mid", "make out");

  upcheck_records *records = (upcheck_records *)&graph;
  OK(upcheck_records_read("store", 5, &records, &error));
  EXPECT(records == NULL && access("store", F_OK) != 0);
  records = opened("store");
  EXPECT(reason(graph, records, mid) == UPCHECK_NEVER_BUILT || reason(graph, records, mid) == UPCHECK_OUTPUT_MISSING);

  /* Begun and not ended: interrupted, also when the handle is gone. */
  upcheck_build *build = begun(graph, records, &mid, 1);
  EXPECT(reason(graph, records, mid) == UPCHECK_INTERRUPTED && n_doubts(build) == 0);
  upcheck_build_free(build);
  put("mid", "1", 0);
  EXPECT(reason(graph, records, mid) == UPCHECK_INTERRUPTED);

  /* An output that was not made: nothing is recorded, and the build is still there to be committed. */
  build = begun(graph, records, &mid, 1);
  EXPECT(unlink("mid") == 0);
  FAILS(upcheck_commit(graph, records, build, 0, &error), UPCHECK_E_IO, "'mid'");
  EXPECT(reason(graph, records, mid) == UPCHECK_INTERRUPTED);
  put("mid", "2", 5);
  FAILS(upcheck_commit(graph, records, build, 2, &error), UPCHECK_E_INVALID, "flags");
  OK(upcheck_commit(graph, records, build, 0, &error));
  EXPECT(n_doubts(build) == 0);
  EXPECT(reason(graph, records, mid) == UPCHECK_FRESH);
  FAILS(upcheck_commit(graph, records, build, 0, &error), UPCHECK_E_INVALID, "committed before");
  EXPECT(reason(graph, records, mid) == UPCHECK_FRESH);
  upcheck_build_free(build);

  /* An input that changes during the build. */
  build = begun(graph, records, &out, 1);
  put("mid", "changed meanwhile", 6);
  put("out", "1", 7);
  OK(upcheck_commit(graph, records, build, 0, &error));
  size_t n = 0, stride = 0;
  const upcheck_doubt *doubt = upcheck_build_doubts(build, &n, &stride);
  EXPECT(n == 1 && doubt->target == out && is(upcheck_graph_path(graph, doubt->file), "mid"));
  upcheck_build_free(build);
  EXPECT(reason(graph, records, out) != UPCHECK_FRESH);

  /* Both by one command, in order. */
  upcheck_target both[] = {mid, out};
  build = begun(graph, records, both, 2);
  put("mid", "new", 8);
  put("out", "new", 9);
  OK(upcheck_commit(graph, records, build, UPCHECK_MADE_IN_ORDER, &error));
  EXPECT(n_doubts(build) == 0);
  upcheck_build_free(build);
  EXPECT(reason(graph, records, mid) == UPCHECK_FRESH && reason(graph, records, out) == UPCHECK_FRESH);

  /* Touched is not changed; changed is. */
  put("in", "1", 100);
  EXPECT(reason(graph, records, mid) == UPCHECK_FRESH);
  put("in", "2", 100);
  EXPECT(reason(graph, records, mid) == UPCHECK_INPUT_CHANGED);
  put("in", "1", 0);
  EXPECT(reason(graph, records, mid) == UPCHECK_FRESH);

  /* Another handle of the same store learns of it when it asks. */
  upcheck_records *reader = NULL;
  OK(upcheck_records_read("store", 5, &reader, &error));
  EXPECT(reader != NULL && reason(graph, reader, mid) == UPCHECK_FRESH);
  upcheck_str names[] = {str("mid"), str("no such target")};
  OK(upcheck_records_forget(records, names, 2, &error));
  EXPECT(reason(graph, records, mid) == UPCHECK_NEVER_BUILT && reason(graph, reader, mid) == UPCHECK_FRESH);
  OK(upcheck_records_refresh(reader, &error));
  EXPECT(reason(graph, reader, mid) == UPCHECK_NEVER_BUILT && reason(graph, reader, out) != UPCHECK_NEVER_BUILT);
  OK(upcheck_records_compact(records, &error));
  EXPECT(reason(graph, records, mid) == UPCHECK_NEVER_BUILT);
  OK(upcheck_records_refresh(reader, &error));
  EXPECT(reason(graph, reader, mid) == UPCHECK_NEVER_BUILT);
  upcheck_records_free(reader);

  /* A second store knows nothing of the first one; and a store is where it was, wherever the program goes. */
  upcheck_records *second = opened("second");
  EXPECT(mkdir("elsewhere", 0777) == 0 && chdir("elsewhere") == 0);
  EXPECT(reason(graph, second, mid) == UPCHECK_NEVER_BUILT);
  build = begun(graph, second, &mid, 1);
  OK(upcheck_commit(graph, records, build, 0, &error));
  EXPECT(n_doubts(build) == 1); /* it began in the other one */
  upcheck_build_free(build);
  EXPECT(reason(graph, second, mid) == UPCHECK_INTERRUPTED && reason(graph, records, mid) == UPCHECK_INTERRUPTED);
  build = begun(graph, second, &mid, 1);
  OK(upcheck_commit(graph, second, build, 0, &error));
  upcheck_build_free(build);
  EXPECT(reason(graph, second, mid) == UPCHECK_FRESH && reason(graph, records, mid) == UPCHECK_INTERRUPTED);
  EXPECT(access("second", F_OK) != 0 && access("store", F_OK) != 0);
  OK(upcheck_records_compact(second, &error));
  EXPECT(access("second", F_OK) != 0);
  EXPECT(chdir("..") == 0);
  EXPECT(reason(graph, second, mid) == UPCHECK_FRESH);
  upcheck_records_free(second);
  second = opened("second");
  EXPECT(reason(graph, second, mid) == UPCHECK_FRESH);

  /* Values and policies, of one target and of all. */
  upcheck_str values[] = {str("CC"), str("gcc"), str("OPT"), str("-O2")};
  OK(upcheck_graph_set_values(graph, values, 2, &error));
  EXPECT(reason(graph, second, mid) == UPCHECK_VALUE_CHANGED);
  OK(upcheck_graph_set_values(graph, NULL, 0, &error));
  EXPECT(reason(graph, second, mid) == UPCHECK_FRESH);
  OK(upcheck_graph_set_policy(graph, UPCHECK_POLICY_MTIME, &error));
  put("in", "1", 300);
  EXPECT(reason(graph, second, mid) == UPCHECK_INPUT_CHANGED);
  OK(upcheck_graph_set_policy(graph, UPCHECK_POLICY_DEFAULT, &error));
  EXPECT(reason(graph, second, mid) == UPCHECK_FRESH);

  upcheck_graph_free(graph);
  upcheck_records_free(second);
  upcheck_records_free(records);
  return 0;
}

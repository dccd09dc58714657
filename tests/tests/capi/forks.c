/* A fork: handles work in both processes. */
#include "expect.h"
#include <sys/wait.h>

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  put("in", "1", 0);
  put("out", "1", 1);
  upcheck_graph *graph = graph_here();
  upcheck_target target = target_of(graph, "out", "in", "cp in out");
  upcheck_records *records = NULL;
  OK(upcheck_records_open("store", 5, &records, &error));
  upcheck_report *before = checked(graph, records);
  EXPECT(n_stale(before) == 1);
  fflush(NULL);
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    upcheck_build *build = NULL;
    OK(upcheck_begin(graph, records, &target, 1, &build, &error));
    OK(upcheck_commit(graph, records, build, 0, &error));
    upcheck_build_free(build);
    upcheck_report *report = checked(graph, records);
    EXPECT(n_stale(report) == 0 && n_stale(before) == 1);
    upcheck_report_free(report);
  } else {
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(upcheck_records_refresh(records, &error));
    upcheck_report *report = checked(graph, records);
    EXPECT(n_stale(report) == 0 && n_stale(before) == 1);
    upcheck_report_free(report);
  }
  upcheck_report_free(before);
  upcheck_graph_free(graph);
  upcheck_records_free(records);
  return 0;
}

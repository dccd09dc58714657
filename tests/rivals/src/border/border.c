/* The C side of border.rs: loads and checks a graph through the C interface.
 *
 *   border MODE N_FILES PER_TARGET     MODE: intern, distinct, borrow, one-by-one
 *
 * Says how many microseconds loading, checking and reading all results took, and how many findings there were. Run in an
 * empty directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <upcheck.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void need(upcheck_status status) {
  if (status != UPCHECK_OK) {
    fprintf(stderr, "border: %s\n", upcheck_status_name(status));
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  size_t n_files = strtoul(argv[2], NULL, 10), per_target = strtoul(argv[3], NULL, 10);
  size_t n_targets = (n_files + per_target - 1) / per_target, n = n_files + n_targets;
  char *bytes = malloc(n * 64);
  uint64_t *ends = malloc(n * sizeof *ends);
  upcheck_file *files = malloc(n * sizeof *files);
  upcheck_targets targets = {.struct_size = sizeof targets, .n_targets = n_targets};
  uint64_t *output_ends = malloc(n_targets * sizeof *output_ends), *input_ends = malloc(n_targets * sizeof *input_ends);
  size_t length = 0;
  if (!bytes || !ends || !files || !output_ends || !input_ends) return 1;
  for (size_t i = 0; i < n; i++) {
    length += (size_t)(i < n_files ? sprintf(bytes + length, "src/module-%05zu/some_source_file_%07zu.c", i / 100, i)
                                   : sprintf(bytes + length, "out/target-%07zu", i - n_files));
    ends[i] = length;
  }
  for (size_t i = 0; i < n_targets; i++) {
    output_ends[i] = i + 1;
    input_ends[i] = (i + 1) * per_target < n_files ? (i + 1) * per_target : n_files;
  }

  double start = now();
  upcheck_graph *graph;
  need(upcheck_graph_new("", 0, &graph, NULL));
  if (strcmp(argv[1], "one-by-one") == 0) {
    for (size_t i = 0; i < n; i++) {
      uint64_t begin = i == 0 ? 0 : ends[i - 1];
      need(upcheck_graph_add_path(graph, bytes + begin, ends[i] - begin, &files[i], NULL));
    }
  } else {
    uint32_t flags = strcmp(argv[1], "borrow") == 0     ? UPCHECK_BORROW
                     : strcmp(argv[1], "distinct") == 0 ? UPCHECK_DISTINCT
                                                        : 0;
    need(upcheck_graph_add_paths(graph, bytes, ends, n, flags, NULL, files, NULL));
  }
  targets.inputs.files = files;
  targets.inputs.ends = input_ends;
  targets.outputs.files = files + n_files;
  targets.outputs.ends = output_ends;
  need(upcheck_graph_add_targets(graph, &targets, NULL, NULL));
  double loaded = now();
  upcheck_report *report;
  need(upcheck_check(graph, NULL, NULL, &report, NULL));
  double checked = now();
  size_t n_findings, stride, sum = 0;
  const char *next = (const char *)upcheck_report_findings(report, &n_findings, &stride);
  for (size_t i = 0; i < n_findings; i++) sum += ((const upcheck_finding *)(next + i * stride))->file;
  double read = now();
  printf("%.0f %.0f %.0f %zu %zu\n", loaded - start, checked - loaded, read - checked, n_findings, sum);
  upcheck_report_free(report);
  upcheck_graph_free(graph);
  free(bytes), free(ends), free(files), free(output_ends), free(input_ends);
}

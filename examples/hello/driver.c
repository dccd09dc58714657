/* A build driver in C: compiles and links the program in src/, but only what is stale, and says why.
 *
 *   cc driver.c $(pkg-config --cflags --libs upcheck) -o driver && ./driver DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <upcheck.h>

static upcheck_graph *graph;
static upcheck_records *records;
static upcheck_error *error;

static void need(upcheck_status status) {
  if (status == UPCHECK_OK) return;
  fprintf(stderr, "driver: %s\n", upcheck_error_message(error));
  exit(2);
}

static upcheck_file file(const char *path) {
  upcheck_file number;
  need(upcheck_graph_add_path(graph, path, strlen(path), &number, &error));
  return number;
}

static upcheck_file add(const char *output, const upcheck_file *inputs, size_t n_inputs, const char *command,
                        const char *depfile) {
  upcheck_file made = file(output);
  upcheck_description target = {.struct_size = sizeof target, .outputs = &made, .n_outputs = 1, .inputs = inputs,
                                .n_inputs = n_inputs, .command = {command, strlen(command)},
                                .depfile = {depfile, strlen(depfile)}};
  need(upcheck_graph_add_target(graph, &target, NULL, &error));
  return made;
}

static void build(upcheck_target target) {
  char command[512];
  upcheck_build *begun;
  need(upcheck_begin(graph, records, &target, 1, &begun, &error)); /* before the command reads anything */
  upcheck_graph_command(graph, target, command, sizeof command);
  printf("  %s\n", command);
  fflush(stdout);
  if (system(command) != 0) exit(1); /* it stays on record as interrupted */
  need(upcheck_commit(graph, records, begun, 0, &error));
  upcheck_build_free(begun);
}

/* Builds what is stale by itself: what is made from that may come out as it is. 0 once all is fresh. */
static int build_what_need_not_wait(void) {
  upcheck_report *report;
  size_t n, stride;
  need(upcheck_check(graph, records, NULL, &report, &error));
  const char *stale = (const char *)upcheck_report_stale(report, &n, &stride);
  for (size_t i = 0; i < n; i++) {
    const upcheck_stale *it = (const upcheck_stale *)(stale + i * stride);
    upcheck_str name = upcheck_graph_name(graph, it->target);
    char why[512];
    if (it->waits) continue;
    upcheck_report_explain(report, graph, it->first_finding, why, sizeof why);
    printf("%.*s: %s\n", (int)name.len, name.ptr, why);
    build(it->target);
  }
  upcheck_report_free(report);
  return n > 0;
}

int main(int argc, char **argv) {
  static const char *const names[] = {"main", "greet", "count"};
  upcheck_file objects[3];
  if (argc != 2 || chdir(argv[1]) != 0) return 2;
  need(upcheck_graph_new("", 0, &graph, &error));
  need(upcheck_records_open(".upcheck", 8, &records, &error));
  for (int i = 0; i < 3; i++) {
    char source[64], object[64], depfile[64], command[512];
    snprintf(source, sizeof source, "src/%s.c", names[i]);
    snprintf(object, sizeof object, "out/%s.o", names[i]);
    snprintf(depfile, sizeof depfile, "out/%s.d", names[i]);
    snprintf(command, sizeof command, "mkdir -p out && cc -MMD -c %s -o %s", source, object);
    upcheck_file input = file(source);
    objects[i] = add(object, &input, 1, command, depfile);
  }
  add("out/hello", objects, 3, "cc out/main.o out/greet.o out/count.o -o out/hello", "");
  while (build_what_need_not_wait()) {}
  upcheck_records_free(records);
  upcheck_graph_free(graph);
}

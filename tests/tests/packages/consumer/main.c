/* Links libupcheck and asks it something: in the folder it is given, main.o is missing. */
#include <stdio.h>
#include <string.h>
#include <upcheck.h>

static int fail(upcheck_error *error) {
  fprintf(stderr, "error: %s\n", upcheck_error_message(error));
  upcheck_error_free(error);
  return 2;
}

int main(int argc, char **argv) {
  upcheck_graph *graph = NULL;
  upcheck_report *report = NULL;
  upcheck_error *error = NULL;
  upcheck_file source, object;
  upcheck_description target = {0};
  char text[200];
  if (argc != 2 || upcheck_version() != UPCHECK_VERSION) return 3;
  if (upcheck_graph_new(argv[1], strlen(argv[1]), &graph, &error) != UPCHECK_OK
      || upcheck_graph_add_path(graph, "main.c", 6, &source, &error) != UPCHECK_OK
      || upcheck_graph_add_path(graph, "main.o", 6, &object, &error) != UPCHECK_OK) {
    return fail(error);
  }
  target.struct_size = sizeof target;
  target.outputs = &object;
  target.n_outputs = 1;
  target.inputs = &source;
  target.n_inputs = 1;
  if (upcheck_graph_add_target(graph, &target, NULL, &error) != UPCHECK_OK
      || upcheck_check(graph, NULL, NULL, &report, &error) != UPCHECK_OK) {
    return fail(error);
  }
  upcheck_report_explain(report, graph, 0, text, sizeof text);
  printf("%s\n", text);
  upcheck_report_free(report);
  upcheck_graph_free(graph);
  return 0;
}

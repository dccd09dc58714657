/* A thread with the stack that the header asks for is enough for whatever is deep: chains, nested texts, files that include
 * themselves. */
#include "expect.h"
#include <pthread.h>

enum { STACK = 256 * 1024, DEEP = 20000 };

/* `open` so many times, and `close` as often. The caller frees it. */
static char *nested(const char *open, const char *inside, const char *close) {
  size_t n_open = strlen(open), n_close = strlen(close);
  char *text = malloc(DEEP * (n_open + n_close) + strlen(inside) + 1), *end = text;
  EXPECT(text != NULL);
  for (int at = 0; at < DEEP; at++, end += n_open) memcpy(end, open, n_open);
  memcpy(end, inside, strlen(inside));
  end += strlen(inside);
  for (int at = 0; at < DEEP; at++, end += n_close) memcpy(end, close, n_close);
  *end = '\0';
  return text;
}

static void glob(const char *open, const char *inside, const char *close) {
  char *pattern = nested(open, inside, close);
  upcheck_str globs = str(pattern);
  upcheck_graph *graph = graph_here();
  upcheck_file out = path_of(graph, "out");
  upcheck_description it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.outputs = &out;
  it.n_outputs = 1;
  it.globs = &globs;
  it.n_globs = 1;
  if (upcheck_graph_add_target(graph, &it, NULL, NULL) == UPCHECK_OK) upcheck_report_free(checked(graph, NULL));
  upcheck_graph_free(graph);
  free(pattern);
}

static void json(const char *open, const char *inside, const char *close) {
  char *text = nested(open, inside, close);
  upcheck_graph *graph = graph_here();
  FAILS(upcheck_graph_load_json_text(graph, text, strlen(text), "x", 1, &error), UPCHECK_E_FORMAT, "x:1");
  upcheck_graph_free(graph);
  free(text);
}

static void ninja(const char *text, upcheck_status status) {
  put("build.ninja", text, 0);
  upcheck_graph *graph = graph_here();
  upcheck_error *error = NULL;
  EXPECT(upcheck_graph_load_ninja(graph, NULL, &error) == status);
  upcheck_error_free(error);
  if (status == UPCHECK_OK) upcheck_report_free(checked(graph, NULL));
  upcheck_graph_free(graph);
  EXPECT(unlink("build.ninja") == 0);
}

/* A chain of targets: each is made of the one before it. */
static void chains(void) {
  upcheck_graph *graph = graph_here();
  char path[32], *manifest = malloc(DEEP * 40 + 100), *end = manifest;
  EXPECT(manifest != NULL);
  end += sprintf(end, "rule r\n  command = c\n");
  upcheck_file before = path_of(graph, "f0");
  for (int at = 0; at < DEEP; at++) {
    end += sprintf(end, "build f%d: %s f%d\n", at + 1, at % 3 ? "r" : "phony", at);
    sprintf(path, "f%d", at + 1);
    upcheck_file file = path_of(graph, path);
    upcheck_description it;
    memset(&it, 0, sizeof it);
    it.struct_size = sizeof it;
    it.outputs = &file;
    it.n_outputs = 1;
    it.inputs = &before;
    it.n_inputs = 1;
    it.flags = at % 3 ? 0 : UPCHECK_PHONY;
    OK(upcheck_graph_add_target(graph, &it, NULL, &error));
    before = file;
  }
  upcheck_report *report = checked(graph, NULL);
  EXPECT(n_stale(report) >= DEEP / 2);
  upcheck_report_free(report);
  upcheck_graph_free(graph);
  ninja(manifest, UPCHECK_OK);
  free(manifest);
}

static void *all(void *given) {
  glob("{", "a", "}");
  glob("{a,", "b", "}");
  glob("{a,b}", "", "");
  glob("**/", "x", "");
  glob("[a-z]", "", "");
  glob("a/", "x", "");
  json("[", "", "]");
  json("{\"version\":", "1", "}");
  json("{\"targets\":[", "1", "]}");
  ninja("include build.ninja\n", UPCHECK_E_FORMAT);
  ninja("subninja build.ninja\n", UPCHECK_E_FORMAT);
  chains();
  return given;
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  pthread_attr_t attributes;
  pthread_t thread;
  EXPECT(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, STACK) == 0);
  EXPECT(pthread_create(&thread, &attributes, all, NULL) == 0 && pthread_join(thread, NULL) == 0);
  EXPECT(pthread_attr_destroy(&attributes) == 0);
  return 0;
}

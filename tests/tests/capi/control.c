/* Programs that are wrong in one way each: whoever watches the others has to see it. */
#include "expect.h"
#include <pthread.h>

static int counter;

static void *count(void *given) {
  for (int at = 0; at < 1000; at++) counter++;
  return given;
}

int main(int argc, char **argv) {
  EXPECT(argc > 1);
  upcheck_graph *graph = graph_here();
  upcheck_file file = path_of(graph, "a");
  volatile int32_t most = INT32_MAX;
  switch (argv[1][0]) {
    case 'l': /* handles that are not freed; of the last one a register may still know */
      for (int at = 0; at < 10; at++) (void)!graph_here();
      break;
    case 'o': /* a text that is longer than its memory */ {
      char *path = malloc(3);
      EXPECT(path != NULL);
      memcpy(path, "abc", 3);
      upcheck_error *error = NULL;
      EXPECT(upcheck_graph_add_path(graph, path, 300, &file, &error) != UPCHECK_E_IO);
      upcheck_error_free(error);
      free(path);
      break;
    }
    case 'u': /* what is undefined */
      most = most + 1;
      break;
    case 'r': /* a race */ {
      pthread_t thread;
      EXPECT(pthread_create(&thread, NULL, count, NULL) == 0);
      count(NULL);
      EXPECT(pthread_join(thread, NULL) == 0);
      break;
    }
    default: /* nothing */
      break;
  }
  upcheck_graph_free(graph);
  return 0;
}

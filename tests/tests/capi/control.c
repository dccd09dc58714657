/* Programs that are wrong in one way each: whoever watches the others has to see it. */
#include "expect.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* Two threads write to it, and nothing says which of them comes first. That they do so in turns is seen by both, but is no
   order to whoever watches: two writes at the very same moment could be missed. */
static volatile int shared;
static atomic_int turn;

static void wait_for(int wanted) {
  while (atomic_load_explicit(&turn, memory_order_relaxed) != wanted) sched_yield();
}

static void *write_first(void *given) {
  shared = 1;
  atomic_store_explicit(&turn, 1, memory_order_relaxed);
  wait_for(2);
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
      EXPECT(pthread_create(&thread, NULL, write_first, NULL) == 0);
      wait_for(1);
      shared = 2;
      atomic_store_explicit(&turn, 2, memory_order_relaxed);
      EXPECT(pthread_join(thread, NULL) == 0);
      break;
    }
    default: /* nothing */
      break;
  }
  upcheck_graph_free(graph);
  return 0;
}

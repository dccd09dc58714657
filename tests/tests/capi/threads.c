/* Many threads: checks of graphs of their own, one store of records for all, reports and graphs that many read at once,
 * handles that move from thread to thread, and checks that are cancelled by another thread and by a signal handler. */
#include "expect.h"
#include <pthread.h>
#include <signal.h>

enum { N_THREADS = 4, N_ROUNDS = 8, N_TARGETS = 300 };

/* A chain of targets, each made of the one before it, below a directory of its own. */
static upcheck_graph *chain(int number) {
  upcheck_graph *graph = graph_here();
  char output[64], input[64];
  for (int at = 0; at < N_TARGETS; at++) {
    snprintf(output, sizeof output, "d%d/f%d", number, at + 1);
    snprintf(input, sizeof input, "d%d/f%d", number, at);
    target_of(graph, output, input, "make it");
  }
  return graph;
}

static void *with_a_graph_of_its_own(void *given) {
  int number = *(int *)given;
  upcheck_graph *graph = chain(number);
  upcheck_records *records = NULL;
  OK(upcheck_records_open("store", 5, &records, &error));
  for (int round = 0; round < N_ROUNDS; round++) {
    upcheck_report *report = checked(graph, NULL);
    EXPECT(n_stale(report) == (size_t)(N_TARGETS - number));
    upcheck_report_free(report);
    upcheck_target target = (upcheck_target)round;
    upcheck_build *build = NULL;
    OK(upcheck_begin(graph, records, &target, 1, &build, &error));
    upcheck_build_free(build);
    report = checked(graph, records);
    EXPECT(reason_of(report, target) != UPCHECK_FRESH);
    upcheck_report_free(report);
  }
  upcheck_records_free(records);
  upcheck_graph_free(graph);
  return NULL;
}

struct shared {
  const upcheck_graph *graph;
  const upcheck_report *report;
  const upcheck_snapshot *snapshot;
};

static void *reading(void *given) {
  const struct shared *shared = given;
  for (int round = 0; round < N_ROUNDS; round++) {
    size_t stale = n_stale(shared->report), n = 0;
    EXPECT(stale > 0);
    for (size_t at = 0; at < stale; at += 7) {
      char *text = explained(shared->report, shared->graph, at);
      EXPECT(*text != '\0');
      free(text);
    }
    char cause[100];
    EXPECT(upcheck_report_explain_cause(shared->report, shared->graph, 0, cause, sizeof cause) > 0);
    for (upcheck_target target = 0; target < N_TARGETS; target++) {
      EXPECT(upcheck_graph_producer(shared->graph, upcheck_graph_outputs(shared->graph, target, &n)[0]) == target);
      EXPECT(upcheck_graph_path(shared->graph, upcheck_graph_inputs(shared->graph, target, &n)[0]).len > 0);
      EXPECT(upcheck_graph_name(shared->graph, target).len > 0 && upcheck_graph_command(shared->graph, target, NULL, 0) > 0);
    }
    EXPECT(upcheck_snapshot_find(shared->snapshot, "d1/f0", 5) != NULL);
  }
  return NULL;
}

/* Graphs of their own, and records that all of them only read. */
static const upcheck_records *common;

static void *with_common_records(void *given) {
  int number = *(int *)given;
  upcheck_graph *graph = chain(number);
  for (int round = 0; round < N_ROUNDS; round++) {
    upcheck_report *report = checked(graph, common);
    EXPECT(n_stale(report) == N_TARGETS && reason_of(report, 0) != UPCHECK_FRESH);
    upcheck_report_free(report);
  }
  upcheck_graph_free(graph);
  return NULL;
}

static void *checking(void *given) {
  upcheck_graph *graph = given;
  return checked(graph, NULL);
}

static void *freeing(void *given) {
  upcheck_report_free(given);
  return NULL;
}

static upcheck_cancel *cancel;

static void *cancelling(void *given) {
  (void)given;
  upcheck_cancel_set(cancel);
  return NULL;
}

static void handler(int signal) {
  (void)signal;
  upcheck_cancel_set(cancel);
}

/* Interrupts another thread while it is checking. */
static void *signalling(void *given) {
  EXPECT(pthread_kill(*(pthread_t *)given, SIGUSR1) == 0);
  return NULL;
}

static upcheck_status check_with_cancel(upcheck_graph *graph) {
  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.cancel = cancel;
  upcheck_report *report = NULL;
  upcheck_error *error = NULL;
  upcheck_status status = upcheck_check(graph, NULL, &options, &report, &error);
  EXPECT(status == UPCHECK_OK || status == UPCHECK_E_CANCELLED);
  EXPECT((status == UPCHECK_OK) == (report != NULL) && (status == UPCHECK_OK) == (error == NULL));
  EXPECT(report == NULL || n_stale(report) == N_TARGETS - 1);
  upcheck_report_free(report);
  upcheck_error_free(error);
  return status;
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  char path[64];
  for (int number = 0; number < N_THREADS; number++) {
    snprintf(path, sizeof path, "d%d", number);
    EXPECT(mkdir(path, 0777) == 0);
    for (int at = 0; at <= number; at++) {
      snprintf(path, sizeof path, "d%d/f%d", number, at);
      put(path, "", at);
    }
  }
  pthread_t threads[N_THREADS];
  int numbers[N_THREADS];
  for (int at = 0; at < N_THREADS; at++) {
    numbers[at] = at;
    EXPECT(pthread_create(&threads[at], NULL, with_a_graph_of_its_own, &numbers[at]) == 0);
  }
  for (int at = 0; at < N_THREADS; at++) EXPECT(pthread_join(threads[at], NULL) == 0);

  upcheck_records *records = NULL;
  OK(upcheck_records_read("store", 5, &records, &error));
  common = records;
  for (int at = 0; at < N_THREADS; at++) {
    EXPECT(pthread_create(&threads[at], NULL, with_common_records, &numbers[at]) == 0);
  }
  for (int at = 0; at < N_THREADS; at++) EXPECT(pthread_join(threads[at], NULL) == 0);
  upcheck_records_free(records);

  struct shared shared;
  upcheck_graph *graph = chain(1);
  upcheck_report *report = checked(graph, NULL);
  upcheck_snapshot *snapshot = NULL;
  uint64_t end = 5;
  OK(upcheck_collect(".", 1, "d1/f0", &end, 1, 0, &snapshot, &error));
  shared.graph = graph;
  shared.report = report;
  shared.snapshot = snapshot;
  for (int at = 0; at < N_THREADS; at++) EXPECT(pthread_create(&threads[at], NULL, reading, &shared) == 0);
  for (int at = 0; at < N_THREADS; at++) EXPECT(pthread_join(threads[at], NULL) == 0);
  upcheck_snapshot_free(snapshot);

  /* Made here, checked there, read here, freed there. */
  upcheck_report_free(report);
  void *made = NULL;
  EXPECT(pthread_create(&threads[0], NULL, checking, graph) == 0 && pthread_join(threads[0], &made) == 0);
  EXPECT(n_stale(made) == N_TARGETS - 1);
  EXPECT(pthread_create(&threads[0], NULL, freeing, made) == 0 && pthread_join(threads[0], NULL) == 0);

  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  EXPECT(sigaction(SIGUSR1, &action, NULL) == 0);
  pthread_t self = pthread_self();
  int n_cancelled = 0;
  for (int round = 0; round < 4 * N_ROUNDS; round++) {
    cancel = upcheck_cancel_new();
    EXPECT(cancel != NULL);
    EXPECT(round != 0 || check_with_cancel(graph) == UPCHECK_OK);
    EXPECT(pthread_create(&threads[0], NULL, round % 2 ? cancelling : signalling, &self) == 0);
    n_cancelled += check_with_cancel(graph) == UPCHECK_E_CANCELLED;
    EXPECT(pthread_join(threads[0], NULL) == 0);
    /* Once set it stays set. A signal was sent, and is handled before this thread goes on. */
    EXPECT(check_with_cancel(graph) == UPCHECK_E_CANCELLED);
    upcheck_cancel_free(cancel);
    /* And the graph is as good as before. */
    report = checked(graph, NULL);
    EXPECT(n_stale(report) == N_TARGETS - 1);
    upcheck_report_free(report);
  }
  printf("%d of %d checks were cancelled under way\n", n_cancelled, 4 * N_ROUNDS);
  upcheck_graph_free(graph);
  return 0;
}

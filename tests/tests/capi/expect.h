/* What the programs share: to stop, with a place and a message, when something is not as expected. */
#ifndef EXPECT_H
#define EXPECT_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef _WIN32
#  include <sys/utime.h>
/* There a directory is made with nothing but its name. */
#  define mkdir(path, mode) mkdir(path)
#endif
#include <upcheck.h>

#define EXPECT(condition)                                                                  \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);              \
      abort();                                                                             \
    }                                                                                      \
  } while (0)

/* A call that succeeds and leaves no error. `error` is what its last argument is called. */
#define OK(call)                                                                           \
  do {                                                                                     \
    upcheck_error *error = (upcheck_error *)(uintptr_t)8;                                  \
    upcheck_status got_ = (call);                                                          \
    if (got_ != UPCHECK_OK) {                                                              \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, upcheck_error_message(error)); \
      abort();                                                                             \
    }                                                                                      \
    EXPECT(error == NULL);                                                                 \
  } while (0)

/* A call that fails like this, with a message that has these words in it. */
#define FAILS(call, status_, words)                                                        \
  do {                                                                                     \
    upcheck_error *error = NULL;                                                           \
    upcheck_status got_ = (call);                                                          \
    if (got_ != (status_) || strstr(upcheck_error_message(error), words) == NULL) {        \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, upcheck_status_name(got_), \
              upcheck_error_message(error));                                               \
      abort();                                                                             \
    }                                                                                      \
    EXPECT(upcheck_error_status(error) == got_);                                           \
    upcheck_error_free(error);                                                             \
  } while (0)

static inline upcheck_str str(const char *text) {
  upcheck_str it = {text, strlen(text)};
  return it;
}

static inline int is(upcheck_str it, const char *text) {
  return it.len == strlen(text) && memcmp(it.ptr, text, it.len) == 0;
}

/* A file in the working directory that was last changed so many seconds after 2020 began. */
static inline void put(const char *path, const char *content, long seconds) {
  FILE *file = fopen(path, "w");
  EXPECT(file != NULL);
  EXPECT(fputs(content, file) >= 0);
  EXPECT(fclose(file) == 0);
#ifdef _WIN32
  struct __utimbuf64 times = {1577836800 + seconds, 1577836800 + seconds};
  EXPECT(_utime64(path, &times) == 0);
#else
  struct timespec times[2] = {{1577836800 + seconds, 0}, {1577836800 + seconds, 0}};
  EXPECT(utimensat(AT_FDCWD, path, times, 0) == 0);
#endif
}

static inline upcheck_file path_of(upcheck_graph *graph, const char *path) {
  upcheck_file file = UPCHECK_NONE;
  OK(upcheck_graph_add_path(graph, path, strlen(path), &file, &error));
  return file;
}

/* A target with one output, one input and a command. */
static inline upcheck_target target_of(upcheck_graph *graph, const char *output, const char *input, const char *command) {
  upcheck_file files[2] = {path_of(graph, output), path_of(graph, input)};
  upcheck_description it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.outputs = &files[0];
  it.n_outputs = 1;
  it.inputs = &files[1];
  it.n_inputs = 1;
  it.command = str(command);
  upcheck_target target = UPCHECK_NONE;
  OK(upcheck_graph_add_target(graph, &it, &target, &error));
  return target;
}

static inline upcheck_graph *graph_here(void) {
  upcheck_graph *graph = NULL;
  OK(upcheck_graph_new(NULL, 0, &graph, &error));
  return graph;
}

static inline upcheck_report *checked(upcheck_graph *graph, const upcheck_records *records) {
  upcheck_report *report = NULL;
  OK(upcheck_check(graph, records, NULL, &report, &error));
  return report;
}

/* How many targets are stale, and that no array says otherwise. */
static inline size_t n_stale(const upcheck_report *report) {
  upcheck_summary summary;
  memset(&summary, 0xee, sizeof summary);
  summary.struct_size = sizeof summary;
  OK(upcheck_report_summary(report, &summary, &error));
  size_t n = 0, n_findings = 0, step = 0, stride = 0;
  const char *all = (const char *)upcheck_report_stale(report, &n, &step);
  EXPECT(step >= sizeof(upcheck_stale));
  EXPECT(n == summary.n_stale + summary.n_pending);
  EXPECT(upcheck_report_is_fresh(report) == (n == 0));
  const char *findings = (const char *)upcheck_report_findings(report, &n_findings, &stride);
  EXPECT(stride >= sizeof(upcheck_finding));
  /* Findings are in the order of the targets, and none of these is without one. */
  uint64_t next = 0;
  for (size_t at = 0; at < n; at++) {
    const upcheck_stale *stale = (const upcheck_stale *)(const void *)(all + at * step);
    uint32_t waits = 0;
    EXPECT(stale->first_finding == next && stale->n_findings > 0);
    EXPECT(stale->verdict == UPCHECK_VERDICT_STALE || stale->verdict == UPCHECK_VERDICT_PENDING);
    next += stale->n_findings;
    EXPECT(next <= n_findings);
    for (uint64_t k = stale->first_finding; k < next; k++) {
      const upcheck_finding *finding = (const upcheck_finding *)(const void *)(findings + k * stride);
      EXPECT(finding->target == stale->target);
      EXPECT(*upcheck_reason_name(finding->reason) != '\0');
      if (finding->upstream != UPCHECK_NONE) waits = 1;
    }
    EXPECT(stale->waits == waits);
  }
  EXPECT(next == n_findings);
  return n;
}

/* The first reason of a target, 0 where it has none. */
static inline int32_t reason_of(const upcheck_report *report, upcheck_target target) {
  size_t n = 0, stride = 0;
  const char *findings = (const char *)upcheck_report_findings(report, &n, &stride);
  for (size_t k = 0; k < n; k++) {
    const upcheck_finding *finding = (const upcheck_finding *)(const void *)(findings + k * stride);
    if (finding->target == target) return finding->reason;
  }
  return UPCHECK_FRESH;
}

/* The sentence of a finding; the caller frees it. */
static inline char *explained(const upcheck_report *report, const upcheck_graph *graph, size_t finding) {
  size_t length = upcheck_report_explain(report, graph, finding, NULL, 0);
  char *text = malloc(length + 1);
  EXPECT(text != NULL);
  EXPECT(upcheck_report_explain(report, graph, finding, text, length + 1) == length);
  EXPECT(strlen(text) == length);
  return text;
}

#endif

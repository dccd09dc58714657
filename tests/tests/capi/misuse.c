/* What callers get wrong: each gives a status, writes no output, and leaves the handles as they were. */
#include "expect.h"

static upcheck_graph *graph;
static upcheck_records *records;
static upcheck_file in, out;

/* All is as it should be: `out` is made of `in`, and is fresh. */
static void still_works(void) {
  upcheck_report *report = checked(graph, records);
  EXPECT(n_stale(report) == 0);
  upcheck_report_free(report);
  EXPECT(upcheck_graph_n_targets(graph) == 1 && upcheck_graph_n_files(graph) == 2);
}

static upcheck_description described(void) {
  upcheck_description it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.outputs = &out;
  it.n_outputs = 1;
  it.inputs = &in;
  it.n_inputs = 1;
  return it;
}

#define refused(it, status, words) refused_at(it, status, words, __LINE__)
static void refused_at(const upcheck_description *it, upcheck_status status, const char *words, int line) {
  upcheck_target target = 4711;
  if (upcheck_graph_add_target(graph, it, NULL, NULL) != status) fprintf(stderr, "line %d:\n", line);
  FAILS(upcheck_graph_add_target(graph, it, &target, &error), status, words);
  EXPECT(target == 4711);
  EXPECT(upcheck_graph_add_target(graph, it, &target, NULL) == status && target == 4711);
  EXPECT(upcheck_graph_n_targets(graph) == 1);
}

static void descriptions(void) {
  upcheck_description it = described();
  refused(&it, UPCHECK_E_GRAPH, "'out'"); /* an output of two targets */
  upcheck_file none = 2, far = UPCHECK_NONE, twice[2];
  it.outputs = &none;
  refused(&it, UPCHECK_E_INVALID, "no file 2");
  it.outputs = &far;
  refused(&it, UPCHECK_E_INVALID, "no file");
  twice[0] = twice[1] = in;
  it.outputs = twice;
  it.n_outputs = 2;
  refused(&it, UPCHECK_E_GRAPH, "'in'");
  it.outputs = NULL;
  it.n_outputs = 0;
  refused(&it, UPCHECK_E_INVALID, "name");
  it.name.ptr = "a\0b";
  it.name.len = 3;
  refused(&it, UPCHECK_E_INVALID, "NUL");
  it = described();
  it.outputs = &in;
  const upcheck_file **lists[] = {&it.inputs, &it.implicit, &it.order_only, &it.validations};
  size_t *counts[] = {&it.n_inputs, &it.n_implicit, &it.n_order_only, &it.n_validations};
  for (int at = 0; at < 4; at++) {
    const upcheck_file *list = *lists[at];
    size_t count = *counts[at];
    *lists[at] = &none;
    *counts[at] = 1;
    refused(&it, UPCHECK_E_INVALID, "no file 2");
    *counts[at] = SIZE_MAX;
    refused(&it, UPCHECK_E_INVALID, "");
    *counts[at] = SIZE_MAX / 4;
    refused(&it, UPCHECK_E_INVALID, "");
    *lists[at] = NULL;
    refused(&it, UPCHECK_E_INVALID, "NULL");
    *lists[at] = (const upcheck_file *)(const void *)((const char *)twice + 1);
    *counts[at] = 1;
    refused(&it, UPCHECK_E_INVALID, "");
    *lists[at] = list;
    *counts[at] = count;
  }
  upcheck_str text = {"x\0y", SIZE_MAX};
  it.command = text;
  refused(&it, UPCHECK_E_INVALID, "command");
  it.command.len = 0;
  it.flags = 2;
  refused(&it, UPCHECK_E_INVALID, "flags");
  it.flags = UINT32_MAX;
  refused(&it, UPCHECK_E_INVALID, "flags");
  it.flags = 0;
  int32_t policies[] = {-1, 7, INT32_MIN, INT32_MAX};
  for (int at = 0; at < 4; at++) {
    it.policy = policies[at];
    refused(&it, UPCHECK_E_INVALID, "policy");
    FAILS(upcheck_graph_set_policy(graph, policies[at], &error), UPCHECK_E_INVALID, "policy");
  }
  it.policy = 0;
  upcheck_str bad_globs[] = {{"\xff*", 2}, {"src/[a", 6}, {"*.c", 3}};
  it.globs = bad_globs;
  it.n_globs = 3;
  refused(&it, UPCHECK_E_INVALID, "UTF-8");
  it.globs = &bad_globs[1];
  it.n_globs = 2;
  refused(&it, UPCHECK_E_INVALID, "src/[a");
  it.n_globs = SIZE_MAX;
  refused(&it, UPCHECK_E_INVALID, "globs");
  it.n_globs = 0;
  upcheck_str values[] = {{"a\0b", 3}, {"", 0}, {"CC", 2}, {"gcc", 3}};
  it.values = values;
  it.n_values = 2;
  refused(&it, UPCHECK_E_INVALID, "NUL"); /* records keep values of their own under such names */
  FAILS(upcheck_graph_set_values(graph, values, 2, &error), UPCHECK_E_INVALID, "NUL");
  it.n_values = SIZE_MAX;
  refused(&it, UPCHECK_E_LIMIT, "");
  it.n_values = SIZE_MAX / 2;
  refused(&it, UPCHECK_E_INVALID, "values");
  it.n_values = 0;
  upcheck_str with_nul = {"a\0b", 3};
  it.depfile = with_nul;
  refused(&it, UPCHECK_E_INVALID, "NUL");
  it.depfile.len = 0;
  it.directory = with_nul;
  refused(&it, UPCHECK_E_INVALID, "NUL");
  still_works();
}

static void many(void) {
  upcheck_targets it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.n_targets = 3;
  upcheck_target first = 4711;
  FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "name");
  upcheck_file files[] = {in, in, in};
  uint64_t descending[] = {2, 1, 3}, far[] = {0, 1, UINT64_MAX}, big[] = {0, 0, (uint64_t)1 << 63};
  uint64_t *wrong[] = {descending, far, big};
  for (int at = 0; at < 3; at++) {
    it.outputs.files = files;
    it.outputs.ends = wrong[at];
    FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "outputs");
    it.outputs.ends = NULL;
    it.names.bytes = "abc";
    it.names.ends = wrong[at];
    FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "names");
    it.names.ends = NULL;
  }
  uint64_t good[] = {1, 2, 3};
  it.names.ends = good;
  size_t counts[] = {SIZE_MAX, SIZE_MAX / 8, SIZE_MAX / 16 + 1};
  for (int at = 0; at < 3; at++) {
    it.n_targets = counts[at];
    FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "names");
  }
  it.n_targets = 3;
  uint32_t flags[] = {0, 0, 8};
  it.flags = flags;
  FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "flags");
  it.flags = NULL;
  int32_t policies[] = {0, 0, 99};
  it.policies = policies;
  FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "policy");
  it.policies = NULL;
  files[2] = 9;
  it.inputs.files = files;
  it.inputs.ends = good;
  FAILS(upcheck_graph_add_targets(graph, &it, &first, &error), UPCHECK_E_INVALID, "no file 9");
  it.n_targets = 0;
  EXPECT(first == 4711);
  OK(upcheck_graph_add_targets(graph, &it, &first, &error));
  EXPECT(first == UPCHECK_NONE);
  still_works();

  /* Those before the one that is refused stay. */
  upcheck_graph *other = graph_here();
  upcheck_file a = path_of(other, "a");
  upcheck_file outputs[] = {a, a};
  uint64_t ends[] = {1, 2};
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.n_targets = 2;
  it.outputs.files = outputs;
  it.outputs.ends = ends;
  first = 4711;
  FAILS(upcheck_graph_add_targets(other, &it, &first, &error), UPCHECK_E_GRAPH, "'a'");
  EXPECT(first == 4711 && upcheck_graph_n_targets(other) == 1);
  upcheck_graph_free(other);
}

/* A distinct path that is not what it was said to be, alone or with one that was interned before or after. */
static void distinct(const char *before, const char *path, size_t len, const char *after, const char *words) {
  for (uint32_t flags = UPCHECK_DISTINCT; flags <= UPCHECK_BORROW; flags += 2) {
    if (flags == UPCHECK_BORROW && before != NULL) continue;
    upcheck_graph *other = graph_here();
    if (before != NULL) path_of(other, before);
    upcheck_file first = 4711, files[2] = {4711, 4711};
    /* With another one behind it, which is right. */
    char bytes[200];
    memcpy(bytes, path, len);
    memcpy(bytes + len, "fine", 4);
    uint64_t ends[2];
    ends[0] = len;
    ends[1] = len + 4;
    OK(upcheck_graph_add_paths(other, bytes, ends, 2, flags, &first, files, &error));
    EXPECT(files[0] == first && files[1] == first + 1);
    if (after != NULL) path_of(other, after);
    upcheck_description it;
    memset(&it, 0, sizeof it);
    it.struct_size = sizeof it;
    it.outputs = &files[1];
    it.n_outputs = 1;
    OK(upcheck_graph_add_target(other, &it, NULL, &error));
    upcheck_report *report = NULL;
    upcheck_check_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    for (int by_times = 0; by_times < 2; by_times++) {
      options.flags = by_times ? UPCHECK_BY_TIMES : 0;
      if (words == NULL) {
        OK(upcheck_check(other, NULL, &options, &report, &error));
        upcheck_report_free(report);
        report = NULL;
        continue;
      }
      FAILS(upcheck_check(other, NULL, &options, &report, &error), UPCHECK_E_INVALID, words);
      EXPECT(report == NULL);
    }
    if (words != NULL) {
      upcheck_target target = 0;
      upcheck_build *build = NULL;
      upcheck_affected *affected = NULL;
      upcheck_str changed = str("fine");
      FAILS(upcheck_begin(other, records, &target, 1, &build, &error), UPCHECK_E_INVALID, words);
      FAILS(upcheck_affected_by(other, NULL, &changed, 1, &affected, &error), UPCHECK_E_INVALID, words);
      EXPECT(build == NULL && affected == NULL);
    }
    EXPECT(is(upcheck_graph_path(other, upcheck_graph_find(other, "fine", 4)), "fine"));
    upcheck_graph_free(other);
  }
}

static int look_at(const char *path, struct stat *found) { return stat(path, found) == 0; }

static void paths(const char *here) {
  upcheck_file file = 4711, files[3] = {4711, 4711, 4711}, first = 4711;
  FAILS(upcheck_graph_add_path(graph, "", 0, &file, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_graph_add_path(graph, NULL, 0, &file, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_graph_add_path(graph, "a\0b", 3, &file, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_graph_add_path(graph, "a", SIZE_MAX, &file, &error), UPCHECK_E_INVALID, "path");
  FAILS(upcheck_graph_add_path(graph, "a", (size_t)1 << 63, &file, &error), UPCHECK_E_INVALID, "path");
  uint64_t ends[] = {2, 5, 5}, down[] = {5, 2, 5}, far[] = {2, 5, UINT64_MAX};
  for (uint32_t flags = 0; flags < 10; flags++) {
    upcheck_status status = upcheck_graph_add_paths(graph, "inout", down, 3, flags, &first, files, NULL);
    EXPECT(status == UPCHECK_E_INVALID);
    status = upcheck_graph_add_paths(graph, "inout", far, 3, flags, &first, files, NULL);
    EXPECT(status == UPCHECK_E_INVALID);
    status = upcheck_graph_add_paths(graph, "inout", NULL, 3, flags, &first, files, NULL);
    EXPECT(status == UPCHECK_E_INVALID);
    status = upcheck_graph_add_paths(graph, NULL, ends, 3, flags, &first, files, NULL);
    EXPECT(status == UPCHECK_E_INVALID);
    status = upcheck_graph_add_paths(graph, "inout", ends, SIZE_MAX / 2, flags, &first, files, NULL);
    EXPECT(status == UPCHECK_E_INVALID);
    if (flags != 0 && flags != UPCHECK_DISTINCT) { /* 3 is for graphs without paths, the others are unknown */
      status = upcheck_graph_add_paths(graph, "inout", ends, 2, flags, &first, files, NULL);
      EXPECT(status == UPCHECK_E_INVALID);
    }
  }
  /* The last one is empty: the array is as it was, also where the ones before it are known now. */
  FAILS(upcheck_graph_add_paths(graph, "inout", ends, 3, 0, &first, files, &error), UPCHECK_E_INVALID, "empty");
  EXPECT(file == 4711 && first == 4711);
  for (int at = 0; at < 3; at++) EXPECT(files[at] == 4711);
  OK(upcheck_graph_add_paths(graph, NULL, NULL, 0, 0, &first, files, &error));
  EXPECT(first == UPCHECK_NONE && files[0] == 4711);
  OK(upcheck_graph_add_paths(graph, NULL, NULL, 0, UPCHECK_DISTINCT, &first, NULL, &error));
  EXPECT(first == UPCHECK_NONE);
  still_works();

  distinct(NULL, "x", 1, NULL, NULL);
  const char *not_canonical[] = {"./x", "x/../y", "x//y", "x/", "x/.", "a/b/.."};
  for (size_t at = 0; at < sizeof not_canonical / sizeof *not_canonical; at++) {
    distinct(NULL, not_canonical[at], strlen(not_canonical[at]), NULL, not_canonical[at]);
  }
  distinct(NULL, "", 0, NULL, "empty");
  distinct(NULL, "x\0y", 3, NULL, "NUL");
  distinct("x", "x", 1, NULL, "'x'");
  distinct(NULL, "fine", 4, NULL, "'fine'");
  distinct(NULL, "x", 1, "./x", NULL); /* found again, whatever way it is written */
  distinct("x", "y", 1, "x", NULL);
  char absolute[150];
  EXPECT(snprintf(absolute, sizeof absolute, "%s/x", here) < (int)sizeof absolute);
  distinct(NULL, absolute, strlen(absolute), NULL, absolute);
  distinct(NULL, "/elsewhere/x", 12, NULL, NULL);

  /* A path that no system takes is one that cannot be looked at, and no crash. */
  upcheck_graph *other = graph_here();
  size_t length = 100 * 1024;
  char *path = malloc(length + 1);
  EXPECT(path != NULL);
  memset(path, 'x', length);
  path[length] = '\0';
  upcheck_target target = target_of(other, "y", path, "");
  put("y", "", 0);
  upcheck_report *report = checked(other, NULL);
  EXPECT(n_stale(report) == 1 && reason_of(report, target) != UPCHECK_FRESH);
  char *words = explained(report, other, 0);
  EXPECT(strlen(words) > length);
  free(words);
  upcheck_report_free(report);
  report = NULL;
  FAILS(upcheck_graph_load_json(other, path, length, &error), UPCHECK_E_IO, "");
  upcheck_graph *no_graph = NULL;
  upcheck_records *no_records = NULL;
  FAILS(upcheck_graph_new(path, length, &no_graph, &error), UPCHECK_E_IO, "");
  FAILS(upcheck_records_open(path, length, &no_records, &error), UPCHECK_E_IO, "");
  FAILS(upcheck_graph_new("a\0b", 3, &no_graph, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_graph_new("in", 2, &no_graph, &error), UPCHECK_E_IO, "");
  FAILS(upcheck_records_open("a\0b", 3, &no_records, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_records_read("a\0b", 3, &no_records, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_records_open("", 0, &no_records, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_records_read("", 0, &no_records, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_records_open("in", 2, &no_records, &error), UPCHECK_E_IO, "");
  FAILS(upcheck_graph_load_json(other, "", 0, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_graph_load_json(other, "a\0b", 3, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_graph_load_compile_commands(other, "", 0, 0, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_graph_load_compile_commands(other, "a\0b", 3, 0, &error), UPCHECK_E_INVALID, "NUL");
  upcheck_affected *affected = NULL;
  upcheck_str changed[] = {{"a\0b", 3}, {"", 0}};
  FAILS(upcheck_affected_by(other, NULL, changed, 1, &affected, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_affected_by(other, NULL, changed + 1, 1, &affected, &error), UPCHECK_E_INVALID, "empty");
  upcheck_graph *ninja = graph_here();
  upcheck_ninja_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.manifest = changed[0];
  FAILS(upcheck_graph_load_ninja(ninja, &options, &error), UPCHECK_E_INVALID, "NUL");
  options.manifest = str("");
  options.image_folder = changed[0];
  FAILS(upcheck_graph_load_ninja(ninja, &options, &error), UPCHECK_E_INVALID, "NUL");
  options.image_folder = str("");
  options.version = 10;
  FAILS(upcheck_graph_load_ninja(ninja, &options, &error), UPCHECK_E_INVALID, "10");
  upcheck_graph_free(ninja);
  EXPECT(no_graph == NULL && no_records == NULL && affected == NULL);
  upcheck_graph_free(other);

  int32_t stale = 4711, reason = 4711;
  upcheck_str one = str("in"), empty = str(""), nul = changed[0];
  FAILS(upcheck_is_stale(NULL, 0, &one, 1, &stale, &reason, &error), UPCHECK_E_INVALID, "");
  FAILS(upcheck_is_stale(&empty, 1, &one, 1, &stale, &reason, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_is_stale(&one, 1, &nul, 1, &stale, &reason, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_is_stale(&one, 1, &one, 1, &stale, &reason, &error), UPCHECK_E_GRAPH, "cycle");
  EXPECT(stale == 4711 && reason == 4711);

  upcheck_snapshot *snapshot = NULL;
  uint64_t zero[] = {0}, three[] = {3}, huge[] = {length};
  FAILS(upcheck_collect(NULL, 0, "", zero, 1, 0, &snapshot, &error), UPCHECK_E_INVALID, "empty");
  FAILS(upcheck_collect(NULL, 0, "a\0b", three, 1, 0, &snapshot, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_collect("nowhere", 7, "abc", three, 1, 0, &snapshot, &error), UPCHECK_E_IO, "nowhere");
  FAILS(upcheck_collect("a\0b", 3, "abc", three, 1, 0, &snapshot, &error), UPCHECK_E_INVALID, "NUL");
  FAILS(upcheck_collect(NULL, 0, "inout", down, 3, 0, &snapshot, &error), UPCHECK_E_INVALID, "ascend");
  FAILS(upcheck_collect(NULL, 0, "inout", ends, SIZE_MAX / 2, 0, &snapshot, &error), UPCHECK_E_INVALID, "");
  EXPECT(snapshot == NULL);
  OK(upcheck_collect(NULL, 0, path, huge, 1, UINT32_MAX, &snapshot, &error));
  size_t n = 0, stride = 0;
  const upcheck_stat *stat = upcheck_snapshot_stats(snapshot, &n, &stride);
  EXPECT(n == 1 && (stat->state == UPCHECK_STAT_UNREADABLE || stat->state == UPCHECK_STAT_MISSING));
  upcheck_snapshot_free(snapshot);
  OK(upcheck_collect(NULL, 0, NULL, NULL, 0, 0, &snapshot, &error));
  upcheck_snapshot_stats(snapshot, &n, NULL);
  EXPECT(n == 0);
  upcheck_snapshot_free(snapshot);
  /* Paths are taken as they are: whatever way one is written, it is the file that the system finds there. */
  EXPECT(mkdir("dir", 0777) == 0);
  const char *ways[] = {"in", "./in", ".//in", "dir/../in", "dir/.././/in", "dir", "dir/", "dir//", ".", "./", "..", "/", "//",
                        "/.", "dir/.", "dir/..", "in/", "in/.", "dir/in", "nowhere/../in"};
  for (size_t at = 0; at < sizeof ways / sizeof *ways; at++) {
    struct stat expected;
    int is_there = look_at(ways[at], &expected);
    uint64_t end = strlen(ways[at]);
    OK(upcheck_collect(NULL, 0, ways[at], &end, 1, 1, &snapshot, &error));
    const upcheck_stat *got = upcheck_snapshot_stats(snapshot, NULL, NULL);
    if ((got->state == UPCHECK_STAT_PRESENT) != is_there || (is_there && got->inode != expected.st_ino)) {
      fprintf(stderr, "'%s' is seen as %d, inode %" PRIu64 "\n", ways[at], got->state, got->inode);
      abort();
    }
    EXPECT(upcheck_snapshot_find(snapshot, ways[at], end) == got);
    upcheck_snapshot_free(snapshot);
  }
  EXPECT(rmdir("dir") == 0);
  free(path);
  EXPECT(unlink("y") == 0);
  still_works();
}

static void questions(void) {
  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  upcheck_report *report = NULL;
  upcheck_file far = 2;
  options.requests = &far;
  options.n_requests = 1;
  FAILS(upcheck_check(graph, records, &options, &report, &error), UPCHECK_E_INVALID, "no file 2");
  far = UPCHECK_NONE;
  FAILS(upcheck_check(graph, records, &options, &report, &error), UPCHECK_E_INVALID, "no file");
  options.n_requests = SIZE_MAX;
  FAILS(upcheck_check(graph, records, &options, &report, &error), UPCHECK_E_INVALID, "requests");
  options.requests = NULL;
  FAILS(upcheck_check(graph, records, &options, &report, &error), UPCHECK_E_INVALID, "NULL");
  options.n_requests = 0;
  options.flags = 6;
  FAILS(upcheck_check(graph, records, &options, &report, &error), UPCHECK_E_INVALID, "0x6");
  options.flags = 0;
  options.threads = UINT32_MAX;
  EXPECT(report == NULL);
  OK(upcheck_check(graph, records, &options, &report, &error));
  EXPECT(n_stale(report) == 0);

  /* A report, and another graph: no words. */
  upcheck_graph *other = graph_here();
  target_of(other, "p", "q", "");
  upcheck_report *about_other = checked(other, NULL);
  EXPECT(upcheck_report_explain(about_other, graph, 0, NULL, 0) == 0);
  EXPECT(upcheck_report_explain_cause(about_other, graph, 0, NULL, 0) == 0);
  EXPECT(upcheck_report_explain(about_other, other, 0, NULL, 0) > 0);
  EXPECT(upcheck_report_explain(about_other, other, SIZE_MAX, NULL, 0) == 0);
  EXPECT(upcheck_report_explain_cause(about_other, other, SIZE_MAX, NULL, 9) == 0);
  char buffer[4] = "abc";
  EXPECT(upcheck_report_explain(about_other, other, 0, buffer, 0) > 0 && strcmp(buffer, "abc") == 0);
  EXPECT(upcheck_report_explain(about_other, other, 0, buffer, 1) > 0 && buffer[0] == '\0' && buffer[1] == 'b');
  upcheck_report_free(about_other);
  upcheck_report_free(report);

  /* A build, and another graph. */
  upcheck_target zero = 0, one = 1;
  upcheck_build *build = NULL;
  FAILS(upcheck_begin(graph, records, &one, 1, &build, &error), UPCHECK_E_INVALID, "no target 1");
  FAILS(upcheck_begin(graph, records, &zero, SIZE_MAX, &build, &error), UPCHECK_E_INVALID, "targets");
  EXPECT(build == NULL);
  OK(upcheck_begin(graph, records, &zero, 1, &build, &error));
  FAILS(upcheck_commit(other, records, build, 0, &error), UPCHECK_E_INVALID, "another graph");
  FAILS(upcheck_commit(graph, records, build, 8, &error), UPCHECK_E_INVALID, "flags");
  OK(upcheck_commit(graph, records, build, 0, &error));
  FAILS(upcheck_commit(graph, records, build, 0, &error), UPCHECK_E_INVALID, "before");
  upcheck_build_free(build);
  OK(upcheck_begin(graph, records, NULL, 0, &build, &error));
  OK(upcheck_commit(graph, records, build, 0, &error));
  upcheck_build_free(build);
  still_works();

  /* The same target twice in one build. */
  upcheck_target twice[] = {0, 0};
  build = NULL;
  upcheck_status status = upcheck_begin(graph, records, twice, 2, &build, NULL);
  if (status == UPCHECK_OK) {
    upcheck_error *error = NULL;
    status = upcheck_commit(graph, records, build, 0, &error);
    EXPECT(status == UPCHECK_OK || *upcheck_error_message(error) != '\0');
    upcheck_error_free(error);
  }
  upcheck_build_free(build);
  OK(upcheck_begin(graph, records, &zero, 1, &build, &error));
  OK(upcheck_commit(graph, records, build, 0, &error));
  upcheck_build_free(build);
  still_works();

  /* A phony target has nothing to record; and a cycle has no answer. */
  upcheck_file name = path_of(other, "name"), p = path_of(other, "p"), q = path_of(other, "q");
  upcheck_description it;
  memset(&it, 0, sizeof it);
  it.struct_size = sizeof it;
  it.outputs = &name;
  it.n_outputs = 1;
  it.flags = UPCHECK_PHONY;
  upcheck_target phony = 0;
  OK(upcheck_graph_add_target(other, &it, &phony, &error));
  build = NULL;
  FAILS(upcheck_begin(other, records, &phony, 1, &build, &error), UPCHECK_E_INVALID, "'name'");
  it.flags = 0;
  it.outputs = &q;
  it.inputs = &p;
  it.n_inputs = 1;
  OK(upcheck_graph_add_target(other, &it, NULL, &error));
  report = NULL;
  FAILS(upcheck_check(other, NULL, NULL, &report, &error), UPCHECK_E_GRAPH, "cycle");
  EXPECT(report == NULL && build == NULL);
  options.threads = 0;
  options.requests = &name;
  options.n_requests = 1;
  OK(upcheck_check(other, NULL, &options, &report, &error));
  upcheck_report_free(report);
  report = NULL;
  upcheck_file source = path_of(other, "no such source");
  options.requests = &source;
  FAILS(upcheck_check(other, NULL, &options, &report, &error), UPCHECK_E_GRAPH, "no such source");
  upcheck_graph_free(other);
  still_works();
}

/* Outputs that are not aligned are written all the same. */
static void unaligned(void) {
  union {
    char bytes[64];
    uint64_t aligned;
  } room;
  for (size_t off = 0; off < 8; off++) {
    memset(room.bytes, 0, sizeof room.bytes);
    char *at = room.bytes + off;
    upcheck_file file = 0;
    EXPECT(upcheck_graph_add_path(graph, "in", 2, (upcheck_file *)(void *)at, NULL) == UPCHECK_OK);
    memcpy(&file, at, sizeof file);
    EXPECT(file == in);
    uint64_t ends[] = {2, 5};
    memset(room.bytes, 0xff, sizeof room.bytes);
    EXPECT(upcheck_graph_add_paths(graph, "inout", ends, 2, 0, NULL, (upcheck_file *)(void *)at, NULL) == UPCHECK_OK);
    memcpy(&file, at + sizeof file, sizeof file);
    EXPECT(file == out);
    upcheck_error *error = NULL;
    EXPECT(upcheck_graph_add_path(graph, "", 0, &file, (upcheck_error **)(void *)at) == UPCHECK_E_INVALID);
    memcpy(&error, at, sizeof error);
    EXPECT(*upcheck_error_message(error) != '\0');
    upcheck_error_free(error);
    upcheck_report *report = NULL;
    EXPECT(upcheck_check(graph, records, NULL, (upcheck_report **)(void *)at, NULL) == UPCHECK_OK);
    memcpy(&report, at, sizeof report);
    size_t n = 0;
    upcheck_report_verdicts(report, (size_t *)(void *)at);
    memcpy(&n, at, sizeof n);
    EXPECT(n == 1);
    upcheck_report_free(report);
    /* What comes in unaligned is refused. */
    if (off > 0) {
      upcheck_check_options options, *moved = (upcheck_check_options *)(void *)at;
      memset(&options, 0, sizeof options);
      options.struct_size = sizeof options;
      EXPECT(off + sizeof options <= sizeof room.bytes);
      memcpy(at, &options, sizeof options);
      report = NULL;
      FAILS(upcheck_check(graph, records, moved, &report, &error), UPCHECK_E_INVALID, "aligned");
      upcheck_graph *no_graph = (upcheck_graph *)(void *)at;
      FAILS(upcheck_check(no_graph, NULL, NULL, &report, &error), UPCHECK_E_INVALID, "handle");
      EXPECT(upcheck_graph_n_files(no_graph) == 0);
    }
  }
  still_works();
}

/* Sizes that a struct never had, and members that only a later version knows. `call` makes the call with a struct at a
 * place that has room for 5000 bytes and begins with a good one of `size` bytes. */
static void sizes(const void *good, size_t size, upcheck_status (*call)(void *), const char *what) {
  size_t wrong[] = {0, 1, 7, size - 8, size - 1, 4097, 5000, SIZE_MAX, SIZE_MAX / 2};
  size_t right[] = {size, size + 1, size + 8, 4096};
  char *room = calloc(1, 5000);
  EXPECT(room != NULL);
  for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
    memcpy(room, good, size);
    memcpy(room, &wrong[at], sizeof(size_t));
    if (call(room) != UPCHECK_E_INVALID) {
      fprintf(stderr, "%s of size %zu\n", what, wrong[at]);
      abort();
    }
  }
  for (size_t at = 0; at < sizeof right / sizeof *right; at++) {
    memset(room, 0, 5000);
    memcpy(room, good, size);
    memcpy(room, &right[at], sizeof(size_t));
    if (call(room) != UPCHECK_OK) {
      fprintf(stderr, "%s of size %zu\n", what, right[at]);
      abort();
    }
  }
  size_t longer = size + 8;
  for (size_t at = size; at < longer; at++) {
    memset(room, 0, 5000);
    memcpy(room, good, size);
    memcpy(room, &longer, sizeof(size_t));
    room[at] = 1;
    /* What the library fills it fills to the end. */
    EXPECT(call(room) == (strcmp(what, "summary") == 0 ? UPCHECK_OK : UPCHECK_E_INVALID));
    EXPECT(strcmp(what, "summary") != 0 || room[at] == 0);
  }
  free(room);
  /* And no byte behind its end is looked at. */
  room = malloc(size);
  EXPECT(room != NULL);
  memcpy(room, good, size);
  EXPECT(call(room) == UPCHECK_OK);
  free(room);
}

static upcheck_report *some_report;

static upcheck_status with_description(void *it) {
  upcheck_graph *other = graph_here();
  path_of(other, "in");
  path_of(other, "out");
  upcheck_status status = upcheck_graph_add_target(other, it, NULL, NULL);
  upcheck_graph_free(other);
  return status;
}

static upcheck_status with_targets(void *it) {
  upcheck_graph *other = graph_here();
  upcheck_status status = upcheck_graph_add_targets(other, it, NULL, NULL);
  upcheck_graph_free(other);
  return status;
}

static upcheck_status with_ninja_options(void *it) {
  upcheck_graph *other = graph_here();
  upcheck_status status = upcheck_graph_load_ninja(other, it, NULL);
  upcheck_graph_free(other);
  return status;
}

static upcheck_status with_check_options(void *it) {
  upcheck_report *report = NULL;
  upcheck_status status = upcheck_check(graph, records, it, &report, NULL);
  upcheck_report_free(report);
  return status;
}

static upcheck_status with_summary(void *it) { return upcheck_report_summary(some_report, it, NULL); }

static void struct_sizes(void) {
  upcheck_description description = described();
  sizes(&description, sizeof description, with_description, "description");
  upcheck_targets targets;
  memset(&targets, 0, sizeof targets);
  targets.struct_size = sizeof targets;
  sizes(&targets, sizeof targets, with_targets, "targets");
  upcheck_ninja_options ninja;
  memset(&ninja, 0, sizeof ninja);
  ninja.struct_size = sizeof ninja;
  put("build.ninja", "", 0);
  sizes(&ninja, sizeof ninja, with_ninja_options, "ninja options");
  EXPECT(unlink("build.ninja") == 0);
  upcheck_check_options options;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  sizes(&options, sizeof options, with_check_options, "check options");
  upcheck_summary summary;
  memset(&summary, 0, sizeof summary);
  summary.struct_size = sizeof summary;
  some_report = checked(graph, records);
  sizes(&summary, sizeof summary, with_summary, "summary");
  upcheck_report_free(some_report);
  still_works();
}

int main(int argc, char **argv) {
  EXPECT(argc > 1 && chdir(argv[1]) == 0);
  put("in", "1", 0);
  put("out", "1", 1);
  graph = graph_here();
  target_of(graph, "out", "in", "cp in out");
  in = upcheck_graph_find(graph, "in", 2);
  out = upcheck_graph_find(graph, "out", 3);
  OK(upcheck_records_open("store", 5, &records, &error));
  upcheck_target zero = 0;
  upcheck_build *build = NULL;
  OK(upcheck_begin(graph, records, &zero, 1, &build, &error));
  OK(upcheck_commit(graph, records, build, 0, &error));
  upcheck_build_free(build);
  still_works();

  descriptions();
  many();
  paths(argv[1]);
  questions();
  unaligned();
  struct_sizes();

  upcheck_graph_free(graph);
  upcheck_records_free(records);
  return 0;
}

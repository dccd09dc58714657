/* upcheck.h - the C interface of upcheck: which targets of a build are stale, and why?
 *
 *   upcheck_graph    targets with their inputs and outputs: described by the caller, or read from a ninja build directory,
 *                    a JSON graph or a compile_commands.json
 *   upcheck_check    looks at all files, directory by directory, and judges all targets in one pass
 *   upcheck_report   the verdicts and the reasons, as arrays
 *   upcheck_records  what each target's last success looked like: upcheck_begin before its command, upcheck_commit after
 *   upcheck_snapshot the status of many files, for those who judge for themselves
 *   upcheck_changes  what a driver knows to have changed: all else is answered from memory
 *   upcheck_answer   what the daemon says, where one runs (upcheck watch)
 *
 * What follows holds everywhere.
 *
 * Ownership   X_new, X_open, X_read and whatever else hands out a handle through `X **` give it to the caller, who
 *             gives it back to X_free. X_free(NULL) does nothing. A pointer that is read out of a handle lives until
 *             that handle is freed or next handed to a call that takes it as non-const. What callers hand in is copied
 *             before the call returns, but for UPCHECK_BORROW.
 * Text        Paths and other text are bytes with a length, never assumed to be UTF-8, and not NUL-terminated; only
 *             what is of type `const char *` on the way out is. A path must not be empty nor have a NUL in it.
 *             NULL with length 0 is an empty text.
 * Errors      A call that can fail returns an upcheck_status. `error`, unless it is NULL itself, receives an object with
 *             the message then, and NULL where all is well. Nothing is kept per thread. Other outputs are written on
 *             success only, and whatever the call would have changed is as it was, but where a call says otherwise.
 * Threads     One thread at a time may use a handle, unless all that use it take it as const. No handle belongs to a
 *             thread. Exceptions are named where they are declared. A call needs up to 256 KB of stack.
 * Panics      A bug inside the library comes back as UPCHECK_E_INTERNAL; the handles that the call took as non-const
 *             can then only be freed. The panic's message goes to standard error, as Rust programs do it, unless the
 *             program has set another hook. Apart from that the library prints nothing, never exits, reads no
 *             environment variable, but in upcheck_ask_daemon, and installs no handler. It needs panic=unwind, which is
 *             Rust's default.
 * Processes   A check reads, and changes nothing on the disk. Records are written by the calls that say so.
 *             Do not fork while another thread is inside a call; after a fork, handles work in both processes.
 * Growth      Structs that callers fill begin with struct_size = sizeof(the struct): members are added at the end, and
 *             what an older caller does not know is as if 0. Unknown flag bits are refused. Enumerators are only ever
 *             added, and are passed as integers of a fixed size. Arrays of structs come with a stride. See docs/ABI.md.
 */
#ifndef UPCHECK_H
#define UPCHECK_H

#include <stddef.h>
#include <stdint.h>

/* The version of this header; upcheck_version() is that of the library. */
#define UPCHECK_VERSION_MAJOR 0
#define UPCHECK_VERSION_MINOR 1
#define UPCHECK_VERSION_PATCH 0
#define UPCHECK_VERSION_NUMBER(major, minor, patch) \
  (((uint32_t)(major) << 24) | ((uint32_t)(minor) << 12) | (uint32_t)(patch))
#define UPCHECK_VERSION \
  UPCHECK_VERSION_NUMBER(UPCHECK_VERSION_MAJOR, UPCHECK_VERSION_MINOR, UPCHECK_VERSION_PATCH)

#if defined(_WIN32) && defined(UPCHECK_SHARED)
#  define UPCHECK_API __declspec(dllimport)
#else
#  define UPCHECK_API
#endif
#if defined(__GNUC__) || defined(__clang__)
#  define UPCHECK_CHECKED __attribute__((warn_unused_result))
#else
#  define UPCHECK_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version --------------------------------------------------------------------------------- */

UPCHECK_API uint32_t upcheck_version(void);            /* as UPCHECK_VERSION_NUMBER                  */
UPCHECK_API const char *upcheck_version_string(void);  /* "0.1.0"                                    */

/* ---- status and errors ------------------------------------------------------------------------ */

typedef int32_t upcheck_status;
enum {
  UPCHECK_OK = 0,
  UPCHECK_E_INVALID = -1,   /* an argument is NULL, out of range, of an unknown size, or has unknown flags     */
  UPCHECK_E_IO = -2,        /* the operating system refused what the call cannot do without                   */
  UPCHECK_E_FORMAT = -3,    /* a file cannot be understood                                                    */
  UPCHECK_E_GRAPH = -4,     /* the description makes no sense: a cycle, an output of two targets, ...         */
  UPCHECK_E_CANCELLED = -5, /* upcheck_cancel_set was called                                                  */
  UPCHECK_E_LIMIT = -6,     /* more than 2^32 - 2 files, targets or inputs                                    */
  UPCHECK_E_INTERNAL = -7   /* a bug in the library                                                           */
};

typedef struct upcheck_error upcheck_error;
UPCHECK_API upcheck_status upcheck_error_status(const upcheck_error *error);   /* UPCHECK_OK for NULL        */
UPCHECK_API const char *upcheck_error_message(const upcheck_error *error);     /* never NULL; "" for NULL    */
UPCHECK_API int32_t upcheck_error_os_code(const upcheck_error *error);         /* errno, or 0 where none is known */
UPCHECK_API void upcheck_error_free(upcheck_error *error);
UPCHECK_API const char *upcheck_status_name(upcheck_status status);            /* "invalid"; static          */

/* ---- texts ------------------------------------------------------------------------------------ */

/* Some bytes. */
typedef struct upcheck_str {
  const char *ptr;
  size_t len;
} upcheck_str;

/* Many texts in one piece of memory: text k is bytes[ends[k-1] .. ends[k]], with ends[-1] read as 0. */
typedef struct upcheck_texts {
  const char *bytes;
  const uint64_t *ends;
} upcheck_texts;

/* ---- one question, no handles ----------------------------------------------------------------- */

/* Make's rule: is an output missing, or older than an input? Paths are relative to the working directory. *stale: 0 or 1;
 * *reason: UPCHECK_FRESH or the first reason; either may be NULL. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_is_stale(const upcheck_str *outputs, size_t n_outputs, const upcheck_str *inputs, size_t n_inputs,
                 int32_t *stale, int32_t *reason, upcheck_error **error);

/* ---- graphs: filled, then checked as often as wanted ------------------------------------------- */

typedef struct upcheck_graph upcheck_graph;
typedef uint32_t upcheck_file;    /* a path of a graph: counted from 0 in the order of adding   */
typedef uint32_t upcheck_target;  /* a target of a graph: counted from 0 in the order of adding */
#define UPCHECK_NONE UINT32_MAX

/* A graph without targets. Relative paths start from `directory`; from the working directory if it is empty. Meant is
 * whatever has its name, absolute and without links, when a call looks at files. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_new(const char *directory, size_t len, upcheck_graph **graph, upcheck_error **error);
UPCHECK_API void upcheck_graph_free(upcheck_graph *graph);

/* Adds many paths. There are three ways.
 *   0                Paths are brought into canonical form, and the same path is the same file. `files` receives the file
 *                    of each. Costs a hash of each path.
 *   UPCHECK_DISTINCT The caller says that all paths are canonical (no `.`, `..`, `//`, not absolute below the graph's
 *                    directory) and that none is in the graph yet, so that path k is file *first + k. Costs one copy of the
 *                    bytes. It is proved when it first matters: a check then ends with UPCHECK_E_INVALID and names a path that
 *                    is not so.
 *   UPCHECK_BORROW   UPCHECK_DISTINCT, and `bytes` and `ends` stay the caller's, must not change, and must outlive the
 *                    graph: no copy. Only for the first paths of a graph. A later path may cost the copy all the same.
 * *first receives the file of the first path; `files`, an array of n, the file of each. Either may be NULL.
 * Where a path is refused, the ones before it stay added. */
#define UPCHECK_DISTINCT 1u
#define UPCHECK_BORROW 3u
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_add_paths(upcheck_graph *graph, const char *bytes, const uint64_t *ends, size_t n, uint32_t flags,
                        upcheck_file *first, upcheck_file *files, upcheck_error **error);
/* Adds one path, in the first way. From C it costs as much for each path as the call for many. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_add_path(upcheck_graph *graph, const char *path, size_t len, upcheck_file *file,
                       upcheck_error **error);

/* When an input or an output counts as changed; see docs/SEMANTICS.md. */
enum {
  UPCHECK_POLICY_DEFAULT = 0, /* the graph's; else mtime-and-digest-input with records, newer without */
  UPCHECK_POLICY_MTIME = 1,
  UPCHECK_POLICY_DIGEST = 2,
  UPCHECK_POLICY_MTIME_AND_DIGEST = 3,
  UPCHECK_POLICY_MTIME_AND_DIGEST_INPUT = 4,
  UPCHECK_POLICY_MTIME_OR_DIGEST = 5,
  UPCHECK_POLICY_NEWER = 6
};

#define UPCHECK_PHONY 1u /* a mere name for its inputs: no command, values, depfile, globs or policy; nothing to run */

/* One target. All but its outputs, or its name, may be 0. */
typedef struct upcheck_description {
  size_t struct_size;
  const upcheck_file *outputs;     /* what its command writes; the first one names it                         */
  size_t n_outputs;
  const upcheck_file *inputs;      /* named on the command line                                               */
  size_t n_inputs;
  const upcheck_file *implicit;    /* the same, but not on the command line: headers, scripts, tools          */
  size_t n_implicit;
  const upcheck_file *order_only;  /* have to be there first; their changes do not count                      */
  size_t n_order_only;
  const upcheck_file *validations; /* to be brought up to date along with it, without being its inputs        */
  size_t n_validations;
  upcheck_str command;             /* compared with the one on record; empty: commands are not compared       */
  const upcheck_str *values;       /* n_values pairs of a name and a value that it depends on beside files    */
  size_t n_values;                 /* no name has a NUL in it                                                  */
  const upcheck_str *globs;        /* patterns whose matches are inputs; UTF-8                                */
  size_t n_globs;
  upcheck_str depfile;             /* where its command says, in make's format, what it has read              */
  upcheck_str directory;           /* where its command runs: what names in the depfile are relative to       */
  upcheck_str name;                /* what to call a target without outputs                                   */
  uint32_t flags;                  /* UPCHECK_PHONY                                                           */
  int32_t policy;                  /* UPCHECK_POLICY_...                                                      */
} upcheck_description;
/* Adds a target. *target, which may be NULL, receives it. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_add_target(upcheck_graph *graph, const upcheck_description *description, upcheck_target *target,
                         upcheck_error **error);

/* A list of files for each of many targets: that of target k is files[ends[k-1] .. ends[k]], with ends[-1] read as 0.
 * ends == NULL: all lists are empty. */
typedef struct upcheck_lists {
  const upcheck_file *files;
  const uint64_t *ends;
} upcheck_lists;

/* Many targets. `texts` whose ends are NULL are all empty. */
typedef struct upcheck_targets {
  size_t struct_size;
  size_t n_targets;
  upcheck_lists outputs;
  upcheck_lists inputs;
  upcheck_lists implicit;
  upcheck_lists order_only;
  upcheck_lists validations;
  upcheck_texts commands;
  upcheck_texts depfiles;
  upcheck_texts directories;
  upcheck_texts names;
  const uint32_t *flags;   /* one for each target; NULL: all 0 */
  const int32_t *policies; /* one for each target; NULL: all 0 */
} upcheck_targets;
/* *first, which may be NULL, receives the first target. Where a target is refused, the ones before it stay added. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_add_targets(upcheck_graph *graph, const upcheck_targets *targets, upcheck_target *first,
                          upcheck_error **error);

/* The policy of all targets that have none of their own. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_set_policy(upcheck_graph *graph, int32_t policy, upcheck_error **error);
/* Names and values, 2 * n_values texts, that every target depends on unless it has its own value of that name. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_set_values(upcheck_graph *graph, const upcheck_str *values, size_t n_values, upcheck_error **error);

/* Reads a ninja build directory, the graph's, into a graph that is still empty. Such a graph is not added to, and has no
 * records: ninja keeps its own. The first check is about the manifest and the logs as they were when they were
 * loaded, and each later one reads again what changed; files and targets are numbered anew then, unless the check fails.
 * Requests of such a check are numbers from before it. */
typedef struct upcheck_ninja_options {
  size_t struct_size;
  upcheck_str manifest;      /* empty: build.ninja                                                            */
  uint32_t version;          /* whose rules hold: 0 those of the ninja whose log is found, else 11, 12 or 13  */
  uint32_t threads;          /* 0: as many as help                                                            */
  upcheck_str image_folder;  /* a folder of the user's own in which what was read is kept, and written to by checks;
                                empty: nothing is kept */
} upcheck_ninja_options;
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_load_ninja(upcheck_graph *graph, const upcheck_ninja_options *options /* or NULL */,
                         upcheck_error **error);
/* Adds the targets of a JSON graph (docs/FORMATS.md): from a file, or from memory, where `name` is what errors call it.
 * Where the text is refused, targets before the place in question stay added. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_load_json(upcheck_graph *graph, const char *file, size_t len, upcheck_error **error);
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_load_json_text(upcheck_graph *graph, const char *text, size_t len, const char *name, size_t name_len,
                             upcheck_error **error);
/* Adds the targets of a compile_commands.json. */
#define UPCHECK_HEADERS_UNKNOWN_IS_FINE 1u /* commands that leave no depfile are judged without their headers */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_load_compile_commands(upcheck_graph *graph, const char *file, size_t len, uint32_t flags,
                                    upcheck_error **error);

/* What is in a graph. Numbers out of range, and NULL graphs, give empty texts, 0 and UPCHECK_NONE. */
UPCHECK_API size_t upcheck_graph_n_files(const upcheck_graph *graph);
UPCHECK_API size_t upcheck_graph_n_targets(const upcheck_graph *graph);
UPCHECK_API upcheck_str upcheck_graph_path(const upcheck_graph *graph, upcheck_file file);
UPCHECK_API upcheck_str upcheck_graph_name(const upcheck_graph *graph, upcheck_target target);
/* The file of a path, whatever way it is written; UPCHECK_NONE if no target names it. The first lookup after paths were
 * added as UPCHECK_DISTINCT costs a hash of each. */
UPCHECK_API upcheck_file upcheck_graph_find(upcheck_graph *graph, const char *path, size_t len);
/* The target that makes a file; UPCHECK_NONE for a source. */
UPCHECK_API upcheck_target upcheck_graph_producer(const upcheck_graph *graph, upcheck_file file);
UPCHECK_API const upcheck_file *upcheck_graph_outputs(const upcheck_graph *graph, upcheck_target target, size_t *n);
/* Explicit, implicit and order-only inputs, in this order. */
UPCHECK_API const upcheck_file *upcheck_graph_inputs(const upcheck_graph *graph, upcheck_target target, size_t *n);
/* The command of a target. Writes at most `capacity` bytes, the last of them a NUL, into `buffer`, and returns the length
 * that the whole has without its NUL. Of a ninja graph that was loaded from an image: empty. */
UPCHECK_API size_t upcheck_graph_command(const upcheck_graph *graph, upcheck_target target, char *buffer,
                                         size_t capacity);

/* ---- records ----------------------------------------------------------------------------------- */

typedef struct upcheck_records upcheck_records;
/* The store in a folder, mostly `.upcheck`, which is made if it is not there. Several processes may use one. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_open(const char *folder, size_t len, upcheck_records **records, upcheck_error **error);
/* The same, but nothing is written: *records receives NULL where there is no store, which is what upcheck_check takes for
 * "no records". */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_read(const char *folder, size_t len, upcheck_records **records, upcheck_error **error);
UPCHECK_API void upcheck_records_free(upcheck_records *records);
/* Reads what other processes have written since. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_refresh(upcheck_records *records, upcheck_error **error);
/* Forgets targets by name: they are as never built. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_forget(upcheck_records *records, const upcheck_str *names, size_t n, upcheck_error **error);
/* Writes the store anew without what is outdated in it. It happens by itself when much is. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_compact(upcheck_records *records, upcheck_error **error);

/* A target that no other driver builds meanwhile, in this process or another, if all of them ask for its lock. Check again
 * once you have it: somebody else may have built the target. Its end is upcheck_lock_free, or that of the process. */
typedef struct upcheck_lock upcheck_lock;
#define UPCHECK_WAIT 1u /* until it is free; otherwise *lock receives NULL if somebody else has it */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_records_lock(const upcheck_records *records, const char *name, size_t len, uint32_t flags, upcheck_lock **lock,
                     upcheck_error **error);
UPCHECK_API void upcheck_lock_free(upcheck_lock *lock);

/* ---- check ------------------------------------------------------------------------------------- */

/* A way to stop a check from another thread, or from a signal handler. Any thread may use it at any time, also while
 * another one is inside a check with it. Once set it stays set. */
typedef struct upcheck_cancel upcheck_cancel;
UPCHECK_API upcheck_cancel *upcheck_cancel_new(void);
UPCHECK_API void upcheck_cancel_set(const upcheck_cancel *cancel);
UPCHECK_API void upcheck_cancel_free(upcheck_cancel *cancel);

#define UPCHECK_BY_TIMES 1u /* judge all targets by make's rule, whatever their policy */

typedef struct upcheck_check_options {
  size_t struct_size;
  uint32_t flags;               /* UPCHECK_BY_TIMES                                                           */
  uint32_t threads;             /* the most to use; 0: as many as help. Ninja's graphs: see upcheck_ninja_options */
  const upcheck_file *requests; /* the files asked about, with all that they need; NULL: all targets, or what the graph
                                   names as its defaults */
  size_t n_requests;
  const upcheck_cancel *cancel; /* or NULL                                                                    */
} upcheck_check_options;

typedef struct upcheck_report upcheck_report;
/* Which targets are stale, and why? `records` may be NULL. The graph may gain files: what depfiles, records and patterns
 * name. Where the check fails it may have gained them, too. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_check(upcheck_graph *graph, const upcheck_records *records, const upcheck_check_options *options /* or NULL */,
              upcheck_report **report, upcheck_error **error);
UPCHECK_API void upcheck_report_free(upcheck_report *report);

/* The answer in numbers. */
typedef struct upcheck_summary {
  size_t struct_size;
  uint64_t n_targets;     /* that were judged and have a command                                              */
  uint64_t n_stale;
  uint64_t n_pending;
  uint64_t n_root_causes;
  uint64_t n_files;       /* that were looked at                                                              */
  uint64_t n_directories; /* that they lie in                                                                 */
  uint64_t n_contents;    /* files whose content was read, because their times did not tell                   */
  int64_t began;          /* of looking at files: nanoseconds since 1970-01-01 00:00 UTC                      */
  int64_t ended;
} upcheck_summary;
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_report_summary(const upcheck_report *report, upcheck_summary *summary, upcheck_error **error);
/* Whether nothing is to be done: 1 or 0. */
UPCHECK_API int32_t upcheck_report_is_fresh(const upcheck_report *report);

/* Results are arrays inside the report: no call per item. All of them are there when upcheck_check returns. */

enum { /* verdicts; 0 only where all is well */
  UPCHECK_VERDICT_FRESH = 0,
  UPCHECK_VERDICT_STALE = 1,
  UPCHECK_VERDICT_PENDING = 2,   /* only running something before it can tell */
  UPCHECK_VERDICT_UNASKED = 3    /* nothing that was asked about needs it     */
};
/* One byte for each target of the graph, by number. */
UPCHECK_API const uint8_t *upcheck_report_verdicts(const upcheck_report *report, size_t *n);
/* A stale or pending target. It has something to run, unless it is a phony one with an obstacle of its own, for instance an
 * input that is not there. */
typedef struct upcheck_stale {
  upcheck_target target;
  int32_t verdict;         /* UPCHECK_VERDICT_STALE or UPCHECK_VERDICT_PENDING                                 */
  uint64_t first_finding;  /* position of its first reason in upcheck_report_findings                          */
  uint32_t n_findings;     /* at least 1                                                                       */
  uint32_t waits;          /* 1: something that it is made from is itself stale, and has to be made first; 0: it can be
                              built now, along with all others that need not wait                               */
} upcheck_stale;
/* All of them, those before others that the others are made from. Step by *stride bytes. */
UPCHECK_API const upcheck_stale *upcheck_report_stale(const upcheck_report *report, size_t *n, size_t *stride);

enum { /* reasons: 0 is none */
  UPCHECK_FRESH = 0,
  UPCHECK_OUTPUT_MISSING = 1,   /* file: the output                                                                */
  UPCHECK_INPUT_MISSING = 2,    /* file: the input, which nothing makes                                            */
  UPCHECK_INPUT_NEWER = 3,      /* file: the input, against: the output; seen, expected: their times               */
  UPCHECK_INPUT_CHANGED = 4,    /* file: the input; seen, expected: its time now and on record                     */
  UPCHECK_INPUTS_DIFFER = 5,    /* file: the first output; seen, expected: how many came and went                  */
  UPCHECK_COMMAND_CHANGED = 6,  /* file: the output; seen, expected: the hashes                                    */
  UPCHECK_NEVER_BUILT = 7,      /* file: the output                                                                */
  UPCHECK_DEPS_UNKNOWN = 8,     /* file: the output, or the dyndep file; upstream: what makes that, if it is stale */
  UPCHECK_DEPS_OUTDATED = 9,    /* file: the output; seen, expected: its time, and the one on record               */
  UPCHECK_OUTPUT_CHANGED = 10,  /* file: the output; seen, expected: its time now and on record                    */
  UPCHECK_UPSTREAM_STALE = 11,  /* file: the input, against: UPCHECK_NONE; upstream: the target that makes it      */
  UPCHECK_PHONY_MISSING = 12,   /* file: the phony name without a file                                             */
  UPCHECK_INTERRUPTED = 13,     /* file: the first output; seen: when the build began                              */
  UPCHECK_MANIFEST_STALE = 14,  /* file: the manifest                                                              */
  UPCHECK_RACY = 15,            /* file: the one whose time is too young to prove anything                         */
  UPCHECK_UNREADABLE = 16,      /* file: the one; seen: the operating system's error number                        */
  UPCHECK_VALUE_CHANGED = 17,   /* file: the first output                                                          */
  UPCHECK_OTHER_REASON = 18     /* one that is newer than this header                                              */
};
UPCHECK_API const char *upcheck_reason_name(int32_t reason); /* "input-newer"; static; "" for what is none */

/* One reason of one target, with its evidence. Times are nanoseconds since 1970; what is not named above is 0, or
 * UPCHECK_NONE. A time that is not known, because there is no file, is INT64_MIN. */
typedef struct upcheck_finding {
  upcheck_target target;
  int32_t reason;
  upcheck_file file;       /* the cause, as far as this one step tells  */
  upcheck_file against;    /* what it was compared with                 */
  int64_t seen;
  int64_t expected;
  upcheck_target upstream; /* the stale target that the reason passes on */
  uint32_t reserved;
} upcheck_finding;
/* All reasons of all stale targets, in the order of upcheck_report_stale. Step by *stride bytes. */
UPCHECK_API const upcheck_finding *upcheck_report_findings(const upcheck_report *report, size_t *n, size_t *stride);

/* A file at the root of staleness. */
typedef struct upcheck_cause {
  upcheck_file file;
  int32_t reason;
  uint64_t n_targets; /* that are stale or pending because of it, directly or through others */
} upcheck_cause;
/* The root causes, the biggest first; no more than 4096. Step by *stride bytes. */
UPCHECK_API const upcheck_cause *upcheck_report_causes(const upcheck_report *report, size_t *n, size_t *stride);

/* The finding, or the root cause, at a position in a sentence for people, in English and UTC. Writes at most `capacity`
 * bytes, the last of them a NUL, and returns the length that the whole has without its NUL; 0 where there is none.
 * The graph is the one that was checked, not changed since. */
UPCHECK_API size_t upcheck_report_explain(const upcheck_report *report, const upcheck_graph *graph, size_t finding,
                                          char *buffer, size_t capacity);
UPCHECK_API size_t upcheck_report_explain_cause(const upcheck_report *report, const upcheck_graph *graph, size_t cause,
                                                char *buffer, size_t capacity);

/* What would go stale if these files changed, appeared or disappeared? The targets with a command, the nearest first. Paths
 * are relative to the graph's directory, or absolute. `records` may be NULL. The graph may gain files, and one of ninja's
 * new numbers, as by a check. */
typedef struct upcheck_affected upcheck_affected;
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_affected_by(upcheck_graph *graph, const upcheck_records *records, const upcheck_str *files, size_t n_files,
                    upcheck_affected **affected, upcheck_error **error);
UPCHECK_API const upcheck_target *upcheck_affected_targets(const upcheck_affected *affected, size_t *n);
/* The positions, among the files that were asked about, of those that nothing depends on. */
UPCHECK_API const size_t *upcheck_affected_unknown(const upcheck_affected *affected, size_t *n);
UPCHECK_API void upcheck_affected_free(upcheck_affected *affected);

/* ---- who knows what changed --------------------------------------------------------------------- */

/* A driver that knows what changed, from a watcher of its own, tells a graph before it checks it: then files that it does
 * not name are answered from memory, as earlier checks of this graph saw them. What it promises by that, and what is looked
 * after all the same, stands in docs/WATCH.md. In short: every file that the graph names, or a depfile, is told of if it
 * was written to, by whomever, between the moment that `since` stands for and the one that `now` stands for.
 *
 * What is told is good for the next check of the graph; several calls before it add up. The disk is asked for everything by a
 * check before which nothing was told; where `since` is not the last `now`; and on systems that are no Unix.
 * A driver is found out when a file is not as it should be by what it told: that check, and all later ones, ask
 * the disk for everything, until it tells of UPCHECK_EVERYTHING. Only checks go by what was told; other calls ask the disk. */
#define UPCHECK_EVERYTHING 1u /* anything may have changed: begin anew. `since` and paths are not looked at */

typedef struct upcheck_changes {
  size_t struct_size;
  upcheck_str since;        /* the `now` of the call before; empty: there was none                            */
  upcheck_str now;          /* bytes of the driver's, which the next call goes on from                        */
  const upcheck_str *paths; /* what may have changed: absolute, or relative to the graph's directory; a directory stands for
                               all beneath it */
  size_t n_paths;
  uint32_t flags;           /* UPCHECK_EVERYTHING                                                             */
  uint32_t spot_checks;     /* how many remembered files a check looks at to find the driver out; 0: 16      */
  uint64_t young;           /* files that changed so many nanoseconds before a check, or fewer, are not remembered: they may
                               still be written to; 0: 10 s */
} upcheck_changes;
/* Costs time for what is named, not for what is in the graph, and asks nothing of the disk. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_tell(upcheck_graph *graph, const upcheck_changes *changes, upcheck_error **error);

enum { /* what a check was answered from; all but UPCHECK_FROM_TOLD: the disk was asked for everything */
  UPCHECK_FROM_NOTHING = 0,    /* nothing was told yet                                               */
  UPCHECK_FROM_TOLD = 1,       /* memory, but for what was told and what is asked for each time      */
  UPCHECK_FROM_FIRST = 2,      /* these were the first things told                                   */
  UPCHECK_FROM_EVERYTHING = 3, /* the driver said that everything may have changed                   */
  UPCHECK_FROM_GAP = 4,        /* `since` was not the last `now`                                     */
  UPCHECK_FROM_SILENCE = 5,    /* nothing was told since the check before                            */
  UPCHECK_FROM_WRONG = 6,      /* the driver was found out, now or before                            */
  UPCHECK_FROM_MOVED = 7,      /* another directory, or a link, is in the place of the graph's       */
  UPCHECK_FROM_UNSUPPORTED = 8 /* nothing can be remembered on this system                           */
};
/* What became of what was told, counted over all checks of the graph. */
typedef struct upcheck_told {
  size_t struct_size;
  uint64_t n_asked;       /* files that the disk was asked for                                                */
  uint64_t n_remembered;  /* files that were answered from memory                                             */
  uint64_t n_spot_checks; /* remembered files that were looked at all the same, to find the driver out        */
  uint64_t n_directories; /* directories that were                                                            */
  uint64_t n_wrong;       /* how often it was found out                                                       */
  int32_t basis;          /* of the last check: UPCHECK_FROM_...                                              */
  int32_t believed;       /* 0: only UPCHECK_EVERYTHING makes it be believed again; else 1                    */
} upcheck_told;
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_graph_told(const upcheck_graph *graph, upcheck_told *told, upcheck_error **error);
/* The file by which the driver was found out last; empty if it never was. */
UPCHECK_API upcheck_str upcheck_graph_wrong(const upcheck_graph *graph);

/* A question to the daemon (upcheck watch), which remembers builds and watches their files: is a ninja build fresh? */
typedef struct upcheck_question {
  size_t struct_size;
  upcheck_str directory;      /* the build directory; empty: the working directory                            */
  upcheck_str manifest;       /* empty: build.ninja                                                           */
  const upcheck_str *targets; /* what is asked about, by name; NULL: what the manifest names as its defaults  */
  size_t n_targets;
  uint32_t version;           /* as in upcheck_ninja_options                                                  */
  uint32_t flags;             /* 0                                                                            */
} upcheck_question;
typedef struct upcheck_answer upcheck_answer;
/* Asks it, and starts none. It answers a user's own processes, of this very version, that see the same files as it does; what it
 * does not answer is no error: the driver checks by itself. Waits for as long as the daemon is at work, and 250 ms for one
 * that shows no sign of life. Reads XDG_RUNTIME_DIR, XDG_CACHE_HOME, HOME, UPCHECK_CACHE_DIR, TZ and TZDIR, on Windows
 * LOCALAPPDATA, APPDATA and USERPROFILE as well: by these the daemon is found, and they have to be the same for both. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_ask_daemon(const upcheck_question *question, upcheck_answer **answer, upcheck_error **error);
enum { /* answers; 0 is none */
  UPCHECK_ANSWER_NONE = 0,
  UPCHECK_ANSWER_FRESH = 1, /* nothing is to be done                                                           */
  UPCHECK_ANSWER_STALE = 2  /* something is stale or pending: upcheck_check tells what                         */
};
UPCHECK_API int32_t upcheck_answer_verdict(const upcheck_answer *answer);      /* UPCHECK_ANSWER_NONE for NULL   */
/* Why there is no answer, for people; never NULL, "" where there is one. */
UPCHECK_API const char *upcheck_answer_why(const upcheck_answer *answer);
UPCHECK_API void upcheck_answer_free(upcheck_answer *answer);

/* ---- building: what is put on record ------------------------------------------------------------ */

typedef struct upcheck_build upcheck_build;
/* Says that targets are about to be built: before their commands read anything, and after what they need was made. Their
 * inputs are looked at; until upcheck_commit they are on record as interrupted. A build that is freed without a commit
 * stays interrupted. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_begin(upcheck_graph *graph, upcheck_records *records, const upcheck_target *targets, size_t n,
              upcheck_build **build, upcheck_error **error);
/* Says that they were built. Their outputs and depfiles are looked at and put on record. On an error nothing is recorded,
 * and the build can be committed again. */
#define UPCHECK_MADE_IN_ORDER 1u /* one command made them all, each after those that it is made from */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_commit(upcheck_graph *graph, upcheck_records *records, upcheck_build *build, uint32_t flags,
               upcheck_error **error);
/* After a commit: files that leave it open what the targets were made from, so that these are stale again, for instance
 * inputs that somebody changed meanwhile. Step by *stride bytes. */
typedef struct upcheck_doubt {
  upcheck_target target;
  upcheck_file file;
} upcheck_doubt;
UPCHECK_API const upcheck_doubt *upcheck_build_doubts(const upcheck_build *build, size_t *n, size_t *stride);
UPCHECK_API void upcheck_build_free(upcheck_build *build);

/* ---- snapshots: for those who judge for themselves ---------------------------------------------- */

enum { /* what is known of a file */
  UPCHECK_STAT_UNKNOWN = 0,
  UPCHECK_STAT_MISSING = 1,
  UPCHECK_STAT_PRESENT = 2,
  UPCHECK_STAT_UNREADABLE = 3
};
typedef struct upcheck_stat {
  int32_t state;
  int32_t os_code;  /* of UPCHECK_STAT_UNREADABLE                                                     */
  int64_t mtime;    /* nanoseconds since 1970                                                         */
  int64_t ctime;    /* the same; 0 where the platform has none                                        */
  uint64_t size;    /* bytes                                                                          */
  uint64_t inode;   /* 0 where the platform has none                                                  */
  uint64_t device;  /* 0 where the platform has none                                                  */
} upcheck_stat;

typedef struct upcheck_snapshot upcheck_snapshot;
/* Looks at many files at once, directory by directory. Links are followed. Paths are taken as they are, relative to
 * `directory`; no thread outlives the call. threads: the most to use; 0: as many as help. */
UPCHECK_API UPCHECK_CHECKED upcheck_status
upcheck_collect(const char *directory, size_t len, const char *bytes, const uint64_t *ends, size_t n,
                uint32_t threads, upcheck_snapshot **snapshot, upcheck_error **error);
/* One for each path that was asked for, by position. Step by *stride bytes. */
UPCHECK_API const upcheck_stat *upcheck_snapshot_stats(const upcheck_snapshot *snapshot, size_t *n, size_t *stride);
/* By path, written as it was asked for; NULL for one that was not. Costs a hash. */
UPCHECK_API const upcheck_stat *upcheck_snapshot_find(const upcheck_snapshot *snapshot, const char *path, size_t len);
UPCHECK_API void upcheck_snapshot_free(upcheck_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif

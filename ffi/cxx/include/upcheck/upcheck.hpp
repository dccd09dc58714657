// upcheck.hpp - the C++ interface of upcheck: which targets of a build are stale, and why?
//
//   upcheck::Graph      targets with their inputs and outputs: described by the caller, or read from a ninja build
//                       directory, a JSON graph or a compile_commands.json
//   upcheck::check      looks at all files, directory by directory, and judges all targets in one pass
//   upcheck::Report     the verdicts and the reasons, as ranges
//   upcheck::Records    what each target's last success looked like
//   upcheck::Build      a build that is put on record: made before a command runs, committed after
//   upcheck::affected   what would go stale if these files changed?
//   upcheck::collect    the status of many files, for those who judge for themselves
//   Graph::tell         what a driver knows to have changed: all else is answered from memory
//   upcheck::ask_daemon what the daemon says, where one runs (upcheck watch)
//
//   upcheck::Graph graph("my/project");
//   upcheck::Description app;
//   app.outputs = graph.files({"app"});
//   app.inputs = graph.files({"main.c", "util.c"});
//   graph.add(app);
//   upcheck::Report report = upcheck::check(graph);
//   for (const upcheck::Finding &finding : report.findings()) std::cout << report.explain(graph, finding) << '\n';
//
// It is C++17, and a program links against libupcheck_cxx.a alone, which has the functions of upcheck.h as well: native()
// gives a class's handle to them. The two interfaces give the same answers. What follows holds everywhere.
//
// Ownership   Objects own what they hold: they are moved, not copied, and free it when they go. What callers hand in
//             is copied before the call returns, but for Graph::borrow_distinct. Spans and views that are read out of
//             an object live until it goes or is next used through a function that is not const, or as one that is not;
//             moving it keeps them. Results that have no name give none out, so that no loop runs over what is gone:
//             write `const auto report = check(graph);` first. An object that was moved from can be destroyed and
//             assigned to; all else throws.
// Text        Paths and other text are bytes, never assumed to be UTF-8. They come in as whatever Bytes can be made from:
//             literals, std::string, std::string_view, std::filesystem::path. A path must not be empty nor have a NUL
//             in it.
// Errors      A call that fails throws upcheck::Error, which has a status and, where the operating system refused
//             something, its error number. What the call would have changed is as it was, but where upcheck.h says
//             otherwise. Where memory runs out, that is std::bad_alloc or, inside the library, the end of the process.
// Threads     One thread at a time may use an object, unless all that use it do so through const functions. No object
//             belongs to a thread. Cancel::set may be called at any time.
// Panics      A bug inside the library is thrown as Status::internal; the objects that were not const can then only be
//             destroyed. The message goes to standard error, too. Apart from that the library prints nothing, never
//             exits, reads no environment variable, but in ask_daemon, and installs no handler.
// Growth      This header, bridge.rs.h and the archive are of one version and are installed together; symbols carry the
//             bridge's number, so that what does not fit does not link. There is no shared library of it.
#ifndef UPCHECK_HPP
#define UPCHECK_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif

#include "upcheck/bridge.rs.h"
#include "upcheck/types.hpp"

namespace upcheck {

// ---- errors ------------------------------------------------------------------------------------------------------

class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string &message, int os_code = 0)
      : std::runtime_error(message), status_(status), os_code_(os_code) {}
  Status status() const noexcept { return status_; }
  // errno, or 0 where none is known.
  int os_code() const noexcept { return os_code_; }

 private:
  Status status_;
  int os_code_;
};

// ---- ranges and texts --------------------------------------------------------------------------------------------

// An array of somebody else: C++20's std::span of constants, as far as it is needed. Lives no longer than the array.
template <typename T>
class Span {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = const T &;
  using const_reference = const T &;
  using pointer = const T *;
  using iterator = const T *;
  using const_iterator = const T *;
  using reverse_iterator = std::reverse_iterator<iterator>;

  constexpr Span() noexcept = default;
  constexpr Span(const T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  // Whatever has its values in one piece of memory: vectors, arrays, std::span.
  template <typename Range, typename = std::enable_if_t<
                                std::is_convertible_v<decltype(std::data(std::declval<const Range &>())), const T *> &&
                                !std::is_same_v<Range, Span>>>
  constexpr Span(const Range &range) : data_(std::data(range)), size_(std::size(range)) {}

  constexpr iterator begin() const noexcept { return data_; }
  constexpr iterator end() const noexcept { return data_ + size_; }
  constexpr reverse_iterator rbegin() const noexcept { return reverse_iterator(end()); }
  constexpr reverse_iterator rend() const noexcept { return reverse_iterator(begin()); }
  constexpr const T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr const T &operator[](std::size_t at) const noexcept { return data_[at]; }
  constexpr const T &front() const noexcept { return data_[0]; }
  constexpr const T &back() const noexcept { return data_[size_ - 1]; }

 private:
  const T *data_ = nullptr;
  std::size_t size_ = 0;
};

// A path or another text, as a function takes it. Lives no longer than what it was made from.
class Bytes {
 public:
  Bytes(const char *text) noexcept : text_(text ? text : "") {}
  Bytes(const std::string &text) noexcept : text_(text) {}
  Bytes(std::string_view text) noexcept : text_(text) {}
  Bytes(const std::filesystem::path &path) noexcept : text_(path.native()) {}

  constexpr operator std::string_view() const noexcept { return text_; }

 private:
  std::string_view text_;
};

// Many texts in one piece of memory: text k is bytes[ends[k-1] .. ends[k]], with ends[-1] read as 0. Without ends: all
// are empty.
struct Texts {
  std::string_view bytes = {};
  Span<std::uint64_t> ends = {};
};

// Many lists of files in one piece of memory, likewise.
struct Lists {
  Span<File> files = {};
  Span<std::uint64_t> ends = {};
};

// Texts, put into one piece of memory.
class TextTable {
 public:
  TextTable() = default;
  template <typename Range>
  explicit TextTable(const Range &texts) {
    for (const auto &text : texts) add(text);
  }
  void add(Bytes text) {
    bytes_ += std::string_view(text);
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const noexcept { return ends_.size(); }
  operator Texts() const noexcept { return {bytes_, ends_}; }

 private:
  std::string bytes_;
  std::vector<std::uint64_t> ends_;
};

// Lists of files, put into one piece of memory.
class FileTable {
 public:
  void add(Span<File> list) {
    files_.insert(files_.end(), list.begin(), list.end());
    ends_.push_back(files_.size());
  }
  void add(std::initializer_list<File> list) { add(Span<File>(std::data(list), list.size())); }
  std::size_t size() const noexcept { return ends_.size(); }
  operator Lists() const noexcept { return {files_, ends_}; }

 private:
  std::vector<File> files_;
  std::vector<std::uint64_t> ends_;
};

// ---- between the classes and the bridge ----------------------------------------------------------------------------

namespace detail {

// What the functions at the end may see of the classes.
struct Access;

[[noreturn]] inline void raise_moved() {
  throw Error(Status::invalid, "an object is used that was moved from");
}

// A handle of the library; none in an object that was moved from.
template <typename T>
class Handle {
 public:
  explicit Handle(rust::Box<T> box) noexcept : handle_(box.into_raw()) {}
  T &operator*() const {
    if (!handle_) raise_moved();
    return *handle_;
  }
  T *operator->() const { return &**this; }
  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }

 private:
  struct Free {
    void operator()(T *handle) const noexcept { const auto box = rust::Box<T>::from_raw(handle); }
  };
  std::unique_ptr<T, Free> handle_;
};

// Makes a call that can fail, and an exception of its failure.
template <typename Call>
auto attempt(Call call) {
  bridge::Failure failure;
  const auto raise = [&failure] {
    if (failure.status == 0) return;
    throw Error(static_cast<Status>(failure.status), std::string(failure.message), failure.os_code);
  };
  if constexpr (std::is_void_v<decltype(call(failure))>) {
    call(failure);
    raise();
  } else {
    auto result = call(failure);
    raise();
    return result;
  }
}

// The same for the functions of upcheck.h.
template <typename Call>
void attempt_native(Call call) {
  upcheck_error *error = nullptr;
  const upcheck_status status = call(&error);
  const std::unique_ptr<upcheck_error, void (*)(upcheck_error *)> owner(error, upcheck_error_free);
  if (status == UPCHECK_OK) return;
  throw Error(static_cast<Status>(status), upcheck_error_message(error), upcheck_error_os_code(error));
}

inline upcheck_str str(std::string_view text) noexcept { return {text.data(), text.size()}; }
inline std::vector<upcheck_str> strs(const std::vector<std::string> &texts) {
  std::vector<upcheck_str> all;
  for (const std::string &text : texts) all.push_back(str(text));
  return all;
}

inline rust::Slice<const std::uint8_t> slice(std::string_view text) noexcept {
  return {reinterpret_cast<const std::uint8_t *>(text.data()), text.size()};
}
template <typename T>
rust::Slice<const T> slice(Span<T> span) noexcept {
  return {span.data(), span.size()};
}
inline bridge::Texts texts(const Texts &texts) noexcept { return {slice(texts.bytes), slice(texts.ends)}; }
inline bridge::Lists lists(const Lists &lists) noexcept { return {slice(lists.files), slice(lists.ends)}; }

template <typename T>
Span<T> span(rust::Slice<const T> slice) noexcept {
  return {slice.data(), slice.size()};
}
inline std::string_view view(rust::Slice<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}
inline std::string string(const rust::Vec<std::uint8_t> &bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// Many texts, each where it lies.
template <typename Range>
std::vector<bridge::Text> each(const Range &range) {
  std::vector<bridge::Text> texts;
  for (const auto &text : range) texts.push_back({slice(std::string_view(Bytes(text)))});
  return texts;
}
template <typename Range>
std::vector<bridge::Text> pairs(const Range &range) {
  std::vector<bridge::Text> texts;
  for (const auto &[name, value] : range) {
    texts.push_back({slice(std::string_view(Bytes(name)))});
    texts.push_back({slice(std::string_view(Bytes(value)))});
  }
  return texts;
}
inline rust::Slice<const bridge::Text> slice(const std::vector<bridge::Text> &texts) noexcept {
  return {texts.data(), texts.size()};
}

}  // namespace detail

// ---- version -----------------------------------------------------------------------------------------------------

// Of the library, as UPCHECK_VERSION_NUMBER; that of the header is UPCHECK_VERSION.
inline std::uint32_t version() noexcept { return upcheck_version(); }
// "0.1.0"
inline const char *version_string() noexcept { return upcheck_version_string(); }

// ---- one question, no objects -------------------------------------------------------------------------------------

// Make's rule: is an output missing, or older than an input? Paths are relative to the working directory. The first
// reason, or Reason::fresh.
template <typename Outputs = std::initializer_list<Bytes>, typename Inputs = std::initializer_list<Bytes>>
Reason first_reason(const Outputs &outputs, const Inputs &inputs) {
  const auto out = detail::each(outputs), in = detail::each(inputs);
  return static_cast<Reason>(detail::attempt(
      [&](auto &failure) { return bridge::first_reason(detail::slice(out), detail::slice(in), failure); }));
}
template <typename Outputs = std::initializer_list<Bytes>, typename Inputs = std::initializer_list<Bytes>>
bool is_stale(const Outputs &outputs, const Inputs &inputs) {
  return first_reason(outputs, inputs) != Reason::fresh;
}

// ---- graphs: filled, then checked as often as wanted ---------------------------------------------------------------

// One target. All but its outputs, or its name, may be left out.
struct Description {
  std::vector<File> outputs = {};      // what its command writes; the first one names it
  std::vector<File> inputs = {};       // named on the command line
  std::vector<File> implicit = {};     // the same, but not on the command line: headers, scripts, tools
  std::vector<File> order_only = {};   // have to be there first; their changes do not count
  std::vector<File> validations = {};  // to be brought up to date along with it, without being its inputs
  std::string command = {};            // compared with the one on record; empty: commands are not compared
  std::vector<std::pair<std::string, std::string>> values = {};  // names and values that it depends on beside files
  std::vector<std::string> globs = {};  // patterns whose matches are inputs; UTF-8
  std::string depfile = {};             // where its command says, in make's format, what it has read
  std::string directory = {};           // where its command runs: what names in the depfile are relative to
  std::string name = {};                // what to call a target without outputs
  bool phony = false;                   // a mere name for its inputs: no command, no record, nothing to run
  Policy policy = Policy::by_default;
};

// Many targets. What is left out is empty for all of them.
struct Targets {
  std::size_t n_targets = 0;
  Lists outputs = {};
  Lists inputs = {};
  Lists implicit = {};
  Lists order_only = {};
  Lists validations = {};
  Texts commands = {};
  Texts depfiles = {};
  Texts directories = {};
  Texts names = {};
  Span<std::uint32_t> flags = {};    // UPCHECK_PHONY; one for each target, or none: all 0
  Span<std::int32_t> policies = {};  // UPCHECK_POLICY_...; one for each target, or none: all 0
};

struct NinjaOptions {
  std::string manifest = {};      // empty: build.ninja
  std::uint32_t version = 0;      // whose rules hold: 0 those of the ninja whose log is found, else 11, 12 or 13
  std::uint32_t threads = 0;      // 0: as many as help
  std::string image_folder = {};  // a folder of the user's own in which what was read is kept, and written to by
                                  // checks; empty: nothing is kept
};

// What a driver knows to have changed.
struct Changes {
  std::string since = {};               // the `now` of the call before; empty: there was none
  std::string now = {};                 // bytes of the driver's, which the next call goes on from
  std::vector<std::string> paths = {};  // what may have changed; a directory stands for all beneath it
  bool everything = false;              // anything may have changed: begin anew
  std::uint32_t spot_checks = 0;        // how many remembered files a check looks at to find the driver out; 0: 16
  std::chrono::nanoseconds young = {};  // files that changed so shortly before a check are not remembered; 0: 10 s
};

// What became of it, counted over all checks of the graph.
struct Told {
  std::uint64_t n_asked = 0;        // files that the disk was asked for
  std::uint64_t n_remembered = 0;   // files that were answered from memory
  std::uint64_t n_spot_checks = 0;  // remembered files that were looked at all the same, to find the driver out
  std::uint64_t n_directories = 0;  // directories that were
  std::uint64_t n_wrong = 0;        // how often it was found out
  Basis basis = Basis::nothing;     // of the last check
  bool believed = true;             // if not, only Changes::everything makes it be believed again
};

class Graph {
 public:
  // A graph without targets. Relative paths start from the directory; from the working directory if it is empty.
  explicit Graph(Bytes directory = "")
      : handle_(detail::attempt(
            [&](auto &failure) { return bridge::graph_new(detail::slice(directory), failure); })) {}

  // -- paths

  // The file of a path: added if it is new. Paths are brought into canonical form.
  File file(Bytes path) {
    return detail::attempt([&](auto &failure) { return handle_->add_path(detail::slice(path), failure); });
  }
  // Those of many paths. Where a path is refused, the ones before it stay added.
  std::vector<File> files(const Texts &paths) {
    std::vector<File> files(paths.ends.size());
    detail::attempt([&](auto &failure) {
      handle_->add_paths(detail::texts(paths), rust::Slice<File>(files.data(), files.size()), failure);
    });
    return files;
  }
  template <typename Range = std::initializer_list<Bytes>,
            typename = std::enable_if_t<!std::is_convertible_v<const Range &, Texts>>>
  std::vector<File> files(const Range &paths) {
    return files(Texts(TextTable(paths)));
  }
  // Adds paths that are all canonical, and none of which is in the graph yet, without hashing them: path k is the
  // result + k. It is proved when it first matters; a check then throws Status::invalid.
  File add_distinct(const Texts &paths) {
    return detail::attempt([&](auto &failure) { return handle_->add_distinct(detail::texts(paths), failure); });
  }
  // The same, and bytes and ends stay the caller's, must not change, and must outlive the graph: no copy.
  File borrow_distinct(const Texts &paths) {
    return detail::attempt([&](auto &failure) { return handle_->borrow_distinct(detail::texts(paths), failure); });
  }

  // -- targets

  Target add(const Description &target) {
    const auto values = detail::pairs(target.values), globs = detail::each(target.globs);
    const auto files = [](const std::vector<File> &list) { return detail::slice(Span<File>(list)); };
    const bridge::Description description{
        files(target.outputs),
        files(target.inputs),
        files(target.implicit),
        files(target.order_only),
        files(target.validations),
        detail::slice(target.command),
        detail::slice(values),
        detail::slice(globs),
        detail::slice(target.depfile),
        detail::slice(target.directory),
        detail::slice(target.name),
        target.phony ? UPCHECK_PHONY : 0,
        static_cast<std::int32_t>(target.policy),
    };
    return detail::attempt([&](auto &failure) { return handle_->add(description, failure); });
  }
  // The first of them. Where a target is refused, the ones before it stay added.
  Target add_targets(const Targets &many) {
    const bridge::Targets targets{
        many.n_targets,
        detail::lists(many.outputs),
        detail::lists(many.inputs),
        detail::lists(many.implicit),
        detail::lists(many.order_only),
        detail::lists(many.validations),
        detail::texts(many.commands),
        detail::texts(many.depfiles),
        detail::texts(many.directories),
        detail::texts(many.names),
        detail::slice(many.flags),
        detail::slice(many.policies),
    };
    return detail::attempt([&](auto &failure) { return handle_->add_targets(targets, failure); });
  }
  // Of all targets that have no policy of their own.
  void set_policy(Policy policy) {
    detail::attempt(
        [&](auto &failure) { handle_->set_policy(static_cast<std::int32_t>(policy), failure); });
  }
  // Names and values that every target depends on unless it has its own value of that name.
  template <typename Range = std::initializer_list<std::pair<Bytes, Bytes>>>
  void set_values(const Range &values) {
    const auto all = detail::pairs(values);
    detail::attempt([&](auto &failure) { handle_->set_values(detail::slice(all), failure); });
  }

  // -- what a build tool has written

  // Reads a ninja build directory, the graph's, into a graph that is still empty; see upcheck_graph_load_ninja.
  void load_ninja(const NinjaOptions &options = NinjaOptions()) {
    detail::attempt([&](auto &failure) {
      handle_->load_ninja(detail::slice(options.manifest), options.version, options.threads,
                          detail::slice(options.image_folder), failure);
    });
  }
  // Adds the targets of a JSON graph: from a file, or from memory, where `name` is what errors call it.
  void load_json(Bytes file) {
    detail::attempt([&](auto &failure) { handle_->load_json(detail::slice(file), failure); });
  }
  void load_json_text(Bytes text, Bytes name) {
    detail::attempt(
        [&](auto &failure) { handle_->load_json_text(detail::slice(text), detail::slice(name), failure); });
  }
  // Adds the targets of a compile_commands.json. Commands that leave no depfile are stale, or judged without their
  // headers if it is fine that those are unknown.
  void load_compile_commands(Bytes file, bool headers_unknown_is_fine = false) {
    const std::uint32_t flags = headers_unknown_is_fine ? UPCHECK_HEADERS_UNKNOWN_IS_FINE : 0;
    detail::attempt(
        [&](auto &failure) { handle_->load_compile_commands(detail::slice(file), flags, failure); });
  }

  // -- who knows what changed

  // Files that are not named here are answered from memory by the next check. What the driver promises by that stands in
  // upcheck.h.
  void tell(const Changes &changes) {
    const std::vector<upcheck_str> paths = detail::strs(changes.paths);
    upcheck_changes given{};
    given.struct_size = sizeof given;
    given.since = detail::str(changes.since);
    given.now = detail::str(changes.now);
    given.paths = paths.data();
    given.n_paths = paths.size();
    given.flags = changes.everything ? UPCHECK_EVERYTHING : 0;
    given.spot_checks = changes.spot_checks;
    given.young = changes.young.count() > 0 ? static_cast<std::uint64_t>(changes.young.count()) : 0;
    detail::attempt_native([&](upcheck_error **error) { return upcheck_graph_tell(native(), &given, error); });
  }
  Told told() const {
    upcheck_told it{};
    it.struct_size = sizeof it;
    detail::attempt_native([&](upcheck_error **error) { return upcheck_graph_told(native(), &it, error); });
    return {it.n_asked,       it.n_remembered, it.n_spot_checks, it.n_directories,
            it.n_wrong, static_cast<Basis>(it.basis), it.believed != 0};
  }
  // The file by which the driver was found out last; empty if it never was.
  std::string_view wrong() const {
    const upcheck_str path = upcheck_graph_wrong(native());
    return {path.ptr, path.len};
  }

  // -- what is in it: numbers that are none give empty texts and arrays, and none

  std::size_t n_files() const { return handle_->n_files(); }
  std::size_t n_targets() const { return handle_->n_targets(); }
  std::string_view path(File file) const { return detail::view(handle_->path(file)); }
  std::string_view name(Target target) const { return detail::view(handle_->name(target)); }
  // The file of a path, whatever way it is written; empty if no target names it.
  std::optional<File> find(Bytes path) {
    const File file = handle_->find(detail::slice(path));
    return file ? std::optional(file) : std::nullopt;
  }
  // The target that makes a file; empty for a source.
  std::optional<Target> producer(File file) const {
    const Target target = handle_->producer(file);
    return target ? std::optional(target) : std::nullopt;
  }
  Span<File> outputs(Target target) const { return detail::span(handle_->outputs(target)); }
  // Explicit, implicit and order-only inputs, in this order.
  Span<File> inputs(Target target) const { return detail::span(handle_->inputs(target)); }
  // Of a ninja graph that was loaded from an image: empty.
  std::string command(Target target) const { return detail::string(handle_->command(target)); }

  // For the functions of upcheck.h; not to be freed.
  upcheck_graph *native() { return handle_->native(); }
  const upcheck_graph *native() const { return handle_->native(); }

 private:
  friend class Build;
  friend class Report;
  friend struct detail::Access;
  detail::Handle<bridge::Graph> handle_;
};

// ---- records -----------------------------------------------------------------------------------------------------

class Records {
 public:
  // The store in a folder, mostly `.upcheck`, which is made if it is not there. Several processes may use one.
  explicit Records(Bytes folder)
      : handle_(detail::attempt(
            [&](auto &failure) { return bridge::records_open(detail::slice(folder), failure); })) {}
  // The same, but nothing is written: empty where there is no store.
  static std::optional<Records> read(Bytes folder) {
    auto handle =
        detail::attempt([&](auto &failure) { return bridge::records_read(detail::slice(folder), failure); });
    if (!handle->is_there()) return std::nullopt;
    return Records(std::move(handle));
  }

  // Reads what other processes have written since.
  void refresh() {
    detail::attempt([&](auto &failure) { handle_->refresh(failure); });
  }
  // Forgets targets by name: they are as never built.
  template <typename Range = std::initializer_list<Bytes>>
  void forget(const Range &names) {
    const auto all = detail::each(names);
    detail::attempt([&](auto &failure) { handle_->forget(detail::slice(all), failure); });
  }
  // Writes the store anew without what is outdated in it. It happens by itself when much is.
  void compact() {
    detail::attempt([&](auto &failure) { handle_->compact(failure); });
  }

  upcheck_records *native() { return handle_->native(); }
  const upcheck_records *native() const { return handle_->native(); }

 private:
  friend class Build;
  friend class Lock;
  friend struct detail::Access;
  explicit Records(rust::Box<bridge::Records> handle) noexcept : handle_(std::move(handle)) {}
  detail::Handle<bridge::Records> handle_;
};

// ---- check -------------------------------------------------------------------------------------------------------

// A way to stop a check from another thread, or from a signal handler. Once set it stays set.
class Cancel {
 public:
  Cancel() : handle_(bridge::cancel_new()) {}
  // One store and nothing else: a signal handler may do that.
  void set() const noexcept {
    if (handle_) handle_->set();
  }

  const upcheck_cancel *native() const { return handle_->native(); }

 private:
  friend struct detail::Access;
  detail::Handle<bridge::Cancel> handle_;
};

struct CheckOptions {
  bool by_times = false;                               // judge all targets by make's rule, whatever their policy
  std::uint32_t threads = 0;                           // the most to use; 0: as many as help
  std::optional<std::vector<File>> requests = {};      // the files asked about, with all that they need; none: all
                                                       // targets, or what the graph names as its defaults
  const Cancel *cancel = nullptr;
};

// What a check came to. All ranges lie inside the report and are there when check returns: reading them calls nothing.
class Report {
 public:
  Summary summary() const { return parts().summary; }
  // Whether nothing is to be done.
  bool is_fresh() const { return parts().summary.n_stale() + parts().summary.n_pending() == 0; }

  // One for each target of the graph, by number.
  Span<Verdict> verdicts() const & { return parts().verdicts; }
  Span<Verdict> verdicts() const && = delete;
  // Verdict::unasked for what is no target.
  Verdict verdict(Target target) const {
    const Span<Verdict> all = parts().verdicts;
    return target.number < all.size() ? all[target.number] : Verdict::unasked;
  }
  // The stale and pending targets, those before others that the others are made from. All have something to run, but
  // for phony ones with an obstacle of their own, for instance an input that is not there.
  Span<Stale> stale() const & { return parts().stale; }
  Span<Stale> stale() const && = delete;
  // The reasons of one of stale(); at least one.
  Span<Finding> findings_of(const Stale &stale) const & {
    const upcheck_stale &raw = stale.raw();
    const Span<Finding> all = parts().findings;
    if (raw.first_finding > all.size() || raw.n_findings > all.size() - raw.first_finding)
      throw Error(Status::invalid, "the stale target is of another report");
    return {all.data() + raw.first_finding, raw.n_findings};
  }
  Span<Finding> findings_of(const Stale &stale) const && = delete;
  // All reasons of all stale targets, in the order of stale().
  Span<Finding> findings() const & { return parts().findings; }
  Span<Finding> findings() const && = delete;
  // The root causes, the biggest first; no more than 4096.
  Span<Cause> causes() const & { return parts().causes; }
  Span<Cause> causes() const && = delete;

  // One of findings() or causes() in a sentence for people, in English and UTC. The graph is the one that was checked,
  // not changed since: else the sentence is empty.
  std::string explain(const Graph &graph, const Finding &finding) const {
    return detail::string(parts().handle->explain(*graph.handle_, position(findings(), &finding)));
  }
  std::string explain(const Graph &graph, const Cause &cause) const {
    return detail::string(parts().handle->explain_cause(*graph.handle_, position(causes(), &cause)));
  }

  const upcheck_report *native() const { return parts().handle->native(); }

 private:
  friend struct detail::Access;

  // The report, and where its arrays are.
  struct Parts {
    explicit Parts(rust::Box<bridge::Report> report) noexcept
        : handle(std::move(report)),
          summary(handle->summary()),
          verdicts(detail::span(handle->verdicts())),
          stale(detail::span(handle->stale())),
          findings(detail::span(handle->findings())),
          causes(detail::span(handle->causes())) {}
    detail::Handle<bridge::Report> handle;
    Summary summary;
    Span<Verdict> verdicts;
    Span<Stale> stale;
    Span<Finding> findings;
    Span<Cause> causes;
  };

  explicit Report(rust::Box<bridge::Report> handle) : parts_(std::make_unique<const Parts>(std::move(handle))) {}
  const Parts &parts() const {
    if (!parts_) detail::raise_moved();
    return *parts_;
  }

  template <typename T>
  static std::size_t position(Span<T> all, const T *one) {
    const std::less<const T *> less;
    if (less(one, all.begin()) || !less(one, all.end()))
      throw Error(Status::invalid, "what is to be explained is a copy, or of another report");
    return static_cast<std::size_t>(one - all.begin());
  }

  std::unique_ptr<const Parts> parts_;
};

// What would go stale.
class Affected {
 public:
  // The targets with a command, the nearest first.
  Span<Target> targets() const & { return detail::span(handle_->targets()); }
  Span<Target> targets() const && = delete;
  // The positions, among the files that were asked about, of those that nothing depends on.
  Span<std::size_t> unknown() const & { return detail::span(handle_->unknown()); }
  Span<std::size_t> unknown() const && = delete;

 private:
  friend struct detail::Access;
  explicit Affected(rust::Box<bridge::Affected> handle) noexcept : handle_(std::move(handle)) {}
  detail::Handle<bridge::Affected> handle_;
};

// ---- building: what is put on record -------------------------------------------------------------------------------

// A target that no other driver builds meanwhile, in this process or another, if all of them ask for its lock. Check again
// once you have it: somebody else may have built the target. It ends with the object, or with the process.
class Lock {
 public:
  // Waits until it is free.
  Lock(const Records &records, Bytes name) : Lock(take(records, name, UPCHECK_WAIT)) {}
  // Empty, if somebody else has it.
  static std::optional<Lock> attempt(const Records &records, Bytes name) {
    auto handle = take(records, name, 0);
    return handle->is_held() ? std::optional(Lock(std::move(handle))) : std::nullopt;
  }

 private:
  static rust::Box<bridge::Lock> take(const Records &records, Bytes name, std::uint32_t flags) {
    return detail::attempt([&](auto &failure) {
      return bridge::records_lock(*records.handle_, detail::slice(name), flags, failure);
    });
  }
  explicit Lock(rust::Box<bridge::Lock> handle) noexcept : handle_(std::move(handle)) {}
  detail::Handle<bridge::Lock> handle_;
};

// Targets that are being built.
class Build {
 public:
  // Says that targets are about to be built: before their commands read anything, and after what they need was made.
  // Their inputs are looked at; until commit they are on record as interrupted, and remain so without it.
  Build(Graph &graph, Records &records, std::initializer_list<Target> targets)
      : Build(graph, records, Span<Target>(std::data(targets), targets.size())) {}
  Build(Graph &graph, Records &records, Span<Target> targets)
      : handle_(detail::attempt([&](auto &failure) {
          return bridge::build_begin(*graph.handle_, *records.handle_, detail::slice(targets), failure);
        })) {}

  // Says that they were built. Their outputs and depfiles are looked at and put on record. When it throws nothing is
  // recorded, and it can be called again.
  Span<Doubt> commit(Graph &graph, Records &records) & { return commit(graph, records, 0); }
  // The same, where one command made them all, each after those that it is made from.
  Span<Doubt> commit_made_in_order(Graph &graph, Records &records) & {
    return commit(graph, records, UPCHECK_MADE_IN_ORDER);
  }
  // After a commit: files that leave it open what the targets were made from, so that these are stale again, for
  // instance inputs that somebody changed meanwhile.
  Span<Doubt> doubts() const & { return detail::span(handle_->doubts()); }
  Span<Doubt> doubts() const && = delete;

 private:
  Span<Doubt> commit(Graph &graph, Records &records, std::uint32_t flags) & {
    detail::attempt(
        [&](auto &failure) { handle_->commit(*graph.handle_, *records.handle_, flags, failure); });
    return doubts();
  }
  detail::Handle<bridge::Build> handle_;
};

// ---- snapshots: for those who judge for themselves -----------------------------------------------------------------

class Snapshot {
 public:
  // One for each path that was asked for, by position.
  Span<Stat> stats() const & { return detail::span(handle_->stats()); }
  Span<Stat> stats() const && = delete;
  // By path, written as it was asked for; null for one that was not. Costs a hash.
  const Stat *find(Bytes path) const & { return handle_->find(detail::slice(path)); }
  const Stat *find(Bytes path) const && = delete;

 private:
  friend struct detail::Access;
  explicit Snapshot(rust::Box<bridge::Snapshot> handle) noexcept : handle_(std::move(handle)) {}
  detail::Handle<bridge::Snapshot> handle_;
};

// ---- the functions --------------------------------------------------------------------------------------------------

struct detail::Access {
  static Report check(Graph &graph, const Records *records, const CheckOptions &options) {
    const bridge::Records *const store = records ? &*records->handle_ : nullptr;
    const bridge::Cancel *const cancel = options.cancel ? &*options.cancel->handle_ : nullptr;
    const Span<File> requests = options.requests ? Span<File>(*options.requests) : Span<File>();
    const bridge::CheckOptions given{options.by_times ? UPCHECK_BY_TIMES : 0, options.threads, !options.requests,
                                     detail::slice(requests)};
    return Report(detail::attempt(
        [&](auto &failure) { return bridge::check(*graph.handle_, store, given, cancel, failure); }));
  }
  template <typename Range>
  static Affected affected(Graph &graph, const Records *records, const Range &files) {
    const bridge::Records *const store = records ? &*records->handle_ : nullptr;
    const auto all = detail::each(files);
    return Affected(detail::attempt([&](auto &failure) {
      return bridge::affected_by(*graph.handle_, store, detail::slice(all), failure);
    }));
  }
  static Snapshot collect(Bytes directory, const Texts &paths, std::uint32_t threads) {
    return Snapshot(detail::attempt([&](auto &failure) {
      return bridge::collect(detail::slice(directory), detail::texts(paths), threads, failure);
    }));
  }
};

// Which targets are stale, and why? The graph may gain files: what depfiles, records and patterns name. Where the check
// fails it may have gained them, too.
inline Report check(Graph &graph, const CheckOptions &options = CheckOptions()) {
  return detail::Access::check(graph, nullptr, options);
}
inline Report check(Graph &graph, const Records &records, const CheckOptions &options = CheckOptions()) {
  return detail::Access::check(graph, &records, options);
}
// For Records::read.
inline Report check(Graph &graph, const std::optional<Records> &records,
                    const CheckOptions &options = CheckOptions()) {
  return detail::Access::check(graph, records ? &*records : nullptr, options);
}

// What would go stale if these files changed, appeared or disappeared? Paths are relative to the graph's directory, or
// absolute.
template <typename Range = std::initializer_list<Bytes>>
Affected affected(Graph &graph, const Range &files) {
  return detail::Access::affected(graph, nullptr, files);
}
template <typename Range = std::initializer_list<Bytes>>
Affected affected(Graph &graph, const Records &records, const Range &files) {
  return detail::Access::affected(graph, &records, files);
}
template <typename Range = std::initializer_list<Bytes>>
Affected affected(Graph &graph, const std::optional<Records> &records, const Range &files) {
  return detail::Access::affected(graph, records ? &*records : nullptr, files);
}

// Looks at many files at once, directory by directory. Links are followed. Paths are taken as they are, relative to the
// directory; no thread outlives the call. threads: the most to use; 0: as many as help.
inline Snapshot collect(Bytes directory, const Texts &paths, std::uint32_t threads = 0) {
  return detail::Access::collect(directory, paths, threads);
}
template <typename Range = std::initializer_list<Bytes>,
          typename = std::enable_if_t<!std::is_convertible_v<const Range &, Texts>>>
Snapshot collect(Bytes directory, const Range &paths, std::uint32_t threads = 0) {
  return detail::Access::collect(directory, TextTable(paths), threads);
}

// A question to the daemon (upcheck watch): is a ninja build fresh?
struct Question {
  std::string directory = {};             // the build directory; empty: the working directory
  std::string manifest = {};              // empty: build.ninja
  std::vector<std::string> targets = {};  // what is asked about, by name; none: what the manifest names as its defaults
  std::uint32_t version = 0;              // as in NinjaOptions
};
struct Answer {
  std::optional<bool> stale = {};  // empty: the daemon does not say
  std::string why = {};            // why it does not, for people
};

// Asks it, and starts none. See upcheck_ask_daemon.
inline Answer ask_daemon(const Question &question = Question()) {
  const std::vector<upcheck_str> targets = detail::strs(question.targets);
  upcheck_question given{};
  given.struct_size = sizeof given;
  given.directory = detail::str(question.directory);
  given.manifest = detail::str(question.manifest);
  given.targets = targets.data();
  given.n_targets = targets.size();
  given.version = question.version;
  upcheck_answer *answer = nullptr;
  detail::attempt_native([&](upcheck_error **error) { return upcheck_ask_daemon(&given, &answer, error); });
  const std::unique_ptr<upcheck_answer, void (*)(upcheck_answer *)> owner(answer, upcheck_answer_free);
  const std::int32_t verdict = upcheck_answer_verdict(answer);
  if (verdict == UPCHECK_ANSWER_NONE) return {std::nullopt, upcheck_answer_why(answer)};
  return {verdict != UPCHECK_ANSWER_FRESH, {}};
}

}  // namespace upcheck

#if __cplusplus >= 202002L
template <typename T>
inline constexpr bool std::ranges::enable_borrowed_range<upcheck::Span<T>> = true;
template <typename T>
inline constexpr bool std::ranges::enable_view<upcheck::Span<T>> = true;
#endif

#endif

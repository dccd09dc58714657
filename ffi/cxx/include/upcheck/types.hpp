// types.hpp - the plain values of upcheck's C++ interface: numbers, enumerations, and what results consist of.
//
// They are those of the C interface, upcheck.h, which says in full what each means; only their types are C++'s. Include
// upcheck.hpp, which includes this.
#ifndef UPCHECK_TYPES_HPP
#define UPCHECK_TYPES_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <type_traits>

#include "upcheck.h"

namespace upcheck {

// A path of a graph: counted from 0 in the order of adding.
struct File {
  std::uint32_t number = UPCHECK_NONE;

  // Whether it is one: what is looked up may not be there.
  constexpr explicit operator bool() const noexcept { return number != UPCHECK_NONE; }
  // The file that was added n files later.
  constexpr File operator+(std::size_t n) const noexcept { return {static_cast<std::uint32_t>(number + n)}; }
  friend constexpr bool operator==(File a, File b) noexcept { return a.number == b.number; }
  friend constexpr bool operator!=(File a, File b) noexcept { return a.number != b.number; }
  friend constexpr bool operator<(File a, File b) noexcept { return a.number < b.number; }
};

// A target of a graph: counted from 0 in the order of adding.
struct Target {
  std::uint32_t number = UPCHECK_NONE;

  constexpr explicit operator bool() const noexcept { return number != UPCHECK_NONE; }
  constexpr Target operator+(std::size_t n) const noexcept { return {static_cast<std::uint32_t>(number + n)}; }
  friend constexpr bool operator==(Target a, Target b) noexcept { return a.number == b.number; }
  friend constexpr bool operator!=(Target a, Target b) noexcept { return a.number != b.number; }
  friend constexpr bool operator<(Target a, Target b) noexcept { return a.number < b.number; }
};

enum class Status : std::int32_t {
  ok = UPCHECK_OK,
  invalid = UPCHECK_E_INVALID,      // an argument is out of range, or makes no sense
  io = UPCHECK_E_IO,                // the operating system refused what the call cannot do without
  format = UPCHECK_E_FORMAT,        // a file cannot be understood
  graph = UPCHECK_E_GRAPH,          // the description makes no sense: a cycle, an output of two targets, ...
  cancelled = UPCHECK_E_CANCELLED,  // Cancel::set was called
  limit = UPCHECK_E_LIMIT,          // more than 2^32 - 2 files, targets or inputs
  internal = UPCHECK_E_INTERNAL     // a bug in the library
};

// When an input or an output counts as changed.
enum class Policy : std::int32_t {
  by_default = UPCHECK_POLICY_DEFAULT,  // a target's: the graph's; a graph's: see upcheck.h
  mtime = UPCHECK_POLICY_MTIME,
  digest = UPCHECK_POLICY_DIGEST,
  mtime_and_digest = UPCHECK_POLICY_MTIME_AND_DIGEST,
  mtime_and_digest_input = UPCHECK_POLICY_MTIME_AND_DIGEST_INPUT,
  mtime_or_digest = UPCHECK_POLICY_MTIME_OR_DIGEST,
  newer = UPCHECK_POLICY_NEWER
};

enum class Verdict : std::uint8_t {
  fresh = UPCHECK_VERDICT_FRESH,
  stale = UPCHECK_VERDICT_STALE,
  pending = UPCHECK_VERDICT_PENDING,  // only running something before it can tell
  unasked = UPCHECK_VERDICT_UNASKED   // nothing that was asked about needs it
};

// What a check was answered from; all but Basis::told: the disk was asked for everything.
enum class Basis : std::int32_t {
  nothing = UPCHECK_FROM_NOTHING,          // nothing was told yet
  told = UPCHECK_FROM_TOLD,                // memory, but for what was told and what is asked for each time
  first = UPCHECK_FROM_FIRST,              // these were the first things told
  everything = UPCHECK_FROM_EVERYTHING,    // the driver said that everything may have changed
  gap = UPCHECK_FROM_GAP,                  // what was told did not go on from what was told before
  silence = UPCHECK_FROM_SILENCE,          // nothing was told since the check before
  wrong = UPCHECK_FROM_WRONG,              // the driver was found out, now or before
  moved = UPCHECK_FROM_MOVED,              // another directory is in the place of the graph's
  unsupported = UPCHECK_FROM_UNSUPPORTED,  // nothing can be remembered on this system
};

enum class Reason : std::int32_t {
  fresh = UPCHECK_FRESH,  // none
  output_missing = UPCHECK_OUTPUT_MISSING,
  input_missing = UPCHECK_INPUT_MISSING,
  input_newer = UPCHECK_INPUT_NEWER,
  input_changed = UPCHECK_INPUT_CHANGED,
  inputs_differ = UPCHECK_INPUTS_DIFFER,
  command_changed = UPCHECK_COMMAND_CHANGED,
  never_built = UPCHECK_NEVER_BUILT,
  deps_unknown = UPCHECK_DEPS_UNKNOWN,
  deps_outdated = UPCHECK_DEPS_OUTDATED,
  output_changed = UPCHECK_OUTPUT_CHANGED,
  upstream_stale = UPCHECK_UPSTREAM_STALE,
  phony_missing = UPCHECK_PHONY_MISSING,
  interrupted = UPCHECK_INTERRUPTED,
  manifest_stale = UPCHECK_MANIFEST_STALE,
  racy = UPCHECK_RACY,
  unreadable = UPCHECK_UNREADABLE,
  value_changed = UPCHECK_VALUE_CHANGED,
  other = UPCHECK_OTHER_REASON  // one that is newer than this header; there may be more
};

// "input-newer"
inline const char *name(Reason reason) noexcept { return upcheck_reason_name(static_cast<std::int32_t>(reason)); }
// "invalid"
inline const char *name(Status status) noexcept { return upcheck_status_name(static_cast<upcheck_status>(status)); }

// Times of files, to the nanosecond.
using Time = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

constexpr Time time_of(std::int64_t nanoseconds) noexcept { return Time(std::chrono::nanoseconds(nanoseconds)); }

// One reason of one target, with its evidence.
class Finding {
 public:
  // Two values that were compared: as things are, and as they were expected to be.
  template <typename T>
  struct Compared {
    T seen;
    T expected;
  };
  // How many inputs came, and how many went.
  struct Counts {
    std::int64_t added;
    std::int64_t removed;
  };

  Target target() const noexcept { return {raw_.target}; }
  Reason reason() const noexcept { return static_cast<Reason>(raw_.reason); }
  // The cause, as far as this one step tells; which file that is, depends on the reason: see upcheck.h.
  File file() const noexcept { return {raw_.file}; }

  // The evidence. Each is there for the reasons that are named, and empty for all others.

  // The output that is older: input_newer.
  std::optional<File> against() const noexcept {
    return raw_.against == UPCHECK_NONE ? std::nullopt : std::optional(File{raw_.against});
  }
  // The stale target that makes the file: upstream_stale, and deps_unknown if what makes the dyndep file is stale.
  std::optional<Target> upstream() const noexcept {
    return raw_.upstream == UPCHECK_NONE ? std::nullopt : std::optional(Target{raw_.upstream});
  }
  // The time of the input and that of the output: input_newer. The time now and the one on record: input_changed,
  // output_changed, deps_outdated. A time is empty where there is no file.
  std::optional<Compared<std::optional<Time>>> times() const noexcept {
    switch (reason()) {
      case Reason::input_newer:
      case Reason::input_changed:
      case Reason::output_changed:
      case Reason::deps_outdated:
        return Compared<std::optional<Time>>{known(raw_.seen), known(raw_.expected)};
      default:
        return std::nullopt;
    }
  }
  // The hash of the command, and the one on record: command_changed.
  std::optional<Compared<std::uint64_t>> hashes() const noexcept {
    if (reason() != Reason::command_changed) return std::nullopt;
    return Compared<std::uint64_t>{static_cast<std::uint64_t>(raw_.seen), static_cast<std::uint64_t>(raw_.expected)};
  }
  // inputs_differ
  std::optional<Counts> counts() const noexcept {
    return reason() == Reason::inputs_differ ? std::optional(Counts{raw_.seen, raw_.expected}) : std::nullopt;
  }
  // When the build began: interrupted.
  std::optional<Time> began() const noexcept {
    return reason() == Reason::interrupted ? std::optional(time_of(raw_.seen)) : std::nullopt;
  }
  // The operating system's error number: unreadable.
  std::optional<int> os_code() const noexcept {
    return reason() == Reason::unreadable ? std::optional(static_cast<int>(raw_.seen)) : std::nullopt;
  }

  // As the C interface has it.
  const upcheck_finding &raw() const noexcept { return raw_; }

 private:
  static std::optional<Time> known(std::int64_t time) noexcept {
    return time == INT64_MIN ? std::nullopt : std::optional(time_of(time));
  }

  upcheck_finding raw_;
};

// A stale or pending target that has something to run. Its reasons: Report::findings_of.
class Stale {
 public:
  Target target() const noexcept { return {raw_.target}; }
  Verdict verdict() const noexcept { return static_cast<Verdict>(raw_.verdict); }
  // Whether something that it is made from is itself stale, and has to be made first. Else it can be built now, along
  // with all others that need not wait.
  bool waits() const noexcept { return raw_.waits != 0; }
  const upcheck_stale &raw() const noexcept { return raw_; }

 private:
  upcheck_stale raw_;
};

// A file at the root of staleness.
class Cause {
 public:
  File file() const noexcept { return {raw_.file}; }
  Reason reason() const noexcept { return static_cast<Reason>(raw_.reason); }
  // That are stale or pending because of it, directly or through others.
  std::uint64_t n_targets() const noexcept { return raw_.n_targets; }
  const upcheck_cause &raw() const noexcept { return raw_; }

 private:
  upcheck_cause raw_;
};

// A file that leaves it open what a target was made from.
class Doubt {
 public:
  Target target() const noexcept { return {raw_.target}; }
  File file() const noexcept { return {raw_.file}; }
  const upcheck_doubt &raw() const noexcept { return raw_; }

 private:
  upcheck_doubt raw_;
};

// What is known of a file.
class Stat {
 public:
  enum class State : std::int32_t {
    unknown = UPCHECK_STAT_UNKNOWN,
    missing = UPCHECK_STAT_MISSING,
    present = UPCHECK_STAT_PRESENT,
    unreadable = UPCHECK_STAT_UNREADABLE
  };

  State state() const noexcept { return static_cast<State>(raw_.state); }
  bool is_present() const noexcept { return state() == State::present; }
  bool is_missing() const noexcept { return state() == State::missing; }
  // Of an unreadable one; else 0.
  int os_code() const noexcept { return raw_.os_code; }

  // What follows is about present ones.

  Time mtime() const noexcept { return time_of(raw_.mtime); }
  // 1970 where the platform has none.
  Time ctime() const noexcept { return time_of(raw_.ctime); }
  std::uint64_t size() const noexcept { return raw_.size; }
  // 0 where the platform has none.
  std::uint64_t inode() const noexcept { return raw_.inode; }
  // 0 where the platform has none.
  std::uint64_t device() const noexcept { return raw_.device; }

  const upcheck_stat &raw() const noexcept { return raw_; }

 private:
  upcheck_stat raw_;
};

// The answer in numbers.
class Summary {
 public:
  // That were judged and have a command.
  std::uint64_t n_targets() const noexcept { return raw_.n_targets; }
  std::uint64_t n_stale() const noexcept { return raw_.n_stale; }
  std::uint64_t n_pending() const noexcept { return raw_.n_pending; }
  std::uint64_t n_root_causes() const noexcept { return raw_.n_root_causes; }
  // That were looked at.
  std::uint64_t n_files() const noexcept { return raw_.n_files; }
  // That they lie in.
  std::uint64_t n_directories() const noexcept { return raw_.n_directories; }
  // Files whose content was read, because their times did not tell.
  std::uint64_t n_contents() const noexcept { return raw_.n_contents; }
  // When looking at files began, and when it ended.
  Time began() const noexcept { return time_of(raw_.began); }
  Time ended() const noexcept { return time_of(raw_.ended); }

  const upcheck_summary &raw() const noexcept { return raw_; }

 private:
  upcheck_summary raw_;
};

// They are handed over as they lie in memory, so each is the C interface's struct and nothing else.
static_assert(sizeof(File) == sizeof(upcheck_file) && std::is_standard_layout_v<File>);
static_assert(sizeof(Target) == sizeof(upcheck_target) && std::is_standard_layout_v<Target>);
static_assert(sizeof(Verdict) == 1);
static_assert(sizeof(Finding) == sizeof(upcheck_finding) && std::is_standard_layout_v<Finding>);
static_assert(sizeof(Stale) == sizeof(upcheck_stale) && std::is_standard_layout_v<Stale>);
static_assert(sizeof(Cause) == sizeof(upcheck_cause) && std::is_standard_layout_v<Cause>);
static_assert(sizeof(Doubt) == sizeof(upcheck_doubt) && std::is_standard_layout_v<Doubt>);
static_assert(sizeof(Stat) == sizeof(upcheck_stat) && std::is_standard_layout_v<Stat>);
static_assert(sizeof(Summary) == sizeof(upcheck_summary) && std::is_standard_layout_v<Summary>);

}  // namespace upcheck

template <>
struct std::hash<upcheck::File> {
  std::size_t operator()(upcheck::File file) const noexcept { return std::hash<std::uint32_t>()(file.number); }
};
template <>
struct std::hash<upcheck::Target> {
  std::size_t operator()(upcheck::Target target) const noexcept { return std::hash<std::uint32_t>()(target.number); }
};

#endif

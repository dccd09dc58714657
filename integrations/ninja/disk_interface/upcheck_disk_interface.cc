// A disk interface for ninja that looks at all files of a build at once, through libupcheck.
//
// ninja.cc includes this file; ninja.patch says where. One snapshot is taken when ninja begins to scan for what is
// stale, and is gone before the first command starts:
//
//   AllowStatCache(true)   ninja's own sign that nothing changes from here on
//   Prefetch(...)          one upcheck_collect for all that the scan can be expected to ask about
//   Stat(path)             from the snapshot; what is not in it, from the disk
//   AllowStatCache(false)  ninja's own sign that commands may run: from here on all is asked from the disk
//
// All else is RealDiskInterface. `-d nostatcache` takes no snapshot; tools (-t) and the check of the manifest itself
// never take one.

#ifndef UPCHECK_DISK_INTERFACE_CC_
#define UPCHECK_DISK_INTERFACE_CC_

#include <upcheck.h>

#include <cstdint>
#include <string>
#include <vector>

#include "deps_log.h"
#include "disk_interface.h"
#include "graph.h"
#include "metrics.h"
#include "state.h"

namespace upcheck_ninja {

/// Nodes, each once, and what Stat would say of them. A node is found by the address of its path, which Node::Stat
/// passes on as it is: nodes stay where they are as long as their State lives.
class Answers {
 public:
  /// Not an answer: the disk has to be asked.
  static TimeStamp Unknown() { return INT64_MIN; }

  /// Room for so many nodes.
  explicit Answers(size_t most) : mask_(15) {
    while (mask_ + 1 < 2 * most)
      mask_ = 2 * mask_ + 1;
    slots_.resize(mask_ + 1);
  }

  /// False: it is there already.
  bool Add(const Node* node) {
    uint32_t* slot = &slots_[Find(&node->path())];
    if (*slot)
      return false;
    nodes_.push_back(node);
    *slot = static_cast<uint32_t>(nodes_.size());
    return true;
  }

  const std::vector<const Node*>& nodes() const { return nodes_; }

  /// The answers, in the order of nodes().
  std::vector<TimeStamp> times;

  TimeStamp Get(const std::string& path) const {
    uint32_t found = slots_[Find(&path)];
    return found ? times[found - 1] : Unknown();
  }

 private:
  /// The slot that holds the node with this path, or the empty one that it belongs in.
  size_t Find(const std::string* path) const {
    uint64_t hash = reinterpret_cast<uintptr_t>(path) * UINT64_C(0x9E3779B97F4A7C15);
    size_t slot = static_cast<size_t>(hash >> 32) & mask_;
    while (slots_[slot] && &nodes_[slots_[slot] - 1]->path() != path)
      slot = (slot + 1) & mask_;
    return slot;
  }

  /// Positions in nodes_, counted from 1; 0 is an empty slot. At most half of them are taken.
  std::vector<uint32_t> slots_;
  size_t mask_;
  std::vector<const Node*> nodes_;
};

/// What ninja's own Stat makes of a file's status. Only what it says without an error is taken over: where there is one,
/// the disk is asked again, for the words.
inline TimeStamp AsNinjaSays(const upcheck_stat& stat) {
  if (stat.state == UPCHECK_STAT_MISSING)
    return 0;
  // At both ends of the range times stand for others beyond, of which ninja would keep the lower bits.
  if (stat.state != UPCHECK_STAT_PRESENT || stat.mtime == INT64_MIN || stat.mtime == INT64_MAX)
    return Answers::Unknown();
  // The first second of 1970: 0 would mean missing, and ninja makes it 1.
  if (stat.mtime >= 0 && stat.mtime < 1000000000)
    return 1;
  return stat.mtime;
}

/// Fills in `times`. False: there is no snapshot to be had.
inline bool Collect(Answers* answers) {
  std::string bytes;
  std::vector<uint64_t> ends;
  ends.reserve(answers->nodes().size());
  for (size_t i = 0; i < answers->nodes().size(); ++i) {
    bytes += answers->nodes()[i]->path();
    ends.push_back(bytes.size());
  }
  upcheck_snapshot* snapshot = NULL;
  if (upcheck_collect(NULL, 0, bytes.data(), ends.data(), ends.size(), 0, &snapshot, NULL) != UPCHECK_OK)
    return false;
  size_t n, stride;
  const char* stats = reinterpret_cast<const char*>(upcheck_snapshot_stats(snapshot, &n, &stride));
  answers->times.reserve(n);
  for (size_t i = 0; i < n; ++i)
    answers->times.push_back(AsNinjaSays(*reinterpret_cast<const upcheck_stat*>(stats + i * stride)));
  upcheck_snapshot_free(snapshot);
  return true;
}

/// All nodes that a scan for these targets can meet, as far as the manifest and the deps log tell.
inline void Gather(const State& state, DepsLog* deps_log, const std::vector<Node*>& targets, Answers* answers) {
  std::vector<const Edge*> reached;
  std::vector<bool> is_reached(state.edges_.size());
  auto add = [&](const Node* node) {
    const Edge* edge = answers->Add(node) ? node->in_edge() : NULL;
    if (!edge || is_reached[edge->id_])
      return;
    is_reached[edge->id_] = true;
    reached.push_back(edge);
  };
  size_t next = 0;
  auto follow = [&] {
    for (; next < reached.size(); ++next) {
      const Edge* edge = reached[next];
      for (Node* output : edge->outputs_)
        add(output);
      for (Node* input : edge->inputs_)
        add(input);
      for (Node* validation : edge->validations_)
        add(validation);
    }
  };
  for (Node* target : targets)
    add(target);
  follow();
  // A header stands in the deps of thousands of targets. Where most targets are asked for, it is cheaper to look at some
  // files too many than to read all those lists once more.
  if (reached.size() > state.edges_.size() / 2) {
    for (const Node* node : deps_log->nodes())
      add(node);
    follow();
    return;
  }
  for (size_t i = 0; i < reached.size(); ++i) {
    // Ninja keeps what a command has read with its first output.
    const DepsLog::Deps* deps = deps_log->GetDeps(reached[i]->outputs_[0]);
    for (int k = 0; deps && k < deps->node_count; ++k)
      add(deps->nodes[k]);
    follow();
  }
}

/// Whatever ninja itself changes on the disk ends the snapshot. WriteFile got one argument more in ninja 1.13.
template <typename WriteFileType>
class ForgetfulDiskInterface;
template <typename... Arguments>
class ForgetfulDiskInterface<bool (RealDiskInterface::*)(Arguments...)> : public RealDiskInterface {
 public:
  ForgetfulDiskInterface() : answers_(NULL) {}
  ~ForgetfulDiskInterface() override { Forget(); }
  ForgetfulDiskInterface(const ForgetfulDiskInterface&) = delete;
  void operator=(const ForgetfulDiskInterface&) = delete;

  bool WriteFile(Arguments... arguments) override {
    Forget();
    return RealDiskInterface::WriteFile(arguments...);
  }
  bool MakeDir(const std::string& path) override {
    Forget();
    return RealDiskInterface::MakeDir(path);
  }
  int RemoveFile(const std::string& path) override {
    Forget();
    return RealDiskInterface::RemoveFile(path);
  }

 protected:
  void Forget() {
    delete answers_;
    answers_ = NULL;
  }
  /// NULL: there is no snapshot.
  Answers* answers_;
};

}  // namespace upcheck_ninja

class UpcheckDiskInterface
    : public upcheck_ninja::ForgetfulDiskInterface<decltype(&RealDiskInterface::WriteFile)> {
 public:
  UpcheckDiskInterface() : allowed_(false) {}

  /// Hides the one of RealDiskInterface, which ninja calls around the scan.
  void AllowStatCache(bool allow) {
    RealDiskInterface::AllowStatCache(allow);
    allowed_ = allow;
    if (!allow)
      Forget();
  }

  /// Takes the snapshot for a scan for these targets. To be called when the manifest and the logs are loaded, and between
  /// AllowStatCache(true) and AllowStatCache(false).
  void Prefetch(const State& state, DepsLog* deps_log, const std::vector<Node*>& targets) {
    METRIC_RECORD("upcheck prefetch");
    Forget();
    if (!allowed_)
      return;
    answers_ = new upcheck_ninja::Answers(state.paths_.size());
    upcheck_ninja::Gather(state, deps_log, targets, answers_);
    if (!upcheck_ninja::Collect(answers_))
      Forget();
  }

  TimeStamp Stat(const std::string& path, std::string* err) const override {
    TimeStamp known = answers_ ? answers_->Get(path) : upcheck_ninja::Answers::Unknown();
    return known != upcheck_ninja::Answers::Unknown() ? known : RealDiskInterface::Stat(path, err);
  }

 private:
  bool allowed_;
};

#endif  // UPCHECK_DISK_INTERFACE_CC_

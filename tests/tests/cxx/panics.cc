// A bug inside the library is thrown, and does not end the process. The bug: a system without a clock, which Rust's
// standard library does not believe in.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "expect.hpp"

using namespace upcheck;

static std::atomic<bool> has_clock{true};

extern "C" int clock_gettime(clockid_t clock, timespec *time) noexcept {
  return has_clock ? static_cast<int>(syscall(SYS_clock_gettime, clock, time)) : -1;
}

int main() {
  Graph graph, other;
  const Target made = target(graph, "made", {});
  target(other, "made", {});
  const Report before = check(graph);
  has_clock = false;
  THROWS(check(graph), internal, "a bug in upcheck");
  has_clock = true;
  // What was being changed is of no use any more; all else is.
  THROWS(check(graph), internal, "half done");
  THROWS(graph.file("x"), internal, "half done");
  EXPECT(before.verdict(made) == Verdict::stale && !check(other).is_fresh());
  graph = Graph();
  target(graph, "made", {});
  EXPECT(!check(graph).is_fresh());
}

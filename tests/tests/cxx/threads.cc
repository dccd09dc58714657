// Objects in several threads: each its own, all the same through const functions, and one that stops another.
#include <atomic>
#include <thread>

#include "expect.hpp"

using namespace upcheck;

int main() {
  put("in", "", 2);
  put("out", "", 1);
  std::vector<std::thread> threads;

  // Each its own.
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([number] {
      for (int round = 0; round < 20; ++round) {
        Graph graph;
        const Target out = target(graph, "out", {"in", "other" + std::to_string(number)});
        EXPECT(check(graph).verdict(out) == Verdict::stale);
        THROWS(graph.file(""), invalid, "empty");
      }
    });
  for (std::thread &thread : threads) thread.join();
  threads.clear();

  // All the same.
  Graph graph;
  const Target out = target(graph, "out", {"in"}, "make");
  const Report report = check(graph);
  const Graph &same = graph;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        EXPECT(report.verdict(out) == Verdict::stale && same.name(out) == "out" && same.command(out) == "make");
        for (const Finding &finding : report.findings()) EXPECT(report.explain(same, finding).size() > 10);
      }
    });
  for (std::thread &thread : threads) thread.join();
  threads.clear();

  // A handle belongs to no thread.
  std::optional<Report> made;
  std::thread([&] { made = check(graph); }).join();
  EXPECT(made->verdict(out) == Verdict::stale);

  // One stops another: sooner or later the check is cancelled.
  Cancel cancel;
  std::atomic<bool> is_checking{false};
  std::thread checking([&] {
    CheckOptions options;
    options.cancel = &cancel;
    for (;;) {
      try {
        EXPECT(check(graph, options).verdict(out) == Verdict::stale);
        is_checking = true;
      } catch (const Error &error) {
        EXPECT(error.status() == Status::cancelled);
        return;
      }
    }
  });
  while (!is_checking) std::this_thread::yield();
  cancel.set();
  checking.join();
}

// Objects are moved, never copied; what they gave out stays where it was; and what was moved from does no harm.
#include <algorithm>
#include <type_traits>

#include "expect.hpp"

using namespace upcheck;

template <typename T>
constexpr bool is_handle = !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T> &&
                           std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                           std::is_nothrow_destructible_v<T>;
static_assert(is_handle<Graph> && is_handle<Records> && is_handle<Build> && is_handle<Report>);
static_assert(is_handle<Affected> && is_handle<Snapshot> && is_handle<Cancel>);

template <typename T>
constexpr bool is_value = std::is_trivially_copyable_v<T> && std::is_standard_layout_v<T>;
static_assert(is_value<File> && is_value<Target> && is_value<Finding> && is_value<Cause> && is_value<Doubt>);
static_assert(is_value<Stat> && is_value<Summary> && is_value<Span<Finding>>);

// Numbers of different things do not mix.
static_assert(!std::is_convertible_v<File, Target> && !std::is_convertible_v<Target, File>);
static_assert(!std::is_convertible_v<File, std::uint32_t> && !std::is_convertible_v<File, bool>);
static_assert(std::is_base_of_v<std::runtime_error, Error> && std::is_nothrow_copy_constructible_v<Error>);

// What has no name gives out nothing that it would take along when it goes.
template <typename T, typename = void>
constexpr bool gives_findings = false;
template <typename T>
constexpr bool gives_findings<T, std::void_t<decltype(std::declval<T>().findings())>> = true;
static_assert(gives_findings<const Report &> && gives_findings<Report &> && !gives_findings<Report>);
static_assert(!gives_findings<const Report>);

int main() {
  put("in", "", 2);
  put("out", "", 1);
  std::vector<Graph> graphs;
  graphs.emplace_back();
  const Target out = target(graphs[0], "out", {"in"}, "make");
  const std::string_view path = graphs[0].path({0});
  for (int k = 0; k < 10; ++k) graphs.emplace_back();  // moves them
  Graph graph = std::move(graphs[0]);
  EXPECT(graph.path({0}).data() == path.data() && path == "out");

  // NOLINTBEGIN: use after move is what this is about.
  THROWS(graphs[0].n_files(), invalid, "moved from");
  THROWS(graphs[0].file("in"), invalid, "moved from");
  THROWS(check(graphs[0]), invalid, "moved from");
  THROWS(affected(graphs[0], {"in"}), invalid, "moved from");
  graphs[0] = Graph();
  EXPECT(graphs[0].n_files() == 0);
  graphs.clear();

  Report report = check(graph);
  const Span<Finding> findings = report.findings();
  EXPECT(findings.size() == 1);
  Report moved = std::move(report);
  EXPECT(moved.findings().data() == findings.data() && moved.explain(graph, findings[0]).size() > 10);
  THROWS(report.findings(), invalid, "moved from");
  THROWS(report.verdict(out), invalid, "moved from");
  THROWS(report.is_fresh(), invalid, "moved from");
  THROWS(report.stale_with_findings(), invalid, "moved from");
  THROWS(report.explain(graph, findings[0]), invalid, "moved from");
  report = std::move(moved);
  EXPECT(report.verdict(out) == Verdict::stale);
  report = check(graph);
  EXPECT(report.verdict(out) == Verdict::stale);

  Records records("store");
  Build build(graph, records, {out});
  Records other = std::move(records);
  THROWS(records.refresh(), invalid, "moved from");
  THROWS(check(graph, records), invalid, "moved from");
  THROWS(build.commit(graph, records), invalid, "moved from");
  Build second = std::move(build);
  THROWS(build.commit(graph, other), invalid, "moved from");
  second.commit(graph, other);
  EXPECT(second.doubts().empty() && check(graph, other).is_fresh());
  std::optional<Records> read = Records::read("store");
  Records held = std::move(*read);
  EXPECT(check(graph, held).is_fresh());

  Affected hit = affected(graph, {"in"});
  const Affected hits = std::move(hit);
  EXPECT(hits.targets().size() == 1);
  THROWS(hit.targets(), invalid, "moved from");
  Snapshot snapshot = collect("", {"in"});
  const Stat *const stat = snapshot.find("in");
  const Snapshot kept = std::move(snapshot);
  EXPECT(kept.find("in") == stat);
  THROWS(snapshot.stats(), invalid, "moved from");
  THROWS(snapshot.find("in"), invalid, "moved from");

  Cancel cancel;
  Cancel taken = std::move(cancel);
  cancel.set();  // nothing: it is what signal handlers call
  CheckOptions options;
  options.cancel = &taken;
  EXPECT(!check(graph, options).is_fresh());
  options.cancel = &cancel;
  THROWS(check(graph, options), invalid, "moved from");
  // NOLINTEND

  // Over themselves, and in the algorithms that move.
  std::vector<Report> reports;
  for (int k = 0; k < 5; ++k) reports.push_back(check(graph));
  std::reverse(reports.begin(), reports.end());
  std::sort(reports.begin(), reports.end(),
            [](const Report &a, const Report &b) { return a.findings().size() < b.findings().size(); });
  for (const Report &one : reports) EXPECT(one.verdict(out) == Verdict::stale);
}

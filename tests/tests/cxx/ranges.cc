// Results are ranges: for loops, the algorithms, and where the compiler has them std::span and the ranges library.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <unordered_set>
#if __cplusplus >= 202002L
#include <ranges>
#include <span>
#endif

#include "expect.hpp"

using namespace upcheck;

// Ten libraries of ten objects each, one of which uses a header that is newer.
static Graph libraries() {
  Graph graph;
  for (int library = 0; library < 10; ++library) {
    Names objects;
    for (int object = 0; object < 10; ++object) {
      const std::string name = "o" + std::to_string(library) + std::to_string(object);
      put(name, "", 10);
      put(name + ".c", "", 5);
      target(graph, name, {name + ".c", object == library ? "new.h" : "old.h"});
      objects.push_back(name);
    }
    put("lib" + std::to_string(library), "", 11);
    target(graph, "lib" + std::to_string(library), objects);
  }
  put("new.h", "", 20);
  put("old.h", "", 1);
  return graph;
}

int main() {
  Graph graph = libraries();
  const Report report = check(graph);
  const Span<Finding> findings = report.findings();
  EXPECT(findings.size() == 20 && !findings.empty());

  std::size_t n = 0;
  for (const Finding &finding : findings) {
    EXPECT(&finding == &findings[n++]);
    EXPECT(report.verdict(finding.target()) == Verdict::stale);
  }
  EXPECT(n == 20 && &findings.front() == findings.data() && &findings.back() == findings.end() - 1);

  // The algorithms.
  const auto is_newer = [](const Finding &finding) { return finding.reason() == Reason::input_newer; };
  EXPECT(std::count_if(findings.begin(), findings.end(), is_newer) == 10);
  EXPECT(std::none_of(findings.begin(), findings.end(), [](auto &finding) { return finding.os_code().has_value(); }));
  const File new_h = *graph.find("new.h");
  EXPECT(std::all_of(findings.begin(), findings.end(),
                     [&](auto &finding) { return !is_newer(finding) || finding.file() == new_h; }));
  std::vector<Finding> sorted(findings.begin(), findings.end());
  std::sort(sorted.begin(), sorted.end(),
            [&](auto &a, auto &b) { return graph.name(a.target()) < graph.name(b.target()); });
  EXPECT(graph.name(sorted.front().target()) == "lib0" && graph.name(sorted.back().target()) == "o99");
  std::set<File> files;
  std::transform(findings.begin(), findings.end(), std::inserter(files, files.end()),
                 [](const Finding &finding) { return finding.file(); });
  EXPECT(files.size() == 11 && files.count(new_h) == 1);
  std::unordered_set<Target> targets(report.stale().begin(), report.stale().end());
  EXPECT(targets.size() == 20 && targets.count(findings.front().target()) == 1);
  std::map<Reason, int> reasons;
  for (const Finding &finding : findings) ++reasons[finding.reason()];
  EXPECT(reasons == std::map<Reason, int>{{Reason::input_newer, 10}, {Reason::upstream_stale, 10}});
  EXPECT(std::count(report.verdicts().begin(), report.verdicts().end(), Verdict::fresh) == 90);
  EXPECT(report.causes().size() == 1 && report.causes().front().n_targets() == 20);
  EXPECT(std::accumulate(report.causes().begin(), report.causes().end(), std::uint64_t{0},
                         [](std::uint64_t sum, auto &cause) { return sum + cause.n_targets(); }) == 20);
  EXPECT(findings.rbegin()->target() == findings.back().target() && findings.rend() - findings.rbegin() == 20);

  // In build order: an object is before its library.
  std::unordered_map<Target, std::size_t> place;
  for (const Target target : report.stale()) place.emplace(target, place.size());
  for (const Finding &finding : findings)
    if (const auto upstream = finding.upstream()) EXPECT(place.at(*upstream) < place.at(finding.target()));

  // Target by target: the same, in the same order.
  const Report::StaleRange stale = report.stale_with_findings();
  EXPECT(stale.size() == 20 && !stale.empty());
  const Target *target = report.stale().begin();
  const Finding *finding = findings.begin();
  for (const Report::Stale &one : stale) {
    EXPECT(one.target == *target++ && one.verdict == Verdict::stale && one.findings.begin() == finding);
    for (const Finding &own : one.findings) EXPECT(own.target() == one.target && &own == finding++);
  }
  EXPECT(target == report.stale().end() && finding == findings.end());
  EXPECT(std::distance(stale.begin(), stale.end()) == 20);
  auto iterator = stale.begin();
  const auto before = iterator++;
  EXPECT(before == stale.begin() && iterator != before && iterator->target == report.stale()[1]);
  EXPECT(std::find_if(stale.begin(), stale.end(), [](auto &one) { return one.findings.size() > 1; }) == stale.end());

  // An empty report.
  CheckOptions options;
  options.requests = graph.files({"o01"});
  const Report fresh = check(graph, options);
  EXPECT(fresh.findings().begin() == fresh.findings().end());
  EXPECT(fresh.stale_with_findings().empty() && fresh.causes().empty());

#if __cplusplus >= 202002L
  static_assert(std::ranges::contiguous_range<Span<Finding>> && std::ranges::sized_range<Span<Finding>>);
  static_assert(std::ranges::borrowed_range<Span<Target>> && std::ranges::view<Span<Target>>);
  static_assert(std::ranges::forward_range<Report::StaleRange> && std::ranges::sized_range<Report::StaleRange>);
  const std::span<const Finding> span = findings;
  EXPECT(span.data() == findings.data() && span.size() == findings.size());
  const Span<Finding> back = span;
  EXPECT(back.size() == findings.size());
  EXPECT(std::ranges::count(findings, Reason::input_newer, &Finding::reason) == 10);
  Names libraries;
  for (const auto &one : stale | std::views::filter([&](auto &it) { return graph.name(it.target)[0] == 'l'; }))
    libraries.emplace_back(graph.name(one.target));
  EXPECT(libraries.size() == 10);
  EXPECT(*std::ranges::find(report.verdicts(), Verdict::stale) == Verdict::stale);
  for (const Finding &last : findings | std::views::reverse | std::views::take(1)) EXPECT(&last == &findings.back());

  // A description in one expression.
  const Target made = graph.add({.outputs = graph.files({"made"}), .inputs = {new_h}, .command = "make"});
  EXPECT(graph.command(made) == "make");
  const Report about = check(graph, {.by_times = true, .requests = graph.files({"made"})});
  EXPECT(about.findings().front().reason() == Reason::output_missing);
#endif
}

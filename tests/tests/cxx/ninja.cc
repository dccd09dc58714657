// ninja DIRECTORY [IMAGES]: what would ninja run in a build directory? Prints its commands, one a line.
#include <iostream>

#include "expect.hpp"

using namespace upcheck;

int main(int argc, char **argv) {
  EXPECT(argc > 1);
  Graph graph{Bytes(argv[1])};
  NinjaOptions options;
  if (argc > 2) options.image_folder = argv[2];
  graph.load_ninja(options);
  const Report report = check(graph);
  EXPECT(report.verdicts().size() == graph.n_targets());
  for (const auto &[target, verdict, findings] : report.stale_with_findings()) {
    EXPECT(!findings.empty() && verdict != Verdict::fresh);
    for (const Finding &finding : findings) EXPECT(!report.explain(graph, finding).empty());
    std::cout << graph.command(target) << '\n';
  }
  // It keeps its own records, and is not added to.
  Records records("store");
  THROWS(check(graph, records), invalid, "ninja");
  THROWS(graph.file("new"), invalid, "ninja");
  THROWS(Build(graph, records, {Target{0}}), invalid, "ninja");
  // A second answer is the same.
  EXPECT(named(check(graph)).stale().size() == report.stale().size());
  const Affected nothing = affected(graph, {"nix"});
  EXPECT(nothing.targets().empty() && nothing.unknown().size() == 1);
}

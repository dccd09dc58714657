// A driver with a feed of its own, and one that asks the daemon.
#include "expect.hpp"

int main() {
  using upcheck::Basis;
  using upcheck::Changes;
  put("in", "1", 0);
  put("out", "1", 1);
  upcheck::Graph graph;
  target(graph, "out", {"in"});
  EXPECT(graph.told().basis == Basis::nothing && graph.told().believed && graph.wrong().empty());

  const auto told = [&](const std::string &since, const std::string &now, std::vector<std::string> paths) {
    Changes changes;
    changes.since = since;
    changes.now = now;
    changes.paths = std::move(paths);
    changes.young = std::chrono::nanoseconds(1);
    graph.tell(changes);
    (void)upcheck::check(graph);
    return graph.told();
  };
  EXPECT(told("", "1", {}).basis == Basis::first);
  EXPECT(told("1", "2", {}).basis == Basis::told);
  EXPECT(told("2", "3", {"in", "out"}).n_asked == 4 && graph.told().n_remembered == 2);
  EXPECT(told("2", "3", {}).basis == Basis::gap);
  (void)upcheck::check(graph);
  EXPECT(graph.told().basis == Basis::silence);
  std::filesystem::remove("in");
  EXPECT(told("3", "4", {}).basis == Basis::wrong);
  EXPECT(graph.wrong() == "in" && !graph.told().believed && graph.told().n_wrong == 1);
  Changes all;
  all.everything = true;
  graph.tell(all);
  EXPECT(graph.told().believed);
  Changes bad;
  bad.paths = {""};
  THROWS((graph.tell(bad), 0), invalid, "empty");

  // Nobody is there to be asked, and nothing to be asked about.
  upcheck::Question question;
  question.directory = "/nowhere/at/all";
  const upcheck::Answer answer = upcheck::ask_daemon(question);
  EXPECT(!answer.stale && !answer.why.empty());
  question.version = 9;
  THROWS(upcheck::ask_daemon(question), invalid, "1.9");
  return 0;
}

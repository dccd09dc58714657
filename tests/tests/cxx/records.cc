// Records: what was built is fresh until its content changes, and what was not committed never is.
#include "expect.hpp"

using namespace upcheck;

// What a command does.
static void make(const std::string &path, std::string_view content) { std::ofstream(path) << content; }

static Reason only_reason(const Report &report) {
  EXPECT(report.findings().size() == 1);
  return report.findings()[0].reason();
}

int main() {
  EXPECT(!Records::read("store"));
  Graph graph;
  put("a.in", "one", 1);
  put("b.in", "one", 1);
  put("header", "one", 1);
  Description description;
  description.outputs = graph.files({"a"});
  description.inputs = graph.files({"a.in"});
  description.command = "make a";
  description.depfile = "a.d";
  description.values = {{"level", "1"}};
  const Target a = graph.add(description);
  const Target b = target(graph, "b", {"a", "b.in"}, "make b");

  // Asking is possible without a store, and makes none.
  EXPECT(named(check(graph, Records::read("store"))).stale().size() == 2);
  EXPECT(!Records::read("store") && !std::filesystem::exists("store"));

  Records records(std::filesystem::path("store"));
  EXPECT(std::filesystem::exists("store") && Records::read("store"));
  EXPECT(named(check(graph, records)).findings()[0].target() == a);
  {
    Build build(graph, records, {a});
    EXPECT(build.doubts().empty());
    const Report during = check(graph, records);
    EXPECT(during.findings()[0].reason() == Reason::interrupted && during.findings()[0].began() > second(0));
    make("a", "A");
    make("a.d", "a: header\n");
    EXPECT(build.commit(graph, records).empty());
  }
  EXPECT(check(graph, records).verdict(a) == Verdict::fresh && check(graph, records).verdict(b) == Verdict::stale);
  {
    const std::vector<Target> both = {b};
    Build build(graph, records, both);
    make("b", "B");
    build.commit(graph, records);
  }
  EXPECT(check(graph, records).is_fresh() && check(graph, Records::read("store")).is_fresh());
  EXPECT(!check(graph).is_fresh() || check(graph).is_fresh());  // without records: whatever the times say

  // Touched is not changed.
  put("a.in", "one", 2);
  put("header", "one", 2);
  EXPECT(check(graph, records).is_fresh() && check(graph, records).summary().n_contents() > 0);
  // Changed is, whatever the time says; so is a header that only the depfile knows.
  put("header", "two", 0);
  const Report changed = check(graph, records);
  EXPECT(changed.findings()[0].reason() == Reason::input_changed && changed.findings()[0].target() == a);
  EXPECT(graph.path(changed.findings()[0].file()) == "header");
  EXPECT(changed.findings()[0].times()->seen == second(0) && changed.findings()[0].times()->expected != second(0));
  EXPECT(named(affected(graph, records, {"header"})).targets().size() == 2);
  put("header", "one", 3);
  EXPECT(check(graph, records).is_fresh());
  std::filesystem::remove("header");
  EXPECT(named(check(graph, records)).findings()[0].reason() != Reason::fresh && !check(graph, records).is_fresh());
  put("header", "one", 3);

  // A build without a commit: the files look as if it had been made.
  { Build build(graph, records, {b}); }
  EXPECT(only_reason(check(graph, records)) == Reason::interrupted);
  records.compact();
  EXPECT(only_reason(check(graph, Records::read("store"))) == Reason::interrupted);
  {
    Build build(graph, records, {b});
    put("b.in", "edited while it is read", 5);
    make("b", "B again");
    const Span<Doubt> doubts = build.commit(graph, records);
    EXPECT(doubts.size() == 1 && doubts[0].target() == b && graph.path(doubts[0].file()) == "b.in");
    EXPECT(build.doubts().data() == doubts.data());
  }
  EXPECT(check(graph, records).verdict(b) == Verdict::stale);
  {
    Build build(graph, records, {b});
    make("b", "B at last");
    EXPECT(build.commit(graph, records).empty());
  }
  EXPECT(check(graph, records).is_fresh());

  // Another object, like another process, sees it once it looks.
  Records other("store");
  other.forget({"a"});
  EXPECT(check(graph, records).verdict(a) == Verdict::fresh);
  records.refresh();
  EXPECT(check(graph, records).verdict(a) == Verdict::stale);
  EXPECT(named(check(graph, records)).findings()[0].reason() == Reason::never_built);

  // Both by one command, one after the other.
  Build build(graph, records, std::vector<Target>{a, b});
  make("a", "A");
  make("a.d", "a: header\n");
  make("b", "B");
  EXPECT(build.commit_made_in_order(graph, records).empty());
  EXPECT(check(graph, records).is_fresh());

  // Another command and another value are other targets; hashes and values say so.
  Graph edited;
  description.outputs = edited.files({"a"});
  description.inputs = edited.files({"a.in"});
  description.command = "make a better";
  const Target better = edited.add(description);
  const Report command = check(edited, records);
  EXPECT(command.verdict(better) == Verdict::stale && only_reason(command) == Reason::command_changed);
  EXPECT(command.findings()[0].hashes()->seen != command.findings()[0].hashes()->expected);
  Graph valued;
  description.outputs = valued.files({"a"});
  description.inputs = valued.files({"a.in"});
  description.command = "make a";
  description.values = {{"level", "2"}};
  valued.add(description);
  EXPECT(only_reason(check(valued, records)) == Reason::value_changed);
  Graph fewer;
  description.outputs = fewer.files({"a"});
  description.inputs = fewer.files({"b.in", "c.in"});
  description.values = {{"level", "1"}};
  put("c.in", "", 1);
  fewer.add(description);
  const Report differ = check(fewer, records);
  EXPECT(only_reason(differ) == Reason::inputs_differ);
  EXPECT(differ.findings()[0].counts()->added == 2 && differ.findings()[0].counts()->removed == 1);
}

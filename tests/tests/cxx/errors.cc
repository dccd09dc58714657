// Every kind of error, as an exception that says what went wrong; and that what failed has changed nothing.
#include <cerrno>
#include <csignal>
#include <thread>

#include "expect.hpp"

using namespace upcheck;

// Paths that are none, and paths that are odd but fine.
static void paths() {
  Graph graph;
  THROWS(graph.file(""), invalid, "empty");
  THROWS(graph.file(static_cast<const char *>(nullptr)), invalid, "empty");
  THROWS(graph.file(std::string_view("a\0b", 3)), invalid, "NUL");
  THROWS(graph.files({"fine", ""}), invalid, "empty");
  EXPECT(graph.n_files() == 1 && graph.find("fine"));
  Graph distinct;
  Description description;
  description.outputs = {distinct.add_distinct(TextTable(Names{std::string("a\0b", 3)}))};
  distinct.add(description);
  THROWS(check(distinct), invalid, "");
  THROWS(collect("", Names{"fine", std::string("\0", 1)}), invalid, "NUL");
  THROWS(collect("nix", {"fine"}), io, "nix");
  THROWS(Graph("nix"), io, "nix");
  THROWS(Graph(std::string_view("a\0b", 3)), io, "");
  THROWS(affected(graph, {""}), invalid, "empty");
  THROWS(first_reason({""}, {}), invalid, "empty");
  THROWS(first_reason({}, {"fine"}), invalid, "");

  // Not UTF-8.
  const std::string odd = "\xff\xfe \n \xc3(.o";
  put(odd, "", 1);
  put("\x80", "", 2);
  const Target made = target(graph, odd, {"\x80"});
  EXPECT(graph.name(made) == odd && graph.find(std::filesystem::path(odd)) == graph.outputs(made)[0]);
  const Report report = check(graph);
  EXPECT(report.findings().size() == 1 && graph.path(report.findings()[0].against().value()) == odd);
  EXPECT(report.explain(graph, report.findings()[0]).size() > 20);
  EXPECT(named(collect("", {odd})).stats()[0].is_present());
  put(odd, "", 3);
  EXPECT(check(graph).is_fresh());

  // A message about such a path is a text nonetheless.
  try {
    Graph("\xff\xfe");
    EXPECT(false);
  } catch (const std::runtime_error &error) {
    EXPECT(std::string(error.what()).find("'\xef\xbf\xbd\xef\xbf\xbd'") != std::string::npos);
  }
}

// What the operating system said is there as its number.
static void numbers() {
  try {
    Graph("nix/nix");
    EXPECT(false);
  } catch (const Error &error) {
    EXPECT(error.status() == Status::io && error.os_code() == ENOENT);
  }
  try {
    Graph().load_json("nix.json");
    EXPECT(false);
  } catch (const Error &error) {
    EXPECT(error.status() == Status::io && error.os_code() == ENOENT);
  }
  put("file", "", 1);
  THROWS(Records("file/store"), io, "file/store");
  try {
    Graph().file("");
    EXPECT(false);
  } catch (const Error &error) {
    EXPECT(error.os_code() == 0);
  }
}

static void descriptions() {
  Graph graph;
  THROWS(graph.add(Description()), invalid, "");
  target(graph, "twice", {});
  THROWS(target(graph, "twice", {}), graph, "twice");
  Description description;
  description.outputs = {graph.file("a"), graph.file("./a")};
  THROWS(graph.add(description), graph, "a");
  description.outputs = {{77}};
  THROWS(graph.add(description), invalid, "77");
  description.outputs = {File()};
  THROWS(graph.add(description), invalid, "no file");
  description.outputs = graph.files({"b"});
  description.policy = static_cast<Policy>(99);
  THROWS(graph.add(description), invalid, "99");
  THROWS(graph.set_policy(static_cast<Policy>(-1)), invalid, "-1");
  description.policy = Policy::by_default;
  description.globs = {"\xff"};
  THROWS(graph.add(description), invalid, "UTF-8");
  EXPECT(graph.n_targets() == 1);

  THROWS(affected(graph, Records::read("nix"), {""}), invalid, "empty");

  // A cycle, which is found when it is asked about.
  target(graph, "c1", {"c2"});
  target(graph, "c2", {"c1"});
  THROWS(check(graph), graph, "c1");
  CheckOptions options;
  options.requests = graph.files({"twice"});
  EXPECT(named(check(graph, options)).stale().size() == 1);
  options.requests = {{{1234}}};
  THROWS(check(graph, options), invalid, "1234");
}

// Arrays that do not fit together. From C++ their lengths are known.
static void bulk() {
  Graph graph;
  const std::vector<std::uint64_t> two = {1, 2}, down = {2, 1}, far = {1, 9};
  THROWS(graph.files(Texts{"ab", down}), invalid, "ascend");
  THROWS(graph.files(Texts{"ab", far}), invalid, "too far");
  THROWS(graph.add_distinct({"ab", far}), invalid, "too far");
  THROWS(graph.borrow_distinct({"ab", far}), invalid, "too far");
  THROWS(collect("", Texts{"ab", far}), invalid, "too far");
  EXPECT(graph.n_files() == 0);
  const std::vector<File> files = graph.files(Texts{"ab", two});

  Targets many;
  many.n_targets = 3;
  many.outputs = {files, two};
  THROWS(graph.add_targets(many), invalid, "outputs have 2 ends, where 3");
  many.n_targets = 2;
  many.outputs = {files, far};
  THROWS(graph.add_targets(many), invalid, "outputs go too far");
  many.outputs = {files, two};
  many.commands = {"ab", far};
  THROWS(graph.add_targets(many), invalid, "commands go too far");
  many.commands = {};
  const std::vector<std::uint32_t> flags = {0, 64};
  many.flags = flags;
  THROWS(graph.add_targets(many), invalid, "flags");
  const std::vector<std::uint32_t> flag = {0};
  many.flags = flag;
  THROWS(graph.add_targets(many), invalid, "1 flags for 2 targets");
  many.flags = {};
  const std::vector<std::int32_t> policies = {0, 0, 0};
  many.policies = policies;
  THROWS(graph.add_targets(many), invalid, "3 policies for 2 targets");
  many.policies = {};
  EXPECT(graph.n_targets() == 0);
  graph.add_targets(many);
  EXPECT(graph.n_targets() == 2);
}

static void files_that_make_no_sense() {
  put("bad.json", "{\"version\": 1, \"targets\": [}", 1);
  put("build.ninja", "rule cc\n  command = cc\nbuild x: cxx\n", 1);
  Graph graph;
  THROWS(graph.load_json("bad.json"), format, "bad.json:1:");
  THROWS(graph.load_json("nix.json"), io, "nix.json");
  THROWS(graph.load_json_text("[]", "memory"), format, "memory:1:");
  THROWS(graph.load_compile_commands("bad.json"), format, "bad.json:1:");
  THROWS(graph.load_compile_commands("nix.json"), io, "nix.json");
  EXPECT(graph.n_targets() == 0);
  THROWS(graph.load_ninja(), format, "build.ninja:3:");
  NinjaOptions options;
  options.manifest = "nix.ninja";
  THROWS(graph.load_ninja(options), io, "nix.ninja");
  options.version = 99;
  THROWS(graph.load_ninja(options), invalid, "99");
  graph.file("not-empty");
  THROWS(graph.load_ninja(), invalid, "empty");
}

static void other_reports() {
  Graph graph, other;
  target(graph, "a", {});
  target(other, "a", {});
  const Report report = check(graph), second = check(graph);
  const Finding copy = report.findings()[0];
  THROWS(report.explain(graph, copy), invalid, "copy");
  THROWS(report.explain(graph, second.findings()[0]), invalid, "another report");
  THROWS(report.explain(graph, second.causes()[0]), invalid, "another report");
  EXPECT(report.explain(other, report.findings()[0]).empty());
  EXPECT(report.explain(graph, report.findings()[0]) == "a does not exist");
}

static const Cancel *to_cancel = nullptr;

static void cancelled() {
  Graph graph;
  target(graph, "a", {});
  Cancel cancel;
  CheckOptions options;
  options.cancel = &cancel;
  EXPECT(!check(graph, options).is_fresh());
  to_cancel = &cancel;
  std::signal(SIGUSR1, [](int) { to_cancel->set(); });
  std::raise(SIGUSR1);
  THROWS(check(graph, options), cancelled, "cancelled");
  Cancel other;
  std::thread([&other] { other.set(); }).join();
  options.cancel = &other;
  THROWS(check(graph, options), cancelled, "cancelled");
  EXPECT(!check(graph).is_fresh());
}

static void builds() {
  Graph graph, other;
  const Target made = target(graph, "made", {}), second = target(graph, "second", {});
  target(other, "made", {});
  Records records("store");
  THROWS(Build(graph, records, {Target{77}}), invalid, "77");
  Build build(graph, records, {made});
  THROWS(build.commit(other, records), invalid, "another graph");
  // What was not made cannot be put on record.
  THROWS(build.commit(graph, records), io, "made");
  EXPECT(check(graph, records).verdict(made) == Verdict::stale);
  Build again(graph, records, {second});
  put("second", "", 1);
  EXPECT(again.commit(graph, records).empty());
  THROWS(again.commit(graph, records), invalid, "before");
  EXPECT(check(graph, records).verdict(second) == Verdict::fresh);
}

int main() {
  paths();
  numbers();
  descriptions();
  bulk();
  files_that_make_no_sense();
  other_reports();
  cancelled();
  builds();
}

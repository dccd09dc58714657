// Describing targets in every way, asking about them, and reading the answers.
#include <algorithm>

#include "expect.hpp"

using namespace upcheck;

static void one_by_one() {
  put("src/main.c", "main", 10);
  put("src/util.c", "util", 10);
  put("main.o", "", 20);
  put("util.o", "", 5);
  put("app", "", 30);

  Graph graph;
  const File main_c = graph.file("src/main.c");
  EXPECT(graph.file("./src//main.c") == main_c && graph.file(std::filesystem::path("src") / "main.c") == main_c);
  EXPECT(graph.file(std::string("src/main.c")) == main_c && graph.file(std::string_view("src/main.c")) == main_c);

  Description description;
  description.outputs = {graph.file("main.o")};
  description.inputs = {main_c};
  description.command = "cc -c src/main.c";
  const Target main_o = graph.add(description);
  const Target util_o = target(graph, "util.o", {"src/util.c"});
  const Target app = target(graph, "app", {"main.o", "util.o"}, "cc -o app main.o util.o");
  description = Description();
  description.name = "all";
  description.inputs = graph.files({"app"});
  description.phony = true;
  const Target all = graph.add(description);

  EXPECT(graph.n_targets() == 4 && graph.name(main_o) == "main.o" && graph.name(all) == "all");
  EXPECT(graph.path(main_c) == "src/main.c" && graph.path(File()) == "" && graph.path({1000}) == "");
  EXPECT(graph.name({1000}) == "" && graph.command({1000}) == "" && graph.outputs({1000}).empty());
  EXPECT(graph.find("src/../src/main.c") == main_c && !graph.find("nix") && !graph.find(""));
  EXPECT(graph.producer(graph.file("app")) == app && !graph.producer(main_c) && !graph.producer({1000}));
  EXPECT(graph.inputs(app).size() == 2 && graph.path(graph.inputs(app)[1]) == "util.o");
  EXPECT(graph.outputs(app).size() == 1 && graph.path(graph.outputs(app).front()) == "app");
  EXPECT(graph.command(main_o) == "cc -c src/main.c" && graph.command(util_o) == "");

  const Report report = check(graph);
  EXPECT(!report.is_fresh() && report.verdicts().size() == 4);
  EXPECT(report.verdict(main_o) == Verdict::fresh && report.verdict(util_o) == Verdict::stale);
  EXPECT(report.verdict(app) == Verdict::stale && report.verdict({1000}) == Verdict::unasked);
  EXPECT(names(graph, report.stale()) == Names{"util.o", "app"});
  EXPECT(report.findings().size() == 2);
  const Finding &newer = report.findings()[0], &upstream = report.findings()[1];
  EXPECT(newer.target() == util_o && newer.reason() == Reason::input_newer);
  EXPECT(graph.path(newer.file()) == "src/util.c" && graph.path(*newer.against()) == "util.o");
  EXPECT(newer.times()->seen == second(10) && newer.times()->expected == second(5));
  EXPECT(!newer.upstream() && !newer.hashes() && !newer.counts() && !newer.began() && !newer.os_code());
  EXPECT(upstream.target() == app && upstream.reason() == Reason::upstream_stale && upstream.upstream() == util_o);
  EXPECT(!upstream.against() && !upstream.times());
  EXPECT(report.explain(graph, newer).find("src/util.c is newer than util.o by 5.000 s (2020-") == 0);
  EXPECT(report.explain(graph, upstream) == "util.o is stale");
  EXPECT(report.causes().size() == 1 && report.causes()[0].file() == newer.file());
  EXPECT(report.causes()[0].reason() == Reason::input_newer && report.causes()[0].n_targets() == 2);
  EXPECT(report.explain(graph, report.causes()[0]).find("src/util.c is newer than what was made from it") == 0);
  const Summary summary = report.summary();
  EXPECT(summary.n_targets() == 3 && summary.n_stale() == 2 && summary.n_pending() == 0);
  EXPECT(summary.n_root_causes() == 1 && summary.n_files() == 6 && summary.n_directories() == 2);
  EXPECT(summary.began() > second(0) && summary.ended() >= summary.began());

  // Each with its own.
  std::vector<std::pair<std::string, std::size_t>> found;
  for (const auto &[stale, verdict, findings] : report.stale_with_findings()) {
    EXPECT(verdict == Verdict::stale);
    found.emplace_back(graph.name(stale), findings.size());
  }
  EXPECT(found == decltype(found){{"util.o", 1}, {"app", 1}});

  // Only about some.
  CheckOptions options;
  options.requests = graph.files({"main.o"});
  options.threads = 1;
  const Report some = check(graph, options);
  EXPECT(some.is_fresh() && some.verdict(app) == Verdict::unasked && some.stale().empty() && some.findings().empty());
  EXPECT(some.stale_with_findings().begin() == some.stale_with_findings().end());
  options.requests = std::vector<File>();
  EXPECT(check(graph, options).summary().n_targets() == 0);

  // A report is about the graph as it was.
  target(graph, "later", {});
  EXPECT(named(check(graph)).verdicts().size() == 5 && report.verdicts().size() == 4);
}

static void many_at_once() {
  Graph graph("many");
  TextTable paths, commands;
  FileTable outputs, inputs;
  std::vector<std::uint32_t> flags;
  std::vector<std::int32_t> policies;
  constexpr std::size_t n = 1000;
  for (std::size_t k = 0; k < n; ++k) paths.add("out/" + std::to_string(k));
  for (std::size_t k = 0; k < n; ++k) paths.add("in/" + std::to_string(k));
  const File first = graph.add_distinct(paths);
  for (std::size_t k = 0; k < n; ++k) {
    outputs.add({first + k});
    inputs.add({first + n + k, first + n + (k + 1) % n});
    commands.add("make " + std::to_string(k));
    flags.push_back(0);
    policies.push_back(UPCHECK_POLICY_NEWER);
  }
  Targets many;
  many.n_targets = n;
  many.outputs = outputs;
  many.inputs = inputs;
  many.commands = commands;
  many.flags = flags;
  many.policies = policies;
  const Target targets = graph.add_targets(many);
  EXPECT(targets == Target{0} && graph.n_targets() == n && graph.n_files() == 2 * n);
  EXPECT(graph.name(targets + 7) == "out/7" && graph.command(targets + 7) == "make 7");
  EXPECT(graph.path(graph.inputs(targets + 999)[1]) == "in/0");
  put("many/out/5", "", 5);
  put("many/in/5", "", 4);
  put("many/in/6", "", 6);
  const Report report = check(graph);
  EXPECT(report.stale().size() == n);
  // Three each, but for the files that are there; and one of these is newer.
  EXPECT(report.findings().size() == 3 * n - 5 + 1);

  // What is not given is empty for all.
  many = Targets();
  many.n_targets = 1;
  TextTable name;
  name.add("named");
  many.names = name;
  EXPECT(graph.name(graph.add_targets(many)) == "named");
  EXPECT(!graph.add_targets(Targets()));

  // The same path is the same file, unless the caller has said that it is not.
  Graph other("many");
  const std::vector<File> files = other.files(Names{"a", "./a", "b", "x/../a"});
  EXPECT(files == std::vector<File>{{0}, {0}, {1}, {0}} && other.files({}).empty());
  EXPECT(other.files(std::vector<std::filesystem::path>{"a", "c"}) == std::vector<File>{{0}, {2}});
  EXPECT(other.files(TextTable(Names{"b"})) == std::vector<File>{{1}});
  const std::vector<std::uint64_t> ends = {1, 2, 3};
  EXPECT(other.files(Texts{"abd", ends}) == std::vector<File>{{0}, {1}, {3}});
}

static void borrowed() {
  const std::string bytes = "makefrom";
  const std::vector<std::uint64_t> ends = {4, 8};
  Graph graph("many");
  const File first = graph.borrow_distinct({bytes, ends});
  EXPECT(graph.path(first).data() == bytes.data() && graph.path(first + 1) == "from");
  Description description;
  description.outputs = {first};
  description.inputs = {first + 1};
  graph.add(description);
  EXPECT(named(check(graph)).findings().size() == 2);
  // One that is there already, though the caller has said otherwise.
  Graph wrong("many");
  wrong.add_distinct(TextTable(Names{"a", "b", "a"}));
  description.outputs = {{0}};
  description.inputs = {{2}};
  wrong.add(description);
  THROWS(check(wrong), invalid, "'a'");
}

static void all_that_a_target_can_have() {
  put("full/a.in", "", 1);
  put("full/b.in", "", 1);
  put("full/out", "", 2);
  put("full/tool", "", 3);
  put("full/sub/out.d", "out: header.h\n", 2);
  put("full/sub/header.h", "", 4);
  put("full/order", "", 9);
  Graph graph("full");
  graph.set_policy(Policy::newer);
  graph.set_values({{"version", "1"}, {"host", std::string("here")}});
  graph.set_values(std::vector<std::pair<std::string, std::string>>{{"version", "2"}});
  Description description;
  description.outputs = graph.files({"out"});
  description.implicit = graph.files({"tool"});
  description.order_only = graph.files({"order"});
  description.validations = graph.files({"order"});
  description.globs = {"*.in"};
  description.values = {{"mode", "fast"}};
  description.depfile = "sub/out.d";
  description.directory = "sub";
  description.policy = Policy::newer;
  const Target out = graph.add(description);
  const Report report = check(graph);
  Names newer;
  for (const Finding &finding : report.findings()) {
    EXPECT(finding.target() == out && finding.reason() == Reason::input_newer);
    newer.emplace_back(graph.path(finding.file()));
  }
  std::sort(newer.begin(), newer.end());
  EXPECT(newer == Names{"sub/header.h", "tool"});
  EXPECT(named(affected(graph, {"a.in"})).targets().size() == 1);
  EXPECT(named(affected(graph, {"sub/header.h"})).targets().size() == 1);
}

static void other_questions() {
  put("q/in", "", 5);
  put("q/out", "", 6);
  put("q/old", "", 4);
  EXPECT(!is_stale({"q/out"}, {"q/in"}) && first_reason({"q/out"}, {"q/in"}) == Reason::fresh);
  EXPECT(first_reason({"q/out", "q/old"}, Names{"q/in"}) == Reason::input_newer);
  EXPECT(is_stale(std::vector<std::filesystem::path>{"q/nix"}, {}));
  EXPECT(std::string_view(name(Reason::input_newer)) == "input-newer" && *name(static_cast<Reason>(-5)) == '\0');
  EXPECT(std::string_view(name(Status::cancelled)) == "cancelled");
  EXPECT(version() == UPCHECK_VERSION && std::string_view(version_string()) == "0.1.0");

  Graph graph("q");
  const Target mid = target(graph, "mid", {"in"}), out = target(graph, "out", {"mid"});
  Affected hit = affected(graph, {"in", "nix", "mid"});
  EXPECT(hit.targets().size() == 2 && hit.targets()[0] == mid && hit.targets()[1] == out);
  EXPECT(hit.unknown().size() == 1 && hit.unknown()[0] == 1);
  hit = affected(graph, std::vector{std::filesystem::absolute("q/mid")});
  EXPECT(hit.targets().size() == 1 && hit.targets()[0] == out && hit.unknown().empty());

  const Snapshot snapshot = collect("q", {"in", "nix", "./in", "out/below"});
  EXPECT(snapshot.stats().size() == 4 && snapshot.stats()[0].is_present() && snapshot.stats()[1].is_missing());
  EXPECT(snapshot.stats()[0].mtime() == second(5) && snapshot.stats()[0].size() == 0);
  EXPECT(snapshot.stats()[0].inode() != 0 && snapshot.stats()[0].inode() == snapshot.stats()[2].inode());
  EXPECT(snapshot.stats()[0].ctime() > second(5) && snapshot.stats()[0].os_code() == 0);
  EXPECT(snapshot.find("in") == &snapshot.stats()[0] && snapshot.find("nix")->is_missing());
  EXPECT(!snapshot.find("out") && !snapshot.find(""));
  EXPECT(named(collect("", TextTable(), 1)).stats().empty());
  const std::vector<std::string_view> in = {"in"};
  EXPECT(named(collect(std::filesystem::path("q"), in, 4)).stats().size() == 1);
}

static void written_graphs() {
  const std::string json = R"({"version": 1, "targets": [
      {"outputs": ["x"], "inputs": ["y"], "command": "make x"}]})";
  put("json/graph.json", json, 1);
  put("json/y", "", 1);
  Graph graph("json");
  graph.load_json("graph.json");
  EXPECT(graph.n_targets() == 1 && graph.command({0}) == "make x" && named(check(graph)).findings().size() == 1);
  Graph text("json");
  text.load_json_text(json, "memory");
  EXPECT(text.n_targets() == 1);

  const std::string here = std::filesystem::absolute("json").native();
  const std::string rest = R"(, "file": "y.c", "output": "y.o", "command": "cc -c y.c -o y.o"}])";
  put("json/compile_commands.json", "[{\"directory\": \"" + here + "\"" + rest, 1);
  Graph compiled("json");
  compiled.load_compile_commands("compile_commands.json");
  EXPECT(compiled.n_targets() == 1 && compiled.name({0}) == "y.o");
  EXPECT(named(check(compiled)).causes()[0].reason() == Reason::deps_unknown);
  Graph headerless("json");
  headerless.load_compile_commands("compile_commands.json", true);
  const Report without = check(headerless);
  for (const Finding &finding : without.findings()) EXPECT(finding.reason() != Reason::deps_unknown);
}

int main() {
  one_by_one();
  std::filesystem::create_directory("many");
  many_at_once();
  borrowed();
  all_that_a_target_can_have();
  other_questions();
  written_graphs();
}

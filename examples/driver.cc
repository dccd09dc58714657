// driver.cc - for authors of build drivers in C++: a small one that builds only what is stale, whoever killed it the
// last time.
//
// It compiles all *.c of a directory, and links them into a program, `app`.
//
//   g++ -std=c++17 driver.cc -I PREFIX/include PREFIX/lib/libupcheck_cxx.a -lpthread -ldl -lm -o driver
//   ./driver DIRECTORY       builds
//   ./driver DIRECTORY -n    says what it would build, and why
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <upcheck/upcheck.hpp>

namespace fs = std::filesystem;

// An object for each source, and the program.
static upcheck::Graph describe() {
  std::vector<std::string> sources;
  for (const fs::directory_entry &entry : fs::directory_iterator("."))
    if (entry.path().extension() == ".c") sources.push_back(entry.path().stem());
  std::sort(sources.begin(), sources.end());  // else the link's command would be another one each time

  upcheck::Graph graph;
  upcheck::Description app;
  app.outputs = graph.files({"app"});
  app.command = "gcc -o app";
  for (const std::string &name : sources) {
    upcheck::Description object;
    object.outputs = graph.files({name + ".o"});
    object.inputs = graph.files({name + ".c"});
    object.depfile = name + ".d";  // where gcc says which headers it has read
    object.command = "gcc -c -MMD -o " + name + ".o " + name + ".c";
    graph.add(object);
    app.inputs.push_back(object.outputs[0]);
    app.command += " " + name + ".o";
  }
  graph.add(app);
  return graph;
}

// The stale targets that need not wait for others.
static std::vector<upcheck::Target> ready(const upcheck::Report &report) {
  const auto waits = [](const upcheck::Finding &finding) { return finding.upstream().has_value(); };
  std::vector<upcheck::Target> targets;
  for (const auto &[target, verdict, findings] : report.stale_with_findings())
    if (std::none_of(findings.begin(), findings.end(), waits)) targets.push_back(target);
  return targets;
}

static bool build(upcheck::Graph &graph, upcheck::Records &records) {
  // What is stale because something before it is stale comes in a later round: perhaps that comes out as it was.
  for (;;) {
    const std::vector<upcheck::Target> targets = ready(upcheck::check(graph, records));
    if (targets.empty()) return true;
    // From here to the commit they are on record as interrupted, and stale, whatever their files look like.
    upcheck::Build build(graph, records, targets);
    for (const upcheck::Target target : targets) {
      std::cout << graph.command(target) << std::endl;
      if (std::system(graph.command(target).c_str()) != 0) return false;
    }
    build.commit(graph, records);  // an input that was edited meanwhile makes a target stale again: see the next round
  }
}

int main(int argc, char **argv) try {
  fs::current_path(argc > 1 ? argv[1] : ".");
  upcheck::Graph graph = describe();
  if (argc > 2 && std::string(argv[2]) == "-n") {
    const upcheck::Report report = upcheck::check(graph, upcheck::Records::read(".upcheck"));
    for (const upcheck::Finding &finding : report.findings())
      std::cout << graph.name(finding.target()) << ": " << report.explain(graph, finding) << '\n';
    return 0;
  }
  upcheck::Records records(".upcheck");
  return build(graph, records) ? 0 : 1;
} catch (const std::exception &error) {
  std::cerr << "driver: " << error.what() << '\n';
  return 2;
}

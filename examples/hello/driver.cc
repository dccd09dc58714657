// A build driver in C++: compiles and links the program in src/, but only what is stale, and says why.
//
//   g++ -std=c++17 driver.cc $(pkg-config --cflags --libs upcheck_cxx) -o driver && ./driver DIRECTORY
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <upcheck/upcheck.hpp>

namespace {

upcheck::File add(upcheck::Graph &graph, const std::string &output, std::vector<upcheck::File> inputs,
                  const std::string &command, const std::string &depfile = "") {
  upcheck::Description target;
  target.outputs = graph.files({output});
  target.inputs = std::move(inputs);
  target.command = command;
  target.depfile = depfile;
  graph.add(target);
  return target.outputs[0];
}

upcheck::Graph describe() {
  upcheck::Graph graph;
  std::vector<upcheck::File> objects;
  for (const std::string name : {"main", "greet", "count"}) {
    const std::string source = "src/" + name + ".c", object = "out/" + name + ".o";
    objects.push_back(add(graph, object, graph.files({source}),
                          "mkdir -p out && cc -MMD -c " + source + " -o " + object, "out/" + name + ".d"));
  }
  add(graph, "out/hello", objects, "cc out/main.o out/greet.o out/count.o -o out/hello");
  return graph;
}

void build(upcheck::Graph &graph, upcheck::Records &records, upcheck::Target target) {
  upcheck::Build begun(graph, records, {target});  // before the command reads anything
  const std::string command(graph.command(target));
  std::cout << "  " << command << std::endl;
  if (std::system(command.c_str()) != 0) std::exit(1);  // it stays on record as interrupted
  begun.commit(graph, records);
}

// Builds what is stale by itself: what is made from that may come out as it is. False once all is fresh.
bool build_what_need_not_wait(upcheck::Graph &graph, upcheck::Records &records) {
  const upcheck::Report report = upcheck::check(graph, records);
  for (const upcheck::Stale &stale : report.stale()) {
    if (stale.waits()) continue;
    const upcheck::Finding &why = report.findings_of(stale).front();
    std::cout << graph.name(stale.target()) << ": " << report.explain(graph, why) << '\n';
    build(graph, records, stale.target());
  }
  return !report.is_fresh();
}

}  // namespace

int main(int argc, char **argv) try {
  if (argc != 2) return 2;
  std::filesystem::current_path(argv[1]);
  upcheck::Graph graph = describe();
  upcheck::Records records(".upcheck");
  while (build_what_need_not_wait(graph, records)) {
  }
} catch (const std::exception &error) {
  std::cerr << "driver: " << error.what() << '\n';
  return 2;
}

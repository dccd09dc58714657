// A C++ program that uses the C++ interface.
#include <iostream>
#include <upcheck/upcheck.hpp>

int main(int argc, char **argv) {
  if (argc != 2) return 3;
  upcheck::Graph graph(argv[1]);
  upcheck::Description target;
  target.outputs = graph.files({"main.o"});
  target.inputs = graph.files({"main.c"});
  graph.add(target);
  upcheck::Report report = upcheck::check(graph);
  for (const upcheck::Finding &finding : report.findings()) std::cout << report.explain(graph, finding) << '\n';
  // What fails comes as an exception through the archive's own C++ half.
  try {
    graph.add(target);
  } catch (const upcheck::Error &error) {
    std::cout << "refused: " << (error.status() == upcheck::Status::graph) << '\n';
  }
}

// One of two files of a program that both include the header, with what cxx gives to programs that have a bridge.
#include "rust/cxx.h"

#include "upcheck/upcheck.hpp"

std::size_t findings_of(const upcheck::Report &report);

int main() {
  upcheck::Graph graph;
  upcheck::Description description;
  description.outputs = graph.files({"nix"});
  graph.add(description);
  return findings_of(upcheck::check(graph)) == 1 ? 0 : 1;
}

// What the programs share: to stop, with a place, when something is not as expected; and files with times.
#ifndef EXPECT_HPP
#define EXPECT_HPP

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "upcheck/upcheck.hpp"

#define EXPECT(...)                                                                  \
  do {                                                                               \
    if (!(__VA_ARGS__)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #__VA_ARGS__); \
      std::abort();                                                                  \
    }                                                                                \
  } while (0)

// A call that throws an error of this status, with these words in it.
#define THROWS(call, status, words) EXPECT(throws([&] { (void)(call); }, upcheck::Status::status, words))

template <typename Call>
bool throws(Call call, upcheck::Status status, std::string_view words) {
  try {
    call();
  } catch (const upcheck::Error &error) {
    if (error.status() == status && std::string_view(error.what()).find(words) != std::string_view::npos) return true;
    std::fprintf(stderr, "it was %s: %s\n", upcheck::name(error.status()), error.what());
    return false;
  }
  std::fprintf(stderr, "nothing was thrown\n");
  return false;
}

// When a file of put() was changed.
inline upcheck::Time second(int number) { return upcheck::time_of((1'600'000'000 + number) * 1'000'000'000LL); }

// A file that was last changed in the given second.
inline void put(const std::filesystem::path &path, std::string_view content, int number) {
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << content;
  const timespec time = {1'600'000'000 + number, 0}, times[2] = {time, time};
  EXPECT(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

// A target with one output and some inputs.
inline upcheck::Target target(upcheck::Graph &graph, upcheck::Bytes output, const std::vector<std::string> &inputs,
                              const std::string &command = "") {
  upcheck::Description description;
  description.outputs = {graph.file(output)};
  description.inputs = graph.files(inputs);
  description.command = command;
  return graph.add(description);
}

// The names of the stale targets, in the order of the report.
inline std::vector<std::string> names(const upcheck::Graph &graph, upcheck::Span<upcheck::Target> targets) {
  std::vector<std::string> names;
  for (const upcheck::Target target : targets) names.emplace_back(graph.name(target));
  return names;
}
using Names = std::vector<std::string>;

// What has no name gives out no spans: here it is there for as long as the expression.
template <typename T>
const T &named(const T &it) {
  return it;
}

// The bytes of an array of values without gaps.
template <typename T>
std::string_view memory(upcheck::Span<T> span) {
  return {reinterpret_cast<const char *>(span.data()), span.size() * sizeof(T)};
}

#endif

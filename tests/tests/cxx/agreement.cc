// agreement SEED: the C and the C++ interface, out of one archive, are asked about the same worlds and answer with the
// same bytes. Random graphs over files with random times, some of which are missing; with records and without.
#include <cstring>
#include <memory>
#include <random>

#include "expect.hpp"

namespace {

std::mt19937 dice;

int below(int n) { return static_cast<int>(dice() % static_cast<unsigned>(n)); }

#define OK(...) EXPECT((__VA_ARGS__) == UPCHECK_OK)

template <auto Free>
struct With {
  template <typename T>
  void operator()(T *handle) const {
    Free(handle);
  }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, With<Free>>;

// One target of a world.
struct Made {
  std::vector<int> outputs, inputs, order_only;
  std::string command;
  bool phony = false;
  int policy = 0;
};

std::string path(int file) { return (file % 3 ? "d/f" : "f") + std::to_string(file); }

std::vector<Made> world(int n_files) {
  std::vector<Made> targets;
  for (int output = n_files / 3; output < n_files; ++output) {
    Made made;
    if (below(4) == 0) continue;
    made.outputs = {output};
    for (int n = below(4); n > 0; --n) made.inputs.push_back(below(output));
    for (int n = below(2); n > 0; --n) made.order_only.push_back(below(output));
    if (below(5) == 0 && output + 1 < n_files) made.outputs.push_back(++output);
    made.phony = below(8) == 0;
    if (!made.phony) made.command = "make " + std::to_string(below(50));
    made.policy = below(3) == 0 ? below(7) : 0;
    targets.push_back(made);
  }
  return targets;
}

// The same world described to both.
struct Both {
  upcheck::Graph cxx;
  Owned<upcheck_graph, upcheck_graph_free> c;

  Both(const std::vector<Made> &targets, int n_files) {
    upcheck_graph *made = nullptr;
    OK(upcheck_graph_new("", 0, &made, nullptr));
    c.reset(made);
    for (int file = 0; file < n_files; ++file) {
      const std::string name = path(file);
      upcheck_file number = 0;
      OK(upcheck_graph_add_path(c.get(), name.data(), name.size(), &number, nullptr));
      EXPECT(cxx.file(name).number == number);
    }
    for (const Made &target : targets) add(target);
  }

  void add(const Made &made) {
    upcheck::Description description;
    const auto files = [](const std::vector<int> &numbers) {
      std::vector<upcheck::File> files;
      for (const int number : numbers) files.push_back({static_cast<std::uint32_t>(number)});
      return files;
    };
    description.outputs = files(made.outputs);
    description.inputs = files(made.inputs);
    description.order_only = files(made.order_only);
    description.command = made.command;
    description.phony = made.phony;
    description.policy = static_cast<upcheck::Policy>(made.policy);

    upcheck_description same;
    std::memset(&same, 0, sizeof same);
    same.struct_size = sizeof same;
    const auto numbers = [](const std::vector<int> &list) {
      return std::vector<upcheck_file>(list.begin(), list.end());
    };
    const auto outputs = numbers(made.outputs), inputs = numbers(made.inputs), order_only = numbers(made.order_only);
    same.outputs = outputs.data();
    same.n_outputs = outputs.size();
    same.inputs = inputs.data();
    same.n_inputs = inputs.size();
    same.order_only = order_only.data();
    same.n_order_only = order_only.size();
    same.command = {made.command.data(), made.command.size()};
    same.flags = made.phony ? UPCHECK_PHONY : 0;
    same.policy = made.policy;

    upcheck_target target = UPCHECK_NONE;
    upcheck_error *error = nullptr;
    const upcheck_status status = upcheck_graph_add_target(c.get(), &same, &target, &error);
    try {
      EXPECT(cxx.add(description).number == target && status == UPCHECK_OK);
    } catch (const upcheck::Error &thrown) {
      EXPECT(static_cast<upcheck_status>(thrown.status()) == status);
      EXPECT(thrown.what() == std::string_view(upcheck_error_message(error)));
    }
    upcheck_error_free(error);
  }

  // Asks both. How many findings there are.
  std::size_t ask(const upcheck::Records *records, const upcheck::CheckOptions &options) {
    upcheck_check_options same;
    std::memset(&same, 0, sizeof same);
    same.struct_size = sizeof same;
    same.flags = options.by_times ? UPCHECK_BY_TIMES : 0;
    same.threads = options.threads;
    std::vector<upcheck_file> requests(1);  // so that it is not NULL
    if (options.requests) {
      requests.clear();
      requests.reserve(1);
      for (const upcheck::File file : *options.requests) requests.push_back(file.number);
      same.requests = requests.data();
      same.n_requests = requests.size();
    }
    upcheck_report *made = nullptr;
    upcheck_error *error = nullptr;
    const upcheck_records *const store = records ? records->native() : nullptr;
    const upcheck_status status = upcheck_check(c.get(), store, &same, &made, &error);
    const Owned<upcheck_report, upcheck_report_free> report(made);
    std::size_t n_findings = 0;
    try {
      const upcheck::Report mine = records ? upcheck::check(cxx, *records, options) : upcheck::check(cxx, options);
      EXPECT(status == UPCHECK_OK);
      compare(mine, report.get());
      n_findings = mine.findings().size();
    } catch (const upcheck::Error &thrown) {
      EXPECT(static_cast<upcheck_status>(thrown.status()) == status);
      EXPECT(thrown.what() == std::string_view(upcheck_error_message(error)));
    }
    upcheck_error_free(error);
    return n_findings;
  }

  void compare(const upcheck::Report &mine, const upcheck_report *theirs) const {
    std::size_t n = 0, stride = 0;
    const auto is = [&](std::string_view own, const void *array, std::size_t size) {
      EXPECT(own == std::string_view(static_cast<const char *>(array), n * size));
    };
    is(memory(mine.verdicts()), upcheck_report_verdicts(theirs, &n), 1);
    is(memory(mine.stale()), upcheck_report_stale(theirs, &n), sizeof(upcheck_target));
    const void *const findings = upcheck_report_findings(theirs, &n, &stride);
    EXPECT(stride == sizeof(upcheck::Finding));
    is(memory(mine.findings()), findings, stride);
    for (std::size_t k = 0; k < n; ++k) {
      char text[1000];
      EXPECT(upcheck_report_explain(theirs, c.get(), k, text, sizeof text) < sizeof text);
      EXPECT(mine.explain(cxx, mine.findings()[k]) == text);
    }
    const void *const causes = upcheck_report_causes(theirs, &n, &stride);
    EXPECT(stride == sizeof(upcheck::Cause));
    is(memory(mine.causes()), causes, stride);
    for (std::size_t k = 0; k < n; ++k) {
      char text[1000];
      EXPECT(upcheck_report_explain_cause(theirs, c.get(), k, text, sizeof text) < sizeof text);
      EXPECT(mine.explain(cxx, mine.causes()[k]) == text);
    }
    upcheck_summary summary;
    summary.struct_size = sizeof summary;
    OK(upcheck_report_summary(theirs, &summary, nullptr));
    EXPECT(summary.n_stale == mine.summary().n_stale() && summary.n_pending == mine.summary().n_pending());
    EXPECT(summary.n_files == mine.summary().n_files() && summary.n_targets == mine.summary().n_targets());
    EXPECT(mine.is_fresh() == (upcheck_report_is_fresh(theirs) == 1));
    // The C interface reads the C++ one's handles.
    EXPECT(upcheck_report_verdicts(mine.native(), nullptr) == static_cast<const void *>(mine.verdicts().data()));
    EXPECT(upcheck_graph_n_targets(cxx.native()) == cxx.n_targets());
  }
};

}  // namespace

int main(int argc, char **argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  const int n_worlds = argc > 2 ? std::atoi(argv[2]) : 60;
  std::size_t n_findings = 0;
  for (int number = 0; number < n_worlds; ++number) {
    dice.seed(seed * 1000 + static_cast<unsigned>(number));
    const std::filesystem::path here = "w" + std::to_string(number);
    std::filesystem::create_directory(here);
    std::filesystem::current_path(here);
    std::filesystem::create_directory("d");
    const int n_files = 5 + below(40);
    for (int file = 0; file < n_files; ++file)
      if (below(6)) put(path(file), std::string(1, static_cast<char>('a' + below(3))), below(20));
    Both both(world(n_files), n_files);

    upcheck::CheckOptions options;
    n_findings += both.ask(nullptr, options);
    options.by_times = true;
    options.threads = 1;
    n_findings += both.ask(nullptr, options);
    options.by_times = false;
    options.requests.emplace();
    for (int n = below(3); n > 0; --n)
      options.requests->push_back({static_cast<std::uint32_t>(below(n_files))});
    n_findings += both.ask(nullptr, options);

    // Some are put on record as they are, and then some files change.
    upcheck::Records records("store");
    std::vector<upcheck::Target> built;
    for (std::uint32_t target = 0; target < both.cxx.n_targets(); ++target)
      if (!both.cxx.command({target}).empty() && below(3)) built.push_back({target});
    try {
      upcheck::Build build(both.cxx, records, built);
      if (below(5)) build.commit_made_in_order(both.cxx, records);
    } catch (const upcheck::Error &) {
      // There are worlds in which nothing can be built.
    }
    for (int n = below(5); n > 0; --n) put(path(below(n_files)), std::string(1, static_cast<char>('a' + below(4))), 30);
    options.requests.reset();
    n_findings += both.ask(&records, options);
    std::filesystem::current_path("..");
  }
  EXPECT(n_findings > static_cast<std::size_t>(10 * n_worlds));
}

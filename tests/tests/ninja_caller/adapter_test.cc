// Unit tests of the disk interface, against ninja's real one; and ninja's own unit tests of its disk interface, where
// every Stat is answered from a snapshot that is taken for it alone.

#include "upcheck_disk_interface.cc"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>

#include "build_log.h"
#include "depfile_parser.h"
#include "test.h"
#include "util.h"

/// Counts what is asked from the disk although there is a snapshot.
struct Watched : public UpcheckDiskInterface {
  TimeStamp Stat(const std::string& path, std::string* err) const override {
    if (answers_ && answers_->Get(path) == upcheck_ninja::Answers::Unknown())
      ++n_live;
    return UpcheckDiskInterface::Stat(path, err);
  }
  bool has_snapshot() const { return answers_ != NULL; }
  mutable size_t n_live = 0;
};

/// A snapshot for each Stat.
struct SnapshotForEach : public RealDiskInterface {
  TimeStamp Stat(const std::string& path, std::string* err) const override {
    State state;
    DepsLog deps_log;
    Node* node = state.GetNode(path, 0);
    disk_.AllowStatCache(true);
    disk_.Prefetch(state, &deps_log, std::vector<Node*>(1, node));
    TimeStamp time = disk_.Stat(node->path(), err);
    disk_.AllowStatCache(false);
    return time;
  }
  mutable Watched disk_;
};

#define RealDiskInterface SnapshotForEach
#include "disk_interface_test.cc"
#undef RealDiskInterface

namespace {

struct UpcheckTest : public testing::Test {
  void SetUp() override {
    temp_dir_.CreateAndEnter("Ninja-UpcheckTest");
    ASSERT_EQ(0, mkdir("dir", 0777));
  }
  void TearDown() override { temp_dir_.Cleanup(); }

  void Write(const std::string& path, int64_t seconds = 1600000000, long nanoseconds = 5) {
    FILE* file = fopen(path.c_str(), "w");
    ASSERT_TRUE(file != NULL);
    fclose(file);
    Touch(path, seconds, nanoseconds);
  }

  void Touch(const std::string& path, int64_t seconds, long nanoseconds = 0) {
    struct timespec times[2];
    times[0].tv_sec = times[1].tv_sec = seconds;
    times[0].tv_nsec = times[1].tv_nsec = nanoseconds;
    ASSERT_EQ(0, utimensat(AT_FDCWD, path.c_str(), times, 0));
  }

  /// Both disks say the same of a path, in value and in words.
  void Same(const std::string& path) {
    std::string ours, theirs;
    TimeStamp expected = real_.Stat(path, &theirs);
    TimeStamp found = each_.Stat(path, &ours);
    if (expected != found || ours != theirs)
      fprintf(stderr, "%s: %lld %s, not %lld %s\n", path.c_str(), (long long)found, ours.c_str(),
              (long long)expected, theirs.c_str());
    EXPECT_EQ(expected, found);
    EXPECT_EQ(theirs, ours);
  }

  /// A snapshot for these paths.
  void Begin(const std::vector<std::string>& paths) {
    std::vector<Node*> nodes;
    for (size_t i = 0; i < paths.size(); ++i)
      nodes.push_back(state_.GetNode(paths[i], 0));
    disk_.AllowStatCache(true);
    disk_.Prefetch(state_, &deps_log_, nodes);
  }

  TimeStamp Stat(const char* path) {
    std::string err;
    TimeStamp time = disk_.Stat(state_.GetNode(path, 0)->path(), &err);
    EXPECT_EQ("", err);
    return time;
  }

  ScopedTempDir temp_dir_;
  RealDiskInterface real_;
  SnapshotForEach each_;
  State state_;
  DepsLog deps_log_;
  Watched disk_;
};

TEST_F(UpcheckTest, TimesAreNinjas) {
  struct { int64_t seconds; long nanoseconds; } times[] = {
    { 1600000000, 123456789 }, { 1, 0 }, { 0, 0 }, { 0, 1 }, { 0, 999999999 }, { -1, 999999999 }, { -1, 0 },
    { -5, 7 }, { -2, 999999999 }, { 4294967296, 1 }, { 9223372036, 854775807 }, { 9223372036, 854775808 },
    { 9223372037, 0 }, { -9223372037, 0 }, { 15000000000, 9 },
  };
  for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); ++i) {
    Write("file", times[i].seconds, times[i].nanoseconds);
    Same("file");
  }
}

TEST_F(UpcheckTest, PathsAreTheKernels) {
  Write("file");
  Write("dir/file", 1600000001);
  ASSERT_EQ(0, symlink("file", "to-file"));
  ASSERT_EQ(0, symlink("dir", "to-dir"));
  ASSERT_EQ(0, symlink("nothing", "dangling"));
  ASSERT_EQ(0, symlink("loop", "loop"));
  ASSERT_EQ(0, symlink("file/below", "through-a-file"));
  ASSERT_EQ(0, mkdir("dir/sub", 0777));
  ASSERT_EQ(0, symlink("../dir/sub", "dir/elsewhere"));
  const char* paths[] = {
    "file", "dir", "dir/file", "dir/", "dir/.", "dir/..", "dir/../file", "dir//file", "./file", ".", "..", "/", "//",
    "../", "to-file", "to-dir", "to-dir/", "to-dir/file", "to-dir/../file", "dir/elsewhere/../file", "dangling",
    "dangling/x", "loop", "loop/x", "through-a-file", "file/", "file/x", "file/..", "file/../dir", "nothing",
    "nothing/x", "nothing/../file", "nothing/..", "dir/sub/../../file", "/dev/null", "/dev/null/x", "/nothing/x",
    "a b", " ", "\\", "dir\\file", "\xff\xfe", "C:/file",
  };
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); ++i)
    Same(paths[i]);
}

TEST_F(UpcheckTest, LongPathsAreRefusedWithTheSameWords) {
  Same(std::string(255, 'x'));
  Same(std::string(256, 'x'));
  Same("nothing/" + std::string(256, 'x'));
  Same("dir/" + std::string(256, 'x'));
  // Every part is short enough, and the whole leads to a file, but is too long at its end.
  Write("dir/file");
  for (int length = PATH_MAX - 6; length < PATH_MAX + 6; ++length) {
    std::string path = "dir/file";
    while ((int)path.size() < length)
      path = (length - path.size()) % 2 && path[0] != '.' ? "dir/../" + path : "./" + path;
    Same(path);
    Same("nothing/" + path.substr(8));
  }
}

TEST_F(UpcheckTest, ForbiddenPathsAreRefusedWithTheSameWords) {
  ASSERT_EQ(0, mkdir("dir/sub", 0777));
  Write("dir/sub/file");
  for (int mode = 0; mode < 8; ++mode) {
    ASSERT_EQ(0, chmod("dir/sub", mode * 0100));
    Same("dir/sub/file");
    Same("dir/sub");
    Same("dir/sub/nothing");
  }
  ASSERT_EQ(0, chmod("dir/sub", 0777));
}

TEST_F(UpcheckTest, ASnapshotIsTrueUntilNinjaSaysSo) {
  Write("file");
  Begin({ "file", "none" });
  TimeStamp before = Stat("file");
  Touch("file", 1700000000);
  Write("none");
  EXPECT_EQ(before, Stat("file"));
  EXPECT_EQ(0, Stat("none"));
  EXPECT_EQ(0u, disk_.n_live);
  disk_.AllowStatCache(false);
  EXPECT_EQ(1700000000000000000, Stat("file"));
  EXPECT_EQ(1600000000000000005, Stat("none"));
}

TEST_F(UpcheckTest, WhatNinjaChangesItselfEndsTheSnapshot) {
  for (int how = 0; how < 3; ++how) {
    Write("file");
    Begin({ "file" });
    EXPECT_TRUE(disk_.has_snapshot());
    switch (how) {
      case 0: disk_.RemoveFile("file"); break;
      case 1: disk_.MakeDir("file"); break;
      case 2: disk_.MakeDirs("new/file"); break;
    }
    EXPECT_FALSE(disk_.has_snapshot());
  }
}

TEST_F(UpcheckTest, NoSnapshotIsTakenUnlessNinjaAllowsIt) {
  Write("file");
  Begin({ "file" });
  disk_.AllowStatCache(false);
  disk_.Prefetch(state_, &deps_log_, std::vector<Node*>(1, state_.GetNode("file", 0)));
  EXPECT_FALSE(disk_.has_snapshot());
}

TEST_F(UpcheckTest, WhatIsNotInTheSnapshotIsAskedFromTheDisk) {
  Write("file");
  Write("other");
  Begin({ "file" });
  EXPECT_EQ(real_.Stat("other", NULL), Stat("other"));
  EXPECT_EQ(1u, disk_.n_live);
  // The same path, but not a node's.
  std::string err, copy = "file";
  Touch("file", 1700000000);
  EXPECT_EQ(1700000000000000000, disk_.Stat(copy, &err));
}

TEST_F(UpcheckTest, PathsThatNoFileCanHaveCostTheSnapshotAndNothingElse) {
  Write("file");
  std::string with_nul("file\0x", 6);
  Begin({ "file", with_nul });
  EXPECT_FALSE(disk_.has_snapshot());
  std::string ours, theirs;
  EXPECT_EQ(real_.Stat(with_nul, &theirs), disk_.Stat(state_.GetNode(with_nul, 0)->path(), &ours));
  Begin({ "file", "" });
  EXPECT_FALSE(disk_.has_snapshot());
  EXPECT_EQ(1600000000000000005, Stat("file"));
}

TEST_F(UpcheckTest, NothingToAskIsNoTrouble) {
  Begin({});
  Write("file");
  EXPECT_EQ(1600000000000000005, Stat("file"));
}

TEST_F(UpcheckTest, WhereTheDirectoryIsGoneAllIsAskedFromTheDisk) {
  ASSERT_EQ(0, mkdir("gone", 0777));
  ASSERT_EQ(0, chdir("gone"));
  ASSERT_EQ(0, rmdir("../gone"));
  std::string ours, theirs;
  Begin({ "file", "/dev/null" });
  EXPECT_EQ(real_.Stat("file", &theirs), disk_.Stat(state_.GetNode("file", 0)->path(), &ours));
  EXPECT_EQ(theirs, ours);
  EXPECT_EQ(real_.Stat("/dev/null", &theirs), Stat("/dev/null"));
  // For the cleaning up.
  ASSERT_EQ(0, chdir(temp_dir_.start_dir_.c_str()));
  ASSERT_EQ(0, chdir(temp_dir_.temp_dir_name_.c_str()));
}

/// Manifest, deps log and files of a build whose headers only the deps log knows.
struct UpcheckScanTest : public UpcheckTest {
  void Parse() {
    AssertParse(&state_,
                "rule cc\n  command = cc $in\n  deps = gcc\n  depfile = d\n"
                "rule link\n  command = link $in\n"
                "build a.o a2.o | a3.o: cc a.c | tool || stamp |@ check\n"
                "build b.o: cc b.c gen.h\n"
                "build gen.h: link gen.in\n"
                "build stamp: link stamp.in\n"
                "build check: link check.in\n"
                "build app: link a.o b.o\n"
                "build all: phony app\n"
                "build lone1: cc l1.c\nbuild lone2: cc l2.c\nbuild lone3: cc l3.c\nbuild lone4: cc l4.c\n"
                "build lone5: cc l5.c\nbuild lone6: cc l6.c\nbuild lone7: cc l7.c\nbuild lone8: cc l8.c\n"
                "build odd: cc odd.c\n");
    std::string err;
    std::vector<Node*> deps;
    deps.push_back(state_.GetNode("h/a.h", 0));
    deps.push_back(state_.GetNode("h/common.h", 0));
    // A header that is made by another target, which only the deps log knows of.
    deps.push_back(state_.GetNode("odd", 0));
    ASSERT_TRUE(deps_log_.OpenForWrite("deps", &err));
    ASSERT_TRUE(deps_log_.RecordDeps(state_.GetNode("a.o", 0), 1, deps));
    deps[0] = state_.GetNode("h/odd.h", 0);
    deps[2] = state_.GetNode("h/odd2.h", 0);
    ASSERT_TRUE(deps_log_.RecordDeps(state_.GetNode("odd", 0), 1, deps));
    deps[0] = state_.GetNode("h/lone.h", 0);
    ASSERT_TRUE(deps_log_.RecordDeps(state_.GetNode("lone1", 0), 1, deps));
  }

  /// Whether an answer for the node is in the snapshot.
  bool Has(const char* path) {
    size_t before = disk_.n_live;
    Stat(path);
    return disk_.n_live == before;
  }

  void Prefetch(const char* target) {
    disk_.AllowStatCache(true);
    disk_.Prefetch(state_, &deps_log_, std::vector<Node*>(1, state_.GetNode(target, 0)));
    ASSERT_TRUE(disk_.has_snapshot());
  }
};

TEST_F(UpcheckScanTest, OneTargetsSnapshotHasAllThatItNeeds) {
  ASSERT_NO_FATAL_FAILURE(Parse());
  ASSERT_NO_FATAL_FAILURE(Prefetch("all"));
  const char* needed[] = { "all", "app", "a.o", "a2.o", "a3.o", "b.o", "a.c", "b.c", "tool", "stamp", "stamp.in",
                           "check", "check.in", "gen.h", "gen.in", "h/a.h", "h/common.h", "odd", "odd.c", "h/odd.h",
                           "h/odd2.h" };
  for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); ++i)
    EXPECT_TRUE(Has(needed[i]));
  EXPECT_FALSE(Has("lone1"));
  EXPECT_FALSE(Has("h/lone.h"));
}

TEST_F(UpcheckScanTest, ManyTargetsSnapshotHasAllOfTheDepsLog) {
  ASSERT_NO_FATAL_FAILURE(Parse());
  std::vector<Node*> targets;
  for (size_t i = 0; i < state_.edges_.size(); ++i)
    targets.push_back(state_.edges_[i]->outputs_[0]);
  disk_.AllowStatCache(true);
  disk_.Prefetch(state_, &deps_log_, targets);
  ASSERT_TRUE(disk_.has_snapshot());
  for (State::Paths::const_iterator i = state_.paths_.begin(); i != state_.paths_.end(); ++i) {
    std::string err;
    disk_.Stat(i->second->path(), &err);
  }
  EXPECT_EQ(0u, disk_.n_live);
}

/// Ninja 1.12 and later want to be given a place for explanations.
template <typename Scan>
auto NewScan(State* state, BuildLog* build_log, DepsLog* deps_log, DiskInterface* disk,
             const DepfileParserOptions* options, int) -> decltype(new Scan(state, build_log, deps_log, disk, options)) {
  return new Scan(state, build_log, deps_log, disk, options);
}
template <typename Scan>
auto NewScan(State* state, BuildLog* build_log, DepsLog* deps_log, DiskInterface* disk,
             const DepfileParserOptions* options, long)
    -> decltype(new Scan(state, build_log, deps_log, disk, options, NULL)) {
  return new Scan(state, build_log, deps_log, disk, options, NULL);
}

TEST_F(UpcheckScanTest, AScanAsksForNothingElse) {
  ASSERT_NO_FATAL_FAILURE(Parse());
  // The deps log is believed where an output is not newer than its record.
  const char* files[] = { "a.o", "a2.o", "a3.o", "b.o", "odd", "app", "gen.h", "stamp", "check", "lone1", "a.c", "b.c",
                          "tool", "gen.in", "stamp.in", "check.in", "odd.c", "l1.c", "l2.c", "l3.c", "l4.c", "l5.c",
                          "l6.c", "l7.c", "l8.c" };
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i)
    Write(files[i], 0, 1);
  std::string err;
  std::vector<Node*> choices[] = { std::vector<Node*>(1, state_.GetNode("all", 0)),
                                   std::vector<Node*>(1, state_.GetNode("lone1", 0)), state_.RootNodes(&err) };
  for (size_t i = 0; i < 3; ++i) {
    state_.Reset();
    disk_.AllowStatCache(true);
    disk_.Prefetch(state_, &deps_log_, choices[i]);
    EXPECT_TRUE(disk_.has_snapshot());
    BuildLog build_log;
    DepfileParserOptions options;
    std::unique_ptr<DependencyScan> scan(
        NewScan<DependencyScan>(&state_, &build_log, &deps_log_, &disk_, &options, 0));
    for (size_t k = 0; k < choices[i].size(); ++k) {
      std::vector<Node*> validations;
      EXPECT_TRUE(scan->RecomputeDirty(choices[i][k], &validations, &err));
      EXPECT_EQ("", err);
    }
    disk_.AllowStatCache(false);
    EXPECT_EQ(0u, disk_.n_live);
  }
  // The scan has read the deps log.
  EXPECT_TRUE(state_.GetNode("h/lone.h", 0)->status_known());
}

}  // namespace

// Child processes: how they end, and what they read and write.
#include "base/process/process.h"

#include "base/process/temporary_folder.h"
#include "base/process/unfinished.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sys/resource.h>
#include <unistd.h>

namespace strata {
namespace {

TEST(TemporaryFolder, GoesAwayWithWhatIsInIt) {
  std::string path;
  {
    TemporaryFolder folder;
    ASSERT_TRUE(folder.write("file", "text"));
    EXPECT_EQ(folder.read("file"), "text");
    EXPECT_FALSE(folder.read("other"));
    path = folder.path("");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Process, SaysHowItEnded) {
  EXPECT_EQ(runProcess({"sh", "-c", "exit 0"}).status, 0);
  EXPECT_EQ(runProcess({"sh", "-c", "exit 0"}).problem, "");
  EXPECT_EQ(runProcess({"sh", "-c", "echo no >&2; exit 3"}).status, 3);
  EXPECT_EQ(runProcess({"sh", "-c", "echo no >&2; exit 3"}).errors, "no\n");
  EXPECT_EQ(runProcess({"sh", "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_EQ(runProcess({"sh", "-c", "kill -9 $$"}).problem, "was ended by signal 9");
  EXPECT_EQ(runProcess({"no-such-program"}).problem, "cannot be started: No such file or directory");
}

TEST(Process, IsEndedWithItsOwnChildrenWhenItTakesTooLong) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(runProcess({"sh", "-c", "sleep 600; true"}, {.timeoutSeconds = 1}).problem, "ran longer than 1 s");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Process, IsEndedWhenItWritesTooMuch) {
  const MemoryFile output("output");
  const ProcessResult ended =
      runProcess({"yes"}, {.output = output.descriptor(), .timeoutSeconds = 600, .mostOutput = int64_t{3} << 20});
  EXPECT_EQ(ended.problem, "wrote more than 3 MiB");
  EXPECT_EQ(ended.status, 128 + 9);
}

TEST(Process, IsWatchedWithoutAFileOfIt) {
  // Only so many files as the child's streams take: none is left for the process itself.
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int lowest = dup(0);
  ASSERT_GE(lowest, 0);
  close(lowest);
  const rlimit few{static_cast<rlim_t>(lowest) + 1, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const ProcessResult late = runProcess({"sleep", "600"}, {.timeoutSeconds = 1});
  const ProcessResult good = runProcess({"sh", "-c", "exit 3"}, {.timeoutSeconds = 600});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(late.problem, "ran longer than 1 s");
  EXPECT_EQ(good.status, 3);
}

TEST(Process, CallsAFunctionInACopyOfItself) {
  TemporaryFolder folder; // the copy does not take it for its own, however it ends
  ASSERT_TRUE(folder.write("file", "text"));
  int here = 1;
  const MemoryFile output("output");
  const auto function = [&] {
    ++here;
    printf("%s %d", folder.read("file").value_or("").c_str(), here);
    fputs("no\n", stderr);
    discardUnfinished();
    return 3;
  };
  const ProcessResult result = callInCopy(function, {.output = output.descriptor()});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.errors, "no\n");
  EXPECT_EQ(output.read(), "text 2");
  EXPECT_EQ(here, 1);
  EXPECT_EQ(folder.read("file"), "text");
  EXPECT_EQ(callInCopy([] { return raise(SIGKILL); }).problem, "was ended by signal 9");
  EXPECT_EQ(callInCopy([] { return pause(); }, {.timeoutSeconds = 1}).problem, "ran longer than 1 s");
}

TEST(Process, ReadsAndWritesFilesInMemory) {
  MemoryFile input("input"), output("output");
  std::string text(5000000, 'x'); // more than a pipe holds
  text += "end";
  ASSERT_TRUE(input.write(text));
  EXPECT_EQ(runProcess({"cat"}, {input.descriptor(), output.descriptor()}).problem, "");
  EXPECT_EQ(output.read(), text);
  EXPECT_EQ(output.read(3), "xxx");
  // Without files there is nothing to read, and nobody hears what is printed.
  EXPECT_EQ(runProcess({"sh", "-c", "cat; echo printed"}).status, 0);
}

} // namespace
} // namespace strata

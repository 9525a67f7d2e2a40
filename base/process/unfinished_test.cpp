// What stays of unfinished things when a process ends early.
#include "base/process/unfinished.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace strata {
namespace {

std::string makeFolder() {
  std::string name = testing::TempDir() + "unfinished-XXXXXX";
  EXPECT_TRUE(mkdtemp(name.data()));
  return name;
}

/// Ended counts, even when nobody has asked for its status.
bool isRunning(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string number, name, state;
  return bool(file >> number >> name >> state) && state != "Z";
}

TEST(Unfinished, ASignalRemovesFilesAndFoldersAndEndsPrograms) {
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    const std::string folder = makeFolder();
    std::filesystem::create_directories(folder + "/work/deep");
    std::ofstream(folder + "/work/deep/file") << "x";
    std::ofstream(folder + "/one") << "x";
    std::ofstream(folder + "/done") << "x";
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = fork();
    if (child == 0) {
      discardUnfinishedOnSignals();
      const Unfinished one(folder + "/one"), work(folder + "/work");
      {
        const Unfinished finished(folder + "/done");
      }
      const pid_t helper = fork();
      if (helper == 0) {
        setpgid(0, 0);
        pause();
        _exit(0);
      }
      setpgid(helper, helper);
      const Unfinished running(helper);
      if (write(pipe[1], &helper, sizeof helper) < 0)
        _exit(1);
      raise(signal);
      _exit(0);
    }
    pid_t helper = 0;
    ASSERT_EQ(read(pipe[0], &helper, sizeof helper), ssize_t(sizeof helper));
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_FALSE(std::filesystem::exists(folder + "/one"));
    EXPECT_FALSE(std::filesystem::exists(folder + "/work"));
    EXPECT_TRUE(std::filesystem::exists(folder + "/done"));
    for (int wait = 0; wait < 500 && isRunning(helper); ++wait)
      usleep(10000);
    EXPECT_FALSE(isRunning(helper));
    close(pipe[0]);
    close(pipe[1]);
    std::filesystem::remove_all(folder);
  }
}

TEST(Unfinished, AnIgnoredSignalStaysIgnored) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGHUP, SIG_IGN);
    discardUnfinishedOnSignals();
    raise(SIGHUP);
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

TEST(Unfinished, EntriesAreUsedAgain) {
  const std::string folder = makeFolder();
  std::ofstream(folder + "/kept") << "x";
  for (int round = 0; round < 3; ++round) {
    Unfinished kept(folder + "/kept");
    Unfinished moved(std::move(kept));
    kept = Unfinished();
  }
  discardUnfinished();
  EXPECT_TRUE(std::filesystem::exists(folder + "/kept"));
  std::filesystem::remove_all(folder);
}

} // namespace
} // namespace strata

// What tells processes apart, and what the system tells of them.
#include "runtime/cluster/beginning.h"

#include "runtime/cluster/processes.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

TEST(Beginning, CoresAreShared) {
  EXPECT_EQ(shareOfCores(16, 16, 2), 8u); // both may run on all
  EXPECT_EQ(shareOfCores(8, 16, 2), 8u);  // each on a half of its own
  EXPECT_EQ(shareOfCores(1, 16, 2), 1u);
  EXPECT_EQ(shareOfCores(8, 16, 4), 4u); // two on each half
  EXPECT_EQ(shareOfCores(16, 16, 3), 5u);
  EXPECT_EQ(shareOfCores(2, 2, 4), 1u);
  EXPECT_EQ(shareOfCores(2, 2, 1), 2u);
  EXPECT_EQ(shareOfCores(2, 2, 0), 2u); // nobody says how many there are
  EXPECT_GE(threadsOfProcess(), 1u);
}

TEST(Beginning, WordsAreToldApart) {
  EXPECT_EQ(fingerprintOf({"run", "a.sq"}), fingerprintOf({"run", "a.sq"}));
  for (const std::vector<std::string>& other : {std::vector<std::string>{"run", "b.sq"},
                                                {"runa.sq"},
                                                {"run", "a.sq", ""},
                                                {"run", "a.s", "q"},
                                                {"a.sq", "run"}})
    EXPECT_NE(fingerprintOf({"run", "a.sq"}), fingerprintOf(other));
  EXPECT_EQ(codeFingerprint(), codeFingerprint());
}

TEST(Processes, AChildIsSeenUntilItIsWaitedFor) {
  const pid_t child = fork();
  if (child == 0)
    while (true)
      pause();
  const auto isChild = [&] {
    const std::vector<pid_t> all = childrenOf(getpid());
    return std::find(all.begin(), all.end(), child) != all.end();
  };
  EXPECT_TRUE(isChild());
  EXPECT_TRUE(isAlive(child));
  EXPECT_EQ(endOf(child), -1);
  EXPECT_EQ(processName(child), processName(getpid()));
  EXPECT_EQ(environmentOf(child, "PATH"), environmentOf(getpid(), "PATH"));
  EXPECT_EQ(environmentOf(child, "PAT"), "");
  kill(child, SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  EXPECT_TRUE(isChild());
  EXPECT_FALSE(isAlive(child));
  EXPECT_EQ(endOf(child), SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(isChild());
  EXPECT_EQ(processName(child), "");
}

} // namespace
} // namespace strata::cluster

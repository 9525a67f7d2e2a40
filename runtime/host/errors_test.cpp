// The error handler of include/strata.h: wrong arguments, failures of a program that runs, and neither handled.
#include "include/strata.h"
#include "runtime/abi.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string lastCode, lastMessage;

void remember(const char* code, const char* message) {
  lastCode = code;
  lastMessage = message;
}

void tellAndExit(const char* code, const char* message) {
  std::fprintf(stderr, "%s|%s|%d\n", code, message, strataIsFatal());
  std::exit(3);
}

const StrataCheck outOfRange{"program-index", "index {0} is outside", "make it smaller", "p.x", 4, 2};

TEST(Errors, WrongArgumentsReachTheHandlerWhichReturns) {
  EXPECT_EQ(strataSetErrorHandler(remember), nullptr);
  strataRaiseError("entry-overlap", "they overlap");
  EXPECT_EQ(lastCode, "entry-overlap");
  EXPECT_EQ(lastMessage, "they overlap");
  EXPECT_EQ(strataIsFatal(), 0);
  EXPECT_EQ(strataSetErrorHandler(nullptr), remember);
}

TEST(ErrorsDeathTest, FailuresReachTheHandlerToo) {
  const int64_t values[] = {7};
  EXPECT_EXIT((strataSetErrorHandler(tellAndExit), strata_fail(&outOfRange, values, 1)), testing::ExitedWithCode(3),
              "program-index\\|p.x:4: index 7 is outside\\|1");
}

TEST(ErrorsDeathTest, WithoutAHandlerTheProgramEnds) {
  const int64_t values[] = {7};
  EXPECT_EXIT(strata_fail(&outOfRange, values, 1), testing::ExitedWithCode(1),
              "p.x:4:2: error: index 7 is outside \\[program-index\\]\n  help: make it smaller");
  EXPECT_EXIT(strataRaiseError("entry-overlap", "they overlap"), testing::ExitedWithCode(1),
              "error: they overlap \\[entry-overlap\\]");
}

} // namespace

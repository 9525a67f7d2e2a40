// How a failure is told, by whom, and that the first one wins.
#include "runtime/core/failure.h"

#include "runtime/core/testing.h"

#include <cstdio>
#include <unistd.h>

namespace strata::runtime {
namespace {

using Failures = WithThreads;
STRATA_WITH_THREADS(Failures);

const StrataCheck outOfRange{
    "sequoia-index", "index {0} is outside of [0, {1})", "make the array larger", "mm.sq", 12, 7};
const int64_t values[] = {-3, 40};

TEST_P(Failures, TellPlaceMessageCodeAndHelp) {
  EXPECT_EXIT(
      strata_fail(&outOfRange, values, 2), ::testing::ExitedWithCode(1),
      "mm.sq:12:7: error: index -3 is outside of \\[0, 40\\) \\[sequoia-index\\]\n  help: make the array larger");
}

TEST_P(Failures, FromManyInstancesAreToldOnce) {
  EXPECT_EXIT(spmd(1000, false, [](int64_t) { strata_fail(&outOfRange, values, 2); }), ::testing::ExitedWithCode(1),
              "^mm.sq:12:7: error: [^\n]*\n  help: make the array larger\n$");
}

TEST_P(Failures, FromAFibreEndTheProgram) {
  EXPECT_EXIT(wait(spawn([] { strata_fail(&outOfRange, values, 2); })), ::testing::ExitedWithCode(1), "mm.sq:12:7");
}

TEST_P(Failures, TheHandlerSeesTheFilledMessage) {
  EXPECT_EXIT(
      {
        strata_set_failure_handler([](const StrataCheck* check, const int64_t* given, int32_t count, const char* text) {
          std::fprintf(stderr, "%s|%s|%d|%d\n", check->code, text, count, static_cast<int>(given[1]));
          _exit(7);
        });
        strata_fail(&outOfRange, values, 2);
      },
      ::testing::ExitedWithCode(7), "sequoia-index\\|index -3 is outside of \\[0, 40\\)\\|2\\|40");
}

TEST_P(Failures, WithoutAPlaceHaveNone) {
  EXPECT_EXIT(fail("runtime-threads", "too many"), ::testing::ExitedWithCode(1),
              "^error: too many \\[runtime-threads\\]");
}

TEST(FillIn, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(fillIn("{0} of {1}, {2}, {x} and {", values, 2), "-3 of 40, {2}, {x} and {");
  EXPECT_EQ(fillIn("{0}", nullptr, 0), "{0}");
}

} // namespace
} // namespace strata::runtime

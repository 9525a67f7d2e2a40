// The processor's answers beside those of the compiler's own library; and code that needs what is not there.
#include "runtime/core/processor.h"

#include "runtime/abi.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace strata::runtime {
namespace {

const ProcessorFeature* featureOf(const std::string& name) {
  for (const ProcessorFeature& feature : processorFeatures())
    if (feature.name == name)
      return &feature;
  return nullptr;
}

TEST(Processor, NamesAreTold) {
  std::set<std::string> names;
  for (const ProcessorFeature& feature : processorFeatures())
    EXPECT_TRUE(names.insert(feature.name).second) << feature.name;
}

#if defined(__x86_64__)
TEST(Processor, AgreesWithTheCompilersLibrary) {
#define AGREES(NAME) EXPECT_EQ(isPresent(*featureOf(NAME)), __builtin_cpu_supports(NAME) != 0) << NAME
  AGREES("sse3");
  AGREES("ssse3");
  AGREES("sse4.1");
  AGREES("sse4.2");
  AGREES("popcnt");
  AGREES("aes");
  AGREES("pclmul");
  AGREES("avx");
  AGREES("avx2");
  AGREES("fma");
  AGREES("bmi");
  AGREES("bmi2");
  AGREES("sse4a");
  AGREES("fma4");
  AGREES("xop");
  AGREES("avx512f");
  AGREES("avx512vl");
  AGREES("avx512bw");
  AGREES("avx512dq");
  AGREES("avx512cd");
  AGREES("avx512vbmi");
  AGREES("avx512ifma");
  AGREES("avx512vpopcntdq");
  AGREES("avx512vbmi2");
  AGREES("avx512vnni");
  AGREES("avx512bitalg");
  AGREES("gfni");
  AGREES("vpclmulqdq");
#undef AGREES
}

/// A feature that no processor has together with that other one: AVX-512 and XOP are of different makers.
const char* absent() {
  return isPresent(*featureOf("xop")) ? "avx512f" : "xop";
}

TEST(Processor, CodeThatNeedsMoreEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string shown = featureOf(absent())->shown;
  EXPECT_EXIT(strata_require_processor("heat.o", "a new one", (std::string("sse3,") + absent() + ",sse4.1").c_str()),
              ::testing::ExitedWithCode(1),
              "_test', of which 'heat.o' is a part, is compiled for processor 'a new one' and needs " + shown +
                  ", which this computer does not have \\[runtime-processor\\]");
  EXPECT_EXIT(strata_require_processor("", "a new one", absent()), ::testing::ExitedWithCode(1),
              "_test' is compiled for");
}
#endif

TEST(Processor, CodeThatNeedsWhatIsThereGoesOn) {
  std::string present;
  for (const ProcessorFeature& feature : processorFeatures())
    if (isPresent(feature))
      present += (present.empty() ? "" : ",") + std::string(feature.name);
  strata_require_processor("", "this one", present.c_str());
  strata_require_processor("", "this one", "");
  strata_require_processor("", "this one", "of another table,and-another");
}

} // namespace
} // namespace strata::runtime

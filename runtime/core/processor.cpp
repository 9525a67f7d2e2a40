// The table of features and CPUID; the numbers are those of the Intel 64 and AMD64 architecture manuals. And what code
// that is made for a newer processor says when it is loaded: it runs before all else of a program, so that nothing here
// needs a static variable that is constructed.
#include "runtime/core/processor.h"

#include "runtime/abi.h"
#include "runtime/core/failure.h"

#include <dlfcn.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace strata::runtime {

namespace {

#if defined(__x86_64__)
enum Word : unsigned { eax, ebx, ecx, edx };
constexpr uint32_t extended = 0x80000001;
constexpr uint64_t avxState = 0x6, avx512State = 0xe6; // of XCR0: XMM and YMM; with those of masks and ZMM

constexpr ProcessorFeature table[] = {
    {"sse3", "SSE3", 1, 0, ecx, 0, 0},
    {"pclmul", "PCLMULQDQ", 1, 0, ecx, 1, 0},
    {"ssse3", "SSSE3", 1, 0, ecx, 9, 0},
    {"fma", "FMA", 1, 0, ecx, 12, avxState},
    {"cx16", "CMPXCHG16B", 1, 0, ecx, 13, 0},
    {"sse4.1", "SSE4.1", 1, 0, ecx, 19, 0},
    {"sse4.2", "SSE4.2", 1, 0, ecx, 20, 0},
    {"movbe", "MOVBE", 1, 0, ecx, 22, 0},
    {"popcnt", "POPCNT", 1, 0, ecx, 23, 0},
    {"aes", "AES", 1, 0, ecx, 25, 0},
    {"avx", "AVX", 1, 0, ecx, 28, avxState},
    {"f16c", "F16C", 1, 0, ecx, 29, avxState},
    {"rdrnd", "RDRAND", 1, 0, ecx, 30, 0},
    {"bmi", "BMI1", 7, 0, ebx, 3, 0},
    {"avx2", "AVX2", 7, 0, ebx, 5, avxState},
    {"bmi2", "BMI2", 7, 0, ebx, 8, 0},
    {"avx512f", "AVX-512F", 7, 0, ebx, 16, avx512State},
    {"avx512dq", "AVX-512DQ", 7, 0, ebx, 17, avx512State},
    {"rdseed", "RDSEED", 7, 0, ebx, 18, 0},
    {"adx", "ADX", 7, 0, ebx, 19, 0},
    {"avx512ifma", "AVX-512 IFMA", 7, 0, ebx, 21, avx512State},
    {"avx512cd", "AVX-512CD", 7, 0, ebx, 28, avx512State},
    {"sha", "SHA", 7, 0, ebx, 29, 0},
    {"avx512bw", "AVX-512BW", 7, 0, ebx, 30, avx512State},
    {"avx512vl", "AVX-512VL", 7, 0, ebx, 31, avx512State},
    {"avx512vbmi", "AVX-512 VBMI", 7, 0, ecx, 1, avx512State},
    {"avx512vbmi2", "AVX-512 VBMI2", 7, 0, ecx, 6, avx512State},
    {"gfni", "GFNI", 7, 0, ecx, 8, 0},
    {"vaes", "VAES", 7, 0, ecx, 9, avxState},
    {"vpclmulqdq", "VPCLMULQDQ", 7, 0, ecx, 10, avxState},
    {"avx512vnni", "AVX-512 VNNI", 7, 0, ecx, 11, avx512State},
    {"avx512bitalg", "AVX-512 BITALG", 7, 0, ecx, 12, avx512State},
    {"avx512vpopcntdq", "AVX-512 VPOPCNTDQ", 7, 0, ecx, 14, avx512State},
    {"avx512vp2intersect", "AVX-512 VP2INTERSECT", 7, 0, edx, 8, avx512State},
    {"avx512fp16", "AVX-512 FP16", 7, 0, edx, 23, avx512State},
    {"avxvnni", "AVX-VNNI", 7, 1, eax, 4, avxState},
    {"avx512bf16", "AVX-512 BF16", 7, 1, eax, 5, avx512State},
    {"avxifma", "AVX-IFMA", 7, 1, eax, 23, avxState},
    {"avxvnniint8", "AVX-VNNI-INT8", 7, 1, edx, 4, avxState},
    {"avxneconvert", "AVX-NE-CONVERT", 7, 1, edx, 5, avxState},
    {"avxvnniint16", "AVX-VNNI-INT16", 7, 1, edx, 10, avxState},
    {"sahf", "LAHF and SAHF", extended, 0, ecx, 0, 0},
    {"lzcnt", "LZCNT", extended, 0, ecx, 5, 0},
    {"sse4a", "SSE4a", extended, 0, ecx, 6, 0},
    {"xop", "XOP", extended, 0, ecx, 11, avxState},
    {"lwp", "LWP", extended, 0, ecx, 15, 0},
    {"fma4", "FMA4", extended, 0, ecx, 16, avxState},
    {"tbm", "TBM", extended, 0, ecx, 21, 0},
};

/// The registers that the system keeps when it switches between threads; none where it does not say.
uint64_t keptRegisters() {
  constexpr uint32_t tells = 1u << 27; // OSXSAVE
  uint32_t words[4] = {};
  if (!__get_cpuid(1, &words[eax], &words[ebx], &words[ecx], &words[edx]) || !(words[ecx] & tells))
    return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

bool isTold(const ProcessorFeature& feature) {
  uint32_t words[4] = {};
  // A processor answers questions that it does not know with the last answer that it has.
  if (feature.subleaf != 0 &&
      (!__get_cpuid_count(feature.leaf, 0, &words[eax], &words[ebx], &words[ecx], &words[edx]) ||
       words[eax] < feature.subleaf))
    return false;
  return __get_cpuid_count(feature.leaf, feature.subleaf, &words[eax], &words[ebx], &words[ecx], &words[edx]) &&
         (words[feature.word] >> feature.bit & 1) != 0;
}
#endif

} // namespace

#if defined(__x86_64__)
std::span<const ProcessorFeature> processorFeatures() {
  return table;
}

bool isPresent(const ProcessorFeature& feature) {
  return isTold(feature) && (feature.kept == 0 || (keptRegisters() & feature.kept) == feature.kept);
}
#else
std::span<const ProcessorFeature> processorFeatures() {
  return {};
}

bool isPresent(const ProcessorFeature&) {
  return true;
}
#endif

std::vector<const ProcessorFeature*> lackingFeatures(std::string_view names) {
  std::vector<const ProcessorFeature*> lacking;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    for (const ProcessorFeature& feature : processorFeatures())
      if (feature.name == name && !isPresent(feature))
        lacking.push_back(&feature);
  }
  return lacking;
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_require_processor(const char* made, const char* processor, const char* features) {
  std::string names;
  for (const ProcessorFeature* feature : lackingFeatures(features))
    names += (names.empty() ? "" : ", ") + std::string(feature->shown);
  if (names.empty())
    return;
  // The program or library that holds the caller, as it was loaded.
  Dl_info loaded{};
  const bool isKnown = dladdr(__builtin_return_address(0), &loaded) != 0 && loaded.dli_fname && *loaded.dli_fname;
  const std::string file = isKnown ? loaded.dli_fname : "this program", part = made;
  const bool isPart = !part.empty() && file.substr(file.rfind('/') + 1) != part;
  fail("runtime-processor",
       "'" + file + "'" + (isPart ? ", of which '" + part + "' is a part," : "") + " is compiled for processor '" +
           processor + "' and needs " + names + ", which this computer does not have",
       "compile it for a processor that all computers have on which it is to run, such as --cpu=x86-64-v2");
}

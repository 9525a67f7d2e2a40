// The table of core types; see core_types.h. Figures are those of the makers' optimisation manuals: Intel 64 and IA-32
// Architectures Optimization Reference Manual, Software Optimization Guide for the AMD Zen 4 and Arm Neoverse V1
// Software Optimization Guide. Memory's latency is that of a server under load, from 200 to 250 ns.
#include "base/machine/core_types.h"

#include <array>

namespace strata::machine {

namespace {

// Vector registers: bytes, how many, cycles of an addition. Operations and stores a cycle: of the former, what loops of
// scalars come to, not what can be decoded. Cycles until memory answers.
constexpr std::array<CoreType, 5> table{{
    {"x86-64 with AVX-512 VBMI2", 64, 32, 4, 3, 2, 800},
    {"x86-64 with AVX-512", 64, 32, 4, 3, 1, 800},
    {"x86-64 with AVX", 32, 16, 4, 3, 1, 800},
    {"64-bit Arm", 16, 32, 2, 3, 2, 600},
    {"unknown", 16, 16, 2, 2, 1, 400},
}};

} // namespace

std::span<const CoreType> coreTypes() {
  return table;
}

const CoreType& coreTypeOf(const CoreFeatures& features) {
  if (features.isX86 && features.avx512)
    return table[features.avx512Vbmi2 ? 0 : 1];
  if (features.isX86 && features.avx)
    return table[2];
  return features.isArm64 ? table[3] : table.back();
}

CoreFeatures featuresOfThisComputer() {
  CoreFeatures features;
#if defined(__x86_64__)
  features.isX86 = true;
  // These ask whether the system keeps the registers, too.
  features.avx = __builtin_cpu_supports("avx");
  features.avx512 = __builtin_cpu_supports("avx512f");
  features.avx512Vbmi2 = __builtin_cpu_supports("avx512vbmi2");
#elif defined(__aarch64__)
  features.isArm64 = true;
#endif
  return features;
}

void describeCore(Processor& core, const CoreType& type) {
  core.vector = type.vector;
  core.vectorRegisters = type.vectorRegisters;
  core.vectorLatency = type.vectorLatency;
  core.operations = type.operations;
  core.stores = type.stores;
  core.memoryLatency = type.memoryLatency;
}

} // namespace strata::machine

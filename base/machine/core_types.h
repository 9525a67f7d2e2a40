// What kinds of cores there are and what each can do, as a table: the figures of a processor that no system call tells.
// A core of no known type gets the last row, which asks little of it.
#pragma once

#include "base/machine/machine.h"

#include <span>

namespace strata::machine {

/// What tells the types of cores apart.
struct CoreFeatures {
  bool isX86 = false, isArm64 = false;
  bool avx = false, avx512 = false; // with registers of 32 and of 64 bytes
  bool avx512Vbmi2 = false;         // AVX-512 as of Ice Lake and Zen 4, which carry out two stores a cycle
};

/// One row: the figures of machine::Processor.
struct CoreType {
  const char* name;
  uint64_t vector, vectorRegisters, vectorLatency, operations, stores, memoryLatency;
};

/// All rows; the last one is for unknown cores.
std::span<const CoreType> coreTypes();
const CoreType& coreTypeOf(const CoreFeatures& features);
CoreFeatures featuresOfThisComputer();
/// Gives a processor the figures of a type.
void describeCore(Processor& core, const CoreType& type);

} // namespace strata::machine

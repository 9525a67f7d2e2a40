// For tests of files and checks: an array, a symbolic configuration that has one of everything, and random ones. All of
// them are sound for the array.
#pragma once

#include "runtime/array/files.h"

namespace strata::array::test {

/// Units alu0, alu1 and fpu0; registers of 8 bytes; two ports at each side.
machine::ProcessorArray fileArray();
Symbolic fileSample();
Symbolic randomSymbolic(uint64_t seed);

/// The bytes of a binary file with the checksum that fits the rest. REQUIRES: at least 4 bytes.
std::string withChecksum(std::string bytes);

} // namespace strata::array::test

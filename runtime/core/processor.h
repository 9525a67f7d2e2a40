// Which instructions this computer's processor has: the parts of an instruction set that compiled code may be made for,
// and that older processors lack. What is not listed every processor of the architecture has, or no compiled code uses
// of itself. Any thread may ask, also before main begins.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::runtime {

/// A part of the instruction set, and where the processor tells that it has it.
struct ProcessorFeature {
  const char* name;  ///< LLVM's: "avx512f"
  const char* shown; ///< the makers': "AVX-512F"
  uint32_t leaf, subleaf;
  unsigned word, bit; ///< of CPUID's answer: 0 to 3 for EAX, EBX, ECX, EDX
  uint64_t kept;      ///< registers that the system has to keep for it (bits of XCR0)
};

/// All that are told apart; none on architectures other than x86-64, where nothing is checked.
std::span<const ProcessorFeature> processorFeatures();
bool isPresent(const ProcessorFeature& feature);

/// Of features by name, joined by commas, those that this computer lacks. Names that are not in the table are passed
/// over.
std::vector<const ProcessorFeature*> lackingFeatures(std::string_view names);

} // namespace strata::runtime

// The blocks of a unit's program: in which iterations each is executed, and in which of them control leaves it for
// which other. A block is what is executed in one iteration, from its first slot on. Found by following the program
// with the controller's signals, from the configuration alone. Pure functions; any thread.
//
// Source: kernels and the edges of control flow, "Symbolic Loop Compilation for Tightly Coupled Processor Arrays",
// figures 6 and 7.
#pragma once

#include "runtime/array/configuration.h"

#include <map>
#include <optional>

namespace strata::array {

struct ProgramBlock {
  static constexpr uint32_t halted = UINT32_MAX;
  std::vector<Range> iterations;                 // numbers over the extents, ascending
  bool isBehind = false;                         // also, or only, what comes after the last of them
  std::map<uint32_t, std::vector<Range>> leaves; // by the first slot of the next block; those after which it is next
};

/// By first slot. Nothing where a tile has more than mostFollowed iterations, or where the program leads out of itself.
std::optional<std::map<uint32_t, ProgramBlock>> blocksOf(const Configuration& configuration, const Program& program);
inline constexpr int64_t mostFollowed = int64_t{1} << 20;

/// Iterations as boxes over the extents; nothing where there are more than `most`.
std::optional<std::vector<Box>> boxesOf(const std::vector<Range>& iterations, const std::vector<int64_t>& extents,
                                        size_t most);

} // namespace strata::array

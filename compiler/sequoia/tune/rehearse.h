// A rehearsal of a program's control under a mapping: inner tasks are executed with the sizes that are known, without
// any data (a kind of abstract interpretation). It finds what goes wrong with the tunables as they are: divisions with
// a remainder, blocks that leave their array or exceed their max, shifts by too much. It shares nothing with tune.cpp,
// whose choice it verifies.
#pragma once

#include "compiler/sequoia/resolve/sizes.h"

namespace strata::sequoia {

/// Something that does not come out, at one expression of one instance; the worst of all its evaluations.
struct Misfit {
  enum class Kind : uint8_t {
    Remainder, // `value` divided by `other` leaves something, and nothing in the program takes it up
    Unknown,   // the same cannot be told: what is divided is not known before the program runs
    Outside,   // a block begins before 0 or ends at `value`, and its array at `other`
    AboveMax,  // a block has `value` elements, and states `other` as its max
    Shift,     // a value of `other` bits is shifted by `value`
    Short,     // of an array with `value` elements, the iterations take no more than the first `other`
    Uncovered, // of an array that it writes, with `value` elements, a task with tunables takes `other` between its ends
    Zero       // a divisor is 0
  };
  Kind kind = Kind::Remainder;
  uint32_t instance = 0;
  const Expr* expr = nullptr; // the division, the shift, the number of iterations, or the max or end of the block
  int64_t value = 0;          // Remainder: the greatest common divisor of all that was divided
  int64_t other = 0;
  std::vector<TunableUse> because;
  int64_t extent = 0;   // Uncovered: of the array of which `other` are taken; `value` divides all extents that were met
  size_t dimension = 0; // Uncovered: of the array
};

struct Rehearsal {
  std::vector<Misfit> misfits;
  bool isComplete = true; // all iterations that differ were gone through
  bool isEndless = false; // an instance is called, from itself, with the sizes that it has been entered with
  /// The most elements that each array parameter has in each dimension, by instance and the array's index; nothing
  /// where that is not known. Empty for instances that are never called.
  std::vector<std::vector<std::vector<std::optional<int64_t>>>> largest;
};

Rehearsal rehearse(const InstanceGraph& graph, const KnownSizes& known);

} // namespace strata::sequoia

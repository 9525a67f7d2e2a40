// What is computed about every array of a program before its layout can be told: its pieces, how they are stacked, and
// where it begins. Internal to this folder.
#pragma once

#include "compiler/hbir/layout/pieces.h"

#include <string>
#include <vector>

namespace strata::hbir {

struct ArrayPlan {
  const Array* array = nullptr;
  Pieces pieces;
  Stacking stacking;
  ResolvedLayout layout;
  /// The fullest instance, where it is known.
  std::optional<int64_t> fullest;
};

/// In order of the arrays. REQUIRES: every array's sizes fit 64 bits and its instances exist.
std::vector<ArrayPlan> planArrays(const Program& program, const Polyhedra& polyhedra);

/// "g[2]", "t[1][2].l", "t[1][2].l[3]".
std::string instanceText(const Target& target, const MemoryClass& memory, int64_t instance);
/// The elements of a piece: "A[0:4][8:16]", "A[1::4]", "A flattened [10:20]".
std::string pieceText(const ArrayPlan& plan, const std::vector<int64_t>& number);
/// "A[i]: in g number i/125, at byte i%125*4".
std::string ruleText(const Program& program, const ArrayPlan& plan);
/// The number of the piece that stands at a place in their order.
std::vector<int64_t> pieceNumber(const Pieces& pieces, int64_t place);
std::string kindText(LayoutKind kind);
std::string typeText(const Array& array);

} // namespace strata::hbir

// Where every element of every array lies: which instance of which memory, and at which offset in it, as expressions of
// the element's indices. Computed from a checked program and never element by element, so arrays and machines may be as
// large as their numbers; nothing here keeps a reference to the program. May be called from any thread.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hbir/program/program.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::hbir {

/// The place of an array's elements. An element has its home at byte `base + offset * elementBytes` of instance
/// `instance` of `memory`. Pieces that fall to one instance lie one behind the other in order of their numbers; within
/// a piece, elements lie by rows. No two elements of the program's arrays share a byte of an instance.
struct ResolvedLayout {
  std::string memory;       // the class
  int64_t instances = 1;    // of the memory in the whole target: instance and copies are in [0, instances)
  int64_t perProcessor = 0; // of a local memory: instances a tile has; the tile is instance / perProcessor. 0: global
  int64_t elementBytes = 4;

  /// Variables of these three: the element's indices.
  std::vector<IndexExpression> piece; // coordinates of the element's piece, as many as the layout has pieces
  IndexExpression instance;
  IndexExpression offset; // in elements, from the array's base

  /// Replicated: every copy's instance, by copy coordinates as variables, each over [0, copies[i]). All copies have the
  /// same base and offsets; `instance` is that of the first copy. Two copies may fall to one instance, which then has
  /// one. Empty, and `copy` without meaning, where `everywhere` is not set.
  bool everywhere = false;
  std::vector<int64_t> copies;
  IndexExpression copy;

  std::vector<int64_t> pieceExtents; // of a piece: for Block one number a dimension, else one number
  int64_t pieceElements = 0;         // their product; the last piece of a dimension may have fewer
  uint64_t base = 0;                 // byte of the instances at which the array begins, a multiple of 64
  uint64_t bytes = 0;                // from the base, that the array takes in the instance which has most of it
  /// `bytes` is exact. Otherwise pieces fall to instances by no rule that was found, each lies at its number times the
  /// size of a piece, and `bytes` counts the holes.
  bool exact = true;
};

/// Alignment of every array in its memory.
inline constexpr uint64_t arrayAlignment = 64;

/// REQUIRES: `array` is one of the program's, and checkLayouts found nothing wrong.
ResolvedLayout resolveLayout(const Program& program, const Array& array);
/// The same for every array, in order; what the whole program needs at once is found once.
std::vector<ResolvedLayout> resolveLayouts(const Program& program);

/// Whether the data lies in memories that there are and fits them; false after errors.
bool checkLayouts(const Program& program, DiagnosticEngine& diagnostics);

/// Which instance holds which range of which array, for people; a rule and the first ranges where there are many.
std::string layoutText(const Program& program);

int64_t bytesOf(ScalarType type);
/// Elements of an array; nothing when that is not a 64-bit number.
std::optional<int64_t> elementsOf(const Array& array);

} // namespace strata::hbir

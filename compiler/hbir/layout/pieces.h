// An array cut into pieces: the arithmetic that layouts are made of. Internal to this folder. Pieces are numbered by
// `extents`, by rows, and only those that have elements count.
#pragma once

#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/layout/polyhedra.h"

#include <optional>
#include <vector>

namespace strata::hbir {

/// Rounded up, of a number that is not negative by a positive one.
constexpr int64_t ceilDivide(int64_t a, int64_t b) {
  return a / b + (a % b != 0);
}

/// Pieces of like shape, as a box of piece numbers, and how far the last element of one lies from its first, plus one.
struct PieceShape {
  std::vector<Interval> box; // [least, most)
  int64_t span = 0;
};

struct Pieces {
  std::vector<int64_t> extents;        // of the numbers of pieces that have elements; all pieces of such a box do
  std::vector<int64_t> pieceExtents;   // elements of a whole piece
  int64_t elements = 0;                // their product
  std::vector<IndexExpression> number; // by the element's indices
  IndexExpression within;              // by the element's indices: its place in the piece
  std::vector<IndexExpression> layout; // the layout's piece coordinates, by the number
  IndexExpression instance;            // by the number
  std::vector<PieceShape> shapes;      // disjoint, together all pieces
};

/// REQUIRES: sizesFit(array).
Pieces cut(const Array& array);
/// Whether the numbers that describe an array's pieces, and its bytes, fit 64 bits.
bool sizesFit(const Array& array);

/// How the pieces that fall to one instance follow each other.
struct Stacking {
  IndexExpression rank;         // by the number: how many earlier pieces fall to the same instance
  bool exact = true;            // otherwise the rank is the piece's number, which leaves holes
  int64_t length = 0;           // elements that the fullest instance takes, holes included
  std::vector<int64_t> fullest; // the number of a piece in that instance; empty when there are none
};
Stacking stack(const Pieces& pieces, const Polyhedra& polyhedra);

/// ((i0*n1 + i1)*n2 + i2)…
IndexExpression flatten(const std::vector<IndexExpression>& indices, const std::vector<int64_t>& extents);
/// The inverse: the coordinates of a flat number.
std::vector<IndexExpression> unflatten(const IndexExpression& flat, const std::vector<int64_t>& extents);
/// Nothing when it is not a 64-bit number.
std::optional<int64_t> product(const std::vector<int64_t>& factors);
/// Instances of a memory in the whole target; nothing when that is not a 64-bit number.
std::optional<int64_t> instancesOf(const Target& target, const MemoryClass& memory);
/// The variables 0, 1, ….
std::vector<IndexExpression> variables(size_t count);

} // namespace strata::hbir

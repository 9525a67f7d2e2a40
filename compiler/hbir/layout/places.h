// Places that hold arrays, and layouts over them: what `config.tg`, `target.g` and `target.t.l` mean as memories and
// instances, and how pieces are numbered onto those. Pure functions; safe from any thread.
#pragma once

#include "compiler/hbir/program/program.h"

namespace strata::hbir {

/// Where an array can live. `shape` is how the instances are arranged; `instance` gives the number of one by its
/// coordinates in the shape.
struct Place {
  const MemoryClass* memory = nullptr;
  const Group* group = nullptr;
  std::vector<int64_t> shape;
  IndexExpression instance;
  bool numbered = false; // `instance` is the number by rows of the coordinates, so that a number names an instance
};

/// The product; nothing when it is 2^62 or more. Factors are positive.
std::optional<int64_t> productOf(const std::vector<int64_t>& extents);
/// The number by rows of coordinates that are variables first, first + 1, …
IndexExpression numberByRows(const std::vector<int64_t>& extents, const std::vector<IndexExpression>& coordinates);
std::vector<IndexExpression> allVariables(size_t count);

Place placeOfMemory(const MemoryClass& memory, std::vector<int64_t> shape);
/// The local memories of all tiles: every tile's first, or, `each`, all of its instances.
Place placeOfTiles(const Target& target, const MemoryClass& memory, bool each);
/// The tiles given by expressions over variables; their local memory, or pieces distributed over the instances of a
/// global memory where tiles have none. `memory` is that one.
Place placeOfGroup(const Target& target, const MemoryClass& memory, const Group* group, std::vector<int64_t> shape,
                   const std::vector<IndexExpression>& tile);
/// The memory for arrays that are located at tiles: the first local one, else the first global one, else null.
const MemoryClass* memoryOfTiles(const Target& target);

/// The instance that holds a piece: pieces are the instances where both have the same shape, else the pieces are
/// numbered by rows and distributed over the instances.
IndexExpression dealPieces(const Place& place, const std::vector<int64_t>& pieces);

/// Fits a Block layout with more dimensions of pieces than the array has: dimensions of one piece are left out first,
/// then the leading ones are counted together by rows.
void mergePieces(std::vector<int64_t>& pieces, IndexExpression& instance, size_t rank);

/// Elements of a piece.
int64_t pieceElements(const std::vector<int64_t>& extents, LayoutKind kind, const std::vector<int64_t>& pieces);

} // namespace strata::hbir

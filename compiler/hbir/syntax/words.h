// What is said by a word or a sign, in the syntax tree as in the checked program: forms, types, layouts, directions,
// kinds of statements, and C's operators.
#pragma once

#include "compiler/cfamily/syntax/operators.h"

#include <cstdint>

namespace strata::hbir {

using cfamily::Operator;
using cfamily::operatorText;

/// The notation was written in three forms over time (docs/hbir.md).
enum class Form : uint8_t { A, B, C };

enum class ScalarType : uint8_t { Int, Float, Bool }; // 32-bit two's complement, IEEE single, one byte

enum class LayoutKind : uint8_t {
  Block,     // every listed dimension is cut into contiguous pieces
  Chunked,   // the array, flattened by rows, is cut into contiguous pieces
  Striped,   // single elements of the flattened array go round robin (also written strided)
  Replicated // every instance has all of it
};

enum class Direction : uint8_t { Temporary, In, Out };

/// A statement, with the fields of a checked one (program.h) that each has.
enum class StatementKind : uint8_t {
  Declare,  // `symbol`; `value` when it is initialised (never an array)
  Assign,   // `target` = `value`, or target op= value when `compound`; types agree
  Call,     // `value`, for its effect
  If,       // `condition`, `body`, `otherwise`
  While,    // `condition`, `body`
  For,      // `first` (may be null), `condition` (may be null: for ever), `next` (may be null), `body`
  Range,    // form B's `for i in [lo:hi]`: `symbol` runs over [value, upper), both evaluated once
  Compound, // `body`
  Break,    // leaves the innermost loop
  Print,    // `text`: pieces around the values of `arguments`, one more than those
  Finish    // bsg_finish(): ends the tile
};

} // namespace strata::hbir

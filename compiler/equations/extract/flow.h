// Which write each read sees, and which one leaves an element as the kernel leaves it: exact for every iteration and
// all sizes.
//
// Source: Feautrier 1991, "Dataflow analysis of array and scalar references"; isl computes it.
#pragma once

#include "compiler/equations/extract/program.h"

#include <vector>

namespace strata::equations::extraction {

/// Where values of some iterations of a read come from.
struct Source {
  enum class Kind {
    Statement, // `from` gives its iteration
    Input,     // an argument as it was before the kernel; `from` gives the element
    Value,     // a constant or a scalar; `from` gives nothing
  };
  Kind kind = Kind::Value;
  unsigned number = 0; // a statement or a cell
  Term value;
  isl::map from; // of iterations of the read
};

/// An argument that is written.
struct Result {
  unsigned cell = 0;
  struct Last {
    unsigned statement = 0;
    isl::set iterations; // whose writes stay
  };
  std::vector<Last> last;
  isl::set untouched; // elements that no iteration writes
};

struct Flow {
  std::vector<std::vector<Source>> reads; // of each read; domains are disjoint
  std::vector<Result> results;
};

/// Sources go through statements that copy to where values are computed, unless copies go round in circles. Throws
/// Refused where memory is read that has no value.
Flow analyse(const Program& program, const std::vector<bool>& isReadable);

} // namespace strata::equations::extraction

// One iteration space for all statements of a kernel: a dimension for each depth of loops, and in front of some of them
// one that tells loops of one block apart (the schedule of 2d + 1 dimensions, without what is the same for all).
// Statements with fewer loops around stand at the border of a deeper loop.
#pragma once

#include "compiler/equations/extract/flow.h"
#include "compiler/equations/extract/program.h"

#include <string>
#include <vector>

namespace strata::equations::extraction {

struct Embedding {
  std::vector<std::string> iterators;
  std::vector<isl::map> places;        // of each statement, from its iteration vector to the space; null: not needed
  std::vector<unsigned> loopDimension; // of each depth
  bool isForward = false;              // no value is used in an iteration before the one that computes it
};

/// Statements that some result depends on.
std::vector<bool> neededStatements(const Program& program, const Flow& flow);

/// Spaces to try, the best first: forward ones, and of those the ones with few dimensions. All have at least one
/// dimension. Throws Refused where the kernel needs more dimensions than equations have.
std::vector<Embedding> embeddings(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded);

/// Calls for each read of a term.
template <typename Function>
void eachRead(const Term& term, const Function& function) {
  if (term.kind == Term::Kind::Read)
    function(term.number);
  for (const Term& operand : term.operands)
    eachRead(operand, function);
}

} // namespace strata::equations::extraction

// For tests of instantiation: symbolic configurations made by hand, and two evaluators that know nothing of sets. One
// asks the symbolic configuration what an element does in an iteration, the other follows a program through its
// branches.
#pragma once

#include "runtime/array/instantiate.h"

#include <gtest/gtest.h>

#include <span>

namespace strata::array::test {

using Kind = Condition::Kind;

/// Adds conditions, spaces and instructions to a symbolic configuration.
class Builder {
public:
  Builder(size_t loops, std::vector<std::string> parameters, int64_t interval);
  Symbolic symbolic;

  /// From 0 to parameter - 1; or from and to numbers (inclusive).
  void loop(size_t number, const std::string& name, size_t parameter);
  void loop(size_t number, const std::string& name, int64_t lower, int64_t upper);
  Linear linear(std::vector<int64_t> loops, int64_t constant, std::vector<int64_t> parameters = {}) const;
  uint32_t condition(Kind kind, const Linear& value, int64_t modulus = 0);
  uint32_t space(std::vector<std::vector<uint32_t>> pieces);
  /// The iterations of a space, of the one with this condition, and of all.
  Term in(uint32_t space) const;
  Term where(Kind kind, const Linear& value, int64_t modulus = 0);
  Term always();
  /// An instruction that computes with its only alternatives.
  SymbolicInstruction& instruction(const std::string& name, uint32_t unit, int64_t offset, Opcode opcode,
                                   std::vector<Term> when, std::vector<Register> destinations,
                                   std::vector<Operand> operands);
};

/// Two ALUs, branches of two targets and one signal, much of all else.
machine::ProcessorArray testArray(uint64_t rows, uint64_t columns);

/// What the tests know of the tiling, computed from the options.
struct TestTiles {
  std::vector<int64_t> lower, upper, tile;
};
TestTiles tilesOf(const Symbolic& symbolic, const InstantiationOptions& options);

/// Whether the terms hold at J in tile (row, column).
bool holds(const Symbolic& symbolic, const InstantiationOptions& options, const TestTiles& tiles,
           const std::vector<Term>& terms, int64_t row, int64_t column, std::span<const int64_t> point);

/// Compares, for every element, unit and cycle, the programs with the symbolic configuration.
void expectPrograms(const Symbolic& symbolic, const InstantiationOptions& options, const Configuration& configuration);

/// The product of matrices of M x K and K x N: rows over i, columns over j; all arrays at borders.
Symbolic matrixProduct();
/// The document's running example: the bits of a number.
Symbolic bitExtraction();

} // namespace strata::array::test

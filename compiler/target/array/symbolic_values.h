// Where the values of a symbolic configuration come from: what an operand is in which iterations, and who computes what
// is written to an output. Registers are followed here; that the ways through them work is verify_symbolic.h's
// question. Used by one thread.
#pragma once

#include "compiler/target/array/symbolic_sets.h"

namespace strata::array {

/// What an instruction computed so many iterations ago, an element of an input, or a constant.
struct MadeValue {
  enum class Kind { Instruction, Input, Constant };
  Kind kind = Kind::Constant;
  uint32_t number = 0;            // of the instruction, or of the input
  SymbolicSets::Vector back;      // of an instruction: the iterations between
  const Access* access = nullptr; // of an input: its element
  uint64_t bits = 0;              // of a constant
};

struct Origin {
  MadeValue value;
  isl::set where; // iterations of the reader
};

class SymbolicValues {
public:
  /// REQUIRES: verify(symbolic, …) has nothing against the configuration. Both outlive it.
  SymbolicValues(const Symbolic& symbolic, SymbolicSets& sets) : symbolic_(symbolic), sets_(sets) {}

  std::vector<Origin> operand(uint32_t instruction, size_t number);
  /// Instructions of the same iteration.
  std::vector<Origin> output(const Access& access);
  /// REQUIRES: the terms are the configuration's.
  const isl::set& where(const std::vector<Term>& terms);

private:
  bool isHere(const Term& term) const;
  const isl::set& written(uint32_t instruction, Register reg);
  void held(uint32_t reader, Register reg, isl::set rest, std::vector<Origin>& origins);
  void queued(Register reg, const isl::set& where, std::vector<Origin>& origins);

  const Symbolic& symbolic_;
  SymbolicSets& sets_;
  std::map<const void*, isl::set> where_; // by the terms
  std::map<std::pair<uint32_t, Register>, isl::set> written_;
};

} // namespace strata::array

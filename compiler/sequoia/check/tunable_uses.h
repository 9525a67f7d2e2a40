// What a variant does with each of its tunables, read off its text: which sizes it divides by one, and so takes to be
// multiples of it; whether it shifts by one, uses its bits, or states it as a max and nothing else. Works on checked
// programs.
#pragma once

#include "compiler/sequoia/syntax/ast.h"

#include <memory>
#include <optional>
#include <vector>

namespace strata::sequoia {

/// An integer expression over what is known when an instance begins: constants, sizes, tunables and scalars that are
/// only read. Inline functions and variables that keep their first value are taken in.
struct Formula {
  enum class Kind : uint8_t { Constant, Variable, Operation, Minimum, Maximum } kind = Kind::Constant;
  Operator op = Operator::None; // + - * / % << >>
  int64_t constant = 0;
  const Variable* variable = nullptr;
  std::shared_ptr<const Formula> left, right;
};

/// A division by tunables which the program takes to leave nothing; the same holds of steps that have to come to an
/// end.
struct ExactDivision {
  const Expr* expr = nullptr; // also the condition of a loop that ends where its variable is a certain value
  const Expr* by = nullptr;   // the divisor, or the loop's step
  std::shared_ptr<const Formula> divided, divisor; // null: not known when the instance begins
  std::vector<const Variable*> tunables;           // in the divisor
  bool isInline = false;                           // in an inline function, of one call of it
  bool isKnown() const { return divided && divisor; }
  /// Whether the divisor is a product with a tunable, and nothing else that falls where the tunable rises.
  bool isProductWith(const Variable* tunable) const;
};

struct TunableKind {
  bool isShift = false;   // an amount that something is shifted by
  bool isBits = false;    // & | ^ ~ are applied to it: a power of two
  bool isBound = false;   // it occurs in maxima of blocks alone
  bool isExtent = false;  // a size of a local array follows from it
  bool isDivisor = false; // of an ExactDivision
  bool isCount = false;   // it says how many iterations there are, and is no divisor there
};

struct TunableUses {
  std::vector<TunableKind> tunables; // by index
  std::vector<ExactDivision> divisions;
  /// Extents of arrays, divided by the tunables that shape blocks of them which a call writes, unless the program
  /// rounds up. Whether they have to come out shows when the program is executed only.
  std::vector<ExactDivision> shares;

  /// What a tunable that is settled when an instance begins has to divide: by the program's own divisions, or, where
  /// there are none, by its shares.
  std::vector<const ExactDivision*> settling(const std::vector<char>& isSettled) const;
};

TunableUses usesOf(const TaskVariant& variant);

} // namespace strata::sequoia

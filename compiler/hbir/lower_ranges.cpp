// What is known about the values of int expressions without running the program: sums, products and quotients of
// variables whose ranges are known. Computed in 128 bits; what does not fit 64 is not known.
#include "compiler/hbir/lower_body.h"

#include <algorithm>

namespace strata::hbir {

namespace {

using Wide = __int128;

Range fitted(Wide least, Wide most) {
  if (least < INT64_MIN || most > INT64_MAX)
    return {};
  return {static_cast<int64_t>(least), static_cast<int64_t>(most)};
}

Range hull(std::initializer_list<Wide> values) {
  return fitted(std::min(values), std::max(values));
}

/// The largest number of as many bits as `value`, which is not negative.
int64_t allOnes(int64_t value) {
  uint64_t ones = static_cast<uint64_t>(value);
  for (unsigned shift = 1; shift < 64; shift *= 2)
    ones |= ones >> shift;
  return static_cast<int64_t>(ones);
}

} // namespace

Range BodyLowering::rangeOfBinary(const Expression& expression) {
  const Range a = rangeOf(*expression.operands[0]), b = rangeOf(*expression.operands[1]);
  switch (expression.op) {
  case Operator::Add:
    return fitted(Wide(a.least) + b.least, Wide(a.most) + b.most);
  case Operator::Subtract:
    return fitted(Wide(a.least) - b.most, Wide(a.most) - b.least);
  case Operator::Multiply:
    return hull({Wide(a.least) * b.least, Wide(a.least) * b.most, Wide(a.most) * b.least, Wide(a.most) * b.most});
  case Operator::Divide:
    if (b.least < 1)
      return a.least == INT64_MIN
                 ? Range()
                 : fitted(std::min<Wide>(a.least, -Wide(a.most)), std::max<Wide>(a.most, -Wide(a.least)));
    return hull({Wide(a.least) / b.least, Wide(a.least) / b.most, Wide(a.most) / b.least, Wide(a.most) / b.most});
  case Operator::Remainder: {
    Wide largest =
        std::max(b.most < 0 ? -Wide(b.most) : Wide(b.most), b.least < 0 ? -Wide(b.least) : Wide(b.least)) - 1;
    if (largest < 0)
      return a; // by zero, which ends the program
    return fitted(a.least >= 0 ? 0 : std::max<Wide>(-largest, a.least),
                  a.most <= 0 ? 0 : std::min<Wide>(largest, a.most));
  }
  case Operator::ShiftLeft:
    if (!b.within(0, 63))
      return {};
    return hull({Wide(a.least) * (Wide(1) << b.least), Wide(a.least) * (Wide(1) << b.most),
                 Wide(a.most) * (Wide(1) << b.least), Wide(a.most) * (Wide(1) << b.most)});
  case Operator::ShiftRight:
    return {std::min<int64_t>(a.least, 0), std::max<int64_t>(a.most, 0)};
  case Operator::BitAnd:
    if (a.least >= 0 || b.least >= 0)
      return {0, a.least >= 0 && b.least >= 0 ? std::min(a.most, b.most) : a.least >= 0 ? a.most : b.most};
    return a.fitsInt() && b.fitsInt() ? Range::of(ScalarType::Int) : Range();
  case Operator::BitOr:
  case Operator::BitXor:
    if (a.least >= 0 && b.least >= 0)
      return {0, allOnes(std::max(a.most, b.most))};
    return a.fitsInt() && b.fitsInt() ? Range::of(ScalarType::Int) : Range();
  default:
    return {};
  }
}

Range BodyLowering::rangeOf(const Expression& expression) {
  const Range any = Range::of(ScalarType::Int);
  switch (expression.kind) {
  case ExpressionKind::Integer:
    return {expression.integer, expression.integer};
  case ExpressionKind::Variable: {
    const Symbol* symbol = expression.symbol;
    if (symbol->kind == SymbolKind::Index && variables_ && symbol->number < variables_->size())
      return {0, std::max<int64_t>((*variables_)[symbol->number].extent - 1, 0)};
    if (symbol->kind == SymbolKind::TileId && variables_) {
      Wide tiles = 1;
      for (const GroupIndex& variable : *variables_)
        tiles = std::min<Wide>(tiles * variable.extent, INT64_MAX);
      return fitted(0, std::max<Wide>(tiles - 1, 0));
    }
    if (const Expression* constant = module_.constantOf(symbol))
      return rangeOf(*constant);
    auto found = bindings_.find(symbol);
    return found != bindings_.end() && found->second.value ? found->second.range : any;
  }
  case ExpressionKind::Unary: {
    Range a = rangeOf(*expression.operands[0]);
    if (expression.op == Operator::Negate)
      return fitted(-Wide(a.most), -Wide(a.least));
    if (expression.op == Operator::Complement)
      return {~a.most, ~a.least};
    return {};
  }
  case ExpressionKind::Binary:
    return rangeOfBinary(expression);
  case ExpressionKind::Conditional: {
    Range a = rangeOf(*expression.operands[1]), b = rangeOf(*expression.operands[2]);
    return {std::min(a.least, b.least), std::max(a.most, b.most)};
  }
  case ExpressionKind::Cast: {
    const Expression& from = *expression.operands[0];
    if (from.type == ScalarType::Bool)
      return {0, 1};
    Range inner = from.type == ScalarType::Int ? rangeOf(from) : any;
    return inner.fitsInt() ? inner : any;
  }
  case ExpressionKind::BuiltinCall: {
    Range a = rangeOf(*expression.operands[0]);
    if (expression.builtin == Builtin::Abs)
      return a.least == INT64_MIN ? Range() : Range{0, std::max({a.most, -a.least, int64_t(0)})};
    if (expression.operands.size() < 2)
      return {};
    Range b = rangeOf(*expression.operands[1]);
    if (expression.builtin == Builtin::Min)
      return {std::min(a.least, b.least), std::min(a.most, b.most)};
    if (expression.builtin == Builtin::Max)
      return {std::max(a.least, b.least), std::max(a.most, b.most)};
    return {};
  }
  default:
    return any; // elements and results of calls are stored ints
  }
}

} // namespace strata::hbir

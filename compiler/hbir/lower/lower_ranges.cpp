// What is known about the values of int expressions without running the program: sums, products and quotients of
// variables whose ranges are known.
#include "compiler/hbir/lower/lower_body.h"

#include <algorithm>

namespace strata::hbir {

BodyLowering::Range BodyLowering::rangeOf(const Expression& expression) {
  const Range any = Range::of(Scalar::Int);
  switch (expression.kind) {
  case ExpressionKind::Integer:
    return {expression.integer, expression.integer};
  case ExpressionKind::Variable: {
    const Symbol* symbol = expression.symbol;
    if (symbol->kind == SymbolKind::Index && variables_ && symbol->number < variables_->size())
      return {0, std::max<int64_t>((*variables_)[symbol->number].extent - 1, 0)};
    if (symbol->kind == SymbolKind::TileId && variables_) {
      __int128 tiles = 1;
      for (const GroupIndex& variable : *variables_)
        tiles = std::min<__int128>(tiles * variable.extent, INT64_MAX);
      return {0, static_cast<int64_t>(std::max<__int128>(tiles - 1, 0))};
    }
    if (const Expression* constant = module_.constantOf(symbol))
      return rangeOf(*constant);
    auto found = bindings_.find(symbol);
    return found != bindings_.end() && found->second.value ? found->second.range : any;
  }
  case ExpressionKind::Unary: {
    Range a = rangeOf(*expression.operands[0]);
    if (expression.op == Operator::Negate)
      return cfamily::negated(a);
    if (expression.op == Operator::Complement)
      return {~a.most, ~a.least};
    return {};
  }
  case ExpressionKind::Binary:
    return cfamily::evaluated(expression.op, rangeOf(*expression.operands[0]), rangeOf(*expression.operands[1]));
  case ExpressionKind::Conditional:
    return rangeOf(*expression.operands[1]).united(rangeOf(*expression.operands[2]));
  case ExpressionKind::Cast: {
    const Expression& from = *expression.operands[0];
    if (from.type == ScalarType::Bool)
      return {0, 1};
    Range inner = from.type == ScalarType::Int ? rangeOf(from) : any;
    return inner.fits(Scalar::Int) ? inner : any;
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

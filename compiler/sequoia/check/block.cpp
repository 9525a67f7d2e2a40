// Static facts about array blocks.
#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/check/fold.h"

#include <algorithm>

#include <map>

namespace strata::sequoia {

std::optional<int64_t> staticCount(const BlockRange& range, const Extent& extent) {
  auto extentValue = constantOf(extent.expression);
  auto start = constantOf(range.start);
  int64_t stride = 1;
  if (range.stride) {
    auto value = constantOf(range.stride);
    if (!value || *value < 1)
      return std::nullopt;
    stride = *value;
  }
  if (!start || *start < 0)
    return std::nullopt;
  int64_t end = 0;
  if (range.end) {
    auto value = constantOf(range.end);
    if (!value)
      return std::nullopt;
    end = *value;
  } else if (range.max) { // [start; max] ends at min(start + max, N)
    auto max = constantOf(range.max);
    if (!max || !extentValue || *max < 0 || *max > INT64_MAX - *start)
      return std::nullopt;
    end = std::min(*start + *max, *extentValue);
  } else if (extentValue) {
    end = *extentValue;
  } else {
    return std::nullopt;
  }
  if (end <= *start)
    return 0;
  return (end - *start - 1) / stride + 1;
}

std::optional<int64_t> staticCount(const Expr& block, size_t dimension) {
  if (!block.operands.empty())
    return staticCount(*block.operands[0], 0);
  const Extent& extent = block.variable->extents[dimension];
  if (block.ranges.empty())
    return constantOf(extent.expression);
  return staticCount(block.ranges[dimension], extent);
}

bool sameExpression(const Expr* left, const Expr* right) {
  if (!left || !right)
    return left == right;
  if (left->kind != right->kind || left->op != right->op || left->type != right->type ||
      left->operands.size() != right->operands.size() || left->ranges.size() != right->ranges.size())
    return false;
  switch (left->kind) {
  case ExprKind::Assign:
  case ExprKind::Increment:
  case ExprKind::Error:
    return false;
  default:
    break;
  }
  if (left->integer != right->integer || left->real != right->real || left->variable != right->variable ||
      left->function != right->function || left->builtin != right->builtin || left->fieldIndex != right->fieldIndex)
    return false;
  for (size_t i = 0; i < left->operands.size(); ++i)
    if (!sameExpression(left->operands[i], right->operands[i]))
      return false;
  for (size_t i = 0; i < left->ranges.size(); ++i) {
    const BlockRange &a = left->ranges[i], &b = right->ranges[i];
    if (!sameExpression(a.start, b.start) || !sameExpression(a.end, b.end) || !sameExpression(a.stride, b.stride) ||
        !sameExpression(a.max, b.max))
      return false;
  }
  return true;
}

namespace {

/// A sum of variables and constants, each with a factor: what a start or an end mostly is.
struct LinearSum {
  std::map<const Variable*, int64_t> terms;
  int64_t constant = 0;
};

bool addTo(LinearSum& sum, const Expr* expr, int64_t factor) {
  switch (expr->kind) {
  case ExprKind::Integer: {
    int64_t product = 0;
    return !__builtin_mul_overflow(factor, expr->signedValue(), &product) &&
           !__builtin_add_overflow(sum.constant, product, &sum.constant);
  }
  case ExprKind::Variable:
    return !__builtin_add_overflow(sum.terms[expr->variable], factor, &sum.terms[expr->variable]);
  case ExprKind::Cast:
    // Conversions of what a program subscripts with keep the value; where one did not, another rule is broken.
    return expr->isImplicit && expr->type->isInteger() && expr->operands[0]->type->isInteger() &&
           addTo(sum, expr->operands[0], factor);
  case ExprKind::Unary:
    return expr->op == Operator::Negate && factor != INT64_MIN && addTo(sum, expr->operands[0], -factor);
  case ExprKind::Binary: {
    const Expr *left = expr->operands[0], *right = expr->operands[1];
    if (expr->op == Operator::Add || expr->op == Operator::Subtract)
      return factor != INT64_MIN && addTo(sum, left, factor) &&
             addTo(sum, right, expr->op == Operator::Add ? factor : -factor);
    if (left->kind != ExprKind::Integer)
      std::swap(left, right);
    int64_t product = 0;
    return expr->op == Operator::Multiply && left->kind == ExprKind::Integer &&
           !__builtin_mul_overflow(factor, left->signedValue(), &product) && addTo(sum, right, product);
  }
  default:
    return false;
  }
}

/// left - right as a sum; nothing when one of them is no sum.
std::optional<LinearSum> difference(const Expr* left, const Expr* right) {
  LinearSum sum;
  if (!left || !right || !addTo(sum, left, 1) || !addTo(sum, right, -1))
    return std::nullopt;
  std::erase_if(sum.terms, [](const auto& term) { return term.second == 0; });
  return sum;
}

std::optional<int64_t> constantDifference(const Expr* left, const Expr* right) {
  auto sum = difference(left, right);
  return sum && sum->terms.empty() ? std::optional(sum->constant) : std::nullopt;
}

/// How many elements a range has, where that follows from its text alone: also of [s : s + 4;].
std::optional<int64_t> countOf(const BlockRange& range, const Extent& extent) {
  if (auto count = staticCount(range, extent))
    return count;
  auto length = range.end ? constantDifference(range.end, range.start) : std::nullopt;
  auto stride = range.stride ? constantOf(range.stride) : std::optional<int64_t>(1);
  if (!length || !stride || *stride < 1)
    return std::nullopt;
  return *length <= 0 ? 0 : (*length - 1) / *stride + 1;
}

int64_t strideOf(const BlockRange& range) {
  return range.stride ? constantOf(range.stride).value_or(0) : 1; // 0: not known
}

/// What is known about two ranges of one dimension.
enum class Overlap { No, Unknown, Yes };

/// Of ranges whose starts lie `offset` apart (the second behind the first).
Overlap overlapAt(__int128 offset, int64_t firstCount, int64_t secondCount, int64_t stride) {
  if (firstCount == 0 || secondCount == 0 || offset % stride != 0)
    return Overlap::No;
  offset /= stride;
  return offset < firstCount && -offset < secondCount ? Overlap::Yes : Overlap::No;
}

/// A range of the whole dimension.
BlockRange wholeRange(const Extent& extent) {
  static Expr zero = [] {
    Expr expr;
    expr.kind = ExprKind::Integer;
    return expr;
  }();
  BlockRange range;
  range.start = &zero;
  range.end = extent.expression;
  return range;
}

Overlap overlap(const BlockRange& first, const BlockRange& second, const Extent& extent) {
  bool same = sameExpression(first.start, second.start) && sameExpression(first.end, second.end) &&
              sameExpression(first.max, second.max) && sameExpression(first.stride, second.stride);
  auto firstCount = countOf(first, extent), secondCount = countOf(second, extent);
  if (firstCount == 0 || secondCount == 0)
    return Overlap::No;
  if (same)
    return Overlap::Yes;
  auto offset = constantDifference(second.start, first.start);
  int64_t stride = strideOf(first);
  if (!offset || !firstCount || !secondCount || !stride || stride != strideOf(second))
    return Overlap::Unknown;
  return overlapAt(*offset, *firstCount, *secondCount, stride);
}

} // namespace

bool surelyOverlap(const Expr& left, const Expr& right) {
  if (left.variable != right.variable)
    return false;
  if (sameExpression(&left, &right))
    return true;
  if (!left.operands.empty() || !right.operands.empty()) {
    // Indices and the whole array: one index is enough.
    const Expr &indexed = left.operands.empty() ? right : left, &other = left.operands.empty() ? left : right;
    return other.operands.empty() && other.ranges.empty() && staticCount(indexed, 0).value_or(0) > 0;
  }
  for (size_t i = 0; i < left.variable->extents.size(); ++i) {
    const Extent& extent = left.variable->extents[i];
    const BlockRange whole = wholeRange(extent);
    const BlockRange &first = left.ranges.empty() ? whole : left.ranges[i],
                     &second = right.ranges.empty() ? whole : right.ranges[i];
    // A part overlaps the whole unless it has no elements.
    if (left.ranges.empty() || right.ranges.empty()) {
      if (countOf(left.ranges.empty() ? second : first, extent) == 0)
        return false;
      continue;
    }
    if (overlap(first, second, extent) != Overlap::Yes)
      return false;
  }
  return true;
}

std::optional<int64_t> sharedAcross(const Expr& written, const Expr& other, const Variable* loop) {
  if (written.variable != other.variable || !written.operands.empty() || !other.operands.empty() ||
      written.ranges.empty())
    return std::nullopt;
  // The starts lie offset + step * (the distance of the iterations) apart, in the first dimension that moves.
  std::optional<int64_t> apart;
  for (size_t i = 0; i < written.ranges.size(); ++i) {
    const Extent& extent = written.variable->extents[i];
    const BlockRange& first = written.ranges[i];
    const BlockRange whole = wholeRange(extent);
    const BlockRange& second = other.ranges.empty() ? whole : other.ranges[i];
    LinearSum start;
    if (!addTo(start, first.start, 1))
      return std::nullopt;
    const int64_t step = start.terms.contains(loop) ? start.terms[loop] : 0;
    if (step == 0) {
      if (mentions(first.end, loop) || mentions(second.start, loop) || mentions(second.end, loop) ||
          overlap(first, second, extent) != Overlap::Yes)
        return std::nullopt;
      continue;
    }
    auto offset = constantDifference(second.start, first.start);
    auto firstCount = countOf(first, extent), secondCount = countOf(second, extent);
    int64_t stride = strideOf(first);
    if (apart || !offset || !firstCount || !secondCount || !stride || stride != strideOf(second))
      return std::nullopt;
    // The nearest iterations that share; either may be the later one.
    for (int64_t distance = 1; distance <= 64 && !apart; ++distance)
      for (int64_t way : {distance, -distance})
        if (overlapAt(*offset + static_cast<__int128>(step) * way, *firstCount, *secondCount, stride) == Overlap::Yes)
          apart = distance;
    if (!apart)
      return std::nullopt;
  }
  return apart;
}

namespace {

/// Whether something holds for an expression or block, or for a part of it.
template <typename Holds>
bool anyPart(const Expr* expr, const Holds& holds) {
  if (!expr)
    return false;
  const auto isIn = [&](const Expr* part) { return anyPart(part, holds); };
  return holds(*expr) || std::any_of(expr->operands.begin(), expr->operands.end(), isIn) ||
         std::any_of(expr->ranges.begin(), expr->ranges.end(), [&](const BlockRange& range) {
           return isIn(range.start) || isIn(range.end) || isIn(range.stride) || isIn(range.max);
         });
}

} // namespace

bool mentions(const Expr* expr, const Variable* variable) {
  return anyPart(expr, [&](const Expr& part) { return part.variable == variable; });
}

bool isRefused(const Expr* expr) {
  return anyPart(expr, [](const Expr& part) { return part.kind == ExprKind::Error; });
}

} // namespace strata::sequoia

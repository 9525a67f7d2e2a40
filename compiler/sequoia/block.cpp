// Static facts about array blocks.
#include "compiler/sequoia/block.h"
#include "compiler/sequoia/fold.h"

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

bool surelyOverlap(const Expr& left, const Expr& right) {
  if (left.variable != right.variable)
    return false;
  if (sameExpression(&left, &right))
    return true;
  if (!left.operands.empty() || !right.operands.empty())
    return false;
  bool whole = left.ranges.empty() || right.ranges.empty();
  for (size_t i = 0; i < left.variable->extents.size(); ++i) {
    if (whole) {
      const Expr& part = left.ranges.empty() ? right : left;
      if (part.ranges.empty())
        return true;
      auto count = staticCount(part.ranges[i], part.variable->extents[i]);
      if (count && *count == 0)
        return false;
      continue;
    }
    const BlockRange &a = left.ranges[i], &b = right.ranges[i];
    if (sameExpression(a.start, b.start) && sameExpression(a.end, b.end) && sameExpression(a.max, b.max))
      continue;
    const Extent& extent = left.variable->extents[i];
    auto aStart = constantOf(a.start), bStart = constantOf(b.start);
    auto aCount = staticCount(a, extent), bCount = staticCount(b, extent);
    bool unitStrides = (!a.stride || constantOf(a.stride) == 1) && (!b.stride || constantOf(b.stride) == 1);
    if (!aStart || !bStart || !aCount || !bCount || !unitStrides)
      return false;
    if (*aStart + *aCount <= *bStart || *bStart + *bCount <= *aStart || *aCount == 0 || *bCount == 0)
      return false;
  }
  return true;
}

bool mentions(const Expr* expr, const Variable* variable) {
  if (!expr)
    return false;
  if (expr->variable == variable)
    return true;
  for (const Expr* operand : expr->operands)
    if (mentions(operand, variable))
      return true;
  for (const BlockRange& range : expr->ranges)
    if (mentions(range.start, variable) || mentions(range.end, variable) || mentions(range.stride, variable) ||
        mentions(range.max, variable))
      return true;
  return false;
}

} // namespace strata::sequoia

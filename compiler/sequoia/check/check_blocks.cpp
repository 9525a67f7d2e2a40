// Array blocks: their ranges, copies between them, and overlaps that can be seen before the program runs.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

#include "compiler/sequoia/check/block.h"

namespace strata::sequoia {

STRATA_DIAGNOSTIC(needsBlock, Error, "sequoia-needs-block", "an array or an array block is needed here");
STRATA_DIAGNOSTIC(blockRank, Error, "sequoia-block-rank", "'{0}' has {1} dimensions; the block gives {2}");
STRATA_DIAGNOSTIC(mixedBlock, Error, "sequoia-mixed-block",
                  "every dimension of a block needs a range; this one is an index");
STRATA_DIAGNOSTIC(maxExpression, Error, "sequoia-block-max",
                  "the max of a range is an expression over constants, size parameters and tunables");
STRATA_DIAGNOSTIC(rangeOutside, Error, "sequoia-block-range", "{0} of this range is {1}, {2}");
STRATA_DIAGNOSTIC(rangeCount, Error, "sequoia-block-count", "this range has {0} elements, more than its max of {1}");
STRATA_DIAGNOSTIC(indexedRank, Error, "sequoia-indexed-rank",
                  "an indexed block needs arrays of one dimension; '{0}' has {1}");
STRATA_DIAGNOSTIC(indexedNested, Error, "sequoia-indexed-nested", "indexed blocks cannot be nested");
STRATA_DIAGNOSTIC(indexedType, Error, "sequoia-indexed-type",
                  "index array '{0}' has elements of type '{1}', not of an integer type");
STRATA_DIAGNOSTIC(copyType, Error, "sequoia-copy-type", "copy from elements of type '{0}' to elements of type '{1}'");
STRATA_DIAGNOSTIC(copyRank, Error, "sequoia-copy-rank", "copy from a block of {0} dimensions to one of {1}");
STRATA_DIAGNOSTIC(copyCount, Error, "sequoia-copy-count", "copy of {0} elements to {1} in dimension {2}");
STRATA_DIAGNOSTIC(blockAlias, Error, "sequoia-block-alias",
                  "these two blocks of array '{0}' overlap, and one of them is written");
STRATA_DIAGNOSTIC(indexAlias, Error, "sequoia-index-alias", "'{0}' is written here, and holds the indices of '{1}'");

Expr* Checker::block(Expr* expr) {
  // A[…][…]: collect the dimensions, outermost first.
  std::vector<Expr*> parts;
  Expr* base = expr;
  for (; base->kind == ExprKind::Subscript; base = base->operands[0])
    parts.insert(parts.begin(), base);
  const Symbol* symbol = base->kind == ExprKind::Name ? find(base->name) : nullptr;
  if (base->kind == ExprKind::Name && !symbol) {
    undeclared(base->name, base->location);
    return nullptr;
  }
  if (!symbol || symbol->kind != Symbol::Kind::Variable || !symbol->variable->isArray()) {
    diagnostics_.report(needsBlock, expr->location)
        .note(base->kind == ExprKind::Member ? "an array in a struct cannot be passed on or copied as a whole"
                                             : "found a scalar");
    return nullptr;
  }
  Variable& array = *symbol->variable;
  size_t rank = array.extents.size();
  expr->kind = ExprKind::Block;
  expr->variable = &array;
  expr->type = array.type;
  if (parts.empty())
    return expr;

  bool indexed = parts.size() == 1 && parts[0]->ranges.empty();
  if (indexed) {
    // A[I] or A[I[s:e;m]] gathers when I is an array; an integer in that place is a mistake.
    Expr* index = parts[0]->operands[1];
    Expr* indexBase = index;
    while (indexBase->kind == ExprKind::Subscript)
      indexBase = indexBase->operands[0];
    const Symbol* indexSymbol = indexBase->kind == ExprKind::Name ? find(indexBase->name) : nullptr;
    bool isArray = indexSymbol && indexSymbol->kind == Symbol::Kind::Variable && indexSymbol->variable->isArray();
    if (isArray) {
      if (index->kind == ExprKind::Subscript && index->ranges.empty()) {
        diagnostics_.report(indexedNested, index->location);
        return nullptr;
      }
      Expr* indexBlock = block(index);
      if (!indexBlock)
        return nullptr;
      const Variable& indices = *indexBlock->variable;
      for (const Variable* each : {const_cast<const Variable*>(&array), &indices}) {
        if (each->extents.size() != 1) {
          diagnostics_.report(indexedRank, expr->location, each->name, each->extents.size());
          return nullptr;
        }
      }
      if (!indices.type->isInteger() && !indices.type->isError()) {
        diagnostics_.report(indexedType, index->location, indices.name, typeName(indices.type));
        return nullptr;
      }
      expr->operands = {indexBlock};
      expr->ranges.clear();
      return expr;
    }
  }
  if (parts.size() != rank) {
    diagnostics_.report(blockRank, expr->location, array.name, rank, parts.size())
        .label(array.location, "declared here");
    return nullptr;
  }
  std::vector<BlockRange> ranges;
  for (size_t i = 0; i < rank; ++i) {
    if (parts[i]->ranges.empty()) {
      DiagnosticBuilder report = diagnostics_.report(mixedBlock, parts[i]->operands[1]->location);
      if (parts[i]->operands[1]->kind == ExprKind::Comma)
        report.help("a block of at most m elements from s is [s; m], and one of m columns and n rows [s; m][t; n]");
      else
        report.help("a range of one element is [i:i+1;1]");
      return nullptr;
    }
    BlockRange range = parts[i]->ranges[0];
    blockRange(range, array.extents[i]);
    ranges.push_back(range);
  }
  expr->operands.clear();
  expr->ranges = std::move(ranges);
  return expr;
}

void Checker::blockRange(BlockRange& range, const Extent& extent) {
  auto part = [&](Expr*& expr, std::string_view what) {
    if (expr)
      expr = longValue(expr, what);
  };
  part(range.start, "the start of a range");
  part(range.end, "the end of a range");
  part(range.stride, "the stride of a range");
  part(range.max, "the max of a range");
  if (range.max && !isParameterExpression(range.max))
    diagnostics_.report(maxExpression, range.max->location)
        .note("it bounds the space that the block takes before the program runs")
        .help("leave it out, or give the largest count that can occur");

  auto extentValue = constantOf(extent.expression);
  auto start = constantOf(range.start), end = constantOf(range.end), stride = constantOf(range.stride),
       max = constantOf(range.max);
  auto within = [&](const Expr* expr, std::optional<int64_t> value, const char* what) {
    if (!value)
      return;
    if (*value < 0)
      diagnostics_.report(rangeOutside, expr->location, what, *value, "which is negative");
    else if (extentValue && *value > *extentValue)
      diagnostics_.report(rangeOutside, expr->location, what, *value,
                          "beyond the array's extent of " + std::to_string(*extentValue));
  };
  within(range.start, start, "the start");
  within(range.end, end, "the end");
  if (stride && *stride < 1)
    diagnostics_.report(rangeOutside, range.stride->location, "the stride", *stride, "less than 1");
  if (max && *max < 0)
    diagnostics_.report(rangeOutside, range.max->location, "the max", *max, "which is negative");
  std::optional<int64_t> count = staticCount(range, extent);
  if (count && max && range.end && *max >= 0 && *count > *max)
    diagnostics_.report(rangeCount, range.location, *count, *max);
}

void Checker::copyStatement(Stmt& stmt) {
  if (!requireInner("the copy operator", stmt.location))
    return;
  Expr* destination = block(stmt.arguments[0].value);
  Expr* source = block(stmt.arguments[1].value);
  if (!destination || !source) {
    stmt.kind = StmtKind::Empty;
    return;
  }
  stmt.arguments[0].value = destination;
  stmt.arguments[1].value = source;
  if (checkArrayWritable(*destination->variable, destination->location, "the destination of a copy"))
    destination->variable->isAssigned = true;
  const Variable &to = *destination->variable, &from = *source->variable;
  if (to.type != from.type && !to.type->isError() && !from.type->isError())
    diagnostics_.report(copyType, stmt.location, typeName(from.type), typeName(to.type))
        .label(to.location, "the destination")
        .label(from.location, "the source");
  size_t toRank = to.extents.size(), fromRank = from.extents.size();
  if (toRank != fromRank) {
    diagnostics_.report(copyRank, stmt.location, fromRank, toRank);
    return;
  }
  for (size_t i = 0; i < toRank; ++i) {
    auto toCount = staticCount(*destination, i), fromCount = staticCount(*source, i);
    if (toCount && fromCount && *toCount != *fromCount)
      diagnostics_.report(copyCount, stmt.location, *fromCount, *toCount, i)
          .label(source->location, std::to_string(*fromCount) + " elements")
          .label(destination->location, std::to_string(*toCount) + " elements");
  }
  checkBlockAliases(stmt);
}

void Checker::checkBlockAliases(const Stmt& stmt) {
  for (size_t i = 0; i < stmt.arguments.size(); ++i) {
    for (size_t j = i + 1; j < stmt.arguments.size(); ++j) {
      const Argument &first = stmt.arguments[i], &second = stmt.arguments[j];
      if (!first.value || !second.value || first.value->kind != ExprKind::Block ||
          second.value->kind != ExprKind::Block)
        continue;
      if (first.direction == Direction::In && second.direction == Direction::In)
        continue;
      for (auto [indexed, written] : {std::pair(&first, &second), std::pair(&second, &first)})
        if (written->direction != Direction::In && !indexed->value->operands.empty() &&
            surelyOverlap(*indexed->value->operands[0], *written->value))
          diagnostics_
              .report(indexAlias, written->value->location, written->value->variable->name,
                      indexed->value->variable->name)
              .label(indexed->value->location, "the indexed block")
              .help("copy the indices to another array before");
      if (surelyOverlap(*first.value, *second.value))
        diagnostics_.report(blockAlias, second.value->location, second.value->variable->name)
            .label(first.value->location, "the other block")
            .note("each is a copy of its own to the task, so which one the array ends up with is undefined");
    }
  }
}

} // namespace strata::sequoia

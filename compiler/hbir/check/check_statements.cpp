// Statements: declarations and their scopes, assignments, and loops.
#include "compiler/hbir/check/checker.h"
#include "compiler/hbir/layout/layout.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(
    compoundCall, Error, "hbir-compound-call",
    "this assignment computes in another type than the target's, and would call what the target's indices "
    "call twice");
STRATA_DIAGNOSTIC(redeclared, Error, "hbir-redeclared", "'{0}' is declared twice in one scope");
STRATA_DIAGNOSTIC(arrayInitial, Error, "hbir-array-initial",
                  "array '{0}' cannot be given a value where it is declared");
STRATA_DIAGNOSTIC(localTooLarge, Error, "hbir-local-array-size",
                  "array '{0}' takes {1} bytes, and the memory of a tile holds {2}");
STRATA_DIAGNOSTIC(notAssignable, Error, "hbir-assign", "{0} cannot be assigned");
STRATA_DIAGNOSTIC(breakOutside, Error, "hbir-break", "break stands outside of every loop");
STRATA_DIAGNOSTIC(finishOutside, Error, "hbir-finish",
                  "bsg_finish() ends a tile, and code outside of groups runs on none");

/// Whether an expression calls a function of the user's.
static bool calls(const Expression& expression) {
  return expression.kind == ExpressionKind::Call ||
         std::any_of(expression.operands.begin(), expression.operands.end(),
                     [](const ExpressionPtr& operand) { return calls(*operand); });
}

Symbol& Checker::newSymbol(SymbolKind kind, std::string_view name, const Location& where) {
  Symbol& symbol = program_.symbols.emplace_back();
  symbol.kind = kind;
  symbol.name = name;
  symbol.where = where;
  return symbol;
}

void Checker::statements(const std::vector<Stmt*>& list, std::vector<StatementPtr>& into) {
  for (const Stmt* each : list)
    if (StatementPtr made = statement(*each))
      into.push_back(std::move(made));
}

void Checker::scoped(const std::vector<Stmt*>& list, std::vector<StatementPtr>& into) {
  scopes_.emplace_back();
  statements(list, into);
  scopes_.pop_back();
}

StatementPtr Checker::statement(const Stmt& syntax) {
  statement_ = &syntax;
  auto result = std::make_unique<Statement>();
  result->kind = syntax.kind;
  result->where = syntax.where;
  switch (syntax.kind) {
  case StatementKind::Declare:
    return declaration(syntax, false);
  case StatementKind::Assign:
    return assignment(syntax);
  case StatementKind::Call:
    result->value = valueOrCall(*syntax.value);
    return result->value ? std::move(result) : nullptr;
  case StatementKind::If:
    result->condition = condition(*syntax.condition);
    scoped(syntax.body, result->body);
    scoped(syntax.otherwise, result->otherwise);
    return result;
  case StatementKind::While:
    result->condition = condition(*syntax.condition);
    ++loops_;
    scoped(syntax.body, result->body);
    --loops_;
    return result;
  case StatementKind::For:
    return forLoop(syntax);
  case StatementKind::Range:
    return rangeLoop(syntax);
  case StatementKind::Compound:
    scoped(syntax.body, result->body);
    return result;
  case StatementKind::Break:
    if (!loops_)
      diagnostics_.report(breakOutside, syntax.where);
    return result;
  case StatementKind::Print:
    return print(syntax);
  case StatementKind::Finish:
    if (!block_)
      diagnostics_.report(finishOutside, syntax.where);
    return result;
  }
  return nullptr;
}

StatementPtr Checker::declaration(const Stmt& syntax, bool global) {
  std::vector<int64_t> sizes =
      extents(syntax.extents, [this](const Expr& name) { return resolveInData(name); }, "an extent of the array");
  if (syntax.value && !sizes.empty())
    diagnostics_.report(arrayInitial, syntax.where, syntax.name.text).help("assign its elements");
  // The value is computed before the name means the new variable.
  ExpressionPtr initial = syntax.value && sizes.empty() ? value(*syntax.value) : nullptr;
  if (!global)
    fitsTile(syntax, sizes);
  Symbol& symbol = newSymbol(global ? SymbolKind::Global : SymbolKind::Local, syntax.name.text, syntax.where);
  symbol.type = syntax.type;
  symbol.extents = std::move(sizes);
  if (global) {
    declare(symbol.name, symbol.where, "variable");
    program_.globals.push_back(&symbol);
  }
  auto [other, isNew] = scopes_.back().emplace(symbol.name, &symbol);
  if (!isNew) {
    if (!global)
      diagnostics_.report(redeclared, symbol.where, symbol.name).label(other->second->where, "the other one");
    other->second = &symbol;
  }
  if (initial)
    initial = convert(std::move(initial), symbol.type);
  auto result = std::make_unique<Statement>();
  result->where = syntax.where;
  if (!global) {
    result->kind = StatementKind::Declare;
    result->symbol = &symbol;
    result->value = std::move(initial);
    return result;
  }
  if (!initial)
    return nullptr;
  result->kind = StatementKind::Assign;
  result->target = std::make_unique<Expression>();
  result->target->kind = ExpressionKind::Variable;
  result->target->type = symbol.type;
  result->target->symbol = &symbol;
  result->target->where = syntax.where;
  result->value = std::move(initial);
  return result;
}

void Checker::fitsTile(const Stmt& syntax, const std::vector<int64_t>& extents) {
  if (extents.empty() || !block_)
    return;
  int64_t capacity = 0;
  bool any = false;
  for (const MemoryClass& memory : program_.target.memories) {
    if (!memory.local)
      continue;
    int64_t bytes = 0;
    if (!memory.size || __builtin_mul_overflow(*memory.size, memory.count, &bytes) ||
        __builtin_add_overflow(capacity, bytes, &capacity))
      return; // unknown, or more than can be counted
    any = true;
  }
  // Elements have at most 4 bytes and are fewer than 2^62, so that bytes fit an unsigned number.
  uint64_t bytes = static_cast<uint64_t>(productOf(extents).value_or(1)) * static_cast<uint64_t>(bytesOf(syntax.type));
  if (any && bytes > static_cast<uint64_t>(capacity))
    diagnostics_.report(localTooLarge, syntax.where, syntax.name.text, bytes, capacity)
        .label(program_.target.where, "the tiles")
        .help("an array of the data segment can be spread over the memories of many tiles");
}

ExpressionPtr Checker::assignable(const Expr& syntax) {
  if (syntax.kind == ExprKind::Call && refuseArrayCall(syntax))
    return nullptr;
  if (syntax.kind != ExprKind::Name && syntax.kind != ExprKind::Element) {
    diagnostics_.report(notAssignable, syntax.where, "this");
    return nullptr;
  }
  ExpressionPtr target = value(syntax);
  if (!target)
    return nullptr;
  std::string shown = "'" + dottedName(syntax.names) + "'";
  if (target->kind != ExpressionKind::Variable && target->kind != ExpressionKind::Element) {
    DiagnosticBuilder builder = diagnostics_.report(notAssignable, syntax.where, shown);
    builder.note("it is a number that does not change");
    if (auto constant = constantsByName_.find(syntax.names[0]); constant != constantsByName_.end())
      builder.label(constant->second->where, "declared here");
    return nullptr;
  }
  const Symbol& symbol = *target->symbol;
  if (symbol.kind == SymbolKind::Index || symbol.kind == SymbolKind::TileId) {
    diagnostics_.report(notAssignable, syntax.where, shown).note("it tells which tile executes the code");
    return nullptr;
  }
  if (symbol.array && symbol.array->direction == Direction::In) {
    diagnostics_.report(notAssignable, syntax.where, "the input array " + shown)
        .label(symbol.where, "it comes from the host");
    return nullptr;
  }
  return target;
}

StatementPtr Checker::assignment(const Stmt& syntax) {
  ExpressionPtr target = assignable(*syntax.target);
  ExpressionPtr given = value(*syntax.value);
  if (!target || !given)
    return nullptr;
  auto result = std::make_unique<Statement>();
  result->kind = StatementKind::Assign;
  result->where = syntax.where;
  if (syntax.compound) {
    // Where the operation is done in the target's type the assignment stays compound, so that its indices are
    // computed once; else the value is read, computed in the wider type and converted back.
    ScalarType type = target->type;
    ScalarType computed =
        type == ScalarType::Float || given->type == ScalarType::Float ? ScalarType::Float : ScalarType::Int;
    if (computed == type && (type == ScalarType::Int || *syntax.compound <= Operator::Divide)) {
      result->compound = syntax.compound;
      given = convert(std::move(given), type);
      // What a plain expression would refuse is refused here too.
      ExpressionPtr operand = value(*syntax.target);
      if (given->kind == ExpressionKind::Integer &&
          !combine(*syntax.compound, std::move(operand), integer(given->integer, given->where), syntax.where))
        return nullptr;
    } else {
      if (calls(*target)) {
        diagnostics_.report(compoundCall, syntax.where).help("keep the index in a variable");
        return nullptr;
      }
      given = combine(*syntax.compound, value(*syntax.target), std::move(given), syntax.where);
      if (!given)
        return nullptr;
    }
  }
  result->value = convert(std::move(given), target->type);
  result->target = std::move(target);
  return result;
}

StatementPtr Checker::forLoop(const Stmt& syntax) {
  auto result = std::make_unique<Statement>();
  result->kind = StatementKind::For;
  result->where = syntax.where;
  scopes_.emplace_back();
  if (syntax.first)
    result->first = statement(*syntax.first);
  if (syntax.condition)
    result->condition = condition(*syntax.condition);
  if (syntax.next)
    result->next = statement(*syntax.next);
  ++loops_;
  scoped(syntax.body, result->body);
  --loops_;
  scopes_.pop_back();
  return result;
}

StatementPtr Checker::rangeLoop(const Stmt& syntax) {
  auto result = std::make_unique<Statement>();
  result->kind = StatementKind::Range;
  result->where = syntax.where;
  for (const Expr* bound : {syntax.value, syntax.upper}) {
    ExpressionPtr made = value(*bound);
    if (made && made->type == ScalarType::Float) {
      diagnostics_.report(notAssignable, bound->where, "a float, to the variable of a range,");
      made = nullptr;
    }
    (bound == syntax.value ? result->value : result->upper) =
        made ? convert(std::move(made), ScalarType::Int) : nullptr;
  }
  scopes_.emplace_back();
  Symbol& symbol = newSymbol(SymbolKind::Local, syntax.name.text, syntax.name.where);
  scopes_.back().emplace(symbol.name, &symbol);
  result->symbol = &symbol;
  ++loops_;
  scoped(syntax.body, result->body);
  --loops_;
  scopes_.pop_back();
  return result;
}

} // namespace strata::hbir

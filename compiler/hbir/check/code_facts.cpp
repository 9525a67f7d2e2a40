// The walk that finds what code does. Statements are counted to a fixed depth by the parser, so recursion is bounded.
#include "compiler/hbir/check/code_facts.h"

namespace strata::hbir {

bool areSame(const Symbol* a, const Symbol* b) {
  return a == b || (a->kind == SymbolKind::Array && b->kind == SymbolKind::Array && a->array == b->array);
}

bool assigns(const Statement* statement, const Symbol* symbol) {
  if (!statement)
    return false;
  if (statement->kind == StatementKind::Assign && statement->target && areSame(statement->target->symbol, symbol))
    return true;
  if (assigns(statement->first.get(), symbol) || assigns(statement->next.get(), symbol))
    return true;
  for (const std::vector<StatementPtr>* list : {&statement->body, &statement->otherwise})
    for (const StatementPtr& each : *list)
      if (assigns(each.get(), symbol))
        return true;
  return false;
}

static bool mentions(const Expression* expression, const Symbol* symbol) {
  if (!expression)
    return false;
  if (expression->symbol && areSame(expression->symbol, symbol))
    return true;
  for (const ExpressionPtr& operand : expression->operands)
    if (mentions(operand.get(), symbol))
      return true;
  return false;
}

bool mentions(const Statement& statement, const Symbol* symbol) {
  for (const ExpressionPtr* each : {&statement.target, &statement.value, &statement.upper, &statement.condition})
    if (mentions(each->get(), symbol))
      return true;
  for (const StatementPtr* each : {&statement.first, &statement.next})
    if (*each && mentions(**each, symbol))
      return true;
  for (const std::vector<StatementPtr>* list : {&statement.body, &statement.otherwise})
    for (const StatementPtr& each : *list)
      if (mentions(*each, symbol))
        return true;
  for (const PrintItem& item : statement.arguments)
    if (mentions(item.value.get(), symbol))
      return true;
  return false;
}

CodeFacts::CodeFacts(const std::vector<StatementPtr>& body) {
  jumps_ = sequence(body, false);
}

unsigned CodeFacts::jumps(const Statement* statement) const {
  auto found = jumpsOf_.find(statement);
  return found == jumpsOf_.end() ? NoJump : found->second;
}

Touch* CodeFacts::touched(const Symbol* symbol) {
  if (symbol->kind == SymbolKind::Array)
    return &arrays_[symbol->array];
  return symbol->kind == SymbolKind::Global ? &globals_[symbol] : nullptr;
}

void CodeFacts::expression(const Expression* expression) {
  if (!expression)
    return;
  if (expression->symbol)
    if (Touch* touch = touched(expression->symbol)) {
      touch->read = true;
    }
  for (const ExpressionPtr& operand : expression->operands)
    this->expression(operand.get());
}

unsigned CodeFacts::sequence(const std::vector<StatementPtr>& statements, bool mayBeSkipped) {
  unsigned jumps = NoJump;
  for (const StatementPtr& each : statements) {
    jumps |= statement(*each, mayBeSkipped);
    mayBeSkipped |= jumps != NoJump;
  }
  return jumps;
}

unsigned CodeFacts::statement(const Statement& each, bool mayBeSkipped) {
  unsigned jumps = NoJump;
  waits_ |= each.waits;
  for (const Symbol* symbol : each.awaited)
    awaited_.insert(keyOf(*symbol));
  deciding_.insert(each.deciding.begin(), each.deciding.end());
  if (each.kind == StatementKind::Declare && each.symbol) {
    if (mayBeSkipped)
      stored_.insert(each.symbol);
    if (Touch* touch = touched(each.symbol))
      touch->written = true;
    else if (!each.symbol->extents.empty())
      localArrays_.push_back(each.symbol);
  }
  if (each.target) {
    for (const ExpressionPtr& index : each.target->operands)
      expression(index.get());
    written_.insert(each.target->symbol);
    if (Touch* touch = touched(each.target->symbol)) {
      touch->written = true;
      touch->read |= each.compound.has_value();
    }
  }
  expression(each.value.get());
  expression(each.upper.get());
  if (each.first)
    statement(*each.first, mayBeSkipped);
  expression(each.condition.get());
  if (each.next)
    statement(*each.next, true);
  // A list in an arm or a loop begins anew: a jump around the whole statement also jumps around every use in it.
  jumps |= sequence(each.body, false) | sequence(each.otherwise, false);
  for (const PrintItem& item : each.arguments)
    expression(item.value.get());
  prints_ |= each.kind == StatementKind::Print;
  switch (each.kind) {
  case StatementKind::Break:
    jumps = BreakJump;
    break;
  case StatementKind::Finish:
    jumps = FinishJump;
    break;
  case StatementKind::While:
  case StatementKind::For:
  case StatementKind::Range:
    jumps &= ~unsigned(BreakJump);
    break;
  default:
    break;
  }
  if (jumps != NoJump)
    jumpsOf_[&each] = jumps;
  return jumps;
}

} // namespace strata::hbir

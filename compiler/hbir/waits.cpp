// Which loops wait for another tile: those that only somebody else's write can end. A loop ends by its condition, or,
// where that never changes, by a break under an if; what decides must read shared data and nothing that the loop
// writes.
#include "compiler/hbir/checker.h"

#include <set>

namespace strata::hbir {

namespace {

struct Symbols {
  std::set<const Symbol*> all;
  bool shared = false; // a global variable or an array of the data segment is among them

  void read(const Expression* expression) {
    if (!expression)
      return;
    if (const Symbol* symbol = expression->symbol) {
      all.insert(symbol);
      shared |= symbol->kind == SymbolKind::Global || symbol->kind == SymbolKind::Array;
    }
    for (const ExpressionPtr& operand : expression->operands)
      read(operand.get());
  }
};

void assigned(const Statement* statement, std::set<const Symbol*>& into);

void assigned(const std::vector<StatementPtr>& list, std::set<const Symbol*>& into) {
  for (const StatementPtr& each : list)
    assigned(each.get(), into);
}

void assigned(const Statement* statement, std::set<const Symbol*>& into) {
  if (!statement)
    return;
  if (statement->target)
    into.insert(statement->target->symbol);
  if (statement->symbol)
    into.insert(statement->symbol);
  assigned(statement->first.get(), into);
  assigned(statement->next.get(), into);
  assigned(statement->body, into);
  assigned(statement->otherwise, into);
}

/// Whether a list leaves the loop around it by a break that stands in it, not in a loop inside.
bool breaks(const std::vector<StatementPtr>& list) {
  for (const StatementPtr& each : list)
    if (each->kind == StatementKind::Break ||
        ((each->kind == StatementKind::If || each->kind == StatementKind::Compound) &&
         (breaks(each->body) || breaks(each->otherwise))))
      return true;
  return false;
}

/// The conditions of the ifs that decide on a break.
void breakConditions(const std::vector<StatementPtr>& list, Symbols& into) {
  for (const StatementPtr& each : list) {
    if (each->kind == StatementKind::If && (breaks(each->body) || breaks(each->otherwise)))
      into.read(each->condition.get());
    if (each->kind == StatementKind::If || each->kind == StatementKind::Compound) {
      breakConditions(each->body, into);
      breakConditions(each->otherwise, into);
    }
  }
}

bool waits(const Statement& loop) {
  Symbols decides;
  decides.read(loop.condition.get());
  if (decides.all.empty())
    breakConditions(loop.body, decides);
  if (!decides.shared)
    return false;
  std::set<const Symbol*> written;
  assigned(loop.next.get(), written);
  assigned(loop.body, written);
  for (const Symbol* symbol : decides.all)
    if (written.contains(symbol))
      return false;
  return true;
}

} // namespace

void markWaitingLoops(std::vector<StatementPtr>& statements) {
  for (StatementPtr& each : statements) {
    if (each->kind == StatementKind::While || each->kind == StatementKind::For)
      each->waits = waits(*each);
    markWaitingLoops(each->body);
    markWaitingLoops(each->otherwise);
  }
}

} // namespace strata::hbir

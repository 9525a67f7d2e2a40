// Loops that wait. What a tile reads there of others' writes is loaded each time and ordered before what follows. Each
// round ends with a poll, which lets other tiles go on. The poll tells whether the tile has changed anything and with
// which values of its own it goes on, so that a deadlock is found.
#include "compiler/hbir/lower/lower_body.h"

#include <algorithm>
#include <utility>

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

namespace {

bool isShared(const Symbol& symbol) {
  return symbol.kind == SymbolKind::Global || symbol.kind == SymbolKind::Array;
}

bool containsWait(const std::vector<StatementPtr>& list) {
  return std::any_of(list.begin(), list.end(), [](const StatementPtr& each) {
    return each->waits || containsWait(each->body) || containsWait(each->otherwise);
  });
}

/// The variables of a loop that decide what it does, but for those that only give their own next value.
class Deciding {
public:
  explicit Deciding(const Statement& loop) {
    size_t before = 0;
    do {
      before = keys.size();
      statement(loop);
    } while (keys.size() != before);
  }

  std::unordered_set<const void*> keys;

private:
  void read(const Expression* expression) {
    if (!expression)
      return;
    if (expression->symbol)
      keys.insert(keyOf(*expression->symbol));
    for (const ExpressionPtr& operand : expression->operands)
      read(operand.get());
  }
  void statement(const Statement& each) {
    const Symbol* given = each.target ? each.target->symbol : each.symbol;
    const bool isOwn = given && each.kind != StatementKind::Range && !isShared(*given) && given->extents.empty();
    if (!isOwn || keys.contains(keyOf(*given))) {
      read(each.value.get());
      read(each.upper.get());
    }
    if (each.target)
      for (const ExpressionPtr& index : each.target->operands)
        read(index.get());
    read(each.condition.get());
    for (const PrintItem& item : each.arguments)
      read(item.value.get());
    for (const StatementPtr* inner : {&each.first, &each.next})
      if (*inner)
        statement(**inner);
    for (const std::vector<StatementPtr>* list : {&each.body, &each.otherwise})
      for (const StatementPtr& inner : *list)
        statement(*inner);
  }
};

} // namespace

void BodyLowering::beginWaiting(const Statement& loop) {
  if (waiting_.empty()) {
    deciding_ = Deciding(loop).keys;
    if (!changedFlag_)
      changedFlag_ = allocate(builder_.getI1Type());
    noteChange(); // nobody has been told yet what the tile did before
  }
  waiting_.push_back(&loop);
}

void BodyLowering::noteChange() {
  make<memref::StoreOp>(truth(true), changedFlag_, mlir::ValueRange());
}

/// Whether a store to it may be what another round, or another tile, depends on. An array that each round makes anew is
/// none, unless there is a poll within the round.
bool BodyLowering::isWatched(const Symbol* symbol) const {
  if (waiting_.empty())
    return false;
  if (isShared(*symbol))
    return true;
  auto declared = declaredIn_.find(symbol);
  return !symbol->extents.empty() &&
         (declared == declaredIn_.end() || declared->second != waiting_.back() || containsWait(waiting_.back()->body));
}

/// Before a store: notes whether it gives another value.
void BodyLowering::watch(const Place& place, Value stored) {
  Value old = make<memref::LoadOp>(place.storage, place.indices);
  old.getDefiningOp()->setAttr(svm::SvmDialect::comparedAttr, builder_.getUnitAttr());
  if (llvm::isa<mlir::FloatType>(stored.getType())) {
    old = make<arith::BitcastOp>(builder_.getI32Type(), old);
    stored = make<arith::BitcastOp>(builder_.getI32Type(), stored);
  }
  Value differs = make<arith::CmpIOp>(arith::CmpIPredicate::ne, old, stored);
  Value known = make<memref::LoadOp>(changedFlag_);
  make<memref::StoreOp>(folded<arith::OrIOp>(known, differs), changedFlag_, mlir::ValueRange());
}

/// A value for a symbol. Where a variable decides about the end of a loop that waits, what it is given before the loop
/// is the first look at what the loop waits for.
Value BodyLowering::assignedValue(const Symbol* symbol, const Expression& expression) {
  const bool outer = std::exchange(startsWait_, startsWait_ || facts_.decides(symbol));
  Value result = value(expression);
  startsWait_ = outer;
  return result;
}

BodyLowering::Operand BodyLowering::assignedOperand(const Symbol* symbol, const Expression& expression) {
  return {assignedValue(symbol, expression), expression.type == ScalarType::Int ? rangeOf(expression) : Range()};
}

/// A load of what ends a loop that waits: what follows sees all that the other tile wrote before.
Value BodyLowering::awaited(const Symbol* symbol, Value loaded) {
  bool decides = startsWait_ && isShared(*symbol) && module_.isAwaited(symbol);
  decides |= std::any_of(waiting_.begin(), waiting_.end(), [&](const Statement* loop) {
    return std::any_of(loop->awaited.begin(), loop->awaited.end(),
                       [&](const Symbol* each) { return keyOf(*each) == keyOf(*symbol); });
  });
  if (!decides)
    return loaded;
  loaded.getDefiningOp()->setAttr(svm::SvmDialect::awaitedAttr, builder_.getUnitAttr());
  make<svm::FenceOp>();
  return loaded;
}

void BodyLowering::endRound() {
  Values state;
  for (const Symbol* symbol : scope_) {
    if (!deciding_.contains(keyOf(*symbol)))
      continue;
    auto binding = bindings_.find(symbol);
    if (binding == bindings_.end())
      continue;
    if (binding->second.value)
      state.push_back(binding->second.value);
    else if (binding->second.storage)
      state.push_back(make<memref::LoadOp>(binding->second.storage));
  }
  state.append(hidden_);
  make<svm::PollOp>(tile_, make<memref::LoadOp>(changedFlag_), state);
  make<memref::StoreOp>(truth(false), changedFlag_, mlir::ValueRange());
}

} // namespace strata::hbir

// C's statements as structured control. A jump sets a flag; what stands behind it in its list is guarded by the flags
// that can be set by then, side by side and not nested, so that long lists stay flat.
#include "compiler/sequoia/lower/lower_body.h"

#include <algorithm>
#include <span>

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

void BodyLowering::statement(const Stmt* stmt) {
  if (!stmt)
    return;
  at(stmt->location);
  switch (stmt->kind) {
  case StmtKind::Expression:
    return effect(stmt->expression);
  case StmtKind::Declaration:
    return declaration(*stmt);
  case StmtKind::Compound:
    return sequence(stmt->statements);
  case StmtKind::If:
    return ifStatement(*stmt);
  case StmtKind::While:
  case StmtKind::DoWhile:
  case StmtKind::For:
    return loop(*stmt);
  case StmtKind::Switch:
    return switchStatement(*stmt);
  case StmtKind::Break:
    return jump(BreakJump);
  case StmtKind::Continue:
    return jump(ContinueJump);
  case StmtKind::Return:
    if (stmt->expression && returned_ && module_.isWide(stmt->expression->type)) {
      Target result;
      result.root = result.type = stmt->expression->type;
      result.storage = returned_;
      copyObject(result, object(stmt->expression));
    } else if (stmt->expression && returned_) {
      Value result = value(stmt->expression);
      store(result, returned_);
    } else if (stmt->expression) {
      effect(stmt->expression);
    }
    return jump(ReturnJump);
  case StmtKind::TaskCall:
    return taskCall(*stmt);
  case StmtKind::Copy:
    return copyStatement(*stmt);
  case StmtKind::Map:
    return mapStatement(*stmt);
  case StmtKind::Empty:
  case StmtKind::CaseLabel:
    return;
  }
}

void BodyLowering::jump(Jump kind) {
  Value storage = kind == BreakJump ? breakFlag_ : kind == ContinueJump ? continueFlag_ : returnFlag_;
  if (storage)
    store(truth(true), storage);
}

Value BodyLowering::noJump(unsigned jumps) {
  Values flags;
  for (auto [kind, storage] :
       {std::pair(BreakJump, breakFlag_), std::pair(ContinueJump, continueFlag_), std::pair(ReturnJump, returnFlag_)})
    if (jumps & kind)
      flags.push_back(storage);
  return noneSet(flags);
}

void BodyLowering::sequence(const std::vector<Stmt*>& statements) {
  FlatList list(*this);
  unsigned jumps = NoJump;
  for (const Stmt* each : statements) {
    statement(each);
    // Behind an unconditional jump nothing is reached.
    if (each->kind == StmtKind::Break || each->kind == StmtKind::Continue || each->kind == StmtKind::Return)
      break;
    unsigned added = module_.facts.jumps(each);
    if (added == NoJump || each == statements.back())
      continue;
    jumps |= added;
    list.leave();
    at(each->location);
    list.enter(noJump(jumps));
  }
}

void BodyLowering::declaration(const Stmt& stmt) {
  for (const Variable* variable : stmt.variables) {
    if (variable->kind != VariableKind::Local)
      continue;
    if (variable->isArray()) {
      for (const Expr* each : variable->stores)
        effect(each);
      continue;
    }
    at(variable->location);
    bool isPassed = module_.facts.isPassed(variable);
    const bool isWide = module_.isWide(variable->type);
    if (!isPassed && !isWide && !module_.facts.isWritten(variable) && !module_.facts.needsStorage(variable)) {
      Binding binding;
      // A size or loop variable under another name stays an index.
      if (variable->type->isInteger() && isIndexText(variable->initializer))
        binding.index = index(variable->initializer);
      binding.nonNegative = isNonNegative(variable->initializer);
      binding.range = rangeOf(variable->initializer);
      binding.value = value(variable->initializer);
      names_->bindings[variable] = binding;
      continue;
    }
    // Passed variables have their block from the start of the function.
    if (!isPassed) {
      Binding binding;
      binding.storage = storageFor(*variable);
      names_->bindings[variable] = binding;
    }
    if (isWide && variable->initializer) {
      Target initial = object(variable->initializer);
      at(variable->location);
      copyObject(target(*variable), initial);
    } else if (isWide) {
      clearObject(target(*variable));
    } else if (!variable->initializer && variable->type->isRecord()) {
      // Members are written one at a time into the whole, which must be something by then.
      store(zeroOf(module_.typeOf(variable->type)), bindingOf(variable).storage);
    } else if (variable->initializer) {
      Value initial = value(variable->initializer);
      at(variable->location);
      store(initial, bindingOf(variable).storage);
    }
    for (const Expr* each : variable->stores)
      effect(each);
  }
}

void BodyLowering::ifStatement(const Stmt& stmt) {
  Value holds = condition(stmt.expression);
  at(stmt.location);
  auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/stmt.otherwise != nullptr);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  statement(stmt.body);
  if (!stmt.otherwise)
    return;
  builder_.setInsertionPointToStart(branch.elseBlock());
  statement(stmt.otherwise);
}

namespace {

/// More sections than this are found by halving their values, so that time does not grow with their number.
constexpr size_t manySections = 8;

/// Without the break at its end.
std::vector<Stmt*> statementsOf(const SwitchSection& section) {
  std::vector<Stmt*> statements = section.statements;
  if (!statements.empty() && statements.back()->kind == StmtKind::Break)
    statements.pop_back();
  return statements;
}

bool fallsThrough(const std::vector<SwitchSection>& sections) {
  for (size_t i = 0; i + 1 < sections.size(); ++i)
    if (statementsOf(sections[i]).size() == sections[i].statements.size())
      return true;
  return false;
}

} // namespace

void BodyLowering::switchStatement(const Stmt& stmt) {
  Value chosen = value(stmt.expression);
  at(stmt.location);
  Value outerBreak = breakFlag_;
  unsigned jumps = NoJump;
  for (const SwitchSection& section : stmt.sections)
    for (const Stmt* each : statementsOf(section))
      jumps |= module_.facts.jumps(each);
  breakFlag_ = jumps & BreakJump ? flag(false) : Value();
  if (stmt.sections.size() > manySections && !fallsThrough(stmt.sections))
    switchApart(stmt, chosen);
  else
    switchInOrder(stmt, chosen, jumps);
  breakFlag_ = outerBreak;
}

Value BodyLowering::isOneOf(Value chosen, const std::vector<int64_t>& values) {
  Value any = truth(false);
  for (int64_t number : values)
    any = folded<arith::OrIOp>(
        any, compare(arith::CmpIPredicate::eq, chosen, integer(chosen.getType(), static_cast<uint64_t>(number))));
  return any;
}

/// Sections in order; `entered` says that control falls from the section before. A break at a section's end clears it,
/// any other sets a flag.
void BodyLowering::switchInOrder(const Stmt& stmt, Value chosen, unsigned jumps) {
  Value entered = flag(false);
  Value anyValue = truth(false);
  for (const SwitchSection& section : stmt.sections)
    anyValue = folded<arith::OrIOp>(anyValue, isOneOf(chosen, section.values));
  for (const SwitchSection& section : stmt.sections) {
    at(section.location);
    Value here = folded<arith::OrIOp>(load(entered), isOneOf(chosen, section.values));
    if (section.isDefault)
      here = folded<arith::OrIOp>(here, inverse(anyValue));
    if (jumps != NoJump)
      here = both(here, noJump(jumps));
    auto branch = make<scf::IfOp>(here, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    std::vector<Stmt*> statements = statementsOf(section);
    store(truth(statements.size() == section.statements.size()), entered);
    sequence(statements);
  }
}

/// Sections of which none falls into the next: one is executed at most, so their order does not matter. Those with one
/// value are found by halving, then come those with several; `others` says that it was none of them.
void BodyLowering::switchApart(const Stmt& stmt, Value chosen) {
  const auto width = chosen.getType().getIntOrFloatBitWidth();
  Value others;
  std::vector<Choice> choices;
  for (const SwitchSection& section : stmt.sections)
    if (section.isDefault)
      others = flag(true);
    else if (section.values.size() == 1)
      choices.emplace_back(static_cast<uint64_t>(section.values.front()) << (64 - width), &section);
  std::ranges::sort(choices);
  auto execute = [&](const SwitchSection& section, Value holds) {
    auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    if (others && !section.isDefault)
      store(truth(false), others);
    sequence(statementsOf(section));
  };
  auto halve = [&](auto& again, std::span<const Choice> left) -> void {
    const auto& [value, section] = left[left.size() / 2];
    at(section->location);
    if (left.size() == 1)
      return execute(*section, isOneOf(chosen, section->values));
    auto branch =
        make<scf::IfOp>(compare(arith::CmpIPredicate::ult, chosen, integer(chosen.getType(), value >> (64 - width))),
                        /*withElseRegion=*/true);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    again(again, left.first(left.size() / 2));
    builder_.setInsertionPointToStart(branch.elseBlock());
    again(again, left.subspan(left.size() / 2));
  };
  if (!choices.empty())
    halve(halve, choices);
  const SwitchSection* otherwise = nullptr;
  for (const SwitchSection& section : stmt.sections) {
    if (section.isDefault)
      otherwise = &section;
    if (section.isDefault || section.values.size() == 1)
      continue;
    at(section.location);
    execute(section, isOneOf(chosen, section.values));
  }
  if (otherwise) {
    at(otherwise->location);
    execute(*otherwise, load(others));
  }
}

} // namespace strata::sequoia

// Tunables that are settled when an instance begins: the largest values, up to those of the mapping, by which the
// program's divisions leave nothing.
#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/lower/lower_body.h"

#include <algorithm>

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

bool BodyLowering::settlesTunables() const {
  return llvm::is_contained(instance_.divisors, 1);
}

Value BodyLowering::formulaValue(const Formula& formula) {
  if (formula.kind == Formula::Kind::Constant)
    return indexConstant(formula.constant);
  if (formula.kind == Formula::Kind::Variable) {
    const Variable& variable = *formula.variable;
    auto bound = names_->bindings.find(&variable);
    const bool isBound = bound != names_->bindings.end();
    if (variable.kind == VariableKind::Tunable && !isBound)
      return indexConstant(instance_.tunables[variable.index]);
    return isBound && bound->second.index
               ? bound->second.index
               : toIndex(isBound && bound->second.value ? bound->second.value : load(bindingOf(&variable).storage),
                         variable.type);
  }
  Value left = formulaValue(*formula.left), right = formulaValue(*formula.right);
  if (formula.kind == Formula::Kind::Minimum)
    return minimum(left, right);
  if (formula.kind == Formula::Kind::Maximum)
    return maximum(left, right);
  // Where the program divides by zero or shifts too far, it says so itself.
  auto amount = [&] { return minimum(maximum(right, indexConstant(0)), indexConstant(62)); };
  switch (formula.op) {
  case Operator::Add:
    return add(left, right);
  case Operator::Subtract:
    return subtract(left, right);
  case Operator::Multiply:
    return multiply(left, right);
  case Operator::Divide:
    return folded<arith::DivSIOp>(left, maximum(right, indexConstant(1)));
  case Operator::Remainder:
    return folded<arith::RemSIOp>(left, maximum(right, indexConstant(1)));
  case Operator::ShiftLeft:
    return folded<arith::ShLIOp>(left, amount());
  default:
    return folded<arith::ShRSIOp>(left, amount());
  }
}

Value BodyLowering::comesOut(const ExactDivision& division) {
  Value divided = formulaValue(*division.divided);
  Value divisor = maximum(formulaValue(*division.divisor), indexConstant(1));
  return compare(arith::CmpIPredicate::eq, folded<arith::RemSIOp>(divided, divisor), indexConstant(0));
}

Value BodyLowering::allComeOut() {
  Value all = truth(true);
  for (const ExactDivision* division : uses_->settling(instance_.divisors))
    all = both(all, comesOut(*division));
  return all;
}

bool BodyLowering::hasProduct(const Variable* tunable) const {
  return llvm::any_of(uses_->settling(instance_.divisors),
                      [&](const ExactDivision* division) { return division->isProductWith(tunable); });
}

Value BodyLowering::exceedsAny(const Variable* tunable) {
  Value any = truth(false);
  for (const ExactDivision* division : uses_->settling(instance_.divisors)) {
    if (!division->isProductWith(tunable))
      continue;
    Value divided = formulaValue(*division->divided);
    Value exceeds = both(compare(arith::CmpIPredicate::sgt, divided, indexConstant(0)),
                         compare(arith::CmpIPredicate::sgt, formulaValue(*division->divisor), divided));
    any = folded<arith::OrIOp>(any, exceeds);
  }
  return any;
}

void BodyLowering::settleTunables() {
  if (!uses_)
    uses_ = usesOf(*instance_.variant);
  at(instance_.variant->location);
  const auto& tunables = instance_.variant->tunables;
  auto bind = [&](const Variable* tunable, Value value) {
    Binding binding;
    binding.index = value;
    binding.nonNegative = true;
    own_.bindings[tunable] = binding;
  };
  // Of a product of several, the first is settled as if the others were 1.
  for (const Variable* tunable : tunables)
    if (instance_.divisors[tunable->index])
      bind(tunable, indexConstant(uses_->tunables[tunable->index].isShift ? 0 : 1));
  for (const Variable* tunable : tunables) {
    if (!instance_.divisors[tunable->index])
      continue;
    const TunableKind& kind = uses_->tunables[tunable->index];
    Value largest = indexConstant(instance_.tunables[tunable->index]);
    // None that divides is larger than what it divides.
    for (const ExactDivision* division : uses_->settling(instance_.divisors))
      if (!kind.isShift && division->divisor->kind == Formula::Kind::Variable && division->divisor->variable == tunable)
        largest = minimum(largest, maximum(formulaValue(*division->divided), indexConstant(1)));
    Value storage = allocate(builder_.getIndexType());
    store(largest, storage);
    const Value least = indexConstant(kind.isShift ? 0 : 1);
    auto whileTooLarge = [&](auto isTooLarge, auto next) {
      auto search = make<scf::WhileOp>(mlir::TypeRange(), mlir::ValueRange());
      mlir::OpBuilder::InsertionGuard guard(builder_);
      builder_.createBlock(&search.getBefore());
      Value value = load(storage);
      bind(tunable, value);
      Value again = isTooLarge();
      make<scf::ConditionOp>(both(compare(arith::CmpIPredicate::sgt, value, least), again), mlir::ValueRange());
      builder_.createBlock(&search.getAfter());
      store(next(load(storage)), storage);
      make<scf::YieldOp>();
    };
    auto half = [&](Value value) { return folded<arith::DivSIOp>(value, indexConstant(2)); };
    // Of a product, as T * T, most values are too large: the search begins below twice the first half that is not.
    if (!kind.isShift && !kind.isBits && hasProduct(tunable)) {
      whileTooLarge([&] { return exceedsAny(tunable); }, half);
      store(minimum(largest, add(load(storage), load(storage))), storage);
    }
    whileTooLarge([&] { return inverse(allComeOut()); },
                  [&](Value value) { return kind.isBits ? half(value) : subtract(value, indexConstant(1)); });
    bind(tunable, load(storage));
  }
}

void BodyLowering::functionBody() {
  auto body = [&] {
    makeLocalArrays();
    makePassedScalars();
    statement(instance_.variant->body);
  };
  if (!settlesTunables())
    return body();
  if (!uses_)
    uses_ = usesOf(*instance_.variant);
  at(instance_.variant->location);
  auto branch = make<scf::IfOp>(allComeOut(), /*withElseRegion=*/true);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  const auto bindings = own_.bindings;
  builder_.setInsertionPointToStart(branch.thenBlock());
  body();
  own_.bindings = bindings;
  selected_.clear();
  builder_.setInsertionPointToStart(branch.elseBlock());
  settleTunables();
  body();
}

/// In a mapping that is made, a division that the program takes to leave nothing does so wherever it is calculated.
const ExactDivision* BodyLowering::exactDivision(const Expr* expr) {
  // A mapping that is written says what it means.
  if (instance_.place.valid() || instance_.variant->tunables.empty())
    return nullptr;
  if (!uses_)
    uses_ = usesOf(*instance_.variant);
  for (const ExactDivision& division : uses_->divisions)
    if (division.expr == expr && division.isKnown() && !division.isInline)
      return &division;
  return nullptr;
}

void BodyLowering::checkExact(const Expr* expr) {
  const ExactDivision* division = exactDivision(expr);
  if (!division)
    return;
  at(expr->location);
  Value divided = formulaValue(*division->divided), divisor = formulaValue(*division->divisor);
  const bool isLoop = expr->op == Operator::NotEqual;
  check(comesOut(*division), "sequoia-inexact-division",
        isLoop ? "this loop ends {0} behind its start, and steps of {1} go past that"
               : "{0} is divided by {1}, which leaves something out",
        {divided, divisor}, tunablesIn(division->by));
}

/// [i * s; s]: blocks of one size, one behind the other.
static bool isShare(const BlockRange& range, const Variable* counter) {
  if (!range.start || range.end || range.stride || !range.max)
    return false;
  auto bare = [](const Expr* expr) {
    while (expr->kind == ExprKind::Cast && expr->type->isInteger())
      expr = expr->operands[0];
    return expr;
  };
  const Expr* start = bare(range.start);
  auto is = [&](size_t number, size_t other) {
    return bare(start->operands[number])->variable == counter &&
           sameExpression(bare(start->operands[other]), bare(range.max));
  };
  return start->kind == ExprKind::Binary && start->op == Operator::Multiply && (is(0, 1) || is(1, 0));
}

/// Whether a task writes blocks of an array in one call only: then nothing else takes what that leaves.
static bool isWrittenOnce(const TaskVariant& variant, const Variable* array) {
  size_t count = 0;
  for (const Callsite* site : variant.callsites)
    count += std::any_of(site->statement->arguments.begin(), site->statement->arguments.end(), [&](const auto& each) {
      return each.direction != Direction::In && each.value->variable == array;
    });
  return count == 1;
}

/// In a mapping that is made, as many iterations as a tunable says take the whole of what they write.
void BodyLowering::checkCovers(const Stmt& stmt, const Variable* counter, const Expr* end, Value upper) {
  const Expr* count = withoutWidening(end);
  if (instance_.place.valid() || count->kind != ExprKind::Variable || count->variable->kind != VariableKind::Tunable)
    return;
  const Stmt* call = stmt.body;
  while (call && (call->kind == StmtKind::Map || call->kind == StmtKind::For ||
                  (call->kind == StmtKind::Compound && call->statements.size() == 1)))
    call = call->kind == StmtKind::Compound ? call->statements[0] : call->body;
  if (!call || call->kind != StmtKind::TaskCall)
    return;
  for (const Argument& argument : call->arguments) {
    const Expr* block = argument.value;
    if (argument.direction == Direction::In || argument.combiner || block->kind != ExprKind::Block ||
        !block->operands.empty() || (!stmt.loop && !isWrittenOnce(*instance_.variant, block->variable)))
      continue;
    for (size_t d = 0; d < block->ranges.size(); ++d) {
      // The iteration behind the last begins where they end.
      const BlockRange& range = block->ranges[d];
      if (!isShare(range, counter))
        continue;
      at(stmt.location);
      auto saved = names_->bindings.find(counter);
      const std::optional<Binding> outer =
          saved == names_->bindings.end() ? std::nullopt : std::optional(saved->second);
      bindLoopVariable(counter, upper, true);
      Value taken = index(range.start);
      if (outer)
        names_->bindings[counter] = *outer;
      else
        names_->bindings.erase(counter);
      at(count->location);
      Value all = bindingOf(block->variable).extents[d];
      check(compare(arith::CmpIPredicate::sge, taken, all), "sequoia-short-iterations",
            "the {0} iterations of '" + std::string(counter->name) + "' take {1} of the {2} elements of '" +
                std::string(block->variable->name) + "' in dimension " + std::to_string(d),
            {upper, taken, all}, "state how many there are in a mapping, or count them from the size");
    }
  }
}

} // namespace strata::sequoia

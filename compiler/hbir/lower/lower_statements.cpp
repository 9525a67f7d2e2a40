// Statements as structured control. A jump sets a flag; what stands behind it in its list is guarded by the flags that
// can be set by then, side by side and not nested, so that long lists stay flat.
#include "compiler/hbir/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

void BodyLowering::statement(const Statement& each) {
  at(each.where);
  if (module_.definesConstant(each))
    return;
  switch (each.kind) {
  case StatementKind::Declare:
    return declare(each);
  case StatementKind::Assign:
    return assign(each);
  case StatementKind::Call:
    value(*each.value);
    return;
  case StatementKind::If:
    return ifStatement(each);
  case StatementKind::While:
  case StatementKind::For:
  case StatementKind::Range:
    return loop(each);
  case StatementKind::Compound:
    return sequence(each.body);
  case StatementKind::Break:
  case StatementKind::Finish:
    if (Value flag = each.kind == StatementKind::Break ? breakFlag_ : finishFlag_)
      store(truth(true), flag);
    return;
  case StatementKind::Print:
    return print(each);
  }
}

Value BodyLowering::noJump(unsigned jumps) {
  Values flags;
  for (auto [kind, flag] : {std::pair(BreakJump, breakFlag_), std::pair(FinishJump, finishFlag_)})
    if (jumps & kind)
      flags.push_back(flag);
  return noneSet(flags);
}

void BodyLowering::sequence(const std::vector<StatementPtr>& statements) {
  FlatList list(*this);
  const size_t scope = scope_.size();
  unsigned jumps = NoJump;
  for (const StatementPtr& each : statements) {
    statement(*each);
    // Behind an unconditional jump nothing is reached.
    if (each->kind == StatementKind::Break || each->kind == StatementKind::Finish)
      break;
    unsigned added = facts_.jumps(each.get());
    if (added == NoJump || each == statements.back())
      continue;
    jumps |= added;
    list.leave();
    at(each->where);
    list.enter(noJump(jumps));
  }
  scope_.resize(scope);
}

void BodyLowering::declare(const Statement& each) {
  const Symbol* symbol = each.symbol;
  if (const SharedBlock* block = module_.blockOf(symbol)) {
    Value initial = each.value ? value(*each.value) : Value();
    at(each.where);
    if (initial)
      return write({shared_[block->global], {}}, symbol, symbol->type, initial);
    return clear(*block);
  }
  if (!symbol->extents.empty()) {
    Value storage = bindingOf(symbol).storage;
    if (!waiting_.empty())
      declaredIn_[symbol] = waiting_.back();
    if (isWatched(symbol))
      noteChange();
    return fill(storage, symbol->extents, symbol->type);
  }
  scope_.push_back(symbol);
  Value initial = each.value ? assignedValue(symbol, *each.value) : zero(symbol->type);
  at(each.where);
  Range range = symbol->type != ScalarType::Int ? Range() : each.value ? rangeOf(*each.value) : Range{0, 0};
  if (!facts_.isWritten(symbol) && !facts_.needsStorage(symbol)) {
    Binding binding;
    binding.value = symbol->type == ScalarType::Int ? narrowed(initial, range) : initial;
    binding.range = range.fits(Scalar::Int) ? range : Range::of(Scalar::Int);
    bindings_[symbol] = binding;
    return;
  }
  write({bindingOf(symbol).storage, {}}, symbol, symbol->type, initial);
}

void BodyLowering::assign(const Statement& each) {
  const Expression& target = *each.target;
  Place place = placeOf(target);
  if (!each.compound) {
    Value result = assignedValue(target.symbol, *each.value);
    at(each.where);
    return write(place, target.symbol, target.type, result);
  }
  const Operator op = *each.compound;
  bool contract = (op == Operator::Add || op == Operator::Subtract) && contractWith(*each.value);
  Operand operand = assignedOperand(target.symbol, *each.value);
  at(each.where);
  // What is stored has 32 bits.
  Operand old{read(place, target), target.type == ScalarType::Int ? Range::of(Scalar::Int) : Range()};
  Value result = operation(op, target.type, old, operand, contract);
  at(each.where);
  write(place, target.symbol, target.type, result);
}

void BodyLowering::ifStatement(const Statement& each) {
  size_t arms = 1;
  for (const Statement* arm = &each; arm->otherwise.size() == 1 && arm->otherwise[0]->kind == StatementKind::If;
       arm = arm->otherwise[0].get())
    ++arms;
  if (arms > 16)
    return longChain(each);
  Value holds = value(*each.condition);
  at(each.where);
  auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/!each.otherwise.empty());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  sequence(each.body);
  if (each.otherwise.empty())
    return;
  builder_.setInsertionPointToStart(branch.elseBlock());
  sequence(each.otherwise);
}

/// Many arms stand side by side: each is tried where none before it was taken.
void BodyLowering::longChain(const Statement& chain) {
  Value taken = allocate(builder_.getI1Type());
  store(truth(false), taken);
  auto beginArm = [&] {
    auto branch = make<scf::IfOp>(inverse(load(taken)), /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(branch.thenBlock());
  };
  for (const Statement* arm = &chain; arm;) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    at(arm->where);
    beginArm();
    Value holds = value(*arm->condition);
    at(arm->where);
    auto branch = make<scf::IfOp>(holds, /*withElseRegion=*/false);
    builder_.setInsertionPointToStart(branch.thenBlock());
    store(truth(true), taken);
    sequence(arm->body);
    const bool goesOn = arm->otherwise.size() == 1 && arm->otherwise[0]->kind == StatementKind::If;
    if (!goesOn && !arm->otherwise.empty()) {
      builder_.setInsertionPointAfter(branch->getParentOp());
      at(arm->where);
      beginArm();
      sequence(arm->otherwise);
    }
    arm = goesOn ? arm->otherwise[0].get() : nullptr;
  }
}

void BodyLowering::print(const Statement& each) {
  std::string format;
  auto literal = [&](const std::string& text) {
    for (char character : text)
      format += character == '%' ? std::string("%%") : std::string(1, character);
  };
  Values values;
  for (size_t item = 0; item < each.arguments.size(); ++item) {
    if (item < each.text.size())
      literal(each.text[item]);
    const Expression& expression = *each.arguments[item].value;
    const std::string& conversion = each.arguments[item].conversion;
    format += conversion;
    Value given = value(expression);
    at(each.where);
    if (expression.type == ScalarType::Float) {
      values.push_back(make<arith::ExtFOp>(builder_.getF64Type(), given));
      continue;
    }
    // An unsigned conversion shows the 32 bits of an int.
    mlir::Type wide = builder_.getI64Type();
    const bool isUnsigned = conversion.ends_with('u') || conversion.ends_with('x');
    if (expression.type == ScalarType::Bool || isUnsigned)
      values.push_back(make<arith::ExtUIOp>(wide, toStored(given, expression.type)));
    else
      values.push_back(make<arith::ExtSIOp>(wide, toStored(given, expression.type)));
  }
  if (each.text.size() > each.arguments.size())
    literal(each.text[each.arguments.size()]);
  at(each.where);
  // What the code outside groups prints comes first, then what each tile prints, in the order of their numbers.
  Value order = tile_ ? folded<arith::AddIOp>(tile_, indexConstant(1)) : indexConstant(0);
  make<svm::PrintOp>(order, builder_.getStringAttr(format), values);
  if (!waiting_.empty())
    noteChange();
}

void BodyLowering::clear(const SharedBlock& block) {
  Value storage = shared_[block.key()];
  fill(storage, block.extents, block.element());
}

} // namespace strata::hbir

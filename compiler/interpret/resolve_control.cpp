// Control: regions, scf, cf and calls.
#include "compiler/interpret/resolver.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

using namespace mlir;

namespace strata::interpret {

/// Whether blocks or streams are made in the region itself, to be gone at its end.
static bool makesBlocks(Region& region) {
  for (Block& block : region)
    for (Operation& op : block)
      if (isa<svm::BlockOp, svm::MemoryAtOp, svm::StreamOp>(op))
        return true;
  return false;
}

static bool makesAutomatic(Region& region) {
  if (!region.getParentOp()->hasTrait<OpTrait::AutomaticAllocationScope>())
    return false;
  return region.walk([](memref::AllocaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

uint32_t Resolver::beginScope(LifetimeKind kind, bool wanted) {
  if (!wanted)
    return ~uint32_t(0);
  Slot mark = newSlots(1);
  emit(Opcode::Enter, mark).small = static_cast<uint8_t>(kind);
  return mark;
}

void Resolver::endScope(uint32_t mark, LifetimeKind kind) {
  if (mark != ~uint32_t(0))
    emit(Opcode::Leave, mark).small = static_cast<uint8_t>(kind);
}

/// A region ends when all that it has started has ended, but for what it hands on.
void Resolver::awaitStarted(Block& block) {
  SmallVector<uint32_t> tokens;
  for (Operation& op : block)
    for (mlir::Value token : op.getResults()) {
      const bool isKnown =
          !isa<svm::TokenType>(token.getType()) || llvm::any_of(token.getUsers(), [&](Operation* user) {
            return user->getBlock() == &block && isa<svm::WaitOp, scf::YieldOp, scf::ForOp>(user);
          });
      if (!isKnown)
        tokens.push_back(slot(token));
    }
  if (tokens.empty())
    return;
  emit(Opcode::Wait);
  setPool(here() - 1, tokens);
}

void Resolver::nested(function_ref<void()> body) {
  if (depth_ == MaxNesting) {
    emit(Opcode::Unsupported, 0, 0, 0, 0, name("regions nested deeper than " + std::to_string(MaxNesting)));
    return;
  }
  ++depth_;
  body();
  --depth_;
}

void Resolver::resolveBody(Region& region, Terminated terminated) {
  nested([&] {
    uint32_t blocks = beginScope(LifetimeKind::Region, makesBlocks(region));
    uint32_t automatic = beginScope(LifetimeKind::Automatic, makesAutomatic(region));
    Block& block = region.front();
    Operation* terminator = block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>() ? nullptr : &block.back();
    for (Operation& op : block)
      if (&op != terminator)
        resolveOperation(&op);
    awaitStarted(block);
    mlir::Location saved = location_;
    if (terminator)
      location_ = terminator->getLoc();
    terminated(terminator);
    location_ = saved;
    endScope(automatic, LifetimeKind::Automatic);
    endScope(blocks, LifetimeKind::Region);
  });
}

void Resolver::resolveBlocks(Region& region, Terminated terminated) {
  nested([&] {
    bool isFunction = isa<FunctionOpInterface>(region.getParentOp());
    uint32_t blocks = beginScope(LifetimeKind::Region, !isFunction && makesBlocks(region));
    uint32_t automatic = beginScope(LifetimeKind::Automatic, !isFunction && makesAutomatic(region));
    size_t firstJump = jumps_.size();
    for (Block& block : region) {
      blockAt_[&block] = here();
      for (Operation& op : block) {
        if (!op.hasTrait<OpTrait::IsTerminator>()) {
          resolveOperation(&op);
          continue;
        }
        mlir::Location saved = location_;
        location_ = op.getLoc();
        if (op.getNumSuccessors()) {
          resolveBranch(&op);
        } else {
          awaitStarted(block);
          if (!isFunction) {
            endScope(automatic, LifetimeKind::Automatic);
            endScope(blocks, LifetimeKind::Region);
          }
          terminated(&op);
        }
        location_ = saved;
      }
      if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>())
        terminated(nullptr);
    }
    for (auto [jump, block] : llvm::drop_begin(jumps_, firstJump))
      patch(jump, blockAt_[block]);
    jumps_.resize(firstJump);
  });
}

void Resolver::resolveBranch(Operation* terminator) {
  auto jump = [&](Block* to, ValueRange operands) {
    copyValues(to->getArguments(), operands);
    jumps_.emplace_back(here(), to);
    emit(Opcode::Jump);
  };
  if (auto branch = dyn_cast<cf::BranchOp>(terminator)) {
    jump(branch.getDest(), branch.getDestOperands());
  } else if (auto branch = dyn_cast<cf::CondBranchOp>(terminator)) {
    uint32_t test = here();
    emit(Opcode::JumpIfNot, slot(branch.getCondition()));
    jump(branch.getTrueDest(), branch.getTrueDestOperands());
    patch(test, here());
    jump(branch.getFalseDest(), branch.getFalseDestOperands());
  } else if (auto choice = dyn_cast<cf::SwitchOp>(terminator)) {
    int64_t table = static_cast<int64_t>(program_.switches.size());
    program_.switches.emplace_back();
    emit(Opcode::Switch, slot(choice.getFlag()), 0, 0, 0, table);
    if (auto values = choice.getCaseValues())
      for (auto [position, value] : llvm::enumerate(values->getValues<APInt>())) {
        program_.switches[table].cases.emplace_back(static_cast<int64_t>(value.getZExtValue()), here());
        jump(choice.getCaseDestinations()[position], choice.getCaseOperands(position));
      }
    program_.switches[table].otherwise = here();
    jump(choice.getDefaultDestination(), choice.getDefaultOperands());
  } else {
    unsupported(terminator);
  }
}

void Resolver::counted(Slot variable, Slot lower, Slot upper, Slot step, unsigned width, bool isUnsigned,
                       function_ref<void()> body) {
  uint32_t init = here();
  auto set = [&](Instruction& instruction) {
    instruction.shift = static_cast<uint8_t>(64 - width);
    instruction.small = isUnsigned;
  };
  set(emit(Opcode::ForInit, variable, lower, upper, step));
  uint32_t first = here();
  body();
  set(emit(Opcode::ForNext, variable, lower, upper, step, first));
  patch(init, here());
}

void Resolver::resolveFor(scf::ForOp loop) {
  copyValues(loop.getRegionIterArgs(), loop.getInitArgs());
  // The results are the last values that the body was given.
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    alias(result, slot(argument));
  unsigned width = scalarWidth(loop.getInductionVar().getType());
  if (!width)
    return unsupported(loop, " over integers of more than 64 bits");
  // A loop that the source names stands in messages.
  auto label = svm::SvmDialect::labelAttr.of(loop);
  const bool isUnordered = svm::SvmDialect::unorderedAttr.isOn(loop), isBranch = label || isUnordered;
  const bool isParallel = isUnordered || svm::SvmDialect::parallelAttr.isOn(loop);
  Slot variable = slot(loop.getInductionVar());
  if (isBranch)
    beginBranch(isParallel ? Iterations::Kind::Parallel : Iterations::Kind::Sequential, label ? label.getValue() : "");
  counted(variable, slot(loop.getLowerBound()), slot(loop.getUpperBound()), slot(loop.getStep()), width, false, [&] {
    if (isBranch)
      emit(Opcode::BranchAt, variable);
    resolveBody(loop.getRegion(),
                [&](Operation* yield) { copyValues(loop.getRegionIterArgs(), yield->getOperands()); });
  });
  if (isBranch)
    emit(Opcode::BranchEnd);
}

void Resolver::beginBranch(Iterations::Kind kind, StringRef label) {
  // The second loop of a name has its number behind it.
  emit(Opcode::Branch, 0, 0, 0, 0, name(label.take_until([](char c) { return c == '#'; }))).small =
      static_cast<uint8_t>(kind);
}

void Resolver::resolveWhile(scf::WhileOp loop) {
  copyValues(loop.getBeforeArguments(), loop.getInits());
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getAfterArguments()))
    alias(result, slot(argument));
  uint32_t begin = here();
  Slot goOn = newSlots(1);
  resolveBody(loop.getBefore(), [&](Operation* terminator) {
    auto condition = cast<scf::ConditionOp>(terminator);
    emit(Opcode::Copy, goOn, slot(condition.getCondition()));
    copyValues(loop.getAfterArguments(), condition.getArgs());
  });
  uint32_t exit = here();
  emit(Opcode::JumpIfNot, goOn);
  resolveBody(loop.getAfter(), [&](Operation* yield) { copyValues(loop.getBeforeArguments(), yield->getOperands()); });
  emit(Opcode::Jump, 0, 0, 0, 0, begin);
  patch(exit, here());
}

bool Resolver::resolveControl(Operation* op) {
  auto yieldTo = [op, this](Operation* yield) {
    if (yield)
      copyValues(op->getResults(), yield->getOperands());
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    resolveFor(loop);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    resolveWhile(loop);
  } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
    uint32_t test = here();
    emit(Opcode::JumpIfNot, slot(branch.getCondition()));
    resolveBody(branch.getThenRegion(), yieldTo);
    if (branch.getElseRegion().empty()) {
      patch(test, here());
    } else {
      uint32_t end = here();
      emit(Opcode::Jump);
      patch(test, here());
      resolveBody(branch.getElseRegion(), yieldTo);
      patch(end, here());
    }
  } else if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
    int64_t table = static_cast<int64_t>(program_.switches.size());
    program_.switches.emplace_back();
    emit(Opcode::Switch, slot(choice.getArg()), 0, 0, 0, table);
    SmallVector<uint32_t> ends;
    for (auto [value, region] : llvm::zip(choice.getCases(), choice.getCaseRegions())) {
      program_.switches[table].cases.emplace_back(value, here());
      resolveBody(region, yieldTo);
      ends.push_back(here());
      emit(Opcode::Jump);
    }
    program_.switches[table].otherwise = here();
    resolveBody(choice.getDefaultRegion(), yieldTo);
    for (uint32_t end : ends)
      patch(end, here());
  } else if (isa<scf::ExecuteRegionOp, memref::AllocaScopeOp>(op)) {
    SmallVector<uint32_t> ends;
    resolveBlocks(op->getRegion(0), [&](Operation* yield) {
      yieldTo(yield);
      ends.push_back(here());
      emit(Opcode::Jump);
    });
    for (uint32_t end : ends)
      patch(end, here());
  } else if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = program_.functionByName.find(call.getCallee());
    if (callee == program_.functionByName.end()) {
      unsupported(op, " of an unknown function");
      return true;
    }
    Slot results = newSlots(program_.functions[callee->second].resultSlots);
    for (Value result : call.getResults()) {
      alias(result, results);
      results += std::max(1u, slotsOf(result.getType()));
    }
    SmallVector<uint32_t> arguments = allSlots(call.getOperands());
    if (auto function = symbols_.lookup<func::FuncOp>(call.getCallee()); function && !function.isExternal())
      resolveApart(call.getOperands(), call.getCallee(),
                   [&](unsigned position) { return writtenArguments_.contains(function.getArgument(position)); });
    Slot first = call.getNumResults() ? slot(call.getResult(0)) : 0;
    emit(Opcode::Call, first, 0, 0, 0, callee->second);
    setPool(here() - 1, arguments);
  } else {
    return false;
  }
  return true;
}

void Resolver::resolveOperation(Operation* op) {
  mlir::Location saved = location_;
  location_ = op->getLoc();
  const uint32_t savedOperand = operand_;
  if (auto operand = svm::SvmDialect::operandAttr.of(op); operand && operand.getValue().isIntN(16))
    operand_ = static_cast<uint32_t>(operand.getValue().getZExtValue()) + 1;
  bool known = llvm::all_of(op->getResultTypes(), slotsOf) && llvm::all_of(op->getOperandTypes(), slotsOf);
  if (!known)
    unsupported(op, " on such types");
  else if (!resolveArithmetic(op) && !resolveMemory(op) && !resolveControl(op) && !resolveAffine(op) && !resolveSvm(op))
    unsupported(op);
  location_ = saved;
  operand_ = savedOperand;
}

} // namespace strata::interpret

// mappar, mapseq and mapreduce: parallel iterations as svm.parallel, sequential ones as scf.for; a reduction hands a
// private copy of its argument to each part.
#include "compiler/ir/locations.h"
#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/lower/lower_body.h"
#include "compiler/sequoia/resolve/spans.h"

namespace arith = mlir::arith;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Value;

/// A bound without its conversion to the loop variable's type.
static const Expr* withoutImplicit(const Expr* bound) {
  while (bound->kind == ExprKind::Cast && bound->isImplicit && bound->type->isInteger() &&
         bound->operands[0]->type->isInteger())
    bound = bound->operands[0];
  return bound;
}

/// A bound as an index. The conversion to the loop variable's type may not change it.
Value BodyLowering::mapBound(const Expr* bound, const Loop& loop) {
  const Type* type = loop.variable->type;
  const Expr* inner = withoutImplicit(bound);
  Value number = index(inner);
  at(bound->location);
  const Type* given = withoutWidening(inner)->type;
  bool keeps = given->isSigned() == type->isSigned() ? given->bits() <= type->bits()
                                                     : type->isSigned() && given->bits() < type->bits();
  if (keeps && !(given->bits() == 64 && !given->isSigned()))
    return number;
  const std::string message =
      "loop variable '" + std::string(loop.variableName) + "' of type " + typeName(type) + " cannot hold {0}";
  int64_t largest =
      type->bits() == 64 ? INT64_MAX : static_cast<int64_t>((uint64_t(1) << (type->bits() - type->isSigned())) - 1);
  int64_t least = !type->isSigned() || !given->isSigned() ? 0 : type->bits() == 64 ? INT64_MIN : -largest - 1;
  if (largest != INT64_MAX)
    check(compare(arith::CmpIPredicate::sle, number, indexConstant(largest)), "loop-bound-overflow", message, number);
  if (least != INT64_MIN && !isNonNegative(inner))
    check(compare(arith::CmpIPredicate::sge, number, indexConstant(least)), "loop-bound-overflow", message, number);
  return number;
}

void BodyLowering::placeLoop(const Loop& loop, const std::string& label) {
  const ResolvedLoop& resolvedLoop = instance_.loops[loop.index];
  mapping::LoopPlacement placement;
  placement.processor = module_.processorAt(resolvedLoop.level);
  if (const int64_t ways = waysOf(resolvedLoop, module_.spans[number_][loop.index]); ways > 0) {
    placement.parts = {ways};
    placement.chunk = {resolvedLoop.spmd->iterationBlock};
  }
  machine::MemoryId memory = module_.machine.levels[resolvedLoop.level].memory;
  if (!placement.parts.empty() && module_.machine.isExplicit(memory) && resolvedLoop.spmd->isRange) {
    placement.first = resolvedLoop.spmd->first;
    placement.width = resolvedLoop.spmd->last - resolvedLoop.spmd->first;
  }
  if (loop.kind == MapKind::Reduce && module_.machine.isAddressed(memory))
    placement.memory = module_.memoryAt(resolvedLoop.level);
  placement.stages = resolvedLoop.pipelineStages;
  placement.unroll = resolvedLoop.unroll;
  placement.flatten = resolvedLoop.flatten;
  if ((resolvedLoop.flatten || !placement.parts.empty()) && resolvedLoop.place.valid())
    placement.place = filePlace(module_.place(resolvedLoop.place));
  function_->loops[label] = placement;
}

void BodyLowering::bindLoopVariable(const Variable* variable, Value iteration, bool nonNegative) {
  Binding binding;
  binding.index = iteration;
  binding.value = fromIndex(iteration, variable->type);
  binding.nonNegative = nonNegative;
  if (nonNegative && variable->type->bits() == 64)
    binding.range.least = 0;
  names_->bindings[variable] = binding;
}

void BodyLowering::mapStatement(const Stmt& stmt) {
  const Loop& loop = *stmt.loop;
  std::string label = labelOf(loop.variableName, loop.lexnum);
  if (!loop.parent)
    selectBefore(stmt);
  Value lower = mapBound(loop.start, loop), upper = mapBound(loop.end, loop);
  checkCovers(stmt, loop.variable, loop.end, upper);
  at(stmt.location);
  placeLoop(loop, label);
  const Range first = indexRangeOf(withoutImplicit(loop.start)), last = indexRangeOf(withoutImplicit(loop.end));
  if (loop.kind != MapKind::Seq && __int128(last.most) - first.least > INT64_MAX)
    check(compare(arith::CmpIPredicate::sge, subtract(maximum(upper, lower), lower), indexConstant(0)),
          "loop-bound-overflow",
          "loop variable '" + std::string(loop.variableName) + "' goes from {0} to {1}, through 2^63 values or more",
          {lower, upper});
  if (loop.kind != MapKind::Seq)
    return parallelLoop(stmt, lower, upper, builder_.getStringAttr(label));
  auto made = make<scf::ForOp>(lower, upper, indexConstant(1));
  made->setAttr(svm::SvmDialect::labelAttr, builder_.getStringAttr(label));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(made.getBody());
  bindLoopVariable(loop.variable, made.getInductionVar(), isNonNegative(loop.start));
  statement(stmt.body);
}

/// The task call of an iteration, in which a reduction has its arguments.
static const Stmt* callIn(const Stmt& map) {
  const Stmt* call = map.body;
  while (call && call->kind == StmtKind::Compound && call->statements.size() == 1)
    call = call->statements[0];
  return call && call->kind == StmtKind::TaskCall ? call : nullptr;
}

/// Whether the block is a view that tasks take as it is: its last dimension has no stride, and no indices pick its
/// elements.
bool BodyLowering::isPlainView(const Argument& argument) {
  const Expr* block = argument.value;
  if (block->kind != ExprKind::Block)
    return true;
  return !isIndexed(block) &&
         (block->ranges.empty() || !block->ranges.back().stride || constantOf(block->ranges.back().stride) == 1);
}

/// The views that the reduction arguments of the call in this mapreduce have outside of it. Blocks that are no plain
/// views are brought together, and `staged` tells which to bring back. `level`: that of the control around.
void BodyLowering::prepareReductions(const Stmt& call, unsigned level, std::vector<Staged>& staged) {
  const ResolvedCallsite& site = resolved(*call.callsite);
  const TaskVariant& shape = *module_.graph.instances[site.targets[0].instance].variant;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Argument& argument = call.arguments[i];
    if (!argument.combiner)
      continue;
    if (isPlainView(argument)) {
      CallValue value = argumentValue(argument, *shape.parameters[i]);
      reductions_[&argument] = {value.view, value.counts};
      continue;
    }
    staged.push_back(gathered(argument.value, true, "reduce@" + std::to_string(copies_++), {}, {}, level));
    reductions_[&argument] = staged.back().elements;
  }
}

void BodyLowering::parallelLoop(const Stmt& stmt, Value lower, Value upper, mlir::StringAttr label) {
  const Loop& loop = *stmt.loop;
  std::map<const Argument*, View> outside = reductions_;
  std::vector<Staged> staged;
  mlir::OpBuilder::InsertionGuard around(builder_);
  if (const Stmt* call = loop.kind == MapKind::Reduce ? callIn(stmt) : nullptr) {
    bool anyStaged = false;
    for (const Argument& argument : call->arguments)
      anyStaged |= argument.combiner && !isPlainView(argument);
    if (anyStaged) {
      auto scope = make<svm::ScopeOp>(mlir::StringAttr(), false);
      builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    }
    prepareReductions(*call, loop.parent ? instance_.loops[loop.parent->index].level : instance_.controlLevel, staged);
  }
  at(stmt.location);
  Values operands;
  llvm::SmallVector<mlir::Attribute> combiners;
  llvm::SmallVector<mlir::Location> places{place_}; // of the loop, and of each operand
  if (loop.kind == MapKind::Reduce)
    for (auto& [argument, view] : reductions_) {
      const ResolvedCallsite& site = resolved(*argument->combiner);
      uint32_t number = site.targets[0].instance;
      const Instance& combiner = module_.graph.instances[number];
      std::string name = labelOf(site.callsite->callee->name, 0) + "#" + std::to_string(site.callsite->lexnum);
      auto symbol = mlir::FlatSymbolRefAttr::get(&module_.context, module_.combinerSymbol(number));
      combiners.push_back(svm::CombinerAttr::get(&module_.context, symbol, builder_.getStringAttr(name), {}, {}));
      operands.push_back(view.block);
      places.push_back(namedPlace(argument->value));
      const Variable& second = *combiner.variant->parameters[1];
      unsigned level = second.isArray() ? combiner.arrayLevels[second.index] : combiner.scalarLevel;
      function_->calls[name] = {module_.processorAt(combiner.controlLevel), module_.memoryAt(level)};
    }
  if (!operands.empty())
    place_ = mlir::FusedLoc::get(&module_.context, places);
  auto parallel = make<svm::ParallelOp>(
      lower, upper, operands, combiners.empty() ? mlir::ArrayAttr() : builder_.getArrayAttr(combiners), label);
  at(stmt.location);
  mlir::OpBuilder::InsertPoint behind = builder_.saveInsertionPoint();
  mlir::Block* body = &parallel.getBody().front();
  builder_.setInsertionPointToStart(body);
  mlir::Block* outerAllocations = allocations_;
  allocations_ = body;
  unsigned position = 0;
  if (!combiners.empty())
    for (auto& [argument, view] : reductions_)
      view.block = parallel.privateCopy(position++);
  bindLoopVariable(loop.variable, parallel.iteration(), isNonNegative(loop.start));
  statement(stmt.body);
  allocations_ = outerAllocations;
  reductions_ = outside;
  builder_.restoreInsertionPoint(behind);
  for (const Staged& each : staged)
    scatter(each);
}

} // namespace strata::sequoia

// Task calls: call by value-result. The caller evaluates the arguments and checks sizes; inside of a scope, blocks of
// the callee are made, filled, passed, and emptied into the caller's arrays.
#include "compiler/sequoia/lower/lower_body.h"

#include "llvm/ADT/SetVector.h"

namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace func = mlir::func;

namespace strata::sequoia {

using mlir::Value;

const ResolvedCallsite& BodyLowering::resolved(const Callsite& site) const {
  return instance_.callsites[site.index];
}

Value BodyLowering::linear(const LinearSize& size) {
  Value sum;
  for (auto [coefficient, parameter] : size.terms) {
    Value term = names_->bindings[parameter].index;
    if (coefficient != 1)
      term = multiply(term, indexConstant(coefficient));
    sum = sum ? add(sum, term) : term;
  }
  if (!sum)
    return indexConstant(size.constant);
  return size.constant ? add(sum, indexConstant(size.constant)) : sum;
}

static std::string linearText(const LinearSize& size) {
  std::string text;
  auto sign = [&](bool negative) { text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + "); };
  auto magnitude = [](int64_t value) {
    return std::to_string(value < 0 ? uint64_t(0) - static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
  };
  for (auto [coefficient, parameter] : size.terms) {
    sign(coefficient < 0);
    if (coefficient != 1 && coefficient != -1)
      text += magnitude(coefficient) + "*";
    text += parameter->name;
  }
  if (size.constant || size.terms.empty()) {
    sign(size.constant < 0);
    text += magnitude(size.constant);
  }
  return text;
}

/// Sizes are solved by the extents that are one parameter alone, the first of each; every other extent is checked
/// against them.
void BodyLowering::checkSizes(const TaskVariant& callee, const std::vector<CallValue>& arguments,
                              llvm::StringRef taskName) {
  llvm::DenseMap<const Variable*, std::string> solvedBy;
  for (size_t p = 0; p < callee.parameters.size(); ++p)
    for (const Extent& extent : callee.parameters[p]->extents)
      if (const Variable* size = extent.linear.unit())
        solvedBy.try_emplace(size, callee.parameters[p]->name);
  llvm::DenseSet<const Variable*> solved;
  for (size_t p = 0; p < callee.parameters.size(); ++p) {
    const Variable& parameter = *callee.parameters[p];
    for (size_t d = 0; d < parameter.extents.size(); ++d) {
      const LinearSize& size = parameter.extents[d].linear;
      if (size.unit() && solved.insert(size.unit()).second)
        continue;
      Value wanted = linear(size), given = arguments[p].counts[d];
      if (wanted == given)
        continue;
      std::string message = "argument '" + std::string(parameter.name) + "' of task '" + taskName.str() + "' has " +
                            (size.terms.empty() ? "" : linearText(size) + " = ") + "{0} elements in dimension " +
                            std::to_string(d) + ", and is given {1} of '" + arguments[p].name + "'";
      std::string others;
      for (auto [coefficient, each] : size.terms)
        others += (others.empty() ? "" : ", ") + std::string(each->name) + " is the size of '" + solvedBy[each] + "'";
      check(compare(arith::CmpIPredicate::eq, given, wanted), "sequoia-size-mismatch", message, {wanted, given},
            others);
    }
  }
}

void BodyLowering::checkPreconditions(const Instance& callee,
                                      llvm::function_ref<mlir::ValueRange(const Variable*)> extentsOf) {
  for (const ResolvedPrecondition& condition : callee.preconditions) {
    mlir::ValueRange extents = extentsOf(condition.array);
    for (auto [d, pair] : llvm::enumerate(llvm::zip(extents, condition.bound.values))) {
      auto [extent, value] = pair;
      check(compare(predicateOf(condition.bound.relation), extent, indexConstant(value)), "sequoia-precondition",
            "instance '" + callee.name + "' takes '" + std::string(condition.array->name) + "' with " +
                relationText(condition.bound.relation) + " " + std::to_string(value) + " elements in dimension " +
                std::to_string(d) + ", and is given {0}",
            extent, statedAt(condition.bound));
    }
  }
}

std::string BodyLowering::statedAt(const SizeBound& bound) const {
  return "the mapping states it as a precondition" + mappedAt(": ", bound.place.location);
}

std::string BodyLowering::mappedAt(const char* before, const Location& where) const {
  if (!where.valid())
    return {};
  SourceManager& sources = module_.diagnostics.sources();
  return before + std::string(sources.buffer(where.buffer).name()) + ":" +
         std::to_string(sources.lineColumn(where).line);
}

/// The pitch of a dimension is the extent of the physical array that the block lies in, which is the quotient of two
/// strides. Nothing tells that of the outermost dimension; there it is the block's own extent.
void BodyLowering::checkPitches(const Instance& callee, llvm::function_ref<Value(const Variable*)> blockOf) {
  for (const ResolvedPrecondition& condition : callee.pitchPreconditions) {
    auto layout = make<mlir::memref::ExtractStridedMetadataOp>(blockOf(condition.array));
    for (auto [d, value] : llvm::enumerate(condition.bound.values)) {
      Value pitch = layout.getSizes()[d];
      if (d > 0)
        pitch = folded<arith::DivSIOp>(layout.getStrides()[d - 1], maximum(layout.getStrides()[d], indexConstant(1)));
      std::string message = "instance '" + callee.name + "' takes '" + std::string(condition.array->name) +
                            "' with a pitch " + relationText(condition.bound.relation) + " " + std::to_string(value) +
                            " in dimension " + std::to_string(d) + ", and is given one of {0}";
      Value holds = compare(predicateOf(condition.bound.relation), pitch, indexConstant(value));
      auto made = make<svm::CheckOp>(holds, builder_.getStringAttr("sequoia-pitch"), builder_.getStringAttr(message),
                                     builder_.getStringAttr(statedAt(condition.bound)), mlir::ValueRange(pitch));
      // It depends on which copies are made.
      made->setAttr(svm::SvmDialect::layoutAttr, builder_.getUnitAttr());
    }
  }
}

Value BodyLowering::makeWords(const llvm::Twine& label, int64_t count, unsigned level) {
  std::string text = label.str();
  function_->blocks[text] = module_.memoryAt(level);
  return make<svm::BlockOp>(module_.wordsType(), mlir::ValueRange(indexConstant(count)),
                            builder_.getDenseI64ArrayAttr({count}), builder_.getStringAttr(text), mlir::IntegerAttr());
}

Value BodyLowering::makeBlock(const llvm::Twine& label, mlir::MemRefType type, mlir::ValueRange extents, unsigned level,
                              uint32_t instance, const Variable& array) {
  llvm::SmallVector<int64_t> bounds;
  llvm::SmallSetVector<mlir::Attribute, 4> sizedBy;
  if (array.isArray())
    for (const Bound& bound : module_.sizes[instance].extents[array.index]) {
      bounds.push_back(bound.value.value_or(-1));
      for (const TunableUse& use : bound.because)
        sizedBy.insert(svm::TunableAttr::get(builder_.getContext(), builder_.getStringAttr(use.tunable->name),
                                             builder_.getStringAttr(module_.graph.instances[use.instance].name)));
    }
  Values all(extents);
  if (module_.isWide(array.type)) {
    all.push_back(indexConstant(ModuleLowering::wordsIn(array.type)));
    bounds.push_back(ModuleLowering::wordsIn(array.type));
  }
  std::string text = label.str();
  auto block = make<svm::BlockOp>(type, all, builder_.getDenseI64ArrayAttr(bounds), builder_.getStringAttr(text),
                                  mlir::IntegerAttr());
  block->setAttr(svm::SvmDialect::nameAttr, builder_.getStringAttr(array.name));
  if (!sizedBy.empty())
    svm::SvmDialect::sizedByAttr.set(block, builder_.getArrayAttr(sizedBy.getArrayRef()));
  function_->blocks[text] = module_.memoryAt(level);
  const Instance& owner = module_.graph.instances[instance];
  if (array.isArray() && module_.machine[module_.machine.levels[level].memory].isVirtual() &&
      owner.blockCyclic[array.index]) {
    const BlockCyclic& layout = *owner.blockCyclic[array.index];
    function_->layouts[text] = {layout.grid, layout.blockSize};
  }
  return block;
}

CallValue BodyLowering::argumentValue(const Argument& argument, const Variable& parameter) {
  CallValue result;
  const Expr* expr = argument.value;
  at(expr->location);
  if (auto reduced = reductions_.find(&argument); reduced != reductions_.end()) {
    result.view = reduced->second.block;
    result.counts = reduced->second.counts;
    result.name = expr->variable->name;
  } else if (parameter.isArray()) {
    View view = viewOf(expr);
    result.view = view.block;
    result.counts = view.counts;
    result.name = expr->variable->name;
    result.place = namedPlace(expr);
  } else if (parameter.direction == Direction::In && module_.isWide(parameter.type)) {
    result.view = objectView(expr);
    result.name = parameter.name;
  } else if (parameter.direction == Direction::In) {
    result.scalar = value(expr);
  } else {
    result.view = bindingOf(expr->variable).storage;
    result.name = expr->variable->name;
    result.place = namedPlace(expr);
  }
  return result;
}

void BodyLowering::taskCall(const Stmt& stmt) {
  const Callsite& site = *stmt.callsite;
  const Task& callee = *site.callee;
  const TaskVariant& shape = *module_.graph.instances[resolved(site).targets[0].instance].variant;
  std::string label = labelOf(callee.name, 0) + "#" + std::to_string(site.lexnum);
  bool anyIndexed = false;
  for (const Argument& argument : stmt.arguments)
    anyIndexed |=
        argument.value->kind == ExprKind::Block && isIndexed(argument.value) && !reductions_.contains(&argument);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (anyIndexed) {
    auto staging = make<svm::ScopeOp>(mlir::StringAttr(), false);
    staging->setAttr(svm::SvmDialect::disjointOperandsAttr, builder_.getUnitAttr());
    builder_.setInsertionPointToStart(&staging.getBody().emplaceBlock());
  }
  std::vector<CallValue> arguments;
  std::vector<Staged> scattered;
  for (size_t i = 0; i < stmt.arguments.size(); ++i) {
    const Argument& argument = stmt.arguments[i];
    if (argument.value->kind != ExprKind::Block || !isIndexed(argument.value) || reductions_.contains(&argument)) {
      arguments.push_back(argumentValue(argument, *shape.parameters[i]));
      continue;
    }
    at(argument.value->location);
    // As many elements as the task that takes most of them is known to be given.
    std::optional<int64_t> bound = 0;
    for (const ResolvedTarget& target : resolved(site).targets) {
      const Variable& parameter = *module_.graph.instances[target.instance].variant->parameters[i];
      std::optional<int64_t> most = module_.sizes[target.instance].extents[parameter.index][0].value;
      bound = bound && most ? std::optional(std::max(*bound, *most)) : std::nullopt;
    }
    Staged staged = gathered(argument.value, argument.direction != Direction::Out,
                             label + "." + std::to_string(i) + ".staged", i, bound, resolved(site).level);
    CallValue& value = arguments.emplace_back();
    value.view = staged.elements.block;
    value.counts = staged.elements.counts;
    value.name = argument.value->variable->name;
    if (argument.direction != Direction::In)
      scattered.push_back(staged);
  }
  at(stmt.location);
  callTargets(resolved(site), label, arguments, anyIndexed);
  for (const Staged& staged : scattered)
    scatter(staged);
}

/// The targets stand side by side, each under the condition that it is the one that was selected.
void BodyLowering::callTargets(const ResolvedCallsite& site, const std::string& label,
                               const std::vector<CallValue>& arguments, bool isApart) {
  mlir::Location here = place_;
  auto before = selected_.find(site.callsite);
  Value selected = before != selected_.end() ? before->second : isCountedAt(site) ? select(site) : Value();
  Value none = truth(true); // no earlier target applies
  for (size_t i = 0; i < site.targets.size(); ++i) {
    const ResolvedTarget& target = site.targets[i];
    std::string name = site.targets.size() == 1 ? label : label + "/" + std::to_string(i);
    place_ = here;
    if (i == 0 && target.conditions.empty())
      return callInstance(target, name, arguments, isApart);
    Value first;
    if (selected) {
      first = compare(arith::CmpIPredicate::eq, selected, indexConstant(static_cast<int64_t>(i)));
    } else {
      Value holds = targetHolds(target);
      first = both(none, holds);
      none = both(none, inverse(holds));
    }
    auto branch = make<scf::IfOp>(first, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(branch.thenBlock());
    callInstance(target, name, arguments, isApart);
    if (target.conditions.empty())
      return;
  }
  place_ = here;
  Value any = selected ? compare(arith::CmpIPredicate::sge, selected, indexConstant(0)) : inverse(none);
  check(any, "sequoia-no-target",
        "no target of the call of '" + std::string(site.callsite->callee->name) + "' in instance '" + instance_.name +
            "' applies",
        {}, "give the callsite a last target without conditions" + mappedAt(": ", site.place));
}

void BodyLowering::callInstance(const ResolvedTarget& target, const std::string& label,
                                const std::vector<CallValue>& arguments, bool isApart) {
  const uint32_t number = target.instance;
  const Instance& callee = module_.graph.instances[number];
  const TaskVariant& variant = *callee.variant;
  const bool isKernel = module_.isKernel(number);
  mlir::Location here = place_;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  // What the callee's size parameters are, in the caller's values.
  Environment sizes;
  sizes.instance = &callee;
  bindSizes(sizes, variant, [&](size_t p, size_t d) { return arguments[p].counts[d]; });
  Environment* saved = names_;
  names_ = &sizes;
  checkSizes(variant, arguments, llvm::StringRef(variant.taskName));
  if (isKernel)
    checkPreconditions(callee, [&](const Variable* array) {
      for (size_t p = 0; p < variant.parameters.size(); ++p)
        if (variant.parameters[p] == array)
          return mlir::ValueRange(arguments[p].counts);
      return mlir::ValueRange();
    });
  auto scope = make<svm::ScopeOp>(builder_.getStringAttr(label), /*disjoint=*/true);
  if (!isApart)
    scope->setAttr(svm::SvmDialect::disjointOperandsAttr, builder_.getUnitAttr());
  builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  mapping::CallPlacement& placement = function_->calls[label];
  placement.processor = module_.processorAt(callee.controlLevel);
  placement.dynamic = target.dynamic;
  placement.keep.assign(target.forcedCopies.begin(), target.forcedCopies.end());
  Values operands, blocks;
  for (size_t p = 0; p < variant.parameters.size(); ++p) {
    const Variable& parameter = *variant.parameters[p];
    if (arguments[p].scalar) {
      operands.push_back(arguments[p].scalar);
      blocks.push_back({});
      continue;
    }
    unsigned level = parameter.isArray() ? callee.arrayLevels[parameter.index] : callee.scalarLevel;
    Value block = makeBlock(label + "." + std::string(parameter.name), module_.viewOf(parameter), arguments[p].counts,
                            level, number, parameter);
    operands.push_back(block);
    blocks.push_back(block);
  }
  for (const Variable* local : module_.callerMade(number)) {
    Values extents;
    for (const Extent& extent : local->extents) {
      extents.push_back(index(extent.expression));
      place_ = here;
      if (indexRangeOf(extent.expression).least < 0)
        check(compare(arith::CmpIPredicate::sge, extents.back(), indexConstant(0)), "sequoia-array-size-negative",
              "array '" + std::string(local->name) + "' of task '" + std::string(variant.taskName) +
                  "' would have {0} elements in a dimension",
              extents.back());
    }
    operands.push_back(makeBlock(label + "." + labelOf(local->name, local->lexnum), module_.viewOf(*local), extents,
                                 callee.arrayLevels[local->index], number, *local));
  }
  names_ = saved;
  if (int64_t words = isKernel ? module_.scratchWords(number) : 0)
    operands.push_back(makeWords(label + ".scratch space", words, callee.controlLevel));
  Value counts;
  if (callee.countsSelections) {
    counts =
        makeWords(label + ".selection counts", static_cast<int64_t>(module_.graph.counted.size()), callee.controlLevel);
    operands.push_back(counts);
    move(counts_, counts);
  }
  auto moveArgument = [&](size_t p, Value from, Value to) {
    place_ = arguments[p].place.value_or(here);
    moveOperand(from, to, p);
    place_ = here;
  };
  auto blockLabel = [&](const Variable& array) {
    return label + "." +
           (array.kind == VariableKind::Parameter ? std::string(array.name) : labelOf(array.name, array.lexnum));
  };
  for (const ResolvedSpaceShare& set : callee.spaceShare) {
    // The block that is made first gives its address: parameters come before local arrays.
    std::vector<const Variable*> arrays = set.arrays;
    auto made = [&](const Variable* array) { return std::pair(array->kind != VariableKind::Parameter, array->index); };
    std::sort(arrays.begin(), arrays.end(), [&](const Variable* a, const Variable* b) { return made(a) < made(b); });
    for (size_t i = 1; i < arrays.size(); ++i)
      function_->shares[blockLabel(*arrays[i])] = blockLabel(*arrays[0]);
  }
  for (size_t p = 0; p < variant.parameters.size(); ++p)
    if (blocks[p] && variant.parameters[p]->direction != Direction::Out)
      moveArgument(p, arguments[p].view, blocks[p]);
  if (isKernel)
    checkPitches(callee, [&](const Variable* array) {
      return blocks[static_cast<size_t>(llvm::find(variant.parameters, array) - variant.parameters.begin())];
    });
  std::string symbol = module_.symbolOf(number);
  if (isKernel)
    make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(&module_.context, symbol), operands, mlir::ValueRange(),
                     mlir::FlatSymbolRefAttr());
  else
    make<func::CallOp>(symbol, mlir::TypeRange(), operands);
  for (size_t p = 0; p < variant.parameters.size(); ++p)
    if (blocks[p] && variant.parameters[p]->direction != Direction::In)
      moveArgument(p, blocks[p], arguments[p].view);
  if (counts)
    move(counts, counts_);
}

} // namespace strata::sequoia

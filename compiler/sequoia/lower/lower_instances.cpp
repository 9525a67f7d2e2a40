// Instances as kernels and functions: their signatures, what their arguments and sizes are called inside, and the rules
// that an entry point's arguments keep.
#include "base/data/element_type.h"
#include "compiler/sequoia/lower/check_sharing.h"
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace func = mlir::func;

namespace strata::sequoia {

using mlir::Value;

namespace {

/// A type as NumPy is told of it. A union's members share their bytes, which NumPy cannot say: it is its words.
ElementType elementTypeOf(const Type* type) {
  if (type->isFloating())
    return ElementType::floating(type->size);
  if (type->isInteger())
    return type->isSigned() ? ElementType::signedInteger(type->size) : ElementType::unsignedInteger(type->size);
  std::vector<strata::Field> fields;
  if (type->kind == TypeKind::Union) {
    uint64_t words = type->size / type->alignment;
    fields.push_back({"bits", 0, ElementType::unsignedInteger(type->alignment), {}});
    if (words != 1)
      fields.back().shape.push_back(words);
  } else {
    for (const Field& field : type->fields) {
      std::vector<uint64_t> shape;
      const Type* element = field.type;
      for (; element->isCArray(); element = element->element)
        shape.push_back(element->count);
      fields.push_back({field.name, field.offset, elementTypeOf(element), std::move(shape)});
    }
  }
  return ElementType::structure(std::move(fields), type->size);
}

svm::Access accessOf(Direction direction) {
  return direction == Direction::In    ? svm::Access::Read
         : direction == Direction::Out ? svm::Access::Write
                                       : svm::Access::ReadWrite;
}

} // namespace

std::vector<BodyLowering::Frame::Argument> BodyLowering::signature(bool byReference, Hidden hidden) {
  std::vector<Frame::Argument> result;
  auto addOne = [&](const Variable& variable, bool block, svm::Access access, std::string_view name) {
    Frame::Argument& argument = result.emplace_back(block ? Frame::block(module_.viewOf(variable), name, access)
                                                          : Frame::scalar(module_.typeOf(variable.type), name));
    if (variable.type->isInteger() && !variable.type->isSigned())
      argument.attributes.set(svm::SvmDialect::unsignedAttr, builder_.getUnitAttr());
    if (variable.type->isRecord()) {
      argument.attributes.set(svm::SvmDialect::elementAttr,
                              builder_.getStringAttr(elementTypeOf(variable.type).numpyDescription()));
      argument.attributes.set(svm::SvmDialect::elementDeclarationsAttr,
                              module_.declarationsAttr(module_.cDeclarations.of(variable.type)));
    }
    if (module_.isWide(variable.type))
      argument.attributes.set(svm::SvmDialect::wordsAttr,
                              builder_.getI64IntegerAttr(ModuleLowering::wordsIn(variable.type)));
  };
  for (const Variable* parameter : instance_.variant->parameters)
    addOne(*parameter, isBlock(*parameter, byReference), accessOf(parameter->direction), parameter->name);
  if (hidden == Hidden::CallerMade) {
    for (const Variable* local : module_.callerMade(number_))
      addOne(*local, true, svm::Access::ReadWrite, labelOf(local->name, local->lexnum));
    if (module_.scratchWords(number_))
      result.push_back(Frame::block(module_.wordsType(), "scratch space", svm::Access::ReadWrite));
  } else if (hidden == Hidden::Counts && instance_.countsSelections) {
    result.push_back(Frame::block(module_.wordsType(), "selection counts", svm::Access::ReadWrite));
  }
  return result;
}

void BodyLowering::bindSizes(Environment& environment, const TaskVariant& variant,
                             llvm::function_ref<Value(size_t, size_t)> extent) {
  for (size_t p = 0; p < variant.parameters.size(); ++p)
    for (size_t d = 0; d < variant.parameters[p]->extents.size(); ++d) {
      const Variable* size = variant.parameters[p]->extents[d].linear.unit();
      if (!size || environment.bindings.contains(size))
        continue;
      Binding binding;
      binding.index = extent(p, d);
      binding.nonNegative = true;
      environment.bindings[size] = binding;
    }
}

void BodyLowering::bindArguments(mlir::Block& entry, bool byReference, Hidden hidden) {
  allocations_ = &entry;
  const TaskVariant& variant = *instance_.variant;
  size_t position = 0;
  for (const Variable* parameter : variant.parameters) {
    Value argument = entry.getArgument(position++);
    at(parameter->location);
    Binding binding;
    if (parameter->isArray()) {
      binding = arrayBinding(argument, *parameter);
    } else if (!isBlock(*parameter, byReference)) {
      binding.value = argument;
    } else if (parameter->direction == Direction::In && !module_.isWide(parameter->type)) {
      binding.value = load(argument);
    } else {
      binding.storage = argument;
    }
    own_.bindings[parameter] = binding;
  }
  if (hidden == Hidden::CallerMade)
    for (const Variable* local : module_.callerMade(number_))
      own_.bindings[local] = arrayBinding(entry.getArgument(position++), *local);
  if (hidden == Hidden::Counts && instance_.countsSelections)
    counts_ = entry.getArgument(position++);
  bindSizes(own_, variant, [&](size_t p, size_t d) { return own_.bindings[variant.parameters[p]].extents[d]; });
}

void BodyLowering::lowerKernel(const std::string& symbol, bool byReference) {
  std::vector<Frame::Argument> arguments = signature(byReference, Hidden::CallerMade);
  for (auto [argument, extents] : llvm::zip_equal(arguments, module_.extentMaps(number_, true)))
    argument.extents = extents;
  svm::KernelOp kernel = module_.frame.kernel(place_, symbol, arguments);
  if (instance_.variant->kind == TaskKind::External) {
    auto function = mlir::FlatSymbolRefAttr::get(&module_.context, "strata.ext." + instance_.name);
    kernel.setLlvmAttr(mlir::SymbolRefAttr::get(&module_.context, "source", {function}));
    checkSharingKind(instance_, module_.machine, module_.diagnostics);
    return;
  }
  mlir::Block& entry = *Frame::makeBody(kernel);
  builder_.setInsertionPointToStart(&entry);
  bindArguments(entry, byReference, Hidden::CallerMade);
  if (settlesTunables())
    settleTunables();
  statement(instance_.variant->body);
  place_ = module_.place(instance_.variant->location);
  make<svm::ReturnOp>();
  if (byReference || instance_.spaceShare.empty())
    return;
  std::vector<const Variable*> variables(instance_.variant->parameters.begin(), instance_.variant->parameters.end());
  llvm::append_range(variables, module_.callerMade(number_));
  // Its arguments may be one storage from here on.
  if (checkSharing(kernel, instance_, variables, module_.machine, module_.diagnostics))
    kernel.setMayAlias(true);
}

func::FuncOp BodyLowering::beginFunction(const std::string& symbol, bool byReference, bool isEntry) {
  const Hidden hidden = isEntry ? Hidden::Nothing : Hidden::Counts;
  std::vector<Frame::Argument> arguments = signature(byReference, hidden);
  func::FuncOp function;
  if (isEntry) {
    std::vector<std::string> sizes;
    for (const Variable* size : instance_.variant->sizeParameters)
      sizes.emplace_back(size->name);
    for (auto [argument, extents] : llvm::zip_equal(arguments, module_.extentMaps(number_, false)))
      argument.extents = extents;
    function = module_.frame.entry(place_, symbol, arguments, sizes);
  } else {
    function = module_.frame.function(place_, symbol, arguments);
  }
  builder_.setInsertionPointToStart(&function.getBody().front());
  const mlir::Location place = place_;
  for (auto [position, parameter] : llvm::enumerate(instance_.variant->parameters)) {
    at(parameter->location);
    function.getArgument(static_cast<unsigned>(position)).setLoc(place_);
  }
  place_ = place;
  bindArguments(function.getBody().front(), byReference, hidden);
  return function;
}

/// An entry point is called with arrays of any size: each extent is what the sizes make it.
void BodyLowering::checkEntrySizes() {
  std::vector<CallValue> arguments;
  for (const Variable* parameter : instance_.variant->parameters) {
    CallValue& value = arguments.emplace_back();
    value.counts = own_.bindings[parameter].extents;
    value.name = parameter->name;
  }
  Environment* saved = names_;
  checkSizes(*instance_.variant, arguments, llvm::StringRef(instance_.variant->taskName));
  names_ = saved;
}

void BodyLowering::makeLocalArrays() {
  for (const Variable* array : instance_.variant->arrays) {
    if (array->kind != VariableKind::Local)
      continue;
    at(array->location);
    Values extents;
    for (const Extent& extent : array->extents) {
      extents.push_back(index(extent.expression));
      if (indexRangeOf(extent.expression).least < 0)
        check(compare(arith::CmpIPredicate::sge, extents.back(), indexConstant(0)), "sequoia-array-size-negative",
              "array '" + std::string(array->name) + "' would have {0} elements in a dimension", extents.back());
    }
    std::string label = labelOf(array->name, array->lexnum);
    Binding binding;
    binding.block =
        makeBlock(label, module_.viewOf(*array), extents, instance_.arrayLevels[array->index], number_, *array);
    binding.extents = extents;
    own_.bindings[array] = binding;
  }
}

/// Scalars that tasks write are blocks, as what they are passed to.
void BodyLowering::makePassedScalars() {
  for (const Variable* scalar : instance_.variant->scalars) {
    if (scalar->kind != VariableKind::Local || !module_.facts.isPassed(scalar))
      continue;
    at(scalar->location);
    // Arrays and scalars have lists of their own, but share the names of a function's blocks.
    std::string label = labelOf(scalar->name, scalar->lexnum) + ".scalar";
    Binding binding;
    binding.storage = makeBlock(label, module_.viewOf(*scalar), {}, instance_.scalarLevel, number_, *scalar);
    own_.bindings[scalar] = binding;
  }
}

void BodyLowering::placeArguments(bool byReference, unsigned arrayLevelFloor, bool isEntry) {
  for (const Variable* parameter : instance_.variant->parameters) {
    unsigned level = parameter->isArray() ? instance_.arrayLevels[parameter->index] : instance_.scalarLevel;
    bool reachable = !module_.machine.isExplicit(module_.machine.levels[level].memory) &&
                     !module_.machine[module_.machine.levels[level].memory].isVirtual();
    if (level < arrayLevelFloor && !reachable)
      level = arrayLevelFloor;
    // The calling program's data is where it can reach them; spreadArguments() distributes arrays from there.
    bool isOutside = isEntry && module_.machine[module_.machine.levels[level].memory].isVirtual();
    if (isOutside) {
      level = mainLevel(module_.machine);
      isOutside = module_.machine[module_.machine.levels[level].memory].isVirtual();
    }
    function_->arguments.push_back(isBlock(*parameter, byReference) && !isOutside ? module_.memoryAt(level)
                                                                                  : std::string());
  }
}

/// An entry point's arrays at a virtual level: the calling program's are distributed to the instances when it begins,
/// and gathered again by gatherArguments() when it ends.
void BodyLowering::spreadArguments() {
  for (const Variable* parameter : instance_.variant->parameters) {
    if (!parameter->isArray())
      continue;
    unsigned level = instance_.arrayLevels[parameter->index];
    if (!module_.machine[module_.machine.levels[level].memory].isVirtual())
      continue;
    at(parameter->location);
    Binding& binding = own_.bindings[parameter];
    Value outside = binding.block;
    binding.block = makeBlock(std::string(parameter->name) + ".spread", module_.viewOf(*parameter), binding.extents,
                              level, number_, *parameter);
    if (parameter->direction != Direction::Out)
      move(outside, binding.block);
    if (parameter->direction != Direction::In)
      spread_.emplace_back(binding.block, outside);
  }
}

void BodyLowering::gatherArguments() {
  for (auto [block, outside] : spread_)
    move(block, outside);
}

void BodyLowering::lowerFunction(const std::string& symbol, bool byReference, bool isEntry) {
  beginFunction(symbol, byReference, isEntry);
  function_->control = module_.processorAt(instance_.controlLevel);
  placeArguments(byReference, 0, isEntry);
  if (instance_.countsSelections && isEntry)
    makeCounts();
  else if (instance_.countsSelections)
    function_->arguments.push_back(module_.memoryAt(instance_.controlLevel));
  if (isEntry)
    checkEntrySizes();
  checkSharingKind(instance_, module_.machine, module_.diagnostics);
  checkPreconditions(instance_, [&](const Variable* array) { return mlir::ValueRange(own_.bindings[array].extents); });
  checkPitches(instance_, [&](const Variable* array) { return own_.bindings[array].block; });
  if (isEntry)
    spreadArguments();
  functionBody();
  place_ = module_.place(instance_.variant->location);
  gatherArguments();
  make<func::ReturnOp>();
}

void BodyLowering::lowerWrapper(const std::string& symbol, bool byReference, bool isEntry) {
  beginFunction(symbol, byReference, isEntry);
  unsigned level = isEntry ? mainLevel(module_.machine) : instance_.scalarLevel;
  function_->control = module_.processorAt(isEntry ? level : instance_.controlLevel);
  placeArguments(byReference, level, isEntry);
  std::vector<CallValue> arguments;
  for (const Variable* parameter : instance_.variant->parameters) {
    const Binding& binding = own_.bindings[parameter];
    CallValue& argument = arguments.emplace_back();
    argument.name = parameter->name;
    argument.place = mlir::NameLoc::get(builder_.getStringAttr(parameter->name), module_.place(parameter->location));
    argument.scalar = binding.value;
    argument.view = parameter->isArray() ? binding.block : binding.storage;
    argument.counts = binding.extents;
  }
  ResolvedTarget itself;
  itself.instance = number_;
  callInstance(itself, std::string(instance_.variant->taskName) + "#0", arguments, false);
  place_ = module_.place(instance_.variant->location);
  make<func::ReturnOp>();
}

} // namespace strata::sequoia

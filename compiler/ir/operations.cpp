// Verifiers, custom syntax and effects of the dialect's operations.
#include "compiler/ir/attributes.h"
#include "compiler/ir/poll.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace strata::svm;

#define GET_OP_CLASSES
#include "compiler/ir/svm_ops.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/ir/poll.cpp.inc"

// ---- attributes of the dialect on other operations ----

LogicalResult SvmDialect::verifyOperationAttribute(Operation* op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute);
}

LogicalResult SvmDialect::verifyRegionArgAttribute(Operation* op, unsigned, unsigned argument,
                                                   NamedAttribute attribute) {
  return verifyAttribute(op, attribute, argument);
}

LogicalResult SvmDialect::verifyRegionResultAttribute(Operation* op, unsigned, unsigned result,
                                                      NamedAttribute attribute) {
  return op->emitOpError() << "carries '" << attribute.getName().getValue() << "' on result " << result
                           << "; no attribute of the dialect stands on one";
}

// ---- distributions ----

/// Whether an index expression is defined for every index: its divisors are positive constants.
static bool dividesByConstants(AffineExpr expression) {
  bool fine = true;
  expression.walk([&](AffineExpr inner) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(inner);
    if (!binary || binary.getKind() == AffineExprKind::Add || binary.getKind() == AffineExprKind::Mul)
      return;
    auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
    fine &= divisor && divisor.getValue() > 0;
  });
  return fine;
}

LogicalResult DistributionAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, StringAttr memory,
                                       int64_t instances, int64_t perProcessor, AffineMap instance, AffineMap offset) {
  if (memory.getValue().empty())
    return emitError() << "a distribution names no memory";
  if (instances <= 0 || perProcessor < 0)
    return emitError() << "a distribution over " << instances << " instances, " << perProcessor
                       << " a processor; there is one at least, and no negative number a processor";
  if (perProcessor && instances % perProcessor)
    return emitError() << "a distribution over " << instances << " instances, of which " << perProcessor
                       << " belong to each processor: the last has fewer";
  if (instance.getNumSymbols() || offset.getNumSymbols() || instance.getNumDims() != offset.getNumDims())
    return emitError() << "a distribution's maps take the indices of an element, both as many, and no symbols";
  if (instance.getNumResults() > 1 || offset.getNumResults() != 1)
    return emitError() << "a distribution maps an index to one instance at most, and to one offset";
  if (!llvm::all_of(instance.getResults(), dividesByConstants) ||
      !llvm::all_of(offset.getResults(), dividesByConstants))
    return emitError() << "a distribution divides by something that is not a positive constant";
  return success();
}

// ---- kernel ----

void KernelOp::build(OpBuilder& builder, OperationState& state, StringRef name, FunctionType type) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addRegion();
}

ParseResult KernelOp::parse(OpAsmParser& parser, OperationState& result) {
  auto type = [](Builder& builder, ArrayRef<Type> arguments, ArrayRef<Type> results,
                 function_interface_impl::VariadicFlag,
                 std::string&) { return builder.getFunctionType(arguments, results); };
  return function_interface_impl::parseFunctionOp(parser, result, false, getFunctionTypeAttrName(result.name), type,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter& printer) {
  function_interface_impl::printFunctionOp(printer, *this, false, getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

KernelKind KernelOp::kind() {
  if (getBody().empty())
    return getLlvm() ? KernelKind::Llvm : KernelKind::BlackBox;
  const auto isEquations = [](Operation& op) { return isa<EquationsOp>(op); };
  return llvm::any_of(getBody().front(), isEquations) ? KernelKind::Equations : KernelKind::Structured;
}

StringRef KernelOp::access(unsigned argument) {
  StringAttr attribute = SvmDialect::accessAttr.of(*this, argument);
  return attribute ? attribute.getValue() : StringRef();
}

std::string KernelOp::argumentName(unsigned argument) {
  StringAttr attribute = SvmDialect::nameAttr.of(*this, argument);
  return attribute ? attribute.getValue().str() : "argument " + std::to_string(argument);
}

std::optional<unsigned> KernelOp::instanceArgument() {
  for (unsigned position = 0; position < getNumArguments(); ++position)
    if (getArgAttr(position, SvmDialect::instanceAttr))
      return position;
  return std::nullopt;
}

bool KernelOp::isShared() {
  return SvmDialect::sharedAttr.isOn(*this) ||
         getBody().walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool KernelOp::canBlock() {
  bool found = false;
  getBody().walk([&](Operation* op) { found |= isa<PushOp, PopOp, PeekOp, PauseOp, PollOp, BarrierOp>(op); });
  return found || (!isStructured() && llvm::any_of(getArgumentTypes(), [](Type t) { return isa<StreamType>(t); }));
}

LogicalResult KernelOp::verify() {
  if (getFunctionType().getNumResults())
    return emitOpError("returns its results through its arguments and has no results");
  unsigned numbers = 0;
  for (auto [position, type] : llvm::enumerate(getArgumentTypes()))
    if (SvmDialect::instanceAttr.of(*this, position))
      if (!type.isIndex() || numbers++)
        return emitOpError() << "has '" << SvmDialect::instanceAttr << "' on argument " << position
                             << "; it is a unit attribute of one argument, of type index";
  int bodies = !getBody().empty() + bool(getLlvm()) + bool(getBlackbox());
  if (bodies != 1)
    return emitOpError("has one body: a region, an 'llvm' function or a 'blackbox' name");
  for (auto [position, type] : llvm::enumerate(getArgumentTypes())) {
    StringRef how = access(position);
    if (isa<MemRefType>(type)) {
      if (!llvm::is_contained({"read", "write", "readwrite"}, how))
        return emitOpError() << "says of block argument " << position
                             << " neither \"read\", \"write\" nor \"readwrite\" in '" << SvmDialect::accessAttr << "'";
      if (!memoryOf(type).empty())
        return emitOpError() << "has block argument " << position
                             << " in a named memory; a kernel works wherever its processor reaches";
    } else if (!isa<IntegerType, FloatType, IndexType, RecordType, StreamType>(type)) {
      return emitOpError() << "has argument " << position << " of type " << type
                           << "; arguments are blocks, streams and scalars";
    }
  }
  if (auto extents = getExtents()) {
    if (extents->size() != getArgumentTypes().size())
      return emitOpError("states extents for ")
             << extents->size() << " of " << getArgumentTypes().size() << " arguments";
    for (auto [attribute, type] : llvm::zip(*extents, getArgumentTypes())) {
      auto map = dyn_cast<AffineMapAttr>(attribute);
      auto block = dyn_cast<MemRefType>(type);
      if (!map || map.getValue().getNumDims() || map.getValue().getNumResults() != (block ? block.getRank() : 0))
        return emitOpError("states extents that are not affine maps of symbols, one result a dimension");
    }
  }
  if (kind() == KernelKind::Equations) {
    Block& block = getBody().front();
    if (block.getOperations().size() != 2 || !isa<EquationsOp>(block.front()) || !isa<ReturnOp>(block.back()))
      return emitOpError("holds equations and something else; 'svm.equations' stands alone in its kernel");
    return success();
  }
  if (!isStructured())
    return success();
  WalkResult walk = getBody().walk([&](Operation* op) {
    if (isa<PauseOp, PollOp, FenceOp>(op) && !isShared()) {
      op->emitOpError() << (isa<FenceOp>(op) ? "orders accesses that others see" : "waits for what others write")
                        << "; its kernel says so by '" << SvmDialect::sharedAttr << "'";
      return WalkResult::interrupt();
    }
    StringRef dialect = op->getName().getDialectNamespace();
    if (llvm::is_contained({"scf", "affine", "memref", "arith", "math", "vector", "ub"}, dialect) ||
        isa<ReturnOp, CheckOp, IndexOp, CountOp, RecordOp, FieldOp, WithFieldOp, PushOp, PopOp, PeekOp, EndOp, PauseOp,
            PollOp, FenceOp, StayOp, PrintOp, BarrierOp, AtomicOp, func::CallOp>(op))
      return WalkResult::advance();
    op->emitOpError("does not belong in a kernel");
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

// ---- atomics ----

void AtomicOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getBlockMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getBlockMutable(), SideEffects::DefaultResource::get());
}

LogicalResult AtomicOp::verify() {
  static constexpr StringRef kinds[] = {
      "add", "sub", "and", "or", "xor", "min", "max", "umin", "umax", "exchange", "compare_exchange"};
  if (!llvm::is_contained(kinds, getKind()))
    return emitOpError() << "is of kind \"" << getKind() << "\"; there are "
                         << llvm::join(ArrayRef<StringRef>(kinds), ", ");
  const Type element = getBlock().getType().getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    return emitOpError() << "changes a " << element << "; elements are integers of 32 or 64 bits";
  if (static_cast<int64_t>(getIndices().size()) != getBlock().getType().getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for a block of "
                         << getBlock().getType().getRank() << " dimensions";
  if ((getKind() == "compare_exchange") != bool(getExpected()))
    return emitOpError("names what is expected where its kind is compare_exchange, and nowhere else");
  if (getExpected() && getExpected().getType() != element)
    return emitOpError() << "expects a " << getExpected().getType() << " in a block of " << element;
  return success();
}

// ---- run ----

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection& symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "refers to '" << getKernel() << "', which is no kernel";
  if (kernel.getArgumentTypes().size() != getArguments().size())
    return emitOpError() << "gives " << getArguments().size() << " arguments to '" << getKernel() << "', which takes "
                         << kernel.getArgumentTypes().size();
  for (auto [position, pair] : llvm::enumerate(llvm::zip(getArguments().getTypes(), kernel.getArgumentTypes()))) {
    auto [given, wanted] = pair;
    if (auto block = dyn_cast<MemRefType>(given); block && !distributionOf(block))
      given = withMemory(block, "");
    if (given != wanted)
      return emitOpError() << "gives '" << getKernel() << "' a " << given << " as argument " << position
                           << ", which is a " << wanted;
  }
  return success();
}

// ---- blocks ----

void BlockOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

LogicalResult BlockOp::verify() {
  auto type = getBlock().getType();
  if (static_cast<int64_t>(getExtents().size()) != type.getRank())
    return emitOpError() << "has " << getExtents().size() << " extents for " << type.getRank() << " dimensions";
  for (int64_t extent : type.getShape())
    if (!ShapedType::isDynamic(extent))
      return emitOpError("has static extents in its type; they are operands");
  if (getMax() && static_cast<int64_t>(getMax()->size()) != type.getRank())
    return emitOpError("has 'max' for another number of dimensions");
  if (DistributionAttr distribution = distributionOf(type))
    if (distribution.getInstance().getNumInputs() != type.getRank())
      return emitOpError() << "has " << type.getRank() << " dimensions, and its distribution maps "
                           << distribution.getInstance().getNumInputs() << " indices";
  if (type != viewType(type.getRank(), type.getElementType(), type.getMemorySpace()))
    return emitOpError() << "makes a " << type << "; a block has the view type "
                         << viewType(type.getRank(), type.getElementType(), type.getMemorySpace());
  return success();
}

std::optional<int64_t> BlockOp::maxBytes(int64_t alignment) {
  int64_t rank = getBlock().getType().getRank();
  int64_t bytes = RecordType::sizeInBytes(getBlock().getType().getElementType());
  for (int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    int64_t bound = getMax() ? (*getMax())[dimension] : -1;
    if (bound < 0)
      if (std::optional<int64_t> constant = getConstantIntValue(getExtents()[dimension]))
        bound = *constant;
    if (bound < 0 || __builtin_mul_overflow(bytes, bound, &bytes))
      return std::nullopt;
    if (dimension == rank - 1)
      bytes = llvm::alignTo(bytes, alignment);
  }
  return bytes;
}

void MemoryAtOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

LogicalResult MemoryAtOp::verify() {
  const MemRefType type = getBlock().getType();
  if (type != viewType(1, type.getElementType(), type.getMemorySpace()))
    return emitOpError() << "gives a " << type << "; memory at an address is a view of one dimension, "
                         << viewType(1, type.getElementType(), type.getMemorySpace());
  if (!type.getElementType().isIntOrFloat())
    return emitOpError() << "has elements of type " << type.getElementType() << "; they are integers or floating-point";
  return success();
}

/// None: it looks at where blocks are, not at what is in them.
void ApartOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>&) {}

void MoveOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable(), SideEffects::DefaultResource::get());
}

LogicalResult MoveOp::verify() {
  auto source = getSource().getType();
  auto destination = getDestination().getType();
  if (source.getRank() != destination.getRank() || source.getElementType() != destination.getElementType())
    return emitOpError() << "moves a " << source << " to a " << destination << "; rank and element type have to agree";
  return success();
}

static LogicalResult verifyIndexedMove(Operation* op, MemRefType source, MemRefType indices, MemRefType destination) {
  if (source.getRank() != destination.getRank() || source.getElementType() != destination.getElementType())
    return op->emitOpError() << "moves a " << source << " to a " << destination
                             << "; rank and element type have to agree";
  if (source.getRank() == 0)
    return op->emitOpError() << "moves parts of a " << source << ", which has no dimension to index";
  Type index = indices.getElementType();
  if (indices.getRank() != 1 || !(index.isIndex() || index.isInteger(32) || index.isInteger(64)))
    return op->emitOpError() << "takes its indices from a " << indices
                             << "; they are a block of one dimension of i32, i64 or index";
  return success();
}

void GatherOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), &getIndicesMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable(), SideEffects::DefaultResource::get());
}

LogicalResult GatherOp::verify() {
  return verifyIndexedMove(*this, getSource().getType(), getIndices().getType(), getDestination().getType());
}

void ScatterOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Read::get(), &getIndicesMutable(), SideEffects::DefaultResource::get());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestinationMutable(), SideEffects::DefaultResource::get());
}

LogicalResult ScatterOp::verify() {
  return verifyIndexedMove(*this, getSource().getType(), getIndices().getType(), getDestination().getType());
}

// ---- parallel loops, instances, other processors ----

/// A region of one block with these arguments, which the builder is not moved to.
static void addBody(OpBuilder& builder, OperationState& state, unsigned indices, ValueRange reductions) {
  OpBuilder::InsertionGuard guard(builder);
  Block* block = builder.createBlock(state.addRegion());
  for (unsigned index = 0; index < indices; ++index)
    block->addArgument(builder.getIndexType(), state.location);
  for (Value reduction : reductions)
    block->addArgument(reduction.getType(), reduction.getLoc());
}

void ParallelOp::build(OpBuilder& builder, OperationState& state, ValueRange lower, ValueRange upper,
                       ValueRange reductions, ArrayAttr combiners, StringAttr label) {
  state.addOperands(lower);
  state.addOperands(upper);
  state.addOperands(reductions);
  auto& properties = state.getOrAddProperties<ParallelOp::Properties>();
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
                               static_cast<int32_t>(reductions.size())},
             properties.operandSegmentSizes.begin());
  properties.combiners = combiners;
  properties.label = label;
  addBody(builder, state, static_cast<unsigned>(lower.size()), reductions);
}

void InstancesOp::build(OpBuilder& builder, OperationState& state, Value lower, Value upper,
                        FlatSymbolRefAttr processor, StringAttr label) {
  state.addOperands({lower, upper});
  auto& properties = state.getOrAddProperties<InstancesOp::Properties>();
  properties.processor = processor;
  properties.label = label;
  addBody(builder, state, 1, {});
}

void OnOp::build(OpBuilder& builder, OperationState& state, FlatSymbolRefAttr processor) {
  state.getOrAddProperties<OnOp::Properties>().processor = processor;
  addBody(builder, state, 0, {});
}

SmallVector<Region*> ParallelOp::getLoopRegions() {
  return {&getBody()};
}

SmallVector<Region*> InstancesOp::getLoopRegions() {
  return {&getBody()};
}

int64_t ParallelOp::allParts() {
  int64_t all = 1;
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension)
    all *= partsOf(dimension);
  return all;
}

static ParseResult parseProcessor(OpAsmParser& parser, FlatSymbolRefAttr& into) {
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  into = FlatSymbolRefAttr::get(name);
  return success();
}

/// A keyword with one number, or with one for each dimension in brackets. Nothing where the keyword is not there.
static ParseResult parseNumbers(OpAsmParser& parser, StringRef keyword, DenseI64ArrayAttr& into) {
  if (failed(parser.parseOptionalKeyword(keyword)))
    return success();
  SmallVector<int64_t> numbers;
  auto parseOne = [&] { return parser.parseInteger(numbers.emplace_back()); };
  OptionalParseResult one = parser.parseOptionalInteger(numbers.emplace_back());
  if (!one.has_value()) {
    numbers.clear();
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseOne))
      return failure();
  } else if (failed(*one)) {
    return failure();
  }
  into = parser.getBuilder().getDenseI64ArrayAttr(numbers);
  return success();
}

static void printNumbers(OpAsmPrinter& printer, StringRef keyword, std::optional<ArrayRef<int64_t>> numbers) {
  if (!numbers)
    return;
  printer << ' ' << keyword << ' ';
  if (numbers->size() == 1) {
    printer << numbers->front();
    return;
  }
  printer << '[';
  llvm::interleaveComma(*numbers, printer.getStream());
  printer << ']';
}

// svm.parallel "i" (%i, %j) = (%a, %b) to (%m, %n) reduce(%p = %c : memref<…> with #svm.combiner<@f>) on @pe in @m
// parts [4, 2] chunk [1, 0] concurrent { … } attrs
ParseResult ParallelOp::parse(OpAsmParser& parser, OperationState& result) {
  auto& builder = parser.getBuilder();
  auto& properties = result.getOrAddProperties<ParallelOp::Properties>();
  auto index = builder.getIndexType();
  std::string label;
  if (succeeded(parser.parseOptionalString(&label)))
    properties.label = builder.getStringAttr(label);
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> lower, upper, reductions;
  SmallVector<Type> reduced;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) || parser.parseEqual() ||
      parser.parseOperandList(lower, OpAsmParser::Delimiter::Paren) || parser.parseKeyword("to") ||
      parser.parseOperandList(upper, OpAsmParser::Delimiter::Paren) ||
      parser.resolveOperands(lower, index, result.operands) || parser.resolveOperands(upper, index, result.operands))
    return failure();
  if (arguments.empty() || lower.size() != arguments.size() || upper.size() != arguments.size())
    return parser.emitError(place) << "has " << arguments.size() << " indices, " << lower.size() << " lower and "
                                   << upper.size() << " upper bounds; each dimension has one of each";
  for (OpAsmParser::Argument& argument : arguments)
    argument.type = index;
  if (succeeded(parser.parseOptionalKeyword("reduce"))) {
    SmallVector<Attribute> combiners;
    auto parseOne = [&]() -> ParseResult {
      OpAsmParser::Argument argument;
      CombinerAttr combiner;
      if (parser.parseArgument(argument) || parser.parseEqual() || parser.parseOperand(reductions.emplace_back()) ||
          parser.parseColonType(argument.type) || parser.parseKeyword("with") || parser.parseAttribute(combiner))
        return failure();
      reduced.push_back(argument.type);
      arguments.push_back(argument);
      combiners.push_back(combiner);
      return success();
    };
    if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne) ||
        parser.resolveOperands(reductions, reduced, place, result.operands))
      return failure();
    properties.combiners = builder.getArrayAttr(combiners);
  }
  llvm::copy(ArrayRef<int32_t>{static_cast<int32_t>(lower.size()), static_cast<int32_t>(upper.size()),
                               static_cast<int32_t>(reductions.size())},
             properties.operandSegmentSizes.begin());
  if (succeeded(parser.parseOptionalKeyword("on")) && parseProcessor(parser, properties.processor))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("in")) && parseProcessor(parser, properties.private_memory))
    return failure();
  if (parseNumbers(parser, "parts", properties.parts) || parseNumbers(parser, "chunk", properties.chunk))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("concurrent")))
    properties.concurrent = builder.getUnitAttr();
  return failure(parser.parseRegion(*result.addRegion(), arguments) || parser.parseOptionalAttrDict(result.attributes));
}

void ParallelOp::print(OpAsmPrinter& printer) {
  if (getLabel())
    printer << ' ' << getLabelAttr();
  printer << " (";
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension) {
    printer << (dimension ? ", " : "");
    printer.printRegionArgument(iteration(dimension), {}, /*omitType=*/true);
  }
  printer << ") = (" << getLower() << ") to (" << getUpper() << ")";
  if (!getReductions().empty()) {
    printer << " reduce(";
    for (auto [position, operand] : llvm::enumerate(getReductions())) {
      if (position)
        printer << ", ";
      printer.printRegionArgument(privateCopy(position), {}, true);
      printer << " = " << operand << " : " << operand.getType() << " with " << (*getCombiners())[position];
    }
    printer << ")";
  }
  if (getProcessor())
    printer << " on " << getProcessorAttr();
  if (getPrivateMemory())
    printer << " in " << getPrivateMemoryAttr();
  printNumbers(printer, "parts", getParts());
  printNumbers(printer, "chunk", getChunk());
  if (getConcurrent())
    printer << " concurrent";
  printer << ' ';
  printer.printRegion(getBody(), false, false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"label", "combiners", "processor", "private_memory", "parts",
                                                      "chunk", "concurrent", "operandSegmentSizes"});
}

LogicalResult ParallelOp::verify() {
  Block& block = getBody().front();
  size_t combiners = getCombiners() ? getCombiners()->size() : 0;
  if (!dimensions() || getUpper().size() != dimensions())
    return emitOpError("has ") << dimensions() << " lower and " << getUpper().size()
                               << " upper bounds; each dimension has one of each";
  if (combiners != getReductions().size())
    return emitOpError("has ") << getReductions().size() << " reductions and " << combiners << " combiners";
  if (block.getNumArguments() != dimensions() + combiners ||
      !llvm::all_of(block.getArguments().take_front(dimensions()),
                    [](BlockArgument argument) { return argument.getType().isIndex(); }))
    return emitOpError("has a region whose arguments are not the iteration's indices and one private copy a reduction");
  for (auto [position, operand] : llvm::enumerate(getReductions()))
    if (withMemory(cast<MemRefType>(operand.getType()), "") !=
        withMemory(cast<MemRefType>(privateCopy(position).getType()), ""))
      return emitOpError("has a private copy of another type than its reduction");
  for (auto numbers : {getParts(), getChunk()})
    if (numbers && numbers->size() != dimensions())
      return emitOpError("has ") << dimensions() << " dimensions and says of " << numbers->size()
                                 << " how they are distributed";
  int64_t all = 1;
  for (unsigned dimension = 0; dimension < dimensions(); ++dimension) {
    if (partsOf(dimension) < 1 || __builtin_mul_overflow(all, partsOf(dimension), &all))
      return emitOpError("is distributed in ")
             << partsOf(dimension) << " parts; it takes one at least, and less than 2^63";
    if (chunkOf(dimension) < 0)
      return emitOpError("has chunks of a negative number of iterations");
  }
  return success();
}

// svm.instances "i" (%p) = (%a) to (%n) on @pe parts 8 concurrent { … } attrs
ParseResult InstancesOp::parse(OpAsmParser& parser, OperationState& result) {
  auto& builder = parser.getBuilder();
  auto& properties = result.getOrAddProperties<InstancesOp::Properties>();
  auto index = builder.getIndexType();
  std::string label;
  if (succeeded(parser.parseOptionalString(&label)))
    properties.label = builder.getStringAttr(label);
  OpAsmParser::Argument argument;
  OpAsmParser::UnresolvedOperand lower, upper;
  argument.type = index;
  if (parser.parseLParen() || parser.parseArgument(argument) || parser.parseRParen() || parser.parseEqual() ||
      parser.parseLParen() || parser.parseOperand(lower) || parser.parseRParen() || parser.parseKeyword("to") ||
      parser.parseLParen() || parser.parseOperand(upper) || parser.parseRParen() || parser.parseKeyword("on") ||
      parseProcessor(parser, properties.processor) || parser.resolveOperand(lower, index, result.operands) ||
      parser.resolveOperand(upper, index, result.operands))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("parts"))) {
    int64_t parts = 0;
    if (parser.parseInteger(parts))
      return failure();
    properties.parts = builder.getI64IntegerAttr(parts);
  }
  if (succeeded(parser.parseOptionalKeyword("concurrent")))
    properties.concurrent = builder.getUnitAttr();
  return failure(parser.parseRegion(*result.addRegion(), argument) || parser.parseOptionalAttrDict(result.attributes));
}

void InstancesOp::print(OpAsmPrinter& printer) {
  if (getLabel())
    printer << ' ' << getLabelAttr();
  printer << " (";
  printer.printRegionArgument(instance(), {}, /*omitType=*/true);
  printer << ") = (" << getLower() << ") to (" << getUpper() << ") on " << getProcessorAttr();
  if (getParts())
    printer << " parts " << *getParts();
  if (getConcurrent())
    printer << " concurrent";
  printer << ' ';
  printer.printRegion(getBody(), false, false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"label", "processor", "parts", "concurrent"});
}

LogicalResult InstancesOp::verify() {
  Block& block = getBody().front();
  if (block.getNumArguments() != 1 || !block.getArgument(0).getType().isIndex())
    return emitOpError("has a region whose argument is not the instance's number");
  if (getPartsAttr() && getPartsAttr().getInt() < 1)
    return emitOpError("is distributed in ") << getPartsAttr().getInt() << " parts; it takes one at least";
  return success();
}

LogicalResult OnOp::verify() {
  return getBody().front().getNumArguments() ? emitOpError("has a region with arguments; it takes none") : success();
}

// ---- checks, figures, records, streams ----

// A check may end the program: it is kept, and kept in order with writes, but it can be moved out of loops by passes
// that know.
void CheckOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get());
}
void IndexOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get());
}
void CountOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Write::get(), SideEffects::DefaultResource::get());
}
void StreamOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(), getOperation()->getOpResult(0),
                       SideEffects::DefaultResource::get());
}

LogicalResult StreamOp::verify() {
  if (getMemory() && getFifo())
    return emitOpError() << "lies in memory '" << *getMemory() << "' and goes through FIFO '" << *getFifo()
                         << "'; it does one of the two";
  if (getAddress() && !getMemory())
    return emitOpError("has an address, and no memory");
  return success();
}

LogicalResult CheckOp::canonicalize(CheckOp op, PatternRewriter& rewriter) {
  if (!matchPattern(op.getCondition(), m_One()))
    return failure();
  rewriter.eraseOp(op);
  return success();
}

LogicalResult RecordOp::verify() {
  auto types = getRecord().getType().getFieldTypes();
  if (!llvm::equal(getFields().getTypes(), types))
    return emitOpError("has fields of other types than its record");
  return success();
}

static LogicalResult verifyField(Operation* op, RecordType record, int64_t field, Type type) {
  if (field < 0 || field >= static_cast<int64_t>(record.getFieldTypes().size()))
    return op->emitOpError() << "names field " << field << " of a record with " << record.getFieldTypes().size();
  if (record.getFieldTypes()[field] != type)
    return op->emitOpError() << "has a " << type << " for a field of type " << record.getFieldTypes()[field];
  return success();
}
LogicalResult FieldOp::verify() {
  return verifyField(*this, getRecord().getType(), getField(), getValue().getType());
}
LogicalResult WithFieldOp::verify() {
  return verifyField(*this, getRecord().getType(), getField(), getValue().getType());
}

LogicalResult PushOp::verify() {
  if (getStreams().empty())
    return emitOpError("pushes to no stream");
  for (Value stream : getStreams())
    if (cast<StreamType>(stream.getType()).getElementType() != getElement().getType())
      return emitOpError() << "pushes a " << getElement().getType() << " to a " << stream.getType();
  return success();
}
LogicalResult PopOp::verify() {
  if (getStream().getType().getElementType() != getElement().getType())
    return emitOpError() << "pops a " << getElement().getType() << " from a " << getStream().getType();
  return success();
}
LogicalResult PeekOp::verify() {
  if (getStream().getType().getElementType() != getElement().getType())
    return emitOpError() << "peeks a " << getElement().getType() << " in a " << getStream().getType();
  return success();
}

// ---- print ----

LogicalResult PrintOp::verify() {
  std::string problem;
  SmallVector<bool> wanted; // by value: whether it is a floating-point number
  if (!readFormat(getFormat(), wanted, problem))
    return emitOpError() << "has a format that does not read: " << problem;
  if (wanted.size() != getValues().size())
    return emitOpError() << "has a format of " << wanted.size() << " values and gives " << getValues().size();
  for (auto [position, real, value] : llvm::enumerate(wanted, getValues()))
    if (real != value.getType().isF64())
      return emitOpError() << "gives a " << value.getType() << " as value " << position
                           << ", which its format writes as " << (real ? "an f64" : "an i64");
  return success();
}

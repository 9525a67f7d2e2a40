// Verifiers, custom syntax and effects of the dialect's operations.
#include "compiler/ir/attributes.h"
#include "compiler/ir/names.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace strata::svm;

/// The kind of an svm.atomic, in quotation marks.
static ParseResult parseAtomicKind(OpAsmParser& parser, AtomicKindAttr& kind) {
  std::string word;
  const llvm::SMLoc place = parser.getCurrentLocation();
  if (parser.parseString(&word))
    return failure();
  if (std::optional<AtomicKind> known = symbolizeAtomicKind(word)) {
    kind = AtomicKindAttr::get(parser.getContext(), *known);
    return success();
  }
  InFlightDiagnostic problem = parser.emitError(place) << "is of kind \"" << word << "\"; there are ";
  for (unsigned each = 0; each <= getMaxEnumValForAtomicKind(); ++each)
    problem << (each ? ", " : "") << stringifyAtomicKind(static_cast<AtomicKind>(each));
  return problem;
}
static void printAtomicKind(OpAsmPrinter& printer, Operation*, AtomicKindAttr kind) {
  printer << '"' << stringifyAtomicKind(kind.getValue()) << '"';
}

#define GET_OP_CLASSES
#include "compiler/ir/svm_ops.cpp.inc"

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
  if (const StringRef problem = problemOfName(memory.getValue()); !problem.empty())
    return emitError() << "a distribution has a memory whose name " << problem;
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

std::optional<Access> KernelOp::access(unsigned argument) {
  return SvmDialect::accessAttr.of(*this, argument);
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
  if (getBlackbox() && failed(verifyName(*this, "a 'blackbox' name", *getBlackbox())))
    return failure();
  int bodies = !getBody().empty() + bool(getLlvm()) + bool(getBlackbox());
  if (bodies != 1)
    return emitOpError("has one body: a region, an 'llvm' function or a 'blackbox' name");
  for (auto [position, type] : llvm::enumerate(getArgumentTypes())) {
    if (isa<MemRefType>(type)) {
      if (!access(position))
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
        isa<ReturnOp, CheckOp, IndexOp, CountOp, RecordOp, FieldOp, WithFieldOp, FieldsOp, PushOp, PopOp, PeekOp, EndOp,
            PauseOp, PollOp, FenceOp, StayOp, PrintOp, BarrierOp, AtomicOp, func::CallOp>(op))
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
  const Type element = getBlock().getType().getElementType();
  if (!element.isInteger(32) && !element.isInteger(64))
    return emitOpError() << "changes a " << element << "; elements are integers of 32 or 64 bits";
  if (static_cast<int64_t>(getIndices().size()) != getBlock().getType().getRank())
    return emitOpError() << "has " << getIndices().size() << " indices for a block of "
                         << getBlock().getType().getRank() << " dimensions";
  if ((getKind() == AtomicKind::CompareExchange) != bool(getExpected()))
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

LogicalResult ScopeOp::verify() {
  return verifyLabel(*this, getLabel());
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
  if (getAddressAttr() && getAddressAttr().getInt() < 0)
    return emitOpError() << "is at address " << getAddressAttr().getInt() << "; addresses are not negative";
  if (DistributionAttr distribution = distributionOf(type))
    if (distribution.getInstance().getNumInputs() != type.getRank())
      return emitOpError() << "has " << type.getRank() << " dimensions, and its distribution maps "
                           << distribution.getInstance().getNumInputs() << " indices";
  if (type != viewType(type.getRank(), type.getElementType(), type.getMemorySpace()))
    return emitOpError() << "makes a " << type << "; a block has the view type "
                         << viewType(type.getRank(), type.getElementType(), type.getMemorySpace());
  return verifyLabel(*this, getLabel());
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

LogicalResult InPlaceOp::verify() {
  const MemRefType block = getBlock().getType(), part = getPart().getType();
  if (block.getRank() != part.getRank() || block.getElementType() != part.getElementType())
    return emitOpError() << "has a " << block << " stand for a " << part << "; rank and element type have to agree";
  return success();
}

LogicalResult MemoryAtOp::verify() {
  const MemRefType type = getBlock().getType();
  if (type != viewType(1, type.getElementType(), type.getMemorySpace()))
    return emitOpError() << "gives a " << type << "; memory at an address is a view of one dimension, "
                         << viewType(1, type.getElementType(), type.getMemorySpace());
  if (!type.getElementType().isIntOrFloat())
    return emitOpError() << "has elements of type " << type.getElementType() << "; they are integers or floating-point";
  return verifyLabel(*this, getLabel());
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
  if (getAddressAttr() && getAddressAttr().getInt() < 0)
    return emitOpError() << "is at address " << getAddressAttr().getInt() << "; addresses are not negative";
  return verifyLabel(*this, getLabel());
}

/// Words of small letters and figures with hyphens between them: "value-too-large".
static bool isKebabCase(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, '-');
  return llvm::all_of(words, [](StringRef word) {
    return !word.empty() && llvm::all_of(word, [](char c) { return llvm::isDigit(c) || (c >= 'a' && c <= 'z'); });
  });
}

LogicalResult CheckOp::verify() {
  if (!isKebabCase(getCode()))
    return emitOpError() << "has the code \"" << getCode() << "\"; a code is in kebab case: \"value-too-large\"";
  for (StringRef text : {getMessage(), getHelp().value_or("none")})
    if (text.empty() || text.contains('\0'))
      return emitOpError() << "has a message or help that " << problemOfName(text)
                           << "; say what is wrong, and leave out a help that says nothing";
  unsigned most = 0;
  if (holdsPlaceholder(getMessage(), &most) && most >= getValues().size())
    return emitOpError() << "has {" << most << "} in its message and gives " << getValues().size()
                         << " values; {0} is the first";
  return success();
}

LogicalResult IndexOp::verify() {
  if (getDimensionAttr().getInt() < 0)
    return emitOpError() << "is of dimension " << getDimensionAttr().getInt() << "; the first is 0";
  return verifyName(*this, "an array", getArray());
}

LogicalResult CountOp::verify() {
  return verifyName(*this, "a counter", getCounter());
}

LogicalResult SpanOp::verify() {
  return verifyName(*this, "a name", getName());
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

std::optional<std::pair<uint64_t, Type>> FieldsOp::placeOf(Type record, ArrayRef<int64_t> path) {
  uint64_t begin = 0;
  for (const int64_t position : path) {
    auto around = dyn_cast<RecordType>(record);
    if (!around || position < 0 || position >= static_cast<int64_t>(around.getFieldTypes().size()))
      return std::nullopt;
    uint64_t within = 0;
    for (const auto& [number, type] : llvm::enumerate(around.getFieldTypes())) {
      within = llvm::alignTo(within, RecordType::alignmentInBytes(type));
      if (static_cast<int64_t>(number) == position) {
        record = type;
        break;
      }
      within += RecordType::sizeInBytes(type);
    }
    begin += within;
  }
  return std::pair(begin, record);
}

MemRefType FieldsOp::typeOf(MemRefType block, ArrayRef<int64_t> path) {
  const auto place = placeOf(block.getElementType(), path);
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (path.empty() || !place || !place->second.isIntOrFloat() || failed(getStridesAndOffset(block, strides, offset)))
    return {};
  const uint64_t bytes = RecordType::sizeInBytes(place->second),
                 recordBytes = RecordType::sizeInBytes(block.getElementType());
  if (recordBytes % bytes || place->first % bytes)
    return {};
  const auto inFields = [&](int64_t records, uint64_t more) {
    int64_t fields = 0;
    return ShapedType::isDynamic(records) || __builtin_mul_overflow(records, int64_t(recordBytes / bytes), &fields) ||
                   __builtin_add_overflow(fields, int64_t(more), &fields)
               ? ShapedType::kDynamic
               : fields;
  };
  for (int64_t& stride : strides)
    stride = inFields(stride, 0);
  return MemRefType::get(block.getShape(), place->second,
                         StridedLayoutAttr::get(block.getContext(), inFields(offset, place->first / bytes), strides),
                         block.getMemorySpace());
}

LogicalResult FieldsOp::verify() {
  const MemRefType expected = typeOf(getBlock().getType(), getPath());
  if (!expected)
    return emitOpError() << "names no number in the records of a " << getBlock().getType();
  if (getFields().getType() != expected)
    return emitOpError() << "gives a " << getFields().getType() << "; that field of a " << getBlock().getType()
                         << " is a " << expected;
  return success();
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

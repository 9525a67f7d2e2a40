// The dialect's registration, its types and attributes, and the small questions that passes ask of them.
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace strata::svm;

#ifdef STRATA_ADDRESS_SANITIZER
// Types of the dialect are made in the context's arenas, which code with the sanitizer poisons and the MLIR library,
// which has none, does not free of it again.
extern "C" const char* __asan_default_options() { // NOLINT(bugprone-reserved-identifier)
  return "allow_user_poisoning=0";
}
#endif

#include "compiler/ir/svm_dialect.cpp.inc"

#include "compiler/ir/svm_enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "compiler/ir/svm_types.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/ir/svm_attributes.cpp.inc"

void SvmDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/svm_types.cpp.inc"
      >();
}

void SvmDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/svm_attributes.cpp.inc"
      >();
}

void SvmDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/svm_ops.cpp.inc"
      >();
}

// ---- records ----

// !svm.record<"name", re: f32, im: f32>
Type RecordType::parse(AsmParser& parser) {
  std::string name;
  SmallVector<StringAttr> names;
  SmallVector<Type> types;
  auto* context = parser.getContext();
  if (parser.parseLess() || parser.parseString(&name))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef field;
    Type type;
    if (parser.parseKeyword(&field) || parser.parseColonType(type))
      return {};
    if (!llvm::isa<IntegerType, FloatType, RecordType>(type)) {
      parser.emitError(parser.getCurrentLocation(),
                       "a record's field is an integer, a floating-point number or a record");
      return {};
    }
    names.push_back(StringAttr::get(context, field));
    types.push_back(type);
  }
  if (parser.parseGreater())
    return {};
  return RecordType::get(context, StringAttr::get(context, name), names, types);
}

void RecordType::print(AsmPrinter& printer) const {
  printer << '<' << getName();
  for (auto [name, type] : llvm::zip(getFieldNames(), getFieldTypes()))
    printer << ", " << name.getValue() << ": " << type;
  printer << '>';
}

std::optional<unsigned> RecordType::fieldIndex(StringRef field) const {
  for (auto [position, name] : llvm::enumerate(getFieldNames()))
    if (name.getValue() == field)
      return position;
  return std::nullopt;
}

uint64_t RecordType::alignmentInBytes(Type type) {
  if (auto record = llvm::dyn_cast<RecordType>(type)) {
    uint64_t most = 1;
    for (Type field : record.getFieldTypes())
      most = std::max(most, alignmentInBytes(field));
    return most;
  }
  return sizeInBytes(type);
}

uint64_t RecordType::sizeInBytes(Type type) {
  if (auto record = llvm::dyn_cast<RecordType>(type)) {
    uint64_t size = 0;
    for (Type field : record.getFieldTypes())
      size = llvm::alignTo(size, alignmentInBytes(field)) + sizeInBytes(field);
    return llvm::alignTo(size, alignmentInBytes(record));
  }
  if (type.isIndex())
    return 8;
  if (type.isIntOrFloat())
    return llvm::PowerOf2Ceil(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  return 1;
}

// ---- stages and types ----

namespace strata::svm {

StringRef kindName(KernelKind kind) {
  switch (kind) {
  case KernelKind::Structured:
    return "structured";
  case KernelKind::Llvm:
    return "llvm";
  case KernelKind::Equations:
    return "equations";
  case KernelKind::BlackBox:
    return "black box";
  }
  return "";
}

Stage stageOf(ModuleOp module) {
  return SvmDialect::stageAttr.of(module).value_or(Stage::Logical);
}

void setStage(ModuleOp module, Stage stage) {
  SvmDialect::stageAttr.set(module, stage);
}

void registerDialects(DialectRegistry& registry) {
  registry.insert<SvmDialect, affine::AffineDialect, arith::ArithDialect, func::FuncDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect>();
}

MemRefType viewType(unsigned rank, Type element, Attribute memory) {
  SmallVector<int64_t> strides(rank, ShapedType::kDynamic);
  if (rank)
    strides.back() = 1;
  auto layout = StridedLayoutAttr::get(element.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(SmallVector<int64_t>(rank, ShapedType::kDynamic), element, layout, memory);
}

StringRef memoryOf(Type block) {
  auto type = dyn_cast<MemRefType>(block);
  auto memory = type ? dyn_cast_or_null<MemoryAttr>(type.getMemorySpace()) : MemoryAttr();
  return memory ? memory.getMemory().getValue() : StringRef();
}

MemRefType withMemory(MemRefType block, StringRef memory) {
  Attribute space;
  if (!memory.empty())
    space = MemoryAttr::get(block.getContext(), FlatSymbolRefAttr::get(block.getContext(), memory));
  return MemRefType::get(block.getShape(), block.getElementType(), block.getLayout(), space);
}

DistributionAttr distributionOf(Type block) {
  auto type = dyn_cast<MemRefType>(block);
  return type ? dyn_cast_or_null<DistributionAttr>(type.getMemorySpace()) : DistributionAttr();
}

bool readFormat(StringRef format, SmallVectorImpl<bool>& reals, std::string& problem) {
  constexpr size_t mostDigits = 3; // no line is that wide
  auto fail = [&](const char* why) {
    problem = why;
    return false;
  };
  if (format.contains('\0'))
    return fail("it has a zero character");
  for (size_t at = 0; at < format.size();) {
    if (format[at++] != '%')
      continue;
    StringRef rest = format.substr(at);
    size_t flags = std::min(rest.find_first_not_of("-+ #0"), rest.size());
    rest = rest.substr(flags);
    size_t width = std::min(rest.find_first_not_of("0123456789"), rest.size());
    rest = rest.substr(width);
    size_t precision = 0;
    bool hasPrecision = rest.consume_front(".");
    if (hasPrecision) {
      precision = std::min(rest.find_first_not_of("0123456789"), rest.size());
      rest = rest.substr(precision);
    }
    if (width > mostDigits || precision > mostDigits || flags > 5)
      return fail("a width or precision is of more than three digits");
    if (rest.empty())
      return fail("it ends within a conversion");
    char conversion = rest.front();
    at = format.size() - rest.size() + 1;
    if (conversion == '%') {
      if (flags || width || hasPrecision)
        return fail("a per cent sign is written %%");
    } else if (StringRef("diuxc").contains(conversion)) {
      reals.push_back(false);
    } else if (StringRef("feg").contains(conversion)) {
      reals.push_back(true);
    } else {
      return fail("its conversions are %d %i %u %x %c, %f %e %g and %%");
    }
  }
  return true;
}

FlatSymbolRefAttr executorOf(Operation* op) {
  return llvm::TypeSwitch<Operation*, FlatSymbolRefAttr>(op)
      .Case([](func::FuncOp function) { return SvmDialect::controlAttr.of(function); })
      .Case([](ParallelOp loop) { return loop.getProcessorAttr(); })
      .Case([](InstancesOp instances) { return instances.getProcessorAttr(); })
      .Case([](OnOp on) { return on.getProcessorAttr(); })
      .Default(FlatSymbolRefAttr());
}

bool isConcurrent(Operation* op) {
  auto loop = dyn_cast<ParallelOp>(op);
  auto instances = dyn_cast<InstancesOp>(op);
  return (loop && loop.getConcurrent()) || (instances && instances.getConcurrent());
}

bool isViewOfAnother(Operation* op) {
  return isa<memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp, InPlaceOp>(op);
}

Value rootOf(Value block) {
  while (Operation* definition = block.getDefiningOp()) {
    if (!isViewOfAnother(definition))
      break;
    block = definition->getOperand(0);
  }
  return block;
}

bool isDistinctRoot(Value root) {
  if (Operation* definition = root.getDefiningOp())
    return isa<BlockOp, memref::AllocaOp>(definition);
  Operation* owner = root.getParentBlock()->getParentOp();
  auto kernel = dyn_cast<KernelOp>(owner);
  return kernel ? !kernel.getMayAlias() : isa<func::FuncOp>(owner);
}

bool mayShare(Value first, Value second) {
  first = rootOf(first);
  second = rootOf(second);
  return first == second || !isDistinctRoot(first) || !isDistinctRoot(second);
}

bool isOutside(Value value, Operation* op) {
  return !op->isAncestor(value.getParentRegion()->getParentOp());
}

} // namespace strata::svm

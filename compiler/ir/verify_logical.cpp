// The rules of logical programs. What is not listed here as allowed is refused, so that no phase meets an operation or
// a type that it has no case for.
#include "compiler/ir/verify_logical.h"

#include "compiler/ir/attributes.h"
#include "compiler/ir/llvm_source.h"
#include "compiler/ir/names.h"
#include "compiler/ir/svm.h"
#include "compiler/ir/verify_marks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace mlir;

namespace strata::svm {
namespace {

/// Local variables lie on a stack.
constexpr int64_t maximumVariableBytes = 1 << 20;
/// Constant tables lie in the code.
constexpr int64_t maximumTableBytes = 1 << 24;

bool isScalar(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() <= 64;
  return type.isIndex() || type.isF32() || type.isF64() || isa<RecordType>(type);
}

/// What arrays hold: scalars whose size in memory every notation agrees on.
bool isElement(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  if (auto record = dyn_cast<RecordType>(type))
    return llvm::all_of(record.getFieldTypes(), isElement);
  return isScalar(type);
}

bool isBlock(Type type) {
  auto block = dyn_cast<MemRefType>(type);
  return block && isElement(block.getElementType()) &&
         (block.getLayout().isIdentity() || isa<StridedLayoutAttr>(block.getLayout()));
}

/// What a C function takes and gives by value, in one way on every computer.
bool isPlainScalar(Type type) {
  return type.isInteger(1) || type.isInteger(32) || type.isInteger(64) || type.isF32() || type.isF64();
}

bool isView(Type type) {
  auto block = dyn_cast<MemRefType>(type);
  return block && isBlock(type) && type == viewType(block.getRank(), block.getElementType());
}

/// A view whose neighbours in the last dimension are apart as well: a block with a stride, which moves read and write.
bool isSpacedView(Type type) {
  auto block = dyn_cast<MemRefType>(type);
  if (!block || !isBlock(type))
    return false;
  SmallVector<int64_t> any(static_cast<size_t>(block.getRank()), ShapedType::kDynamic);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, any);
  return type == MemRefType::get(any, block.getElementType(), layout);
}

bool isAllowed(Type type) {
  if (auto stream = dyn_cast<StreamType>(type))
    return isElement(stream.getElementType());
  return isScalar(type) || isBlock(type) || isa<TokenType>(type);
}

bool isAllowed(Operation* op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (dialect == "svm" || dialect == "arith")
    return true;
  if (dialect == "math")
    return !isa<math::IPowIOp>(op);
  return isa<func::FuncOp, func::ReturnOp, func::CallOp, scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp,
             scf::YieldOp, scf::ConditionOp, memref::AllocaOp, memref::LoadOp, memref::StoreOp, memref::DimOp,
             memref::SubViewOp, memref::CastOp, memref::ReinterpretCastOp, memref::ExtractStridedMetadataOp,
             memref::GlobalOp, memref::GetGlobalOp, affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp,
             affine::AffineLoadOp, affine::AffineStoreOp, affine::AffineForOp, affine::AffineIfOp,
             affine::AffineParallelOp, affine::AffineYieldOp>(op);
}

/// A block's extents and strides are told together with its buffer, which is no block: nothing may use it.
bool isUnusedBuffer(Value value) {
  auto layout = value.getDefiningOp<memref::ExtractStridedMetadataOp>();
  return layout && value == layout.getBaseBuffer() && value.use_empty();
}

class LogicalVerifier {
public:
  explicit LogicalVerifier(ModuleOp program) : symbols_(program) {}

  LogicalResult module(ModuleOp program) {
    if (failed(unproved(program)))
      return failure();
    for (auto source : program.getOps<LLVMSourceOp>())
      if (failed(readable(source)))
        return failure();
    for (Operation& op : *program.getBody()) {
      if (!isa<func::FuncOp, KernelOp, LLVMSourceOp, memref::GlobalOp>(op))
        return op.emitOpError(
            "does not belong in a program; it holds functions, kernels, LLVM sources and constant tables");
      const StringRef name = SymbolTable::getSymbolName(&op).getValue();
      if (const StringRef problem = problemOfName(name); !problem.empty())
        return op.emitOpError() << "has a name that " << problem;
      if (name.starts_with("strata"))
        return op.emitError("names that begin with 'strata' are the runtime's; choose another one");
      if (failed(operation(&op, 0)))
        return failure();
      if (auto function = dyn_cast<func::FuncOp>(op); function && failed(signature(function)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult operation(Operation* op, unsigned depth) {
    if (depth > maximumNesting)
      return op->emitError() << "is nested more than " << maximumNesting
                             << " deep; move inner parts to functions of their own";
    if (depth && isa<func::FuncOp, KernelOp, LLVMSourceOp, memref::GlobalOp>(op))
      return op->emitOpError("stands within another operation; it belongs in the module");
    if (!isAllowed(op))
      return op->emitOpError("is not part of the dialect's logical programs");
    for (Type type : op->getOperandTypes())
      if (failed(allowed(op, type)))
        return failure();
    for (Value result : op->getResults())
      if (!isUnusedBuffer(result) && failed(allowed(op, result.getType())))
        return failure();
    if (failed(unplaced(op)) || failed(unproved(op)) || failed(origins(op)) || failed(details(op)))
      return failure();
    for (Region& region : op->getRegions()) {
      if (!region.empty() && !region.hasOneBlock())
        return op->emitOpError("has a region of several blocks; control is expressed by scf operations");
      for (Block& block : region) {
        for (Type type : block.getArgumentTypes())
          if (failed(allowed(op, type)))
            return failure();
        for (Operation& inner : block)
          if (failed(operation(&inner, depth + 1)))
            return failure();
      }
    }
    return success();
  }

  LogicalResult allowed(Operation* op, Type type) {
    if (!isAllowed(type))
      return op->emitOpError() << "uses a value of type " << type
                               << "; values are signless integers of at most 64 bits, index, f32, f64, records, "
                                  "strided blocks of them, streams and tokens";
    if (auto block = dyn_cast<MemRefType>(type); block && block.getMemorySpace())
      return distributed(op, block);
    return success();
  }

  /// A distributed block is made, moved, given to kernels, and indexed in these.
  LogicalResult distributed(Operation* op, MemRefType block) {
    DistributionAttr distribution = distributionOf(block);
    if (!distribution)
      return op->emitOpError() << "uses a block in a named memory; in a logical program nothing is placed yet";
    if (distribution.getInstance().getNumInputs() != block.getRank())
      return op->emitOpError() << "uses a block of " << block.getRank() << " dimensions whose distribution maps "
                               << distribution.getInstance().getNumInputs() << " indices";
    bool inKernel = op->getParentOfType<KernelOp>() != nullptr;
    bool fine =
        inKernel ? isa<memref::LoadOp, memref::StoreOp, memref::DimOp, affine::AffineLoadOp, affine::AffineStoreOp>(op)
                 : isa<BlockOp, MoveOp, ForgetOp, RunOp, memref::DimOp, KernelOp>(op);
    if (!fine)
      return op->emitOpError() << "uses a distributed block; such blocks are made and moved as a whole, given to "
                                  "kernels, and loaded from and stored to there";
    return success();
  }

  /// Nothing says where it is.
  LogicalResult unplaced(Operation* op) {
    bool placed = false;
    if (auto run = dyn_cast<RunOp>(op))
      placed = bool(run.getProcessorAttr());
    else if (auto loop = dyn_cast<ParallelOp>(op))
      placed = loop.getProcessorAttr() || loop.getPrivateMemoryAttr() || loop.getPartsAttr() || loop.getChunkAttr();
    else if (isa<InstancesOp, OnOp, InPlaceOp>(op))
      placed = true;
    else if (auto block = dyn_cast<BlockOp>(op))
      placed = bool(block.getAddressAttr());
    else if (auto stream = dyn_cast<StreamOp>(op))
      placed = stream.getMemoryAttr() || stream.getFifoAttr() || stream.getAddressAttr();
    else if (isa<func::FuncOp>(op))
      placed = SvmDialect::controlAttr.isOn(op);
    placed |= SvmDialect::stagesAttr.isOn(op) || SvmDialect::unrollAttr.isOn(op) || SvmDialect::flattenAttr.isOn(op);
    if (placed)
      return op->emitOpError(
          "says where on a machine it is; in a logical program the attribute 'svm.mapping' of the module does");
    return success();
  }

  /// What passes state of an operation is believed by those behind them; a program cannot state it. It can name things,
  /// ask for copies and calls that stay, and mark what is seen to be so.
  LogicalResult unproved(Operation* op) {
    bool fine = true;
    forEachStray(op, Stage::Logical, [&](const AttributeDefinition& attribute) {
      if (std::exchange(fine, false))
        op->emitOpError() << "carries '" << nameOf(attribute)
                          << "', which is not a program's to say: passes state it once they have made it so, in "
                          << stagesOf(attribute) << "; take it away";
    });
    if (fine && isa<scf::ForOp>(op) && SvmDialect::unorderedAttr.isOn(op) && !op->getParentOfType<KernelOp>())
      return op->emitOpError() << "carries '" << SvmDialect::unorderedAttr
                               << "', which is said of loops in kernels; elsewhere use svm.parallel";
    return success(fine && succeeded(verifyMarks(op)));
  }

  /// Blocks, streams and tokens come from where analyses can follow them to.
  LogicalResult origins(Operation* op) {
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (isUnusedBuffer(result))
        continue;
      bool known = isa<MemRefType>(type)
                       ? isa<BlockOp, MemoryAtOp, memref::AllocaOp, memref::GetGlobalOp>(op) || isViewOfAnother(op)
                   : isa<StreamType>(type) ? isa<StreamOp>(op)
                   : isa<TokenType>(type)  ? isa<RunOp, MoveOp, GatherOp, ScatterOp>(op)
                                           : true;
      if (!known)
        return op->emitOpError() << "gives a " << type
                                 << "; which one it is has to be known without running the program";
    }
    if (isa<scf::SCFDialect, affine::AffineDialect>(op->getDialect()))
      for (Region& region : op->getRegions())
        for (Type type : region.getArgumentTypes())
          if (!isScalar(type))
            return op->emitOpError() << "carries a " << type
                                     << " from one iteration to the next; it carries scalars only";
    return success();
  }

  /// Divisors in affine expressions are positive constants: others could be zero.
  static bool dividesByConstants(AffineExpr expression) {
    bool fine = true;
    expression.walk([&](AffineExpr inner) {
      if (!llvm::is_contained({AffineExprKind::Mod, AffineExprKind::FloorDiv, AffineExprKind::CeilDiv},
                              inner.getKind()))
        return;
      auto divisor = dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(inner).getRHS());
      fine &= divisor && divisor.getValue() > 0;
    });
    return fine;
  }

  LogicalResult maps(Operation* op) {
    bool fine = true;
    op->getAttrDictionary().walk([&](Attribute attribute) {
      if (auto map = dyn_cast<AffineMapAttr>(attribute))
        fine &= llvm::all_of(map.getValue().getResults(), dividesByConstants);
      else if (auto set = dyn_cast<IntegerSetAttr>(attribute))
        fine &= llvm::all_of(set.getValue().getConstraints(), dividesByConstants);
    });
    if (!fine)
      return op->emitOpError("divides in an affine expression by something that is not a positive constant");
    return success();
  }

  /// Numbers that are known, and stay what they are.
  static LogicalResult constantTable(memref::GlobalOp table) {
    const auto type = dyn_cast<MemRefType>(table.getType());
    const auto values = dyn_cast_or_null<DenseElementsAttr>(table.getInitialValueAttr());
    if (!type || !type.getElementType().isIntOrFloat() || !isScalar(type.getElementType()) ||
        !type.getLayout().isIdentity() || type.getMemorySpace())
      return table.emitOpError() << "has the type " << table.getType()
                                 << "; a constant table is dense, and holds integers or floating-point numbers";
    int64_t bytes = RecordType::sizeInBytes(type.getElementType());
    for (int64_t extent : type.getShape())
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > maximumTableBytes)
        return table.emitOpError() << "has more than " << maximumTableBytes
                                   << " bytes, which is more than comes with code; give the kernel a block";
    if (!table.getConstant() || !values || table.getSymVisibility() != "private")
      return table.emitOpError("is not private, or not constant, or has no values; memory that a program writes is an "
                               "argument or an 'svm.block'");
    return success();
  }

  /// The text of a source is LLVM IR, and what it defines is defined nowhere else.
  LogicalResult readable(LLVMSourceOp source) {
    llvm::LLVMContext context;
    std::string problem;
    const std::unique_ptr<llvm::Module> module = readLlvmSource(source, context, problem);
    if (!module)
      return source.emitOpError() << "does not read as LLVM IR: " << problem;
    llvm::StringSet<>& defined = defined_[source];
    for (const llvm::Function& function : *module) {
      if (function.isDeclaration())
        continue;
      defined.insert(function.getName());
      if (!function.hasExternalLinkage())
        continue;
      // A declared function is this one, and what has its body in a source has no code of its own.
      Operation* other = symbols_.lookup(function.getName());
      auto declared = dyn_cast_or_null<func::FuncOp>(other);
      auto kernel = dyn_cast_or_null<KernelOp>(other);
      const bool isCode = (declared && !declared.isExternal()) || (kernel && !kernel.getLlvm());
      if (!visible_.insert(function.getName()).second || isCode)
        return source.emitOpError() << "defines '" << function.getName()
                                    << "', which the program defines elsewhere as well; give one another name";
    }
    return success();
  }

  LogicalResult details(Operation* op) {
    if (failed(maps(op)))
      return failure();
    if (auto alloca = dyn_cast<memref::AllocaOp>(op)) {
      MemRefType type = alloca.getType();
      if (!alloca->getOperands().empty() || !type.getLayout().isIdentity() || !type.hasStaticShape())
        return alloca.emitOpError("makes a variable whose extents are not fixed; use 'svm.block'");
      int64_t bytes = RecordType::sizeInBytes(type.getElementType());
      for (int64_t extent : type.getShape())
        if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > maximumVariableBytes)
          return alloca.emitOpError() << "makes a variable of more than " << maximumVariableBytes
                                      << " bytes, which is more than a stack holds; use 'svm.block'";
    } else if (auto table = dyn_cast<memref::GlobalOp>(op)) {
      return constantTable(table);
    } else if (isa<memref::GetGlobalOp>(op)) {
      if (!op->getParentOfType<KernelOp>() ||
          !llvm::all_of(op->getUsers(), llvm::IsaPred<memref::LoadOp, affine::AffineLoadOp>))
        return op->emitOpError(
            "is used in another way than by loads in a kernel, which is all that a constant table is "
            "for");
    } else if (auto forget = dyn_cast<memref::CastOp>(op)) {
      // A cast to static extents or strides would be a promise that nobody checks.
      if (!isView(forget.getType()))
        return forget.emitOpError() << "gives a " << forget.getType() << "; casts go to the type of views";
    } else if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      if (!isView(view.getType()) && !isSpacedView(view.getType()))
        return view.emitOpError() << "gives a " << view.getType() << "; views have the type "
                                  << viewType(view.getType().getRank(), view.getType().getElementType());
    } else if (auto shaped = dyn_cast<memref::ReinterpretCastOp>(op)) {
      auto from = dyn_cast<MemRefType>(shaped.getSource().getType());
      const bool isFlat = from && from == viewType(1, from.getElementType()) && isView(shaped.getType());
      const bool becomesFlat = from && isView(from) && op->getParentOfType<KernelOp>() &&
                               shaped.getType() == viewType(1, shaped.getType().getElementType());
      if (!isFlat && !becomesFlat)
        return shaped.emitOpError() << "takes a " << shaped.getSource().getType() << " as a " << shaped.getType()
                                    << "; a view of one dimension can be taken as one of several, and in a kernel one "
                                       "of several as one of one";
    } else if (auto dim = dyn_cast<memref::DimOp>(op)) {
      std::optional<int64_t> dimension = dim.getConstantIndex();
      if (!dimension || *dimension < 0 || *dimension >= cast<MemRefType>(dim.getSource().getType()).getRank())
        return dim.emitOpError("asks for a dimension that is no constant, or that the block does not have");
    } else if (auto span = dyn_cast<SpanOp>(op)) {
      if (std::optional<int64_t> count = span.getInstances() ? getConstantIntValue(span.getInstances()) : std::nullopt;
          count && *count < 0)
        return span.emitOpError() << "is of " << *count << " instances; there are 0 or more";
    } else if (isa<BarrierOp, AtomicOp>(op) && !op->getParentOfType<KernelOp>()) {
      return op->emitOpError("stands outside of kernels, which run on instances");
    } else if (isa<BarrierOp>(op)) {
      for (Operation* up = op->getParentOp(); up; up = up->getParentOp())
        if (isa<scf::ForOp>(up) && SvmDialect::unorderedAttr.isOn(up))
          return op->emitOpError("waits for other iterations of an unordered loop, which are no instances");
    } else if (auto move = dyn_cast<MoveOp>(op)) {
      if (move.getToken() && !isa<TokenType>(move.getToken().getType()))
        return move.emitOpError("gives something other than a token");
    } else if (auto loop = dyn_cast<ParallelOp>(op)) {
      if (loop.getCombiners())
        for (auto [combiner, target] : llvm::zip(loop.getCombiners()->getAsRange<CombinerAttr>(), loop.getReductions()))
          if (failed(combines(loop, combiner, target.getType())))
            return failure();
    } else if (auto call = dyn_cast<func::CallOp>(op); call && op->getParentOfType<KernelOp>()) {
      auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
      if (!callee || !callee.isExternal())
        return call.emitOpError() << "calls '" << call.getCallee()
                                  << "' from a kernel; kernels call declared functions only";
    } else if (auto source = dyn_cast<KernelOp>(op); source && source.getLlvm()) {
      const SymbolRefAttr body = *source.getLlvm();
      if (body.getNestedReferences().size() != 1)
        return source.emitOpError() << "has its body in '" << body
                                    << "'; it is named by its source and itself: @source::@function";
      auto from = symbols_.lookup<LLVMSourceOp>(body.getRootReference());
      if (!from)
        return source.emitOpError() << "has its body in '" << body.getRootReference().getValue()
                                    << "', which is no 'svm.llvm_source' of this program";
      if (!defined_[from].contains(body.getLeafReference().getValue()))
        return source.emitOpError() << "has its body in '" << body << "', and that source defines no such function";
    }
    return success();
  }

  LogicalResult combines(ParallelOp loop, CombinerAttr combiner, Type target) {
    if (combiner.getProcessor() || combiner.getMemory())
      return loop.emitOpError("says where its combiner runs; in a logical program nothing is placed yet");
    auto function = symbols_.lookup<FunctionOpInterface>(combiner.getFunction().getValue());
    if (!function || !isView(target))
      return loop.emitOpError() << "combines with '" << combiner.getFunction().getValue()
                                << "', which is no kernel or function of this program";
    auto types = function.getArgumentTypes();
    if (types.size() != 2 || types[0] != target || types[1] != target || function.getNumResults())
      return loop.emitOpError() << "combines blocks of type " << target << " with '"
                                << combiner.getFunction().getValue() << "', which does not take two of them";
    return success();
  }

  LogicalResult signature(func::FuncOp function) {
    if (function.isExternal())
      return external(function);
    for (Type type : function.getResultTypes())
      if (!isScalar(type))
        return function.emitOpError() << "returns a " << type << "; functions return scalars";
    for (Type type : function.getArgumentTypes())
      if (isa<TokenType>(type))
        return function.emitOpError("takes a token; tokens stay in the function that makes them");
    return SvmDialect::entryAttr.isOn(function) ? entry(function) : success();
  }

  /// A declaration is a C function that an LLVM source of the program defines.
  LogicalResult external(func::FuncOp function) {
    if (!visible_.contains(function.getName()))
      return function.emitOpError("has no body; what a program calls is part of it, or in an LLVM source of it");
    if (!function.isPrivate() || SvmDialect::entryAttr.isOn(function))
      return function.emitOpError("is declared and seen from outside; a declaration is private and no entry point");
    if (function.getNumResults() > 1 || !llvm::all_of(function.getArgumentTypes(), isPlainScalar) ||
        !llvm::all_of(function.getResultTypes(), isPlainScalar))
      return function.emitOpError("takes or gives other than C's scalars; declared functions take values of type i1, "
                                  "i32, i64, f32 and f64, and give one at most");
    return success();
  }

  LogicalResult entry(func::FuncOp function) {
    if (function.getNumResults())
      return function.emitOpError("is an entry point and returns a value; give it a block argument that it writes");
    llvm::StringSet<> names;
    for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
      if (!isView(type) && !(isScalar(type) && isElement(type)))
        return function.emitOpError() << "is an entry point and takes a " << type << " as argument " << position
                                      << "; entry points take scalars and blocks of the type of views";
      StringAttr name = SvmDialect::nameAttr.of(function, position);
      if (name && (name.getValue().empty() || !names.insert(name.getValue()).second))
        return function.emitOpError() << "has an argument " << position << " whose '" << SvmDialect::nameAttr
                                      << "' is empty, no string, or another argument's";
    }
    ArrayAttr sizes = SvmDialect::sizesAttr.of(function), extents = SvmDialect::extentsAttr.of(function);
    llvm::StringSet<> sizeNames;
    if (sizes && !llvm::all_of(sizes.getAsRange<StringAttr>(),
                               [&](StringAttr size) { return sizeNames.insert(size.getValue()).second; }))
      return function.emitOpError() << "has '" << SvmDialect::sizesAttr << "' that are no list of different names";
    for (const auto& size : sizeNames)
      if (const StringRef problem = problemOfName(size.getKey()); !problem.empty())
        return function.emitOpError() << "has a name in '" << SvmDialect::sizesAttr << "' that " << problem;
    if (!extents)
      return success();
    if (extents.size() != function.getNumArguments())
      return function.emitOpError() << "has '" << SvmDialect::extentsAttr
                                    << "' that are no list of one affine map an argument";
    for (auto [position, extent, type] : llvm::enumerate(extents, function.getArgumentTypes())) {
      auto map = cast<AffineMapAttr>(extent);
      auto block = dyn_cast<MemRefType>(type);
      if (map.getValue().getNumDims() || map.getValue().getNumSymbols() > sizeNames.size() ||
          map.getValue().getNumResults() != (block ? block.getRank() : 0))
        return function.emitOpError() << "states extents of argument " << position
                                      << " that are not an affine map of the entry's sizes with one result a dimension";
      if (!llvm::all_of(map.getValue().getResults(), [](AffineExpr each) { return each.isPureAffine(); }))
        return function.emitOpError()
               << "states extents of argument " << position
               << " that are products of sizes, or divided by one; give these a size of their own";
    }
    return success();
  }

  SymbolTable symbols_;
  llvm::DenseMap<Operation*, llvm::StringSet<>> defined_; // by source: the functions
  llvm::StringSet<> visible_;                             // those of them that are seen from outside
};

} // namespace

LogicalResult verifyLogical(ModuleOp program) {
  return success(succeeded(LogicalVerifier(program).module(program)) && succeeded(verifyAccess(program)));
}

} // namespace strata::svm

// The way from a scheduled program to LLVM IR, step by step.
#include "compiler/target/host/lower.h"

#include "compiler/ir/attributes.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/llvm_source.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/passes.h"
#include "compiler/kernel/convention.h"
#include "compiler/kernel/prefetch.h"
#include "compiler/kernel/tiles.h"
#include "compiler/target/host/closures.h"
#include "compiler/target/host/engine.h"
#include "compiler/target/host/extremes.h"
#include "compiler/target/host/lane_calls.h"
#include "compiler/target/host/parts.h"
#include "compiler/target/host/storage.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Rewrite/PatternApplicator.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Linker/Linker.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

STRATA_DIAGNOSTIC(linkFailed, Error, "host-llvm-link", "the LLVM IR of '{0}' does not link with the program: {1}");

namespace {

struct RecordPattern : ConvertOpToLLVMPattern<RecordOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(RecordOp op, OpAdaptor adaptor, ConversionPatternRewriter& rewriter) const override {
    Value value = rewriter.create<LLVM::UndefOp>(op.getLoc(), typeConverter->convertType(op.getType()));
    for (auto [position, field] : llvm::enumerate(adaptor.getFields()))
      value = rewriter.create<LLVM::InsertValueOp>(op.getLoc(), value, field,
                                                   ArrayRef<int64_t>{static_cast<int64_t>(position)});
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct FieldPattern : ConvertOpToLLVMPattern<FieldOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(FieldOp op, OpAdaptor adaptor, ConversionPatternRewriter& rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ExtractValueOp>(op, adaptor.getRecord(),
                                                      ArrayRef<int64_t>{static_cast<int64_t>(op.getField())});
    return success();
  }
};

struct WithFieldPattern : ConvertOpToLLVMPattern<WithFieldOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(WithFieldOp op, OpAdaptor adaptor, ConversionPatternRewriter& rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::InsertValueOp>(op, adaptor.getRecord(), adaptor.getValue(),
                                                     ArrayRef<int64_t>{static_cast<int64_t>(op.getField())});
    return success();
  }
};

/// The same memory, described in elements of another type.
struct FieldsPattern : ConvertOpToLLVMPattern<FieldsOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(FieldsOp op, OpAdaptor adaptor, ConversionPatternRewriter& rewriter) const override {
    const Location loc = op.getLoc();
    MemRefDescriptor from(adaptor.getBlock());
    auto to = MemRefDescriptor::undef(rewriter, loc, typeConverter->convertType(op.getType()));
    const auto [begin, field] = *FieldsOp::placeOf(op.getBlock().getType().getElementType(), op.getPath());
    const uint64_t bytes = RecordType::sizeInBytes(field);
    Value factor = createIndexAttrConstant(
        rewriter, loc, getIndexType(),
        static_cast<int64_t>(RecordType::sizeInBytes(op.getBlock().getType().getElementType()) / bytes));
    to.setAllocatedPtr(rewriter, loc, from.allocatedPtr(rewriter, loc));
    to.setAlignedPtr(rewriter, loc, from.alignedPtr(rewriter, loc));
    Value more = createIndexAttrConstant(rewriter, loc, getIndexType(), static_cast<int64_t>(begin / bytes));
    Value records = rewriter.create<LLVM::MulOp>(loc, from.offset(rewriter, loc), factor);
    to.setOffset(rewriter, loc, rewriter.create<LLVM::AddOp>(loc, records, more));
    for (unsigned dimension = 0; dimension < op.getType().getRank(); ++dimension) {
      to.setSize(rewriter, loc, dimension, from.size(rewriter, loc, dimension));
      to.setStride(rewriter, loc, dimension,
                   rewriter.create<LLVM::MulOp>(loc, from.stride(rewriter, loc, dimension), factor));
    }
    rewriter.replaceOp(op, Value(to));
    return success();
  }
};

/// Everything that is left becomes the LLVM dialect.
struct ToLlvmPass : PassWrapper<ToLlvmPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ToLlvmPass)

  void getDependentDialects(DialectRegistry& registry) const override { registry.insert<LLVM::LLVMDialect>(); }

  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    LLVMTypeConverter converter(&getContext(), options);
    kernel::addTypeConversions(converter);
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    patterns.add<RecordPattern, FieldPattern, WithFieldPattern, FieldsPattern>(converter);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp, LLVMSourceOp, UnrealizedConversionCastOp>();
    if (failed(applyFullConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

/// Loops and conditions become branches. From the last to the first, so that each cuts off a short end of its block: in
/// the order of the program, a block of many would be moved once for each.
struct ScfToBranchesPass : PassWrapper<ScfToBranchesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScfToBranchesPass)

  void getDependentDialects(DialectRegistry& registry) const override { registry.insert<cf::ControlFlowDialect>(); }

  struct Rewriter : PatternRewriter {
    explicit Rewriter(MLIRContext* context) : PatternRewriter(context) {}
  };

  /// By itself, since MLIR's pattern looks at the condition after it has been replaced.
  static void lowerWhile(scf::WhileOp loop, Rewriter& rewriter) {
    Location loc = loop.getLoc();
    Block* head = loop->getBlock();
    Block* rest = rewriter.splitBlock(head, loop->getIterator());
    Block *before = &loop.getBefore().front(), *after = &loop.getAfter().front();
    auto condition = cast<scf::ConditionOp>(before->getTerminator());
    auto yield = cast<scf::YieldOp>(after->getTerminator());
    SmallVector<Value> given(condition.getArgs());
    rewriter.inlineRegionBefore(loop.getBefore(), rest);
    rewriter.inlineRegionBefore(loop.getAfter(), rest);
    rewriter.setInsertionPointToEnd(head);
    rewriter.create<cf::BranchOp>(loc, before, loop.getInits());
    rewriter.setInsertionPoint(condition);
    rewriter.create<cf::CondBranchOp>(loc, condition.getCondition(), after, given, rest, ValueRange());
    rewriter.eraseOp(condition);
    rewriter.setInsertionPoint(yield);
    rewriter.create<cf::BranchOp>(loc, before, yield.getOperands());
    rewriter.eraseOp(yield);
    rewriter.replaceOp(loop, given);
  }

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateSCFToControlFlowConversionPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    SmallVector<Operation*> operations;
    getOperation().walk([&](Operation* op) {
      if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op))
        operations.push_back(op);
    });
    Rewriter rewriter(&getContext());
    for (Operation* op : llvm::reverse(operations)) {
      rewriter.setInsertionPoint(op);
      if (auto loop = dyn_cast<scf::WhileOp>(op))
        lowerWhile(loop, rewriter);
      else if (failed(applicator.matchAndRewrite(op, rewriter)))
        return signalPassFailure();
    }
  }
};

/// Functions that LLVM has no intrinsic for become calls of the C library. The others must not: a fused multiply-add is
/// an instruction.
struct LibraryCallsPass : PassWrapper<LibraryCallsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LibraryCallsPass)

  void getDependentDialects(DialectRegistry& registry) const override {
    registry.insert<func::FuncDialect, LLVM::LLVMDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    callLaneFunctions(getOperation());
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([](Operation*) { return true; });
    target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::Atan2Op,
                        math::AtanhOp, math::CbrtOp, math::CoshOp, math::ErfOp, math::ExpM1Op, math::Log1pOp,
                        math::SinhOp, math::TanOp, math::TanhOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};

std::unique_ptr<Pass> createHostToLlvmPass() {
  return makePass<ToLlvmPass>(passes::HostToLlvm);
}
std::unique_ptr<Pass> createHostScfToBranchesPass() {
  return makePass<ScfToBranchesPass>(passes::HostScfToBranches);
}
std::unique_ptr<Pass> createHostLibraryCallsPass() {
  return makePass<LibraryCallsPass>(passes::HostLibraryCalls);
}

/// The functions by which entry points are called with packed arguments.
void addPackedEntries(ModuleOp program) {
  SmallVector<func::FuncOp> entries;
  for (auto function : program.getOps<func::FuncOp>())
    if (SvmDialect::entryAttr.isOn(function))
      entries.push_back(function);
  auto pointer = LLVM::LLVMPointerType::get(program.getContext());
  for (func::FuncOp entry : entries) {
    OpBuilder builder(entry);
    Location loc = entry.getLoc();
    auto packed = builder.create<func::FuncOp>(loc, target::packedSymbol(entry.getName()),
                                               builder.getFunctionType({pointer}, {}));
    builder.setInsertionPointToStart(packed.addEntryBlock());
    Value list = packed.getArgument(0);
    SmallVector<Value> arguments;
    auto load = [&](Value base, Type type, int32_t word) {
      Value at = builder.create<LLVM::GEPOp>(loc, pointer, pointer, base, ArrayRef<LLVM::GEPArg>{word});
      return builder.create<LLVM::LoadOp>(loc, type, at);
    };
    auto index = [&](Value base, int32_t word) {
      Value raw = load(base, builder.getI64Type(), word);
      return builder.create<UnrealizedConversionCastOp>(loc, builder.getIndexType(), raw).getResult(0);
    };
    for (auto [position, type] : llvm::enumerate(entry.getArgumentTypes())) {
      Value at = load(list, pointer, static_cast<int32_t>(position));
      if (auto block = dyn_cast<MemRefType>(type)) {
        SmallVector<Value> extents, strides;
        int32_t rank = static_cast<int32_t>(block.getRank());
        for (int32_t dimension = 0; dimension < rank; ++dimension) {
          extents.push_back(index(at, 1 + dimension));
          strides.push_back(index(at, 1 + rank + dimension));
        }
        arguments.push_back(kernel::describe(builder, loc, block, load(at, pointer, 0), extents, strides));
      } else {
        Value scalar = kernel::describe(builder, loc, MemRefType::get({}, type), at, {}, {});
        arguments.push_back(builder.create<memref::LoadOp>(loc, scalar));
      }
    }
    builder.create<func::CallOp>(loc, entry.getName(), entry.getResultTypes(), arguments);
    builder.create<func::ReturnOp>(loc);
    entry.setPrivate();
    entry->removeAttr(SvmDialect::entryAttr);
  }
}

/// Declared functions are C's: a _Bool fills its register with zeros.
void followCConvention(ModuleOp program) {
  auto unit = UnitAttr::get(program.getContext());
  for (auto function : program.getOps<func::FuncOp>()) {
    if (!function.isExternal())
      continue;
    for (auto [position, type] : llvm::enumerate(function.getArgumentTypes()))
      if (type.isInteger(1))
        function.setArgAttr(position, LLVM::LLVMDialect::getZExtAttrName(), unit);
    for (auto [position, type] : llvm::enumerate(function.getResultTypes()))
      if (type.isInteger(1))
        function.setResultAttr(position, LLVM::LLVMDialect::getZExtAttrName(), unit);
  }
}

/// What a call that is to stay a call calls is inlined nowhere.
void keepDynamicCalls(ModuleOp program) {
  auto never = Builder(program.getContext()).getStrArrayAttr({"noinline"});
  program.walk([&](func::CallOp call) {
    if (!call->removeAttr(SvmDialect::dynamicAttr))
      return;
    if (auto callee = program.lookupSymbol<func::FuncOp>(call.getCallee()))
      callee->setAttr("passthrough", never);
  });
}

/// LLVM neither unrolls nor multiplies the loops of what is executed rarely.
void keepRareCodeSmall(ModuleOp program) {
  Builder builder(program.getContext());
  for (auto function : program.getOps<func::FuncOp>()) {
    if (!SvmDialect::rareAttr.isOn(function))
      continue;
    SmallVector<Attribute> words{builder.getStringAttr("optsize"), builder.getStringAttr("cold")};
    if (auto others = function->getAttrOfType<ArrayAttr>("passthrough"))
      llvm::append_range(words, others);
    function->setAttr("passthrough", builder.getArrayAttr(words));
  }
}

/// An entry point's output comes out when it has ended.
void addPrinting(ModuleOp program) {
  if (!program.walk([](PrintOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return;
  RuntimeCalls calls(program);
  for (auto function : program.getOps<func::FuncOp>()) {
    if (!SvmDialect::entryAttr.isOn(function))
      continue;
    OpBuilder builder(program.getContext());
    builder.setInsertionPointToStart(&function.getBody().front());
    calls.call(builder, function.getLoc(), "strata_print_begin", {}, {});
    builder.setInsertionPoint(function.getBody().front().getTerminator());
    calls.call(builder, function.getLoc(), "strata_print_end", {}, {});
  }
}

} // namespace

/// Whether a program holds one of the operations that a conversion is there for: each conversion looks at everything.
template <typename... Operations>
static bool holds(ModuleOp program) {
  return program
      .walk([](Operation* op) { return isa<Operations...>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// The same for any operation of a dialect.
template <typename Dialect>
static bool holdsDialect(ModuleOp program) {
  return program
      .walk([](Operation* op) {
        return isa<Dialect>(op->getDialect()) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Functions become LLVM's, which knows nothing of the dialect's attributes.
static void dropAttributesOfFunctions(ModuleOp program) {
  auto isDialects = [](NamedAttribute attribute) { return isa_and_nonnull<SvmDialect>(attribute.getNameDialect()); };
  for (auto function : program.getOps<FunctionOpInterface>()) {
    for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
      if (isDialects(attribute))
        function->removeDiscardableAttr(attribute.getName());
    for (unsigned argument = 0; argument < function.getNumArguments(); ++argument)
      for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(argument)))
        if (isDialects(attribute))
          function.removeArgAttr(argument, attribute.getName());
  }
}

void registerPasses() {
#define HOST_PASS(identifier, ...) mlir::registerPass(create##identifier##Pass);
#include "compiler/ir/passes.def"
}

bool lowerToLlvmDialect(ModuleOp program, const Machine& machine, const machine::Figures& figures,
                        llvm::function_ref<void(PassManager&)> prepare, const LoweringOptions& options) {
  program.getContext()->loadDialect<LLVM::LLVMDialect, cf::ControlFlowDialect>();
  setStage(program, Stage::Lowering);
  // While kernels say what is a loop and what overlaps nothing. Loops that prefetch have no vector form.
  PassManager loops(program.getContext());
  prepare(loops);
  loops.nest<KernelOp>().addPass(kernel::createTileLoopsPassFor(figures, options.verifies));
  loops.nest<KernelOp>().addPass(kernel::createPrefetchRowsPassFor(figures));
  if (failed(loops.run(program)))
    return false;
  if (options.paths)
    *options.paths = kernel::loopPathsOf(program);
  // Kernels first: runs become calls, and what is left of the dialect is control and storage.
  followCConvention(program);
  addPrinting(program);
  callParts({program, machine, options.parts});
  kernel::lowerKernels(program);
  holdTokens(program);
  addPackedEntries(program);
  nameIndexedMoves(program);
  // Parts before storage: a part's blocks are given back at its own end.
  lowerStorage(program, machine, outlineParts(program, machine), options.callsCarryIds);
  keepDynamicCalls(program);
  keepRareCodeSmall(program);
  dropAttributesOfFunctions(program);
  auto run = [&](std::initializer_list<std::unique_ptr<Pass> (*)()> list) {
    PassManager passes(program.getContext());
    prepare(passes);
    for (auto make : list)
      passes.addPass(make());
    return succeeded(passes.run(program));
  };
  // Views become arithmetic on base, extents and strides; that arithmetic is affine until it is lowered.
  // MLIR's canonicaliser has no part in it: for whatever it changes it looks at all that is around it again, which in
  // deep nests takes longer than all else, and what it would fold LLVM folds.
  if (!run({svm::createCommonSubexpressionsPass, memref::createExpandStridedMetadataPass}))
    return false;
  // What the operations turn into has no place for marks.
  dropStrays(program, Stage::Lowering);
  if (holdsDialect<affine::AffineDialect>(program) && !run({createLowerAffinePass}))
    return false;
  expandExtremes(program);
  if (holds<arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(program) &&
      !run({[] { return arith::createArithExpandOpsPass(); }}))
    return false;
  if (!run({createHostScfToBranchesPass}))
    return false;
  if (holdsDialect<math::MathDialect>(program) && !run({createHostLibraryCallsPass}))
    return false;
  return run({createHostToLlvmPass, createReconcileUnrealizedCastsPass, createVerifyClosuresPass}) &&
         succeeded(verify(program));
}

std::unique_ptr<llvm::Module> translate(ModuleOp program, llvm::LLVMContext& context, DiagnosticEngine& diagnostics) {
  SmallVector<LLVMSourceOp> sources(program.getOps<LLVMSourceOp>());
  std::vector<std::unique_ptr<llvm::Module>> modules;
  std::map<std::string, Location> places;
  LlvmErrors errors(context);
  for (LLVMSourceOp source : sources) {
    std::string reason;
    auto module = readLlvmSource(source, context, reason);
    if (!module) {
      diagnostics.report(linkFailed, sourceLocation(diagnostics.sources(), source.getLoc()), source.getSymName().str(),
                         reason);
      return nullptr;
    }
    places.insert({source.getSymName().str(), source.getLoc()});
    modules.push_back(std::move(module));
    source.erase();
  }
  registerBuiltinDialectTranslation(*program.getContext());
  registerLLVMDialectTranslation(*program.getContext());
  auto result = translateModuleToLLVMIR(program, context, "strata");
  if (!result)
    return nullptr;
  // Code of C and C++ says itself what may throw.
  for (llvm::Function& function : *result)
    if (!function.isDeclaration())
      function.addFnAttr(llvm::Attribute::NoUnwind);
  // A definition that is linked in does not take over what its declaration says.
  std::vector<std::string> neverInlined;
  for (llvm::Function& function : *result)
    if (function.isDeclaration() && function.hasFnAttribute(llvm::Attribute::NoInline))
      neverInlined.push_back(function.getName().str());
  for (auto& module : modules) {
    std::string name = module->getName().str();
    module->setDataLayout(result->getDataLayout());
    module->setTargetTriple(result->getTargetTriple());
    // A kernel's function takes what the convention passes: LLVM's linker would not mind another type.
    std::string reason;
    for (llvm::Function& called : *result)
      if (llvm::Function* given = called.isDeclaration() ? module->getFunction(called.getName()) : nullptr;
          given && given->getFunctionType() != called.getFunctionType()) {
        llvm::raw_string_ostream stream(reason);
        stream << "'" << called.getName() << "' is called as " << *called.getFunctionType() << " and is "
               << *given->getFunctionType();
        break;
      }
    if (!reason.empty() || llvm::Linker::linkModules(*result, std::move(module))) {
      auto place = places.find(name);
      diagnostics.report(
          linkFailed, place == places.end() ? strata::Location() : sourceLocation(diagnostics.sources(), place->second),
          name, reason.empty() ? errors.text() : reason);
      return nullptr;
    }
  }
  for (const std::string& name : neverInlined)
    if (llvm::Function* function = result->getFunction(name))
      function->addFnAttr(llvm::Attribute::NoInline);
  // Nothing but the packed entry points and what C code calls is seen from outside; the rest may be inlined and
  // dropped.
  for (llvm::Function& function : *result)
    if (!function.isDeclaration() && !function.getName().starts_with(target::packedSymbol("")))
      hide(function);
  return result;
}

void hide(llvm::Function& function) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setVisibility(llvm::GlobalValue::DefaultVisibility);
  function.setComdat(nullptr);
}

} // namespace strata::host

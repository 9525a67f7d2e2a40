// One kernel at a time: its graph, its new arguments with what runs give for them, its body. See extract_equations.h.
#include "compiler/equations/extract/extract_equations.h"

#include "compiler/equations/dialect/system_of.h"
#include "compiler/equations/extract/extract.h"
#include "compiler/equations/extract/ranges.h"
#include "compiler/equations/polyhedra.h"
#include "compiler/ir/passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace strata::equations {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Value;

namespace {

class Rewriter {
public:
  Rewriter(svm::KernelOp kernel, std::vector<svm::RunOp> runs, Extraction made)
      : kernel_(kernel), runs_(std::move(runs)), made_(std::move(made)), builder_(kernel.getContext()) {}

  void run(const SourceManager& sources) {
    const unsigned before = kernel_.getNumArguments();
    for (svm::RunOp run : runs_)
      give(run);
    for (const Extraction::Pair& pair : made_.pairs) {
      const unsigned argument = made_.inputs[pair.input];
      insert(kernel_.getArgument(argument).getType(), kernel_.argumentName(argument) + ".before", svm::Access::Read);
    }
    for (size_t i = 0; i < made_.parameters.size(); ++i)
      insert(builder_.getIndexType(), made_.graph.parameters[i], {});
    for (size_t i = 0; i < made_.outputs.size(); ++i)
      svm::SvmDialect::accessAttr.set(kernel_, made_.outputs[i],
                                      made_.graph.outputs[i].isPartial ? svm::Access::ReadWrite : svm::Access::Write);
    stateExtents(before);
    makeBody(before, sources);
  }

private:
  void insert(mlir::Type type, const std::string& name, std::optional<svm::Access> access) {
    llvm::SmallVector<mlir::NamedAttribute> attributes = {
        builder_.getNamedAttr(svm::SvmDialect::nameAttr, builder_.getStringAttr(name))};
    if (access)
      attributes.push_back(svm::SvmDialect::accessAttr.with(builder_.getContext(), *access));
    kernel_.insertArgument(kernel_.getNumArguments(), type, builder_.getDictionaryAttr(attributes), kernel_.getLoc());
  }

  mlir::AffineMapAttr mapOf(const Array& array) {
    llvm::SmallVector<mlir::AffineExpr> results;
    for (const Affine& extent : array.extents) {
      mlir::AffineExpr sum = builder_.getAffineConstantExpr(extent.constant);
      for (unsigned i = 0; i < extent.parameters.size(); ++i)
        sum = sum + builder_.getAffineSymbolExpr(i) * extent.parameters[i];
      results.push_back(sum);
    }
    return mlir::AffineMapAttr::get(
        mlir::AffineMap::get(0, static_cast<unsigned>(made_.graph.parameters.size()), results, builder_.getContext()));
  }

  /// Equations name the extents of an array by the parameters, in their order.
  void stateExtents(unsigned before) {
    const mlir::AffineMapAttr none = mapOf({});
    llvm::SmallVector<mlir::Attribute> maps(kernel_.getNumArguments(), none);
    for (size_t i = 0; i < made_.inputs.size(); ++i)
      maps[made_.inputs[i]] = mapOf(made_.graph.inputs[i]);
    for (size_t i = 0; i < made_.outputs.size(); ++i)
      maps[made_.outputs[i]] = mapOf(made_.graph.outputs[i]);
    for (size_t i = 0; i < made_.pairs.size(); ++i)
      maps[before + i] = mapOf(made_.graph.inputs[made_.pairs[i].input]);
    kernel_.setExtentsAttr(builder_.getArrayAttr(maps));
  }

  void makeBody(unsigned before, const SourceManager& sources) {
    mlir::Block& body = kernel_.getBody().front();
    for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(body))) {
      op.dropAllUses();
      op.erase();
    }
    llvm::SmallVector<Value> inputs, outputs, parameters;
    for (const unsigned each : made_.inputs)
      inputs.push_back(body.getArgument(each));
    for (const unsigned each : made_.outputs)
      outputs.push_back(body.getArgument(each));
    for (size_t i = 0; i < made_.pairs.size(); ++i)
      inputs[made_.pairs[i].input] = body.getArgument(before + static_cast<unsigned>(i));
    for (size_t i = 0; i < made_.parameters.size(); ++i)
      parameters.push_back(body.getArgument(before + static_cast<unsigned>(made_.pairs.size() + i)));
    builder_.setInsertionPointToStart(&body);
    svm::EquationsOp equations = build(builder_, systemOf(made_.graph), inputs, outputs, parameters, sources);
    builder_.create<svm::ReturnOp>(equations.getLoc());
  }

  // ---- runs ----

  void give(svm::RunOp run) {
    mlir::OpBuilder builder(run);
    const mlir::Location place = run.getLoc();
    const llvm::SmallVector<Value> given(run.getArguments());
    llvm::SmallVector<Value> more, sizes;
    for (const Extraction::Pair& pair : made_.pairs)
      more.push_back(copyOf(builder, place, given[made_.inputs[pair.input]]));
    for (const KernelSize& size : made_.parameters) {
      const Value from = given[size.argument];
      if (size.dimension)
        sizes.push_back(builder.create<memref::DimOp>(place, from, static_cast<int64_t>(*size.dimension)));
      else if (from.getType().isIndex())
        sizes.push_back(from);
      else
        sizes.push_back(builder.create<arith::IndexCastOp>(place, builder.getIndexType(), from));
    }
    for (const Constraint& each : made_.assumed)
      check(builder, place, each, sizes);
    more.append(sizes);
    run.getArgumentsMutable().append(more);
  }

  Value copyOf(mlir::OpBuilder& builder, mlir::Location place, Value original) {
    const auto type = mlir::cast<mlir::MemRefType>(original.getType());
    llvm::SmallVector<Value> extents;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension)
      extents.push_back(builder.create<memref::DimOp>(place, original, dimension));
    const Value block = builder.create<svm::BlockOp>(
        place, svm::viewType(static_cast<unsigned>(type.getRank()), type.getElementType()), extents,
        mlir::DenseI64ArrayAttr(), builder.getStringAttr(kernel_.getName().str() + ".before"), mlir::IntegerAttr());
    builder.create<svm::MoveOp>(place, mlir::Type(), original, block, mlir::ValueRange());
    return block;
  }

  /// Equations hold for sizes with which no access leaves its array.
  void check(mlir::OpBuilder& builder, mlir::Location place, const Constraint& constraint,
             llvm::ArrayRef<Value> sizes) {
    const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
    Value sum = constant(constraint.value.constant);
    for (size_t i = 0; i < constraint.value.parameters.size(); ++i)
      if (const int64_t factor = constraint.value.parameters[i])
        sum =
            builder.create<arith::AddIOp>(place, sum, builder.create<arith::MulIOp>(place, sizes[i], constant(factor)));
    using Kind = Constraint::Kind;
    const bool isRemainder = constraint.kind == Kind::Divisible || constraint.kind == Kind::NotDivisible;
    if (isRemainder)
      sum = builder.create<arith::RemSIOp>(place, sum, constant(constraint.modulus));
    const auto predicate = constraint.kind == Kind::NotNegative    ? arith::CmpIPredicate::sge
                           : constraint.kind == Kind::NotDivisible ? arith::CmpIPredicate::ne
                                                                   : arith::CmpIPredicate::eq;
    const std::string text = equations::text(Space{{{constraint}}}, {}, made_.graph.parameters);
    builder.create<svm::CheckOp>(
        place, builder.create<arith::CmpIOp>(place, predicate, sum, constant(0)),
        builder.getStringAttr("equations-sizes"),
        builder.getStringAttr("'" + kernel_.getName().str() + "' keeps to its arrays for sizes with " + text),
        mlir::StringAttr(), mlir::ValueRange());
  }

  svm::KernelOp kernel_;
  std::vector<svm::RunOp> runs_;
  Extraction made_;
  mlir::OpBuilder builder_;
};

struct ExtractEquationsPass : mlir::PassWrapper<ExtractEquationsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExtractEquationsPass)

  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<arith::ArithDialect, mlir::math::MathDialect, memref::MemRefDialect>();
  }

  void runOnOperation() override {
    std::vector<svm::KernelOp> kernels;
    getOperation().walk([&](svm::KernelOp kernel) {
      if (kernel.isStructured())
        kernels.push_back(kernel);
    });
    for (svm::KernelOp kernel : kernels)
      convert(kernel);
  }

private:
  void convert(svm::KernelOp kernel) {
    const auto refuse = [&](const std::string& reason, mlir::Location place) {
      mlir::emitRemark(place) << "kernel '" << kernel.getName() << "' has no equations: " << reason;
    };
    std::vector<svm::RunOp> runs;
    const auto uses = mlir::SymbolTable::getSymbolUses(kernel.getOperation(), getOperation());
    if (!uses)
      return refuse("not all its uses are known", kernel.getLoc());
    for (const mlir::SymbolTable::SymbolUse& use : *uses) {
      auto run = mlir::dyn_cast<svm::RunOp>(use.getUser());
      if (!run)
        return refuse("it has other uses than runs", use.getUser()->getLoc());
      runs.push_back(run);
    }
    SourceManager sources;
    Refusal refusal;
    std::optional<Extraction> made =
        extract(kernel, sources, refusal, {knownOfRuns(kernel, getOperation()), false, {}});
    if (!made)
      return refuse(refusal.reason, refusal.location.value_or(kernel.getLoc()));
    for (svm::RunOp run : runs)
      if (run.getToken() && !made->pairs.empty())
        return refuse("it goes on beside what starts it, and needs a copy of an array", run.getLoc());
    Rewriter(kernel, std::move(runs), std::move(*made)).run(sources);
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createExtractEquationsPass() {
  return svm::makePass<ExtractEquationsPass>(svm::passes::ExtractEquations);
}

} // namespace strata::equations

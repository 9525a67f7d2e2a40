// One kernel at a time: its order, its storage, its loops, and in their bodies the equations' own operations with loads
// and stores in place of instances and elements. See lower_equations.h.
#include "compiler/equations/dialect/lower_equations.h"

#include "compiler/equations/dialect/graph_of.h"
#include "compiler/equations/dialect/loops.h"
#include "compiler/equations/dialect/storage.h"
#include "compiler/ir/passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace strata::equations {

namespace arith = mlir::arith;
namespace memref = mlir::memref;
using mlir::Value;

namespace {

/// A graph whose nodes are whole equations: what of other equations each uses.
Graph ofEquations(const KernelGraph& kernel, svm::EquationsOp equations, std::vector<svm::EquationOp>& roots) {
  Graph graph = kernel.graph;
  graph.nodes.clear();
  llvm::StringMap<uint32_t> variables;
  uint32_t named = 0;
  for (svm::EquationOp equation : equations.getBody().getOps<svm::EquationOp>())
    if (auto name = equation.getVariable(); name && !variables.contains(*name))
      variables[*name] = named++; // graphOf numbers these first, in this order
  graph.variables.resize(named);
  size_t at = 0;
  for (svm::EquationOp equation : equations.getBody().getOps<svm::EquationOp>()) {
    // The last node of an equation is the one that defines; it has the equation's target and domain.
    while (
        at + 1 < kernel.graph.nodes.size() && kernel.origins[at] != equation &&
        !(kernel.origins[at]->getResult(0) == mlir::cast<svm::DefineOp>(equation.getBody().front().back()).getValue()))
      ++at;
    Node node = kernel.graph.nodes[at++];
    node.operands.clear();
    equation.walk(
        [&](svm::UseOp use) { node.operands.push_back(Use{variables[use.getVariable()], use.getDistance().vec()}); });
    graph.nodes.push_back(std::move(node));
    roots.push_back(equation);
  }
  return graph;
}

class KernelLowering {
public:
  KernelLowering(svm::EquationsOp equations, svm::KernelOp kernel, KernelGraph made)
      : equations_(equations), kernel_(kernel), made_(std::move(made)), graph_(ofEquations(made_, equations, roots_)),
        polyhedra_(graph_.iterators.size(), graph_.parameters.size()), builder_(equations) {}

  mlir::LogicalResult run(mlir::ModuleOp module) {
    std::vector<uint32_t> stuck;
    const std::optional<std::vector<Time>> times = order(graph_, stuck);
    if (!times)
      return roots_[stuck.front()].emitError("waits for itself: no order computes every value before it is used");
    storage_ = planStorage(graph_, *times, dependences(graph_));
    const std::vector<uint32_t> kept = blocksNeeded();
    for (svm::RunOp run : runs(module))
      passBlocks(run, kept);
    makeArguments(kept);
    builder_.setInsertionPoint(equations_);
    makeCells();
    buildLoops(builder_, equations_.getLoc(), graph_, *times, polyhedra_, bindings(equations_.getParameters()),
               [&](uint32_t node, const std::vector<Value>& iterators) { equation(node, iterators); });
    equations_.erase();
    return mlir::success();
  }

private:
  static Bindings bindings(mlir::ValueRange parameters) {
    Bindings made;
    for (auto [number, value] : llvm::enumerate(parameters))
      made["p" + std::to_string(number)] = value;
    return made;
  }

  std::vector<svm::RunOp> runs(mlir::ModuleOp module) {
    std::vector<svm::RunOp> found;
    module.walk([&](svm::RunOp run) {
      if (run.getKernel() == kernel_.getName())
        found.push_back(run);
    });
    return found;
  }

  std::vector<uint32_t> blocksNeeded() const {
    std::vector<uint32_t> found;
    for (uint32_t variable = 0; variable < storage_.size(); ++variable)
      if (!storage_[variable].dimensions.empty() && !isCell(storage_[variable]))
        found.push_back(variable);
    return found;
  }
  /// Whether a few cells of fixed number do.
  static bool isCell(const Storage& storage) {
    return storage.dimensions.empty() || (storage.dimensions.size() == 1 && storage.steps > 0 && storage.steps <= 64);
  }

  isl::set definitions(uint32_t variable) const {
    isl::set all = polyhedra_.empty();
    for (const Node& node : graph_.nodes)
      if (!node.isOutput && node.target == variable)
        all = all.unite(polyhedra_.set(node.domain));
    return all.intersect(polyhedra_.context(graph_.context));
  }

  mlir::Type elementType(uint32_t variable) const {
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      if (!graph_.nodes[i].isOutput && graph_.nodes[i].target == variable)
        return mlir::cast<svm::DefineOp>(svm::EquationOp(roots_[i]).getBody().front().back()).getValue().getType();
    return {};
  }

  /// Of each of a variable's dimensions: the least iteration that defines, and how many there are, at least 1.
  std::pair<std::vector<Value>, std::vector<Value>> box(mlir::OpBuilder& builder, uint32_t variable,
                                                        const Bindings& parameters) {
    std::vector<Value> least, extents;
    const isl::set all = definitions(variable);
    const mlir::Location place = kernel_.getLoc();
    const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
    const Storage& storage = storage_[variable];
    if (all.is_empty()) { // nothing is ever kept
      least.assign(storage.dimensions.size(), constant(0));
      extents.assign(storage.dimensions.size(), constant(1));
      return {least, extents};
    }
    for (size_t i = 0; i < storage.dimensions.size(); ++i) {
      const Value first = leastOf(builder, place, all, storage.dimensions[i], false, parameters);
      least.push_back(first);
      if (i == 0 && storage.steps > 0) {
        extents.push_back(constant(storage.steps));
        continue;
      }
      const Value last = leastOf(builder, place, all, storage.dimensions[i], true, parameters);
      const Value count = builder.createOrFold<arith::AddIOp>(
          place, builder.createOrFold<arith::SubIOp>(place, last, first), constant(1));
      extents.push_back(builder.createOrFold<arith::MaxSIOp>(place, count, constant(1)));
    }
    return {least, extents};
  }

  /// Blocks in front of a run, given behind its arguments.
  void passBlocks(svm::RunOp run, const std::vector<uint32_t>& kept) {
    mlir::OpBuilder builder(run);
    llvm::SmallVector<Value> parameters;
    for (const unsigned number : made_.parameters)
      parameters.push_back(run.getArguments()[number]);
    for (const uint32_t variable : kept) {
      const auto [least, extents] = box(builder, variable, bindings(parameters));
      Value elements = builder.create<arith::ConstantIndexOp>(run.getLoc(), 1);
      for (const Value extent : extents)
        elements = builder.createOrFold<arith::MulIOp>(run.getLoc(), elements, extent);
      // A number where the sizes are constants: memories that programs manage hold what has a bound.
      llvm::APInt known;
      const bool isKnown = mlir::matchPattern(elements, mlir::m_ConstantInt(&known));
      const auto bound = isKnown ? builder.getDenseI64ArrayAttr({known.getSExtValue()}) : mlir::DenseI64ArrayAttr();
      const mlir::MemRefType type = svm::viewType(1, elementType(variable));
      const std::string label = kernel_.getName().str() + "." + graph_.variables[variable].name;
      run.getArgumentsMutable().append(builder
                                           .create<svm::BlockOp>(run.getLoc(), type, mlir::ValueRange{elements}, bound,
                                                                 builder.getStringAttr(label), mlir::IntegerAttr())
                                           .getResult());
    }
  }

  void makeArguments(const std::vector<uint32_t>& kept) {
    cells_.resize(graph_.variables.size());
    for (const uint32_t variable : kept) {
      const auto position = kernel_.getNumArguments();
      const mlir::MemRefType type = svm::viewType(1, elementType(variable));
      const mlir::DictionaryAttr attributes = builder_.getDictionaryAttr(
          {svm::SvmDialect::accessAttr.with(builder_.getContext(), svm::Access::ReadWrite),
           builder_.getNamedAttr(svm::SvmDialect::nameAttr, builder_.getStringAttr(graph_.variables[variable].name))});
      kernel_.insertArgument(position, type, attributes, kernel_.getLoc());
      cells_[variable] = kernel_.getBody().front().getArgument(position);
    }
    if (!kept.empty())
      kernel_.removeExtentsAttr(); // those of the new arguments are no sums of sizes
  }

  void makeCells() {
    const mlir::Location place = equations_.getLoc();
    for (uint32_t variable = 0; variable < storage_.size(); ++variable) {
      const mlir::Type type = elementType(variable);
      if (isCell(storage_[variable]))
        cells_[variable] = builder_.create<memref::AllocaOp>(
            place, mlir::MemRefType::get({storage_[variable].dimensions.empty() ? 1 : storage_[variable].steps}, type));
      boxes_.push_back(box(builder_, variable, bindings(equations_.getParameters())));
    }
  }

  // ---- one equation ----

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(place_, value); }

  /// Where the instance of a variable at the iteration lies.
  Value cellOf(uint32_t variable, const std::vector<Value>& iterators, llvm::ArrayRef<int64_t> distance) {
    const Storage& storage = storage_[variable];
    const auto& [least, extents] = boxes_[variable];
    Value cell = constant(0);
    if (storage.steps == 1 && storage.dimensions.size() == 1)
      return cell;
    for (size_t i = 0; i < storage.dimensions.size(); ++i) {
      const unsigned dimension = storage.dimensions[i];
      Value at = builder_.create<arith::SubIOp>(place_, iterators[dimension], least[i]);
      if (!distance.empty() && distance[dimension] != 0)
        at = builder_.create<arith::SubIOp>(place_, at, constant(distance[dimension]));
      if (i == 0 && storage.steps > 0)
        at = builder_.create<arith::RemSIOp>(place_, at, extents[i]);
      cell = i == 0
                 ? at
                 : builder_.create<arith::AddIOp>(place_, builder_.create<arith::MulIOp>(place_, cell, extents[i]), at);
    }
    return cell;
  }

  llvm::SmallVector<Value> indices(mlir::AffineMap map, const std::vector<Value>& iterators) {
    llvm::SmallVector<Value> operands(iterators.begin(), iterators.end());
    operands.append(equations_.getParameters().begin(), equations_.getParameters().end());
    llvm::SmallVector<Value> found;
    for (mlir::AffineExpr result : map.getResults())
      found.push_back(builder_.create<mlir::affine::AffineApplyOp>(
          place_, mlir::AffineMap::get(map.getNumDims(), map.getNumSymbols(), result), operands));
    return found;
  }

  uint32_t variable(llvm::StringRef name) const {
    for (uint32_t i = 0; i < graph_.variables.size(); ++i)
      if (graph_.variables[i].name == name)
        return i;
    return 0;
  }

  void equation(uint32_t number, const std::vector<Value>& iterators) {
    svm::EquationOp root = roots_[number];
    mlir::IRMapping values;
    for (mlir::Operation& op : root.getBody().front()) {
      place_ = op.getLoc();
      if (auto use = mlir::dyn_cast<svm::UseOp>(op)) {
        const uint32_t of = variable(use.getVariable());
        values.map(
            use.getValue(),
            builder_
                .create<memref::LoadOp>(place_, cells_[of], mlir::ValueRange{cellOf(of, iterators, use.getDistance())})
                .getResult());
      } else if (auto element = mlir::dyn_cast<svm::ElementOp>(op)) {
        values.map(element.getValue(),
                   builder_.create<memref::LoadOp>(place_, element.getInput(), indices(element.getIndex(), iterators))
                       .getResult());
      } else if (auto define = mlir::dyn_cast<svm::DefineOp>(op)) {
        store(root, values.lookupOrDefault(define.getValue()), iterators);
      } else {
        check(op, values);
        builder_.clone(op, values);
      }
    }
  }

  void store(svm::EquationOp root, Value value, const std::vector<Value>& iterators) {
    place_ = root.getLoc();
    if (root.getOutput()) {
      builder_.create<memref::StoreOp>(place_, value, root.getOutput(), indices(*root.getIndex(), iterators));
      return;
    }
    const uint32_t of = variable(*root.getVariable());
    builder_.create<memref::StoreOp>(place_, value, cells_[of], mlir::ValueRange{cellOf(of, iterators, {})});
  }

  void require(Value condition, const char* code, const char* message) {
    builder_.create<svm::CheckOp>(place_, condition, builder_.getStringAttr(code), builder_.getStringAttr(message),
                                  mlir::StringAttr(), mlir::ValueRange());
  }

  /// What ends a program with an error: divisions by zero, or that overflow, and numbers that an integer cannot hold.
  void check(mlir::Operation& op, const mlir::IRMapping& values) {
    const auto operand = [&](unsigned i) { return values.lookupOrDefault(op.getOperand(i)); };
    if (mlir::isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op)) {
      const Value divisor = operand(1);
      const mlir::Type type = divisor.getType();
      const auto number = [&](const llvm::APInt& value) -> Value {
        return builder_.create<arith::ConstantOp>(place_, builder_.getIntegerAttr(type, value));
      };
      const unsigned width = type.getIntOrFloatBitWidth();
      using P = arith::CmpIPredicate;
      Value fine = builder_.create<arith::CmpIOp>(place_, P::ne, divisor, number(llvm::APInt(width, 0)));
      if (mlir::isa<arith::DivSIOp, arith::RemSIOp>(op)) {
        const Value other =
            builder_.create<arith::CmpIOp>(place_, P::ne, divisor, number(llvm::APInt::getAllOnes(width)));
        const Value inside =
            builder_.create<arith::CmpIOp>(place_, P::ne, operand(0), number(llvm::APInt::getSignedMinValue(width)));
        fine = builder_.create<arith::AndIOp>(place_, fine, builder_.create<arith::OrIOp>(place_, other, inside));
      }
      require(fine, "equations-division", "a division by zero, or one that overflows");
    } else if (mlir::isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
      const bool isSigned = mlir::isa<arith::FPToSIOp>(op);
      const unsigned width = op.getResult(0).getType().getIntOrFloatBitWidth();
      const mlir::Type type = operand(0).getType();
      const auto number = [&](double value) -> Value {
        return builder_.create<arith::ConstantOp>(place_, builder_.getFloatAttr(type, value));
      };
      const double end = std::ldexp(1.0, static_cast<int>(width) - (isSigned ? 1 : 0));
      // Numbers between the least integer less one and it become it, where the type tells them apart.
      const bool isFine = type.isF64() ? width < 53 : width < 24;
      const double least = isSigned ? (isFine ? -end - 1 : -end) : -1;
      using P = arith::CmpFPredicate;
      const Value above =
          builder_.create<arith::CmpFOp>(place_, isSigned && !isFine ? P::OGE : P::OGT, operand(0), number(least));
      const Value below = builder_.create<arith::CmpFOp>(place_, P::OLT, operand(0), number(end));
      require(builder_.create<arith::AndIOp>(place_, above, below), "equations-conversion",
              "a number that an integer cannot hold");
    }
  }

  svm::EquationsOp equations_;
  svm::KernelOp kernel_;
  KernelGraph made_;
  std::vector<svm::EquationOp> roots_; // of each node
  Graph graph_;
  Polyhedra polyhedra_;
  mlir::OpBuilder builder_;
  mlir::Location place_ = equations_.getLoc();
  std::vector<Storage> storage_;
  std::vector<Value> cells_; // memory of each variable
  std::vector<std::pair<std::vector<Value>, std::vector<Value>>> boxes_;
};

struct LowerEquationsPass : mlir::PassWrapper<LowerEquationsPass, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerEquationsPass)

  void getDependentDialects(mlir::DialectRegistry& registry) const override {
    registry.insert<mlir::affine::AffineDialect, arith::ArithDialect, memref::MemRefDialect, mlir::scf::SCFDialect>();
  }

  void runOnOperation() override {
    std::vector<svm::EquationsOp> all;
    getOperation().walk([&](svm::EquationsOp equations) { all.push_back(equations); });
    for (svm::EquationsOp equations : all) {
      SourceManager sources;
      DiagnosticEngine diagnostics(sources);
      std::optional<KernelGraph> graph = graphOf(equations, diagnostics);
      auto kernel = equations->getParentOfType<svm::KernelOp>();
      if (!graph) {
        kernel.emitError() << "holds equations that do not read: " << diagnostics.all().front().message;
        return signalPassFailure();
      }
      try {
        if (mlir::failed(KernelLowering(equations, kernel, std::move(*graph)).run(getOperation())))
          return signalPassFailure();
      } catch (const isl::exception& failure) {
        kernel.emitError() << "has iterations that are more than can be computed with: " << failure.what();
        return signalPassFailure();
      }
    }
  }
};

} // namespace

std::unique_ptr<mlir::Pass> createLowerEquationsPass() {
  return svm::makePass<LowerEquationsPass>(svm::passes::LowerEquations);
}

} // namespace strata::equations

// One kernel at a time: its order, its storage, its loops, and in their bodies the equations' own operations with loads
// and stores in place of instances and elements. See lower_equations.h.
#include "compiler/equations/dialect/lower_equations.h"

#include "compiler/equations/dialect/loops.h"
#include "compiler/equations/dialect/storage.h"
#include "compiler/equations/dialect/system_of.h"
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

class KernelLowering {
public:
  /// `system` holds what the operation's equations use of each other, one for one.
  KernelLowering(svm::EquationsOp equations, svm::KernelOp kernel, System system)
      : equations_(equations), kernel_(kernel), system_(std::move(system)),
        polyhedra_(system_.iterators.size(), system_.parameters.size()), builder_(equations) {
    for (svm::EquationOp equation : equations.getBody().getOps<svm::EquationOp>())
      roots_.push_back(equation);
    for (uint32_t i = 0; i < system_.variables.size(); ++i)
      if (system_.variables[i].role == Role::Internal)
        numbers_[system_.variables[i].name] = i;
  }

  mlir::LogicalResult run(mlir::ModuleOp module) {
    const std::vector<Flow> all = flows(system_, polyhedra_);
    Circle circle;
    const std::optional<std::vector<Time>> times = order(system_, polyhedra_, all, circle);
    if (!times)
      return roots_[circle.equations.front()].emitError(
          "waits for itself: no order is found that computes every value before it is used");
    storage_ = planStorage(system_, polyhedra_, *times, all);
    const std::vector<uint32_t> kept = blocksNeeded();
    makeArguments(kept);
    builder_.setInsertionPoint(equations_);
    makeCells();
    buildLoops(builder_, equations_.getLoc(), system_, *times, polyhedra_, bindings(equations_.getParameters()), limit_,
               [&](uint32_t equation, const std::vector<Value>& iterators) { compute(equation, iterators); });
    if (limit_.isBroken())
      return kernel_.emitError("computes its iterations with numbers of more than 64 bits");
    for (svm::RunOp run : runs(module)) {
      checkSizes(run);
      passBlocks(run, kept);
    }
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
      if (!isCell(storage_[variable]))
        found.push_back(variable);
    return found;
  }
  /// Whether a few cells of fixed number do.
  static bool isCell(const Storage& storage) {
    return storage.dimensions.empty() || (storage.dimensions.size() == 1 && storage.steps > 0 && storage.steps <= 64);
  }

  /// The instances that are defined.
  isl::set definitions(uint32_t variable) const {
    const isl::set context = polyhedra_.context(system_.context);
    std::optional<isl::set> all;
    for (const Equation& equation : system_.equations) {
      if (equation.variable != variable)
        continue;
      const isl::set own = polyhedra_.set(equation.guard).intersect(context).apply(polyhedra_.map(equation.index));
      all = all ? all->unite(own) : own;
    }
    return *all; // every variable has an equation
  }

  mlir::Type elementType(uint32_t variable) const {
    for (size_t i = 0; i < roots_.size(); ++i)
      if (system_.equations[i].variable == variable)
        return mlir::cast<svm::DefineOp>(svm::EquationOp(roots_[i]).getBody().front().back()).getValue().getType();
    return {};
  }

  /// Of each of a variable's dimensions that are kept: the least number of an instance, and how many there are, at
  /// least 1.
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
      const Value first = leastOf(builder, place, all, storage.dimensions[i], false, parameters, limit_);
      least.push_back(first);
      if (i == 0 && storage.steps > 0) {
        extents.push_back(constant(storage.steps));
        continue;
      }
      const Value last = leastOf(builder, place, all, storage.dimensions[i], true, parameters, limit_);
      const Value count = builder.createOrFold<arith::AddIOp>(
          place, builder.createOrFold<arith::SubIOp>(place, last, first), constant(1));
      extents.push_back(builder.createOrFold<arith::MaxSIOp>(place, count, constant(1)));
    }
    return {least, extents};
  }

  mlir::MemRefType blockType(uint32_t variable) const {
    return svm::viewType(static_cast<unsigned>(storage_[variable].dimensions.size()), elementType(variable));
  }

  /// In front of a run: what its sizes are, so that nothing that is computed of them overflows.
  void checkSizes(svm::RunOp run) {
    mlir::OpBuilder builder(run);
    const mlir::Location place = run.getLoc();
    for (auto [number, parameter] : llvm::enumerate(equations_.getParameters())) {
      const Value given = run.getArguments()[mlir::cast<mlir::BlockArgument>(parameter).getArgNumber()];
      const Value most = builder.create<arith::ConstantIndexOp>(place, limit_.most(number));
      const Value least = builder.create<arith::ConstantIndexOp>(place, -limit_.most(number));
      using P = arith::CmpIPredicate;
      const Value fine =
          builder.createOrFold<arith::AndIOp>(place, builder.createOrFold<arith::CmpIOp>(place, P::sle, given, most),
                                              builder.createOrFold<arith::CmpIOp>(place, P::sge, given, least));
      builder.create<svm::CheckOp>(place, fine, builder.getStringAttr("equations-size"),
                                   builder.getStringAttr("'" + system_.parameters[number] +
                                                         "' is {0}; iterations are computed with 64 bits, which hold "
                                                         "them for sizes of up to {1}"),
                                   mlir::StringAttr(), mlir::ValueRange{given, most});
    }
  }

  /// Blocks in front of a run, given behind its arguments.
  void passBlocks(svm::RunOp run, const std::vector<uint32_t>& kept) {
    mlir::OpBuilder builder(run);
    llvm::SmallVector<Value> parameters;
    for (const Value parameter : equations_.getParameters())
      parameters.push_back(run.getArguments()[mlir::cast<mlir::BlockArgument>(parameter).getArgNumber()]);
    for (const uint32_t variable : kept) {
      const auto [least, extents] = box(builder, variable, bindings(parameters));
      // Numbers where the sizes are constants: memories that programs manage hold what has bounds.
      llvm::SmallVector<int64_t> known;
      for (const Value extent : extents)
        if (llvm::APInt value; mlir::matchPattern(extent, mlir::m_ConstantInt(&value)))
          known.push_back(value.getSExtValue());
      const auto bounds =
          known.size() == extents.size() ? builder.getDenseI64ArrayAttr(known) : mlir::DenseI64ArrayAttr();
      const std::string label = kernel_.getName().str() + "." + system_.variables[variable].name;
      run.getArgumentsMutable().append(builder
                                           .create<svm::BlockOp>(run.getLoc(), blockType(variable), extents, bounds,
                                                                 builder.getStringAttr(label), mlir::IntegerAttr())
                                           .getResult());
    }
  }

  void makeArguments(const std::vector<uint32_t>& kept) {
    cells_.resize(system_.variables.size());
    for (const uint32_t variable : kept) {
      const auto position = kernel_.getNumArguments();
      const mlir::DictionaryAttr attributes = builder_.getDictionaryAttr(
          {svm::SvmDialect::accessAttr.with(builder_.getContext(), svm::Access::ReadWrite),
           builder_.getNamedAttr(svm::SvmDialect::nameAttr, builder_.getStringAttr(system_.variables[variable].name))});
      kernel_.insertArgument(position, blockType(variable), attributes, kernel_.getLoc());
      cells_[variable] = kernel_.getBody().front().getArgument(position);
    }
    if (!kept.empty())
      kernel_.removeExtentsAttr(); // those of the new arguments are no sums of sizes
  }

  void makeCells() {
    const mlir::Location place = equations_.getLoc();
    boxes_.resize(storage_.size());
    for (uint32_t variable = 0; variable < storage_.size(); ++variable) {
      if (system_.variables[variable].role != Role::Internal)
        continue;
      const mlir::Type type = elementType(variable);
      if (isCell(storage_[variable]))
        cells_[variable] = builder_.create<memref::AllocaOp>(
            place, mlir::MemRefType::get({storage_[variable].dimensions.empty() ? 1 : storage_[variable].steps}, type));
      boxes_[variable] = box(builder_, variable, bindings(equations_.getParameters()));
    }
  }

  // ---- one equation ----

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(place_, value); }

  /// Where an instance of a variable lies.
  llvm::SmallVector<Value> cellOf(uint32_t variable, mlir::AffineMap index, const std::vector<Value>& iterators) {
    const Storage& storage = storage_[variable];
    const auto& [least, extents] = boxes_[variable];
    if (storage.dimensions.empty() || (storage.steps == 1 && storage.dimensions.size() == 1))
      return {constant(0)};
    const llvm::SmallVector<Value> instance = indices(index, iterators);
    llvm::SmallVector<Value> cell;
    for (size_t i = 0; i < storage.dimensions.size(); ++i) {
      cell.push_back(builder_.createOrFold<arith::SubIOp>(place_, instance[storage.dimensions[i]], least[i]));
      if (i == 0 && storage.steps > 0)
        cell[0] = builder_.createOrFold<arith::RemSIOp>(place_, cell[0], extents[0]);
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

  void compute(uint32_t number, const std::vector<Value>& iterators) {
    svm::EquationOp root = roots_[number];
    mlir::IRMapping values;
    for (mlir::Operation& op : root.getBody().front()) {
      place_ = op.getLoc();
      if (auto use = mlir::dyn_cast<svm::UseOp>(op)) {
        const uint32_t of = numbers_.at(use.getVariable().str());
        values.map(
            use.getValue(),
            builder_.create<memref::LoadOp>(place_, cells_[of], cellOf(of, use.getIndex(), iterators)).getResult());
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
    const uint32_t of = numbers_.at(root.getVariable()->str());
    builder_.create<memref::StoreOp>(place_, value, cells_[of], cellOf(of, root.instanceMap(), iterators));
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
  System system_;
  std::vector<svm::EquationOp> roots_;      // of each of its equations
  std::map<std::string, uint32_t> numbers_; // of variables
  Polyhedra polyhedra_;
  SizeLimit limit_;
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
      std::optional<System> system = usesOf(equations, diagnostics);
      auto kernel = equations->getParentOfType<svm::KernelOp>();
      if (!system) {
        kernel.emitError() << "holds equations that do not read: " << diagnostics.all().front().message;
        return signalPassFailure();
      }
      try {
        if (mlir::failed(KernelLowering(equations, kernel, std::move(*system)).run(getOperation())))
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

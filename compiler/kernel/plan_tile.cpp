// What differs between the lanes and rows of a tile, whether every operation has a form for it, and how large a tile
// pays.
#include "compiler/kernel/nests.h"
#include "compiler/kernel/tiles.h"

#include "compiler/ir/locations.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "runtime/core/lane_functions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

/// Rows and columns of registers that are tried.
constexpr unsigned mostRows = 8, mostColumns = 4;
/// Rows that begin a loop one after the other: until all are in it, and from when the first has left, it is not full.
constexpr unsigned mostSkewed = 4;
/// Cycles that a function of the C library takes, and those for a lane where lanes are computed together.
constexpr double functionCycles = 12, laneCycles = 3;

/// What the runtime computes for the lanes of a register at once (runtime/core/lane_functions.h).
bool isComputedInLanes(Operation* op) {
  return isa<math::ExpOp, math::LogOp, math::SinOp, math::CosOp>(op) && op->getResult(0).getType().isF32();
}

bool isNumber(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64 && llvm::isPowerOf2_32(type.getIntOrFloatBitWidth());
}

class TilePlanner {
public:
  TilePlanner(scf::ForOp lanes, scf::ForOp rows, const machine::Figures& figures, TileProblem& problem)
      : figures_(figures), problem_(problem) {
    plan_.lanes = lanes;
    plan_.rows = rows;
  }

  std::optional<TilePlan> run() {
    scf::ForOp lanes = plan_.lanes;
    if (lanes.getNumResults() || !matchPattern(lanes.getStep(), m_One())) {
      problem_ = {"a loop with results or other steps than 1", lanes.getLoc(), TileProblem::IsIndependent};
      return std::nullopt;
    }
    lanes.getBody()->walk([&](Operation* op) { inside_.push_back(op); });
    raise(lanes.getInductionVar(), Lane::Consecutive, false);
    if (plan_.rows)
      raise(plan_.rows.getInductionVar(), Lane::Uniform, true);
    classifyAll();
    for (Operation* op : inside_)
      if (!isAllowed(op)) {
        problem_ = problemOf(op);
        return std::nullopt;
      }
    if (!chooseWidth()) {
      problem_ = {"a register holds one of the values", lanes.getLoc(), TileProblem::IsIndependent};
      return std::nullopt;
    }
    findTested();
    if (plan_.rows && canJam())
      planPacked(plan_);
    if (plan_.packed.empty())
      planSkew();
    bool isChosen = chooseSize();
    if (!plan_.packed.empty() && (!isChosen || plan_.rowCount < 2)) { // rows alone share what is copied
      plan_.packed.clear();
      isChosen = chooseSize();
    }
    if (!isChosen) {
      problem_ = {"elements that are gathered one by one take longer than iterations one by one", lanes.getLoc(),
                  TileProblem::IsIndependent};
      return std::nullopt;
    }
    plan_.tilesAhead = figures_.tilesAhead();
    planPanel(plan_, figures_);
    return std::move(plan_);
  }

private:
  void classifyAll() {
    do {
      changed_ = false;
      llvm::for_each(inside_, [&](Operation* op) { classify(op); });
    } while (changed_);
  }

  /// Rows begin a loop one after the other where that lets them share a load.
  void planSkew() {
    scf::ForOp lanes = plan_.lanes;
    for (auto loop : lanes.getBody()->getOps<scf::ForOp>()) {
      if (!canJam() || !canBeSkewed(plan_, loop))
        continue;
      const llvm::DenseMap<Value, TileKind> before = plan_.kinds;
      plan_.skewed = loop;
      raise(plan_.skewed.getInductionVar(), Lane::Uniform, true);
      classifyAll();
      findAlike(plan_);
      if (!plan_.alike.empty() && canJam())
        return;
      plan_.kinds = before;
      plan_.skewed = {};
      plan_.alike.clear();
    }
  }

  TileKind kindOf(Value value) const { return plan_.kindOf(value); }
  bool isUniform(Value value) const { return kindOf(value).lane == Lane::Uniform; }
  bool areUniform(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isUniform(value); });
  }
  bool isAnyRow(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return kindOf(value).isRow; });
  }

  void raise(Value value, Lane lane, bool isRow) {
    TileKind& known = plan_.kinds[value];
    if (lane > known.lane || (isRow && !known.isRow)) {
      known.lane = std::max(known.lane, lane);
      known.isRow |= isRow;
      changed_ = true;
    }
  }

  /// A value that is one of several: it is the same everywhere only if all are and the choice is.
  void join(Value value, ValueRange from, bool varies, bool isRow) {
    raise(value, varies || !areUniform(from) ? Lane::Varying : Lane::Uniform, isRow || isAnyRow(from));
  }

  void classify(Operation* op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return classify(loop);
    if (auto choice = dyn_cast<scf::IfOp>(op)) {
      const TileKind condition = kindOf(choice.getCondition());
      for (auto [number, result] : llvm::enumerate(choice.getResults()))
        join(result, {choice.thenYield().getOperand(number), choice.elseYield().getOperand(number)},
             condition.lane != Lane::Uniform, condition.isRow);
      return;
    }
    if (op->getNumResults() != 1)
      return;
    raise(op->getResult(0), laneOf(op), isAnyRow(op->getOperands()));
  }

  void classify(scf::ForOp loop) {
    const ValueRange bounds = loop->getOperands().take_front(3);
    const bool varies = !areUniform(bounds), isRow = isAnyRow(bounds);
    // Lanes that begin together count alike for as long as they go on.
    const bool beginsTogether = isUniform(loop.getLowerBound()) && isUniform(loop.getStep());
    raise(loop.getInductionVar(), beginsTogether ? Lane::Uniform : Lane::Varying,
          beginsTogether ? isAnyRow({loop.getLowerBound(), loop.getStep()}) : isRow);
    for (auto [argument, initial, next, result] :
         llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(), loop.getResults())) {
      join(argument, {initial, next}, varies, isRow);
      join(result, {initial, next}, varies, isRow);
    }
  }

  Lane laneOf(Operation* op) const {
    if (areUniform(op->getOperands()))
      return Lane::Uniform;
    if (isa<memref::LoadOp>(op))
      return Lane::Varying;
    const auto is = [&](unsigned operand, Lane lane) { return kindOf(op->getOperand(operand)).lane == lane; };
    const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    // Wraps as sums do.
    if (isa<arith::TruncIOp>(op) ||
        (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && isWord(op->getOperand(0).getType())))
      return is(0, Lane::Consecutive) ? Lane::Consecutive : Lane::Varying;
    if (isa<arith::AddIOp>(op) &&
        ((is(0, Lane::Consecutive) && is(1, Lane::Uniform)) || (is(0, Lane::Uniform) && is(1, Lane::Consecutive))))
      return Lane::Consecutive;
    return isa<arith::SubIOp>(op) && is(0, Lane::Consecutive) && is(1, Lane::Uniform) ? Lane::Consecutive
                                                                                      : Lane::Varying;
  }

  TileProblem problemOf(Operation* op) const {
    auto store = dyn_cast<memref::StoreOp>(op);
    if (!store || !isApart(store.getMemRef()) || !areUniform(store.getIndices()))
      return {noForm(op), op->getLoc(), TileProblem::IsIndependent};
    const std::string dimension = placeName(scf::ForOp(plan_.lanes).getLoc());
    return {"all instances" + (dimension.empty() ? "" : " along " + dimension) + " store to one element", op->getLoc(),
            TileProblem::IsIndependent,
            dimension.empty() ? "" : "have one instance store there, or create the node without " + dimension};
  }

  bool isAllowed(Operation* op) const {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop.getInductionVar().getType().isIndex() && haveVectorForms(loop.getResultTypes()) &&
             (areUniform(loop->getOperands().take_front(3)) ||
              (isUniform(loop.getStep()) && matchPattern(loop.getStep(), m_One())));
    if (isa<scf::IfOp>(op))
      return haveVectorForms(op->getResultTypes());
    if (isa<scf::YieldOp>(op))
      return true;
    // The first check that fails is the same one as without lanes where each stands for all of them.
    if (isa<CheckOp, IndexOp>(op))
      return areUniform(op->getOperands()) && !isChosen(op) && !isLeft(op);
    if (auto load = dyn_cast<memref::LoadOp>(op))
      return isApart(load.getMemRef()) && (areUniform(load.getIndices()) || isReachable(load));
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (!isApart(store.getMemRef()))
        return false;
      // All instances store to one element only where a choice says which do.
      return areUniform(store.getIndices()) ? isChosen(op) : isReachable(store);
    }
    if (op->getNumRegions() || !isMemoryEffectFree(op) || op->getNumResults() != 1)
      return false;
    if (areUniform(op->getOperands()))
      return true;
    return kindOf(op->getResult(0)).lane == Lane::Consecutive ||
           (isLaneWise(op) && haveVectorForms(op->getOperandTypes()) && haveVectorForms(op->getResultTypes()));
  }

  static bool haveVectorForms(TypeRange types) {
    return llvm::all_of(types, [](Type type) { return type.isIndex() || isNumber(type); });
  }

  /// Whether what lanes reach can be loaded or stored at once: elements of whole bytes, side by side or apart.
  template <typename Access>
  static bool isReachable(Access access) {
    const MemRefType type = access.getMemRefType();
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    return isNumber(type.getElementType()) && type.getElementTypeBitWidth() >= 8 &&
           succeeded(getStridesAndOffset(type, strides, offset));
  }

  bool isChosen(Operation* op) const {
    scf::ForOp lanes = plan_.lanes;
    for (Operation* around = op->getParentOp(); around != lanes.getOperation(); around = around->getParentOp())
      if (auto choice = dyn_cast<scf::IfOp>(around); choice && !isUniform(choice.getCondition()))
        return true;
    return false;
  }

  /// Whether an operation is in a loop that lanes leave at different times.
  bool isLeft(Operation* op) const {
    scf::ForOp lanes = plan_.lanes;
    for (Operation* around = op->getParentOp(); around != lanes.getOperation(); around = around->getParentOp())
      if (auto loop = dyn_cast<scf::ForOp>(around); loop && !areUniform(loop->getOperands().take_front(3)))
        return true;
    return false;
  }

  bool chooseWidth() {
    unsigned widest = 32;
    for (Operation* op : inside_) {
      Type type;
      if (auto load = dyn_cast<memref::LoadOp>(op))
        type = areUniform(load.getIndices()) ? Type() : load.getType();
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        type = store.getValue().getType();
      else if (op->getNumResults() == 1 && kindOf(op->getResult(0)).lane == Lane::Varying)
        type = op->getResult(0).getType();
      if (type && isa<FloatType>(type))
        widest = std::max(widest, type.getIntOrFloatBitWidth());
    }
    plan_.width = static_cast<unsigned>(8 * figures_.vectorBytes / widest);
    return plan_.width > 1;
  }

  /// Choices with arms that may do harm where nobody takes them, or that take long.
  void findTested() {
    for (Operation* op : inside_) {
      auto choice = dyn_cast<scf::IfOp>(op);
      if (!choice || isUniform(choice.getCondition()))
        continue;
      choice->walk([&](Operation* inner) {
        if (inner == op || isa<scf::YieldOp>(inner))
          return;
        const bool isMasked = isa<memref::LoadOp, memref::StoreOp>(inner) &&
                              !areUniform(isa<memref::LoadOp>(inner) ? cast<memref::LoadOp>(inner).getIndices()
                                                                     : cast<memref::StoreOp>(inner).getIndices());
        if (isa<scf::ForOp>(inner) || (!isMasked && !isa<scf::IfOp>(inner) && !canExecuteAnywhere(inner)))
          plan_.tested.insert(op);
      });
    }
  }

  /// Whether rows can go along: control is the same for all of them, or masks tell them apart and nothing is read for a
  /// row that might not take part.
  bool canJam() const {
    for (Operation* op : inside_) {
      if (isa<CheckOp, IndexOp>(op) && isAnyRow(op->getOperands()))
        return false; // a row's would come before those of the row in front of it
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (isAnyRow(loop->getOperands().take_front(3)))
          return false;
      } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
        const TileKind condition = kindOf(choice.getCondition());
        if (condition.isRow && condition.lane == Lane::Uniform)
          return false;
        if (condition.lane != Lane::Uniform &&
            choice
                ->walk([&](Operation* inner) {
                  const bool isOneForLanes =
                      isa<memref::LoadOp>(inner) && areUniform(inner->getOperands()) && isAnyRow(inner->getOperands());
                  return isOneForLanes ? WalkResult::interrupt() : WalkResult::advance();
                })
                .wasInterrupted())
          return false;
      }
    }
    return true;
  }

  /// How often an operation is executed, in guesses: a loop goes around eight times.
  double weightOf(Operation* op) const {
    scf::ForOp lanes = plan_.lanes;
    double weight = 1;
    for (Operation* around = op->getParentOp(); around != lanes.getOperation(); around = around->getParentOp())
      if (isa<scf::ForOp>(around))
        weight *= 8;
    return weight;
  }

  /// What a tile is chosen by.
  struct Work {
    double loads[2][2] = {};        // by vector (no: one for all lanes) and row
    double gathers = 0, others = 0; // of lanes, and operations on vectors
    double turned = 0;              // of the gathers: those that whole tiles may turn
    double scalar = 0;              // cycles of one instance by itself
    unsigned carried = 0;           // values that loops carry along, most of one loop
    unsigned values = 0;
    bool hasLoop = false;
  };

  /// How many executions of a loop a processor has under way at once: those of a short loop that follow each other.
  double loopsAtOnce(scf::ForOp loop) const {
    const std::optional<int64_t> trips = constantTripCount(loop);
    double operations = 0;
    loop->walk([&](Operation*) { operations += 1; });
    return trips ? std::max(1.0, static_cast<double>(figures_.window()) /
                                     (operations * static_cast<double>(std::max<int64_t>(*trips, 1))))
                 : 1;
  }

  Work workOf() const {
    Work work;
    double chains = 0;
    for (Operation* op : inside_) {
      const double weight = weightOf(op);
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        work.hasLoop = true;
        const auto carried = static_cast<unsigned>(
            llvm::count_if(loop.getRegionIterArgs(), [&](Value value) { return kindOf(value).lane == Lane::Varying; }));
        work.carried = std::max(work.carried, carried);
        // Sums of integers LLVM adds up in another order.
        if (llvm::any_of(loop.getRegionIterArgs(), [&](Value value) {
              return kindOf(value).lane == Lane::Varying && isa<FloatType>(value.getType());
            }))
          chains = std::max(chains, 8 * weight * static_cast<double>(figures_.vectorLatency) / loopsAtOnce(loop));
        continue;
      }
      ValueRange indices;
      Value block;
      if (auto load = dyn_cast<memref::LoadOp>(op)) {
        indices = load.getIndices();
        block = load.getMemRef();
      } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
        indices = store.getIndices();
        block = store.getMemRef();
      }
      const bool varies = op->getNumResults() == 1 && kindOf(op->getResult(0)).lane == Lane::Varying;
      work.values += varies;
      work.scalar += weight * figures_.scalarCycles();
      if (isLibraryFunction(op)) {
        work.scalar += weight * functionCycles;
        work.others += varies ? weight * plan_.width * (isComputedInLanes(op) ? laneCycles : functionCycles) : 0;
      }
      if (indices.empty() || areUniform(indices)) {
        work.others += varies ? weight : 0;
        if (isa<memref::LoadOp>(op))
          work.loads[0][isAnyRow(indices)] += weight;
        continue;
      }
      if (recordIndex(plan_, block, indices)) {
        // What is between the fields goes along, and they are told apart, or put together.
        const bool isLoad = isa<memref::LoadOp>(op);
        work.others += weight * (fieldsSideBySide(block) - isLoad);
        work.loads[1][isAnyRow(indices)] += isLoad ? weight : 0;
      } else if (plan_.packed.contains(op) || plan_.alike.contains(op)) {
        work.loads[1][0] += weight;
      } else if (!rowIndex(plan_, block, indices)) {
        work.gathers += weight;
        work.turned += canTurn(op, block, indices) ? weight : 0;
      } else if (isa<memref::LoadOp>(op))
        work.loads[1][isAnyRow(indices)] += weight;
      else
        work.others += weight;
    }
    work.scalar = std::max(work.scalar, chains);
    return work;
  }

  /// Whether a value grows by one from row to row, and is the same in all lanes.
  bool isRowNumber(Value value) const {
    scf::ForOp rows = plan_.rows;
    if (value == rows.getInductionVar())
      return true;
    const auto isFixed = [&](Value other) { return isUniform(other) && !kindOf(other).isRow; };
    Operation* op = value.getDefiningOp();
    const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    if (op && isa<arith::IndexCastOp>(op) && isWord(op->getOperand(0).getType()) && isWord(value.getType()))
      return isRowNumber(op->getOperand(0));
    if (op && isa<arith::AddIOp>(op) && isFixed(op->getOperand(0)))
      return isRowNumber(op->getOperand(1));
    return op && isa<arith::AddIOp, arith::SubIOp>(op) && isFixed(op->getOperand(1)) && isRowNumber(op->getOperand(0));
  }

  /// Whether rows reach elements side by side and lanes elements that are consecutive along another dimension, in each
  /// iteration of the lanes' loop.
  bool canTurn(Operation* op, Value block, ValueRange indices) const {
    scf::ForOp lanes = plan_.lanes;
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    if (!plan_.rows || op->getParentOp() != lanes || indices.size() < 2 ||
        failed(getStridesAndOffset(cast<MemRefType>(block.getType()), strides, offset)) || strides.back() != 1 ||
        !isRowNumber(indices.back()))
      return false;
    unsigned consecutive = 0;
    for (Value index : indices.drop_back()) {
      const TileKind kind = kindOf(index);
      if (kind.isRow || kind.lane == Lane::Varying)
        return false;
      consecutive += kind.lane == Lane::Consecutive;
    }
    return consecutive == 1;
  }

  /// Chooses as many rows as lanes, where turning what they reach pays: each vector of a turned tile takes part in as
  /// many exchanges as the number of lanes has bits.
  bool chooseTurned(const Work& work) {
    const double width = plan_.width;
    const std::optional<int64_t> rowTrips = plan_.rows ? constantTripCount(plan_.rows) : std::nullopt;
    if (work.turned == 0 || work.hasLoop || 2 * plan_.width > figures_.vectorRegisters || !canJam() ||
        (rowTrips && *rowTrips < static_cast<int64_t>(plan_.width)))
      return false;
    const double vectors = work.others + work.loads[1][0] + work.loads[1][1];
    const double exchanges = work.turned * (1 + std::log2(width));
    const double turned = (work.gathers - work.turned) * figures_.gatherCycles() + (vectors + exchanges) / width;
    if (turned > work.scalar || turned > work.gathers * figures_.gatherCycles() + vectors / width)
      return false;
    plan_.rowCount = plan_.width;
    plan_.columnCount = 1;
    llvm::DenseSet<Value> read, written;
    for (Operation* op : inside_) {
      auto load = dyn_cast<memref::LoadOp>(op);
      auto store = dyn_cast<memref::StoreOp>(op);
      if (load)
        read.insert(load.getMemRef());
      if (store)
        written.insert(store.getMemRef());
      if ((load && canTurn(op, load.getMemRef(), load.getIndices())) ||
          (store && canTurn(op, store.getMemRef(), store.getIndices())))
        plan_.turned.insert(op);
    }
    plan_.isRepeatable = llvm::none_of(written, [&](Value block) { return read.contains(block); });
    return true;
  }

  /// The tile with the fewest loads a lane; a sum that is carried along wants as many registers side by side as hide
  /// its latency. False where gathering element by element makes lanes slower than instances one by one.
  bool chooseSize() {
    const Work work = workOf();
    if (chooseTurned(work))
      return true;
    const double width = plan_.width;
    if (work.gathers * figures_.gatherCycles() + (work.others + work.loads[1][0] + work.loads[1][1]) / width >
        work.scalar)
      return false;
    const bool jams = plan_.rows && work.hasLoop && canJam();
    const auto& loads = work.loads;
    const double all = loads[0][0] + loads[0][1] + loads[1][0] + loads[1][1];
    const double registers = static_cast<double>(figures_.vectorRegisters);
    const std::optional<int64_t> trips = constantTripCount(plan_.lanes);
    const std::optional<int64_t> rowTrips = plan_.rows ? constantTripCount(plan_.rows) : std::nullopt;
    double best = 0;
    bool isFirst = true;
    for (unsigned rows = 1; rows <= (!jams ? 1 : plan_.skewed ? mostSkewed : mostRows); ++rows)
      for (unsigned columns = 1; columns <= (work.gathers > 0 && !work.carried ? 1 : mostColumns); columns *= 2) {
        const double size = rows * columns;
        // What is carried, a vector of each column, and one that is the same in all lanes.
        if (size > 1 && std::max(work.carried, 1u) * size + columns + 1 > registers - 1)
          continue;
        // More than there are.
        if ((columns > 1 && trips && columns * width > static_cast<double>(*trips)) ||
            (rows > 1 && rowTrips && static_cast<int64_t>(rows) > *rowTrips))
          continue;
        // Without a loop iterations of the tile's own are as good as registers side by side.
        if (!work.hasLoop && columns > 1)
          continue;
        double cost = (loads[0][0] + loads[0][1] * rows + loads[1][0] * columns + loads[1][1] * size) /
                      (size * std::max(all, 1.0));
        if (work.carried)
          cost += std::max(0.0, 2.0 * static_cast<double>(figures_.vectorLatency) / size - 1) * 0.1;
        cost += 0.005 * rows + 0.01 * columns;
        if (isFirst || cost < best) {
          isFirst = false;
          best = cost;
          plan_.rowCount = rows;
          plan_.columnCount = columns;
        }
      }
    if (plan_.rowCount == 1 && !jams)
      plan_.rows = {};
    return true;
  }

  const machine::Figures& figures_;
  TileProblem& problem_;
  TilePlan plan_;
  SmallVector<Operation*> inside_;
  bool changed_ = false;
};

} // namespace

bool isLibraryFunction(Operation* op) {
  static const llvm::StringSet<> names = {
#define STRATA_NAME(NAME) #NAME,
      STRATA_LANE_FUNCTIONS(STRATA_NAME)
#undef STRATA_NAME
  };
  return isa<math::MathDialect>(op->getDialect()) && names.contains(op->getName().stripDialect()) &&
         (op->getResult(0).getType().isF32() || op->getResult(0).getType().isF64());
}

bool isLaneWise(Operation* op) {
  if (isLibraryFunction(op))
    return true;
  if (isa<math::SqrtOp, math::FmaOp, math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::TruncOp,
          math::RoundEvenOp, math::RoundOp, math::CopySignOp, math::CtPopOp, math::CountLeadingZerosOp,
          math::CountTrailingZerosOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) && op->hasTrait<OpTrait::Vectorizable>() && canExecuteAnywhere(op);
}

std::string noForm(Operation* op) {
  const std::string end = " has no form for lanes";
  if (isa<memref::LoadOp, memref::StoreOp>(op))
    return isApart(op->getOperand(isa<memref::StoreOp>(op) ? 1 : 0))
               ? "elements that are no numbers of whole bytes are reached"
               : "what is reached here may overlap what else is reached";
  if (isa<CheckOp, IndexOp>(op))
    return "a check differs between iterations";
  if (isa<AtomicOp>(op))
    return "an atomic operation" + end;
  if (isa<scf::WhileOp>(op))
    return "a loop that is not counted" + end;
  if (isa<scf::ForOp>(op))
    return "a loop whose step differs between iterations" + end;
  if (isa<memref::AllocaOp>(op))
    return "an array of each iteration's own" + end;
  if (isa<CallOpInterface>(op))
    return "a call" + end;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
          arith::FloorDivSIOp>(op))
    return "a division that may fail" + end;
  if (isa<math::MathDialect>(op->getDialect())) {
    const llvm::StringRef name = op->getName().stripDialect();
    return "'" + (name == "powf" || name == "fpowi" ? "pow" : name).str() + "'" + end;
  }
  return "what is computed here" + end;
}

/// An index that is consecutive, where all others are the same in all lanes.
static std::optional<RowIndex> lastIndex(const TilePlan& plan, ValueRange indices) {
  if (!llvm::all_of(indices.drop_back(), [&](Value each) { return plan.kindOf(each).lane == Lane::Uniform; }))
    return std::nullopt;
  Value index = indices.back();
  if (plan.kindOf(index).lane == Lane::Consecutive)
    return RowIndex{index, 0};
  RowIndex found;
  APInt constant;
  if (auto sum = index.getDefiningOp<arith::AddIOp>(); sum && matchPattern(sum.getRhs(), m_ConstantInt(&constant))) {
    found.constant = constant.getSExtValue();
    index = sum.getLhs();
  }
  auto widened = index.getDefiningOp<arith::IndexCastOp>();
  if (!widened || plan.kindOf(widened.getIn()).lane != Lane::Consecutive || widened.getIn().getType().isIndex() ||
      std::abs(found.constant) >= int64_t(1) << 30)
    return std::nullopt;
  const unsigned bits = widened.getIn().getType().getIntOrFloatBitWidth();
  if (bits < 32)
    return std::nullopt;
  found.value = widened.getIn();
  return found;
}

std::optional<RowIndex> rowIndex(const TilePlan& plan, Value block, ValueRange indices) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(getStridesAndOffset(cast<MemRefType>(block.getType()), strides, offset)) || strides.empty() ||
      strides.back() != 1)
    return std::nullopt;
  return lastIndex(plan, indices);
}

std::optional<RowIndex> recordIndex(const TilePlan& plan, Value block, ValueRange indices) {
  return fieldsSideBySide(block) > 1 ? lastIndex(plan, indices) : std::nullopt;
}

std::optional<TilePlan> planTile(scf::ForOp lanes, scf::ForOp rows, const machine::Figures& figures,
                                 TileProblem& problem) {
  return TilePlanner(lanes, rows, figures, problem).run();
}

} // namespace strata::kernel

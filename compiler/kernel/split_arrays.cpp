// First it is seen which loops number elements: with constants for the variables of all loops around, their bounds are
// constants. Then each is replaced by a copy of its body for every iteration.
#include "compiler/kernel/split_arrays.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace strata::kernel {
namespace {

constexpr int64_t mostElements = 32;    // more are left in memory
constexpr size_t mostOperations = 2048; // of all copies of a loop
constexpr unsigned mostNested = 10;     // expressions in one another: one that uses itself twice doubles with each

using Loops = llvm::SmallSetVector<scf::ForOp, 8>;

/// What indices and bounds are computed by.
bool isOfIndices(Operation* op) {
  if (isa<arith::TruncIOp>(op))
    return op->getResult(0).getType().getIntOrFloatBitWidth() >= 32;
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp, arith::MinSIOp, arith::IndexCastOp,
             arith::ExtSIOp>(op);
}

/// Integers that are computed of constants, the variables of some loops, and what these loops carry along.
class Constants {
public:
  void set(Value variable, std::optional<int64_t> value) {
    if (value)
      values_[variable] = *value;
    else
      values_.erase(variable);
  }

  /// Nothing where it is none of these, or might not fit.
  std::optional<int64_t> of(Value value, unsigned depth = 0) const {
    if (const auto found = values_.find(value); found != values_.end())
      return found->second;
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return constant.getBitWidth() <= 64 ? std::optional(constant.getSExtValue()) : std::nullopt;
    Operation* op = value.getDefiningOp();
    if (!op || depth == mostNested || !isOfIndices(op))
      return std::nullopt;
    SmallVector<int64_t, 2> operands;
    for (Value operand : op->getOperands()) {
      const auto known = of(operand, depth + 1);
      if (!known || *known < -limit || *known > limit)
        return std::nullopt;
      operands.push_back(*known);
    }
    const int64_t first = operands[0], second = operands.size() > 1 ? operands[1] : 0;
    const int64_t result = isa<arith::AddIOp>(op)    ? first + second
                           : isa<arith::SubIOp>(op)  ? first - second
                           : isa<arith::MulIOp>(op)  ? first * second
                           : isa<arith::MaxSIOp>(op) ? std::max(first, second)
                           : isa<arith::MinSIOp>(op) ? std::min(first, second)
                                                     : first;
    // What a short type does not hold wraps.
    const Type type = op->getResult(0).getType();
    const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    const bool holds = bits > 32 || (result >= -(int64_t(1) << (bits - 1)) && result < int64_t(1) << (bits - 1));
    return result < -limit || result > limit || !holds ? std::nullopt : std::optional(result);
  }

  /// The loops that a value is computed of, if it is computed of these and constants alone. `seen`: values that were
  /// looked at.
  static bool collect(Value value, Loops& loops, DenseSet<Value>& seen, unsigned depth = 0) {
    if (matchPattern(value, m_Constant()) || !seen.insert(value).second)
      return true;
    if (depth == mostNested)
      return false;
    const auto carried = [&](scf::ForOp loop, unsigned number) {
      loops.insert(loop);
      return collect(loop.getInitArgs()[number], loops, seen, depth + 1) &&
             collect(loop.getYieldedValues()[number], loops, seen, depth + 1);
    };
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return false;
      if (argument.getArgNumber() > 0)
        return carried(loop, argument.getArgNumber() - 1);
      loops.insert(loop);
      return true;
    }
    Operation* op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return carried(loop, cast<OpResult>(value).getResultNumber());
    return isOfIndices(op) &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return collect(operand, loops, seen, depth + 1); });
  }

private:
  static constexpr int64_t limit = 1 << 20; // sums and products of such numbers fit 64 bits
  DenseMap<Value, int64_t> values_;
};

class ArraySplitter {
public:
  explicit ArraySplitter(svm::KernelOp kernel) : kernel_(kernel) {}

  void run() {
    SmallVector<memref::AllocaOp> arrays;
    kernel_.walk([&](memref::AllocaOp array) {
      if (isSmall(array))
        arrays.push_back(array);
    });
    for (memref::AllocaOp array : arrays) {
      Loops loops;
      if (!numberedBy(array, loops))
        continue;
      // The outermost ones; those inside go along.
      for (scf::ForOp loop : loops)
        if (!llvm::any_of(loops, [&](scf::ForOp other) { return other != loop && other->isAncestor(loop); }))
          outermost_.insert(loop);
      numbering_.insert(loops.begin(), loops.end());
    }
    for (scf::ForOp loop : outermost_)
      if (!llvm::any_of(outermost_, [&](scf::ForOp other) { return other != loop && other->isAncestor(loop); }))
        writeOut(loop);
    for (memref::AllocaOp array : arrays)
      split(array);
  }

private:
  static bool isSmall(memref::AllocaOp array) {
    const MemRefType type = array.getType();
    return type.hasStaticShape() && type.getRank() > 0 && type.getNumElements() <= mostElements &&
           type.getLayout().isIdentity() && type.getElementType().isIntOrFloat() &&
           llvm::all_of(array->getUsers(), [&](Operation* user) {
             auto store = dyn_cast<memref::StoreOp>(user);
             return isa<memref::LoadOp>(user) || (store && store.getValueToStore() != array.getResult());
           });
  }

  static ValueRange indicesOf(Operation* user) {
    auto load = dyn_cast<memref::LoadOp>(user);
    return load ? ValueRange(load.getIndices()) : ValueRange(cast<memref::StoreOp>(user).getIndices());
  }

  /// The loops that number an array's elements, with those that their bounds depend on; false where something else
  /// does.
  static bool numberedBy(memref::AllocaOp array, Loops& loops) {
    DenseSet<Value> seen;
    for (Operation* user : array->getUsers())
      for (Value index : indicesOf(user))
        if (!Constants::collect(index, loops, seen))
          return false;
    for (size_t next = 0; next < loops.size(); ++next) {
      scf::ForOp loop = loops[next];
      // A loop around the array has its elements anew. One that no loop is around is where lanes would come from.
      if (!loop->getParentOfType<scf::ForOp>() || loop->isAncestor(array) ||
          loop->hasAttr(svm::SvmDialect::unorderedAttr) ||
          !llvm::all_of(loop->getOperands().take_front(3),
                        [&](Value bound) { return Constants::collect(bound, loops, seen); }))
        return false;
    }
    return true;
  }

  /// Replaces a loop by its iterations, unless these are too many.
  void writeOut(scf::ForOp loop) {
    OpBuilder builder(loop);
    // In a block of its own until it is settled.
    auto holder = builder.create<scf::ExecuteRegionOp>(loop.getLoc(), TypeRange());
    builder.setInsertionPointToStart(&holder.getRegion().emplaceBlock());
    IRMapping copies;
    Constants constants;
    room_ = mostOperations;
    SmallVector<Value> results;
    if (!writeIterations(loop, builder, copies, constants, results)) {
      holder.erase();
      return;
    }
    loop->getBlock()->getOperations().splice(loop->getIterator(), holder.getRegion().front().getOperations());
    holder.erase();
    loop.replaceAllUsesWith(results);
    loop.erase();
  }

  bool writeIterations(scf::ForOp loop, OpBuilder& builder, IRMapping& copies, Constants& constants,
                       SmallVector<Value>& carried) {
    const auto lower = constants.of(loop.getLowerBound()), upper = constants.of(loop.getUpperBound()),
               step = constants.of(loop.getStep());
    if (!lower || !upper || !step || *step < 1)
      return false;
    // What is known of a value that the loop carries stands there as a constant.
    const auto carry = [&](ValueRange values, ValueRange into) {
      SmallVector<std::optional<int64_t>> known;
      SmallVector<Value> next;
      for (Value value : values) {
        known.push_back(value.getType().isIntOrIndex() ? constants.of(value) : std::nullopt);
        next.push_back(known.back() ? builder.create<arith::ConstantOp>(
                                          loop.getLoc(), builder.getIntegerAttr(value.getType(), *known.back()))
                                    : copies.lookupOrDefault(value));
      }
      for (auto [each, value] : llvm::zip(known, into))
        constants.set(value, each);
      return next;
    };
    carried = carry(loop.getInitArgs(), loop.getRegionIterArgs());
    for (int64_t at = *lower; at < *upper; at += *step) {
      if (room_ == 0)
        return false;
      --room_; // one that does nothing, too
      constants.set(loop.getInductionVar(), at);
      copies.map(
          loop.getInductionVar(),
          builder.create<arith::ConstantOp>(loop.getLoc(), builder.getIntegerAttr(loop.getInductionVar().getType(), at))
              .getResult());
      copies.map(loop.getRegionIterArgs(), carried);
      if (!writeBody(*loop.getBody(), builder, copies, constants))
        return false;
      carried = carry(loop.getYieldedValues(), loop.getRegionIterArgs());
    }
    for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
      constants.set(result, constants.of(argument));
    return true;
  }

  bool writeBody(Block& body, OpBuilder& builder, IRMapping& copies, Constants& constants) {
    for (Operation& op : body.without_terminator()) {
      auto inner = dyn_cast<scf::ForOp>(op);
      if (inner && numbering_.contains(inner)) {
        SmallVector<Value> results;
        if (!writeIterations(inner, builder, copies, constants, results))
          return false;
        copies.map(inner.getResults(), results);
        continue;
      }
      bool holdsNumbering = false;
      size_t operations = 0;
      op.walk([&](Operation* each) {
        ++operations;
        auto held = dyn_cast<scf::ForOp>(each);
        holdsNumbering |= held && numbering_.contains(held);
      });
      if (operations > room_)
        return false;
      room_ -= operations;
      Operation* copy = holdsNumbering ? op.cloneWithoutRegions(copies) : builder.clone(op, copies);
      if (!holdsNumbering)
        continue;
      builder.insert(copy);
      for (auto [from, to] : llvm::zip(op.getRegions(), copy->getRegions()))
        if (!writeRegion(from, to, copies, constants))
          return false;
    }
    return true;
  }

  /// A region of one block.
  bool writeRegion(Region& from, Region& to, IRMapping& copies, Constants& constants) {
    if (from.empty())
      return true;
    if (!llvm::hasSingleElement(from))
      return false;
    Block& block = to.emplaceBlock();
    for (BlockArgument argument : from.front().getArguments())
      copies.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
    OpBuilder builder = OpBuilder::atBlockEnd(&block);
    if (!writeBody(from.front(), builder, copies, constants))
      return false;
    if (from.front().mightHaveTerminator())
      builder.clone(*from.front().getTerminator(), copies);
    return true;
  }

  /// A variable for each element, if all are named by constants.
  static void split(memref::AllocaOp array) {
    const MemRefType type = array.getType();
    const Constants constants;
    SmallVector<std::pair<Operation*, int64_t>> users;
    for (Operation* user : array->getUsers()) {
      int64_t number = 0;
      for (auto [index, extent] : llvm::zip(indicesOf(user), type.getShape())) {
        const auto known = constants.of(index);
        if (!known || *known < 0 || *known >= extent)
          return;
        number = number * extent + *known;
      }
      users.emplace_back(user, number);
    }
    OpBuilder builder(array);
    const auto variable = MemRefType::get({}, type.getElementType());
    DenseMap<int64_t, Value> variables;
    for (const auto& [user, number] : users) {
      Value& own = variables[number];
      if (!own)
        own = builder.create<memref::AllocaOp>(array.getLoc(), variable);
      OpBuilder at(user);
      if (auto load = dyn_cast<memref::LoadOp>(user))
        load.replaceAllUsesWith(at.create<memref::LoadOp>(load.getLoc(), own, ValueRange()).getResult());
      else
        at.create<memref::StoreOp>(user->getLoc(), cast<memref::StoreOp>(user).getValueToStore(), own, ValueRange());
      user->erase();
    }
    array.erase();
  }

  svm::KernelOp kernel_;
  Loops outermost_, numbering_;
  size_t room_ = 0;
};

struct SplitArraysPass : PassWrapper<SplitArraysPass, OperationPass<svm::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitArraysPass)

  void runOnOperation() override {
    if (getOperation().isStructured())
      ArraySplitter(getOperation()).run();
  }
};

} // namespace

std::unique_ptr<Pass> createSplitArraysPass() {
  return svm::makePass<SplitArraysPass>(svm::passes::SplitArrays);
}

} // namespace strata::kernel

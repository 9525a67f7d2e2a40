// Two parts of one array are compared by their places in it: in each dimension a part is an offset, a number of
// elements and a step, and the two share an element where they do in every dimension. Parts of different arrays share
// nothing: blocks have storage of their own, and who calls a function gives it arguments that are disjoint, which is
// checked there.
#include "compiler/transform/guard_overlaps.h"

#include "compiler/ir/transfer.h"
#include "compiler/ir/verify_logical.h"
#include "compiler/transform/builders.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

#include <numeric>

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Where a part lies in one dimension of its array.
struct Progression {
  Value offset, size, step;
};

/// One dimension taken as several, on the way from a view to its array; null where the view is a part of it.
memref::ReinterpretCastOp shapedIn(Value view) {
  for (; Operation* made = view.getDefiningOp(); view = made->getOperand(0)) {
    if (auto shaped = dyn_cast<memref::ReinterpretCastOp>(made))
      return shaped;
    if (!isViewOfAnother(made))
      break;
  }
  return {};
}

class OverlapGuard {
public:
  OverlapGuard(OpBuilder& builder, Location location) : builder_(builder), loc_(location), math_(builder, location) {}

  /// Whether two parts of one array share no element: an i1.
  Value apart(Value first, Value second) {
    SmallVector<Progression> a = placeOf(first), b = placeOf(second);
    Value result = builder_.create<arith::ConstantIntOp>(loc_, 0, 1);
    auto addTo = [&](Value condition) { result = builder_.createOrFold<arith::OrIOp>(loc_, result, condition); };
    if (a.empty()) // one element, which both are
      return result;
    for (auto [x, y] : llvm::zip(a, b))
      addTo(apart(x, y));
    return result;
  }

  /// Whether two parts of one array are the same elements in the same order: an i1.
  Value same(Value first, Value second) {
    if (shapedIn(first) || shapedIn(second))
      return builder_.create<arith::ConstantIntOp>(loc_, first == second, 1);
    Value result = builder_.create<arith::ConstantIntOp>(loc_, 1, 1);
    for (auto [x, y] : llvm::zip(placeOf(first), placeOf(second)))
      for (auto [a, b] : {std::pair(x.offset, y.offset), std::pair(x.size, y.size), std::pair(x.step, y.step)})
        result = builder_.createOrFold<arith::AndIOp>(loc_, result, compare(arith::CmpIPredicate::eq, a, b));
    return result;
  }

private:
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return builder_.createOrFold<arith::CmpIOp>(loc_, how, a, b);
  }
  Value asValue(OpFoldResult part) {
    return isa<Attribute>(part) ? math_.constant(getConstantIntValue(part).value_or(0)) : cast<Value>(part);
  }

  /// The place of a view in the array that it is part of, dimension by dimension of that.
  SmallVector<Progression> placeOf(Value view) {
    if (memref::ReinterpretCastOp shaped = shapedIn(view))
      return {placeOf(shaped)};
    SmallVector<memref::SubViewOp> chain; // from the view outwards
    while (Operation* made = view.getDefiningOp()) {
      if (auto part = dyn_cast<memref::SubViewOp>(made)) {
        chain.push_back(part);
        view = part.getSource();
      } else if (auto other = dyn_cast<memref::CastOp>(made)) {
        view = other.getSource();
      } else {
        break;
      }
    }
    SmallVector<Progression> place;
    auto block = view.getDefiningOp<BlockOp>();
    for (int64_t dimension = 0; dimension < cast<MemRefType>(view.getType()).getRank(); ++dimension) {
      Value extent = block ? block.getExtents()[static_cast<size_t>(dimension)]
                           : builder_.createOrFold<memref::DimOp>(loc_, view, dimension);
      place.push_back({math_.constant(0), extent, math_.constant(1)});
    }
    SmallVector<unsigned> kept(place.size()); // the array's dimension of each of the view's
    std::iota(kept.begin(), kept.end(), 0U);
    for (memref::SubViewOp part : llvm::reverse(chain)) {
      llvm::SmallBitVector dropped = part.getDroppedDims();
      SmallVector<unsigned> left;
      for (auto [dimension, of] : llvm::enumerate(kept)) {
        Progression& at = place[of];
        at.offset = math_.add(at.offset, math_.mul(asValue(part.getMixedOffsets()[dimension]), at.step));
        at.size = asValue(part.getMixedSizes()[dimension]);
        at.step = math_.mul(at.step, asValue(part.getMixedStrides()[dimension]));
        if (!dropped.test(dimension))
          left.push_back(of);
      }
      kept = left;
    }
    return place;
  }

  /// From the first to the last element of one dimension that is taken as several.
  Progression placeOf(memref::ReinterpretCastOp shaped) {
    auto layout = builder_.create<memref::ExtractStridedMetadataOp>(loc_, rootOf(shaped));
    Value last = math_.constant(0), isEmpty = builder_.create<arith::ConstantIntOp>(loc_, 0, 1);
    for (auto [size, stride] : llvm::zip(shaped.getMixedSizes(), shaped.getMixedStrides())) {
      last = math_.add(last, math_.mul(math_.sub(asValue(size), math_.constant(1)), asValue(stride)));
      Value none = compare(arith::CmpIPredicate::eq, asValue(size), math_.constant(0));
      isEmpty = builder_.createOrFold<arith::OrIOp>(loc_, isEmpty, none);
    }
    Value size =
        builder_.createOrFold<arith::SelectOp>(loc_, isEmpty, math_.constant(0), math_.add(last, math_.constant(1)));
    return {math_.sub(asValue(shaped.getMixedOffsets().front()), layout.getOffset()), size, math_.constant(1)};
  }

  /// Whether two progressions have no number in common.
  Value apart(Progression a, Progression b) {
    using enum arith::CmpIPredicate;
    if (getConstantIntValue(a.step) == 1 && getConstantIntValue(b.step) == 1) {
      Value before = compare(sle, math_.add(a.offset, a.size), b.offset);
      Value behind = compare(sle, math_.add(b.offset, b.size), a.offset);
      Value none = math_.constant(0);
      Value empty = builder_.createOrFold<arith::OrIOp>(loc_, compare(sle, a.size, none), compare(sle, b.size, none));
      Value outside = builder_.createOrFold<arith::OrIOp>(loc_, before, behind);
      return builder_.createOrFold<arith::OrIOp>(loc_, outside, empty);
    }
    // With steps, one by one: each number of `a` is none of `b`'s.
    Value all = builder_.create<arith::ConstantIntOp>(loc_, 1, 1);
    auto loop = builder_.create<scf::ForOp>(loc_, math_.constant(0), a.size, math_.constant(1), all);
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    Value number = math_.add(a.offset, math_.mul(loop.getInductionVar(), a.step));
    Value distance = math_.sub(number, b.offset);
    Value round = builder_.create<arith::DivUIOp>(loc_, distance, b.step);
    Value whole = compare(eq, math_.mul(round, b.step), distance);
    Value inside = builder_.create<arith::AndIOp>(loc_, whole, compare(ult, round, b.size));
    Value isOther = builder_.create<arith::XOrIOp>(loc_, inside, builder_.create<arith::ConstantIntOp>(loc_, 1, 1));
    Value still = builder_.create<arith::AndIOp>(loc_, loop.getRegionIterArg(0), isOther);
    builder_.create<scf::YieldOp>(loc_, still);
    return loop.getResult(0);
  }

  OpBuilder& builder_;
  Location loc_;
  IndexMath math_;
};

class ModuleGuard {
public:
  explicit ModuleGuard(ModuleOp program) : symbols_(program), written_(findWrittenArguments(program)) {}

  void operation(Operation* op) {
    if (auto move = dyn_cast<MoveOp>(op))
      check(op, move.getSource(), move.getDestination(), "move-overlap",
            "the two sides of a move share elements of '{}'",
            "move to a block of its own first, or move parts that do not overlap");
    else if (auto transfer = transferOf(op))
      indexed(*transfer);
    else if (isa<RunOp, func::CallOp>(op))
      arguments(op);
    else if (auto scope = dyn_cast<ScopeOp>(op); scope && scope.getDisjoint())
      parts(scope);
  }

private:
  void check(Operation* before, Value first, Value second, StringRef code, StringRef message, StringRef help) {
    if (rootOf(first) != rootOf(second))
      return;
    OpBuilder builder(before);
    OverlapGuard guard(builder, before->getLoc());
    Value apart = guard.apart(first, second);
    if (isa<MoveOp>(before) && code == "move-overlap") // to itself: nothing changes
      apart = builder.createOrFold<arith::OrIOp>(before->getLoc(), apart, guard.same(first, second));
    if (getConstantIntValue(apart).value_or(0)) // true, of a width of one bit
      return;
    const size_t hole = message.find("{}");
    std::string text = (message.substr(0, hole) + nameOfBlock(first) + message.substr(hole + 2)).str();
    builder.create<CheckOp>(before->getLoc(), apart, builder.getStringAttr(code), builder.getStringAttr(text),
                            builder.getStringAttr(help), ValueRange());
  }

  /// What a gather or scatter writes is neither what it copies nor its indices.
  void indexed(const Transfer& transfer) {
    const StringRef what = transfer.scatters() ? "a scatter" : "a gather";
    check(transfer.op, transfer.source, transfer.destination, "move-overlap",
          ("the two sides of " + what + " share elements of '{}'").str(),
          "move to a block of its own first, or use parts that do not overlap");
    check(transfer.op, transfer.indices, transfer.destination, "move-overlap",
          (what + " writes elements of '{}' that it takes its indices from").str(), "copy the indices first");
  }

  /// Whether what is run or called writes its argument.
  bool writes(Operation* op, unsigned position) {
    if (auto run = dyn_cast<RunOp>(op)) {
      auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
      return !kernel || kernel.access(position) != Access::Read;
    }
    auto callee = symbols_.lookup<func::FuncOp>(cast<func::CallOp>(op).getCallee());
    return callee && !callee.isExternal() && written_.contains(callee.getArgument(position));
  }

  /// What an argument of a kernel or function is called.
  std::string argumentName(Operation* op, unsigned position) {
    std::string number = "argument " + std::to_string(position);
    auto callee = symbols_.lookup<FunctionOpInterface>(isa<RunOp>(op) ? cast<RunOp>(op).getKernel()
                                                                      : cast<func::CallOp>(op).getCallee());
    auto name = callee ? SvmDialect::nameAttr.of(callee, position) : StringAttr();
    return name ? "'" + name.getValue().str() + "'" : number;
  }

  void arguments(Operation* op) {
    if (auto run = dyn_cast<RunOp>(op))
      if (auto kernel = symbols_.lookup<KernelOp>(run.getKernel()); kernel && kernel.getMayAlias())
        return;
    const std::string callee =
        (isa<RunOp>(op) ? cast<RunOp>(op).getKernel() : cast<func::CallOp>(op).getCallee()).str();
    for (unsigned second = 0; second < op->getNumOperands(); ++second)
      for (unsigned first = 0; first < second; ++first) {
        Value a = op->getOperand(first), b = op->getOperand(second);
        if (isa<MemRefType>(a.getType()) && isa<MemRefType>(b.getType()) && (writes(op, first) || writes(op, second)))
          check(op, a, b, "argument-overlap",
                argumentName(op, first) + " and " + argumentName(op, second) + " of '" + callee +
                    "' share elements of '{}', and one of them is written",
                "give it parts that do not overlap, or a copy");
      }
  }

  /// What a scope says of its moves is so: what enters by one is not what leaves by another. Of a scope that touches
  /// the arrays around it in other ways nothing is believed.
  void parts(ScopeOp scope) {
    struct Side {
      MoveOp move;
      Value view, block;
      bool isWritten;
    };
    SmallVector<Side> sides;
    bool isPlain = true;
    scope.walk([&](Operation* op) {
      for (OpOperand& operand : op->getOpOperands()) {
        Value view = operand.get();
        if (!isa<MemRefType>(view.getType()) || !isOutside(rootOf(view), scope) ||
            isa<memref::DimOp, memref::ExtractStridedMetadataOp>(op) || isViewOfAnother(op))
          continue;
        auto move = dyn_cast<MoveOp>(op);
        isPlain &= move && move->getParentOp() == scope && !shapedIn(view);
        if (move)
          sides.push_back({move, view, operand.getOperandNumber() == 0 ? move.getDestination() : move.getSource(),
                           operand.getOperandNumber() == 1});
      }
    });
    if (!isPlain) {
      scope.setDisjoint(false);
      return;
    }
    for (auto [position, second] : llvm::enumerate(sides))
      for (const Side& first : ArrayRef(sides).take_front(position)) {
        const bool isSame = first.view == second.view && first.block == second.block; // in and out again
        MoveOp a = first.move, b = second.move;
        if (a != b && !isSame && (first.isWritten || second.isWritten))
          check(b, first.view, second.view, "scope-overlap",
                "two moves of a scope that is said to be disjoint share elements of '{}', and one of them is written",
                "take 'disjoint' away, or move parts that do not overlap");
      }
  }

  SymbolTable symbols_;
  llvm::DenseSet<Value> written_;
};

} // namespace

std::string nameOfBlock(Value block) {
  Value root = rootOf(block);
  if (auto made = root.getDefiningOp<BlockOp>())
    return made.getLabel() ? made.getLabel()->str() : "a block";
  auto argument = dyn_cast<BlockArgument>(root);
  auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()) : nullptr;
  if (!function)
    return "a block";
  auto name = SvmDialect::nameAttr.of(function, argument.getArgNumber());
  return name ? name.getValue().str() : "argument " + std::to_string(argument.getArgNumber());
}

void guardOverlaps(ModuleOp program) {
  ModuleGuard guard(program);
  SmallVector<Operation*> operations;
  program.walk([&](Operation* op) {
    if (isa<MoveOp, GatherOp, ScatterOp, RunOp, func::CallOp, ScopeOp>(op))
      operations.push_back(op);
  });
  for (Operation* op : operations)
    guard.operation(op);
}

} // namespace strata::transform

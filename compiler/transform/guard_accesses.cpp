// Each operation is guarded where it stands. Conditions are arithmetic that cannot overflow: a bound is divided rather
// than a value multiplied.
#include "compiler/transform/guard_accesses.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/transfer.h"
#include "compiler/transform/builders.h"
#include "compiler/transform/guard_overlaps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Elements times bytes of a block; below it, compiled code computes sizes without overflow.
constexpr int64_t maximumBytes = int64_t(1) << 61;

class Guard {
public:
  Guard(Operation* op, SymbolTable& symbols) : builder_(op), symbols_(symbols), loc_(op->getLoc()) {}

  void operation(Operation* op) {
    llvm::TypeSwitch<Operation*>(op)
        .Case<memref::LoadOp, memref::StoreOp>([&](auto access) { indices(access.getMemref(), access.getIndices()); })
        .Case([&](AtomicOp atomic) { indices(atomic.getBlock(), atomic.getIndices()); })
        .Case<affine::AffineLoadOp, affine::AffineStoreOp>([&](auto access) {
          auto expanded =
              affine::expandAffineMap(builder_, loc_, access.getAffineMap(), llvm::to_vector(access.getMapOperands()));
          if (expanded)
            indices(access.getMemref(), *expanded);
        })
        .Case([&](memref::SubViewOp view) { subview(view); })
        .Case([&](memref::ReinterpretCastOp view) { shaped(view); })
        .Case([&](BlockOp block) { extents(block); })
        .Case([&](MemoryAtOp memory) { extents(memory.getBlock(), memory.getExtent()); })
        .Case([&](MoveOp move) { sameExtents(move); })
        .Case<GatherOp, ScatterOp>([&](auto indexed) { indexedExtents(*transferOf(indexed)); })
        .Case([&](RunOp run) { statedExtents(run); })
        .Case<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(
            [&](auto division) { divisor(division.getLhs(), division.getRhs(), true); })
        .Case<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(
            [&](auto division) { divisor(division.getLhs(), division.getRhs(), false); })
        .Case<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>([&](auto shift) { shiftAmount(shift.getRhs()); })
        .Case([&](arith::FPToSIOp cut) { realRange(cut.getIn(), cut.getType(), true); })
        .Case([&](arith::FPToUIOp cut) { realRange(cut.getIn(), cut.getType(), false); })
        .Case([&](scf::ForOp loop) { step(loop.getStep()); });
  }

private:
  Value number(int64_t value, Type type = {}) {
    return type ? builder_.create<arith::ConstantOp>(loc_, builder_.getIntegerAttr(type, value)).getResult()
                : builder_.create<arith::ConstantIndexOp>(loc_, value).getResult();
  }
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return builder_.createOrFold<arith::CmpIOp>(loc_, how, a, b);
  }
  /// Taken from where the block was made: what it says of a copy stays so when the copy is elided.
  Value extent(Value block, unsigned dimension) {
    while (auto cast = block.getDefiningOp<memref::CastOp>())
      block = cast.getSource();
    if (auto made = block.getDefiningOp<BlockOp>())
      return made.getExtents()[dimension];
    if (auto found = block.getDefiningOp<MemoryAtOp>())
      return found.getExtent();
    if (auto shaped = block.getDefiningOp<memref::ReinterpretCastOp>())
      return asValue(shaped.getMixedSizes()[dimension]);
    auto view = block.getDefiningOp<memref::SubViewOp>();
    if (view && view.getSourceType().getRank() == view.getType().getRank())
      return asValue(view.getMixedSizes()[dimension]);
    return builder_.createOrFold<memref::DimOp>(loc_, block, static_cast<int64_t>(dimension));
  }
  Value asValue(OpFoldResult part) {
    return isa<Attribute>(part) ? number(getConstantIntValue(part).value_or(0)) : cast<Value>(part);
  }
  void check(Value condition, StringRef code, const std::string& message, StringRef help, ValueRange values) {
    if (getConstantIntValue(condition).value_or(0)) // true, of a width of one bit
      return;
    builder_.create<CheckOp>(loc_, condition, builder_.getStringAttr(code), builder_.getStringAttr(message),
                             help.empty() ? StringAttr() : builder_.getStringAttr(help), values);
  }

  void indices(Value block, ValueRange list) {
    if (list.empty())
      return;
    std::string name = nameOfBlock(block);
    for (auto [dimension, index] : llvm::enumerate(list))
      builder_.create<IndexOp>(loc_, index, extent(block, dimension), builder_.getStringAttr(name),
                               builder_.getI64IntegerAttr(static_cast<int64_t>(dimension)));
  }

  /// 0 <= offset <= extent, stride >= 1 and the last of `size` elements within the extent.
  void subview(memref::SubViewOp view) {
    std::string name = nameOfBlock(view.getSource());
    auto offsets = view.getMixedOffsets(), sizes = view.getMixedSizes(), strides = view.getMixedStrides();
    for (unsigned dimension = 0; dimension < offsets.size(); ++dimension) {
      Value offset = asValue(offsets[dimension]), size = asValue(sizes[dimension]),
            stride = asValue(strides[dimension]);
      Value all = extent(view.getSource(), dimension);
      std::string place = ", dimension " + std::to_string(dimension) + " of '" + name + "'";
      check(compare(arith::CmpIPredicate::ule, offset, all), "view-out-of-range",
            "a view begins at {0}" + place + ", which has {1} elements", "", {offset, all});
      Value room = builder_.createOrFold<arith::SubIOp>(loc_, all, offset);
      if (getConstantIntValue(strides[dimension]) != 1) {
        check(compare(arith::CmpIPredicate::sge, stride, number(1)), "view-stride",
              "a view goes by steps of {0}" + place, "steps are positive", {stride});
        // Rounded up: the elements that there are at this stride.
        Value less = builder_.createOrFold<arith::SubIOp>(loc_, room, number(1));
        Value whole = builder_.createOrFold<arith::DivUIOp>(loc_, less, stride);
        Value some = builder_.createOrFold<arith::AddIOp>(loc_, whole, number(1));
        room = builder_.createOrFold<arith::SelectOp>(loc_, compare(arith::CmpIPredicate::eq, room, number(0)), room,
                                                      some);
      }
      check(compare(arith::CmpIPredicate::ule, size, room), "view-out-of-range",
            "a view of {0} elements begins at {1}" + place + ", which has {2}", "", {size, offset, all});
    }
  }

  /// How many elements there are from a block's first to its last one.
  Value spanOf(Value block, memref::ExtractStridedMetadataOp layout) {
    const auto rank = static_cast<unsigned>(cast<MemRefType>(block.getType()).getRank());
    if (rank == 1)
      return extent(block, 0);
    Value last = number(0), isEmpty = number(0, builder_.getI1Type());
    for (unsigned dimension = 0; dimension < rank; ++dimension) {
      Value count = extent(block, dimension), less = builder_.createOrFold<arith::SubIOp>(loc_, count, number(1));
      last = builder_.createOrFold<arith::AddIOp>(
          loc_, last, builder_.createOrFold<arith::MulIOp>(loc_, less, layout.getStrides()[dimension]));
      isEmpty = builder_.createOrFold<arith::OrIOp>(loc_, isEmpty, compare(arith::CmpIPredicate::eq, count, number(0)));
    }
    Value all = builder_.createOrFold<arith::AddIOp>(loc_, last, number(1));
    return builder_.createOrFold<arith::SelectOp>(loc_, isEmpty, number(0), all);
  }

  /// One dimension as several, or several as one: where there are elements, the first and the last one lie in it.
  void shaped(memref::ReinterpretCastOp view) {
    using enum arith::CmpIPredicate;
    const auto both = [&](Value a, Value b) { return builder_.createOrFold<arith::AndIOp>(loc_, a, b); };
    auto layout = builder_.create<memref::ExtractStridedMetadataOp>(loc_, view.getSource());
    Value all = spanOf(view.getSource(), layout);
    Value first =
        builder_.createOrFold<arith::SubIOp>(loc_, asValue(view.getMixedOffsets().front()), layout.getOffset());
    Value last = first, fits = compare(sge, first, number(0)), isEmpty = number(0, builder_.getI1Type());
    for (auto [size, stride] : llvm::zip(view.getMixedSizes(), view.getMixedStrides())) {
      Value count = asValue(size), step = asValue(stride),
            less = builder_.createOrFold<arith::SubIOp>(loc_, count, number(1));
      check(both(compare(sge, count, number(0)), compare(sge, step, number(0))), "view-stride",
            "a view of '" + nameOfBlock(view.getSource()) + "' has {0} elements at steps of {1}", "neither is negative",
            {count, step});
      Value most = builder_.createOrFold<arith::DivUIOp>(loc_, all,
                                                         builder_.createOrFold<arith::MaxSIOp>(loc_, step, number(1)));
      fits = both(fits, compare(sle, less, most));
      last = builder_.createOrFold<arith::AddIOp>(loc_, last, builder_.createOrFold<arith::MulIOp>(loc_, less, step));
      isEmpty = builder_.createOrFold<arith::OrIOp>(loc_, isEmpty, compare(eq, count, number(0)));
    }
    fits = both(fits, compare(slt, last, all));
    check(builder_.createOrFold<arith::OrIOp>(loc_, isEmpty, fits), "view-out-of-range",
          "a view reaches from {0} to {1} of '" + nameOfBlock(view.getSource()) + "', which has {2} elements", "",
          {first, last, all});
  }

  void extents(BlockOp block) { extents(block.getBlock(), block.getExtents()); }
  void extents(TypedValue<MemRefType> block, ValueRange extents) {
    std::string name = nameOfBlock(block);
    Value most =
        number(maximumBytes /
               static_cast<int64_t>(std::max<uint64_t>(1, RecordType::sizeInBytes(block.getType().getElementType()))));
    for (auto [dimension, extent] : llvm::enumerate(extents)) {
      check(compare(arith::CmpIPredicate::ule, extent, most), "block-extent",
            "block '" + name + "' would have {0} elements in dimension " + std::to_string(dimension),
            "extents are not negative, and fit in memory", {extent});
      Value divisor = builder_.createOrFold<arith::MaxSIOp>(loc_, extent, number(1));
      most = builder_.createOrFold<arith::DivUIOp>(loc_, most, divisor);
    }
  }

  void sameExtents(MoveOp move) {
    for (unsigned dimension = 0; dimension < move.getSource().getType().getRank(); ++dimension) {
      Value from = extent(move.getSource(), dimension), to = extent(move.getDestination(), dimension);
      check(compare(arith::CmpIPredicate::eq, from, to), "move-extents",
            "a move takes {0} elements of '" + nameOfBlock(move.getSource()) + "' to {1} of '" +
                nameOfBlock(move.getDestination()) + "' in dimension " + std::to_string(dimension),
            "", {from, to});
    }
  }

  /// As many parts as indices, and all of one shape.
  void indexedExtents(const Transfer& transfer) {
    const std::string from = nameOfBlock(transfer.source), to = nameOfBlock(transfer.destination),
                      what = transfer.scatters() ? "a scatter" : "a gather";
    Value indices = extent(transfer.indices, 0), parts = extent(transfer.whole(), 0);
    check(compare(arith::CmpIPredicate::eq, indices, parts), "move-extents",
          what + " takes {0} indices of '" + nameOfBlock(transfer.indices) + "' for {1} elements of '" +
              (transfer.scatters() ? from : to) + "' in dimension 0",
          "", {indices, parts});
    for (unsigned dimension = 1; dimension < transfer.source.getType().getRank(); ++dimension) {
      Value given = extent(transfer.source, dimension), taken = extent(transfer.destination, dimension);
      check(compare(arith::CmpIPredicate::eq, given, taken), "move-extents",
            what + " takes {0} elements of '" + from + "' to {1} of '" + to + "' in dimension " +
                std::to_string(dimension),
            "", {given, taken});
    }
  }

  /// What a kernel says of its arguments' extents is so.
  void statedExtents(RunOp run) {
    auto kernel = symbols_.lookup<KernelOp>(run.getKernel());
    std::optional<ArrayAttr> stated = kernel ? kernel.getExtents() : std::nullopt;
    if (!stated)
      return;
    std::map<unsigned, Value> sizes;
    auto forEach = [&](auto body) {
      for (auto [map, argument] : llvm::zip(stated->getAsValueRange<AffineMapAttr>(), run.getArguments()))
        for (auto [dimension, result] : llvm::enumerate(map.getResults()))
          body(map, argument, static_cast<unsigned>(dimension), result);
    };
    forEach([&](AffineMap, Value argument, unsigned dimension, AffineExpr result) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(result))
        if (Value& size = sizes[symbol.getPosition()]; !size)
          size = extent(argument, dimension);
    });
    forEach([&](AffineMap map, Value argument, unsigned dimension, AffineExpr result) {
      SmallVector<Value> symbols;
      for (unsigned position = 0; position < map.getNumSymbols(); ++position)
        symbols.push_back(sizes.count(position) ? sizes[position] : number(0));
      Value wanted = affine::expandAffineExpr(builder_, loc_, result, {}, symbols);
      Value given = extent(argument, dimension);
      if (wanted && wanted != given)
        check(compare(arith::CmpIPredicate::eq, given, wanted), "kernel-extents",
              "kernel '" + run.getKernel().str() + "' takes {0} elements in dimension " + std::to_string(dimension) +
                  " of '" + nameOfBlock(argument) + "', and is given {1}",
              "", {wanted, given});
    });
  }

  void divisor(Value dividend, Value divisor, bool isSigned) {
    Type type = divisor.getType();
    std::optional<int64_t> known = getConstantIntValue(divisor);
    if (!known || *known == 0)
      check(compare(arith::CmpIPredicate::ne, divisor, number(0, type)), "division-by-zero", "division by zero", "",
            {});
    if (!isSigned || (known && *known != -1))
      return;
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    APInt smallest = APInt::getSignedMinValue(width);
    Value isSmallest = compare(arith::CmpIPredicate::eq, dividend, number(smallest.getSExtValue(), type));
    Value isMinusOne = compare(arith::CmpIPredicate::eq, divisor, number(-1, type));
    Value both = builder_.createOrFold<arith::AndIOp>(loc_, isSmallest, isMinusOne);
    Value fits = builder_.createOrFold<arith::XOrIOp>(loc_, both, number(1, builder_.getI1Type()));
    check(fits, "division-overflow", "the quotient of the smallest number and -1 does not fit", "", {});
  }

  void shiftAmount(Value amount) {
    Type type = amount.getType();
    int64_t width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    std::optional<int64_t> known = getConstantIntValue(amount);
    if (known && *known >= 0 && *known < width)
      return;
    if (width == 1) // a shift of a bit by itself: only by zero
      return check(compare(arith::CmpIPredicate::eq, amount, number(0, type)), "shift-amount",
                   "a shift by as many bits as there are, or more", "", {});
    check(compare(arith::CmpIPredicate::ult, amount, number(width, type)), "shift-amount",
          "a shift by as many bits as there are, or more", "", {});
  }

  /// What is left of a real number when it is cut is within the limits of the integer type.
  void realRange(Value value, Type to, bool isSigned) {
    auto type = cast<FloatType>(value.getType());
    auto real = [&](double number) -> Value {
      return builder_.create<arith::ConstantOp>(loc_, builder_.getFloatAttr(type, number));
    };
    const unsigned digits = to.getIntOrFloatBitWidth() - isSigned;
    const double least = isSigned ? -std::ldexp(1.0, static_cast<int>(digits)) : 0;
    // The number below the least one, where the format has it.
    const bool hasBelow = digits < (type.isF32() ? 24 : 53);
    Value above = hasBelow ? builder_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::OGT, value, real(least - 1))
                           : builder_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::OGE, value, real(least));
    Value below = builder_.create<arith::CmpFOp>(loc_, arith::CmpFPredicate::OLT, value,
                                                 real(std::ldexp(1.0, static_cast<int>(digits))));
    check(builder_.createOrFold<arith::AndIOp>(loc_, above, below), "conversion-range",
          "a real number beyond the limits of " + std::to_string(digits + isSigned) + " bits becomes an integer",
          "choose a number within them by comparisons before the conversion", {});
  }

  void step(Value step) {
    if (std::optional<int64_t> known = getConstantIntValue(step); known && *known > 0)
      return;
    check(compare(arith::CmpIPredicate::sgt, step, number(0, step.getType())), "loop-step",
          "a loop goes by steps that are not positive", "", {});
  }

  OpBuilder builder_;
  SymbolTable& symbols_;
  Location loc_;
};

class GuardAccessesPass : public PassWrapper<GuardAccessesPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(GuardAccessesPass)

  void runOnOperation() override {
    forgetUnverifiable();
    SymbolTable symbols(getOperation());
    SmallVector<Operation*> operations;
    getOperation().walk([&](Operation* op) { operations.push_back(op); });
    for (Operation* op : operations)
      if (op != getOperation())
        Guard(op, symbols).operation(op);
    guardOverlaps(getOperation());
  }

private:
  /// Extents that no run can be compared with are not relied on: those with a size that no extent gives, and those of
  /// combiners, which the expansion of reductions calls itself, unless they only name the extents.
  void forgetUnverifiable() {
    llvm::SmallPtrSet<Attribute, 4> combiners;
    getOperation().walk([&](ParallelOp loop) {
      if (loop.getCombiners())
        for (CombinerAttr combiner : loop.getCombiners()->getAsRange<CombinerAttr>())
          combiners.insert(combiner.getFunction().getAttr());
    });
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel.getExtents())
        continue;
      llvm::SmallBitVector alone, used;
      bool names = true;
      AffineMap first;
      for (AffineMap map : kernel.getExtents()->getAsValueRange<AffineMapAttr>()) {
        alone.resize(std::max<size_t>(alone.size(), map.getNumSymbols()));
        used.resize(alone.size());
        llvm::SmallBitVector here(alone.size());
        for (AffineExpr result : map.getResults()) {
          auto symbol = dyn_cast<AffineSymbolExpr>(result);
          names &= symbol && !here.test(symbol.getPosition());
          if (symbol) {
            here.set(symbol.getPosition());
            alone.set(symbol.getPosition());
          }
          for (unsigned position = 0; position < map.getNumSymbols(); ++position)
            if (result.isFunctionOfSymbol(position))
              used.set(position);
        }
        names &= !first || first == map;
        first = map;
      }
      used.reset(alone);
      if (used.any() || (!names && combiners.contains(kernel.getSymNameAttr())))
        kernel.removeExtentsAttr();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createGuardAccessesPass() {
  return svm::makePass<GuardAccessesPass>(svm::passes::GuardAccesses);
}

} // namespace strata::transform

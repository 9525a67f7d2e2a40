// Expansion of reductions. Copies for a combiner that is known to be elementwise (+, *, min, …) start at its identity
// and are combined into the incoming value at the end. For any other combiner they start at the incoming value v, if
// combine(v, v) is v bit for bit when the loop begins, and the root of the tree replaces v; otherwise the loop runs as
// one part on one copy.
#include "compiler/transform/expand_reductions.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/combiner_identity.h"
#include "compiler/transform/distribute_iterations.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// The greater bounds of two blocks, dimension by dimension; none where one has none.
DenseI64ArrayAttr widerBounds(DenseI64ArrayAttr a, DenseI64ArrayAttr b) {
  if (!a || !b || a.size() != b.size())
    return a ? a : b;
  SmallVector<int64_t> both;
  for (auto [x, y] : llvm::zip(a.asArrayRef(), b.asArrayRef()))
    both.push_back(x < 0 || y < 0 ? -1 : std::max(x, y));
  return DenseI64ArrayAttr::get(a.getContext(), both);
}

/// The static bounds of a private copy: those of the blocks that receive all of it in the loop's body (the callee's
/// arguments, of which there are several where the callee depends on a condition), or in that of a loop inside that
/// reduces into it.
DenseI64ArrayAttr boundsOf(Value privateCopy) {
  DenseI64ArrayAttr bounds;
  for (OpOperand& use : privateCopy.getUses()) {
    if (auto move = dyn_cast<MoveOp>(use.getOwner())) {
      for (Value side : {Value(move.getSource()), Value(move.getDestination())})
        if (auto block = side.getDefiningOp<BlockOp>())
          bounds = widerBounds(bounds, block.getMaxAttr());
    } else if (auto inner = dyn_cast<ParallelOp>(use.getOwner())) {
      unsigned position = use.getOperandNumber() - inner.getReductions().getBeginOperandIndex();
      bounds = widerBounds(bounds, boundsOf(inner.privateCopy(position)));
    }
  }
  return bounds;
}

/// Appends `more` to the bounds of a block, as one dimension in front.
DenseI64ArrayAttr withParts(OpBuilder& builder, DenseI64ArrayAttr bounds, int64_t parts) {
  if (!bounds)
    return {};
  SmallVector<int64_t> all{parts};
  llvm::append_range(all, bounds.asArrayRef());
  return builder.getDenseI64ArrayAttr(all);
}

BlockOp blockLike(OpBuilder& builder, Location loc, Value like, StringRef memory, DenseI64ArrayAttr bounds) {
  auto type = cast<MemRefType>(like.getType());
  auto block = builder.create<BlockOp>(loc, viewType(type.getRank(), type.getElementType()),
                                       extentsOf(builder, loc, like), bounds, StringAttr(), IntegerAttr());
  block.getBlock().setType(withMemory(block.getBlock().getType(), memory));
  return block;
}

/// combine(from, into), as a call with copies to and from the memory that the combiner works in.
void combine(OpBuilder& builder, Location loc, CombinerAttr combiner, StringRef here, Value from, Value into,
             DenseI64ArrayAttr bounds, SymbolTable& symbols) {
  OpBuilder::InsertionGuard guard(builder);
  StringRef processor = combiner.getProcessor() ? combiner.getProcessor().getValue() : here;
  if (processor != here) {
    auto on = builder.create<OnOp>(loc, FlatSymbolRefAttr::get(builder.getContext(), processor));
    builder.setInsertionPointToStart(&on.getBody().front());
  }
  auto scope = builder.create<ScopeOp>(loc, combiner.getLabel(), builder.getUnitAttr());
  builder.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  // A combiner that is control code says where each of its arguments is.
  auto function = symbols.lookup<func::FuncOp>(combiner.getFunction().getValue());
  auto memoryFor = [&](unsigned position) {
    if (function)
      return memoryOf(function.getArgumentTypes()[position]);
    return combiner.getMemory() ? combiner.getMemory().getValue() : memoryOf(into.getType());
  };
  BlockOp first = blockLike(builder, loc, from, memoryFor(0), bounds);
  BlockOp second = blockLike(builder, loc, into, memoryFor(1), bounds);
  builder.create<MoveOp>(loc, Type(), from, first.getBlock(), ValueRange());
  builder.create<MoveOp>(loc, Type(), into, second.getBlock(), ValueRange());
  SmallVector<Value> arguments{first.getBlock(), second.getBlock()};
  if (symbols.lookup<KernelOp>(combiner.getFunction().getValue()))
    builder.create<RunOp>(loc, Type(), combiner.getFunction(), arguments, ValueRange(),
                          FlatSymbolRefAttr::get(builder.getContext(), processor));
  else
    builder.create<func::CallOp>(loc, combiner.getFunction(), TypeRange(), arguments);
  builder.create<MoveOp>(loc, Type(), second.getBlock(), into, ValueRange());
}

/// One reduction of a loop, with what is needed to expand it.
struct Reduction {
  Value target;
  CombinerAttr combiner;
  std::optional<ElementwiseCombiner> elementwise;
  DenseI64ArrayAttr bounds;
  Value parts;
};

/// Whether combine(v, v) leaves v as it is, bit for bit: an i1.
Value isIdempotent(OpBuilder& builder, Location loc, const Reduction& reduction, StringRef here, SymbolTable& symbols) {
  auto i1 = builder.getI1Type();
  Value isTrue = builder.create<arith::ConstantIntOp>(loc, 1, i1);
  Value flag = builder.create<memref::AllocaOp>(loc, MemRefType::get({}, i1));
  builder.create<memref::StoreOp>(loc, isTrue, flag);
  auto scope = builder.create<ScopeOp>(loc, StringAttr(), UnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  StringRef memory = memoryOf(reduction.target.getType());
  BlockOp one = blockLike(builder, loc, reduction.target, memory, reduction.bounds);
  BlockOp two = blockLike(builder, loc, reduction.target, memory, reduction.bounds);
  builder.create<MoveOp>(loc, Type(), reduction.target, one.getBlock(), ValueRange());
  builder.create<MoveOp>(loc, Type(), reduction.target, two.getBlock(), ValueRange());
  combine(builder, loc, reduction.combiner, here, one.getBlock(), two.getBlock(), reduction.bounds, symbols);
  forEachElement(builder, loc, reduction.target, [&](OpBuilder& inside, ValueRange indices) {
    Value before = inside.create<memref::LoadOp>(loc, reduction.target, indices);
    Value after = inside.create<memref::LoadOp>(loc, two.getBlock(), indices);
    Value same = sameBits(inside, loc, before, after);
    Value all = inside.create<arith::AndIOp>(loc, inside.create<memref::LoadOp>(loc, flag), same);
    inside.create<memref::StoreOp>(loc, all, flag);
  });
  builder.setInsertionPointAfter(scope);
  return builder.create<memref::LoadOp>(loc, flag);
}

struct Expansion {
  ParallelOp loop;
  SymbolTable& symbols;
  /// The processor and memory in which the loop's parts keep their private copies.
  StringRef privateMemory;
  StringRef here;

  /// The reductions of a loop that stays on one processor work on the incoming value itself.
  void useTargets() {
    for (auto [position, target] : llvm::enumerate(loop.getReductions())) {
      loop.privateCopy(position).setType(target.getType());
      propagateMemory(loop.privateCopy(position));
      loop.privateCopy(position).replaceAllUsesWith(target);
    }
    drop();
  }

  void drop() {
    loop->setAttr(SvmDialect::reducesAttr, UnitAttr::get(loop.getContext()));
    Block& body = loop.getBody().front();
    body.eraseArguments(loop.dimensions(), body.getNumArguments() - loop.dimensions());
    loop.getReductionsMutable().clear();
    loop.removeCombinersAttr();
  }

  void run() {
    const int64_t count = loop.getProcessor() ? loop.allParts() : 1;
    if (count == 1)
      return useTargets();
    OpBuilder builder(loop);
    Location loc = loop.getLoc();
    auto scope = builder.create<ScopeOp>(loc, StringAttr(), UnitAttr());
    builder.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    IndexMath math(builder, loc);
    SmallVector<Value> busy = busyParts(builder, loop);

    SmallVector<Reduction> reductions;
    for (auto [position, target] : llvm::enumerate(loop.getReductions())) {
      auto combiner = cast<CombinerAttr>((*loop.getCombiners())[position]);
      Reduction reduction{target, combiner, std::nullopt, boundsOf(loop.privateCopy(position)), {}};
      if (auto kernel = symbols.lookup<KernelOp>(combiner.getFunction().getValue()))
        reduction.elementwise = elementwiseCombiner(kernel);
      if (!reduction.elementwise) {
        // One part, unless the incoming value may be counted more than once.
        Value idempotent = isIdempotent(builder, loc, reduction, here, symbols);
        for (Value& count : busy) {
          Value once = math.min(count, math.constant(1));
          count = builder.create<arith::SelectOp>(loc, idempotent, count, once);
        }
        loop.emitRemark()
            << "the combiner '" << combiner.getFunction().getValue()
            << "' is not known to be elementwise: the loop is split only when combining the incoming value with "
               "itself leaves it as it is";
      }
      reductions.push_back(reduction);
    }
    Value instances = productOf(builder, loc, busy);
    for (Reduction& reduction : reductions) {
      auto type = cast<MemRefType>(reduction.target.getType());
      SmallVector<Value> extents{instances};
      llvm::append_range(extents, extentsOf(builder, loc, reduction.target));
      auto parts = builder.create<BlockOp>(
          loc, viewType(type.getRank() + 1, type.getElementType(), type.getMemorySpace()), extents,
          withParts(builder, reduction.bounds, count),
          builder.getStringAttr(reduction.combiner.getLabel().getValue() + " parts"), IntegerAttr());
      reduction.parts = parts.getBlock();
    }
    parts(builder, reductions, instances, busy);
    tree(builder, reductions, instances, count);
    loop.erase();
  }

  /// The loop over the processors, each with its private copies.
  void parts(OpBuilder& builder, ArrayRef<Reduction> reductions, Value instances, ValueRange busy) {
    OpBuilder::InsertionGuard guard(builder);
    Location loc = loop.getLoc();
    InstancesOp on = makeInstances(builder, loop, instances);
    builder.setInsertionPointToStart(&on.getBody().front());
    auto scope = builder.create<ScopeOp>(loc, StringAttr(), UnitAttr());
    builder.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    SmallVector<Value> copies, views;
    for (const Reduction& reduction : reductions) {
      Value view = partOf(builder, loc, reduction.parts, on.instance());
      BlockOp copy = blockLike(builder, loc, reduction.target, privateMemory, reduction.bounds);
      copy.setLabelAttr(builder.getStringAttr(reduction.combiner.getLabel().getValue() + " private"));
      if (reduction.elementwise)
        fillWithIdentity(builder, loc, *reduction.elementwise, copy.getBlock());
      else
        builder.create<MoveOp>(loc, Type(), reduction.target, copy.getBlock(), ValueRange());
      copies.push_back(copy.getBlock());
      views.push_back(view);
    }
    for (auto [position, copy] : llvm::enumerate(copies)) {
      // The body keeps the type of the copy it was written for; memories may differ until copies are eliminated.
      loop.privateCopy(position).setType(copy.getType());
      propagateMemory(loop.privateCopy(position));
      loop.privateCopy(position).replaceAllUsesWith(copy);
    }
    PartLoop distributed = loopOfPart(builder, loop, on.instance(), busy);
    for (Operation* each = distributed.innermost; each != scope; each = each->getParentOp())
      SvmDialect::reducesAttr.set(each);
    moveBody(loop, distributed.innermost, distributed.iteration);
    builder.setInsertionPointToEnd(&scope.getBody().front());
    for (auto [copy, view] : llvm::zip(copies, views))
      builder.create<MoveOp>(loc, Type(), copy, view, ValueRange());
  }

  /// Combines the parts in pairs at distance 1, 2, 4, …, and the first of them with the incoming value.
  void tree(OpBuilder& builder, ArrayRef<Reduction> reductions, Value instances, int64_t parts) {
    Location loc = loop.getLoc();
    IndexMath math(builder, loc);
    auto some = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, instances, math.constant(0));
    auto guard = builder.create<scf::IfOp>(loc, some, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(&guard.getThenRegion().front());
    for (const Reduction& reduction : reductions) {
      for (int64_t distance = 1; distance < parts; distance *= 2) {
        OpBuilder::InsertionGuard inner(builder);
        Value last = math.max(math.sub(instances, math.constant(distance)), math.constant(0));
        auto pairs = builder.create<scf::ForOp>(loc, math.constant(0), last, math.constant(2 * distance));
        builder.setInsertionPointToStart(pairs.getBody());
        Value into = pairs.getInductionVar();
        combine(builder, loc, reduction.combiner, here,
                partOf(builder, loc, reduction.parts, math.add(into, math.constant(distance))),
                partOf(builder, loc, reduction.parts, into), reduction.bounds, symbols);
      }
      Value root = partOf(builder, loc, reduction.parts, math.constant(0));
      if (reduction.elementwise)
        combine(builder, loc, reduction.combiner, here, root, reduction.target, reduction.bounds, symbols);
      else
        builder.create<MoveOp>(loc, Type(), root, reduction.target, ValueRange());
    }
  }
};

struct ExpandReductionsPass : PassWrapper<ExpandReductionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandReductionsPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<ParallelOp> loops;
    getOperation().walk<WalkOrder::PostOrder>([&](ParallelOp op) {
      if (!op.getReductions().empty())
        loops.push_back(op);
    });
    // Outer loops first: an inner reduction's target may be an outer one's private copy.
    for (ParallelOp op : llvm::reverse(loops)) {
      StringRef here;
      for (Operation* up = op->getParentOp(); up && here.empty(); up = up->getParentOp())
        if (FlatSymbolRefAttr by = executorOf(up))
          here = by.getValue();
      StringRef privateMemory =
          op.getPrivateMemory() ? *op.getPrivateMemory() : memoryOf(op.getReductions().front().getType());
      Expansion{op, symbols, privateMemory, here}.run();
    }
  }
};

} // namespace

std::unique_ptr<Pass> createExpandReductionsPass() {
  return svm::makePass<ExpandReductionsPass>(svm::passes::ExpandReductions);
}

} // namespace strata::transform

// Decides which loops may run in vector lanes. Each value in a loop is uniform, consecutive or varying (Lane). The
// rules only move a value forward in this order, so repeating them reaches a fixed point. Iterations are independent
// when each one reaches what the loop writes in its own column alone.
#include "compiler/kernel/lanes.h"

#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

constexpr unsigned smallestLane = 32; // bits; narrower elements go in as many lanes as floats

/// A variable of the source: an element of its own on the stack.
bool isScalarVariable(Value block) {
  auto variable = block.getDefiningOp<memref::AllocaOp>();
  return variable && variable.getType().getRank() == 0;
}

/// What a load or store reaches.
struct Access {
  Operation* op;
  Value block;
  ValueRange indices;
  Type element;
};

std::optional<Access> accessOf(Operation* op) {
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return Access{op, load.getMemRef(), load.getIndices(), load.getType()};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return Access{op, store.getMemRef(), store.getIndices(), store.getValue().getType()};
  return std::nullopt;
}

/// Elements that lie side by side in memory as they do in a register.
bool fillsLanes(Type type) {
  return type.isIntOrFloat() && type.getIntOrFloatBitWidth() >= 8 && type.getIntOrFloatBitWidth() <= 64 &&
         llvm::isPowerOf2_32(type.getIntOrFloatBitWidth());
}

/// Whether a value of this type has a vector form.
bool hasVectorForm(Type type) {
  return type.isIndex() || type.isInteger(1) || fillsLanes(type);
}

class Planner {
public:
  Planner(scf::ForOp loop, const machine::Figures& figures) : figures_(figures) { plan_.loop = loop; }

  std::optional<LanePlan> run() {
    scf::ForOp loop = plan_.loop;
    if (loop.getNumResults() || !matchPattern(loop.getStep(), m_One()) || !loop.getInductionVar().getType().isIndex())
      return std::nullopt;
    loop.getBody()->walk([&](Operation* op) { inside_.push_back(op); });
    plan_.lanes[loop.getInductionVar()] = Lane::Consecutive;
    do {
      changed_ = false;
      llvm::for_each(inside_, [&](Operation* op) { classify(op); });
    } while (changed_);
    if (!llvm::all_of(inside_, [&](Operation* op) { return isAllowed(op); }) || !variablesArePrivate() ||
        !writesAreApart())
      return std::nullopt;
    chooseWidth();
    return plan_.width > 1 ? std::optional(std::move(plan_)) : std::nullopt;
  }

private:
  Lane laneOf(Value value) const { return plan_.laneOf(value); }
  bool isUniform(Value value) const { return laneOf(value) == Lane::Uniform; }
  bool areUniform(ValueRange values) const {
    return llvm::all_of(values, [&](Value value) { return isUniform(value); });
  }

  void raise(Value value, Lane lane) {
    Lane& known = plan_.lanes[value];
    if (lane > known) {
      known = lane;
      changed_ = true;
    }
  }

  void classify(Operation* op) {
    if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (isScalarVariable(store.getMemRef()) && !isUniform(store.getValue()))
        changed_ |= plan_.varying.insert(store.getMemRef());
      return;
    }
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      bool varies = isScalarVariable(load.getMemRef()) ? plan_.varying.contains(load.getMemRef())
                                                       : !areUniform(load.getIndices());
      return raise(load, varies ? Lane::Varying : Lane::Uniform);
    }
    if (op->getNumResults() != 1 || areUniform(op->getOperands()))
      return;
    raise(op->getResult(0), isConsecutive(op) ? Lane::Consecutive : Lane::Varying);
  }

  /// Sums of a value that grows by one and one that does not, in as many bits as an address.
  bool isConsecutive(Operation* op) const {
    auto is = [&](unsigned operand, Lane lane) { return laneOf(op->getOperand(operand)) == lane; };
    auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    if (!isWord(op->getResult(0).getType()) || !isWord(op->getOperand(0).getType()))
      return false;
    if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
      return is(0, Lane::Consecutive);
    if (isa<arith::AddIOp>(op))
      return (is(0, Lane::Consecutive) && is(1, Lane::Uniform)) || (is(0, Lane::Uniform) && is(1, Lane::Consecutive));
    return isa<arith::SubIOp>(op) && is(0, Lane::Consecutive) && is(1, Lane::Uniform);
  }

  bool isAllowed(Operation* op) {
    if (auto inner = dyn_cast<scf::ForOp>(op))
      return !inner.getNumResults() && areUniform(inner->getOperands());
    if (auto choice = dyn_cast<scf::IfOp>(op))
      return !choice.getNumResults() && isUniform(choice.getCondition());
    if (isa<scf::YieldOp>(op))
      return !op->getNumOperands();
    if (isa<CheckOp, IndexOp>(op))
      return areUniform(op->getOperands());
    if (auto access = accessOf(op))
      return isAllowed(*access);
    if (op->getNumRegions() || !isMemoryEffectFree(op))
      return false;
    if (areUniform(op->getOperands()))
      return true;
    auto haveVectorForms = [](TypeRange types) { return llvm::all_of(types, hasVectorForm); };
    return op->getNumResults() == 1 && isLaneWise(op) && haveVectorForms(op->getOperandTypes()) &&
           haveVectorForms(op->getResultTypes());
  }

  /// The argument that a block is, or that it is another shape of, by which alone it is reached; else the block.
  static Value argumentOf(Value block) {
    auto shaped = block.getDefiningOp<memref::ReinterpretCastOp>();
    if (!shaped)
      return block;
    const bool isAlone = llvm::all_of(shaped.getSource().getUsers(), [&](Operation* user) {
      return user == shaped || isa<memref::DimOp, memref::ExtractStridedMetadataOp>(user);
    });
    return isAlone ? shaped.getSource() : block;
  }

  bool isAllowed(const Access& access) {
    if (isScalarVariable(access.block)) {
      used_.insert(access.block);
      return !plan_.varying.contains(access.block) || hasVectorForm(access.element);
    }
    // Of other blocks it is not known what they overlap.
    auto argument = dyn_cast<BlockArgument>(argumentOf(access.block));
    const bool isTable = access.block.getDefiningOp<memref::GetGlobalOp>() != nullptr; // which nobody writes
    if (!isTable && (!argument || !isa<KernelOp>(argument.getOwner()->getParentOp())))
      return false;
    if (isa<memref::StoreOp>(access.op))
      written_.insert(access.block);
    accesses_.push_back(access);
    if (areUniform(access.indices))
      return isa<memref::LoadOp>(access.op);
    SmallVector<int64_t> strides;
    int64_t offset = 0;
    return laneOf(access.indices.back()) == Lane::Consecutive && areUniform(access.indices.drop_back()) &&
           fillsLanes(access.element) &&
           succeeded(getStridesAndOffset(cast<MemRefType>(access.block.getType()), strides, offset)) &&
           strides.back() == 1;
  }

  /// Every iteration writes a variable before it reads it, and nothing else does either; or none writes it.
  bool variablesArePrivate() {
    return llvm::all_of(used_, [&](Value variable) {
      auto users = variable.getUsers();
      auto within = [&](Operation* user) { return plan_.loop->isProperAncestor(user); };
      if (llvm::none_of(users, [&](Operation* user) { return within(user) && isa<memref::StoreOp>(user); }))
        return true;
      if (!llvm::all_of(users, [&](Operation* user) { return within(user) && accessOf(user); }))
        return false;
      Block* body = plan_.loop.getBody();
      Operation* first = nullptr;
      for (Operation* user : users) {
        Operation* at = body->findAncestorOpInBlock(*user);
        if (!first || at->isBeforeInBlock(first))
          first = at;
      }
      auto store = dyn_cast<memref::StoreOp>(first);
      return store && store.getMemRef() == variable;
    });
  }

  /// The values that a consecutive one differs from the iteration by; those taken away are marked.
  void collectTerms(Value value, SmallVectorImpl<std::pair<const void*, bool>>& terms) const {
    while (Operation* op = value.getDefiningOp()) {
      if (op->getNumOperands() == 1) {
        value = op->getOperand(0);
        continue;
      }
      bool isLeft = !isUniform(op->getOperand(0));
      terms.push_back({op->getOperand(isLeft).getAsOpaquePointer(), isa<arith::SubIOp>(op)});
      value = op->getOperand(!isLeft);
    }
  }

  /// Whether two blocks that the loop reaches may share elements, of which it writes some.
  bool blocksMayShare() const {
    scf::ForOp loop = plan_.loop;
    auto kernel = loop->getParentOfType<KernelOp>();
    return kernel && kernel.getMayAlias() && llvm::any_of(accesses_, [&](const Access& access) {
             return llvm::any_of(written_, [&](Value written) { return written != access.block; });
           });
  }

  /// Each iteration has a column of its own in the blocks that the loop writes: the same for all accesses, and the same
  /// all the while that the iteration takes.
  bool writesAreApart() const {
    if (blocksMayShare())
      return false;
    llvm::DenseMap<Value, SmallVector<std::pair<const void*, bool>>> columns;
    for (const Access& access : accesses_) {
      if (!written_.contains(access.block))
        continue;
      if (areUniform(access.indices))
        return false;
      SmallVector<std::pair<const void*, bool>> terms;
      collectTerms(access.indices.back(), terms);
      llvm::sort(terms);
      auto isFixed = [&](const auto& term) {
        scf::ForOp loop = plan_.loop;
        return loop.isDefinedOutsideOfLoop(Value::getFromOpaquePointer(term.first));
      };
      if (!llvm::all_of(terms, isFixed))
        return false;
      auto [known, isFirst] = columns.try_emplace(access.block, terms);
      if (!isFirst && known->second != terms)
        return false;
    }
    return true;
  }

  /// As many iterations as fill a register with the widest element; several registers at once where few values need
  /// them, so that the next operation need not wait for the last one's result.
  void chooseWidth() {
    unsigned widest = smallestLane, operations = 0;
    for (Operation* op : inside_) {
      if (auto access = accessOf(op)) {
        bool varies =
            isScalarVariable(access->block) ? plan_.varying.contains(access->block) : !areUniform(access->indices);
        if (varies && access->element.isIntOrFloat())
          widest = std::max(widest, access->element.getIntOrFloatBitWidth());
        operations += varies && !isScalarVariable(access->block);
      } else if (op->getNumResults() == 1 && laneOf(op->getResult(0)) == Lane::Varying) {
        ++operations;
      }
    }
    plan_.width = static_cast<unsigned>(8 * figures_.vectorBytes / widest);
    plan_.registers = static_cast<unsigned>(figures_.registersAtOnce(operations));
  }

  const machine::Figures& figures_;
  LanePlan plan_;
  SmallVector<Operation*> inside_;
  SmallVector<Access> accesses_;
  llvm::DenseSet<Value> written_;
  llvm::SetVector<Value> used_;
  bool changed_ = false;
};

} // namespace

bool isLaneWise(Operation* op) {
  if (isa<math::SqrtOp, math::FmaOp, math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::TruncOp,
          math::RoundEvenOp, math::CopySignOp>(op))
    return true;
  return isa<arith::ArithDialect>(op->getDialect()) && op->hasTrait<OpTrait::Vectorizable>() && canExecuteAnywhere(op);
}

std::optional<LanePlan> planLanes(scf::ForOp loop, const machine::Figures& figures) {
  return Planner(loop, figures).run();
}

} // namespace strata::kernel

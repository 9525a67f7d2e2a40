// Accesses as relations between iterations and elements, as in Feautrier, "Dataflow Analysis of Array and Scalar
// References" (1991): two accesses are in conflict where the set of pairs of iterations that reach one element has a
// point. See verify_order.h.
#include "compiler/kernel/verify_order.h"

#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <memory>

#include <isl/cpp.h>
#include <isl/ctx.h>
#include <isl/options.h>

using namespace mlir;
using namespace strata::svm;

namespace strata::kernel {
namespace {

constexpr unsigned long mostSteps = 1'000'000; // of isl, for one loop
constexpr unsigned mostNestedIndices = 40;     // expressions in one another

/// What loads and stores reach: the records or numbers of one block.
struct Target {
  Value block;
  ArrayRef<int64_t> path; // of a field; empty: whole elements

  bool mayTouch(const Target& other) const {
    if (block != other.block)
      return false;
    const size_t common = std::min(path.size(), other.path.size());
    return path.take_front(common) == other.path.take_front(common);
  }
};

struct Access {
  Operation* op;
  Target target;
  SmallVector<Value> indices;
  bool writes;
};

class Verifier {
public:
  Verifier(scf::ForOp nest, scf::ForOp loop) : nest_(nest), loop_(loop), context_(isl_ctx_alloc()) {
    isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(context_.get(), mostSteps);
  }

  std::optional<Conflict> run() {
    if (loop_.getNumResults())
      return Conflict{"the loop hands values from one iteration to the next", loop_.getLoc(), loop_.getLoc()};
    SmallVector<Access> accesses;
    std::optional<Conflict> found;
    nest_->walk([&](Operation* op) {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        accesses.push_back({op, targetOf(load.getMemRef()), SmallVector<Value>(load.getIndices()), false});
      else if (auto store = dyn_cast<memref::StoreOp>(op))
        accesses.push_back({op, targetOf(store.getMemRef()), SmallVector<Value>(store.getIndices()), true});
      else if (!isa<scf::ForOp, scf::IfOp, scf::YieldOp, CheckOp, IndexOp>(op) && !isMemoryEffectFree(op))
        found = Conflict{"an operation of the nest has effects that are not known", op->getLoc(), op->getLoc()};
    });
    try {
      for (const Access& one : accesses)
        for (const Access& other : accesses)
          if (!found && one.writes && one.target.mayTouch(other.target) && haveCommonElement(one, other))
            found = Conflict{"different iterations of the loop may reach one element, which one of them writes",
                             one.op->getLoc(), other.op->getLoc()};
    } catch (const isl::exception&) {
      return std::nullopt; // too many steps
    }
    return found;
  }

private:
  static Target targetOf(Value block) {
    if (auto fields = block.getDefiningOp<FieldsOp>())
      return {fields.getBlock(), fields.getPath()};
    return {block, {}};
  }

  bool haveCommonElement(const Access& one, const Access& other) {
    names_.clear();
    parameters_ = 0;
    unknown_ = 0;
    conditions_.clear();
    iterators_.clear();
    for (char side : {'a', 'b'})
      addIterations(side == 'a' ? one.op : other.op, side);
    for (auto [first, second] : llvm::zip(one.indices, other.indices))
      conditions_ += " and " + text(first, 'a', 0) + " = " + text(second, 'b', 0);
    std::string all;
    for (size_t i = 0; i < parameters_; ++i)
      all += (i ? ", p" : "p") + std::to_string(i);
    all = "[" + all + "] -> { [" + iterators_ + "] : ";
    if (unknown_) {
      all += "exists (";
      for (size_t i = 0; i < unknown_; ++i)
        all += (i ? ", u" : "u") + std::to_string(i);
      all += " : ";
    }
    const std::string number = nameOf(loop_);
    all += "a" + number + " != b" + number + conditions_ + (unknown_ ? ")" : "") + " }";
    return !isl::set(isl::ctx(context_.get()), all).is_empty();
  }

  /// The loops around an access, from the nest on, with their bounds.
  void addIterations(Operation* op, char side) {
    SmallVector<scf::ForOp> loops;
    for (Operation* around = op->getParentOp(); around; around = around->getParentOp()) {
      if (auto loop = dyn_cast<scf::ForOp>(around))
        loops.push_back(loop);
      if (around == nest_.getOperation())
        break;
    }
    for (scf::ForOp loop : llvm::reverse(loops)) {
      const std::string name = side + nameOf(loop);
      iterators_ += (iterators_.empty() ? "" : ", ") + name;
      conditions_ +=
          " and " + text(loop.getLowerBound(), side, 0) + " <= " + name + " < " + text(loop.getUpperBound(), side, 0);
    }
  }

  /// Both sides call a loop by its number.
  std::string nameOf(scf::ForOp loop) {
    return std::to_string(loops_.insert({loop.getOperation(), loops_.size()}).first->second);
  }

  std::string parameterOf(Value value) {
    auto [known, isNew] = names_.insert({value, parameters_});
    parameters_ += isNew;
    return "p" + std::to_string(known->second);
  }

  /// A number as a sum in isl's words.
  std::string text(Value value, char side, unsigned depth) {
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return "(" + std::to_string(constant.getSExtValue()) + ")";
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (loop && nest_->isAncestor(loop) && argument == loop.getInductionVar())
        return side + nameOf(loop);
    }
    const auto isWord = [](Type type) { return type.isIndex() || type.isInteger(64); };
    Operation* op = value.getDefiningOp();
    if (op && isWord(value.getType()) && depth < mostNestedIndices) {
      if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op) && isWord(op->getOperand(0).getType()))
        return text(op->getOperand(0), side, depth + 1);
      if (isa<arith::AddIOp, arith::SubIOp>(op))
        return "(" + text(op->getOperand(0), side, depth + 1) + (isa<arith::AddIOp>(op) ? " + " : " - ") +
               text(op->getOperand(1), side, depth + 1) + ")";
      if (isa<arith::MulIOp>(op))
        for (unsigned number : {0, 1})
          if (matchPattern(op->getOperand(number), m_ConstantInt(&constant)))
            return "(" + std::to_string(constant.getSExtValue()) + " * " +
                   text(op->getOperand(1 - number), side, depth + 1) + ")";
    }
    if (nest_.isDefinedOutsideOfLoop(value))
      return parameterOf(value);
    return "u" + std::to_string(unknown_++);
  }

  struct Release {
    void operator()(isl_ctx* context) const { isl_ctx_free(context); }
  };

  scf::ForOp nest_, loop_;
  std::unique_ptr<isl_ctx, Release> context_;
  llvm::DenseMap<Operation*, size_t> loops_;
  llvm::DenseMap<Value, size_t> names_; // of the pair of accesses that is looked at, as the following
  size_t parameters_ = 0, unknown_ = 0;
  std::string conditions_, iterators_;
};

} // namespace

std::optional<Conflict> findConflict(scf::ForOp nest, scf::ForOp loop) {
  return Verifier(nest, loop).run();
}

} // namespace strata::kernel

// The analysis. Parallel iterations do not write what others touch, so what decides is the order within an iteration:
// nothing before a transfer into a block writes what it reads, and nothing behind a transfer out of a block touches
// what it writes. Iterations that reduce do share what they reduce into; for them the same is asked of the whole loop.
#include "compiler/transform/pipeline_plan.h"

#include "base/machine/addressing.h"
#include "base/machine/instance_range.h"
#include "compiler/ir/transfer.h"
#include "compiler/transform/builders.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Bytes of one buffer; a bound that only says that nobody knows is no reason to set so much aside.
constexpr int64_t mostBytes = int64_t(1) << 30;
/// Processors of a class whose stores are looked at one by one.
constexpr int64_t mostStarters = 1 << 16;

/// Whether an operation writes through one of its operands, as far as anybody says.
bool writes(OpOperand& operand) {
  Operation* op = operand.getOwner();
  unsigned position = operand.getOperandNumber();
  if (isa<memref::LoadOp>(op))
    return false;
  if (transferOf(op))
    return !isReadByTransfer(operand);
  std::optional<Access> access;
  auto module = op->getParentOfType<ModuleOp>();
  if (auto run = dyn_cast<RunOp>(op)) {
    auto kernel = module.lookupSymbol<KernelOp>(run.getKernel());
    return !kernel || position >= kernel.getNumArguments() || kernel.access(position) != Access::Read;
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && position < callee.getNumArguments())
      access = SvmDialect::accessAttr.of(callee, position);
  }
  return access != Access::Read;
}

/// Whether an operation itself, without its regions, touches the storage of a root.
bool touches(Operation* op, Value root, bool onlyWrites) {
  if (isa<BlockOp, memref::DimOp>(op) || isViewOfAnother(op))
    return false;
  return llvm::any_of(op->getOpOperands(), [&](OpOperand& operand) {
    return isa<MemRefType>(operand.get().getType()) && mayShare(operand.get(), root) &&
           (!onlyWrites || writes(operand));
  });
}

bool isPlain(MoveOp move) {
  return !move.getToken() && move.getAfter().empty();
}

/// Whether an operation holds nothing but checks and what has no effect.
bool onlyChecks(Operation* op) {
  bool some = false;
  bool fine = !op->walk([&](Operation* inner) {
                   some |= isa<CheckOp, IndexOp>(inner);
                   bool known =
                       inner == op || isa<CheckOp, IndexOp, scf::YieldOp>(inner) ||
                       (inner->getNumRegions() ? isa<scf::IfOp, scf::ForOp>(inner) : isMemoryEffectFree(inner));
                   return known ? WalkResult::advance() : WalkResult::interrupt();
                 }).wasInterrupted();
  return fine && some && op->getNumResults() == 0 && isa<CheckOp, IndexOp, scf::IfOp, scf::ForOp>(op);
}

/// The processor that executes an operation, where one is named.
FlatSymbolRefAttr executing(Operation* op) {
  for (Operation* up = op->getParentOp(); up; up = up->getParentOp()) {
    FlatSymbolRefAttr name = executorOf(up);
    if (name || isa<func::FuncOp>(up))
      return name;
  }
  return {};
}

/// Whether each processor of a class has the same instance of a memory as the one of another class that it starts.
bool shareInstances(int64_t starters, int64_t started, int64_t instances) {
  if (starters > mostStarters || starters == 0 || started == 0 || instances == 0)
    return false;
  using machine::InstanceRange;
  for (int64_t number = 0; number < starters; ++number) {
    const auto other = InstanceRange::of(number, 1)->inClass(starters, started);
    const auto before = InstanceRange::memoriesOf(number, starters, instances),
               behind = InstanceRange::memoriesOf(other->first(), started, instances);
    if (!behind || before->first() != behind->first())
      return false;
  }
  return true;
}

class Planner {
public:
  Planner(scf::ForOp loop, const Machine* machine)
      : loop_(loop), machine_(machine), reduces_(SvmDialect::reducesAttr.isOn(loop)) {}

  PipelinePlan run() {
    collect(*loop_.getBody(), {});
    // A check that cannot be made ahead holds the transfers behind it back.
    for (const auto& [op, around] : checks_)
      if (!isCheckComputable(op, around)) {
        for (Ring& ring : plan_.rings)
          llvm::erase_if(ring.ins, [&, check = op](MoveOp in) {
            bool behind = comesBefore(check, in);
            if (behind)
              refuse("a check before its transfer needs what the iteration itself computes");
            return behind;
          });
      }
    llvm::erase_if(plan_.rings, [](const Ring& ring) { return ring.ins.empty() && ring.outs.empty(); });
    MoveOp last;
    for (const Ring& ring : plan_.rings)
      for (MoveOp in : ring.ins)
        if (!last || comesBefore(last, in))
          last = in;
    for (auto& entry : checks_)
      if (last && comesBefore(entry.first, last) && isCheckComputable(entry.first, entry.second))
        plan_.checks.push_back(entry);
    if (plan_.rings.empty() && plan_.reason.empty())
      plan_.reason = innerTransfers();
    return std::move(plan_);
  }

private:
  void refuse(const Twine& why) {
    if (plan_.reason.empty())
      plan_.reason = why.str();
  }

  /// Why a loop without transfers of its own has none.
  std::string innerTransfers() {
    std::string found = "an iteration has no transfers of its own";
    loop_.walk([&](MoveOp move) {
      found = "its transfers are made by a loop inside it";
      for (Operation* up = move->getParentOp(); up != loop_; up = up->getParentOp())
        if (isa<ParallelOp, InstancesOp, OnOp>(up))
          found = "its transfers are made by loops of other processors, which it starts anew for each iteration";
    });
    return found;
  }

  /// Program order of two operations of one iteration.
  static bool comesBefore(Operation* first, Operation* second) {
    if (first == second)
      return false;
    // The innermost block that holds both.
    for (Block* block = first->getBlock(); block;
         block = block->getParentOp() ? block->getParentOp()->getBlock() : nullptr) {
      Operation* other = block->findAncestorOpInBlock(*second);
      if (!other)
        continue;
      Operation* own = block->findAncestorOpInBlock(*first);
      return own != other && own->isBeforeInBlock(other);
    }
    return false;
  }

  void collect(Block& block, const SmallVector<Container>& around) {
    for (Operation& op : block) {
      if (auto made = dyn_cast<BlockOp>(op)) {
        consider(made, around);
      } else if (auto scope = dyn_cast<ScopeOp>(op)) {
        SmallVector<Container> inner(around);
        inner.push_back({scope});
        collect(scope.getBody().front(), inner);
      } else if (auto other = dyn_cast<OnOp>(op)) {
        SmallVector<Container> inner(around);
        inner.push_back({other});
        collect(other.getBody().front(), inner);
      } else if (onlyChecks(&op)) {
        checks_.push_back({&op, around});
      } else if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults() == 0) {
        SmallVector<Container> inner(around);
        inner.push_back({branch});
        collect(branch.getThenRegion().front(), inner);
        inner.back().otherwise = true;
        if (!branch.getElseRegion().empty())
          collect(branch.getElseRegion().front(), inner);
      }
    }
  }

  void consider(BlockOp block, const SmallVector<Container>& around) {
    SmallVector<MoveOp> ins, outs;
    SmallVector<Operation*> others;
    for (Operation* user : usersThroughViews(block.getBlock())) {
      if (isa<memref::DimOp>(user) || isViewOfAnother(user))
        continue;
      auto move = dyn_cast<MoveOp>(user);
      bool fills = move && rootOf(move.getDestination()) == block.getBlock();
      Value other = !move ? Value() : rootOf(fills ? move.getSource() : move.getDestination());
      if (!move || !isPlain(move) || move->getBlock() != block->getBlock() || !isOutside(other, loop_) ||
          block.getBlock().getType().getRank() == 0)
        others.push_back(user);
      else
        (fills ? ins : outs).push_back(move);
    }
    if (ins.empty() && outs.empty())
      return;
    Ring ring{block, around, {}, {}, {}};
    const std::string name = ring.name();
    const bool shares = llvm::any_of(block->getBlock()->getOps<BlockOp>(), [&](BlockOp other) {
      Attribute with = other->getAttr(SvmDialect::sharesAttr);
      return with && (other == block || with == block.getLabelAttr());
    });
    if (shares)
      return refuse(name + " lies at the address of another block, which holds its values for one iteration only");
    if (!bound(ring) || !isWithinReach(ring, ins, outs))
      return;
    auto wasWritten = [&](Operation* op) { return llvm::is_contained(others, op); };
    for (MoveOp in : ins) {
      bool first = llvm::none_of(others, [&](Operation* other) { return comesBefore(other, in); }) &&
                   llvm::none_of(outs, [&](MoveOp out) { return comesBefore(out, in); });
      if (!first)
        refuse(name + " is used before it is filled");
      else if (isDisturbed(in, rootOf(in.getSource()), true))
        refuse("what fills " + name + " is written by the iterations themselves");
      else if (!areViewsComputable(in, around))
        refuse("where " + name + " is filled from is not known before the iteration");
      else {
        ring.ins.push_back(in);
        continue;
      }
      others.push_back(in);
    }
    // Transfers that are made ahead come before all that are not.
    bool mixed = llvm::any_of(ins, wasWritten);
    if (mixed)
      ring.ins.clear();
    for (MoveOp out : outs) {
      bool last = llvm::none_of(others, [&](Operation* other) { return comesBefore(out, other); });
      if (!last)
        refuse(name + " is used after it is emptied");
      else if (isDisturbed(out, rootOf(out.getDestination()), false))
        refuse("where " + name + " is emptied to is used by the iterations themselves");
      else if (!areViewsComputable(out, around))
        refuse("where " + name + " is emptied to depends on what the iteration computes");
      else
        ring.outs.push_back(out);
    }
    if (ring.outs.size() != outs.size())
      ring.outs.clear(); // one that stays would come before those that are delayed
    if (!ring.ins.empty() || !ring.outs.empty())
      plan_.rings.push_back(std::move(ring));
  }

  /// Whether anything else of the iteration that matters to a transfer touches (or writes) the storage it reads or
  /// writes: for one in what comes before it, for one out what comes after; all of the loop where iterations reduce, or
  /// where all of them transfer the same.
  bool isDisturbed(MoveOp move, Value root, bool in) {
    const bool shared = reduces_ || isOutside(in ? move.getSource() : move.getDestination(), loop_);
    return loop_
        .walk([&](Operation* op) {
          if (op == move || op == loop_ || !touches(op, root, in))
            return WalkResult::advance();
          if (!shared && (in ? !comesBefore(op, move) : !comesBefore(move, op)))
            return WalkResult::advance();
          // By the front end's word, moves of one scope do not overlap.
          auto scope = dyn_cast<ScopeOp>(op->getParentOp());
          if (!shared && isa<MoveOp>(op) && scope && scope.getDisjoint() && op->getBlock() == move->getBlock())
            return WalkResult::advance();
          return WalkResult::interrupt();
        })
        .wasInterrupted();
  }

  bool areViewsComputable(MoveOp move, ArrayRef<Container> around) {
    return isComputable(move.getSource(), loop_) && isComputable(move.getDestination(), loop_) &&
           areConditionsComputable(around);
  }

  bool areConditionsComputable(ArrayRef<Container> around) {
    return llvm::all_of(around, [&](Container container) {
      auto branch = dyn_cast<scf::IfOp>(container.op);
      return !branch || isComputable(branch.getCondition(), loop_);
    });
  }

  bool isCheckComputable(Operation* check, ArrayRef<Container> around) {
    bool fine = areConditionsComputable(around);
    check->walk([&](Operation* inner) {
      for (Value operand : inner->getOperands())
        if (fine && !check->isAncestor(operand.getParentRegion()->getParentOp()))
          fine = isComputable(operand, loop_);
    });
    return fine;
  }

  /// Whether the processor that executes the loop can fill and empty a block that another one works on: the other works
  /// on a block of the instance that is the first one's too, which can have moved what the block is filled from and
  /// emptied to.
  bool isWithinReach(const Ring& ring, ArrayRef<MoveOp> ins, ArrayRef<MoveOp> outs) {
    BlockOp block = ring.block;
    const bool isNear = llvm::none_of(ring.around, [](Container container) { return isa<OnOp>(container.op); });
    if (isNear || !machine_)
      return true;
    auto processor = [&](FlatSymbolRefAttr name) {
      return name ? machine_->processor(name.getValue().str()) : machine::ProcessorId();
    };
    const machine::ProcessorId who = processor(executing(loop_)), other = processor(executing(block));
    const machine::MemoryId where = machine_->memory(memoryOf(block.getBlock().getType()).str());
    if (!who.valid() || !other.valid() || !where.valid() || SvmDialect::gridAttr.isOn(block) ||
        !shareInstances((*machine_)[who].count, (*machine_)[other].count, (*machine_)[where].count)) {
      refuse("the processor that executes the loop does not have the store that " + ring.name() + " lies in");
      return false;
    }
    auto canMove = [&](MoveOp move) {
      const machine::MemoryId from = machine_->memory(memoryOf(move.getSource().getType()).str()),
                              to = machine_->memory(memoryOf(move.getDestination().getType()).str());
      return from.valid() && to.valid() && machine::canMove(*machine_, who, from, to);
    };
    if (llvm::all_of(ins, canMove) && llvm::all_of(outs, canMove))
      return true;
    refuse("the processor that executes the loop cannot move what " + ring.name() + " is filled from or emptied to");
    return false;
  }

  bool bound(Ring& ring) {
    auto type = ring.block.getBlock().getType();
    int64_t bytes = static_cast<int64_t>(RecordType::sizeInBytes(type.getElementType()));
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      int64_t most = ring.block.getMax() ? (*ring.block.getMax())[dimension] : -1;
      if (most < 0)
        most = getConstantIntValue(ring.block.getExtents()[dimension]).value_or(-1);
      if (most < 0) {
        refuse(ring.name() + " has no static bound");
        return false;
      }
      if (__builtin_mul_overflow(bytes, std::max<int64_t>(most, 1), &bytes) || bytes > mostBytes) {
        refuse(ring.name() + " may be so large that no further one is set aside for it");
        return false;
      }
      ring.bounds.push_back(most);
    }
    if (llvm::all_of(ring.block.getExtents(), [&](Value extent) { return isComputable(extent, loop_); }))
      return true;
    refuse("how large " + ring.name() + " is depends on what the iteration computes");
    return false;
  }

  scf::ForOp loop_;
  const Machine* machine_;
  bool reduces_;
  PipelinePlan plan_;
  std::vector<std::pair<Operation*, SmallVector<Container>>> checks_;
};

} // namespace

std::string Ring::name() const {
  BlockOp made = block;
  return made.getLabel() ? "'" + made.getLabel()->str() + "'" : "a block";
}

PipelinePlan planPipeline(scf::ForOp loop, const Machine* machine) {
  return Planner(loop, machine).run();
}

bool isComputable(Value value, scf::ForOp loop) {
  SmallVector<Value> work{value};
  llvm::SmallPtrSet<Value, 16> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || isOutside(next, loop) || next == loop.getInductionVar())
      continue;
    Operation* op = next.getDefiningOp();
    if (!op)
      return false;
    if (auto block = dyn_cast<BlockOp>(op)) {
      llvm::append_range(work, block.getExtents());
      continue;
    }
    // How far apart a block's rows lie is known when it is made.
    if (isa<memref::ExtractStridedMetadataOp>(op) && !isOutside(rootOf(op->getOperand(0)), loop))
      return false;
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      Operation* other = load->getParentOp();
      while (other && !isa<ParallelOp, InstancesOp, OnOp>(other))
        other = other->getParentOp();
      if (other && loop->isAncestor(other))
        return false;
      Value root = rootOf(load.getMemref());
      bool isWritten = !isOutside(root, loop) || loop.walk([&](Operation* other) {
                                                       return other != loop && touches(other, root, true)
                                                                  ? WalkResult::interrupt()
                                                                  : WalkResult::advance();
                                                     })
                                                     .wasInterrupted();
      if (isWritten)
        return false;
    } else if (!isMemoryEffectFree(op) || op->getNumRegions()) {
      return false;
    }
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

} // namespace strata::transform

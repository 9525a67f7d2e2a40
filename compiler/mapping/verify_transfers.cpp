// The verifier walks a function with what is under way: for each token, the blocks that its move reads and writes, and
// the moves it came after. A loop that carries tokens is walked until what is under way when an iteration begins does
// not grow any more; blocks that it carries count as blocks of their own within an iteration.
#include "compiler/mapping/verify_transfers.h"

#include "compiler/ir/locations.h"
#include "compiler/ir/transfer.h"

#include <map>
#include <set>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(underWay, Error, "scheduled-transfer-overlap", "{0} while a move that {1} it is under way");
STRATA_DIAGNOSTIC(lost, Error, "scheduled-lost-transfer",
                  "a move of a block in memory '{0}' is still under way when nothing is left that could wait for it");
STRATA_DIAGNOSTIC(sameBuffer, Error, "scheduled-same-buffer", "a loop carries one block of memory '{0}' as two");

namespace {

struct Access {
  void* block;
  bool writes;
  friend auto operator<=>(const Access&, const Access&) = default;
};

/// What is under way, by token.
struct Move {
  std::set<Access> accesses; // its own, and of what it comes after
  std::set<void*> after;
  friend bool operator==(const Move&, const Move&) = default;
};
using UnderWay = std::map<void*, Move>;

class Walker {
public:
  Walker(func::FuncOp function, const Machine& machine, DiagnosticEngine& diagnostics)
      : function_(function), machine_(machine), diagnostics_(diagnostics) {}

  void run() {
    for (Block& block : function_.getBody()) {
      UnderWay state;
      walk(block, state);
    }
  }

private:
  static constexpr int mostRounds = 64;

  /// The buffer of a pipelined loop in an explicit memory that a view is of, or null. Other blocks may be filled in one
  /// part and used in another.
  void* storeOf(Value view) {
    machine::MemoryId id = machine_.memory(memoryOf(view.getType()).str());
    Value root = rootOf(view);
    auto made = root.getDefiningOp<BlockOp>();
    bool isBuffer = made ? SvmDialect::buffersAttr.isOn(made)
                         : isa_and_nonnull<scf::ForOp>(isa<BlockArgument>(root) ? root.getParentBlock()->getParentOp()
                                                                                : root.getDefiningOp());
    return isBuffer && id.valid() && machine_.isStore(id) ? root.getAsOpaquePointer() : nullptr;
  }

  /// Whether moves of a block are told apart here. A buffer of a loop around is an array to a pipelined loop: its
  /// iterations, of which several are under way, move parts of their own from it and to it.
  bool isJudged(void* block) {
    return block &&
           (!carrying_ || carrying_.getRegion().isAncestor(Value::getFromOpaquePointer(block).getParentRegion()));
  }

  void report(Operation* op, const char* what, bool fills) {
    if (quiet_ || !reported_.insert(op).second)
      return;
    diagnostics_.report(underWay, sourceLocation(diagnostics_.sources(), op->getLoc()), what,
                        fills ? "fills" : "empties");
  }

  void walk(Block& block, UnderWay& state) {
    for (Operation& op : block)
      step(&op, state);
  }

  void step(Operation* op, UnderWay& state) {
    if (auto transfer = transferOf(op))
      return start(*transfer, state);
    if (auto wait = dyn_cast<WaitOp>(op)) {
      for (Value token : wait.getTokens())
        finish(token.getAsOpaquePointer(), state);
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop.getNumResults())
      return carry(loop, state);
    if (op->getNumRegions() == 0)
      return touch(op, state);
    for (Region& region : op->getRegions())
      for (Block& inner : region) {
        // What a branch or loop waits for may not be waited for at all; what it starts ends with it.
        UnderWay own = state;
        walk(inner, isa<ScopeOp, SpanOp>(op) ? state : own);
      }
  }

  void finish(void* token, UnderWay& state) {
    auto found = state.find(token);
    if (found == state.end())
      return;
    std::set<void*> after = found->second.after;
    state.erase(found);
    for (void* before : after)
      finish(before, state);
  }

  /// Whether a view is surely one of no elements.
  static bool isOfNothing(Value view) {
    while (Operation* made = view.getDefiningOp()) {
      if (llvm::is_contained(cast<MemRefType>(view.getType()).getShape(), 0))
        return true;
      auto part = dyn_cast<memref::SubViewOp>(made);
      if (part && llvm::any_of(part.getMixedSizes(), [](OpFoldResult size) { return getConstantIntValue(size) == 0; }))
        return true;
      if (!isViewOfAnother(made))
        return false;
      view = made->getOperand(0);
    }
    return false;
  }

  void start(const Transfer& move, UnderWay& state) {
    bool isEmpty = isOfNothing(move.source) || isOfNothing(move.destination);
    Move own;
    for (Value before : move.after) {
      own.after.insert(before.getAsOpaquePointer());
      auto found = state.find(before.getAsOpaquePointer());
      if (found != state.end()) {
        own.accesses.insert(found->second.accesses.begin(), found->second.accesses.end());
        own.after.insert(found->second.after.begin(), found->second.after.end());
      }
    }
    void* to = storeOf(move.destination);
    SmallVector<void*, 2> emptied;
    for (Value source : {Value(move.source), Value(move.indices)})
      if (void* from = source ? storeOf(source) : nullptr)
        emptied.push_back(from);
    if (!isEmpty) {
      for (const auto& [token, other] : state) {
        if (own.after.count(token))
          continue;
        // Two moves may fill parts of one block.
        if (llvm::any_of(emptied, [&, &accesses = other.accesses](void* from) {
              return isJudged(from) && accesses.count({from, true});
            }))
          report(move.op, "a move empties a block", true);
        if (isJudged(to) && other.accesses.count({to, false}))
          report(move.op, "a move fills a block", false);
        if (isJudged(to) && !move.token && other.accesses.count({to, true}))
          report(move.op, "a move fills a block", true);
      }
      for (void* from : emptied)
        own.accesses.insert({from, false});
      if (to)
        own.accesses.insert({to, true});
    }
    if (move.token)
      state[move.token.getAsOpaquePointer()] = own;
    else
      for (Value before : move.after)
        finish(before.getAsOpaquePointer(), state);
  }

  /// Anything else that has blocks as operands.
  void touch(Operation* op, UnderWay& state) {
    if (isa<memref::DimOp, BlockOp, scf::YieldOp>(op) || isViewOfAnother(op))
      return;
    // A run begins when what it comes after has ended.
    if (auto run = dyn_cast<RunOp>(op))
      for (Value before : run.getAfter())
        finish(before.getAsOpaquePointer(), state);
    for (OpOperand& operand : op->getOpOperands()) {
      void* block = isa<MemRefType>(operand.get().getType()) ? storeOf(operand.get()) : nullptr;
      if (!isJudged(block))
        continue;
      bool onlyReads = isa<memref::LoadOp>(op);
      if (auto run = dyn_cast<RunOp>(op)) {
        auto kernel = function_->getParentOfType<ModuleOp>().lookupSymbol<KernelOp>(run.getKernel());
        onlyReads = kernel && operand.getOperandNumber() < kernel.getNumArguments() &&
                    kernel.access(operand.getOperandNumber()) == svm::Access::Read;
      }
      for (const auto& [token, other] : state)
        if (other.accesses.count({block, true}))
          report(op, "a block is used", true);
        else if (!onlyReads && other.accesses.count({block, false}))
          report(op, "a block may be written", false);
    }
  }

  /// A loop that carries tokens and blocks.
  void carry(scf::ForOp loop, UnderWay& state) {
    Block& body = *loop.getBody();
    auto inits = loop.getInitArgs();
    auto arguments = loop.getRegionIterArgs();
    auto yields = body.getTerminator()->getOperands();
    // Which block each carried one is when the loop begins, and in the next iteration.
    std::map<void*, void*> entering, following;
    for (auto [init, argument, yield] : llvm::zip(inits, arguments, yields)) {
      if (!isa<MemRefType>(argument.getType()) || !storeOf(argument))
        continue;
      bool isNew = entering.insert({storeOf(init), argument.getAsOpaquePointer()}).second;
      isNew &= following.insert({storeOf(yield), argument.getAsOpaquePointer()}).second;
      if (!isNew)
        diagnostics_.report(sameBuffer, sourceLocation(diagnostics_.sources(), loop.getLoc()),
                            memoryOf(argument.getType()).str());
    }
    auto translated = [](const Move& move, const std::map<void*, void*>& names) {
      Move result;
      for (Access access : move.accesses) {
        auto found = names.find(access.block);
        result.accesses.insert({found == names.end() ? access.block : found->second, access.writes});
      }
      return result;
    };
    UnderWay begin;
    for (auto [init, argument] : llvm::zip(inits, arguments))
      if (auto found = state.find(init.getAsOpaquePointer()); found != state.end())
        begin[argument.getAsOpaquePointer()] = translated(found->second, entering);
    bool outerQuiet = quiet_;
    scf::ForOp outer = std::exchange(carrying_, loop);
    UnderWay end;
    for (int round = 0; round < mostRounds; ++round) {
      UnderWay before = begin;
      end = begin;
      quiet_ = true;
      walk(body, end);
      for (auto [argument, yield] : llvm::zip(arguments, yields))
        if (auto found = end.find(yield.getAsOpaquePointer()); found != end.end()) {
          Move next = translated(found->second, following);
          begin[argument.getAsOpaquePointer()].accesses.insert(next.accesses.begin(), next.accesses.end());
        }
      if (begin == before)
        break;
    }
    quiet_ = outerQuiet;
    end = begin;
    walk(body, end);
    carrying_ = outer;
    losses(loop, end);
    // Behind the loop it is as before an iteration that does not come.
    std::map<void*, void*> leaving;
    for (auto [argument, result] : llvm::zip(arguments, loop.getResults()))
      leaving[argument.getAsOpaquePointer()] = result.getAsOpaquePointer();
    for (auto [init, result, argument] : llvm::zip(inits, loop.getResults(), arguments)) {
      state.erase(init.getAsOpaquePointer());
      if (auto found = begin.find(argument.getAsOpaquePointer()); found != begin.end())
        state[result.getAsOpaquePointer()] = translated(found->second, leaving);
    }
  }

  /// Tokens that an iteration was given and neither waits for nor hands on, nor covers by one that comes after.
  void losses(scf::ForOp loop, const UnderWay& end) {
    auto yields = loop.getBody()->getTerminator()->getOperands();
    for (Value argument : loop.getRegionIterArgs()) {
      auto found = end.find(argument.getAsOpaquePointer());
      if (found == end.end() || found->second.accesses.empty() || llvm::is_contained(yields, argument))
        continue;
      bool covered = llvm::any_of(
          end, [&](const auto& entry) { return entry.second.after.count(argument.getAsOpaquePointer()) != 0; });
      if (!covered && !quiet_ && reported_.insert(loop).second) {
        Value block = Value::getFromOpaquePointer(found->second.accesses.begin()->block);
        diagnostics_.report(lost, sourceLocation(diagnostics_.sources(), loop.getLoc()),
                            memoryOf(block.getType()).str());
      }
    }
  }

  func::FuncOp function_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::set<Operation*> reported_;
  scf::ForOp carrying_; // the innermost loop around that carries tokens and blocks
  bool quiet_ = false;
};

} // namespace

void verifyTransfers(func::FuncOp function, const Machine& machine, DiagnosticEngine& diagnostics) {
  Walker(function, machine, diagnostics).run();
}

} // namespace strata::mapping

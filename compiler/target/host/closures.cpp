// What parts capture goes by value: a closure holds scalars, descriptions of blocks, streams and tokens, so that it
// could be copied to another process. This pass looks at the lowered program, where closures are what the runtime's
// calls are given, and finds addresses of variables on the starter's stack in them, also through calls.
#include "compiler/target/host/closures.h"

#include "compiler/ir/passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace strata::host {
namespace {

constexpr unsigned closureOperand = 1; // of the calls that start parts

struct VerifyClosuresPass : PassWrapper<VerifyClosuresPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyClosuresPass)

  void runOnOperation() override {
    const llvm::StringSet<> starters{"strata_spmd", "strata_spawn"};
    getOperation().walk([&](LLVM::CallOp call) {
      if (!call.getCallee())
        return;
      if (starters.contains(*call.getCallee()))
        checkClosure(call);
      else
        calls_[*call.getCallee()].push_back(call);
    });
    // What a function captures of its arguments, its callers give.
    while (!captured_.empty()) {
      BlockArgument argument = captured_.pop_back_val();
      auto function = cast<LLVM::LLVMFuncOp>(argument.getOwner()->getParentOp());
      for (LLVM::CallOp call : calls_.lookup(function.getName()))
        check(call.getArgOperands()[argument.getArgNumber()], call);
    }
  }

  void checkClosure(LLVM::CallOp call) {
    Value closure = call.getArgOperands()[closureOperand];
    SmallVector<Value> places{closure};
    for (Operation* user : closure.getUsers())
      if (auto place = dyn_cast<LLVM::GEPOp>(user))
        places.push_back(place);
    for (Value place : places)
      for (Operation* user : place.getUsers())
        if (auto store = dyn_cast<LLVM::StoreOp>(user); store && store.getAddr() == place)
          check(store.getValue(), store);
  }

  void check(Value value, Operation* where) {
    SmallVector<Value> left{value};
    llvm::DenseSet<Value> seen;
    while (!left.empty()) {
      Value next = left.pop_back_val();
      if (!seen.insert(next).second)
        continue;
      if (auto argument = dyn_cast<BlockArgument>(next)) {
        comesFrom(argument, left);
        continue;
      }
      Operation* definition = next.getDefiningOp();
      if (isa<LLVM::AllocaOp>(definition)) {
        where->emitError("a part captures the address of a variable on the stack of its starter");
        return signalPassFailure();
      }
      // What makes addresses and descriptions out of others. Loads and calls give what lies elsewhere.
      if (auto place = dyn_cast<LLVM::GEPOp>(definition))
        left.push_back(place.getBase());
      else if (isa<LLVM::ExtractValueOp>(definition) && isa<IntegerType, FloatType>(next.getType()))
        continue; // an extent, or a stride, of a description that holds an address as well
      else if (isa<LLVM::InsertValueOp, LLVM::ExtractValueOp, LLVM::SelectOp, LLVM::BitcastOp, LLVM::AddrSpaceCastOp,
                   LLVM::PtrToIntOp, LLVM::IntToPtrOp>(definition))
        llvm::append_range(left, definition->getOperands());
    }
  }

  void comesFrom(BlockArgument argument, SmallVector<Value>& values) {
    Block* block = argument.getOwner();
    if (block->isEntryBlock()) {
      if (isa<LLVM::LLVMFuncOp>(block->getParentOp()) && known_.insert(argument).second)
        captured_.push_back(argument);
      return;
    }
    for (auto from = block->pred_begin(); from != block->pred_end(); ++from)
      if (auto branch = dyn_cast<BranchOpInterface>((*from)->getTerminator()))
        if (Value given = branch.getSuccessorOperands(from.getSuccessorIndex())[argument.getArgNumber()])
          values.push_back(given);
  }

  llvm::StringMap<SmallVector<LLVM::CallOp>> calls_; // by callee
  SmallVector<BlockArgument> captured_;
  llvm::DenseSet<Value> known_;
};

} // namespace

std::unique_ptr<Pass> createVerifyClosuresPass() {
  return svm::makePass<VerifyClosuresPass>(svm::passes::VerifyClosures);
}

} // namespace strata::host

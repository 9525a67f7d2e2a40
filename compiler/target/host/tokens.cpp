// Tokens that loops carry. Every holder of a token owes the runtime one release: the region that started the work, an
// iteration that a token was carried into, and the region behind a loop that gives one. Handing a token on makes one
// more holder.
#include "compiler/target/host/storage.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

bool isPassedOn(Value token) {
  return llvm::any_of(token.getUsers(), [&](Operation* user) {
    return user->getBlock() == token.getParentBlock() && isa<scf::YieldOp, scf::ForOp>(user);
  });
}

void holdTokens(ModuleOp program) {
  RuntimeCalls calls(program);
  auto pointer = LLVM::LLVMPointerType::get(program.getContext());
  auto call = [&](OpBuilder& builder, StringRef name, Value token) {
    Value raw = builder.create<UnrealizedConversionCastOp>(token.getLoc(), pointer, token).getResult(0);
    calls.call(builder, token.getLoc(), name, {}, raw);
  };
  SmallVector<scf::ForOp> loops;
  program.walk([&](scf::ForOp loop) {
    if (llvm::any_of(loop.getResultTypes(), llvm::IsaPred<TokenType>))
      loops.push_back(loop);
  });
  // A branch that gives a token would make one more holder too; nothing makes such branches.
  for (scf::ForOp loop : loops) {
    OpBuilder before(loop);
    for (Value token : loop.getInitArgs())
      if (isa<TokenType>(token.getType()))
        call(before, "strata_token_retain", token);
    OpBuilder end(loop.getBody()->getTerminator());
    for (Value token : loop.getBody()->getTerminator()->getOperands())
      if (isa<TokenType>(token.getType()))
        call(end, "strata_token_retain", token);
    for (Value token : loop.getRegionIterArgs())
      if (isa<TokenType>(token.getType()))
        call(end, "strata_token_release", token);
  }
  for (scf::ForOp loop : loops) {
    Block* block = loop->getBlock();
    OpBuilder end(program.getContext());
    if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
      end.setInsertionPoint(&block->back());
    else
      end.setInsertionPointToEnd(block);
    for (Value token : loop.getResults())
      if (isa<TokenType>(token.getType())) {
        if (!isPassedOn(token))
          call(end, "strata_wait", token);
        call(end, "strata_token_release", token);
      }
  }
}

} // namespace strata::host

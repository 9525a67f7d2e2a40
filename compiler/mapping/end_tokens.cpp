// A token is settled where its region waits for it, or has something come after it: that is waited for in turn.
#include "compiler/mapping/end_tokens.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

void endTokens(ModuleOp program) {
  llvm::MapVector<Block*, SmallVector<Value>> open;
  program.walk([&](Operation* op) {
    for (Value token : op->getResults())
      if (isa<TokenType>(token.getType()) &&
          llvm::none_of(token.getUsers(), [&](Operation* user) { return user->getBlock() == op->getBlock(); }))
        open[op->getBlock()].push_back(token);
  });
  for (auto& [block, tokens] : open) {
    auto builder =
        block->back().hasTrait<OpTrait::IsTerminator>() ? OpBuilder(&block->back()) : OpBuilder::atBlockEnd(block);
    builder.create<WaitOp>(tokens.back().getLoc(), tokens);
  }
}

} // namespace strata::mapping

// Operations as transfers, one case each.
#include "compiler/ir/transfer.h"

using namespace mlir;

namespace strata::svm {

std::optional<Transfer> transferOf(Operation* op) {
  if (auto move = dyn_cast<MoveOp>(op))
    return Transfer{op, move.getSource(), move.getDestination(), {}, move.getAfter(), move.getToken()};
  if (auto gather = dyn_cast<GatherOp>(op))
    return Transfer{
        op, gather.getSource(), gather.getDestination(), gather.getIndices(), gather.getAfter(), gather.getToken()};
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return Transfer{op,
                    scatter.getSource(),
                    scatter.getDestination(),
                    scatter.getIndices(),
                    scatter.getAfter(),
                    scatter.getToken()};
  return std::nullopt;
}

bool isReadByTransfer(const OpOperand& operand) {
  std::optional<Transfer> transfer = transferOf(operand.getOwner());
  return transfer && operand.get() != transfer->destination;
}

} // namespace strata::svm

// Copies between a virtual memory and the one that it joins, which need not be made where the elements lie in the
// processor's own instance.
#pragma once

#include "base/machine/machine.h"

#include "mlir/Pass/Pass.h"

namespace strata::transform {
/// Takes a placed program whose copies are settled and whose loops are pipelined. A block that mirrors a part of a
/// distributed one (transform/mirror.h), in the memory over which that is distributed, is used through an svm.in_place:
/// where the part lies together in the memory of the processor that asks, it is worked on there. Transfers that go on
/// beside their starter stay as they are. The option `joined` names the memories, `space=memory,…`.
std::unique_ptr<mlir::Pass> createInPlacePass();
/// The same with the memories of a machine; `counts`: the bytes of moves that are not made are counted.
std::unique_ptr<mlir::Pass> createInPlacePassFor(const Machine& machine, bool counts);
} // namespace strata::transform

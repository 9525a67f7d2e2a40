// Whether iterations that go into lanes and rows are independent: decided a second time, from the operations that the
// nest of loops has when it is ordered, by integer sets.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>
#include <string>

namespace strata::kernel {

/// Two accesses of one element, of which one writes, in different iterations of a loop.
struct Conflict {
  std::string what; ///< a sentence for whoever works on the kernel compiler
  mlir::LocationAttr first, second;
};

/// A conflict of a loop of a nest; nothing where there is none for any values of what stands in front of the nest, or
/// where that would take too long. What indices are is taken as numbers that are as large as they come; a part of an
/// index that is no sum of loops' numbers and of what stands in front of the nest may be any number.
/// That two blocks share nothing is taken from the kernel (isApart).
std::optional<Conflict> findConflict(mlir::scf::ForOp nest, mlir::scf::ForOp loop);

} // namespace strata::kernel

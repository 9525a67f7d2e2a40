// What a symbolic configuration takes and gives, as an entry point: its inputs, its outputs, and those parameters that
// no extent tells, in this order. Used by one thread.
#pragma once

#include "compiler/driver/data/entry.h"
#include "runtime/array/symbolic.h"

namespace strata::driver {

class SymbolicEntry {
public:
  /// Both outlive it.
  SymbolicEntry(const array::Symbolic& symbolic, mlir::MLIRContext& context);

  const EntryPoint& entry() const { return entry_; }
  /// REQUIRES (of both): the binding was made for entry(). One size for each parameter.
  std::vector<int64_t> sizes(const Binding& binding) const;
  /// The arrays in the configuration's order; valid as long as the binding is not changed.
  struct Memories {
    std::vector<const std::byte*> inputs;
    std::vector<std::byte*> outputs;
  };
  Memories memories(Binding& binding) const;

private:
  const array::Symbolic& symbolic_;
  EntryPoint entry_;
  std::vector<bool> told_; // of parameters, by extents
};

} // namespace strata::driver

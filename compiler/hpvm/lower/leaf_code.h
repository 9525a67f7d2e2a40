// Leaves as functions of the kernel convention (compiler/kernel/convention.h): a copy of a leaf's function, in which
// the functions of hpvm.h have become what they mean at one place of a graph.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/hpvm/graph/graph.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace strata::hpvm {

/// What a leaf is told, and leaves behind, at one place of a graph.
struct LeafUse {
  /// How many dimensions the leaf has there, then each node around it, the root last (0).
  std::vector<unsigned> dimensions;
  /// Of each argument: whether it is a pointer that comes as an address (64 bits) and not as a block.
  std::vector<bool> isAddress;
  /// Of each output: whether its last instance's value is wanted, and whether each instance's is.
  std::vector<bool> last, each;
};

/// The function's parameters, in order: for each of the leaf's own its value, of a block its pointer with an extent and
/// a stride (64 bits); if the leaf allocates, the launch (64 bits); for each node from the leaf outwards its indices,
/// then its extents (64 bits each); if any output is wanted, whether the instance is the last (1 bit) and its number
/// (64 bits); for each wanted last value a pointer; for each that every instance gives a pointer, an extent and a
/// stride. Added to the leaf's module. Null on errors (reported).
/// `keepsLines`: its instructions tell their places.
llvm::Function* makeLeaf(const LeafNode& leaf, const LeafUse& use, const std::string& name,
                         DiagnosticEngine& diagnostics, bool keepsLines = false);

/// The atomic instruction that a call of __hpvm__atomic_… means, in front of it; gives what the call gives.
llvm::Value* makeAtomic(llvm::CallBase& call);

/// The text of these functions and all that they call, as a module of its own, with the constants of which they read
/// nothing but elements. Other variables, and functions that the module does not define, are left to the link.
std::string leafModule(llvm::Module& module, const std::vector<llvm::Function*>& functions);

} // namespace strata::hpvm

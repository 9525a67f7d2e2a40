// Functions with thousands of basic blocks, in LLVM's form of a program, cut into functions of some hundreds.
#pragma once

#include "llvm/IR/Module.h"

namespace strata::host {

/// Blocks from which on a function is large, and those of a part of it. Several of LLVM's passes compare every
/// condition on a value with all others on it, so that they take minutes for a function in which thousands of checks of
/// one extent stand; for as many checks in functions of this size they take seconds, and a call each costs nothing.
constexpr size_t manyBlocks = 1500, blocksOfPart = 300;

/// Cuts what is large into parts, where pieces of it have one way in and one way out: internal functions that are not
/// inlined. What a part uses is passed, what it computes comes back through memory. A function that has no such pieces
/// stays as it is.
void splitLarge(llvm::Module& module);

} // namespace strata::host

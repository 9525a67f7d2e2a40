// Ways through a function, with what is known on each: the constants that it sets, such as flags, and the outcome of
// branches. Thread safe for different functions.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/BasicBlock.h"
#include "llvm/IR/Constants.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace strata::hpvm {

/// A block, where it is come to from (null: from its midst, or from nowhere), and the values that are constants there.
struct Way {
  using Constants = std::map<const llvm::Value*, llvm::Constant*>;

  llvm::BasicBlock* block = nullptr;
  llvm::BasicBlock* before = nullptr;
  Constants constants;

  bool operator<(const Way& other) const {
    return std::tie(block, before, constants) < std::tie(other.block, other.before, other.constants);
  }
};

/// Follows every way from a block on: no edge is taken that a branch on what is known excludes, and none twice with the
/// same knowledge. Beyond some thousand ways nothing more is remembered of them, so that the walk ends soon; edges are
/// then taken that need not be.
///
/// `goesOn` is asked at every block that is come to, the first one too, and ends a way with false. `known`: what else
/// is known of the condition at the end of a way's block.
void followWays(llvm::BasicBlock& from, llvm::function_ref<bool(const Way&)> goesOn,
                llvm::function_ref<std::optional<bool>(const Way&, const llvm::Value*)> known = nullptr);

} // namespace strata::hpvm

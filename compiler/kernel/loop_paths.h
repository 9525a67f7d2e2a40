// What became of the loops of kernels: one entry for each loop that was put in tiles, and for each innermost one that
// was not, with the reason. The pass on tiles writes it as the kernel's attribute svm.loops, and whoever compiles a
// program reads it before kernels become functions, to tell the user (--remarks, --stats).
#pragma once

#include "compiler/ir/svm.h"

#include <string>
#include <vector>

namespace strata::kernel {

/// A loop's way to code.
struct LoopPath {
  mlir::LocationAttr at;                       ///< of the loop; of what is in the way, where something is
  unsigned rows = 0, registers = 0, lanes = 0; ///< of the tile; all 0: there is none, and the loop is LLVM's
  std::string why;                             ///< there is no tile; empty where there is one
  std::string help;                            ///< what to do about it; or empty

  bool isTile() const { return lanes != 0; }
  /// "tiles of 6 rows by 4 registers of 16 lanes", "left to LLVM: an iteration may reach what another one writes here"
  std::string text() const;
  /// "tiles 6x64", "llvm"
  std::string shortText() const;
};

/// All that is known of a kernel.
struct KernelPaths {
  std::string symbol;
  mlir::Location at;
  std::vector<LoopPath> loops; ///< in the order of the program
  std::string other;           ///< why nothing was tried; empty for a kernel whose loops were looked at

  /// The symbol as the user would say it: without what tells it apart from others of its name.
  std::string name() const;
  /// "tiles 6x64, 1 loop left to LLVM", "no loops"
  std::string text() const;
};

void setLoopPaths(svm::KernelOp kernel, llvm::ArrayRef<LoopPath> loops);

/// Of every kernel that becomes code through LLVM, in the order of the program. REQUIRES: the pass on tiles has run,
/// and none has become a function.
std::vector<KernelPaths> loopPathsOf(mlir::ModuleOp program);

} // namespace strata::kernel

// The host target: a scheduled program becomes LLVM IR for this computer's processors. Explicit memories are real
// stores of the stated size, processors are parts run by the runtime's workers, moves are copies.
#pragma once

#include "base/machine/figures.h"
#include "base/machine/machine.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/loop_paths.h"
#include "compiler/target/target.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/IR/Module.h"

#include <memory>

namespace strata::host {

struct LoweringOptions {
  /// Moves are calls that say which memories of the machine they concern ("calls that carry ids" in runtime/abi.h).
  bool callsCarryIds = false;
  /// Processors of other targets, with the code of their kernels.
  llvm::ArrayRef<target::Part> parts = {};
  /// Gets what became of the loops of kernels, where somebody asks.
  std::vector<kernel::KernelPaths>* paths = nullptr;
  /// Which loops of kernels are independent is decided a second time (kernel/verify_order.h).
  bool verifies = false;
};

/// Lowers a scheduled program in place to the LLVM dialect: what other processors execute becomes functions, kernels
/// follow their calling convention, every svm operation becomes code or a call of the runtime (runtime/abi.h). False
/// when a pass failed (reported). What comes out verifies. Loops are made for `figures`, be they those of the machine
/// or less. `prepare` is called with each pass manager before it runs.
bool lowerToLlvmDialect(
    mlir::ModuleOp program, const Machine& machine, const machine::Figures& figures,
    llvm::function_ref<void(mlir::PassManager&)> prepare = [](mlir::PassManager&) {},
    const LoweringOptions& options = {});

/// Registers the passes that are this target's alone (compiler/ir/passes.def).
void registerPasses();

/// Translates a lowered program, and links the LLVM IR of kernels that came through Clang into it. Null when that IR
/// does not read or link (reported).
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp program, llvm::LLVMContext& context,
                                        DiagnosticEngine& diagnostics);

/// Makes a function its module's own. It leaves its group: of groups with one name a linker takes the first, and
/// another object's functions would be gone where that has none that is seen from outside.
void hide(llvm::Function& function);

} // namespace strata::host

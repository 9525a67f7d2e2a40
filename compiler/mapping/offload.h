// Runs of kernels on processors that do not address where the arrays lie. The instances of a kernel are cut into tiles;
// each tile's footprint (footprint.h) is moved to a memory of the processor that executes it, and back where it was
// written. What is emitted is a logical program; where its parts go is said in the mapping record.
//
// How large tiles are is found when the program runs, since extents are known only then: from the whole grid downwards,
// the longest side halved, until every array's part fits its share of the memory and all processors have some. A tile
// may only be cut along a dimension if tiles then write to parts that are apart; which dimensions those are is seen in
// the kernel.
#pragma once

#include "base/machine/machine.h"
#include "compiler/mapping/footprint.h"
#include "compiler/mapping/logical_module.h"
#include "compiler/mapping/record.h"

namespace strata::mapping {

/// A step towards the processor that computes: who takes tiles there, and which memory of its own their parts lie in.
struct OffloadStep {
  machine::ProcessorId processor;
  machine::MemoryId memory;
};

/// From where arrays in `arrays` lie down the levels of the machine, to the processor of the innermost one whose memory
/// is a store; or to `last`, where it is valid. None: processors address the arrays, or `last` is nobody on the way.
std::vector<OffloadStep> offloadSteps(const Machine& machine, machine::MemoryId arrays, machine::ProcessorId last = {});

/// Bytes that each of so many blocks may have in a memory, so that all of them fit beside what else is there.
int64_t shareOf(const Machine& machine, machine::MemoryId memory, int64_t blocks);

/// A run of a kernel for all its instances.
struct InstanceRun {
  svm::KernelOp kernel;
  llvm::SmallVector<mlir::Value> operands;
  /// Of each unordered loop, outermost first: the argument of the kernel that it begins at; the next one is its end.
  llvm::SmallVector<unsigned> ranges;
  /// Blocks of one element that only the very last instance writes.
  llvm::SmallVector<unsigned> writtenByLast;
  std::string label; // what loops and blocks are named after in the record
  /// Of each unordered loop: how many instances a tile of the innermost step has at most; 0: as many as fit. Empty: all
  /// 0.
  llvm::SmallVector<int64_t> tile;
};

/// Emits where the builder stands: `if` the footprint is in range and tiles fit, the tiles. The caller fills the
/// `else`, which runs the kernel where the arrays are. Adds the kernel's other form to the frame, and what is placed to
/// the record. Nothing, and a problem, where no tile ever fits. REQUIRES: there are steps.
mlir::scf::IfOp offload(mlir::OpBuilder& builder, LogicalModule& frame, const InstanceRun& run,
                        const Footprint& footprint, llvm::ArrayRef<OffloadStep> steps, const Machine& machine,
                        FunctionPlacement& placement, FootprintProblem& problem);

} // namespace strata::mapping

// strata-opt: MLIR's tool for reading, checking and printing modules of the svm dialect and for running single passes
// on them. It registers the dialects that Strata uses and no others, and the passes of compiler/ir/passes.def.
#include "compiler/equations/dialect/lower_equations.h"
#include "compiler/equations/extract/extract_equations.h"
#include "compiler/ir/canonicalize.h"
#include "compiler/ir/common_subexpressions.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/optimize.h"
#include "compiler/kernel/prefetch.h"
#include "compiler/kernel/split_arrays.h"
#include "compiler/kernel/tiles.h"
#include "compiler/target/registry/registry.h"
#include "compiler/transform/count_accesses.h"
#include "compiler/transform/distribute.h"
#include "compiler/transform/eliminate_copies.h"
#include "compiler/transform/expand_reductions.h"
#include "compiler/transform/fuse_multiply_add.h"
#include "compiler/transform/guard_accesses.h"
#include "compiler/transform/hoist_copies.h"
#include "compiler/transform/in_place.h"
#include "compiler/transform/instrument.h"
#include "compiler/transform/keep_loops.h"
#include "compiler/transform/pipeline_loops.h"
#include "compiler/transform/plain_arithmetic.h"
#include "compiler/transform/prove_in_range.h"
#include "compiler/transform/prove_no_overflow.h"
#include "compiler/transform/restore_dimensions.h"
#include "compiler/transform/split_barriers.h"
#include "compiler/transform/unroll_loops.h"
#include "compiler/transform/use_equalities.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char** argv) {
  mlir::DialectRegistry registry;
  strata::svm::registerDialects(registry);
  registry.insert<mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerLoopInvariantCodeMotionPass();
#define SVM_PASS(identifier, space, ...) mlir::registerPass(strata::space::create##identifier##Pass);
#include "compiler/ir/passes.def"
  for (const strata::target::Target* target : strata::target::allTargets())
    target->registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "strata's passes\n", registry));
}

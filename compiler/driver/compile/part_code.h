// The kernels of a program that run on processors which its machine gives to other targets: each such target compiles
// them as a program of their own, and the target of the whole calls them. The code lives as long as this does. Its
// entries may be called from any thread; a part's kernels run one after another.
#pragma once

#include "compiler/driver/compile/native_kernels.h"
#include "compiler/driver/compile/pipeline.h"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace strata::driver {

class PartCode {
public:
  /// `logical` and `placed` are one program at two stages, for a machine and the target of its whole. Null on errors
  /// (reported).
  static std::unique_ptr<PartCode> compile(mlir::ModuleOp logical, mlir::ModuleOp placed, const LogicalProgram& whole,
                                           Compiler& compiler, unsigned optimization, DiagnosticEngine& diagnostics);
  /// Whether a machine has processors of another target than its own.
  static bool isNeeded(const LogicalProgram& whole);

  llvm::ArrayRef<target::Part> parts() const { return parts_; }

private:
  /// One target's kernels.
  struct Code {
    explicit Code(SourceManager& sources) : diagnostics(sources) {}
    DiagnosticEngine diagnostics; // of its compilation, handed on, and then of its runs
    std::optional<LogicalProgram> program;
    std::unique_ptr<NativeKernels> natives;
    std::unique_ptr<target::Artefact> artefact;
    std::unique_ptr<target::Executable> executable;
    std::mutex lock; // the executable's
  };

  std::vector<std::unique_ptr<Code>> codes_;
  std::vector<target::Part> parts_;
};

} // namespace strata::driver

// Loops on a processor array: a structured kernel of a program whose accesses are affine becomes equations and is
// mapped, once for all sizes, or where that is impossible for each set of sizes that it is called with. What the array
// cannot execute stays with the core, and the user is told why at the kernel's line. Used by one thread.
#pragma once

#include "compiler/target/array/kernels.h"

#include <set>

namespace strata::array {

/// Says to who asks that a kernel runs on the core.
void reportOnCore(DiagnosticEngine& diagnostics, const Location& where, const std::string& kernel,
                  const std::string& why);

class Leaf {
public:
  /// Maps it, where that needs no sizes. The machine and the kernel outlive it. REQUIRES: the machine has an array.
  Leaf(svm::KernelOp kernel, mlir::ModuleOp program, const Machine& machine, const target::ArrayOptions& options,
       DiagnosticEngine& diagnostics);

  const std::string& name() const { return name_; }
  /// Whether any run may go onto the array.
  bool mayRun() const { return general_ || !fixed_.empty(); }
  /// The kernel for these arguments, ready to run; null where the core has to execute it (reported).
  const ArrayKernel* kernelFor(const std::vector<interpret::Argument>& arguments);

  /// Calls for everything that has been mapped, with the name that figures carry.
  void each(const std::function<void(const std::string& name, target::ArrayRunner& runner)>& function) const;

private:
  /// Why the array does not execute it.
  struct Failure {
    std::string reason;
    Location place; // of the reason
    bool isLack = false;
    std::vector<std::string> notes, helps;
    std::vector<equations::KernelSize> sizes; // with these known it may be otherwise
  };

  using Sizes = std::map<equations::KernelSize, int64_t>;

  std::unique_ptr<ArrayKernel> map(const equations::Known& known, const Sizes& wanted, Failure& failure);
  const ArrayKernel* add(const std::vector<interpret::Argument>& arguments);
  Sizes sizesOf(const std::vector<interpret::Argument>& arguments) const;
  int64_t valueOf(const equations::KernelSize& size, const std::vector<interpret::Argument>& arguments) const;
  unsigned bitsOf(const equations::KernelSize& size) const;
  void report(const Failure& failure);

  svm::KernelOp kernel_;
  std::string name_;
  const Machine& machine_;
  target::ArrayOptions options_;
  DiagnosticEngine& diagnostics_;
  equations::Known known_; // of all runs
  std::unique_ptr<ArrayKernel> general_;
  std::vector<equations::KernelSize> fixed_; // where general_ is null: what has to be known
  struct Sized {
    Sizes sizes; // that are numbers in it
    std::unique_ptr<ArrayKernel> kernel;
  };
  std::vector<Sized> sized_; // made when they were asked for
  std::set<Sizes> declined_;
};

} // namespace strata::array

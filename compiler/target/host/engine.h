// Native code from LLVM IR: optimisation, just-in-time code in this process, and object files.
#pragma once

#include "base/machine/figures.h"
#include "base/source/diagnostic.h"
#include "compiler/target/target.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <optional>
#include <string>

namespace strata::host {

struct CodeOptions {
  /// The processor to generate code for; nothing: this computer's.
  std::optional<target::Processor> processor = {};
  unsigned optimization = 3;
  /// Of the machine that the program is for.
  machine::Figures figures = {};
  target::Sanitizers sanitizers = {};
};

/// Collects the errors that LLVM reports in a context while this lives; without it LLVM ends the process.
class LlvmErrors {
public:
  explicit LlvmErrors(llvm::LLVMContext& context);
  ~LlvmErrors();
  /// All of them, or an empty text.
  const std::string& text() const { return text_; }

private:
  llvm::LLVMContext& context_;
  std::string text_;
};

/// Runs LLVM's pipeline over a module, for the chosen processor. Sets its data layout and triple. False when LLVM
/// generates no code for this computer (reported).
bool optimize(llvm::Module& module, const CodeOptions& options, DiagnosticEngine& diagnostics);

/// Assembly or an object file of an optimised module, as bytes. Empty on failure (reported).
std::string emit(llvm::Module& module, const CodeOptions& options, bool assembly, DiagnosticEngine& diagnostics);

/// Code in this process. Owns the code: functions are callable as long as the engine lives.
class Engine {
public:
  /// Links an object made by emit() into this process. Runtime symbols are those of this process, and `own` beside
  /// them.
  static std::unique_ptr<Engine> create(const std::string& object, llvm::ArrayRef<target::Symbol> own,
                                        DiagnosticEngine& diagnostics);
  ~Engine();
  /// The address of a function; null when it calls what is not there (reported).
  void* lookup(const std::string& name, DiagnosticEngine& diagnostics);

private:
  Engine();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace strata::host

// The LLVM IR that the files of a program carry, as one module. Lives as long as its context is used; not thread safe.
#pragma once

#include "base/source/diagnostic.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace strata::linking {

class WholeProgram {
public:
  WholeProgram();

  /// Of the modules that the files carry those with one of these flags (clang::IrFlags). Null without any, and on
  /// errors (reported).
  std::unique_ptr<llvm::Module> read(const std::vector<std::string>& files, uint32_t flags,
                                     DiagnosticEngine& diagnostics);

  llvm::LLVMContext& context() { return context_; }

private:
  std::string said_; // by LLVM, as long as its context lives
  llvm::LLVMContext context_;
};

} // namespace strata::linking

// Reads the text of an svm.llvm_source as LLVM IR: for the verifier of logical programs, and for who compiles it.
#pragma once

#include "compiler/ir/svm.h"

#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace strata::svm {

/// The module of a source's text, valid LLVM IR, called as the source is. Null where there is none: `problem` then says
/// why, with the line and column of the text where that is known ("line 1, column 8: expected top-level entity").
std::unique_ptr<llvm::Module> readLlvmSource(LLVMSourceOp source, llvm::LLVMContext& context, std::string& problem);

} // namespace strata::svm

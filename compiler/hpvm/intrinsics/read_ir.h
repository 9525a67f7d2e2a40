// HPVM IR (HPVM reference, "HPVM Implementation") as a module that looks as if Clang had made it of a C program with
// hpvm.h.
#pragma once

#include "base/source/diagnostic.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <memory>
#include <string>

namespace strata::hpvm {

/// Whether a file's contents are LLVM IR that calls intrinsics of HPVM: text, or bitcode of LLVM or of a fork.
bool isHpvmIr(llvm::StringRef contents);

/// Parses the text of LLVM IR, whose module need not be valid. Null, and a problem, where it is no such text.
std::unique_ptr<llvm::Module> parseText(llvm::StringRef text, llvm::SMDiagnostic& problem, llvm::LLVMContext& context);

/// Reads the file; `in` and `out` of pointer arguments are taken as what they mean, and lines of text are the places of
/// instructions that have no other. Null on errors (reported).
std::unique_ptr<llvm::Module> readIr(const std::string& path, llvm::LLVMContext& context,
                                     DiagnosticEngine& diagnostics);

/// Replaces the intrinsics of a module by calls of hpvm.h. False on errors (reported).
bool replaceIntrinsics(llvm::Module& module, DiagnosticEngine& diagnostics);

} // namespace strata::hpvm

// Functions of other files that a part of a program calls: what that part needs of them is taken from the LLVM IR that
// their objects carry. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace strata::linking {

/// An attribute of a declaration: why the function, which some file of the program defines, was not taken.
inline constexpr const char* notTaken = "strata-not-taken";

/// Defines what `callers`, functions of the module, and those that they call, call and the module only declares: as the
/// files that are linked (shared libraries too) define it, in the linker's order. A function is taken with the static
/// functions and constants that it refers to; one with a static variable is not, since there would be two of the
/// variable, and neither is one that the linker might replace by another, as it does those that `replaced` names and
/// those that several libraries define. Of shared libraries and of files that carry no IR nothing is taken. Damaged
/// files are reported.
void takeCallees(llvm::Module& module, llvm::ArrayRef<llvm::Function*> callers, const std::vector<std::string>& files,
                 const std::vector<std::string>& replaced, DiagnosticEngine& diagnostics);

} // namespace strata::linking

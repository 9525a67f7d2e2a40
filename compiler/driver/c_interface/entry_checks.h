// The rules that an entry point checks before it does anything, as C: sizes, preconditions, whatever follows from the
// arguments alone. So they are told to the caller's handler while the call can still be left. Takes the logical
// program; changes nothing.
#pragma once

#include "compiler/ir/svm.h"

#include <string>

namespace strata::driver {

/// Statements of C that return from the function when a rule is broken, with `before` before the error is raised. The
/// words of block argument i are `w{i}` (see entry_support.c), a scalar argument is `p{i}`. Checks that depend on more
/// than arguments are left to the compiled code, which makes them all again.
std::string entryChecks(mlir::func::FuncOp function, const std::string& before);

} // namespace strata::driver

// Run-time failures that the runtime itself finds. Compiled code calls strata_fail with a check of its own. Any thread
// may fail; the first failure wins and the others block until the program has ended.
#pragma once

#include "runtime/abi.h"

#include <cstdint>
#include <string>

namespace strata::runtime {

/// Ends the program through the failure handler. `code` is in kebab case and begins with "runtime-"; `help` may be
/// empty.
[[noreturn]] void fail(const char* code, const std::string& message, const std::string& help = "");
/// Code "runtime-out-of-memory"; `what` wanted `bytes` bytes.
[[noreturn]] void failOutOfMemory(const std::string& what, int64_t bytes);

/// Print on standard error, in the form of failures: a warning, or an error for which the caller ends the program.
void warn(const StrataCheck& check);
void say(const StrataCheck& check);

/// Fills {0}, {1}, … ; one without a value stays as it is.
std::string fillIn(const char* message, const int64_t* values, int32_t count);

} // namespace strata::runtime

// All notations as the command speaks of them: the notation of a program, and the parts of help and messages that are
// made from their descriptions. Pure functions.
#pragma once

#include "compiler/notation/registry/registry.h"

#include <string>
#include <vector>

namespace strata::driver {

/// The description of a program's notation by its file's name; null for the dialect and for what is no program.
const notation::Description* descriptionOf(llvm::StringRef file);
/// Whether a name is that of a program in the dialect itself.
bool isDialect(llvm::StringRef file);
/// Whether a name is that of a file with a symbolic configuration, which strata map writes for processor arrays.
bool isSymbolic(llvm::StringRef file);
/// Whether a file's name is that of a processor array's trace.
bool isArrayTrace(llvm::StringRef file);
/// Whether the files of C behind a program are functions that it calls, rather than a main that calls it.
bool takesFunctions(llvm::StringRef file);

/// "a, b or c", or with another word for "or".
std::string listed(const std::vector<std::string>& words, const std::string& last = "or");
/// "Sequoia (.sq), HBIR (.hbir), the dialect (.mlir) or HPVM IR (.ll, .bc)"; the last for commands that take
/// `withGraphs`.
std::string programKinds(bool withGraphs);
/// The endings of notations' files: ".sq", ".hbir".
std::vector<std::string> programEndings();
/// The names of those notations for which something holds, for sentences about their programs.
std::vector<std::string> notationsThat(llvm::function_ref<bool(const notation::Description&)> holds);
/// Something of each description, where it has it, in the registry's order.
std::vector<std::string> ofNotations(llvm::function_ref<std::string(const notation::Description&)> text);
/// "a Sequoia program".
std::string aProgramOf(const notation::Description& notation);

/// What functions in C may call beside the runtime, of the notations' own.
std::vector<target::Symbol> symbolsOfNotations();

/// The ways to pass arrays to entry points beside plain pointers.
std::vector<const notation::EntryInterface*> entryInterfaces();
/// The values of --interface.
std::vector<std::string> interfaceNames();
/// What --interface names, or without it the way of the program's notation; null for plain pointers.
const notation::EntryInterface* entryInterface(llvm::StringRef name, llvm::StringRef program);

} // namespace strata::driver

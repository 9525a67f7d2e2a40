// Clang in place of clang and clang++: a user's command line is passed on as it stands, with folders of headers added,
// and libraries where it links. One thread; the caller's process becomes Clang's.
#pragma once

#include "base/source/diagnostic.h"

#include <string>
#include <vector>

namespace strata::clang {

struct DropIn {
  std::vector<std::string> arguments; // behind the name of the compiler
  bool isCxx = false;                 // as clang++, which links the standard library of C++
  std::vector<std::string> includeFolders;
  std::string libraryFolder;
  std::vector<std::string> libraries; // -lNAME, linked behind everything else, each only when it is used
  std::string plugin;                 // carry_ir.cpp as Clang loads it; empty: objects carry nothing
  std::string linker;                 // started in the place of the linker that Clang would start; empty: none is
};

/// What a command line does, which only Clang knows: it is asked.
struct Plan {
  bool links = false;    // into a program or library; false also when Clang cannot carry it out
  std::string linker;    // that Clang would start
  bool hasLines = false; // whether code with debug information is asked for
};
Plan planOf(const DropIn& command);

/// The variable of the environment that tells DropIn::linker which linker Clang would have started.
inline constexpr const char* linkerVariable = "STRATA_LD";

/// Becomes Clang; the exit status and all messages are Clang's. `plan` is planOf(command). Returns only when Clang
/// cannot be started (reported).
void become(const DropIn& command, const Plan& plan, DiagnosticEngine& diagnostics);

} // namespace strata::clang

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
  std::vector<std::string> libraries; // words of a linker, for behind everything else that is linked
  std::string plugin;                 // carry_ir.cpp as Clang loads it; empty: objects carry nothing
  std::string linker;                 // started in the place of the linker that Clang would start; empty: none is
};

/// Variables of the environment that tell DropIn::linker which linker Clang would have started (a name, or a path), and
/// what to link behind everything else: words with blanks between.
inline constexpr const char* linkerVariable = "STRATA_LD";
inline constexpr const char* librariesVariable = "STRATA_LD_LIBRARIES";

/// Becomes Clang; the exit status and all messages are Clang's. Whether it links only Clang knows: what links is told
/// in either case. Returns only when Clang cannot be started (reported).
void become(const DropIn& command, DiagnosticEngine& diagnostics);

} // namespace strata::clang

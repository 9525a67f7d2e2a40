// Clang in place of clang and clang++: a user's command line is passed on as it stands, with folders of headers added,
// a plugin by which objects carry their IR, and a linker of ours in front of Clang's. One thread; the caller's process
// becomes Clang's.
#pragma once

#include "base/source/diagnostic.h"

#include <string>
#include <vector>

namespace strata::drop_in {

struct DropIn {
  std::vector<std::string> arguments; // behind the name of the compiler
  std::vector<std::string> expanded;  // the same with what stands in files of arguments (@FILE)
  std::string cpu;                    // --cpu=, a default for what the arguments say; empty: Clang's own
  bool isCxx = false;                 // as clang++, which links the standard library of C++
  std::vector<std::string> includeFolders;
  std::string libraryFolder;
  std::vector<std::string> libraries; // words of a linker, for behind everything else that is linked
  std::string plugin;                 // carry_ir.cpp as Clang loads it
  std::string linker;                 // started in the place of the linker that Clang would start
};

/// What is started as Clang: $STRATA_CLANG or clang-19.
std::string clangName();

/// Becomes Clang; the exit status and all messages are Clang's. Whether it links only Clang knows: the linker is
/// named in either case. Returns only when Clang cannot be started (reported).
void become(const DropIn& command, DiagnosticEngine& diagnostics);

} // namespace strata::drop_in

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
};

/// Whether the command line links, which only Clang knows: it is asked. False also when Clang cannot carry it out.
bool links(const DropIn& command);

/// Becomes Clang; the exit status and all messages are Clang's. `isLinking` is what links() says. Returns only when
/// Clang cannot be started (reported).
void become(const DropIn& command, bool isLinking, DiagnosticEngine& diagnostics);

} // namespace strata::clang

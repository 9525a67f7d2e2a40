// Clang 19 as a child process: C and C++ text to LLVM IR, shared libraries and programs from objects. What it reports
// becomes diagnostics with file, line and column. Files of its work lie in a private folder that is removed whatever
// happens. Not thread safe in its diagnostics.
#pragma once

#include "base/source/diagnostic.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace strata::clang {

/// What a command says of how C is compiled.
struct CFlags {
  std::vector<std::string> includeFolders, definitions; // -I, -D
  std::string processor = {};                           // as Source has it; empty: this computer's
};

/// Text to compile. `#include "strata.h"` and `#include "strata_abi.h"` work in it, and so do `headers`.
struct Source {
  std::string text;
  bool isCxx = false;
  std::map<std::string, std::string> headers; // more files to include, by name
  std::vector<std::string> includeFolders, definitions = {};
  /// What to say where the user's text defines what one of `headers` defines too, by the header's name.
  std::map<std::string, std::string> redefinitionHelp = {};
  std::string processor = "native";       // to compile for, by Clang's name; empty: any of the architecture
  bool hasLines = false;                  // whether LLVM IR says in which line of the user's each instruction stands
  std::string raise = "strataRaiseError"; // the function by which the text reports errors, for help
};

/// LLVM IR as text, for that processor: what Clang makes at -O2, with the optimisation itself left undone,
/// so that the code can be optimised together with what calls it. C++ has no exceptions and no global variables that
/// are constructed before a program begins. Nothing on errors (reported).
std::optional<std::string> compileToLlvm(const Source& source, DiagnosticEngine& diagnostics);

/// An object file of the same text, optimised. Nothing on errors (reported).
std::optional<std::string> compileToObject(const Source& source, DiagnosticEngine& diagnostics);

struct SharedLibrary {
  std::string name;                   // its soname
  std::string object;                 // an object file's bytes
  std::vector<std::string> libraries; // paths of archives, and -lNAME; searched in a group
  std::vector<std::string> exports;   // what is seen from outside; a star stands for any characters
};

/// Links with lld; every symbol must be found. The bytes of the library; nothing on errors (reported).
std::optional<std::string> linkShared(const SharedLibrary& library, DiagnosticEngine& diagnostics);

struct Executable {
  std::string object;                         // an object file's bytes
  std::vector<std::string> files;             // of the user, with main: C, C++, also objects and archives
  std::map<std::string, std::string> headers; // that they can include beside their own, by name
  std::vector<std::string> libraries;         // as above
  std::string processor = "native";           // to compile those of C and C++ for, as Source has it
  bool wrapsMain = false;                     // the object has __wrap_main, which calls __real_main
};

/// Compiles the user's files, C++ as C++20, and links a program. Its bytes; nothing on errors (reported).
std::optional<std::string> linkExecutable(const Executable& executable, DiagnosticEngine& diagnostics);

} // namespace strata::clang

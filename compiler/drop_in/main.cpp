// The program that is started as strata. strata cc and strata c++ become Clang at once, since builds call them for each
// file; all else, and what of these takes the compiler to understand, is lib/strata-compiler's
// (compiler/driver), which loads MLIR and LLVM. It also reports what is wrong.
#include "compiler/drop_in/cc.h"
#include "compiler/drop_in/installation.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unistd.h>

using namespace strata;

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "cc" || command == "c++") {
    const std::vector<std::string> words(argv, argv + argc), arguments(argv + 2, argv + argc);
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    const CommandLine line(sources, words);
    if (!drop_in::needsCompiler(arguments))
      if (const auto clang = drop_in::ccCommand(line, arguments, command == "c++", diagnostics))
        drop_in::become(*clang, diagnostics);
  }
  const std::string compiler = drop_in::findAbove("lib/strata-compiler");
  if (!compiler.empty())
    execv(compiler.c_str(), argv);
  std::fprintf(stderr,
               "error: 'lib/strata-compiler' cannot be started: %s\n  help: run strata from its installation or from "
               "its build folder\n",
               compiler.empty() ? "it is not beside this program" : std::strerror(errno));
  return 1;
}

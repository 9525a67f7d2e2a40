// libFuzzer target: any text as an HBIR program. A program that reads must print, and read again with its own mapping.
#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/program/print_ast.h"

#include <cstddef>
#include <cstdlib>

using namespace strata;
using namespace strata::hbir;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file = sources.add("fuzz.hbir", std::string(reinterpret_cast<const char*>(data), size), SourceKind::Program);
  std::unique_ptr<Program> program = readProgram(file, diagnostics, {});
  diagnostics.render({});
  if (!program)
    return 0;
  printAst(*program);
  BufferId map = sources.add("fuzz.map", writeMapping(*program), SourceKind::Mapping);
  if (!readMapping(map, diagnostics))
    std::abort();
  return 0;
}

// libFuzzer target: any text as a mapping file, put into a program with groups and arrays of several kinds. The mapping
// that the program then uses must be written so that reading it gives the same program.
#include "compiler/hbir/check/frontend.h"
#include "compiler/hbir/program/print_ast.h"

#include <cstddef>
#include <cstdlib>

using namespace strata;
using namespace strata::hbir;

namespace {

constexpr const char* text =
    "target { memory g[4] { size 8G; width 8B; }; tile t[8][8] { memory l[2] { size 64K; width 8B; }; }; }\n"
    "config { group tg[2][4] { tile target.t[x][y]; };\n"
    "  group grid[2] { group row[4] { tile target.t[grid.x+4][row.x]; }; }; }\n"
    "data { A : int[16] = block[4] { target.g[x]; host; };\n"
    "  B : float[8][8] = block[2][4] { config.tg[x][y]; };\n"
    "  out C : int[16] { location : config.grid.row, layout : striped } }\n"
    "code { config.tg[x][y] { C[tile_id] = A[block_size_B]; } }\n";

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file = sources.add("fuzz.map", std::string(reinterpret_cast<const char*>(data), size), SourceKind::Mapping);
  std::optional<Mapping> mapping = readMapping(file, diagnostics);
  BufferId program = sources.add("fuzz.hbir", text, SourceKind::Program);
  std::unique_ptr<Program> first = mapping ? readProgram(program, diagnostics, {}, &*mapping) : nullptr;
  diagnostics.render({});
  if (!first)
    return 0;
  BufferId again = sources.add("again.map", writeMapping(*first), SourceKind::Mapping);
  std::optional<Mapping> written = readMapping(again, diagnostics);
  std::unique_ptr<Program> second = written ? readProgram(program, diagnostics, {}, &*written) : nullptr;
  if (!second || writeMapping(*second) != writeMapping(*first))
    std::abort();
  return 0;
}

// libFuzzer target: any text as a mapping file. What is read must be written and read back equal.
#include "compiler/sequoia/mapping.h"

#include <cstddef>
#include <cstdlib>

using namespace strata;
using namespace strata::sequoia;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file = sources.add("fuzz.map", std::string(reinterpret_cast<const char*>(data), size), SourceKind::Mapping);
  std::optional<Mapping> mapping = readMapping(file, diagnostics);
  diagnostics.render({});
  if (!mapping)
    return 0;
  BufferId again = sources.add("again.map", writeMapping(*mapping), SourceKind::Mapping);
  std::optional<Mapping> second = readMapping(again, diagnostics);
  if (!second || !(*second == *mapping))
    std::abort();
  return 0;
}

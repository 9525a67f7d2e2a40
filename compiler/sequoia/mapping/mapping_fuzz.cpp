// libFuzzer target: any text as a mapping file, in either form. What is read must be written in both forms and read
// back equal.
#include "compiler/sequoia/mapping/mapping.h"

#include <cstddef>
#include <cstdlib>

using namespace strata;
using namespace strata::sequoia;

/// XML tells an entry point's task by the instance's name.
static bool hasPlainEntryPoints(const Mapping& mapping) {
  for (const MappedTask& task : mapping.tasks)
    for (const MappedName& entry : task.entryPoints) {
      const MappedTask* owner = nullptr;
      if (!mapping.findInstance(entry.text, &owner) || owner != &task)
        return false;
    }
  return true;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file = sources.add("fuzz.map", std::string(reinterpret_cast<const char*>(data), size), SourceKind::Mapping);
  std::optional<Mapping> mapping = readMapping(file, diagnostics);
  diagnostics.render({});
  if (!mapping)
    return 0;
  for (MappingForm form : {MappingForm::Braces, MappingForm::Xml}) {
    if (form == MappingForm::Xml && !hasPlainEntryPoints(*mapping))
      continue;
    BufferId again = sources.add("again.map", writeMapping(*mapping, form), SourceKind::Mapping);
    std::optional<Mapping> second = readMapping(again, diagnostics);
    if (!second || !(*second == *mapping))
      std::abort();
  }
  return 0;
}

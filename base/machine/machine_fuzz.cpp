// Any bytes as a machine description: reading, checking, writing and drawing must end without a fault, and what is
// written must read back to the same machine.
#include "base/machine/machine.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  strata::SourceManager sources;
  strata::DiagnosticEngine diagnostics(sources);
  const strata::BufferId text =
      sources.add("fuzz.yaml", std::string(reinterpret_cast<const char*>(data), size), strata::SourceKind::Machine);
  const std::optional<strata::Machine> machine = strata::readMachine(diagnostics, text);
  const bool valid = machine && strata::validate(*machine, diagnostics);
  diagnostics.render({});
  if (!valid)
    return 0;
  strata::drawMachine(*machine);
  const strata::BufferId again = sources.add("again.yaml", strata::writeMachine(*machine), strata::SourceKind::Machine);
  const std::optional<strata::Machine> back = strata::readMachine(diagnostics, again);
  if (!back || *back != *machine)
    std::abort();
  return 0;
}

// Writes the C header that names a machine's nodes, for the build: machine_header MACHINE.yaml OUTPUT.h. The strata
// command does the same for users; this needs no compiler.
#include "base/machine/nodes.h"

#include <fstream>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: machine_header MACHINE.yaml OUTPUT.h\n";
    return 1;
  }
  strata::SourceManager sources;
  strata::DiagnosticEngine diagnostics(sources);
  const auto machine = strata::loadMachine(argv[1], {}, diagnostics);
  const auto header = machine ? strata::machine::writeNodeHeader(*machine, diagnostics) : std::nullopt;
  if (!header) {
    std::cerr << diagnostics.render({});
    return 1;
  }
  std::ofstream out(argv[2]);
  out << *header;
  return out.flush() ? 0 : 1;
}

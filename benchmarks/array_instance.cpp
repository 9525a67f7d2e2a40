// One instantiation of a symbolic configuration, for a tool that counts the instructions within instantiatePrograms(),
// which makes everything but the connections and the banks. Exit status 0 when there is a configuration.
//
//   array-instance FILE.sym MACHINE.yaml ROWS COLUMNS SIZE …
#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "runtime/array/files.h"
#include "runtime/array/instantiate.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

int main(int argc, char** argv) {
  using namespace strata;
  if (argc < 5)
    return 1;
  std::ostringstream bytes;
  bytes << std::ifstream(argv[1], std::ios::binary).rdbuf();
  const std::variant<array::Symbolic, array::FileError> symbolic = array::read(bytes.str());
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  const std::optional<Machine> machine = loadMachine(argv[2], {}, diagnostics);
  if (!machine || !std::holds_alternative<array::Symbolic>(symbolic))
    return 1;
  array::InstantiationOptions options;
  options.rows = static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10));
  options.columns = static_cast<uint32_t>(std::strtoul(argv[4], nullptr, 10));
  for (int i = 5; i < argc; ++i)
    options.sizes.push_back(std::strtoll(argv[i], nullptr, 10));
  for (const machine::Processor& each : machine->processors)
    if (!each.array.empty()) {
      const auto made = array::instantiatePrograms(std::get<array::Symbolic>(symbolic), each.array[0], options);
      if (const auto* error = std::get_if<array::InstantiationError>(&made))
        std::fprintf(stderr, "%s\n", error->message.c_str());
      return std::holds_alternative<array::InstantiationError>(made);
    }
  return 1;
}

// libFuzzer target: any text as a loop program. What reads is brought into uniform form; small graphs are mapped to an
// array of small elements, instantiated with a few sizes and regions and, where that is short, run and compared with
// the interpreter of equations. Errors for people are fine, everything else that fails is not.
#include "tests/array/attempt.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace strata;
using namespace strata::array;

namespace {

// What keeps a run short. Solvers are exact, and mapping takes the longer the more equations and loops there are.
constexpr size_t mostBytes = 4096;
constexpr size_t mostNodes = 8, mostLoops = 3, mostParameters = 4, mostPieces = 10;
constexpr int64_t mostIterations = 512;

const machine::ProcessorArray& smallArray() {
  static const machine::ProcessorArray array = [] {
    std::ifstream file(STRATA_SOURCE_DIR "/machines/array-4x4/machine.yaml");
    std::ostringstream text;
    text << file.rdbuf();
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    const std::optional<Machine> machine =
        readMachine(diagnostics, sources.add("machine.yaml", text.str(), SourceKind::Machine));
    for (size_t i = 0; machine && i < machine->processors.size(); ++i)
      if (!machine->processors[i].array.empty())
        return machine->processors[i].array[0];
    std::abort();
  }();
  return array;
}

bool isSmall(const equations::Graph& graph) {
  if (graph.nodes.size() > mostNodes || graph.iterators.empty() || graph.iterators.size() > mostLoops ||
      graph.parameters.size() > mostParameters)
    return false;
  size_t pieces = 0;
  for (const equations::Node& node : graph.nodes)
    pieces += node.domain.pieces.size();
  return pieces <= mostPieces;
}

void requireRight(const Attempt& attempt) {
  if (attempt.end != Attempt::End::Wrong)
    return;
  std::fprintf(stderr, "%s\n", attempt.message.c_str());
  std::abort();
}

/// On one element and on several; there compared with the second implementation of instantiation, too, which is slower
/// than everything else.
void run(Attempt& attempt, const equations::Graph& graph, const std::vector<int64_t>& sizes, bool withOracle) {
  const machine::ProcessorArray& array = smallArray();
  for (const uint32_t elements : {1u, 2u}) {
    InstantiationOptions options;
    options.sizes = sizes;
    options.rows = attempt.symbolic->rowLoop == Symbolic::none ? 1 : elements;
    options.columns = attempt.symbolic->columnLoop == Symbolic::none ? 1 : elements;
    options.corner = array.controllers[0];
    const std::variant<Configuration, InstantiationError> made = instantiate(*attempt.symbolic, array, options);
    const Configuration* configuration = std::get_if<Configuration>(&made);
    if (configuration && configuration->iterations <= mostIterations && areAllowed(graph, sizes)) {
      execute(attempt, graph, array, options, 1, withOracle && elements > 1);
      requireRight(attempt);
    }
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > mostBytes)
    return 0;
  std::string messages;
  const std::optional<equations::Graph> graph =
      graphOf(std::string(reinterpret_cast<const char*>(data), size), "fuzz.pla", messages);
  if (!graph || !isSmall(*graph))
    return 0;
  Attempt attempt = mapped(*graph, smallArray(), {});
  requireRight(attempt);
  if (!attempt.symbolic)
    return 0;
  for (const int64_t each : {1, 3, 6})
    run(attempt, *graph, std::vector<int64_t>(graph->parameters.size(), each), each == 3);
  // Sizes that differ, and that an array has no memory for.
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < graph->parameters.size(); ++i)
    sizes.push_back(static_cast<int64_t>(4 + i));
  run(attempt, *graph, sizes, false);
  run(attempt, *graph, std::vector<int64_t>(graph->parameters.size(), 1'000'000'000), false);
  return 0;
}

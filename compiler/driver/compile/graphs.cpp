// The mapping file is read first, since it may name the machine.
#include "compiler/driver/compile/graphs.h"

#include "compiler/notation/node_mapping.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(unreadableMapping, Error, "hpvm-map-unreadable", "the mapping '{0}' cannot be read: {1}");
STRATA_DIAGNOSTIC(mappedForOther, Error, "hpvm-map-machine", "the mapping is for machine '{0}', and this is '{1}'");

static std::optional<notation::NodeMapping> mappingOf(const std::string& file, DiagnosticEngine& diagnostics) {
  if (file.empty())
    return notation::NodeMapping();
  std::string error;
  const BufferId text = diagnostics.sources().load(file, SourceKind::Mapping, error);
  if (text.valid())
    return notation::readNodeMapping(diagnostics, text);
  diagnostics.report(unreadableMapping, {}, file, error);
  return std::nullopt;
}

std::optional<PlacedGraphs> placeGraphs(Compiler& compiler, const hpvm::Graphs& graphs, llvm::Module& module,
                                        mlir::MLIRContext& context, bool records, DiagnosticEngine& diagnostics) {
  const auto nodes = mappingOf(compiler.options().mapping, diagnostics);
  auto machine = nodes ? compiler.machine(nodes->machine, nodes->machinePlace) : std::nullopt;
  if (!machine)
    return std::nullopt;
  if (!nodes->machine.empty() && nodes->machine != machine->name) {
    diagnostics.report(mappedForOther, nodes->machinePlace, nodes->machine, machine->name);
    return std::nullopt;
  }
  auto lowered = hpvm::lower(graphs, module, context, *machine, *nodes, records, diagnostics);
  if (!lowered)
    return std::nullopt;
  auto program = compiler.adopt(std::move(lowered->module), std::move(lowered->record), std::move(*machine));
  if (!program)
    return std::nullopt;
  return PlacedGraphs{std::move(*program), std::move(lowered->entries)};
}

} // namespace strata::driver

// What all notations share of their interface.
#include "compiler/notation/notation.h"

namespace strata::notation {

STRATA_DIAGNOSTIC(cannotReadMapping, Error, "driver-cannot-read-mapping", "cannot read mapping '{0}': {1}");
STRATA_DIAGNOSTIC(noMappingFiles, Error, "driver-no-mapping", "'{0}' is in a notation without mapping files");

BufferId loadMapping(const Options& options, DiagnosticEngine& diagnostics) {
  std::string error;
  BufferId file = diagnostics.sources().load(options.mapping, SourceKind::Mapping, error);
  if (!file.valid())
    diagnostics.report(cannotReadMapping, options.mappingPlace, options.mapping, error);
  return file;
}

bool Program::readMapping(const Options& options, DiagnosticEngine& diagnostics) {
  if (!options.mapping.empty())
    diagnostics.report(noMappingFiles, options.mappingPlace, options.program)
        .help("leave out --map; the mapping is made by default");
  return options.mapping.empty();
}

std::string Program::mappingText(const Options& options, const Machine&, DiagnosticEngine& diagnostics) {
  diagnostics.report(noMappingFiles, options.programPlace, options.program)
      .help("--emit=placed shows where everything goes");
  return "";
}

} // namespace strata::notation

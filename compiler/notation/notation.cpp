// What all notations share of their interface.
#include "compiler/notation/notation.h"

namespace strata::notation {

STRATA_DIAGNOSTIC(cannotReadMapping, Error, "driver-cannot-read-mapping", "cannot read mapping '{0}': {1}");

BufferId loadMapping(const Options& options, DiagnosticEngine& diagnostics) {
  std::string error;
  BufferId file = diagnostics.sources().load(options.mapping, SourceKind::Mapping, error);
  if (!file.valid())
    diagnostics.report(cannotReadMapping, {}, options.mapping, error);
  return file;
}

} // namespace strata::notation

// The notations by the endings of their files.
#include "compiler/driver/notation.h"

#include "compiler/driver/hbir.h"
#include "compiler/driver/sequoia.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(unknownNotation, Error, "driver-unknown-notation", "'{0}' is in no notation that this version reads");
STRATA_DIAGNOSTIC(cannotReadMapping, Error, "driver-cannot-read-mapping", "cannot read mapping '{0}': {1}");
STRATA_DIAGNOSTIC(noFunctions, Error, "driver-no-functions", "'{0}' takes no files of C functions, such as '{1}'");

std::unique_ptr<Notation> readNotation(BufferId file, const CompileOptions& options, DiagnosticEngine& diagnostics) {
  llvm::StringRef name = options.program;
  if (name.ends_with(".hbir"))
    return readHbir(file, options, diagnostics);
  if (!options.functions.empty()) {
    auto report = diagnostics.report(noFunctions, {}, options.program, options.functions.front());
    report.help("they belong to HBIR programs with extern declarations; external tasks are named in the mapping file");
  }
  if (name.ends_with(".sq"))
    return readSequoia(file, options, diagnostics);
  if (!name.ends_with(".mlir"))
    diagnostics.report(unknownNotation, {}, options.program)
        .help("Sequoia programs end in .sq, HBIR programs in .hbir, programs in the dialect in .mlir");
  return nullptr;
}

BufferId loadMapping(const CompileOptions& options, DiagnosticEngine& diagnostics) {
  std::string error;
  BufferId file = diagnostics.sources().load(options.mapping, SourceKind::Mapping, error);
  if (!file.valid())
    diagnostics.report(cannotReadMapping, {}, options.mapping, error);
  return file;
}

} // namespace strata::driver

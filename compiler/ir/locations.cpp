// Conversion of places and diagnostics between MLIR and base/source.
#include "compiler/ir/locations.h"

#include "mlir/IR/Diagnostics.h"

namespace strata {

STRATA_DIAGNOSTIC(irError, Error, "dialect-error", "{0}");
STRATA_DIAGNOSTIC(irWarning, Warning, "dialect-warning", "{0}");
STRATA_DIAGNOSTIC(irRemark, Remark, "dialect-remark", "{0}");

FilePlace filePlace(mlir::Location location) {
  FilePlace place;
  location->walk([&](mlir::Location inner) {
    if (auto file = llvm::dyn_cast<mlir::FileLineColLoc>(inner)) {
      place = {file.getFilename().str(), file.getLine(), file.getColumn()};
      return mlir::WalkResult::interrupt();
    }
    return mlir::WalkResult::advance();
  });
  return place;
}

std::string placeName(mlir::Location location) {
  auto named = llvm::dyn_cast<mlir::NameLoc>(location);
  return named ? named.getName().str() : std::string();
}

mlir::Location placePart(mlir::Location location, unsigned part) {
  auto fused = llvm::dyn_cast<mlir::FusedLoc>(location);
  return fused && part < fused.getLocations().size() ? fused.getLocations()[part] : location;
}

Location sourceLocation(const SourceManager& sources, mlir::Location location) {
  FilePlace place = filePlace(location);
  BufferId buffer = sources.find(place.file);
  return buffer.valid() && place.line ? sources.at(buffer, place.line, std::max(place.column, 1u)) : Location();
}

MlirDiagnostics::MlirDiagnostics(mlir::MLIRContext& context, DiagnosticEngine& engine) : context_(context) {
  // The place shows the operation already, as the user wrote it. For printing it MLIR would verify the whole program.
  context.printOpOnDiagnostic(false);
  handler_ = context.getDiagEngine().registerHandler([&engine](mlir::Diagnostic& diagnostic) {
    const DiagnosticKind* kind = &irRemark;
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      kind = &irError;
    else if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning)
      kind = &irWarning;
    DiagnosticBuilder out =
        engine.report(*kind, sourceLocation(engine.sources(), diagnostic.getLocation()), diagnostic.str());
    for (mlir::Diagnostic& note : diagnostic.getNotes())
      out.note(note.str());
    return mlir::success();
  });
}

MlirDiagnostics::~MlirDiagnostics() {
  context_.getDiagEngine().eraseHandler(handler_);
}

} // namespace strata

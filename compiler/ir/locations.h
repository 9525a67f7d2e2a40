// Converts locations of MLIR operations to places in source files, and MLIR's diagnostics to ours.
#pragma once

#include "base/source/diagnostic.h"

#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"

namespace strata {

/// The location of what stands at a place of a program; unknown when the place is invalid.
mlir::Location locationAt(const SourceManager& sources, const Location& place, mlir::MLIRContext& context);
/// The place of an operation; invalid when the file is not one of the manager's. Call-site and fused locations give
/// their innermost part.
Location sourceLocation(const SourceManager& sources, mlir::Location location);

/// The file, line and column of an operation (empty and 0 when unknown), for code that reports when it runs.
struct FilePlace {
  std::string file;
  uint32_t line = 0, column = 0;
  friend bool operator==(const FilePlace&, const FilePlace&) = default;
};
FilePlace filePlace(mlir::Location location);
/// The place as a location; an unknown one without a file.
mlir::Location locationOf(const FilePlace& place, mlir::MLIRContext* context);

/// What the program calls what stands at a place: the name of a NameLoc around it; empty when there is none.
std::string placeName(mlir::Location location);
/// The place of one of several things that an operation names, in order (a fused location's parts); the location itself
/// when it has no such part.
mlir::Location placePart(mlir::Location location, unsigned part);

/// While it lives, what MLIR reports in a context (verifiers, parser, passes) goes to the engine.
class MlirDiagnostics {
public:
  MlirDiagnostics(mlir::MLIRContext& context, DiagnosticEngine& engine);
  ~MlirDiagnostics();
  MlirDiagnostics(const MlirDiagnostics&) = delete;

private:
  mlir::MLIRContext& context_;
  uint64_t handler_;
};

} // namespace strata

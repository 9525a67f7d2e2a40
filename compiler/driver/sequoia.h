// The Sequoia notation as the pipeline uses it: read and check once, then a mapping (a file's or the default), then the
// logical program.
#pragma once

#include "compiler/driver/pipeline.h"

namespace strata::driver {

class SequoiaSource {
public:
  ~SequoiaSource();
  /// Reads and checks a program. Null when it is wrong (reported).
  static std::unique_ptr<SequoiaSource> read(BufferId file, DiagnosticEngine& diagnostics);

  std::string syntaxTree() const;
  /// Reads the mapping file, if one is given.
  bool readMapping(const CompileOptions& options, DiagnosticEngine& diagnostics);
  /// The machine that the mapping file names, and where; empty without one.
  std::string machineName() const;
  Location machinePlace() const;
  /// The mapping in use (the file's or the default), in brace form.
  std::string mappingText(const CompileOptions& options, const Machine& machine, DiagnosticEngine& diagnostics);
  std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>> lower(const CompileOptions& options,
                                                                                     const Machine& machine,
                                                                                     mlir::MLIRContext& context,
                                                                                     DiagnosticEngine& diagnostics);

private:
  SequoiaSource();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace strata::driver

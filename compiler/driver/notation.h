// A notation as the pipeline uses it: read and check once, then a mapping (a file's or the default), then the logical
// program. One class a notation implements this; the pipeline knows no more of any of them. Not thread safe.
#pragma once

#include "compiler/driver/pipeline.h"

namespace strata::driver {

class Notation {
public:
  virtual ~Notation() = default;

  virtual std::string syntaxTree() const = 0;
  /// Reads the mapping file, if one is given. False on errors (reported).
  virtual bool readMapping(const CompileOptions& options, DiagnosticEngine& diagnostics) = 0;
  /// The machine that the mapping file names, and where; empty without one.
  virtual std::string machineName() const { return ""; }
  virtual Location machinePlace() const { return {}; }
  /// Whether the mapping in use is one that was made by default and can be made again with less room to fill.
  virtual bool canShrink() const { return false; }
  /// The value of a tunable in the mapping file and where it stands; nothing where there is none.
  virtual std::optional<std::pair<int64_t, Location>> tunable(llvm::StringRef, llvm::StringRef) const {
    return std::nullopt;
  }
  /// The tunables of the mapping in use (the file's or the default), in its order. Empty where there are none.
  virtual std::vector<TunableInUse> tunables(const CompileOptions&, const Machine&, DiagnosticEngine&) const {
    return {};
  }
  /// Whether the sizes given with --size have become constants of the program, so that its entry point has none.
  virtual bool hasFixedSizes() const { return false; }
  /// The mapping in use (the file's or the default), in the notation's own form.
  virtual std::string mappingText(const CompileOptions& options, const Machine& machine,
                                  DiagnosticEngine& diagnostics) = 0;
  /// What --emit=VIEW shows ("groups", "layout"); nothing where the notation has no such view.
  virtual std::optional<std::string> view(llvm::StringRef name) const = 0;
  /// Pictures of the program and of its mapping; `machine` is asked for the machine if they show it. Empty on errors
  /// (reported).
  virtual std::vector<Picture> pictures(const CompileOptions& options,
                                        llvm::function_ref<std::optional<Machine>()> machine,
                                        DiagnosticEngine& diagnostics) = 0;
  /// The machine that the program itself describes. Nothing where it describes none, or on errors (reported).
  virtual std::optional<Machine> ownMachine(DiagnosticEngine&) const { return std::nullopt; }
  /// The logical program and where it goes. Nothing on errors (reported).
  virtual std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const CompileOptions& options, const Machine& machine, mlir::MLIRContext& context,
        DiagnosticEngine& diagnostics) = 0;
};

/// The notation of a program by its file's name, read and checked. Null when it is wrong (reported), and for programs
/// in the dialect.
std::unique_ptr<Notation> readNotation(BufferId file, const CompileOptions& options, DiagnosticEngine& diagnostics);

/// A mapping file's buffer. Invalid when it cannot be read (reported).
BufferId loadMapping(const CompileOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::driver

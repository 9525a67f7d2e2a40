// The whole compilation, from a file to code that runs, as one readable story: pipeline.cpp. Each phase takes one
// structure and gives the next; a phase that fails has reported why.
#pragma once

#include "base/machine/machine.h"
#include "compiler/ir/svm.h"
#include "compiler/mapping/record.h"
#include "compiler/notation/notation.h"
#include "compiler/target/target.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

class PartCode;
class PassWatch;

/// What the user asked for. Empty strings: not given.
struct CompileOptions : notation::Options {
  std::string machine;   // a name or a file; else what the mapping names, else $STRATA_MACHINE, else host
  Location machinePlace; // where the command line has it
  std::string target;    // the name of one; else the machine's
  Location targetPlace;  // where the command line has it
  std::vector<std::string> machinePath; // folders in which machines are looked up
  std::optional<unsigned> threads;
  bool verifyEach = false;                    // verify after every pass
  PassWatch* watch = nullptr;                 // is told what passes do; outlives the compiler
  bool isTrial = false;                       // looks for a mapping that fits
  std::optional<target::Processor> processor; // that objects are for; nothing: the one that `cpu` names
  target::Sanitizers sanitizers;              // that watch the program which the code goes into
  target::ArrayOptions array;                 // for processor arrays
  Location arrayPlace;                        // of the first of those that the command line has
};

/// A program in logical form, with where it goes and what runs it there.
struct LogicalProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mapping::Record record;
  Machine machine;
  const target::Target* target = nullptr;

  LogicalProgram clone() const {
    return {mlir::OwningOpRef<mlir::ModuleOp>(module.get().clone()), record, machine, target};
  }
  /// Whether it has memories and processors of the machine when it runs, or is run as it is written.
  bool isPlaced() const { return target->takes() != svm::Stage::Logical; }
};

using notation::Picture;
using notation::TunableInUse;
using target::Instrumentation;

class Compiler {
public:
  Compiler(mlir::MLIRContext& context, DiagnosticEngine& diagnostics, CompileOptions options);
  /// For a program that is no file of a notation: adopt() takes it. `options` name what messages call it.
  struct NoFile {};
  Compiler(NoFile, mlir::MLIRContext& context, DiagnosticEngine& diagnostics, CompileOptions options);
  ~Compiler();

  /// Reads, checks and lowers the program to the dialect; from a .mlir file, reads and verifies it.
  std::optional<LogicalProgram> logical();
  /// The same for a logical program that somebody else has made, with where its parts go on a machine.
  std::optional<LogicalProgram> adopt(mlir::OwningOpRef<mlir::ModuleOp> module, mapping::Record record,
                                      Machine machine);
  /// The program as it was lowered, with nothing said of what is wrong with a notation's; null where something is.
  /// Sizes and data can be compared with its entry points.
  mlir::OwningOpRef<mlir::ModuleOp> lowered();
  /// The machine of the options; else the one that a mapping names, `where`; else that of the environment, else this
  /// computer. Nothing where there is no such machine (reported).
  std::optional<Machine> machine(const std::string& named, Location where);
  /// Diagnostics only: what logical() does, and for a notation less.
  bool check();
  /// The checked program of a notation as a tree, for --emit=ast. Empty for the dialect itself (reported).
  std::string syntaxTree();
  /// A view of the notation's own. Empty where there is none (reported).
  std::string view(llvm::StringRef name);
  /// Drawings of the program and its mapping. Empty where there are none (reported).
  std::vector<Picture> pictures();
  /// The machine that the program describes. Nothing where it describes none (reported).
  std::optional<Machine> ownMachine();
  /// The tunables of the mapping that is used. Empty where there are none.
  std::vector<TunableInUse> tunables();
  /// What the mapping that is used leaves to choose. Empty where that is nothing, or on errors (reported).
  std::vector<notation::Choice> choices();
  /// The machine that the program goes to. Nothing where there is no such machine (reported).
  std::optional<Machine> usedMachine();
  /// The sizes that are known before compilation.
  std::map<std::string, int64_t> knownSizes() const;
  /// The options given, completed by what logical() has decided.
  const CompileOptions& options() const { return options_; }
  /// Whether the mapping in use was made by default, for a notation's program.
  bool isMappedByDefault() const;
  /// Whether sizes have become constants of the program, so that its entry point takes none.
  bool hasFixedSizes() const;
  /// The mapping that is used, written out in the notation's own form; or what the target itself decides.
  std::string mappingText();

  /// Places the program on its machine (in place): compiler/mapping/place.h. A program that is to count its accesses
  /// says so here: afterwards nothing tells any more whose memory an element was in.
  bool place(LogicalProgram& program, Instrumentation instrumentation = Instrumentation::None);
  /// From placed to scheduled: reductions expanded, iterations distributed, copies eliminated and hoisted, addresses
  /// set.
  bool schedule(LogicalProgram& program, Instrumentation instrumentation = Instrumentation::None);
  /// All of the way: brings a logical program (in place) to the stage that its target takes, and has the target compile
  /// it. The program outlives the artefact. Null on errors (reported; what the target says, and the artefact and its
  /// runs say later, goes to `saidByTarget` where one is given).
  std::unique_ptr<target::Artefact> compile(LogicalProgram& program, unsigned optimization,
                                            const target::NativeFunctions& natives,
                                            Instrumentation instrumentation = Instrumentation::None,
                                            DiagnosticEngine* saidByTarget = nullptr);

  /// The name of the entry point to run: the one asked for, or the only one.
  std::string entryName(mlir::ModuleOp module);

private:
  struct Source;
  std::optional<LogicalProgram> fromDialect();
  std::optional<LogicalProgram> verified(std::optional<LogicalProgram> program);
  std::optional<LogicalProgram> fromNotation();
  std::optional<LogicalProgram> withTarget(mlir::OwningOpRef<mlir::ModuleOp> module, mapping::Record record,
                                           Machine machine);
  void settleMapping(const Machine& machine);
  std::optional<std::string> targetsMapping();
  bool assignAddresses(LogicalProgram& program);
  bool checkMappingForm();
  void reportUnusedArrayOption(const Machine& machine);
  /// Tells the line on the terminal (runtime/core/progress.h), with the program's name, and the watch that a phase
  /// begins.
  void tell(const char* phase, const char* preposition = "") const;
  void prepare(mlir::PassManager& passes) const;
  bool runPasses(mlir::ModuleOp module, llvm::function_ref<void(mlir::PassManager&)> add);

  mlir::MLIRContext& context_;
  DiagnosticEngine& diagnostics_;
  CompileOptions options_;
  std::unique_ptr<Source> source_;
  std::vector<std::unique_ptr<PartCode>> parts_; // as long as code that calls them may live
  bool isSettled_ = false;
  bool isChecked_ = false; // by a front end, so that its checks are in the program
};

} // namespace strata::driver

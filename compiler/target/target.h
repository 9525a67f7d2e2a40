// The interface of targets: what turns a program into something that runs. A target states the stage of the dialect
// that it takes, says what of a program it does not support, and makes an artefact of all else; an artefact becomes a
// text, code that runs in this process, or an object file. One class a target implements this, in a folder of its own
// (compiler/target/NAME/); compiler/target/registry/ lists them. docs/adding-a-target.md tells how one is added.
//
// Targets are objects without state that live as long as the process; any thread may ask them. What they make belongs
// to the caller and is used by one thread at a time.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/ir/svm.h"
#include "compiler/kernel/loop_paths.h"
#include "compiler/target/array_options.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mlir {
class PassManager;
}

namespace strata::target {

/// What a compiled program tells about its run, at the cost of running slower.
enum class Instrumentation {
  None,
  Count, // Executable::figures
  Trace, // what ran when (runtime/core/trace.h)
};

/// What a program is watched by as it runs: Clang's -fsanitize=address and thread. Generated code tells them of its
/// accesses; the program is linked with their runtimes.
struct Sanitizers {
  bool address = false, thread = false;
};

/// A processor of this computer's architecture that native code is made for, as LLVM names it.
struct Processor {
  std::string name;     ///< for people: "x86-64-v3", "native (znver4)"
  std::string cpu;      ///< LLVM's name
  std::string features; ///< beside those that it implies: "+avx2,-avx512f"

  friend bool operator==(const Processor&, const Processor&) = default;
};

/// Code of this process behind a symbol of the program, for targets that have no way to run it themselves: a kernel
/// that is LLVM code, or a function of C (whose result goes into a single element behind its arguments). Called with
/// packed arguments (Executable::Entry). By the symbol.
using NativeFunctions = std::map<std::string, std::function<void(void**)>>;

/// A function of this process that C code of a program calls by name, beside those of the runtime and of C.
struct Symbol {
  std::string name;
  void* address;
};

struct Settings {
  unsigned optimization = 3; ///< as LLVM counts, 0 to 3
  Instrumentation instrumentation = Instrumentation::None;
  Sanitizers sanitizers;              ///< of objects
  std::optional<Processor> processor; ///< of objects, which check for it when they are loaded; nothing: this computer's
  std::vector<Symbol> symbols;        ///< of the notations' own runtimes
  bool verifies = false;              ///< what passes decide is decided a second time, where that is to be had
  ArrayOptions array;                 ///< for targets that map to processor arrays
  std::map<std::string, int64_t> sizes; ///< that are known, for forms that depend on them
  /// Is called with every pass manager before it runs, and when a part of the work begins ("optimising code").
  std::function<void(mlir::PassManager&)> prepare = [](mlir::PassManager&) {};
  std::function<void(const char*)> begin = [](const char*) {};
};

/// A program that runs in this process, with everything that it holds. Not thread safe.
class Executable {
public:
  /// Calls an entry point with its arguments packed, and returns when it has ended. A pointer for each argument: a
  /// block's points to words of 64 bits, {pointer, extents…, strides in elements…}; a scalar's or a record's to its
  /// bytes. False when the program broke a rule and the target has reported it; a target whose code ends the process
  /// then does not return.
  using Entry = std::function<bool(void** arguments)>;

  virtual ~Executable() = default;
  /// Empty when there is no such entry point, or when it calls what is not there (reported). Valid as long as this
  /// lives.
  virtual Entry entry(const std::string& name) = 0;
  /// Figures of all calls since the last reset, of a program compiled with Instrumentation::Count: "moves", "bytes
  /// MEMORY", "runs KERNEL" and what else the target has.
  virtual std::map<std::string, int64_t> figures() = 0;
  virtual void resetFigures() = 0;
  /// Whether svm.print writes; it does at first.
  virtual void setPrinting(bool prints) = 0;
};

/// A class of processors that the machine gives to another target, with that target's code of the kernels that run
/// there, by their symbols. Any thread may call it; what a kernel breaks ends the process as any failure of a run does.
struct Part {
  std::string processor;
  const class Target* target;
  NativeFunctions kernels;
};

/// A program at the stage that the target takes. Targets change the module; it, the machine and the parts outlive the
/// artefact, and what is loaded from it.
struct Program {
  mlir::ModuleOp module;
  const Machine& machine;
  llvm::ArrayRef<Part> parts = {}; // only for a target that gives work to theirs

  /// The part that a class of processors is, or null.
  const Part* part(llvm::StringRef processor) const;
};

/// The C side of a program's entry points, for an object that C calls.
struct Interface {
  std::map<std::string, std::string> headers; ///< that `source` includes beside strata.h and strata_abi.h, by name
  std::string source;                 ///< of C; defines `functions`, which call packedSymbol() of their entry points
  std::vector<std::string> functions; ///< what the object shows to the outside, and nothing else
  std::string file;                   ///< the name of what is made, for messages of code that is loaded; or empty
  std::string code;                   ///< what `source` compiles to (clang::compileToLlvm), where somebody has done so
};

/// The symbol of an object under which the C side finds an entry point: void (void** arguments), packed as
/// Executable::Entry says.
std::string packedSymbol(llvm::StringRef entry);

/// A compiled program. Gives one of these, once.
class Artefact {
public:
  virtual ~Artefact() = default;
  /// Itself in one of the target's forms (Target::forms). Nothing on errors (reported).
  virtual std::optional<std::string> text(llvm::StringRef form) = 0;
  /// Null on errors (reported).
  virtual std::unique_ptr<Executable> load() = 0;
  /// What became of the loops of the program's kernels; nothing for a target whose code has no loops of theirs.
  virtual llvm::ArrayRef<kernel::KernelPaths> kernels() const { return {}; }
  /// The bytes of at most so many object files that are linked together. Nothing on errors (reported), and for a target
  /// that makes none (Target::libraries).
  virtual std::optional<std::vector<std::string>> objects(const Interface& interface, unsigned most) = 0;
};

/// A form in which an artefact can be read, for --emit.
struct Form {
  llvm::StringLiteral name, about;
};

class Target {
public:
  virtual ~Target() = default;
  /// Its name on the command line and in machine descriptions, and a line for people.
  virtual llvm::StringRef name() const = 0;
  virtual llvm::StringRef about() const = 0;
  virtual svm::Stage takes() const = 0;
  virtual bool has(Instrumentation instrumentation) const = 0;
  virtual llvm::ArrayRef<Form> forms() const = 0;
  /// The forms, the default first, in which strata map writes what the target itself decides of a program; none:
  /// nothing that could be read back. They are asked of an artefact like the others.
  virtual llvm::ArrayRef<Form> mappingForms() const { return {}; }
  /// Whether there is such a decision in a program (logical), so that it is written in place of the notation's mapping.
  virtual bool maps(mlir::ModuleOp) const { return false; }
  /// The libraries of Strata (file names in lib/) that a program with one of its objects is linked with; nothing for a
  /// target that makes no objects.
  virtual std::optional<std::vector<std::string>> libraries() const = 0;
  /// Whether this target can start kernels on processors that a machine gives to another target, such as a host those
  /// of an array. The program that it compiles then brings that target's code of what runs there (Program::parts).
  virtual bool givesWorkTo(const Target&) const { return false; }
  /// Whether it tells ArrayOptions::recorder what a processor array does.
  virtual bool recordsArrays() const { return false; }
  /// Registers the passes that are its own (compiler/ir/passes.def), for MLIR's command lines.
  virtual void registerPasses() const {}
  /// Whether the target can do all that a program asks for. Reports each thing that it cannot, where it stands.
  virtual bool supports(Program program, DiagnosticEngine& diagnostics) const = 0;
  /// Links code that this target has made in another process of a run (runtime/cluster) into this one, for as long as
  /// it lives, and gives the address of a function in it. Null on errors (reported), and for a target whose code does
  /// not go to other processes.
  virtual const void* link(std::string_view, const std::string&, DiagnosticEngine&) const { return nullptr; }
  /// REQUIRES: supports(program). Null on errors (reported). `natives` and `diagnostics` outlive the artefact and what
  /// it is loaded as.
  virtual std::unique_ptr<Artefact> compile(Program program, const Settings& settings, const NativeFunctions& natives,
                                            DiagnosticEngine& diagnostics) const = 0;
};

} // namespace strata::target

// The interface of notations: what reads programs of one language and makes logical programs in the dialect of them. A
// notation says what the command needs to know of it (its files, the words of its own in help, examples), and reads a
// program; the program is then asked for its mapping and to be lowered. One class a notation implements each, in the
// notation's folder; compiler/notation/registry/ lists them. docs/adding-a-notation.md tells how one is added.
//
// Notations are objects without state that live as long as the process; any thread may ask them. Programs belong to the
// caller and are used by one thread at a time.
#pragma once

#include "base/machine/machine.h"
#include "base/picture/html.h"
#include "base/source/diagnostic.h"
#include "compiler/mapping/record.h"
#include "compiler/notation/choice.h"
#include "compiler/notation/description.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::notation {

/// What the user asked for, as far as programs of a notation look at it. Empty strings: not given.
struct Options {
  std::string program; // its file
  /// Where the command line names the program, its mapping, and the first of the functions.
  Location programPlace, mappingPlace, functionsPlace;
  std::vector<std::string> functions;                       // files of C functions that the program calls
  std::vector<std::string> includeDirectories, definitions; // -I, -D
  std::string cpu; // the processor that code is for, by Clang's name; empty: this computer's
  Location cpuPlace;
  std::string mapping;
  bool mappingTemplate = false; // a mapping that is written leaves its values to be filled in
  std::string mappingForm;      // of a mapping that is written: a MappingForm's name; empty: the first
  Location mappingFormPlace;    // of --template or --format
  std::string entry;
  Location entryPlace;                                        // where the command line has it
  std::vector<std::pair<std::string, Location>> otherEntries; // of a library, beside that one
  /// A library is called with any sizes, through every entry point where none is named.
  bool isLibrary = false;
  std::map<std::string, int64_t> sizes;               // sizes known before compilation help the default mapping,
  std::map<std::string, std::vector<int64_t>> shapes; // and so do the shapes of input arrays, by argument
  std::map<std::string, Location> sizePlaces;         // of those that the command states
  /// Other values than the mapping's, and how often the room that a default mapping aims at is halved: for trials,
  /// which look for a mapping that fits, or a faster one.
  Chosen chosen;
  unsigned halvings = 0;
};

/// One picture of a program.
struct Picture {
  std::string name; // what --picture calls it
  std::string heading, about;
  std::function<std::string()> content; // an SVG document; for a text beside the pictures, HTML
  bool isText = false;
  /// Drawings of parts, which a page shows where the whole is too large to be looked at; none otherwise.
  std::function<std::vector<picture::Sheet>()> sheets = {};
};

/// A tunable with its value.
struct TunableInUse {
  std::string instance, name;
  int64_t value = 0;
  Location place;    ///< in the mapping file; invalid in a mapping made by default
  Location declared; ///< in the program
  /// The sizes that it divides the work of, as far as they are known.
  std::vector<int64_t> sizes;
};

/// A program that has been read and checked.
class Program {
public:
  virtual ~Program() = default;

  virtual std::string syntaxTree() const = 0;
  /// Reads the mapping file, if one is given. False on errors (reported), of which one given to a notation without
  /// mapping files is one.
  virtual bool readMapping(const Options& options, DiagnosticEngine& diagnostics);
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
  virtual std::vector<TunableInUse> tunables(const Options&, const Machine&, DiagnosticEngine&) const { return {}; }
  /// What the mapping in use chooses and another one may choose otherwise, for a search. Empty where there is nothing,
  /// or on errors (reported).
  virtual std::vector<Choice> choices(const Options&, const Machine&, DiagnosticEngine&) const { return {}; }
  /// The sizes that are known before compilation: those given, and those that shapes of input arrays settle.
  virtual std::map<std::string, int64_t> sizes(const Options& options) const { return options.sizes; }
  /// Whether the sizes given with --size have become constants of the program, so that its entry point has none.
  virtual bool hasFixedSizes() const { return false; }
  /// The mapping in use (the file's or the default), in the notation's own form. Empty on errors (reported), of which
  /// it is one that the notation has no such form.
  virtual std::string mappingText(const Options& options, const Machine& machine, DiagnosticEngine& diagnostics);
  /// What --emit=VIEW shows, of the description's views; nothing where the notation has no such view, or
  /// on errors (reported).
  virtual std::optional<std::string> view(llvm::StringRef, DiagnosticEngine&) const { return std::nullopt; }
  /// Pictures of the program and of its mapping; `machine` is asked for the machine if they show it. Empty on errors
  /// (reported).
  virtual std::vector<Picture> pictures(const Options& options, llvm::function_ref<std::optional<Machine>()> machine,
                                        DiagnosticEngine& diagnostics) = 0;
  /// The machine that the program itself describes. Nothing where it describes none, or on errors (reported).
  virtual std::optional<Machine> ownMachine(DiagnosticEngine&) const { return std::nullopt; }
  /// The logical program and where it goes. Nothing on errors (reported).
  virtual std::optional<std::pair<mlir::OwningOpRef<mlir::ModuleOp>, mapping::Record>>
  lower(const Options& options, const Machine& machine, mlir::MLIRContext& context, DiagnosticEngine& diagnostics) = 0;
};

class Notation {
public:
  virtual ~Notation() = default;
  virtual const Description& description() const = 0;
  /// A program from its file. Null when it is wrong (reported).
  virtual std::unique_ptr<Program> read(BufferId file, const Options& options, DiagnosticEngine& diagnostics) const = 0;
};

/// A mapping file's buffer. Invalid when it cannot be read (reported).
BufferId loadMapping(const Options& options, DiagnosticEngine& diagnostics);

} // namespace strata::notation

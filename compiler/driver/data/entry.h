// Entry points as the command sees them: arguments by name, element types, extents as expressions of sizes; and the
// arrays bound to them for a run.
#pragma once

#include "base/data/npy_file.h"
#include "base/data/options.h"
#include "compiler/driver/data/file_array.h"
#include "compiler/ir/svm.h"

#include <map>
#include <string>
#include <vector>

namespace strata::driver {

struct EntryArgument {
  std::string name;
  Location where;       // in the program
  bool isBlock = false; // else a scalar passed by value
  bool read = true, written = false;
  bool inFile = false; // on a disk of the machine
  ElementType type;
  unsigned rank = 0;
  int64_t words = 0; // a block has that many words for each element, as a dimension behind its `rank` others; 0: none
  bool isDistributed = false; // its elements only go to and come from where they are distributed to processes
  bool isForgotten = false;   // … and are not read again where they have come back to
};

/// An entry point. Extents are affine in the sizes; without stated extents, input arrays give them.
struct EntryPoint {
  std::string name;
  Location where; // in the program
  std::vector<std::string> sizes;
  std::vector<EntryArgument> arguments;
  std::vector<std::optional<mlir::AffineMap>> extents;
};

/// Reads the entry point of a module. Nothing when a type cannot be passed from outside (reported).
std::optional<EntryPoint> readEntry(mlir::func::FuncOp function, DiagnosticEngine& diagnostics);

/// The extents of the block that an argument's array is to compiled code.
std::vector<int64_t> blockShape(const EntryArgument& argument, const Array& array);

/// The arrays of one call, in order. Scalars are arrays of no dimensions; of arrays in files there are descriptions.
struct Binding {
  std::vector<Array> arrays;
  std::vector<std::unique_ptr<FileArray>> files; // null: in memory
  std::map<std::string, int64_t> sizes;

  /// Whether an array lies in a file.
  bool isFile(size_t position) const { return position < files.size() && files[position]; }

  /// The packed form that compiled entries take (target::Executable). Valid while the binding is not changed.
  std::vector<void*> pack(const EntryPoint& entry);

private:
  std::vector<std::vector<int64_t>> words_;
};

struct DataOptions {
  std::vector<InputOption> inputs;
  std::vector<OutputOption> outputs;
  std::vector<SizeOption> sizes;
  std::map<std::string, NpyFile> files; // the inputs that are files, by argument; read by bindArguments
};

/// Opens the files that --in names and reads their headers. False when one does not read (reported).
bool openInputFiles(DataOptions& options, DiagnosticEngine& diagnostics);

/// Settles sizes from --size and from input arrays, makes or reads every array; those that the entry point has in files
/// stay there. The options live as long as the binding. `in` arguments need an --in; others are
/// zero without one.
std::optional<Binding> bindArguments(const EntryPoint& entry, DataOptions& options, DiagnosticEngine& diagnostics);

/// What is known of the arguments of a call without the arrays: the extents of each block, as compiled code has them,
/// and the values of integers passed by value.
struct Shapes {
  std::map<std::string, int64_t> sizes;
  std::vector<std::vector<int64_t>> blocks;    // empty: a scalar
  std::vector<std::optional<int64_t>> scalars; // nothing: a block, or not an integer that is given as a number
};

/// Settles sizes from --size and from the headers of input files; needs no other data. Nothing on errors (reported).
std::optional<Shapes> settleShapes(const EntryPoint& entry, DataOptions& options, DiagnosticEngine& diagnostics);

/// Looks at data options without a run: that some entry point has each name, and that files, as far as sizes are known,
/// fit the arguments. REQUIRES: an entry point. False where they do not (reported).
bool checkArguments(const std::vector<EntryPoint>& entries, DataOptions& options, DiagnosticEngine& diagnostics);

/// Writes what --out names.
bool writeOutputs(const EntryPoint& entry, Binding& binding, const DataOptions& options, DiagnosticEngine& diagnostics);

} // namespace strata::driver

// A structured kernel as statements over iteration vectors, with every access to memory as a map of isl: what dataflow
// analysis takes. All memory is alike: arguments, variables, and values that one part of the kernel hands to another
// (carried from iteration to iteration, or used in another block). Internal to this folder; one thread uses a program,
// whose sets must not outlive it. Functions of this folder throw isl::exception, which extract() catches.
//
// Iteration vectors have one entry for each loop around, the outermost first: the loop's variable, or the number of the
// iteration from 0 where the step is not 1. Sets and maps have anonymous tuples, and the parameters p0, p1, ….
#pragma once

#include "compiler/equations/extract/extract.h"
#include "compiler/equations/graph.h"
#include "compiler/equations/polyhedra.h"

#include "mlir/IR/Location.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace strata::equations::extraction {

/// Why a kernel is no system of equations. Thrown, and caught by extract().
struct Refused {
  std::string reason; // "a condition depends on data"
  mlir::Location location;
  bool lacksOperation = false;
  std::vector<KernelSize> sizes = {}; // if these were numbers, it might be otherwise
};

/// An array, a variable, or one value (rank 0).
struct Cell {
  std::string name;
  ElementType type;
  unsigned rank = 0;
  std::optional<unsigned> argument; // of the kernel
  bool isWritten = false;
  mlir::Location location;
};

/// A loop with statements. Bounds are functions of the iteration vector around it.
struct Loop {
  std::optional<unsigned> parent; // a loop
  unsigned depth = 0;             // loops around it
  int64_t position = 0;           // in the block around it
  isl::pw_aff first, last;        // entries of the iteration vector
};

/// A place in the kernel: the loops around it from the outside in, and the position in each one's block. Positions
/// order what stands in a block.
struct Place {
  std::vector<unsigned> loops;
  std::vector<int64_t> positions; // one more than loops
};

/// A read of a cell's element in every iteration of a block.
struct Read {
  unsigned cell = 0;
  Place place;
  isl::set domain;
  isl::map index;
  mlir::Location location;
};

/// A value, computed of reads in the iteration in which it is needed.
struct Term {
  enum class Kind { Constant, Scalar, Read, Operation };
  Kind kind = Kind::Constant;
  ElementType type, operandType;
  Constant constant;
  unsigned number = 0; // a scalar's argument, or a read
  Operation operation = Operation::Copy;
  std::vector<Term> operands;
  std::optional<mlir::Location> location;
};

/// A write of a cell's element in every iteration of the domain.
struct Statement {
  unsigned cell = 0;
  Place place;
  isl::set domain;
  isl::map index;
  Term value;
  mlir::Location location;

  /// Whether it hands on what another one has computed.
  bool isCopy() const { return value.kind != Term::Kind::Operation; }
};

/// A size that bounds and indices may mention.
struct Parameter {
  std::string name;
  unsigned argument = 0;
  std::optional<unsigned> dimension; // whose extent it is; nothing: the scalar itself
  std::optional<int64_t> number;     // that it is
};

struct Program {
  explicit Program(size_t parameters) : sets(std::make_unique<Polyhedra>(0, parameters)) {}

  std::unique_ptr<Polyhedra> sets; // owns what all sets live in: the first member
  std::vector<Parameter> parameters;
  isl::set context;       // of parameters: extents are no less than 0
  isl::set fits;          // of parameters: no access leaves an array
  bool leavesOut = false; // that is so for more sizes
  std::vector<Cell> cells;
  std::vector<std::vector<Affine>> extents; // of each argument
  std::vector<Loop> loops;
  std::vector<Read> reads;
  std::vector<Statement> statements;

  isl::ctx ctx() const { return context.ctx(); }
};

/// "[p0, p1] -> ", as isl spells the parameters.
inline std::string parameterPrefix(size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", p" : "p") + std::to_string(i);
  return "[" + text + "] -> ";
}

/// "[x0, x1]"
inline std::string vectorText(const char* letter, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(letter) + std::to_string(i);
  return "[" + text + "]";
}

} // namespace strata::equations::extraction

// A loop program as processor arrays execute it, while it is being rewritten for them: cells, each the equations that
// define one variable by one operation, with their condition spaces as sets of isl. Made of a graph whose iterators are
// the loops of the tile, the outermost first. Used by one thread; isl::exception comes through.
//
// Source: reduced dependence graphs, "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 4.
#pragma once

#include "compiler/equations/graph.h"
#include "compiler/equations/polyhedra.h"
#include "runtime/array/symbolic.h"

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace strata::array {

/// Whether a distance is that of a use in the same iteration.
bool isZero(const std::vector<int64_t>& distance);

/// An element of an output that is written with each instance of a variable in the domain.
struct OutputWrite {
  uint32_t output = 0;
  std::vector<equations::Affine> index;
  isl::set domain;
  Location location;
};

struct NetworkVariable {
  std::string name;
  ElementType type;
  Location location;
  std::vector<OutputWrite> writes;
};

/// What a cell's operands are in a part of its iterations.
struct Alternative {
  isl::set domain;
  std::vector<equations::Operand> operands;
  Location location;
};

/// Equations of one variable by one operation. Their domains are disjoint.
struct Cell {
  uint32_t variable = 0;
  equations::Operation operation = equations::Operation::Copy;
  ElementType type, operandType;
  std::vector<Alternative> alternatives;

  isl::set domain() const; // the union
};

/// Where an instance of a variable is used: by a cell, `distance` iterations later.
struct Reading {
  uint32_t variable = 0;
  std::vector<int64_t> distance;
  uint32_t cell = 0;
  isl::set domain; // of the reader
};

/// Copies have the sets' library in common; they stay in one thread.
class Network {
  std::shared_ptr<equations::Polyhedra> owned_;

public:
  /// REQUIRES: the graph verifies, and outlives the network.
  explicit Network(const equations::Graph& graph);

  const equations::Graph& graph;
  equations::Polyhedra& polyhedra;
  isl::set context; // all iterations for sizes that the program allows
  std::vector<NetworkVariable> variables;
  std::vector<Cell> cells;
  /// Uses in the same iteration that last for an interval or longer, as (variable, cell): they go through a FIFO.
  std::set<std::pair<uint32_t, uint32_t>> queued;

  size_t loops() const { return graph.iterators.size(); }
  uint32_t addVariable(const std::string& name, const ElementType& type, const Location& location);
  /// A cell that copies an operand to a new variable; gives the variable.
  uint32_t addCopy(const std::string& name, const ElementType& type, const isl::set& domain, equations::Operand operand,
                   const Location& location);
  /// By variable, distance and cell, in that order.
  std::vector<Reading> readings() const;
  /// Where a variable is defined.
  isl::set defined(uint32_t variable) const;
  /// Where cells are executed, by cell; each is worked out anew.
  std::vector<isl::set> domains() const;
  /// The iterations I with I + distance in the set.
  isl::set before(const isl::set& set, const std::vector<int64_t>& distance) const;
  std::vector<int64_t> zero() const { return std::vector<int64_t>(loops(), 0); }
};

/// The least and the largest values of a loop over all iterations, as bounds over the parameters; inclusive.
struct LoopRange {
  std::vector<Bound> lower, upper;
  isl::set above, below; // iterations that keep the lower, and the upper bounds
};

/// Nothing where some loop has no bound for some sizes.
std::optional<std::vector<LoopRange>> ranges(const Network& network);

} // namespace strata::array

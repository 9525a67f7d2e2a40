// A symbolic configuration: what one loop program becomes on one processor array before its bounds and its tiles are
// known. It holds no loop bound and no size of a region; instantiate.h makes a concrete configuration of it. Plain data,
// without LLVM or isl; copies are independent, and any number of threads may read one.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5; names are the article's.
//
// Space. A loop of n dimensions runs over iterations I. Tiling writes I = lower + P·K + J: K is the tile, 0 <= K < t, J
// the iteration within it, 0 <= J < p, P = diag(p). At most two tile counts differ from 1, those of `rows` and `columns`;
// tile K runs on the element (K[rows], K[columns]) of a region.
//
// Time, in cycles. Tile K starts at lambdaK·K. Its iterations run in lexicographic order, the dimensions as `order` says,
// one every `interval` cycles: iteration J begins at start(K) + interval·rank(J), where rank counts the whole box of the
// tile. An instruction at offset tau issues at begin(J) + tau, whatever iteration has begun meanwhile.
//   - Sources are read in the cycle of issue. A result is written `latency` cycles later. Within a cycle, what is written
//     is written before anything is read.
//   - rd: a register. fd, id: FIFOs; a read takes the oldest value, a write (fd) or an arrival (id) appends one.
//   - od: the value enters the wrapper in the cycle in which it is written and moves one wrapper each `hop` cycles of the
//     data layer (passing through a wrapper costs nothing else); it arrives in an id FIFO, or in a bank, in that cycle.
//   - flag: a bit, read and written as rd is; the functional units of an element share them.
//   - A bank of a border lies one hop beside the wrapper at the border.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strata::array {

/// What a term multiplies. Dimensions are those of the loop; parameters are its loop bounds, by number.
struct Symbol {
  enum class Kind : uint8_t {
    Iteration, // I[index]
    Intra,     // J[index]
    Parameter, // a loop bound
    TileSize,  // p[index]
    TileCount, // t[index]
  };
  Kind kind = Kind::Iteration;
  uint16_t index = 0;
  friend auto operator<=>(const Symbol&, const Symbol&) = default;
};

/// A sum of products, and a constant. Terms are sorted by symbol, without zeros.
struct Affine {
  std::vector<std::pair<Symbol, int64_t>> terms;
  int64_t constant = 0;
  friend bool operator==(const Affine&, const Affine&) = default;
};

struct Constraint {
  enum class Kind : uint8_t {
    NotNegative,  // value >= 0
    Zero,         // value == 0
    Divisible,    // value mod modulus == 0
    NotDivisible, // value mod modulus != 0
  };
  Kind kind = Kind::NotNegative;
  Affine value;
  int64_t modulus = 0; // at least 2, of the last two kinds
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

/// A condition space: iterations that satisfy all constraints of one of its pieces. Pieces may overlap. No piece: empty;
/// a piece without constraints: the whole box of the tile.
struct Space {
  std::vector<std::vector<Constraint>> pieces;
  friend bool operator==(const Space&, const Space&) = default;
};

/// Where an instruction reads or writes.
struct Register {
  enum class Kind : uint8_t { General, Feedback, Input, Output, Flag, Immediate };
  Kind kind = Kind::General;
  uint16_t index = 0;  // rd0, rd1, …; of the kind
  uint64_t value = 0;  // of an immediate: the word
  friend auto operator<=>(const Register&, const Register&) = default;
};

// ---- the polyhedral syntax tree, level by level: unit, time offset, instruction, operand, register ----

/// A register that stands in an operand's place in the iterations of a condition space (Configuration::spaces).
struct Leaf {
  Register reg;
  uint32_t space = 0;
  friend bool operator==(const Leaf&, const Leaf&) = default;
};

/// One operand; the spaces of its leaves are disjoint. A destination without an active leaf drops the result.
struct Operand {
  std::vector<Leaf> leaves;
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// Issued in the iterations in which a leaf of its first source is active (its condition space); then each source has
/// exactly one active leaf.
struct Instruction {
  std::string operation; // a name of operations.def
  std::vector<Operand> destinations, sources;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

/// The condition spaces of the instructions at one offset are disjoint.
struct Offset {
  uint32_t tau = 0;
  std::vector<Instruction> instructions;
  friend bool operator==(const Offset&, const Offset&) = default;
};

/// Of one functional unit: unit types in the machine's order, each instance a number (all of the first type, then …).
/// Offsets ascend. No two offsets fill the same slot (tau mod interval) in iterations that meet there.
struct UnitProgram {
  uint32_t unit = 0;
  std::vector<Offset> offsets;
  friend bool operator==(const UnitProgram&, const UnitProgram&) = default;
};

// ---- schedule, registers, routes, accesses ----

/// A lower bound of the start distances of tiles: lambdaK·theta >= lambdaJ·(P·theta - d) + constant. `theta` is 0 but for
/// the rows' and columns' dimensions, where it is -1, 0 or 1; `d` is the dependence vector.
struct StartBound {
  std::vector<int8_t> theta;
  std::vector<int64_t> d;
  int64_t constant = 0;
  friend bool operator==(const StartBound&, const StartBound&) = default;
};

/// A dependence that lives in an fd or an id FIFO, which decides its depth:
/// floor((lambdaK·theta + lambdaJ·(d - P·theta) + constant) / interval) + 1, the greatest of all in that FIFO. For fd
/// theta is 0. `constant` is tau[reader] - tau[writer] - latency - cycles on the way.
struct Occupancy {
  Register fifo; // fd or id
  std::vector<int8_t> theta;
  std::vector<int64_t> d;
  int64_t constant = 0;
  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};

/// A port of the data layer's wrapper, as in base/machine/machine.h: side 0 to 3 is north, east, south, west; 4 the
/// element. A source port brings data into the switch.
struct RoutePort {
  uint8_t side = 4;
  uint16_t index = 0;
  bool isSource = true;
  friend auto operator<=>(const RoutePort&, const RoutePort&) = default;
};

/// A propagation channel, replicated over the region: from an output register of the element (r, c) to an input register
/// of the element (r + rowStep, c + columnStep). The path alternates source and sink ports: from the element's source
/// port (its output register's) through the wrapper to a sink port, over to the neighbour's sibling port, and so on, to
/// the sink port at the element (the input register's).
struct Channel {
  int8_t rowStep = 0, columnStep = 0;
  std::vector<RoutePort> path;
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// Instances of an input or output variable that a register is read from, or written to. The address of the element is
/// base + sum of stride[m]·index[m], with the array's layout.
struct Access {
  Register reg; // id or od
  uint32_t variable = 0;
  std::vector<Affine> index; // one a dimension of the array; of iterations and parameters
  uint32_t space = 0;
  uint32_t tau = 0; // input: when it is read; output: when it is written (issue and latency)
  friend bool operator==(const Access&, const Access&) = default;
};

/// What has to hold of bounds and tiles, or instantiation refuses with the message.
struct Assumption {
  Constraint constraint; // of parameters, tile sizes and tile counts
  std::string message;   // "tiles of dimension i are smaller than the dependence y[i-2]"
  friend bool operator==(const Assumption&, const Assumption&) = default;
};

/// An input or output variable.
struct Variable {
  std::string name;
  std::string type; // "float32", "int16", … as ElementType::text
  bool isOutput = false;
  std::vector<Affine> shape; // of parameters; empty for a scalar
  friend bool operator==(const Variable&, const Variable&) = default;
};

/// What the elements have: a copy of the machine's figures, so that a configuration is complete in itself.
struct Element {
  struct Operation {
    std::string name;
    uint32_t latency = 1, interval = 1;
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  struct Unit {
    std::string name; // alu0, alu1, …
    std::vector<Operation> operations;
    uint32_t instructions = 0;
    friend bool operator==(const Unit&, const Unit&) = default;
  };
  /// Ports by side (north, east, south, west), and which source may reach which sink; no pair: all.
  struct Layer {
    uint32_t inputs[4] = {}, outputs[4] = {};
    bool fullyAdjacent = true;
    std::vector<std::pair<RoutePort, RoutePort>> adjacent;
    uint32_t hop = 1;
    friend bool operator==(const Layer&, const Layer&) = default;
  };
  uint32_t word = 4; // bytes
  std::vector<Unit> units;
  uint32_t general = 0, feedback = 0, feedbackDepth = 0, input = 0, inputDepth = 0, output = 0, flags = 0, control = 0;
  uint32_t destinations = 1;
  uint32_t branchTargets = 2, branchSignals = 1;
  Layer data, controlLayer;
  uint32_t controllerSignals = 0, controllerDimensions = 0;
  struct Border {
    uint32_t banks = 0; // beside each element at the border
    uint64_t capacity = 0;
    uint32_t dimensions = 0;
    friend bool operator==(const Border&, const Border&) = default;
  };
  Border borders[4];
  friend bool operator==(const Element&, const Element&) = default;
};

struct Configuration {
  std::string program; // its name
  std::vector<std::string> dimensions, parameters;
  Element element;
  /// Bounds of the iteration space: of each dimension, I >= the least of `lower`, I < the greatest of `upper`; over
  /// parameters.
  std::vector<std::vector<Affine>> lower, upper;
  int32_t rows = -1, columns = -1; // the dimensions that are tiled over the region; -1: none
  std::vector<uint16_t> order;     // dimensions, innermost first: lambdaJ is interval times the extents within
  uint32_t interval = 1;           // the initiation interval
  uint32_t intervalBound = 1;      // a proved lower bound of it; equal: it is optimal
  std::vector<Space> spaces;
  std::vector<UnitProgram> units;
  std::vector<StartBound> starts;
  std::vector<Occupancy> occupancies;
  std::vector<Channel> channels;
  std::vector<Variable> variables;
  std::vector<Access> accesses;
  std::vector<Assumption> assumptions;
  friend bool operator==(const Configuration&, const Configuration&) = default;
};

} // namespace strata::array

// A symbolic configuration: what a loop program became on a processor array before its sizes and the region are known.
// All hard problems are solved in it (units and offsets of operations, registers, routes); what is left to
// instantiate.h is a matter of sets. Plain data without LLVM or isl, which owns all it holds; compiler/target/array/
// makes it, files.h writes and reads it. Any number of threads may read one.
//
// Loops are those of the tile in the order in which an element executes them, the outermost first. Iterations are
// I = L + P·K + J: L is the loops' least values, K the tile (row and column of the element; 0 for loops that are not
// distributed), P the tile's sizes, J the iteration in the tile. All conditions are on I and parameters, so that the
// file holds no size.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 5. The polyhedral syntax tree is
// unit, offset, instruction, operand, from the outside in; what it writes into one tree is a list of instructions here.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/instruction.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::array {

/// loops · I + parameters · p + constant. Both lists have an entry for every loop and every parameter.
struct Linear {
  std::vector<int64_t> loops, parameters;
  int64_t constant = 0;
  friend bool operator==(const Linear&, const Linear&) = default;
};

struct Condition {
  enum class Kind : uint8_t {
    NotNegative,  // value >= 0
    Zero,         // value == 0
    Divisible,    // value mod modulus == 0
    NotDivisible, // value mod modulus != 0
  };
  Kind kind = Kind::NotNegative;
  Linear value;
  int64_t modulus = 0; // at least 2, of the last two kinds; else 0
  friend bool operator==(const Condition&, const Condition&) = default;
};

/// A union of pieces; a piece holds where all its conditions do (numbers into Symbolic::conditions). No piece: nowhere;
/// a piece without conditions: everywhere.
struct Space {
  std::vector<std::vector<uint32_t>> pieces;
  friend bool operator==(const Space&, const Space&) = default;
};

/// The iterations I with I + shift in a space and, where `crossing` is not empty, with floor((J + shift'[l]) / P[l]) ==
/// crossing[l] for every distributed loop l. shift' is `step`: how far the other end of a dependence is from J, so that
/// `crossing` says in which neighbouring tile it lies.
struct Term {
  uint32_t space = 0; // in Symbolic::spaces
  std::vector<int64_t> shift;
  std::vector<int64_t> step;     // for every loop, or empty
  std::vector<int64_t> crossing; // for every loop -1, 0 or 1 (0 for those that are not distributed), or empty
  friend bool operator==(const Term&, const Term&) = default;
};

/// Where a result is written, in which iterations of the instruction (the union of the terms, within the instruction's
/// own).
struct Destination {
  Register reg;
  std::vector<Term> when;
  friend bool operator==(const Destination&, const Destination&) = default;
};

/// What an operand is in which iterations. The alternatives of one operand are disjoint and together the instruction's.
struct Source {
  Operand value;
  std::vector<Term> when;
  friend bool operator==(const Source&, const Source&) = default;
};

/// A leaf with its way from the root of the syntax tree.
struct SymbolicInstruction {
  std::string name;    // of the variable that it defines, for people
  uint32_t unit = 0;   // instance, counted over all units of the machine
  int64_t offset = 0;  // cycles from the start of its iteration: the document's tau
  int64_t latency = 1; // cycles until the result is written
  Opcode opcode = Opcode::Nop;
  Type type = Type::Int32, operandType = Type::Int32;
  std::vector<Term> when; // the union; instructions of one unit at one offset are disjoint
  std::vector<Destination> destinations;
  std::vector<std::vector<Source>> operands; // by operand
  friend bool operator==(const SymbolicInstruction&, const SymbolicInstruction&) = default;
};

/// A propagation channel: a route from every element to its neighbour. `path` are ports: the element's output, then by
/// turns the sink port of a wrapper and the sibling source port of the next one, at last the element's input.
struct Channel {
  int64_t rowStep = 0, columnStep = 0; // from the producer to the consumer
  std::vector<machine::Port> path;
  friend bool operator==(const Channel&, const Channel&) = default;
};

/// A value from an instance d iterations ago, in the tile that is `crossing` behind, has arrived when it is read:
///   startR · crossing[row] + startC · crossing[column] + order(d - P · crossing) + slack >= 0,
/// where order(v) is the cycles by which the iteration at J + v follows the one at J (interval times the dot product
/// with the products of the inner extents), and startR, startC the cycles by which an element starts after its
/// neighbour to the north and to the west. `slack` is the reader's offset less the writer's, its latency and the cycles
/// of the channel.
struct Arrival {
  std::vector<int64_t> distance, crossing;
  int64_t slack = 0;
  friend bool operator==(const Arrival&, const Arrival&) = default;
};

/// How many values a FIFO holds: those written and not yet read are at most floor(w / interval) + 1, where w is the
/// left side of Arrival. For feedback registers crossing is 0.
struct Fifo {
  Register reg; // fd or id
  Arrival arrival;
  friend bool operator==(const Fifo&, const Fifo&) = default;
};

/// Elements of an array at an input or output register.
struct Access {
  static constexpr uint32_t ownRoute = UINT32_MAX;
  bool isOutput = false;
  uint32_t array = 0; // in inputs or outputs
  Register reg;       // id or od
  /// The channel whose register it shares, at elements whose neighbour along the channel is outside of the region; the
  /// bank is where the channel's route leaves the region. ownRoute: a route to a border is found for each element.
  uint32_t channel = ownRoute;
  int64_t offset = 0; // cycles from the iteration's start until the value is read, or written: then with the latency
  std::vector<Term> when;
  std::vector<Linear> index; // by dimension of the array
  friend bool operator==(const Access&, const Access&) = default;
};

/// ceil(value / divisor) as a lower bound of a loop, floor as an upper one. The value holds parameters only.
struct Bound {
  Linear value;
  int64_t divisor = 1;
  friend bool operator==(const Bound&, const Bound&) = default;
};

struct Loop {
  std::string name;
  std::vector<Bound> lower, upper; // the largest, the smallest; inclusive; at least one each
  int64_t leastTile = 1;           // what the schedule relies on; instantiation refuses smaller tiles
  friend bool operator==(const Loop&, const Loop&) = default;
};

struct SymbolicArray {
  std::string name;
  Type type = Type::Int32;
  std::vector<Linear> extents; // over the parameters; empty: a scalar
  friend bool operator==(const SymbolicArray&, const SymbolicArray&) = default;
};

struct Symbolic {
  static constexpr uint32_t none = UINT32_MAX;
  std::string program;
  std::string machine;      // the name of the machine it was made for
  uint64_t fingerprint = 0; // of the array: fingerprint() below
  std::vector<std::string> parameters;
  std::vector<Condition> context; // of parameters only: sizes that break it are refused
  std::vector<Loop> loops;
  uint32_t rowLoop = none, columnLoop = none; // distributed over the rows and columns of elements
  int64_t interval = 1;                       // initiation interval
  int64_t lowerBound = 1;                     // of it, proved
  std::vector<SymbolicArray> inputs, outputs;
  std::vector<Condition> conditions;
  std::vector<Space> spaces;
  std::vector<SymbolicInstruction> instructions;
  std::vector<Channel> channels;
  std::vector<Arrival> arrivals; // at least those of every channel
  std::vector<Fifo> fifos;
  std::vector<Access> accesses;
  friend bool operator==(const Symbolic&, const Symbolic&) = default;
};

/// A number that differs, but for accidents, for arrays of which a symbolic configuration for one does not fit the
/// other. Rows and columns are not in it.
uint64_t fingerprint(const machine::ProcessorArray& array);

/// What makes a symbolic configuration meaningless or unfit for the array, for people ("instruction 3: register rd9,
/// the array has 8"); empty when it is sound. Whatever passes may be given to instantiate(). Numbers are bounded so
/// that no arithmetic of instantiation overflows before it is checked.
std::string validate(const Symbolic& symbolic, const machine::ProcessorArray& array);

} // namespace strata::array

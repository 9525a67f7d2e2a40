// A concrete configuration: everything that is loaded into a region of a processor array to run one loop program with
// given sizes. Programs of the elements, the global controller's signals, connections, address generators. Plain data
// that owns all it holds; instantiate() makes it, simulate() runs it. Any number of threads may read one.
//
// Time is in cycles from the start of the controller. An element executes its tile in iterations of `interval` cycles:
// iteration n of an element that starts at cycle s occupies cycles s + n · interval to s + (n + 1) · interval - 1, slot
// 0 first. Iterations of a tile are numbered in lexicographic order over `extents`; the innermost changes fastest. The
// outermost extent is longer than the tile where the epilogue needs more time.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", sections 3 and 6.
#pragma once

#include "base/machine/machine.h"
#include "runtime/array/diagrams.h"
#include "runtime/array/instruction.h"

namespace strata::array {

/// Elements that execute the same programs.
struct ProcessorClass {
  std::vector<Program> programs; // of every instance of every functional unit, in the machine's order; empty: not used
  friend bool operator==(const ProcessorClass&, const ProcessorClass&) = default;
};

/// A rectangle of elements that are of one class.
struct ClassRegion {
  Range rows, columns; // of the region
  uint32_t processorClass = 0;
  friend bool operator==(const ClassRegion&, const ClassRegion&) = default;
};

/// Iterations, as boxes over the extents; one Range for each dimension.
using Box = std::vector<Range>;

/// A control signal of the global controller: the iterations n for which it is 1. An element's branch, in the last slot
/// of its iteration n, sees the value for that n.
struct Signal {
  std::vector<Box> ones; // disjoint
  friend bool operator==(const Signal&, const Signal&) = default;
};

/// Of one wrapper's switch: a source port (wrapper input, element output) to a sink port (wrapper output, element
/// input).
struct Connection {
  uint32_t row = 0, column = 0; // of the region
  machine::Port source, sink;
  friend auto operator<=>(const Connection&, const Connection&) = default;
};

/// An array in the host's memory; its elements lie in C order.
struct ArrayLayout {
  std::string name;
  Type type = Type::Int32;
  std::vector<int64_t> extents; // empty: a scalar
  friend bool operator==(const ArrayLayout&, const ArrayLayout&) = default;
};

/// A bank of a border's buffer and its address generator. In every iteration n of `enable`, one word passes the wrapper
/// port of the border element in cycle `start` + n · interval: the one at `base` + the sum of strides · iteration,
/// counted in elements of the array. Banks of inputs send it, those of outputs keep what comes in that cycle.
struct Bank {
  machine::Side side = machine::Side::North;
  uint32_t position = 0; // of the border element: its column (north, south) or row
  uint32_t index = 0;    // of the wrapper port, which is the bank's own number at that element
  bool isOutput = false; // of the program: the bank is written
  uint32_t array = 0;    // in Configuration::inputs or outputs
  int64_t start = 0;
  std::vector<Box> enable; // disjoint
  std::vector<int64_t> strides;
  int64_t base = 0;
  Box block; // all that passes the bank, by the array's dimensions
  /// What the bank holds at a time: the block, or in each iteration of the `blockLoops` outermost loops what the
  /// iterations of the other loops access, a box of `held` elements by the array's dimensions (empty for no loops). Two
  /// such boxes have to fit the capacity, since one is transferred while the other is used.
  uint32_t blockLoops = 0;
  std::vector<int64_t> held = {};
  friend bool operator==(const Bank&, const Bank&) = default;
};

struct Configuration {
  std::string program;            // its name
  uint32_t rows = 1, columns = 1; // of the region, as far as it has tiles
  int64_t interval = 1;           // initiation interval: cycles from an iteration to the next
  std::vector<std::string> loops; // names of the dimensions of the tile, the outermost first
  std::vector<int64_t> extents;   // of the tile, see above
  int64_t iterations = 0;         // of the loop program in all, for people
  std::vector<ProcessorClass> classes;
  std::vector<ClassRegion> regions; // disjoint; together the region
  /// Element (r, c) starts at firstStart + r · rowStart + c · columnStart; none starts before cycle 0.
  int64_t firstStart = 0, rowStart = 0, columnStart = 0;
  std::vector<Signal> signals;
  /// Where the controller is. It sends the signals for iteration n at cycle n · interval through the first wrapper's
  /// control ports facing the corner's row; an element's control registers hold signals back by its start less the
  /// cycles of the way from there, which is never negative.
  machine::Corner corner = machine::Corner::NorthWest;
  std::vector<Connection> data, control;             // sorted
  std::vector<uint64_t> feedbackDepths, inputDepths; // values that fd and id FIFOs hold at most, by register
  std::vector<Bank> banks;
  std::vector<ArrayLayout> inputs, outputs;
  friend bool operator==(const Configuration&, const Configuration&) = default;

  int64_t start(int64_t row, int64_t column) const { return firstStart + row * rowStart + column * columnStart; }
};

} // namespace strata::array

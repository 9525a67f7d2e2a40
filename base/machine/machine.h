// The machine model: memories, processors, links, FIFOs, processor arrays and the tree of levels that they form. Plain
// data, owned by value; every hardware fact that Strata knows is in one of these. Reading it from any number of threads
// is safe as long as nobody changes it.
//
// Times are cycles of the machine's reference clock unless a comment says "its own cycles"; sizes are bytes.
#pragma once

#include "base/source/diagnostic.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace strata::machine {

/// An index into one of the machine's lists. Typed, so that a memory is never taken for a processor.
template <typename Tag>
struct Id {
  static constexpr uint32_t None = ~uint32_t(0);
  uint32_t value = None;
  bool valid() const { return value != None; }
  friend auto operator<=>(Id, Id) = default;
};
struct Memory;
struct Processor;
struct Fifo;
struct Link;
using MemoryId = Id<Memory>;
using ProcessorId = Id<Processor>;
using FifoId = Id<Fifo>;
using LinkId = Id<Link>;

/// The place in a description of an item and of each of its fields. Two origins always compare equal, so that machines
/// are compared by their content. A machine made by a program has empty ones.
struct Origin {
  Location location;
  std::vector<std::pair<std::string, Location>> fields;
  /// The place of a field, or of the whole when the field was not written.
  Location of(std::string_view field) const;
  friend bool operator==(const Origin&, const Origin&) { return true; }
};

/// How much a memory holds.
struct Capacity {
  enum class Kind {
    Bytes,     // this many
    Available, // as much as the computer has that the program runs on
    Unknown,   // nobody said; nothing is checked against it
  };
  Kind kind = Kind::Unknown;
  uint64_t bytes = 0; // for Bytes only
  static Capacity of(uint64_t bytes) { return {Kind::Bytes, bytes}; }
  static Capacity available() { return {Kind::Available, 0}; }
  /// True when a number of bytes surely does not fit.
  bool exceededBy(uint64_t wanted) const { return kind == Kind::Bytes && wanted > bytes; }
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

/// `bytes` in `cycles`, an exact ratio. Zero bytes in zero cycles: not stated, costs no time.
struct Bandwidth {
  uint64_t bytes = 0;
  uint64_t cycles = 0;
  bool stated() const { return bytes != 0 || cycles != 0; }
  /// Cycles that a transfer occupies the thing for, rounded up; saturates.
  uint64_t cyclesFor(uint64_t transferred) const;
  friend bool operator==(const Bandwidth&, const Bandwidth&) = default;
};

/// Random access storage: a class of `count` like instances.
struct Memory {
  std::string name;
  Capacity capacity;       // of one instance; of a virtual memory use Machine::capacityOf
  uint64_t count = 1;      // instances
  uint64_t width = 1;      // bytes moved by one access
  uint64_t alignment = 1;  // what addresses and lengths of transfers must be multiples of
  uint64_t unit = 1;       // bytes per address
  uint64_t latency = 0;    // of one access
  Bandwidth bandwidth;     // of one instance
  bool explicitly = false; // managed by the program; otherwise coherent, kept by hardware
  bool files = false;      // a disk: blocks are parts of files, which processors move but never address
  // Figures of the hardware (base/machine/figures.h); none: not stated.
  std::optional<uint64_t> line;      // bytes of a cache's lines; what has them is a cache
  std::optional<uint64_t> page;      // bytes of the pages that it is divided into …
  std::optional<uint64_t> largePage; // … and of the large ones, where there are such
  MemoryId over;                     // for a virtual memory: the memory whose instances it joins into one space
  Origin origin;
  bool isVirtual() const { return over.valid(); }
  friend bool operator==(const Memory&, const Memory&) = default;
};

enum class ProcessorKind {
  Control, // runs the control code of a program
  Stream,  // runs one user kernel at a time
  Dma,     // runs moves, scatters and gathers, several at once
  Io,      // an input or output device: runs one black-box kernel
  Core,    // a general core: control and kernels
  Array,   // a tightly coupled processor array, described by `array`
};

struct ProcessorArray;

/// Logic that executes on its own: a class of `count` like instances.
struct Processor {
  std::string name;
  ProcessorKind kind = ProcessorKind::Core;
  uint64_t count = 1;
  std::vector<uint64_t> grid;            // extents in which the instances are indexed; empty: one dimension of `count`
  uint64_t clock = 0;                    // Hz; 0: the machine's reference clock
  std::map<std::string, uint64_t> costs; // of operations, in its own cycles
  std::vector<ProcessorId> masters;      // may start and stop its kernels; may contain the processor itself
  bool userKernels = true;               // runs kernels that users define
  std::vector<std::string> kernels;      // black-box kernels that it runs
  uint64_t moves = 0;                    // moves that it carries on at once, beside its kernel
  // Figures of the hardware (base/machine/figures.h); none: not stated.
  std::optional<uint64_t> vector;          // bytes of a vector register
  std::optional<uint64_t> vectorRegisters; // how many of them a program can name
  std::optional<uint64_t> vectorLatency;   // its own cycles until the sum of two of them can be used
  std::optional<uint64_t> operations;      // that it carries out in one of its cycles
  std::optional<uint64_t> stores;          // that it carries out in one of its cycles
  std::optional<uint64_t> memoryLatency;   // its own cycles until what no cache holds has come, others loading too
  std::vector<MemoryId> local;             // memories that belong to it, distributed evenly to its instances
  std::vector<ProcessorArray> array;       // one element for kind Array, else none
  bool isProcess = false;                  // where the machine is spread over processes, each has some instances of it
  std::string target;                      // what runs its kernels, where that is not the machine's target
  Origin origin;
  bool ownMaster(ProcessorId self) const;
  friend bool operator==(const Processor&, const Processor&);
};

/// A first-in first-out buffer in hardware.
struct Fifo {
  std::string name;
  uint64_t capacity = 0; // bytes
  uint64_t count = 1;
  uint64_t width = 1; // bytes of one push or pop
  uint64_t latency = 0;
  std::vector<ProcessorId> writers, readers;
  Origin origin;
  friend bool operator==(const Fifo&, const Fifo&) = default;
};

/// One end of a link; every instance of the class named is connected.
using LinkEnd = std::variant<ProcessorId, MemoryId, FifoId, LinkId>;

/// Passes data between all its ends. Local memories need none to their own processor.
struct Link {
  std::string name;
  std::vector<LinkEnd> ends;
  bool oneWay = false; // data flows from the first end to the others only
  uint64_t count = 1;  // transfers at once
  uint64_t latency = 0;
  Bandwidth bandwidth;
  Origin origin;
  friend bool operator==(const Link&, const Link&) = default;
};

/// One level of the tree. Its number is its index in Machine::levels; 0 is the innermost.
struct Level {
  MemoryId memory;
  ProcessorId processor; // runs what is placed at this level; a virtual level may have none
  Origin origin;
  friend bool operator==(const Level&, const Level&) = default;
};

// ---- Tightly coupled processor arrays ----

enum class Side { North, East, South, West, Element };

/// A port of an interconnect wrapper (or, at Side::Element, of the element in it). Source ports bring data into the
/// wrapper's switch (wrapper inputs, element outputs), sink ports take it out (wrapper outputs, element inputs).
struct Port {
  Side side = Side::Element;
  uint32_t index = 0;
  friend auto operator<=>(const Port&, const Port&) = default;
};

/// A source port that the switch can connect to a sink port.
struct Adjacency {
  Port source, sink;
  friend bool operator==(const Adjacency&, const Adjacency&) = default;
};

/// One layer (data or control) of the interconnect; the same for every element.
struct InterconnectLayer {
  std::array<uint64_t, 4> inputs{};  // wrapper input ports by side: north, east, south, west
  std::array<uint64_t, 4> outputs{}; // wrapper output ports by side
  bool fullyAdjacent = true;         // every source to every sink; otherwise `adjacent` lists the pairs
  std::vector<Adjacency> adjacent;
  uint64_t hop = 1; // cycles from one wrapper to the next
  Origin origin;
  friend bool operator==(const InterconnectLayer&, const InterconnectLayer&) = default;
};

/// An operation of a functional unit.
struct Operation {
  std::string name;
  uint64_t latency = 1;  // cycles until the result can be read
  uint64_t interval = 1; // cycles until the unit can begin another
  Origin origin;
  friend bool operator==(const Operation&, const Operation&) = default;
};

struct FunctionalUnit {
  std::string name; // instances are name0, name1, …
  uint64_t count = 1;
  std::vector<Operation> operations;
  uint64_t instructions = 0; // slots of the instruction memory of one instance
  Origin origin;
  friend bool operator==(const FunctionalUnit&, const FunctionalUnit&) = default;
};

/// The registers of one element. Input and output registers stand at the element's data ports of the same index.
struct Registers {
  uint64_t general = 0;       // rd
  uint64_t feedback = 0;      // fd: rotating FIFOs …
  uint64_t feedbackDepth = 0; // … of at most this many values each
  uint64_t input = 0;         // id: FIFOs …
  uint64_t inputDepth = 0;    // … of this many values each
  uint64_t output = 0;        // od
  uint64_t control = 0;       // one-bit registers fed by the element's control ports
  Origin origin;
  friend bool operator==(const Registers&, const Registers&) = default;
};

/// The I/O buffer of one border.
struct Border {
  uint64_t banks = 0; // per element at the border; each has one address generator
  uint64_t capacity = 0;
  uint64_t dimensions = 0; // loop counters of an address generator
  Origin origin;
  friend bool operator==(const Border&, const Border&) = default;
};

enum class Corner { NorthWest, NorthEast, SouthEast, SouthWest };

struct ProcessorArray {
  uint64_t rows = 1, columns = 1;
  uint64_t word = 4; // bytes of a register
  std::vector<FunctionalUnit> units;
  Registers registers;
  uint64_t destinations = 1;  // registers to which one instruction can write its result
  uint64_t flags = 0;         // one-bit registers that instructions write and read, shared by the units of an element
  uint64_t branchTargets = 2; // of one conditional branch
  uint64_t branchSignals = 1; // control signals that one branch can test
  InterconnectLayer data, control;
  std::vector<Corner> controllers; // corners with a global controller
  uint64_t controllerSignals = 0;  // signals that one controller makes
  uint64_t controllerDimensions = 0;
  std::array<Border, 4> borders; // north, east, south, west
  Origin origin;
  friend bool operator==(const ProcessorArray&, const ProcessorArray&) = default;
};

} // namespace strata::machine

namespace strata {

/// A machine. What readMachine gives has every reference resolved; validate() says whether it makes sense.
struct Machine {
  std::string name;
  std::string about;  // a sentence for people
  uint64_t clock = 0; // Hz of the reference clock; 0: not stated
  std::string
      target; // what runs its programs (compiler/target/); empty: the host, with stores in place of its memories
  std::vector<machine::Memory> memories;
  std::vector<machine::Processor> processors;
  std::vector<machine::Fifo> fifos;
  std::vector<machine::Link> links;
  std::vector<machine::Level> levels; // by number
  machine::Origin origin;
  friend bool operator==(const Machine&, const Machine&) = default;

  /// By name; an invalid id when there is none.
  machine::MemoryId memory(std::string_view name) const;
  machine::ProcessorId processor(std::string_view name) const;
  machine::FifoId fifo(std::string_view name) const;
  machine::LinkId link(std::string_view name) const;

  /// REQUIRES (here and below): ids are valid and of this machine.
  const machine::Memory& operator[](machine::MemoryId id) const { return memories[id.value]; }
  const machine::Processor& operator[](machine::ProcessorId id) const { return processors[id.value]; }
  const machine::Fifo& operator[](machine::FifoId id) const { return fifos[id.value]; }
  const machine::Link& operator[](machine::LinkId id) const { return links[id.value]; }

  /// nullptr when the machine has no such level.
  const machine::Level* level(uint64_t number) const { return number < levels.size() ? &levels[number] : nullptr; }
  /// The level of a memory, if it is in the tree.
  std::optional<unsigned> levelOf(machine::MemoryId id) const;
  /// Who runs control at a level: its processor, or for a virtual level without one, that of the nearest level above.
  machine::ProcessorId controllerOf(unsigned level) const;
  /// Instances of a level's memory in one instance of the level above; at the outermost level, all of them.
  uint64_t fanOut(unsigned level) const;

  bool isExplicit(machine::MemoryId id) const;
  /// Whether a processor may load and store single elements there; virtual memories and disks are reached by moves
  /// only.
  bool isAddressed(machine::MemoryId id) const;
  /// Whether an instance is a store of fixed size that programs divide among their blocks: explicit, physical, its
  /// capacity stated.
  bool isStore(machine::MemoryId id) const;
  /// The class to which the memory is local, else the processor of its level, else none.
  machine::ProcessorId ownerOf(machine::MemoryId id) const;
  /// What one instance holds; for a virtual memory, all the instances that it joins.
  machine::Capacity capacityOf(machine::MemoryId id) const;
  /// Whether a processor is connected to a memory: it is local, it is virtual over one that is, or links lead there
  /// with nothing but links between.
  bool reaches(machine::ProcessorId processor, machine::MemoryId memory) const;
  /// The same for FIFOs, by links or by being named as writer or reader.
  bool reaches(machine::ProcessorId processor, machine::FifoId fifo) const;
  bool supports(machine::ProcessorId processor, std::string_view kernel) const;
};

/// Reads a description. Reports what is wrong and gives nothing when the text does not describe a machine; whether the
/// machine makes sense is validate's question.
std::optional<Machine> readMachine(DiagnosticEngine& diagnostics, BufferId text);
/// The canonical text: reads back to an equal machine.
std::string writeMachine(const Machine& machine);
/// Checks every rule that a machine must satisfy; false when one is broken. Takes machines from any source, also ones
/// with dangling ids.
bool validate(const Machine& machine, DiagnosticEngine& diagnostics);
/// 16 hexadecimal digits that depend on the canonical text only.
std::string contentHash(const Machine& machine);

/// Finds, reads and validates a machine. A path (it holds a '/' or ends in .yaml or .yml) is read as it is; the name
/// "host" is this computer; another name, whose extension is ignored, is looked up as DIRECTORY/NAME/machine.yaml in
/// each directory of the search path. `where` is the place that names the machine, if a file does.
std::optional<Machine> loadMachine(const std::string& nameOrPath, const std::vector<std::string>& searchPath,
                                   DiagnosticEngine& diagnostics, Location where = {});
/// The names that loadMachine finds, sorted.
std::vector<std::string> machineNames(const std::vector<std::string>& searchPath);
/// This computer: one class "core" of as many processors as it lends to this process (or `threads`), memory "main", its
/// caches. Never fails; what the system does not tell is left out.
Machine describeHost(std::optional<unsigned> threads = std::nullopt);

/// A drawing that opens by itself in a browser.
std::string drawMachine(const Machine& machine);

} // namespace strata

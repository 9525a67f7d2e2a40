// Each rule of a machine, broken by a small change to a valid one, with the message that follows.
#include "base/machine/test_machines.h"

#include <functional>

namespace strata {
namespace {

using namespace machine;

struct Validate : MachineTest {
  /// A small valid machine: stores `ls` under `main`.
  Machine small() {
    return valid("machine: small\n"
                 "memories: [{name: ls, capacity: 4K, count: 4, explicit: true}, {name: join, over: ls},\n"
                 "           {name: main, capacity: available, explicit: true}]\n"
                 "processors: [{name: c, kind: control, masters: [c]},\n"
                 "             {name: s, kind: stream, count: 4, masters: [c], local: [ls]},\n"
                 "             {name: a, kind: array, masters: [c], array: {rows: 2, columns: 2,\n"
                 "              units: [{name: alu, instructions: 8, operations: {add: 1}}],\n"
                 "              registers: {general: 2, input: 1, input_depth: 4, output: 1, control: 1},\n"
                 "              data: {inputs: 1, outputs: 1}, control: {inputs: 1, outputs: 1},\n"
                 "              controllers: {corners: [north-west], signals: 1, dimensions: 2}}}]\n"
                 "fifos: [{name: f, capacity: 64, writers: [c], readers: [s]}]\n"
                 "links: [{name: bus, ends: [c, s, main]}]\n"
                 "levels: [{level: 0, memory: ls, processor: s}, {level: 1, memory: join},\n"
                 "         {level: 2, memory: main, processor: c}]\n");
  }
  ProcessorArray& array(Machine& m) { return m.processors[2].array[0]; }

  void breaks(const std::string& code, const std::string& words, const std::function<void(Machine&)>& change) {
    Machine machine = small();
    change(machine);
    diagnostics.clear();
    EXPECT_FALSE(validate(machine, diagnostics)) << code;
    EXPECT_TRUE(saidCode(code)) << code << "\n" << said();
    EXPECT_NE(said().find(words), std::string::npos) << words << "\n" << said();
    // What is written or drawn of an invalid machine is of no use, but making it must not fail.
    if (code != "machine-dangling-reference")
      drawMachine(machine);
    writeMachine(machine);
  }
};

TEST_F(Validate, Names) {
  breaks("machine-bad-name", "'4x' cannot name a memory", [](Machine& m) { m.memories[0].name = "4x"; });
  breaks("machine-bad-name", "'' cannot name a machine", [](Machine& m) { m.name = ""; });
  breaks("machine-bad-name", "cannot name a link", [](Machine& m) { m.links[0].name = std::string(65, 'a'); });
  breaks("machine-duplicate-name", "'bus' names two things", [](Machine& m) { m.fifos[0].name = "bus"; });
  breaks("machine-duplicate-name", "the first one", [](Machine& m) { m.memories[2].name = "ls"; });
}

TEST_F(Validate, References) {
  breaks("machine-dangling-reference", "memory 'join'", [](Machine& m) { m.memories[1].over = {77}; });
  breaks("machine-dangling-reference", "processor 's'", [](Machine& m) { m.processors[1].masters = {{9}}; });
  breaks("machine-dangling-reference", "processor 's'", [](Machine& m) { m.processors[1].local.push_back({}); });
  breaks("machine-dangling-reference", "FIFO 'f'", [](Machine& m) { m.fifos[0].readers = {{9}}; });
  breaks("machine-dangling-reference", "link 'bus'", [](Machine& m) { m.links[0].ends.push_back(FifoId{9}); });
  breaks("machine-dangling-reference", "level '2'", [](Machine& m) { m.levels[2].memory = {}; });
}

TEST_F(Validate, Figures) {
  const auto vector = [&](const std::string& words, uint64_t bytes) {
    breaks("machine-figure", words, [bytes](Machine& m) { m.processors[1].vector = bytes; });
  };
  vector("'s': vector of 0; a power of two from 4 to 256 is possible", 0);
  vector("'s': vector of 48", 48);
  vector("'s': vector of 512", 512);
  vector("'s': vector of 18446744073709551615", ~uint64_t(0));
  const std::pair<const char*, std::optional<uint64_t> Processor::*> counts[] = {
      {"vector_registers", &Processor::vectorRegisters},
      {"vector_latency", &Processor::vectorLatency},
      {"operations", &Processor::operations},
      {"stores", &Processor::stores},
      {"memory_latency", &Processor::memoryLatency}};
  for (const auto& [name, field] : counts)
    for (uint64_t value : {uint64_t(0), uint64_t(1) << 30})
      breaks("machine-figure", std::string("'s': ") + name + " of " + std::to_string(value),
             [&](Machine& m) { m.processors[1].*field = value; });
  const std::pair<const char*, std::optional<uint64_t> Memory::*> sizes[] = {
      {"line", &Memory::line}, {"page", &Memory::page}, {"large_page", &Memory::largePage}};
  for (const auto& [name, field] : sizes)
    for (uint64_t value : {uint64_t(0), uint64_t(3000), uint64_t(1) << 50})
      breaks("machine-figure", std::string("'main': ") + name + " of " + std::to_string(value),
             [&](Machine& m) { m.memories[2].*field = value; });
  breaks("machine-figure", "large pages are larger than pages of 65536", [](Machine& m) {
    m.memories[2].page = 65536;
    m.memories[2].largePage = 4096;
  });
  breaks("machine-virtual-property", "no page of its own", [](Machine& m) { m.memories[1].page = 4096; });
}

TEST_F(Validate, Caches) {
  const auto cache = [](Machine& m) {
    m.memories.push_back({});
    m.memories.back().name = "cache";
    m.memories.back().capacity = Capacity::of(48 << 10);
    m.memories.back().line = 64;
  };
  Machine fine = small();
  cache(fine);
  EXPECT_TRUE(validate(fine, diagnostics)) << said();
  const auto with = [&](const char* code, const std::string& words, const std::function<void(Memory&)>& change) {
    breaks(code, words, [&](Machine& m) {
      cache(m);
      change(m.memories.back());
    });
  };
  with("machine-cache", "memory 'cache' has lines, as a cache has, and is managed by the program",
       [](Memory& memory) { memory.explicitly = true; });
  with("machine-cache", "holds files", [](Memory& memory) { memory.files = true; });
  with("machine-cache", "its size is not stated", [](Memory& memory) { memory.capacity = Capacity::available(); });
  with("machine-figure", "lines must fill its 49184 bytes evenly",
       [](Memory& memory) { memory.capacity = Capacity::of((48 << 10) + 32); });
}

TEST_F(Validate, Disks) {
  const auto disk = [](Machine& m) {
    m.memories.push_back({});
    m.memories.back().name = "disk";
    m.memories.back().files = true;
    m.links[0].ends.push_back(MemoryId{3});
    m.levels.push_back({{3}, {0}, {}});
  };
  Machine fine = small();
  disk(fine);
  EXPECT_TRUE(validate(fine, diagnostics)) << said();
  EXPECT_FALSE(fine.isStore({3}));
  EXPECT_FALSE(fine.isAddressed({3}));
  const auto with = [&](const std::string& words, const std::function<void(Machine&)>& change) {
    breaks("machine-files", words, [&](Machine& m) {
      disk(m);
      change(m);
    });
  };
  with("there are 2 of it", [](Machine& m) { m.memories[3].count = 2; });
  with("cannot be local to processor 'c'", [](Machine& m) { m.processors[0].local.push_back({3}); });
  with("cannot be joined to virtual memory 'join'", [](Machine& m) { m.memories[1].over = {3}; });
  with("is level 2", [](Machine& m) { std::swap(m.levels[2], m.levels[3]); });
  with("is level 0", [](Machine& m) { m.levels.erase(m.levels.begin(), m.levels.begin() + 3); });
}

TEST_F(Validate, Memories) {
  breaks("machine-count", "'main' occurs 0 times", [](Machine& m) { m.memories[2].count = 0; });
  breaks("machine-count", "'ls' occurs 9999999 times", [](Machine& m) { m.memories[0].count = 9999999; });
  breaks("machine-alignment", "an alignment of 12 bytes", [](Machine& m) { m.memories[0].alignment = 12; });
  breaks("machine-alignment", "an alignment of 0 bytes", [](Machine& m) { m.memories[0].alignment = 0; });
  breaks("machine-width", "an access of 8192 bytes to ls, which holds 4096",
         [](Machine& m) { m.memories[0].width = 8192; });
  breaks("machine-unit", "addressable units of 3 bytes", [](Machine& m) { m.memories[0].unit = 3; });
  breaks("machine-capacity", "'ls' cannot hold 0 bytes", [](Machine& m) { m.memories[0].capacity = Capacity::of(0); });
  breaks("machine-time", "'ls': latency of", [](Machine& m) { m.memories[0].latency = ~uint64_t(0); });
  breaks("machine-time", "clock", [](Machine& m) { m.clock = ~uint64_t(0); });
  breaks("machine-bandwidth", "'ls' moves 4 bytes in 0 cycles", [](Machine& m) { m.memories[0].bandwidth = {4, 0}; });
  breaks("machine-virtual-cycle", "'join' is over itself", [](Machine& m) { m.memories[1].over = {1}; });
  breaks("machine-virtual-cycle", "is over itself", [](Machine& m) { m.memories[0].over = {1}; });
  breaks("machine-virtual-count", "3 of 'join' cannot join 4 of 'ls'", [](Machine& m) { m.memories[1].count = 3; });
  breaks("machine-virtual-property", "'join' has no capacity of its own",
         [](Machine& m) { m.memories[1].capacity = Capacity::of(16384); });
}

TEST_F(Validate, Processors) {
  breaks("machine-grid", "'s' has 4 instances", [](Machine& m) { m.processors[1].grid = {2, 3}; });
  breaks("machine-grid", "'s' has 4 instances",
         [](Machine& m) { m.processors[1].grid = {uint64_t(1) << 33, (uint64_t(1) << 33) + 4}; });
  breaks("machine-local-count", "4 of explicit memory 'ls' cannot be divided evenly among 3 of 's'",
         [](Machine& m) { m.processors[1].count = 3; });
  breaks("machine-no-control", "no processor of 'small' is its own master",
         [](Machine& m) { m.processors[0].masters = {{1}}; });
  breaks("machine-uncontrolled", "nothing starts 's'", [](Machine& m) {
    m.processors[1].masters = {{1u + 1}};
    m.processors[2].masters = {{1}};
  });
  breaks("machine-io-kernels", "'s' is an I/O device", [](Machine& m) { m.processors[1].kind = ProcessorKind::Io; });
  breaks("machine-dma-moves", "'s' is of kind dma", [](Machine& m) { m.processors[1].kind = ProcessorKind::Dma; });
  breaks("machine-process", "'s' are processes of their own, and run no control code",
         [](Machine& m) { m.processors[1].isProcess = true; });
  breaks("machine-process", "'main' holds files, which one of them alone would have", [](Machine& m) {
    m.processors[0].isProcess = true;
    m.memories[2].files = true;
  });
  breaks("machine-process", "there are 4 of memory 'ls', which belong to others", [](Machine& m) {
    m.processors[2].kind = ProcessorKind::Core;
    m.processors[2].array.clear();
    m.processors[2].isProcess = true;
  });
  breaks("machine-process", "works in memory 'main', of which they would have one together", [](Machine& m) {
    m.processors[0].count = 2;
    m.processors[0].isProcess = true;
  });
  breaks("machine-array-kind", "'s': a processor of kind array",
         [](Machine& m) { m.processors[1].kind = ProcessorKind::Array; });
  breaks("machine-array-kind", "'a': a processor of kind array",
         [](Machine& m) { m.processors[2].kind = ProcessorKind::Core; });
}

TEST_F(Validate, Connections) {
  breaks("machine-link-ends", "link 'bus'", [](Machine& m) { m.links[0].ends = {ProcessorId{0}, ProcessorId{0}}; });
  breaks("machine-link-ends", "link 'bus'", [](Machine& m) { m.links[0].ends.push_back(LinkId{0}); });
  breaks("machine-fifo-unconnected", "no processor reads from FIFO 'f'",
         [](Machine& m) { m.fifos[0].readers.clear(); });
  breaks("machine-fifo-unconnected", "no processor writes to FIFO 'f'", [](Machine& m) { m.fifos[0].writers.clear(); });
  breaks("machine-capacity", "'f' cannot hold 0 bytes", [](Machine& m) { m.fifos[0].capacity = 0; });
  breaks("machine-width", "an access of 65 bytes to f", [](Machine& m) { m.fifos[0].width = 65; });
}

TEST_F(Validate, Levels) {
  breaks("machine-level-count", "17 levels", [](Machine& m) { m.levels.resize(17, m.levels[0]); });
  breaks("machine-level-order", "'main' is level 0, which is the innermost",
         [](Machine& m) { std::reverse(m.levels.begin(), m.levels.end()); });
  breaks("machine-level-repeated", "memory 'ls' is at levels 0 and 2", [](Machine& m) { m.levels[2] = m.levels[0]; });
  breaks("machine-level-fan", "1 of 'join' at level 1 cannot be divided evenly among 3 of 'main'",
         [](Machine& m) { m.memories[2].count = 3; });
  breaks("machine-level-virtual", "virtual memory 'join' at level 0",
         [](Machine& m) { m.levels.erase(m.levels.begin()); });
  breaks("machine-level-control", "level 0 has no processor", [](Machine& m) { m.levels[0].processor = {}; });
  breaks("machine-level-unreachable", "processor 'c' of level 0 does not reach its memory 'ls'",
         [](Machine& m) { m.levels[0].processor = {0}; });
  breaks("machine-level-transfer", "nothing moves data between level 1 and level 2",
         [](Machine& m) { m.links[0].ends = {ProcessorId{0}, MemoryId{2}}; });
}

TEST_F(Validate, Arrays) {
  breaks("machine-array-size", "has 0 rows", [&](Machine& m) { array(m).rows = 0; });
  breaks("machine-array-size", "at most 1048576",
         [&](Machine& m) { array(m).rows = array(m).columns = uint64_t(1) << 33; });
  breaks("machine-array-word", "a register of 3 bytes", [&](Machine& m) { array(m).word = 3; });
  breaks("machine-array-units", "without functional units", [&](Machine& m) { array(m).units.clear(); });
  breaks("machine-array-units", "1 to 1024 times", [&](Machine& m) { array(m).units[0].count = 0; });
  breaks("machine-array-units", "instruction memory", [&](Machine& m) { array(m).units[0].instructions = 0; });
  breaks("machine-array-units", "without operations", [&](Machine& m) { array(m).units[0].operations.clear(); });
  breaks("machine-array-unit-name", "'alu' is described twice",
         [&](Machine& m) { array(m).units.push_back(array(m).units[0]); });
  breaks("machine-array-operation", "operation 'add' has latency 0",
         [&](Machine& m) { array(m).units[0].operations[0].latency = 0; });
  breaks("machine-array-registers", "input FIFOs need a depth", [&](Machine& m) { array(m).registers.inputDepth = 0; });
  breaks("machine-array-registers", "feedback FIFOs need a depth",
         [&](Machine& m) { array(m).registers.feedback = 1; });
  breaks("machine-array-registers", "more than 1024", [&](Machine& m) { array(m).registers.general = 5000; });
  breaks("machine-array-siblings", "data layer: 2 outputs at the east face 1 inputs at the west",
         [&](Machine& m) { array(m).data.outputs[1] = 2; });
  breaks("machine-array-adjacency", "'element1 -> east0' connects from a port that does not exist",
         [&](Machine& m) { array(m).data.adjacent = {{{Side::Element, 1}, {Side::East, 0}}}; });
  breaks("machine-array-adjacency", "control layer: 'west0 -> element1' connects to a port that does not exist",
         [&](Machine& m) { array(m).control.adjacent = {{{Side::West, 0}, {Side::Element, 1}}}; });
  breaks("machine-array-adjacency", "connected already",
         [&](Machine& m) { array(m).data.adjacent.resize(2, {{Side::West, 0}, {Side::East, 0}}); });
  breaks("machine-array-hop", "a hop of 0 cycles", [&](Machine& m) { array(m).data.hop = 0; });
  breaks("machine-array-branches", "branches of 1 targets", [&](Machine& m) { array(m).branchTargets = 1; });
  breaks("machine-array-destinations", "to 0 registers", [&](Machine& m) { array(m).destinations = 0; });
  breaks("machine-array-destinations", "to 1025 registers", [&](Machine& m) { array(m).destinations = 1025; });
  breaks("machine-array-flags", "of 1025 flags", [&](Machine& m) { array(m).flags = 1025; });
  breaks("machine-array-controller", "without a controller", [&](Machine& m) { array(m).controllers.clear(); });
  breaks("machine-array-controller", "one controller at most",
         [&](Machine& m) { array(m).controllers.push_back(Corner::NorthWest); });
  breaks("machine-array-controller", "1 to 1024 signals", [&](Machine& m) { array(m).controllerSignals = 0; });
  breaks("machine-array-border", "the west border: a bank that does not hold one word",
         [&](Machine& m) { array(m).borders[3].banks = 1; });
  breaks("machine-array-border", "needs 1 to 1024 dimensions", [&](Machine& m) {
    array(m).borders[0].banks = 1;
    array(m).borders[0].capacity = 64;
  });
}

TEST_F(Validate, MessagesPointAtTheFieldsConcerned) {
  const std::optional<Machine> machine = read("machine: m\n"
                                              "memories:\n"
                                              "  - name: ls\n"
                                              "    capacity: 4K\n"
                                              "    width: 8K\n"
                                              "processors:\n"
                                              "  - {name: c, kind: core, masters: [c]}\n");
  ASSERT_TRUE(machine.has_value());
  EXPECT_FALSE(validate(*machine, diagnostics));
  EXPECT_EQ(said(), "error[machine-width]: an access of 8192 bytes to ls, which holds 4096\n"
                    " --> m.yaml:5:12 (machine)\n"
                    "  |\n"
                    "4 |     capacity: 4K\n"
                    "  |               -- its capacity\n"
                    "5 |     width: 8K\n"
                    "  |            ^^\n"
                    "  |\n");
}

} // namespace
} // namespace strata

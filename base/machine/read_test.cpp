// Descriptions read and written: every field comes through and back, and every slip is shown at its place.
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

struct Read : MachineTest {
  /// A text that must be refused with this code at this line and column, and words.
  void refused(const std::string& text, const std::string& code, const std::string& where, const std::string& words) {
    diagnostics.clear();
    EXPECT_FALSE(read(text).has_value()) << text;
    EXPECT_TRUE(saidCode(code)) << said();
    EXPECT_NE(said().find("m.yaml:" + where + " "), std::string::npos) << said();
    EXPECT_NE(said().find(words), std::string::npos) << said();
  }
};

TEST_F(Read, EveryFieldComesThrough) {
  const Machine m = valid(everythingText);
  EXPECT_EQ(m.name, "everything");
  EXPECT_EQ(m.about, "Every field: \"quoted\" & <marked>.");
  EXPECT_EQ(m.clock, 1000000000u);
  const Memory& ls = m[m.memory("ls")];
  EXPECT_EQ(ls.capacity, Capacity::of(262144));
  EXPECT_EQ(ls.count, 8u);
  EXPECT_EQ(ls.width, 16u);
  EXPECT_EQ(ls.alignment, 16u);
  EXPECT_EQ(ls.unit, 4u);
  EXPECT_EQ(ls.latency, 6u);
  EXPECT_EQ(ls.bandwidth, (Bandwidth{1, 4}));
  EXPECT_TRUE(ls.explicitly);
  EXPECT_EQ(m[m.memory("stores")].over, m.memory("ls"));
  const Processor& ppe = m[m.processor("ppe")];
  EXPECT_EQ(ppe.kind, ProcessorKind::Control);
  EXPECT_EQ(ppe.clock, 2500000000u);
  EXPECT_EQ(ppe.costs, (std::map<std::string, uint64_t>{{"add", 1}, {"fma", 4}}));
  EXPECT_TRUE(ppe.userKernels);
  const Processor& spe = m[m.processor("spe")];
  EXPECT_EQ(spe.grid, (std::vector<uint64_t>{2, 4}));
  EXPECT_EQ(spe.masters, std::vector<ProcessorId>{m.processor("ppe")});
  EXPECT_EQ(spe.local, std::vector<MemoryId>{m.memory("ls")});
  EXPECT_EQ(spe.moves, 2u);
  const Processor& dma = m[m.processor("dma")];
  EXPECT_FALSE(dma.userKernels);
  EXPECT_EQ(dma.kernels, (std::vector<std::string>{"move", "scatter"}));
  const Fifo& queue = m[m.fifo("queue")];
  EXPECT_EQ(queue.capacity, 1024u);
  EXPECT_EQ(queue.readers.size(), 2u);
  const Link& wire = m[m.link("wire")];
  EXPECT_EQ(wire.ends, (std::vector<LinkEnd>{m.processor("dma"), m.fifo("pipe"), m.link("bus")}));
  EXPECT_EQ(m[m.link("bus")].bandwidth, (Bandwidth{32, 1}));
}

TEST_F(Read, TargetsOfTheWholeAndOfParts) {
  const Machine m = valid("machine: m\ntarget: one\nprocessors:\n  - {name: c, kind: core, masters: [c]}\n"
                          "  - {name: d, kind: stream, masters: [c], target: other}\n");
  EXPECT_EQ(m.target, "one");
  EXPECT_EQ(m.processors[0].target, "");
  EXPECT_EQ(m.processors[1].target, "other");
  EXPECT_EQ(valid(writeMachine(m)), m);
}

TEST_F(Read, WhatProcessorsRunByDefault) {
  const Machine m = valid("machine: m\nprocessors:\n  - {name: c, kind: control, masters: [c]}\n"
                          "  - {name: d, kind: dma, masters: [c], moves: 1}\n"
                          "  - {name: e, kind: dma, masters: [c], moves: 1, kernels: []}\n");
  EXPECT_TRUE(m.processors[0].userKernels);
  EXPECT_TRUE(m.processors[0].kernels.empty());
  EXPECT_FALSE(m.processors[1].userKernels);
  EXPECT_EQ(m.processors[1].kernels, (std::vector<std::string>{"move", "scatter", "gather"}));
  EXPECT_TRUE(m.processors[2].kernels.empty());
}

TEST_F(Read, ArraysComeThrough) {
  const Machine m = valid(everythingText);
  const ProcessorArray& array = m[m.processor("grid")].array.at(0);
  EXPECT_EQ(array.rows, 4u);
  EXPECT_EQ(array.columns, 2u);
  EXPECT_EQ(array.word, 8u);
  ASSERT_EQ(array.units.size(), 2u);
  EXPECT_EQ(array.units[0].count, 2u);
  EXPECT_EQ(array.units[0].instructions, 64u);
  EXPECT_EQ(array.units[0].operations[1].name, "mul");
  EXPECT_EQ(array.units[0].operations[1].latency, 3u);
  EXPECT_EQ(array.units[0].operations[2].interval, 10u);
  EXPECT_EQ(array.registers.feedbackDepth, 32u);
  EXPECT_EQ(array.registers.inputDepth, 16u);
  EXPECT_EQ(array.destinations, 2u);
  EXPECT_EQ(array.flags, 3u);
  EXPECT_EQ(array.branchTargets, 3u);
  EXPECT_EQ(array.data.outputs[3], 2u);
  EXPECT_FALSE(array.data.fullyAdjacent);
  EXPECT_EQ(array.data.adjacent[1], (Adjacency{{Side::Element, 2}, {Side::East, 1}}));
  EXPECT_TRUE(array.control.fullyAdjacent);
  EXPECT_EQ(array.control.hop, 2u);
  EXPECT_EQ(array.controllers, (std::vector<Corner>{Corner::NorthWest, Corner::SouthEast}));
  EXPECT_EQ(array.borders[0].banks, 2u);
  EXPECT_EQ(array.borders[3].capacity, 1024u);
  EXPECT_EQ(array.borders[1].banks, 0u);
}

TEST_F(Read, WhatIsWrittenReadsBackEqual) {
  const Machine m = valid(everythingText);
  const std::string text = writeMachine(m);
  const Machine back = valid(text);
  EXPECT_EQ(m, back);
  EXPECT_EQ(writeMachine(back), text);
}

TEST_F(Read, OddTextsSurviveWriting) {
  Machine m = valid(everythingText);
  m.about = "quote \" backslash \\ tab \t break \n bell \x07 é ~ null: # - [a]";
  m.processors[0].costs = {{"null", 1}, {"12", 2}, {"a b: c", 3}, {"true", 4}};
  m.processors[4].array[0].data.adjacent.clear(); // a switch that connects nothing
  m.processors[1].kernels = {};
  m.processors[1].userKernels = false;
  EXPECT_EQ(valid(writeMachine(m)), m);
}

TEST_F(Read, TheHashFollowsContentAndNotForm) {
  const Machine m = valid(everythingText);
  const Machine again = valid("# a comment\n" + std::string(everythingText));
  EXPECT_EQ(contentHash(m), contentHash(again));
  EXPECT_EQ(contentHash(m).size(), 16u);
  Machine other = m;
  other.memories[0].latency += 1;
  EXPECT_NE(contentHash(m), contentHash(other));
  EXPECT_NE(m, other);
  Machine tiny;
  tiny.name = "tiny";
  EXPECT_EQ(writeMachine(tiny), "machine: tiny\n");
  // 64-bit FNV-1a of that line, computed apart from this program.
  EXPECT_EQ(contentHash(tiny), "343856762c3f4e08");
}

TEST_F(Read, SlipsAreShownWhereTheyAre) {
  refused("machine: m\nmemories:\n  - name: a\n    capcity: 4K\n", "machine-unknown-field", "4:5",
          "did you mean 'capacity'?");
  refused("machine: m\nprocessors:\n  - {name: c, kind: control}\n  - {name: d, kind: control, masters: 'c, d'}\n",
          "machine-unknown-name", "4:39", "a list stands in brackets: [a, b]");
  refused("machine: m\nmemory:\n  - name: a\nprocessors:\n  - {name: c, kind: control, local: [a]}\n",
          "machine-unknown-field", "2:1", "no field 'memory'");
  EXPECT_EQ(diagnostics.errorCount(), 1u) << said();
  refused("machine: m\nmemories: [{nam: a}]\n", "machine-unknown-field", "2:13", "did you mean 'name'?");
  refused("machine: m\nmemories: [{name: a, count: }]\n", "machine-wrong-type", "2:27", "'count' takes");
  refused("machine: m\nmemories: [{capacity: 4K}]\n", "machine-missing-field", "2:12", "needs the field 'name'");
  refused("machine: m\nmemories: [{name: a, capacity: 4Q}]\n", "machine-bad-value", "2:32",
          "'4Q' is not a value of 'capacity', which takes a size");
  refused("machine: m\nmemories: [{name: a, capacity: 64KB}]\n", "machine-bad-value", "2:32",
          "write 64K for 65536 bytes");
  refused("machine: m\nmemories: [{name: a, line: 2k}]\n", "machine-bad-value", "2:28", "write 2K for 2048 bytes");
  refused("machine: m\nmemories: [{name: a, line: \"\"}]\n", "machine-bad-value", "2:28", "a size such as");
  refused("machine: m\nmemories: [{name: a, count: [1]}]\n", "machine-wrong-type", "2:29",
          "'count' takes a whole number");
  refused("machine: m\nprocessors: [{name: a, kind: corr}]\n", "machine-bad-value", "2:30", "did you mean 'core'?");
  refused("machine: m\nmemories: [{name: store}]\nprocessors:\n  - {name: p, kind: core, local: [stor]}\n",
          "machine-unknown-name", "4:35", "did you mean 'store'?");
  refused("machine: m\nprocessors: [{name: p, kind: core}]\nlinks: [{name: l, ends: [p, q7]}]\n",
          "machine-unknown-name", "3:29", "no processor, memory, FIFO or link is named 'q7'");
  refused("machine: m\nmemories: [{name: a}]\nlevels: [{level: 1, memory: a}]\n", "machine-bad-value", "3:18",
          "levels are listed from 0");
  refused("machine: m\nprocessors: [{name: p, kind: core, vector: -16}]\n", "machine-bad-value", "2:44",
          "'-16' is not a value of 'vector', which takes a size");
  refused("machine: m\nprocessors: [{name: p, kind: core, stores: 1.5}]\n", "machine-bad-value", "2:44",
          "'1.5' is not a value of 'stores', which takes a whole number");
  refused("machine: m\nmemories: [{name: a, line: 99999999999999999999}]\n", "machine-bad-value", "2:28",
          "which takes a size");
  refused("machine: m\nmemories: [{name: a, page: [4K]}]\n", "machine-wrong-type", "2:28", "'page' takes a size");
  refused("machine: m\nmachine: n\n", "machine-duplicate-key", "2:1", "field 'machine' is given twice");
  refused("- a\n- b\n", "machine-wrong-type", "1:1", "a machine description");
  refused("", "machine-wrong-type", "1:1", "a machine description");
  refused("machine: m\nmemories: 5\n", "machine-bad-value", "2:11", "a list");
}

TEST_F(Read, ArraySlipsAreShownWhereTheyAre) {
  const std::string head = "machine: m\nprocessors:\n- name: a\n  kind: array\n  array:\n    ";
  refused(head + "rows: x\n", "machine-bad-value", "6:11", "a whole number");
  refused(head + "data: {adjacent: [west0]}\n", "machine-bad-value", "6:23", "west0 -> east0");
  refused(head + "data: {inputs: {nort: 1}}\n", "machine-unknown-field", "6:21", "did you mean 'north'?");
  refused(head + "controllers: {corners: [northwest]}\n", "machine-unknown-name", "6:29", "did you mean 'north-west'?");
  refused(head + "units: [{name: u, operations: {add: fast}}]\n", "machine-bad-value", "6:41", "its latency in cycles");
  refused(head + "units: [{name: u, operations: [add]}]\n", "machine-wrong-type", "6:35", "a latency for each");
}

TEST_F(Read, TextsThatAreNotPlainYaml) {
  refused("machine: [\n", "machine-bad-yaml", "1:11", "']' is missing");
  refused("machine: m\nmemories:\n  - name: a\n    count 8\n    width: 4\n", "machine-bad-yaml", "4:10",
          "':' is missing");
  refused("machine: m\nmemories:\n  - name a\n    count: 8\n", "machine-bad-yaml", "3:9", "':' is missing");
  refused("machine: m\nmemories:\n    name: a\n      count: 8\n", "machine-bad-yaml", "3:5", "'-' is missing here");
  refused("machine: m\nlevels: [{level: 0]\n", "machine-bad-yaml", "2:19", "'}' is missing");
  // Brackets over several lines.
  refused("machine: m\nlevels: [{level: 0,\n    count: 1}\nabout: x\n", "machine-bad-yaml", "3:14", "']' is missing");
  refused("machine: m\nlevels: [{level: 0,\n    count: 1}]\nprocessors:\n  - name 8\n    kind: core\n",
          "machine-bad-yaml", "5:9", "':' is missing");
  refused("machine: m\nlevels: [{level: 0,\n    count: 1\n    memory: x}]\n", "machine-bad-yaml", "3:13",
          "',' is missing");
  refused("machine: m\n---\nmachine: n\n", "machine-bad-yaml", "2:1", "a second document");
  refused("[a, b]: c\n", "machine-bad-yaml", "1:1", "a single word");
  refused("machine: &x m\nabout: *x\n", "machine-alias", "1:10", "anchors, aliases and tags");
  refused("machine: !!str m\n", "machine-alias", "1:10", "anchors, aliases and tags");
  refused(std::string("machine: m\0\n", 12), "machine-bad-yaml", "1:1", "not plain UTF-8");
  refused("\xEF\xBB\xBFmachine: m\n", "machine-bad-yaml", "1:1", "byte order mark");
}

TEST_F(Read, DepthAndSizeAreBounded) {
  refused("machine: " + std::string(40, '[') + std::string(40, ']'), "machine-too-deep", "1:25", "more than 16");
  EXPECT_FALSE(read("machine: " + std::string(100000, '[')).has_value());
  EXPECT_FALSE(read(std::string(100000, '{')).has_value());
  refused("machine: m\n" + std::string(1 << 20, '#'), "machine-too-large", "1:1", "at most 1048576");
  std::string many = "machine: m\nmemories:\n";
  for (int i = 0; i < 1025; ++i)
    many += "- name: m" + std::to_string(i) + "\n";
  refused(many, "machine-too-many", "3:1", "at most 1024");
  // The usual bomb of nested aliases stops at its first anchor.
  refused("a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "machine-alias", "1:4", "write the value out");
}

} // namespace
} // namespace strata

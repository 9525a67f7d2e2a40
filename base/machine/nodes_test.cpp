// Every node has a value that leads back to it and a name of its own in the header.
#include "base/machine/nodes.h"
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

struct Nodes : MachineTest {};

TEST_F(Nodes, ValuesLeadBack) {
  const Machine machine = valid(everythingText);
  for (const auto kind : {Node::Kind::Memory, Node::Kind::Fifo, Node::Kind::Processor})
    for (uint32_t index = 0; index < 6; ++index)
      for (uint32_t instance = 0; instance < 9; ++instance) {
        const Node node{kind, index, instance};
        if (const auto back = nodeOf(machine, nodeValue(node)))
          EXPECT_EQ(*back, node);
      }
  EXPECT_TRUE(nodeOf(machine, nodeValue({Node::Kind::Memory, 0, 7})));
  EXPECT_FALSE(nodeOf(machine, nodeValue({Node::Kind::Memory, 0, 8}))); // there are eight
  EXPECT_FALSE(nodeOf(machine, nodeValue({Node::Kind::Memory, 1, 0}))); // it is virtual
  EXPECT_FALSE(nodeOf(machine, 0));
  EXPECT_FALSE(nodeOf(machine, -1));
}

TEST_F(Nodes, TheHeaderNamesThem) {
  const auto header = writeNodeHeader(valid(everythingText), diagnostics);
  ASSERT_TRUE(header) << said();
  for (const char* name : {" LS1 = 0x10000000,", " LS8 = 0x10000007,", " MAIN = 0x10200000,", " SPE8 = 0x30100007,",
                           " QUEUE2 = 0x20000001,", "#define SPE(i) (0x30100000 + (i) - 1)", "#define LS_BYTES 262144L",
                           "#define LS_UNIT 4L"})
    EXPECT_NE(header->find(name), std::string::npos) << name << "\n" << *header;
  EXPECT_EQ(header->find("STORES"), std::string::npos); // virtual
}

TEST_F(Nodes, NamesThatMeetAreRefused) {
  const Machine machine = valid("machine: m\n"
                                "memories:\n  - {name: ls, count: 2, capacity: 1K}\n  - {name: LS2, capacity: 1K}\n"
                                "processors:\n  - {name: pe, kind: core, masters: [pe]}\n"
                                "links:\n  - {name: bus, ends: [pe, ls, LS2]}\n");
  EXPECT_FALSE(writeNodeHeader(machine, diagnostics));
  EXPECT_TRUE(saidCode("machine-node-name")) << said();
}

TEST_F(Nodes, TooManyClassesAreRefused) {
  Machine machine = valid(everythingText);
  for (int i = 0; i < 300; ++i) {
    Memory memory;
    memory.name = "m" + std::to_string(i);
    machine.memories.push_back(memory);
  }
  EXPECT_FALSE(writeNodeHeader(machine, diagnostics));
  EXPECT_TRUE(saidCode("machine-node-count")) << said();
}

} // namespace
} // namespace strata

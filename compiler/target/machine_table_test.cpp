// A machine's table holds all that the runtime, a trace or a simulator asks of it, under the machine's own numbers.
#include "compiler/target/machine_table.h"

#include "base/machine/figures.h"

#include <gtest/gtest.h>

namespace strata::target {
namespace {

TEST(MachineTable, HoldsTheMachineByItsNumbers) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  auto machine = readMachine(diagnostics, sources.add("m.yaml", R"(machine: node
clock: 2GHz
memories:
  - {name: ls, capacity: 256K, count: 8, width: 16, alignment: 32, latency: 6, bandwidth: 1/4, explicit: true}
  - {name: main, capacity: available, latency: 100}
processors:
  - {name: ppe, kind: control, masters: [ppe], clock: 1GHz, vector: 32}
  - {name: spe, kind: stream, count: 8, masters: [ppe], moves: 3, local: [ls]}
fifos:
  - {name: queue, capacity: 1K, count: 2, width: 4, latency: 3, writers: [spe], readers: [ppe]}
links:
  - {name: bus, ends: [ppe, main, spe], count: 2, latency: 10, bandwidth: 32}
)",
                                                      SourceKind::Machine));
  ASSERT_TRUE(machine) << diagnostics.render({});
  const MachineTable table(*machine);
  const StrataMachine& m = *table.get();
  EXPECT_STREQ(m.name, "node");
  EXPECT_EQ(m.clock, 2000000000u);
  ASSERT_EQ(m.memory_count, 2u);
  EXPECT_STREQ(m.memories[0].name, "ls");
  EXPECT_EQ(m.memories[0].capacity, uint64_t(256) << 10);
  EXPECT_EQ(m.memories[0].instances, 8u);
  EXPECT_EQ(m.memories[0].is_explicit, 1u);
  EXPECT_EQ(m.memories[0].alignment, 32u);
  EXPECT_EQ(m.memories[0].width, 16u);
  EXPECT_EQ(m.memories[0].latency, 6u);
  EXPECT_EQ(m.memories[0].bandwidth_bytes, 1u);
  EXPECT_EQ(m.memories[0].bandwidth_cycles, 4u);
  EXPECT_EQ(m.memories[1].capacity, 0u);
  EXPECT_EQ(m.memories[1].latency, 100u);
  ASSERT_EQ(m.processor_count, 2u);
  EXPECT_EQ(m.processors[0].clock, 1000000000u);
  EXPECT_EQ(m.processors[1].count, 8u);
  EXPECT_EQ(m.processors[1].moves, 3u);
  ASSERT_EQ(m.fifo_count, 1u);
  EXPECT_STREQ(m.fifos[0].name, "queue");
  EXPECT_EQ(m.fifos[0].capacity, 1024u);
  EXPECT_EQ(m.fifos[0].width, 4u);
  EXPECT_EQ(m.fifos[0].latency, 3u);
  EXPECT_EQ(m.fifos[0].instances, 2u);
  ASSERT_EQ(m.link_count, 1u);
  EXPECT_STREQ(m.links[0].name, "bus");
  EXPECT_EQ(m.links[0].latency, 10u);
  EXPECT_EQ(m.links[0].bandwidth_bytes, 32u);
  EXPECT_EQ(m.links[0].bandwidth_cycles, 1u);
  EXPECT_EQ(m.links[0].transfers, 2u);
  // The figures are this machine's, not those of the computer or usual ones.
  const machine::Figures figures = machine::figuresOf(*machine);
  EXPECT_EQ(figures.vectorBytes, 32u);
  EXPECT_EQ(m.hardware.task_bytes, 1024 * 32 / 2);
  EXPECT_EQ(m.hardware.tile_elements, static_cast<int64_t>(figures.tileElements()));
  EXPECT_EQ(m.hardware.large_page_bytes, figures.largePageBytes);
}

} // namespace
} // namespace strata::target

// A machine's table holds all that the runtime, a trace or a simulator asks of it, under the machine's own numbers.
#include "compiler/target/machine_table.h"

#include "base/machine/figures.h"

#include <gtest/gtest.h>

#include <sstream>

namespace strata::target {
namespace {

template <typename... Parts>
std::string joined(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// All that an entry of the table says; sizes are bytes, and bandwidths bytes / cycles.
std::string row(const StrataMemory& m) {
  return joined(m.name, ": ", m.capacity, " x ", m.instances, ", explicit ", m.is_explicit, ", alignment ", m.alignment,
                ", width ", m.width, ", latency ", m.latency, ", ", m.bandwidth_bytes, " / ", m.bandwidth_cycles);
}
std::string row(const StrataProcessor& p) {
  return joined(p.name, ": x ", p.count, ", moves ", p.moves, ", clock ", p.clock, p.is_process ? ", a process" : "");
}
std::string row(const StrataFifo& f) {
  return joined(f.name, ": ", f.capacity, " x ", f.instances, ", width ", f.width, ", latency ", f.latency);
}
std::string row(const StrataLink& l) {
  return joined(l.name, ": latency ", l.latency, ", ", l.bandwidth_bytes, " / ", l.bandwidth_cycles, ", transfers ",
                l.transfers);
}

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
  EXPECT_EQ(row(m.memories[0]), "ls: 262144 x 8, explicit 1, alignment 32, width 16, latency 6, 1 / 4");
  EXPECT_EQ(row(m.memories[1]), "main: 0 x 1, explicit 0, alignment 1, width 1, latency 100, 0 / 0");
  ASSERT_EQ(m.processor_count, 2u);
  EXPECT_EQ(row(m.processors[0]), "ppe: x 1, moves 0, clock 1000000000");
  EXPECT_EQ(row(m.processors[1]), "spe: x 8, moves 3, clock 0");
  ASSERT_EQ(m.fifo_count, 1u);
  EXPECT_EQ(row(m.fifos[0]), "queue: 1024 x 2, width 4, latency 3");
  ASSERT_EQ(m.link_count, 1u);
  EXPECT_EQ(row(m.links[0]), "bus: latency 10, 32 / 1, transfers 2");
  // The figures are this machine's, not those of the computer or usual ones.
  const machine::Figures figures = machine::figuresOf(*machine);
  EXPECT_EQ(figures.vectorBytes, 32u);
  EXPECT_EQ(m.hardware.task_bytes, 1024 * 32 / 2);
  EXPECT_EQ(m.hardware.tile_elements, static_cast<int64_t>(figures.tileElements()));
  EXPECT_EQ(m.hardware.large_page_bytes, figures.largePageBytes);
}

} // namespace
} // namespace strata::target

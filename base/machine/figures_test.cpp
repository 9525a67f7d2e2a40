// The figures of machines: what is stated, what is taken otherwise, the thresholds that follow, and the table of cores.
#include "base/machine/core_types.h"
#include "base/machine/figures.h"
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

TEST_F(MachineTest, FiguresThatAMachineDoesNotState) {
  const Figures figures = figuresOf(valid("machine: m\nprocessors: [{name: p, kind: core, masters: [p]}]\n"));
  EXPECT_EQ(figures, Figures());
  EXPECT_EQ(figures.nearBytes(), 512u << 10);
  EXPECT_EQ(figures.panelBytes(), 1u << 20);
  EXPECT_EQ(figures.longPieceBytes(), 512u);
  EXPECT_EQ(figures.blockBytes(), 8u << 20);
  EXPECT_EQ(figures.rowsAhead(), 8u);
  EXPECT_EQ(figures.tilesAhead(), 4u);
  EXPECT_EQ(figures.window(), 300u);
  EXPECT_DOUBLE_EQ(figures.gatherCycles(), 1.5);
  EXPECT_EQ(figures.taskBytes(), 32u << 10);
  EXPECT_EQ(figures.tileElements(), 16u);
  EXPECT_EQ(figures.loopAlignment(), 64u);
  EXPECT_TRUE(figures.areStoresPaired(4));
}

TEST_F(MachineTest, FiguresAreTheLeastOfWhoRunsKernels) {
  const Figures figures = figuresOf(
      valid("machine: m\n"
            "memories: [{name: far, capacity: 1M, line: 128}, {name: near, capacity: 16K, line: 32},\n"
            "           {name: other, capacity: 64K, line: 256}, {name: main, page: 16K, large_page: 32M},\n"
            "           {name: unused, capacity: 8K, line: 8}]\n"
            "processors: [{name: a, kind: core, masters: [a], vector: 32, vector_registers: 16, vector_latency: 3,\n"
            "              operations: 5, stores: 4, memory_latency: 301, local: [far, near]},\n"
            "             {name: b, kind: core, masters: [a], vector: 128, operations: 4, stores: 3, local: [other]},\n"
            "             {name: d, kind: dma, masters: [a], moves: 1, vector: 4, local: [unused]}]\n"));
  EXPECT_EQ(figures.vectorBytes, 32u);
  EXPECT_EQ(figures.vectorRegisters, 16u);
  EXPECT_EQ(figures.vectorLatency, 3u);
  EXPECT_EQ(figures.operationsPerCycle, 4u);
  EXPECT_EQ(figures.storesPerCycle, 3u);
  EXPECT_EQ(figures.memoryLatency, 301u);
  EXPECT_EQ(figures.lineBytes, 32u);
  EXPECT_EQ(figures.pageBytes, 16u << 10);
  EXPECT_EQ(figures.largePageBytes, 32u << 20);
  EXPECT_EQ(figures.cacheBytes, 64u << 10); // the only one of b, smaller than the second one of a
  EXPECT_EQ(figures.rowsAhead(), 4u);
  EXPECT_FALSE(figures.areStoresPaired(4));
}

TEST_F(MachineTest, FiguresOfWhatIsNotValidAreLeftOut) {
  Machine machine;
  machine.memories.resize(1);
  machine.memories[0].line = 0;
  machine.memories[0].page = ~uint64_t(0);
  machine.memories[0].capacity = Capacity::of(0);
  machine.processors.resize(1);
  machine.processors[0].local = {{0}, {7}};
  machine.processors[0].vector = 0;
  machine.processors[0].memoryLatency = ~uint64_t(0);
  EXPECT_EQ(figuresOf(machine), Figures());
}

TEST_F(MachineTest, EveryTypeOfCoreIsPossible) {
  for (const CoreType& type : coreTypes()) {
    Machine machine = valid("machine: m\nprocessors: [{name: p, kind: core, masters: [p]}]\n");
    describeCore(machine.processors[0], type);
    EXPECT_TRUE(validate(machine, diagnostics)) << type.name << "\n" << said();
    EXPECT_EQ(valid(writeMachine(machine)), machine) << type.name;
  }
}

TEST_F(MachineTest, UnknownCoresAreAskedForLittle) {
  CoreFeatures features;
  EXPECT_STREQ(coreTypeOf(features).name, "unknown");
  features.isX86 = true;
  EXPECT_STREQ(coreTypeOf(features).name, "unknown");
  for (const CoreType& type : coreTypes())
    EXPECT_LE(coreTypes().back().vector, type.vector);
  features.avx = true;
  EXPECT_EQ(coreTypeOf(features).vector, 32u);
  features.avx512 = true;
  EXPECT_EQ(coreTypeOf(features).vector, 64u);
  EXPECT_EQ(coreTypeOf(features).stores, 1u);
  features.avx512Vbmi2 = true;
  EXPECT_EQ(coreTypeOf(features).stores, 2u);
  features = {};
  features.isArm64 = true;
  EXPECT_EQ(coreTypeOf(features).vector, 16u);
}

} // namespace
} // namespace strata

// The target segment as a machine that validates.
#include "compiler/hbir/mapping/target.h"
#include "compiler/hbir/program/program_testing.h"

namespace strata::hbir {
namespace {

struct TargetTest : ProgramTest {
  Machine valid() {
    Machine machine = toMachine(program);
    EXPECT_TRUE(validate(machine, diagnostics)) << said();
    return machine;
  }
};

TEST_F(TargetTest, TilesMemoriesAndAHost) {
  target({4, 4});
  memory("g", 4, int64_t(8) << 30);
  memory("l", 2, 16 << 10, true);
  const Machine machine = valid();
  const machine::Processor& tiles = machine[machine.processor("t")];
  EXPECT_EQ(tiles.count, 16u);
  EXPECT_EQ(tiles.grid, (std::vector<uint64_t>{4, 4}));
  EXPECT_EQ(tiles.local, std::vector<machine::MemoryId>{machine.memory("l")});
  const machine::Memory& local = machine[machine.memory("l")];
  EXPECT_EQ(local.count, 32u);
  EXPECT_EQ(local.capacity, machine::Capacity::of(16 << 10));
  EXPECT_EQ(local.width, 8u);
  EXPECT_EQ(machine[machine.memory("g")].count, 4u);
  EXPECT_TRUE(machine.reaches(machine.processor("t"), machine.memory("g")));
  ASSERT_TRUE(machine.processor("control").valid());
  EXPECT_TRUE(machine.reaches(machine.processor("control"), machine.memory("l")));
  ASSERT_EQ(machine.levels.size(), 3u);
  EXPECT_EQ(machine.fanOut(0), 8u); // eight local memories to each global one
  EXPECT_EQ(machine.ownerOf(machine.memory("l")), machine.processor("t"));
}

TEST_F(TargetTest, ItsTextReadsBackToTheSameMachine) {
  target({2, 3});
  memory("g", 1, std::nullopt);
  memory("l", 1, 64, true);
  const Machine machine = valid();
  const BufferId text = sources.add("m.yaml", writeMachine(machine), SourceKind::Machine);
  EXPECT_EQ(readMachine(diagnostics, text), machine) << said();
}

TEST_F(TargetTest, WithoutMemoriesOrWithUnevenOnes) {
  target({3});
  EXPECT_EQ(valid().levels.size(), 1u);
  memory("g", 2, 1024);
  EXPECT_EQ(valid().levels.size(), 2u);
  memory("l", 1, 1024, true);
  EXPECT_EQ(valid().levels.size(), 2u); // three local memories cannot be distributed to two
}

TEST_F(TargetTest, EqualNamesAreToldApart) {
  target({2});
  memory("control", 1, 1024);
  memory("main", 1, 1024);
  memory("network", 1, 1024);
  memory("control", 1, 1024, true);
  memory("t", 1, 1024, true);
  const Machine machine = valid();
  EXPECT_TRUE(machine.memory("t.control").valid());
  EXPECT_TRUE(machine.memory("t.t").valid());
  EXPECT_TRUE(machine.processor("control_").valid());
}

TEST_F(TargetTest, MoreTilesThanAMachineHasAreRefusedByValidate) {
  target({int64_t(1) << 31, int64_t(1) << 31});
  memory("l", 4, 1024, true);
  EXPECT_FALSE(validate(toMachine(program), diagnostics));
  EXPECT_TRUE(saidCode("machine-count"));
  EXPECT_TRUE(diagnostics.all()[0].labels.size() == 1) << said(); // at its place in the program
}

} // namespace
} // namespace strata::hbir

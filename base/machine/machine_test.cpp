// What passes ask of a machine: names, levels, owners, capacities, who reaches what.
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

struct Queries : MachineTest {
  Machine m = valid(everythingText);
  MemoryId ls = m.memory("ls"), stores = m.memory("stores"), mainMemory = m.memory("main"), cache = m.memory("cache");
  ProcessorId ppe = m.processor("ppe"), spe = m.processor("spe"), dma = m.processor("dma"), disk = m.processor("disk");
};

TEST_F(Queries, ByName) {
  EXPECT_EQ(m[ls].name, "ls");
  EXPECT_EQ(m[spe].count, 8u); // from its grid
  EXPECT_FALSE(m.memory("spe").valid());
  EXPECT_FALSE(m.processor("nobody").valid());
  EXPECT_EQ(m[m.fifo("queue")].count, 2u);
  EXPECT_TRUE(m[m.link("wire")].oneWay);
}

TEST_F(Queries, Levels) {
  ASSERT_NE(m.level(2), nullptr);
  EXPECT_EQ(m.level(3), nullptr);
  EXPECT_EQ(m.level(0)->memory, ls);
  EXPECT_EQ(m.level(0)->processor, spe);
  EXPECT_EQ(m.levelOf(mainMemory), 2u);
  EXPECT_EQ(m.levelOf(cache), std::nullopt);
  EXPECT_EQ(m.controllerOf(1), ppe); // the virtual level has none of its own
  EXPECT_EQ(m.fanOut(0), 8u);
  EXPECT_EQ(m.fanOut(1), 1u);
  EXPECT_EQ(m.fanOut(2), 1u);
}

TEST_F(Queries, Memories) {
  EXPECT_TRUE(m.isExplicit(ls));
  EXPECT_TRUE(m.isExplicit(stores)); // as what it joins
  EXPECT_FALSE(m.isExplicit(cache));
  EXPECT_EQ(m.ownerOf(ls), spe);
  EXPECT_EQ(m.ownerOf(mainMemory), ppe);
  EXPECT_FALSE(m.ownerOf(m.memory("odd")).valid());
  EXPECT_EQ(m.capacityOf(ls), Capacity::of(256 << 10));
  EXPECT_EQ(m.capacityOf(stores), Capacity::of(2 << 20));
  EXPECT_EQ(m.capacityOf(mainMemory), Capacity::available());
  EXPECT_EQ(m.capacityOf(m.memory("odd")).kind, Capacity::Kind::Unknown);
}

TEST_F(Queries, WhoReachesWhat) {
  EXPECT_TRUE(m.reaches(spe, ls));     // local
  EXPECT_TRUE(m.reaches(spe, stores)); // through what it joins
  EXPECT_TRUE(m.reaches(dma, mainMemory));
  EXPECT_TRUE(m.reaches(ppe, cache));
  EXPECT_FALSE(m.reaches(spe, cache));
  EXPECT_FALSE(m.reaches(disk, mainMemory));
  EXPECT_TRUE(m.reaches(disk, m.fifo("queue"))); // reads it
  EXPECT_TRUE(m.reaches(spe, m.fifo("pipe")));   // over the bus and the wire that ends at it
  EXPECT_FALSE(m.reaches(dma, m.fifo("queue")));
  EXPECT_TRUE(m.supports(dma, "scatter"));
  EXPECT_FALSE(m.supports(spe, "scatter"));
  EXPECT_TRUE(m[ppe].ownMaster(ppe));
  EXPECT_FALSE(m[spe].ownMaster(spe));
}

TEST_F(MachineTest, AClusterUnderAVirtualLevel) {
  const Machine m = valid("machine: cluster\n"
                          "memories: [{name: l1, capacity: 32K, count: 256, explicit: true},\n"
                          "           {name: dram, capacity: 4G, count: 128, explicit: true},\n"
                          "           {name: all, over: dram}]\n"
                          "processors: [{name: cpu, kind: core, count: 256, masters: [cpu], local: [l1]}]\n"
                          "links: [{name: bus, ends: [cpu, dram]}]\n"
                          "levels: [{level: 0, memory: l1, processor: cpu}, {level: 1, memory: dram, processor: cpu},\n"
                          "         {level: 2, memory: all, processor: cpu}]\n");
  EXPECT_EQ(m.fanOut(0), 2u); // two processors in a workstation
  EXPECT_EQ(m.fanOut(1), 128u);
  EXPECT_EQ(m.capacityOf(m.memory("all")), Capacity::of(uint64_t(512) << 30));
  EXPECT_EQ(m.ownerOf(m.memory("l1")), m.processor("cpu"));
}

TEST_F(MachineTest, ADiskIsMovedToAndNeverAddressed) {
  const Machine m =
      valid("machine: deep\n"
            "memories: [{name: ram, capacity: 64M, explicit: true},\n"
            "           {name: disk, capacity: available, explicit: true, files: true}]\n"
            "processors: [{name: cpu, kind: core, masters: [cpu], local: [ram]}]\n"
            "links: [{name: bus, ends: [cpu, ram, disk]}]\n"
            "levels: [{level: 0, memory: ram, processor: cpu}, {level: 1, memory: disk, processor: cpu}]\n");
  EXPECT_TRUE(m.isAddressed(m.memory("ram")));
  EXPECT_FALSE(m.isAddressed(m.memory("disk")));
  EXPECT_FALSE(m.isStore(m.memory("disk")));
  EXPECT_NE(writeMachine(m).find("files: true"), std::string::npos);
}

} // namespace
} // namespace strata

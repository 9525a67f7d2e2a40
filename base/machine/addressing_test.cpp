// Where programs that nobody has mapped keep their data, on the machines that ship.
#include "base/machine/addressing.h"
#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

struct Addressing : MachineTest {
  /// "control blocks arguments", by name; - for none.
  std::string places(const std::string& name) {
    const std::optional<Machine> machine = loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics);
    if (!machine)
      return said();
    return names(*machine);
  }
  static std::string names(const Machine& machine) {
    const DefaultPlaces places = defaultPlaces(machine);
    const auto nameOf = [&](auto id) { return id.valid() ? machine[id].name : std::string("-"); };
    return nameOf(places.control) + " " + nameOf(places.blocks) + " " + nameOf(places.arguments);
  }
};

TEST_F(Addressing, DataLieInTheOutermostMemoryThatCodeComputesIn) {
  EXPECT_EQ(places("cell"), "ppe main main");
  EXPECT_EQ(places("smp-2level"), "cpu main main");
}

TEST_F(Addressing, BelowADiskBlocksAreInMemoryAndArgumentsOnTheDisk) {
  EXPECT_EQ(places("cell-disk"), "ppe main disk");
}

TEST_F(Addressing, AMemoryOverTheNodesIsNotComputedIn) {
  EXPECT_EQ(places("cluster"), "front - -");
}

TEST_F(Addressing, AMachineWithoutLevelsSaysNothing) {
  EXPECT_EQ(names(Machine()), "- - -");
}

} // namespace
} // namespace strata

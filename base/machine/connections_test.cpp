// Ways from one memory to another over the links of a machine.
#include "base/machine/connections.h"

#include "base/machine/test_machines.h"

namespace strata {
namespace {

using namespace machine;

struct Routes : MachineTest {
  /// The names of the links, in order: "bus ring".
  static std::string route(const Machine& m, const std::string& from, const std::string& to) {
    std::string names;
    for (const LinkId link : Connections(m).route(m.memory(from), m.memory(to)))
      names += (names.empty() ? "" : " ") + m[link].name;
    return names;
  }
  /// Two nodes with a store each, a slow network between them and another that goes one way only.
  Machine nodes = valid(R"(machine: nodes
memories:
  - {name: disk}
  - {name: main}
  - {name: near, count: 2}
  - {name: far}
  - {name: alone}
  - {name: joined, over: near}
processors:
  - {name: host, kind: control, masters: [host], local: [main]}
  - {name: pe, kind: stream, count: 2, masters: [host], local: [near]}
  - {name: gate, kind: core, masters: [host]}
links:
  - {name: first, ends: [host, pe]}
  - {name: second, ends: [main, near]}
  - {name: third, ends: [main, near]}
  - {name: out, ends: [near, far], one_way: true}
  - {name: cable, ends: [main, gate]}
  - {name: channel, ends: [gate, disk]}
  - {name: spur, ends: [cable, alone]}
)");
};

TEST_F(Routes, TheFirstOfTheShortest) {
  // `first` would do as well, through both processors.
  EXPECT_EQ(route(nodes, "main", "near"), "second");
  EXPECT_EQ(route(nodes, "near", "main"), "second");
  EXPECT_EQ(route(nodes, "main", "joined"), "second"); // what it joins
  EXPECT_EQ(route(nodes, "main", "main"), "");
}

TEST_F(Routes, OneWayLinksAreTakenThatWay) {
  EXPECT_EQ(route(nodes, "near", "far"), "out");
  EXPECT_EQ(route(nodes, "main", "far"), "second out");
  EXPECT_EQ(route(nodes, "far", "near"), ""); // there is none
}

TEST_F(Routes, ThroughLinksAndProcessorsWhereNothingElseLeads) {
  EXPECT_EQ(route(nodes, "main", "alone"), "cable spur");
  EXPECT_EQ(route(nodes, "disk", "near"), "channel cable second");
  const Machine cell = valid(everythingText);
  EXPECT_EQ(route(cell, "main", "ls"), "bus");
  EXPECT_EQ(route(cell, "stores", "main"), "bus");
  EXPECT_EQ(route(cell, "cache", "main"), "bus"); // through its processor
  EXPECT_EQ(route(cell, "odd", "main"), "");
}

TEST_F(Routes, WhatNamesNothingHasNone) {
  EXPECT_EQ(route(nodes, "main", "nobody"), "");
}

} // namespace
} // namespace strata

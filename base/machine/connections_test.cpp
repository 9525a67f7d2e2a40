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
  struct Way {
    const char *from, *to, *links;
  };
  /// Each way must go over these links.
  static void expectRoutes(const Machine& m, std::initializer_list<Way> ways) {
    for (const Way& way : ways)
      EXPECT_EQ(route(m, way.from, way.to), way.links) << way.from << " to " << way.to;
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
  expectRoutes(nodes, {{"main", "near", "second"}, {"near", "main", "second"}, {"main", "main", ""}});
  expectRoutes(nodes, {{"main", "joined", "second"}}); // what it joins
}

TEST_F(Routes, OneWayLinksAreTakenThatWay) {
  expectRoutes(nodes, {{"near", "far", "out"}, {"main", "far", "second out"}});
  expectRoutes(nodes, {{"far", "near", ""}}); // there is none
}

TEST_F(Routes, ThroughLinksAndProcessorsWhereNothingElseLeads) {
  expectRoutes(nodes, {{"main", "alone", "cable spur"}, {"disk", "near", "channel cable second"}});
  const Machine cell = valid(everythingText);
  expectRoutes(cell, {{"main", "ls", "bus"}, {"stores", "main", "bus"}, {"odd", "main", ""}});
  expectRoutes(cell, {{"cache", "main", "bus"}}); // through its processor
}

TEST_F(Routes, WhatNamesNothingHasNone) {
  expectRoutes(nodes, {{"main", "nobody", ""}});
}

} // namespace
} // namespace strata

// How a machine comes to its target: by what it says, by what the command line says, or to the host.
#include "compiler/target/registry/registry.h"

#include <gtest/gtest.h>

namespace strata::target {
namespace {

struct Registry : testing::Test {
  const Target* of(const std::string& text, const std::string& name = "") {
    diagnostics.clear();
    auto machine = readMachine(diagnostics, sources.add("m.yaml", text, SourceKind::Machine));
    EXPECT_TRUE(machine) << said();
    return machine ? targetOf(*machine, name, {}, diagnostics) : nullptr;
  }
  std::string said() { return diagnostics.render({}); }

  SourceManager sources;
  DiagnosticEngine diagnostics{sources};
};

TEST_F(Registry, AMachineChoosesItsTarget) {
  EXPECT_EQ(of("machine: m\n"), findTarget("host"));
  EXPECT_EQ(of("machine: m\ntarget: interpreter\n"), findTarget("interpreter"));
  EXPECT_EQ(of("machine: m\ntarget: interpreter\n", "host"), findTarget("host"));
  EXPECT_EQ(said(), "");
}

TEST_F(Registry, WhatIsNoTargetIsToldWhereItStands) {
  EXPECT_EQ(of("machine: m\ntarget: interpeter\n"), nullptr);
  for (const char* words :
       {"target-unknown", "'interpeter'", "m.yaml:2:9", "did you mean 'interpreter'?", "host, interpreter"})
    EXPECT_NE(said().find(words), std::string::npos) << said();
}

TEST_F(Registry, PartsOfAMachineMayHaveTargetsOfTheirOwn) {
  const std::string processors = "processors:\n  - {name: a, kind: core}\n  - {name: b, kind: stream, target: ";
  const std::string part = "machine: m\n" + processors;
  EXPECT_EQ(of(part + "host}\n"), findTarget("host"));
  EXPECT_EQ(of(part + "interpreter}\n"), findTarget("host"));
  EXPECT_EQ(said(), "");
  // Not every target calls another's code.
  EXPECT_EQ(of("machine: m\ntarget: interpreter\n" + processors + "host}\n"), nullptr);
  for (const char* words : {"target-part", "processor 'b'", "'host'", "'interpreter' gives no work", "m.yaml:5:"})
    EXPECT_NE(said().find(words), std::string::npos) << said();
  EXPECT_EQ(of(part + "nonsense}\n"), nullptr);
  EXPECT_NE(said().find("target-unknown"), std::string::npos) << said();
  // A target asked for by name runs all of it.
  EXPECT_EQ(of(part + "interpreter}\n", "host"), findTarget("host"));
}

TEST_F(Registry, EachTargetIsFoundByItsName) {
  for (const Target* target : allTargets())
    EXPECT_EQ(findTarget(target->name()), target);
  EXPECT_EQ(findTarget("nonsense"), nullptr);
}

} // namespace
} // namespace strata::target

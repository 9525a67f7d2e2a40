// Descriptions that the tests of this folder share, and a reader that shows what was said about a text.
#pragma once

#include "base/machine/machine.h"

#include <gtest/gtest.h>

namespace strata {

/// Uses every field of the format.
inline const char* everythingText = R"(machine: everything
about: "Every field: \"quoted\" & <marked>."
clock: 1GHz
memories:
  - {name: ls, capacity: 256K, count: 8, width: 16, alignment: 16, unit: 4, latency: 6, bandwidth: 1/4, explicit: true}
  - {name: stores, over: ls}
  - {name: main, capacity: available, latency: 100, bandwidth: 8, explicit: true, page: 4K, large_page: 2M}
  - {name: cache, capacity: 1M, width: 64, line: 64}
  - {name: odd}
processors:
  - {name: ppe, kind: control, masters: ppe, clock: 2.5GHz, local: [cache], costs: {add: 1, fma: 4},
     vector: 32, vector_registers: 16, vector_latency: 3, operations: 4, stores: 1, memory_latency: 500}
  - name: spe
    kind: stream
    grid: [2, 4]
    masters: [ppe]
    kernels: [user, move]
    moves: 2
    local: ls
  - {name: dma, kind: dma, masters: [ppe], kernels: [move, scatter], moves: 4}
  - {name: disk, kind: io, masters: [ppe], kernels: [file_source]}
  - name: grid
    kind: array
    masters: [ppe]
    array:
      rows: 4
      columns: 2
      word: 8
      units:
        - {name: alu, count: 2, instructions: 64, operations: {add: 1, mul: 3, div: {latency: 12, interval: 10}}}
        - {name: lsu, instructions: 32, operations: {move: 1}}
      registers: {general: 8, feedback: 4, feedback_depth: 32, input: 4, input_depth: 16, output: 3, control: 2}
      destinations: 2
      flags: 3
      branch: {targets: 3, signals: 2}
      data: {inputs: 2, outputs: {north: 2, east: 2, south: 2, west: 2}, adjacent: [west0 -> east0, element2 -> east1]}
      control: {inputs: 1, outputs: 1, adjacent: all, hop: 2}
      controllers: {corners: [north-west, south-east], signals: 8, dimensions: 4}
      borders:
        north: {banks: 2, capacity: 4K, dimensions: 4}
        west: {banks: 1, capacity: 1K, dimensions: 3}
fifos:
  - {name: queue, capacity: 1K, count: 2, width: 4, latency: 3, writers: [spe], readers: [ppe, disk]}
  - {name: pipe, capacity: 64, width: 8}
links:
  - {name: bus, ends: [ppe, main, spe, dma, ls], count: 2, latency: 10, bandwidth: 32}
  - {name: wire, ends: [dma, pipe, bus], one_way: true}
levels:
  - {level: 0, memory: ls, processor: spe}
  - {level: 1, memory: stores}
  - {level: 2, memory: main, processor: ppe}
)";

struct MachineTest : testing::Test {
  SourceManager sources;
  DiagnosticEngine diagnostics{sources};

  std::optional<Machine> read(const std::string& text) {
    return readMachine(diagnostics, sources.add("m.yaml", text, SourceKind::Machine));
  }
  /// A text that must be a valid machine.
  Machine valid(const std::string& text) {
    const std::optional<Machine> machine = read(text);
    EXPECT_TRUE(machine && validate(*machine, diagnostics)) << said();
    return machine.value_or(Machine());
  }
  std::string said() const { return diagnostics.render({}); }
  bool saidCode(const std::string& code) const {
    for (const Diagnostic& diagnostic : diagnostics.all())
      if (code == diagnostic.kind->code)
        return true;
    return false;
  }
};

} // namespace strata

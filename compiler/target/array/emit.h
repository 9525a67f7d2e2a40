// The last steps of symbolic mapping: registers, routes, and the symbolic configuration of a network that is scheduled.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", sections 5.3 to 5.7.
#pragma once

#include "compiler/target/array/schedule.h"
#include "compiler/target/array/storage.h"
#include "runtime/array/symbolic.h"

#include <optional>
#include <string>

namespace strata::array {

struct Distribution {
  uint32_t rowLoop = Symbolic::none, columnLoop = Symbolic::none; // loops of the network
  std::vector<uint32_t> loops() const;                            // those that there are
};

struct Scheduled {
  const Network& network;
  const Storages& storages;
  const ScheduleProblem& problem;
  const Schedule& schedule;
  const std::vector<LoopRange>& ranges;
  const std::vector<int64_t>& leastTiles;
  Distribution distribution;
};

/// Of what there is too little for a schedule. Nothing: of none that values could share. Registers: those of values
/// within an iteration, of which another schedule may need fewer.
enum class Lack { Nothing, Registers, Queues, Inputs, Outputs, Routes };

/// Nothing where the array has too few registers or ports (reported, and which in `lack`). What the solvers for
/// registers and routes give is verified; what is broken is reported as our error.
std::optional<Symbolic> emit(const Scheduled& scheduled, const std::string& machineName,
                             const machine::ProcessorArray& array, DiagnosticEngine& diagnostics, Lack& lack);

/// Reports what a verifier says of a schedule, of registers or routes: our error, and not the user's.
void reportBroken(const equations::Graph& graph, const std::string& broken, DiagnosticEngine& diagnostics);

} // namespace strata::array

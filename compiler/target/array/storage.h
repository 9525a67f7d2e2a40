// What holds the values between cells: a register within an iteration, a FIFO to a later iteration of the same element,
// a channel to a neighbour's, ports for inputs and outputs. From them, and the units that have the operations, comes
// the scheduling problem.
//
// Source: register classes, "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", sections 5.1 to 5.3.
#pragma once

#include "base/machine/machine.h"
#include "base/source/diagnostic.h"
#include "compiler/target/array/network.h"
#include "compiler/target/array/schedule.h"

#include <functional>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace strata::array {

/// Of a variable's instances, for users at one distance.
struct Storage {
  enum class Kind {
    Register, // rd, or a flag: all users in the same iteration
    Queue,    // fd, and channels to the neighbours among which the distance leads: one cell
  };
  Kind kind = Kind::Register;
  uint32_t variable = 0;
  std::vector<int64_t> distance;
  std::vector<uint32_t> readers, writers; // cells
  isl::set read;                          // iterations of the readers
  /// Into which neighbouring tile the distance leads, by loop; without the tile itself.
  std::vector<std::vector<int64_t>> crossings;
};

/// An element of an input that a cell reads.
struct InputPort {
  uint32_t cell = 0, input = 0;
  std::vector<equations::Affine> index;
  isl::set domain;
};

struct OutputPort {
  uint32_t variable = 0, write = 0; // of the variable's writes
};

struct Storages {
  std::vector<Storage> storages;
  std::vector<InputPort> inputs;
  std::vector<OutputPort> outputs;
  /// What may share FIFOs and channels, or a register and a bank, as far as that does not depend on the schedule:
  /// queues for one distance, ports for one element of one array, each group without two that are used in the same
  /// iteration. Every queue and port is in one group.
  std::vector<std::vector<size_t>> queueGroups, inputGroups, outputGroups;

  /// The storage from which a cell takes an instance; always found. The input port likewise.
  const Storage& of(const Network& network, uint32_t cell, const equations::Use& use) const;
  size_t inputOf(uint32_t cell, const equations::InputUse& use) const;
};

/// `distributed`: the loops of rows and columns.
Storages storagesOf(const Network& network, const std::vector<uint32_t>& distributed);

/// How many iterations at least lie between an instance and its use at a distance, both in one tile. REQUIRES: the
/// distance is 0 or points to later iterations.
int64_t leastIterations(const std::vector<int64_t>& distance, const std::vector<int64_t>& leastTiles);

/// Which of the groups are scheduled such that all their members share; an interval may be longer for it. Others share
/// where it happens that they can.
struct Sharing {
  bool queues = false, inputs = false, outputs = false;
};

/// `keepsRegisters`: values in registers have to be read before the next iteration's come; false asks for the bound
/// without this. Nothing where no unit has an operation (reported).
std::optional<ScheduleProblem> problemOf(const Network& network, const Storages& storages,
                                         const machine::ProcessorArray& array, const std::vector<int64_t>& leastTiles,
                                         bool keepsRegisters, const Sharing& sharing, DiagnosticEngine& diagnostics);

/// How many cycles later a use may get its value before a recurrence takes longer than `interval`: by the use, the
/// largest number where it is in none. Uses by cells that the network gets later are in none. REQUIRES: the problem is
/// the network's, and has a schedule with this interval.
std::function<int64_t(const Reading&)> slackOf(const Network& network, const std::vector<int64_t>& leastTiles,
                                               const ScheduleProblem& problem, int64_t interval);

/// Uses within an iteration that last an interval or longer in every schedule with this interval.
std::set<std::pair<uint32_t, uint32_t>> longUses(const Storages& storages, const ScheduleProblem& problem,
                                                 int64_t interval);

} // namespace strata::array

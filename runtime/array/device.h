// A processor array with several programs at once: regions and controllers that are taken, a clock, runs that have been
// started. The semantics of include/strata_array.h, which hands them out in C; it says what time means and what is
// simplified. One thread at a time.
#pragma once

#include "runtime/array/placement.h"
#include "runtime/array/simulate.h"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::array {

class Device {
public:
  using Placement = uint64_t; // never used twice

  explicit Device(machine::ProcessorArray array, std::string machine)
      : array_(std::move(array)), machine_(std::move(machine)) {}
  /// From a machine file: its path, or its text if there is a line break in it.
  static std::variant<Device, DeviceError> open(std::string_view machineFile);

  const machine::ProcessorArray& array() const { return array_; }
  int64_t clock() const { return clock_; }
  /// 0 <= cycles, and the clock stays below 2^62; else an error of kind Argument.
  std::optional<DeviceError> advance(int64_t cycles);

  /// Reads a symbolic configuration and checks that it fits the array.
  std::variant<Symbolic, DeviceError> load(std::string_view bytes) const;
  /// REQUIRES: load() of this device gave the program.
  std::variant<Placement, DeviceError> place(const Symbolic& program, const PlacementRequest& request);
  /// The same at the first free place that serves, row after row; the request's own place does not count.
  std::variant<Placement, DeviceError> placeFirst(const Symbolic& program, const PlacementRequest& request);
  /// REQUIRES (of all below): the placement has been made here, and it has not been released.
  const Configuration& configuration(Placement placement) const { return placed_.at(placement).at.configuration; }
  /// Where it is.
  const PlacementRequest& request(Placement placement) const { return placed_.at(placement).at.request; }
  /// Of the last run that was waited for.
  const SimulationStatistics& statistics(Placement placement) const { return placed_.at(placement).statistics; }
  /// Bytes of an array of the program; nothing where there is none of that name.
  std::optional<uint64_t> bytesOf(Placement placement, std::string_view name) const;
  std::optional<DeviceError> bind(Placement placement, std::string_view name, void* memory, size_t bytes);
  std::optional<DeviceError> start(Placement placement);
  /// The cycles of the run. Simulates it; the clock moves on an error too.
  std::variant<int64_t, DeviceError> wait(Placement placement);
  void release(Placement placement) { placed_.erase(placement); }
  /// Whether there is such a placement, not released; for any number.
  bool holds(Placement placement) const { return placed_.contains(placement); }

private:
  struct Memory {
    std::byte* first = nullptr;
    uint64_t bytes = 0;
    bool isBound = false;
  };
  struct Placed {
    PlacedProgram at;
    std::vector<Memory> inputs, outputs; // in the configuration's order
    std::optional<int64_t> started;      // the clock, while it runs
    SimulationStatistics statistics;
  };
  std::optional<DeviceError> checkFree(const PlacementRequest& request) const;
  std::optional<DeviceError> checkController(const PlacementRequest& request) const;
  std::variant<Placement, DeviceError> keep(std::variant<PlacedProgram, DeviceError> made);
  std::optional<DeviceError> checkShared(const Placed& placed) const;

  machine::ProcessorArray array_;
  std::string machine_; // its name
  int64_t clock_ = 0;
  Placement next_ = 1;
  std::map<Placement, Placed> placed_;
};

} // namespace strata::array

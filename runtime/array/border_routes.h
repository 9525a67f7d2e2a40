// Ways from registers of any element to a border, over ports that nothing else takes: for what is read or written
// inside of the region.
//
// Source: "Symbolic Loop Compilation for Tightly Coupled Processor Arrays", section 6.4, which leaves the way open.
// Here it is a shortest one (breadth first), one access after the other.
#pragma once

#include "runtime/array/periphery.h"

namespace strata::array {

class BorderRoutes {
public:
  /// `everywhere` are the connections that each wrapper has already. REQUIRES: the array lives as long as this.
  BorderRoutes(const machine::ProcessorArray& array, int64_t rows, int64_t columns,
               std::span<const Connection> everywhere);

  /// Takes a border port, which then is not given to another.
  void take(const BorderPort& port);
  /// A way between an input or output register of an element and a border; its connections go to `connections`. Nothing
  /// where there is none.
  std::optional<BorderPort> connect(Place place, Register reg, std::vector<Connection>& connections);
  /// Banks that a port reaches: those that are free, and all.
  std::pair<uint64_t, uint64_t> freeBanks() const;

private:
  struct Step {
    size_t before = 0;
    Place place;
    machine::Port port;    // that the value comes to (or from): of the element, or of a wrapper's side
    machine::Port through; // by which it came from the step before
  };
  /// Ports have numbers by side, of sources and sinks apart.
  size_t number(bool isSource, machine::Port port) const;
  bool isInside(Place place) const {
    return place.row >= 0 && place.row < rows_ && place.column >= 0 && place.column < columns_;
  }
  size_t at(Place place, bool isSource, machine::Port port) const {
    return static_cast<size_t>(place.row * columns_ + place.column) * ports_[isSource ? 1 : 0] + number(isSource, port);
  }
  bool hasBank(machine::Side side, Place place, uint32_t index) const;

  const machine::ProcessorArray& array_;
  int64_t rows_, columns_;
  size_t first_[2][5];                                // numbers of sinks and sources by side
  size_t ports_[2];                                   // how many of each
  std::vector<std::vector<machine::Port>> others_[2]; // by sink, the sources of sides; by source, the sinks
  std::vector<bool> taken_[2];                        // sinks and sources of all elements
  std::vector<uint32_t> seen_[2];
  uint32_t round_ = 0;
  std::map<std::pair<machine::Side, std::pair<uint32_t, uint32_t>>, bool> banks_; // that are taken
};

} // namespace strata::array

// What moves take on a machine: for two memories, the cycles until the first byte has come, how many bytes come in one
// cycle, and what of the machine is busy with them. Cycles are those of the reference clock. Used by one thread; the
// machine outlives it.
//
// What a machine does not state takes no time: a memory without latency, a link without bandwidth.
#pragma once

#include "base/machine/connections.h"

#include <map>
#include <string>
#include <vector>

namespace strata::cost {

/// A class of memories or links, which can be busy with transfers.
struct Resource {
  std::string name;
  uint64_t count = 1; ///< instances, each with a transfer at a time
};

struct Route {
  double latency = 0;       ///< until the first byte has come
  double cyclesPerByte = 0; ///< of the slowest on the way
  uint64_t width = 1;       ///< rows of a block take whole accesses of so many bytes
  /// Resources, by number, and the cycles that each is busy with a byte.
  std::vector<std::pair<size_t, double>> busy;
};

class Routes {
public:
  explicit Routes(const Machine& machine);

  /// Memories first, then links, as the machine has them.
  const std::vector<Resource>& resources() const { return resources_; }
  /// REQUIRES: memories of the machine. A virtual memory is reached over the slowest of the links that its instances
  /// stand at, for its elements lie with others.
  const Route& between(machine::MemoryId from, machine::MemoryId to);

private:
  Route make(machine::MemoryId from, machine::MemoryId to) const;
  void pass(Route& route, size_t resource, uint64_t latency, const machine::Bandwidth& bandwidth, double times) const;

  const Machine& machine_;
  const machine::Connections connections_;
  std::vector<Resource> resources_;
  std::map<std::pair<uint32_t, uint32_t>, Route> routes_;
};

} // namespace strata::cost

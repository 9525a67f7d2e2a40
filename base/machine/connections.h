// Which processors reach which memories and FIFOs over the links of a machine, computed once. Refers to the machine,
// which must outlive it and not change. Skips ends that name nothing.
#pragma once

#include "base/machine/machine.h"

namespace strata::machine {

class Connections {
public:
  explicit Connections(const Machine& machine);
  bool reaches(ProcessorId processor, MemoryId memory) const;
  bool reaches(ProcessorId processor, FifoId fifo) const;
  /// Whether it is among the writers, or the readers, of a FIFO; or is joined to it by links and among neither.
  bool writes(ProcessorId processor, FifoId fifo) const;
  bool reads(ProcessorId processor, FifoId fifo) const;
  /// Whether links alone join the two, whichever way the data flows.
  bool linked(const LinkEnd& a, const LinkEnd& b) const;
  /// The links that data pass through on a way from one memory to another, in this order: as few as possible, and among
  /// ways of equally many the first in the order of the machine's links. Between a processor and its own memories data
  /// need none. They go through processors only where they have to. Of a virtual memory its first instance counts.
  /// Empty where none are needed, and where there is no way.
  std::vector<LinkId> route(MemoryId from, MemoryId to) const;

private:
  /// The ends that data reach next from one.
  std::vector<LinkEnd> neighbours(const LinkEnd& end) const;

  const Machine& machine_;
  std::map<LinkEnd, std::vector<uint32_t>> networks_; // the networks of joined links that an end stands at, sorted
};

} // namespace strata::machine

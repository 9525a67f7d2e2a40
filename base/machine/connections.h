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

private:
  const Machine& machine_;
  std::map<LinkEnd, std::vector<uint32_t>> networks_; // the networks of joined links that an end stands at, sorted
};

} // namespace strata::machine

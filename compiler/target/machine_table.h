// A machine as the runtime knows it (runtime/abi.h): for code that runs in this process, and for the C text of an
// object.
#pragma once

#include "base/machine/machine.h"
#include "runtime/abi.h"

#include <string>
#include <vector>

namespace strata::target {

/// The tables of the runtime for a machine. Lives as long as the process once code has run on it.
class MachineTable {
public:
  explicit MachineTable(const Machine& machine);
  MachineTable(const MachineTable&) = delete; // the tables point into each other
  MachineTable& operator=(const MachineTable&) = delete;
  const StrataMachine* get() const { return &table_; }

private:
  std::vector<std::string> names_;
  std::vector<StrataMemory> memories_;
  std::vector<StrataProcessor> processors_;
  std::vector<StrataFifo> fifos_;
  std::vector<StrataLink> links_;
  StrataMachine table_;
};

} // namespace strata::target

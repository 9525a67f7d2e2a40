// A concrete configuration as text for people, and how large it is. Pure functions; any thread.
#pragma once

#include "runtime/array/configuration.h"

#include <string>

namespace strata::array {

/// Extents, starts, programs by class and unit (a line for each instruction, and one for each block: in which
/// iterations it is executed, and after which of them what is next), control signals, connections (by element) and
/// banks: what figures 5 to 8 of "Symbolic Loop Compilation for Tightly Coupled Processor Arrays" show of its running
/// example.
std::string print(const Configuration& configuration, const machine::ProcessorArray& array);

/// Bytes of everything that is loaded into the region. Programs are loaded into every element. An instruction has two
/// bytes for operation and types, one for each destination that the array allows, one for each of three sources, an
/// immediate of a register's width, one byte for the kind and the signals of its branch and two for each target; a
/// connection two; a FIFO's depth two; an element's start four; a range of iterations eight; a bank four for its base,
/// its start and each stride. REQUIRES: the regions' classes exist.
uint64_t configurationBytes(const Configuration& configuration, const machine::ProcessorArray& array);

} // namespace strata::array

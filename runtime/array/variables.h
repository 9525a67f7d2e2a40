// Whose values are meant, in the words of the loop program: for errors of instantiation. Names of copies that mapping
// made ("v.late") count as those of what they are copies of. Pure functions; any thread.
#pragma once

#include "runtime/array/symbolic.h"

#include <string>
#include <vector>

namespace strata::array {

/// What instructions write to a FIFO: to a feedback register, or to the channel that leads to an input register.
std::vector<std::string> variablesOf(const Symbolic& symbolic, Register reg);
/// What is handed on at an arrival's distance to where it leads.
std::vector<std::string> variablesOf(const Symbolic& symbolic, const Arrival& arrival);
/// Adds what the instruction computes, if it is not there.
void addVariable(std::vector<std::string>& names, const SymbolicInstruction& instruction);

/// "'u', 'v' and 3 more"; empty for none.
std::string formatNames(const std::vector<std::string>& names);
/// formatNames() after a word: " of 'u'"; empty for none.
std::string formatNames(const char* word, const std::vector<std::string>& names);

} // namespace strata::array

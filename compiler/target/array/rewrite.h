// Rewriting a network until an element's registers can carry it: operations that the array lacks by others, copies that
// need no instruction, inputs that are handed on from element to element, values with more users than an instruction
// has destinations. Each pass takes a network and changes it; what it computes stays the same in every bit.
//
// Source: localisation of inputs, Teich and Thiele 1991; register classes, "Symbolic Loop Compilation for Tightly
// Coupled Processor Arrays", section 5.3.
#pragma once

#include "base/machine/machine.h"
#include "compiler/target/array/network.h"

#include <cstdint>
#include <functional>
#include <set>
#include <utility>
#include <vector>

namespace strata::array {

/// Minimum, maximum, absolute value, negation, complement by operations that the array has.
void replaceOperations(Network& network, const machine::ProcessorArray& array);

/// What is computed of constants alone is a constant.
void foldConstants(Network& network);

/// Instances that nobody uses are not computed.
void trim(Network& network);

/// Users of a copy read what it copies, where that takes no more registers.
void forwardCopies(Network& network);

/// Inputs whose elements do not depend on a distributed loop are read at its first iterations and handed on along it.
/// Only for two distributed loops: of one row or column of elements each has a border of its own.
void passInputs(Network& network, const std::vector<LoopRange>& ranges, const std::vector<uint32_t>& distributed);

/// How many cycles later a use may get its value before iterations begin less often; the largest number for any time.
using Slack = std::function<int64_t(const Reading&)>;

/// Users of one variable at one distance.
using UseGroup = std::pair<uint32_t, std::vector<int64_t>>;

/// No instance is written to more registers than `limit`: users of one instance at one distance share a copy, but for
/// the groups in `apart`, and copies take over what is too much, of the uses with the most slack. Gives the groups that
/// share a copy.
std::vector<UseGroup> limitDestinations(Network& network, uint64_t limit, const Slack& slack,
                                        const std::set<UseGroup>& apart = {});

} // namespace strata::array

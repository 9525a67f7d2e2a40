// Pictures of a program and of its mapping, as SVG: which task variant may call which, and where the instances of a
// mapping run and keep their data. Made from checked programs and resolved mappings; pure functions.
#pragma once

#include "base/picture/html.h"
#include "compiler/sequoia/resolve/sizes.h"

#include <string>
#include <vector>

namespace strata::sequoia {

/// The variants of every task, with an arrow from each call to every variant that it may become.
std::string drawTasks(const Program& program, const std::string& title);

/// A row for each level of the machine and a column for each instance: arrays at the level of their memory, loops and
/// calls at the level whose processor executes them, and how full each memory can get.
std::string drawInstances(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                          const std::string& title);

/// The same in parts, where the whole is too large to be looked at: groups of tasks by who calls them and by their
/// names, of instances by who calls them, by task and by level. Empty: the drawing can be looked at.
std::vector<picture::Sheet> taskSheets(const Program& program, const std::string& title);
std::vector<picture::Sheet> instanceSheets(const InstanceGraph& graph, const Machine& machine,
                                           const std::vector<InstanceSizes>& sizes, const std::string& title);

} // namespace strata::sequoia

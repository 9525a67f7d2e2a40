// Makes a mapping for a program that came without one: instances and levels by the shape of the machine, tunables by
// what fits. The result depends on the program, the machine and the known sizes only, never on the number of cores of
// this computer.
#pragma once

#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/sizes.h"

#include <optional>

namespace strata::sequoia {

/// `anySizes`: the known sizes are what is usual, and calls may have others. `entry` names tasks; none: the program's
/// only task that no other task calls, or every such task. Nothing when there are errors.
std::optional<Mapping> defaultMapping(const Program& program, const Machine& machine, const AskedEntry& entry,
                                      const KnownSizes& known, DiagnosticEngine& diagnostics, unsigned halvings = 0,
                                      bool anySizes = false);

/// The tasks that a program is entered by, those asked for or, where none is, what no other task calls. Empty (with a
/// message) when that is not clear.
std::vector<const Task*> entryTasks(const Program& program, const AskedEntry& entry, DiagnosticEngine& diagnostics);
/// The same where there is one. Null (with a message) when that is not clear.
const Task* entryTask(const Program& program, const AskedEntry& entry, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia

// Makes a mapping for a program that came without one: instances and levels by the shape of the machine, tunables by
// what fits. The result depends on the program, the machine and the known sizes only, never on the number of cores of
// this computer.
#pragma once

#include "compiler/sequoia/mapping.h"
#include "compiler/sequoia/sizes.h"

#include <optional>

namespace strata::sequoia {

/// `entry` is the name of a task; empty: the program's only task that no other task calls. Nothing when there are
/// errors.
std::optional<Mapping> defaultMapping(const Program& program, const Machine& machine, const AskedEntry& entry,
                                      const KnownSizes& known, DiagnosticEngine& diagnostics, unsigned halvings = 0);

/// The task that a program is run by when none is named. Null (with a message) when that is not clear.
const Task* entryTask(const Program& program, const AskedEntry& entry, DiagnosticEngine& diagnostics);

} // namespace strata::sequoia

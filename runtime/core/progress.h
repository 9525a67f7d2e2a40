// One line on the terminal that says what a long piece of work is doing and since when. It appears after two seconds,
// is rewritten in place, and goes before anything else is written. Nothing is ever shown where standard error is no
// terminal. tell() and clear() may be called from any thread; there is one line in a process.
#pragma once

#include <string>

namespace strata::runtime {

/// Says what is being done from now on, as "optimising code"; empty: nothing that takes long. The first call starts a
/// thread where there is a terminal.
void tellProgress(const std::string& what);

/// Whether the line is shown at all. For callers that tell often, and save making the text where it is not.
bool showsProgress();

/// Takes the line off the terminal until the next time it is due. For callers that are about to write.
void clearProgress();

/// Whether standard error is a terminal that can rewrite a line and show colours, as TERM says.
bool isCapableTerminal();

} // namespace strata::runtime

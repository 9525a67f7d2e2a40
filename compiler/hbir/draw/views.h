// A checked program as a drawing. Pure function; safe from any thread.
#pragma once

#include "compiler/hbir/program/program.h"

#include <string>

namespace strata::hbir {

/// One SVG that opens by itself in a browser: the tiles with the groups that have them, and for every array where its
/// pieces lie. Large targets are drawn with many tiles to a cell, so that the drawing has at most a few thousand
/// shapes. REQUIRES: checkGroups and checkLayouts found nothing wrong.
std::string drawProgram(const Program& program);

} // namespace strata::hbir

// Prints a checked program as indented text: every size and conversion as the checker found it. Pure; any thread.
#pragma once

#include "compiler/hbir/program/program.h"

namespace strata::hbir {

std::string printAst(const Program& program);
std::string printExpression(const Expression* expression);

} // namespace strata::hbir

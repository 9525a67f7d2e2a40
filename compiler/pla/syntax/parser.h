// Parses the tokens of a loop program into a SyntaxTree. The grammar, with [] for what may be left out and … for more
// of the same:
//
//   program    = item…
//   item       = "program" NAME ";"
//              | "parameter" NAME ["," …] [">=" NUMBER] ["," …] ";"
//              | "assume" condition ";"
//              | ("input" | "output" | "variable") NAME ["," …] ":" type ["," NAME … ":" type] ";"
//              | "for" NAME ["," …] "where" condition "{" equation… "}"
//   type       = NAME ["[" expression ["," …] "]"]
//   equation   = NAME ["[" expression ["," …] "]"] "=" expression ["if" condition] ";"
//
// Expressions and conditions are C's, with `and`, `or`, `not` and `mod`, comparisons in a row (0 <= i < N), indices in
// one pair of brackets, and reductions: sum[k](a[i, k]*b[k, j]).
//
// After an error it goes on at the next item or equation, so that one run reports several. Used by one thread.
#pragma once

#include "compiler/pla/syntax/ast.h"
#include "compiler/pla/syntax/lexer.h"

namespace strata::pla {

/// Errors are in `diagnostics`; what could be parsed is in the tree all the same.
void parse(const std::vector<Token>& tokens, SyntaxTree& tree, DiagnosticEngine& diagnostics);

/// Whether a word is one of the language's own, which no name can be.
bool isReserved(std::string_view word);

} // namespace strata::pla

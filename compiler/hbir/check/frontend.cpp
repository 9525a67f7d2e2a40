// The phases of the HBIR front end, in order.
#include "compiler/hbir/check/frontend.h"

#include "compiler/hbir/check/checker.h"
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/layout.h"
#include "compiler/hbir/syntax/lexer.h"
#include "compiler/hbir/syntax/parser.h"

namespace strata::hbir {

std::unique_ptr<Program> readProgram(BufferId file, DiagnosticEngine& diagnostics, const ReadOptions& options,
                                     const Mapping* mapping) {
  unsigned errorsBefore = diagnostics.errorCount();
  auto failed = [&] { return diagnostics.errorCount() != errorsBefore; };
  SyntaxTree tree;
  tree.file = file;
  std::vector<Token> tokens = tokenize(file, diagnostics);
  // A program with wrong tokens is not parsed, and one that does not parse is not checked: what is missing would be
  // reported as the user's mistake.
  if (failed())
    return nullptr;
  parse(tokens, tree, diagnostics);
  if (failed())
    return nullptr;
  auto program = std::make_unique<Program>();
  Checker(tree, *program, diagnostics, options, mapping).run();
  // The rules of tiles and memories are about numbers that are only there when everything else is right.
  if (failed() || !checkGroups(*program, diagnostics) || !checkLayouts(*program, diagnostics) || failed())
    return nullptr;
  return program;
}

} // namespace strata::hbir

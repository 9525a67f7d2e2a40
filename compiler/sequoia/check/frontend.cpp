// The phases of the Sequoia front end, in order.
#include "compiler/sequoia/check/frontend.h"

#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/suspects.h"
#include "compiler/sequoia/syntax/lexer.h"
#include "compiler/sequoia/syntax/parser.h"

namespace strata::sequoia {

std::unique_ptr<Program> readProgram(BufferId file, DiagnosticEngine& diagnostics, const PreprocessOptions& options) {
  unsigned errorsBefore = diagnostics.errorCount();
  Preprocessed preprocessed = preprocess(file, diagnostics, options);
  if (!preprocessed.ok)
    return nullptr;
  auto program = std::make_unique<Program>();
  program->file = file;
  std::string_view text = program->keepText(std::move(preprocessed.text));
  std::vector<Token> tokens = tokenize(text, preprocessed.map, diagnostics);
  parse(tokens, *program, diagnostics);
  // A program that does not parse is not checked: what is missing from the tree would be reported as the user's
  // mistake.
  if (diagnostics.errorCount() != errorsBefore)
    return nullptr;
  check(*program, diagnostics);
  if (diagnostics.errorCount() != errorsBefore)
    return nullptr;
  warnOfSuspects(*program, diagnostics);
  return diagnostics.errorCount() == errorsBefore ? std::move(program) : nullptr;
}

} // namespace strata::sequoia

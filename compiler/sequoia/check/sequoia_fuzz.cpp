// libFuzzer target: any text as a Sequoia program. The preprocessor is not started; what needs it is read as it stands.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/syntax/lexer.h"
#include "compiler/sequoia/syntax/parser.h"
#include "compiler/sequoia/syntax/print_ast.h"

#include <cstddef>

using namespace strata;
using namespace strata::sequoia;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diagnostics(sources);
  BufferId file = sources.add("fuzz.sq", std::string(reinterpret_cast<const char*>(data), size), SourceKind::Program);
  Program program;
  program.file = file;
  std::vector<Token> tokens = tokenize(sources.buffer(file).text(), LineMap::identity(file), diagnostics);
  parse(tokens, program, diagnostics);
  if (!diagnostics.hasErrors())
    check(program, diagnostics);
  if (!diagnostics.hasErrors())
    printAst(program);
  diagnostics.render({});
  return 0;
}

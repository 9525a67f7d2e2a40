// LLVM's own parser of assembly reads it. That parser takes one step down its stack for each bracket, so that they are
// counted first.
#include "compiler/ir/llvm_source.h"

#include "compiler/ir/verify_logical.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace strata::svm {
namespace {

/// Levels of types, constants and metadata in each other. Clang's code has a few.
constexpr size_t maximumLlvmBrackets = 4 * maximumNesting;

/// What LLVM says beside the parser's own message, of old debug information for one, is nobody's here.
struct Silence : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

bool nestsTooDeeply(llvm::StringRef text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"')
      at = std::min(text.find('"', at + 1), text.size());
    else if (c == ';')
      at = std::min(text.find('\n', at), text.size());
    else if (llvm::StringRef("([{<").contains(c) && ++depth > maximumLlvmBrackets)
      return true;
    else if (llvm::StringRef(")]}>").contains(c) && depth > 0)
      --depth;
  }
  return false;
}

} // namespace

std::unique_ptr<llvm::Module> readLlvmSource(LLVMSourceOp source, llvm::LLVMContext& context, std::string& problem) {
  problem.clear();
  if (nestsTooDeeply(source.getText())) {
    problem = "its brackets are nested more than " + std::to_string(maximumLlvmBrackets) + " deep";
    return nullptr;
  }
  auto before = context.getDiagnosticHandler();
  context.setDiagnosticHandler(std::make_unique<Silence>());
  auto restore = llvm::make_scope_exit([&] { context.setDiagnosticHandler(std::move(before)); });
  // The parser wants a zero behind the text, which a copy has.
  const auto buffer = llvm::MemoryBuffer::getMemBufferCopy(source.getText(), source.getSymName());
  llvm::SMDiagnostic said;
  std::unique_ptr<llvm::Module> module = llvm::parseAssembly(*buffer, said, context);
  if (!module) {
    if (said.getLineNo() > 0)
      problem =
          "line " + std::to_string(said.getLineNo()) + ", column " + std::to_string(said.getColumnNo() + 1) + ": ";
    problem += said.getMessage();
    return nullptr;
  }
  llvm::raw_string_ostream stream(problem);
  if (!llvm::verifyModule(*module, &stream)) {
    problem.clear();
    return module;
  }
  problem = llvm::StringRef(problem).trim().str();
  return nullptr;
}

} // namespace strata::svm

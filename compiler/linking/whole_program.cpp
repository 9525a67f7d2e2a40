// LLVM's reader, verifier and linker; what they say becomes a message of ours.
#include "compiler/linking/whole_program.h"

#include "compiler/linking/carried_modules.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/raw_ostream.h"

namespace strata::linking {

STRATA_DIAGNOSTIC(unreadableIr, Error, "link-unreadable-ir",
                  "the code that '{0}' carries for its link cannot be read: {1}");
STRATA_DIAGNOSTIC(irDoesNotLink, Error, "link-ir-differs",
                  "the code of '{0}' does not go with that of the other files: {1}");

/// Keeps what LLVM says; without it LLVM prints and ends the process.
struct Collector : llvm::DiagnosticHandler {
  explicit Collector(std::string& text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    llvm::raw_string_ostream stream(text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    if (info.getSeverity() == llvm::DS_Error)
      info.print(printer);
    return true;
  }
  std::string& text;
};

WholeProgram::WholeProgram() {
  context_.setDiagnosticHandler(std::make_unique<Collector>(said_));
}

std::unique_ptr<llvm::Module> WholeProgram::read(const std::vector<std::string>& files, uint32_t flags,
                                                 DiagnosticEngine& diagnostics) {
  const unsigned before = diagnostics.errorCount();
  std::unique_ptr<llvm::Module> whole;
  for (const std::string& file : files)
    for (const CarriedModule& carried : carriedModules(file, diagnostics))
      if (carried.flags & flags) {
        auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(carried.code, carried.file), context_);
        std::string problem = module ? "" : llvm::toString(module.takeError());
        llvm::raw_string_ostream stream(problem);
        if (!problem.empty() || llvm::verifyModule(**module, &stream)) {
          diagnostics.report(unreadableIr, {}, carried.file, problem).help("compile its source again");
          continue;
        }
        if (!whole)
          whole = std::move(*module);
        else if (llvm::Linker::linkModules(*whole, std::move(*module)))
          diagnostics.report(irDoesNotLink, {}, carried.file, said_);
      }
  return diagnostics.errorCount() == before ? std::move(whole) : nullptr;
}

} // namespace strata::linking

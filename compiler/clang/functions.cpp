// The C text around a user's file. Prototypes before it make a wrong signature an error in the user's own line;
// wrappers behind it give the functions the names under which the program calls them.
#include "compiler/clang/functions.h"

#include "compiler/clang/c_text.h"
#include "compiler/clang/clang.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace strata::clang {

STRATA_DIAGNOSTIC(cannotReadFunctions, Error, "clang-function-file", "cannot read '{0}': {1}");
STRATA_DIAGNOSTIC(missingDefinition, Error, "clang-function-missing", "no C file defines function '{0}'");
STRATA_DIAGNOSTIC(definedTwice, Error, "clang-function-twice", "function '{0}' is defined in '{1}' and in '{2}'");
STRATA_DIAGNOSTIC(functionName, Error, "clang-function-name", "'{0}' cannot be the name of a function in C");

namespace {

const char* const prefix = "external.";

std::string parameterTypes(const ScalarFunction& function) {
  std::string text;
  for (const std::string& type : function.parameters)
    text += (text.empty() ? "" : ", ") + type;
  return text.empty() ? "void" : text;
}

std::string resultType(const ScalarFunction& function) {
  return function.result.empty() ? "void" : function.result;
}

std::string wrapper(const ScalarFunction& function, const std::string& linkage) {
  std::string formal, actual;
  for (size_t position = 0; position < function.parameters.size(); ++position) {
    std::string name = "p" + std::to_string(position);
    formal += (position ? ", " : "") + function.parameters[position] + " " + name;
    actual += (position ? ", " : "") + name;
  }
  std::string head =
      resultType(function) + " strata_function_" + function.name + "(" + (formal.empty() ? "void" : formal) + ")";
  return linkage + head + " __asm__(\"" + prefix + function.name + "\");\n" + head + " { " +
         (function.result.empty() ? "" : "return ") + function.name + "(" + actual + "); }\n";
}

/// Clang's text without wrappers of functions that other files define.
std::optional<std::string> finish(const std::string& text, const std::string& file,
                                  const std::vector<ScalarFunction>& functions,
                                  std::map<std::string, std::string>& definedIn, DiagnosticEngine& diagnostics) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, file), problem, context);
  if (!module)
    return std::nullopt;
  bool fine = true;
  for (const ScalarFunction& function : functions) {
    llvm::Function* users = module->getFunction(function.name);
    llvm::Function* wrapping = module->getFunction(prefix + function.name);
    if (!users || users->isDeclaration()) {
      if (wrapping)
        wrapping->eraseFromParent();
      continue;
    }
    auto [other, isNew] = definedIn.try_emplace(function.name, file);
    if (!isNew) {
      diagnostics.report(definedTwice, function.where, function.name, other->second, file);
      fine = false;
    }
  }
  if (!fine)
    return std::nullopt;
  module->setModuleIdentifier(file);
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream, nullptr);
  return result;
}

std::optional<std::string> compileFile(const std::string& file, const std::vector<ScalarFunction>& functions,
                                       std::map<std::string, std::string>& definedIn, const CFlags& flags,
                                       DiagnosticEngine& diagnostics) {
  bool isCxx = isCxxFile(file);
  std::string linkage = isCxx ? "extern \"C\" " : "", prototypes, wrappers, error;
  for (const ScalarFunction& function : functions) {
    prototypes += linkage + resultType(function) + " " + function.name + "(" + parameterTypes(function) + ");\n";
    wrappers += wrapper(function, linkage);
  }
  BufferId buffer = diagnostics.sources().find(file);
  if (!buffer.valid())
    buffer = diagnostics.sources().load(file, SourceKind::Program, error);
  if (!buffer.valid()) {
    diagnostics.report(cannotReadFunctions, {}, file, error);
    return std::nullopt;
  }
  SmallString<256> folder(file);
  if (llvm::sys::fs::make_absolute(folder))
    folder = file; // includes are then found from the current folder only
  Source source;
  source.isCxx = isCxx;
  source.includeFolders.push_back(llvm::sys::path::parent_path(folder).str());
  source.includeFolders.insert(source.includeFolders.end(), flags.includeFolders.begin(), flags.includeFolders.end());
  source.definitions = flags.definitions;
  if (!flags.processor.empty())
    source.processor = flags.processor;
  source.text = (isCxx ? "" : "#include <stdbool.h>\n") + prototypes + lineMarker(file) +
                std::string(diagnostics.sources().buffer(buffer).text()) + lineMarker("<strata>") + wrappers;
  auto text = compileToLlvm(source, diagnostics);
  return text ? finish(*text, file, functions, definedIn, diagnostics) : std::nullopt;
}

} // namespace

bool compileFunctions(ModuleOp module, const std::vector<std::string>& files,
                      const std::vector<ScalarFunction>& functions, DiagnosticEngine& diagnostics,
                      const CFlags& flags) {
  unsigned before = diagnostics.errorCount();
  for (const ScalarFunction& function : functions)
    if (!isIdentifier(function.name))
      diagnostics.report(functionName, function.where, function.name).help("give it another name in both files");
  if (diagnostics.errorCount() != before)
    return false;
  std::map<std::string, std::string> definedIn;
  for (size_t position = 0; position < files.size(); ++position) {
    auto text = compileFile(files[position], functions, definedIn, flags, diagnostics);
    if (!text)
      continue;
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    builder.create<svm::LLVMSourceOp>(module.getLoc(), "functions_" + std::to_string(position), *text);
  }
  if (diagnostics.errorCount() != before)
    return false;
  for (const ScalarFunction& function : functions) {
    auto declaration = module.lookupSymbol<func::FuncOp>(function.name);
    if (!declaration)
      continue; // nothing calls it
    if (!definedIn.count(function.name)) {
      diagnostics.report(missingDefinition, function.where, function.name)
          .help(files.empty() ? "name the C file that defines it behind the program on the command line"
                              : "define it in one of the C files on the command line");
      continue;
    }
    StringAttr name = StringAttr::get(module.getContext(), prefix + function.name);
    if (succeeded(SymbolTable::replaceAllSymbolUses(declaration, name, module)))
      declaration.setSymNameAttr(name);
  }
  return diagnostics.errorCount() == before;
}

} // namespace strata::clang

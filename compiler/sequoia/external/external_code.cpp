// Checks of LLVM code against tasks. Without the names of types, a function is known by how the machine calls it.
#include "compiler/sequoia/external/external_code.h"

#include "compiler/clang/c_text.h"
#include "compiler/sequoia/external/raise_external.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace strata::sequoia::external {

using namespace clang;

STRATA_DIAGNOSTIC(missingFunction, Error, "clang-external-missing", "'{0}' defines no function '{1}'");
STRATA_DIAGNOSTIC(wrongArguments, Error, "clang-external-arguments",
                  "function '{1}' in '{0}' does not take the arguments of its task");

namespace {

/// Whether a call passes what the function takes, as far as the machine can tell.
bool agrees(const llvm::CallBase& call, const llvm::Function& function) {
  if (call.getFunctionType() != function.getFunctionType())
    return false;
  for (unsigned position = 0; position < function.arg_size(); ++position) {
    llvm::Type *given = call.getParamByValType(position), *taken = function.getParamByValType(position);
    if (!given != !taken)
      return false;
    const llvm::DataLayout& layout = function.getParent()->getDataLayout();
    if (given && layout.getTypeAllocSize(given) != layout.getTypeAllocSize(taken))
      return false;
  }
  return true;
}

bool isCalledRightly(llvm::Module& module, const std::string& instance) {
  const llvm::Function* users = module.getFunction(instance);
  llvm::Function* passing = module.getFunction("strata_pass_" + instance);
  if (!users || !passing)
    return true; // without structs, Clang has compared the function with its prototype
  return llvm::all_of(llvm::instructions(*passing), [&](const llvm::Instruction& instruction) {
    const auto* call = dyn_cast<llvm::CallBase>(&instruction);
    return !call || call->getCalledOperand() != users || agrees(*call, *users);
  });
}

} // namespace

svm::KernelOp kernelOf(ModuleOp program, const std::string& instance) {
  for (auto kernel : program.getOps<svm::KernelOp>())
    if (kernel.getLlvm() && kernel.getLlvm()->getLeafReference().getValue() == "strata.ext." + instance)
      return kernel;
  return {};
}

std::optional<std::string> finishExternals(ModuleOp program, const std::string& text, const std::string& file,
                                           const std::vector<ExternalCode>& tasks, DiagnosticEngine& diagnostics) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, file), problem, context);
  if (!module)
    return std::nullopt;
  for (const ExternalCode& code : tasks) {
    const ExternalTask& task = *code.task;
    llvm::Function* users = module->getFunction(task.instance);
    if (users && users->isDeclaration()) {
      auto report = diagnostics.report(missingFunction, task.where, file, task.instance);
      report.help("the function has the name of the instance: " + code.declaration);
      if (isCxxFile(file))
        report.help("in C++ it is extern \"C\"");
      return std::nullopt;
    }
    if (!isCalledRightly(*module, task.instance)) {
      diagnostics.report(wrongArguments, task.where, file, task.instance).help("it is " + code.declaration);
      return std::nullopt;
    }
    // An entry point has its instance's name, also where that is an external task.
    if (users && SymbolTable::lookupSymbolIn(program, task.instance)) {
      users->setName("strata.user." + task.instance);
      users->setLinkage(llvm::GlobalValue::InternalLinkage);
    }
    // Kernels are not called as Clang promises itself about narrow integers.
    if (llvm::Function* wrapper = module->getFunction("strata.ext." + task.instance))
      for (llvm::Argument& argument : wrapper->args()) {
        argument.removeAttr(llvm::Attribute::SExt);
        argument.removeAttr(llvm::Attribute::ZExt);
      }
  }
  for (const ExternalCode& code : tasks)
    raiseExternal(program, code, *module, diagnostics);
  removeRaisedForms(*module);
  llvm::StripDebugInfo(*module);
  module->setModuleIdentifier(file);
  std::string result;
  llvm::raw_string_ostream stream(result);
  module->print(stream, nullptr);
  return result;
}

} // namespace strata::sequoia::external

// A plugin of Clang that puts a file's LLVM IR into its object file, as it is before any optimisation
// (compiler/clang/carried_ir.h). In files with dataflow graphs, what node functions refer to gets names that code made
// at the link can refer to as well.
#include "compiler/clang/carried_ir.h"
#include "compiler/drop_in/link_options.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/PassPlugin.h"
#include "llvm/Support/MD5.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

#include <cstdlib>
#include <cstring>

namespace {

using namespace strata::clang;

bool isOfGraphs(const llvm::Function& function) {
  return function.isDeclaration() && function.getName().starts_with("__hpvm__");
}

/// All globals that a constant refers to.
void collect(llvm::Value* value, llvm::SetVector<llvm::GlobalValue*>& found) {
  llvm::SmallVector<llvm::Value*> open{value};
  llvm::SmallPtrSet<llvm::Value*, 16> seen;
  while (!open.empty()) {
    llvm::Value* each = open.pop_back_val();
    if (!llvm::isa<llvm::Constant>(each) || !seen.insert(each).second)
      continue;
    if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(each))
      found.insert(global);
    else
      for (llvm::Use& operand : llvm::cast<llvm::User>(each)->operands())
        open.push_back(operand.get());
  }
}

/// The functions that describe nodes and what they refer to, through any number of functions and variables.
llvm::SetVector<llvm::GlobalValue*> reachedByNodes(llvm::Module& module) {
  llvm::SetVector<llvm::GlobalValue*> found;
  for (llvm::Function& graphs : module) {
    if (!isOfGraphs(graphs))
      continue;
    for (llvm::User* user : graphs.users()) {
      auto* call = llvm::dyn_cast<llvm::CallBase>(user);
      if (!call || call->getCalledOperand() != &graphs)
        continue;
      const bool isOfNode = !llvm::is_contained(
          {"__hpvm__launch", "__hpvm__wait", "__hpvm__push", "__hpvm__pop", "__hpvm__init", "__hpvm__cleanup"},
          graphs.getName());
      if (isOfNode)
        found.insert(call->getFunction());
      for (llvm::Use& argument : call->args())
        if (auto* node = llvm::dyn_cast<llvm::Function>(argument.get()->stripPointerCasts()))
          found.insert(node);
    }
  }
  for (size_t at = 0; at < found.size(); ++at) {
    if (auto* function = llvm::dyn_cast<llvm::Function>(found[at])) {
      for (llvm::BasicBlock& block : *function)
        for (llvm::Instruction& instruction : block)
          for (llvm::Use& operand : instruction.operands())
            collect(operand.get(), found);
    } else if (auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(found[at]); variable && variable->hasInitializer())
      collect(variable->getInitializer(), found);
  }
  return found;
}

std::string bitcodeOf(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::WriteBitcodeToFile(module, stream);
  return text;
}

/// Gives internal functions and variables names of the whole program, which libraries do not show. Constants whose
/// address does not matter are copied instead.
void nameForProgram(llvm::Module& module, const llvm::SetVector<llvm::GlobalValue*>& reached) {
  std::string suffix;
  for (llvm::GlobalValue* each : reached) {
    auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(each);
    if (!each->hasLocalLinkage() || each->isDeclaration() ||
        (variable && variable->isConstant() && variable->hasGlobalUnnamedAddr()))
      continue;
    if (suffix.empty()) {
      llvm::MD5 hash;
      hash.update(module.getSourceFileName());
      hash.update(bitcodeOf(module));
      llvm::MD5::MD5Result result;
      hash.final(result);
      suffix = ".strata." + llvm::utohexstr(result.low(), /*LowerCase=*/true);
    }
    each->setName(each->getName() + suffix);
    each->setLinkage(llvm::GlobalValue::ExternalLinkage);
    each->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
}

struct CarryIrPass : llvm::PassInfoMixin<CarryIrPass> {
  static bool isRequired() { return true; }

  llvm::PreservedAnalyses run(llvm::Module& module, llvm::ModuleAnalysisManager&) {
    // Twice where Clang runs the pipeline twice over one module.
    if (llvm::none_of(module, [](const llvm::Function& function) { return !function.isDeclaration(); }) ||
        module.getNamedMetadata("strata.carried"))
      return llvm::PreservedAnalyses::all();
    module.getOrInsertNamedMetadata("strata.carried");
    IrHead head{{}, irVersion, 0, 0};
    std::memcpy(head.mark, irMark, sizeof head.mark);
    if (llvm::any_of(module, isOfGraphs)) {
      head.flags |= describesGraphs;
      nameForProgram(module, reachedByNodes(module));
    }
    if (std::getenv(strata::drop_in::statedVariable))
      for (llvm::Function& function : module)
        if (!function.isDeclaration())
          function.addFnAttr(statesProcessor);
    const std::string code = bitcodeOf(module);
    head.bytes = code.size();
    std::string content(reinterpret_cast<const char*>(&head), sizeof head);
    content += code;
    content.resize((content.size() + 7) / 8 * 8);
    if (const char* lines = std::getenv(strata::drop_in::linesVariable); lines && std::strcmp(lines, "strip") == 0)
      llvm::StripDebugInfo(module);
    llvm::embedBufferInModule(module, llvm::MemoryBufferRef(content, "strata"), irSection, llvm::Align(8));
    return llvm::PreservedAnalyses::none();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK llvm::PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "strata-carry-ir", "1", [](llvm::PassBuilder& builder) {
            builder.registerPipelineStartEPCallback(
                [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(CarryIrPass()); });
          }};
}

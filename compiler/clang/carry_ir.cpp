// A plugin of Clang that puts a file's LLVM IR into its object file, as it is before any optimisation
// (compiler/clang/carried_ir.h). In files with dataflow graphs, what node functions refer to gets names that code made
// at the link can refer to as well; and the code tells the runtime where it calls functions of hpvm.h, for messages.
#include "compiler/clang/carried_ir.h"
#include "compiler/drop_in/link_options.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
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

/// Whether a function of hpvm.h is called by host code, which tells its place in messages; others are called by nodes.
bool isOfHost(llvm::StringRef name) {
  return llvm::is_contained({"__hpvm__launch", "__hpvm__wait", "__hpvm__push", "__hpvm__pop", "__hpvm__init",
                             "__hpvm__cleanup", "llvm_hpvm_track_mem", "llvm_hpvm_untrack_mem",
                             "llvm_hpvm_request_mem"},
                            name);
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
      if (!isOfHost(graphs.getName()))
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

/// Calls strata_hpvm_at (runtime/hpvm/place.h) before each call of hpvm.h, and of a function that describes a node,
/// with the place and the name of the function around it. Where the program is linked without that function, as other
/// libraries of that interface do, nothing is told.
class PlaceTeller {
public:
  explicit PlaceTeller(llvm::Module& module)
      : module_(module), context_(module.getContext()), pointer_(llvm::PointerType::getUnqual(context_)),
        number_(llvm::Type::getInt32Ty(context_)) {}

  void run() {
    llvm::SetVector<llvm::CallBase*> calls;
    llvm::SetVector<llvm::Function*> nodes;
    for (llvm::Function& function : module_) {
      const llvm::StringRef name = function.getName();
      // What nobody is told about (compilers' hints) does not fail.
      if (!function.isDeclaration() || name == "__hpvm__isNonZeroLoop" || !(isOfGraphs(function) || isOfHost(name)))
        continue;
      for (llvm::CallBase* call : callsOf(function)) {
        calls.insert(call);
        if (!isOfHost(name))
          nodes.insert(call->getFunction());
      }
    }
    for (llvm::CallBase* call : calls)
      tell(*call, nullptr);
    for (llvm::Function* node : nodes)
      for (llvm::CallBase* call : callsOf(*node))
        tell(*call, node);
  }

private:
  static llvm::SmallVector<llvm::CallBase*> callsOf(llvm::Function& function) {
    llvm::SmallVector<llvm::CallBase*> calls;
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user); call && call->getCalledOperand() == &function)
        calls.push_back(call);
    return calls;
  }

  static llvm::StringRef nameOf(const llvm::Function& function) {
    const llvm::DISubprogram* at = function.getSubprogram();
    return at && !at->getName().empty() ? at->getName() : function.getName();
  }

  void tell(llvm::CallBase& call, const llvm::Function* node) {
    const llvm::DebugLoc& at = call.getDebugLoc();
    if (!at || at.getLine() == 0)
      return;
    auto* null = llvm::ConstantPointerNull::get(pointer_);
    auto* place = llvm::ConstantStruct::getAnon({text(at->getFilename()), llvm::ConstantInt::get(number_, at.getLine()),
                                                 llvm::ConstantInt::get(number_, at.getCol()),
                                                 text(nameOf(*call.getFunction())), node ? text(nameOf(*node)) : null});
    llvm::CallInst::Create(teller(), {constant(place)}, "", call.getIterator())->setDebugLoc(at);
  }

  llvm::Constant* constant(llvm::Constant* value) {
    auto* made = new llvm::GlobalVariable(module_, value->getType(), /*isConstant=*/true,
                                          llvm::GlobalValue::PrivateLinkage, value, "strata.place");
    made->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return made;
  }

  llvm::Constant* text(llvm::StringRef value) {
    llvm::Constant*& known = texts_[value];
    if (!known)
      known = constant(llvm::ConstantDataArray::getString(context_, value));
    return known;
  }

  /// A function of the file that tells a place, if the program has whom to tell.
  llvm::Function* teller() {
    if (teller_)
      return teller_;
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context_), {pointer_}, false);
    auto* told = llvm::Function::Create(type, llvm::GlobalValue::ExternalWeakLinkage, "strata_hpvm_at", module_);
    told->setDoesNotThrow();
    teller_ = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, "strata.tell", module_);
    teller_->setDoesNotThrow();
    auto* begin = llvm::BasicBlock::Create(context_, "", teller_);
    auto* call = llvm::BasicBlock::Create(context_, "", teller_);
    auto* end = llvm::BasicBlock::Create(context_, "", teller_);
    auto* isThere = new llvm::ICmpInst(begin, llvm::CmpInst::ICMP_NE, told, llvm::ConstantPointerNull::get(pointer_));
    llvm::BranchInst::Create(call, end, isThere, begin);
    llvm::CallInst::Create(told, {teller_->getArg(0)}, "", call);
    llvm::BranchInst::Create(end, call);
    llvm::ReturnInst::Create(context_, end);
    return teller_;
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  llvm::PointerType* pointer_;
  llvm::Type* number_;
  llvm::Function* teller_ = nullptr;
  llvm::StringMap<llvm::Constant*> texts_;
};

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
    PlaceTeller(module).run();
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

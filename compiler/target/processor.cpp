// What a processor has is asked of LLVM's description of it: nothing here lists processors or their features but the
// table of the runtime, which says what can be asked of a computer.
#include "compiler/target/processor.h"

#include "base/machine/core_types.h"
#include "base/source/nearest_name.h"
#include "runtime/core/processor.h"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/TargetLowering.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/X86TargetParser.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

namespace strata::target {

STRATA_DIAGNOSTIC(unknownCpu, Error, "target-unknown-processor", "this version generates no code for processor '{0}'");

namespace {

/// Of a function that is kept apart though it has to be executed: what it needs, its program needs.
constexpr const char* isNeeded = "strata-needs-processor";

const llvm::Target* hostTarget() {
  static const bool isReady = !llvm::InitializeNativeTarget();
  std::string error;
  return isReady ? llvm::TargetRegistry::lookupTarget(llvm::sys::getDefaultTargetTriple(), error) : nullptr;
}

/// Null where LLVM generates no code for this computer.
std::unique_ptr<llvm::MCSubtargetInfo> describe(const Processor& processor) {
  const llvm::Target* target = hostTarget();
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target ? target->createMCSubtargetInfo(llvm::sys::getDefaultTargetTriple(), processor.cpu, processor.features)
             : nullptr);
}

bool isX86() {
  return llvm::Triple(llvm::sys::getDefaultTargetTriple()).getArch() == llvm::Triple::x86_64;
}

bool isName(const std::string& name) {
  if (isX86())
    return llvm::X86::parseArchX86(name, /*Only64Bit=*/true) != llvm::X86::CK_None;
  const auto any = describe({"", "", ""});
  return any && any->isCPUStringValid(name);
}

} // namespace

Processor thisProcessor() {
  std::string cpu = llvm::sys::getHostCPUName().str(), features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    features += (features.empty() ? "" : ",") + std::string(feature.second ? "+" : "-") + feature.first().str();
  return {"native (" + cpu + ")", cpu, features};
}

std::optional<Processor> processorOf(const std::string& name, DiagnosticEngine& diagnostics, Location where) {
  if (name.empty() || name == "native")
    return thisProcessor();
  if (isName(name))
    return Processor{name, name, ""};
  std::vector<std::string> names{"native"};
  if (isX86()) {
    llvm::SmallVector<llvm::StringRef> valid;
    llvm::X86::fillValidCPUArchList(valid, /*Only64Bit=*/true);
    for (llvm::StringRef each : valid)
      names.push_back(each.str());
  }
  auto report = diagnostics.report(unknownCpu, where, name);
  proposeName(report, name, names);
  report.help("there are native, which is this computer's, and those of clang -march=NAME: x86-64, x86-64-v2, "
              "x86-64-v3, x86-64-v4, haswell and the like");
  return std::nullopt;
}

std::optional<Processor> processorOf(const llvm::Function& function) {
  const llvm::Attribute cpu = function.getFnAttribute("target-cpu");
  if (!cpu.isValid() || cpu.getValueAsString().empty())
    return std::nullopt;
  const llvm::Attribute features = function.getFnAttribute("target-features");
  const std::string name = cpu.getValueAsString().str();
  return Processor{name, name, features.isValid() ? features.getValueAsString().str() : ""};
}

Processor common(const Processor& left, const Processor& right) {
  if (left == right)
    return left;
  const auto one = describe(left), other = describe(right);
  if (!one || !other)
    return left;
  Processor both{left.name == right.name ? left.name : "what " + left.name + " and " + right.name + " have both",
                 "generic", ""};
  for (const llvm::SubtargetFeatureKV& feature : one->getEnabledProcessorFeatures())
    if (other->checkFeatures(std::string("+") + feature.Key))
      both.features += (both.features.empty() ? "+" : ",+") + std::string(feature.Key);
  // One that has no more than the other is no third: what it is told to be fast at counts for neither.
  const std::string needed = neededFeatures(both);
  return needed.empty() ? both : needed == neededFeatures(left) ? left : needed == neededFeatures(right) ? right : both;
}

machine::Figures limited(machine::Figures figures, const Processor& processor) {
  const auto has = describe(processor);
  if (!has)
    return figures;
  machine::CoreFeatures features;
  features.isX86 = isX86();
  features.isArm64 = has->getTargetTriple().isAArch64();
  features.avx = features.isX86 && has->checkFeatures("+avx");
  features.avx512 = features.isX86 && has->checkFeatures("+avx512f");
  features.avx512Vbmi2 = features.isX86 && has->checkFeatures("+avx512vbmi2");
  const machine::CoreType& type = machine::coreTypeOf(features);
  figures.vectorBytes = std::min(figures.vectorBytes, type.vector);
  figures.vectorRegisters = std::min(figures.vectorRegisters, type.vectorRegisters);
  return figures;
}

std::string neededFeatures(const Processor& processor) {
  const auto has = describe(processor);
  std::string needed;
  for (const runtime::ProcessorFeature& feature : runtime::processorFeatures())
    if (has && has->checkFeatures(std::string("+") + feature.name))
      needed += (needed.empty() ? "" : ",") + std::string(feature.name);
  return needed;
}

void requireProcessor(llvm::Module& module, const Processor& processor, const std::string& made) {
  std::vector<std::pair<std::string, std::string>> calls{{processor.name, neededFeatures(processor)}};
  for (const llvm::Function& function : module)
    if (function.hasFnAttribute(isNeeded))
      if (const auto own = processorOf(function))
        calls.emplace_back(own->name, neededFeatures(*own));
  std::erase_if(calls, [](const auto& call) { return call.second.empty(); });
  if (calls.empty())
    return;
  llvm::LLVMContext& context = module.getContext();
  auto* function = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                                          llvm::GlobalValue::InternalLinkage, "strata.require_processor", module);
  // What every processor of the architecture executes.
  function->addFnAttr("target-cpu", "generic");
  function->addFnAttr("target-features", "");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "", function));
  auto* text = builder.getPtrTy();
  const llvm::FunctionCallee require =
      module.getOrInsertFunction("strata_require_processor", builder.getVoidTy(), text, text, text);
  llvm::Value* file = builder.CreateGlobalString(made);
  for (const auto& [name, needed] : calls)
    builder.CreateCall(require, {file, builder.CreateGlobalString(name), builder.CreateGlobalString(needed)});
  builder.CreateRetVoid();
  constexpr int beforeAllOthers = 101; // the first that is not the implementation's
  llvm::appendToGlobalCtors(module, function, beforeAllOthers);
}

void setProcessor(llvm::Module& module, llvm::TargetMachine& machine) {
  auto* model = llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), false),
                                       llvm::GlobalValue::InternalLinkage, "strata.processor", module);
  const auto set = [&](llvm::Function& function) {
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.removeFnAttr("tune-cpu");
  };
  set(*model);
  const llvm::TargetTransformInfo costs = machine.getTargetTransformInfo(*model);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || &function == model)
      continue;
    if (!function.hasFnAttribute("target-features") || costs.areInlineCompatible(model, &function)) {
      set(function);
      continue;
    }
    if (function.hasFnAttribute(llvm::Attribute::AlwaysInline))
      function.addFnAttr(isNeeded);
    function.removeFnAttr(llvm::Attribute::AlwaysInline);
    function.addFnAttr(llvm::Attribute::NoInline);
  }
  model->eraseFromParent();
}

void settleMultiplyAdds(llvm::Module& module) {
  const auto fuses = [](const llvm::Function& function) {
    const auto processor =
        function.hasFnAttribute(clang::statesProcessor) ? processorOf(function) : std::optional<Processor>();
    const auto has = processor ? describe(*processor) : nullptr;
    return !has || !has->getTargetTriple().isX86() || has->checkFeatures("+fma") || has->checkFeatures("+fma4");
  };
  for (llvm::Function& function : module) {
    const bool areFused = fuses(function);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!areFused && llvm::isa<llvm::FPMathOperator>(instruction))
        instruction.setHasAllowContract(false);
      auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
      if (!call || call->getIntrinsicID() != llvm::Intrinsic::fmuladd)
        continue;
      llvm::IRBuilder<> builder(call);
      builder.setFastMathFlags(call->getFastMathFlags());
      llvm::Value *left = call->getArgOperand(0), *right = call->getArgOperand(1), *added = call->getArgOperand(2);
      llvm::Value* sum = areFused
                             ? builder.CreateIntrinsic(llvm::Intrinsic::fma, {call->getType()}, {left, right, added})
                             : builder.CreateFAdd(builder.CreateFMul(left, right), added);
      call->replaceAllUsesWith(sum);
      call->eraseFromParent();
    }
  }
}

} // namespace strata::target

// Functions go to the part that has least so far, the largest first. Each part is a module in a context of its own.
#include "compiler/target/host/emit_in_parts.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <algorithm>
#include <map>

namespace strata::host {

/// Instructions for which a thread pays.
static constexpr size_t enough = 1200;

using Division = std::map<const llvm::Function*, unsigned>;

static Division divide(const llvm::Module& module, unsigned parts) {
  std::vector<const llvm::Function*> functions;
  for (const llvm::Function& function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  // Of equal ones the first in the module first.
  std::map<const llvm::Function*, size_t> places;
  for (const llvm::Function* function : functions)
    places.emplace(function, places.size());
  llvm::sort(functions, [&](const llvm::Function* left, const llvm::Function* right) {
    return std::pair(right->getInstructionCount(), places[left]) <
           std::pair(left->getInstructionCount(), places[right]);
  });
  std::vector<size_t> sizes(parts);
  Division division;
  for (const llvm::Function* function : functions) {
    const auto least = std::min_element(sizes.begin(), sizes.end());
    *least += function->getInstructionCount();
    division[function] = static_cast<unsigned>(least - sizes.begin());
  }
  return division;
}

/// So that one part can refer to what another one has. Constants whose address does not matter each part has itself.
static bool isCopied(const llvm::GlobalValue& value) {
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&value);
  return variable && variable->hasLocalLinkage() && variable->isConstant() && variable->hasGlobalUnnamedAddr();
}

static void showLocals(llvm::Module& module) {
  // A linker that takes one part's group of several would leave out what another part has of it.
  for (llvm::GlobalObject& object : module.global_objects())
    object.setComdat(nullptr);
  for (llvm::GlobalValue& value : module.global_values()) {
    if (!value.hasLocalLinkage() || isCopied(value))
      continue;
    value.setName(value.getName() + ".strata");
    value.setLinkage(llvm::GlobalValue::ExternalLinkage);
    value.setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
}

/// One part as bitcode.
static llvm::SmallString<0> partOf(const llvm::Module& module, const Division& division, unsigned number) {
  llvm::ValueToValueMapTy values;
  const auto part = llvm::CloneModule(module, values, [&](const llvm::GlobalValue* value) {
    const auto* function = llvm::dyn_cast<llvm::Function>(value);
    return function ? division.at(function) == number : isCopied(*value) || number == 0;
  });
  for (llvm::GlobalVariable& variable : llvm::make_early_inc_range(part->globals())) {
    const bool isLists = number != 0 && variable.getName().starts_with("llvm."); // such as that of constructors
    variable.removeDeadConstantUsers();
    if (variable.use_empty() && (isLists || variable.hasLocalLinkage()))
      variable.eraseFromParent();
  }
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::WriteBitcodeToFile(*part, stream);
  return bytes;
}

std::optional<std::vector<std::string>> emitInParts(llvm::Module& module, const CodeOptions& options, unsigned most,
                                                    DiagnosticEngine& diagnostics) {
  size_t instructions = 0;
  for (const llvm::Function& function : module)
    instructions += function.getInstructionCount();
  // What sanitizers add to a module belongs together, and so do a function and its other names.
  const bool isOne =
      options.sanitizers.address || options.sanitizers.thread || !module.alias_empty() || !module.ifunc_empty();
  const auto parts = isOne ? 1 : static_cast<unsigned>(std::clamp<size_t>(instructions / enough, 1, most));
  std::vector<std::string> objects(parts);
  if (parts == 1) {
    objects.front() = emit(module, options, /*assembly=*/false, diagnostics);
    return objects.front().empty() ? std::nullopt : std::optional(std::move(objects));
  }
  showLocals(module);
  const Division division = divide(module, parts);
  std::vector<llvm::SmallString<0>> code;
  for (unsigned number = 0; number < parts; ++number)
    code.push_back(partOf(module, division, number));
  // Diagnostics are one thread's: each has its own.
  std::vector<std::vector<Diagnostic>> said(parts);
  llvm::DefaultThreadPool threads;
  for (unsigned number = 0; number < parts; ++number)
    threads.async([&, number] {
      SourceManager sources;
      DiagnosticEngine own(sources);
      llvm::LLVMContext context;
      auto part = llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(code[number], "part"), context));
      objects[number] = emit(*part, options, /*assembly=*/false, own);
      said[number].assign(own.all().begin(), own.all().end());
    });
  threads.wait();
  for (const std::vector<Diagnostic>& each : said)
    for (const Diagnostic& diagnostic : each)
      diagnostics.add(diagnostic);
  const bool isWhole = llvm::none_of(objects, [](const std::string& object) { return object.empty(); });
  return isWhole ? std::optional(std::move(objects)) : std::nullopt;
}

} // namespace strata::host

// The table of passes by name, and the check of a module's stage.
#include "compiler/ir/passes.h"

using namespace mlir;

namespace strata::svm {

const PassDefinition* findPass(StringRef name) {
  static constexpr const PassDefinition* all[] = {
#define MLIR_PASS(identifier, ...) &passes::identifier,
#define HOST_PASS MLIR_PASS
#define SVM_PASS MLIR_PASS
#include "compiler/ir/passes.def"
  };
  const auto* found = llvm::find_if(all, [&](const PassDefinition* pass) { return pass->name == name; });
  return found == std::end(all) ? nullptr : *found;
}

std::string stagesOf(const PassDefinition& pass) {
  if (pass.stages == passes::Any)
    return "programs of any stage";
  std::string names;
  for (Stage stage : {Stage::Logical, Stage::Placed, Stage::Scheduled, Stage::Lowering})
    if (pass.stages & passes::bit(stage))
      names += (names.empty() ? "" : " and ") + stringifyStage(stage).str();
  return names + " programs";
}

bool takes(const PassDefinition& pass, Operation* op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  if (!module || (pass.stages & passes::bit(stageOf(module))))
    return true;
  emitError(module.getLoc()) << "'" << pass.name << "' takes " << stagesOf(pass) << ", and this one is "
                             << stringifyStage(stageOf(module)) << " (svm.stage)";
  return false;
}

} // namespace strata::svm

// Passes as data: what each is called, which stages it takes, what it takes and leaves (passes.def). A pass's own file
// says what it does to a program; makePass joins the two, and looks at the stage before the pass does. Stateless.
#pragma once

#include "compiler/ir/svm.h"

#include "mlir/Pass/Pass.h"

namespace strata::svm {

struct PassDefinition {
  llvm::StringLiteral name;
  llvm::StringLiteral description; ///< what it does, takes and leaves
  llvm::StringLiteral place;       ///< where it stands among the others, and why
  uint32_t stages;                 ///< of the modules that it takes, a bit each
};

/// One constant for each pass, by its identifier.
namespace passes {
constexpr uint32_t bit(Stage stage) {
  return 1u << static_cast<uint32_t>(stage);
}
inline constexpr uint32_t Logical = bit(Stage::Logical), Placed = bit(Stage::Placed), Scheduled = bit(Stage::Scheduled),
                          Lowering = bit(Stage::Lowering), Any = Logical | Placed | Scheduled | Lowering;

#define MLIR_PASS(identifier, name, stages, does, takes, leaves, place)                                                \
  inline constexpr PassDefinition identifier{{name}, {does "; takes " takes "; leaves " leaves}, {place}, stages};
#define HOST_PASS MLIR_PASS
#define SVM_PASS(identifier, space, ...) MLIR_PASS(identifier, __VA_ARGS__)
#include "compiler/ir/passes.def"
} // namespace passes

/// The pass of a name, or null.
const PassDefinition* findPass(llvm::StringRef name);

/// "logical and placed programs", for messages.
std::string stagesOf(const PassDefinition& pass);

/// Whether a pass takes the module that an operation is, or is in; said through MLIR's diagnostics where it does not.
bool takes(const PassDefinition& pass, mlir::Operation* op);

/// A pass with the name, the description and the stages of its definition.
template <typename P>
class Defined final : public P {
public:
  template <typename... Arguments>
  explicit Defined(const PassDefinition& definition, Arguments&&... arguments)
      : P(std::forward<Arguments>(arguments)...), definition_(&definition) {}

  llvm::StringRef getArgument() const override { return definition_->name; }
  llvm::StringRef getDescription() const override { return definition_->description; }

protected:
  void runOnOperation() override {
    if (takes(*definition_, this->getOperation()))
      P::runOnOperation();
    else
      this->signalPassFailure();
  }
  std::unique_ptr<mlir::Pass> clonePass() const override { return std::make_unique<Defined>(*this); }

private:
  const PassDefinition* definition_;
};

template <typename P, typename... Arguments>
std::unique_ptr<mlir::Pass> makePass(const PassDefinition& definition, Arguments&&... arguments) {
  return std::make_unique<Defined<P>>(definition, std::forward<Arguments>(arguments)...);
}

} // namespace strata::svm

// An instrumentation of MLIR's pass managers, which hands what it sees to the watch.
#include "compiler/driver/compile/pass_watch.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

using namespace mlir;

namespace strata::driver {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string textOf(Operation* op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  module->print(stream, flags);
  return text + "\n";
}

} // namespace

class PassWatch::Instrumentation : public PassInstrumentation {
public:
  explicit Instrumentation(PassWatch& watch) : watch_(watch) {}

  void runBeforePass(Pass* pass, Operation*) override {
    if (pass->getArgument().empty()) // holds others
      return;
    auto [known, isNew] = known_.try_emplace(pass);
    if (isNew) {
      known->second.row = watch_.rows_.size();
      watch_.rows_.push_back({pass->getArgument().str(), true});
      known->second.run = ++watch_.runs_[pass->getArgument().str()];
    }
    known->second.began = now();
  }
  void runAfterPass(Pass* pass, Operation* op) override {
    auto known = known_.find(pass);
    if (known == known_.end())
      return;
    watch_.rows_[known->second.row].seconds += now() - known->second.began;
    if (watch_.wanted_ == pass->getArgument() && (watch_.wantedRun_ == 0 || watch_.wantedRun_ == known->second.run))
      watch_.text_ = textOf(op);
  }

private:
  /// A pass as it stands in a pipeline, whatever it is run on.
  struct Known {
    size_t row = 0;
    unsigned run = 0;
    double began = 0;
  };
  PassWatch& watch_;
  llvm::DenseMap<Pass*, Known> known_;
};

void PassWatch::watch(PassManager& passes) {
  passes.addInstrumentation(std::make_unique<Instrumentation>(*this));
}

void PassWatch::begin(std::string phase) {
  end();
  rows_.push_back({std::move(phase)});
  began_ = now();
  isOpen_ = true;
}

void PassWatch::end() {
  if (!isOpen_)
    return;
  isOpen_ = false;
  auto phase = std::find_if(rows_.rbegin(), rows_.rend(), [](const Row& row) { return !row.isPass; });
  phase->seconds += now() - began_;
}

std::vector<std::string> PassWatch::names() const {
  std::vector<std::string> names;
  for (const Row& row : rows_)
    if (row.isPass && std::find(names.begin(), names.end(), row.name) == names.end())
      names.push_back(row.name);
  return names;
}

std::string PassWatch::report(bool asJson) const {
  if (asJson) {
    std::string lines;
    for (const Row& row : rows_)
      lines +=
          nlohmann::ordered_json{{row.isPass ? "pass" : "phase", row.name}, {"seconds", row.seconds}}.dump() + "\n";
    return lines;
  }
  double all = 0;
  for (const Row& row : rows_)
    all += row.isPass ? 0 : row.seconds;
  std::string text = "   seconds  share\n";
  auto line = [&](double seconds, const std::string& name) {
    text += llvm::formatv("{0,10:f4} {1,5:f1}%  {2}\n", seconds, all > 0 ? 100 * seconds / all : 0.0, name).str();
  };
  for (const Row& row : rows_)
    line(row.seconds, (row.isPass ? "  " : "") + row.name);
  line(all, "in all");
  return text;
}

} // namespace strata::driver

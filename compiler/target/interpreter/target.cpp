// The interpreter's part of the interface.
#include "compiler/target/interpreter/target.h"

#include "compiler/interpret/packed.h"
#include "compiler/ir/locations.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdio>

using namespace mlir;

namespace strata::interpret {

STRATA_DIAGNOSTIC(noEntry, Error, "interpreter-no-entry", "the program has no function '{0}'");
STRATA_DIAGNOSTIC(noForm, Error, "interpreter-makes-no-files",
                  "the interpreter runs a program as it is: there is no {0} of it");
STRATA_DIAGNOSTIC(noStandIn, Error, "interpreter-black-box",
                  "nothing on this computer is the black box '{0}' of kernel '{1}'");

namespace {

class InterpreterExecutable : public target::Executable {
public:
  InterpreterExecutable(std::unique_ptr<Interpreter> interpreter, ModuleOp program, DiagnosticEngine& diagnostics)
      : interpreter_(std::move(interpreter)), program_(program), diagnostics_(diagnostics) {}

  Entry entry(const std::string& name) override {
    auto function = program_.lookupSymbol<func::FuncOp>(name);
    if (!function) {
      diagnostics_.report(noEntry, {}, name);
      return nullptr;
    }
    return [this, name, types = llvm::to_vector(function.getArgumentTypes())](void** arguments) {
      const bool fine = interpreter_->call(name, unpacked(types, arguments));
      if (prints_) {
        const std::string output = interpreter_->output();
        fwrite(output.data(), 1, output.size(), stdout);
      }
      return fine;
    };
  }

  std::map<std::string, int64_t> figures() override {
    const Statistics& now = interpreter_->statistics();
    std::map<std::string, int64_t> figures = now.counters;
    figures["moves"] = static_cast<int64_t>(now.moves);
    figures["bytes moved"] = static_cast<int64_t>(now.bytesMoved);
    figures["kernel runs"] = static_cast<int64_t>(now.kernelRuns);
    figures["steps"] = static_cast<int64_t>(now.steps);
    for (const auto& [name, amount] : before_)
      figures[name] -= amount;
    return figures;
  }
  void resetFigures() override {
    before_.clear();
    before_ = figures();
  }
  void setPrinting(bool prints) override { prints_ = prints; }

private:
  std::unique_ptr<Interpreter> interpreter_;
  ModuleOp program_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, int64_t> before_; // the last reset
  bool prints_ = true;
};

class InterpreterArtefact : public target::Artefact {
public:
  InterpreterArtefact(ModuleOp program, const target::NativeFunctions& natives, DiagnosticEngine& diagnostics)
      : program_(program), natives_(natives), diagnostics_(diagnostics) {}

  std::optional<std::string> text(StringRef form) override {
    diagnostics_.report(noForm, {}, "form '" + form.str() + "'").help("--emit=svm writes the program that it runs");
    return std::nullopt;
  }

  std::unique_ptr<target::Executable> load() override {
    Options options;
    for (const auto& [name, code] : natives_)
      options.kernels[name] = standIn(code);
    auto interpreter = Interpreter::create(program_, diagnostics_, std::move(options));
    return interpreter ? std::make_unique<InterpreterExecutable>(std::move(interpreter), program_, diagnostics_)
                       : nullptr;
  }

  std::optional<std::vector<std::string>> objects(const target::Interface&, unsigned) override {
    diagnostics_.report(noForm, {}, "object file").help("a program for another target, such as host, can be built");
    return std::nullopt;
  }

private:
  ModuleOp program_;
  const target::NativeFunctions& natives_;
  DiagnosticEngine& diagnostics_;
};

class InterpreterTarget : public target::Target {
public:
  StringRef name() const override { return "interpreter"; }
  StringRef about() const override { return "the interpreter: one operation after another, copies taken literally"; }
  svm::Stage takes() const override { return svm::Stage::Logical; }
  bool has(target::Instrumentation instrumentation) const override {
    return instrumentation != target::Instrumentation::Trace;
  }
  ArrayRef<target::Form> forms() const override { return {}; }
  std::optional<std::vector<std::string>> libraries() const override { return std::nullopt; }

  bool supports(target::Program program, DiagnosticEngine& diagnostics) const override {
    bool fine = true;
    program.module.walk([&](svm::RunOp run) {
      auto kernel = program.module.lookupSymbol<svm::KernelOp>(run.getKernel());
      if (!kernel || !kernel.getBlackbox())
        return;
      diagnostics
          .report(noStandIn, sourceLocation(diagnostics.sources(), run.getLoc()), kernel.getBlackbox()->str(),
                  kernel.getName().str())
          .help("give the kernel a body, or call a function of C: 'llvm'");
      fine = false;
    });
    return fine;
  }

  std::unique_ptr<target::Artefact> compile(target::Program program, const target::Settings&,
                                            const target::NativeFunctions& natives,
                                            DiagnosticEngine& diagnostics) const override {
    return std::make_unique<InterpreterArtefact>(program.module, natives, diagnostics);
  }
};

} // namespace

const target::Target& target() {
  static const InterpreterTarget target;
  return target;
}

} // namespace strata::interpret

// The array's part of the interface.
#include "compiler/target/array/target.h"

#include "compiler/interpret/packed.h"
#include "compiler/ir/locations.h"
#include "compiler/target/array/kernels.h"
#include "compiler/target/array/leaves.h"
#include "runtime/array/files.h"
#include "runtime/array/print.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdio>
#include <set>

using namespace mlir;

namespace strata::array {

STRATA_DIAGNOSTIC(noEntry, Error, "array-no-entry", "the program has no function '{0}'");
STRATA_DIAGNOSTIC(noObject, Error, "array-makes-no-objects",
                  "there is no object file of a program for a processor array, which runs in the simulator");
STRATA_DIAGNOSTIC(noStandIn, Error, "array-black-box",
                  "nothing on this computer is the black box '{0}' of kernel '{1}'");
STRATA_DIAGNOSTIC(notOneKernel, Error, "array-kernels",
                  "the program has {0} kernels of equations; a configuration is that of one");
STRATA_DIAGNOSTIC(missingSize, Error, "array-size", "a configuration of '{0}' depends on '{1}', which is not known");

namespace {

using Kernels = std::vector<ArrayKernel>;
using Leaves = std::vector<std::unique_ptr<Leaf>>;

void report(DiagnosticEngine& diagnostics, const target::ArrayError& error, Location where) {
  DiagnosticBuilder builder = diagnostics.report(*error.kind, where, error.message);
  for (const auto& [place, words] : error.places)
    builder.label(place, words);
  if (!error.help.empty())
    builder.help(error.help);
}

class ArrayExecutable : public target::Executable {
public:
  ArrayExecutable(ModuleOp program, Kernels kernels, Leaves leaves, const target::NativeFunctions& natives,
                  DiagnosticEngine& diagnostics)
      : program_(program), kernels_(std::move(kernels)), leaves_(std::move(leaves)), diagnostics_(diagnostics),
        said_(diagnostics.sources()) {
    interpret::Options options;
    for (const auto& [name, code] : natives)
      options.kernels[name] = native(name, interpret::standIn(code));
    for (const ArrayKernel& kernel : kernels_)
      options.kernels[kernel.name] = [this, &kernel](const std::vector<interpret::Argument>& arguments, std::string&) {
        return run(kernel, arguments);
      };
    for (const std::unique_ptr<Leaf>& leaf : leaves_)
      if (leaf->mayRun())
        options.offers[leaf->name()] = [this, &leaf = *leaf](const std::vector<interpret::Argument>& arguments,
                                                             std::string&) {
          const ArrayKernel* kernel = leaf.kernelFor(arguments);
          if (!kernel)
            return interpret::Offered::Declined;
          return run(*kernel, arguments) ? interpret::Offered::Done : interpret::Offered::Failed;
        };
    interpreter_ = interpret::Interpreter::create(program, said_, std::move(options));
    forward();
  }

  bool isMade() const { return interpreter_ != nullptr; }

  Entry entry(const std::string& name) override {
    auto function = program_.lookupSymbol<func::FuncOp>(name);
    if (!function) {
      diagnostics_.report(noEntry, {}, name);
      return nullptr;
    }
    return [this, name, types = llvm::to_vector(function.getArgumentTypes())](void** arguments) {
      failure_.reset();
      const bool fine = interpreter_->call(name, interpret::unpacked(types, arguments));
      if (prints_) {
        const std::string output = interpreter_->output();
        fwrite(output.data(), 1, output.size(), stdout);
      }
      // The interpreter says that a kernel failed; why, only the kernel knows.
      if (failure_) {
        said_.clear();
        report(diagnostics_, *failure_, failedAt_);
      }
      forward();
      return fine;
    };
  }

  std::map<std::string, int64_t> figures() override {
    const interpret::Statistics& now = interpreter_->statistics();
    std::map<std::string, int64_t> figures = now.counters;
    figures["moves"] = static_cast<int64_t>(now.moves);
    figures["bytes moved"] = static_cast<int64_t>(now.bytesMoved);
    figures["kernel runs"] = static_cast<int64_t>(now.kernelRuns);
    figures["steps"] = static_cast<int64_t>(now.steps);
    for (const auto& [name, amount] : before_)
      figures[name] -= amount;
    const auto runners = used();
    for (const auto& [name, runner] : runners)
      for (const auto& [figure, amount] : runner->figures())
        figures[runners.size() == 1 ? figure : figure + " (" + name + ")"] = amount;
    return figures;
  }
  void resetFigures() override {
    for (const auto& [name, runner] : used())
      runner->resetFigures();
    before_.clear();
    before_ = figures();
    std::erase_if(before_, [](const auto& each) { return llvm::StringRef(each.first).starts_with("array "); });
  }
  void setPrinting(bool prints) override { prints_ = prints; }

private:
  bool run(const ArrayKernel& kernel, const std::vector<interpret::Argument>& arguments) {
    failure_ = kernel.run(arguments);
    failedAt_ = kernel.location;
    if (!failure_ && told_.insert(&kernel).second)
      for (const target::ArrayError& remark : kernel.runner->remarks())
        report(diagnostics_, remark, failedAt_);
    return !failure_;
  }

  /// A function of C stands for the kernel, which is said when it is called.
  interpret::ExternalKernel native(const std::string& name, interpret::ExternalKernel code) {
    return [this, name, code = std::move(code)](const std::vector<interpret::Argument>& arguments, std::string& error) {
      auto kernel = program_.lookupSymbol<svm::KernelOp>(name);
      reportOnCore(diagnostics_, kernel ? sourceLocation(diagnostics_.sources(), kernel->getLoc()) : Location(), name,
                   "it is a function in C that is no loops of the dialect");
      return code(arguments, error);
    };
  }

  /// What the array has executed, and what it has to.
  std::vector<std::pair<std::string, target::ArrayRunner*>> used() const {
    std::vector<std::pair<std::string, target::ArrayRunner*>> found;
    for (const ArrayKernel& kernel : kernels_)
      found.emplace_back(kernel.name, kernel.runner.get());
    for (const std::unique_ptr<Leaf>& leaf : leaves_)
      leaf->each([&](const std::string& name, target::ArrayRunner& runner) {
        if (runner.hasRun())
          found.emplace_back(name, &runner);
      });
    return found;
  }

  void forward() {
    for (const Diagnostic& each : said_.all())
      diagnostics_.add(each);
    said_.clear();
  }

  ModuleOp program_;
  const Kernels kernels_;
  const Leaves leaves_;
  DiagnosticEngine& diagnostics_;
  DiagnosticEngine said_;             // by the interpreter
  std::set<const ArrayKernel*> told_; // of what they take for granted
  std::optional<target::ArrayError> failure_;
  Location failedAt_;
  std::unique_ptr<interpret::Interpreter> interpreter_;
  std::map<std::string, int64_t> before_; // the last reset
  bool prints_ = true;
};

class ArrayArtefact : public target::Artefact {
public:
  ArrayArtefact(target::Program program, Kernels kernels, Leaves leaves, const target::Settings& settings,
                const target::NativeFunctions& natives, DiagnosticEngine& diagnostics)
      : program_(program), kernels_(std::move(kernels)), leaves_(std::move(leaves)), sizes_(settings.sizes),
        natives_(natives), diagnostics_(diagnostics) {}

  std::optional<std::string> text(StringRef form) override {
    if (kernels_.size() != 1) {
      diagnostics_.report(notOneKernel, {}, kernels_.size()).help("take a program that is one kernel of equations");
      return std::nullopt;
    }
    target::ArrayRunner& runner = *kernels_.front().runner;
    if (form == "text")
      return writeText(runner.symbolic());
    if (form == "binary")
      return writeBinary(runner.symbolic());
    std::vector<int64_t> sizes;
    for (const std::string& parameter : runner.symbolic().parameters) {
      const auto found = sizes_.find(parameter);
      if (found == sizes_.end()) {
        diagnostics_.report(missingSize, kernels_.front().location, runner.symbolic().program, parameter)
            .help("give it with --size " + parameter + "=…");
        return std::nullopt;
      }
      sizes.push_back(found->second);
    }
    const auto made = runner.configuration(sizes);
    if (const auto* error = std::get_if<target::ArrayError>(&made)) {
      report(diagnostics_, kernels_.front().placed(*error), kernels_.front().location);
      return std::nullopt;
    }
    return print(*std::get<const Configuration*>(made), target::arrayProcessor(program_.machine)->array.front());
  }

  std::unique_ptr<target::Executable> load() override {
    auto executable = std::make_unique<ArrayExecutable>(program_.module, std::move(kernels_), std::move(leaves_),
                                                        natives_, diagnostics_);
    return executable->isMade() ? std::move(executable) : nullptr;
  }

  std::optional<std::vector<std::string>> objects(const target::Interface&, unsigned) override {
    diagnostics_.report(noObject, {}).help("strata run runs it; --target host compiles it for this computer");
    return std::nullopt;
  }

private:
  target::Program program_;
  Kernels kernels_;
  Leaves leaves_;
  std::map<std::string, int64_t> sizes_;
  const target::NativeFunctions& natives_;
  DiagnosticEngine& diagnostics_;
};

class ArrayTarget : public target::Target {
public:
  StringRef name() const override { return "array"; }
  StringRef about() const override {
    return "the machine's processor array for loop equations, cycle by cycle; the interpreter for what surrounds them";
  }
  svm::Stage takes() const override { return svm::Stage::Logical; }
  bool has(target::Instrumentation instrumentation) const override {
    return instrumentation != target::Instrumentation::Trace;
  }
  bool recordsArrays() const override { return true; }
  ArrayRef<target::Form> forms() const override {
    static constexpr target::Form forms[] = {{"config", "what is loaded into the array for the sizes given"}};
    return forms;
  }
  ArrayRef<target::Form> mappingForms() const override {
    static constexpr target::Form forms[] = {{"text", "a symbolic configuration, for people"},
                                             {"binary", "the same, packed"}};
    return forms;
  }
  bool maps(ModuleOp program) const override {
    return program.walk([](svm::EquationsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }
  std::optional<std::vector<std::string>> libraries() const override { return std::nullopt; }

  bool supports(target::Program program, DiagnosticEngine& diagnostics) const override {
    bool fine = true;
    if (!target::arrayProcessor(program.machine)) {
      report(diagnostics, *target::misfit({}, program.machine), {});
      fine = false;
    }
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

  std::unique_ptr<target::Artefact> compile(target::Program program, const target::Settings& settings,
                                            const target::NativeFunctions& natives,
                                            DiagnosticEngine& diagnostics) const override {
    // What is written as equations has to run on the array. Loops do where they can; else they run on the core.
    settings.begin("mapping");
    auto kernels = mapKernels(program.module, program.machine, settings.array, diagnostics);
    if (!kernels)
      return nullptr;
    Leaves leaves;
    for (auto kernel : program.module.getOps<svm::KernelOp>())
      if (kernel.isStructured())
        leaves.push_back(std::make_unique<Leaf>(kernel, program.module, program.machine, settings.array, diagnostics));
    return std::make_unique<ArrayArtefact>(program, std::move(*kernels), std::move(leaves), settings, natives,
                                           diagnostics);
  }
};

} // namespace

const target::Target& target() {
  static const ArrayTarget target;
  return target;
}

} // namespace strata::array

// The host's part of the interface: an artefact is a module of LLVM's that is not optimised yet, so that the C side of
// its entry points can join it; what is loaded is an object file linked into this process.
#include "compiler/target/host/target.h"

#include "compiler/clang/clang.h"
#include "compiler/ir/locations.h"
#include "compiler/target/host/emit_in_parts.h"
#include "compiler/target/host/engine.h"
#include "compiler/target/host/lower.h"
#include "compiler/target/host/parts.h"
#include "compiler/target/machine_table.h"
#include "compiler/target/processor.h"
#include "runtime/cluster/cluster.h"
#include "runtime/core/runtime.h"

#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

namespace strata::host {

using target::Instrumentation;

STRATA_DIAGNOSTIC(loweringFailed, Error, "host-internal",
                  "a program that was checked does not become code; this is an error of Strata");
STRATA_DIAGNOSTIC(interfaceFailed, Error, "build-internal",
                  "the C functions of the entry points do not fit the program: {0}; this is an error of Strata");
STRATA_DIAGNOSTIC(kernelPath, Remark, "kernel-path", "kernel '{0}': {1}");
STRATA_DIAGNOSTIC(partsInObject, Error, "host-part-object",
                  "processor '{0}' is of target '{1}', whose code an object file cannot hold");
STRATA_DIAGNOSTIC(noBlackBox, Error, "host-black-box",
                  "nothing on this computer is the black box '{0}' of kernel '{1}'");

namespace {

constexpr size_t stackBytesOfParts = 1 << 20;

/// The runtime keeps the tables of machines that code has run on.
const StrataMachine* tableOf(const Machine& machine) {
  static auto* tables = new std::vector<std::unique_ptr<target::MachineTable>>;
  return tables->emplace_back(std::make_unique<target::MachineTable>(machine))->get();
}

class HostExecutable : public target::Executable {
public:
  /// `object` is what the engine runs.
  HostExecutable(std::unique_ptr<Engine> engine, std::string object, const Machine& machine,
                 DiagnosticEngine& diagnostics)
      : engine_(std::move(engine)), object_(std::move(object)), description_(machine), machine_(tableOf(machine)),
        diagnostics_(diagnostics) {}

  Entry entry(const std::string& name) override {
    const std::string symbol = target::packedSymbol(name);
    auto* function = reinterpret_cast<void (*)(void**)>(engine_->lookup(symbol, diagnostics_));
    if (!function)
      return nullptr;
    cluster::Cluster* const cluster = cluster::leading();
    const int64_t code =
        cluster
            ? cluster->load({writeMachine(description_), "host", object_, symbol, static_cast<int64_t>(object_.size())},
                            reinterpret_cast<const void*>(function))
            : 0;
    return [function, machine = machine_, cluster, code](void** arguments) {
      if (cluster)
        cluster->use(code);
      strata_machine(machine);
      function(arguments);
      return true;
    };
  }

  std::map<std::string, int64_t> figures() override {
    std::map<std::string, int64_t> all = runtime::counters();
    if (cluster::Cluster* cluster = cluster::leading())
      for (const auto& [counter, amount] : cluster->figures())
        all[counter] += amount;
    return all;
  }
  void resetFigures() override {
    runtime::resetCounters();
    if (cluster::Cluster* cluster = cluster::leading())
      cluster->figures(); // takes them
  }
  void setPrinting(bool prints) override { runtime::setPrinting(prints); }

private:
  std::unique_ptr<Engine> engine_;
  const std::string object_;
  const Machine& description_;
  const StrataMachine* machine_;
  DiagnosticEngine& diagnostics_;
};

class HostArtefact : public target::Artefact {
public:
  HostArtefact(const target::Program& program, target::Settings settings, DiagnosticEngine& diagnostics)
      : machine_(program.machine), parts_(program.parts), settings_(std::move(settings)),
        options_{settings_.processor, settings_.optimization, figuresFor(program.machine, settings_),
                 settings_.sanitizers},
        diagnostics_(diagnostics) {}

  bool make(ModuleOp program) {
    const LoweringOptions lowering{settings_.instrumentation == Instrumentation::Trace, parts_, &kernels_,
                                   settings_.verifies};
    if (!lowerToLlvmDialect(program, machine_, options_.figures, settings_.prepare, lowering)) {
      diagnostics_.report(loweringFailed, {});
      return false;
    }
    // Once, of the code whose time counts.
    if (settings_.instrumentation != Instrumentation::Count)
      tellPaths();
    code_ = translate(program, context_, diagnostics_);
    return code_ != nullptr;
  }

  llvm::ArrayRef<kernel::KernelPaths> kernels() const override { return kernels_; }

  std::optional<std::string> text(StringRef form) override {
    if (!optimizeCode())
      return std::nullopt;
    if (form == "asm")
      return generate(/*assembly=*/true);
    std::string text;
    llvm::raw_string_ostream stream(text);
    code_->print(stream, nullptr);
    return text;
  }

  std::unique_ptr<target::Executable> load() override {
    if (!optimizeCode())
      return nullptr;
    auto object = generate(/*assembly=*/false);
    if (!object)
      return nullptr;
    settings_.begin("linking code");
    std::vector<target::Symbol> symbols = settings_.symbols;
    llvm::append_range(symbols, symbolsOfParts(parts_));
    // Other targets' code runs on the stacks of fibres, and is not made for small ones.
    if (!parts_.empty())
      runtime::setFibreStackBytes(std::max(runtime::fibreStackBytes(), stackBytesOfParts));
    auto engine = Engine::create(*object, symbols, diagnostics_);
    return engine ? std::make_unique<HostExecutable>(std::move(engine), cluster::leading() ? *object : "", machine_,
                                                     diagnostics_)
                  : nullptr;
  }

  std::optional<std::vector<std::string>> objects(const target::Interface& interface, unsigned most) override {
    if (!parts_.empty()) {
      diagnostics_.report(partsInObject, {}, parts_.front().processor, parts_.front().target->name().str())
          .help("run the program, or build it for a machine whose processors are all of one target");
      return std::nullopt;
    }
    settings_.begin("compiling its C functions");
    if (!join(interface) || !optimizeCode())
      return std::nullopt;
    settings_.begin("generating code");
    target::requireProcessor(*code_, options_.processor.value_or(target::thisProcessor()), interface.file);
    return emitInParts(*code_, options_, most, diagnostics_);
  }

private:
  /// A remark for each kernel: how its loops run, and at each loop why.
  void tellPaths() {
    const SourceManager& sources = diagnostics_.sources();
    for (const kernel::KernelPaths& kernel : kernels_) {
      auto report = diagnostics_.report(kernelPath, sourceLocation(sources, kernel.at), kernel.name(), kernel.text());
      for (const kernel::LoopPath& loop : kernel.loops)
        report.label(sourceLocation(sources, loop.at), loop.text());
      for (const kernel::LoopPath& loop : kernel.loops)
        if (!loop.help.empty())
          report.help(loop.help);
    }
  }

  /// Of the machine, as far as the processor that code is made for goes along.
  static machine::Figures figuresFor(const Machine& machine, const target::Settings& settings) {
    const machine::Figures figures = machine::figuresOf(machine);
    return settings.processor ? target::limited(figures, *settings.processor) : figures;
  }

  bool optimizeCode() {
    settings_.begin("optimising code");
    return optimize(*code_, options_, diagnostics_);
  }

  std::optional<std::string> generate(bool assembly) {
    settings_.begin("generating code");
    std::string bytes = emit(*code_, options_, assembly, diagnostics_);
    return bytes.empty() ? std::nullopt : std::optional(std::move(bytes));
  }

  /// Brings the C functions into the program's module. Nothing else of it stays visible.
  bool join(const target::Interface& interface) {
    clang::Source source;
    source.text = interface.source;
    source.headers = interface.headers;
    source.processor = ""; // code for any becomes code for the program's
    auto text = interface.code.empty() ? clang::compileToLlvm(source, diagnostics_) : interface.code;
    if (!text)
      return false;
    llvm::SMDiagnostic problem;
    auto functions = llvm::parseIR(llvm::MemoryBufferRef(*text, "entry points"), problem, context_);
    if (!functions) {
      diagnostics_.report(interfaceFailed, {}, problem.getMessage().str());
      return false;
    }
    functions->setDataLayout(code_->getDataLayout());
    functions->setTargetTriple(code_->getTargetTriple());
    if (llvm::Linker::linkModules(*code_, std::move(functions))) {
      diagnostics_.report(interfaceFailed, {}, "they do not link");
      return false;
    }
    for (llvm::Function& function : *code_)
      if (!function.isDeclaration() && !llvm::is_contained(interface.functions, function.getName().str()))
        hide(function);
    return true;
  }

  const Machine& machine_;
  const llvm::ArrayRef<target::Part> parts_;
  target::Settings settings_;
  CodeOptions options_;
  DiagnosticEngine& diagnostics_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> code_; // of context_
  std::vector<kernel::KernelPaths> kernels_;
};

class HostTarget : public target::Target {
public:
  StringRef name() const override { return "host"; }
  StringRef about() const override { return "this computer's processors; explicit memories are stores of their size"; }
  svm::Stage takes() const override { return svm::Stage::Scheduled; }
  bool has(Instrumentation) const override { return true; }

  ArrayRef<target::Form> forms() const override {
    static constexpr target::Form forms[] = {{"llvm", "LLVM IR, optimised"}, {"asm", "assembly"}};
    return forms;
  }

  std::optional<std::vector<std::string>> libraries() const override { return std::vector<std::string>{"libstrata.a"}; }

  void registerPasses() const override { host::registerPasses(); }
  bool givesWorkTo(const target::Target&) const override { return true; }

  const void* link(std::string_view object, const std::string& function, DiagnosticEngine& diagnostics) const override {
    auto engine = Engine::create(std::string(object), {}, diagnostics);
    return engine ? engine.release()->lookup(function, diagnostics) : nullptr; // as long as the process
  }

  bool supports(target::Program program, DiagnosticEngine& diagnostics) const override {
    bool fine = true;
    for (auto kernel : program.module.getOps<svm::KernelOp>())
      if (auto box = kernel.getBlackbox(); box && hasRuns(program, kernel)) {
        diagnostics
            .report(noBlackBox, sourceLocation(diagnostics.sources(), kernel.getLoc()), box->str(),
                    kernel.getName().str())
            .help("give the kernel a body, or call a function of C: 'llvm'");
        fine = false;
      }
    return fine;
  }

  std::unique_ptr<target::Artefact> compile(target::Program program, const target::Settings& settings,
                                            const target::NativeFunctions&,
                                            DiagnosticEngine& diagnostics) const override {
    auto artefact = std::make_unique<HostArtefact>(program, settings, diagnostics);
    return artefact->make(program.module) ? std::move(artefact) : nullptr;
  }

private:
  /// Whether a kernel runs on a processor of this target.
  static bool hasRuns(const target::Program& program, svm::KernelOp kernel) {
    return mlir::ModuleOp(program.module)
        .walk([&](svm::RunOp run) {
          const bool isOurs = !run.getProcessor() || !program.part(*run.getProcessor());
          return isOurs && run.getKernel() == kernel.getName() ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }
};

} // namespace

const target::Target& target() {
  static const HostTarget target;
  return target;
}

} // namespace strata::host

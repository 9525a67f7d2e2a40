// LLVM's optimiser and code generator, and ORC for code in this process. Just-in-time code takes the same way as object
// files, so that both are the same code.
#include "compiler/target/host/engine.h"

#include "compiler/target/host/heap_variables.h"
#include "compiler/target/host/hoist_divisions.h"
#include "compiler/target/host/keep_tiles.h"
#include "compiler/target/host/limit_inlining.h"
#include "compiler/target/host/pair_stores.h"
#include "compiler/target/host/split_large.h"
#include "compiler/target/processor.h"
#include "include/strata.h"
#include "runtime/abi.h"
#include "runtime/core/gather.h"
#include "runtime/core/lane_functions.h"
#include "runtime/core/poll.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/Instrumentation/AddressSanitizer.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Utils/LoopSimplify.h"

namespace strata::host {

STRATA_DIAGNOSTIC(codeFailed, Error, "host-code-generation", "code generation failed: {0}");
STRATA_DIAGNOSTIC(missingCode, Error, "host-missing-code",
                  "the program calls a function that is not on this computer: {0}");

namespace {

void initialize() {
  static const bool done = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    llvm::SmallVector<const char*> arguments{"strata"};
    // A loop with a check in it leaves by the check's failure once at most: it may be unrolled like one without.
    arguments.push_back("-unroll-runtime-other-exit-predictable");
    // What a maximum or a choice between two values comes to depends on the data. As a branch it costs a pipeline's
    // refill whenever it is guessed wrong; as a conditional move it always costs the same.
    if (llvm::cl::getRegisteredOptions().contains("x86-cmov-converter"))
      arguments.push_back("-x86-cmov-converter=false");
    // It walks all of a function for each register of it, and half of the time of a long leaf goes there; what it moves
    // into mask registers, conditions made of bits, vectorised loops have there already.
    if (llvm::cl::getRegisteredOptions().contains("disable-x86-domain-reassignment"))
      arguments.push_back("-disable-x86-domain-reassignment");
    // The instruction scheduler looks at every pair of accesses that might be to one place, up to so many in a block:
    // by default 1,000, which takes quadratic time in leaves of thousands of statements in one loop.
    arguments.push_back("-dag-maps-huge-region=300");
    arguments.push_back("-dag-maps-reduction-size=100");
    llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data());
    return true;
  }();
  (void)done;
}

std::unique_ptr<llvm::TargetMachine> targetMachine(const CodeOptions& options, DiagnosticEngine& diagnostics) {
  initialize();
  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    diagnostics.report(codeFailed, {}, error);
    return nullptr;
  }
  const target::Processor processor = options.processor.value_or(target::thisProcessor());
  llvm::TargetOptions targetOptions;
  targetOptions.UseInitArray = true; // all linkers run these before main
  targetOptions.LoopAlignment = static_cast<unsigned>(options.figures.loopAlignment());
  // Code that is not optimised is wanted quickly.
  const auto effort = options.optimization ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, processor.cpu, processor.features, targetOptions, llvm::Reloc::PIC_, std::nullopt, effort));
  if (!machine)
    diagnostics.report(codeFailed, {}, "LLVM has no code generator for " + triple);
  return machine;
}

} // namespace

namespace {

struct ErrorCollector : llvm::DiagnosticHandler {
  explicit ErrorCollector(std::string& text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      if (!text.empty())
        text += "; ";
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  std::string& text;
};

/// What has not been split. Two of LLVM's passes would take minutes for it; what they would find there is not worth it.
bool isLarge(const llvm::Function& function) {
  return function.size() > 2 * manyBlocks;
}

/// What is left of the passes that large functions go without: each instruction by itself.
struct SimplifyLargePass : llvm::PassInfoMixin<SimplifyLargePass> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    return isLarge(function) ? llvm::InstSimplifyPass().run(function, analyses) : llvm::PreservedAnalyses::all();
  }
};

/// As Clang adds them, behind all that moves accesses.
void addSanitizers(llvm::ModulePassManager& passes, const target::Sanitizers& sanitizers) {
  if (sanitizers.address)
    passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  if (sanitizers.thread) {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  }
}

} // namespace

LlvmErrors::LlvmErrors(llvm::LLVMContext& context) : context_(context) {
  context_.setDiagnosticHandler(std::make_unique<ErrorCollector>(text_));
}

LlvmErrors::~LlvmErrors() {
  context_.setDiagnosticHandler(std::make_unique<llvm::DiagnosticHandler>());
}

bool optimize(llvm::Module& module, const CodeOptions& options, DiagnosticEngine& diagnostics) {
  auto machine = targetMachine(options, diagnostics);
  if (!machine)
    return false;
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  target::settleMultiplyAdds(module);
  if (options.optimization)
    splitLarge(module);
  target::setProcessor(module, *machine);
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) {
      // A frame of several pages is touched page by page, so that it cannot step over the one below the stack.
      function.addFnAttr("probe-stack", "inline-asm");
      if (options.sanitizers.address)
        function.addFnAttr(llvm::Attribute::SanitizeAddress);
      if (options.sanitizers.thread)
        function.addFnAttr(llvm::Attribute::SanitizeThread);
    }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef pass, llvm::Any part) {
    const auto* function = llvm::any_cast<const llvm::Function*>(&part);
    return !function || (pass != "InstCombinePass" && pass != "GVNPass") || !isLarge(**function);
  });
  llvm::PassBuilder builder(machine.get(), tuning, std::nullopt, &callbacks);
  builder.registerPipelineStartEPCallback(
      [](llvm::ModulePassManager& passes, llvm::OptimizationLevel) { passes.addPass(LimitInliningPass()); });
  builder.registerPeepholeEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) { passes.addPass(SimplifyLargePass()); });
  builder.registerVectorizerStartEPCallback([](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(llvm::LoopSimplifyPass()); // so that there is a block before each loop
    passes.addPass(HoistDivisionsPass());
    passes.addPass(KeepTilesPass());
  });
  builder.registerOptimizerLastEPCallback([&](llvm::ModulePassManager& passes, llvm::OptimizationLevel) {
    if (options.figures.areStoresPaired(sizeof(float)))
      passes.addPass(llvm::createModuleToFunctionPassAdaptor(PairStoresPass()));
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(HeapVariablesPass()));
    addSanitizers(passes, options.sanitizers);
  });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  if (!options.optimization) {
    llvm::ModulePassManager passes;
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(HeapVariablesPass()));
    addSanitizers(passes, options.sanitizers);
    passes.run(module, modules);
    return true;
  }
  auto level = options.optimization == 1   ? llvm::OptimizationLevel::O1
               : options.optimization == 2 ? llvm::OptimizationLevel::O2
                                           : llvm::OptimizationLevel::O3;
  builder.buildPerModuleDefaultPipeline(level).run(module, modules);
  return true;
}

std::string emit(llvm::Module& module, const CodeOptions& options, bool assembly, DiagnosticEngine& diagnostics) {
  auto machine = targetMachine(options, diagnostics);
  if (!machine)
    return "";
  LlvmErrors errors(module.getContext());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  auto type = assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, type)) {
    diagnostics.report(codeFailed, {}, "this target writes no such files");
    return "";
  }
  passes.run(module);
  if (!errors.text().empty()) {
    diagnostics.report(codeFailed, {}, errors.text());
    return "";
  }
  return std::string(bytes.begin(), bytes.end());
}

struct Engine::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Engine::Engine() : impl_(std::make_unique<Impl>()) {}
Engine::~Engine() = default;

std::unique_ptr<Engine> Engine::create(const std::string& object, llvm::ArrayRef<target::Symbol> own,
                                       DiagnosticEngine& diagnostics) {
  initialize();
  auto fail = [&](llvm::Error error) -> std::unique_ptr<Engine> {
    diagnostics.report(codeFailed, {}, llvm::toString(std::move(error)));
    return nullptr;
  };
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return fail(jit.takeError());
  llvm::orc::JITDylib& library = (*jit)->getMainJITDylib();
  llvm::orc::SymbolMap symbols;
  auto define = [&](const char* name, auto* function) {
    symbols[(*jit)->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                                              llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
#define STRATA_SYMBOL(NAME) define(#NAME, &(NAME))
  // Functions in C may use what programs around Strata use.
  STRATA_SYMBOL(strataSetErrorHandler);
  STRATA_SYMBOL(strataIsFatal);
  STRATA_SYMBOL(strataRaiseError);
  STRATA_SYMBOL(strata_machine);
  STRATA_SYMBOL(strata_fail);
  STRATA_SYMBOL(strata_store);
  STRATA_SYMBOL(strata_stack_acquire);
  STRATA_SYMBOL(strata_stack_release);
  STRATA_SYMBOL(strata_acquire);
  STRATA_SYMBOL(strata_release);
  STRATA_SYMBOL(strata_move);
  STRATA_SYMBOL(strata_gather);
#define STRATA_LANE_SYMBOLS(NAME)                                                                                      \
  STRATA_SYMBOL(strata_lanes_##NAME##_f32);                                                                            \
  STRATA_SYMBOL(strata_lanes_##NAME##_f64);
  STRATA_LANE_FUNCTIONS(STRATA_LANE_SYMBOLS)
#undef STRATA_LANE_SYMBOLS
  STRATA_SYMBOL(strata_instance);
  STRATA_SYMBOL(strata_window_acquire_distributed);
  STRATA_SYMBOL(strata_window_release);
  STRATA_SYMBOL(strata_window_in_place);
  STRATA_SYMBOL(strata_window_move);
  STRATA_SYMBOL(strata_window_move_start);
  STRATA_SYMBOL(strata_move_start);
  STRATA_SYMBOL(strata_spawn);
  STRATA_SYMBOL(strata_wait);
  STRATA_SYMBOL(strata_token_release);
  STRATA_SYMBOL(strata_token_retain);
  STRATA_SYMBOL(strata_spmd);
  STRATA_SYMBOL(strata_window_acquire_file);
  STRATA_SYMBOL(strata_window_release);
  STRATA_SYMBOL(strata_window_move);
  STRATA_SYMBOL(strata_window_move_start);
  STRATA_SYMBOL(strata_stream_create);
  STRATA_SYMBOL(strata_stream_create_at);
  STRATA_SYMBOL(strata_stream_destroy);
  STRATA_SYMBOL(strata_stream_push);
  STRATA_SYMBOL(strata_stream_multicast);
  STRATA_SYMBOL(strata_stream_pop);
  STRATA_SYMBOL(strata_stream_peek);
  STRATA_SYMBOL(strata_stream_end);
  STRATA_SYMBOL(strata_yield);
  STRATA_SYMBOL(strata_barrier);
  STRATA_SYMBOL(strata_barrier_at);
  STRATA_SYMBOL(strata_poll);
  STRATA_SYMBOL(strata_print);
  STRATA_SYMBOL(strata_print_begin);
  STRATA_SYMBOL(strata_print_end);
  STRATA_SYMBOL(strata_count);
  STRATA_SYMBOL(strata_trace_begin);
  STRATA_SYMBOL(strata_trace_begin_instances);
  STRATA_SYMBOL(strata_trace_end);
  STRATA_SYMBOL(strata_trace_wait_begin);
  STRATA_SYMBOL(strata_move_along);
  STRATA_SYMBOL(strata_move_start_along);
  STRATA_SYMBOL(strata_window_move_along);
  STRATA_SYMBOL(strata_window_move_start_along);
#undef STRATA_SYMBOL
  for (const target::Symbol& symbol : own)
    symbols[(*jit)->mangleAndIntern(symbol.name)] = {llvm::orc::ExecutorAddr::fromPtr(symbol.address),
                                                     llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  // Static variables of C++ live as long as their code, which is gone when the process ends.
  define("__cxa_atexit", +[](void (*)(void*), void*, void*) { return 0; });
  if (auto error = library.define(llvm::orc::absoluteSymbols(std::move(symbols))))
    return fail(std::move(error));
  auto process =
      llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess((*jit)->getDataLayout().getGlobalPrefix());
  if (!process)
    return fail(process.takeError());
  library.addGenerator(std::move(*process));
  if (auto error = (*jit)->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "strata")))
    return fail(std::move(error));
  std::unique_ptr<Engine> engine(new Engine());
  engine->impl_->jit = std::move(*jit);
  return engine;
}

void* Engine::lookup(const std::string& name, DiagnosticEngine& diagnostics) {
  // What links says is missing would go to standard error, and only a summary to the caller.
  std::string missing;
  impl_->jit->getExecutionSession().setErrorReporter([&](llvm::Error error) {
    llvm::handleAllErrors(
        std::move(error),
        [&](const llvm::orc::SymbolsNotFound& absent) {
          for (const llvm::orc::SymbolStringPtr& symbol : absent.getSymbols())
            missing += (missing.empty() ? "'" : ", '") + (*symbol).str() + "'";
        },
        [&](const llvm::ErrorInfoBase& other) { missing += (missing.empty() ? "" : "; ") + other.message(); });
  });
  auto address = impl_->jit->lookup(name);
  impl_->jit->getExecutionSession().setErrorReporter([](llvm::Error error) { llvm::consumeError(std::move(error)); });
  if (!address) {
    std::string summary = llvm::toString(address.takeError());
    diagnostics.report(missingCode, {}, missing.empty() ? summary : missing)
        .help("C code brings all that it calls, but for the libraries of C and C++");
    return nullptr;
  }
  return address->toPtr<void*>();
}

} // namespace strata::host

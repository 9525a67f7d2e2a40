// The driver's pipeline, from a file to the address of an entry point: program.h.
#include "benchmarks/program.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/target/host/engine.h"
#include "compiler/target/host/lower.h"
#include "compiler/target/machine_table.h"

#include <algorithm>

namespace strata::bench {

struct Program::Impl {
  std::unique_ptr<host::Engine> engine;
  const StrataMachine* machine = nullptr;
  void (*function)(void**) = nullptr;
  driver::EntryPoint entry;
  std::vector<std::vector<int64_t>> words; // of arguments that are blocks: address, extents, strides
  std::vector<void*> packed;
};

Program::Program() : impl_(std::make_unique<Impl>()) {}
Program::~Program() = default;

namespace {

/// The runtime keeps the tables of machines that code has run on.
const StrataMachine* tableOf(const Machine& machine) {
  static auto* tables = new std::vector<std::unique_ptr<target::MachineTable>>;
  return tables->emplace_back(std::make_unique<target::MachineTable>(machine))->get();
}

/// Makes kernels replaceable when the program is linked, so that the optimiser neither inlines them nor looks into them
/// from their callers. They are optimised themselves.
void makeOpaque(llvm::Module& code, const std::vector<std::string>& kernels) {
  for (llvm::Function& function : code)
    if (!function.isDeclaration() && llvm::is_contained(kernels, function.getName())) {
      function.removeFnAttr(llvm::Attribute::AlwaysInline);
      function.setLinkage(llvm::GlobalValue::WeakAnyLinkage);
    }
}

/// Whether a kernel is still called after optimisation.
bool isOpaque(const llvm::Module& code, const std::vector<std::string>& kernels) {
  return llvm::any_of(kernels, [&](const std::string& kernel) {
    const llvm::Function* function = code.getFunction(kernel);
    return function && !function->use_empty();
  });
}

} // namespace

std::unique_ptr<Program> Program::compile(const ProgramOptions& options, std::string& error) {
  driver::Session session;
  auto fail = [&](const char* otherwise) -> std::unique_ptr<Program> {
    error = session.diagnostics.render({});
    if (error.empty())
      error = otherwise;
    return nullptr;
  };
  session.options.compile.program = options.program;
  session.options.compile.mapping = options.mapping;
  session.options.compile.machine = options.machine;
  session.options.compile.machinePath = {STRATA_SOURCE_DIR "/machines"};
  for (const auto& [name, value] : options.sizes)
    session.options.compile.sizes[name] = value;
  driver::CompilerSession compilation(session);
  driver::Compiler& compiler = compilation.compiler;
  auto logical = compiler.logical();
  if (!logical)
    return fail("it does not compile");
  auto function = logical->module->lookupSymbol<mlir::func::FuncOp>(compiler.entryName(*logical->module));
  auto entry = function ? driver::readEntry(function, session.diagnostics) : std::nullopt;
  if (!entry)
    return fail("it has no single entry point");
  std::vector<std::string> kernels;
  logical->module->walk([&](svm::KernelOp kernel) { kernels.push_back(kernel.getSymName().str()); });
  llvm::LLVMContext context;
  if (!compiler.place(*logical) || !compiler.schedule(*logical))
    return fail("it cannot be placed");
  auto code = host::lowerToLlvmDialect(*logical->module, logical->machine, machine::figuresOf(logical->machine))
                  ? host::translate(*logical->module, context, session.diagnostics)
                  : nullptr;
  if (!code)
    return fail("it cannot be lowered");
  if (options.opaqueKernels)
    makeOpaque(*code, kernels);
  const host::CodeOptions native{.figures = machine::figuresOf(logical->machine)};
  if (!host::optimize(*code, native, session.diagnostics))
    return fail("it cannot be optimised");
  if (options.opaqueKernels && !isOpaque(*code, kernels))
    return fail("its kernels are not called as functions");
  std::string object = host::emit(*code, native, /*assembly=*/false, session.diagnostics);
  std::unique_ptr<Program> program(new Program());
  Impl& impl = *program->impl_;
  if (!object.empty())
    impl.engine = host::Engine::create(object, driver::symbolsOfNotations(), session.diagnostics);
  if (!impl.engine)
    return fail("no code was made");
  impl.function =
      reinterpret_cast<void (*)(void**)>(impl.engine->lookup(target::packedSymbol(entry->name), session.diagnostics));
  if (!impl.function)
    return fail("the entry point is not in the code");
  impl.machine = tableOf(logical->machine);
  impl.entry = std::move(*entry);
  impl.words.resize(impl.entry.arguments.size());
  impl.packed.resize(impl.entry.arguments.size());
  return program;
}

bool Program::bind(const std::string& argument, void* data, const std::vector<int64_t>& extents) {
  const auto& arguments = impl_->entry.arguments;
  auto found =
      std::find_if(arguments.begin(), arguments.end(), [&](const auto& each) { return each.name == argument; });
  if (found == arguments.end() || found->rank != extents.size())
    return false;
  auto position = static_cast<size_t>(found - arguments.begin());
  impl_->packed[position] = data;
  if (!found->isBlock)
    return true;
  std::vector<int64_t>& words = impl_->words[position];
  words = describeBlock(data, extents);
  impl_->packed[position] = words.data();
  return true;
}

void Program::call() {
  // As a library's user would: the machine is said once for a thread, not before every call.
  static thread_local const StrataMachine* said = nullptr;
  if (said != impl_->machine)
    strata_machine(said = impl_->machine);
  impl_->function(impl_->packed.data());
}

} // namespace strata::bench

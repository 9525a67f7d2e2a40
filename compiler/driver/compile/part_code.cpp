// Which kernels run where is known from the placed program; what they compute, from the logical one, which any target
// can bring to the stage that it takes.
#include "compiler/driver/compile/part_code.h"

#include "compiler/driver/compile/kernel_program.h"
#include "compiler/ir/locations.h"
#include "compiler/target/registry/registry.h"
#include "runtime/abi.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace strata::driver {

STRATA_DIAGNOSTIC(sharingKernel, Error, "target-part-kernel",
                  "kernel '{0}' {1}, which it cannot do on processor '{2}' of target '{3}'");

/// What a kernel shares with others that run at the same time, beside blocks; empty: nothing.
static std::string sharingOf(svm::KernelOp kernel) {
  if (kernel.isShared())
    return "waits for other instances";
  if (llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<svm::StreamType>))
    return "uses streams";
  if (kernel.walk([](svm::PrintOp) { return WalkResult::interrupt(); }).wasInterrupted())
    return "prints";
  return "";
}

/// Ends the process with the first error, as a failure of compiled code does.
[[noreturn]] static void endRun(DiagnosticEngine& diagnostics) {
  // What is told outlives all that is told of it.
  static Diagnostic error;
  static std::string file, help;
  for (const Diagnostic& each : diagnostics.all())
    if (!error.kind && each.severity == Severity::Error)
      error = each;
  StrataCheck check{error.kind ? error.kind->code : "driver-internal", error.message.c_str(), nullptr, "", 0, 0};
  if (!error.helps.empty()) {
    help = error.helps.front();
    check.help = help.c_str();
  }
  if (!error.labels.empty() && error.labels.front().location.valid()) {
    const Location& where = error.labels.front().location;
    file = diagnostics.sources().buffer(where.buffer).name();
    const LineColumn place = diagnostics.sources().lineColumn(where);
    check.file = file.c_str();
    check.line = place.line;
    check.column = place.column;
  }
  strata_fail(&check, nullptr, 0);
}

bool PartCode::isNeeded(const LogicalProgram& whole) {
  return whole.isPlaced() && llvm::any_of(whole.machine.processors, [&](const machine::Processor& processor) {
           return !processor.target.empty() && processor.target != whole.target->name();
         });
}

std::unique_ptr<PartCode> PartCode::compile(ModuleOp logical, ModuleOp placed, const LogicalProgram& whole,
                                            Compiler& compiler, unsigned optimization, DiagnosticEngine& diagnostics) {
  auto made = std::make_unique<PartCode>();
  llvm::MapVector<StringRef, llvm::SetVector<StringRef>> kernels; // by processor
  placed.walk([&](svm::RunOp run) {
    if (auto processor = run.getProcessor())
      kernels[*processor].insert(run.getKernel());
  });
  for (const auto& [name, wanted] : kernels) {
    const machine::ProcessorId id = whole.machine.processor(name.str());
    const target::Target* target = id.valid() ? target::findTarget(whole.machine[id].target) : nullptr;
    if (!target || target == whole.target)
      continue;
    for (StringRef kernel : wanted) {
      auto op = logical.lookupSymbol<svm::KernelOp>(kernel);
      if (const std::string what = op ? sharingOf(op) : ""; !what.empty()) {
        diagnostics
            .report(sharingKernel, sourceLocation(diagnostics.sources(), op.getLoc()), kernel.str(), what, name.str(),
                    target->name().str())
            .help("map it to a processor of the machine's own target");
        return nullptr;
      }
    }
    Machine machine = whole.machine;
    machine.target = target->name().str();
    for (machine::Processor& processor : machine.processors)
      processor.target.clear();
    Code& code = *made->codes_.emplace_back(std::make_unique<Code>(diagnostics.sources()));
    code.program =
        LogicalProgram{kernelProgram(logical, [&](svm::KernelOp kernel) { return wanted.contains(kernel.getName()); }),
                       {},
                       std::move(machine),
                       target};
    code.natives = NativeKernels::compile(*code.program->module, compiler, optimization, code.diagnostics);
    code.artefact = code.natives ? compiler.compile(*code.program, optimization, code.natives->functions(),
                                                    Instrumentation::None, &code.diagnostics)
                                 : nullptr;
    code.executable = code.artefact ? code.artefact->load() : nullptr;
    target::Part& part = made->parts_.emplace_back(target::Part{name.str(), target, {}});
    for (StringRef kernel : wanted) {
      auto entry = code.executable ? code.executable->entry(entryOfKernel(kernel)) : nullptr;
      if (!entry) {
        for (const Diagnostic& each : code.diagnostics.all())
          diagnostics.add(each);
        return nullptr;
      }
      part.kernels[kernel.str()] = [entry = std::move(entry), &code](void** arguments) {
        std::lock_guard guard(code.lock);
        if (!entry(arguments))
          endRun(code.diagnostics);
      };
    }
  }
  return made;
}

} // namespace strata::driver

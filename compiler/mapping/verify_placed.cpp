// The verifier of placed programs. It looks at the finished program and the machine only, and finds the executing
// processor by walking outwards from each operation.
#include "base/machine/addressing.h"
#include "compiler/ir/attributes.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/transfer.h"
#include "compiler/mapping/place.h"
#include "compiler/mapping/verify_streams.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(unplaced, Error, "placed-without-location", "{0} has no {1}");
STRATA_DIAGNOSTIC(notOnMachine, Error, "placed-not-on-machine", "{0} '{1}' is not on machine '{2}'");
STRATA_DIAGNOSTIC(outOfReach, Error, "placed-out-of-reach",
                  "{0} runs on '{1}', which cannot touch '{2}', where {3} lies");
STRATA_DIAGNOSTIC(noRoute, Error, "placed-no-route", "a move goes from '{0}' to '{1}', which '{2}' cannot connect");
STRATA_DIAGNOSTIC(wrongRunProcessor, Error, "placed-wrong-processor",
                  "a run is placed on '{0}' and stands in code that '{1}' executes");

STRATA_DIAGNOSTIC(argumentElsewhere, Error, "placed-argument-elsewhere",
                  "function '{0}' takes its argument {1} in '{2}', and is given {3}, which lies in '{4}'");

STRATA_DIAGNOSTIC(noAddresses, Error, "placed-memory-at",
                  "memory of the surrounding program is looked for in memory '{0}'");
STRATA_DIAGNOSTIC(strayAttribute, Error, "placed-attribute", "a placed program carries '{0}', which belongs in {1}");

namespace {

class Verifier {
public:
  Verifier(const Machine& machine, DiagnosticEngine& diagnostics) : machine_(machine), diagnostics_(diagnostics) {}

  /// What passes state before this stage and what those behind it do are not there.
  void attributes(Operation* op) {
    forEachStray(op, Stage::Placed, [&](const AttributeDefinition& attribute) {
      diagnostics_.report(strayAttribute, at(op), svm::nameOf(attribute).str(), stagesOf(attribute))
          .help("take it away: the pass that makes what it says states it");
    });
  }

  /// Kernels are placed by their runs; what is left of a distribution names another machine's memory.
  void kernel(KernelOp kernel) {
    for (Type type : kernel.getArgumentTypes())
      if (DistributionAttr distribution = distributionOf(type))
        diagnostics_.report(notOnMachine, at(kernel), "memory", distribution.getMemory().getValue().str(),
                            machine_.name);
  }

  void function(func::FuncOp function) {
    function.walk([&](Operation* op) { operation(op); });
  }

private:
  Location at(Operation* op) { return sourceLocation(diagnostics_.sources(), op->getLoc()); }

  /// The processor that executes an operation, by the nearest region or function that says so.
  std::optional<machine::ProcessorId> executing(Operation* op) {
    for (Operation* up = op->getParentOp(); up; up = up->getParentOp()) {
      FlatSymbolRefAttr name;
      if (auto loop = dyn_cast<ParallelOp>(up))
        name = loop.getProcessorAttr();
      else if (auto instances = dyn_cast<InstancesOp>(up))
        name = instances.getProcessorAttr();
      else if (auto on = dyn_cast<OnOp>(up))
        name = on.getProcessorAttr();
      else if (isa<func::FuncOp>(up))
        name = SvmDialect::controlAttr.of(up);
      if (name)
        return processor(name.getValue(), op);
    }
    diagnostics_.report(unplaced, at(op), "control code", "processor");
    return std::nullopt;
  }

  std::optional<machine::ProcessorId> processor(StringRef name, Operation* op) {
    machine::ProcessorId id = machine_.processor(name.str());
    if (id.valid())
      return id;
    diagnostics_.report(notOnMachine, at(op), "processor", name.str(), machine_.name);
    return std::nullopt;
  }

  std::optional<machine::MemoryId> memory(Value block, Operation* op) {
    StringRef name = memoryOf(block.getType());
    if (DistributionAttr distribution = distributionOf(block.getType()))
      name = distribution.getMemory().getValue();
    // A scalar variable of control code lives in its processor.
    if (rootOf(block).getDefiningOp<memref::AllocaOp>())
      return std::nullopt;
    if (name.empty()) {
      diagnostics_.report(unplaced, at(op), "a block", "memory");
      return std::nullopt;
    }
    machine::MemoryId id = machine_.memory(name.str());
    if (id.valid())
      return id;
    diagnostics_.report(notOnMachine, at(op), "memory", name.str(), machine_.name);
    return std::nullopt;
  }

  static std::string nameOf(Value block) {
    Value root = rootOf(block);
    if (auto made = root.getDefiningOp<BlockOp>())
      return made.getLabel() ? "'" + made.getLabel()->str() + "'" : "a block";
    if (auto argument = dyn_cast<BlockArgument>(root))
      if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        if (auto name = SvmDialect::nameAttr.of(function, argument.getArgNumber()))
          return "'" + name.getValue().str() + "'";
    return "a block";
  }

  /// `elements`: single ones, as control code reads them; they can be fetched also where processors address nothing.
  void touch(Operation* op, Value block, const std::string& what, bool elements) {
    auto where = memory(block, op);
    auto who = where ? executing(op) : std::nullopt;
    if (!who || machine::touches(machine_, *who, *where) || (elements && machine::controls(machine_, *who, *where)))
      return;
    diagnostics_.report(outOfReach, at(op), what, machine_[*who].name, machine_[*where].name, nameOf(block))
        .note("a processor loads and stores in its own memory; others it reaches by moving blocks")
        .help("place the data and the code that touches it at one level of the machine");
  }

  /// The surrounding program's addresses are those of one memory, as large as needed.
  void addressed(MemoryAtOp found) {
    auto where = memory(found.getBlock(), found);
    if (where && !machine::isOneAddressSpace(machine_, *where))
      diagnostics_.report(noAddresses, at(found), machine_[*where].name)
          .note("a memory of a fixed size, of several instances or of files has other addresses than the program that "
                "calls this one")
          .help("place it in the memory where that program's arrays are");
  }

  /// Functions are placed once, for all that call them.
  void arguments(func::CallOp call) {
    auto callee = call->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
    for (auto [position, given] : llvm::enumerate(call.getOperands())) {
      if (!callee || callee.isExternal() || !isa<MemRefType>(given.getType()))
        continue;
      const StringRef wanted = memoryOf(callee.getArgumentTypes()[position]), where = memoryOf(given.getType());
      if (wanted != where)
        diagnostics_
            .report(argumentElsewhere, at(call), call.getCallee().str(), position, wanted.str(), nameOf(given),
                    where.str())
            .help("say where it takes them in 'arguments' of its entry in the mapping, or give it a copy there")
            .help("one function takes each argument in one memory: make another one for the other");
    }
  }

  /// Somebody connects the two memories.
  void route(const Transfer& transfer, Value source) {
    auto from = memory(source, transfer.op), to = memory(transfer.destination, transfer.op);
    auto who = from && to ? executing(transfer.op) : std::nullopt;
    if (who && !machine::canMove(machine_, *who, *from, *to))
      diagnostics_.report(noRoute, at(transfer.op), machine_[*from].name, machine_[*to].name, machine_[*who].name);
  }

  /// It names a memory or a FIFO of the machine.
  void place(StreamOp stream) {
    if (!stream.getMemory() && !stream.getFifo())
      diagnostics_.report(unplaced, at(stream), "a stream", "memory");
    else if (stream.getMemory() && !machine_.memory(stream.getMemory()->str()).valid())
      diagnostics_.report(notOnMachine, at(stream), "memory", stream.getMemory()->str(), machine_.name);
    else if (stream.getFifo() && !machine_.fifo(stream.getFifo()->str()).valid())
      diagnostics_.report(notOnMachine, at(stream), "FIFO", stream.getFifo()->str(), machine_.name);
  }

  void operation(Operation* op) {
    if (auto run = dyn_cast<RunOp>(op)) {
      auto who = executing(op);
      if (who && run.getProcessor() && machine_[*who].name != run.getProcessor()->str())
        diagnostics_.report(wrongRunProcessor, at(op), run.getProcessor()->str(), machine_[*who].name);
      for (Value argument : run.getArguments())
        if (isa<MemRefType>(argument.getType()))
          touch(op, argument, "kernel '" + run.getKernel().str() + "'", /*elements=*/false);
    } else if (auto call = dyn_cast<func::CallOp>(op)) {
      arguments(call);
    } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
      touch(op, load.getMemref(), "control code", /*elements=*/true);
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      touch(op, store.getMemref(), "control code", /*elements=*/true);
    } else if (auto block = dyn_cast<BlockOp>(op)) {
      memory(block.getBlock(), op);
    } else if (auto found = dyn_cast<MemoryAtOp>(op)) {
      addressed(found);
    } else if (auto apart = dyn_cast<ApartOp>(op)) {
      touch(op, apart.getFirst(), "a comparison of places", /*elements=*/false);
      touch(op, apart.getSecond(), "a comparison of places", /*elements=*/false);
    } else if (auto transfer = transferOf(op)) {
      route(*transfer, transfer->source);
      // Who copies the parts that indices name reads these on its way.
      if (transfer->indices)
        route(*transfer, transfer->indices);
    } else if (auto stream = dyn_cast<StreamOp>(op)) {
      place(stream);
    } else if (auto loop = dyn_cast<ParallelOp>(op)) {
      if (loop.getProcessor())
        processor(*loop.getProcessor(), op);
    } else if (auto instances = dyn_cast<InstancesOp>(op)) {
      processor(instances.getProcessor(), op);
    } else if (auto on = dyn_cast<OnOp>(op)) {
      processor(on.getProcessor(), op);
    }
  }

  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
};

} // namespace

bool verifyPlaced(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  Verifier verifier(machine, diagnostics);
  program->walk([&](Operation* op) { verifier.attributes(op); });
  for (auto kernel : program.getOps<KernelOp>())
    verifier.kernel(kernel);
  for (auto function : program.getOps<func::FuncOp>())
    verifier.function(function);
  verifyStreams(program, machine, diagnostics);
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping

// place(): walks each control function with the processor that executes it in hand, and gives every operation its
// location. A loop or call that another processor executes is wrapped in an svm.on, so that the change of control is
// visible to every later pass.
#include "compiler/mapping/place.h"

#include "base/machine/addressing.h"
#include "base/machine/instance_range.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/check_spans.h"
#include "compiler/mapping/end_tokens.h"
#include "compiler/transform/builders.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(unknownMemory, Error, "placement-unknown-memory",
                  "the mapping names memory '{0}', which machine '{1}' does not have");
STRATA_DIAGNOSTIC(unknownProcessor, Error, "placement-unknown-processor",
                  "the mapping names processor '{0}', which machine '{1}' does not have");
STRATA_DIAGNOSTIC(unknownFifo, Error, "placement-unknown-fifo",
                  "the mapping names FIFO '{0}', which machine '{1}' does not have");
STRATA_DIAGNOSTIC(streamPlaces, Error, "placement-stream-places",
                  "the mapping of '{0}' has stream '{1}' lie in memory '{2}' and go through FIFO '{3}'");
STRATA_DIAGNOSTIC(unknownFunction, Error, "placement-unknown-function",
                  "the mapping places '{0}', which is no control function of the program");
STRATA_DIAGNOSTIC(unknownLabel, Error, "placement-unknown-label",
                  "the mapping of '{0}' places {1} '{2}', which is not in the program");
STRATA_DIAGNOSTIC(argumentCount, Error, "placement-argument-count", "the mapping of '{0}' places {1} arguments of {2}");
STRATA_DIAGNOSTIC(keptArgument, Error, "placement-kept-argument",
                  "the mapping keeps the copy of argument {1} of call '{0}', which has {2} operands");
STRATA_DIAGNOSTIC(noProcessor, Error, "placement-no-processor",
                  "machine '{0}' has no processor that can execute control code");
STRATA_DIAGNOSTIC(noMemory, Error, "placement-no-memory",
                  "the processor of machine '{0}' that executes this reaches no memory directly");
STRATA_DIAGNOSTIC(entryMemory, Error, "placement-entry-memory",
                  "{0} of entry point '{1}' is placed in '{2}', which the calling program cannot reach");
STRATA_DIAGNOSTIC(badLayout, Error, "placement-layout",
                  "block '{0}' of {1} dimensions is distributed over a grid of {2} instances; memory '{3}' joins {4}");

STRATA_DIAGNOSTIC(loopDimensions, Error, "placement-loop-dimensions",
                  "the mapping says how loop '{0}' of {1} dimension(s) is distributed, of {2} dimensions");

/// Who executes control that nobody places: the processor of the outermost level that has one.
static machine::ProcessorId defaultControl(const Machine& machine) {
  for (size_t number = machine.levels.size(); number-- > 0;)
    if (machine.levels[number].processor.valid())
      return machine.levels[number].processor;
  for (uint32_t number = 0; number < machine.processors.size(); ++number)
    if (machine.processors[number].ownMaster(machine::ProcessorId{number}))
      return machine::ProcessorId{number};
  return {};
}

namespace {

/// Instances of a loop that nobody placed, on a machine with several processors for it. The first is fixed, and also
/// that of a single core, because a reduction is rounded along a tree that its parts set, and results must not depend
/// on how many cores a computer has.
constexpr int64_t defaultReductionParts = 16;
constexpr int64_t defaultPartsPerProcessor = 4;

class Placer {
public:
  Placer(ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), record_(record), machine_(machine), diagnostics_(diagnostics) {}

  bool run() {
    machine::ProcessorId fallback = defaultControl(machine_);
    if (machine_.memories.empty())
      diagnostics_.report(noMemory, {}, machine_.name).help("describe the machine's memories");
    if (!fallback.valid())
      diagnostics_.report(noProcessor, {}, machine_.name).help("give a level of the machine a processor");
    for (const auto& [name, placement] : record_.functions)
      if (!program_.lookupSymbol<func::FuncOp>(name))
        diagnostics_.report(unknownFunction, {}, name);
    if (diagnostics_.hasErrors())
      return false;
    for (auto kernel : program_.getOps<KernelOp>())
      gather(kernel);
    for (auto function : program_.getOps<func::FuncOp>())
      placeSignature(function, fallback);
    for (auto function : program_.getOps<func::FuncOp>())
      placeFunction(function);
    if (diagnostics_.hasErrors() || !checkSpans(program_, record_, machine_, diagnostics_))
      return false;
    setStage(program_, Stage::Placed);
    program_->removeAttr(SvmDialect::mappingAttr);
    return true;
  }

private:
  const FunctionPlacement& placementOf(StringRef function) {
    static const FunctionPlacement none;
    auto found = record_.functions.find(function.str());
    return found == record_.functions.end() ? none : found->second;
  }

  machine::MemoryId memory(const std::string& name, Operation* op, machine::MemoryId otherwise) {
    if (name.empty() && otherwise.valid())
      return otherwise;
    if (!otherwise.valid()) { // placing fails, and goes on with any memory to tell what else is wrong
      otherwise = machine::MemoryId{0};
      if (name.empty() && !std::exchange(isHomeless_, true))
        diagnostics_.report(noMemory, sourceLocation(diagnostics_.sources(), op->getLoc()), machine_.name)
            .help("say in the mapping where it lies, or choose a machine with levels");
      if (name.empty())
        return otherwise;
    }
    machine::MemoryId id = machine_.memory(name);
    if (id.valid())
      return id;
    std::vector<std::string> names;
    for (const machine::Memory& each : machine_.memories)
      names.push_back(each.name);
    report(
        diagnostics_.report(unknownMemory, sourceLocation(diagnostics_.sources(), op->getLoc()), name, machine_.name),
        name, names);
    return otherwise;
  }

  machine::ProcessorId processor(const std::string& name, Operation* op, machine::ProcessorId otherwise) {
    if (name.empty())
      return otherwise;
    machine::ProcessorId id = machine_.processor(name);
    if (id.valid())
      return id;
    std::vector<std::string> names;
    for (const machine::Processor& each : machine_.processors)
      names.push_back(each.name);
    report(diagnostics_.report(unknownProcessor, sourceLocation(diagnostics_.sources(), op->getLoc()), name,
                               machine_.name),
           name, names);
    return otherwise;
  }

  void report(DiagnosticBuilder&& builder, const std::string& name, const std::vector<std::string>& names) {
    std::string nearest = nearestName(name, names);
    if (!nearest.empty())
      builder.help("did you mean '" + nearest + "'?");
  }

  FlatSymbolRefAttr symbol(machine::ProcessorId id) {
    return FlatSymbolRefAttr::get(program_.getContext(), machine_[id].name);
  }

  /// A kernel works on arrays wherever they are; distributed ones are in one memory from here on (placeBlock).
  void gather(KernelOp kernel) {
    SmallVector<Type> types;
    for (Type type : kernel.getArgumentTypes())
      types.push_back(distributionOf(type) ? withMemory(cast<MemRefType>(type), "") : type);
    kernel.setFunctionType(FunctionType::get(program_.getContext(), types, {}));
    if (kernel.isStructured())
      for (auto [argument, type] : llvm::zip(kernel.getBody().getArguments(), types))
        argument.setType(type);
  }

  void placeSignature(func::FuncOp function, machine::ProcessorId fallback) {
    if (function.isExternal()) // C's, which any processor executes
      return;
    const FunctionPlacement& placement = placementOf(function.getName());
    machine::ProcessorId control = processor(placement.control, function, fallback);
    controls_[function.getName()] = control;
    function->setAttr(SvmDialect::controlAttr, symbol(control));
    if (!placement.arguments.empty() && placement.arguments.size() != function.getNumArguments()) {
      diagnostics_.report(argumentCount, sourceLocation(diagnostics_.sources(), function.getLoc()),
                          function.getName().str(), placement.arguments.size(), function.getNumArguments());
      return;
    }
    SmallVector<Type> types;
    std::map<uint32_t, std::string> unreachable; // names, by memory
    for (auto [position, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto block = dyn_cast<MemRefType>(type);
      if (!block) {
        types.push_back(type);
        continue;
      }
      const std::string name = placement.arguments.empty() ? "" : placement.arguments[position];
      machine::MemoryId where = memory(name, function, machine::homeOf(machine_, control));
      types.push_back(withMemory(block, machine_[where].name));
      auto called = function.getArgAttrOfType<StringAttr>(position, SvmDialect::nameAttr);
      if (function->hasAttr(SvmDialect::entryAttr) && isOutOfReach(where) && !isHomeless_)
        unreachable[where.value] += (unreachable[where.value].empty() ? "" : ", ") +
                                    (called ? "'" + called.getValue().str() + "'" : std::to_string(position));
    }
    for (const auto& [where, names] : unreachable)
      refuseEntry(function, machine::MemoryId{where}, names);
    function.setFunctionType(FunctionType::get(program_.getContext(), types, function.getResultTypes()));
    for (auto [argument, type] : llvm::zip(function.getArguments(), types)) {
      argument.setType(type);
      spread(argument);
    }
  }

  /// Whether the program that calls an entry point has no arrays in a memory.
  bool isOutOfReach(machine::MemoryId memory) const { return machine_.isStore(memory) || machine_[memory].isVirtual(); }

  void refuseEntry(func::FuncOp function, machine::MemoryId where, const std::string& names) {
    // Mappings name levels. Arrays at a virtual one are distributed when the entry point begins. Only a machine without
    // any of these is left to memories that have no level.
    std::string others;
    for (bool hasLevel : {true, false})
      for (uint32_t each = 0; each < machine_.memories.size() && (hasLevel || others.empty()); ++each) {
        const machine::MemoryId memory{each};
        const std::optional<unsigned> level = machine_.levelOf(memory);
        const bool isPossible = !isOutOfReach(memory) || (hasLevel && machine_[memory].isVirtual() && memory != where);
        if (isPossible && level.has_value() == hasLevel)
          others += (others.empty() ? "'" : " or '") + machine_.memories[each].name + "'" +
                    (level ? " (level " + std::to_string(*level) + ")" : "");
      }
    const bool isOne = names.find(',') == std::string::npos;
    auto report = diagnostics_.report(entryMemory, sourceLocation(diagnostics_.sources(), function.getLoc()),
                                      (isOne ? "argument " : "each of the arguments ") + names,
                                      function.getName().str(), machine_[where].name);
    if (others.empty())
      report.help("place the entry point's arrays in a memory that is not managed explicitly");
    else
      report.help("place the entry point's arrays in " + others +
                  ", and let a task that it calls work on parts of them in '" + machine_[where].name + "'");
  }

  /// Gives a value's memory to the views made of it.
  void spread(Value block) {
    StringRef where = memoryOf(block.getType());
    for (Operation* user : block.getUsers())
      if (isViewOfAnother(user) && user->getOperand(0) == block) {
        user->getResult(0).setType(withMemory(cast<MemRefType>(user->getResult(0).getType()), where));
        spread(user->getResult(0));
      } else if (auto layout = dyn_cast<memref::ExtractStridedMetadataOp>(user)) {
        Value buffer = layout.getBaseBuffer();
        buffer.setType(withMemory(cast<MemRefType>(buffer.getType()), where));
      }
  }

  void placeFunction(func::FuncOp function) {
    placement_ = &placementOf(function.getName());
    seen_.clear();
    if (!function.isExternal())
      placeRegion(function.getBody(), controls_[function.getName()]);
    auto unseen = [&](StringRef what, const auto& labels) {
      for (const auto& [label, ignored] : labels)
        if (!seen_.contains((what + "/" + label).str()))
          diagnostics_.report(unknownLabel, sourceLocation(diagnostics_.sources(), function.getLoc()),
                              function.getName().str(), what.str(), label);
    };
    unseen("block", placement_->blocks);
    unseen("block", placement_->layouts);
    unseen("block", placement_->shares);
    unseen("stream", placement_->streams);
    unseen("loop", placement_->loops);
    unseen("call", placement_->calls);
  }

  void placeRegion(Region& region, machine::ProcessorId here) {
    for (Block& block : region)
      for (Operation& op : llvm::make_early_inc_range(block))
        placeOperation(&op, here);
  }

  template <typename Map>
  const typename Map::mapped_type* find(const Map& map, StringRef what, StringAttr label) {
    if (!label)
      return nullptr;
    seen_.insert((what + "/" + label.getValue()).str());
    auto found = map.find(label.getValue().str());
    return found == map.end() ? nullptr : &found->second;
  }

  void placeOperation(Operation* op, machine::ProcessorId here) {
    if (auto block = dyn_cast<BlockOp>(op))
      return placeBlock(block, here);
    if (auto found = dyn_cast<MemoryAtOp>(op))
      return placeMemory(found, here);
    if (auto stream = dyn_cast<StreamOp>(op))
      return placeStream(stream, here);
    if (auto loop = dyn_cast<ParallelOp>(op))
      return placeParallel(loop, here);
    if (auto run = dyn_cast<RunOp>(op)) {
      run.setProcessorAttr(symbol(here));
      return;
    }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      if (const LoopPlacement* placed =
              find(placement_->loops, "loop", loop->getAttrOfType<StringAttr>(SvmDialect::labelAttr))) {
        transform(loop, *placed);
        here = moveTo(loop, here, processor(placed->processor, loop, here));
      }
    if (auto scope = dyn_cast<ScopeOp>(op))
      if (const CallPlacement* placed = find(placement_->calls, "call", scope.getLabelAttr())) {
        markCall(scope, *placed);
        here = moveTo(scope, here, processor(placed->processor, scope, here));
      }
    for (Region& region : op->getRegions())
      placeRegion(region, here);
  }

  /// What the mapping says of the call in a scope itself.
  void markCall(ScopeOp scope, const CallPlacement& placed) {
    if (!placed.dynamic && placed.keep.empty())
      return;
    auto unit = UnitAttr::get(program_.getContext());
    for (Operation& op : scope.getBody().front()) {
      if (!isa<RunOp, func::CallOp>(op))
        continue;
      if (placed.dynamic)
        op.setAttr(SvmDialect::dynamicAttr, unit);
      for (int64_t position : placed.keep) {
        if (position >= static_cast<int64_t>(op.getNumOperands())) {
          diagnostics_.report(keptArgument, sourceLocation(diagnostics_.sources(), op.getLoc()),
                              scope.getLabel().value_or("").str(), position, op.getNumOperands());
          continue;
        }
        for (Operation* user : op.getOperand(static_cast<unsigned>(position)).getUsers())
          if (isa<MoveOp>(user) && user->getBlock() == op.getBlock())
            user->setAttr(SvmDialect::keepAttr, unit);
      }
    }
  }

  void placeBlock(BlockOp block, machine::ProcessorId here) {
    const std::string* name = find(placement_->blocks, "block", block.getLabelAttr());
    machine::MemoryId where = memory(name ? *name : "", block, machine::homeOf(machine_, here));
    block.getBlock().setType(withMemory(block.getBlock().getType(), machine_[where].name));
    spread(block.getBlock());
    if (const std::string* other = find(placement_->shares, "block", block.getLabelAttr()))
      block->setAttr(SvmDialect::sharesAttr, StringAttr::get(program_.getContext(), *other));
    if (machine_[where].isVirtual())
      dealOut(block, where);
  }

  void placeMemory(MemoryAtOp found, machine::ProcessorId here) {
    const std::string* name = find(placement_->blocks, "block", found.getLabelAttr());
    machine::MemoryId where = memory(name ? *name : "", found, machine::homeOf(machine_, here));
    found.getBlock().setType(withMemory(found.getBlock().getType(), machine_[where].name));
    spread(found.getBlock());
  }

  void placeStream(StreamOp stream, machine::ProcessorId here) {
    const StreamPlacement* given = find(placement_->streams, "stream", stream.getLabelAttr());
    const StreamPlacement placed = given ? *given : StreamPlacement();
    if (!placed.fifo.empty() && !placed.memory.empty()) {
      diagnostics_
          .report(streamPlaces, sourceLocation(diagnostics_.sources(), stream.getLoc()),
                  stream->getParentOfType<func::FuncOp>().getName().str(), stream.getLabel().value_or("").str(),
                  placed.memory, placed.fifo)
          .help("say 'in' or 'fifo' of it");
      return;
    }
    if (placed.fifo.empty()) {
      stream.setMemory(machine_[memory(placed.memory, stream, machine::homeOf(machine_, here))].name);
      return;
    }
    if (machine_.fifo(placed.fifo).valid()) {
      stream.setFifo(placed.fifo);
      return;
    }
    std::vector<std::string> names;
    for (const machine::Fifo& each : machine_.fifos)
      names.push_back(each.name);
    report(diagnostics_.report(unknownFifo, sourceLocation(diagnostics_.sources(), stream.getLoc()), placed.fifo,
                               machine_.name),
           placed.fifo, names);
  }

  /// The layout of a block in a virtual memory: as the record says, else even shares along the first dimension.
  void dealOut(BlockOp block, machine::MemoryId where) {
    const LayoutPlacement* given = find(placement_->layouts, "block", block.getLabelAttr());
    const uint64_t underneath = machine_[machine_[where].over].count;
    const uint64_t joined = machine::instancesEach(underneath, machine_[where].count);
    const size_t rank = block.getExtents().size();
    LayoutPlacement layout = given ? *given : LayoutPlacement();
    if (layout.grid.empty()) {
      layout.grid.assign(rank, 1);
      if (rank)
        layout.grid[0] = static_cast<int64_t>(joined);
    }
    if (layout.blockSize.empty())
      layout.blockSize.assign(rank, 0);
    uint64_t used = 1;
    bool fits = layout.grid.size() == rank && layout.blockSize.size() == rank;
    for (int64_t each : layout.grid)
      fits &= each >= 1 && !__builtin_mul_overflow(used, static_cast<uint64_t>(each), &used);
    if (!fits || used > joined) {
      std::string grid;
      for (int64_t each : layout.grid)
        grid += (grid.empty() ? "" : ", ") + std::to_string(each);
      diagnostics_
          .report(badLayout, sourceLocation(diagnostics_.sources(), block.getLoc()),
                  block.getLabel().value_or("").str(), rank, grid, machine_[where].name, joined)
          .note("an array in a virtual memory is distributed over the instances that the memory joins: the grid gives "
                "how many "
                "of "
                "them each dimension goes to")
          .help("give one number for each dimension, whose product is at most " + std::to_string(joined));
      return;
    }
    auto builder = Builder(program_.getContext());
    block->setAttr(SvmDialect::gridAttr, builder.getDenseI64ArrayAttr(layout.grid));
    block->setAttr(SvmDialect::blockSizeAttr, builder.getDenseI64ArrayAttr(layout.blockSize));
  }

  /// Wraps an operation in a region that another processor executes; returns who executes it then.
  machine::ProcessorId moveTo(Operation* op, machine::ProcessorId from, machine::ProcessorId to) {
    if (from == to)
      return to;
    OpBuilder builder(op);
    auto on = builder.create<OnOp>(op->getLoc(), symbol(to));
    op->moveBefore(&on.getBody().front(), on.getBody().front().end());
    return to;
  }

  /// What later passes make of a loop.
  static void transform(Operation* loop, const LoopPlacement& placed) {
    auto builder = Builder(loop->getContext());
    if (placed.stages > 1)
      loop->setAttr(SvmDialect::stagesAttr, builder.getI64IntegerAttr(placed.stages));
    if (placed.unroll > 1)
      loop->setAttr(SvmDialect::unrollAttr, builder.getI64IntegerAttr(placed.unroll));
    if (placed.flatten)
      loop->setAttr(SvmDialect::flattenAttr, locationOf(placed.place, loop->getContext()));
  }

  void placeParallel(ParallelOp loop, machine::ProcessorId here) {
    const LoopPlacement* placed = find(placement_->loops, "loop", loop.getLabelAttr());
    LoopPlacement choice = placed ? *placed : choose(loop, here);
    transform(loop, choice);
    machine::ProcessorId on = processor(choice.processor, loop, here);
    auto builder = Builder(program_.getContext());
    const bool isDistributed = !choice.parts.empty();
    // Concurrent iterations are instances whatever the mapping says: one after another they could wait for each other
    // forever.
    if (isDistributed || loop.getConcurrent())
      loop.setProcessorAttr(symbol(on));
    if (std::max(choice.parts.size(), choice.chunk.size()) > loop.dimensions()) {
      diagnostics_
          .report(loopDimensions, sourceLocation(diagnostics_.sources(), loop.getLoc()),
                  loop.getLabel().value_or("").str(), loop.dimensions(),
                  std::max(choice.parts.size(), choice.chunk.size()))
          .help("give one number of parts, and one chunk, for each dimension at most");
      return;
    }
    if (isDistributed) {
      choice.parts.resize(loop.dimensions(), 1);
      choice.chunk.resize(loop.dimensions(), 0);
      loop.setParts(choice.parts);
      loop.setChunk(choice.chunk);
      if (choice.width > 0)
        loop->setAttr(svm::SvmDialect::subsetAttr, builder.getDenseI64ArrayAttr({choice.first, choice.width}));
    } else if (on != here && !loop.getConcurrent()) {
      moveTo(loop, here, on);
    }
    here = on;
    loop.setPrivateMemory(machine_[memory(choice.memory, loop, machine::homeOf(machine_, on))].name);
    placeReductions(loop);
    placeRegion(loop.getBody(), on);
  }

  /// Whether code is executed by several processors already, or by one that others wait for.
  static bool isWithinInstances(Operation* op) {
    for (Operation* up = op->getParentOp(); up; up = up->getParentOp())
      if (isa<ParallelOp, InstancesOp, OnOp>(up))
        return true;
    return false;
  }

  LoopPlacement choose(ParallelOp loop, machine::ProcessorId here) {
    LoopPlacement choice;
    choice.processor = machine_[here].name;
    const machine::Processor& who = machine_[here];
    if (machine::hasStore(machine_, here) || isWithinInstances(loop))
      return choice;
    if (!loop.getReductions().empty() && (who.count > 1 || who.kind == machine::ProcessorKind::Core))
      choice.parts = {defaultReductionParts};
    else if (loop.getReductions().empty() && who.count > 1)
      choice.parts = {defaultPartsPerProcessor * static_cast<int64_t>(who.count)};
    return choice;
  }

  void placeReductions(ParallelOp loop) {
    SmallVector<Attribute> combiners;
    for (auto [position, reduction] : llvm::enumerate(loop.getReductions())) {
      auto combiner = cast<CombinerAttr>((*loop.getCombiners())[position]);
      const CallPlacement* placed = find(placement_->calls, "call", combiner.getLabel());
      machine::ProcessorId fallback = controls_[loop->getParentOfType<func::FuncOp>().getName()];
      machine::ProcessorId by = processor(placed ? placed->processor : "", loop, fallback);
      machine::MemoryId in = memory(placed ? placed->memory : "", loop, machine::homeOf(machine_, by));
      auto text = [&](const std::string& name) { return StringAttr::get(program_.getContext(), name); };
      combiners.push_back(CombinerAttr::get(program_.getContext(), combiner.getFunction(), combiner.getLabel(),
                                            text(machine_[by].name), text(machine_[in].name)));
      // The private copy's memory is settled when the reduction is expanded; until then it is the target's.
      loop.privateCopy(position).setType(reduction.getType());
      spread(loop.privateCopy(position));
    }
    if (!combiners.empty())
      loop.setCombinersAttr(ArrayAttr::get(program_.getContext(), combiners));
  }

  ModuleOp program_;
  const Record& record_;
  const Machine& machine_;
  bool isHomeless_ = false; // a block had no memory to go to, which has been told
  DiagnosticEngine& diagnostics_;
  const FunctionPlacement* placement_ = nullptr;
  llvm::StringMap<machine::ProcessorId> controls_;
  std::set<std::string> seen_;
};

} // namespace

machine::MemoryId argumentMemory(func::FuncOp function, unsigned position, const Record& record,
                                 const Machine& machine) {
  auto found = record.functions.find(function.getName().str());
  const FunctionPlacement placement = found == record.functions.end() ? FunctionPlacement() : found->second;
  if (position < placement.arguments.size() && !placement.arguments[position].empty())
    return machine.memory(placement.arguments[position]);
  machine::ProcessorId control =
      placement.control.empty() ? defaultControl(machine) : machine.processor(placement.control);
  return control.valid() ? machine::homeOf(machine, control) : machine::MemoryId();
}

bool place(ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics) {
  // Said for the checks of the interpreter, which executes logical programs.
  program.walk([](ForgetOp forget) { forget.erase(); });
  endTokens(program);
  return Placer(program, record, machine, diagnostics).run();
}

} // namespace strata::mapping

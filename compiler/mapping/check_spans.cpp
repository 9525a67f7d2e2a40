// Follows control through regions and calls with the processors that it has: their class, how many, and for every
// parallel loop around the distance between the numbers of its instances. A loop divides the processors that it finds.
// A block belongs to its maker alone when no two instances of a loop around share one instance of the block's memory.
#include "compiler/mapping/check_spans.h"

#include "base/machine/instance_range.h"
#include "compiler/mapping/mapped_place.h"
#include "compiler/transform/distribute_iterations.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

using machine::InstanceRange;

STRATA_DIAGNOSTIC(tooManyParts, Error, "placement-too-many-parts",
                  "loop '{0}' is distributed over {1} of processor '{2}', of which machine '{3}' has {4}");
STRATA_DIAGNOSTIC(
    nestedParts, Error, "placement-nested-parts",
    "loop '{0}' is distributed over {1} of processor '{2}', and each part of the loops around it has {3}");
STRATA_DIAGNOSTIC(subsetOutside, Error, "placement-subset-outside",
                  "loop '{0}' is distributed over processors from {1} on, {2} of '{3}', and there are {4}");
STRATA_DIAGNOSTIC(sharedStore, Error, "placement-shared-store",
                  "{0} goes to memory '{1}', of which several '{2}' that run at once share an instance");

namespace {

/// Who executes: no class before the first change of processor, which has all of every class.
struct Context {
  machine::ProcessorId on;
  int64_t width = 1;
  /// The parallel loops around, as the classes that they are distributed to and the distance of their instances'
  /// numbers.
  SmallVector<std::pair<uint32_t, int64_t>> loops;

  std::string key() const {
    std::string text = std::to_string(on.valid() ? on.value : ~0u) + ":" + std::to_string(width);
    for (auto [processor, step] : loops)
      text += "," + std::to_string(processor) + "/" + std::to_string(step);
    return text;
  }
};

class SpanCheck {
public:
  SpanCheck(ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics)
      : record_(record), machine_(machine), diagnostics_(diagnostics), symbols_(program) {}

  void function(func::FuncOp function, const Context& context) {
    // Contexts are few: loops divide a finite number of processors.
    if (!function.isExternal() && seen_.insert((function.getName() + "@" + context.key()).str()).second)
      open_.emplace_back(function, context);
  }

  void run() {
    while (!open_.empty()) {
      auto [function, context] = std::move(open_.back());
      open_.pop_back();
      region(function.getBody(), context);
    }
  }

private:
  void region(Region& region, const Context& context) {
    for (Block& block : region)
      for (Operation& op : block)
        operation(&op, context);
  }

  void operation(Operation* op, const Context& context) {
    if (auto block = dyn_cast<BlockOp>(op))
      return made(block, block.getLabel() ? "block '" + block.getLabel()->str() + "'" : "a block",
                  memoryOf(block.getBlock().getType()), context);
    if (auto call = dyn_cast<func::CallOp>(op)) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
        function(callee, context);
      return;
    }
    if (auto loop = dyn_cast<ParallelOp>(op); loop && loop.getProcessor()) {
      machine::ProcessorId on = machine_.processor(loop.getProcessor()->str());
      if (on.valid()) {
        const Context inside = divided(loop, on, context);
        // A reduction has its parts beside what is reduced, and each instance a copy of its own.
        for (Value target : loop.allParts() > 1 ? loop.getReductions() : ValueRange()) {
          made(loop, "the block of the parts of a reduction", memoryOf(target.getType()), context);
          made(loop, "the copy that a part of a reduction works on",
               loop.getPrivateMemory() ? *loop.getPrivateMemory() : memoryOf(target.getType()), inside);
        }
        return region(loop.getBody(), inside);
      }
    }
    if (auto elsewhere = dyn_cast<OnOp>(op)) {
      machine::ProcessorId on = machine_.processor(elsewhere.getProcessor().str());
      if (on.valid()) {
        Context inside = context;
        inside.width = widthOf(on, context);
        inside.on = on;
        return region(elsewhere.getBody(), inside);
      }
    }
    for (Region& inner : op->getRegions())
      region(inner, context);
  }

  /// How many of class `on` a context has.
  int64_t widthOf(machine::ProcessorId on, const Context& context) const {
    const auto wanted = static_cast<int64_t>(machine_[on].count);
    if (!context.on.valid() || context.loops.empty())
      return wanted;
    if (context.on == on)
      return context.width;
    const auto others =
        InstanceRange::all(context.width).inClass(static_cast<int64_t>(machine_[context.on].count), wanted);
    return others ? others->width() : INT64_MAX;
  }

  /// Processors that are told apart: those with stores of their own, and those above them.
  bool isNumbered(machine::ProcessorId on) const {
    std::optional<unsigned> outermost;
    for (unsigned level = 0; level < machine_.levels.size(); ++level)
      if (machine_.levels[level].processor == on)
        outermost = level;
    for (uint32_t number = 0; number < machine_.memories.size(); ++number) {
      machine::MemoryId id{number};
      if (!machine_.isStore(id))
        continue;
      std::optional<unsigned> level = machine_.levelOf(id);
      if (machine_.ownerOf(id) == on || (machine_[id].count > 1 && level && outermost && *level < *outermost))
        return true;
    }
    return false;
  }

  Context divided(ParallelOp loop, machine::ProcessorId on, const Context& context) {
    int64_t width = widthOf(on, context);
    if (const std::optional<InstanceRange> subset = transform::subsetOf(loop)) {
      if (!InstanceRange::all(width).hasSubset(subset->first(), subset->width()) && isNumbered(on))
        outside(loop, on, *subset, width);
      width = subset->width();
    }
    Context inside = context;
    inside.on = on;
    inside.width = width;
    const bool unknown = loop.getConcurrent() && !loop.getParts();
    const int64_t parts = unknown ? width : loop.allParts();
    if (parts > width && isNumbered(on))
      refuse(loop, on, parts, width, context);
    const int64_t step = InstanceRange::all(width).partWidth(parts);
    if (parts > 1) {
      inside.width = step;
      // The same loop once more, in a function that calls itself, says nothing new; so contexts stay few.
      if (!llvm::is_contained(inside.loops, std::pair(on.value, step)))
        inside.loops.push_back({on.value, step});
    }
    return inside;
  }

  /// Where the mapping speaks of a loop; invalid where it does not.
  strata::Location mappedAt(ParallelOp loop) {
    auto function = loop->getParentOfType<func::FuncOp>();
    auto placed = record_.functions.find(function ? function.getName().str() : "");
    if (placed == record_.functions.end())
      return {};
    auto found = placed->second.loops.find(loop.getLabel().value_or("").str());
    return found == placed->second.loops.end()
               ? strata::Location()
               : sourceLocation(diagnostics_.sources(), locationOf(found->second.place, loop.getContext()));
  }

  void outside(ParallelOp loop, machine::ProcessorId on, const InstanceRange& subset, int64_t width) {
    const strata::Location place = sourceLocation(diagnostics_.sources(), loop.getLoc()), said = mappedAt(loop);
    DiagnosticBuilder report =
        diagnostics_.report(subsetOutside, said.valid() ? said : place, mappedName(loop.getLabel().value_or("")),
                            subset.first(), subset.width(), machine_[on].name, width);
    if (said.valid())
      report.label(place, "the loop");
    report.note("processors are counted from the first one that the code around the loop has")
        .help("begin with an earlier processor, or distribute the loop over fewer");
  }

  void refuse(ParallelOp loop, machine::ProcessorId on, int64_t parts, int64_t width, const Context& context) {
    const strata::Location place = sourceLocation(diagnostics_.sources(), loop.getLoc()), said = mappedAt(loop);
    const strata::Location at = said.valid() ? said : place;
    const std::string label = mappedName(loop.getLabel().value_or(""));
    const std::string most = "distribute the loop over " + std::to_string(width) + " at most";
    if (context.loops.empty()) {
      DiagnosticBuilder report =
          diagnostics_.report(tooManyParts, at, label, parts, machine_[on].name, machine_.name, machine_[on].count);
      if (said.valid())
        report.label(place, "the loop");
      report.help(most);
      return;
    }
    std::string around;
    for (auto [processor, step] : context.loops)
      around += (around.empty() ? "" : ", then each of their parts ") + std::string("over those of '") +
                machine_[machine::ProcessorId{processor}].name + "' whose numbers are " + std::to_string(step) +
                " apart";
    DiagnosticBuilder report = diagnostics_.report(nestedParts, at, label, parts, machine_[on].name, width);
    if (said.valid())
      report.label(place, "the loop");
    report.note("loops around it are distributed " + around).help(most + ", or the loops around it over fewer");
  }

  /// Whoever executes makes something in a memory.
  void made(Operation* maker, const std::string& what, StringRef memory, const Context& context) {
    machine::MemoryId id = machine_.memory(memory.str());
    if (!id.valid() || !(machine_.isStore(id) || machine_[id].isVirtual()) || context.loops.empty())
      return;
    const auto instances = static_cast<int64_t>(machine_[id].count);
    for (auto [processor, step] : context.loops) {
      const machine::Processor& who = machine_[machine::ProcessorId{processor}];
      if (step * instances >= static_cast<int64_t>(who.count))
        continue;
      diagnostics_
          .report(sharedStore, sourceLocation(diagnostics_.sources(), maker->getLoc()), what, machine_[id].name,
                  who.name)
          .note("there are " + std::to_string(who.count) + " of '" + who.name + "' and " + std::to_string(instances) +
                " of memory '" + machine_[id].name + "'; each would make the block at the same address of one of them")
          .help("place the array at a level nearer to the processors that make it, or distribute the loop around it "
                "over fewer");
      return;
    }
  }

  const Record& record_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  SymbolTable symbols_;
  std::set<std::string> seen_;
  std::vector<std::pair<func::FuncOp, Context>> open_;
};

} // namespace

bool checkSpans(ModuleOp program, const Record& record, const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  DenseSet<StringAttr> called;
  program.walk([&](func::CallOp call) { called.insert(call.getCalleeAttr().getAttr()); });
  SpanCheck check(program, record, machine, diagnostics);
  for (auto function : program.getOps<func::FuncOp>())
    if (SvmDialect::entryAttr.isOn(function) || !called.contains(function.getNameAttr()))
      check.function(function, {});
  check.run();
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping

// The verifier of scheduled programs: it follows the program's regions and calls with the set of live blocks, and
// compares address ranges pairwise. A function is walked with all blocks that any of its callers holds, and once more
// when there are more of them, so that paths through the calls, which can be very many, need not be told apart. Blocks
// on stacks lie behind all addresses of their memory.
#include "compiler/ir/attributes.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "compiler/mapping/verify_streams.h"
#include "compiler/mapping/verify_transfers.h"
#include "compiler/transform/builders.h"

#include <limits>

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(noAddress, Error, "scheduled-without-address", "a block in memory '{0}' has no address");
STRATA_DIAGNOSTIC(badAddress, Error, "scheduled-bad-address",
                  "a block takes bytes {0} to {1} of memory '{2}', which holds {3}, in units of {4}");
STRATA_DIAGNOSTIC(overlap, Error, "scheduled-overlap",
                  "two live blocks of memory '{0}' overlap: bytes {1} to {2} and {3} to {4}");

STRATA_DIAGNOSTIC(noLayout, Error, "scheduled-without-layout", "a block in virtual memory '{0}' has no layout");
STRATA_DIAGNOSTIC(leftAttribute, Error, "scheduled-attribute",
                  "a scheduled program carries '{0}', which belongs in {1}");
STRATA_DIAGNOSTIC(sharedInstance, Error, "scheduled-shared-instance",
                  "a block in memory '{0}' is made in instance {1} by '{2}' number {3} and number {4} at once");

namespace {

struct Range {
  std::string memory;
  int64_t begin, end;
  Operation* maker; // of a block or a stream
};

/// A processor at work: its number in its class, and how many from there on it has (runtime/abi.h, strata_spmd).
struct Worker {
  uint64_t number = 0, span = 0;
};

/// Everybody who executes an operation at once; no class before the first change of processor.
struct Workers {
  std::string on;
  std::vector<Worker> all{{}};
  bool tooMany = false; // not followed any further

  std::string key() const {
    std::string text = on + (tooMany ? "*" : "");
    for (const Worker& each : all)
      text += ":" + std::to_string(each.number) + "+" + std::to_string(each.span);
    return text;
  }
};

class Checker {
public:
  Checker(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), machine_(machine), diagnostics_(diagnostics) {}

  /// A function is called by these workers while these blocks are live.
  void enter(func::FuncOp function, const std::vector<Range>& live, const Workers& workers) {
    auto [state, isNew] = entered_.try_emplace(function.getName().str() + "@" + workers.key());
    state->second.function = function;
    state->second.workers = workers;
    for (const Range& each : live)
      if (state->second.held.insert(each.maker).second) {
        state->second.live.push_back(each);
        isNew = true;
      }
    if (isNew && open_.insert(state->first).second)
      waiting_.push_back(state->first);
  }

  void run() {
    while (!waiting_.empty()) {
      const std::string key = waiting_.back();
      waiting_.pop_back();
      open_.erase(key);
      const Entered state = entered_.at(key);
      for (Block& block : func::FuncOp(state.function).getBody())
        follow(block, state.live, state.workers);
    }
  }

  /// Of all that has been followed.
  void checkStacks() {
    for (const auto& [name, stack] : stacks_)
      if (auto addressed = ends_.find(name); addressed != ends_.end() && stack.begin < addressed->second.end) {
        const Range& other = addressed->second;
        diagnostics_.report(overlap, sourceLocation(diagnostics_.sources(), stack.maker->getLoc()), name, stack.begin,
                            stack.end, other.begin, other.end);
      }
  }

private:
  /// A function and those who call it.
  struct Entered {
    func::FuncOp function;
    Workers workers;
    std::vector<Range> live;
    std::set<Operation*> held; // the makers of `live`
  };

  /// Whether this is the first time that something is said of one or two operations.
  bool first(Operation* one, Operation* other = nullptr) { return reported_.emplace(one, other).second; }

  void follow(Block& block, std::vector<Range> live, const Workers& workers) {
    for (Operation& op : block) {
      if (auto made = dyn_cast<BlockOp>(op))
        make(made, live, workers);
      else if (auto stream = dyn_cast<StreamOp>(op))
        make(stream, live);
      else if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto callee = program_.lookupSymbol<func::FuncOp>(call.getCallee()))
          enter(callee, live, workers);
      }
      const Workers inside = isa<InstancesOp, OnOp>(op) ? divided(&op, workers) : workers;
      for (Region& region : op.getRegions())
        for (Block& inner : region)
          follow(inner, live, inside);
    }
  }

  /// Who executes the instances of a region, one by one.
  Workers divided(Operation* op, const Workers& callers) {
    Workers result = callers;
    auto instances = dyn_cast<InstancesOp>(op);
    result.on = (instances ? instances.getProcessor() : cast<OnOp>(op).getProcessor()).str();
    if (callers.tooMany)
      return result;
    result.all.clear();
    const uint64_t count = countOf(result.on), before = countOf(callers.on);
    const std::optional<int64_t> least = instances ? getConstantIntValue(instances.getLower()) : 0,
                                 most = instances ? getConstantIntValue(instances.getUpper()) : 1;
    for (const Worker& caller : callers.all) {
      uint64_t first = 0, width = count;
      if (callers.on == result.on && !callers.on.empty())
        first = caller.number, width = caller.span;
      else if (!callers.on.empty() && count >= before)
        first = caller.number * (count / before), width = caller.span * (count / before);
      else if (!callers.on.empty())
        first = caller.number / (before / count), width = std::max<uint64_t>(caller.span / (before / count), 1);
      if (auto some = op->getAttrOfType<DenseI64ArrayAttr>(SvmDialect::subsetAttr);
          some && some.size() == 2 && some[0] >= 0 && some[1] > 0) {
        first += static_cast<uint64_t>(some[0]);
        width = static_cast<uint64_t>(some[1]);
      }
      const auto stated = instances ? instances.getParts() : std::nullopt;
      uint64_t parts = stated.value_or(least && most ? std::max<int64_t>(*most - *least, 1) : width);
      const uint64_t step = std::max<uint64_t>(width / parts, 1);
      for (uint64_t part = 0; part < parts && !result.tooMany; ++part) {
        result.all.push_back({first + part * step, step});
        // More than there are are told apart when the program runs.
        result.tooMany = result.all.size() > mostWorkers || first + part * step >= count;
      }
    }
    if (result.tooMany)
      result.all.assign(1, {});
    return result;
  }

  uint64_t countOf(const std::string& processor) const {
    machine::ProcessorId id = machine_.processor(processor);
    return id.valid() ? std::max<uint64_t>(machine_[id].count, 1) : 1;
  }

  /// Two that run at once must not make a block in one instance of a memory.
  void apart(BlockOp block, const std::string& name, uint64_t instances, const Workers& workers, Location at) {
    std::map<uint64_t, uint64_t> owners;
    const uint64_t count = countOf(workers.on);
    for (const Worker& worker : workers.all) {
      if (workers.tooMany)
        return;
      const uint64_t instance = instances >= count ? worker.number * (instances / count)
                                                   : worker.number / ((count + instances - 1) / instances);
      auto [owner, isNew] = owners.try_emplace(instance, worker.number);
      if (!isNew && workers.all.size() > 1) {
        if (first(block))
          diagnostics_.report(sharedInstance, at, name, instance, workers.on, owner->second, worker.number);
        return;
      }
    }
  }

  void make(BlockOp block, std::vector<Range>& live, const Workers& workers) {
    auto type = block.getBlock().getType();
    std::string name = memoryOf(type).str();
    machine::MemoryId id = machine_.memory(name);
    if (!id.valid())
      return;
    Location at = sourceLocation(diagnostics_.sources(), block.getLoc());
    const bool isVirtual = machine_[id].isVirtual();
    const uint64_t instances = std::max<uint64_t>(machine_[id].count, 1);
    for (size_t step = 0; step < machine_.memories.size() && machine_[id].isVirtual(); ++step)
      id = machine_[id].over;
    if (!machine_.isStore(id))
      return;
    apart(block, name, instances, workers, at);
    name = machine_[id].name;
    const machine::Memory& memory = machine_[id];
    auto grid = SvmDialect::gridAttr.of(block);
    auto size = SvmDialect::blockSizeAttr.of(block);
    if (isVirtual && (!grid || !size || grid.size() != type.getRank() || size.size() != type.getRank())) {
      if (first(block))
        diagnostics_.report(noLayout, at, memoryOf(type).str());
      return;
    }
    // Rows are padded to the memory's alignment.
    int64_t row = RecordType::sizeInBytes(type.getElementType()), rows = 1;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      int64_t bound = block.getMax() ? (*block.getMax())[dimension] : -1;
      if (bound < 0)
        bound = getConstantIntValue(block.getExtents()[dimension]).value_or(0);
      if (isVirtual) {
        // The instance that has most: the first, of whole blocks in turn.
        int64_t parts = std::max<int64_t>(grid[dimension], 1);
        int64_t each = size[dimension] > 0 ? size[dimension] : std::max<int64_t>((bound + parts - 1) / parts, 1);
        const __int128 round = static_cast<__int128>(each) * parts;
        const __int128 held = (bound + round - 1) / round * each;
        bound = static_cast<int64_t>(std::min<__int128>(held, bound));
      }
      (dimension + 1 == type.getRank() ? row : rows) *= bound;
    }
    uint64_t alignment = std::max<uint64_t>(memory.alignment, 1);
    row = (row + alignment - 1) / alignment * alignment;
    auto stack = SvmDialect::stackAttr.of(block);
    if (!block.getAddress() && !stack) {
      if (first(block))
        diagnostics_.report(noAddress, at, name);
      return;
    }
    const int64_t begin = stack ? stack.getInt() : static_cast<int64_t>(*block.getAddress());
    add({name, begin, begin + row * rows, block}, id, stack != nullptr, live);
  }

  /// A stream's elements lie in its memory one behind the other.
  void make(StreamOp stream, std::vector<Range>& live) {
    machine::MemoryId id = stream.getMemory() ? machine_.memory(stream.getMemory()->str()) : machine::MemoryId();
    if (!id.valid())
      return;
    for (size_t step = 0; step < machine_.memories.size() && machine_[id].isVirtual(); ++step)
      id = machine_[id].over;
    if (!machine_.isStore(id))
      return;
    const std::optional<uint64_t> address = stream.getAddress();
    auto stack = SvmDialect::stackAttr.of(stream);
    const std::optional<int64_t> elements = getConstantIntValue(stream.getCapacity());
    if ((!address && !stack) || !elements) {
      if (first(stream))
        diagnostics_.report(noAddress, sourceLocation(diagnostics_.sources(), stream.getLoc()), machine_[id].name);
      return;
    }
    const int64_t bytes = RecordType::sizeInBytes(stream.getStream().getType().getElementType());
    const int64_t begin = stack ? stack.getInt() : static_cast<int64_t>(*address);
    int64_t end = 0;
    if (__builtin_mul_overflow(*elements, bytes, &end) || __builtin_add_overflow(end, begin, &end))
      end = std::numeric_limits<int64_t>::max();
    const auto unit = static_cast<int64_t>(RecordType::alignmentInBytes(stream.getStream().getType().getElementType()));
    if (begin % unit && first(stream))
      diagnostics_.report(badAddress, sourceLocation(diagnostics_.sources(), stream.getLoc()), begin, end,
                          machine_[id].name, machine_[id].capacity.bytes, unit);
    add({machine_[id].name, begin, end, stream}, id, stack != nullptr, live);
  }

  /// What is made takes this range of a memory from here on.
  void add(const Range& range, machine::MemoryId id, bool isStacked, std::vector<Range>& live) {
    const machine::Memory& memory = machine_[id];
    const std::string& name = range.memory;
    const uint64_t alignment = std::max<uint64_t>(memory.alignment, 1);
    Location at = sourceLocation(diagnostics_.sources(), range.maker->getLoc());
    if ((range.begin < 0 || range.begin % alignment || memory.capacity.exceededBy(range.end)) && first(range.maker))
      diagnostics_.report(badAddress, at, range.begin, range.end, name, memory.capacity.bytes, alignment);
    if (isStacked) {
      auto [lowest, isNew] = stacks_.try_emplace(name, range);
      if (range.begin < lowest->second.begin)
        lowest->second = range;
      return;
    }
    auto [last, isNew] = ends_.try_emplace(name, range);
    if (range.end > last->second.end)
      last->second = range;
    for (const Range& other : live)
      if (other.memory == name && range.begin < other.end && other.begin < range.end && !mayShare(range, other) &&
          first(range.maker, other.maker))
        diagnostics_.report(overlap, at, name, range.begin, range.end, other.begin, other.end);
    live.push_back(range);
  }

  /// Whether one block says that it takes the address of the other, and takes exactly that.
  static bool mayShare(const Range& a, const Range& b) {
    auto first = dyn_cast<BlockOp>(a.maker), second = dyn_cast<BlockOp>(b.maker);
    if (!first || !second)
      return false;
    auto names = [](BlockOp one, BlockOp other) {
      return other.getLabel() && one->getAttr(SvmDialect::sharesAttr) == other.getLabelAttr();
    };
    auto third = first->getAttr(SvmDialect::sharesAttr);
    return first->getBlock() == second->getBlock() && a.begin == b.begin && a.end == b.end &&
           (names(first, second) || names(second, first) ||
            (third && third == second->getAttr(SvmDialect::sharesAttr)));
  }

  static constexpr size_t mostWorkers = 1 << 12;
  ModuleOp program_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::map<std::string, Range> stacks_; // the block of each memory whose stack begins first
  std::map<std::string, Range> ends_;   // and the one whose address ends last
  std::map<std::string, Entered> entered_;
  std::vector<std::string> waiting_; // keys of entered_
  std::set<std::string> open_;       // the same
  std::set<std::pair<Operation*, Operation*>> reported_;
};

} // namespace

bool verifyScheduled(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  program->walk([&](Operation* op) {
    forEachStray(op, Stage::Scheduled, [&](const AttributeDefinition& attribute) {
      diagnostics
          .report(leftAttribute, sourceLocation(diagnostics.sources(), op->getLoc()), svm::nameOf(attribute).str(),
                  stagesOf(attribute))
          .help("take it away: what it asks for has been done, or is done behind this stage");
    });
  });
  Checker checker(program, machine, diagnostics);
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isPublic())
      checker.enter(function, {}, {});
    verifyTransfers(function, machine, diagnostics);
  }
  checker.run();
  checker.checkStacks();
  verifyStreams(program, machine, diagnostics);
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping

// Addresses in explicit memories, as on a stack: a block lies above those of the regions around it and of the callers;
// a function that is called from several places lies above the highest of them. Blocks of regions that are not alive at
// once share addresses. Sizes are static bounds, so that a program that schedules cannot run out of an explicit memory.
//
// The exception are functions that call themselves while they hold blocks: how deep they go, and what each call takes,
// is known only as the program runs. Their blocks, and those of whatever they call, lie on a stack behind all
// addresses.
#include "base/machine/instance_range.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/layout.h"
#include "compiler/mapping/place.h"
#include "compiler/transform/builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(unbounded, Error, "schedule-unbounded-block",
                  "{0} has no static bound, and memory '{1}' holds blocks of known size only");
STRATA_DIAGNOSTIC(unboundedStream, Error, "schedule-unbounded-stream",
                  "{0} has no static bound, and FIFO '{1}' holds {2} bytes");
STRATA_DIAGNOSTIC(doesNotFit, Error, "schedule-does-not-fit",
                  "memory '{0}' holds {1} bytes and {2} are wanted at once");

namespace {

struct Held {
  uint32_t memory;
  Operation* maker; // of a block or a stream
  int64_t address, bytes;
};

std::string nameOf(Operation* maker) {
  const std::string what = isa<StreamOp>(maker) ? "stream" : "block";
  auto label = isa<StreamOp>(maker) ? cast<StreamOp>(maker).getLabel() : cast<BlockOp>(maker).getLabel();
  return label ? what + " '" + label->str() + "'" : "a " + what;
}

class Scheduler {
public:
  Scheduler(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics, std::vector<Overflow>* overflows)
      : program_(program), machine_(machine), diagnostics_(diagnostics), overflows_(overflows), symbols_(program) {}

  bool run() {
    // Callers before callees: a function's floor is known when all its callers have been scheduled.
    for (auto function : program_.getOps<func::FuncOp>())
      order(function);
    do {
      done_.clear();
      floors_.clear();
      ends_.clear();
      foundStacked_ = false;
      for (func::FuncOp function : llvm::reverse(postOrder_))
        schedule(function);
    } while (foundStacked_); // more functions than were known to have blocks on a stack
    isFinal_ = true;
    done_.clear();
    for (func::FuncOp function : llvm::reverse(postOrder_))
      schedule(function);
    if (diagnostics_.hasErrors())
      return false;
    setStage(program_, Stage::Scheduled);
    return true;
  }

private:
  using Tops = std::map<uint32_t, int64_t>; // memory to the first free byte

  /// More than a memory holds, wanted at one place of the program.
  struct Excess {
    uint32_t memory;
    Location place;     // of the first block that does not fit
    int64_t fitting;    // the first free byte before that one
    int64_t wanted = 0; // with all blocks that live there at once
    SmallVector<Held> held = {};
  };
  using Excesses = std::vector<Excess>;

  /// This function and all that it calls have their blocks in a memory on its stack.
  void stack(func::FuncOp function, uint32_t memory) {
    if (!stacked_[memory].insert(function).second)
      return;
    foundStacked_ = true;
    function.walk([&](func::CallOp call) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
        stack(callee, memory);
    });
  }

  void order(func::FuncOp function) {
    auto [entry, isNew] = state_.try_emplace(function, false);
    if (!isNew)
      return;
    function.walk([&](func::CallOp call) {
      if (auto callee = symbols_.lookup<func::FuncOp>(call.getCallee()))
        order(callee);
    });
    postOrder_.push_back(function);
  }

  void schedule(func::FuncOp function) {
    done_.insert(function);
    Tops tops = floors_[function];
    for (Block& block : function.getBody())
      for (const Excess& each : region(block, tops, {}, {}))
        if (isFinal_)
          refuse(each.place, machine_.memories[each.memory], each.memory, each.held, each.wanted);
  }

  /// What is wanted too much in a region; of what lives at once, the most. `around` has what was too much before it.
  Excesses region(Block& block, Tops tops, Excesses around, SmallVector<Held> held) {
    Excesses found;
    const size_t before = around.size(); // behind it, the region's own
    std::vector<size_t> since;           // for each of its own: what had been found inside when it came
    for (Operation& op : block) {
      if (auto made = dyn_cast<BlockOp>(op))
        assign(made, tops, held, around, before);
      else if (auto stream = dyn_cast<StreamOp>(op))
        assign(stream, tops, held, around, before);
      since.resize(around.size() - before, found.size());
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
        if (!callee)
          continue;
        for (auto [memory, end] : tops) {
          const Excess* excess = excessIn(memory, around); // told of once, and not in what is called, too
          const int64_t top = excess ? excess->fitting : end;
          int64_t& floor = floors_[callee][memory];
          // A caller that comes after its callee is called by it.
          if (done_.contains(callee) && floor < top)
            stack(callee, memory);
          floor = std::max(floor, top);
        }
      }
      for (Region& inner : op.getRegions())
        for (Block& child : inner)
          llvm::append_range(found, region(child, tops, around, held));
    }
    for (size_t own = around.size(); own-- > before;) {
      Excess excess = around[own];
      excess.wanted = tops[excess.memory];
      excess.held = held;
      auto inside = [&](const Excess& each) { return each.memory == excess.memory; };
      const auto first = found.begin() + static_cast<ptrdiff_t>(since[own - before]);
      for (const Excess& each : llvm::make_filter_range(llvm::make_range(first, found.end()), inside))
        if (each.wanted > excess.wanted)
          excess = each;
      found.erase(std::remove_if(first, found.end(), inside), found.end());
      found.push_back(std::move(excess));
    }
    return found;
  }

  static const Excess* excessIn(uint32_t memory, ArrayRef<Excess> excesses) {
    auto found = llvm::find_if(excesses, [&](const Excess& each) { return each.memory == memory; });
    return found == excesses.end() ? nullptr : found;
  }

  void assign(BlockOp block, Tops& tops, SmallVector<Held>& held, Excesses& excesses, size_t inherited) {
    machine::MemoryId id = machine_.memory(memoryOf(block.getBlock().getType()).str());
    if (!id.valid())
      return;
    // A block in a virtual memory lies at one address of every instance underneath, with a share in each.
    const bool isDistributed = machine_[id].isVirtual();
    const uint64_t spaces = machine_[id].count;
    id = underneath(machine_, id);
    if (isDistributed && !SvmDialect::gridAttr.isOn(block)) // made by a pass
      giveEvenShares(block, static_cast<int64_t>(machine::instancesEach(machine_[id].count, spaces)));
    if (!machine_.isStore(id))
      return;
    const machine::Memory& memory = machine_[id];
    Location at = sourceLocation(diagnostics_.sources(), block.getLoc());
    int64_t alignment = static_cast<int64_t>(std::max<uint64_t>(
        memory.alignment, RecordType::alignmentInBytes(block.getBlock().getType().getElementType())));
    std::optional<int64_t> bytes = isDistributed ? shareBytes(block, alignment) : block.maxBytes(alignment);
    if (!bytes) {
      if (!isFinal_)
        return;
      auto report = diagnostics_.report(unbounded, at, nameOf(block), memory.name);
      report.note("space in it is set aside before the program runs");
      showCallers(report, block);
      report.help("bound the block: state its most elements with a constant or tunable, or give its array a size "
                  "precondition in the mapping");
      return;
    }
    if (const Held* other = sharedWith(block, held)) {
      block.setAddress(other->address);
      return;
    }
    put(block, id, alignment, *bytes, tops, held, excesses, inherited);
  }

  /// A stream's elements count towards its memory as a block's do.
  void assign(StreamOp stream, Tops& tops, SmallVector<Held>& held, Excesses& excesses, size_t inherited) {
    if (stream.getFifo())
      return goThrough(stream);
    machine::MemoryId id = stream.getMemory() ? machine_.memory(stream.getMemory()->str()) : machine::MemoryId();
    if (!id.valid())
      return;
    id = underneath(machine_, id);
    if (!machine_.isStore(id))
      return;
    const machine::Memory& memory = machine_[id];
    Type element = stream.getStream().getType().getElementType();
    std::optional<int64_t> elements = getConstantIntValue(stream.getCapacity());
    if (!elements || *elements < 0) {
      if (!isFinal_)
        return;
      auto report = diagnostics_.report(unbounded, sourceLocation(diagnostics_.sources(), stream.getLoc()),
                                        nameOf(stream), memory.name);
      report.note("space in it is set aside before the program runs");
      showCallers(report, stream);
      report.help("give the stream a constant capacity");
      return;
    }
    int64_t bytes = 0;
    if (__builtin_mul_overflow(*elements, static_cast<int64_t>(RecordType::sizeInBytes(element)), &bytes))
      bytes = farthest;
    put(stream, id, static_cast<int64_t>(std::max<uint64_t>(memory.alignment, RecordType::alignmentInBytes(element))),
        bytes, tops, held, excesses, inherited);
  }

  /// FIFOs have no addresses; that they hold what goes through them is for the verifiers to say.
  void goThrough(StreamOp stream) {
    const machine::FifoId id = machine_.fifo(stream.getFifo()->str());
    if (!isFinal_ || !id.valid() || getConstantIntValue(stream.getCapacity()))
      return;
    auto report = diagnostics_.report(unboundedStream, sourceLocation(diagnostics_.sources(), stream.getLoc()),
                                      nameOf(stream), machine_[id].name, machine_[id].capacity);
    showCallers(report, stream);
    report.help("give the stream a constant capacity, or a memory");
  }

  /// Gives a block or a stream its place in a memory, or notes that there is none left.
  void put(Operation* maker, machine::MemoryId id, int64_t alignment, int64_t bytes, Tops& tops,
           SmallVector<Held>& held, Excesses& excesses, size_t inherited) {
    const machine::Memory& memory = machine_[id];
    Location at = sourceLocation(diagnostics_.sources(), maker->getLoc());
    const bool isStacked = stacked_[id.value].contains(maker->getParentOfType<func::FuncOp>());
    int64_t& top = tops[id.value];
    int64_t& end = ends_[id.value];
    int64_t address = static_cast<int64_t>(llvm::alignTo(isStacked ? end : top, alignment)), behind = 0;
    if (__builtin_add_overflow(address, bytes, &behind) || behind > farthest)
      behind = farthest;
    const bool isTooMuch = behind == farthest || memory.capacity.exceededBy(behind);
    held.push_back({id.value, maker, address, bytes});
    if (isTooMuch && isStacked) {
      if (isFinal_)
        refuse(at, memory, id.value, ArrayRef<Held>(held).take_back(), behind);
      return;
    }
    if (isTooMuch) {
      const Excess* outside = excessIn(id.value, excesses);
      if (!excessIn(id.value, ArrayRef(excesses).drop_front(inherited)))
        excesses.push_back(outside ? *outside : Excess{id.value, at, top});
      top = behind;
      return; // goes on, to find what else is wanted and what else is wrong
    }
    if (isStacked) {
      held.pop_back(); // at no address that others could have
      if (isFinal_)
        maker->setAttr(SvmDialect::stackAttr, OpBuilder(maker).getI64IntegerAttr(address));
      return;
    }
    top = behind;
    end = std::max(end, behind);
    if (!isFinal_)
      return;
    if (auto block = dyn_cast<BlockOp>(maker))
      block.setAddress(address);
    else
      cast<StreamOp>(maker).setAddress(address);
  }

  static constexpr int64_t farthest = int64_t{1} << 62; // no address is behind it, and sums with it stay numbers

  /// The block whose address this one takes too: it stands in the same region and memory, and is as large.
  static const Held* sharedWith(BlockOp block, ArrayRef<Held> held) {
    auto label = SvmDialect::sharesAttr.of(block);
    for (const Held& each : held) {
      auto other = dyn_cast<BlockOp>(each.maker);
      if (label && other && other.getLabelAttr() == label && other->getBlock() == block->getBlock() &&
          memoryOf(other.getBlock().getType()) == memoryOf(block.getBlock().getType()) &&
          other.maxBytes(1) == block.maxBytes(1))
        return &each;
    }
    return nullptr;
  }

  /// How control comes to where a block or stream is made: the calls that lead there, one each.
  void showCallers(DiagnosticBuilder& report, Operation* maker) {
    auto function = maker->getParentOfType<func::FuncOp>();
    DenseSet<Operation*> seen;
    std::string chain;
    while (function && seen.insert(function).second && seen.size() <= mostCallers) {
      chain = "'" + function.getName().str() + "'" + (chain.empty() ? "" : ", which calls " + chain);
      func::CallOp caller;
      program_.walk([&](func::CallOp call) {
        if (call.getCallee() != function.getName())
          return WalkResult::advance();
        caller = call;
        return WalkResult::interrupt();
      });
      if (!caller)
        break;
      report.label(sourceLocation(diagnostics_.sources(), caller.getLoc()), "called from here");
      function = caller->getParentOfType<func::FuncOp>();
    }
    report.note("it is made in " + chain + "; a bound in any of them is enough");
  }
  static constexpr size_t mostCallers = 8;

  void refuse(Location at, const machine::Memory& memory, uint32_t id, ArrayRef<Held> held, int64_t wanted) {
    auto report = diagnostics_.report(doesNotFit, at, memory.name, memory.capacity.bytes, wanted);
    report.label("this does not fit any more");
    bool isPipelined = false;
    Overflow overflow{memory.name, static_cast<int64_t>(memory.capacity.bytes), wanted, {}};
    for (Held each : held)
      if (each.memory == id) {
        IntegerAttr number = SvmDialect::bufferAttr.of(each.maker), buffers = SvmDialect::buffersAttr.of(each.maker);
        if (number && number.getInt() > 0)
          continue; // said with the first
        Overflow::Held& held = overflow.held.emplace_back(Overflow::Held{each.bytes, {}});
        std::string by;
        if (ArrayAttr tunables = SvmDialect::sizedByAttr.of(each.maker))
          for (auto tunable : tunables.getAsRange<TunableAttr>()) {
            held.sizedBy.emplace_back(tunable.getName().str(), tunable.getInstance().str());
            by += (by.empty() ? "'" : ", '") + held.sizedBy.back().first + "' of instance '" +
                  held.sizedBy.back().second + "'";
          }
        std::string what = nameOf(each.maker) + " takes ";
        if (buffers)
          what = std::to_string(buffers.getInt()) + " buffers of " + nameOf(each.maker) + " take " +
                 std::to_string(buffers.getInt()) + " times ";
        report.note(what + std::to_string(each.bytes) + " bytes" + (by.empty() ? "" : " (" + by + ")"));
        isPipelined |= bool(buffers);
      }
    if (isPipelined)
      report.note("a loop that is pipelined (swp) keeps several buffers of what it transfers");
    auto function = held.back().maker->getParentOfType<func::FuncOp>();
    if (stacked_[id].contains(function)) {
      report.note("'" + function.getName().str() +
                  "' is called by a function that calls itself, so that its blocks lie behind all others");
    } else if (auto floors = floors_.find(function); floors != floors_.end() && floors->second.contains(id))
      if (int64_t before = floors->second[id]; before > 0)
        report.note("the first " + std::to_string(before) + " bytes are held by those who call '" +
                    function.getName().str() + "'");
    std::sort(overflow.held.begin(), overflow.held.end(),
              [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    if (overflows_)
      overflows_->push_back(std::move(overflow));
    report.help("make the blocks smaller (their tunables stand beside them above), or place some at another level");
  }

  ModuleOp program_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  std::vector<Overflow>* overflows_;
  SymbolTable symbols_;
  DenseMap<Operation*, bool> state_;
  std::vector<func::FuncOp> postOrder_;
  DenseSet<Operation*> done_;
  std::map<Operation*, Tops> floors_;
  std::map<uint32_t, DenseSet<Operation*>> stacked_; // memory to the functions whose blocks are on a stack there
  Tops ends_;                                        // memory to the end of all addresses
  bool foundStacked_ = false;
  bool isFinal_ = false; // addresses are given, and what is wrong is told
};

} // namespace

bool schedule(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics,
              std::vector<Overflow>* overflows) {
  return Scheduler(program, machine, diagnostics, overflows).run();
}

} // namespace strata::mapping

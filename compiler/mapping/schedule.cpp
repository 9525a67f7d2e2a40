// Addresses in explicit memories, as on a stack: a block lies above those of the regions around it and of the callers;
// a function that is called from several places lies above the highest of them. Blocks of regions that are not alive at
// once share addresses. Sizes are static bounds, so that a program that schedules cannot run out of an explicit memory.
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "compiler/transform/builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(unbounded, Error, "schedule-unbounded-block",
                  "{0} has no static bound, and memory '{1}' holds blocks of known size only");
STRATA_DIAGNOSTIC(doesNotFit, Error, "schedule-does-not-fit",
                  "memory '{0}' holds {1} bytes and {2} are wanted at once");
STRATA_DIAGNOSTIC(recursion, Error, "schedule-recursion", "'{0}' calls itself while it holds blocks in memory '{1}'");

namespace {

struct Held {
  BlockOp block;
  int64_t address, bytes;
};

std::string nameOf(BlockOp block) {
  return block.getLabel() ? "block '" + block.getLabel()->str() + "'" : "a block";
}

class Scheduler {
public:
  Scheduler(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), machine_(machine), diagnostics_(diagnostics), symbols_(program) {}

  bool run() {
    // Callers before callees: a function's floor is known when all its callers have been scheduled.
    for (auto function : program_.getOps<func::FuncOp>())
      order(function);
    for (func::FuncOp function : llvm::reverse(postOrder_))
      schedule(function);
    if (diagnostics_.hasErrors())
      return false;
    setStage(program_, Stage::Scheduled);
    return true;
  }

private:
  using Tops = std::map<uint32_t, int64_t>; // memory to the first free byte

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
      region(block, tops, {});
  }

  void region(Block& block, Tops tops, SmallVector<Held> held) {
    for (Operation& op : block) {
      if (auto made = dyn_cast<BlockOp>(op))
        assign(made, tops, held);
      if (auto call = dyn_cast<func::CallOp>(op)) {
        auto callee = symbols_.lookup<func::FuncOp>(call.getCallee());
        if (!callee)
          continue;
        for (auto [memory, top] : tops) {
          int64_t& floor = floors_[callee][memory];
          if (done_.contains(callee) && floor < top) {
            diagnostics_.report(recursion, sourceLocation(diagnostics_.sources(), op.getLoc()), callee.getName().str(),
                                machine_.memories[memory].name);
            return;
          }
          floor = std::max(floor, top);
        }
      }
      for (Region& inner : op.getRegions())
        for (Block& child : inner)
          region(child, tops, held);
    }
  }

  void assign(BlockOp block, Tops& tops, SmallVector<Held>& held) {
    machine::MemoryId id = machine_.memory(memoryOf(block.getBlock().getType()).str());
    if (!id.valid() || !machine_.isStore(id))
      return;
    const machine::Memory& memory = machine_[id];
    Location at = sourceLocation(diagnostics_.sources(), block.getLoc());
    int64_t alignment = static_cast<int64_t>(std::max<uint64_t>(
        memory.alignment, RecordType::alignmentInBytes(block.getBlock().getType().getElementType())));
    std::optional<int64_t> bytes = block.maxBytes(alignment);
    if (!bytes) {
      auto report = diagnostics_.report(unbounded, at, nameOf(block), memory.name);
      report.note("space in it is set aside before the program runs");
      report.help("bound the block: state its most elements with a constant or tunable, or give its array a size "
                  "precondition in the mapping");
      return;
    }
    int64_t& top = tops[id.value];
    int64_t address = static_cast<int64_t>(llvm::alignTo(top, alignment));
    held.push_back({block, address, *bytes});
    if (__builtin_add_overflow(address, *bytes, &top) || memory.capacity.exceededBy(top)) {
      refuse(at, memory, id.value, held, top);
      top = address; // goes on, to find what else is wrong
      return;
    }
    block.setAddress(address);
  }

  void refuse(Location at, const machine::Memory& memory, uint32_t id, ArrayRef<Held> held, int64_t wanted) {
    auto report = diagnostics_.report(doesNotFit, at, memory.name, memory.capacity.bytes, wanted);
    report.label("this does not fit any more");
    bool isPipelined = false;
    for (Held each : held)
      if (machine_.memory(memoryOf(each.block.getBlock().getType()).str()).value == id) {
        auto by = each.block->getAttrOfType<StringAttr>("svm.sized_by");
        auto number = each.block->getAttrOfType<IntegerAttr>(transform::bufferAttr);
        auto buffers = each.block->getAttrOfType<IntegerAttr>(transform::buffersAttr);
        if (number && number.getInt() > 0)
          continue; // said with the first
        std::string what = nameOf(each.block) + " takes ";
        if (buffers)
          what = std::to_string(buffers.getInt()) + " buffers of " + nameOf(each.block) + " take " +
                 std::to_string(buffers.getInt()) + " times ";
        report.note(what + std::to_string(each.bytes) + " bytes" + (by ? " (" + by.getValue().str() + ")" : ""));
        isPipelined |= bool(buffers);
      }
    if (isPipelined)
      report.note("a loop that is pipelined (swp) keeps several buffers of what it transfers");
    report.help("make the blocks smaller (their tunables stand beside them above), or place some at another level");
  }

  ModuleOp program_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  SymbolTable symbols_;
  DenseMap<Operation*, bool> state_;
  std::vector<func::FuncOp> postOrder_;
  DenseSet<Operation*> done_;
  std::map<Operation*, Tops> floors_;
};

} // namespace

bool schedule(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics) {
  return Scheduler(program, machine, diagnostics).run();
}

} // namespace strata::mapping

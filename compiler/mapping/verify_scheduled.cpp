// The verifier of scheduled programs: it follows the program's regions and calls with the set of live blocks, and
// compares address ranges pairwise.
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "compiler/mapping/verify_transfers.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::mapping {

STRATA_DIAGNOSTIC(noAddress, Error, "scheduled-without-address", "a block in memory '{0}' has no address");
STRATA_DIAGNOSTIC(badAddress, Error, "scheduled-bad-address",
                  "a block takes bytes {0} to {1} of memory '{2}', which holds {3}, in units of {4}");
STRATA_DIAGNOSTIC(overlap, Error, "scheduled-overlap",
                  "two live blocks of memory '{0}' overlap: bytes {1} to {2} and {3} to {4}");

namespace {

struct Range {
  std::string memory;
  int64_t begin, end;
};

class Checker {
public:
  Checker(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics)
      : program_(program), machine_(machine), diagnostics_(diagnostics) {}

  void follow(func::FuncOp function, const std::vector<Range>& live, unsigned depth) {
    // A caller that holds nothing in explicit memories adds nothing to what was seen already.
    if (live.empty() && !visited_.insert(function).second)
      return;
    if (depth < maxDepth)
      for (Block& block : function.getBody())
        follow(block, live, depth);
  }

private:
  static constexpr unsigned maxDepth = 64;

  void follow(Block& block, std::vector<Range> live, unsigned depth) {
    for (Operation& op : block) {
      if (auto made = dyn_cast<BlockOp>(op))
        enter(made, live);
      else if (auto call = dyn_cast<func::CallOp>(op)) {
        if (auto callee = program_.lookupSymbol<func::FuncOp>(call.getCallee()))
          follow(callee, live, depth + 1);
      }
      for (Region& region : op.getRegions())
        for (Block& inner : region)
          follow(inner, live, depth);
    }
  }

  void enter(BlockOp block, std::vector<Range>& live) {
    auto type = block.getBlock().getType();
    std::string name = memoryOf(type).str();
    machine::MemoryId id = machine_.memory(name);
    if (!id.valid() || !machine_.isStore(id))
      return;
    Location at = sourceLocation(diagnostics_.sources(), block.getLoc());
    const machine::Memory& memory = machine_[id];
    // Rows are padded to the memory's alignment.
    int64_t row = RecordType::sizeInBytes(type.getElementType()), rows = 1;
    for (int64_t dimension = 0; dimension < type.getRank(); ++dimension) {
      int64_t bound = block.getMax() ? (*block.getMax())[dimension] : -1;
      if (bound < 0)
        bound = getConstantIntValue(block.getExtents()[dimension]).value_or(0);
      (dimension + 1 == type.getRank() ? row : rows) *= bound;
    }
    uint64_t alignment = std::max<uint64_t>(memory.alignment, 1);
    row = (row + alignment - 1) / alignment * alignment;
    if (!block.getAddress()) {
      diagnostics_.report(noAddress, at, name);
      return;
    }
    Range range{name, static_cast<int64_t>(*block.getAddress()),
                static_cast<int64_t>(*block.getAddress()) + row * rows};
    if (range.begin < 0 || range.begin % alignment || memory.capacity.exceededBy(range.end))
      diagnostics_.report(badAddress, at, range.begin, range.end, name, memory.capacity.bytes, alignment);
    for (const Range& other : live)
      if (other.memory == name && range.begin < other.end && other.begin < range.end)
        diagnostics_.report(overlap, at, name, range.begin, range.end, other.begin, other.end);
    live.push_back(range);
  }

  ModuleOp program_;
  const Machine& machine_;
  DiagnosticEngine& diagnostics_;
  DenseSet<Operation*> visited_;
};

} // namespace

bool verifyScheduled(ModuleOp program, const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  Checker checker(program, machine, diagnostics);
  for (auto function : program.getOps<func::FuncOp>()) {
    if (function.isPublic())
      checker.follow(function, {}, 0);
    verifyTransfers(function, machine, diagnostics);
  }
  return diagnostics.errorCount() == before;
}

} // namespace strata::mapping

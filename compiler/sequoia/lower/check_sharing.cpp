// The proof, for each two arrays of a set. Either all that is done with one stands before all that is done with the
// other; or one is only read, and every read of an element comes before the write of the same element of the other: the
// two stand in the same loops, the loops' variables are the element's indices, so that another iteration touches
// another element, and in one iteration the read comes first.
#include "compiler/sequoia/lower/check_sharing.h"

#include "compiler/ir/locations.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::sequoia {

using mlir::Operation;
using mlir::Value;

STRATA_DIAGNOSTIC(cannotShare, Error, "sequoia-spaceshare",
                  "arrays '{0}' and '{1}' of instance '{2}' cannot lie at one address: {3}");
STRATA_DIAGNOSTIC(shareKind, Error, "sequoia-spaceshare-leaf",
                  "instance '{0}' shares the space of arrays, which only a leaf written in Sequoia can do");
STRATA_DIAGNOSTIC(shareLevels, Error, "sequoia-spaceshare-levels",
                  "arrays '{0}' and '{1}' of instance '{2}' share their space, and are at levels {3} and {4}");
STRATA_DIAGNOSTIC(shareUnused, Remark, "sequoia-spaceshare-unused",
                  "memory '{0}' is not divided by the program: sharing space in it changes nothing");

namespace {

struct Array {
  const Variable* variable = nullptr;
  unsigned argument = 0;
  llvm::SmallVector<memref::LoadOp> reads;
  llvm::SmallVector<memref::StoreOp> writes;
  Operation* opaque = nullptr; // a use that is neither

  bool isFilled() const { return isParameter() && variable->direction != Direction::Out; }
  bool isNeeded() const { return isParameter() && variable->direction != Direction::In; }
  bool isParameter() const { return variable->kind == VariableKind::Parameter; }
};

/// Accesses that may be of one element in the wrong order, the write first.
struct Conflict {
  Operation *read = nullptr, *write = nullptr;
};

/// Whether two index values are the same number whenever both are computed in one iteration.
bool same(Value a, Value b, unsigned depth = 0) {
  if (a == b)
    return true;
  Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
  if (!first || !second || depth > 20 || first->getName() != second->getName() || !mlir::isPure(first) ||
      first->getAttrDictionary() != second->getAttrDictionary() ||
      first->getNumOperands() != second->getNumOperands() || first->getNumResults() != 1 || first->getNumRegions() != 0)
    return false;
  for (auto [x, y] : llvm::zip(first->getOperands(), second->getOperands()))
    if (!same(x, y, depth + 1))
      return false;
  return true;
}

/// The loops around an operation, from the innermost; nothing when something else repeats it.
std::optional<llvm::SmallVector<scf::ForOp>> loopsAround(Operation* op) {
  llvm::SmallVector<scf::ForOp> loops;
  for (Operation* up = op->getParentOp(); up && !llvm::isa<svm::KernelOp>(up); up = up->getParentOp()) {
    if (auto loop = llvm::dyn_cast<scf::ForOp>(up))
      loops.push_back(loop);
    else if (!llvm::isa<scf::IfOp>(up))
      return std::nullopt;
  }
  return loops;
}

/// The operations that hold two others and stand in one block; equal when they are in different regions of one.
std::pair<Operation*, Operation*> standing(Operation* a, Operation* b) {
  for (Operation* up = a; up; up = up->getParentOp())
    if (Operation* other = up->getBlock() ? up->getBlock()->findAncestorOpInBlock(*b) : nullptr)
      return {up, other};
  return {nullptr, nullptr};
}

/// The variable that an index follows one to one: i, i + c, i - c or c - i with c from outside of the loops.
Value followed(Value index, llvm::ArrayRef<scf::ForOp> loops) {
  auto isOutside = [&](Value value) {
    return llvm::all_of(loops,
                        [&](scf::ForOp loop) { return !loop->isAncestor(value.getParentBlock()->getParentOp()); });
  };
  for (unsigned depth = 0; depth < 20; ++depth) {
    Operation* op = index.getDefiningOp();
    if (!op)
      return index;
    if (llvm::isa<arith::IndexCastOp, arith::ExtSIOp>(op))
      index = op->getOperand(0);
    else if (llvm::isa<arith::AddIOp, arith::SubIOp>(op) && isOutside(op->getOperand(1)))
      index = op->getOperand(0);
    else if (llvm::isa<arith::AddIOp, arith::SubIOp>(op) && isOutside(op->getOperand(0)))
      index = op->getOperand(1);
    else
      return {};
  }
  return {};
}

/// Whether the read of an element is over before the same element of the other array is written.
bool precedes(memref::LoadOp read, memref::StoreOp write) {
  auto loops = loopsAround(write), others = loopsAround(read);
  auto [first, second] = standing(read, write);
  if (!loops || !others || !first)
    return false;
  const bool isOrdered = first == second || first->isBeforeInBlock(second);
  bool shareNone = true, shareAll = true;
  for (scf::ForOp loop : *loops)
    (loop->isAncestor(read) ? shareNone : shareAll) = false;
  if (shareNone)
    return isOrdered;
  if (!shareAll || !isOrdered || read.getIndices().size() != write.getIndices().size())
    return false;
  for (auto [x, y] : llvm::zip(read.getIndices(), write.getIndices()))
    if (!same(x, y))
      return false;
  return llvm::all_of(*loops, [&](scf::ForOp loop) {
    return llvm::any_of(write.getIndices(),
                        [&](Value index) { return followed(index, *loops) == loop.getInductionVar(); });
  });
}

class SharingCheck {
public:
  SharingCheck(svm::KernelOp kernel, const Instance& instance, DiagnosticEngine& diagnostics)
      : kernel_(kernel), instance_(instance), diagnostics_(diagnostics) {}

  void pair(const Array& a, const Array& b, const Location& where) {
    auto refuse = [&](const std::string& why) {
      return diagnostics_.report(cannotShare, where, a.variable->name, b.variable->name, instance_.name, why);
    };
    if (!sameShape(a, b)) {
      refuse("their elements or extents are not the same")
          .label(a.variable->location, "one of them")
          .label(b.variable->location, "the other");
    } else if (a.isFilled() && b.isFilled()) {
      refuse("both have their values when the task begins")
          .label(a.variable->location, "one of them")
          .label(b.variable->location, "the other");
    } else if (a.isNeeded() && b.isNeeded()) {
      refuse("the values of both are wanted when the task has ended")
          .label(a.variable->location, "one of them")
          .label(b.variable->location, "the other");
    } else if (Operation* use = a.opaque ? a.opaque : b.opaque) {
      refuse("what becomes of their elements is not known here").label(at(use), "used here");
    } else {
      Conflict conflict;
      if (isOver(a, b) || isOver(b, a) || isElementwise(a, b, conflict) || isElementwise(b, a, conflict))
        return;
      auto report = refuse("an element of one may be read after the other's has been written");
      if (conflict.write)
        report.label(at(conflict.write), "this write").label(at(conflict.read), "may come before this");
      report.help("share the space of arrays of which each element is read before the same element of the other is "
                  "written, in the same loops, or leave spaceshare out");
    }
  }

  Array arrayOf(const Variable* variable, unsigned argument) {
    Array array;
    array.variable = variable;
    array.argument = argument;
    for (Operation* user : kernel_.getBody().getArgument(argument).getUsers()) {
      if (auto read = llvm::dyn_cast<memref::LoadOp>(user))
        array.reads.push_back(read);
      else if (auto write = llvm::dyn_cast<memref::StoreOp>(user))
        array.writes.push_back(write);
      else if (!llvm::isa<memref::DimOp>(user))
        array.opaque = user;
    }
    return array;
  }

private:
  Location at(Operation* op) const { return sourceLocation(diagnostics_.sources(), op->getLoc()); }

  bool sameShape(const Array& a, const Array& b) {
    auto maps = kernel_.getExtentsAttr();
    return maps && a.argument < maps.size() && b.argument < maps.size() && maps[a.argument] == maps[b.argument] &&
           a.variable->extents.size() == b.variable->extents.size() && a.variable->type->size == b.variable->type->size;
  }

  /// Whether the first is dead before the second comes to life.
  static bool isOver(const Array& first, const Array& second) {
    if (first.isNeeded() || second.isFilled())
      return false;
    llvm::SmallVector<Operation*> before(first.reads.begin(), first.reads.end()),
        after(second.reads.begin(), second.reads.end());
    before.append(first.writes.begin(), first.writes.end());
    after.append(second.writes.begin(), second.writes.end());
    for (Operation* early : before)
      for (Operation* late : after)
        if (!isBefore(early, late))
          return false;
    return true;
  }

  /// Whether all that one operation does comes before all that the other does.
  static bool isBefore(Operation* early, Operation* late) {
    auto [x, y] = standing(early, late);
    auto loops = loopsAround(x);
    return loops && loops->empty() && x != y && x->isBeforeInBlock(y);
  }

  static bool isElementwise(const Array& read, const Array& written, Conflict& conflict) {
    if (read.isNeeded() || written.isFilled())
      return false;
    // What the first gets before the second is written at all does no harm.
    for (memref::StoreOp each : read.writes)
      for (memref::StoreOp other : written.writes)
        if (!isBefore(each, other)) {
          conflict = {each, other};
          return false;
        }
    for (memref::LoadOp each : read.reads)
      for (memref::StoreOp other : written.writes)
        if (!precedes(each, other)) {
          conflict = {each, other};
          return false;
        }
    return true;
  }

  svm::KernelOp kernel_;
  const Instance& instance_;
  DiagnosticEngine& diagnostics_;
};

} // namespace

bool checkSharing(svm::KernelOp kernel, const Instance& instance, const std::vector<const Variable*>& arguments,
                  const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  if (!checkSharingKind(instance, machine, diagnostics) || instance.spaceShare.empty())
    return diagnostics.errorCount() == before;
  SharingCheck check(kernel, instance, diagnostics);
  for (const ResolvedSpaceShare& set : instance.spaceShare) {
    std::vector<Array> arrays;
    for (const Variable* variable : set.arrays)
      arrays.push_back(check.arrayOf(
          variable,
          static_cast<unsigned>(std::find(arguments.begin(), arguments.end(), variable) - arguments.begin())));
    for (size_t i = 0; i < arrays.size(); ++i)
      for (size_t j = i + 1; j < arrays.size(); ++j)
        check.pair(arrays[i], arrays[j], set.place);
  }
  return diagnostics.errorCount() == before;
}

bool checkSharingKind(const Instance& instance, const Machine& machine, DiagnosticEngine& diagnostics) {
  unsigned before = diagnostics.errorCount();
  for (const ResolvedSpaceShare& set : instance.spaceShare) {
    if (instance.variant->kind != TaskKind::Leaf) {
      diagnostics.report(shareKind, set.place, instance.name)
          .label(instance.variant->location, "the variant")
          .help("leave spaceshare out of this instance");
      continue;
    }
    unsigned level = instance.arrayLevels[set.arrays.front()->index];
    for (const Variable* other : set.arrays)
      if (unsigned its = instance.arrayLevels[other->index]; its != level)
        diagnostics.report(shareLevels, set.place, set.arrays.front()->name, other->name, instance.name, level, its)
            .help("place them at one level");
    machine::MemoryId memory = machine.levels[level].memory;
    if (!machine.isStore(memory))
      diagnostics.report(shareUnused, set.place, machine[memory].name);
  }
  return diagnostics.errorCount() == before;
}

} // namespace strata::sequoia

// A loop whose body costs the same in every iteration is counted once. Where that depends on the iteration (triangles,
// last tiles), all of a short loop are counted, and of a long one a sample. See kernel_cost.h.
#include "compiler/cost/kernel_cost.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace strata::cost {

namespace {

enum Class : size_t { Add, Multiply, Divide, Root, Function, Convert, Load, StoreClass, Branch, Call, Free };

/// In the order of Class: the name, and the cycles where a machine says nothing. docs/estimates.md has them too.
constexpr struct {
  const char* name;
  double cycles;
} classes[] = {
    {"add", 1},     {"multiply", 1}, {"divide", 16}, {"root", 16},  {"function", 40},
    {"convert", 1}, {"load", 1},     {"store", 1},   {"branch", 1}, {"call", 10},
};
static_assert(std::size(classes) == Free);

Class classOf(Operation* op) {
  // Indices are computed beside, and lead to the elements that count.
  const bool isOfIndices =
      op->getNumResults() > 0 && llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIndex(); });
  if (isa<memref::LoadOp, affine::AffineLoadOp, vector::LoadOp, vector::MaskedLoadOp, vector::TransferReadOp,
          vector::GatherOp, vector::ExpandLoadOp, svm::AtomicOp, svm::PopOp, svm::PeekOp>(op))
    return Load;
  if (isa<memref::StoreOp, affine::AffineStoreOp, vector::StoreOp, vector::MaskedStoreOp, vector::TransferWriteOp,
          vector::ScatterOp, vector::CompressStoreOp, svm::PushOp>(op))
    return StoreClass;
  if (isa<func::CallOp>(op))
    return Call;
  if (isOfIndices || op->hasTrait<OpTrait::IsTerminator>() || op->hasTrait<OpTrait::ConstantLike>() ||
      svm::isViewOfAnother(op) || isa<svm::CountOp, svm::CheckOp, svm::IndexOp, svm::StayOp>(op))
    return Free;
  if (isa<arith::MulFOp, arith::MulIOp, arith::MulSIExtendedOp, arith::MulUIExtendedOp, math::FmaOp, vector::FMAOp>(op))
    return Multiply;
  if (isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return Divide;
  if (isa<math::SqrtOp, math::RsqrtOp>(op))
    return Root;
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
    return Convert;
  if (isa<math::AbsFOp, math::AbsIOp, math::CopySignOp, math::CtPopOp>(op))
    return Add;
  if (isa<math::MathDialect>(op->getDialect()))
    return Function;
  if (isa<arith::ArithDialect>(op->getDialect()) &&
      !isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::BitcastOp>(
          op))
    return Add;
  if (isa<vector::ReductionOp, vector::ShuffleOp, vector::InsertOp, vector::ExtractOp>(op))
    return Add;
  return Free;
}

/// Registers that the operation's values take: of what it makes, or of what it stores.
double registersOf(Operation* op, uint64_t vectorBytes) {
  double most = 1;
  const auto count = [&](Type type) {
    const auto vector = dyn_cast<VectorType>(type);
    if (!vector || vector.isScalable())
      return;
    const unsigned bits = vector.getElementType().isIntOrFloat() ? vector.getElementTypeBitWidth() : 64;
    // Masks lie in registers of their own.
    const double bytes = bits == 1 ? 1 : static_cast<double>(vector.getNumElements()) * bits / 8;
    most = std::max(most, std::ceil(bytes / static_cast<double>(vectorBytes)));
  };
  for (Type type : op->getResultTypes())
    count(type);
  for (Type type : op->getOperandTypes())
    count(type);
  return most;
}

/// Elements that are reached one by one.
double elementsReached(Operation* op) {
  if (auto gather = dyn_cast<vector::GatherOp>(op))
    return static_cast<double>(gather.getVectorType().getNumElements());
  if (auto scatter = dyn_cast<vector::ScatterOp>(op))
    return static_cast<double>(scatter.getVectorType().getNumElements());
  return 0;
}

constexpr int64_t sample = 32;           // iterations of a loop that are looked at
constexpr int64_t mostIterations = 4096; // of a loop with a condition
constexpr uint64_t mostLooked =
    4'000'000; // operations of a kernel; from then on one iteration of a loop stands for all

} // namespace

std::vector<std::string> costNames() {
  std::vector<std::string> names = {startCost, moveCost};
  for (const auto& each : classes)
    names.emplace_back(each.name);
  return names;
}

std::optional<double> statedCost(const machine::Processor& processor, std::string_view name) {
  const auto found = processor.costs.find(std::string(name));
  return found == processor.costs.end() ? std::nullopt : std::optional(static_cast<double>(found->second));
}

KernelCosts::KernelCosts(const Machine& machine, std::vector<Assumption>& assumptions)
    : machine_(machine), figures_(machine::figuresOf(machine)), assumptions_(assumptions) {}

const KernelCosts::Table& KernelCosts::tableOf(machine::ProcessorId id) {
  const auto [found, isNew] = tables_.try_emplace(id.value);
  Table& table = found->second;
  if (!isNew)
    return table;
  const machine::Processor& processor = machine_[id];
  table.vectorBytes = processor.vector.value_or(figures_.vectorBytes);
  for (const auto& each : classes)
    table.cycles.push_back(statedCost(processor, each.name).value_or(each.cycles));
  table.cycles.push_back(0); // Free
  return table;
}

double KernelCosts::ofOperation(Operation* op, machine::ProcessorId processor) {
  const Table& table = tableOf(processor);
  return table.cycles[classOf(op)] * std::max(registersOf(op, table.vectorBytes), elementsReached(op));
}

double KernelCosts::of(svm::KernelOp kernel, machine::ProcessorId processor, llvm::ArrayRef<Known> arguments) {
  if (const auto stated = statedCost(machine_[processor], kernel.getName()))
    return *stated;
  if (kernel.kind() == svm::KernelKind::BlackBox)
    if (const auto stated = statedCost(machine_[processor], *kernel.getBlackbox()))
      return *stated;
  if (!kernel.isStructured()) {
    if (assumed_.insert(kernel).second)
      assumptions_.push_back({kernel.getLoc(), "what the kernel takes is not known, and counts as nothing"});
    return 0;
  }
  std::vector<int64_t> key;
  for (const Known& each : arguments) {
    key.push_back(static_cast<int64_t>(each.kind));
    key.push_back(static_cast<int64_t>(each.bits));
    key.insert(key.end(), each.extents.begin(), each.extents.end());
  }
  const auto [found, isNew] = known_.try_emplace({kernel.getOperation(), processor.value, std::move(key)}, 0);
  if (!isNew)
    return found->second;
  looked_ = 0;
  assuming_.clear();
  KnownValues values;
  for (auto [argument, known] : llvm::zip(kernel.getBody().getArguments(), arguments))
    values.set(argument, known);
  found->second = region(kernel.getBody(), values, tableOf(processor)).cycles;
  for (const auto& [op, text] : assuming_)
    if (assumed_.insert(op).second)
      assumptions_.push_back({op->getLoc(), text});
  return found->second;
}

void KernelCosts::assume(Operation* op, const char* text) {
  if (!assumed_.contains(op))
    assuming_.emplace_back(op, text);
}

KernelCosts::Sum KernelCosts::region(Region& region, KnownValues& values, const Table& table) {
  Sum sum;
  for (Block& block : region)
    for (Operation& op : block)
      sum += operation(&op, values, table);
  return sum;
}

KernelCosts::Sum KernelCosts::loop(Operation* op, Value iteration, std::optional<int64_t> lower,
                                   std::optional<int64_t> upper, std::optional<int64_t> step, KnownValues& values,
                                   const Table& table) {
  Region& body = op->getRegion(0);
  const double overhead = table.cycles[Branch];
  for (Value argument : body.getArguments())
    values.forget(argument);
  values.forgetVariables(op);
  const bool isKnown = lower && upper && step;
  const int64_t count = isKnown ? iterations(*lower, *upper, *step) : assumedIterations;
  if (!isKnown)
    assume(op, assumedIterationsText);
  if (count == 0)
    return {0, !isKnown};
  // What is assumed because the iteration is not known yet is taken back where iterations are looked at one by one.
  const size_t assumedBefore = assuming_.size();
  const Sum all = region(body, values, table);
  values.forgetVariables(op);
  if (!all.isOpen || !isKnown || looked_ > mostLooked)
    return {static_cast<double>(count) * (all.cycles + overhead), !isKnown || all.isOpen};
  assuming_.resize(assumedBefore);
  const int64_t looked = std::min(count, sample);
  double sum = 0;
  int64_t number = 0;
  bool isOpen = false;
  while (number < looked && looked_ <= mostLooked) {
    // In the middle of equal shares; all where there are few.
    const int64_t at = looked == count ? number : (2 * number + 1) * count / (2 * looked);
    values.set(iteration, Known::number(*lower + at * *step));
    const Sum each = region(body, values, table);
    values.forgetVariables(op);
    sum += each.cycles;
    isOpen |= each.isOpen;
    if (++number == 1 && each.isOpen) // on data, rather
      break;
  }
  return {static_cast<double>(count) * (sum / static_cast<double>(number) + overhead), isOpen};
}

KernelCosts::Sum KernelCosts::operation(Operation* op, KnownValues& values, const Table& table) {
  const double branch = table.cycles[Branch];
  ++looked_;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    const Sum sum = this->loop(op, loop.getInductionVar(), values.integer(loop.getLowerBound()),
                               values.integer(loop.getUpperBound()), values.integer(loop.getStep()), values, table);
    for (Value result : op->getResults())
      values.forget(result);
    return sum;
  }
  if (auto loop = dyn_cast<affine::AffineForOp>(op)) {
    const auto lower = values.map(loop.getLowerBoundMap(), loop.getLowerBoundOperands()),
               upper = values.map(loop.getUpperBoundMap(), loop.getUpperBoundOperands());
    return this->loop(op, loop.getInductionVar(), lower ? std::optional(*llvm::max_element(*lower)) : std::nullopt,
                      upper ? std::optional(*llvm::min_element(*upper)) : std::nullopt, loop.getStepAsInt(), values,
                      table);
  }
  if (isa<scf::IfOp, affine::AffineIfOp>(op)) {
    auto choice = dyn_cast<scf::IfOp>(op);
    std::optional<bool> holds;
    if (!choice) {
      auto affine = cast<affine::AffineIfOp>(op);
      holds = values.contains(affine.getIntegerSet(), affine.getOperands());
    } else if (const auto condition = values.integer(choice.getCondition())) {
      holds = *condition != 0;
    }
    Sum sum{branch, !holds};
    Sum sides[2];
    for (unsigned side = 0; side < 2; ++side)
      if (!op->getRegion(side).empty() && (!holds || *holds == (side == 0)))
        sides[side] = region(op->getRegion(side), values, table);
    // The dearer side, where it is not known which is taken.
    sum.cycles += std::max(sides[0].cycles, sides[1].cycles);
    sum.isOpen |= sides[0].isOpen || sides[1].isOpen;
    if (!holds)
      values.forgetVariables(op);
    for (auto [number, result] : llvm::enumerate(op->getResults())) {
      values.forget(result);
      if (holds && !op->getRegion(*holds ? 0 : 1).empty())
        values.set(
            result,
            values.of(
                op->getRegion(*holds ? 0 : 1).front().getTerminator()->getOperand(static_cast<unsigned>(number))));
    }
    return sum;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    Sum sum;
    int64_t number = 0;
    const auto each = [&](Region& region) {
      sum += this->region(region, values, table);
      sum.cycles += &region == &loop.getBefore() ? branch : 0;
    };
    if (follow(loop, values, each, [&] { return ++number > mostIterations || looked_ > mostLooked; })) {
      assume(op, assumedIterationsText);
      sum.isOpen = true;
    }
    return sum;
  }
  if (op->getNumRegions() > 0) { // masks, scopes
    Sum sum;
    for (Region& each : op->getRegions())
      sum += region(each, values, table);
    return sum;
  }
  values.evaluate(op);
  return {table.cycles[classOf(op)] * std::max(registersOf(op, table.vectorBytes), elementsReached(op)), false};
}

} // namespace strata::cost

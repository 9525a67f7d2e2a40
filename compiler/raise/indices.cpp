// Walks instructions first and LLVM's expressions where there is no instruction: an instruction may promise more than
// ScalarEvolution may assume of all equal expressions.
#include "compiler/raise/indices.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Operator.h"

namespace strata::raise {

/// Farther from an index than this nobody looks for neighbours.
static constexpr uint64_t near = 1 << 20;

void Indices::state(const llvm::Argument* argument, Polynomial value, bool isSmall) {
  stated_[argument] = {std::move(value), isSmall};
}

const Atom* Indices::unknown(const llvm::Value* value, Widening widening) {
  return atoms_.get({.value = value, .widening = value->getType()->isIntegerTy(64) ? Widening::Signed : widening});
}

/// (whole << a) >> b: the lower 64 - a bits with their sign, times 2^(a - b).
struct LowerBits {
  const llvm::Value* whole = nullptr; // null: a value has another form
  unsigned bits = 0;
  int64_t factor = 1;
};

static LowerBits lowerBits(const llvm::Operator* op) {
  const auto by = [](const llvm::Operator* shift) -> uint64_t {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(shift->getOperand(1));
    return constant && constant->getValue().ult(64) ? constant->getZExtValue() : 0;
  };
  const auto* inner = op->getNumOperands() ? llvm::dyn_cast<llvm::Operator>(op->getOperand(0)) : nullptr;
  if (op->getOpcode() != llvm::Instruction::AShr || !inner || inner->getOpcode() != llvm::Instruction::Shl ||
      !op->getType()->isIntegerTy(64) || !by(inner) || by(op) > by(inner))
    return {};
  return {inner->getOperand(0), static_cast<unsigned>(64 - by(inner)), int64_t(1) << (by(inner) - by(op))};
}

bool Indices::isSmall(const llvm::Value* value, Widening widening) const {
  if (const auto found = stated_.find(value); found != stated_.end())
    return found->second.isSmall;
  const auto* op = llvm::dyn_cast<llvm::Operator>(value);
  if (!op)
    return false;
  switch (op->getOpcode()) {
  case llvm::Instruction::Trunc:
    return value->getType()->getIntegerBitWidth() >= 32 && isSmall(op->getOperand(0), widening);
  case llvm::Instruction::SExt:
  case llvm::Instruction::ZExt:
  case llvm::Instruction::Freeze:
    return isSmall(op->getOperand(0), widening);
  case llvm::Instruction::AShr:
    if (const LowerBits lower = lowerBits(op); lower.whole && lower.bits >= 32 && lower.factor == 1)
      return isSmall(lower.whole, widening);
    return false;
  case llvm::Instruction::Add:
  case llvm::Instruction::Sub: {
    const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(op->getOperand(1));
    if (!constant || constant->getValue().abs().uge(near) || !isSmall(op->getOperand(0), widening))
      return false;
    return widening == Widening::Signed || constant->isNegative() == (op->getOpcode() == llvm::Instruction::Sub);
  }
  default:
    return false;
  }
}

/// Whether a polynomial is one that indices are made of: a product of sums doubles with each factor.
static bool isShort(const Polynomial& polynomial) {
  constexpr size_t mostTerms = 64, mostFactors = 8;
  return polynomial.terms().size() <= mostTerms &&
         llvm::all_of(polynomial.terms(), [](const auto& term) { return term.first.size() <= mostFactors; });
}

Polynomial Indices::of(const llvm::Value* value, Widening widening) {
  if (const auto known = known_.find({value, widening}); known != known_.end())
    return known->second;
  Polynomial made = compute(value, widening);
  if (!isShort(made))
    made = Polynomial::of(unknown(value, widening));
  return known_.emplace(std::pair(value, widening), std::move(made)).first->second;
}

Polynomial Indices::compute(const llvm::Value* value, Widening widening) {
  const unsigned bits = value->getType()->getIntegerBitWidth();
  if (const auto found = stated_.find(value); found != stated_.end())
    return found->second.value;
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(value))
    return Polynomial::constant(widening == Widening::Signed ? constant->getSExtValue()
                                                             : static_cast<int64_t>(constant->getZExtValue()));
  const auto* op = llvm::dyn_cast<llvm::Operator>(value);
  if (!op)
    return Polynomial::of(unknown(value, widening));
  auto operand = [&](unsigned number, Widening as) { return of(op->getOperand(number), as); };
  auto isExact = [&] {
    const auto* promises = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(op);
    if (bits == 64 ||
        (promises && (widening == Widening::Signed ? promises->hasNoSignedWrap() : promises->hasNoUnsignedWrap())))
      return true;
    if (bits < 32 || !isSmall(value, widening))
      return false;
    reliesOnSmall_ = true;
    return true;
  };
  switch (op->getOpcode()) {
  case llvm::Instruction::Add:
    if (isExact())
      return operand(0, widening).add(operand(1, widening));
    break;
  case llvm::Instruction::Sub:
    if (isExact())
      return operand(0, widening).add(operand(1, widening), -1);
    break;
  case llvm::Instruction::Mul:
    if (isExact())
      return operand(0, widening).times(operand(1, widening));
    break;
  case llvm::Instruction::Shl:
    if (const auto* by = llvm::dyn_cast<llvm::ConstantInt>(op->getOperand(1));
        by && by->getValue().ult(32) && isExact())
      return operand(0, widening).times(Polynomial::constant(int64_t(1) << by->getZExtValue()));
    break;
  case llvm::Instruction::Or:
    if (const auto* both = llvm::dyn_cast<llvm::PossiblyDisjointInst>(value); both && both->isDisjoint())
      return operand(0, widening).add(operand(1, widening));
    break;
  case llvm::Instruction::SExt:
    if (widening == Widening::Signed || bits == 64)
      return operand(0, Widening::Signed);
    break;
  case llvm::Instruction::ZExt: {
    const auto* extension = llvm::dyn_cast<llvm::PossiblyNonNegInst>(value);
    return operand(0, extension && extension->hasNonNeg() ? Widening::Signed : Widening::Unsigned);
  }
  case llvm::Instruction::Trunc:
    if (bits >= 32 && isSmall(op->getOperand(0), widening)) {
      reliesOnSmall_ = true;
      return operand(0, widening);
    }
    break;
  case llvm::Instruction::AShr:
    if (const LowerBits lower = lowerBits(op); lower.whole) {
      const bool isWhole = lower.bits >= 32 && isSmall(lower.whole, Widening::Signed);
      reliesOnSmall_ |= isWhole;
      return (isWhole ? of(lower.whole, Widening::Signed)
                      : Polynomial::of(atoms_.get({.value = lower.whole, .bits = lower.bits})))
          .times(Polynomial::constant(lower.factor));
    }
    break;
  case llvm::Instruction::Freeze:
    return operand(0, widening);
  case llvm::Instruction::PHI:
    if (auto grows = recurrence(llvm::cast<llvm::PHINode>(value), widening))
      return *grows;
    break;
  default:
    break;
  }
  // What is known to be a multiple is one, so that addresses can be divided.
  const unsigned zeros = llvm::computeKnownBits(value, analyses_.layout).countMinTrailingZeros();
  if (zeros == 0 || zeros > 30 || zeros >= bits)
    return Polynomial::of(unknown(value, widening));
  const Widening as = bits == 64 ? Widening::Signed : widening;
  return Polynomial::of(atoms_.get({.value = value, .widening = as, .shift = zeros}))
      .times(Polynomial::constant(int64_t(1) << zeros));
}

std::optional<Polynomial> Indices::recurrence(const llvm::PHINode* phi, Widening widening) {
  const llvm::Loop* loop = analyses_.loops.getLoopFor(phi->getParent());
  const CountedLoop* counted = loop && loop->getHeader() == phi->getParent() ? loops_.of(loop) : nullptr;
  if (!counted || !phi->getType()->isIntegerTy() || phi->getType()->getIntegerBitWidth() > 64)
    return std::nullopt;
  if (counted->variable == phi)
    return Polynomial::of(atoms_.get({.loop = loop}));
  const auto* grows =
      llvm::dyn_cast<llvm::SCEVAddRecExpr>(analyses_.evolution.getSCEV(const_cast<llvm::PHINode*>(phi)));
  if (!grows || !grows->isAffine() || grows->getLoop() != loop)
    return std::nullopt;
  if (!phi->getType()->isIntegerTy(64) &&
      !(widening == Widening::Signed ? grows->hasNoSignedWrap() : grows->hasNoUnsignedWrap()))
    return std::nullopt;
  Polynomial step = of(grows->getStepRecurrence(analyses_.evolution), Widening::Signed);
  return of(grows->getStart(), widening).add(step.times(iterations(loop)));
}

/// How many iterations of a loop have ended.
Polynomial Indices::iterations(const llvm::Loop* loop) {
  const CountedLoop* counted = loops_.of(loop);
  Polynomial variable = Polynomial::of(atoms_.get({.loop = loop}));
  return counted && counted->variable ? variable.add(of(counted->recurrence->getStart(), counted->widening), -1)
                                      : variable;
}

Polynomial Indices::of(const llvm::SCEV* expression, Widening widening) {
  if (const auto* constant = llvm::dyn_cast<llvm::SCEVConstant>(expression))
    return Polynomial::constant(widening == Widening::Signed
                                    ? constant->getAPInt().getSExtValue()
                                    : static_cast<int64_t>(constant->getAPInt().getZExtValue()));
  if (const auto* value = llvm::dyn_cast<llvm::SCEVUnknown>(expression); value && value->getType()->isIntegerTy())
    return of(value->getValue(), widening);
  const uint64_t bits = analyses_.evolution.getTypeSizeInBits(expression->getType());
  auto isExact = [&](const llvm::SCEVNAryExpr* sum) {
    return bits == 64 || (widening == Widening::Signed ? sum->hasNoSignedWrap() : sum->hasNoUnsignedWrap());
  };
  if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(expression); sum && isExact(sum)) {
    Polynomial result;
    for (const llvm::SCEV* part : sum->operands())
      result.add(of(part, widening));
    return result;
  }
  if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(expression); product && isExact(product)) {
    Polynomial result = Polynomial::constant(1);
    for (const llvm::SCEV* part : product->operands()) {
      result = result.times(of(part, widening));
      if (!isShort(result))
        return Polynomial::of(
            atoms_.get({.expression = expression, .widening = bits == 64 ? Widening::Signed : widening}));
    }
    return result;
  }
  if (const auto* wider = llvm::dyn_cast<llvm::SCEVSignExtendExpr>(expression);
      wider && (widening == Widening::Signed || bits == 64))
    return of(wider->getOperand(), Widening::Signed);
  if (const auto* wider = llvm::dyn_cast<llvm::SCEVZeroExtendExpr>(expression))
    return of(wider->getOperand(), Widening::Unsigned);
  if (const auto* grows = llvm::dyn_cast<llvm::SCEVAddRecExpr>(expression);
      grows && grows->isAffine() && isExact(grows) && loops_.of(grows->getLoop()))
    return of(grows->getStart(), widening)
        .add(of(grows->getStepRecurrence(analyses_.evolution), Widening::Signed).times(iterations(grows->getLoop())));
  return Polynomial::of(atoms_.get({.expression = expression, .widening = bits == 64 ? Widening::Signed : widening}));
}

/// What ScalarEvolution takes a phi of pointers to start from; null where it knows no more than the phi. Behind a loop
/// the loop's variable says nothing, nor does another value of the loop, through which ScalarEvolution sees.
const llvm::Value* Indices::startOf(const llvm::Value* pointer) {
  const llvm::SCEV* evolves = analyses_.evolution.getSCEV(const_cast<llvm::Value*>(pointer));
  const auto* base = llvm::dyn_cast<llvm::SCEVUnknown>(analyses_.evolution.getPointerBase(evolves));
  const llvm::BasicBlock* block = llvm::cast<llvm::PHINode>(pointer)->getParent();
  const bool isBehind = llvm::SCEVExprContains(evolves, [&](const llvm::SCEV* part) {
    const auto* grows = llvm::dyn_cast<llvm::SCEVAddRecExpr>(part);
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    const auto* inside = unknown ? llvm::dyn_cast<llvm::Instruction>(unknown->getValue()) : nullptr;
    const llvm::Loop* loop = grows    ? grows->getLoop()
                             : inside ? analyses_.loops.getLoopFor(inside->getParent())
                                      : nullptr;
    return loop && !loop->contains(block);
  });
  return base && base->getValue() != pointer && !isBehind ? base->getValue() : nullptr;
}

const llvm::Value* Indices::baseOf(const llvm::Value* pointer) {
  for (;;) {
    if (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      pointer = step->getPointerOperand();
      continue;
    }
    const llvm::Value* start = llvm::isa<llvm::PHINode>(pointer) ? startOf(pointer) : nullptr;
    if (!start)
      return isChosen(pointer) ? chosen_[pointer].base : pointer;
    pointer = start;
  }
}

/// The pointers of which one is taken.
static llvm::SmallVector<const llvm::Value*> choicesOf(const llvm::Value* pointer) {
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(pointer))
    return {select->getTrueValue(), select->getFalseValue()};
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer))
    return llvm::SmallVector<const llvm::Value*>(phi->incoming_values());
  return {};
}

bool Indices::isChosen(const llvm::Value* pointer) {
  if (!areChosenFound_)
    findChosen();
  return chosen_.contains(pointer);
}

/// All choices among pointers of the function: those that lead into one array, and then what all their distances from
/// its beginning are multiples of.
void Indices::findChosen() {
  areChosenFound_ = true;
  std::vector<const llvm::Value*> all;
  for (const llvm::Instruction& instruction : llvm::instructions(analyses_.function))
    if (instruction.getType()->isPointerTy() && !choicesOf(&instruction).empty() &&
        (llvm::isa<llvm::SelectInst>(instruction) || !startOf(&instruction)))
      all.push_back(&instruction);
  for (const llvm::Value* each : all) {
    const llvm::Value* base = nullptr;
    bool isOne = true;
    llvm::SmallSetVector<const llvm::Value*, 8> open;
    open.insert(each);
    for (size_t next = 0; next < open.size() && isOne; ++next)
      for (const llvm::Value* pointer : choicesOf(open[next])) {
        for (const llvm::Value* from = pointer; from;) {
          pointer = from;
          const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer);
          from = step ? step->getPointerOperand() : llvm::isa<llvm::PHINode>(pointer) ? startOf(pointer) : nullptr;
        }
        if (llvm::isa<llvm::UndefValue>(pointer))
          continue;
        if (!choicesOf(pointer).empty()) {
          open.insert(pointer);
          continue;
        }
        isOne &= !base || base == pointer;
        base = pointer;
      }
    if (isOne && llvm::isa_and_nonnull<llvm::Argument, llvm::AllocaInst, llvm::GlobalVariable>(base))
      chosen_[each] = {base, 3};
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [pointer, chosen] : chosen_)
      for (const llvm::Value* each : choicesOf(pointer)) {
        const Polynomial bytes = bytesOf(each);
        while (chosen.shift && !bytes.dividedBy(int64_t(1) << chosen.shift)) {
          --chosen.shift;
          changed = true;
        }
      }
  }
}

Polynomial Indices::bytesOf(const llvm::Value* pointer) {
  Polynomial sum;
  for (;;) {
    if (const auto* step = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
      for (auto index = llvm::gep_type_begin(step), end = llvm::gep_type_end(step); index != end; ++index) {
        if (llvm::StructType* type = index.getStructTypeOrNull())
          sum.add(Polynomial::constant(
              static_cast<int64_t>(uint64_t(analyses_.layout.getStructLayout(type)->getElementOffset(
                  static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(index.getOperand())->getZExtValue()))))));
        else
          sum.add(of(index.getOperand(), Widening::Signed),
                  static_cast<int64_t>(uint64_t(index.getSequentialElementStride(analyses_.layout))));
      }
      pointer = step->getPointerOperand();
      continue;
    }
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(pointer);
    const llvm::Value* start = phi ? startOf(phi) : nullptr;
    if (!start)
      break;
    const llvm::SCEV* bytes =
        analyses_.evolution.removePointerBase(analyses_.evolution.getSCEV(const_cast<llvm::PHINode*>(phi)));
    if (walksEvenly(phi)) {
      const auto* grows = llvm::cast<llvm::SCEVAddRecExpr>(bytes);
      Polynomial step = of(grows->getStepRecurrence(analyses_.evolution), Widening::Signed);
      sum.add(of(grows->getStart(), Widening::Signed)).add(step.times(iterations(grows->getLoop())));
    } else {
      sum.add(of(bytes, Widening::Signed));
    }
    pointer = start;
  }
  if (!isChosen(pointer))
    return sum;
  const unsigned shift = chosen_[pointer].shift;
  return sum.add(Polynomial::of(atoms_.get({.value = pointer, .shift = shift})), int64_t(1) << shift);
}

bool Indices::walksEvenly(const llvm::PHINode* pointer) {
  const auto* grows =
      llvm::dyn_cast<llvm::SCEVAddRecExpr>(analyses_.evolution.getSCEV(const_cast<llvm::PHINode*>(pointer)));
  const llvm::Loop* loop = analyses_.loops.getLoopFor(pointer->getParent());
  return grows && grows->isAffine() && loop && grows->getLoop() == loop && loop->getHeader() == pointer->getParent() &&
         startOf(pointer);
}

} // namespace strata::raise

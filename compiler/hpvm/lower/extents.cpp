// Integer arithmetic, instruction by instruction. A division by zero, which the program would have made, is an error of
// the program here too.
#include "compiler/hpvm/lower/extents.h"

#include "compiler/hpvm/graph/graph.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/ir/locations.h"
#include "compiler/ir/svm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/IR/IntrinsicInst.h"

namespace arith = mlir::arith;

using mlir::Value;

namespace strata::hpvm {

STRATA_DIAGNOSTIC(extentUnknown, Error, "hpvm-extent",
                  "the extent is computed in a way that this version does not follow");

namespace {

class ExtentLowering {
public:
  ExtentLowering(const std::vector<Value>& inputs, mlir::OpBuilder& builder, mlir::Location place,
                 DiagnosticEngine& diagnostics)
      : inputs_(inputs), builder_(builder), place_(place), diagnostics_(diagnostics) {}

  Value lower(llvm::Value& value) {
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(&value))
      return llvm::isa<mlir::MemRefType>(inputs_[argument->getArgNo()].getType()) ? Value()
                                                                                  : inputs_[argument->getArgNo()];
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(&value))
      return make<arith::ConstantOp>(
          builder_.getIntegerAttr(builder_.getIntegerType(constant->getBitWidth()), constant->getValue()));
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    Value result = instruction ? lower(*instruction) : Value();
    if (!result && !isReported_) {
      isReported_ = true;
      auto report =
          diagnostics_.report(extentUnknown, instruction ? placeOf(*instruction, diagnostics_.sources()) : Location());
      report.help("compute it by additions, multiplications, divisions and choices of the node's integer inputs");
    }
    return result;
  }

private:
  template <typename Op, typename... Arguments>
  Value make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }

  Value lower(llvm::Instruction& instruction) {
    llvm::SmallVector<Value> operands;
    const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    const unsigned count = intrinsic ? intrinsic->arg_size() : instruction.getNumOperands();
    if (!instruction.getType()->isIntegerTy() || (llvm::isa<llvm::CallBase>(instruction) && !intrinsic))
      return {};
    for (unsigned number = 0; number < count; ++number) {
      if (!instruction.getOperand(number)->getType()->isIntegerTy())
        return {};
      operands.push_back(lower(*instruction.getOperand(number)));
      if (!operands.back())
        return {};
    }
    const mlir::Type type = builder_.getIntegerType(instruction.getType()->getIntegerBitWidth());
    if (intrinsic)
      return lower(*intrinsic, operands);
    switch (instruction.getOpcode()) {
    case llvm::Instruction::Add:
      return make<arith::AddIOp>(operands[0], operands[1]);
    case llvm::Instruction::Sub:
      return make<arith::SubIOp>(operands[0], operands[1]);
    case llvm::Instruction::Mul:
      return make<arith::MulIOp>(operands[0], operands[1]);
    case llvm::Instruction::UDiv:
      return checkDivisor(instruction, operands[1]), make<arith::DivUIOp>(operands[0], operands[1]);
    case llvm::Instruction::SDiv:
      return checkDivisor(instruction, operands[1]), make<arith::DivSIOp>(operands[0], operands[1]);
    case llvm::Instruction::URem:
      return checkDivisor(instruction, operands[1]), make<arith::RemUIOp>(operands[0], operands[1]);
    case llvm::Instruction::SRem:
      return checkDivisor(instruction, operands[1]), make<arith::RemSIOp>(operands[0], operands[1]);
    case llvm::Instruction::And:
      return make<arith::AndIOp>(operands[0], operands[1]);
    case llvm::Instruction::Or:
      return make<arith::OrIOp>(operands[0], operands[1]);
    case llvm::Instruction::Xor:
      return make<arith::XOrIOp>(operands[0], operands[1]);
    case llvm::Instruction::Shl:
      return isKnownShift(instruction) ? make<arith::ShLIOp>(operands[0], operands[1]) : Value();
    case llvm::Instruction::LShr:
      return isKnownShift(instruction) ? make<arith::ShRUIOp>(operands[0], operands[1]) : Value();
    case llvm::Instruction::AShr:
      return isKnownShift(instruction) ? make<arith::ShRSIOp>(operands[0], operands[1]) : Value();
    case llvm::Instruction::ZExt:
      return make<arith::ExtUIOp>(type, operands[0]);
    case llvm::Instruction::SExt:
      return make<arith::ExtSIOp>(type, operands[0]);
    case llvm::Instruction::Trunc:
      return make<arith::TruncIOp>(type, operands[0]);
    case llvm::Instruction::Select:
      return make<arith::SelectOp>(operands[0], operands[1], operands[2]);
    case llvm::Instruction::ICmp:
      return make<arith::CmpIOp>(predicateOf(llvm::cast<llvm::ICmpInst>(instruction).getPredicate()), operands[0],
                                 operands[1]);
    default:
      return {};
    }
  }

  Value lower(const llvm::IntrinsicInst& intrinsic, llvm::ArrayRef<Value> operands) {
    switch (intrinsic.getIntrinsicID()) {
    case llvm::Intrinsic::umin:
      return make<arith::MinUIOp>(operands[0], operands[1]);
    case llvm::Intrinsic::umax:
      return make<arith::MaxUIOp>(operands[0], operands[1]);
    case llvm::Intrinsic::smin:
      return make<arith::MinSIOp>(operands[0], operands[1]);
    case llvm::Intrinsic::smax:
      return make<arith::MaxSIOp>(operands[0], operands[1]);
    default:
      return {};
    }
  }

  static bool isKnownShift(const llvm::Instruction& shift) {
    const auto* by = llvm::dyn_cast<llvm::ConstantInt>(shift.getOperand(1));
    return by && by->getValue().ult(by->getBitWidth());
  }

  /// The divisor is not zero. (Nor is it -1 under the smallest number, where C is undefined: extents are sizes, and
  /// divisors that may be negative are refused.)
  void checkDivisor(const llvm::Instruction& division, Value divisor) {
    const mlir::Location at =
        locationAt(diagnostics_.sources(), placeOf(division, diagnostics_.sources()), *builder_.getContext());
    Value zero = make<arith::ConstantOp>(builder_.getIntegerAttr(divisor.getType(), 0));
    Value fine = make<arith::CmpIOp>(arith::CmpIPredicate::sgt, divisor, zero);
    builder_.create<svm::CheckOp>(
        at, fine, builder_.getStringAttr("hpvm-division"),
        builder_.getStringAttr("an extent is divided by a number that is not positive"),
        builder_.getStringAttr("launch the graph with inputs for which the divisor is 1 or more"), mlir::ValueRange());
  }

  static arith::CmpIPredicate predicateOf(llvm::CmpInst::Predicate predicate) {
    switch (predicate) {
    case llvm::CmpInst::ICMP_EQ:
      return arith::CmpIPredicate::eq;
    case llvm::CmpInst::ICMP_NE:
      return arith::CmpIPredicate::ne;
    case llvm::CmpInst::ICMP_UGT:
      return arith::CmpIPredicate::ugt;
    case llvm::CmpInst::ICMP_UGE:
      return arith::CmpIPredicate::uge;
    case llvm::CmpInst::ICMP_ULT:
      return arith::CmpIPredicate::ult;
    case llvm::CmpInst::ICMP_ULE:
      return arith::CmpIPredicate::ule;
    case llvm::CmpInst::ICMP_SGT:
      return arith::CmpIPredicate::sgt;
    case llvm::CmpInst::ICMP_SGE:
      return arith::CmpIPredicate::sge;
    case llvm::CmpInst::ICMP_SLT:
      return arith::CmpIPredicate::slt;
    default:
      return arith::CmpIPredicate::sle;
    }
  }

  const std::vector<Value>& inputs_;
  mlir::OpBuilder& builder_;
  const mlir::Location place_;
  DiagnosticEngine& diagnostics_;
  bool isReported_ = false;
};

} // namespace

Value lowerExtent(llvm::Value& extent, const std::vector<Value>& inputs, mlir::OpBuilder& builder, mlir::Location place,
                  DiagnosticEngine& diagnostics) {
  Value value = ExtentLowering(inputs, builder, place, diagnostics).lower(extent);
  if (!value)
    return {};
  // Integers of C that are no size_t have a sign.
  if (!value.getType().isInteger(64))
    value = value.getType().getIntOrFloatBitWidth() < 64
                ? builder.create<arith::ExtSIOp>(place, builder.getI64Type(), value).getResult()
                : builder.create<arith::TruncIOp>(place, builder.getI64Type(), value).getResult();
  return builder.create<arith::IndexCastOp>(place, builder.getIndexType(), value);
}

} // namespace strata::hpvm

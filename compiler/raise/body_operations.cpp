// Instruction by instruction. A product and sum that the source lets fuse (llvm.fmuladd) stay two operations, with the
// flag by which the kernel compiler fuses them.
#include "compiler/raise/body.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/Demangle/Demangle.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace math = mlir::math;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

static constexpr size_t mostBlocks = 2000;

bool Body::write(mlir::OpBuilder& variables) {
  for (const auto& [value, block] : memory_.blocks) {
    const auto* constant = llvm::dyn_cast<llvm::GlobalVariable>(value);
    if (constant && block.element && !(blocks_[constant] = tableOf(*constant, block, variables)))
      return false; // refused
    const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(value);
    if (!variable || !block.element)
      continue;
    const auto elements = static_cast<int64_t>(block.bytes / analyses_.layout.getTypeStoreSize(block.element));
    blocks_[variable] = variables.create<memref::AllocaOp>(
        place_, mlir::MemRefType::get({std::max<int64_t>(elements, 1)}, typeOf(block.element)));
  }
  // Choices one behind the other are written one within the other's call.
  if (analyses_.function.size() > mostBlocks)
    return refuse("more than " + std::to_string(mostBlocks) + " blocks of code", nullptr);
  size_t instructions = 0;
  for (const BasicBlock& block : analyses_.function)
    instructions += block.size();
  mostWritten_ = 8 * instructions + 100;
  auto isEnd = [](BasicBlock*, BasicBlock*) { return false; };
  auto leaving = [](BasicBlock*, BasicBlock*) { return Values(); };
  Run all{isEnd, leaving, {}, nullptr};
  return run(&analyses_.function.getEntryBlock(), all) && !refusal_;
}

/// A constant's elements as a table of the program, the same for all kernels that take them to be of one type.
Value Body::tableOf(const llvm::GlobalVariable& constant, const MemoryBlock& block, mlir::OpBuilder& variables) {
  const auto bytes = analyses_.layout.getTypeStoreSize(block.element).getFixedValue();
  const auto elements = std::max<uint64_t>(block.bytes / bytes, 1);
  const mlir::Type element = typeOf(block.element);
  llvm::SmallVector<mlir::Attribute> values;
  const unsigned addressBits = analyses_.layout.getIndexTypeSizeInBits(constant.getType());
  for (uint64_t number = 0; number < elements; ++number) {
    const llvm::Constant* value =
        llvm::ConstantFoldLoadFromConst(const_cast<llvm::Constant*>(constant.getInitializer()), block.element,
                                        llvm::APInt(addressBits, number * bytes), analyses_.layout);
    if (const auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(value))
      values.push_back(builder_.getIntegerAttr(element, integer->getValue()));
    else if (const auto* real = llvm::dyn_cast_or_null<llvm::ConstantFP>(value))
      values.push_back(builder_.getFloatAttr(element, real->getValueAPF()));
    else if (llvm::isa_and_nonnull<llvm::UndefValue>(value)) // between the fields of a struct
      values.push_back(builder_.getZeroAttr(element));
    else {
      refuse("a constant that holds addresses", nullptr);
      return {};
    }
  }
  const auto shape = mlir::RankedTensorType::get(static_cast<int64_t>(elements), element);
  const auto initial = mlir::DenseElementsAttr::get(shape, values);
  const auto type = mlir::MemRefType::get(static_cast<int64_t>(elements), element);
  auto program = variables.getInsertionBlock()->getParentOp()->getParentOfType<mlir::ModuleOp>();
  memref::GlobalOp table;
  unsigned tables = 0;
  for (auto known : program.getOps<memref::GlobalOp>()) {
    ++tables;
    if (known.getType() == type && known.getInitialValueAttr() == initial)
      table = known;
  }
  if (!table) {
    mlir::OpBuilder outside = mlir::OpBuilder::atBlockEnd(program.getBody());
    std::string name;
    do
      name = "table." + std::to_string(tables++);
    while (program.lookupSymbol(name));
    table = outside.create<memref::GlobalOp>(place_, name, outside.getStringAttr("private"), type, initial,
                                             /*constant=*/true, mlir::IntegerAttr());
  }
  return variables.create<memref::GetGlobalOp>(place_, type, table.getSymName());
}

/// A block of rank 0 is one element, which any index reaches.
Body::Values Body::indicesOf(const Access& access) {
  const auto type = llvm::cast<mlir::MemRefType>(blocks_.lookup(access.block).getType());
  return type.getRank() ? Values{valueOf(access.index)} : Values();
}

/// What svm.atomic has for it, or nothing.
static std::optional<svm::AtomicKind> kindOf(llvm::AtomicRMWInst::BinOp operation) {
  switch (operation) {
  case llvm::AtomicRMWInst::Add:
    return svm::AtomicKind::Add;
  case llvm::AtomicRMWInst::Sub:
    return svm::AtomicKind::Sub;
  case llvm::AtomicRMWInst::And:
    return svm::AtomicKind::And;
  case llvm::AtomicRMWInst::Or:
    return svm::AtomicKind::Or;
  case llvm::AtomicRMWInst::Xor:
    return svm::AtomicKind::Xor;
  case llvm::AtomicRMWInst::Min:
    return svm::AtomicKind::Min;
  case llvm::AtomicRMWInst::Max:
    return svm::AtomicKind::Max;
  case llvm::AtomicRMWInst::UMin:
    return svm::AtomicKind::UMin;
  case llvm::AtomicRMWInst::UMax:
    return svm::AtomicKind::UMax;
  case llvm::AtomicRMWInst::Xchg:
    return svm::AtomicKind::Exchange;
  default:
    return std::nullopt;
  }
}

Value Body::writeAtomic(llvm::Instruction& change, svm::AtomicKind kind, const llvm::Value* value,
                        const llvm::Value* expected) {
  const Access& access = memory_.accesses[&change];
  Value given = valueOf(value), compared = expected ? valueOf(expected) : Value();
  return make<svm::AtomicOp>(given.getType(), kind, given, blocks_.lookup(access.block),
                             mlir::ValueRange(indicesOf(access)), compared);
}

bool Body::writeInstruction(llvm::Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd() ||
      llvm::isa<llvm::GetElementPtrInst, llvm::AllocaInst>(instruction))
    return true;
  ++written_;
  if (instruction.getDebugLoc())
    place_ = places_(instruction);
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const Access& access = memory_.accesses[load];
    Value loaded = make<memref::LoadOp>(blocks_.lookup(access.block), indicesOf(access));
    const mlir::Type type = typeOf(load->getType());
    values_[load] = loaded.getType() == type ? loaded : make<arith::BitcastOp>(type, loaded).getResult();
    return !refusal_;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const Access& access = memory_.accesses[store];
    Value block = blocks_.lookup(access.block), stored = valueOf(store->getValueOperand());
    const mlir::Type type = llvm::cast<mlir::MemRefType>(block.getType()).getElementType();
    if (stored.getType() != type)
      stored = make<arith::BitcastOp>(type, stored);
    make<memref::StoreOp>(stored, block, indicesOf(access));
    return !refusal_;
  }
  if (auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    const std::optional<svm::AtomicKind> kind = kindOf(change->getOperation());
    if (!kind)
      return refuse("an atomic operation of an unusual kind", &instruction);
    values_[change] = writeAtomic(*change, *kind, change->getValOperand(), nullptr);
    return !refusal_;
  }
  if (auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    values_[change] =
        writeAtomic(*change, svm::AtomicKind::CompareExchange, change->getNewValOperand(), change->getCompareOperand());
    return !refusal_;
  }
  if (auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction))
    if (auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(part->getAggregateOperand())) {
      Value before = values_[change];
      values_[part] =
          part->getIndices().front() == 0
              ? before
              : make<arith::CmpIOp>(arith::CmpIPredicate::eq, before, valueOf(change->getCompareOperand())).getResult();
      return !refusal_;
    }
  if (auto* bulk = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
    return writeBulk(*bulk);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return writeCall(*call);
  // Of addresses only the exit of a counted loop may ask.
  if (const auto* compared = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
      compared && compared->getOperand(0)->getType()->isPointerTy()) {
    const llvm::Loop* loop = analyses_.loops.getLoopFor(compared->getParent());
    return (loop && loops_.of(loop)) || refuse("a comparison of addresses", &instruction);
  }
  if (!typeOf(instruction.getType()))
    return refuse("an instruction on " +
                      std::string(instruction.getType()->isVectorTy() ? "vectors" : "other than numbers"),
                  &instruction);
  Value result = operation(instruction);
  if (!result)
    return refuse(std::string("an instruction '") + instruction.getOpcodeName() + "'", &instruction);
  values_[&instruction] = result;
  return !refusal_;
}

arith::FastMathFlagsAttr Body::flagsOf(const llvm::Instruction& instruction) {
  using Flags = arith::FastMathFlags;
  const llvm::FastMathFlags given = instruction.getFastMathFlags();
  Flags flags = Flags::none;
  const std::pair<bool, Flags> each[] = {
      {given.allowReassoc(), Flags::reassoc}, {given.noNaNs(), Flags::nnan},
      {given.noInfs(), Flags::ninf},          {given.noSignedZeros(), Flags::nsz},
      {given.allowReciprocal(), Flags::arcp}, {given.allowContract(), Flags::contract},
      {given.approxFunc(), Flags::afn},
  };
  for (const auto& [isSet, flag] : each)
    if (isSet)
      flags = flags | flag;
  return arith::FastMathFlagsAttr::get(builder_.getContext(), flags);
}

template <typename Op>
Value Body::floating(llvm::Instruction& instruction, unsigned operands) {
  Values given;
  for (unsigned number = 0; number < operands; ++number)
    given.push_back(valueOf(instruction.getOperand(number)));
  auto made = make<Op>(mlir::TypeRange{typeOf(instruction.getType())}, given);
  made.setFastmathAttr(flagsOf(instruction));
  return made;
}

static arith::CmpIPredicate predicateOf(llvm::CmpInst::Predicate predicate) {
  using Of = arith::CmpIPredicate;
  switch (predicate) {
  case llvm::CmpInst::ICMP_EQ:
    return Of::eq;
  case llvm::CmpInst::ICMP_NE:
    return Of::ne;
  case llvm::CmpInst::ICMP_UGT:
    return Of::ugt;
  case llvm::CmpInst::ICMP_UGE:
    return Of::uge;
  case llvm::CmpInst::ICMP_ULT:
    return Of::ult;
  case llvm::CmpInst::ICMP_ULE:
    return Of::ule;
  case llvm::CmpInst::ICMP_SGT:
    return Of::sgt;
  case llvm::CmpInst::ICMP_SGE:
    return Of::sge;
  case llvm::CmpInst::ICMP_SLT:
    return Of::slt;
  default:
    return Of::sle;
  }
}

static arith::CmpFPredicate floatPredicateOf(llvm::CmpInst::Predicate predicate) {
  using Of = arith::CmpFPredicate;
  switch (predicate) {
  case llvm::CmpInst::FCMP_OEQ:
    return Of::OEQ;
  case llvm::CmpInst::FCMP_OGT:
    return Of::OGT;
  case llvm::CmpInst::FCMP_OGE:
    return Of::OGE;
  case llvm::CmpInst::FCMP_OLT:
    return Of::OLT;
  case llvm::CmpInst::FCMP_OLE:
    return Of::OLE;
  case llvm::CmpInst::FCMP_ONE:
    return Of::ONE;
  case llvm::CmpInst::FCMP_ORD:
    return Of::ORD;
  case llvm::CmpInst::FCMP_UNO:
    return Of::UNO;
  case llvm::CmpInst::FCMP_UEQ:
    return Of::UEQ;
  case llvm::CmpInst::FCMP_UGT:
    return Of::UGT;
  case llvm::CmpInst::FCMP_UGE:
    return Of::UGE;
  case llvm::CmpInst::FCMP_ULT:
    return Of::ULT;
  case llvm::CmpInst::FCMP_ULE:
    return Of::ULE;
  case llvm::CmpInst::FCMP_UNE:
    return Of::UNE;
  case llvm::CmpInst::FCMP_TRUE:
    return Of::AlwaysTrue;
  default:
    return Of::AlwaysFalse;
  }
}

/// What is asked of an index of an instance is asked in 64 bits, where it can become a bound of the loop over
/// instances.
Value Body::comparison(llvm::ICmpInst& compared) {
  const arith::CmpIPredicate predicate = predicateOf(compared.getPredicate());
  const llvm::Value *left = compared.getOperand(0), *right = compared.getOperand(1);
  const Widening widening = compared.isUnsigned() ? Widening::Unsigned : Widening::Signed;
  if (indices_.isNearSmall(left, widening) || indices_.isNearSmall(right, widening)) {
    Value first = valueOf(indices_.of(left, widening)), second = valueOf(indices_.of(right, widening));
    return make<arith::CmpIOp>(predicate, first, second);
  }
  return make<arith::CmpIOp>(predicate, valueOf(left), valueOf(right));
}

Value Body::operation(llvm::Instruction& instruction) {
  const auto left = [&] { return valueOf(instruction.getOperand(0)); };
  const auto right = [&] { return valueOf(instruction.getOperand(1)); };
  const mlir::Type type = typeOf(instruction.getType());
  switch (instruction.getOpcode()) {
  case llvm::Instruction::Add:
    return make<arith::AddIOp>(left(), right());
  case llvm::Instruction::Sub:
    return make<arith::SubIOp>(left(), right());
  case llvm::Instruction::Mul:
    return make<arith::MulIOp>(left(), right());
  case llvm::Instruction::UDiv:
    return make<arith::DivUIOp>(left(), right());
  case llvm::Instruction::SDiv:
    return make<arith::DivSIOp>(left(), right());
  case llvm::Instruction::URem:
    return make<arith::RemUIOp>(left(), right());
  case llvm::Instruction::SRem:
    return make<arith::RemSIOp>(left(), right());
  case llvm::Instruction::Shl:
    return make<arith::ShLIOp>(left(), right());
  case llvm::Instruction::LShr:
    return make<arith::ShRUIOp>(left(), right());
  case llvm::Instruction::AShr:
    return make<arith::ShRSIOp>(left(), right());
  case llvm::Instruction::And:
    return make<arith::AndIOp>(left(), right());
  case llvm::Instruction::Or:
    return make<arith::OrIOp>(left(), right());
  case llvm::Instruction::Xor:
    return make<arith::XOrIOp>(left(), right());
  case llvm::Instruction::FAdd:
    return floating<arith::AddFOp>(instruction, 2);
  case llvm::Instruction::FSub:
    return floating<arith::SubFOp>(instruction, 2);
  case llvm::Instruction::FMul:
    return floating<arith::MulFOp>(instruction, 2);
  case llvm::Instruction::FDiv:
    return floating<arith::DivFOp>(instruction, 2);
  case llvm::Instruction::FRem:
    return floating<arith::RemFOp>(instruction, 2);
  case llvm::Instruction::FNeg:
    return floating<arith::NegFOp>(instruction, 1);
  case llvm::Instruction::SExt:
    return make<arith::ExtSIOp>(type, left());
  case llvm::Instruction::ZExt:
    return make<arith::ExtUIOp>(type, left());
  case llvm::Instruction::Trunc:
    return make<arith::TruncIOp>(type, left());
  case llvm::Instruction::FPTrunc:
    return make<arith::TruncFOp>(type, left());
  case llvm::Instruction::FPExt:
    return make<arith::ExtFOp>(type, left());
  case llvm::Instruction::SIToFP:
    return make<arith::SIToFPOp>(type, left());
  case llvm::Instruction::UIToFP:
    return make<arith::UIToFPOp>(type, left());
  case llvm::Instruction::FPToSI:
    return make<arith::FPToSIOp>(type, left());
  case llvm::Instruction::FPToUI:
    return make<arith::FPToUIOp>(type, left());
  case llvm::Instruction::BitCast:
    return typeOf(instruction.getOperand(0)->getType()) ? make<arith::BitcastOp>(type, left()).getResult() : Value();
  case llvm::Instruction::Freeze:
    return left();
  case llvm::Instruction::Select:
    return make<arith::SelectOp>(left(), right(), valueOf(instruction.getOperand(2)));
  case llvm::Instruction::ICmp:
    return comparison(llvm::cast<llvm::ICmpInst>(instruction));
  case llvm::Instruction::FCmp: {
    auto made =
        make<arith::CmpFOp>(floatPredicateOf(llvm::cast<llvm::FCmpInst>(instruction).getPredicate()), left(), right());
    made.setFastmathAttr(flagsOf(instruction));
    return made;
  }
  default:
    return {};
  }
}

/// Functions of C's library that have no effect but to set errno, which nobody in a kernel asks.
static llvm::Intrinsic::ID libraryFunction(llvm::StringRef name) {
  name.consume_back("f");
  return llvm::StringSwitch<llvm::Intrinsic::ID>(name)
      .Case("sqrt", llvm::Intrinsic::sqrt)
      .Case("fabs", llvm::Intrinsic::fabs)
      .Case("floor", llvm::Intrinsic::floor)
      .Case("ceil", llvm::Intrinsic::ceil)
      .Case("trunc", llvm::Intrinsic::trunc)
      .Case("rint", llvm::Intrinsic::rint)
      .Case("exp", llvm::Intrinsic::exp)
      .Case("exp2", llvm::Intrinsic::exp2)
      .Case("log", llvm::Intrinsic::log)
      .Case("log2", llvm::Intrinsic::log2)
      .Case("log10", llvm::Intrinsic::log10)
      .Case("sin", llvm::Intrinsic::sin)
      .Case("cos", llvm::Intrinsic::cos)
      .Case("pow", llvm::Intrinsic::pow)
      .Case("fma", llvm::Intrinsic::fma)
      .Case("copysign", llvm::Intrinsic::copysign)
      .Case("fmin", llvm::Intrinsic::minnum)
      .Case("fmax", llvm::Intrinsic::maxnum)
      .Default(llvm::Intrinsic::not_intrinsic);
}

Value Body::mathOf(llvm::CallInst& call) {
  const auto operand = [&](unsigned number) { return valueOf(call.getArgOperand(number)); };
  const llvm::Function* callee = call.getCalledFunction();
  llvm::Intrinsic::ID id = call.getIntrinsicID();
  llvm::LibFunc known;
  if (id == llvm::Intrinsic::not_intrinsic && callee && analyses_.library.getLibFunc(*callee, known))
    id = libraryFunction(callee->getName());
  switch (id) {
  case llvm::Intrinsic::fmuladd: {
    const auto fuses =
        arith::FastMathFlagsAttr::get(builder_.getContext(), flagsOf(call).getValue() | arith::FastMathFlags::contract);
    auto product = make<arith::MulFOp>(operand(0), operand(1));
    product.setFastmathAttr(fuses);
    auto sum = make<arith::AddFOp>(product, operand(2));
    sum.setFastmathAttr(fuses);
    return sum;
  }
  case llvm::Intrinsic::fma:
    return floating<math::FmaOp>(call, 3);
  case llvm::Intrinsic::sqrt:
    return floating<math::SqrtOp>(call, 1);
  case llvm::Intrinsic::fabs:
    return floating<math::AbsFOp>(call, 1);
  case llvm::Intrinsic::floor:
    return floating<math::FloorOp>(call, 1);
  case llvm::Intrinsic::ceil:
    return floating<math::CeilOp>(call, 1);
  case llvm::Intrinsic::trunc:
    return floating<math::TruncOp>(call, 1);
  case llvm::Intrinsic::rint:
  case llvm::Intrinsic::nearbyint:
  case llvm::Intrinsic::roundeven:
    return floating<math::RoundEvenOp>(call, 1);
  case llvm::Intrinsic::exp:
    return floating<math::ExpOp>(call, 1);
  case llvm::Intrinsic::exp2:
    return floating<math::Exp2Op>(call, 1);
  case llvm::Intrinsic::log:
    return floating<math::LogOp>(call, 1);
  case llvm::Intrinsic::log2:
    return floating<math::Log2Op>(call, 1);
  case llvm::Intrinsic::log10:
    return floating<math::Log10Op>(call, 1);
  case llvm::Intrinsic::sin:
    return floating<math::SinOp>(call, 1);
  case llvm::Intrinsic::cos:
    return floating<math::CosOp>(call, 1);
  case llvm::Intrinsic::pow:
    return floating<math::PowFOp>(call, 2);
  case llvm::Intrinsic::copysign:
    return floating<math::CopySignOp>(call, 2);
  case llvm::Intrinsic::minnum:
    return floating<arith::MinNumFOp>(call, 2);
  case llvm::Intrinsic::maxnum:
    return floating<arith::MaxNumFOp>(call, 2);
  case llvm::Intrinsic::smin:
    return make<arith::MinSIOp>(operand(0), operand(1));
  case llvm::Intrinsic::smax:
    return make<arith::MaxSIOp>(operand(0), operand(1));
  case llvm::Intrinsic::umin:
    return make<arith::MinUIOp>(operand(0), operand(1));
  case llvm::Intrinsic::umax:
    return make<arith::MaxUIOp>(operand(0), operand(1));
  case llvm::Intrinsic::abs: {
    Value value = operand(0);
    Value negated = make<arith::SubIOp>(zero(value.getType()), value);
    return make<arith::MaxSIOp>(value, negated);
  }
  default:
    return {};
  }
}

bool Body::writeCall(llvm::CallInst& call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::assume:
  case llvm::Intrinsic::experimental_noalias_scope_decl:
    return true;
  default:
    break;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee && callee->getName() == barrierFunction) {
    make<svm::BarrierOp>();
    return true;
  }
  if (const auto own = callee ? calls_.find(callee->getName().str()) : calls_.end(); own != calls_.end()) {
    Values given;
    for (const llvm::Value* argument : call.args())
      given.push_back(valueOf(argument));
    const std::string problem = own->second(builder_, place_, given);
    return problem.empty() ? !refusal_ : refuse(problem, &call);
  }
  Value result = typeOf(call.getType()) ? mathOf(call) : Value();
  if (!result)
    return refuse(callee ? "a call of '" + llvm::demangle(callee->getName()) + "'" : "a call of a pointer", &call);
  values_[&call] = result;
  return !refusal_;
}

/// memset and memcpy, element by element.
bool Body::writeBulk(llvm::MemIntrinsic& bulk) {
  auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&bulk);
  if (llvm::isa<llvm::MemMoveInst>(bulk))
    return refuse("a copy of memory onto itself", &bulk);
  const auto* filling = llvm::dyn_cast<llvm::MemSetInst>(&bulk);
  const auto* filled = filling ? llvm::dyn_cast<llvm::ConstantInt>(filling->getValue()) : nullptr;
  if (filling && (!filled || !filled->isZero()))
    return refuse("a memset with other than zero", &bulk);
  const llvm::Value* to = indices_.baseOf(bulk.getRawDest());
  const llvm::Value* from = transfer ? indices_.baseOf(transfer->getRawSource()) : nullptr;
  llvm::Type* element = memory_.blocks[to].element;
  if (!element && llvm::isa<llvm::AllocaInst>(to))
    return true; // nobody looks
  if (!element)
    return refuse("a copy of elements whose type is not known", &bulk);
  if (from && memory_.blocks[from].element != element)
    return refuse("a copy between arrays of different elements", &bulk);
  const auto bytes = static_cast<int64_t>(uint64_t(analyses_.layout.getTypeStoreSize(element)));
  const auto start = indices_.bytesOf(bulk.getRawDest()).dividedBy(bytes);
  const auto source = transfer ? indices_.bytesOf(transfer->getRawSource()).dividedBy(bytes) : Polynomial();
  const auto count = indices_.of(bulk.getLength(), Widening::Unsigned).dividedBy(bytes);
  if (!start || !source || !count)
    return refuse("a copy of parts of elements", &bulk);
  Value first = valueOf(*start), read = valueOf(*source), many = valueOf(*count);
  auto loop = make<scf::ForOp>(index(0), many, index(1));
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(loop.getBody());
  Value moved = from ? make<memref::LoadOp>(blocks_.lookup(from),
                                            mlir::ValueRange(make<arith::AddIOp>(read, loop.getInductionVar())))
                           .getResult()
                     : zero(typeOf(element));
  make<memref::StoreOp>(moved, blocks_.lookup(to),
                        mlir::ValueRange(make<arith::AddIOp>(first, loop.getInductionVar())));
  return !refusal_;
}

} // namespace strata::raise

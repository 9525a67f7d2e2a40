// Instruction by instruction. A product and sum that the source lets fuse (llvm.fmuladd) stay two operations, with the
// flag by which the kernel compiler fuses them.
#include "compiler/raise/body.h"

#include "llvm/Analysis/ConstantFolding.h"

namespace strata::raise {

namespace arith = mlir::arith;
namespace memref = mlir::memref;

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

Value Body::as(mlir::Type type, Value value) {
  return value.getType() == type ? value : make<arith::BitcastOp>(type, value).getResult();
}

Value Body::load(const Access& access, mlir::Type type) {
  Value block = blocks_.lookup(access.block);
  const Values indices = indicesOf(access);
  if (access.parts == 1)
    return as(type, make<memref::LoadOp>(block, indices));
  const unsigned bits = type.getIntOrFloatBitWidth(), each = bits / access.parts;
  const mlir::Type whole = builder_.getIntegerType(bits), part = builder_.getIntegerType(each);
  Value value;
  for (unsigned number = 0; number < access.parts; ++number) {
    Value at = make<arith::AddIOp>(indices.front(), index(number));
    Value loaded = make<arith::ExtUIOp>(whole, as(part, make<memref::LoadOp>(block, mlir::ValueRange(at))));
    if (number == 0)
      value = loaded;
    else
      value = make<arith::OrIOp>(value, make<arith::ShLIOp>(loaded, integer(whole, uint64_t(number) * each)));
  }
  return as(type, value);
}

void Body::store(const Access& access, Value value) {
  Value block = blocks_.lookup(access.block);
  const mlir::Type element = llvm::cast<mlir::MemRefType>(block.getType()).getElementType();
  const Values indices = indicesOf(access);
  if (access.parts == 1) {
    make<memref::StoreOp>(as(element, value), block, indices);
    return;
  }
  const unsigned bits = value.getType().getIntOrFloatBitWidth(), each = bits / access.parts;
  const mlir::Type whole = builder_.getIntegerType(bits), part = builder_.getIntegerType(each);
  value = as(whole, value);
  for (unsigned number = 0; number < access.parts; ++number) {
    Value shifted = number ? make<arith::ShRUIOp>(value, integer(whole, uint64_t(number) * each)).getResult() : value;
    Value at = make<arith::AddIOp>(indices.front(), index(number));
    make<memref::StoreOp>(as(element, make<arith::TruncIOp>(part, shifted)), block, mlir::ValueRange(at));
  }
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
      llvm::isa<llvm::GetElementPtrInst, llvm::AllocaInst>(instruction) || analyses_.isAssumption(instruction))
    return true;
  ++written_;
  if (instruction.getDebugLoc())
    place_ = places_(instruction);
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    values_[load] = this->load(memory_.accesses[load], typeOf(load->getType()));
    return !refusal_;
  }
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    this->store(memory_.accesses[store], valueOf(store->getValueOperand()));
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
  if (auto* part = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    if (auto* change = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(part->getAggregateOperand())) {
      Value before = values_[change];
      values_[part] =
          part->getIndices().front() == 0
              ? before
              : make<arith::CmpIOp>(arith::CmpIPredicate::eq, before, valueOf(change->getCompareOperand())).getResult();
      return !refusal_;
    }
    if (const auto both = pairs_.find(part->getAggregateOperand()); both != pairs_.end()) {
      values_[part] = part->getIndices().front() == 0 ? both->second.first : both->second.second;
      return true;
    }
  }
  if (auto* bulk = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
    return writeBulk(*bulk);
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
    return writeCall(*call);
  if (auto* compared = llvm::dyn_cast<llvm::ICmpInst>(&instruction);
      compared && compared->getOperand(0)->getType()->isPointerTy())
    return compareAddresses(*compared);
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction); select && indices_.isChosen(select)) {
    Value condition = valueOf(select->getCondition()), first = valueOf(select->getTrueValue());
    values_[select] = make<arith::SelectOp>(condition, first, valueOf(select->getFalseValue()));
    return !refusal_;
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

/// Within one array distances tell. Of other addresses only the exit of a counted loop may ask, which needs no answer.
bool Body::compareAddresses(llvm::ICmpInst& compared) {
  const llvm::Value *left = compared.getOperand(0), *right = compared.getOperand(1), *base = indices_.baseOf(left);
  if (base != indices_.baseOf(right) || !llvm::isa<llvm::Argument, llvm::AllocaInst, llvm::GlobalVariable>(base)) {
    const llvm::Loop* loop = analyses_.loops.getLoopFor(compared.getParent());
    return (loop && loops_.of(loop)) || refuse("a comparison of addresses", &compared);
  }
  const auto predicate = predicateOf(compared.getSignedPredicate());
  Value first = valueOf(indices_.bytesOf(left)), second = valueOf(indices_.bytesOf(right));
  values_[&compared] = make<arith::CmpIOp>(predicate, first, second);
  return !refusal_;
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

} // namespace strata::raise

// The small builders that the lowering of bodies is written with.
#include "compiler/sequoia/lower_body.h"

#include "mlir/IR/Matchers.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;

namespace strata::sequoia {

using mlir::Value;

BodyLowering::BodyLowering(ModuleLowering& module, uint32_t instance, mapping::FunctionPlacement* function)
    : module_(module), number_(instance), instance_(module.graph.instances[instance]), function_(function),
      builder_(&module.context), place_(module.place(instance_.variant->location)) {
  own_.instance = &instance_;
}

Value BodyLowering::indexConstant(int64_t value) {
  return make<arith::ConstantIndexOp>(value);
}

Value BodyLowering::truth(bool value) {
  return make<arith::ConstantIntOp>(value, builder_.getI1Type());
}

Value BodyLowering::integer(mlir::Type type, uint64_t value) {
  return make<arith::ConstantOp>(mlir::IntegerAttr::get(type, mlir::APInt(type.getIntOrFloatBitWidth(), value)));
}

Value BodyLowering::add(Value a, Value b) {
  return folded<arith::AddIOp>(a, b);
}
Value BodyLowering::subtract(Value a, Value b) {
  return a == b ? indexConstant(0) : folded<arith::SubIOp>(a, b);
}
Value BodyLowering::multiply(Value a, Value b) {
  return folded<arith::MulIOp>(a, b);
}
Value BodyLowering::minimum(Value a, Value b) {
  return folded<arith::MinSIOp>(a, b);
}
Value BodyLowering::maximum(Value a, Value b) {
  return folded<arith::MaxSIOp>(a, b);
}

Value BodyLowering::compare(arith::CmpIPredicate predicate, Value a, Value b) {
  return builder_.createOrFold<arith::CmpIOp>(place_, predicate, a, b);
}

Value BodyLowering::both(Value a, Value b) {
  return folded<arith::AndIOp>(a, b);
}
Value BodyLowering::inverse(Value condition) {
  return folded<arith::XOrIOp>(condition, truth(true));
}

Value BodyLowering::zeroOf(mlir::Type type) {
  if (auto record = llvm::dyn_cast<svm::RecordType>(type)) {
    Values fields;
    for (mlir::Type field : record.getFieldTypes())
      fields.push_back(zeroOf(field));
    return make<svm::RecordOp>(record, fields);
  }
  return make<arith::ConstantOp>(builder_.getZeroAttr(type));
}

void BodyLowering::check(Value condition, llvm::StringRef code, const llvm::Twine& message, mlir::ValueRange values,
                         llvm::StringRef help) {
  if (mlir::matchPattern(condition, mlir::m_One()))
    return;
  make<svm::CheckOp>(condition, builder_.getStringAttr(code), builder_.getStringAttr(message),
                     help.empty() ? mlir::StringAttr() : builder_.getStringAttr(help), values);
}

Value BodyLowering::fromIndex(Value index, const Type* type) {
  return builder_.createOrFold<arith::IndexCastOp>(place_, module_.typeOf(type), index);
}

Value BodyLowering::toIndex(Value value, const Type* type) {
  if (type->isSigned() || type->bits() == 64)
    return builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getIndexType(), value);
  return builder_.createOrFold<arith::IndexCastUIOp>(place_, builder_.getIndexType(), value);
}

Value BodyLowering::allocate(mlir::Type type) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(allocations_);
  return make<memref::AllocaOp>(mlir::MemRefType::get({}, type));
}

Value BodyLowering::storageFor(const Variable& variable) {
  return module_.isWide(variable.type) ? newObject(variable.type, variable.location, variable.name).storage
                                       : allocate(module_.typeOf(variable.type));
}

Value BodyLowering::flag(bool initial) {
  Value storage = allocate(builder_.getI1Type());
  store(truth(initial), storage);
  return storage;
}

Value BodyLowering::dimension(Value block, unsigned dimension) {
  return builder_.createOrFold<memref::DimOp>(place_, block, static_cast<int64_t>(dimension));
}

Binding& BodyLowering::bindingOf(const Variable* variable) {
  Binding& binding = names_->bindings[variable];
  if (!binding.value && !binding.index && !binding.storage)
    binding.storage = storageFor(*variable);
  return binding;
}

Binding BodyLowering::arrayBinding(Value block, const Variable& array) {
  Binding binding;
  binding.block = block;
  for (unsigned each = 0; each < array.extents.size(); ++each)
    binding.extents.push_back(dimension(block, each));
  return binding;
}

} // namespace strata::sequoia

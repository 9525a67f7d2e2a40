// The small builders that the lowering of bodies is written with.
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;

namespace strata::sequoia {

using mlir::Value;

BodyLowering::BodyLowering(ModuleLowering& module, uint32_t instance, mapping::FunctionPlacement* function)
    : ControlLowering(module.context, module.place(module.graph.instances[instance].variant->location)),
      module_(module), number_(instance), instance_(module.graph.instances[instance]), function_(function) {
  own_.instance = &instance_;
}

Value BodyLowering::zeroOf(mlir::Type type) {
  if (auto record = llvm::dyn_cast<svm::RecordType>(type)) {
    Values fields;
    for (mlir::Type field : record.getFieldTypes())
      fields.push_back(zeroOf(field));
    return make<svm::RecordOp>(record, fields);
  }
  return zero(type);
}

Value BodyLowering::fromIndex(Value index, const Type* type) {
  return builder_.createOrFold<arith::IndexCastOp>(place_, module_.typeOf(type), index);
}

Value BodyLowering::toIndex(Value value, const Type* type) {
  if (type->isSigned() || type->bits() == 64)
    return builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getIndexType(), value);
  return builder_.createOrFold<arith::IndexCastUIOp>(place_, builder_.getIndexType(), value);
}

Value BodyLowering::storageFor(const Variable& variable) {
  return module_.isWide(variable.type) ? newObject(variable.type, variable.location, variable.name).storage
                                       : allocate(module_.typeOf(variable.type));
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

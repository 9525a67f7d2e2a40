// What can be assigned: variables, elements of arrays, members of structs inside of them. Records are values, so that
// writing a member writes the whole record back.
#include "compiler/sequoia/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;

namespace strata::sequoia {

using mlir::Value;

BodyLowering::Values BodyLowering::elementIndices(const Expr* expr) {
  const Binding& array = names_->bindings[expr->variable];
  Values extents(array.extents), indices;
  for (const Expr* operand : expr->operands)
    indices.push_back(index(operand));
  for (auto [position, pair] : llvm::enumerate(llvm::zip(indices, extents))) {
    at(expr->operands[position]->location);
    make<svm::IndexOp>(std::get<0>(pair), std::get<1>(pair), builder_.getStringAttr(expr->variable->name),
                       builder_.getI64IntegerAttr(static_cast<int64_t>(position)));
  }
  return indices;
}

BodyLowering::Step BodyLowering::memberIndex(const Expr* expr) {
  const Type* array = expr->operands[0]->type;
  const Expr* position = expr->operands[1];
  if (position->kind == ExprKind::Integer && position->integer < array->count)
    return {array, static_cast<unsigned>(position->integer), {}};
  Value number = index(position);
  at(position->location);
  make<svm::IndexOp>(number, indexConstant(static_cast<int64_t>(array->count)), builder_.getStringAttr("member array"),
                     builder_.getI64IntegerAttr(0));
  return {array, 0, number};
}

BodyLowering::Target BodyLowering::target(const Variable& variable) {
  Target result;
  result.root = result.type = variable.type;
  result.storage = bindingOf(&variable).storage;
  return result;
}

BodyLowering::Target BodyLowering::target(const Expr* expr) {
  Target result;
  switch (expr->kind) {
  case ExprKind::Member:
  case ExprKind::MemberIndex: {
    result = target(expr->operands[0]);
    Step step =
        expr->kind == ExprKind::Member ? Step{expr->operands[0]->type, expr->fieldIndex, {}} : memberIndex(expr);
    result.path.push_back(step);
    result.type = expr->type;
    return result;
  }
  case ExprKind::Element:
    result.root = result.type = expr->type;
    result.indices = elementIndices(expr);
    result.storage = names_->bindings[expr->variable].block;
    return result;
  case ExprKind::Variable:
    return target(*expr->variable);
  default:
    return object(expr);
  }
}

Value BodyLowering::fieldOf(Value record, const Step& step) {
  if (step.container->kind == TypeKind::Union) {
    Words words;
    words.record = record;
    words.bytes = static_cast<unsigned>(step.container->alignment);
    return readObject(words, offsetOf(step), step.container->fields[step.field].type);
  }
  auto type = llvm::cast<svm::RecordType>(record.getType());
  auto field = [&](unsigned number) -> Value {
    return make<svm::FieldOp>(type.getFieldTypes()[number], record, static_cast<int64_t>(number));
  };
  if (!step.index)
    return field(step.field);
  Value chosen = field(0);
  for (unsigned each = 1; each < type.getFieldTypes().size(); ++each) {
    Value here = compare(arith::CmpIPredicate::eq, step.index, indexConstant(each));
    chosen = make<arith::SelectOp>(here, field(each), chosen);
  }
  return chosen;
}

Value BodyLowering::withField(Value record, llvm::ArrayRef<Step> path, const Type* partType, Value value) {
  if (path.empty())
    return value;
  const Step& step = path.front();
  if (step.container->kind == TypeKind::Union) {
    Words words;
    words.record = record;
    words.bytes = static_cast<unsigned>(step.container->alignment);
    writeObject(words, offsetOf(path), partType, value);
    return words.record;
  }
  auto type = llvm::cast<svm::RecordType>(record.getType());
  auto replaced = [&](unsigned number) {
    Value old = make<svm::FieldOp>(type.getFieldTypes()[number], record, static_cast<int64_t>(number));
    return std::pair(old, withField(old, path.drop_front(), partType, value));
  };
  if (!step.index) {
    Value updated = replaced(step.field).second;
    return make<svm::WithFieldOp>(type, record, updated, static_cast<int64_t>(step.field));
  }
  Values fields;
  for (unsigned each = 0; each < type.getFieldTypes().size(); ++each) {
    auto [old, updated] = replaced(each);
    Value here = compare(arith::CmpIPredicate::eq, step.index, indexConstant(each));
    fields.push_back(make<arith::SelectOp>(here, updated, old));
  }
  return make<svm::RecordOp>(type, fields);
}

Value BodyLowering::read(const Target& target) {
  if (module_.isWide(target.root))
    return readObject(wordsAt(target), offsetOf(target.path), target.type);
  Value whole = make<memref::LoadOp>(target.storage, target.indices);
  for (size_t i = 0; i < target.path.size(); ++i) {
    const Step& step = target.path[i];
    if (step.container->kind == TypeKind::Union) {
      Words words;
      words.record = whole;
      words.bytes = static_cast<unsigned>(step.container->alignment);
      return readObject(words, offsetOf(llvm::ArrayRef(target.path).drop_front(i)), target.type);
    }
    whole = fieldOf(whole, step);
  }
  return whole;
}

void BodyLowering::write(const Target& target, Value value) {
  if (module_.isWide(target.root)) {
    Words words = wordsAt(target);
    return writeObject(words, offsetOf(target.path), target.type, value);
  }
  if (!target.path.empty()) {
    auto whole = make<memref::LoadOp>(target.storage, target.indices);
    whole->setAttr(svm::SvmDialect::remainderAttr, builder_.getUnitAttr());
    value = withField(whole, target.path, target.type, value);
  }
  make<memref::StoreOp>(value, target.storage, target.indices);
}

} // namespace strata::sequoia

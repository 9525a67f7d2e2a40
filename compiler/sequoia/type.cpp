// The C scalar types, their layout and C's conversions between them (C99 6.3.1.1 and 6.3.1.8).
#include "compiler/sequoia/type.h"

namespace strata::sequoia {

namespace {

constexpr uint64_t largestRecord = uint64_t(1) << 30;

struct ScalarFacts {
  TypeKind kind;
  const char* name;
  uint8_t size;
};

constexpr ScalarFacts scalarFacts[] = {
    {TypeKind::Error, "<error>", 0},
    {TypeKind::Void, "void", 0},
    {TypeKind::Char, "char", 1},
    {TypeKind::SignedChar, "signed char", 1},
    {TypeKind::UnsignedChar, "unsigned char", 1},
    {TypeKind::Short, "short", 2},
    {TypeKind::UnsignedShort, "unsigned short", 2},
    {TypeKind::Int, "int", 4},
    {TypeKind::UnsignedInt, "unsigned int", 4},
    {TypeKind::Long, "long", 8},
    {TypeKind::UnsignedLong, "unsigned long", 8},
    {TypeKind::LongLong, "long long", 8},
    {TypeKind::UnsignedLongLong, "unsigned long long", 8},
    {TypeKind::Float, "float", 4},
    {TypeKind::Double, "double", 8},
};

int conversionRank(const Type* type) {
  switch (type->kind) {
  case TypeKind::Int:
  case TypeKind::UnsignedInt:
    return 1;
  case TypeKind::Long:
  case TypeKind::UnsignedLong:
    return 2;
  case TypeKind::LongLong:
  case TypeKind::UnsignedLongLong:
    return 3;
  default:
    return 0;
  }
}

uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace

bool Type::isSigned() const {
  switch (kind) {
  case TypeKind::UnsignedChar:
  case TypeKind::UnsignedShort:
  case TypeKind::UnsignedInt:
  case TypeKind::UnsignedLong:
  case TypeKind::UnsignedLongLong:
    return false;
  default:
    return true;
  }
}

TypeTable::TypeTable() {
  for (const ScalarFacts& facts : scalarFacts) {
    Type type;
    type.kind = facts.kind;
    type.size = facts.size;
    type.alignment = facts.size ? facts.size : 1;
    type.tag = facts.name;
    scalars_.push_back(type);
  }
}

Type* TypeTable::makeRecord(TypeKind kind, std::string tag, const Location& location) {
  Type& type = made_.emplace_back();
  type.kind = kind;
  type.tag = std::move(tag);
  type.location = location;
  type.complete = false;
  return &type;
}

bool TypeTable::layOut(Type& record) {
  uint64_t size = 0;
  for (Field& field : record.fields) {
    record.alignment = std::max(record.alignment, field.type->alignment);
    if (record.kind == TypeKind::Union) {
      size = std::max(size, field.type->size);
    } else {
      field.offset = roundUp(size, field.type->alignment);
      size = field.offset + field.type->size;
    }
    if (size > largestRecord)
      return false;
  }
  record.size = roundUp(size, record.alignment);
  record.complete = true;
  return true;
}

const Type* TypeTable::arrayOf(const Type* element, uint64_t count) {
  const Type*& type = arrays_[{element, count}];
  if (!type) {
    Type& made = made_.emplace_back();
    made.kind = TypeKind::CArray;
    made.element = element;
    made.count = count;
    made.size = element->size * count;
    made.alignment = element->alignment;
    type = &made;
  }
  return type;
}

const std::vector<std::string>& TypeTable::typedefsOf(const Type* record) const {
  static const std::vector<std::string> none;
  auto found = typedefs_.find(record);
  return found == typedefs_.end() ? none : found->second;
}

const Type* TypeTable::promoted(const Type* type) const {
  if (type->isInteger() && conversionRank(type) < 1)
    return integer();
  return type;
}

const Type* TypeTable::common(const Type* left, const Type* right) const {
  if (left->kind == TypeKind::Double || right->kind == TypeKind::Double)
    return get(TypeKind::Double);
  if (left->kind == TypeKind::Float || right->kind == TypeKind::Float)
    return get(TypeKind::Float);
  left = promoted(left);
  right = promoted(right);
  if (left == right)
    return left;
  if (left->isSigned() == right->isSigned())
    return conversionRank(left) >= conversionRank(right) ? left : right;
  const Type* withSign = left->isSigned() ? left : right;
  const Type* withoutSign = left->isSigned() ? right : left;
  if (conversionRank(withoutSign) >= conversionRank(withSign))
    return withoutSign;
  if (withSign->size > withoutSign->size)
    return withSign;
  return get(withSign->kind == TypeKind::Long ? TypeKind::UnsignedLong : TypeKind::UnsignedLongLong);
}

std::string typeName(const Type* type) {
  switch (type->kind) {
  case TypeKind::Struct:
    return !type->tag.empty() ? "struct " + type->tag : type->alias.empty() ? "struct <unnamed>" : type->alias;
  case TypeKind::Union:
    return !type->tag.empty() ? "union " + type->tag : type->alias.empty() ? "union <unnamed>" : type->alias;
  case TypeKind::CArray:
    return typeName(type->element) + "[" + std::to_string(type->count) + "]";
  default:
    return type->tag;
  }
}

} // namespace strata::sequoia

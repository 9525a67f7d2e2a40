// The types of a program, and how C lays structs and unions out.
#include "compiler/sequoia/syntax/type.h"

namespace strata::sequoia {

namespace {

constexpr uint64_t largestRecord = uint64_t(1) << 30;

/// A number type is the one of C that stands as far behind `char`.
constexpr auto firstScalar = static_cast<unsigned>(TypeKind::Char) - static_cast<unsigned>(cfamily::Scalar::Char);
static_assert(static_cast<unsigned>(TypeKind::Double) - firstScalar == static_cast<unsigned>(cfamily::Scalar::Double));

TypeKind kindOf(cfamily::Scalar scalar) {
  return static_cast<TypeKind>(static_cast<unsigned>(scalar) + firstScalar);
}

uint64_t roundUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace

cfamily::Scalar Type::scalar() const {
  return static_cast<cfamily::Scalar>(static_cast<unsigned>(kind) - firstScalar);
}

TypeTable::TypeTable() {
  for (TypeKind kind = TypeKind::Error; kind <= TypeKind::Double; kind = static_cast<TypeKind>(unsigned(kind) + 1)) {
    Type type;
    type.kind = kind;
    type.tag = kind == TypeKind::Error ? "<error>" : kind == TypeKind::Void ? "void" : scalarName(type.scalar());
    if (kind >= TypeKind::Char)
      type.size = type.alignment = cfamily::sizeOf(type.scalar());
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

void TypeTable::addTypedef(const Type* type, std::string name) {
  typedefs_[type].push_back(name);
  allTypedefs_.push_back({std::move(name), type});
}

const std::vector<std::string>& TypeTable::typedefsOf(const Type* type) const {
  static const std::vector<std::string> none;
  auto found = typedefs_.find(type);
  return found == typedefs_.end() ? none : found->second;
}

const Type* TypeTable::get(cfamily::Scalar scalar) const {
  return get(kindOf(scalar));
}

const Type* TypeTable::promoted(const Type* type) const {
  return type->isArithmetic() ? get(cfamily::promoted(type->scalar())) : type;
}

const Type* TypeTable::common(const Type* left, const Type* right) const {
  return get(cfamily::common(left->scalar(), right->scalar()));
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

// The scalar types of a Sequoia program: C's arithmetic types, structs and unions (with the C arrays inside them). A
// TypeTable makes and owns them; two types are the same type exactly when their pointers are equal. Sizes and
// alignments are those of the x86-64 System V C interface, since programs exchange these objects with C. Not thread
// safe.
#pragma once

#include "base/source/source.h"
#include "compiler/cfamily/check/scalar.h"

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace strata::sequoia {

enum class TypeKind : uint8_t {
  Error, // the type of an expression that was wrong; it provokes no further messages
  Void,
  Char,
  SignedChar,
  UnsignedChar,
  Short,
  UnsignedShort,
  Int, // also every enum
  UnsignedInt,
  Long, // also size parameters and tunables
  UnsignedLong,
  LongLong,
  UnsignedLongLong,
  Float,
  Double,
  Struct,
  Union,
  CArray // only as a member of a struct or union
};

struct Type;

struct Field {
  std::string name;
  const Type* type = nullptr;
  uint64_t offset = 0; // bytes
  bool isConst = false;
  Location location;
};

struct Type {
  TypeKind kind = TypeKind::Error;
  uint64_t size = 0;      // bytes
  uint64_t alignment = 1; // bytes
  std::string tag;        // Struct, Union: as written, may be empty
  std::string alias;      // Struct, Union without a tag: the first typedef that names it, for messages and pictures
  std::vector<Field> fields;
  const Type* element = nullptr; // CArray
  uint64_t count = 0;            // CArray
  bool complete = true;
  Location location; // Struct, Union: where it is defined

  bool isError() const { return kind == TypeKind::Error; }
  bool isVoid() const { return kind == TypeKind::Void; }
  bool isInteger() const { return kind >= TypeKind::Char && kind <= TypeKind::UnsignedLongLong; }
  bool isFloating() const { return kind == TypeKind::Float || kind == TypeKind::Double; }
  bool isArithmetic() const { return isInteger() || isFloating(); }
  bool isRecord() const { return kind == TypeKind::Struct || kind == TypeKind::Union; }
  bool isCArray() const { return kind == TypeKind::CArray; }
  /// REQUIRES: isArithmetic().
  cfamily::Scalar scalar() const;
  /// REQUIRES: isInteger().
  bool isSigned() const { return cfamily::isSigned(scalar()); }
  uint32_t bits() const { return static_cast<uint32_t>(size * 8); }
};

/// Makes types and keeps them alive.
class TypeTable {
public:
  TypeTable();
  TypeTable(const TypeTable&) = delete;
  const Type* get(TypeKind scalar) const { return &scalars_[static_cast<size_t>(scalar)]; }
  const Type* get(cfamily::Scalar scalar) const;
  const Type* error() const { return get(TypeKind::Error); }
  const Type* integer() const { return get(TypeKind::Int); }
  const Type* longInteger() const { return get(TypeKind::Long); }
  /// A struct or union without fields yet; `layOut` completes it.
  Type* makeRecord(TypeKind kind, std::string tag, const Location& location);
  /// Gives fields their offsets. Returns false when the size would exceed 1 GiB.
  static bool layOut(Type& record);
  const Type* arrayOf(const Type* element, uint64_t count);
  /// A name that a typedef outside of all tasks gives a type.
  struct Typedef {
    std::string name;
    const Type* type = nullptr;
  };
  /// An enum outside of all tasks; the tag is often empty.
  struct Enumeration {
    std::string tag;
    std::vector<std::pair<std::string, int64_t>> enumerators;
  };
  void addTypedef(const Type* type, std::string name);
  void addEnumeration(Enumeration enumeration) { enumerations_.push_back(std::move(enumeration)); }
  /// In the program's order.
  const std::vector<Typedef>& typedefs() const { return allTypedefs_; }
  const std::vector<Enumeration>& enumerations() const { return enumerations_; }
  /// The names of one type, in the program's order; often none.
  const std::vector<std::string>& typedefsOf(const Type* type) const;

  /// C's integer promotion; other types unchanged.
  const Type* promoted(const Type* type) const;
  /// C's usual arithmetic conversions. REQUIRES: both arithmetic.
  const Type* common(const Type* left, const Type* right) const;

private:
  std::vector<Type> scalars_;
  std::deque<Type> made_;
  std::map<std::pair<const Type*, uint64_t>, const Type*> arrays_;
  std::map<const Type*, std::vector<std::string>> typedefs_;
  std::vector<Typedef> allTypedefs_;
  std::vector<Enumeration> enumerations_;
};

/// The type as the program would write it: "unsigned int", "struct cmplx", "cmplx" where only a typedef names it.
std::string typeName(const Type* type);

} // namespace strata::sequoia

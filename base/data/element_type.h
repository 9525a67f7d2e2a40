// The types of array elements, as NumPy has them: booleans, integers, floating-point numbers, complex numbers and
// structs of these. A value type that owns its fields; safe to read from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

struct Field;

/// One element's type. Byte order is always the machine's own; files in the other order are converted as they are read.
struct ElementType {
  enum class Kind { Bool, SignedInteger, UnsignedInteger, Float, Complex, Struct };

  Kind kind = Kind::Float;
  /// Size of one element in bytes, padding included. Bool 1; integers 1, 2, 4, 8; Float 4, 8; Complex 8, 16.
  uint64_t bytes = 4;
  /// Struct only: the members by increasing offset, which do not overlap.
  std::vector<Field> fields;

  static ElementType boolean();
  static ElementType signedInteger(uint64_t bytes);
  static ElementType unsignedInteger(uint64_t bytes);
  static ElementType floating(uint64_t bytes);
  static ElementType complex(uint64_t bytes);
  /// A struct of the given size. REQUIRES: the fields are in order, do not overlap and end by `bytes`.
  static ElementType structure(std::vector<Field> fields, uint64_t bytes);

  /// As a message names it: "float32", "{re: float32, im: float32}".
  std::string text() const;
  /// As a .npy header's `descr` says it, little-endian: '<f4', [('re', '<f4'), ('im', '<f4')]. Padding becomes ('',
  /// '|V4').
  std::string numpyDescription() const;
  /// The complex type with the same bytes as a struct of exactly two floats or two doubles; nothing for other types.
  std::optional<ElementType> asComplex() const;
};

/// A member of a struct. A member that is an array has a shape; its elements lie in C order.
struct Field {
  std::string name;
  uint64_t offset = 0;
  ElementType type;
  std::vector<uint64_t> shape;
  /// How many elements the member has: 1 when it is no array.
  uint64_t count() const;
  /// One past the last byte of the member within the struct.
  uint64_t end() const { return offset + type.bytes * count(); }
};

inline ElementType ElementType::boolean() {
  return {Kind::Bool, 1, {}};
}
inline ElementType ElementType::signedInteger(uint64_t bytes) {
  return {Kind::SignedInteger, bytes, {}};
}
inline ElementType ElementType::unsignedInteger(uint64_t bytes) {
  return {Kind::UnsignedInteger, bytes, {}};
}
inline ElementType ElementType::floating(uint64_t bytes) {
  return {Kind::Float, bytes, {}};
}
inline ElementType ElementType::complex(uint64_t bytes) {
  return {Kind::Complex, bytes, {}};
}

/// Equal in every byte: kinds, sizes, member names, offsets and shapes.
bool operator==(const ElementType& a, const ElementType& b);
bool operator==(const Field& a, const Field& b);

/// A run of equal scalars within an element.
struct ScalarRun {
  ElementType::Kind kind; ///< never Struct or Complex: a complex number is two floats
  uint64_t offset;        ///< bytes from the beginning of the element
  uint64_t bytes;         ///< size of one scalar
  uint64_t count;         ///< scalars in the run, one behind the other
};

/// The scalars of an element in order, neighbouring equal members joined. An array of structs inside a struct is spread
/// out, up to `limit` runs; nothing when there are more.
std::optional<std::vector<ScalarRun>> scalarRuns(const ElementType& type, size_t limit = 65536);

/// The text of a number of bytes for people: "3 bytes", "4 KiB", "1.5 GiB".
std::string bytesText(uint64_t bytes);

/// The text of a shape as Python writes it: "()", "(3,)", "(3, 4)".
std::string shapeText(const std::vector<int64_t>& shape);

} // namespace strata

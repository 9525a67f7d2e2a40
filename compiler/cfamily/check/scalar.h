// The number types of C on x86-64, and C's conversions between them (C99 6.3.1.1 and 6.3.1.8). All notations that
// compute as C does name their types by these. Plain functions; safe from any thread.
#pragma once

#include <cstdint>

namespace strata::cfamily {

enum class Scalar : uint8_t {
  Bool, // 0 or 1, in one bit
  Char, // signed
  SignedChar,
  UnsignedChar,
  Short,
  UnsignedShort,
  Int,
  UnsignedInt,
  Long,
  UnsignedLong,
  LongLong,
  UnsignedLongLong,
  Float,
  Double
};

/// As C spells it: "unsigned int".
const char* scalarName(Scalar type);
bool isFloating(Scalar type);
bool isInteger(Scalar type);
/// Reals are signed.
bool isSigned(Scalar type);
/// Of its value; those of Bool are 1, though it is stored in a byte.
unsigned bitsOf(Scalar type);
/// Bytes that an object takes.
unsigned sizeOf(Scalar type);

/// The type of an integer literal (C99 6.4.4.1): the first that holds its value of those that its base and its
/// suffixes u and l allow.
Scalar typeOfLiteral(uint64_t value, bool isDecimal, bool isUnsigned, bool isLong);
/// C's integer promotion; other types unchanged.
Scalar promoted(Scalar type);
/// C's usual arithmetic conversions.
Scalar common(Scalar left, Scalar right);

/// The low bits of a value as the type holds them, extended to 64 by the type's sign. REQUIRES: isInteger(type).
uint64_t wrapped(uint64_t value, Scalar type);

} // namespace strata::cfamily

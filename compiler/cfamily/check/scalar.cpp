// The table of number types, and C's rules for what two of them make.
#include "compiler/cfamily/check/scalar.h"

namespace strata::cfamily {

namespace {

struct Facts {
  const char* name;
  uint8_t bits, size, rank; // rank: C's integer conversion rank, from int upwards
  bool isSigned, isFloating;
};

constexpr Facts facts[] = {
    {"_Bool", 1, 1, 0, false, false},      {"char", 8, 1, 0, true, false},
    {"signed char", 8, 1, 0, true, false}, {"unsigned char", 8, 1, 0, false, false},
    {"short", 16, 2, 0, true, false},      {"unsigned short", 16, 2, 0, false, false},
    {"int", 32, 4, 1, true, false},        {"unsigned int", 32, 4, 1, false, false},
    {"long", 64, 8, 2, true, false},       {"unsigned long", 64, 8, 2, false, false},
    {"long long", 64, 8, 3, true, false},  {"unsigned long long", 64, 8, 3, false, false},
    {"float", 32, 4, 0, true, true},       {"double", 64, 8, 0, true, true},
};

const Facts& of(Scalar type) {
  return facts[static_cast<unsigned>(type)];
}

} // namespace

const char* scalarName(Scalar type) {
  return of(type).name;
}
bool isFloating(Scalar type) {
  return of(type).isFloating;
}
bool isInteger(Scalar type) {
  return !of(type).isFloating;
}
bool isSigned(Scalar type) {
  return of(type).isSigned;
}
unsigned bitsOf(Scalar type) {
  return of(type).bits;
}
unsigned sizeOf(Scalar type) {
  return of(type).size;
}

Scalar typeOfLiteral(uint64_t value, bool isDecimal, bool isUnsigned, bool isLong) {
  if (!isLong && value <= (isUnsigned ? UINT32_MAX : INT32_MAX))
    return isUnsigned ? Scalar::UnsignedInt : Scalar::Int;
  // Decimal literals without u are never unsigned, as long as a signed type holds them.
  if (!isLong && !isUnsigned && !isDecimal && value <= UINT32_MAX)
    return Scalar::UnsignedInt;
  return !isUnsigned && value <= INT64_MAX ? Scalar::Long : Scalar::UnsignedLong;
}

Scalar promoted(Scalar type) {
  return isInteger(type) && of(type).rank < 1 ? Scalar::Int : type;
}

Scalar common(Scalar left, Scalar right) {
  if (left == Scalar::Double || right == Scalar::Double)
    return Scalar::Double;
  if (left == Scalar::Float || right == Scalar::Float)
    return Scalar::Float;
  left = promoted(left);
  right = promoted(right);
  if (isSigned(left) == isSigned(right))
    return of(left).rank >= of(right).rank ? left : right;
  const Scalar withSign = isSigned(left) ? left : right, withoutSign = isSigned(left) ? right : left;
  if (of(withoutSign).rank >= of(withSign).rank)
    return withoutSign;
  if (bitsOf(withSign) > bitsOf(withoutSign))
    return withSign;
  return withSign == Scalar::Long ? Scalar::UnsignedLong : Scalar::UnsignedLongLong;
}

uint64_t wrapped(uint64_t value, Scalar type) {
  const unsigned unused = 64 - bitsOf(type);
  value <<= unused;
  return isSigned(type) ? static_cast<uint64_t>(static_cast<int64_t>(value) >> unused) : value >> unused;
}

} // namespace strata::cfamily

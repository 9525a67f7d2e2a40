// Integer operations of the interpreter, and the one place that finds the function of an arith or math operation.
#include "compiler/interpret/scalar_functions.h"
#include "compiler/interpret/float_functions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/bit.h"

using namespace mlir;

namespace strata::interpret {

namespace {

struct IntegerEntry {
  const char* name;
  PureFunction function;
};

/// x and y are zero-extended, sx and sy sign-extended; the value is cut to the width.
#define STRATA_INTEGER(NAME, EXPRESSION)                                                                               \
  {NAME, [](uint64_t x, uint64_t y, uint64_t, unsigned width) -> uint64_t {                                            \
     [[maybe_unused]] int64_t sx = signExtend(x, width), sy = signExtend(y, width);                                    \
     return lowBits(static_cast<uint64_t>(EXPRESSION), width);                                                         \
   }}

uint64_t integerPower(uint64_t base, int64_t exponent, unsigned width) {
  if (exponent < 0) {
    int64_t value = signExtend(base, width);
    return value == 1 ? 1 : value == -1 ? (exponent & 1 ? ~uint64_t(0) : 1) : 0;
  }
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base *= base)
    if (exponent & 1)
      result *= base;
  return result;
}

const IntegerEntry integerOperations[] = {
    STRATA_INTEGER("arith.addi", x + y),
    STRATA_INTEGER("arith.subi", x - y),
    STRATA_INTEGER("arith.muli", x* y),
    STRATA_INTEGER("arith.andi", x& y),
    STRATA_INTEGER("arith.ori", x | y),
    STRATA_INTEGER("arith.xori", x ^ y),
    STRATA_INTEGER("arith.shli", y >= width ? 0 : x << y),
    STRATA_INTEGER("arith.shrui", y >= width ? 0 : x >> y),
    STRATA_INTEGER("arith.shrsi", y >= width ? 0 : sx >> y),
    STRATA_INTEGER("arith.minsi", sx < sy ? sx : sy),
    STRATA_INTEGER("arith.maxsi", sx > sy ? sx : sy),
    STRATA_INTEGER("arith.minui", x < y ? x : y),
    STRATA_INTEGER("arith.maxui", x > y ? x : y),
    STRATA_INTEGER("math.absi", sx < 0 ? 0 - x : x),
    STRATA_INTEGER("math.ipowi", integerPower(x, sy, width)),
    STRATA_INTEGER("math.ctpop", llvm::popcount(x)),
    STRATA_INTEGER("math.ctlz", x ? llvm::countl_zero(x) - (64 - static_cast<int>(width)) : static_cast<int>(width)),
    STRATA_INTEGER("math.cttz", x ? llvm::countr_zero(x) : static_cast<int>(width)),
};

PureFunction integerOperation(StringRef name) {
  for (const IntegerEntry& entry : integerOperations)
    if (name == entry.name)
      return entry.function;
  return nullptr;
}

PureFunction integerComparison(arith::CmpIPredicate predicate) {
  using enum arith::CmpIPredicate;
  static const IntegerEntry table[] = {
      STRATA_INTEGER("eq", x == y),    STRATA_INTEGER("ne", x != y),   STRATA_INTEGER("slt", sx < sy),
      STRATA_INTEGER("sle", sx <= sy), STRATA_INTEGER("sgt", sx > sy), STRATA_INTEGER("sge", sx >= sy),
      STRATA_INTEGER("ult", x < y),    STRATA_INTEGER("ule", x <= y),  STRATA_INTEGER("ugt", x > y),
      STRATA_INTEGER("uge", x >= y),
  };
  return table[static_cast<unsigned>(predicate)].function;
}

uint64_t extendSigned(uint64_t a, uint64_t, uint64_t, unsigned width) {
  return static_cast<uint64_t>(signExtend(a, width));
}
uint64_t keepLow(uint64_t a, uint64_t, uint64_t, unsigned width) {
  return lowBits(a, width);
}
/// `To` says where the extension stops.
template <unsigned To>
uint64_t extendSignedTo(uint64_t a, uint64_t, uint64_t, unsigned width) {
  return lowBits(static_cast<uint64_t>(signExtend(a, width)), To);
}
template <size_t... Widths>
PureFunction extensionTo(unsigned width, std::index_sequence<Widths...>) {
  static constexpr PureFunction table[] = {extendSignedTo<Widths>...};
  return width < sizeof...(Widths) ? table[width] : extendSigned;
}

PureFunction castFunction(Operation* op, unsigned& width) {
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  unsigned fromWidth = scalarWidth(from), toWidth = scalarWidth(to);
  if (!fromWidth || !toWidth)
    return nullptr;
  std::optional<FloatFormat> fromFloat = floatFormat(from), toFloat = floatFormat(to);
  if (isa<arith::ExtSIOp>(op) || (isa<arith::IndexCastOp>(op) && toWidth > fromWidth)) {
    width = fromWidth;
    return extensionTo(toWidth, std::make_index_sequence<64>());
  }
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, arith::IndexCastUIOp, arith::BitcastOp>(op)) {
    width = toWidth;
    return keepLow;
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op) && fromFloat && toFloat)
    return floatToFloat(*fromFloat, *toFloat);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) && toFloat) {
    width = fromWidth;
    return integerToFloat(*toFloat, isa<arith::SIToFPOp>(op));
  }
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && fromFloat) {
    width = toWidth;
    return floatToInteger(*fromFloat, isa<arith::FPToSIOp>(op));
  }
  return nullptr;
}

} // namespace

unsigned scalarWidth(Type type) {
  if (isa<IndexType>(type))
    return 64;
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.getWidth() <= 64 ? integer.getWidth() : 0;
  return floatFormat(type) ? type.getIntOrFloatBitWidth() : 0;
}

PureFunction namedFunction(StringRef name, Type type) {
  std::optional<FloatFormat> format = floatFormat(type);
  return format ? floatOperation(name, *format) : scalarWidth(type) ? integerOperation(name) : nullptr;
}

PureFunction scalarFunction(Operation* op, unsigned& width) {
  if (op->getNumOperands() == 0 || op->getNumOperands() > 3 || op->getNumResults() != 1)
    return nullptr;
  Type type = op->getOperand(0).getType();
  width = scalarWidth(type);
  if (!width)
    return nullptr;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return integerComparison(compare.getPredicate());
  std::optional<FloatFormat> format = floatFormat(type);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return format ? floatComparison(static_cast<unsigned>(compare.getPredicate()), *format) : nullptr;
  if (PureFunction function = castFunction(op, width))
    return function;
  StringRef name = op->getName().getStringRef();
  if (!format)
    return integerOperation(name);
  if (op->getNumOperands() == 2) // fpowi's exponent
    width = scalarWidth(op->getOperand(1).getType());
  return width ? floatOperation(name, *format) : nullptr;
}

} // namespace strata::interpret

// Operations on registers, and instructions as text. See instruction.h. One function for each operation and type, found
// when a program is loaded, so that nothing is decided while it runs.
#include "runtime/array/instruction.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>

namespace strata::array {

namespace {

struct OpcodeInfo {
  std::string_view name;
  unsigned operands;
};

constexpr OpcodeInfo opcodeInfo[opcodes] = {
    {"nop", 0},  {"move", 1}, {"add", 2}, {"sub", 2}, {"mul", 2}, {"muladd", 3}, {"div", 2},     {"rem", 2}, {"neg", 1},
    {"and", 2},  {"or", 2},   {"xor", 2}, {"not", 1}, {"shl", 2}, {"shr", 2},    {"min", 2},     {"max", 2}, {"abs", 1},
    {"sqrt", 1}, {"lt", 2},   {"le", 2},  {"eq", 2},  {"ne", 2},  {"select", 3}, {"convert", 1},
};

constexpr std::string_view typeNames[types] = {"bool",   "int8",   "int16",  "int32",   "int64",  "uint8",
                                               "uint16", "uint32", "uint64", "float32", "float64"};

template <typename T>
T load(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits & 1;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <typename T>
uint64_t store(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else if constexpr (std::is_signed_v<T>)
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  else
    return static_cast<uint64_t>(value);
}

template <typename T>
inline constexpr unsigned width = std::is_same_v<T, bool> ? 1 : 8 * sizeof(T);

constexpr Evaluated undefined = {0, false};

template <Opcode opcode, typename T>
Evaluated divide(T a, T b) {
  constexpr bool isRemainder = opcode == Opcode::Remainder;
  if (b == 0 || (std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1)))
    return undefined;
  return {store<T>(static_cast<T>(isRemainder ? a % b : a / b))};
}

/// Integers wrap around: they are computed with as 64 unsigned bits and cut to their size.
template <Opcode opcode, typename T>
Evaluated integer(uint64_t first, uint64_t second, uint64_t third) {
  const auto cut = [](uint64_t bits) { return Evaluated{store<T>(load<T>(bits))}; };
  const uint64_t a = store(load<T>(first)), b = store(load<T>(second)), c = store(load<T>(third));
  const T x = load<T>(first), y = load<T>(second);
  if constexpr (opcode == Opcode::Add)
    return cut(a + b);
  else if constexpr (opcode == Opcode::Subtract)
    return cut(a - b);
  else if constexpr (opcode == Opcode::Multiply)
    return cut(a * b);
  else if constexpr (opcode == Opcode::MultiplyAdd)
    return cut(a * b + c);
  else if constexpr (opcode == Opcode::Divide || opcode == Opcode::Remainder)
    return divide<opcode>(x, y);
  else if constexpr (opcode == Opcode::Negate)
    return cut(0 - a);
  else if constexpr (opcode == Opcode::And)
    return cut(a & b);
  else if constexpr (opcode == Opcode::Or)
    return cut(a | b);
  else if constexpr (opcode == Opcode::Xor)
    return cut(a ^ b);
  else if constexpr (opcode == Opcode::Not)
    return cut(~a);
  else if constexpr (opcode == Opcode::ShiftLeft)
    return cut(a << (b % width<T>));
  else if constexpr (opcode == Opcode::ShiftRight)
    return cut(static_cast<uint64_t>(
        std::is_signed_v<T> ? static_cast<int64_t>(a) >> (b % width<T>) : static_cast<int64_t>(a >> (b % width<T>))));
  else if constexpr (opcode == Opcode::Minimum)
    return cut(y < x ? b : a);
  else if constexpr (opcode == Opcode::Maximum)
    return cut(x < y ? b : a);
  else if constexpr (opcode == Opcode::Absolute)
    return cut(std::is_signed_v<T> && x < T{0} ? 0 - a : a);
  return cut(a);
}

template <Opcode opcode, typename T>
Evaluated floating(uint64_t first, uint64_t second, uint64_t third) {
  const T a = load<T>(first), b = load<T>(second), c = load<T>(third);
  T value = a;
  if constexpr (opcode == Opcode::Add)
    value = a + b;
  else if constexpr (opcode == Opcode::Subtract)
    value = a - b;
  else if constexpr (opcode == Opcode::Multiply)
    value = a * b;
  else if constexpr (opcode == Opcode::MultiplyAdd)
    value = std::fma(a, b, c);
  else if constexpr (opcode == Opcode::Divide)
    value = a / b;
  else if constexpr (opcode == Opcode::Negate)
    value = -a;
  else if constexpr (opcode == Opcode::Minimum)
    value = b < a ? b : a;
  else if constexpr (opcode == Opcode::Maximum)
    value = a < b ? b : a;
  else if constexpr (opcode == Opcode::Absolute)
    value = std::fabs(a);
  else if constexpr (opcode == Opcode::SquareRoot)
    value = std::sqrt(a);
  return {store<T>(value)};
}

template <Opcode opcode, typename T>
Evaluated comparison(uint64_t first, uint64_t second, uint64_t /*third*/) {
  const T a = load<T>(first), b = load<T>(second);
  if constexpr (opcode == Opcode::Less)
    return {a < b};
  else if constexpr (opcode == Opcode::LessOrEqual)
    return {a <= b};
  else if constexpr (opcode == Opcode::Equal)
    return {a == b};
  else
    return {a != b};
}

template <typename T>
Evaluated select(uint64_t condition, uint64_t a, uint64_t b) {
  return {store<T>(load<T>(condition & 1 ? a : b))};
}

template <typename To, typename From>
Evaluated convert(uint64_t first, uint64_t /*second*/, uint64_t /*third*/) {
  const From value = load<From>(first);
  if constexpr (std::is_same_v<To, bool>) {
    return {value != From{}};
  } else if constexpr (std::is_floating_point_v<To> || !std::is_floating_point_v<From>) {
    return {store<To>(static_cast<To>(value))};
  } else {
    const double whole = std::trunc(static_cast<double>(value));
    const double end = std::ldexp(1.0, static_cast<int>(width<To>) - (std::is_signed_v<To> ? 1 : 0));
    if (!(whole < end && whole >= (std::is_signed_v<To> ? -end : 0.0)))
      return undefined;
    return {store<To>(static_cast<To>(whole))};
  }
}

/// The type as a C++ type, given to a function object.
template <typename F>
Evaluator withType(Type type, F&& f) {
  switch (type) {
  case Type::Bool:
    return f(std::type_identity<bool>());
  case Type::Int8:
    return f(std::type_identity<int8_t>());
  case Type::Int16:
    return f(std::type_identity<int16_t>());
  case Type::Int32:
    return f(std::type_identity<int32_t>());
  case Type::Int64:
    return f(std::type_identity<int64_t>());
  case Type::Uint8:
    return f(std::type_identity<uint8_t>());
  case Type::Uint16:
    return f(std::type_identity<uint16_t>());
  case Type::Uint32:
    return f(std::type_identity<uint32_t>());
  case Type::Uint64:
    return f(std::type_identity<uint64_t>());
  case Type::Float32:
    return f(std::type_identity<float>());
  case Type::Float64:
    return f(std::type_identity<double>());
  }
  return nullptr;
}

template <Opcode opcode>
Evaluator arithmetic(Type type) {
  constexpr bool integersOnly = opcode == Opcode::Remainder || opcode == Opcode::And || opcode == Opcode::Or ||
                                opcode == Opcode::Xor || opcode == Opcode::Not || opcode == Opcode::ShiftLeft ||
                                opcode == Opcode::ShiftRight;
  return withType(type, []<typename T>(std::type_identity<T>) -> Evaluator {
    if constexpr (std::is_floating_point_v<T>)
      return integersOnly ? nullptr : floating<opcode, T>;
    else
      return opcode == Opcode::SquareRoot ? nullptr : integer<opcode, T>;
  });
}

template <Opcode opcode>
Evaluator compare(Type type) {
  return withType(type, []<typename T>(std::type_identity<T>) -> Evaluator { return comparison<opcode, T>; });
}

template <size_t... at>
Evaluator chosen(Opcode opcode, Type type, std::index_sequence<at...>) {
  Evaluator found = nullptr;
  const auto tryOne = [&]<Opcode which>() {
    if (which != opcode)
      return;
    if constexpr (which >= Opcode::Less && which <= Opcode::NotEqual)
      found = compare<which>(type);
    else
      found = arithmetic<which>(type);
  };
  (tryOne.template operator()<static_cast<Opcode>(at)>(), ...);
  return found;
}

void append(std::string& text, const Operand& operand, const Functional& functional) {
  if (operand.source.kind != Register::Kind::None) {
    text += name(operand.source);
    return;
  }
  const Type type = functional.operandType;
  if (type == Type::Float32)
    text += std::to_string(load<float>(operand.immediate));
  else if (type == Type::Float64)
    text += std::to_string(load<double>(operand.immediate));
  else
    text += std::to_string(static_cast<int64_t>(operand.immediate));
}

} // namespace

std::string_view name(Type type) {
  return typeNames[static_cast<size_t>(type)];
}

std::string_view name(Opcode opcode) {
  return opcodeInfo[static_cast<size_t>(opcode)].name;
}

unsigned operands(Opcode opcode) {
  return opcodeInfo[static_cast<size_t>(opcode)].operands;
}

std::string name(Register reg) {
  constexpr std::string_view prefixes[] = {"", "rd", "fd", "id", "od", "f"};
  return reg.kind == Register::Kind::None
             ? ""
             : std::string(prefixes[static_cast<size_t>(reg.kind)]) + std::to_string(reg.index);
}

Evaluator evaluator(Opcode opcode, Type type, Type operandType) {
  switch (opcode) {
  case Opcode::Nop:
    return nullptr;
  case Opcode::Select:
    return withType(type, []<typename T>(std::type_identity<T>) -> Evaluator { return select<T>; });
  case Opcode::Convert:
    return withType(type, [&]<typename To>(std::type_identity<To>) -> Evaluator {
      return withType(operandType,
                      []<typename From>(std::type_identity<From>) -> Evaluator { return convert<To, From>; });
    });
  case Opcode::Move:
    // Bits, whatever they mean.
    return [](uint64_t a, uint64_t, uint64_t) { return Evaluated{a}; };
  default:
    break;
  }
  const bool isComparison = opcode >= Opcode::Less && opcode <= Opcode::NotEqual;
  return chosen(opcode, isComparison ? operandType : type, std::make_index_sequence<opcodes>());
}

Type operandType(const Functional& functional, size_t operand) {
  if (functional.opcode == Opcode::Select)
    return operand == 0 ? Type::Bool : functional.type;
  const bool isOfOperands = functional.opcode >= Opcode::Less && functional.opcode <= Opcode::NotEqual;
  return isOfOperands || functional.opcode == Opcode::Convert ? functional.operandType : functional.type;
}

Type resultType(const Functional& functional) {
  const bool isComparison = functional.opcode >= Opcode::Less && functional.opcode <= Opcode::NotEqual;
  return isComparison ? Type::Bool : functional.type;
}

std::string print(uint64_t bits, Type type) {
  const auto shortest = [](auto value) {
    char text[40];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  };
  switch (type) {
  case Type::Bool:
    return bits & 1 ? "true" : "false";
  case Type::Float32:
    return shortest(load<float>(bits));
  case Type::Float64:
    return shortest(load<double>(bits));
  case Type::Uint8:
  case Type::Uint16:
  case Type::Uint32:
  case Type::Uint64:
    return std::to_string(bits);
  default:
    return std::to_string(static_cast<int64_t>(bits));
  }
}

std::string print(const Instruction& instruction) {
  const Functional& f = instruction.functional;
  std::string text(name(f.opcode));
  bool isFirst = true, hasImmediate = false;
  for (const Operand& source : f.sources)
    hasImmediate |= source.source.kind == Register::Kind::None;
  if (hasImmediate)
    text += 'i';
  for (const Operand& source : f.sources) {
    text += isFirst ? " " : ", ";
    append(text, source, f);
    isFirst = false;
  }
  for (size_t i = 0; i < f.destinations.size(); ++i)
    text += (i ? ", " : " -> ") + name(f.destinations[i]);
  const Branch& branch = instruction.branch;
  const auto list = [&](const auto& items, std::string_view prefix) {
    for (size_t i = 0; i < items.size(); ++i)
      text += (i ? ", " : " ") + std::string(prefix) + std::to_string(items[i]);
  };
  switch (branch.kind) {
  case Branch::Kind::Next:
    break;
  case Branch::Kind::Goto:
    text += "; goto";
    list(branch.targets, "");
    break;
  case Branch::Kind::If:
    text += "; if";
    list(branch.signals, "c");
    text += " goto";
    list(branch.targets, "");
    break;
  case Branch::Kind::Halt:
    text += "; halt";
    break;
  }
  return text;
}

} // namespace strata::array

// The tables of operators.
#include "compiler/cfamily/syntax/operators.h"

#include <utility>

namespace strata::cfamily {

namespace {

constexpr BinaryOperator binaryOperators[] = {
    {"||", 1, Operator::LogicalOr},  {"&&", 2, Operator::LogicalAnd},   {"|", 3, Operator::BitOr},
    {"^", 4, Operator::BitXor},      {"&", 5, Operator::BitAnd},        {"==", 6, Operator::Equal},
    {"!=", 6, Operator::NotEqual},   {"<", 7, Operator::Less},          {">", 7, Operator::Greater},
    {"<=", 7, Operator::LessEqual},  {">=", 7, Operator::GreaterEqual}, {"<<", 8, Operator::ShiftLeft},
    {">>", 8, Operator::ShiftRight}, {"+", 9, Operator::Add},           {"-", 9, Operator::Subtract},
    {"*", 10, Operator::Multiply},   {"/", 10, Operator::Divide},       {"%", 10, Operator::Remainder}};

using Spelling = std::pair<std::string_view, Operator>;

constexpr Spelling prefixOperators[] = {
    {"+", Operator::Plus}, {"-", Operator::Negate}, {"!", Operator::Not}, {"~", Operator::Complement}};

constexpr Spelling assignOperators[] = {
    {"=", Operator::None},    {"+=", Operator::Add},       {"-=", Operator::Subtract},   {"*=", Operator::Multiply},
    {"/=", Operator::Divide}, {"%=", Operator::Remainder}, {"<<=", Operator::ShiftLeft}, {">>=", Operator::ShiftRight},
    {"&=", Operator::BitAnd}, {"^=", Operator::BitXor},    {"|=", Operator::BitOr}};

} // namespace

const char* operatorText(Operator op) {
  static constexpr const char* texts[] = {"",   "+",  "-", "*", "/", "%",  "<<", ">>", "<", ">", "<=", ">=",
                                          "==", "!=", "&", "^", "|", "&&", "||", "+",  "-", "!", "~"};
  return texts[static_cast<unsigned>(op)];
}

const BinaryOperator* findBinary(std::string_view text) {
  for (const BinaryOperator& each : binaryOperators)
    if (each.text == text)
      return &each;
  return nullptr;
}

std::optional<Operator> findPrefix(std::string_view text) {
  for (const auto& [spelling, op] : prefixOperators)
    if (spelling == text)
      return op;
  return std::nullopt;
}

std::optional<Operator> findAssignment(std::string_view text) {
  for (const auto& [spelling, op] : assignOperators)
    if (spelling == text)
      return op;
  return std::nullopt;
}

Operator mirrored(Operator comparison) {
  switch (comparison) {
  case Operator::Less:
    return Operator::Greater;
  case Operator::LessEqual:
    return Operator::GreaterEqual;
  case Operator::Greater:
    return Operator::Less;
  case Operator::GreaterEqual:
    return Operator::LessEqual;
  default:
    return comparison;
  }
}

std::string_view operandHelp(Operator op) {
  return op == Operator::BitXor ? "'^' is the exclusive or of bits; a power is pow(x, y)" : "";
}

} // namespace strata::cfamily

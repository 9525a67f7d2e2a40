// Numbers and escapes, read as C has them.
#include "compiler/cfamily/syntax/literal.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace strata::cfamily {

IntegerLiteral integerLiteral(std::string_view word) {
  IntegerLiteral literal;
  std::string_view digits = word;
  int longs = 0, unsigneds = 0;
  for (; !digits.empty(); digits.remove_suffix(1)) {
    const char last = digits.back();
    if (last == 'l' || last == 'L')
      ++longs;
    else if (last == 'u' || last == 'U')
      ++unsigneds;
    else
      break;
  }
  literal.isLong = longs != 0;
  literal.isUnsigned = unsigneds != 0;
  literal.isDecimal = !(digits.size() > 1 && digits[0] == '0');
  const bool hex = word.starts_with("0x") || word.starts_with("0X");
  if (hex)
    digits.remove_prefix(2);
  const char* const last = digits.data() + digits.size();
  auto [end, error] = std::from_chars(digits.data(), last, literal.value, hex ? 16 : literal.isDecimal ? 10 : 8);
  if (error == std::errc::result_out_of_range)
    literal.problem = "it does not fit in 64 bits";
  else if (error != std::errc() || end != last || longs > 2 || unsigneds > 1)
    literal.problem =
        "unexpected '" + std::string(end < last ? std::string_view(end, last) : word.substr(word.size() - 1)) + "'";
  return literal;
}

RealLiteral realLiteral(std::string_view word) {
  RealLiteral literal;
  std::string digits(word);
  literal.isFloat = digits.back() == 'f' || digits.back() == 'F';
  if (literal.isFloat)
    digits.pop_back();
  char* end = nullptr;
  literal.value = literal.isFloat ? std::strtof(digits.c_str(), &end) : std::strtod(digits.c_str(), &end);
  if (end != digits.c_str() + digits.size())
    literal.problem = *end == 'l' || *end == 'L' ? "there is no long double" : "unexpected '" + std::string(end) + "'";
  return literal;
}

std::optional<char> readEscape(std::string_view text, size_t& at) {
  static constexpr std::string_view letters = "abfnrtv\\'\"?", values = "\a\b\f\n\r\t\v\\'\"?";
  if (at >= text.size())
    return std::nullopt;
  if (size_t letter = letters.find(text[at]); letter != std::string_view::npos) {
    ++at;
    return values[letter];
  }
  const bool hex = text[at] == 'x';
  const size_t begin = std::min(at + (hex ? 1 : 0), text.size());
  const size_t most = std::min(begin + (hex ? 2 : 3), text.size());
  unsigned value = 0;
  auto [end, error] = std::from_chars(text.data() + begin, text.data() + most, value, hex ? 16 : 8);
  if (error != std::errc() || value > 255)
    return std::nullopt;
  at = static_cast<size_t>(end - text.data());
  return static_cast<char>(value);
}

std::string realText(double value) {
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end);
}

} // namespace strata::cfamily

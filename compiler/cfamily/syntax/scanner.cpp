// What C's tokens look like.
#include "compiler/cfamily/syntax/scanner.h"

#include "base/source/characters.h"

#include <algorithm>
#include <cctype>

namespace strata::cfamily {

namespace {

/// Longer ones first.
constexpr std::string_view signs[] = {"<<=", ">>=", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&",
                                      "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "^=", "|=", "[",  "]",
                                      "(",   ")",   "{",  "}",  ".",  "&",  "*",  "+",  "-",  "~",  "!",
                                      "/",   "%",   "<",  ">",  "^",  "|",  "?",  ":",  ";",  "=",  ","};

std::string_view firstOf(std::span<const std::string_view> candidates, std::string_view text) {
  for (std::string_view candidate : candidates)
    if (text.starts_with(candidate))
      return candidate;
  return {};
}

} // namespace

Scanner::Next Scanner::skipSpace() {
  for (; at_ < text_.size(); ++at_) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])))
      continue;
    if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size() - 1);
    } else if (text_.substr(at_, 2) == "/*") {
      const size_t end = text_.find("*/", at_ + 2);
      if (end == std::string_view::npos)
        return Next::OpenComment;
      at_ = end + 1;
    } else {
      return Next::Token;
    }
  }
  return Next::End;
}

std::string_view Scanner::takeWord() {
  const size_t begin = at_;
  while (isWordCharacter(peek()))
    ++at_;
  return since(begin);
}

Scanner::Number Scanner::takeNumber() {
  const size_t begin = at_;
  const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
  Number number;
  while (isWordCharacter(peek()) || peek() == '.') {
    const char c = peek();
    const bool exponent = hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
    number.isReal |= c == '.' || exponent;
    ++at_;
    if (exponent && (peek() == '+' || peek() == '-'))
      ++at_;
  }
  number.text = since(begin);
  return number;
}

std::string_view Scanner::takeSign(std::span<const std::string_view> further) {
  const std::string_view rest = text_.substr(at_);
  const std::string_view own = firstOf(further, rest), common = firstOf(signs, rest);
  const std::string_view longest = own.size() > common.size() ? own : common;
  at_ += longest.size();
  return rest.substr(0, longest.size());
}

bool Scanner::takeString() {
  for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
    if (text_[at_] == '\\' && peek(1) != '\n')
      ++at_;
  at_ = std::min(at_, text_.size());
  if (peek() != '"')
    return false;
  ++at_;
  return true;
}

bool Scanner::beginsSign(char c) {
  return std::any_of(std::begin(signs), std::end(signs), [&](std::string_view each) { return each[0] == c; });
}

} // namespace strata::cfamily

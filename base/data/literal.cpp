// A recursive-descent parser of Python literals. Recursion is bounded by MaxDepth, so no text can overflow the stack.
#include "base/data/literal.h"

namespace strata {

const PythonLiteral* PythonLiteral::find(std::string_view key) const {
  if (kind != Kind::Dictionary)
    return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2)
    if (items[i].kind == Kind::String && items[i].string == key)
      return &items[i + 1];
  return nullptr;
}

namespace {

constexpr int MaxDepth = 32;

class Parser {
public:
  Parser(std::string_view text, std::string& error) : text_(text), error_(error) {}

  bool parse(PythonLiteral& literal) {
    if (!value(literal, 0))
      return false;
    skipSpace();
    return at_ == text_.size() || fail("more text follows the dictionary");
  }

private:
  bool fail(const std::string& reason) {
    error_ = reason + " at byte " + std::to_string(at_);
    return false;
  }

  void skipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n\f").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  bool take(char c) {
    skipSpace();
    if (at_ >= text_.size() || text_[at_] != c)
      return false;
    ++at_;
    return true;
  }

  bool takeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word)
      return false;
    at_ += word.size();
    return true;
  }

  bool value(PythonLiteral& literal, int depth) {
    if (depth > MaxDepth)
      return fail("literals nested more than " + std::to_string(MaxDepth) + " deep");
    skipSpace();
    if (at_ >= text_.size())
      return fail("the text ends where a value was expected");
    const char c = text_[at_];
    if (c == '{')
      return dictionary(literal, depth);
    if (c == '(' || c == '[')
      return sequence(literal, depth);
    if (c == '\'' || c == '"')
      return string(literal);
    // Python 2 wrote names of non-ASCII members as u'…'.
    if (c == 'u' && at_ + 1 < text_.size() && (text_[at_ + 1] == '\'' || text_[at_ + 1] == '"')) {
      ++at_;
      return string(literal);
    }
    if (c == '-' || (c >= '0' && c <= '9'))
      return integer(literal);
    literal.kind = PythonLiteral::Kind::Bool;
    if (takeWord("True")) {
      literal.boolean = true;
      return true;
    }
    if (takeWord("False"))
      return true;
    literal.kind = PythonLiteral::Kind::None;
    return takeWord("None") || fail("a value was expected");
  }

  bool dictionary(PythonLiteral& literal, int depth) {
    literal.kind = PythonLiteral::Kind::Dictionary;
    ++at_;
    while (!take('}')) {
      PythonLiteral key, item;
      if (!value(key, depth + 1))
        return false;
      if (!take(':'))
        return fail("':' was expected after a key");
      if (!value(item, depth + 1))
        return false;
      literal.items.push_back(std::move(key));
      literal.items.push_back(std::move(item));
      if (take(','))
        continue;
      return take('}') || fail("',' or '}' was expected");
    }
    return true;
  }

  bool sequence(PythonLiteral& literal, int depth) {
    const bool list = text_[at_++] == '[';
    const char close = list ? ']' : ')';
    literal.kind = list ? PythonLiteral::Kind::List : PythonLiteral::Kind::Tuple;
    bool comma = false;
    while (!take(close)) {
      PythonLiteral item;
      if (!value(item, depth + 1))
        return false;
      literal.items.push_back(std::move(item));
      comma = take(',');
      if (comma)
        continue;
      if (!take(close))
        return fail(std::string("',' or '") + close + "' was expected");
      break;
    }
    // (x) is x in parentheses and no tuple.
    if (!list && !comma && literal.items.size() == 1) {
      PythonLiteral only = std::move(literal.items[0]);
      literal = std::move(only);
    }
    return true;
  }

  bool integer(PythonLiteral& literal) {
    literal.kind = PythonLiteral::Kind::Integer;
    const bool negative = text_[at_] == '-';
    if (negative)
      ++at_;
    const size_t begin = at_;
    uint64_t number = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      if (__builtin_mul_overflow(number, uint64_t(10), &number) ||
          __builtin_add_overflow(number, uint64_t(text_[at_] - '0'), &number) || number > INT64_MAX)
        return fail("a number that does not fit in 64 bits");
      ++at_;
    }
    if (at_ == begin)
      return fail("a number was expected");
    if (at_ < text_.size() && text_[at_] == 'L') // Python 2's long integers
      ++at_;
    literal.integer = negative ? -static_cast<int64_t>(number) : static_cast<int64_t>(number);
    return true;
  }

  static int hexDigit(char c) {
    if (c >= '0' && c <= '9')
      return c - '0';
    if (c >= 'a' && c <= 'f')
      return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  }

  static void appendUtf8(std::string& text, uint32_t code) {
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else if (code < 0x800) {
      text += static_cast<char>(0xC0 | code >> 6);
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      text += static_cast<char>(0xE0 | code >> 12);
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    } else {
      text += static_cast<char>(0xF0 | code >> 18);
      text += static_cast<char>(0x80 | (code >> 12 & 0x3F));
      text += static_cast<char>(0x80 | (code >> 6 & 0x3F));
      text += static_cast<char>(0x80 | (code & 0x3F));
    }
  }

  bool escape(std::string& text) {
    const char c = text_[at_++];
    switch (c) {
    case 'n':
      text += '\n';
      return true;
    case 't':
      text += '\t';
      return true;
    case 'r':
      text += '\r';
      return true;
    case '\\':
    case '\'':
    case '"':
      text += c;
      return true;
    default:
      break;
    }
    const int digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0)
      return fail("an unknown escape in a string");
    uint32_t code = 0;
    for (int i = 0; i < digits; ++i) {
      const int digit = at_ < text_.size() ? hexDigit(text_[at_]) : -1;
      if (digit < 0)
        return fail("a hexadecimal digit was expected");
      code = code << 4 | static_cast<uint32_t>(digit);
      ++at_;
    }
    if (code > 0x10FFFF)
      return fail("an escape beyond Unicode");
    appendUtf8(text, code);
    return true;
  }

  bool string(PythonLiteral& literal) {
    literal.kind = PythonLiteral::Kind::String;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      const char c = text_[at_++];
      if (c != '\\')
        literal.string += c;
      else if (at_ >= text_.size())
        break;
      else if (!escape(literal.string))
        return false;
    }
    if (at_ >= text_.size())
      return fail("a string without its closing quote");
    ++at_;
    return true;
  }

  std::string_view text_;
  std::string& error_;
  size_t at_ = 0;
};

} // namespace

bool parsePythonLiteral(std::string_view text, PythonLiteral& literal, std::string& error) {
  literal = {};
  return Parser(text, error).parse(literal);
}

} // namespace strata

// C's tokens, with Sequoia's keywords among them.
#include "compiler/sequoia/syntax/lexer.h"

#include "base/source/characters.h"
#include "base/source/display.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(unknownCharacter, Error, "sequoia-character", "no token begins with {0}");
STRATA_DIAGNOSTIC(openComment, Error, "sequoia-open-comment", "this comment is not closed");
STRATA_DIAGNOSTIC(badNumber, Error, "sequoia-number", "'{0}' is not a number: {1}");
STRATA_DIAGNOSTIC(badCharacterLiteral, Error, "sequoia-character-literal", "{0}");
STRATA_DIAGNOSTIC(stringLiteral, Error, "sequoia-string", "Sequoia has no strings");

namespace {

constexpr std::string_view keywords[] = {
    "auto",     "break",     "case",   "char",     "const",     "continue", "default", "do",     "double",
    "else",     "enum",      "extern", "float",    "for",       "goto",     "if",      "int",    "long",
    "register", "return",    "short",  "signed",   "sizeof",    "static",   "struct",  "switch", "typedef",
    "union",    "unsigned",  "void",   "volatile", "while",     "inline",   "copy",    "in",     "inout",
    "mappar",   "mapreduce", "mapseq", "out",      "reducearg", "task",     "tunable"};

constexpr std::string_view punctuators[] = {"<<=", ">>=", "...", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==",
                                            "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "[",
                                            "]",   "(",   ")",   "{",  "}",  ".",  "&",  "*",  "+",  "-",  "~",  "!",
                                            "/",   "%",   "<",   ">",  "^",  "|",  "?",  ":",  ";",  "=",  ","};

bool isKeyword(std::string_view word) {
  static const std::vector<std::string_view> sorted = [] {
    std::vector<std::string_view> all(std::begin(keywords), std::end(keywords));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

class Lexer {
public:
  Lexer(std::string_view text, const LineMap& map, DiagnosticEngine& diagnostics)
      : text_(text), map_(map), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 4 + 1);
    while (skipSpace())
      next();
    Token end;
    end.location = where(text_.size(), text_.size());
    tokens_.push_back(end);
    return std::move(tokens_);
  }

private:
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Location where(size_t begin, size_t end) const {
    return map_.locate(diagnostics_.sources(), text_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
  }

  /// Moves to the next token; false at the end.
  bool skipSpace() {
    for (; at_ < text_.size(); ++at_) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])))
        continue;
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      } else if (text_.substr(at_, 2) == "/*") {
        size_t end = text_.find("*/", at_ + 2);
        if (end == std::string_view::npos) {
          diagnostics_.report(openComment, where(at_, at_ + 2));
          push(TokenKind::Wrong, at_);
          at_ = text_.size();
          return false;
        }
        at_ = end + 1;
      } else {
        return true;
      }
    }
    return false;
  }

  Token& push(TokenKind kind, size_t begin) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = text_.substr(begin, at_ - begin);
    token.location = where(begin, at_);
    if (kind == TokenKind::Keyword || kind == TokenKind::Punctuator)
      token.code = spelling(token.text);
    return token;
  }

  void next() {
    size_t begin = at_;
    char c = peek();
    if (isWordStart(c)) {
      while (isWordCharacter(peek()))
        ++at_;
      push(isKeyword(text_.substr(begin, at_ - begin)) ? TokenKind::Keyword : TokenKind::Identifier, begin);
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '\'') {
      characterLiteral();
    } else if (c == '"') {
      for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_)
        if (text_[at_] == '\\' && peek(1) != '\n')
          ++at_;
      at_ = std::min(at_ + 1, text_.size());
      diagnostics_.report(stringLiteral, where(begin, at_))
          .help("a task computes on arrays; what prints or reads is an external task, in C");
      push(TokenKind::Wrong, begin);
    } else {
      punctuator();
    }
  }

  void punctuator() {
    for (std::string_view candidate : punctuators) {
      if (text_.substr(at_, candidate.size()) == candidate) {
        size_t begin = at_;
        at_ += candidate.size();
        push(TokenKind::Punctuator, begin);
        return;
      }
    }
    // What follows in the same run is the same mistake: a letter of several bytes, a line of signs.
    const size_t begin = at_++;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80)
      ++at_;
    diagnostics_.report(unknownCharacter, where(begin, at_), quoteCharacters(text_.substr(begin, at_ - begin)));
    push(TokenKind::Wrong, begin);
  }

  void number() {
    size_t begin = at_;
    bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    bool real = false;
    // As C's preprocessing numbers: letters, digits, points, and a sign after an exponent letter.
    while (isWordCharacter(peek()) || peek() == '.') {
      char c = peek();
      bool exponent = hex ? c == 'p' || c == 'P' : c == 'e' || c == 'E';
      real |= c == '.' || exponent;
      ++at_;
      if (exponent && (peek() == '+' || peek() == '-'))
        ++at_;
    }
    std::string_view word = text_.substr(begin, at_ - begin);
    if (real)
      realNumber(word, begin);
    else
      integerNumber(word, begin, hex);
  }

  void realNumber(std::string_view word, size_t begin) {
    std::string digits(word);
    bool isFloat = digits.back() == 'f' || digits.back() == 'F';
    if (isFloat)
      digits.pop_back();
    char* end = nullptr;
    double value = isFloat ? std::strtof(digits.c_str(), &end) : std::strtod(digits.c_str(), &end);
    Token& token = push(TokenKind::Real, begin);
    token.real = value;
    token.isFloat = isFloat;
    if (end != digits.c_str() + digits.size())
      diagnostics_.report(badNumber, token.location, word,
                          *end == 'l' || *end == 'L' ? "there is no long double"
                                                     : "unexpected '" + std::string(end) + "'");
  }

  void integerNumber(std::string_view word, size_t begin, bool hex) {
    std::string_view digits = word;
    int longs = 0, unsigneds = 0;
    while (!digits.empty()) {
      char last = digits.back();
      if (last == 'l' || last == 'L')
        ++longs;
      else if (last == 'u' || last == 'U')
        ++unsigneds;
      else
        break;
      digits.remove_suffix(1);
    }
    Token& token = push(TokenKind::Integer, begin);
    token.isLong = longs != 0;
    token.isUnsigned = unsigneds != 0;
    token.isDecimal = !(digits.size() > 1 && digits[0] == '0');
    int base = hex ? 16 : token.isDecimal ? 10 : 8;
    if (hex)
      digits.remove_prefix(2);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), token.integer, base);
    if (error == std::errc::result_out_of_range)
      diagnostics_.report(badNumber, token.location, word, "it does not fit in 64 bits");
    else if (error != std::errc() || end != digits.data() + digits.size() || longs > 2 || unsigneds > 1)
      diagnostics_.report(badNumber, token.location, word,
                          "unexpected '" +
                              (end < digits.data() + digits.size() ? std::string(end, digits.data() + digits.size())
                                                                   : std::string(word.substr(word.size() - 1))) +
                              "'");
  }

  void characterLiteral() {
    size_t begin = at_++;
    int value = 0;
    if (peek() == '\\') {
      ++at_;
      value = escape();
    } else if (peek() != '\'' && peek() != '\n' && at_ < text_.size()) {
      value = text_[at_] < 0 ? text_[at_] : static_cast<unsigned char>(text_[at_]); // as C has it: char is signed
      ++at_;
    } else {
      diagnostics_.report(badCharacterLiteral, where(begin, at_), "a character literal holds one character");
      if (peek() == '\'')
        ++at_;
      return;
    }
    if (peek() != '\'') {
      diagnostics_.report(badCharacterLiteral, where(begin, at_), "a character literal holds one character");
      while (at_ < text_.size() && peek() != '\'' && peek() != '\n')
        ++at_;
    }
    if (peek() == '\'')
      ++at_;
    push(TokenKind::Integer, begin).integer = static_cast<uint64_t>(static_cast<int64_t>(value));
  }

  /// The value of an escape; the backslash has been read.
  int escape() {
    static constexpr std::string_view letters = "abfnrtv\\'\"?", values = "\a\b\f\n\r\t\v\\'\"?";
    char c = peek();
    size_t letter = c ? letters.find(c) : std::string_view::npos;
    if (letter != std::string_view::npos) {
      ++at_;
      return values[letter];
    }
    int base = 8;
    if (c == 'x') {
      base = 16;
      ++at_;
    }
    int value = 0;
    auto [end, error] = std::from_chars(text_.data() + at_,
                                        text_.data() + std::min(at_ + (base == 8 ? 3 : 2), text_.size()), value, base);
    if (error != std::errc() || value > 255) {
      diagnostics_.report(badCharacterLiteral, where(at_ - 1, std::min(at_ + 1, text_.size())),
                          "unknown escape sequence");
      at_ = std::min(at_ + 1, text_.size());
      return 0;
    }
    at_ = static_cast<size_t>(end - text_.data());
    return static_cast<signed char>(value);
  }

  std::string_view text_;
  const LineMap& map_;
  DiagnosticEngine& diagnostics_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

} // namespace

std::string describe(const Token& token) {
  return token.kind == TokenKind::End ? "the end of the file" : "'" + std::string(token.text) + "'";
}

std::vector<Token> tokenize(std::string_view text, const LineMap& map, DiagnosticEngine& diagnostics) {
  return Lexer(text, map, diagnostics).run();
}

} // namespace strata::sequoia

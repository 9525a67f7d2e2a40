// C's tokens without its keywords, and numbers with the units of memory sizes.
#include "compiler/hbir/syntax/lexer.h"

#include "base/source/characters.h"
#include "base/source/display.h"
#include "compiler/cfamily/syntax/literal.h"
#include "compiler/cfamily/syntax/scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace strata::hbir {

STRATA_DIAGNOSTIC(unknownCharacter, Error, "hbir-character", "no token begins with {0}");
STRATA_DIAGNOSTIC(notText, Error, "hbir-no-text", "the file is no text: it has a byte 0x00");
STRATA_DIAGNOSTIC(openComment, Error, "hbir-open-comment", "this comment is not closed");
STRATA_DIAGNOSTIC(badNumber, Error, "hbir-number", "'{0}' is not a number: {1}");
STRATA_DIAGNOSTIC(badText, Error, "hbir-text", "{0}");

namespace {

class Lexer : cfamily::Scanner {
public:
  Lexer(BufferId file, DiagnosticEngine& diagnostics)
      : Scanner(diagnostics.sources().buffer(file).text()), file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (size_t zero = text_.find('\0'); zero != std::string_view::npos) {
      diagnostics_.report(notText, where(zero, zero + 1));
    } else {
      tokens_.reserve(text_.size() / 4 + 1);
      Next what = skipSpace();
      for (; what == Next::Token; what = skipSpace())
        next();
      if (what == Next::OpenComment)
        diagnostics_.report(openComment, where(at_, at_ + 2));
    }
    Token end;
    end.location = where(text_.size(), text_.size());
    tokens_.push_back(end);
    return std::move(tokens_);
  }

private:
  /// Whether a token or a comment can begin with it, or it stands between them.
  static bool isKnown(char c) {
    return isWordCharacter(c) || std::isspace(static_cast<unsigned char>(c)) || c == '"' || c == '\'' || beginsSign(c);
  }
  Location where(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  Token& push(TokenKind kind, size_t begin) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = since(begin);
    token.location = where(begin, at_);
    return token;
  }

  void next() {
    size_t begin = at_;
    char c = peek();
    if (isWordStart(c)) {
      takeWord();
      push(TokenKind::Word, begin);
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '"') {
      string();
    } else if (c == '\'') {
      character();
    } else {
      punctuator();
    }
  }

  void punctuator() {
    size_t begin = at_;
    if (!takeSign().empty()) {
      push(TokenKind::Punctuator, begin);
      return;
    }
    ++at_;
    // What follows in the same run is the same mistake: a letter of several bytes, a line of signs.
    while (at_ < text_.size() && !isKnown(peek()))
      ++at_;
    diagnostics_.report(unknownCharacter, where(begin, at_), quoteCharacters(since(begin)));
  }

  void number() {
    size_t begin = at_;
    bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex)
      at_ += 2;
    bool real = false;
    while (isDigit(peek()) || (hex && std::isxdigit(static_cast<unsigned char>(peek()))))
      ++at_;
    if (!hex && peek() == '.') {
      real = true;
      ++at_;
      while (isDigit(peek()))
        ++at_;
    }
    bool sign = peek(1) == '+' || peek(1) == '-';
    if (!hex && (peek() == 'e' || peek() == 'E') && isDigit(peek(sign ? 2 : 1))) {
      real = true;
      at_ += sign ? 2 : 1;
      while (isDigit(peek()))
        ++at_;
    }
    std::string_view digits = since(begin);
    std::string_view unit = takeWord();
    Token& token = push(real ? TokenKind::Real : TokenKind::Integer, begin);
    if (real || unit == "f" || unit == "F") {
      token.kind = TokenKind::Real;
      token.real = std::strtod(std::string(digits).c_str(), nullptr);
      if (!unit.empty() && unit != "f" && unit != "F")
        diagnostics_.report(badNumber, token.location, token.text, "unexpected '" + std::string(unit) + "'");
      return;
    }
    token.unit = unit;
    if (hex)
      digits.remove_prefix(2);
    auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), token.integer, hex ? 16 : 10);
    if (error == std::errc::result_out_of_range)
      diagnostics_.report(badNumber, token.location, token.text, "it does not fit in 64 bits");
    else if (error != std::errc())
      diagnostics_.report(badNumber, token.location, token.text, "there are no digits");
  }

  void string() {
    size_t begin = at_;
    if (!takeString()) {
      diagnostics_.report(badText, where(begin, at_), "this text is not closed on its line");
      return;
    }
    Token& token = push(TokenKind::Text, begin);
    token.text = token.text.substr(1, token.text.size() - 2);
  }

  void character() {
    size_t begin = at_++;
    std::optional<char> value;
    if (peek() == '\\') {
      ++at_;
      value = cfamily::readEscape(text_, at_);
    } else if (at_ < text_.size() && peek() != '\'' && peek() != '\n') {
      value = text_[at_++];
    }
    if (!value || peek() != '\'') {
      diagnostics_.report(badText, where(begin, at_), "a character stands alone between its quotes");
      return;
    }
    ++at_;
    push(TokenKind::Integer, begin).integer = cfamily::characterValue(*value);
  }

  BufferId file_;
  DiagnosticEngine& diagnostics_;
  std::vector<Token> tokens_;
};

} // namespace

std::string describe(const Token& token) {
  return token.kind == TokenKind::End    ? "the end of the file"
         : token.kind == TokenKind::Text ? "a text"
                                         : "'" + std::string(token.text.substr(0, 40)) + "'";
}

std::vector<Token> tokenize(BufferId file, DiagnosticEngine& diagnostics) {
  return Lexer(file, diagnostics).run();
}

} // namespace strata::hbir

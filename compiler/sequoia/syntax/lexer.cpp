// C's tokens, with Sequoia's keywords among them.
#include "compiler/sequoia/syntax/lexer.h"

#include "base/source/characters.h"
#include "base/source/display.h"
#include "compiler/cfamily/syntax/literal.h"
#include "compiler/cfamily/syntax/scanner.h"

#include <algorithm>

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

constexpr std::string_view furtherSigns[] = {"...", "::", "->"};

bool isKeyword(std::string_view word) {
  static const std::vector<std::string_view> sorted = [] {
    std::vector<std::string_view> all(std::begin(keywords), std::end(keywords));
    std::sort(all.begin(), all.end());
    return all;
  }();
  return std::binary_search(sorted.begin(), sorted.end(), word);
}

class Lexer : cfamily::Scanner {
public:
  Lexer(std::string_view text, const LineMap& map, DiagnosticEngine& diagnostics)
      : Scanner(text), map_(map), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    tokens_.reserve(text_.size() / 4 + 1);
    Next what = skipSpace();
    for (; what == Next::Token; what = skipSpace())
      next();
    if (what == Next::OpenComment) {
      diagnostics_.report(openComment, where(at_, at_ + 2));
      push(TokenKind::Wrong, at_);
    }
    Token end;
    end.location = where(text_.size(), text_.size());
    tokens_.push_back(end);
    return std::move(tokens_);
  }

private:
  Location where(size_t begin, size_t end) const {
    return map_.locate(diagnostics_.sources(), text_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end));
  }

  Token& push(TokenKind kind, size_t begin) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = since(begin);
    token.location = where(begin, at_);
    if (kind == TokenKind::Keyword || kind == TokenKind::Punctuator)
      token.code = spelling(token.text);
    return token;
  }

  void next() {
    size_t begin = at_;
    char c = peek();
    if (isWordStart(c)) {
      const bool isKnown = isKeyword(takeWord());
      push(isKnown ? TokenKind::Keyword : TokenKind::Identifier, begin);
    } else if (isDigit(c) || (c == '.' && isDigit(peek(1)))) {
      number();
    } else if (c == '\'') {
      characterLiteral();
    } else if (c == '"') {
      if (!takeString())
        at_ = std::min(at_ + 1, text_.size());
      diagnostics_.report(stringLiteral, where(begin, at_))
          .help("a task computes on arrays; what prints or reads is an external task, in C");
      push(TokenKind::Wrong, begin);
    } else {
      punctuator();
    }
  }

  void punctuator() {
    size_t begin = at_;
    if (!takeSign(furtherSigns).empty()) {
      push(TokenKind::Punctuator, begin);
      return;
    }
    // What follows in the same run is the same mistake: a letter of several bytes, a line of signs.
    ++at_;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x80)
      ++at_;
    diagnostics_.report(unknownCharacter, where(begin, at_), quoteCharacters(since(begin)));
    push(TokenKind::Wrong, begin);
  }

  void number() {
    const size_t begin = at_;
    const Number number = takeNumber();
    Token& token = push(number.isReal ? TokenKind::Real : TokenKind::Integer, begin);
    std::string problem;
    if (number.isReal) {
      cfamily::RealLiteral literal = cfamily::realLiteral(number.text);
      token.real = literal.value;
      token.isFloat = literal.isFloat;
      problem = std::move(literal.problem);
    } else {
      cfamily::IntegerLiteral literal = cfamily::integerLiteral(number.text);
      token.integer = literal.value;
      token.isDecimal = literal.isDecimal;
      token.isUnsigned = literal.isUnsigned;
      token.isLong = literal.isLong;
      problem = std::move(literal.problem);
    }
    if (!problem.empty())
      diagnostics_.report(badNumber, token.location, number.text, problem);
  }

  void characterLiteral() {
    size_t begin = at_++;
    int64_t value = 0;
    if (peek() == '\\') {
      ++at_;
      value = escape();
    } else if (peek() != '\'' && peek() != '\n' && at_ < text_.size()) {
      value = cfamily::characterValue(text_[at_++]);
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
    push(TokenKind::Integer, begin).integer = static_cast<uint64_t>(value);
  }

  /// The value of an escape; the backslash has been read.
  int64_t escape() {
    if (std::optional<char> value = cfamily::readEscape(text_, at_))
      return cfamily::characterValue(*value);
    at_ += peek() == 'x';
    diagnostics_.report(badCharacterLiteral, where(at_ - 1, std::min(at_ + 1, text_.size())),
                        "unknown escape sequence");
    at_ = std::min(at_ + 1, text_.size());
    return 0;
  }

  const LineMap& map_;
  DiagnosticEngine& diagnostics_;
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

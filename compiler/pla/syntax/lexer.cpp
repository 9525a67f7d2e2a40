// Splits a program into tokens by C's scanner. See lexer.h.
#include "compiler/pla/syntax/lexer.h"

#include "base/source/characters.h"
#include "base/source/display.h"
#include "compiler/cfamily/syntax/literal.h"
#include "compiler/cfamily/syntax/scanner.h"

#include <array>
#include <utility>

namespace strata::pla {

STRATA_DIAGNOSTIC(unknownCharacter, Error, "pla-character", "no token begins with {0}");
STRATA_DIAGNOSTIC(notText, Error, "pla-no-text", "the file is no text: it has a byte 0x00");
STRATA_DIAGNOSTIC(openComment, Error, "pla-open-comment", "this comment is not closed");
STRATA_DIAGNOSTIC(badNumber, Error, "pla-number", "'{0}' is not a number: {1}");

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> words = {
    {{"and", "&&"}, {"or", "||"}, {"not", "!"}, {"mod", "%"}}};

class PlaLexer : cfamily::Scanner {
public:
  PlaLexer(BufferId file, DiagnosticEngine& diagnostics)
      : Scanner(diagnostics.sources().buffer(file).text()), file_(file), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (const size_t zero = text_.find('\0'); zero != std::string_view::npos) {
      diagnostics_.report(notText, where(zero, zero + 1));
    } else {
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
  Location where(size_t begin, size_t end) const {
    return {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
  }

  Token& push(TokenKind kind, size_t begin) {
    Token& token = tokens_.emplace_back();
    token.kind = kind;
    token.text = token.spelling = since(begin);
    token.location = where(begin, at_);
    return token;
  }

  void next() {
    const size_t begin = at_;
    if (isWordStart(peek()))
      word(begin);
    else if (isDigit(peek()) || (peek() == '.' && isDigit(peek(1))))
      number(begin);
    else if (!takeSign().empty())
      push(TokenKind::Punctuator, begin);
    else
      unknown(begin);
  }

  void word(size_t begin) {
    takeWord();
    Token& token = push(TokenKind::Word, begin);
    for (const auto& [name, sign] : words) {
      if (token.spelling == name) {
        token.kind = TokenKind::Punctuator;
        token.text = sign;
      }
    }
  }

  void number(size_t begin) {
    const Number taken = takeNumber();
    Token& token = push(taken.isReal ? TokenKind::Real : TokenKind::Integer, begin);
    std::string problem;
    if (taken.isReal) {
      const cfamily::RealLiteral literal = cfamily::realLiteral(taken.text);
      token.real = literal.value;
      token.isFloat = literal.isFloat;
      problem = literal.problem;
    } else {
      const cfamily::IntegerLiteral literal = cfamily::integerLiteral(taken.text);
      token.integer = literal.value;
      problem = literal.problem;
      if (problem.empty() && (literal.isUnsigned || literal.isLong))
        problem = "numbers take the type of what stands beside them, without a suffix";
    }
    if (!problem.empty())
      diagnostics_.report(badNumber, token.location, token.spelling, problem);
  }

  void unknown(size_t begin) {
    ++at_;
    // What follows in the same run is the same mistake: a letter of several bytes.
    while (at_ < text_.size() && static_cast<unsigned char>(peek()) >= 128)
      ++at_;
    diagnostics_.report(unknownCharacter, where(begin, at_), quoteCharacters(since(begin)));
  }

  BufferId file_;
  DiagnosticEngine& diagnostics_;
  std::vector<Token> tokens_;
};

} // namespace

std::string describe(const Token& token) {
  return token.kind == TokenKind::End ? "the end of the file" : "'" + std::string(token.spelling.substr(0, 40)) + "'";
}

std::vector<Token> tokenize(BufferId file, DiagnosticEngine& diagnostics) {
  return PlaLexer(file, diagnostics).run();
}

} // namespace strata::pla

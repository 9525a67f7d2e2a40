// What the parsers of all notations share: walking over tokens, reporting what is missing at the place where it is
// missing, and going on behind a mistake so that one mistake is one message. A parser derives from it. Used by one
// thread; the tokens and the diagnostics must outlive it.
//
// A token has `kind` (with an End, which the last token is), `text` and `location`. Beside its type stand
//     bool spells(const Token&, std::string_view)   whether it is this word or sign
//     bool isWord(const Token&)                     whether it is a name, which may be a misspelt word
//     std::string describe(const Token&)            what messages call it
#pragma once

#include "base/source/braces.h"
#include "base/source/nearest_name.h"

#include <set>

namespace strata {

template <typename Token>
class TokenReader {
public:
  /// Thrown after a message has been given; caught where reading can go on.
  struct SyntaxError {};

  /// `syntax` is the kind of "expected {0}, found {1}".
  TokenReader(const std::vector<Token>& tokens, DiagnosticEngine& diagnostics, const DiagnosticKind& syntax)
      : tokens_(tokens), diagnostics_(diagnostics), syntax_(syntax) {
    for (const Diagnostic& each : diagnostics.all())
      if (each.severity == Severity::Error && !each.labels.empty())
        wrongLines_.insert(lineOf(each.labels[0].location));
    errorsBefore_ = diagnostics.errorCount();
  }

  const Token& token(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is(std::string_view text, size_t ahead = 0) const { return spells(token(ahead), text); }
  bool atEnd() const { return token().kind == decltype(Token::kind)::End; }
  size_t position() const { return at_; }

  bool accept(std::string_view text) {
    if (!is(text))
      return false;
    take();
    return true;
  }

  void expect(std::string_view text, std::string_view after) {
    if (accept(text))
      return;
    {
      DiagnosticBuilder report = reportWanted("'" + std::string(text) + "' after " + std::string(after));
      proposeOperator(report);
    }
    // What is missing there is the only thing that is wrong.
    const bool goesOn = text == "(" ? !is(";") && !is("{") && !is("}") : text == ";" && mayFollowMissing(false);
    if (!goesOn)
      throw SyntaxError();
  }

  /// Expects the bracket that closes the one at token `open`.
  void expectClosing(std::string_view text, size_t open, std::string_view after) {
    if (accept(text))
      return;
    {
      DiagnosticBuilder report = reportWanted("'" + std::string(text) + "' after " + std::string(after));
      report.label(tokens_[open].location, "this '" + std::string(tokens_[open].text) + "' is not closed");
      proposeOperator(report);
    }
    if (!mayFollowMissing(true))
      throw SyntaxError();
  }

  [[noreturn]] void fail(std::string_view wanted) {
    reportWanted(wanted);
    throw SyntaxError();
  }

  /// The same where one of a few words is wanted.
  [[noreturn]] void failWord(std::string_view wanted, const std::vector<std::string>& words) {
    const Token& found = token();
    DiagnosticBuilder report = reportWanted(wanted);
    if (isWord(found))
      proposeName(report, found.text, words);
    throw SyntaxError();
  }

  /// From `begin` to the end of the token that was taken last.
  Location from(const Location& begin) const {
    Location whole = begin;
    if (at_ > 0) {
      const Location& last = tokens_[at_ - 1].location;
      if (last.buffer == begin.buffer && last.end > begin.begin)
        whole.end = last.end;
    }
    return whole;
  }

  /// Skips what is left of the statement or declaration that began at token `start`: behind its ';' or '}', or to the
  /// '}' of what surrounds it. A ';' inside of parentheses or brackets does not end it.
  void recover(size_t start) {
    int parentheses = 0, braces = 0;
    const auto opens = [&](size_t i) { return spells(tokens_[i], "(") || spells(tokens_[i], "["); };
    const auto closes = [&](size_t i) { return spells(tokens_[i], ")") || spells(tokens_[i], "]"); };
    for (size_t i = start; i < at_; ++i) {
      parentheses += opens(i) - closes(i);
      if (spells(tokens_[i], "{") || spells(tokens_[i], "}")) {
        braces = std::max(braces + (spells(tokens_[i], "{") ? 1 : -1), 0);
        parentheses = 0;
      }
    }
    for (; !atEnd(); take()) {
      if (is("{")) {
        ++braces;
        parentheses = 0;
      } else if (is("}")) {
        if (braces == 0)
          return;
        if (--braces == 0) {
          take();
          return;
        }
      } else if (is(";") && braces == 0 && parentheses <= 0) {
        take();
        return;
      }
      parentheses += opens(at_) - closes(at_);
    }
  }

protected:
  /// Reports that something else is wanted here; for a missing token the place is the end of the line before. Throws a
  /// SyntaxError instead when an error has been reported here: at the same token, or, where a brace or a character is
  /// missing or too many, in the same line.
  DiagnosticBuilder reportWanted(std::string_view wanted) {
    if (at_ == reportedAt_)
      throw SyntaxError();
    reportedAt_ = at_;
    Location where = token().location;
    std::string found = describe(token());
    if (at_ > item_) {
      const Location end = placeOfMissing(tokens_[at_ - 1].location, where, atEnd(), diagnostics_.sources());
      if (!(end == where) && !atEnd())
        found = "the end of the line";
      where = end;
    }
    if (wrongLines_.contains(lineOf(where)))
      throw SyntaxError();
    return diagnostics_.report(syntax_, where, wanted, found);
  }

  /// Whether an error has been reported in the text up to here, so that a missing token may be a consequence of it.
  bool hasReported() const { return !wrongLines_.empty() || diagnostics_.errorCount() != errorsBefore_; }

  /// Whether the token at hand is likely to stand behind a bracket or a semicolon that is missing before it.
  bool mayFollowMissing(bool isBracket) const {
    if (isBracket && (is(";") || is("{")))
      return true;
    if (is("}") || is(")") || is("]") || at_ == 0)
      return is("}") || isBracket;
    return !onLineOfLast();
  }

  /// Whether the token at hand stands in the line of the one before it.
  bool onLineOfLast(size_t ahead = 0) const {
    const Location& where = token(ahead).location;
    const bool isEnd = token(ahead).kind == decltype(Token::kind)::End;
    return at_ + ahead == 0 ||
           placeOfMissing(tokens_[at_ + ahead - 1].location, where, isEnd, diagnostics_.sources()) == where;
  }

  const std::vector<Token>& tokens_;
  DiagnosticEngine& diagnostics_;
  bool hasOperators_ = true; // C's
  size_t at_ = 0;
  size_t item_ = 0;                // where the statement, declaration or member at hand begins
  size_t reportedAt_ = ~size_t(0); // the token before which something missing was reported last

private:
  void proposeOperator(DiagnosticBuilder& report) const {
    if (const auto& word = token().text; hasOperators_ && isWord(token()) && (word == "and" || word == "or"))
      report.help(std::string("the operator is '") + (word == "and" ? "&&" : "||") + "'");
  }
  std::pair<uint32_t, uint32_t> lineOf(const Location& where) const {
    return {where.buffer.value, diagnostics_.sources().lineColumn(where).line};
  }

  const DiagnosticKind& syntax_;
  unsigned errorsBefore_ = 0;
  std::set<std::pair<uint32_t, uint32_t>> wrongLines_; // those of the characters and braces that are wrong
};

} // namespace strata

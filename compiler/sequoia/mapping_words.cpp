// Cuts a mapping file's brace form into words, and reads what is made of a few of them.
#include "compiler/sequoia/mapping_words.h"

#include <algorithm>
#include <cctype>

namespace strata::sequoia {

MappingWords::MappingWords(BufferId file, DiagnosticEngine& diagnostics)
    : file_(file), diagnostics_(diagnostics), text_(diagnostics.sources().buffer(file).text()),
      at_(text_.starts_with("\xEF\xBB\xBF") ? 3 : 0) {
  next();
}

void MappingWords::next() {
  lastEnd_ = word_.location.end;
  skipSpace();
  size_t begin = at_;
  if (at_ >= text_.size()) {
    word_.kind = Word::Kind::End;
  } else if (isDigit(text_[at_])) {
    word_.kind = Word::Kind::Number;
    while (at_ < text_.size() && isWordCharacter(text_[at_]))
      ++at_;
  } else if (isWordCharacter(text_[at_])) {
    word_.kind = Word::Kind::Name;
    while (at_ < text_.size() && isWordCharacter(text_[at_]))
      ++at_;
  } else if (text_[at_] == '"' && text_.find('"', at_ + 1) != std::string_view::npos) {
    word_.kind = Word::Kind::Text;
    at_ = text_.find('"', at_ + 1) + 1;
  } else {
    word_.kind = Word::Kind::Sign;
    std::string_view two = text_.substr(at_, 2);
    at_ += two == "::" || two == "<=" || two == ">=" ? 2 : 1;
  }
  word_.text = text_.substr(begin, at_ - begin);
  word_.location = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  if (word_.kind == Word::Kind::Text)
    word_.text = word_.text.substr(1, word_.text.size() - 2);
}

void MappingWords::skipSpace() {
  while (at_ < text_.size()) {
    if (std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
    else if (text_.substr(at_, 2) == "//")
      at_ = std::min(text_.find('\n', at_), text_.size());
    else if (text_.substr(at_, 2) == "/*")
      at_ = std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2;
    else
      return;
  }
}

bool MappingWords::accept(std::string_view text) {
  if (word_.kind == Word::Kind::End || !is(text))
    return false;
  next();
  return true;
}

void MappingWords::fail(const std::string& wanted) {
  std::string found = word_.kind == Word::Kind::End ? "the end of the file" : "'" + std::string(word_.text) + "'";
  reportExpected(wanted, found, word_.location, diagnostics_);
  throw SyntaxError();
}

void MappingWords::expect(const char* text) {
  if (!accept(text))
    fail("'" + std::string(text) + "'");
}

void MappingWords::recover() {
  int braces = 0;
  for (; word_.kind != Word::Kind::End; next()) {
    if (is("{")) {
      ++braces;
    } else if (is("}")) {
      if (braces == 0)
        return; // the end of the block around
      if (--braces == 0) {
        next();
        return;
      }
    } else if (is(";") && braces == 0) {
      next();
      return;
    }
  }
}

bool MappingWords::acceptsBlank(const char* what) const {
  return word_.kind == Word::Kind::Sign && isBlank(word_.text, what, word_.location, diagnostics_);
}

MappedName MappingWords::name(const char* what, bool mayHaveLexnum) {
  if (word_.kind != Word::Kind::Name && !acceptsBlank(what))
    fail(what);
  MappedName result;
  result.text = word_.text;
  result.place.location = word_.location;
  next();
  if (mayHaveLexnum && accept("[")) {
    MappedNumber lexnum = number("a number");
    if (lexnum.value > UINT32_MAX)
      lexnum.value = UINT32_MAX;
    result.lexnum = static_cast<uint32_t>(lexnum.value);
    expect("]");
    result.place.location.end = lastEnd_;
  }
  return result;
}

MappedNumber MappingWords::number(const char* what) {
  MappedNumber result;
  result.place.location = word_.location;
  if (word_.kind == Word::Kind::Number)
    result.value = numberIn(word_.text, word_.location, diagnostics_);
  else if (!acceptsBlank(what))
    fail(what);
  next();
  return result;
}

std::vector<int64_t> MappingWords::numbers() {
  std::vector<int64_t> values;
  do
    values.push_back(number("a number").value);
  while (accept(","));
  return values;
}

std::vector<MappedName> MappingWords::nameList() {
  std::vector<MappedName> names;
  expect("(");
  do
    names.push_back(name("the name of an array", true));
  while (accept(","));
  expect(")");
  return names;
}

OptionalNumber MappingWords::levelInParentheses() {
  OptionalNumber level;
  expect("(");
  if (accept("level"))
    level = number("the number of a level");
  expect(")");
  return level;
}

void MappingWords::setNumber(OptionalNumber& target, const char* what, const Location& where) {
  expect("=");
  MappedNumber value = number("a number");
  expect(";");
  if (target)
    reportTwice(what, where, target->place.location, diagnostics_);
  target = value;
}

std::string MappingWords::fileName(const char* what) {
  if (word_.kind != Word::Kind::Text)
    fail(what);
  std::string name = fileNameIn(word_.text, word_.location, diagnostics_);
  next();
  return name;
}

void MappingWords::once(const char* what, const Location& where, Location& before) {
  if (before.valid())
    reportTwice(what, where, before, diagnostics_);
  else
    before = where;
}

} // namespace strata::sequoia

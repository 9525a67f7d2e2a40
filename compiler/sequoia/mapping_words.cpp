// Cuts a mapping file's brace form into words, and reads what is made of a few of them.
#include "compiler/sequoia/mapping_words.h"

#include "base/source/braces.h"

#include <algorithm>
#include <cctype>

namespace strata::sequoia {

namespace {

/// Where the next word begins.
size_t skipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[at])))
      ++at;
    else if (text.substr(at, 2) == "//")
      at = std::min(text.find('\n', at), text.size());
    else if (text.substr(at, 2) == "/*")
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 2;
    else
      break;
  }
  return at;
}

} // namespace

MappingWords::MappingWords(BufferId file, DiagnosticEngine& diagnostics) : file_(file), diagnostics_(diagnostics) {
  const std::string_view text = diagnostics.sources().buffer(file).text();
  size_t at = skipSpace(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  for (; at < text.size(); at = skipSpace(text, at)) {
    const size_t begin = at;
    Word word;
    if (isWordCharacter(text[at])) {
      word.kind = isDigit(text[at]) ? Word::Kind::Number : Word::Kind::Name;
      while (at < text.size() && isWordCharacter(text[at]))
        ++at;
    } else if (text[at] == '"' && text.find('"', at + 1) != std::string_view::npos) {
      word.kind = Word::Kind::Text;
      at = text.find('"', at + 1) + 1;
    } else {
      word.kind = Word::Kind::Sign;
      const std::string_view two = text.substr(at, 2);
      at += two == "::" || two == "<=" || two == ">=" ? 2 : 1;
      while (at < text.size() && static_cast<unsigned char>(text[begin]) >= 0x80 &&
             static_cast<unsigned char>(text[at]) >= 0x80)
        ++at;
    }
    word.text = text.substr(begin, at - begin);
    word.location = {file, static_cast<uint32_t>(begin), static_cast<uint32_t>(at)};
    words_.push_back(word);
  }
  Word end;
  end.location = {file, static_cast<uint32_t>(text.size()), static_cast<uint32_t>(text.size())};
  words_.push_back(end);
  repairBraces(text, words_, diagnostics, [](std::string_view brace, const Location& last) {
    return Word{Word::Kind::Sign, brace, {last.buffer, last.end, last.end}};
  });
  for (Word& word : words_)
    if (word.kind == Word::Kind::Text)
      word.text = word.text.substr(1, word.text.size() - 2);
  word_ = words_[0];
}

void MappingWords::next() {
  lastEnd_ = word_.location.end;
  if (at_ + 1 < words_.size())
    ++at_;
  word_ = words_[at_];
}

bool MappingWords::accept(std::string_view text) {
  if (word_.kind == Word::Kind::End || !is(text))
    return false;
  next();
  return true;
}

DiagnosticBuilder MappingWords::reportWanted(const std::string& wanted) {
  if (at_ == reportedAt_)
    throw SyntaxError();
  reportedAt_ = at_;
  const bool isEnd = word_.kind == Word::Kind::End;
  const std::string found = isEnd ? "the end of the file" : "'" + std::string(word_.text) + "'";
  if (at_ > item_) {
    const Location where = placeOfMissing(words_[at_ - 1].location, word_.location, isEnd, diagnostics_.sources());
    if (!(where == word_.location))
      return reportExpected(wanted, isEnd ? found : "the end of the line", where, diagnostics_);
  }
  return reportExpected(wanted, found, word_.location, diagnostics_);
}

void MappingWords::fail(const std::string& wanted) {
  reportWanted(wanted);
  throw SyntaxError();
}

bool MappingWords::mayFollowMissing() const {
  if (at_ == 0 || is("}") || is("{"))
    return true;
  const bool isEnd = word_.kind == Word::Kind::End;
  return !(placeOfMissing(words_[at_ - 1].location, word_.location, isEnd, diagnostics_.sources()) == word_.location);
}

void MappingWords::expect(const char* text) {
  if (accept(text))
    return;
  reportWanted("'" + std::string(text) + "'");
  // What is missing there is the only thing that is wrong.
  if (std::string_view(text) != ";" || !mayFollowMissing())
    throw SyntaxError();
}

void MappingWords::expectClosing(const char* text, size_t open) {
  if (accept(text))
    return;
  reportWanted("'" + std::string(text) + "'")
      .label(words_[open].location, "this '" + std::string(words_[open].text) + "' is not closed");
  if (!mayFollowMissing())
    throw SyntaxError();
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
  if (mayHaveLexnum && is("[")) {
    const size_t open = at_;
    next();
    MappedNumber lexnum = number("a number");
    if (lexnum.value > UINT32_MAX)
      lexnum.value = UINT32_MAX;
    result.lexnum = static_cast<uint32_t>(lexnum.value);
    expectClosing("]", open);
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
  const size_t open = at_;
  expect("(");
  do
    names.push_back(name("the name of an array", true));
  while (accept(","));
  expectClosing(")", open);
  return names;
}

OptionalNumber MappingWords::levelInParentheses() {
  OptionalNumber level;
  const size_t open = at_;
  expect("(");
  if (accept("level"))
    level = number("the number of a level");
  else if (word_.kind == Word::Kind::Name)
    fail("'level' or ')'");
  expectClosing(")", open);
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

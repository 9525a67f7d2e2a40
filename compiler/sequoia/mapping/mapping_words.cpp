// Cuts a mapping file's brace form into words, and reads what is made of a few of them.
#include "compiler/sequoia/mapping/mapping_words.h"

#include "compiler/cfamily/syntax/scanner.h"

#include <algorithm>

namespace strata::sequoia {

namespace {

/// Cuts a text into words. A comment that is not closed goes to the end.
class Cutter : cfamily::Scanner {
public:
  Cutter(BufferId file, std::string_view text) : Scanner(text, text.starts_with("\xEF\xBB\xBF") ? 3 : 0), file_(file) {}

  std::vector<MapWord> run() {
    std::vector<MapWord> words;
    while (skipSpace() == Next::Token)
      words.push_back(next());
    MapWord end;
    end.location = {file_, static_cast<uint32_t>(text_.size()), static_cast<uint32_t>(text_.size())};
    words.push_back(end);
    return words;
  }

private:
  MapWord next() {
    const size_t begin = at_;
    MapWord word;
    if (isWordCharacter(peek())) {
      word.kind = isDigit(peek()) ? MapWord::Kind::Number : MapWord::Kind::Name;
      takeWord();
    } else if (peek() == '"' && text_.find('"', at_ + 1) != std::string_view::npos) {
      word.kind = MapWord::Kind::Text;
      at_ = text_.find('"', at_ + 1) + 1;
    } else {
      word.kind = MapWord::Kind::Sign;
      const std::string_view two = text_.substr(at_, 2);
      at_ += two == "::" || two == "<=" || two == ">=" ? 2 : 1;
      while (at_ < text_.size() && static_cast<unsigned char>(text_[begin]) >= 0x80 &&
             static_cast<unsigned char>(text_[at_]) >= 0x80)
        ++at_;
    }
    word.text = since(begin);
    word.location = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
    return word;
  }

  BufferId file_;
};

} // namespace

std::vector<MapWord> mapWords(BufferId file, DiagnosticEngine& diagnostics) {
  const std::string_view text = diagnostics.sources().buffer(file).text();
  std::vector<MapWord> words = Cutter(file, text).run();
  repairBraces(text, words, diagnostics, [](std::string_view brace, const Location& last) {
    return MapWord{MapWord::Kind::Sign, brace, {last.buffer, last.end, last.end}};
  });
  for (MapWord& word : words)
    if (word.kind == MapWord::Kind::Text)
      word.text = word.text.substr(1, word.text.size() - 2);
  return words;
}

MappingWords::MappingWords(const std::vector<MapWord>& words, DiagnosticEngine& diagnostics)
    : TokenReader(words, diagnostics, mappingSyntaxKind()) {
  hasOperators_ = false;
}

void MappingWords::failItem(std::string_view wanted) {
  if (is("#")) {
    reportWanted(wanted).help("a comment begins with '//'");
    throw SyntaxError();
  }
  failWord(wanted, quotedIn(wanted));
}

bool MappingWords::acceptsBlank(std::string_view what) const {
  return token().kind == MapWord::Kind::Sign &&
         isBlank(token().text, std::string(what), token().location, diagnostics_);
}

MappedName MappingWords::name(std::string_view what, bool mayHaveLexnum) {
  if (token().kind != MapWord::Kind::Name && !acceptsBlank(what))
    fail(what);
  const MapWord& word = take();
  MappedName result;
  result.text = word.text;
  result.place.location = word.location;
  if (mayHaveLexnum && is("[")) {
    const size_t open = at_;
    take();
    MappedNumber lexnum = number("a number");
    if (lexnum.value > UINT32_MAX)
      lexnum.value = UINT32_MAX;
    result.lexnum = static_cast<uint32_t>(lexnum.value);
    expectClosing("]", open, "the number");
    result.place.location = from(word.location);
  }
  return result;
}

MappedNumber MappingWords::number(std::string_view what) {
  MappedNumber result;
  result.place.location = token().location;
  if (token().kind == MapWord::Kind::Number)
    result.value = numberIn(token().text, token().location, diagnostics_);
  else if (!acceptsBlank(what))
    fail(what);
  take();
  return result;
}

std::vector<int64_t> MappingWords::numbers() {
  std::vector<int64_t> values;
  do
    values.push_back(number("a number").value);
  while (accept(","));
  return values;
}

std::vector<MappedName> MappingWords::nameList(std::string_view after) {
  std::vector<MappedName> names;
  const size_t open = at_;
  expect("(", after);
  do
    names.push_back(name("the name of an array", true));
  while (accept(","));
  expectClosing(")", open, "the names");
  return names;
}

OptionalNumber MappingWords::levelInParentheses(std::string_view after) {
  OptionalNumber level;
  const size_t open = at_;
  expect("(", after);
  if (accept("level"))
    level = number("the number of a level");
  else if (token().kind == MapWord::Kind::Name || token().kind == MapWord::Kind::Number)
    failItem("'level' and its number, or ')'");
  expectClosing(")", open, level ? "the level" : "'('");
  return level;
}

void MappingWords::endOfNumber(std::string_view after) {
  for (const char* sign : {"+", "-", "*", "/", ".", "<", "%"})
    if (is(sign)) {
      reportWanted("';' after " + std::string(after)).help("one whole number stands here; write out what it comes to");
      throw SyntaxError();
    }
  expect(";", after);
}

void MappingWords::setNumber(OptionalNumber& target, const char* what, const Location& where) {
  expect("=", "'" + std::string(what) + "'");
  MappedNumber value = number("a number");
  endOfNumber("the number");
  if (target)
    reportTwice(what, where, target->place.location, diagnostics_);
  target = value;
}

std::string MappingWords::fileName(std::string_view what) {
  if (token().kind != MapWord::Kind::Text)
    fail(what);
  const MapWord& word = take();
  return fileNameIn(word.text, word.location, diagnostics_);
}

void MappingWords::once(const char* what, const Location& where, Location& before) {
  if (before.valid())
    reportTwice(what, where, before, diagnostics_);
  else
    before = where;
}

} // namespace strata::sequoia

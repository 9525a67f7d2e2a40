// What the two forms of mapping files have in common: which form a file is in, and the words of their messages.
#include "compiler/sequoia/mapping_forms.h"

#include <cctype>
#include <charconv>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(mappingSyntax, Error, "sequoia-mapping-syntax", "expected {0}, found {1}");
STRATA_DIAGNOSTIC(mappingTwice, Error, "sequoia-mapping-twice", "'{0}' is given twice");
STRATA_DIAGNOSTIC(mappingNumber, Error, "sequoia-mapping-number", "'{0}' is not a number that fits in 63 bits");
STRATA_DIAGNOSTIC(mappingBlank, Error, "sequoia-mapping-blank", "{0} is still to be filled in");
STRATA_DIAGNOSTIC(mappingFileName, Error, "sequoia-mapping-file-name", "'{0}' cannot be the name of a file");

std::optional<Mapping> readMapping(BufferId file, DiagnosticEngine& diagnostics) {
  std::string_view text = diagnostics.sources().buffer(file).text();
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3);
  size_t begin = text.find_first_not_of(" \t\r\n");
  bool isXml = begin != std::string_view::npos && text[begin] == '<';
  return isXml ? readXml(file, diagnostics) : readBraces(file, diagnostics);
}

std::string writeMapping(const Mapping& mapping, MappingForm form) {
  return form == MappingForm::Xml ? writeXml(mapping) : writeBraces(mapping);
}

/// The words between quotes in a text of a message.
static std::vector<std::string> quotedIn(std::string_view text) {
  std::vector<std::string> words;
  for (size_t begin = text.find('\''); begin != text.npos; begin = text.find('\'', begin)) {
    const size_t end = text.find('\'', begin + 1);
    if (end == text.npos)
      break;
    words.emplace_back(text.substr(begin + 1, end - begin - 1));
    begin = end + 1;
  }
  return words;
}

void reportExpected(const std::string& wanted, const std::string& found, const Location& where,
                    DiagnosticEngine& diagnostics) {
  DiagnosticBuilder report = diagnostics.report(mappingSyntax, where, wanted, found);
  const std::vector<std::string> words = quotedIn(found);
  if (words.size() != 1 || !std::isalpha(static_cast<unsigned char>(words[0].c_str()[0])))
    return;
  if (std::string nearest = nearestName(words[0], quotedIn(wanted)); !nearest.empty())
    report.help("did you mean '" + nearest + "'?");
}

void reportTwice(std::string_view what, const Location& where, const Location& first, DiagnosticEngine& diagnostics) {
  diagnostics.report(mappingTwice, where, what).label(first, "first here");
}

int64_t numberIn(std::string_view word, const Location& where, DiagnosticEngine& diagnostics) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  // The most negative number has no positive counterpart, which the brace form writes behind a sign.
  if (error == std::errc() && end == word.data() + word.size() && value != INT64_MIN)
    return value;
  diagnostics.report(mappingNumber, where, word);
  return 1;
}

bool isBlank(std::string_view word, const std::string& wanted, const Location& where, DiagnosticEngine& diagnostics) {
  if (word != "?")
    return false;
  diagnostics.report(mappingBlank, where, wanted).help("write it in place of the question mark");
  return true;
}

std::string fileNameIn(std::string_view text, const Location& where, DiagnosticEngine& diagnostics) {
  constexpr std::string_view blanks = " \t\r\n";
  size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  std::string_view name = text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
  bool fine = !name.empty();
  for (char c : name)
    fine &= static_cast<unsigned char>(c) >= 32 && c != 127 && c != '"';
  if (isBlank(name, "the name of a file", where, diagnostics))
    return "";
  if (fine)
    return std::string(name);
  diagnostics.report(mappingFileName, where, name).help("write a name in one line, without quotes in it");
  return "";
}

std::string numberedName(const MappedName& name) {
  return name.text + (name.lexnum ? "[" + std::to_string(*name.lexnum) + "]" : "");
}

std::string numberText(const MappedNumber& number) {
  return number.blank ? "?" : std::to_string(number.value);
}

std::string listText(const std::vector<int64_t>& values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::string listText(const std::vector<MappedName>& names) {
  std::string text;
  for (const MappedName& each : names)
    text += (text.empty() ? "" : ", ") + numberedName(each);
  return text;
}

const char* relationText(Relation relation) {
  static constexpr const char* texts[] = {"<", "<=", "=", ">=", ">"};
  return texts[static_cast<size_t>(relation)];
}

const MappedInstance* Mapping::findInstance(std::string_view name, const MappedTask** task) const {
  for (const MappedTask& each : tasks) {
    for (const MappedInstance& instance : each.instances) {
      if (instance.name.text == name) {
        if (task)
          *task = &each;
        return &instance;
      }
    }
  }
  return nullptr;
}

} // namespace strata::sequoia

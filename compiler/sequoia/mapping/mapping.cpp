// What the two forms of mapping files have in common: which form a file is in, and the words of their messages.
#include "compiler/sequoia/mapping/mapping_forms.h"

#include <algorithm>
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
  std::optional<Mapping> mapping = isXml ? readXml(file, diagnostics) : readBraces(file, diagnostics);
  // What is missing from the whole is missing from its first line.
  if (mapping && !mapping->machinePlace.location.valid())
    mapping->machinePlace.location = {file, 0, 0};
  return mapping;
}

std::string writeMapping(const Mapping& mapping, MappingForm form) {
  return form == MappingForm::Xml ? writeXml(mapping) : writeBraces(mapping);
}

const DiagnosticKind& mappingSyntaxKind() {
  return mappingSyntax;
}

std::vector<std::string> quotedIn(std::string_view text) {
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

DiagnosticBuilder reportExpected(const std::string& wanted, const std::string& found, const Location& where,
                                 DiagnosticEngine& diagnostics) {
  const std::vector<std::string> words = quotedIn(found);
  const bool isWord = words.size() == 1 && std::isalpha(static_cast<unsigned char>(words[0].c_str()[0]));
  const std::string nearest = isWord ? nearestName(words[0], quotedIn(wanted)) : "";
  Diagnostic diagnostic;
  diagnostic.kind = &mappingSyntax;
  diagnostic.message = formatMessage(mappingSyntax.format, {wanted, found});
  diagnostic.labels.push_back({where, ""});
  if (!nearest.empty())
    diagnostic.helps.push_back("did you mean '" + nearest + "'?");
  return DiagnosticBuilder(diagnostics, std::move(diagnostic));
}

void reportTwice(std::string_view what, const Location& where, const Location& first, DiagnosticEngine& diagnostics) {
  diagnostics.report(mappingTwice, where, what).label(first, "first here");
}

int64_t numberIn(std::string_view word, const Location& where, DiagnosticEngine& diagnostics) {
  // As C writes integers: decimal, hexadecimal or octal, with the letters of types that mean nothing here.
  std::string_view digits = word;
  const bool negative = digits.starts_with('-');
  digits.remove_prefix(negative || digits.starts_with('+') ? 1 : 0);
  const bool isHexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  const size_t suffix = std::min(digits.find_first_of("uUlL"), digits.size());
  static constexpr std::string_view suffixes[] = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"};
  std::string types(digits.substr(suffix));
  std::transform(types.begin(), types.end(), types.begin(), [](unsigned char c) { return std::tolower(c); });
  digits = digits.substr(0, suffix);
  const int base = isHexadecimal ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  digits.remove_prefix(isHexadecimal ? 2 : 0);
  uint64_t value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  // The most negative number has no positive counterpart, which the brace form writes behind a sign.
  if (error == std::errc() && end == digits.data() + digits.size() && value <= INT64_MAX &&
      std::find(std::begin(suffixes), std::end(suffixes), types) != std::end(suffixes))
    return negative ? -static_cast<int64_t>(value) : static_cast<int64_t>(value);
  DiagnosticBuilder report = diagnostics.report(mappingNumber, where, word);
  const bool hasUnit = word.size() > 1 && std::string_view("KMGkmg").find(word.back()) != std::string_view::npos &&
                       std::all_of(word.begin(), word.end() - 1, [](char c) { return isDigit(c); });
  if (hasUnit)
    report.help("numbers have no units here: write it out, as 16384 for 16K");
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

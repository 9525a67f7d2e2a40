// Parsing of --size, --in and --out.
#include "base/data/options.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace strata {

STRATA_DIAGNOSTIC(noEquals, Error, "data-option", "'{0}' should be {1}");
STRATA_DIAGNOSTIC(badName, Error, "data-option-name", "'{0}' is no name");
STRATA_DIAGNOSTIC(badSize, Error, "data-size", "'{0}' is no size");
STRATA_DIAGNOSTIC(repeated, Error, "data-repeated", "'{0}' is given twice");

namespace {

bool isName(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])))
    return false;
  for (char c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.')
      return false;
  return true;
}

/// The part of a location from byte `begin`, `size` bytes long; the location itself when it is not that of the text.
Location part(const Location& where, std::string_view whole, size_t begin, size_t size) {
  if (!where.valid() || where.end - where.begin != whole.size())
    return where;
  Location result = where;
  result.begin = where.begin + static_cast<uint32_t>(begin);
  result.end = result.begin + static_cast<uint32_t>(size);
  return result;
}

/// Splits NAME=REST at its first equals sign and checks the name. `form` is how the option is written.
bool splitName(std::string_view text, std::string_view form, std::string& name, std::string_view& rest,
               DiagnosticEngine& diagnostics, const Location& where) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    diagnostics.report(noEquals, where, text, form);
    return false;
  }
  name = text.substr(0, equals);
  rest = text.substr(equals + 1);
  if (isName(name))
    return true;
  diagnostics.report(badName, part(where, text, 0, equals), name).help("write " + std::string(form));
  return false;
}

template <typename Option>
bool checkRepeatedNames(const std::vector<Option>& options, DiagnosticEngine& diagnostics) {
  std::map<std::string, Location> seen;
  bool good = true;
  for (const Option& option : options) {
    const auto [at, inserted] = seen.emplace(option.name, option.where);
    if (inserted)
      continue;
    auto report = diagnostics.report(repeated, option.where, option.name);
    if (at->second.valid())
      report.label(at->second, "first given here");
    good = false;
  }
  return good;
}

} // namespace

CommandLine::CommandLine(SourceManager& sources, const std::vector<std::string>& words) : texts_(words) {
  std::string line;
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const std::string& word : words) {
    const bool quote = word.empty() || word.find_first_of(" \t\n'\"\\$`*?;&|<>()#~") != std::string::npos;
    line += line.empty() ? "" : " ";
    line += quote ? "'" : "";
    ranges.emplace_back(line.size(), line.size() + word.size());
    line += word;
    line += quote ? "'" : "";
  }
  const BufferId buffer = sources.add("command line", line, SourceKind::CommandLine);
  for (const auto& [begin, end] : ranges)
    words_.push_back({buffer, static_cast<uint32_t>(begin), static_cast<uint32_t>(end)});
}

CommandLine CommandLine::part(const std::vector<size_t>& places) const {
  CommandLine made;
  for (const size_t place : places) {
    made.texts_.push_back(texts_[place]);
    made.words_.push_back(words_[place]);
  }
  return made;
}

Location CommandLine::value(std::string_view option, std::string_view value, size_t occurrence) const {
  for (size_t i = 0; i < texts_.size(); ++i) {
    const std::string& word = texts_[i];
    Location found;
    if (i > 0 && word == value && texts_[i - 1] == option) {
      found = words_[i];
    } else if (word.size() == option.size() + 1 + value.size() && word.compare(0, option.size(), option) == 0 &&
               word[option.size()] == '=' && word.compare(option.size() + 1, std::string::npos, value) == 0) {
      found = words_[i];
      found.begin += static_cast<uint32_t>(option.size() + 1);
    }
    if (found.valid() && occurrence-- == 0)
      return found;
  }
  return {};
}

Location CommandLine::find(std::string_view word, size_t from) const {
  const auto begin = texts_.begin() + static_cast<ptrdiff_t>(std::min(from, texts_.size()));
  const auto found = std::find(begin, texts_.end(), word);
  return found == texts_.end() ? Location() : words_[static_cast<size_t>(found - texts_.begin())];
}

Location CommandLine::option(std::string_view name) const {
  for (size_t i = 0; i < texts_.size(); ++i)
    if (texts_[i].starts_with(name) && (texts_[i].size() == name.size() || texts_[i][name.size()] == '='))
      return words_[i];
  return {};
}

std::optional<InputOption> parseInputOption(std::string_view text, DiagnosticEngine& diagnostics,
                                            const Location& where) {
  InputOption option;
  option.where = where;
  std::string_view rest;
  if (!splitName(text, "NAME=FILE.npy, or NAME=random, iota, zeros or a number", option.name, rest, diagnostics, where))
    return std::nullopt;
  const auto spec =
      parseInputSpec(rest, option.name, diagnostics, part(where, text, text.size() - rest.size(), rest.size()));
  if (!spec)
    return std::nullopt;
  option.spec = *spec;
  return option;
}

std::optional<OutputOption> parseOutputOption(std::string_view text, DiagnosticEngine& diagnostics,
                                              const Location& where) {
  OutputOption option;
  option.where = where;
  std::string_view rest;
  if (!splitName(text, "NAME=FILE.npy", option.name, rest, diagnostics, where))
    return std::nullopt;
  constexpr std::string_view complex = "complex:";
  option.complexPairs = rest.substr(0, complex.size()) == complex;
  if (option.complexPairs)
    rest.remove_prefix(complex.size());
  if (rest.empty()) {
    diagnostics.report(noEquals, where, text, "NAME=FILE.npy");
    return std::nullopt;
  }
  option.path = rest;
  return option;
}

std::optional<std::vector<SizeOption>> parseSizeOption(std::string_view text, DiagnosticEngine& diagnostics,
                                                       const Location& where) {
  std::vector<SizeOption> sizes;
  size_t begin = 0;
  for (;;) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view item = text.substr(begin, end - begin);
    SizeOption size;
    size.where = part(where, text, begin, item.size());
    std::string_view digits;
    if (!splitName(item, "NAME=NUMBER", size.name, digits, diagnostics, size.where))
      return std::nullopt;
    bool good = !digits.empty();
    for (char c : digits)
      good = good && c >= '0' && c <= '9' && !__builtin_mul_overflow(size.value, 10, &size.value) &&
             !__builtin_add_overflow(size.value, c - '0', &size.value);
    if (!good) {
      diagnostics.report(badSize, part(size.where, item, item.size() - digits.size(), digits.size()), digits)
          .help("a size is a whole number from 0 up, below 2^63");
      return std::nullopt;
    }
    sizes.push_back(std::move(size));
    if (end == text.size())
      return sizes;
    begin = end + 1;
  }
}

bool checkRepeated(const std::vector<InputOption>& options, DiagnosticEngine& diagnostics) {
  return checkRepeatedNames(options, diagnostics);
}
bool checkRepeated(const std::vector<OutputOption>& options, DiagnosticEngine& diagnostics) {
  return checkRepeatedNames(options, diagnostics);
}
bool checkRepeated(const std::vector<SizeOption>& options, DiagnosticEngine& diagnostics) {
  return checkRepeatedNames(options, diagnostics);
}

} // namespace strata

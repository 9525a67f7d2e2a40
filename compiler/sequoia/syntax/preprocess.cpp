// Starts clang -E as a child process, with files in memory as its standard streams. Its messages become our
// diagnostics; its line markers become a LineMap.
#include "compiler/sequoia/syntax/preprocess.h"

#include "base/process/process.h"

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(preprocessorError, Error, "sequoia-preprocessor", "{0}");
STRATA_DIAGNOSTIC(preprocessorWarning, Warning, "sequoia-preprocessor-warning", "{0}");
STRATA_DIAGNOSTIC(foreignHeader, Error, "sequoia-system-header", "nothing of <{0}> is part of Sequoia");
STRATA_DIAGNOSTIC(preprocessorFailed, Error, "sequoia-preprocessor-failed", "the preprocessor '{0}' {1}");

namespace {

constexpr int64_t largestOutput = int64_t{256} << 20;

BufferId fileNamed(std::string_view name, SourceManager& sources, BufferId mainFile) {
  if (name == sources.buffer(mainFile).name())
    return mainFile;
  if (BufferId known = sources.find(name); known.valid())
    return known;
  std::string error;
  return sources.load(std::string(name), SourceKind::Program, error);
}

/// Parses a decimal number at the front of `text` and removes it.
bool takeNumber(std::string_view& text, uint32_t& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc())
    return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

/// The file name of a line marker: quoted, with backslash escapes.
std::string unquote(std::string_view text) {
  std::string name;
  for (size_t i = 1; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      ++i;
    name += text[i];
  }
  return name;
}

/// Reports each line "file:line:column: error: message" of the child's standard error.
bool reportMessages(std::string_view messages, BufferId mainFile, DiagnosticEngine& diagnostics) {
  bool anyError = false;
  while (!messages.empty()) {
    size_t end = messages.find('\n');
    std::string_view line = messages.substr(0, end);
    messages = end == std::string_view::npos ? std::string_view() : messages.substr(end + 1);
    for (std::string_view severity : {": fatal error: ", ": error: ", ": warning: "}) {
      size_t at = line.find(severity);
      if (at == std::string_view::npos)
        continue;
      std::string message(line.substr(at + severity.size()));
      std::string_view place = line.substr(0, at);
      Location where;
      size_t column = place.rfind(':');
      size_t row = column == std::string_view::npos || column == 0 ? column : place.rfind(':', column - 1);
      uint32_t rowNumber = 0, columnNumber = 0;
      if (row != std::string_view::npos) {
        std::string_view rowText = place.substr(row + 1), columnText = place.substr(column + 1);
        BufferId file;
        if (takeNumber(rowText, rowNumber) && takeNumber(columnText, columnNumber))
          file = fileNamed(place.substr(0, row), diagnostics.sources(), mainFile);
        if (file.valid())
          where = diagnostics.sources().at(file, rowNumber, columnNumber);
      }
      bool isError = severity != ": warning: ";
      anyError |= isError;
      diagnostics.report(isError ? preprocessorError : preprocessorWarning, where, message);
      break;
    }
  }
  return anyError;
}

Location wholeLine(const SourceManager& sources, BufferId file, uint32_t line) {
  const SourceBuffer& buffer = sources.buffer(file);
  const uint32_t begin = buffer.lineBegin(line);
  return {file, begin, begin + static_cast<uint32_t>(buffer.line(line).size())};
}

/// What a header of the system is to a program.
enum class SystemHeader {
  BuiltIn, // what the language has of it is there without it
  Types,   // it holds macros and names of types, which are taken
  Foreign  // functions that the language does not have
};

SystemHeader kindOfHeader(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (std::string_view each : {"math.h", "stdlib.h", "tgmath.h", "stdbool.h"})
    if (name == each)
      return SystemHeader::BuiltIn;
  for (std::string_view each : {"stdint.h", "inttypes.h", "limits.h", "float.h", "iso646.h"})
    if (name == each)
      return SystemHeader::Types;
  return SystemHeader::Foreign;
}

/// Whether a line of a header of the system is a typedef of a number, and all of it.
bool namesPlainType(std::string_view line) {
  const size_t end = line.find_last_not_of(" \t\r\n");
  return line.starts_with("typedef ") && end != line.npos && line[end] == ';' &&
         line.find_first_of("*(){}") == line.npos;
}

/// Removes the line markers from the child's output and builds the map. What headers of the system declare is left out,
/// but for types.
Preprocessed stripMarkers(std::string_view output, BufferId mainFile, DiagnosticEngine& diagnostics) {
  SourceManager& sources = diagnostics.sources();
  const unsigned errorsBefore = diagnostics.errorCount();
  bool inSystem = false, kept = true;
  Preprocessed result;
  result.text.reserve(output.size());
  BufferId file = mainFile;
  uint32_t line = 1;
  std::string lastName;
  while (!output.empty()) {
    size_t end = output.find('\n');
    std::string_view text = output.substr(0, end == std::string_view::npos ? output.size() : end + 1);
    output.remove_prefix(text.size());
    if (text.starts_with("# ")) {
      std::string_view rest = text.substr(2);
      uint32_t number = 0;
      if (takeNumber(rest, number) && rest.starts_with(" \"")) {
        std::string name = unquote(rest.substr(1));
        // The flags behind the name: 1 where a file begins, 3 within the system's.
        const std::string_view flags = rest.substr(std::min(rest.rfind('"') + 1, rest.size()));
        const bool isSystem = flags.find(" 3") != std::string_view::npos && !name.starts_with('<');
        if (isSystem && !inSystem) {
          const SystemHeader kind = kindOfHeader(name);
          kept = kind == SystemHeader::Types;
          if (kind == SystemHeader::Foreign)
            diagnostics.report(foreignHeader, wholeLine(sources, file, line), name.substr(name.rfind('/') + 1))
                .help("leave it out; what C computes is called as an external task, void task<ext>");
        } else if (!isSystem) {
          kept = true;
        }
        inSystem = isSystem;
        line = number;
        if (name != lastName) {
          BufferId named = name.starts_with('<') ? BufferId() : fileNamed(name, sources, mainFile);
          file = named.valid() ? named : mainFile;
          lastName = std::move(name);
        }
        continue;
      }
    }
    if ((inSystem ? kept && namesPlainType(text) : !text.starts_with("#pragma"))) {
      result.map.addLine(static_cast<uint32_t>(result.text.size()), file, line);
      result.text += text;
    }
    ++line;
  }
  result.ok = diagnostics.errorCount() == errorsBefore;
  return result;
}

} // namespace

bool needsPreprocessor(std::string_view text) {
  bool lineBegins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '#' && lineBegins)
      return true;
    if (c == '\\' && i + 1 < text.size() && (text[i + 1] == '\n' || text[i + 1] == '\r'))
      return true;
    if (c == '?' && text.substr(i, 2) == "??")
      return true;
    if (c == '_' && (i == 0 || (!std::isalnum(static_cast<unsigned char>(text[i - 1])) && text[i - 1] != '_')))
      return true;
    if (c == '\n')
      lineBegins = true;
    else if (c != ' ' && c != '\t' && c != '\r')
      lineBegins = c == '/' && lineBegins; // a comment may stand before a directive
    if (lineBegins && c == '/' && text.substr(i, 2) == "/*")
      return true;
  }
  return false;
}

Preprocessed preprocess(BufferId file, DiagnosticEngine& diagnostics, const PreprocessOptions& options) {
  SourceManager& sources = diagnostics.sources();
  const SourceBuffer& buffer = sources.buffer(file);
  Preprocessed result;
  if (options.definitions.empty() && !needsPreprocessor(buffer.text())) {
    result.text = buffer.text();
    result.map = LineMap::identity(file);
    result.ok = true;
    return result;
  }

  auto fail = [&](const std::string& reason) {
    diagnostics.report(preprocessorFailed, {file, 0, 0}, options.command, reason);
    return Preprocessed();
  };
  MemoryFile input("sequoia-source"), output("sequoia-preprocessed");
  if (!input || !output)
    return fail(std::string("got no memory: ") + strerror(errno));
  // The marker makes the child speak of the file by the user's name for it.
  std::string marked = "# 1 \"";
  for (char c : buffer.name()) {
    if (c == '"' || c == '\\')
      marked += '\\';
    marked += c;
  }
  marked += "\"\n";
  if (!input.write(marked + std::string(buffer.text())))
    return fail(std::string("got no memory: ") + strerror(errno));

  size_t slash = buffer.name().rfind('/');
  std::string folder = slash == std::string::npos ? "." : buffer.name().substr(0, slash + 1);
  std::vector<std::string> words = {
      options.command,          "-E",      "-x",  "c", "-std=c99", "-D__SEQUOIA__=1", "-fno-caret-diagnostics",
      "-fno-color-diagnostics", "-iquote", folder};
  // What marks a header as included already: those that are built in are never read.
  for (const char* guard : {"_MATH_H", "_STDLIB_H", "_TGMATH_H", "__CLANG_TGMATH_H", "__STDBOOL_H"})
    words.push_back(std::string("-D") + guard);
  for (const std::string& directory : options.includeDirectories)
    words.push_back("-I" + directory);
  for (const std::string& definition : options.definitions)
    words.push_back("-D" + definition);
  words.push_back("-");
  const ProcessResult ended =
      runProcess(words, {input.descriptor(), output.descriptor(), options.timeoutSeconds, largestOutput});
  if (!ended.problem.empty())
    return fail(ended.problem);
  const bool reported = reportMessages(ended.errors, file, diagnostics);
  if (ended.status != 0)
    return reported ? Preprocessed() : fail("failed without saying why");
  std::string text = output.read();
  if (text.size() >= UINT32_MAX)
    return fail("wrote more than 4 GiB");
  return stripMarkers(text, file, diagnostics);
}

} // namespace strata::sequoia

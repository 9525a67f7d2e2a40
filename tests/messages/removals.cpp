// Takes one token, or one letter of a name, out of a program, a mapping or a machine, and looks at what is said about
// it: one removal is one mistake and should be one message, whose place is the line of the removal.
//
//     removals [--every N] [--least NOTATION PLACED SINGLE]… [--show] FILE…
//
// Files are .sq, .hbir, .mlir, .map, .xml (mappings of the .sq or .hbir file beside them) and .yaml. Every case runs in
// this process; --every N takes each N-th removal only. Removals after which nothing is wrong do not count. Prints the
// rates for each notation, and ends with status 1 when one of them is below what is asked for: PLACED % of the first
// messages at the place of the removal, and SINGLE % of the removals with one message.
#include "base/machine/machine.h"
#include "base/source/characters.h"
#include "compiler/hbir/check/frontend.h"
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/frontend.h"
#include "compiler/sequoia/mapping/mapping.h"
#include "compiler/sequoia/resolve/resolve.h"
#include "compiler/sequoia/syntax/lexer.h"
#include "compiler/sequoia/syntax/parser.h"
#include "tests/messages/read_dialect.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

using namespace strata;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Puts the values of macros without arguments in place, since the preprocessor is a program of its own and would be
/// started for every case.
std::string withoutMacros(std::string text) {
  for (size_t line; (line = text.find("#define ")) != std::string::npos;) {
    const size_t end = std::min(text.find('\n', line), text.size());
    std::stringstream words(text.substr(line + 8, end - line - 8));
    std::string name, value;
    words >> name;
    std::getline(words >> std::ws, value);
    text.erase(line, end - line);
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

struct Case {
  std::string path, text;
  std::string notation; // the file's ending; "hbir.map" for a mapping of HBIR
  std::string program;  // of a mapping
};

/// What is taken out: bytes [begin, end), of which the word is the whole.
struct Removal {
  size_t begin, end;
  std::string_view word;
};

std::vector<Removal> removalsOf(std::string_view text, bool isYaml) {
  std::vector<Removal> result;
  for (size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    size_t skipped = 0;
    if (rest.starts_with("//") || (isYaml && rest[0] == '#') || (rest[0] == '#' && !rest.starts_with("#include")))
      skipped = rest.find('\n');
    else if (rest.starts_with("/*"))
      skipped = rest.find("*/") + 2;
    else if (rest.starts_with("<!--"))
      skipped = rest.find("-->") + 3;
    else if (rest.starts_with("<?"))
      skipped = rest.find("?>") + 2;
    else if (rest[0] == '"')
      skipped = rest.find('"', 1) + 1;
    if (skipped != 0) {
      at = skipped > text.size() ? text.size() : at + skipped;
      continue;
    }
    size_t end = at + 1;
    while (isWordCharacter(text[at]) && end < text.size() && isWordCharacter(text[end]))
      ++end;
    if (static_cast<unsigned char>(text[at]) > ' ') {
      result.push_back({at, end, text.substr(at, end - at)});
      if (isWordStart(text[at]) && end - at > 2)
        result.push_back({at + (end - at) / 2, at + (end - at) / 2 + 1, text.substr(at, end - at)});
    }
    at = end;
  }
  return result;
}

class Trial {
public:
  Trial(const Case& from, const Machine& machine) : from_(from), machine_(machine), diagnostics_(sources_) {}

  /// Reads the changed text with what belongs to it.
  void run(const std::string& changed) {
    const bool isMapping = from_.notation == "map" || from_.notation == "xml" || from_.notation == "hbir.map";
    if (from_.notation == "yaml") {
      file_ = sources_.add("changed.yaml", changed, SourceKind::Machine);
      readMachine(diagnostics_, file_);
      return;
    }
    if (from_.notation == "mlir") {
      file_ = sources_.add("changed.mlir", changed, SourceKind::Program);
      readDialect(file_, diagnostics_);
      return;
    }
    if (isMapping)
      file_ = sources_.add("changed." + from_.notation, changed, SourceKind::Mapping);
    const BufferId program = sources_.add(from_.notation.starts_with("hbir") ? "program.hbir" : "program.sq",
                                          isMapping ? from_.program : changed, SourceKind::Program);
    if (!isMapping)
      file_ = program;
    if (from_.notation.starts_with("hbir")) {
      std::optional<hbir::Mapping> mapping;
      if (isMapping && !(mapping = hbir::readMapping(file_, diagnostics_)))
        return;
      hbir::readProgram(program, diagnostics_, {}, mapping ? &*mapping : nullptr);
      return;
    }
    sequoia::Program parsed;
    parsed.file = program;
    const std::vector<sequoia::Token> tokens =
        sequoia::tokenize(sources_.buffer(program).text(), sequoia::LineMap::identity(program), diagnostics_);
    sequoia::parse(tokens, parsed, diagnostics_);
    if (!diagnostics_.hasErrors())
      sequoia::check(parsed, diagnostics_);
    if (diagnostics_.hasErrors() || !isMapping)
      return;
    std::optional<sequoia::Mapping> mapping = sequoia::readMapping(file_, diagnostics_);
    if (mapping && !diagnostics_.hasErrors())
      sequoia::resolve(parsed, *mapping, machine_, "", diagnostics_);
  }

  unsigned errors() const { return diagnostics_.errorCount(); }

  /// Whether the message that is shown first points at one of the lines of the removal. A letter that is missing where
  /// a name is declared is noticed where the name is used: then the wrong name has to be proposed.
  bool isPlaced(std::string_view text, const Removal& removal) const {
    const Diagnostic* first = nullptr;
    for (const Diagnostic& each : diagnostics_.all())
      if (each.severity == Severity::Error &&
          (!first || each.labels.empty() ||
           (!first->labels.empty() && each.labels[0].location.begin < first->labels[0].location.begin)))
        first = &each;
    if (!first || first->labels.empty())
      return false;
    const size_t last = removal.begin ? text.find_last_not_of(" \t\r\n", removal.begin - 1) : 0;
    const uint32_t low = sources_.lineColumn({file_, static_cast<uint32_t>(last), 0}).line;
    const uint32_t high = sources_.lineColumn({file_, static_cast<uint32_t>(removal.begin), 0}).line;
    for (const Label& label : first->labels) {
      const uint32_t line = sources_.lineColumn(label.location).line;
      if (label.location.buffer == file_ && (line == low || line == high))
        return true;
      if (!isLetter(removal))
        break; // only the place itself
    }
    const std::string wrong = isLetter(removal) ? without(removal) : "";
    for (const std::string& help : first->helps)
      for (const char* mark : {"", "%", "!", "@", "#"}) // MLIR's names
        if (!wrong.empty() && help.find("'" + (mark + wrong) + "'") != std::string::npos)
          return true;
    return false;
  }

  std::string rendered() const { return diagnostics_.render({}); }
  static bool isLetter(const Removal& removal) { return removal.end - removal.begin < removal.word.size(); }

private:
  static std::string without(const Removal& removal) {
    std::string word(removal.word);
    word.erase(word.size() / 2, 1);
    return word;
  }

  const Case& from_;
  const Machine& machine_;
  SourceManager sources_;
  DiagnosticEngine diagnostics_;
  BufferId file_;
};

struct Rates {
  size_t removals = 0, wrong = 0, placed = 0, single = 0, messages = 0;
};

} // namespace

int main(int count, char** words) {
  size_t every = 1;
  std::map<std::string, std::pair<double, double>> least; // by notation: placed, single
  bool show = false;
  std::vector<Case> cases;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--show")
      show = true;
    else if (i + 1 < count && word == "--every")
      every = std::max<size_t>(std::strtoull(words[++i], nullptr, 10), 1);
    else if (i + 3 < count && word == "--least") {
      least[words[i + 1]] = {std::strtod(words[i + 2], nullptr), std::strtod(words[i + 3], nullptr)};
      i += 3;
    } else
      cases.push_back(
          {word, withoutMacros(read(word)), std::filesystem::path(word).extension().string().substr(1), ""});
  }
  std::map<std::string, Machine> machines;
  {
    SourceManager sources;
    DiagnosticEngine diagnostics(sources);
    for (const std::string& name : machineNames({STRATA_SOURCE_DIR "/machines"}))
      if (auto machine = loadMachine(name, {STRATA_SOURCE_DIR "/machines"}, diagnostics))
        machines.emplace(name, std::move(*machine));
  }
  for (Case& each : cases) {
    if (each.notation != "map" && each.notation != "xml")
      continue;
    for (const auto& beside : std::filesystem::directory_iterator(std::filesystem::absolute(each.path).parent_path()))
      if (const std::string ending = beside.path().extension().string(); ending == ".sq" || ending == ".hbir") {
        each.program = withoutMacros(read(beside.path().string()));
        if (ending == ".hbir")
          each.notation = "hbir.map";
      }
  }

  std::map<std::string, Rates> rates;
  size_t number = 0;
  for (const Case& each : cases) {
    // A mapping's name is that of its machine, or begins with it.
    const std::string stem = std::filesystem::path(each.path).stem().string();
    auto named = machines.find(stem);
    for (auto other = machines.begin(); named == machines.end() && other != machines.end(); ++other)
      if (stem.starts_with(other->first + "-"))
        named = other;
    if (machines.empty())
      return 2;
    const Machine& machine = named != machines.end() ? named->second : machines.begin()->second;
    {
      Trial whole(each, machine);
      whole.run(each.text);
      if (whole.errors() != 0) {
        std::printf("%s is not right as it is:\n%s", each.path.c_str(), whole.rendered().c_str());
        return 2;
      }
    }
    for (const Removal& removal : removalsOf(each.text, each.notation == "yaml")) {
      if (number++ % every != 0)
        continue;
      Rates& rate = rates[each.notation + (Trial::isLetter(removal) ? " letters" : " tokens")];
      ++rate.removals;
      std::string changed = each.text;
      changed.erase(removal.begin, removal.end - removal.begin);
      Trial trial(each, machine);
      trial.run(changed);
      if (trial.errors() == 0)
        continue;
      const bool placed = trial.isPlaced(each.text, removal);
      ++rate.wrong;
      rate.placed += placed;
      rate.single += trial.errors() == 1;
      rate.messages += trial.errors();
      if (show && (!placed || trial.errors() != 1))
        std::printf("==== %s: without '%.*s' at line %zu%s: %s, %u messages\n%s", each.path.c_str(),
                    static_cast<int>(removal.end - removal.begin), each.text.data() + removal.begin,
                    static_cast<size_t>(std::count(each.text.begin(),
                                                   each.text.begin() + static_cast<ptrdiff_t>(removal.begin), '\n')) +
                        1,
                    Trial::isLetter(removal) ? (" in " + std::string(removal.word)).c_str() : "",
                    placed ? "placed" : "elsewhere", trial.errors(), trial.rendered().c_str());
    }
  }
  bool fine = !rates.empty();
  for (const auto& [notation, rate] : rates) {
    const double wrong = static_cast<double>(std::max<size_t>(rate.wrong, 1));
    const double placed = 100 * static_cast<double>(rate.placed) / wrong,
                 single = 100 * static_cast<double>(rate.single) / wrong;
    std::printf("%-16s %6zu removals, %6zu errors: %5.1f %% at the place, %5.1f %% one message, %.2f messages each\n",
                notation.c_str(), rate.removals, rate.wrong, placed, single,
                static_cast<double>(rate.messages) / wrong);
    const auto bounds = least.find(notation.substr(0, notation.find(' ')));
    const bool enough =
        bounds == least.end() ? least.empty() : placed >= bounds->second.first && single >= bounds->second.second;
    if (!enough)
      std::printf("%s: too few at the place, or with one message\n", notation.c_str());
    fine &= enough;
  }
  return fine ? 0 : 1;
}

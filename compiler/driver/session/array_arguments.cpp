// Each value is taken apart at its commas; a part that is not understood is shown alone.
#include "compiler/driver/session/array_arguments.h"

#include "base/machine/quantity.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

namespace strata::driver {

STRATA_DIAGNOSTIC(badArrayOption, Error, "array-option", "{0} takes {1}, and not '{2}'");
STRATA_DIAGNOSTIC(repeatedLoop, Error, "array-option-twice", "loop '{0}' is given twice by {1}");

namespace {

using llvm::StringRef;

class OptionReader {
public:
  explicit OptionReader(Session& session) : session_(session), options_(session.options) {}

  bool run() {
    distribution();
    for (StringRef loop : parts(options_.order, "--order"))
      read_.order.push_back(loop.str());
    for (const std::string& text : options_.skews)
      skew(text);
    for (const std::string& text : options_.leastTiles)
      tiles("--least-tile", text, read_.leastTiles);
    for (const std::string& text : options_.tiles)
      tiles("--tile", text, read_.tile);
    region();
    corner();
    options_.compile.array = std::move(read_);
    return !session_.diagnostics.hasErrors();
  }

private:
  void refuse(const char* option, const char* takes, const std::string& text, StringRef part) {
    Location where = session_.commandLine->value(option, text);
    session_.diagnostics.report(badArrayOption, where, option, takes, part.str());
  }

  /// Remembers where the first of these options stands.
  void note(const char* option, const std::string& text) {
    if (!options_.compile.arrayPlace.valid())
      options_.compile.arrayPlace = session_.commandLine->value(option, text);
  }

  std::vector<StringRef> parts(const std::string& text, const char* option) {
    std::vector<StringRef> found;
    if (text.empty())
      return found;
    note(option, text);
    for (StringRef part : llvm::split(text, ","))
      if (part.trim().empty())
        refuse(option, "names of loops with commas between", text, text);
      else
        found.push_back(part.trim());
    return found;
  }

  void distribution() {
    const std::vector<StringRef> loops = parts(options_.distribute, "--distribute");
    if (loops.size() > 2)
      return refuse("--distribute", "a loop for the rows and one for the columns, such as i,j or -,j",
                    options_.distribute, options_.distribute);
    const auto name = [](StringRef loop) { return loop == "-" ? std::string() : loop.str(); };
    // One name alone is that of the loop along a row.
    if (!loops.empty()) {
      read_.rowLoop = loops.size() == 2 ? name(loops.front()) : "";
      read_.columnLoop = name(loops.back());
    }
  }

  void tiles(const char* option, const std::string& text, std::map<std::string, int64_t>& into) {
    for (StringRef part : parts(text, option)) {
      const auto [loop, number] = part.split('=');
      int64_t value = 0;
      if (loop.trim().empty() || number.trim().getAsInteger(10, value) || value < 1)
        refuse(option, "numbers of iterations by loop, such as i=8,j=4", text, part);
      else if (!into.emplace(loop.trim().str(), value).second)
        session_.diagnostics.report(repeatedLoop, session_.commandLine->value(option, text), loop.trim().str(), option)
            .help("give it once");
    }
  }

  /// j=i, j=2*i, j=-1*i
  void skew(const std::string& text) {
    note("--skew", text);
    const auto [loop, sum] = StringRef(text).split('=');
    target::ArrayOptions::Skew made{loop.trim().str(), sum.trim().str(), 1};
    bool isGood = !made.loop.empty() && !made.by.empty();
    if (sum.contains('*')) {
      const auto [factor, by] = sum.split('*');
      made.by = by.trim().str();
      isGood &= !made.by.empty() && !factor.trim().getAsInteger(10, made.factor) && made.factor != 0;
    }
    if (isGood)
      read_.skews.push_back(std::move(made));
    else
      refuse("--skew", "a loop and by which other one it is skewed, such as j=i or j=2*i", text, text);
  }

  /// 4x2, or 4x2@2,0 with the row and the column of its first element.
  void region() {
    const std::string& text = options_.region;
    if (text.empty())
      return;
    note("--region", text);
    const auto [size, place] = StringRef(text).split('@');
    const auto [rows, columns] = size.split('x');
    const auto [row, column] = place.split(',');
    std::pair<uint32_t, uint32_t> made, at;
    if (rows.getAsInteger(10, made.first) || columns.getAsInteger(10, made.second) || made.first == 0 ||
        made.second == 0)
      refuse("--region", "rows and columns of elements, such as 4x2", text, text);
    else if (size.size() != text.size() && (row.getAsInteger(10, at.first) || column.getAsInteger(10, at.second)))
      refuse("--region", "behind @ the row and the column of a region's first element, such as 4x2@2,0", text, text);
    else
      read_.region = made;
    if (size.size() != text.size())
      read_.place = at;
  }

  void corner() {
    const std::string& text = options_.corner;
    if (text.empty())
      return;
    note("--corner", text);
    const std::vector<std::string>& names = machine::cornerNames();
    const auto found = llvm::find(names, text);
    if (found == names.end())
      refuse("--corner", llvm::join(names, ", ").c_str(), text, text);
    else
      read_.corner = static_cast<machine::Corner>(found - names.begin());
  }

  Session& session_;
  Options& options_;
  target::ArrayOptions read_;
};

} // namespace

bool readArrayArguments(Session& session) {
  return OptionReader(session).run();
}

} // namespace strata::driver

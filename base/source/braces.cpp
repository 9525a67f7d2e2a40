// The search for missing braces; see braces.h. A block's lines are indented deeper than the line on which the statement
// of its '{' begins, and its '}' as deep as that line: the first line that is not so shows where a brace is missing.
#include "base/source/braces.h"

#include <algorithm>

namespace strata {

STRATA_DIAGNOSTIC(missingClosing, Error, "source-missing-closing-brace", "a '}' is missing after this line");
STRATA_DIAGNOSTIC(missingOpening, Error, "source-missing-opening-brace", "a '{' is missing in this line");
STRATA_DIAGNOSTIC(strayClosing, Error, "source-stray-brace", "this '}' closes no '{'");

namespace {

/// How a token stands in its line.
struct Placed {
  size_t line = 0;
  size_t indent = 0; // of its line
  bool first = false;
};

std::vector<Placed> place(std::string_view text, const std::vector<std::string_view>& tokens) {
  constexpr size_t tab = 8;
  std::vector<Placed> result;
  size_t at = 0, line = 0, indent = 0;
  bool blank = true;
  for (std::string_view token : tokens) {
    const size_t begin = static_cast<size_t>(token.data() - text.data());
    for (; at < begin; ++at) {
      if (text[at] == '\n') {
        ++line;
        indent = 0;
        blank = true;
      } else if (blank) {
        indent = text[at] == '\t' ? (indent / tab + 1) * tab : indent + 1;
      }
    }
    result.push_back({line, indent, blank});
    blank = false;
  }
  return result;
}

class Search {
public:
  Search(std::string_view text, const std::vector<std::string_view>& tokens)
      : tokens_(tokens), placed_(place(text, tokens)) {}

  std::vector<BraceRepair> run() {
    ptrdiff_t open = 0;
    for (std::string_view token : tokens_)
      open += (token == "{") - (token == "}");
    // So many are no slip, and say nothing about where a block should end.
    constexpr ptrdiff_t most = 16;
    if (open > most || open < -most)
      return {};
    if (open > 0)
      findClosing(static_cast<size_t>(open));
    else if (open < 0)
      findOpening(static_cast<size_t>(-open));
    return std::move(repairs_);
  }

private:
  /// A '{' that is not closed yet.
  struct Open {
    size_t token;
    size_t statement; // where its statement begins
    size_t indent;    // of the line of that
    bool indented;    // whether what follows it is indented
    bool isList;      // of values or enumerators, which hold no ';'
  };

  void push(size_t i, size_t statement) {
    const size_t indent = placed_[statement].indent;
    const bool indented = i + 1 >= tokens_.size() || !placed_[i + 1].first || placed_[i + 1].indent > indent ||
                          isLabel(i + 1) || tokens_[i + 1] == "}";
    const auto before = [&](size_t count) { return i >= count ? tokens_[i - count] : std::string_view(); };
    open_.push_back({i, statement, indent, indented, before(1) == "=" || before(1) == "enum" || before(2) == "enum"});
  }

  /// Follows the statements, so that a '{' knows the line on which its own begins.
  void step(size_t i) {
    std::string_view token = tokens_[i];
    parentheses_ += (token == "(" || token == "[") - (token == ")" || token == "]");
    if (token == "{" || token == "}")
      parentheses_ = 0;
    if (token == ";" && parentheses_ <= 0 && statement_ < i)
      last_ = statement_;
    if (token == "{" || token == "}" || (token == ";" && parentheses_ <= 0))
      statement_ = i + 1;
  }

  /// Whether a block that begins within a line can end with that line, which the one of token `next` follows.
  bool endsInLine(size_t open, size_t next) const {
    return !placed_[open + 1].first && placed_[open].line == placed_[next - 1].line && tokens_[next - 1] != ",";
  }
  bool isIf(size_t i) const { return tokens_[i] == "if" || tokens_[i] == "else"; }
  bool isLabel(size_t i) const { return tokens_[i] == "case" || tokens_[i] == "default"; }

  void findClosing(size_t missing) {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      std::string_view token = tokens_[i];
      while (missing > 0 && !open_.empty() && placed_[i].first && open_.back().indented && token != "{" &&
             !isLabel(i) &&
             (token == "}" ? placed_[i].indent < open_.back().indent : placed_[i].indent <= open_.back().indent) &&
             placed_[open_.back().token].line != placed_[i].line &&
             (token == "}" || statement_ == i || endsInLine(open_.back().token, i))) {
        repairs_.push_back({'}', i, open_.back().token});
        open_.pop_back();
        --missing;
      }
      // An 'else' behind a statement that is no 'if' belongs to the block around.
      if (missing > 0 && token == "else" && !open_.empty() && last_ < i && !isIf(last_) &&
          isIf(open_.back().statement)) {
        repairs_.push_back({'}', i, open_.back().token});
        open_.pop_back();
        --missing;
      }
      if (missing > 0 && token == ";" && !open_.empty() && open_.back().isList) {
        repairs_.push_back({'}', i, open_.back().token});
        open_.pop_back();
        --missing;
      }
      if (token == "{")
        push(i, std::min(statement_, i));
      else if (token == "}" && !open_.empty()) {
        last_ = open_.back().statement;
        open_.pop_back();
      }
      step(i);
    }
    for (; missing > 0 && !open_.empty(); --missing, open_.pop_back())
      repairs_.push_back({'}', tokens_.size(), open_.back().token});
  }

  void findOpening(size_t missing) {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      std::string_view token = tokens_[i];
      if (token == "{") {
        push(i, std::min(statement_, i));
      } else if (token == "}") {
        // A '}' that begins its line stands below the statement of its '{'; one inside of a line has it there too.
        const bool fits =
            !open_.empty() &&
            (placed_[i].first
                 ? placed_[i].indent <= open_.back().indent || placed_[i].indent == placed_[open_.back().token].indent
                 : placed_[open_.back().token].line == placed_[i].line || !followsStatement(i));
        if (fits || missing == 0) {
          if (!open_.empty())
            open_.pop_back();
        } else {
          --missing;
          repairs_.push_back({'{', placeOfOpening(i), i});
        }
      }
      step(i);
    }
  }

  /// Whether the line of a '}' has something other than closing braces before it.
  bool followsStatement(size_t i) const {
    for (size_t j = i; j > 0 && placed_[j - 1].line == placed_[i].line; --j)
      if (tokens_[j - 1] != "}" && tokens_[j - 1] != ";")
        return true;
    return false;
  }

  /// Whether a line that begins with this token can be the one before a '{': all but a '}' alone.
  bool mayBeginHeader(size_t i) const {
    return (tokens_[i] != "}" && !isLabel(i)) || (i + 1 < tokens_.size() && tokens_[i + 1] == "else");
  }

  /// The token that the '{' of a '}' should stand before.
  size_t placeOfOpening(size_t closing) const {
    const size_t low = open_.empty() ? 0 : open_.back().token + 1;
    if (!placed_[closing].first) {
      // Within a line: behind the parentheses of the statement, or before what stands there alone.
      size_t i = closing;
      while (i > low && placed_[i - 1].line == placed_[closing].line)
        --i;
      for (int depth = 0; i < closing; ++i) {
        depth += (tokens_[i] == "(") - (tokens_[i] == ")");
        if (depth == 0 && tokens_[i] == ")")
          return i + 1;
      }
      return closing;
    }
    size_t header = closing;
    while (header > low) {
      --header;
      if (placed_[header].first && placed_[header].indent <= placed_[closing].indent && mayBeginHeader(header))
        break;
    }
    if (header == closing || !placed_[header].first || !mayBeginHeader(header))
      return BraceRepair::Nowhere;
    size_t i = header;
    for (int depth = 0; i < closing; ++i) {
      if (i > header && depth <= 0 && placed_[i].first && (placed_[i].indent > placed_[closing].indent || isLabel(i)))
        break;
      depth += (tokens_[i] == "(") - (tokens_[i] == ")");
    }
    // A block does not begin behind the end of a statement.
    const bool ends = i == 0 || tokens_[i - 1] == ";" || tokens_[i - 1] == "}" || tokens_[i - 1] == "{";
    return ends ? BraceRepair::Nowhere : i;
  }

  const std::vector<std::string_view>& tokens_;
  const std::vector<Placed> placed_;
  std::vector<Open> open_;
  size_t statement_ = 0;     // where the statement at hand begins
  size_t last_ = ~size_t(0); // where the statement before it began
  int parentheses_ = 0;
  std::vector<BraceRepair> repairs_;
};

} // namespace

std::vector<BraceRepair> findMissingBraces(std::string_view text, const std::vector<std::string_view>& tokens) {
  return Search(text, tokens).run();
}

void reportMissingBraces(const std::vector<BraceRepair>& repairs, const std::vector<Location>& places,
                         DiagnosticEngine& diagnostics) {
  for (const BraceRepair& each : repairs) {
    const Location& partner = places[each.partner];
    if (each.before == BraceRepair::Nowhere) {
      diagnostics.report(strayClosing, partner);
      continue;
    }
    const Location& last = places[each.before ? each.before - 1 : 0];
    const Location end{last.buffer, last.end, last.end};
    if (each.brace == '}')
      diagnostics.report(missingClosing, end).label("expected '}'").label(partner, "this '{' is not closed");
    else
      diagnostics.report(missingOpening, end).label("expected '{'").label(partner, "this '}' closes nothing else");
  }
}

Location placeOfMissing(const Location& last, const Location& next, bool nextIsEnd, const SourceManager& sources) {
  if (!last.valid() || last.buffer != next.buffer)
    return last.valid() ? Location{last.buffer, last.end, last.end} : next;
  const Location end{last.buffer, last.end, last.end};
  return nextIsEnd || sources.lineColumn(end).line != sources.lineColumn(next).line ? end : next;
}

} // namespace strata

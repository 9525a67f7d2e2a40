// Diagnostics as people and programs read them: text with excerpts of every file concerned, or one JSON object a line.
// Takes what the engine collected and changes nothing.
#include "base/source/diagnostic.h"
#include "base/source/display.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strata {

namespace {

const char* severityName(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Remark:
    return "remark";
  }
  return "";
}

const char* kindName(SourceKind kind) {
  switch (kind) {
  case SourceKind::Program:
    return "program";
  case SourceKind::Machine:
    return "machine";
  case SourceKind::Mapping:
    return "mapping";
  case SourceKind::Data:
    return "data";
  case SourceKind::CommandLine:
    return "command line";
  }
  return "";
}

/// The part of a label that lies on one line: bytes [begin, end) of that line, and the words to put there.
struct Mark {
  uint32_t line = 0;
  size_t begin = 0, end = 0;
  std::string text;
  bool primary = false;
};

/// Writes one diagnostic as text.
class TextRenderer {
public:
  TextRenderer(const SourceManager& sources, bool color) : sources_(sources), color_(color) {}

  std::string render(const Diagnostic& diagnostic) {
    severity_ = diagnostic.severity;
    paint(severityColor(), std::string(severityName(severity_)) + "[" + diagnostic.kind->code + "]");
    paint("1", ": " + displayText(diagnostic.message));
    out_ += '\n';
    const std::vector<BufferId> files = filesOf(diagnostic);
    gutter_ = gutterWidth(diagnostic);
    for (size_t i = 0; i < files.size(); ++i)
      renderFile(diagnostic, files[i], i == 0, files.size() > 1);
    for (const std::string& note : diagnostic.notes)
      renderWords("note", note);
    for (const std::string& help : diagnostic.helps)
      renderWords("help", help);
    return std::move(out_);
  }

private:
  std::string severityColor() const {
    return severity_ == Severity::Error ? "1;31" : severity_ == Severity::Warning ? "1;33" : "1;36";
  }
  static constexpr const char* quietColor = "1;34";

  void paint(const std::string& color, const std::string& text) {
    if (color_ && !text.empty())
      out_ += "\x1b[" + color + "m" + text + "\x1b[0m";
    else
      out_ += text;
  }

  /// The files with labels, the primary label's first.
  static std::vector<BufferId> filesOf(const Diagnostic& diagnostic) {
    std::vector<BufferId> files;
    for (const Label& label : diagnostic.labels)
      if (std::find(files.begin(), files.end(), label.location.buffer) == files.end())
        files.push_back(label.location.buffer);
    return files;
  }

  size_t gutterWidth(const Diagnostic& diagnostic) const {
    uint32_t last = 0;
    for (const Label& label : diagnostic.labels)
      last = std::max(
          last,
          sources_.buffer(label.location.buffer).lineColumn(std::max(label.location.begin, label.location.end)).line);
    return std::to_string(last).size();
  }

  void beginRow(const std::string& number) {
    paint(quietColor, std::string(gutter_ - number.size(), ' ') + number + " |");
  }

  void renderWords(const char* what, const std::string& words) {
    out_ += std::string(gutter_, ' ') + (gutter_ ? " = " : "  = ");
    paint("1", what);
    out_ += ": ";
    const std::string indent(gutter_ + 9 + (gutter_ ? 0 : 1), ' ');
    for (char c : displayText(words)) {
      out_ += c;
      if (c == '\n')
        out_ += indent;
    }
    out_ += '\n';
  }

  void renderFile(const Diagnostic& diagnostic, BufferId id, bool first, bool several) {
    const SourceBuffer& file = sources_.buffer(id);
    const auto label = std::find_if(diagnostic.labels.begin(), diagnostic.labels.end(),
                                    [&](const Label& each) { return each.location.buffer == id; });
    const LineColumn place = file.lineColumn(label->location.begin);
    out_ += std::string(gutter_, ' ');
    paint(quietColor, first ? "--> " : "::: ");
    out_ += displayText(file.name()) + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
    // A program alone needs no word; a machine or mapping does, for its user may not know that it was read.
    if (several || file.kind() != SourceKind::Program)
      out_ += std::string(" (") + kindName(file.kind()) + ")";
    out_ += '\n';
    beginRow("");
    out_ += '\n';
    const std::vector<Mark> marks = marksOf(diagnostic, id);
    uint32_t last = 0;
    for (size_t i = 0; i < marks.size();) {
      size_t end = i;
      while (end < marks.size() && marks[end].line == marks[i].line)
        ++end;
      const uint32_t line = marks[i].line;
      if (last != 0 && line == last + 2)
        renderLine(file, last + 1, {});
      else if (last != 0 && line > last + 2)
        paint(quietColor, "..."), out_ += '\n';
      renderLine(file, line, std::vector<Mark>(marks.begin() + i, marks.begin() + end));
      last = line;
      i = end;
    }
    beginRow("");
    out_ += '\n';
  }

  /// The labels of one file as marks, by line; a label over several lines marks its first and its last.
  std::vector<Mark> marksOf(const Diagnostic& diagnostic, BufferId id) const {
    const SourceBuffer& file = sources_.buffer(id);
    std::vector<Mark> marks;
    for (const Label& label : diagnostic.labels) {
      if (label.location.buffer != id)
        continue;
      const bool primary = &label == diagnostic.labels.data();
      const uint32_t end = std::max(label.location.begin, label.location.end);
      const LineColumn from = file.lineColumn(label.location.begin);
      LineColumn to = file.lineColumn(end);
      // A range that ends with a line break ends on the line that it breaks.
      if (to.line > from.line && to.column == 1)
        to = {to.line - 1, static_cast<uint32_t>(file.line(to.line - 1).size()) + 1};
      if (from.line == to.line) {
        marks.push_back({from.line, from.column - 1, std::max(to.column, from.column + 1) - 1, label.text, primary});
        continue;
      }
      const size_t firstLength = file.line(from.line).size();
      marks.push_back({from.line, from.column - 1, std::max<size_t>(firstLength, from.column), "", primary});
      const size_t indent = std::min(file.line(to.line).find_first_not_of(" \t"), size_t(to.column) - 1);
      marks.push_back({to.line, indent, std::max<size_t>(to.column - 1, indent + 1), label.text, primary});
    }
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.line, a.begin, a.end, a.primary, a.text) < std::tie(b.line, b.begin, b.end, b.primary, b.text);
    });
    return marks;
  }

  void renderLine(const SourceBuffer& file, uint32_t number, const std::vector<Mark>& marks) {
    size_t focus = marks.empty() ? 0 : marks[0].begin;
    for (const Mark& mark : marks)
      if (mark.primary)
        focus = mark.begin;
    const DisplayLine shown = displayLine(file.line(number), focus);
    beginRow(std::to_string(number));
    out_ += (shown.text.empty() ? "" : " ") + shown.text + '\n';
    if (!marks.empty())
      renderMarks(shown, marks);
  }

  /// The row of carets and dashes, with the words of the rightmost label beside it and the others hung below.
  void renderMarks(const DisplayLine& shown, const std::vector<Mark>& marks) {
    struct Placed {
      size_t begin, end;
      const Mark* mark;
    };
    std::vector<Placed> placed;
    size_t width = 0;
    for (const Mark& mark : marks) {
      const size_t begin = shown.column(mark.begin);
      const size_t end = std::max(shown.column(mark.end), begin + 1);
      placed.push_back({begin, end, &mark});
      width = std::max(width, end);
    }
    std::string row(width, ' ');
    for (bool primary : {false, true})
      for (const Placed& each : placed)
        if (each.mark->primary == primary)
          std::fill(row.begin() + each.begin, row.begin() + each.end, primary ? '^' : '-');
    // Words stand beside the row only where nothing else follows; the rest hang from their first column.
    const bool beside =
        placed.back().end == width && std::none_of(placed.begin(), placed.end() - 1,
                                                   [&](const Placed& each) { return each.end > placed.back().begin; });
    beginRow("");
    out_ += ' ';
    paintRow(row);
    if (beside && !placed.back().mark->text.empty()) {
      out_ += ' ';
      paintWords(*placed.back().mark);
    }
    out_ += '\n';
    if (beside)
      placed.pop_back();
    std::erase_if(placed, [](const Placed& each) { return each.mark->text.empty(); });
    for (bool connector = true; !placed.empty(); placed.pop_back(), connector = false) {
      std::vector<size_t> columns;
      for (const Placed& each : placed)
        columns.push_back(each.begin);
      if (connector)
        renderHanging(columns, nullptr);
      columns.pop_back();
      std::erase(columns, placed.back().begin);
      renderHanging(columns, &placed.back().begin);
      paintWords(*placed.back().mark);
      out_ += '\n';
    }
  }

  /// A row of connectors; ends with a line break, or at the column `words` where words are to follow.
  void renderHanging(const std::vector<size_t>& columns, const size_t* words) {
    size_t width = words ? *words : 0;
    for (size_t column : columns)
      width = std::max(width, column + (words ? 0 : 1));
    std::string row(width, ' ');
    for (size_t column : columns)
      if (column < row.size())
        row[column] = '|';
    beginRow("");
    out_ += ' ';
    paint(quietColor, row);
    if (!words)
      out_ += '\n';
  }

  void paintRow(const std::string& row) {
    for (size_t at = 0; at < row.size();) {
      const size_t end = std::min(row.find_first_not_of(row[at], at), row.size());
      const std::string run = row.substr(at, end - at);
      if (row[at] == ' ')
        out_ += run;
      else
        paint(row[at] == '^' ? severityColor() : quietColor, run);
      at = end;
    }
  }

  void paintWords(const Mark& mark) {
    std::string words = displayText(mark.text);
    std::replace(words.begin(), words.end(), '\n', ' ');
    paint(mark.primary ? severityColor() : quietColor, words);
  }

  const SourceManager& sources_;
  const bool color_;
  Severity severity_ = Severity::Error;
  size_t gutter_ = 0;
  std::string out_;
};

std::string renderJson(const SourceManager& sources, const Diagnostic& diagnostic) {
  nlohmann::ordered_json object;
  object["severity"] = severityName(diagnostic.severity);
  object["code"] = diagnostic.kind->code;
  object["message"] = diagnostic.message;
  object["labels"] = nlohmann::ordered_json::array();
  for (const Label& label : diagnostic.labels) {
    const SourceBuffer& file = sources.buffer(label.location.buffer);
    const LineColumn from = file.lineColumn(label.location.begin);
    const LineColumn to = file.lineColumn(std::max(label.location.begin, label.location.end));
    object["labels"].push_back({{"file", file.name()},
                                {"kind", kindName(file.kind())},
                                {"line", from.line},
                                {"column", from.column},
                                {"endLine", to.line},
                                {"endColumn", to.column},
                                {"text", label.text}});
  }
  object["notes"] = diagnostic.notes;
  object["helps"] = diagnostic.helps;
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// What the cap left out, or nothing.
std::string leftOut(const std::vector<unsigned>& counts) {
  std::string text;
  for (Severity severity : {Severity::Error, Severity::Warning}) {
    const unsigned count = counts[static_cast<size_t>(severity)];
    if (count != 0)
      text += (text.empty() ? "" : ", ") + std::to_string(count) + " more " + severityName(severity) +
              (count == 1 ? "" : "s");
  }
  return text.empty() ? "" : text + " not shown\n";
}

} // namespace

std::string DiagnosticEngine::render(const RenderOptions& options) const {
  std::vector<const Diagnostic*> sorted;
  for (const Diagnostic& diagnostic : diagnostics_)
    sorted.push_back(&diagnostic);
  const auto rank = [](const Diagnostic* diagnostic) {
    const bool placed = !diagnostic->labels.empty();
    const Location where = placed ? diagnostic->labels[0].location : Location();
    // Files in the order in which they were read; what was reported first comes first within one place.
    return std::make_tuple(placed, where.buffer.value, where.begin, diagnostic);
  };
  // The pointers are into one vector, so comparing them last keeps the order of reporting.
  std::sort(sorted.begin(), sorted.end(), [&](const Diagnostic* a, const Diagnostic* b) { return rank(a) < rank(b); });

  std::string text;
  std::vector<unsigned> shown(3), omitted(3);
  for (const Diagnostic* diagnostic : sorted) {
    if (options.json) {
      text += renderJson(sources_, *diagnostic);
      continue;
    }
    const size_t severity = static_cast<size_t>(diagnostic->severity);
    // Remarks are there because somebody asked for them.
    if (options.limit != 0 && diagnostic->severity != Severity::Remark && shown[severity] >= options.limit) {
      ++omitted[severity];
      continue;
    }
    ++shown[severity];
    if (!text.empty())
      text += '\n';
    text += TextRenderer(sources_, options.color).render(*diagnostic);
  }
  const std::string rest = leftOut(omitted);
  return rest.empty() ? text : text + "\n" + rest;
}

} // namespace strata

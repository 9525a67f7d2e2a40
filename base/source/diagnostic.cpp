// The registry of kinds, the engine that collects diagnostics, and the words they are made of.
// How they look is render.cpp's. One engine belongs to one compilation and one thread; the registry is filled before
// main.
#include "base/source/diagnostic.h"

#include <algorithm>

namespace strata {

namespace {

std::vector<const DiagnosticKind*>& registry() {
  // Made on first use: kinds register from static initialisers, whose order across files is not fixed.
  static std::vector<const DiagnosticKind*> kinds;
  return kinds;
}

/// Two diagnostics with the same key are the same one said twice.
std::string repeatKey(const Diagnostic& diagnostic) {
  std::string key = diagnostic.kind->code;
  key += '\0';
  key += diagnostic.message;
  if (!diagnostic.labels.empty()) {
    const Location& where = diagnostic.labels[0].location;
    key +=
        '\0' + std::to_string(where.buffer.value) + ':' + std::to_string(where.begin) + ':' + std::to_string(where.end);
  }
  return key;
}

} // namespace

DiagnosticKind::DiagnosticKind(Severity severity, const char* code, const char* format)
    : severity(severity), code(code), format(format) {
  registry().push_back(this);
}

std::vector<const DiagnosticKind*> DiagnosticKind::all() {
  std::vector<const DiagnosticKind*> kinds = registry();
  std::sort(kinds.begin(), kinds.end(),
            [](const DiagnosticKind* a, const DiagnosticKind* b) { return std::string_view(a->code) < b->code; });
  return kinds;
}

void DiagnosticEngine::add(Diagnostic diagnostic) {
  diagnostic.severity = diagnostic.kind->severity;
  if (diagnostic.severity == Severity::Warning)
    for (const std::string& code : promoted_)
      if (code == "all" || code == diagnostic.kind->code)
        diagnostic.severity = Severity::Error;
  if (diagnostic.severity == Severity::Remark && !remarks_)
    return;
  // A place never ends before it begins, whatever the reader of the text made of it.
  for (Label& label : diagnostic.labels)
    label.location.end = std::max(label.location.begin, label.location.end);
  if (!seen_.insert(repeatKey(diagnostic)).second)
    return;
  if (diagnostic.severity == Severity::Error)
    ++errors_;
  diagnostics_.push_back(std::move(diagnostic));
}

void DiagnosticEngine::clear() {
  diagnostics_.clear();
  seen_.clear();
  errors_ = 0;
}

void DiagnosticEngine::promoteWarnings(std::string_view code) {
  promoted_.emplace_back(code);
}

DiagnosticBuilder& DiagnosticBuilder::label(std::string text) {
  // Without a place the words still have to reach the user.
  if (diagnostic_.labels.empty())
    return note(std::move(text));
  diagnostic_.labels[0].text = std::move(text);
  return *this;
}

DiagnosticBuilder& DiagnosticBuilder::label(const Location& where, std::string text) {
  if (!where.valid())
    return note(std::move(text));
  diagnostic_.labels.push_back({where, std::move(text)});
  return *this;
}

DiagnosticBuilder& DiagnosticBuilder::note(std::string text) {
  diagnostic_.notes.push_back(std::move(text));
  return *this;
}

DiagnosticBuilder& DiagnosticBuilder::help(std::string text) {
  diagnostic_.helps.push_back(std::move(text));
  return *this;
}

std::string formatMessage(std::string_view format, const std::vector<std::string>& arguments) {
  std::string message;
  for (size_t at = 0; at < format.size(); ++at) {
    size_t end = at + 1, index = 0;
    while (end < format.size() && end < at + 4 && format[end] >= '0' && format[end] <= '9')
      index = index * 10 + static_cast<size_t>(format[end++] - '0');
    if (format[at] == '{' && end > at + 1 && end < format.size() && format[end] == '}' && index < arguments.size()) {
      message += arguments[index];
      at = end;
    } else {
      message += format[at];
    }
  }
  return message;
}

} // namespace strata

// Diagnostics: registered kinds with codes, messages with labels in several files, and the engine that collects them.
// A kind is declared beside the code that reports it, with STRATA_DIAGNOSTIC; every kind needs a test that provokes it
// (tests/rules/diagnostic_codes.py checks that). The engine is not thread safe: one per compilation.
#pragma once

#include "base/source/source.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace strata {

enum class Severity { Error, Warning, Remark };

/// A registered kind. `format` holds {0}, {1}, … for the arguments. Messages are lower case and have no full stop.
class DiagnosticKind {
public:
  /// REQUIRES: code is unique in the program, in kebab case, and begins with the subject ("machine-", "sequoia-", …).
  DiagnosticKind(Severity severity, const char* code, const char* format);
  const Severity severity;
  const char* const code;
  const char* const format;
  /// Every kind in the program, sorted by code.
  static std::vector<const DiagnosticKind*> all();
};

/// Declares a kind at namespace scope: STRATA_DIAGNOSTIC(unknownTask, Error, "sequoia-unknown-task", "no task named
/// '{0}'");
#define STRATA_DIAGNOSTIC(NAME, SEVERITY, CODE, FORMAT)                                                                \
  static const ::strata::DiagnosticKind NAME(::strata::Severity::SEVERITY, CODE, FORMAT)

/// A range of source with a few words about it. The first label of a diagnostic is the primary one.
struct Label {
  Location location;
  std::string text;
};

struct Diagnostic {
  const DiagnosticKind* kind = nullptr;
  Severity severity = Severity::Error; // set by the engine: the kind's, or Error for a promoted warning
  std::string message;
  std::vector<Label> labels;      // labels[0] is primary; empty when there is no place (a missing file)
  std::vector<std::string> notes; // why, in whole phrases
  std::vector<std::string> helps; // what to change
};

struct RenderOptions {
  bool color = false; // ANSI colours
  /// One JSON object a line, never capped: {"severity", "code", "message", "labels": [{"file", "kind", "line",
  /// "column", "endLine", "endColumn", "text"}], "notes", "helps"}. The end is exclusive.
  bool json = false;
  unsigned limit = 20; // errors (and warnings) shown before the rest is only counted; 0 shows all
};

/// Builds one diagnostic; it is handed to the engine when the builder is destroyed.
class DiagnosticBuilder;

class DiagnosticEngine {
public:
  explicit DiagnosticEngine(SourceManager& sources) : sources_(sources) {}
  SourceManager& sources() { return sources_; }
  const SourceManager& sources() const { return sources_; }

  /// Reports at a place. Arguments fill {0}, {1}, …: strings and integers.
  template <typename... Args>
  DiagnosticBuilder report(const DiagnosticKind& kind, const Location& where, const Args&... args);
  /// Takes a finished diagnostic. Exact repeats (same kind, message and place) are dropped.
  void add(Diagnostic diagnostic);

  bool hasErrors() const { return errors_ != 0; }
  unsigned errorCount() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  /// Forgets what has been collected.
  void clear();
  /// Turns warnings of a code (or of every code, for "all") into errors from now on.
  void promoteWarnings(std::string_view code);
  /// Remarks are kept only when asked for.
  void enableRemarks(bool on) { remarks_ = on; }

  /// All diagnostics as text, sorted by file and line (errors without a place first), capped, with source excerpts.
  std::string render(const RenderOptions& options) const;

private:
  SourceManager& sources_;
  std::vector<Diagnostic> diagnostics_;
  std::unordered_set<std::string> seen_;
  std::vector<std::string> promoted_;
  unsigned errors_ = 0;
  bool remarks_ = false;
};

/// Fills {0}, {1}, … of a format.
std::string formatMessage(std::string_view format, const std::vector<std::string>& arguments);

/// The candidate nearest to a misspelt name by edit distance, or an empty string when none is near.
std::string nearestName(std::string_view name, const std::vector<std::string>& candidates);

class DiagnosticBuilder {
public:
  DiagnosticBuilder(DiagnosticEngine& engine, Diagnostic diagnostic)
      : engine_(engine), diagnostic_(std::move(diagnostic)) {}
  DiagnosticBuilder(const DiagnosticBuilder&) = delete;
  ~DiagnosticBuilder() { engine_.add(std::move(diagnostic_)); }
  /// Words for the primary label; a note when the diagnostic has no place.
  DiagnosticBuilder& label(std::string text);
  /// A secondary label, possibly in another file.
  DiagnosticBuilder& label(const Location& where, std::string text);
  DiagnosticBuilder& note(std::string text);
  DiagnosticBuilder& help(std::string text);

private:
  DiagnosticEngine& engine_;
  Diagnostic diagnostic_;
};

namespace detail {
inline std::string toText(std::string_view text) {
  return std::string(text);
}
template <typename T>
  requires std::is_integral_v<T>
std::string toText(T value) {
  return std::to_string(value);
}
} // namespace detail

template <typename... Args>
DiagnosticBuilder DiagnosticEngine::report(const DiagnosticKind& kind, const Location& where, const Args&... args) {
  Diagnostic diagnostic;
  diagnostic.kind = &kind;
  diagnostic.message = formatMessage(kind.format, {detail::toText(args)...});
  if (where.valid())
    diagnostic.labels.push_back({where, ""});
  return DiagnosticBuilder(*this, std::move(diagnostic));
}

} // namespace strata

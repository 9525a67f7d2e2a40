// What the readers and writers of the two forms of mapping files share: one function for each, and the messages that
// both give. All functions are pure but for the diagnostics that they report.
#pragma once

#include "base/source/characters.h"
#include "compiler/sequoia/mapping/mapping.h"

namespace strata::sequoia {

std::optional<Mapping> readBraces(BufferId file, DiagnosticEngine& diagnostics);
std::optional<Mapping> readXml(BufferId file, DiagnosticEngine& diagnostics);
std::string writeBraces(const Mapping& mapping);
std::string writeXml(const Mapping& mapping);

/// The kind of "expected {0}, found {1}".
const DiagnosticKind& mappingSyntaxKind();
/// The words between quotes in a text of a message.
std::vector<std::string> quotedIn(std::string_view text);
/// Something else was expected than what was found.
DiagnosticBuilder reportExpected(const std::string& wanted, const std::string& found, const Location& where,
                                 DiagnosticEngine& diagnostics);
void reportTwice(std::string_view what, const Location& where, const Location& first, DiagnosticEngine& diagnostics);
/// The number that a word is; an error, and 1, when it is none or too large.
int64_t numberIn(std::string_view word, const Location& where, DiagnosticEngine& diagnostics);
/// Whether a word is the question mark of a template; then it is reported.
bool isBlank(std::string_view word, const std::string& wanted, const Location& where, DiagnosticEngine& diagnostics);
/// The name of a file without blanks around it; an error, and nothing, when it cannot be one.
std::string fileNameIn(std::string_view text, const Location& where, DiagnosticEngine& diagnostics);

/// An item with its number: "A" or "A[1]".
std::string numberedName(const MappedName& name);
std::string numberText(const MappedNumber& number);
std::string listText(const std::vector<int64_t>& values);
std::string listText(const std::vector<MappedName>& names);

} // namespace strata::sequoia

// Runs the C preprocessor over a Sequoia source. The result is text without line markers and a LineMap back to the
// files as the user wrote them. Nothing is started for text that has nothing to preprocess. Not thread safe.
#pragma once

#include "base/source/diagnostic.h"
#include "compiler/sequoia/syntax/line_map.h"

#include <string>
#include <vector>

namespace strata::sequoia {

struct PreprocessOptions {
  std::string command = "clang-19"; // looked up on PATH
  std::vector<std::string> includeDirectories;
  std::vector<std::string> definitions; // NAME or NAME=VALUE
  int timeoutSeconds = 30;
};

struct Preprocessed {
  std::string text;
  LineMap map;
  bool ok = false; // false: errors have been reported
};

/// Whether the text can hold anything that the preprocessor would change: directives, spliced lines, reserved names.
bool needsPreprocessor(std::string_view text);

Preprocessed preprocess(BufferId file, DiagnosticEngine& diagnostics, const PreprocessOptions& options);

} // namespace strata::sequoia

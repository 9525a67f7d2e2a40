// Child processes without a shell, and folders for their files that go away with the object that made them. Any thread
// may call; an object belongs to one.
#pragma once

#include "base/data/unfinished.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::clang {

/// A private folder under $TMPDIR or /tmp, removed with all that is in it.
class TemporaryFolder {
public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;

  /// Empty, or why there is no folder.
  const std::string& problem() const { return problem_; }
  std::string path(std::string_view name) const { return folder_ + "/" + std::string(name); }
  /// False when the file could not be written whole.
  bool write(std::string_view name, std::string_view text) const;
  /// The bytes of a file; nothing when it cannot be read.
  std::optional<std::string> read(std::string_view name) const;

private:
  std::string folder_;
  std::string problem_;
  Unfinished unfinished_;
};

struct ProcessResult {
  int status = 0;      // exit status; 128 + signal when a signal ended it
  std::string problem; // why it did not start or was ended; else empty
  std::string errors;  // standard error
};

/// Runs a program, looked up in $PATH, with an empty standard input; what it prints is dropped. Waits for its end, at
/// most `timeoutSeconds`.
ProcessResult runProcess(const std::vector<std::string>& command, int timeoutSeconds);

} // namespace strata::clang

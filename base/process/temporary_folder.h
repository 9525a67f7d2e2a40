// Folders for files of child processes, which go away with the object that made them, or with this process. Any thread
// may call; an object belongs to one.
#pragma once

#include "base/process/unfinished.h"

#include <optional>
#include <string>
#include <string_view>

namespace strata {

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

} // namespace strata

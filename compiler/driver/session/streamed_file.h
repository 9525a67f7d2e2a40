// A file that a command writes piece by piece. It appears whole or not at all: what is written stands beside it until
// the end. "-" and "" are standard output, and what is there under /dev/ is written to as it is.
#pragma once

#include "base/process/unfinished.h"

#include <cstdio>
#include <string>
#include <string_view>

namespace strata::driver {

struct Session;

/// Says that a file could not be written, with the system's number of why; 0: not all was taken.
void reportUnwritten(Session& session, const std::string& name, int error);

class StreamedFile {
public:
  /// Opens it; what goes wrong, finish() reports.
  StreamedFile(Session& session, std::string path);
  /// One that was not finished is gone.
  ~StreamedFile();
  StreamedFile(const StreamedFile&) = delete;

  /// False: this or what came before could not be written.
  bool write(std::string_view piece);
  /// Puts the file in its place. False on errors (reported). To be called once, at the end.
  bool finish();

private:
  bool isBeside() const { return !isStandard_ && !isDevice_; }

  Session& session_;
  std::string path_, beside_;
  bool isStandard_ = false, isDevice_ = false, isFine_ = true;
  int error_ = 0;
  FILE* file_ = nullptr;
  Unfinished unfinished_;
};

} // namespace strata::driver

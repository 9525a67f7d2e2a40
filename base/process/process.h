// Child processes without a shell, and files in memory for what they read and write. Any thread may call; an object
// belongs to one.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// A file without a name that is in memory only and closes itself. Neither side of a child process can block on it, as
/// it could on a pipe.
class MemoryFile {
public:
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;

  /// Whether there is one; errno says why not.
  explicit operator bool() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }
  /// Adds text and goes back to the file's beginning, where a reader starts. False when there is no memory for it.
  bool write(std::string_view text);
  /// The file's first bytes, all of them where there are not more than `most`.
  std::string read(int64_t most = INT64_MAX) const;

private:
  int descriptor_;
};

struct ProcessOptions {
  int input = -1;         // descriptor of its standard input; -1: nothing to read
  int output = -1;        // of its standard output; -1: what it prints is dropped
  int timeoutSeconds = 0; // it is ended after so long; 0: never
  int64_t mostOutput = 0; // it is ended when the file `output` is longer than so many bytes, whole MiB; 0: never
};

struct ProcessResult {
  int status = 0;      // exit status; 128 + signal when a signal ended it
  std::string problem; // why it did not start or was ended: "ran longer than 30 s"; else empty
  std::string errors;  // standard error, its first 4 MiB
};

/// Runs a program, looked up in $PATH, in a process group of its own, and waits for its end. It is ended with this
/// process (unfinished.h). REQUIRES: a command of at least one word.
ProcessResult runProcess(const std::vector<std::string>& command, const ProcessOptions& options = {});

/// Calls a function in a copy of this process, and waits for its end like that of a program: what the function returns
/// is the exit status. For work that may fail in any way, with all that this process has read and made at hand. The
/// copy owns nothing that is registered in unfinished.h. REQUIRES: this process has one thread.
ProcessResult callInCopy(const std::function<int()>& function, const ProcessOptions& options = {});

} // namespace strata

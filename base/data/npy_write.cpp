// Writes .npy files so that a reader never sees half of one. Errors of the operating system, a full disk and a file
// size limit included, are reported with its reason; signals that such a write would raise are held back while it
// lasts.
#include "base/data/npy.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace strata {

STRATA_DIAGNOSTIC(cannotWrite, Error, "data-cannot-write", "cannot write '{0}': {1}");

namespace {

/// Holds back SIGXFSZ and SIGPIPE in this thread, so that write() fails with a reason instead of ending the process.
class WriteSignalsHeld {
public:
  WriteSignalsHeld() {
    sigemptyset(&held_);
    sigaddset(&held_, SIGXFSZ);
    sigaddset(&held_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &held_, &before_);
  }
  ~WriteSignalsHeld() {
    // What the writes raised is taken off before the mask is restored, unless the caller held it back already.
    sigset_t ours;
    sigemptyset(&ours);
    for (int signal : {SIGXFSZ, SIGPIPE})
      if (!sigismember(&before_, signal))
        sigaddset(&ours, signal);
    const timespec now = {0, 0};
    while (sigtimedwait(&ours, nullptr, &now) > 0)
      ;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WriteSignalsHeld(const WriteSignalsHeld&) = delete;

private:
  sigset_t held_, before_;
};

bool writeAll(int file, const void* data, uint64_t size) {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = ::write(file, at, std::min<uint64_t>(size, 1 << 30));
    if (done < 0 && errno == EINTR)
      continue;
    if (done < 0)
      return false;
    at += done;
    size -= static_cast<uint64_t>(done);
  }
  return true;
}

std::string parentFolder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// The file that a path means, symbolic links followed where it exists.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (!real)
    return path;
  const std::string result = real;
  ::free(real);
  return result;
}

enum class Target { Absent, Regular, Special, Impossible };

/// What stands at a path, and why it cannot be written if it cannot.
Target inspect(const std::string& path, std::string& error) {
  struct stat status;
  if (path.empty()) {
    error = "the name is empty";
    return Target::Impossible;
  }
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      errno = EISDIR;
    else if (::access(path.c_str(), W_OK) == 0)
      return S_ISREG(status.st_mode) ? Target::Regular : Target::Special;
  } else if (errno == ENOENT) {
    const std::string parent = parentFolder(path);
    if (::stat(parent.c_str(), &status) != 0 || ::access(parent.c_str(), W_OK | X_OK) != 0) {
      error = "folder '" + parent + "': " + std::strerror(errno);
      return Target::Impossible;
    }
    return Target::Absent;
  }
  error = std::strerror(errno);
  return Target::Impossible;
}

bool isAscii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// Structs of two floats anywhere in the type become complex numbers.
ElementType withComplexPairs(const ElementType& type) {
  if (const auto complex = type.asComplex())
    return *complex;
  ElementType result = type;
  for (Field& field : result.fields)
    field.type = withComplexPairs(field.type);
  return result;
}

} // namespace

std::string npyHeader(const ElementType& type, const std::vector<int64_t>& shape) {
  std::string text =
      "{'descr': " + type.numpyDescription() + ", 'fortran_order': False, 'shape': " + shapeText(shape) + ", }";
  const int version = !isAscii(text) ? 3 : text.size() > 65000 ? 2 : 1;
  const size_t prefix = version == 1 ? 10 : 12;
  // The data begins at a multiple of 64 bytes; the header ends in a line break.
  text.append((64 - (prefix + text.size() + 1) % 64) % 64, ' ');
  text += '\n';
  std::string header = "\x93NUMPY";
  header += static_cast<char>(version);
  header += '\0';
  for (size_t byte = 0; byte < prefix - 8; ++byte)
    header += static_cast<char>(text.size() >> (8 * byte) & 0xFF);
  return header + text;
}

NpyOutput::NpyOutput(NpyOutput&& other) noexcept
    : file_(std::exchange(other.file_, -1)), at_(other.at_), path_(std::move(other.path_)),
      final_(std::move(other.final_)), temporary_(std::exchange(other.temporary_, {})),
      unfinished_(std::move(other.unfinished_)) {}

NpyOutput::~NpyOutput() {
  if (file_ >= 0)
    ::close(file_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

std::optional<NpyOutput> NpyOutput::create(const std::string& path, const ElementType& type,
                                           const std::vector<int64_t>& shape, bool complexPairs,
                                           DiagnosticEngine& diagnostics, const Location& where, bool isNamed) {
  const WriteSignalsHeld held;
  const EndingSignalsHeld untilRegistered;
  NpyOutput output;
  output.path_ = path;
  std::string error;
  const Target target = inspect(path, error);
  if (target == Target::Impossible || target == Target::Special) {
    diagnostics.report(cannotWrite, where, path, target == Target::Special ? "it is no file" : error);
    return std::nullopt;
  }
  output.final_ = resolved(path);
  // Without a name at first: whatever ends the process, nothing stays behind. Some file systems cannot do that.
  if (!isNamed)
    output.file_ = ::open(parentFolder(output.final_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (output.file_ < 0) {
    output.temporary_ = output.final_ + ".XXXXXX";
    output.file_ = ::mkostemp(output.temporary_.data(), O_CLOEXEC);
    if (output.file_ < 0)
      output.temporary_.clear();
    else
      output.unfinished_ = Unfinished(output.temporary_);
  }
  const std::string header = npyHeader(complexPairs ? withComplexPairs(type) : type, shape);
  output.at_ = header.size();
  const auto end = static_cast<off_t>(header.size() + elementCount(shape, type.bytes).value_or(0) * type.bytes);
  if (output.file_ < 0 || !writeAll(output.file_, header.data(), header.size()) ||
      ::ftruncate(output.file_, end) != 0) {
    diagnostics.report(cannotWrite, where, path, std::strerror(errno));
    return std::nullopt;
  }
  return output;
}

bool NpyOutput::commit(DiagnosticEngine& diagnostics, const Location& where) {
  const WriteSignalsHeld held;
  const EndingSignalsHeld untilNamed;
  auto fail = [&] {
    diagnostics.report(cannotWrite, where, path_, std::strerror(errno));
    return false;
  };
  struct stat before;
  mode_t mode = 0;
  if (::stat(final_.c_str(), &before) == 0) {
    mode = before.st_mode & 07777;
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    mode = 0666 & ~mask;
  }
  ::fchmod(file_, mode);
  if (temporary_.empty()) {
    // A name for a moment, since a link does not replace what has the name already.
    const std::string self = "/proc/self/fd/" + std::to_string(file_);
    for (int attempt = 0; temporary_.empty(); ++attempt) {
      std::string name = final_ + "." + std::to_string(::getpid()) + "." + std::to_string(attempt);
      // Registered first: another thread may get the signal. Whatever has this name already was left by a process of
      // our number, and may go.
      unfinished_ = Unfinished(name);
      if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
        temporary_ = name;
      else if (errno != EEXIST || attempt > 1000)
        return fail();
    }
  }
  // Some file systems find out only now that they are full.
  if (::close(std::exchange(file_, -1)) != 0 || ::rename(temporary_.c_str(), final_.c_str()) != 0)
    return fail();
  unfinished_ = Unfinished();
  temporary_.clear();
  return true;
}

bool isSpecialFile(const std::string& path) {
  std::string error;
  return inspect(path, error) == Target::Special;
}

bool writeNpy(const std::string& path, const Array& array, bool complexPairs, DiagnosticEngine& diagnostics,
              const Location& where) {
  const WriteSignalsHeld held;
  auto fail = [&] {
    diagnostics.report(cannotWrite, where, path, std::strerror(errno));
    return false;
  };
  if (isSpecialFile(path)) {
    const std::string header = npyHeader(complexPairs ? withComplexPairs(array.type()) : array.type(), array.shape());
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0)
      return fail();
    const bool written = writeAll(file, header.data(), header.size()) && writeAll(file, array.data(), array.bytes());
    const int reason = errno;
    const bool closed = ::close(file) == 0;
    if (!written)
      errno = reason;
    return (written && closed) || fail();
  }
  auto output = NpyOutput::create(path, array.type(), array.shape(), complexPairs, diagnostics, where);
  if (!output)
    return false;
  return writeAll(output->file_, array.data(), array.bytes()) ? output->commit(diagnostics, where) : fail();
}

bool checkWritable(const std::string& path, DiagnosticEngine& diagnostics, const Location& where) {
  std::string error;
  if (inspect(path, error) != Target::Impossible)
    return true;
  diagnostics.report(cannotWrite, where, path, error);
  return false;
}

} // namespace strata

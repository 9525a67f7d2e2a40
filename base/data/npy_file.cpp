// Implements open .npy files (see the header).
#include "base/data/npy_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata {

STRATA_DIAGNOSTIC(changed, Error, "data-npy-changed", "'{0}' became shorter while it was read");

class NpyFile::Reader : public ByteReader {
public:
  ~Reader() override {
    if (file_ >= 0)
      ::close(file_);
  }
  bool open(const std::string& path, std::string& error) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file_ < 0 || ::fstat(file_, &status) != 0) {
      error = std::strerror(errno);
      return false;
    }
    if (S_ISREG(status.st_mode))
      left_ = static_cast<uint64_t>(status.st_size);
    return true;
  }
  int64_t read(void* to, size_t size, std::string& error) override {
    for (;;) {
      const ssize_t got = ::read(file_, to, std::min(size, size_t(1) << 30));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        error = std::strerror(errno);
      else if (left_)
        *left_ -= std::min<uint64_t>(*left_, static_cast<uint64_t>(got));
      return got;
    }
  }
  std::optional<uint64_t> left() const override { return left_; }
  int file() const { return file_; }
  /// Where the next byte comes from in a regular file.
  uint64_t position() const { return static_cast<uint64_t>(std::max<off_t>(0, ::lseek(file_, 0, SEEK_CUR))); }

private:
  int file_ = -1;
  std::optional<uint64_t> left_;
};

int NpyFile::file() const {
  return reader_->file();
}

std::optional<NpyFile> NpyFile::open(const std::string& path, DiagnosticEngine& diagnostics, const Location& where) {
  NpyFile file;
  file.path_ = path;
  file.reader_ = std::make_shared<Reader>();
  std::string error;
  if (!file.reader_->open(path, error)) {
    auto report = reportUnreadable(diagnostics, where, path, error);
    if (path.find('/') == std::string::npos && path.find('.') == std::string::npos)
      report.help("data is a .npy file, random[:seed[:low:high]], iota, zeros or a number");
    return std::nullopt;
  }
  const auto header = readNpyHeader(*file.reader_, path, diagnostics, where);
  if (!header)
    return std::nullopt;
  file.header_ = *header;
  if (file.reader_->left()) {
    file.at_ = file.reader_->position();
    return file;
  }
  file.loaded_ = readNpyData(*file.reader_, file.header_, path, diagnostics, where);
  if (!file.loaded_)
    return std::nullopt;
  return file;
}

std::optional<Array> NpyFile::read(DiagnosticEngine& diagnostics, const Location& where) {
  if (loaded_)
    return std::move(loaded_);
  return readNpyData(*reader_, header_, path_, diagnostics, where);
}

std::optional<Array> NpyFile::piece(uint64_t first, uint64_t count, DiagnosticEngine& diagnostics,
                                    const Location& where, int from) const {
  auto array =
      Array::create(header_.type, {static_cast<int64_t>(count)}, "part of '" + path_ + "'", diagnostics, where);
  if (!array)
    return std::nullopt;
  uint64_t at = (from < 0 ? at_ : 0) + first * header_.type.bytes;
  for (uint64_t done = 0; done < array->bytes();) {
    const ssize_t got =
        ::pread(from < 0 ? file() : from, array->data() + done, array->bytes() - done, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      reportUnreadable(diagnostics, where, path_, std::strerror(errno));
    else if (got == 0)
      diagnostics.report(changed, where, path_);
    if (got <= 0)
      return std::nullopt;
    done += static_cast<uint64_t>(got);
    at += static_cast<uint64_t>(got);
  }
  makeNative(*array, header_);
  return array;
}

} // namespace strata

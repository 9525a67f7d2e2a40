// Written beside, then renamed.
#include "compiler/driver/session/streamed_file.h"

#include "compiler/driver/session/output_files.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(cannotWrite, Error, "driver-cannot-write", "cannot write '{0}': {1}");

void reportUnwritten(Session& session, const std::string& name, int error) {
  session.diagnostics.report(cannotWrite, placeOfOutput(session, name), name,
                             error != 0 ? strerror(error) : "not all of it was taken");
}

StreamedFile::StreamedFile(Session& session, std::string path)
    : session_(session), path_(std::move(path)), beside_(path_ + ".part" + std::to_string(getpid())) {
  isStandard_ = path_.empty() || path_ == "-";
  isDevice_ = !isStandard_ && access(path_.c_str(), F_OK) == 0 && path_.rfind("/dev/", 0) == 0;
  const EndingSignalsHeld untilRegistered;
  file_ = isStandard_ ? stdout : fopen(isDevice_ ? path_.c_str() : beside_.c_str(), "wb");
  if (isBeside())
    unfinished_ = Unfinished(beside_);
  isFine_ = file_ != nullptr;
  error_ = errno;
}

StreamedFile::~StreamedFile() {
  if (!file_ || isStandard_)
    return;
  fclose(file_);
  if (isBeside())
    unlink(beside_.c_str());
}

bool StreamedFile::write(std::string_view piece) {
  if (isFine_ && fwrite(piece.data(), 1, piece.size(), file_) != piece.size()) {
    isFine_ = false;
    error_ = errno;
  }
  return isFine_;
}

bool StreamedFile::finish() {
  const auto keep = [this](bool isFine) {
    if (!isFine && isFine_) {
      isFine_ = false;
      error_ = errno;
    }
  };
  if (file_)
    keep(fflush(file_) == 0);
  if (file_ && !isStandard_)
    keep(fclose(file_) == 0);
  file_ = nullptr;
  if (isBeside()) {
    if (isFine_)
      keep(rename(beside_.c_str(), path_.c_str()) == 0);
    if (!isFine_)
      unlink(beside_.c_str());
  }
  if (isStandard_ && !isFine_)
    session_.isOutputLost = true;
  if (!isFine_)
    reportUnwritten(session_, isStandard_ ? "standard output" : path_, error_);
  return isFine_;
}

} // namespace strata::driver

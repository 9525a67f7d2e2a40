// See temporary_folder.h.
#include "base/process/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace strata {

TemporaryFolder::TemporaryFolder() {
  const char* parent = std::getenv("TMPDIR");
  std::string pattern = std::string(parent && *parent ? parent : "/tmp") + "/strata-XXXXXX";
  const EndingSignalsHeld untilRegistered;
  if (mkdtemp(pattern.data())) {
    folder_ = pattern;
    unfinished_ = Unfinished(folder_);
  } else {
    problem_ = "cannot make a folder '" + pattern + "': " + std::strerror(errno);
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored; // what cannot be removed stays for the system to clean
  if (!folder_.empty())
    std::filesystem::remove_all(folder_, ignored);
}

bool TemporaryFolder::write(std::string_view name, std::string_view text) const {
  std::ofstream file(path(name), std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return bool(file);
}

std::optional<std::string> TemporaryFolder::read(std::string_view name) const {
  std::ifstream file(path(name), std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
    return std::nullopt;
  return std::move(text).str();
}

} // namespace strata

// The folders above the program, from the nearest on.
#include "compiler/drop_in/installation.h"

#include <filesystem>

namespace strata::drop_in {

namespace fs = std::filesystem;

std::string runningProgram() {
  std::error_code problem;
  const fs::path self = fs::read_symlink("/proc/self/exe", problem);
  return problem ? "" : self.string();
}

std::string findAbove(const std::string& file) {
  constexpr int mostLevels = 5;
  std::error_code problem;
  fs::path folder = fs::path(runningProgram()).parent_path();
  for (int levels = 0; levels < mostLevels && !folder.empty(); ++levels, folder = folder.parent_path())
    if (const fs::path path = folder / file; fs::exists(path, problem))
      return path.string();
  return "";
}

} // namespace strata::drop_in

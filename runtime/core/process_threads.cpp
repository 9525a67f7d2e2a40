// Reads /proc/self. A list of threads that is read while one ends may lack another, which has not: a list counts only
// where it has as many entries as there are threads, before and after.
#include "runtime/core/process_threads.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace strata::runtime {
namespace {

constexpr int mostTries = 50;

/// What the system tells of a thread or process, behind its name: its state first. Empty where there is none; `isOther`
/// then says whether there may be one all the same.
std::string stateOf(const std::string& path, std::string& name, bool& isOther) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  isOther = file < 0 && errno != ENOENT && errno != ESRCH;
  if (file < 0)
    return "";
  char text[512] = "";
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  // Its number, its name in parentheses, its state.
  const std::string_view all(text, length < 0 ? 0 : static_cast<size_t>(length));
  const size_t begin = all.find('('), end = all.rfind(')');
  isOther = true;
  if (begin == all.npos || end == all.npos || end + 2 >= all.size())
    return "";
  name = all.substr(begin + 1, end - begin - 1);
  return std::string(all.substr(end + 2));
}

/// Whether a thread of this process may call in. (The main thread is listed for as long as the process lives, also when
/// it has ended.)
bool mayCallIn(const char* thread) {
  std::string name;
  bool isOther = false;
  const std::string state = stateOf(std::string("/proc/self/task/") + thread + "/stat", name, isOther);
  if (state.empty())
    return isOther;
  return !name.starts_with("iou-") && state[0] != 'Z' && state[0] != 'X';
}

/// How many threads there are, of every kind; 0: not known.
uint32_t allThreads() {
  std::string name;
  bool isOther = false;
  const std::string text = stateOf("/proc/self/stat", name, isOther);
  // The state is field 3, the number of threads is field 20.
  size_t at = 0;
  for (int field = 3; field < 20 && at != text.npos; ++field)
    at = text.find(' ', at == 0 && field == 3 ? 0 : at + 1);
  return at == text.npos || text.empty() ? 0 : static_cast<uint32_t>(std::strtoul(text.c_str() + at, nullptr, 10));
}

} // namespace

std::optional<uint32_t> countThreads() {
  for (int tries = 0; tries < mostTries; ++tries) {
    const uint32_t before = allThreads();
    DIR* tasks = opendir("/proc/self/task");
    if (!tasks)
      return std::nullopt;
    uint32_t listed = 0, count = 0;
    while (const dirent* entry = readdir(tasks))
      if (entry->d_name[0] != '.') {
        ++listed;
        count += mayCallIn(entry->d_name);
      }
    closedir(tasks);
    if (before == listed && allThreads() == listed)
      return count;
  }
  return std::nullopt;
}

} // namespace strata::runtime

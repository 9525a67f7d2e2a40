// Files of /proc, read as a whole.
#include "runtime/cluster/processes.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <iterator>
#include <sstream>
#include <sys/syscall.h>
#include <unistd.h>

namespace strata::cluster {
namespace {

std::string folderOf(pid_t process) {
  return "/proc/" + std::to_string(process) + "/";
}

/// As much as there is to read: a process may end in the middle of it.
std::string contentOf(const std::string& path) {
  std::string content;
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char piece[4096];
  for (ssize_t count = 1; file >= 0 && count > 0;
       content.append(piece, static_cast<size_t>(std::max<ssize_t>(count, 0))))
    count = read(file, piece, sizeof piece);
  if (file >= 0)
    close(file);
  return content;
}

/// The fields of its line from the state on. The name before them may have any characters.
std::vector<std::string> stateOf(pid_t process) {
  const std::string line = contentOf(folderOf(process) + "stat");
  const size_t name = line.rfind(')');
  std::istringstream rest(name == std::string::npos ? "" : line.substr(name + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

bool hasEnded(const std::vector<std::string>& state) {
  return state.empty() || state[0] == "Z" || state[0] == "X";
}

} // namespace

std::vector<pid_t> childrenOf(pid_t process) {
  std::vector<pid_t> children;
  const std::string threads = folderOf(process) + "task";
  DIR* const folder = opendir(threads.c_str());
  while (const dirent* thread = folder ? readdir(folder) : nullptr) {
    if (thread->d_name[0] == '.')
      continue;
    std::istringstream those(contentOf(threads + "/" + thread->d_name + "/children"));
    children.insert(children.end(), std::istream_iterator<pid_t>(those), {});
  }
  if (folder)
    closedir(folder);
  return children;
}

bool isAlive(pid_t process) {
  return !hasEnded(stateOf(process));
}

std::string processName(pid_t process) {
  std::string name = contentOf(folderOf(process) + "comm");
  if (!name.empty() && name.back() == '\n')
    name.pop_back();
  return name;
}

std::string environmentOf(pid_t process, const char* name) {
  std::istringstream all(contentOf(folderOf(process) + "environ"));
  const std::string begin = std::string(name) + "=";
  for (std::string each; std::getline(all, each, '\0');)
    if (each.starts_with(begin))
      return each.substr(begin.size());
  return "";
}

bool waitsForLock(pid_t process) {
  return contentOf(folderOf(process) + "syscall").starts_with(std::to_string(SYS_futex) + " ");
}

int endOf(pid_t process) {
  constexpr size_t exitCode = 52 - 3; // the state is the third field
  const std::vector<std::string> state = stateOf(process);
  return state.size() > exitCode && state[0] == "Z" ? std::stoi(state[exitCode]) : -1;
}

} // namespace strata::cluster

// Processes by posix_spawn; their memory by a small program of ours that starts them in turn.
#include "benchmarks/processes.h"

#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace strata::bench {

int execute(const Words& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (output >= 0)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int refused = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (refused || waitpid(child, &status, 0) != child)
    return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

double seconds(const Words& words) {
  auto begin = std::chrono::steady_clock::now();
  execute(words);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double peakMemory(const Words& words) {
  int ends[2];
  if (pipe(ends) != 0)
    return -1;
  Words all{STRATA_PEAK_MEMORY};
  all.insert(all.end(), words.begin(), words.end());
  int status = execute(all, ends[1]);
  close(ends[1]);
  char text[64] = "";
  ssize_t length = read(ends[0], text, sizeof text - 1);
  close(ends[0]);
  return status == 0 && length > 0 ? std::strtod(text, nullptr) / 1024 : -1;
}

} // namespace strata::bench

// The memory of a command is found by a small program of ours that starts it in turn.
#include "benchmarks/processes.h"

#include "base/process/process.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace strata::bench {

int execute(const Words& words, int output) {
  const ProcessResult ended = runProcess(words, {.output = output});
  std::fputs(ended.errors.c_str(), stderr);
  return ended.problem.empty() ? ended.status : -1;
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

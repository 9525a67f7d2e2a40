// Whole commands: how long the compiler takes to start, against a program linked with the same libraries that does
// nothing, and how much memory a run takes beside its arrays.
#include "benchmarks/bench.h"

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace strata::bench {
namespace {

using Words = std::vector<std::string>;

/// Runs a command with its output dropped, or handed to `output`. Its exit status; -1 when it could not be run.
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
  execute(words, -1);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

const std::string example = STRATA_SOURCE_DIR "/examples/sequoia/vectadd/vectadd.sq";

Row startUp(Bench& bench, const char* what, const Words& words, double most) {
  Row row;
  row.work = what;
  row.peer = "a program linked with the same libraries that returns 0";
  row.method = "processes, from the start to the end of each; files in the page cache";
  row.goal = {Goal::Kind::RatioAtMost, most};
  Words empty{STRATA_EMPTY};
  // Once before the clock runs: the files are read then.
  if (execute(words, -1) != 0 || execute(empty, -1) != 0)
    return failed(row, "'" + words[0] + " " + words[1] + "' did not end with status 0");
  row.pairs = inTurn(bench.pairs, [&] { return seconds(words); }, [&] { return seconds(empty); });
  return row;
}

/// The most memory that a command had resident, in MiB; negative when it failed.
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

Row memory(Bench& bench) {
  constexpr int64_t elements = 32 << 20;
  constexpr double arrays = 3.0 * 4 * elements / (1 << 20), allowed = arrays * 1.1 + 256;
  Row row;
  row.work = "peak memory of strata run, vector add of " + std::to_string(elements) + " floats";
  row.unit = Unit::Mebibytes;
  row.peer = "the arrays, a tenth more, and 256 MiB";
  row.method = "resident at most, as the system counts it; the arrays are 384 MiB; three runs";
  row.goal = {Goal::Kind::RatioAtMost, 1};
  Words words{STRATA_EXECUTABLE, "run",  example,    "--size",    "N=" + std::to_string(elements), "--in",
              "A=random",        "--in", "B=random", "--threads", std::to_string(bench.threads)};
  for (int repetition = 0; repetition < 3; ++repetition) {
    double peak = peakMemory(words);
    if (peak <= 0)
      return failed(row, "'strata run' did not end with status 0");
    row.pairs.ours.push_back(peak);
    row.pairs.peer.push_back(allowed);
  }
  return row;
}

} // namespace

std::vector<Work> commandWorks() {
  return {{"start-check",
           [](Bench& bench) {
             return std::vector<Row>{
                 startUp(bench, "strata check, vector add", {STRATA_EXECUTABLE, "check", example}, 2.5)};
           }},
          {"start-run",
           [](Bench& bench) {
             return std::vector<Row>{startUp(bench, "strata run, vector add of 1000 floats",
                                             {STRATA_EXECUTABLE, "run", example, "--size", "N=1000", "--in", "A=random",
                                              "--in", "B=random", "--threads", std::to_string(bench.threads)},
                                             6)};
           }},
          {"memory", [](Bench& bench) { return std::vector<Row>{memory(bench)}; }}};
}

} // namespace strata::bench

// Runs many strata commands without starting the program for each: most of the time of a small one is the loader's.
// Each line of standard input is a JSON list of words; the command runs in a child of this process, and a line
// {"status", "error"} answers when it has ended, with the text of its standard error and minus the signal that ended
// it. The first argument is the path of the command itself, the second how many seconds a command may take. One command
// at a time.
#include "compiler/driver/command/dispatch.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

[[noreturn]] void run(std::vector<std::string> words, FILE* errors, unsigned seconds) {
  alarm(seconds);
  if (!freopen("/dev/null", "w", stdout) || dup2(fileno(errors), STDERR_FILENO) < 0)
    _exit(2);
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int status = strata::driver::dispatch(static_cast<int>(words.size()), arguments.data());
  fflush(nullptr);
  _exit(status);
}

std::string textOf(FILE* file) {
  std::string text;
  if (fseek(file, 0, SEEK_SET) != 0)
    return text;
  char part[4096];
  while (size_t count = fread(part, 1, sizeof part, file))
    text.append(part, count);
  return text;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: differential_server STRATA SECONDS\n";
    return 2;
  }
  const auto seconds = static_cast<unsigned>(std::stoul(argv[2]));
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words = nlohmann::json::parse(line).get<std::vector<std::string>>();
    words.insert(words.begin(), argv[1]);
    FILE* errors = tmpfile();
    pid_t child = errors ? fork() : -1;
    if (child == 0)
      run(std::move(words), errors, seconds);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0) {
      std::cerr << "a child could not be started\n";
      return 2;
    }
    const int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    std::cout << nlohmann::json{{"status", ended}, {"error", textOf(errors)}}.dump(
                     -1, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
    fclose(errors);
  }
  return 0;
}

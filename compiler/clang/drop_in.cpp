// What a command line does is asked of Clang itself: -### lists the programs that it would start, and one of them
// is a linker or none is. Guessing from the options, such as -c, errs where an option's value looks like an option, or
// where options stand in a file.
#include "compiler/clang/drop_in.h"

#include "compiler/clang/carried_ir.h"
#include "compiler/clang/clang.h"
#include "compiler/clang/process.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace strata::clang {

STRATA_DIAGNOSTIC(cannotBecomeClang, Error, "cc-no-clang", "'{0}' cannot be started: {1}");

namespace {

constexpr int answerSeconds = 60;
constexpr const char* marker = "-L/strata/is/linked"; // a folder that only a linker is told of

/// The words of a command up to "--", and those behind it, which are files whatever they look like.
std::vector<std::string> wordsOf(const DropIn& command) {
  std::vector<std::string> words{programName()};
  // First, so that the user's own choice counts: thread_local variables are each kernel's
  // (runtime/svm/thread_local.cpp).
  words.insert(words.end(), {"--start-no-unused-arguments", "-femulated-tls", "--end-no-unused-arguments"});
  if (command.isCxx)
    words.emplace_back("--driver-mode=g++");
  const auto end = std::find(command.arguments.begin(), command.arguments.end(), "--");
  words.insert(words.end(), command.arguments.begin(), end);
  for (auto file = end == command.arguments.end() ? end : end + 1; file != command.arguments.end(); ++file)
    words.push_back(file->starts_with("-") ? "./" + *file : *file);
  return words;
}

} // namespace

Plan planOf(const DropIn& command) {
  std::vector<std::string> words = wordsOf(command);
  words.insert(words.begin() + 1, {"-###", marker});
  const std::string answer = runProcess(words, answerSeconds).errors;
  const std::string told = std::string("\"") + marker + "\"";
  Plan plan;
  for (size_t begin = 0; begin < answer.size();) {
    const size_t end = std::min(answer.find('\n', begin), answer.size());
    const std::string_view line(answer.data() + begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(" \""))
      continue;
    plan.hasLines |= line.find("\"-debug-info-kind=") != line.npos;
    // With -r a linker joins objects, and what they need comes later.
    if (line.find(told) != line.npos && line.find("\"-r\"") == line.npos) {
      plan.links = true;
      plan.linker = line.substr(2, line.find('"', 2) - 2);
    }
  }
  return plan;
}

void become(const DropIn& command, const Plan& plan, DiagnosticEngine& diagnostics) {
  std::vector<std::string> words = wordsOf(command);
  // The user's own folders and libraries come first. Nothing is said of what turns out not to be needed.
  words.emplace_back("--start-no-unused-arguments");
  words.emplace_back("-fstack-clash-protection"); // a work function that needs more stack than it has shall be noticed
  for (const std::string& folder : command.includeFolders)
    words.insert(words.end(), {"-isystem", folder});
  if (!command.plugin.empty()) {
    // Line numbers and names for messages, which the code that is not carried does without.
    words.insert(words.begin() + 1, {"--start-no-unused-arguments", "-gline-tables-only", "-fno-discard-value-names",
                                     "--end-no-unused-arguments"});
    words.emplace_back("-fpass-plugin=" + command.plugin);
    if (plan.hasLines)
      unsetenv(linesVariable);
    else
      setenv(linesVariable, "strip", 1);
  }
  if (plan.links) {
    words.insert(words.end(), {"-L" + command.libraryFolder, "-Wl,--push-state,--as-needed"});
    words.insert(words.end(), command.libraries.begin(), command.libraries.end());
    words.emplace_back("-Wl,--pop-state");
    if (!command.linker.empty()) {
      words.emplace_back("--ld-path=" + command.linker);
      setenv(linkerVariable, plan.linker.c_str(), 1);
    }
  }
  words.emplace_back("--end-no-unused-arguments");
  std::vector<char*> arguments;
  for (std::string& word : words)
    arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  execvp(arguments.front(), arguments.data());
  diagnostics.report(cannotBecomeClang, {}, words.front(), std::strerror(errno))
      .help("install the package clang-19, or set STRATA_CLANG to the program's path");
}

} // namespace strata::clang

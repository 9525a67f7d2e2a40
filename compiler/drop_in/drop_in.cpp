// Clang's command line is the user's, with words of ours before and behind it that count only where Clang has a use for
// them. Nothing is guessed but which linker is asked for, and whether line numbers are.
#include "compiler/drop_in/drop_in.h"

#include "compiler/drop_in/link_options.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <unistd.h>

namespace strata::drop_in {

STRATA_DIAGNOSTIC(cannotBecomeClang, Error, "cc-no-clang", "'{0}' cannot be started: {1}");

namespace {

/// The option by which Clang takes the processor of this computer's architecture.
#if defined(__x86_64__)
const std::string processorOption = "-march=";
#else
const std::string processorOption = "-mcpu=";
#endif

/// The words of a command up to "--", and those behind it, which are files whatever they look like.
std::vector<std::string> wordsOf(const DropIn& command) {
  std::vector<std::string> words{clangName()};
  // First, so that the user's own choice counts: thread_local variables are each kernel's
  // (runtime/svm/thread_local.cpp).
  words.insert(words.end(), {"--start-no-unused-arguments", "-femulated-tls"});
  if (!command.cpu.empty())
    words.push_back(processorOption + command.cpu);
  words.emplace_back("--end-no-unused-arguments");
  if (command.isCxx)
    words.emplace_back("--driver-mode=g++");
  const auto end = std::find(command.arguments.begin(), command.arguments.end(), "--");
  words.insert(words.end(), command.arguments.begin(), end);
  for (auto file = end == command.arguments.end() ? end : end + 1; file != command.arguments.end(); ++file)
    words.push_back(file->starts_with("-") ? "./" + *file : *file);
  return words;
}

/// What of a command line matters here.
struct Asked {
  std::string linker = "ld";   // the one that Clang would start
  bool hasLines = false;       // line numbers in the code
  bool writesIr = false;       // as text or bitcode
  bool isForProcessor = false; // a processor, or what it has, is chosen
};

/// Whether an option adds instructions to those that the processor has, or takes some away: -mavx2, -mno-fma.
bool isFeature(std::string_view word) {
  std::string_view beginnings =
      "3dnow adx aes amx apx avx bmi cmpccxadd crc32 cx16 egpr evex f16c fma general-regs-only gfni kl lwp lzcnt mmx "
      "movbe movdir pclmul popcnt prfchw rdrnd rdseed sahf sha sm3 sm4 sse ssse tbm vaes vpclmul widekl xop";
  if (!word.starts_with("-m"))
    return false;
  word.remove_prefix(word.starts_with("-mno-") ? 5 : 2);
  while (!beginnings.empty()) {
    const std::string_view each = beginnings.substr(0, beginnings.find(' '));
    beginnings.remove_prefix(std::min(beginnings.size(), each.size() + 1));
    if (word.starts_with(each))
      return true;
  }
  return false;
}

bool consume(std::string_view& word, std::string_view front) {
  if (!word.starts_with(front))
    return false;
  word.remove_prefix(front.size());
  return true;
}

Asked askedFor(const std::vector<std::string>& words) {
  Asked asked;
  for (std::string_view word : words) {
    if (consume(word, "-fuse-ld="))
      asked.linker = word.find('/') != word.npos    ? std::string(word)
                     : word.empty() || word == "ld" ? "ld"
                                                    : "ld." + std::string(word);
    else if (consume(word, "--ld-path="))
      asked.linker = word;
    else if (word.starts_with("-g") && !word.starts_with("-gcc") && !word.starts_with("-gdwarf"))
      asked.hasLines = word != "-g0";
    else if (word.starts_with("-gdwarf"))
      asked.hasLines = true;
    else if (word.starts_with("-march=") || word.starts_with("-mcpu=") || isFeature(word))
      asked.isForProcessor = true;
    else if (word == "-emit-llvm")
      asked.writesIr = true;
  }
  return asked;
}

/// The file that a command's name stands for; empty where there is none.
std::filesystem::path programOf(const std::string& name) {
  if (name.find('/') != name.npos)
    return name;
  const char* const given = std::getenv("PATH");
  std::string_view folders = given ? given : "";
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    if (access(path.c_str(), X_OK) == 0)
      return path;
  }
  return {};
}

/// A linker that comes with Clang, as lld does, is that of Clang's own version.
std::string besideClang(const std::string& linker) {
  std::error_code problem;
  const std::filesystem::path clang = std::filesystem::canonical(programOf(clangName()), problem);
  if (linker.find('/') != linker.npos || problem)
    return linker;
  const std::filesystem::path path = clang.parent_path() / linker;
  return access(path.c_str(), X_OK) == 0 ? path.string() : linker;
}

/// One text of all words, a line each.
std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : "\n") + word;
  return text;
}

} // namespace

std::string clangName() {
  const char* given = std::getenv("STRATA_CLANG");
  return given && *given ? given : "clang-19";
}

void become(const DropIn& command, DiagnosticEngine& diagnostics) {
  std::vector<std::string> words = wordsOf(command);
  const Asked asked = askedFor(command.expanded);
  // The user's own folders and libraries come first. Nothing is said of what turns out not to be needed.
  words.emplace_back("--start-no-unused-arguments");
  words.emplace_back("-fstack-clash-protection"); // a work function that needs more stack than it has shall be noticed
  for (const std::string& folder : command.includeFolders)
    words.insert(words.end(), {"-isystem", folder});
  if (!asked.writesIr) { // IR that is written as such is what would be carried
    // Line numbers and names for messages, which the code that is not carried does without.
    words.insert(words.begin() + 1, {"--start-no-unused-arguments", "-gline-tables-only", "-fno-discard-value-names",
                                     "--end-no-unused-arguments"});
    words.emplace_back("-fpass-plugin=" + command.plugin);
  }
  if (asked.hasLines)
    unsetenv(linesVariable);
  else
    setenv(linesVariable, "strip", 1);
  if (asked.isForProcessor || !command.cpu.empty())
    setenv(statedVariable, "1", 1);
  else
    unsetenv(statedVariable);
  words.emplace_back("--ld-path=" + command.linker);
  setenv(linkerVariable, besideClang(asked.linker).c_str(), 1);
  setenv(librariesVariable, lines(command.libraries).c_str(), 1);
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

} // namespace strata::drop_in

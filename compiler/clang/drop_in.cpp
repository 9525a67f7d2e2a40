// Clang's command line is the user's, with words of ours before and behind it that count only where Clang has a use for
// them. Nothing is guessed but which linker is asked for, and whether line numbers are.
#include "compiler/clang/drop_in.h"

#include "compiler/clang/carried_ir.h"
#include "compiler/clang/clang.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/StringSaver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace strata::clang {

STRATA_DIAGNOSTIC(cannotBecomeClang, Error, "cc-no-clang", "'{0}' cannot be started: {1}");

namespace {

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

/// What of a command line matters here, those in files of arguments included.
struct Asked {
  std::string linker = "ld"; // the one that Clang would start
  bool hasLines = false;     // line numbers in the code
  bool writesIr = false;     // as text or bitcode
};

Asked askedFor(const std::vector<std::string>& arguments) {
  llvm::SmallVector<const char*> words;
  for (const std::string& word : arguments)
    words.push_back(word.c_str());
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::cl::ExpandResponseFiles(saver, llvm::cl::TokenizeGNUCommandLine, words);
  Asked asked;
  for (llvm::StringRef word : words) {
    if (word.consume_front("-fuse-ld="))
      asked.linker = word.contains('/') ? word.str() : word.empty() || word == "ld" ? "ld" : "ld." + word.str();
    else if (word.consume_front("--ld-path="))
      asked.linker = word.str();
    else if (word.starts_with("-g") && !word.starts_with("-gcc") && !word.starts_with("-gdwarf"))
      asked.hasLines = word != "-g0";
    else if (word.starts_with("-gdwarf"))
      asked.hasLines = true;
    else if (word == "-emit-llvm")
      asked.writesIr = true;
  }
  return asked;
}

/// A linker that comes with Clang, as lld does, is that of Clang's own version.
std::string besideClang(const std::string& linker) {
  auto clang = llvm::sys::findProgramByName(programName());
  llvm::SmallString<256> path;
  if (linker.find('/') != linker.npos || !clang || llvm::sys::fs::real_path(*clang, path))
    return linker;
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, linker);
  return llvm::sys::fs::can_execute(path) ? std::string(path) : linker;
}

} // namespace

void become(const DropIn& command, DiagnosticEngine& diagnostics) {
  std::vector<std::string> words = wordsOf(command);
  const Asked asked = askedFor(command.arguments);
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
  words.emplace_back("--ld-path=" + command.linker);
  setenv(linkerVariable, besideClang(asked.linker).c_str(), 1);
  setenv(librariesVariable, llvm::join(command.libraries, "\n").c_str(), 1);
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

// The options of GNU ld and lld that take a value as a word of its own are listed here; all other words that do not
// begin with a dash are files.
#include "compiler/linking/linker_line.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace strata::linking {

namespace {

bool takesValue(llvm::StringRef word) {
  static const llvm::StringSet<> options = {"-o",
                                            "--output",
                                            "-z",
                                            "-m",
                                            "-T",
                                            "--script",
                                            "-e",
                                            "--entry",
                                            "-h",
                                            "-soname",
                                            "--soname",
                                            "-rpath",
                                            "--rpath",
                                            "-rpath-link",
                                            "-y",
                                            "--rpath-link",
                                            "-I",
                                            "-dynamic-linker",
                                            "--dynamic-linker",
                                            "-plugin",
                                            "--plugin",
                                            "-u",
                                            "--undefined",
                                            "-Map",
                                            "--Map",
                                            "-a",
                                            "-A",
                                            "-b",
                                            "--format",
                                            "-c",
                                            "-G",
                                            "-R",
                                            "--just-symbols",
                                            "-Y",
                                            "-F",
                                            "-f",
                                            "--auxiliary",
                                            "--filter",
                                            "--defsym",
                                            "-defsym",
                                            "-init",
                                            "--init",
                                            "-fini",
                                            "--fini",
                                            "--sysroot",
                                            "--wrap",
                                            "-wrap",
                                            "-Ttext",
                                            "-Tdata",
                                            "-Tbss",
                                            "--version-script",
                                            "-version-script",
                                            "--dynamic-list",
                                            "-assert",
                                            "--oformat",
                                            "-plugin-opt",
                                            "--plugin-opt",
                                            "-retain-symbols-file",
                                            "--retain-symbols-file"};
  return options.contains(word);
}

/// The words with those of response files in place.
std::vector<std::string> expanded(const std::vector<std::string>& arguments) {
  llvm::SmallVector<const char*> words;
  for (const std::string& word : arguments)
    words.push_back(word.c_str());
  llvm::BumpPtrAllocator allocator;
  llvm::StringSaver saver(allocator);
  llvm::cl::ExpandResponseFiles(saver, llvm::cl::TokenizeGNUCommandLine, words);
  return std::vector<std::string>(words.begin(), words.end());
}

} // namespace

std::vector<std::string> linkedFiles(const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = expanded(arguments);
  std::vector<std::string> folders, found;
  const auto value = [&](size_t& at, size_t prefix) {
    return words[at].size() > prefix ? words[at].substr(prefix) : at + 1 < words.size() ? words[++at] : std::string();
  };
  // Folders count for the libraries before them, too.
  for (size_t at = 0; at < words.size(); ++at)
    if (llvm::StringRef(words[at]).starts_with("-L"))
      folders.push_back(value(at, 2));
    else if (takesValue(words[at]))
      ++at;
  bool isStatic = false;
  for (size_t at = 0; at < words.size(); ++at) {
    const llvm::StringRef word = words[at];
    if (word.starts_with("-l")) {
      std::string name = value(at, 2);
      for (const std::string& folder : folders) {
        const std::string shared = folder + "/lib" + name + ".so", archive = folder + "/lib" + name + ".a";
        if (!isStatic && llvm::sys::fs::exists(shared))
          break;
        if (llvm::sys::fs::exists(archive)) {
          found.push_back(archive);
          break;
        }
      }
    } else if (word.starts_with("-L"))
      value(at, 2);
    else if (takesValue(word))
      ++at;
    else if (word == "-static" || word == "-Bstatic" || word == "-dn" || word == "-non_shared")
      isStatic = true;
    else if (word == "-Bdynamic" || word == "-dy" || word == "-call_shared")
      isStatic = false;
    else if (!word.starts_with("-"))
      found.push_back(word.str());
  }
  return found;
}

/// Whether Clang adds such a word behind what the user links.
static bool isOfLanguage(llvm::StringRef word) {
  static const llvm::StringSet<> libraries = {"-lstdc++", "-lc++",     "-lm",           "-lgcc",       "-lgcc_s",
                                              "-lgcc_eh", "-lc",       "-lpthread",     "-lrt",        "-ldl",
                                              "-lunwind", "-lresolv",  "-lc++abi",      "--as-needed", "--no-as-needed",
                                              "-Bstatic", "-Bdynamic", "--start-group", "--end-group"};
  const llvm::StringRef file = llvm::sys::path::filename(word);
  return libraries.contains(word) || (file.starts_with("crt") && file.ends_with(".o"));
}

std::vector<std::string> withLibraries(std::vector<std::string> arguments, const std::string& libraries) {
  llvm::SmallVector<llvm::StringRef> words;
  llvm::StringRef(libraries).split(words, '\n', -1, /*KeepEmpty=*/false);
  auto where = arguments.end();
  while (where != arguments.begin() && isOfLanguage(where[-1]))
    --where;
  std::vector<std::string> added;
  for (llvm::StringRef word : words)
    added.push_back(word.str());
  arguments.insert(where, added.begin(), added.end());
  return arguments;
}

bool joinsObjects(const std::vector<std::string>& arguments) {
  for (const std::string& word : expanded(arguments))
    if (word == "-r" || word == "-i" || word == "--relocatable" || word == "-Ur")
      return true;
  return false;
}

} // namespace strata::linking

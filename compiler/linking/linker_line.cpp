// The options of GNU ld and lld that take a value as a word of its own are listed here; all other words that do not
// begin with a dash are files.
#include "compiler/linking/linker_line.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <initializer_list>
#include <optional>

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

/// What a word says behind one of these beginnings, or the word after it where the beginning is all; nothing for other
/// words. `at` then is the last word of it.
static std::optional<std::string> valueOf(const std::vector<std::string>& words, size_t& at,
                                          std::initializer_list<llvm::StringRef> beginnings) {
  for (const llvm::StringRef beginning : beginnings) {
    llvm::StringRef word = words[at];
    if (!word.consume_front(beginning))
      continue;
    // "--library=NAME" and "--library NAME", but no other word that begins so; "-lNAME".
    const bool isLong = beginning.size() > 2;
    if (isLong && word.consume_front("="))
      return word.str();
    if (!word.empty())
      return isLong ? std::nullopt : std::optional(word.str());
    return at + 1 < words.size() ? words[++at] : std::string();
  }
  return std::nullopt;
}

std::vector<std::string> linkedFiles(const std::vector<std::string>& arguments, bool withShared) {
  const std::vector<std::string> words = expanded(arguments);
  std::vector<std::string> folders, found;
  // Folders count for the libraries before them, too.
  for (size_t at = 0; at < words.size(); ++at)
    if (const auto folder = valueOf(words, at, {"--library-path", "-L"}))
      folders.push_back(*folder);
    else if (takesValue(words[at]))
      ++at;
  bool isStatic = false;
  const auto addLibrary = [&](llvm::StringRef name) {
    for (const std::string& folder : folders) {
      const std::string file = folder + "/" + name.substr(1).str(), shared = folder + "/lib" + name.str() + ".so",
                        archive = folder + "/lib" + name.str() + ".a";
      if (name.starts_with(":")) {
        if (!llvm::sys::fs::exists(file))
          continue;
        if (withShared || !llvm::sys::path::filename(file).contains(".so"))
          found.push_back(file);
        return;
      }
      if (!isStatic && llvm::sys::fs::exists(shared)) {
        if (withShared)
          found.push_back(shared);
        return;
      }
      if (llvm::sys::fs::exists(archive)) {
        found.push_back(archive);
        return;
      }
    }
  };
  for (size_t at = 0; at < words.size(); ++at) {
    const llvm::StringRef word = words[at];
    if (valueOf(words, at, {"--library-path", "-L"}))
      continue;
    if (const auto library = valueOf(words, at, {"--library", "-l"}))
      addLibrary(*library);
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

std::vector<std::string> replacedSymbols(const std::vector<std::string>& arguments) {
  const std::vector<std::string> words = expanded(arguments);
  std::vector<std::string> found;
  for (size_t at = 0; at < words.size(); ++at)
    if (const auto symbol = valueOf(words, at, {"--wrap", "-wrap"}))
      found.push_back(*symbol);
    else if (const auto definition = valueOf(words, at, {"--defsym", "-defsym"}))
      found.push_back(definition->substr(0, definition->find('=')));
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

std::vector<std::string> withObjects(std::vector<std::string> arguments, const std::vector<std::string>& objects) {
  size_t behind = 0;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const llvm::StringRef word = arguments[at];
    llvm::file_magic kind;
    if (takesValue(word))
      ++at;
    else if (!word.starts_with("-") && !isOfLanguage(word) && !llvm::identify_magic(word, kind) &&
             (kind == llvm::file_magic::elf_relocatable || kind == llvm::file_magic::bitcode))
      behind = at + 1;
  }
  arguments.insert(arguments.begin() + static_cast<ptrdiff_t>(behind), objects.begin(), objects.end());
  return arguments;
}

bool joinsObjects(const std::vector<std::string>& arguments) {
  for (const std::string& word : expanded(arguments))
    if (word == "-r" || word == "-i" || word == "--relocatable" || word == "-Ur")
      return true;
  return false;
}

} // namespace strata::linking

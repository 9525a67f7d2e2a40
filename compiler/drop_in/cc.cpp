// strata cc and strata c++: Clang with the headers and libraries of stream programs (docs/svm.md) and of dataflow
// graphs (docs/hpvm.md) at hand. All options but ours go to Clang untouched, so that they stand in for clang and
// clang++ in any build.
#include "compiler/drop_in/cc.h"

#include "compiler/drop_in/installation.h"
#include "compiler/drop_in/link_options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

namespace strata::drop_in {

STRATA_DIAGNOSTIC(unknownForm, Error, "cc-unknown-form", "there is no form '{0}' of the library of streams");
STRATA_DIAGNOSTIC(noSvmLibrary, Error, "cc-no-library", "the library '{0}' is not beside this strata");

namespace {

constexpr std::string_view formOption = "--svm=";
/// Options of ours that tell the link something, each with the variable of the environment that takes it there.
constexpr std::pair<std::string_view, const char*> linkOptions[] = {
    {"--machine=", machineVariable}, {"--map=", mappingVariable},  {"--graphs=", graphsVariable},
    {"--cpu=", processorVariable},   {"--record", recordVariable}, {"--time-passes", timeVariable}};

constexpr const char* help =
    R"(strata cc compiles and links C programs with streams and kernels, or with dataflow graphs (HPVM), and any other, with Clang.
strata c++ does it for C++.

  strata cc [--svm=FORM] [--machine=NAME] [--map=FILE] [--cpu=NAME] [--graphs=FILE] [--record] [--time-passes]
            CLANG'S ARGUMENTS…

A first program (docs/svm.md explains it; docs/hpvm.md has one with a graph):
  strata cc -O2 amplifier.c -o amplifier
  ./amplifier

  --svm=library   links the library as it is (the default)
  --svm=checked   links the library that looks after every rule of the interface: a program that breaks one ends with a
                  message at the line of the call. STRATA_SVM=checked in the environment does that for a program that is
                  linked already
  --machine=NAME  the machine that graphs are placed on when a program is linked: a name of strata machine --list, or a
                  file. Without it the mapping's, else $STRATA_MACHINE, else this computer
  --map=FILE      where the nodes of graphs go on it (docs/hpvm.md); else $STRATA_MAP, else what is found to fit
  --cpu=NAME      the processor that the program is for: native, which is this computer's, x86-64-v2, x86-64-v3, x86-64-v4,
                  or another name that Clang takes behind -march=. It compiles files as -march=NAME does; when a program is
                  linked, graphs become code for it, which older processors refuse with a message. Without it, graphs become
                  code for the processor that their files were compiled for by -march= and the like, else for this computer's
  --graphs=FILE   writes the program that the graphs become, in the dialect, to a file that strata run takes
  --record        has graphs note when each of their nodes begins and ends: a program that is linked so writes that to the
                  file that STRATA_RECORD names when it runs, for strata show, and sums where STRATA_STATS is text, json or
                  json:FILE
  --time-passes   how long each part of the work on graphs takes when a program is linked, on standard error
  --help          this text, when it is the only argument; Clang's own is behind -help

All else goes to Clang as it stands: several files, -c, -S, -E, -o, -g, -O3, -I, -D, -l, -###, --version, @FILE, … What is
added: the folders of our headers, behind the program's own; in each object its code as LLVM IR, with line numbers, in a
section that linked programs do not have; -fstack-clash-protection, so that a work function that uses up its stack is
noticed; -femulated-tls, so that thread_local variables are each kernel's; and when a program or shared library is
linked, the code of its dataflow graphs, and the libraries of streams and of graphs with what they need, behind
everything else and only as far as they are used. Messages and exit status are Clang's, but for those of graphs. In a
build, it stands where a compiler does: make CC="strata cc" CXX="strata c++".

In the environment:
  STRATA_CLANG    the Clang to use, instead of clang-19
  STRATA_MACHINE  the machine, where neither --machine= nor the mapping names one
  STRATA_MAP, STRATA_GRAPHS
                  what --map= and --graphs= say
  STRATA_REMARKS  when it is set, the link tells what graphs could not be made fast, and why
)";

/// Takes the options for the link out of the arguments, into the environment.
void takeLinkOptions(std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  const auto isOurs = [](const std::string& word) {
    for (const auto& [option, variable] : linkOptions)
      if (option.ends_with("=") ? word.starts_with(option) : word == option) {
        setenv(variable, option.ends_with("=") ? word.c_str() + option.size() : "1", 1);
        return true;
      }
    return false;
  };
  arguments.erase(std::remove_if(arguments.begin(), end, isOurs), end);
}

/// The word of --svm=, which is taken out of the arguments; the last one counts. Nothing when there is no such form
/// (reported).
std::optional<std::string> takeForm(const CommandLine& line, std::vector<std::string>& arguments,
                                    DiagnosticEngine& diagnostics) {
  std::string form = "library";
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  for (auto word = arguments.begin(); word != end; ++word)
    if (word->starts_with(formOption)) {
      form = word->substr(formOption.size());
      if (form == "library" || form == "checked")
        continue;
      diagnostics.report(unknownForm, line.word(2 + static_cast<size_t>(word - arguments.begin())), form)
          .help("there are: library, checked");
      return std::nullopt;
    }
  arguments.erase(std::remove_if(arguments.begin(), end, [](auto& word) { return word.starts_with(formOption); }), end);
  return form;
}

} // namespace

const char* ccHelp() {
  return help;
}

bool needsCompiler(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& word) {
    return word.starts_with("@") || word == "--help" || word.ends_with(".ll") || word.ends_with(".bc");
  });
}

std::optional<DropIn> ccCommand(const CommandLine& line, const std::vector<std::string>& arguments, bool isCxx,
                                DiagnosticEngine& diagnostics) {
  DropIn command;
  command.arguments = arguments;
  command.isCxx = isCxx;
  const std::optional<std::string> form = takeForm(line, command.arguments, diagnostics);
  if (!form)
    return std::nullopt;
  takeLinkOptions(command.arguments);
  if (const char* cpu = std::getenv(processorVariable))
    command.cpu = cpu;
  command.expanded = command.arguments;
  // In a build folder the headers of machines stand apart from those that are written by hand.
  for (const char* header : {"include/svm.h", "include/svm/pca.h"}) {
    const std::string found = findAbove(header);
    if (found.empty())
      continue;
    const std::string folder = found.substr(0, found.size() - std::string_view(header).size()) + "include";
    if (std::find(command.includeFolders.begin(), command.includeFolders.end(), folder) == command.includeFolders.end())
      command.includeFolders.push_back(folder);
  }
  const std::string library = *form == "checked" ? "strata-svm-checked" : "strata-svm";
  for (const auto& [file, path] :
       std::initializer_list<std::pair<std::string, std::string*>>{{"lib" + library + ".a", &command.libraryFolder},
                                                                   {"strata-carry-ir.so", &command.plugin},
                                                                   {"strata-ld", &command.linker}}) {
    *path = findAbove("lib/" + file);
    if (path->empty()) {
      diagnostics.report(noSvmLibrary, {}, file).help("run strata from its installation or from its build folder");
      return std::nullopt;
    }
  }
  command.libraryFolder = std::filesystem::path(command.libraryFolder).parent_path().string();
  // Once more behind hwloc, which in a static program wants something of it.
  command.libraries = {"-L" + command.libraryFolder,
                       "--push-state",
                       "--as-needed",
                       "-lstrata-hpvm",
                       "-l" + library,
                       "-lstrata",
                       "-lyaml-cpp",
                       "-lhwloc",
                       "-l" + library,
                       "-lstdc++",
                       "-lm",
                       "-lpthread",
                       "--pop-state"};
  return command;
}

} // namespace strata::drop_in

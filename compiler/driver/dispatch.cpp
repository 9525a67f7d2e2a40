// The strata command: its subcommands, their options and help. What they do is in the other files of this folder.
#include "compiler/driver/dispatch.h"

#include "base/data/unfinished.h"
#include "base/source/characters.h"
#include "compiler/driver/command_options.h"
#include "compiler/driver/graph_pictures.h"
#include "compiler/driver/help.h"
#include "compiler/driver/hpvm_ir.h"
#include "compiler/driver/last_resort.h"
#include "compiler/driver/notations.h"
#include "compiler/driver/program_parts.h"
#include "runtime/core/runtime.h"

#include <CLI/CLI.hpp>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <sstream>

using namespace strata;
using namespace strata::driver;

STRATA_DIAGNOSTIC(badUsage, Error, "driver-usage", "{0}");

namespace {

/// Where machine descriptions are found: beside the installed program, or in the source tree that it was built in,
/// after $STRATA_MACHINES.
std::vector<std::string> machinePath(const char* program) {
  std::vector<std::string> path;
  if (const char* given = std::getenv("STRATA_MACHINES"))
    path.push_back(given);
  std::string self = llvm::sys::fs::getMainExecutable(program, reinterpret_cast<void*>(&machinePath));
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(self));
  llvm::SmallString<256> installed(folder);
  llvm::sys::path::append(installed, "..", "share", "strata", "machines");
  path.push_back(std::string(installed));
  // build/bin, build/asan/bin, …: the first folder upwards that holds machines.
  for (int levels = 0; levels < 5 && !folder.empty(); ++levels) {
    llvm::SmallString<256> machines(folder);
    llvm::sys::path::append(machines, "machines");
    if (llvm::sys::fs::is_directory(machines)) {
      path.push_back(std::string(machines));
      break;
    }
    llvm::sys::path::remove_filename(folder);
  }
  return path;
}

std::vector<std::string> optionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
  return names;
}

/// The first word of a command line that looks like a long option of the command and is none; 0 where there is none.
unsigned unknownOption(const CLI::App& command, int argc, char** argv) {
  const std::vector<std::string> names = optionsOf(command);
  for (int i = 2; i < argc; ++i) {
    const std::string_view word(argv[i]);
    if (word.starts_with("--") && std::find(names.begin(), names.end(), word.substr(0, word.find('='))) == names.end())
      return static_cast<unsigned>(i);
  }
  return 0;
}

/// The option that a bare NAME=VALUE was probably meant for; nothing when the word is that of a file.
std::string optionOf(const std::string& word) {
  const size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || llvm::sys::fs::exists(word) ||
      !std::all_of(word.begin(), word.begin() + static_cast<ptrdiff_t>(equals), isWordCharacter))
    return "";
  const std::string value = word.substr(equals + 1);
  const bool isNumber = !value.empty() && std::all_of(value.begin(), value.end(), isDigit);
  return isNumber ? "--size" : "--in";
}

int wordAt(const std::string& word, int argc, char** argv) {
  return static_cast<int>(std::find(argv, argv + argc, std::string_view(word)) - argv);
}

/// A command line that is not understood: what is wrong, and where to read what is right.
int usageError(Session& session, CLI::App& app, int argc, char** argv, std::string what) {
  std::vector<std::string> names;
  for (CLI::App* command : app.get_subcommands({}))
    names.push_back(command->get_name());
  std::string first = argc > 1 ? argv[1] : "";
  bool known = std::find(names.begin(), names.end(), first) != names.end();
  Location where;
  std::string help = "strata --help lists the commands";
  if (!known && !first.empty() && first[0] != '-') {
    what = "there is no command '" + first + "'";
    where = session.commandLine->word(1);
    std::string nearest = nearestName(first, names);
    if (!nearest.empty())
      help = "did you mean '" + nearest + "'? " + help;
  } else if (known) {
    help = "strata " + first + " --help lists its options";
    if (const unsigned at = unknownOption(*app.get_subcommand(first), argc, argv)) {
      const std::string word = std::string(argv[at]).substr(0, std::string_view(argv[at]).find('='));
      what = "strata " + first + " has no option '" + word + "'";
      where = session.commandLine->word(at);
      const std::string nearest = nearestName(word, optionsOf(*app.get_subcommand(first)));
      if (!nearest.empty())
        help = "did you mean '" + nearest + "'? " + help;
    }
  } else if (first.empty()) {
    what = "strata is called with a command";
    help = "strata --help lists the commands, and has a first one to try";
  }
  what = what.substr(0, what.find('\n'));
  session.diagnostics.report(badUsage, where, what).help(help);
  session.options.json = std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
  return finish(session);
}

/// strata help [COMMAND] and strata completion SHELL.
int textCommand(Session& session, Commands& commands) {
  CLI::App& app = *commands.app;
  const Options& options = session.options;
  std::string text;
  if (*commands.completion) {
    text = completionScript(app, options.thing);
  } else {
    const CLI::App* of = nullptr;
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) {
      names.push_back(command->get_name());
      if (names.back() == options.thing)
        of = command;
    }
    if (!of && !options.thing.empty()) {
      const std::string nearest = nearestName(options.thing, names);
      session.diagnostics.report(badUsage, session.commandLine->word(2), "there is no command '" + options.thing + "'")
          .help((nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + "strata help lists the commands");
      return finish(session);
    }
    if (options.isManual)
      text = manualPage(app, of, "strata " STRATA_VERSION);
    else
      text = app.get_formatter()->make_help(of ? of : &app, of ? "strata " + of->get_name() : "strata",
                                            CLI::AppFormatMode::Normal);
  }
  writeText(session, options.output, text);
  return finish(session);
}

} // namespace

int strata::driver::dispatch(int argc, char** argv) {
  installLastResort();
  Session session;
  // For tests of many small programs, of which most of the time would go into LLVM's passes.
  if (const char* level = std::getenv("STRATA_OPTIMIZATION"); level && *level >= '0' && *level <= '3')
    session.options.optimization = static_cast<unsigned>(*level - '0');
  if (llvm::sys::path::filename(argv[0]) == "strata-ld") {
    session.options.compile.machinePath = machinePath(argv[0]);
    return linkCommand(session, {argv + 1, argv + argc});
  }
  if (const std::string_view command = argc > 1 ? argv[1] : ""; command == "cc" || command == "c++") {
    session.commandLine = std::make_unique<CommandLine>(session.sources, std::vector<std::string>(argv, argv + argc));
    return ccCommand(session, {argv + 2, argv + argc}, command == "c++");
  }
  discardUnfinishedOnSignals();
  // What stands behind -- is for the program that is run.
  char** end = std::find(argv, argv + argc, std::string_view("--"));
  if (end != argv + argc)
    session.options.arguments.assign(end + 1, argv + argc);
  const bool passes = end != argv + argc;
  argc = static_cast<int>(end - argv);
  std::vector<std::string> words(argv, argv + argc);
  session.commandLine = std::make_unique<CommandLine>(session.sources, words);
  Options& options = session.options;
  options.compile.machinePath = machinePath(argv[0]);
  // For tests: every pass leaves a program that verifies.
  options.compile.verifyEach = std::getenv("STRATA_VERIFY") != nullptr;

  Commands commands = makeCommands(options);
  CLI::App& app = *commands.app;
  if (hasParts(argc, argv))
    return passes ? usageError(session, app, argc, argv, "arguments behind -- are for one program with a main")
                  : runParts(session, argc, argv, usageError);
  CLI::App* run = commands.run;

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) { // --help, --version
      std::ostringstream text;
      app.exit(error, text);
      writeText(session, "", text.str());
      return finish(session);
    }
    return usageError(session, app, argc, argv, error.what());
  }
  options.command = app.get_subcommands().front()->get_name();
  options.compile.machinePlace = session.commandLine->value("--machine", options.compile.machine);
  options.compile.cpuPlace = session.commandLine->value("--cpu", options.compile.cpu);
  options.compile.targetPlace = session.commandLine->value("--target", options.compile.target);
  for (const std::string& entry : options.entries)
    if (options.compile.entry.empty())
      options.compile.entry = entry;
    else
      options.compile.otherEntries.emplace_back(entry, session.commandLine->value("--entry", entry));
  options.compile.entryPlace = session.commandLine->value("--entry", options.compile.entry);
  if (*run && !options.output.empty() && options.emit.empty())
    return usageError(session, app, argc, argv, "-o goes with --emit; --out writes an argument's array");
  // A bare --stats means the readable form.
  if (run->get_option("--stats")->count() && options.stats.empty())
    options.stats = "text";
  session.diagnostics.enableRemarks(options.remarks);
  if (options.werror)
    session.diagnostics.promoteWarnings("all");
  if (options.interpret && (!options.trace.empty() || !options.timeline.empty()))
    return usageError(session, app, argc, argv,
                      "--trace and --timeline tell of a run on a machine, which --interpret does without");
  if ((*run || *commands.check || *commands.build) && isIrFile(options.compile.program)) {
    CLI::App* command = app.get_subcommands().front();
    for (const CLI::Option* option : command->get_options())
      if (option->count() && !llvm::is_contained({"PROGRAM", "--output", "--color", "--json", "--machine", "--map",
                                                  "--cpu", "--remarks", "--stats"},
                                                 option->get_name()))
        return usageError(session, app, argc, argv,
                          option->get_name() + " is for programs of notations; one in HPVM IR has a main, which takes "
                                               "what stands behind --");
    if (passes && !*run)
      return usageError(session, app, argc, argv, "arguments behind -- are for strata run");
    if (*run && !options.output.empty())
      return usageError(session, app, argc, argv, "-o is for strata build");
    return irCommand(session);
  }
  const llvm::StringRef program = options.compile.program.empty() ? options.thing : options.compile.program;
  if (!(options.compile.includeDirectories.empty() && options.compile.definitions.empty()) &&
      !(descriptionOf(program) && descriptionOf(program)->isPreprocessed) && options.compile.functions.empty() &&
      !(*commands.show && mayHaveGraphs(options.thing)))
    return usageError(session, app, argc, argv,
                      "-I and -D are for " +
                          listed(notationsThat([](const notation::Description& each) { return each.isPreprocessed; })) +
                          " programs, which the C preprocessor reads, and for functions in C");
  for (const std::string& word : options.compile.functions)
    if (const std::string option = optionOf(word); !option.empty()) {
      session.diagnostics
          .report(badUsage, session.commandLine->word(wordAt(word, argc, argv)),
                  "'" + word + "' is no file with functions")
          .help("did you mean " + option + " " + word + "?");
      return finish(session);
    }
  const bool hasMain =
      !options.mains.empty() || (!options.compile.functions.empty() && !takesFunctions(options.compile.program));
  if (passes && !(*run && hasMain))
    return usageError(session, app, argc, argv,
                      "arguments behind -- are for a program with a main: strata run PROGRAM MAIN.c -- …");
  if (*run && hasMain && !options.emit.empty())
    return usageError(session, app, argc, argv, "--emit shows a program without its main");
  if (*run && !hasMain && !options.interface.empty())
    return usageError(session, app, argc, argv,
                      "--interface is how a main calls the program: strata run PROGRAM MAIN.c");
  if (*run && hasMain)
    for (const char* option :
         {"--in", "--out", "--stats", "--trace", "--timeline", "--check", "--interpret", "--repeat", "--threads"})
      if (run->get_option(option)->count())
        return usageError(session, app, argc, argv,
                          std::string(option) + " goes without a main, which does that itself");
  if (*run)
    return hasMain ? runMainCommand(session) : runCommand(session);
  if (*commands.check)
    return checkCommand(session);
  if (*commands.build)
    return buildCommand(session);
  if (*commands.map) {
    options.compile.mappingFormPlace =
        options.compile.mappingTemplate
            ? session.commandLine->word(static_cast<size_t>(wordAt("--template", argc, argv)))
            : session.commandLine->value("--format", options.compile.mappingForm);
    return mapCommand(session);
  }
  if (*commands.instantiate)
    return instantiateCommand(session);
  if (*commands.machine)
    return machineCommand(session);
  if (*commands.show)
    return showCommand(session);
  return textCommand(session, commands);
}

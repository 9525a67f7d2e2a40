// The strata command: its subcommands, their options and help. What they do is in the other files of this folder.
#include "compiler/driver/command/dispatch.h"
#include "compiler/driver/command/commands.h"
#include "compiler/driver/run/estimate.h"
#include "compiler/driver/run/run.h"
#include "compiler/driver/run/symbolic.h"
#include "compiler/driver/tune/tune.h"

#include "base/process/unfinished.h"
#include "compiler/driver/command/command_options.h"
#include "compiler/driver/command/graph_pictures.h"
#include "compiler/driver/command/help.h"
#include "compiler/driver/command/hpvm_ir.h"
#include "compiler/driver/command/last_resort.h"
#include "compiler/driver/command/program_parts.h"
#include "compiler/driver/command/usage.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/run/nodes.h"
#include "runtime/core/runtime.h"

#include <CLI/CLI.hpp>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <sstream>

using namespace strata;
using namespace strata::driver;

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
      return misuse(session, session.commandLine->find(options.thing, 2), "there is no command '" + options.thing + "'",
                    (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + "strata help lists the commands");
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
    return passes ? misuse(session, {}, "arguments behind -- are for one program with a main")
                  : runParts(session, argc, argv);
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
    return usageError(session, app, argc, argv, error);
  }
  CLI::App* command = app.get_subcommands().front();
  if (!checkValues(session, *command))
    return statusUserError;
  const auto place = [&](const char* option) { return placeOf(session, *command, option); };
  options.command = command->get_name();
  if (command != run && refuseNodes(session))
    return finish(session);
  options.compile.programPlace =
      session.commandLine->find(options.compile.program.empty() ? options.thing : options.compile.program, 2);
  if (!options.compile.functions.empty())
    options.compile.functionsPlace = session.commandLine->find(options.compile.functions.front(), 2);
  options.compile.mappingPlace = session.commandLine->value("--map", options.compile.mapping);
  options.compile.machinePlace = *commands.machine ? session.commandLine->find(options.compile.machine, 2)
                                                   : session.commandLine->value("--machine", options.compile.machine);
  options.compile.cpuPlace = session.commandLine->value("--cpu", options.compile.cpu);
  options.compile.targetPlace = session.commandLine->value("--target", options.compile.target);
  for (const std::string& entry : options.entries)
    if (options.compile.entry.empty())
      options.compile.entry = entry;
    else
      options.compile.otherEntries.emplace_back(entry, session.commandLine->value("--entry", entry));
  options.compile.entryPlace = session.commandLine->value("--entry", options.compile.entry);
  if (*run && !options.output.empty() && options.emit.empty())
    return misuse(session, place("--output"), "-o goes with --emit; --out writes an argument's array");
  // A bare --stats means the readable form.
  if (run->get_option("--stats")->count() && options.stats.empty())
    options.stats = "text";
  session.diagnostics.enableRemarks(options.remarks);
  if (options.werror)
    session.diagnostics.promoteWarnings("all");
  if (options.interpret && (!options.trace.empty() || !options.timeline.empty()))
    return misuse(session, place(options.trace.empty() ? "--timeline" : "--trace"),
                  "--trace and --timeline tell of a run on a machine, which --interpret does without");
  if ((*run || *commands.check || *commands.build) && isIrFile(options.compile.program)) {
    for (const CLI::Option* option : command->get_options())
      if (option->count() && !llvm::is_contained({"PROGRAM", "--output", "--color", "--json", "--machine", "--map",
                                                  "--cpu", "--remarks", "--stats"},
                                                 option->get_name()))
        return misuse(session, placeOf(session, *command, option->get_name()),
                      option->get_name() + " is for programs of notations; one in HPVM IR has a main, which takes "
                                           "what stands behind --");
    if (passes && !*run)
      return misuse(session, {}, "arguments behind -- are for strata run");
    if (*run && !options.output.empty())
      return misuse(session, place("--output"), "-o is for strata build");
    return irCommand(session);
  }
  if (!checkFilesOfC(session))
    return statusUserError;
  const llvm::StringRef program = options.compile.program.empty() ? options.thing : options.compile.program;
  if (!(options.compile.includeDirectories.empty() && options.compile.definitions.empty()) &&
      !(descriptionOf(program) && descriptionOf(program)->isPreprocessed) && options.compile.functions.empty() &&
      !(*commands.show && mayHaveGraphs(options.thing)))
    return misuse(session, place(options.compile.definitions.empty() ? "-I" : "-D"),
                  "-I and -D are for " +
                      listed(notationsThat([](const notation::Description& each) { return each.isPreprocessed; })) +
                      " programs, which the C preprocessor reads, and for functions in C");
  const bool hasMain =
      !options.mains.empty() || (!options.compile.functions.empty() && !takesFunctions(options.compile.program));
  if (passes && !(*run && hasMain))
    return misuse(session, {}, "arguments behind -- are for a program with a main: strata run PROGRAM MAIN.c -- …");
  if (*run && hasMain && !options.emit.empty())
    return misuse(session, place("--emit"), "--emit shows a program without its main");
  if (*run && !hasMain && !options.interface.empty())
    return misuse(session, place("--interface"),
                  "--interface is how a main calls the program: strata run PROGRAM MAIN.c");
  if (*run && hasMain)
    for (const char* option :
         {"--in", "--out", "--stats", "--trace", "--timeline", "--check", "--interpret", "--repeat", "--threads"})
      if (run->get_option(option)->count())
        return misuse(session, place(option), std::string(option) + " goes without a main, which does that itself");
  if (*run && options.nodes > 1 && (options.interpret || options.compile.target == "interpreter"))
    return misuse(session, place("--nodes"),
                  "--nodes is for what runs on a machine's processors; the interpreter is one process");
  if (*run && options.nodes <= 1 && !options.starter.empty())
    return misuse(session, place("--starter"), "--starter is for several processes: say how many with --nodes");
  if (*run && !hasMain) {
    if (const std::optional<int> ended = startNodes(session, argc, argv))
      return *ended;
    const int status = runCommand(session);
    endNodes();
    return status;
  }
  if (*run)
    return runMainCommand(session);
  if (*commands.check)
    return checkCommand(session);
  if (*commands.build)
    return buildCommand(session);
  if (*commands.map) {
    options.compile.mappingFormPlace = options.compile.mappingTemplate
                                           ? place("--template")
                                           : session.commandLine->value("--format", options.compile.mappingForm);
    return mapCommand(session);
  }
  if (*commands.tune)
    return tuneCommand(session);
  if (*commands.estimate)
    return estimateCommand(session);
  if (*commands.instantiate)
    return instantiateCommand(session);
  if (*commands.machine)
    return machineCommand(session);
  if (*commands.show)
    return showCommand(session);
  return textCommand(session, commands);
}

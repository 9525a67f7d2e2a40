// The strata command: its subcommands, their options and help. What they do is in the other files of this folder.
#include "compiler/driver/commands.h"
#include "compiler/driver/help.h"
#include "compiler/driver/last_resort.h"
#include "runtime/core/runtime.h"

#include <CLI/CLI.hpp>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

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

void addProgram(CLI::App* command, Options& options) {
  command
      ->add_option("PROGRAM", options.compile.program,
                   "a program in Sequoia (.sq), HBIR (.hbir) or the dialect (.mlir)")
      ->required();
  command->add_option("FUNCTIONS", options.compile.functions,
                      "C or C++ files: the functions that an HBIR program calls; the main of a Sequoia program");
  command->add_option("--machine", options.compile.machine,
                      "the machine to map to: a name (see 'strata machine --list') or a .yaml file");
  command->add_option("--map", options.compile.mapping, "the mapping file; without one a mapping is made");
  command->add_option("--entry", options.compile.entry,
                      "the entry point, where the program has several: a task or an instance");
  command
      ->add_option(
          "--size", options.sizes,
          "sizes of arrays, as N=1024,M=16; input files settle sizes too. In HBIR, constants of the data segment")
      ->allow_extra_args(false);
  command
      ->add_option("--in", options.inputs,
                   "data of an argument: A=FILE.npy, A=random[:SEED[:LOW:HIGH]], A=iota, A=zeros, or A=2.5")
      ->allow_extra_args(false);
}

void addMain(CLI::App* command, Options& options) {
  command
      ->add_option("--main", options.mains,
                   "a C or C++ file with the main of a program that calls the entry points; also objects and archives")
      ->allow_extra_args(false);
}

void addReports(CLI::App* command, Options& options) {
  command->add_flag("--remarks", options.remarks, "say what was decided and why");
  command->add_flag("--json", options.json, "errors as JSON, one object a line");
  command->add_flag("--werror", options.werror, "treat warnings as errors");
  command->add_option("--color", options.color, "colours in messages")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

void addEmit(CLI::App* command, Options& options) {
  command->add_option("--emit", options.emit,
                      "stop after a stage and print it: ast (the checked program), svm (logical, can be run again), "
                      "placed, scheduled, llvm, asm; of HBIR programs also groups and layout");
  command->add_option("-o,--output", options.output, "where to write; - is standard output");
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

} // namespace

int main(int argc, char** argv) {
  installLastResort();
  Session session;
  if (const std::string_view command = argc > 1 ? argv[1] : ""; command == "cc" || command == "c++") {
    session.commandLine = std::make_unique<CommandLine>(session.sources, std::vector<std::string>(argv, argv + argc));
    return ccCommand(session, {argv + 2, argv + argc}, command == "c++");
  }
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
  // For tests of many small programs, of which most of the time would go into LLVM's passes.
  if (const char* level = std::getenv("STRATA_OPTIMIZATION"); level && *level >= '0' && *level <= '3')
    options.optimization = static_cast<unsigned>(*level - '0');

  CLI::App app{
      "Strata compiles programs for machines whose memories and processors they can name, maps them, and runs them.\n\n"
      "A first run:\n"
      "  strata run examples/sequoia/vectadd/vectadd.sq --size N=1000000 --in A=random --in B=random --out C=C.npy\n"
      "The same on a simulated machine with explicit local stores:\n"
      "  strata run examples/sequoia/vectadd/vectadd.sq --machine cell --size N=1000000 --in A=random --in B=random "
      "--stats"};
  app.name("strata");
  app.formatter(helpFormatter());
  app.set_help_flag("-h,--help", "this text");
  app.footer(
      "strata COMMAND --help has each command's options and examples; docs/README.md lists what there is to read.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "strata " STRATA_VERSION, "the version");

  CLI::App* run = app.add_subcommand("run", "compile, map and run a program");
  addProgram(run, options);
  run->add_option("--out", options.outputs, "where to write an argument when the program has ended: C=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--repeat", options.repeat, "run so many times after a warm-up; times are of the entry point alone")
      ->check(CLI::Range(1u, 1000000u));
  run->add_option("--threads", options.compile.threads,
                  "threads to use, 1 to " + std::to_string(runtime::mostWorkers) + "; results do not depend on it")
      ->check(CLI::Range(1u, runtime::mostWorkers));
  run->add_option(
         "--stats", options.stats,
         "figures of the run: bytes and moves from memory to memory, runs of leaves; as text, or as one JSON object")
      ->expected(0, 1)
      ->default_str("text")
      ->check([](const std::string& value) {
        return value == "text" || value == "json" || value.rfind("json:", 0) == 0
                   ? ""
                   : "--stats takes nothing, json or json:FILE, not '" + value + "'";
      });
  run->add_option("--scratch", options.scratch,
                  "the folder for files that hold arrays on a machine's disk while the program runs; without it, "
                  "$TMPDIR, else /tmp");
  run->add_option("--trace", options.trace, "write what ran when, in Chrome's trace format");
  run->add_option("--timeline", options.timeline, "write what ran when, as a page that opens by itself (.html)");
  run->add_flag("--check", options.check,
                "also run the program through the interpreter, every access checked, and compare");
  run->add_flag("--interpret", options.interpret, "run through the interpreter alone, copies taken literally");
  addMain(run, options);
  addEmit(run, options);
  addReports(run, options);

  CLI::App* check = app.add_subcommand("check", "report what is wrong with a program and its mapping");
  addProgram(check, options);
  addReports(check, options);

  CLI::App* build =
      app.add_subcommand("build", "compile to a library with a C header for its entry points, or to a program");
  addProgram(build, options);
  build
      ->add_option("-o,--output", options.output,
                   "NAME.o, NAME.a or NAME.so, with NAME.h beside it; another name is a program, which takes --main")
      ->required();
  addMain(build, options);
  build->add_option("--depfile", options.dependencies, "write what the output depends on, as a rule for make");
  addReports(build, options);

  CLI::App* map = app.add_subcommand("map", "write the mapping that is used, ready to edit");
  addProgram(map, options);
  map->add_flag("--template", options.compile.mappingTemplate,
                "write a mapping of the program's every tunable, loop, array and call, with the values left to be "
                "filled in; not with --map")
      ->excludes("--map");
  map->add_option("--format", options.compile.mappingForm,
                  "the form to write a Sequoia mapping in, also to turn the file given with --map into the other one: "
                  "braces (the default) or xml")
      ->check(CLI::IsMember({"braces", "xml"}));
  map->add_option("-o,--output", options.output, "where to write; - is standard output");
  addReports(map, options);

  CLI::App* machine =
      app.add_subcommand("machine", "print a machine's description; without a name, what this computer is");
  machine->add_option("NAME", options.compile.machine,
                      "a name, a .yaml file, or an HBIR program, whose target is then printed");
  machine->add_flag("--list", options.list, "list the machines that are known by name");
  machine->add_flag("--header", options.header,
                    "write the C header that names the machine's memories and processors for stream programs");
  machine->add_option("-o,--output", options.output, "where to write; - is standard output");
  addReports(machine, options);

  CLI::App* show = app.add_subcommand(
      "show",
      "draw a machine, a program with its mapping, a run's trace or a stream program's record, as SVG or as a page "
      "that opens by itself");
  show->add_option("THING", options.thing,
                   "a machine's name, a .yaml file, a program (.sq, .hbir), or a trace or record (.json)")
      ->required();
  show->add_option("--machine", options.compile.machine, "the machine to map a program to");
  show->add_option("--map", options.compile.mapping, "a program's mapping file; without one a mapping is made");
  show->add_option("--entry", options.compile.entry, "a program's entry point, where it has several");
  show->add_option("--size", options.sizes, "a program's sizes, as N=1024,M=16")->allow_extra_args(false);
  show->add_option("--picture", options.picture, "this picture only: tasks, instances or mapping of a Sequoia program");
  show->add_option("-o,--output", options.output,
                   "where to write: FILE.html is a page, FILE.svg one drawing; - is standard output");
  addReports(show, options);

  // Their command lines are Clang's, and have been taken care of.
  app.add_subcommand("cc", "clang, for C programs that include svm.h: its headers and library are found");
  app.add_subcommand("c++", "clang++, likewise");
  finishHelp(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    return usageError(session, app, argc, argv, error.what());
  }
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
  const bool hasMain = !options.mains.empty() || (!options.compile.functions.empty() &&
                                                  !llvm::StringRef(options.compile.program).ends_with(".hbir"));
  if (passes && !(*run && hasMain))
    return usageError(session, app, argc, argv,
                      "arguments behind -- are for a program with a main: strata run PROGRAM MAIN.c -- …");
  if (*run && hasMain && !options.emit.empty())
    return usageError(session, app, argc, argv, "--emit shows a program without its main");
  if (*run && hasMain)
    for (const char* option :
         {"--in", "--out", "--stats", "--trace", "--timeline", "--check", "--interpret", "--repeat", "--threads"})
      if (run->get_option(option)->count())
        return usageError(session, app, argc, argv,
                          std::string(option) + " goes without a main, which does that itself");
  if (*run)
    return hasMain ? runMainCommand(session) : runCommand(session);
  if (*check)
    return checkCommand(session);
  if (*build)
    return buildCommand(session);
  if (*map)
    return mapCommand(session);
  if (*machine)
    return machineCommand(session);
  return showCommand(session);
}

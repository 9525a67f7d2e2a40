// The commands and their options: names, texts, and where their values go.
#include "compiler/driver/command/command_options.h"

#include "base/machine/quantity.h"
#include "compiler/driver/command/help.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/target/registry/registry.h"
#include "runtime/core/runtime.h"

#include "llvm/ADT/StringExtras.h"

namespace strata::driver {

namespace {

using notation::Description;

/// The targets, for help.
std::string targetNames() {
  std::string names;
  for (const target::Target* target : target::allTargets())
    names += (names.empty() ? "" : " or ") + target->name().str() + " (" + target->about().str() + ")";
  return names;
}

std::string joined(const std::vector<std::string>& parts) {
  return llvm::join(parts, "; ");
}

/// "a Sequoia program", of the notations whose programs the C preprocessor reads.
std::string preprocessed() {
  return listed(ofNotations([](const Description& each) { return each.isPreprocessed ? aProgramOf(each) : ""; }));
}

/// "; of HBIR programs also groups and layout".
std::string viewNames() {
  std::string text;
  for (const std::string& views : ofNotations([](const Description& each) {
         return each.views.empty() ? "" : each.name + " programs also " + listed(each.views, "and");
       }))
    text += "; of " + views;
  return text;
}

/// What --format takes: the forms of the notations that have several, and those of targets.
std::vector<std::string> mappingForms() {
  std::vector<std::string> names;
  for (const notation::Notation* notation : notation::allNotations())
    for (const notation::MappingForm& form : notation->description().mappingForms)
      if (notation->description().mappingForms.size() > 1 && !llvm::is_contained(names, form.name))
        names.push_back(form.name);
  for (const target::Target* target : target::allTargets())
    for (const target::Form& form : target->mappingForms())
      names.push_back(form.name.str());
  return names;
}

/// "the form to write a Sequoia mapping in, …: braces (the default) or xml".
std::string formsAbout(const Description& notation) {
  std::vector<std::string> names;
  for (const notation::MappingForm& form : notation.mappingForms)
    names.push_back(form.name + (names.empty() ? " (the default)" : ""));
  if (names.size() < 2)
    return "";
  return "the form to write " + notation.article + " " + notation.name +
         " mapping in, also to turn the file given with --map into the other one: " + listed(names);
}

/// "; of what target array writes: text (…) or binary (…)", of the targets that write something.
std::string targetFormsAbout() {
  std::string text;
  for (const target::Target* target : target::allTargets()) {
    std::vector<std::string> names;
    for (const target::Form& form : target->mappingForms())
      names.push_back(form.name.str() + " (" + form.about.str() + ")");
    if (!names.empty())
      text += "; of what target " + target->name().str() + " writes: " + listed(names);
  }
  return text;
}

/// "how C calls the entry points: plain (…) or sequoia (…); without it sequoia for a Sequoia program, else plain".
std::string interfaceAbout() {
  std::string ways = "how C calls the entry points: plain (sizes, and pointers to contiguous arrays)", without;
  for (const notation::EntryInterface* each : entryInterfaces())
    ways += " or " + each->name + " (" + each->about + ")";
  for (const std::string& own : ofNotations([](const Description& each) {
         return each.interface ? each.interface->name + " for " + aProgramOf(each) + ", " : std::string();
       }))
    without += own;
  return ways + "; without it " + without + (without.empty() ? "" : "else ") + interfaceNames().front();
}

/// What to type first, with a blank line before it.
std::string firstRun() {
  std::string lines = examplesOf("");
  while (!lines.empty() && lines.back() == '\n')
    lines.pop_back();
  return lines.empty() ? "" : "\n\n" + lines;
}

void addPreprocessor(CLI::App* command, Options& options) {
  command
      ->add_option("-I", options.compile.includeDirectories,
                   "a folder in which #include looks, in " + preprocessed() + " and in functions in C")
      ->allow_extra_args(false)
      ->option_text("FOLDER");
  command
      ->add_option("-D", options.compile.definitions,
                   "a macro of " + preprocessed() + " and of functions in C: NAME or NAME=VALUE")
      ->allow_extra_args(false)
      ->option_text("MACRO");
}

void addTarget(CLI::App* command, Options& options) {
  command->add_option("--target", options.compile.target,
                      "what runs the program: " + targetNames() + "; without it, what the machine says, else host");
}

/// `withGraphs`: also programs whose graphs stand in LLVM IR.
void addProgram(CLI::App* command, Options& options, bool withGraphs, bool isLibrary = false) {
  command->add_option("PROGRAM", options.compile.program, "a program in " + programKinds(withGraphs))->required();
  command->add_option("FUNCTIONS", options.compile.functions,
                      "C or C++ files: " +
                          joined(ofNotations([](const Description& each) { return each.filesOfCAbout; })));
  command->add_option("--machine", options.compile.machine,
                      "the machine to map to: a name (see 'strata machine --list') or a .yaml file");
  command->add_option("--map", options.compile.mapping, "the mapping file; without one a mapping is made");
  if (isLibrary)
    command
        ->add_option("--entry", options.entries,
                     "an entry point to export, a task or an instance; may be repeated. Without it, all are")
        ->allow_extra_args(false);
  else
    command->add_option("--entry", options.compile.entry,
                        "the entry point, where the program has several: a task or an instance");
  std::string sizes = "sizes of arrays, as N=1024,M=16; input files settle sizes too";
  for (const std::string& about : ofNotations([](const Description& each) { return each.sizeAbout; }))
    sizes += ". " + about;
  command->add_option("--size", options.sizes, sizes)->allow_extra_args(false);
  command
      ->add_option("--in", options.inputs,
                   "data of an argument: A=FILE.npy, A=random[:SEED[:LOW:HIGH]], A=iota, A=zeros, or A=2.5")
      ->allow_extra_args(false);
  addPreprocessor(command, options);
}

void addMain(CLI::App* command, Options& options) {
  command
      ->add_option("--main", options.mains,
                   "a C or C++ file with the main of a program that calls the entry points; also objects and archives")
      ->allow_extra_args(false);
  command->add_option("--interface", options.interface, interfaceAbout())->check(CLI::IsMember(interfaceNames()));
}

void addReports(CLI::App* command, Options& options) {
  command->add_flag("--remarks", options.remarks, "say what was decided and why");
  command->add_flag("--json", options.json, "errors as JSON, one object a line");
  command->add_flag("--werror", options.werror, "treat warnings as errors");
  command->add_option("--color", options.color, "colours in messages")
      ->check(CLI::IsMember({"auto", "always", "never"}));
}

/// How a loop program is cut up for a processor array; the sizes of tiles, where they are known, are addTiles's.
void addLoops(CLI::App* command, Options& options) {
  command->add_option("--distribute", options.distribute,
                      "loops of a loop program that are distributed over the rows and columns of a processor array: "
                      "i,j; - for none; one alone is that over the columns. Without it, they are chosen");
  command->add_option("--order", options.order,
                      "its loops in the order in which an element of the array executes them, the outermost first");
  command
      ->add_option("--skew", options.skews,
                   "a loop that is skewed by another one before all else, as j=i or j=2*i: its iterations count from "
                   "that on")
      ->allow_extra_args(false);
  command
      ->add_option("--least-tile", options.leastTiles,
                   "iterations that every tile of a loop has at least, as i=4: the schedule may rely on it")
      ->allow_extra_args(false);
}

void addTiles(CLI::App* command, Options& options) {
  command->add_option(
      "--region", options.region,
      "rows and columns of the processor array to be used, as 2x4; without it, as many as there is work for. "
      "2x4@1,0 says where: from row 1, column 0 on, with those borders of the array that it touches");
  command
      ->add_option("--tile", options.tiles,
                   "iterations in a tile, by distributed loop, as i=8,j=4; without it, as few as cover the loop")
      ->allow_extra_args(false);
  command->add_option("--corner", options.corner, "where the controller is that steers the array")
      ->check(CLI::IsMember(machine::cornerNames()));
}

void addStats(CLI::App* command, Options& options, const std::string& about) {
  command->add_option("--stats", options.stats, about)
      ->expected(0, 1)
      ->default_str("text")
      ->check([](const std::string& value) {
        return value == "text" || value == "json" || (value.rfind("json:", 0) == 0 && value != "json:")
                   ? ""
                   : "--stats takes nothing, json or json:FILE, not '" + value + "'";
      });
}

void addTimes(CLI::App* command, Options& options) {
  command->add_flag("--time-passes", options.timePasses,
                    "how long each part of the compilation takes, on standard error");
}

void addEmit(CLI::App* command, Options& options) {
  command->add_option("--emit", options.emit,
                      "stop after a stage and print it: ast (the checked program), svm (logical, can be run again), "
                      "placed, scheduled, llvm, asm, config (of processor arrays); after:PASS, the module as that pass "
                      "leaves it, and after:PASS:2 "
                      "as its second run does" +
                          viewNames());
  command->add_option("-o,--output", options.output, "where to write; - is standard output");
}

} // namespace

Commands makeCommands(Options& options) {
  Commands commands;
  commands.app = std::make_unique<CLI::App>(
      std::string("Strata compiles and runs one program on many machines: a mapping, separate from the program, says "
                  "what runs where and which data moves.") +
      firstRun());
  CLI::App& app = *commands.app;
  app.name("strata");
  app.formatter(helpFormatter());
  app.set_help_flag("-h,--help", "this text");
  app.footer(
      "strata COMMAND --help has each command's options and examples; docs/README.md lists what there is to read.");
  app.require_subcommand(1);
  app.set_version_flag("--version", "strata " STRATA_VERSION, "the version");

  CLI::App* run = commands.run = app.add_subcommand(
      "run", "compile, map and run a program; loop programs with + between them run at once on one processor array");
  addProgram(run, options, /*withGraphs=*/true);
  addTarget(run, options);
  run->add_option("--out", options.outputs, "where to write an argument when the program has ended: C=FILE.npy")
      ->allow_extra_args(false);
  run->add_option("--repeat", options.repeat, "run so many times after a warm-up; times are of the entry point alone")
      ->check(CLI::Range(1u, 1000000u));
  run->add_option("--threads", options.compile.threads,
                  "threads to use, 1 to " + std::to_string(runtime::mostWorkers) + "; results do not depend on it")
      ->check(CLI::Range(1u, runtime::mostWorkers));
  run->add_option("--nodes", options.nodes,
                  "processes that the machine is spread over, started by mpirun: each has some of the processors of "
                  "which the machine says that they are processes; results do not depend on it")
      ->check(CLI::Range(1u, 65536u));
  run->add_option(
      "--starter", options.starter,
      "what starts the processes, with options of its own: 'mpirun --hostfile hosts'; without it, mpirun on "
      "this computer");
  addStats(
      run, options,
      "figures of the run: bytes and moves from memory to memory, runs of leaves, and what a processor array did; as "
      "text, or as one JSON object");
  run->add_option("--scratch", options.scratch,
                  "the folder for files that hold arrays on a machine's disk while the program runs; without it, "
                  "$TMPDIR, else /tmp");
  run->add_option(
      "--trace", options.trace,
      "write what ran when: FILE.json in Chrome's trace format; of a processor array FILE.trace, what every "
      "unit did in every cycle, which strata show reads");
  run->add_option("--timeline", options.timeline, "write what ran when, as a page that opens by itself (.html)");
  run->add_flag("--untuned", options.isUntuned,
                "make the default mapping, also where strata tune has found one for these sizes");
  run->add_flag("--check", options.check,
                "also run the program through the interpreter, every access checked, and compare");
  run->add_flag("--interpret", options.interpret, "run through the interpreter alone, copies taken literally");
  addLoops(run, options);
  addTiles(run, options);
  addMain(run, options);
  addEmit(run, options);
  addTimes(run, options);
  addReports(run, options);

  CLI::App* check = commands.check = app.add_subcommand("check", "report what is wrong with a program and its mapping");
  addProgram(check, options, /*withGraphs=*/true);
  addTarget(check, options);
  addTimes(check, options);
  addReports(check, options);

  CLI::App* build = commands.build =
      app.add_subcommand("build", "compile to a library with a C header for its entry points, or to a program");
  addProgram(build, options, /*withGraphs=*/true, /*isLibrary=*/true);
  addTarget(build, options);
  build
      ->add_option("-o,--output", options.output,
                   "NAME.o, NAME.a or NAME.so, with NAME.h beside it; another name is a program, which takes --main")
      ->required();
  addMain(build, options);
  build->add_option("--cpu", options.compile.cpu,
                    "the processor that code is for: native, which is this computer's and the default, x86-64-v2, "
                    "x86-64-v3, x86-64-v4, or another name of Clang's. Older ones refuse it with a message");
  build->add_option("--depfile", options.dependencies, "write what the output depends on, as a rule for make");
  addTimes(build, options);
  addReports(build, options);

  CLI::App* map = commands.map = app.add_subcommand("map", "write the mapping that is used, ready to edit");
  addProgram(map, options, /*withGraphs=*/false);
  if (const auto templates = ofNotations([](const Description& each) { return each.templateAbout; });
      !templates.empty())
    map->add_flag("--template", options.compile.mappingTemplate, joined(templates))->excludes("--map");
  if (!mappingForms().empty())
    map->add_option("--format", options.compile.mappingForm, joined(ofNotations(formsAbout)) + targetFormsAbout())
        ->check(CLI::IsMember(mappingForms()));
  map->add_flag("--untuned", options.isUntuned,
                "the default mapping, also where strata tune has found one for these sizes");
  addLoops(map, options);
  map->add_option("-o,--output", options.output, "where to write; - is standard output");
  addReports(map, options);

  CLI::App* tune = commands.tune = app.add_subcommand(
      "tune", "find the fastest mapping of a program for its sizes and a machine, by trying; strata run uses it from "
              "then on");
  addProgram(tune, options, /*withGraphs=*/false);
  tune->add_option("--time", options.tuneSeconds,
                   "seconds to take, 60 without it, and without --trials; what was found by then is kept")
      ->check(CLI::Range(1u, 1000000u));
  tune->add_option("--trials", options.tuneTrials,
                   "mappings to try at most, however long it takes without --time: the same on a slower computer")
      ->check(CLI::Range(1u, 1000000u));
  tune->add_option("--by", options.tuneBy,
                   "how fast a mapping is: by runs on this computer, the default where it is the machine, or by the "
                   "estimate of strata estimate, the default for machines that are described")
      ->check(CLI::IsMember({"runs", "estimate"}));
  tune->add_option("--threads", options.compile.threads,
                   "threads to use, 1 to " + std::to_string(runtime::mostWorkers) + "; as strata run takes them")
      ->check(CLI::Range(1u, runtime::mostWorkers));
  tune->add_option("-o,--output", options.output,
                   "where to write the mapping, beside the place where strata run finds it; - is standard output");
  tune->add_option("--search", options.searchPicture, "draw the search, as SVG: what was tried, and the best so far");
  addReports(tune, options);

  CLI::App* estimate = commands.estimate = app.add_subcommand(
      "estimate",
      "what a program would take on a described machine, which need not be there: from the costs, latencies "
      "and bandwidths of its description. Nothing runs, and data is needed for sizes only");
  addProgram(estimate, options, /*withGraphs=*/false);
  addStats(estimate, options, "print it as text, the default, or as one JSON object");
  estimate->add_option("--timeline", options.timeline,
                       "write what would happen when, as a page that opens by itself (.html)");
  estimate->add_flag("--untuned", options.isUntuned,
                     "make the default mapping, also where strata tune has found one for these sizes");
  addTimes(estimate, options);
  addReports(estimate, options);

  CLI::App* instantiate = commands.instantiate = app.add_subcommand(
      "instantiate", "print what a symbolic configuration, which strata map writes for a processor array, becomes for "
                     "sizes and a region of the array");
  instantiate->add_option("CONFIGURATION", options.compile.program, "a symbolic configuration (.sym)")->required();
  instantiate->add_option("--machine", options.compile.machine,
                          "the machine with the array: a name or a .yaml file; without it, the one it was made for");
  instantiate->add_option("--size", options.sizes, "the program's sizes, as N=64,T=4")->allow_extra_args(false);
  addTiles(instantiate, options);
  instantiate
      ->add_option("--threads", options.compile.array.threads,
                   "threads that make the programs of processor classes, 1 to " + std::to_string(runtime::mostWorkers) +
                       "; the result does not depend on it")
      ->check(CLI::Range(1u, runtime::mostWorkers));
  instantiate->add_option("-o,--output", options.output, "where to write; - is standard output");
  addReports(instantiate, options);

  CLI::App* machine = commands.machine =
      app.add_subcommand("machine", "print a machine's description; without a name, what this computer is");
  machine->add_option("NAME", options.compile.machine,
                      "a name, a .yaml file" + joined(ofNotations([](const Description& each) {
                        return each.describesMachine ? ", or " + aProgramOf(each) + ", whose target is then printed"
                                                     : "";
                      })));
  machine->add_flag("--list", options.list, "list the machines that are known by name")->excludes("NAME");
  machine
      ->add_flag("--header", options.header,
                 "write the C header that names the machine's memories and processors for stream programs")
      ->excludes("--list");
  machine->add_option("-o,--output", options.output, "where to write; - is standard output");
  addReports(machine, options);

  CLI::App* show = commands.show = app.add_subcommand(
      "show",
      "draw a machine, a program with its mapping, a run's trace or a stream program's record, as SVG or as a page "
      "that opens by itself; list what a processor array did");
  show->add_option(
          "THING", options.thing,
          "a machine's name, a .yaml file, a program (" + llvm::join(programEndings(), ", ") +
              "), C or C++ with dataflow graphs, HPVM IR (.ll, .bc) or an object of strata cc (.o, .a), a trace "
              "or record (.json), or the trace of a processor array (.trace)")
      ->required();
  show->add_option("MORE", options.moreThings,
                   "more files of a program with dataflow graphs: C, C++, objects and archives");
  show->add_option("--machine", options.compile.machine, "the machine to map a program to");
  show->add_option("--map", options.compile.mapping, "a program's mapping file; without one a mapping is made");
  show->add_option("--entry", options.compile.entry, "a program's entry point, where it has several");
  show->add_option("--size", options.sizes, "a program's sizes, as N=1024,M=16")->allow_extra_args(false);
  addPreprocessor(show, options);
  show->add_option("--picture", options.picture,
                   "this picture only: " + joined(ofNotations([](const Description& each) {
                     return each.pictures.empty() ? "" : listed(each.pictures) + " of " + aProgramOf(each);
                   })));
  show->add_option(
      "-o,--output", options.output,
      "where to write: FILE.html is a page, FILE.svg one drawing, FILE.txt the list of an array's trace; - is "
      "standard output");
  show->add_option("--cycles", options.cycles,
                   "of a processor array's trace: these cycles, as 100..199, 100.. or ..199");
  show->add_option("--run", options.shownRun, "of a processor array's trace with several runs: this one, from 1")
      ->check(CLI::Range(1u, UINT32_MAX));
  addReports(show, options);

  CLI::App* help = commands.help = app.add_subcommand("help", "the help of strata or of one command");
  help->add_option("COMMAND", options.thing, "a command");
  help->add_flag("--man", options.isManual, "as a manual page: strata help --man run | man -l -");
  help->add_option("-o,--output", options.output, "where to write; - is standard output");

  CLI::App* completion = commands.completion =
      app.add_subcommand("completion", "print a script with which a shell completes strata's commands and options");
  completion->add_option("SHELL", options.thing, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->add_option("-o,--output", options.output, "where to write; - is standard output");

  // Their command lines are Clang's, and have been taken care of.
  app.add_subcommand("cc", "clang, for C programs that include svm.h: its headers and library are found");
  app.add_subcommand("c++", "clang++, likewise");
  finishHelp(app);

  return commands;
}

} // namespace strata::driver

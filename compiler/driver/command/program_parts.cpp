// What is for one program and what is for all is said in two tables.
#include "compiler/driver/command/program_parts.h"

#include "compiler/driver/command/command_options.h"
#include "compiler/driver/command/usage.h"
#include "compiler/driver/run/array_programs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <sstream>

namespace strata::driver {

STRATA_DIAGNOSTIC(noProgram, Error, "driver-programs-empty", "there is no program {0} this '+'");
STRATA_DIAGNOSTIC(notForPrograms, Error, "driver-programs-option", "{0} is not for several programs at once");
STRATA_DIAGNOSTIC(optionsDiffer, Error, "driver-programs-differ",
                  "{0} is for all programs and has two values, '{1}' and '{2}'");

namespace {

constexpr llvm::StringRef forOne[] = {"PROGRAM", "--size",       "--in",     "--out",  "--distribute", "--order",
                                      "--skew",  "--least-tile", "--region", "--tile", "--corner"};

struct ForAll {
  llvm::StringRef name;
  void (*copy)(const Options& from, Options& to);
};
constexpr ForAll forAll[] = {
    {"--machine",
     [](const Options& from, Options& to) {
       to.compile.machine = from.compile.machine;
       to.compile.machinePlace = from.compile.machinePlace;
     }},
    {"--threads", [](const Options& from, Options& to) { to.compile.threads = from.compile.threads; }},
    {"--repeat", [](const Options& from, Options& to) { to.repeat = from.repeat; }},
    {"--stats", [](const Options& from, Options& to) { to.stats = from.stats; }},
    {"--remarks", [](const Options& from, Options& to) { to.remarks = from.remarks; }},
    {"--json", [](const Options& from, Options& to) { to.json = from.json; }},
    {"--werror", [](const Options& from, Options& to) { to.werror = from.werror; }},
    {"--color", [](const Options& from, Options& to) { to.color = from.color; }},
};

/// One part while it is read.
struct Read {
  std::vector<size_t> places; // of its words in the whole, the command's own two before them
  ProgramPart part;
  Commands commands; // whose options are bound to the part's
};

class Parts {
public:
  Parts(Session& session, int argc, char** argv) : session_(session), argc_(argc), argv_(argv) {}

  int run() {
    if (!split())
      return finish(session_);
    for (const std::unique_ptr<Read>& each : parts_)
      if (const std::optional<int> status = parse(*each))
        return *status;
    settle();
    std::vector<ProgramPart> parts;
    for (const std::unique_ptr<Read>& each : parts_)
      parts.push_back({each->part.options, std::move(each->part.words)});
    session_.options = parts.front().options;
    session_.diagnostics.enableRemarks(session_.options.remarks);
    if (session_.options.werror)
      session_.diagnostics.promoteWarnings("all");
    return session_.diagnostics.hasErrors() ? finish(session_) : runPrograms(session_, std::move(parts));
  }

private:
  void start() {
    parts_.push_back(std::make_unique<Read>());
    parts_.back()->places = {0, 1};
  }

  /// False where a plus sign has nothing beside it (reported).
  bool split() {
    const auto refuse = [&](size_t plus, const char* side) {
      session_.diagnostics.report(noProgram, session_.commandLine->word(plus), side)
          .help("a plus sign stands between programs: strata run PROGRAM … + PROGRAM …");
    };
    start();
    for (size_t place = 2; place < static_cast<size_t>(argc_); ++place) {
      if (std::string_view(argv_[place]) != "+") {
        parts_.back()->places.push_back(place);
        continue;
      }
      if (parts_.back()->places.size() == 2)
        refuse(place, "before");
      start();
      if (place + 1 == static_cast<size_t>(argc_))
        refuse(place, "behind");
    }
    return !session_.diagnostics.hasErrors();
  }

  /// An exit status where the command ends here.
  std::optional<int> parse(Read& each) {
    std::vector<char*> words;
    for (const size_t place : each.places)
      words.push_back(argv_[place]);
    each.part.words = std::make_unique<CommandLine>(session_.commandLine->part(each.places));
    each.part.options = session_.options;
    each.commands = makeCommands(each.part.options);
    CLI::App& app = *each.commands.app;
    try {
      app.parse(static_cast<int>(words.size()), words.data());
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) { // --help
        std::ostringstream text;
        app.exit(error, text);
        writeText(session_, "", text.str());
        return finish(session_);
      }
      session_.commandLine = std::move(each.part.words);
      return usageError(session_, app, static_cast<int>(words.size()), words.data(), error);
    }
    Options& options = each.part.options;
    options.command = "run";
    options.compile.programPlace = each.part.words->find(options.compile.program, 2);
    options.compile.machinePlace = each.part.words->value("--machine", options.compile.machine);
    if (each.commands.run->get_option("--stats")->count() && options.stats.empty())
      options.stats = "text";
    refuseOthers(each);
    return std::nullopt;
  }

  void refuseOthers(const Read& each) {
    for (const CLI::Option* option : each.commands.run->get_options()) {
      const std::string name = option->get_name();
      if (!option->count() || llvm::is_contained(forOne, name) ||
          llvm::any_of(forAll, [&](const ForAll& other) { return other.name == name; }))
        continue;
      const std::string value = option->results().empty() ? "" : option->results().front();
      if (option->get_positional()) {
        session_.diagnostics.report(notForPrograms, each.part.words->find(value, 2), "'" + value + "'")
            .help("each part is one program with its options, and a plus sign stands before the next");
        continue;
      }
      session_.diagnostics.report(notForPrograms, each.part.words->value(name, value), name)
          .help("of one program: " + llvm::join(llvm::ArrayRef(forOne).drop_front(), ", "))
          .help("of all: " + llvm::join(llvm::map_range(forAll, [](const ForAll& other) { return other.name; }), ", "));
    }
  }

  /// What is for all programs goes to all parts.
  void settle() {
    for (const ForAll& option : forAll) {
      const Read* given = nullptr;
      const auto values = [&](const Read& each) {
        return llvm::join(each.commands.run->get_option(option.name.str())->results(), ",");
      };
      for (const std::unique_ptr<Read>& each : parts_) {
        if (!each->commands.run->get_option(option.name.str())->count())
          continue;
        if (given && values(*given) != values(*each)) {
          auto report =
              session_.diagnostics.report(optionsDiffer, each->part.words->value(option.name.str(), values(*each)),
                                          option.name.str(), values(*given), values(*each));
          if (const Location first = given->part.words->value(option.name.str(), values(*given)); first.valid())
            report.label(first, "first given here");
          report.help("give it once");
        }
        given = given ? given : each.get();
      }
      for (const std::unique_ptr<Read>& each : parts_)
        if (given && given != each.get())
          option.copy(given->part.options, each->part.options);
    }
  }

  Session& session_;
  int argc_;
  char** argv_;
  std::vector<std::unique_ptr<Read>> parts_;
};

} // namespace

bool hasParts(int argc, char** argv) {
  return argc > 2 && std::string_view(argv[1]) == "run" &&
         std::find(argv + 2, argv + argc, std::string_view("+")) != argv + argc;
}

int runParts(Session& session, int argc, char** argv) {
  return Parts(session, argc, argv).run();
}

} // namespace strata::driver

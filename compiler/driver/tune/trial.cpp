// Copies of the process write what they found as JSON into a file in memory, which both have open.
#include "compiler/driver/tune/trial.h"

#include "base/process/process.h"
#include "compiler/driver/run/estimate.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/driver/session/tuned.h"

#include "llvm/ADT/StringExtras.h"

#include <nlohmann/json.hpp>

namespace strata::driver {

namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// What the copy wrote; null where that is nothing.
Json parsed(const std::string& text) {
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

struct Copied {
  ProcessResult process;
  Json answer;
};

/// Has a copy of the session answer. The function returns the answer, or null on errors that it has reported in its
/// session.
Copied ask(Session& session, const std::function<Json()>& function, int seconds) {
  Copied copied;
  MemoryFile answer("answer");
  if (!answer) {
    copied.process.problem = "there is no memory for its answer";
    return copied;
  }
  copied.process = callInCopy(
      [&] {
        const Json json = function();
        if (json.is_null())
          return finish(session, statusOurError);
        return answer.write(textOf(json)) ? statusFine : statusOurError;
      },
      {.timeoutSeconds = seconds});
  copied.answer = parsed(answer.read());
  return copied;
}

/// Shows what a copy that gave no answer has printed.
void show(const ProcessResult& process) {
  fputs(process.errors.c_str(), stderr);
  if (!process.problem.empty())
    fprintf(stderr, "%s\n", process.problem.c_str());
}

void choose(Session& session, const notation::Chosen& chosen, unsigned halvings) {
  CompileOptions& compile = session.options.compile;
  compile.chosen = chosen;
  compile.halvings = halvings;
  compile.isTrial = true;
}

Json jsonOf(const Measured& measured) {
  return {{"entry", measured.entry},
          {"machine", measured.machine},
          {"seconds", measured.seconds},
          {"sizes", measured.sizes},
          {"digests", measured.digests}};
}

Measured measuredOf(const Json& json) {
  Measured measured;
  measured.entry = json["entry"];
  measured.machine = json["machine"];
  measured.seconds = json["seconds"];
  measured.sizes = json["sizes"].get<std::map<std::string, int64_t>>();
  measured.digests = json["digests"].get<std::map<std::string, uint64_t>>();
  return measured;
}

/// The first error among diagnostics in JSON, one a line.
void readFirstError(Trial& trial) {
  for (llvm::StringRef line : llvm::split(trial.errors, "\n")) {
    const Json json = parsed(line.str());
    if (!json.is_object() || json.value("severity", "") != "error")
      continue;
    trial.message = json.value("message", "");
    return;
  }
  trial.message = llvm::StringRef(trial.errors).split('\n').first.str();
}

} // namespace

std::optional<Described> describe(Session& session) {
  const Copied copied = ask(
      session,
      [&]() -> Json {
        DataOptions data;
        if (!prepare(session, data))
          return {};
        CompilerSession compilation(session);
        Compiler& compiler = compilation.compiler;
        if (!checkData(session, compiler, data))
          return {};
        const std::vector<notation::Choice> choices = compiler.choices();
        const auto machine = session.diagnostics.hasErrors() ? std::nullopt : compiler.usedMachine();
        if (!machine)
          return {};
        Json json = {{"halvings", compiler.options().halvings},
                     {"machine", machine->name},
                     {"key", tunedKey(session, compiler, *machine)},
                     {"clock", machine->clock != 0},
                     {"here", contentHash(*machine) == contentHash(describeHost())},
                     {"choices", Json::array()}};
        for (const notation::Choice& choice : choices)
          json["choices"].push_back({{"instance", choice.instance},
                                     {"name", choice.name},
                                     {"value", choice.value},
                                     {"values", choice.values},
                                     {"words", choice.words}});
        return json;
      },
      0);
  if (!copied.answer.is_object()) {
    show(copied.process);
    return std::nullopt;
  }
  Described described;
  described.halvings = copied.answer["halvings"];
  described.machine = copied.answer["machine"];
  described.key = copied.answer["key"];
  described.isHere = copied.answer["here"];
  described.hasClock = copied.answer["clock"];
  for (const Json& choice : copied.answer["choices"])
    described.choices.push_back({choice["instance"], choice["name"], choice["value"],
                                 choice["values"].get<std::vector<int64_t>>(),
                                 choice["words"].get<std::vector<std::string>>()});
  return described;
}

std::optional<std::string> mappingWith(Session& session, const notation::Chosen& chosen, unsigned halvings) {
  const Copied copied = ask(
      session,
      [&]() -> Json {
        DataOptions data;
        if (!prepare(session, data))
          return {};
        choose(session, chosen, halvings);
        session.options.compile.mappingForm = mappingFormOf(session.options.compile.program, session.options.output);
        CompilerSession compilation(session);
        const std::string text = compilation.compiler.mappingText();
        return session.diagnostics.hasErrors() ? Json() : Json(text);
      },
      0);
  if (!copied.answer.is_string()) {
    show(copied.process);
    return std::nullopt;
  }
  return copied.answer.get<std::string>();
}

/// What a copy says of a mapping, by whatever measures it there.
static Trial trialOf(Session& session, const notation::Chosen& chosen, unsigned halvings, int seconds, bool isShown,
                     const std::function<std::optional<Measured>()>& measure) {
  const Copied copied = ask(
      session,
      [&]() -> Json {
        session.options.json |= !isShown;
        choose(session, chosen, halvings);
        const auto measured = measure();
        // What was reported has been printed.
        if (!measured)
          _exit(session.diagnostics.hasErrors() ? statusUserError : statusOurError);
        return jsonOf(*measured);
      },
      seconds);
  Trial trial;
  trial.errors = copied.process.errors;
  if (copied.answer.is_object()) {
    trial.kind = Trial::Kind::Measured;
    trial.measured = measuredOf(copied.answer);
    return trial;
  }
  readFirstError(trial);
  const std::string& problem = copied.process.problem;
  if (copied.process.status == statusUserError)
    trial.kind = Trial::Kind::Refused;
  else if (llvm::StringRef(problem).starts_with("ran longer"))
    trial.kind = Trial::Kind::Late;
  if (!problem.empty())
    trial.message = problem;
  return trial;
}

Trial tryMapping(Session& session, const notation::Chosen& chosen, unsigned halvings, const Measurement& measurement,
                 int seconds, bool isShown) {
  return trialOf(session, chosen, halvings, seconds, isShown, [&] { return measure(session, measurement); });
}

Trial estimateMapping(Session& session, const notation::Chosen& chosen, unsigned halvings, int seconds, bool isShown) {
  return trialOf(session, chosen, halvings, seconds, isShown, [&]() -> std::optional<Measured> {
    const auto estimated = estimateProgram(session);
    if (!estimated) {
      finish(session);
      return std::nullopt;
    }
    reportAssumptions(session, *estimated);
    finish(session);
    return Measured{estimated->entry, estimated->machine, estimated->seconds(), estimated->sizes, {}};
  });
}

} // namespace strata::driver

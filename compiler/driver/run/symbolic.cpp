// A file is read once, checked against its machine, and then run or shown.
#include "compiler/driver/run/symbolic.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/data/symbolic_entry.h"
#include "compiler/driver/pages/array_page.h"
#include "compiler/driver/run/array_recording.h"
#include "compiler/driver/run/run.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/target/array_runner.h"
#include "compiler/target/registry/registry.h"
#include "runtime/array/files.h"
#include "runtime/array/print.h"

#include "base/data/npy.h"

#include "llvm/ADT/StringExtras.h"

#include <chrono>
#include <cstring>

namespace strata::driver {

STRATA_DIAGNOSTIC(cannotReadSymbolic, Error, "symbolic-cannot-read", "cannot read '{0}': {1}");
STRATA_DIAGNOSTIC(badSymbolic, Error, "symbolic-file", "'{0}' is no symbolic configuration: {1}");
STRATA_DIAGNOSTIC(notSymbolic, Error, "symbolic-expected", "'{0}' holds no symbolic configuration");
STRATA_DIAGNOSTIC(missingParameter, Error, "symbolic-size",
                  "the configuration of '{0}' depends on '{1}', which is not known");
STRATA_DIAGNOSTIC(unknownParameter, Error, "symbolic-unknown-size", "'{0}' has no parameter '{1}'");
STRATA_DIAGNOSTIC(needsProgram, Error, "symbolic-option",
                  "{0} needs the program, and '{1}' is a configuration made of it");

using array::Symbolic;

namespace {

/// A symbolic configuration and the machine that it is to run on.
struct Loaded {
  Symbolic symbolic;
  Machine machine;
};

class SymbolicFile {
public:
  explicit SymbolicFile(Session& session)
      : session_(session), options_(session.options), diagnostics_(session.diagnostics),
        context_(mlir::MLIRContext::Threading::DISABLED) {}

  int run() {
    for (const auto& [name, isGiven] : {std::pair<const char*, bool>{"--check", options_.check},
                                        {"--interpret", options_.interpret},
                                        {"--emit", !options_.emit.empty()},
                                        {"--trace", !options_.trace.empty() && !isArrayTrace(options_.trace)},
                                        {"--map", !options_.compile.mapping.empty()},
                                        {"--distribute", !options_.distribute.empty()},
                                        {"--order", !options_.order.empty()},
                                        {"--skew", !options_.skews.empty()},
                                        {"--least-tile", !options_.leastTiles.empty()}})
      if (isGiven)
        diagnostics_.report(needsProgram, session_.commandLine->option(name), name, options_.compile.program)
            .help(std::string(name) == "--emit"    ? "strata instantiate prints what it becomes"
                  : std::string(name) == "--trace" ? "a name that ends in .trace is what the array's units do"
                                                   : "give the program itself");
    DataOptions data;
    if (!load(data))
      return finish(session_);
    for (const OutputOption& output : data.outputs)
      checkWritable(output.path, diagnostics_, output.where);
    if (diagnostics_.hasErrors())
      return finish(session_);
    const SymbolicEntry arguments(loaded_->symbolic, context_);
    EntryPoint entry = arguments.entry();
    // The file tells of no lines.
    entry.where = options_.compile.programPlace;
    for (EntryArgument& argument : entry.arguments)
      argument.where = entry.where;
    auto binding = bindArguments(entry, data, diagnostics_);
    if (!binding)
      return finish(session_);
    RunFigures figures;
    figures.target = target::targetOf(loaded_->machine, "", {}, diagnostics_);
    ArrayRecording recording(session_);
    target::ArrayOptions asked = options_.compile.array;
    asked.recorder = &recording;
    target::ArrayRunner runner(loaded_->symbolic, array(), asked, target::hostLink(loaded_->machine));
    if (!figures.target || !call(runner, arguments, *binding, figures, recording) ||
        !writeOutputs(entry, *binding, data, diagnostics_))
      return finish(session_);
    if (!recording.finish())
      return finish(session_);
    if (!options_.stats.empty())
      figures.counters = runner.figures();
    reportRun(session_, entry, *binding, data, loaded_->machine, figures);
    return finish(session_);
  }

  int instantiate() {
    DataOptions data;
    if (!load(data))
      return finish(session_);
    const Symbolic& symbolic = loaded_->symbolic;
    std::vector<int64_t> sizes;
    std::vector<std::string> missing;
    for (const auto& [name, where] : options_.compile.sizePlaces)
      if (std::ranges::find(symbolic.parameters, name) == symbolic.parameters.end()) {
        const std::string nearest = nearestName(name, symbolic.parameters);
        diagnostics_.report(unknownParameter, where, symbolic.program, name)
            .help(!nearest.empty()              ? "did you mean '" + nearest + "'?"
                  : symbolic.parameters.empty() ? "it has none"
                                                : "there are: " + llvm::join(symbolic.parameters, ", "));
      }
    // What has another name is not missing as well.
    for (const std::string& parameter : symbolic.parameters)
      if (const auto known = options_.compile.sizes.find(parameter); known != options_.compile.sizes.end())
        sizes.push_back(known->second);
      else if (!diagnostics_.hasErrors())
        missing.push_back(parameter);
    if (!missing.empty())
      diagnostics_
          .report(missingParameter, options_.compile.programPlace, symbolic.program, llvm::join(missing, "', '"))
          .help("give it with --size " + llvm::join(missing, "=…,") + "=…");
    if (diagnostics_.hasErrors())
      return finish(session_);
    target::ArrayRunner runner(symbolic, array(), options_.compile.array);
    const auto made = runner.configuration(sizes);
    for (const target::ArrayError& remark : runner.remarks())
      tell(remark);
    if (const auto* error = std::get_if<target::ArrayError>(&made))
      tell(*error);
    else if (const array::Configuration& configuration = *std::get<const array::Configuration*>(made);
             llvm::StringRef(options_.output).ends_with(".html"))
      writeText(session_, options_.output,
                arrayPage(array(), configuration, {}, {}, arrayTitle(configuration, loaded_->machine.name)));
    else
      writeText(session_, options_.output, array::print(configuration, array()));
    return finish(session_);
  }

private:
  const machine::ProcessorArray& array() const { return target::arrayProcessor(loaded_->machine)->array.front(); }

  void tell(const target::ArrayError& error) {
    DiagnosticBuilder report = diagnostics_.report(*error.kind, {}, error.message);
    if (!error.help.empty())
      report.help(error.help);
  }

  /// Reads the options, the file and the machine. False on errors (reported).
  bool load(DataOptions& data) {
    if (!prepare(session_, data) || diagnostics_.hasErrors())
      return false;
    std::optional<Symbolic> symbolic = readSymbolic(session_);
    if (!symbolic)
      return false;
    Compiler compiler(Compiler::NoFile(), context_, diagnostics_, options_.compile);
    auto machine = compiler.machine(symbolic->machine, {});
    if (!machine)
      return false;
    if (const auto problem = target::misfit(*symbolic, *machine)) {
      tell(*problem);
      return false;
    }
    loaded_ = Loaded{*std::move(symbolic), std::move(*machine)};
    return true;
  }

  /// Runs it as often as asked. False on errors (reported).
  bool call(target::ArrayRunner& runner, const SymbolicEntry& arguments, Binding& binding, RunFigures& figures,
            ArrayRecording& recording) {
    sizes_ = arguments.sizes(binding);
    const SymbolicEntry::Memories memories = arguments.memories(binding);
    for (unsigned repetition = 0; repetition < std::max(options_.repeat, 1u); ++repetition) {
      runner.resetFigures();
      if (repetition + 1 == std::max(options_.repeat, 1u))
        recording.start(loaded_->machine.name);
      const auto begin = std::chrono::steady_clock::now();
      if (const auto error = runner.run(sizes_, memories.inputs, memories.outputs)) {
        tell(*error);
        return false;
      }
      figures.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    for (const target::ArrayError& remark : runner.remarks())
      tell(remark);
    return true;
  }

  Session& session_;
  const Options& options_;
  DiagnosticEngine& diagnostics_;
  mlir::MLIRContext context_;
  std::optional<Loaded> loaded_;
  std::vector<int64_t> sizes_; // of the last run, by parameter
};

} // namespace

std::optional<Symbolic> readSymbolic(Session& session) {
  DiagnosticEngine& diagnostics = session.diagnostics;
  const std::string& name = session.options.compile.program;
  if (!isSymbolic(name)) {
    diagnostics.report(notSymbolic, session.options.compile.programPlace, name)
        .help("strata map PROGRAM --machine NAME -o FILE.sym makes one, for a machine with a processor array");
    return std::nullopt;
  }
  std::string error;
  const BufferId file = diagnostics.sources().load(name, SourceKind::Program, error);
  if (!file.valid()) {
    diagnostics.report(cannotReadSymbolic, session.options.compile.programPlace, name, error);
    return std::nullopt;
  }
  auto read = array::read(diagnostics.sources().buffer(file).text());
  if (const auto* problem = std::get_if<array::FileError>(&read)) {
    const Location where = problem->isText && problem->line
                               ? diagnostics.sources().at(file, static_cast<uint32_t>(problem->line),
                                                          std::max<uint32_t>(static_cast<uint32_t>(problem->column), 1))
                               : Location();
    diagnostics.report(badSymbolic, where, name, where.valid() ? problem->message : array::print(*problem))
        .help("write it anew with strata map");
    return std::nullopt;
  }
  return std::get<Symbolic>(std::move(read));
}

int runSymbolic(Session& session) {
  return SymbolicFile(session).run();
}

int instantiateCommand(Session& session) {
  return SymbolicFile(session).instantiate();
}

} // namespace strata::driver

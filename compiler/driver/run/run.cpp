// strata run: compile, bind arrays, call, write arrays, say what happened. What runs the program is the business of its
// target (compiler/target/target.h). Figures are taken from a program compiled for counting, which runs once as the
// warm-up; times are taken from the program as it is.
#include "compiler/driver/run/run.h"
#include "compiler/driver/compile/notations.h"
#include "compiler/driver/session/emit.h"

#include "base/data/npy.h"
#include "compiler/driver/pages/timeline.h"
#include "compiler/driver/run/array_recording.h"
#include "compiler/driver/run/c_faults.h"
#include "compiler/driver/run/nodes.h"
#include "compiler/driver/run/oracle.h"
#include "compiler/driver/run/other_mapping.h"
#include "compiler/driver/run/symbolic.h"
#include "compiler/driver/run/traffic.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/driver/session/tuned.h"
#include "compiler/ir/locations.h"
#include "compiler/mapping/place.h"
#include "runtime/cluster/cluster.h"
#include "runtime/core/progress.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scratch_file.h"

#include "llvm/Support/xxhash.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <unistd.h>

namespace strata::driver {

namespace {

/// What run-time failures are rendered with: the session of the process's one run.
Session* failureSession = nullptr;

/// Shows what the run ends with, and takes back the outputs that are not finished.
void showFailure(const StrataCheck* check, const int64_t*, int32_t, const char* text) {
  Session& session = *failureSession;
  // The codes of run-time failures belong to the program that was compiled. The process ends here, and the kind with
  // it.
  static const DiagnosticKind kind(Severity::Error, check->code, "{0}");
  BufferId buffer = session.sources.find(check->file ? check->file : "");
  Location where =
      buffer.valid() && check->line ? session.sources.at(buffer, check->line, std::max(check->column, 1u)) : Location();
  {
    std::string message = text;
    if (!where.valid() && check->file && *check->file)
      message = std::string(check->file) + ":" + std::to_string(check->line) + ": " + message;
    DiagnosticBuilder report = session.diagnostics.report(kind, where, message);
    if (check->help)
      report.help(check->help);
  }
  finish(session);
  discardUnfinished();
  fflush(nullptr);
}

void reportFailure(const StrataCheck* check, const int64_t* values, int32_t count, const char* text) {
  if (!failureSession)
    return;
  showFailure(check, values, count, text);
  abandonNodes();
  _exit(statusUserError);
}

STRATA_DIAGNOSTIC(noTrace, Error, "target-no-trace", "target '{0}' makes no traces such as '{1}'");

class Runner {
public:
  explicit Runner(Session& session, const Measurement* measurement = nullptr)
      : session_(session), options_(session.options), recording_(session), measurement_(measurement) {}

  /// What was measured; nothing where a run had errors.
  std::optional<Measured> measured() { return std::move(measured_); }

  int run() {
    DataOptions data;
    if (!prepare(session_, data))
      return finish(session_);
    for (const OutputOption& output : data.outputs)
      checkWritable(output.path, session_.diagnostics, output.where);
    if (session_.diagnostics.hasErrors())
      return finish(session_);
    if (!measurement_)
      useTuned(session_);
    options_.compile.array.recorder = &recording_;
    CompilerSession compilation(session_);
    Compiler& compiler = compilation.compiler;
    auto program = compiler.logical();
    if (!program)
      return finish(session_);
    std::string entryName = compiler.entryName(*program->module);
    if (entryName.empty())
      return finish(session_);
    auto function = program->module->lookupSymbol<mlir::func::FuncOp>(entryName);
    auto entry = readEntry(function, session_.diagnostics);
    if (!entry)
      return finish(session_);
    if (compiler.hasFixedSizes())
      data.sizes.clear();
    if (!checkNodes(program->machine, session_.diagnostics))
      return finish(session_);
    const bool isPlaced = !options_.interpret && program->isPlaced();
    for (unsigned position = 0; isPlaced && position < entry->arguments.size(); ++position) {
      machine::MemoryId memory = mapping::argumentMemory(function, position, program->record, program->machine);
      // Scalars stay in memory, whatever their level is.
      entry->arguments[position].inFile =
          entry->arguments[position].rank > 0 && memory.valid() && program->machine[memory].files;
    }
    if (isPlaced && leadsNodes() && !options_.check) {
      LogicalProgram scheduled = program->clone();
      if (!compiler.place(scheduled) || !compiler.schedule(scheduled))
        return finish(session_);
      settleDistributed(*entry, *scheduled.module, program->machine);
    }
    if (!options_.interpret && !checkTraces(*program->target))
      return finish(session_);
    // Arrays in files are made by the runtime, which may fail from here on.
    runtime::setScratchFolder(options_.scratch);
    failureSession = &session_;
    strata_set_failure_handler(reportFailure);
    reportFaultsInC(*program->module, showFailure);
    if (measurement_)
      giveRandom(*entry, data);
    auto binding = bindArguments(*entry, data, session_.diagnostics);
    if (!binding)
      return finish(session_);
    RunFigures figures;
    figures.target = program->target;
    Interpreted oracle;
    std::unique_ptr<NativeKernels> natives; // for whoever cannot look into them
    mlir::OwningOpRef<mlir::ModuleOp> logical;
    if (options_.check || options_.interpret || !program->isPlaced()) {
      natives = NativeKernels::compile(*program->module, compiler, options_.optimization, session_.diagnostics);
      if (!natives)
        return finish(session_, statusOurError);
    }
    if (options_.check || options_.interpret) {
      auto copy = copyOf(*entry, *binding);
      if (!copy)
        return finish(session_);
      oracle.binding = std::move(*copy);
      runtime::tellProgress("interpreting " + entry->name);
      InterpretMode mode;
      mode.strict = options_.check;
      bool fine = interpret(*program->module, *entry, oracle, mode, *natives, session_.diagnostics);
      // The arrays of a program whose sizes are its own have no directions, and no tunables either.
      if (fine && options_.check && !compiler.hasFixedSizes()) {
        auto arrays = [&] { return copyOf(*entry, *binding); };
        fine = checkWritten(*entry, oracle, session_.diagnostics) &&
               checkOtherMappings(compiler, {*program->module, *entry, *natives, oracle, arrays}, session_.diagnostics);
      }
      runtime::clearProgress();
      if (options_.interpret)
        fputs(oracle.output.c_str(), stdout);
      if (!fine)
        return finish(session_);
      logical = program->module->clone();
    }
    if (options_.interpret) {
      if (!writeOutputs(*entry, oracle.binding, data, session_.diagnostics))
        return finish(session_);
      printf("%s, interpreted\n", entry->name.c_str());
      return finish(session_);
    }
    static const target::NativeFunctions none;
    Code code{natives ? natives->functions() : none};
    if (!compileAndCall(compiler, *program, code, *entry, *binding, figures))
      return finish(session_, statusOurError);
    if (measurement_)
      return summarize(*entry, *binding, program->machine, figures);
    if (options_.check) {
      runtime::tellProgress("comparing with the interpreter");
      auto computed = copyOf(*entry, *binding);
      if (!computed || !compare(*logical, *entry, *computed, oracle, session_.diagnostics))
        return finish(session_);
    }
    runtime::tellProgress("writing results");
    if (!writeOutputs(*entry, *binding, data, session_.diagnostics))
      return finish(session_);
    if (recordsArrays_ ? !recording_.finish() : !writeTraces(entry->name + " on " + program->machine.name))
      return finish(session_);
    reportRun(session_, *entry, *binding, data, program->machine, figures);
    return finish(session_);
  }

private:
  /// What is called, and what it was made of where that is not the program itself.
  struct Code {
    const target::NativeFunctions& natives;
    std::optional<LogicalProgram> counted = {};
    std::unique_ptr<target::Executable> counting = {}, executable = {};
  };

  /// Whether there is to be a trace of processors, rather than of an array's units.
  bool isTraced() const { return !recordsArrays_ && (!options_.trace.empty() || !options_.timeline.empty()); }

  /// Whether the target can write what is asked for. Reports that it cannot.
  bool checkTraces(const target::Target& target) {
    recordsArrays_ = target.recordsArrays();
    const bool isOfArray = isArrayTrace(options_.trace);
    if (recordsArrays_ ? isOfArray || options_.trace.empty()
                       : !isOfArray && (!isTraced() || target.has(Instrumentation::Trace)))
      return true;
    const char* option = options_.trace.empty() ? "--timeline" : "--trace";
    const std::string& file = options_.trace.empty() ? options_.timeline : options_.trace;
    auto report =
        session_.diagnostics.report(noTrace, session_.commandLine->value(option, file), target.name().str(), file);
    if (recordsArrays_)
      report.help("give it a name that ends in .trace: what an array's units do in every cycle");
    else if (isOfArray)
      report.help("choose a machine with a processor array, or give it a name that ends in .json");
    return false;
  }

  bool writeTraces(const std::string& title) {
    if (!isTraced())
      return true;
    std::string between; // the processes
    if (cluster::Cluster* cluster = cluster::leading()) {
      cluster->gatherSpans();
      between = "\"processes\":" + trafficOf(traffic_).dump();
    }
    std::string trace = runtime::traceJson(between);
    if (!options_.trace.empty() && !writeText(session_, options_.trace, trace))
      return false;
    if (options_.timeline.empty())
      return true;
    auto timeline =
        readTrace(session_.sources.add("the trace of this run", trace, SourceKind::Data), session_.diagnostics);
    return timeline && writeText(session_, options_.timeline, timelinePage(*timeline, title));
  }

  /// Arrays that the program reads and that are not given become random ones.
  void giveRandom(const EntryPoint& entry, DataOptions& data) {
    for (const EntryArgument& argument : entry.arguments)
      if (argument.read && argument.rank > 0 &&
          llvm::none_of(data.inputs, [&](const InputOption& input) { return input.name == argument.name; }))
        if (auto input = parseInputOption(argument.name + "=random", session_.diagnostics, {}))
          data.inputs.push_back(*input);
  }

  /// The end of a run that is measured.
  int summarize(const EntryPoint& entry, const Binding& binding, const Machine& machine, const RunFigures& figures) {
    Measured& measured = measured_.emplace();
    measured.entry = entry.name;
    measured.machine = machine.name;
    measured.seconds = *std::min_element(figures.seconds.begin(), figures.seconds.end());
    measured.sizes = binding.sizes;
    for (size_t position = 0; position < entry.arguments.size(); ++position) {
      if (!entry.arguments[position].written)
        continue;
      const std::string& name = entry.arguments[position].name;
      if (!binding.isFile(position)) {
        measured.digests[name] = digestOf(binding.arrays[position]);
      } else if (const auto array = binding.files[position]->load(session_.diagnostics)) {
        measured.digests[name] = digestOf(*array);
      }
    }
    if (session_.diagnostics.hasErrors())
      measured_.reset();
    return finish(session_);
  }

  /// Of the scalars of an array's elements; what lies between these is nobody's.
  static uint64_t digestOf(const Array& array) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(array.data());
    const auto runs = scalarRuns(array.type());
    uint64_t scalars = 0;
    for (const ScalarRun& run : runs ? *runs : std::vector<ScalarRun>())
      scalars += run.bytes * run.count;
    if (!runs || scalars == array.type().bytes)
      return llvm::xxh3_64bits(llvm::ArrayRef<uint8_t>(bytes, array.bytes()));
    std::vector<uint8_t> packed;
    packed.reserve(array.elements() * scalars);
    for (uint64_t element = 0; element < array.elements(); ++element)
      for (const ScalarRun& run : *runs) {
        const uint8_t* at = bytes + element * array.type().bytes + run.offset;
        packed.insert(packed.end(), at, at + run.bytes * run.count);
      }
    return llvm::xxh3_64bits(packed);
  }

  std::optional<Binding> copyOf(const EntryPoint& entry, const Binding& binding) {
    Binding copy;
    copy.sizes = binding.sizes;
    for (size_t position = 0; position < binding.arrays.size(); ++position) {
      auto array = binding.isFile(position)
                       ? binding.files[position]->load(session_.diagnostics)
                       : binding.arrays[position].clone("a second copy of '" + entry.arguments[position].name + "'",
                                                        session_.diagnostics, {});
      if (!array)
        return std::nullopt;
      copy.arrays.push_back(std::move(*array));
    }
    return copy;
  }

  /// Code of a logical program, which lives as long as the code does.
  std::unique_ptr<target::Executable> compile(Compiler& compiler, LogicalProgram& program,
                                              const target::NativeFunctions& natives, Instrumentation instrumentation) {
    auto artefact = compiler.compile(program, options_.optimization, natives, instrumentation);
    if (artefact)
      kernels_ = kernelFigures(*artefact);
    auto executable = artefact ? artefact->load() : nullptr;
    session_.watch.end();
    return executable;
  }

  static std::vector<KernelFigures> kernelFigures(const target::Artefact& artefact) {
    std::vector<KernelFigures> all;
    for (const kernel::KernelPaths& kernel : artefact.kernels()) {
      KernelFigures& figures = all.emplace_back(KernelFigures{kernel.name(), kernel.text(), {}});
      for (const kernel::LoopPath& loop : kernel.loops) {
        const FilePlace at = filePlace(loop.at);
        figures.loops.push_back({at.file + ":" + std::to_string(at.line) + ":" + std::to_string(at.column), loop.rows,
                                 loop.registers, loop.lanes, loop.why});
      }
    }
    return all;
  }

  bool compileAndCall(Compiler& compiler, LogicalProgram& program, Code& code, const EntryPoint& entry,
                      Binding& binding, RunFigures& figures) {
    for (auto kernel : program.module->getOps<svm::KernelOp>())
      figures.paths[kernel.getName().str()] = svm::kindName(kernel.kind()).str();
    const bool isCounted = !options_.stats.empty();
    const bool warmsUp = isCounted || options_.repeat > 1 || measurement_;
    if (isCounted) {
      code.counted = program.clone();
      code.counting = compile(compiler, *code.counted, code.natives, Instrumentation::Count);
      if (!code.counting)
        return false;
    }
    code.executable =
        compile(compiler, program, code.natives, isTraced() ? Instrumentation::Trace : Instrumentation::None);
    if (!code.executable)
      return false;
    figures.kernels = kernels_;
    target::Executable &executable = *code.executable, &first = code.counting ? *code.counting : executable;
    runtime::setThreads(options_.compile.threads.value_or(0));
    std::vector<Array> pristine;
    if (warmsUp)
      for (size_t position = 0; position < binding.arrays.size(); ++position) {
        Array copy; // only what is read and written is different the second time
        if (isRestored(entry.arguments[position]) && !binding.isFile(position)) {
          auto made = binding.arrays[position].clone("a second copy of '" + entry.arguments[position].name + "'",
                                                     session_.diagnostics, {});
          if (!made)
            return false;
          copy = std::move(*made);
        }
        pristine.push_back(std::move(copy));
      }
    std::vector<void*> arguments = binding.pack(entry);
    const HomeArrays home(entry, binding, arguments);
    const auto entryPoint = executable.entry(entry.name);
    const auto firstEntry = entryPoint && code.counting ? first.entry(entry.name) : entryPoint;
    if (!firstEntry)
      return false;
    double seconds = 0;
    auto call = [&](const target::Executable::Entry& entry) {
      home.copyIn();
      auto begin = std::chrono::steady_clock::now();
      const bool fine = entry(arguments.data());
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      home.copyOut();
      return fine;
    };
    auto restore = [&] {
      for (size_t position = 0; position < pristine.size(); ++position)
        if (!isRestored(entry.arguments[position]))
          continue;
        else if (!binding.isFile(position))
          std::memcpy(binding.arrays[position].data(), pristine[position].data(), pristine[position].bytes());
        else if (!binding.files[position]->restore(session_.diagnostics))
          return false;
      return true;
    };
    if (warmsUp) {
      first.resetFigures();
      runtime::tellProgress("running " + entry.name + " to warm up and count");
      if (!call(firstEntry))
        return false;
      executable.setPrinting(false); // the program has said it all
      figures.counters = first.figures();
      // Where that took so long, it was not being the first that cost it.
      constexpr double longTime = 2, timesHopeless = 10;
      if (measurement_ && seconds > std::min(longTime, timesHopeless * measurement_->hopeless))
        figures.seconds.push_back(seconds);
    }
    const auto isEnough = [&] {
      if (!measurement_)
        return figures.seconds.size() >= std::max(options_.repeat, 1u);
      const std::vector<double>& seconds = figures.seconds;
      constexpr size_t few = 3; // of which one may be the only one that nothing disturbed
      return !seconds.empty() &&
             (seconds.size() >= measurement_->most ||
              std::accumulate(seconds.begin(), seconds.end(), 0.0) >= measurement_->enough ||
              (seconds.size() >= few && *std::min_element(seconds.begin(), seconds.end()) > measurement_->hopeless));
    };
    cluster::Cluster* const traced = isTraced() ? cluster::leading() : nullptr;
    if (traced)
      traced->figures(); // what has gone between processes until now
    for (unsigned repetition = 0; !isEnough(); ++repetition) {
      if (!restore())
        return false;
      if (runtime::showsProgress())
        runtime::tellProgress("running " + entry.name +
                              (options_.repeat > 1 ? ", repetition " + std::to_string(repetition + 1) + " of " +
                                                         std::to_string(options_.repeat)
                                                   : ""));
      if (repetition + 1 == std::max(options_.repeat, 1u))
        recording_.start(program.machine.name);
      if (!call(entryPoint))
        return false;
      figures.seconds.push_back(seconds);
      executable.setPrinting(false);
    }
    if (traced)
      traffic_ = traced->figures();
    return true;
  }

  static bool isRestored(const EntryArgument& argument) { return argument.read && argument.written; }

  Session& session_;
  Options& options_;
  ArrayRecording recording_;
  const Measurement* measurement_; // null: nobody compares it
  std::optional<Measured> measured_;
  std::vector<KernelFigures> kernels_;     // of what was compiled last
  std::map<std::string, int64_t> traffic_; // between processes, in the runs that are traced
  bool recordsArrays_ = false;             // it is the target's runs on arrays that are recorded
};

} // namespace

int runCommand(Session& session) {
  if (isSymbolic(session.options.compile.program))
    return runSymbolic(session);
  if (!session.options.emit.empty())
    return emitCommand(session);
  return Runner(session).run();
}

std::optional<Measured> measure(Session& session, const Measurement& measurement) {
  Runner runner(session, &measurement);
  runner.run();
  return runner.measured();
}

} // namespace strata::driver

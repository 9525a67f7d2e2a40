// Every program is prepared as if it were alone: meanwhile its options and its words stand in the session. Then the
// regions are placed, those first whose places are given; of regions whose sizes nobody gave, the largest becomes
// smaller, by a half of its rows or its columns, until all have room.
#include "compiler/driver/run/array_programs.h"

#include "compiler/driver/compile/notations.h"
#include "compiler/driver/data/symbolic_entry.h"
#include "compiler/driver/run/run.h"
#include "compiler/driver/run/symbolic.h"
#include "compiler/driver/session/output_files.h"
#include "compiler/driver/session/prepare.h"
#include "compiler/target/array_runner.h"
#include "compiler/target/registry/registry.h"
#include "runtime/array/device.h"
#include "runtime/array/files.h"

#include "base/data/npy.h"
#include "base/machine/quantity.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <set>

namespace strata::driver {

STRATA_DIAGNOSTIC(noLoopProgram, Error, "array-programs-kind",
                  "'{0}' is no loop program, and only those share an array");
STRATA_DIAGNOSTIC(machinesDiffer, Error, "array-programs-machine",
                  "'{0}' was made for machine '{1}', and '{2}' for machine '{3}'");
STRATA_DIAGNOSTIC(noController, Error, "array-programs-controllers",
                  "there are {0} programs, and the array of machine '{1}' has {2} controllers");

namespace {

using array::Device;
using array::DeviceError;

/// One program on its way to its results.
struct LoopProgram {
  ProgramPart part;
  DataOptions data = {};
  std::optional<array::Symbolic> symbolic = {};
  std::unique_ptr<SymbolicEntry> entry = {};
  std::optional<Binding> binding = {};
  std::vector<int64_t> sizes = {};
  array::PlacementRequest request = {};
  std::vector<std::pair<uint32_t, uint32_t>> smaller = {}; // regions that are left to be tried, the largest last
  Device::Placement placement = 0;
  RunFigures figures = {};

  const std::string& file() const { return part.options.compile.program; }
  const target::ArrayOptions& asked() const { return part.options.compile.array; }
  uint64_t elements() const { return uint64_t{request.rows} * request.columns; }
};

class Programs {
public:
  Programs(Session& session, std::vector<ProgramPart> parts)
      : session_(session), diagnostics_(session.diagnostics), options_(session.options),
        context_(mlir::MLIRContext::Threading::DISABLED) {
    for (ProgramPart& part : parts)
      programs_.push_back({std::move(part)});
  }

  int run() {
    if (read() && findMachine() && map() && bind() && chooseControllers() && place() && execute() && write())
      report();
    return finish(session_);
  }

private:
  using Order = std::vector<LoopProgram*>;

  /// Does something with a program's options and words in the session, which are not in the program meanwhile.
  template <typename Body>
  bool with(LoopProgram& program, Body body) {
    std::swap(session_.options, program.part.options);
    std::swap(session_.commandLine, program.part.words);
    const bool fine = body();
    std::swap(session_.options, program.part.options);
    std::swap(session_.commandLine, program.part.words);
    return fine && !diagnostics_.hasErrors();
  }

  void tell(const target::ArrayError& error, Location where = {}) {
    DiagnosticBuilder report = diagnostics_.report(*error.kind, where, error.message);
    if (!error.help.empty())
      report.help(error.help);
  }

  Location programPlace(const LoopProgram& program) const { return program.part.words->find(program.file(), 2); }

  Location regionPlace(const LoopProgram& program) const {
    return program.part.words->value("--region", program.part.options.region);
  }

  /// The options, and the configurations that are files.
  bool read() {
    std::vector<ProgramOutputs> outputs;
    for (LoopProgram& program : programs_) {
      const bool fine = with(program, [&] {
        if (!prepare(session_, program.data))
          return false;
        session_.options.compile.arrayPlace = {}; // whether it goes onto the array is looked at here
        session_.options.compile.array.isShared = programs_.size() > 1;
        for (const OutputOption& output : program.data.outputs)
          checkWritable(output.path, diagnostics_, output.where);
        if (isSymbolic(session_.options.compile.program))
          program.symbolic = readSymbolic(session_);
        return true;
      });
      if (!fine)
        return false;
      outputs.push_back({program.file(), program.data.outputs});
    }
    return checkOutputFilesApart(session_, outputs);
  }

  /// The one that is given, else the one that configurations were made for.
  bool findMachine() {
    const LoopProgram* first = nullptr;
    for (const LoopProgram& program : programs_) {
      if (!program.symbolic || !options_.compile.machine.empty())
        continue;
      first = first ? first : &program;
      if (program.symbolic->machine == first->symbolic->machine)
        continue;
      diagnostics_
          .report(machinesDiffer, programPlace(program), program.file(), program.symbolic->machine, first->file(),
                  first->symbolic->machine)
          .help("all run on one array: give it with --machine");
      return false;
    }
    Compiler compiler(Compiler::NoFile(), context_, diagnostics_, options_.compile);
    machine_ = compiler.machine(first ? first->symbolic->machine : "", {});
    if (!machine_)
      return false;
    if (!target::arrayProcessor(*machine_)) {
      tell(*target::misfit({}, *machine_), options_.compile.machinePlace);
      return false;
    }
    for (LoopProgram& program : programs_)
      if (options_.compile.machine.empty())
        program.part.options.compile.machine = first ? first->symbolic->machine : "";
    return true;
  }

  /// The symbolic configurations of those programs that are none yet.
  bool map() {
    for (LoopProgram& program : programs_) {
      const Location where = programPlace(program);
      if (!program.symbolic && !with(program, [&] { return (program.symbolic = mapped(where)).has_value(); }))
        return false;
      if (const auto problem = target::misfit(*program.symbolic, *machine_)) {
        tell(*problem, where);
        return false;
      }
    }
    return true;
  }

  std::optional<array::Symbolic> mapped(Location where) {
    const std::string& file = session_.options.compile.program;
    CompilerSession compilation(session_);
    auto program = compilation.compiler.logical();
    if (!program)
      return std::nullopt;
    if (!program->target->maps(*program->module)) {
      diagnostics_.report(noLoopProgram, where, file).help("give programs of loop equations, or files of strata map");
      return std::nullopt;
    }
    auto artefact = compilation.compiler.compile(*program, 0, {});
    const auto bytes = artefact ? artefact->text("binary") : std::nullopt;
    if (!bytes)
      return std::nullopt;
    auto read = array::read(*bytes);
    return std::get<array::Symbolic>(std::move(read)); // what has just been written
  }

  bool bind() {
    for (LoopProgram& program : programs_) {
      program.entry = std::make_unique<SymbolicEntry>(*program.symbolic, context_);
      program.binding = bindArguments(program.entry->entry(), program.data, diagnostics_);
      if (!program.binding)
        return false;
      program.sizes = program.entry->sizes(*program.binding);
      const auto request = target::ArrayRunner(*program.symbolic, array(), program.asked()).request(program.sizes);
      if (const auto* error = std::get_if<target::ArrayError>(&request)) {
        tell(*error);
        return false;
      }
      program.request = std::get<array::PlacementRequest>(request);
    }
    return true;
  }

  /// Those that are named; programs that name none get the others, in the machine's order.
  bool chooseControllers() {
    std::vector<machine::Corner> free = array().controllers;
    for (const LoopProgram& program : programs_)
      if (program.asked().corner)
        std::erase(free, *program.asked().corner);
    for (LoopProgram& program : programs_) {
      if (program.asked().corner)
        continue;
      if (free.empty()) {
        diagnostics_
            .report(noController, programPlace(program), programs_.size(), machine_->name, array().controllers.size())
            .help("each program has a controller of its own: run fewer at once");
        return false;
      }
      program.request.corner = free.front();
      free.erase(free.begin());
    }
    return true;
  }

  bool place() {
    Order order;
    const auto freedom = [](const LoopProgram& each) { return each.asked().place ? 0 : each.asked().region ? 1 : 2; };
    for (const int now : {0, 1, 2})
      for (LoopProgram& program : programs_)
        if (freedom(program) == now)
          order.push_back(&program);
    for (LoopProgram& program : programs_)
      if (!findSize(program))
        return false;
    // A program that finds no place comes before the others, each once for the same sizes.
    std::set<LoopProgram*> preferred;
    for (;;) {
      std::optional<DeviceError> why;
      const auto failed = placeInOrder(order, why);
      if (failed == order.end())
        return true;
      const auto first = std::ranges::find_if(order, [&](const LoopProgram* each) { return freedom(*each) != 0; });
      if (failed > first && preferred.insert(*failed).second) {
        std::rotate(first, failed, failed + 1);
      } else if (freedom(**failed) != 0 && shrinkLargest()) {
        preferred.clear();
      } else {
        refuse(**failed, *std::move(why));
        return false;
      }
    }
  }

  /// The first that has no place, and why; the end where all have.
  Order::iterator placeInOrder(Order& order, std::optional<DeviceError>& why) {
    device_.emplace(array(), machine_->name);
    return std::ranges::find_if(order, [&](LoopProgram* program) {
      auto made = program->asked().place ? device_->place(*program->symbolic, program->request)
                                         : device_->placeFirst(*program->symbolic, program->request);
      if (auto* error = std::get_if<DeviceError>(&made))
        why = std::move(*error);
      else
        program->placement = std::get<Device::Placement>(made);
      return why.has_value();
    });
  }

  /// The largest region with which a program has a place in an empty array, if nobody has given one. False where there
  /// is none (reported).
  bool findSize(LoopProgram& program) {
    if (program.asked().region || !program.asked().tile.empty())
      return true;
    const uint32_t rows = program.request.rows, columns = program.request.columns;
    const auto half = [](uint32_t count) { return count > 1 ? (count + 1) / 2 : 0; };
    for (uint32_t row = rows; row > 0; row = half(row))
      for (uint32_t column = columns; column > 0; column = half(column))
        program.smaller.emplace_back(row, column);
    std::ranges::sort(program.smaller, {},
                      [](const auto& each) { return std::pair(uint64_t{each.first} * each.second, each.second); });
    std::optional<DeviceError> why;
    if (shrink(program, &why))
      return true;
    refuse(program, *std::move(why));
    return false;
  }

  /// Takes the next region with which it has a place in an empty array. False where there is none; `why` becomes the
  /// first reason.
  bool shrink(LoopProgram& program, std::optional<DeviceError>* why = nullptr) {
    array::PlacementRequest wanted = program.request;
    while (!program.smaller.empty()) {
      std::tie(wanted.rows, wanted.columns) = program.smaller.back();
      program.smaller.pop_back();
      auto made = Device(array(), machine_->name).placeFirst(*program.symbolic, wanted);
      if (auto* error = std::get_if<DeviceError>(&made)) {
        if (why && !*why)
          *why = std::move(*error);
        continue;
      }
      program.request = wanted;
      return true;
    }
    return false;
  }

  /// Of the regions that can be smaller, that with the most elements; of several the last program's.
  bool shrinkLargest() {
    std::vector<LoopProgram*> order;
    for (LoopProgram& program : programs_)
      order.push_back(&program);
    std::ranges::sort(order, [](const LoopProgram* a, const LoopProgram* b) {
      return std::pair(a->elements(), a) > std::pair(b->elements(), b);
    });
    return llvm::any_of(order, [&](LoopProgram* program) { return shrink(*program); });
  }

  void refuse(const LoopProgram& program, DeviceError error) {
    if (error.kind == DeviceError::Kind::Occupied)
      error.help = program.asked().place
                       ? "choose a region apart from the others, and a corner of its own"
                       : "choose smaller regions (--region), places for them (--region 2x4@2,0) or other corners";
    if (error.message.find("'" + program.symbolic->program + "'") == std::string::npos)
      error.message = "'" + program.symbolic->program + "': " + error.message;
    const Location where = regionPlace(program);
    tell(target::errorOf(std::move(error)), where.valid() ? where : programPlace(program));
  }

  /// Starts all in one cycle and waits for all, as often as asked.
  bool execute() {
    for (LoopProgram& program : programs_) {
      const SymbolicEntry::Memories memories = program.entry->memories(*program.binding);
      const size_t inputs = memories.inputs.size();
      for (size_t i = 0; i < inputs + memories.outputs.size(); ++i) {
        const bool isInput = i < inputs;
        auto* memory = isInput ? const_cast<std::byte*>(memories.inputs[i]) : memories.outputs[i - inputs];
        const std::string& name = (isInput ? program.symbolic->inputs[i] : program.symbolic->outputs[i - inputs]).name;
        if (auto error = device_->bind(program.placement, name, memory, program.binding->arrays[i].bytes()))
          return refuse(program, *std::move(error)), false;
      }
      program.figures.target = target::targetOf(*machine_, "", {}, diagnostics_);
      if (!program.figures.target)
        return false;
    }
    for (unsigned repetition = 0; repetition < std::max(options_.repeat, 1u); ++repetition) {
      const int64_t begin = device_->clock();
      for (LoopProgram& program : programs_)
        if (auto error = device_->start(program.placement))
          return refuse(program, *std::move(error)), false;
      for (LoopProgram& program : programs_) {
        const auto before = std::chrono::steady_clock::now();
        auto cycles = device_->wait(program.placement);
        if (auto* error = std::get_if<DeviceError>(&cycles))
          return refuse(program, std::move(*error)), false;
        program.figures.seconds.push_back(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
      }
      cycles_ = device_->clock() - begin;
    }
    return true;
  }

  bool write() {
    return llvm::all_of(programs_, [&](LoopProgram& program) {
      return writeOutputs(program.entry->entry(), *program.binding, program.data, diagnostics_);
    });
  }

  void report() {
    std::vector<ProgramRun> runs;
    for (LoopProgram& program : programs_) {
      const array::PlacementRequest& at = device_->request(program.placement);
      program.figures.counters =
          target::arrayFigures(*program.symbolic, array(), device_->statistics(program.placement), 1,
                               &device_->configuration(program.placement));
      program.figures.counters["array row"] = at.row;
      program.figures.counters["array column"] = at.column;
      runs.push_back({&program.part.options, &program.entry->entry(), &*program.binding, &program.data,
                      &program.figures, array::describe(at)});
    }
    reportPrograms(session_, runs, *machine_, cycles_, arrayCounters());
  }

  /// Of all elements of the array, in all cycles until the last program has ended.
  std::map<std::string, int64_t> arrayCounters() const {
    std::map<std::string, int64_t> counters;
    const auto all = static_cast<int64_t>(array().rows * array().columns);
    int64_t taken = 0, busy = 0;
    for (const LoopProgram& program : programs_) {
      taken += static_cast<int64_t>(program.elements());
      busy += device_->statistics(program.placement).elementCycles;
    }
    counters["array cycles"] = cycles_;
    counters["array elements"] = all;
    counters["array elements taken"] = taken;
    counters["array element cycles"] = busy;
    for (size_t unit = 0; unit < array().units.size(); ++unit) {
      int64_t operations = 0;
      for (const LoopProgram& program : programs_)
        operations += device_->statistics(program.placement).unitOperations[unit];
      const machine::FunctionalUnit& kind = array().units[unit];
      counters["array operations of " + kind.name] = operations;
      const double possible = static_cast<double>(cycles_) * static_cast<double>(all) * static_cast<double>(kind.count);
      if (possible > 0)
        counters["array utilisation of " + kind.name + " in thousandths"] =
            static_cast<int64_t>(1000 * static_cast<double>(operations) / possible + 0.5);
    }
    return counters;
  }

  const machine::ProcessorArray& array() const { return target::arrayProcessor(*machine_)->array.front(); }

  Session& session_;
  DiagnosticEngine& diagnostics_;
  const Options options_; // with what is for all
  mlir::MLIRContext context_;
  std::optional<Machine> machine_;
  std::vector<LoopProgram> programs_;
  std::optional<Device> device_;
  int64_t cycles_ = 0; // until all have ended
};

} // namespace

int runPrograms(Session& session, std::vector<ProgramPart> parts) {
  return Programs(session, std::move(parts)).run();
}

} // namespace strata::driver

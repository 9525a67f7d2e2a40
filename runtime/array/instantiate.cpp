// The order of instantiation: tiles, starts, FIFOs, processor classes; then, for each unit of each class, control flow;
// signals for all of them together; programs. Units that execute the same sets in several classes are done once.
#include "runtime/array/instantiate.h"
#include "runtime/array/periphery.h"
#include "runtime/array/processor_classes.h"
#include "runtime/array/programs.h"
#include "runtime/array/starts.h"
#include "runtime/array/variables.h"
#include "runtime/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <tuple>

namespace strata::array {

namespace {

struct Unit {
  std::string name;
  uint64_t instructions = 0; // slots of its memory
  std::vector<PlacedInstruction> placed;
  std::vector<uint32_t> sets; // all that its instructions name, in ascending order
};

/// Symbolic instructions that become one PlacedInstruction.
struct Operation {
  using Pieces = std::vector<TermSets::Piece>;
  std::vector<const SymbolicInstruction*> instructions;
  Pieces when;
  std::map<Register, Pieces> destinations;
  std::vector<std::map<Operand, Pieces>> operands;

  void add(const SymbolicInstruction& instruction, TermSets& terms) {
    const uint32_t within = terms.list(instruction.when);
    instructions.push_back(&instruction);
    when.push_back({within});
    for (const Destination& destination : instruction.destinations)
      destinations[destination.reg].push_back({terms.list(destination.when), within});
    operands.resize(instruction.operands.size());
    for (size_t i = 0; i < operands.size(); ++i)
      for (const Source& source : instruction.operands[i])
        operands[i][source.value].push_back({terms.list(source.when), within});
  }
  /// Adds what it names to `sets`.
  PlacedInstruction place(TermSets& terms, std::vector<uint32_t>& sets) const {
    const auto number = [&](const Pieces& pieces) { return sets.emplace_back(terms.add(pieces)); };
    PlacedInstruction placed = {instructions, number(when), {}, {}};
    for (const auto& [reg, pieces] : destinations)
      placed.destinations.emplace(reg, number(pieces));
    for (const auto& alternatives : operands)
      for (auto& numbers = placed.operands.emplace_back(); const auto& [value, pieces] : alternatives)
        numbers.emplace(value, number(pieces));
    return placed;
  }
};

std::vector<Unit> makeUnits(const Symbolic& symbolic, const machine::ProcessorArray& array, TermSets& terms) {
  std::vector<Unit> units;
  for (const machine::FunctionalUnit& unit : array.units)
    for (uint64_t i = 0; i < unit.count; ++i)
      units.push_back({unit.name + std::to_string(i), unit.instructions, {}, {}});
  using Key = std::tuple<uint32_t, int64_t, Opcode, Type, Type>;
  std::map<Key, Operation> operations;
  std::vector<const Key*> order; // of first instructions
  for (const SymbolicInstruction& instruction : symbolic.instructions) {
    const auto [found, isNew] = operations.try_emplace(
        {instruction.unit, instruction.offset, instruction.opcode, instruction.type, instruction.operandType});
    if (isNew)
      order.push_back(&found->first);
    found->second.add(instruction, terms);
  }
  for (const Key* key : order) {
    Unit& unit = units[std::get<0>(*key)];
    unit.placed.push_back(operations.at(*key).place(terms, unit.sets));
  }
  for (Unit& unit : units) {
    std::ranges::sort(unit.sets);
    const auto repeated = std::ranges::unique(unit.sets);
    unit.sets.erase(repeated.begin(), repeated.end());
  }
  return units;
}

/// One unit with the sets of one or several classes.
struct Job {
  size_t unit = 0, firstClass = 0;
  ControlFlow flow;
  std::optional<InstantiationError> error;
};

struct Jobs {
  std::vector<Job> list;
  std::vector<std::vector<size_t>> byClass; // and unit
};

Jobs makeJobs(std::span<const Unit> units, const TermSets::Partition& partition) {
  Jobs jobs;
  std::map<std::vector<uint32_t>, size_t> known;
  for (size_t c = 0; c < partition.classes.size(); ++c) {
    std::vector<size_t>& numbers = jobs.byClass.emplace_back();
    for (size_t u = 0; u < units.size(); ++u) {
      std::vector<uint32_t> key = {static_cast<uint32_t>(u)};
      for (const uint32_t set : units[u].sets)
        key.push_back(partition.classes[c][set]);
      const auto [found, isNew] = known.try_emplace(std::move(key), jobs.list.size());
      if (isNew)
        jobs.list.push_back({u, c, {}, {}});
      numbers.push_back(found->second);
    }
  }
  return jobs;
}

void execute(Job& job, const Unit& unit, std::span<const Diagrams::Set> sets, const machine::ProcessorArray& array,
             int64_t interval, Diagrams& diagrams) {
  std::vector<std::string> names;
  for (const PlacedInstruction& placed : unit.placed)
    for (const SymbolicInstruction* each : placed.instructions)
      addVariable(names, *each);
  std::variant<ControlFlow, InstantiationError> flow = makeControlFlow(unit.placed, sets, interval, diagrams);
  if (auto* error = std::get_if<InstantiationError>(&flow)) {
    job.error = std::move(*error);
    return;
  }
  job.flow = std::get<ControlFlow>(std::move(flow));
  const std::string where = "unit " + unit.name + " in processor class " + std::to_string(job.firstClass);
  const std::string help =
      "larger interiors of tiles or fewer distinct conditions make shorter programs; otherwise the "
      "array needs larger instruction memories";
  const auto tooLong = [&](const std::string& needed) {
    job.error = {"the program of " + where + (names.empty() ? "" : ", which computes " + formatNames(names) + ",") +
                     " takes " + needed + " instructions, the unit's memory holds " + std::to_string(unit.instructions),
                 help, false, false, names};
  };
  if (const size_t length = programLength(job.flow, interval); length > unit.instructions)
    return tooLong(std::to_string(length));
  const uint64_t codes = uint64_t{1} << std::min<uint64_t>(array.branchSignals, 32);
  const uint64_t most = std::min(array.branchTargets, codes);
  const size_t before = job.flow.nodes.size(), limit = unit.instructions / static_cast<uint64_t>(interval);
  if (!limitEdges(job.flow, most, limit, diagrams)) {
    tooLong("more than " + std::to_string(limit * static_cast<size_t>(interval)));
    job.error->message +=
        "; branches of " + std::to_string(most) + " targets make copies of its " + std::to_string(before) + " kernels";
    return;
  }
  if (const size_t length = programLength(job.flow, interval); length > unit.instructions)
    tooLong(std::to_string(length));
}

/// What the workers share. Jobs are handed out one by one; each worker has sets of its own.
struct Workshop {
  Jobs& jobs;
  std::span<const Unit> units;
  const TermSets::Partition& partition;
  const machine::ProcessorArray& array;
  int64_t interval;
  const Diagrams& shared;
  std::vector<std::unique_ptr<Diagrams>> own; // by worker
  std::vector<size_t> owner;                  // of each job
  std::atomic<size_t> next = 0;

  void work(size_t worker) {
    own[worker] = std::make_unique<Diagrams>(shared.extents());
    Diagrams& diagrams = *own[worker];
    for (size_t j = next++; j < jobs.list.size(); j = next++) {
      Job& job = jobs.list[j];
      const std::vector<Diagrams::Set>& all = partition.classes[job.firstClass];
      std::vector<Diagrams::Set> sets(all.size(), Diagrams::none);
      for (const uint32_t set : units[job.unit].sets)
        sets[set] = diagrams.copy(shared, all[set]);
      execute(job, units[job.unit], sets, array, interval, diagrams);
      owner[j] = worker;
    }
  }
};

/// On the runtime's threads. The results come back in the jobs' order, so that it does not matter who made them.
void executeInParallel(Jobs& jobs, std::span<const Unit> units, const TermSets::Partition& partition,
                       const machine::ProcessorArray& array, int64_t interval, unsigned threads, Diagrams& diagrams) {
  Workshop workshop = {jobs, units, partition, array, interval, diagrams, {}, {}};
  workshop.own.resize(std::min<size_t>(threads, jobs.list.size()));
  workshop.owner.resize(jobs.list.size());
  const auto body = [](void* context, int64_t worker) {
    static_cast<Workshop*>(context)->work(static_cast<size_t>(worker));
  };
  runtime::runParallel(body, &workshop, static_cast<int64_t>(workshop.own.size()), false, {});
  for (size_t j = 0; j < jobs.list.size(); ++j)
    for (ControlFlow::Node& node : jobs.list[j].flow.nodes)
      for (ControlFlow::Edge& edge : node.edges)
        edge.when = diagrams.copy(*workshop.own[workshop.owner[j]], edge.when);
}

std::optional<InstantiationError> setSignals(const SignalAllocation& allocation, const machine::ProcessorArray& array,
                                             Diagrams& diagrams, Configuration& configuration) {
  const size_t needed = allocation.ones.size();
  const std::string help = "larger interiors of tiles or fewer distinct conditions need fewer signals";
  if (needed > array.controllerSignals)
    return InstantiationError{"the programs need " + std::to_string(needed) +
                                  " control signals, the controller makes " + std::to_string(array.controllerSignals),
                              help};
  if (needed > array.registers.control)
    return InstantiationError{"the programs need " + std::to_string(needed) +
                                  " control signals, an element has control registers for " +
                                  std::to_string(array.registers.control),
                              help};
  const auto counted = std::ranges::count_if(configuration.extents, [](int64_t extent) { return extent > 1; });
  if (needed != 0 && static_cast<uint64_t>(counted) > array.controllerDimensions)
    return InstantiationError{"a tile has " + std::to_string(counted) + " loops, the controller counts " +
                                  std::to_string(array.controllerDimensions),
                              "fewer loops with several iterations need fewer counters"};
  for (const Diagrams::Set set : allocation.ones)
    diagrams.boxes(set, [&signal = configuration.signals.emplace_back()](std::span<const Range> box) {
      signal.ones.emplace_back(box.begin(), box.end());
    });
  return std::nullopt;
}

std::optional<InstantiationError> setPrograms(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                              const InstantiationOptions& options, const Tiling& tiling,
                                              Configuration& configuration) {
  Diagrams diagrams(tiling.extents);
  TermSets terms(symbolic, tiling, diagrams);
  const std::vector<Unit> units = makeUnits(symbolic, array, terms);
  std::optional<TermSets::Partition> partition = terms.partition();
  if (!partition)
    return tooLarge("the value of a condition");
  Jobs jobs = makeJobs(units, *partition);
  if (options.threads > 1 && jobs.list.size() > 1)
    executeInParallel(jobs, units, *partition, array, symbolic.interval, options.threads, diagrams);
  else
    for (Job& job : jobs.list)
      execute(job, units[job.unit], partition->classes[job.firstClass], array, symbolic.interval, diagrams);
  std::vector<ControlFlow> flows;
  for (Job& job : jobs.list) {
    if (job.error)
      return std::move(job.error);
    flows.push_back(std::move(job.flow));
  }
  const uint64_t available = std::min(array.controllerSignals, array.registers.control);
  const SignalAllocation allocation = allocateSignals(flows, available, diagrams);
  if (std::optional<InstantiationError> error = setSignals(allocation, array, diagrams, configuration))
    return error;
  std::vector<Program> programs;
  for (size_t j = 0; j < flows.size(); ++j)
    programs.push_back(makeProgram(flows[j], allocation.branches[j], symbolic.interval));
  for (const std::vector<size_t>& numbers : jobs.byClass) {
    ProcessorClass& result = configuration.classes.emplace_back();
    for (const size_t number : numbers)
      result.programs.push_back(programs[number]);
  }
  configuration.regions = std::move(partition->regions);
  return std::nullopt;
}

std::vector<ArrayLayout> layouts(const std::vector<SymbolicArray>& arrays, std::span<const int64_t> sizes,
                                 std::optional<InstantiationError>& error) {
  std::vector<ArrayLayout> result;
  for (const SymbolicArray& array : arrays) {
    ArrayLayout& layout = result.emplace_back(ArrayLayout{array.name, array.type, {}});
    CheckedSum elements;
    elements.add(1);
    for (const Linear& extent : array.extents) {
      CheckedSum value, product;
      value.add(extent.constant);
      for (size_t p = 0; p < sizes.size(); ++p)
        value.add(extent.parameters[p], sizes[p]);
      product.add(elements.value(), std::max<int64_t>(1, value.value()));
      if (!value.fits() || !product.fits())
        error = tooLarge("the size of array '" + array.name + "'");
      else if (value.value() < 0)
        error = {"array '" + array.name + "' would have an extent of " + std::to_string(value.value()),
                 "choose larger sizes"};
      elements = product;
      layout.extents.push_back(value.value());
    }
  }
  return result;
}

} // namespace

std::variant<Configuration, InstantiationError> instantiatePrograms(const Symbolic& symbolic,
                                                                    const machine::ProcessorArray& array,
                                                                    const InstantiationOptions& options) {
  std::variant<Tiling, InstantiationError> tiled = makeTiling(symbolic, array, options);
  if (auto* error = std::get_if<InstantiationError>(&tiled))
    return std::move(*error);
  const Tiling& tiling = std::get<Tiling>(tiled);
  Configuration configuration;
  configuration.program = symbolic.program;
  configuration.rows = static_cast<uint32_t>(tiling.rows);
  configuration.columns = static_cast<uint32_t>(tiling.columns);
  configuration.interval = symbolic.interval;
  for (const Loop& loop : symbolic.loops)
    configuration.loops.push_back(loop.name);
  configuration.extents = tiling.extents;
  configuration.iterations = tiling.iterations;
  configuration.corner = options.corner;
  std::optional<InstantiationError> error;
  configuration.inputs = layouts(symbolic.inputs, tiling.sizes, error);
  configuration.outputs = layouts(symbolic.outputs, tiling.sizes, error);
  if (error)
    return *std::move(error);
  if (tiling.isEmpty()) {
    uint64_t units = 0;
    for (const machine::FunctionalUnit& unit : array.units)
      units += unit.count;
    configuration.classes.push_back({std::vector<Program>(units)});
    configuration.regions = {{{0, tiling.rows}, {0, tiling.columns}, 0}};
    configuration.feedbackDepths.assign(array.registers.feedback, 0);
    configuration.inputDepths.assign(array.registers.input, 0);
    return configuration;
  }
  const std::variant<Starts, InstantiationError> made = makeStarts(symbolic, array, tiling, options.corner);
  if (const auto* failed = std::get_if<InstantiationError>(&made))
    return *failed;
  const Starts& starts = std::get<Starts>(made);
  configuration.firstStart = starts.first;
  configuration.rowStart = starts.row;
  configuration.columnStart = starts.column;
  if ((error = setDepths(symbolic, array, tiling, starts, configuration)))
    return *std::move(error);
  try {
    error = setPrograms(symbolic, array, options, tiling, configuration);
  } catch (const TooManyRanges&) {
    error = tooManyRanges(symbolic, tiling);
  }
  if (error)
    return *std::move(error);
  return configuration;
}

std::optional<InstantiationError> instantiatePeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                       const InstantiationOptions& options,
                                                       Configuration& configuration) {
  const std::variant<Tiling, InstantiationError> tiled = makeTiling(symbolic, array, options);
  if (const auto* error = std::get_if<InstantiationError>(&tiled))
    return *error;
  const Tiling& tiling = std::get<Tiling>(tiled);
  configuration.data.clear();
  configuration.control.clear();
  configuration.banks.clear();
  if (tiling.isEmpty())
    return std::nullopt;
  if (std::optional<InstantiationError> error = connectControl(array, configuration))
    return error;
  try {
    return connectData(symbolic, array, tiling, configuration);
  } catch (const TooManyRanges&) {
    return tooManyRanges(symbolic, tiling);
  }
}

std::variant<Configuration, InstantiationError>
instantiate(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options) {
  std::variant<Configuration, InstantiationError> result = instantiatePrograms(symbolic, array, options);
  if (auto* configuration = std::get_if<Configuration>(&result))
    if (std::optional<InstantiationError> error = instantiatePeriphery(symbolic, array, options, *configuration))
      return *std::move(error);
  return result;
}

} // namespace strata::array

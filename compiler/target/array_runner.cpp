// One configuration for each set of sizes, and what becomes of errors. See array_runner.h.
#include "compiler/target/array_runner.h"

#include "base/machine/quantity.h"
#include "compiler/target/array_recorder.h"
#include "runtime/array/files.h"
#include "runtime/array/print.h"
#include "runtime/array/region.h"

#include <algorithm>
#include <chrono>

namespace strata::target {

STRATA_DIAGNOSTIC(noArray, Error, "array-none", "{0}");
STRATA_DIAGNOSTIC(otherArray, Error, "array-other-machine", "{0}");
STRATA_DIAGNOSTIC(unfit, Error, "array-configuration", "{0}");
STRATA_DIAGNOSTIC(unknownTileLoop, Error, "array-tile-loop", "{0}");
STRATA_DIAGNOSTIC(notInstantiated, Error, "array-instantiation", "{0}");
STRATA_DIAGNOSTIC(noPlace, Error, "array-placement", "{0}");
STRATA_DIAGNOSTIC(isOccupied, Error, "array-occupied", "{0}");
STRATA_DIAGNOSTIC(missesBorder, Error, "array-borders", "{0}");
STRATA_DIAGNOSTIC(assumesBorders, Remark, "array-borders-assumed", "{0}");
STRATA_DIAGNOSTIC(badValue, Error, "array-value", "{0}");
STRATA_DIAGNOSTIC(simulationFailed, Error, "array-internal", "{0}");

const machine::Processor* arrayProcessor(const Machine& machine) {
  const auto found = std::ranges::find_if(machine.processors, [](const auto& each) { return !each.array.empty(); });
  return found == machine.processors.end() ? nullptr : &*found;
}

array::HostLink hostLink(const Machine& machine) {
  const machine::Processor* processor = arrayProcessor(machine);
  for (const machine::Link& link : machine.links)
    for (const machine::LinkEnd& end : link.ends)
      if (const auto* found = std::get_if<machine::ProcessorId>(&end);
          found && processor && &machine.processors[found->value] == processor)
        return {static_cast<int64_t>(link.latency), link.bandwidth};
  return {};
}

std::optional<ArrayError> misfit(const array::Symbolic& symbolic, const Machine& machine) {
  const machine::Processor* processor = arrayProcessor(machine);
  if (!processor)
    return ArrayError{&noArray, "machine '" + machine.name + "' has no processor array",
                      "choose a machine with one: strata machine --list"};
  const machine::ProcessorArray& array = processor->array.front();
  if (symbolic.fingerprint != array::fingerprint(array))
    return ArrayError{&otherArray,
                      "the configuration of '" + symbolic.program + "' was made for elements like those of machine '" +
                          symbolic.machine + "', and those of '" + machine.name + "' are others",
                      "give that machine, or map the program again: strata map"};
  if (const std::string problem = array::validate(symbolic, array); !problem.empty())
    return ArrayError{&unfit, "the configuration of '" + symbolic.program + "' does not fit the array: " + problem,
                      "map the program again: strata map"};
  return std::nullopt;
}

ArrayError errorOf(array::DeviceError error) {
  using enum array::DeviceError::Kind;
  const auto made = [&](const DiagnosticKind& kind) {
    return ArrayError{&kind, std::move(error.message), std::move(error.help), error.isCircle};
  };
  switch (error.kind) {
  case Argument:
    return made(noPlace);
  case Occupied:
    return made(isOccupied);
  case Border:
    return made(missesBorder);
  case Unfit:
    return made(notInstantiated);
  case Value:
    error.help = "the program computes this with the data that it is given";
    return made(badValue);
  default:
    return made(simulationFailed);
  }
}

ArrayRunner::ArrayRunner(array::Symbolic symbolic, const machine::ProcessorArray& array, ArrayOptions options,
                         const array::HostLink& link)
    : symbolic_(std::move(symbolic)), array_(array), options_(std::move(options)), link_(link) {
  resetFigures();
}

std::variant<array::InstantiationOptions, ArrayError>
ArrayRunner::instantiationOptions(const std::vector<int64_t>& sizes) const {
  array::InstantiationOptions made;
  made.sizes = sizes;
  made.threads = options_.threads;
  if (options_.corner)
    made.corner = *options_.corner;
  else if (!array_.controllers.empty())
    made.corner = array_.controllers.front();
  const auto asked = [&](uint32_t loop) {
    const auto found =
        loop == array::Symbolic::none ? options_.tile.end() : options_.tile.find(used_->loops[loop].name);
    return found == options_.tile.end() ? 0 : found->second;
  };
  std::vector<std::string> names;
  for (uint32_t loop = 0; loop < used_->loops.size(); ++loop) {
    names.push_back(used_->loops[loop].name);
    made.tile.push_back(asked(loop));
  }
  for (const auto& [name, tile] : options_.tile)
    if (std::ranges::find(names, name) == names.end()) {
      std::string list;
      for (const std::string& each : names)
        list += (list.empty() ? "" : ", ") + each;
      const std::string nearest = nearestName(name, names);
      return ArrayError{&unknownTileLoop, "'" + used_->program + "' has no loop '" + name + "' to be cut into tiles",
                        (nearest.empty() ? "" : "did you mean '" + nearest + "'? ") + "its loops are " + list};
    }
  if (options_.region)
    std::tie(made.rows, made.columns) = *options_.region;
  else if (const std::optional<array::InstantiationError> error = array::chooseRegion(*used_, array_, made))
    return ArrayError{&notInstantiated, error->message, error->help, false, error->variables};
  return made;
}

std::variant<array::PlacementRequest, ArrayError> ArrayRunner::request(const std::vector<int64_t>& sizes) const {
  const auto options = instantiationOptions(sizes);
  if (const auto* error = std::get_if<ArrayError>(&options))
    return *error;
  const auto& wanted = std::get<array::InstantiationOptions>(options);
  array::PlacementRequest made;
  if (options_.place)
    std::tie(made.row, made.column) = *options_.place;
  made.rows = wanted.rows;
  made.columns = wanted.columns;
  made.corner = wanted.corner;
  for (size_t i = 0; i < sizes.size(); ++i)
    made.sizes.emplace_back(used_->parameters[i], sizes[i]);
  made.tiles.assign(options_.tile.begin(), options_.tile.end());
  return made;
}

/// The configuration at the place that the options give.
std::variant<const array::Configuration*, ArrayError> ArrayRunner::placed(const std::vector<int64_t>& sizes) {
  const auto wanted = request(sizes);
  if (const auto* error = std::get_if<ArrayError>(&wanted))
    return *error;
  const auto begin = std::chrono::steady_clock::now();
  auto made = array::placeAt(*used_, array_, std::get<array::PlacementRequest>(wanted));
  if (auto* error = std::get_if<array::DeviceError>(&made))
    return errorOf(std::move(*error));
  auto& program = std::get<array::PlacedProgram>(made);
  Made& kept = made_[sizes];
  kept.symbolic = used_;
  kept.configuration = std::make_unique<array::Configuration>(std::move(program.configuration));
  kept.needs = {program.request.row, program.request.column, {}};
  kept.seen = std::move(program.seen);
  kept.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  last_ = &kept;
  return kept.configuration.get();
}

std::variant<const array::Configuration*, ArrayError> ArrayRunner::configuration(const std::vector<int64_t>& sizes) {
  if (const auto found = made_.find(sizes); found != made_.end()) {
    last_ = &found->second;
    return found->second.configuration.get();
  }
  if (const auto found = failed_.find(sizes); found != failed_.end())
    return found->second;
  used_ = &symbolic_;
  auto made = instantiated(sizes);
  const auto* error = std::get_if<ArrayError>(&made);
  if (error && error->isCircle && makeForward_) {
    forward_ = makeForward_();
    makeForward_ = nullptr;
  }
  if (error && error->isCircle && forward_) {
    used_ = &forward_->symbolic;
    auto again = instantiated(sizes);
    if (std::holds_alternative<const array::Configuration*>(again))
      made = again;
    used_ = &symbolic_;
  }
  if (const auto* failure = std::get_if<ArrayError>(&made))
    failed_[sizes] = *failure;
  return made;
}

/// The configuration that `used_` has for the sizes.
std::variant<const array::Configuration*, ArrayError> ArrayRunner::instantiated(const std::vector<int64_t>& sizes) {
  if (options_.place)
    return placed(sizes);
  auto options = instantiationOptions(sizes);
  if (const auto* error = std::get_if<ArrayError>(&options))
    return *error;
  auto& wanted = std::get<array::InstantiationOptions>(options);
  std::optional<ArrayError> first;
  // A region that nobody asked for is halved until programs, buffers and FIFOs suffice.
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    auto made = array::instantiate(*used_, array_, wanted);
    if (auto* configuration = std::get_if<array::Configuration>(&made)) {
      Made& kept = made_[sizes];
      kept.symbolic = used_;
      kept.configuration = std::make_unique<array::Configuration>(std::move(*configuration));
      kept.needs = array::borderNeeds(array_, *kept.configuration);
      kept.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      last_ = &kept;
      return kept.configuration.get();
    }
    const auto& error = std::get<array::InstantiationError>(made);
    if (!first)
      first = ArrayError{&notInstantiated, error.message, error.help, error.isCircle, error.variables};
    const bool isChosen = !options_.region && options_.tile.empty();
    if (!isChosen || error.isMistake || !array::halveRegion(wanted))
      return error.isMistake ? ArrayError{&notInstantiated, error.message, error.help, false} : *first;
  }
}

std::optional<ArrayError> ArrayRunner::run(const std::vector<int64_t>& sizes, std::span<const std::byte* const> inputs,
                                           std::span<std::byte* const> outputs) {
  const auto made = configuration(sizes);
  if (const auto* error = std::get_if<ArrayError>(&made))
    return *error;
  array::SimulationStatistics now;
  array::SimulationOptions watched;
  ArrayRecorder* recorder = options_.recorder;
  if (recorder && recorder->begin(array_, *last_->configuration, {last_->needs.row, last_->needs.column, 0}))
    watched.trace = [recorder](const array::TraceEvent& event) { recorder->add(event); };
  const auto failure =
      array::simulate(last_->seen ? *last_->seen : array_, *last_->configuration, inputs, outputs, watched, now);
  if (failure) {
    std::string help = failure->isUsers ? "the program computes this with the data that it is given" : "";
    if (const std::string more = recorder ? recorder->fail(now, *failure) : ""; !more.empty())
      help += (help.empty() ? "" : "; ") + more;
    return ArrayError{failure->isUsers ? &badValue : &simulationFailed, failure->message, help};
  }
  if (watched.trace)
    recorder->end(now);
  ++runs_;
  sum_.cycles += now.cycles;
  sum_.operations += now.operations;
  sum_.elementCycles += now.elementCycles;
  for (size_t unit = 0; unit < std::min(now.unitOperations.size(), sum_.unitOperations.size()); ++unit)
    sum_.unitOperations[unit] += now.unitOperations[unit];
  for (size_t side = 0; side < sum_.wordsIn.size(); ++side) {
    sum_.wordsIn[side] += now.wordsIn[side];
    sum_.wordsOut[side] += now.wordsOut[side];
  }
  sum_.wordsFilled += now.wordsFilled;
  sum_.wordsEmptied += now.wordsEmptied;
  if (!last_->isTimed) // every run of a configuration takes as many cycles
    last_->transfers = array::transferTimes(*last_->configuration, link_, now.cycles);
  last_->isTimed = true;
  const std::optional<array::TransferTimes>& times = last_->transfers;
  hasTransfers_ &= times.has_value();
  if (times) {
    transfers_.blocks += times->blocks;
    transfers_.linkCycles += times->linkCycles;
    transfers_.filling += times->filling;
    transfers_.waiting += times->waiting;
    transfers_.emptying += times->emptying;
  }
  return std::nullopt;
}

void ArrayRunner::resetFigures() {
  sum_ = {};
  transfers_ = {};
  hasTransfers_ = true;
  sum_.unitOperations.assign(array_.units.size(), 0);
  runs_ = 0;
}

std::vector<ArrayError> ArrayRunner::remarks() const {
  std::vector<ArrayError> list;
  if (last_ && last_->symbolic != &symbolic_)
    list = forward_->remarks;
  if (!last_ || last_->needs.untouched.empty())
    return list;
  const array::Configuration& configuration = *last_->configuration;
  const std::string size = std::to_string(configuration.rows) + "x" + std::to_string(configuration.columns);
  list.push_back({&assumesBorders,
                  "'" + symbolic_.program + "' is given buffers at the " + array::sideList(last_->needs.untouched) +
                      " border of its region of " + size + " elements, where the array has no border",
                  "--region " + size + "@" + std::to_string(last_->needs.row) + "," +
                      std::to_string(last_->needs.column) +
                      " places it, with the buffers that there are; a region as large as the array has all"});
  return list;
}

std::map<std::string, int64_t> ArrayRunner::figures() const {
  auto figures = arrayFigures(last_ ? *last_->symbolic : symbolic_, array_, sum_, runs_,
                              last_ ? last_->configuration.get() : nullptr);
  if (hasTransfers_) {
    figures["array cycles filling"] = transfers_.filling;
    figures["array cycles waiting for blocks"] = transfers_.waiting;
    figures["array cycles emptying"] = transfers_.emptying;
    figures["array cycles with transfers"] =
        sum_.cycles + transfers_.filling + transfers_.waiting + transfers_.emptying;
    figures["array blocks transferred"] = transfers_.blocks;
    figures["array link cycles"] = transfers_.linkCycles;
  }
  if (last_) {
    figures["array row"] = last_->needs.row;
    figures["array column"] = last_->needs.column;
    figures["array borders assumed"] = static_cast<int64_t>(last_->needs.untouched.size());
    figures["array instantiation microseconds"] = static_cast<int64_t>(last_->seconds * 1e6 + 0.5);
  }
  return figures;
}

std::map<std::string, int64_t> arrayFigures(const array::Symbolic& symbolic, const machine::ProcessorArray& array,
                                            const array::SimulationStatistics& sum, int64_t runs,
                                            const array::Configuration* configuration) {
  std::map<std::string, int64_t> figures;
  const auto add = [&](const std::string& name, int64_t value) { figures["array " + name] = value; };
  add("runs", runs);
  add("cycles", sum.cycles);
  add("operations", sum.operations);
  add("element cycles", sum.elementCycles);
  for (size_t unit = 0; unit < array.units.size(); ++unit) {
    const std::string& name = array.units[unit].name;
    add("operations of " + name, sum.unitOperations[unit]);
    const double possible = static_cast<double>(sum.elementCycles) * static_cast<double>(array.units[unit].count);
    if (possible > 0)
      add("utilisation of " + name + " in thousandths",
          static_cast<int64_t>(1000 * static_cast<double>(sum.unitOperations[unit]) / possible + 0.5));
  }
  for (size_t side = 0; side < 4; ++side) {
    add("words in " + machine::sideNames()[side], sum.wordsIn[side]);
    add("words out " + machine::sideNames()[side], sum.wordsOut[side]);
  }
  add("words filled", sum.wordsFilled);
  add("words emptied", sum.wordsEmptied);
  add("interval", symbolic.interval);
  add("interval lower bound", symbolic.lowerBound);
  add("symbolic bytes", static_cast<int64_t>(array::writeBinary(symbolic).size()));
  if (configuration) {
    add("rows", configuration->rows);
    add("columns", configuration->columns);
    add("configuration bytes", static_cast<int64_t>(array::configurationBytes(*configuration, array)));
    add("processor classes", static_cast<int64_t>(configuration->classes.size()));
    add("control signals", static_cast<int64_t>(configuration->signals.size()));
  }
  return figures;
}

} // namespace strata::target

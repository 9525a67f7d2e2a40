// From a configuration to the state of a simulation: programs are decoded once for each class, wires followed once. See
// simulate_state.h.
#include "runtime/array/check_configuration.h"
#include "runtime/array/simulate_state.h"
#include "runtime/array/transfers.h"
#include "runtime/array/wires.h"

#include <algorithm>
#include <map>

namespace strata::array {

using machine::Side;

void Simulation::load() {
  if (std::string wrong = checkConfiguration(array_, configuration_); !wrong.empty())
    throw SimulationFailure{{std::move(wrong), false, 0}};
  for (const machine::FunctionalUnit& unit : array_.units)
    for (uint64_t i = 0; i < unit.count; ++i)
      unitNames_.push_back(unit.name + std::to_string(i));
  operations_.assign(array_.units.size(), 0);
  for (const int64_t extent : configuration_.extents)
    iterations_ *= extent;
  for (const ProcessorClass& each : configuration_.classes)
    classes_.push_back(decode(array_, each));
  tables_.reserve(classes_.size());
  for (const DecodedClass& each : classes_)
    tables_.emplace_back(each, static_cast<bool>(options_.trace));
  loadSignals();
  loadElements();
  loadBanks();
}

namespace {

/// With one at the end that never comes.
SignalChanges changesOf(const std::vector<const IterationRuns*>& all) {
  const size_t count = std::min(all.size(), StepTable::mostSignals);
  int64_t due[StepTable::mostSignals]; // the iteration in which a signal changes next
  std::vector<const Range*> next(count);
  size_t most = 2;
  for (size_t place = 0; place < count; ++place) {
    const IterationRuns& runs = *all[place];
    next[place] = runs.data();
    due[place] = runs.empty() ? INT64_MAX : runs[0].first;
    most += 2 * runs.size();
  }
  SignalChanges changes;
  changes.reserve(most);
  SignalChange change;
  for (int64_t iteration = 0; iteration != INT64_MAX;) {
    change.iteration = iteration;
    iteration = INT64_MAX;
    for (size_t place = 0; place < count; ++place) {
      if (due[place] == change.iteration) {
        const uint64_t bit = uint64_t{1} << place;
        if ((change.ones ^= bit) & bit)
          due[place] = next[place]->end;
        else
          due[place] = ++next[place] == all[place]->data() + all[place]->size() ? INT64_MAX : next[place]->first;
      }
      iteration = std::min(iteration, due[place]);
    }
    changes.push_back(change);
  }
  changes.push_back({INT64_MAX, 0});
  return changes;
}

} // namespace

void Simulation::loadSignals() {
  std::vector<const IterationRuns*> runs;
  for (size_t i = 0; i < configuration_.signals.size(); ++i) {
    std::string wrong;
    runs.push_back(table_.find(configuration_.signals[i].ones, wrong));
    if (!runs.back())
      throw SimulationFailure{{"signal " + std::to_string(i) + ": " + wrong, false, 0}};
  }
  for (const DecodedClass& each : classes_) {
    ClassSignals& signals = signals_.emplace_back();
    for (const uint16_t signal : each.signals)
      signals.runs.push_back(runs[signal]);
    const auto same = std::ranges::find(signals_, signals.runs, &ClassSignals::runs);
    signals.changes =
        &*same != &signals ? same->changes : std::make_shared<const SignalChanges>(changesOf(signals.runs));
  }
}

void Simulation::loadElements() {
  elements_.resize(static_cast<size_t>(configuration_.rows) * configuration_.columns);
  size_t registers = 0, outputs = 0;
  const auto forAll = [&](auto&& each) {
    for (uint32_t region = 0; region < configuration_.regions.size(); ++region) {
      const ClassRegion& area = configuration_.regions[region];
      for (int64_t row = area.rows.first; row < area.rows.end; ++row)
        for (int64_t column = area.columns.first; column < area.columns.end; ++column)
          each(region, static_cast<uint32_t>(row), static_cast<uint32_t>(column), area.processorClass);
    }
  };
  forAll([&](uint32_t, uint32_t, uint32_t, uint32_t processorClass) {
    const DecodedClass& decoded = classes_[processorClass];
    registers += decoded.registers.size();
    outputs += decoded.outputs.size();
  });
  // Elements point into these, which are not moved any more.
  registers_.reserve(registers);
  writers_.assign(registers, nullptr);
  outputWires_.reserve(outputs);
  forAll([&](uint32_t region, uint32_t row, uint32_t column, uint32_t processorClass) {
    const DecodedClass& decoded = classes_[processorClass];
    SimulatedElement& element = elements_[size_t{row} * configuration_.columns + column];
    element.start = element.due = configuration_.start(row, column);
    element.change = signals_[processorClass].changes->data();
    setNextChange(element);
    element.last = element.start + (iterations_ + 2) * configuration_.interval - 1;
    element.decoded = &decoded;
    element.registers = registers_.data() + registers_.size();
    element.writers = writers_.data() + registers_.size();
    element.table = &tables_[processorClass];
    element.row = row;
    element.column = column;
    element.region = region;
    for (const Register reg : decoded.registers) {
      const bool isFeedback = reg.kind == Register::Kind::Feedback, isInput = reg.kind == Register::Kind::Input;
      const uint64_t depth = isFeedback ? configuration_.feedbackDepths[reg.index]
                             : isInput  ? configuration_.inputDepths[reg.index]
                                        : 1;
      registers_.emplace_back(isFeedback || isInput, static_cast<uint32_t>(depth));
    }
    const auto [units, cycles] = element.table->atBegin();
    if (!units.empty())
      element.step = element.table->find(units);
    element.due += cycles;
    element.wake = std::min(element.due, element.last);
  });
}

void Simulation::loadBanks() {
  using BorderPort = std::tuple<Side, uint32_t, uint32_t>;
  std::map<BorderPort, int32_t> outputs;
  for (const Bank& bank : configuration_.banks) {
    std::string wrong;
    const IterationRuns* runs = table_.find(bank.enable, wrong);
    if (!runs)
      throw SimulationFailure{{bankName(bank) + wrong, false, 0}};
    const auto side = static_cast<size_t>(bank.side);
    (bank.isOutput ? statistics_.wordsEmptied : statistics_.wordsFilled) += transferredWords(configuration_, bank);
    for (const Range& run : *runs)
      (bank.isOutput ? statistics_.wordsOut : statistics_.wordsIn)[side] += run.end - run.first;
    if (!bank.isOutput) {
      connectInput(bank, *runs);
      continue;
    }
    outputs[{bank.side, bank.position, bank.index}] = static_cast<int32_t>(outputBanks_.size());
    outputBanks_.push_back(
        {{{bank, *runs, configuration_.outputs[bank.array], configuration_}, outputs_[bank.array]}, {}});
  }
  for (SimulatedElement& element : elements_) {
    element.firstOutput = static_cast<uint32_t>(outputWires_.size());
    for (const uint16_t output : element.decoded->outputs) {
      OutputWires wires{static_cast<uint32_t>(targets_.size()), 0};
      followWire(configuration_.data, configuration_, array_.data.hop, element.row, element.column,
                 {Side::Element, output}, [&](const WireEnd& end) {
                   const uint32_t to = end.row * configuration_.columns + end.column;
                   if (end.sink.side == Side::Element) {
                     const int64_t place = elements_[to].decoded->input(end.sink.index);
                     if (place >= 0) {
                       SimulatedElement& reader = elements_[to];
                       reader.writers[place] = &element;
                       if (&reader != &element && std::ranges::find(reader.upstream, &element) == reader.upstream.end())
                         reader.upstream.push_back(&element);
                     }
                     targets_.push_back({place < 0 ? nullptr : elements_[to].registers + place, nullptr, end.cycles, to,
                                         static_cast<uint32_t>(std::max<int64_t>(place, 0)), end.sink.index});
                     ++wires.count;
                     return;
                   }
                   const bool isColumn = end.sink.side == Side::North || end.sink.side == Side::South;
                   const auto bank = outputs.find({end.sink.side, isColumn ? end.column : end.row, end.sink.index});
                   if (bank == outputs.end())
                     return;
                   targets_.push_back(
                       {nullptr, &outputBanks_[static_cast<size_t>(bank->second)], end.cycles, to, 0, 0});
                   ++wires.count;
                 });
      outputWires_.push_back(wires);
    }
  }
}

void Simulation::connectInput(const Bank& bank, const IterationRuns& runs) {
  if (runs.empty())
    return;
  const auto refuse = [&](const std::string& message) {
    throw SimulationFailure{{bankName(bank) + message, false, 0}};
  };
  const BorderElement from = borderElement(configuration_, bank.side, bank.position);
  bool hasEnd = false;
  followWire(configuration_.data, configuration_, array_.data.hop, from.row, from.column, {bank.side, bank.index},
             [&](const WireEnd& end) {
               if (end.sink.side != Side::Element)
                 refuse("its words leave the region again");
               const SimulatedElement& element = elements_[size_t{end.row} * configuration_.columns + end.column];
               const int64_t place = element.decoded->input(end.sink.index);
               if (place < 0)
                 refuse("no instruction of " + at(element) + " reads id" + std::to_string(end.sink.index));
               element.registers[place].setFeed(static_cast<uint32_t>(inputWires_.size()));
               Words<const std::byte> words({bank, runs, configuration_.inputs[bank.array], configuration_},
                                            inputs_[bank.array]);
               const int64_t arrival = words.cycle() + end.cycles;
               inputWires_.push_back({std::move(words), end.cycles, arrival});
               hasEnd = true;
             });
  if (!hasEnd)
    refuse("its words lead nowhere");
}

} // namespace strata::array

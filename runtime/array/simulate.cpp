// An instruction takes its effect when it is issued: what it sends carries the cycle in which it arrives. So an element
// can run ahead of those that read what it sends, and as far as those have come whose words it reads; after an error
// all is simulated again cycle by cycle, which finds the first one. What has not begun, has halted or executes nops is
// not looked at. See simulate.h, simulate_registers.h.
#include "base/machine/quantity.h"
#include "runtime/array/simulate_state.h"

#include <algorithm>
#include <new>

namespace strata::array {

using Fault = RegisterFault;

std::string Simulation::at(const SimulatedElement& element) {
  return "element (" + std::to_string(element.row) + ", " + std::to_string(element.column) + ")";
}

void Simulation::fail(int64_t cycle, const std::string& message, bool isUsers, const SimulatedElement* element) {
  SimulationError error = {"cycle " + std::to_string(cycle) + ", " + message, isUsers, cycle};
  if (element) {
    error.row = element->row;
    error.column = element->column;
  }
  throw SimulationFailure{std::move(error)};
}

void Simulation::failAt(int64_t cycle, const SimulatedElement& element, uint32_t unit, const std::string& message,
                        bool isUsers) const {
  fail(cycle, at(element) + ", unit " + unitNames_[unit] + ": " + message, isUsers, &element);
}

/// The fault of the register at a place of an element, found in cycle `now`; `arrival` of what arrived, if anything.
void Simulation::failAt(Fault fault, const SimulatedElement& element, size_t place, int64_t now, int64_t arrival,
                        const std::string& unit) const {
  constexpr const char* kinds[] = {
      "", "general register ", "feedback register ", "input register ", "output register ", "flag "};
  const Register reg = element.decoded->registers[place];
  const std::string which = kinds[static_cast<size_t>(reg.kind)] + name(reg);
  const RegisterState& state = element.registers[place];
  int64_t cycle = now;
  std::string what = ": ";
  switch (fault) {
  case Fault::Empty:
    what =
        ", unit " + unit + ": " + which + " is read " + (state.isFifo() ? "while it is empty" : "before it is written");
    break;
  case Fault::TakenTwice:
    what = ", unit " + unit + ": " + which + " gives a value to two units at once";
    break;
  case Fault::Overfull:
    cycle = state.arrival(state.depth());
    what += which + " holds more than " + std::to_string(state.depth()) + (state.depth() == 1 ? " value" : " values");
    break;
  case Fault::Unread:
    cycle = state.arrival(1);
    what += which + " is overwritten before anybody has read it";
    break;
  case Fault::Together:
    cycle = arrival;
    what += "two values arrive at once in " + which;
    break;
  default:
    what += "at the end " + which + " holds a value that nobody has read";
  }
  fail(cycle, at(element) + what, false, &element);
}

std::string Simulation::bankName(const Bank& bank) const {
  const std::vector<ArrayLayout>& arrays = bank.isOutput ? configuration_.outputs : configuration_.inputs;
  return "bank " + machine::formatPort({bank.side, bank.index}) + " of " +
         (bank.side == machine::Side::North || bank.side == machine::Side::South ? "column " : "row ") +
         std::to_string(bank.position) + ", array '" + arrays[bank.array].name + "': ";
}

/// A word that its target does not take as usual: what is wrong, mostly.
void Simulation::sendUnusual(const WireTarget& target, int64_t now, TimedValue word) {
  if (!target.bank) {
    SimulatedElement& to = elements_[target.element];
    if (!target.reg)
      fail(word.cycle, at(to) + ": id" + std::to_string(target.index) + " gets a value, but no instruction reads it",
           false, &to);
    // What a reader that is behind will have taken by now leaves room.
    putUnusual(to, target.place, std::min(now, to.wake - 1), word);
    return;
  }
  OutputBank& bank = *target.bank;
  const auto fault = bank.put(now, word);
  if (fault == OutputBank::Fault::None)
    return;
  const std::string where = bankName(bank.words.bank());
  const std::string next = bank.words.isDone() ? "none" : "the next in cycle " + std::to_string(bank.words.cycle());
  if (fault == OutputBank::Fault::Outside)
    failOutside(bank.words);
  if (fault == OutputBank::Fault::Missing)
    fail(bank.words.cycle(), where + "no word comes");
  if (fault == OutputBank::Fault::Together)
    fail(word.cycle, where + "two words come at once");
  fail(std::min(word.cycle, bank.waiting.empty() ? word.cycle : bank.waiting.front().cycle),
       where + "a word comes; it expects " + next);
}

/// An operation without a result: what the program's user has to hear.
void Simulation::failEvaluation(const SimulatedElement& element, const StepOperation& operation, const uint64_t* values,
                                int64_t now) const {
  const uint32_t at = configuration_.regions[element.region].processorClass;
  const Functional& f = configuration_.classes[at].programs[operation.unit][operation.slot].functional;
  const std::string type(name(f.type));
  std::string what = "'" + std::string(name(f.opcode)) + "' of " + type + ": ";
  if (f.opcode == Opcode::Convert)
    what += "a number that " + type + " cannot hold";
  else
    what += values[1] == 0 ? "a division by zero" : "a quotient that " + type + " cannot hold";
  for (size_t i = 0; i < f.sources.size(); ++i)
    what += (i ? ", " : " (of ") + print(values[i], operandType(f, i));
  what += ")";
  failAt(now, element, operation.unit, what, true);
}

/// The operations of an element's step.
inline void Simulation::executeAll(Step& step, SimulatedElement& element, int64_t now) {
  const StepOperation *const begin = step.operations.data(), *const end = begin + step.operations.size();
  const StepOperation* operation = begin;
  try {
    for (; operation != end; ++operation)
      operation->run(*this, element, *operation, now);
  } catch (...) {
    for (const StepOperation* done = begin; done != operation; ++done)
      ++operations_[done->unitClass];
    throw;
  }
  ++step.visits;
}

/// To the signals of a cycle.
inline void Simulation::followSignals(SimulatedElement& element, int64_t now) const {
  while (now >= element.nextChange) {
    ++element.change;
    setNextChange(element);
  }
}

/// What follows an element's step, which was not what followed when the step was executed before.
Successor Simulation::successor(SimulatedElement& element, int64_t now) {
  Step& step = *element.step;
  const ClassSignals& all = signals_[static_cast<size_t>(element.table - tables_.data())];
  bool isKept = all.runs.size() <= StepTable::mostSignals;
  const uint64_t signals = element.change->ones & step.tests;
  if (const auto found = std::ranges::find(step.successors, signals, &Successor::signals);
      found != step.successors.end())
    return step.likely = *found;
  const int64_t iteration = (now - element.start) / configuration_.interval;
  const auto [units, cycles] = element.table->after(step, [&](size_t place) {
    const IterationRuns& runs = *all.runs[place];
    const auto run = std::ranges::upper_bound(runs, iteration, {}, &Range::end);
    return run != runs.end() && run->first <= iteration;
  });
  if (element.table->size() >= options_.mostStates + elements_.size()) {
    forgetSteps(element);
    isKept = false;
  }
  Successor made{signals, nullptr, std::max<int64_t>(cycles, 1), false};
  if (!units.empty()) {
    made.step = element.table->find(units);
    made.isBusy = !made.step->operations.empty();
  }
  if (isKept)
    step.successors.push_back(step.likely = made);
  return made;
}

/// All states of an element's class but those in which the others stand.
void Simulation::forgetSteps(const SimulatedElement& element) {
  StepTable& table = *element.table;
  std::vector<std::pair<SimulatedElement*, std::vector<UnitState>>> others;
  for (SimulatedElement& other : elements_)
    if (other.table == &table && other.step && &other != &element)
      others.emplace_back(&other, std::vector(other.step->units.begin(), other.step->units.end()));
  table.count(operations_);
  table.clear();
  for (auto& [other, units] : others)
    other->step = table.find(units);
}

/// Whether an element's step is followed by what followed it last.
inline bool Simulation::isAsBefore(const SimulatedElement& element) {
  const Step& step = *element.step;
  return step.likely.cycles != 0 && step.likely.signals == (element.change->ones & step.tests);
}

/// What the units of an element do in a cycle, and when they do something again.
inline void Simulation::step(SimulatedElement& element, int64_t now) {
  if (now != element.due) [[unlikely]]
    failLate(element);
  Step& step = *element.step;
  executeAll(step, element, now);
  const int64_t due = now + step.likely.cycles;
  followSignals(element, now);
  if (step.likely.isBusy && due <= element.last && isAsBefore(element)) [[likely]] {
    element.step = step.likely.step;
    element.due = element.wake = due;
  } else {
    stepUnusually(element, now);
  }
}

void Simulation::failLate(const SimulatedElement& element) const {
  failAt(element.last, element, element.decoded->programs[element.step->units.front().program].unit,
         "its program goes on after the last iteration");
}

/// To a step that has not followed last, or does nothing but to test signals: those that follow each other are one.
void Simulation::stepUnusually(SimulatedElement& element, int64_t now) {
  const auto isKnown = [&](int64_t cycle) {
    followSignals(element, cycle);
    return isAsBefore(element);
  };
  const Successor next = isKnown(now) ? element.step->likely : successor(element, now);
  element.step = next.step;
  element.due = now + next.cycles;
  while (element.step && element.step->operations.empty() && element.due < element.last && isKnown(element.due) &&
         element.step->likely.step) {
    element.due += element.step->likely.cycles;
    element.step = element.step->likely.step;
  }
  element.wake = std::min(element.due, element.last);
  if (now == element.last && element.step)
    failLate(element);
}

/// Elements that have programs, by their starts.
std::vector<SimulatedElement*> Simulation::running() {
  std::vector<SimulatedElement*> all;
  for (SimulatedElement& each : elements_)
    if (each.step)
      all.push_back(&each);
  std::ranges::sort(all, {}, [](const SimulatedElement* each) { return std::pair(each->start, each); });
  return all;
}

int64_t Simulation::runCycles() {
  const std::vector<SimulatedElement*> order = running();
  std::vector<SimulatedElement*> active;
  size_t next = 0;
  int64_t cycle = 0;
  while (next < order.size() || !active.empty()) {
    if (active.empty())
      cycle = order[next]->start;
    for (; next < order.size() && order[next]->start == cycle; ++next)
      active.push_back(order[next]);
    statistics_.cycles = cycle + 1;
    bool hasHalted = false;
    int64_t wake = next < order.size() ? order[next]->start : INT64_MAX;
    for (SimulatedElement* each : active) {
      if (each->wake <= cycle)
        step(*each, cycle);
      if (!each->step)
        hasHalted = true;
      else
        wake = std::min(wake, each->wake);
    }
    statistics_.elementCycles += static_cast<int64_t>(active.size());
    if (hasHalted)
      std::erase_if(active, [](const SimulatedElement* each) { return !each->step; });
    ++cycle;
    if (active.empty())
      continue;
    // All sleep until then.
    statistics_.elementCycles += static_cast<int64_t>(active.size()) * (wake - cycle);
    cycle = wake;
  }
  return cycle;
}

/// Whether all that will have come to an element by its next cycle has been sent: a word that is sent in a cycle comes
/// in a later one.
bool Simulation::isReady(const SimulatedElement& element) {
  for (const uint16_t place : element.step->inputs)
    if (const SimulatedElement* writer = element.writers[place]; writer && writer->wake < element.wake)
      return false;
  return true;
}

void Simulation::runUntil(SimulatedElement& element, int64_t until) {
  int64_t sent = INT64_MAX; // in the cycles before this one is all that will come to the element
  for (const SimulatedElement* writer : element.upstream)
    sent = std::min(sent, writer->wake);
  while (element.wake < until && (element.wake <= sent || isReady(element))) {
    const int64_t now = element.wake;
    step(element, now);
    if (element.step)
      continue;
    statistics_.elementCycles += now + 1 - element.start;
    statistics_.cycles = std::max(statistics_.cycles, now + 1);
    element.wake = INT64_MAX;
  }
}

/// One element after the other for many cycles. Of those that are furthest behind each is ready.
int64_t Simulation::runAhead() {
  constexpr int64_t window = 512; // cycles; words on their way between elements are that many at most
  std::vector<SimulatedElement*> active = running();
  while (!active.empty()) {
    const int64_t until = (*std::ranges::min_element(active, {}, &SimulatedElement::wake))->wake + window;
    for (bool isBehind = true; isBehind;) {
      isBehind = false;
      for (SimulatedElement* each : active) {
        if (each->wake < until)
          runUntil(*each, until);
        isBehind |= each->wake < until;
      }
    }
    std::erase_if(active, [](const SimulatedElement* each) { return !each->step; });
  }
  return statistics_.cycles;
}

/// What must have come and gone.
void Simulation::finish(int64_t end) {
  int64_t last = -1;
  for (const OutputBank& bank : outputBanks_) {
    if (!bank.words.isDone())
      fail(bank.words.cycle(), bankName(bank.words.bank()) + "no word comes");
    last = std::max(last, bank.last);
  }
  for (const InputWire& wire : inputWires_)
    if (!wire.words.isDone())
      fail(end,
           bankName(wire.words.bank()) + "the word of cycle " + std::to_string(wire.words.cycle()) + " is never read");
  for (SimulatedElement& element : elements_)
    for (size_t place = 0; element.decoded && place < element.decoded->registers.size(); ++place)
      if (const Fault fault = element.registers[place].finish(); fault != Fault::None)
        failAt(fault, element, place, end, end, "");
  statistics_.cycles = last < 0 ? end : last + 1;
}

std::optional<SimulationError> Simulation::run() {
  statistics_ = {};
  statistics_.unitOperations.assign(array_.units.size(), 0);
  std::optional<SimulationError> error;
  try {
    load();
    finish(order_ == Order::Ahead ? runAhead() : runCycles());
  } catch (SimulationFailure& failure) {
    error = std::move(failure.error);
  } catch (const std::bad_alloc&) {
    error = SimulationError{"there is not enough memory to simulate this region", false,
                            std::max<int64_t>(statistics_.cycles - 1, 0), true};
  }
  for (const StepTable& table : tables_)
    table.count(operations_);
  for (size_t i = 0; i < operations_.size(); ++i) {
    statistics_.unitOperations[i] = operations_[i];
    statistics_.operations += operations_[i];
  }
  return error;
}

std::optional<SimulationError> simulate(const machine::ProcessorArray& array, const Configuration& configuration,
                                        std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                                        const SimulationOptions& options, SimulationStatistics& statistics) {
  const auto run = [&](Simulation::Order order) {
    return Simulation(array, configuration, inputs, outputs, options, statistics, order).run();
  };
  const bool isAhead = !options.trace && !options.isInStep;
  if (isAhead)
    if (std::optional<SimulationError> error = run(Simulation::Order::Ahead); !error || error->isMemory)
      return error;
  std::optional<SimulationError> error = run(Simulation::Order::InStep);
  statistics.isRepeated = isAhead;
  return error;
}

} // namespace strata::array

// Elements advance together, cycle by cycle; what has not begun, has halted or executes nops is not looked at. An
// instruction takes its effect when it is issued: what it sends carries the cycle in which it arrives. See simulate.h,
// simulate_registers.h.
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
  constexpr const char* sides[] = {"north", "east", "south", "west"};
  const std::vector<ArrayLayout>& arrays = bank.isOutput ? configuration_.outputs : configuration_.inputs;
  return std::string("bank ") + sides[static_cast<size_t>(bank.side)] + std::to_string(bank.index) + " of " +
         (bank.side == machine::Side::North || bank.side == machine::Side::South ? "column " : "row ") +
         std::to_string(bank.position) + ", array '" + arrays[bank.array].name + "': ";
}

void Simulation::failOutside(const AddressGenerator& generator) const {
  fail(generator.cycle(),
       bankName(generator.bank()) + "element " + std::to_string(generator.element()) + " is not in its block");
}

/// Words of a bank that have come to an input register by now.
void Simulation::pull(SimulatedElement& element, size_t place, int64_t now) {
  InputWire& wire = inputWires_[element.feeds[place]];
  AddressGenerator& generator = wire.generator;
  while (!generator.isDone() && generator.cycle() + wire.cycles <= now) {
    if (!generator.isInside())
      failOutside(generator);
    const Type type = generator.array().type;
    const uint64_t value = loadElement(wire.memory + generator.element() * bytes(type), type);
    const int64_t arrival = generator.cycle() + wire.cycles;
    if (const Fault fault = element.registers[place].put(pool_, now, {arrival, value}); fault != Fault::None)
      failAt(fault, element, place, now, arrival, "");
    generator.next();
  }
}

void Simulation::send(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now, TimedValue value) {
  const OutputWires& wires = outputWires_[element.firstOutput + output];
  if (wires.count == 0)
    failAt(now, element, unit,
           "what is written to od" + std::to_string(element.decoded->outputs[output]) + " goes nowhere");
  for (uint32_t i = 0; i < wires.count; ++i) {
    const WireTarget& target = targets_[wires.first + i];
    const TimedValue word{value.cycle + target.cycles, value.value};
    if (target.bank < 0) {
      SimulatedElement& to = elements_[target.element];
      if (target.place < 0)
        fail(word.cycle, at(to) + ": id" + std::to_string(target.index) + " gets a value, but no instruction reads it",
             false, &to);
      if (const Fault fault = to.registers[target.place].put(pool_, now, word); fault != Fault::None)
        failAt(fault, to, static_cast<size_t>(target.place), now, word.cycle, "");
      continue;
    }
    OutputBank& bank = outputBanks_[static_cast<size_t>(target.bank)];
    const auto fault = bank.put(now, word);
    if (fault == OutputBank::Fault::None)
      continue;
    const std::string where = bankName(bank.generator.bank());
    const std::string next =
        bank.generator.isDone() ? "none" : "the next in cycle " + std::to_string(bank.generator.cycle());
    if (fault == OutputBank::Fault::Outside)
      failOutside(bank.generator);
    if (fault == OutputBank::Fault::Missing)
      fail(bank.generator.cycle(), where + "no word comes");
    if (fault == OutputBank::Fault::Together)
      fail(word.cycle, where + "two words come at once");
    fail(std::min(word.cycle, bank.waiting.empty() ? word.cycle : bank.waiting.front().cycle),
         where + "a word comes; it expects " + next);
  }
}

template <bool isTraced>
void Simulation::execute(SimulatedElement& element, SimulatedUnit& unit, const DecodedInstruction& instruction,
                         int64_t now) {
  if (now < unit.free)
    failAt(now, element, unit.unit,
           "an operation begins while the one before holds the unit until cycle " + std::to_string(unit.free));
  unit.free = now + instruction.interval;
  uint64_t values[3] = {0, 0, 0}, result = 0;
  for (size_t i = 0; i < instruction.sources; ++i) {
    const DecodedSource& source = instruction.source[i];
    Fault fault = Fault::None;
    switch (source.kind) {
    case DecodedSource::Kind::Immediate:
      values[i] = source.immediate;
      break;
    case DecodedSource::Kind::Hold:
      fault = element.registers[source.place].read(now, values[i]);
      break;
    case DecodedSource::Kind::Take:
      if (element.feeds[source.place] != none)
        pull(element, source.place, now);
      fault = element.registers[source.place].take(now, values[i]);
      break;
    case DecodedSource::Kind::Same:
      values[i] = values[source.place];
      break;
    }
    if (fault != Fault::None)
      failAt(fault, element, source.place, now, now, unitNames_[unit.unit]);
  }
  if (!instruction.evaluate(values, result))
    failEvaluation(element, unit, values, now);
  ++operations_[unit.unitClass];
  if constexpr (isTraced) // also what fails when it is sent
    options_.trace({now, element.row, element.column, unit.unit, unit.slot, {values[0], values[1], values[2]}, result});
  const int64_t arrival = now + instruction.latency;
  const DecodedDestination* destination = element.decoded->destinations.data() + instruction.firstDestination;
  for (uint32_t i = 0; i < instruction.destinations; ++i, ++destination) {
    if (destination->isOutput)
      send(element, unit.unit, destination->place, now, {arrival, result});
    else if (const Fault fault = element.registers[destination->place].put(pool_, now, {arrival, result});
             fault != Fault::None)
      failAt(fault, element, destination->place, now, arrival, "");
  }
}

/// An operation without a result: what the program's user has to hear.
void Simulation::failEvaluation(const SimulatedElement& element, const SimulatedUnit& unit, const uint64_t* values,
                                int64_t now) const {
  const uint32_t at = configuration_.regions[element.region].processorClass;
  const Functional& f = configuration_.classes[at].programs[unit.unit][unit.slot].functional;
  const std::string type(name(f.type));
  std::string what = "'" + std::string(name(f.opcode)) + "' of " + type + ": ";
  if (f.opcode == Opcode::Convert)
    what += "a number that " + type + " cannot hold";
  else
    what += values[1] == 0 ? "a division by zero" : "a quotient that " + type + " cannot hold";
  for (size_t i = 0; i < f.sources.size(); ++i)
    what += (i ? ", " : " (of ") + print(values[i], operandType(f, i));
  what += ")";
  failAt(now, element, unit.unit, what, true);
}

/// What the units of an element do in a cycle. Those that come to nops sleep until these are over.
template <bool isTraced>
void Simulation::step(SimulatedElement& element, int64_t now) {
  while (element.nextBegin <= now) {
    element.nextBegin += configuration_.interval;
    ++element.iteration;
  }
  SimulatedUnit* units = element.units;
  int64_t wake = element.last;
  for (uint32_t i = 0; i < element.running;) {
    SimulatedUnit& unit = units[i];
    if (unit.wake > now) {
      wake = std::min(wake, unit.wake);
      ++i;
      continue;
    }
    const DecodedInstruction& instruction = unit.program[unit.slot];
    if (instruction.evaluate)
      execute<isTraced>(element, unit, instruction, now);
    const DecodedTarget* next = &instruction.next;
    switch (instruction.branch) {
    case Branch::Kind::Next:
    case Branch::Kind::Goto:
      break;
    case Branch::Kind::If: {
      size_t chosen = 0;
      const uint16_t* test = element.decoded->tests.data() + instruction.firstSignal;
      for (uint32_t bit = 0; bit < instruction.signals; ++bit) {
        SignalCursor& cursor = element.signals[test[bit]];
        while (cursor.run != cursor.end && cursor.run->end <= element.iteration)
          ++cursor.run;
        if (cursor.run != cursor.end && cursor.run->first <= element.iteration)
          chosen |= size_t{1} << bit;
      }
      next = &element.decoded->targets[instruction.firstTarget + chosen];
      break;
    }
    case Branch::Kind::Halt:
      --element.running;
      std::copy(units + i + 1, units + element.running + 1, units + i);
      continue;
    }
    unit.slot = next->slot;
    unit.wake = now + 1 + next->idle;
    wake = std::min(wake, unit.wake);
    ++i;
  }
  element.wake = wake;
  if (now == element.last && element.running != 0)
    failAt(now, element, units[0].unit, "its program goes on after the last iteration");
}

template <bool isTraced>
int64_t Simulation::runCycles() {
  std::vector<uint32_t> order(elements_.size());
  for (uint32_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::ranges::sort(order, {}, [&](uint32_t i) { return std::pair(elements_[i].start, i); });
  std::erase_if(order, [&](uint32_t i) { return elements_[i].running == 0; });
  std::vector<SimulatedElement*> active;
  size_t next = 0;
  int64_t cycle = 0;
  while (next < order.size() || !active.empty()) {
    if (active.empty())
      cycle = elements_[order[next]].start;
    for (; next < order.size() && elements_[order[next]].start == cycle; ++next)
      active.push_back(&elements_[order[next]]);
    statistics_.cycles = cycle + 1;
    bool hasHalted = false;
    int64_t wake = next < order.size() ? elements_[order[next]].start : INT64_MAX;
    for (SimulatedElement* each : active) {
      if (each->wake <= cycle)
        step<isTraced>(*each, cycle);
      if (each->running == 0)
        hasHalted = true;
      else
        wake = std::min(wake, each->wake);
    }
    statistics_.elementCycles += static_cast<int64_t>(active.size());
    if (hasHalted)
      std::erase_if(active, [](const SimulatedElement* each) { return each->running == 0; });
    ++cycle;
    if (active.empty())
      continue;
    // All sleep until then.
    statistics_.elementCycles += static_cast<int64_t>(active.size()) * (wake - cycle);
    cycle = wake;
  }
  return cycle;
}

/// What must have come and gone.
void Simulation::finish(int64_t end) {
  int64_t last = -1;
  for (const OutputBank& bank : outputBanks_) {
    if (!bank.generator.isDone())
      fail(bank.generator.cycle(), bankName(bank.generator.bank()) + "no word comes");
    last = std::max(last, bank.last);
  }
  for (const InputWire& wire : inputWires_)
    if (!wire.generator.isDone())
      fail(end, bankName(wire.generator.bank()) + "the word of cycle " + std::to_string(wire.generator.cycle()) +
                    " is never read");
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
    finish(options_.trace ? runCycles<true>() : runCycles<false>());
  } catch (SimulationFailure& failure) {
    error = std::move(failure.error);
  } catch (const std::bad_alloc&) {
    error = SimulationError{"there is not enough memory to simulate this region", false,
                            std::max<int64_t>(statistics_.cycles - 1, 0), true};
  }
  for (size_t i = 0; i < operations_.size(); ++i) {
    statistics_.unitOperations[i] = operations_[i];
    statistics_.operations += operations_[i];
  }
  return error;
}

std::optional<SimulationError> simulate(const machine::ProcessorArray& array, const Configuration& configuration,
                                        std::span<const std::byte* const> inputs, std::span<std::byte* const> outputs,
                                        const SimulationOptions& options, SimulationStatistics& statistics) {
  return Simulation(array, configuration, inputs, outputs, options, statistics).run();
}

} // namespace strata::array

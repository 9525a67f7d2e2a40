// Executes one instruction of one unit: takes its sources, computes, sends its result. There is one function for each
// way in which up to three sources are read, so that nothing is decided about an instruction when it is executed.
#include "runtime/array/simulate_state.h"

#include <array>
#include <utility>

namespace strata::array {

using Fault = RegisterFault;
using Kind = DecodedSource::Kind;

inline uint64_t Simulation::read(SimulatedElement& element, const StepOperation& operation, const DecodedSource& source,
                                 Kind kind, const uint64_t* before, int64_t now) {
  if (kind == Kind::Immediate)
    return source.immediate;
  if (kind == Kind::Same)
    return before[source.place];
  RegisterState& state = element.registers[source.place];
  if (kind == Kind::Take && state.feed() != RegisterState::none && inputWires_[state.feed()].arrival <= now)
    return readWord(element, operation, source.place, now);
  uint64_t value = 0;
  if (kind == Kind::Hold ? state.readNow(now, value) : state.takeNow(now, value)) [[likely]]
    return value;
  return readUnusual(element, operation, source.place, now);
}

inline void Simulation::put(SimulatedElement& element, size_t place, int64_t now, TimedValue arrival) {
  if (!element.registers[place].putNext(arrival)) [[unlikely]]
    putUnusual(element, place, now, arrival);
}

/// From an input register to which words of a bank have come. Mostly it is one, for this instruction: they are an
/// interval apart at least.
uint64_t Simulation::readWord(SimulatedElement& element, const StepOperation& operation, size_t place, int64_t now) {
  RegisterState& state = element.registers[place];
  InputWire& wire = inputWires_[state.feed()];
  if (!wire.words.isStraight() || now >= wire.arrival + configuration_.interval || !state.passNow(now)) [[unlikely]]
    return readWords(element, operation, place, now);
  const uint64_t value = loadElement(wire.words.at(), wire.words.type());
  wire.words.nextStraight();
  wire.arrival += configuration_.interval;
  return value;
}

/// The same for any.
uint64_t Simulation::readWords(SimulatedElement& element, const StepOperation& operation, size_t place, int64_t now) {
  RegisterState& state = element.registers[place];
  InputWire& wire = inputWires_[state.feed()];
  if (now < wire.arrival + configuration_.interval && wire.words.isInside() && state.passNow(now))
    return wire.take();
  while (wire.arrival <= now) {
    if (!wire.words.isInside())
      failOutside(wire.words);
    const int64_t arrival = wire.arrival;
    put(element, place, now, {arrival, wire.take()});
  }
  return readUnusual(element, operation, place, now);
}

uint64_t Simulation::readUnusual(SimulatedElement& element, const StepOperation& operation, size_t place, int64_t now) {
  RegisterState& state = element.registers[place];
  uint64_t value = 0;
  const Fault fault = state.isFifo() ? state.take(now, value) : state.read(now, value);
  if (fault != Fault::None)
    failAt(fault, element, place, now, now, unitNames_[operation.unit]);
  return value;
}

void Simulation::putUnusual(SimulatedElement& element, size_t place, int64_t now, TimedValue arrival) {
  if (const Fault fault = element.registers[place].put(pool_, now, arrival); fault != Fault::None)
    failAt(fault, element, place, now, arrival.cycle, "");
}

inline void Simulation::send(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now,
                             TimedValue value) {
  const OutputWires& wires = outputWires_[element.firstOutput + output];
  const WireTarget* const first = targets_.data() + wires.first;
  for (const WireTarget* target = first; target != first + wires.count; ++target) {
    const TimedValue word{value.cycle + target->cycles, value.value};
    const bool isTaken = target->reg ? target->reg->putNext(word) : target->bank && target->bank->putNext(word);
    if (!isTaken) [[unlikely]]
      sendUnusual(*target, now, word);
  }
  if (wires.count == 0) [[unlikely]]
    failNowhere(element, unit, output, now);
}

void Simulation::failNowhere(const SimulatedElement& element, uint32_t unit, size_t output, int64_t now) const {
  failAt(now, element, unit,
         "what is written to od" + std::to_string(element.decoded->outputs[output]) + " goes nowhere");
}

/// To all destinations of an instruction, which may be any.
void Simulation::distribute(SimulatedElement& element, const StepOperation& operation, int64_t now, TimedValue result) {
  const DecodedInstruction& instruction = *operation.instruction;
  const DecodedDestination* destination = element.decoded->destinations.data() + instruction.firstDestination;
  for (uint32_t i = 0; i < instruction.destinations; ++i, ++destination) {
    if (destination->isOutput)
      send(element, operation.unit, destination->place, now, result);
    else
      put(element, destination->place, now, result);
  }
}

template <DecodedInstruction::Result to, Kind... kinds>
void Simulation::execute(Simulation& self, SimulatedElement& element, const StepOperation& operation, int64_t now) {
  const DecodedInstruction& instruction = *operation.instruction;
  uint64_t values[3] = {0, 0, 0};
  size_t i = 0;
  ((values[i] = self.read(element, operation, instruction.source[i], kinds, values, now), ++i), ...);
  const Evaluated result = instruction.evaluate(values[0], values[1], values[2]);
  if (!result.isDefined)
    self.failEvaluation(element, operation, values, now);
  const TimedValue arrival = {now + instruction.latency, result.value};
  if constexpr (to == DecodedInstruction::Result::ToRegister)
    self.put(element, instruction.destination, now, arrival);
  else if constexpr (to == DecodedInstruction::Result::ToOutput)
    self.send(element, operation.unit, instruction.destination, now, arrival);
  else
    self.distribute(element, operation, now, arrival);
}

/// Any instruction, recorded.
void Simulation::executeTraced(Simulation& self, SimulatedElement& element, const StepOperation& operation,
                               int64_t now) {
  const DecodedInstruction& instruction = *operation.instruction;
  uint64_t values[3] = {0, 0, 0};
  for (size_t i = 0; i < instruction.sources; ++i)
    values[i] = self.read(element, operation, instruction.source[i], instruction.source[i].kind, values, now);
  const Evaluated result = instruction.evaluate(values[0], values[1], values[2]);
  if (!result.isDefined)
    self.failEvaluation(element, operation, values, now);
  // Also what fails when it is sent.
  self.options_.trace({now,
                       element.row,
                       element.column,
                       operation.unit,
                       operation.slot,
                       {values[0], values[1], values[2]},
                       result.value});
  self.distribute(element, operation, now, {now + instruction.latency, result.value});
}

void Simulation::failHeld(Simulation& self, SimulatedElement& element, const StepOperation& operation, int64_t now) {
  self.failAt(now, element, operation.unit,
              "an operation begins while the one before holds the unit until cycle " +
                  std::to_string(now + operation.held));
}

template <DecodedInstruction::Result to, Kind... kinds>
Runner Simulation::chosen(const DecodedInstruction& instruction) {
  constexpr size_t count = sizeof...(kinds);
  if (count == instruction.sources)
    return execute<to, kinds...>;
  if constexpr (count < 3) {
    switch (instruction.source[count].kind) {
    case Kind::Immediate:
      return chosen<to, kinds..., Kind::Immediate>(instruction);
    case Kind::Hold:
      return chosen<to, kinds..., Kind::Hold>(instruction);
    case Kind::Take:
      return chosen<to, kinds..., Kind::Take>(instruction);
    case Kind::Same:
      if constexpr (count > 0)
        return chosen<to, kinds..., Kind::Same>(instruction);
      break;
    }
  }
  return nullptr;
}

Runner Simulation::runnerOf(const DecodedInstruction& instruction, bool isHeld, bool isTraced) {
  if (isHeld)
    return failHeld;
  if (isTraced)
    return executeTraced;
  switch (instruction.result) {
  case DecodedInstruction::Result::ToRegister:
    return chosen<DecodedInstruction::Result::ToRegister>(instruction);
  case DecodedInstruction::Result::ToOutput:
    return chosen<DecodedInstruction::Result::ToOutput>(instruction);
  case DecodedInstruction::Result::Other:
    break;
  }
  return chosen<DecodedInstruction::Result::Other>(instruction);
}

} // namespace strata::array

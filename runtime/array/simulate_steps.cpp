// See simulate_steps.h.
#include "runtime/array/simulate_steps.h"

#include "runtime/array/simulate_state.h"

#include <algorithm>

namespace strata::array {

std::pair<std::vector<UnitState>, int64_t> StepTable::atBegin(const DecodedClass& decoded) {
  std::vector<UnitState> units;
  for (uint32_t i = 0; i < decoded.programs.size(); ++i)
    units.push_back({i, decoded.programs[i].begin.slot, decoded.programs[i].begin.idle, 0});
  const int64_t cycles = passTime(units);
  return {std::move(units), cycles};
}

Step* StepTable::find(std::vector<UnitState> units) {
  const auto [place, isNew] = steps_.try_emplace(std::move(units));
  Step& step = place->second;
  if (!isNew)
    return &step;
  step.units = &place->first;
  for (const UnitState& state : *step.units) {
    if (state.wait != 0)
      continue;
    const DecodedProgram& program = decoded_->programs[state.program];
    const DecodedInstruction& instruction = program.instructions[state.slot];
    if (instruction.evaluate)
      step.operations.push_back({Simulation::runnerOf(instruction, state.held != 0, isTraced_), &instruction,
                                 program.unit, program.unitClass, state.slot, state.held});
    for (size_t i = 0; i < instruction.sources; ++i) {
      const DecodedSource& source = instruction.source[i];
      if (source.kind == DecodedSource::Kind::Take && decoded_->registers[source.place].kind == Register::Kind::Input &&
          std::ranges::find(step.inputs, source.place) == step.inputs.end())
        step.inputs.push_back(source.place);
    }
    if (decoded_->signals.size() <= mostSignals)
      for (uint32_t bit = 0; bit < instruction.signals; ++bit)
        step.tests |= uint64_t{1} << decoded_->tests[instruction.firstSignal + bit];
  }
  return &step;
}

int64_t StepTable::passTime(std::vector<UnitState>& units) {
  if (units.empty())
    return 0;
  const uint32_t cycles = std::ranges::min_element(units, {}, &UnitState::wait)->wait;
  for (UnitState& state : units) {
    state.wait -= cycles;
    state.held -= std::min(state.held, cycles);
  }
  return cycles;
}

void StepTable::count(std::vector<int64_t>& operations) const {
  for (const auto& [units, step] : steps_)
    for (const StepOperation& operation : step.operations)
      operations[operation.unitClass] += step.visits;
}

} // namespace strata::array

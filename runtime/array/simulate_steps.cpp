// See simulate_steps.h.
#include "runtime/array/simulate_steps.h"

#include "runtime/array/simulate_state.h"

#include <algorithm>

namespace strata::array {

std::pair<Units, int64_t> StepTable::atBegin() {
  next_.clear();
  for (uint32_t i = 0; i < decoded_->programs.size(); ++i)
    next_.push_back({i, decoded_->programs[i].begin.slot, decoded_->programs[i].begin.idle, 0});
  const int64_t cycles = passTime(next_);
  return {next_, cycles};
}

Step* StepTable::find(Units units) {
  if (const auto found = states_->steps.find(units); found != states_->steps.end())
    return &found->second;
  operations_.clear();
  inputs_.clear();
  uint64_t tests = 0;
  for (const UnitState& state : units) {
    if (state.wait != 0)
      continue;
    const DecodedProgram& program = decoded_->programs[state.program];
    const DecodedInstruction& instruction = program.instructions[state.slot];
    if (instruction.evaluate)
      operations_.push_back({Simulation::runnerOf(instruction, state.held != 0, isTraced_), &instruction, program.unit,
                             program.unitClass, state.slot, state.held});
    for (size_t i = 0; i < instruction.sources; ++i) {
      const DecodedSource& source = instruction.source[i];
      if (source.kind == DecodedSource::Kind::Take && decoded_->registers[source.place].kind == Register::Kind::Input &&
          std::ranges::find(inputs_, source.place) == inputs_.end())
        inputs_.push_back(source.place);
    }
    if (decoded_->signals.size() <= mostSignals)
      for (uint32_t bit = 0; bit < instruction.signals; ++bit)
        tests |= uint64_t{1} << decoded_->tests[instruction.firstSignal + bit];
  }
  const Units kept = keep(units);
  Step made{kept,
            keep<StepOperation>(operations_),
            keep<uint16_t>(inputs_),
            tests,
            {},
            std::pmr::vector<Successor>(&states_->memory),
            0};
  return &states_->steps.try_emplace(kept, std::move(made)).first->second;
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
  for (const auto& [units, step] : states_->steps)
    for (const StepOperation& operation : step.operations)
      operations[operation.unitClass] += step.visits;
}

} // namespace strata::array

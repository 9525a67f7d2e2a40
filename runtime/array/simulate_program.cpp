// See simulate_program.h.
#include "runtime/array/simulate_program.h"

#include <algorithm>

namespace strata::array {

namespace {

bool isFifo(Register reg) {
  return reg.kind == Register::Kind::Feedback || reg.kind == Register::Kind::Input;
}

/// The place of an item in a list, which gets it if it is not there.
template <typename T>
uint16_t placeOf(std::vector<T>& list, const T& item) {
  const auto found = std::ranges::find(list, item);
  const auto place = static_cast<uint16_t>(found - list.begin());
  if (found == list.end())
    list.push_back(item);
  return place;
}

void decodeFunctional(const machine::FunctionalUnit& unit, const Functional& from, DecodedInstruction& to,
                      DecodedClass& all) {
  if (from.opcode == Opcode::Nop)
    return;
  to.evaluate = evaluator(from.opcode, from.type, from.operandType);
  for (const machine::Operation& operation : unit.operations)
    if (operation.name == name(from.opcode)) {
      to.latency = static_cast<uint32_t>(operation.latency);
      to.interval = static_cast<uint32_t>(operation.interval);
    }
  to.sources = static_cast<uint8_t>(from.sources.size());
  for (size_t i = 0; i < from.sources.size(); ++i) {
    const Register reg = from.sources[i].source;
    DecodedSource& source = to.source[i];
    source.immediate = from.sources[i].immediate;
    if (reg.kind == Register::Kind::None)
      continue;
    source.kind = isFifo(reg) ? DecodedSource::Kind::Take : DecodedSource::Kind::Hold;
    source.place = placeOf(all.registers, reg);
    for (size_t j = 0; j < i && isFifo(reg); ++j)
      if (from.sources[j].source == reg) {
        source.kind = DecodedSource::Kind::Same;
        source.place = static_cast<uint16_t>(j);
        break;
      }
  }
  to.firstDestination = static_cast<uint32_t>(all.destinations.size());
  to.destinations = static_cast<uint32_t>(from.destinations.size());
  for (const Register reg : from.destinations) {
    const bool isOutput = reg.kind == Register::Kind::Output;
    const uint16_t place = isOutput ? placeOf(all.outputs, reg.index) : placeOf(all.registers, reg);
    all.destinations.push_back({place, isOutput});
    to.destination = place;
    if (to.destinations == 1)
      to.result = isOutput ? DecodedInstruction::Result::ToOutput : DecodedInstruction::Result::ToRegister;
  }
}

/// Where a program goes on that comes to a slot, for each slot.
std::vector<DecodedTarget> goesOn(const Program& program) {
  std::vector<DecodedTarget> all(program.size());
  for (auto slot = static_cast<uint32_t>(program.size()); slot-- > 0;) {
    const bool isIdle =
        program[slot].functional.opcode == Opcode::Nop && program[slot].branch.kind == Branch::Kind::Next;
    all[slot] = isIdle ? DecodedTarget{all[slot + 1].slot, all[slot + 1].idle + 1} : DecodedTarget{slot, 0};
  }
  return all;
}

void decodeBranch(const Branch& branch, uint32_t slot, const std::vector<DecodedTarget>& targets,
                  DecodedInstruction& to, DecodedClass& all) {
  to.branch = branch.kind;
  if (branch.kind == Branch::Kind::Next)
    to.next = targets[slot + 1];
  if (branch.kind == Branch::Kind::Goto)
    to.next = targets[branch.targets[0]];
  if (branch.kind != Branch::Kind::If)
    return;
  to.firstSignal = static_cast<uint32_t>(all.tests.size());
  to.signals = static_cast<uint32_t>(branch.signals.size());
  for (const uint16_t signal : branch.signals)
    all.tests.push_back(placeOf(all.signals, signal));
  to.firstTarget = static_cast<uint32_t>(all.targets.size());
  for (const uint32_t target : branch.targets)
    all.targets.push_back(targets[target]);
}

} // namespace

int64_t DecodedClass::input(uint32_t index) const {
  const auto found = std::ranges::find(registers, Register{Register::Kind::Input, static_cast<uint16_t>(index)});
  return found == registers.end() ? -1 : found - registers.begin();
}

DecodedClass decode(const machine::ProcessorArray& array, const ProcessorClass& processorClass) {
  DecodedClass all;
  uint32_t instance = 0;
  for (uint32_t unit = 0; unit < array.units.size(); ++unit)
    for (uint64_t i = 0; i < array.units[unit].count; ++i, ++instance) {
      const Program& program = processorClass.programs[instance];
      if (program.empty())
        continue;
      const std::vector<DecodedTarget> targets = goesOn(program);
      DecodedProgram& decoded = all.programs.emplace_back(DecodedProgram{instance, unit, targets[0], {}});
      for (uint32_t slot = 0; slot < program.size(); ++slot) {
        DecodedInstruction& instruction = decoded.instructions.emplace_back();
        decodeFunctional(array.units[unit], program[slot].functional, instruction, all);
        decodeBranch(program[slot].branch, slot, targets, instruction, all);
      }
    }
  return all;
}

} // namespace strata::array

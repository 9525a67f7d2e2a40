// Finds races while the interpreter's machine checks a program: which instance touched an element of a distributed
// block last, and whether that happened before (instance_order.h). Reads in a loop that waits are no races: they are
// how instances order themselves.
#include "compiler/interpret/machine.h"

namespace strata::interpret {

void Machine::beginParallel(Task& task, uint64_t& outer) {
  outer = task.instance;
  if (!order_.isLive(task.instance))
    order_.begin();
}

void Machine::beginInstance(Task& task, uint64_t number, uint64_t outer) {
  // Iterations of loops further in are part of the instance that runs them.
  if (options_.trackUndefined && !order_.isLive(static_cast<uint32_t>(outer)))
    task.instance = order_.add(number);
}

void Machine::fence(Task& task) {
  if (order_.isLive(task.instance))
    order_.fence(task.instance);
}

void Machine::setNumber(Task& task, uint64_t number) {
  if (order_.isLive(task.instance))
    order_.setNumber(task.instance, number);
}

std::string Machine::instanceName(const Task& task) const {
  if (order_.isLive(task.instance)) {
    auto [isTile, number] = order_.number(task.instance);
    return (isTile ? "tile " : "instance ") + std::to_string(static_cast<int64_t>(number));
  }
  return task.isInstance ? "instance " + std::to_string(static_cast<int64_t>(task.number)) : "the program";
}

std::string Machine::elementName(const Instruction& instruction, Registers r) const {
  std::vector<int64_t> indices;
  switch (instruction.opcode) {
  case Opcode::Load2:
  case Opcode::Store2:
    indices = {static_cast<int64_t>(r[instruction.c]), static_cast<int64_t>(r[instruction.d])};
    break;
  case Opcode::Load1:
  case Opcode::Store1:
    indices = {static_cast<int64_t>(r[instruction.c])};
    break;
  case Opcode::LoadMany:
  case Opcode::StoreMany:
    for (unsigned i = 0; i < instruction.d; ++i)
      indices.push_back(static_cast<int64_t>(r[program_.pool[instruction.e + i]]));
    break;
  default:
    break;
  }
  std::string text = "[";
  for (size_t i = 0; i < indices.size(); ++i)
    text += (i ? ", " : "") + std::to_string(indices[i]);
  return text + "]";
}

bool Machine::recordAccess(Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                           uint64_t element, const void* value) {
  ElementAccesses& last = block.accesses[element];
  const uint32_t me = task.instance;
  if (!order_.isLive(me)) { // control code: everything else has ended
    last = {};
    return true;
  }
  const bool writeBefore = order_.isBefore(last.write.instance, last.write.point, me);
  if (!value && instruction.small & LoadWaits) {
    if (!writeBefore)
      order_.observe(me, {r[instruction.b], element}, last.write.instance, last.write.point);
    return true;
  }
  if (!value) {
    if (!writeBefore &&
        !(instruction.opcode == Opcode::Atomic && program_.code[last.write.pc].opcode == Opcode::Atomic))
      return reportRace(task, pc, instruction, r, block, last.write, false, true, false);
    const bool first = order_.isBefore(last.reads[0].instance, last.reads[0].point, me);
    last.reads[first ? 0 : 1] = {me, order_.readPoint(me), pc};
    return true;
  }
  // Changes in one step order themselves.
  const auto isAtomic = [&](const Access& access) { return program_.code[access.pc].opcode == Opcode::Atomic; };
  const bool changes = instruction.opcode == Opcode::Atomic;
  const Access* other = writeBefore || (changes && isAtomic(last.write)) ? nullptr : &last.write;
  for (const Access& read : last.reads)
    if (!other && !order_.isBefore(read.instance, read.point, me) && !(changes && isAtomic(read)))
      other = &read;
  if (other) {
    const auto bytes = static_cast<size_t>(instruction.imm);
    const bool same = std::memcmp(block.data + element * bytes, value, bytes) == 0;
    if (!reportRace(task, pc, instruction, r, block, *other, true, !writeBefore, same))
      return false;
  }
  last.write = {me, order_.writePoint(me), pc};
  return true;
}

bool Machine::reportRace(const Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                         const Access& other, bool writes, bool otherWrites, bool sameValue) {
  if (sameValue && block.racesReported)
    return true;
  Task another;
  another.instance = other.instance;
  const std::string mine = instanceName(task), theirs = instanceName(another);
  const Fault fault = sameValue ? Fault::RaceSameValue : Fault::Race;
  Diagnostic diagnostic =
      makeDiagnostic(fault, program_.locations[pc],
                     {program_.names[block.label], elementName(instruction, r),
                      theirs + (otherWrites ? " writes" : " reads"), mine + (writes ? " writes" : " reads")},
                     diagnostics_.sources());
  addPlace(diagnostic, program_.locations[other.pc], "here " + theirs + (otherWrites ? " writes it" : " reads it"),
           diagnostics_.sources());
  if (sameValue) {
    block.racesReported = true;
    diagnostics_.add(std::move(diagnostic));
    return true;
  }
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

} // namespace strata::interpret

// Streams of the interpreter's machine. An operation that cannot go on puts its task on the stream's list of waiters,
// and is tried again after the stream has changed.
#include "compiler/interpret/machine.h"

namespace strata::interpret {

Stream* Machine::stream(uint64_t handle) {
  auto index = static_cast<uint32_t>(handle);
  if (index >= streams_.size())
    return nullptr;
  Stream& found = streams_[index];
  return found.alive && found.generation == static_cast<uint32_t>(handle >> 32) ? &found : nullptr;
}

std::string Machine::streamName(const Stream& stream) const {
  const std::string& name = program_.names[static_cast<size_t>(stream.name)];
  return name.empty() ? "without a name" : "'" + name + "'";
}

void Machine::freeStream(uint64_t handle) {
  Stream* gone = stream(handle);
  if (!gone)
    return;
  wake(gone->waiters); // they will find that it is gone
  uint32_t generation = gone->generation + 1;
  *gone = Stream();
  gone->generation = generation;
  if (generation < (uint32_t(1) << 31) - 1)
    freeStreams_.push_back(static_cast<uint32_t>(handle));
}

Machine::Outcome Machine::makeStream(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  auto capacity = static_cast<int64_t>(r[instruction.b]);
  if (capacity <= 0) {
    failAt(task, pc, Fault::BadCapacity, {std::to_string(capacity)});
    return Outcome::Failed;
  }
  uint32_t index;
  if (freeStreams_.empty()) {
    index = static_cast<uint32_t>(streams_.size());
    streams_.emplace_back();
  } else {
    index = freeStreams_.back();
    freeStreams_.pop_back();
  }
  Stream& made = streams_[index];
  made.alive = true;
  made.capacity = static_cast<uint64_t>(capacity);
  made.elementSlots = instruction.c;
  made.name = instruction.imm;
  r[instruction.a] = makeHandle(index, made.generation);
  task.lifetimes[static_cast<unsigned>(LifetimeKind::Region)].push_back(r[instruction.a] | StreamMark);
  return Outcome::Finished;
}

Machine::Outcome Machine::push(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const uint32_t* list = program_.pool.data() + instruction.e;
  const unsigned count = instruction.d;
  Stream* full = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    Stream* to = stream(r[list[i]]);
    if (!to) {
      failAt(task, pc, Fault::Dead, {"a stream"});
      return Outcome::Failed;
    }
    if (to->ended) {
      failAt(task, pc, Fault::PushAfterEnd, {streamName(*to)});
      return Outcome::Failed;
    }
    // A stream that is named twice gets the element twice.
    auto wanted = static_cast<uint64_t>(
        std::count_if(list, list + count, [&](uint32_t other) { return r[other] == r[list[i]]; }));
    if (!full && to->size() + wanted > to->capacity)
      full = to;
  }
  if (full) {
    full->waiters.push_back(task.id);
    return Outcome::Blocked;
  }
  for (unsigned i = 0; i < count; ++i) {
    Stream& to = *stream(r[list[i]]);
    to.items.insert(to.items.end(), r + instruction.a, r + instruction.a + instruction.c);
    wake(to.waiters);
  }
  return Outcome::Finished;
}

Machine::Outcome Machine::take(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const bool isPeek = instruction.opcode == Opcode::Peek;
  Stream* from = stream(r[instruction.d]);
  if (!from) {
    failAt(task, pc, Fault::Dead, {"a stream"});
    return Outcome::Failed;
  }
  const uint64_t offset = isPeek ? r[instruction.e] : 0;
  if (offset >= from->capacity) {
    failAt(task, pc, Fault::BadPeek,
           {std::to_string(static_cast<int64_t>(offset)), streamName(*from), std::to_string(from->capacity)});
    return Outcome::Failed;
  }
  uint64_t* element = r + instruction.a;
  if (offset >= from->size()) {
    if (!from->ended) {
      from->waiters.push_back(task.id);
      return Outcome::Blocked;
    }
    std::fill(element, element + instruction.c, 0);
    r[instruction.b] = 0;
    return Outcome::Finished;
  }
  auto first = from->items.begin() + static_cast<int64_t>(offset * instruction.c);
  std::copy(first, first + instruction.c, element);
  r[instruction.b] = 1;
  if (!isPeek) {
    from->items.erase(first, first + instruction.c);
    wake(from->waiters);
  }
  return Outcome::Finished;
}

Machine::Outcome Machine::end(Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  Stream* ended = stream(r[instruction.a]);
  if (!ended) {
    failAt(task, pc, Fault::Dead, {"a stream"});
    return Outcome::Failed;
  }
  ended->ended = true;
  wake(ended->waiters);
  return Outcome::Finished;
}

} // namespace strata::interpret

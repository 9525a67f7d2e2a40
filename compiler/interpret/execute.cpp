// The interpreter's loop: one case for each opcode; what needs more than a few lines is a member of Machine elsewhere.
#include "compiler/interpret/machine.h"

#include "llvm/ADT/bit.h"

#include <limits>

namespace strata::interpret {

namespace {

/// Instructions that a task executes before another gets its turn. Any number gives the same result for programs
/// without races; a small one makes loops that poll memory end sooner.
constexpr unsigned Turn = 1 << 14;

template <typename T>
T real(uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return llvm::bit_cast<T>(static_cast<uint32_t>(bits));
  else
    return llvm::bit_cast<T>(bits);
}
uint64_t bits(float value) {
  return llvm::bit_cast<uint32_t>(value);
}
uint64_t bits(double value) {
  return llvm::bit_cast<uint64_t>(value);
}

/// Sign extension and cutting by the shift that an instruction holds (64 - width).
int64_t extend(uint64_t value, unsigned shift) {
  return static_cast<int64_t>(value << shift) >> shift;
}
uint64_t cut(uint64_t value, unsigned shift) {
  return value << shift >> shift;
}

std::optional<Fault> divide(const Instruction& instruction, uint64_t x, uint64_t y, uint64_t& result) {
  if (y == 0)
    return Fault::DivisionByZero;
  const unsigned shift = instruction.shift;
  const int64_t sx = extend(x, shift), sy = extend(y, shift);
  const auto kind = static_cast<Division>(instruction.small);
  const bool isSigned =
      kind != Division::Unsigned && kind != Division::RemainderUnsigned && kind != Division::CeilUnsigned;
  if (isSigned && sy == -1 && sx == std::numeric_limits<int64_t>::min() >> shift) {
    if (kind != Division::RemainderSigned && kind != Division::Modulo)
      return Fault::DivisionOverflow;
    result = 0;
    return std::nullopt;
  }
  switch (kind) {
  case Division::Signed:
    result = static_cast<uint64_t>(sx / sy);
    break;
  case Division::Unsigned:
    result = x / y;
    break;
  case Division::RemainderSigned:
    result = static_cast<uint64_t>(sx % sy);
    break;
  case Division::RemainderUnsigned:
    result = x % y;
    break;
  case Division::CeilSigned:
    result = static_cast<uint64_t>(sx / sy + (sx % sy != 0 && (sx < 0) == (sy < 0)));
    break;
  case Division::CeilUnsigned:
    result = x / y + (x % y != 0);
    break;
  case Division::FloorSigned:
    result = static_cast<uint64_t>(sx / sy - (sx % sy != 0 && (sx < 0) != (sy < 0)));
    break;
  case Division::Modulo:
    result = static_cast<uint64_t>(sx % sy + (sx % sy != 0 && (sx % sy < 0) != (sy < 0) ? sy : 0));
    break;
  }
  result = cut(result, shift);
  return std::nullopt;
}

void multiplyExtended(const Instruction& instruction, uint64_t* r) {
  const unsigned shift = instruction.shift, width = 64 - shift;
  unsigned __int128 product =
      instruction.small ? static_cast<unsigned __int128>(static_cast<__int128>(extend(r[instruction.b], shift)) *
                                                         extend(r[instruction.c], shift))
                        : static_cast<unsigned __int128>(r[instruction.b]) * r[instruction.c];
  r[instruction.a] = cut(static_cast<uint64_t>(product), shift);
  r[instruction.a + 1] = cut(static_cast<uint64_t>(product >> width), shift);
}

/// Whether a sum, difference or product of signed integers leaves their type.
bool overflows(const Instruction& instruction, const uint64_t* r) {
  const unsigned shift = instruction.shift;
  const int64_t a = extend(r[instruction.b], shift), b = extend(r[instruction.c], shift);
  int64_t result = 0;
  const bool isWide = instruction.opcode == Opcode::AddI   ? __builtin_add_overflow(a, b, &result)
                      : instruction.opcode == Opcode::SubI ? __builtin_sub_overflow(a, b, &result)
                                                           : __builtin_mul_overflow(a, b, &result);
  return isWide || extend(static_cast<uint64_t>(result), shift) != result;
}

bool goesOn(const Instruction& loop, uint64_t value, uint64_t upper) {
  return loop.small ? value < upper : extend(value, loop.shift) < extend(upper, loop.shift);
}

/// The next value of a loop's variable, or false at the end (also where it would leave its type).
bool advance(const Instruction& loop, uint64_t* r) {
  const int64_t value = extend(r[loop.a], loop.shift), step = extend(r[loop.d], loop.shift);
  int64_t next;
  if (__builtin_add_overflow(value, step, &next) || next >= extend(r[loop.c], loop.shift))
    return false;
  r[loop.a] = cut(static_cast<uint64_t>(next), loop.shift);
  return true;
}

} // namespace

bool Machine::failOverflow(const Task& task, uint32_t pc, const Instruction& instruction, Registers r) {
  const char* sign = instruction.opcode == Opcode::AddI ? " + " : instruction.opcode == Opcode::SubI ? " - " : " * ";
  auto text = [&](Slot slot) {
    const int64_t value = extend(r[slot], instruction.shift);
    return value < 0 && slot == instruction.c ? "(" + std::to_string(value) + ")" : std::to_string(value);
  };
  const unsigned bits = 64u - instruction.shift;
  Diagnostic diagnostic =
      makeDiagnostic(Fault::SignedOverflow, program_.locations[pc],
                     {text(instruction.b) + sign + text(instruction.c), std::to_string(bits)}, diagnostics_.sources());
  diagnostic.helps.push_back(bits < 64 ? "compute with a wider type, such as long, or with an unsigned one, which wraps"
                                       : "compute with an unsigned type, which wraps, or keep the numbers smaller");
  std::string code = diagnostic.kind->code;
  report(task, pc, std::move(diagnostic), std::move(code));
  return false;
}

Machine::Outcome Machine::execute(Task& task) {
  const Instruction* code = program_.code.data();
  const uint32_t* pool = program_.pool.data();
  uint32_t pc = task.pc;
  Registers r = task.registers.data() + task.frames.back().base;
  unsigned left = Turn;
  llvm::SmallVector<uint64_t, 16> staged;

  auto stop = [&](Outcome outcome, uint32_t at) {
    statistics_.steps += Turn - left;
    task.pc = at;
    task.waitingAt = pc - 1;
    return outcome;
  };

  while (left) {
    --left;
    const Instruction& i = code[pc++];
    bool ok = true;
    if (tracksRounding_) [[unlikely]]
      trackRounding(task, pc - 1, i, r);
    switch (i.opcode) {
    case Opcode::Copy:
      r[i.a] = r[i.b];
      break;
    case Opcode::CopyMany:
      staged.resize(i.d / 2);
      for (uint32_t k = 0; k < i.d / 2; ++k)
        staged[k] = r[pool[i.e + 2 * k + 1]];
      for (uint32_t k = 0; k < i.d / 2; ++k)
        r[pool[i.e + 2 * k]] = staged[k];
      break;
    case Opcode::Select:
      std::memmove(r + i.a, r + (r[i.b] ? i.c : i.d), static_cast<size_t>(i.imm) * 8);
      break;
    case Opcode::Pure1:
    case Opcode::Pure2:
    case Opcode::Pure3:
      r[i.a] = i.function(r[i.b], r[i.c], r[i.d], 64u - i.shift);
      break;
    case Opcode::AddI:
      if (i.small && options_.trackUndefined && overflows(i, r))
        ok = failOverflow(task, pc - 1, i, r);
      r[i.a] = cut(r[i.b] + r[i.c], i.shift);
      break;
    case Opcode::SubI:
      if (i.small && options_.trackUndefined && overflows(i, r))
        ok = failOverflow(task, pc - 1, i, r);
      r[i.a] = cut(r[i.b] - r[i.c], i.shift);
      break;
    case Opcode::MulI:
      if (i.small && options_.trackUndefined && overflows(i, r))
        ok = failOverflow(task, pc - 1, i, r);
      r[i.a] = cut(r[i.b] * r[i.c], i.shift);
      break;
    case Opcode::AndI:
      r[i.a] = r[i.b] & r[i.c];
      break;
    case Opcode::OrI:
      r[i.a] = r[i.b] | r[i.c];
      break;
    case Opcode::XorI:
      r[i.a] = r[i.b] ^ r[i.c];
      break;
    case Opcode::Equal:
      r[i.a] = r[i.b] == r[i.c];
      break;
    case Opcode::NotEqual:
      r[i.a] = r[i.b] != r[i.c];
      break;
    case Opcode::LessSigned:
      r[i.a] = extend(r[i.b], i.shift) < extend(r[i.c], i.shift);
      break;
    case Opcode::LessEqualSigned:
      r[i.a] = extend(r[i.b], i.shift) <= extend(r[i.c], i.shift);
      break;
    case Opcode::LessUnsigned:
      r[i.a] = r[i.b] < r[i.c];
      break;
    case Opcode::LessEqualUnsigned:
      r[i.a] = r[i.b] <= r[i.c];
      break;
    case Opcode::AddF32:
      r[i.a] = bits(real<float>(r[i.b]) + real<float>(r[i.c]));
      break;
    case Opcode::SubF32:
      r[i.a] = bits(real<float>(r[i.b]) - real<float>(r[i.c]));
      break;
    case Opcode::MulF32:
      r[i.a] = bits(real<float>(r[i.b]) * real<float>(r[i.c]));
      break;
    case Opcode::AddF64:
      r[i.a] = bits(real<double>(r[i.b]) + real<double>(r[i.c]));
      break;
    case Opcode::SubF64:
      r[i.a] = bits(real<double>(r[i.b]) - real<double>(r[i.c]));
      break;
    case Opcode::MulF64:
      r[i.a] = bits(real<double>(r[i.b]) * real<double>(r[i.c]));
      break;
    case Opcode::Divide: {
      uint64_t quotient = 0;
      std::optional<Fault> fault = divide(i, r[i.b], r[i.c], quotient);
      r[i.a] = quotient;
      ok = !fault || failAt(task, pc - 1, *fault);
      break;
    }
    case Opcode::AddExtended: {
      uint64_t sum = cut(r[i.b] + r[i.c], i.shift);
      bool carry = sum < r[i.b];
      r[i.a] = sum;
      r[i.a + 1] = carry;
      break;
    }
    case Opcode::MulExtended:
      multiplyExtended(i, r);
      break;
    case Opcode::Jump:
      pc = static_cast<uint32_t>(i.imm);
      break;
    case Opcode::JumpIfNot:
      pc = r[i.a] ? pc : static_cast<uint32_t>(i.imm);
      break;
    case Opcode::ForInit:
      if (extend(r[i.d], i.shift) <= 0)
        ok = failAt(task, pc - 1, Fault::BadStep, {std::to_string(extend(r[i.d], i.shift))});
      else if (goesOn(i, r[i.b], r[i.c]))
        r[i.a] = r[i.b];
      else
        pc = static_cast<uint32_t>(i.imm);
      break;
    case Opcode::ForNext:
      if (advance(i, r))
        pc = static_cast<uint32_t>(i.imm);
      break;
    case Opcode::Switch: {
      const SwitchTable& table = program_.switches[static_cast<size_t>(i.imm)];
      pc = static_cast<uint32_t>(table.otherwise);
      for (auto [value, target] : table.cases)
        if (static_cast<uint64_t>(value) == r[i.a])
          pc = static_cast<uint32_t>(target);
      break;
    }
    case Opcode::Call:
      ok = enter(task, i, pc);
      if (ok) {
        pc = program_.functions[static_cast<size_t>(i.imm)].entry;
        r = task.registers.data() + task.frames.back().base;
      }
      break;
    case Opcode::Return:
      pc = task.frames.back().returnTo;
      leave(task, i);
      if (task.frames.empty())
        return stop(Outcome::Finished, pc);
      r = task.registers.data() + task.frames.back().base;
      break;
    case Opcode::Enter:
      r[i.a] = task.lifetimes[i.small].size();
      break;
    case Opcode::Leave:
      release(task, i.small, static_cast<size_t>(r[i.a]));
      break;
    case Opcode::Spawn: {
      Task* started = spawn(task, pc, pc - 1);
      ok = started;
      if (started)
        r[i.a] = started->id;
      pc = static_cast<uint32_t>(i.imm);
      break;
    }
    case Opcode::SpawnMany: {
      const auto first = static_cast<int64_t>(r[i.b]), last = static_cast<int64_t>(r[i.c]);
      for (int64_t number = first; ok && number < last; ++number) {
        Task* started = spawn(task, pc, pc - 1);
        ok = started;
        if (!started)
          break;
        started->isInstance = true;
        started->group = task.nextGroup;
        started->parent = task.id;
        started->number = static_cast<uint64_t>(number);
        started->registers[i.a] = started->number;
        ++task.children;
      }
      if (ok && task.children)
        return stop(Outcome::Blocked, static_cast<uint32_t>(i.imm));
      pc = static_cast<uint32_t>(i.imm);
      break;
    }
    case Opcode::CheckNumber: {
      const auto number = instancesOf(task, pc - 1, i, r);
      ok = number.has_value();
      if (ok && !*number) {
        pc = static_cast<uint32_t>(i.imm);
      } else if (ok) {
        task.nextGroup = static_cast<uint32_t>(groups_.size());
        groups_.push_back({static_cast<uint64_t>(*number), {}});
      }
      break;
    }
    case Opcode::TaskEnd:
      return stop(Outcome::Finished, pc);
    case Opcode::Wait:
      for (uint32_t k = 0; k < i.d; ++k)
        if (auto running = tasks_.find(r[pool[i.e + k]]); running != tasks_.end()) {
          running->second->waiters.push_back(task.id);
          return stop(Outcome::Blocked, pc - 1);
        }
      break;
    case Opcode::Make:
      ok = make(task, pc - 1, i, r);
      break;
    case Opcode::Dealloc:
      ok = dealloc(task, pc - 1, r[i.a]);
      break;
    case Opcode::Forget:
      if (Storage* block = storage(r[i.a]))
        std::fill(block->written.begin(), block->written.end(), NotWritten);
      break;
    case Opcode::Global:
      ok = makeGlobal(task, pc - 1, i, r);
      break;
    case Opcode::Load0:
      ok = load<0>(task, pc - 1, i, r);
      break;
    case Opcode::Load1:
      ok = load<1>(task, pc - 1, i, r);
      break;
    case Opcode::Load2:
      ok = load<2>(task, pc - 1, i, r);
      break;
    case Opcode::LoadMany:
      ok = load<3>(task, pc - 1, i, r);
      break;
    case Opcode::Store0:
      ok = store<0>(task, pc - 1, i, r);
      break;
    case Opcode::Store1:
      ok = store<1>(task, pc - 1, i, r);
      break;
    case Opcode::Store2:
      ok = store<2>(task, pc - 1, i, r);
      break;
    case Opcode::StoreMany:
      ok = store<3>(task, pc - 1, i, r);
      break;
    case Opcode::Dimension:
      if (r[i.c] >= static_cast<uint64_t>(i.imm))
        ok = failAt(task, pc - 1, Fault::OutOfBounds,
                    {std::to_string(static_cast<int64_t>(r[i.c])), "memref.dim", std::to_string(i.imm)});
      else
        r[i.a] = r[i.b + 2 + r[i.c]];
      break;
    case Opcode::View:
      view(pc - 1, i, r);
      break;
    case Opcode::CheckExtent:
      ok = static_cast<int64_t>(r[i.a]) == i.imm ||
           failAt(task, pc - 1, Fault::CastExtent,
                  {std::to_string(static_cast<int64_t>(r[i.a])), std::to_string(i.imm)});
      break;
    case Opcode::Move:
      ok = move(task, pc - 1, i, r);
      break;
    case Opcode::Gather:
      ok = gather(task, pc - 1, i, r);
      break;
    case Opcode::Accumulate:
      if (options_.trackUndefined)
        beginAccumulation(pc - 1, i, r);
      break;
    case Opcode::Accumulated:
      if (tracksRounding_)
        endAccumulation(i, r);
      break;
    case Opcode::Fill:
      fill(i, r);
      break;
    case Opcode::SameBits:
      r[i.a] = sameBits(i, r);
      break;
    case Opcode::SameOrder:
      ok = sameOrder(task, pc - 1, i, r);
      break;
    case Opcode::Zero:
      std::fill(r + i.a, r + i.a + i.d, 0);
      break;
    case Opcode::GetField:
      if (i.d) // its last slot is padded with zeros
        r[i.a + (i.d - 1) / 8] = 0;
      std::memcpy(r + i.a, reinterpret_cast<const char*>(r + i.b) + i.c, i.d);
      break;
    case Opcode::PutField:
      std::memcpy(reinterpret_cast<char*>(r + i.a) + i.c, r + i.b, i.d);
      break;
    case Opcode::Check:
      ok = r[i.a] || failCheck(task, pc - 1, i, r);
      break;
    case Opcode::IndexCheck:
      ok = r[i.a] < r[i.b] || failCheck(task, pc - 1, i, r);
      break;
    case Opcode::Apart:
      ok = areApart(task, pc - 1, i, r);
      break;
    case Opcode::MemoryAt:
      ok = memoryAt(task, pc - 1, i, r);
      break;
    case Opcode::AreApart:
      ok = compareStretches(task, pc - 1, i, r);
      break;
    case Opcode::Count:
      statistics_.counters[program_.names[static_cast<size_t>(i.imm)]] += static_cast<int64_t>(r[i.a]);
      break;
    case Opcode::RunCount:
      ++statistics_.kernelRuns;
      break;
    case Opcode::Print:
      print(i, r);
      break;
    case Opcode::Parallel:
      beginParallel(task, r[i.a]);
      break;
    case Opcode::Instance:
      beginInstance(task, r[i.a], r[i.b]);
      break;
    case Opcode::Together:
      task.instance = static_cast<uint32_t>(r[i.a]);
      break;
    case Opcode::Number:
      setNumber(task, r[i.a]);
      break;
    case Opcode::Fence:
      fence(task);
      break;
    case Opcode::Branch:
      if (options_.trackUndefined) {
        Branch& begun = task.branches.emplace_back();
        begun.group = iterations_.newGroup();
        begun.kind = static_cast<Iterations::Kind>(i.small);
        begun.name = static_cast<uint32_t>(i.imm);
        begun.frame = static_cast<uint32_t>(task.frames.size());
      }
      break;
    case Opcode::BranchAt:
      if (options_.trackUndefined) {
        task.branches.back().isAt = true;
        task.branches.back().value = static_cast<int64_t>(r[i.a]);
        task.branches.back().node = 0;
      }
      break;
    case Opcode::BranchReduces:
      if (options_.trackUndefined) {
        task.branches.back().isAt = false;
        task.branches.back().node = 0;
      }
      break;
    case Opcode::BranchEnd:
      if (options_.trackUndefined)
        task.branches.pop_back();
      break;
    case Opcode::Barrier:
      if (arrive(task) == Outcome::Blocked)
        return stop(Outcome::Blocked, pc);
      break;
    case Opcode::Atomic:
      ok = change(task, pc - 1, i, r);
      break;
    case Opcode::Pause:
      pause(task, pc, i, r);
      return stop(Outcome::Blocked, pc);
    case Opcode::MakeStream:
    case Opcode::Push:
    case Opcode::Pop:
    case Opcode::Peek:
    case Opcode::End: {
      Outcome outcome = i.opcode == Opcode::MakeStream ? makeStream(task, pc - 1, i, r)
                        : i.opcode == Opcode::Push     ? push(task, pc - 1, i, r)
                        : i.opcode == Opcode::End      ? end(task, pc - 1, i, r)
                                                       : take(task, pc - 1, i, r);
      if (outcome == Outcome::Blocked)
        return stop(outcome, pc - 1);
      ok = outcome == Outcome::Finished;
      break;
    }
    case Opcode::External:
      ok = i.small == 2 ? offer(task, pc - 1, i, r, pc) : runExternal(task, pc - 1, i, r);
      break;
    case Opcode::Unsupported:
      ok = failAt(task, pc - 1, Fault::Unsupported, {program_.names[static_cast<size_t>(i.imm)]});
      break;
    }
    if (!ok) [[unlikely]]
      return stop(Outcome::Failed, pc);
  }
  return stop(Outcome::TimeIsUp, pc);
}

} // namespace strata::interpret

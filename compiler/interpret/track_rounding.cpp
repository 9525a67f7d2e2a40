// Carries slack (rounding.h) beside the numbers in registers and memory: one for every four bytes, so that each member
// of a record has its own; a double uses that of its first half. It begins at the elements that a loop reduces; before
// the first reduction nothing has any. Where the order of a reduction decides more than rounding, as by a branch
// between numbers that are closer than their slack, no bound is known from there on.
#include "compiler/interpret/machine.h"

#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace strata::interpret {

namespace {

double number(uint64_t bits, unsigned width) {
  return width == 32 ? static_cast<double>(llvm::bit_cast<float>(static_cast<uint32_t>(bits)))
                     : llvm::bit_cast<double>(bits);
}

/// How many slacks an element has.
uint64_t slacksOf(const Storage& block) {
  return block.elementBytes % 4 ? 0 : block.elementBytes / 4;
}

} // namespace

Slack* Machine::slackOf(Task& task, Registers at) {
  if (task.slacks.size() < 2 * task.registers.size())
    task.slacks.resize(2 * task.registers.size());
  return task.slacks.data() + 2 * (at - task.registers.data());
}

void Machine::orderDecides(uint32_t pc, bool byNotFinite) {
  if (decidedAt_)
    return;
  decidedAt_ = pc;
  decidedByNotFinite_ = byNotFinite;
}

bool Machine::makeSlacks(Storage& block) {
  const uint64_t count = static_cast<uint64_t>(block.elements) * slacksOf(block);
  if (!block.slacks.empty() || count == 0)
    return count != 0;
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, sizeof(Slack), &bytes) ||
      bytes > options_.maxBytes - std::min(bytes_, options_.maxBytes))
    return false;
  bytes_ += bytes;
  block.slacks.resize(count);
  return true;
}

void Machine::loadSlack(Task& task, const Instruction& instruction, Registers r, const Storage& block,
                        uint64_t element) {
  Slack* to = slackOf(task, r + instruction.a);
  const uint64_t each = slacksOf(block);
  for (uint64_t i = 0; i < std::max<uint64_t>((each + 1) / 2 * 2, 2); ++i)
    to[i] = i < each && !block.slacks.empty() ? block.slacks[element * each + i] : Slack();
}

void Machine::storeSlack(Task& task, uint32_t pc, const Instruction& instruction, Registers r, Storage& block,
                         uint64_t element) {
  const Slack* from = slackOf(task, r + instruction.a);
  const uint64_t each = slacksOf(block);
  bool any = false;
  for (uint64_t i = 0; i < std::max<uint64_t>(each, 1); ++i)
    any |= !from[i].isNone();
  if (any && !makeSlacks(block))
    return orderDecides(pc);
  if (!block.slacks.empty())
    std::copy_n(from, each, block.slacks.begin() + static_cast<int64_t>(element * each));
}

void Machine::moveSlack(uint32_t pc, const Storage& from, int64_t source, Storage& to, int64_t target) {
  const auto each = static_cast<int64_t>(slacksOf(from));
  if (each == 0 || (from.slacks.empty() && to.slacks.empty()))
    return;
  if (!makeSlacks(to))
    return orderDecides(pc);
  for (int64_t i = 0; i < each; ++i)
    to.slacks[static_cast<size_t>(target * each + i)] =
        from.slacks.empty() ? Slack() : from.slacks[static_cast<size_t>(source * each + i)];
}

void Machine::beginAccumulation(uint32_t pc, const Instruction& instruction, Registers r) {
  Storage* copy = storage(r[instruction.a]);
  const ElementNumbers& numbers = program_.elementNumbers[static_cast<size_t>(instruction.imm)];
  if (!copy || numbers.numbers.empty() || copy->elements == 0)
    return;
  tracksRounding_ = true;
  if (!makeSlacks(*copy))
    return orderDecides(pc);
  const uint64_t each = slacksOf(*copy);
  for (uint64_t element = 0; element < static_cast<uint64_t>(copy->elements); ++element)
    for (const ElementNumber& part : numbers.numbers) {
      Slack& slack = copy->slacks[element * each + part.offset / 4];
      if (!slack.isNone())
        continue;
      uint64_t bits = 0;
      std::memcpy(&bits, copy->data + element * copy->elementBytes + part.offset, part.width / 8);
      const Approximate begin{number(bits, part.width), {}};
      slack = {begin.magnitude(), 0, 0, begin.spread()};
    }
}

void Machine::endAccumulation(const Instruction& instruction, Registers r) {
  Storage *copy = storage(r[instruction.a]), *into = storage(r[instruction.b]);
  const ElementNumbers& numbers = program_.elementNumbers[static_cast<size_t>(instruction.imm)];
  if (!copy || !into || copy->slacks.empty())
    return;
  const uint64_t each = slacksOf(*copy);
  Rows targets(r + instruction.b, instruction.c);
  uint64_t element = 0;
  do
    for (int64_t i = 0; i < targets.rowExtent(); ++i, ++element)
      for (const ElementNumber& part : numbers.numbers) {
        Slack& slack = copy->slacks[element * each + part.offset / 4];
        const auto at = static_cast<uint64_t>(targets.offset + i * targets.rowStride());
        const Slack before = into->slacks.empty() ? Slack() : into->slacks[at * each + part.offset / 4];
        uint64_t bits = 0;
        std::memcpy(&bits, copy->data + element * copy->elementBytes + part.offset, part.width / 8);
        if (slack.isNone())
          continue;
        // A number that was only chosen is the same; which of two zeros it is may depend on the order.
        if (slack.bound() == 0 && before.isNone() && number(bits, part.width) != 0)
          slack = Slack();
        else if (slack.bound() > 0 && !part.isCombined)
          slack = Slack::unknown();
        else // copies are combined by no more roundings than there were terms
          slack.relative += std::max(slack.relative - before.relative, 0.0);
        if (before.isNone()) // what is computed from it has one order
          slack.spread = 0;
      }
  while (targets.next());
}

/// Instructions between numbers.
void Machine::trackNumbers(Task& task, uint32_t pc, const Instruction& i, Registers r) {
  Slack* slacks = slackOf(task, r);
  const unsigned width = 64u - i.shift;
  auto rule = static_cast<RoundingRule>(i.small);
  unsigned operands = i.opcode == Opcode::Pure3 ? 3 : i.opcode == Opcode::Pure1 ? 1 : 2;
  if (i.opcode == Opcode::MulF32 || i.opcode == Opcode::MulF64)
    rule = RoundingRule::Multiply;
  else if (i.opcode != Opcode::Pure1 && i.opcode != Opcode::Pure2 && i.opcode != Opcode::Pure3)
    rule = RoundingRule::Add;
  const Slot slots[] = {i.b, i.c, i.d};
  bool any = false;
  for (unsigned k = 0; k < operands; ++k)
    any |= !slacks[2 * slots[k]].isNone();
  if (rule == RoundingRule::Compare && !notFiniteAt_ && (width == 32 || width == 64) &&
      (std::isnan(number(r[i.b], width)) || std::isnan(number(r[i.c], width))))
    notFiniteAt_ = pc;
  Slack& result = slacks[2 * i.a];
  slacks[2 * i.a + 1] = Slack();
  if (!any) {
    result = Slack();
    return;
  }
  Approximate values[3];
  for (unsigned k = 0; k < operands; ++k)
    values[k] = {rule == RoundingRule::Keep || rule == RoundingRule::Narrow ? 0 : number(r[slots[k]], width),
                 slacks[2 * slots[k]]};
  // Every comparison with a NaN is false, so the order decides whether a NaN stays. An infinity times a factor that
  // becomes 0 in one order only is a NaN in that order.
  const bool isProduct =
      rule == RoundingRule::Multiply || rule == RoundingRule::Divide || rule == RoundingRule::MultiplyAdd;
  for (const Approximate& each : llvm::ArrayRef(values, operands))
    if (rule == RoundingRule::Compare ? std::isnan(each.value) : isProduct && !std::isfinite(each.value))
      orderDecides(pc, /*byNotFinite=*/true);
  if (rule == RoundingRule::Compare) {
    // What is undecided has slack.
    const double distance = std::fabs(values[0].value - values[1].value),
                 near = 2 * (values[0].bound() + values[1].bound());
    result = near > 0 && !(distance > near) ? Slack{0, 0, near} : Slack();
  } else if (rule == RoundingRule::Whole || (width != 32 && width != 64)) {
    if (values[0].bound() > 0 || values[1].bound() > 0 || values[2].bound() > 0)
      orderDecides(pc);
    result = Slack();
  } else {
    // The width of a conversion is that of its operand.
    const bool isNarrow = rule == RoundingRule::Narrow;
    const unsigned format = isNarrow ? 32 : width;
    result = isNarrow && width == 32 ? Slack::unknown() : combine(rule, values[0], values[1], values[2], format);
    // Terms whose sum is beyond the largest number become an infinity in one order and not in another. So do factors,
    // or nothing.
    const double most = format == 32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    const bool wasFinite = std::all_of(std::begin(values), std::end(values), [](const Approximate& each) {
      return std::isfinite(each.magnitude()) && std::isfinite(each.value);
    });
    const bool leavesRange = result.magnitude > most || result.spread >= (format == 32 ? 126 : 1022);
    if (wasFinite && leavesRange && result.relative < 1)
      orderDecides(pc);
  }
}

void Machine::trackSelect(Task& task, uint32_t pc, const Instruction& i, Registers r) {
  Slack* slacks = slackOf(task, r);
  const Slack condition = slacks[2 * i.b];
  const Slot chosen = r[i.b] ? i.c : i.d, other = r[i.b] ? i.d : i.c;
  if (!condition.isNone() && i.imm == 1 && (!slacks[2 * chosen].isNone() || !slacks[2 * other].isNone())) {
    // Either of two that are close to each other, or to what the comparison was of.
    const Slack &one = slacks[2 * chosen], &two = slacks[2 * other];
    const bool isSingle = (r[chosen] | r[other]) >> 32 == 0;
    const double apart = std::fabs(number(r[chosen], isSingle ? 32 : 64) - number(r[other], isSingle ? 32 : 64));
    Slack both{std::max(one.magnitude, two.magnitude), std::max(one.relative, two.relative),
               std::max(one.absolute, two.absolute) + apart};
    if (!(apart >= 0))
      both = Slack::unknown();
    slacks[2 * i.a] = both;
    slacks[2 * i.a + 1] = Slack();
    return;
  }
  if (!condition.isNone())
    orderDecides(pc);
  // What takes the place of a number that is being reduced is that number from here on.
  const Slack left = slacks[2 * other];
  const bool begins = i.imm == 1 && slacks[2 * chosen].isNone() && !left.isNone() && left.bound() == 0;
  std::copy_n(std::vector<Slack>(slacks + 2 * chosen, slacks + 2 * (chosen + i.imm)).data(), 2 * i.imm,
              slacks + 2 * i.a);
  if (begins) {
    const bool isSingle = (r[chosen] | r[other]) >> 32 == 0;
    slacks[2 * i.a] = {std::fabs(number(r[chosen], isSingle ? 32 : 64)), 0, 0};
  }
}

void Machine::trackFrame(Task& task, const Instruction& i) {
  const uint32_t* list = program_.pool.data() + i.e;
  const Frame& frame = task.frames.back();
  if (i.opcode == Opcode::Return) {
    if (task.frames.size() < 2)
      return;
    const size_t from = frame.base, to = task.frames[task.frames.size() - 2].base + frame.results;
    for (uint32_t k = 0; k < i.d; ++k)
      std::copy_n(task.slacks.begin() + 2 * static_cast<int64_t>(from + list[k]), 2,
                  task.slacks.begin() + 2 * static_cast<int64_t>(to + k));
    return;
  }
  const Function& callee = program_.functions[static_cast<size_t>(i.imm)];
  const size_t base = frame.base + program_.functions[frame.function].frameSlots;
  if (task.slacks.size() < 2 * (base + callee.frameSlots))
    task.slacks.resize(2 * (base + callee.frameSlots) + task.slacks.size());
  std::fill_n(task.slacks.begin() + 2 * static_cast<int64_t>(base), 2 * callee.frameSlots, Slack());
  for (uint32_t k = 0; k < i.d; ++k)
    std::copy_n(task.slacks.begin() + 2 * static_cast<int64_t>(frame.base + list[k]), 2,
                task.slacks.begin() + 2 * static_cast<int64_t>(base + k));
}

/// Before an instruction: gives what it writes in registers the slack that follows.
void Machine::trackRounding(Task& task, uint32_t pc, const Instruction& i, Registers r) {
  Slack* slacks = slackOf(task, r);
  auto has = [&](Slot slot) { return !slacks[2 * slot].isNone() || !slacks[2 * slot + 1].isNone(); };
  auto clear = [&](Slot slot) { slacks[2 * slot] = slacks[2 * slot + 1] = Slack(); };
  switch (i.opcode) {
  case Opcode::Copy:
    std::copy_n(slacks + 2 * i.b, 2, slacks + 2 * i.a);
    return;
  case Opcode::CopyMany: {
    const uint32_t* list = program_.pool.data() + i.e;
    llvm::SmallVector<Slack, 32> staged;
    for (uint32_t k = 0; k < i.d; k += 2)
      staged.append(slacks + 2 * list[k + 1], slacks + 2 * list[k + 1] + 2);
    for (uint32_t k = 0; k < i.d; k += 2)
      std::copy_n(staged.begin() + k, 2, slacks + 2 * list[k]);
    return;
  }
  case Opcode::Select:
    return trackSelect(task, pc, i, r);
  case Opcode::Pure1:
  case Opcode::Pure2:
  case Opcode::Pure3:
  case Opcode::AddF32:
  case Opcode::SubF32:
  case Opcode::MulF32:
  case Opcode::AddF64:
  case Opcode::SubF64:
  case Opcode::MulF64:
    return trackNumbers(task, pc, i, r);
  case Opcode::AndI:
  case Opcode::OrI:
  case Opcode::XorI:
    // Of two conditions: undecided, if one of them is.
    if (i.shift == 63 && (has(i.b) || has(i.c))) {
      slacks[2 * i.a] = has(i.b) ? slacks[2 * i.b] : slacks[2 * i.c];
      return;
    }
    [[fallthrough]];
  case Opcode::AddI:
  case Opcode::SubI:
  case Opcode::MulI:
  case Opcode::Equal:
  case Opcode::NotEqual:
  case Opcode::LessSigned:
  case Opcode::LessEqualSigned:
  case Opcode::LessUnsigned:
  case Opcode::LessEqualUnsigned:
  case Opcode::Divide:
  case Opcode::AddExtended:
  case Opcode::MulExtended:
    if (slacks[2 * i.b].bound() > 0 || slacks[2 * i.c].bound() > 0)
      orderDecides(pc);
    clear(i.a);
    if (i.opcode == Opcode::AddExtended || i.opcode == Opcode::MulExtended)
      clear(i.a + 1);
    return;
  case Opcode::JumpIfNot:
  case Opcode::Switch:
    if (has(i.a))
      orderDecides(pc);
    return;
  case Opcode::Push:
    if (has(i.a))
      orderDecides(pc);
    return;
  case Opcode::Call:
  case Opcode::Return:
    return trackFrame(task, i);
  case Opcode::ForInit:
  case Opcode::ForNext:
  case Opcode::Enter:
  case Opcode::Spawn:
  case Opcode::SpawnMany:
  case Opcode::Dimension:
  case Opcode::Number:
  case Opcode::SameBits:
    return clear(i.a);
  case Opcode::Zero:
    std::fill_n(slacks + 2 * i.a, 2 * i.d, Slack());
    return;
  case Opcode::GetField: {
    const bool isWhole = i.c % 4 == 0 && i.d % 4 == 0;
    llvm::SmallVector<Slack, 32> staged((i.d + 7) / 8 * 2);
    if (isWhole)
      std::copy_n(slacks + 2 * i.b + i.c / 4, i.d / 4, staged.begin());
    std::copy(staged.begin(), staged.end(), slacks + 2 * i.a);
    return;
  }
  case Opcode::PutField:
    if (i.c % 4 == 0 && i.d % 4 == 0)
      std::copy_n(slacks + 2 * i.b, i.d / 4, slacks + 2 * i.a + i.c / 4);
    return;
  case Opcode::Pop:
  case Opcode::Peek:
    std::fill_n(slacks + 2 * i.a, 2 * i.c, Slack());
    return clear(i.b);
  case Opcode::External:
    // Nothing is known of what functions in C do with a number.
    for (const Parameter& parameter : program_.externals[static_cast<size_t>(i.imm)].parameters) {
      const Storage* block = parameter.kind == Parameter::Kind::Block ? storage(r[parameter.slot]) : nullptr;
      if ((block && !block->slacks.empty()) || (parameter.kind == Parameter::Kind::Scalar && has(parameter.slot)))
        orderDecides(pc);
    }
    if (i.small == 1)
      clear(i.a);
    return;
  default:
    return; // it writes no numbers
  }
}

void Machine::keepSlacks() {
  slacks_.assign(arguments_.size(), {});
  for (size_t position = 0; position < arguments_.size(); ++position)
    if (Storage* block = arguments_[position] ? storage(arguments_[position]) : nullptr)
      slacks_[position] = std::move(block->slacks);
}

std::vector<double> Machine::distances(size_t argument) const {
  std::vector<double> result;
  for (const Slack& slack : slacks_[argument]) // what the terms were computed from is the same for both
    result.push_back(slack.isNone() ? -1 : 2 * slack.bound());
  return result;
}

} // namespace strata::interpret

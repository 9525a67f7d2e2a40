// See symbolic_values.h. Of the ways between tiles only that within the tile is followed: all have the same ends.
#include "compiler/target/array/symbolic_values.h"

#include <algorithm>
#include <numeric>

namespace strata::array {

const isl::set& SymbolicValues::where(const std::vector<Term>& terms) {
  if (const auto known = where_.find(&terms); known != where_.end())
    return known->second;
  isl::set all = sets_.none();
  for (const Term& term : terms)
    if (isHere(term))
      all = SymbolicSets::together(all, sets_.space(term.space, term.shift));
  return where_.emplace(&terms, std::move(all)).first->second;
}

/// Whether the other end is not in another tile.
bool SymbolicValues::isHere(const Term& term) const {
  return std::ranges::all_of(term.crossing, [](int64_t each) { return each == 0; });
}

const isl::set& SymbolicValues::written(uint32_t instruction, Register reg) {
  if (const auto known = written_.find({instruction, reg}); known != written_.end())
    return known->second;
  const SymbolicInstruction& each = symbolic_.instructions[instruction];
  isl::set all = sets_.none();
  for (const Destination& destination : each.destinations)
    if (destination.reg == reg)
      all = SymbolicSets::together(all, where(destination.when));
  return written_.emplace(std::pair(instruction, reg), SymbolicSets::simple(all.intersect(where(each.when))))
      .first->second;
}

/// The latest value of the iteration that is there.
void SymbolicValues::held(uint32_t reader, Register reg, isl::set rest, std::vector<Origin>& origins) {
  std::vector<uint32_t> writers(symbolic_.instructions.size());
  std::iota(writers.begin(), writers.end(), 0u);
  const auto arrival = [&](uint32_t i) { return symbolic_.instructions[i].offset + symbolic_.instructions[i].latency; };
  std::ranges::sort(writers, [&](uint32_t a, uint32_t b) { return arrival(a) > arrival(b); });
  for (const uint32_t writer : writers) {
    if (arrival(writer) > symbolic_.instructions[reader].offset)
      continue;
    const isl::set seen = rest.intersect(written(writer, reg));
    if (seen.is_empty())
      continue;
    origins.push_back({{MadeValue::Kind::Instruction, writer, SymbolicSets::Vector(symbolic_.loops.size(), 0)}, seen});
    rest = rest.subtract(seen);
  }
}

void SymbolicValues::queued(Register reg, const isl::set& where, std::vector<Origin>& origins) {
  const auto fifo = std::ranges::find(symbolic_.fifos, reg, &Fifo::reg);
  if (fifo == symbolic_.fifos.end())
    return;
  for (uint32_t writer = 0; writer < symbolic_.instructions.size(); ++writer) {
    const isl::set got = sets_.later(written(writer, reg), fifo->arrival.distance).intersect(where);
    if (!got.is_empty())
      origins.push_back({{MadeValue::Kind::Instruction, writer, fifo->arrival.distance}, got});
  }
}

std::vector<Origin> SymbolicValues::operand(uint32_t instruction, size_t number) {
  const SymbolicInstruction& each = symbolic_.instructions[instruction];
  const isl::set when = where(each.when);
  std::vector<Origin> origins;
  for (const Source& source : each.operands[number]) {
    const Register reg = source.value.source;
    const isl::set here = where(source.when).intersect(when);
    if (here.is_empty())
      continue;
    switch (reg.kind) {
    case Register::Kind::None:
      origins.push_back({{MadeValue::Kind::Constant, 0, {}, nullptr, source.value.immediate}, here});
      break;
    case Register::Kind::Input:
      for (const Access& access : symbolic_.accesses)
        if (!access.isOutput && access.reg == reg)
          if (const isl::set got = here.intersect(where(access.when)); !got.is_empty())
            origins.push_back({{MadeValue::Kind::Input, access.array, {}, &access}, got});
      break;
    case Register::Kind::Feedback:
      queued(reg, here, origins);
      break;
    default:
      held(instruction, reg, here, origins);
    }
  }
  return origins;
}

std::vector<Origin> SymbolicValues::output(const Access& access) {
  std::vector<Origin> origins;
  const isl::set accessed = where(access.when);
  for (uint32_t writer = 0; writer < symbolic_.instructions.size(); ++writer) {
    const SymbolicInstruction& each = symbolic_.instructions[writer];
    isl::set sent = sets_.none();
    for (const Destination& destination : each.destinations)
      for (const Term& term : destination.when)
        if (destination.reg == access.reg && term.step.empty())
          sent = SymbolicSets::together(sent, sets_.space(term.space, term.shift));
    const isl::set got = sent.intersect(where(each.when)).intersect(accessed);
    if (!got.is_empty())
      origins.push_back({{MadeValue::Kind::Instruction, writer, SymbolicSets::Vector(symbolic_.loops.size(), 0)}, got});
  }
  return origins;
}

} // namespace strata::array

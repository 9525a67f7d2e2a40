// Which elements the executions of an instance take, as far as a rehearsal knows, and the tunables that an instance
// settles when it begins.
#include "compiler/sequoia/tune/rehearser.h"

#include <algorithm>
#include <numeric>

namespace strata::sequoia::rehearsal {

namespace {

constexpr int64_t mostSettled = int64_t(1) << 20; // values that are tried of a tunable

} // namespace

void Rehearser::cover(const BlockRange& range, const Value& start, const Value& end, const Value& extent) {
  const bool isKnown = start.isInteger() && end.isInteger() && extent.isInteger();
  auto [at, isNew] = covers_.try_emplace(&range);
  Cover& cover = at->second;
  cover.isKnown &= isKnown && (isNew || cover.extent == extent.integer);
  if (!cover.isKnown)
    return;
  cover.extent = extent.integer;
  cover.begin = isNew ? start.integer : std::min(cover.begin, start.integer);
  cover.end = isNew ? end.integer : std::max(cover.end, end.integer);
}

void Rehearser::reportShort(const Loop& loop, const Value& end) {
  std::set<const Variable*> counts;
  variablesOf(loop.end, counts);
  const bool isTunable = std::all_of(counts.begin(), counts.end(),
                                     [](const Variable* each) { return each->kind == VariableKind::Tunable; });
  if (counts.empty() || !isTunable)
    return;
  for (const auto& [range, cover] : covers_) {
    std::set<const Variable*> starts;
    variablesOf(range->start, starts);
    if (starts.contains(loop.variable) && cover.isKnown && cover.begin == 0 && cover.end > 0 &&
        cover.end < cover.extent)
      report(Misfit::Kind::Short, frame_->index, loop.end, cover.extent, cover.end, end.from);
  }
}

void Rehearser::findLeft() {
  for (const Callsite* site : frame_->instance->variant->callsites)
    for (const Argument& argument : site->statement->arguments) {
      const Expr& block = *argument.value;
      if (argument.direction == Direction::In || block.kind != ExprKind::Block || !block.operands.empty() ||
          block.variable->kind != VariableKind::Parameter || block.variable->direction == Direction::In)
        continue;
      const std::vector<Value>& extents = frame_->extents[block.variable->index];
      if (std::any_of(extents.begin(), extents.end(),
                      [](const Value& each) { return each.isInteger() && !each.integer; }))
        continue;
      for (size_t d = 0; d < extents.size() && d < block.ranges.size(); ++d) {
        auto at = frame_->taken.find({block.variable, d});
        const Taken taken = at == frame_->taken.end() ? Taken() : at->second;
        Value from;
        from.from = frame_->steered;
        Value ofBlocks;
        ofBlocks.from = taken.from;
        from.after(ofBlocks);
        if (!taken.isKnown || !extents[d].isInteger() || extents[d].integer < 0 || from.from.empty())
          continue;
        Left& left = left_[{frame_->index, block.variable, d}];
        const int64_t extent = extents[d].integer;
        const int64_t length = taken.isAny ? std::min(taken.end, extent) - std::max<int64_t>(taken.begin, 0) : 0;
        left.expr = &block;
        left.extents = std::gcd(left.extents, extent);
        if (left.extent == 0 || extent - length > left.extent - left.taken) {
          left.extent = extent;
          left.taken = std::max<int64_t>(length, 0);
        }
        Value both;
        both.from = left.from;
        left.from = both.after(from).from;
      }
    }
}

void Rehearser::settle(Frame& frame) const {
  const std::vector<char>& isDivisor = frame.instance->divisors;
  if (std::find(isDivisor.begin(), isDivisor.end(), 1) == isDivisor.end())
    return;
  const TaskVariant& variant = *frame.instance->variant;
  auto [at, isNew] = usesOf_.try_emplace(&variant);
  if (isNew)
    at->second = usesOf(variant);
  const std::vector<const ExactDivision*> divisions = at->second.settling(isDivisor);
  std::map<const Variable*, int64_t> values;
  for (const Variable* tunable : variant.tunables)
    values[tunable] = frame.instance->tunables[tunable->index];
  auto valueOf = [&](auto& self, const Formula& formula) -> std::optional<int64_t> {
    if (formula.kind == Formula::Kind::Constant)
      return formula.constant;
    if (formula.kind == Formula::Kind::Variable) {
      if (auto value = values.find(formula.variable); value != values.end())
        return value->second;
      auto scalar = frame.scalars.find(formula.variable);
      return scalar != frame.scalars.end() && scalar->second.isInteger() ? std::optional(scalar->second.integer)
                                                                         : std::nullopt;
    }
    const std::optional<int64_t> left = self(self, *formula.left), right = self(self, *formula.right);
    if (!left || !right)
      return std::nullopt;
    int64_t result = 0;
    switch (formula.kind == Formula::Kind::Minimum   ? Operator::Less
            : formula.kind == Formula::Kind::Maximum ? Operator::Greater
                                                     : formula.op) {
    case Operator::Less:
      return std::min(*left, *right);
    case Operator::Greater:
      return std::max(*left, *right);
    case Operator::Add:
      return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Operator::Subtract:
      return __builtin_sub_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Operator::Multiply:
      return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Operator::Divide:
      return *left / std::max<int64_t>(*right, 1);
    case Operator::Remainder:
      return *left % std::max<int64_t>(*right, 1);
    case Operator::ShiftLeft:
      return *right < 0 || *right > 40 || *left < 0 || *left > (int64_t(1) << 20) ? std::nullopt
                                                                                  : std::optional(*left << *right);
    case Operator::ShiftRight:
      return *right < 0 || *right > 62 ? std::nullopt : std::optional(*left >> *right);
    default:
      return std::nullopt;
    }
  };
  auto allComeOut = [&]() -> std::optional<bool> {
    for (const ExactDivision* division : divisions) {
      const std::optional<int64_t> divided = valueOf(valueOf, *division->divided),
                                   divisor = valueOf(valueOf, *division->divisor);
      if (!divided || !divisor)
        return std::nullopt;
      if (*divided % std::max<int64_t>(*divisor, 1) != 0)
        return false;
    }
    return true;
  };
  std::optional<bool> comesOut = allComeOut();
  if (comesOut == false) {
    // As the instance does it (lower_tunables.cpp): one after the other, the others at 1.
    for (const Variable* tunable : variant.tunables)
      if (isDivisor[tunable->index])
        values[tunable] = at->second.tunables[tunable->index].isShift ? 0 : 1;
    for (const Variable* tunable : variant.tunables) {
      if (!isDivisor[tunable->index])
        continue;
      const TunableKind& kind = at->second.tunables[tunable->index];
      int64_t& value = values[tunable];
      const int64_t least = value;
      int64_t largest = frame.instance->tunables[tunable->index];
      for (const ExactDivision* division : divisions)
        if (!kind.isShift && division->divisor->variable == tunable)
          largest = std::min(largest, std::max<int64_t>(valueOf(valueOf, *division->divided).value_or(largest), 1));
      if (largest > mostSettled)
        return;
      auto exceeds = [&](const ExactDivision* division) {
        const std::optional<int64_t> divided = valueOf(valueOf, *division->divided),
                                     divisor = valueOf(valueOf, *division->divisor);
        return division->isProductWith(tunable) && divided && divisor && *divided > 0 && *divisor > *divided;
      };
      const bool hasProduct = std::any_of(divisions.begin(), divisions.end(), [&](const ExactDivision* division) {
        return division->isProductWith(tunable);
      });
      if (!kind.isShift && !kind.isBits && hasProduct) {
        for (value = largest; value > least && std::any_of(divisions.begin(), divisions.end(), exceeds);)
          value /= 2;
        largest = std::min(largest, 2 * value);
      }
      for (value = largest; value > least && (comesOut = allComeOut()) == false;)
        value = kind.isBits ? value / 2 : value - 1;
    }
  }
  if (!comesOut)
    return;
  for (const Variable* tunable : variant.tunables)
    if (isDivisor[tunable->index])
      frame.settled[tunable] = values[tunable];
}

} // namespace strata::sequoia::rehearsal

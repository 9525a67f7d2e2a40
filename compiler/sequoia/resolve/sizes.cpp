// Intervals of the values that sizes can take, from callers to callees.
#include "compiler/sequoia/resolve/sizes.h"

#include <algorithm>

namespace strata::sequoia {

void join(std::vector<TunableUse>& into, const std::vector<TunableUse>& from) {
  for (const TunableUse& use : from)
    if (std::find(into.begin(), into.end(), use) == into.end())
      into.push_back(use);
}

namespace {

/// What an integer expression can be. Size parameters are never negative.
struct Interval {
  std::optional<int64_t> low, high;
  std::vector<TunableUse> because;
};

using Limit = std::optional<int64_t>;

Limit add(Limit a, Limit b) {
  int64_t sum = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &sum) ? Limit(sum) : std::nullopt;
}
Limit multiply(Limit a, Limit b) {
  int64_t product = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &product) ? Limit(product) : std::nullopt;
}
Limit negate(Limit a) {
  return a && *a != INT64_MIN ? Limit(-*a) : std::nullopt;
}

class Evaluator {
public:
  Evaluator(uint32_t index, const Instance& instance, const InstanceSizes& sizes)
      : index_(index), instance_(instance), sizes_(sizes) {}

  Interval operator()(const Expr* expr) const {
    switch (expr->kind) {
    case ExprKind::Integer:
      return {expr->signedValue(), expr->signedValue(), {}};
    case ExprKind::Variable:
      return variable(*expr->variable);
    case ExprKind::Cast: {
      // A conversion to a narrower type could wrap; sizes that large do not occur in a type that holds them.
      Interval inner = (*this)(expr->operands[0]);
      return expr->type->isInteger() && expr->operands[0]->type->isInteger() ? inner : Interval();
    }
    case ExprKind::Unary: {
      Interval inner = (*this)(expr->operands[0]);
      if (expr->op == Operator::Negate)
        return {negate(inner.high), negate(inner.low), inner.because};
      return expr->op == Operator::Plus ? inner : Interval();
    }
    case ExprKind::Binary:
      return binary(*expr);
    case ExprKind::Conditional: {
      Interval yes = (*this)(expr->operands[1]), no = (*this)(expr->operands[2]);
      join(yes.because, no.because);
      return {yes.low && no.low ? Limit(std::min(*yes.low, *no.low)) : std::nullopt,
              yes.high && no.high ? Limit(std::max(*yes.high, *no.high)) : std::nullopt, yes.because};
    }
    case ExprKind::BuiltinCall:
      return minimumOrMaximum(*expr);
    default:
      return {};
    }
  }

private:
  Interval variable(const Variable& variable) const {
    if (variable.kind == VariableKind::Tunable) {
      const int64_t value = instance_.tunables[variable.index];
      const bool isSettledLater = variable.index < instance_.divisors.size() && instance_.divisors[variable.index];
      return {isSettledLater ? std::min<int64_t>(value, 0) : value, value, {{index_, &variable}}};
    }
    if (variable.kind == VariableKind::SizeParameter) {
      const Bound& bound = sizes_.sizeParameters[variable.index];
      return {0, bound.value, bound.because};
    }
    return {};
  }

  Interval binary(const Expr& expr) const {
    Interval a = (*this)(expr.operands[0]), b = (*this)(expr.operands[1]);
    Interval result;
    switch (expr.op) {
    case Operator::Add:
      result = {add(a.low, b.low), add(a.high, b.high), a.because};
      break;
    case Operator::Subtract:
      result = {add(a.low, negate(b.high)), add(a.high, negate(b.low)), a.because};
      break;
    case Operator::Multiply:
      if (a.low && b.low && *a.low >= 0 && *b.low >= 0)
        result = {multiply(a.low, b.low), multiply(a.high, b.high), a.because};
      break;
    case Operator::Divide:
      if (a.low && b.low && *a.low >= 0 && *b.low > 0)
        result = {b.high ? Limit(*a.low / *b.high) : Limit(0), a.high ? Limit(*a.high / *b.low) : std::nullopt,
                  a.because};
      else if (a.low && b.low && *a.low >= 0 && *b.low >= 0) // a zero divisor is found when the program runs
        result = {0, a.high, a.because};
      break;
    case Operator::ShiftLeft:
    case Operator::ShiftRight:
      if (a.low && *a.low >= 0 && b.low && *b.low >= 0 && b.high && *b.high < 62) {
        const bool isLeft = expr.op == Operator::ShiftLeft;
        auto shifted = [&](Limit value, int64_t by) {
          return isLeft ? multiply(value, int64_t(1) << by) : value ? Limit(*value >> by) : std::nullopt;
        };
        result = {shifted(a.low, isLeft ? *b.low : *b.high), shifted(a.high, isLeft ? *b.high : *b.low), a.because};
      }
      break;
    case Operator::Remainder:
      if (a.low && b.low && *a.low >= 0 && *b.low >= 0 && b.high)
        result = {0, a.high ? std::min(*a.high, std::max<int64_t>(*b.high - 1, 0)) : std::max<int64_t>(*b.high - 1, 0),
                  a.because};
      break;
    default:
      break;
    }
    join(result.because, b.because);
    return result;
  }

  Interval minimumOrMaximum(const Expr& expr) const {
    if (expr.builtin != Builtin::Min && expr.builtin != Builtin::Max)
      return {};
    Interval a = (*this)(expr.operands[0]), b = (*this)(expr.operands[1]);
    Interval result;
    join(a.because, b.because);
    result.because = a.because;
    bool isMin = expr.builtin == Builtin::Min;
    if (a.low && b.low)
      result.low = isMin ? std::min(*a.low, *b.low) : std::max(*a.low, *b.low);
    if (a.high && b.high)
      result.high = isMin ? std::min(*a.high, *b.high) : std::max(*a.high, *b.high);
    else if (isMin)
      result.high = a.high ? a.high : b.high;
    return result;
  }

  uint32_t index_;
  const Instance& instance_;
  const InstanceSizes& sizes_;
};

/// Takes the smaller bound.
void tighten(Bound& bound, const Bound& other) {
  if (other.value && (!bound.value || *other.value < *bound.value))
    bound = other;
}
/// Takes the larger bound: another caller.
void loosen(Bound& bound, const Bound& other) {
  if (!bound.value)
    return;
  if (!other.value || *other.value > *bound.value)
    bound = other;
}

Bound upper(const Interval& interval) {
  if (!interval.high)
    return {};
  return {std::max<int64_t>(*interval.high, 0), interval.because};
}

class Propagation {
public:
  Propagation(const InstanceGraph& graph, const KnownSizes& known) : graph_(graph), sizes_(graph.instances.size()) {
    for (size_t i = 0; i < sizes_.size(); ++i) {
      const TaskVariant& variant = *graph.instances[i].variant;
      sizes_[i].sizeParameters.resize(variant.sizeParameters.size());
      for (const Variable* array : variant.arrays)
        sizes_[i].extents.emplace_back(array->extents.size());
    }
    for (uint32_t number = 0; number < graph.entryCount; ++number) {
      const TaskVariant& entry = *graph.instances[number].variant;
      // Known sizes are told by the names of the prototype or of the variant.
      entrySizes_.assign(entry.sizeParameters.size(), {});
      for (const Variable* size : entry.sizeParameters)
        if (auto at = known.find(size->name); at != known.end())
          entrySizes_[size->index].value = at->second;
      visit(number, std::vector<std::vector<Bound>>(entry.parameters.size()));
    }
    if (visits_ <= mostVisits) {
      // Conditions that never hold leave an instance without callers: nothing of it is ever made.
      for (InstanceSizes& each : sizes_)
        if (!each.reached)
          for (std::vector<Bound>& extents : each.extents)
            extents.assign(extents.size(), {0, {}});
      return;
    }
    // A graph with that many paths was not walked in full; then nothing is known.
    for (InstanceSizes& each : sizes_) {
      each.sizeParameters.assign(each.sizeParameters.size(), {});
      for (std::vector<Bound>& extents : each.extents)
        extents.assign(extents.size(), {});
    }
  }
  std::vector<InstanceSizes> take() { return std::move(sizes_); }

private:
  /// Enters an instance with bounds on the extents of its array arguments (empty: unknown).
  void visit(uint32_t index, const std::vector<std::vector<Bound>>& arguments) {
    const Instance& instance = graph_.instances[index];
    const TaskVariant& variant = *instance.variant;
    InstanceSizes incoming;
    bool isEntry = stack_.empty();
    incoming.sizeParameters.resize(variant.sizeParameters.size());
    if (isEntry)
      incoming.sizeParameters = entrySizes_;
    auto above = std::find_if(stack_.begin(), stack_.end(), [&](const auto& each) { return each.first == index; });
    bool recursive = above != stack_.end();
    std::vector<std::vector<Bound>> given(variant.parameters.size());
    for (size_t p = 0; p < variant.parameters.size(); ++p) {
      const Variable& parameter = *variant.parameters[p];
      if (!parameter.isArray())
        continue;
      given[p].resize(parameter.extents.size());
      if (p < arguments.size() && !arguments[p].empty())
        given[p] = arguments[p];
      // A cycle that is entered with no more than before is never entered with more.
      for (size_t d = 0; recursive && d < given[p].size(); ++d)
        if (const Bound& before = above->second->extents[parameter.index][d];
            !given[p][d].value || !before.value || *given[p][d].value > *before.value)
          given[p][d] = {};
      for (const ResolvedPrecondition& condition : instance.preconditions) {
        const Relation relation = condition.bound.relation;
        if (condition.array != &parameter || relation == Relation::AtLeast || relation == Relation::Greater)
          continue;
        for (size_t d = 0; d < given[p].size() && d < condition.bound.values.size(); ++d)
          tighten(given[p][d], {condition.bound.values[d] - (relation == Relation::Less ? 1 : 0), {}});
      }
      for (size_t d = 0; d < given[p].size(); ++d)
        if (const Variable* unit = parameter.extents[d].linear.unit())
          tighten(incoming.sizeParameters[unit->index], given[p][d]);
    }
    // c0*p0 + … + c <= bound, with the other terms at their least, bounds a parameter too; unit dimensions come first.
    for (const Variable* array : variant.arrays)
      incoming.extents.emplace_back(array->extents.size());
    Evaluator evaluate(index, instance, incoming);
    for (const Variable* array : variant.arrays)
      for (size_t d = 0; d < array->extents.size(); ++d)
        incoming.extents[array->index][d] = upper(evaluate(array->extents[d].expression));
    for (size_t p = 0; p < variant.parameters.size(); ++p)
      if (variant.parameters[p]->isArray())
        for (size_t d = 0; d < given[p].size(); ++d)
          tighten(incoming.extents[variant.parameters[p]->index][d], given[p][d]);
    for (const Loop* loop : variant.loops)
      incoming.ends.push_back(upper(evaluate(loop->end)));
    merge(index, incoming);
    if (recursive)
      return;
    stack_.emplace_back(index, &incoming);
    calls(index, incoming);
    stack_.pop_back();
  }

  void merge(uint32_t index, const InstanceSizes& incoming) {
    InstanceSizes& known = sizes_[index];
    if (!known.reached) {
      known = incoming;
      known.reached = true;
      return;
    }
    for (size_t i = 0; i < known.sizeParameters.size(); ++i)
      loosen(known.sizeParameters[i], incoming.sizeParameters[i]);
    for (size_t i = 0; i < known.extents.size(); ++i)
      for (size_t d = 0; d < known.extents[i].size(); ++d)
        loosen(known.extents[i][d], incoming.extents[i][d]);
    for (size_t i = 0; i < known.ends.size(); ++i)
      loosen(known.ends[i], incoming.ends[i]);
  }

  void calls(uint32_t index, const InstanceSizes& here) {
    const Instance& instance = graph_.instances[index];
    for (const ResolvedCallsite& site : instance.callsites)
      for (const ResolvedTarget& target : site.targets) {
        // A target is called when its conditions hold, which is more than is known of the sizes otherwise.
        InstanceSizes there = here;
        const Verdict verdict = underConditions(index, target, there);
        if (verdict != Verdict::Never && ++visits_ <= mostVisits)
          visit(target.instance, argumentsOf(index, site, there));
        if (verdict == Verdict::Always) // no later target is reached
          break;
      }
  }

  std::vector<std::vector<Bound>> argumentsOf(uint32_t index, const ResolvedCallsite& site,
                                              const InstanceSizes& here) const {
    Evaluator evaluate(index, graph_.instances[index], here);
    std::vector<std::vector<Bound>> arguments;
    for (const Argument& argument : site.callsite->statement->arguments) {
      if (!site.callsite->isCombiner)
        arguments.push_back(blockExtents(*argument.value, here, evaluate));
      else if (argument.combiner == site.callsite)
        arguments.assign(2, blockExtents(*argument.value, here, evaluate));
    }
    return arguments;
  }

  enum class Verdict { Never, Perhaps, Always };

  /// Whether a target's conditions can hold for sizes of these bounds, which become those under which they do.
  Verdict underConditions(uint32_t index, const ResolvedTarget& target, InstanceSizes& sizes) const {
    Verdict verdict = Verdict::Always;
    for (const ResolvedCondition& condition : target.conditions) {
      if (!condition.array) {
        verdict = Verdict::Perhaps;
        continue;
      }
      std::vector<Bound>& extents = sizes.extents[condition.array->index];
      for (size_t d = 0; d < extents.size() && d < condition.bound.values.size(); ++d) {
        const int64_t value = condition.bound.values[d];
        const Limit most = extents[d].value;
        const Relation relation = condition.bound.relation;
        if (relation == Relation::AtLeast || relation == Relation::Greater) {
          const int64_t least = relation == Relation::Greater ? value + 1 : value;
          if (most && *most < least)
            return Verdict::Never;
          if (least > 0)
            verdict = Verdict::Perhaps;
          continue;
        }
        if (relation == Relation::Equal && most && *most < value)
          return Verdict::Never;
        const int64_t greatest = relation == Relation::Less ? value - 1 : value;
        if (greatest < 0)
          return Verdict::Never;
        if (relation == Relation::Equal || !most || *most > greatest)
          verdict = Verdict::Perhaps;
        tighten(extents[d], {greatest, {}});
        if (const Variable* unit = condition.array->extents[d].linear.unit())
          tighten(sizes.sizeParameters[unit->index], {greatest, {}});
      }
    }
    Evaluator evaluate(index, graph_.instances[index], sizes);
    for (const Variable* array : graph_.instances[index].variant->arrays)
      for (size_t d = 0; d < array->extents.size(); ++d)
        tighten(sizes.extents[array->index][d], upper(evaluate(array->extents[d].expression)));
    return verdict;
  }

  static std::vector<Bound> blockExtents(const Expr& block, const InstanceSizes& here, const Evaluator& evaluate) {
    if (block.kind != ExprKind::Block)
      return {};
    if (!block.operands.empty())
      return blockExtents(*block.operands[0], here, evaluate);
    std::vector<Bound> extents = here.extents[block.variable->index];
    for (size_t d = 0; d < block.ranges.size(); ++d) {
      const BlockRange& range = block.ranges[d];
      const Bound whole = extents[d]; // of the array
      if (range.max)
        tighten(extents[d], upper(evaluate(range.max)));
      if (range.end) {
        Interval start = evaluate(range.start), end = evaluate(range.end);
        Interval stride = range.stride ? evaluate(range.stride) : Interval{1, 1, {}};
        // A start below zero and an end behind the array are refused when the program runs.
        const int64_t least = std::max<int64_t>(start.low.value_or(0), 0);
        Limit length = add(end.high, -least);
        if (whole.value && (!end.high || *whole.value < *end.high)) {
          length = *whole.value - least;
          end.because = whole.because;
        }
        if (length && stride.low && *stride.low >= 1) {
          int64_t count = *length <= 0 ? 0 : (*length - 1) / *stride.low + 1;
          join(end.because, start.because);
          tighten(extents[d], {count, end.because});
        }
      }
    }
    return extents;
  }

  static constexpr int mostVisits = 100000;
  const InstanceGraph& graph_;
  std::vector<InstanceSizes> sizes_;
  std::vector<Bound> entrySizes_;                                // of the entry point that is visited
  std::vector<std::pair<uint32_t, const InstanceSizes*>> stack_; // the instances open, with what they were given
  int visits_ = 0;
};

} // namespace

std::vector<InstanceSizes> propagateSizes(const InstanceGraph& graph, const KnownSizes& known) {
  return Propagation(graph, known).take();
}

} // namespace strata::sequoia

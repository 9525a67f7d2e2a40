// Intervals of the values that sizes can take, from callers to callees, then sums of what the arrays need.
#include "compiler/sequoia/sizes.h"
#include "compiler/sequoia/fold.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(doesNotFit, Error, "sequoia-does-not-fit",
                  "memory '{0}' holds {1} bytes, and this mapping puts up to {2} bytes into it at once");
STRATA_DIAGNOSTIC(notBounded, Error, "sequoia-not-bounded",
                  "array '{0}' of instance '{1}' goes to memory '{2}' of {3} bytes, but its size is not bounded before "
                  "the program runs");

namespace {

/// What an integer expression can be. Size parameters are never negative.
struct Interval {
  std::optional<int64_t> low, high;
  std::vector<TunableUse> because;
};

void join(std::vector<TunableUse>& into, const std::vector<TunableUse>& from) {
  for (const TunableUse& use : from)
    if (std::find(into.begin(), into.end(), use) == into.end())
      into.push_back(use);
}

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
      int64_t value = instance_.tunables[variable.index];
      return {value, value, {{index_, &variable}}};
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
    const TaskVariant& entry = *graph.instances[graph.entry].variant;
    std::vector<std::vector<Bound>> none(entry.parameters.size());
    // Known sizes are told by the names of the prototype or of the variant.
    InstanceSizes& first = sizes_[graph.entry];
    for (const Variable* size : entry.sizeParameters)
      if (auto at = known.find(size->name); at != known.end())
        first.sizeParameters[size->index].value = at->second;
    visit(graph.entry, none);
    if (visits_ <= mostVisits)
      return;
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
      incoming.sizeParameters = sizes_[index].sizeParameters;
    bool recursive = std::find(stack_.begin(), stack_.end(), index) != stack_.end();
    std::vector<std::vector<Bound>> given(variant.parameters.size());
    for (size_t p = 0; p < variant.parameters.size(); ++p) {
      const Variable& parameter = *variant.parameters[p];
      if (!parameter.isArray())
        continue;
      given[p].resize(parameter.extents.size());
      if (p < arguments.size() && !arguments[p].empty() && !recursive)
        given[p] = arguments[p];
      for (const ResolvedPrecondition& condition : instance.preconditions) {
        if (condition.array != &parameter || condition.bound.relation == Relation::AtLeast)
          continue;
        for (size_t d = 0; d < given[p].size() && d < condition.bound.values.size(); ++d)
          tighten(given[p][d], {condition.bound.values[d], {}});
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
    merge(index, incoming);
    if (recursive)
      return;
    stack_.push_back(index);
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
  }

  void calls(uint32_t index, const InstanceSizes& here) {
    const Instance& instance = graph_.instances[index];
    for (const ResolvedCallsite& site : instance.callsites) {
      for (const ResolvedTarget& target : site.targets) {
        if (++visits_ > mostVisits)
          break;
        // Where the target is called, its conditions hold.
        InstanceSizes narrowed = here;
        for (const ResolvedCondition& condition : target.conditions)
          narrow(narrowed, condition);
        Evaluator evaluate(index, instance, narrowed);
        std::vector<std::vector<Bound>> arguments;
        for (const Argument& argument : site.callsite->statement->arguments) {
          if (site.callsite->isCombiner) {
            if (argument.combiner == site.callsite)
              arguments.assign(2, blockExtents(*argument.value, narrowed, evaluate));
          } else {
            arguments.push_back(blockExtents(*argument.value, narrowed, evaluate));
          }
        }
        visit(target.instance, arguments);
      }
    }
  }

  /// A condition bounds the caller's array from above, and the size parameters that its extents are.
  static void narrow(InstanceSizes& sizes, const ResolvedCondition& condition) {
    if (!condition.array || condition.bound.relation == Relation::AtLeast)
      return;
    const Variable& array = *condition.array;
    for (size_t d = 0; d < array.extents.size() && d < condition.bound.values.size(); ++d) {
      Bound bound{condition.bound.values[d], {}};
      tighten(sizes.extents[array.index][d], bound);
      if (const Variable* unit = array.extents[d].linear.unit())
        tighten(sizes.sizeParameters[unit->index], bound);
    }
  }

  static std::vector<Bound> blockExtents(const Expr& block, const InstanceSizes& here, const Evaluator& evaluate) {
    if (block.kind != ExprKind::Block)
      return {};
    if (!block.operands.empty())
      return blockExtents(*block.operands[0], here, evaluate);
    std::vector<Bound> extents = here.extents[block.variable->index];
    for (size_t d = 0; d < block.ranges.size(); ++d) {
      const BlockRange& range = block.ranges[d];
      if (range.max)
        tighten(extents[d], upper(evaluate(range.max)));
      if (range.end) {
        Interval start = evaluate(range.start), end = evaluate(range.end);
        Interval stride = range.stride ? evaluate(range.stride) : Interval{1, 1, {}};
        Limit length = add(end.high, negate(start.low));
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
  std::vector<uint32_t> stack_;
  int visits_ = 0;
};

uint64_t aligned(uint64_t bytes, uint64_t alignment) {
  return alignment <= 1 ? bytes : (bytes + alignment - 1) / alignment * alignment;
}

std::string demandText(const InstanceGraph& graph, const std::vector<InstanceSizes>& sizes, const Demand& demand) {
  const Instance& instance = graph.instances[demand.instance];
  std::string text = "array '" + std::string(demand.array->name) + "' of instance '" + instance.name + "'";
  std::string extents;
  for (const Bound& bound : sizes[demand.instance].extents[demand.array->index])
    extents += (extents.empty() ? "" : " x ") + (bound.value ? std::to_string(*bound.value) : std::string("?"));
  text += " wants " +
          (demand.bytes ? std::to_string(*demand.bytes) + " bytes" : std::string("an unbounded number of bytes"));
  return text + " (" + extents + " elements of " + std::to_string(demand.array->type->size) + " bytes)";
}

class Measurement {
public:
  Measurement(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes)
      : graph_(graph), machine_(machine), sizes_(sizes) {
    for (unsigned level = 0; level < machine.levels.size(); ++level) {
      level_ = level;
      chain_.clear();
      result_.push_back({level, {}, 0});
      best_ = 0;
      bestUnbounded_ = false;
      path_.clear();
      steps_ = 0;
      descend(graph.entry, {});
    }
  }
  std::vector<LevelDemand> take() { return std::move(result_); }

private:
  /// `shared` says for each parameter whether its storage is the caller's.
  void descend(uint32_t index, const std::vector<bool>& shared) {
    if (++steps_ > 100000 || std::find(path_.begin(), path_.end(), index) != path_.end())
      return;
    path_.push_back(index);
    const Instance& instance = graph_.instances[index];
    size_t before = chain_.size();
    const machine::Memory& memory = machine_[machine_.levels[level_].memory];
    for (const Variable* array : instance.variant->arrays) {
      if (instance.arrayLevels[array->index] != level_)
        continue;
      if (array->kind == VariableKind::Parameter) {
        const auto& parameters = instance.variant->parameters;
        size_t p = static_cast<size_t>(std::find(parameters.begin(), parameters.end(), array) - parameters.begin());
        if (p < shared.size() && shared[p])
          continue;
      }
      Demand demand{index, array, uint64_t(array->type->size), {}};
      for (const Bound& bound : sizes_[index].extents[array->index]) {
        uint64_t product = 0;
        if (demand.bytes && bound.value &&
            !__builtin_mul_overflow(*demand.bytes, static_cast<uint64_t>(*bound.value), &product))
          demand.bytes = product;
        else
          demand.bytes = std::nullopt;
        join(demand.because, bound.because);
      }
      if (demand.bytes)
        demand.bytes = aligned(*demand.bytes, memory.alignment);
      chain_.push_back(std::move(demand));
    }
    record();
    for (const ResolvedCallsite& site : instance.callsites) {
      for (const ResolvedTarget& target : site.targets)
        descend(target.instance, sharedWith(instance, site, graph_.instances[target.instance]));
    }
    chain_.resize(before);
    path_.pop_back();
  }

  /// Stride-1 blocks within one memory are not copied. A combiner works on copies of its own.
  std::vector<bool> sharedWith(const Instance& caller, const ResolvedCallsite& site, const Instance& callee) const {
    std::vector<bool> shared;
    if (site.callsite->isCombiner)
      return shared;
    const auto& arguments = site.callsite->statement->arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Expr& value = *arguments[i].value;
      bool same = value.kind == ExprKind::Block && value.operands.empty() && !arguments[i].combiner &&
                  caller.arrayLevels[value.variable->index] == callee.arrayLevels[callee.variant->parameters[i]->index];
      for (const BlockRange& range : value.ranges)
        same &= !range.stride || constantOf(range.stride) == 1;
      shared.push_back(same);
    }
    return shared;
  }

  void record() {
    uint64_t total = 0;
    bool unbounded = false;
    for (const Demand& demand : chain_) {
      if (!demand.bytes || __builtin_add_overflow(total, *demand.bytes, &total))
        unbounded = true;
    }
    if (bestUnbounded_ || (!unbounded && total <= best_))
      return;
    best_ = total;
    bestUnbounded_ = unbounded;
    result_.back().demands = chain_;
    result_.back().total = unbounded ? std::nullopt : std::optional(total);
  }

  const InstanceGraph& graph_;
  const Machine& machine_;
  const std::vector<InstanceSizes>& sizes_;
  std::vector<LevelDemand> result_;
  std::vector<Demand> chain_;
  std::vector<uint32_t> path_;
  unsigned level_ = 0;
  uint64_t best_ = 0;
  bool bestUnbounded_ = false;
  int steps_ = 0;
};

} // namespace

std::vector<InstanceSizes> propagateSizes(const InstanceGraph& graph, const KnownSizes& known) {
  return Propagation(graph, known).take();
}

std::vector<LevelDemand> measureDemand(const InstanceGraph& graph, const Machine& machine,
                                       const std::vector<InstanceSizes>& sizes) {
  return Measurement(graph, machine, sizes).take();
}

bool checkDemand(const InstanceGraph& graph, const Machine& machine, const std::vector<InstanceSizes>& sizes,
                 DiagnosticEngine& diagnostics) {
  bool fits = true;
  for (const LevelDemand& level : measureDemand(graph, machine, sizes)) {
    if (!isLimited(machine, level.level))
      continue;
    const machine::Memory& memory = machine[machine.levels[level.level].memory];
    uint64_t capacity = machine.capacityOf(machine.levels[level.level].memory).bytes;
    if (!level.total) {
      for (const Demand& demand : level.demands) {
        if (demand.bytes)
          continue;
        const Instance& instance = graph.instances[demand.instance];
        std::string name(demand.array->name);
        diagnostics.report(notBounded, demand.array->location, name, instance.name, memory.name, capacity)
            .label(instance.place, "the instance")
            .help("give the range of the block that is passed a max of constants and tunables, or state a bound in the "
                  "mapping: "
                  "array " +
                  name + "() { elements < …; } in an instance that calls this one");
      }
      fits = false;
    } else if (*level.total > capacity) {
      const Instance& last = graph.instances[level.demands.back().instance];
      const Demand* largest = &level.demands[0];
      for (const Demand& demand : level.demands)
        if (*demand.bytes > *largest->bytes && !demand.because.empty())
          largest = &demand;
      DiagnosticBuilder builder = diagnostics.report(
          doesNotFit, last.place.valid() ? last.place : last.variant->location, memory.name, capacity, *level.total);
      builder.label("this instance and its callers hold them");
      if (Location where = memory.origin.of("capacity"); where.valid())
        builder.label(where, "the memory");
      for (const Demand& demand : level.demands)
        builder.note(demandText(graph, sizes, demand));
      for (const TunableUse& use : largest->because)
        builder.help("make tunable '" + std::string(use.tunable->name) + "' of instance '" +
                     graph.instances[use.instance].name + "' smaller; it is " +
                     std::to_string(graph.instances[use.instance].tunables[use.tunable->index]));
      fits = false;
    }
  }
  return fits;
}

} // namespace strata::sequoia

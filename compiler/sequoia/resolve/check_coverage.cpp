// Iterations over blocks whose number is rounded down. A size that is divided by a tunable which does not divide it
// leaves elements at its end that no iteration takes. Only what is sure is said: sizes and tunables are known, the
// blocks are those that the loop counts, and no other statement of the task takes the array.
#include "compiler/sequoia/resolve/check_coverage.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(uncovered, Warning, "sequoia-uncovered",
                  "the iterations of '{0}' take {1} of the {2} elements of '{3}' in dimension {4}: {5} does not divide "
                  "{2}");

namespace {

class Coverage {
public:
  Coverage(const Instance& instance, const KnownSizes& known, DiagnosticEngine& diagnostics)
      : instance_(instance), known_(known), diagnostics_(diagnostics) {}

  void check() {
    for (const ResolvedLoop& each : instance_.loops)
      loop(*each.loop);
  }

private:
  static const Expr* stripped(const Expr* expr) {
    while (expr && expr->kind == ExprKind::Cast)
      expr = expr->operands[0];
    return expr;
  }

  /// The value of an integer expression of constants, sizes, tunables and one loop's variable; nothing when it has
  /// others.
  std::optional<int64_t> valueOf(const Expr* expr, const Variable* counter = nullptr, int64_t count = 0) const {
    expr = stripped(expr);
    if (!expr || !expr->type->isInteger())
      return std::nullopt;
    if (expr->kind == ExprKind::Integer)
      return expr->signedValue();
    if (expr->kind == ExprKind::Variable) {
      if (expr->variable == counter)
        return count;
      if (expr->variable->kind == VariableKind::Tunable)
        return instance_.tunables[expr->variable->index];
      auto size = known_.find(expr->variable->name);
      return expr->variable->kind == VariableKind::SizeParameter && size != known_.end() ? std::optional(size->second)
                                                                                         : std::nullopt;
    }
    if (expr->kind != ExprKind::Binary)
      return std::nullopt;
    auto left = valueOf(expr->operands[0], counter, count), right = valueOf(expr->operands[1], counter, count);
    int64_t result = 0;
    if (!left || !right)
      return std::nullopt;
    switch (expr->op) {
    case Operator::Add:
      return __builtin_add_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Operator::Subtract:
      return __builtin_sub_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    case Operator::Multiply:
      return __builtin_mul_overflow(*left, *right, &result) ? std::nullopt : std::optional(result);
    default:
      return std::nullopt;
    }
  }

  static bool mentions(const Expr* expr, const Variable* variable) {
    return expr &&
           (expr->variable == variable || std::any_of(expr->operands.begin(), expr->operands.end(),
                                                      [&](const Expr* each) { return mentions(each, variable); }));
  }

  static bool isWithin(const Loop* inner, const Loop& outer) {
    for (; inner; inner = inner->parent)
      if (inner == &outer)
        return true;
    return false;
  }

  /// Whether the iterations take blocks of `share` elements, one behind the other.
  bool areShares(const BlockRange& range, const Variable* counter, int64_t share) const {
    if (!range.start || (range.stride && valueOf(range.stride) != 1) || valueOf(range.start, counter, 0) != 0 ||
        valueOf(range.start, counter, 1) != share)
      return false;
    if (range.end)
      return valueOf(range.end, counter, 0) == share && valueOf(range.end, counter, 1) == 2 * share;
    return valueOf(range.max) == share;
  }

  /// How many statements take a part of an array.
  int64_t uses(const Variable* array) const {
    return std::count_if(
        instance_.variant->callsites.begin(), instance_.variant->callsites.end(), [&](const Callsite* site) {
          return !site->isCombiner &&
                 std::any_of(site->statement->arguments.begin(), site->statement->arguments.end(),
                             [&](const Argument& argument) { return argument.value->variable == array; });
        });
  }

  void loop(const Loop& loop) {
    const Expr* count = stripped(loop.end);
    if (!count || count->kind != ExprKind::Binary || count->op != Operator::Divide || valueOf(loop.start) != 0)
      return;
    auto size = valueOf(count->operands[0]), share = valueOf(count->operands[1]);
    if (!size || !share || *share <= 0 || *size <= 0 || *size % *share == 0)
      return;
    for (const Callsite* site : instance_.variant->callsites)
      if (!site->isCombiner && isWithin(site->loop, loop))
        for (const Argument& argument : site->statement->arguments)
          if (const Expr* block = argument.value; block->kind == ExprKind::Block && block->variable)
            for (size_t dimension = 0; dimension < block->ranges.size(); ++dimension)
              if (areShares(block->ranges[dimension], loop.variable, *share) && uses(block->variable) == 1 &&
                  valueOf(block->variable->extents[dimension].expression) == *size)
                return report(loop, *block->variable, dimension, *size, *share, *count);
  }

  void report(const Loop& loop, const Variable& array, size_t dimension, int64_t size, int64_t share,
              const Expr& count) {
    std::string divisor;
    for (const Variable* tunable : instance_.variant->tunables)
      if (mentions(count.operands[1], tunable))
        divisor += (divisor.empty() ? "" : ", ") + std::string(tunable->name) + " = " +
                   std::to_string(instance_.tunables[tunable->index]);
    auto report = diagnostics_.report(uncovered, count.location, loop.variableName, size / share * share, size,
                                      array.name, dimension, divisor.empty() ? std::to_string(share) : divisor);
    for (const Variable* tunable : instance_.variant->tunables)
      if (const Location& place = instance_.tunablePlaces[tunable->index];
          mentions(count.operands[1], tunable) && place.valid())
        report.label(place, "set here");
    report.help("round the number of iterations up, as '(N + t - 1) / t' does: the last block is shorter then");
  }

  const Instance& instance_;
  const KnownSizes& known_;
  DiagnosticEngine& diagnostics_;
};

} // namespace

void warnOfUncovered(const InstanceGraph& graph, const KnownSizes& known, DiagnosticEngine& diagnostics) {
  Coverage(graph.instances[graph.entry], known, diagnostics).check();
}

} // namespace strata::sequoia

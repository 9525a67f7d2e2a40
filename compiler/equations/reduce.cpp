// One reduction after the other, from the innermost iterator on. See reduce.h.
#include "compiler/equations/reduce.h"

#include "compiler/equations/polyhedra.h"
#include "compiler/equations/refusals.h"

#include <map>

namespace strata::equations {

STRATA_DIAGNOSTIC(reductionGuard, Error, "equations-reduction-guard",
                  "'{0}' is reduced over, so that {1} cannot depend on it");
STRATA_DIAGNOSTIC(reductionGaps, Error, "equations-reduction-gaps",
                  "the values of '{0}' that are reduced over are not one after another");
STRATA_DIAGNOSTIC(severalReductions, Error, "equations-several-reductions",
                  "the reductions of one equation are over the same iterators");

namespace {

/// An equation on its way, in the iterations of `domain`.
struct Expanded {
  uint32_t variable = 0;
  std::vector<Affine> index;
  Expression value;
  isl::set domain;
  Location location, target;
};

std::vector<int64_t> unit(size_t dimensions, size_t at, int64_t value = 1) {
  std::vector<int64_t> made(dimensions, 0);
  made[at] = value;
  return made;
}

class Reducer {
public:
  Reducer(const System& system, DiagnosticEngine& diagnostics)
      : system_(system), diagnostics_(diagnostics), sets_(system.iterators.size(), system.parameters.size()),
        variables_(system.variables) {}

  std::optional<System> run() {
    const unsigned before = diagnostics_.errorCount();
    const isl::set space = sets_.set(system_.space).intersect(sets_.context(system_.context));
    for (const Equation& equation : system_.equations)
      expand(equation, space);
    System made = system_;
    made.variables = variables_;
    made.space.pieces.assign(1, {});
    made.equations.clear();
    for (Expanded& each : definitions_) {
      if (each.domain.is_empty())
        continue;
      std::optional<Space> guard = Polyhedra::space(each.domain);
      if (!guard)
        diagnostics_.report(noPolyhedra, each.location, manyResidues);
      else
        made.equations.push_back({each.variable, std::move(each.index), std::move(each.value), std::move(*guard),
                                  each.location, each.target});
    }
    return diagnostics_.errorCount() == before ? std::optional(std::move(made)) : std::nullopt;
  }

private:
  size_t dimensions() const { return system_.iterators.size(); }

  static void collect(const Expression& expression, std::vector<const Expression*>& reductions) {
    if (expression.kind == Expression::Kind::Reduction)
      reductions.push_back(&expression);
    else
      for (const Expression& operand : expression.operands)
        collect(operand, reductions);
  }

  void expand(const Equation& equation, const isl::set& space) {
    Expanded made{equation.variable, equation.index,
                  equation.value,    coalesced(sets_.set(equation.guard).intersect(space)),
                  equation.location, equation.targetLocation};
    std::vector<const Expression*> reductions;
    collect(equation.value, reductions);
    if (!reductions.empty() && !reduce(equation, reductions, made))
      return;
    definitions_.push_back(std::move(made));
  }

  /// Replaces the reductions of an equation by what they have come to in the last iteration of each, where the equation
  /// then stands.
  bool reduce(const Equation& equation, const std::vector<const Expression*>& reductions, Expanded& made) {
    const std::vector<uint32_t>& iterators = reductions[0]->iterators;
    for (const Expression* each : reductions)
      if (each->iterators != iterators) {
        diagnostics_.report(severalReductions, each->location)
            .label(reductions[0]->location, "the first one")
            .help("define a variable by each of them");
        return false;
      }
    if (!isIndependent(equation, iterators))
      return false;
    const isl::set domain = made.domain;
    isl::set last = domain;
    std::map<const Expression*, Expression> results;
    for (const Expression* reduction : reductions) {
      last = domain;
      Expression value = reduction->operands[0];
      for (auto iterator = iterators.rbegin(); iterator != iterators.rend(); ++iterator) {
        std::optional<Expression> result = runAlong(*reduction, *iterator, std::move(value), last);
        if (!result)
          return false;
        value = std::move(*result);
      }
      results.emplace(reduction, std::move(value));
    }
    made.domain = last;
    made.value = replaced(equation.value, results);
    return true;
  }

  static Expression replaced(const Expression& expression, const std::map<const Expression*, Expression>& results) {
    if (const auto found = results.find(&expression); found != results.end())
      return found->second;
    Expression made = expression;
    for (size_t i = 0; i < made.operands.size(); ++i)
      made.operands[i] = replaced(expression.operands[i], results);
    return made;
  }

  static bool mentions(const Affine& value, uint32_t iterator) {
    return iterator < value.iterators.size() && value.iterators[iterator] != 0;
  }

  bool isIndependent(const Equation& equation, const std::vector<uint32_t>& iterators) {
    const auto refuse = [&](uint32_t iterator, std::string_view what, const Location& where) {
      diagnostics_.report(reductionGuard, where, system_.iterators[iterator], what);
      return false;
    };
    for (const uint32_t iterator : iterators) {
      for (const Affine& index : equation.index)
        if (mentions(index, iterator))
          return refuse(iterator, "the index of what is defined", equation.targetLocation);
      for (const std::vector<Constraint>& piece : equation.guard.pieces)
        for (const Constraint& constraint : piece)
          if (mentions(constraint.value, iterator))
            return refuse(iterator, "the equation's condition", equation.location);
      bool isFine = true;
      const auto visit = [&](const auto& self, const Expression& expression) -> void {
        if (expression.kind == Expression::Kind::Reduction)
          return;
        for (const Affine& index : expression.index)
          if (mentions(index, iterator) && isFine)
            isFine = refuse(iterator, "an index beside the reduction", expression.location);
        for (const Expression& operand : expression.operands)
          self(self, operand);
      };
      visit(visit, equation.value);
      if (!isFine)
        return false;
    }
    return true;
  }

  Expression instance(uint32_t variable, const Location& where, const std::vector<int64_t>& distance) const {
    Expression made;
    made.kind = Expression::Kind::Element;
    made.type = variables_[variable].type;
    made.variable = variable;
    made.index = identity(dimensions());
    for (size_t i = 0; i < distance.size(); ++i)
      made.index[i].constant = -distance[i];
    made.location = where;
    return made;
  }

  uint32_t internal(const std::string& name, const ElementType& type, const Location& where) {
    SystemVariable made;
    made.name = name;
    made.type = type;
    made.rank = static_cast<unsigned>(dimensions());
    made.location = where;
    variables_.push_back(std::move(made));
    return static_cast<uint32_t>(variables_.size() - 1);
  }

  /// s[I] = t[I] where it is the first along the iterator, else s[I - e] op t[I]; leaves in `domain` where it is last.
  std::optional<Expression> runAlong(const Expression& reduction, uint32_t iterator, Expression value,
                                     isl::set& domain) {
    const Location& where = reduction.location;
    const isl::map next = sets_.translation(unit(dimensions(), iterator));
    const isl::set first = coalesced(domain.subtract(domain.apply(next)));
    const isl::set rest = coalesced(domain.intersect(domain.apply(next)));
    const isl::set last = coalesced(domain.subtract(domain.apply(next.reverse())));
    const isl::map line = sets_.parsedMap(lineText(iterator));
    if (!line.intersect_domain(first).is_injective()) {
      diagnostics_.report(reductionGaps, where, system_.iterators[iterator]);
      return std::nullopt;
    }
    const std::string name = operationName(reduction.operation) + std::to_string(variables_.size());
    const uint32_t term = internal(name + ".term", reduction.type, where);
    const uint32_t sum = internal(name, reduction.type, where);
    definitions_.push_back({term, identity(dimensions()), std::move(value), domain, where, where});
    definitions_.push_back({sum, identity(dimensions()), instance(term, where, {}), first, where, where});
    Expression step;
    step.kind = Expression::Kind::Operation;
    step.operation = reduction.operation;
    step.type = step.operandType = reduction.type;
    step.location = where;
    step.operands = {instance(sum, where, unit(dimensions(), iterator)), instance(term, where, {})};
    definitions_.push_back({sum, identity(dimensions()), std::move(step), rest, where, where});
    domain = last;
    return instance(sum, where, {});
  }

  static std::string operationName(Operation operation) {
    return operation == Operation::Add        ? "sum"
           : operation == Operation::Multiply ? "product"
           : operation == Operation::Minimum  ? "min"
                                              : "max";
  }

  /// From iterations to all their coordinates but one.
  std::string lineText(uint32_t iterator) const {
    std::string from, to;
    for (size_t i = 0; i < dimensions(); ++i) {
      from += (i ? ", i" : "i") + std::to_string(i);
      if (i != iterator)
        to += (to.empty() ? "i" : ", i") + std::to_string(i);
    }
    return "{ [" + from + "] -> [" + to + "] }";
  }

  const System& system_;
  DiagnosticEngine& diagnostics_;
  Polyhedra sets_;
  std::vector<SystemVariable> variables_; // the system's, and those of reductions
  std::vector<Expanded> definitions_;
};

} // namespace

std::optional<System> withoutReductions(const System& system, DiagnosticEngine& diagnostics) {
  try {
    return Reducer(system, diagnostics).run();
  } catch (const isl::exception& failure) {
    diagnostics.report(noPolyhedra, system.location, failure.what());
    return std::nullopt;
  }
}

} // namespace strata::equations

// The checks of verify.h, one function each.
#include "compiler/equations/verify.h"

#include "compiler/equations/circle.h"
#include "compiler/equations/examples.h"
#include "compiler/equations/order.h"
#include "compiler/equations/polyhedra.h"

#include <set>

namespace strata::equations {

STRATA_DIAGNOSTIC(definedTwice, Error, "equations-defined-twice", "{0} is defined more than once: {1}");
STRATA_DIAGNOSTIC(usedUndefined, Error, "equations-undefined", "{0} is used where no equation defines it: {1}");
STRATA_DIAGNOSTIC(indexRange, Error, "equations-index-range", "an index leaves the extents of '{0}': {1}");
STRATA_DIAGNOSTIC(missingOutput, Error, "equations-missing-output",
                  "an element of the output '{0}' is never defined: {1}");
STRATA_DIAGNOSTIC(unbounded, Error, "equations-unbounded", "'{0}' has no {1} bound");
STRATA_DIAGNOSTIC(
    noOrder, Error, "equations-no-order",
    "these equations wait for each other: there are no loops, along whatever directions, in which every value is "
    "computed before it is used");
STRATA_DIAGNOSTIC(noOrderFound, Error, "equations-order-unknown",
                  "no order is found in which these equations are computed before they are used: none that goes along "
                  "the same directions in all of them");
STRATA_DIAGNOSTIC(tooHard, Error, "equations-hard",
                  "the iterations of this program are more than can be computed with: {0}");

namespace {

class Verifier {
public:
  Verifier(const System& system, DiagnosticEngine& diagnostics)
      : system_(system), diagnostics_(diagnostics), sets_(system.iterators.size(), system.parameters.size()),
        names_{system.iterators, system.parameters}, context_(sets_.context(system.context)) {
    const isl::set space = sets_.set(system.space).intersect(context_);
    for (const Equation& equation : system.equations) {
      domains_.push_back(sets_.set(equation.guard).intersect(space));
      indices_.push_back(sets_.map(equation.index).intersect_domain(domains_.back()));
    }
  }

  bool run() {
    const unsigned before = diagnostics_.errorCount();
    bounded();
    if (diagnostics_.errorCount() != before)
      return false;
    for (uint32_t variable = 0; variable < system_.variables.size(); ++variable)
      definedOnce(variable);
    for (size_t i = 0; i < system_.equations.size(); ++i) {
      const Equation& equation = system_.equations[i];
      eachElement(equation.value, [&](const Expression& element) { used(equation, domains_[i], element); });
      inRange(equation.variable, equation.index, domains_[i], placeOf(equation));
    }
    outputsComplete();
    if (diagnostics_.errorCount() == before)
      ordered();
    return diagnostics_.errorCount() == before;
  }

private:
  static const Location& placeOf(const Equation& equation) {
    return equation.targetLocation.valid() ? equation.targetLocation : equation.location;
  }

  void bounded() {
    for (size_t equation = 0; equation < domains_.size(); ++equation)
      for (unsigned i = 0; i < system_.iterators.size(); ++i) {
        const bool hasLower = isl_set_dim_has_lower_bound(domains_[equation].get(), isl_dim_set, i) == isl_bool_true;
        const bool hasUpper = isl_set_dim_has_upper_bound(domains_[equation].get(), isl_dim_set, i) == isl_bool_true;
        if (hasLower && hasUpper)
          continue;
        const Location& place = i < system_.iteratorPlaces.size() && system_.iteratorPlaces[i].valid()
                                    ? system_.iteratorPlaces[i]
                                    : system_.equations[equation].location;
        diagnostics_.report(unbounded, place, system_.iterators[i], hasLower ? "upper" : "lower")
            .help("give it one in the space: '0 <= " + system_.iterators[i] + " < N'");
        return;
      }
  }

  std::string instanceText(uint32_t variable) const {
    return (system_.variables[variable].role == Role::Output ? "an element of '" : "an instance of '") +
           system_.variables[variable].name + "'";
  }

  void definedOnce(uint32_t variable) {
    std::vector<size_t> own;
    for (size_t i = 0; i < system_.equations.size(); ++i)
      if (system_.equations[i].variable == variable)
        own.push_back(i);
    for (size_t i = 0; i < own.size(); ++i) {
      const Equation& equation = system_.equations[own[i]];
      const isl::map& index = indices_[own[i]];
      if (!index.is_injective()) {
        // Two iterations of which the first comes earlier.
        const isl::map pairs = index.apply_range(index.reverse());
        const isl::map different = isl::manage(
            isl_map_intersect(pairs.copy(), isl_map_lex_lt(isl_space_domain(isl_map_get_space(pairs.get())))));
        diagnostics_
            .report(definedTwice, placeOf(equation), instanceText(variable),
                    exampleText(sets_, different.domain(), names_))
            .note("this equation defines it there, and in another iteration again")
            .help("give the equation a condition that one iteration of them keeps, or more indices to the variable");
        continue;
      }
      for (size_t j = 0; j < i; ++j) {
        const isl::set both = index.intersect_range(indices_[own[j]].range()).domain();
        if (!both.is_empty())
          diagnostics_.report(definedTwice, equation.location, instanceText(variable), exampleText(sets_, both, names_))
              .label(system_.equations[own[j]].location, "this equation defines it, too");
      }
    }
  }

  void used(const Equation& equation, const isl::set& domain, const Expression& element) {
    const Location& place = element.location.valid() ? element.location : equation.location;
    if (system_.variables[element.variable].role != Role::Internal)
      return inRange(element.variable, element.index, domain, place);
    isl::map missing = sets_.map(element.index).intersect_domain(domain);
    for (size_t i = 0; i < system_.equations.size(); ++i)
      if (system_.equations[i].variable == element.variable)
        missing = isl::manage(isl_map_subtract_range(missing.release(), indices_[i].range().release()));
    if (!missing.is_empty())
      diagnostics_
          .report(usedUndefined, place, instanceText(element.variable), exampleText(sets_, missing.domain(), names_))
          .label(system_.variables[element.variable].location, "declared here")
          .help("give this equation a condition, or define the instance");
  }

  void inRange(uint32_t variable, const std::vector<Affine>& index, const isl::set& domain, const Location& where) {
    const SystemVariable& array = system_.variables[variable];
    if (array.role == Role::Internal || array.extents.size() != index.size())
      return; // nothing is stated of its extents: each access is checked when it is made
    const isl::map outside = isl::manage(isl_map_subtract_range(sets_.map(index).intersect_domain(domain).release(),
                                                                sets_.elements(array.extents).release()));
    const isl::set wrong = outside.domain();
    if (!wrong.is_empty())
      diagnostics_.report(indexRange, where, array.name, exampleText(sets_, wrong, names_))
          .label(array.location, "declared here")
          .help("give the equation a condition, 'assume' what holds of the sizes, or make the array larger");
  }

  void outputsComplete() {
    const isl::set sizes = context_.params();
    for (uint32_t output = 0; output < system_.variables.size(); ++output) {
      const SystemVariable& array = system_.variables[output];
      if (array.role != Role::Output || array.extents.empty() || array.isPartial)
        continue;
      isl::set missing = sets_.elements(array.extents).intersect_params(sizes);
      for (size_t i = 0; i < domains_.size(); ++i)
        if (system_.equations[i].variable == output)
          missing = missing.subtract(indices_[i].range());
      if (missing.is_empty())
        continue;
      std::vector<std::string> indices;
      for (size_t i = 0; i < array.extents.size(); ++i)
        indices.push_back("index " + std::to_string(i + 1));
      const Polyhedra elements(array.extents.size(), system_.parameters.size());
      diagnostics_.report(missingOutput, array.location, array.name,
                          exampleText(elements, missing, {indices, system_.parameters}));
    }
  }

  void ordered() {
    const std::vector<Flow> all = flows(system_, sets_);
    Circle circle;
    if (order(system_, sets_, all, circle))
      return;
    constexpr size_t mostTold = 8;
    DiagnosticBuilder report = diagnostics_.report(circle.isProved ? noOrder : noOrderFound,
                                                   system_.equations[circle.equations.front()].location);
    const std::set<uint32_t> in(circle.equations.begin(), circle.equations.end());
    std::set<std::string> told;
    for (const Flow& each : all) {
      if (!in.contains(each.from) || !in.contains(each.to) || told.size() == mostTold)
        continue;
      const Equation& user = system_.equations[each.to];
      const std::string text =
          instance(user.variable, user.index) + " waits for " + instance(each.element->variable, each.element->index);
      if (told.insert(text).second)
        report.label(user.location, text);
    }
    try {
      if (const std::string example = circleExample(system_, sets_, all, circle); !example.empty())
        report.note("for example, " + example);
    } catch (const isl::exception&) {
      // Sizes without a least one, too many steps: the equations are told of all the same.
    }
  }

  /// "y[i - 1, j]"
  std::string instance(uint32_t variable, const std::vector<Affine>& index) const {
    std::string list;
    for (const Affine& each : index)
      list += (list.empty() ? "" : ", ") + text(each, system_.iterators, system_.parameters);
    return system_.variables[variable].name + (list.empty() ? "" : "[" + list + "]");
  }

  const System& system_;
  DiagnosticEngine& diagnostics_;
  Polyhedra sets_;
  Names names_;
  isl::set context_;
  std::vector<isl::set> domains_; // by equation
  std::vector<isl::map> indices_; // of what it defines, in its domain
};

} // namespace

bool verify(const System& system, DiagnosticEngine& diagnostics) {
  try {
    return Verifier(system, diagnostics).run();
  } catch (const isl::exception& failure) {
    diagnostics.report(tooHard, system.location, failure.what());
    return false;
  }
}

bool verify(const Graph& graph, DiagnosticEngine& diagnostics) {
  return verify(systemOf(graph), diagnostics);
}

} // namespace strata::equations

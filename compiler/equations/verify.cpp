// The checks of verify.h, one function each.
#include "compiler/equations/verify.h"

#include "compiler/equations/examples.h"
#include "compiler/equations/order.h"
#include "compiler/equations/polyhedra.h"

#include <set>

namespace strata::equations {

STRATA_DIAGNOSTIC(twice, Error, "equations-twice", "{0} is defined twice: {1}");
STRATA_DIAGNOSTIC(undefinedUse, Error, "equations-undefined-use",
                  "an instance of '{0}' is used that no equation defines: {1}");
STRATA_DIAGNOSTIC(indexRange, Error, "equations-index-range", "an index leaves the extents of '{0}': {1}");
STRATA_DIAGNOSTIC(missingOutput, Error, "equations-missing-output",
                  "an element of the output '{0}' is never defined: {1}");
STRATA_DIAGNOSTIC(unbounded, Error, "equations-unbounded", "'{0}' has no {1} bound");
STRATA_DIAGNOSTIC(
    noOrder, Error, "equations-no-order",
    "these equations wait for each other: no order of the iterations computes every value before it is used");
STRATA_DIAGNOSTIC(tooHard, Error, "equations-hard",
                  "the iterations of this program are more than can be computed with: {0}");

namespace {

class Verifier {
public:
  Verifier(const Graph& graph, DiagnosticEngine& diagnostics)
      : graph_(graph), diagnostics_(diagnostics), sets_(graph.iterators.size(), graph.parameters.size()),
        names_{graph.iterators, graph.parameters}, context_(sets_.context(graph.context)) {
    for (const Node& node : graph.nodes)
      domains_.push_back(sets_.set(node.domain).intersect(context_));
  }

  bool run() {
    const unsigned before = diagnostics_.errorCount();
    bounded();
    if (diagnostics_.errorCount() != before)
      return false;
    definedOnce();
    usesDefined();
    indicesInRange();
    outputsComplete();
    if (diagnostics_.errorCount() == before)
      ordered();
    return diagnostics_.errorCount() == before;
  }

private:
  void bounded() {
    for (size_t node = 0; node < domains_.size(); ++node)
      for (unsigned i = 0; i < graph_.iterators.size(); ++i) {
        const bool hasLower = isl_set_dim_has_lower_bound(domains_[node].get(), isl_dim_set, i) == isl_bool_true;
        const bool hasUpper = isl_set_dim_has_upper_bound(domains_[node].get(), isl_dim_set, i) == isl_bool_true;
        if (hasLower && hasUpper)
          continue;
        const Location& place = i < graph_.iteratorPlaces.size() && graph_.iteratorPlaces[i].valid()
                                    ? graph_.iteratorPlaces[i]
                                    : graph_.nodes[node].location;
        diagnostics_.report(unbounded, place, graph_.iterators[i], hasLower ? "upper" : "lower")
            .help("give it one in the space: '0 <= " + graph_.iterators[i] + " < N'");
        return;
      }
  }

  void definedOnce() {
    for (size_t i = 0; i < domains_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      const isl::map index = node.isOutput ? sets_.map(node.index).intersect_domain(domains_[i]) : isl::map();
      if (node.isOutput && !index.is_injective()) {
        diagnostics_.report(twice, node.location, "an element of '" + graph_.outputs[node.target].name + "'",
                            exampleText(sets_, domains_[i], names_));
        continue;
      }
      for (size_t j = 0; j < i; ++j) {
        const Node& other = graph_.nodes[j];
        if (other.isOutput != node.isOutput || other.target != node.target)
          continue;
        const isl::set both =
            node.isOutput ? index.intersect_range(sets_.map(other.index).intersect_domain(domains_[j]).range()).domain()
                          : domains_[i].intersect(domains_[j]);
        if (!both.is_empty())
          diagnostics_
              .report(twice, node.location,
                      "an instance of '" +
                          (node.isOutput ? graph_.outputs[node.target].name : graph_.variables[node.target].name) + "'",
                      exampleText(sets_, both, names_))
              .label(other.location, "by this equation, too");
      }
    }
  }

  isl::set definitions(uint32_t variable) const {
    isl::set all = sets_.empty();
    for (size_t i = 0; i < domains_.size(); ++i)
      if (!graph_.nodes[i].isOutput && graph_.nodes[i].target == variable)
        all = all.unite(domains_[i]);
    return all;
  }

  const Location& placeOf(const Node& node, size_t operand) const {
    return operand < node.operandLocations.size() && node.operandLocations[operand].valid()
               ? node.operandLocations[operand]
               : node.location;
  }

  void usesDefined() {
    for (size_t i = 0; i < domains_.size(); ++i)
      for (size_t operand = 0; operand < graph_.nodes[i].operands.size(); ++operand)
        if (const Use* use = std::get_if<Use>(&graph_.nodes[i].operands[operand])) {
          const isl::set reached = definitions(use->variable).apply(sets_.translation(use->distance));
          const isl::set missing = domains_[i].subtract(reached);
          if (!missing.is_empty())
            diagnostics_.report(undefinedUse, placeOf(graph_.nodes[i], operand), graph_.variables[use->variable].name,
                                exampleText(sets_, missing, names_));
        }
  }

  void inRange(const Array& array, const std::vector<Affine>& index, const isl::set& domain, const Location& where) {
    if (array.extents.size() != index.size())
      return; // nothing is stated of its extents: each access is checked when it is made
    const isl::map outside = isl::manage(isl_map_subtract_range(sets_.map(index).intersect_domain(domain).release(),
                                                                sets_.elements(array.extents).release()));
    const isl::set wrong = outside.domain();
    if (!wrong.is_empty())
      diagnostics_.report(indexRange, where, array.name, exampleText(sets_, wrong, names_))
          .label(array.location, "declared here")
          .help("give the equation a condition, 'assume' what holds of the sizes, or make the array larger");
  }

  void indicesInRange() {
    for (size_t i = 0; i < domains_.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (node.isOutput)
        inRange(graph_.outputs[node.target], node.index, domains_[i], node.location);
      for (size_t operand = 0; operand < node.operands.size(); ++operand)
        if (const InputUse* use = std::get_if<InputUse>(&node.operands[operand]))
          inRange(graph_.inputs[use->input], use->index, domains_[i], placeOf(node, operand));
    }
  }

  void outputsComplete() {
    const isl::set sizes = context_.params();
    for (uint32_t output = 0; output < graph_.outputs.size(); ++output) {
      const Array& array = graph_.outputs[output];
      if (array.extents.empty() || array.isPartial)
        continue;
      isl::set missing = sets_.elements(array.extents).intersect_params(sizes);
      for (size_t i = 0; i < domains_.size(); ++i)
        if (graph_.nodes[i].isOutput && graph_.nodes[i].target == output)
          missing = missing.subtract(sets_.map(graph_.nodes[i].index).intersect_domain(domains_[i]).range());
      if (missing.is_empty())
        continue;
      std::vector<std::string> indices;
      for (size_t i = 0; i < array.extents.size(); ++i)
        indices.push_back("index " + std::to_string(i + 1));
      const Polyhedra elements(array.extents.size(), graph_.parameters.size());
      diagnostics_.report(missingOutput, array.location, array.name,
                          exampleText(elements, missing, {indices, graph_.parameters}));
    }
  }

  void ordered() {
    std::vector<uint32_t> stuck;
    if (order(graph_, stuck))
      return;
    constexpr size_t mostTold = 8;
    DiagnosticBuilder report = diagnostics_.report(noOrder, graph_.nodes[stuck.front()].location);
    const std::set<uint32_t> circle(stuck.begin(), stuck.end());
    std::set<std::string> told;
    for (const Dependence& each : dependences(graph_)) {
      if (!circle.contains(each.from) || !circle.contains(each.to) || told.size() == mostTold)
        continue;
      const std::string text = instance(each.to, {}) + " waits for " + instance(each.from, each.distance);
      if (told.insert(text).second)
        report.label(graph_.nodes[each.to].location, text);
    }
  }

  /// "y[i - 1, j]": what a node defines, so many iterations before.
  std::string instance(uint32_t node, const std::vector<int64_t>& distance) const {
    std::string index;
    for (size_t i = 0; i < graph_.iterators.size(); ++i) {
      const int64_t steps = i < distance.size() ? distance[i] : 0;
      index += (i ? ", " : "") + graph_.iterators[i];
      if (steps != 0)
        index += (steps > 0 ? " - " : " + ") + std::to_string(std::abs(steps));
    }
    return graph_.variables[graph_.nodes[node].target].name + "[" + index + "]";
  }

  const Graph& graph_;
  DiagnosticEngine& diagnostics_;
  Polyhedra sets_;
  Names names_;
  isl::set context_;
  std::vector<isl::set> domains_;
};

} // namespace

bool verify(const Graph& graph, DiagnosticEngine& diagnostics) {
  try {
    return Verifier(graph, diagnostics).run();
  } catch (const isl::exception& failure) {
    diagnostics.report(tooHard, graph.location, failure.what());
    return false;
  }
}

} // namespace strata::equations

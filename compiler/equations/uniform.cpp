// The steps of uniform.h, in order: reductions, homes, sources of uses, nodes.
#include "compiler/equations/uniform.h"

#include "compiler/equations/build_graph.h"
#include "compiler/equations/examples.h"
#include "compiler/equations/polyhedra.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

namespace strata::equations {

STRATA_DIAGNOSTIC(definedTwice, Error, "equations-defined-twice", "{0} is defined more than once: {1}");
STRATA_DIAGNOSTIC(usedUndefined, Error, "equations-undefined", "{0} is used where no equation defines it: {1}");
STRATA_DIAGNOSTIC(notUniform, Error, "equations-not-uniform",
                  "the distance from this use to where '{0}' is defined changes in a way that cannot be passed on from "
                  "neighbour to neighbour");
STRATA_DIAGNOSTIC(reductionGuard, Error, "equations-reduction-guard",
                  "'{0}' is reduced over, so that {1} cannot depend on it");
STRATA_DIAGNOSTIC(reductionGaps, Error, "equations-reduction-gaps",
                  "the values of '{0}' that are reduced over are not one after another");
STRATA_DIAGNOSTIC(severalReductions, Error, "equations-several-reductions",
                  "the reductions of one equation are over the same iterators");
STRATA_DIAGNOSTIC(noPolyhedra, Error, "equations-too-hard",
                  "the iterations of this equation are more than can be computed with: {0}");

namespace {

/// An equation on its way: a variable's instance at `index`, in the iterations of `domain`.
struct Definition {
  uint32_t variable = 0;
  std::vector<Affine> index;
  Expression value;
  isl::set domain;
  Location location, target;
};

bool isIdentity(const std::vector<Affine>& index, size_t iterators) {
  if (index.size() != iterators)
    return false;
  for (size_t i = 0; i < index.size(); ++i) {
    const auto factor = [&](const std::vector<int64_t>& values, size_t at) {
      return at < values.size() ? values[at] : 0;
    };
    if (index[i].constant != 0)
      return false;
    for (size_t j = 0; j < iterators; ++j)
      if (factor(index[i].iterators, j) != (i == j ? 1 : 0))
        return false;
    for (const int64_t value : index[i].parameters)
      if (value != 0)
        return false;
  }
  return true;
}

std::vector<Affine> identity(size_t iterators) {
  std::vector<Affine> index(iterators);
  for (size_t i = 0; i < iterators; ++i) {
    index[i].iterators.assign(iterators, 0);
    index[i].iterators[i] = 1;
  }
  return index;
}

std::vector<int64_t> unit(size_t dimensions, size_t at, int64_t value = 1) {
  std::vector<int64_t> made(dimensions, 0);
  made[at] = value;
  return made;
}

/// How the instances of one variable come to be: all its definitions where each stands at its own iteration, or one of
/// them.
struct Source {
  uint32_t variable = 0; // of the graph
  isl::set domain;       // iterations that define
  isl::map index;        // from those to the instance
  ElementType type;
  std::string name;
  Location location;
};

class Uniformer {
public:
  Uniformer(const System& system, DiagnosticEngine& diagnostics)
      : system_(system), diagnostics_(diagnostics), sets_(system.iterators.size(), system.parameters.size()),
        names_{system.iterators, system.parameters}, build_(system) {}

  std::optional<Graph> run() {
    context_ = sets_.context(system_.context);
    const isl::set space = sets_.set(system_.space).intersect(context_);
    variables_ = system_.variables;
    for (const Equation& equation : system_.equations)
      expand(equation, space);
    if (diagnostics_.hasErrors())
      return std::nullopt;
    makeSources();
    if (diagnostics_.hasErrors())
      return std::nullopt;
    for (const Definition& definition : definitions_)
      checkUses(definition.value, definition);
    if (diagnostics_.hasErrors())
      return std::nullopt;
    for (const Definition& definition : definitions_)
      emit(definition);
    if (diagnostics_.hasErrors())
      return std::nullopt;
    return build_.take();
  }

private:
  size_t dimensions() const { return system_.iterators.size(); }

  // ---- reductions ----

  static void collect(const Expression& expression, std::vector<const Expression*>& reductions) {
    if (expression.kind == Expression::Kind::Reduction)
      reductions.push_back(&expression);
    else
      for (const Expression& operand : expression.operands)
        collect(operand, reductions);
  }

  void expand(const Equation& equation, const isl::set& space) {
    Definition made{equation.variable, equation.index,
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
  bool reduce(const Equation& equation, const std::vector<const Expression*>& reductions, Definition& made) {
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

  // ---- homes ----

  void makeSources() {
    sources_.resize(variables_.size());
    for (uint32_t variable = 0; variable < variables_.size(); ++variable) {
      if (variables_[variable].role == Role::Input)
        continue;
      std::vector<const Definition*> own;
      for (const Definition& definition : definitions_)
        if (definition.variable == variable)
          own.push_back(&definition);
      if (definesOnce(variable, own) && variables_[variable].role == Role::Internal)
        settle(variable, own);
    }
  }

  std::string instanceText(uint32_t variable) const { return "an instance of '" + variables_[variable].name + "'"; }

  bool definesOnce(uint32_t variable, const std::vector<const Definition*>& own) {
    const unsigned before = diagnostics_.errorCount();
    for (size_t i = 0; i < own.size(); ++i) {
      const isl::map index = sets_.map(own[i]->index).intersect_domain(own[i]->domain);
      if (!index.is_injective()) {
        // Two iterations of which the first comes earlier.
        const isl::map pairs = index.apply_range(index.reverse());
        const isl::map different = isl::manage(
            isl_map_intersect(pairs.copy(), isl_map_lex_lt(isl_space_domain(isl_map_get_space(pairs.get())))));
        diagnostics_
            .report(definedTwice, own[i]->target, instanceText(variable),
                    exampleText(sets_, different.domain(), names_))
            .note("this equation defines it there, and in another iteration again")
            .help("give the equation a condition that one iteration of them keeps, or more indices to the variable");
        continue;
      }
      for (size_t j = 0; j < i; ++j) {
        const isl::map other = sets_.map(own[j]->index).intersect_domain(own[j]->domain);
        const isl::set both = index.intersect_range(other.range()).domain();
        if (!both.is_empty())
          diagnostics_.report(definedTwice, own[i]->location, instanceText(variable), exampleText(sets_, both, names_))
              .label(own[j]->location, "this equation defines it, too");
      }
    }
    return diagnostics_.errorCount() == before;
  }

  void settle(uint32_t variable, const std::vector<const Definition*>& own) {
    const SystemVariable& of = variables_[variable];
    const bool allAtHome = std::all_of(own.begin(), own.end(),
                                       [&](const Definition* each) { return isIdentity(each->index, dimensions()); });
    for (const Definition* each : own) {
      if (allAtHome && each != own.front()) {
        Source& first = sources_[variable].front();
        first.domain = coalesced(first.domain.unite(each->domain));
        first.index = first.index.unite(sets_.map(each->index).intersect_domain(each->domain));
        homes_[each] = first.variable;
        continue;
      }
      const std::string name = allAtHome || own.size() == 1 ? of.name : of.name + "." + std::to_string(homes_.size());
      Source source{build_.variable(name, of.type, of.location),
                    each->domain,
                    sets_.map(each->index).intersect_domain(each->domain),
                    of.type,
                    of.name,
                    each->location};
      homes_[each] = source.variable;
      sources_[variable].push_back(std::move(source));
    }
  }

  // ---- uses ----

  /// From iterations of a use to where one of the variable's sources defines what it uses.
  isl::map origin(const Expression& use, const isl::set& domain, const Source& source) const {
    return sets_.map(use.index).intersect_domain(domain).apply_range(source.index.reverse());
  }

  void checkUses(const Expression& expression, const Definition& definition) {
    for (const Expression& operand : expression.operands)
      checkUses(operand, definition);
    if (expression.kind != Expression::Kind::Element || variables_[expression.variable].role != Role::Internal)
      return;
    isl::set missing = definition.domain;
    for (const Source& source : sources_[expression.variable])
      missing = missing.subtract(origin(expression, definition.domain, source).domain());
    if (!missing.is_empty())
      diagnostics_
          .report(usedUndefined, expression.location, instanceText(expression.variable),
                  exampleText(sets_, missing, names_))
          .label(variables_[expression.variable].location, "declared here")
          .help("give this equation a condition, or define the instance");
  }

  /// The operand that a use is: directly, or a variable that passes the value on.
  std::optional<Operand> use(const Expression& element, const isl::set& domain) {
    std::vector<std::pair<isl::set, Use>> pieces;
    for (const Source& source : sources_[element.variable]) {
      const isl::map from = origin(element, domain, source);
      if (from.is_empty())
        continue;
      const std::optional<Use> found = passOn(source, from, element.location);
      if (!found)
        return std::nullopt;
      pieces.emplace_back(from.domain(), *found);
    }
    if (pieces.size() == 1)
      return pieces[0].second;
    // Where the sources are several, a copy of each in its own iterations.
    const uint32_t joined = build_.variable(variables_[element.variable].name + ".use" + std::to_string(build_.count()),
                                            element.type, element.location);
    for (const auto& [where, piece] : pieces)
      emitNode(Operation::Copy, element.type, element.type, {piece}, joined, where, element.location);
    return Use{joined, std::vector<int64_t>(dimensions(), 0)};
  }

  /// REQUIRES: `from` is a function to iterations that define the source.
  std::optional<Use> passOn(const Source& source, const isl::map& from, const Location& where) {
    const isl::set distances = from.reverse().deltas(); // use - definition
    if (const std::optional<std::vector<int64_t>> only = Polyhedra::onlyPoint(distances))
      return Use{source.variable, *only};
    if (const std::optional<std::vector<int64_t>> ray = rayOf(distances))
      if (std::optional<Use> carried = alongRay(source, from, *ray, where))
        return carried;
    if (std::optional<Use> split = bySign(source, from, distances, where))
      return split;
    return alongAxes(source, from, distances, where);
  }

  /// Where a coordinate of the distances has both signs, the uses of either in their own way.
  std::optional<Use> bySign(const Source& source, const isl::map& from, const isl::set& distances,
                            const Location& where) {
    for (unsigned axis = 0; axis < dimensions(); ++axis) {
      const isl::set behind = isl::manage(isl_set_upper_bound_si(distances.copy(), isl_dim_set, axis, -1));
      const isl::set ahead = isl::manage(isl_set_lower_bound_si(distances.copy(), isl_dim_set, axis, 0));
      if (behind.is_empty() ||
          isl::set(isl::manage(isl_set_lower_bound_si(distances.copy(), isl_dim_set, axis, 1))).is_empty())
        continue;
      const std::string number = std::to_string(axis);
      const isl::map later =
          sets_.parsedMap("{ " + tuple("i") + " -> " + tuple("j") + " : i" + number + " >= j" + number + " }");
      const isl::map parts[] = {from.intersect(later), from.subtract(later)};
      const uint32_t joined =
          build_.variable(source.name + ".way" + std::to_string(build_.count()), source.type, source.location);
      for (const isl::map& part : parts) {
        const std::optional<Use> found = passOn(source, part, where);
        if (!found)
          return std::nullopt;
        emitNode(Operation::Copy, source.type, source.type, {*found}, joined, part.domain(), where);
      }
      return Use{joined, zeros()};
    }
    return std::nullopt;
  }

  /// The shortest vector of which all distances are multiples, none of them negative.
  std::optional<std::vector<int64_t>> rayOf(const isl::set& distances) const {
    const isl::set all = isl::manage(
        isl_set_project_out(distances.copy(), isl_dim_param, 0, static_cast<unsigned>(system_.parameters.size())));
    const isl::set zero = isl::set(all.ctx(), "{ [" + list(std::vector<int64_t>(dimensions(), 0)) + "] }");
    const isl::set others = all.subtract(zero);
    if (others.is_empty())
      return std::nullopt;
    const isl::point point = others.sample_point();
    std::vector<int64_t> direction;
    int64_t divisor = 0;
    for (unsigned i = 0; i < dimensions(); ++i) {
      const isl::val value = isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(i)));
      if (isl_val_cmp_si(value.get(), INT32_MAX) > 0 || isl_val_cmp_si(value.get(), -INT32_MAX) < 0)
        return std::nullopt;
      direction.push_back(isl_val_get_num_si(value.get()));
      divisor = std::gcd(divisor, direction.back());
    }
    for (int64_t& value : direction)
      value /= divisor;
    const isl::set multiples =
        isl::set(all.ctx(), "{ " + tuple("i") + " : exists (c : c >= 0" + multiple("i", "", direction) + ") }");
    return all.is_subset(multiples) ? std::optional(direction) : std::nullopt;
  }

  static std::string list(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values)
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
  }

  /// " and i0 = j0 + 2*c and …"; `to` may be empty.
  static std::string multiple(const std::string& from, const std::string& to, const std::vector<int64_t>& direction) {
    std::string text;
    for (size_t i = 0; i < direction.size(); ++i) {
      const std::string number = std::to_string(i);
      text += " and " + from + number + " = " + (to.empty() ? "0" : to + number) + " + " +
              std::to_string(direction[i]) + "*c";
    }
    return text;
  }

  /// A variable that takes the value where it is one step from its source, and from its predecessor everywhere else on
  /// the way.
  /// Nothing where two values would meet on the way.
  std::optional<Use> alongRay(const Source& source, const isl::map& from, const std::vector<int64_t>& ray,
                              const Location& where) {
    // From uses back along the ray, with the source that they came from.
    const std::string pair = "{ " + tuple("i") + " -> " + tuple("j") + " : exists (c : c >= ";
    const isl::map backwards = sets_.parsedMap(pair + "0" + multiple("i", "j", ray) + ") }");
    const isl::map ahead = sets_.parsedMap(pair + "1" + multiple("j", "i", ray) + ") }");
    const isl::map passed = from.reverse().apply_range(backwards).intersect(ahead); // source -> on the way
    if (!passed.reverse().is_single_valued())
      return std::nullopt;
    const isl::set way = coalesced(passed.range());
    const isl::set first = coalesced(passed.intersect(sets_.translation(ray)).range());
    const uint32_t carried =
        build_.variable(source.name + ".pass" + std::to_string(build_.count()), source.type, source.location);
    const isl::set atHome = from.domain().intersect(from.intersect(sets_.translation(zeros())).domain());
    emitNode(Operation::Copy, source.type, source.type, {Use{source.variable, ray}}, carried, first, where);
    emitNode(Operation::Copy, source.type, source.type, {Use{carried, ray}}, carried, coalesced(way.subtract(first)),
             where);
    if (!atHome.is_empty()) // used where it is defined, too
      emitNode(Operation::Copy, source.type, source.type, {Use{source.variable, zeros()}}, carried,
               coalesced(atHome.subtract(way)), where);
    return Use{carried, zeros()};
  }

  std::vector<int64_t> zeros() const { return std::vector<int64_t>(dimensions(), 0); }

  /// Distances in several directions: the value moves along one axis first, and from there along the others.
  std::optional<Use> alongAxes(const Source& source, const isl::map& from, const isl::set& distances,
                               const Location& where) {
    const isl::set all = isl::manage(
        isl_set_project_out(distances.copy(), isl_dim_param, 0, static_cast<unsigned>(system_.parameters.size())));
    for (size_t axis = 0; axis < dimensions(); ++axis) {
      const isl::set none = isl::manage(isl_set_fix_si(all.copy(), isl_dim_set, static_cast<unsigned>(axis), 0));
      if (all.is_subset(none))
        continue; // nothing to go along it
      // The stop on the way: the axis' coordinate of the use, the others of the source.
      isl::map stop = stopMap(from, axis);
      if (stop.is_subset(sets_.translation(zeros())))
        continue; // it is the use itself: no way is left
      const isl::map toSource = stopToSource(from, axis);
      if (!toSource.is_single_valued())
        continue; // values would meet on it; along another axis first they may not
      std::optional<Use> arrived = passOn(source, toSource, where);
      if (!arrived)
        return std::nullopt;
      if (arrived->distance != zeros()) { // the stop is at a fixed distance: it has a copy
        const uint32_t copy =
            build_.variable(source.name + ".stop" + std::to_string(build_.count()), source.type, source.location);
        emitNode(Operation::Copy, source.type, source.type, {*arrived}, copy, coalesced(toSource.domain()), where);
        arrived = Use{copy, zeros()};
      }
      const Source reached{
          arrived->variable, toSource.domain(), sets_.map(identity(dimensions())).intersect_domain(toSource.domain()),
          source.type,       source.name,       source.location};
      return passOn(reached, stop, where);
    }
    diagnostics_.report(notUniform, where, source.name)
        .label(source.location, "defined here")
        .help("define a variable that carries the value through the iterations between");
    return std::nullopt;
  }

  /// use -> stop.
  isl::map stopMap(const isl::map& from, size_t axis) const {
    return from.apply_range(anyAlong(axis)).intersect(sameAt(axis));
  }
  /// stop -> source.
  isl::map stopToSource(const isl::map& from, size_t axis) const {
    return stopMap(from, axis).reverse().apply_range(from).intersect(anyAlong(axis).reverse());
  }
  std::string tuple(const char* letter) const {
    std::string text;
    for (size_t i = 0; i < dimensions(); ++i)
      text += (i ? ", " : "") + std::string(letter) + std::to_string(i);
    return "[" + text + "]";
  }
  isl::map anyAlong(size_t axis) const {
    std::string conditions;
    for (size_t i = 0; i < dimensions(); ++i)
      if (i != axis)
        conditions += (conditions.empty() ? "" : " and ") + ("i" + std::to_string(i) + " = j" + std::to_string(i));
    return sets_.parsedMap("{ " + tuple("i") + " -> " + tuple("j") + (conditions.empty() ? "" : " : " + conditions) +
                           " }");
  }
  isl::map sameAt(size_t axis) const {
    const std::string number = std::to_string(axis);
    return sets_.parsedMap("{ " + tuple("i") + " -> " + tuple("j") + " : i" + number + " = j" + number + " }");
  }

  // ---- nodes ----

  void emitNode(Operation operation, const ElementType& type, const ElementType& operandType,
                std::vector<Operand> operands, uint32_t target, const isl::set& domain, const Location& where) {
    if (domain.is_empty())
      return;
    Node node;
    node.operation = operation;
    node.type = type;
    node.operandType = operandType;
    node.operandLocations.assign(operands.size(), where);
    node.operands = std::move(operands);
    node.target = target;
    node.location = where;
    node.domain = spaceOf(domain, where);
    build_.node(std::move(node));
  }

  Space spaceOf(const isl::set& domain, const Location& where) {
    if (std::optional<Space> space = Polyhedra::space(domain))
      return *space;
    diagnostics_.report(noPolyhedra, where, "they need more than 64 residues");
    return {};
  }

  void emit(const Definition& definition) {
    if (definition.domain.is_empty())
      return;
    const Space domain = spaceOf(definition.domain, definition.location);
    const SystemVariable& target = variables_[definition.variable];
    Node root;
    if (!fill(root, definition.value, definition.domain, domain))
      return;
    root.domain = domain;
    root.location = definition.location;
    if (target.role == Role::Output) {
      root.isOutput = true;
      root.target = build_.outputOf(definition.variable);
      root.index = definition.index;
    } else {
      root.target = homes_.at(&definition);
    }
    build_.node(std::move(root));
  }

  /// An expression's uppermost operation, as a node without a target.
  bool fill(Node& node, const Expression& expression, const isl::set& set, const Space& domain) {
    node.location = expression.location;
    node.type = expression.type;
    const bool isComputed = expression.kind == Expression::Kind::Operation && expression.operation != Operation::Select;
    node.operandType = isComputed ? expression.operandType : expression.type;
    node.operation = expression.kind == Expression::Kind::Operation ? expression.operation : Operation::Copy;
    if (expression.kind != Expression::Kind::Operation)
      return addOperand(node, expression, set, domain);
    for (const Expression& operand : expression.operands)
      if (!addOperand(node, operand, set, domain))
        return false;
    return true;
  }

  bool addOperand(Node& node, const Expression& operand, const isl::set& set, const Space& domain) {
    node.operandLocations.push_back(operand.location);
    if (operand.kind == Expression::Kind::Constant) {
      node.operands.push_back(operand.constant);
      return true;
    }
    if (operand.kind == Expression::Kind::Element) {
      if (variables_[operand.variable].role == Role::Input) {
        node.operands.push_back(InputUse{build_.inputOf(operand.variable), operand.index});
        return true;
      }
      const std::optional<Operand> found = use(operand, set);
      if (found)
        node.operands.push_back(*found);
      return found.has_value();
    }
    Node inner;
    if (!fill(inner, operand, set, domain))
      return false;
    inner.domain = domain;
    inner.target = build_.variable("value" + std::to_string(build_.count()), operand.type, operand.location);
    node.operands.push_back(Use{inner.target, zeros()});
    build_.node(std::move(inner));
    return true;
  }

  const System& system_;
  DiagnosticEngine& diagnostics_;
  Polyhedra sets_;
  Names names_;
  GraphBuilder build_;
  isl::set context_;
  std::vector<SystemVariable> variables_; // the system's, and those of reductions
  std::deque<Definition> definitions_;    // whose addresses are keys
  std::map<const Definition*, uint32_t> homes_;
  std::vector<std::vector<Source>> sources_; // by variable
};

} // namespace

std::optional<Graph> uniform(const System& system, DiagnosticEngine& diagnostics) {
  try {
    return Uniformer(system, diagnostics).run();
  } catch (const isl::exception& failure) {
    diagnostics.report(noPolyhedra, system.location, failure.what());
    return std::nullopt;
  }
}

} // namespace strata::equations

// The steps of uniform.h, in order: homes, sources of uses, nodes.
#include "compiler/equations/uniform.h"

#include "compiler/equations/build_graph.h"
#include "compiler/equations/polyhedra.h"
#include "compiler/equations/refusals.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <set>

namespace strata::equations {

STRATA_DIAGNOSTIC(notUniform, Error, "equations-not-uniform",
                  "the distance from this use to where '{0}' is defined changes in a way that cannot be passed on from "
                  "neighbour to neighbour");

namespace {

/// An equation on its way: a variable's instance at `index`, in the iterations of `domain`.
struct Definition {
  uint32_t variable = 0;
  std::vector<Affine> index;
  Expression value;
  isl::set domain;
  Location location;
};

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
        build_(system), variables_(system.variables) {}

  std::optional<Graph> run() {
    const unsigned before = diagnostics_.errorCount();
    const isl::set space = sets_.set(system_.space).intersect(sets_.context(system_.context));
    for (const Equation& equation : system_.equations)
      definitions_.push_back({equation.variable, equation.index, equation.value,
                              coalesced(sets_.set(equation.guard).intersect(space)), equation.location});
    makeSources();
    for (const Definition& definition : definitions_)
      emit(definition);
    return diagnostics_.errorCount() == before ? std::optional(build_.take()) : std::nullopt;
  }

private:
  size_t dimensions() const { return system_.iterators.size(); }

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
      if (variables_[variable].role == Role::Internal)
        settle(variable, own);
    }
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
    diagnostics_.report(noPolyhedra, where, manyResidues);
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
  GraphBuilder build_;
  const std::vector<SystemVariable>& variables_;
  std::deque<Definition> definitions_; // whose addresses are keys
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

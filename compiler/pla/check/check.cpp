// Declarations and equations. See check.h.
#include "compiler/pla/check/checker.h"

#include "base/source/nearest_name.h"
#include "compiler/pla/syntax/parser.h"

#include <algorithm>

namespace strata::pla {

using namespace equations;

STRATA_DIAGNOSTIC(declaredTwice, Error, "pla-declared-twice", "'{0}' is declared twice");
STRATA_DIAGNOSTIC(unknownType, Error, "pla-unknown-type", "there is no type '{0}'");
STRATA_DIAGNOSTIC(unknownName, Error, "pla-unknown-name", "nothing is named '{0}'");
STRATA_DIAGNOSTIC(variableExtents, Error, "pla-variable-extents",
                  "'{0}' is an internal variable, whose instances exist where they are defined; it has no extents");
STRATA_DIAGNOSTIC(indexCount, Error, "pla-index-count", "'{0}' takes {1}, and {2} given here");
STRATA_DIAGNOSTIC(definesInput, Error, "pla-defines-input", "'{0}' is {1}, which no equation defines");
STRATA_DIAGNOSTIC(neverDefined, Error, "pla-never-defined", "no equation defines '{0}'");
STRATA_DIAGNOSTIC(neverUsed, Warning, "pla-never-used", "no equation uses '{0}'");
STRATA_DIAGNOSTIC(loopCount, Error, "pla-loops", "a program has one iteration space, a 'for'; {0}");
STRATA_DIAGNOSTIC(tooMany, Error, "pla-too-many", "more than {0} {1}");
STRATA_DIAGNOSTIC(badAssumption, Error, "pla-assumption",
                  "an assumption is true of one range of sizes, without 'or' and '!='");
STRATA_DIAGNOSTIC(noScalarOutput, Error, "pla-scalar-output",
                  "the output '{0}' needs extents; one element is '{1}[1]'");

namespace {

constexpr size_t mostIterators = 8, mostNames = 1000;

std::string indicesText(size_t count) {
  return count == 1 ? "1 index" : std::to_string(count) + " indices";
}

} // namespace

ElementType Checker::typeOf(const NameSyntax& name) {
  static const std::map<std::string, ElementType, std::less<>> types = {{"bool", ElementType::boolean()},
                                                                        {"int8", ElementType::signedInteger(1)},
                                                                        {"int16", ElementType::signedInteger(2)},
                                                                        {"int32", ElementType::signedInteger(4)},
                                                                        {"int64", ElementType::signedInteger(8)},
                                                                        {"int", ElementType::signedInteger(4)},
                                                                        {"uint8", ElementType::unsignedInteger(1)},
                                                                        {"uint16", ElementType::unsignedInteger(2)},
                                                                        {"uint32", ElementType::unsignedInteger(4)},
                                                                        {"uint64", ElementType::unsignedInteger(8)},
                                                                        {"uint", ElementType::unsignedInteger(4)},
                                                                        {"float", ElementType::floating(4)},
                                                                        {"float32", ElementType::floating(4)},
                                                                        {"double", ElementType::floating(8)},
                                                                        {"float64", ElementType::floating(8)}};
  if (const auto found = types.find(name.text); found != types.end())
    return found->second;
  std::vector<std::string> known;
  for (const auto& [each, type] : types)
    known.push_back(each);
  DiagnosticBuilder report = diagnostics_.report(unknownType, name.location, name.text);
  proposeName(report, name.text, known);
  throw CheckError();
}

void Checker::declareName(const NameSyntax& name) {
  const auto [at, isNew] = names_.emplace(name.text, name.location);
  if (!isNew) {
    diagnostics_.report(declaredTwice, name.location, name.text).label(at->second, "first here");
    throw CheckError();
  }
  if (names_.size() > mostNames) {
    diagnostics_.report(tooMany, name.location, mostNames, "names");
    throw CheckError();
  }
}

void Checker::declareParameters() {
  for (const ParameterSyntax& parameter : tree_.parameters) {
    try {
      declareName(parameter.name);
      parameters_.emplace(parameter.name.text, system_.parameters.size());
      system_.parameters.push_back(parameter.name.text);
      system_.parameterPlaces.push_back(parameter.name.location);
    } catch (const CheckError&) {
    }
  }
  for (size_t i = 0; i < tree_.parameters.size(); ++i) {
    const auto found = parameters_.find(tree_.parameters[i].name.text);
    if (found == parameters_.end())
      continue;
    Constraint least;
    least.value.parameters.assign(system_.parameters.size(), 0);
    least.value.parameters[found->second] = 1;
    least.value.constant = -tree_.parameters[i].least.value_or(0);
    system_.context.push_back(std::move(least));
    system_.contextPlaces.push_back(tree_.parameters[i].name.location);
  }
}

void Checker::declareIterators(const LoopSyntax& loop) {
  for (const NameSyntax& name : loop.iterators) {
    try {
      declareName(name);
      iterators_.emplace(name.text, system_.iterators.size());
      system_.iterators.push_back(name.text);
      system_.iteratorPlaces.push_back(name.location);
    } catch (const CheckError&) {
    }
  }
  if (system_.iterators.size() > mostIterators) {
    diagnostics_.report(tooMany, loop.iterators[mostIterators].location, mostIterators, "iterators");
    throw CheckError();
  }
}

void Checker::declareVariable(const DeclarationSyntax& declared) {
  SystemVariable made;
  declareName(declared.name);
  made.name = declared.name.text;
  made.location = declared.name.location;
  made.type = typeOf(declared.type.name);
  made.role = declared.direction == Direction::Input    ? Role::Input
              : declared.direction == Direction::Output ? Role::Output
                                                        : Role::Internal;
  if (made.role == Role::Internal && !declared.type.extents.empty()) {
    diagnostics_.report(variableExtents, declared.type.extents[0]->location, made.name)
        .help("write '" + made.name + ": " + declared.type.name.text + "'");
    throw CheckError();
  }
  if (made.role == Role::Output && declared.type.extents.empty()) {
    diagnostics_.report(noScalarOutput, declared.name.location, made.name, declared.type.name.text);
    throw CheckError();
  }
  onlyParameters_ = true;
  for (const Expr* extent : declared.type.extents)
    made.extents.push_back(affine(*extent));
  onlyParameters_ = false;
  made.rank = static_cast<unsigned>(made.extents.size());
  variables_.emplace(made.name, system_.variables.size());
  system_.variables.push_back(std::move(made));
}

const SystemVariable& Checker::resolve(const NameSyntax& name, uint32_t& number) {
  if (const auto found = variables_.find(name.text); found != variables_.end()) {
    number = found->second;
    return system_.variables[number];
  }
  if (!names_.contains(name.text) || variables_.empty()) {
    std::vector<std::string> known;
    for (const auto& [each, place] : names_)
      known.push_back(each);
    DiagnosticBuilder report = diagnostics_.report(unknownName, name.location, name.text);
    proposeName(report, name.text, known);
  } else {
    diagnostics_.report(unknownName, name.location, name.text)
        .label(names_.find(name.text)->second, "a parameter or an iterator, which has no instances");
  }
  throw CheckError();
}

std::vector<Affine> Checker::indices(const Expr& element, const SystemVariable& of) {
  if (of.role == Role::Internal && !defined_.contains(variables_.find(of.name)->second)) {
    diagnostics_.report(neverDefined, of.location, of.name).label(element.location, "used here");
    throw CheckError();
  }
  const size_t given = element.kind == ExprKind::Element ? element.operands.size() : 0;
  if (given != of.rank) {
    diagnostics_
        .report(indexCount, element.location, of.name, indicesText(of.rank),
                given == 1 ? "1 is" : std::to_string(given) + " are")
        .label(of.location,
               of.role == Role::Internal ? "it has as many as where it is defined first" : "declared here");
    throw CheckError();
  }
  std::vector<Affine> found;
  for (size_t i = 0; i < given; ++i)
    found.push_back(affine(*element.operands[i]));
  return found;
}

void Checker::checkEquation(const EquationSyntax& syntax) {
  equations::Equation made;
  made.location = syntax.location;
  made.targetLocation = syntax.target->location;
  if (syntax.target->kind != ExprKind::Name && syntax.target->kind != ExprKind::Element)
    return; // the parser has said so
  const SystemVariable& target = resolve(syntax.target->name, made.variable);
  if (target.role == Role::Input) {
    diagnostics_.report(definesInput, syntax.target->location, target.name, "an input")
        .label(target.location, "declared here");
    throw CheckError();
  }
  made.index = indices(*syntax.target, target);
  made.guard = syntax.guard ? condition(*syntax.guard) : Space{{{}}};
  made.value = assigned(value(*syntax.value), target.type, *syntax.value);
  system_.equations.push_back(std::move(made));
}

void Checker::requireUses() {
  std::vector<bool> defined(system_.variables.size()), used(system_.variables.size());
  const auto visit = [&](const auto& self, const Expression& expression) -> void {
    if (expression.kind == Expression::Kind::Element)
      used[expression.variable] = true;
    for (const Expression& operand : expression.operands)
      self(self, operand);
  };
  for (const equations::Equation& equation : system_.equations) {
    defined[equation.variable] = true;
    visit(visit, equation.value);
  }
  for (size_t i = 0; i < system_.variables.size(); ++i) {
    const SystemVariable& variable = system_.variables[i];
    if (variable.role == Role::Output && !defined[i])
      diagnostics_.report(neverDefined, variable.location, variable.name);
    else if (variable.role != Role::Output && !used[i])
      diagnostics_.report(neverUsed, variable.location, variable.name);
    if (variable.role == Role::Output && used[i])
      for (const equations::Equation& equation : system_.equations)
        if (equation.variable == i) {
          diagnostics_.report(definesInput, equation.targetLocation, variable.name, "an output that is used as well")
              .help("define an internal variable, and the output by it");
          break;
        }
  }
}

/// The conditions that an assumption joins by 'and': each has a place of its own.
static void addConjuncts(const Expr& condition, std::vector<const Expr*>& found) {
  if (condition.kind != ExprKind::Binary || condition.op != Operator::LogicalAnd) {
    found.push_back(&condition);
    return;
  }
  for (const Expr* operand : condition.operands)
    addConjuncts(*operand, found);
}

std::optional<System> Checker::run(const std::string& name) {
  system_.name = tree_.name.text.empty() ? name : tree_.name.text;
  system_.location = tree_.name.location;
  declareParameters();
  for (const DeclarationSyntax& declared : tree_.declarations) {
    try {
      declareVariable(declared);
    } catch (const CheckError&) {
    }
  }
  onlyParameters_ = false;
  if (diagnostics_.hasErrors())
    return std::nullopt;
  if (tree_.loops.empty()) {
    diagnostics_.report(loopCount, tree_.name.location, "this one has none");
    return std::nullopt;
  }
  if (tree_.loops.size() > 1) {
    diagnostics_.report(loopCount, tree_.loops[1].location, "this is a second one")
        .label(tree_.loops[0].location, "the first")
        .help("give one 'for' all iterators, and the equations guards: 'y[i, j] = x[i] if j == 0'");
    return std::nullopt;
  }
  const LoopSyntax& loop = tree_.loops[0];
  try {
    declareIterators(loop);
  } catch (const CheckError&) {
    return std::nullopt;
  }
  // An internal variable has as many indices as where it is defined first.
  for (const EquationSyntax& equation : loop.equations)
    if (const auto found = variables_.find(equation.target->name.text); found != variables_.end())
      if (SystemVariable& variable = system_.variables[found->second];
          variable.role == Role::Internal && defined_.insert(found->second).second)
        variable.rank = static_cast<unsigned>(equation.target->operands.size());
  const auto guarded = [](auto&& action) {
    try {
      action();
    } catch (const CheckError&) {
    }
  };
  guarded([&] { system_.space = condition(*loop.space); });
  std::vector<const Expr*> assumptions;
  for (const Expr* assumption : tree_.assumptions)
    addConjuncts(*assumption, assumptions);
  for (const Expr* assumption : assumptions)
    guarded([&] {
      onlyParameters_ = true;
      const Space space = condition(*assumption);
      onlyParameters_ = false;
      if (space.pieces.size() != 1) {
        diagnostics_.report(badAssumption, assumption->location).help("write what holds of all sizes, with 'and'");
        throw CheckError();
      }
      system_.context.insert(system_.context.end(), space.pieces[0].begin(), space.pieces[0].end());
      system_.contextPlaces.resize(system_.context.size(), assumption->location);
    });
  onlyParameters_ = false;
  for (const EquationSyntax& equation : loop.equations)
    guarded([&] { checkEquation(equation); });
  if (!diagnostics_.hasErrors())
    requireUses();
  if (diagnostics_.hasErrors())
    return std::nullopt;
  return std::move(system_);
}

std::optional<System> check(const SyntaxTree& tree, const std::string& name, DiagnosticEngine& diagnostics) {
  return Checker(tree, diagnostics).run(name);
}

std::optional<System> readSystem(BufferId file, const std::string& name, DiagnosticEngine& diagnostics) {
  SyntaxTree tree;
  parse(tokenize(file, diagnostics), tree, diagnostics);
  if (diagnostics.hasErrors())
    return std::nullopt;
  return check(tree, name, diagnostics);
}

} // namespace strata::pla

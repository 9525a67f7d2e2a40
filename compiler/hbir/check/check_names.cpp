// Names, fields of the target, and exact arithmetic on constants and index variables.
#include "compiler/hbir/check/checker.h"

#include <algorithm>

namespace strata::hbir {

STRATA_DIAGNOSTIC(duplicateName, Error, "hbir-duplicate-name", "{0} '{1}' has the name of another declaration");
STRATA_DIAGNOSTIC(unknownName, Error, "hbir-unknown-name", "nothing here is named '{0}'");
STRATA_DIAGNOSTIC(notConstant, Error, "hbir-not-constant", "this is no constant of type int");
STRATA_DIAGNOSTIC(divisionByZero, Error, "hbir-division-by-zero", "division by zero");
STRATA_DIAGNOSTIC(overflow, Error, "hbir-overflow", "the result does not fit in 64 bits");
STRATA_DIAGNOSTIC(notPositive, Error, "hbir-extent", "{0} is {1}; it must be at least 1");
STRATA_DIAGNOSTIC(tooLarge, Error, "hbir-too-large", "with {0} this large, all multiply to 2^62 or more");
STRATA_DIAGNOSTIC(constantLater, Error, "hbir-constant-order", "constant '{0}' is used before its declaration");
STRATA_DIAGNOSTIC(unknownField, Error, "hbir-unknown-field", "'{0}' has no field '{1}'");
STRATA_DIAGNOSTIC(unknownNumber, Error, "hbir-unknown-size", "the {1} of memory '{0}' is not known");

using Kind = IndexExpression::Kind;

void Checker::declare(std::string_view name, const Location& where, std::string_view what) {
  auto [found, isNew] = declared_.emplace(name, where);
  if (!isNew)
    diagnostics_.report(duplicateName, where, what, name).label(found->second, "the other one");
}

bool Checker::unknown(const Location& where, std::string_view name, const std::vector<std::string>& candidates,
                      std::string note) {
  // What is not declared, or misspelt where it is declared, is one mistake however often the name is used.
  if (!unknownNames_.emplace(name).second)
    return false;
  std::string near = nearestName(name, candidates);
  DiagnosticBuilder builder = diagnostics_.report(unknownName, where, name);
  if (!near.empty())
    builder.help("did you mean '" + near + "'?");
  if (!note.empty())
    builder.note(std::move(note));
  return false;
}

std::optional<IndexExpression> Checker::index(const Expr& expr, const Resolve& resolve, bool roundDown) {
  if (expr.kind == ExprKind::Integer)
    return IndexExpression::constant(expr.integer);
  if (expr.kind == ExprKind::Name)
    return resolve(expr);
  bool negate = expr.kind == ExprKind::Unary && expr.op == Operator::Negate;
  if (!negate && (expr.kind != ExprKind::Binary || expr.op < Operator::Add || expr.op > Operator::Remainder)) {
    diagnostics_.report(notConstant, expr.where).help("use integers, names and + - * / %");
    return std::nullopt;
  }
  std::optional<IndexExpression> left =
      negate ? IndexExpression::constant(0) : index(*expr.operands[0], resolve, roundDown);
  std::optional<IndexExpression> right = index(*expr.operands.back(), resolve, roundDown);
  if (!left || !right)
    return std::nullopt;
  static constexpr Kind kinds[] = {Kind::Add, Kind::Subtract, Kind::Multiply, Kind::Divide, Kind::Modulo};
  const auto number = static_cast<size_t>(expr.op) - static_cast<size_t>(Operator::Add);
  Kind kind = negate ? Kind::Subtract : kinds[number];
  bool divides = kind == Kind::Divide || kind == Kind::Modulo;
  if (divides && right->isConstant() && right->value == 0) {
    diagnostics_.report(divisionByZero, expr.where);
    return std::nullopt;
  }
  bool constants = left->isConstant() && right->isConstant();
  if (constants && divides && !roundDown && right->value != -1)
    return IndexExpression::constant(kind == Kind::Divide ? left->value / right->value : left->value % right->value);
  IndexExpression result = IndexExpression::make(kind, std::move(*left), std::move(*right));
  if (constants && !result.isConstant()) {
    diagnostics_.report(overflow, expr.where);
    return std::nullopt;
  }
  return result;
}

std::optional<int64_t> Checker::constant(const Expr& expr, const Resolve& resolve, bool roundDown) {
  std::optional<IndexExpression> result = index(expr, resolve, roundDown);
  if (!result)
    return std::nullopt;
  if (!result->isConstant()) {
    diagnostics_.report(notConstant, expr.where);
    return std::nullopt;
  }
  return result->value;
}

std::optional<int64_t> Checker::dataConstant(const Expr& expr) {
  return constant(expr, [this](const Expr& name) { return resolveInData(name); });
}

const Constant* Checker::findConstant(std::string_view name, const Location& where) {
  auto found = constantsByName_.find(name);
  // A mapping file, which is another buffer, comes after all of the program.
  if (found != constantsByName_.end() &&
      (found->second->where.buffer != where.buffer || found->second->where.begin < where.begin))
    return found->second;
  for (const ConstantSyntax& each : tree_.constants)
    if (each.name.text == name && each.name.where.begin > where.begin) {
      diagnostics_.report(constantLater, where, name).label(each.name.where, "declared here");
      return nullptr;
    }
  return nullptr;
}

std::optional<IndexExpression> Checker::resolveInData(const Expr& name) {
  if (name.names.size() > 1)
    return resolveInTarget(name);
  unsigned before = diagnostics_.errorCount();
  if (const Constant* found = findConstant(name.names[0], name.where))
    return IndexExpression::constant(found->value);
  // A constant whose value is wrong has been reported; to say more of it would mislead.
  if (wrongConstants_.contains(name.names[0]))
    return std::nullopt;
  bool isDeclared = std::any_of(tree_.constants.begin(), tree_.constants.end(),
                                [&](const ConstantSyntax& each) { return each.name.text == name.names[0]; });
  if (diagnostics_.errorCount() == before && !isDeclared) {
    std::vector<std::string> candidates;
    for (const Constant& each : program_.constants)
      candidates.push_back(each.name);
    unknown(name.where, name.names[0], candidates,
            "sizes are made of constants of the data segment and fields of the target");
  } else if (diagnostics_.errorCount() == before) {
    diagnostics_.report(constantLater, name.where, name.names[0]);
  }
  return std::nullopt;
}

std::optional<IndexExpression> Checker::resolveInTarget(const Expr& name) {
  if (name.names[0] != "target") {
    unknown(name.where, dottedName(name.names), {"target." + program_.target.tiles + ".x_max"},
            name.names.size() == 1 ? "a machine has fixed numbers of memories and tiles, as in tile t[4][4]" : "");
    return std::nullopt;
  }
  std::optional<int64_t> value = targetField(name.names, name.where);
  return value ? std::optional(IndexExpression::constant(*value)) : std::nullopt;
}

std::optional<int64_t> Checker::memoryField(const MemoryClass& memory, const Names& names, const Location& where) {
  std::string_view field = names.back();
  if (field == "size" || field == "width") {
    const std::optional<int64_t>& value = field == "size" ? memory.size : memory.width;
    if (!value)
      diagnostics_.report(unknownNumber, where, memory.name, field).label(memory.where, "declared here");
    return value;
  }
  static constexpr std::string_view maxima[] = {"x_max", "y_max", "z_max", "w_max"};
  const std::vector<int64_t>& extents = memoryExtents_[&memory];
  for (size_t i = 0; i < extents.size() && i < 4; ++i)
    if (field == maxima[i])
      return extents[i];
  diagnostics_.report(unknownField, where, memory.name, field).help("a memory has size, width and x_max");
  return std::nullopt;
}

std::optional<int64_t> Checker::targetField(const Names& names, const Location& where) {
  const Target& target = program_.target;
  std::vector<std::string> candidates{target.tiles};
  for (const MemoryClass& memory : target.memories) {
    candidates.push_back(memory.name);
    bool inTiles = memory.local && names.size() == 4 && names[1] == target.tiles && names[2] == memory.name;
    if (inTiles || (!memory.local && names.size() == 3 && names[1] == memory.name))
      return memoryField(memory, names, where);
  }
  if (names.size() == 3 && names[1] == target.tiles) {
    static constexpr std::string_view maxima[] = {"x_max", "y_max", "z_max", "w_max"};
    for (size_t i = 0; i < target.extents.size() && i < 4; ++i)
      if (names[2] == maxima[i])
        return target.extents[i];
    diagnostics_.report(unknownField, where, target.tiles, names[2]).help("the tile array has x_max and y_max");
    return std::nullopt;
  }
  std::string_view unresolved = names.size() > 2 && names[1] == target.tiles ? names[2]
                                : names.size() > 1                           ? names[1]
                                                                             : names[0];
  unknown(where, unresolved, candidates, "a field of the target is written as target.g.size or target.t.x_max");
  return std::nullopt;
}

std::vector<int64_t> Checker::extents(const std::vector<Expr*>& list, const Resolve& resolve, std::string_view what) {
  std::vector<int64_t> result;
  bool isKnown = true;
  for (const Expr* each : list) {
    // One that is wrong is likely to be so for the reason that its neighbours are.
    const std::optional<int64_t> found = isKnown ? constant(*each, resolve) : std::nullopt;
    isKnown &= found.has_value();
    int64_t value = found.value_or(1);
    if (value < 1) {
      diagnostics_.report(notPositive, each->where, what, value);
      value = 1;
    }
    result.push_back(value);
  }
  if (!productOf(result)) {
    diagnostics_.report(tooLarge, list[0]->where, what);
    result.assign(result.size(), 1);
  }
  return result;
}

} // namespace strata::hbir

// Expressions: what names mean, types and conversions, calls.
#include "compiler/hbir/check/checker.h"

#include <algorithm>
#include <utility>

namespace strata::hbir {

STRATA_DIAGNOSTIC(rankMismatch, Error, "hbir-index-count", "'{0}' has {1} dimensions, and this gives {2} indices");
STRATA_DIAGNOSTIC(notAnArray, Error, "hbir-not-array", "'{0}' is not an array");
STRATA_DIAGNOSTIC(indexType, Error, "hbir-index-type", "an index is an int, and this is a {0}");
STRATA_DIAGNOSTIC(indexRange, Error, "hbir-index-range", "index {0} is outside of [0, {1})");
STRATA_DIAGNOSTIC(needsInteger, Error, "hbir-integer-operator", "'{0}' takes ints, and this is a float");
STRATA_DIAGNOSTIC(zeroDivisor, Error, "hbir-zero-divisor", "division by zero");
STRATA_DIAGNOSTIC(voidValue, Error, "hbir-void-value", "function '{0}' gives no value");
STRATA_DIAGNOSTIC(unknownFunction, Error, "hbir-unknown-function", "no function is named '{0}'");
STRATA_DIAGNOSTIC(arrayCall, Error, "hbir-array-call", "'{0}' is an array and no function");
STRATA_DIAGNOSTIC(argumentCount, Error, "hbir-argument-count", "function '{0}' takes {1} arguments, not {2}");

namespace {

/// Those of C's that the language has, in the order in which messages propose them.
constexpr Builtin builtins[] = {Builtin::Sqrt,  Builtin::Exp, Builtin::Log, Builtin::Sin, Builtin::Cos, Builtin::Fabs,
                                Builtin::Floor, Builtin::Abs, Builtin::Min, Builtin::Max, Builtin::Pow};

} // namespace

ExpressionPtr Checker::integer(int64_t value, const Location& where) {
  auto result = std::make_unique<Expression>();
  result->integer = value;
  result->where = where;
  return result;
}

ExpressionPtr Checker::convert(ExpressionPtr value, ScalarType type) {
  if (value->type == type)
    return value;
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Cast;
  result->type = type;
  result->where = value->where;
  result->operands.push_back(std::move(value));
  return result;
}

ExpressionPtr Checker::condition(const Expr& syntax) {
  ExpressionPtr result = value(syntax);
  return result ? convert(std::move(result), ScalarType::Bool) : nullptr;
}

ExpressionPtr Checker::value(const Expr& syntax) {
  ExpressionPtr result = valueOrCall(syntax);
  if (result && result->kind == ExpressionKind::Call && !result->callee->result) {
    diagnostics_.report(voidValue, syntax.where, result->callee->name).label(result->callee->where, "declared here");
    return nullptr;
  }
  return result;
}

ExpressionPtr Checker::valueOrCall(const Expr& syntax) {
  auto literal = [&](ExpressionKind kind, ScalarType type) {
    auto result = std::make_unique<Expression>();
    result->kind = kind;
    result->type = type;
    result->integer = syntax.integer;
    result->real = syntax.real;
    result->where = syntax.where;
    return result;
  };
  switch (syntax.kind) {
  case ExprKind::Integer:
    return literal(ExpressionKind::Integer, ScalarType::Int);
  case ExprKind::Real:
    return literal(ExpressionKind::Real, ScalarType::Float);
  case ExprKind::Boolean:
    return literal(ExpressionKind::Boolean, ScalarType::Bool);
  case ExprKind::Name:
    return name(syntax);
  case ExprKind::Element:
    return element(syntax);
  case ExprKind::Unary:
    return unary(syntax);
  case ExprKind::Binary:
    return binary(syntax);
  case ExprKind::Conditional:
    return conditional(syntax);
  case ExprKind::Call:
    return call(syntax);
  }
  return nullptr;
}

const Symbol* Checker::findSymbol(std::string_view name) const {
  // The innermost scope is last, and the first one holds the global variables.
  for (size_t i = scopes_.size(); i-- > 0;)
    if (auto found = scopes_[i].find(name); found != scopes_[i].end())
      return found->second;
  if (auto found = arraySymbols_.find(name); found != arraySymbols_.end())
    return found->second;
  return nullptr;
}

ExpressionPtr Checker::name(const Expr& syntax) {
  if (syntax.names.size() > 1) {
    if (syntax.names[0] == "target") {
      std::optional<int64_t> field = targetField(syntax.names, syntax.where);
      return field ? integer(*field, syntax.where) : nullptr;
    }
    ExpressionPtr field = groupField(syntax.names, syntax.where);
    if (!field)
      unknown(syntax.where, dottedName(syntax.names), {}, "fields are written as target.g.size, tg.x_max or grid.x");
    return field;
  }
  std::string_view text = syntax.names[0];
  const Symbol* symbol = findSymbol(text);
  if (block_ && (!symbol || symbol->kind != SymbolKind::Local))
    if (ExpressionPtr bound = blockName(text, syntax.where, true))
      return bound;
  if (symbol) {
    if (!symbol->extents.empty()) {
      if (isFirstOfStatement())
        diagnostics_.report(rankMismatch, syntax.where, text, symbol->extents.size(), 0)
            .label(symbol->where, "declared here")
            .help("arrays are used element by element: " + std::string(text) + "[i]");
      return nullptr;
    }
    auto result = std::make_unique<Expression>();
    result->kind = ExpressionKind::Variable;
    result->type = symbol->type;
    result->symbol = symbol;
    result->where = syntax.where;
    return result;
  }
  if (auto found = constantsByName_.find(text); found != constantsByName_.end())
    return integer(found->second->value, syntax.where);
  if (block_) {
    if (ExpressionPtr known = blockName(text, syntax.where, false))
      return known;
    if (text == "csize")
      if (ExpressionPtr length = csize(syntax.where))
        return length;
  }
  unknown(syntax.where, text, visibleNames(),
          text == "csize" && block_ ? "the block assigns no output array, whose length it could be" : "");
  return nullptr;
}

ExpressionPtr Checker::element(const Expr& syntax) {
  const Symbol* symbol = syntax.names.size() == 1 ? findSymbol(syntax.names[0]) : nullptr;
  if (!symbol || symbol->extents.empty()) {
    Expr plain = syntax;
    plain.kind = ExprKind::Name;
    plain.operands.clear();
    if (symbol || name(plain)) {
      DiagnosticBuilder builder = diagnostics_.report(notAnArray, syntax.where, dottedName(syntax.names));
      if (symbol)
        builder.label(symbol->where, "declared here");
    }
    return nullptr;
  }
  if (symbol->extents.size() != syntax.operands.size()) {
    diagnostics_.report(rankMismatch, syntax.where, symbol->name, symbol->extents.size(), syntax.operands.size())
        .label(symbol->where, "declared here");
    return nullptr;
  }
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Element;
  result->type = symbol->type;
  result->symbol = symbol;
  result->where = syntax.where;
  for (size_t i = 0; i < syntax.operands.size(); ++i) {
    ExpressionPtr index = value(*syntax.operands[i]);
    if (!index)
      return nullptr;
    if (index->type != ScalarType::Int) {
      diagnostics_.report(indexType, index->where, index->type == ScalarType::Float ? "float" : "bool");
      return nullptr;
    }
    if (index->kind == ExpressionKind::Integer && (index->integer < 0 || index->integer >= symbol->extents[i])) {
      diagnostics_.report(indexRange, index->where, index->integer, symbol->extents[i])
          .label(symbol->where, "declared here");
      return nullptr;
    }
    result->operands.push_back(std::move(index));
  }
  return result;
}

ExpressionPtr Checker::unary(const Expr& syntax) {
  ExpressionPtr operand = value(*syntax.operands[0]);
  if (!operand)
    return nullptr;
  if (syntax.op == Operator::Complement && operand->type == ScalarType::Float) {
    diagnostics_.report(needsInteger, operand->where, "~");
    return nullptr;
  }
  // A negative literal is one number, so that indices and formats see it.
  if (syntax.op == Operator::Negate && operand->kind == ExpressionKind::Integer && operand->integer != INT64_MIN)
    return integer(-operand->integer, syntax.where);
  if (syntax.op == Operator::Not)
    operand = convert(std::move(operand), ScalarType::Bool);
  else if (operand->type == ScalarType::Bool)
    operand = convert(std::move(operand), ScalarType::Int);
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Unary;
  result->op = syntax.op;
  result->type = operand->type;
  result->where = syntax.where;
  result->operands.push_back(std::move(operand));
  return result;
}

ExpressionPtr Checker::binary(const Expr& syntax) {
  ExpressionPtr left = value(*syntax.operands[0]);
  ExpressionPtr right = value(*syntax.operands[1]);
  return combine(syntax.op, std::move(left), std::move(right), syntax.where);
}

ExpressionPtr Checker::combine(Operator op, ExpressionPtr left, ExpressionPtr right, const Location& where) {
  if (!left || !right)
    return nullptr;
  bool isFloat = left->type == ScalarType::Float || right->type == ScalarType::Float;
  bool logical = cfamily::isLogical(op);
  if (needsIntegers(op) && isFloat) {
    const Location& wrong = left->type == ScalarType::Float ? left->where : right->where;
    DiagnosticBuilder report = diagnostics_.report(needsInteger, wrong, operatorText(op));
    if (std::string_view help = cfamily::operandHelp(op); !help.empty())
      report.help(std::string(help));
    return nullptr;
  }
  if (isDivision(op) && !isFloat && right->kind == ExpressionKind::Integer && right->integer == 0) {
    diagnostics_.report(zeroDivisor, right->where);
    return nullptr;
  }
  bool bools = left->type == ScalarType::Bool && right->type == ScalarType::Bool;
  ScalarType operands = logical || (bools && (op == Operator::Equal || op == Operator::NotEqual)) ? ScalarType::Bool
                        : isFloat                                                                 ? ScalarType::Float
                                                                                                  : ScalarType::Int;
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Binary;
  result->op = op;
  result->type = isComparison(op) || logical ? ScalarType::Bool : operands;
  result->where = where;
  result->operands.push_back(convert(std::move(left), operands));
  result->operands.push_back(convert(std::move(right), operands));
  return result;
}

ExpressionPtr Checker::conditional(const Expr& syntax) {
  ExpressionPtr which = condition(*syntax.operands[0]);
  ExpressionPtr yes = value(*syntax.operands[1]);
  ExpressionPtr no = value(*syntax.operands[2]);
  if (!which || !yes || !no)
    return nullptr;
  ScalarType type = yes->type == no->type                                             ? yes->type
                    : yes->type == ScalarType::Float || no->type == ScalarType::Float ? ScalarType::Float
                                                                                      : ScalarType::Int;
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Conditional;
  result->type = type;
  result->where = syntax.where;
  result->operands.push_back(std::move(which));
  result->operands.push_back(convert(std::move(yes), type));
  result->operands.push_back(convert(std::move(no), type));
  return result;
}

bool Checker::isFirstOfStatement() {
  return std::exchange(reportedStatement_, statement_) != statement_ || !statement_;
}

bool Checker::refuseArrayCall(const Expr& syntax) {
  const Symbol* symbol = findSymbol(syntax.names[0]);
  if (!symbol || symbol->extents.empty())
    return false;
  std::string indices;
  for (size_t i = 0; i < symbol->extents.size(); ++i)
    indices += std::string("[") + "ijkl"[i % 4] + "]";
  if (isFirstOfStatement())
    diagnostics_.report(arrayCall, syntax.where, syntax.names[0])
        .label(symbol->where, "declared here")
        .help("indices stand in square brackets: " + std::string(syntax.names[0]) + indices);
  return true;
}

ExpressionPtr Checker::call(const Expr& syntax) {
  std::string_view name = syntax.names[0];
  auto found = std::find_if(program_.externs.begin(), program_.externs.end(),
                            [&](const Extern& each) { return each.name == name; });
  if (found == program_.externs.end())
    return builtinCall(syntax);
  if (found->parameters.size() != syntax.operands.size()) {
    diagnostics_.report(argumentCount, syntax.where, name, found->parameters.size(), syntax.operands.size())
        .label(found->where, "declared here");
    return nullptr;
  }
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::Call;
  result->callee = &*found;
  result->type = found->result.value_or(ScalarType::Int);
  result->where = syntax.where;
  for (size_t i = 0; i < syntax.operands.size(); ++i) {
    ExpressionPtr argument = value(*syntax.operands[i]);
    if (!argument)
      return nullptr;
    result->operands.push_back(convert(std::move(argument), found->parameters[i]));
  }
  return result;
}

ExpressionPtr Checker::builtinCall(const Expr& syntax) {
  std::string_view name = syntax.names[0];
  const std::optional<Builtin> found = cfamily::findBuiltin(name);
  if (!found || std::ranges::find(builtins, *found) == std::end(builtins)) {
    if (refuseArrayCall(syntax))
      return nullptr;
    std::vector<std::string> candidates{"printf", "print", "bsg_finish"};
    for (Builtin each : builtins)
      candidates.emplace_back(builtinName(each));
    for (const Extern& each : program_.externs)
      candidates.push_back(each.name);
    if (std::find(candidates.begin(), candidates.end(), name) != candidates.end()) {
      diagnostics_.report(voidValue, syntax.where, name).help("write it as a statement of its own");
      return nullptr;
    }
    std::string near = nearestName(name, candidates);
    DiagnosticBuilder builder = diagnostics_.report(unknownFunction, syntax.where, name);
    if (!near.empty())
      builder.help("did you mean '" + near + "'?");
    if (tree_.form != Form::A)
      builder.help("functions of other languages are declared as 'extern f(x : int) : int;'");
    return nullptr;
  }
  if (cfamily::argumentsOf(*found) != syntax.operands.size()) {
    diagnostics_.report(argumentCount, syntax.where, name, cfamily::argumentsOf(*found), syntax.operands.size());
    return nullptr;
  }
  std::vector<ExpressionPtr> arguments;
  bool isFloat = !cfamily::takesIntegers(*found);
  for (const Expr* each : syntax.operands) {
    ExpressionPtr argument = value(*each);
    if (!argument)
      return nullptr;
    isFloat |= argument->type == ScalarType::Float;
    arguments.push_back(std::move(argument));
  }
  auto result = std::make_unique<Expression>();
  result->kind = ExpressionKind::BuiltinCall;
  result->builtin = *found;
  result->type = isFloat ? ScalarType::Float : ScalarType::Int;
  result->where = syntax.where;
  for (ExpressionPtr& argument : arguments)
    result->operands.push_back(convert(std::move(argument), result->type));
  return result;
}

} // namespace strata::hbir

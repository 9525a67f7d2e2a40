// Expressions that name things: variables, elements, members, calls, and conversions between types.
#include "base/source/nearest_name.h"
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

#include <algorithm>
#include <utility>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(arrayAsValue, Error, "sequoia-array-value", "array '{0}' is used as a value");
STRATA_DIAGNOSTIC(blockAsValue, Error, "sequoia-block-value",
                  "an array block can only be an argument of a task call or of copy");
STRATA_DIAGNOSTIC(rankMismatch, Error, "sequoia-index-count", "'{0}' has {1} dimensions, not {2}");
STRATA_DIAGNOSTIC(notAnArray, Error, "sequoia-not-array", "'{0}' is not an array");
STRATA_DIAGNOSTIC(notIndexable, Error, "sequoia-not-indexable", "this value of type '{0}' has no elements");
STRATA_DIAGNOSTIC(constantIndexRange, Error, "sequoia-index-range", "index {0} is outside of [0, {1})");
STRATA_DIAGNOSTIC(notARecord, Error, "sequoia-not-record", "a value of type '{0}' has no members");
STRATA_DIAGNOSTIC(unknownMember, Error, "sequoia-unknown-member", "'{0}' has no member named '{1}'");
STRATA_DIAGNOSTIC(memberArrayValue, Error, "sequoia-member-array",
                  "an array in a struct can only be used with an index");
STRATA_DIAGNOSTIC(wrongType, Error, "sequoia-type", "{0} has type '{1}', where '{2}' is needed");
STRATA_DIAGNOSTIC(needsInteger, Error, "sequoia-integer", "{0} has type '{1}', where an integer is needed");
STRATA_DIAGNOSTIC(needsConstant, Error, "sequoia-constant", "{0} is not a constant");
STRATA_DIAGNOSTIC(voidValue, Error, "sequoia-void-value", "this call returns nothing");
STRATA_DIAGNOSTIC(badCast, Error, "sequoia-cast", "a value of type '{0}' cannot be converted to '{1}'");
STRATA_DIAGNOSTIC(unknownFunction, Error, "sequoia-unknown-function", "no task or inline function named '{0}'");
STRATA_DIAGNOSTIC(functionLater, Error, "sequoia-function-order", "inline function '{0}' is defined after this call");
STRATA_DIAGNOSTIC(functionRecursion, Error, "sequoia-function-recursion", "inline function '{0}' calls itself");
STRATA_DIAGNOSTIC(argumentCount, Error, "sequoia-argument-count", "'{0}' takes {1} arguments, not {2}");
STRATA_DIAGNOSTIC(taskAsValue, Error, "sequoia-task-value", "a call of task '{0}' is a statement and has no value");
STRATA_DIAGNOSTIC(strayReduceArgument, Error, "sequoia-reducearg",
                  "reducearg can only be an argument of the task call of a mapreduce");
STRATA_DIAGNOSTIC(sizeofArray, Error, "sequoia-sizeof", "sizeof takes a scalar; '{0}' is an array");
STRATA_DIAGNOSTIC(forbiddenOperator, Error, "sequoia-pointer-operator",
                  "Sequoia has no pointers, and no operator '{0}'");

namespace {

constexpr const char* sizesAreParameters =
    "the number of elements is known by the name in the array's declaration: x[N] has N elements";

struct BuiltinFacts {
  Builtin builtin;
  bool single; // the f-suffixed form, which those have that take reals only
};

std::optional<BuiltinFacts> findFunction(std::string_view name) {
  if (const std::optional<Builtin> found = cfamily::findBuiltin(name))
    return BuiltinFacts{*found, false};
  if (name.ends_with('f'))
    if (const auto found = cfamily::findBuiltin(name.substr(0, name.size() - 1));
        found && !cfamily::takesIntegers(*found))
      return BuiltinFacts{*found, true};
  return std::nullopt;
}

} // namespace

Expr* Checker::wrong(Expr* expr) {
  expr->kind = ExprKind::Error;
  expr->type = program_.types.error();
  expr->operands.clear();
  expr->ranges.clear();
  return expr;
}

Expr* Checker::value(Expr* expr) {
  expr = valueOfAnyKind(expr);
  if (expr->type->isVoid()) {
    diagnostics_.report(voidValue, expr->location);
    return wrong(expr);
  }
  if (expr->type->isCArray()) {
    diagnostics_.report(memberArrayValue, expr->location);
    return wrong(expr);
  }
  return expr;
}

Expr* Checker::valueOfAnyKind(Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Name:
    return name(expr);
  case ExprKind::Subscript:
    return subscript(expr);
  case ExprKind::Member:
    return expr->type ? expr : member(expr);
  case ExprKind::Unary:
    return unary(expr);
  case ExprKind::Binary:
    return binary(expr);
  case ExprKind::Logical:
    return logical(expr);
  case ExprKind::Conditional:
    return conditional(expr);
  case ExprKind::Comma:
    expr->operands[0] = valueOfAnyKind(expr->operands[0]);
    expr->operands[1] = valueOfAnyKind(expr->operands[1]);
    expr->type = expr->operands[1]->type;
    return expr;
  case ExprKind::Assign:
    return assign(expr);
  case ExprKind::Increment:
    return increment(expr);
  case ExprKind::CallSyntax:
    return call(expr);
  case ExprKind::CastSyntax:
    return explicitCast(expr);
  case ExprKind::SizeofExpr:
  case ExprKind::SizeofType:
    return sizeofExpr(expr);
  case ExprKind::Forbidden:
    diagnostics_.report(forbiddenOperator, expr->location, expr->name)
        .help(expr->name == "->"  ? "a member of a struct is taken with '.'"
              : expr->name == "&" ? "a task gives results back through its out and inout arguments, which take no '&'"
                                  : "data lies in arrays, and an element is A[i]");
    return wrong(expr);
  case ExprKind::ReduceArgument:
    diagnostics_.report(strayReduceArgument, expr->location);
    return wrong(expr);
  default:
    return expr;
  }
}

Expr* Checker::name(Expr* expr) {
  const Symbol* symbol = find(expr->name);
  if (!symbol) {
    undeclared(expr->name, expr->location);
    return wrong(expr);
  }
  if (symbol->kind == Symbol::Kind::Enumerator) {
    expr->kind = ExprKind::Integer;
    expr->integer = static_cast<uint64_t>(symbol->value);
    expr->type = program_.types.integer();
    return expr;
  }
  if (symbol->kind == Symbol::Kind::Typedef) {
    undeclared(expr->name, expr->location);
    return wrong(expr);
  }
  if (symbol->variable->isArray()) {
    // "a = b + c" is one mistake.
    if (std::exchange(arrayStatement_, statement_) != statement_ || !statement_)
      diagnostics_.report(arrayAsValue, expr->location, expr->name)
          .help("an element is " + std::string(expr->name) +
                "[i]; whole arrays are arguments of task calls and of copy");
    return wrong(expr);
  }
  expr->kind = ExprKind::Variable;
  expr->variable = symbol->variable;
  expr->type = symbol->variable->type ? symbol->variable->type : program_.types.error();
  return expr;
}

Expr* Checker::subscript(Expr* expr) {
  // A[i][j] is a chain; the innermost base tells whether it is an array of the language or one within a struct.
  std::vector<Expr*> indices;
  Expr* base = expr;
  std::vector<Expr*> chain;
  for (; base->kind == ExprKind::Subscript; base = base->operands[0]) {
    if (!base->ranges.empty()) {
      diagnostics_.report(blockAsValue, expr->location);
      return wrong(expr);
    }
    chain.push_back(base);
    indices.insert(indices.begin(), base->operands[1]);
  }
  if (base->kind == ExprKind::Name) {
    const Symbol* symbol = find(base->name);
    if (!symbol) {
      undeclared(base->name, base->location);
      return wrong(expr);
    }
    if (symbol->kind == Symbol::Kind::Variable && symbol->variable->isArray()) {
      base->variable = symbol->variable;
      size_t rank = symbol->variable->extents.size();
      if (indices.size() >= rank) {
        // The subscripts beyond the rank, if any, index an element that cannot be indexed.
        Expr* inner = chain[indices.size() - rank];
        Expr* result = element(inner, base, {indices.begin(), indices.begin() + static_cast<ptrdiff_t>(rank)});
        if (indices.size() > rank) {
          diagnostics_.report(rankMismatch, expr->location, base->name, rank, indices.size());
          return wrong(expr);
        }
        return result;
      }
      diagnostics_.report(rankMismatch, expr->location, base->name, rank, indices.size());
      return wrong(expr);
    }
  }
  Expr* array = valueOfAnyKind(base);
  for (size_t i = chain.size(); i-- > 0;) {
    if (array->type->isError())
      return wrong(expr);
    if (!array->type->isCArray()) {
      if (array->kind == ExprKind::Variable)
        diagnostics_.report(notAnArray, array->location, array->variable->name);
      else
        diagnostics_.report(notIndexable, array->location, typeName(array->type));
      return wrong(expr);
    }
    Expr* step = chain[i];
    Expr* index = integerValue(value(step->operands[1]), "an index");
    if (auto constant = constantOf(index);
        constant && (*constant < 0 || static_cast<uint64_t>(*constant) >= array->type->count))
      diagnostics_.report(constantIndexRange, index->location, *constant, array->type->count);
    step->kind = ExprKind::MemberIndex;
    step->type = array->type->element;
    step->operands = {array, index};
    array = step;
  }
  return array;
}

Expr* Checker::element(Expr* expr, Expr* base, const std::vector<Expr*>& indices) {
  Variable* array = base->variable;
  expr->kind = ExprKind::Element;
  expr->variable = array;
  expr->type = array->type;
  expr->operands.clear();
  for (size_t i = 0; i < indices.size(); ++i) {
    Expr* index = integerValue(value(indices[i]), "an index");
    auto constant = constantOf(index);
    auto extent = constantOf(array->extents[i].expression);
    if (constant && (*constant < 0 || (extent && *constant >= *extent)))
      diagnostics_.report(constantIndexRange, index->location, *constant, extent ? std::to_string(*extent) : "N")
          .label(array->location, "declared here");
    expr->operands.push_back(index);
  }
  return expr;
}

Expr* Checker::member(Expr* expr) {
  Expr* record = valueOfAnyKind(expr->operands[0]);
  expr->operands[0] = record;
  if (record->type->isError())
    return wrong(expr);
  if (!record->type->isRecord()) {
    diagnostics_.report(notARecord, expr->location, typeName(record->type));
    return wrong(expr);
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < record->type->fields.size(); ++i) {
    if (record->type->fields[i].name == expr->name) {
      expr->fieldIndex = static_cast<uint32_t>(i);
      expr->type = record->type->fields[i].type;
      return expr;
    }
    names.push_back(record->type->fields[i].name);
  }
  DiagnosticBuilder builder = diagnostics_.report(unknownMember, expr->location, typeName(record->type), expr->name);
  builder.label(record->type->location, "the type");
  proposeName(builder, expr->name, names);
  return wrong(expr);
}

bool Checker::isFunction(std::string_view name) const {
  return functions_.contains(name) || findFunction(name);
}

Expr* Checker::call(Expr* expr) {
  if (tasks_.contains(expr->name)) {
    diagnostics_.report(taskAsValue, expr->location, expr->name)
        .help("give it an out argument for its result, and use the variable that is passed there");
    return wrong(expr);
  }
  auto found = functions_.find(expr->name);
  if (found == functions_.end())
    return builtinCall(expr);
  Function* function = found->second;
  if (function == function_) {
    diagnostics_.report(functionRecursion, expr->location, expr->name)
        .note("inline functions are expanded where they are called");
    return wrong(expr);
  }
  if (!definedFunctions_.contains(function)) {
    if (!reportedFunctions_.insert(expr->name).second)
      return wrong(expr);
    diagnostics_.report(functionLater, expr->location, expr->name).label(function->location, "defined here");
    return wrong(expr);
  }
  if (function->parameters.size() != expr->operands.size()) {
    diagnostics_.report(argumentCount, expr->location, expr->name, function->parameters.size(), expr->operands.size())
        .label(function->location, "defined here");
    return wrong(expr);
  }
  for (size_t i = 0; i < expr->operands.size(); ++i)
    expr->operands[i] = convertTo(value(expr->operands[i]), function->parameters[i]->type, "the argument");
  expr->kind = ExprKind::Call;
  expr->function = function;
  expr->type = function->result;
  return expr;
}

Expr* Checker::builtinCall(Expr* expr) {
  const std::optional<BuiltinFacts> facts = findFunction(expr->name);
  if (!facts) {
    if (!reportedFunctions_.insert(expr->name).second)
      return wrong(expr);
    std::vector<std::string> names;
    for (const auto& [name, task] : tasks_)
      names.emplace_back(name);
    for (const auto& [name, function] : functions_)
      names.emplace_back(name);
    for (unsigned number = 0; number < cfamily::builtinCount; ++number) {
      const Builtin builtin = static_cast<Builtin>(number);
      names.emplace_back(builtinName(builtin));
      if (!cfamily::takesIntegers(builtin))
        names.push_back(names.back() + "f");
    }
    std::sort(names.begin(), names.end());
    const Symbol* of = expr->operands.size() == 1 && expr->operands[0]->kind == ExprKind::Name
                           ? find(expr->operands[0]->name)
                           : nullptr;
    const bool asksSize = of && of->kind == Symbol::Kind::Variable && of->variable->isArray() &&
                          nearestName(expr->name, names).empty() && !find(expr->name);
    if (asksSize)
      diagnostics_.report(unknownFunction, expr->location, expr->name).help(sizesAreParameters);
    else
      reportNoTask(unknownFunction, expr->name, expr->location, names);
    return wrong(expr);
  }
  if (const unsigned wanted = cfamily::argumentsOf(facts->builtin); expr->operands.size() != wanted) {
    diagnostics_.report(argumentCount, expr->location, expr->name, wanted, expr->operands.size());
    return wrong(expr);
  }
  const Type* type = nullptr;
  for (Expr*& operand : expr->operands) {
    operand = value(operand);
    if (operand->type->isError())
      return wrong(expr);
    if (!operand->type->isArithmetic()) {
      diagnostics_.report(wrongType, operand->location, "the argument", typeName(operand->type), "float or double");
      return wrong(expr);
    }
    type = type ? program_.types.common(type, operand->type) : program_.types.promoted(operand->type);
  }
  if (facts->single)
    type = program_.types.get(TypeKind::Float);
  else if (!cfamily::takesIntegers(facts->builtin) && !type->isFloating())
    type = program_.types.get(TypeKind::Double);
  for (Expr*& operand : expr->operands)
    operand = convert(operand, type);
  expr->kind = ExprKind::BuiltinCall;
  expr->builtin = facts->builtin;
  expr->type = type;
  return expr;
}

Expr* Checker::explicitCast(Expr* expr) {
  const Type* type = resolve(expr->typeSyntax);
  Expr* operand = type->isVoid() ? valueOfAnyKind(expr->operands[0]) : value(expr->operands[0]);
  expr->operands[0] = operand;
  if (operand->type->isError() || type->isError())
    return wrong(expr);
  bool possible = type->isVoid() || (type->isArithmetic() && operand->type->isArithmetic()) || type == operand->type;
  if (!possible) {
    diagnostics_.report(badCast, expr->location, typeName(operand->type), typeName(type));
    return wrong(expr);
  }
  if (type == operand->type && type->isRecord())
    return operand;
  expr->kind = ExprKind::Cast;
  expr->type = type;
  fold(*expr);
  return expr;
}

Expr* Checker::sizeofExpr(Expr* expr) {
  const Type* type = nullptr;
  if (expr->kind == ExprKind::SizeofType) {
    type = objectType(expr->typeSyntax, expr->location);
  } else {
    Expr* operand = expr->operands[0];
    const Symbol* symbol = operand->kind == ExprKind::Name ? find(operand->name) : nullptr;
    if (symbol && symbol->kind == Symbol::Kind::Variable && symbol->variable->isArray()) {
      diagnostics_.report(sizeofArray, expr->location, operand->name).help(sizesAreParameters);
      return wrong(expr);
    }
    type = valueOfAnyKind(operand)->type;
    if (type->isVoid()) {
      diagnostics_.report(voidValue, operand->location);
      return wrong(expr);
    }
  }
  if (type->isError())
    return wrong(expr);
  expr->kind = ExprKind::Integer;
  expr->operands.clear();
  expr->integer = type->size;
  expr->type = program_.types.get(TypeKind::UnsignedLong);
  return expr;
}

Expr* Checker::convert(Expr* expr, const Type* type) {
  if (expr->type == type || expr->type->isError() || type->isError())
    return expr;
  Expr* cast = program_.newExpr(ExprKind::Cast, expr->location);
  cast->operands = {expr};
  cast->type = type;
  cast->isImplicit = true;
  cast->depth = static_cast<uint16_t>(expr->depth + 1);
  fold(*cast);
  return cast;
}

Expr* Checker::convertTo(Expr* expr, const Type* type, std::string_view what) {
  if (expr->type == type || expr->type->isError() || type->isError())
    return expr;
  if (expr->type->isArithmetic() && type->isArithmetic())
    return convert(expr, type);
  diagnostics_.report(wrongType, expr->location, what, typeName(expr->type), typeName(type));
  return wrong(expr);
}

Expr* Checker::integerValue(Expr* expr, std::string_view what) {
  if (expr->type->isError() || expr->type->isInteger())
    return expr;
  diagnostics_.report(needsInteger, expr->location, what, typeName(expr->type));
  return wrong(expr);
}

Expr* Checker::longValue(Expr* expr, std::string_view what) {
  return convert(integerValue(value(expr), what), program_.types.longInteger());
}

std::optional<int64_t> Checker::constantInteger(Expr* expr, std::string_view what) {
  Expr* checked = integerValue(value(expr), what);
  if (checked->type->isError())
    return std::nullopt;
  std::optional<int64_t> constant = constantOf(checked);
  if (!constant)
    diagnostics_.report(needsConstant, expr->location, what);
  return constant;
}

bool Checker::isParameterExpression(const Expr* expr) const {
  switch (expr->kind) {
  case ExprKind::Integer:
  case ExprKind::Real:
  case ExprKind::Error:
    return true;
  case ExprKind::Variable:
    return expr->variable->kind == VariableKind::SizeParameter || expr->variable->kind == VariableKind::Tunable;
  case ExprKind::Unary:
  case ExprKind::Binary:
  case ExprKind::Logical:
  case ExprKind::Conditional:
  case ExprKind::Cast:
  case ExprKind::BuiltinCall: {
    for (const Expr* operand : expr->operands)
      if (!isParameterExpression(operand))
        return false;
    return true;
  }
  default:
    return false;
  }
}

} // namespace strata::sequoia

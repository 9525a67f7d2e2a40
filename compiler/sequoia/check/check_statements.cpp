// Bodies: declarations, C's statements, and which of them a task of which kind may have.
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(strayBreak, Error, "sequoia-break", "'{0}' stands outside of a loop{1}");
STRATA_DIAGNOSTIC(returnInTask, Error, "sequoia-return",
                  "a task ends at the end of its body; 'return' is for inline functions");
STRATA_DIAGNOSTIC(returnValue, Error, "sequoia-return-value", "'{0}' returns {1}");
STRATA_DIAGNOSTIC(missingReturn, Warning, "sequoia-missing-return", "'{0}' may end without a return");
STRATA_DIAGNOSTIC(caseOutside, Error, "sequoia-case", "a case label must stand directly in the braces of a switch");
STRATA_DIAGNOSTIC(duplicateCase, Error, "sequoia-duplicate-case", "two labels for {0} in one switch");
STRATA_DIAGNOSTIC(beforeCase, Error, "sequoia-before-case",
                  "this statement stands before the first case label and never runs");
STRATA_DIAGNOSTIC(arrayInitializer, Error, "sequoia-array-initializer",
                  "array '{0}' cannot have one value as its initial value");
STRATA_DIAGNOSTIC(localExtent, Error, "sequoia-array-size",
                  "the size of a local array is an expression over constants, size parameters and tunables");
STRATA_DIAGNOSTIC(localExtentNegative, Error, "sequoia-array-size-negative", "the size of '{0}' would be {1}");
STRATA_DIAGNOSTIC(localDimensions, Error, "sequoia-local-dimensions",
                  "'{0}' has {1} dimensions; an array has at most 9");
STRATA_DIAGNOSTIC(functionOnlyC, Error, "sequoia-function-extension", "an inline function cannot have {0}");
STRATA_DIAGNOSTIC(constUninitialized, Error, "sequoia-const-uninitialized", "const '{0}' needs an initial value");
STRATA_DIAGNOSTIC(noEffect, Warning, "sequoia-no-effect", "this statement has no effect");

namespace {

bool hasEffect(const Expr* expr) {
  switch (expr->kind) {
  case ExprKind::Assign:
  case ExprKind::Increment:
  case ExprKind::Call:
  case ExprKind::Error:
    return true;
  default:
    return std::any_of(expr->operands.begin(), expr->operands.end(), hasEffect);
  }
}

/// Whether every path through the statement ends in a return (or never ends).
bool returns(const Stmt* stmt) {
  switch (stmt->kind) {
  case StmtKind::Return:
    return true;
  case StmtKind::Compound:
    return std::any_of(stmt->statements.begin(), stmt->statements.end(), returns);
  case StmtKind::If:
    return stmt->otherwise && returns(stmt->body) && returns(stmt->otherwise);
  case StmtKind::Switch: {
    bool hasDefault = false;
    for (const SwitchSection& section : stmt->sections)
      hasDefault |= section.isDefault;
    return hasDefault &&
           std::any_of(stmt->sections.back().statements.begin(), stmt->sections.back().statements.end(), returns);
  }
  case StmtKind::For:
    return !stmt->expression;
  case StmtKind::DoWhile:
    return returns(stmt->body);
  default:
    return false;
  }
}

} // namespace

void Checker::functionBody(Function& function) {
  ScopeGuard scope(*this);
  reportedNames_.clear();
  function_ = &function;
  for (Variable* parameter : function.parameters) {
    Symbol symbol;
    symbol.variable = parameter;
    symbol.location = parameter->location;
    declare(parameter->name, symbol);
  }
  for (Stmt*& each : function.body->statements)
    statement(each);
  if (!function.result->isVoid() && !returns(function.body))
    diagnostics_.report(missingReturn, function.location, function.name);
  function_ = nullptr;
  definedFunctions_.insert(&function);
}

void Checker::taskBody(TaskVariant& variant) {
  if (!variant.body)
    return;
  // The parameters' own scope was closed after the signature; it opens again here.
  ScopeGuard scope(*this);
  reportedNames_.clear();
  for (const std::vector<Variable*>* list : {&variant.parameters, &variant.sizeParameters}) {
    for (Variable* parameter : *list) {
      Symbol symbol;
      symbol.variable = parameter;
      symbol.location = parameter->location;
      scopes_.back().names.emplace(parameter->name, symbol);
    }
  }
  variant_ = &variant;
  lexnums_.clear();
  for (const std::vector<Variable*>* list : {&variant.arrays, &variant.scalars})
    for (const Variable* parameter : *list)
      nextLexnum(list, parameter->name);
  for (Stmt*& each : variant.body->statements)
    statement(each);
  variant_ = nullptr;
}

Expr* Checker::condition(Expr* expr) {
  expr = value(expr);
  if (!expr->type->isError() && !expr->type->isArithmetic())
    return integerValue(expr, "a condition");
  return expr;
}

void Checker::statement(Stmt*& stmt) {
  statement_ = stmt;
  switch (stmt->kind) {
  case StmtKind::Empty:
    return;
  case StmtKind::Expression:
    return expressionStatement(stmt);
  case StmtKind::Declaration:
    return declaration(*stmt);
  case StmtKind::Compound: {
    ScopeGuard scope(*this);
    for (Stmt*& each : stmt->statements)
      statement(each);
    return;
  }
  case StmtKind::If: {
    stmt->expression = condition(stmt->expression);
    ScopeGuard scope(*this);
    statement(stmt->body);
    if (stmt->otherwise)
      statement(stmt->otherwise);
    return;
  }
  case StmtKind::While:
  case StmtKind::DoWhile:
  case StmtKind::For: {
    ScopeGuard scope(*this);
    if (stmt->initial)
      statement(stmt->initial);
    if (stmt->expression)
      stmt->expression = condition(stmt->expression);
    if (stmt->step)
      stmt->step = valueOfAnyKind(stmt->step);
    ++loops_;
    statement(stmt->body);
    --loops_;
    return;
  }
  case StmtKind::Switch:
    return switchStatement(*stmt);
  case StmtKind::Break:
    if (loops_ == 0 && switches_ == 0)
      diagnostics_.report(strayBreak, stmt->location, "break", " or switch");
    return;
  case StmtKind::Continue:
    if (loops_ == 0)
      diagnostics_.report(strayBreak, stmt->location, "continue", "");
    return;
  case StmtKind::Return:
    return returnStatement(*stmt);
  case StmtKind::Copy:
    return copyStatement(*stmt);
  case StmtKind::Map:
    return mapStatement(*stmt);
  case StmtKind::CaseLabel:
    diagnostics_.report(caseOutside, stmt->location);
    stmt->kind = StmtKind::Empty;
    return;
  case StmtKind::TaskCall:
    return;
  }
}

void Checker::declaration(Stmt& stmt) {
  if (!stmt.typedefs.empty())
    declareTypedefs(stmt.typedefs[0].type, stmt.typedefs);
  for (Variable* variable : stmt.variables) {
    if (variable->kind == VariableKind::Tunable)
      tunable(*variable);
    else if (variable->name.empty())
      resolve(variable->typeSyntax);
    else
      localVariable(*variable);
  }
  std::erase_if(stmt.variables, [](const Variable* variable) { return variable->name.empty(); });
}

void Checker::tunable(Variable& variable) {
  variable.type = program_.types.longInteger();
  if (!variant_) {
    diagnostics_.report(functionOnlyC, variable.location, "tunables");
  } else {
    variable.lexnum = nextLexnum(&variant_->tunables, variable.name);
    variable.index = static_cast<uint32_t>(variant_->tunables.size());
    variant_->tunables.push_back(&variable);
  }
  Symbol symbol;
  symbol.variable = &variable;
  symbol.location = variable.location;
  declare(variable.name, symbol);
}

void Checker::localVariable(Variable& variable) {
  variable.type = objectType(variable.typeSyntax, variable.location);
  if (variable.extents.size() > 9) {
    diagnostics_.report(localDimensions, variable.location, variable.name, variable.extents.size());
    variable.extents.resize(9);
  }
  for (Extent& extent : variable.extents) {
    extent.expression = longValue(extent.expression, "the size of an array");
    if (!isParameterExpression(extent.expression))
      diagnostics_.report(localExtent, extent.expression->location)
          .note("the space it takes must be known before the task runs");
    else if (auto size = constantOf(extent.expression); size && *size < 0)
      diagnostics_.report(localExtentNegative, extent.expression->location, variable.name, *size);
  }
  if (variable.initializer) {
    if (variable.initializer->kind == ExprKind::Braces) {
      initialValues(variable);
    } else if (variable.isArray()) {
      diagnostics_.report(arrayInitializer, variable.initializer->location, variable.name)
          .help("give the elements' values in braces, or write them in a loop");
      variable.initializer = nullptr;
    } else {
      variable.initializer = convertTo(value(variable.initializer), variable.type, "the initial value");
    }
  } else if (variable.isConst && !variable.isArray()) {
    diagnostics_.report(constUninitialized, variable.location, variable.name);
  }
  if (!variant_ && variable.isArray())
    diagnostics_.report(functionOnlyC, variable.location, "arrays");
  if (variant_) {
    std::vector<Variable*>& list = variable.isArray() ? variant_->arrays : variant_->scalars;
    variable.lexnum = nextLexnum(&list, variable.name);
    variable.index = static_cast<uint32_t>(list.size());
    list.push_back(&variable);
  }
  Symbol symbol;
  symbol.variable = &variable;
  symbol.location = variable.location;
  declare(variable.name, symbol);
}

void Checker::switchStatement(Stmt& stmt) {
  stmt.expression = integerValue(value(stmt.expression), "the value of a switch");
  const Type* type = program_.types.promoted(stmt.expression->type);
  stmt.expression = convert(stmt.expression, type);
  ScopeGuard scope(*this);
  ++switches_;
  std::set<int64_t> seen;
  const Stmt* seenDefault = nullptr;
  bool afterLabel = false;
  for (Stmt*& each : stmt.statements) {
    if (each->kind != StmtKind::CaseLabel) {
      if (stmt.sections.empty()) {
        diagnostics_.report(beforeCase, each->location);
        stmt.sections.emplace_back();
      }
      statement(each);
      if (!stmt.sections.empty())
        stmt.sections.back().statements.push_back(each);
      afterLabel = false;
      continue;
    }
    if (!afterLabel) {
      stmt.sections.emplace_back();
      stmt.sections.back().location = each->location;
      afterLabel = true;
    }
    SwitchSection& section = stmt.sections.back();
    if (!each->expression) {
      if (seenDefault)
        diagnostics_.report(duplicateCase, each->location, "default").label(seenDefault->location, "first here");
      seenDefault = each;
      section.isDefault = true;
    } else if (auto constant = constantInteger(each->expression, "a case label"); constant && type->isInteger()) {
      int64_t wrapped = static_cast<int64_t>(cfamily::wrapped(static_cast<uint64_t>(*constant), type->scalar()));
      if (!seen.insert(wrapped).second)
        diagnostics_.report(duplicateCase, each->location, wrapped);
      section.values.push_back(wrapped);
    }
  }
  --switches_;
  stmt.statements.clear();
}

void Checker::returnStatement(Stmt& stmt) {
  if (!function_) {
    DiagnosticBuilder report = diagnostics_.report(returnInTask, stmt.location);
    if (stmt.expression) {
      report.help("results go to out arguments: write them there");
      stmt.expression = wrong(stmt.expression);
    }
    return;
  }
  const Type* result = function_->result;
  if (stmt.expression)
    stmt.expression = value(stmt.expression);
  if (stmt.expression && result->isVoid())
    diagnostics_.report(returnValue, stmt.location, function_->name, "nothing");
  else if (!stmt.expression && !result->isVoid())
    diagnostics_.report(returnValue, stmt.location, function_->name, typeName(result));
  else if (stmt.expression)
    stmt.expression = convertTo(stmt.expression, result, "the returned value");
}

void Checker::expressionStatement(Stmt*& stmt) {
  Expr* expr = stmt->expression;
  if (expr->kind == ExprKind::CallSyntax) {
    if (auto task = tasks_.find(expr->name); task != tasks_.end()) {
      taskCall(*stmt, *task->second);
      return;
    }
  }
  stmt->expression = valueOfAnyKind(expr);
  if (!hasEffect(stmt->expression))
    diagnostics_.report(noEffect, stmt->location);
}

} // namespace strata::sequoia

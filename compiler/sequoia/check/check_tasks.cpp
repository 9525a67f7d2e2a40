// Task calls, their arguments, and the iteration statements around them.
#include "base/source/nearest_name.h"
#include "compiler/sequoia/check/block.h"
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

#include <algorithm>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(innerOnly, Error, "sequoia-inner-only", "{0} cannot be used in {1}; only an inner task can");
STRATA_DIAGNOSTIC(taskArgumentCount, Error, "sequoia-task-arguments", "task '{0}' takes {1} arguments, not {2}");
STRATA_DIAGNOSTIC(elementTypes, Error, "sequoia-element-type",
                  "'{0}' has elements of type '{1}'; argument '{2}' of task '{3}' takes '{4}'");
STRATA_DIAGNOSTIC(argumentRank, Error, "sequoia-argument-rank",
                  "'{0}' has {1} dimensions; argument '{2}' of task '{3}' has {4}");
STRATA_DIAGNOSTIC(argumentExtent, Error, "sequoia-argument-extent",
                  "{0} elements in dimension {1}; argument '{2}' of task '{3}' takes {4}");
STRATA_DIAGNOSTIC(scalarNeeded, Error, "sequoia-scalar-argument", "argument '{0}' of task '{1}' is a scalar");
STRATA_DIAGNOSTIC(variableNeeded, Error, "sequoia-out-variable",
                  "argument '{0}' of task '{1}' is {2}, and needs a scalar variable");
STRATA_DIAGNOSTIC(outType, Error, "sequoia-out-type",
                  "'{0}' has type '{1}'; {2} argument '{3}' of task '{4}' needs exactly '{5}'");
STRATA_DIAGNOSTIC(scalarAlias, Error, "sequoia-scalar-alias", "scalar '{0}' is passed twice, and once for writing");
STRATA_DIAGNOSTIC(parallelScalar, Error, "sequoia-parallel-scalar",
                  "'{0}' is an {1} scalar of task '{2}', called in a {3}");
STRATA_DIAGNOSTIC(parallelWrite, Error, "sequoia-parallel-write",
                  "'{0}' is written in {1} of a {2}, whose iterations have no order");
STRATA_DIAGNOSTIC(reduceOutside, Error, "sequoia-reducearg-outside", "reducearg stands outside of a mapreduce");
STRATA_DIAGNOSTIC(reduceMissing, Error, "sequoia-mapreduce-reducearg", "a mapreduce needs at least one reducearg");
STRATA_DIAGNOSTIC(reduceDirection, Error, "sequoia-reducearg-inout",
                  "argument '{0}' of task '{1}' is reduced, but is {2} and not inout");
STRATA_DIAGNOSTIC(unknownCombiner, Error, "sequoia-combiner-unknown", "no task named '{0}' to combine with");
STRATA_DIAGNOSTIC(combinerSignature, Error, "sequoia-combiner-signature",
                  "combining task '{0}' does not take (in T, inout T) for the reduced argument: {1}");
STRATA_DIAGNOSTIC(loopVariableType, Error, "sequoia-loop-variable",
                  "loop variable '{0}' has type '{1}', not an integer type");
STRATA_DIAGNOSTIC(boundDoesNotFit, Error, "sequoia-range-bound", "loop variable '{0}' of type '{1}' cannot hold {2}");
STRATA_DIAGNOSTIC(iterationAlias, Warning, "sequoia-iteration-alias",
                  "every iteration of '{0}' writes the same block of '{1}'");
STRATA_DIAGNOSTIC(iterationAliasError, Error, "sequoia-iteration-overlap",
                  "all {0} iterations of '{1}' write the same block of '{2}'");
STRATA_DIAGNOSTIC(iterationShares, Warning, "sequoia-iteration-shares",
                  "iterations of '{0}' that are {1} apart share elements of '{2}', and one of them writes these");
STRATA_DIAGNOSTIC(iterationSharesError, Error, "sequoia-iteration-sharing",
                  "of the {0} iterations of '{1}', those that are {2} apart share elements of '{3}', and one of them "
                  "writes these");
STRATA_DIAGNOSTIC(noSuchTask, Error, "sequoia-unknown-task", "no task named '{0}'");
STRATA_DIAGNOSTIC(iterationCallsFunction, Error, "sequoia-iteration-function",
                  "'{0}' is a function, and the body of {1} calls a task");
STRATA_DIAGNOSTIC(reduceVaries, Error, "sequoia-reduce-varies",
                  "the reduced block of '{0}' changes from iteration to iteration of '{1}'");

/// The first part of an expression or a block that writes a variable; null when none does.
static const Expr* writingPart(const Expr* expr) {
  if (!expr)
    return nullptr;
  if (expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment)
    return expr;
  for (const Expr* operand : expr->operands)
    if (const Expr* found = writingPart(operand))
      return found;
  for (const BlockRange& range : expr->ranges)
    for (const Expr* part : {range.start, range.end, range.stride, range.max})
      if (const Expr* found = writingPart(part))
        return found;
  return nullptr;
}

/// What an assignment or increment writes, by name.
static std::string_view writtenName(const Expr* expr) {
  while (!expr->variable && !expr->operands.empty())
    expr = expr->operands[0];
  return expr->variable ? expr->variable->name : "a variable";
}

void Checker::checkIterationWrites(const Expr* expr, const char* where) {
  const Expr* written = writingPart(expr);
  auto loop = std::find_if(maps_.begin(), maps_.end(), [](const Loop* each) { return each->kind != MapKind::Seq; });
  if (!written || loop == maps_.end())
    return;
  diagnostics_.report(parallelWrite, written->location, writtenName(written), where, mapText((*loop)->kind))
      .label((*loop)->location, "its iterations run in parallel")
      .help("write it before the loop, or use mapseq");
}

std::vector<std::string> Checker::taskNames() const {
  std::vector<std::string> names;
  for (const Task& task : program_.tasks)
    names.emplace_back(task.name);
  return names;
}

void Checker::reportNoTask(const DiagnosticKind& kind, std::string_view name, const Location& where,
                           const std::vector<std::string>& names) {
  DiagnosticBuilder report = diagnostics_.report(kind, where, name);
  if (const Symbol* symbol = find(name);
      symbol && symbol->kind == Symbol::Kind::Variable && symbol->variable->isArray()) {
    report.label(symbol->location, "an array").help("indices stand in square brackets: " + std::string(name) + "[i]");
    return;
  }
  for (const Task& task : program_.tasks)
    if (const TaskVariant* variant = task.find(name)) {
      report.label(variant->location, "a variant of task '" + std::string(task.name) + "'")
          .help("call the task, '" + std::string(task.name) + "'; the mapping says which variant that is");
      return;
    }
  proposeName(report, name, names);
}

bool Checker::requireInner(std::string_view what, const Location& where) {
  if (variant_ && variant_->kind == TaskKind::Inner)
    return true;
  diagnostics_.report(innerOnly, where, what, variant_ ? "a leaf task" : "an inline function");
  return false;
}

Callsite* Checker::addCallsite(Task& callee, bool isCombiner, Stmt& stmt, const Location& where) {
  Callsite* site = program_.newCallsite();
  site->callee = &callee;
  site->isCombiner = isCombiner;
  site->loop = maps_.empty() ? nullptr : maps_.back();
  site->statement = &stmt;
  site->location = where;
  site->index = static_cast<uint32_t>(variant_->callsites.size());
  site->lexnum = nextLexnum(&variant_->callsites, callee.name);
  variant_->callsites.push_back(site);
  return site;
}

Expr* Checker::rangeBound(const Loop& loop, Expr* bound, std::string_view what, const Type* type) {
  const Expr* given = integerValue(bound, what);
  Expr* converted = convert(bound, type);
  // Conversions of constants are folded; of other values they are checked when the program runs.
  auto before = constantOf(given), after = constantOf(converted);
  const bool isHuge = before && *before < 0 && !given->type->isSigned();
  if (before && after && (*before != *after || isHuge != (*after < 0 && !type->isSigned()))) {
    const std::string number = isHuge ? std::to_string(static_cast<uint64_t>(*before)) : std::to_string(*before);
    diagnostics_.report(boundDoesNotFit, bound->location, loop.variableName, typeName(type), number)
        .label(loop.variableLocation, "declared here")
        .help(*before < 0 && !isHuge ? "declare it with a signed type, such as long"
                                     : "declare it with a wider type, such as long");
  }
  return converted;
}

void Checker::mapStatement(Stmt& stmt) {
  Loop& loop = *stmt.loop;
  if (!requireInner(mapText(loop.kind), stmt.location))
    return;
  ScopeGuard scope(*this);
  const Type* type = objectType(loop.typeSyntax, loop.variableLocation);
  if (!type->isInteger() && !type->isError()) {
    diagnostics_.report(loopVariableType, loop.variableLocation, loop.variableName, typeName(type));
    type = program_.types.error();
  }
  // The bounds are outside of the scope of the loop's own variable.
  loop.start = rangeBound(loop, value(loop.start), "the first value of a range", type);
  loop.end = rangeBound(loop, value(loop.end), "the end of a range", type);
  checkIterationWrites(loop.start, "a bound of an iteration inside");
  checkIterationWrites(loop.end, "a bound of an iteration inside");
  Variable* variable = program_.newVariable();
  variable->name = loop.variableName;
  variable->location = loop.variableLocation;
  variable->kind = VariableKind::LoopVariable;
  variable->type = type;
  loop.variable = variable;
  loop.parent = maps_.empty() ? nullptr : maps_.back();
  loop.index = static_cast<uint32_t>(variant_->loops.size());
  loop.lexnum = nextLexnum(&variant_->loops, loop.variableName);
  variable->lexnum = loop.lexnum;
  variable->index = loop.index;
  variant_->loops.push_back(&loop);
  Symbol symbol;
  symbol.variable = variable;
  symbol.location = variable->location;
  declare(variable->name, symbol);
  maps_.push_back(&loop);
  if (stmt.body->kind == StmtKind::Expression && stmt.body->expression->kind == ExprKind::CallSyntax &&
      !tasks_.contains(stmt.body->expression->name)) {
    // An iteration calls a task; say so rather than look for a function.
    const Expr& call = *stmt.body->expression;
    if (isFunction(call.name))
      diagnostics_.report(iterationCallsFunction, call.location, call.name, mapText(loop.kind))
          .help("call it in a leaf task, and that task here");
    else if (reportedFunctions_.insert(call.name).second)
      reportNoTask(noSuchTask, call.name, call.location, taskNames());
    stmt.body->kind = StmtKind::Empty;
  } else {
    statement(stmt.body);
  }
  maps_.pop_back();
}

void Checker::taskCall(Stmt& stmt, Task& task) {
  Expr* call = stmt.expression;
  if (!requireInner("a task call", stmt.location))
    return;
  const TaskVariant* signature = task.prototype ? task.prototype : task.variants[0];
  if (call->operands.size() != signature->parameters.size()) {
    diagnostics_
        .report(taskArgumentCount, stmt.location, task.name, signature->parameters.size(), call->operands.size())
        .label(signature->location, "declared here");
    return;
  }
  stmt.kind = StmtKind::TaskCall;
  stmt.callsite = addCallsite(task, false, stmt, call->location);
  stmt.expression = nullptr;
  const bool reduces = std::any_of(call->operands.begin(), call->operands.end(),
                                   [](const Expr* operand) { return operand->kind == ExprKind::ReduceArgument; });
  lacksReduction_ = !maps_.empty() && maps_.back()->kind == MapKind::Reduce && !reduces;
  if (lacksReduction_)
    diagnostics_.report(reduceMissing, stmt.location).help("write reducearg<argument, Combiner>, or make it a mappar");
  for (size_t i = 0; i < call->operands.size(); ++i)
    stmt.arguments.push_back(taskArgument(call->operands[i], *signature->parameters[i], stmt));
  for (const Argument& argument : stmt.arguments)
    checkIterationWrites(argument.value, "an argument of the call");
  checkScalarAliases(stmt);
  checkBlockAliases(stmt);
  checkIterationAliases(stmt);
}

Argument Checker::taskArgument(Expr* value, const Variable& parameter, Stmt& call) {
  const Task& task = *call.callsite->callee;
  Argument argument;
  argument.direction = parameter.direction;
  Expr* combiner = nullptr;
  if (value->kind == ExprKind::ReduceArgument) {
    combiner = value->operands[1];
    value = value->operands[0];
  }
  argument.value = parameter.isArray() ? arrayArgument(value, parameter, task) : scalarArgument(value, parameter, task);
  if (combiner) {
    reduceArgument(argument, combiner, parameter, call);
  } else if (!parameter.isArray() && parameter.direction != Direction::In) {
    for (const Loop* loop : maps_) {
      if (loop->kind == MapKind::Seq || (lacksReduction_ && loop == maps_.back()))
        continue;
      diagnostics_
          .report(parallelScalar, value->location, parameter.name, directionText(parameter.direction), task.name,
                  mapText(loop->kind))
          .label(loop->location, "its iterations run in parallel")
          .help("use mapseq, or reduce the scalar with mapreduce and reducearg");
      break;
    }
  }
  return argument;
}

Expr* Checker::scalarArgument(Expr* argument, const Variable& parameter, const Task& task) {
  const Symbol* symbol = argument->kind == ExprKind::Name ? find(argument->name) : nullptr;
  bool isArray = symbol && symbol->kind == Symbol::Kind::Variable && symbol->variable->isArray();
  if (isArray || (argument->kind == ExprKind::Subscript && !argument->ranges.empty())) {
    diagnostics_.report(scalarNeeded, argument->location, parameter.name, task.name)
        .label(parameter.location, "declared here");
    return wrong(argument);
  }
  bool isName = argument->kind == ExprKind::Name;
  argument = value(argument);
  if (parameter.direction == Direction::In)
    return convertTo(argument, parameter.type, "the argument");
  if (argument->type->isError())
    return argument;
  if (!isName || argument->kind != ExprKind::Variable) {
    diagnostics_
        .report(variableNeeded, argument->location, parameter.name, task.name, directionText(parameter.direction))
        .label(parameter.location, "declared here");
    return wrong(argument);
  }
  if (!writable(argument, "written by a task"))
    return wrong(argument);
  if (argument->type != parameter.type && !parameter.type->isError()) {
    diagnostics_
        .report(outType, argument->location, argument->variable->name, typeName(argument->type),
                directionText(parameter.direction), parameter.name, task.name, typeName(parameter.type))
        .label(parameter.location, "declared here");
    return wrong(argument);
  }
  return argument;
}

Expr* Checker::arrayArgument(Expr* argument, const Variable& parameter, const Task& task) {
  Expr* blockExpr = block(argument);
  if (!blockExpr)
    return wrong(argument);
  Variable& array = *blockExpr->variable;
  if (parameter.direction != Direction::In) {
    std::string how = "passed to " + std::string(directionText(parameter.direction)) + " argument '" +
                      std::string(parameter.name) + "' of task '" + std::string(task.name) + "'";
    if (!checkArrayWritable(array, argument->location, how))
      return wrong(argument);
    array.isAssigned = true;
  }
  if (array.type != parameter.type && !array.type->isError() && !parameter.type->isError())
    diagnostics_
        .report(elementTypes, argument->location, array.name, typeName(array.type), parameter.name, task.name,
                typeName(parameter.type))
        .label(parameter.location, "declared here");
  if (array.extents.size() != parameter.extents.size()) {
    diagnostics_
        .report(argumentRank, argument->location, array.name, array.extents.size(), parameter.name, task.name,
                parameter.extents.size())
        .label(parameter.location, "declared here");
    return wrong(argument);
  }
  for (size_t i = 0; i < parameter.extents.size(); ++i) {
    auto have = staticCount(*blockExpr, i);
    auto need = constantOf(parameter.extents[i].expression);
    if (have && need && *have != *need)
      diagnostics_.report(argumentExtent, argument->location, *have, i, parameter.name, task.name, *need)
          .label(parameter.location, "declared here");
  }
  return blockExpr;
}

void Checker::reduceArgument(Argument& argument, Expr* combinerName, const Variable& parameter, Stmt& call) {
  Task& task = *call.callsite->callee;
  if (maps_.empty() || maps_.back()->kind != MapKind::Reduce) {
    diagnostics_.report(reduceOutside, combinerName->location);
    return;
  }
  if (parameter.direction != Direction::InOut)
    diagnostics_
        .report(reduceDirection, combinerName->location, parameter.name, task.name, directionText(parameter.direction))
        .label(parameter.location, "declared here");
  if (!parameter.isArray()) {
    for (const Loop* loop : maps_) {
      if (loop->kind == MapKind::Par)
        diagnostics_
            .report(parallelScalar, argument.value->location, parameter.name, directionText(parameter.direction),
                    task.name, mapText(loop->kind))
            .label(loop->location, "its iterations run in parallel")
            .help("make the outer loop a mapseq");
    }
  }
  auto found = tasks_.find(combinerName->name);
  if (found == tasks_.end()) {
    if (isFunction(combinerName->name))
      diagnostics_.report(unknownCombiner, combinerName->location, combinerName->name)
          .help("'" + std::string(combinerName->name) +
                "' is a function; a combiner is a task with the arguments (in T, inout T)");
    else
      reportNoTask(unknownCombiner, combinerName->name, combinerName->location, taskNames());
    return;
  }
  Task& combiner = *found->second;
  const TaskVariant* signature = combiner.prototype ? combiner.prototype : combiner.variants[0];
  std::string problem;
  if (signature->parameters.size() != 2) {
    problem = "it takes " + std::to_string(signature->parameters.size()) + " arguments";
  } else {
    static constexpr Direction wanted[] = {Direction::In, Direction::InOut};
    for (size_t i = 0; i < 2 && problem.empty(); ++i) {
      const Variable& each = *signature->parameters[i];
      std::string which = i == 0 ? "its first argument " : "its second argument ";
      if (each.direction != wanted[i])
        problem = which + "is " + directionText(each.direction);
      else if (each.type != parameter.type)
        problem = which + "has elements of type '" + typeName(each.type) + "', not '" + typeName(parameter.type) + "'";
      else if (each.extents.size() != parameter.extents.size())
        problem = which + "has " + std::to_string(each.extents.size()) + " dimensions, not " +
                  std::to_string(parameter.extents.size());
    }
  }
  if (!problem.empty()) {
    diagnostics_.report(combinerSignature, combinerName->location, combiner.name, problem)
        .label(signature->location, "declared here")
        .label(parameter.location, "the reduced argument");
    return;
  }
  if (mentions(argument.value, maps_.back()->variable)) {
    diagnostics_
        .report(reduceVaries, argument.value->location, argument.value->variable->name, maps_.back()->variableName)
        .label(maps_.back()->location, "the iterations whose results are combined")
        .note("there is nothing to combine when each iteration has a block of its own")
        .help("reduce a block that all iterations share, or pass the block without reducearg in a mappar");
    return;
  }
  argument.combiner = addCallsite(combiner, true, call, combinerName->location);
}

void Checker::checkScalarAliases(const Stmt& call) {
  // A variable that is only converted to the argument's type is passed all the same.
  auto passed = [&](size_t position) {
    const Expr* value = call.arguments[position].value;
    while (value->kind == ExprKind::Cast && value->isImplicit)
      value = value->operands[0];
    return value;
  };
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    const Expr* first = passed(i);
    if (first->kind != ExprKind::Variable)
      continue;
    for (size_t j = i + 1; j < call.arguments.size(); ++j) {
      // The in argument may be an expression that reads the variable; then its value is copied in before the call.
      const Expr* second = passed(j);
      bool writes = call.arguments[i].direction != Direction::In || call.arguments[j].direction != Direction::In;
      if (second->kind == ExprKind::Variable && second->variable == first->variable && writes)
        diagnostics_.report(scalarAlias, second->location, first->variable->name).label(first->location, "and here");
    }
  }
}

void Checker::checkIterationAliases(const Stmt& call) {
  const bool reduces = std::any_of(call.arguments.begin(), call.arguments.end(),
                                   [](const Argument& each) { return bool(each.combiner); });
  for (const Argument& argument : call.arguments) {
    if (argument.direction == Direction::In || argument.value->kind != ExprKind::Block || isRefused(argument.value))
      continue;
    for (const Loop* loop : maps_) {
      // Each iteration of a mapreduce has its own copy of what it reduces; one that reduces nothing was refused.
      if (loop->kind == MapKind::Seq || ((argument.combiner || !reduces) && loop->kind == MapKind::Reduce))
        continue;
      if (mentions(argument.value, loop->variable)) {
        checkIterationShares(call, argument, *loop);
        continue;
      }
      // A loop inside whose range moves with this one.
      if (std::any_of(maps_.begin(), maps_.end(), [&](const Loop* inner) {
            return inner != loop && mentions(argument.value, inner->variable) &&
                   (mentions(inner->start, loop->variable) || mentions(inner->end, loop->variable) ||
                    isRefused(inner->start) || isRefused(inner->end));
          }))
        continue;
      std::string_view array = argument.value->variable->name;
      auto start = constantOf(loop->start), end = constantOf(loop->end);
      if (start && end && *end <= *start + 1)
        continue;
      if (start && end)
        diagnostics_.report(iterationAliasError, argument.value->location, *end - *start, loop->variableName, array)
            .label(loop->location, "its iterations run in parallel")
            .help("use mapseq, or mapreduce with reducearg");
      else
        diagnostics_.report(iterationAlias, argument.value->location, loop->variableName, array)
            .label(loop->location, "its iterations run in parallel")
            .note("the result is undefined unless there is at most one iteration");
    }
  }
}

/// A block that moves with the loop may still reach into that of another iteration, or into what another one reads.
void Checker::checkIterationShares(const Stmt& call, const Argument& written, const Loop& loop) {
  auto start = constantOf(loop.start), end = constantOf(loop.end);
  for (const Argument& other : call.arguments) {
    if (other.value->kind != ExprKind::Block || other.value->variable != written.value->variable)
      continue;
    std::optional<int64_t> apart = sharedAcross(*written.value, *other.value, loop.variable);
    if (!apart || (start && end && *end - *start <= *apart))
      continue;
    std::string_view array = written.value->variable->name;
    auto explain = [&](DiagnosticBuilder report) {
      if (&other != &written)
        report.label(other.value->location, "the other block");
      report.label(loop.location, "its iterations run in parallel").help("use mapseq, or blocks that do not overlap");
    };
    if (start && end)
      explain(diagnostics_.report(iterationSharesError, written.value->location, *end - *start, loop.variableName,
                                  *apart, array));
    else
      explain(diagnostics_.report(iterationShares, written.value->location, loop.variableName, *apart, array));
    return;
  }
}

} // namespace strata::sequoia

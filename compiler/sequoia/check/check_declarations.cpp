// What stands outside of bodies: types, signatures, and names in their scopes.
#include "base/source/nearest_name.h"
#include "compiler/sequoia/check/checker.h"
#include "compiler/sequoia/check/fold.h"

#include <algorithm>
#include <map>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(redeclared, Error, "sequoia-redeclared", "'{0}' is declared twice");
STRATA_DIAGNOSTIC(undeclaredName, Error, "sequoia-undeclared", "nothing named '{0}' is declared here");
STRATA_DIAGNOSTIC(unknownType, Error, "sequoia-unknown-type", "no type named '{0}'");
STRATA_DIAGNOSTIC(incompleteType, Error, "sequoia-incomplete-type", "'{0}' has no members yet");
STRATA_DIAGNOSTIC(voidVariable, Error, "sequoia-void", "void is no type for a variable");
STRATA_DIAGNOSTIC(typedefArray, Error, "sequoia-typedef-array", "a typedef cannot name an array type");
STRATA_DIAGNOSTIC(recordTooLarge, Error, "sequoia-record-size", "'{0}' is larger than 1 GiB");
STRATA_DIAGNOSTIC(memberExtent, Error, "sequoia-member-extent",
                  "the size of an array in a struct must be positive, not {0}");
STRATA_DIAGNOSTIC(noPrototype, Error, "sequoia-no-prototype", "task '{0}' has no prototype");
STRATA_DIAGNOSTIC(duplicateVariant, Error, "sequoia-duplicate-variant", "task '{0}' has two variants named '{1}'");
STRATA_DIAGNOSTIC(duplicatePrototype, Error, "sequoia-duplicate-prototype", "task '{0}' has two prototypes");
STRATA_DIAGNOSTIC(signatureMismatch, Error, "sequoia-signature",
                  "'{0}::{1}' does not have the signature of its prototype: {2}");
STRATA_DIAGNOSTIC(sizeParameterAlone, Error, "sequoia-size-parameter", "{0} is not alone the size of any dimension");
STRATA_DIAGNOSTIC(sizeNotLinear, Error, "sequoia-size-expression",
                  "the size of '{0}' is not a sum of size parameters with constant factors and a constant");
STRATA_DIAGNOSTIC(sizeNegative, Error, "sequoia-size-negative", "the size of '{0}' would be {1}");
STRATA_DIAGNOSTIC(functionArray, Error, "sequoia-function-array", "inline functions take scalars; '{0}' is an array");
STRATA_DIAGNOSTIC(taskFunctionClash, Error, "sequoia-task-name", "'{0}' names both a task and a function");
STRATA_DIAGNOSTIC(tooManyDimensions, Error, "sequoia-dimensions", "'{0}' has {1} dimensions; an array has at most {2}");

namespace {

constexpr size_t mostDimensions = 9; // SQ_MAX_DIMS of sequoia.h

/// Adds `factor` times an expression to a sum; false when it is not linear.
bool addLinear(const Expr* expr, int64_t factor, LinearSize& sum) {
  switch (expr->kind) {
  case ExprKind::Integer: {
    int64_t product = 0;
    return !__builtin_mul_overflow(factor, expr->signedValue(), &product) &&
           !__builtin_add_overflow(sum.constant, product, &sum.constant);
  }
  case ExprKind::Variable: {
    if (expr->variable->kind != VariableKind::SizeParameter)
      return false;
    for (auto& [coefficient, variable] : sum.terms)
      if (variable == expr->variable)
        return !__builtin_add_overflow(coefficient, factor, &coefficient);
    sum.terms.emplace_back(factor, expr->variable);
    return true;
  }
  case ExprKind::Cast:
    return expr->type->isInteger() && expr->operands[0]->type->isInteger() && addLinear(expr->operands[0], factor, sum);
  case ExprKind::Unary:
    if (factor == INT64_MIN || (expr->op != Operator::Negate && expr->op != Operator::Plus))
      return false;
    return addLinear(expr->operands[0], expr->op == Operator::Negate ? -factor : factor, sum);
  case ExprKind::Binary: {
    const Expr *left = expr->operands[0], *right = expr->operands[1];
    if (expr->op == Operator::Add || expr->op == Operator::Subtract) {
      if (factor == INT64_MIN)
        return false;
      return addLinear(left, factor, sum) && addLinear(right, expr->op == Operator::Add ? factor : -factor, sum);
    }
    if (expr->op != Operator::Multiply)
      return false;
    if (left->kind != ExprKind::Integer)
      std::swap(left, right);
    int64_t product = 0;
    return left->kind == ExprKind::Integer && !__builtin_mul_overflow(factor, left->signedValue(), &product) &&
           addLinear(right, product, sum);
  }
  default:
    return false;
  }
}

/// An argument of the task that an expression uses as a value.
const Variable* scalarIn(const Expr* expr) {
  if (expr->kind == ExprKind::Variable && expr->variable->kind == VariableKind::Parameter)
    return expr->variable;
  for (const Expr* operand : expr->operands)
    if (const Variable* found = scalarIn(operand))
      return found;
  return nullptr;
}

/// " + 2" or " - 2": what is added, or what takes it back.
std::string signedText(int64_t value, bool back) {
  const uint64_t amount = value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return ((value < 0) == back ? " + " : " - ") + std::to_string(amount);
}

std::string sizeText(const LinearSize& size) {
  std::string text;
  for (const auto& [factor, parameter] : size.terms) {
    const bool negative = factor < 0;
    text += text.empty() ? (negative ? "-" : "") : negative ? " - " : " + ";
    const uint64_t times = negative ? -static_cast<uint64_t>(factor) : static_cast<uint64_t>(factor);
    text += (times == 1 ? "" : std::to_string(times) + "*") + std::string(parameter->name);
  }
  if (text.empty())
    return std::to_string(size.constant);
  return text + (size.constant == 0 ? "" : signedText(size.constant, false));
}

std::string briefParameter(const Variable& parameter) {
  std::string text = directionText(parameter.direction);
  text += ' ' + typeName(parameter.type) + ' ' + std::string(parameter.name);
  for (size_t i = 0; i < parameter.extents.size(); ++i)
    text += "[]";
  return text;
}

} // namespace

void Checker::run() {
  for (TopLevel& item : program_.topLevel)
    topLevel(item);
  for (Task& task : program_.tasks) {
    for (const TaskVariant* variant : task.variants) {
      if (task.prototype)
        compareSignatures(*variant);
    }
    if (task.prototype)
      continue;
    std::vector<std::string> names;
    for (const Task& other : program_.tasks)
      if (other.prototype)
        names.emplace_back(other.name);
    DiagnosticBuilder builder = diagnostics_.report(noPrototype, task.variants[0]->location, task.name);
    if (nearestName(task.name, names).empty())
      builder.help("declare it before its variants: void task " + std::string(task.name) + "(…);");
    else
      proposeName(builder, task.name, names);
  }
  for (TopLevel& item : program_.topLevel) {
    if (item.kind == TopLevel::Kind::Function)
      functionBody(*item.function);
    else if (item.kind == TopLevel::Kind::Task)
      taskBody(*item.task);
  }
}

void Checker::topLevel(TopLevel& item) {
  switch (item.kind) {
  case TopLevel::Kind::Type:
    resolve(item.type);
    return;
  case TopLevel::Kind::Typedef:
    return declareTypedefs(item.type, item.typedefs);
  case TopLevel::Kind::Function:
    declareFunction(*item.function);
    return;
  case TopLevel::Kind::Task:
    declareTask(*item.task);
    return;
  }
}

void Checker::declareTypedefs(TypeSyntax* syntax, const std::vector<Declarator>& names) {
  if (!names.empty())
    syntax->alias = names.front().name;
  const Type* type = resolve(syntax);
  for (const Declarator& declarator : names) {
    if (!declarator.extents.empty())
      diagnostics_.report(typedefArray, declarator.location).help("write the dimensions where the array is declared");
    Symbol symbol;
    symbol.kind = Symbol::Kind::Typedef;
    symbol.type = type;
    symbol.location = declarator.location;
    if (!type->isError() && scopes_.size() == 1)
      program_.types.addTypedef(type, std::string(declarator.name));
    declare(declarator.name, symbol);
  }
}

void Checker::declareFunction(Function& function) {
  if (auto [at, isNew] = functions_.emplace(function.name, &function); !isNew)
    diagnostics_.report(redeclared, function.location, function.name).label(at->second->location, "first here");
  if (auto task = tasks_.find(function.name); task != tasks_.end())
    diagnostics_.report(taskFunctionClash, function.location, function.name);
  function.result =
      function.resultSyntax ? objectType(function.resultSyntax, function.location) : program_.types.get(TypeKind::Void);
  for (Variable* parameter : function.parameters) {
    parameter->type = objectType(parameter->typeSyntax, parameter->location);
    if (parameter->isArray()) {
      diagnostics_.report(functionArray, parameter->location, parameter->name)
          .help("make it a leaf task to pass arrays");
      parameter->extents.clear();
      parameter->type = program_.types.error();
    }
  }
}

void Checker::declareTask(TaskVariant& variant) {
  Task*& task = tasks_[variant.taskName];
  if (!task) {
    task = &program_.tasks.emplace_back();
    task->name = variant.taskName;
    if (functions_.contains(variant.taskName))
      diagnostics_.report(taskFunctionClash, variant.location, variant.taskName);
  }
  variant.task = task;
  if (variant.kind == TaskKind::Prototype) {
    if (task->prototype)
      diagnostics_.report(duplicatePrototype, variant.location, variant.taskName)
          .label(task->prototype->location, "first here");
    else
      task->prototype = &variant;
  } else if (const TaskVariant* other = task->find(variant.name)) {
    diagnostics_.report(duplicateVariant, variant.location, variant.taskName, variant.name)
        .label(other->location, "first here");
  } else {
    task->add(&variant);
  }

  ScopeGuard scope(*this);
  for (Variable* parameter : variant.parameters) {
    parameter->type = objectType(parameter->typeSyntax, parameter->location);
    Symbol symbol;
    symbol.variable = parameter;
    symbol.location = parameter->location;
    declare(parameter->name, symbol);
  }
  for (Variable* parameter : variant.parameters) {
    if (parameter->isArray()) {
      parameterExtents(variant, *parameter);
      parameter->index = static_cast<uint32_t>(variant.arrays.size());
      variant.arrays.push_back(parameter);
    } else {
      parameter->index = static_cast<uint32_t>(variant.scalars.size());
      variant.scalars.push_back(parameter);
    }
  }
  checkSizeParameters(variant);
}

void Checker::collectSizeParameters(TaskVariant& variant, Expr* expr) {
  if (expr->kind == ExprKind::Name && !find(expr->name)) {
    Variable* parameter = program_.newVariable();
    parameter->name = expr->name;
    parameter->location = expr->location;
    parameter->kind = VariableKind::SizeParameter;
    parameter->type = program_.types.longInteger();
    parameter->index = static_cast<uint32_t>(variant.sizeParameters.size());
    variant.sizeParameters.push_back(parameter);
    Symbol symbol;
    symbol.variable = parameter;
    symbol.location = parameter->location;
    declare(parameter->name, symbol);
  }
  for (Expr* operand : expr->operands)
    collectSizeParameters(variant, operand);
}

void Checker::parameterExtents(TaskVariant& variant, Variable& parameter) {
  if (parameter.extents.size() > mostDimensions) {
    diagnostics_.report(tooManyDimensions, parameter.location, parameter.name, parameter.extents.size(),
                        mostDimensions);
    parameter.extents.resize(mostDimensions);
  }
  for (Extent& extent : parameter.extents) {
    collectSizeParameters(variant, extent.expression);
    unsigned before = diagnostics_.errorCount();
    extent.expression = longValue(extent.expression, "the size of an array");
    if (diagnostics_.errorCount() != before)
      continue;
    if (!addLinear(extent.expression, 1, extent.linear)) {
      extent.linear = {};
      const Variable* scalar = scalarIn(extent.expression);
      // One argument that is taken for a size is one mistake, in all arrays and in the variants too.
      if (unsolvedSizes_.emplace(variant.taskName, scalar ? scalar->name : parameter.name).second) {
        DiagnosticBuilder builder = diagnostics_.report(sizeNotLinear, extent.expression->location, parameter.name);
        if (scalar)
          builder.label(scalar->location, "an argument, and no size parameter")
              .help("sizes are no arguments: leave '" + std::string(scalar->name) + "' out of the list and write " +
                    std::string(parameter.name) + "[N]; N is the size of the array that is passed");
        else
          builder.help("give the other size a parameter of its own, and state the relation where the task is called");
      }
      extent.expression = wrong(extent.expression);
      continue;
    }
    std::erase_if(extent.linear.terms, [](const auto& term) { return term.first == 0; });
    if (extent.linear.terms.empty() && extent.linear.constant < 0)
      diagnostics_.report(sizeNegative, extent.expression->location, parameter.name, extent.linear.constant);
  }
}

void Checker::checkSizeParameters(TaskVariant& variant) {
  std::vector<const Variable*> wrong;
  for (const Variable* size : variant.sizeParameters) {
    bool alone = false;
    for (const Variable* array : variant.arrays)
      for (const Extent& extent : array->extents)
        alone |= extent.linear.unit() == size;
    // What is wrong in the prototype is wrong in its variants for the same reason.
    if (!alone && unsolvedSizes_.emplace(variant.taskName, size->name).second)
      wrong.push_back(size);
  }
  if (wrong.empty())
    return;
  std::string names, dimensions, instead;
  bool shifted = true; // each is a dimension [H + c] somewhere
  for (const Variable* size : wrong) {
    const std::string name(size->name);
    names += (names.empty() ? "'" : ", '") + name + "'";
    std::string shift;
    for (const Variable* array : variant.arrays)
      for (const Extent& extent : array->extents)
        if (const LinearSize& linear = extent.linear;
            shift.empty() && linear.terms.size() == 1 && linear.terms[0].first == 1 && linear.terms[0].second == size)
          shift = name + signedText(linear.constant, true);
    shifted &= !shift.empty();
    dimensions += "[" + name + "]";
    instead += (instead.empty() ? "" : " and ") + shift;
  }
  const bool one = wrong.size() == 1;
  DiagnosticBuilder builder = diagnostics_.report(sizeParameterAlone, wrong[0]->location,
                                                  (one ? "size parameter " : "each of the size parameters ") + names);
  builder.note(one ? "its value is taken from the dimension that it stands alone in"
                   : "their values are taken from the dimensions that they stand alone in");
  if (shifted)
    builder.help("declare " + dimensions + ", and write " + instead + " where you meant the smaller size");
  else
    builder.help("give some array " + std::string(one ? "a dimension " : "the dimensions ") + dimensions);
}

void Checker::compareSignatures(const TaskVariant& variant) {
  const TaskVariant& prototype = *variant.task->prototype;
  auto mismatch = [&](const Location& here, const Location& there, const std::string& what) {
    // Where several variants differ in the same way the prototype is likely to be wrong.
    if (reportedSignatures_.emplace(variant.taskName, what).second)
      diagnostics_.report(signatureMismatch, here, variant.taskName, variant.name, what).label(there, "the prototype");
  };
  if (variant.parameters.size() != prototype.parameters.size()) {
    mismatch(variant.location, prototype.location,
             std::to_string(variant.parameters.size()) + " arguments instead of " +
                 std::to_string(prototype.parameters.size()));
    return;
  }
  // Size parameters may have other names in a variant, the same ones everywhere.
  std::map<const Variable*, const Variable*> theirs, mine;
  auto same = [&](const Variable* here, const Variable* there) {
    return theirs.emplace(here, there).first->second == there && mine.emplace(there, here).first->second == here;
  };
  auto sameSize = [&](const LinearSize& here, const LinearSize& there) {
    if (here.constant != there.constant || here.terms.size() != there.terms.size())
      return false;
    // The order of a sum is free; parameters that are known already settle which term is which.
    std::vector<std::pair<int64_t, Variable*>> left = there.terms;
    for (const auto& [factor, size] : here.terms) {
      auto fits = [&, factor = factor, size = size](const auto& term) {
        if (term.first != factor)
          return false;
        const auto known = theirs.find(size);
        return known != theirs.end() ? known->second == term.second : !mine.contains(term.second);
      };
      auto found = std::find_if(left.begin(), left.end(), [&, size = size](const auto& term) {
        return fits(term) && term.second->name == size->name;
      });
      if (found == left.end())
        found = std::find_if(left.begin(), left.end(), fits);
      if (found == left.end() || !same(size, found->second))
        return false;
      left.erase(found);
    }
    return true;
  };
  // The dimensions that are one parameter settle the names for all others.
  for (size_t i = 0; i < variant.parameters.size(); ++i)
    for (size_t d = 0; d < std::min(variant.parameters[i]->extents.size(), prototype.parameters[i]->extents.size());
         ++d) {
      const Variable* here = variant.parameters[i]->extents[d].linear.unit();
      const Variable* there = prototype.parameters[i]->extents[d].linear.unit();
      if (here && there)
        same(here, there);
    }
  for (size_t i = 0; i < variant.parameters.size(); ++i) {
    const Variable &here = *variant.parameters[i], &there = *prototype.parameters[i];
    if (here.type->isError() || there.type->isError())
      continue;
    if (here.type != there.type || here.direction != there.direction || here.extents.size() != there.extents.size()) {
      mismatch(here.location, there.location,
               "argument " + std::to_string(i + 1) + " is '" + briefParameter(here) + "' here and '" +
                   briefParameter(there) + "' there");
      continue;
    }
    for (size_t d = 0; d < here.extents.size(); ++d) {
      const Extent &size = here.extents[d], &wanted = there.extents[d];
      if (size.expression->type->isError() || wanted.expression->type->isError() ||
          sameSize(size.linear, wanted.linear))
        continue;
      mismatch(size.expression->location, wanted.expression->location,
               "dimension " + std::to_string(d) + " of argument " + std::to_string(i + 1) + " is " +
                   sizeText(size.linear) + " here and " + sizeText(wanted.linear) + " there");
      break;
    }
  }
}

const Type* Checker::objectType(TypeSyntax* syntax, const Location& where) {
  const Type* type = resolve(syntax);
  if (type->isVoid()) {
    diagnostics_.report(voidVariable, where);
    return program_.types.error();
  }
  if (type->isRecord() && !type->complete) {
    if (reportedIncomplete_.insert(syntax->name).second) {
      DiagnosticBuilder report = diagnostics_.report(incompleteType, syntax->location, typeName(type));
      if (const Symbol* symbol = find(syntax->name); symbol && symbol->kind == Symbol::Kind::Typedef)
        report.label(symbol->location, "a typedef")
            .help("the typedef's name is a type by itself: write '" + std::string(syntax->name) + "'");
    }
    return program_.types.error();
  }
  return type;
}

const Type* Checker::resolve(TypeSyntax* syntax) {
  if (syntax->resolved)
    return syntax->resolved;
  const Type*& result = syntax->resolved;
  switch (syntax->form) {
  case TypeSyntax::Form::Scalar:
    return result = program_.types.get(syntax->scalar);
  case TypeSyntax::Form::Named: {
    const Symbol* symbol = find(syntax->name);
    if (symbol && symbol->kind == Symbol::Kind::Typedef)
      return result = symbol->type;
    diagnostics_.report(unknownType, syntax->location, syntax->name);
    return result = program_.types.error();
  }
  case TypeSyntax::Form::Enum:
    if (syntax->isDefinition)
      defineEnum(syntax);
    return result = program_.types.integer();
  case TypeSyntax::Form::Record:
    break;
  }
  Type* type = nullptr;
  if (!syntax->name.empty()) {
    for (size_t scope = scopes_.size(); scope-- > 0 && !type;) {
      auto found = scopes_[scope].tags.find(syntax->name);
      if (found != scopes_[scope].tags.end() && (!syntax->isDefinition || scope + 1 == scopes_.size()))
        type = found->second;
    }
  }
  if (!type) {
    type = program_.types.makeRecord(syntax->scalar, std::string(syntax->name), syntax->location);
    type->alias = syntax->alias;
    if (!syntax->name.empty())
      scopes_.back().tags[syntax->name] = type;
  }
  result = type; // before the members: one of them may name the type itself
  return syntax->isDefinition ? defineRecord(syntax, type) : type;
}

const Type* Checker::memberType(const Declarator& member) {
  const Type* type = objectType(member.type, member.location);
  for (size_t i = member.extents.size(); i-- > 0 && !type->isError();) {
    std::optional<int64_t> count = constantInteger(member.extents[i], "the size of an array in a struct");
    if (!count)
      return program_.types.error();
    if (*count <= 0) {
      diagnostics_.report(memberExtent, member.extents[i]->location, *count);
      return program_.types.error();
    }
    uint64_t size = 0;
    if (__builtin_mul_overflow(type->size, static_cast<uint64_t>(*count), &size) || size > UINT32_MAX) {
      diagnostics_.report(recordTooLarge, member.location, member.name);
      return program_.types.error();
    }
    type = program_.types.arrayOf(type, static_cast<uint64_t>(*count));
  }
  return type;
}

const Type* Checker::defineRecord(TypeSyntax* syntax, Type* type) {
  if (type->complete || !type->fields.empty()) {
    diagnostics_.report(redeclared, syntax->location, syntax->name).label(type->location, "first here");
    return type;
  }
  type->location = syntax->location;
  std::vector<Field> fields;
  std::unordered_map<std::string_view, Location> names;
  bool wrongMember = false;
  for (const Declarator& member : syntax->members) {
    Field field;
    field.name = member.name;
    field.location = member.location;
    field.isConst = member.type->isConst;
    field.type = memberType(member);
    wrongMember |= field.type->isError();
    auto [first, isNew] = names.emplace(member.name, member.location);
    if (!isNew)
      diagnostics_.report(redeclared, member.location, member.name).label(first->second, "first here");
    fields.push_back(std::move(field));
  }
  type->fields = std::move(fields);
  if (type->fields.empty())
    diagnostics_.report(incompleteType, syntax->location, typeName(type));
  if (wrongMember || type->fields.empty())
    return syntax->resolved = program_.types.error();
  if (!TypeTable::layOut(*type))
    diagnostics_.report(recordTooLarge, syntax->location, typeName(type));
  return type;
}

void Checker::defineEnum(TypeSyntax* syntax) {
  TypeTable::Enumeration enumeration{std::string(syntax->name), {}};
  int64_t next = 0;
  for (const Declarator& member : syntax->members) {
    if (member.value)
      if (std::optional<int64_t> value = constantInteger(member.value, "the value of an enumerator"))
        next = *value;
    Symbol symbol;
    symbol.kind = Symbol::Kind::Enumerator;
    symbol.value = static_cast<int64_t>(cfamily::wrapped(static_cast<uint64_t>(next), cfamily::Scalar::Int));
    symbol.location = member.location;
    declare(member.name, symbol);
    enumeration.enumerators.emplace_back(member.name, symbol.value);
    next = static_cast<int64_t>(static_cast<uint64_t>(next) + 1);
  }
  if (scopes_.size() == 1)
    program_.types.addEnumeration(std::move(enumeration));
}

bool Checker::declare(std::string_view name, Symbol symbol) {
  auto [at, isNew] = scopes_.back().names.emplace(name, symbol);
  if (!isNew)
    diagnostics_.report(redeclared, symbol.location, name).label(at->second.location, "first here");
  return isNew;
}

const Checker::Symbol* Checker::find(std::string_view name) const {
  for (size_t scope = scopes_.size(); scope-- > 0;)
    if (auto found = scopes_[scope].names.find(name); found != scopes_[scope].names.end())
      return &found->second;
  return nullptr;
}

std::vector<std::string> Checker::visibleNames(bool variablesOnly) const {
  std::vector<std::string> names;
  for (const Scope& scope : scopes_)
    for (const auto& [name, symbol] : scope.names)
      if (!variablesOnly || symbol.kind != Symbol::Kind::Typedef)
        names.emplace_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void Checker::undeclared(std::string_view name, const Location& where) {
  if (!reportedNames_.insert(name).second)
    return;
  DiagnosticBuilder builder = diagnostics_.report(undeclaredName, where, name);
  proposeName(builder, name, visibleNames(true));
}

void check(Program& program, DiagnosticEngine& diagnostics) {
  Checker(program, diagnostics).run();
}

} // namespace strata::sequoia

// An interpreter of control: integers are values, or not known; each value knows the tunables that it follows from.
// What is not known makes a condition take both ways. Loops of many iterations are gone through at their ends and at
// points between.
#include "compiler/sequoia/rehearse.h"

#include "compiler/sequoia/fold.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace strata::sequoia {

namespace {

constexpr int64_t mostSteps = 400000;      // expressions in one rehearsal
constexpr int64_t mostIterations = 256;    // of a nest of iterations that are gone through one by one
constexpr int64_t mostRepetitions = 20000; // of a loop of C
constexpr size_t deepestCalls = 48;

struct Value {
  enum class Kind : uint8_t { Unknown, Integer, Real } kind = Kind::Unknown;
  int64_t integer = 0;
  double real = 0;
  bool varies = false;        // another one in each iteration
  std::vector<uint32_t> from; // tunables, ascending

  bool isInteger() const { return kind == Kind::Integer; }
  static Value of(int64_t integer) {
    Value value;
    value.kind = Kind::Integer;
    value.integer = integer;
    return value;
  }
  static Value of(double real) {
    Value value;
    value.kind = Kind::Real;
    value.real = real;
    return value;
  }
  /// Takes over where another value comes from.
  Value& after(const Value& other) {
    varies |= other.varies;
    if (!other.from.empty() && other.from != from) {
      std::vector<uint32_t> both;
      std::set_union(from.begin(), from.end(), other.from.begin(), other.from.end(), std::back_inserter(both));
      from = std::move(both);
    }
    return *this;
  }
  std::optional<bool> truth() const {
    if (kind == Kind::Unknown)
      return std::nullopt;
    return isInteger() ? integer != 0 : real != 0;
  }
};

/// What is known of where a quotient goes.
struct Use {
  bool isBound = false;   // of an iteration
  bool isCovered = false; // what a division leaves over is taken up beside it
  bool isOneMore = false; // a positive constant is added
};

using Scalars = std::map<const Variable*, Value>;

bool mentionsAny(const Expr* expr, const std::set<const Variable*>& variables) {
  if (!expr)
    return false;
  if (expr->kind == ExprKind::Variable)
    return variables.contains(expr->variable);
  return std::any_of(expr->operands.begin(), expr->operands.end(),
                     [&](const Expr* operand) { return mentionsAny(operand, variables); });
}

void variablesOf(const Expr* expr, std::set<const Variable*>& variables) {
  if (expr->kind == ExprKind::Variable)
    variables.insert(expr->variable);
  for (const Expr* operand : expr->operands)
    variablesOf(operand, variables);
}

const Expr* withoutCasts(const Expr* expr) {
  while (expr->kind == ExprKind::Cast)
    expr = expr->operands[0];
  return expr;
}

bool isQuotient(const Expr* expr) {
  return expr->kind == ExprKind::Binary && (expr->op == Operator::Divide || expr->op == Operator::ShiftRight);
}

/// Whether a sum has a term with a plus for which `test` holds.
template <typename Test>
bool anyAdded(const Expr* sum, Test test, bool isPositive = true) {
  sum = withoutCasts(sum);
  if (sum->kind == ExprKind::Unary && sum->op == Operator::Negate)
    return anyAdded(sum->operands[0], test, !isPositive);
  if (sum->kind == ExprKind::Binary && (sum->op == Operator::Add || sum->op == Operator::Subtract))
    return anyAdded(sum->operands[0], test, isPositive) ||
           anyAdded(sum->operands[1], test, isPositive == (sum->op == Operator::Add));
  return isPositive && test(sum);
}

/// Whether something is added for what a division leaves over: it depends on a remainder or a comparison.
bool takesUpTheRest(const Expr* added) {
  added = withoutCasts(added);
  switch (added->kind) {
  case ExprKind::Conditional:
  case ExprKind::Logical:
    return true;
  case ExprKind::Unary:
    return added->op == Operator::Not || takesUpTheRest(added->operands[0]);
  case ExprKind::Binary:
    switch (added->op) {
    case Operator::Remainder:
    case Operator::Less:
    case Operator::LessEqual:
    case Operator::Greater:
    case Operator::GreaterEqual:
    case Operator::Equal:
    case Operator::NotEqual:
      return true;
    default:
      return false;
    }
  default:
    return false;
  }
}

class Rehearser {
public:
  Rehearser(const InstanceGraph& graph, const KnownSizes& known) : graph_(graph), known_(known) {
    for (uint32_t index = 0; index < graph.instances.size(); ++index) {
      first_.push_back(static_cast<uint32_t>(uses_.size()));
      for (const Variable* tunable : graph.instances[index].variant->tunables)
        uses_.push_back({index, tunable});
    }
    result_.largest.resize(graph.instances.size());
  }

  Rehearsal run() {
    for (uint32_t entry = 0; entry < graph_.entryCount; ++entry) {
      const TaskVariant& variant = *graph_.instances[entry].variant;
      Scalars sizes;
      for (const Variable* size : variant.sizeParameters)
        if (auto at = known_.find(size->name); at != known_.end())
          sizes[size] = Value::of(at->second);
      enter(entry, std::move(sizes), {});
    }
    for (auto& [key, found] : divisions_)
      if (found.isMisfit)
        report(found.isUnknown ? Misfit::Kind::Unknown : Misfit::Kind::Remainder, key.first, key.second, found.divided,
               found.divisor, found.from);
    return std::move(result_);
  }

private:
  enum class Flow : uint8_t { Next, Break, Continue, Return };

  struct Frame {
    uint32_t index = 0;
    const Instance* instance = nullptr;
    Scalars scalars;
    std::vector<std::vector<Value>> extents; // by the array's index
    bool isInner = true;
    unsigned loops = 0; // of C around
    Value returned;
  };

  struct Division {
    int64_t divided = 0, divisor = 0;
    bool isMisfit = false, isUnknown = false;
    std::vector<uint32_t> from;
  };

  // ---- what is found ----

  void report(Misfit::Kind kind, uint32_t instance, const Expr* expr, int64_t value, int64_t other,
              const std::vector<uint32_t>& from) {
    if (!reported_.insert({kind, instance, expr}).second)
      return;
    Misfit misfit{kind, instance, expr, value, other, {}};
    for (uint32_t number : from)
      misfit.because.push_back(uses_[number]);
    result_.misfits.push_back(std::move(misfit));
  }

  /// A division whose divisor follows from tunables.
  void divide(const Expr* expr, const Value& divided, std::optional<int64_t> divisor, const Value& by, Use use) {
    if (by.from.empty() || use.isCovered || (divided.varies && !use.isBound) || divisor == 1 || divisor == 0)
      return;
    std::set<const Variable*> variables;
    variablesOf(expr->operands[1], variables);
    // What is divided has been rounded up where the divisor is added to it, here or in a variable.
    auto roundsUp = [&](const Expr* term) {
      if (mentionsAny(term, variables))
        return true;
      if (term->kind != ExprKind::Variable || term->variable->kind != VariableKind::Local)
        return false;
      const std::vector<uint32_t> from = variable(term->variable).from;
      return std::any_of(from.begin(), from.end(),
                         [&](uint32_t use) { return std::binary_search(by.from.begin(), by.from.end(), use); });
    };
    if (anyAdded(expr->operands[0], roundsUp))
      return;
    // (N - 1) / T + 1 rounds up; (N - T) / T + 1 is N / T.
    if (use.isOneMore && !anyAdded(expr->operands[0], roundsUp, /*isPositive=*/false))
      return;
    // One that is settled when the instance begins is settled so that it divides.
    for (const Variable* each : variables)
      if (each->kind == VariableKind::Tunable && frame_->instance->divisors[each->index])
        return;
    Division& found = divisions_[{frame_->index, expr}];
    const bool isKnown = divided.isInteger() && divisor.has_value();
    if (isKnown) {
      const int64_t whole = divided.integer < 0 ? 0 : divided.integer;
      found.divided = std::gcd(found.divided, whole);
      found.divisor = *divisor;
      found.isMisfit |= divided.integer % *divisor != 0;
    } else {
      found.isMisfit = found.isUnknown = true;
    }
    Value both;
    both.from = found.from;
    found.from = both.after(by).from;
  }

  // ---- expressions ----

  Value variable(const Variable* variable) const {
    if (variable->kind == VariableKind::Tunable) {
      Value value = Value::of(frame_->instance->tunables[variable->index]);
      if (frame_->instance->divisors[variable->index])
        value.kind = Value::Kind::Unknown;
      value.from.push_back(first_[frame_->index] + variable->index);
      return value;
    }
    auto found = frame_->scalars.find(variable);
    return found == frame_->scalars.end() ? Value() : found->second;
  }

  static Value fitted(Value value, const Type* type) {
    if (!type->isInteger() || !value.isInteger())
      return value;
    if (static_cast<int64_t>(wrapInteger(static_cast<uint64_t>(value.integer), type)) != value.integer)
      value.kind = Value::Kind::Unknown;
    return value;
  }

  Value evaluate(const Expr* expr, Use use = {}) {
    if (!expr)
      return {};
    if (++steps_ > mostSteps) {
      result_.isComplete = false;
      return {};
    }
    switch (expr->kind) {
    case ExprKind::Integer:
      return Value::of(expr->signedValue());
    case ExprKind::Real:
      return Value::of(expr->real);
    case ExprKind::Variable:
      return variable(expr->variable);
    case ExprKind::Cast:
      return cast(*expr, evaluate(expr->operands[0], use));
    case ExprKind::Unary:
      return unary(*expr, evaluate(expr->operands[0], use));
    case ExprKind::Binary:
      return binary(*expr, use);
    case ExprKind::Logical:
      return logical(*expr);
    case ExprKind::Conditional:
      return conditional(*expr, use);
    case ExprKind::Comma:
      evaluate(expr->operands[0]);
      return evaluate(expr->operands[1], use);
    case ExprKind::Assign:
      return assign(*expr);
    case ExprKind::Increment: {
      const Expr* target = expr->operands[0];
      Value before = evaluate(target), after = before;
      if (after.isInteger())
        after.integer += expr->op == Operator::Add ? 1 : -1;
      set(target, fitted(after, target->type));
      return expr->isPrefix ? after : before;
    }
    case ExprKind::Call:
      return call(*expr, use);
    case ExprKind::BuiltinCall:
      return builtin(*expr, use);
    case ExprKind::Element:
    case ExprKind::MemberIndex:
    case ExprKind::Member: {
      for (const Expr* operand : expr->operands)
        evaluate(operand);
      Value value;
      value.varies = true;
      return value;
    }
    default:
      return {};
    }
  }

  static Value cast(const Expr& expr, Value value) {
    if (expr.type->isFloating() && value.isInteger()) {
      value.kind = Value::Kind::Real;
      value.real = static_cast<double>(value.integer);
    } else if (expr.type->isInteger() && value.kind == Value::Kind::Real) {
      value.kind = std::fabs(value.real) < 0x1p60 ? Value::Kind::Integer : Value::Kind::Unknown;
      value.integer = value.isInteger() ? static_cast<int64_t>(value.real) : 0;
    }
    return fitted(std::move(value), expr.type);
  }

  static Value unary(const Expr& expr, Value value) {
    if (expr.op == Operator::Not) {
      auto truth = value.truth();
      value.kind = truth ? Value::Kind::Integer : Value::Kind::Unknown;
      value.integer = truth && !*truth;
    } else if (value.isInteger()) {
      if (expr.op == Operator::Negate && value.integer == INT64_MIN)
        value.kind = Value::Kind::Unknown;
      else
        value.integer = expr.op == Operator::Negate       ? -value.integer
                        : expr.op == Operator::Complement ? ~value.integer
                                                          : value.integer;
    } else if (expr.op == Operator::Negate) {
      value.real = -value.real;
    }
    return fitted(std::move(value), expr.type);
  }

  Value binary(const Expr& expr, Use use) {
    const Expr *leftText = expr.operands[0], *rightText = expr.operands[1];
    Use leftUse = use, rightUse = use;
    if (expr.op == Operator::Add) {
      leftUse.isCovered |= takesUpTheRest(rightText);
      rightUse.isCovered |= takesUpTheRest(leftText);
      leftUse.isOneMore |= constantOf(rightText).value_or(0) > 0;
      rightUse.isOneMore |= constantOf(leftText).value_or(0) > 0;
    } else if (expr.op == Operator::Multiply) {
      // N / t * t: how far whole blocks go.
      auto goesBack = [](const Expr* quotient, const Expr* factor) {
        quotient = withoutCasts(quotient);
        if (!isQuotient(quotient))
          return false;
        std::set<const Variable*> variables;
        variablesOf(quotient->operands[1], variables);
        return mentionsAny(factor, variables);
      };
      leftUse.isCovered |= goesBack(leftText, rightText);
      rightUse.isCovered |= goesBack(rightText, leftText);
    } else if (expr.op != Operator::Subtract && !isQuotient(&expr)) {
      leftUse = rightUse = {};
    } else if (isQuotient(&expr)) {
      rightUse = {};
    }
    Value a = evaluate(leftText, leftUse), b = evaluate(rightText, rightUse);
    Value result = expr.operands[0]->type->isFloating() ? realOf(expr.op, a, b) : integerOf(expr, expr.type, a, b, use);
    result.after(a).after(b);
    return fitted(std::move(result), expr.type);
  }

  static Value realOf(Operator op, const Value& left, const Value& right) {
    if (left.kind != Value::Kind::Real || right.kind != Value::Kind::Real)
      return {};
    const double a = left.real, b = right.real;
    switch (op) {
    case Operator::Add:
      return Value::of(a + b);
    case Operator::Subtract:
      return Value::of(a - b);
    case Operator::Multiply:
      return Value::of(a * b);
    case Operator::Divide:
      return b != 0 ? Value::of(a / b) : Value();
    case Operator::Less:
      return Value::of(int64_t(a < b));
    case Operator::Greater:
      return Value::of(int64_t(a > b));
    case Operator::LessEqual:
      return Value::of(int64_t(a <= b));
    case Operator::GreaterEqual:
      return Value::of(int64_t(a >= b));
    case Operator::Equal:
      return Value::of(int64_t(a == b));
    case Operator::NotEqual:
      return Value::of(int64_t(a != b));
    default:
      return {};
    }
  }

  Value integerOf(const Expr& expr, const Type* type, const Value& left, const Value& right, Use use) {
    const bool isShift = expr.op == Operator::ShiftLeft || expr.op == Operator::ShiftRight;
    if (isShift && right.isInteger() && (right.integer < 0 || right.integer >= static_cast<int64_t>(type->bits())))
      return report(Misfit::Kind::Shift, frame_->index, &expr, right.integer, type->bits(), right.from), Value();
    if (expr.op == Operator::ShiftRight)
      divide(&expr, left,
             right.isInteger() && right.integer < 63 ? std::optional(int64_t(1) << right.integer) : std::nullopt, right,
             use);
    if (expr.op == Operator::Divide)
      divide(&expr, left, right.isInteger() ? std::optional(right.integer) : std::nullopt, right, use);
    if ((expr.op == Operator::Divide || expr.op == Operator::Remainder) && right.isInteger() && right.integer == 0)
      return report(Misfit::Kind::Zero, frame_->index, &expr, 0, 0, right.from), Value();
    // What a factor of zero makes of the rest is known.
    if (expr.op == Operator::Multiply &&
        ((left.isInteger() && left.integer == 0) || (right.isInteger() && right.integer == 0)))
      return Value::of(int64_t(0));
    if (!left.isInteger() || !right.isInteger())
      return {};
    const int64_t a = left.integer, b = right.integer;
    int64_t wide = 0;
    switch (expr.op) {
    case Operator::Add:
      return __builtin_add_overflow(a, b, &wide) ? Value() : Value::of(wide);
    case Operator::Subtract:
      return __builtin_sub_overflow(a, b, &wide) ? Value() : Value::of(wide);
    case Operator::Multiply:
      return __builtin_mul_overflow(a, b, &wide) ? Value() : Value::of(wide);
    case Operator::Divide:
      return a == INT64_MIN && b == -1 ? Value() : Value::of(a / b);
    case Operator::Remainder:
      return b == -1 ? Value::of(int64_t(0)) : Value::of(a % b);
    case Operator::ShiftLeft:
      return a < 0 || (b > 0 && (a >> (63 - b)) != 0) ? Value() : Value::of(a << b);
    case Operator::ShiftRight:
      return a < 0 ? Value() : Value::of(a >> b);
    case Operator::BitAnd:
      return Value::of(a & b);
    case Operator::BitOr:
      return Value::of(a | b);
    case Operator::BitXor:
      return Value::of(a ^ b);
    case Operator::Less:
      return Value::of(int64_t(a < b));
    case Operator::Greater:
      return Value::of(int64_t(a > b));
    case Operator::LessEqual:
      return Value::of(int64_t(a <= b));
    case Operator::GreaterEqual:
      return Value::of(int64_t(a >= b));
    case Operator::Equal:
      return Value::of(int64_t(a == b));
    case Operator::NotEqual:
      return Value::of(int64_t(a != b));
    default:
      return {};
    }
  }

  Value logical(const Expr& expr) {
    const bool isAnd = expr.op == Operator::LogicalAnd;
    Value a = evaluate(expr.operands[0]);
    if (auto truth = a.truth(); truth && *truth != isAnd) {
      Value result = Value::of(int64_t(*truth));
      return result.after(a);
    }
    Value b = evaluate(expr.operands[1]);
    auto truth = b.truth();
    Value result = a.truth() && truth ? Value::of(int64_t(*truth)) : Value();
    return result.after(a).after(b);
  }

  Value conditional(const Expr& expr, Use use) {
    Value condition = evaluate(expr.operands[0]);
    if (auto truth = condition.truth()) {
      Value result = evaluate(expr.operands[*truth ? 1 : 2], use);
      return result.after(condition);
    }
    Value result;
    return result.after(evaluate(expr.operands[1], use)).after(evaluate(expr.operands[2], use)).after(condition);
  }

  Value assign(const Expr& expr) {
    const Expr* target = expr.operands[0];
    Value value;
    if (expr.op == Operator::None) {
      value = evaluate(expr.operands[1]);
    } else {
      Value a = evaluate(target), b = evaluate(expr.operands[1]);
      const Type* type = expr.computeType ? expr.computeType : expr.type;
      if (!target->type->isFloating() && !type->isFloating())
        value = integerOf(expr, type, a, b, {});
      value.after(a).after(b);
    }
    value = fitted(std::move(value), target->type);
    set(target, value);
    return value;
  }

  void set(const Expr* target, Value value) {
    if (target->kind != ExprKind::Variable)
      return;
    value.varies |= frame_->loops > 0;
    frame_->scalars[target->variable] = std::move(value);
  }

  Value call(const Expr& expr, Use use) {
    std::vector<Value> arguments;
    for (const Expr* operand : expr.operands)
      arguments.push_back(evaluate(operand));
    if (calls_ >= deepestCalls)
      return {};
    for (size_t i = 0; i < arguments.size() && i < expr.function->parameters.size(); ++i)
      frame_->scalars[expr.function->parameters[i]] = arguments[i];
    ++calls_;
    const Use before = std::exchange(returnUse_, use);
    Value outer = std::exchange(frame_->returned, Value());
    execute(expr.function->body);
    returnUse_ = before;
    --calls_;
    return std::exchange(frame_->returned, std::move(outer));
  }

  Value builtin(const Expr& expr, Use use) {
    std::vector<Value> values;
    for (const Expr* operand : expr.operands)
      values.push_back(evaluate(operand, use));
    Value result;
    auto integers = [&] { return std::all_of(values.begin(), values.end(), [](auto& v) { return v.isInteger(); }); };
    auto reals = [&] {
      return std::all_of(values.begin(), values.end(), [](auto& v) { return v.kind == Value::Kind::Real; });
    };
    switch (expr.builtin) {
    case Builtin::Min:
      if (integers())
        result = Value::of(std::min(values[0].integer, values[1].integer));
      break;
    case Builtin::Max:
      if (integers())
        result = Value::of(std::max(values[0].integer, values[1].integer));
      break;
    case Builtin::Abs:
      if (integers() && values[0].integer != INT64_MIN)
        result = Value::of(std::abs(values[0].integer));
      break;
    case Builtin::Ceil:
      if (reals())
        result = Value::of(std::ceil(values[0].real));
      break;
    case Builtin::Floor:
      if (reals())
        result = Value::of(std::floor(values[0].real));
      break;
    case Builtin::Sqrt:
      if (reals() && values[0].real >= 0)
        result = Value::of(std::sqrt(values[0].real));
      break;
    default:
      break;
    }
    for (const Value& value : values)
      result.after(value);
    return result;
  }

  // ---- statements ----

  /// What a statement may assign is not known afterwards.
  void forget(const Stmt* stmt) {
    if (!stmt)
      return;
    auto visit = [&](auto& self, const Expr* expr) -> void {
      if (!expr)
        return;
      if ((expr->kind == ExprKind::Assign || expr->kind == ExprKind::Increment) &&
          expr->operands[0]->kind == ExprKind::Variable) {
        Value& value = frame_->scalars[expr->operands[0]->variable];
        value.kind = Value::Kind::Unknown;
        value.varies = true;
      }
      for (const Expr* operand : expr->operands)
        self(self, operand);
    };
    visit(visit, stmt->expression);
    visit(visit, stmt->step);
    for (const Argument& argument : stmt->arguments)
      if (argument.direction != Direction::In && argument.value->kind == ExprKind::Variable)
        frame_->scalars[argument.value->variable] = Value();
    for (const Stmt* inner : {stmt->initial, stmt->body, stmt->otherwise})
      forget(inner);
    for (const Stmt* inner : stmt->statements)
      forget(inner);
    for (const SwitchSection& section : stmt->sections)
      for (const Stmt* inner : section.statements)
        forget(inner);
  }

  /// What a loop assigns is another value each time.
  void markVarying(const Stmt* loop) {
    Scalars before = frame_->scalars;
    forget(loop);
    for (auto& [variable, value] : frame_->scalars)
      if (auto at = before.find(variable); at != before.end()) {
        const bool varies = value.varies;
        value = at->second;
        value.varies |= varies;
      }
  }

  Flow execute(const Stmt* stmt) {
    if (!stmt || !result_.isComplete)
      return Flow::Next;
    switch (stmt->kind) {
    case StmtKind::Expression:
      evaluate(stmt->expression);
      return Flow::Next;
    case StmtKind::Declaration:
      for (const Variable* variable : stmt->variables)
        if (variable->kind == VariableKind::Local && !variable->isArray()) {
          Value value = fitted(evaluate(variable->initializer), variable->type);
          value.varies |= frame_->loops > 0 && variable->isAssigned;
          frame_->scalars[variable] = std::move(value);
          for (const Expr* each : variable->stores)
            evaluate(each);
        }
      return Flow::Next;
    case StmtKind::Compound:
      return executeAll(stmt->statements);
    case StmtKind::If:
      return branch(*stmt);
    case StmtKind::While:
    case StmtKind::DoWhile:
    case StmtKind::For:
      return repeat(*stmt);
    case StmtKind::Switch:
      return choose(*stmt);
    case StmtKind::Break:
      return Flow::Break;
    case StmtKind::Continue:
      return Flow::Continue;
    case StmtKind::Return:
      frame_->returned = evaluate(stmt->expression, returnUse_);
      return Flow::Return;
    case StmtKind::TaskCall:
      taskCall(*stmt);
      return Flow::Next;
    case StmtKind::Copy:
      for (const Argument& argument : stmt->arguments)
        block(*argument.value);
      return Flow::Next;
    case StmtKind::Map:
      iterate(*stmt);
      return Flow::Next;
    default:
      return Flow::Next;
    }
  }

  Flow executeAll(const std::vector<Stmt*>& statements) {
    for (const Stmt* stmt : statements)
      if (Flow flow = execute(stmt); flow != Flow::Next)
        return flow;
    return Flow::Next;
  }

  Flow branch(const Stmt& stmt) {
    if (auto truth = evaluate(stmt.expression).truth())
      return execute(*truth ? stmt.body : stmt.otherwise);
    const Scalars before = frame_->scalars;
    execute(stmt.body);
    frame_->scalars = before;
    execute(stmt.otherwise);
    frame_->scalars = before;
    forget(&stmt);
    return Flow::Next;
  }

  Flow repeat(const Stmt& stmt) {
    if (stmt.initial)
      execute(stmt.initial);
    markVarying(&stmt);
    ++frame_->loops;
    Flow result = Flow::Next;
    bool isFirst = stmt.kind == StmtKind::DoWhile, isKnown = frame_->isInner;
    for (int64_t count = 0; isKnown; ++count) {
      std::optional<bool> goesOn = true;
      if (!std::exchange(isFirst, false) && stmt.expression)
        goesOn = evaluate(stmt.expression, {.isBound = true}).truth();
      isKnown = goesOn.has_value() && count < mostRepetitions && result_.isComplete;
      if (!isKnown || !*goesOn)
        break;
      const Flow flow = execute(stmt.body);
      if (flow == Flow::Break || flow == Flow::Return) {
        result = flow == Flow::Return ? flow : Flow::Next;
        break;
      }
      if (stmt.step)
        evaluate(stmt.step);
    }
    if (!isKnown) { // once, for any iteration
      forget(&stmt);
      evaluate(stmt.expression, {.isBound = true});
      execute(stmt.body);
      evaluate(stmt.step);
      forget(&stmt);
    }
    --frame_->loops;
    return result;
  }

  Flow choose(const Stmt& stmt) {
    const Value value = evaluate(stmt.expression);
    if (!value.isInteger()) {
      const Scalars before = frame_->scalars;
      for (const SwitchSection& section : stmt.sections) {
        executeAll(section.statements);
        frame_->scalars = before;
      }
      forget(&stmt);
      return Flow::Next;
    }
    size_t begin = stmt.sections.size();
    for (size_t i = 0; i < stmt.sections.size(); ++i)
      if (std::find(stmt.sections[i].values.begin(), stmt.sections[i].values.end(), value.integer) !=
          stmt.sections[i].values.end())
        begin = i;
    for (size_t i = 0; i < stmt.sections.size() && begin == stmt.sections.size(); ++i)
      if (stmt.sections[i].isDefault)
        begin = i;
    for (size_t i = begin; i < stmt.sections.size(); ++i)
      if (Flow flow = executeAll(stmt.sections[i].statements); flow != Flow::Next)
        return flow == Flow::Break ? Flow::Next : flow;
    return Flow::Next;
  }

  void iterate(const Stmt& stmt) {
    const Loop& loop = *stmt.loop;
    const Value begin = evaluate(loop.start, {.isBound = true}), end = evaluate(loop.end, {.isBound = true});
    Value number;
    number.varies = true;
    if (!begin.isInteger() || !end.isInteger()) {
      frame_->scalars[loop.variable] = number;
      execute(stmt.body);
      return;
    }
    // Each level of a nest takes part of the iterations.
    int64_t most = mostIterations;
    for (const Stmt* inner = stmt.body; inner;)
      if (inner->kind == StmtKind::Compound && inner->statements.size() == 1) {
        inner = inner->statements[0];
      } else {
        if (inner->kind == StmtKind::Map)
          most = std::max<int64_t>(most / 8, 4);
        inner = inner->kind == StmtKind::Map ? inner->body : nullptr;
      }
    for (const Loop* outer = loop.parent; outer; outer = outer->parent)
      most = std::max<int64_t>(most / 8, 4);
    const __int128 count = static_cast<__int128>(end.integer) - begin.integer;
    number.kind = Value::Kind::Integer;
    auto at = [&](__int128 iteration) {
      number.integer = static_cast<int64_t>(begin.integer + iteration);
      frame_->scalars[loop.variable] = number;
      execute(stmt.body);
    };
    if (count <= most) {
      for (__int128 i = 0; i < count; ++i)
        at(i);
      return;
    }
    const int64_t third = most / 3 + 1;
    for (int64_t i = 0; i < third; ++i)
      at(i);
    for (int64_t i = 1; i < third; ++i)
      at(third + (count - 2 * third) * i / third);
    for (int64_t i = third; i > 0; --i)
      at(count - i);
  }

  // ---- blocks and calls ----

  std::vector<Value> block(const Expr& expr) {
    if (expr.kind != ExprKind::Block)
      return {};
    if (!expr.operands.empty())
      return block(*expr.operands[0]);
    std::vector<Value> extents = frame_->extents[expr.variable->index];
    for (size_t d = 0; d < expr.ranges.size(); ++d)
      extents[d] = range(expr.ranges[d], extents[d]);
    return extents;
  }

  Value range(const BlockRange& range, const Value& extent) {
    const Value start = evaluate(range.start), stride = range.stride ? evaluate(range.stride) : Value::of(int64_t(1));
    const Value most = range.max ? evaluate(range.max) : Value();
    Value end = extent;
    if (range.end) {
      end = evaluate(range.end);
      if (end.isInteger() && extent.isInteger() && end.integer > extent.integer) {
        Value both = end;
        both.after(start);
        report(Misfit::Kind::Outside, frame_->index, range.end, end.integer, extent.integer, both.from);
        end.integer = extent.integer;
      }
    } else if (range.max) {
      end = Value();
      int64_t sum = 0;
      if (start.isInteger() && most.isInteger() && extent.isInteger() &&
          !__builtin_add_overflow(start.integer, most.integer, &sum))
        end = Value::of(std::min(sum, extent.integer));
      end.after(start).after(most).after(extent);
    }
    Value count;
    if (start.isInteger() && end.isInteger() && stride.isInteger() && stride.integer >= 1) {
      const int64_t length = end.integer - std::max<int64_t>(start.integer, 0);
      count = Value::of(length <= 0 ? int64_t(0) : (length - 1) / stride.integer + 1);
    }
    count.after(start).after(end).after(stride);
    count.varies = false; // to the task, it is what it is
    if (range.end && most.isInteger() && count.isInteger() && count.integer > most.integer) {
      Value both = most;
      both.after(count);
      report(Misfit::Kind::AboveMax, frame_->index, range.max, count.integer, most.integer, both.from);
      for (Misfit& each : result_.misfits)
        if (each.kind == Misfit::Kind::AboveMax && each.expr == range.max && each.instance == frame_->index)
          each.value = std::max(each.value, count.integer);
    }
    return count;
  }

  void taskCall(const Stmt& stmt) {
    std::vector<std::vector<Value>> extents;
    std::vector<Value> scalars;
    for (const Argument& argument : stmt.arguments) {
      const bool isBlock = argument.value->kind == ExprKind::Block;
      extents.push_back(block(*argument.value));
      scalars.push_back(isBlock ? Value() : evaluate(argument.value));
    }
    auto callAll = [&](const Callsite& site, auto extentsOf, auto scalarOf) {
      if (site.index >= frame_->instance->callsites.size())
        return;
      for (const ResolvedTarget& target : frame_->instance->callsites[site.index].targets) {
        const std::optional<bool> applies = holds(target);
        if (applies == false)
          continue;
        call(target.instance, extentsOf, scalarOf);
        if (applies == true)
          break;
      }
    };
    callAll(
        *stmt.callsite, [&](size_t p) -> const std::vector<Value>& { return extents[p]; },
        [&](size_t p) -> const Value& { return scalars[p]; });
    for (size_t p = 0; p < stmt.arguments.size(); ++p) {
      const Argument& argument = stmt.arguments[p];
      if (argument.combiner)
        callAll(
            *argument.combiner, [&](size_t) -> const std::vector<Value>& { return extents[p]; },
            [&](size_t) -> const Value& { return scalars[p]; });
      if (argument.direction != Direction::In && argument.value->kind == ExprKind::Variable) {
        Value written;
        written.varies = frame_->loops > 0;
        frame_->scalars[argument.value->variable] = written;
      }
    }
  }

  std::optional<bool> holds(const ResolvedTarget& target) const {
    std::optional<bool> all = true;
    for (const ResolvedCondition& condition : target.conditions) {
      if (!condition.array) {
        all = std::nullopt;
        continue;
      }
      const std::vector<Value>& extents = frame_->extents[condition.array->index];
      for (size_t d = 0; d < extents.size() && d < condition.bound.values.size(); ++d) {
        if (!extents[d].isInteger()) {
          all = std::nullopt;
          continue;
        }
        const int64_t extent = extents[d].integer, bound = condition.bound.values[d];
        const Relation relation = condition.bound.relation;
        const bool isMet = relation == Relation::Less      ? extent < bound
                           : relation == Relation::AtMost  ? extent <= bound
                           : relation == Relation::Equal   ? extent == bound
                           : relation == Relation::AtLeast ? extent >= bound
                                                           : extent > bound;
        if (!isMet)
          return false;
      }
    }
    return all;
  }

  template <typename ExtentsOf, typename ScalarOf>
  void call(uint32_t index, ExtentsOf extentsOf, ScalarOf scalarOf) {
    const TaskVariant& variant = *graph_.instances[index].variant;
    Scalars sizes, scalars;
    for (size_t p = 0; p < variant.parameters.size(); ++p) {
      const Variable& parameter = *variant.parameters[p];
      if (!parameter.isArray()) {
        if (parameter.direction == Direction::In) {
          Value value = scalarOf(p);
          value.varies = false;
          scalars[&parameter] = std::move(value);
        }
        continue;
      }
      const std::vector<Value>& extents = extentsOf(p);
      for (size_t d = 0; d < parameter.extents.size() && d < extents.size(); ++d)
        if (const Variable* size = parameter.extents[d].linear.unit())
          sizes.try_emplace(size, extents[d]);
    }
    enter(index, std::move(sizes), std::move(scalars));
  }

  Value linear(const LinearSize& size, const Scalars& sizes) const {
    __int128 sum = size.constant;
    Value result;
    bool isKnown = true;
    for (const auto& [coefficient, parameter] : size.terms) {
      auto at = sizes.find(parameter);
      isKnown &= at != sizes.end() && at->second.isInteger();
      if (at != sizes.end())
        result.after(at->second);
      if (isKnown)
        sum += static_cast<__int128>(coefficient) * at->second.integer;
    }
    if (isKnown && sum >= 0 && sum <= INT64_MAX) {
      result.kind = Value::Kind::Integer;
      result.integer = static_cast<int64_t>(sum);
    }
    return result;
  }

  /// Goes through an instance, unless it has been entered like this before.
  void enter(uint32_t index, Scalars sizes, Scalars scalars) {
    if (depth_ >= deepestCalls || !result_.isComplete)
      return;
    const Instance& instance = graph_.instances[index];
    const TaskVariant& variant = *instance.variant;
    std::vector<int64_t> key{index};
    for (const Variable* size : variant.sizeParameters) {
      auto at = sizes.find(size);
      key.push_back(at != sizes.end() && at->second.isInteger() ? at->second.integer : -1);
    }
    bool isSteered = false; // a leaf by tunables, its own or passed on
    for (const Variable* parameter : variant.parameters)
      if (auto at = scalars.find(parameter); at != scalars.end()) {
        key.push_back(at->second.isInteger());
        key.push_back(at->second.integer);
        isSteered |= !at->second.from.empty();
      }
    if (!seen_.insert(std::move(key)).second)
      return;
    Frame frame;
    frame.index = index;
    frame.instance = &instance;
    frame.isInner = variant.kind == TaskKind::Inner;
    frame.scalars = std::move(scalars);
    frame.scalars.insert(sizes.begin(), sizes.end());
    Frame* outer = std::exchange(frame_, &frame);
    auto& largest = result_.largest[index];
    const bool isFirst = largest.empty();
    largest.resize(variant.arrays.size());
    for (const Variable* array : variant.arrays) {
      std::vector<Value>& extents = frame.extents.emplace_back();
      for (const Extent& extent : array->extents)
        extents.push_back(array->kind == VariableKind::Parameter ? linear(extent.linear, sizes)
                                                                 : evaluate(extent.expression));
      auto& most = largest[array->index];
      most.resize(extents.size(), 0);
      for (size_t d = 0; d < extents.size(); ++d)
        if (!extents[d].isInteger() || (!isFirst && !most[d]))
          most[d] = std::nullopt;
        else
          most[d] = std::max(*most[d], extents[d].integer);
    }
    ++depth_;
    if (frame.isInner || (variant.kind == TaskKind::Leaf && (isSteered || !variant.tunables.empty())))
      execute(variant.body);
    --depth_;
    frame_ = outer;
  }

  const InstanceGraph& graph_;
  const KnownSizes& known_;
  Rehearsal result_;
  std::vector<TunableUse> uses_;
  std::vector<uint32_t> first_; // of each instance, among uses_
  std::map<std::pair<uint32_t, const Expr*>, Division> divisions_;
  std::set<std::tuple<Misfit::Kind, uint32_t, const Expr*>> reported_;
  std::set<std::vector<int64_t>> seen_;
  Frame* frame_ = nullptr;
  Use returnUse_;
  size_t depth_ = 0, calls_ = 0;
  int64_t steps_ = 0;
};

} // namespace

Rehearsal rehearse(const InstanceGraph& graph, const KnownSizes& known) {
  return Rehearser(graph, known).run();
}

} // namespace strata::sequoia

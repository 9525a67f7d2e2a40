// One walk over a variant's body. Inside of an inline function, its parameters stand for the arguments of the call.
#include "compiler/sequoia/check/tunable_uses.h"

#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/check/stepping.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::sequoia {

namespace {

using FormulaPtr = std::shared_ptr<const Formula>;
using Tunables = std::set<const Variable*>;

/// What the parameters of an inline function stand for, in terms of the scope around the call.
struct CallScope {
  std::map<const Variable*, const Expr*> arguments;
  const CallScope* outer = nullptr;
  size_t depth = 0;
};

struct Surroundings {
  bool isLoopBound = false, isMax = false, isExtent = false;
  bool isTakenUp = false; // what a division leaves over is
  bool isOneMore = false; // a positive constant stands beside it
};

const Expr* inner(const Expr* expr) {
  while (expr->kind == ExprKind::Cast && expr->type->isInteger() && expr->operands[0]->type->isInteger())
    expr = expr->operands[0];
  return expr;
}

class UsesOfTunables {
public:
  explicit UsesOfTunables(const TaskVariant& variant) : variant_(variant) {
    result_.tunables.resize(variant.tunables.size());
    elsewhere_.resize(variant.tunables.size());
    inMax_.resize(variant.tunables.size());
  }

  TunableUses run() {
    const CallScope none;
    for (const Variable* array : variant_.arrays)
      if (array->kind == VariableKind::Local)
        for (const Extent& extent : array->extents)
          walk(extent.expression, none, {.isExtent = true});
    statement(variant_.body, none);
    for (size_t i = 0; i < result_.tunables.size(); ++i)
      result_.tunables[i].isBound = inMax_[i] && !elsewhere_[i];
    std::erase_if(result_.shares, [&](const ExactDivision& share) { return roundedUp_.contains(share.tunables[0]); });
    return std::move(result_);
  }

private:
  static constexpr size_t deepest = 32;

  void statement(const Stmt* stmt, const CallScope& scope) {
    if (!stmt)
      return;
    const bool repeats =
        stmt->kind == StmtKind::For || stmt->kind == StmtKind::While || stmt->kind == StmtKind::DoWhile;
    walk(stmt->expression, scope, {.isLoopBound = repeats});
    if (repeats)
      steps(*stmt, scope);
    walk(stmt->step, scope, {});
    for (const Variable* variable : stmt->variables) {
      walk(variable->initializer, scope, {});
      for (const Expr* store : variable->stores)
        walk(store, scope, {});
    }
    for (const Argument& argument : stmt->arguments) {
      walk(argument.value, scope, {});
      if (argument.direction != Direction::In)
        shares(*argument.value, scope);
    }
    if (stmt->loop) {
      walk(stmt->loop->start, scope, {.isLoopBound = true});
      walk(stmt->loop->end, scope, {.isLoopBound = true});
    }
    for (const Stmt* part : {stmt->initial, stmt->body, stmt->otherwise})
      statement(part, scope);
    for (const Stmt* part : stmt->statements)
      statement(part, scope);
    for (const SwitchSection& section : stmt->sections)
      for (const Stmt* part : section.statements)
        statement(part, scope);
  }

  void walk(const Expr* expr, const CallScope& scope, Surroundings around) {
    if (!expr)
      return;
    for (const BlockRange& range : expr->ranges) {
      for (const Expr* part : {range.start, range.end, range.stride})
        walk(part, scope, {});
      walk(range.max, scope, {.isMax = range.end != nullptr});
    }
    switch (expr->kind) {
    case ExprKind::Variable:
      if (expr->variable->kind == VariableKind::Tunable)
        seen(expr->variable, around);
      else if (const Expr* meant = meaning(expr->variable, scope).first; meant)
        for (const Variable* tunable : tunablesIn(expr, scope))
          seen(tunable, around);
      return;
    case ExprKind::Binary:
      return binary(*expr, scope, around);
    case ExprKind::Assign:
      if (expr->op == Operator::ShiftLeft || expr->op == Operator::ShiftRight)
        mark(expr->operands[1], scope, &TunableKind::isShift);
      if (expr->op == Operator::BitAnd || expr->op == Operator::BitOr || expr->op == Operator::BitXor)
        mark(expr->operands[1], scope, &TunableKind::isBits);
      break;
    case ExprKind::Unary:
      if (expr->op == Operator::Complement)
        mark(expr->operands[0], scope, &TunableKind::isBits);
      if (expr->op == Operator::Not)
        around = {};
      break;
    case ExprKind::Call: {
      for (const Expr* operand : expr->operands)
        walk(operand, scope, {});
      CallScope called{{}, &scope, scope.depth + 1};
      for (size_t i = 0; i < expr->operands.size() && i < expr->function->parameters.size(); ++i)
        called.arguments[expr->function->parameters[i]] = expr->operands[i];
      if (called.depth < deepest && !tunablesInAny(expr->operands, scope).empty())
        statement(expr->function->body, called);
      return;
    }
    case ExprKind::Cast:
    case ExprKind::Conditional:
    case ExprKind::BuiltinCall:
      break; // the value goes where it would without
    default:
      around = {};
    }
    for (const Expr* operand : expr->operands)
      walk(operand, scope, around);
  }

  void seen(const Variable* tunable, const Surroundings& around) {
    (around.isMax ? inMax_ : elsewhere_)[tunable->index] |= !around.isExtent;
    result_.tunables[tunable->index].isCount |= around.isLoopBound;
    result_.tunables[tunable->index].isExtent |= around.isExtent;
  }

  void mark(const Expr* expr, const CallScope& scope, bool TunableKind::* kind) {
    for (const Variable* tunable : tunablesIn(expr, scope))
      result_.tunables[tunable->index].*kind = true;
  }

  void binary(const Expr& expr, const CallScope& scope, Surroundings around) {
    const Expr *left = expr.operands[0], *right = expr.operands[1];
    Surroundings ofLeft = around, ofRight = around;
    switch (expr.op) {
    case Operator::Add:
      ofLeft.isTakenUp |= takesUp(right);
      ofRight.isTakenUp |= takesUp(left);
      ofLeft.isOneMore |= constantOf(right).value_or(0) > 0;
      ofRight.isOneMore |= constantOf(left).value_or(0) > 0;
      break;
    case Operator::Multiply:
      ofLeft.isTakenUp |= undoes(left, right, scope);
      ofRight.isTakenUp |= undoes(right, left, scope);
      break;
    case Operator::Subtract:
      break;
    case Operator::Divide:
      if (expr.type->isInteger())
        division(expr, scope, around);
      ofRight = {};
      break;
    case Operator::ShiftLeft:
    case Operator::ShiftRight:
      mark(right, scope, &TunableKind::isShift);
      if (expr.op == Operator::ShiftRight)
        division(expr, scope, around);
      ofRight = {};
      break;
    case Operator::BitAnd:
    case Operator::BitOr:
    case Operator::BitXor:
      mark(left, scope, &TunableKind::isBits);
      mark(right, scope, &TunableKind::isBits);
      ofLeft = ofRight = {};
      break;
    default:
      ofLeft = ofRight = {};
    }
    walk(left, scope, ofLeft);
    walk(right, scope, ofRight);
  }

  void division(const Expr& expr, const CallScope& scope, const Surroundings& around) {
    const Tunables tunables = tunablesIn(expr.operands[1], scope);
    const bool roundsUp = !tunables.empty() && adds(expr.operands[0], tunables, scope, true);
    if (roundsUp)
      roundedUp_.insert(tunables.begin(), tunables.end());
    if (tunables.empty() || around.isTakenUp || roundsUp)
      return;
    // One more iteration takes up the rest, unless a block has been taken off before.
    if (around.isOneMore && !adds(expr.operands[0], tunables, scope, false))
      return;
    if (!around.isLoopBound && varies(expr.operands[0], scope))
      return;
    ExactDivision division;
    division.expr = &expr;
    division.by = expr.operands[1];
    division.isInline = scope.depth > 0;
    division.tunables.assign(tunables.begin(), tunables.end());
    for (const Variable* tunable : tunables)
      result_.tunables[tunable->index].isDivisor = true;
    division.divided = formula(expr.operands[0], scope);
    division.divisor = formula(expr.operands[1], scope);
    if (expr.op == Operator::ShiftRight && division.divisor)
      division.divisor = operation(Operator::ShiftLeft, constant(1), division.divisor);
    result_.divisions.push_back(std::move(division));
  }

  /// A loop that goes on while its variable is not a certain value takes its steps to divide the way there.
  void steps(const Stmt& loop, const CallScope& scope) {
    const std::optional<Stepping> stepping = steppingOf(loop);
    if (!stepping || !stepping->step || !stepping->bound || stepping->mayLeave ||
        loop.expression->op != Operator::NotEqual)
      return;
    const Tunables tunables = tunablesIn(stepping->step, scope);
    if (tunables.empty())
      return;
    ExactDivision division;
    division.expr = loop.expression;
    division.by = stepping->step;
    division.isInline = scope.depth > 0;
    division.tunables.assign(tunables.begin(), tunables.end());
    for (const Variable* tunable : tunables)
      result_.tunables[tunable->index].isDivisor = true;
    if (stepping->start) {
      const Expr *first = stepping->start, *last = stepping->bound;
      if (stepping->isDown)
        std::swap(first, last);
      division.divided = operation(Operator::Subtract, formula(last, scope), formula(first, scope));
    }
    division.divisor = formula(stepping->step, scope);
    result_.divisions.push_back(std::move(division));
  }

  void shares(const Expr& block, const CallScope& scope) {
    if (block.kind != ExprKind::Block || !block.operands.empty())
      return;
    for (size_t d = 0; d < block.ranges.size(); ++d) {
      const BlockRange& range = block.ranges[d];
      Tunables tunables;
      for (const Expr* part : {range.start, range.end, range.end ? nullptr : range.max})
        tunables.merge(tunablesIn(part, scope));
      for (const Variable* tunable : tunables) {
        ExactDivision share;
        share.expr = &block;
        share.tunables = {tunable};
        share.divided = formula(block.variable->extents[d].expression, scope);
        auto divisor = std::make_shared<Formula>();
        divisor->kind = Formula::Kind::Variable;
        divisor->variable = tunable;
        share.divisor = std::move(divisor);
        if (result_.tunables[tunable->index].isShift)
          share.divisor = operation(Operator::ShiftLeft, constant(1), share.divisor);
        if (share.isKnown())
          result_.shares.push_back(std::move(share));
      }
    }
  }

  /// Whether a sum adds one of the tunables: it is rounded up.
  static bool adds(const Expr* sum, const Tunables& tunables, const CallScope& scope, bool isPlus) {
    sum = inner(sum);
    if (sum->kind == ExprKind::Unary && sum->op == Operator::Negate)
      return adds(sum->operands[0], tunables, scope, !isPlus);
    if (sum->kind == ExprKind::Binary && sum->op == Operator::Add)
      return adds(sum->operands[0], tunables, scope, isPlus) || adds(sum->operands[1], tunables, scope, isPlus);
    if (sum->kind == ExprKind::Binary && sum->op == Operator::Subtract)
      return adds(sum->operands[0], tunables, scope, isPlus) || adds(sum->operands[1], tunables, scope, !isPlus);
    if (sum->kind == ExprKind::Variable)
      if (auto [meant, where] = meaning(sum->variable, scope); meant)
        return adds(meant, tunables, *where, isPlus);
    if (!isPlus)
      return false;
    const Tunables in = tunablesIn(sum, scope);
    return std::any_of(in.begin(), in.end(), [&](const Variable* each) { return tunables.contains(each); });
  }

  /// A term beside a quotient that stands for what the division leaves over.
  static bool takesUp(const Expr* term) {
    term = inner(term);
    if (term->kind == ExprKind::Unary)
      return term->op == Operator::Not || takesUp(term->operands[0]);
    if (term->kind == ExprKind::Binary)
      return term->op == Operator::Remainder || (term->op >= Operator::Less && term->op <= Operator::NotEqual);
    return term->kind == ExprKind::Conditional || term->kind == ExprKind::Logical;
  }

  /// Whether a quotient is multiplied by its divisor again.
  static bool undoes(const Expr* quotient, const Expr* factor, const CallScope& scope) {
    quotient = inner(quotient);
    if (quotient->kind != ExprKind::Binary ||
        (quotient->op != Operator::Divide && quotient->op != Operator::ShiftRight))
      return false;
    const Tunables divisor = tunablesIn(quotient->operands[1], scope), again = tunablesIn(factor, scope);
    return std::any_of(divisor.begin(), divisor.end(), [&](const Variable* each) { return again.contains(each); });
  }

  /// What a variable stands for: the argument of a call, or the value that it keeps. Null: it is no such variable.
  static std::pair<const Expr*, const CallScope*> meaning(const Variable* variable, const CallScope& scope) {
    if (variable->kind == VariableKind::FunctionParameter && scope.outer && !variable->isAssigned)
      if (auto at = scope.arguments.find(variable); at != scope.arguments.end())
        return {at->second, scope.outer};
    if (variable->kind == VariableKind::Local && !variable->isAssigned && !variable->isArray())
      return {variable->initializer, &scope};
    return {nullptr, nullptr};
  }

  static bool varies(const Expr* expr, const CallScope& scope) {
    if (expr->kind == ExprKind::Variable) {
      if (auto [meant, where] = meaning(expr->variable, scope); meant)
        return varies(meant, *where);
      return expr->variable->kind == VariableKind::LoopVariable || expr->variable->kind == VariableKind::Local ||
             expr->variable->kind == VariableKind::FunctionParameter;
    }
    if (expr->kind == ExprKind::Element || expr->kind == ExprKind::Member || expr->kind == ExprKind::MemberIndex)
      return true;
    return std::any_of(expr->operands.begin(), expr->operands.end(),
                       [&](const Expr* operand) { return varies(operand, scope); });
  }

  static Tunables tunablesInAny(const std::vector<Expr*>& exprs, const CallScope& scope) {
    Tunables all;
    for (const Expr* expr : exprs)
      all.merge(tunablesIn(expr, scope));
    return all;
  }

  static Tunables tunablesIn(const Expr* expr, const CallScope& scope) {
    if (!expr)
      return {};
    if (expr->kind == ExprKind::Variable) {
      if (expr->variable->kind == VariableKind::Tunable)
        return {expr->variable};
      auto [meant, where] = meaning(expr->variable, scope);
      return meant ? tunablesIn(meant, *where) : Tunables();
    }
    return tunablesInAny(expr->operands, scope);
  }

  static FormulaPtr constant(int64_t value) {
    auto made = std::make_shared<Formula>();
    made->constant = value;
    return made;
  }
  static FormulaPtr operation(Operator op, FormulaPtr left, FormulaPtr right) {
    auto made = std::make_shared<Formula>();
    made->kind = Formula::Kind::Operation;
    made->op = op;
    made->left = std::move(left);
    made->right = std::move(right);
    return made->left && made->right ? made : nullptr;
  }

  static FormulaPtr formula(const Expr* expr, const CallScope& scope) {
    expr = inner(expr);
    if (!expr->type->isInteger())
      return nullptr;
    switch (expr->kind) {
    case ExprKind::Integer:
      return constant(expr->signedValue());
    case ExprKind::Variable: {
      const Variable& variable = *expr->variable;
      if (auto [meant, where] = meaning(&variable, scope); meant)
        return formula(meant, *where);
      const bool isKnown = variable.kind == VariableKind::SizeParameter || variable.kind == VariableKind::Tunable ||
                           (variable.kind == VariableKind::Parameter && variable.direction == Direction::In);
      if (!isKnown)
        return nullptr;
      auto made = std::make_shared<Formula>();
      made->kind = Formula::Kind::Variable;
      made->variable = &variable;
      return made;
    }
    case ExprKind::Unary:
      if (expr->op == Operator::Plus)
        return formula(expr->operands[0], scope);
      return expr->op == Operator::Negate
                 ? operation(Operator::Subtract, constant(0), formula(expr->operands[0], scope))
                 : nullptr;
    case ExprKind::Binary:
      switch (expr->op) {
      case Operator::Add:
      case Operator::Subtract:
      case Operator::Multiply:
      case Operator::Divide:
      case Operator::Remainder:
      case Operator::ShiftLeft:
      case Operator::ShiftRight:
        return operation(expr->op, formula(expr->operands[0], scope), formula(expr->operands[1], scope));
      default:
        return nullptr;
      }
    case ExprKind::BuiltinCall: {
      if (expr->builtin != Builtin::Min && expr->builtin != Builtin::Max)
        return nullptr;
      auto made = std::make_shared<Formula>();
      made->kind = expr->builtin == Builtin::Min ? Formula::Kind::Minimum : Formula::Kind::Maximum;
      made->left = formula(expr->operands[0], scope);
      made->right = formula(expr->operands[1], scope);
      return made->left && made->right ? made : nullptr;
    }
    case ExprKind::Call: {
      const Stmt* body = expr->function->body;
      while (body && body->kind == StmtKind::Compound && body->statements.size() == 1)
        body = body->statements[0];
      if (!body || body->kind != StmtKind::Return || !body->expression || scope.depth >= deepest)
        return nullptr;
      CallScope called{{}, &scope, scope.depth + 1};
      for (size_t i = 0; i < expr->operands.size() && i < expr->function->parameters.size(); ++i)
        called.arguments[expr->function->parameters[i]] = expr->operands[i];
      return formula(body->expression, called);
    }
    default:
      return nullptr;
    }
  }

  const TaskVariant& variant_;
  TunableUses result_;
  std::vector<char> elsewhere_, inMax_;
  Tunables roundedUp_;
};

} // namespace

bool ExactDivision::isProductWith(const Variable* tunable) const {
  auto isProduct = [&](auto& self, const Formula& formula) -> bool {
    if (formula.kind == Formula::Kind::Operation && formula.op == Operator::Multiply)
      return self(self, *formula.left) && self(self, *formula.right);
    return formula.kind == Formula::Kind::Constant || formula.kind == Formula::Kind::Variable;
  };
  return isKnown() && divisor->kind == Formula::Kind::Operation && isProduct(isProduct, *divisor) &&
         std::find(tunables.begin(), tunables.end(), tunable) != tunables.end();
}

std::vector<const ExactDivision*> TunableUses::settling(const std::vector<char>& isSettled) const {
  std::vector<const ExactDivision*> result;
  std::set<const Variable*> divide;
  for (const ExactDivision& division : divisions)
    if (division.isKnown())
      for (const Variable* tunable : division.tunables)
        if (isSettled[tunable->index]) {
          if (result.empty() || result.back() != &division)
            result.push_back(&division);
          divide.insert(tunable);
        }
  for (const ExactDivision& share : shares)
    if (isSettled[share.tunables[0]->index] && !divide.contains(share.tunables[0]))
      result.push_back(&share);
  return result;
}

TunableUses usesOf(const TaskVariant& variant) {
  return UsesOfTunables(variant).run();
}

} // namespace strata::sequoia

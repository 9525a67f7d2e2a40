// One walk over each body finds what hardly was meant. Which variables may have been written is followed along the
// paths of the body: a read is reported only when no path has written the variable before, so that a warning is never
// about a path that the program does not take.
#include "compiler/sequoia/check/suspects.h"

#include "compiler/sequoia/check/fold.h"
#include "compiler/sequoia/check/writes.h"

#include <set>
#include <utility>

namespace strata::sequoia {

STRATA_DIAGNOSTIC(uninitialized, Warning, "sequoia-uninitialized", "'{0}' is read, and nothing has written it before");
STRATA_DIAGNOSTIC(outputUnwritten, Warning, "sequoia-output-unwritten", "no statement writes the {0} '{1}'");
STRATA_DIAGNOSTIC(assignedCondition, Warning, "sequoia-assigned-condition",
                  "the condition is an assignment, not a comparison");
STRATA_DIAGNOSTIC(emptyBody, Warning, "sequoia-empty-body", "the body of this '{0}' is empty: it ends at the ';'");
STRATA_DIAGNOSTIC(commaIndex, Warning, "sequoia-comma-index", "of the values in this index only the last one counts");
STRATA_DIAGNOSTIC(decidedComparison, Warning, "sequoia-decided-comparison",
                  "this comparison is always {0}: a value of type '{1}' is {2}");

namespace {

using Variables = std::set<const Variable*>;

class Suspects {
public:
  explicit Suspects(DiagnosticEngine& diagnostics) : diagnostics_(diagnostics) {}

  void function(const Function& function) {
    unwritten_ = {};
    visit(function.body);
  }

  void variant(const TaskVariant& variant) {
    if (!variant.body)
      return;
    unwritten_ = {};
    const Variables written = sequoia::written(variant.body);
    for (const Variable* parameter : variant.parameters) {
      if (parameter->direction != Direction::Out)
        continue;
      begin(*parameter);
      if (!written.contains(parameter))
        diagnostics_
            .report(outputUnwritten, parameter->location, parameter->isArray() ? "output array" : "output",
                    parameter->name)
            .note("what a task takes as 'out' has no value before the task writes it")
            .help(variant.kind == TaskKind::Inner ? "pass it to a task that writes it, or take it out of the arguments"
                                                  : "write it, or take it out of the arguments");
    }
    visit(variant.body);
  }

private:
  /// The scalars without a value that nothing has written when a point is reached: on no path, and on no path that
  /// reaches it for the first time. Not every iteration of a loop reaches every point, so that the first time may be
  /// behind whole iterations. `ever` is a part of `first`.
  struct Unwritten {
    Variables ever, first;
  };

  void begin(const Variable& variable) {
    // Structs begin as zeros.
    if (variable.isArray() || variable.type->isRecord())
      return;
    unwritten_.ever.insert(&variable);
    unwritten_.first.insert(&variable);
  }

  void write(const Variable* variable) {
    unwritten_.ever.erase(variable);
    unwritten_.first.erase(variable);
  }
  void write(const Variables& some) {
    for (const Variable* each : some)
      write(each);
  }

  void read(const Expr* expr) {
    const Variable* variable = expr->variable;
    if (!unwritten_.first.contains(variable) || !reported_.insert(variable).second)
      return;
    const bool isOutput = variable->direction == Direction::Out;
    diagnostics_.report(uninitialized, expr->location, variable->name)
        .label(variable->location, isOutput ? "an output, which begins without a value" : "declared without a value")
        .help(isOutput ? "write it first, or take it as inout"
                       : "give it its first value where it is declared, such as '" + typeName(variable->type) + " " +
                             std::string(variable->name) + " = 0;'");
  }

  // ---- Paths ----

  static void keep(Variables& of, const Variables& those) {
    std::erase_if(of, [&](const Variable* each) { return !those.contains(each); });
  }

  /// A statement or expression that some paths leave out.
  template <typename Node>
  void branch(const Node* node) {
    if (!node)
      return;
    Unwritten before = unwritten_;
    unwritten_.first = unwritten_.ever;
    visit(node);
    unwritten_ = std::move(before);
    write(written(node));
  }

  /// Two of which one is executed.
  template <typename Node>
  void either(const Node* one, const Node* other) {
    const Unwritten before = unwritten_;
    branch(one);
    const Unwritten between = std::exchange(unwritten_, before);
    branch(other);
    keep(unwritten_.ever, between.ever);
    keep(unwritten_.first, between.first);
  }

  void loop(const Stmt* stmt) {
    visit(stmt->initial);
    Variables inside = written(stmt->expression);
    inside.merge(written(stmt->body));
    inside.merge(written(stmt->step));
    const Variables before = unwritten_.ever;
    for (const Variable* each : inside)
      unwritten_.ever.erase(each);
    if (stmt->kind == StmtKind::DoWhile)
      visit(stmt->body);
    visit(stmt->expression);
    if (stmt->kind != StmtKind::DoWhile) {
      // A loop around this one may come here for the first time in a later iteration.
      keep(unwritten_.first, before);
      visit(stmt->body);
    }
    visit(stmt->step);
    write(inside);
  }

  // ---- Statements ----

  void visit(const Stmt* stmt) {
    if (!stmt)
      return;
    switch (stmt->kind) {
    case StmtKind::Empty:
    case StmtKind::CaseLabel:
      return;
    case StmtKind::Break:
    case StmtKind::Continue:
    case StmtKind::Return:
      return visit(stmt->expression);
    case StmtKind::Expression:
      return visit(stmt->expression);
    case StmtKind::Declaration:
      for (const Variable* variable : stmt->variables)
        declaration(*variable);
      return;
    case StmtKind::Compound:
      for (const Stmt* each : stmt->statements)
        visit(each);
      return;
    case StmtKind::If:
      condition(stmt->expression);
      visit(stmt->expression);
      body(stmt->body, stmt, "if");
      return either(stmt->body, stmt->otherwise);
    case StmtKind::While:
    case StmtKind::DoWhile:
    case StmtKind::For:
      condition(stmt->expression);
      if (stmt->kind != StmtKind::DoWhile)
        body(stmt->body, stmt, stmt->kind == StmtKind::For ? "for" : "while");
      return loop(stmt);
    case StmtKind::Switch:
      visit(stmt->expression);
      // Control falls from one section into the next.
      for (const SwitchSection& section : stmt->sections)
        for (const Stmt* each : section.statements)
          branch(each);
      return;
    case StmtKind::TaskCall:
    case StmtKind::Copy:
      return call(stmt);
    case StmtKind::Map:
      visit(stmt->loop->start);
      visit(stmt->loop->end);
      return visit(stmt->body);
    }
  }

  void declaration(const Variable& variable) {
    for (const Extent& extent : variable.extents)
      visit(extent.expression);
    visit(variable.initializer);
    for (const Expr* store : variable.stores)
      visit(store);
    // It is a new one in every iteration.
    if (!variable.initializer && variable.stores.empty() && variable.kind == VariableKind::Local)
      begin(variable);
  }

  void call(const Stmt* stmt) {
    // All that goes in is read before anything comes out.
    for (const Argument& argument : stmt->arguments) {
      const bool isPlace = argument.direction == Direction::Out && argument.value->kind == ExprKind::Variable;
      if (!isPlace)
        visit(argument.value);
    }
    for (const Argument& argument : stmt->arguments)
      if (argument.direction != Direction::In && argument.value->variable)
        write(argument.value->variable);
  }

  void body(const Stmt* body, const Stmt* stmt, const char* word) {
    if (body->kind != StmtKind::Empty)
      return;
    // On a line of its own it was meant.
    const Expr* last = stmt->step ? stmt->step : stmt->expression;
    const Location before = last ? last->location : stmt->location;
    const SourceManager& sources = diagnostics_.sources();
    if (before.buffer != body->location.buffer ||
        sources.lineColumn({before.buffer, before.end, before.end}).line != sources.lineColumn(body->location).line)
      return;
    diagnostics_.report(emptyBody, body->location, word)
        .help("take the ';' away, or write '{ }' in its place where nothing is to be done");
  }

  // ---- Expressions ----

  void condition(const Expr* expr) {
    if (expr && expr->kind == ExprKind::Assign && expr->op == Operator::None && !expr->parenthesized)
      diagnostics_.report(assignedCondition, expr->location)
          .help("write '==' to compare; if it is meant, put it in parentheses of its own: 'if ((a = b))'");
  }

  void index(const Expr* expr) {
    const Expr* shown = expr;
    while (shown->kind == ExprKind::Cast && shown->isImplicit)
      shown = shown->operands[0];
    if (shown->kind == ExprKind::Comma && !shown->parenthesized)
      diagnostics_.report(commaIndex, shown->location)
          .note("a comma computes the left value and takes the right one")
          .help("each dimension has brackets of its own: 'a[i][j]'");
    visit(expr);
  }

  void target(const Expr* expr, bool isRead) {
    const Expr* base = expr;
    while (base->kind == ExprKind::Member || base->kind == ExprKind::MemberIndex) {
      if (base->kind == ExprKind::MemberIndex)
        index(base->operands[1]);
      base = base->operands[0];
    }
    if (base->kind == ExprKind::Element)
      for (const Expr* each : base->operands)
        index(each);
    if (isRead && base->kind == ExprKind::Variable)
      read(base);
  }

  void visit(const Expr* expr) {
    if (!expr)
      return;
    switch (expr->kind) {
    case ExprKind::Variable:
      return read(expr);
    case ExprKind::Assign:
      target(expr->operands[0], expr->op != Operator::None);
      visit(expr->operands[1]);
      return write(targetVariable(expr->operands[0]));
    case ExprKind::Increment:
      target(expr->operands[0], true);
      return write(targetVariable(expr->operands[0]));
    case ExprKind::Element:
      for (const Expr* each : expr->operands)
        index(each);
      return;
    case ExprKind::MemberIndex:
      visit(expr->operands[0]);
      return index(expr->operands[1]);
    case ExprKind::Logical:
      condition(expr->operands[0]);
      condition(expr->operands[1]);
      visit(expr->operands[0]);
      return branch(expr->operands[1]);
    case ExprKind::Conditional:
      condition(expr->operands[0]);
      visit(expr->operands[0]);
      return either(expr->operands[1], expr->operands[2]);
    case ExprKind::Block:
      for (const BlockRange& range : expr->ranges)
        for (const Expr* part : {range.start, range.end, range.stride, range.max})
          if (part)
            index(part);
      for (const Expr* operand : expr->operands)
        visit(operand);
      return;
    default:
      for (const Expr* operand : expr->operands)
        visit(operand);
    }
  }

  DiagnosticEngine& diagnostics_;
  Unwritten unwritten_;
  Variables reported_;
};

__int128 numberOf(uint64_t value, const Type* type) {
  return type->isSigned() ? __int128(static_cast<int64_t>(value)) : __int128(value);
}

std::string text(__int128 number) {
  return number < 0 ? std::to_string(static_cast<int64_t>(number)) : std::to_string(static_cast<uint64_t>(number));
}

} // namespace

void warnOfDecidedComparison(const Expr& comparison, const Expr& left, const Expr& right, const Type* common,
                             DiagnosticEngine& diagnostics) {
  if (left.isConstant() && right.isConstant())
    return;
  if (left.kind == ExprKind::Integer)
    return warnOfDecidedComparison(comparison, right, left, common, diagnostics);
  const Type* type = left.type;
  if (left.isConstant() || right.kind != ExprKind::Integer || !type->isInteger() ||
      (type->isSigned() && !common->isSigned()))
    return;
  const __int128 values = __int128(1) << type->bits(), least = type->isSigned() ? -values / 2 : 0,
                 most = least + values - 1;
  const __int128 before = numberOf(right.integer, right.type),
                 constant = numberOf(cfamily::wrapped(right.integer, common->scalar()), common);
  const Operator op = comparison.operands[0] == &left ? comparison.op : mirrored(comparison.op);
  const bool isBelow = constant<least, isAbove = constant> most;
  const bool isZero = !type->isSigned() && constant == 0 && (op == Operator::GreaterEqual || op == Operator::Less);
  if (!isBelow && !isAbove && !isZero && before == constant)
    return;
  auto holds = [&](__int128 value) {
    switch (op) {
    case Operator::Less:
      return value < constant;
    case Operator::LessEqual:
      return value <= constant;
    case Operator::Greater:
      return value > constant;
    case Operator::GreaterEqual:
      return value >= constant;
    case Operator::Equal:
      return value == constant;
    default:
      return value != constant;
    }
  };
  const bool isEquality = op == Operator::Equal || op == Operator::NotEqual;
  if (holds(least) != holds(most) || (isEquality && !isBelow && !isAbove))
    return;
  auto report =
      diagnostics.report(decidedComparison, comparison.location, holds(least) ? "true" : "false", typeName(type),
                         type->isSigned() ? "from " + text(least) + " to " + text(most)
                                          : "0 or more" + (isAbove ? ", to " + text(most) : std::string()));
  if (before != constant)
    report.note(text(before) + " becomes " + text(constant) + " in this comparison, which is one of type '" +
                typeName(common) + "'");
  report.help(isZero || before != constant ? "compare a signed value, such as a long"
                                           : "compare with a number that '" + typeName(type) + "' can hold");
}

void warnOfSuspects(const Program& program, DiagnosticEngine& diagnostics) {
  Suspects suspects(diagnostics);
  for (const Function& function : program.functions)
    suspects.function(function);
  for (const Task& task : program.tasks)
    for (const TaskVariant* variant : task.variants)
      suspects.variant(*variant);
}

} // namespace strata::sequoia

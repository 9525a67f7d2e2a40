// An interpreter of control. Where a condition is not known, both branches are taken.
#include "compiler/sequoia/tune/rehearser.h"

#include <algorithm>

namespace strata::sequoia {

namespace rehearsal {

namespace {

constexpr size_t deepestCalls = 48;

} // namespace

size_t combined(size_t before, size_t part) {
  return (before ^ part) * 0x9e3779b97f4a7c15U + (before >> 29);
}

Rehearser::Rehearser(const InstanceGraph& graph, const KnownSizes& known) : graph_(graph), known_(known) {
  for (uint32_t index = 0; index < graph.instances.size(); ++index) {
    first_.push_back(static_cast<uint32_t>(uses_.size()));
    for (const Variable* tunable : graph.instances[index].variant->tunables)
      uses_.push_back({index, tunable});
  }
  result_.largest.resize(graph.instances.size());
}

Rehearsal Rehearser::run() {
  for (uint32_t entry = 0; entry < graph_.entryCount; ++entry) {
    const TaskVariant& variant = *graph_.instances[entry].variant;
    Scalars sizes;
    for (const Variable* size : variant.sizeParameters)
      if (auto at = known_.find(size->name); at != known_.end())
        sizes[size] = Value::of(at->second);
    enter(entry, std::move(sizes), {});
  }
  for (const Division& found : divisions_)
    if (found.isMisfit)
      report(found.isUnknown ? Misfit::Kind::Unknown : Misfit::Kind::Remainder, found.instance, found.expr,
             found.divided, found.divisor, found.from);
  for (const auto& [key, found] : left_)
    if (found.taken < found.extent)
      report(Misfit::Kind::Uncovered, std::get<0>(key), found.expr, found.extents, found.taken, found.from,
             found.extent, std::get<2>(key));
  return std::move(result_);
}

void Rehearser::forget(const Stmt* stmt) {
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

void Rehearser::markVarying(const Stmt* loop) {
  Scalars before = frame_->scalars;
  forget(loop);
  for (auto& [variable, value] : frame_->scalars)
    if (auto at = before.find(variable); at != before.end()) {
      const bool varies = value.varies;
      value = at->second;
      value.varies |= varies;
    }
}

Rehearser::Flow Rehearser::execute(const Stmt* stmt) {
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
      block(*argument.value, /*isWritten=*/&argument == &stmt->arguments.front());
    return Flow::Next;
  case StmtKind::Map:
    iterate(*stmt);
    return Flow::Next;
  default:
    return Flow::Next;
  }
}

Rehearser::Flow Rehearser::executeAll(const std::vector<Stmt*>& statements) {
  for (const Stmt* stmt : statements)
    if (Flow flow = execute(stmt); flow != Flow::Next)
      return flow;
  return Flow::Next;
}

void Rehearser::steer(const Value& condition) {
  Value both;
  both.from = frame_->steered;
  frame_->steered = both.after(condition).from;
}

Rehearser::Flow Rehearser::branch(const Stmt& stmt) {
  const Value condition = evaluate(stmt.expression);
  steer(condition);
  if (auto truth = condition.truth())
    return execute(*truth ? stmt.body : stmt.otherwise);
  const Scalars before = frame_->scalars;
  execute(stmt.body);
  frame_->scalars = before;
  execute(stmt.otherwise);
  frame_->scalars = before;
  forget(&stmt);
  return Flow::Next;
}

Rehearser::Flow Rehearser::choose(const Stmt& stmt) {
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

std::vector<Value> Rehearser::block(const Expr& expr, bool isWritten) {
  if (expr.kind != ExprKind::Block)
    return {};
  if (!expr.operands.empty())
    return block(*expr.operands[0]);
  std::vector<Value> extents = frame_->extents[expr.variable->index];
  for (size_t d = 0; d < extents.size(); ++d) {
    Taken* taken = isWritten ? &frame_->taken[{expr.variable, d}] : nullptr;
    if (d < expr.ranges.size())
      extents[d] = range(expr.ranges[d], extents[d], taken);
    else if (taken) // the whole array
      *taken = {.begin = 0, .end = INT64_MAX, .isKnown = taken->isKnown, .isAny = true, .from = {}};
  }
  return extents;
}

Value Rehearser::range(const BlockRange& range, const Value& extent, Taken* taken) {
  const Value start = evaluate(range.start), stride = range.stride ? evaluate(range.stride) : Value::of(int64_t(1));
  const Value most = range.max ? evaluate(range.max) : Value();
  Value end = extent;
  if (start.isInteger() && start.integer < 0 && extent.isInteger())
    report(Misfit::Kind::Outside, frame_->index, range.start, start.integer, extent.integer, start.from);
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
  if (range.start)
    cover(range, start, end, extent);
  if (taken) {
    taken->isKnown &= start.isInteger() && end.isInteger();
    if (taken->isKnown && end.integer > start.integer) {
      taken->begin = taken->isAny ? std::min(taken->begin, start.integer) : start.integer;
      taken->end = taken->isAny ? std::max(taken->end, end.integer) : end.integer;
      taken->isAny = true;
    }
    Value both;
    both.from = taken->from;
    taken->from = both.after(start).after(end).from;
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

void Rehearser::taskCall(const Stmt& stmt) {
  std::vector<std::vector<Value>> extents;
  std::vector<Value> scalars;
  for (const Argument& argument : stmt.arguments) {
    const bool isBlock = argument.value->kind == ExprKind::Block;
    extents.push_back(block(*argument.value, argument.direction != Direction::In));
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

std::optional<bool> Rehearser::holds(const ResolvedTarget& target) const {
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
void Rehearser::call(uint32_t index, ExtentsOf extentsOf, ScalarOf scalarOf) {
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

Value Rehearser::linear(const LinearSize& size, const Scalars& sizes) const {
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

void Rehearser::enter(uint32_t index, Scalars sizes, Scalars scalars) {
  if (depth_ >= deepestCalls || !result_.isComplete)
    return;
  const Instance& instance = graph_.instances[index];
  const TaskVariant& variant = *instance.variant;
  std::vector<int64_t> key{index};
  for (const Variable* size : variant.sizeParameters) {
    auto at = sizes.find(size);
    key.push_back(at != sizes.end() && at->second.isInteger() ? at->second.integer : -1);
  }
  const bool isKnown = std::find(key.begin(), key.end(), -1) == key.end();
  for (int64_t part : key)
    entered_ = combined(entered_, std::hash<int64_t>()(part));
  bool isSteered = false; // a leaf by tunables, its own or passed on
  for (const Variable* parameter : variant.parameters)
    if (auto at = scalars.find(parameter); at != scalars.end()) {
      key.push_back(at->second.isInteger());
      key.push_back(at->second.integer);
      isSteered |= !at->second.from.empty();
    }
  result_.isEndless |= isKnown && std::find(open_.begin(), open_.end(), key) != open_.end();
  if (!seen_.insert(key).second)
    return;
  open_.push_back(std::move(key));
  Frame frame;
  frame.index = index;
  frame.instance = &instance;
  frame.isInner = variant.kind == TaskKind::Inner;
  frame.scalars = std::move(scalars);
  frame.scalars.insert(sizes.begin(), sizes.end());
  settle(frame);
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
  if (frame.isInner && result_.isComplete)
    findLeft();
  --depth_;
  open_.pop_back();
  frame_ = outer;
}

} // namespace rehearsal

Rehearsal rehearse(const InstanceGraph& graph, const KnownSizes& known) {
  return rehearsal::Rehearser(graph, known).run();
}

} // namespace strata::sequoia

// Loops, of C and of mappar and mapseq. Those of many iterations are gone through at their ends, at points between, and
// where what they call changes.
#include "compiler/sequoia/check/writes.h"
#include "compiler/sequoia/tune/rehearser.h"

#include <algorithm>

namespace strata::sequoia::rehearsal {

namespace {

constexpr int64_t mostIterations = 256;   // of a nest of iterations that are gone through one by one
constexpr int64_t mostRepetitions = 4096; // of a loop of C
constexpr int64_t mostCounted = int64_t(1) << 40;

} // namespace

Rehearser::Flow Rehearser::repeat(const Stmt& stmt) {
  if (stmt.initial)
    execute(stmt.initial);
  const std::optional<Stepping> stepping = steppingOf(stmt);
  bool isKnown = frame_->isInner && (!stepping || meets(stmt, *stepping));
  markVarying(&stmt);
  ++frame_->loops;
  const int64_t whole = mostRepetitions >> std::min(3 * (frame_->loops - 1), 7u);
  Flow result = Flow::Next;
  bool isFirst = stmt.kind == StmtKind::DoWhile, isSkipped = !stepping || !isAlikeEachTime(stmt, *stepping);
  for (int64_t count = 0; isKnown; ++count) {
    std::optional<bool> goesOn = true;
    if (!std::exchange(isFirst, false) && stmt.expression) {
      const Value condition = evaluate(stmt.expression, {.isBound = true});
      steer(condition);
      goesOn = condition.truth();
    }
    isKnown = goesOn.has_value() && count < mostRepetitions && result_.isComplete;
    if (!isKnown || !*goesOn)
      break;
    // The last ones, and some between, stand for those that follow.
    if (count == whole / 4 && !std::exchange(isSkipped, true)) {
      const std::optional<int64_t> rest = repetitionsLeft(stmt, *stepping);
      if (rest && *rest > whole - count) {
        repeatSome(stmt, *stepping, *rest, whole / 2);
        break;
      }
    }
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

/// Whether a loop that goes on while its variable is not a certain value comes to that value; where it steps by a
/// tunable, that has to divide the way.
bool Rehearser::meets(const Stmt& stmt, const Stepping& stepping) {
  if (stmt.expression->op != Operator::NotEqual || !stepping.step || !stepping.bound || stepping.mayLeave)
    return true;
  const Value start = variable(stepping.variable), bound = evaluate(stepping.bound), step = evaluate(stepping.step);
  if (step.from.empty())
    return true;
  Value way = bound;
  way.after(start);
  way.varies = false;
  const bool isKnown = start.isInteger() && bound.isInteger() &&
                       !__builtin_sub_overflow(stepping.isDown ? start.integer : bound.integer,
                                               stepping.isDown ? bound.integer : start.integer, &way.integer);
  way.kind = isKnown ? Value::Kind::Integer : Value::Kind::Unknown;
  std::set<const Variable*> variables;
  variablesOf(stepping.step, variables);
  std::optional<int64_t> divisor;
  if (step.isInteger() && step.integer > 0)
    divisor = step.integer;
  if (divisor != 1)
    noteDivision(stmt.expression, way, divisor, step, variables);
  return isKnown && divisor && way.integer % *divisor == 0;
}

/// Whether an iteration does what it does by the loop's variable alone: what it writes is its own.
bool Rehearser::isAlikeEachTime(const Stmt& stmt, const Stepping& stepping) const {
  if (stepping.mayLeave)
    return false;
  return std::none_of(frame_->scalars.begin(), frame_->scalars.end(), [&](const auto& each) {
    return each.first != stepping.variable && !begins(stmt.body, each.first) &&
           (writes(stmt.body, each.first) || writes(stmt.step, each.first) || writes(stmt.expression, each.first));
  });
}

/// How many iterations there are from the one that is about to begin, where the condition holds up to some value.
std::optional<int64_t> Rehearser::repetitionsLeft(const Stmt& stmt, const Stepping& stepping) {
  const std::optional<int64_t> step = stepOf(stepping);
  const Value now = variable(stepping.variable);
  if (!step || *step == 0 || !now.isInteger())
    return std::nullopt;
  auto goesOn = [&](int64_t iteration) {
    Value then = now;
    if (__builtin_mul_overflow(iteration, *step, &then.integer) ||
        __builtin_add_overflow(then.integer, now.integer, &then.integer))
      return false;
    then = fitted(then, stepping.variable->type);
    frame_->scalars[stepping.variable] = then;
    const bool result = then.isInteger() && evaluate(stmt.expression, {.isBound = true}).truth() == true;
    frame_->scalars[stepping.variable] = now;
    return result;
  };
  int64_t most = 1;
  while (most < mostCounted && goesOn(most))
    most *= 2;
  if (most >= mostCounted)
    return std::nullopt;
  int64_t least = most / 2; // goes on, or is the first
  while (most - least > 1) {
    const int64_t between = least + (most - least) / 2;
    (goesOn(between) ? least : most) = between;
  }
  return most;
}

void Rehearser::repeatSome(const Stmt& stmt, const Stepping& stepping, int64_t count, int64_t most) {
  const Value first = variable(stepping.variable);
  const int64_t step = *stepOf(stepping);
  goThroughSome(count, most, [&](__int128 iteration) {
    Value now = first;
    now.integer += static_cast<int64_t>(iteration) * step;
    frame_->scalars[stepping.variable] = std::move(now);
    return digestOf([&] { execute(stmt.body); });
  });
  Value behind = first;
  behind.integer += count * step;
  frame_->scalars[stepping.variable] = fitted(std::move(behind), stepping.variable->type);
}

/// What one step adds to the variable, where that is known.
std::optional<int64_t> Rehearser::stepOf(const Stepping& stepping) {
  const Value step = stepping.step ? evaluate(stepping.step) : Value::of(int64_t(1));
  if (!step.isInteger() || step.integer == INT64_MIN)
    return std::nullopt;
  return stepping.isDown ? -step.integer : step.integer;
}

void Rehearser::iterate(const Stmt& stmt) {
  const Loop& loop = *stmt.loop;
  const Value begin = evaluate(loop.start, {.isBound = true}), end = evaluate(loop.end, {.isBound = true});
  steer(begin);
  steer(end);
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
  std::map<const BlockRange*, Cover> outer = std::exchange(covers_, {});
  const __int128 count = static_cast<__int128>(end.integer) - begin.integer;
  number.kind = Value::Kind::Integer;
  auto at = [&](__int128 iteration) {
    number.integer = static_cast<int64_t>(begin.integer + iteration);
    frame_->scalars[loop.variable] = number;
    return digestOf([&] { execute(stmt.body); });
  };
  if (count <= most)
    for (__int128 i = 0; i < count; ++i)
      at(i);
  else
    goThroughSome(count, most, at);
  if (count > 0)
    reportShort(loop, end);
  covers_ = std::move(outer);
}

/// Tells iterations apart by what they call.
template <typename Body>
size_t Rehearser::digestOf(Body body) {
  const size_t before = std::exchange(entered_, 0);
  body();
  const size_t mine = entered_;
  entered_ = combined(before, mine);
  return mine;
}

template <typename At>
void Rehearser::goThroughSome(__int128 count, int64_t most, At at) {
  const int64_t third = most / 3 + 1;
  std::vector<std::pair<__int128, size_t>> seen;
  auto look = [&](__int128 iteration) { seen.emplace_back(iteration, at(iteration)); };
  for (int64_t i = 0; i < third; ++i)
    look(i);
  for (int64_t i = 1; i < third; ++i)
    look(third + (count - 2 * third) * i / third);
  for (int64_t i = third; i > 0; --i)
    look(count - i);
  // Where blocks become others between two of them, there are often few of yet another length, such as the last one
  // before the empty ones.
  int64_t left = most;
  for (size_t i = 0; i + 1 < seen.size(); ++i)
    left = lookBetween(seen[i], seen[i + 1], left, at);
}

template <typename At>
int64_t Rehearser::lookBetween(std::pair<__int128, size_t> first, const std::pair<__int128, size_t>& last, int64_t most,
                               At at) {
  while (first.second != last.second && last.first - first.first > 1) {
    std::pair<__int128, size_t> next = last; // the first known to call otherwise
    for (__int128 same = first.first; next.first - same > 1;) {
      if (most-- <= 0)
        return 0;
      const __int128 between = same + (next.first - same) / 2;
      if (const size_t found = at(between); found == first.second)
        same = between;
      else
        next = {between, found};
    }
    first = next;
  }
  return most;
}

} // namespace strata::sequoia::rehearsal

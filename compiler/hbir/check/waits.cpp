// Which loops wait for another tile: those that another tile's write may end, and that are not shown to end by the
// tile's own work. What decides about a loop's end is followed through variables, conditions and inner loops, so that
// it does not matter in which words a program waits.
#include "compiler/hbir/check/checker.h"

#include <algorithm>
#include <set>

namespace strata::hbir {

namespace {

using Keys = std::set<const void*>;
using List = std::vector<StatementPtr>;

bool isShared(const Symbol& symbol) {
  return symbol.kind == SymbolKind::Global || symbol.kind == SymbolKind::Array;
}

/// What expressions read.
struct Reads {
  Keys keys;
  std::set<const Symbol*> shared; // those of them that tiles share
  std::set<const Symbol*> own;    // the others
  bool calls = false;             // a function in C, which may read what another tile has changed

  void add(const Expression* expression) {
    if (!expression)
      return;
    calls |= expression->kind == ExpressionKind::Call;
    if (const Symbol* symbol = expression->symbol) {
      keys.insert(keyOf(*symbol));
      (isShared(*symbol) ? shared : own).insert(symbol);
    }
    for (const ExpressionPtr& operand : expression->operands)
      add(operand.get());
  }
  void addIndices(const Expression& target) {
    for (const ExpressionPtr& index : target.operands)
      add(index.get());
  }
  size_t size() const { return keys.size() + calls; }
};

bool isLoop(const Statement& statement) {
  return statement.kind == StatementKind::While || statement.kind == StatementKind::For ||
         statement.kind == StatementKind::Range;
}

/// Calls a function for every statement of a list, those inside of others too.
template <typename Function>
void forEach(const List& list, const Function& function);

template <typename Function>
void forEach(const Statement* statement, const Function& function) {
  if (!statement)
    return;
  function(*statement);
  forEach(statement->first.get(), function);
  forEach(statement->next.get(), function);
  forEach(statement->body, function);
  forEach(statement->otherwise, function);
}

template <typename Function>
void forEach(const List& list, const Function& function) {
  for (const StatementPtr& each : list)
    forEach(each.get(), function);
}

/// What a loop does again and again: everything but the first statement of a for.
template <typename Function>
void forEachRepeated(const Statement& loop, const Function& function) {
  forEach(loop.next.get(), function);
  forEach(loop.body, function);
}

/// Whether control may leave the loop around a list from within it: by its break, or by the end of the tile.
bool leaves(const List& list, bool inInnerLoop = false) {
  return std::any_of(list.begin(), list.end(), [&](const StatementPtr& each) {
    if (each->kind == StatementKind::Finish || (each->kind == StatementKind::Break && !inInnerLoop))
      return true;
    const bool inner = inInnerLoop || isLoop(*each);
    return leaves(each->body, inner) || leaves(each->otherwise, inner);
  });
}

void readControl(const Statement& statement, Reads& into) {
  into.add(statement.condition.get());
  if (statement.kind == StatementKind::Range) {
    into.add(statement.value.get());
    into.add(statement.upper.get());
  }
}

/// What decides whether control leaves a loop from within.
void readExits(const List& list, Reads& into, bool inInnerLoop = false) {
  for (const StatementPtr& each : list) {
    const bool inner = inInnerLoop || isLoop(*each);
    if (leaves(each->body, inner) || leaves(each->otherwise, inner))
      readControl(*each, into);
    readExits(each->body, into, inner);
    readExits(each->otherwise, into, inner);
  }
}

/// Adds what the values depend on that the statements give to what has been read: the values, and all conditions
/// around.
class Dependences {
public:
  explicit Dependences(Reads& reads) : reads_(reads) {}
  void add(const Statement& loop) {
    size_t before = 0;
    do {
      before = reads_.size();
      statement(loop.next.get());
      list(loop.body);
    } while (reads_.size() != before);
  }

private:
  void list(const List& statements) {
    for (const StatementPtr& each : statements)
      statement(each.get());
  }
  void statement(const Statement* each) {
    if (!each)
      return;
    const Symbol* given = each->target ? each->target->symbol : each->symbol;
    if (given && reads_.keys.contains(keyOf(*given))) {
      reads_.add(each->value.get());
      reads_.add(each->upper.get());
      if (each->target)
        reads_.addIndices(*each->target);
      for (const Statement* outer : around_) {
        readControl(*outer, reads_);
        if (isLoop(*outer))
          readExits(outer->body, reads_);
      }
    }
    around_.push_back(each);
    statement(each->first.get());
    statement(each->next.get());
    list(each->body);
    list(each->otherwise);
    around_.pop_back();
  }

  Reads& reads_;
  std::vector<const Statement*> around_;
};

// ---- loops that end by the tile's own work ----

struct IntRange {
  int64_t least = INT32_MIN, most = INT32_MAX;
};

/// The values that an int may have; nothing when it may be no int of 32 bits.
std::optional<IntRange> intRange(const Expression& expression) {
  if (expression.kind == ExpressionKind::Integer && expression.integer >= INT32_MIN && expression.integer <= INT32_MAX)
    return IntRange{expression.integer, expression.integer};
  if (expression.kind == ExpressionKind::Variable || expression.kind == ExpressionKind::Element)
    return IntRange();
  if (expression.kind != ExpressionKind::Binary || expression.operands[1]->kind != ExpressionKind::Integer)
    return std::nullopt;
  std::optional<IntRange> left = intRange(*expression.operands[0]);
  const int64_t by = expression.operands[1]->integer;
  if (!left || by < INT32_MIN || by > INT32_MAX)
    return std::nullopt;
  switch (expression.op) {
  case Operator::Add:
    return IntRange{left->least + by, left->most + by};
  case Operator::Subtract:
    return IntRange{left->least - by, left->most - by};
  case Operator::Divide:
    return by > 0 ? left : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// A variable that counts towards a bound which does not change.
struct Counter {
  const Symbol* symbol = nullptr;
  const Expression* bound = nullptr;
  bool up = true, inclusive = false;
};

bool isVariable(const Expression& expression, const Symbol* symbol) {
  return expression.kind == ExpressionKind::Variable && expression.symbol == symbol;
}

/// By how much an assignment steps a variable; 0 when it does something else.
int64_t stepOf(const Statement& statement, const Symbol* symbol) {
  if (statement.kind != StatementKind::Assign || !isVariable(*statement.target, symbol))
    return 0;
  auto amount = [](const Expression& expression, Operator op) -> int64_t {
    if (expression.kind != ExpressionKind::Integer || expression.integer < 1 || expression.integer > INT32_MAX)
      return 0;
    return op == Operator::Add ? expression.integer : op == Operator::Subtract ? -expression.integer : 0;
  };
  const Expression& value = *statement.value;
  if (statement.compound)
    return amount(value, *statement.compound);
  return value.kind == ExpressionKind::Binary && isVariable(*value.operands[0], symbol)
             ? amount(*value.operands[1], value.op)
             : 0;
}

void addCounters(const Expression& condition, std::vector<Counter>& into) {
  if (condition.kind != ExpressionKind::Binary)
    return;
  if (condition.op == Operator::LogicalAnd) {
    addCounters(*condition.operands[0], into);
    addCounters(*condition.operands[1], into);
    return;
  }
  const bool less = condition.op == Operator::Less || condition.op == Operator::LessEqual;
  if (!less && condition.op != Operator::Greater && condition.op != Operator::GreaterEqual)
    return;
  const bool inclusive = condition.op == Operator::LessEqual || condition.op == Operator::GreaterEqual;
  for (unsigned side : {0, 1}) {
    const Expression& counter = *condition.operands[side];
    if (counter.kind == ExpressionKind::Variable && counter.type == ScalarType::Int &&
        counter.symbol->kind == SymbolKind::Local)
      into.push_back({counter.symbol, condition.operands[1 - side].get(), less == (side == 0), inclusive});
  }
}

/// Whether every way through a list steps one of the counters.
bool stepsAlways(const List& list, const std::vector<Counter>& counters) {
  return std::any_of(list.begin(), list.end(), [&](const StatementPtr& each) {
    if (each->kind == StatementKind::Compound)
      return stepsAlways(each->body, counters);
    if (each->kind == StatementKind::If)
      return stepsAlways(each->body, counters) && stepsAlways(each->otherwise, counters);
    return std::any_of(counters.begin(), counters.end(),
                       [&](const Counter& counter) { return stepOf(*each, counter.symbol) != 0; });
  });
}

class Loops {
public:
  explicit Loops(const Keys* writtenByTiles) : written_(writtenByTiles) {}

  void mark(List& list) {
    for (StatementPtr& each : list) {
      mark(each->body);
      mark(each->otherwise);
      if (each->kind == StatementKind::While || each->kind == StatementKind::For)
        mark(*each);
    }
  }

private:
  void mark(Statement& loop) {
    Reads reads;
    reads.add(loop.condition.get());
    readExits(loop.body, reads);
    const bool ends = leaves(loop.body) || (loop.condition && !isAlwaysTrue(*loop.condition));
    if (!ends) // one that has no end at all goes on while others give it something to do
      forEachRepeated(loop, [&](const Statement& each) { readAll(each, reads); });
    Dependences(reads).add(loop);
    const bool mayBeEnded =
        written_ && (reads.calls || std::any_of(reads.shared.begin(), reads.shared.end(),
                                                [&](const Symbol* each) { return written_->contains(keyOf(*each)); }));
    Keys assigned = assignedIn(loop);
    // What nobody writes cannot end a loop; one in which no round depends on the one before is told all the same.
    const bool spins = !reads.shared.empty() && !reads.calls && ends && roundsAreAlike(loop, reads, assigned);
    loop.waits = spins || (mayBeEnded && !endsByItself(loop, assigned));
    if (!loop.waits)
      return;
    loop.deciding.assign(reads.own.begin(), reads.own.end());
    // While it waits it looks at what others write, and does something when it is there.
    forEachRepeated(loop, [&](const Statement& each) { readControl(each, reads); });
    Dependences(reads).add(loop);
    for (const Symbol* symbol : reads.shared)
      if (spins || (written_ && written_->contains(keyOf(*symbol))))
        loop.awaited.push_back(symbol);
  }

  static bool isAlwaysTrue(const Expression& condition) {
    if (condition.kind == ExpressionKind::Cast)
      return isAlwaysTrue(*condition.operands[0]);
    return (condition.kind == ExpressionKind::Boolean || condition.kind == ExpressionKind::Integer) &&
           condition.integer != 0;
  }

  static void readAll(const Statement& each, Reads& into) {
    into.add(each.value.get());
    into.add(each.upper.get());
    into.add(each.condition.get());
    if (each.target)
      into.addIndices(*each.target);
    for (const PrintItem& item : each.arguments)
      into.add(item.value.get());
  }

  /// Whether what decides about the end is in every round made of what the loop does not change.
  static bool roundsAreAlike(const Statement& loop, const Reads& reads, const Keys& assigned) {
    bool alike = true;
    forEachRepeated(loop, [&](const Statement& each) {
      const Symbol* given = each.target ? each.target->symbol : each.symbol;
      if (!given || !reads.keys.contains(keyOf(*given)))
        return;
      Reads from;
      readAll(each, from);
      alike &= !isShared(*given) && !each.compound &&
               std::none_of(from.keys.begin(), from.keys.end(), [&](auto key) { return assigned.contains(key); });
    });
    return alike;
  }

  static Keys assignedIn(const Statement& loop) {
    Keys assigned;
    forEachRepeated(loop, [&](const Statement& each) {
      if (each.target)
        assigned.insert(keyOf(*each.target->symbol));
      if (each.symbol)
        assigned.insert(keyOf(*each.symbol));
    });
    return assigned;
  }

  /// Whether no value of the bound depends on when it is read.
  bool isFixed(const Expression& bound, const Keys& assigned, bool readOnce) const {
    Reads reads;
    reads.add(&bound);
    return !reads.calls && std::none_of(reads.keys.begin(), reads.keys.end(), [&](const void* key) {
      return assigned.contains(key) || (!readOnce && written_ && written_->contains(key));
    });
  }

  bool endsByItself(const Statement& loop, const Keys& assigned) const {
    if (!loop.condition)
      return false;
    std::vector<Counter> counters;
    addCounters(*loop.condition, counters);
    bool innerWaits = false;
    forEach(loop.body, [&](const Statement& each) { innerWaits |= each.waits; });
    // A for that counts and has one way out reads its bound once (lower_loops.cpp) and checks that it can count so far.
    const bool readsOnce = loop.kind == StatementKind::For && loop.first && loop.next && !innerWaits &&
                           !leaves(loop.body) && counters.size() == 1 && loop.condition->op != Operator::LogicalAnd &&
                           stepOf(*loop.next, counters[0].symbol) != 0 && begins(*loop.first, counters[0].symbol);
    std::erase_if(counters, [&](const Counter& counter) {
      int64_t largest = 0;
      bool steps = isFixed(*counter.bound, assigned, readsOnce);
      forEachRepeated(loop, [&](const Statement& each) {
        if (each.target && each.target->symbol == counter.symbol) {
          const int64_t step = stepOf(each, counter.symbol);
          steps &= counter.up ? step > 0 : step < 0;
          largest = std::max(largest, step < 0 ? -step : step);
        }
      });
      if (readsOnce)
        return !steps;
      std::optional<IntRange> bound = intRange(*counter.bound);
      return !steps || !bound ||
             (counter.up ? bound->most - !counter.inclusive + largest > INT32_MAX
                         : bound->least + !counter.inclusive - largest < INT32_MIN);
    });
    return std::any_of(counters.begin(), counters.end(),
                       [&](const Counter& counter) { return loop.next && stepOf(*loop.next, counter.symbol) != 0; }) ||
           (!counters.empty() && stepsAlways(loop.body, counters));
  }

  static bool begins(const Statement& first, const Symbol* symbol) {
    return first.kind == StatementKind::Declare
               ? first.symbol == symbol
               : first.kind == StatementKind::Assign && !first.compound && isVariable(*first.target, symbol);
  }

  const Keys* written_; // null: no tile runs
};

} // namespace

void markWaitingLoops(Program& program) {
  Keys written;
  for (const CodeBlock& block : program.blocks)
    forEach(block.body, [&](const Statement& each) {
      if (each.target && isShared(*each.target->symbol))
        written.insert(keyOf(*each.target->symbol));
    });
  Loops(nullptr).mark(program.start);
  for (CodeBlock& block : program.blocks)
    Loops(&written).mark(block.body);
}

} // namespace strata::hbir

// Whether a symbolic configuration makes sense and fits an array: sizes and numbers of everything first, then what the
// parts say about each other. The first thing that is wrong is told.
#include "runtime/array/symbolic_limits.h"
#include "runtime/array/validate_routes.h"

#include <set>

namespace strata::array {

namespace {

constexpr int64_t longestLatency = int64_t{1} << 20; // of machines
constexpr unsigned conditionKinds = 4;

/// What is thrown when something is wrong.
struct Unsound {
  std::string message;
};

std::string number(int64_t value) {
  return std::to_string(value);
}

std::string count(size_t value) {
  return std::to_string(value);
}

class Checker {
public:
  Checker(const Symbolic& symbolic, const machine::ProcessorArray& array) : symbolic_(symbolic), array_(array) {
    for (size_t unit = 0; unit < array.units.size(); ++unit)
      for (uint64_t i = 0; i < array.units[unit].count; ++i)
        classes_.push_back(unit);
  }

  void check() {
    sizes();
    for (size_t i = 0; i < symbolic_.context.size(); ++i) {
      const In in(*this, "context " + count(i));
      condition(symbolic_.context[i]);
      withoutLoops(symbolic_.context[i].value);
    }
    loops();
    arrays(symbolic_.inputs, "input ");
    arrays(symbolic_.outputs, "output ");
    for (size_t i = 0; i < symbolic_.conditions.size(); ++i) {
      const In in(*this, "condition " + count(i));
      condition(symbolic_.conditions[i]);
    }
    for (size_t i = 0; i < symbolic_.spaces.size(); ++i) {
      const In in(*this, "space " + count(i));
      space(symbolic_.spaces[i]);
    }
    for (size_t i = 0; i < symbolic_.instructions.size(); ++i) {
      const In in(*this, "instruction " + count(i));
      instruction(symbolic_.instructions[i]);
    }
    if (std::string wrong = checkRoutes(symbolic_.channels, array_); !wrong.empty())
      throw Unsound{std::move(wrong)};
    for (size_t i = 0; i < symbolic_.arrivals.size(); ++i) {
      const In in(*this, "arrival " + count(i));
      arrival(symbolic_.arrivals[i]);
    }
    for (size_t i = 0; i < symbolic_.fifos.size(); ++i) {
      const In in(*this, "FIFO " + count(i));
      fifo(symbolic_.fifos[i]);
    }
    for (size_t i = 0; i < symbolic_.accesses.size(); ++i) {
      const In in(*this, "access " + count(i));
      access(symbolic_.accesses[i]);
    }
    if (symbolic_.fingerprint != fingerprint(array_))
      throw Unsound{"it was made for another array, one of machine '" + symbolic_.machine + "'"};
  }

private:
  /// What messages are about, as long as it lives.
  class In {
  public:
    In(Checker& checker, const std::string& what) : checker_(checker), before_(checker.where_.size()) {
      checker.where_ += what + ": ";
    }
    ~In() { checker_.where_.resize(before_); }
    In(const In&) = delete;
    In& operator=(const In&) = delete;

  private:
    Checker& checker_;
    size_t before_;
  };

  [[noreturn]] void fail(const std::string& message) const { throw Unsound{where_ + message}; }
  void inRange(int64_t value, int64_t least, int64_t most, const char* what) const {
    if (value < least || value > most)
      fail(std::string(what) + " " + number(value) + " is not from " + number(least) + " to " + number(most));
  }

  // ---- How much there is ----

  void atMost(size_t there, size_t most, const char* what) const {
    if (there > most)
      fail(count(there) + " " + what + ", at most " + count(most) + " are possible");
  }
  void named(const std::string& name) const { atMost(name.size(), mostCharacters, "characters of a name"); }
  void sizes() const;
  void termSizes(const std::vector<Term>& list, size_t& total) const {
    total += list.size();
    atMost(total, mostOfOneKind, "terms");
  }

  // ---- Numbers ----

  void linear(const Linear& value) const {
    if (value.loops.size() != symbolic_.loops.size() || value.parameters.size() != symbolic_.parameters.size())
      fail("an expression over " + count(value.loops.size()) + " loops and " + count(value.parameters.size()) +
           " parameters instead of " + count(symbolic_.loops.size()) + " and " + count(symbolic_.parameters.size()));
    for (const int64_t each : value.loops)
      inRange(each, -largestCoefficient, largestCoefficient, "coefficient");
    for (const int64_t each : value.parameters)
      inRange(each, -largestCoefficient, largestCoefficient, "coefficient");
    inRange(value.constant, -largestConstant, largestConstant, "constant");
  }
  void withoutLoops(const Linear& value) const {
    for (size_t l = 0; l < value.loops.size(); ++l)
      if (value.loops[l] != 0)
        fail("loop " + symbolic_.loops[l].name + " in an expression of parameters");
  }
  void condition(const Condition& each) const {
    if (static_cast<unsigned>(each.kind) >= conditionKinds)
      fail("there is no condition of kind " + count(static_cast<unsigned>(each.kind)));
    linear(each.value);
    if (each.kind == Condition::Kind::Divisible || each.kind == Condition::Kind::NotDivisible)
      inRange(each.modulus, 2, largestCoefficient, "modulus");
    else if (each.modulus != 0)
      fail("modulus " + number(each.modulus) + " of a condition that needs none");
  }
  void distances(const std::vector<int64_t>& list, const char* what) const {
    if (list.size() != symbolic_.loops.size())
      fail(count(list.size()) + " numbers of a " + what + " for " + count(symbolic_.loops.size()) + " loops");
    for (const int64_t each : list)
      inRange(each, -largestCoefficient, largestCoefficient, what);
  }
  void crossing(const std::vector<int64_t>& list) const {
    distances(list, "crossing");
    for (size_t l = 0; l < list.size(); ++l) {
      inRange(list[l], -1, 1, "crossing");
      if (list[l] != 0 && l != symbolic_.rowLoop && l != symbolic_.columnLoop)
        fail("crossing " + number(list[l]) + " of loop " + symbolic_.loops[l].name + ", which is not distributed");
    }
  }

  // ---- Sets ----

  void space(const Space& each) const {
    for (const std::vector<uint32_t>& piece : each.pieces)
      for (const uint32_t which : piece)
        if (which >= symbolic_.conditions.size())
          fail("condition " + count(which) + ", there are " + count(symbolic_.conditions.size()));
  }
  void terms(const std::vector<Term>& list) const {
    for (const Term& term : list) {
      if (term.space >= symbolic_.spaces.size())
        fail("space " + count(term.space) + ", there are " + count(symbolic_.spaces.size()));
      distances(term.shift, "shift");
      if (term.step.empty() != term.crossing.empty())
        fail("a term with one of step and crossing, and not the other");
      if (term.step.empty())
        continue;
      distances(term.step, "step");
      crossing(term.crossing);
    }
  }

  // ---- Parts ----

  void loops();
  void arrays(const std::vector<SymbolicArray>& list, const char* what);
  void type(Type type) const {
    if (static_cast<unsigned>(type) >= types)
      fail("there is no type " + count(static_cast<unsigned>(type)));
    if (bytes(type) > array_.word)
      fail("type " + std::string(name(type)) + " has " + count(bytes(type)) + " bytes, a register of the array " +
           count(array_.word));
  }
  void exists(Register reg) const;
  void instruction(const SymbolicInstruction& each);
  void operation(const SymbolicInstruction& each) const;
  void arrival(const Arrival& each) const {
    distances(each.distance, "distance");
    crossing(each.crossing);
    inRange(each.slack, -largestConstant, largestConstant, "slack");
  }
  void fifo(const Fifo& each) const;
  void access(const Access& each) const;

  const Symbolic& symbolic_;
  const machine::ProcessorArray& array_;
  std::vector<size_t> classes_; // of functional units, by instance
  std::string where_;
};

void Checker::sizes() const {
  const Symbolic& s = symbolic_;
  atMost(s.parameters.size(), mostParameters, "parameters");
  atMost(s.loops.size(), mostLoops, "loops");
  atMost(s.context.size(), mostOfOneKind, "conditions of parameters");
  atMost(s.inputs.size() + s.outputs.size(), mostOfOneKind, "arrays");
  atMost(s.conditions.size(), mostOfOneKind, "conditions");
  atMost(s.spaces.size(), mostOfOneKind, "spaces");
  atMost(s.instructions.size(), mostOfOneKind, "instructions");
  atMost(s.channels.size(), mostOfOneKind, "channels");
  atMost(s.arrivals.size(), mostOfOneKind, "arrivals");
  atMost(s.fifos.size(), mostOfOneKind, "FIFOs");
  atMost(s.accesses.size(), mostOfOneKind, "accesses");
  named(s.program);
  named(s.machine);
  size_t bounds = 0, extents = 0, pieces = 0, parts = 0, terms = 0, destinations = 0, operands = 0, sources = 0;
  size_t ports = 0, indices = 0;
  for (const std::string& each : s.parameters)
    named(each);
  for (const Loop& each : s.loops) {
    named(each.name);
    atMost(bounds += each.lower.size() + each.upper.size(), mostOfOneKind, "bounds");
  }
  for (const auto* list : {&s.inputs, &s.outputs})
    for (const SymbolicArray& each : *list) {
      named(each.name);
      atMost(extents += each.extents.size(), mostOfOneKind, "extents");
    }
  for (const Space& each : s.spaces) {
    atMost(pieces += each.pieces.size(), mostOfOneKind, "pieces");
    for (const std::vector<uint32_t>& piece : each.pieces)
      atMost(parts += piece.size(), mostOfOneKind, "conditions of pieces");
  }
  for (const SymbolicInstruction& each : s.instructions) {
    named(each.name);
    termSizes(each.when, terms);
    atMost(destinations += each.destinations.size(), mostOfOneKind, "destinations");
    atMost(operands += each.operands.size(), mostOfOneKind, "operands");
    for (const Destination& destination : each.destinations)
      termSizes(destination.when, terms);
    for (const std::vector<Source>& operand : each.operands) {
      atMost(sources += operand.size(), mostOfOneKind, "sources");
      for (const Source& source : operand)
        termSizes(source.when, terms);
    }
  }
  for (const Channel& each : s.channels)
    atMost(ports += each.path.size(), mostOfOneKind, "ports");
  for (const Access& each : s.accesses) {
    termSizes(each.when, terms);
    atMost(indices += each.index.size(), mostOfOneKind, "indices");
  }
}

void Checker::loops() {
  const Symbolic& s = symbolic_;
  std::set<std::string> names;
  for (const std::string& each : s.parameters)
    if (!names.insert(each).second)
      fail("two parameters with the name '" + each + "'");
  for (const Loop& loop : s.loops) {
    const In in(*this, "loop " + loop.name);
    if (loop.lower.empty() || loop.upper.empty())
      fail("a lower and an upper bound are needed");
    for (const auto* list : {&loop.lower, &loop.upper})
      for (const Bound& bound : *list) {
        linear(bound.value);
        withoutLoops(bound.value);
        inRange(bound.divisor, 1, largestCoefficient, "divisor");
      }
    inRange(loop.leastTile, 1, largestCoefficient, "tile size");
  }
  for (const uint32_t loop : {s.rowLoop, s.columnLoop})
    if (loop != Symbolic::none && loop >= s.loops.size())
      fail("loop " + count(loop) + " is distributed, there are " + count(s.loops.size()));
  if (s.rowLoop != Symbolic::none && s.rowLoop == s.columnLoop)
    fail("loop " + s.loops[s.rowLoop].name + " is distributed over rows and over columns");
  inRange(s.interval, 1, longestInterval, "initiation interval");
  inRange(s.lowerBound, 1, s.interval, "lower bound of the initiation interval");
}

void Checker::arrays(const std::vector<SymbolicArray>& list, const char* what) {
  for (const SymbolicArray& each : list) {
    const In in(*this, what + each.name);
    type(each.type);
    for (const Linear& extent : each.extents) {
      linear(extent);
      withoutLoops(extent);
    }
  }
}

void Checker::exists(Register reg) const {
  const machine::Registers& registers = array_.registers;
  uint64_t there = 0;
  switch (reg.kind) {
  case Register::Kind::General:
    there = registers.general;
    break;
  case Register::Kind::Feedback:
    there = registers.feedback;
    break;
  case Register::Kind::Input:
    there = registers.input;
    break;
  case Register::Kind::Output:
    there = registers.output;
    break;
  case Register::Kind::Flag:
    there = array_.flags;
    break;
  default:
    fail("no register where one is needed");
  }
  if (reg.index >= there)
    fail("register " + name(reg) + ", the array has " + count(there));
}

/// The operation, and that the unit has it.
void Checker::operation(const SymbolicInstruction& each) const {
  if (static_cast<unsigned>(each.opcode) >= opcodes)
    fail("there is no operation " + count(static_cast<unsigned>(each.opcode)));
  type(each.type);
  type(each.operandType);
  const std::string opcode(name(each.opcode));
  if (evaluator(each.opcode, each.type, each.operandType) == nullptr)
    fail("there is no " + opcode + " from " + std::string(name(each.operandType)) + " to " +
         std::string(name(each.type)));
  if (each.unit >= classes_.size())
    fail("functional unit " + count(each.unit) + ", the array has " + count(classes_.size()));
  const machine::FunctionalUnit& unit = array_.units[classes_[each.unit]];
  for (const machine::Operation& known : unit.operations)
    if (known.name == opcode) {
      if (each.latency < 0 || static_cast<uint64_t>(each.latency) != known.latency || each.latency > longestLatency)
        fail("latency " + number(each.latency) + ", the array's " + opcode + " on " + unit.name + " has " +
             count(known.latency));
      return;
    }
  fail("functional unit " + unit.name + " has no operation " + opcode);
}

void Checker::instruction(const SymbolicInstruction& each) {
  operation(each);
  inRange(each.offset, 0, latestOffset, "offset");
  terms(each.when);
  for (const Destination& destination : each.destinations) {
    if (destination.reg.kind == Register::Kind::Input)
      fail("a result for " + name(destination.reg) + ", which only reads");
    exists(destination.reg);
    terms(destination.when);
  }
  if (each.operands.size() != array::operands(each.opcode))
    fail(count(each.operands.size()) + " operands of " + std::string(name(each.opcode)) + ", which has " +
         count(array::operands(each.opcode)));
  for (size_t i = 0; i < each.operands.size(); ++i) {
    const In in(*this, "operand " + count(i));
    if (each.operands[i].empty())
      fail("no source");
    for (const Source& source : each.operands[i]) {
      const Register reg = source.value.source;
      if (reg.kind == Register::Kind::Output)
        fail("a source in " + name(reg) + ", which only writes");
      if (reg.kind != Register::Kind::None)
        exists(reg);
      if (reg.kind == Register::Kind::None ? reg.index != 0 : source.value.immediate != 0)
        fail("a source that is a register and a value");
      terms(source.when);
    }
  }
}

void Checker::fifo(const Fifo& each) const {
  if (each.reg.kind != Register::Kind::Feedback && each.reg.kind != Register::Kind::Input)
    fail("a feedback or input register is needed");
  exists(each.reg);
  arrival(each.arrival);
  for (const int64_t value : each.arrival.crossing)
    if (value != 0 && each.reg.kind == Register::Kind::Feedback)
      fail("a crossing of " + name(each.reg) + ", which stays in its element");
}

void Checker::access(const Access& each) const {
  const std::vector<SymbolicArray>& list = each.isOutput ? symbolic_.outputs : symbolic_.inputs;
  if (each.array >= list.size())
    fail("array " + count(each.array) + ", there are " + count(list.size()));
  const SymbolicArray& array = list[each.array];
  if (each.reg.kind != (each.isOutput ? Register::Kind::Output : Register::Kind::Input))
    fail(each.isOutput ? "an output register is needed" : "an input register is needed");
  exists(each.reg);
  if (each.channel != Access::ownRoute) {
    if (each.channel >= symbolic_.channels.size())
      fail("channel " + count(each.channel) + ", there are " + count(symbolic_.channels.size()));
    const std::vector<machine::Port>& path = symbolic_.channels[each.channel].path;
    if (each.reg.index != (each.isOutput ? path.front() : path.back()).index)
      fail("register " + name(each.reg) + ", channel " + count(each.channel) + " has " +
           name(Register{each.reg.kind, static_cast<uint16_t>((each.isOutput ? path.front() : path.back()).index)}));
  }
  inRange(each.offset, 0, latestOffset + longestLatency, "offset");
  terms(each.when);
  if (each.index.size() != array.extents.size())
    fail(count(each.index.size()) + " indices of " + array.name + ", which has " + count(array.extents.size()) +
         " dimensions");
  for (const Linear& index : each.index)
    linear(index);
}

} // namespace

std::string validate(const Symbolic& symbolic, const machine::ProcessorArray& array) {
  try {
    Checker(symbolic, array).check();
    return "";
  } catch (Unsound& unsound) {
    return std::move(unsound.message);
  }
}

} // namespace strata::array

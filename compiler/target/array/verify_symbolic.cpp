// See verify_symbolic.h. First, all that instructions read and write is collected, each with its iterations; then
// units, operands, registers, queues and accesses are looked at one after the other. Conditions are on whole
// iterations: in which tile the other end of a distance lies depends on sizes and is not computed, since what is
// written for one crossing is read for the opposite one.
#include "compiler/target/array/verify_symbolic.h"
#include "compiler/target/array/symbolic_sets.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <isl/map.h>

namespace strata::array {

namespace {

using Vector = SymbolicSets::Vector;

struct BrokenSymbolic {
  std::string message;
};

/// An end of a value's way: an instruction that writes a register, or reads one.
struct WayEnd {
  uint32_t instruction = 0;
  Register reg;
  Vector step, crossing; // both empty where the other end is of no other iteration, or may be in this tile only
  int64_t time = 0;      // when it has arrived, or is read: from the iteration's start
  Type type = Type::Int32;
  isl::set where;
  bool isPlain() const { return step.empty(); }
};

/// What is known of a FIFO's way: the distance, into which tile it leads, and the cycles under way.
struct QueueWay {
  std::string name;
  Vector distance, crossing;
  int64_t under = 0;
};

/// Integers of one size are the same bits, whatever their operations take them for.
bool areOneType(Type a, Type b) {
  const auto isInteger = [](Type type) { return type != Type::Bool && type < Type::Float32; };
  return a == b || (isInteger(a) && isInteger(b) && bytes(a) == bytes(b));
}

class SymbolicVerifier {
public:
  SymbolicVerifier(const Symbolic& symbolic, const machine::ProcessorArray& array)
      : symbolic_(symbolic), array_(array), sets_(symbolic) {}

  void run() {
    for (uint32_t i = 0; i < symbolic_.instructions.size(); ++i)
      collect(i);
    for (uint32_t i = 0; i < symbolic_.instructions.size(); ++i)
      destinations(i);
    units();
    ports();
    std::set<Register> registers;
    for (const Ends* each : {&writes_, &reads_})
      for (const auto& [reg, ends] : *each)
        registers.insert(reg);
    for (const Register reg : registers)
      if (reg.kind == Register::Kind::General || reg.kind == Register::Kind::Flag)
        held(reg);
      else if (reg.kind == Register::Kind::Feedback)
        feedback(reg);
    for (const Channel& each : symbolic_.channels)
      channel(each);
    sameWriters();
    for (const bool isOutput : {false, true})
      accesses(isOutput);
    elements();
  }

private:
  using Ends = std::map<Register, std::vector<WayEnd>>;

  [[noreturn]] static void fail(const std::string& message) { throw BrokenSymbolic{message}; }
  [[noreturn]] void fail(const std::string& message, const isl::set& where) const {
    fail(message + sets_.example(where));
  }
  std::string called(uint32_t instruction) const {
    return "instruction " + std::to_string(instruction) + " (" + symbolic_.instructions[instruction].name + ")";
  }
  static Vector negative(Vector values);
  Functional functional(uint32_t instruction) const;

  isl::set whole(const std::vector<Term>& terms, const std::string& what);
  void collect(uint32_t instruction);
  void operand(uint32_t instruction, size_t number);
  static void add(std::vector<WayEnd>& ends, WayEnd end);
  void destinations(uint32_t instruction) const;
  void units() const;
  void ports() const;
  void held(Register reg) const;
  void feedback(Register reg) const;
  void channel(const Channel& channel) const;
  const Fifo& fifoOf(Register reg) const;
  void queue(const QueueWay& way, const std::vector<WayEnd>& writers, const std::vector<WayEnd>& readers,
             const Fifo& fifo) const;
  void inTurn(const QueueWay& way, const std::vector<WayEnd>& ends, bool areWriters) const;
  int64_t leastIterations(const Vector& distance) const;
  void sameWriters() const;
  void accesses(bool isOutput);
  void beyond(const Access& access, const isl::set& where) const;
  void elements();
  const SymbolicArray& arrayOf(const Access& access) const {
    return (access.isOutput ? symbolic_.outputs : symbolic_.inputs)[access.array];
  }
  static std::vector<WayEnd> of(const Ends& ends, Register reg) {
    const auto found = ends.find(reg);
    return found == ends.end() ? std::vector<WayEnd>() : found->second;
  }

  const Symbolic& symbolic_;
  const machine::ProcessorArray& array_;
  SymbolicSets sets_;          // before all sets, so that it goes last
  std::vector<isl::set> when_; // by instruction
  Ends writes_, reads_;
  /// What an operand reads from another iteration: by instruction, operand, step and crossing.
  std::map<std::tuple<uint32_t, size_t, Vector, Vector>, std::vector<WayEnd>> distant_;
};

Vector SymbolicVerifier::negative(Vector values) {
  for (int64_t& value : values)
    value = -value;
  return values;
}

Functional SymbolicVerifier::functional(uint32_t instruction) const {
  const SymbolicInstruction& each = symbolic_.instructions[instruction];
  return {each.opcode, each.type, each.operandType, {}, {}};
}

// ---- What is read and written ----

/// Iterations of what happens in them wherever tiles begin.
isl::set SymbolicVerifier::whole(const std::vector<Term>& terms, const std::string& what) {
  isl::set made = sets_.none();
  for (const Term& term : terms) {
    if (!term.step.empty())
      fail(what + " is there or not depending on tiles");
    made = SymbolicSets::together(made, sets_.space(term.space, term.shift));
  }
  return made;
}

void SymbolicVerifier::add(std::vector<WayEnd>& ends, WayEnd end) {
  for (WayEnd& known : ends)
    if (known.instruction == end.instruction && known.step == end.step && known.crossing == end.crossing) {
      known.where = SymbolicSets::together(known.where, end.where);
      return;
    }
  ends.push_back(std::move(end));
}

void SymbolicVerifier::collect(uint32_t at) {
  const SymbolicInstruction& each = symbolic_.instructions[at];
  const isl::set when = whole(each.when, called(at));
  when_.push_back(when);
  for (const Destination& destination : each.destinations)
    for (const Term& term : destination.when) {
      WayEnd end{at,
                 destination.reg,
                 term.step,
                 term.crossing,
                 each.offset + each.latency,
                 resultType(functional(at)),
                 SymbolicSets::simple(sets_.space(term.space, term.shift).intersect(when))};
      if (!end.where.is_empty())
        add(writes_[destination.reg], std::move(end));
    }
  for (size_t number = 0; number < each.operands.size(); ++number)
    operand(at, number);
}

/// Sources are disjoint and together the instruction's iterations; one from another iteration is there for each tile in
/// which that may be.
void SymbolicVerifier::operand(uint32_t at, size_t number) {
  const SymbolicInstruction& each = symbolic_.instructions[at];
  const std::string what = "operand " + std::to_string(number) + " of " + called(at);
  isl::set covered = sets_.none();
  const auto cover = [&](const isl::set& where) {
    if (const isl::set both = covered.intersect(where); !both.is_empty())
      fail(what + " has two values", both);
    covered = SymbolicSets::together(covered, where);
  };
  std::map<Vector, std::map<Vector, isl::set>> distant; // by step, then by crossing
  for (const Source& source : each.operands[number]) {
    const Register reg = source.value.source;
    isl::set plain = sets_.none();
    for (const Term& term : source.when) {
      const isl::set where = SymbolicSets::simple(sets_.space(term.space, term.shift).intersect(when_[at]));
      if (where.is_empty())
        continue;
      if (reg.kind != Register::Kind::None)
        add(reads_[reg], {at, reg, term.step, term.crossing, each.offset, operandType(functional(at), number), where});
      if (term.step.empty()) {
        plain = SymbolicSets::together(plain, where);
        continue;
      }
      if (reg.kind != Register::Kind::Feedback && reg.kind != Register::Kind::Input)
        fail(what + " is read from another iteration in " +
             (reg.kind == Register::Kind::None ? "a constant" : name(reg)));
      add(distant_[{at, number, term.step, term.crossing}],
          {at, reg, term.step, term.crossing, each.offset, operandType(functional(at), number), where});
      isl::set& known = distant[term.step].try_emplace(term.crossing, sets_.none()).first->second;
      if (const isl::set both = known.intersect(where); !both.is_empty())
        fail(what + " has two values", both);
      known = SymbolicSets::together(known, where);
    }
    cover(plain);
  }
  for (const auto& [step, byCrossing] : distant) {
    const isl::set& first = byCrossing.begin()->second;
    for (const Vector& crossing : sets_.crossings(step)) {
      const auto found = byCrossing.find(crossing);
      const isl::set there = found == byCrossing.end() ? sets_.none() : found->second;
      if (const isl::set missing = first.subtract(there).unite(there.subtract(first)); !missing.is_empty())
        fail(what + " has no value where the iteration that it comes from is in some neighbouring tile", missing);
    }
    if (byCrossing.size() != sets_.crossings(step).size())
      fail(what + " comes from a tile to which its distance does not lead", first);
    cover(first);
  }
  if (const isl::set missing = when_[at].subtract(covered); !missing.is_empty())
    fail(what + " has no value", missing);
}

/// No more results at once than an instruction of the machine has. Values for other iterations are written for one
/// crossing at a time: those within the tile and those that cross most are counted.
void SymbolicVerifier::destinations(uint32_t at) const {
  for (const bool isCrossing : {false, true}) {
    std::vector<isl::set> sets;
    for (const auto& [reg, ends] : writes_) {
      isl::set where = sets_.none();
      for (const WayEnd& each : ends)
        if (each.instruction == at &&
            (each.isPlain() ||
             each.crossing == (isCrossing ? sets_.crossings(each.step).back() : Vector(each.step.size(), 0))))
          where = SymbolicSets::together(where, each.where);
      if (!where.is_empty())
        sets.push_back(where);
    }
    // Iterations by how many results they have.
    std::vector<isl::set> counted = {when_[at]};
    for (const isl::set& each : sets) {
      counted.push_back(sets_.none());
      for (size_t i = counted.size() - 1; i-- > 0;)
        counted[i + 1] = SymbolicSets::together(counted[i + 1], counted[i].intersect(each));
      if (counted.size() > array_.destinations + 1 && !counted[array_.destinations + 1].is_empty())
        fail(called(at) + " writes more than " + std::to_string(array_.destinations) + " registers at once",
             counted[array_.destinations + 1]);
    }
  }
}

// ---- Units and ports ----

void SymbolicVerifier::units() const {
  struct Instance {
    std::string name;
    const machine::FunctionalUnit* unit = nullptr;
  };
  std::vector<Instance> instances;
  for (const machine::FunctionalUnit& unit : array_.units)
    for (uint64_t i = 0; i < unit.count; ++i)
      instances.push_back({unit.name + std::to_string(i), &unit});
  const int64_t interval = symbolic_.interval;
  const auto busy = [&](const SymbolicInstruction& each) {
    for (const machine::Operation& operation : instances[each.unit].unit->operations)
      if (operation.name == name(each.opcode))
        return static_cast<int64_t>(operation.interval);
    return int64_t{1};
  };
  const std::vector<SymbolicInstruction>& all = symbolic_.instructions;
  for (uint32_t a = 0; a < all.size(); ++a) {
    const std::string& unit = instances[all[a].unit].name;
    if (busy(all[a]) > interval)
      fail(called(a) + " holds " + unit + " for " + std::to_string(busy(all[a])) + " cycles of an interval of " +
           std::to_string(interval));
    for (uint32_t b = 0; b < a; ++b) {
      if (all[a].unit != all[b].unit)
        continue;
      // From the begin of one to that of the other, either way round the interval.
      const int64_t after = ((all[a].offset - all[b].offset) % interval + interval) % interval;
      if (after >= busy(all[b]) && interval - after >= busy(all[a]))
        continue;
      const std::string both = called(b) + " and " + called(a) + " are both on " + unit;
      if (all[a].offset != all[b].offset)
        fail(both + " in cycle " + std::to_string(all[a].offset % interval) +
             " of the interval, for different iterations");
      if (const isl::set meet = when_[a].intersect(when_[b]); !meet.is_empty())
        fail(both + " at once", meet);
    }
  }
}

/// What passes a port comes from one source and goes to one place.
void SymbolicVerifier::ports() const {
  std::set<machine::Port> sources, sinks;
  for (size_t i = 0; i < symbolic_.channels.size(); ++i) {
    const std::vector<machine::Port>& path = symbolic_.channels[i].path;
    for (size_t at = 0; at < path.size(); ++at)
      if (!(at % 2 == 0 ? sources : sinks).insert(path[at]).second)
        fail("channel " + std::to_string(i) + " takes a port that is in a path already");
  }
}

// ---- Registers that hold a value ----

void SymbolicVerifier::held(Register reg) const {
  std::vector<WayEnd> writers = of(writes_, reg);
  const std::vector<WayEnd> readers = of(reads_, reg);
  for (const WayEnd& each : writers) {
    if (!each.isPlain())
      fail(called(each.instruction) + " writes " + name(reg) + " for another iteration");
    if (reg.kind == Register::Kind::Flag && each.type != Type::Bool)
      fail(called(each.instruction) + " writes a number to " + name(reg));
  }
  std::ranges::sort(writers, [](const WayEnd& a, const WayEnd& b) { return a.time > b.time; });
  for (size_t a = 0; a < writers.size(); ++a)
    for (size_t b = 0; b < a; ++b)
      if (const isl::set both = writers[a].where.intersect(writers[b].where);
          writers[a].time == writers[b].time && !both.is_empty())
        fail(called(writers[a].instruction) + " and " + called(writers[b].instruction) + " write " + name(reg) +
                 " at once",
             both);
  std::vector<isl::set> unread;
  for (const WayEnd& each : writers)
    unread.push_back(each.where);
  for (const WayEnd& reader : readers) {
    const std::string what = called(reader.instruction) + " reads " + name(reg);
    // The latest value of this iteration that is there.
    isl::set rest = reader.where;
    for (size_t i = 0; i < writers.size(); ++i) {
      const WayEnd& writer = writers[i];
      if (writer.time > reader.time)
        continue;
      const isl::set seen = rest.intersect(writer.where);
      if (seen.is_empty())
        continue;
      if (!areOneType(writer.type, reader.type))
        fail(what + " as " + std::string(name(reader.type)) + ", which " + called(writer.instruction) + " writes as " +
                 std::string(name(writer.type)),
             seen);
      rest = rest.subtract(seen);
      unread[i] = unread[i].subtract(seen);
      // No value of another iteration arrives from then until it is read.
      for (const WayEnd& other : writers) {
        const int64_t interval = symbolic_.interval, apart = other.time - writer.time;
        int64_t next = (apart % interval + interval) % interval;
        if (next == apart) // of this iteration
          next += interval;
        if (next <= reader.time - writer.time)
          fail(what + " " + std::to_string(reader.time - writer.time) + " cycles after " + called(writer.instruction) +
                   " has written it, when " + called(other.instruction) + " has done so for another iteration",
               seen);
      }
    }
    if (!rest.is_empty())
      fail(what + ", in which nothing has arrived in this iteration", rest);
  }
  for (size_t i = 0; i < writers.size(); ++i)
    if (!unread[i].is_empty())
      fail("what " + called(writers[i].instruction) + " writes to " + name(reg) + " is never read", unread[i]);
}

// ---- Queues ----

const Fifo& SymbolicVerifier::fifoOf(Register reg) const {
  const Fifo* found = nullptr;
  for (const Fifo& each : symbolic_.fifos)
    if (each.reg == reg) {
      if (found)
        fail("two distances for " + name(reg));
      found = &each;
    }
  if (!found)
    fail("no distance is known of " + name(reg));
  return *found;
}

/// The least number of iterations from one to that at a distance in the same tile, over all sizes of tiles: the tile's
/// inner extents count, and both ends are in it.
int64_t SymbolicVerifier::leastIterations(const Vector& distance) const {
  constexpr int64_t many = int64_t{1} << 40;
  int64_t sum = 0;
  for (size_t l = 0; l < distance.size(); ++l) {
    const int64_t extent = std::max(symbolic_.loops[l].leastTile, std::abs(distance[l]) + 1);
    sum = std::min(many, sum > many / extent ? many : sum * extent + distance[l]);
    if (sum < 0)
      fail("a value is used in an earlier iteration than the one that computes it");
  }
  return sum;
}

/// Of one iteration one end only, and the next iteration's after all of this one's: then values keep their order.
void SymbolicVerifier::inTurn(const QueueWay& way, const std::vector<WayEnd>& ends, bool areWriters) const {
  for (size_t a = 0; a < ends.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      const std::string both = called(ends[b].instruction) + " and " + called(ends[a].instruction);
      if (const isl::set meet = ends[a].where.intersect(ends[b].where); !meet.is_empty())
        fail(both + (areWriters ? " write " : " read ") + way.name + " in one iteration", meet);
      if (std::abs(ends[a].time - ends[b].time) >= symbolic_.interval)
        fail(both + (areWriters ? " write " : " read ") + way.name + " out of turn: an interval or more apart");
    }
}

void SymbolicVerifier::queue(const QueueWay& way, const std::vector<WayEnd>& writers,
                             const std::vector<WayEnd>& readers, const Fifo& fifo) const {
  inTurn(way, writers, true);
  inTurn(way, readers, false);
  isl::set written = sets_.none(), read = sets_.none();
  for (const WayEnd& each : writers)
    written = SymbolicSets::together(written, sets_.later(each.where, way.distance));
  for (const WayEnd& each : readers)
    read = SymbolicSets::together(read, each.where);
  if (const isl::set missing = read.subtract(written); !missing.is_empty())
    fail(way.name + " is read, but nothing was written for it", missing);
  if (const isl::set left = written.subtract(read); !left.is_empty())
    fail(way.name + " is written for an iteration that does not read it", left);
  const bool isWithin = std::ranges::all_of(way.crossing, [](int64_t each) { return each == 0; });
  const int64_t before = isWithin ? symbolic_.interval * leastIterations(way.distance) : 0;
  std::optional<int64_t> least, longest;
  for (const WayEnd& writer : writers)
    for (const WayEnd& reader : readers) {
      const int64_t slack = reader.time - writer.time - way.under;
      longest = std::max(longest.value_or(slack), slack);
      const isl::set both = sets_.later(writer.where, way.distance).intersect(reader.where);
      if (both.is_empty())
        continue;
      least = std::min(least.value_or(slack), slack);
      if (!areOneType(writer.type, reader.type))
        fail(called(reader.instruction) + " reads " + std::string(name(reader.type)) + " from " + way.name +
                 ", to which " + called(writer.instruction) + " writes " + std::string(name(writer.type)),
             both);
      if (isWithin && before + slack < 0)
        fail(called(reader.instruction) + " reads " + way.name + " " + std::to_string(-before - slack) +
                 " cycles before the value of " + called(writer.instruction) + " is there",
             both);
    }
  if (!least)
    return;
  if (fifo.arrival.slack < *longest)
    fail("values of " + way.name + " wait for up to " + std::to_string(*longest) + " cycles more than iterations, " +
         std::to_string(fifo.arrival.slack) + " are counted");
  if (!isWithin && std::ranges::none_of(symbolic_.arrivals, [&](const Arrival& each) {
        return each.distance == way.distance && each.crossing == way.crossing && each.slack <= *least;
      }))
    fail("elements may start before the values of " + way.name +
         " are there: no arrival of its distance with a slack of " + std::to_string(*least) + " or less");
}

void SymbolicVerifier::feedback(Register reg) const {
  const std::vector<WayEnd> writers = of(writes_, reg), readers = of(reads_, reg);
  const Fifo& fifo = fifoOf(reg);
  const Vector& distance = fifo.arrival.distance;
  const Vector within(distance.size(), 0);
  const bool isAlone = sets_.crossings(distance).size() == 1;
  const auto fits = [&](const std::vector<WayEnd>& ends, const Vector& step, const char* does) {
    for (const WayEnd& each : ends)
      if (each.isPlain() ? !isAlone : each.step != step || each.crossing != within)
        fail(called(each.instruction) + does + name(reg) + " at another distance than the FIFO's", each.where);
  };
  fits(writers, distance, " writes ");
  fits(readers, negative(distance), " reads ");
  queue({name(reg), distance, within, 0}, writers, readers, fifo);
}

void SymbolicVerifier::channel(const Channel& channel) const {
  const Register from{Register::Kind::Output, static_cast<uint16_t>(channel.path.front().index)};
  const Register to{Register::Kind::Input, static_cast<uint16_t>(channel.path.back().index)};
  const Fifo& fifo = fifoOf(to);
  const Vector &distance = fifo.arrival.distance, &crossing = fifo.arrival.crossing;
  const std::string what = "the channel from " + name(from) + " to " + name(to);
  const auto along = [&](uint32_t loop) { return loop == Symbolic::none ? 0 : crossing[loop]; };
  if (channel.rowStep != along(symbolic_.rowLoop) || channel.columnStep != along(symbolic_.columnLoop))
    fail(what + " leads to another neighbour than its values");
  if (const std::vector<Vector> all = sets_.crossings(distance); std::ranges::find(all, crossing) == all.end())
    fail(what + " crosses tiles where its distance does not");
  const auto chosen = [&](const std::vector<WayEnd>& ends, const Vector& step, const Vector& across, const char* does,
                          Register reg) {
    std::vector<WayEnd> list;
    for (const WayEnd& each : ends) {
      if (each.isPlain())
        continue; // an access
      if (each.step != step || each.crossing != across)
        fail(called(each.instruction) + does + name(reg) + " at another distance than the channel's", each.where);
      list.push_back(each);
    }
    return list;
  };
  const int64_t hops = static_cast<int64_t>(channel.path.size() - 2) / 2;
  queue({what, distance, crossing, hops * static_cast<int64_t>(array_.data.hop)},
        chosen(of(writes_, from), distance, crossing, " writes ", from),
        chosen(of(reads_, to), negative(distance), negative(crossing), " reads ", to), fifo);
}

/// An operand's value does not depend on the tile in which it was computed: each way has it from the same instruction.
void SymbolicVerifier::sameWriters() const {
  std::map<std::pair<Register, Vector>, Register> outputOf; // by a channel's end and what it crosses
  for (const Channel& each : symbolic_.channels) {
    const Register to{Register::Kind::Input, static_cast<uint16_t>(each.path.back().index)};
    outputOf[{to, fifoOf(to).arrival.crossing}] = {Register::Kind::Output,
                                                   static_cast<uint16_t>(each.path.front().index)};
  }
  std::map<std::tuple<uint32_t, size_t, Vector>, std::map<Vector, std::map<uint32_t, isl::set>>> found;
  for (const auto& [key, ends] : distant_) {
    const auto& [instruction, number, step, crossing] = key;
    std::map<uint32_t, isl::set>& byWriter = found[{instruction, number, step}][crossing];
    for (const WayEnd& read : ends) {
      Register reg = read.reg;
      if (reg.kind == Register::Kind::Input) {
        const auto output = outputOf.find({reg, negative(crossing)});
        if (output == outputOf.end())
          fail(called(instruction) + " reads " + name(reg) + " from a neighbour, to which no channel leads",
               read.where);
        reg = output->second;
      }
      for (const WayEnd& write : of(writes_, reg)) {
        if (write.isPlain() && reg.kind == Register::Kind::Output)
          continue;
        const isl::set got = sets_.later(write.where, negative(step)).intersect(read.where);
        isl::set& known = byWriter.try_emplace(write.instruction, sets_.none()).first->second;
        known = SymbolicSets::together(known, got);
      }
    }
  }
  for (const auto& [key, byCrossing] : found)
    for (const auto& [crossing, byWriter] : byCrossing)
      for (const auto& [writer, got] : byWriter) {
        const std::map<uint32_t, isl::set>& first = byCrossing.begin()->second;
        const auto same = first.find(writer);
        if (const isl::set other = same == first.end() ? got : got.subtract(same->second); !other.is_empty())
          fail("operand " + std::to_string(std::get<1>(key)) + " of " + called(std::get<0>(key)) + " gets a value of " +
                   called(writer) + " from some tiles only",
               other);
      }
}

// ---- Inputs and outputs ----

/// At elements that access an array along a channel, the channel has no other end: the tile there does not exist. The
/// first tile of a loop is whole; of the last one only the last iteration is certain.
void SymbolicVerifier::beyond(const Access& access, const isl::set& where) const {
  const Channel& channel = symbolic_.channels[access.channel];
  const Arrival& arrival = fifoOf({Register::Kind::Input, static_cast<uint16_t>(channel.path.back().index)}).arrival;
  std::vector<isl::set> wrong;
  for (size_t l = 0; l < arrival.crossing.size(); ++l) {
    if (arrival.crossing[l] == 0)
      continue;
    const bool isFirst = (arrival.crossing[l] > 0) == !access.isOutput;
    const std::string loop = "*(i" + std::to_string(l);
    std::string conditions = "true";
    for (const Bound& each : isFirst ? symbolic_.loops[l].lower : symbolic_.loops[l].upper)
      conditions += " and " + std::to_string(each.divisor) + loop +
                    (isFirst ? " - " + std::to_string(std::abs(arrival.distance[l])) + ") >= " : " + 1) <= ") +
                    SymbolicSets::text(each.value, {});
    wrong.push_back(where.intersect(sets_.holding(conditions)));
    if (wrong.back().is_empty())
      return;
  }
  const std::string array = arrayOf(access).name;
  const std::string what = "'" + array + "' is accessed along channel " + std::to_string(access.channel) +
                           " where that may have a neighbour";
  if (wrong.empty())
    fail(what);
  fail(what, wrong.front());
}

void SymbolicVerifier::accesses(bool isOutput) {
  std::map<Register, uint32_t> channelOf;
  for (uint32_t i = 0; i < symbolic_.channels.size(); ++i) {
    const std::vector<machine::Port>& path = symbolic_.channels[i].path;
    channelOf[{isOutput ? Register::Kind::Output : Register::Kind::Input,
               static_cast<uint16_t>((isOutput ? path.front() : path.back()).index)}] = i;
  }
  const char* does = isOutput ? " writes " : " reads ";
  std::map<Register, std::vector<std::pair<const Access*, isl::set>>> all;
  for (const Access& each : symbolic_.accesses) {
    if (each.isOutput != isOutput)
      continue;
    const std::string array = arrayOf(each).name;
    const isl::set where = whole(each.when, "'" + array + "'");
    for (const auto& [other, there] : all[each.reg]) {
      if (const isl::set both = there.intersect(where); !both.is_empty())
        fail(name(each.reg) + " is accessed twice in one iteration", both);
      if (other->array != each.array || other->index != each.index || other->offset != each.offset ||
          other->channel != each.channel)
        fail("different elements of arrays at " + name(each.reg));
    }
    const auto channel = channelOf.find(each.reg);
    if (each.channel != (channel == channelOf.end() ? Access::ownRoute : channel->second))
      fail("'" + array + "' is accessed at " + name(each.reg) + ", which belongs to " +
           (channel == channelOf.end() ? "no channel" : "a channel"));
    if (each.channel != Access::ownRoute)
      beyond(each, where);
    all[each.reg].emplace_back(&each, where);
  }
  for (const auto& [reg, ends] : isOutput ? writes_ : reads_) {
    if (reg.kind != (isOutput ? Register::Kind::Output : Register::Kind::Input))
      continue;
    isl::set taken = sets_.none();
    for (const WayEnd& each : ends) {
      if (!each.isPlain()) {
        if (!channelOf.contains(reg))
          fail(called(each.instruction) + does + name(reg) + " for another element, but no channel is there",
               each.where);
        continue;
      }
      if (const isl::set both = taken.intersect(each.where); !both.is_empty())
        fail(called(each.instruction) + does + name(reg) + ", as another instruction of the iteration does", both);
      taken = SymbolicSets::together(taken, each.where);
      isl::set rest = each.where;
      const auto found = all.find(reg);
      if (found != all.end())
        for (const auto& [access, where] : found->second) {
          const isl::set both = rest.intersect(where);
          if (both.is_empty())
            continue;
          const SymbolicArray& array = arrayOf(*access);
          if (access->offset != each.time)
            fail("'" + array.name + "' is accessed " + std::to_string(access->offset) +
                     " cycles after the iteration's start, " + called(each.instruction) + does + name(reg) + " after " +
                     std::to_string(each.time),
                 both);
          if (!areOneType(array.type, each.type))
            fail(called(each.instruction) + does + std::string(name(each.type)) + ", '" + array.name + "' holds " +
                     std::string(name(array.type)),
                 both);
          rest = rest.subtract(where);
        }
      if (!rest.is_empty())
        fail(called(each.instruction) + does + name(reg) +
                 (isOutput ? ", from which no output takes it" : ", to which no input is given"),
             rest);
    }
    if (const auto found = all.find(reg); found != all.end())
      for (auto& [access, where] : found->second)
        where = where.subtract(taken);
  }
  for (const auto& [reg, list] : all)
    for (const auto& [access, where] : list)
      if (!where.is_empty())
        fail("'" + arrayOf(*access).name + "' is accessed at " + name(reg) + ", which no instruction " +
                 (isOutput ? "writes" : "reads"),
             where);
}

/// Accesses are inside their arrays, and no element of an output is written twice.
void SymbolicVerifier::elements() {
  std::map<uint32_t, isl::set> written; // by output
  for (const Access& each : symbolic_.accesses) {
    const SymbolicArray& array = arrayOf(each);
    const isl::set where = whole(each.when, "'" + array.name + "'");
    for (size_t d = 0; d < each.index.size(); ++d) {
      const std::string at = SymbolicSets::text(each.index[d], {});
      for (const std::string& wrong : {at + " < 0", at + " >= " + SymbolicSets::text(array.extents[d], {})})
        if (const isl::set out = where.intersect(sets_.holding(wrong)); !out.is_empty())
          fail("'" + array.name + "' is accessed outside of its extents", out);
    }
    if (!each.isOutput)
      continue;
    const isl::map element = sets_.map(each.index).intersect_domain(where);
    if (!sets_.isTrue(isl_map_is_injective(element.get())))
      fail("two iterations write one element of '" + array.name + "'");
    const isl::set image = element.range();
    const auto [known, isNew] = written.try_emplace(each.array, image);
    if (isNew)
      continue;
    if (!known->second.is_disjoint(image))
      fail("two accesses write one element of '" + array.name + "'");
    known->second = SymbolicSets::together(known->second, image);
  }
}

} // namespace

Verdict verify(const Symbolic& symbolic, const machine::ProcessorArray& array) {
  if (std::string wrong = validate(symbolic, array); !wrong.empty())
    return {std::move(wrong)};
  try {
    SymbolicVerifier(symbolic, array).run();
  } catch (BrokenSymbolic& broken) {
    return {std::move(broken.message)};
  } catch (const isl::exception&) {
    return {"", false};
  }
  return {};
}

} // namespace strata::array

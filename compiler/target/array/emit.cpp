// See emit.h.
#include "compiler/target/array/emit.h"
#include "compiler/target/array/condition_table.h"
#include "compiler/target/array/registers.h"
#include "compiler/target/array/routes.h"
#include "compiler/target/array/select.h"

#include <algorithm>
#include <map>

namespace strata::array {

using equations::Affine;
using equations::Constant;
using equations::Constraint;
using equations::InputUse;
using equations::Use;

STRATA_DIAGNOSTIC(tooFewRegisters, Error, "array-registers", "'{0}' needs {1} {2}; an element of the array has {3}");
STRATA_DIAGNOSTIC(noRoutes, Error, "array-routes", "the channels of '{0}' between neighbours find no routes: {1}");
STRATA_DIAGNOSTIC(brokenMapping, Error, "array-mapping-internal",
                  "a verifier rejects what was made for '{0}': {1}; this is an error of Strata");
STRATA_DIAGNOSTIC(tooHardSet, Error, "array-condition",
                  "the condition of '{0}' has no form that an array's controller can be given");

std::vector<uint32_t> Distribution::loops() const {
  std::vector<uint32_t> list;
  for (const uint32_t loop : {rowLoop, columnLoop})
    if (loop != Symbolic::none)
      list.push_back(loop);
  return list;
}

namespace {

/// Values that take the same FIFOs and channels: storages for one distance of which no two hold a value in the same
/// iteration, and whose values come and go in the order of the iterations.
struct Queue {
  std::vector<size_t> storages;
  Register feedback;
  std::vector<size_t> ways; // by crossing
};

/// A channel of a queue in one direction.
struct Way {
  size_t queue = 0, crossing = 0;
  bool hasInput = false, hasOutput = false; // shares its register with one
};

/// Inputs or outputs that share a register and a bank: the same element of the same array in the same cycle of an
/// iteration, but no two in one iteration.
struct Ports {
  std::vector<size_t> ports;
  uint32_t channel = Access::ownRoute;
  Register reg;
};

class Emitter {
public:
  Emitter(const Scheduled& from, const machine::ProcessorArray& array, DiagnosticEngine& diagnostics, Lack& lack)
      : from_(from), network_(from.network), array_(array), diagnostics_(diagnostics), lack_(lack),
        box_(from.network.context) {
    for (const LoopRange& each : from.ranges)
      box_ = box_.intersect(each.above);
  }

  std::optional<Symbolic> run(const std::string& machineName) {
    describe(machineName);
    queues();
    ports();
    if (!registers() || !feedback() || !routes())
      return std::nullopt;
    for (uint32_t cell = 0; cell < network_.cells.size(); ++cell)
      instruction(cell);
    timing();
    accesses();
    if (!failed_.empty()) {
      diagnostics_.report(tooHardSet, network_.graph.location, failed_)
          .help("write the conditions with fewer remainders and divisions");
      return std::nullopt;
    }
    return std::move(made_);
  }

private:
  void describe(const std::string& machineName);
  void queues();
  void ports();
  bool registers();
  bool feedback();
  bool routes();
  bool isOutside(const isl::set& domain, const Way& way, bool isInput) const;
  void instruction(uint32_t cell);
  void timing();
  void accesses();

  int64_t offset(uint32_t cell) const { return from_.schedule.slots[cell].offset; }
  int64_t latency(uint32_t cell) const {
    return from_.problem.operations[cell].choices[from_.schedule.slots[cell].choice].latency;
  }
  int64_t arrival(uint32_t cell) const { return offset(cell) + latency(cell); }
  const OutputWrite& written(size_t port) const {
    const OutputPort& each = from_.storages.outputs[port];
    return network_.variables[each.variable].writes[each.write];
  }
  /// The cycle of an iteration in which all writers have an output's word ready.
  int64_t outputArrival(size_t port) const {
    int64_t when = 0;
    for (uint32_t cell = 0; cell < network_.cells.size(); ++cell)
      if (network_.cells[cell].variable == from_.storages.outputs[port].variable &&
          !network_.cells[cell].domain().is_disjoint(written(port).domain))
        when = arrival(cell);
    return when;
  }
  Register inputOfChannel(size_t way) const {
    return {Register::Kind::Input, static_cast<uint16_t>(made_.channels[way].path.back().index)};
  }
  int64_t hops(size_t way) const { return static_cast<int64_t>(made_.channels[way].path.size() - 2) / 2; }

  Linear linear(const Affine& value) const {
    return array::linear(value, network_.loops(), network_.graph.parameters.size());
  }
  uint32_t spaceOf(const isl::set& set, const isl::set& within, const std::string& what);
  Term term(const isl::set& set, const isl::set& within, const std::string& what) {
    return {spaceOf(set, within, what), network_.zero(), {}, {}};
  }
  Term term(const isl::set& set, const isl::set& within, const std::string& what, std::vector<int64_t> step,
            std::vector<int64_t> crossing) {
    return {spaceOf(set, within, what), network_.zero(), std::move(step), std::move(crossing)};
  }
  /// What takes a register, and where it stands in the program.
  struct Taker {
    Location location;
    std::string text;
  };
  Taker takerOf(uint32_t variable) const {
    return {network_.variables[variable].location, "'" + network_.variables[variable].name + "'"};
  }
  Taker takerOf(const Storage& storage) const {
    Taker taker = takerOf(storage.variable);
    std::string distance;
    for (const int64_t each : storage.distance)
      distance += (distance.empty() ? "" : ", ") + std::to_string(each);
    return {taker.location, taker.text + " at distance (" + distance + ")"};
  }
  /// What takes the registers is told at its places, once each.
  bool tooFew(uint64_t needed, const char* what, uint64_t there, const std::string& help,
              const std::vector<Taker>& takers, Lack lack) {
    if (needed <= there)
      return false;
    lack_ = lack;
    DiagnosticBuilder report =
        diagnostics_.report(tooFewRegisters, takers.empty() ? network_.graph.location : takers[0].location,
                            network_.graph.name, needed, what, there);
    std::map<std::string, size_t> told;
    size_t rest = 0;
    for (const Taker& each : takers) {
      if (told.size() == mostTold && !told.contains(each.text))
        ++rest;
      else if (told[each.text]++ == 0)
        report.label(each.location, "for " + each.text);
    }
    if (rest)
      report.note("and for " + std::to_string(rest) + " more");
    report.help(help);
    return true;
  }
  static constexpr size_t mostTold = 6;

  /// A solver's result that its verifier rejects.
  bool isBroken(const std::string& broken) {
    if (broken.empty())
      return false;
    reportBroken(network_.graph, broken, diagnostics_);
    return true;
  }

  const Scheduled& from_;
  const Network& network_;
  const machine::ProcessorArray& array_;
  DiagnosticEngine& diagnostics_;
  Lack& lack_;
  isl::set box_;
  Symbolic made_;
  std::string failed_;
  ConditionTable table_{made_, network_.loops(), network_.graph.parameters.size()};
  std::vector<Register> near_; // by storage
  std::vector<Queue> queues_;
  std::vector<size_t> queueOf_; // by storage
  std::vector<Way> ways_;       // by channel
  std::vector<Ports> inputs_, outputs_;
  std::vector<size_t> inputOf_, outputOf_; // by port
};

std::vector<int64_t> negative(std::vector<int64_t> values) {
  for (int64_t& value : values)
    value = -value;
  return values;
}

void Emitter::describe(const std::string& machineName) {
  const equations::Graph& graph = network_.graph;
  made_.program = graph.name;
  made_.machine = machineName;
  made_.fingerprint = fingerprint(array_);
  made_.parameters = graph.parameters;
  for (const Constraint& each : graph.context)
    made_.context.push_back({static_cast<Condition::Kind>(each.kind), linear(each.value), each.modulus});
  for (size_t i = 0; i < network_.loops(); ++i)
    made_.loops.push_back({graph.iterators[i], from_.ranges[i].lower, from_.ranges[i].upper, from_.leastTiles[i]});
  made_.rowLoop = from_.distribution.rowLoop;
  made_.columnLoop = from_.distribution.columnLoop;
  made_.interval = from_.schedule.interval;
  made_.lowerBound = from_.schedule.lowerBound;
  const auto array = [&](const equations::Array& each) {
    SymbolicArray result{each.name, typeOf(each.type), {}};
    for (const Affine& extent : each.extents)
      result.extents.push_back(linear(extent));
    return result;
  };
  for (const equations::Array& each : graph.inputs)
    made_.inputs.push_back(array(each));
  for (const equations::Array& each : graph.outputs)
    made_.outputs.push_back(array(each));
}

uint32_t Emitter::spaceOf(const isl::set& set, const isl::set& within, const std::string& what) {
  const std::optional<uint32_t> found = table_.spaceOf(set, within);
  if (!found)
    failed_ = what;
  return found.value_or(0);
}

/// Whether two values of one iteration are alive together, and no two of different iterations.
bool meetOnlyWithin(const RegisterProblem::Value& a, const RegisterProblem::Value& b, int64_t interval) {
  const auto meet = [&](int64_t later) {
    const int64_t first = b.first + later;
    return first < a.first + a.cycles && a.first < first + b.cycles;
  };
  if (!meet(0))
    return false;
  // No value is longer than an interval: only those of the iterations before and after come near.
  return !meet(interval) && !meet(-interval);
}

bool Emitter::registers() {
  near_.resize(from_.storages.storages.size());
  for (const bool isFlag : {false, true}) {
    RegisterProblem problem;
    problem.interval = from_.schedule.interval;
    problem.registers = static_cast<uint32_t>(isFlag ? array_.flags : array_.registers.general);
    std::vector<size_t> which;
    for (size_t i = 0; i < from_.storages.storages.size(); ++i) {
      const Storage& storage = from_.storages.storages[i];
      const bool isBool = network_.variables[storage.variable].type.kind == ElementType::Kind::Bool;
      if (storage.kind != Storage::Kind::Register || (isBool && array_.flags != 0) != isFlag)
        continue;
      int64_t first = INT64_MAX, last = 0;
      for (const uint32_t writer : storage.writers)
        first = std::min(first, arrival(writer));
      for (const uint32_t reader : storage.readers)
        last = std::max(last, offset(reader));
      problem.values.push_back({network_.variables[storage.variable].name, first, last - first + 1});
      which.push_back(i);
    }
    if (which.empty())
      continue;
    // Two values may be alive in the same cycles if they are so only within an iteration, and in none together.
    for (uint32_t a = 0; a < which.size(); ++a)
      for (uint32_t b = a + 1; b < which.size(); ++b)
        if (meetOnlyWithin(problem.values[a], problem.values[b], problem.interval) &&
            from_.storages.storages[which[a]].read.is_disjoint(from_.storages.storages[which[b]].read))
          problem.compatible.emplace_back(a, b);
    uint32_t needed = 0;
    const std::optional<RegisterAllocation> allocation = solve(problem, needed);
    if (!allocation) {
      std::vector<Taker> takers;
      for (const size_t each : which)
        takers.push_back(takerOf(from_.storages.storages[each].variable));
      tooFew(std::max(needed, problem.registers + 1), isFlag ? "flags" : "general registers", problem.registers,
             "an array with more of them; fewer values that are used late in the iteration", takers, Lack::Registers);
      return false;
    }
    if (isBroken(verify(problem, *allocation)))
      return false;
    for (size_t i = 0; i < which.size(); ++i)
      near_[which[i]] = {isFlag ? Register::Kind::Flag : Register::Kind::General,
                         static_cast<uint16_t>(allocation->registers[i])};
  }
  return true;
}

/// Groups of which all members fit together with this schedule; those that do not are cut up.
template <typename Fits>
std::vector<std::vector<size_t>> scheduled(const std::vector<std::vector<size_t>>& groups, Fits fits) {
  std::vector<std::vector<size_t>> made;
  for (const std::vector<size_t>& group : groups) {
    const size_t first = made.size();
    for (const size_t each : group) {
      const auto isGood = [&](const std::vector<size_t>& part) {
        return std::ranges::all_of(part, [&](size_t other) { return fits(other, each); });
      };
      auto part = std::find_if(made.begin() + static_cast<ptrdiff_t>(first), made.end(), isGood);
      if (part == made.end())
        part = made.insert(made.end(), std::vector<size_t>());
      part->push_back(each);
    }
  }
  return made;
}

/// Which storages take the same FIFOs.
void Emitter::queues() {
  const std::vector<Storage>& storages = from_.storages.storages;
  // All in one interval: then those of an iteration come before those of the next.
  const auto areClose = [&](const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, bool areWriters) {
    for (const uint32_t x : a)
      for (const uint32_t y : b) {
        const int64_t apart = areWriters ? arrival(x) - arrival(y) : offset(x) - offset(y);
        if (std::abs(apart) >= from_.schedule.interval)
          return false;
      }
    return true;
  };
  queueOf_.resize(storages.size());
  for (std::vector<size_t>&group : scheduled(from_.storages.queueGroups, [&](size_t a, size_t b) {
         return areClose(storages[a].writers, storages[b].writers, true) &&
                areClose(storages[a].readers, storages[b].readers, false);
       })) {
    for (const size_t each : group)
      queueOf_[each] = queues_.size();
    queues_.push_back({std::move(group), {}, {}});
  }
}

/// Which inputs and outputs share a register.
void Emitter::ports() {
  const auto take = [](const std::vector<std::vector<size_t>>& groups, std::vector<Ports>& list,
                       std::vector<size_t>& of, size_t count) {
    of.resize(count);
    for (const std::vector<size_t>& group : groups) {
      for (const size_t each : group)
        of[each] = list.size();
      list.push_back({group, Access::ownRoute, {}});
    }
  };
  const std::vector<InputPort>& inputs = from_.storages.inputs;
  take(scheduled(from_.storages.inputGroups,
                 [&](size_t a, size_t b) { return offset(inputs[a].cell) == offset(inputs[b].cell); }),
       inputs_, inputOf_, inputs.size());
  take(scheduled(from_.storages.outputGroups, [&](size_t a, size_t b) { return outputArrival(a) == outputArrival(b); }),
       outputs_, outputOf_, from_.storages.outputs.size());
}

bool Emitter::feedback() {
  for (size_t i = 0; i < queues_.size(); ++i)
    queues_[i].feedback = {Register::Kind::Feedback, static_cast<uint16_t>(i)};
  std::vector<Taker> takers;
  for (const Queue& queue : queues_)
    takers.push_back(takerOf(from_.storages.storages[queue.storages[0]]));
  return !tooFew(queues_.size(), "feedback registers", array_.registers.feedback,
                 "fewer values that are used in later iterations, or an array with more feedback registers", takers,
                 Lack::Queues);
}

/// Whether in all iterations of the domain the neighbour that the channel comes from (for inputs), or leads to, is
/// outside of the program: at the border the channel comes from a bank, or leads to one. A loop's first tile is whole
/// and no shorter than the distance; the last one may have a single iteration.
bool Emitter::isOutside(const isl::set& domain, const Way& way, bool isInput) const {
  const Storage& storage = from_.storages.storages[queues_[way.queue].storages[0]];
  const std::vector<int64_t>& crossing = storage.crossings[way.crossing];
  for (const uint32_t loop : from_.distribution.loops()) {
    if (crossing[loop] == 0)
      continue;
    std::vector<int64_t> along = network_.zero();
    const bool isFirst = (crossing[loop] > 0) == isInput;
    along[loop] = isFirst ? storage.distance[loop] : crossing[loop];
    const LoopRange& range = from_.ranges[loop];
    const isl::set& inside = isFirst ? range.above : range.below;
    // Iterations of the domain whose other end, this loop alone changed, is inside.
    const isl::set near = inside.apply(network_.polyhedra.translation(isInput ? along : negative(along)));
    if (domain.is_disjoint(near))
      return true;
  }
  return false;
}

bool Emitter::routes() {
  RouteProblem problem;
  problem.layer = array_.data;
  problem.elementInputs = static_cast<uint32_t>(array_.registers.input);
  problem.elementOutputs = static_cast<uint32_t>(array_.registers.output);
  const Distribution& distribution = from_.distribution;
  const auto step = [](const std::vector<int64_t>& crossing, uint32_t loop) {
    return loop == Symbolic::none ? 0 : crossing[loop];
  };
  for (size_t i = 0; i < queues_.size(); ++i) {
    const Storage& storage = from_.storages.storages[queues_[i].storages[0]];
    for (size_t j = 0; j < storage.crossings.size(); ++j) {
      queues_[i].ways.push_back(ways_.size());
      ways_.push_back({i, j});
      problem.channels.push_back({network_.variables[storage.variable].name,
                                  step(storage.crossings[j], distribution.rowLoop),
                                  step(storage.crossings[j], distribution.columnLoop)});
    }
  }
  // At the border the registers of channels are free for what is read or written there only: first for that of the
  // channel's own users, then for any while there are too few others.
  const auto atBorders = [&](std::vector<Ports>& list, bool isInput, bool isOwn, const auto& domainOf,
                             const auto& isUser) {
    for (Ports& each : list)
      for (uint32_t i = 0; i < ways_.size() && each.channel == Access::ownRoute; ++i) {
        bool& isTaken = isInput ? ways_[i].hasInput : ways_[i].hasOutput;
        const std::vector<size_t>& storages = queues_[ways_[i].queue].storages;
        if (isTaken || (isOwn && !std::ranges::any_of(storages, [&](size_t storage) {
                          return std::ranges::any_of(each.ports, [&](size_t port) { return isUser(port, storage); });
                        })))
          continue;
        if (std::ranges::all_of(each.ports,
                                [&](size_t port) { return isOutside(domainOf(port), ways_[i], isInput); })) {
          isTaken = true;
          each.channel = i;
        }
      }
    return static_cast<uint32_t>(
        std::ranges::count_if(list, [](const Ports& each) { return each.channel == Access::ownRoute; }));
  };
  const auto freeInputs = [&](bool isOwn) {
    return atBorders(
        inputs_, true, isOwn, [&](size_t port) -> const isl::set& { return from_.storages.inputs[port].domain; },
        [&](size_t port, size_t storage) {
          return from_.storages.storages[storage].readers[0] == from_.storages.inputs[port].cell;
        });
  };
  const auto freeOutputs = [&](bool isOwn) {
    return atBorders(
        outputs_, false, isOwn, [&](size_t port) -> const isl::set& { return written(port).domain; },
        [&](size_t port, size_t storage) {
          return from_.storages.storages[storage].variable == from_.storages.outputs[port].variable;
        });
  };
  problem.freeInputs = freeInputs(true);
  problem.freeOutputs = freeOutputs(true);
  if (ways_.size() + problem.freeInputs > array_.registers.input)
    problem.freeInputs = freeInputs(false);
  if (ways_.size() + problem.freeOutputs > array_.registers.output)
    problem.freeOutputs = freeOutputs(false);
  std::vector<Taker> ends;
  for (const Way& way : ways_)
    ends.push_back(takerOf(from_.storages.storages[queues_[way.queue].storages[0]]));
  std::vector<Taker> into = ends, out = ends;
  for (const Ports& each : inputs_)
    if (each.channel == Access::ownRoute) {
      const InputPort& port = from_.storages.inputs[each.ports[0]];
      into.push_back({network_.cells[port.cell].alternatives[0].location,
                      "input '" + network_.graph.inputs[port.input].name + "'"});
    }
  for (const Ports& each : outputs_)
    if (each.channel == Access::ownRoute) {
      const OutputWrite& write = written(each.ports[0]);
      out.push_back({write.location, "output '" + network_.graph.outputs[write.output].name + "'"});
    }
  const char* help = "distribute one loop only (--distribute -,LOOP), or other loops, or an array with more of them";
  if (tooFew(ways_.size() + problem.freeInputs, "input registers, one for each channel and input",
             array_.registers.input, help, into, Lack::Inputs) ||
      tooFew(ways_.size() + problem.freeOutputs, "output registers, one for each channel and output",
             array_.registers.output, help, out, Lack::Outputs))
    return false;
  std::string why;
  const std::optional<RouteAllocation> allocation = solve(problem, why);
  if (!allocation) {
    lack_ = Lack::Routes;
    diagnostics_.report(noRoutes, network_.graph.location, network_.graph.name, why)
        .help(
            "distribute one loop only (--distribute -,LOOP), or other loops, or give the array's wrappers more ports");
    return false;
  }
  if (isBroken(verify(problem, *allocation)))
    return false;
  std::vector<bool> isInputUsed(array_.registers.input, false), isOutputUsed(array_.registers.output, false);
  for (size_t way = 0; way < ways_.size(); ++way) {
    const std::vector<machine::Port>& path = allocation->paths[way];
    made_.channels.push_back({problem.channels[way].rowStep, problem.channels[way].columnStep, path});
    isOutputUsed[path.front().index] = true;
    isInputUsed[path.back().index] = true;
  }
  const auto next = [](std::vector<bool>& isUsed) {
    const auto free = std::find(isUsed.begin(), isUsed.end(), false);
    *free = true;
    return static_cast<uint16_t>(free - isUsed.begin());
  };
  for (Ports& each : inputs_)
    each.reg = {Register::Kind::Input, each.channel == Access::ownRoute
                                           ? next(isInputUsed)
                                           : static_cast<uint16_t>(made_.channels[each.channel].path.back().index)};
  for (Ports& each : outputs_)
    each.reg = {Register::Kind::Output, each.channel == Access::ownRoute
                                            ? next(isOutputUsed)
                                            : static_cast<uint16_t>(made_.channels[each.channel].path.front().index)};
  return true;
}

void Emitter::instruction(uint32_t at) {
  const Cell& cell = network_.cells[at];
  const std::string& what = network_.variables[cell.variable].name;
  const isl::set domain = cell.domain();
  const Schedule::Slot& slot = from_.schedule.slots[at];
  const ScheduleProblem::Choice& choice = from_.problem.operations[at].choices[slot.choice];
  SymbolicInstruction made;
  made.name = what;
  made.unit = firstInstance(array_, choice.unit) + slot.instance;
  made.offset = slot.offset;
  made.latency = choice.latency;
  made.opcode = opcodeOf(cell.operation);
  made.type = typeOf(cell.type);
  made.operandType = typeOf(operandTypeOf(cell.operation, cell.type, cell.operandType));
  made.when = {term(domain, box_, what)};

  const ElementType boolean = ElementType::boolean();
  // Operands: equal ones of several alternatives are one.
  const size_t operands = cell.alternatives[0].operands.size();
  for (size_t position = 0; position < operands; ++position) {
    struct Piece {
      Operand value;
      std::vector<int64_t> step, crossing;
      isl::set domain;
    };
    std::vector<Piece> pieces;
    const auto add = [&](Operand value, std::vector<int64_t> step, std::vector<int64_t> crossing,
                         const isl::set& where) {
      for (Piece& each : pieces)
        if (each.value == value && each.step == step && each.crossing == crossing) {
          each.domain = each.domain.unite(where);
          return;
        }
      pieces.push_back({value, std::move(step), std::move(crossing), where});
    };
    for (const Alternative& alternative : cell.alternatives) {
      const equations::Operand& operand = alternative.operands[position];
      if (const Constant* constant = std::get_if<Constant>(&operand)) {
        const ElementType& type = cell.operation == equations::Operation::Select && position == 0
                                      ? boolean
                                      : operandTypeOf(cell.operation, cell.type, cell.operandType);
        add({{}, bitsOf(*constant, type)}, {}, {}, alternative.domain);
      } else if (const InputUse* input = std::get_if<InputUse>(&operand)) {
        add({inputs_[inputOf_[from_.storages.inputOf(at, *input)]].reg, 0}, {}, {}, alternative.domain);
      } else {
        const Use& use = std::get<Use>(operand);
        const Storage& storage = from_.storages.of(network_, at, use);
        const auto index = static_cast<size_t>(&storage - from_.storages.storages.data());
        const Queue* queue = storage.kind == Storage::Kind::Queue ? &queues_[queueOf_[index]] : nullptr;
        if (!queue) {
          add({near_[index], 0}, {}, {}, alternative.domain);
        } else if (storage.crossings.empty()) {
          add({queue->feedback, 0}, {}, {}, alternative.domain);
        } else {
          add({queue->feedback, 0}, negative(use.distance), network_.zero(), alternative.domain);
          for (size_t i = 0; i < storage.crossings.size(); ++i)
            add({inputOfChannel(queue->ways[i]), 0}, negative(use.distance), negative(storage.crossings[i]),
                alternative.domain);
        }
      }
    }
    std::vector<Source>& sources = made.operands.emplace_back();
    for (const Piece& piece : pieces) {
      auto known =
          std::find_if(sources.begin(), sources.end(), [&](const Source& each) { return each.value == piece.value; });
      if (known == sources.end())
        known = sources.insert(sources.end(), {piece.value, {}});
      known->when.push_back(term(piece.domain, domain, what, piece.step, piece.crossing));
    }
  }

  const auto write = [&](Register reg, Term when) {
    auto known = std::find_if(made.destinations.begin(), made.destinations.end(),
                              [&](const Destination& each) { return each.reg == reg; });
    if (known == made.destinations.end())
      known = made.destinations.insert(made.destinations.end(), {reg, {}});
    known->when.push_back(std::move(when));
  };
  for (size_t i = 0; i < from_.storages.storages.size(); ++i) {
    const Storage& storage = from_.storages.storages[i];
    if (storage.variable != cell.variable)
      continue;
    const isl::set wanted = equations::coalesced(network_.before(storage.read, storage.distance).intersect(domain));
    if (wanted.is_empty())
      continue;
    if (storage.kind == Storage::Kind::Register) {
      write(near_[i], term(wanted, domain, what));
    } else if (const Queue& queue = queues_[queueOf_[i]]; storage.crossings.empty()) {
      write(queue.feedback, term(wanted, domain, what));
    } else {
      write(queue.feedback, term(wanted, domain, what, storage.distance, network_.zero()));
      for (size_t j = 0; j < storage.crossings.size(); ++j)
        write({Register::Kind::Output, static_cast<uint16_t>(made_.channels[queue.ways[j]].path.front().index)},
              term(wanted, domain, what, storage.distance, storage.crossings[j]));
    }
  }
  for (size_t i = 0; i < from_.storages.outputs.size(); ++i) {
    const OutputPort& port = from_.storages.outputs[i];
    if (port.variable != cell.variable)
      continue;
    const isl::set wanted = equations::coalesced(written(i).domain.intersect(domain));
    if (!wanted.is_empty())
      write(outputs_[outputOf_[i]].reg, term(wanted, domain, what));
  }
  made_.instructions.push_back(std::move(made));
}

void Emitter::timing() {
  for (const Queue& queue : queues_) {
    // The value that waits for least decides when elements may start; how many wait, those that come first and the one
    // that is read last.
    int64_t least = INT64_MAX, firstArrival = INT64_MAX, lastRead = INT64_MIN;
    for (const size_t i : queue.storages) {
      const Storage& storage = from_.storages.storages[i];
      const int64_t read = offset(storage.readers[0]);
      for (const uint32_t writer : storage.writers) {
        least = std::min(least, read - arrival(writer));
        firstArrival = std::min(firstArrival, arrival(writer));
      }
      lastRead = std::max(lastRead, read);
    }
    const int64_t longest = lastRead - firstArrival;
    const Storage& storage = from_.storages.storages[queue.storages[0]];
    made_.fifos.push_back({queue.feedback, {storage.distance, network_.zero(), longest}});
    for (size_t j = 0; j < storage.crossings.size(); ++j) {
      const int64_t under = hops(queue.ways[j]) * static_cast<int64_t>(array_.data.hop);
      made_.arrivals.push_back({storage.distance, storage.crossings[j], least - under});
      made_.fifos.push_back({inputOfChannel(queue.ways[j]), {storage.distance, storage.crossings[j], longest - under}});
    }
  }
}

void Emitter::accesses() {
  for (size_t i = 0; i < from_.storages.inputs.size(); ++i) {
    const InputPort& port = from_.storages.inputs[i];
    const Ports& shared = inputs_[inputOf_[i]];
    Access access{false, port.input, shared.reg, shared.channel, offset(port.cell), {}, {}};
    access.when = {term(equations::coalesced(port.domain), box_, network_.graph.inputs[port.input].name)};
    for (const Affine& each : port.index)
      access.index.push_back(linear(each));
    made_.accesses.push_back(std::move(access));
  }
  for (size_t i = 0; i < from_.storages.outputs.size(); ++i) {
    const OutputWrite& write = written(i);
    const Ports& shared = outputs_[outputOf_[i]];
    Access access{true, write.output, shared.reg, shared.channel, outputArrival(i), {}, {}};
    access.when = {term(write.domain, box_, network_.graph.outputs[write.output].name)};
    for (const Affine& each : write.index)
      access.index.push_back(linear(each));
    made_.accesses.push_back(std::move(access));
  }
}

} // namespace

void reportBroken(const equations::Graph& graph, const std::string& broken, DiagnosticEngine& diagnostics) {
  diagnostics.report(brokenMapping, graph.location, graph.name, broken);
}

std::optional<Symbolic> emit(const Scheduled& scheduled, const std::string& machineName,
                             const machine::ProcessorArray& array, DiagnosticEngine& diagnostics, Lack& lack) {
  lack = Lack::Nothing;
  return Emitter(scheduled, array, diagnostics, lack).run(machineName);
}

} // namespace strata::array

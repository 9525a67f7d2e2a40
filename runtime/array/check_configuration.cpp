// See check_configuration.h. The first thing that is wrong ends it.
#include "runtime/array/check_configuration.h"
#include "base/machine/quantity.h"
#include "runtime/array/wires.h"

#include <algorithm>
#include <set>

namespace strata::array {

using machine::InterconnectLayer;
using machine::Port;
using machine::ProcessorArray;
using machine::Side;

namespace {

class Check {
public:
  Check(const ProcessorArray& array, const Configuration& configuration) : array_(array), c_(configuration) {}

  std::string run() {
    if (!shape() || !regions() || !programs() || !connections(array_.data, c_.data, false) ||
        !connections(array_.control, c_.control, true) || !banks() || !signals())
      return wrong_;
    return "";
  }

private:
  bool fail(std::string message) {
    wrong_ = std::move(message);
    return false;
  }
  bool shape();
  bool regions();
  bool programs();
  // What `where` says comes before what is wrong; it is made only then.
  template <typename Where>
  bool instruction(const Instruction& instruction, const machine::FunctionalUnit& unit, size_t slots,
                   const Where& where);
  bool connections(const InterconnectLayer& layer, const std::vector<Connection>& list, bool isControl);
  bool banks();
  bool signals();
  template <typename Where>
  bool box(const Box& box, const Where& where);

  const ProcessorArray& array_;
  const Configuration& c_;
  std::string wrong_;
};

bool Check::shape() {
  if (c_.rows == 0 || c_.columns == 0 || c_.rows > array_.rows || c_.columns > array_.columns)
    return fail("a region of " + std::to_string(c_.rows) + " x " + std::to_string(c_.columns) +
                " elements, the array has " + std::to_string(array_.rows) + " x " + std::to_string(array_.columns));
  if (c_.interval < 1 || c_.interval > 1 << 20)
    return fail("an initiation interval of " + std::to_string(c_.interval) + " cycles");
  int64_t product = 1;
  for (const int64_t extent : c_.extents)
    if (extent < 1 || __builtin_mul_overflow(product, extent, &product) || product > int64_t{1} << 40)
      return fail("a tile with extents that cannot be counted");
  if (c_.extents.empty() && !c_.banks.empty())
    return fail("banks without loops");
  const auto small = [](int64_t value) { return value > -(int64_t{1} << 40) && value < int64_t{1} << 40; };
  if (!small(c_.firstStart) || !small(c_.rowStart) || !small(c_.columnStart))
    return fail("starts that are too far apart");
  for (const int64_t row : {int64_t{0}, int64_t{c_.rows} - 1})
    for (const int64_t column : {int64_t{0}, int64_t{c_.columns} - 1})
      if (c_.start(row, column) < 0)
        return fail("element (" + std::to_string(row) + ", " + std::to_string(column) + ") starts in cycle " +
                    std::to_string(c_.start(row, column)));
  const machine::Registers& registers = array_.registers;
  if (c_.feedbackDepths.size() != registers.feedback || c_.inputDepths.size() != registers.input)
    return fail("depths of " + std::to_string(c_.feedbackDepths.size()) + " feedback and " +
                std::to_string(c_.inputDepths.size()) + " input registers, the array has " +
                std::to_string(registers.feedback) + " and " + std::to_string(registers.input));
  for (const uint64_t depth : c_.feedbackDepths)
    if (depth > registers.feedbackDepth)
      return fail("a feedback register of depth " + std::to_string(depth) + ", the array's hold " +
                  std::to_string(registers.feedbackDepth));
  for (const uint64_t depth : c_.inputDepths)
    if (depth > registers.inputDepth)
      return fail("an input register of depth " + std::to_string(depth) + ", the array's hold " +
                  std::to_string(registers.inputDepth));
  for (const std::vector<ArrayLayout>* arrays : {&c_.inputs, &c_.outputs})
    for (const ArrayLayout& each : *arrays) {
      if (static_cast<size_t>(each.type) >= types)
        return fail("array '" + each.name + "' is of a type that does not exist");
      int64_t elements = 1;
      for (const int64_t extent : each.extents)
        if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements) || elements > int64_t{1} << 48)
          return fail("array '" + each.name + "' has an extent of " + std::to_string(extent));
    }
  return true;
}

bool Check::regions() {
  std::vector<bool> isCovered(static_cast<size_t>(c_.rows) * c_.columns, false);
  for (const ClassRegion& each : c_.regions) {
    if (each.processorClass >= c_.classes.size())
      return fail("a region of class " + std::to_string(each.processorClass) + "; there are " +
                  std::to_string(c_.classes.size()));
    if (each.rows.first < 0 || each.rows.end > c_.rows || each.columns.first < 0 || each.columns.end > c_.columns)
      return fail("a class region outside of the elements");
    for (int64_t row = each.rows.first; row < each.rows.end; ++row)
      for (int64_t column = each.columns.first; column < each.columns.end; ++column) {
        const auto at = static_cast<size_t>(row * c_.columns + column);
        if (isCovered[at])
          return fail("element (" + std::to_string(row) + ", " + std::to_string(column) + ") is of two classes");
        isCovered[at] = true;
      }
  }
  const auto bare = static_cast<size_t>(std::ranges::find(isCovered, false) - isCovered.begin());
  if (bare != isCovered.size())
    return fail("element (" + std::to_string(bare / c_.columns) + ", " + std::to_string(bare % c_.columns) +
                ") is of no class");
  return true;
}

template <typename Where>
bool Check::instruction(const Instruction& each, const machine::FunctionalUnit& unit, size_t slots,
                        const Where& where) {
  const Functional& f = each.functional;
  if (static_cast<size_t>(f.opcode) >= opcodes || static_cast<size_t>(f.type) >= types ||
      static_cast<size_t>(f.operandType) >= types)
    return fail(where() + "an operation or a type that does not exist");
  const auto there = [&](Register reg) -> uint64_t {
    using enum Register::Kind;
    switch (reg.kind) {
    case General:
      return array_.registers.general;
    case Feedback:
      return array_.registers.feedback;
    case Input:
      return array_.registers.input;
    case Output:
      return array_.registers.output;
    case Flag:
      return array_.flags;
    default:
      return 0;
    }
  };
  const auto exists = [&](Register reg) {
    if (reg.kind > Register::Kind::Flag)
      return fail(where() + "a register of no kind");
    return reg.index < there(reg) ||
           fail(where() + "register " + name(reg) + ", the array has " + std::to_string(there(reg)));
  };
  if (f.opcode == Opcode::Nop) {
    if (!f.sources.empty() || !f.destinations.empty())
      return fail(where() + "a nop with operands");
  } else {
    if (std::none_of(unit.operations.begin(), unit.operations.end(),
                     [&](const machine::Operation& operation) { return operation.name == name(f.opcode); }))
      return fail(where() + "the unit has no operation '" + std::string(name(f.opcode)) + "'");
    if (!evaluator(f.opcode, f.type, f.operandType))
      return fail(where() + "'" + std::string(name(f.opcode)) + "' has no meaning for " + std::string(name(f.type)));
    if (bytes(f.type) > array_.word || bytes(f.operandType) > array_.word)
      return fail(where() + "a type wider than the array's words");
    if (f.sources.size() != operands(f.opcode))
      return fail(where() + std::to_string(f.sources.size()) + " operands, '" + std::string(name(f.opcode)) + "' has " +
                  std::to_string(operands(f.opcode)));
    if (f.destinations.size() > array_.destinations)
      return fail(where() + std::to_string(f.destinations.size()) + " destinations, instructions of the array have " +
                  std::to_string(array_.destinations));
    for (const Operand& source : f.sources)
      if (source.source.kind == Register::Kind::Output ||
          (source.source.kind != Register::Kind::None && !exists(source.source)))
        return wrong_.empty() ? fail(where() + "an output register is read") : false;
    for (size_t i = 0; i < f.destinations.size(); ++i) {
      const Register reg = f.destinations[i];
      if (reg.kind == Register::Kind::None || reg.kind == Register::Kind::Input)
        return fail(where() + "a destination that cannot be written");
      if (!exists(reg))
        return false;
      const bool isBit = f.type == Type::Bool || (f.opcode >= Opcode::Less && f.opcode <= Opcode::NotEqual);
      if (reg.kind == Register::Kind::Flag && !isBit)
        return fail(where() + "flag " + name(reg) + " gets a value of " + std::string(name(f.type)));
      if (std::count(f.destinations.begin(), f.destinations.end(), reg) != 1)
        return fail(where() + "register " + name(reg) + " is written twice");
    }
  }
  const Branch& branch = each.branch;
  if (branch.kind > Branch::Kind::Halt)
    return fail(where() + "a branch that does not exist");
  for (const uint32_t target : branch.targets)
    if (target >= slots)
      return fail(where() + "a branch to slot " + std::to_string(target) + " of " + std::to_string(slots));
  const bool isIf = branch.kind == Branch::Kind::If;
  if (isIf && (branch.signals.empty() || branch.signals.size() > array_.branchSignals || branch.signals.size() > 16 ||
               branch.targets.size() != size_t{1} << branch.signals.size()))
    return fail(where() + "a branch on " + std::to_string(branch.signals.size()) + " signals with " +
                std::to_string(branch.targets.size()) + " targets");
  if (isIf) {
    const std::set<uint32_t> targets(branch.targets.begin(), branch.targets.end());
    if (targets.size() > array_.branchTargets)
      return fail(where() + "a branch with " + std::to_string(targets.size()) + " targets, the array's have " +
                  std::to_string(array_.branchTargets));
    for (const uint16_t signal : branch.signals)
      if (signal >= c_.signals.size())
        return fail(where() + "signal " + std::to_string(signal) + ", there are " + std::to_string(c_.signals.size()));
  }
  if (branch.kind == Branch::Kind::Goto && branch.targets.size() != 1)
    return fail(where() + "a goto without its target");
  return true;
}

bool Check::programs() {
  std::vector<const machine::FunctionalUnit*> units;
  std::vector<std::string> names;
  for (const machine::FunctionalUnit& unit : array_.units)
    for (uint64_t i = 0; i < unit.count; ++i) {
      units.push_back(&unit);
      names.push_back(unit.name + std::to_string(i));
    }
  for (size_t at = 0; at < c_.classes.size(); ++at) {
    const std::vector<Program>& list = c_.classes[at].programs;
    if (list.size() != units.size())
      return fail("class " + std::to_string(at) + " has programs for " + std::to_string(list.size()) + " units of " +
                  std::to_string(units.size()));
    for (size_t unit = 0; unit < units.size(); ++unit) {
      const auto who = [&] { return "class " + std::to_string(at) + ", unit " + names[unit]; };
      if (list[unit].size() > units[unit]->instructions)
        return fail(who() + ": " + std::to_string(list[unit].size()) + " instructions, the memory holds " +
                    std::to_string(units[unit]->instructions));
      if (!list[unit].empty() && list[unit].back().branch.kind == Branch::Kind::Next)
        return fail(who() + ": the program goes on after its last slot");
      for (size_t slot = 0; slot < list[unit].size(); ++slot)
        if (!instruction(list[unit][slot], *units[unit], list[unit].size(),
                         [&] { return who() + ", slot " + std::to_string(slot) + ": "; }))
          return false;
    }
  }
  return true;
}

bool Check::connections(const InterconnectLayer& layer, const std::vector<Connection>& list, bool isControl) {
  const std::string which = isControl ? "control" : "data";
  const uint64_t inputs = isControl ? array_.registers.control : array_.registers.input;
  const uint64_t outputs = isControl ? 0 : array_.registers.output;
  if (!std::ranges::is_sorted(list))
    return fail(which + " connections that are not in order");
  std::vector<std::tuple<uint32_t, uint32_t, Port>> sinks;
  sinks.reserve(list.size());
  for (const Connection& each : list) {
    if (each.source.side > Side::Element || each.sink.side > Side::Element)
      return fail("a " + which + " connection of a side that does not exist");
    const auto where = [&] {
      return which + " connection of element (" + std::to_string(each.row) + ", " + std::to_string(each.column) +
             ") from " + machine::formatPort(each.source) + " to " + machine::formatPort(each.sink) + ": ";
    };
    if (each.row >= c_.rows || each.column >= c_.columns)
      return fail(where() + "outside of the region");
    const auto side = [](const Port& port) { return static_cast<size_t>(port.side); };
    const uint64_t sources = each.source.side == Side::Element ? outputs : layer.inputs[side(each.source)];
    const uint64_t ends = each.sink.side == Side::Element ? inputs : layer.outputs[side(each.sink)];
    if (each.source.index >= sources || each.sink.index >= ends)
      return fail(where() + "a port that does not exist");
    if (!layer.fullyAdjacent && std::find(layer.adjacent.begin(), layer.adjacent.end(),
                                          machine::Adjacency{each.source, each.sink}) == layer.adjacent.end())
      return fail(where() + "the switch does not connect these ports");
    sinks.emplace_back(each.row, each.column, each.sink);
  }
  std::ranges::sort(sinks);
  if (const auto twice = std::ranges::adjacent_find(sinks); twice != sinks.end())
    return fail(which + " connections of element (" + std::to_string(std::get<0>(*twice)) + ", " +
                std::to_string(std::get<1>(*twice)) + ") to " + machine::formatPort(std::get<2>(*twice)) +
                ": two sources for the port");
  return true;
}

template <typename Where>
bool Check::box(const Box& box, const Where& where) {
  if (box.size() != c_.extents.size())
    return fail(where() + "iterations of " + std::to_string(box.size()) + " dimensions");
  for (size_t i = 0; i < box.size(); ++i)
    if (box[i].first < 0 || box[i].first > box[i].end || box[i].end > c_.extents[i])
      return fail(where() + "iterations outside of the extents");
  return true;
}

bool Check::banks() {
  std::set<std::tuple<Side, uint32_t, uint32_t>> places;
  for (const Bank& bank : c_.banks) {
    if (bank.side >= Side::Element)
      return fail("a bank that is not at a border");
    const bool isColumn = bank.side == Side::North || bank.side == Side::South;
    const auto where = [&] {
      return "bank " + machine::formatPort({bank.side, bank.index}) + " of " + (isColumn ? "column " : "row ") +
             std::to_string(bank.position) + ": ";
    };
    const machine::Border& border = array_.borders[static_cast<size_t>(bank.side)];
    if (bank.position >= (isColumn ? c_.columns : c_.rows) || bank.index >= border.banks)
      return fail(where() + "there is none; elements at this border have " + std::to_string(border.banks));
    if (!places.insert({bank.side, bank.position, bank.index}).second)
      return fail(where() + "it is used twice");
    const InterconnectLayer& data = array_.data;
    const size_t side = static_cast<size_t>(bank.side);
    if (bank.index >= (bank.isOutput ? data.outputs[side] : data.inputs[side]))
      return fail(where() + "wrappers have no such data port");
    // A loop that an address generator stays in one iteration of takes no counter.
    uint64_t counters = 0;
    for (size_t loop = 0; loop < c_.extents.size() && !bank.enable.empty(); ++loop) {
      Range range = {INT64_MAX, INT64_MIN};
      for (const Box& each : bank.enable)
        if (loop < each.size())
          range = {std::min(range.first, each[loop].first), std::max(range.end, each[loop].end)};
      counters += range.end > range.first && range.end - 1 > range.first ? 1 : 0;
    }
    if (counters > border.dimensions)
      return fail(where() + std::to_string(counters) + " loops, its address generator counts " +
                  std::to_string(border.dimensions));
    const std::vector<ArrayLayout>& arrays = bank.isOutput ? c_.outputs : c_.inputs;
    if (bank.array >= arrays.size())
      return fail(where() + "an array that does not exist");
    const ArrayLayout& array = arrays[bank.array];
    if (bank.strides.size() != c_.extents.size() || bank.block.size() != array.extents.size())
      return fail(where() + "strides or a block of the wrong dimension");
    const auto small = [](int64_t value) { return value > -(int64_t{1} << 50) && value < int64_t{1} << 50; };
    bool isGood = small(bank.base) && small(bank.start);
    __int128 reach = 0;
    for (size_t i = 0; i < bank.strides.size(); ++i) {
      isGood &= small(bank.strides[i]);
      const auto stride = static_cast<__int128>(bank.strides[i]);
      reach += (stride < 0 ? -stride : stride) * c_.extents[i];
    }
    if (!isGood || reach > static_cast<__int128>(1) << 60)
      return fail(where() + "addresses that are too large");
    if (bank.blockLoops > c_.extents.size() || bank.held.size() != (bank.blockLoops == 0 ? 0 : array.extents.size()))
      return fail(where() + "blocks of the wrong dimension");
    uint64_t size = bytes(array.type) * (bank.blockLoops == 0 ? 1 : 2);
    for (size_t i = 0; i < bank.block.size(); ++i) {
      if (bank.block[i].first < 0 || bank.block[i].first > bank.block[i].end || bank.block[i].end > array.extents[i])
        return fail(where() + "a block that is not of '" + array.name + "'");
      const int64_t extent = bank.block[i].end - bank.block[i].first;
      const int64_t held = bank.blockLoops == 0 ? extent : bank.held[i];
      if (held < 0 || held > extent)
        return fail(where() + "it holds " + std::to_string(held) + " elements of " + std::to_string(extent));
      size *= static_cast<uint64_t>(held);
    }
    if (size > border.capacity)
      return fail(where() + "it holds " + std::to_string(size) + " bytes, its capacity is " +
                  std::to_string(border.capacity));
    for (const Box& each : bank.enable)
      if (!box(each, where))
        return false;
  }
  return true;
}

bool Check::signals() {
  if (c_.signals.size() > array_.controllerSignals)
    return fail(std::to_string(c_.signals.size()) + " control signals, a controller makes " +
                std::to_string(array_.controllerSignals));
  if (!c_.signals.empty() &&
      std::find(array_.controllers.begin(), array_.controllers.end(), c_.corner) == array_.controllers.end())
    return fail("there is no controller in the corner");
  // A loop of one iteration takes no counter.
  const auto counted = static_cast<uint64_t>(
      std::count_if(c_.extents.begin(), c_.extents.end(), [](int64_t extent) { return extent > 1; }));
  if (!c_.signals.empty() && counted > array_.controllerDimensions)
    return fail("control signals over " + std::to_string(counted) + " loops, a controller counts " +
                std::to_string(array_.controllerDimensions));
  for (const Signal& signal : c_.signals)
    for (const Box& each : signal.ones)
      if (!box(each, [&] { return "signal " + std::to_string(&signal - c_.signals.data()) + ": "; }))
        return false;
  // Every signal comes to every element that branches on it, early enough.
  std::vector<std::vector<bool>> isUsed(c_.classes.size(), std::vector<bool>(c_.signals.size(), false));
  for (size_t at = 0; at < c_.classes.size(); ++at)
    for (const Program& program : c_.classes[at].programs)
      for (const Instruction& each : program)
        if (each.branch.kind == Branch::Kind::If)
          for (const uint16_t signal : each.branch.signals)
            isUsed[at][signal] = true;
  for (uint32_t signal = 0; signal < c_.signals.size(); ++signal) {
    const std::vector<int64_t> ways = signalWays(array_, c_, signal);
    for (const ClassRegion& region : c_.regions)
      for (int64_t row = region.rows.first; row < region.rows.end; ++row)
        for (int64_t column = region.columns.first; column < region.columns.end; ++column) {
          if (!isUsed[region.processorClass][signal])
            continue;
          const int64_t way = ways[static_cast<size_t>(row * c_.columns + column)];
          const auto where = [&] {
            return "signal " + std::to_string(signal) + " at element (" + std::to_string(row) + ", " +
                   std::to_string(column) + "): ";
          };
          if (way < 0)
            return fail(where() + "no connection from the controller");
          if (way > c_.start(row, column))
            return fail(where() + "it comes in cycle " + std::to_string(way) + ", the element starts in cycle " +
                        std::to_string(c_.start(row, column)));
        }
  }
  return true;
}

} // namespace

std::string checkConfiguration(const ProcessorArray& array, const Configuration& configuration) {
  return Check(array, configuration).run();
}

std::vector<int64_t> signalWays(const ProcessorArray& array, const Configuration& c, uint32_t signal) {
  std::vector<int64_t> ways(static_cast<size_t>(c.rows) * c.columns, -1);
  using machine::Corner;
  const bool isNorth = c.corner == Corner::NorthWest || c.corner == Corner::NorthEast;
  const bool isWest = c.corner == Corner::NorthWest || c.corner == Corner::SouthWest;
  followWire(c.control, c, array.control.hop, isNorth ? 0 : c.rows - 1, isWest ? 0 : c.columns - 1,
             {isNorth ? Side::North : Side::South, signal}, [&](const WireEnd& end) {
               if (end.sink == Port{Side::Element, signal})
                 ways[size_t{end.row} * c.columns + end.column] = end.cycles;
             });
  return ways;
}

} // namespace strata::array

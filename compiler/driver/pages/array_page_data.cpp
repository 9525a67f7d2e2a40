// Programs, signals, connections and schedules as data for the page's script. What many elements have in common is in
// it once.
#include "compiler/driver/pages/array_page_data.h"

#include "runtime/array/trace.h"

#include "llvm/Support/Base64.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace strata::driver {

namespace {

using array::Configuration, array::Opcode, nlohmann::json;

/// Colours of operations; the script has the same numbers.
enum class Kind { Nop, Move, Add, Multiply, Logic, Choose };

Kind kindOf(Opcode opcode) {
  switch (opcode) {
  case Opcode::Nop:
    return Kind::Nop;
  case Opcode::Move:
  case Opcode::Convert:
    return Kind::Move;
  case Opcode::Multiply:
  case Opcode::MultiplyAdd:
  case Opcode::Divide:
  case Opcode::Remainder:
  case Opcode::SquareRoot:
    return Kind::Multiply;
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
  case Opcode::Not:
  case Opcode::ShiftLeft:
  case Opcode::ShiftRight:
    return Kind::Logic;
  case Opcode::Less:
  case Opcode::LessOrEqual:
  case Opcode::Equal:
  case Opcode::NotEqual:
  case Opcode::Select:
    return Kind::Choose;
  default:
    return Kind::Add;
  }
}

/// Instances of functional units, in the machine's order.
struct UnitInstance {
  const machine::FunctionalUnit* unit = nullptr;
  std::string name;
};

/// At most so many as no array has.
std::vector<UnitInstance> unitsOf(const machine::ProcessorArray& array) {
  constexpr size_t most = 4096;
  std::vector<UnitInstance> result;
  for (const machine::FunctionalUnit& unit : array.units)
    for (uint64_t i = 0; i < unit.count && result.size() < most; ++i)
      result.push_back({&unit, unit.name + std::to_string(i)});
  return result;
}

class PageData {
public:
  PageData(const machine::ProcessorArray& array, const Configuration& configuration, const ArraySchedule& schedule,
           int64_t cycles)
      : configuration_(configuration), schedule_(schedule), units_(unitsOf(array)) {
    data_["rows"] = configuration.rows;
    data_["columns"] = configuration.columns;
    data_["interval"] = std::max<int64_t>(configuration.interval, 1);
    data_["loops"] = configuration.loops;
    data_["extents"] = schedule.trees.extents();
    data_["iterations"] = schedule.iterations;
    data_["cycles"] = cycles;
    data_["starts"] = {configuration.firstStart, configuration.rowStart, configuration.columnStart};
    data_["hop"] = array.data.hop;
    for (const UnitInstance& unit : units_)
      data_["units"].push_back(unit.name);
    addClasses();
    addSignals();
    addConnections();
    addBanks();
  }

  /// Operands and results, for each unit of each element a stream of numbers: for every event the cycles since the one
  /// before, what the instruction has as operands, the result.
  void addValues(const ArrayPageValues& values);

  /// Angle brackets are spelt out, so that no name ends the script.
  std::string text() const {
    const std::string plain = data_.dump(-1, ' ', true, json::error_handler_t::replace);
    std::string out;
    out.reserve(plain.size());
    for (const char c : plain)
      if (c == '<')
        out += "\\u003c";
      else
        out += c;
    return out;
  }

private:
  int64_t latencyOf(size_t unit, Opcode opcode) const {
    if (unit < units_.size())
      for (const machine::Operation& operation : units_[unit].unit->operations)
        if (operation.name == name(opcode))
          return static_cast<int64_t>(operation.latency);
    return 1;
  }

  /// The number of an instruction in the data; like ones are one.
  size_t numberOf(const array::Instruction& instruction, int64_t latency) {
    const array::Functional& f = instruction.functional;
    json sources = json::array(), types = json::array(), outputs = json::array();
    for (size_t i = 0; i < f.sources.size(); ++i) {
      sources.push_back(name(f.sources[i].source));
      types.push_back(name(operandType(f, i)));
    }
    for (const array::Register& destination : f.destinations)
      if (destination.kind == array::Register::Kind::Output)
        outputs.push_back(destination.index);
    json row = {print(instruction), name(f.opcode),   static_cast<int>(kindOf(f.opcode)),
                std::move(sources), std::move(types), name(resultType(f)),
                std::move(outputs), latency,          instruction.branch.signals};
    const auto [found, isNew] =
        instructions_.try_emplace(row.dump(-1, ' ', true, json::error_handler_t::replace), instructions_.size());
    if (isNew)
      data_["instructions"].push_back(std::move(row));
    return found->second;
  }

  /// The positions of an iteration: their first where they follow each other, as they do in all but odd programs.
  static json packed(const std::vector<uint32_t>& slots) {
    const bool isHalted = slots[0] == ArraySchedule::halted;
    for (size_t i = 1; i < slots.size(); ++i)
      if (slots[i] != (isHalted ? ArraySchedule::halted : slots[0] + i)) {
        json list = json::array();
        for (const uint32_t slot : slots)
          list.push_back(slot == ArraySchedule::halted ? -1 : static_cast<int64_t>(slot));
        return list;
      }
    return isHalted ? json(-1) : json(slots[0]);
  }

  void addClasses() {
    data_["instructions"] = data_["classes"] = data_["regions"] = data_["nodes"] = json::array();
    for (size_t c = 0; c < schedule_.classes.size(); ++c) {
      const ArraySchedule::Class& scheduled = schedule_.classes[c];
      json units = json::array();
      for (size_t u = 0; u < scheduled.units.size(); ++u) {
        json program = json::array(), slots = json::array();
        for (const array::Instruction& instruction : configuration_.classes[c].programs[u])
          program.push_back(numberOf(instruction, latencyOf(u, instruction.functional.opcode)));
        for (const std::vector<uint32_t>& each : scheduled.units[u].slots)
          slots.push_back(packed(each));
        units.push_back({{"program", program}, {"slots", slots}, {"root", scheduled.units[u].root}});
      }
      data_["classes"].push_back({{"units", units},
                                  {"together", scheduled.together},
                                  {"root", scheduled.root},
                                  {"kernel", scheduled.kernel},
                                  {"first", scheduled.first},
                                  {"last", scheduled.last}});
    }
    for (const array::ClassRegion& region : configuration_.regions)
      data_["regions"].push_back(
          {region.rows.first, region.rows.end, region.columns.first, region.columns.end, region.processorClass});
    for (const IterationTrees::Node& node : schedule_.trees.nodes()) {
      json row = json::array();
      for (const IterationTrees::Branch& branch : node) {
        row.push_back(branch.end);
        row.push_back(branch.next);
      }
      data_["nodes"].push_back(std::move(row));
    }
  }

  /// Boxes as lists of their bounds; like lists are one.
  size_t boxes(const std::vector<array::Box>& list) {
    json all = json::array();
    for (const array::Box& box : list) {
      json row = json::array();
      for (const array::Range& range : box) {
        row.push_back(range.first);
        row.push_back(range.end);
      }
      all.push_back(std::move(row));
    }
    const auto [found, isNew] = boxes_.try_emplace(all.dump(), boxes_.size());
    if (isNew)
      data_["boxes"].push_back(std::move(all));
    return found->second;
  }

  void addSignals() {
    data_["boxes"] = data_["signals"] = json::array();
    for (const array::Signal& signal : configuration_.signals)
      data_["signals"].push_back(boxes(signal.ones));
  }

  /// Of every element the number of a pattern, which is a list of source and sink ports.
  void addConnections() {
    data_["patterns"] = json::array();
    std::map<std::pair<uint32_t, uint32_t>, json> lists;
    for (const array::Connection& each : configuration_.data)
      if (each.row < configuration_.rows && each.column < configuration_.columns)
        lists[{each.row, each.column}].push_back(
            {static_cast<int>(each.source.side), each.source.index, static_cast<int>(each.sink.side), each.sink.index});
    std::map<std::string, size_t> numbers;
    data_["wrappers"] = json::array();
    for (const auto& [place, list] : lists) {
      const auto [found, isNew] = numbers.try_emplace(list.dump(), numbers.size());
      if (isNew)
        data_["patterns"].push_back(list);
      data_["wrappers"].push_back({place.first, place.second, found->second});
    }
  }

  void addBanks() {
    data_["banks"] = json::array();
    for (const array::Bank& bank : configuration_.banks) {
      const std::vector<array::ArrayLayout>& arrays = bank.isOutput ? configuration_.outputs : configuration_.inputs;
      std::string block;
      for (const array::Range& range : bank.block)
        block += "[" + std::to_string(range.first) + ".." + std::to_string(range.end - 1) + "]";
      data_["banks"].push_back({static_cast<int>(bank.side), bank.position, bank.index, bank.isOutput ? 1 : 0,
                                bank.array < arrays.size() ? arrays[bank.array].name + block : "?", bank.start,
                                boxes(bank.enable)});
    }
  }

  const Configuration& configuration_;
  const ArraySchedule& schedule_;
  std::vector<UnitInstance> units_;
  std::map<std::string, size_t> instructions_, boxes_;
  json data_;
};

/// Seven bits a byte, the least first; the eighth says that more follow. Small numbers of either sign are short.
void append(std::string& bytes, uint64_t value) {
  uint64_t rest = (value << 1) ^ (value >> 63 ? ~uint64_t{0} : 0);
  for (; rest >= 128; rest >>= 7)
    bytes += static_cast<char>(rest | 128);
  bytes += static_cast<char>(rest);
}

void PageData::addValues(const ArrayPageValues& values) {
  struct Stream {
    std::string bytes;
    int64_t cycle = 0;
  };
  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Stream> streams;
  for (const array::TraceEvent& event : values.events) {
    const uint32_t number = classOf(configuration_, event.row, event.column);
    if (number >= configuration_.classes.size() || event.unit >= configuration_.classes[number].programs.size())
      continue;
    const array::Program& program = configuration_.classes[number].programs[event.unit];
    if (event.position >= program.size())
      continue;
    Stream& stream = streams[{event.row, event.column, event.unit}];
    append(stream.bytes, static_cast<uint64_t>(event.cycle - stream.cycle));
    stream.cycle = event.cycle;
    const size_t operands = std::min<size_t>(program[event.position].functional.sources.size(), 3);
    append(stream.bytes, operands);
    for (size_t k = 0; k < operands; ++k)
      append(stream.bytes, event.operands[k]);
    append(stream.bytes, event.result);
  }
  data_["values"] = json::array();
  for (const auto& [place, stream] : streams)
    data_["values"].push_back(
        {std::get<0>(place), std::get<1>(place), std::get<2>(place), llvm::encodeBase64(stream.bytes)});
  if (values.failure)
    data_["failed"] = {values.failure->cycle, values.failure->row, values.failure->column};
  // Where the page opens: in the cycles that were asked for, if any were.
  if (values.first > 0 && !values.events.empty())
    data_["opens"] = {values.first, values.events.back().cycle};
}

} // namespace

std::string arrayPageData(const machine::ProcessorArray& array, const Configuration& configuration,
                          const ArraySchedule& schedule, int64_t cycles, const ArrayPageValues& values) {
  PageData data(array, configuration, schedule, cycles);
  data.addValues(values);
  return data.text();
}

} // namespace strata::driver

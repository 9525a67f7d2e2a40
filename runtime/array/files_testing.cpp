// See the header. The checksum is computed over polynomials, apart from the code under test.
#include "runtime/array/files_testing.h"

#include <random>

namespace strata::array::test {

using machine::Port;
using machine::Side;
using Kind = Condition::Kind;
using R = Register::Kind;

machine::ProcessorArray fileArray() {
  machine::ProcessorArray array;
  array.rows = array.columns = 4;
  array.word = 8;
  array.units = {{"alu",
                  2,
                  {{"move", 1, 1, {}},
                   {"add", 1, 1, {}},
                   {"shr", 1, 1, {}},
                   {"lt", 1, 1, {}},
                   {"select", 1, 1, {}},
                   {"convert", 2, 1, {}}},
                  64,
                  {}},
                 {"fpu", 1, {{"muladd", 4, 1, {}}, {"add", 3, 1, {}}, {"sqrt", 9, 4, {}}}, 64, {}}};
  array.registers = {8, 4, 64, 4, 64, 4, 8, {}};
  array.destinations = 3;
  array.flags = 2;
  array.branchTargets = 4;
  array.branchSignals = 2;
  array.data.inputs = array.data.outputs = {2, 2, 2, 2};
  array.data.fullyAdjacent = false;
  for (size_t sink = 0; sink < 5; ++sink)
    for (size_t source = 0; source < 5; ++source)
      for (uint32_t i = 0; i < (sink == 4 ? 4u : 2u); ++i)
        for (uint32_t j = 0; j < (source == 4 ? 4u : 2u); ++j)
          if (sink != source)
            array.data.adjacent.push_back({{static_cast<Side>(source), j}, {static_cast<Side>(sink), i}});
  array.control.inputs = array.control.outputs = {8, 8, 8, 8};
  array.controllers = {machine::Corner::NorthWest};
  array.controllerSignals = 8;
  array.controllerDimensions = 4;
  array.borders.fill({2, 4096, 4, {}});
  return array;
}

Symbolic fileSample() {
  Symbolic s;
  s.program = "all of it";
  s.machine = "array-4x4";
  s.fingerprint = fingerprint(fileArray());
  s.parameters = {"N", "M"};
  const auto linear = [](std::vector<int64_t> loops, std::vector<int64_t> parameters, int64_t constant) {
    return Linear{std::move(loops), std::move(parameters), constant};
  };
  s.context = {{Kind::NotNegative, linear({0, 0, 0}, {1, 0}, -1), 0},
               {Kind::Divisible, linear({0, 0, 0}, {1, 2}, 0), 4}};
  s.loops = {{"i", {{linear({0, 0, 0}, {0, 0}, 0), 1}}, {{linear({0, 0, 0}, {1, 0}, -1), 1}}, 1},
             {"j",
              {{linear({0, 0, 0}, {0, -1}, 0), 2}, {linear({0, 0, 0}, {0, 0}, -7), 1}},
              {{linear({0, 0, 0}, {3, -1}, 5), 3}},
              2},
             {"k'", {{linear({0, 0, 0}, {0, 0}, 0), 1}}, {{linear({0, 0, 0}, {0, 1}, -1), 1}}, 1}};
  s.rowLoop = 1;
  s.columnLoop = 0;
  s.interval = 3;
  s.lowerBound = 2;
  s.inputs = {{"x", Type::Float64, {linear({0, 0, 0}, {1, 0}, 0), linear({0, 0, 0}, {0, 1}, 1)}},
              {"scale", Type::Int16, {}}};
  s.outputs = {{"y", Type::Float64, {linear({0, 0, 0}, {1, 0}, 0)}}, {"a b", Type::Bool, {}}};
  s.conditions = {{Kind::NotNegative, linear({1, -1, 0}, {1, 0}, -1), 0},
                  {Kind::Zero, linear({0, 0, 1}, {0, 0}, 0), 0},
                  {Kind::Divisible, linear({1, 0, 0}, {0, 0}, 0), 2},
                  {Kind::NotDivisible, linear({2, 1, 0}, {0, -1}, -3), 5}};
  s.spaces = {{{{}}}, {}, {{{0, 1}, {2, 3}}}, {{{1}}}, {{{}, {3}}}};
  const Term all = {0, {0, 0, 0}, {}, {}};
  const Term moved = {2, {0, -1, 2}, {}, {}};
  const Term within = {3, {0, 0, 0}, {0, 1, -1}, {0, 0, 0}}, across = {3, {0, 0, 0}, {0, 1, -1}, {0, 1, 0}};
  s.instructions = {
      {"a",
       0,
       0,
       1,
       Opcode::Add,
       Type::Int64,
       Type::Int64,
       {all},
       {{{R::General, 7}, {all}}},
       {{{{{R::Input, 0}, 0}, {across}}, {{{R::Feedback, 1}, 0}, {within, moved}}}, {{{{}, ~uint64_t{4}}, {all}}}}},
      {"b's",
       1,
       2,
       1,
       Opcode::Less,
       Type::Bool,
       Type::Int16,
       {moved, within},
       {{{R::Flag, 1}, {moved}}, {{R::Output, 0}, {across}}},
       {{{{{}, 12}, {all}}}, {{{{R::General, 0}, 0}, {all}}}}},
      {"c",
       0,
       3,
       1,
       Opcode::Select,
       Type::Float32,
       Type::Float32,
       {all},
       {{{R::Feedback, 1}, {within}}},
       {{{{{}, 1}, {all}}}, {{{{}, 0x3FC00000}, {all}}}, {{{{}, 0x7FC00001}, {all}}}}},
      {"d",
       2,
       65535,
       4,
       Opcode::MultiplyAdd,
       Type::Float64,
       Type::Float64,
       {},
       {{{R::Output, 3}, {all}}},
       {{{{{}, 0x3FB999999999999A}, {all}}}, {{{{}, 0x8000000000000000}, {all}}}, {{{{R::Input, 1}, 0}, {all}}}}},
      {"e", 1, 4, 2, Opcode::Convert, Type::Uint8, Type::Float32, {all}, {}, {{{{{}, 0xFF800000}, {all}}}}},
      {"f", 1, 5, 1, Opcode::Move, Type::Uint64, Type::Uint64, {all}, {}, {{{{{}, ~uint64_t{0}}, {}}}}}};
  s.channels = {
      {1, 0, {{Side::Element, 0}, {Side::South, 1}, {Side::North, 1}, {Side::Element, 0}}},
      {-1,
       1,
       {{Side::Element, 1}, {Side::East, 0}, {Side::West, 0}, {Side::North, 1}, {Side::South, 1}, {Side::Element, 2}}}};
  s.arrivals = {{{0, 1, -1}, {0, 1, 0}, -4}, {{1, -1, 0}, {1, -1, 0}, 1000}};
  s.fifos = {{{R::Input, 0}, s.arrivals[0]}, {{R::Feedback, 1}, {{0, 0, 2}, {0, 0, 0}, 0}}};
  s.accesses = {{false, 0, {R::Input, 2}, 1, 0, {moved}, {linear({1, 0, 0}, {0, 0}, 0), linear({0, 1, -1}, {0, 1}, 2)}},
                {false, 1, {R::Input, 1}, Access::ownRoute, 7, {all}, {}},
                {true, 0, {R::Output, 1}, 1, 66000, {all, within}, {linear({0, 0, 0}, {1, 0}, -1)}},
                {true, 1, {R::Output, 3}, Access::ownRoute, 0, {}, {}}};
  return s;
}

namespace {

class Random {
public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  Symbolic symbolic() {
    s.program = text();
    s.machine = text();
    s.fingerprint = fingerprint(fileArray());
    for (size_t n = below(4); n > 0; --n)
      s.parameters.push_back((below(4) == 0 ? text() : "") + std::string(1, static_cast<char>('K' + n)));
    s.loops.resize(below(5) + 1);
    for (size_t l = 0; l < s.loops.size(); ++l) {
      s.loops[l].name = below(6) == 0 ? text() : std::string(1, static_cast<char>('i' + l));
      s.loops[l].leastTile = int64_t{1} + static_cast<int64_t>(below(2) * below(100));
      for (auto* list : {&s.loops[l].lower, &s.loops[l].upper})
        for (size_t n = below(3) + 1; n > 0; --n)
          list->push_back({linear(false), below(3) == 0 ? 1 + static_cast<int64_t>(below(1000)) : 1});
    }
    const auto loops = static_cast<uint32_t>(s.loops.size());
    if (below(3) != 0)
      s.rowLoop = pick(loops);
    if (const uint32_t column = pick(loops); column != s.rowLoop)
      s.columnLoop = column;
    s.interval = 1 + static_cast<int64_t>(below(20));
    s.lowerBound = 1 + static_cast<int64_t>(below(static_cast<size_t>(s.interval)));
    for (size_t n = below(3); n > 0; --n)
      s.context.push_back(condition(false));
    for (auto* list : {&s.inputs, &s.outputs})
      for (size_t n = below(3); n > 0; --n) {
        list->push_back({text(), type(), {}});
        for (size_t d = below(3); d > 0; --d)
          list->back().extents.push_back(linear(false));
      }
    for (size_t n = below(10); n > 0; --n)
      s.conditions.push_back(condition(true));
    for (size_t n = below(6) + 1; n > 0; --n) {
      s.spaces.emplace_back().pieces.resize(below(3));
      for (std::vector<uint32_t>& piece : s.spaces.back().pieces)
        for (size_t m = s.conditions.empty() ? 0 : below(4); m > 0; --m)
          piece.push_back(pick(s.conditions.size()));
    }
    for (size_t n = below(12); n > 0; --n)
      s.instructions.push_back(instruction());
    const Symbolic sample = fileSample();
    for (const Channel& each : sample.channels)
      if (below(2) == 0)
        s.channels.push_back(each);
    for (size_t n = below(4); n > 0; --n)
      s.arrivals.push_back(arrival());
    for (size_t n = below(4); n > 0; --n) {
      s.fifos.push_back({{R::Input, static_cast<uint16_t>(below(4))}, arrival()});
      if (below(2) == 0) {
        s.fifos.back().reg.kind = R::Feedback;
        s.fifos.back().arrival.crossing.assign(s.loops.size(), 0);
      }
    }
    for (size_t n = below(5); n > 0; --n)
      access();
    return s;
  }

private:
  size_t below(size_t end) { return engine_() % end; }
  uint32_t pick(size_t count) { return static_cast<uint32_t>(below(count)); }
  int64_t small() { return static_cast<int64_t>(below(5)) - 2; }
  int64_t any(int64_t most) {
    switch (below(6)) {
    case 0:
      return static_cast<int64_t>(engine_() % (2 * static_cast<uint64_t>(most) + 1)) - most;
    case 1:
      return small();
    default:
      return below(2) == 0 ? 0 : 1 - static_cast<int64_t>(2 * below(2));
    }
  }
  std::string text() {
    static const char* const texts[] = {"x", "out_2", "when", "", "a b", "\"q\\\"\n#\x01\xC3\xA9", "0", "$1", "loops"};
    return texts[below(std::size(texts))];
  }
  Type type() { return static_cast<Type>(below(types)); }
  Linear linear(bool hasLoops) {
    Linear value{std::vector<int64_t>(s.loops.size()), std::vector<int64_t>(s.parameters.size()),
                 any(int64_t{1} << 40)};
    for (int64_t& each : value.loops)
      each = hasLoops ? any(int64_t{1} << 31) : 0;
    for (int64_t& each : value.parameters)
      each = any(int64_t{1} << 31);
    return value;
  }
  Condition condition(bool hasLoops) {
    const auto kind = static_cast<Kind>(below(4));
    return {kind, linear(hasLoops), kind < Kind::Divisible ? 0 : 2 + static_cast<int64_t>(below(1000))};
  }
  std::vector<int64_t> distances() {
    std::vector<int64_t> list(s.loops.size());
    for (int64_t& each : list)
      each = any(int64_t{1} << 31);
    return list;
  }
  std::vector<int64_t> crossing() {
    std::vector<int64_t> list(s.loops.size());
    for (const uint32_t loop : {s.rowLoop, s.columnLoop})
      if (loop != Symbolic::none)
        list[loop] = static_cast<int64_t>(below(3)) - 1;
    return list;
  }
  Arrival arrival() { return {distances(), crossing(), any(int64_t{1} << 40)}; }
  std::vector<Term> terms() {
    if (!known_.empty() && below(2) == 0)
      return known_[below(known_.size())];
    std::vector<Term> list(below(3));
    for (Term& term : list) {
      term = {pick(s.spaces.size()), std::vector<int64_t>(s.loops.size()), {}, {}};
      if (below(3) == 0)
        term.shift = distances();
      if (below(2) == 0) {
        term.step = distances();
        term.crossing = crossing();
      }
    }
    known_.push_back(list);
    return list;
  }
  SymbolicInstruction instruction() {
    struct Choice {
      uint32_t unit;
      int64_t latency;
      Opcode opcode;
    };
    static constexpr Choice choices[] = {
        {0, 1, Opcode::Move},        {1, 1, Opcode::Add},    {0, 1, Opcode::ShiftRight},
        {1, 1, Opcode::Less},        {0, 1, Opcode::Select}, {1, 2, Opcode::Convert},
        {2, 4, Opcode::MultiplyAdd}, {2, 3, Opcode::Add},    {2, 9, Opcode::SquareRoot}};
    const Choice& choice = choices[below(std::size(choices))];
    SymbolicInstruction made;
    made.name = text();
    made.unit = choice.unit;
    made.latency = choice.latency;
    made.opcode = choice.opcode;
    made.offset = static_cast<int64_t>(below(below(2) == 0 ? 8 : 65536));
    do {
      made.type = type();
      made.operandType = below(2) == 0 ? made.type : type();
    } while (evaluator(made.opcode, made.type, made.operandType) == nullptr);
    made.when = terms();
    for (size_t n = below(4); n > 0; --n)
      made.destinations.push_back({reg(R::Output), terms()});
    made.operands.resize(operands(made.opcode));
    for (std::vector<Source>& operand : made.operands)
      for (size_t n = below(3) + 1; n > 0; --n) {
        Operand value;
        if (below(3) == 0)
          value.immediate = below(2) == 0 ? engine_() : engine_() & 0xFFF00000;
        else
          value.source = reg(R::Input);
        operand.push_back({value, terms()});
      }
    return made;
  }
  Register reg(R port) {
    const R kinds[] = {R::General, R::Feedback, R::Flag, port};
    const R kind = kinds[below(4)];
    return {kind, static_cast<uint16_t>(below(kind == R::General ? 8 : kind == R::Flag ? 2 : 4))};
  }
  void access() {
    Access made;
    made.isOutput = below(2) == 0;
    const std::vector<SymbolicArray>& list = made.isOutput ? s.outputs : s.inputs;
    if (list.empty())
      return;
    made.array = pick(list.size());
    made.reg = {made.isOutput ? R::Output : R::Input, static_cast<uint16_t>(below(4))};
    if (!s.channels.empty() && below(2) == 0) {
      made.channel = pick(s.channels.size());
      const std::vector<Port>& path = s.channels[made.channel].path;
      made.reg.index = static_cast<uint16_t>((made.isOutput ? path.front() : path.back()).index);
    }
    made.offset = static_cast<int64_t>(below(100));
    made.when = terms();
    for (size_t d = 0; d < list[made.array].extents.size(); ++d)
      made.index.push_back(linear(true));
    s.accesses.push_back(std::move(made));
  }

  std::mt19937_64 engine_;
  Symbolic s;
  std::vector<std::vector<Term>> known_;
};

} // namespace

Symbolic randomSymbolic(uint64_t seed) {
  return Random(seed).symbolic();
}

std::string withChecksum(std::string bytes) {
  // Remainders of four bits at a time, their lowest first.
  static const std::vector<uint32_t> remainders = [] {
    std::vector<uint32_t> list(16, 0);
    for (uint32_t digit = 0; digit < list.size(); ++digit)
      for (unsigned bit = 0; bit < 4; ++bit) {
        const bool divides = (list[digit] & 1) != (digit >> bit & 1);
        list[digit] = (list[digit] >> 1) ^ (divides ? 0xEDB88320 : 0);
      }
    return list;
  }();
  const size_t end = bytes.size() - 4;
  uint32_t remainder = 0xFFFFFFFF;
  for (const char byte : std::string_view(bytes).substr(0, end))
    for (const unsigned shift : {0u, 4u})
      remainder = (remainder >> 4) ^ remainders[(remainder ^ static_cast<uint8_t>(byte) >> shift) & 15];
  for (size_t i = 0; i < 4; ++i)
    bytes[end + i] = static_cast<char>(~remainder >> 8 * i & 0xFF);
  return bytes;
}

} // namespace strata::array::test

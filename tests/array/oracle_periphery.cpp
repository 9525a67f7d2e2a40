// See oracle.h: connections are followed wire by wire, and every access of every iteration is looked for at the bank
// that the wire leads to. Everything is evaluated point by point; nothing is shared with runtime/array/.
#include "base/machine/quantity.h"
#include "tests/array/oracle.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

namespace strata::array::oracle {

namespace {

using machine::Port, machine::Side;
using Point = std::vector<int64_t>;

/// By side: to the next row, to the next column.
constexpr std::array<std::pair<int64_t, int64_t>, 4> ways = {{{-1, 0}, {0, 1}, {1, 0}, {0, -1}}};

/// A port of an element's wrapper, so many wrappers from where its wire begins.
struct WirePoint {
  int64_t row = 0, column = 0;
  Port port;
  int64_t hops = 0;
  std::string text() const {
    return machine::formatPort(port) + " of (" + std::to_string(row) + ", " + std::to_string(column) + ")";
  }
};

class Periphery {
public:
  Periphery(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options,
            const Configuration& configuration)
      : symbolic_(symbolic), array_(array), options_(options), configuration_(configuration) {}

  std::string run() {
    if (configuration_.iterations == 0)
      return "";
    tiles();
    if (!connect(configuration_.data, data_) || !connect(configuration_.control, control_))
      return differs_;
    channels();
    signals();
    accesses();
    for (const Bank& bank : configuration_.banks)
      this->bank(bank);
    if (wanted_ != found_)
      compareWords();
    return differs_;
  }

private:
  /// By a wrapper's source port: the sinks that it is connected to.
  using Wires = std::map<std::tuple<int64_t, int64_t, Port>, std::vector<Port>>;
  /// A word at a register: whether it is written, the array, the register, row, column, and cycle.
  using Word = std::tuple<bool, uint32_t, uint32_t, int64_t, int64_t, int64_t>;

  bool differ(const std::string& what) {
    constexpr size_t mostDifferences = 10;
    if (count_++ < mostDifferences)
      differs_ += what + "\n";
    return false;
  }
  bool isInside(int64_t row, int64_t column) const {
    return row >= 0 && column >= 0 && row < configuration_.rows && column < configuration_.columns;
  }

  void tiles();
  int64_t valueOf(const Linear& value, const Point& iteration) const;
  bool holds(const Condition& condition, const Point& iteration) const;
  bool holds(const std::vector<Term>& terms, const Point& inTile, const Point& iteration) const;
  template <typename Each>
  void eachIteration(Each each) const;
  bool connect(const std::vector<Connection>& connections, Wires& wires);
  std::vector<WirePoint> follow(const Wires& wires, const WirePoint& from) const;
  void channels();
  void accesses();
  void bank(const Bank& bank);
  void blocks(const Bank& bank, const std::map<Point, std::vector<Point>>& elements);
  void compareWords();
  void signals();

  const Symbolic& symbolic_;
  const machine::ProcessorArray& array_;
  const InstantiationOptions& options_;
  const Configuration& configuration_;
  std::string differs_;
  size_t count_ = 0;
  Point lower_, upper_, tile_;
  Wires data_, control_;
  std::map<Word, int64_t> wanted_, found_; // to the element's number in its array
};

int64_t floorOf(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

void Periphery::tiles() {
  for (size_t l = 0; l < symbolic_.loops.size(); ++l) {
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    for (const Bound& each : symbolic_.loops[l].lower)
      lower = std::max(lower, -floorOf(-valueOf(each.value, {}), each.divisor));
    for (const Bound& each : symbolic_.loops[l].upper)
      upper = std::min(upper, floorOf(valueOf(each.value, {}), each.divisor));
    const int64_t count = l == symbolic_.rowLoop ? options_.rows : l == symbolic_.columnLoop ? options_.columns : 1;
    const bool isGiven = count > 1 && l < options_.tile.size() && options_.tile[l] != 0;
    lower_.push_back(lower);
    upper_.push_back(upper);
    tile_.push_back(isGiven ? options_.tile[l] : -floorOf(-(upper - lower + 1), count));
  }
}

int64_t Periphery::valueOf(const Linear& value, const Point& iteration) const {
  int64_t sum = value.constant;
  for (size_t l = 0; l < iteration.size(); ++l)
    sum += value.loops[l] * iteration[l];
  for (size_t p = 0; p < options_.sizes.size(); ++p)
    sum += value.parameters[p] * options_.sizes[p];
  return sum;
}

bool Periphery::holds(const Condition& condition, const Point& iteration) const {
  const int64_t value = valueOf(condition.value, iteration);
  switch (condition.kind) {
  case Condition::Kind::NotNegative:
    return value >= 0;
  case Condition::Kind::Zero:
    return value == 0;
  case Condition::Kind::Divisible:
    return value % condition.modulus == 0;
  case Condition::Kind::NotDivisible:
    return value % condition.modulus != 0;
  }
  return false;
}

bool Periphery::holds(const std::vector<Term>& terms, const Point& inTile, const Point& iteration) const {
  return std::ranges::any_of(terms, [&](const Term& term) {
    Point moved = iteration;
    for (size_t l = 0; l < moved.size(); ++l) {
      moved[l] += term.shift[l];
      if (!term.crossing.empty() && (l == symbolic_.rowLoop || l == symbolic_.columnLoop) &&
          floorOf(inTile[l] + term.step[l], tile_[l]) != term.crossing[l])
        return false;
    }
    return std::ranges::any_of(symbolic_.spaces[term.space].pieces, [&](const std::vector<uint32_t>& piece) {
      return std::ranges::all_of(piece, [&](uint32_t each) { return holds(symbolic_.conditions[each], moved); });
    });
  });
}

/// Iterations of a tile over the configuration's extents, by number.
template <typename Each>
void Periphery::eachIteration(Each each) const {
  Point at(configuration_.extents.size(), 0);
  for (int64_t n = 0;; ++n) {
    each(n, at);
    size_t l = at.size();
    while (l-- > 0 && ++at[l] == configuration_.extents[l])
      at[l] = 0;
    if (l == SIZE_MAX)
      return;
  }
}

bool Periphery::connect(const std::vector<Connection>& connections, Wires& wires) {
  if (!std::ranges::is_sorted(connections))
    return differ("connections are not sorted");
  std::set<std::tuple<int64_t, int64_t, Port>> sinks;
  for (const Connection& each : connections) {
    if (!isInside(each.row, each.column))
      return differ("a connection outside of the region");
    if (!sinks.insert({each.row, each.column, each.sink}).second)
      return differ("two sources of " + WirePoint{each.row, each.column, each.sink}.text());
    wires[{each.row, each.column, each.source}].push_back(each.sink);
  }
  return true;
}

/// Where a wire ends: in elements, and where it leaves the region.
std::vector<WirePoint> Periphery::follow(const Wires& wires, const WirePoint& from) const {
  std::vector<WirePoint> open = {from}, ends;
  constexpr size_t longest = 100'000; // no wire of a tree is; one that goes round is
  for (size_t i = 0; i < open.size() && i < longest; ++i) {
    const WirePoint at = open[i];
    const auto found = wires.find({at.row, at.column, at.port});
    if (found == wires.end())
      continue;
    for (const Port sink : found->second) {
      if (sink.side == Side::Element) {
        ends.push_back({at.row, at.column, sink, at.hops});
        continue;
      }
      const auto side = static_cast<size_t>(sink.side);
      const int64_t row = at.row + ways[side].first, column = at.column + ways[side].second;
      if (isInside(row, column))
        open.push_back({row, column, {static_cast<Side>((side + 2) % 4), sink.index}, at.hops + 1});
      else
        ends.push_back({at.row, at.column, sink, at.hops});
    }
  }
  return ends;
}

/// Each leads to the neighbour's register, over as many wrappers as its path has, where there is the neighbour.
void Periphery::channels() {
  for (size_t i = 0; i < symbolic_.channels.size(); ++i) {
    const Channel& channel = symbolic_.channels[i];
    for (int64_t row = 0; row < configuration_.rows; ++row)
      for (int64_t column = 0; column < configuration_.columns; ++column) {
        const int64_t toRow = row + channel.rowStep, toColumn = column + channel.columnStep;
        const WirePoint from{row, column, channel.path.front()};
        const std::vector<WirePoint> ends = follow(data_, from);
        const bool isThere = std::ranges::any_of(ends, [&](const WirePoint& end) {
          return end.row == toRow && end.column == toColumn && end.port == channel.path.back() &&
                 end.hops == static_cast<int64_t>(channel.path.size()) / 2 - 1;
        });
        if (ends.size() != 1 || isThere != isInside(toRow, toColumn))
          differ("channel " + std::to_string(i) + " from " + from.text() + " has " + std::to_string(ends.size()) +
                 (ends.empty() ? " ends" : " ends, one at " + ends[0].text()));
      }
  }
}

/// The words that registers read and write.
void Periphery::accesses() {
  for (const Access& access : symbolic_.accesses) {
    const ArrayLayout& layout = (access.isOutput ? configuration_.outputs : configuration_.inputs)[access.array];
    for (int64_t row = 0; row < configuration_.rows; ++row)
      for (int64_t column = 0; column < configuration_.columns; ++column)
        eachIteration([&](int64_t n, const Point& inTile) {
          Point iteration = inTile;
          for (size_t l = 0; l < iteration.size(); ++l) {
            const int64_t tile = l == symbolic_.rowLoop ? row : l == symbolic_.columnLoop ? column : 0;
            iteration[l] += lower_[l] + tile * tile_[l];
            if (inTile[l] >= tile_[l] || iteration[l] > upper_[l])
              return;
          }
          if (!holds(access.when, inTile, iteration))
            return;
          int64_t element = 0;
          for (size_t d = 0; d < access.index.size(); ++d)
            element = element * layout.extents[d] + valueOf(access.index[d], iteration);
          const int64_t cycle = configuration_.start(row, column) + access.offset + n * symbolic_.interval;
          wanted_[{access.isOutput, access.array, access.reg.index, row, column, cycle}] = element;
        });
  }
}

/// The words that pass a bank, at the register to which its wire leads, or from which.
void Periphery::bank(const Bank& bank) {
  const bool isColumn = bank.side == Side::North || bank.side == Side::South;
  const WirePoint border{!isColumn                  ? int64_t{bank.position}
                         : bank.side == Side::North ? 0
                                                    : int64_t{configuration_.rows} - 1,
                         isColumn                  ? int64_t{bank.position}
                         : bank.side == Side::West ? 0
                                                   : int64_t{configuration_.columns} - 1,
                         {bank.side, bank.index}};
  const std::string name = "bank " + border.text() + ": ";
  if (bank.start < 0)
    differ(name + "it starts at cycle " + std::to_string(bank.start));
  std::vector<WirePoint> ends;
  if (!bank.isOutput) {
    for (const WirePoint& end : follow(data_, border))
      if (end.port.side == Side::Element)
        ends.push_back(end);
  } else {
    for (int64_t row = 0; row < configuration_.rows; ++row)
      for (int64_t column = 0; column < configuration_.columns; ++column)
        for (uint32_t reg = 0; reg < array_.registers.output; ++reg)
          for (const WirePoint& end : follow(data_, {row, column, {Side::Element, reg}}))
            if (end.row == border.row && end.column == border.column && end.port == border.port)
              ends.push_back({row, column, {Side::Element, reg}, end.hops});
  }
  if (ends.size() != 1) {
    differ(name + "there are " + std::to_string(ends.size()) + " registers at its wire");
    return;
  }
  const int64_t delay = ends[0].hops * static_cast<int64_t>(array_.data.hop);
  const ArrayLayout& layout = (bank.isOutput ? configuration_.outputs : configuration_.inputs)[bank.array];
  std::map<Point, std::vector<Point>> elements; // by the iteration of the loops that have blocks of their own
  eachIteration([&](int64_t n, const Point& at) {
    const auto boxes = std::ranges::count_if(bank.enable, [&](const Box& box) {
      return std::equal(box.begin(), box.end(), at.begin(),
                        [](const Range& range, int64_t x) { return range.first <= x && x < range.end; });
    });
    if (boxes == 0)
      return;
    if (boxes > 1)
      differ(name + "an iteration is enabled twice");
    int64_t element = bank.base;
    for (size_t l = 0; l < at.size(); ++l)
      element += bank.strides[l] * at[l];
    const int64_t cycle = bank.start + n * symbolic_.interval + (bank.isOutput ? -delay : delay);
    found_[{bank.isOutput, bank.array, ends[0].port.index, ends[0].row, ends[0].column, cycle}] = element;
    Point index(layout.extents.size());
    for (size_t d = index.size(); d-- > 0; element = floorOf(element, layout.extents[d]))
      index[d] = element - floorOf(element, layout.extents[d]) * layout.extents[d];
    elements[Point(at.begin(), at.begin() + static_cast<ptrdiff_t>(bank.blockLoops))].push_back(index);
  });
  blocks(bank, elements);
}

/// What passes the bank is its block; what does so in an iteration of the loops that have blocks is within what is
/// held.
void Periphery::blocks(const Bank& bank, const std::map<Point, std::vector<Point>>& elements) {
  const std::string name = "bank " + machine::formatPort({bank.side, bank.index}) + ": ";
  const size_t dimensions = bank.block.size();
  Box all(dimensions, Range{INT64_MAX, INT64_MIN});
  for (const auto& [outer, list] : elements)
    for (size_t d = 0; d < dimensions; ++d) {
      int64_t least = INT64_MAX, most = INT64_MIN;
      for (const Point& index : list) {
        least = std::min(least, index[d]);
        most = std::max(most, index[d]);
      }
      all[d] = {std::min(all[d].first, least), std::max(all[d].end, most + 1)};
      if (bank.blockLoops != 0 && most - least >= bank.held[d])
        differ(name + "a block of " + std::to_string(most - least + 1) + " elements, " + std::to_string(bank.held[d]) +
               " are held in dimension " + std::to_string(d));
    }
  if (!elements.empty() && all != bank.block)
    differ(name + "other elements pass than its block says");
  const ArrayLayout& layout = (bank.isOutput ? configuration_.outputs : configuration_.inputs)[bank.array];
  uint64_t size = bytes(layout.type) * (bank.blockLoops == 0 ? 1 : 2);
  for (size_t d = 0; d < dimensions; ++d)
    size *= static_cast<uint64_t>(bank.blockLoops == 0 ? bank.block[d].end - bank.block[d].first : bank.held[d]);
  if (const uint64_t capacity = array_.borders[static_cast<size_t>(bank.side)].capacity; size > capacity)
    differ(name + std::to_string(size) + " bytes, it holds " + std::to_string(capacity));
}

void Periphery::compareWords() {
  const auto text = [](const std::pair<const Word, int64_t>& each) {
    const auto& [isOutput, array, reg, row, column, cycle] = each.first;
    return "element " + std::to_string(each.second) + (isOutput ? " of output " : " of input ") +
           std::to_string(array) + " at " + (isOutput ? "od" : "id") + std::to_string(reg) + " of (" +
           std::to_string(row) + ", " + std::to_string(column) + ") in cycle " + std::to_string(cycle);
  };
  for (const auto& each : wanted_)
    if (const auto found = found_.find(each.first); found == found_.end() || found->second != each.second)
      differ("no bank has " + text(each));
  for (const auto& each : found_)
    if (!wanted_.contains(each.first))
      differ("a bank has " + text(each) + ", which nobody accesses");
}

/// Signal s reaches register s of every element, and no element starts before.
void Periphery::signals() {
  using enum machine::Corner;
  const bool isSouth = options_.corner == SouthWest || options_.corner == SouthEast;
  const bool isEast = options_.corner == NorthEast || options_.corner == SouthEast;
  if (configuration_.corner != options_.corner)
    differ("the controller is in another corner");
  for (uint32_t signal = 0; signal < configuration_.signals.size(); ++signal) {
    const std::string name = "signal " + std::to_string(signal);
    std::set<std::pair<int64_t, int64_t>> reached;
    for (const WirePoint& end : follow(control_, {isSouth ? int64_t{configuration_.rows} - 1 : 0,
                                                  isEast ? int64_t{configuration_.columns} - 1 : 0,
                                                  {isSouth ? Side::South : Side::North, signal}})) {
      if (end.port != Port{Side::Element, signal})
        differ(name + " comes to " + end.text());
      if (end.hops * static_cast<int64_t>(array_.control.hop) > configuration_.start(end.row, end.column))
        differ(name + " comes to " + end.text() + " after the element has started");
      if (!reached.insert({end.row, end.column}).second)
        differ(name + " comes to " + end.text() + " twice");
    }
    if (reached.size() != size_t{configuration_.rows} * configuration_.columns)
      differ(name + " reaches " + std::to_string(reached.size()) + " elements");
  }
}

} // namespace

std::string comparePeriphery(const Symbolic& symbolic, const machine::ProcessorArray& array,
                             const InstantiationOptions& options, const Configuration& configuration) {
  return Periphery(symbolic, array, options, configuration).run();
}

} // namespace strata::array::oracle

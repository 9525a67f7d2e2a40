// Channels are the same in every wrapper, so that one list is repeated. Accesses then become banks: at the border where
// the channel leaves the region, or where a way of their own ends.
#include "runtime/array/border_routes.h"
#include "runtime/array/processor_classes.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace strata::array {

using machine::Port, machine::Side;

namespace {

/// The switches that channels need, the same in every wrapper.
std::vector<Connection> channelConnections(const Symbolic& symbolic) {
  std::vector<Connection> result;
  for (const Channel& channel : symbolic.channels)
    for (size_t i = 0; i + 1 < channel.path.size(); i += 2)
      result.push_back({0, 0, channel.path[i], channel.path[i + 1]});
  std::ranges::sort(result);
  const auto repeated = std::ranges::unique(result);
  result.erase(repeated.begin(), repeated.end());
  return result;
}

/// What the access is in all tiles of one kind.
struct Pattern {
  std::vector<Box> enable;
  std::vector<Range> reach; // by dimension of the array: least and most (inclusive) that the loops add to the index
};

class BankMaker {
public:
  BankMaker(const Symbolic& symbolic, const machine::ProcessorArray& array, const Tiling& tiling,
            Configuration& configuration)
      : symbolic_(symbolic), array_(array), tiling_(tiling), configuration_(configuration),
        template_(channelConnections(symbolic)) {}

  std::optional<InstantiationError> make() {
    Diagrams diagrams(tiling_.extents);
    for (const Access& access : symbolic_.accesses)
      if (std::optional<InstantiationError> error = collect(access, diagrams))
        return error;
    if (std::optional<InstantiationError> error = makeOwnRoutes())
      return error;
    for (size_t i = 0; i < configuration_.banks.size(); ++i)
      if (std::optional<InstantiationError> error = chooseBlocks(configuration_.banks[i], indices_[i]))
        return error;
    connect();
    raiseStart();
    std::ranges::sort(configuration_.banks, {}, [](const Bank& bank) {
      return std::tuple(bank.side, bank.position, bank.index, bank.isOutput, bank.array, bank.start);
    });
    return std::nullopt;
  }

private:
  /// An access of one tile that needs a way of its own.
  struct Request {
    const Access* access = nullptr;
    Place place;
    size_t pattern = 0;
  };

  const ArrayLayout& layoutOf(const Access& access) const {
    return (access.isOutput ? configuration_.outputs : configuration_.inputs)[access.array];
  }
  static std::string describe(const Access& access, const std::string& name) {
    return std::string(access.isOutput ? "output" : "input") + " '" + name + "'";
  }
  static std::string describe(Place place) {
    return "element (" + std::to_string(place.row) + ", " + std::to_string(place.column) + ")";
  }

  /// Banks of channels at once, requests for all others.
  std::optional<InstantiationError> collect(const Access& access, Diagrams& diagrams) {
    TermSets terms(symbolic_, tiling_, diagrams);
    const uint32_t number = terms.add({{terms.list(access.when)}});
    const std::optional<TermSets::Partition> partition = terms.partition();
    if (!partition)
      return tooLarge("the value of a condition");
    std::map<uint32_t, size_t> patterns; // by class
    for (const ClassRegion& region : partition->regions) {
      const Diagrams::Set set = partition->classes[region.processorClass][number];
      if (set == Diagrams::none)
        continue;
      const auto [found, isNew] = patterns.try_emplace(region.processorClass, patterns_.size());
      if (isNew)
        if (std::optional<InstantiationError> error = addPattern(access, set, diagrams))
          return error;
      for (int64_t row = region.rows.first; row < region.rows.end; ++row)
        for (int64_t column = region.columns.first; column < region.columns.end; ++column) {
          const Request request = {&access, {row, column}, found->second};
          if (access.channel == Access::ownRoute) {
            requests_.push_back(request);
            continue;
          }
          const std::variant<BorderPort, InstantiationError> port = alongChannel(access, request.place);
          if (const auto* error = std::get_if<InstantiationError>(&port))
            return *error;
          if (std::optional<InstantiationError> error = addBank(request, std::get<BorderPort>(port)))
            return error;
        }
    }
    return std::nullopt;
  }

  std::optional<InstantiationError> addPattern(const Access& access, Diagrams::Set set, Diagrams& diagrams) {
    Pattern& pattern = patterns_.emplace_back();
    diagrams.boxes(set,
                   [&pattern](std::span<const Range> box) { pattern.enable.emplace_back(box.begin(), box.end()); });
    for (const Linear& index : access.index) {
      Range reach = {INT64_MAX, INT64_MIN};
      for (const Box& box : pattern.enable) {
        CheckedSum least, most;
        for (size_t l = 0; l < box.size(); ++l) {
          const int64_t factor = index.loops[l];
          least.add(factor, factor < 0 ? box[l].end - 1 : box[l].first);
          most.add(factor, factor < 0 ? box[l].first : box[l].end - 1);
        }
        if (!least.fits() || !most.fits())
          return tooLarge("an index of " + describe(access, layoutOf(access).name));
        reach = {std::min(reach.first, least.value()), std::max(reach.end, most.value())};
      }
      pattern.reach.push_back(reach);
    }
    return std::nullopt;
  }

  /// Where the channel's route leaves the region: against its direction for what the element reads, along it for what
  /// it writes.
  std::variant<BorderPort, InstantiationError> alongChannel(const Access& access, Place place) const {
    const std::vector<Port>& path = symbolic_.channels[access.channel].path;
    Place at = place;
    int64_t hops = 0;
    for (size_t i = 2; i < path.size(); i += 2, ++hops) {
      const Port port = access.isOutput ? path[i - 1] : path[path.size() - i];
      const Place next = at.next(port.side);
      const bool isInside =
          next.row >= 0 && next.row < tiling_.rows && next.column >= 0 && next.column < tiling_.columns;
      if (!isInside)
        return BorderPort{port.side, positionAt(port.side, at), port.index, hops};
      at = next;
    }
    return InstantiationError{describe(access, layoutOf(access).name) + " is accessed along a channel at " +
                                  describe(place) + ", where the channel does not leave the region",
                              "this is a mistake in the symbolic configuration: compile it again", false, true};
  }

  std::optional<InstantiationError> makeOwnRoutes() {
    if (requests_.empty())
      return std::nullopt;
    BorderRoutes routes(array_, tiling_.rows, tiling_.columns, template_);
    for (const Bank& bank : configuration_.banks)
      routes.take({bank.side, bank.position, bank.index, 0});
    // Those at the borders have least to choose from.
    const auto distance = [this](const Request& request) {
      const Place& place = request.place;
      return std::min({place.row, place.column, tiling_.rows - 1 - place.row, tiling_.columns - 1 - place.column});
    };
    std::ranges::sort(requests_, {}, [&](const Request& request) {
      return std::tuple(distance(request), request.place, request.access - symbolic_.accesses.data());
    });
    std::map<std::pair<Place, Register>, BorderPort> known;
    for (const Request& request : requests_) {
      const Access& access = *request.access;
      const auto [found, isNew] = known.try_emplace({request.place, access.reg});
      if (isNew) {
        const std::optional<BorderPort> port = routes.connect(request.place, access.reg, own_);
        if (!port)
          return saturated(request, routes);
        found->second = *port;
      }
      if (std::optional<InstantiationError> error = addBank(request, found->second))
        return error;
    }
    return std::nullopt;
  }

  InstantiationError saturated(const Request& request, const BorderRoutes& routes) const {
    const auto [available, all] = routes.freeBanks();
    const std::string what = describe(*request.access, layoutOf(*request.access).name);
    return {"no free way between a border and register " + name(request.access->reg) + " of " +
                describe(request.place) + " for " + what + ": " +
                (available == 0 ? "all " + std::to_string(all) + " banks of the region's borders are taken"
                                : "the wrapper ports in between are taken (" + std::to_string(available) + " of " +
                                      std::to_string(all) + " banks are free)"),
            "choose a smaller region, or distribute the loops so that " + what + " is accessed at the borders only"};
  }

  std::optional<InstantiationError> addBank(const Request& request, const BorderPort& port) {
    const Access& access = *request.access;
    const ArrayLayout& layout = layoutOf(access);
    const Pattern& pattern = patterns_[request.pattern];
    const machine::Border& border = array_.borders[static_cast<size_t>(port.side)];
    if (port.index >= border.banks)
      return InstantiationError{describe(access, layout.name) + " needs bank " + std::to_string(port.index) +
                                    " at the " + sideName(port.side) + " border; an element there has " +
                                    std::to_string(border.banks),
                                "map the program so that it is accessed at another border"};
    Bank bank;
    bank.side = port.side;
    bank.position = port.position;
    bank.index = port.index;
    bank.isOutput = access.isOutput;
    bank.array = access.array;
    const int64_t delay = port.hops * static_cast<int64_t>(array_.data.hop);
    bank.start = configuration_.start(request.place.row, request.place.column) + access.offset +
                 (access.isOutput ? delay : -delay);
    bank.enable = pattern.enable;
    if (std::optional<InstantiationError> error = setAddresses(request, layout, bank))
      return error;
    return keep(std::move(bank), request);
  }

  /// Strides, base and block. The array's size is below 2^61, so that addresses inside of it are too.
  std::optional<InstantiationError> setAddresses(const Request& request, const ArrayLayout& layout, Bank& bank) {
    const Access& access = *request.access;
    const Pattern& pattern = patterns_[request.pattern];
    std::vector<CheckedSum> strides(tiling_.extents.size());
    CheckedSum base;
    int64_t stride = 1;
    for (size_t d = access.index.size(); d-- > 0;) {
      const Linear& index = access.index[d];
      CheckedSum first; // at iteration 0 of the tile
      first.add(index.constant);
      for (size_t p = 0; p < tiling_.sizes.size(); ++p)
        first.add(index.parameters[p], tiling_.sizes[p]);
      for (size_t l = 0; l < tiling_.extents.size(); ++l) {
        const int64_t tile = l == tiling_.rowLoop      ? request.place.row
                             : l == tiling_.columnLoop ? request.place.column
                                                       : 0;
        first.add(index.loops[l], tiling_.lower[l] + tile * tiling_.tile[l]);
        CheckedSum step;
        step.add(index.loops[l], stride);
        strides[l].add(step.value());
        if (!step.fits())
          return tooLarge("an address of " + describe(access, layout.name));
      }
      const int64_t least = first.value() + pattern.reach[d].first, most = first.value() + pattern.reach[d].end;
      if (!first.fits())
        return tooLarge("an index of " + describe(access, layout.name));
      if (least < 0 || most >= layout.extents[d])
        return InstantiationError{describe(access, layout.name) + " is accessed at " + std::to_string(least) + " to " +
                                      std::to_string(most) + " in dimension " + std::to_string(d) +
                                      ", its extents are " + formatExtents(layout.extents),
                                  "these sizes do not fit the array's extents"};
      bank.block.insert(bank.block.begin(), Range{least, most + 1});
      base.add(first.value(), stride);
      stride *= std::max<int64_t>(1, layout.extents[d]);
    }
    bank.base = base.value();
    for (const CheckedSum& each : strides) {
      bank.strides.push_back(each.value());
      if (!each.fits() || !base.fits())
        return tooLarge("an address of " + describe(access, layout.name));
    }
    return std::nullopt;
  }

  /// A bank has one address generator: accesses that share a bank must be one function of the iteration.
  std::optional<InstantiationError> keep(Bank bank, const Request& request) {
    const auto [found, isNew] =
        numbers_.try_emplace(std::tuple(bank.side, bank.position, bank.index), configuration_.banks.size());
    if (isNew) {
      configuration_.banks.push_back(std::move(bank));
      indices_.push_back(&request.access->index);
      return std::nullopt;
    }
    if (const std::vector<Linear>*& index = indices_[found->second]; index && *index != request.access->index)
      index = nullptr;
    Bank& known = configuration_.banks[found->second];
    Bank same = known;
    same.enable = bank.enable;
    same.block = bank.block;
    if (!(same == bank)) {
      const std::vector<ArrayLayout>& others = known.isOutput ? configuration_.outputs : configuration_.inputs;
      return InstantiationError{"bank " + std::to_string(bank.index) + " at position " + std::to_string(bank.position) +
                                    " of the " + sideName(bank.side) + " border would hold " +
                                    describe(*request.access, layoutOf(*request.access).name) + " and '" +
                                    others[known.array].name + "' with addresses of different kinds",
                                "a bank has one address generator: map the program with other registers or borders"};
    }
    Diagrams diagrams(tiling_.extents);
    Diagrams::Set all = Diagrams::none;
    for (const std::vector<Box>* boxes : {&known.enable, &bank.enable})
      for (const Box& box : *boxes)
        all = diagrams.unite(all, diagrams.box(box));
    known.enable.clear();
    diagrams.boxes(all, [&known](std::span<const Range> box) { known.enable.emplace_back(box.begin(), box.end()); });
    for (size_t d = 0; d < known.block.size(); ++d)
      known.block[d] = {std::min(known.block[d].first, bank.block[d].first),
                        std::max(known.block[d].end, bank.block[d].end)};
    return std::nullopt;
  }

  /// The fewest loops whose iterations have blocks of their own so that the bank can hold them. `index` is how the
  /// array is accessed, null where the bank serves several ways.
  std::optional<InstantiationError> chooseBlocks(Bank& bank, const std::vector<Linear>* index) const {
    const machine::Border& border = array_.borders[static_cast<size_t>(bank.side)];
    const ArrayLayout& layout = (bank.isOutput ? configuration_.outputs : configuration_.inputs)[bank.array];
    const std::string what = std::string(bank.isOutput ? "output" : "input") + " '" + layout.name + "'";
    const std::string side = sideName(bank.side);
    std::vector<int64_t> counts; // iterations of each loop
    uint64_t counters = 0;
    for (size_t l = 0; l < tiling_.extents.size(); ++l) {
      Range range = bank.enable[0][l];
      for (const Box& box : bank.enable)
        range = {std::min(range.first, box[l].first), std::max(range.end, box[l].end)};
      counts.push_back(range.end - range.first);
      counters += counts.back() > 1 ? 1 : 0;
    }
    if (counters > border.dimensions)
      return InstantiationError{what + " is accessed in " + std::to_string(counters) +
                                    " loops of a tile; address generators at the " + side + " border count " +
                                    std::to_string(border.dimensions),
                                "choose tiles in which fewer loops have several iterations"};
    std::vector<int64_t> held;
    for (const Range& range : bank.block)
      held.push_back(range.end - range.first);
    const auto size = [&] {
      uint64_t size = bytes(layout.type) * (bank.blockLoops == 0 ? 1 : 2);
      for (const int64_t extent : held)
        size *= static_cast<uint64_t>(extent); // an array's is below 2^61
      return size;
    };
    while (size() > border.capacity && index && bank.blockLoops < counts.size()) {
      ++bank.blockLoops;
      for (size_t d = 0; d < held.size(); ++d) {
        int64_t extent = 1;
        for (size_t l = bank.blockLoops; l < counts.size(); ++l)
          extent += std::abs((*index)[d].loops[l]) * (counts[l] - 1);
        held[d] = std::min(held[d], extent);
      }
    }
    if (bank.blockLoops != 0)
      bank.held = held;
    if (size() > border.capacity)
      return InstantiationError{what + " takes " + std::to_string(size()) + " bytes of a bank at the " + side +
                                    " border, which holds " + std::to_string(border.capacity),
                                bank.blockLoops == 0 ? "choose smaller tiles, or a larger region"
                                                     : "two elements are the least: give the machine's banks more"};
    return std::nullopt;
  }

  void connect() {
    std::vector<Connection>& data = configuration_.data;
    data.reserve(template_.size() * static_cast<size_t>(tiling_.rows * tiling_.columns) + own_.size());
    for (uint32_t row = 0; row < configuration_.rows; ++row)
      for (uint32_t column = 0; column < configuration_.columns; ++column)
        for (const Connection& each : template_)
          data.push_back({row, column, each.source, each.sink});
    if (own_.empty())
      return;
    std::ranges::sort(own_);
    std::vector<Connection> both;
    both.reserve(data.size() + own_.size());
    std::ranges::merge(data, own_, std::back_inserter(both));
    data = std::move(both);
  }

  /// No word passes a border before cycle 0: all wait until the first one can.
  void raiseStart() {
    int64_t first = 0;
    for (const Bank& bank : configuration_.banks)
      first = std::min(first, bank.start);
    configuration_.firstStart -= first;
    for (Bank& bank : configuration_.banks)
      bank.start -= first;
  }

  const Symbolic& symbolic_;
  const machine::ProcessorArray& array_;
  const Tiling& tiling_;
  Configuration& configuration_;
  std::vector<Connection> template_, own_;
  std::vector<Pattern> patterns_;
  std::vector<Request> requests_;
  std::map<std::tuple<Side, uint32_t, uint32_t>, size_t> numbers_;
  std::vector<const std::vector<Linear>*> indices_; // by bank: of all its accesses; null where they differ
};

} // namespace

std::optional<InstantiationError> connectData(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                              const Tiling& tiling, Configuration& configuration) {
  return BankMaker(symbolic, array, tiling, configuration).make();
}

} // namespace strata::array

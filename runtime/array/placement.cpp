// A program is instantiated once for a region's size; what its place changes are the connections and the banks, and
// those only by which borders it touches.
#include "runtime/array/placement.h"

#include "base/machine/quantity.h"
#include "runtime/array/instantiate.h"

#include <algorithm>
#include <set>

namespace strata::array {

using machine::Corner, machine::Side;
using Kind = DeviceError::Kind;

namespace {

constexpr const char* sideNames[] = {"northern", "eastern", "southern", "western"};

template <typename Names>
std::string namesOf(const Names& names) {
  std::string all;
  for (size_t i = 0; i < names.size(); ++i)
    all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + std::string(names[i]);
  return all;
}

/// Whether elements of the configuration stand at a border of the array.
bool touches(const machine::ProcessorArray& array, const PlacementRequest& request, const Configuration& configuration,
             Side side) {
  switch (side) {
  case Side::North:
    return request.row == 0;
  case Side::East:
    return uint64_t{request.column} + configuration.columns == array.columns;
  case Side::South:
    return uint64_t{request.row} + configuration.rows == array.rows;
  default:
    return request.column == 0;
  }
}

using Numbers = std::vector<std::pair<std::string, int64_t>>;

/// The numbers in the order of `names`, each of which may be given once; what is not given is `missing`, or an error.
std::variant<std::vector<int64_t>, DeviceError> inOrder(const Numbers& given, const std::vector<std::string>& names,
                                                        std::optional<int64_t> missing, const std::string& what) {
  std::vector<std::optional<int64_t>> found(names.size());
  for (const auto& [name, value] : given) {
    const auto at = std::ranges::find(names, name);
    const std::string known = names.empty() ? "it has no " + what + "s" : "its " + what + "s are " + namesOf(names);
    if (at == names.end())
      return DeviceError{Kind::Argument, "the program has no " + what + " '" + name + "'", known};
    std::optional<int64_t>& place = found[static_cast<size_t>(at - names.begin())];
    if (place)
      return DeviceError{Kind::Argument, what + " '" + name + "' is given twice", ""};
    place = value;
  }
  std::vector<int64_t> values;
  for (size_t i = 0; i < names.size(); ++i) {
    if (!found[i] && !missing)
      return DeviceError{Kind::Argument, "no size is given for the " + what + " '" + names[i] + "'", ""};
    values.push_back(found[i].value_or(missing.value_or(0)));
  }
  return values;
}

std::variant<InstantiationOptions, DeviceError> optionsOf(const Symbolic& program, const PlacementRequest& request) {
  std::vector<std::string> loops;
  for (const Loop& loop : program.loops)
    loops.push_back(loop.name);
  auto sizes = inOrder(request.sizes, program.parameters, std::nullopt, "parameter");
  auto tiles = inOrder(request.tiles, loops, 0, "loop");
  for (auto* each : {&sizes, &tiles})
    if (auto* error = std::get_if<DeviceError>(each))
      return std::move(*error);
  InstantiationOptions options;
  options.sizes = std::get<0>(std::move(sizes));
  options.tile = std::get<0>(std::move(tiles));
  options.rows = request.rows;
  options.columns = request.columns;
  options.corner = request.corner;
  return options;
}

/// The configuration has the banks that it would have with all borders.
DeviceError missingBorders(const machine::ProcessorArray& array, const PlacedProgram& placed) {
  std::vector<Side> missing, there;
  for (size_t i = 0; i < array.borders.size(); ++i) {
    const auto side = static_cast<Side>(i);
    const bool isUsed = std::ranges::any_of(placed.configuration.banks, [&](const Bank& b) { return b.side == side; });
    if (touches(array, placed.request, placed.configuration, side))
      there.push_back(side);
    else if (isUsed)
      missing.push_back(side);
  }
  PlacementRequest used = placed.request; // elements without work do not lead data on
  used.rows = placed.configuration.rows;
  used.columns = placed.configuration.columns;
  return {Kind::Border,
          "'" + placed.configuration.program + "' needs buffers at the " + sideList(missing) +
              " border of the array; its " + describe(used) + " touch " +
              (there.empty() ? "no border" : "only the " + sideList(there) + " one"),
          "choose a region that touches these borders, a smaller one, or distribute other loops: strata map "
          "--distribute"};
}

/// The connections and banks that the place makes of a configuration with its programs.
std::optional<DeviceError> settle(const Symbolic& program, const machine::ProcessorArray& array,
                                  const InstantiationOptions& options, PlacedProgram& placed) {
  placed.seen = array;
  for (size_t side = 0; side < placed.seen.borders.size(); ++side)
    if (!touches(array, placed.request, placed.configuration, static_cast<Side>(side)))
      placed.seen.borders[side].banks = 0;
  if (auto error = instantiatePeriphery(program, placed.seen, options, placed.configuration)) {
    // Would it fit if the region touched all borders?
    if (instantiatePeriphery(program, array, options, placed.configuration))
      return DeviceError{Kind::Unfit, std::move(error->message), std::move(error->help)};
    return missingBorders(array, placed);
  }
  return std::nullopt;
}

} // namespace

std::string describe(const PlacementRequest& request) {
  return std::to_string(request.rows) + " x " + std::to_string(request.columns) + " elements at row " +
         std::to_string(request.row) + ", column " + std::to_string(request.column);
}

std::string cornerName(Corner corner) {
  return machine::cornerNames()[static_cast<size_t>(corner)];
}

std::string sideList(const std::vector<Side>& sides) {
  std::vector<std::string> names;
  for (const Side side : sides)
    names.push_back(sideNames[static_cast<size_t>(side)]);
  return namesOf(names);
}

std::optional<DeviceError> checkRegion(const machine::ProcessorArray& array, const PlacementRequest& request) {
  if (request.rows == 0 || request.columns == 0)
    return DeviceError{Kind::Argument, "a region has at least one row and one column", ""};
  if (uint64_t{request.row} + request.rows > array.rows || uint64_t{request.column} + request.columns > array.columns)
    return DeviceError{Kind::Argument, "a region of " + describe(request) + " is not within the array",
                       "it has " + std::to_string(array.rows) + " x " + std::to_string(array.columns) + " elements"};
  if (static_cast<size_t>(request.corner) >= machine::cornerNames().size())
    return DeviceError{Kind::Argument, "there is no corner " + std::to_string(static_cast<size_t>(request.corner)),
                       "corners are 0 to 3"};
  if (std::ranges::find(array.controllers, request.corner) == array.controllers.end())
    return DeviceError{Kind::Argument, "there is no controller in the corner " + cornerName(request.corner),
                       "choose a corner that the machine file lists under 'controllers'"};
  return std::nullopt;
}

namespace {

/// A program's part of a placement, which its place does not change.
struct Prepared {
  InstantiationOptions options;
  Configuration configuration; // without connections and banks
};

std::variant<Prepared, DeviceError> prepare(const Symbolic& program, const machine::ProcessorArray& array,
                                            const PlacementRequest& request) {
  if (std::optional<DeviceError> error = checkRegion(array, request))
    return *std::move(error);
  auto options = optionsOf(program, request);
  if (auto* error = std::get_if<DeviceError>(&options))
    return std::move(*error);
  auto made = instantiatePrograms(program, array, std::get<InstantiationOptions>(options));
  if (auto* error = std::get_if<InstantiationError>(&made))
    return DeviceError{Kind::Unfit, std::move(error->message), std::move(error->help), error->isCircle};
  return Prepared{std::get<InstantiationOptions>(std::move(options)), std::get<Configuration>(std::move(made))};
}

} // namespace

std::variant<PlacedProgram, DeviceError> placeAt(const Symbolic& program, const machine::ProcessorArray& array,
                                                 const PlacementRequest& request) {
  auto made = prepare(program, array, request);
  if (auto* error = std::get_if<DeviceError>(&made))
    return std::move(*error);
  auto& prepared = std::get<Prepared>(made);
  PlacedProgram placed;
  placed.request = request;
  placed.configuration = std::move(prepared.configuration);
  if (auto error = settle(program, array, prepared.options, placed))
    return *std::move(error);
  return placed;
}

std::variant<PlacedProgram, DeviceError> placeFirst(const Symbolic& program, const machine::ProcessorArray& array,
                                                    PlacementRequest request,
                                                    const std::function<bool(const PlacementRequest&)>& isFree) {
  request.row = request.column = 0;
  auto made = prepare(program, array, request);
  if (auto* error = std::get_if<DeviceError>(&made))
    return std::move(*error);
  auto& prepared = std::get<Prepared>(made);
  PlacedProgram placed;
  placed.configuration = std::move(prepared.configuration);
  std::optional<DeviceError> first;
  std::set<std::array<bool, 4>> tried; // the borders that places touch
  for (; request.row + request.rows <= array.rows; ++request.row)
    for (request.column = 0; request.column + request.columns <= array.columns; ++request.column) {
      if (!isFree(request))
        continue;
      std::array<bool, 4> borders;
      for (size_t side = 0; side < borders.size(); ++side)
        borders[side] = touches(array, request, placed.configuration, static_cast<Side>(side));
      if (!tried.insert(borders).second)
        continue;
      placed.request = request;
      auto error = settle(program, array, prepared.options, placed);
      if (!error)
        return placed;
      if (!first)
        first = std::move(error);
    }
  if (first)
    return *std::move(first);
  return DeviceError{Kind::Occupied,
                     "there are no " + std::to_string(request.rows) + " x " + std::to_string(request.columns) +
                         " free elements for '" + placed.configuration.program + "'",
                     "choose a smaller region, or make room for it"};
}

BorderNeeds borderNeeds(const machine::ProcessorArray& array, const Configuration& configuration) {
  std::array<bool, 4> uses{};
  for (const Bank& bank : configuration.banks)
    if (bank.side != Side::Element)
      uses[static_cast<size_t>(bank.side)] = true;
  PlacementRequest at;
  const auto used = [&](Side side) { return uses[static_cast<size_t>(side)]; };
  if (used(Side::South) && !used(Side::North))
    at.row = static_cast<uint32_t>(array.rows - std::min<uint64_t>(array.rows, configuration.rows));
  if (used(Side::East) && !used(Side::West))
    at.column = static_cast<uint32_t>(array.columns - std::min<uint64_t>(array.columns, configuration.columns));
  BorderNeeds needs{at.row, at.column, {}};
  for (size_t i = 0; i < uses.size(); ++i)
    if (uses[i] && !touches(array, at, configuration, static_cast<Side>(i)))
      needs.untouched.push_back(static_cast<Side>(i));
  return needs;
}

} // namespace strata::array

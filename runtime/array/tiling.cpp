// Bounds from the outside in: sizes, context, loops, tiles. Each step names what it refuses with the numbers it saw.
#include "runtime/array/tiling.h"
#include "runtime/array/variables.h"

#include <algorithm>

namespace strata::array {

namespace {
constexpr int64_t largest = int64_t{1} << 61;
} // namespace

void CheckedSum::add(int64_t a, int64_t b) {
  const __int128 sum = static_cast<__int128>(a) * b + value_;
  fits_ = fits_ && sum > -largest && sum < largest;
  value_ = fits_ ? static_cast<int64_t>(sum) : 0;
}

int64_t floorDivide(int64_t dividend, int64_t divisor) {
  return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
}

int64_t ceilDivide(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor > 0 ? 1 : 0);
}

std::string formatExtents(std::span<const int64_t> extents) {
  std::string text;
  for (const int64_t extent : extents)
    text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

InstantiationError tooLarge(const std::string& what) {
  return {what + " is not below 2^61", "choose smaller sizes"};
}

InstantiationError tooManyRanges(const Symbolic& symbolic, const Tiling& tiling) {
  return {"'" + symbolic.program + "' is too large to instantiate: its conditions cut tiles of " +
              formatExtents(tiling.tile) + " iterations into more than " + std::to_string(Diagrams::mostRanges) +
              " ranges",
          "choose smaller sizes or smaller tiles; a condition that couples two loops, or one with a remainder, makes a "
          "range of each iteration"};
}

namespace {

std::string formatSizes(const Symbolic& symbolic, std::span<const int64_t> sizes) {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += (i == 0 ? "" : ", ") + symbolic.parameters[i] + " = " + std::to_string(sizes[i]);
  return text.empty() ? "no parameters" : text;
}

/// "2 N - M + 4", of parameters.
std::string formatLinear(const Symbolic& symbolic, const Linear& linear) {
  std::string text;
  const auto append = [&](int64_t factor, const std::string& name) {
    if (factor == 0)
      return;
    text += text.empty() ? (factor < 0 ? "-" : "") : (factor < 0 ? " - " : " + ");
    const std::string digits = std::to_string(factor);
    const std::string size = factor < 0 ? digits.substr(1) : digits;
    text += name.empty() ? size : size == "1" ? name : size + " " + name;
  };
  for (size_t i = 0; i < linear.parameters.size(); ++i)
    append(linear.parameters[i], symbolic.parameters[i]);
  append(linear.constant, "");
  return text.empty() ? "0" : text;
}

std::string formatCondition(const Symbolic& symbolic, const Condition& condition) {
  const std::string value = formatLinear(symbolic, condition.value);
  switch (condition.kind) {
  case Condition::Kind::NotNegative:
    return value + " >= 0";
  case Condition::Kind::Zero:
    return value + " = 0";
  case Condition::Kind::Divisible:
    return value + " is a multiple of " + std::to_string(condition.modulus);
  case Condition::Kind::NotDivisible:
    return value + " is no multiple of " + std::to_string(condition.modulus);
  }
  return value;
}

CheckedSum valueOf(const Linear& linear, std::span<const int64_t> sizes) {
  CheckedSum sum;
  sum.add(linear.constant);
  for (size_t i = 0; i < linear.parameters.size(); ++i)
    sum.add(linear.parameters[i], sizes[i]);
  return sum;
}

bool holds(const Condition& condition, int64_t value) {
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

std::optional<InstantiationError> checkSizes(const Symbolic& symbolic, const InstantiationOptions& options) {
  if (options.sizes.size() != symbolic.parameters.size())
    return InstantiationError{"'" + symbolic.program + "' has " + std::to_string(symbolic.parameters.size()) +
                                  " parameters, " + std::to_string(options.sizes.size()) + " sizes are given",
                              "give one size for each parameter"};
  for (const Condition& condition : symbolic.context) {
    const CheckedSum value = valueOf(condition.value, options.sizes);
    if (!value.fits())
      return tooLarge("'" + formatLinear(symbolic, condition.value) + "'");
    if (!holds(condition, value.value()))
      return InstantiationError{"the sizes " + formatSizes(symbolic, options.sizes) + " break '" +
                                    formatCondition(symbolic, condition) + "'",
                                "the program is for sizes that keep this condition"};
  }
  return std::nullopt;
}

std::optional<InstantiationError> checkRegion(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                              const InstantiationOptions& options) {
  const std::string size = std::to_string(options.rows) + " x " + std::to_string(options.columns);
  if (options.rows == 0 || options.columns == 0 || options.rows > array.rows || options.columns > array.columns)
    return InstantiationError{"a region of " + size + " elements, the array has " + std::to_string(array.rows) + " x " +
                                  std::to_string(array.columns),
                              "choose a region within the array"};
  if ((symbolic.rowLoop == Symbolic::none && options.rows != 1) ||
      (symbolic.columnLoop == Symbolic::none && options.columns != 1)) {
    const std::string what = symbolic.rowLoop == Symbolic::none && options.rows != 1 ? "rows" : "columns";
    return InstantiationError{"a region of " + size + " elements, but no loop of '" + symbolic.program +
                                  "' is distributed over the " + what,
                              "choose a region without several " + what + ", or distribute a loop over them"};
  }
  if (std::ranges::find(array.controllers, options.corner) == array.controllers.end())
    return InstantiationError{"the array has no controller in the corner that is to control the program",
                              "choose a corner that the machine file lists under 'controllers'"};
  return std::nullopt;
}

std::optional<InstantiationError> boundLoops(const Symbolic& symbolic, Tiling& tiling) {
  CheckedSum product;
  product.add(1);
  for (const Loop& loop : symbolic.loops) {
    int64_t lower = -largest, upper = largest;
    for (const Bound& bound : loop.lower) {
      const CheckedSum value = valueOf(bound.value, tiling.sizes);
      if (!value.fits())
        return tooLarge("a lower bound of loop '" + loop.name + "'");
      lower = std::max(lower, ceilDivide(value.value(), bound.divisor));
    }
    for (const Bound& bound : loop.upper) {
      const CheckedSum value = valueOf(bound.value, tiling.sizes);
      if (!value.fits())
        return tooLarge("an upper bound of loop '" + loop.name + "'");
      upper = std::min(upper, floorDivide(value.value(), bound.divisor));
    }
    const int64_t count = std::max<int64_t>(0, upper - lower + 1);
    CheckedSum next;
    next.add(product.value(), std::max<int64_t>(1, count));
    if (!next.fits())
      return tooLarge("the number of iterations");
    product = next;
    tiling.lower.push_back(lower);
    tiling.count.push_back(count);
  }
  tiling.iterations = std::ranges::find(tiling.count, 0) != tiling.count.end() ? 0 : product.value();
  return std::nullopt;
}

std::optional<InstantiationError> cutLoops(const Symbolic& symbolic, const InstantiationOptions& options,
                                           Tiling& tiling) {
  for (size_t l = 0; l < symbolic.loops.size(); ++l) {
    const Loop& loop = symbolic.loops[l];
    const int64_t given = l < options.tile.size() ? options.tile[l] : 0, count = tiling.count[l];
    const int64_t tiles = tiling.tiles(l);
    const bool isDistributed = l == tiling.rowLoop || l == tiling.columnLoop;
    const int64_t least = std::max<int64_t>(1, ceilDivide(count, tiles));
    if (given >= largest)
      return tooLarge("a tile of loop '" + loop.name + "'");
    if (given != 0 && given < least)
      return InstantiationError{std::to_string(tiles) + (tiles == 1 ? " tile of " : " tiles of ") +
                                    std::to_string(given) + (tiles == 1 ? " does" : " do") + " not cover loop '" +
                                    loop.name + "' of " + std::to_string(count) + " iterations",
                                "tiles of " + std::to_string(least) + " do"};
    const int64_t tile = given != 0 && isDistributed ? given : least;
    if (tile < loop.leastTile && count != 0)
      return InstantiationError{"a tile has " + std::to_string(tile) + " iterations of loop '" + loop.name +
                                    "', the schedule relies on at least " + std::to_string(loop.leastTile),
                                isDistributed ? "choose larger tiles or a smaller region" : "choose larger sizes"};
    tiling.tile.push_back(tile);
  }
  return std::nullopt;
}

/// Values move between neighbours only: no dependence may be longer than a tile.
std::optional<InstantiationError> checkDistances(const Symbolic& symbolic, const Tiling& tiling) {
  for (const Arrival& arrival : symbolic.arrivals)
    for (const uint32_t loop : {tiling.rowLoop, tiling.columnLoop}) {
      if (loop == Symbolic::none || tiling.tiles(loop) == 1 || arrival.crossing[loop] == 0)
        continue;
      const int64_t distance = std::abs(arrival.distance[loop]);
      if (distance > tiling.tile[loop]) {
        std::vector<std::string> names = variablesOf(symbolic, arrival);
        return InstantiationError{"tiles of " + std::to_string(tiling.tile[loop]) + " iterations of loop '" +
                                      symbolic.loops[loop].name + "', but a value" + formatNames("of", names) +
                                      " is used " + std::to_string(distance) + " iterations later",
                                  "choose tiles of at least " + std::to_string(distance), false, false,
                                  std::move(names)};
      }
    }
  return std::nullopt;
}

/// Products of extents, and the time that the last iterations need after the tile's own.
std::optional<InstantiationError> lengthen(const Symbolic& symbolic, Tiling& tiling) {
  const size_t loops = symbolic.loops.size();
  if (loops == 0)
    return InstantiationError{"'" + symbolic.program + "' has no loops", "give it a loop of one iteration"};
  int64_t stages = 0;
  for (const SymbolicInstruction& instruction : symbolic.instructions)
    stages = std::max(stages, floorDivide(instruction.offset, symbolic.interval));
  tiling.inner.assign(loops, 1);
  CheckedSum product;
  product.add(1);
  for (size_t l = loops; l-- > 0;) {
    tiling.inner[l] = product.value();
    CheckedSum next;
    next.add(product.value(), tiling.tile[l] + (l == 0 ? ceilDivide(stages, product.value()) : 0));
    product = next;
  }
  CheckedSum cycles, reach; // of one element; and the largest coordinate of a tile
  cycles.add(product.value(), symbolic.interval);
  for (const uint32_t loop : {tiling.rowLoop, tiling.columnLoop})
    if (loop != Symbolic::none)
      reach.add(tiling.tile[loop], tiling.tiles(loop));
  if (!product.fits() || !cycles.fits() || !reach.fits())
    return tooLarge("the time in which one element executes its tile");
  tiling.extents = tiling.tile;
  tiling.extents[0] += ceilDivide(stages, tiling.inner[0]);
  return std::nullopt;
}

} // namespace

std::variant<Tiling, InstantiationError> makeTiling(const Symbolic& symbolic, const machine::ProcessorArray& array,
                                                    const InstantiationOptions& options) {
  if (std::optional<InstantiationError> error = checkSizes(symbolic, options))
    return *std::move(error);
  if (std::optional<InstantiationError> error = checkRegion(symbolic, array, options))
    return *std::move(error);
  Tiling tiling;
  tiling.sizes = options.sizes;
  tiling.rows = options.rows;
  tiling.columns = options.columns;
  tiling.rowLoop = symbolic.rowLoop;
  tiling.columnLoop = symbolic.columnLoop;
  if (std::optional<InstantiationError> error = boundLoops(symbolic, tiling))
    return *std::move(error);
  if (std::optional<InstantiationError> error = cutLoops(symbolic, options, tiling))
    return *std::move(error);
  // Elements without a tile are left out, so that the last tiles lie at the region's border.
  const auto used = [&](uint32_t loop, int64_t tiles) {
    return loop == Symbolic::none ? tiles : std::max<int64_t>(1, ceilDivide(tiling.count[loop], tiling.tile[loop]));
  };
  tiling.rows = used(tiling.rowLoop, tiling.rows);
  tiling.columns = used(tiling.columnLoop, tiling.columns);
  if (!tiling.isEmpty())
    if (std::optional<InstantiationError> error = checkDistances(symbolic, tiling))
      return *std::move(error);
  if (std::optional<InstantiationError> error = lengthen(symbolic, tiling))
    return *std::move(error);
  return tiling;
}

} // namespace strata::array

// An integer program for isl: factors and shifts, the sum of the factors' sizes smallest.
#include "compiler/equations/direction.h"

#include "compiler/equations/polyhedra.h"

#include <isl/point.h>

#include <string>

namespace strata::equations {

std::optional<Direction> findDirection(const std::vector<uint32_t>& equations, const std::vector<Wait>& waits,
                                       size_t dimensions) {
  // The sum of sizes, sizes, factors, shifts; the least in this order.
  std::string names = "sum", conditions = "sum = 0";
  const auto number = [](const char* letter, size_t i) { return letter + std::to_string(i); };
  for (size_t i = 0; i < dimensions; ++i) {
    names += ", " + number("size", i);
    conditions += " + " + number("size", i);
  }
  for (size_t i = 0; i < dimensions; ++i) {
    names += ", " + number("factor", i);
    conditions += " and " + number("size", i) + " >= " + number("factor", i) + " and " + number("size", i) + " >= -" +
                  number("factor", i);
  }
  std::map<uint32_t, size_t> places;
  for (const uint32_t equation : equations) {
    names += ", " + number("shift", places.size());
    conditions += " and " + number("shift", places.size()) + " >= 0";
    places.emplace(equation, places.size());
  }
  std::string all = "0";
  for (const Wait& wait : waits)
    for (const std::vector<int64_t>& distance : wait.distances) {
      std::string ahead = "0";
      if (distance[0] != 0 && wait.to != wait.from) {
        const std::string weight = std::to_string(distance[0]) + "*";
        ahead = weight + number("shift", places.at(wait.to)) + " - " + weight + number("shift", places.at(wait.from));
      }
      for (size_t i = 0; i < dimensions; ++i)
        if (distance[i + 1] != 0)
          ahead += " + " + std::to_string(distance[i + 1]) + "*" + number("factor", i);
      conditions += " and " + ahead + " >= 0";
      all += " + " + ahead;
    }
  const Polyhedra polyhedra(1 + 2 * dimensions + equations.size(), 0);
  const isl::set found = polyhedra.parsedSet("{ [" + names + "] : " + conditions + " and " + all + " >= 1 }").lexmin();
  if (found.is_empty())
    return std::nullopt;
  const isl::point point = found.sample_point();
  const auto at = [&](size_t place) {
    const isl::val value = isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(place)));
    return static_cast<int64_t>(isl_val_get_num_si(value.get()));
  };
  Direction result;
  for (size_t i = 0; i < dimensions; ++i)
    result.factors.push_back(at(1 + dimensions + i));
  for (const auto& [equation, place] : places)
    result.shifts[equation] = at(1 + 2 * dimensions + place);
  return result;
}

} // namespace strata::equations

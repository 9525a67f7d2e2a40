// An integer program for isl: factors and shifts, the sum of the factors' sizes smallest.
#include "compiler/equations/direction.h"

#include "compiler/equations/polyhedra.h"

#include <isl/point.h>

#include <string>

namespace strata::equations {

std::optional<Direction> findDirection(const std::vector<uint32_t>& nodes, const std::vector<Dependence>& dependences,
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
  for (const uint32_t node : nodes) {
    names += ", " + number("shift", places.size());
    conditions += " and " + number("shift", places.size()) + " >= 0";
    places.emplace(node, places.size());
  }
  std::string all = "0";
  for (const Dependence& each : dependences) {
    std::string ahead = number("shift", places.at(each.to)) + " - " + number("shift", places.at(each.from));
    for (size_t i = 0; i < dimensions; ++i)
      if (each.distance[i] != 0)
        ahead += " + " + std::to_string(each.distance[i]) + "*" + number("factor", i);
    conditions += " and " + ahead + " >= 0";
    all += " + " + ahead;
  }
  const Polyhedra polyhedra(1 + 2 * dimensions + nodes.size(), 0);
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
  for (const auto& [node, place] : places)
    result.shifts[node] = at(1 + 2 * dimensions + place);
  return result;
}

} // namespace strata::equations

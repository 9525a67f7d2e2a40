// The uses among a circle's equations are listed point by point for small sizes; a search in breadth from each instance
// finds the shortest way back to it. See circle.h.
#include "compiler/equations/circle.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::equations {

namespace {

using Point = std::vector<int64_t>;

struct Instance {
  uint32_t equation = 0;
  Point iteration;
  auto operator<=>(const Instance&) const = default;
};

constexpr size_t mostUses = 20'000, mostCircles = 2'000, mostSizes = 64;

Point coordinates(const isl::point& point, isl_dim_type kind, size_t first, size_t count) {
  Point values;
  for (size_t i = first; i < first + count; ++i) {
    const isl::val value = isl::manage(isl_point_get_coordinate_val(point.get(), kind, static_cast<int>(i)));
    values.push_back(isl_val_get_num_si(value.get()));
  }
  return values;
}

int64_t valueOf(const Affine& affine, const Point& iteration, const Point& sizes) {
  int64_t value = affine.constant;
  for (size_t i = 0; i < affine.iterators.size() && i < iteration.size(); ++i)
    value += affine.iterators[i] * iteration[i];
  for (size_t i = 0; i < affine.parameters.size() && i < sizes.size(); ++i)
    value += affine.parameters[i] * sizes[i];
  return value;
}

class Search {
public:
  Search(const System& system, const Polyhedra& polyhedra, const std::vector<Flow>& flows, const Circle& circle)
      : system_(system), polyhedra_(polyhedra) {
    const std::set<uint32_t> in(circle.equations.begin(), circle.equations.end());
    for (const Flow& each : flows)
      if (in.contains(each.from) && in.contains(each.to))
        flows_.push_back(&each);
  }

  std::string run() {
    for (const Point& sizes : smallSizes())
      if (std::string found = circleFor(sizes); !found.empty())
        return found;
    return "";
  }

private:
  /// Sizes for which there are uses, those with the least sum first.
  std::vector<Point> smallSizes() const {
    const auto count = static_cast<unsigned>(polyhedra_.parameters());
    isl::set all = polyhedra_.context(system_.context).params();
    isl::set used = isl::manage(isl_set_empty(isl_set_get_space(all.get())));
    for (const Flow* each : flows_)
      used = used.unite(isl::manage(isl_map_params(each->iterations.copy())));
    all = isl::manage(
        isl_set_move_dims(isl_set_from_params(all.intersect(used).release()), isl_dim_set, 0, isl_dim_param, 0, count));
    if (all.is_empty())
      return {};
    const isl::point least = isl::manage(isl_set_lexmin(all.copy())).sample_point();
    const Point begin = coordinates(least, isl_dim_set, 0, count);
    std::vector<Point> found;
    for (int64_t above = 0; above < 6 && found.size() < mostSizes; ++above) {
      Point at = begin;
      extend(all, begin, above, 0, at, found);
    }
    return found;
  }

  /// All points whose coordinates are `above` larger than the least ones', together.
  void extend(const isl::set& all, const Point& begin, int64_t above, size_t i, Point& at,
              std::vector<Point>& found) const {
    if (found.size() == mostSizes)
      return;
    if (i == begin.size()) {
      if (above != 0)
        return;
      isl::set here = all;
      for (unsigned each = 0; each < at.size(); ++each)
        here = isl::manage(isl_set_fix_si(here.release(), isl_dim_set, each, static_cast<int>(at[each])));
      if (!here.is_empty())
        found.push_back(at);
      return;
    }
    for (int64_t more = i + 1 == begin.size() ? above : 0; more <= above; ++more) {
      at[i] = begin[i] + more;
      extend(all, begin, above - more, i + 1, at, found);
    }
  }

  std::string circleFor(const Point& sizes) const {
    std::map<Instance, std::set<Instance>> uses;
    size_t count = 0;
    for (const Flow* each : flows_) {
      isl::map iterations = each->iterations;
      for (unsigned i = 0; i < sizes.size(); ++i)
        iterations = isl::manage(isl_map_fix_si(iterations.release(), isl_dim_param, i, static_cast<int>(sizes[i])));
      const size_t dimensions = polyhedra_.iterators();
      const isl::set flat = isl::manage(
          isl_map_wrap(isl_map_project_out(iterations.copy(), isl_dim_param, 0, static_cast<unsigned>(sizes.size()))));
      if (flat.is_empty())
        continue;
      const isl::val points = isl::manage(isl_set_count_val(flat.get()));
      if (points.is_null() || points.sgn() < 0 || points.gt(static_cast<long>(mostUses - count)))
        return "";
      flat.foreach_point([&](const isl::point& point) {
        const Point both = coordinates(point, isl_dim_set, 0, 2 * dimensions);
        const auto middle = both.begin() + static_cast<ptrdiff_t>(dimensions);
        uses[{each->to, {middle, both.end()}}].insert({each->from, {both.begin(), middle}});
        ++count;
      });
    }
    std::vector<Instance> shortest;
    size_t tried = 0;
    for (const auto& [start, ignored] : uses) {
      if (++tried > mostCircles || shortest.size() == 1)
        break;
      if (std::vector<Instance> found = back(uses, start);
          !found.empty() && (shortest.empty() || found.size() < shortest.size()))
        shortest = std::move(found);
    }
    return shortest.empty() ? "" : text(shortest, sizes);
  }

  /// The instances on the shortest way from what `start` waits for back to it, it itself first.
  static std::vector<Instance> back(const std::map<Instance, std::set<Instance>>& uses, const Instance& start) {
    std::map<Instance, Instance> from;
    std::vector<Instance> open{start};
    for (size_t next = 0; next < open.size(); ++next) {
      const auto found = uses.find(open[next]);
      if (found == uses.end())
        continue;
      for (const Instance& each : found->second) {
        if (each == start) {
          std::vector<Instance> way{open[next]};
          while (way.back() != start)
            way.push_back(from.at(way.back()));
          std::reverse(way.begin(), way.end());
          return way;
        }
        if (from.try_emplace(each, open[next]).second)
          open.push_back(each);
      }
    }
    return {};
  }

  std::string text(const std::vector<Instance>& way, const Point& sizes) const {
    std::string result;
    for (size_t i = 0; i < sizes.size(); ++i)
      result += (i ? ", " : "") + system_.parameters[i] + " = " + std::to_string(sizes[i]);
    constexpr size_t mostTold = 6;
    for (size_t i = 0; i < way.size(); ++i) {
      if (i == mostTold && way.size() > mostTold + 1) {
        result += ", and so on, " + std::to_string(way.size()) + " in all";
        break;
      }
      result += (i                ? ", "
                 : result.empty() ? ""
                                  : ": ") +
                name(way[i], sizes) + " waits for " +
                (way.size() == 1 ? "itself" : name(way[(i + 1) % way.size()], sizes));
    }
    return result;
  }

  std::string name(const Instance& instance, const Point& sizes) const {
    const Equation& equation = system_.equations[instance.equation];
    std::string list;
    for (const Affine& each : equation.index)
      list += (list.empty() ? "" : ", ") + std::to_string(valueOf(each, instance.iteration, sizes));
    return system_.variables[equation.variable].name + (list.empty() ? "" : "[" + list + "]");
  }

  const System& system_;
  const Polyhedra& polyhedra_;
  std::vector<const Flow*> flows_;
};

} // namespace

std::string circleExample(const System& system, const Polyhedra& polyhedra, const std::vector<Flow>& flows,
                          const Circle& circle) {
  return Search(system, polyhedra, flows, circle).run();
}

} // namespace strata::equations

// The outermost loop that a value outlives an iteration of decides: loops around it need no room, and of it a few
// steps. See storage.h.
#include "compiler/equations/storage.h"

#include <algorithm>

namespace strata::equations {

namespace {

constexpr int64_t mostSteps = 1 << 20; // that are worth a remainder at each access

/// The iterator that a loop runs over; nothing where it runs backwards or over a sum of them.
std::optional<unsigned> iteratorOf(const std::vector<int64_t>& direction) {
  const auto at = std::find(direction.begin(), direction.end(), 1);
  if (at == direction.end() ||
      std::count(direction.begin(), direction.end(), 0) + 1 != static_cast<ptrdiff_t>(direction.size()))
    return std::nullopt;
  return static_cast<unsigned>(at - direction.begin());
}

class Planner {
public:
  Planner(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
          const std::vector<Flow>& flows)
      : system_(system), sets_(polyhedra), times_(times), flows_(flows) {
    const isl::set space = sets_.set(system.space).intersect(sets_.context(system.context));
    for (const Equation& equation : system.equations)
      domains_.push_back(sets_.set(equation.guard).intersect(space));
    for (const Flow& each : flows)
      distances_.push_back(each.iterations.deltas());
  }

  Storage plan(uint32_t variable) const {
    std::vector<size_t> uses; // flows, by number
    for (size_t i = 0; i < flows_.size(); ++i)
      if (system_.equations[flows_[i].from].variable == variable)
        uses.push_back(i);
    if (uses.empty())
      return {};
    const std::vector<unsigned> loops = sharedLoops(variable, uses);
    size_t outermost = loops.size();
    for (const size_t use : uses)
      outermost = std::min(outermost, levelOf(use, loops));
    Storage made;
    made.dimensions = dimensionsOf(variable, {loops.begin(), loops.begin() + static_cast<ptrdiff_t>(outermost)});
    if (outermost < loops.size())
      fold(variable, uses, loops, outermost, made);
    return made;
  }

private:
  bool defines(uint32_t equation, uint32_t variable) const { return system_.equations[equation].variable == variable; }

  /// The iterators of the loops, from the outermost on; none where a definition does not share a use's loops, or is
  /// shifted, or where a loop runs over no single iterator: such times are not looked into further.
  std::vector<unsigned> sharedLoops(uint32_t variable, const std::vector<size_t>& uses) const {
    const Time& first = times_[flows_[uses[0]].to];
    const auto isSame = [&](uint32_t equation) {
      return times_[equation].directions == first.directions && times_[equation].shifts == first.shifts;
    };
    for (uint32_t equation = 0; equation < system_.equations.size(); ++equation)
      if (defines(equation, variable) && !isSame(equation))
        return {};
    std::vector<unsigned> loops;
    for (const size_t use : uses)
      if (!isSame(flows_[use].to))
        return {};
    for (const std::vector<int64_t>& direction : first.directions) {
      const std::optional<unsigned> iterator = iteratorOf(direction);
      if (!iterator)
        return {};
      loops.push_back(*iterator);
    }
    return loops;
  }

  bool isShared(uint32_t a, uint32_t b, size_t level) const {
    return times_[a].places[level] == times_[b].places[level];
  }

  /// Whether uses and definitions always are in the same iteration of an iterator.
  bool staysAt(size_t use, unsigned iterator) const {
    isl_set* const still = isl_set_fix_si(distances_[use].copy(), isl_dim_set, iterator, 0);
    return distances_[use].is_subset(isl::manage(still));
  }

  /// The most iterations of an iterator that a use comes behind the definition; nothing where sizes tell it, or many.
  std::optional<int64_t> farthest(size_t use, unsigned iterator) const {
    const auto count = static_cast<unsigned>(isl_set_dim(distances_[use].get(), isl_dim_param));
    const isl::set all = isl::manage(isl_set_project_out(distances_[use].copy(), isl_dim_param, 0, count));
    if (isl_set_dim_has_upper_bound(all.get(), isl_dim_set, iterator) != isl_bool_true)
      return std::nullopt;
    const isl::val most = isl::manage(isl_set_dim_max_val(all.copy(), static_cast<int>(iterator)));
    if (isl_val_is_int(most.get()) != isl_bool_true || isl_val_cmp_si(most.get(), mostSteps) > 0)
      return std::nullopt;
    return isl_val_get_num_si(most.get());
  }

  /// The outermost loop whose iteration a value outlives: that the use moves along, or that the two do not share.
  size_t levelOf(size_t use, const std::vector<unsigned>& loops) const {
    size_t level = 0;
    while (level < loops.size() && staysAt(use, loops[level]) && isShared(flows_[use].from, flows_[use].to, level))
      ++level;
    return level;
  }

  /// Dimensions of a variable that tell its instances apart, those of one iteration of some loops.
  std::vector<unsigned> dimensionsOf(uint32_t variable, const std::vector<unsigned>& around) const {
    const unsigned rank = system_.variables[variable].rank;
    std::string tuple;
    for (unsigned i = 0; i < rank; ++i)
      tuple += (i ? ", x" : "x") + std::to_string(i);
    std::optional<isl::map> homes; // from instances to the iterations of the loops around
    for (uint32_t equation = 0; equation < system_.equations.size(); ++equation) {
      if (!defines(equation, variable))
        continue;
      std::vector<Affine> outer;
      for (const unsigned iterator : around)
        outer.push_back(identity(system_.iterators.size())[iterator]);
      const isl::map made = sets_.map(system_.equations[equation].index)
                                .intersect_domain(domains_[equation])
                                .reverse()
                                .apply_range(sets_.map(outer));
      homes = homes ? homes->unite(made) : made;
    }
    std::vector<unsigned> kept;
    for (unsigned i = 0; i < rank; ++i)
      kept.push_back(i);
    for (unsigned i = 0; i < rank; ++i) {
      std::vector<unsigned> fewer;
      std::string place;
      for (const unsigned each : kept)
        if (each != i) {
          fewer.push_back(each);
          place += (fewer.size() > 1 ? ", x" : "x") + std::to_string(each);
        }
      const isl::map places = sets_.parsedMap("{ [" + tuple + "] -> [" + place + "] }");
      if (isl::map(isl::manage(isl_map_range_product(homes->copy(), places.copy()))).is_injective())
        kept = fewer;
    }
    return kept;
  }

  /// Keeps a few steps of the loop that values outlive an iteration of, where it runs over one of the dimensions.
  void fold(uint32_t variable, const std::vector<size_t>& uses, const std::vector<unsigned>& loops, size_t outermost,
            Storage& made) const {
    const unsigned iterator = loops[outermost];
    const auto moving = std::find_if(made.dimensions.begin(), made.dimensions.end(),
                                     [&](unsigned each) { return runsOver(variable, each, iterator); });
    if (moving == made.dimensions.end())
      return;
    int64_t most = 0;
    bool areUsesFirst = true;
    for (const size_t use : uses) {
      if (!isShared(flows_[use].from, flows_[use].to, outermost))
        return; // used when the loop has come to its end: all steps
      const std::optional<int64_t> steps = farthest(use, iterator);
      if (!steps)
        return;
      most = std::max(most, *steps);
      if (!staysAt(use, iterator))
        areUsesFirst &= comesFirst(use, variable, loops, outermost);
    }
    made.steps = most + (areUsesFirst ? 0 : 1);
    std::rotate(made.dimensions.begin(), moving, moving + 1);
  }

  /// Whether all definitions have the iterator in a dimension, plus one constant.
  bool runsOver(uint32_t variable, unsigned dimension, unsigned iterator) const {
    std::optional<int64_t> constant;
    for (uint32_t equation = 0; equation < system_.equations.size(); ++equation) {
      if (!defines(equation, variable))
        continue;
      Affine index = system_.equations[equation].index[dimension];
      const int64_t own = index.constant;
      index.constant = 0;
      index.iterators.resize(system_.iterators.size(), 0);
      if (index.iterators != identity(system_.iterators.size())[iterator].iterators ||
          std::any_of(index.parameters.begin(), index.parameters.end(), [](int64_t value) { return value != 0; }) ||
          (constant && *constant != own))
        return false;
      constant = own;
    }
    return true;
  }

  /// Whether a value of so many steps ago is read in front of every definition of this step that would take its place.
  bool comesFirst(size_t number, uint32_t variable, const std::vector<unsigned>& loops, size_t outermost) const {
    const Flow& use = flows_[number];
    for (uint32_t node = 0; node < system_.equations.size(); ++node) {
      if (!defines(node, variable))
        continue;
      if (!isIdentity(system_.equations[node].index, system_.iterators.size()))
        return false; // which iteration takes whose place is not looked into
      if (node == use.to)
        continue;
      const std::vector<size_t>& own = times_[node].places;
      const std::vector<size_t>& other = times_[use.to].places;
      const size_t differs =
          static_cast<size_t>(std::mismatch(own.begin(), own.end(), other.begin()).first - own.begin());
      const bool isBefore = other[differs] < own[differs];
      if (differs < loops.size() && differs > outermost) {
        if (!isBefore)
          return false;
        continue; // all of this step's reads stand in front of all its definitions
      }
      // In one loop: cell by cell.
      if (!isBefore && !domains_[node].intersect(domains_[use.to]).is_empty())
        return false;
    }
    // A read at another place of the inner loops may come when that place has been written.
    for (size_t level = outermost + 1; level < loops.size(); ++level)
      if (!staysAt(number, loops[level]))
        return false;
    return true;
  }

  const System& system_;
  const Polyhedra& sets_;
  const std::vector<Time>& times_;
  const std::vector<Flow>& flows_;
  std::vector<isl::set> domains_;   // by equation
  std::vector<isl::set> distances_; // by flow
};

} // namespace

std::vector<Storage> planStorage(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                                 const std::vector<Flow>& flows) {
  const Planner planner(system, polyhedra, times, flows);
  std::vector<Storage> plans;
  for (uint32_t variable = 0; variable < system.variables.size(); ++variable)
    plans.push_back(system.variables[variable].role == Role::Internal ? planner.plan(variable) : Storage());
  return plans;
}

} // namespace strata::equations

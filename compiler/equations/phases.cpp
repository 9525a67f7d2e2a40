// Phases from the outermost loops inwards: equations that share one are divided together, or step by step, or not at
// all. See phases.h.
#include "compiler/equations/phases.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include <isl/constraint.h>

namespace strata::equations {

namespace {

std::string tuple(char letter, size_t count) {
  std::string text = "[";
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(1, letter) + std::to_string(i);
  return text + "]";
}

std::string momentOf(const Time& time, size_t level, char letter) {
  std::string sum = std::to_string(time.shifts[level]);
  for (size_t i = 0; i < time.directions[level].size(); ++i)
    if (time.directions[level][i] != 0)
      sum += " + " + std::to_string(time.directions[level][i]) + "*" + letter + std::to_string(i);
  return sum;
}

/// Pairs of iterations of two equations that are in the same step of so many loops around.
isl::map sameSteps(const Polyhedra& polyhedra, const Time& from, const Time& to, unsigned level) {
  std::string text = "{ " + tuple('i', polyhedra.iterators()) + " -> " + tuple('j', polyhedra.iterators()) + " : true";
  for (unsigned i = 0; i < level; ++i)
    text += " and " + momentOf(from, i, 'i') + " = " + momentOf(to, i, 'j');
  return polyhedra.parsedMap(text + " }");
}

class Phases {
public:
  Phases(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
         const std::vector<Flow>& flows, const std::vector<Storage>& storage)
      : system_(system), sets_(polyhedra), times_(times), flows_(flows), storage_(storage) {
    const isl::set space = sets_.set(system.space).intersect(sets_.context(system.context));
    for (const Equation& equation : system.equations) {
      domains_.push_back(sets_.set(equation.guard).intersect(space));
      ranks_.push_back(rankOf(domains_.back()));
      most_ = std::max(most_, ranks_.back());
    }
  }

  std::vector<Phase> run() {
    std::vector<uint32_t> all;
    for (uint32_t equation = 0; equation < times_.size(); ++equation)
      all.push_back(equation);
    if (most_ > 0)
      return apart(all, 0);
    return {whole(all, 0)};
  }

private:
  /// How many iterators vary independently for given sizes.
  static int rankOf(const isl::set& domain) {
    if (domain.is_empty())
      return -1;
    const isl::basic_set hull = isl::manage(isl_set_affine_hull(domain.copy()));
    isl_constraint_list* list = isl_basic_set_get_constraint_list(hull.get());
    const int count = isl_constraint_list_n_constraint(list);
    int rank = static_cast<int>(isl_basic_set_dim(hull.get(), isl_dim_set));
    for (int i = 0; i < count; ++i) {
      isl_constraint* constraint = isl_constraint_list_get_constraint(list, i);
      const auto iterators = static_cast<unsigned>(isl_basic_set_dim(hull.get(), isl_dim_set));
      if (isl_constraint_is_equality(constraint) == isl_bool_true &&
          isl_constraint_involves_dims(constraint, isl_dim_set, 0, iterators) == isl_bool_true)
        --rank;
      isl_constraint_free(constraint);
    }
    isl_constraint_list_free(list);
    return rank;
  }

  static Phase whole(std::vector<uint32_t> equations, unsigned level) {
    Phase made;
    made.equations = std::move(equations);
    made.level = level;
    return made;
  }

  /// The groups of equations that share the loop of a level, one after the other.
  std::vector<Phase> apart(const std::vector<uint32_t>& equations, unsigned level) {
    std::map<size_t, std::vector<uint32_t>> groups;
    for (const uint32_t each : equations)
      groups[times_[each].places[level]].push_back(each);
    std::vector<Phase> made;
    for (const auto& [place, group] : groups) {
      Phase next = phaseOf(group, level);
      if (next.kind == Phase::Kind::Whole && !made.empty() && made.back().kind == Phase::Kind::Whole) {
        std::vector<uint32_t>& joined = made.back().equations;
        joined.insert(joined.end(), group.begin(), group.end());
        std::sort(joined.begin(), joined.end());
      } else {
        made.push_back(std::move(next));
      }
    }
    return made;
  }

  bool isDeep(uint32_t equation) const { return ranks_[equation] == most_; }

  Phase phaseOf(const std::vector<uint32_t>& group, unsigned level) {
    Phase made = whole(group, level);
    if (level == system_.iterators.size() ||
        std::none_of(group.begin(), group.end(), [&](uint32_t each) { return isDeep(each); }))
      return made;
    for (const unsigned iterator : candidates(group, level))
      if (divide(made, iterator))
        return made;
    std::vector<Phase> inner = apart(group, level + 1);
    if (inner.size() > 1 || inner.front().kind != Phase::Kind::Whole) {
      made.kind = Phase::Kind::Steps;
      made.inner = std::move(inner);
    }
    return made;
  }

  /// Iterators in the order of the loops that run over them.
  std::vector<unsigned> candidates(const std::vector<uint32_t>& group, unsigned level) const {
    std::vector<unsigned> found;
    const Time& time = times_[*std::find_if(group.begin(), group.end(), [&](uint32_t each) { return isDeep(each); })];
    for (size_t loop = level; loop < time.directions.size(); ++loop)
      for (unsigned i = 0; i < time.directions[loop].size(); ++i)
        if (time.directions[loop][i] != 0 && std::find(found.begin(), found.end(), i) == found.end())
          found.push_back(i);
    return found;
  }

  /// Makes parts of a phase, each with some values of an iterator, where that changes no value.
  bool divide(Phase& phase, unsigned iterator) const {
    const std::vector<uint32_t>& group = phase.equations;
    const auto isInside = [&](uint32_t each) { return std::binary_search(group.begin(), group.end(), each); };
    const isl::map differs = apartAlong(iterator);
    for (const uint32_t each : group) {
      const isl::map pairs = isl::manage(isl_map_from_domain_and_range(domains_[each].copy(), domains_[each].copy()));
      if (isDeep(each) &&
          pairs.intersect(sameSteps(sets_, times_[each], times_[each], phase.level)).intersect(differs).is_empty())
        return false; // there is one value of it
    }
    for (const Flow& each : flows_)
      if (isInside(each.from) && isInside(each.to) &&
          !each.iterations.intersect(sameSteps(sets_, times_[each.from], times_[each.to], phase.level))
               .intersect(differs)
               .is_empty())
        return false;
    std::vector<uint32_t> own;
    for (uint32_t variable = 0; variable < system_.variables.size(); ++variable) {
      if (system_.variables[variable].role != Role::Internal || !meets(variable, group, phase.level, differs))
        continue;
      if (!isLocal(variable, group, phase.level))
        return false;
      own.push_back(variable);
    }
    phase.kind = Phase::Kind::Parts;
    phase.iterator = iterator;
    phase.own = std::move(own);
    phase.isAlongRows = std::any_of(group.begin(), group.end(),
                                    [&](uint32_t each) { return isDeep(each) && writesAlong(each, iterator); });
    phase.isEven = std::all_of(group.begin(), group.end(),
                               [&](uint32_t each) { return !isDeep(each) || isEven(each, iterator, phase.level); });
    return true;
  }

  /// Whether an equation writes elements of one row of several for neighbouring values of an iterator.
  bool writesAlong(uint32_t number, unsigned iterator) const {
    const Equation& equation = system_.equations[number];
    const std::vector<unsigned>& kept = storage_[equation.variable].dimensions;
    const bool isOutput = system_.variables[equation.variable].role == Role::Output;
    if ((isOutput ? equation.index.size() : kept.size()) < 2)
      return false;
    const Affine& last = equation.index[isOutput ? equation.index.size() - 1 : kept.back()];
    return iterator < last.iterators.size() && last.iterators[iterator] != 0;
  }

  isl::map apartAlong(unsigned iterator) const {
    const std::string number = std::to_string(iterator),
                      pair = tuple('i', sets_.iterators()) + " -> " + tuple('j', sets_.iterators()) + " : ";
    return sets_.parsedMap("{ " + pair + "i" + number + " < j" + number + "; " + pair + "i" + number + " > j" + number +
                           " }");
  }

  /// Whether two iterations of a group, in one step and of different parts, reach one cell of a variable, and one of
  /// them writes it.
  bool meets(uint32_t variable, const std::vector<uint32_t>& group, unsigned level, const isl::map& differs) const {
    std::vector<std::pair<uint32_t, isl::map>> writes, all;
    for (const uint32_t each : group) {
      const Equation& equation = system_.equations[each];
      if (equation.variable == variable)
        writes.emplace_back(each, cellOf(variable, equation.index).intersect_domain(domains_[each]));
      eachElement(equation.value, [&](const Expression& element) {
        if (element.variable == variable)
          all.emplace_back(each, cellOf(variable, element.index).intersect_domain(domains_[each]));
      });
    }
    all.insert(all.end(), writes.begin(), writes.end());
    for (const auto& [from, written] : writes)
      for (const auto& [to, reached] : all)
        if (!written.apply_range(reached.reverse())
                 .intersect(sameSteps(sets_, times_[from], times_[to], level))
                 .intersect(differs)
                 .is_empty())
          return true;
    return false;
  }

  /// From iterations to cells of a variable's storage.
  isl::map cellOf(uint32_t variable, const std::vector<Affine>& index) const {
    const Storage& storage = storage_[variable];
    std::vector<Affine> kept;
    for (const unsigned dimension : storage.dimensions)
      kept.push_back(index[dimension]);
    const isl::map instances = sets_.map(kept);
    if (storage.steps == 0 || kept.empty())
      return instances;
    const std::string folded = "(x0) mod " + std::to_string(storage.steps);
    std::string cell = folded;
    for (size_t i = 1; i < kept.size(); ++i)
      cell += ", x" + std::to_string(i);
    return instances.apply_range(sets_.parsedMap("{ " + tuple('x', kept.size()) + " -> [" + cell + "] }"));
  }

  /// Whether all that is defined or used of a variable in a group is used and defined there, in the same step.
  bool isLocal(uint32_t variable, const std::vector<uint32_t>& group, unsigned level) const {
    const auto isInside = [&](uint32_t each) { return std::binary_search(group.begin(), group.end(), each); };
    return std::all_of(flows_.begin(), flows_.end(), [&](const Flow& each) {
      if (system_.equations[each.from].variable != variable || (!isInside(each.from) && !isInside(each.to)))
        return true;
      return isInside(each.from) && isInside(each.to) &&
             each.iterations.is_subset(sameSteps(sets_, times_[each.from], times_[each.to], level));
    });
  }

  /// Whether the other iterators' values are the same for all of one's, within a step.
  bool isEven(uint32_t equation, unsigned iterator, unsigned level) const {
    isl::set others = isl::manage(isl_set_eliminate(domains_[equation].copy(), isl_dim_set, iterator, 1));
    isl::set own = domains_[equation];
    for (unsigned i = 0; i < system_.iterators.size(); ++i) {
      bool isStep = false;
      for (unsigned loop = 0; loop < level; ++loop)
        isStep |= times_[equation].directions[loop][i] != 0;
      if (i != iterator && !isStep)
        own = isl::manage(isl_set_eliminate(own.release(), isl_dim_set, i, 1));
    }
    return others.intersect(own).is_subset(domains_[equation]);
  }

  const System& system_;
  const Polyhedra& sets_;
  const std::vector<Time>& times_;
  const std::vector<Flow>& flows_;
  const std::vector<Storage>& storage_;
  std::vector<isl::set> domains_; // by equation
  std::vector<int> ranks_;        // of these
  int most_ = 0;
};

} // namespace

std::vector<Phase> planPhases(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                              const std::vector<Flow>& flows, const std::vector<Storage>& storage) {
  return Phases(system, polyhedra, times, flows, storage).run();
}

bool isDivided(const System& system) {
  const auto hasParts = [](auto&& self, const std::vector<Phase>& phases) -> bool {
    return std::any_of(phases.begin(), phases.end(),
                       [&](const Phase& each) { return each.kind == Phase::Kind::Parts || self(self, each.inner); });
  };
  if (system.equations.empty())
    return false;
  try {
    const Polyhedra polyhedra(system.iterators.size(), system.parameters.size());
    const std::vector<Flow> all = flows(system, polyhedra);
    Circle circle;
    const auto times = order(system, polyhedra, all, circle);
    return times &&
           hasParts(hasParts, planPhases(system, polyhedra, *times, all, planStorage(system, polyhedra, *times, all)));
  } catch (const isl::exception&) {
    return false;
  }
}

std::vector<bool> outliving(const System& system, const Polyhedra& polyhedra, const std::vector<Time>& times,
                            const std::vector<Flow>& flows, const std::vector<Phase>& phases) {
  std::vector<const Phase*> phaseOf(system.equations.size());
  const std::function<void(const std::vector<Phase>&)> note = [&](const std::vector<Phase>& all) {
    for (const Phase& each : all) {
      for (const uint32_t equation : each.equations)
        phaseOf[equation] = &each;
      note(each.inner);
    }
  };
  note(phases);
  std::vector<bool> found(system.variables.size());
  for (const Flow& each : flows) {
    const Phase* phase = phaseOf[each.from];
    found[system.equations[each.from].variable] =
        found[system.equations[each.from].variable] || phase != phaseOf[each.to] ||
        !each.iterations.is_subset(sameSteps(polyhedra, times[each.from], times[each.to], phase->level));
  }
  return found;
}

} // namespace strata::equations

// See oracle.h. A polyhedral syntax tree is kept as its leaves: each fragment with the iterations that it stands in,
// equal fragments united, as the tree wants it.
#include "tests/array/oracle.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>

namespace strata::array::oracle {

namespace {

struct Release {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};

int64_t floorDivision(int64_t value, int64_t divisor) {
  return value / divisor - (value % divisor < 0);
}
int64_t ceilDivision(int64_t value, int64_t divisor) {
  return -floorDivision(-value, divisor);
}

/// A leaf's attributes with those of the nodes above it.
struct Fragment {
  static constexpr size_t mnemonic = 0, destination = 1, operand = 2; // operand + n: the n-th
  uint32_t unit = 0;
  int64_t time = 0; // the offset; in a folded tree the slot
  Opcode opcode = Opcode::Nop;
  Type type = Type::Int32, operandType = Type::Int32;
  size_t part = mnemonic;
  Operand value;
  friend auto operator<=>(const Fragment&, const Fragment&) = default;
};

/// Before specialisation: from elements to iterations of their tiles.
using Tree = std::map<Fragment, isl::map>;
/// Of one element and unit.
using Specialized = std::map<Fragment, isl::set>;

void unite(Specialized& tree, const Fragment& fragment, const isl::set& set) {
  const auto [found, isNew] = tree.try_emplace(fragment, set);
  if (!isNew)
    found->second = found->second.unite(set);
}

std::string list(const char* letter, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(letter) + std::to_string(i);
  return "[" + text + "]";
}

std::vector<int64_t> coordinates(const isl::point& point) {
  std::vector<int64_t> values;
  const isl::set set(point);
  const auto dimensions = static_cast<int>(isl_set_dim(set.get(), isl_dim_set));
  for (int i = 0; i < dimensions; ++i)
    values.push_back(isl_val_get_num_si(isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, i)).get()));
  return values;
}

/// Algorithm 1: the space cut by every condition. What isl 0.25 makes of sets with `mod` by coalescing is right, but
/// its differences with them are not always; therefore nothing is coalesced that a difference is taken with.
std::vector<isl::set> partition(const isl::set& space, const std::vector<isl::set>& conditions) {
  std::vector<isl::set> parts = {space};
  for (const isl::set& condition : conditions) {
    std::vector<isl::set> finer;
    for (const isl::set& part : parts)
      for (const isl::set& half : {part.intersect(condition), part.subtract(condition)})
        if (!half.is_empty())
          finer.push_back(half);
    parts = std::move(finer);
  }
  return parts;
}

void addNew(std::vector<isl::set>& sets, const isl::set& set) {
  if (std::none_of(sets.begin(), sets.end(), [&](const isl::set& each) { return each.is_equal(set); }))
    sets.push_back(set);
}

class Instantiation {
public:
  Instantiation(const Symbolic& symbolic, const machine::ProcessorArray& array, const InstantiationOptions& options)
      : symbolic_(symbolic), array_(array), options_(options) {
    made_.context = std::shared_ptr<isl_ctx>(isl_ctx_alloc(), Release());
  }
  Result run() {
    try {
      if (concretize()) {
        tree();
        classes();
      }
    } catch (const isl::exception& error) {
      refuse(error.what());
    }
    if (!made_.error.empty())
      made_.programs.clear();
    return std::move(made_);
  }

private:
  bool refuse(const std::string& why) {
    if (made_.error.empty())
      made_.error = why;
    return false;
  }
  isl::set set(const std::string& text) const { return isl::set(isl::ctx(made_.context.get()), text); }
  isl::map map(const std::string& text) const { return isl::map(isl::ctx(made_.context.get()), text); }
  size_t loops() const { return symbolic_.loops.size(); }

  bool concretize();
  int64_t ofParameters(const Linear& value) const;
  std::string text(const Linear& value, const std::vector<int64_t>& shift) const;
  std::string text(const Condition& condition, const std::vector<int64_t>& shift) const;
  isl::map iterations(const Term& term) const;
  isl::map iterations(const std::vector<Term>& terms) const;
  void tree();
  void patterns(const isl::map& leaf, std::vector<isl::set>& domains) const;
  void classes();
  isl::map successor(int64_t steps) const;
  Specialized fold(const isl::set& element, uint32_t unit) const;
  std::vector<Functional> evaluate(const Specialized& folded, const isl::set& iteration);
  UnitProgram controlFlow(const Specialized& folded);

  const Symbolic& symbolic_;
  const machine::ProcessorArray& array_;
  const InstantiationOptions& options_;
  Result made_;
  std::vector<int64_t> lower_, upper_;
  isl::set elements_; // [row, column]
  isl::set all_;      // iterations over the lengthened extents
  isl::map tiles_;    // from elements to the iterations of their tiles that the loop program has
  Tree tree_;
  std::map<int64_t, isl::map> successors_; // by steps
};

int64_t Instantiation::ofParameters(const Linear& value) const {
  return std::inner_product(value.parameters.begin(), value.parameters.end(), options_.sizes.begin(), value.constant);
}

bool Instantiation::concretize() {
  if (options_.sizes.size() != symbolic_.parameters.size())
    return refuse("a size for each parameter is needed");
  made_.rows = options_.rows;
  made_.columns = options_.columns;
  std::string inTile;
  for (size_t i = 0; i < loops(); ++i) {
    const Loop& loop = symbolic_.loops[i];
    int64_t lower = INT64_MIN, upper = INT64_MAX;
    for (const Bound& bound : loop.lower)
      lower = std::max(lower, ceilDivision(ofParameters(bound.value), bound.divisor));
    for (const Bound& bound : loop.upper)
      upper = std::min(upper, floorDivision(ofParameters(bound.value), bound.divisor));
    if (upper < lower)
      return refuse("loop " + loop.name + " has no iterations");
    const int64_t count = i == symbolic_.rowLoop ? options_.rows : i == symbolic_.columnLoop ? options_.columns : 1;
    const int64_t extent = upper - lower + 1;
    int64_t tile = i < options_.tile.size() ? options_.tile[i] : 0;
    if (tile == 0)
      tile = ceilDivision(extent, count);
    if (tile < ceilDivision(extent, count))
      return refuse("the tiles of loop " + loop.name + " do not cover it");
    // Elements for which no tile is left are not in the configuration.
    if (i == symbolic_.rowLoop)
      made_.rows = static_cast<uint32_t>(ceilDivision(extent, tile));
    if (i == symbolic_.columnLoop)
      made_.columns = static_cast<uint32_t>(ceilDivision(extent, tile));
    lower_.push_back(lower);
    upper_.push_back(upper);
    made_.tile.push_back(tile);
    made_.iterations.push_back(extent);
  }

  made_.extents = made_.tile;
  const int64_t inner =
      std::accumulate(made_.tile.begin() + 1, made_.tile.end(), int64_t{1}, std::multiplies<int64_t>());
  int64_t lastStage = 0;
  for (const SymbolicInstruction& each : symbolic_.instructions)
    lastStage = std::max(lastStage, each.offset / symbolic_.interval);
  made_.extents[0] += ceilDivision(lastStage, inner);

  elements_ = set("{ [r, c] : 0 <= r < " + std::to_string(made_.rows) + " and 0 <= c < " +
                  std::to_string(made_.columns) + " }");
  std::string all, tiles;
  for (size_t i = 0; i < loops(); ++i) {
    const std::string name = "j" + std::to_string(i);
    std::string iteration = std::to_string(lower_[i]) + " + " + name;
    if (i == symbolic_.rowLoop)
      iteration += " + " + std::to_string(made_.tile[i]) + "*r";
    if (i == symbolic_.columnLoop)
      iteration += " + " + std::to_string(made_.tile[i]) + "*c";
    all += (i ? " and 0 <= " : "0 <= ") + name + " < " + std::to_string(made_.extents[i]);
    tiles += (i ? " and 0 <= " : "0 <= ") + name + " < " + std::to_string(made_.tile[i]) + " and " + iteration +
             " <= " + std::to_string(upper_[i]);
  }
  all_ = set("{ " + list("j", loops()) + " : " + all + " }");
  tiles_ = map("{ [r, c] -> " + list("j", loops()) + " : " + tiles + " }").intersect_domain(elements_);
  return true;
}

/// At I + shift, where I = L + P·K + J, over r, c and J.
std::string Instantiation::text(const Linear& value, const std::vector<int64_t>& shift) const {
  int64_t constant = ofParameters(value), row = 0, column = 0;
  std::string terms;
  for (size_t i = 0; i < loops(); ++i) {
    const int64_t factor = value.loops[i];
    constant += factor * (lower_[i] + (shift.empty() ? 0 : shift[i]));
    if (i == symbolic_.rowLoop)
      row = factor * made_.tile[i];
    if (i == symbolic_.columnLoop)
      column = factor * made_.tile[i];
    if (factor != 0)
      terms += " + " + std::to_string(factor) + "*j" + std::to_string(i);
  }
  return std::to_string(constant) + " + " + std::to_string(row) + "*r + " + std::to_string(column) + "*c" + terms;
}

std::string Instantiation::text(const Condition& condition, const std::vector<int64_t>& shift) const {
  const std::string value = text(condition.value, shift);
  switch (condition.kind) {
  case Condition::Kind::NotNegative:
    return value + " >= 0";
  case Condition::Kind::Zero:
    return value + " = 0";
  case Condition::Kind::Divisible:
    return "(" + value + ") mod " + std::to_string(condition.modulus) + " = 0";
  case Condition::Kind::NotDivisible:
    return "(" + value + ") mod " + std::to_string(condition.modulus) + " >= 1";
  }
  return "false";
}

isl::map Instantiation::iterations(const Term& term) const {
  const std::string tuples = "{ [r, c] -> " + list("j", loops()) + " : ";
  isl::map made = map(tuples + "false }");
  for (const std::vector<uint32_t>& piece : symbolic_.spaces[term.space].pieces) {
    std::string conditions = "true";
    for (const uint32_t each : piece)
      conditions += " and " + text(symbolic_.conditions[each], term.shift);
    made = made.unite(map(tuples + conditions + " }"));
  }
  std::string crossing = "true";
  for (size_t i = 0; i < term.crossing.size(); ++i)
    if (i == symbolic_.rowLoop || i == symbolic_.columnLoop) {
      // floor((j + step) / P) is the crossing.
      const int64_t first = term.crossing[i] * made_.tile[i];
      const int64_t step = term.step.empty() ? 0 : term.step[i];
      crossing += " and " + std::to_string(first) + " <= j" + std::to_string(i) + " + " + std::to_string(step) + " < " +
                  std::to_string(first + made_.tile[i]);
    }
  return made.intersect(map(tuples + crossing + " }")).intersect(tiles_);
}

isl::map Instantiation::iterations(const std::vector<Term>& terms) const {
  isl::map made = map("{ [r, c] -> " + list("j", loops()) + " : false }");
  for (const Term& term : terms)
    made = made.unite(iterations(term));
  return made;
}

void Instantiation::tree() {
  const auto add = [&](const Fragment& fragment, const isl::map& where) {
    const auto [found, isNew] = tree_.try_emplace(fragment, where);
    if (!isNew)
      found->second = found->second.unite(where);
  };
  for (const SymbolicInstruction& each : symbolic_.instructions) {
    if (each.opcode == Opcode::Nop)
      continue;
    const isl::map when = iterations(each.when);
    Fragment fragment{each.unit, each.offset, each.opcode, each.type, each.operandType, Fragment::mnemonic, {}};
    add(fragment, when);
    fragment.part = Fragment::destination;
    for (const Destination& destination : each.destinations) {
      fragment.value = {destination.reg, 0};
      add(fragment, iterations(destination.when).intersect(when));
    }
    for (size_t i = 0; i < each.operands.size(); ++i) {
      fragment.part = Fragment::operand + i;
      for (const Source& source : each.operands[i]) {
        fragment.value = source.value;
        add(fragment, iterations(source.when).intersect(when));
      }
    }
  }
}

/// The inter-tile domains of a leaf: elements for which it leaves the same iterations of the tile.
void Instantiation::patterns(const isl::map& leaf, std::vector<isl::set>& domains) const {
  isl::set left = elements_;
  while (!left.is_empty()) {
    const isl::set element(left.sample_point());
    const isl::set iterations = leaf.intersect_domain(element).range();
    const isl::map same = isl::manage(isl_map_from_domain_and_range(elements_.copy(), iterations.copy()));
    const isl::set others = leaf.subtract(same).domain().unite(same.subtract(leaf).domain());
    const isl::set domain = left.subtract(others);
    addNew(domains, domain);
    left = left.subtract(domain);
  }
}

void Instantiation::classes() {
  std::vector<isl::set> domains;
  for (const auto& [fragment, leaf] : tree_)
    patterns(leaf, domains);
  uint32_t units = 0;
  for (const machine::FunctionalUnit& each : array_.units)
    units += static_cast<uint32_t>(each.count);
  successors_.emplace(1, successor(1));
  for (const SymbolicInstruction& each : symbolic_.instructions)
    if (const int64_t stage = each.offset / symbolic_.interval; !successors_.contains(stage))
      successors_.emplace(stage, successor(stage));

  made_.elementClass.assign(size_t{made_.rows} * made_.columns, 0);
  for (const isl::set& part : partition(elements_, domains)) {
    part.foreach_point([&](const isl::point& point) {
      const std::vector<int64_t> at = coordinates(point);
      made_.elementClass[static_cast<size_t>(at[0]) * made_.columns + static_cast<size_t>(at[1])] =
          made_.programs.size();
    });
    std::vector<UnitProgram>& programs = made_.programs.emplace_back();
    for (uint32_t unit = 0; unit < units; ++unit)
      programs.push_back(controlFlow(fold(isl::set(part.sample_point()), unit)));
  }
}

/// From an iteration to the one that comes so many later, in lexicographic order over the extents: the digits of
/// `steps` are added, with a carry or without one out of every dimension but the outermost.
isl::map Instantiation::successor(int64_t steps) const {
  const size_t dimensions = loops();
  std::vector<int64_t> digits(dimensions);
  for (size_t i = dimensions; i-- > 1; steps /= made_.extents[i])
    digits[i] = steps % made_.extents[i];
  digits[0] = steps;
  isl::map made = map("{ " + list("j", dimensions) + " -> " + list("n", dimensions) + " : false }");
  for (uint64_t carries = 0; carries < uint64_t{1} << dimensions; carries += 2) { // bit i: out of dimension i
    std::string conditions = "true";
    for (size_t i = 0; i < dimensions; ++i) {
      const int64_t into = i + 1 < dimensions ? carries >> (i + 1) & 1 : 0;
      const int64_t out = carries >> i & 1;
      conditions += " and n" + std::to_string(i) + " = j" + std::to_string(i) + " + " +
                    std::to_string(digits[i] + into - out * made_.extents[i]);
    }
    made = made.unite(map("{ " + list("j", dimensions) + " -> " + list("n", dimensions) + " : " + conditions + " }"));
  }
  return made.intersect_domain(all_).intersect_range(all_);
}

/// Algorithm 2, of the leaves: to the slots of the kernels that issue them.
Specialized Instantiation::fold(const isl::set& element, uint32_t unit) const {
  Specialized folded;
  for (const auto& [fragment, leaf] : tree_) {
    if (fragment.unit != unit)
      continue;
    const isl::set where = leaf.intersect_domain(element).range();
    if (where.is_empty())
      continue;
    Fragment moved = fragment;
    moved.time = fragment.time % symbolic_.interval;
    unite(folded, moved, where.apply(successors_.at(fragment.time / symbolic_.interval)));
  }
  return folded;
}

/// The folded tree at one iteration, as instructions.
std::vector<Functional> Instantiation::evaluate(const Specialized& folded, const isl::set& iteration) {
  std::vector<Functional> made(static_cast<size_t>(symbolic_.interval));
  std::vector<size_t> known(made.size(), 0); // operands
  for (const auto& [fragment, where] : folded) {
    if (!iteration.is_subset(where))
      continue;
    Functional& functional = made[static_cast<size_t>(fragment.time)];
    const std::string place =
        "unit " + std::to_string(fragment.unit) + ", slot " + std::to_string(fragment.time) + ": ";
    if (fragment.part == Fragment::mnemonic) {
      if (functional.opcode != Opcode::Nop)
        refuse(place + "two instructions at once");
      functional = {fragment.opcode, fragment.type, fragment.operandType, {}, {}};
      functional.sources.resize(operands(fragment.opcode));
      known[static_cast<size_t>(fragment.time)] = 0;
    } else if (fragment.part == Fragment::destination) {
      functional.destinations.push_back(fragment.value.source);
    } else {
      const size_t operand = fragment.part - Fragment::operand;
      if (operand != known[static_cast<size_t>(fragment.time)]++ || operand >= functional.sources.size()) {
        refuse(place + "operand " + std::to_string(operand) + " is not one value");
        continue;
      }
      functional.sources[operand] = fragment.value;
    }
  }
  for (size_t slot = 0; slot < made.size(); ++slot) {
    if (known[slot] != made[slot].sources.size())
      refuse("slot " + std::to_string(slot) + ": an operand has no value");
    std::sort(made[slot].destinations.begin(), made[slot].destinations.end());
  }
  return made;
}

/// Kernel classes, then algorithm 3.
UnitProgram Instantiation::controlFlow(const Specialized& folded) {
  UnitProgram made;
  std::vector<isl::set> conditions;
  for (const auto& [fragment, where] : folded)
    addNew(conditions, where);
  for (const isl::set& part : partition(all_, conditions)) {
    const isl::set first = part.lexmin();
    made.kernels.push_back({part, coordinates(first.sample_point()), evaluate(folded, first)});
  }
  std::sort(made.kernels.begin(), made.kernels.end(),
            [](const Kernel& a, const Kernel& b) { return a.first < b.first; });
  const isl::map& next = successors_.at(1);
  for (size_t from = 0; from < made.kernels.size(); ++from)
    for (size_t to = 0; to < made.kernels.size(); ++to) {
      const isl::set leaving =
          made.kernels[from].iterations.intersect(made.kernels[to].iterations.apply(next.reverse()));
      if (!leaving.is_empty())
        made.edges.push_back({from, to, leaving.coalesce()});
    }
  return made;
}

} // namespace

bool Kernel::isEmpty() const {
  return std::all_of(instructions.begin(), instructions.end(),
                     [](const Functional& each) { return each.opcode == Opcode::Nop; });
}

Result instantiate(const Symbolic& symbolic, const machine::ProcessorArray& array,
                   const InstantiationOptions& options) {
  return Instantiation(symbolic, array, options).run();
}

} // namespace strata::array::oracle

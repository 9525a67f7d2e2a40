// Conditions become atoms: a condition at one shift, whose value in a tile is that of the first tile and multiples of
// row and column. Whether an atom is decided throughout a rectangle of tiles takes two comparisons.
#include "runtime/array/processor_classes.h"

#include <algorithm>
#include <utility>

namespace strata::array {

TermSets::TermSets(const Symbolic& symbolic, const Tiling& tiling, Diagrams& diagrams)
    : symbolic_(symbolic), tiling_(tiling), diagrams_(diagrams) {
  const size_t loops = symbolic.loops.size();
  std::vector<Range> ranges;
  for (const int64_t extent : tiling.tile)
    ranges.push_back({0, extent});
  tile_ = diagrams.box(ranges);
  for (size_t l = 0; l < loops; ++l) {
    if (tiling.tile[l] * tiling.tiles(l) == tiling.count[l])
      continue;
    Condition last; // lower + count - 1 - I >= 0
    last.value.loops.assign(loops, 0);
    last.value.loops[l] = -1;
    last.value.parameters.assign(symbolic.parameters.size(), 0);
    last.value.constant = tiling.lower[l] + tiling.count[l] - 1;
    bounds_.push_back(atom(last, std::vector<int64_t>(loops, 0)));
  }
}

uint32_t TermSets::atom(const Condition& condition, const std::vector<int64_t>& shift) {
  Atom result;
  result.kind = condition.kind;
  result.modulus = condition.modulus;
  result.factors = condition.value.loops;
  CheckedSum constant;
  constant.add(condition.value.constant);
  for (size_t p = 0; p < tiling_.sizes.size(); ++p)
    constant.add(condition.value.parameters[p], tiling_.sizes[p]);
  for (size_t l = 0; l < result.factors.size(); ++l) {
    constant.add(result.factors[l], tiling_.lower[l]);
    constant.add(result.factors[l], shift[l]);
  }
  result.constant = constant.value();
  CheckedSum magnitude;
  magnitude.add(std::abs(result.constant));
  for (size_t l = 0; l < result.factors.size(); ++l) {
    const int64_t factor = std::abs(result.factors[l]);
    magnitude.add(factor, tiling_.extents[l]);
    CheckedSum perTile;
    perTile.add(factor, tiling_.tile[l]);
    magnitude.add(perTile.value(), tiling_.tiles(l));
    fits_ = fits_ && perTile.fits();
  }
  fits_ = fits_ && constant.fits() && magnitude.fits();
  if (!fits_)
    result.factors.assign(result.factors.size(), 0);
  std::vector<int64_t> key = {static_cast<int64_t>(result.kind), result.modulus, result.constant};
  key.insert(key.end(), result.factors.begin(), result.factors.end());
  const auto [found, isNew] = knownAtoms_.try_emplace(std::move(key), static_cast<uint32_t>(atoms_.size()));
  if (!isNew)
    return found->second;
  result.least = result.most = result.constant;
  for (size_t l = 0; l < result.factors.size(); ++l) {
    const int64_t far = result.factors[l] * (tiling_.tile[l] - 1);
    (far < 0 ? result.least : result.most) += far;
    if (l == tiling_.rowLoop)
      result.rowFactor = result.factors[l] * tiling_.tile[l];
    if (l == tiling_.columnLoop)
      result.columnFactor = result.factors[l] * tiling_.tile[l];
  }
  atoms_.push_back(std::move(result));
  return found->second;
}

uint32_t TermSets::shifted(uint32_t space, const std::vector<int64_t>& shift) {
  std::vector<int64_t> key = {space};
  key.insert(key.end(), shift.begin(), shift.end());
  const auto [found, isNew] = knownShifted_.try_emplace(std::move(key), static_cast<uint32_t>(shifted_.size()));
  if (!isNew)
    return found->second;
  Shifted result;
  for (const std::vector<uint32_t>& piece : symbolic_.spaces[space].pieces) {
    std::vector<uint32_t>& atoms = result.pieces.emplace_back();
    for (const uint32_t condition : piece)
      atoms.push_back(atom(symbolic_.conditions[condition], shift));
  }
  shifted_.push_back(std::move(result));
  return found->second;
}

Diagrams::Set TermSets::crossing(const Term& term) {
  std::vector<Range> ranges;
  for (size_t l = 0; l < tiling_.extents.size(); ++l) {
    const bool isDistributed = l == tiling_.rowLoop || l == tiling_.columnLoop;
    if (!isDistributed || term.crossing.empty()) {
      ranges.push_back({0, tiling_.extents[l]});
      continue;
    }
    const int64_t step = term.step.empty() ? 0 : term.step[l], tile = tiling_.tile[l];
    ranges.push_back({term.crossing[l] * tile - step, (term.crossing[l] + 1) * tile - step});
  }
  return diagrams_.box(ranges);
}

uint32_t TermSets::part(const Term& term) {
  const uint32_t space = shifted(term.space, term.shift);
  std::vector<int64_t> key = {space};
  if (!term.crossing.empty()) {
    key.insert(key.end(), term.step.begin(), term.step.end());
    key.insert(key.end(), term.crossing.begin(), term.crossing.end());
  }
  const auto [found, isNew] = knownParts_.try_emplace(std::move(key), static_cast<uint32_t>(parts_.size()));
  if (isNew)
    parts_.push_back({space, crossing(term)});
  return found->second;
}

uint32_t TermSets::list(const std::vector<Term>& terms) {
  std::vector<uint32_t> result;
  for (const Term& term : terms)
    result.push_back(part(term));
  std::ranges::sort(result);
  const auto repeated = std::ranges::unique(result);
  result.erase(repeated.begin(), repeated.end());
  const auto [found, isNew] = knownLists_.try_emplace(result, static_cast<uint32_t>(lists_.size()));
  if (isNew)
    lists_.push_back(std::move(result));
  return found->second;
}

uint32_t TermSets::add(std::vector<Piece> pieces) {
  std::ranges::sort(pieces);
  const auto repeated = std::ranges::unique(pieces);
  pieces.erase(repeated.begin(), repeated.end());
  const auto [found, isNew] = knownUnions_.try_emplace(pieces, static_cast<uint32_t>(unions_.size()));
  if (isNew)
    unions_.push_back(std::move(pieces));
  return found->second;
}

namespace {

/// Where value + factor · k >= 0 changes: it holds on one side of the result and not on the other, which begins there.
int64_t turningPoint(int64_t value, int64_t factor) {
  return factor > 0 ? ceilDivide(-value, factor) : floorDivide(value, -factor) + 1;
}

} // namespace

/// Sets the state where it is the same in all tiles of the rectangle, or says where to cut.
std::optional<TermSets::Cut> TermSets::decide(const Atom& atom, Range rows, Range columns, State& state,
                                              bool& isExact) const {
  const int64_t height = rows.end - rows.first, width = columns.end - columns.first;
  const bool isModular = atom.modulus != 0;
  const bool byRow = height > 1 && (isModular ? atom.rowFactor % atom.modulus : atom.rowFactor) != 0;
  const bool byColumn = width > 1 && (isModular ? atom.columnFactor % atom.modulus : atom.columnFactor) != 0;
  isExact = false;
  if (!isModular) {
    int64_t least = atom.least, most = atom.most;
    for (const auto& [factor, range] : {std::pair(atom.rowFactor, rows), std::pair(atom.columnFactor, columns)}) {
      const auto [low, high] = std::minmax({factor * range.first, factor * (range.end - 1)});
      least += low;
      most += high;
    }
    const bool isInequality = atom.kind == Condition::Kind::NotNegative;
    state = isInequality && least >= 0                 ? State::True
            : most < 0 || (!isInequality && least > 0) ? State::False
                                                       : State::Open;
    if (state != State::Open)
      return std::nullopt;
    if (byRow != byColumn) {
      const Range range = byRow ? rows : columns;
      const int64_t factor = byRow ? atom.rowFactor : atom.columnFactor;
      const int64_t other = byRow ? atom.columnFactor * columns.first : atom.rowFactor * rows.first;
      const int64_t low = atom.least + other, high = atom.most + other;
      for (const int64_t at :
           {turningPoint(high, factor), isInequality ? turningPoint(low, factor) : turningPoint(-low, -factor)})
        if (at > range.first && at < range.end) {
          isExact = true;
          return Cut{byRow, at};
        }
    }
  }
  if (!byRow && !byColumn) {
    state = State::Mixed;
    return std::nullopt;
  }
  const bool isRow = byRow && (!byColumn || height >= width);
  const Range range = isRow ? rows : columns;
  return Cut{isRow, range.first + (range.end - range.first) / 2};
}

Diagrams::Set TermSets::evaluate(Atom& atom, State state, int64_t row, int64_t column) {
  if (state != State::Mixed)
    return state == State::True ? diagrams_.all() : Diagrams::none;
  int64_t constant = atom.constant + row * atom.rowFactor + column * atom.columnFactor;
  if (atom.modulus != 0)
    constant = ((constant % atom.modulus) + atom.modulus) % atom.modulus;
  const auto [found, isNew] = atom.known.try_emplace(constant, Diagrams::none);
  if (!isNew)
    return found->second;
  switch (atom.kind) {
  case Condition::Kind::NotNegative:
    return found->second = diagrams_.notNegative(atom.factors, constant);
  case Condition::Kind::Zero:
    return found->second = diagrams_.divisible(atom.factors, constant, 0);
  case Condition::Kind::Divisible:
    return found->second = diagrams_.divisible(atom.factors, constant, atom.modulus);
  case Condition::Kind::NotDivisible:
    return found->second =
               diagrams_.subtract(diagrams_.all(), diagrams_.divisible(atom.factors, constant, atom.modulus));
  }
  return Diagrams::none;
}

std::vector<Diagrams::Set> TermSets::evaluate(const std::vector<State>& states, Range rows, Range columns) {
  std::vector<Diagrams::Set> atoms, spaces, parts, lists, result;
  for (size_t i = 0; i < atoms_.size(); ++i)
    atoms.push_back(evaluate(atoms_[i], states[i], rows.first, columns.first));
  Diagrams::Set inside = tile_;
  for (const uint32_t bound : bounds_)
    inside = diagrams_.intersect(inside, atoms[bound]);
  for (const Shifted& space : shifted_) {
    Diagrams::Set set = Diagrams::none;
    for (const std::vector<uint32_t>& piece : space.pieces) {
      Diagrams::Set all = inside;
      for (const uint32_t each : piece)
        all = diagrams_.intersect(all, atoms[each]);
      set = diagrams_.unite(set, all);
    }
    spaces.push_back(set);
  }
  for (const Part& part : parts_)
    parts.push_back(diagrams_.intersect(spaces[part.shifted], part.crossing));
  for (const std::vector<uint32_t>& list : lists_) {
    Diagrams::Set set = Diagrams::none;
    for (const uint32_t part : list)
      set = diagrams_.unite(set, parts[part]);
    lists.push_back(set);
  }
  for (const std::vector<Piece>& pieces : unions_) {
    Diagrams::Set set = Diagrams::none;
    for (const auto& [list, within] : pieces)
      set = diagrams_.unite(set, within == everywhere ? lists[list] : diagrams_.intersect(lists[list], lists[within]));
    result.push_back(set);
  }
  return result;
}

std::vector<ClassRegion> TermSets::visit(Range rows, Range columns, std::vector<State> states, Partition& result) {
  std::optional<Cut> cut;
  bool isExact = false;
  for (size_t i = 0; i < atoms_.size() && !isExact; ++i) {
    if (states[i] != State::Open)
      continue;
    bool exact = false;
    const std::optional<Cut> needed = decide(atoms_[i], rows, columns, states[i], exact);
    if (needed && (!cut || exact)) {
      cut = needed;
      isExact = exact;
    }
  }
  if (!cut) {
    std::vector<Diagrams::Set> sets = evaluate(states, rows, columns);
    const auto [found, isNew] = knownClasses_.try_emplace(sets, static_cast<uint32_t>(result.classes.size()));
    if (isNew)
      result.classes.push_back(std::move(sets));
    return {{rows, columns, found->second}};
  }
  Range otherRows = rows, otherColumns = columns;
  (cut->isRow ? rows : columns).end = cut->at;
  (cut->isRow ? otherRows : otherColumns).first = cut->at;
  std::vector<ClassRegion> regions = visit(rows, columns, states, result);
  const std::vector<ClassRegion> others = visit(otherRows, otherColumns, std::move(states), result);
  if (regions.size() == 1 && others.size() == 1 && regions[0].processorClass == others[0].processorClass) {
    (cut->isRow ? regions[0].rows : regions[0].columns).end = (cut->isRow ? otherRows : otherColumns).end;
    return regions;
  }
  regions.insert(regions.end(), others.begin(), others.end());
  return regions;
}

std::optional<TermSets::Partition> TermSets::partition() {
  if (!fits_)
    return std::nullopt;
  Partition result;
  knownClasses_.clear();
  result.regions =
      visit({0, tiling_.rows}, {0, tiling_.columns}, std::vector<State>(atoms_.size(), State::Open), result);
  return result;
}

} // namespace strata::array

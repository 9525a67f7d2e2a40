// Conversions by isl's text form, which is the same in all of its versions; and back by walking over constraints, with
// existentially quantified integer divisions replaced by their residues. See polyhedra.h.
#include "compiler/equations/polyhedra.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/options.h>

namespace strata::equations {

namespace {

constexpr int64_t mostResidues = 64;

std::string names(const char* letter, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::string(letter) + std::to_string(i);
  return text;
}

std::string affineText(const Affine& value) {
  std::string text = std::to_string(value.constant);
  for (size_t i = 0; i < value.iterators.size(); ++i)
    if (value.iterators[i])
      text += " + " + std::to_string(value.iterators[i]) + "*i" + std::to_string(i);
  for (size_t i = 0; i < value.parameters.size(); ++i)
    if (value.parameters[i])
      text += " + " + std::to_string(value.parameters[i]) + "*p" + std::to_string(i);
  return text;
}

std::string constraintText(const Constraint& constraint) {
  const std::string value = affineText(constraint.value);
  switch (constraint.kind) {
  case Constraint::Kind::NotNegative:
    return value + " >= 0";
  case Constraint::Kind::Zero:
    return value + " = 0";
  case Constraint::Kind::Divisible:
    return "(" + value + ") mod " + std::to_string(constraint.modulus) + " = 0";
  case Constraint::Kind::NotDivisible:
    return "(" + value + ") mod " + std::to_string(constraint.modulus) + " >= 1";
  }
  return "";
}

std::string conjunctionText(const std::vector<Constraint>& constraints) {
  std::string text;
  for (const Constraint& each : constraints)
    text += (text.empty() ? "" : " and ") + constraintText(each);
  return text.empty() ? "true" : text;
}

int64_t number(const isl::val& value, int64_t most = INT32_MAX) {
  if (isl_val_cmp_si(value.get(), most) > 0 || isl_val_cmp_si(value.get(), -most) < 0)
    isl::exception::throw_invalid("a number that is too large", __FILE__, __LINE__);
  return isl_val_get_num_si(value.get());
}

/// A constraint of isl over iterators, parameters and divisions.
struct Row {
  bool isEquality = false;
  std::vector<int64_t> iterators, parameters, divisions;
  int64_t constant = 0;
};

std::vector<Row> rowsOf(const isl::basic_set& set, int64_t most = INT32_MAX) {
  std::vector<Row> rows;
  const auto coefficients = [&](isl_constraint* constraint, isl_dim_type type) {
    std::vector<int64_t> values;
    const int count = isl_constraint_dim(constraint, type);
    for (int i = 0; i < count; ++i)
      values.push_back(number(isl::manage(isl_constraint_get_coefficient_val(constraint, type, i)), most));
    return values;
  };
  isl_constraint_list* list = isl_basic_set_get_constraint_list(set.get());
  const int count = isl_constraint_list_n_constraint(list);
  for (int i = 0; i < count; ++i) {
    isl_constraint* constraint = isl_constraint_list_get_constraint(list, i);
    Row row;
    try {
      row.isEquality = isl_constraint_is_equality(constraint) == isl_bool_true;
      row.iterators = coefficients(constraint, isl_dim_set);
      row.parameters = coefficients(constraint, isl_dim_param);
      row.divisions = coefficients(constraint, isl_dim_div);
      row.constant = number(isl::manage(isl_constraint_get_constant_val(constraint)), most);
    } catch (...) {
      isl_constraint_free(constraint);
      isl_constraint_list_free(list);
      throw;
    }
    isl_constraint_free(constraint);
    rows.push_back(std::move(row));
  }
  isl_constraint_list_free(list);
  return rows;
}

/// A division of a basic set: floor((iterators·I + parameters·N + divisions·e + constant) / denominator).
struct Division {
  Row numerator;
  int64_t denominator = 1;
};

std::optional<std::vector<Division>> divisionsOf(const isl::basic_set& set) {
  std::vector<Division> divisions;
  isl_local_space* space = isl_basic_set_get_local_space(set.get());
  const int count = isl_local_space_dim(space, isl_dim_div);
  bool isKnown = true;
  for (int i = 0; i < count && isKnown; ++i) {
    isl_aff* aff = isl_local_space_get_div(space, i);
    if (!aff || isl_aff_is_nan(aff) == isl_bool_true) {
      isKnown = false;
      isl_aff_free(aff);
      break;
    }
    Division division;
    const isl::val denominator = isl::manage(isl_aff_get_denominator_val(aff));
    division.denominator = number(denominator);
    aff = isl_aff_scale_val(aff, denominator.copy());
    const auto coefficients = [&](isl_dim_type type) {
      std::vector<int64_t> values;
      const int dimensions = isl_aff_dim(aff, type);
      for (int j = 0; j < dimensions; ++j)
        values.push_back(number(isl::manage(isl_aff_get_coefficient_val(aff, type, j))));
      return values;
    };
    division.numerator.iterators = coefficients(isl_dim_in);
    division.numerator.parameters = coefficients(isl_dim_param);
    division.numerator.divisions = coefficients(isl_dim_div);
    division.numerator.constant = number(isl::manage(isl_aff_get_constant_val(aff)));
    isl_aff_free(aff);
    divisions.push_back(std::move(division));
  }
  isl_local_space_free(space);
  return isKnown ? std::optional(std::move(divisions)) : std::nullopt;
}

Affine toAffine(const Row& row) {
  return {row.iterators, row.parameters, row.constant};
}

/// One piece of a union, while its divisions are replaced one after the other, the last first.
struct Piece {
  std::vector<Row> rows;
  std::vector<Division> divisions;
  std::vector<Constraint> residues;
};

void addScaled(std::vector<int64_t>& to, const std::vector<int64_t>& from, int64_t factor) {
  for (size_t i = 0; i < to.size() && i < from.size(); ++i)
    to[i] += factor * from[i];
}

/// With the last division's numerator leaving that residue: row · denominator with (numerator - residue) in its place.
Row substituted(const Row& row, const Division& division, int64_t residue) {
  const int64_t factor = row.divisions.back();
  Row made = row;
  if (factor != 0) {
    for (std::vector<int64_t>* values : {&made.iterators, &made.parameters, &made.divisions})
      for (int64_t& value : *values)
        value *= division.denominator;
    made.constant *= division.denominator;
    addScaled(made.iterators, division.numerator.iterators, factor);
    addScaled(made.parameters, division.numerator.parameters, factor);
    addScaled(made.divisions, division.numerator.divisions, factor);
    made.constant += factor * (division.numerator.constant - residue);
  }
  made.divisions.pop_back();
  return made;
}

bool isEmptyRow(const Row& row) {
  const auto zero = [](int64_t value) { return value == 0; };
  return std::all_of(row.iterators.begin(), row.iterators.end(), zero) &&
         std::all_of(row.parameters.begin(), row.parameters.end(), zero) &&
         std::all_of(row.divisions.begin(), row.divisions.end(), zero);
}

/// An equality's constraint that one division occurs in alone says that the rest is divisible.
bool replaceByDivisibility(Piece& piece) {
  const size_t last = piece.divisions.size() - 1;
  size_t uses = 0, at = 0;
  for (size_t i = 0; i < piece.rows.size(); ++i)
    if (piece.rows[i].divisions[last] != 0) {
      ++uses;
      at = i;
    }
  if (uses != 1 || !piece.rows[at].isEquality)
    return false;
  Row row = piece.rows[at];
  const int64_t modulus = std::abs(row.divisions[last]);
  row.divisions[last] = 0;
  if (std::any_of(row.divisions.begin(), row.divisions.end(), [](int64_t value) { return value != 0; }))
    return false;
  piece.rows.erase(piece.rows.begin() + static_cast<ptrdiff_t>(at));
  if (modulus > 1)
    piece.residues.push_back({Constraint::Kind::Divisible, toAffine(row), modulus});
  for (Row& each : piece.rows)
    each.divisions.pop_back();
  piece.divisions.pop_back();
  return true;
}

bool flatten(Piece piece, Space& into) {
  while (!piece.divisions.empty()) {
    if (replaceByDivisibility(piece))
      continue;
    const Division division = piece.divisions.back();
    if (division.denominator > mostResidues || into.pieces.size() > 1000)
      return false;
    // The division's numerator may hold earlier divisions; they come later in the order of replacement only.
    if (std::any_of(division.numerator.divisions.begin(), division.numerator.divisions.end(),
                    [](int64_t value) { return value != 0; }))
      return false;
    for (int64_t residue = 0; residue < division.denominator; ++residue) {
      Piece part = piece;
      part.divisions.pop_back();
      for (Row& row : part.rows)
        row = substituted(row, division, residue);
      Affine value = toAffine(division.numerator);
      value.constant -= residue;
      part.residues.push_back({Constraint::Kind::Divisible, value, division.denominator});
      if (!flatten(std::move(part), into))
        return false;
    }
    return true;
  }
  std::vector<Constraint> constraints;
  for (const Row& row : piece.rows) {
    if (isEmptyRow(row)) {
      if (row.isEquality ? row.constant != 0 : row.constant < 0)
        return true; // never
      continue;
    }
    constraints.push_back({row.isEquality ? Constraint::Kind::Zero : Constraint::Kind::NotNegative, toAffine(row), 0});
  }
  constraints.insert(constraints.end(), piece.residues.begin(), piece.residues.end());
  into.pieces.push_back(std::move(constraints));
  return true;
}

} // namespace

Polyhedra::Polyhedra(size_t iterators, size_t parameters, unsigned long steps)
    : iterators_(iterators), parameters_(parameters), context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE); // the C++ interface throws instead
  isl_ctx_set_max_operations(context_.get(), steps);
}

void Polyhedra::restart() const {
  isl_ctx_reset_error(context_.get());
  isl_ctx_reset_operations(context_.get());
}

std::string Polyhedra::parameterList() const {
  return "[" + names("p", parameters_) + "] -> ";
}
std::string Polyhedra::iteratorList() const {
  return "[" + names("i", iterators_) + "]";
}

isl::set Polyhedra::parsedSet(const std::string& text) const {
  if (const auto found = sets_.find(text); found != sets_.end())
    return found->second;
  return sets_.emplace(text, isl::set(isl::ctx(context_.get()), parameterList() + text)).first->second;
}
isl::map Polyhedra::parsedMap(const std::string& text) const {
  if (const auto found = maps_.find(text); found != maps_.end())
    return found->second;
  return maps_.emplace(text, isl::map(isl::ctx(context_.get()), parameterList() + text)).first->second;
}

isl::set Polyhedra::set(const Space& space) const {
  std::string text;
  for (const std::vector<Constraint>& piece : space.pieces)
    text += (text.empty() ? "(" : " or (") + conjunctionText(piece) + ")";
  return parsedSet("{ " + iteratorList() + " : " + (text.empty() ? "false" : text) + " }");
}

isl::set Polyhedra::context(const std::vector<Constraint>& constraints) const {
  return set(Space{{constraints}});
}

isl::map Polyhedra::map(const std::vector<Affine>& index) const {
  std::string text;
  for (const Affine& each : index)
    text += (text.empty() ? "" : ", ") + affineText(each);
  return parsedMap("{ " + iteratorList() + " -> [" + text + "] }");
}

isl::map Polyhedra::translation(const std::vector<int64_t>& distance) const {
  std::string text;
  for (size_t i = 0; i < iterators_; ++i)
    text += (i ? ", i" : "i") + std::to_string(i) + " + " + std::to_string(distance[i]);
  return parsedMap("{ " + iteratorList() + " -> [" + text + "] }");
}

isl::set Polyhedra::elements(const std::vector<Affine>& extents) const {
  std::string conditions;
  for (size_t i = 0; i < extents.size(); ++i)
    conditions += (i ? " and 0 <= e" : "0 <= e") + std::to_string(i) + " < " + affineText(extents[i]);
  return parsedSet("{ [" + names("e", extents.size()) + "] : " + (conditions.empty() ? "true" : conditions) + " }");
}

std::optional<Space> Polyhedra::space(const isl::set& set) {
  Space result;
  bool isExact = true;
  const isl::set known = isl::manage(isl_set_compute_divs(coalesced(set).release()));
  known.foreach_basic_set([&](isl::basic_set part) {
    part = isl::manage(isl_basic_set_remove_redundancies(part.release()));
    const std::optional<std::vector<Division>> divisions = divisionsOf(part);
    if (!divisions || !flatten({rowsOf(part), *divisions, {}}, result))
      isExact = false;
  });
  return isExact ? std::optional(std::move(result)) : std::nullopt;
}

isl::set coalesced(const isl::set& set) {
  bool isPlain = true;
  set.foreach_basic_set(
      [&](const isl::basic_set& piece) { isPlain &= isl_basic_set_dim(piece.get(), isl_dim_div) == 0; });
  return isPlain ? isl::set(set.coalesce()) : set;
}

isl::map coalesced(const isl::map& map) {
  bool isPlain = true;
  map.foreach_basic_map(
      [&](const isl::basic_map& piece) { isPlain &= isl_basic_map_dim(piece.get(), isl_dim_div) == 0; });
  return isPlain ? isl::map(map.coalesce()) : map;
}

std::vector<int64_t> Polyhedra::sample(const isl::set& set) const {
  isl::set flat =
      isl::manage(isl_set_move_dims(set.copy(), isl_dim_set, 0, isl_dim_param, 0, static_cast<unsigned>(parameters_)));
  // Small sizes read best.
  for (int64_t bound : {4, 8, 64}) {
    isl::set small = flat;
    for (unsigned i = 0; i < parameters_; ++i)
      small = isl::manage(isl_set_upper_bound_si(small.release(), isl_dim_set, i, static_cast<int>(bound)));
    if (!small.is_empty()) {
      flat = small;
      break;
    }
  }
  const isl::point point = flat.sample_point();
  std::vector<int64_t> values;
  for (unsigned i = 0; i < parameters_ + iterators_; ++i)
    values.push_back(number(isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, static_cast<int>(i)))));
  return values;
}

std::optional<std::vector<int64_t>> Polyhedra::onlyPoint(const isl::set& set) {
  const auto count = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_param));
  const isl::set all = isl::manage(isl_set_project_out(set.copy(), isl_dim_param, 0, count));
  if (isl_set_is_singleton(all.get()) != isl_bool_true)
    return std::nullopt;
  const isl::point point = all.sample_point();
  std::vector<int64_t> values;
  const int dimensions = isl_set_dim(all.get(), isl_dim_set);
  for (int i = 0; i < dimensions; ++i)
    values.push_back(number(isl::manage(isl_point_get_coordinate_val(point.get(), isl_dim_set, i))));
  return values;
}

std::vector<std::vector<int64_t>> Polyhedra::hull(const isl::set& set) {
  if (const std::optional<std::vector<int64_t>> only = onlyPoint(set)) {
    std::vector<int64_t> corner{1};
    corner.insert(corner.end(), only->begin(), only->end());
    return {corner};
  }
  const auto count = static_cast<unsigned>(isl_set_dim(set.get(), isl_dim_param));
  isl_set* const all = isl_set_remove_divs(isl_set_project_out(set.copy(), isl_dim_param, 0, count));
  // Constants and factors of what is never negative there; its bounds are what they have to be checked with.
  const isl::basic_set dual = isl::manage(isl_set_coefficients(all));
  std::vector<std::vector<int64_t>> found;
  for (const Row& row : rowsOf(dual, int64_t{1} << 50)) {
    found.push_back(row.iterators);
    if (!row.isEquality)
      continue;
    found.push_back(row.iterators); // a line: both ways
    for (int64_t& value : found.back())
      value = -value;
  }
  return found;
}

std::string text(const Affine& value, const std::vector<std::string>& iterators,
                 const std::vector<std::string>& parameters) {
  std::string result;
  const auto add = [&](int64_t factor, const std::string& name) {
    if (factor == 0)
      return;
    const int64_t size = std::abs(factor);
    const std::string term = name.empty() ? std::to_string(size) : size == 1 ? name : std::to_string(size) + "*" + name;
    if (result.empty())
      result = (factor < 0 ? "-" : "") + term;
    else
      result += (factor < 0 ? " - " : " + ") + term;
  };
  for (size_t i = 0; i < value.iterators.size(); ++i)
    add(value.iterators[i], iterators[i]);
  for (size_t i = 0; i < value.parameters.size(); ++i)
    add(value.parameters[i], parameters[i]);
  add(value.constant, "");
  return result.empty() ? "0" : result;
}

std::string text(const Space& space, const std::vector<std::string>& iterators,
                 const std::vector<std::string>& parameters) {
  std::string result;
  for (const std::vector<Constraint>& piece : space.pieces) {
    std::string part;
    for (const Constraint& each : piece) {
      const std::string value = text(each.value, iterators, parameters);
      const std::string modulus = std::to_string(each.modulus);
      part += part.empty() ? "" : " and ";
      part += each.kind == Constraint::Kind::NotNegative ? value + " >= 0"
              : each.kind == Constraint::Kind::Zero
                  ? value + " == 0"
                  : "(" + value + ") mod " + modulus + (each.kind == Constraint::Kind::Divisible ? " == 0" : " != 0");
    }
    result += (result.empty() ? "" : " or ") + (part.empty() ? std::string("always") : part);
  }
  return result.empty() ? "never" : result;
}

} // namespace strata::equations

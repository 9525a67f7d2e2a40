// Conversion of index expressions to isl, and bounds by interval arithmetic. See polyhedra.h.
#include "compiler/hbir/layout/polyhedra.h"

#include <algorithm>
#include <limits>

#include <isl/ctx.h>
#include <isl/options.h>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;
using Wide = __int128; // products of two 64-bit numbers do not leave it

Wide roundedDown(Wide a, Wide b) {
  const Wide quotient = a / b;
  return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

std::optional<Interval> narrow(Wide least, Wide most) {
  if (least < std::numeric_limits<int64_t>::min() || most > std::numeric_limits<int64_t>::max())
    return std::nullopt;
  return Interval{static_cast<int64_t>(least), static_cast<int64_t>(most)};
}

constexpr unsigned mostRoundings = 4; // quotients, remainders and minima of one map

unsigned roundingsOf(const IndexExpression& expression) {
  unsigned count =
      expression.kind == Kind::Divide || expression.kind == Kind::Modulo || expression.kind == Kind::Minimum;
  for (const IndexExpression& operand : expression.operands)
    count += roundingsOf(operand);
  return count;
}

/// Of an operation that is monotonic in each operand, so that its extremes are at corners.
template <typename Operation>
std::optional<Interval> corners(const Interval& a, const Interval& b, Operation operation) {
  const Wide values[] = {operation(Wide(a.least), Wide(b.least)), operation(Wide(a.least), Wide(b.most)),
                         operation(Wide(a.most), Wide(b.least)), operation(Wide(a.most), Wide(b.most))};
  return narrow(*std::min_element(values, values + 4), *std::max_element(values, values + 4));
}

std::optional<Interval> moduloRange(const Interval& a, const Interval& b) {
  if (b.least <= 0 && b.most >= 0)
    return std::nullopt;
  if (b.least == b.most) {
    const Wide divisor = b.least, least = roundedDown(a.least, divisor), most = roundedDown(a.most, divisor);
    if (least == most) // no wrap in between
      return narrow(a.least - least * divisor, a.most - most * divisor);
  }
  return b.least > 0 ? Interval{0, b.most - 1} : Interval{b.least + 1, 0};
}

} // namespace

std::optional<Interval> rangeOf(const IndexExpression& expression, const std::vector<int64_t>& extents) {
  if (expression.kind == Kind::Constant)
    return Interval{expression.value, expression.value};
  if (expression.kind == Kind::Variable) {
    if (expression.value < 0 || static_cast<size_t>(expression.value) >= extents.size() ||
        extents[static_cast<size_t>(expression.value)] <= 0)
      return std::nullopt;
    return Interval{0, extents[static_cast<size_t>(expression.value)] - 1};
  }
  const std::optional<Interval> left = rangeOf(expression.operands[0], extents);
  const std::optional<Interval> right = rangeOf(expression.operands[1], extents);
  if (!left || !right)
    return std::nullopt;
  switch (expression.kind) {
  case Kind::Add:
    return narrow(Wide(left->least) + right->least, Wide(left->most) + right->most);
  case Kind::Subtract:
    return narrow(Wide(left->least) - right->most, Wide(left->most) - right->least);
  case Kind::Multiply:
    return corners(*left, *right, [](Wide a, Wide b) { return a * b; });
  case Kind::Divide:
    if (right->least <= 0 && right->most >= 0)
      return std::nullopt;
    return corners(*left, *right, roundedDown);
  case Kind::Modulo:
    return moduloRange(*left, *right);
  case Kind::Minimum:
    return Interval{std::min(left->least, right->least), std::min(left->most, right->most)};
  case Kind::Constant:
  case Kind::Variable:
    break;
  }
  return std::nullopt;
}

Polyhedra::Polyhedra(unsigned long steps) : context_(isl_ctx_alloc()) {
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE); // the C++ interface throws instead
  isl_ctx_set_max_operations(context_.get(), steps);
}

isl::set Polyhedra::box(const std::vector<int64_t>& extents) const {
  std::vector<Interval> bounds;
  for (int64_t extent : extents)
    bounds.push_back({0, extent});
  return box(bounds);
}

isl::set Polyhedra::box(const std::vector<Interval>& bounds) const {
  isl_ctx* const context = context_.get();
  isl::set result =
      isl::manage(isl_set_universe(isl_space_set_alloc(context, 0, static_cast<unsigned>(bounds.size()))));
  for (unsigned i = 0; i < bounds.size(); ++i) {
    result = isl::manage(
        isl_set_lower_bound_val(result.release(), isl_dim_set, i, isl_val_int_from_si(context, bounds[i].least)));
    isl_val* const end = isl_val_int_from_si(context, bounds[i].most);
    result = isl::manage(isl_set_upper_bound_val(result.release(), isl_dim_set, i, isl_val_sub_ui(end, 1)));
  }
  return result;
}

std::optional<isl::pw_aff> Polyhedra::convert(const IndexExpression& expression, const isl::set& domain) const {
  isl_ctx* const context = context_.get();
  const auto local = [&] { return isl_local_space_from_space(isl_set_get_space(domain.get())); };
  const auto value = [&](int64_t number) { return isl_val_int_from_si(context, number); };
  if (expression.kind == Kind::Constant)
    return isl::manage(isl_pw_aff_from_aff(isl_aff_val_on_domain(local(), value(expression.value))));
  if (expression.kind == Kind::Variable)
    return isl::manage(
        isl_pw_aff_from_aff(isl_aff_var_on_domain(local(), isl_dim_set, static_cast<unsigned>(expression.value))));
  std::optional<isl::pw_aff> left = convert(expression.operands[0], domain);
  std::optional<isl::pw_aff> right = convert(expression.operands[1], domain);
  if (!left || !right)
    return std::nullopt;
  switch (expression.kind) {
  case Kind::Add:
    return isl::manage(isl_pw_aff_add(left->release(), right->release()));
  case Kind::Subtract:
    return isl::manage(isl_pw_aff_sub(left->release(), right->release()));
  case Kind::Minimum:
    return isl::manage(isl_pw_aff_min(left->release(), right->release()));
  case Kind::Multiply: {
    if (!expression.operands[1].isConstant())
      std::swap(left, right);
    const IndexExpression& factor = expression.operands[expression.operands[1].isConstant() ? 1 : 0];
    if (!factor.isConstant())
      return std::nullopt;
    return isl::manage(isl_pw_aff_scale_val(left->release(), value(factor.value)));
  }
  case Kind::Divide:
  case Kind::Modulo: {
    const int64_t divisor = expression.operands[1].value;
    if (!expression.operands[1].isConstant() || divisor == 0)
      return std::nullopt;
    isl::pw_aff quotient =
        isl::manage(isl_pw_aff_floor(isl_pw_aff_scale_down_val(isl_pw_aff_copy(left->get()), value(divisor))));
    if (expression.kind == Kind::Divide)
      return quotient;
    return isl::manage(isl_pw_aff_sub(left->release(), isl_pw_aff_scale_val(quotient.release(), value(divisor))));
  }
  case Kind::Constant:
  case Kind::Variable:
    break;
  }
  return std::nullopt;
}

std::optional<isl::map> Polyhedra::map(const std::vector<IndexExpression>& results, const isl::set& domain) const {
  unsigned roundings = 0;
  for (const IndexExpression& result : results)
    roundings += roundingsOf(result);
  if (roundings > mostRoundings)
    return std::nullopt;
  isl_ctx* const context = context_.get();
  const auto variables = static_cast<unsigned>(isl_set_dim(domain.get(), isl_dim_set));
  isl_pw_aff_list* list = isl_pw_aff_list_alloc(context, static_cast<int>(results.size()));
  for (const IndexExpression& result : results) {
    std::optional<isl::pw_aff> converted;
    try {
      converted = convert(result, domain);
    } catch (...) {
      isl_pw_aff_list_free(list);
      throw;
    }
    if (!converted) {
      isl_pw_aff_list_free(list);
      return std::nullopt;
    }
    list = isl_pw_aff_list_add(list, converted->release());
  }
  isl_space* const space = isl_space_alloc(context, 0, variables, static_cast<unsigned>(results.size()));
  isl::map map = isl::manage(isl_map_from_multi_pw_aff(isl_multi_pw_aff_from_pw_aff_list(space, list)));
  return map.intersect_domain(domain);
}

std::vector<int64_t> Polyhedra::first(const isl::set& set) {
  // The search for the first point does not count its steps, so it is for sets with few roundings only.
  int roundings = 0;
  isl_set_foreach_basic_set(
      set.get(),
      [](isl_basic_set* part, void* sum) {
        *static_cast<int*>(sum) += std::max(0, static_cast<int>(isl_basic_set_dim(part, isl_dim_div)));
        isl_basic_set_free(part);
        return isl_stat_ok;
      },
      &roundings);
  isl_set* const copy = isl_set_copy(set.get());
  isl_point* const point = isl_set_sample_point(roundings <= 6 ? isl_set_lexmin(copy) : copy);
  const int count = isl_set_dim(set.get(), isl_dim_set);
  std::vector<int64_t> result;
  for (int i = 0; i < count; ++i) {
    isl_val* const value = isl_point_get_coordinate_val(point, isl_dim_set, i);
    result.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  const bool failed = point == nullptr;
  isl_point_free(point);
  if (failed)
    isl::exception::throw_last_error(set.ctx());
  return result;
}

std::optional<int64_t> Polyhedra::greatest(const isl::set& set, unsigned coordinate) {
  if (set.is_empty())
    return std::nullopt;
  const isl::val value = isl::manage(isl_set_dim_max_val(isl_set_copy(set.get()), static_cast<int>(coordinate)));
  return isl_val_get_num_si(value.get());
}

} // namespace strata::hbir

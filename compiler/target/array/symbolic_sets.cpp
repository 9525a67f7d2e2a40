// See symbolic_sets.h. Everything goes through isl's text form, which is the same in all of its versions.
#include "compiler/target/array/symbolic_sets.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/val.h>

namespace strata::array {

namespace {

std::string lettered(const char* letter, size_t count) {
  std::string names;
  for (size_t i = 0; i < count; ++i)
    names += (i ? ", " : "") + std::string(letter) + std::to_string(i);
  return "[" + names + "]";
}

std::string conditionText(const Condition& condition, const SymbolicSets::Vector& shift) {
  const std::string value = SymbolicSets::text(condition.value, shift);
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

} // namespace

void SymbolicSets::Release::operator()(isl_ctx* context) const {
  isl_ctx_free(context);
}

SymbolicSets::SymbolicSets(const Symbolic& symbolic)
    : symbolic_(symbolic), context_(isl_ctx_alloc()), parameters_(lettered("p", symbolic.parameters.size()) + " -> "),
      iterators_(lettered("i", symbolic.loops.size())) {
  constexpr unsigned long mostSteps = 400'000'000;
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE); // the C++ interface throws instead
  isl_ctx_set_max_operations(context_.get(), mostSteps);
  std::string conditions = "true";
  for (const Condition& each : symbolic.context)
    conditions += " and " + conditionText(each, {});
  for (size_t l = 0; l < symbolic.loops.size(); ++l) {
    const std::string loop = "*i" + std::to_string(l);
    for (const Bound& each : symbolic.loops[l].lower)
      conditions += " and " + std::to_string(each.divisor) + loop + " >= " + text(each.value, {});
    for (const Bound& each : symbolic.loops[l].upper)
      conditions += " and " + std::to_string(each.divisor) + loop + " <= " + text(each.value, {});
  }
  box_ = holding(conditions);
}

const isl::set& SymbolicSets::holding(const std::string& condition) const {
  const auto known = conditions_.find(condition);
  if (known != conditions_.end())
    return known->second;
  isl::set made(isl::ctx(context_.get()), parameters_ + "{ " + iterators_ + " : " + condition + " }");
  return conditions_.emplace(condition, std::move(made)).first->second;
}

std::string SymbolicSets::text(const Linear& value, const Vector& shift) {
  int64_t constant = value.constant;
  std::string sum;
  for (size_t l = 0; l < value.loops.size(); ++l)
    if (value.loops[l] != 0) {
      sum += " + " + std::to_string(value.loops[l]) + "*i" + std::to_string(l);
      constant += value.loops[l] * (shift.empty() ? 0 : shift[l]);
    }
  for (size_t p = 0; p < value.parameters.size(); ++p)
    if (value.parameters[p] != 0)
      sum += " + " + std::to_string(value.parameters[p]) + "*p" + std::to_string(p);
  return std::to_string(constant) + sum;
}

const isl::set& SymbolicSets::space(uint32_t number, const Vector& shift) {
  const auto known = spaces_.find({number, shift});
  if (known != spaces_.end())
    return known->second;
  isl::set made = none();
  for (const std::vector<uint32_t>& piece : symbolic_.spaces[number].pieces) {
    std::string conditions = "true";
    for (const uint32_t each : piece)
      conditions += " and " + conditionText(symbolic_.conditions[each], shift);
    made = together(made, holding(conditions));
  }
  return spaces_.emplace(std::pair(number, shift), simple(made.intersect(*box_))).first->second;
}

const isl::map& SymbolicSets::parsedMap(const std::string& range) const {
  const auto known = maps_.find(range);
  if (known != maps_.end())
    return known->second;
  isl::map made(isl::ctx(context_.get()), parameters_ + "{ " + iterators_ + " -> [" + range + "] }");
  return maps_.emplace(range, std::move(made)).first->second;
}

isl::set SymbolicSets::later(const isl::set& where, const Vector& distance) const {
  std::string moved;
  for (size_t l = 0; l < distance.size(); ++l)
    moved += (l ? ", i" : "i") + std::to_string(l) + " + " + std::to_string(distance[l]);
  return where.apply(parsedMap(moved));
}

const isl::map& SymbolicSets::map(const std::vector<Linear>& values) const {
  std::string range;
  for (size_t d = 0; d < values.size(); ++d)
    range += (d ? ", " : "") + text(values[d], {});
  return parsedMap(range);
}

std::vector<SymbolicSets::Vector> SymbolicSets::crossings(const Vector& step) const {
  std::vector<Vector> all = {Vector(step.size(), 0)};
  for (size_t l = 0; l < step.size(); ++l)
    if (step[l] != 0 && (l == symbolic_.rowLoop || l == symbolic_.columnLoop))
      for (size_t i = 0, count = all.size(); i < count; ++i) {
        all.push_back(all[i]);
        all.back()[l] = step[l] < 0 ? -1 : 1;
      }
  return all;
}

std::string SymbolicSets::example(const isl::set& where) const {
  if (where.is_empty())
    return "";
  const isl::point point = where.sample_point();
  const auto list = [&](isl_dim_type type, size_t count, const auto& nameOf) {
    std::string made;
    for (size_t i = 0; i < count; ++i) {
      const isl::val value = isl::manage(isl_point_get_coordinate_val(point.get(), type, static_cast<int>(i)));
      made += (i ? ", " : "") + nameOf(i) + " = " + std::to_string(isl_val_get_num_si(value.get()));
    }
    return made;
  };
  const std::string sizes =
      list(isl_dim_param, symbolic_.parameters.size(), [&](size_t i) { return symbolic_.parameters[i]; });
  return " (as in " + list(isl_dim_set, symbolic_.loops.size(), [&](size_t i) { return symbolic_.loops[i].name; }) +
         (sizes.empty() ? "" : " for " + sizes) + ")";
}

/// isl 0.25 takes {0, 1} and the even numbers together for all numbers: where there are remainders, it is asked whether
/// the set is still the same.
isl::set SymbolicSets::simple(const isl::set& set) {
  const isl::set made = set.coalesce();
  const auto hasRemainders = [](isl_basic_set* piece, void*) {
    const bool has = isl_basic_set_dim(piece, isl_dim_div) > 0;
    isl_basic_set_free(piece);
    return has ? isl_stat_error : isl_stat_ok;
  };
  const bool isPlain = isl_set_foreach_basic_set(set.get(), hasRemainders, nullptr) == isl_stat_ok;
  return isPlain || made.is_equal(set) ? made : set;
}

bool SymbolicSets::isTrue(isl_bool answer) const {
  if (answer == isl_bool_error)
    isl::exception::throw_last_error(isl::ctx(context_.get()));
  return answer == isl_bool_true;
}

} // namespace strata::array

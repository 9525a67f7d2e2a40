// The tiles of groups as ranges, and the text of --emit=groups. See groups.h.
#include "compiler/hbir/layout/groups.h"

#include <algorithm>

namespace strata::hbir {

namespace {

using Kind = IndexExpression::Kind;

/// coefficient[0]*v0 + … + rest, where the rest has fixed variables only.
struct Linear {
  std::vector<int64_t> coefficients;
  IndexExpression rest;
};

IndexExpression scaled(IndexExpression expression, int64_t factor) {
  return IndexExpression::make(Kind::Multiply, std::move(expression), IndexExpression::constant(factor));
}

/// Nothing when the free variables do not enter linearly, or numbers leave 64 bits.
std::optional<Linear> linear(const IndexExpression& expression, const std::vector<bool>& fixed) {
  Linear result{std::vector<int64_t>(fixed.size()), IndexExpression::constant(0)};
  if (expression.kind == Kind::Constant) {
    result.rest = expression;
    return result;
  }
  if (expression.kind == Kind::Variable) {
    const auto number = static_cast<size_t>(expression.value);
    if (number >= fixed.size())
      return std::nullopt;
    if (fixed[number])
      result.rest = expression;
    else
      result.coefficients[number] = 1;
    return result;
  }
  std::optional<Linear> left = linear(expression.operands[0], fixed), right = linear(expression.operands[1], fixed);
  if (!left || !right)
    return std::nullopt;
  const auto isFree = [](const Linear& part) {
    return std::all_of(part.coefficients.begin(), part.coefficients.end(), [](int64_t c) { return c == 0; });
  };
  if (isFree(*left) && isFree(*right)) {
    result.rest = IndexExpression::make(expression.kind, std::move(left->rest), std::move(right->rest));
    return result;
  }
  if (expression.kind == Kind::Multiply && !right->rest.isConstant())
    std::swap(left, right);
  bool overflow = false;
  for (size_t i = 0; i < fixed.size(); ++i) {
    int64_t& to = result.coefficients[i];
    const int64_t a = left->coefficients[i], b = right->coefficients[i];
    if (expression.kind == Kind::Add)
      overflow |= __builtin_add_overflow(a, b, &to);
    else if (expression.kind == Kind::Subtract)
      overflow |= __builtin_sub_overflow(a, b, &to);
    else if (expression.kind == Kind::Multiply && isFree(*right) && right->rest.isConstant())
      overflow |= __builtin_mul_overflow(a, right->rest.value, &to);
    else
      return std::nullopt;
  }
  if (overflow)
    return std::nullopt;
  result.rest = expression.kind == Kind::Multiply
                    ? scaled(std::move(left->rest), right->rest.value)
                    : IndexExpression::make(expression.kind, std::move(left->rest), std::move(right->rest));
  return result;
}

/// The values of a sum of terms coefficient * [0, extent) as least, greatest and step.
std::optional<TileRange> progression(std::vector<std::pair<int64_t, int64_t>> terms, const IndexExpression& rest) {
  constexpr int64_t limit = int64_t(1) << 62;
  __int128 least = 0, most = 0;
  for (auto& [coefficient, extent] : terms) {
    if (coefficient <= -limit || coefficient >= limit)
      return std::nullopt;
    const __int128 far = static_cast<__int128>(coefficient) * (extent - 1);
    least += std::min<__int128>(far, 0);
    most += std::max<__int128>(far, 0);
    coefficient = coefficient < 0 ? -coefficient : coefficient;
  }
  std::sort(terms.begin(), terms.end());
  const int64_t step = terms.empty() ? 1 : terms.front().first;
  __int128 covered = step; // the values of the terms so far and one step more
  for (const auto& [coefficient, extent] : terms) {
    if (coefficient % step != 0 || coefficient > covered)
      return std::nullopt; // holes
    covered += static_cast<__int128>(coefficient) * (extent - 1);
  }
  if (least < -limit || most >= limit)
    return std::nullopt;
  const auto plus = [&](__int128 value) {
    return IndexExpression::make(Kind::Add, rest, IndexExpression::constant(static_cast<int64_t>(value)));
  };
  return TileRange{plus(least), plus(most + 1), step};
}

std::vector<std::string> namesOf(const Group& group) {
  std::vector<const Group*> chain;
  for (const Group* each = &group; each; each = each->parent)
    chain.push_back(each);
  std::vector<std::string> names;
  for (auto each = chain.rbegin(); each != chain.rend(); ++each)
    for (const GroupIndex& index : (*each)->indices)
      names.push_back(*each == &group ? index.name : (*each)->name + "." + index.name);
  return names;
}

std::string rangeText(const TileRange& range, const std::vector<std::string>& names) {
  const IndexExpression next = IndexExpression::make(Kind::Add, range.begin, IndexExpression::constant(1));
  if (range.end == next)
    return "[" + range.begin.text(names) + "]";
  return "[" + range.begin.text(names) + ":" + range.end.text(names) +
         (range.step == 1 ? "" : ":" + std::to_string(range.step)) + "]";
}

std::string tilesText(const Program& program, const Group& group, const std::vector<bool>& fixed,
                      const std::vector<std::string>& names) {
  std::string text = program.target.tiles;
  if (const auto ranges = tileRanges(group, fixed)) {
    for (const TileRange& range : *ranges)
      text += rangeText(range, names);
    return text;
  }
  for (const IndexExpression& coordinate : group.tile)
    text += "[" + coordinate.text(names) + "]";
  return text;
}

} // namespace

bool isDimension(const std::string& name) {
  return name.size() == 1 && name[0] >= 'w' && name[0] <= 'z'; // the same names in every form
}

std::optional<std::vector<TileRange>> tileRanges(const Group& group, const std::vector<bool>& fixed) {
  const std::vector<GroupIndex> variables = variablesOf(group);
  if (group.tile.empty() || fixed.size() != variables.size())
    return std::nullopt;
  std::vector<bool> used(variables.size());
  std::vector<TileRange> ranges;
  for (const IndexExpression& coordinate : group.tile) {
    const std::optional<Linear> form = linear(coordinate, fixed);
    if (!form)
      return std::nullopt;
    std::vector<std::pair<int64_t, int64_t>> terms;
    for (size_t i = 0; i < variables.size(); ++i) {
      if (variables[i].extent <= 0)
        return std::nullopt;
      if (form->coefficients[i] == 0 || variables[i].extent == 1)
        continue;
      if (used[i])
        return std::nullopt; // a diagonal
      used[i] = true;
      terms.emplace_back(form->coefficients[i], variables[i].extent);
    }
    std::optional<TileRange> range = progression(std::move(terms), form->rest);
    if (!range)
      return std::nullopt;
    ranges.push_back(std::move(*range));
  }
  return ranges;
}

std::string groupsText(const Program& program) {
  std::string out;
  for (const Group& group : program.groups) {
    const std::vector<GroupIndex> variables = variablesOf(group);
    const std::vector<std::string> names = namesOf(group);
    const std::vector<bool> telling = tellingVariables(group);
    std::vector<bool> fixed(variables.size());
    out += pathOf(group);
    const size_t own = variables.size() - group.indices.size();
    for (size_t i = 0; i < variables.size(); ++i) {
      if (!telling[i])
        continue;
      out += "[" + names[i] + " in " + std::to_string(variables[i].extent) + "]";
      fixed[i] = i < own || !isDimension(variables[i].name);
    }
    if (group.tile.empty()) {
      out += ": holds groups only\n";
      continue;
    }
    const std::string some = tilesText(program, group, fixed, names);
    const bool whole = tileRanges(group, std::vector<bool>(variables.size())).has_value();
    const std::string all = tilesText(program, group, std::vector<bool>(variables.size()), names);
    out += ": " + some;
    if (whole && all != some)
      out += " = " + all;
    out += '\n';
  }
  return out;
}

} // namespace strata::hbir

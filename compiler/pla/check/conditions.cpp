// Affine expressions, and conditions as unions of polyhedra in disjunctive normal form: comparisons, in a row as well,
// remainders by constants, and, or, not, !=. See checker.h.
#include "compiler/pla/check/checker.h"

#include "base/source/nearest_name.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::pla {

using namespace equations;

STRATA_DIAGNOSTIC(notAffine, Error, "pla-not-affine",
                  "{0} is not affine: a sum of iterators and parameters times constants");
STRATA_DIAGNOSTIC(notACondition, Error, "pla-not-a-condition", "{0} is no condition on iterators and parameters");
STRATA_DIAGNOSTIC(conditionSize, Error, "pla-condition-size", "this condition has more than {0} alternatives");
STRATA_DIAGNOSTIC(unknownSize, Error, "pla-unknown-size", "'{0}' is no {1}");
STRATA_DIAGNOSTIC(badModulus, Error, "pla-modulus", "a remainder is by a constant from 2 to {0}");
STRATA_DIAGNOSTIC(tooLarge, Error, "pla-too-large", "a number in an index or a condition leaves {0} bits");

namespace {

constexpr size_t mostPieces = 1000;
constexpr int64_t greatestModulus = 1 << 20, mostResidues = 64;
constexpr int64_t greatest = int64_t{1} << 40; // so that sums and products of a few fit in 64 bits

int64_t& at(std::vector<int64_t>& values, size_t i) {
  if (values.size() <= i)
    values.resize(i + 1, 0);
  return values[i];
}

void addTo(std::vector<int64_t>& to, const std::vector<int64_t>& from, int64_t factor) {
  for (size_t i = 0; i < from.size(); ++i)
    at(to, i) += factor * from[i];
}

/// left + factor · right. REQUIRES: all within `greatest`, |factor| too where right is a constant 1.
Affine sum(Affine left, const Affine& right, int64_t factor) {
  addTo(left.iterators, right.iterators, factor);
  addTo(left.parameters, right.parameters, factor);
  left.constant += factor * right.constant;
  return left;
}

bool isConstant(const Affine& value) {
  const auto isZero = [](int64_t factor) { return factor == 0; };
  return std::all_of(value.iterators.begin(), value.iterators.end(), isZero) &&
         std::all_of(value.parameters.begin(), value.parameters.end(), isZero);
}

bool isLarge(const Affine& value) {
  const auto large = [](int64_t number) { return number > greatest || number < -greatest; };
  return std::any_of(value.iterators.begin(), value.iterators.end(), large) ||
         std::any_of(value.parameters.begin(), value.parameters.end(), large) || large(value.constant);
}

/// The same of the product. REQUIRES: both within `greatest`.
bool isLargeTimes(const Affine& value, int64_t factor) {
  const auto large = [factor](int64_t number) { return factor != 0 && std::abs(number) > greatest / std::abs(factor); };
  return std::any_of(value.iterators.begin(), value.iterators.end(), large) ||
         std::any_of(value.parameters.begin(), value.parameters.end(), large) || large(value.constant);
}

/// What a constraint says without its constant: factors, without zeros at the end.
std::pair<std::vector<int64_t>, std::vector<int64_t>> directionOf(const Affine& value, int64_t sign) {
  std::pair<std::vector<int64_t>, std::vector<int64_t>> result;
  const auto fill = [sign](std::vector<int64_t>& to, const std::vector<int64_t>& from) {
    for (const int64_t factor : from)
      to.push_back(sign * factor);
    while (!to.empty() && to.back() == 0)
      to.pop_back();
  };
  fill(result.first, value.iterators);
  fill(result.second, value.parameters);
  return result;
}

/// By direction, the least constant of `direction + constant >= 0`: the strongest of a piece's constraints.
using Strongest = std::map<std::pair<std::vector<int64_t>, std::vector<int64_t>>, int64_t>;

Strongest strongestOf(const std::vector<Constraint>& piece) {
  Strongest strongest;
  const auto note = [&](const Affine& value, int64_t sign) {
    const auto [known, isNew] = strongest.try_emplace(directionOf(value, sign), sign * value.constant);
    if (!isNew)
      known->second = std::min(known->second, sign * value.constant);
  };
  for (const Constraint& each : piece) {
    if (each.kind == Constraint::Kind::NotNegative || each.kind == Constraint::Kind::Zero)
      note(each.value, 1);
    if (each.kind == Constraint::Kind::Zero)
      note(each.value, -1);
  }
  return strongest;
}

/// Leaves out what follows from another constraint of the piece that differs in the constant alone. False if two of
/// them contradict each other, so that the piece is empty.
bool simplify(std::vector<Constraint>& piece) {
  const Strongest strongest = strongestOf(piece);
  for (const auto& [direction, constant] : strongest) {
    auto opposite = direction;
    for (std::vector<int64_t>* factors : {&opposite.first, &opposite.second})
      for (int64_t& factor : *factors)
        factor = -factor;
    if (const auto found = strongest.find(opposite); found != strongest.end() && constant + found->second < 0)
      return false;
  }
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> kept;
  std::erase_if(piece, [&](const Constraint& each) {
    if (each.kind != Constraint::Kind::NotNegative)
      return false;
    const auto direction = directionOf(each.value, 1);
    return each.value.constant > strongest.at(direction) || !kept.insert(direction).second;
  });
  return true;
}

/// Whether all of one piece is seen to lie in another: each constraint of that one follows from one of this one's.
bool isWithin(const std::vector<Constraint>& piece, const Strongest& strongest, const std::vector<Constraint>& other) {
  const auto atLeast = [&](const Affine& value, int64_t sign) {
    const auto found = strongest.find(directionOf(value, sign));
    return found != strongest.end() && found->second <= sign * value.constant;
  };
  return std::all_of(other.begin(), other.end(), [&](const Constraint& each) {
    switch (each.kind) {
    case Constraint::Kind::NotNegative:
      return atLeast(each.value, 1);
    case Constraint::Kind::Zero:
      return atLeast(each.value, 1) && atLeast(each.value, -1);
    default:
      return std::any_of(piece.begin(), piece.end(), [&](const Constraint& own) {
        return own.kind == each.kind && own.modulus == each.modulus && own.value.constant == each.value.constant &&
               directionOf(own.value, 1) == directionOf(each.value, 1);
      });
    }
  });
}

/// Pieces of a union without those that lie in another one.
class Union {
public:
  void add(std::vector<Constraint> piece) {
    Strongest strongest = strongestOf(piece);
    for (const Part& each : parts_)
      if (isWithin(piece, strongest, each.piece))
        return;
    std::erase_if(parts_, [&](const Part& each) { return isWithin(each.piece, each.strongest, piece); });
    parts_.push_back({std::move(piece), std::move(strongest)});
  }
  size_t size() const { return parts_.size(); }
  Space take() {
    Space space;
    for (Part& each : parts_)
      space.pieces.push_back(std::move(each.piece));
    return space;
  }

private:
  struct Part {
    std::vector<Constraint> piece;
    Strongest strongest;
  };
  std::vector<Part> parts_;
};

Affine constant(int64_t value) {
  Affine made;
  made.constant = value;
  return made;
}

Constraint constraint(Constraint::Kind kind, Affine value, int64_t modulus = 0) {
  return {kind, std::move(value), modulus};
}

Operator negated(Operator comparison) {
  switch (comparison) {
  case Operator::Less:
    return Operator::GreaterEqual;
  case Operator::LessEqual:
    return Operator::Greater;
  case Operator::Greater:
    return Operator::LessEqual;
  case Operator::GreaterEqual:
    return Operator::Less;
  case Operator::Equal:
    return Operator::NotEqual;
  default:
    return Operator::Equal;
  }
}

bool holds(Operator op, int64_t left, int64_t right) {
  switch (op) {
  case Operator::Less:
    return left < right;
  case Operator::LessEqual:
    return left <= right;
  case Operator::Greater:
    return left > right;
  case Operator::GreaterEqual:
    return left >= right;
  case Operator::Equal:
    return left == right;
  default:
    return left != right;
  }
}

} // namespace

Affine Checker::affine(const Expr& expression) {
  const auto refuse = [&](std::string_view what) -> Affine {
    diagnostics_.report(notAffine, expression.location, what);
    throw CheckError();
  };
  Affine result;
  switch (expression.kind) {
  case ExprKind::Integer:
    if (expression.integer > static_cast<uint64_t>(greatest))
      break;
    return constant(static_cast<int64_t>(expression.integer));
  case ExprKind::Name: {
    const std::string& name = expression.name.text;
    if (const auto found = parameters_.find(name); found != parameters_.end()) {
      at(result.parameters, found->second) = 1;
      return result;
    }
    if (const auto found = iterators_.find(name); found != iterators_.end() && !onlyParameters_) {
      at(result.iterators, found->second) = 1;
      return result;
    }
    if (variables_.contains(name))
      return refuse("'" + name + "', a value,");
    std::vector<std::string> known;
    for (const auto& [each, number] : parameters_)
      known.push_back(each);
    if (!onlyParameters_)
      for (const auto& [each, number] : iterators_)
        known.push_back(each);
    DiagnosticBuilder report = diagnostics_.report(unknownSize, expression.location, name,
                                                   onlyParameters_ ? "parameter" : "parameter or iterator");
    proposeName(report, name, known);
    throw CheckError();
  }
  case ExprKind::Unary:
    if (expression.op == Operator::Plus)
      return affine(*expression.operands[0]);
    if (expression.op == Operator::Negate)
      return sum(Affine(), affine(*expression.operands[0]), -1);
    return refuse(std::string("'") + cfamily::operatorText(expression.op) + "'");
  case ExprKind::Binary: {
    if (expression.op != Operator::Add && expression.op != Operator::Subtract && expression.op != Operator::Multiply)
      return refuse(std::string("'") + cfamily::operatorText(expression.op) + "'");
    Affine left = affine(*expression.operands[0]);
    Affine right = affine(*expression.operands[1]);
    if (expression.op != Operator::Multiply) {
      result = sum(std::move(left), right, expression.op == Operator::Add ? 1 : -1);
    } else {
      if (!isConstant(left))
        std::swap(left, right);
      if (!isConstant(left))
        return refuse("this product");
      if (isLargeTimes(right, left.constant))
        break;
      result = sum(Affine(), right, left.constant);
    }
    if (isLarge(result))
      break;
    return result;
  }
  default:
    return refuse("this");
  }
  diagnostics_.report(tooLarge, expression.location, 40);
  throw CheckError();
}

std::optional<int64_t> Checker::constantOf(const Expr& expression) {
  const Affine value = affine(expression);
  return isConstant(value) ? std::optional(value.constant) : std::nullopt;
}

Space Checker::either(Space left, const Space& right, const Location& where) {
  left.pieces.insert(left.pieces.end(), right.pieces.begin(), right.pieces.end());
  if (left.pieces.size() > mostPieces) {
    diagnostics_.report(conditionSize, where, mostPieces);
    throw CheckError();
  }
  return left;
}

Space Checker::both(const Space& left, const Space& right, const Location& where) {
  Union result;
  for (const std::vector<Constraint>& a : left.pieces)
    for (const std::vector<Constraint>& b : right.pieces) {
      std::vector<Constraint> piece = a;
      piece.insert(piece.end(), b.begin(), b.end());
      if (!simplify(piece))
        continue;
      result.add(std::move(piece));
      if (result.size() > mostPieces) {
        diagnostics_.report(conditionSize, where, mostPieces);
        throw CheckError();
      }
    }
  return result.take();
}

Space Checker::condition(const Expr& expression, bool isNegated) {
  if (expression.kind == ExprKind::Unary && expression.op == Operator::Not)
    return condition(*expression.operands[0], !isNegated);
  if (expression.kind == ExprKind::Binary && cfamily::isLogical(expression.op)) {
    const Space left = condition(*expression.operands[0], isNegated);
    const Space right = condition(*expression.operands[1], isNegated);
    const bool isAnd = (expression.op == Operator::LogicalAnd) != isNegated;
    return isAnd ? both(left, right, expression.location) : either(left, right, expression.location);
  }
  if (expression.kind == ExprKind::Binary && cfamily::isComparison(expression.op))
    return comparison(expression, isNegated);
  diagnostics_.report(notACondition, expression.location, "this")
      .help("conditions compare: 'i > 0', '0 <= i < N', 'i mod 2 == 0'");
  throw CheckError();
}

Space Checker::comparison(const Expr& expression, bool isNegated) {
  const Expr& first = *expression.operands[0];
  const Expr& right = *expression.operands[1];
  const Operator op = isNegated ? negated(expression.op) : expression.op;
  // A comparison on the left is one in a row with this one: they share the operand between.
  if (first.kind == ExprKind::Binary && cfamily::isComparison(first.op) && !first.isParenthesized) {
    const Space before = comparison(first, isNegated);
    Expr last = expression;
    last.operands[0] = first.operands[1];
    const Space after = comparison(last, isNegated);
    return isNegated ? either(before, after, expression.location) : both(before, after, expression.location);
  }
  const auto isRemainder = [](const Expr& each) {
    return each.kind == ExprKind::Binary && each.op == Operator::Remainder;
  };
  if (isRemainder(first) || isRemainder(right)) {
    const Expr& other = isRemainder(first) ? right : first;
    const std::optional<int64_t> value = isRemainder(other) ? std::nullopt : constantOf(other);
    if (!value) {
      diagnostics_.report(notACondition, other.location, "a remainder compared with what is no constant");
      throw CheckError();
    }
    return compareRemainder(isRemainder(first) ? first : right, isRemainder(first) ? op : cfamily::mirrored(op), *value,
                            expression.location);
  }
  const Affine left = affine(first), difference = sum(affine(right), left, -1); // right - left
  const Affine less = sum(difference, constant(1), -1), greater = sum(sum(Affine(), difference, -1), constant(1), -1);
  using Kind = Constraint::Kind;
  switch (op) {
  case Operator::Less:
    return {{{constraint(Kind::NotNegative, less)}}};
  case Operator::LessEqual:
    return {{{constraint(Kind::NotNegative, difference)}}};
  case Operator::Greater:
    return {{{constraint(Kind::NotNegative, greater)}}};
  case Operator::GreaterEqual:
    return {{{constraint(Kind::NotNegative, sum(Affine(), difference, -1))}}};
  case Operator::Equal:
    return {{{constraint(Kind::Zero, difference)}}};
  default:
    return {{{constraint(Kind::NotNegative, less)}, {constraint(Kind::NotNegative, greater)}}};
  }
}

/// The remainder is the one that is not negative, as mathematics has it.
Space Checker::compareRemainder(const Expr& remainder, Operator op, int64_t right, const Location& where) {
  const Affine dividend = affine(*remainder.operands[0]);
  const std::optional<int64_t> modulus = constantOf(*remainder.operands[1]);
  if (!modulus || *modulus < 2 || *modulus > greatestModulus) {
    diagnostics_.report(badModulus, remainder.operands[1]->location, greatestModulus);
    throw CheckError();
  }
  const bool isWithin = right >= 0 && right < *modulus;
  const auto at = [&](int64_t residue) { return sum(dividend, constant(residue), -1); };
  using Kind = Constraint::Kind;
  if (op == Operator::Equal)
    return isWithin ? Space{{{constraint(Kind::Divisible, at(right), *modulus)}}} : Space{};
  if (op == Operator::NotEqual)
    return isWithin ? Space{{{constraint(Kind::NotDivisible, at(right), *modulus)}}} : Space{{{}}};
  if (*modulus > mostResidues) {
    diagnostics_.report(badModulus, remainder.operands[1]->location, mostResidues)
        .note("which of the remainders are meant is listed one by one, unless the comparison is == or !=");
    throw CheckError();
  }
  Space result;
  for (int64_t residue = 0; residue < *modulus; ++residue)
    if (holds(op, residue, right))
      result = either(std::move(result), {{{constraint(Kind::Divisible, at(residue), *modulus)}}}, where);
  return result;
}

bool Checker::mentionsIterators(const Expr& expression) {
  if (expression.kind == ExprKind::Name && iterators_.contains(expression.name.text))
    return true;
  return std::any_of(expression.operands.begin(), expression.operands.end(),
                     [&](const Expr* operand) { return mentionsIterators(*operand); });
}

} // namespace strata::pla

// Walks over isl's abstract syntax tree. See loops.h.
#include "compiler/equations/dialect/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/options.h>
#include <isl/union_map.h>

#include <algorithm>
#include <cmath>

namespace strata::equations {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

namespace {

/// Of more equations than these, loops are not separated by which of them are active: the code would grow too large.
constexpr size_t mostSeparated = 16;

[[noreturn]] void unknown(const char* what) {
  isl::exception::throw_invalid(what, __FILE__, __LINE__); // which does not come back
  __builtin_unreachable();
}

Reach operator+(Reach a, const Reach& b) {
  a.sizes.resize(std::max(a.sizes.size(), b.sizes.size()), 0);
  for (size_t i = 0; i < b.sizes.size(); ++i)
    a.sizes[i] += b.sizes[i];
  a.constant += b.constant;
  return a;
}
Reach operator*(double factor, Reach of) {
  for (double& each : of.sizes)
    each *= std::abs(factor);
  of.constant *= std::abs(factor);
  return of;
}
bool isConstant(const Reach& reach) {
  return std::all_of(reach.sizes.begin(), reach.sizes.end(), [](double each) { return each == 0; });
}

class Expressions {
public:
  Expressions(mlir::OpBuilder& builder, mlir::Location place, SizeLimit& limit)
      : builder_(builder), place_(place), limit_(limit) {}

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(place_, value); }

  Number evaluate(const isl::ast_expr& expression, const Numbers& names) {
    isl_ast_expr* const raw = expression.get();
    switch (isl_ast_expr_get_type(raw)) {
    case isl_ast_expr_int: {
      const isl::val value = isl::manage(isl_ast_expr_get_val(raw));
      const double number = isl_val_get_d(value.get());
      const Reach reach{{}, std::abs(number)};
      limit_.require(reach);
      return {constant(limit_.isBroken() ? 0 : isl_val_get_num_si(value.get())), reach};
    }
    case isl_ast_expr_id: {
      const isl::id id = isl::manage(isl_ast_expr_get_id(raw));
      const auto found = names.find(id.name());
      if (found == names.end())
        unknown("an unknown name");
      return found->second;
    }
    case isl_ast_expr_op: {
      const Number made = operation(raw, names);
      limit_.require(made.reach);
      return made;
    }
    default:
      unknown("an expression");
    }
  }

  /// factor · value more than a sum.
  Number add(const Number& sum, int64_t factor, const Number& value) {
    if (factor == 0)
      return sum;
    Value product = value.value;
    if (factor != 1)
      product = builder_.createOrFold<arith::MulIOp>(place_, product, constant(factor));
    const Reach reach = sum.reach + static_cast<double>(factor) * value.reach;
    limit_.require(reach);
    return {builder_.createOrFold<arith::AddIOp>(place_, sum.value, product), reach};
  }

private:
  template <typename Op>
  Value binary(const std::vector<Number>& operands) {
    Value result = operands[0].value;
    for (size_t i = 1; i < operands.size(); ++i)
      result = builder_.createOrFold<Op>(place_, result, operands[i].value);
    return result;
  }
  Number compare(arith::CmpIPredicate predicate, const std::vector<Number>& operands) {
    return {builder_.createOrFold<arith::CmpIOp>(place_, predicate, operands[0].value, operands[1].value), {}};
  }

  static Reach largest(const std::vector<Number>& operands) {
    Reach most;
    for (const Number& each : operands)
      most = larger(most, each.reach);
    return most;
  }
  static Reach sum(const std::vector<Number>& operands) {
    Reach all;
    for (const Number& each : operands)
      all = all + each.reach;
    return all;
  }
  static Reach product(const std::vector<Number>& operands) {
    const bool isFirst = isConstant(operands[0].reach); // one is a constant
    if (operands.size() != 2 || (!isFirst && !isConstant(operands[1].reach)))
      unknown("a product of sizes");
    return operands[isFirst ? 0 : 1].reach.constant * operands[isFirst ? 1 : 0].reach;
  }

  /// By a constant, as all of isl's.
  static Reach quotient(const std::vector<Number>& operands) {
    if (!isConstant(operands[1].reach) || operands[1].reach.constant < 1)
      unknown("a quotient by a size");
    return 1 / operands[1].reach.constant * operands[0].reach + Reach{{}, 1};
  }

  Number operation(isl_ast_expr* raw, const Numbers& names) {
    std::vector<Number> operands;
    const int count = isl_ast_expr_get_op_n_arg(raw);
    for (int i = 0; i < count; ++i)
      operands.push_back(evaluate(isl::manage(isl_ast_expr_get_op_arg(raw, i)), names));
    using P = arith::CmpIPredicate;
    switch (isl_ast_expr_get_op_type(raw)) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return {binary<arith::AndIOp>(operands), {}};
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return {binary<arith::OrIOp>(operands), {}};
    case isl_ast_expr_op_max:
      return {binary<arith::MaxSIOp>(operands), largest(operands)};
    case isl_ast_expr_op_min:
      return {binary<arith::MinSIOp>(operands), largest(operands)};
    case isl_ast_expr_op_minus:
      return {builder_.createOrFold<arith::SubIOp>(place_, constant(0), operands[0].value), operands[0].reach};
    case isl_ast_expr_op_add:
      return {binary<arith::AddIOp>(operands), sum(operands)};
    case isl_ast_expr_op_sub:
      return {binary<arith::SubIOp>(operands), sum(operands)};
    case isl_ast_expr_op_mul:
      return {binary<arith::MulIOp>(operands), product(operands)};
    case isl_ast_expr_op_div: // without remainder
    case isl_ast_expr_op_pdiv_q:
      return {binary<arith::DivSIOp>(operands), quotient(operands)};
    case isl_ast_expr_op_fdiv_q:
      return {binary<arith::FloorDivSIOp>(operands), quotient(operands)};
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return {binary<arith::RemSIOp>(operands), operands[1].reach};
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select:
      return {builder_.createOrFold<arith::SelectOp>(place_, operands[0].value, operands[1].value, operands[2].value),
              largest(operands)};
    case isl_ast_expr_op_eq:
      return compare(P::eq, operands);
    case isl_ast_expr_op_le:
      return compare(P::sle, operands);
    case isl_ast_expr_op_lt:
      return compare(P::slt, operands);
    case isl_ast_expr_op_ge:
      return compare(P::sge, operands);
    case isl_ast_expr_op_gt:
      return compare(P::sgt, operands);
    default:
      unknown("an operation");
    }
  }

  mlir::OpBuilder& builder_;
  mlir::Location place_;
  SizeLimit& limit_;
};

class Loops {
public:
  Loops(mlir::OpBuilder& builder, mlir::Location place, Expressions& expressions, Numbers names,
        std::function<void(uint32_t, const std::vector<Number>&)> body)
      : builder_(builder), place_(place), expressions_(expressions), names_(std::move(names)), body_(std::move(body)) {}

  void visit(const isl::ast_node& node) {
    isl_ast_node* const raw = node.get();
    switch (isl_ast_node_get_type(raw)) {
    case isl_ast_node_for:
      loop(raw);
      break;
    case isl_ast_node_if:
      choice(raw);
      break;
    case isl_ast_node_block: {
      const isl::ast_node_list list = isl::manage(isl_ast_node_block_get_children(raw));
      const int count = isl_ast_node_list_n_ast_node(list.get());
      for (int i = 0; i < count; ++i)
        visit(isl::manage(isl_ast_node_list_get_ast_node(list.get(), i)));
      break;
    }
    case isl_ast_node_user:
      call(isl::manage(isl_ast_node_user_get_expr(raw)));
      break;
    default:
      unknown("a statement");
    }
  }

private:
  void loop(isl_ast_node* raw) {
    const isl::ast_expr iterator = isl::manage(isl_ast_node_for_get_iterator(raw));
    const std::string name = isl::id(isl::manage(isl_ast_expr_get_id(iterator.get()))).name();
    const Number first = expressions_.evaluate(isl::manage(isl_ast_node_for_get_init(raw)), names_);
    const isl::ast_node inner = isl::manage(isl_ast_node_for_get_body(raw));
    if (isl_ast_node_for_is_degenerate(raw) == isl_bool_true) {
      names_[name] = first;
      visit(inner);
      names_.erase(name);
      return;
    }
    const isl::ast_expr condition = isl::manage(isl_ast_node_for_get_cond(raw));
    const Number last = expressions_.evaluate(isl::manage(isl_ast_expr_get_op_arg(condition.get(), 1)), names_);
    Value end = last.value;
    if (isl_ast_expr_get_op_type(condition.get()) == isl_ast_expr_op_le)
      end = builder_.create<arith::AddIOp>(place_, end, expressions_.constant(1));
    const Value step = expressions_.evaluate(isl::manage(isl_ast_node_for_get_inc(raw)), names_).value;
    auto made = builder_.create<scf::ForOp>(place_, first.value, end, step);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    names_[name] = {made.getInductionVar(), larger(first.reach, last.reach)};
    visit(inner);
    names_.erase(name);
  }

  void choice(isl_ast_node* raw) {
    const Value condition = expressions_.evaluate(isl::manage(isl_ast_node_if_get_cond(raw)), names_).value;
    const bool hasElse = isl_ast_node_if_has_else_node(raw) == isl_bool_true;
    auto made = builder_.create<scf::IfOp>(place_, condition, hasElse);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.thenBlock());
    visit(isl::manage(isl_ast_node_if_get_then_node(raw)));
    if (hasElse) {
      builder_.setInsertionPointToStart(made.elseBlock());
      visit(isl::manage(isl_ast_node_if_get_else_node(raw)));
    }
  }

  void call(const isl::ast_expr& expression) {
    const isl::ast_expr name = isl::manage(isl_ast_expr_get_op_arg(expression.get(), 0));
    const std::string text = isl::id(isl::manage(isl_ast_expr_get_id(name.get()))).name();
    std::vector<Number> iterators;
    const int count = isl_ast_expr_get_op_n_arg(expression.get());
    for (int i = 1; i < count; ++i)
      iterators.push_back(expressions_.evaluate(isl::manage(isl_ast_expr_get_op_arg(expression.get(), i)), names_));
    body_(static_cast<uint32_t>(std::stoul(text.substr(1))), iterators);
  }

  mlir::OpBuilder& builder_;
  mlir::Location place_;
  Expressions& expressions_;
  Numbers names_;
  std::function<void(uint32_t, const std::vector<Number>&)> body_;
};

/// By place, whether it tells any equations apart; the last one is always looked at. Every dimension of a schedule
/// costs isl as much as a loop.
std::vector<bool> placesThatDiffer(const std::vector<Time>& times) {
  std::vector<bool> differ(times.front().places.size());
  for (size_t i = 0; i < differ.size(); ++i)
    differ[i] = i + 1 == differ.size() ||
                std::ranges::any_of(times, [&](const Time& each) { return each.places[i] != times[0].places[i]; });
  return differ;
}

/// "{ N3[i0, i1] -> [i0, i1, 2] }" of an equation that stands third in the innermost loop, where all are in the same
/// loops.
std::string scheduleText(const System& system, uint32_t equation, const Time& time, const std::vector<bool>& places) {
  std::string tuple, moments;
  for (size_t i = 0; i < system.iterators.size(); ++i) {
    tuple += (i ? ", i" : "i") + std::to_string(i);
    std::string sum = std::to_string(time.shifts[i]);
    for (size_t j = 0; j < system.iterators.size(); ++j)
      if (time.directions[i][j] != 0)
        sum += " + " + std::to_string(time.directions[i][j]) + "*i" + std::to_string(j);
    moments += (places[i] ? std::to_string(time.places[i]) + ", " : "") + sum + ", ";
  }
  return "{ N" + std::to_string(equation) + "[" + tuple + "] -> [" + moments + std::to_string(time.places.back()) +
         "] }";
}

} // namespace

Reach larger(Reach a, const Reach& b) {
  a.sizes.resize(std::max(a.sizes.size(), b.sizes.size()), 0);
  for (size_t i = 0; i < b.sizes.size(); ++i)
    a.sizes[i] = std::max(a.sizes[i], b.sizes[i]);
  a.constant = std::max(a.constant, b.constant);
  return a;
}

Numbers sizes(mlir::ValueRange values) {
  Numbers made;
  for (auto [position, value] : llvm::enumerate(values)) {
    Number& number = made["p" + std::to_string(position)];
    number.value = value;
    number.reach.sizes.resize(position + 1, 0);
    number.reach.sizes.back() = 1;
  }
  return made;
}

void SizeLimit::require(const Reach& reach) {
  // Sums of two such numbers fit as well: what is computed of bounds, such as how many iterations there are.
  constexpr double most = 0x1p61;
  isBroken_ |= reach.constant >= most;
  const auto count = std::count_if(reach.sizes.begin(), reach.sizes.end(), [](double each) { return each > 0; });
  most_.resize(std::max(most_.size(), reach.sizes.size()), any);
  for (size_t i = 0; i < reach.sizes.size() && !isBroken_; ++i)
    if (reach.sizes[i] > 0) { // an equal part of the range for each
      const double share = (most - reach.constant) / (static_cast<double>(count) * reach.sizes[i]);
      most_[i] = static_cast<int64_t>(std::min(share, static_cast<double>(most_[i])));
    }
}

Number leastOf(mlir::OpBuilder& builder, mlir::Location place, const isl::set& set, unsigned dimension, bool isGreatest,
               const Numbers& parameters, SizeLimit& limit) {
  const isl::pw_aff bound = isl::manage(isGreatest ? isl_set_dim_max(set.copy(), static_cast<int>(dimension))
                                                   : isl_set_dim_min(set.copy(), static_cast<int>(dimension)));
  isl_ast_build* build = isl_ast_build_from_context(isl_pw_aff_domain(bound.copy()));
  const isl::ast_expr expression = isl::manage(isl_ast_build_expr_from_pw_aff(build, bound.copy()));
  isl_ast_build_free(build);
  return Expressions(builder, place, limit).evaluate(expression, parameters);
}

namespace {

bool hasRemainders(const isl::set& set) {
  bool found = false;
  set.foreach_basic_set(
      [&](const isl::basic_set& piece) { found |= isl_basic_set_dim(piece.get(), isl_dim_div) != 0; });
  return found;
}

/// A set that holds this one, without remainders: isl generates wrong loops for unions of sets that have some, since it
/// coalesces them (polyhedra.h).
isl::set withoutRemainders(const isl::set& set) {
  return coalesced(isl::set(isl::manage(isl_set_remove_divs(set.copy()))));
}

/// Whether the values of the iterators are in a space.
Value isIn(mlir::OpBuilder& builder, mlir::Location place, Expressions& expressions, const Space& space,
           const std::vector<Number>& iterators, const Numbers& parameters) {
  const auto holds = [&](const Constraint& each) -> Value {
    Number sum{expressions.constant(each.value.constant), {{}, std::abs(static_cast<double>(each.value.constant))}};
    for (size_t i = 0; i < each.value.iterators.size(); ++i)
      sum = expressions.add(sum, each.value.iterators[i], iterators[i]);
    for (size_t i = 0; i < each.value.parameters.size(); ++i)
      if (each.value.parameters[i] != 0)
        sum = expressions.add(sum, each.value.parameters[i], parameters.at("p" + std::to_string(i)));
    Value value = sum.value;
    using Kind = Constraint::Kind;
    if (each.kind == Kind::Divisible || each.kind == Kind::NotDivisible)
      value = builder.createOrFold<arith::RemSIOp>(place, value, expressions.constant(each.modulus));
    const auto predicate = each.kind == Kind::NotNegative    ? arith::CmpIPredicate::sge
                           : each.kind == Kind::NotDivisible ? arith::CmpIPredicate::ne
                                                             : arith::CmpIPredicate::eq;
    return builder.createOrFold<arith::CmpIOp>(place, predicate, value, expressions.constant(0));
  };
  Value any = builder.create<arith::ConstantIntOp>(place, 0, 1);
  for (const std::vector<Constraint>& piece : space.pieces) {
    Value all = builder.create<arith::ConstantIntOp>(place, 1, 1);
    for (const Constraint& each : piece)
      all = builder.createOrFold<arith::AndIOp>(place, all, holds(each));
    any = builder.createOrFold<arith::OrIOp>(place, any, all);
  }
  return any;
}

} // namespace

void buildLoops(mlir::OpBuilder& builder, mlir::Location place, const System& system, const std::vector<Time>& times,
                const Polyhedra& polyhedra, const Numbers& parameters, SizeLimit& limit,
                const std::function<void(uint32_t, const std::vector<Value>&)>& body) {
  const isl::set context = withoutRemainders(polyhedra.context(system.context));
  if (system.equations.empty())
    return;
  const std::vector<bool> places = placesThatDiffer(times);
  isl_union_map* schedule = nullptr;
  std::vector<bool> isGuarded(system.equations.size());
  for (uint32_t equation = 0; equation < system.equations.size(); ++equation) {
    isl::set domain = polyhedra.set(system.equations[equation].guard);
    isGuarded[equation] =
        hasRemainders(domain) && (system.equations.size() > 1 || isl_set_n_basic_set(domain.get()) > 1);
    if (isGuarded[equation])
      domain = withoutRemainders(domain);
    domain = domain.intersect(context);
    domain = isl::manage(isl_set_set_tuple_name(domain.release(), ("N" + std::to_string(equation)).c_str()));
    const isl::map own =
        polyhedra.parsedMap(scheduleText(system, equation, times[equation], places)).intersect_domain(domain);
    isl_union_map* const part = isl_union_map_from_map(own.copy());
    schedule = schedule ? isl_union_map_union(schedule, part) : part;
  }
  const isl::union_map all = isl::manage(schedule);
  isl_ast_build* build = isl_ast_build_from_context(context.params().release());
  if (system.equations.size() <= mostSeparated) {
    std::string moments;
    for (size_t i = 0; i < system.iterators.size() + static_cast<size_t>(std::ranges::count(places, true)); ++i)
      moments += (i ? ", t" : "t") + std::to_string(i);
    build = isl_ast_build_set_options(
        build, isl_union_map_from_map(polyhedra.parsedMap("{ [" + moments + "] -> separate[x] }").release()));
  }
  const isl::ast_node tree = isl::manage(isl_ast_build_node_from_schedule_map(build, all.copy()));
  isl_ast_build_free(build);
  Expressions expressions(builder, place, limit);
  const auto guarded = [&](uint32_t equation, const std::vector<Number>& iterators) {
    std::vector<Value> values;
    for (const Number& each : iterators)
      values.push_back(each.value);
    if (!isGuarded[equation])
      return body(equation, values);
    const Value isActive = isIn(builder, place, expressions, system.equations[equation].guard, iterators, parameters);
    auto made = builder.create<scf::IfOp>(place, isActive, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.thenBlock());
    body(equation, values);
  };
  Loops(builder, place, expressions, parameters, guarded).visit(tree);
}

} // namespace strata::equations

// Walks over isl's abstract syntax tree. See loops.h.
#include "compiler/equations/dialect/loops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <isl/ast.h>
#include <isl/ast_build.h>
#include <isl/options.h>
#include <isl/union_map.h>

namespace strata::equations {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

namespace {

/// Of more nodes than these, loops are not separated by which of them are active: the code would grow too large.
constexpr size_t mostSeparated = 16;

[[noreturn]] void unknown(const char* what) {
  isl::exception::throw_invalid(what, __FILE__, __LINE__); // which does not come back
  __builtin_unreachable();
}

class Expressions {
public:
  Expressions(mlir::OpBuilder& builder, mlir::Location place) : builder_(builder), place_(place) {}

  Value constant(int64_t value) { return builder_.create<arith::ConstantIndexOp>(place_, value); }

  Value evaluate(const isl::ast_expr& expression, const Bindings& names) {
    isl_ast_expr* const raw = expression.get();
    switch (isl_ast_expr_get_type(raw)) {
    case isl_ast_expr_int: {
      const isl::val value = isl::manage(isl_ast_expr_get_val(raw));
      return constant(isl_val_get_num_si(value.get()));
    }
    case isl_ast_expr_id: {
      const isl::id id = isl::manage(isl_ast_expr_get_id(raw));
      const auto found = names.find(id.name());
      if (found == names.end())
        unknown("an unknown name");
      return found->second;
    }
    case isl_ast_expr_op:
      return operation(raw, names);
    default:
      unknown("an expression");
    }
  }

private:
  template <typename Op>
  Value binary(const std::vector<Value>& operands) {
    Value result = operands[0];
    for (size_t i = 1; i < operands.size(); ++i)
      result = builder_.createOrFold<Op>(place_, result, operands[i]);
    return result;
  }
  Value compare(arith::CmpIPredicate predicate, const std::vector<Value>& operands) {
    return builder_.createOrFold<arith::CmpIOp>(place_, predicate, operands[0], operands[1]);
  }

  Value operation(isl_ast_expr* raw, const Bindings& names) {
    std::vector<Value> operands;
    const int count = isl_ast_expr_get_op_n_arg(raw);
    for (int i = 0; i < count; ++i)
      operands.push_back(evaluate(isl::manage(isl_ast_expr_get_op_arg(raw, i)), names));
    using P = arith::CmpIPredicate;
    switch (isl_ast_expr_get_op_type(raw)) {
    case isl_ast_expr_op_and:
    case isl_ast_expr_op_and_then:
      return binary<arith::AndIOp>(operands);
    case isl_ast_expr_op_or:
    case isl_ast_expr_op_or_else:
      return binary<arith::OrIOp>(operands);
    case isl_ast_expr_op_max:
      return binary<arith::MaxSIOp>(operands);
    case isl_ast_expr_op_min:
      return binary<arith::MinSIOp>(operands);
    case isl_ast_expr_op_minus:
      return builder_.createOrFold<arith::SubIOp>(place_, constant(0), operands[0]);
    case isl_ast_expr_op_add:
      return binary<arith::AddIOp>(operands);
    case isl_ast_expr_op_sub:
      return binary<arith::SubIOp>(operands);
    case isl_ast_expr_op_mul:
      return binary<arith::MulIOp>(operands);
    case isl_ast_expr_op_div: // without remainder
    case isl_ast_expr_op_pdiv_q:
      return binary<arith::DivSIOp>(operands);
    case isl_ast_expr_op_fdiv_q:
      return binary<arith::FloorDivSIOp>(operands);
    case isl_ast_expr_op_pdiv_r:
    case isl_ast_expr_op_zdiv_r:
      return binary<arith::RemSIOp>(operands);
    case isl_ast_expr_op_cond:
    case isl_ast_expr_op_select:
      return builder_.createOrFold<arith::SelectOp>(place_, operands[0], operands[1], operands[2]);
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
};

class Loops {
public:
  Loops(mlir::OpBuilder& builder, mlir::Location place, Bindings names,
        std::function<void(uint32_t, const std::vector<Value>&)> body)
      : builder_(builder), place_(place), expressions_(builder, place), names_(std::move(names)),
        body_(std::move(body)) {}

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
    const Value first = expressions_.evaluate(isl::manage(isl_ast_node_for_get_init(raw)), names_);
    const isl::ast_node inner = isl::manage(isl_ast_node_for_get_body(raw));
    if (isl_ast_node_for_is_degenerate(raw) == isl_bool_true) {
      names_[name] = first;
      visit(inner);
      names_.erase(name);
      return;
    }
    const isl::ast_expr condition = isl::manage(isl_ast_node_for_get_cond(raw));
    Value end = expressions_.evaluate(isl::manage(isl_ast_expr_get_op_arg(condition.get(), 1)), names_);
    if (isl_ast_expr_get_op_type(condition.get()) == isl_ast_expr_op_le)
      end = builder_.create<arith::AddIOp>(place_, end, expressions_.constant(1));
    const Value step = expressions_.evaluate(isl::manage(isl_ast_node_for_get_inc(raw)), names_);
    auto made = builder_.create<scf::ForOp>(place_, first, end, step);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(made.getBody());
    names_[name] = made.getInductionVar();
    visit(inner);
    names_.erase(name);
  }

  void choice(isl_ast_node* raw) {
    const Value condition = expressions_.evaluate(isl::manage(isl_ast_node_if_get_cond(raw)), names_);
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
    std::vector<Value> iterators;
    const int count = isl_ast_expr_get_op_n_arg(expression.get());
    for (int i = 1; i < count; ++i)
      iterators.push_back(expressions_.evaluate(isl::manage(isl_ast_expr_get_op_arg(expression.get(), i)), names_));
    body_(static_cast<uint32_t>(std::stoul(text.substr(1))), iterators);
  }

  mlir::OpBuilder& builder_;
  mlir::Location place_;
  Expressions expressions_;
  Bindings names_;
  std::function<void(uint32_t, const std::vector<Value>&)> body_;
};

/// "{ N3[i0, i1] -> [0, i0, 0, i1, 2] }" of a node that stands third in the innermost loop.
std::string scheduleText(const Graph& graph, uint32_t node, const Time& time) {
  std::string tuple, moments;
  for (size_t i = 0; i < graph.iterators.size(); ++i) {
    tuple += (i ? ", i" : "i") + std::to_string(i);
    std::string sum = std::to_string(time.shifts[i]);
    for (size_t j = 0; j < graph.iterators.size(); ++j)
      if (time.directions[i][j] != 0)
        sum += " + " + std::to_string(time.directions[i][j]) + "*i" + std::to_string(j);
    moments += std::to_string(time.places[i]) + ", " + sum + ", ";
  }
  return "{ N" + std::to_string(node) + "[" + tuple + "] -> [" + moments + std::to_string(time.places.back()) + "] }";
}

} // namespace

Value leastOf(mlir::OpBuilder& builder, mlir::Location place, const isl::set& set, unsigned dimension, bool isGreatest,
              const Bindings& parameters) {
  const isl::pw_aff bound = isl::manage(isGreatest ? isl_set_dim_max(set.copy(), static_cast<int>(dimension))
                                                   : isl_set_dim_min(set.copy(), static_cast<int>(dimension)));
  isl_ast_build* build = isl_ast_build_from_context(isl_pw_aff_domain(bound.copy()));
  const isl::ast_expr expression = isl::manage(isl_ast_build_expr_from_pw_aff(build, bound.copy()));
  isl_ast_build_free(build);
  return Expressions(builder, place).evaluate(expression, parameters);
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
Value isIn(mlir::OpBuilder& builder, mlir::Location place, const Space& space, const std::vector<Value>& iterators,
           const Bindings& parameters) {
  const auto constant = [&](int64_t value) -> Value { return builder.create<arith::ConstantIndexOp>(place, value); };
  const auto add = [&](Value sum, int64_t factor, Value value) -> Value {
    if (factor == 0)
      return sum;
    if (factor != 1)
      value = builder.createOrFold<arith::MulIOp>(place, value, constant(factor));
    return builder.createOrFold<arith::AddIOp>(place, sum, value);
  };
  const auto holds = [&](const Constraint& each) -> Value {
    Value value = constant(each.value.constant);
    for (size_t i = 0; i < each.value.iterators.size(); ++i)
      value = add(value, each.value.iterators[i], iterators[i]);
    for (size_t i = 0; i < each.value.parameters.size(); ++i)
      value = add(value, each.value.parameters[i], parameters.at("p" + std::to_string(i)));
    using Kind = Constraint::Kind;
    if (each.kind == Kind::Divisible || each.kind == Kind::NotDivisible)
      value = builder.createOrFold<arith::RemSIOp>(place, value, constant(each.modulus));
    const auto predicate = each.kind == Kind::NotNegative    ? arith::CmpIPredicate::sge
                           : each.kind == Kind::NotDivisible ? arith::CmpIPredicate::ne
                                                             : arith::CmpIPredicate::eq;
    return builder.createOrFold<arith::CmpIOp>(place, predicate, value, constant(0));
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

void buildLoops(mlir::OpBuilder& builder, mlir::Location place, const Graph& graph, const std::vector<Time>& times,
                const Polyhedra& polyhedra, const Bindings& parameters,
                const std::function<void(uint32_t, const std::vector<Value>&)>& body) {
  const isl::set context = withoutRemainders(polyhedra.context(graph.context));
  isl_union_map* schedule = nullptr;
  std::vector<bool> isGuarded(graph.nodes.size());
  for (uint32_t node = 0; node < graph.nodes.size(); ++node) {
    isl::set domain = polyhedra.set(graph.nodes[node].domain);
    isGuarded[node] = hasRemainders(domain) && (graph.nodes.size() > 1 || isl_set_n_basic_set(domain.get()) > 1);
    if (isGuarded[node])
      domain = withoutRemainders(domain);
    domain = domain.intersect(context);
    domain = isl::manage(isl_set_set_tuple_name(domain.release(), ("N" + std::to_string(node)).c_str()));
    const isl::map own = polyhedra.parsedMap(scheduleText(graph, node, times[node])).intersect_domain(domain);
    isl_union_map* const part = isl_union_map_from_map(own.copy());
    schedule = schedule ? isl_union_map_union(schedule, part) : part;
  }
  if (!schedule)
    return;
  const isl::union_map all = isl::manage(schedule);
  isl_ast_build* build = isl_ast_build_from_context(context.params().release());
  if (graph.nodes.size() <= mostSeparated) {
    std::string moments;
    for (size_t i = 0; i < 2 * graph.iterators.size() + 1; ++i)
      moments += (i ? ", t" : "t") + std::to_string(i);
    build = isl_ast_build_set_options(
        build, isl_union_map_from_map(polyhedra.parsedMap("{ [" + moments + "] -> separate[x] }").release()));
  }
  const isl::ast_node tree = isl::manage(isl_ast_build_node_from_schedule_map(build, all.copy()));
  isl_ast_build_free(build);
  const auto guarded = [&](uint32_t node, const std::vector<Value>& iterators) {
    if (!isGuarded[node])
      return body(node, iterators);
    const Value isActive = isIn(builder, place, graph.nodes[node].domain, iterators, parameters);
    auto made = builder.create<scf::IfOp>(place, isActive, /*withElseRegion=*/false);
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(made.thenBlock());
    body(node, iterators);
  };
  Loops(builder, place, parameters, guarded).visit(tree);
}

} // namespace strata::equations

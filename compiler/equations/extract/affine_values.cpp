// By recursion over operations; what has been found is kept. Unsigned and truncating operations are affine where their
// operands are not negative in the block that holds them. See affine_values.h.
#include "compiler/equations/extract/affine_values.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace strata::equations::extraction {

namespace arith = mlir::arith;

isl::pw_aff AffineValues::parsed(const std::string& text, unsigned depth) const {
  return isl::pw_aff(program_.ctx(), parameterPrefix(program_.parameters.size()) + "{ " + vectorText("x", depth) +
                                         " -> [(" + text + ")] }");
}

isl::pw_aff AffineValues::constant(int64_t value, unsigned depth) const {
  return parsed(std::to_string(value), depth);
}
isl::pw_aff AffineValues::parameter(size_t number) const {
  const std::optional<int64_t> known = program_.parameters[number].number;
  return known ? constant(*known, 0) : parsed("p" + std::to_string(number), 0);
}
isl::pw_aff AffineValues::entry(unsigned number, unsigned depth) const {
  return parsed("x" + std::to_string(number), depth);
}
isl::set AffineValues::everywhere(unsigned depth) const {
  return program_.sets->parsedSet("{ " + vectorText("x", depth) + " }");
}

isl::pw_aff AffineValues::lifted(const isl::pw_aff& value, unsigned depth) {
  const auto has = static_cast<unsigned>(isl_pw_aff_dim(value.get(), isl_dim_in));
  return depth > has ? isl::manage(isl_pw_aff_add_dims(value.copy(), isl_dim_in, depth - has)) : value;
}

namespace {

/// How many loops are around the definition.
unsigned depthOf(const isl::pw_aff& value) {
  return static_cast<unsigned>(isl_pw_aff_dim(value.get(), isl_dim_in));
}

bool isConstant(const isl::pw_aff& value) {
  return isl_pw_aff_is_cst(value.get()) == isl_bool_true;
}

/// REQUIRES: isConstant(value).
std::optional<int64_t> numberOf(const isl::pw_aff& value) {
  std::optional<int64_t> found;
  value.foreach_piece([&](const isl::set&, const isl::multi_aff& piece) {
    const isl::val number = isl::manage(isl_aff_get_constant_val(piece.at(0).get()));
    if (isl_val_is_int(number.get()) == isl_bool_true)
      found = isl_val_get_num_si(number.get());
  });
  return found;
}

std::optional<int64_t> constantOf(mlir::Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
      return integer.getType().isInteger(1) ? static_cast<int64_t>(integer.getValue().getZExtValue())
                                            : integer.getValue().getSExtValue();
  return std::nullopt;
}

/// Types in which sums do not leave what isl computes with.
bool isWide(mlir::Type type) {
  return type.isIndex() || type.isInteger(64);
}

isl::pw_aff quotient(const isl::pw_aff& value, int64_t divisor, bool isUp) {
  const isl::pw_aff exact = value.scale_down(divisor);
  return isUp ? exact.ceil() : exact.floor();
}

} // namespace

bool AffineValues::isNotNegative(const isl::pw_aff& value, mlir::Operation* at, unsigned depth) const {
  const auto found = domains_.find(at->getBlock());
  if (found == domains_.end())
    return false;
  const auto has = static_cast<unsigned>(isl_set_dim(found->second.get(), isl_dim_set));
  if (has < depthOf(value))
    return false;
  const isl::pw_aff here = lifted(value, has);
  return found->second.intersect(here.lt_set(constant(0, has))).intersect_params(program_.context).is_empty();
}

isl::pw_aff AffineValues::least(const isl::pw_aff& left, const isl::pw_aff& right, mlir::Operation* at,
                                unsigned depth) const {
  if (isNotNegative(right.sub(left), at, depth))
    return left;
  return isNotNegative(left.sub(right), at, depth) ? right : left.min(right);
}
isl::pw_aff AffineValues::greatest(const isl::pw_aff& left, const isl::pw_aff& right, mlir::Operation* at,
                                   unsigned depth) const {
  if (isNotNegative(right.sub(left), at, depth))
    return right;
  return isNotNegative(left.sub(right), at, depth) ? left : left.max(right);
}

void AffineValues::noteFactors(const isl::pw_aff& value) {
  const auto iterators = static_cast<unsigned>(isl_pw_aff_dim(value.get(), isl_dim_in));
  if (iterators > 0 && isl_pw_aff_involves_dims(value.get(), isl_dim_in, 0, iterators) != isl_bool_false)
    return;
  for (unsigned i = 0; i < program_.parameters.size(); ++i)
    if (isl_pw_aff_involves_dims(value.get(), isl_dim_param, i, 1) == isl_bool_true)
      factors_.insert(i);
}

std::optional<isl::pw_aff> AffineValues::value(mlir::Value value, unsigned depth) {
  if (const auto found = known_.find(value); found != known_.end())
    return found->second ? std::optional(lifted(*found->second, depth)) : std::nullopt;
  mlir::Operation* op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (const std::optional<int64_t> number = constantOf(value))
    return constant(*number, depth);
  // Once for the loops around the operation: it is the same in all deeper ones.
  const auto block = domains_.find(op->getBlock());
  const unsigned own =
      block == domains_.end() ? depth : static_cast<unsigned>(isl_set_dim(block->second.get(), isl_dim_set));
  std::optional<isl::pw_aff> made = compute(op, own);
  known_[value] = made;
  return made && own <= depth ? std::optional(lifted(*made, depth)) : std::nullopt;
}

std::optional<isl::pw_aff> AffineValues::compute(mlir::Operation* op, unsigned depth) {
  const auto operand = [&](unsigned number) { return value(op->getOperand(number), depth); };
  if (auto cast = mlir::dyn_cast<arith::IndexCastOp>(op)) // a number of fewer bits is cut, one of as many is itself
    return isWide(cast.getType()) ? operand(0) : std::nullopt;
  if (mlir::isa<arith::ExtSIOp>(op))
    return operand(0);
  if (auto apply = mlir::dyn_cast<mlir::affine::AffineApplyOp>(op))
    return value(apply.getAffineMap().getResult(0), apply.getAffineMap().getNumDims(), apply.getMapOperands(), depth);
  if (mlir::isa<mlir::affine::AffineMinOp, mlir::affine::AffineMaxOp>(op)) {
    const bool isLeast = mlir::isa<mlir::affine::AffineMinOp>(op);
    const mlir::AffineMap map = isLeast ? mlir::cast<mlir::affine::AffineMinOp>(op).getMap()
                                        : mlir::cast<mlir::affine::AffineMaxOp>(op).getMap();
    std::optional<isl::pw_aff> all;
    for (const mlir::AffineExpr each : map.getResults()) {
      const std::optional<isl::pw_aff> one = value(each, map.getNumDims(), op->getOperands(), depth);
      if (!one)
        return std::nullopt;
      all = !all ? *one : isLeast ? all->min(*one) : all->max(*one);
    }
    return all;
  }
  if (op->getNumResults() != 1 || !isWide(op->getResult(0).getType()))
    return std::nullopt;
  if (mlir::isa<arith::SelectOp>(op)) {
    const std::optional<isl::set> chosen = condition(op->getOperand(0), depth);
    const std::optional<isl::pw_aff> one = operand(1), other = operand(2);
    if (!chosen || !one || !other)
      return std::nullopt;
    return isl::manage(isl_pw_aff_union_add(one->intersect_domain(*chosen).release(),
                                            other->intersect_domain(chosen->complement()).release()));
  }
  if (op->getNumOperands() != 2)
    return std::nullopt;
  const std::optional<isl::pw_aff> left = operand(0), right = operand(1);
  if (!left || !right)
    return std::nullopt;
  if (mlir::isa<arith::AddIOp>(op))
    return left->add(*right);
  if (mlir::isa<arith::SubIOp>(op))
    return left->sub(*right);
  if (mlir::isa<arith::MulIOp>(op)) {
    if (isConstant(*left) || isConstant(*right))
      return left->mul(*right);
    noteFactors(*right);
    noteFactors(*left);
    return std::nullopt;
  }
  if (mlir::isa<arith::MinSIOp>(op))
    return least(*left, *right, op, depth);
  if (mlir::isa<arith::MaxSIOp>(op))
    return greatest(*left, *right, op, depth);
  if (mlir::isa<arith::MinUIOp, arith::MaxUIOp>(op)) {
    if (!isNotNegative(*left, op, depth) || !isNotNegative(*right, op, depth))
      return std::nullopt;
    return mlir::isa<arith::MinUIOp>(op) ? least(*left, *right, op, depth) : greatest(*left, *right, op, depth);
  }
  std::optional<int64_t> divisor = constantOf(op->getOperand(1));
  if (!divisor && isConstant(*right)) // a size that is a number
    divisor = numberOf(*right);
  if (!divisor)
    noteFactors(*right);
  if (!divisor || *divisor <= 0)
    return std::nullopt;
  if (mlir::isa<arith::FloorDivSIOp>(op))
    return quotient(*left, *divisor, false);
  if (mlir::isa<arith::CeilDivSIOp>(op))
    return quotient(*left, *divisor, true);
  if (!isNotNegative(*left, op, depth))
    return std::nullopt;
  if (mlir::isa<arith::DivSIOp, arith::DivUIOp>(op))
    return quotient(*left, *divisor, false);
  if (mlir::isa<arith::CeilDivUIOp>(op))
    return quotient(*left, *divisor, true);
  if (mlir::isa<arith::RemSIOp, arith::RemUIOp>(op))
    return left->sub(quotient(*left, *divisor, false).scale(*divisor));
  return std::nullopt;
}

std::optional<isl::set> AffineValues::condition(mlir::Value value, unsigned depth) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (const std::optional<int64_t> number = constantOf(value))
    return *number ? everywhere(depth) : everywhere(depth).complement();
  if (mlir::isa<arith::CmpIOp>(op))
    return compare(op, depth);
  if (!mlir::isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  const std::optional<isl::set> left = condition(op->getOperand(0), depth), right = condition(op->getOperand(1), depth);
  if (!left || !right)
    return std::nullopt;
  if (mlir::isa<arith::AndIOp>(op))
    return left->intersect(*right);
  if (mlir::isa<arith::OrIOp>(op))
    return left->unite(*right);
  return left->subtract(*right).unite(right->subtract(*left));
}

std::optional<isl::set> AffineValues::compare(mlir::Operation* op, unsigned depth) {
  const std::optional<isl::pw_aff> left = value(op->getOperand(0), depth), right = value(op->getOperand(1), depth);
  if (!left || !right)
    return std::nullopt;
  using P = arith::CmpIPredicate;
  const P predicate = mlir::cast<arith::CmpIOp>(op).getPredicate();
  const bool isUnsigned = predicate == P::ult || predicate == P::ule || predicate == P::ugt || predicate == P::uge;
  if (isUnsigned && (!isNotNegative(*left, op, depth) || !isNotNegative(*right, op, depth)))
    return std::nullopt;
  switch (predicate) {
  case P::eq:
    return left->eq_set(*right);
  case P::ne:
    return left->ne_set(*right);
  case P::slt:
  case P::ult:
    return left->lt_set(*right);
  case P::sle:
  case P::ule:
    return left->le_set(*right);
  case P::sgt:
  case P::ugt:
    return left->gt_set(*right);
  case P::sge:
  case P::uge:
    return left->ge_set(*right);
  }
  return std::nullopt;
}

std::optional<isl::pw_aff> AffineValues::value(mlir::AffineExpr expression, unsigned dimensions,
                                               mlir::ValueRange operands, unsigned depth) {
  if (auto number = mlir::dyn_cast<mlir::AffineConstantExpr>(expression))
    return constant(number.getValue(), depth);
  if (auto dimension = mlir::dyn_cast<mlir::AffineDimExpr>(expression))
    return value(operands[dimension.getPosition()], depth);
  if (auto symbol = mlir::dyn_cast<mlir::AffineSymbolExpr>(expression))
    return value(operands[dimensions + symbol.getPosition()], depth);
  auto both = mlir::cast<mlir::AffineBinaryOpExpr>(expression);
  const std::optional<isl::pw_aff> left = value(both.getLHS(), dimensions, operands, depth);
  const std::optional<isl::pw_aff> right = value(both.getRHS(), dimensions, operands, depth);
  if (!left || !right)
    return std::nullopt;
  if (both.getKind() == mlir::AffineExprKind::Add)
    return left->add(*right);
  if (both.getKind() == mlir::AffineExprKind::Mul)
    return isConstant(*left) || isConstant(*right) ? std::optional(left->mul(*right)) : std::nullopt;
  auto divisor = mlir::dyn_cast<mlir::AffineConstantExpr>(both.getRHS());
  if (!divisor || divisor.getValue() <= 0)
    return std::nullopt;
  if (both.getKind() == mlir::AffineExprKind::Mod)
    return left->sub(quotient(*left, divisor.getValue(), false).scale(divisor.getValue()));
  return quotient(*left, divisor.getValue(), both.getKind() == mlir::AffineExprKind::CeilDiv);
}

std::optional<isl::set> AffineValues::condition(mlir::IntegerSet set, mlir::ValueRange operands, unsigned depth) {
  isl::set all = everywhere(depth);
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    const std::optional<isl::pw_aff> each = value(set.getConstraint(i), set.getNumDims(), operands, depth);
    if (!each)
      return std::nullopt;
    const isl::pw_aff zero = constant(0, depth);
    all = all.intersect(set.isEq(i) ? each->eq_set(zero) : each->ge_set(zero));
  }
  return all;
}

} // namespace strata::equations::extraction

// Reads equations off the dialect. See system_of.h.
#include "compiler/equations/dialect/system_of.h"

#include "compiler/equations/dialect/operations.h"
#include "compiler/ir/locations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IntegerSet.h"

#include <map>

namespace strata::equations {

namespace arith = mlir::arith;

STRATA_DIAGNOSTIC(unknownOperation, Error, "equations-operation", "'{0}' is no operation of equations");
STRATA_DIAGNOSTIC(unknownSet, Error, "equations-set",
                  "a condition or an index is not affine, or has a remainder that is not compared with zero");

namespace {

/// Operations within operations, from which on a value has an equation of its own.
constexpr unsigned deepest = 100;

/// Indices are numbers, too, in equations that were written as such.
ElementType elementOf(mlir::Type type, bool isUnsigned = false) {
  if (const std::optional<ElementType> found = elementTypeOf(type, isUnsigned))
    return *found;
  const uint64_t bytes = type.isIndex() ? 8 : std::max(1u, type.getIntOrFloatBitWidth() / 8);
  return isUnsigned ? ElementType::unsignedInteger(bytes) : ElementType::signedInteger(bytes);
}

/// A linear expression; false where it is none.
bool linear(mlir::AffineExpr expression, int64_t factor, Affine& into) {
  switch (expression.getKind()) {
  case mlir::AffineExprKind::Constant:
    into.constant += factor * mlir::cast<mlir::AffineConstantExpr>(expression).getValue();
    return true;
  case mlir::AffineExprKind::DimId:
    into.iterators[mlir::cast<mlir::AffineDimExpr>(expression).getPosition()] += factor;
    return true;
  case mlir::AffineExprKind::SymbolId:
    into.parameters[mlir::cast<mlir::AffineSymbolExpr>(expression).getPosition()] += factor;
    return true;
  case mlir::AffineExprKind::Add: {
    auto sum = mlir::cast<mlir::AffineBinaryOpExpr>(expression);
    return linear(sum.getLHS(), factor, into) && linear(sum.getRHS(), factor, into);
  }
  case mlir::AffineExprKind::Mul: {
    auto product = mlir::cast<mlir::AffineBinaryOpExpr>(expression);
    auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(product.getRHS());
    return constant && linear(product.getLHS(), factor * constant.getValue(), into);
  }
  default:
    return false;
  }
}

Affine zero(unsigned iterators, unsigned parameters) {
  return {std::vector<int64_t>(iterators, 0), std::vector<int64_t>(parameters, 0), 0};
}

std::optional<Affine> linear(mlir::AffineExpr expression, unsigned iterators, unsigned parameters) {
  Affine made = zero(iterators, parameters);
  return linear(expression, 1, made) ? std::optional(made) : std::nullopt;
}

/// (value mod m) + constant, as constraints are written that are remainders.
std::optional<Constraint> remainder(mlir::AffineExpr expression, bool isEquality, unsigned iterators,
                                    unsigned parameters) {
  int64_t constant = 0;
  if (auto sum = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
      sum && sum.getKind() == mlir::AffineExprKind::Add)
    if (auto number = mlir::dyn_cast<mlir::AffineConstantExpr>(sum.getRHS())) {
      constant = number.getValue();
      expression = sum.getLHS();
    }
  auto modulo = mlir::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  if (!modulo || modulo.getKind() != mlir::AffineExprKind::Mod)
    return std::nullopt;
  auto modulus = mlir::dyn_cast<mlir::AffineConstantExpr>(modulo.getRHS());
  std::optional<Affine> value = linear(modulo.getLHS(), iterators, parameters);
  if (!modulus || modulus.getValue() < 2 || !value)
    return std::nullopt;
  if (isEquality && constant <= 0 && -constant < modulus.getValue()) {
    value->constant += constant;
    return Constraint{Constraint::Kind::Divisible, *value, modulus.getValue()};
  }
  if (!isEquality && constant == -1)
    return Constraint{Constraint::Kind::NotDivisible, *value, modulus.getValue()};
  return std::nullopt;
}

std::optional<std::vector<Constraint>> constraintsOf(mlir::IntegerSet set) {
  std::vector<Constraint> found;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    const unsigned iterators = set.getNumDims(), parameters = set.getNumSymbols();
    if (std::optional<Affine> value = linear(set.getConstraint(i), iterators, parameters)) {
      found.push_back({set.isEq(i) ? Constraint::Kind::Zero : Constraint::Kind::NotNegative, *value, 0});
      continue;
    }
    std::optional<Constraint> made = remainder(set.getConstraint(i), set.isEq(i), iterators, parameters);
    if (!made)
      return std::nullopt;
    found.push_back(*made);
  }
  return found;
}

class Reader {
public:
  Reader(svm::EquationsOp equations, DiagnosticEngine& diagnostics)
      : equations_(equations), kernel_(equations->getParentOfType<svm::KernelOp>()), diagnostics_(diagnostics) {}

  std::optional<KernelSystem> run() {
    if (!begin())
      return std::nullopt;
    for (svm::EquationOp equation : equations_.getBody().getOps<svm::EquationOp>())
      if (!read(equation))
        return std::nullopt;
    return std::move(made_);
  }

  std::optional<System> uses() {
    if (!begin())
      return std::nullopt;
    for (svm::EquationOp equation : equations_.getBody().getOps<svm::EquationOp>()) {
      Equation made;
      if (!start(made, equation))
        return std::nullopt;
      made.value.kind = Expression::Kind::Operation;
      for (svm::UseOp use : equation.getBody().getOps<svm::UseOp>()) {
        std::optional<Expression> element = value(use.getValue(), use);
        if (!element)
          return std::nullopt;
        made.value.operands.push_back(std::move(*element));
      }
      made_.system.equations.push_back(std::move(made));
    }
    return std::move(made_.system);
  }

private:
  bool begin() {
    System& system = made_.system;
    system.name = kernel_.getName().str();
    system.location = place(equations_);
    system.space.pieces.emplace_back();
    for (auto name : equations_.getIterators().getAsRange<mlir::StringAttr>())
      system.iterators.push_back(name.getValue().str());
    for (auto name : equations_.getNames().getAsRange<mlir::StringAttr>())
      system.parameters.push_back(name.getValue().str());
    for (mlir::Value parameter : equations_.getParameters()) // nothing else stands in front of equations
      made_.parameters.push_back(mlir::cast<mlir::BlockArgument>(parameter).getArgNumber());
    for (auto set : equations_.getContext().getAsRange<mlir::IntegerSetAttr>()) {
      std::optional<std::vector<Constraint>> found = constraintsOf(set.getValue());
      if (!found)
        return refuse(equations_);
      system.context.insert(system.context.end(), found->begin(), found->end());
    }
    for (svm::EquationOp equation : equations_.getBody().getOps<svm::EquationOp>())
      if (auto name = equation.getVariable(); name && !variables_.contains(*name))
        variables_[*name] =
            variable(name->str(), mlir::cast<svm::DefineOp>(equation.getBody().front().back()).getValue(),
                     equation.instanceMap().getNumResults(), equation);
    return true;
  }

  Location place(mlir::Operation* op) { return sourceLocation(diagnostics_.sources(), op->getLoc()); }

  bool refuse(mlir::Operation* op) {
    diagnostics_.report(unknownSet, place(op));
    return false;
  }

  uint32_t variable(const std::string& name, mlir::Value value, unsigned rank, mlir::Operation* op) {
    made_.system.variables.push_back({name, elementOf(value.getType()), Role::Internal, rank, {}, place(op), false});
    return static_cast<uint32_t>(made_.system.variables.size() - 1);
  }

  std::optional<std::vector<Affine>> indexOf(mlir::AffineMap map, mlir::Operation* op) {
    std::vector<Affine> index;
    for (mlir::AffineExpr result : map.getResults()) {
      std::optional<Affine> value = linear(result, map.getNumDims(), map.getNumSymbols());
      if (!value) {
        refuse(op);
        return std::nullopt;
      }
      index.push_back(*value);
    }
    return index;
  }

  /// The input or output that a kernel's argument is.
  uint32_t array(mlir::Value argument, Role role) {
    const unsigned number = mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
    const auto [known, isNew] = arrays_.try_emplace({number, role == Role::Output}, made_.system.variables.size());
    if (!isNew)
      return known->second;
    (role == Role::Output ? made_.outputs : made_.inputs).push_back(number);
    SystemVariable made{
        kernel_.argumentName(number), elementOf(argument.getType()), role, 0, {}, place(kernel_), false};
    if (auto block = mlir::dyn_cast<mlir::MemRefType>(argument.getType())) {
      made.type = elementOf(block.getElementType());
      made.rank = static_cast<unsigned>(block.getRank());
      extents(number, made.extents);
      made.isPartial = kernel_.access(number) == svm::Access::ReadWrite;
    }
    made_.system.variables.push_back(std::move(made));
    return known->second;
  }

  /// By the kernel's statement, whose symbols are the parameters.
  void extents(unsigned argument, std::vector<Affine>& into) {
    auto stated = kernel_.getExtents();
    if (!stated)
      return;
    const mlir::AffineMap map = mlir::cast<mlir::AffineMapAttr>((*stated)[argument]).getValue();
    for (mlir::AffineExpr result : map.getResults())
      if (std::optional<Affine> value = linear(result, 0, map.getNumSymbols()))
        into.push_back(*value);
  }

  /// All of an equation but its value.
  bool start(Equation& made, svm::EquationOp equation) {
    made.location = made.targetLocation = place(equation);
    for (auto set : equation.getDomain().getAsRange<mlir::IntegerSetAttr>()) {
      std::optional<std::vector<Constraint>> found = constraintsOf(set.getValue());
      if (!found)
        return refuse(equation);
      made.guard.pieces.push_back(std::move(*found));
    }
    auto name = equation.getVariable();
    std::optional<std::vector<Affine>> index = indexOf(name ? equation.instanceMap() : *equation.getIndex(), equation);
    if (!index)
      return false;
    made.index = std::move(*index);
    made.variable = name ? variables_[*name] : array(equation.getOutput(), Role::Output);
    return true;
  }

  bool read(svm::EquationOp equation) {
    mlir::Block& body = equation.getBody().front();
    const mlir::Value defined = mlir::cast<svm::DefineOp>(body.back()).getValue();
    Equation made;
    if (!start(made, equation))
      return false;
    values_.clear();
    depths_.clear();
    for (mlir::Operation& op : body.without_terminator()) {
      const bool isLeaf = mlir::isa<svm::UseOp, svm::ElementOp, arith::ConstantOp>(op);
      std::optional<Expression> expression = isLeaf ? Expression() : operation(&op);
      if (!expression)
        return false;
      if (isLeaf) {
        if (!value(op.getResult(0), &op))
          return false;
        continue;
      }
      unsigned depth = 0;
      for (mlir::Value operand : op.getOperands())
        depth = std::max(depth, depths_.lookup(operand) + 1);
      if (op.getResult(0).hasOneUse() && depth < deepest) {
        depths_[op.getResult(0)] = depth;
        values_[op.getResult(0)] = std::move(*expression);
        continue;
      }
      Equation own = made;
      own.variable = variable("value" + std::to_string(made_.system.variables.size()), op.getResult(0),
                              static_cast<unsigned>(made_.system.iterators.size()), &op);
      own.index = identity(made_.system.iterators.size());
      own.location = own.targetLocation = place(&op);
      own.value = std::move(*expression);
      values_[op.getResult(0)] = element(own.variable, own.index, own.value.type, &op);
      made_.system.equations.push_back(std::move(own));
    }
    std::optional<Expression> whole = value(defined, equation);
    if (!whole)
      return false;
    made.value = std::move(*whole);
    made_.system.equations.push_back(std::move(made));
    return true;
  }

  Expression element(uint32_t variable, std::vector<Affine> index, const ElementType& type, mlir::Operation* op) {
    Expression made;
    made.kind = Expression::Kind::Element;
    made.type = made.operandType = type;
    made.variable = variable;
    made.index = std::move(index);
    made.location = place(op);
    return made;
  }

  /// What a value is that `user` uses.
  std::optional<Expression> value(mlir::Value value, mlir::Operation* user) {
    if (const auto found = values_.find(value); found != values_.end())
      return found->second;
    const ElementType type = elementOf(value.getType());
    if (mlir::isa<mlir::BlockArgument>(value)) {
      const uint32_t input = array(value, Role::Input);
      return element(input, {}, type, user);
    }
    mlir::Operation* const op = value.getDefiningOp();
    if (auto use = mlir::dyn_cast<svm::UseOp>(op)) {
      std::optional<std::vector<Affine>> index = indexOf(use.getIndex(), op);
      return index ? std::optional(element(variables_[use.getVariable()], std::move(*index), type, op)) : std::nullopt;
    }
    if (auto of = mlir::dyn_cast<svm::ElementOp>(op)) {
      std::optional<std::vector<Affine>> index = indexOf(of.getIndex(), op);
      if (!index)
        return std::nullopt;
      return element(array(of.getInput(), Role::Input), std::move(*index), type, op);
    }
    if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op)) {
      Expression made;
      made.type = made.operandType = type;
      made.location = place(op);
      if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
        made.constant.integer =
            constant.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
      else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
        made.constant.real = real.getValueAsDouble();
      return made;
    }
    diagnostics_.report(unknownOperation, place(user), user->getName().getStringRef());
    return std::nullopt;
  }

  std::optional<Expression> operation(mlir::Operation* op) {
    const std::optional<Meaning> meaning = op->getNumResults() == 1 ? meaningOf(op) : std::nullopt;
    if (!meaning) {
      diagnostics_.report(unknownOperation, place(op), op->getName().getStringRef());
      return std::nullopt;
    }
    Expression made;
    made.kind = Expression::Kind::Operation;
    made.operation = meaning->operation;
    made.location = place(op);
    made.type = elementOf(op->getResult(0).getType(), meaning->isUnsigned);
    made.operandType = elementOf(typedOperand(op, *meaning).getType(), meaning->isOperandUnsigned);
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    if (meaning->isSwapped)
      std::swap(operands[0], operands[1]);
    for (mlir::Value operand : operands) {
      std::optional<Expression> each = value(operand, op);
      if (!each)
        return std::nullopt;
      made.operands.push_back(std::move(*each));
    }
    return made;
  }

  svm::EquationsOp equations_;
  svm::KernelOp kernel_;
  DiagnosticEngine& diagnostics_;
  KernelSystem made_;
  llvm::StringMap<uint32_t> variables_;
  std::map<std::pair<unsigned, bool>, uint32_t> arrays_; // by argument number and whether it is an output
  llvm::DenseMap<mlir::Value, Expression> values_;
  llvm::DenseMap<mlir::Value, unsigned> depths_;
};

} // namespace

std::optional<KernelSystem> systemOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics) {
  return Reader(equations, diagnostics).run();
}

std::optional<System> usesOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics) {
  return Reader(equations, diagnostics).uses();
}

} // namespace strata::equations

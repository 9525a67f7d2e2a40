// Reads equations off the dialect. See graph_of.h.
#include "compiler/equations/dialect/graph_of.h"

#include "compiler/equations/dialect/operations.h"
#include "compiler/ir/locations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IntegerSet.h"

namespace strata::equations {

namespace arith = mlir::arith;

STRATA_DIAGNOSTIC(unknownOperation, Error, "equations-operation", "'{0}' is no operation of equations");
STRATA_DIAGNOSTIC(unknownSet, Error, "equations-set",
                  "a condition or an index is not affine, or has a remainder that is not compared with zero");

namespace {

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

  std::optional<KernelGraph> run() {
    Graph& graph = made_.graph;
    graph.name = kernel_.getName().str();
    graph.location = place(equations_);
    for (auto name : equations_.getIterators().getAsRange<mlir::StringAttr>())
      graph.iterators.push_back(name.getValue().str());
    for (auto name : equations_.getNames().getAsRange<mlir::StringAttr>())
      graph.parameters.push_back(name.getValue().str());
    for (mlir::Value parameter : equations_.getParameters()) // nothing else stands in front of equations
      made_.parameters.push_back(mlir::cast<mlir::BlockArgument>(parameter).getArgNumber());
    for (auto set : equations_.getContext().getAsRange<mlir::IntegerSetAttr>()) {
      std::optional<std::vector<Constraint>> found = constraintsOf(set.getValue());
      if (!found)
        return refuse(equations_);
      graph.context.insert(graph.context.end(), found->begin(), found->end());
    }
    for (svm::EquationOp equation : equations_.getBody().getOps<svm::EquationOp>())
      if (auto name = equation.getVariable(); name && !variables_.contains(*name))
        variables_[*name] =
            variable(name->str(), mlir::cast<svm::DefineOp>(equation.getBody().front().back()).getValue(), equation);
    for (svm::EquationOp equation : equations_.getBody().getOps<svm::EquationOp>())
      if (!read(equation))
        return std::nullopt;
    return std::move(made_);
  }

private:
  Location place(mlir::Operation* op) { return sourceLocation(diagnostics_.sources(), op->getLoc()); }

  std::nullopt_t refuse(mlir::Operation* op) {
    diagnostics_.report(unknownSet, place(op));
    return std::nullopt;
  }

  uint32_t variable(const std::string& name, mlir::Value value, mlir::Operation* op) {
    made_.graph.variables.push_back({name, elementOf(value.getType()), place(op)});
    return static_cast<uint32_t>(made_.graph.variables.size() - 1);
  }

  std::optional<std::vector<Affine>> indexOf(mlir::AffineMap map) const {
    std::vector<Affine> index;
    for (mlir::AffineExpr result : map.getResults()) {
      std::optional<Affine> value = linear(result, map.getNumDims(), map.getNumSymbols());
      if (!value)
        return std::nullopt;
      index.push_back(*value);
    }
    return index;
  }

  /// The input or output that a kernel's argument is.
  uint32_t array(mlir::Value argument, std::vector<Array>& arrays, std::vector<unsigned>& numbers) {
    const unsigned number = mlir::cast<mlir::BlockArgument>(argument).getArgNumber();
    for (uint32_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] == number)
        return i;
    numbers.push_back(number);
    Array made{kernel_.argumentName(number), elementOf(argument.getType()), {}, place(kernel_)};
    if (auto block = mlir::dyn_cast<mlir::MemRefType>(argument.getType())) {
      made.type = elementOf(block.getElementType());
      extents(number, made.extents);
      made.isPartial = kernel_.access(number) == svm::Access::ReadWrite;
    }
    arrays.push_back(std::move(made));
    return static_cast<uint32_t>(numbers.size() - 1);
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

  bool read(svm::EquationOp equation) {
    Space domain;
    for (auto set : equation.getDomain().getAsRange<mlir::IntegerSetAttr>()) {
      std::optional<std::vector<Constraint>> found = constraintsOf(set.getValue());
      if (!found) {
        refuse(equation);
        return false;
      }
      domain.pieces.push_back(std::move(*found));
    }
    mlir::Block& body = equation.getBody().front();
    const mlir::Value defined = mlir::cast<svm::DefineOp>(body.back()).getValue();
    values_.clear();
    for (mlir::Operation& op : body.without_terminator()) {
      const bool isRoot = op.getNumResults() == 1 && op.getResult(0) == defined;
      if (!operation(&op, domain, isRoot ? equation : svm::EquationOp()))
        return false;
    }
    if (!isDone_) { // an instance, an element, a scalar or a constant as it is
      Node node = start(Operation::Copy, equation, domain);
      node.type = node.operandType = elementOf(defined.getType());
      if (!addOperand(node, defined, equation) || !target(node, equation))
        return false;
      push(std::move(node), equation);
    }
    isDone_ = false;
    return true;
  }

  Node start(Operation operation, mlir::Operation* op, const Space& domain) {
    Node node;
    node.operation = operation;
    node.domain = domain;
    node.location = place(op);
    return node;
  }

  void push(Node node, mlir::Operation* op) {
    made_.graph.nodes.push_back(std::move(node));
    made_.origins.push_back(op);
  }

  bool target(Node& node, svm::EquationOp equation) {
    if (auto name = equation.getVariable()) {
      node.target = variables_[*name];
      return true;
    }
    node.isOutput = true;
    node.target = array(equation.getOutput(), made_.graph.outputs, made_.outputs);
    std::optional<std::vector<Affine>> index = indexOf(*equation.getIndex());
    if (!index) {
      refuse(equation);
      return false;
    }
    node.index = std::move(*index);
    return true;
  }

  bool addOperand(Node& node, mlir::Value value, mlir::Operation* user) {
    node.operandLocations.push_back(value.getDefiningOp() ? place(value.getDefiningOp()) : place(user));
    if (auto found = values_.find(value); found != values_.end()) {
      node.operands.push_back(found->second);
      return true;
    }
    if (mlir::isa<mlir::BlockArgument>(value)) {
      node.operands.push_back(InputUse{array(value, made_.graph.inputs, made_.inputs), {}});
      return true;
    }
    diagnostics_.report(unknownOperation, place(user), user->getName().getStringRef());
    return false;
  }

  bool operation(mlir::Operation* op, const Space& domain, svm::EquationOp root) {
    if (auto use = mlir::dyn_cast<svm::UseOp>(op)) {
      values_[use.getValue()] = Use{variables_[use.getVariable()], use.getDistance().vec()};
      return true;
    }
    if (auto element = mlir::dyn_cast<svm::ElementOp>(op)) {
      std::optional<std::vector<Affine>> index = indexOf(element.getIndex());
      if (!index) {
        refuse(op);
        return false;
      }
      values_[element.getValue()] =
          InputUse{array(element.getInput(), made_.graph.inputs, made_.inputs), std::move(*index)};
      return true;
    }
    if (auto constant = mlir::dyn_cast<arith::ConstantOp>(op)) {
      Constant made;
      if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(constant.getValue()))
        made.integer =
            constant.getType().isInteger(1) ? integer.getValue().getZExtValue() : integer.getValue().getSExtValue();
      else if (auto real = mlir::dyn_cast<mlir::FloatAttr>(constant.getValue()))
        made.real = real.getValueAsDouble();
      values_[constant.getResult()] = made;
      return true;
    }
    const std::optional<Meaning> meaning = op->getNumResults() == 1 ? meaningOf(op) : std::nullopt;
    if (!meaning) {
      diagnostics_.report(unknownOperation, place(op), op->getName().getStringRef());
      return false;
    }
    Node node = start(meaning->operation, op, domain);
    node.type = elementOf(op->getResult(0).getType(), meaning->isUnsigned);
    node.operandType = elementOf(typedOperand(op, *meaning).getType(), meaning->isOperandUnsigned);
    llvm::SmallVector<mlir::Value> operands(op->getOperands());
    if (meaning->isSwapped)
      std::swap(operands[0], operands[1]);
    for (mlir::Value operand : operands)
      if (!addOperand(node, operand, op))
        return false;
    if (root) {
      isDone_ = true;
      if (!target(node, root))
        return false;
    } else {
      node.target = variable("value" + std::to_string(made_.graph.variables.size()), op->getResult(0), op);
      values_[op->getResult(0)] = Use{node.target, std::vector<int64_t>(made_.graph.iterators.size(), 0)};
    }
    push(std::move(node), op);
    return true;
  }

  svm::EquationsOp equations_;
  svm::KernelOp kernel_;
  DiagnosticEngine& diagnostics_;
  KernelGraph made_;
  llvm::StringMap<uint32_t> variables_;
  llvm::DenseMap<mlir::Value, Operand> values_;
  bool isDone_ = false; // the equation at hand has its node
};

} // namespace

std::optional<KernelGraph> graphOf(svm::EquationsOp equations, DiagnosticEngine& diagnostics) {
  return Reader(equations, diagnostics).run();
}

} // namespace strata::equations

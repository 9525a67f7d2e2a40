// Verifiers of kernels of equations: that sets, indices and distances fit the iterators and parameters, and types each
// other. What holds of all equations together is compiler/equations/verify.h's to say.
#include "compiler/ir/names.h"
#include "compiler/ir/svm.h"

#include "mlir/IR/IntegerSet.h"

using namespace mlir;

namespace strata::svm {

static LogicalResult verifySets(Operation* op, ArrayAttr sets, unsigned dimensions, unsigned symbols) {
  for (Attribute attribute : sets) {
    auto set = dyn_cast<IntegerSetAttr>(attribute);
    if (!set || set.getValue().getNumDims() != dimensions || set.getValue().getNumSymbols() != symbols)
      return op->emitOpError() << "has a set that is not of " << dimensions << " iterators and " << symbols
                               << " parameters";
  }
  return success();
}

/// What messages, and what is made of the equations, call a thing.
static LogicalResult verifyNames(Operation* op, ArrayAttr names) {
  for (auto name : names.getAsRange<StringAttr>())
    if (const StringRef problem = problemOfName(name.getValue()); !problem.empty())
      return op->emitOpError() << "has a name that " << problem;
  return success();
}

LogicalResult EquationsOp::verify() {
  if (failed(verifyNames(*this, getIterators())) || failed(verifyNames(*this, getNames())))
    return failure();
  if (getNames().size() != getParameters().size())
    return emitOpError() << "names " << getNames().size() << " of " << getParameters().size() << " parameters";
  if (getIterators().empty() || getIterators().size() > 8)
    return emitOpError() << "has " << getIterators().size() << " iterators; it has 1 to 8";
  if (failed(verifySets(*this, getContext(), getIterators().size(), getNames().size())))
    return failure();
  const unsigned dimensions = getIterators().size(), symbols = getNames().size();
  llvm::StringMap<Type> types;
  llvm::StringMap<unsigned> ranks;
  for (Operation& op : getBody().front()) {
    auto equation = dyn_cast<EquationOp>(op);
    if (!equation)
      return op.emitOpError("stands between equations");
    if (equation.getVariable()) {
      Type type = cast<DefineOp>(equation.getBody().front().getTerminator()).getValue().getType();
      auto [at, isNew] = types.try_emplace(*equation.getVariable(), type);
      if (!isNew && at->second != type)
        return equation.emitOpError() << "defines '" << *equation.getVariable() << "' as " << type
                                      << ", and another one as " << at->second;
      if (auto instance = equation.getInstance();
          instance && (instance->getNumDims() != dimensions || instance->getNumSymbols() != symbols))
        return equation.emitOpError("has an instance that does not go from the iterators and parameters");
      const unsigned rank = equation.instanceMap().getNumResults();
      if (ranks.try_emplace(*equation.getVariable(), rank).first->second != rank)
        return equation.emitOpError() << "defines an instance of '" << *equation.getVariable() << "' by " << rank
                                      << " numbers, and another one has " << ranks.lookup(*equation.getVariable());
      if (rank > dimensions)
        return equation.emitOpError() << "defines an instance by " << rank << " numbers; there are " << dimensions
                                      << " iterators";
    }
  }
  WalkResult walk = getBody().walk([&](UseOp use) {
    auto type = types.find(use.getVariable());
    if (type == types.end())
      use.emitOpError() << "is of '" << use.getVariable() << "', which no equation defines";
    else if (type->second != use.getValue().getType())
      use.emitOpError() << "is a " << use.getValue().getType() << "; instances of '" << use.getVariable() << "' are "
                        << type->second;
    else if (use.getIndex().getNumDims() != dimensions || use.getIndex().getNumSymbols() != symbols ||
             use.getIndex().getNumResults() != ranks.lookup(use.getVariable()))
      use.emitOpError() << "has an index that does not go from the iterators and parameters to the "
                        << ranks.lookup(use.getVariable()) << " numbers that an instance of '" << use.getVariable()
                        << "' has";
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

AffineMap EquationOp::instanceMap() {
  if (auto stated = getInstance())
    return *stated;
  auto equations = cast<EquationsOp>((*this)->getParentOp());
  const unsigned dimensions = equations.getIterators().size();
  SmallVector<AffineExpr> each;
  for (unsigned i = 0; i < dimensions; ++i)
    each.push_back(getAffineDimExpr(i, getContext()));
  return AffineMap::get(dimensions, equations.getNames().size(), each, getContext());
}

LogicalResult EquationOp::verify() {
  auto equations = cast<EquationsOp>((*this)->getParentOp());
  const unsigned dimensions = equations.getIterators().size(), symbols = equations.getNames().size();
  if (failed(verifySets(*this, getDomain(), dimensions, symbols)))
    return failure();
  if (const StringRef problem = problemOfName(getVariable().value_or("none")); !problem.empty())
    return emitOpError() << "has a name that " << problem;
  if (bool(getVariable()) == bool(getOutput()) || bool(getOutput()) != bool(getIndex()))
    return emitOpError("defines a variable, or the elements of an output at an index");
  if (getInstance() && !getVariable())
    return emitOpError("has an instance of no variable");
  if (auto map = getIndex())
    if (map->getNumDims() != dimensions || map->getNumSymbols() != symbols ||
        map->getNumResults() != cast<MemRefType>(getOutput().getType()).getRank())
      return emitOpError("has an index that does not go from the iterators and parameters to an element");
  Block& body = getBody().front();
  if (body.empty() || !isa<DefineOp>(body.back()))
    return emitOpError("does not end with 'svm.define'");
  if (getOutput() &&
      cast<DefineOp>(body.back()).getValue().getType() != cast<MemRefType>(getOutput().getType()).getElementType())
    return emitOpError("defines another type than the output's elements have");
  for (Operation& op : body)
    if (!isa<UseOp, ElementOp, DefineOp>(op) && op.getName().getDialectNamespace() != "arith" &&
        op.getName().getDialectNamespace() != "math")
      return op.emitOpError("does not belong in an equation");
  return success();
}

LogicalResult ElementOp::verify() {
  auto equations = (*this)->getParentOfType<EquationsOp>();
  auto type = cast<MemRefType>(getInput().getType());
  if (getIndex().getNumDims() != equations.getIterators().size() ||
      getIndex().getNumSymbols() != equations.getNames().size() || getIndex().getNumResults() != type.getRank())
    return emitOpError("has an index that does not go from the iterators and parameters to an element");
  return getValue().getType() == type.getElementType()
             ? success()
             : emitOpError("gives another type than the input's elements have");
}

} // namespace strata::svm

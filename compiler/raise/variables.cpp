// A variable is stored to where a round ends and loaded where the next one begins, so that values which change places
// from one round to the next stay apart.
#include "compiler/raise/variables.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

namespace strata::raise {

namespace {

class Carrier {
public:
  explicit Carrier(mlir::Region& body) : variables_(mlir::OpBuilder::atBlockBegin(&body.front())) {}

  void carry(scf::ForOp loop) {
    mlir::OpBuilder builder(loop);
    const auto all = makeVariables(loop);
    store(builder, loop.getInitArgs(), all, loop.getLoc());
    auto made = builder.create<scf::ForOp>(loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    builder.setInsertionPointToStart(made.getBody());
    loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
    for (auto [value, variable] : llvm::zip(loop.getRegionIterArgs(), all))
      value.replaceAllUsesWith(builder.create<memref::LoadOp>(loop.getLoc(), variable));
    moveInto(*loop.getBody(), *made.getBody(), all);
    load(loop, made, all);
  }

  void carry(scf::IfOp choice) {
    mlir::OpBuilder builder(choice);
    const auto all = makeVariables(choice);
    auto made = builder.create<scf::IfOp>(choice.getLoc(), choice.getCondition(), /*withElseRegion=*/true);
    made->setDiscardableAttrs(choice->getDiscardableAttrDictionary());
    moveInto(*choice.thenBlock(), *made.thenBlock(), all);
    moveInto(*choice.elseBlock(), *made.elseBlock(), all);
    load(choice, made, all);
  }

private:
  using Variables = llvm::SmallVector<Value>;

  Variables makeVariables(mlir::Operation* op) {
    Variables all;
    for (mlir::Type type : op->getResultTypes())
      all.push_back(variables_.create<memref::AllocaOp>(op->getLoc(), mlir::MemRefType::get({}, type)));
    return all;
  }

  static void store(mlir::OpBuilder& builder, mlir::ValueRange values, const Variables& all, mlir::Location place) {
    for (auto [value, variable] : llvm::zip(values, all))
      builder.create<memref::StoreOp>(place, value, variable);
  }

  /// What is in front of the end of `from` goes in front of that of `to`; what it hands on goes to the variables.
  static void moveInto(mlir::Block& from, mlir::Block& to, const Variables& all) {
    mlir::Operation* end = from.getTerminator();
    mlir::OpBuilder builder(end);
    store(builder, end->getOperands(), all, end->getLoc());
    end->erase();
    to.getOperations().splice(to.getTerminator()->getIterator(), from.getOperations());
  }

  static void load(mlir::Operation* was, mlir::Operation* is, const Variables& all) {
    mlir::OpBuilder builder(was);
    builder.setInsertionPointAfter(is);
    for (auto [value, variable] : llvm::zip(was->getResults(), all))
      value.replaceAllUsesWith(builder.create<memref::LoadOp>(was->getLoc(), variable));
    was->erase();
  }

  mlir::OpBuilder variables_;
};

} // namespace

void carryInVariables(mlir::Region& body) {
  llvm::SmallVector<mlir::Operation*> found;
  body.walk([&](mlir::Operation* op) {
    if (llvm::isa<scf::ForOp, scf::IfOp>(op) && op->getNumResults() && op->getParentOfType<scf::ForOp>())
      found.push_back(op);
  });
  Carrier carrier(body);
  for (mlir::Operation* op : found)
    if (auto loop = llvm::dyn_cast<scf::ForOp>(op))
      carrier.carry(loop);
    else
      carrier.carry(llvm::cast<scf::IfOp>(op));
}

} // namespace strata::raise

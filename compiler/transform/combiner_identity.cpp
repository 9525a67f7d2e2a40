// Recognition of elementwise combiners. The kernel has to be a nest of one scf.for loop for each dimension, over all of its extent, around
// straight code that ends with b[i] = f(a[i], b[i]); f is found by following values symbolically through loads, stores,
// branches and record fields, and is then matched, one scalar at a time, with the operations that have an identity.
#include "compiler/transform/combiner_identity.h"

#include "compiler/transform/builders.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Bodies longer than this are left undecided, which also bounds the recursion below.
constexpr unsigned maximumOperations = 256;

/// What a value of the body is: a or b as they were, another operation's result, or a choice between two terms.
struct Term {
  enum Kind { FromA, FromB, Result, Choice } kind;
  Value value;                        // Result; the condition of a Choice
  const Term* ifTrue = nullptr;       // Choice
  const Term* ifFalse = nullptr;      // Choice
  SmallVector<unsigned> path = {};    // FromA, FromB: which field of which field
};

/// Follows conversions between integer types that hold every extent and every index of an array.
Value throughIndexCasts(Value value) {
  while (Operation* op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
      break;
    auto holdsIndices = [](Type type) { return type.isIndex() || type.getIntOrFloatBitWidth() >= 32; };
    if (!holdsIndices(op->getOperand(0).getType()) || !holdsIndices(value.getType()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

class Recognizer {
public:
  explicit Recognizer(KernelOp kernel) : kernel_(kernel) {}

  std::optional<ElementwiseCombiner> recognize();

private:
  /// The dimension of a or b whose whole extent `loop` goes through by steps of one.
  std::optional<unsigned> dimensionOf(scf::ForOp loop);
  /// Descends through the loops; the innermost body, or nothing.
  Block* descend();
  bool isHarmless(Operation* op);
  bool isAtElement(ValueRange indices);
  /// Follows the operations of `block`, with `element_` the present content of b's element.
  bool follow(Block& block);
  bool followBranch(scf::IfOp branch);

  const Term* make(Term term) { return &terms_.emplace_back(std::move(term)); }
  const Term* choice(Value condition, const Term* ifTrue, const Term* ifFalse) {
    return ifTrue == ifFalse ? ifTrue : make({Term::Choice, condition, ifTrue, ifFalse});
  }
  const Term* termOf(Value value);
  const Term* fieldOf(const Term* term, unsigned field);
  bool appendOperations(const Term* term, Type type, SmallVector<unsigned>& path, ElementwiseCombiner& into);
  std::optional<CombinerOperation> operationOf(const Term* term, ArrayRef<unsigned> path);
  std::optional<CombinerOperation> selection(const Term* term, ArrayRef<unsigned> path);

  KernelOp kernel_;
  Value a_, b_;
  SmallVector<Value> indices_; // by dimension: the loop's variable
  std::deque<Term> terms_;
  llvm::DenseMap<Value, const Term*> known_;
  const Term* element_ = nullptr;
};

//===-- the loops --------------------------------------------------------------------------------------------------===//

std::optional<unsigned> Recognizer::dimensionOf(scf::ForOp loop) {
  if (getConstantIntValue(loop.getLowerBound()) != 0 || getConstantIntValue(loop.getStep()) != 1 ||
      loop.getNumResults())
    return std::nullopt;
  auto extent = throughIndexCasts(loop.getUpperBound()).getDefiningOp<memref::DimOp>();
  if (!extent || (extent.getSource() != a_ && extent.getSource() != b_))
    return std::nullopt;
  std::optional<int64_t> dimension = extent.getConstantIndex();
  if (!dimension || *dimension < 0 || *dimension >= static_cast<int64_t>(indices_.size()))
    return std::nullopt;
  return *dimension;
}

bool Recognizer::isHarmless(Operation* op) {
  return isa<IndexOp, CountOp>(op) || (op->getNumRegions() == 0 && isPure(op));
}

Block* Recognizer::descend() {
  Block* block = &kernel_.getBody().front();
  for (unsigned depth = 0; depth < indices_.size(); ++depth) {
    scf::ForOp loop;
    for (Operation& op : block->without_terminator()) {
      auto next = dyn_cast<scf::ForOp>(op);
      if ((next && loop) || (!next && !isHarmless(&op)))
        return nullptr;
      if (next)
        loop = next;
    }
    std::optional<unsigned> dimension = loop ? dimensionOf(loop) : std::nullopt;
    if (!dimension || indices_[*dimension])
      return nullptr;
    indices_[*dimension] = loop.getInductionVar();
    block = loop.getBody();
  }
  return block;
}

bool Recognizer::isAtElement(ValueRange indices) {
  return llvm::all_of(llvm::zip_equal(indices, indices_),
                      [](auto pair) { return throughIndexCasts(std::get<0>(pair)) == std::get<1>(pair); });
}

//===-- the body ---------------------------------------------------------------------------------------------------===//

bool Recognizer::follow(Block& block) {
  for (Operation& op : block.without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if ((load.getMemRef() != a_ && load.getMemRef() != b_) || !isAtElement(load.getIndices()))
        return false;
      known_[load.getResult()] = load.getMemRef() == b_ ? element_ : make({Term::FromA, {}});
    } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
      if (store.getMemRef() != b_ || !isAtElement(store.getIndices()))
        return false;
      element_ = termOf(store.getValueToStore());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      if (!followBranch(branch))
        return false;
    } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
      if (!select.getCondition().getType().isInteger(1))
        return false;
      known_[select.getResult()] =
          choice(select.getCondition(), termOf(select.getTrueValue()), termOf(select.getFalseValue()));
    } else if (!isHarmless(&op)) {
      return false;
    }
  }
  return true;
}

bool Recognizer::followBranch(scf::IfOp branch) {
  const Term* before = element_;
  if (!follow(*branch.thenBlock()))
    return false;
  const Term* ifTrue = std::exchange(element_, before);
  if (branch.elseBlock() && !follow(*branch.elseBlock()))
    return false;
  element_ = choice(branch.getCondition(), ifTrue, element_);
  for (auto [position, result] : llvm::enumerate(branch.getResults()))
    known_[result] = choice(branch.getCondition(), termOf(branch.thenYield().getOperand(position)),
                            termOf(branch.elseYield().getOperand(position)));
  return true;
}

const Term* Recognizer::termOf(Value value) {
  const Term*& term = known_[value];
  if (!term)
    term = make({Term::Result, value});
  return term;
}

const Term* Recognizer::fieldOf(const Term* term, unsigned field) {
  switch (term->kind) {
  case Term::FromA:
  case Term::FromB: {
    Term part = *term;
    part.path.push_back(field);
    return make(std::move(part));
  }
  case Term::Choice:
    return choice(term->value, fieldOf(term->ifTrue, field), fieldOf(term->ifFalse, field));
  case Term::Result:
    break;
  }
  if (auto record = term->value.getDefiningOp<RecordOp>())
    return termOf(record.getFields()[field]);
  if (auto with = term->value.getDefiningOp<WithFieldOp>())
    return with.getField() == field ? termOf(with.getValue()) : fieldOf(termOf(with.getRecord()), field);
  if (auto outer = term->value.getDefiningOp<FieldOp>()) {
    const Term* record = fieldOf(termOf(outer.getRecord()), outer.getField());
    if (record->kind != Term::Result || record->value != term->value)
      return fieldOf(record, field);
  }
  return nullptr;
}

//===-- the operation ----------------------------------------------------------------------------------------------===//

} // namespace

} // namespace strata::transform

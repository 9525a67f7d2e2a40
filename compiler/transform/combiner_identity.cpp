// Recognition of elementwise combiners. The kernel has to be a nest of one scf.for loop for each dimension, over all of
// its extent, around straight code that ends with b[i] = f(a[i], b[i]); f is found by following values symbolically
// through loads, stores, branches and record fields, and is then matched, one scalar at a time, with the operations
// that have an identity.
#include "compiler/transform/combiner_identity.h"

#include "compiler/transform/builders.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

#include <deque>

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {
namespace {

/// Bodies longer than this are left undecided, which also bounds the recursion below.
constexpr unsigned maximumOperations = 256;

/// What a value of the body is: a or b as they were, another operation's result, or a choice between two terms.
struct Term {
  enum Kind { FromA, FromB, Result, Choice, Unknown } kind;
  Value value = {};                // Result; the condition of a Choice
  const Term* ifTrue = nullptr;    // Choice
  const Term* ifFalse = nullptr;   // Choice
  SmallVector<unsigned> path = {}; // FromA, FromB: which field of which field
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
  /// A term without a widening of its integer; `widening` is set to the operation that was passed, if any.
  const Term* narrow(const Term* term, Operation** widening = nullptr);
  /// Whether the two are a's and b's scalar at `path`, in this order.
  static bool areScalars(const Term* a, const Term* b, ArrayRef<unsigned> path);
  bool appendOperations(const Term* term, Type type, SmallVector<unsigned>& path, ElementwiseCombiner& into);
  std::optional<CombinerOperation> operationOf(const Term* term, ArrayRef<unsigned> path);
  std::optional<CombinerOperation> selection(const Term* term, ArrayRef<unsigned> path);

  KernelOp kernel_;
  Value a_, b_;
  SmallVector<Value> indices_; // by dimension: the loop's variable
  std::deque<Term> terms_;
  llvm::DenseMap<Value, const Term*> known_;
  const Term* element_ = nullptr;
  unsigned steps_ = 0; // of fieldOf, whose terms can share parts and so unfold to many
};

// ---- the loops ----

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
      // A check, such as that the loop's variable can count so far, is made whenever copies are combined too.
      if ((next && loop) || (!next && !isHarmless(&op) && !isa<CheckOp>(op)))
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

// ---- the body ----

bool Recognizer::follow(Block& block) {
  for (Operation& op : block.without_terminator()) {
    if (auto load = dyn_cast<memref::LoadOp>(op)) {
      if ((load.getMemRef() != a_ && load.getMemRef() != b_) || !isAtElement(load.getIndices()))
        return false;
      known_[load.getResult()] = load.getMemRef() == b_ ? element_ : make({Term::FromA});
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
  if (const Term* term = known_.lookup(value))
    return term;
  const Term* term = nullptr;
  if (auto field = value.getDefiningOp<FieldOp>())
    term = fieldOf(termOf(field.getRecord()), field.getField());
  else
    term = make({Term::Result, value});
  known_[value] = term;
  return term;
}

const Term* Recognizer::fieldOf(const Term* term, unsigned field) {
  if (++steps_ > 16 * maximumOperations)
    return make({Term::Unknown});
  if (term->kind == Term::FromA || term->kind == Term::FromB) {
    Term part = *term;
    part.path.push_back(field);
    return make(std::move(part));
  }
  if (term->kind == Term::Choice)
    return choice(term->value, fieldOf(term->ifTrue, field), fieldOf(term->ifFalse, field));
  if (term->kind == Term::Result) {
    if (auto record = term->value.getDefiningOp<RecordOp>())
      return termOf(record.getFields()[field]);
    if (auto with = term->value.getDefiningOp<WithFieldOp>())
      return with.getField() == field ? termOf(with.getValue()) : fieldOf(termOf(with.getRecord()), field);
  }
  return make({Term::Unknown});
}

// ---- the operation ----

const Term* Recognizer::narrow(const Term* term, Operation** widening) {
  if (term->kind != Term::Result)
    return term;
  Operation* op = term->value.getDefiningOp();
  if (!op || !isa<arith::ExtSIOp, arith::ExtUIOp>(op))
    return term;
  if (widening)
    *widening = op;
  return termOf(op->getOperand(0));
}

bool Recognizer::areScalars(const Term* a, const Term* b, ArrayRef<unsigned> path) {
  return a->kind == Term::FromA && b->kind == Term::FromB && ArrayRef(a->path) == path && ArrayRef(b->path) == path;
}

std::optional<CombinerOperation> binaryOperation(Operation* op) {
  using Is = CombinerOperation;
  return llvm::TypeSwitch<mlir::Operation*, std::optional<Is>>(op)
      .Case([](arith::AddIOp) { return Is::AddInteger; })
      .Case([](arith::MulIOp) { return Is::MultiplyInteger; })
      .Case([](arith::MinSIOp) { return Is::MinimumSigned; })
      .Case([](arith::MaxSIOp) { return Is::MaximumSigned; })
      .Case([](arith::MinUIOp) { return Is::MinimumUnsigned; })
      .Case([](arith::MaxUIOp) { return Is::MaximumUnsigned; })
      .Case([](arith::AndIOp) { return Is::And; })
      .Case([](arith::OrIOp) { return Is::Or; })
      .Case([](arith::XOrIOp) { return Is::ExclusiveOr; })
      .Case([](arith::AddFOp) { return Is::AddFloat; })
      .Case([](arith::MulFOp) { return Is::MultiplyFloat; })
      .Case([](arith::MinimumFOp) { return Is::MinimumFloat; })
      .Case([](arith::MaximumFOp) { return Is::MaximumFloat; })
      .Case([](arith::MinNumFOp) { return Is::MinimumNumber; })
      .Case([](arith::MaxNumFOp) { return Is::MaximumNumber; })
      .Default([](mlir::Operation*) { return std::nullopt; });
}

std::optional<CombinerOperation> Recognizer::operationOf(const Term* term, ArrayRef<unsigned> path) {
  if (term->kind == Term::Choice)
    return selection(term, path);
  if (term->kind != Term::Result)
    return std::nullopt;
  Operation* op = term->value.getDefiningOp();
  // C computes on small integers as int: the result is cut to the element's width again.
  bool cut = op && isa<arith::TruncIOp>(op);
  if (cut) {
    const Term* wide = termOf(op->getOperand(0));
    if (wide->kind == Term::Choice)
      return selection(wide, path);
    op = wide->kind == Term::Result ? wide->value.getDefiningOp() : nullptr;
  }
  std::optional<CombinerOperation> operation = op ? binaryOperation(op) : std::nullopt;
  // Only where the low bits of the result depend on the low bits of the operands alone does the wider operation not
  // matter.
  if (!operation || (cut && !isa<arith::AddIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)))
    return std::nullopt;
  const Term *left = termOf(op->getOperand(0)), *right = termOf(op->getOperand(1));
  if (cut) {
    left = narrow(left);
    right = narrow(right);
  }
  if (!areScalars(left, right, path) && !areScalars(right, left, path))
    return std::nullopt;
  return operation;
}

/// b = a P b ? a : b, with P among <, <=, >, >=. For numbers, P is false when there is a NaN: then combining passes
/// over a NaN of a, and one of b stays. The other way round (a NaN of b is replaced) has no identity.
std::optional<CombinerOperation> Recognizer::selection(const Term* term, ArrayRef<unsigned> path) {
  const Term *ifTrue = narrow(term->ifTrue), *ifFalse = narrow(term->ifFalse);
  bool takesA = areScalars(ifTrue, ifFalse, path);
  if (!takesA && !areScalars(ifFalse, ifTrue, path))
    return std::nullopt;
  Operation* compare = term->value.getDefiningOp();
  if (!compare || !isa<arith::CmpIOp, arith::CmpFOp>(compare))
    return std::nullopt;
  Operation *leftWidening = nullptr, *rightWidening = nullptr;
  const Term* left = narrow(termOf(compare->getOperand(0)), &leftWidening);
  const Term* right = narrow(termOf(compare->getOperand(1)), &rightWidening);
  bool swapped = areScalars(right, left, path);
  if (!swapped && !areScalars(left, right, path))
    return std::nullopt;

  if (auto floats = dyn_cast<arith::CmpFOp>(compare)) {
    using enum arith::CmpFPredicate;
    arith::CmpFPredicate predicate = floats.getPredicate();
    bool less = llvm::is_contained({OLT, OLE, ULT, ULE}, predicate);
    bool ordered = llvm::is_contained({OLT, OLE, OGT, OGE}, predicate);
    if (!less && !llvm::is_contained({OGT, OGE, UGT, UGE}, predicate))
      return std::nullopt;
    if (ordered != takesA)
      return std::nullopt;
    return (less != swapped) == takesA ? CombinerOperation::MinimumByComparing : CombinerOperation::MaximumByComparing;
  }

  using enum arith::CmpIPredicate;
  arith::CmpIPredicate predicate = cast<arith::CmpIOp>(compare).getPredicate();
  bool less = llvm::is_contained({slt, sle, ult, ule}, predicate);
  if (!less && !llvm::is_contained({sgt, sge, ugt, uge}, predicate))
    return std::nullopt;
  bool isUnsigned = llvm::is_contained({ult, ule, ugt, uge}, predicate);
  if (bool(leftWidening) != bool(rightWidening))
    return std::nullopt;
  if (leftWidening) {
    if (leftWidening->getName() != rightWidening->getName() || (isUnsigned && isa<arith::ExtSIOp>(leftWidening)))
      return std::nullopt;
    isUnsigned = isa<arith::ExtUIOp>(leftWidening);
  }
  bool minimum = (less != swapped) == takesA;
  if (isUnsigned)
    return minimum ? CombinerOperation::MinimumUnsigned : CombinerOperation::MaximumUnsigned;
  return minimum ? CombinerOperation::MinimumSigned : CombinerOperation::MaximumSigned;
}

bool Recognizer::appendOperations(const Term* term, Type type, SmallVector<unsigned>& path, ElementwiseCombiner& into) {
  if (auto record = dyn_cast<RecordType>(type)) {
    for (auto [field, fieldType] : llvm::enumerate(record.getFieldTypes())) {
      path.push_back(field);
      bool found = appendOperations(fieldOf(term, field), fieldType, path, into);
      path.pop_back();
      if (!found)
        return false;
    }
    return true;
  }
  if (!isa<IntegerType, FloatType>(type))
    return false;
  std::optional<CombinerOperation> operation = operationOf(term, path);
  if (operation)
    into.operations.push_back(*operation);
  return operation.has_value();
}

std::optional<ElementwiseCombiner> Recognizer::recognize() {
  if (!kernel_.isStructured() || !llvm::hasSingleElement(kernel_.getBody()) || kernel_.getArgumentTypes().size() != 2)
    return std::nullopt;
  unsigned count = 0;
  kernel_.getBody().walk([&](Operation*) { ++count; });
  a_ = kernel_.getBody().getArgument(0);
  b_ = kernel_.getBody().getArgument(1);
  auto into = dyn_cast<MemRefType>(b_.getType());
  auto from = dyn_cast<MemRefType>(a_.getType());
  if (count > maximumOperations || !into || kernel_.access(1) != Access::ReadWrite)
    return std::nullopt;
  if (from) {
    if (from.getRank() != into.getRank() || from.getElementType() != into.getElementType() ||
        kernel_.access(0) != Access::Read)
      return std::nullopt;
  } else {
    if (a_.getType() != into.getElementType() || into.getRank() != 0)
      return std::nullopt;
    known_[a_] = make({Term::FromA});
  }
  indices_.resize(into.getRank());
  Block* body = descend();
  if (!body)
    return std::nullopt;
  element_ = make({Term::FromB});
  ElementwiseCombiner combiner;
  SmallVector<unsigned> path;
  if (!follow(*body) || !appendOperations(element_, into.getElementType(), path, combiner))
    return std::nullopt;
  return combiner;
}

/// The identity of one element; takes the operations of its scalars off the front of `operations`.
Value identityOfElement(OpBuilder& builder, Location loc, ArrayRef<CombinerOperation>& operations, Type type) {
  if (auto record = dyn_cast<RecordType>(type)) {
    SmallVector<Value> fields;
    for (Type field : record.getFieldTypes())
      fields.push_back(identityOfElement(builder, loc, operations, field));
    return builder.create<RecordOp>(loc, record, fields);
  }
  CombinerOperation operation = operations.front();
  operations = operations.drop_front();
  return builder.create<arith::ConstantOp>(loc, identityOf(operation, type));
}

} // namespace

std::optional<ElementwiseCombiner> elementwiseCombiner(KernelOp kernel) {
  return Recognizer(kernel).recognize();
}

TypedAttr identityOf(CombinerOperation operation, Type scalar) {
  if (auto floating = dyn_cast<FloatType>(scalar)) {
    const llvm::fltSemantics& semantics = floating.getFloatSemantics();
    auto constant = [&](const APFloat& value) { return FloatAttr::get(floating, value); };
    switch (operation) {
    case CombinerOperation::MultiplyFloat:
      return constant(APFloat::getOne(semantics));
    case CombinerOperation::MinimumFloat:
    case CombinerOperation::MinimumByComparing:
      return constant(APFloat::getInf(semantics));
    case CombinerOperation::MaximumFloat:
    case CombinerOperation::MaximumByComparing:
      return constant(APFloat::getInf(semantics, true));
    case CombinerOperation::MinimumNumber:
    case CombinerOperation::MaximumNumber:
      // An infinity would win over a NaN, which then would be lost where all values are NaN.
      return constant(APFloat::getQNaN(semantics));
    default:
      // x + -0 is x for every x, while -0 + +0 is +0.
      return constant(APFloat::getZero(semantics, true));
    }
  }
  unsigned width = scalar.getIntOrFloatBitWidth();
  auto constant = [&](const APInt& value) { return IntegerAttr::get(scalar, value); };
  switch (operation) {
  case CombinerOperation::MultiplyInteger:
    return constant(APInt(width, 1));
  case CombinerOperation::MinimumSigned:
    return constant(APInt::getSignedMaxValue(width));
  case CombinerOperation::MaximumSigned:
    return constant(APInt::getSignedMinValue(width));
  case CombinerOperation::MinimumUnsigned:
  case CombinerOperation::And:
    return constant(APInt::getAllOnes(width));
  default:
    return constant(APInt::getZero(width));
  }
}

Value identityElement(OpBuilder& builder, Location loc, const ElementwiseCombiner& combiner, Type element) {
  ArrayRef<CombinerOperation> operations = combiner.operations;
  return identityOfElement(builder, loc, operations, element);
}

void fillWithIdentity(OpBuilder& builder, Location loc, const ElementwiseCombiner& combiner, Value block) {
  Value element = identityElement(builder, loc, combiner, cast<MemRefType>(block.getType()).getElementType());
  forEachElement(builder, loc, block, [&](OpBuilder& inner, ValueRange indices) {
    inner.create<memref::StoreOp>(loc, element, block, indices);
  });
}

} // namespace strata::transform

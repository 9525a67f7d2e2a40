// First which values are the same for all instances (uniform) is found; then the kernel's body is written anew, uniform
// code once, everything else in loops over instances.
#include "compiler/transform/split_barriers.h"

#include "compiler/ir/passes.h"
#include "compiler/ir/speculation.h"
#include "compiler/ir/svm.h"
#include "compiler/transform/builders.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::transform {

namespace {

bool holdsBarrier(Operation* op) {
  return op->walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

class Splitter {
public:
  Splitter(ParallelOp loop, RunOp run, KernelOp kernel)
      : loop_(loop), run_(run), kernel_(kernel), builder_(loop.getContext()), place_(kernel.getLoc()) {}

  /// Replaces the loop. False, with a reason, where its kernel cannot be split; then nothing has changed.
  bool run() {
    findVarying();
    if (!canSplit())
      return false;
    makeKernel();
    split(kernel_.getBody().front());
    make<ReturnOp>();
    if (!refusal_.empty()) {
      made_->erase();
      return false;
    }
    replaceRun();
    return true;
  }

  StringRef refusal() const { return refusal_; }
  Operation* refusedAt() const { return refusedAt_; }

private:
  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(place_, std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return make<arith::ConstantIndexOp>(value); }

  bool refuse(StringRef why, Operation* at) {
    if (refusal_.empty()) {
      refusal_ = why.str();
      refusedAt_ = at;
    }
    return false;
  }

  // ---- what is the same for all instances ----

  bool isVarying(Value value) const { return varying_.contains(value); }
  bool isAnyVarying(ValueRange values) const {
    return llvm::any_of(values, [&](Value value) { return isVarying(value); });
  }
  void vary(Value value) { changed_ |= varying_.insert(value).second; }
  /// A value that is one of several.
  void join(Value value, ValueRange from) {
    if (isAnyVarying(from))
      vary(value);
  }

  bool isInside(Value value) { return !isOutside(value, loop_); }

  void findVarying() {
    for (auto [argument, operand] : llvm::zip(kernel_.getBody().getArguments(), run_.getArguments()))
      if (isInside(operand))
        varying_.insert(argument);
    do {
      changed_ = false;
      for (Operation& op : kernel_.getBody().front())
        classify(&op);
    } while (changed_);
  }

  void classify(Operation* op) {
    if (!holdsBarrier(op) || op->getNumRegions() == 0) {
      bool varies = !canExecuteAnywhere(op) && !(isMemoryEffectFree(op) && op->getNumRegions() == 0);
      op->walk([&](Operation* inner) {
        for (Value operand : inner->getOperands())
          varies |= isVarying(operand);
      });
      if (varies)
        for (Value result : op->getResults())
          vary(result);
      return;
    }
    for (Region& region : op->getRegions())
      for (Operation& inner : region.getOps())
        classify(&inner);
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      for (auto [argument, initial, next, result] :
           llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getYieldedValues(), loop.getResults())) {
        join(argument, {initial, next});
        join(result, {initial, next});
      }
    } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
      for (auto [number, result] : llvm::enumerate(choice.getResults()))
        join(result, {choice.thenYield().getOperand(number), choice.elseYield().getOperand(number)});
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      for (auto [argument, initial, next] :
           llvm::zip(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getResults()))
        join(argument, {initial, next});
      for (auto [argument, result, given] :
           llvm::zip(loop.getAfterArguments(), loop.getResults(), loop.getConditionOp().getArgs())) {
        join(argument, given);
        join(result, given);
      }
    }
  }

  bool canSplit() {
    bool fine = true;
    kernel_.getBody().walk([&](Operation* op) {
      if (isa<PushOp, PopOp, PeekOp, EndOp, PauseOp, PollOp, FenceOp, PrintOp, func::CallOp>(op))
        fine = refuse("it does other things than computing", op);
      if (auto variable = dyn_cast<memref::AllocaOp>(op))
        for (Operation* user : variable->getUsers())
          if (!isa<memref::LoadOp>(user) &&
              !(isa<memref::StoreOp>(user) && cast<memref::StoreOp>(user).getMemRef() == variable.getResult()))
            fine = refuse("a variable is used as a whole", user);
      if (op->getNumRegions() == 0 || !holdsBarrier(op))
        return;
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        if (isAnyVarying(loop->getOperands().take_front(3)))
          fine = refuse("instances might go around a loop with a barrier differently often", op);
      } else if (auto choice = dyn_cast<scf::IfOp>(op)) {
        if (isVarying(choice.getCondition()))
          fine = refuse("instances might come to a barrier or not", op);
      } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        if (isVarying(loop.getConditionOp().getCondition()))
          fine = refuse("instances might go around a loop with a barrier differently often", op);
      } else {
        fine = refuse("a barrier within what is not followed", op);
      }
    });
    return fine;
  }

  // ---- the new kernel ----

  void makeKernel() {
    SmallVector<Type> types;
    SmallVector<DictionaryAttr> attributes;
    const auto add = [&](Value given, DictionaryAttr attribute = {}) {
      operands_.push_back(given);
      types.push_back(given.getType());
      attributes.push_back(attribute ? attribute : DictionaryAttr::get(loop_.getContext()));
      return static_cast<unsigned>(types.size() - 1);
    };
    SmallVector<std::pair<Value, unsigned>> given; // values of the old kernel, and of the code around the run
    for (auto [number, operand] : llvm::enumerate(run_.getArguments()))
      if (!isInside(operand))
        given.emplace_back(kernel_.getBody().getArgument(static_cast<unsigned>(number)),
                           add(operand, kernel_.getArgAttrDict(static_cast<unsigned>(number))));
    llvm::SetVector<Value> around;
    for (Operation& op : loop_.getBody().front())
      if (&op != run_.getOperation())
        for (Value operand : op.getOperands())
          if (!isInside(operand))
            around.insert(operand);
    for (Value value : around)
      given.emplace_back(value, add(value));
    const auto bounds = static_cast<unsigned>(types.size());
    for (Value bound : loop_.getLower())
      add(bound);
    for (Value bound : loop_.getUpper())
      add(bound);
    builder_.setInsertionPoint(kernel_);
    made_ = make<KernelOp>((kernel_.getSymName() + ".split").str(), builder_.getFunctionType(types, {}));
    made_.setAllArgAttrs(attributes);
    made_.setMayAlias(kernel_.getMayAlias());
    Block& body = made_.getBody().emplaceBlock();
    for (Type type : types)
      body.addArgument(type, place_);
    for (auto [value, number] : given)
      uniform_.map(value, body.getArgument(number));
    builder_.setInsertionPointToStart(&body);
    for (unsigned dimension = 0; dimension < loop_.dimensions(); ++dimension) {
      lower_.push_back(body.getArgument(bounds + dimension));
      upper_.push_back(body.getArgument(bounds + loop_.dimensions() + dimension));
      sizes_.push_back(make<arith::SubIOp>(upper_.back(), lower_.back()));
    }
  }

  /// An array of an element an instance, or of `each` elements.
  Value keep(Value value, Type element, int64_t each = 1) {
    Value& slot = slots_[value];
    if (!slot) {
      slot = made_.getBody().front().addArgument(viewType(1, element), place_);
      kept_.emplace_back(element, each);
    }
    return slot;
  }
  Value slotOf(Value value) {
    return keep(value, value.getType().isInteger(1) ? builder_.getI8Type() : value.getType());
  }

  // ---- stretches ----

  /// The code of a block: what holds barriers by itself, what stands between in loops over instances.
  void split(Block& block) {
    SmallVector<Operation*> stretch;
    for (Operation& op : block.without_terminator()) {
      if (!holdsBarrier(&op)) {
        stretch.push_back(&op);
        continue;
      }
      emit(stretch);
      stretch.clear();
      place_ = op.getLoc();
      if (auto loop = dyn_cast<scf::ForOp>(op))
        split(loop);
      else if (auto choice = dyn_cast<scf::IfOp>(op))
        split(choice);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        split(loop);
    }
    emit(stretch);
  }

  void emit(ArrayRef<Operation*> stretch) {
    SmallVector<Operation*> varying;
    for (Operation* op : stretch) {
      if (isa<memref::AllocaOp>(op))
        continue;
      if (op->getNumResults() && !isAnyVarying(op->getResults()))
        builder_.clone(*op, uniform_);
      else
        varying.push_back(op);
    }
    if (varying.empty())
      return;
    const llvm::SmallPtrSet<Operation*, 16> inside(varying.begin(), varying.end());
    const auto isHere = [&](Operation* op) {
      for (; op; op = op->getParentOp())
        if (inside.contains(op))
          return true;
      return false;
    };
    llvm::SetVector<Value> needed, kept;
    for (Operation* op : varying) {
      op->walk([&](Operation* inner) {
        for (Value operand : inner->getOperands())
          if (isKept(operand) && !isHere(operand.getParentBlock()->getParentOp()) &&
              !(operand.getDefiningOp() && isHere(operand.getDefiningOp())))
            needed.insert(operand);
      });
      for (Value result : op->getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation* user) { return !isHere(user); }))
          kept.insert(result);
    }
    OpBuilder::InsertionGuard guard(builder_);
    IRMapping values = begin(varying.front()->getLoc());
    for (Value value : needed)
      values.map(value, ownOf(value, values));
    for (Operation* op : varying)
      reachVariables(builder_.clone(*op, values), values);
    for (Value value : kept)
      if (!isComputedAgain(value))
        store(values.lookup(value), slotOf(value));
  }

  /// Whether a value of an instance is found in its array where another stretch made it.
  bool isKept(Value value) {
    if (!isVarying(value) || value.getDefiningOp<memref::AllocaOp>())
      return false;
    auto argument = dyn_cast<BlockArgument>(value);
    return !argument || argument.getOwner()->getParentOp() != kernel_.getOperation();
  }

  /// Whether a value takes a few operations on integers from what each instance has without memory: its number, and
  /// what is the same for all. Stretches behind the one that has it compute it once more.
  bool isComputedAgain(Value value) {
    if (const auto known = again_.find(value); known != again_.end())
      return known->second;
    llvm::SetVector<Operation*> slice;
    const bool is = addSlice(value, slice);
    again_[value] = is;
    return is;
  }
  bool addSlice(Value value, llvm::SetVector<Operation*>& slice) {
    constexpr size_t mostOperations = 8;
    if (!isKept(value))
      return true;
    Operation* op = value.getDefiningOp();
    if (!op || !isa<arith::ArithDialect>(op->getDialect()) || !value.getType().isIntOrIndex() ||
        !canExecuteAnywhere(op))
      return false;
    if (!slice.insert(op))
      return true;
    return slice.size() <= mostOperations &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return addSlice(operand, slice); });
  }

  /// A value of another stretch, for the instance that code is built for.
  Value ownOf(Value value, IRMapping& values) {
    if (!isComputedAgain(value))
      return load(value);
    if (Value made = values.lookupOrNull(value))
      return made;
    Operation* op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      if (isKept(operand))
        values.map(operand, ownOf(operand, values));
    return builder_.clone(*op, values)->getResult(cast<OpResult>(value).getResultNumber());
  }

  /// Loops over all instances; what is built next is one instance's. Gives the kernel's values there.
  IRMapping begin(Location where) {
    place_ = where;
    IRMapping values = uniform_;
    Value one = index(1);
    for (unsigned dimension = 0; dimension < loop_.dimensions(); ++dimension) {
      auto loop = make<scf::ForOp>(lower_[dimension], upper_[dimension], one);
      SvmDialect::unorderedAttr.set(loop);
      builder_.setInsertionPointToStart(loop.getBody());
      values.map(loop_.iteration(dimension), loop.getInductionVar());
    }
    linear_ = {};
    for (Operation& op : loop_.getBody().front())
      if (&op != run_.getOperation())
        builder_.clone(op, values);
    for (auto [argument, operand] : llvm::zip(kernel_.getBody().getArguments(), run_.getArguments()))
      if (isInside(operand))
        values.map(argument, values.lookup(operand));
    for (unsigned dimension = 0; dimension < loop_.dimensions(); ++dimension) {
      Value own = make<arith::SubIOp>(values.lookup(loop_.iteration(dimension)), lower_[dimension]);
      linear_ = linear_ ? make<arith::AddIOp>(make<arith::MulIOp>(linear_, sizes_[dimension]), own).getResult() : own;
    }
    return values;
  }

  /// Conditions are kept in bytes, since lanes have no elements below.
  Value load(Value value) {
    Value loaded = make<memref::LoadOp>(slotOf(value), ValueRange(linear_));
    return loaded.getType() == value.getType() ? loaded : make<arith::TruncIOp>(value.getType(), loaded).getResult();
  }
  void store(Value value, Value slot) {
    const Type element = cast<MemRefType>(slot.getType()).getElementType();
    make<memref::StoreOp>(element == value.getType() ? value : make<arith::ExtUIOp>(element, value).getResult(), slot,
                          ValueRange(linear_));
  }

  /// Local variables of an instance are its part of an array of all.
  void reachVariables(Operation* copy, IRMapping& values) {
    copy->walk([&](Operation* op) {
      auto loaded = dyn_cast<memref::LoadOp>(op);
      auto stored = dyn_cast<memref::StoreOp>(op);
      if (!loaded && !stored)
        return;
      Value block = loaded ? loaded.getMemRef() : stored.getMemRef();
      auto variable = block.getDefiningOp<memref::AllocaOp>();
      if (!variable || variable->getParentOfType<KernelOp>() != kernel_)
        return;
      const MemRefType type = variable.getType();
      Value slot = keep(variable, type.getElementType(), type.getNumElements());
      OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPoint(op);
      Value at = make<arith::MulIOp>(linear_, index(type.getNumElements())), within;
      for (auto [dimension, each] : llvm::enumerate(loaded ? loaded.getIndices() : stored.getIndices()))
        within =
            within
                ? make<arith::AddIOp>(make<arith::MulIOp>(within, index(type.getDimSize(dimension))), each).getResult()
                : Value(each);
      if (within)
        at = make<arith::AddIOp>(at, within);
      if (loaded) {
        loaded.getMemrefMutable().assign(slot);
        loaded.getIndicesMutable().assign(at);
      } else {
        stored.getMemrefMutable().assign(slot);
        stored.getIndicesMutable().assign(at);
      }
    });
  }

  /// Gives values of instances to others, all at once.
  void carry(ArrayRef<std::pair<Value, Value>> fromTo) {
    SmallVector<std::pair<Value, Value>> own;
    for (auto [from, to] : fromTo)
      if (isVarying(to))
        own.emplace_back(from, to);
    if (own.empty())
      return;
    OpBuilder::InsertionGuard guard(builder_);
    IRMapping values = begin(place_);
    SmallVector<Value> given;
    for (auto [from, to] : own)
      given.push_back(isKept(from) ? ownOf(from, values) : values.lookupOrDefault(from));
    for (auto [value, pair] : llvm::zip(given, own))
      store(value, slotOf(pair.second));
  }

  SmallVector<Value> uniformOf(ValueRange values, ValueRange like) {
    SmallVector<Value> found;
    for (auto [value, kept] : llvm::zip(values, like))
      if (!isVarying(kept))
        found.push_back(uniform_.lookup(value));
    return found;
  }
  void mapUniform(ValueRange values, ValueRange made) {
    size_t next = 0;
    for (Value value : values)
      if (!isVarying(value))
        uniform_.map(value, made[next++]);
  }
  static SmallVector<std::pair<Value, Value>> pairs(ValueRange from, ValueRange to) {
    SmallVector<std::pair<Value, Value>> all;
    for (auto [one, other] : llvm::zip(from, to))
      all.emplace_back(one, other);
    return all;
  }
  /// Results are where the values are that they are the last of.
  void share(ValueRange results, ValueRange values) {
    for (auto [result, value] : llvm::zip(results, values))
      if (isVarying(result))
        slots_[result] = slotOf(value);
  }

  void split(scf::ForOp loop) {
    const ValueRange arguments = loop.getRegionIterArgs();
    // An argument that varies has a result that does, and the reverse.
    carry(pairs(loop.getInitArgs(), arguments));
    auto made = make<scf::ForOp>(uniform_.lookup(loop.getLowerBound()), uniform_.lookup(loop.getUpperBound()),
                                 uniform_.lookup(loop.getStep()), uniformOf(loop.getInitArgs(), arguments));
    {
      OpBuilder::InsertionGuard guard(builder_);
      made.getBody()->clear();
      builder_.setInsertionPointToStart(made.getBody());
      uniform_.map(loop.getInductionVar(), made.getInductionVar());
      mapUniform(arguments, made.getRegionIterArgs());
      split(*loop.getBody());
      carry(pairs(loop.getYieldedValues(), arguments));
      make<scf::YieldOp>(uniformOf(loop.getYieldedValues(), arguments));
    }
    mapUniform(loop.getResults(), made.getResults());
    share(loop.getResults(), arguments);
  }

  void split(scf::IfOp choice) {
    SmallVector<Type> types;
    for (Value result : choice.getResults())
      if (!isVarying(result))
        types.push_back(result.getType());
    auto made = make<scf::IfOp>(types, uniform_.lookup(choice.getCondition()), /*withElseRegion=*/true);
    for (bool isThen : {true, false}) {
      Region& from = isThen ? choice.getThenRegion() : choice.getElseRegion();
      Block* to = isThen ? made.thenBlock() : made.elseBlock();
      OpBuilder::InsertionGuard guard(builder_);
      if (!to->empty())
        to->back().erase(); // a terminator that the builder has made
      builder_.setInsertionPointToStart(to);
      if (from.empty()) {
        make<scf::YieldOp>();
        continue;
      }
      split(from.front());
      const ValueRange given = from.front().getTerminator()->getOperands();
      carry(pairs(given, choice.getResults()));
      make<scf::YieldOp>(uniformOf(given, choice.getResults()));
    }
    mapUniform(choice.getResults(), made.getResults());
  }

  void split(scf::WhileOp loop) {
    const ValueRange before = loop.getBeforeArguments(), after = loop.getAfterArguments();
    const auto typesOf = [&](ValueRange values) {
      SmallVector<Type> types;
      for (Value value : values)
        if (!isVarying(value))
          types.push_back(value.getType());
      return types;
    };
    carry(pairs(loop.getInits(), before));
    auto made = make<scf::WhileOp>(TypeRange(typesOf(after)), ValueRange(uniformOf(loop.getInits(), before)));
    OpBuilder::InsertionGuard guard(builder_);
    const SmallVector<Type> beforeTypes = typesOf(before), afterTypes = typesOf(after);
    Block* head =
        builder_.createBlock(&made.getBefore(), {}, beforeTypes, SmallVector<Location>(beforeTypes.size(), place_));
    mapUniform(before, head->getArguments());
    split(loop.getBefore().front());
    scf::ConditionOp condition = loop.getConditionOp();
    carry(pairs(condition.getArgs(), after));
    make<scf::ConditionOp>(uniform_.lookup(condition.getCondition()), uniformOf(condition.getArgs(), after));
    Block* body =
        builder_.createBlock(&made.getAfter(), {}, afterTypes, SmallVector<Location>(afterTypes.size(), place_));
    mapUniform(after, body->getArguments());
    split(loop.getAfter().front());
    carry(pairs(loop.getYieldOp().getResults(), before));
    make<scf::YieldOp>(uniformOf(loop.getYieldOp().getResults(), before));
    mapUniform(loop.getResults(), made.getResults());
    share(loop.getResults(), after);
  }

  // ---- the run ----

  void replaceRun() {
    SmallVector<Type> types;
    for (BlockArgument argument : made_.getBody().getArguments())
      types.push_back(argument.getType());
    made_.setFunctionType(builder_.getFunctionType(types, {}));
    SmallVector<DictionaryAttr> attributes;
    for (unsigned number = 0; number < operands_.size(); ++number)
      attributes.push_back(made_.getArgAttrDict(number));
    const auto access =
        builder_.getDictionaryAttr(SvmDialect::accessAttr.with(builder_.getContext(), Access::ReadWrite));
    attributes.resize(types.size(), access);
    made_.setAllArgAttrs(attributes);
    builder_.setInsertionPoint(loop_);
    place_ = loop_.getLoc();
    Value all = index(1), isAny;
    for (auto [lower, upper] : llvm::zip(loop_.getLower(), loop_.getUpper())) {
      all = make<arith::MulIOp>(all, make<arith::SubIOp>(upper, lower));
      Value is = make<arith::CmpIOp>(arith::CmpIPredicate::slt, lower, upper);
      isAny = isAny ? make<arith::AndIOp>(isAny, is).getResult() : is;
    }
    auto choice = make<scf::IfOp>(isAny, false);
    builder_.setInsertionPointToStart(choice.thenBlock());
    for (const auto& [element, each] : kept_) {
      Value extent = each == 1 ? all : make<arith::MulIOp>(all, index(each)).getResult();
      operands_.push_back(make<BlockOp>(viewType(1, element), ValueRange(extent), builder_.getDenseI64ArrayAttr({-1}),
                                        StringAttr(), IntegerAttr()));
    }
    make<RunOp>(Type(), FlatSymbolRefAttr::get(made_.getSymNameAttr()), ValueRange(operands_), ValueRange(),
                FlatSymbolRefAttr());
    loop_.erase();
  }

  ParallelOp loop_;
  RunOp run_;
  KernelOp kernel_, made_;
  OpBuilder builder_;
  Location place_;
  std::string refusal_;
  Operation* refusedAt_ = nullptr;

  llvm::DenseSet<Value> varying_;
  bool changed_ = false;
  SmallVector<Value> operands_;              // of the new run
  SmallVector<Value> lower_, upper_, sizes_; // of the instances, in the new kernel
  IRMapping uniform_;                        // values of the old kernel that are the same for all instances
  llvm::DenseMap<Value, Value> slots_;       // of others: the array that they are kept in
  llvm::DenseMap<Value, bool> again_;        // those that isComputedAgain() has looked at
  SmallVector<std::pair<Type, int64_t>> kept_;
  Value linear_; // the number of the instance that code is built for
};

struct SplitBarriersPass : PassWrapper<SplitBarriersPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitBarriersPass)

  void getDependentDialects(DialectRegistry& registry) const override { registerDialects(registry); }

  void runOnOperation() override {
    SmallVector<ParallelOp> loops;
    getOperation().walk([&](ParallelOp loop) {
      if (loop.getConcurrent() && !loop.getLabel())
        loops.push_back(loop);
    });
    llvm::SetVector<Operation*> old;
    for (ParallelOp loop : loops) {
      RunOp run = onlyRun(loop);
      auto kernel = run ? getOperation().lookupSymbol<KernelOp>(run.getKernel()) : KernelOp();
      if (!kernel || !kernel.isStructured() || SvmDialect::sharedAttr.isOn(kernel) || !holdsBarrier(kernel))
        continue;
      Splitter splitter(loop, run, kernel);
      if (splitter.run())
        old.insert(kernel);
      else
        splitter.refusedAt()->emitRemark() << "instances wait for each other one by one: " << splitter.refusal();
    }
    for (Operation* kernel : old)
      if (SymbolTable::symbolKnownUseEmpty(kernel, getOperation()))
        kernel->erase();
  }

  /// The run that a loop's body is, beside what computes its operands.
  static RunOp onlyRun(ParallelOp loop) {
    RunOp found;
    for (Operation& op : loop.getBody().front()) {
      auto run = dyn_cast<RunOp>(op);
      if (run && !found && !run.getToken() && run.getAfter().empty())
        found = run;
      else if (!canExecuteAnywhere(&op))
        return {};
    }
    return found;
  }
};

} // namespace

std::unique_ptr<Pass> createSplitBarriersPass() {
  return svm::makePass<SplitBarriersPass>(svm::passes::SplitBarriers);
}

} // namespace strata::transform

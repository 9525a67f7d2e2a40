// Lowering of what the svm dialect says about data: blocks, moves, checks, figures, records, streams. What a region
// made is given back at its end, in the opposite order.
#include "compiler/target/host/storage.h"

#include "base/machine/connections.h"
#include "compiler/ir/barrier_check.h"
#include "compiler/ir/locations.h"
#include "compiler/kernel/convention.h"
#include "compiler/mapping/place.h"
#include "compiler/target/host/gather.h"
#include "compiler/target/host/windows.h"
#include "runtime/abi.h"
#include "runtime/core/poll.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

Value stackSlot(OpBuilder& builder, Location location, Type type) {
  OpBuilder::InsertionGuard guard(builder);
  // A region that is yet to be outlined has a stack of its own: its instances run at the same time.
  Region* region = builder.getInsertionBlock()->getParent();
  while (!isa<InstancesOp, OnOp, FunctionOpInterface>(region->getParentOp()))
    region = region->getParentRegion();
  builder.setInsertionPointToStart(&region->front());
  Value one = builder.create<LLVM::ConstantOp>(location, builder.getI64Type(), 1);
  return builder.create<LLVM::AllocaOp>(location, LLVM::LLVMPointerType::get(builder.getContext()), type, one);
}

void RegionEnds::atEnd(Operation* op, llvm::function_ref<void(OpBuilder&)> body) {
  Block* block = op->getBlock();
  Operation*& end = ends_[block];
  OpBuilder builder(op->getContext());
  if (end)
    builder.setInsertionPoint(end);
  else if (!block->empty() && block->back().hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPoint(&block->back());
  else
    builder.setInsertionPointToEnd(block);
  Operation* previous = &*std::prev(builder.getInsertionPoint()); // `op` itself at the least
  body(builder);
  end = previous->getNextNode();
}

// ---- lowering ----

namespace {

/// Static blocks of at most this many bytes live on the stack of control code.
constexpr int64_t stackBytes = 1024;

class StorageLowering {
public:
  StorageLowering(ModuleOp program, const Machine& machine, const Captured& captured, bool callsCarryIds)
      : program_(program), machine_(machine), connections_(machine), captured_(captured), callsCarryIds_(callsCarryIds),
        calls_(program) {}

  void run() {
    moveElements(program_, machine_);
    program_.walk([](memref::AllocaOp alloca) {
      // A variable in a loop is one variable.
      if (alloca->getOperands().empty()) {
        auto function = alloca->getParentOfType<FunctionOpInterface>();
        alloca->moveBefore(&function.getFunctionBody().front(), function.getFunctionBody().front().begin());
      }
    });
    SmallVector<Operation*> operations;
    SmallVector<ScopeOp> scopes;
    SmallVector<SpanOp> spans;
    program_.walk<WalkOrder::PostOrder>([&](Operation* op) {
      if (auto scope = dyn_cast<ScopeOp>(op))
        scopes.push_back(scope);
      else if (auto span = dyn_cast<SpanOp>(op))
        spans.push_back(span);
      else if (isa<SvmDialect>(op->getDialect()) || (isa<memref::AllocaOp>(op) && captured_.contains(op)) ||
               isScratch(op))
        operations.push_back(op);
    });
    hasSpans_ = !spans.empty();
    for (Operation* op : operations)
      lower(op);
    for (ScopeOp scope : scopes)
      inlineRegion(scope);
    for (SpanOp span : spans)
      lowerSpan(span);
  }

private:
  Value word(OpBuilder& builder, Location loc, Value value) {
    if (value.getType().isIndex())
      return builder.create<UnrealizedConversionCastOp>(loc, builder.getI64Type(), value).getResult(0);
    return value;
  }
  Value constant(OpBuilder& builder, Location loc, int64_t value, unsigned width = 64) {
    return builder.create<LLVM::ConstantOp>(loc, builder.getIntegerType(width), value);
  }
  Type pointer() { return LLVM::LLVMPointerType::get(program_.getContext()); }

  /// An array of words on the stack.
  Value array(OpBuilder& builder, Location loc, ArrayRef<Value> words, Type element) {
    if (words.empty())
      return calls_.null(builder, loc);
    Value slot = stackSlot(builder, loc, LLVM::LLVMArrayType::get(element, words.size()));
    store(builder, loc, words, element, slot);
    return slot;
  }
  void store(OpBuilder& builder, Location loc, ArrayRef<Value> words, Type element, Value slot) {
    for (auto [position, value] : llvm::enumerate(words)) {
      Value at = builder.create<LLVM::GEPOp>(loc, pointer(), element, slot,
                                             ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
      builder.create<LLVM::StoreOp>(loc, value, at);
    }
  }

  void lower(Operation* op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    if (auto block = dyn_cast<BlockOp>(op))
      return lowerBlock(block);
    if (auto found = dyn_cast<MemoryAtOp>(op)) {
      Value data = builder.create<LLVM::IntToPtrOp>(loc, pointer(), found.getAddress());
      Value one = builder.create<arith::ConstantIndexOp>(loc, 1);
      found.getBlock().replaceAllUsesWith(
          kernel::describe(builder, loc, found.getBlock().getType(), data, found.getExtent(), one));
      return found.erase();
    }
    if (auto inPlace = dyn_cast<InPlaceOp>(op))
      return lowerInPlace(inPlace, calls_);
    if (auto apart = dyn_cast<ApartOp>(op)) {
      apart.getIsApart().replaceAllUsesWith(areApart(builder, loc, apart));
      return apart.erase();
    }
    if (isa<memref::AllocaOp, memref::AllocOp>(op))
      return lowerVariable(op);
    if (auto move = dyn_cast<MoveOp>(op))
      return lowerMove(move);
    if (isa<GatherOp, ScatterOp>(op)) {
      const Transfer transfer = *transferOf(op);
      return lowerIndexedMove(transfer, machine_, calls_, callsCarryIds_ ? wayOf(builder, transfer) : Value());
    }
    if (auto wait = dyn_cast<WaitOp>(op)) {
      for (Value token : wait.getTokens())
        calls_.call(builder, loc, "strata_wait", {}, cast(builder, loc, token));
    } else if (auto check = dyn_cast<CheckOp>(op)) {
      fail(builder, loc, negate(builder, loc, check.getCondition()), check.getCode(), check.getMessage(),
           check.getHelp().value_or(""), check.getValues());
    } else if (auto index = dyn_cast<IndexOp>(op)) {
      // One unsigned comparison covers both ends.
      Value outside =
          builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::uge, index.getIndex(), index.getExtent());
      std::string message = "index {0} of '" + index.getArray().str() + "' is outside dimension " +
                            std::to_string(index.getDimension()) + ", which has {1} elements";
      fail(builder, loc, outside, "index-out-of-range", message, "", ValueRange{index.getIndex(), index.getExtent()});
    } else if (auto count = dyn_cast<CountOp>(op)) {
      calls_.call(builder, loc, "strata_count", {},
                  {calls_.text(builder, loc, count.getCounter()), word(builder, loc, count.getAmount())});
    } else if (isa<PauseOp>(op)) {
      calls_.call(builder, loc, "strata_yield", {}, {});
    } else if (auto poll = dyn_cast<PollOp>(op)) {
      lowerPoll(poll);
    } else if (isa<BarrierOp>(op)) {
      calls_.call(builder, loc, "strata_barrier_at", {},
                  calls_.check(builder, loc, barrierCode, barrierMessage(placeName(loc)), barrierHelp));
    } else if (auto atomic = dyn_cast<AtomicOp>(op)) {
      lowerAtomic(atomic);
    } else if (isa<FenceOp>(op)) {
      // All fences have one order: of two instances that each store, pass a fence and load, one at least sees the
      // other.
      builder.create<LLVM::FenceOp>(loc, LLVM::AtomicOrdering::seq_cst, StringRef());
    } else if (isa<StayOp>(op)) {
      builder.create<LLVM::CallIntrinsicOp>(loc, TypeRange(), builder.getStringAttr("llvm.sideeffect"), ValueRange(),
                                            LLVM::FastmathFlagsAttr());
    } else if (auto print = dyn_cast<PrintOp>(op)) {
      lowerPrint(print);
    } else if (isa<RecordOp, FieldOp, WithFieldOp>(op)) {
      return; // converted with the types
    } else if (!lowerStream(op)) {
      return;
    }
    op->erase();
  }

  /// Where a block begins and ends, in bytes, and whether it has no elements.
  struct Stretch {
    Value begin, end, isEmpty;
  };
  Stretch stretchOf(OpBuilder& builder, Location loc, TypedValue<MemRefType> block) {
    const SmallVector<Value> parts = kernel::flatten(builder, loc, block);
    const auto rank = static_cast<size_t>(block.getType().getRank());
    auto number = [&](int64_t value) { return builder.create<arith::ConstantIndexOp>(loc, value).getResult(); };
    Value zero = number(0), low = zero, high = number(1);
    Value isEmpty = builder.create<arith::ConstantIntOp>(loc, 0, 1);
    for (size_t dimension = 0; dimension < rank; ++dimension) {
      Value extent = parts[1 + dimension];
      Value none = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sle, extent, zero);
      isEmpty = builder.create<arith::OrIOp>(loc, isEmpty, none);
      Value reach = builder.create<arith::MulIOp>(loc, builder.create<arith::SubIOp>(loc, extent, number(1)),
                                                  parts[1 + rank + dimension]);
      low = builder.create<arith::AddIOp>(loc, low, builder.create<arith::MinSIOp>(loc, reach, zero));
      high = builder.create<arith::AddIOp>(loc, high, builder.create<arith::MaxSIOp>(loc, reach, zero));
    }
    Value first = builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), parts.front());
    const auto bytes = static_cast<int64_t>(RecordType::sizeInBytes(block.getType().getElementType()));
    auto at = [&](Value elements) {
      return builder.create<arith::AddIOp>(loc, first, word(builder, loc, sizeOf(builder, loc, elements, bytes)))
          .getResult();
    };
    return {at(low), at(high), isEmpty};
  }
  Value areApart(OpBuilder& builder, Location loc, ApartOp apart) {
    const Stretch one = stretchOf(builder, loc, apart.getFirst()), other = stretchOf(builder, loc, apart.getSecond());
    auto before = [&](const Stretch& first, const Stretch& second) {
      return builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ule, first.end, second.begin).getResult();
    };
    Value result = builder.create<arith::OrIOp>(loc, one.isEmpty, other.isEmpty);
    result = builder.create<arith::OrIOp>(loc, result, before(one, other));
    return builder.create<arith::OrIOp>(loc, result, before(other, one));
  }

  /// Of a compare_exchange, which is no such change, the one that stores the value.
  static LLVM::AtomicBinOp changeOf(AtomicKind kind) {
    switch (kind) {
    case AtomicKind::Add:
      return LLVM::AtomicBinOp::add;
    case AtomicKind::Sub:
      return LLVM::AtomicBinOp::sub;
    case AtomicKind::And:
      return LLVM::AtomicBinOp::_and;
    case AtomicKind::Or:
      return LLVM::AtomicBinOp::_or;
    case AtomicKind::Xor:
      return LLVM::AtomicBinOp::_xor;
    case AtomicKind::Min:
      return LLVM::AtomicBinOp::min;
    case AtomicKind::Max:
      return LLVM::AtomicBinOp::max;
    case AtomicKind::UMin:
      return LLVM::AtomicBinOp::umin;
    case AtomicKind::UMax:
      return LLVM::AtomicBinOp::umax;
    case AtomicKind::Exchange:
    case AtomicKind::CompareExchange:
      break;
    }
    return LLVM::AtomicBinOp::xchg;
  }

  void lowerAtomic(AtomicOp atomic) {
    OpBuilder builder(atomic);
    const Location loc = atomic.getLoc();
    const SmallVector<Value> block = kernel::flatten(builder, loc, atomic.getBlock());
    const size_t rank = atomic.getIndices().size();
    Value index = builder.create<arith::ConstantIndexOp>(loc, 0);
    for (auto [dimension, each] : llvm::enumerate(atomic.getIndices()))
      index = builder.create<arith::AddIOp>(loc, index,
                                            builder.create<arith::MulIOp>(loc, each, block[1 + rank + dimension]));
    const Type element = atomic.getValue().getType();
    Value at = builder.create<LLVM::GEPOp>(loc, LLVM::LLVMPointerType::get(builder.getContext()), element,
                                           block.front(), ArrayRef<LLVM::GEPArg>{word(builder, loc, index)});
    const auto order = LLVM::AtomicOrdering::seq_cst;
    if (atomic.getExpected()) {
      auto pair = builder.create<LLVM::AtomicCmpXchgOp>(loc, at, atomic.getExpected(), atomic.getValue(), order, order);
      atomic.getBefore().replaceAllUsesWith(
          builder.create<LLVM::ExtractValueOp>(loc, pair, ArrayRef<int64_t>{0}).getResult());
      return;
    }
    atomic.getBefore().replaceAllUsesWith(
        builder.create<LLVM::AtomicRMWOp>(loc, changeOf(atomic.getKind()), at, atomic.getValue(), order).getResult());
  }

  /// Every poll keeps what the runtime remembers of its last rounds on the stack.
  void lowerPoll(PollOp poll) {
    OpBuilder builder(poll);
    Location loc = poll.getLoc();
    SmallVector<Value> state;
    for (Value value : poll.getState()) {
      if (isa<FloatType>(value.getType()))
        value = builder.create<LLVM::BitcastOp>(loc, builder.getIntegerType(value.getType().getIntOrFloatBitWidth()),
                                                value);
      if (value.getType().isInteger() && value.getType().getIntOrFloatBitWidth() < 64)
        value = builder.create<LLVM::ZExtOp>(loc, builder.getI64Type(), value);
      state.push_back(word(builder, loc, value));
    }
    const auto words = static_cast<int64_t>(state.size());
    Value record =
        stackSlot(builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), sizeof(StrataPoll) / 8 + words));
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointAfterValue(record);
      builder.create<LLVM::StoreOp>(loc, constant(builder, loc, 0), record); // the first member: never used
    }
    Value instance = poll.getInstance() ? word(builder, loc, poll.getInstance()) : constant(builder, loc, -1);
    Value changed = builder.create<LLVM::ZExtOp>(loc, builder.getI32Type(), poll.getChanged());
    Value place = calls_.check(builder, loc, "runtime-deadlock", "",
                               "a loop waits for a value that nothing writes any more: see what is to end it, and "
                               "which tile writes that, under which conditions");
    calls_.call(builder, loc, "strata_poll", {},
                {record, place, instance, changed, array(builder, loc, state, builder.getI64Type()),
                 constant(builder, loc, words, 32)});
  }

  void lowerPrint(PrintOp print) {
    OpBuilder builder(print);
    Location loc = print.getLoc();
    SmallVector<Value> words;
    for (Value value : print.getValues())
      words.push_back(value.getType().isF64() ? builder.create<LLVM::BitcastOp>(loc, builder.getI64Type(), value)
                                              : value);
    calls_.call(builder, loc, "strata_print", {},
                {word(builder, loc, print.getOrder()), calls_.text(builder, loc, print.getFormat()),
                 array(builder, loc, words, builder.getI64Type()),
                 constant(builder, loc, static_cast<int64_t>(words.size()), 32)});
  }

  Value negate(OpBuilder& builder, Location loc, Value condition) {
    return builder.create<arith::XOrIOp>(loc, condition,
                                         builder.create<arith::ConstantIntOp>(loc, 1, builder.getI1Type()));
  }

  /// What a failure tells. A function fails once, so that all its checks share one array.
  Value failureWords(OpBuilder& builder, Location loc, ArrayRef<Value> words) {
    constexpr size_t mostShared = 4;
    if (words.empty() || words.size() > mostShared)
      return array(builder, loc, words, builder.getI64Type());
    auto function = builder.getInsertionBlock()->getParentOp()->getParentOfType<FunctionOpInterface>();
    Value& slot = failureSlots_[function];
    if (!slot)
      slot = stackSlot(builder, loc, LLVM::LLVMArrayType::get(builder.getI64Type(), mostShared));
    store(builder, loc, words, builder.getI64Type(), slot);
    return slot;
  }

  void fail(OpBuilder& builder, Location loc, Value condition, StringRef code, StringRef message, StringRef help,
            ValueRange values) {
    auto branch = builder.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
    OpBuilder inside = branch.getThenBodyBuilder();
    SmallVector<Value> words;
    for (Value value : values)
      words.push_back(word(inside, loc, value));
    Value list = failureWords(inside, loc, words);
    calls_.call(inside, loc, "strata_fail", {},
                {calls_.check(inside, loc, code, message, help), list,
                 constant(inside, loc, static_cast<int64_t>(words.size()), 32)});
  }

  Value cast(OpBuilder& builder, Location loc, Value value) {
    return builder.create<UnrealizedConversionCastOp>(loc, pointer(), value).getResult(0);
  }

  void lowerBlock(BlockOp block) {
    OpBuilder builder(block);
    Location loc = block.getLoc();
    auto type = block.getBlock().getType();
    int64_t elementBytes = RecordType::sizeInBytes(type.getElementType());
    machine::MemoryId id = machine_.memory(memoryOf(type).str());
    bool isExplicit = id.valid() && machine_.isStore(id);
    SmallVector<Value> extents(block.getExtents());
    // Strides: dense rows; in an explicit memory rows begin at multiples of its alignment, as scheduling assumed.
    SmallVector<Value> strides(extents.size());
    Value stride = builder.create<arith::ConstantIndexOp>(loc, 1);
    for (size_t dimension = extents.size(); dimension-- > 0;) {
      strides[dimension] = stride;
      stride = builder.createOrFold<arith::MulIOp>(loc, stride, extents[dimension]);
      int64_t alignment = isExplicit ? static_cast<int64_t>(std::max<uint64_t>(machine_[id].alignment, 1)) : 1;
      if (dimension + 1 == extents.size() && alignment > elementBytes && alignment % elementBytes == 0) {
        int64_t step = alignment / elementBytes;
        Value up = builder.create<arith::AddIOp>(loc, stride, builder.create<arith::ConstantIndexOp>(loc, step - 1));
        stride = builder.create<arith::AndIOp>(loc, up, builder.create<arith::ConstantIndexOp>(loc, -step));
      }
    }
    Value data;
    if (isExplicit) {
      for (auto [dimension, extent] : llvm::enumerate(extents))
        if (block.getMax() && (*block.getMax())[dimension] >= 0) {
          Value most = builder.create<arith::ConstantIndexOp>(loc, (*block.getMax())[dimension]);
          Value over = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ugt, extent, most);
          fail(builder, loc, over, "block-exceeds-bound",
               "a block of " + block.getLabel().value_or("this program").str() + " has {0} elements in dimension " +
                   std::to_string(dimension) + ", and space for {1}",
               "", ValueRange{extent, most});
        }
      Value memory = constant(builder, loc, id.value, 32);
      if (auto stack = svm::SvmDialect::stackAttr.of(block)) {
        data = calls_.call(builder, loc, "strata_stack_acquire", pointer(),
                           {memory, constant(builder, loc, stack.getInt()),
                            word(builder, loc, sizeOf(builder, loc, stride, elementBytes)),
                            calls_.text(builder, loc, block.getLabel().value_or("a block"))});
        ends_.atEnd(block, [&](OpBuilder& end) { calls_.call(end, loc, "strata_stack_release", {}, {memory, data}); });
      } else {
        Value store = calls_.call(builder, loc, "strata_store", pointer(), memory);
        data = builder.create<LLVM::GEPOp>(loc, pointer(), builder.getI8Type(), store,
                                           ArrayRef<LLVM::GEPArg>{constant(builder, loc, *block.getAddress())});
      }
    } else if (id.valid() && machine_[id].files) {
      data = calls_.call(builder, loc, "strata_window_acquire_file", pointer(),
                         {word(builder, loc, sizeOf(builder, loc, stride, elementBytes)),
                          calls_.text(builder, loc, block.getLabel().value_or("a block"))});
      ends_.atEnd(block, [&](OpBuilder& end) { calls_.call(end, loc, "strata_window_release", {}, data); });
    } else if (isDistributed(block, machine_)) {
      data = acquireDistributed(builder, block, machine_, calls_);
      ends_.atEnd(block, [&](OpBuilder& end) { calls_.call(end, loc, "strata_window_release", {}, data); });
    } else if (std::optional<int64_t> bytes = staticBytes(block, elementBytes);
               bytes && *bytes <= stackBytes && !captured_.contains(block)) {
      data = stackSlot(builder, loc,
                       LLVM::LLVMArrayType::get(builder.getI64Type(), std::max<int64_t>(1, (*bytes + 7) / 8)));
    } else {
      data = calls_.call(builder, loc, "strata_acquire", pointer(),
                         {word(builder, loc, sizeOf(builder, loc, stride, elementBytes)),
                          calls_.text(builder, loc, block.getLabel().value_or("a block"))});
      ends_.atEnd(block, [&](OpBuilder& end) { calls_.call(end, loc, "strata_release", {}, data); });
    }
    block.getBlock().replaceAllUsesWith(kernel::describe(builder, loc, type, data, extents, strides));
    block.erase();
  }

  /// Memory that a kernel needs while it runs: it is loaded and stored, and not given back, which the end of the region
  /// does.
  static bool isScratch(Operation* op) {
    return isa<memref::AllocOp>(op) && llvm::all_of(op->getUsers(), [](Operation* user) {
             return isa<vector::LoadOp, vector::StoreOp, vector::MaskedLoadOp>(user);
           });
  }

  /// A variable of control code that parts write, or scratch memory: a block like others.
  void lowerVariable(Operation* variable) {
    OpBuilder builder(variable);
    Location loc = variable->getLoc();
    auto type = cast<MemRefType>(variable->getResult(0).getType());
    SmallVector<Value> extents, strides(static_cast<size_t>(type.getRank()));
    auto dynamic = variable->operand_begin();
    for (int64_t extent : type.getShape())
      extents.push_back(
          ShapedType::isDynamic(extent) ? *dynamic++ : builder.create<arith::ConstantIndexOp>(loc, extent).getResult());
    Value stride = builder.create<arith::ConstantIndexOp>(loc, 1);
    for (size_t dimension = extents.size(); dimension-- > 0;) {
      strides[dimension] = stride;
      stride = builder.createOrFold<arith::MulIOp>(loc, stride, extents[dimension]);
    }
    Value bytes = sizeOf(builder, loc, stride, static_cast<int64_t>(RecordType::sizeInBytes(type.getElementType())));
    Value data =
        calls_.call(builder, loc, "strata_acquire", pointer(),
                    {word(builder, loc, bytes),
                     calls_.text(builder, loc, isa<memref::AllocOp>(variable) ? "a panel of a leaf" : "a variable")});
    ends_.atEnd(variable, [&](OpBuilder& end) { calls_.call(end, loc, "strata_release", {}, data); });
    variable->getResult(0).replaceAllUsesWith(kernel::describe(builder, loc, type, data, extents, strides));
    variable->erase();
  }

  /// Bytes of so many elements.
  Value sizeOf(OpBuilder& builder, Location loc, Value elements, int64_t elementBytes) {
    return builder.createOrFold<arith::MulIOp>(loc, elements,
                                               builder.create<arith::ConstantIndexOp>(loc, elementBytes));
  }

  std::optional<int64_t> staticBytes(BlockOp block, int64_t elementBytes) {
    int64_t bytes = elementBytes;
    for (Value extent : block.getExtents()) {
      std::optional<int64_t> constant = getConstantIntValue(extent);
      if (!constant || *constant < 0 || __builtin_mul_overflow(bytes, *constant, &bytes))
        return std::nullopt;
    }
    return bytes;
  }

  /// Whether a move may be one from or to another process's memory, which the runtime finds out.
  bool hasProcesses() const {
    return llvm::any_of(machine_.processors, [](const machine::Processor& each) { return each.isProcess; });
  }

  void lowerMove(MoveOp move) {
    OpBuilder builder(move);
    Location loc = move.getLoc();
    int64_t rank = move.getSource().getType().getRank();
    int64_t elementBytes = RecordType::sizeInBytes(move.getSource().getType().getElementType());
    SmallVector<Value> source = kernel::flatten(builder, loc, move.getSource());
    SmallVector<Value> destination = kernel::flatten(builder, loc, move.getDestination());
    std::string called =
        isAddressed(move.getSource().getType(), machine_) && isAddressed(move.getDestination().getType(), machine_)
            ? "strata_move"
            : "strata_window_move";
    if (rank == 0 && !move.getToken() && called == "strata_move" && !hasProcesses()) {
      Value bytes = constant(builder, loc, elementBytes);
      builder.create<LLVM::MemcpyOp>(loc, destination[0], source[0], bytes, /*isVolatile=*/false);
      move.erase();
      return;
    }
    auto words = [&](ArrayRef<Value> values) {
      SmallVector<Value> list;
      for (Value value : values)
        list.push_back(word(builder, loc, value));
      return array(builder, loc, list, builder.getI64Type());
    };
    SmallVector<Value> arguments{destination[0],
                                 words(ArrayRef<Value>(destination).slice(1 + rank, rank)),
                                 source[0],
                                 words(ArrayRef<Value>(source).slice(1 + rank, rank)),
                                 words(ArrayRef<Value>(source).slice(1, rank)),
                                 constant(builder, loc, rank, 32),
                                 constant(builder, loc, elementBytes)};
    const bool isStarted = move.getToken() || !move.getAfter().empty();
    if (isStarted) {
      called += "_start";
      appendTokens(builder, loc, move.getAfter(), arguments);
    }
    if (callsCarryIds_) {
      called += "_along";
      arguments.insert(arguments.begin(), wayOf(builder, *transferOf(move)));
    }
    Value token = calls_.call(builder, loc, called, isStarted ? pointer() : Type(), arguments);
    if (isStarted)
      finishToken(move, move.getToken(), token);
    move.erase();
  }

  Value wayOf(OpBuilder& builder, const Transfer& move) {
    // An id that names nothing is strata_none.
    const machine::MemoryId from = machine_.memory(memoryOf(move.source.getType()).str()),
                            to = machine_.memory(memoryOf(move.destination.getType()).str());
    SmallVector<uint32_t> links;
    if (from.valid() && to.valid() && from != to)
      for (const machine::LinkId link : connections_.route(from, to))
        links.push_back(link.value);
    auto label = SvmDialect::tracedAttr.of(move.op);
    return calls_.way(builder, move.op->getLoc(), label ? label.getValue() : "a block", from.value, to.value, links);
  }

  void appendTokens(OpBuilder& builder, Location loc, ValueRange after, SmallVector<Value>& arguments) {
    SmallVector<Value> tokens;
    for (Value token : after)
      tokens.push_back(cast(builder, loc, token));
    arguments.push_back(array(builder, loc, tokens, pointer()));
    arguments.push_back(constant(builder, loc, static_cast<int64_t>(tokens.size()), 32));
  }

  /// A token is waited for where the region that made it ends, if nobody waited before and it goes no further; without
  /// a result at once.
  void finishToken(Operation* op, Value result, Value token) {
    Location loc = op->getLoc();
    OpBuilder builder(op);
    bool waits = !result || !isPassedOn(result);
    auto finish = [&](OpBuilder& at) {
      if (waits)
        calls_.call(at, loc, "strata_wait", {}, token);
      calls_.call(at, loc, "strata_token_release", {}, token);
    };
    if (!result)
      return finish(builder);
    result.replaceAllUsesWith(builder.create<UnrealizedConversionCastOp>(loc, result.getType(), token).getResult(0));
    ends_.atEnd(op, finish);
  }

  bool lowerStream(Operation* op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto bytesOf = [](Value stream) {
      return static_cast<int64_t>(RecordType::sizeInBytes(mlir::cast<StreamType>(stream.getType()).getElementType()));
    };
    if (auto stream = dyn_cast<StreamOp>(op)) {
      const StringRef label = stream.getLabel().value_or("a stream");
      SmallVector<Value> arguments{constant(builder, loc, bytesOf(stream.getStream())),
                                   word(builder, loc, stream.getCapacity()), calls_.text(builder, loc, label)};
      const bool isTraced = callsCarryIds_ || hasSpans_; // a trace says what is waited for
      if (isTraced) {
        auto memory = stream.getMemoryAttr(), fifo = stream.getFifoAttr();
        Value place = calls_.streamPlace(
            builder, loc, label, memory ? machine_.memory(memory.getValue().str()).value : uint32_t(strata_none),
            fifo ? machine_.fifo(fifo.getValue().str()).value : uint32_t(strata_none));
        arguments.insert(arguments.begin(), place);
      }
      Value made = calls_.call(builder, loc, isTraced ? "strata_stream_create_at" : "strata_stream_create", pointer(),
                               arguments);
      stream.getStream().replaceAllUsesWith(
          builder.create<UnrealizedConversionCastOp>(loc, stream.getStream().getType(), made).getResult(0));
      ends_.atEnd(op, [&](OpBuilder& end) { calls_.call(end, loc, "strata_stream_destroy", {}, made); });
      return true;
    }
    if (auto push = dyn_cast<PushOp>(op)) {
      Value slot = elementSlot(builder, loc, bytesOf(push.getStreams().front()));
      builder.create<memref::StoreOp>(loc, push.getElement(),
                                      slotBlock(builder, loc, slot, push.getElement().getType()));
      if (push.getStreams().size() == 1) {
        calls_.call(builder, loc, "strata_stream_push", {}, {cast(builder, loc, push.getStreams().front()), slot});
      } else {
        SmallVector<Value> streams;
        for (Value stream : push.getStreams())
          streams.push_back(cast(builder, loc, stream));
        calls_.call(builder, loc, "strata_stream_multicast", {},
                    {array(builder, loc, streams, pointer()),
                     constant(builder, loc, static_cast<int64_t>(streams.size()), 32), slot});
      }
      return true;
    }
    if (isa<PopOp, PeekOp>(op)) {
      Value stream = op->getOperand(0);
      Value slot = elementSlot(builder, loc, bytesOf(stream));
      // The element of a stream that has ended is zero.
      builder.create<LLVM::MemsetOp>(loc, slot, constant(builder, loc, 0, 8), constant(builder, loc, bytesOf(stream)),
                                     false);
      SmallVector<Value> arguments{cast(builder, loc, stream)};
      if (auto peek = dyn_cast<PeekOp>(op))
        arguments.push_back(word(builder, loc, peek.getOffset()));
      arguments.push_back(slot);
      Value more = calls_.call(builder, loc, isa<PopOp>(op) ? "strata_stream_pop" : "strata_stream_peek",
                               builder.getI32Type(), arguments);
      Value element = builder.create<memref::LoadOp>(loc, slotBlock(builder, loc, slot, op->getResult(0).getType()));
      Value some = builder.create<arith::CmpIOp>(loc, arith::CmpIPredicate::ne, more,
                                                 builder.create<arith::ConstantIntOp>(loc, 0, builder.getI32Type()));
      op->getResult(0).replaceAllUsesWith(element);
      op->getResult(1).replaceAllUsesWith(some);
      return true;
    }
    if (auto end = dyn_cast<EndOp>(op)) {
      calls_.call(builder, loc, "strata_stream_end", {}, cast(builder, loc, end.getStream()));
      return true;
    }
    return false;
  }

  Value elementSlot(OpBuilder& builder, Location loc, int64_t bytes) {
    return stackSlot(builder, loc,
                     LLVM::LLVMArrayType::get(builder.getI64Type(), std::max<int64_t>(1, (bytes + 7) / 8)));
  }

  Value slotBlock(OpBuilder& builder, Location loc, Value slot, Type element) {
    return kernel::describe(builder, loc, MemRefType::get({}, element), slot, {}, {});
  }

  /// A region whose operations stand in its place from here on.
  static void inlineRegion(Operation* op) {
    op->getBlock()->getOperations().splice(op->getIterator(), op->getRegion(0).front().getOperations());
    op->erase();
  }

  void lowerSpan(SpanOp span) {
    OpBuilder builder(span);
    const Value name = calls_.text(builder, span.getLoc(), span.getName());
    if (span.getInstances())
      calls_.call(builder, span.getLoc(), "strata_trace_begin_instances", {},
                  {name, word(builder, span.getLoc(), span.getInstances())});
    else
      calls_.call(builder, span.getLoc(),
                  SvmDialect::waitsAttr.isOn(span) ? "strata_trace_wait_begin" : "strata_trace_begin", {}, name);
    builder.setInsertionPointAfter(span);
    calls_.call(builder, span.getLoc(), "strata_trace_end", {}, {});
    inlineRegion(span);
  }

  ModuleOp program_;
  const Machine& machine_;
  const machine::Connections connections_;
  const Captured& captured_;
  const bool callsCarryIds_;
  bool hasSpans_ = false;
  RuntimeCalls calls_;
  RegionEnds ends_;
  llvm::DenseMap<Operation*, Value> failureSlots_; // by function
};

} // namespace

void lowerStorage(ModuleOp program, const Machine& machine, const Captured& captured, bool callsCarryIds) {
  StorageLowering(program, machine, captured, callsCarryIds).run();
}

} // namespace strata::host

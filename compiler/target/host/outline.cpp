// Outlining: what another processor executes, or what goes on beside its starter, becomes a function of one pointer to
// its captured values, as the runtime calls it.
#include "compiler/ir/transfer.h"
#include "compiler/kernel/convention.h"
#include "compiler/target/host/storage.h"
#include "compiler/transform/distribute_iterations.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace strata::svm;

namespace strata::host {

using mlir::Location;

Type storedType(Type type) {
  auto* context = type.getContext();
  if (auto block = dyn_cast<MemRefType>(type))
    return kernel::descriptorType(block);
  if (isa<StreamType, TokenType>(type))
    return LLVM::LLVMPointerType::get(context);
  if (type.isIndex())
    return IntegerType::get(context, 64);
  if (auto record = dyn_cast<RecordType>(type)) {
    SmallVector<Type> fields;
    for (Type field : record.getFieldTypes())
      fields.push_back(storedType(field));
    return LLVM::LLVMStructType::getLiteral(context, fields);
  }
  return type;
}

namespace {

class Outliner {
public:
  Outliner(ModuleOp program, const Machine& machine)
      : program_(program), machine_(machine), calls_(program),
        pointer_(LLVM::LLVMPointerType::get(program.getContext())) {}

  Captured run() {
    SmallVector<Operation*> parts;
    SmallVector<RunOp> runs;
    SmallVector<Operation*> indexed;
    program_.walk<WalkOrder::PostOrder>([&](Operation* op) {
      if (isa<InstancesOp, OnOp>(op))
        parts.push_back(op);
      else if (auto run = dyn_cast<RunOp>(op))
        runs.push_back(run);
      else if (isa<GatherOp, ScatterOp>(op))
        indexed.push_back(op);
      else if (auto call = dyn_cast<func::CallOp>(op))
        callers_[call.getCallee()].push_back(call);
    });
    // Inner regions first, so that an outlined function holds none.
    for (RunOp run : runs)
      outlineRun(run);
    for (Operation* op : indexed)
      outlineIndexed(*transferOf(op));
    for (Operation* part : parts)
      outlinePart(part);
    return std::move(captured_);
  }

private:
  /// Notes what a captured block was made by. A function that is given it has callers who give it; buffers of a
  /// pipelined loop take turns, so that each iteration may have any of them.
  void capture(Value block) {
    SmallVector<Value> left{block};
    while (!left.empty()) {
      Value root = rootOf(left.pop_back_val());
      if (!givenOn_.insert(root).second)
        continue;
      auto argument = dyn_cast<BlockArgument>(root);
      Operation* made = argument ? argument.getOwner()->getParentOp() : root.getDefiningOp();
      if (auto loop = dyn_cast<scf::ForOp>(made)) {
        const unsigned position =
            argument ? argument.getArgNumber() - loop.getNumInductionVars() : cast<OpResult>(root).getResultNumber();
        left.append({loop.getInitArgs()[position], loop.getYieldedValues()[position]});
      } else if (auto branch = dyn_cast<scf::IfOp>(made)) {
        const unsigned position = cast<OpResult>(root).getResultNumber();
        left.append({branch.thenYield().getOperand(position), branch.elseYield().getOperand(position)});
      } else if (auto choice = dyn_cast<arith::SelectOp>(made)) {
        left.append({choice.getTrueValue(), choice.getFalseValue()});
      } else if (!argument) {
        captured_.insert(made);
      } else if (auto function = dyn_cast<func::FuncOp>(made)) {
        for (func::CallOp call : callers_.lookup(function.getName()))
          left.push_back(call.getOperand(argument.getArgNumber()));
      }
    }
  }

  Value constant(OpBuilder& builder, Location loc, int64_t value, unsigned width) {
    return builder.create<LLVM::ConstantOp>(loc, builder.getIntegerType(width), value);
  }

  uint32_t processorIndex(FlatSymbolRefAttr name) { return name ? machine_.processor(name.getValue().str()).value : 0; }

  /// Stores values in a structure on the stack; returns its address and type.
  std::pair<Value, Type> pack(OpBuilder& builder, Location loc, ArrayRef<Value> values) {
    SmallVector<Type> types;
    for (Value value : values) {
      types.push_back(storedType(value.getType()));
      if (isa<MemRefType>(value.getType()))
        capture(value);
    }
    auto structure = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
    if (values.empty())
      return {calls_.null(builder, loc), structure};
    Value slot = stackSlot(builder, loc, structure);
    for (auto [position, value] : llvm::enumerate(values)) {
      Value raw = value;
      if (value.getType() != types[position])
        raw = builder.create<UnrealizedConversionCastOp>(loc, types[position], value).getResult(0);
      Value at = builder.create<LLVM::GEPOp>(loc, pointer_, structure, slot,
                                             ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(position)});
      builder.create<LLVM::StoreOp>(loc, raw, at);
    }
    return {slot, structure};
  }

  SmallVector<Value> unpack(OpBuilder& builder, Location loc, Value slot, Type structure, ArrayRef<Value> values) {
    SmallVector<Value> results;
    for (auto [position, value] : llvm::enumerate(values)) {
      Value at = builder.create<LLVM::GEPOp>(loc, pointer_, structure, slot,
                                             ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(position)});
      Type stored = storedType(value.getType());
      Value raw = builder.create<LLVM::LoadOp>(loc, stored, at);
      if (stored != value.getType())
        raw = builder.create<UnrealizedConversionCastOp>(loc, value.getType(), raw).getResult(0);
      results.push_back(raw);
    }
    return results;
  }

  func::FuncOp function(Operation* from, StringRef what, ArrayRef<Type> arguments) {
    auto parent = from->getParentOfType<func::FuncOp>();
    OpBuilder builder(parent);
    std::string name = (parent.getName() + "." + what + std::to_string(next_++)).str();
    auto made = builder.create<func::FuncOp>(from->getLoc(), name, builder.getFunctionType(arguments, {}));
    made.setPrivate();
    if (SvmDialect::rareAttr.isOn(parent))
      SvmDialect::rareAttr.set(made);
    return made;
  }

  Value address(OpBuilder& builder, Location loc, func::FuncOp function) {
    Value constant = builder.create<func::ConstantOp>(loc, function.getFunctionType(), function.getName());
    return builder.create<UnrealizedConversionCastOp>(loc, pointer_, constant).getResult(0);
  }

  /// Variables that parts only read are read by their starter, who changes nothing while they run.
  void readVariables(Operation* part) {
    llvm::SetVector<Value> used;
    getUsedValuesDefinedAbove(part->getRegion(0), used);
    for (Value value : used) {
      if (!value.getDefiningOp<memref::AllocaOp>() || cast<MemRefType>(value.getType()).getRank())
        continue;
      SmallVector<Operation*> inside;
      for (Operation* user : value.getUsers())
        if (part->isProperAncestor(user))
          inside.push_back(user);
      if (!llvm::all_of(inside, llvm::IsaPred<memref::LoadOp>))
        continue;
      Value now = OpBuilder(part).create<memref::LoadOp>(part->getLoc(), value);
      for (Operation* load : inside) {
        load->getResult(0).replaceAllUsesWith(now);
        load->erase();
      }
    }
  }

  /// Whether a value that a part captures is one in its own process only: a stream, a token, or a block in a store that
  /// is reached otherwise than by moves, which find it in another one.
  bool isOfOneProcess(Operation* part, Value value) {
    if (isa<StreamType, TokenType>(value.getType()))
      return true;
    if (!isa<MemRefType>(value.getType()))
      return false;
    const machine::MemoryId memory = machine_.memory(memoryOf(value.getType()).str());
    return memory.valid() && machine_.isStore(memory) && isReached(part, value);
  }
  bool isReached(Operation* part, Value block) {
    return llvm::any_of(block.getUsers(), [&](Operation* user) {
      if (isa<ViewLikeOpInterface>(user))
        return isReached(part, user->getResult(0));
      return part->isProperAncestor(user) && !isa<MoveOp, GatherOp, ScatterOp, memref::DimOp>(user);
    });
  }

  /// The region of instances, or of code on one other processor.
  void outlinePart(Operation* op) {
    Location loc = op->getLoc();
    auto instances = dyn_cast<InstancesOp>(op);
    Region& body = op->getRegion(0);
    readVariables(op);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(body, captured);
    // Constants are made again rather than carried, the lower bound among them: what asks for a dimension by one that
    // it does not know takes space on the stack, each time anew in a loop.
    SmallVector<Operation*> constants;
    SmallVector<Value> values;
    Value lower = instances ? instances.getLower() : Value();
    const bool isFromZero = !lower || matchPattern(lower, m_Zero());
    if (!isFromZero)
      captured.insert(lower);
    for (Value value : captured) {
      Operation* definition = value.getDefiningOp();
      if (definition && definition->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(definition);
      else
        values.push_back(value);
    }
    const bool hasHandles = llvm::any_of(values, [&](Value value) { return isOfOneProcess(op, value); });
    func::FuncOp part = function(op, "part", {pointer_, IndexType::get(program_.getContext())});
    Block* entry = part.addEntryBlock();
    OpBuilder inside(part.getContext());
    inside.setInsertionPointToStart(entry);
    OpBuilder builder(op);
    auto [slot, structure] = pack(builder, loc, values);
    SmallVector<Value> again = unpack(inside, loc, entry->getArgument(0), structure, values);
    Value begin = lower; // in the part
    auto replace = [&](Value value, Value copy) {
      replaceAllUsesInRegionWith(value, copy, body);
      begin = value == lower ? copy : begin;
    };
    for (auto [value, copy] : llvm::zip(values, again))
      replace(value, copy);
    for (Operation* definition : constants)
      replace(definition->getResult(0), inside.clone(*definition)->getResult(0));
    // Instances are counted from 0 by the runtime, from `lower` by the program.
    if (instances) {
      Value number = entry->getArgument(1);
      if (!isFromZero)
        number = inside.create<arith::AddIOp>(loc, begin, number);
      instances.instance().replaceAllUsesWith(number);
    }
    entry->getOperations().splice(entry->end(), body.front().getOperations());
    inside.setInsertionPointToEnd(entry);
    inside.create<func::ReturnOp>(loc);
    Value count = instances ? builder.create<arith::SubIOp>(loc, instances.getUpper(), lower).getResult()
                            : builder.create<arith::ConstantIndexOp>(loc, 1).getResult();
    Value words = builder.create<UnrealizedConversionCastOp>(loc, builder.getI64Type(), count).getResult(0);
    StrataParts parts{processorIndex(executorOf(op)), isConcurrent(op), 0, 0, 0, hasHandles};
    if (instances)
      parts.parts = static_cast<int64_t>(instances.getParts().value_or(0));
    if (const std::optional<machine::InstanceRange> subset = transform::subsetOf(op); subset && !isConcurrent(op)) {
      parts.first = subset->first();
      parts.width = subset->width();
    }
    calls_.call(builder, loc, "strata_spmd", {},
                {address(builder, loc, part), slot, bytesOf(builder, loc, structure), words,
                 calls_.parts(builder, loc, parts)});
    op->erase();
  }

  void outlineRun(RunOp run) {
    Location loc = run.getLoc();
    auto callee = SvmDialect::calleeAttr.of(run);
    SmallVector<Value> values(run.getArguments());
    func::FuncOp part = function(run, "run", {pointer_});
    Block* entry = part.addEntryBlock();
    OpBuilder inside(part.getContext());
    inside.setInsertionPointToStart(entry);
    OpBuilder builder(run);
    auto [slot, structure] = pack(builder, loc, values);
    SmallVector<Value> arguments;
    for (Value value : unpack(inside, loc, entry->getArgument(0), structure, values))
      llvm::append_range(arguments, kernel::flatten(inside, loc, value));
    auto call = inside.create<func::CallOp>(loc, callee.getValue(), TypeRange(), arguments);
    if (Attribute dynamic = run->getAttr(SvmDialect::dynamicAttr))
      call->setAttr(SvmDialect::dynamicAttr, dynamic);
    inside.create<func::ReturnOp>(loc);
    spawn(run, part, values.empty() ? Value() : slot, structure, run.getAfter(), run.getToken(),
          processorIndex(run.getProcessorAttr()), constant(builder, loc, -1, 64));
  }

  /// A gather or scatter with tokens: what it does is a function of its blocks, run as the processor that starts it.
  void outlineIndexed(const Transfer& transfer) {
    if (!transfer.token && transfer.after.empty())
      return;
    Operation* op = transfer.op;
    Location loc = op->getLoc();
    func::FuncOp part = function(op, "part", {pointer_});
    Block* entry = part.addEntryBlock();
    OpBuilder inside(part.getContext());
    inside.setInsertionPointToStart(entry);
    OpBuilder builder(op);
    const SmallVector<Value> values{transfer.source, transfer.destination, transfer.indices};
    auto [slot, structure] = pack(builder, loc, values);
    SmallVector<Value> again = unpack(inside, loc, entry->getArgument(0), structure, values);
    Operation* made =
        transfer.scatters()
            ? inside.create<ScatterOp>(loc, Type(), again[0], again[1], again[2], ValueRange()).getOperation()
            : inside.create<GatherOp>(loc, Type(), again[0], again[2], again[1], ValueRange()).getOperation();
    made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    inside.create<func::ReturnOp>(loc);
    FlatSymbolRefAttr by;
    for (Operation* up = op->getParentOp(); up && !by; up = up->getParentOp())
      by = executorOf(up);
    Value instance = calls_.call(builder, loc, "strata_instance", builder.getI64Type(), {});
    spawn(op, part, slot, structure, transfer.after, transfer.token, processorIndex(by), instance);
  }

  /// Bytes of what a part is given.
  Value bytesOf(OpBuilder& builder, Location loc, Type structure) {
    if (cast<LLVM::LLVMStructType>(structure).getBody().empty())
      return constant(builder, loc, 0, 64);
    Value end =
        builder.create<LLVM::GEPOp>(loc, pointer_, structure, calls_.null(builder, loc), ArrayRef<LLVM::GEPArg>{1});
    return builder.create<LLVM::PtrToIntOp>(loc, builder.getI64Type(), end);
  }

  /// Has a part run beside what starts it, which `op` stood for.
  void spawn(Operation* op, func::FuncOp part, Value slot, Type structure, OperandRange after, Value result,
             uint32_t processor, Value instance) {
    Location loc = op->getLoc();
    OpBuilder builder(op);
    Value bytes = bytesOf(builder, loc, structure);
    if (!slot)
      slot = calls_.null(builder, loc);
    SmallVector<Value> tokens(after);
    Value list = calls_.null(builder, loc);
    if (!tokens.empty()) {
      list = stackSlot(builder, loc, LLVM::LLVMArrayType::get(pointer_, tokens.size()));
      for (auto [position, token] : llvm::enumerate(tokens)) {
        Value at = builder.create<LLVM::GEPOp>(loc, pointer_, pointer_, list,
                                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(position)});
        builder.create<LLVM::StoreOp>(
            loc, builder.create<UnrealizedConversionCastOp>(loc, pointer_, token).getResult(0), at);
      }
    }
    Value token = calls_.call(builder, loc, "strata_spawn", pointer_,
                              {address(builder, loc, part), slot, bytes, constant(builder, loc, processor, 32),
                               instance, list, constant(builder, loc, static_cast<int64_t>(tokens.size()), 32)});
    finishToken(op, result, token);
    op->erase();
  }

  /// The region that starts something does not end before it.
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

  ModuleOp program_;
  const Machine& machine_;
  RuntimeCalls calls_;
  Type pointer_;
  RegionEnds ends_;
  Captured captured_;
  llvm::StringMap<SmallVector<func::CallOp>> callers_; // by function
  llvm::DenseSet<Value> givenOn_;                      // what has been noted as captured
  unsigned next_ = 0;
};

} // namespace

Captured outlineParts(ModuleOp program, const Machine& machine) {
  return Outliner(program, machine).run();
}

} // namespace strata::host

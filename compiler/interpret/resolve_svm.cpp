// The svm dialect: scopes, runs, moves, parallel loops, checks, records and streams.
#include "compiler/interpret/resolver.h"

using namespace mlir;

namespace strata::interpret {

void Resolver::resolveRun(svm::RunOp run) {
  auto callee = program_.functionByName.find(run.getKernel());
  if (callee == program_.functionByName.end())
    return unsupported(run, " of an unknown kernel");
  SmallVector<uint32_t> arguments = allSlots(run.getArguments());
  SmallVector<uint32_t> after = allSlots(run.getAfter());
  uint32_t spawn = here();
  if (run.getToken())
    emit(Opcode::Spawn, slot(run.getToken()));
  if (!after.empty()) {
    emit(Opcode::Wait);
    setPool(here() - 1, after);
  }
  emit(Opcode::RunCount);
  auto kernel = symbols_.lookup<svm::KernelOp>(run.getKernel());
  if (kernel && !kernel.getMayAlias())
    resolveApart(run.getArguments(), run.getKernel(),
                 [&](unsigned position) { return kernel.access(position) != svm::Access::Read; });
  if (std::optional<unsigned> number = kernel ? kernel.instanceArgument() : std::nullopt)
    emit(Opcode::Number, slot(run.getArguments()[*number]));
  emit(Opcode::Call, 0, 0, 0, 0, callee->second);
  setPool(here() - 1, arguments);
  if (run.getToken()) {
    emit(Opcode::TaskEnd);
    patch(spawn, here());
  }
}

void Resolver::resolveApart(ValueRange arguments, StringRef callee, function_ref<bool(unsigned)> isWritten) {
  auto rankOf = [](mlir::Value block) { return static_cast<uint32_t>(cast<MemRefType>(block.getType()).getRank()); };
  for (unsigned second = 0; second < arguments.size(); ++second)
    for (unsigned first = 0; first < second; ++first) {
      mlir::Value a = arguments[first], b = arguments[second];
      const bool areBlocks = isa<MemRefType>(a.getType()) && isa<MemRefType>(b.getType());
      if (!areBlocks || (!isWritten(first) && !isWritten(second)))
        continue;
      mlir::Value root = svm::rootOf(a), other = svm::rootOf(b);
      const auto isMade = [](mlir::Value block) { return block.getDefiningOp<svm::BlockOp>() != nullptr; };
      const auto isFound = [](mlir::Value block) { return block.getDefiningOp<svm::MemoryAtOp>() != nullptr; };
      if (root != other && (isMade(root) || isMade(other)) && !isFound(root) && !isFound(other))
        continue; // each has storage of its own
      emit(Opcode::Apart, slot(a), slot(b), rankOf(a), rankOf(b), static_cast<int64_t>(name(callee)));
    }
}

void Resolver::resolveParallel(svm::ParallelOp loop) {
  // Iterations that take turns would interleave their updates of the one copy.
  if (loop.getConcurrent() && !loop.getReductions().empty())
    return unsupported(loop, " that is concurrent and has reductions");
  resolveDimension(loop, 0, slot(loop.getLower().front()), slot(loop.getUpper().front()));
}

/// The iterations of one dimension, each with all of the dimensions behind it.
void Resolver::resolveDimension(svm::ParallelOp loop, unsigned dimension, Slot lower, Slot upper) {
  Slot variable = slot(loop.iteration(dimension));
  // Who does what is of interest only where arrays are distributed over instances.
  Slot outer = program_.isDistributed ? newSlots(1) : 0;
  if (program_.isDistributed)
    emit(Opcode::Parallel, outer);
  auto body = [&] {
    if (program_.isDistributed)
      emit(Opcode::Instance, variable, outer);
    if (dimension + 1 < loop.dimensions())
      resolveDimension(loop, dimension + 1, slot(loop.getLower()[dimension + 1]), slot(loop.getUpper()[dimension + 1]));
    else
      resolveBody(loop.getBody(), [](Operation*) {});
  };
  auto together = [&] {
    if (program_.isDistributed)
      emit(Opcode::Together, outer);
  };
  if (!loop.getConcurrent()) {
    // Instances that wait for each other have an order of their own, which is not that of a tree.
    beginBranch(Iterations::Kind::Parallel, loop.getLabel().value_or(""));
    auto iterations = [&](Slot from, Slot to) {
      counted(variable, from, to, constant(1), 64, false, [&] {
        emit(Opcode::BranchAt, variable);
        body();
      });
    };
    if (dimension == 0)
      resolveReductions(loop, iterations);
    else
      iterations(lower, upper);
    emit(Opcode::BranchEnd);
    return together();
  }
  const uint32_t check = here();
  if (dimension == 0) {
    SmallVector<uint32_t> bounds;
    for (auto [first, last] : llvm::zip(loop.getLower(), loop.getUpper()))
      bounds.append({slot(first), slot(last)});
    emit(Opcode::CheckNumber);
    setPool(check, bounds);
  }
  uint32_t spawn = here();
  emit(Opcode::SpawnMany, variable, lower, upper);
  body();
  emit(Opcode::TaskEnd);
  patch(spawn, here());
  if (dimension == 0)
    patch(check, here());
  together();
}

void Resolver::resolveIndexed(const svm::Transfer& transfer) {
  auto bytesOf = [](MemRefType block) { return svm::RecordType::sizeInBytes(block.getElementType()); };
  const auto type = transfer.source.getType();
  const auto rank = static_cast<uint32_t>(type.getRank());
  Slot source = slot(transfer.source), destination = slot(transfer.destination), indices = slot(transfer.indices);
  SmallVector<uint32_t> after = allSlots(transfer.after);
  uint32_t spawn = here();
  if (transfer.token)
    emit(Opcode::Spawn, slot(transfer.token));
  if (!after.empty()) {
    emit(Opcode::Wait);
    setPool(here() - 1, after);
  }
  const auto what = static_cast<int64_t>(name(transfer.op->getName().getStringRef()));
  emit(Opcode::Apart, source, destination, rank, rank, what);
  emit(Opcode::Apart, indices, destination, 1, rank, what);
  Instruction& made = emit(Opcode::Gather, source, destination, rank, indices, static_cast<int64_t>(bytesOf(type)));
  made.small = transfer.scatters();
  made.shift = static_cast<uint8_t>(bytesOf(transfer.indices.getType()));
  if (transfer.token) {
    emit(Opcode::TaskEnd);
    patch(spawn, here());
  }
}

void Resolver::resolveAtomic(svm::AtomicOp atomic) {
  SmallVector<uint32_t> list;
  for (Value index : atomic.getIndices())
    list.push_back(slot(index));
  const auto rank = static_cast<uint32_t>(list.size());
  list.push_back(slot(atomic.getValue()));
  list.push_back(newSlots(1));
  if (atomic.getExpected())
    list.push_back(slot(atomic.getExpected()));
  Slot before = slot(atomic.getBefore()), block = slot(atomic.getBlock());
  const uint32_t saved = std::exchange(operand_, AtomicAccess);
  emit(Opcode::Atomic, before, block, 0, 0, atomic.getValue().getType().getIntOrFloatBitWidth() / 8).small =
      static_cast<uint8_t>(atomic.getKind());
  setPool(here() - 1, list);
  program_.code[here() - 1].d = rank;
  operand_ = saved;
}

/// What distribution makes of parallel loops, for tests of passes.
void Resolver::resolveInstances(svm::InstancesOp instances) {
  Slot variable = slot(instances.instance()), lower = slot(instances.getLower()), upper = slot(instances.getUpper());
  auto body = [&] { resolveBody(instances.getBody(), [](Operation*) {}); };
  if (!instances.getConcurrent()) {
    beginBranch(Iterations::Kind::Parallel, instances.getLabel().value_or(""));
    counted(variable, lower, upper, constant(1), 64, false, [&] {
      emit(Opcode::BranchAt, variable);
      body();
    });
    emit(Opcode::BranchEnd);
    return;
  }
  uint32_t spawn = here();
  emit(Opcode::SpawnMany, variable, lower, upper);
  body();
  emit(Opcode::TaskEnd);
  patch(spawn, here());
}

void Resolver::resolveCheck(svm::CheckOp check) {
  // How blocks lie is no matter of a logical program.
  if (svm::SvmDialect::layoutAttr.isOn(check))
    return;
  CheckText text;
  text.code = check.getCode().str();
  text.message = check.getMessage().str();
  text.help = check.getHelp().value_or("").str();
  program_.checks.push_back(std::move(text));
  emit(Opcode::Check, slot(check.getCondition()), 0, 0, 0, static_cast<int64_t>(program_.checks.size() - 1));
  setPool(here() - 1, allSlots(check.getValues()));
}

bool Resolver::resolveRecords(Operation* op) {
  auto offsetOf = [](svm::RecordType record, int64_t field) {
    uint64_t offset = 0;
    for (auto [position, type] : llvm::enumerate(record.getFieldTypes())) {
      offset = llvm::alignTo(offset, svm::RecordType::alignmentInBytes(type));
      if (static_cast<int64_t>(position) == field)
        break;
      offset += svm::RecordType::sizeInBytes(type);
    }
    return static_cast<uint32_t>(offset);
  };
  auto bytesOf = [](Type type) { return static_cast<uint32_t>(svm::RecordType::sizeInBytes(type)); };
  if (auto make = dyn_cast<svm::RecordOp>(op)) {
    Slot record = slot(make.getRecord());
    emit(Opcode::Zero, record, 0, 0, slotsOf(make.getRecord().getType()));
    for (auto [position, field] : llvm::enumerate(make.getFields()))
      emit(Opcode::PutField, record, slot(field), offsetOf(make.getRecord().getType(), static_cast<int64_t>(position)),
           bytesOf(field.getType()));
  } else if (auto get = dyn_cast<svm::FieldOp>(op)) {
    Slot record = slot(get.getRecord());
    emit(Opcode::GetField, slot(get.getValue()), record, offsetOf(get.getRecord().getType(), get.getField()),
         bytesOf(get.getValue().getType()));
  } else if (auto put = dyn_cast<svm::WithFieldOp>(op)) {
    copyValues(put.getResult(), put.getRecord());
    emit(Opcode::PutField, slot(put.getResult()), slot(put.getValue()),
         offsetOf(put.getRecord().getType(), put.getField()), bytesOf(put.getValue().getType()));
  } else {
    return false;
  }
  return true;
}

bool Resolver::resolveStreams(Operation* op) {
  if (auto make = dyn_cast<svm::StreamOp>(op)) {
    Slot capacity = slot(make.getCapacity());
    emit(Opcode::MakeStream, slot(make.getStream()), capacity, slotsOf(make.getStream().getType().getElementType()), 0,
         name(make.getLabel().value_or("")));
  } else if (auto push = dyn_cast<svm::PushOp>(op)) {
    SmallVector<uint32_t> streams = allSlots(push.getStreams());
    emit(Opcode::Push, slot(push.getElement()), 0, slotsOf(push.getElement().getType()));
    setPool(here() - 1, streams);
  } else if (auto pop = dyn_cast<svm::PopOp>(op)) {
    Slot stream = slot(pop.getStream()), more = slot(pop.getMore());
    emit(Opcode::Pop, slot(pop.getElement()), more, slotsOf(pop.getElement().getType()), stream);
  } else if (auto peek = dyn_cast<svm::PeekOp>(op)) {
    Slot stream = slot(peek.getStream()), more = slot(peek.getMore()), offset = slot(peek.getOffset());
    emit(Opcode::Peek, slot(peek.getElement()), more, slotsOf(peek.getElement().getType()), stream).e = offset;
  } else if (auto end = dyn_cast<svm::EndOp>(op)) {
    emit(Opcode::End, slot(end.getStream()));
  } else {
    return false;
  }
  return true;
}

bool Resolver::resolveSvm(Operation* op) {
  if (auto run = dyn_cast<svm::RunOp>(op)) {
    resolveRun(run);
  } else if (auto loop = dyn_cast<svm::ParallelOp>(op)) {
    resolveParallel(loop);
  } else if (auto instances = dyn_cast<svm::InstancesOp>(op)) {
    resolveInstances(instances);
  } else if (auto on = dyn_cast<svm::OnOp>(op)) {
    resolveBody(on.getBody(), [](Operation*) {});
  } else if (auto span = dyn_cast<svm::SpanOp>(op)) {
    resolveBody(span.getBody(), [](Operation*) {}); // what a trace calls it is of no effect
  } else if (auto scope = dyn_cast<svm::ScopeOp>(op)) {
    const bool apart = svm::SvmDialect::disjointOperandsAttr.isOn(scope);
    if (apart)
      beginBranch(Iterations::Kind::Operand, "");
    resolveBody(scope.getBody(), [](Operation*) {});
    if (apart)
      emit(Opcode::BranchEnd);
  } else if (auto move = dyn_cast<svm::MoveOp>(op)) {
    auto type = move.getSource().getType();
    Slot source = slot(move.getSource()), destination = slot(move.getDestination());
    SmallVector<uint32_t> after = allSlots(move.getAfter());
    uint32_t spawn = here();
    if (move.getToken())
      emit(Opcode::Spawn, slot(move.getToken()));
    if (!after.empty()) {
      emit(Opcode::Wait);
      setPool(here() - 1, after);
    }
    // What is passed to a call and back is not read yet; what the program itself copies is.
    const bool isPassed = svm::SvmDialect::operandAttr.isOn(move);
    emit(Opcode::Move, source, destination, static_cast<uint32_t>(type.getRank()), isPassed ? 0 : 1,
         static_cast<int64_t>(svm::RecordType::sizeInBytes(type.getElementType())))
        .small = 1;
    if (move.getToken()) {
      emit(Opcode::TaskEnd);
      patch(spawn, here());
    }
  } else if (isa<svm::GatherOp, svm::ScatterOp>(op)) {
    resolveIndexed(*svm::transferOf(op));
  } else if (auto forget = dyn_cast<svm::ForgetOp>(op)) {
    emit(Opcode::Forget, slot(forget.getBlock()));
  } else if (auto wait = dyn_cast<svm::WaitOp>(op)) {
    SmallVector<uint32_t> tokens = allSlots(wait.getTokens());
    emit(Opcode::Wait);
    setPool(here() - 1, tokens);
  } else if (auto check = dyn_cast<svm::CheckOp>(op)) {
    resolveCheck(check);
  } else if (auto check = dyn_cast<svm::IndexOp>(op)) {
    CheckText text;
    text.array = check.getArray().str();
    text.dimension = static_cast<int64_t>(check.getDimension());
    program_.checks.push_back(std::move(text));
    Slot index = slot(check.getIndex());
    emit(Opcode::IndexCheck, index, slot(check.getExtent()), 0, 0, static_cast<int64_t>(program_.checks.size() - 1));
  } else if (isa<svm::StayOp>(op)) {
    return true;
  } else if (isa<svm::PauseOp>(op)) {
    emit(Opcode::Pause);
  } else if (auto poll = dyn_cast<svm::PollOp>(op)) {
    SmallVector<uint32_t> state = allSlots(poll.getState());
    const Slot changed = slot(poll.getChanged());
    emit(Opcode::Pause, changed).small = 1;
    setPool(here() - 1, state);
  } else if (isa<svm::BarrierOp>(op)) {
    emit(Opcode::Barrier);
  } else if (auto atomic = dyn_cast<svm::AtomicOp>(op)) {
    resolveAtomic(atomic);
  } else if (isa<svm::FenceOp>(op)) {
    emit(Opcode::Fence);
  } else if (auto print = dyn_cast<svm::PrintOp>(op)) {
    SmallVector<uint32_t> values = allSlots(print.getValues());
    emit(Opcode::Print, slot(print.getOrder()), 0, 0, 0, name(print.getFormat()));
    setPool(here() - 1, values);
  } else if (auto count = dyn_cast<svm::CountOp>(op)) {
    emit(Opcode::Count, slot(count.getAmount()), 0, 0, 0, name(count.getCounter()));
  } else {
    return resolveRecords(op) || resolveStreams(op);
  }
  return true;
}

} // namespace strata::interpret

// The small builders that the lowering of code is written with, and the kernel around it: arguments, what they are
// called inside, the stack.
#include "compiler/hbir/lower/lower_body.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

int64_t bytesOf(ScalarType type, const std::vector<int64_t>& extents) {
  int64_t bytes = type == ScalarType::Bool ? 1 : 4;
  for (int64_t extent : extents)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return INT64_MAX;
  return bytes;
}

std::vector<const Symbol*> buffersOf(const CodeFacts& facts) {
  std::vector<const Symbol*> buffers;
  int64_t used = 0;
  for (const Symbol* array : facts.localArrays()) {
    int64_t bytes = bytesOf(array->type, array->extents);
    if (bytes > largestStack - used)
      buffers.push_back(array);
    else
      used += bytes;
  }
  return buffers;
}

BodyLowering::BodyLowering(ModuleLowering& module, const KernelPlan& plan, const std::vector<GroupIndex>* variables)
    : ControlLowering(module.context, mlir::UnknownLoc::get(&module.context)), module_(module), plan_(plan),
      facts_(*plan.facts), variables_(variables) {}

void BodyLowering::lower(const std::vector<StatementPtr>& body, const std::vector<const SharedBlock*>& cleared,
                         const Location& location) {
  at(location);
  using Frame = mapping::LogicalModule;
  std::vector<Frame::Argument> arguments;
  for (const SharedBlock* block : plan_.blocks) {
    Touch touch = block->array ? facts_.touch(block->array) : facts_.touch(block->global);
    bool written = touch.written || llvm::is_contained(cleared, block);
    // What a tile writes of an array stands beside what others write: the whole is never overwritten.
    arguments.push_back(
        Frame::block(block->type, block->name(), written ? svm::Access::ReadWrite : svm::Access::Read, block->extents));
  }
  for (const Symbol* buffer : plan_.buffers) {
    auto type = svm::viewType(static_cast<unsigned>(buffer->extents.size()), module_.elementType(buffer->type));
    arguments.push_back(Frame::block(type, buffer->name, svm::Access::ReadWrite, buffer->extents));
  }
  if (plan_.tellsFinish)
    arguments.push_back(Frame::block(svm::viewType(0, builder_.getI1Type()), "finished", svm::Access::ReadWrite));
  unsigned tileArgument = static_cast<unsigned>(arguments.size());
  if (plan_.takesTile) {
    arguments.push_back(Frame::scalar(builder_.getIndexType(), "tile"));
    arguments.back().attributes.set(svm::SvmDialect::instanceAttr, builder_.getUnitAttr());
    for (const GroupIndex& variable : *variables_)
      arguments.push_back(Frame::scalar(builder_.getIndexType(), variable.name));
  }
  svm::KernelOp kernel = module_.frame.kernel(place_, plan_.symbol, arguments);
  if (module_.isConcurrent)
    kernel->setAttr(svm::SvmDialect::sharedAttr, builder_.getUnitAttr());
  mlir::Block* const entry = Frame::makeBody(kernel);
  allocations_ = entry;
  builder_.setInsertionPointToStart(entry);
  unsigned position = 0;
  for (const SharedBlock* block : plan_.blocks)
    shared_[block->key()] = entry->getArgument(position++);
  for (const Symbol* buffer : plan_.buffers)
    bindings_[buffer].storage = entry->getArgument(position++);
  if (plan_.tellsFinish)
    finishFlag_ = entry->getArgument(position++);
  else if (facts_.jumps() & FinishJump)
    finishFlag_ = flag();
  if (plan_.takesTile) {
    tile_ = entry->getArgument(tileArgument);
    // Each variable lies in its range; saying so lets subscripts made of it be proved.
    for (const GroupIndex& variable : *variables_) {
      Value given = entry->getArgument(++tileArgument);
      indices_.push_back(variable.extent == 1 ? indexConstant(0)
                                              : folded<arith::MinUIOp>(given, indexConstant(variable.extent - 1)));
    }
  }
  for (const SharedBlock* block : cleared)
    clear(*block);
  sequence(body);
  at(location);
  builder_.setInsertionPointToEnd(entry);
  make<svm::ReturnOp>();
}

Value BodyLowering::zero(ScalarType type) {
  if (type == ScalarType::Int)
    return indexConstant(0);
  return zero(module_.elementType(type));
}

Value BodyLowering::toStored(Value value, ScalarType type) {
  return type == ScalarType::Int ? builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getI32Type(), value)
                                 : value;
}

Value BodyLowering::fromStored(Value value, ScalarType type) {
  return type == ScalarType::Int ? builder_.createOrFold<arith::IndexCastOp>(place_, builder_.getIndexType(), value)
                                 : value;
}

Value BodyLowering::narrowed(Value value, Range range) {
  return range.fits(Scalar::Int) ? value : fromStored(toStored(value, ScalarType::Int), ScalarType::Int);
}

void BodyLowering::fill(Value array, llvm::ArrayRef<int64_t> extents, ScalarType type) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  Value nothing = zero(module_.elementType(type));
  Values indices;
  for (int64_t extent : extents) {
    auto loop = make<scf::ForOp>(indexConstant(0), indexConstant(extent), indexConstant(1));
    builder_.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
  }
  make<memref::StoreOp>(nothing, array, indices);
}

BodyLowering::Binding& BodyLowering::bindingOf(const Symbol* symbol) {
  Binding& binding = bindings_[symbol];
  if (!binding.value && !binding.storage) {
    binding.storage = allocate(module_.elementType(symbol->type), symbol->extents);
    binding.range = Range::of(Scalar::Int);
  }
  return binding;
}

Value BodyLowering::tileId() {
  Value result;
  for (auto [index, variable] : llvm::zip(indices_, *variables_)) {
    if (variable.extent == 1)
      continue;
    result =
        result ? folded<arith::AddIOp>(folded<arith::MulIOp>(result, indexConstant(variable.extent)), index) : index;
  }
  return result ? result : indexConstant(0);
}

} // namespace strata::hbir

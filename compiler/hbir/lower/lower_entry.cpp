// The entry point but for the tiles: its signature, the blocks that hold the program's data, and what is copied between
// them and the arguments.
#include "compiler/hbir/lower/lower_entry.h"

#include "base/machine/addressing.h"
#include "compiler/hbir/lower/lower_body.h"

namespace arith = mlir::arith;
namespace func = mlir::func;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

namespace strata::hbir {

using mlir::Value;

EntryLowering::EntryLowering(ModuleLowering& module, mapping::FunctionPlacement& placement)
    : CodeBuilder(module.context, module.place(module.program.target.where)), module_(module), placement_(placement) {
  const Machine& machine = module.machine;
  const machine::DefaultPlaces places = machine::defaultPlaces(machine);
  if (places.control.valid()) {
    processor_ = machine[places.control].name;
    processors_ = static_cast<int64_t>(std::max<uint64_t>(machine[places.control].count, 1));
  }
  const auto nameOf = [&](machine::MemoryId memory) { return memory.valid() ? machine[memory].name : std::string(); };
  memory_ = nameOf(places.blocks);
  argumentMemory_ = nameOf(places.arguments);
}

mlir::func::FuncOp EntryLowering::beginFunction() {
  std::vector<mapping::LogicalModule::Argument> arguments;
  for (const Array& array : module_.program.arrays) {
    if (array.direction == Direction::Temporary)
      continue;
    arguments_.push_back(&array);
    // Elements of an output that nobody writes are zero: the caller's zeros, which are moved in and out again. Where
    // the array lies in the caller's memory both moves go.
    arguments.push_back(mapping::LogicalModule::block(
        svm::viewType(static_cast<unsigned>(array.extents.size()), module_.elementType(array.type)), array.name,
        array.direction == Direction::In ? svm::Access::Read : svm::Access::ReadWrite, array.extents));
    placement_.arguments.push_back(argumentMemory_);
  }
  placement_.control = processor_;
  auto function = module_.frame.entry(place_, module_.entry, arguments);
  entry_ = &function.getBody().front();
  builder_.setInsertionPointToStart(entry_);
  return function;
}

/// Code relies on the extents that the program states, so the caller's are compared once.
void EntryLowering::checkExtents() {
  for (auto [position, array] : llvm::enumerate(arguments_)) {
    at(array->where);
    for (auto [dimension, extent] : llvm::enumerate(array->extents)) {
      Value given =
          make<memref::DimOp>(entry_->getArgument(static_cast<unsigned>(position)), static_cast<int64_t>(dimension));
      Value wanted = indexConstant(extent);
      make<svm::CheckOp>(compare(arith::CmpIPredicate::eq, given, wanted),
                         builder_.getStringAttr("hbir-argument-extents"),
                         builder_.getStringAttr("'" + array->name + "' has {0} elements in dimension " +
                                                std::to_string(dimension) + ", and is given {1}"),
                         mlir::StringAttr(), mlir::ValueRange{wanted, given});
    }
  }
}

Value EntryLowering::makeBlock(mlir::MemRefType type, const std::vector<int64_t>& extents, const std::string& label) {
  Values sizes;
  for (int64_t extent : extents)
    sizes.push_back(indexConstant(extent));
  placement_.blocks[label] = memory_;
  return make<svm::BlockOp>(type, sizes, builder_.getDenseI64ArrayAttr(extents), builder_.getStringAttr(label),
                            mlir::IntegerAttr());
}

void EntryLowering::makeBlocks() {
  for (const SharedBlock& block : module_.blocks_) {
    at(block.array ? block.array->where : block.global->where);
    made_[&block] = makeBlock(block.type, block.extents, block.name());
  }
}

void EntryLowering::exchange(const SharedBlock& block, Exchange kind, Value whole) {
  const char* suffix = kind == Exchange::Scatter ? ".scatter" : kind == Exchange::Gather ? ".gather" : ".spread";
  const std::string symbol = kernelSymbol(block.name() + suffix);
  at(block.array->where);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToEnd(module_.module.getBody());
    using Frame = mapping::LogicalModule;
    std::vector<Frame::Argument> arguments;
    const auto add = [&](mlir::MemRefType type) {
      const bool written = (kind == Exchange::Gather) == (arguments.size() == 1);
      arguments.push_back(Frame::block(type, block.name(), written ? svm::Access::ReadWrite : svm::Access::Read));
    };
    add(block.type);
    if (whole)
      add(llvm::cast<mlir::MemRefType>(whole.getType()));
    mlir::Block& body = *Frame::makeBody(module_.frame.kernel(place_, symbol, arguments));
    builder_.setInsertionPointToStart(&body);
    Value copies = body.getArgument(0), first = indexConstant(block.firstCopy);
    Values indices;
    for (int64_t extent : block.extents) {
      const bool overCopies = indices.empty();
      if (overCopies && kind == Exchange::Gather) {
        indices.push_back(first);
        continue;
      }
      auto loop = make<scf::ForOp>(indexConstant(0), indexConstant(extent), indexConstant(1));
      builder_.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
    }
    Values element(llvm::drop_begin(indices)), original{first};
    original.append(element);
    memref::LoadOp load;
    if (kind == Exchange::Scatter)
      load = make<memref::LoadOp>(body.getArgument(1), element);
    else
      load = make<memref::LoadOp>(copies, kind == Exchange::Gather ? indices : original);
    memref::StoreOp store;
    if (kind == Exchange::Gather)
      store = make<memref::StoreOp>(load, body.getArgument(1), element);
    else
      store = make<memref::StoreOp>(load, copies, indices);
    // What has no value has none in the copy either.
    for (mlir::Operation* op : {load.getOperation(), store.getOperation()})
      op->setAttr(svm::SvmDialect::remainderAttr, builder_.getUnitAttr());
    if (kind == Exchange::Gather)
      load->setAttr(svm::SvmDialect::keptAttr, builder_.getUnitAttr());
    builder_.setInsertionPointToEnd(&body);
    make<svm::ReturnOp>();
  }
  mlir::OpBuilder::InsertionGuard guard(builder_);
  Values operands{made_[&block]};
  Value here = whole;
  if (whole && argumentMemory_ != memory_) { // kernels reach a copy of the caller's array
    auto scope = make<svm::ScopeOp>(mlir::StringAttr(), /*disjoint=*/false);
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    here = makeBlock(mlir::cast<mlir::MemRefType>(whole.getType()), block.array->extents, symbol + ".whole");
    if (kind == Exchange::Scatter)
      make<svm::MoveOp>(mlir::Type(), whole, here, mlir::ValueRange());
  }
  if (here)
    operands.push_back(here);
  make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(&module_.context, symbol), operands, mlir::ValueRange(),
                   mlir::FlatSymbolRefAttr());
  if (here != whole && kind == Exchange::Gather)
    make<svm::MoveOp>(mlir::Type(), here, whole, mlir::ValueRange());
}

void EntryLowering::moveIn() {
  for (auto [position, array] : llvm::enumerate(arguments_))
    for (const SharedBlock& block : module_.blocks_) {
      if (block.array != array)
        continue;
      at(array->where);
      Value given = entry_->getArgument(static_cast<unsigned>(position));
      if (block.copied)
        exchange(block, Exchange::Scatter, given);
      else
        make<svm::MoveOp>(mlir::Type(), given, made_[&block], mlir::ValueRange());
    }
}

/// Zeros are there so that every run gives the same; a program that reads them has forgotten to write. Global variables
/// begin as zero by the language.
void EntryLowering::forgetZeros() {
  for (const SharedBlock& block : module_.blocks_)
    if (block.array && block.array->direction != Direction::In) {
      at(block.array->where);
      make<svm::ForgetOp>(made_[&block]);
    }
}

void EntryLowering::moveOut() {
  for (auto [position, array] : llvm::enumerate(arguments_))
    for (const SharedBlock& block : module_.blocks_) {
      if (block.array != array || array->direction != Direction::Out)
        continue;
      at(array->where);
      Value wanted = entry_->getArgument(static_cast<unsigned>(position));
      if (block.copied)
        exchange(block, Exchange::Gather, wanted);
      else
        make<svm::MoveOp>(mlir::Type(), made_[&block], wanted, mlir::ValueRange());
    }
}

void EntryLowering::runKernel(const KernelPlan& plan, mlir::ValueRange scalars) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (!plan.buffers.empty()) {
    auto scope = make<svm::ScopeOp>(mlir::StringAttr(), /*disjoint=*/false);
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
  }
  Values operands;
  for (const SharedBlock* block : plan.blocks)
    operands.push_back(made_[block]);
  for (const Symbol* buffer : plan.buffers)
    operands.push_back(
        makeBlock(svm::viewType(static_cast<unsigned>(buffer->extents.size()), module_.elementType(buffer->type)),
                  buffer->extents, plan.symbol + "." + buffer->name));
  if (plan.tellsFinish)
    operands.push_back(finished_);
  operands.append(scalars.begin(), scalars.end());
  make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(&module_.context, plan.symbol), operands,
                   mlir::ValueRange(), mlir::FlatSymbolRefAttr());
}

void EntryLowering::run() {
  beginFunction();
  checkExtents();
  at(module_.program.target.where);
  auto scope = make<svm::ScopeOp>(mlir::StringAttr(), /*disjoint=*/true);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&scope.getBody().emplaceBlock());
    makeBlocks();
    moveIn();
    if (module_.clear_)
      runKernel(*module_.clear_, {});
    forgetZeros();
    if (module_.start_) {
      at(module_.program.start.front()->where);
      runKernel(*module_.start_, {});
      for (const SharedBlock& block : module_.blocks_)
        if (block.copied && module_.startFacts_.touch(block.array).written)
          exchange(block, Exchange::Spread, {});
    }
    runTiles();
    moveOut();
  }
  at(module_.program.target.where);
  make<func::ReturnOp>();
}

} // namespace strata::hbir

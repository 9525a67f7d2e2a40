// Leaves as structured kernels: the loops over a leaf's instances stand in the kernel, around its raised body, and the
// kernel compiler takes them together. The control function runs such a kernel for blocks of the outermost loop's
// iterations, which are the parallel work.
#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/lower/leaf_code.h"
#include "compiler/hpvm/lower/lower_nodes.h"
#include "compiler/linking/callees.h"
#include "compiler/mapping/offload.h"
#include "compiler/raise/clean.h"
#include "compiler/raise/raise.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Transforms/Utils/Cloning.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

namespace strata::hpvm {

STRATA_DIAGNOSTIC(notRaised, Remark, "hpvm-not-raised", "node '{0}' runs instance by instance, as LLVM code: {1}");

STRATA_DIAGNOSTIC(notMoved, Remark, "hpvm-not-moved",
                  "node '{0}' runs where its arrays lie, and not on '{1}': it has {2}");
STRATA_DIAGNOSTIC(cannotMove, Error, "hpvm-map-refused",
                  "the mapping has node '{0}' run on '{1}', which is not possible: it has {2}");
STRATA_DIAGNOSTIC(otherProcessor, Error, "hpvm-map-processor", "machine '{0}' runs no node on a processor '{1}'");
STRATA_DIAGNOSTIC(otherBlock, Error, "hpvm-map-block",
                  "the mapping gives blocks of {0} dimension(s) to node '{1}', which has {2}");

/// Instances of a node that narrow an index of theirs to 32 bits, and add small numbers to it.
static constexpr int64_t mostSmall = int64_t(1) << 30;

class LeafRaiser {
public:
  using Frame = mapping::LogicalModule;
  using Values = NodeLowering::Values;
  using Raised = NodeLowering::Raised;

  LeafRaiser(NodeLowering& lowering, const LeafNode& leaf, const Values& given, const NodeLowering::Level& level,
             std::vector<const NodeLowering::Output*> ownInputs, const std::vector<NodeLowering::Output>& outputs)
      : lowering_(lowering), leaf_(leaf), given_(given), level_(level), ownInputs_(std::move(ownInputs)),
        outputs_(outputs), builder_(lowering.builder_) {}

  Raised run(unsigned number) {
    if (!prepare(number))
      return Raised::No;
    const bool isDone = raiseClone();
    clone_->eraseFromParent();
    return isDone ? raised_ : Raised::No;
  }

private:
  /// The clone, ready to be read. False where the leaf cannot be raised.
  bool prepare(unsigned number) {
    if (leaf_.allocates)
      return refuse("it allocates memory");
    // What instances keep would need room for as many as there are.
    if (waits() && lowering_.arrays_.valid() && lowering_.machine_.isStore(lowering_.arrays_))
      return refuse("its instances wait for each other");
    if (const llvm::Argument* address = managedAddress())
      return refuse("'" + argumentName(*leaf_.function, address->getArgNo()) + "' travels on an edge, and memory '" +
                    lowering_.machine_[lowering_.arrays_].name + "' is managed explicitly");
    if (const llvm::Argument* twice = givenTwice())
      return refuse("it is given one array as '" + argumentName(*leaf_.function, twice->getArgNo()) +
                    "' and as another input, and writes it");
    LeafUse use = describeUse();
    clone_ = makeLeaf(leaf_, use, "raised." + std::to_string(number), lowering_.diagnostics_, true);
    if (!clone_)
      return false; // reported
    describeArguments(use);
    raise::clean(*clone_);
    return true;
  }

  template <typename Op, typename... Arguments>
  Op make(Arguments&&... arguments) {
    return builder_.create<Op>(lowering_.place_, std::forward<Arguments>(arguments)...);
  }
  Value index(int64_t value) { return make<arith::ConstantIndexOp>(value); }

  /// Whether instances are concurrent, each a run of the kernel.
  bool waits() const { return leaf_.hasBarrier && !level_.extents.empty(); }

  bool refuse(const std::string& why, const llvm::Instruction* at = nullptr) {
    SourceManager& sources = lowering_.diagnostics_.sources();
    auto report = lowering_.diagnostics_.report(
        notRaised, at ? placeOf(*at, sources) : placeOf(*leaf_.function, sources), nodeName(*leaf_.function), why);
    const auto* call = llvm::dyn_cast_or_null<llvm::CallBase>(at);
    if (const llvm::Function* callee = call ? call->getCalledFunction() : nullptr)
      if (const llvm::Attribute reason = callee->getFnAttribute(linking::notTaken); reason.isValid())
        report.note(reason.getValueAsString().str());
    return false;
  }
  bool refuse(const raise::Refusal& refusal) { return refuse("it has " + refusal.what, refusal.at); }

  /// An argument that is the same array as another one, of which one is written: they are told to be apart.
  const llvm::Argument* givenTwice() const {
    for (const llvm::Argument& argument : leaf_.function->args())
      for (const llvm::Argument& other : leaf_.function->args()) {
        const unsigned first = argument.getArgNo(), second = other.getArgNo();
        if (second < first && given_[first] && given_[first] == given_[second] && argument.getType()->isPointerTy() &&
            other.getType()->isPointerTy() && (leaf_.isWritten[first] || leaf_.isWritten[second]))
          return &argument;
      }
    return nullptr;
  }

  /// A pointer that comes as an address of a memory which svm.memory_at does not look into.
  const llvm::Argument* managedAddress() const {
    const machine::MemoryId arrays = lowering_.arrays_;
    if (!arrays.valid() || machine::isOneAddressSpace(lowering_.machine_, arrays))
      return nullptr;
    for (const llvm::Argument& argument : leaf_.function->args()) {
      Value given = given_[argument.getArgNo()];
      if (argument.getType()->isPointerTy() && given && !llvm::isa<mlir::MemRefType>(given.getType()))
        return &argument;
    }
    return nullptr;
  }

  /// The nodes from the leaf outwards.
  std::vector<const NodeLowering::Level*> levels() const {
    std::vector<const NodeLowering::Level*> all{&level_};
    for (const NodeLowering::Level& level : lowering_.levels_)
      all.push_back(&level);
    return all;
  }

  /// Whether a pointer is the same for all instances, and its size too.
  bool isBlock(unsigned number) const {
    return given_[number] && (llvm::isa<mlir::MemRefType>(given_[number].getType()) ||
                              (number + 1 < given_.size() && given_[number + 1]));
  }

  LeafUse describeUse() {
    LeafUse use;
    for (const NodeLowering::Level* level : levels())
      use.dimensions.push_back(static_cast<unsigned>(level->extents.size()));
    for (const llvm::Argument& argument : leaf_.function->args()) {
      use.isAddress.push_back(argument.getType()->isPointerTy() && !isBlock(argument.getArgNo()));
    }
    for (const NodeLowering::Output& output : outputs_) {
      use.last.push_back(bool(output.last));
      use.each.push_back(bool(output.each));
    }
    return use;
  }

  /// A parameter of the clone that is an argument of the kernel, or is computed in it.
  struct Parameter {
    Value given = {};                           // in the control function
    Value address = {}, bytes = {};             // or where a block is, and how large, as numbers
    const NodeLowering::Output* each = nullptr; // or an input that each instance has of its own
    const llvm::Type* input = nullptr;          // its type
    bool isLast = false;                        // or whether the instance is the last
    bool isLastOutput = false;                  // a block that the last instance writes
    unsigned kernelArgument = 0;
  };

  int symbol(Value given) {
    symbols_.push_back(given);
    return static_cast<int>(symbols_.size() - 1);
  }

  /// The clone's parameters, in the order that makeLeaf() gives them.
  void describeArguments(const LeafUse& use) {
    using Kind = raise::Argument::Kind;
    const auto add = [&](raise::Argument argument, Parameter parameter = {}) {
      arguments_.push_back(std::move(argument));
      parameters_.push_back(parameter);
    };
    const auto addBlock = [&](Value block, bool hasExtents, bool isLastOutput = false) {
      if (!leaf_.hasBarrier)
        clone_->addParamAttr(static_cast<unsigned>(arguments_.size()), llvm::Attribute::NoAlias);
      llvm::LLVMContext& context = clone_->getContext();
      const auto type = block ? llvm::cast<mlir::MemRefType>(block.getType()).getElementType() : builder_.getI8Type();
      const bool hasElements = block && !type.isInteger(8); // also of arrays of which nothing is known
      add({.kind = Kind::Block, .element = raise::numberType(type, context), .hasElements = hasElements},
          {.given = block, .isLastOutput = isLastOutput});
      for (int number = 0; hasExtents && number < 2; ++number)
        add({});
    };
    for (const llvm::Argument& argument : leaf_.function->args()) {
      const unsigned number = argument.getArgNo();
      if (argument.getType()->isPointerTy() && !use.isAddress[number]) {
        const bool isMemRef = llvm::isa<mlir::MemRefType>(given_[number].getType());
        addBlock(isMemRef ? given_[number] : Value(), true);
        if (!isMemRef) {
          Parameter& block = parameters_[parameters_.size() - 3];
          block.address = given_[number];
          block.bytes = given_[number + 1];
        }
      } else
        add({.kind = Kind::Scalar, .varies = ownInputs_[number] != nullptr},
            {.given = given_[number], .each = ownInputs_[number], .input = argument.getType()});
    }
    std::vector<int> ownIndices, ownExtents;
    for (const NodeLowering::Level* level : levels()) {
      const bool isOwn = level == &level_;
      for (size_t dimension = 0; dimension < level->extents.size(); ++dimension) {
        const int made = symbol(isOwn ? Value() : level->indices[dimension]);
        add({.kind = Kind::Known, .known = {{made}}, .isSmall = true});
        if (isOwn)
          ownIndices.push_back(made);
      }
      for (Value extent : level->extents) {
        const int made = symbol(extent);
        add({.kind = Kind::Known, .known = {{made}}, .isSmall = true});
        if (isOwn)
          ownExtents.push_back(made);
      }
    }
    // The number of an instance, x counting fastest.
    for (size_t dimension = 0; dimension < ownIndices.size(); ++dimension) {
      std::vector<int> product(ownExtents.begin(), ownExtents.begin() + static_cast<ptrdiff_t>(dimension));
      product.push_back(ownIndices[dimension]);
      linear_.push_back(std::move(product));
    }
    indices_ = ownIndices;
    extents_ = ownExtents;
    if (llvm::is_contained(use.last, true) || llvm::is_contained(use.each, true)) {
      add({.kind = Kind::Scalar, .varies = true}, {.isLast = true});
      add({.kind = Kind::Known, .known = linear_});
    }
    outputsBegin_ = parameters_.size();
    for (const NodeLowering::Output& output : outputs_)
      if (output.last)
        addBlock(output.last, false, true);
    for (const NodeLowering::Output& output : outputs_)
      if (output.each)
        addBlock(output.each, true);
  }

  /// What the kernel loads and stores; refused where that is not what the arrays hold, or the node states.
  bool checkBlocks(const raise::Raising& raising) {
    for (unsigned number = 0; number < arguments_.size(); ++number) {
      const raise::MemoryBlock* block = raising.blockOf(number);
      if (arguments_[number].kind != raise::Argument::Kind::Block || !block || !block->element ||
          parameters_[number].address)
        continue;
      const auto type = llvm::cast<mlir::MemRefType>(parameters_[number].given.getType());
      if (type.getElementType() != lowering_.typeOf(block->element))
        return refuse("nodes of the graph load elements of different types from one array");
    }
    unsigned parameter = 0;
    for (const llvm::Argument& argument : leaf_.function->args()) {
      const bool isBlock = arguments_[parameter].kind == raise::Argument::Kind::Block;
      const raise::MemoryBlock* block = isBlock ? raising.blockOf(parameter) : nullptr;
      if (block && block->isWritten && !leaf_.isWritten[argument.getArgNo()])
        return refuse("it stores to '" + argumentName(*leaf_.function, argument.getArgNo()) +
                      "', which it lists as read only");
      parameter += isBlock ? 3 : 1;
    }
    return true;
  }

  bool raiseClone() {
    raise::Raising raising(*clone_, arguments_);
    if (!raising.analyze())
      return refuse(raising.refusal());
    if (!checkBlocks(raising))
      return false;
    chooseOrder(raising);
    findMemory(raising);
    svm::KernelOp kernel = makeKernel(raising);
    bool isDone = writeKernel(kernel, raising);
    if (!isDone) {
      refuse(raising.refusal());
    } else {
      mlir::ScopedDiagnosticHandler quiet(&lowering_.context_, [](mlir::Diagnostic&) { return mlir::success(); });
      if (mlir::failed(mlir::verify(kernel)))
        isDone = refuse("its control flow is not followed");
    }
    if (!isDone) {
      kernel->erase();
      for (mlir::Operation* each : llvm::reverse(found_)) {
        if (auto memory = llvm::dyn_cast<svm::MemoryAtOp>(each))
          lowering_.placement_->blocks.erase(memory.getLabel()->str());
        each->erase();
      }
      return false;
    }
    chooseWhereApart(raising);
    if (raising.reliesOnSmall())
      checkExtents();
    runKernel(kernel);
    return true;
  }

  /// Pointers that come as addresses, as blocks of what the leaf loads and stores there.
  void findMemory(const raise::Raising& raising) {
    for (unsigned number = 0; number < parameters_.size(); ++number) {
      Parameter& parameter = parameters_[number];
      const raise::MemoryBlock* block = raising.blockOf(number);
      if (!parameter.address || !block || !block->element)
        continue;
      const mlir::Type element = lowering_.typeOf(block->element);
      auto bytes = make<arith::IndexCastUIOp>(builder_.getIndexType(), parameter.bytes);
      auto size = make<arith::ConstantIndexOp>(std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1));
      auto extent = make<arith::DivUIOp>(bytes, size);
      const std::string label = lowering_.label(*leaf_.function);
      if (lowering_.arrays_.valid())
        lowering_.placement_->blocks[label] = lowering_.machine_[lowering_.arrays_].name;
      auto memory =
          make<svm::MemoryAtOp>(svm::viewType(1, element), parameter.address, extent, builder_.getStringAttr(label));
      found_.append({bytes, size, extent, memory});
      parameter.given = memory;
    }
  }

  /// Memory at addresses may be parts of each other, which the kernel takes to be apart where one is written: then
  /// what is built next stands in a choice.
  void chooseWhereApart(const raise::Raising& raising) {
    Value all;
    for (unsigned first = 0; first < parameters_.size(); ++first)
      for (unsigned second = 0; second < parameters_.size(); ++second) {
        const Parameter &one = parameters_[first], &other = parameters_[second];
        if (!one.address || !one.given || !other.given || first == second || (other.address && second < first))
          continue;
        const raise::MemoryBlock *mine = raising.blockOf(first), *its = raising.blockOf(second);
        if (!its || !llvm::isa<mlir::MemRefType>(other.given.getType()) || (!mine->isWritten && !its->isWritten))
          continue;
        if (other.given.getDefiningOp<svm::BlockOp>() && second >= outputsBegin_)
          continue; // an output is memory of the graph's own
        Value apart = make<svm::ApartOp>(builder_.getI1Type(), one.given, other.given);
        all = all ? make<arith::AndIOp>(all, apart).getResult() : apart;
      }
    if (!all)
      return;
    raised_ = Raised::WhereApart;
    choice_ = make<scf::IfOp>(all, /*withElseRegion=*/true);
    builder_.setInsertionPointToStart(choice_.thenBlock());
  }

  /// Along short strides inside, along long ones outside; else x innermost. A dimension along which a store stays where
  /// it is, or all accesses do, comes outside of those along which all move: lanes would all store to one element.
  /// Dimensions of one instance are no loops.
  void chooseOrder(const raise::Raising& raising) {
    for (unsigned dimension = 0; dimension < indices_.size(); ++dimension)
      if (waits() || !isSingle(dimension))
        order_.push_back(dimension);
    const auto isFixed = [&](unsigned dimension) { return raising.movementOf(indices_[dimension]).isFixed; };
    llvm::sort(order_, [&](unsigned left, unsigned right) {
      const auto first = raising.movementOf(indices_[left]), second = raising.movementOf(indices_[right]);
      if (first.isFixed != second.isFixed)
        return first.isFixed;
      if (first.mostFactors != second.mostFactors)
        return first.mostFactors > second.mostFactors;
      return first.byOne != second.byOne ? first.byOne < second.byOne : left > right;
    });
    // Processors share the work along the outermost dimension that the result has; one that it has not may be short.
    while (shared_ < order_.size() && isFixed(order_[shared_]))
      ++shared_;
    if (shared_ == order_.size())
      shared_ = 0;
  }

  /// Whether a dimension has one instance, as far as can be seen: its index is 0.
  bool isSingle(unsigned dimension) const {
    Value extent = level_.extents[dimension];
    if (auto cast = extent.getDefiningOp<arith::IndexCastOp>())
      extent = cast.getIn();
    return mlir::getConstantIntValue(extent) == 1;
  }

  static std::string dimensionName(unsigned dimension) {
    return dimension < 3 ? std::string(1, "xyz"[dimension]) : "dimension " + std::to_string(dimension);
  }

  svm::KernelOp makeKernel(const raise::Raising& raising) {
    std::vector<Frame::Argument> described;
    const auto add = [&](Value given, Frame::Argument argument) {
      operands_.push_back(given);
      described.push_back(std::move(argument));
      return static_cast<unsigned>(described.size() - 1);
    };
    for (unsigned number = 0; number < parameters_.size(); ++number) {
      Parameter& parameter = parameters_[number];
      const raise::MemoryBlock* block = raising.blockOf(number);
      if (parameter.each)
        parameter.given = parameter.each->each;
      if (!parameter.given || (arguments_[number].kind == raise::Argument::Kind::Block && !block))
        continue;
      auto type = llvm::dyn_cast<mlir::MemRefType>(parameter.given.getType());
      if (parameter.isLastOutput)
        writtenByLast_.push_back(static_cast<unsigned>(described.size()));
      parameter.kernelArgument =
          add(parameter.given,
              type ? Frame::block(type, "", block && block->isWritten ? svm::Access::ReadWrite : svm::Access::Read)
                   : Frame::scalar(parameter.given.getType(), ""));
    }
    for (Value given : symbols_)
      kernelSymbols_.push_back(given ? add(given, Frame::scalar(builder_.getIndexType(), "")) : 0);
    for (unsigned dimension : order_) { // an index, or a range of them
      ranges_.push_back(add(index(0), Frame::scalar(builder_.getIndexType(), "")));
      if (!waits())
        add(level_.extents[dimension], Frame::scalar(builder_.getIndexType(), ""));
    }
    const auto named = mlir::NameLoc::get(builder_.getStringAttr(nodeName(*leaf_.function)), lowering_.place_);
    return lowering_.frame_.kernel(named, lowering_.label(*leaf_.function), described);
  }

  bool writeKernel(svm::KernelOp kernel, raise::Raising& raising) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    mlir::Block* body = Frame::makeBody(kernel);
    builder_.setInsertionPointToStart(body);
    make<svm::ReturnOp>();
    builder_.setInsertionPoint(body->getTerminator());
    std::vector<Value> symbols;
    for (size_t number = 0; number < symbols_.size(); ++number)
      symbols.push_back(symbols_[number] ? body->getArgument(kernelSymbols_[number]) : Value());
    for (unsigned dimension = 0; dimension < indices_.size(); ++dimension)
      if (!llvm::is_contained(order_, dimension))
        symbols[static_cast<size_t>(indices_[dimension])] = index(0);
    for (size_t number = 0; number < order_.size(); ++number) {
      if (waits()) {
        symbols[static_cast<size_t>(indices_[order_[number]])] = body->getArgument(ranges_[number]);
        continue;
      }
      // With the dimension's name, for messages.
      auto loop = builder_.create<scf::ForOp>(
          mlir::NameLoc::get(builder_.getStringAttr(dimensionName(order_[number])), lowering_.place_),
          body->getArgument(ranges_[number]), body->getArgument(ranges_[number] + 1), index(1));
      svm::SvmDialect::unorderedAttr.set(loop);
      symbols[static_cast<size_t>(indices_[order_[number]])] = loop.getInductionVar();
      builder_.setInsertionPointToStart(loop.getBody());
    }
    // What is the instance's own.
    std::vector<Value> values;
    for (const Parameter& parameter : parameters_) {
      Value value = parameter.given ? Value(body->getArgument(parameter.kernelArgument)) : Value();
      if (parameter.each)
        value = lowering_.asInput(make<memref::LoadOp>(value, mlir::ValueRange(linear(symbols))), parameter.input,
                                  parameter.each->isUnsigned);
      else if (parameter.isLast)
        value = isLast(symbols);
      values.push_back(value);
    }
    const auto placeIn = [&](const llvm::Instruction& instruction) {
      return locationAt(lowering_.diagnostics_.sources(), placeOf(instruction, lowering_.diagnostics_.sources()),
                        lowering_.context_);
    };
    // Variables are each instance's own: they stand in the innermost loop.
    mlir::OpBuilder variables = mlir::OpBuilder::atBlockBegin(builder_.getInsertionBlock());
    const bool isWritten = raising.write(builder_, variables, values, symbols, placeIn);
    kernel.walk([&](svm::BarrierOp barrier) {
      barrier->setLoc(mlir::NameLoc::get(builder_.getStringAttr(nodeName(*leaf_.function)), barrier.getLoc()));
    });
    return isWritten;
  }

  Value linear(const std::vector<Value>& symbols) {
    Value sum;
    for (const std::vector<int>& product : linear_) {
      Value value;
      for (int factor : product) {
        Value each = symbols[static_cast<size_t>(factor)];
        value = value ? make<arith::MulIOp>(value, each).getResult() : each;
      }
      sum = sum ? make<arith::AddIOp>(sum, value).getResult() : value;
    }
    return sum ? sum : index(0);
  }

  Value isLast(const std::vector<Value>& symbols) {
    Value all = make<arith::ConstantIntOp>(1, 1);
    for (size_t dimension = 0; dimension < indices_.size(); ++dimension) {
      Value behind = make<arith::AddIOp>(symbols[static_cast<size_t>(indices_[dimension])], index(1));
      Value is =
          make<arith::CmpIOp>(arith::CmpIPredicate::eq, behind, symbols[static_cast<size_t>(extents_[dimension])]);
      all = make<arith::AndIOp>(all, is);
    }
    return all;
  }

  // ---- the control function ----

  void checkExtents() {
    for (const NodeLowering::Level* level : levels())
      for (Value extent : level->extents) {
        Value fits = make<arith::CmpIOp>(arith::CmpIPredicate::slt, extent, index(mostSmall));
        make<svm::CheckOp>(fits, builder_.getStringAttr("hpvm-index-bits"),
                           builder_.getStringAttr("node '" + nodeName(*leaf_.function) +
                                                  "' keeps an index in 32 bits, and there are {0} instances in a "
                                                  "dimension; less than 2^30 are possible so"),
                           builder_.getStringAttr("keep it in 64 bits: long i = __hpvm__getNodeInstanceID_x(node)"),
                           mlir::ValueRange{extent});
      }
  }

  void runKernel(svm::KernelOp kernel) {
    buildRun(kernel);
    if (choice_)
      builder_.setInsertionPointToStart(choice_.elseBlock());
  }

  void buildRun(svm::KernelOp kernel) {
    const std::string label = lowering_.label(*leaf_.function);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    if (waits()) { // without a name by which a mapping could keep its instances apart
      Values lower(order_.size(), index(0)), upper;
      for (unsigned dimension : order_)
        upper.push_back(level_.extents[dimension]);
      auto loop = make<svm::ParallelOp>(mlir::ValueRange(lower), mlir::ValueRange(upper), mlir::ValueRange(),
                                        mlir::ArrayAttr(), mlir::StringAttr());
      loop.setConcurrent(true);
      builder_.setInsertionPointToStart(&loop.getBody().front());
      for (size_t number = 0; number < order_.size(); ++number)
        operands_[ranges_[number]] = loop.iteration(static_cast<unsigned>(number));
      make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(kernel.getSymNameAttr()), mlir::ValueRange(operands_),
                       mlir::ValueRange(), mlir::FlatSymbolRefAttr());
      return;
    }
    if (scf::IfOp choice = offload(kernel, label))
      builder_.setInsertionPointToStart(choice.elseBlock());
    if (!order_.empty()) {
      Value extent = level_.extents[order_[shared_]], size = blockSize(extent);
      Value count = make<arith::CeilDivUIOp>(extent, size);
      auto loop = make<svm::ParallelOp>(mlir::ValueRange(index(0)), mlir::ValueRange(count), mlir::ValueRange(),
                                        mlir::ArrayAttr(), builder_.getStringAttr(label));
      builder_.setInsertionPointToStart(&loop.getBody().front());
      Value begin = make<arith::MulIOp>(loop.iteration(0), size);
      operands_[ranges_[shared_]] = begin;
      operands_[ranges_[shared_] + 1] = make<arith::MinUIOp>(make<arith::AddIOp>(begin, size), extent);
    }
    make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(kernel.getSymNameAttr()), mlir::ValueRange(operands_),
                     mlir::ValueRange(), mlir::FlatSymbolRefAttr());
  }

  /// The tiles of the run on processors that have memories of their own; null where it runs where the arrays lie.
  scf::IfOp offload(svm::KernelOp kernel, const std::string& label) {
    const Machine& machine = lowering_.machine_;
    const std::string name = nodeName(*leaf_.function);
    const notation::MappedNode* mapped = lowering_.nodes_.of(name);
    const machine::MemoryId arrays = lowering_.arrays_;
    const machine::ProcessorId control = lowering_.control_;
    machine::ProcessorId last;
    if (mapped && !mapped->processor.empty()) {
      last = machine.processor(mapped->processor);
      if (last.valid() && last == control)
        return {};
    }
    const auto steps =
        arrays.valid() ? mapping::offloadSteps(machine, arrays, last) : std::vector<mapping::OffloadStep>();
    if (mapped && !mapped->processor.empty() && (!last.valid() || steps.empty())) {
      std::string all;
      for (const mapping::OffloadStep& step : mapping::offloadSteps(machine, arrays))
        all += "'" + machine[step.processor].name + "', ";
      lowering_.diagnostics_.report(otherProcessor, mapped->processorPlace, machine.name, mapped->processor)
          .help("there are: " + all + "'" + (control.valid() ? machine[control].name : "") + "'");
      return {};
    }
    mapping::InstanceRun run{kernel, operands_, ranges_, writtenByLast_, label, {}};
    if (mapped && !mapped->block.empty()) {
      if (mapped->block.size() != indices_.size()) {
        lowering_.diagnostics_.report(otherBlock, mapped->blockPlace, mapped->block.size(), name, indices_.size());
        return {};
      }
      for (unsigned dimension : order_)
        run.tile.push_back(mapped->block[dimension]);
    }
    if (steps.empty() || order_.empty())
      return {};
    if (lowering_.isStream_) { // its stages would take their parts of those memories at the same time
      lowering_.diagnostics_.report(notMoved, placeOf(*leaf_.function, lowering_.diagnostics_.sources()), name,
                                    machine[steps.back().processor].name, "a launch that is streaming");
      return {};
    }
    mapping::FootprintProblem problem{"", kernel.getLoc()};
    const auto footprint = mapping::footprintOf(kernel, run.ranges, problem);
    if (footprint)
      if (scf::IfOp choice = mapping::offload(builder_, lowering_.frame_, run, *footprint, steps, machine,
                                              *lowering_.placement_, problem))
        return choice;
    const Location place = sourceLocation(lowering_.diagnostics_.sources(), problem.place);
    const std::string on = machine[steps.back().processor].name;
    if (mapped && !mapped->processor.empty())
      lowering_.diagnostics_.report(cannotMove, mapped->processorPlace, name, on, problem.what).label(place, "here");
    else
      lowering_.diagnostics_.report(notMoved, place, name, on, problem.what);
    return {};
  }

  /// How many iterations of the loop that is shared a kernel takes at a time: few enough for every processor to have
  /// some, enough for registers to be filled.
  Value blockSize(Value extent) {
    const auto parts = [&](int64_t number, int64_t atLeast) {
      Value part = make<arith::CeilDivUIOp>(extent, index(number));
      return make<arith::MaxUIOp>(part, index(atLeast)).getResult();
    };
    if (shared_ + 1 < order_.size() && lowering_.control_.valid())
      return rowsOfBlock(extent);
    const int64_t least = shared_ + 1 < order_.size() ? 24 : 256, many = 128, few = 8;
    Value isLarge = make<arith::CmpIOp>(arith::CmpIPredicate::uge, extent, index(least * few));
    return make<arith::SelectOp>(isLarge, parts(many, least), parts(few, 1));
  }

  /// Of rows: as many blocks for each processor, up to 8 so that none waits long for another, of 256 rows or more where
  /// there are so many: what all rows read is read, and perhaps copied, once for each block. Whole tiles of up to 6
  /// rows.
  Value rowsOfBlock(Value extent) {
    constexpr int64_t most = 8, enough = 256, tile = 6;
    const auto processors = static_cast<int64_t>(std::max<uint64_t>(1, lowering_.machine_[lowering_.control_].count));
    Value share = make<arith::CeilDivUIOp>(extent, index(processors));
    Value blocks = make<arith::MinUIOp>(make<arith::DivUIOp>(share, index(enough)), index(most));
    Value rows = make<arith::CeilDivUIOp>(share, make<arith::MaxUIOp>(blocks, index(1)));
    return make<arith::MaxUIOp>(make<arith::MulIOp>(make<arith::CeilDivUIOp>(rows, index(tile)), index(tile)),
                                index(tile));
  }

  NodeLowering& lowering_;
  const LeafNode& leaf_;
  const Values& given_;
  const NodeLowering::Level& level_;
  const std::vector<const NodeLowering::Output*> ownInputs_;
  const std::vector<NodeLowering::Output>& outputs_;
  mlir::OpBuilder& builder_;

  llvm::Function* clone_ = nullptr;
  Raised raised_ = Raised::Yes;
  scf::IfOp choice_;                          // whether memory at addresses is apart
  llvm::SmallVector<mlir::Operation*> found_; // the operations that give it
  size_t outputsBegin_ = 0;                   // of the clone's parameters
  std::vector<raise::Argument> arguments_;    // of the clone
  std::vector<Parameter> parameters_;         // as many
  std::vector<Value> symbols_;                // in the control function; null: an index of the leaf itself
  std::vector<unsigned> kernelSymbols_;       // as arguments of the kernel
  std::vector<int> indices_, extents_;        // symbols of the leaf's dimensions
  std::vector<std::vector<int>> linear_;      // an instance's number
  std::vector<unsigned> order_;               // of dimensions with loops, outermost first
  size_t shared_ = 0;                         // of these, the one of which processors have parts
  llvm::SmallVector<Value> operands_;         // of the kernel
  llvm::SmallVector<unsigned> writtenByLast_; // of the kernel's arguments
  llvm::SmallVector<unsigned> ranges_;        // the kernel's arguments that its parts of the dimensions begin at
};

NodeLowering::Raised NodeLowering::raiseLeaf(const Child& child, const LeafNode& leaf, const Values& given,
                                             const Level& level, Outputs& outputs, const std::vector<Output>& own) {
  return LeafRaiser(*this, leaf, given, level, ownInputs(child, outputs), own).run(raised_);
}

} // namespace strata::hpvm

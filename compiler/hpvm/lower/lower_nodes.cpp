// A node is a parallel loop over its instances, around its children or around the run of a leaf. Values that travel on
// edges are kept in blocks: one element for the last instance's, or one for each instance's. A pointer that a leaf
// gives on as it was given it is the same block; any other travels as an address.
#include "compiler/hpvm/lower/lower_nodes.h"

#include "compiler/hpvm/graph/places.h"
#include "compiler/hpvm/lower/extents.h"
#include "compiler/hpvm/lower/leaf_code.h"
#include "compiler/mapping/offload.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/Instructions.h"

namespace arith = mlir::arith;
namespace memref = mlir::memref;
namespace scf = mlir::scf;

using mlir::Value;

namespace strata::hpvm {

using Values = NodeLowering::Values;

// ---- types ----

mlir::Type NodeLowering::typeOf(const llvm::Type* type) {
  if (type->isFloatTy())
    return builder_.getF32Type();
  if (type->isDoubleTy())
    return builder_.getF64Type();
  for (unsigned bits : {1, 8, 16, 32, 64})
    if (type->isIntegerTy(bits))
      return builder_.getIntegerType(bits);
  return type->isPointerTy() ? svm::viewType(1, builder_.getI8Type()) : mlir::Type();
}

/// The type in which a value travels.
mlir::Type NodeLowering::travelling(const llvm::Type* type) {
  return type->isPointerTy() ? mlir::Type(builder_.getI64Type()) : typeOf(type);
}

// ---- nodes ----

/// One instance of an internal node: all its children. Gives the node's outputs.
Values NodeLowering::lowerChildren(const InternalNode& node, const Values& inputs) {
  Outputs outputs(node.children.size());
  for (unsigned number : node.order)
    lowerChild(node, number, inputs, outputs);
  Values own;
  for (const BoundOutput& bound : node.bound)
    own.push_back(outputs[bound.child].empty() ? Value() : valueOf(outputs[bound.child][bound.output]));
  return own;
}

Value NodeLowering::valueOf(const Output& output) {
  return output.last ? make<memref::LoadOp>(output.last, mlir::ValueRange()).getResult() : output.given;
}

void NodeLowering::lowerChild(const InternalNode& node, unsigned number, const Values& inputs, Outputs& outputs) {
  const Child& child = node.children[number];
  for (const Source& source : child.inputs)
    if (source.kind == Source::Kind::Edge && outputs[source.child].empty())
      return; // what it comes from could not be lowered, which is reported
  at(*child.call);
  Level level;
  for (llvm::Value* extent : child.extents)
    level.extents.push_back(lowerExtent(*extent, inputs, builder_, place_, diagnostics_));
  if (llvm::is_contained(level.extents, Value()))
    return; // reported
  for (Value extent : level.extents)
    make<svm::CheckOp>(make<arith::CmpIOp>(arith::CmpIPredicate::sge, extent, index(0)),
                       builder_.getStringAttr("hpvm-negative-extent"),
                       builder_.getStringAttr("node '" + nodeName(*child.function) + "' is given {0} as an extent"),
                       builder_.getStringAttr("give it a number of instances that is 0 or more"),
                       mlir::ValueRange{extent});
  for (const Source& source : child.inputs)
    if (source.kind == Source::Kind::Edge && source.isOneToOne)
      checkGrids(node.children[source.child], child, *source.call, level.extents, inputs);
  Values given = inputsOf(child, inputs, outputs);
  makeOutputs(node, number, given, level.extents, outputs[number]);
  mlir::OpBuilder::InsertionGuard behind(builder_);
  const std::string outside = path_;
  auto backOut = llvm::make_scope_exit([&] { path_ = outside; });
  if (records_) {
    path_ += (path_.empty() ? "" : "/") + nameIn(node, number);
    auto span = make<svm::SpanOp>(path_, instancesOf(level.extents));
    builder_.setInsertionPointToStart(&span.getBody().emplaceBlock());
  }
  const auto leaf = graphs_.leaves.find(child.function);
  const bool isLeaf = leaf != graphs_.leaves.end();
  if (isLeaf)
    mapped_.insert(nodeName(*child.function));
  if (raises_ && isLeaf) {
    const Raised raised = raiseLeaf(child, leaf->second, given, level, outputs, outputs[number]);
    raised_ += raised != Raised::No;
    if (raised == Raised::Yes)
      return;
  }
  // The outermost loop is over the last dimension, so that neighbours along x follow each other.
  Values lower(child.extents.size(), index(0)), upper(level.extents.rbegin(), level.extents.rend());
  mlir::OpBuilder::InsertionGuard guard(builder_);
  if (!child.extents.empty()) {
    auto loop = make<svm::ParallelOp>(mlir::ValueRange(lower), mlir::ValueRange(upper), mlir::ValueRange(),
                                      mlir::ArrayAttr(), builder_.getStringAttr(label(*child.function)));
    loop.setConcurrent(isLeaf && leaf->second.hasBarrier);
    builder_.setInsertionPointToStart(&loop.getBody().front());
    for (unsigned dimension = loop.dimensions(); dimension-- > 0;)
      level.indices.push_back(loop.iteration(dimension));
  }
  const Value linear = linearIndex(level);
  for (auto [input, output] : llvm::enumerate(ownInputs(child, outputs)))
    if (output)
      given[input] = asInput(make<memref::LoadOp>(output->each, linear),
                             child.function->getArg(static_cast<unsigned>(input))->getType(), output->isUnsigned);
  levels_.insert(levels_.begin(), level);
  if (isLeaf)
    runLeaf(leaf->second, given, outputs[number], linear);
  else
    keep(lowerChildren(graphs_.internal.at(child.function), given), outputs[number], linear);
  levels_.erase(levels_.begin());
}

std::string NodeLowering::label(const llvm::Function& function) {
  return nodeName(function) + "." + std::to_string(labels_++);
}

/// A child's name among the children of a node: with a number where several have one function.
std::string NodeLowering::nameIn(const InternalNode& node, unsigned number) {
  const auto isSame = [&](const Child& other) { return other.function == node.children[number].function; };
  const std::string name = nodeName(*node.children[number].function);
  if (llvm::count_if(node.children, isSame) == 1)
    return name;
  return name + "#" + std::to_string(1 + std::count_if(node.children.begin(), node.children.begin() + number, isSame));
}

/// How many instances a grid has.
Value NodeLowering::instancesOf(const Values& extents) {
  Value count = index(1);
  for (Value extent : extents)
    count = make<arith::MulIOp>(count, extent);
  return count;
}

Value NodeLowering::index(int64_t value) {
  return make<arith::ConstantIndexOp>(value);
}

/// One-to-one edges: the grids, which are compared where they are known before, have to be equal.
void NodeLowering::checkGrids(const Child& source, const Child& destination, const llvm::CallBase& edge,
                              const Values& extents, const Values& inputs) {
  const mlir::Location before = place_;
  at(edge);
  const auto back = llvm::make_scope_exit([&] { place_ = before; });
  for (size_t dimension = 0; dimension < extents.size(); ++dimension) {
    Value other = lowerExtent(*source.extents[dimension], inputs, builder_, place_, diagnostics_);
    if (!other || other == extents[dimension])
      continue;
    Value equal = make<arith::CmpIOp>(arith::CmpIPredicate::eq, other, extents[dimension]);
    make<svm::CheckOp>(equal, builder_.getStringAttr("hpvm-grid"),
                       builder_.getStringAttr("a one-to-one edge joins node '" + nodeName(*source.function) +
                                              "' of {0} instances in dimension " + std::to_string(dimension) +
                                              " and node '" + nodeName(*destination.function) + "' of {1}"),
                       builder_.getStringAttr(gridsHelp), mlir::ValueRange{other, extents[dimension]});
  }
}

/// A value in the type of an input: C widens what goes through an ellipsis, and constants there have no type.
Value NodeLowering::asInput(Value value, const llvm::Type* input, bool isUnsigned) {
  const mlir::Type wanted = typeOf(input);
  if (value.getType() == wanted || llvm::isa<mlir::MemRefType>(wanted))
    return value;
  if (llvm::isa<mlir::FloatType>(wanted))
    return make<arith::TruncFOp>(wanted, value);
  if (wanted.getIntOrFloatBitWidth() < value.getType().getIntOrFloatBitWidth())
    return make<arith::TruncIOp>(wanted, value);
  return isUnsigned ? make<arith::ExtUIOp>(wanted, value).getResult() : make<arith::ExtSIOp>(wanted, value).getResult();
}

/// The inputs that are the same for all instances; nothing for those that each instance has of its own.
Values NodeLowering::inputsOf(const Child& child, const Values& inputs, const Outputs& outputs) {
  Values given;
  for (auto [number, source] : llvm::enumerate(child.inputs)) {
    if (source.kind == Source::Kind::Own) {
      given.push_back(inputs[source.index]);
      continue;
    }
    const Output& output = outputs[source.child][source.index];
    Value value = output.given;
    if (!value && output.last && !(source.isOneToOne && output.each))
      value = make<memref::LoadOp>(output.last, mlir::ValueRange());
    if (value)
      value = asInput(value, child.function->getArg(static_cast<unsigned>(number))->getType(), output.isUnsigned);
    given.push_back(value);
  }
  return given;
}

std::vector<const NodeLowering::Output*> NodeLowering::ownInputs(const Child& child, const Outputs& outputs) const {
  std::vector<const Output*> own;
  for (const Source& source : child.inputs) {
    const Output* output = source.kind == Source::Kind::Edge ? &outputs[source.child][source.index] : nullptr;
    own.push_back(output && source.isOneToOne && output->each ? output : nullptr);
  }
  return own;
}

/// Makes the blocks for a child's outputs that anything in the node wants.
void NodeLowering::makeOutputs(const InternalNode& node, unsigned number, const Values& given, const Values& extents,
                               std::vector<Output>& outputs) {
  const Child& child = node.children[number];
  const NodeFunction& kind = graphs_.node(child.function);
  outputs.resize(kind.outputs.size());
  for (unsigned output = 0; output < outputs.size(); ++output) {
    outputs[output].isUnsigned = kind.isUnsigned[output];
    if (const auto input = passedOn(*child.function, output); input && given[*input]) {
      outputs[output].given = given[*input];
      continue;
    }
    bool isLast = llvm::any_of(
        node.bound, [&](const BoundOutput& bound) { return bound.child == number && bound.output == output; });
    bool isEach = false;
    for (const Child& other : node.children)
      for (const Source& source : other.inputs)
        if (source.kind == Source::Kind::Edge && source.child == number && source.index == output)
          (source.isOneToOne && !extents.empty() ? isEach : isLast) = true;
    const mlir::Type type = travelling(kind.outputs[output]);
    if (isLast) {
      outputs[output].last = block(type, {}, label(*child.function));
      // Without any instance, and where the last one returns nothing.
      make<memref::StoreOp>(make<arith::ConstantOp>(builder_.getZeroAttr(type)), outputs[output].last,
                            mlir::ValueRange());
    }
    if (isEach) {
      outputs[output].each = block(type, {instancesOf(extents)}, label(*child.function));
    }
  }
}

Value NodeLowering::block(mlir::Type element, mlir::ValueRange extents, const std::string& name) {
  mlir::SmallVector<int64_t> most(extents.size(), -1);
  if (!extents.empty() && arrays_.valid() && machine_.isStore(arrays_))
    most.front() = boundOf(element, extents.front(), 32, "the outputs of '" + name + "'");
  return make<svm::BlockOp>(svm::viewType(static_cast<unsigned>(extents.size()), element), extents,
                            builder_.getDenseI64ArrayAttr(most), builder_.getStringAttr(name), mlir::IntegerAttr());
}

int64_t NodeLowering::boundOf(mlir::Type element, Value extent, int64_t shares, const std::string& what) {
  const int64_t bytes = std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1);
  const int64_t most = mapping::shareOf(machine_, arrays_, shares) / bytes;
  Value fits = make<arith::CmpIOp>(arith::CmpIPredicate::sle, extent, index(most));
  make<svm::CheckOp>(fits, builder_.getStringAttr("hpvm-object-size"),
                     builder_.getStringAttr(what + " has {0} elements, and memory '" + machine_[arrays_].name +
                                            "' of machine '" + machine_.name + "' has room for {1} of them"),
                     builder_.getStringAttr("launch the graph for a smaller problem, or place it on another machine"),
                     mlir::ValueRange{extent, index(most)});
  return most;
}

std::optional<unsigned> NodeLowering::passedOn(const llvm::Function& function, unsigned output) {
  if (const auto inner = graphs_.internal.find(&function); inner != graphs_.internal.end())
    return passedOn(inner->second, inner->second.bound[output].child, inner->second.bound[output].output);
  const LeafNode& leaf = graphs_.leaves.at(&function);
  // An instance that returns nothing would have given on nothing.
  if (!leaf.returnsSomewhere())
    return std::nullopt;
  std::optional<unsigned> given;
  for (const llvm::CallBase* each : leaf.returns) {
    const auto* argument = llvm::dyn_cast<llvm::Argument>(each->getArgOperand(output + 1)->stripPointerCasts());
    if (!argument || (given && *given != argument->getArgNo()))
      return std::nullopt;
    given = argument->getArgNo();
  }
  return given;
}

/// The same of an output of a child, as an input of the node around it.
std::optional<unsigned> NodeLowering::passedOn(const InternalNode& node, unsigned child, unsigned output) {
  const auto input = passedOn(*node.children[child].function, output);
  if (!input)
    return std::nullopt;
  const Source& source = node.children[child].inputs[*input];
  return source.kind == Source::Kind::Own ? std::optional(source.index) : passedOn(node, source.child, source.index);
}

// ---- instances ----

/// The number of an instance in its grid; x counts fastest.
Value NodeLowering::linearIndex(const Level& level) {
  Value linear;
  for (size_t dimension = level.indices.size(); dimension-- > 0;)
    linear = linear
                 ? make<arith::AddIOp>(make<arith::MulIOp>(linear, level.extents[dimension]), level.indices[dimension])
                       .getResult()
                 : level.indices[dimension];
  return linear ? linear : index(0);
}

/// Whether the instance at hand is the last of its grid.
Value NodeLowering::isLast(const Level& level) {
  Value all = make<arith::ConstantIntOp>(1, 1);
  for (size_t dimension = 0; dimension < level.indices.size(); ++dimension) {
    Value behind = make<arith::AddIOp>(level.indices[dimension], index(1));
    all = make<arith::AndIOp>(all, make<arith::CmpIOp>(arith::CmpIPredicate::eq, behind, level.extents[dimension]));
  }
  return all;
}

/// Stores the outputs of an instance of an internal node.
void NodeLowering::keep(const Values& values, const std::vector<Output>& outputs, Value linear) {
  const bool anyLast = llvm::any_of(outputs, [](const Output& output) { return bool(output.last); });
  if (anyLast) {
    Value condition = isLast(levels_.front());
    auto choice = make<scf::IfOp>(condition, false);
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(choice.thenBlock());
    for (size_t output = 0; output < outputs.size(); ++output)
      if (outputs[output].last)
        make<memref::StoreOp>(values[output], outputs[output].last, mlir::ValueRange());
  }
  for (size_t output = 0; output < outputs.size(); ++output)
    if (outputs[output].each)
      make<memref::StoreOp>(values[output], outputs[output].each, linear);
}

void NodeLowering::runLeaf(const LeafNode& leaf, const Values& given, const std::vector<Output>& outputs,
                           Value linear) {
  LeafUse use;
  for (const Level& level : levels_)
    use.dimensions.push_back(static_cast<unsigned>(level.extents.size()));
  Values arguments = given;
  if (llvm::is_contained(arguments, Value()))
    return; // reported
  for (const llvm::Argument& argument : leaf.function->args())
    use.isAddress.push_back(argument.getType()->isPointerTy() &&
                            !llvm::isa<mlir::MemRefType>(given[argument.getArgNo()].getType()));
  std::vector<svm::Access> access;
  for (const llvm::Argument& argument : leaf.function->args())
    access.push_back(leaf.isWritten[argument.getArgNo()] ? svm::Access::ReadWrite : svm::Access::Read);
  if (leaf.allocates)
    arguments.push_back(launch_);
  for (const Level& level : levels_) {
    llvm::append_range(arguments, level.indices);
    llvm::append_range(arguments, level.extents);
  }
  Values last, each;
  for (const Output& output : outputs) {
    use.last.push_back(bool(output.last));
    use.each.push_back(bool(output.each));
    if (output.last)
      last.push_back(output.last);
    if (output.each)
      each.push_back(output.each);
  }
  if (!last.empty() || !each.empty()) {
    arguments.push_back(isLast(levels_.front()));
    arguments.push_back(linear);
  }
  llvm::append_range(arguments, last);
  llvm::append_range(arguments, each);
  access.resize(arguments.size(), svm::Access::ReadWrite);
  if (llvm::Function* code = makeLeaf(leaf, use, "strata.leaf." + std::to_string(codes_.size()), diagnostics_))
    runCode(label(*leaf.function), code, arguments, access);
}

void NodeLowering::runCode(const std::string& name, llvm::Function* code, const Values& arguments,
                           const std::vector<svm::Access>& access) {
  codes_.push_back(code);
  using Frame = mapping::LogicalModule;
  std::vector<Frame::Argument> described;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    auto block = llvm::dyn_cast<mlir::MemRefType>(argument.getType());
    described.push_back(block ? Frame::block(block, "", access.empty() ? svm::Access::ReadWrite : access[number])
                              : Frame::scalar(argument.getType(), ""));
  }
  svm::KernelOp kernel = frame_.kernel(place_, name, described);
  auto function = mlir::FlatSymbolRefAttr::get(&context_, code->getName());
  kernel.setLlvmAttr(mlir::SymbolRefAttr::get(&context_, leafSource, {function}));
  kernel.setMayAlias(true); // whatever the pointers of the program share
  make<svm::RunOp>(mlir::Type(), mlir::FlatSymbolRefAttr::get(kernel.getSymNameAttr()), mlir::ValueRange(arguments),
                   mlir::ValueRange(), mlir::FlatSymbolRefAttr());
}

} // namespace strata::hpvm

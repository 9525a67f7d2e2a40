// One pass over the node's instructions, which are all in one block; then what only the whole shows: inputs without a
// source, circles, and the order of the children.
#include "compiler/hpvm/graph/read_internal.h"

#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/graph/places.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <set>

namespace strata::hpvm {

STRATA_DIAGNOSTIC(codeInInternal, Error, "hpvm-code", "node '{0}' creates nodes, and {1}");
STRATA_DIAGNOSTIC(leafCall, Error, "hpvm-leaf-call", "{0} is for leaves, and '{1}' creates nodes");
STRATA_DIAGNOSTIC(childUnknown, Error, "hpvm-node-function",
                  "the node that is created here is not named by its function");
STRATA_DIAGNOSTIC(extentCount, Error, "hpvm-extents", "a node of {0} dimensions is given {1} extents");
STRATA_DIAGNOSTIC(extentType, Error, "hpvm-extent-type", "extent {0} of node '{1}' is no integer");
STRATA_DIAGNOSTIC(noHandle, Error, "hpvm-handle", "{0} is given no node that '{1}' has created");
STRATA_DIAGNOSTIC(notConstant, Error, "hpvm-constant", "argument {0} of {1} is not a constant");
STRATA_DIAGNOSTIC(noInput, Error, "hpvm-input-number", "node '{0}' has no input {1}; it has {2}");
STRATA_DIAGNOSTIC(noOutput, Error, "hpvm-output-number", "node '{0}' has no output {1}; it has {2}");
STRATA_DIAGNOSTIC(typesDiffer, Error, "hpvm-type", "{0} has another type than {1}");
STRATA_DIAGNOSTIC(inputTwice, Error, "hpvm-input-twice", "input {0} of node '{1}' is given twice");
STRATA_DIAGNOSTIC(inputMissing, Error, "hpvm-input-missing", "nothing is given to input '{0}' of node '{1}'");
STRATA_DIAGNOSTIC(outputTwice, Error, "hpvm-output-twice", "output {0} of node '{1}' has two {2}");
STRATA_DIAGNOSTIC(ownOutputTwice, Error, "hpvm-own-output-twice", "output {0} of '{1}' is bound twice");
STRATA_DIAGNOSTIC(ownOutputMissing, Error, "hpvm-own-output-missing",
                  "output {0} of '{1}' is bound, and output {2} is not");
STRATA_DIAGNOSTIC(circle, Error, "hpvm-circle", "nodes '{0}' and '{1}' would wait for each other");
STRATA_DIAGNOSTIC(gridsDiffer, Error, "hpvm-grid", "a one-to-one edge joins nodes '{0}' and '{1}', whose grids differ");
STRATA_DIAGNOSTIC(mixedStreams, Error, "hpvm-mixed-streams",
                  "node '{0}' has streaming and other edges and binds among its children");

llvm::Function* childOf(const llvm::CallBase& create) {
  return create.arg_size() < 2 ? nullptr : llvm::dyn_cast<llvm::Function>(create.getArgOperand(1)->stripPointerCasts());
}

namespace {

class InternalReader {
public:
  InternalReader(llvm::Function& function, InternalNode& node, const Graphs& graphs, DiagnosticEngine& diagnostics)
      : function_(function), node_(node), graphs_(graphs), diagnostics_(diagnostics) {}

  bool run() {
    const unsigned before = diagnostics_.errorCount();
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (kindOf(instruction) == CallKind::CreateNode && !childOf(llvm::cast<llvm::CallBase>(instruction)))
        diagnostics_.report(childUnknown, at(instruction)).help("__hpvm__createNodeND(1, leaf, n)");
    if (diagnostics_.errorCount() != before)
      return false;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      checkCode(instruction);
    if (diagnostics_.errorCount() != before)
      return false; // what is under conditions would be told once more for each call
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (kindOf(instruction) == CallKind::CreateNode)
        readChild(llvm::cast<llvm::CallBase>(instruction));
    if (diagnostics_.errorCount() != before)
      return false;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      readInstruction(instruction);
    if (diagnostics_.errorCount() != before)
      return false;
    findInputs();
    findOutputs();
    sort();
    return diagnostics_.errorCount() == before;
  }

private:
  Location at(const llvm::Instruction& instruction) { return placeOf(instruction, diagnostics_.sources()); }
  std::string name(unsigned child) const { return nodeName(*node_.children[child].function); }
  const NodeFunction& kind(unsigned child) const { return graphs_.node(node_.children[child].function); }

  void readChild(const llvm::CallBase& call) {
    Child child;
    child.call = &call;
    child.function = childOf(call);
    const auto dimensions = constant(call, 0);
    if (!dimensions)
      return;
    if (*dimensions != call.arg_size() - 2) {
      diagnostics_.report(extentCount, at(call), *dimensions, call.arg_size() - 2);
      return;
    }
    for (unsigned number = 2; number < call.arg_size(); ++number) {
      child.extents.push_back(call.getArgOperand(number));
      if (!child.extents.back()->getType()->isIntegerTy())
        diagnostics_.report(extentType, at(call), number - 2, nodeName(*child.function)).help("cast it to size_t");
    }
    child.inputs.resize(child.function->arg_size());
    handles_[&call] = static_cast<unsigned>(node_.children.size());
    node_.children.push_back(std::move(child));
  }

  void readInstruction(llvm::Instruction& instruction) {
    const CallKind kind = kindOf(instruction);
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    switch (kind) {
    case CallKind::Edge:
      return readEdge(*call);
    case CallKind::BindIn:
      return readBindIn(*call);
    case CallKind::BindOut:
      return readBindOut(*call);
    default:
      return;
    }
  }

  /// Nodes that create others hold calls that describe the inside, and arithmetic.
  void checkCode(llvm::Instruction& instruction) {
    const CallKind kind = kindOf(instruction);
    auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    if (isOfLeaf(kind))
      diagnostics_.report(leafCall, at(instruction), calleeOf(*call), nodeName(function_));
    if (kind != CallKind::None || llvm::isa<llvm::ReturnInst, llvm::DbgInfoIntrinsic, llvm::AllocaInst>(instruction) ||
        instruction.isLifetimeStartOrEnd())
      return;
    const char* what = call                              ? "calls a function"
                       : instruction.isTerminator()      ? "branches"
                       : instruction.mayWriteToMemory()  ? "writes memory"
                       : instruction.mayReadFromMemory() ? "reads memory"
                                                         : nullptr;
    if (call && !call->mayHaveSideEffects() && !call->mayReadFromMemory())
      what = nullptr; // such as the smaller of two
    if (what && !isReported_)
      diagnostics_.report(codeInInternal, at(instruction), nodeName(function_), what)
          .help("compute in a leaf; a node that creates others may compute extents from its inputs");
    isReported_ |= what != nullptr;
  }

  void readEdge(const llvm::CallBase& call) {
    const auto from = handle(call, 0), to = handle(call, 1);
    const auto replication = constant(call, 2), output = constant(call, 3), input = constant(call, 4),
               isStream = constant(call, 5);
    if (!from || !to || !replication || !output || !input || !isStream)
      return;
    stream(call, *isStream);
    if (!hasOutput(call, *from, *output) || !hasInput(call, *to, *input))
      return;
    if (const auto [first, isNew] = edges_.try_emplace({*from, *output}, &call); !isNew)
      diagnostics_.report(outputTwice, at(call), *output, name(*from), "edges").label(at(*first->second), "the first");
    if (!fits(kind(*from), *output, node_.children[*to].function->getArg(*input)->getType()))
      diagnostics_
          .report(typesDiffer, at(call), "output " + std::to_string(*output) + " of '" + name(*from) + "'",
                  "input '" + argumentName(*node_.children[*to].function, *input) + "' of '" + name(*to) + "'")
          .help("the numbers are those of the source's output and of the destination's input, in this order");
    const bool isOneToOne = *replication == 0;
    if (isOneToOne)
      compareGrids(call, *from, *to);
    give(call, *to, *input, {Source::Kind::Edge, *from, *output, isOneToOne, &call});
  }

  void readBindIn(const llvm::CallBase& call) {
    const auto child = handle(call, 0);
    const auto own = constant(call, 1), input = constant(call, 2), isStream = constant(call, 3);
    if (!child || !own || !input || !isStream)
      return;
    stream(call, *isStream);
    if (*own >= function_.arg_size()) {
      diagnostics_.report(noInput, at(call), nodeName(function_), *own, function_.arg_size());
      return;
    }
    if (!hasInput(call, *child, *input))
      return;
    if (function_.getArg(*own)->getType() != node_.children[*child].function->getArg(*input)->getType())
      diagnostics_
          .report(typesDiffer, at(call),
                  "input '" + argumentName(function_, *own) + "' of '" + nodeName(function_) + "'",
                  "input '" + argumentName(*node_.children[*child].function, *input) + "' of '" + name(*child) + "'")
          .help("the numbers are those of the node's own input and of the child's, in this order");
    give(call, *child, *input, {Source::Kind::Own, 0, *own, false, &call});
  }

  void readBindOut(const llvm::CallBase& call) {
    const auto child = handle(call, 0);
    const auto output = constant(call, 1), own = constant(call, 2), isStream = constant(call, 3);
    if (!child || !output || !own || !isStream)
      return;
    stream(call, *isStream);
    if (!hasOutput(call, *child, *output))
      return;
    if (const auto [first, isNew] = binds_.try_emplace({*child, *output}, &call); !isNew)
      diagnostics_.report(outputTwice, at(call), *output, name(*child), "binds").label(at(*first->second), "the first");
    if (const auto [first, isNew] = own_.try_emplace(*own, BoundOutput{*child, *output, &call}); !isNew)
      diagnostics_.report(ownOutputTwice, at(call), *own, nodeName(function_))
          .label(at(*first->second.call), "the first time");
  }

  // ---- arguments of the calls ----

  std::optional<unsigned> constant(const llvm::CallBase& call, unsigned argument) {
    const auto* value =
        argument < call.arg_size() ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(argument)) : nullptr;
    if (value && value->getValue().isIntN(32))
      return static_cast<unsigned>(value->getZExtValue());
    diagnostics_.report(notConstant, at(call), argument, calleeOf(call))
        .help("a graph is known before the program runs; only extents may be computed");
    return std::nullopt;
  }

  std::optional<unsigned> handle(const llvm::CallBase& call, unsigned argument) {
    const auto found = handles_.find(call.getArgOperand(argument)->stripPointerCasts());
    if (found != handles_.end())
      return found->second;
    diagnostics_.report(noHandle, at(call), calleeOf(call), nodeName(function_))
        .help("both ends of an edge are nodes that the same function has created");
    return std::nullopt;
  }

  bool hasInput(const llvm::CallBase& call, unsigned child, unsigned input) {
    const size_t count = node_.children[child].inputs.size();
    if (input < count)
      return true;
    diagnostics_.report(noInput, at(call), name(child), input, count)
        .label(placeOf(*node_.children[child].function, diagnostics_.sources()), "the node; inputs count from 0");
    return false;
  }

  bool hasOutput(const llvm::CallBase& call, unsigned child, unsigned output) {
    const size_t count = kind(child).outputs.size();
    if (output < count)
      return true;
    diagnostics_.report(noOutput, at(call), name(child), output, count)
        .label(placeOf(*node_.children[child].function, diagnostics_.sources()), "the node; outputs count from 0");
    return false;
  }

  void give(const llvm::CallBase& call, unsigned child, unsigned input, Source source) {
    Source& known = node_.children[child].inputs[input];
    if (known.kind != Source::Kind::None)
      diagnostics_.report(inputTwice, at(call), input, name(child)).label(at(*known.call), "the first time");
    known = source;
  }

  void stream(const llvm::CallBase& call, unsigned isStream) {
    if (!isStream_)
      isStream_ = {isStream != 0, &call};
    else if (isStream_->first != (isStream != 0) && !isMixed_) {
      isMixed_ = true;
      diagnostics_.report(mixedStreams, at(call), nodeName(function_))
          .label(at(*isStream_->second), isStream ? "this one is none" : "this one is streaming");
    }
  }

  void compareGrids(const llvm::CallBase& call, unsigned from, unsigned to) {
    const auto &source = node_.children[from].extents, &destination = node_.children[to].extents;
    bool differ = source.size() != destination.size();
    for (size_t number = 0; number < source.size() && !differ; ++number) {
      const auto* left = llvm::dyn_cast<llvm::ConstantInt>(source[number]);
      const auto* right = llvm::dyn_cast<llvm::ConstantInt>(destination[number]);
      differ = left && right && left->getSExtValue() != right->getSExtValue();
    }
    if (differ)
      diagnostics_.report(gridsDiffer, at(call), name(from), name(to))
          .label(at(*node_.children[from].call), "one grid")
          .label(at(*node_.children[to].call), "the other")
          .help(gridsHelp);
  }

  // ---- the whole ----

  void findInputs() {
    for (unsigned child = 0; child < node_.children.size(); ++child)
      for (unsigned input = 0; input < node_.children[child].inputs.size(); ++input)
        if (node_.children[child].inputs[input].kind == Source::Kind::None)
          diagnostics_
              .report(inputMissing, at(*node_.children[child].call),
                      argumentName(*node_.children[child].function, input), name(child))
              .help("bind an input of '" + nodeName(function_) + "' to it, or end an edge there: its number is " +
                    std::to_string(input));
  }

  void findOutputs() {
    for (const auto& [own, bound] : own_) {
      if (own != node_.bound.size()) {
        diagnostics_.report(ownOutputMissing, at(*bound.call), own, nodeName(function_), node_.bound.size())
            .help("outputs count from 0, without gaps");
        return;
      }
      node_.bound.push_back(bound);
      node_.outputs.push_back(kind(bound.child).outputs[bound.output]);
      node_.isConstant.push_back(kind(bound.child).isConstant[bound.output]);
      node_.isUnsigned.push_back(kind(bound.child).isUnsigned[bound.output]);
    }
  }

  void sort() {
    std::vector<bool> isPlaced(node_.children.size(), false);
    while (node_.order.size() < node_.children.size()) {
      bool isAny = false;
      for (unsigned child = 0; child < node_.children.size() && !isAny; ++child) {
        isAny = !isPlaced[child] && llvm::all_of(node_.children[child].inputs, [&](const Source& source) {
          return source.kind != Source::Kind::Edge || isPlaced[source.child];
        });
        if (isAny) {
          isPlaced[child] = true;
          node_.order.push_back(child);
        }
      }
      if (!isAny)
        return reportCircle(isPlaced);
    }
  }

  void reportCircle(const std::vector<bool>& isPlaced) {
    for (unsigned child = 0; child < node_.children.size(); ++child)
      for (const Source& source : node_.children[child].inputs)
        if (!isPlaced[child] && source.kind == Source::Kind::Edge && !isPlaced[source.child]) {
          diagnostics_.report(circle, at(*source.call), name(source.child), name(child))
              .help("a graph has no circles: take out an edge, or join the nodes in one");
          return;
        }
  }

  llvm::Function& function_;
  InternalNode& node_;
  const Graphs& graphs_;
  DiagnosticEngine& diagnostics_;
  std::map<const llvm::Value*, unsigned> handles_;
  std::map<std::pair<unsigned, unsigned>, const llvm::CallBase*> edges_, binds_; // by child and output
  std::map<unsigned, BoundOutput> own_;
  std::optional<std::pair<bool, const llvm::CallBase*>> isStream_;
  bool isMixed_ = false, isReported_ = false;
};

} // namespace

bool readInternal(llvm::Function& function, InternalNode& node, const Graphs& graphs, DiagnosticEngine& diagnostics) {
  return InternalReader(function, node, graphs, diagnostics).run();
}

} // namespace strata::hpvm

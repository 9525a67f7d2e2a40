// From the launches of host code down to the leaves: each node function is read once, children before the node that
// holds them, since the types of its outputs are theirs.
#include "compiler/hpvm/graph/read_graphs.h"

#include "compiler/hpvm/graph/after_return.h"
#include "compiler/hpvm/graph/calls.h"
#include "compiler/hpvm/graph/clean.h"
#include "compiler/hpvm/graph/places.h"
#include "compiler/hpvm/graph/read_internal.h"
#include "compiler/hpvm/graph/ways.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

namespace strata::hpvm {

STRATA_DIAGNOSTIC(otherPrototype, Error, "hpvm-prototype",
                  "{0} is called with other types than hpvm.h declares it with");
STRATA_DIAGNOSTIC(rootUnknown, Error, "hpvm-root", "the graph that is launched here is not named by its function");
STRATA_DIAGNOSTIC(rootLeaf, Error, "hpvm-root-leaf", "'{0}' is launched as a graph, and creates no nodes");
STRATA_DIAGNOSTIC(nodeMissing, Error, "hpvm-node-missing", "the node function '{0}' is defined in no file of the link");
STRATA_DIAGNOSTIC(recursion, Error, "hpvm-recursion", "node '{0}' would contain itself");
STRATA_DIAGNOSTIC(graphCallInLeaf, Error, "hpvm-graph-call-in-leaf",
                  "{0} describes the inside of a node, and '{1}' creates no nodes");
STRATA_DIAGNOSTIC(hostCall, Error, "hpvm-host-call", "{0} is for host code, and '{1}' is a node");
STRATA_DIAGNOSTIC(unknownCall, Error, "hpvm-unknown-function", "hpvm.h has no function '{0}'");
STRATA_DIAGNOSTIC(auxiliary, Error, "hpvm-auxiliary",
                  "'{0}' is no node, and calls {1}; leaf '{2}' calls it as a function");
STRATA_DIAGNOSTIC(hintTwice, Error, "hpvm-hint-twice", "node '{0}' says twice where it is to run");
STRATA_DIAGNOSTIC(hintUnknown, Error, "hpvm-hint", "where node '{0}' is to run is no constant");
STRATA_DIAGNOSTIC(variadic, Error, "hpvm-variadic",
                  "node '{0}' takes any number of arguments, and edges and binds give only those that it names");
STRATA_DIAGNOSTIC(returnsValue, Error, "hpvm-returned-value",
                  "node '{0}' returns a value as a function of C does, which nobody is given");
STRATA_DIAGNOSTIC(workAfterReturn, Error, "hpvm-after-return", "leaf '{0}' {1} behind __hpvm__return");
STRATA_DIAGNOSTIC(attributesWrong, Error, "hpvm-attributes", "{0}");
STRATA_DIAGNOSTIC(argumentType, Error, "hpvm-argument-type",
                  "input '{0}' of node '{1}' has a type that this version does not pass");
STRATA_DIAGNOSTIC(labelAddress, Error, "hpvm-label-address",
                  "leaf '{0}' takes the address of a label, which this version does not execute");
STRATA_DIAGNOSTIC(sizeMissing, Error, "hpvm-size",
                  "argument '{0}' of node '{1}' is a pointer, and is not followed by its size");
STRATA_DIAGNOSTIC(outputsDiffer, Error, "hpvm-outputs-differ", "leaf '{0}' returns different outputs here and there");

std::string nodeName(const llvm::Function& function) {
  if (const llvm::DISubprogram* at = function.getSubprogram(); at && !at->getName().empty())
    return at->getName().str();
  const llvm::StringRef name = function.getName();
  return name.substr(0, name.find(".strata.")).str();
}

std::string argumentName(const llvm::Function& function, unsigned argument) {
  const llvm::StringRef name = function.getArg(argument)->getName();
  return name.empty() ? std::to_string(argument) : name.str();
}

bool fits(const NodeFunction& node, unsigned output, const llvm::Type* input) {
  const llvm::Type* own = node.outputs[output];
  if (own == input)
    return true;
  if (node.isConstant[output] && (own->isDoubleTy() ? input->isFloatTy() : own->isIntegerTy() && input->isIntegerTy()))
    return true;
  return own->isIntegerTy() && own->getIntegerBitWidth() < 32 && input->isIntegerTy(32);
}

bool LeafNode::returnsAlways() const {
  const auto ends = [](const llvm::BasicBlock& block) { return llvm::isa<llvm::ReturnInst>(block.getTerminator()); };
  return returns.size() == 1 && ends(*returns.front()->getParent()) && llvm::count_if(*function, ends) == 1;
}

bool LeafNode::returnsSomewhere() const {
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> returning;
  for (const llvm::CallBase* each : returns)
    returning.insert(each->getParent());
  bool comesToEnd = returns.empty();
  followWays(function->getEntryBlock(), [&](const Way& way) {
    if (comesToEnd || returning.contains(way.block))
      return false;
    comesToEnd = llvm::isa<llvm::ReturnInst>(way.block->getTerminator());
    return true;
  });
  return !comesToEnd;
}

namespace {

class GraphReader {
public:
  GraphReader(llvm::Module& module, DiagnosticEngine& diagnostics) : module_(module), diagnostics_(diagnostics) {}

  std::optional<Graphs> run() {
    const unsigned before = diagnostics_.errorCount();
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (const CallKind kind = kindOf(instruction);
            kind != CallKind::None && !hasPrototype(llvm::cast<llvm::CallBase>(instruction), kind))
          diagnostics_.report(otherPrototype, at(instruction), calleeOf(llvm::cast<llvm::CallBase>(instruction)))
              .help("include hpvm.h, and declare none of its functions otherwise");
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function))
        if (kindOf(instruction) == CallKind::Launch)
          readLaunch(llvm::cast<llvm::CallBase>(instruction));
    if (diagnostics_.errorCount() != before)
      return std::nullopt;
    return std::move(graphs_);
  }

private:
  Location at(const llvm::Instruction& instruction) { return placeOf(instruction, diagnostics_.sources()); }
  Location at(const llvm::Function& function) { return placeOf(function, diagnostics_.sources()); }

  void readLaunch(const llvm::CallBase& call) {
    auto* root =
        call.arg_size() == 3 ? llvm::dyn_cast<llvm::Function>(call.getArgOperand(1)->stripPointerCasts()) : nullptr;
    if (!root) {
      diagnostics_.report(rootUnknown, at(call)).help("__hpvm__launch(0, root, &arguments)");
      return;
    }
    if (!read(*root, &call))
      return;
    const auto found = graphs_.internal.find(root);
    if (found != graphs_.internal.end())
      addRoot(found->second, call);
    else
      diagnostics_.report(rootLeaf, at(call), nodeName(*root))
          .label(at(*root), "this leaf")
          .help("write a node that creates it with __hpvm__createNodeND, and launch that");
  }

  void addRoot(const InternalNode& node, const llvm::CallBase& call) {
    auto known = llvm::find_if(graphs_.roots, [&](const Root& root) { return root.node == &node; });
    if (known == graphs_.roots.end())
      known = graphs_.roots.insert(known, {&node, &call});
    // One that the program computes is told as the program runs.
    const auto* isStream = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    known->isLaunched |= !isStream || isStream->isZero();
    known->isStreamed |= !isStream || !isStream->isZero();
  }

  /// A node function, unless it has been read before. False on errors (reported once).
  bool read(llvm::Function& function, const llvm::CallBase* from) {
    if (const auto known = state_.find(&function); known != state_.end()) {
      if (known->second == State::Open)
        diagnostics_.report(recursion, at(*from), nodeName(function)).label(at(function), "it begins here");
      return known->second == State::Fine;
    }
    if (function.isDeclaration()) {
      diagnostics_.report(nodeMissing, at(*from), nodeName(function))
          .help("compile the file that defines it with strata cc or strata c++, too");
      state_[&function] = State::Wrong;
      return false;
    }
    state_[&function] = State::Open;
    const unsigned before = diagnostics_.errorCount();
    const bool isInternal = llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& each) {
      return kindOf(each) == CallKind::CreateNode;
    });
    isInternal ? readInternalNode(function) : readLeaf(function);
    const bool fine = diagnostics_.errorCount() == before;
    state_[&function] = fine ? State::Fine : State::Wrong;
    return fine;
  }

  void readInternalNode(llvm::Function& function) {
    InternalNode node;
    readHead(function, node);
    bool fine = true;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (kindOf(instruction) == CallKind::CreateNode)
        if (auto* child = childOf(llvm::cast<llvm::CallBase>(instruction)))
          fine &= read(*child, llvm::cast<llvm::CallBase>(&instruction));
    if (fine && readInternal(function, node, graphs_, diagnostics_))
      graphs_.internal.emplace(&function, std::move(node));
  }

  void readLeaf(llvm::Function& function) {
    LeafNode leaf;
    readHead(function, leaf);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const CallKind kind = kindOf(instruction);
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (isOfInternal(kind))
        diagnostics_.report(graphCallInLeaf, at(instruction), calleeOf(*call), nodeName(function));
      leaf.hasBarrier |= kind == CallKind::Barrier;
      leaf.allocates |= kind == CallKind::Allocate;
      if (kind == CallKind::Return)
        readReturn(*call, leaf);
    }
    for (const llvm::BasicBlock& block : function)
      if (block.hasAddressTaken()) {
        diagnostics_.report(labelAddress, at(function), nodeName(function)).help("write a switch");
        break;
      }
    if (const auto work = afterReturn(function, leaf.returns, diagnostics_.sources()))
      diagnostics_.report(workAfterReturn, at(*work->then), nodeName(function), work->what)
          .label(at(*work->first), "its outputs are given here")
          .help("__hpvm__return stands at the end: move this in front of it, or leave the function: "
                "{ __hpvm__return(…); return; }");
    checkAuxiliary(function);
    graphs_.leaves.emplace(&function, std::move(leaf));
  }

  void readReturn(llvm::CallBase& call, LeafNode& leaf) {
    const unsigned outputs = call.arg_size() - 1;
    const auto* count = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
    if (!count || count->getZExtValue() != outputs) {
      diagnostics_.report(outputsDiffer, at(call), nodeName(*leaf.function))
          .label("the first argument is how many outputs follow");
      return;
    }
    bool fine = leaf.returns.empty() || leaf.outputs.size() == outputs;
    if (leaf.returns.empty()) {
      leaf.outputs.resize(outputs);
      leaf.isConstant.assign(outputs, true);
      leaf.isUnsigned.assign(outputs, false);
    }
    for (unsigned output = 0; output < outputs && fine; ++output) {
      const llvm::Value* value = call.getArgOperand(output + 1);
      const bool isConstant = llvm::isa<llvm::ConstantInt, llvm::ConstantFP>(value);
      llvm::Type*& type = leaf.outputs[output];
      // Of a constant and another value, the other one tells.
      const bool isAlike = !type || type == value->getType() ||
                           (type->isIntegerTy() && value->getType()->isIntegerTy()) ||
                           (type->isFloatingPointTy() && value->getType()->isFloatingPointTy());
      fine = isAlike && (!type || type == value->getType() || isConstant || leaf.isConstant[output]);
      if (!type || (leaf.isConstant[output] && !isConstant))
        type = value->getType();
      leaf.isConstant[output] = leaf.isConstant[output] && isConstant;
      leaf.isUnsigned[output] = leaf.isUnsigned[output] || call.paramHasAttr(output + 1, llvm::Attribute::ZExt);
    }
    if (!fine)
      diagnostics_.report(outputsDiffer, at(call), nodeName(*leaf.function))
          .label(at(*leaf.returns.front()), "and here")
          .help("return as many outputs of the same types everywhere");
    leaf.returns.push_back(&call);
  }

  /// What every node says: where it is to run, and what it does to the memory that it is given.
  void readHead(llvm::Function& function, NodeFunction& node) {
    node.function = &function;
    node.isRead.assign(function.arg_size(), false);
    node.isWritten.assign(function.arg_size(), false);
    const llvm::CallBase* hint = nullptr;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const CallKind kind = kindOf(instruction);
      auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (kind == CallKind::Hint) {
        if (hint)
          diagnostics_.report(hintTwice, at(*call), nodeName(function)).label(at(*hint), "the first time");
        hint = call;
        if (!llvm::isa<llvm::ConstantInt>(call->getArgOperand(0)))
          diagnostics_.report(hintUnknown, at(*call), nodeName(function))
              .help("name one of hpvm.h's targets: __hpvm__hint(CPU_TARGET)");
      } else if (kind == CallKind::Attributes) {
        readAttributes(*call, node);
      } else if (isOfHost(kind)) {
        diagnostics_.report(hostCall, at(*call), calleeOf(*call), nodeName(function));
      } else if (kind == CallKind::Unknown) {
        diagnostics_.report(unknownCall, at(*call), calleeOf(*call));
      }
    }
    if (function.isVarArg())
      diagnostics_.report(variadic, at(function), nodeName(function)).help("name each of its inputs");
    for (const llvm::BasicBlock& block : function)
      if (const auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
          end && end->getReturnValue() && !llvm::isa<llvm::UndefValue>(end->getReturnValue())) {
        diagnostics_.report(returnsValue, at(*end), nodeName(function))
            .help("outputs are what __hpvm__return gives, or a bind: take the value away");
        break;
      }
    for (llvm::Argument& argument : function.args()) {
      if (!isPassed(argument)) {
        diagnostics_.report(argumentType, at(function), argumentName(function, argument.getArgNo()), nodeName(function))
            .help("pass numbers, and memory as a pointer and its size; a struct as a pointer to one");
        return;
      }
      if (!argument.getType()->isPointerTy())
        continue;
      const unsigned number = argument.getArgNo();
      if (number + 1 >= function.arg_size() || !function.getArg(number + 1)->getType()->isIntegerTy(64))
        diagnostics_.report(sizeMissing, at(function), argumentName(function, number), nodeName(function))
            .help("follow it with a size_t, the bytes of what it points to");
      else if (!node.isRead[number] && !node.isWritten[number])
        diagnostics_
            .report(attributesWrong, at(function),
                    "node '" + nodeName(function) + "' does not say whether it reads or writes what '" +
                        argumentName(function, number) + "' points to")
            .help("name it in __hpvm__attributes(how many are read, …, how many are written, …)");
    }
  }

  /// Whether an argument is a number or a pointer. Small structs come as their parts, with names that tell.
  static bool isPassed(const llvm::Argument& argument) {
    const llvm::Type* type = argument.getType();
    const bool isInteger =
        type->isIntegerTy() && llvm::is_contained({1u, 8u, 16u, 32u, 64u}, type->getIntegerBitWidth());
    const bool isPart = !argument.getName().rsplit(".coerce").second.empty();
    return !isPart && (isInteger || type->isFloatTy() || type->isDoubleTy() || type->isPointerTy()) &&
           !argument.hasByValAttr() && !argument.hasStructRetAttr();
  }

  void readAttributes(const llvm::CallBase& call, NodeFunction& node) {
    unsigned next = 0;
    for (std::vector<bool>* list : {&node.isRead, &node.isWritten}) {
      const auto* count =
          next < call.arg_size() ? llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(next)) : nullptr;
      if (!count || count->getZExtValue() > call.arg_size() - next - 1) {
        diagnostics_
            .report(attributesWrong, at(call), "the counts of __hpvm__attributes do not agree with what follows them")
            .help("__hpvm__attributes(2, a, b, 1, b): two are read, one is written");
        return;
      }
      ++next;
      for (uint64_t left = count->getZExtValue(); left > 0; --left, ++next) {
        const auto* argument = llvm::dyn_cast<llvm::Argument>(call.getArgOperand(next)->stripPointerCasts());
        if (!argument || !argument->getType()->isPointerTy())
          diagnostics_.report(attributesWrong, at(call),
                              "what __hpvm__attributes lists is no pointer argument of '" + nodeName(*node.function) +
                                  "'");
        else
          (*list)[argument->getArgNo()] = true;
      }
    }
  }

  /// Functions that a leaf calls, and those that they call, are ordinary ones.
  void checkAuxiliary(const llvm::Function& leaf) {
    llvm::SetVector<const llvm::Function*> reached;
    reached.insert(&leaf);
    for (size_t number = 0; number < reached.size(); ++number)
      for (const llvm::Instruction& instruction : llvm::instructions(*reached[number])) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (number > 0 && kindOf(instruction) != CallKind::None) {
          diagnostics_.report(auxiliary, at(instruction), nodeName(*reached[number]), calleeOf(*call), nodeName(leaf))
              .label(at(leaf), "the leaf");
          break;
        }
        if (call && call->getCalledFunction() && kindOf(instruction) == CallKind::None)
          reached.insert(call->getCalledFunction());
      }
  }

  enum class State { Open, Fine, Wrong };
  llvm::Module& module_;
  DiagnosticEngine& diagnostics_;
  Graphs graphs_;
  std::map<const llvm::Function*, State> state_;
};

} // namespace

std::optional<Graphs> readGraphs(llvm::Module& module, DiagnosticEngine& diagnostics) {
  clean(module);
  return GraphReader(module, diagnostics).run();
}

} // namespace strata::hpvm

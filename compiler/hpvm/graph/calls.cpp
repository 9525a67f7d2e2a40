// A table of names.
#include "compiler/hpvm/graph/calls.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Function.h"

namespace strata::hpvm {

std::string calleeOf(const llvm::CallBase& call) {
  const auto* callee = llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
  return callee ? callee->getName().str() : "";
}

CallKind kindOf(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call)
    return CallKind::None;
  const std::string callee = calleeOf(*call);
  llvm::StringRef name = callee;
  if (name == "llvm_hpvm_track_mem" || name == "llvm_hpvm_untrack_mem" || name == "llvm_hpvm_request_mem")
    return CallKind::Host;
  if (!name.consume_front("__hpvm__"))
    return CallKind::None;
  if (name.starts_with("atomic_"))
    return llvm::StringSwitch<CallKind>(name.drop_front(7))
        .Cases("add", "sub", "min", "max", "umin", "umax", "xchg", "and", "or", CallKind::Atomic)
        .Cases("xor", "inc", "dec", "cmpxchg", CallKind::Atomic)
        .Default(CallKind::Unknown);
  return llvm::StringSwitch<CallKind>(name)
      .Case("hint", CallKind::Hint)
      .Case("attributes", CallKind::Attributes)
      .Case("createNodeND", CallKind::CreateNode)
      .Case("edge", CallKind::Edge)
      .Case("bindIn", CallKind::BindIn)
      .Case("bindOut", CallKind::BindOut)
      .Case("return", CallKind::Return)
      .Case("getNode", CallKind::Node)
      .Case("getParentNode", CallKind::Parent)
      .Cases("getNodeInstanceID_x", "getNodeInstanceID_y", "getNodeInstanceID_z", "getNodeInstanceID",
             CallKind::InstanceId)
      .Cases("getNumNodeInstances_x", "getNumNodeInstances_y", "getNumNodeInstances_z", "getNumNodeInstances",
             CallKind::Instances)
      .Case("getNumDims", CallKind::Dimensions)
      .Case("malloc", CallKind::Allocate)
      .Case("barrier", CallKind::Barrier)
      .Cases("floor", "rsqrt", "sqrt", "sin", "cos", CallKind::Math)
      .Case("launch", CallKind::Launch)
      .Cases("init", "cleanup", "wait", "push", "pop", CallKind::Host)
      .Case("isNonZeroLoop", CallKind::Remark)
      .Default(CallKind::Unknown);
}

/// What a kind of call gives and takes, a letter each: v nothing, p a pointer, i and l integers of 32 and 64 bits, f a
/// float; what follows a point may be missing, and an ellipsis stands for anything.
static llvm::StringRef prototypeOf(CallKind kind) {
  switch (kind) {
  case CallKind::Hint:
    return "vi";
  case CallKind::Attributes:
  case CallKind::Return:
    return "vi*";
  case CallKind::CreateNode:
    return "pip*";
  case CallKind::Edge:
    return "pppiiii";
  case CallKind::BindIn:
  case CallKind::BindOut:
    return "vpiii";
  case CallKind::Node:
    return "p";
  case CallKind::Parent:
    return "pp";
  case CallKind::InstanceId:
  case CallKind::Instances:
    return "lp.i";
  case CallKind::Dimensions:
    return "ip";
  case CallKind::Allocate:
    return "pl";
  case CallKind::Barrier:
    return "v";
  case CallKind::Atomic:
    return "ip.ii";
  case CallKind::Math:
    return "ff";
  case CallKind::Launch:
    return "pi*";
  default:
    return "";
  }
}

static bool isOf(const llvm::Type* type, char letter) {
  switch (letter) {
  case 'v':
    return type->isVoidTy();
  case 'p':
    return type->isPointerTy();
  case 'i':
    return type->isIntegerTy(32);
  case 'l':
    return type->isIntegerTy(64);
  default:
    return type->isFloatTy();
  }
}

bool hasPrototype(const llvm::CallBase& call, CallKind kind) {
  const llvm::StringRef prototype = prototypeOf(kind);
  if (prototype.empty())
    return true;
  if (!isOf(call.getType(), prototype.front()))
    return false;
  unsigned argument = 0;
  bool mayEnd = false;
  for (char letter : prototype.drop_front()) {
    if (letter == '*')
      return true;
    if (letter == '.') {
      mayEnd = true;
      continue;
    }
    if (argument == call.arg_size())
      return mayEnd;
    if (!isOf(call.getArgOperand(argument++)->getType(), letter))
      return false;
  }
  return argument == call.arg_size();
}

int dimensionOf(const llvm::CallBase& call) {
  const std::string callee = calleeOf(call);
  const llvm::StringRef name = callee;
  return name.ends_with("_x") ? 0 : name.ends_with("_y") ? 1 : name.ends_with("_z") ? 2 : -1;
}

} // namespace strata::hpvm

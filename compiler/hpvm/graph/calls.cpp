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

int dimensionOf(const llvm::CallBase& call) {
  const std::string callee = calleeOf(call);
  const llvm::StringRef name = callee;
  return name.ends_with("_x") ? 0 : name.ends_with("_y") ? 1 : name.ends_with("_z") ? 2 : -1;
}

} // namespace strata::hpvm
